-- Re-identification risk of a published table. Risks of an attacker who knows the quasi-identifiers.

-- guarded: tests/sql/70_risk.test

-- The mean over the rows of some classes of what a class is the sum of (an aggregate over classes).
--
-- Returns: DOUBLE; NULL without rows.
-- Example:
--   SELECT anon_helpers.mean_of_rows(1, class_size) AS average_risk FROM anon.class_sizes('visits', ['age']);
CREATE OR REPLACE MACRO anon_helpers.mean_of_rows(total, class_size) AS CAST(sum(total) AS DOUBLE) / sum(class_size);

-- guarded: tests/sql/70_risk.test

-- The rows of a class that are alone in it.
--
-- Returns: BIGINT, 0 or 1.
-- Example:
--   SELECT sum(anon_helpers.unique_rows_of(class_size)) AS unique_rows FROM anon.class_sizes('visits', ['age']);
CREATE OR REPLACE MACRO anon_helpers.unique_rows_of(class_size) AS CAST(class_size = 1 AS BIGINT);

-- Prosecutor risk: the attacker knows that the person is in the table. The highest risk is 1 over the size of
-- the smallest class, the average is the mean over rows of 1 / class size.
--
-- Job: risk.
-- Returns: one row: highest_risk DOUBLE, average_risk DOUBLE; NULL for a table without rows.
-- Source: El Emam 2013, "Guide to the De-Identification of Personal Health Information", chapter 16.
-- Example:
--   FROM anon.prosecutor_risk('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon.prosecutor_risk(source, quasi_identifiers) AS TABLE
SELECT 1.0 / min(class_size) AS highest_risk, anon_helpers.mean_of_rows(1, class_size) AS average_risk
FROM anon.class_sizes(source, quasi_identifiers);

-- Every class of the source or the population table with its size in both; a class counts at least as many people in
-- the population as in the source. Both tables must spell the quasi-identifiers alike; values are compared as text.
--
-- Returns: class_size BIGINT, 0 for a class that only the population has; population_size BIGINT, at least 1.
-- Example:
--   FROM anon_helpers.matched_classes('visits', ['sex'], 'visits') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.matched_classes(source, quasi_identifiers, population) AS TABLE
SELECT
    CAST(anon_sample_size AS BIGINT) AS class_size,
    CAST(greatest(anon_sample_size, anon_population_size) AS BIGINT) AS population_size
FROM (
    SELECT
        COLUMNS(anon_helpers.listed(quasi_identifiers)),
        sum(anon_in_sample) AS anon_sample_size,
        sum(anon_in_population) AS anon_population_size
    FROM (
        SELECT anon.text_of(COLUMNS(anon_helpers.listed(quasi_identifiers))), 1 AS anon_in_sample, 0 AS anon_in_population
        FROM query_table(anon_helpers.as_source(source))
        -- By name: COLUMNS follows the order of each table, and theirs may differ.
        UNION ALL BY NAME
        SELECT anon.text_of(COLUMNS(anon_helpers.listed(quasi_identifiers))), 0 AS anon_in_sample, 1 AS anon_in_population
        FROM query_table(anon_helpers.as_source(population))
    )
    GROUP BY ALL
);

-- Every class of the source with its size there and in the population table, see matched_classes.
--
-- Returns: class_size BIGINT, population_size BIGINT.
-- Example:
--   FROM anon_helpers.population_classes('visits', ['sex'], 'visits') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.population_classes(source, quasi_identifiers, population) AS TABLE
SELECT class_size, population_size
FROM anon_helpers.matched_classes(source, quasi_identifiers, population)
WHERE class_size > 0;

-- k-map attained: the smallest population size of any class of the source, see matched_classes; NULL for a table
-- without rows. Classes without a row of the source do not count.
--
-- Job: privacy.
-- Returns: one row: k BIGINT.
-- Source: Sweeney 2001, "Computational Disclosure Control"; El Emam and Dankar 2008.
-- Example:
--   FROM anon.k_map('visits', ['sex'], 'visits');
CREATE OR REPLACE MACRO anon.k_map(source, quasi_identifiers, population) AS TABLE
SELECT min(population_size) AS k
FROM anon_helpers.population_classes(source, quasi_identifiers, population);

-- delta-presence attained: the smallest and the largest probability that an individual of the population has a row in
-- the source, which is the share of the individual's class that does. Individuals whose class has no row of the source
-- count with 0, as published and as in ARX; NULL if there is nobody in either table.
--
-- The source is (delta_min, delta_max)-present if delta_min <= smallest and largest <= delta_max. Of a table whose small
-- classes were suppressed, smallest_published leaves out the classes without a row, and absent_classes counts them.
--
-- Job: privacy.
-- Returns: one row: smallest DOUBLE, largest DOUBLE, smallest_published DOUBLE, all in [0, 1]; absent_classes BIGINT.
-- Source: Nergiz et al. 2007, delta-presence.
-- Example:
--   FROM anon.delta_presence('visits', ['sex'], 'visits');
CREATE OR REPLACE MACRO anon.delta_presence(source, quasi_identifiers, population) AS TABLE
SELECT
    min(class_size / population_size) AS smallest,
    max(class_size / population_size) AS largest,
    min(class_size / population_size) FILTER (WHERE class_size > 0) AS smallest_published,
    count(*) FILTER (WHERE class_size = 0) AS absent_classes
FROM anon_helpers.matched_classes(source, quasi_identifiers, population);

-- Journalist risk: the attacker does not know whether the person is in the table, but has the population that
-- it was drawn from. The highest risk is 1 over the smallest population size of any published class.
--
-- Job: risk.
-- Returns: one row: highest_risk DOUBLE, average_risk DOUBLE (mean over rows of 1 / population size); NULL for
-- a table without rows.
-- Source: El Emam 2013, chapter 16.
-- Example:
--   FROM anon.journalist_risk('visits', ['sex'], 'visits');
CREATE OR REPLACE MACRO anon.journalist_risk(source, quasi_identifiers, population) AS TABLE
SELECT
    1.0 / min(population_size) AS highest_risk,
    sum(CAST(class_size AS DOUBLE) / population_size) / sum(class_size) AS average_risk
FROM anon_helpers.population_classes(source, quasi_identifiers, population);

-- Marketer risk: the share of the rows that an attacker is expected to match rightly when every row is
-- matched with a person of the population at random within its class. Give the source itself as population
-- where there is none.
--
-- Job: risk.
-- Returns: one row: marketer_risk DOUBLE; NULL for a table without rows.
-- Source: El Emam 2013, chapter 16; Dankar and El Emam 2010.
-- Example:
--   FROM anon.marketer_risk('visits', ['sex'], 'visits');
CREATE OR REPLACE MACRO anon.marketer_risk(source, quasi_identifiers, population) AS TABLE
SELECT sum(CAST(class_size AS DOUBLE) / population_size) / sum(class_size) AS marketer_risk
FROM anon_helpers.population_classes(source, quasi_identifiers, population);

-- Rows that are alone in their class.
--
-- Job: risk.
-- Returns: one row: unique_rows BIGINT, row_count BIGINT, unique_share DOUBLE; the share is NULL for a table
-- without rows.
-- Example:
--   FROM anon.sample_uniqueness('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon.sample_uniqueness(source, quasi_identifiers) AS TABLE
SELECT
    count(*) FILTER (WHERE class_size = 1) AS unique_rows,
    CAST(coalesce(sum(class_size), 0) AS BIGINT) AS row_count,
    anon_helpers.mean_of_rows(anon_helpers.unique_rows_of(class_size), class_size) AS unique_share
FROM anon.class_sizes(source, quasi_identifiers);

-- The share of the rows of some classes that is left where each class keeps one row.
--
-- An aggregate over classes.
-- Returns: DOUBLE in (0, 1]; NULL without rows.
-- Source: Motwani and Xu 2008, "Efficient Algorithms for Masking and Finding Quasi-Identifiers", the distinct ratio.
-- Example:
--   SELECT anon_helpers.distinction_of(class_size) AS distinction FROM anon.class_sizes('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon_helpers.distinction_of(class_size) AS CAST(count(*) AS DOUBLE) / sum(class_size);

-- The share of all pairs of rows of some classes whose two rows are in different classes.
--
-- An aggregate over classes. The pairs are counted exactly, so that it is the same in whatever order classes come.
-- Returns: DOUBLE in [0, 1]; NULL of fewer than two rows, which are no pair.
-- Source: Motwani and Xu 2008, the separation ratio.
-- Example:
--   SELECT anon_helpers.separation_of(class_size) AS separation FROM anon.class_sizes('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon_helpers.separation_of(class_size) AS
1 - sum(CAST(class_size AS HUGEINT) * (class_size - 1))
/ nullif(CAST(sum(CAST(class_size AS HUGEINT)) * (sum(CAST(class_size AS HUGEINT)) - 1) AS DOUBLE), 0);

-- Distinction of some columns: how close they are to a key. Of the rows, the largest share among which no two agree on all
-- of the columns. NULL agrees with NULL.
--
-- Job: columns.
-- Returns: one row: distinction DOUBLE in (0, 1], 1 for a key; NULL for a table without rows.
-- Source: Motwani and Xu 2008, "Efficient Algorithms for Masking and Finding Quasi-Identifiers", the distinct ratio.
-- Example:
--   FROM anon.distinction('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon.distinction(source, columns) AS TABLE
SELECT anon_helpers.distinction_of(class_size) AS distinction
FROM anon.class_sizes(source, columns);

-- Separation by some columns: the share of all pairs of rows whose two rows differ in one of the columns, at least. NULL
-- agrees with NULL.
--
-- Job: columns.
-- Returns: one row: separation DOUBLE in [0, 1], 1 for a key; NULL for a table of fewer than two rows.
-- Source: Motwani and Xu 2008, the separation ratio.
-- Example:
--   FROM anon.separation('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon.separation(source, columns) AS TABLE
SELECT anon_helpers.separation_of(class_size) AS separation
FROM anon.class_sizes(source, columns);

-- The columns of a source that single rows out by themselves: how many rows have a value that fewer than k rows have, most
-- of them first. Such a column is an identifier, or a quasi-identifier that has to be generalized. NULL singles nobody out.
--
-- Job: risk.
-- Returns: column_name VARCHAR, value_count BIGINT (distinct values, without NULL), rare_rows BIGINT, rare_share DOUBLE (of all
-- rows), one row per column.
-- Example:
--   FROM anon.nearly_unique('visits', 2);
CREATE OR REPLACE MACRO anon.nearly_unique(source, k) AS TABLE
WITH anon_values AS (
    SELECT anon_column, anon_value, count(*) AS anon_value_rows
    FROM (
        FROM (SELECT anon.text_of(COLUMNS(*)) FROM query_table(anon_helpers.as_source(source)))
        UNPIVOT INCLUDE NULLS (anon_value FOR anon_column IN (COLUMNS(*)))
    )
    GROUP BY anon_column, anon_value
)
SELECT
    anon_column AS column_name,
    count(anon_value) AS value_count,
    CAST(coalesce(
        sum(anon_value_rows) FILTER (WHERE anon_value IS NOT NULL AND anon_value_rows < anon_helpers.checked_k(k)), 0
    ) AS BIGINT) AS rare_rows,
    rare_rows / sum(anon_value_rows) AS rare_share
FROM anon_values
GROUP BY anon_column
ORDER BY rare_rows DESC, column_name ASC;
