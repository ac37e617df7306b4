-- What a recipient does with a release that has counterfeits and a catalog of them.
--
-- Such a release has a column class_id, which numbers its classes. Its catalog has a row per group of classes and
-- sensitive value: class_ids BIGINT[], the classes of the group; the sensitive column under its own name; counterfeits
-- BIGINT, how many rows of that value in these classes were invented. A class is in one group at most. Rows that no row
-- of the catalog speaks of are true. Sensitive values are compared as text, and NULL is a value. A catalog of counts has
-- no sensitive column: only anon.class_truths reads it.

-- guarded: tests/sql/86_catalog.test

-- The entries of a catalog, by class and sensitive value. A catalog that does not fit the release is an error: it counts
-- more counterfeits than there are rows of their value, or has a value of a class in two groups.
--
-- Returns: class_ids BIGINT[], the group; class_id BIGINT, sensitive_value VARCHAR; class_rows BIGINT and group_rows
-- BIGINT, how many rows of the class and of its group have the value; counterfeits BIGINT, how many of the group's were
-- invented.
-- Source: Lee et al. 2017, definition 3.
-- Example:
--   WITH released AS (FROM (VALUES (1, 'f', 'flu'), (1, 'f', 'gout'), (2, 'm', 'flu')) AS rows (class_id, sex, ill)),
--   catalog AS (SELECT [1, 2] AS class_ids, 'flu' AS ill, 1 AS counterfeits)
--   FROM anon_helpers.catalog_values('released', 'catalog', 'ill') ORDER BY class_id;
CREATE OR REPLACE MACRO anon_helpers.catalog_values(released, catalog, sensitive) AS TABLE
SELECT
    anon_group AS class_ids,
    anon_class AS class_id,
    anon_value AS sensitive_value,
    anon_class_rows AS class_rows,
    CAST(anon_group_rows AS BIGINT) AS group_rows,
    CASE
        WHEN anon_counterfeits > anon_group_rows
            THEN error('the catalog does not fit the release: it counts more counterfeits than there are such rows')
        WHEN count(*) OVER (PARTITION BY anon_class, anon_value) > 1
            THEN error('the catalog has rows of one value and class in several groups')
        ELSE CAST(anon_counterfeits AS BIGINT)
    END AS counterfeits
FROM (
    SELECT
        anon_listed.anon_group,
        anon_listed.anon_class,
        anon_listed.anon_value,
        anon_listed.anon_counterfeits,
        coalesce(anon_counts.anon_rows, 0) AS anon_class_rows,
        coalesce(sum(anon_counts.anon_rows) OVER (PARTITION BY anon_listed.anon_group, anon_listed.anon_value), 0)
            AS anon_group_rows
    FROM (
        SELECT
            class_ids AS anon_group,
            unnest(class_ids) AS anon_class,
            anon.text_of(COLUMNS([sensitive])) AS anon_value,
            counterfeits AS anon_counterfeits
        FROM query_table(anon_helpers.as_source(catalog))
    ) AS anon_listed
    LEFT JOIN (
        SELECT class_id AS anon_class, anon.text_of(COLUMNS([sensitive])) AS anon_value, count(*) AS anon_rows
        FROM query_table(anon_helpers.as_source(released))
        GROUP BY ALL
    ) AS anon_counts
        ON anon_counts.anon_class = anon_listed.anon_class
        AND anon_counts.anon_value IS NOT DISTINCT FROM anon_listed.anon_value
);

-- guarded: tests/sql/86_catalog.test

-- Probability that a row is true, if all rows of its value in its group are equally likely to be those that were invented.
--
-- counterfeits, row_count: how many rows of the value were invented in the group, NULL without a row of the catalog, and
-- how many there are.
-- Returns: DOUBLE in [0, 1]; 1 for a row that no catalog speaks of.
-- Source: Lee et al. 2017, on RCE with a catalog.
-- Example:
--   SELECT anon_helpers.row_truth(1, 4) AS truth;
CREATE OR REPLACE MACRO anon_helpers.row_truth(counterfeits, row_count) AS
CASE WHEN counterfeits IS NULL THEN 1.0 ELSE 1.0 - counterfeits / row_count END;

