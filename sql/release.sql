-- The rows of a release.

-- name: repeated_rows
-- repeated rows
-- Every group of rows as often as anon_row_count says, in their order; in blocks, so that a large count takes no
-- more memory than a small one.
-- :groups (disease VARCHAR, anon_row_count BIGINT)
SELECT * EXCLUDE (anon_copies, anon_copy)
FROM (
    SELECT *, unnest(range(anon_copies)) AS anon_copy
    FROM (
        SELECT * EXCLUDE (anon_row_count, anon_block), least(1024, anon_row_count - 1024 * anon_block) AS anon_copies
        FROM (
            SELECT *, unnest(range((anon_row_count + 1023) // 1024)) AS anon_block FROM :groups
        ) AS anon_blocks
    ) AS anon_counted
) AS anon_repeated;
