-- What a sample gives away of its population, counted over its classes: see 71_survey.sql and 74_special_uniques.sql.
-- :cells (key_1 INTEGER, anon_class_size BIGINT, anon_population_size DOUBLE, anon_binomial_risk DOUBLE, anon_poisson_risk DOUBLE)
-- :special (anon_score DOUBLE, anon_least_size INTEGER, anon_minimal_sets VARCHAR[])

-- name: weights
-- weights of a sample
-- NULL is missing; a weight that is not a finite number above 0 is unusable.
-- :source (weight DOUBLE, household INTEGER)
SELECT
    count(*) AS row_count,
    count(*) - count(weight) AS missing_rows,
    count(*) - count(household) AS homeless_rows,
    count(*) FILTER (WHERE NOT (isfinite(weight) AND weight > 0)) AS unusable_rows,
    min(weight) AS least,
    max(weight) AS greatest
FROM :source AS anon_rows;

-- name: light_classes
-- classes that stand for fewer people than they have rows
-- :source (key_1 INTEGER, weight DOUBLE, row_count BIGINT)
-- :keys key_1
-- :rows row_count
-- :weight weight
SELECT count(*) AS class_count
FROM (
    SELECT sum(:rows) AS anon_class_size, sum(:weight) AS anon_weight_sum
    FROM :source AS anon_rows
    GROUP BY :keys
) AS anon_classes
WHERE anon_weight_sum < anon_class_size * (1 - 1e-9);

-- name: patterns
-- which keys of rows are NULL
-- :source (key_1 INTEGER)
-- :keys key_1
SELECT count(*) AS pattern_count FROM (SELECT DISTINCT :keys IS NULL AS :keys FROM :source AS anon_rows) AS anon_patterns;

-- name: bands
-- rows of a sample by the power of ten of their risk
-- From the highest one on; both estimates are below 1e-6 in the last one.
SELECT
    CAST(greatest(floor(log10(anon_risk)), -7) AS INTEGER) AS power,
    CAST(sum(CASE WHEN anon_is_binomial THEN anon_class_size ELSE 0 END) AS BIGINT) AS binomial_rows,
    CAST(sum(CASE WHEN anon_is_binomial THEN 0 ELSE anon_class_size END) AS BIGINT) AS poisson_rows
FROM (
    SELECT
        anon_class_size,
        unnest([TRUE, FALSE]) AS anon_is_binomial,
        unnest([anon_binomial_risk, anon_poisson_risk]) AS anon_risk
    FROM :cells AS anon_cells
) AS anon_risks
GROUP BY power
ORDER BY power DESC;

-- name: alike_rows
-- rows of a sample, at most two of each class
-- Special uniques are the same among these.
-- :keys key_1
SELECT :keys FROM :cells AS anon_one
UNION ALL
SELECT :keys FROM :cells AS anon_other WHERE anon_class_size > 1;

-- name: distinct_values
-- values of the keys of a sample
-- :keys key_1
SELECT count(DISTINCT :keys) + CAST(coalesce(bool_or(:keys IS NULL), FALSE) AS INTEGER) AS :keys FROM :cells AS anon_cells;

-- name: special_sizes
-- special rows by the size of their least minimal set
SELECT anon_least_size AS set_size, count(*) AS row_count FROM :special AS anon_special GROUP BY anon_least_size ORDER BY set_size ASC;
