-- IPA as it was published.
--
-- :cells (anon_class BIGINT, anon_node INTEGER, anon_ncp DOUBLE, anon_class_size BIGINT, anon_place_of_value BIGINT,
--     anon_row_count BIGINT, anon_value_count BIGINT, anon_value_epsilon DOUBLE)
-- :present (anon_class BIGINT, anon_node INTEGER, anon_ncp DOUBLE, anon_class_size BIGINT, anon_class_values BIGINT,
--     anon_value_count BIGINT, anon_value_epsilon DOUBLE, anon_place_of_value BIGINT, anon_row_count BIGINT,
--     anon_weight DOUBLE, anon_start DOUBLE, anon_index BIGINT)
-- :gaps (anon_class BIGINT, anon_gap BIGINT, anon_shift BIGINT)
-- :classes (anon_class BIGINT, anon_node INTEGER, anon_ncp DOUBLE, anon_class_size BIGINT, anon_present_weight DOUBLE,
--     anon_absent_values BIGINT, anon_absent_weight DOUBLE)
-- :thresholds (anon_run BIGINT, anon_class BIGINT, anon_threshold DOUBLE)
-- :uniforms (anon_run BIGINT, anon_class BIGINT, anon_uniform DOUBLE)
-- :perturbed_classes (anon_run BIGINT, anon_class BIGINT, anon_node INTEGER, anon_ncp DOUBLE, anon_class_size BIGINT,
--     anon_present_weight DOUBLE, anon_absent_values BIGINT, anon_absent_weight DOUBLE, anon_is_kept BOOLEAN)
-- :counterfeits (anon_run BIGINT, anon_node INTEGER, anon_class BIGINT, anon_place_of_value BIGINT,
--     anon_row_count BIGINT)
-- :values (anon_place_of_value BIGINT, anon_row_count BIGINT)

-- name: classes
-- ipa paper classes
-- The classes of some nodes: their size, what their labels lose, the weight of all values that they have together, how
-- many values they do not have, and the weight of each of these.
SELECT
    anon_class,
    any_value(anon_node) AS anon_node,
    any_value(anon_ncp) AS anon_ncp,
    CAST(any_value(anon_class_size) AS BIGINT) AS anon_class_size,
    max(anon_start + anon_weight) AS anon_present_weight,
    any_value(anon_value_count - anon_class_values) AS anon_absent_values,
    any_value(
        anon_helpers.value_weight_of(
            anon_helpers.value_score_of(0, anon_class_size, anon_value_count, anon_class_values), anon_value_epsilon
        )
    ) AS anon_absent_weight
FROM :present
GROUP BY anon_class;

-- name: counterfeits
-- ipa paper counterfeits
-- Per run, class and value, how many counterfeit rows there are: each has a number between 0 and 1, which falls among the
-- weights of all values, first those that the class has, then those that it does not have, which weigh the same.
WITH anon_aims AS (
    SELECT
        anon_classes.anon_run,
        anon_classes.anon_node,
        anon_classes.anon_class,
        anon_classes.anon_present_weight,
        anon_classes.anon_absent_values,
        anon_classes.anon_absent_weight,
        anon_uniforms.anon_uniform * (
            anon_classes.anon_present_weight
            + anon_classes.anon_absent_values * coalesce(anon_classes.anon_absent_weight, 0.0)
        ) AS anon_aim
    FROM :uniforms AS anon_uniforms
    INNER JOIN :perturbed_classes AS anon_classes
        ON anon_classes.anon_run = anon_uniforms.anon_run AND anon_classes.anon_class = anon_uniforms.anon_class
    WHERE anon_classes.anon_is_kept
),
anon_absent AS (
    SELECT
        *,
        CAST(
            least(floor((anon_aim - anon_present_weight) / anon_absent_weight), anon_absent_values - 1) AS BIGINT
        ) AS anon_rank
    FROM anon_aims
    WHERE anon_absent_values > 0 AND anon_aim >= anon_present_weight
),
anon_drawn AS (
    SELECT anon_aims.anon_run, anon_aims.anon_node, anon_aims.anon_class, anon_present.anon_place_of_value
    FROM anon_aims
    ASOF INNER JOIN :present AS anon_present
        ON anon_present.anon_class = anon_aims.anon_class AND anon_aims.anon_aim >= anon_present.anon_start
    WHERE anon_aims.anon_absent_values = 0 OR anon_aims.anon_aim < anon_aims.anon_present_weight
    UNION ALL
    SELECT
        anon_absent.anon_run,
        anon_absent.anon_node,
        anon_absent.anon_class,
        anon_absent.anon_rank + coalesce(anon_gaps.anon_shift, 0) AS anon_place_of_value
    FROM anon_absent
    ASOF LEFT JOIN :gaps AS anon_gaps
        ON anon_gaps.anon_class = anon_absent.anon_class AND anon_absent.anon_rank >= anon_gaps.anon_gap
)
SELECT anon_run, anon_node, anon_class, anon_place_of_value, count(*) AS anon_row_count
FROM anon_drawn
GROUP BY anon_run, anon_node, anon_class, anon_place_of_value;

-- name: gaps
-- ipa paper gaps
-- How many values of a class come before the ones that it does not have: the i-th of its values has place - i of the
-- latter before it.
SELECT anon_class, anon_place_of_value - anon_index AS anon_gap, max(anon_index) + 1 AS anon_shift
FROM :present
GROUP BY anon_class, anon_place_of_value - anon_index;

