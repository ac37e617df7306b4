-- The attached databases and their files, NULL for those in memory; whether they can only be read, and are DuckDB's own.
SELECT database_name, path, readonly AS read_only, type = 'duckdb' AS is_own FROM duckdb_databases() WHERE NOT internal
