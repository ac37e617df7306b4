-- Local recoding: the cells and the labels that are handed over as arrays, the labels of classes, and their list.

-- name: cells
-- cells as arrays
-- The cells with the words of their keys, the codes that classes are judged by, and their rows.
-- :cells (anon_key_0 BIGINT, anon_sensitive_0 UINTEGER, anon_row_count BIGINT)
-- :columns anon_key_0, anon_sensitive_0, anon_row_count
SELECT :columns FROM :cells AS anon_cells;

-- name: labels
-- labels as arrays
-- The number of every value of a quasi-identifier (position) and, at every level (depth), the number of its label, what the
-- label loses, and the words of its key. Numbers begin at 0; labels of equal text have equal numbers at all levels.
-- :labels (position INTEGER, depth INTEGER, value VARCHAR, label VARCHAR, ncp DOUBLE, anon_key_0 BIGINT, anon_key_1 BIGINT)
-- :loss ncp
-- :keys anon_key_0, anon_key_1
SELECT
    position,
    depth,
    dense_rank() OVER (PARTITION BY position ORDER BY value ASC NULLS FIRST) - 1 AS value_number,
    dense_rank() OVER (PARTITION BY position ORDER BY label ASC NULLS FIRST) - 1 AS label_number,
    :loss AS loss,
    :keys
FROM :labels AS anon_labels;

-- name: class_labels
-- labels of classes
-- The labels of each class, and those of class 0, which are masked.
-- :classes (anon_class INTEGER, anon_label_0 VARCHAR)
-- :masks '*' AS anon_label_0
SELECT * FROM :classes AS anon_classes UNION ALL SELECT 0 AS anon_class, :masks;

-- name: class_means
-- means of classes
-- The mean of a number in the rows of each class, summed up in its order: a sum of doubles depends on that.
-- :values (anon_class INTEGER, anon_value INTEGER, anon_row_count BIGINT)
-- :mean age_mean
SELECT
    anon_class,
    sum(CAST(anon_value AS DOUBLE) * anon_row_count ORDER BY anon_value ASC)
    / sum(anon_row_count) FILTER (WHERE anon_value IS NOT NULL) AS :mean
FROM :values AS anon_values
GROUP BY anon_class;

-- name: class_medians
-- medians of classes
-- The mean of the two values in the middle: those by which half of the rows are reached, and passed.
-- :values (anon_class INTEGER, anon_value INTEGER, anon_row_count BIGINT)
-- :median age_median
SELECT
    anon_class,
    (
        min(CAST(anon_value AS DOUBLE)) FILTER (WHERE 2 * anon_rows_up_to >= anon_rows)
        + min(CAST(anon_value AS DOUBLE)) FILTER (WHERE 2 * anon_rows_up_to > anon_rows)
    ) / 2 AS :median
FROM (
    SELECT
        anon_class,
        anon_value,
        sum(anon_row_count) OVER (PARTITION BY anon_class ORDER BY anon_value ASC) AS anon_rows_up_to,
        sum(anon_row_count) OVER (PARTITION BY anon_class) AS anon_rows
    FROM :values AS anon_values
    WHERE anon_value IS NOT NULL
) AS anon_counted
GROUP BY anon_class;

-- name: class_ranges
-- ranges of classes
-- :values (anon_class INTEGER, anon_value INTEGER, anon_row_count BIGINT)
-- :least age_min
-- :greatest age_max
SELECT anon_class, min(anon_value) AS :least, max(anon_value) AS :greatest
FROM :values AS anon_values
GROUP BY anon_class;

-- name: masked_class
-- masked rows
-- Whether the class of the rows that are left out meets the privacy models.
-- :kept (anon_class INTEGER)
SELECT count(*) > 0 AS kept FROM :kept WHERE anon_class = 0;

-- name: kept_labels
-- labels of published classes
-- :labels (anon_class INTEGER, anon_label_0 VARCHAR)
-- :kept (anon_class INTEGER)
SELECT anon_labels.* FROM :labels AS anon_labels INNER JOIN :kept USING (anon_class) ORDER BY anon_labels.anon_class ASC;

-- name: class_list
-- list of classes
-- The label of each class at its level of each quasi-identifier.
-- :levels (anon_class INTEGER, position INTEGER, depth INTEGER, anon_key_0 BIGINT)
-- :labels (position INTEGER, depth INTEGER, label VARCHAR, anon_key_0 BIGINT)
-- :keys anon_key_0
SELECT anon_levels.anon_class, anon_levels.position, anon_levels.depth, anon_labels.label
FROM :levels AS anon_levels
INNER JOIN (SELECT DISTINCT position, depth, label, :keys FROM :labels) AS anon_labels
    ON
        anon_labels.position = anon_levels.position
        AND anon_labels.depth = anon_levels.depth
        AND anon_levels.:keys = anon_labels.:keys
