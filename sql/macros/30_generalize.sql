-- Transformations of rows: generalization and suppression.

-- What anon.generalize finds instead of a label: the character 1 if there are several labels, 2 for NULL, and 3 before a
-- label that is empty or starts with one of these characters itself. Any other label is found as it is.
--
-- It is one text, because a join that carries a struct takes twice as long.
--
-- Returns: VARCHAR, never NULL.
-- Example:
--   SELECT anon_helpers.marked_label('f', 1) AS label, ascii(anon_helpers.marked_label(NULL, 1)) AS mark;
CREATE OR REPLACE MACRO anon_helpers.marked_label(label, label_rows) AS
CASE
    WHEN label_rows > 1 THEN chr(1)
    WHEN label IS NULL THEN chr(2)
    WHEN ascii(label) <= 3 THEN chr(3) || label
    ELSE label
END;

-- The labels of all quasi-identifiers of a node at its levels, with NULL among the values as in taxonomy_level;
-- labels are marked, see marked_label.
--
-- There is no WHERE in it, so that anon.generalize joins it as it is: before a relation that is filtered, DuckDB 1.5 would
-- look for the values that are there.
--
-- Returns: attribute VARCHAR, value VARCHAR, label VARCHAR, a row per attribute and value; NULL where a value has no label
-- at the level, and for other attributes.
-- Example:
--   FROM anon_helpers.node_labels(MAP {'sex': 1}) WHERE label IS NOT NULL ORDER BY value;
CREATE OR REPLACE MACRO anon_helpers.node_labels(node) AS TABLE
SELECT
    anon_attribute AS attribute,
    anon_value AS value,
    CASE WHEN sum(anon_rows) > 0 THEN anon_helpers.marked_label(max(anon_label), sum(anon_rows)) END AS label
FROM (
    SELECT
        attribute AS anon_attribute,
        value AS anon_value,
        CASE WHEN level = node[attribute] THEN label END AS anon_label,
        CASE WHEN level = node[attribute] THEN 1 ELSE 0 END AS anon_rows
    FROM anon.taxonomy
    UNION ALL
    SELECT
        anon_attribute,
        NULL,
        CASE WHEN anon_height = anon_level AND anon_level > 0 AND anon_null_rows = 0 THEN anon_top END,
        CASE WHEN anon_level_rows > 0 AND anon_null_rows = 0 THEN 1 ELSE 0 END
    FROM (
        SELECT
            attribute AS anon_attribute,
            node[attribute] AS anon_level,
            max(level) AS anon_height,
            max(label) FILTER (WHERE level = node[attribute]) AS anon_top,
            count(*) FILTER (WHERE level = node[attribute]) AS anon_level_rows,
            count(*) FILTER (WHERE level = node[attribute] AND value IS NULL) AS anon_null_rows
        FROM anon.taxonomy
        GROUP BY attribute
    )
)
GROUP BY anon_attribute, anon_value;

-- The marked label of a value in the column of the same name of a relation of labels, which has a row per value; NULL if
-- it has none.
--
-- labels: anon_value VARCHAR, and a column of marked labels for every attribute. `attribute` is a column of a relation
-- anon_rows and text. It is read twice: inside, anon_rows are the labels, outside those of the caller.
-- Returns: VARCHAR.
-- Example:
--   WITH labels AS (SELECT 'f' AS anon_value, '*' AS sex)
--   SELECT id, anon_helpers.found_label('labels', sex) AS found FROM visits AS anon_rows ORDER BY id;
CREATE OR REPLACE MACRO anon_helpers.found_label(labels, attribute) AS (
    SELECT anon_found.anon_label
    FROM (
        SELECT anon_value, attribute AS anon_label FROM query_table(anon_helpers.as_source(labels)) AS anon_rows
    ) AS anon_found
    -- IS NOT DISTINCT FROM, since = would be no hash join on DuckDB 1.5, and NULL is a value.
    WHERE anon_found.anon_value IS NOT DISTINCT FROM attribute
);

