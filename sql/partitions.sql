-- Rows that are counted, and not kept.

-- name: counted_rows
-- counted rows
-- The rows that were counted, each as often as it was counted. In batches, because a list of all rows of a large count
-- would be held in memory.
-- :counted (disease VARCHAR, anon_row_count BIGINT)
SELECT * EXCLUDE (anon_batch, anon_row)
FROM (
    SELECT *, unnest(range(anon_batch)) AS anon_row
    FROM (
        SELECT
            * EXCLUDE (anon_row_count),
            least(2048, anon_row_count - 2048 * unnest(range((anon_row_count + 2047) // 2048))) AS anon_batch
        FROM :counted
    ) AS anon_batches
) AS anon_numbered;
