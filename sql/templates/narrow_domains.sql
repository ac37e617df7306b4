-- Whether anon.taxonomy_domain is that of an earlier version, which knows no values that are stated.
SELECT coalesce(bool_or(constraint_text NOT LIKE '%stated%'), FALSE) AS is_narrow
FROM duckdb_constraints()
WHERE schema_name = 'anon' AND table_name = 'taxonomy_domain' AND constraint_type = 'CHECK'
