-- Where a name without a qualifier is looked up, and whether it can be written there.
SELECT database_name, current_schema() AS schema_name, readonly AS read_only
FROM duckdb_databases()
WHERE database_name = current_database()
