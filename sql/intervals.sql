-- What the cells of a node prove of every node between it and a more general one: see sql/macros/58_interval_rows.sql.
--
-- Intervals have numbers (anon_interval), and cells the keys of their class at both ends (anon_low, anon_high). Each column of
-- sensitive values has a number (anon_column), and so has each value (anon_value), whatever its column is.

-- name: cells_with_values
-- rows of values in cells
-- :cells (anon_key_0 BIGINT, anon_sensitive_0 UINTEGER, anon_row_count BIGINT)
-- :words anon_key_0
-- :value anon_sensitive_0
SELECT :words, :value AS anon_value, anon_row_count AS anon_rows FROM :cells;

-- name: cells_of_node
-- cells of a node
-- :cells (anon_key_0 BIGINT, anon_value BIGINT, anon_rows BIGINT, anon_cell_size BIGINT)
-- :words anon_key_0
-- :node 0
SELECT CAST(:node AS INTEGER) AS anon_node, :words, anon_value, anon_rows, anon_cell_size
FROM :cells AS anon_sized_cells;

-- name: value_shares
-- shares of sensitive values
-- The share of each value of a column (:value) in all rows, by its number among those of all columns (:numbered) and by its code, and
-- the largest and the least share that a class may have of it.
-- :cells (anon_sensitive_0 UINTEGER, anon_row_count BIGINT)
-- :value anon_sensitive_0
-- :numbered anon_code
-- :number 0
-- :largest 0.5
-- :least CAST(NULL AS DOUBLE)
SELECT
    :number AS anon_column,
    :numbered AS anon_value,
    anon_code,
    anon_share,
    CAST(:largest AS DOUBLE) AS anon_largest_share,
    CAST(:least AS DOUBLE) AS anon_least_share
FROM (
    SELECT :value AS anon_code, sum(anon_row_count) / sum(sum(anon_row_count)) OVER () AS anon_share
    FROM :cells AS anon_cells
    GROUP BY :value
);

-- name: equal_sets
-- sets of one value
-- :shares (anon_column INTEGER, anon_value UINTEGER)
-- :number 0
SELECT CAST(anon_value AS BIGINT) AS anon_set, anon_value, 1e0 AS anon_weight
FROM :shares AS anon_shares
WHERE anon_column = :number;

-- name: ordered_sets
-- sets of first and of last values
-- All first and all last values in the order of their codes: the former have the code of their last one as number, the latter
-- minus the code before their first one.
-- :shares (anon_column INTEGER, anon_value UINTEGER, anon_code UINTEGER)
-- :number 0
SELECT
    CASE
        WHEN anon_shares.anon_code <= anon_ends.anon_code THEN CAST(anon_ends.anon_code AS BIGINT)
        ELSE -CAST(anon_ends.anon_code AS BIGINT)
    END AS anon_set,
    anon_shares.anon_value,
    1e0 / anon_ends.anon_end_count AS anon_weight
FROM (
    SELECT anon_column, anon_code, count(*) OVER () AS anon_end_count
    FROM (
        SELECT *, lead(anon_code) OVER (ORDER BY anon_code ASC) AS anon_next
        FROM :shares AS anon_all_shares
        WHERE anon_column = :number
    )
    WHERE anon_next IS NOT NULL
) AS anon_ends
INNER JOIN :shares AS anon_shares ON anon_shares.anon_column = anon_ends.anon_column;

-- name: label_sets
-- sets of values with a label
-- The values of a column (:value), by their numbers, with the codes of their labels (:labels), one list for all levels.
-- :cells (anon_sensitive_0 UINTEGER, anon_sensitive_0_1 UINTEGER)
-- :value anon_sensitive_0
-- :numbered anon_code
-- :labels [anon_sensitive_0, anon_sensitive_0_1]
SELECT
    anon_level * 4294967296 + anon_label AS anon_set,
    :numbered AS anon_value,
    1e0 / anon_level_count AS anon_weight
FROM (
    SELECT
        anon_code,
        len(anon_labels) AS anon_level_count,
        unnest(anon_labels) AS anon_label,
        unnest(range(len(anon_labels))) AS anon_level
    FROM (SELECT DISTINCT :value AS anon_code, :labels AS anon_labels FROM :cells AS anon_cells)
);