-- The label of a marked one, see marked_label; several and none are errors, with a text for each.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.unmarked_label(anon_helpers.marked_label('*', 1), 'several labels', 'no label') AS label;
CREATE OR REPLACE MACRO anon_helpers.unmarked_label(marked, of_several, of_none) AS
CASE
    WHEN ascii(marked) > 3 THEN marked
    WHEN ascii(marked) = 3 THEN substr(marked, 2)
    WHEN ascii(marked) = 2 THEN NULL
    WHEN ascii(marked) = 1 THEN error(of_several)
    ELSE error(of_none)
END;

-- The label that was found, see found_label; none and more than one are errors, as in anon.label_of.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.checked_label('sex', 1, anon_helpers.marked_label('*', 1)) AS label;
CREATE OR REPLACE MACRO anon_helpers.checked_label(attribute, level, found) AS
anon_helpers.unmarked_label(
    found,
    concat(
        'attribute "', attribute, '" has a value with several labels at level ', level,
        ': see anon.malformed_taxonomies'
    ),
    concat(
        'attribute "', attribute, '" has a value without a label at level ', level,
        ': see anon.unmapped_values and anon.taxonomy_heights'
    )
);

-- The label of one value at one level of its taxonomy; values are compared as text.
--
-- Level 0 is the value itself. A value that the taxonomy does not know, a level that it does not have and
-- a value with more than one label are errors, because a raw value must never pass for a label.
--
-- Job: labels.
-- Returns: VARCHAR.
-- Example:
--   SELECT anon.label_of('age', 1, 34) AS label;
CREATE OR REPLACE MACRO anon.label_of(attribute, level, value) AS
-- The lambda takes what was found once, outside the subquery that finds it: DuckDB 2.0 would otherwise look up every row
-- on its own.
list_transform(
    [(
        SELECT CASE WHEN count(*) > 0 THEN anon_helpers.marked_label(max(anon_labels.anon_label), count(*)) END
        FROM anon_helpers.taxonomy_level(attribute, level) AS anon_labels (anon_value, anon_label)
        WHERE anon_labels.anon_value IS NOT DISTINCT FROM anon.text_of(value)
    )],
    lambda anon_found: anon_helpers.checked_label(attribute, level, anon_found)
)[1];

-- The rows of a source with some columns replaced by their labels at the levels of a node, as anon.generalize has them. The
-- node may be found by a query, such as (SELECT node FROM ...), while a macro needs the names of columns beforehand.
--
-- The labels are made once, with a column for each quasi-identifier, and each quasi-identifier is a hash join with them.
-- A subquery becomes one only if it compares a bare column, reads a relation without a filter, and raises no error: so
-- values are made text first, then labels found, then errors raised. The labels are not materialized, since the columns
-- that a query leaves out would then be read as well.
--
-- It takes 0.7 to 1.5 times as long as joins written by hand (tests/benchmarks/macros.py, 1, 2 and 8 quasi-identifiers of a
-- million rows, written to a table or counted). Whether a label is checked that a query leaves out depends on the planner.
--
-- Job: release.
-- Example:
--   FROM anon.generalize_columns('visits', ['age', 'sex'], (SELECT MAP {'age': 1, 'sex': 0})) ORDER BY id LIMIT 3;
CREATE OR REPLACE MACRO anon.generalize_columns(source, quasi_identifiers, node) AS TABLE
WITH anon_node_labels AS NOT MATERIALIZED (
    SELECT anon_value, max(CASE WHEN anon_attribute = alias(COLUMNS(anon_helpers.listed(quasi_identifiers))) THEN anon_label END)
    FROM anon_helpers.node_labels(node) AS anon_labels (anon_attribute, anon_value, anon_label)
    -- No rows, but the names of the columns.
    LEFT JOIN (
        SELECT COLUMNS(anon_helpers.listed(quasi_identifiers)) FROM query_table(anon_helpers.as_source(source)) LIMIT 0
    ) AS anon_named ON TRUE
    GROUP BY anon_value
)
SELECT * EXCLUDE (anon_other)
FROM (
    SELECT
        anon_helpers.checked_label(
            alias(COLUMNS(anon_helpers.listed(quasi_identifiers))),
            node[alias(COLUMNS(anon_helpers.listed(quasi_identifiers)))],
            COLUMNS(anon_helpers.listed(quasi_identifiers))
        ),
        COLUMNS(lambda anon_column: NOT list_contains(anon_helpers.listed(quasi_identifiers), anon_column))
    FROM (
        SELECT
            anon_helpers.found_label('anon_node_labels', COLUMNS(anon_helpers.listed(quasi_identifiers))),
            COLUMNS(lambda anon_column: NOT list_contains(anon_helpers.listed(quasi_identifiers), anon_column))
        FROM (
            SELECT
                anon.text_of(COLUMNS(anon_helpers.listed(quasi_identifiers))),
                COLUMNS(lambda anon_column: NOT list_contains(anon_helpers.listed(quasi_identifiers), anon_column))
            -- COLUMNS that match nothing are an error: there is always one column beside the quasi-identifiers.
            FROM (SELECT *, NULL AS anon_other FROM query_table(anon_helpers.as_source(source)))
        ) AS anon_rows
    )
);

