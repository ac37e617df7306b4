-- What is noted of the ledger of the warehouse, which is another file: the newest note last.
SELECT path, sha256
FROM anon.ledger_note
ORDER BY noted_at ASC, rowid ASC
