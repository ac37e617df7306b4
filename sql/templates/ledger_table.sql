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
    public VARCHAR[]
)
