-- The file of an attached database, NULL if it is in memory or not DuckDB's, and whether it can only be read.
SELECT CASE WHEN type = 'duckdb' THEN path END AS path, readonly AS read_only FROM duckdb_databases() WHERE database_name = $1
