-- How many rows of each node of a batch are in classes of fewer rows than a threshold.
SELECT
    anon_node AS node,
    anon.suppressed_rows_of(anon_rows, anon_rows >= anon_threshold) AS suppressed_rows
FROM anon_classes
GROUP BY anon_node