-- The rows of a release, each with the probability that it is true, anon_truth: see row_truth, and
-- catalog_values for the errors. It is a weight for anon.estimated_counts and anon.estimated_averages; to ask about
-- some rows only, take them from here.
--
-- Job: answers.
-- Returns: the columns of the release, anon_truth DOUBLE in [0, 1], 1 for a row that the catalog does not speak of.
-- Source: Lee et al. 2017, on RCE with a catalog.
-- Example:
--   WITH released AS (FROM (VALUES (1, 'f', 'flu'), (1, 'f', 'gout'), (2, 'm', 'flu')) AS rows (class_id, sex, ill)),
--   catalog AS (SELECT [1, 2] AS class_ids, 'flu' AS ill, 1 AS counterfeits),
--   weighted AS (FROM anon.row_truths('released', 'catalog', 'ill') WHERE ill = 'flu')
--   FROM anon.estimated_counts('weighted', 'sex', NULL, 'anon_truth') ORDER BY group_label;
CREATE OR REPLACE MACRO anon.row_truths(released, catalog, sensitive) AS TABLE
SELECT
    * EXCLUDE (anon_value, anon_listed_class, anon_listed_value, anon_counterfeits, anon_group_rows),
    anon_helpers.row_truth(anon_counterfeits, anon_group_rows) AS anon_truth
FROM (
    SELECT *, anon.text_of(COLUMNS([sensitive])) AS anon_value FROM query_table(anon_helpers.as_source(released))
) AS anon_rows
LEFT JOIN (
    SELECT
        class_id AS anon_listed_class,
        sensitive_value AS anon_listed_value,
        counterfeits AS anon_counterfeits,
        group_rows AS anon_group_rows
    FROM anon_helpers.catalog_values(released, catalog, sensitive)
) AS anon_known
    ON anon_known.anon_listed_class = anon_rows.class_id
    AND anon_known.anon_listed_value IS NOT DISTINCT FROM anon_rows.anon_value;

-- The rows of a release, each with the probability that it is true, anon_truth, by a catalog of counts: without values,
-- all rows of the classes of a group are equally likely to be those that were invented. It is a weight for
-- anon.estimated_counts and anon.estimated_averages. A catalog that cannot be that of the release is an error: it has
-- more counterfeits than its classes have rows.
--
-- Job: answers.
-- Returns: the columns of the release, anon_truth DOUBLE in [0, 1], 1 for a row that the catalog does not speak of.
-- Source: Lee et al. 2017, on RCE with a catalog, for all values alike.
-- Example:
--   WITH released AS (FROM (VALUES (1, 'f', 'flu'), (1, 'f', 'gout'), (2, 'm', 'flu')) AS rows (class_id, sex, ill)),
--   catalog AS (SELECT [1] AS class_ids, 1 AS counterfeits),
--   weighted AS (FROM anon.class_truths('released', 'catalog'))
--   FROM anon.estimated_counts('weighted', 'ill', NULL, 'anon_truth') ORDER BY group_label;
CREATE OR REPLACE MACRO anon.class_truths(released, catalog) AS TABLE
SELECT
    * EXCLUDE (anon_listed_class, anon_group, anon_counterfeits),
    CASE
        WHEN anon_counterfeits > count(*) OVER (PARTITION BY anon_group)
            THEN error('the catalog does not fit the release: it has more counterfeits than there are rows')
        ELSE anon_helpers.row_truth(anon_counterfeits, count(*) OVER (PARTITION BY anon_group))
    END AS anon_truth
FROM query_table(anon_helpers.as_source(released)) AS anon_rows
LEFT JOIN (
    SELECT class_ids AS anon_group, unnest(class_ids) AS anon_listed_class, counterfeits AS anon_counterfeits
    FROM query_table(anon_helpers.as_source(catalog))
) AS anon_listed
    ON anon_listed.anon_listed_class = anon_rows.class_id;

-- COUNT(*) by group of a release with counterfeits, corrected by its catalog: see anon.estimated_counts, with
-- anon.row_truths for weights. Of rows of one class and value nobody knows which were invented, so that a count within
-- a group of classes is an expectation; one of all rows of a value is exact.
--
-- Job: answers.
-- Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
-- Source: Lee et al. 2017, query error rate.
-- Example:
--   WITH released AS (FROM (VALUES (1, 'f', 'flu'), (1, 'f', 'gout'), (2, 'm', 'flu')) AS rows (class_id, sex, ill)),
--   catalog AS (SELECT [1, 2] AS class_ids, 'flu' AS ill, 1 AS counterfeits)
--   FROM anon.corrected_counts('released', 'catalog', 'ill', 'ill', NULL) ORDER BY group_label;
CREATE OR REPLACE MACRO anon.corrected_counts(released, catalog, sensitive, column_name, width) AS TABLE
WITH anon_weighted AS (FROM anon.row_truths(released, catalog, sensitive))
FROM anon.estimated_counts('anon_weighted', column_name, width, 'anon_truth');

