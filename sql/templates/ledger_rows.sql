-- The rows of the ledger, in their order.
SELECT
    position, kind, dataset, method, purpose, epsilon, delta, spent_at, policy_sha256, previous_sha256, sha256, unit,
    individual, rows_per_individual, sources, public
FROM anon.ledger
ORDER BY position ASC NULLS FIRST
