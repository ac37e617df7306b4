-- Counterfeits: rows that were invented so that classes are large enough, and what they do to what a release tells.

-- How many counterfeits a class needs to have k rows.
--
-- Returns: the type of class_size; 0 for a class that is large enough.
-- Source: Lee et al. 2017, algorithm 1.
-- Example:
--   SELECT sum(anon.missing_rows(class_size, 4)) AS counterfeits FROM anon.class_sizes('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon.missing_rows(class_size, k) AS greatest(k - class_size, 0);

-- Reconstruction error of a value that is published as one of `leaf_count` equally likely values, in a row that is real
-- with a probability of `truth`: the squared distance between what is known of the value and the value itself.
--
-- Returns: DOUBLE in [0, 1]; 0 for a value that is published as it is in a row that is known to be real.
-- Source: Lee et al. 2017, equation of RCE, for discrete values (spec/metrics.md).
-- Example:
--   SELECT anon.reconstruction_error(3, 0.75) AS error;
CREATE OR REPLACE MACRO anon.reconstruction_error(leaf_count, truth) AS
1 - (2 * truth - truth * truth) / leaf_count;
