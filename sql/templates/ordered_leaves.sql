-- The values of taxonomies (anon_taxonomies: position, attribute), numbered from 0 in the order of their labels from the top
-- down, so that the values under any label follow each other; with their label at every level. NULL is left out.
SELECT
    anon_taxonomies.position,
    anon_taxonomy_labels.level AS depth,
    anon_taxonomy_labels.value,
    anon_taxonomy_labels.label,
    anon_places.leaf
FROM anon_taxonomies
INNER JOIN anon_taxonomy_labels ON anon_taxonomy_labels.attribute = anon_taxonomies.attribute
INNER JOIN (
    SELECT
        attribute,
        value,
        row_number() OVER (PARTITION BY attribute ORDER BY anon_path ASC, encode(value) ASC) - 1 AS leaf
    FROM (
        SELECT attribute, value, list(encode(label) ORDER BY level DESC) AS anon_path
        FROM anon_taxonomy_labels
        WHERE value IS NOT NULL
        GROUP BY attribute, value
    ) AS anon_paths
) AS anon_places ON anon_places.attribute = anon_taxonomies.attribute AND anon_places.value = anon_taxonomy_labels.value
