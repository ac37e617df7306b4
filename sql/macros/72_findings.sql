-- What privacy models do not see: classes with one sensitive value.

-- Whether all rows of a class have one value (an aggregate over its rows). NULL is a value.
--
-- Returns: BOOLEAN; true for no rows.
-- Source: Machanavajjhala et al. 2007, the homogeneity attack.
-- Example:
--   SELECT sex, anon.is_homogeneous(diagnosis) AS is_homogeneous FROM visits GROUP BY sex;
CREATE OR REPLACE MACRO anon.is_homogeneous(value) AS
min(value) IS NOT DISTINCT FROM max(value) AND count(value) IN (0, count(*));

-- The rows of classes in which all rows have one sensitive value, so that their class gives the value away.
--
-- Returns: one row: homogeneous_rows BIGINT, row_count BIGINT.
-- Source: Machanavajjhala et al. 2007, the homogeneity attack.
-- Example:
--   FROM anon.homogeneous_rows('visits', ['age', 'sex'], 'diagnosis');
CREATE OR REPLACE MACRO anon.homogeneous_rows(source, quasi_identifiers, sensitive) AS TABLE
SELECT
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_is_homogeneous), 0) AS BIGINT) AS homogeneous_rows,
    CAST(coalesce(sum(anon_rows), 0) AS BIGINT) AS row_count
FROM (
    SELECT sum(row_count) AS anon_rows, anon.is_homogeneous(sensitive_value) AS anon_is_homogeneous
    FROM anon.value_counts(source, quasi_identifiers, sensitive)
    GROUP BY class
);
