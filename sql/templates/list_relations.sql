-- The names of all tables and views of the user.
SELECT table_name AS relation_name FROM duckdb_tables() WHERE NOT internal
UNION ALL
SELECT view_name FROM duckdb_views() WHERE NOT internal
