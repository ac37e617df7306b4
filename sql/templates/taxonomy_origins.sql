-- Of each attribute, the file that stated its taxonomy when it was loaded last, and the hash of the labels then.
SELECT
    attribute,
    arg_max(coalesce(origin, ''), rowid) AS origin,
    arg_max(sha256, rowid) AS sha256
FROM anon.taxonomy_origin
GROUP BY attribute
