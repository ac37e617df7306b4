-- Closeness, disclosure and likeness: how far the sensitive values of a class are from those of everyone. Measures
-- ending in _of are aggregates over the values of one class, and the engine uses them too.
--
-- In all of them the reference is the table whose distribution an attacker knows anyway: the original table for a
-- release, as in ARX, or the source itself. NULL is a value. Equal values are one value, such as 0.0 and -0.0, and are
-- compared as the type that the columns of both tables fit in: text if one of them is text.

-- The texts of the sensitive values of the source and the reference: the one that stands for all that are equal, the
-- last of them, and their share in the reference, 0 if they are not there.
--
-- A reference without rows is an error if the source has some: without a distribution to be far from, distances would
-- look small.
--
-- Returns: value_text VARCHAR, sensitive_value VARCHAR, value with the type that both columns fit in, reference_rows BIGINT,
-- share DOUBLE in [0, 1]; a row per text.
-- Example:
--   FROM anon_helpers.value_texts('visits', 'diagnosis', 'visits') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.value_texts(source, sensitive, reference) AS TABLE
SELECT value_text, sensitive_value, value, reference_rows, reference_rows / anon_all_rows AS share
FROM (
    SELECT
        anon_text AS value_text,
        max(anon_text) OVER (PARTITION BY anon_value) AS sensitive_value,
        anon_value AS value,
        CASE
            WHEN sum(anon_known_rows) OVER () = 0 THEN error('the reference has no row')
            ELSE CAST(sum(anon_known_rows) OVER (PARTITION BY anon_value) AS BIGINT)
        END AS reference_rows,
        sum(anon_known_rows) OVER () AS anon_all_rows
    FROM (
        SELECT anon_text, any_value(anon_value) AS anon_value, sum(anon_is_known) AS anon_known_rows
        FROM (
            SELECT anon.text_of(COLUMNS([sensitive])) AS anon_text, COLUMNS([sensitive]) AS anon_value, 0 AS anon_is_known
            FROM query_table(anon_helpers.as_source(source))
            UNION ALL
            SELECT anon.text_of(COLUMNS([sensitive])) AS anon_text, COLUMNS([sensitive]) AS anon_value, 1 AS anon_is_known
            FROM query_table(anon_helpers.as_source(reference))
        )
        GROUP BY anon_text
    )
);

-- The share that each sensitive value of the source or the reference has in the reference, see value_texts.
--
-- Returns: sensitive_value VARCHAR, share DOUBLE in [0, 1].
-- Example:
--   FROM anon_helpers.value_shares('visits', 'diagnosis', 'visits') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.value_shares(source, sensitive, reference) AS TABLE
SELECT DISTINCT sensitive_value, share FROM anon_helpers.value_texts(source, sensitive, reference);

-- How often each sensitive value stands in each equivalence class, and its share in the reference, see
-- value_texts.
--
-- Returns: class STRUCT of the quasi-identifiers' values, class_size BIGINT, sensitive_value VARCHAR, row_count BIGINT,
-- reference_share DOUBLE; a row per class and value that stands in it.
-- Example:
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.class_frequencies(source, quasi_identifiers, sensitive, reference) AS TABLE
SELECT
    anon_counts.class,
    CAST(sum(sum(anon_counts.row_count)) OVER (PARTITION BY anon_counts.class) AS BIGINT) AS class_size,
    anon_texts.sensitive_value,
    CAST(sum(anon_counts.row_count) AS BIGINT) AS row_count,
    any_value(anon_texts.share) AS reference_share
FROM anon_helpers.value_counts(source, quasi_identifiers, sensitive) AS anon_counts
INNER JOIN anon_helpers.value_texts(source, sensitive, reference) AS anon_texts
    ON anon_texts.value_text IS NOT DISTINCT FROM anon.text_of(anon_counts.sensitive_value)
GROUP BY anon_counts.class, anon_texts.sensitive_value;

-- guarded: tests/sql/55_closeness.test

