-- What a release keeps of its source. Both tables have columns of safe names: number_1, category_1, ..., key and weight; the
-- macros of 81_utility.sql read these as well.
-- :rows (key VARCHAR, weight DOUBLE, number_1 DOUBLE, category_1 VARCHAR)
-- :other (key VARCHAR, weight DOUBLE, number_1 DOUBLE, category_1 VARCHAR)
-- :cells (anon_before BIGINT, anon_after BIGINT, number_1 DOUBLE, category_1 VARCHAR)
-- :columns number_1, category_1
-- :numbers number_1
-- :column category_1

-- name: contents
-- rows of a table that cannot be compared
-- Weights are in the range that anon.moment_changes accepts.
-- :missing missing_1
-- :endless endless_1
SELECT
    count(*) AS row_count,
    count(*) - count(key) AS keyless_rows,
    count(key) - count(DISTINCT key) AS repeated_rows,
    count(*) FILTER (WHERE NOT coalesce(weight BETWEEN 1e-300 AND 1e300, FALSE)) AS unfit_weights,
    count(*) - count(:numbers) AS :missing,
    count(*) FILTER (WHERE NOT abs(:numbers) <= 1e100) AS :endless
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

-- name: value_counts
-- values of a column, and those that the source lacks
SELECT count(*) AS value_count, count(*) FILTER (WHERE anon_before = 0 AND :column IS NOT NULL) AS new_count
FROM :cells AS anon_cells;

-- name: values
-- values of a column, those of both tables first
SELECT :column AS anon_value FROM :cells AS anon_cells ORDER BY least(anon_before, anon_after) = 0 ASC, :column ASC;

-- name: quantiles
-- quantiles of a number
-- The least value up to which a share of the weights lies; sums of weights may be rounded.
SELECT
    min(anon_number) FILTER (WHERE anon_share >= 0.05 - 1e-12) AS "quantile 5 %",
    min(anon_number) FILTER (WHERE anon_share >= 0.25 - 1e-12) AS "quantile 25 %",
    min(anon_number) FILTER (WHERE anon_share >= 0.5 - 1e-12) AS median,
    min(anon_number) FILTER (WHERE anon_share >= 0.75 - 1e-12) AS "quantile 75 %",
    min(anon_number) FILTER (WHERE anon_share >= 0.95 - 1e-12) AS "quantile 95 %"
FROM (
    SELECT :column AS anon_number, sum(sum(weight)) OVER (ORDER BY :column ASC) / sum(sum(weight)) OVER () AS anon_share
    FROM :rows AS anon_rows
    WHERE :column IS NOT NULL
    GROUP BY :column
) AS anon_sorted;

-- name: joined
-- rows of both tables by their key
SELECT count(*) AS row_count FROM :rows AS anon_rows INNER JOIN :other AS anon_other USING (key);

-- name: products
-- sums of products of two terms
-- :left number_1
-- :right number_1
-- :product product_1
SELECT count(*) AS row_count, sum(weight * :left * :right) AS :product FROM :rows AS anon_rows;

-- name: complete_rows
-- rows without NULL
-- :terms number_1
-- :names term_1
SELECT :terms AS :names, weight FROM :rows AS anon_rows WHERE :columns = :columns;

-- name: terms
-- terms of a model of cells
-- :terms number_1
-- :names term_1
SELECT :terms AS :names, anon_before, anon_after FROM :cells AS anon_cells;

-- name: fitted
-- how likely rows are of the release by a model, and by how much that is wrong
-- The residual is the working one of iteratively reweighted least squares; scores are cut, so that no chance is 0 or 1.
-- :terms number_1
-- :score number_1
SELECT *, anon_rows * anon_chance * (1 - anon_chance) AS weight, (anon_after - anon_rows * anon_chance) / weight AS anon_residual
FROM (
    SELECT :terms, anon_after, anon_before + anon_after AS anon_rows, 1 / (1 + exp(-greatest(least(:score, 30), -30))) AS anon_chance
    FROM :cells AS anon_cells
) AS anon_scored;

-- name: misfit
-- the propensity score
-- :fitted (anon_rows BIGINT, anon_chance DOUBLE)
-- :share 0.5
SELECT sum(anon_rows * (anon_chance - :share) ** 2) / sum(anon_rows) AS pmse FROM :fitted AS anon_fitted;

-- name: nearest
-- rows whose nearest released row is their own
-- Of equally near rows, but for rounding, each is taken as often; which rows are tried follows from their keys.
-- :points number_1
-- :most 1000
SELECT count(*) AS tried_rows, avg(CASE anon_nearer WHEN 0 THEN 1 / anon_alike ELSE 0 END) AS own_share
FROM (
    SELECT
        count_if(list_distance(anon_was, anon_point) < anon_own * (1 - 1e-9)) AS anon_nearer,
        count_if(abs(list_distance(anon_was, anon_point) - anon_own) <= 1e-9 * anon_own) AS anon_alike
    FROM (
        SELECT key, anon_was, list_distance(anon_was, anon_point) AS anon_own
        FROM (SELECT key, [:points] AS anon_was FROM :rows AS anon_rows) AS anon_source
        INNER JOIN (SELECT key, [:points] AS anon_point FROM :other AS anon_other) AS anon_release USING (key)
        ORDER BY md5(key) ASC
        LIMIT :most
    ) AS anon_tried
    CROSS JOIN (SELECT [:points] AS anon_point FROM :other AS anon_other) AS anon_released
    GROUP BY key
) AS anon_ranked;