-- The rows of a source with each quasi-identifier of the node replaced by its label at the node's level.
--
-- The quasi-identifiers come first and are text; the other columns follow as they are. Rows are neither
-- dropped nor put in order, and identifiers are not removed: select them away.
--
-- Job: release.
-- Source: full-domain generalization, Samarati 2001, definition 3.
-- Example:
--   FROM anon.generalize('visits', MAP {'age': 1, 'sex': 0}) ORDER BY id LIMIT 3;
CREATE OR REPLACE MACRO anon.generalize(source, node) AS TABLE
FROM anon.generalize_columns(source, map_keys(node), node);

-- k as it is, if it is a number of rows; otherwise an error, since a comparison with NULL would drop or keep all of them.
--
-- Returns: k.
-- Example:
--   SELECT anon_helpers.checked_k(5) AS k;
CREATE OR REPLACE MACRO anon_helpers.checked_k(k) AS CASE WHEN k >= 1 THEN k ELSE error('k is a number of rows, 1 or more') END;

-- The rows of a source that share their quasi-identifiers with at least k - 1 others; the rest is dropped.
--
-- Job: release.
-- Example:
--   WITH generalized AS (FROM anon.generalize('visits', MAP {'age': 2, 'sex': 0}))
--   FROM anon.suppress('generalized', ['age', 'sex'], 3);
CREATE OR REPLACE MACRO anon.suppress(source, quasi_identifiers, k) AS TABLE
SELECT * EXCLUDE (anon_class)
FROM (
    SELECT *, row(*COLUMNS(anon_helpers.listed(quasi_identifiers))) AS anon_class
    FROM query_table(anon_helpers.as_source(source))
)
QUALIFY count(*) OVER (PARTITION BY anon_class) >= anon_helpers.checked_k(k);

-- The rows of a source in classes of at least k rows with at least l different sensitive values; the rest is dropped. NULL
-- is a value.
--
-- Job: release.
-- Source: Machanavajjhala et al. 2007, distinct l-diversity.
-- Example:
--   WITH generalized AS (FROM anon.generalize('visits', MAP {'age': 2, 'sex': 0}))
--   FROM anon.suppress_where('generalized', ['age', 'sex'], 2, 'diagnosis', 2);
CREATE OR REPLACE MACRO anon.suppress_where(source, quasi_identifiers, k, sensitive, l) AS TABLE
SELECT * EXCLUDE (anon_class, anon_sensitive)
FROM (
    SELECT *, row(*COLUMNS(anon_helpers.listed(quasi_identifiers))) AS anon_class, row(COLUMNS([sensitive])) AS anon_sensitive
    FROM query_table(anon_helpers.as_source(source))
)
QUALIFY count(*) OVER (PARTITION BY anon_class) >= anon_helpers.checked_k(k)
    AND count(DISTINCT anon_sensitive) OVER (PARTITION BY anon_class) >= l;