-- Earth mover's distance between the values of one class and the reference if all values are equally far apart (an
-- aggregate over the values of the class): the sum of what the class has more of than the reference. A reference share
-- of NULL is 0. Summed with compensation, so that the order of the rows hardly matters.
--
-- Returns: DOUBLE in [0, 1].
-- Source: Li et al. 2007, EMD for categorical attributes with equal distance.
-- Example:
--   SELECT anon_helpers.equal_distance_of(row_count, class_size, reference_share) AS t
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.equal_distance_of(row_count, class_size, reference_share) AS
fsum(greatest(row_count / class_size - coalesce(reference_share, 0.0), 0.0));

-- What it takes to move the rows of a reference to each value of an order, a row by a step being 1: those of lower values
-- up to it, and those of higher ones down to it.
--
-- reference: a relation with a row per value: position, from 1 without a gap, and row_count.
-- Returns: position, reference_rows DOUBLE, which is all of them, cumulative_share DOUBLE in [0, 1], work_below DOUBLE,
-- work_above DOUBLE, most_work DOUBLE, that from one end to the other.
-- Example:
--   WITH ages AS (FROM anon_helpers.value_positions('visits', 'age', 'visits'))
--   FROM anon_helpers.reference_work('ages') ORDER BY position;
CREATE OR REPLACE MACRO anon_helpers.reference_work(reference) AS TABLE
SELECT
    position,
    anon_all_rows AS reference_rows,
    anon_rows_up_to / nullif(anon_all_rows, 0e0) AS cumulative_share,
    position * anon_rows_up_to - anon_moment AS work_below,
    (anon_all_moment - anon_moment) - position * (anon_all_rows - anon_rows_up_to) AS work_above,
    anon_all_rows * (anon_positions - 1) AS most_work
