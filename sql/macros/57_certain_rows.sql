-- What one class proves about every less general node: how many of its rows are suppressed there, whatever else is. Macros
-- ending in _certainty_of are aggregates over the values of one class, and the engine uses them too.
--
-- A less general node splits a class of n rows with shares P into classes of n_i rows with shares P_i, so that P is the mean
-- of P_i with weights n_i / n. Let g be convex, g <= t in every class that is kept, g <= G where all rows have one value of
-- the class, and s rows be suppressed. Then s >= n (g(P) - t) / (G - t) if g(P) > t.
-- Proof: g(P) <= sum (n_i / n) g(P_i) <= (s / n) G + (1 - s / n) t, since a convex g is largest where all rows are alike.
--
-- A measure f that is convex has linear g <= f with g(P) = f(P). Their G is smaller, so that they prove more than f itself.
-- The proof holds for rows, because a row falls into one part; an individual may stand in several.

-- guarded: tests/sql/57_certain_rows.test
-- no mutants of excess > 1e-9: both are 0 at 1e-9

-- The share of the rows of a class that is certainly suppressed, from how much the class exceeds a bound and how much rows
-- that are all alike could: g(P) - t and G - t above.
--
-- Both are taken to be off by 1e-9 for the worse. That is far more than sums of floats are off by, so that the rows of the
-- share, rounded up, are never too many; and it costs no more than a row in 1e9, unless G is nearly t.
--
-- Returns: DOUBLE in [0, 1); 0 if excess is NULL.
-- Example:
--   SELECT anon_helpers.certain_share(0.5 - 0.2, 0.8 - 0.2) AS share;
CREATE OR REPLACE MACRO anon_helpers.certain_share(excess, largest_excess) AS
CASE WHEN excess > 1e-9 THEN (excess - 1e-9) / (largest_excess + 1e-9) ELSE 0e0 END;

-- guarded: tests/sql/57_certain_rows.test

-- Rows that every less general node suppresses as well (an aggregate over classes): all rows of a class that is certainly
-- not kept, and of any other as many as a certain share makes, rounded up.
--
-- Returns: BIGINT.
-- Example:
--   SELECT anon_helpers.certain_rows_of(class_size, class_size >= 2, 0.3) AS suppressed FROM anon.class_sizes('visits', ['age']);
CREATE OR REPLACE MACRO anon_helpers.certain_rows_of(class_size, kept, certain_share) AS
CAST(coalesce(sum(CASE WHEN kept THEN ceil(class_size * certain_share) ELSE class_size END), 0) AS BIGINT);

-- guarded: tests/sql/57_certain_rows.test

-- The rows that every less general node suppresses at least if the mean over its published rows may be at_most: less general
-- classes have no smaller sum, and a row adds at most 1 to it, so that without s rows the mean is (total - s) / (rows - s) or
-- more.
--
-- at_most is taken to be 1e-9 larger, which is far more than the sum is off by.
--
-- total: the sum over all rows. at_most: below 1.
-- Returns: BIGINT.
-- Example:
--   SELECT anon_helpers.rows_above_mean(unique_rows, row_count, 0.05) AS suppressed FROM anon.sample_uniqueness('visits', ['age']);
CREATE OR REPLACE MACRO anon_helpers.rows_above_mean(total, row_count, at_most) AS
CAST(greatest(ceil((total - (at_most + 1e-9) * row_count) / (1 - at_most)), 0) AS BIGINT);

-- The share of the rows of one class that is certainly suppressed if no value may have more than the share alpha: the most
-- that its one, two or three most frequent values prove. g is the share of these j, t is j alpha, G is 1.
--
-- More than 1 / alpha values prove nothing, and to look at all takes twice as long as all else of a class.
--
-- Returns: DOUBLE in [0, 1).
-- Source: Wong et al. 2006 for the model; the lemma above.
-- Example:
--   SELECT anon_helpers.largest_share_certainty_of(row_count, 0.5) AS share
--   FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.largest_share_certainty_of(row_count, alpha) AS
greatest(
    anon_helpers.certain_share(anon_helpers.largest_share_of(row_count) - alpha, 1 - alpha),
    anon_helpers.certain_share(list_sum(max(row_count, 2)) / sum(row_count) - 2 * alpha, 1 - 2 * alpha),
    anon_helpers.certain_share(list_sum(max(row_count, 3)) / sum(row_count) - 3 * alpha, 1 - 3 * alpha)
);

