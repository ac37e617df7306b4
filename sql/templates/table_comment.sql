-- The comment of a table.
SELECT comment FROM duckdb_tables() WHERE database_name = $1 AND schema_name = $2 AND table_name = $3
