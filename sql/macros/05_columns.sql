-- Names of columns as they are handed to a macro.

-- A list of columns as it is; anything else is an error, which stands in the message of a failed cast. DuckDB reads a
-- string in COLUMNS as a regular expression: 'age' would be every column whose name contains it.
--
-- COLUMNS takes no function that raises errors, but it takes a cast.
--
-- Returns: VARCHAR[].
-- Example:
--   SELECT anon.listed(['age', 'sex']) AS columns;
CREATE OR REPLACE MACRO anon.listed(column_names) AS
CASE
    -- An array is a list of a fixed length.
    WHEN typeof(column_names) LIKE '%]' THEN CAST(column_names AS VARCHAR[])
    ELSE CAST(
        concat(
            'write a list of columns, such as [''',
            coalesce(regexp_replace(trim(CAST(column_names AS VARCHAR), '()[] '), '\s*,\s*', ''', ''', 'g'), 'age'),
            ''']'
        ) AS VARCHAR[]
    )
END;
