-- From rows to counts: cells, and the equivalence classes that generalization merges them into.

-- The distinct combinations of quasi-identifiers of a source, each with the number of its rows.
--
-- Returns: the quasi-identifiers as they are, row_count BIGINT.
-- Example:
--   FROM anon_helpers.cells('visits', ['age', 'sex']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.cells(source, quasi_identifiers) AS TABLE
SELECT COLUMNS(anon_helpers.listed(quasi_identifiers)), count(*) AS row_count
FROM query_table(anon_helpers.as_source(source))
GROUP BY ALL;

-- Cells generalized to a node and merged: the equivalence classes at that node, counted without
-- another look at the rows.
--
-- Returns: the quasi-identifiers of the node as labels, row_count BIGINT.
-- Example:
--   WITH cells AS (FROM anon_helpers.cells('visits', ['age', 'sex']))
--   FROM anon_helpers.roll_up('cells', MAP {'age': 2, 'sex': 1});
CREATE OR REPLACE MACRO anon_helpers.roll_up(cells, node) AS TABLE
SELECT COLUMNS(map_keys(node)), CAST(sum(row_count) AS BIGINT) AS row_count
FROM anon.generalize(cells, node)
GROUP BY ALL;

-- The equivalence classes of a source as it is: rows that agree on every quasi-identifier. NULL agrees
-- with NULL.
--
-- Job: classes.
-- Returns: the quasi-identifiers, class_size BIGINT.
-- Source: Samarati 2001, definition 2.
-- Example:
--   FROM anon.equivalence_classes('visits', ['sex']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon.equivalence_classes(source, quasi_identifiers) AS TABLE
SELECT COLUMNS(anon_helpers.listed(quasi_identifiers)), count(*) AS class_size
FROM query_table(anon_helpers.as_source(source))
GROUP BY ALL;

-- The size of every equivalence class, without its labels.
--
-- Job: classes.
-- Returns: class_size BIGINT.
-- Example:
--   FROM anon.class_sizes('visits', ['sex']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon.class_sizes(source, quasi_identifiers) AS TABLE
SELECT anon_class_size AS class_size
FROM (
    SELECT COLUMNS(anon_helpers.listed(quasi_identifiers)), count(*) AS anon_class_size
    FROM query_table(anon_helpers.as_source(source))
    GROUP BY ALL
) AS anon_classes;

-- How often each sensitive value stands in each equivalence class. NULL is a value.
--
-- Job: classes.
-- Returns: the quasi-identifiers, sensitive_value with the sensitive column's type, row_count BIGINT.
-- Example:
--   FROM anon.class_values('visits', ['sex'], 'diagnosis') ORDER BY ALL;
CREATE OR REPLACE MACRO anon.class_values(source, quasi_identifiers, sensitive) AS TABLE
SELECT COLUMNS(anon_helpers.listed(quasi_identifiers)), COLUMNS([sensitive]) AS sensitive_value, count(*) AS row_count
FROM query_table(anon_helpers.as_source(source))
GROUP BY ALL;

-- The same without the labels, so that no quasi-identifier's name can clash: a row per class and sensitive value.
--
-- Returns: class STRUCT of the quasi-identifiers' values, sensitive_value with the sensitive column's type, row_count
-- BIGINT.
-- Example:
--   SELECT count(DISTINCT class) AS class_count FROM anon_helpers.value_counts('visits', ['sex'], 'diagnosis');
CREATE OR REPLACE MACRO anon_helpers.value_counts(source, quasi_identifiers, sensitive) AS TABLE
SELECT
    row(*COLUMNS(anon_helpers.listed(quasi_identifiers))) AS class,
    COLUMNS([sensitive]) AS sensitive_value,
    count(*) AS row_count
FROM query_table(anon_helpers.as_source(source))
GROUP BY ALL;