ORDER BY anon_levels.anon_class ASC, anon_levels.position ASC;

-- name: listed_labels
-- listed classes as arrays
-- What the labels of listed classes lose, and the words of their keys, by class and quasi-identifier (position). A class
-- with a label that the taxonomies do not have is left out.
-- :listed (anon_class INTEGER, position INTEGER, depth INTEGER, label VARCHAR)
-- :labels (position INTEGER, depth INTEGER, label VARCHAR, ncp DOUBLE, anon_key_0 BIGINT)
-- :loss ncp
-- :keys anon_key_0
-- :width 2
SELECT anon_listed.anon_class, anon_listed.position, anon_listed.depth, anon_labels.loss, anon_labels.:keys
FROM :listed AS anon_listed
INNER JOIN (SELECT DISTINCT position, depth, label, :loss AS loss, :keys FROM :labels) AS anon_labels
    ON
        anon_labels.position = anon_listed.position
        AND anon_labels.depth = anon_listed.depth
        AND anon_labels.label IS NOT DISTINCT FROM anon_listed.label
QUALIFY count(*) OVER (PARTITION BY anon_listed.anon_class) = :width
ORDER BY anon_listed.anon_class ASC, anon_listed.position ASC;

-- name: keys
-- keys of cells
-- :cells (anon_key_0 BIGINT)
-- :keys anon_key_0
SELECT DISTINCT :keys FROM :cells AS anon_cells;

-- name: labels_of_listed
-- labels of listed classes
-- :listed (anon_class INTEGER, position INTEGER, label VARCHAR)
-- :texts max(label) FILTER (WHERE position = 0) AS anon_label_0
SELECT anon_class, :texts FROM :listed AS anon_listed GROUP BY anon_class;

-- name: all_classes
-- all classes
-- :labels (anon_class INTEGER)
SELECT anon_class FROM :labels AS anon_labels;

-- name: distinct_labels
-- labels of listed classes
-- :listed (anon_class INTEGER, position INTEGER, depth INTEGER, label VARCHAR)
SELECT DISTINCT position, depth, label
FROM :listed AS anon_listed
ORDER BY position ASC, depth ASC, label ASC NULLS FIRST;

-- name: released_classes
-- classes of a partition
-- The levels and labels of the listed classes that cells are in, by quasi-identifier (position), and the rows of these.
-- :listed (anon_class INTEGER, position INTEGER, depth INTEGER, label VARCHAR)
-- :cells (anon_class INTEGER, anon_row_count BIGINT)
SELECT
    anon_rows.rows,
    list(anon_listed.depth ORDER BY anon_listed.position ASC) AS depths,
    list(anon_listed.label ORDER BY anon_listed.position ASC) AS labels
FROM :listed AS anon_listed
INNER JOIN (
    SELECT anon_class, CAST(sum(anon_row_count) AS BIGINT) AS rows FROM :cells AS anon_cells GROUP BY anon_class
) AS anon_rows ON anon_rows.anon_class = anon_listed.anon_class
GROUP BY anon_listed.anon_class, anon_rows.rows
ORDER BY anon_listed.anon_class ASC;

-- name: class_mismatches
-- classes of a release
-- guarded: tests/unit/test_guarded_verification.py
-- Combinations of labels that are not listed, and those that have another number of rows than is listed.
-- :names disease, city
-- :listed (disease VARCHAR, city VARCHAR, anon_rows BIGINT)
-- :found (disease VARCHAR, city VARCHAR)
SELECT
    count(*) FILTER (WHERE anon_listed.anon_rows IS NULL) AS unlisted,
    CAST(sum(anon_found.anon_rows) FILTER (WHERE anon_listed.anon_rows IS NULL) AS BIGINT) AS unlisted_rows,
    count(*) FILTER (
        WHERE anon_listed.anon_rows IS NOT NULL AND anon_found.anon_rows IS DISTINCT FROM anon_listed.anon_rows
    ) AS differing
FROM (SELECT :names, CAST(count(*) AS BIGINT) AS anon_rows FROM :found GROUP BY :names) AS anon_found
FULL JOIN :listed AS anon_listed ON anon_found.:names IS NOT DISTINCT FROM anon_listed.:names;
