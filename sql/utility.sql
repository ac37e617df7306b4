-- What a release keeps of its source. Both tables have columns of safe names: number_1, category_1, ..., key and weight; the
-- macros of 81_utility.sql read these as well.
-- :rows (key VARCHAR, weight DOUBLE, number_1 DOUBLE, category_1 VARCHAR)
-- :other (key VARCHAR, weight DOUBLE, number_1 DOUBLE, category_1 VARCHAR)
-- :cells (anon_before BIGINT, anon_after BIGINT, number_1 DOUBLE, category_1 VARCHAR)
-- :columns number_1, category_1
-- :numbers number_1

-- name: contents
-- rows of a table that cannot be compared
-- Weights are in the range that anon.moment_changes accepts.
-- :missing missing_1, missing_2
-- :endless endless_1
SELECT
    count(*) AS row_count,
    count(*) - count(key) AS keyless_rows,
    count(key) - count(DISTINCT key) AS repeated_rows,
    (SELECT count(*) FROM :rows AS anon_one INNER JOIN :other AS anon_other USING (key)) AS joined_rows,
    count(*) FILTER (WHERE NOT coalesce(weight BETWEEN 1e-300 AND 1e300, FALSE)) AS unfit_weights,
    count(*) - count(:columns) AS :missing,
    count(*) FILTER (WHERE NOT abs(:numbers) <= 1e100) AS :endless
FROM :rows AS anon_rows;

-- name: values
-- values of columns
-- How many there are, with NULL; those that the source lacks; and the first of them, those of both tables before others.
SELECT (
    SELECT {
        'value_count': count(*),
        'new_count': count(*) FILTER (WHERE anon_value IS NOT NULL AND NOT anon_was),
        'labels': coalesce(list_transform(
            min({'is_alone': NOT (anon_was AND anon_is), 'label': anon_value}, 30) FILTER (WHERE anon_value IS NOT NULL),
            lambda anon_each: anon_each.label
        ), [])
    }
    FROM (
        SELECT anon_value, bool_or(anon_is_source) AS anon_was, NOT bool_and(anon_is_source) AS anon_is
        FROM (
            SELECT :columns AS anon_value, TRUE AS anon_is_source FROM :rows AS anon_rows
            UNION ALL
            SELECT :columns AS anon_value, FALSE AS anon_is_source FROM :other AS anon_other
        ) AS anon_both
        GROUP BY anon_value
    ) AS anon_values
) AS :columns;

-- name: quantiles
-- quantiles of numbers
-- The least value up to which a share of the weights lies; sums of weights may be rounded.
SELECT (
    SELECT {
        'quantile 5 %': min(anon_number) FILTER (WHERE anon_share >= 0.05 - 1e-12),
        'quantile 25 %': min(anon_number) FILTER (WHERE anon_share >= 0.25 - 1e-12),
        'median': min(anon_number) FILTER (WHERE anon_share >= 0.5 - 1e-12),
        'quantile 75 %': min(anon_number) FILTER (WHERE anon_share >= 0.75 - 1e-12),
        'quantile 95 %': min(anon_number) FILTER (WHERE anon_share >= 0.95 - 1e-12)
    }
    FROM (
        SELECT
            :numbers AS anon_number,
            sum(sum(weight)) OVER (ORDER BY :numbers ASC) / sum(sum(weight)) OVER () AS anon_share
        FROM :rows AS anon_rows
        WHERE :numbers IS NOT NULL
        GROUP BY :numbers
    ) AS anon_sorted
) AS :numbers;

-- name: model_rows
-- rows for models
-- Numbers in standard deviations from their means, and flags of values, also of NULL; a number that is NULL is the mean.
-- :means 40
-- :sds 15
-- :labels 'a', NULL
-- :flags flag_1, flag_2
SELECT
    key,
    weight,
    CAST(1 AS DOUBLE) AS one,
    coalesce((:numbers - :means) / :sds, 0) AS :numbers,
    CAST(:columns IS NOT DISTINCT FROM :labels AS DOUBLE) AS :flags
FROM :rows AS anon_rows;

-- name: cells
-- rows of both tables that agree
SELECT :columns, count(*) FILTER (WHERE anon_is_source) AS anon_before, count(*) FILTER (WHERE NOT anon_is_source) AS anon_after
FROM (
    SELECT :columns, TRUE AS anon_is_source FROM :rows AS anon_rows
    UNION ALL
    SELECT :columns, FALSE AS anon_is_source FROM :other AS anon_other
) AS anon_both
GROUP BY :columns;

-- name: products
-- sums of products of two terms
-- :left number_1
-- :right number_1
-- :product product_1
SELECT count(*) AS row_count, sum(weight * :left * :right) AS :product FROM :rows AS anon_rows;

-- name: complete_rows
-- rows without NULL
-- :rows (weight DOUBLE, number_1 DOUBLE, missing_1 DOUBLE)
-- :missing missing_1
SELECT * FROM :rows AS anon_rows WHERE :missing = 0;

-- name: fitted
-- how likely rows are of the release by a model, and by how much that is wrong
-- The residual is the working one of iteratively reweighted least squares; scores are cut, so that no chance is 0 or 1.
-- :left number_1
-- :right number_1
-- :terms term_1
-- :score term_1
SELECT *, anon_rows * anon_chance * (1 - anon_chance) AS weight, (anon_after - anon_rows * anon_chance) / weight AS anon_residual
FROM (
    SELECT *, anon_before + anon_after AS anon_rows, 1 / (1 + exp(-greatest(least(:score, 30), -30))) AS anon_chance
    FROM (SELECT :left * :right AS :terms, anon_before, anon_after FROM :cells AS anon_cells) AS anon_terms
) AS anon_scored;

-- name: misfit
-- the propensity score
-- :fitted (anon_rows BIGINT, anon_chance DOUBLE)
-- :share 0.5
SELECT sum(anon_rows * (anon_chance - :share) ** 2) / sum(anon_rows) AS pmse FROM :fitted AS anon_fitted;

-- name: nearest
-- rows whose nearest released row is their own
-- Of equally near rows, but for rounding, each is taken as often; which rows are tried follows from their keys.
-- :most 1000
SELECT count(*) AS tried_rows, avg(CASE anon_nearer WHEN 0 THEN 1 / anon_alike ELSE 0 END) AS own_share
FROM (
    SELECT
        count_if(list_distance(anon_was, anon_point) < anon_own * (1 - 1e-9)) AS anon_nearer,
        count_if(abs(list_distance(anon_was, anon_point) - anon_own) <= 1e-9 * anon_own) AS anon_alike
    FROM (
        SELECT key, anon_was, list_distance(anon_was, anon_point) AS anon_own
        FROM (SELECT key, [:numbers] AS anon_was FROM :rows AS anon_rows) AS anon_source
        INNER JOIN (SELECT key, [:numbers] AS anon_point FROM :other AS anon_other) AS anon_release USING (key)
        ORDER BY md5(key) ASC
        LIMIT :most
    ) AS anon_tried
    CROSS JOIN (SELECT [:numbers] AS anon_point FROM :other AS anon_other) AS anon_released
    GROUP BY key
) AS anon_ranked;
