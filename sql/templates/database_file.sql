-- The file of an attached database, NULL if it is in memory, and whether it can only be read.
SELECT path, readonly AS read_only FROM duckdb_databases() WHERE database_name = $1
