-- Transformations of rows: generalization and suppression.

-- The label of one value at one level of its taxonomy; values are compared as text.
--
-- Level 0 is the value itself. A value that the taxonomy does not know, a level that it does not have and
-- a value with more than one label are errors, because a raw value must never pass for a label.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon.label_of('age', 1, 34) AS label;
CREATE OR REPLACE MACRO anon.label_of(attribute, level, value) AS (
    SELECT CASE anon_found.anon_rows
        WHEN 1 THEN anon_found.anon_label
        WHEN 0 THEN error(concat(
            'attribute "', attribute, '" has a value without a label at level ', level,
            ': see anon.unmapped_values and anon.taxonomy_heights'
        ))
        ELSE error(concat(
            'attribute "', attribute, '" has a value with several labels at level ', level,
            ': see anon.malformed_taxonomies'
        ))
    END
    FROM (
        SELECT count(*) AS anon_rows, max(anon_labels.anon_label) AS anon_label
        FROM anon.taxonomy_level(attribute, level) AS anon_labels (anon_value, anon_label)
        WHERE anon_labels.anon_value IS NOT DISTINCT FROM CAST(value AS VARCHAR)
    ) AS anon_found
);

-- The rows of a source with each quasi-identifier of the node replaced by its label at the node's level.
--
-- The quasi-identifiers come first and are text; the other columns follow as they are. Rows are neither
-- dropped nor put in order, and identifiers are not removed: select them away.
--
-- Source: full-domain generalization, Samarati 2001, definition 3.
-- Example:
--   FROM anon.generalize('visits', MAP {'age': 1, 'sex': 0}) LIMIT 3;
CREATE OR REPLACE MACRO anon.generalize(source, node) AS TABLE
SELECT * EXCLUDE (anon_other)
FROM (
    SELECT
        anon.label_of(alias(COLUMNS(map_keys(node))), node[alias(COLUMNS(map_keys(node)))], COLUMNS(map_keys(node))),
        COLUMNS(lambda anon_column: NOT list_contains(map_keys(node), anon_column))
    -- COLUMNS that match nothing are an error: there is always one column beside the quasi-identifiers.
    FROM (SELECT *, NULL AS anon_other FROM query_table(source))
);

-- The rows of a source that share their quasi-identifiers with at least k - 1 others; the rest is dropped.
--
-- Example:
--   WITH generalized AS (FROM anon.generalize('visits', MAP {'age': 2, 'sex': 0}))
--   FROM anon.suppress('generalized', ['age', 'sex'], 3);
CREATE OR REPLACE MACRO anon.suppress(source, quasi_identifiers, k) AS TABLE
SELECT * EXCLUDE (anon_class)
FROM (SELECT *, row(*COLUMNS(quasi_identifiers)) AS anon_class FROM query_table(source))
QUALIFY count(*) OVER (PARTITION BY anon_class) >= k;
