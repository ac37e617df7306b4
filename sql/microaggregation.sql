-- Microaggregation: numbers of cells as points, blocks of them, groups of k rows or more, and the values of groups.
--
-- Places of points (anon_z) are in standard deviations, on a grid of 2^-32: sums of them are exact, so that they do not
-- depend on the order of rows.
--
-- :numbers anon_x_0
-- :places anon_z_0
-- :shown anon_y_0
-- :k 3

-- name: cells_of_numbers
-- cells of numbers
-- Rows of equal numbers are a point, with the pattern of their NULLs; points are in the order of their numbers.
-- :source (age INTEGER, weight DOUBLE)
-- :values CAST(age AS DOUBLE)
-- :pattern CASE WHEN age IS NULL THEN 1 ELSE 0 END
-- :weight CAST(weight AS DOUBLE)
SELECT row_number() OVER (ORDER BY anon_pattern ASC, :numbers ASC) AS anon_point, *
FROM (
    SELECT
        :values AS :numbers,
        :pattern AS anon_pattern,
        CAST(count(*) AS BIGINT) AS anon_row_count,
        sum(:weight ORDER BY :weight ASC) AS anon_weight,
        coalesce(count(*) FILTER (WHERE NOT (:weight > 0 AND :weight <= 1e12) IS TRUE), 0) AS anon_unweighed
    FROM :source AS anon_source
    GROUP BY :numbers, anon_pattern
) AS anon_unnumbered;

-- name: patterns
-- patterns of NULL
-- A block of each pattern; whether points of k rows or more are groups of themselves: not if too few rows would be left.
-- :cells (anon_pattern BIGINT, anon_row_count BIGINT)
SELECT
    anon_pattern,
    row_number() OVER (ORDER BY anon_pattern ASC) AS anon_block,
    sum(anon_row_count) AS anon_rows,
    coalesce(sum(anon_row_count) FILTER (WHERE anon_row_count < :k), :k) >= :k AS anon_has_whole
FROM :cells AS anon_cells
GROUP BY anon_pattern;

-- name: checks
-- numbers that cannot be grouped
-- Rows, those with an invalid weight or number, the numbers that do not vary, and the patterns of fewer than k rows.
-- :cells (anon_x_0 DOUBLE, anon_row_count BIGINT, anon_unweighed BIGINT)
-- :patterns (anon_rows BIGINT)
-- :wrong anon_y_0
-- :varying anon_z_0
SELECT
    coalesce(sum(anon_row_count), 0) AS rows,
    coalesce(sum(anon_unweighed), 0) AS unweighed,
    (SELECT count(*) FROM :patterns WHERE anon_rows < :k) AS patterns,
    (SELECT coalesce(sum(anon_rows), 0) FROM :patterns WHERE anon_rows < :k) AS pattern_rows,
    coalesce(sum(anon_row_count) FILTER (WHERE NOT abs(:numbers) <= 1e100), 0) AS :wrong,
    coalesce(min(:numbers) < max(:numbers), FALSE) AS :varying
FROM :cells AS anon_cells;

-- name: scales
-- means and deviations
-- To nine digits, which do not depend on the order of rows either.
-- :cells (anon_x_0 DOUBLE, anon_pattern BIGINT, anon_row_count BIGINT)
-- :patterns (anon_pattern BIGINT, anon_rows BIGINT)
WITH anon_kept AS (
    SELECT anon_cells.*
    FROM :cells AS anon_cells
    INNER JOIN :patterns AS anon_patterns
        ON anon_patterns.anon_pattern = anon_cells.anon_pattern AND anon_patterns.anon_rows >= :k
),

anon_means AS (
    SELECT
        CAST(format('{:.8e}', sum(anon_row_count * :numbers) / sum(anon_row_count) FILTER (WHERE :numbers IS NOT NULL)) AS DOUBLE)
            AS :numbers
    FROM anon_kept
)

SELECT
    any_value(anon_means.:numbers) AS :numbers,
    CAST(format('{:.8e}', sqrt(
        sum(anon_kept.anon_row_count * (anon_kept.:numbers - anon_means.:numbers) ** 2)
        / sum(anon_kept.anon_row_count) FILTER (WHERE anon_kept.:numbers IS NOT NULL)
    )) AS DOUBLE) AS :places
