-- Utility: what a release keeps of the numbers and tables of its source, as statistical offices measure it. All macros here
-- read the source.

-- The numbers of each row, in the order of the names in lower case, and one more column of it, without which there is 1. Values
-- that are not numbers are an error.
--
-- Returns: anon_is_source as it is given; anon_kept as the column is; anon_numbers DOUBLE[].
-- Example:
--   FROM anon_helpers.numbers_of_rows('visits', ['id', 'age'], 'sex', TRUE) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.numbers_of_rows(source, columns, kept, is_source) AS TABLE
SELECT
    is_source AS anon_is_source,
    anon_kept,
    list_select([*COLUMNS(anon_helpers.listed(columns))], anon_order) AS anon_numbers
FROM (
    SELECT
        COLUMNS([coalesce(kept, 'anon_one')]) AS anon_kept,
        anon_helpers.number_of(alias(COLUMNS(anon_helpers.listed(columns))), COLUMNS(anon_helpers.listed(columns)))
    FROM (SELECT *, 1 AS anon_one FROM query_table(anon_helpers.as_source(source)))
)
-- One order for all rows: sorting the names in each takes most of the time.
CROSS JOIN (
    SELECT list_grade_up([*COLUMNS(anon_helpers.listed(columns))]) AS anon_order
    FROM (SELECT lower(alias(COLUMNS(anon_helpers.listed(columns)))) FROM query_table(anon_helpers.as_source(source)) LIMIT 1)
);

-- The column at a place in numbers_of_rows, as the caller wrote it.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.name_at(1, ['sex', 'Age']) AS name;
CREATE OR REPLACE MACRO anon_helpers.name_at(place, columns) AS
list_filter(anon_helpers.listed(columns), lambda anon_name: lower(anon_name) = list_extract(
    list_sort(list_distinct(list_transform(anon_helpers.listed(columns), lambda anon_other: lower(anon_other)))), place
))[1];

-- guarded: tests/sql/81_utility.test

