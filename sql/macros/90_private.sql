-- What differentially private methods count, and the score by which they choose a node. Noise is not drawn in SQL.

-- How many rows of a combination of labels and value a node puts at risk of not being shown: all below the threshold,
-- none from twice that on. Adding a row changes it by 1 at most, so that it can be used where a row must not matter more.
--
-- Returns: the type of row_count.
-- Source: spec of the corrected mechanism of Lee and Chung 2020: min(n, max(0, 2 (T - 1) - n)).
-- Example:
--   SELECT anon.unsure_rows_of(row_count, 24) AS unsure FROM (VALUES (10), (30), (50)) AS cells (row_count);
CREATE OR REPLACE MACRO anon.unsure_rows_of(row_count, threshold) AS
least(row_count, greatest(0, 2 * (threshold - 1) - row_count));

-- The score of a node, of which the largest is the best: minus the rows that it puts at risk, and of those that it does
-- not, the share of their information that its labels lose (an aggregate over combinations of labels and value). `loss`
-- is that share, NCP for one, counted in parts of `whole`; with integers the score is exact, and adding a row changes it
-- by `whole` at most.
--
-- Returns: the type of loss * row_count, at most 0.
-- Source: spec of the corrected mechanism of Lee and Chung 2020, step 1.
-- Example:
--   SELECT anon.node_score_of(row_count, loss, 1000, 24) AS score FROM (VALUES (10, 137), (50, 137)) AS cells (row_count, loss);
CREATE OR REPLACE MACRO anon.node_score_of(row_count, loss, whole, threshold) AS
-sum(loss * row_count + (whole - loss) * anon.unsure_rows_of(row_count, threshold));
