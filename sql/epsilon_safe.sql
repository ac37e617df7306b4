-- ε-safe anonymization: the rows at risk at a node, the sizes of classes, and the cells of a sample.
--
-- :threshold 5
-- :classes (anon_node INTEGER, anon_rows BIGINT)
-- :placed_cells (anon_key_0 BIGINT, anon_row_count BIGINT, anon_place BIGINT)

-- name: unsure_rows
-- rows at risk of not being shown
-- By node of a batch, from the sizes of its classes.
SELECT anon_node AS node, CAST(sum(anon_helpers.unsure_rows_of(anon_rows, :threshold)) AS BIGINT) AS unsure_rows
FROM :classes
GROUP BY anon_node;

-- name: suppressed_rows
-- rows in classes below the threshold
-- By node of a batch.
SELECT anon_node AS node, anon_helpers.suppressed_rows_of(anon_rows, anon_rows >= :threshold) AS suppressed_rows
FROM :classes
GROUP BY anon_node;

-- name: class_sizes
-- classes
-- guarded: tests/unit/test_guarded_queries.py::TestSampledClasses
-- The classes of the node that have k rows or more, in their order.
-- :combinations (anon_place BIGINT, anon_row_count BIGINT)
-- :k 3
SELECT anon_place AS place, anon_row_count AS rows
FROM :combinations
WHERE anon_row_count >= :k
ORDER BY anon_place ASC;

-- name: cell_sizes
-- cells
SELECT anon_row_count AS rows FROM :placed_cells ORDER BY anon_place ASC;

-- name: sampled_cells
-- cells of the sample
-- guarded: tests/unit/test_guarded_queries.py::TestSampledClasses
-- The cells that have rows in the sample, with their number.
-- :sample (anon_place BIGINT, anon_sampled_rows BIGINT)
SELECT * EXCLUDE (anon_place, anon_sampled_rows) REPLACE (anon_sampled_rows AS anon_row_count)
FROM :placed_cells
INNER JOIN :sample USING (anon_place)
WHERE anon_sampled_rows > 0;
