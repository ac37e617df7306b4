-- The rows of the ledger, in their order; the columns that ledgers of earlier versions do not have are added to these.
SELECT
    position, kind, dataset, method, purpose, epsilon, delta, spent_at, policy_sha256, previous_sha256, sha256
FROM anon.ledger
ORDER BY position ASC NULLS FIRST
