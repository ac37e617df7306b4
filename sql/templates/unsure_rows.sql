-- How many rows each node of a batch puts at risk of not being shown, by the sizes of its classes.
SELECT
    anon_node AS node,
    CAST(sum(anon.unsure_rows_of(anon_rows, anon_threshold)) AS BIGINT) AS unsure_rows
FROM anon_classes
GROUP BY anon_node
