-- The table or view of a name, as the catalog spells it; names are compared as DuckDB does, without regard to case.
SELECT database_name, schema_name, table_name AS relation_name, 'table' AS kind
FROM duckdb_tables()
WHERE lower(database_name) = lower($1) AND lower(schema_name) = lower($2) AND lower(table_name) = lower($3)
UNION ALL
SELECT database_name, schema_name, view_name, 'view'
FROM duckdb_views()
WHERE lower(database_name) = lower($1) AND lower(schema_name) = lower($2) AND lower(view_name) = lower($3)