-- AVG(averaged) by group of a release with counterfeits, corrected by its catalog: see anon.estimated_averages, with
-- anon.row_truths for weights.
--
-- Job: answers.
-- Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
-- Source: Lee et al. 2017, queries Q3 and Q4.
-- Example:
--   WITH released AS (FROM (VALUES (1, '*', 'flu'), (1, '*', 'gout'), (2, '*', 'flu')) AS rows (class_id, age, ill)),
--   catalog AS (SELECT [1, 2] AS class_ids, 'flu' AS ill, 1 AS counterfeits)
--   FROM anon.corrected_averages('released', 'catalog', 'ill', 'ill', NULL, 'age') ORDER BY group_label;
CREATE OR REPLACE MACRO anon.corrected_averages(released, catalog, sensitive, column_name, width, averaged) AS TABLE
WITH anon_weighted AS (FROM anon.row_truths(released, catalog, sensitive))
FROM anon.estimated_averages('anon_weighted', column_name, width, averaged, 'anon_truth');

-- A release reduced to as many rows as are true; rows that may have been invented keep no quasi-identifier. With C
-- counterfeits of a value in a group, all of them may lie in any one class of the group. So in every class C rows of the
-- value, or all if there are fewer, are masked: * in all quasi-identifiers and no class. C of the group's masked rows are
-- then left out. Every value then has as many rows as are true, and every class keeps at most as many rows as are true
-- in it, wherever the counterfeits are.
--
-- Its classes may have fewer than k rows: it is for analyses and is not k-anonymous.
--
-- How it goes. Rows are counted by class and value; of each value the counterfeits of its group say how many rows of a class are
-- masked, and running sums how many of these are left out; then the counts become rows again.
--
-- Job: answers.
-- Returns: class_id BIGINT, NULL in masked rows; the quasi-identifiers as VARCHAR; the sensitive column as it is.
-- Source: Lee et al. 2017, tables 8 and 9.
-- Example:
--   WITH released AS (FROM (VALUES (1, 'f', 'flu'), (1, 'f', 'gout'), (2, 'm', 'flu')) AS rows (class_id, sex, ill)),
--   catalog AS (SELECT [1, 2] AS class_ids, 'flu' AS ill, 1 AS counterfeits)
--   FROM anon.truthful_rows('released', 'catalog', ['sex'], 'ill') ORDER BY class_id;
CREATE OR REPLACE MACRO anon.truthful_rows(released, catalog, quasi_identifiers, sensitive) AS TABLE
SELECT
    CASE WHEN anon_place < anon_kept THEN class_id END AS class_id,
    CASE WHEN anon_place < anon_kept THEN anon.text_of(COLUMNS(anon_helpers.listed(quasi_identifiers))) ELSE '*' END,
    COLUMNS([sensitive])
FROM (
    -- A number for each row that is left: first those that keep their class, then those that are masked.
    SELECT
        *,
        unnest(range(anon_kept + least(anon_masked, greatest(anon_masked_so_far - anon_counterfeits, 0)))) AS anon_place
    FROM (
        SELECT
            *,
            anon_rows - anon_masked AS anon_kept,
            CAST(sum(anon_masked) OVER (PARTITION BY anon_group, anon_value ORDER BY class_id ASC) AS BIGINT)
                AS anon_masked_so_far
        FROM (
            SELECT *, least(anon_rows, coalesce(anon_counterfeits, 0)) AS anon_masked
            FROM (
                SELECT
                    class_id,
                    COLUMNS(anon_helpers.listed(quasi_identifiers)),
                    COLUMNS([sensitive]),
                    anon.text_of(COLUMNS([sensitive])) AS anon_value,
                    count(*) AS anon_rows
                FROM query_table(anon_helpers.as_source(released))
                GROUP BY ALL
            ) AS anon_cells
            LEFT JOIN (
                SELECT
                    class_ids AS anon_group,
                    class_id AS anon_listed_class,
                    sensitive_value AS anon_listed_value,
                    counterfeits AS anon_counterfeits
                FROM anon_helpers.catalog_values(released, catalog, sensitive)
            ) AS anon_known
                ON anon_known.anon_listed_class = anon_cells.class_id
                AND anon_known.anon_listed_value IS NOT DISTINCT FROM anon_cells.anon_value
        )
    )
);
