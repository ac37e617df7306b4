-- Privacy models as measures. Each returns what a table attains; the caller compares it with what it wants.

-- k-anonymity attained: the size of the smallest equivalence class; NULL for a table without rows.
--
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

-- The number of distinct sensitive values of one class, from the number of rows of each value (an aggregate).
--
-- Returns: BIGINT.
-- Source: Machanavajjhala et al. 2007, section 4.1.
-- Example:
--   SELECT anon.distinct_diversity_of(row_count) AS l FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon.distinct_diversity_of(row_count) AS count(row_count);

-- The effective number of sensitive values of one class, exp(H), from the number of rows of each value (an
-- aggregate); H is the entropy of the values within the class. Exact to about 1e-15 relative.
--
-- Returns: DOUBLE.
-- Source: Machanavajjhala et al. 2007, definition 4.1: a class is entropy l-diverse if H >= log(l).
-- Example:
--   SELECT anon.entropy_diversity_of(row_count) AS l FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon.entropy_diversity_of(row_count) AS
exp(ln(sum(row_count)) - sum(row_count * ln(row_count)) / sum(row_count));

-- The diversity of one sensitive column in every equivalence class, without the class's labels.
--
-- Returns: class_size BIGINT, distinct_diversity BIGINT, entropy_diversity DOUBLE.
-- Example:
--   FROM anon.class_diversity('visits', ['sex'], 'diagnosis') ORDER BY ALL;
CREATE OR REPLACE MACRO anon.class_diversity(source, quasi_identifiers, sensitive) AS TABLE
SELECT
    CAST(anon_size AS BIGINT) AS class_size,
    anon_distinct AS distinct_diversity,
    anon_entropy AS entropy_diversity
FROM (
    SELECT
        COLUMNS(quasi_identifiers),
        sum(anon_rows) AS anon_size,
        anon.distinct_diversity_of(anon_rows) AS anon_distinct,
        anon.entropy_diversity_of(anon_rows) AS anon_entropy
    FROM (
        SELECT COLUMNS(quasi_identifiers), COLUMNS([sensitive]) AS anon_sensitive, count(*) AS anon_rows
        FROM query_table(source)
        GROUP BY ALL
    )
    GROUP BY ALL
);

-- Distinct l-diversity attained: the smallest number of distinct sensitive values in any equivalence class;
-- NULL for a table without rows. NULL counts as a value.
--
-- Returns: one row: l BIGINT.
-- Source: Machanavajjhala et al. 2007, section 4.1.
-- Example:
--   FROM anon.distinct_l_diversity('visits', ['sex'], 'diagnosis');
CREATE OR REPLACE MACRO anon.distinct_l_diversity(source, quasi_identifiers, sensitive) AS TABLE
SELECT min(distinct_diversity) AS l
FROM anon.class_diversity(source, quasi_identifiers, sensitive);

-- Entropy l-diversity attained: the smallest exp(H) of the sensitive values in any equivalence class; NULL
-- for a table without rows. NULL counts as a value.
--
-- Returns: one row: l DOUBLE.
-- Source: Machanavajjhala et al. 2007, definition 4.1.
-- Example:
--   FROM anon.entropy_l_diversity('visits', ['sex'], 'diagnosis');
CREATE OR REPLACE MACRO anon.entropy_l_diversity(source, quasi_identifiers, sensitive) AS TABLE
SELECT min(entropy_diversity) AS l
FROM anon.class_diversity(source, quasi_identifiers, sensitive);