FROM (
    SELECT
        position,
        CAST(sum(row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_rows_up_to,
        CAST(sum(position * row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_moment,
        CAST(sum(row_count) OVER () AS DOUBLE) AS anon_all_rows,
        CAST(sum(position * row_count) OVER () AS DOUBLE) AS anon_all_moment,
        count(*) OVER () AS anon_positions
    FROM query_table(anon_helpers.as_source(reference))
);

-- The interval of shares that a share is in, of 1,024 that are equally long: a power of two, so that nothing is rounded.
--
-- Returns: BIGINT.
-- Example:
--   SELECT anon_helpers.share_slot(0.5) AS slot;
CREATE OR REPLACE MACRO anon_helpers.share_slot(share) AS CAST(floor(share * 1024e0) AS BIGINT);

-- Where the cumulative share of a reference first exceeds a given share, from least_share up to next_share: the position, and
-- what it takes to move the rows below up to it. Cut into slots, see share_slot, so that it is found by an equal join.
--
-- work: a relation such as reference_work returns.
-- Returns: slot BIGINT, least_share DOUBLE, next_share DOUBLE, crossing, which is a position, crossing_work DOUBLE.
-- Example:
--   WITH ages AS (FROM anon_helpers.value_positions('visits', 'age', 'visits')),
--   work AS (FROM anon_helpers.reference_work('ages'))
--   SELECT DISTINCT * EXCLUDE (slot) FROM anon_helpers.reference_crossings('work') ORDER BY crossing;
CREATE OR REPLACE MACRO anon_helpers.reference_crossings(work) AS TABLE
SELECT
    unnest(range(anon_helpers.share_slot(anon_least_share), anon_helpers.share_slot(anon_next_share) + 1)) AS slot,
    anon_least_share AS least_share,
    anon_next_share AS next_share,
    anon_position AS crossing,
    anon_work AS crossing_work
FROM (
    SELECT
        position AS anon_position,
        work_below AS anon_work,
        coalesce(lag(cumulative_share) OVER (ORDER BY position ASC), 0e0) AS anon_least_share,
        cumulative_share AS anon_next_share
    FROM query_table(anon_helpers.as_source(work))
)
WHERE anon_least_share < anon_next_share;

-- What it takes to move the rows of a class to where those of the reference are, from one value of the class to its next
-- one: the sum of |rows_up_to * reference_rows - class_size * R| over the positions from the one to the other, R being the
-- rows of the reference up to a position.
--
-- R only grows, and the rest is the same between two values of a class, so that the sum follows from what is known of three
-- positions: of both values, and of the one where R / reference_rows first exceeds rows_up_to / class_size, see
-- reference_work and reference_crossings. NULL behind the last value. All terms are integers, so that the sum is
-- exact and independent of any order as long as they are below 2^53.
--
-- Returns: DOUBLE.
-- Example:
--   SELECT anon_helpers.work_between(2, 3, 8, 1, 4, 0, 9, 3, 5) AS work;
CREATE OR REPLACE MACRO anon_helpers.work_between(
    rows_up_to, class_size, reference_rows, own_position, next_position, work_below, next_work_below, crossing, crossing_work
) AS
-- |c - a| - |b - c| is twice the point of [a, b] that is nearest to c, less a and b.
rows_up_to * reference_rows * (abs(CAST(crossing AS DOUBLE) - own_position) - abs(CAST(next_position AS DOUBLE) - crossing))
+ class_size * (abs(next_work_below - crossing_work) - abs(crossing_work - work_below));

-- guarded: tests/sql/55_closeness.test
-- no mutants of MAX(most_work): it is the same in all rows

-- Earth mover's distance between the values of one class and the reference if values have an order and neighbours are
-- equally far apart (an aggregate over the values of the class): the mean difference of the cumulative shares over the steps
-- between the first and the last position of the domain; 0 for a domain of one value.
--
-- Returns: DOUBLE in [0, 1].
-- Source: Li et al. 2007, EMD for numerical attributes.
-- Example:
--   SELECT anon_helpers.ordered_distance_of(row_count, work_between, work_below, work_above, most_work) AS t
--   FROM anon_helpers.class_distributions('visits', ['sex'], 'age', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.ordered_distance_of(row_count, work_between, work_below, work_above, most_work) AS
(coalesce(fsum(work_between), 0e0) + sum(row_count) * (min(work_below) + min(work_above)))
/ (sum(row_count) * greatest(max(most_work), 1e0));

-- guarded: tests/sql/55_closeness.test

-- How many times more rows a value has than its share in the reference, infinity for a value that is not there. Over the
-- rows of the class that is the ratio q / p of its shares in the class and in the reference.
--
-- Returns: DOUBLE, above 0.
-- Example:
--   SELECT anon_helpers.rows_over_share(3, 0.2) AS ratio;
CREATE OR REPLACE MACRO anon_helpers.rows_over_share(row_count, reference_share) AS
CASE
    WHEN coalesce(reference_share, 0.0) = 0.0 THEN CAST('infinity' AS DOUBLE)
    ELSE row_count / reference_share
END;

-- guarded: tests/sql/55_closeness.test

-- delta of delta-disclosure attained by one class (an aggregate over its values): the largest |log2(q / p)| of a
-- value's share in the class and in the reference; infinity for a value that is not in the reference. As in ARX the
-- logarithm is binary and values that are not in the class do not count, whose logarithm is infinite. The class is
-- delta-disclosure private for every greater delta, strictly.
--
-- Returns: DOUBLE, at least 0, in bits.
-- Source: Brickell and Shmatikov 2008, delta-disclosure privacy.
-- Example:
--   SELECT anon_helpers.disclosure_of(row_count, reference_share) AS delta
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.disclosure_of(row_count, reference_share) AS
-- Not log2, which sqlglot would spell as another logarithm with other last digits.
greatest(
    ln(max(anon_helpers.rows_over_share(row_count, reference_share)) / sum(row_count)),
    -ln(min(anon_helpers.rows_over_share(row_count, reference_share)) / sum(row_count))
) / ln(2.0);

-- guarded: tests/sql/55_closeness.test

-- beta of basic beta-likeness attained by one class (an aggregate over its values): the largest relative gain
-- (q - p) / p of a value's share in the class over its share in the reference, 0 if none grows, infinity for a value
-- that is not in the reference. The class is beta-like if this is at most beta.
--
-- Returns: DOUBLE, at least 0.
-- Source: Cao and Karras 2012, basic beta-likeness.
-- Example:
--   SELECT anon_helpers.basic_likeness_of(row_count, reference_share) AS beta
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.basic_likeness_of(row_count, reference_share) AS
greatest(max(anon_helpers.rows_over_share(row_count, reference_share)) / sum(row_count) - 1, 0.0);

-- guarded: tests/sql/55_closeness.test

-- beta of enhanced beta-likeness attained by one class (an aggregate over its values): the largest relative gain of any
-- value, or infinity if the gain of some value exceeds -ln(p), the bound that holds whatever beta is. The class is
-- beta-like if this is at most beta.
--
-- Returns: DOUBLE, at least 0.
-- Source: Cao and Karras 2012, enhanced beta-likeness.
-- Example:
--   SELECT anon_helpers.enhanced_likeness_of(row_count, reference_share) AS beta
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.enhanced_likeness_of(row_count, reference_share) AS
CASE
    -- q / p - 1 > -ln(p), with the class size on the other side.
    WHEN max(anon_helpers.rows_over_share(row_count, reference_share) / (1 - ln(nullif(reference_share, 0.0)))) > sum(row_count)
        THEN CAST('infinity' AS DOUBLE)
    ELSE anon_helpers.basic_likeness_of(row_count, reference_share)
END;

-- How far the values of each equivalence class are from the reference, for values without order or taxonomy.
--
-- Returns: class_size BIGINT, equal_distance DOUBLE, disclosure DOUBLE, basic_likeness DOUBLE, enhanced_likeness
-- DOUBLE.
-- Example:
--   FROM anon_helpers.class_closeness('visits', ['sex'], 'diagnosis', 'visits') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.class_closeness(source, quasi_identifiers, sensitive, reference) AS TABLE
SELECT
    any_value(class_size) AS class_size,
    anon_helpers.equal_distance_of(row_count, class_size, reference_share) AS equal_distance,
    anon_helpers.disclosure_of(row_count, reference_share) AS disclosure,
    anon_helpers.basic_likeness_of(row_count, reference_share) AS basic_likeness,
    anon_helpers.enhanced_likeness_of(row_count, reference_share) AS enhanced_likeness
FROM anon_helpers.class_frequencies(source, quasi_identifiers, sensitive, reference)
GROUP BY class;

-- guarded: tests/sql/55_closeness.test

-- t-closeness attained with equal ground distance: the largest distance of any equivalence class from the reference,
-- see equal_distance_of; NULL for a table without rows.
--
-- Job: privacy.
-- Returns: one row: t DOUBLE in [0, 1].
-- Source: Li et al. 2007, the t-closeness principle.
-- Example:
--   FROM anon.t_closeness('visits', ['sex'], 'diagnosis', 'visits');
CREATE OR REPLACE MACRO anon.t_closeness(source, quasi_identifiers, sensitive, reference) AS TABLE
SELECT max(equal_distance) AS t
FROM anon_helpers.class_closeness(source, quasi_identifiers, sensitive, reference);

-- delta-disclosure attained: the largest delta of any equivalence class, see disclosure_of; NULL for a table
-- without rows. The table is delta-disclosure private for every greater delta, strictly.
--
-- Job: privacy.
-- Returns: one row: delta DOUBLE, in bits.
-- Source: Brickell and Shmatikov 2008, delta-disclosure privacy.
-- Example:
--   FROM anon.delta_disclosure('visits', ['sex'], 'diagnosis', 'visits');
CREATE OR REPLACE MACRO anon.delta_disclosure(source, quasi_identifiers, sensitive, reference) AS TABLE
SELECT max(disclosure) AS delta
FROM anon_helpers.class_closeness(source, quasi_identifiers, sensitive, reference);

-- beta-likeness attained: the largest beta of any equivalence class, see basic_likeness_of and
-- enhanced_likeness_of; NULL for a table without rows.
--
-- Job: privacy.
-- Returns: one row: basic DOUBLE, enhanced DOUBLE.
-- Source: Cao and Karras 2012, basic and enhanced beta-likeness.
-- Example:
--   FROM anon.beta_likeness('visits', ['sex'], 'diagnosis', 'visits');
CREATE OR REPLACE MACRO anon.beta_likeness(source, quasi_identifiers, sensitive, reference) AS TABLE
SELECT max(basic_likeness) AS basic, max(enhanced_likeness) AS enhanced
FROM anon_helpers.class_closeness(source, quasi_identifiers, sensitive, reference);

-- The values of the source and the reference in their order, numbered from 1: that of the sensitive column's type, or
-- of the type that both columns fit in, NULL last, as in ARX. Text is in the order of its code points; for another
-- order give the column an ENUM type. Numbers that a table keeps as text are in the order of text: cast them.
--
-- Returns: sensitive_value VARCHAR, position BIGINT, row_count BIGINT, the rows of the reference.
-- Example:
--   FROM anon_helpers.value_positions('visits', 'age', 'visits') ORDER BY position;
CREATE OR REPLACE MACRO anon_helpers.value_positions(source, sensitive, reference) AS TABLE
SELECT
    anon_value AS sensitive_value,
    row_number() OVER (ORDER BY min(anon_order) IS NULL ASC, min(anon_order) ASC, anon_value ASC) AS position,
    any_value(anon_rows) AS row_count
FROM (
    SELECT sensitive_value AS anon_value, value AS anon_order, reference_rows AS anon_rows
    FROM anon_helpers.value_texts(source, sensitive, reference)
)
GROUP BY anon_value;

-- How far the sensitive values of each equivalence class are from the reference, over the order of value_positions: of
-- each value what it takes to move rows between it and the next one, and the rows of the reference to it; see
-- work_between and reference_work.
--
-- How it goes. The values of each class in their order, with the rows up to each and the next value; where the cumulative share of
-- the reference crosses that of the class between both, if it does; and the work from these.
--
-- Returns: class STRUCT of the quasi-identifiers' values, position BIGINT, row_count BIGINT, work_between DOUBLE, NULL for the
-- last value, work_below DOUBLE, work_above DOUBLE, most_work DOUBLE; a row per class and value that stands in it.
-- Example:
--   FROM anon_helpers.class_distributions('visits', ['sex'], 'age', 'visits') ORDER BY ALL LIMIT 3;
CREATE OR REPLACE MACRO anon_helpers.class_distributions(source, quasi_identifiers, sensitive, reference) AS TABLE
WITH anon_positions AS MATERIALIZED (
    SELECT * FROM anon_helpers.value_positions(source, sensitive, reference)
),
anon_work AS MATERIALIZED (
    SELECT * FROM anon_helpers.reference_work('anon_positions')
),
anon_values AS (
    SELECT
        anon_counts.class AS anon_class,
        anon_counts.class_size AS anon_size,
        anon_counts.row_count AS anon_rows,
        sum(anon_counts.row_count) OVER anon_up_to_here AS anon_rows_up_to,
        lead(anon_work.position) OVER anon_up_to_here AS anon_next_position,
        lead(anon_work.work_below) OVER anon_up_to_here AS anon_next_work,
        anon_work.*
    FROM anon_helpers.class_frequencies(source, quasi_identifiers, sensitive, reference) AS anon_counts
    INNER JOIN anon_positions ON anon_positions.sensitive_value IS NOT DISTINCT FROM anon_counts.sensitive_value
    INNER JOIN anon_work ON anon_work.position = anon_positions.position
    WINDOW anon_up_to_here AS (
        PARTITION BY anon_counts.class ORDER BY anon_work.position ASC ROWS UNBOUNDED PRECEDING
    )
)
SELECT
    anon_values.anon_class AS class,
    anon_values.position,
    anon_values.anon_rows AS row_count,
    anon_helpers.work_between(
        anon_values.anon_rows_up_to,
        anon_values.anon_size,
        anon_values.reference_rows,
        anon_values.position,
        anon_values.anon_next_position,
        anon_values.work_below,
        anon_values.anon_next_work,
        anon_crossings.crossing,
        anon_crossings.crossing_work
    ) AS work_between,
    anon_values.work_below,
    anon_values.work_above,
    anon_values.most_work
FROM anon_values
LEFT JOIN anon_helpers.reference_crossings('anon_work') AS anon_crossings
    ON anon_crossings.slot = anon_helpers.share_slot(anon_values.anon_rows_up_to / anon_values.anon_size)
    AND anon_crossings.least_share <= anon_values.anon_rows_up_to / anon_values.anon_size
    AND anon_crossings.next_share > anon_values.anon_rows_up_to / anon_values.anon_size;

-- t-closeness attained with ordered ground distance: the largest distance of any equivalence class from the reference,
-- see ordered_distance_of and value_positions; NULL for a table without rows.
--
-- Job: privacy.
-- Returns: one row: t DOUBLE in [0, 1].
-- Source: Li et al. 2007, the t-closeness principle.
-- Example:
--   FROM anon.ordered_t_closeness('visits', ['sex'], 'age', 'visits');
CREATE OR REPLACE MACRO anon.ordered_t_closeness(source, quasi_identifiers, sensitive, reference) AS TABLE
SELECT max(anon_distance) AS t
FROM (
    SELECT anon_helpers.ordered_distance_of(row_count, work_between, work_below, work_above, most_work) AS anon_distance
    FROM anon_helpers.class_distributions(source, quasi_identifiers, sensitive, reference)
    GROUP BY class
);

-- t-closeness attained with hierarchical ground distance: the largest distance of any equivalence class from the
-- reference if two values are as far apart as the level of their lowest common label over the height of the taxonomy,
-- which is stored under the sensitive column's own name; NULL for a table without rows.
--
-- Moving rows through a tree costs the same per level, so that the distance is the mean over the levels below the top
-- of the equal distance of their labels. A value that the taxonomy does not know is an error; NULL is a label of its
-- own below the top unless the taxonomy has it.
--
-- How it goes. The labels of each value at each level below the top; their rows in each class and their share in the reference;
-- the equal distance of both at each level, and its mean.
--
-- Job: privacy.
-- Returns: one row: t DOUBLE in [0, 1].
-- Source: Li et al. 2007, the t-closeness principle; EMD for categorical attributes with hierarchical distance.
-- Example:
--   FROM anon.hierarchical_t_closeness('visits', ['sex'], 'zip', 'visits');
CREATE OR REPLACE MACRO anon.hierarchical_t_closeness(source, quasi_identifiers, sensitive, reference) AS TABLE
WITH anon_counts AS (
    SELECT class AS anon_class, class_size AS anon_size, sensitive_value AS anon_value, row_count AS anon_rows
    FROM anon_helpers.class_frequencies(source, quasi_identifiers, sensitive, reference)
),
anon_shares AS (
    SELECT sensitive_value AS anon_value, share AS anon_share FROM anon_helpers.value_shares(source, sensitive, reference)
),
anon_labels AS (
    SELECT
        anon_shares.anon_value,
        anon_levels.anon_level,
        anon.label_of(sensitive, anon_levels.anon_level, anon_shares.anon_value) AS anon_label
    FROM anon_shares
    CROSS JOIN (
        -- A taxonomy of nothing but its values, or none at all, still has its level 0 looked at.
        SELECT unnest(range(0, greatest(max(anon_heights.height), 1))) AS anon_level
        FROM anon.taxonomy_heights() AS anon_heights
        WHERE anon_heights.attribute = sensitive
    ) AS anon_levels
),
anon_class_labels AS (
    SELECT
        anon_counts.anon_class,
        any_value(anon_counts.anon_size) AS anon_size,
        anon_labels.anon_level,
        anon_labels.anon_label,
        sum(anon_counts.anon_rows) AS anon_rows
    FROM anon_counts
    INNER JOIN anon_labels ON anon_labels.anon_value IS NOT DISTINCT FROM anon_counts.anon_value
    GROUP BY anon_counts.anon_class, anon_labels.anon_level, anon_labels.anon_label
),
anon_reference_labels AS (
    SELECT anon_labels.anon_level, anon_labels.anon_label, sum(anon_shares.anon_share) AS anon_share
    FROM anon_shares
    INNER JOIN anon_labels ON anon_labels.anon_value IS NOT DISTINCT FROM anon_shares.anon_value
    GROUP BY anon_labels.anon_level, anon_labels.anon_label
)
SELECT max(anon_distance) AS t
FROM (
    SELECT
        anon_helpers.equal_distance_of(
            anon_class_labels.anon_rows, anon_class_labels.anon_size, anon_reference_labels.anon_share
        ) / count(DISTINCT anon_class_labels.anon_level) AS anon_distance
    FROM anon_class_labels
    INNER JOIN anon_reference_labels
        ON anon_reference_labels.anon_level = anon_class_labels.anon_level
        AND anon_reference_labels.anon_label IS NOT DISTINCT FROM anon_class_labels.anon_label
    GROUP BY anon_class_labels.anon_class
);
