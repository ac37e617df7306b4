-- The hashes of all taxonomies whose values were read off the data, those that were replaced included.
SELECT DISTINCT sha256
FROM anon.taxonomy_origin
WHERE domain = 'observed'
