-- The ledger: its table, and what is asked of it.

-- name: ledger_table
-- ledger table
-- The ledger: a row per charge or cap, each with the hash of the row before, and never changed. Budgets are exact text.
-- The last columns say what its losses are about, and new tables and files of the data set, and what was declared public.
-- The key makes one of two connections fail that append at the same time, so that together they cannot overspend.
CREATE TABLE IF NOT EXISTS anon.ledger (
    position BIGINT PRIMARY KEY,
    kind VARCHAR NOT NULL CHECK (kind IN ('charge', 'cap')),
    dataset VARCHAR NOT NULL,
    method VARCHAR,
    purpose VARCHAR,
    epsilon VARCHAR,
    delta VARCHAR,
    spent_at TIMESTAMP NOT NULL,
    policy_sha256 VARCHAR,
    previous_sha256 VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    unit VARCHAR,
    individual VARCHAR,
    rows_per_individual BIGINT,
    sources STRUCT("name" VARCHAR, fingerprint VARCHAR)[],
    public VARCHAR[],
    rho VARCHAR,
    nonce VARCHAR
);

-- name: ledger_with_rho
-- column rho of the ledger
-- A ledger that was made before charges had a ρ gets the column, and its rows stay as they are.
ALTER TABLE anon.ledger ADD COLUMN IF NOT EXISTS rho VARCHAR;

-- name: ledger_with_nonce
-- column nonce of the ledger
-- A ledger that was made before rows had a nonce gets the column, and its rows stay as they are.
ALTER TABLE anon.ledger ADD COLUMN IF NOT EXISTS nonce VARCHAR;

-- name: ledger_rows
-- the rows of the ledger, in their order; those of a ledger without columns rho and nonce have none
SELECT
    position, kind, dataset, method, purpose, epsilon, delta, spent_at, policy_sha256, previous_sha256, sha256, unit,
    individual, rows_per_individual, sources, public, rho, nonce
FROM (
    SELECT * FROM anon.ledger
    UNION ALL BY NAME
    SELECT CAST(NULL AS VARCHAR) AS rho, CAST(NULL AS VARCHAR) AS nonce WHERE false
) AS anon_rows
ORDER BY position ASC NULLS FIRST;

-- name: ledger_triggers
-- how many triggers a ledger has, which DuckDB would execute with each new row; DuckDB 1.5 does not have any
-- :catalog 'memory'
SELECT count(*) AS triggers
FROM query(
    'SELECT database_name, schema_name, table_name FROM '
    || CASE WHEN version() < 'v2' THEN 'duckdb_tables() WHERE FALSE' ELSE 'duckdb_triggers()' END
) AS anon_triggers
WHERE database_name = :catalog AND schema_name = 'anon' AND table_name = 'ledger';

-- name: ledger_note_table
-- which file is the ledger of the warehouse: a row per time that it was charged, with the hash of its newest row then
CREATE TABLE IF NOT EXISTS anon.ledger_note (
    path VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    noted_at TIMESTAMP NOT NULL
);

-- name: ledger_notes
-- what is noted of the ledger of the warehouse, which is another file: the newest note last
SELECT path, sha256
FROM anon.ledger_note
ORDER BY noted_at ASC, rowid ASC;

-- name: releases_with_ledger
-- the tables whose comments may name a ledger, by database
SELECT database_name, schema_name, table_name, comment
FROM duckdb_tables()
WHERE contains(comment, 'ledger_sha256')
ORDER BY schema_name ASC, table_name ASC;
