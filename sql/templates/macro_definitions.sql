-- The names of the user's macros in lower case, in whatever schema, with their queries and expressions.
SELECT DISTINCT lower(function_name) AS function_name, macro_definition
FROM duckdb_functions()
WHERE macro_definition IS NOT NULL AND NOT internal
ORDER BY ALL ASC
