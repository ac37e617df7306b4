-- The score of each node of a batch, from its combinations of labels and value.
SELECT
    anon_node AS node,
    count(*) AS cell_count,
    anon.node_score_of(anon_rows, anon_ncp, anon_whole, anon_threshold) AS score
FROM anon_combinations
GROUP BY anon_node
