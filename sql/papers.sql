-- What experiments of papers count that no macro does.

-- name: aged
-- rows with another age
-- Rows with an age drawn for each by a hash of the seed and of the row's place: from a normal distribution, or uniformly
-- below :oldest.
-- :rows (place BIGINT, sex VARCHAR)
-- :seed 1
-- :mean 30
-- :deviation 33
-- :oldest 100
-- :is_normal TRUE
SELECT
    * EXCLUDE (place, first, second),
    CAST(CASE
        WHEN :is_normal THEN floor(:mean + :deviation * sqrt(-2 * ln(1 - first)) * cos(2 * pi() * second))
        ELSE floor(:oldest * first)
    END AS INTEGER) AS age
FROM (
    SELECT
        *,
        hash(concat_ws(' ', :seed, place, 'first')) / pow(2, 64) AS first,
        hash(concat_ws(' ', :seed, place, 'second')) / pow(2, 64) AS second
    FROM :rows
);

-- name: errors_by_value
-- errors of answers by value
-- The mean over values of the mean relative error of the answers for each.
-- :answers (value VARCHAR, truth DOUBLE, answer DOUBLE)
SELECT avg(error) AS error
FROM (
    SELECT anon_helpers.mean_relative_error_of(answer, truth) AS error
    FROM :answers
    GROUP BY value
);
