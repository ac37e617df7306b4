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

-- name: rows_of_classes
-- rows of the source whose classes are released
-- :labelled (age VARCHAR, weight DOUBLE)
-- :released (age VARCHAR)
-- :labels CAST(age AS VARCHAR)
SELECT *
FROM :labelled AS anon_labelled
WHERE list_value(:labels) IN (SELECT list_value(:labels) FROM :released AS anon_released);

-- name: chosen_rows
-- some rows of a source
-- Those whose places have the least hashes: as good as drawn, and the same again for a seed.
-- :source (age INTEGER, sex VARCHAR)
-- :columns age, sex
-- :seed 0
-- :most 12
SELECT :columns, anon_place
FROM (SELECT *, row_number() OVER () AS anon_place FROM :source AS anon_source) AS anon_numbered
ORDER BY hash(anon_place, :seed) ASC, anon_place ASC
LIMIT :most;

-- name: labels_of_value
-- the labels that a value may have at some levels
-- NULL is the character 0. A NULL that the taxonomy lacks stays NULL up to the top; values that it lacks have no label, or that
-- of the top.
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
-- :attribute 'age'
-- :levels [1]
-- :value 'a'
-- :is_at_top FALSE
SELECT
    coalesce(
        anon_found,
        CASE
            -- Of a taxonomy without values: NULL may be its only one, and then has the label of the top.
            WHEN :value IS NULL AND anon_height IS NULL THEN [chr(0), '*']
            WHEN :value IS NULL
                THEN list_transform(
                    :levels,
                    lambda anon_level: CASE WHEN anon_level = anon_height AND anon_level > 0 THEN anon_top ELSE chr(0) END
                )
            WHEN :is_at_top THEN [anon_top]
            ELSE []
        END
    )
FROM (
    SELECT
        list(DISTINCT coalesce(anon_taxonomy.label, chr(0))) FILTER (
            WHERE list_contains(:levels, anon_taxonomy.level) AND anon_taxonomy.value IS NOT DISTINCT FROM :value
        ) AS anon_found,
        max(anon_taxonomy.level) AS anon_height,
        arg_max(anon_taxonomy.label, anon_taxonomy.level) AS anon_top
    FROM :taxonomy AS anon_taxonomy
    WHERE anon_taxonomy.attribute = :attribute
) AS anon_labelled;

-- name: rows_with_labels
-- rows of a source with the labels that they may have
-- :chosen (anon_place BIGINT, age VARCHAR)
-- :befores age
-- :labels [age]
-- :names anon_labels_0
SELECT anon_place, [:befores] AS anon_before, :labels AS :names
FROM :chosen AS anon_chosen;

-- name: released_labels
-- labels of a release with their rows
-- :released (age VARCHAR)
-- :shown coalesce(age, chr(0))
-- :names anon_shown_0
-- :is_counted age = 'a'
SELECT :shown AS :names, count(*) AS anon_rows
FROM :released AS anon_released
WHERE :is_counted
GROUP BY :shown;

-- name: rows_beside
-- rows of a source beside the labels that a release shows for them
-- Of several labels those of the fewest rows, those of masked rows last, and how many there are.
-- :chosen (anon_place BIGINT, anon_before VARCHAR[], anon_labels_0 VARCHAR[])
-- :released (anon_shown_0 VARCHAR, anon_rows BIGINT)
-- :is_covered list_contains(anon_labels_0, anon_shown_0)
-- :is_mask FALSE
-- :shown anon_shown_0
SELECT
    anon_chosen.anon_place,
    anon_chosen.anon_before,
    arg_min(
        [:shown],
        CASE WHEN anon_released.anon_rows IS NOT NULL THEN row(:is_mask AND NOT :is_covered, anon_released.anon_rows) END
    ) AS anon_after,
    count(anon_released.anon_rows) FILTER (WHERE :is_covered) AS anon_places
FROM :chosen AS anon_chosen
LEFT JOIN :released AS anon_released ON :is_covered OR :is_mask
GROUP BY anon_chosen.anon_place, anon_chosen.anon_before
ORDER BY anon_chosen.anon_place ASC;

-- name: rows_in_classes
-- the labels of rows in classes of a release
-- :rows (age VARCHAR, place BIGINT)
-- :place place
-- :shown age
SELECT :place AS anon_place, [:shown] AS anon_after FROM :rows AS anon_rows;