FROM anon_kept
CROSS JOIN anon_means;

-- name: whole_groups
-- groups of equal rows
-- :cells (anon_point BIGINT, anon_pattern BIGINT, anon_row_count BIGINT)
-- :patterns (anon_pattern BIGINT, anon_block BIGINT, anon_has_whole BOOLEAN)
SELECT anon_cells.anon_point, anon_patterns.anon_block, CAST(0 AS BIGINT) AS anon_step, anon_cells.anon_point AS anon_group
FROM :cells AS anon_cells
INNER JOIN :patterns AS anon_patterns
    ON anon_patterns.anon_pattern = anon_cells.anon_pattern AND anon_patterns.anon_has_whole
WHERE anon_cells.anon_row_count >= :k;

-- name: blocks
-- points in no group yet
-- Blocks below 0 stay as they are: those of few points, and the points of a large one that are farthest from the centre, unless
-- they would leave too few for a block. Patterns of fewer than k rows are in none.
-- :cells (anon_point BIGINT, anon_x_0 DOUBLE, anon_pattern BIGINT, anon_row_count BIGINT)
-- :patterns (anon_pattern BIGINT, anon_block BIGINT, anon_rows BIGINT, anon_has_whole BOOLEAN)
-- :scales (anon_x_0 DOUBLE, anon_z_0 DOUBLE)
-- :squares anon_z_0 * anon_z_0
-- :most 4000
-- :size 1000
SELECT * REPLACE (
    CASE
        WHEN row_number() OVER (PARTITION BY anon_block ORDER BY :squares DESC, anon_point ASC) <= :most THEN -anon_block
        WHEN count(*) OVER (PARTITION BY anon_block) <= :most + :size THEN -anon_block
        ELSE anon_block
    END AS anon_block
)
FROM (
    SELECT
        anon_cells.anon_point,
        anon_cells.anon_row_count,
        anon_patterns.anon_block,
        coalesce(round((anon_cells.:numbers - anon_scales.:numbers) / nullif(anon_scales.:places, 0) * 4294967296) / 4294967296, 0)
            AS :places
    FROM :cells AS anon_cells
    INNER JOIN :patterns AS anon_patterns
        ON
            anon_patterns.anon_pattern = anon_cells.anon_pattern
            AND anon_patterns.anon_rows >= :k
            AND NOT (anon_patterns.anon_has_whole AND anon_cells.anon_row_count >= :k)
    CROSS JOIN :scales AS anon_scales
) AS anon_points;

-- name: largest_block
-- points of the largest block
-- :free (anon_block BIGINT)
SELECT coalesce(max(anon_points), 0) AS points
FROM (SELECT count(*) AS anon_points FROM :free AS anon_free WHERE anon_block > 0 GROUP BY anon_block) AS anon_sizes;

-- name: upper_halves
-- upper halves of blocks
-- The points beyond the median of the place that varies most in their block; equal places are in the order of points.
-- :free (anon_point BIGINT, anon_block BIGINT, anon_z_0 DOUBLE)
-- :size 1000
WITH anon_placed AS MATERIALIZED (
    SELECT
        anon_free.anon_point,
        anon_free.anon_block,
        list_extract([anon_free.:places], list_position(anon_wide.spreads, list_max(anon_wide.spreads)))
        + anon_free.anon_point / 2 ** 44 AS anon_place
    FROM :free AS anon_free
    INNER JOIN (
        SELECT anon_block, [:places] AS spreads
        FROM (
            SELECT anon_block, var_pop(:places) AS :places
            FROM :free AS anon_free
            WHERE anon_block > 0
            GROUP BY anon_block
            HAVING count(*) > :size
        ) AS anon_spreads
    ) AS anon_wide ON anon_wide.anon_block = anon_free.anon_block
)

SELECT anon_placed.anon_point
FROM anon_placed
INNER JOIN (
    SELECT anon_block, quantile_disc(anon_place, 0.5) AS anon_median FROM anon_placed GROUP BY anon_block
) AS anon_medians ON anon_medians.anon_block = anon_placed.anon_block AND anon_placed.anon_place > anon_medians.anon_median;

