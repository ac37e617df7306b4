-- PRAM, the post-randomization method (Gouweleeuw et al. 1998): each value of a column is shown as another one with a
-- probability that a matrix states.

-- guarded: tests/sql/82_pram.test
-- no mutants of 1: any number is a stratum

-- The values of a column with their shares, for a matrix. NULL is left out: it stays NULL in a release.
--
-- Returns: anon_stratum INTEGER (1: all rows), anon_value VARCHAR, anon_share DOUBLE, anon_values BIGINT (how many there are). An
-- error for one value, and for more than 1,000.
-- Example:
--   FROM anon_helpers.pram_values('visits', 'diagnosis') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.pram_values(source, column_name) AS TABLE
SELECT
    1 AS anon_stratum,
    value AS anon_value,
    row_count / sum(row_count) OVER () AS anon_share,
    CASE
        WHEN count(*) OVER () BETWEEN 2 AND 1000 THEN count(*) OVER ()
        ELSE error(concat('column "', column_name, '" needs 2 to 1,000 values beside NULL for a matrix'))
    END AS anon_values
FROM anon_helpers.column_values(source, [column_name])
WHERE value IS NOT NULL;

-- guarded: tests/sql/82_pram.test

-- The matrix of PRAM for each stratum of a table of shares like that of pram_values; see anon.pram_matrix.
--
-- Returns: anon_stratum and anon_value as they are, anon_shown like anon_value, anon_probability DOUBLE.
-- Example:
--   WITH shares AS (FROM anon_helpers.pram_values('visits', 'diagnosis'))
--   FROM anon_helpers.one_step_matrices('shares', 0.2, 'invariant') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.one_step_matrices(shares, change, form) AS TABLE
SELECT
    anon_from.anon_stratum,
    anon_from.anon_value,
    anon_to.anon_value AS anon_shown,
    CASE
        WHEN coalesce(NOT (change > 0 AND change < 1), TRUE) THEN error('change is a probability above 0 and below 1')
        WHEN form = 'invariant' AND anon_from.anon_value = anon_to.anon_value THEN 1 - change + change * anon_to.anon_share
        WHEN form = 'invariant' THEN change * anon_to.anon_share
        WHEN coalesce(form <> 'plain', TRUE) THEN error('form is ''plain'' or ''invariant''')
        WHEN anon_from.anon_value = anon_to.anon_value THEN 1 - change
        ELSE change / (anon_to.anon_values - 1)
    END AS anon_probability
FROM query_table(anon_helpers.as_source(shares)) AS anon_from
JOIN query_table(anon_helpers.as_source(shares)) AS anon_to ON anon_to.anon_stratum = anon_from.anon_stratum;

-- The matrix of PRAM for a column: the probability with which each value is shown as each other one. For strata, take the rows of
-- one stratum.
--
-- plain: a value changes with the probability `change`, to any other alike. Such a matrix has nothing of the rows but the values,
-- and anon.pram_estimate recovers the counts. invariant: with this probability a value is drawn anew from the column, so that
-- expected counts stay. Such a matrix has the exact shares of the values in it: publish it for many rows only.
--
-- Job: release.
-- Returns: value VARCHAR, shown_value VARCHAR, probability DOUBLE; a row for each two values. An error for a column that has one
-- value, or more than 1,000, for a change that is not above 0 and below 1, and for another form. NULL is left out.
-- Source: Gouweleeuw, Kooiman, Willenborg and De Wolf 1998.
-- Example:
--   FROM anon.pram_matrix('visits', 'diagnosis', 0.2, 'invariant') ORDER BY ALL;
CREATE OR REPLACE MACRO anon.pram_matrix(source, column_name, change, form) AS TABLE
WITH anon_shares AS (
    SELECT * FROM anon_helpers.pram_values(source, column_name)
)
SELECT anon_value AS value, anon_shown AS shown_value, anon_probability AS probability
FROM anon_helpers.one_step_matrices('anon_shares', change, form);

-- guarded: tests/sql/82_pram.test

