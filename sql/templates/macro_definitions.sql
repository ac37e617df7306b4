-- The queries and expressions of the macros of a name in lower case, in whatever schema.
SELECT DISTINCT macro_definition
FROM duckdb_functions()
WHERE lower(function_name) = $1 AND macro_definition IS NOT NULL AND NOT internal
ORDER BY macro_definition ASC
