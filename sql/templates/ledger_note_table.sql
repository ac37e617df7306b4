-- Which file is the ledger of the warehouse: a row per time that it was charged, with the hash of its newest row then.
CREATE TABLE IF NOT EXISTS anon.ledger_note (
    path VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    noted_at TIMESTAMP NOT NULL
)