-- The invariant matrix of PRAM in two steps, as sdcMicro makes it: a value is kept with a probability of its own, else it becomes
-- any other alike (P); then it becomes one of the values that it may have been (Q). The matrix is alpha PQ + (1 - alpha) I. A
-- value may stay far less often than it is kept in the first step.
--
-- Beside its diagonal a row of P is one number, so that no sum over values is needed for PQ. The shares are those of
-- one_step_matrices, with the probability of each value to be kept, anon_keep.
--
-- Returns: the rows of one_step_matrices. An error for a value without a probability.
-- Source: Gouweleeuw, Kooiman, Willenborg and De Wolf 1998; as pram of sdcMicro.
-- Example:
--   WITH shares AS (SELECT *, 0.8 AS anon_keep FROM anon_helpers.pram_values('visits', 'diagnosis'))
--   FROM anon_helpers.two_step_matrices('shares', 0.5) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.two_step_matrices(shares, alpha) AS TABLE
WITH anon_steps AS (
    SELECT
        *,
        (1 - anon_kept) / (anon_values - 1) AS anon_moved,
        anon_kept - anon_moved AS anon_more,
        sum(anon_share * anon_moved) OVER (PARTITION BY anon_stratum) + anon_share * anon_more AS anon_between
    FROM (
        SELECT *, anon_helpers.checked_share(anon_keep, 'the probability to keep a value') AS anon_kept
        FROM query_table(anon_helpers.as_source(shares))
    )
)
SELECT
    anon_from.anon_stratum,
    anon_from.anon_value,
    anon_to.anon_value AS anon_shown,
    CASE WHEN anon_from.anon_value = anon_to.anon_value
        THEN 1 - alpha + alpha * anon_to.anon_share * anon_from.anon_more ** 2 / anon_from.anon_between ELSE 0
    END + anon_helpers.checked_share(alpha, 'alpha') * anon_to.anon_share * (
        anon_from.anon_moved * anon_to.anon_moved
        * sum(1 / anon_to.anon_between) OVER (PARTITION BY anon_from.anon_stratum, anon_from.anon_value)
        + anon_from.anon_moved * anon_to.anon_more / anon_to.anon_between
        + anon_from.anon_more * anon_to.anon_moved / anon_from.anon_between
    ) AS anon_probability
FROM anon_steps AS anon_from
JOIN anon_steps AS anon_to ON anon_to.anon_stratum = anon_from.anon_stratum;

-- guarded: tests/sql/82_pram.test

-- A step of Gauss and Jordan: of the first rows, which are not done, the one with the largest first number is divided by it,
-- taken from the others as often as their first numbers say, and put last. The first numbers are gone then.
--
-- Returns: DOUBLE[][]; an error where all of them are 0, up to rounding.
-- Example:
--   SELECT anon_helpers.gauss_step([[0.5, 0.5, 1.0, 0.0], [0.2, 0.8, 0.0, 1.0]], 2) AS matrix;
CREATE OR REPLACE MACRO anon_helpers.gauss_step(matrix, undone) AS
list_transform(
    [list_transform(list_slice(matrix, 1, undone), lambda anon_row: abs(CAST(anon_row[1] AS DOUBLE)))],
    lambda anon_sizes: list_transform(
        [list_extract(matrix, list_position(anon_sizes, list_max(anon_sizes)))],
        lambda anon_pivot: CASE
            WHEN list_max(anon_sizes) < 1e-9
                THEN error('the matrix is singular: different counts look the same in a release, and nobody can estimate them')
            ELSE list_append(
                list_transform(
                    list_filter(matrix, lambda anon_row, anon_at: anon_at <> list_position(anon_sizes, list_max(anon_sizes))),
                    lambda anon_row: list_transform(anon_row[2:], lambda anon_x, anon_at:
                        anon_x - anon_row[1] / anon_pivot[1] * list_extract(anon_pivot, anon_at + 1))
                ),
                list_transform(anon_pivot[2:], lambda anon_x: anon_x / anon_pivot[1])
            )
        END
    )[1]
)[1];

-- The inverse of a square matrix.
--
-- Returns: DOUBLE[][]; an error for a singular matrix.
-- Example:
--   SELECT anon_helpers.inverse_of([[0.5, 0.5], [0.2, 0.8]]) AS inverse;
CREATE OR REPLACE MACRO anon_helpers.inverse_of(matrix) AS
list_reduce(
    list_prepend(
        list_transform(CAST(matrix AS DOUBLE[][]), lambda anon_row, anon_at: list_concat(
            anon_row, list_transform(anon_row, lambda anon_x, anon_other: CAST(anon_at = anon_other AS DOUBLE))
        )),
        list_transform(range(len(matrix), 0, -1), lambda anon_undone: [[CAST(anon_undone AS DOUBLE)]])
    ),
    lambda anon_rows, anon_undone: anon_helpers.gauss_step(anon_rows, CAST(anon_undone[1][1] AS BIGINT))
);

-- guarded: tests/sql/82_pram.test

