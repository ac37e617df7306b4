-- The query of a view, as the statement that made it; empty for the view of a relation in some versions of DuckDB.
SELECT sql AS definition
FROM duckdb_views()
WHERE database_name = $1 AND schema_name = $2 AND view_name = $3
