-- Names of sources and columns as they are handed to a macro.

-- A name as query_table takes it: a path, which is a text with a slash or with a double quote that does not enclose a
-- part of a name, is put in double quotes; names of tables stay as they are. DuckDB 1.5 reads './visits.csv' as a qualified
-- name otherwise, with a schema before the dot, and has no way to spell a path that contains a double quote.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.as_name('./visits.csv') AS path, anon_helpers.as_name('main.visits') AS table_name;
CREATE OR REPLACE MACRO anon_helpers.as_name(name) AS
CASE
    WHEN regexp_full_match(name, '("([^"]|"")*"|[^"./]+)([.]("([^"]|"")*"|[^"./]+))*') OR NOT regexp_matches(name, '["/]')
        THEN name
    WHEN contains(name, '"') AND version() < 'v2'
        THEN error(
            'DuckDB 1.5 finds no path with a double quote here: make a view, CREATE VIEW visits AS FROM read_csv(''...''), '
            'or read_parquet, and name that'
        )
    ELSE concat('"', replace(name, '"', '""'), '"')
END;

-- A source as query_table takes it: the name of a table or a path, or a list of them.
--
-- Example:
--   SELECT anon_helpers.as_source('./visits.csv') AS path, anon_helpers.as_source(['main.visits', '../visits.csv']) AS listed;
CREATE OR REPLACE MACRO anon_helpers.as_source(source_name) AS
CASE
    -- Each branch has the type of the source.
    WHEN typeof(source_name) = 'VARCHAR' THEN cast_to_type(anon_helpers.as_name(CAST(source_name AS VARCHAR)), source_name)
    WHEN typeof(source_name) LIKE 'VARCHAR[%'
        THEN cast_to_type(
            list_transform(CAST(source_name AS VARCHAR[]), lambda anon_name: anon_helpers.as_name(anon_name)), source_name
        )
    ELSE source_name
END;

-- A list of columns as it is; anything else is an error, which stands in the message of a failed cast. DuckDB reads a
-- string in COLUMNS as a regular expression: 'age' would be every column whose name contains it.
--
-- COLUMNS takes no function that raises errors, but it takes a cast.
--
-- Returns: VARCHAR[].
-- Example:
--   SELECT anon_helpers.listed(['age', 'sex']) AS columns;
CREATE OR REPLACE MACRO anon_helpers.listed(column_names) AS
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

-- One of a list of columns by its place, from 1; of a shorter list the last one. So that a query, which has a fixed
-- number of columns, can name each of a list.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.listed_at(['age', 'sex'], 1) AS column_1, anon_helpers.listed_at(['age', 'sex'], 3) AS column_3;
CREATE OR REPLACE MACRO anon_helpers.listed_at(column_names, place) AS
anon_helpers.listed(column_names)[least(place, len(anon_helpers.listed(column_names)))];
