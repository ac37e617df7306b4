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
    anon_helpers.lm_share_of(count(*), any_value(anon_domain_size)) AS lost
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
            min(TRY_CAST(anon_helpers.as_read(value) AS DOUBLE)) OVER (PARTITION BY level, label) AS anon_number
        FROM :labels AS anon_labels
    ) AS anon_numbered
) AS anon_placed
GROUP BY level, label
QUALIFY count(*) OVER (PARTITION BY level) <= :most
ORDER BY level DESC, min(anon_path) ASC;

-- name: vanished_labels
-- labels of the source without a row in the release
-- The most general labels whose rows have all left, with their rows: those of a value at whatever level it is shown.
-- :source (age VARCHAR)
-- :released (age VARCHAR)
-- :name age
-- :labels (level INTEGER, value VARCHAR, label VARCHAR, leaf_count BIGINT)
-- :is_released_level level = 1
SELECT label, CAST(sum(anon_rows) AS BIGINT) AS label_rows
FROM (
    SELECT *, max(level) FILTER (WHERE NOT anon_stays) OVER (PARTITION BY value) AS anon_top
    FROM (
        SELECT *, bool_or(anon_is_shown) OVER (PARTITION BY level, label) AS anon_stays
        FROM (
            SELECT
                anon_labels.*,
                anon_counted.anon_rows,
                bool_or(:is_released_level AND anon_shown.anon_is_there IS NOT NULL) OVER (
                    PARTITION BY value
                ) AS anon_is_shown
            FROM (
                SELECT anon.text_of(:name) COLLATE "binary" AS anon_value, count(*) AS anon_rows
                FROM :source AS anon_source
                GROUP BY anon.text_of(:name) COLLATE "binary"
            ) AS anon_counted
            JOIN :labels AS anon_labels ON anon_labels.value IS NOT DISTINCT FROM anon_counted.anon_value
            LEFT JOIN (
                SELECT DISTINCT anon.text_of(:name) COLLATE "binary" AS anon_label, TRUE AS anon_is_there
                FROM :released AS anon_released
            ) AS anon_shown ON anon_shown.anon_label IS NOT DISTINCT FROM anon_labels.label
        ) AS anon_joined
    ) AS anon_judged
) AS anon_placed
WHERE level = anon_top
GROUP BY level, label
ORDER BY label_rows DESC, label ASC;

-- name: vanished_values
-- values of the source without a row in the release
-- The values of a column that is released as it is whose rows have all left, with their rows.
-- :source (illness VARCHAR)
-- :released (illness VARCHAR)
-- :name illness
-- :fewest 5
SELECT anon.text_of(:name) COLLATE "binary" AS label, count(*) AS label_rows
FROM :source AS anon_source
GROUP BY anon.text_of(:name) COLLATE "binary"
HAVING
    count(*) >= :fewest
    AND anon.text_of(:name) COLLATE "binary" NOT IN (
        SELECT anon.text_of(:name) COLLATE "binary" FROM :released AS anon_released WHERE :name IS NOT NULL
    )
ORDER BY label_rows DESC, label ASC;

-- name: unused_labels
-- labels of a taxonomy without a row in the release
-- The labels of the released level, and those that no row has.
-- :released (age VARCHAR)
-- :name age
-- :labels (level INTEGER, value VARCHAR, label VARCHAR, leaf_count BIGINT)
-- :level 1
SELECT
    count(*) AS labels,
    count(*) FILTER (WHERE label NOT IN (
        SELECT anon.text_of(:name) COLLATE "binary" FROM :released AS anon_released WHERE :name IS NOT NULL
    )) AS unused
FROM (SELECT DISTINCT label FROM :labels AS anon_labels WHERE level = :level AND label IS NOT NULL) AS anon_declared;

-- name: label_of
-- the label of a value
-- :value 'a'
-- :labels (level INTEGER, value VARCHAR, label VARCHAR, leaf_count BIGINT)
-- :level 1
SELECT any_value(anon_labels.label)
FROM :labels AS anon_labels
WHERE anon_labels.level = :level AND anon_labels.value IS NOT DISTINCT FROM anon.text_of(:value) COLLATE "binary";

-- name: example_rows
-- rows before and after
-- A few rows of the source whose labels the release has, those of the least hashes of their texts among some rows of the least
-- hashes; with the labels of each.
-- :source (age VARCHAR, illness VARCHAR)
-- :released (age VARCHAR, illness VARCHAR)
-- :befores CAST(age AS VARCHAR), CAST(illness AS VARCHAR)
-- :labels CAST(age AS VARCHAR)
-- :shown CAST(age AS VARCHAR)
-- :among 1000
-- :most 5
SELECT anon_before, anon_after
FROM (
    SELECT list_value(:befores) AS anon_before, list_value(:labels) AS anon_after
    FROM (
        SELECT *
        FROM :source AS anon_source
        ORDER BY md5(CAST(to_json(list_value(:befores)) AS VARCHAR)) ASC
        LIMIT :among
    ) AS anon_source
) AS anon_labelled
WHERE CAST(to_json(anon_after) AS VARCHAR) IN (
    SELECT CAST(to_json(list_value(:shown)) AS VARCHAR) FROM :released AS anon_released
)
ORDER BY md5(CAST(to_json(anon_before) AS VARCHAR)) ASC
LIMIT :most;
