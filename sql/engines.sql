-- What DuckDB is asked about its catalog, its settings and its files: sent as it is written.

-- name: parsed_query
-- a query as DuckDB reads it: a tree, as JSON
-- $1 'SELECT 1'
SELECT json_serialize_sql($1) AS tree;

-- name: current_place
-- where a name without a qualifier is looked up
SELECT current_database() AS database_name, current_schema() AS schema_name;

-- name: read_only_source
-- the database that another session on this connection's database has open read-only, beside its taxonomies in memory
SELECT database_name
FROM duckdb_databases()
WHERE
    readonly
    AND concat('for the read-only database ', database_name) IN (
        SELECT comment
        FROM duckdb_tables()
        WHERE database_name = current_database() AND schema_name = 'anon' AND table_name = 'taxonomy'
    );

-- name: current_database_is_read_only
-- whether nothing can be written where a name without a qualifier is looked up
SELECT readonly AS read_only FROM duckdb_databases() WHERE database_name = current_database();

-- name: connection_state
-- the number of the open transaction, which is another one for every statement where none is open, and the collation
SELECT txid_current() AS transaction_id, current_setting('default_collation') AS default_collation;

-- name: connection_count
-- how many connections of this program there are to the database
SELECT count AS connection_count FROM duckdb_connection_count();

-- name: no_autoload
-- DuckDB loads no extension by itself
SET GLOBAL autoload_known_extensions = FALSE;

-- name: no_autoinstall
-- DuckDB downloads no extension by itself
SET GLOBAL autoinstall_known_extensions = FALSE;

-- name: memory_limit
-- how much memory the database may take, as it spells it
SELECT current_setting('memory_limit') AS memory_limit;

-- name: time_zone
-- the zone in which times with a zone are shown
SELECT current_setting('TimeZone') AS time_zone;

-- name: utc
-- times with a zone are shown in UTC
SET TimeZone = 'UTC';

-- name: plan_settings
-- how much of a plan EXPLAIN shows, and whether that can be changed
SELECT current_setting('explain_output') AS explain_output, current_setting('lock_configuration') AS lock_configuration;

-- name: progress_settings
-- progress settings
-- What must be as it was after statements were watched, whether it can be changed, and whether a statement looks for
-- variables of the Python functions that called it.
SELECT
    current_setting('enable_progress_bar') AS enable_progress_bar,
    current_setting('enable_progress_bar_print') AS enable_progress_bar_print,
    current_setting('lock_configuration') AS lock_configuration,
    current_setting('python_scan_all_frames') AS python_scan_all_frames;

-- name: sequence_settings
-- the settings that are others while rows are written in their order, and whether they can be changed
SELECT
    current_setting('threads') AS threads,
    current_setting('preserve_insertion_order') AS preserve_insertion_order,
    current_setting('lock_configuration') AS lock_configuration;

-- name: any_macro
-- a row if a database has macros in schema anon
-- $1 'memory'
SELECT function_name FROM duckdb_functions() WHERE database_name = $1 AND schema_name = 'anon' LIMIT 1;

-- name: attached_databases
-- the attached databases and their files, NULL for those in memory; whether they can only be read, and are DuckDB's own
SELECT database_name, path, readonly AS read_only, type = 'duckdb' AS is_own FROM duckdb_databases() WHERE NOT internal;

-- name: list_schemas
-- every schema of every attached database
SELECT database_name, schema_name FROM duckdb_schemas();

-- name: list_relations
-- the names of all tables and views of the user
SELECT table_name AS relation_name, database_name, schema_name FROM duckdb_tables() WHERE NOT internal
UNION ALL
SELECT view_name, database_name, schema_name FROM duckdb_views() WHERE NOT internal;