-- How often each value stood in a column before PRAM, by what a release shows and the matrix: estimates without bias, with their
-- standard errors. Those of rare values are large. For strata, take the rows and the matrix of one stratum.
--
-- The matrix is a table like that of anon.pram_matrix; two values that it lacks have the probability 0. NULL is left out, unless
-- it is a value of the matrix.
--
-- How it goes. Plain and invariant matrices have one number in each column beside the diagonal, and a known inverse. Others are
-- inverted, up to 100 values.
--
-- Job: answers.
-- Returns: value VARCHAR, shown_count BIGINT, estimated_count DOUBLE (below 0 for some rare values), standard_error DOUBLE. An error
-- for a singular matrix, for one whose probabilities are not from 0 to 1 and add up to 1 for each value, for another matrix
-- of more than 100 values, and for a value that the matrix lacks.
-- Source: Kooiman, Willenborg and Gouweleeuw 1997.
-- Example:
--   WITH matrix AS (FROM anon.pram_matrix('visits', 'diagnosis', 0.2, 'plain'))
--   FROM anon.pram_estimate('visits', 'diagnosis', 'matrix');
CREATE OR REPLACE MACRO anon.pram_estimate(release, column_name, matrix) AS TABLE
WITH anon_matrix AS (
    SELECT anon.text_of(value) AS anon_value, anon.text_of(shown_value) AS anon_shown, sum(probability) AS anon_p
    FROM query_table(anon_helpers.as_source(matrix))
    GROUP BY ALL
),
anon_labels AS MATERIALIZED (
    SELECT anon_value, row_number() OVER (ORDER BY anon_value ASC) AS anon_place
    FROM (SELECT DISTINCT anon_value FROM anon_matrix)
),
anon_columns AS (
    SELECT
        anon_to,
        list(anon_checked ORDER BY anon_from ASC) AS anon_column,
        max(anon_checked) FILTER (WHERE anon_from <> anon_to) AS anon_beside,
        anon_beside - min(anon_checked) FILTER (WHERE anon_from <> anon_to) < 1e-12 AS anon_is_even
    FROM (
        SELECT
            anon_origins.anon_place AS anon_from,
            anon_targets.anon_place AS anon_to,
            CASE
                WHEN coalesce(anon_p, 0) >= 0 AND abs(sum(anon_p) OVER (PARTITION BY anon_origins.anon_place) - 1) < 1e-6
                    THEN coalesce(anon_p, 0)
                ELSE error('the probabilities of a value in the matrix are from 0 to 1 and add up to 1')
            END AS anon_checked
        FROM anon_labels AS anon_origins
        CROSS JOIN anon_labels AS anon_targets
        LEFT JOIN anon_matrix
            ON anon_matrix.anon_value IS NOT DISTINCT FROM anon_origins.anon_value
            AND anon_matrix.anon_shown IS NOT DISTINCT FROM anon_targets.anon_value
    )
    GROUP BY anon_to
),
anon_inverse AS MATERIALIZED (
    SELECT CASE
        WHEN bool_and(anon_is_even) AND any_value(anon_rest) > 1e-9 THEN list(list_transform(
            anon_column,
            lambda anon_p, anon_from: (CASE WHEN anon_from = anon_to THEN 1 ELSE 0 END - anon_beside) / anon_rest
        ) ORDER BY anon_to ASC)
        WHEN count(*) <= 100 THEN anon_helpers.inverse_of(list(anon_column ORDER BY anon_to ASC))
        ELSE error('a matrix of more than 100 values that is neither plain nor invariant by one probability is not inverted here')
    END AS anon_rows
    FROM (SELECT *, 1 - sum(anon_beside) OVER () AS anon_rest FROM anon_columns)
),
anon_counts AS MATERIALIZED (
    SELECT
        anon_labels.anon_value,
        coalesce(anon_shown.row_count, 0) AS anon_count,
        CASE
            WHEN anon_place IS NULL THEN error(concat('column "', column_name, '" shows a value that the matrix lacks'))
            ELSE anon_place
        END AS anon_place
    FROM anon_labels
    FULL JOIN anon_helpers.column_values(release, [column_name]) AS anon_shown
        ON anon_shown.value IS NOT DISTINCT FROM anon_labels.anon_value
    WHERE anon_place IS NOT NULL OR anon_shown.value IS NOT NULL
)
SELECT
    anon_value AS value,
    anon_count AS shown_count,
    list_dot_product(anon_row, anon_all) AS estimated_count,
    sqrt(greatest(
        list_dot_product(list_transform(anon_row, lambda anon_x: anon_x ** 2), anon_all) - list_dot_product(anon_row, anon_all), 0
    )) AS standard_error
FROM (
    SELECT anon_value, anon_count, anon_all, anon_rows[anon_place] AS anon_row
    FROM anon_counts
    CROSS JOIN anon_inverse
    CROSS JOIN (SELECT list(CAST(anon_count AS DOUBLE) ORDER BY anon_place ASC) AS anon_all FROM anon_counts)
)
ORDER BY anon_value ASC;