-- The same if classes are to have entropy log l: g is the sum of P'_v log P_v, which is the negative entropy for P' = P and
-- no more for any other P'; G is the logarithm of the largest share.
--
-- Returns: DOUBLE in [0, 1).
-- Source: Machanavajjhala et al. 2007, definition 4.1, for the model; the lemma above, with the inequality of Gibbs.
-- Example:
--   SELECT anon_helpers.entropy_diversity_certainty_of(row_count, 2.5) AS share
--   FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.entropy_diversity_certainty_of(row_count, l) AS
anon_helpers.certain_share(
    ln(l) - ln(anon_helpers.entropy_diversity_of(row_count)), ln(l) + ln(anon_helpers.largest_share_of(row_count))
);

-- The same if classes are to be recursive (c, l)-diverse: the l - 1 most frequent values lose what they have more than c
-- times the rows of the rare ones.
--
-- With shares p descending and the rare ones r = p_l + ... + p_m, the mean of any j < l largest shares less c r is convex,
-- and no more than p_1 - c r, which is at most 0 in a class that is kept; G is 1 / j. So p_1 + ... + p_j - j c r are lost.
--
-- Returns: DOUBLE in [0, 1). l must be a constant of at least 2.
-- Source: Machanavajjhala et al. 2007, definition 4.2, for the model; the lemma above.
-- Example:
--   SELECT anon_helpers.recursive_ratio_certainty_of(row_count, 2, 1.5) AS share
--   FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.recursive_ratio_certainty_of(row_count, l, c) AS
anon_helpers.certain_share(
    list_sum(list_transform(
        list_slice(max(row_count, l), 1, l - 1),
        lambda anon_frequent: greatest(
            anon_frequent / sum(row_count)
            - c * ((sum(row_count) - list_sum(list_slice(max(row_count, l), 1, l - 1))) / sum(row_count)),
            0.0
        )
    )),
    1
);

-- The same if classes are to be within distance t of the reference and values have a taxonomy of a height (an aggregate over
-- the labels of the class at all levels below the top).
--
-- g is the mean over the levels of the share of the labels that the class has no less of than the reference, less their share
-- there; G is the mean of 1 less the latter.
--
-- Returns: DOUBLE in [0, 1).
-- Source: Li et al. 2007, EMD for categorical attributes with hierarchical distance, for the model; the lemma above.
-- Example:
--   SELECT anon_helpers.hierarchical_distance_certainty_of(anon_rows, 4, anon_share, 1, 0.2) AS share
--   FROM (VALUES (3, 0.25), (1, 0.5)) AS anon_labels (anon_rows, anon_share);
CREATE OR REPLACE MACRO anon_helpers.hierarchical_distance_certainty_of(row_count, class_size, reference_share, height, t) AS
anon_helpers.certain_share(
    anon_helpers.equal_distance_of(row_count, class_size, reference_share) / height - t,
    1
    - coalesce(sum(reference_share) FILTER (WHERE row_count / class_size >= reference_share), 0.0) / height
    - t
);

-- The same if all values are equally far apart: there is one level.
--
-- Returns: DOUBLE in [0, 1).
-- Source: Li et al. 2007, EMD for categorical attributes with equal distance, for the model; the lemma above.
-- Example:
--   SELECT anon_helpers.equal_distance_certainty_of(row_count, class_size, reference_share, 0.2) AS share
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.equal_distance_certainty_of(row_count, class_size, reference_share, t) AS
anon_helpers.hierarchical_distance_certainty_of(row_count, class_size, reference_share, 1, t);