-- name: sorted_blocks
-- points in no group yet, by block
-- Sums of a block are several times faster where its points are side by side.
-- :free (anon_point BIGINT, anon_block BIGINT)
SELECT * FROM :free ORDER BY anon_block ASC, anon_point ASC;

-- name: steps_of_mdav
-- groups of some steps
-- In each block the point farthest from the centre and its nearest, k rows or more; then the same of the point that is farthest
-- from the first. Of fewer than 3k rows those that are left by the first, and of fewer than 2k all, are a group. It ends when
-- :most points are in groups, which later steps have to leave out one by one.
-- Source: Domingo-Ferrer and Torra 2005 (MDAV).
-- :free (anon_point BIGINT, anon_row_count BIGINT, anon_block BIGINT, anon_z_0 DOUBLE)
-- :distance abs(anon_rest.anon_z_0 - anon_from.anon_z_0)
-- :first 1
-- :most 1000
WITH RECURSIVE anon_taken (anon_point, anon_block, anon_step, anon_group) USING KEY (anon_point) AS (
    SELECT CAST(0 AS BIGINT), CAST(0 AS BIGINT), CAST(:first AS BIGINT), CAST(0 AS BIGINT)
    UNION
    (
        WITH anon_rest AS MATERIALIZED (
            SELECT anon_free.*
            FROM :free AS anon_free
            ANTI JOIN recurring.anon_taken AS anon_gone ON anon_gone.anon_point = anon_free.anon_point
            WHERE (SELECT count(*) FROM recurring.anon_taken) <= :most
        ),

        anon_centres AS MATERIALIZED (
            SELECT
                anon_block,
                sum(anon_row_count) AS anon_rows,
                sum(anon_row_count * :places) / sum(anon_row_count) AS :places
            FROM anon_rest
            GROUP BY anon_block
            HAVING sum(anon_row_count) >= :k
        ),

        anon_firsts AS MATERIALIZED (
            SELECT anon_block, any_value(anon_rows) AS anon_rows, arg_max(:places, anon_distance) AS :places
            FROM (
                SELECT anon_rest.anon_block, anon_from.anon_rows, anon_rest.:places AS :places, :distance AS anon_distance
                FROM anon_rest
                INNER JOIN anon_centres AS anon_from ON anon_from.anon_block = anon_rest.anon_block
                WHERE anon_from.anon_rows >= 2 * :k
            ) AS anon_from_centres
            GROUP BY anon_block
        ),

        anon_seconds AS MATERIALIZED (
            SELECT
                anon_block,
                any_value(anon_rows) AS anon_rows,
                arg_min({'point': anon_point, 'rows': anon_row_count}, anon_distance, :k) AS anon_near,
                arg_max(:places, anon_distance) AS :places
            FROM (
                SELECT anon_rest.*, anon_from.anon_rows, :distance AS anon_distance
                FROM anon_rest
                INNER JOIN anon_firsts AS anon_from ON anon_from.anon_block = anon_rest.anon_block
            ) AS anon_from_firsts
            GROUP BY anon_block
        ),

        anon_of_firsts AS MATERIALIZED (
            SELECT anon_block, anon_one.point AS anon_point, anon_near[1].point AS anon_group
            FROM (
                SELECT anon_block, anon_near, unnest(anon_near) AS anon_one, generate_subscripts(anon_near, 1) AS anon_rank
                FROM anon_seconds
            ) AS anon_nearest
            QUALIFY sum(anon_one.rows) OVER (PARTITION BY anon_block ORDER BY anon_rank ASC) - anon_one.rows < :k
        ),

        anon_others AS (
            SELECT anon_block, anon_one.point AS anon_point, anon_one.rows AS anon_row_count, anon_near[1].point AS anon_group
            FROM (
                SELECT anon_block, anon_near, unnest(anon_near) AS anon_one, generate_subscripts(anon_near, 1) AS anon_rank
                FROM (
                    SELECT
                        anon_rest.anon_block,
                        arg_min({'point': anon_rest.anon_point, 'rows': anon_rest.anon_row_count}, :distance, :k) AS anon_near
                    FROM anon_rest
                    INNER JOIN anon_seconds AS anon_from
                        ON anon_from.anon_block = anon_rest.anon_block AND anon_from.anon_rows >= 3 * :k
                    ANTI JOIN anon_of_firsts ON anon_of_firsts.anon_point = anon_rest.anon_point
                    GROUP BY anon_rest.anon_block
                ) AS anon_near_seconds
            ) AS anon_nearest
            QUALIFY sum(anon_one.rows) OVER (PARTITION BY anon_block ORDER BY anon_rank ASC) - anon_one.rows < :k
            UNION ALL
            SELECT
                anon_rest.anon_block,
                anon_rest.anon_point,
                anon_rest.anon_row_count,
                min(anon_rest.anon_point) OVER (PARTITION BY anon_rest.anon_block) AS anon_group
            FROM anon_rest
            INNER JOIN anon_centres ON anon_centres.anon_block = anon_rest.anon_block AND anon_centres.anon_rows < 3 * :k
            ANTI JOIN anon_of_firsts ON anon_of_firsts.anon_point = anon_rest.anon_point
        )

        SELECT
            anon_chosen.anon_point,
            anon_chosen.anon_block,
            anon_last.anon_step + anon_chosen.anon_place AS anon_step,
            anon_chosen.anon_group
        FROM (
            SELECT 1 AS anon_place, anon_block, anon_point, anon_group FROM anon_of_firsts
            UNION ALL
            SELECT
                2 AS anon_place,
                anon_others.anon_block,
                anon_others.anon_point,
                -- Points of several rows can leave fewer than k, which join the first group.
                CASE
                    WHEN sum(anon_others.anon_row_count) OVER (PARTITION BY anon_others.anon_block) >= :k THEN anon_others.anon_group
                    ELSE anon_seconds.anon_near[1].point
                END AS anon_group
            FROM anon_others
            LEFT JOIN anon_seconds ON anon_seconds.anon_block = anon_others.anon_block
        ) AS anon_chosen
        CROSS JOIN (SELECT max(anon_step) AS anon_step FROM anon_taken) AS anon_last
    )
)

