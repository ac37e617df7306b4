-- Every schema of every attached database.
SELECT database_name, schema_name FROM duckdb_schemas()
