-- Microaggregation: numbers of cells as points, blocks of them, groups of k rows or more, and the values of groups.
--
-- Places of points (anon_z) are in standard deviations, or beside categories in ranges, on a grid of 2^-32: sums of them are exact,
-- so that they do not depend on the order of rows.
--
-- Columns are numbers (anon_x_0), with their places (anon_z_0) and those of groups (anon_y_0), or categories (anon_x_1): texts,
-- with their codes (anon_z_1) and those of groups (anon_y_1). Places and codes are axes.
--
-- :columns anon_x_0, anon_x_1
-- :numbers anon_x_0
-- :places anon_z_0
-- :shown anon_y_0
-- :categories anon_x_1
-- :codes anon_z_1
-- :labels anon_y_1
-- :axes anon_z_0, anon_z_1
-- :weight anon_row_count
-- :k 3

-- name: cells_of_values
-- cells of values
-- Rows of equal values are a point; points are in the order of their values. Those with NULL in the same columns are a block.
-- A weight below 0 is the number of rows without a valid one.
-- :source (age INTEGER, sex VARCHAR, weight DOUBLE)
-- :values CAST(age AS DOUBLE), sex
-- :texts sex
-- :pattern CASE WHEN age IS NULL THEN 1 ELSE 0 END
-- :given CAST(weight AS DOUBLE)
SELECT
    CAST(row_number() OVER (ORDER BY :pattern ASC, :values ASC) AS INTEGER) AS anon_point,
    dense_rank() OVER (ORDER BY :pattern ASC) AS anon_block,
    CAST(count(*) AS BIGINT) AS anon_row_count,
    coalesce(
        -nullif(count(*) FILTER (WHERE (:given BETWEEN 1e-12 AND 1e12) IS NOT TRUE), 0), sum(:given ORDER BY :given ASC)
    ) AS anon_weight,
    :values AS :columns,
    percent_rank() OVER (ORDER BY :texts ASC) AS :codes
FROM :source AS anon_source
GROUP BY :values, :pattern;

-- name: patterns
-- patterns of NULL
-- Whether points of k rows or more are groups of themselves: not if too few rows would be left.
-- :cells (anon_block BIGINT, anon_row_count BIGINT)
SELECT
    anon_block,
    sum(anon_row_count) AS anon_rows,
    coalesce(sum(anon_row_count) FILTER (WHERE anon_row_count < :k), :k) >= :k AS anon_has_whole
FROM :cells AS anon_cells
GROUP BY anon_block;

-- name: checks
-- values that cannot be grouped
-- Rows, those with an invalid weight or number, the columns that do not vary, the categories whose texts are all numbers, and
-- the patterns of fewer than k rows.
-- :cells (anon_x_0 DOUBLE, anon_x_1 VARCHAR, anon_row_count BIGINT)
-- :patterns (anon_rows BIGINT)
-- :wrong anon_y_0
-- :varying anon_z_0, anon_z_1
-- :read TRY_CAST(anon_x_1 AS DOUBLE)
-- :numeric anon_y_1
SELECT
    coalesce(sum(anon_row_count), 0) AS rows,
    CAST(coalesce(-sum(:weight) FILTER (WHERE :weight < 0), 0) AS BIGINT) AS unweighed,
    (SELECT count(*) FROM :patterns WHERE anon_rows < :k) AS patterns,
    (SELECT coalesce(sum(anon_rows), 0) FROM :patterns WHERE anon_rows < :k) AS pattern_rows,
    coalesce(sum(anon_row_count) FILTER (WHERE NOT abs(:numbers) <= 1e100), 0) AS :wrong,
    coalesce(min(:columns) < max(:columns), FALSE) AS :varying,
    coalesce(bool_and(:read IS NOT NULL) FILTER (WHERE :categories IS NOT NULL), FALSE) AS :numeric
FROM :cells AS anon_cells;

-- name: scales
-- means, and deviations or ranges
-- Beside categories, which differ by 1, places are in ranges of a column. To nine digits, which do not depend on the order of rows
-- either; and the powers of two by which weighted numbers become integers that keep their digits, and whose sum is exact.
-- :cells (anon_x_0 DOUBLE, anon_block BIGINT, anon_row_count BIGINT)
-- :patterns (anon_block BIGINT, anon_rows BIGINT)
-- :finest anon_f_0
-- :is_mixed FALSE
WITH anon_kept AS (
    SELECT anon_cells.*
    FROM :cells AS anon_cells
    INNER JOIN :patterns AS anon_patterns ON anon_patterns.anon_block = anon_cells.anon_block AND anon_patterns.anon_rows >= :k
),