SELECT anon_point, anon_block, anon_step, anon_group FROM anon_taken WHERE anon_point > 0;

-- name: still_free
-- points in no group yet
-- :free (anon_point BIGINT, anon_row_count BIGINT, anon_block BIGINT, anon_z_0 DOUBLE)
-- :groups (anon_point BIGINT)
SELECT anon_free.*
FROM :free AS anon_free
ANTI JOIN :groups AS anon_groups ON anon_groups.anon_point = anon_free.anon_point;

-- name: taken
-- points of some steps
-- How many points are in groups of steps after this one, and the last of these steps.
-- :groups (anon_point BIGINT, anon_step BIGINT)
-- :after 1
SELECT count(*) AS points, coalesce(max(anon_step), :after) AS last FROM :groups AS anon_groups WHERE anon_step > :after;

-- name: left_over
-- points that are left over
-- They join the last group of their block.
-- :free (anon_point BIGINT, anon_block BIGINT)
-- :groups (anon_block BIGINT, anon_step BIGINT, anon_group BIGINT)
SELECT
    anon_free.anon_point,
    anon_free.anon_block,
    CAST(0 AS BIGINT) AS anon_step,
    coalesce(anon_last.anon_group, min(anon_free.anon_point) OVER (PARTITION BY anon_free.anon_block)) AS anon_group
FROM :free AS anon_free
LEFT JOIN (
    SELECT anon_block, max_by(anon_group, anon_step) AS anon_group FROM :groups AS anon_groups GROUP BY anon_block
) AS anon_last ON anon_last.anon_block = anon_free.anon_block;

-- name: grouped_points
-- points of groups
-- :cells (anon_point BIGINT, anon_row_count BIGINT, anon_weight DOUBLE, anon_x_0 DOUBLE)
-- :groups (anon_point BIGINT, anon_group BIGINT)
SELECT anon_groups.anon_group, anon_cells.anon_point, anon_cells.anon_row_count, anon_cells.anon_weight, anon_cells.:numbers
FROM :cells AS anon_cells
INNER JOIN :groups AS anon_groups ON anon_groups.anon_point = anon_cells.anon_point;

