-- Privacy models as measures. Each returns what a table attains; the caller compares it with what it wants.

-- guarded: tests/sql/50_privacy.test

-- k-anonymity attained: the size of the smallest equivalence class; NULL for a table without rows.
--
-- Job: privacy.
-- Returns: one row: k BIGINT, class_count BIGINT, row_count BIGINT.
-- Source: Samarati 2001, definition 2; Sweeney 2002.
-- Example:
--   FROM anon.k_anonymity('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon.k_anonymity(source, quasi_identifiers) AS TABLE
SELECT
    min(class_size) AS k,
    count(*) AS class_count,
    CAST(coalesce(sum(class_size), 0) AS BIGINT) AS row_count
FROM anon.class_sizes(source, quasi_identifiers);

-- The largest k that can be attained by suppressing no more than some rows: the size of the smallest class that
-- cannot be suppressed together with all smaller ones (an aggregate over classes).
--
-- rows_up_to: the rows of all classes of at most this class's size.
-- Returns: the type of class_size; all rows if all may be suppressed.
-- Source: Mazzone 2019, section 4.4 (Inverse OLA).
-- Example:
--   SELECT anon_helpers.best_k_of(class_size, rows_up_to, 2) AS k
--   FROM (SELECT class_size, sum(class_size) OVER (ORDER BY class_size ASC) AS rows_up_to FROM anon.class_sizes('visits', ['sex']));
CREATE OR REPLACE MACRO anon_helpers.best_k_of(class_size, rows_up_to, allowed_rows) AS
coalesce(min(class_size) FILTER (WHERE rows_up_to > allowed_rows), max(rows_up_to));

-- The largest k that a source can attain by suppressing no more than some of its rows; NULL for a table without rows.
--
-- Job: privacy.
-- Returns: one row: k BIGINT.
-- Source: Mazzone 2019, section 4.4 (Inverse OLA).
-- Example:
--   FROM anon.best_k('visits', ['sex'], 2);
CREATE OR REPLACE MACRO anon.best_k(source, quasi_identifiers, allowed_rows) AS TABLE
SELECT CAST(anon_helpers.best_k_of(class_size, anon_rows_up_to, anon_allowed) AS BIGINT) AS k
FROM (
    SELECT class_size, sum(class_size) OVER (ORDER BY class_size ASC) AS anon_rows_up_to, allowed_rows AS anon_allowed
    FROM anon.class_sizes(source, quasi_identifiers)
);

-- The number of distinct sensitive values of one class, from the number of rows of each value (an aggregate).
--
-- Returns: BIGINT.
-- Source: Machanavajjhala et al. 2007, section 4.1.
-- Example:
--   SELECT anon_helpers.distinct_diversity_of(row_count) AS l
--   FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.distinct_diversity_of(row_count) AS count(row_count);

-- guarded: tests/sql/50_privacy.test

-- The effective number of sensitive values of one class, exp(H), from the number of rows of each value (an
-- aggregate); H is the entropy of the values within the class. Exact to about 1e-15 relative.
--
-- Returns: DOUBLE.
-- Source: Machanavajjhala et al. 2007, definition 4.1: a class is entropy l-diverse if H >= log(l).
-- Example:
--   SELECT anon_helpers.entropy_diversity_of(row_count) AS l FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.entropy_diversity_of(row_count) AS
exp(ln(sum(row_count)) - sum(row_count * ln(row_count)) / sum(row_count));

-- guarded: tests/sql/50_privacy.test

-- The share of the most frequent sensitive value of one class, from the number of rows of each value (an aggregate).
--
-- Returns: DOUBLE in (0, 1].
-- Source: Wong et al. 2006, alpha-deassociation: a class is within alpha if no value has a larger share.
-- Example:
--   SELECT anon_helpers.largest_share_of(row_count) AS alpha
--   FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.largest_share_of(row_count) AS max(row_count) / sum(row_count);

-- guarded: tests/sql/50_privacy.test

-- How much the most frequent sensitive value of one class outweighs the rare ones, from the number of rows of each
-- value (an aggregate): r_1 / (r_l + ... + r_m), counts descending; infinity if there are fewer than l values.
--
-- The class is recursive (c, l)-diverse if this is less than c, strictly. Both sides are the nearest doubles of their
-- quotient and of the decimal c, so that equal numbers compare as equal.
--
-- Returns: DOUBLE. l must be a constant of at least 1.
-- Source: Machanavajjhala et al. 2007, definition 4.2.
-- Example:
--   SELECT anon_helpers.recursive_ratio_of(row_count, 2) AS c
--   FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.recursive_ratio_of(row_count, l) AS
coalesce(
    -- max with a second argument returns the list of the l largest counts; element l is NULL if the class has fewer values.
    max(row_count) / (sum(row_count) - list_sum(max(row_count, l)) + list_extract(max(row_count, l), l)),
    CAST('infinity' AS DOUBLE)
);

-- guarded: tests/sql/50_privacy.test

-- The number of individuals that surely stand in one class (an aggregate over its rows). A row whose individual is
-- NULL may belong to anyone, also to an individual counted already: it adds nobody to a class that has an individual.
--
-- Returns: BIGINT, at least 1.
-- Example:
--   SELECT sex, anon_helpers.individuals_of(zip) AS households FROM visits GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.individuals_of(individual) AS greatest(count(DISTINCT individual), 1);

-- k-anonymity of individuals attained, for tables in which an individual may own several rows: the smallest number of
-- distinct individuals in any equivalence class, see individuals_of; NULL for a table without rows.
--
-- It takes 1.5 to 3.4 times as long as count(DISTINCT) by columns that are named: its classes are structs, so that no name of
-- a column can clash.
--
-- Job: privacy.
-- Returns: one row: k BIGINT, class_count BIGINT, row_count BIGINT.
-- Example:
--   FROM anon.k_anonymity_of_individuals('visits', ['sex'], 'zip');
CREATE OR REPLACE MACRO anon.k_anonymity_of_individuals(source, quasi_identifiers, individual) AS TABLE
SELECT
    min(anon_individuals) AS k,
    count(*) AS class_count,
    CAST(coalesce(sum(anon_rows), 0) AS BIGINT) AS row_count
FROM (
    SELECT anon_helpers.individuals_of(sensitive_value) AS anon_individuals, sum(row_count) AS anon_rows
    FROM anon_helpers.value_counts(source, quasi_identifiers, individual)
    GROUP BY class
);

-- The diversity of one sensitive column in every equivalence class, without the class's labels.
--
-- Job: classes.
-- Returns: class_size BIGINT, distinct_diversity BIGINT, entropy_diversity DOUBLE, largest_share DOUBLE.
-- Example:
--   FROM anon.class_diversity('visits', ['sex'], 'diagnosis') ORDER BY ALL;
CREATE OR REPLACE MACRO anon.class_diversity(source, quasi_identifiers, sensitive) AS TABLE
SELECT
    CAST(sum(row_count) AS BIGINT) AS class_size,
    anon_helpers.distinct_diversity_of(row_count) AS distinct_diversity,
    anon_helpers.entropy_diversity_of(row_count) AS entropy_diversity,
    anon_helpers.largest_share_of(row_count) AS largest_share
FROM anon_helpers.value_counts(source, quasi_identifiers, sensitive)
GROUP BY class;

-- Distinct l-diversity attained: the smallest number of distinct sensitive values in any equivalence class;
-- NULL for a table without rows. NULL counts as a value.
--
-- Job: privacy.
-- Returns: one row: l BIGINT.
-- Source: Machanavajjhala et al. 2007, section 4.1.
-- Example:
--   FROM anon.distinct_l_diversity('visits', ['sex'], 'diagnosis');
CREATE OR REPLACE MACRO anon.distinct_l_diversity(source, quasi_identifiers, sensitive) AS TABLE
SELECT min(distinct_diversity) AS l
FROM anon.class_diversity(source, quasi_identifiers, sensitive);

-- Entropy l-diversity attained: the smallest exp(H) of the sensitive values in any equivalence class, rounded to 12
-- decimals, within which it is computed; NULL for a table without rows. NULL counts as a value.
--
-- Job: privacy.
-- Returns: one row: l DOUBLE.
-- Source: Machanavajjhala et al. 2007, definition 4.1.
-- Example:
--   FROM anon.entropy_l_diversity('visits', ['sex'], 'diagnosis');
CREATE OR REPLACE MACRO anon.entropy_l_diversity(source, quasi_identifiers, sensitive) AS TABLE
SELECT round(min(entropy_diversity), 12) AS l
FROM anon.class_diversity(source, quasi_identifiers, sensitive);

-- Recursive (c, l)-diversity attained: the largest r_1 / (r_l + ... + r_m) of any equivalence class, see
-- recursive_ratio_of; infinity if a class has fewer than l values, NULL for a table without rows. NULL counts as a
-- value. The table is (c, l)-diverse for every greater c.
--
-- Job: privacy.
-- Returns: one row: c DOUBLE.
-- Source: Machanavajjhala et al. 2007, definition 4.2.
-- Example:
--   FROM anon.recursive_cl_diversity('visits', ['sex'], 'diagnosis', 2);
CREATE OR REPLACE MACRO anon.recursive_cl_diversity(source, quasi_identifiers, sensitive, l) AS TABLE
SELECT max(anon_ratio) AS c
FROM (
    SELECT anon_helpers.recursive_ratio_of(row_count, l) AS anon_ratio
    FROM anon_helpers.value_counts(source, quasi_identifiers, sensitive)
    GROUP BY class
);

-- (alpha, k)-anonymity attained, in its general form: the largest share of any sensitive value in any equivalence
-- class, and the size of the smallest class; NULL for a table without rows. NULL counts as a value.
--
-- Job: privacy.
-- Returns: one row: alpha DOUBLE in (0, 1], k BIGINT.
-- Source: Wong et al. 2006, the general (alpha, k)-anonymity model, which protects every sensitive value.
-- Example:
--   FROM anon.alpha_k_anonymity('visits', ['sex'], 'diagnosis');
CREATE OR REPLACE MACRO anon.alpha_k_anonymity(source, quasi_identifiers, sensitive) AS TABLE
SELECT max(largest_share) AS alpha, min(class_size) AS k
FROM anon.class_diversity(source, quasi_identifiers, sensitive);
