-- The rows of taxonomies that are given: a list of labels per level, whose names and numbers $1 and $2 are. The values
-- are the labels of the first level.
SELECT
    anon_attribute AS attribute,
    anon_level AS level,
    unnest(anon_values) AS value,
    unnest(anon_labels) AS label
FROM (
    SELECT
        anon_attribute,
        anon_level,
        first(anon_labels) OVER (PARTITION BY anon_attribute ORDER BY anon_level ASC) AS anon_values,
        anon_labels
    FROM (
        SELECT
            unnest(CAST($1 AS VARCHAR[])) AS anon_attribute,
            unnest(CAST($2 AS INTEGER[])) AS anon_level,
            unnest(CAST($3 AS VARCHAR[][])) AS anon_labels
    ) AS anon_given
) AS anon_leveled