anon_means AS (
    SELECT
        count(*) AS anon_cells,
        CAST(format('{:.8e}', sum(anon_row_count * :numbers) / sum(anon_row_count) FILTER (WHERE :numbers IS NOT NULL)) AS DOUBLE)
            AS :numbers
    FROM anon_kept
)

SELECT
    2 ** floor(120 - log2(sum(anon_kept.:weight))) AS anon_finest_weight,
    2 ** least(floor(120 - log2(sum(anon_kept.:weight)) - log2(nullif(max(abs(anon_kept.:numbers)), 0))), 900) AS :finest,
    any_value(anon_means.:numbers) AS :numbers,
    CAST(format('{:.8e}', CASE
        WHEN :is_mixed THEN max(anon_kept.:numbers) - min(anon_kept.:numbers)
        ELSE sqrt(
            sum(anon_kept.anon_row_count * (anon_kept.:numbers - anon_means.:numbers) ** 2)
            / sum(anon_kept.anon_row_count) FILTER (WHERE anon_kept.:numbers IS NOT NULL)
        )
    END) AS DOUBLE) AS :places
FROM anon_kept
CROSS JOIN anon_means;

-- name: whole_groups
-- groups of equal rows
-- :cells (anon_point INTEGER, anon_block BIGINT, anon_row_count BIGINT)
-- :patterns (anon_block BIGINT, anon_has_whole BOOLEAN)
SELECT anon_cells.anon_point, CAST(0 AS BIGINT) AS anon_block, CAST(0 AS INTEGER) AS anon_step, anon_cells.anon_point AS anon_group
FROM :cells AS anon_cells
INNER JOIN :patterns AS anon_patterns ON anon_patterns.anon_block = anon_cells.anon_block AND anon_patterns.anon_has_whole
WHERE anon_cells.anon_row_count >= :k;

-- name: points_in_no_block
-- groups of equal rows, and patterns of few
-- :cells (anon_point INTEGER, anon_block BIGINT)
-- :patterns (anon_block BIGINT, anon_rows BIGINT)
-- :groups (anon_point INTEGER)
SELECT anon_point FROM :groups AS anon_groups
UNION ALL
SELECT anon_cells.anon_point
FROM :cells AS anon_cells
INNER JOIN :patterns AS anon_patterns ON anon_patterns.anon_block = anon_cells.anon_block AND anon_patterns.anon_rows < :k;

-- name: points_of_blocks
-- points of blocks
-- :cells (anon_point INTEGER, anon_x_0 DOUBLE, anon_z_1 DOUBLE, anon_block BIGINT, anon_row_count BIGINT)
-- :scales (anon_x_0 DOUBLE, anon_z_0 DOUBLE)
SELECT
    anon_cells.anon_point,
    anon_cells.anon_block,
    anon_cells.anon_row_count,
    coalesce(round((anon_cells.:numbers - anon_scales.:numbers) / nullif(anon_scales.:places, 0) * 4294967296) / 4294967296, 0)
        AS :places,
    anon_cells.:codes
FROM :cells AS anon_cells
CROSS JOIN :scales AS anon_scales
WHERE anon_cells.anon_block <> 0;

-- name: points_of_whole_blocks
-- blocks that stay as they are
-- Those of few points, and the points of a large one that are farthest from the centre, unless they would leave too few for a
-- block.
-- :points (anon_point INTEGER, anon_block BIGINT, anon_z_0 DOUBLE)
-- :distance anon_z_0 * anon_z_0
-- :most 4000
-- :size 1000
SELECT anon_point
FROM :points AS anon_points
QUALIFY
    row_number() OVER (PARTITION BY anon_block ORDER BY :distance DESC, anon_point ASC) <= :most
    OR count(*) OVER (PARTITION BY anon_block) <= :most + :size;

-- name: last_block
-- the last block
-- :cells (anon_block BIGINT)
SELECT coalesce(max(greatest(anon_block, 0)), 0) AS block FROM :cells AS anon_cells;

