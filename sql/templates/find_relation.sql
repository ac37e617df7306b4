-- The table or view of a name in lower case, as the catalog spells it: DuckDB compares names without regard to the case
-- of ASCII letters, and of no others.
WITH relations AS (
    SELECT database_name, schema_name, table_name AS relation_name, 'table' AS kind FROM duckdb_tables()
    UNION ALL
    SELECT database_name, schema_name, view_name, 'view' FROM duckdb_views()
)
SELECT database_name, schema_name, relation_name, kind
FROM relations
WHERE
    translate(database_name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = $1
    AND translate(schema_name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = $2
    AND translate(relation_name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = $3
