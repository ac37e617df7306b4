-- The tables, with their comments, and views of some names, as the catalog spells them. Names have three parts in lower
-- case with a NUL between: DuckDB compares them without regard to the case of ASCII letters, and of no others.
WITH relations AS (
    SELECT database_name, schema_name, table_name AS relation_name, FALSE AS is_view, comment FROM duckdb_tables()
    UNION ALL
    SELECT database_name, schema_name, view_name, TRUE, NULL FROM duckdb_views()
)
SELECT database_name, schema_name, relation_name, is_view, comment
FROM relations
WHERE
    list_contains(
        $1,
        translate(
            concat_ws(chr(0), database_name, schema_name, relation_name),
            'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
            'abcdefghijklmnopqrstuvwxyz'
        )
    )