-- name: upper_halves
-- upper halves of blocks
-- The points beyond the middle of the axis that varies most in their block, the first of equal ones; equal places are in the order
-- of points. The lower half gets a multiple of :step points.
-- :points (anon_point INTEGER, anon_block BIGINT, anon_z_0 DOUBLE, anon_z_1 DOUBLE)
-- :size 1000
-- :step 3
WITH anon_placed AS MATERIALIZED (
    SELECT
        anon_points.anon_point,
        anon_points.anon_block,
        list_extract([anon_points.:axes], list_position(anon_wide.spreads, list_max(anon_wide.spreads)))
        + anon_points.anon_point / 2 ** 44 AS anon_place
    FROM :points AS anon_points
    INNER JOIN (
        SELECT anon_block, [:axes] AS spreads
        FROM (
            SELECT anon_block, round(var_pop(:axes), 6) AS :axes
            FROM :points AS anon_points
            WHERE anon_block > 0
            GROUP BY anon_block
            HAVING count(*) > :size
        ) AS anon_spreads
    ) AS anon_wide ON anon_wide.anon_block = anon_points.anon_block
)

SELECT anon_placed.anon_point
FROM anon_placed
INNER JOIN (
    SELECT anon_block, list_sort(list(anon_place))[(count(*) + :step) // (2 * :step) * :step] AS anon_middle
    FROM anon_placed
    GROUP BY anon_block
) AS anon_middles ON anon_middles.anon_block = anon_placed.anon_block AND anon_placed.anon_place > anon_middles.anon_middle;

-- name: steps_of_mdav
-- groups of some steps
-- In each block the point farthest from the centre, the mean of places and the most frequent code of points, and its nearest, k
-- rows or more; then the same of the point that is farthest from the first. Of fewer than 3k rows those that are left by the first,
-- and of fewer than 2k all, are a group. It ends when :least points, or one of :parts, are in groups, which later steps have to
-- leave out one by one. Sums of a block are several times faster where its points are side by side.
-- Source: Domingo-Ferrer and Torra 2005 (MDAV).
-- :points (anon_point INTEGER, anon_row_count BIGINT, anon_block BIGINT, anon_z_0 DOUBLE, anon_z_1 DOUBLE)
-- :groups (anon_point INTEGER)
-- :distance abs(anon_rest.anon_z_0 - anon_from.anon_z_0)
-- :first 1
-- :least 1000
-- :parts 4
WITH RECURSIVE anon_free AS MATERIALIZED (
    SELECT anon_points.*
    FROM :points AS anon_points
    ANTI JOIN :groups AS anon_groups ON anon_groups.anon_point = anon_points.anon_point
    ORDER BY anon_points.anon_block ASC, anon_points.anon_point ASC
),

anon_taken (anon_point, anon_block, anon_step, anon_group) USING KEY (anon_point) AS (
    SELECT CAST(0 AS INTEGER), CAST(0 AS BIGINT), CAST(:first AS INTEGER), CAST(0 AS INTEGER)
    UNION
    (
        WITH anon_rest AS MATERIALIZED (
            SELECT anon_free.*
            FROM anon_free
            ANTI JOIN recurring.anon_taken AS anon_gone ON anon_gone.anon_point = anon_free.anon_point
            WHERE (SELECT count(*) FROM recurring.anon_taken) <= (SELECT greatest(:least, count(*) // :parts) FROM anon_free)
        ),

        anon_centres AS MATERIALIZED (
            SELECT
                anon_block,
                sum(anon_row_count) AS anon_rows,
                sum(anon_row_count * :places) / sum(anon_row_count) AS :places,
                mode(:codes ORDER BY :codes ASC) AS :codes
            FROM anon_rest
            GROUP BY anon_block
            HAVING sum(anon_row_count) >= :k
        ),

        anon_firsts AS MATERIALIZED (
            SELECT anon_block, any_value(anon_rows) AS anon_rows, arg_max(:axes, anon_distance) AS :axes
            FROM (
                SELECT anon_rest.anon_block, anon_from.anon_rows, anon_rest.:axes AS :axes, :distance AS anon_distance
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
                arg_max(:axes, anon_distance) AS :axes
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

-- name: last_step
-- the last step
-- :groups (anon_step INTEGER)
SELECT coalesce(max(anon_step), 0) AS step FROM :groups AS anon_groups;

-- name: left_over
-- points that are left over
-- They join the last group of their block.
-- :points (anon_point INTEGER, anon_block BIGINT)
-- :groups (anon_point INTEGER, anon_block BIGINT, anon_step INTEGER, anon_group INTEGER)
SELECT
    anon_points.anon_point,
    anon_points.anon_block,
    CAST(0 AS INTEGER) AS anon_step,
    coalesce(anon_last.anon_group, min(anon_points.anon_point) OVER (PARTITION BY anon_points.anon_block)) AS anon_group
FROM :points AS anon_points
ANTI JOIN :groups AS anon_groups ON anon_groups.anon_point = anon_points.anon_point
LEFT JOIN (
    SELECT anon_block, max_by(anon_group, anon_step) AS anon_group FROM :groups AS anon_groups GROUP BY anon_block
) AS anon_last ON anon_last.anon_block = anon_points.anon_block;

-- name: better_groups
-- groups of steps, or halves of blocks that lose less
-- Squares within groups are least where those between groups are largest.
-- :points (anon_point INTEGER, anon_row_count BIGINT, anon_block BIGINT, anon_z_0 DOUBLE)
-- :groups (anon_point INTEGER, anon_block BIGINT, anon_group INTEGER)
WITH anon_grouped AS (
    SELECT anon_groups.anon_block, anon_groups.anon_group, anon_points.anon_block AS anon_half, anon_points.* EXCLUDE (anon_block)
    FROM :points AS anon_points
    INNER JOIN :groups AS anon_groups ON anon_groups.anon_point = anon_points.anon_point
),

anon_between AS (
    SELECT anon_block, FALSE AS anon_is_half, sum(anon_row_count * :places) ** 2 / sum(anon_row_count) AS :places
    FROM anon_grouped
    GROUP BY anon_block, anon_group
    UNION ALL
    SELECT anon_block, TRUE AS anon_is_half, sum(anon_row_count * :places) ** 2 / sum(anon_row_count) AS :places
    FROM anon_grouped
    GROUP BY anon_block, anon_half
),

anon_better AS (
    SELECT anon_block
    FROM (SELECT anon_block, anon_is_half, list_sum([:places]) AS anon_squares FROM anon_between) AS anon_summed
    GROUP BY anon_block
    HAVING sum(anon_squares) FILTER (WHERE anon_is_half) > (1 + 1e-12) * sum(anon_squares) FILTER (WHERE NOT anon_is_half)
)

SELECT
    anon_groups.anon_point,
    CASE WHEN anon_better.anon_block IS NULL THEN anon_groups.anon_group ELSE -anon_points.anon_block END AS anon_group
FROM :groups AS anon_groups
LEFT JOIN anon_better ON anon_better.anon_block = anon_groups.anon_block
LEFT JOIN :points AS anon_points ON anon_points.anon_point = anon_groups.anon_point;

-- name: grouped_points
-- points of groups
-- :cells (anon_point INTEGER, anon_row_count BIGINT, anon_x_0 DOUBLE, anon_x_1 VARCHAR)
-- :groups (anon_point INTEGER, anon_group INTEGER)
SELECT anon_groups.anon_group, anon_cells.anon_row_count, anon_cells.:weight AS anon_weight, anon_cells.:columns
FROM :cells AS anon_cells
INNER JOIN :groups AS anon_groups ON anon_groups.anon_point = anon_cells.anon_point;

-- name: grouped_rows
-- rows of groups
-- :grouped (anon_group INTEGER, anon_row_count BIGINT, anon_weight DOUBLE, anon_x_0 DOUBLE, anon_x_1 VARCHAR)
SELECT
    anon_group,
    anon_weight / anon_row_count AS anon_weight,
    :columns,
    unnest(range(anon_row_count)) AS anon_row
FROM :grouped AS anon_grouped;

-- name: means_of_groups
-- means of groups
-- The mean of equal numbers is the number, whatever is rounded.
-- :grouped (anon_group INTEGER, anon_weight DOUBLE, anon_x_0 DOUBLE, anon_x_1 VARCHAR)
-- :scales (anon_finest_weight DOUBLE, anon_f_0 DOUBLE)
-- :finest anon_f_0
SELECT
    anon_group,
    greatest(min(anon_grouped.:numbers), least(max(anon_grouped.:numbers),
        sum(CAST(anon_weight * anon_grouped.:numbers * anon_scales.:finest AS HUGEINT)) / any_value(anon_scales.:finest)
        / (sum(CAST(anon_weight * anon_finest_weight AS HUGEINT)) / any_value(anon_finest_weight))
    )) AS :shown,
    mode(:categories ORDER BY :categories ASC) AS :labels
FROM :grouped AS anon_grouped
CROSS JOIN :scales AS anon_scales
GROUP BY anon_group;

-- name: medians_of_groups
-- medians of groups
-- :grouped (anon_group INTEGER, anon_x_0 DOUBLE, anon_x_1 VARCHAR)
SELECT anon_group, median(:numbers) AS :shown, mode(:categories ORDER BY :categories ASC) AS :labels
FROM :grouped AS anon_grouped
GROUP BY anon_group;

-- name: modes_of_groups
-- modes of groups
-- The least of the most frequent values.
-- :grouped (anon_group INTEGER, anon_x_0 DOUBLE, anon_x_1 VARCHAR)
SELECT
    anon_group,
    mode(:numbers ORDER BY :numbers ASC) AS :shown,
    mode(:categories ORDER BY :categories ASC) AS :labels
FROM :grouped AS anon_grouped
GROUP BY anon_group;

-- name: shown_points
-- values of points, and of their groups
-- :grouped (anon_group INTEGER, anon_row_count BIGINT, anon_x_0 DOUBLE, anon_x_1 VARCHAR)
-- :values (anon_group INTEGER, anon_y_0 DOUBLE, anon_y_1 VARCHAR)
SELECT anon_grouped.anon_row_count, anon_grouped.:columns, anon_values.:shown, anon_values.:labels
FROM :grouped AS anon_grouped
INNER JOIN :values AS anon_values ON anon_values.anon_group = anon_grouped.anon_group;

-- name: losses
-- losses of groups
-- How many groups there are, and how many have one value in all columns; SSE / SST and IL1s of each column, for which a category
-- that is shown as another counts 1.
-- Source: Domingo-Ferrer and Mateo-Sanz 2002 (SSE / SST); Yancey, Winkler and Creecy 2002 (IL1s).
-- :groups (anon_group INTEGER)
-- :points (anon_row_count BIGINT, anon_x_0 DOUBLE, anon_x_1 VARCHAR, anon_y_0 DOUBLE, anon_y_1 VARCHAR)
-- :cells cells_0
-- :squares squares_0
-- :differences differences_0
-- :deviations deviations_0
-- :category_cells cells_1
-- :category_squares squares_1
-- :category_differences differences_1
WITH anon_means AS (
    SELECT
        sum(anon_row_count) FILTER (WHERE :numbers IS NOT NULL) AS :cells,
        sum(anon_row_count * :numbers) / sum(anon_row_count) FILTER (WHERE :numbers IS NOT NULL) AS :numbers,
        CASE WHEN min(:categories) < max(:categories) THEN sum(anon_row_count) FILTER (WHERE :categories IS NOT NULL) END
            AS :category_cells
    FROM :points AS anon_points
)

SELECT
    (SELECT count(DISTINCT anon_group) FROM :groups) AS groups,
    (SELECT count(*) FROM (SELECT anon_group FROM :groups GROUP BY anon_group HAVING count(*) = 1) AS anon_alike) AS alike,
    CASE WHEN sum(:deviations) > 0 THEN any_value(:cells) END AS :cells,
    sum(:squares) / nullif(sum(:deviations) / nullif(any_value(:cells) - 1, 0), 0) AS :squares,
    sum(:differences) / nullif(sqrt(2 * sum(:deviations) / nullif(any_value(:cells) - 1, 0)), 0) AS :differences,
    any_value(:category_cells) AS :category_cells,
    sum(:category_differences) * (1 - 1 / any_value(:category_cells)) AS :category_squares,
    sum(:category_differences) AS :category_differences
FROM (
    SELECT
        anon_means.:cells,
        anon_means.:category_cells,
        anon_row_count * (anon_points.:numbers - anon_points.:shown) ** 2 AS :squares,
        anon_row_count * abs(anon_points.:numbers - anon_points.:shown) AS :differences,
        anon_row_count * (anon_points.:numbers - anon_means.:numbers) ** 2 AS :deviations,
        CASE WHEN anon_points.:categories IS DISTINCT FROM anon_points.:labels THEN anon_row_count ELSE 0 END AS :category_differences
    FROM :points AS anon_points
    CROSS JOIN anon_means
) AS anon_changes;
