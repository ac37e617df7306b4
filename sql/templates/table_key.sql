-- Whether a column is a key of a table by itself, so that no two rows can have the same value.
SELECT
    coalesce(
        bool_or(constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND constraint_column_names = [$4]), FALSE
    ) AS is_key
FROM duckdb_constraints()
WHERE database_name = $1 AND schema_name = $2 AND table_name = $3