-- name: find_relations
-- find relations
-- The tables, with their comments, and views of some names in lower case, as the catalog spells them: DuckDB compares
-- names without regard to the case of ASCII letters, and of no others. Databases and schemas are compared by the caller:
-- a condition on all three parts, or on both kinds at once, takes up to half as long again to plan.
-- $1 ['a']
SELECT database_name, schema_name, table_name AS relation_name, FALSE AS is_view, comment
FROM duckdb_tables()
WHERE list_contains($1, translate(table_name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'))
UNION ALL
SELECT database_name, schema_name, view_name, TRUE, NULL
FROM duckdb_views()
WHERE list_contains($1, translate(view_name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'));

-- name: view_definition
-- the query of a view, as the statement that made it; empty for the view of a relation in some versions of DuckDB
-- $1 'a'
-- $2 'b'
-- $3 'c'
SELECT sql AS definition
FROM duckdb_views()
WHERE database_name = $1 AND schema_name = $2 AND view_name = $3;

-- name: macro_definitions
-- the names of the user's macros in lower case, in whatever schema, with their queries and expressions
SELECT DISTINCT lower(function_name) AS function_name, macro_definition
FROM duckdb_functions()
WHERE macro_definition IS NOT NULL AND NOT internal
ORDER BY ALL ASC;

-- name: table_key
-- whether a column is a key of a table by itself, so that no two rows can have the same value
-- $1 'a'
-- $2 'b'
-- $3 'c'
-- $4 'd'
SELECT
    coalesce(
        bool_or(constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND constraint_column_names = [$4]), FALSE
    ) AS is_key
FROM duckdb_constraints()
WHERE database_name = $1 AND schema_name = $2 AND table_name = $3;

-- name: foreign_keys
-- the columns of a schema that are declared to have the keys of another table, one column each
-- $1 'a'
-- $2 'b'
SELECT table_name, constraint_column_names[1] AS column_name, referenced_table, referenced_column_names[1] AS row_key
FROM duckdb_constraints()
WHERE database_name = $1 AND schema_name = $2 AND constraint_type = 'FOREIGN KEY' AND len(constraint_column_names) = 1;

-- name: column_comments
-- the comments on the columns of a table or view
-- $1 'a'
-- $2 'b'
-- $3 'c'
SELECT column_name, comment
FROM duckdb_columns()
WHERE database_name = $1 AND schema_name = $2 AND table_name = $3 AND comment IS NOT NULL;

-- name: additions
-- what was added to a table since CREATE TABLE AS made it: comments, defaults and constraints of columns, and indexes
-- $1 'a'
-- $2 'b'
-- $3 'c'
SELECT
    (
        SELECT count(*) FILTER (comment IS NOT NULL) FROM duckdb_columns()
        WHERE database_name = $1 AND schema_name = $2 AND table_name = $3
    ) AS comments,
    (
        SELECT count(*) FILTER (column_default IS NOT NULL) FROM duckdb_columns()
        WHERE database_name = $1 AND schema_name = $2 AND table_name = $3
    ) AS defaults,
    (
        SELECT count(*) FROM duckdb_constraints()
        WHERE database_name = $1 AND schema_name = $2 AND table_name = $3
    ) AS constraints,
    (
        SELECT count(*) FROM duckdb_indexes()
        WHERE database_name = $1 AND schema_name = $2 AND table_name = $3
    ) AS indexes;

-- name: rows_of_table
-- about how many rows a table has, if it is one of DuckDB itself
-- $1 'a'
-- $2 'b'
-- $3 'c'
SELECT estimated_size AS row_count
FROM duckdb_tables() INNER JOIN duckdb_databases() USING (database_name)
WHERE type = 'duckdb' AND (database_name, schema_name, table_name) = ($1, $2, $3);

-- name: rows_of_files
-- Parquet files, in their order, with their numbers of rows from their footers
-- $1 [getvariable('parquet_file')]
SELECT file_name, num_rows FROM parquet_file_metadata($1);

-- name: rows_of_first_files
-- how many rows the first of some Parquet files have, from their footers
-- $1 [getvariable('parquet_file')]
SELECT coalesce(sum(num_rows), 0) AS row_count
FROM (SELECT num_rows FROM parquet_file_metadata($1) LIMIT 8) AS first_files;

-- name: parquet_note
-- what stands under a key in the footer of a Parquet file
-- $1 getvariable('parquet_file')
-- $2 'sqlanon'
SELECT decode(value) AS note FROM parquet_kv_metadata($1) WHERE decode(key) = $2;

-- name: glob_files
-- the files that a path or a glob stands for
-- $1 '*.none'
SELECT file FROM glob($1) ORDER BY file ASC;

-- name: home_directory
-- what stands for ~ in paths, if the connection says so
SELECT current_setting('home_directory') AS home;

-- name: unlike_files
-- one row if some Parquet files have other columns or types than the first of them: how the first that does is unlike it
-- $1 [getvariable('parquet_file')]
WITH layouts AS (
    SELECT
        file_name,
        list_sort(list(concat_ws(' ', '"' || replace(name, '"', '""') || '"', duckdb_type))) AS layout
    FROM parquet_schema($1)
    WHERE column_id > 0
    GROUP BY file_name
),
first_layout AS (
    SELECT file_name, layout
    FROM layouts
    ORDER BY file_name ASC NULLS LAST
    LIMIT 1
)
SELECT
    first_layout.file_name AS first_file,
    layouts.file_name AS other_file,
    list_filter(first_layout.layout, lambda anon_column: NOT list_contains(layouts.layout, anon_column)) AS first_alone,
    list_filter(layouts.layout, lambda anon_column: NOT list_contains(first_layout.layout, anon_column)) AS other_alone
FROM layouts
CROSS JOIN first_layout
WHERE layouts.layout <> first_layout.layout
ORDER BY layouts.file_name ASC NULLS LAST
LIMIT 1;

-- name: csv_delimiter
-- what DuckDB takes for the sign between the fields of a CSV file
-- $1 '/dev/null'
-- $2 '"'
-- $3 0
-- $4 'utf-8'
SELECT "Delimiter" AS delimiter
FROM sniff_csv($1, all_varchar = TRUE, comment = '', quote = $2, escape = $2, skip = $3, encoding = $4);

-- name: csv_first_line
-- the first line of a CSV file, NULL if nothing stands in it
-- $1 '/dev/null'
-- $2 0
-- $3 'utf-8'
SELECT line
FROM read_csv(
    $1, auto_detect = FALSE, header = FALSE, delim = '\x01', quote = '', escape = '', nullstr = '', comment = '',
    columns = {'line': 'VARCHAR'}, skip = $2, encoding = $3, hive_partitioning = FALSE, strict_mode = FALSE
)
LIMIT 1;
