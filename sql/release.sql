-- The rows of a release.

-- name: repeated_rows
-- repeated rows
-- Every group of rows as often as anon_row_count says, in their order; in blocks, so that a large count takes no
-- more memory than a small one.
-- :groups (disease VARCHAR, anon_row_count BIGINT)
SELECT * EXCLUDE (anon_copies, anon_copy)
FROM (
    SELECT *, unnest(range(anon_copies)) AS anon_copy
    FROM (
        SELECT * EXCLUDE (anon_row_count, anon_block), least(1024, anon_row_count - 1024 * anon_block) AS anon_copies
        FROM (
            SELECT *, unnest(range((anon_row_count + 1023) // 1024)) AS anon_block FROM :groups
        ) AS anon_blocks
    ) AS anon_counted
) AS anon_repeated;

-- name: group_mismatches
-- what was written
-- How many groups of equal rows are not in a release as often as they were made.
-- :names disease, city
-- :made (disease VARCHAR, city VARCHAR, anon_row_count BIGINT)
-- :written (disease VARCHAR, city VARCHAR)
-- :rows count(*)
SELECT count(*) FILTER (WHERE anon_made IS DISTINCT FROM anon_written) AS unlike
FROM (
    SELECT anon_made.anon_rows AS anon_made, anon_written.anon_rows AS anon_written
    FROM (
        SELECT :names, CAST(sum(anon_row_count) AS BIGINT) AS anon_rows FROM :made GROUP BY :names
    ) AS anon_made
    FULL JOIN (SELECT :names, :rows AS anon_rows FROM :written GROUP BY :names) AS anon_written
        ON anon_made.:names IS NOT DISTINCT FROM anon_written.:names
) AS anon_compared;

-- name: exposure
-- exposure of the source
-- Rows, classes and k of the source, and the rows that are alone in their class.
-- :cells (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_row_count BIGINT)
-- :keys anon_key_0, anon_key_1
SELECT
    CAST(coalesce(sum(anon_class_rows), 0) AS BIGINT) AS row_count,
    count(*) AS class_count,
    min(anon_class_rows) AS k,
    count(*) FILTER (WHERE anon_class_rows = 1) AS unique_rows
FROM (SELECT CAST(sum(anon_row_count) AS BIGINT) AS anon_class_rows FROM :cells GROUP BY :keys) AS anon_classes;

-- name: rare_rows
-- rows of rare values
-- The published rows whose values are sampled, and those whose values fewer rows have.
-- :groups (disease VARCHAR, anon_row_count BIGINT)
-- :values disease
-- :place 0
-- :is_sampled hash(disease) % 2 = 0
-- :fewer_than 5
SELECT
    :place AS place,
    coalesce(sum(anon_value_rows), 0) AS counted,
    anon_helpers.rare_rows_of(anon_value_rows, :fewer_than) AS rare
FROM (
    SELECT sum(anon_row_count) AS anon_value_rows FROM :groups WHERE :is_sampled GROUP BY :values
) AS anon_values;

-- name: rare_rows_of_columns
-- rows of rare values of columns
-- The same of columns of one type, each by its place.
-- :cells (anon_place BIGINT, anon_value VARCHAR, anon_row_count BIGINT)
-- :is_sampled hash(anon_value) % 2 = 0
-- :fewer_than 5
SELECT
    anon_place AS place,
    sum(anon_value_rows) AS counted,
    anon_helpers.rare_rows_of(anon_value_rows, :fewer_than) AS rare
FROM (
    SELECT anon_place, sum(anon_row_count) AS anon_value_rows
    FROM :cells AS anon_cells
    WHERE :is_sampled
    GROUP BY anon_place, anon_value
) AS anon_values
GROUP BY anon_place;

-- name: value_counts
-- values of columns
-- Of columns of one type, each by its place: rows with a value, those whose values are sampled, and these values.
-- :cells (anon_place BIGINT, anon_value VARCHAR)
-- :is_sampled hash(anon_value) % 2 = 0
SELECT
    anon_place AS place,
    sum(anon_value_rows) AS filled,
    coalesce(sum(anon_value_rows) FILTER (WHERE :is_sampled), 0) AS rows,
    count(*) FILTER (WHERE :is_sampled) AS values
FROM (
    SELECT anon_place, anon_value, count(*) AS anon_value_rows
    FROM :cells AS anon_cells
    WHERE anon_value IS NOT NULL
    GROUP BY anon_place, anon_value
) AS anon_values
GROUP BY anon_place;

-- name: group_sizes
-- published rows
-- :groups (disease VARCHAR, anon_row_count BIGINT)
SELECT coalesce(sum(anon_row_count), 0) AS rows, count(*) AS groups FROM :groups;

-- name: homogeneous_values
-- values of a column with one value of others
-- :rows (anon_value_0 VARCHAR, anon_kept_0 VARCHAR)
-- :position 0
-- :key anon_value_0
-- :names anon_kept_0
-- :are anon_0
-- :hold holds_0
SELECT :position AS position, coalesce(bool_and(:are), TRUE) AS :hold
FROM (SELECT anon_helpers.is_homogeneous(:names) AS :are FROM :rows GROUP BY :key) AS anon_groups;

-- name: pairs
-- pairs of values of quasi-identifiers and kept columns
-- :rows (anon_value_0 VARCHAR, anon_kept_0 VARCHAR)
-- :columns anon_value_0, anon_kept_0
-- :sets anon_value_0, anon_kept_0
SELECT :columns, grouping(:columns) AS anon_grouping, count(*) AS anon_row_count
FROM :rows AS anon_values
GROUP BY GROUPING SETS (:sets);

-- name: counted_sides
-- rows by the sides of a dependency
-- :pairs (determinant VARCHAR, dependent VARCHAR, row_count BIGINT)
SELECT determinant, dependent, sum(row_count) AS row_count FROM :pairs AS anon_sides GROUP BY determinant, dependent;

-- name: homogeneous_rows
-- rows of classes with a single value
-- :groups (anon_label_0 VARCHAR, disease VARCHAR, anon_row_count BIGINT)
-- :labels anon_label_0
-- :values disease
-- :are anon_is_homogeneous_0
-- :homogeneous homogeneous_0
SELECT
    coalesce(sum(anon_class_rows) FILTER (WHERE :are), 0) AS :homogeneous,
    coalesce(sum(anon_class_rows), 0) AS rows
FROM (
    SELECT anon_helpers.is_homogeneous(:values) AS :are, sum(anon_row_count) AS anon_class_rows FROM :groups GROUP BY :labels
) AS anon_classes;