-- The largest of the distances that rows would have from the reference if all had one value of the class (an aggregate over
-- its values, as in ordered_distance_of).
--
-- Returns: DOUBLE in [0, 1].
-- Source: Li et al. 2007, EMD for numerical attributes.
-- Example:
--   SELECT anon_helpers.ordered_reach_of(work_below, work_above, most_work) AS farthest
--   FROM anon_helpers.class_distributions('visits', ['sex'], 'age', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.ordered_reach_of(work_below, work_above, most_work) AS
max(work_below + work_above) / greatest(max(most_work), 1e0);

-- The share of the rows of one class that is certainly suppressed if classes are to be within distance t of the reference
-- and values have an order (an aggregate over the values of the class): g is the distance, G is the farthest.
--
-- Returns: DOUBLE in [0, 1).
-- Source: Li et al. 2007, EMD for numerical attributes, for the model; the lemma above.
-- Example:
--   SELECT anon_helpers.ordered_distance_certainty_of(row_count, work_between, work_below, work_above, most_work, 0.2) AS share
--   FROM anon_helpers.class_distributions('visits', ['sex'], 'age', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.ordered_distance_certainty_of(
    row_count, work_between, work_below, work_above, most_work, t
) AS
anon_helpers.certain_share(
    anon_helpers.ordered_distance_of(row_count, work_between, work_below, work_above, most_work) - t,
    anon_helpers.ordered_reach_of(work_below, work_above, most_work) - t
);

-- guarded: tests/sql/57_certain_rows.test
-- no mutants of row_count / class_size > largest_share: at the bound, 0 is in excess

-- The same if no value may have more than a share of its own (an aggregate over the values of one class): g is the share of
-- the values that have too much together, t is what they may have, G is 1.
--
-- Returns: DOUBLE in [0, 1).
-- Example:
--   SELECT anon_helpers.share_certainty_of(row_count, class_size, 2 * reference_share) AS share
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.share_certainty_of(row_count, class_size, largest_share) AS
anon_helpers.certain_share(
    sum(row_count / class_size - largest_share) FILTER (WHERE row_count / class_size > largest_share),
    1 - sum(largest_share) FILTER (WHERE row_count / class_size > largest_share)
);

-- guarded: tests/sql/57_certain_rows.test

-- The same if classes are to be delta-disclosure private. That values may not be too rare proves nothing: a value that is not
-- in a class at all is allowed.
--
-- Returns: DOUBLE in [0, 1).
-- Source: Brickell and Shmatikov 2008 for the model; the lemma above.
-- Example:
--   SELECT anon_helpers.disclosure_certainty_of(row_count, class_size, reference_share, 0.5) AS share
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.disclosure_certainty_of(row_count, class_size, reference_share, delta) AS
anon_helpers.share_certainty_of(row_count, class_size, exp(delta * ln(2.0)) * coalesce(reference_share, 0.0));

-- The same if classes are to have basic beta-likeness.
--
-- Returns: DOUBLE in [0, 1).
-- Source: Cao and Karras 2012, basic beta-likeness, for the model; the lemma above.
-- Example:
--   SELECT anon_helpers.basic_likeness_certainty_of(row_count, class_size, reference_share, 0.5) AS share
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.basic_likeness_certainty_of(row_count, class_size, reference_share, beta) AS
anon_helpers.share_certainty_of(row_count, class_size, (1 + beta) * coalesce(reference_share, 0.0));

-- The same if classes are to have enhanced beta-likeness.
--
-- Returns: DOUBLE in [0, 1).
-- Source: Cao and Karras 2012, enhanced beta-likeness, for the model; the lemma above.
-- Example:
--   SELECT anon_helpers.enhanced_likeness_certainty_of(row_count, class_size, reference_share, 0.5) AS share
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.enhanced_likeness_certainty_of(row_count, class_size, reference_share, beta) AS
anon_helpers.share_certainty_of(
    row_count,
    class_size,
    -- A value that the reference has no share of has none here, whatever its logarithm is.
    coalesce((1 + least(beta, -ln(nullif(reference_share, 0.0)))) * reference_share, 0.0)
);
