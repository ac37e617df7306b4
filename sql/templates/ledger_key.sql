-- Whether no two rows of the ledger can have the same position: else two connections could append at the same time.
SELECT
    coalesce(
        bool_or(constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND constraint_column_names = ['position']), FALSE
    ) AS is_keyed
FROM duckdb_constraints()
WHERE schema_name = 'anon' AND table_name = 'ledger'