-- name: kept
-- per run, class and value, the rows of the classes that are kept, with the counterfeit ones
SELECT anon_run, anon_class, anon_place_of_value, CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count
FROM (
    SELECT
        anon_classes.anon_run,
        anon_classes.anon_class,
        anon_present.anon_place_of_value,
        anon_present.anon_row_count
    FROM :perturbed_classes AS anon_classes
    INNER JOIN :present AS anon_present ON anon_present.anon_class = anon_classes.anon_class
    WHERE anon_classes.anon_is_kept
    UNION ALL
    SELECT anon_run, anon_class, anon_place_of_value, anon_row_count FROM :counterfeits
)
GROUP BY anon_run, anon_class, anon_place_of_value;

-- name: perturbed_classes
-- the classes of each run, and whether they are kept: their rows must exceed their noisy threshold
SELECT
    anon_thresholds.anon_run,
    anon_classes.*,
    anon_classes.anon_class_size > anon_thresholds.anon_threshold AS anon_is_kept
FROM :thresholds AS anon_thresholds
INNER JOIN :classes AS anon_classes ON anon_classes.anon_class = anon_thresholds.anon_class;

-- name: pooled
-- per run and value, the rows of the classes that are not kept
SELECT
    anon_classes.anon_run,
    anon_present.anon_place_of_value,
    CAST(sum(anon_present.anon_row_count) AS BIGINT) AS anon_row_count
FROM :perturbed_classes AS anon_classes
INNER JOIN :present AS anon_present ON anon_present.anon_class = anon_classes.anon_class
WHERE NOT anon_classes.anon_is_kept
GROUP BY anon_classes.anon_run, anon_present.anon_place_of_value;

-- name: present
-- ipa paper present
-- The values that each class has, in the order of their places among all values: their number of rows, the weight with
-- which a counterfeit row gets them, and the weight of those before them.
SELECT
    anon_class,
    anon_node,
    anon_ncp,
    anon_class_size,
    anon_class_values,
    anon_value_count,
    anon_value_epsilon,
    anon_place_of_value,
    anon_row_count,
    anon_weight,
    coalesce(sum(anon_weight) OVER (anon_in_order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0.0) AS anon_start,
    row_number() OVER anon_in_order - 1 AS anon_index
FROM (
    SELECT
        *,
        anon_helpers.value_weight_of(
            anon_helpers.value_score_of(anon_row_count, anon_class_size, anon_value_count, anon_class_values), anon_value_epsilon
        ) AS anon_weight
    FROM (
        SELECT
            *,
            sum(anon_row_count) OVER (PARTITION BY anon_class) AS anon_class_size,
            count(*) OVER (PARTITION BY anon_class) AS anon_class_values
        FROM :cells
    )
)
WINDOW anon_in_order AS (PARTITION BY anon_class ORDER BY anon_place_of_value ASC);

-- name: utilities
-- ipa paper utilities
-- The utility of each node in each run, and what is subtracted from 3 for it: NCP of all rows, the total variation
-- distance of their values from those of the source, and the mean share of counterfeit rows in the classes; the masked
-- rows are a class. Values without counterfeit rows have no larger share than in the source, so that they do not add to
-- the distance.
WITH anon_grown AS (
    SELECT anon_run, anon_class, sum(anon_row_count) AS anon_counterfeits
    FROM :counterfeits
    GROUP BY anon_run, anon_class
),
anon_totals AS (
    SELECT
        anon_run,
        anon_node,
        sum(anon_class_size) AS anon_rows,
        sum(anon_released_rows) AS anon_released_rows,
        fsum(CASE WHEN anon_is_kept THEN anon_released_rows * anon_ncp ELSE anon_released_rows END) AS anon_lost_rows,
        coalesce(fsum(anon_helpers.counterfeit_share_of(anon_class_size, anon_released_rows)), 0.0)
        / (count(*) FILTER (WHERE anon_is_kept) + CAST(bool_or(NOT anon_is_kept) AS INTEGER)) AS anon_rate
    FROM (
        SELECT
            anon_classes.*,
            anon_classes.anon_class_size + coalesce(anon_grown.anon_counterfeits, 0) AS anon_released_rows
        FROM :perturbed_classes AS anon_classes
        LEFT JOIN anon_grown
            ON anon_grown.anon_run = anon_classes.anon_run AND anon_grown.anon_class = anon_classes.anon_class
    )
    GROUP BY anon_run, anon_node
),
anon_distances AS (
    SELECT
        anon_added.anon_run,
        anon_added.anon_node,
        anon_helpers.equal_distance_of(
            anon_values.anon_row_count + anon_added.anon_counterfeits,
            anon_totals.anon_released_rows,
            anon_values.anon_row_count / anon_totals.anon_rows
        ) AS anon_distance
    FROM (
        SELECT anon_run, anon_node, anon_place_of_value, sum(anon_row_count) AS anon_counterfeits
        FROM :counterfeits
        GROUP BY anon_run, anon_node, anon_place_of_value
    ) AS anon_added
    INNER JOIN :values AS anon_values ON anon_values.anon_place_of_value = anon_added.anon_place_of_value
    INNER JOIN anon_totals
        ON anon_totals.anon_run = anon_added.anon_run AND anon_totals.anon_node = anon_added.anon_node
    GROUP BY anon_added.anon_run, anon_added.anon_node
)
SELECT *, 3 - (ncp + total_variation + rate) AS utility
FROM (
    SELECT
        anon_totals.anon_run AS run,
        anon_totals.anon_node AS node,
        anon_totals.anon_lost_rows / anon_totals.anon_released_rows AS ncp,
        coalesce(anon_distances.anon_distance, 0.0) AS total_variation,
        anon_totals.anon_rate AS rate
    FROM anon_totals
    LEFT JOIN anon_distances
        ON anon_distances.anon_run = anon_totals.anon_run AND anon_distances.anon_node = anon_totals.anon_node
);
