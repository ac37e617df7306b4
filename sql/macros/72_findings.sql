-- What privacy models do not see: classes with one sensitive value, columns that single out rows, and dependencies.

-- Whether all rows of a class have one value (an aggregate over its rows). NULL is a value.
--
-- Returns: BOOLEAN; true for no rows.
-- Source: Machanavajjhala et al. 2007, the homogeneity attack.
-- Example:
--   SELECT sex, anon_helpers.is_homogeneous(diagnosis) AS is_homogeneous FROM visits GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.is_homogeneous(value) AS
min(value) IS NOT DISTINCT FROM max(value) AND count(value) IN (0, count(*));

-- The rows of classes in which all rows have one sensitive value, so that their class gives the value away.
--
-- Job: risk.
-- Returns: one row: homogeneous_rows BIGINT, row_count BIGINT.
-- Source: Machanavajjhala et al. 2007, the homogeneity attack.
-- Example:
--   FROM anon.homogeneous_rows('visits', ['age', 'sex'], 'diagnosis');
CREATE OR REPLACE MACRO anon.homogeneous_rows(source, quasi_identifiers, sensitive) AS TABLE
SELECT
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_is_homogeneous), 0) AS BIGINT) AS homogeneous_rows,
    CAST(coalesce(sum(anon_rows), 0) AS BIGINT) AS row_count
FROM (
    SELECT sum(row_count) AS anon_rows, anon_helpers.is_homogeneous(sensitive_value) AS anon_is_homogeneous
    FROM anon_helpers.value_counts(source, quasi_identifiers, sensitive)
    GROUP BY class
);

-- The rows whose value fewer rows have than a number (an aggregate over values, with the rows of each).
--
-- Returns: HUGEINT, 0 without any.
-- Example:
--   SELECT anon_helpers.rare_rows_of(class_size, 5) AS rare_rows FROM anon.class_sizes('visits', ['zip']);
CREATE OR REPLACE MACRO anon_helpers.rare_rows_of(value_rows, fewer_than) AS
coalesce(sum(value_rows) FILTER (WHERE value_rows < fewer_than), 0);

-- The rows whose combination of values in some columns fewer rows have than a number: who knows these values finds them.
--
-- Job: risk.
-- Returns: one row: rare_rows BIGINT, row_count BIGINT.
-- Example:
--   FROM anon.rare_rows('visits', ['age', 'diagnosis'], 2);
CREATE OR REPLACE MACRO anon.rare_rows(source, column_names, fewer_than) AS TABLE
SELECT
    CAST(anon_helpers.rare_rows_of(class_size, anon_fewer_than) AS BIGINT) AS rare_rows,
    CAST(coalesce(sum(class_size), 0) AS BIGINT) AS row_count
FROM (SELECT class_size, fewer_than AS anon_fewer_than FROM anon.class_sizes(source, column_names));

-- How far one column determines another: it does if no row is undetermined. NULL is a value.
--
-- The support separates a dependency from chance: a value that no other row has determines whatever its row has. It is the
-- second largest, over values of the dependent column, of the rows beyond the first of each determinant: none is repeated
-- where determinants are unique, or where the dependent column has one value.
--
-- pairs: a relation of the pairs of values, each once: determinant, dependent, row_count.
-- Returns: one row: undetermined_rows BIGINT, those whose determinant has several dependents; support BIGINT; row_count BIGINT.
-- Source: Codd 1971, functional dependency.
-- Example:
--   WITH pairs AS (SELECT zip AS determinant, sex AS dependent, count(*) AS row_count FROM visits GROUP BY ALL)
--   FROM anon_helpers.dependency('pairs');
CREATE OR REPLACE MACRO anon_helpers.dependency(pairs) AS TABLE
SELECT
    CAST(coalesce(sum(anon_undetermined_rows), 0) AS BIGINT) AS undetermined_rows,
    CAST(coalesce(list_extract(max(anon_repeated_rows, 2), 2), 0) AS BIGINT) AS support,
    CAST(coalesce(sum(anon_rows), 0) AS BIGINT) AS row_count
FROM (
    SELECT
        coalesce(sum(row_count) FILTER (WHERE anon_dependents > 1), 0) AS anon_undetermined_rows,
        sum(row_count) - count(*) AS anon_repeated_rows,
        sum(row_count) AS anon_rows
    FROM (
        SELECT dependent, row_count, count(*) OVER (PARTITION BY determinant) AS anon_dependents
        FROM query_table(anon_helpers.as_source(pairs))
    )
    GROUP BY dependent
);
