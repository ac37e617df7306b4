-- The number of rows of the rarest sensitive value of one class, from the number of rows of each value (an aggregate).
--
-- Returns: the type of row_count.
-- Example:
--   SELECT anon.smallest_count_of(row_count) AS m FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon.smallest_count_of(row_count) AS min(row_count);

-- How many rows every value of a sensitive column has at least in each class that it is in.
--
-- Returns: one row: m BIGINT; NULL for a table without rows.
-- Example:
--   FROM anon.value_frequency('visits', ['sex'], 'diagnosis');
CREATE OR REPLACE MACRO anon.value_frequency(source, quasi_identifiers, sensitive) AS TABLE
SELECT CAST(anon.smallest_count_of(row_count) AS BIGINT) AS m
FROM anon.class_values(source, quasi_identifiers, sensitive);
