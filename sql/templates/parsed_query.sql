-- A query as DuckDB reads it: a tree, as JSON.
SELECT json_serialize_sql($1) AS tree
