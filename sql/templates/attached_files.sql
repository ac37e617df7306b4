-- The attached databases and their files; NULL for those in memory.
SELECT database_name, path FROM duckdb_databases() WHERE NOT internal
