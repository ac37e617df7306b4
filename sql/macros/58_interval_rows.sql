-- What the classes of one node prove about every node between it and a more general one: how many rows are suppressed in each
-- of them, whatever else is. Classes of the less general node are called cells here, and the engine uses these macros, too.
--
-- Every node between the two groups the cells of a class C of the more general one into classes. A score of a model is a number
-- of each cell whose sum is at most 0 over the cells of any class that the model keeps. Let the scores of the cells of C add up
-- to an excess T > 0, and let p > 0 be a price of a row. Then each node between suppresses at least
-- (T - sum of max(score - p size, 0)) / p rows of C, where the sum is over the cells of C.
-- Proof: classes that are kept add up to at most 0, so the suppressed cells X add up to at least T. They add up to at most p times
-- their rows and the sum of max(score - p size, 0) over X, which is at most that over C.
--
-- With the largest score / size of a cell as price, no cell scores beyond it, and T / p rows are suppressed. Lower prices can prove
-- more. Rows may be suppressed for any reason; they are counted as rows, so that nothing here holds for individuals.

-- guarded: tests/sql/58_interval_rows.test

-- The score of a cell where a value may have at most a share of a class, as in (alpha, k)-anonymity, in beta-likeness, and on the
-- upper side of delta-disclosure. It is linear: of the rows of a whole class it makes the sum over its cells.
--
-- In a class S that is kept, the rows of the value are at most the share of the rows of S, so that the scores add up to at most 0.
--
-- Returns: DOUBLE, in rows.
-- Example:
--   SELECT anon_helpers.largest_share_score(8, 10, 0.5) AS score;
CREATE OR REPLACE MACRO anon_helpers.largest_share_score(row_count, cell_size, largest_share) AS
row_count - largest_share * cell_size;

-- guarded: tests/sql/58_interval_rows.test

-- The score of a cell with some rows of a value where a class that has the value has it at least to a share, as on the lower side
-- of delta-disclosure; a cell without the value scores 0.
--
-- A class S that is kept lacks the value, and all of its cells score 0; or it has at least the share of its rows, and the cells of S
-- that have the value have no more rows than S.
--
-- Returns: DOUBLE, in rows.
-- Example:
--   SELECT anon_helpers.least_share_score(1, 10, 0.25) AS score;
CREATE OR REPLACE MACRO anon_helpers.least_share_score(row_count, cell_size, least_share) AS
least_share * cell_size - row_count;

-- guarded: tests/sql/58_interval_rows.test

-- The score of a cell where classes are to be within distance t of the reference (an aggregate over the values of the cell). Each
-- value has a potential; reference_potential is the mean of the potentials over the rows of the reference.
--
-- The earth mover's distance of a class is the sum, over some sets of values with a weight each, of what the share of the set in the
-- class exceeds its share in the reference by, if it does. For the equal distance the sets are the single values, with weight 1; for
-- the hierarchical one the labels of all levels below the top, with 1 over their number of levels; for the ordered one, over m
-- values, all first and all last values of the order, with 1 / (m - 1). Take any of these sets, and let the potential of a value be
-- the sum of the weights of those that have it. The mean potential of a class S less that of the reference is at most its distance,
-- which is at most t if S is kept: so the scores add up to at most 0. The sets whose share in C exceeds that in the reference score
-- most: then the mean potential of C less that of the reference is its distance.
--
-- Returns: DOUBLE, in rows.
-- Source: Li et al. 2007 for the distances; linear programming duality.
-- Example:
--   SELECT anon_helpers.distance_score_of(row_count, potential, 10, 0.5, 0.2) AS score
--   FROM (VALUES (8, 1.0), (2, 0.0)) AS counts (row_count, potential);
CREATE OR REPLACE MACRO anon_helpers.distance_score_of(row_count, potential, cell_size, reference_potential, t) AS
coalesce(sum(row_count * potential), 0e0) - (reference_potential + t) * cell_size;

-- guarded: tests/sql/58_interval_rows.test

-- By how much the scores of the cells of a class exceed 0, less 1e-11 of a row for each row of the class: more than what rounding
-- adds to a sum of scores, or takes from a price.
--
-- Returns: DOUBLE, in rows; not above 0 if nothing is proven.
-- Example:
--   SELECT anon_helpers.score_excess(3.0, 10) AS excess;
CREATE OR REPLACE MACRO anon_helpers.score_excess(score, class_size) AS
score - 1e-11 * class_size;

-- guarded: tests/sql/58_interval_rows.test

-- The rows of a class that every node between suppresses to make up for an excess, at a price of a row, where cells score some
-- sum beyond that price times their rows: the lemma above.
--
-- Returns: DOUBLE, in rows; not above 0 if nothing is proven.
-- Example:
--   SELECT anon_helpers.excess_rows(3.0, 0.5, 0.0) AS suppressed;
CREATE OR REPLACE MACRO anon_helpers.excess_rows(excess, price, beyond) AS
(excess - beyond) / price;

-- guarded: tests/sql/58_interval_rows.test

-- The largest share of a value in a class of basic beta-likeness, from its share in the reference.
--
-- Returns: DOUBLE.
-- Source: Cao and Karras 2012, basic beta-likeness.
-- Example:
--   SELECT anon_helpers.basic_likeness_share(0.1, 2) AS largest_share;
CREATE OR REPLACE MACRO anon_helpers.basic_likeness_share(reference_share, beta) AS
(1 + beta) * reference_share;

-- guarded: tests/sql/58_interval_rows.test

-- The largest share of a value in a class of enhanced beta-likeness, from its share in the reference, above 0.
--
-- Returns: DOUBLE.
-- Source: Cao and Karras 2012, enhanced beta-likeness.
-- Example:
--   SELECT anon_helpers.enhanced_likeness_share(0.1, 2) AS largest_share;
CREATE OR REPLACE MACRO anon_helpers.enhanced_likeness_share(reference_share, beta) AS
(1 + least(beta, -ln(reference_share))) * reference_share;

-- guarded: tests/sql/58_interval_rows.test

-- The largest share of a value in a class of delta-disclosure privacy, from its share in the reference; with -delta the least one
-- of a value that is in the class.
--
-- Returns: DOUBLE.
-- Source: Brickell and Shmatikov 2008, delta-disclosure privacy.
-- Example:
--   SELECT anon_helpers.disclosure_share(0.1, 1.5) AS largest_share, anon_helpers.disclosure_share(0.1, -1.5) AS least_share;
CREATE OR REPLACE MACRO anon_helpers.disclosure_share(reference_share, delta) AS
exp(delta * ln(2.0)) * reference_share;
