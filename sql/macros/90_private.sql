-- What differentially private methods count, and the score by which they choose a node. Noise is not drawn in SQL.

-- guarded: tests/sql/90_private.test

-- How many rows of a combination of labels and value a node puts at risk of not being shown: all below the threshold,
-- none from twice that on. Adding a row changes it by 1 at most, so that it can be used where a row must not matter more.
--
-- Returns: BIGINT, or the type of row_count if that is wider.
-- Source: spec of the corrected mechanism of Lee and Chung 2020: min(n, max(0, 2 (T - 1) - n)).
-- Example:
--   SELECT anon_helpers.unsure_rows_of(row_count, 24) AS unsure FROM (VALUES (10), (30), (50)) AS cells (row_count);
CREATE OR REPLACE MACRO anon_helpers.unsure_rows_of(row_count, threshold) AS
least(row_count, greatest(0, 2 * (CAST(threshold AS BIGINT) - 1) - row_count));

-- guarded: tests/sql/90_private.test

-- The score of a node, the larger the better: minus the rows that it puts at risk, and minus, for the other rows, the
-- share of their information that its labels lose (an aggregate over combinations of labels and value). `loss`
-- is that share, NCP for one, counted in parts of `whole`; with integers the score is exact, and adding a row changes it
-- by `whole` at most.
--
-- Returns: the type of loss * row_count, at most 0.
-- Source: spec of the corrected mechanism of Lee and Chung 2020, step 1.
-- Example:
--   SELECT anon_helpers.node_score_of(row_count, loss, 1000, 24) AS score
--   FROM (VALUES (10, 137), (50, 137)) AS cells (row_count, loss);
CREATE OR REPLACE MACRO anon_helpers.node_score_of(row_count, loss, whole, threshold) AS
-sum(loss * row_count + (whole - loss) * anon_helpers.unsure_rows_of(row_count, threshold));

-- How much a value speaks for itself in a class when a counterfeit row gets a value in IPA as published: by its share of
-- the rows, or, if the class does not have it, by what one more row leaves to all such values together. value_count is
-- the number of values in the whole table, class_values that of the values in the class.
--
-- Returns: DOUBLE in [0, 1]; NULL for a value that the class does not have if it has all values.
-- Source: Lee and Chung 2020, equation 3.
-- Example:
--   SELECT anon_helpers.value_score_of(2, 3, 5, 2) AS present, anon_helpers.value_score_of(0, 3, 5, 2) AS absent;
CREATE OR REPLACE MACRO anon_helpers.value_score_of(row_count, class_size, value_count, class_values) AS
CASE
    WHEN row_count > 0 THEN row_count / (class_size + 1)
    ELSE 1 / ((class_size + 1) * nullif(value_count - class_values, 0))
END;

-- The weight with which a value of a score is drawn in IPA as published, where scores are said to have sensitivity 1.
--
-- Returns: DOUBLE of 1 or more; NULL for no score.
-- Source: Lee and Chung 2020, equation 4.
-- Example:
--   SELECT anon_helpers.value_weight_of(anon_helpers.value_score_of(2, 3, 5, 2), 0.3) AS weight;
CREATE OR REPLACE MACRO anon_helpers.value_weight_of(score, epsilon) AS exp(epsilon * score / 2);
