-- The tables whose comments may name a ledger, by database.
SELECT database_name, schema_name, table_name, comment
FROM duckdb_tables()
WHERE contains(comment, 'ledger_sha256')
ORDER BY schema_name ASC, table_name ASC