-- name: means_of_groups
-- means of groups
-- Summed up in the order of points. The mean of equal numbers is the number, whatever is rounded.
-- :grouped (anon_group BIGINT, anon_point BIGINT, anon_weight DOUBLE, anon_x_0 DOUBLE)
SELECT
    anon_group,
    greatest(min(:numbers), least(max(:numbers),
        sum(anon_weight * :numbers ORDER BY anon_point ASC) / sum(anon_weight ORDER BY anon_point ASC)
    )) AS :shown
FROM :grouped AS anon_grouped
GROUP BY anon_group;

-- name: medians_of_groups
-- medians of groups
-- :grouped (anon_group BIGINT, anon_row_count BIGINT, anon_x_0 DOUBLE)
SELECT anon_group, median(:numbers) AS :shown
FROM (SELECT *, unnest(range(anon_row_count)) AS anon_row FROM :grouped AS anon_grouped) AS anon_of_rows
GROUP BY anon_group;

-- name: modes_of_groups
-- modes of groups
-- The least of the most frequent numbers.
-- :grouped (anon_group BIGINT, anon_row_count BIGINT, anon_x_0 DOUBLE)
SELECT anon_group, mode(:numbers ORDER BY :numbers ASC) AS :shown
FROM (SELECT *, unnest(range(anon_row_count)) AS anon_row FROM :grouped AS anon_grouped) AS anon_of_rows
GROUP BY anon_group;

-- name: shown_points
-- numbers of points, and of their groups
-- :grouped (anon_group BIGINT, anon_row_count BIGINT, anon_x_0 DOUBLE)
-- :values (anon_group BIGINT, anon_y_0 DOUBLE)
SELECT anon_grouped.anon_group, anon_grouped.anon_row_count, anon_grouped.:numbers, anon_values.:shown
FROM :grouped AS anon_grouped
INNER JOIN :values AS anon_values ON anon_values.anon_group = anon_grouped.anon_group;

-- name: losses
-- losses of groups
-- How many groups there are, and how many have one value in all columns; SSE / SST and IL1s of each column.
-- Source: Domingo-Ferrer and Mateo-Sanz 2002 (SSE / SST); Yancey, Winkler and Creecy 2002 (IL1s).
-- :recoded (anon_group BIGINT, anon_row_count BIGINT, anon_x_0 DOUBLE, anon_y_0 DOUBLE)
-- :alike anon_x_0 IS NOT DISTINCT FROM anon_y_0
-- :cells cells_0
-- :squares squares_0
-- :differences differences_0
WITH anon_means AS (
    SELECT
        sum(anon_row_count) FILTER (WHERE :numbers IS NOT NULL) AS :cells,
        sum(anon_row_count * :numbers) / sum(anon_row_count) FILTER (WHERE :numbers IS NOT NULL) AS :numbers
    FROM :recoded AS anon_recoded
),

anon_scales AS (
    SELECT
        any_value(anon_means.:cells) AS :cells,
        sum(anon_recoded.anon_row_count * (anon_recoded.:numbers - anon_means.:numbers) ** 2)
        / nullif(any_value(anon_means.:cells) - 1, 0) AS :numbers
    FROM :recoded AS anon_recoded
    CROSS JOIN anon_means
)

SELECT
    count(DISTINCT anon_recoded.anon_group) AS groups,
    (SELECT count(*) FROM (SELECT anon_group FROM :recoded GROUP BY anon_group HAVING bool_and(:alike)) AS anon_alike) AS alike,
    any_value(anon_scales.:cells) AS :cells,
    sum(anon_recoded.anon_row_count * (anon_recoded.:numbers - anon_recoded.:shown) ** 2) / nullif(any_value(anon_scales.:numbers), 0)
        AS :squares,
    sum(anon_recoded.anon_row_count * abs(anon_recoded.:numbers - anon_recoded.:shown))
    / nullif(sqrt(2 * any_value(anon_scales.:numbers)), 0) AS :differences
FROM :recoded AS anon_recoded
CROSS JOIN anon_scales;