-- The rows that two tables share by a key, with their numbers in both. A key that is NULL, or has several rows of a table, is an
-- error, and so are two tables with rows and no key in common.
--
-- Returns: anon_was and anon_is, the numbers of a row as numbers_of_rows has them.
-- Example:
--   FROM anon_helpers.paired_numbers('visits', 'visits', 'id', ['age']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.paired_numbers(source, release, key, columns) AS TABLE
SELECT anon_was, anon_is
FROM (
    SELECT
        any_value(anon_numbers) FILTER (WHERE anon_is_source) AS anon_was,
        any_value(anon_numbers) FILTER (WHERE NOT anon_is_source) AS anon_is,
        CASE
            WHEN anon.text_of(anon_kept) IS NULL
                THEN error(concat('column "', key, '" is NULL in a row: rows are joined by it'))
            WHEN greatest(count_if(anon_is_source), count_if(NOT anon_is_source)) > 1
                THEN error(concat('column "', key, '" has a value in several rows of a table: rows are joined by it'))
            WHEN NOT bool_or(count(*) = 2) OVER () AND count(DISTINCT bool_or(anon_is_source)) OVER () = 2
                THEN error(concat('no value of column "', key, '" is in both tables'))
            ELSE count(*) = 2
        END AS anon_is_paired
    FROM (
        SELECT * REPLACE (anon.text_of(anon_kept) AS anon_kept)
        FROM anon_helpers.numbers_of_rows(source, columns, key, TRUE)
        UNION ALL
        SELECT * REPLACE (anon.text_of(anon_kept) AS anon_kept)
        FROM anon_helpers.numbers_of_rows(release, columns, key, FALSE)
    )
    GROUP BY anon_kept
)
WHERE anon_is_paired;

-- guarded: tests/sql/81_utility.test

-- How far the numbers of a release are from those of its source, row by row, by column and in all. Rows are joined by a key,
-- which is compared as text; rows of one table alone are left out.
--
-- IL1s adds up |x - x'| / (sqrt(2) S), where S is the standard deviation of the source; SSE / SST is the share of the variation
-- that is lost. Cells count whose values are both known, and S is theirs; a column without variation has no loss.
--
-- A row is close where every value is within 0.05 S of the source's, or NULL in both. That is a risk: somebody who knows the
-- numbers of a person may recognize the row.
--
-- How it goes. Deviations come first, then each row is judged by them, and its cells are added up by column and in all.
--
-- Job: loss.
-- Returns: column_name VARCHAR, NULL in the row for all columns, which is last; cell_count BIGINT (known in both); il1s DOUBLE;
-- il1s_per_cell DOUBLE; sse_over_sst DOUBLE; close_share DOUBLE in [0, 1]. Without rows in both there is the last row alone, with
-- measures that are NULL. A key that is NULL or not unique, and a value that is not a number, are errors.
-- Source: Yancey, Winkler and Creecy 2002 (IL1s); Domingo-Ferrer and Mateo-Sanz 2002 (SSE / SST). As dUtility and dRisk of
-- sdcMicro.
-- Example:
--   WITH released AS (SELECT id, age // 5 * 5 + 2 AS age FROM visits)
--   FROM anon.numeric_loss('visits', 'released', 'id', ['age']);
CREATE OR REPLACE MACRO anon.numeric_loss(source, release, key, columns) AS TABLE
WITH anon_rows AS MATERIALIZED (FROM anon_helpers.paired_numbers(source, release, key, columns)),
anon_scales AS (
    SELECT anon_place, stddev_samp(anon_x) FILTER (WHERE anon_y IS NOT NULL) AS anon_scale
    FROM (
        SELECT unnest(anon_was) AS anon_x, unnest(anon_is) AS anon_y, generate_subscripts(anon_was, 1) AS anon_place
        FROM anon_rows
    )
    GROUP BY ALL
),
anon_near AS (
    SELECT anon_was, anon_is, list_transform(anon_was, lambda anon_x, anon_place: coalesce(
        abs(anon_x - anon_is[anon_place]) <= 0.05 * anon_scales[anon_place],
        anon_x IS NOT DISTINCT FROM anon_is[anon_place]
    )) AS anon_close
    FROM anon_rows
    CROSS JOIN (SELECT list(anon_scale ORDER BY anon_place ASC) AS anon_scales FROM anon_scales)
)
SELECT
    anon_helpers.name_at(anon_place, columns) AS column_name,
    count(anon_x - anon_y) AS cell_count,
    sum(abs(anon_x - anon_y) / nullif(anon_scale, 0)) / sqrt(2) AS il1s,
    avg(abs(anon_x - anon_y) / nullif(anon_scale, 0)) / sqrt(2) AS il1s_per_cell,
    sum(((anon_x - anon_y) / nullif(anon_scale, 0)) ** 2)
    / nullif(count(anon_x - anon_y) FILTER (WHERE anon_scale > 0) - count(DISTINCT anon_place) FILTER (WHERE anon_scale > 0), 0)
        AS sse_over_sst,
    CASE grouping(anon_place) WHEN 0 THEN count_if(anon_is_close) ELSE count_if(anon_are_close) END / nullif(count(*), 0)
        AS close_share
FROM (
    SELECT
        unnest(anon_was) AS anon_x,
        unnest(anon_is) AS anon_y,
        unnest(anon_close) AS anon_is_close,
        list_bool_and(anon_close) AS anon_are_close,
        generate_subscripts(anon_was, 1) AS anon_place
    FROM anon_near
)
INNER JOIN anon_scales USING (anon_place)
GROUP BY GROUPING SETS ((anon_place), ())
ORDER BY grouping(anon_place) ASC, anon_place ASC;

-- guarded: tests/sql/81_utility.test

-- What became of the means, totals, variances and correlations of numbers, each difference also in standard errors of the
-- source: how much of it may be the chance of a sample of this size. All are weighted; without a weight, NULL is given in its
-- place. NULL is left out, and from a correlation rows without one of the two values.
--
-- The errors are those of a simple sample of (sum of w)^2 / (sum of w^2) rows, the number of people is taken as known, and
-- correlations as those of normal distributions.
--
-- How it goes. Each row gives its numbers by twos, also with themselves; these are many, and are never kept. Means of the twos
-- come first, then sums of powers of the differences from them, from which all measures and their errors follow.
--
-- Job: loss.
-- Returns: statistic VARCHAR (correlation, mean, total or variance), column_name VARCHAR, other_column VARCHAR (of a
-- correlation), source_value DOUBLE, release_value DOUBLE, difference DOUBLE, standard_errors DOUBLE, the difference in these;
-- NULL where something cannot be had, as of a column without variation.
-- Source: Kish 1965 (errors with weights).
-- Example:
--   WITH released AS (SELECT id, age // 5 * 5 + 2 AS age FROM visits)
--   FROM anon.moment_changes('visits', 'released', ['id', 'age'], NULL);
CREATE OR REPLACE MACRO anon.moment_changes(source, release, columns, weight) AS TABLE
WITH anon_twos AS NOT MATERIALIZED (
    SELECT
        anon_is_source,
        anon_place,
        anon_other,
        anon_helpers.sampling_weight(anon_kept, weight, columns) AS anon_w,
        anon_numbers[anon_place] AS anon_x,
        anon_numbers[anon_other] AS anon_y
    FROM (
        FROM anon_helpers.numbers_of_rows(source, columns, weight, TRUE)
        UNION ALL
        FROM anon_helpers.numbers_of_rows(release, columns, weight, FALSE)
    )
    INNER JOIN range(1, len(anon_helpers.listed(columns)) + 1) AS anon_places (anon_place) ON TRUE
    INNER JOIN range(1, len(anon_helpers.listed(columns)) + 1) AS anon_others (anon_other) ON anon_place <= anon_other
    WHERE anon_x + anon_y IS NOT NULL
),
anon_means AS (
    SELECT
        anon_is_source,
        anon_place,
        anon_other,
        count(*) / nullif(count(*) - 1, 0) AS anon_factor,
        sum(anon_w) AS anon_sum,
        anon_sum ** 2 / sum(anon_w * anon_w) AS anon_size,
        sum(anon_w * anon_x) / anon_sum AS anon_mean,
        sum(anon_w * anon_y) / anon_sum AS anon_other_mean
    FROM anon_twos
    GROUP BY ALL
),
anon_powers AS (
    SELECT
        anon_is_source,
        anon_place,
        anon_other,
        sum(anon_w * anon_dx * anon_dx) AS anon_square,
        sum(anon_w * anon_dx * anon_dx * anon_dx * anon_dx) AS anon_fourth,
        sum(anon_w * anon_dx * anon_dy) / nullif(sqrt(anon_square) * sqrt(sum(anon_w * anon_dy * anon_dy)), 0)
            AS anon_correlation
    FROM (
        SELECT *, anon_x - anon_mean AS anon_dx, anon_y - anon_other_mean AS anon_dy
        FROM anon_twos
        INNER JOIN anon_means USING (anon_is_source, anon_place, anon_other)
    )
    GROUP BY anon_is_source, anon_place, anon_other
)
SELECT
    statistic,
    anon_helpers.name_at(anon_place, columns) AS column_name,
    anon_helpers.name_at(nullif(anon_other, anon_place), columns) AS other_column,
    any_value(anon_value) FILTER (WHERE anon_is_source) AS source_value,
    any_value(anon_value) FILTER (WHERE NOT anon_is_source) AS release_value,
    release_value - source_value AS difference,
    difference / nullif(any_value(anon_error / sqrt(anon_size)) FILTER (WHERE anon_is_source), 0) AS standard_errors
FROM (
    SELECT anon_is_source, anon_place, anon_other, anon_size, unnest(CASE anon_other
        WHEN anon_place THEN [
            {'statistic': 'mean', 'anon_value': anon_mean, 'anon_error': sqrt(anon_variance)},
            {'statistic': 'total', 'anon_value': anon_sum * anon_mean, 'anon_error': anon_sum * sqrt(anon_variance)},
            {'statistic': 'variance', 'anon_value': anon_variance, 'anon_error': sqrt(greatest(anon_of_variance, 0))}
        ]
        ELSE [{'statistic': 'correlation', 'anon_value': anon_correlation, 'anon_error': round(1 - anon_correlation ** 2, 12)}]
    END, recursive := TRUE)
    FROM (
        SELECT
            *,
            anon_factor * anon_square / anon_sum AS anon_variance,
            anon_fourth / anon_sum - (anon_square / anon_sum) ** 2 AS anon_of_variance
        FROM anon_means
        INNER JOIN anon_powers USING (anon_is_source, anon_place, anon_other)
    )
)
GROUP BY statistic, anon_place, anon_other
ORDER BY statistic ASC, anon_place ASC, anon_other ASC;

-- guarded: tests/sql/81_utility.test

-- How far the table of some columns is from that of the source: the cells that either of them has, by their rows or the sum of
-- their weights. Without a weight, NULL is given in its place. NULL in a column is a value, and labels are compared as text.
--
-- Job: loss.
-- Returns: one row: cell_count BIGINT; mean_difference DOUBLE and greatest_difference DOUBLE, of rows or weights; hellinger
-- DOUBLE and total_variation DOUBLE in [0, 1], of shares; emptied_cells BIGINT, which the release lacks; filled_cells BIGINT,
-- which the source lacks. Distances from a table without rows are NULL.
-- Source: infoLoss of sdcMicro; Hellinger 1909.
-- Example:
--   WITH released AS (SELECT CASE WHEN id > 2 THEN sex END AS sex, diagnosis FROM visits)
--   FROM anon.table_changes('visits', 'released', ['sex', 'diagnosis'], NULL);
CREATE OR REPLACE MACRO anon.table_changes(source, release, columns, weight) AS TABLE
WITH anon_cells AS (
    SELECT COLUMNS(anon_helpers.listed(columns)), sum(anon_was) AS anon_was, sum(anon_is) AS anon_is
    FROM (
        -- Values become texts once, not row by row.
        SELECT anon.text_of(COLUMNS(anon_helpers.listed(columns))), anon_was, 0 AS anon_is
        FROM (
            SELECT
                COLUMNS(anon_helpers.listed(columns)),
                sum(anon_helpers.sampling_weight(COLUMNS([coalesce(weight, 'anon_one')]), weight, columns)) AS anon_was
            FROM (SELECT *, 1 AS anon_one FROM query_table(anon_helpers.as_source(source)))
            GROUP BY ALL
        )
        -- By name: COLUMNS follows the order of each table.
        UNION ALL BY NAME
        SELECT anon.text_of(COLUMNS(anon_helpers.listed(columns))), anon_is, 0 AS anon_was
        FROM (
            SELECT
                COLUMNS(anon_helpers.listed(columns)),
                sum(anon_helpers.sampling_weight(COLUMNS([coalesce(weight, 'anon_one')]), weight, columns)) AS anon_is
            FROM (SELECT *, 1 AS anon_one FROM query_table(anon_helpers.as_source(release)))
            GROUP BY ALL
        )
    )
    GROUP BY ALL
)
SELECT
    count(*) AS cell_count,
    avg(abs(anon_is - anon_was)) AS mean_difference,
    max(abs(anon_is - anon_was)) AS greatest_difference,
    sqrt(sum((sqrt(anon_is / anon_released) - sqrt(anon_was / anon_source)) ** 2) / 2) AS hellinger,
    sum(abs(anon_is / anon_released - anon_was / anon_source)) / 2 AS total_variation,
    count(*) FILTER (WHERE anon_is = 0) AS emptied_cells,
    count(*) FILTER (WHERE anon_was = 0) AS filled_cells
FROM (SELECT *, nullif(sum(anon_was) OVER (), 0) AS anon_source, nullif(sum(anon_is) OVER (), 0) AS anon_released FROM anon_cells);
