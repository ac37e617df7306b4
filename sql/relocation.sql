-- Relocation: which classes of a node are too small, where each of them goes, and the cells after that.
--
-- :keys anon_key_0, anon_key_1
-- :ranked (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_class_size BIGINT, anon_kept BOOLEAN, anon_rank BIGINT,
--     anon_place BIGINT)
-- :outliers (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_class_size BIGINT, anon_kept BOOLEAN, anon_rank BIGINT,
--     anon_place BIGINT, anon_loss_0_0 DOUBLE)
-- :moves (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_key_0_there BIGINT, anon_class_size BIGINT, anon_distance DOUBLE)

-- name: ranked
-- classes by size
-- The classes of the node, those of k rows first, larger ones before smaller ones. In the order of keys, the place is
-- that among the large classes, or the number of large classes before a small one.
-- :judged (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_class_size BIGINT, anon_kept BOOLEAN)
SELECT
    *,
    row_number() OVER (ORDER BY anon_kept DESC, anon_class_size DESC, :keys ASC) AS anon_rank,
    -- A sum: DuckDB counts anew for each row what a filter counts in a window.
    CAST(sum(CAST(anon_kept AS BIGINT)) OVER (ORDER BY :keys ASC) AS BIGINT) AS anon_place
FROM :judged;

-- name: class_counts
-- classes that are too small
-- guarded: tests/unit/test_guarded_queries.py::TestRelocation
SELECT
    count(*) FILTER (WHERE anon_kept) AS large,
    count(*) FILTER (WHERE NOT anon_kept) AS small,
    coalesce(CAST(sum(anon_class_size) FILTER (WHERE NOT anon_kept) AS BIGINT), 0) AS rows
FROM :ranked;

-- name: moves
-- where they go
-- The nearest large class of each outlier class: of equally near ones the larger one, then the first by its key. Each is
-- compared with some large classes on either side, in the order of keys, in which classes under the same labels are close.
-- :neighbours 64
-- :differing xor(anon_outliers.anon_key_0, anon_large.anon_key_0) AS anon_key_0
-- :losses anon_outliers.anon_loss_0_0
-- :distance round(CASE WHEN anon_key_0 & 3 = 0 THEN anon_loss_0_0 ELSE 1e0 END, 12)
-- :targets anon_large.anon_key_0 AS anon_key_0_there
SELECT
    anon_outliers.:keys,
    anon_outliers.anon_class_size,
    :targets,
    anon_found.anon_best.anon_distance AS anon_distance
FROM (
    SELECT anon_outlier, min({'anon_distance': anon_distance, 'anon_nearest': anon_nearest}) AS anon_best
    FROM (
        SELECT anon_outlier, anon_nearest, :distance AS anon_distance
        FROM (
            SELECT anon_outliers.anon_rank AS anon_outlier, anon_large.anon_rank AS anon_nearest, :differing, :losses
            FROM (
                SELECT
                    *,
                    unnest(range(
                        greatest(anon_place - (:neighbours - 1), 1),
                        least(anon_place + :neighbours, (SELECT count(*) FILTER (WHERE anon_kept) FROM :ranked)) + 1
                    )) AS anon_nearest
                FROM :outliers
            ) AS anon_outliers
            INNER JOIN :ranked AS anon_large
                ON anon_large.anon_kept AND anon_large.anon_place = anon_outliers.anon_nearest
        ) AS anon_pairs
    ) AS anon_compared
    GROUP BY anon_outlier
) AS anon_found
INNER JOIN :ranked AS anon_outliers ON anon_outliers.anon_rank = anon_found.anon_outlier
INNER JOIN :ranked AS anon_large ON anon_large.anon_rank = anon_found.anon_best.anon_nearest;

-- name: mean_distance
-- how far they go
-- A mean over the rows that are moved, rounded as distances are: a database adds in any order.
SELECT round(sum(anon_distance * anon_class_size) / sum(anon_class_size), 12) AS distance FROM :moves;

-- name: moved
-- cells where they go
-- A cell for each class and each combination of the other columns.
-- :cells (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_sensitive_0 UINTEGER, anon_raw_0 VARCHAR, anon_row_count BIGINT)
-- :new_keys coalesce(anon_moves.anon_key_0_there, anon_here.anon_key_0) AS anon_key_0, anon_here.anon_key_1 AS anon_key_1
-- :codes anon_sensitive_0
-- :raw anon_raw_0
-- :unused_words 0 AS anon_key_2
-- :values any_value(anon_raw_0) AS anon_raw_0
SELECT
    :keys,
    :codes,
    :unused_words,
    :values,
    FALSE AS anon_is_unmapped,
    CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count
FROM (
    SELECT :new_keys, anon_here.:codes, anon_here.:raw, anon_here.anon_row_count
    FROM :cells AS anon_here
    LEFT JOIN :moves AS anon_moves ON anon_moves.:keys = anon_here.:keys
) AS anon_rows
GROUP BY :keys, :codes;

-- name: changed_values
-- values that were written
-- guarded: tests/unit/test_guarded_queries.py::TestRelocation
-- How many rows of the source have values beside the quasi-identifiers that were not written.
-- :cells (anon_raw_0 VARCHAR, anon_row_count BIGINT)
-- :written (disease VARCHAR)
-- :names disease
-- :given anon.text_of(anon_raw_0) COLLATE "binary" AS disease
-- :found anon.text_of(disease) COLLATE "binary" AS disease
SELECT CAST(sum(greatest(anon_row_count, 0)) AS BIGINT) AS rows
FROM (
    SELECT CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count
    FROM (
        SELECT :given, anon_row_count FROM :cells
        UNION ALL
        SELECT :found, -1 AS anon_row_count FROM :written
    ) AS anon_values
    GROUP BY :names
) AS anon_counts;
