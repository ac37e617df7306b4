-- Names of sources and columns as they are handed to a macro.

-- A source as query_table takes it: a text with a slash is the path of a file, which is put in double quotes unless
-- it has one. Without them DuckDB 1.5 reads './visits.csv' as a qualified name, with a schema before the dot. Names of
-- tables and lists stay as they are.
--
-- Example:
--   SELECT anon.as_source('./visits.csv') AS path, anon.as_source('main.visits') AS table_name;
CREATE OR REPLACE MACRO anon.as_source(source_name) AS
CASE
    WHEN typeof(source_name) = 'VARCHAR' AND regexp_full_match(CAST(source_name AS VARCHAR), '[^"]*/[^"]*')
    -- A list has its own type, which this branch must share.
    THEN cast_to_type(concat('"', CAST(source_name AS VARCHAR), '"'), source_name)
    ELSE source_name
END;

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
