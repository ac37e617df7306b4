-- About how many rows a table has, if it is one of DuckDB itself.
SELECT estimated_size AS row_count
FROM duckdb_tables() INNER JOIN duckdb_databases() USING (database_name)
WHERE type = 'duckdb' AND (database_name, schema_name, table_name) = ($1, $2, $3)
