-- The score of each node of a batch, from its combinations of labels and value that reach the threshold; all rows of the
-- others are at risk.
SELECT
    anon_node AS node,
    CAST(sum(anon_rows) AS BIGINT) AS row_count,
    anon.node_score_of(anon_rows, anon_ncp, anon_whole, anon_threshold) AS score
FROM anon_combinations
GROUP BY anon_node
