-- What a report of a release shows: sizes of classes, the labels of columns, and the taxonomies that they are of.

-- name: class_sizes
-- sizes of classes
-- :sizes (class_size BIGINT)
SELECT class_size, count(*) AS classes
FROM :sizes AS anon_sizes
GROUP BY class_size
ORDER BY class_size ASC;

-- name: label_rows
-- rows of labels
-- The labels of a column that most rows have, and how many these are.
-- :source (age VARCHAR)
-- :name age
-- :most 12
SELECT anon.text_of(:name) COLLATE "binary" AS label, count(*) AS label_rows
FROM :source AS anon_source
GROUP BY anon.text_of(:name) COLLATE "binary"
ORDER BY label_rows DESC, label ASC
LIMIT :most;

-- name: source_rows
-- rows of labels in the source
-- The rows of the source whose values are under each label of a level.
-- :source (age VARCHAR)
-- :name age
-- :labels (level INTEGER, value VARCHAR, label VARCHAR, leaf_count BIGINT)
-- :level 1
SELECT anon_labels.label, CAST(sum(anon_counted.anon_rows) AS BIGINT) AS label_rows
FROM (
    SELECT anon.text_of(:name) COLLATE "binary" AS anon_value, count(*) AS anon_rows
    FROM :source AS anon_source
    GROUP BY anon.text_of(:name) COLLATE "binary"
) AS anon_counted
LEFT JOIN :labels AS anon_labels
    ON anon_labels.level = :level AND anon_labels.value IS NOT DISTINCT FROM anon_counted.anon_value
GROUP BY anon_labels.label;

-- name: pieces
-- a taxonomy from left to right
-- The labels of each level side by side, those of numbers in their order: the values under each, and what they lose. A
-- level of very many labels is left out.
-- :labels (level INTEGER, value VARCHAR, label VARCHAR, leaf_count BIGINT)
-- :most 1000
SELECT
    level,
    label,
    count(*) AS leaves,
    anon.lm_share_of(count(*), any_value(anon_domain_size)) AS lost
FROM (
    SELECT
        level,
        label,
        list({'number': anon_number, 'label': label}) OVER (
            PARTITION BY value
            ORDER BY level DESC
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) AS anon_path,
        count(*) OVER (PARTITION BY level) AS anon_domain_size
    FROM (
        SELECT
            level,
            value,
            label,
            min(TRY_CAST(anon.as_read(value) AS DOUBLE)) OVER (PARTITION BY level, label) AS anon_number
        FROM :labels AS anon_labels
    ) AS anon_numbered
) AS anon_placed
GROUP BY level, label
QUALIFY count(*) OVER (PARTITION BY level) <= :most
ORDER BY level DESC, min(anon_path) ASC;
