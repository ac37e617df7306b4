-- The releases that sessions on a warehouse have made: their table, and what is asked of it.

-- name: releases_table
-- releases table
-- A row per release that was made, and per partition of a fit. A run adds a row, and removes it if it publishes nothing
-- after all; a user marks rows as forgotten. The table has neither cell values nor the texts of queries.
CREATE TABLE IF NOT EXISTS anon.releases (
    target VARCHAR NOT NULL,
    datasets VARCHAR[] NOT NULL,
    method VARCHAR NOT NULL,
    policy_sha256 VARCHAR NOT NULL,
    node VARCHAR,
    row_count BIGINT,
    min_class_size BIGINT,
    record_sha256 VARCHAR,
    fit_sha256 VARCHAR,
    made_at TIMESTAMP NOT NULL,
    forgotten_at TIMESTAMP,
    forgotten_reason VARCHAR,
    perturbed VARCHAR[]
);

-- name: perturbed_column
-- a column that older tables lack
ALTER TABLE anon.releases ADD COLUMN IF NOT EXISTS perturbed VARCHAR[];

-- name: release_rows
-- the rows of the releases, in the order in which they were made
-- Those of older tables have no column of perturbed columns.
SELECT *
FROM anon.releases
ORDER BY made_at ASC NULLS FIRST, rowid ASC NULLS FIRST;

-- name: note_release
-- note the release
-- $1 'visits_k5'
-- $2 ['visits']
-- $3 'full-domain'
-- $4 '9f86d081884c7d65'
-- $5 '{"age": 1}'
-- $6 12
-- $7 3
-- $8 '60303ae22b998861'
-- $9 CAST(NULL AS VARCHAR)
-- $10 TIMESTAMP '2026-01-01 12:00:00'
-- $11 ['income']
INSERT INTO anon.releases (
    target, datasets, method, policy_sha256, node, row_count, min_class_size, record_sha256, fit_sha256, made_at,
    perturbed
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- name: note_record
-- note the record of the release
-- $1 '60303ae22b998861'
-- $2 'visits_k5'
-- $3 TIMESTAMP '2026-01-01 12:00:00'
UPDATE anon.releases SET record_sha256 = $1 WHERE target = $2 AND made_at = $3;

-- name: take_back_release
-- take back a release that was not published
-- $1 'visits_k5'
-- $2 TIMESTAMP '2026-01-01 12:00:00'
DELETE FROM anon.releases WHERE target = $1 AND made_at = $2;

-- name: forget_releases
-- forget releases
-- $1 ['visits_k5']
-- $2 TIMESTAMP '2026-01-01 12:00:00'
-- $3 'it was never handed out'
UPDATE anon.releases
SET forgotten_at = $2, forgotten_reason = $3
WHERE list_contains($1, target) AND forgotten_at IS NULL;