-- name: value_sets
-- sets of sensitive values
-- The values of sets (anon_set) by which a distance (anon_distance) is bounded (anon_t), with the share of each set in all rows.
-- :sets (anon_set BIGINT, anon_value UINTEGER, anon_weight DOUBLE, anon_distance INTEGER, anon_t DOUBLE)
-- :shares (anon_value UINTEGER, anon_share DOUBLE)
SELECT
    anon_sets.*,
    sum(anon_shares.anon_share) OVER (PARTITION BY anon_sets.anon_distance, anon_sets.anon_set) AS anon_set_share
FROM :sets AS anon_sets
INNER JOIN :shares AS anon_shares
    ON anon_shares.anon_value = anon_sets.anon_value;

-- name: sized_cells
-- cells with their values
-- The rows of each value in each cell (:cell), and those of the cell, which each of :columns columns has.
-- :values (anon_key_0 BIGINT, anon_value UINTEGER, anon_rows BIGINT)
-- :cell anon_key_0
-- :columns 1
WITH anon_values AS MATERIALIZED (
    SELECT :cell, anon_value, CAST(sum(anon_rows) AS BIGINT) AS anon_rows
    FROM :values AS anon_values_of_cells
    GROUP BY :cell, anon_value
),
anon_sizes AS (
    SELECT :cell, CAST(sum(anon_rows) // :columns AS BIGINT) AS anon_cell_size
    FROM anon_values
    GROUP BY :cell
)
SELECT anon_values.*, anon_sizes.anon_cell_size
FROM anon_values
INNER JOIN anon_sizes ON anon_sizes.:cell = anon_values.:cell;

-- name: class_values
-- values of classes
-- The rows of each value in each class of the more general node.
-- :cells (anon_interval BIGINT, anon_high BIGINT, anon_value UINTEGER, anon_rows BIGINT)
SELECT anon_interval, anon_high, anon_value, CAST(sum(anon_rows) AS BIGINT) AS anon_rows
FROM :cells AS anon_cells
GROUP BY anon_interval, anon_high, anon_value;

-- name: classes
-- classes of more general nodes
-- The rows of classes, which each of :columns columns has, and whether they are too small, or have too few values of a column.
-- :values (anon_interval BIGINT, anon_high BIGINT, anon_value UINTEGER, anon_rows BIGINT)
-- :columns 1
-- :is_small sum(anon_rows) // 1 < 5 OR count(*) FILTER (WHERE anon_value % 1 = 0) < 3
SELECT
    anon_interval,
    anon_high,
    CAST(sum(anon_rows) // :columns AS BIGINT) AS anon_class_size,
    :is_small AS anon_is_small
FROM :values AS anon_values
GROUP BY anon_interval, anon_high;

-- name: values_with_shares
-- values of classes with the shares that these may have
-- Classes that are too small need no scores: all of their rows are suppressed.
-- :values (anon_interval BIGINT, anon_high BIGINT, anon_value UINTEGER, anon_rows BIGINT)
-- :classes (anon_interval BIGINT, anon_high BIGINT, anon_class_size BIGINT, anon_is_small BOOLEAN)
-- :shares (anon_value UINTEGER, anon_largest_share DOUBLE, anon_least_share DOUBLE)
SELECT
    anon_values.*,
    anon_classes.anon_class_size,
    anon_shares.anon_largest_share,
    anon_shares.anon_least_share
FROM :values AS anon_values
INNER JOIN :classes AS anon_classes
    ON anon_classes.anon_interval = anon_values.anon_interval
    AND anon_classes.anon_high = anon_values.anon_high
INNER JOIN :shares AS anon_shares
    ON anon_shares.anon_value = anon_values.anon_value
WHERE NOT anon_classes.anon_is_small;

-- name: largest_share_excesses
-- values with too large a share
-- The values that have too large a share of their class, with the excess of its cells.
-- :values (anon_interval BIGINT, anon_high BIGINT, anon_value UINTEGER, anon_rows BIGINT, anon_class_size BIGINT,
--     anon_largest_share DOUBLE)
SELECT *, row_number() OVER () AS anon_place
FROM (
    SELECT
        anon_interval,
        anon_high,
        anon_value,
        anon_largest_share AS anon_share,
        anon_helpers.score_excess(
            anon_helpers.largest_share_score(anon_rows, anon_class_size, anon_largest_share),
            anon_class_size
        ) AS anon_excess
    FROM :values AS anon_values
)
WHERE anon_excess > 0;

-- name: least_share_excesses
-- values with too small a share
-- The values that have too small a share of their class. The excess counts the cells that have the value alone. They have at most the
-- rows of the class, so that other classes have no excess.
-- :values (anon_interval BIGINT, anon_high BIGINT, anon_value UINTEGER, anon_rows BIGINT, anon_class_size BIGINT,
--     anon_least_share DOUBLE)
SELECT
    anon_interval,
    anon_high,
    anon_value,
    anon_least_share AS anon_share,
    anon_class_size,
    row_number() OVER () AS anon_place
FROM :values AS anon_values
WHERE anon_helpers.score_excess(
    anon_helpers.least_share_score(anon_rows, anon_class_size, anon_least_share), anon_class_size
) > 0;

-- name: failing_classes
-- classes that fail a model
-- :excesses (anon_interval BIGINT, anon_high BIGINT)
SELECT DISTINCT anon_interval, anon_high
FROM :excesses AS anon_excesses;

-- name: cells_of_classes
-- cells of classes
-- :cells (anon_interval BIGINT, anon_low BIGINT, anon_high BIGINT, anon_value UINTEGER, anon_rows BIGINT)
-- :classes (anon_interval BIGINT, anon_high BIGINT)
SELECT anon_cells.*
FROM :cells AS anon_cells
INNER JOIN :classes AS anon_classes
    ON anon_classes.anon_interval = anon_cells.anon_interval AND anon_classes.anon_high = anon_cells.anon_high;

-- name: share_scores
-- scores of cells by shares
-- The score (:score) of the cells that have a value with an excess. Others score 0 where the share is too small, and at most 0 where
-- it is too large, which is never beyond a price.
-- :cells (anon_interval BIGINT, anon_high BIGINT, anon_value UINTEGER, anon_rows BIGINT, anon_cell_size BIGINT)
-- :excesses (anon_interval BIGINT, anon_high BIGINT, anon_value UINTEGER, anon_share DOUBLE, anon_place BIGINT)
-- :score anon_helpers.largest_share_score(anon_cells.anon_rows, anon_cells.anon_cell_size, anon_excesses.anon_share)
SELECT anon_excesses.anon_place, anon_cells.anon_cell_size, :score AS anon_score
FROM :cells AS anon_cells
INNER JOIN :excesses AS anon_excesses
    ON anon_excesses.anon_interval = anon_cells.anon_interval
    AND anon_excesses.anon_high = anon_cells.anon_high
    AND anon_excesses.anon_value = anon_cells.anon_value;

-- name: surpluses
-- sets of values with too large a share
-- The sets of values whose share in a class exceeds that in all rows; classes that are too small need no scores.
-- :values (anon_interval BIGINT, anon_high BIGINT, anon_value UINTEGER, anon_rows BIGINT)
-- :classes (anon_interval BIGINT, anon_high BIGINT, anon_class_size BIGINT, anon_is_small BOOLEAN)
-- :sets (anon_set BIGINT, anon_value UINTEGER, anon_weight DOUBLE, anon_distance INTEGER, anon_t DOUBLE, anon_set_share DOUBLE)
SELECT
    anon_values.anon_interval,
    anon_values.anon_high,
    anon_sets.anon_distance,
    anon_sets.anon_set,
    any_value(anon_sets.anon_weight) AS anon_weight,
    any_value(anon_sets.anon_set_share) AS anon_set_share,
    any_value(anon_sets.anon_t) AS anon_t,
    any_value(anon_classes.anon_class_size) AS anon_class_size,
    CAST(sum(anon_values.anon_rows) AS BIGINT) AS anon_set_rows
FROM :values AS anon_values
INNER JOIN :classes AS anon_classes
    ON anon_classes.anon_interval = anon_values.anon_interval
    AND anon_classes.anon_high = anon_values.anon_high
INNER JOIN :sets AS anon_sets ON anon_sets.anon_value = anon_values.anon_value
WHERE NOT anon_classes.anon_is_small
GROUP BY anon_values.anon_interval, anon_values.anon_high, anon_sets.anon_distance, anon_sets.anon_set
HAVING sum(anon_values.anon_rows) > any_value(anon_sets.anon_set_share) * any_value(anon_classes.anon_class_size);

-- name: distance_excesses
-- classes too far from all rows
-- The classes that are too far from all rows: the excess of their cells, and what is subtracted from the potential of each row.
-- :surpluses (anon_interval BIGINT, anon_high BIGINT, anon_distance INTEGER, anon_weight DOUBLE, anon_set_share DOUBLE,
--     anon_t DOUBLE, anon_class_size BIGINT, anon_set_rows BIGINT)
SELECT *, row_number() OVER () AS anon_place
FROM (
    SELECT
        anon_interval,
        anon_high,
        anon_distance,
        sum(anon_weight * anon_set_share) AS anon_reference_potential,
        any_value(anon_t) AS anon_t,
        anon_helpers.score_excess(
            anon_helpers.distance_score_of(
                anon_set_rows,
                anon_weight,
                any_value(anon_class_size),
                sum(anon_weight * anon_set_share),
                any_value(anon_t)
            ),
            any_value(anon_class_size)
        ) AS anon_excess
    FROM :surpluses AS anon_surpluses
    GROUP BY anon_interval, anon_high, anon_distance
)
WHERE anon_excess > 0;

-- name: potentials
-- potentials of values
-- The potentials of the values of these classes, of those that have any.
-- :surpluses (anon_interval BIGINT, anon_high BIGINT, anon_distance INTEGER, anon_set BIGINT)
-- :excesses (anon_interval BIGINT, anon_high BIGINT, anon_distance INTEGER, anon_place BIGINT)
-- :sets (anon_set BIGINT, anon_value UINTEGER, anon_weight DOUBLE, anon_distance INTEGER)
SELECT anon_excesses.anon_place, anon_sets.anon_value, sum(anon_sets.anon_weight) AS anon_potential
FROM :surpluses AS anon_surpluses
INNER JOIN :excesses AS anon_excesses
    ON anon_excesses.anon_interval = anon_surpluses.anon_interval
    AND anon_excesses.anon_high = anon_surpluses.anon_high
    AND anon_excesses.anon_distance = anon_surpluses.anon_distance
INNER JOIN :sets AS anon_sets
    ON anon_sets.anon_distance = anon_surpluses.anon_distance AND anon_sets.anon_set = anon_surpluses.anon_set
GROUP BY anon_excesses.anon_place, anon_sets.anon_value;

-- name: distance_scores
-- scores of cells by distances
-- The scores of the cells of these classes that have a value with a potential; others score less than 0.
-- :cells (anon_interval BIGINT, anon_low BIGINT, anon_high BIGINT, anon_value UINTEGER, anon_rows BIGINT, anon_cell_size BIGINT)
-- :excesses (anon_interval BIGINT, anon_high BIGINT, anon_reference_potential DOUBLE, anon_t DOUBLE, anon_place BIGINT)
-- :potentials (anon_place BIGINT, anon_value UINTEGER, anon_potential DOUBLE)
SELECT
    anon_excesses.anon_place,
    any_value(anon_cells.anon_cell_size) AS anon_cell_size,
    anon_helpers.distance_score_of(
        anon_cells.anon_rows,
        anon_potentials.anon_potential,
        any_value(anon_cells.anon_cell_size),
        any_value(anon_excesses.anon_reference_potential),
        any_value(anon_excesses.anon_t)
    ) AS anon_score
FROM :cells AS anon_cells
INNER JOIN :excesses AS anon_excesses
    ON anon_excesses.anon_interval = anon_cells.anon_interval AND anon_excesses.anon_high = anon_cells.anon_high
INNER JOIN :potentials AS anon_potentials
    ON anon_potentials.anon_place = anon_excesses.anon_place AND anon_potentials.anon_value = anon_cells.anon_value
GROUP BY anon_excesses.anon_place, anon_cells.anon_low;

-- name: least_rows
-- rows that make up for excesses
-- The rows of a class that every node of an interval suppresses by each excess. The highest price of a row is the most that a cell of
-- the class scores per row; of that price and the three below it, each half of the one before, the one counts that proves most.
-- :scores (anon_place BIGINT, anon_cell_size BIGINT, anon_score DOUBLE)
-- :excesses (anon_interval BIGINT, anon_high BIGINT, anon_excess DOUBLE, anon_place BIGINT)
-- :excess anon_excesses.anon_excess
SELECT
    anon_excesses.anon_interval,
    anon_excesses.anon_high,
    greatest(
        anon_helpers.excess_rows(:excess, anon_beyond.anon_price, 0e0),
        anon_helpers.excess_rows(:excess, anon_beyond.anon_price / 2, anon_beyond.anon_beyond_half),
        anon_helpers.excess_rows(:excess, anon_beyond.anon_price / 4, anon_beyond.anon_beyond_quarter),
        anon_helpers.excess_rows(:excess, anon_beyond.anon_price / 8, anon_beyond.anon_beyond_eighth)
    ) AS anon_least_rows
FROM (
    SELECT
        anon_scores.anon_place,
        any_value(anon_prices.anon_price) AS anon_price,
        sum(anon_scores.anon_score) AS anon_score_sum,
        sum(greatest(anon_score - anon_price / 2 * anon_cell_size, 0e0)) AS anon_beyond_half,
        sum(greatest(anon_score - anon_price / 4 * anon_cell_size, 0e0)) AS anon_beyond_quarter,
        sum(greatest(anon_score - anon_price / 8 * anon_cell_size, 0e0)) AS anon_beyond_eighth
    FROM :scores AS anon_scores
    INNER JOIN (
        SELECT anon_place, max(anon_score / anon_cell_size) AS anon_price
        FROM :scores AS anon_all_scores
        GROUP BY anon_place
    ) AS anon_prices ON anon_prices.anon_place = anon_scores.anon_place
    GROUP BY anon_scores.anon_place
) AS anon_beyond
INNER JOIN :excesses AS anon_excesses ON anon_excesses.anon_place = anon_beyond.anon_place
WHERE :excess > 0;

-- name: proofs
-- proofs about intervals of nodes
-- A row per interval: the rows that every node of it suppresses at least, and the summary of its most general node. Classes that are
-- too small, or have too few values, are suppressed with all of their rows in each node.
-- :classes (anon_interval BIGINT, anon_high BIGINT, anon_class_size BIGINT, anon_is_small BOOLEAN)
-- :least_rows (anon_interval BIGINT, anon_high BIGINT, anon_least_rows DOUBLE)
-- :failing (anon_interval BIGINT, anon_high BIGINT)
SELECT
    anon_interval AS node,
    count(*) AS class_count,
    min(anon_class_size) AS min_class_size,
    count(*) FILTER (WHERE NOT anon_is_out) AS kept_class_count,
    CAST(coalesce(sum(anon_class_size) FILTER (WHERE anon_is_out), 0) AS BIGINT) AS suppressed_rows,
    CAST(coalesce(sum(anon_class_size) FILTER (WHERE anon_is_small), 0) AS BIGINT) AS certain_suppressed_rows,
    CAST(
        sum(
            CASE
                WHEN anon_is_small THEN anon_class_size
                WHEN anon_least_rows IS NULL THEN 0
                ELSE least(CAST(ceil(anon_least_rows) AS BIGINT), anon_class_size)
            END
        ) AS BIGINT
    ) AS proven_rows
FROM (
    SELECT
        anon_classes.*,
        anon_most.anon_least_rows,
        anon_classes.anon_is_small OR anon_failing.anon_high IS NOT NULL AS anon_is_out
    FROM :classes AS anon_classes
    LEFT JOIN (
        SELECT anon_interval, anon_high, max(anon_least_rows) AS anon_least_rows
        FROM :least_rows AS anon_least_rows_of_scores
        GROUP BY anon_interval, anon_high
    ) AS anon_most
        ON anon_most.anon_interval = anon_classes.anon_interval AND anon_most.anon_high = anon_classes.anon_high
    LEFT JOIN :failing AS anon_failing
        ON anon_failing.anon_interval = anon_classes.anon_interval AND anon_failing.anon_high = anon_classes.anon_high
)
GROUP BY anon_interval;
