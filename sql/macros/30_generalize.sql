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

-- The text by which anon.generalize finds the label of a value: the position of its attribute in the node and whether
-- the value is NULL, in one character, then the value. An attribute that the node does not have has a text that no
-- label has.
--
-- It is one column, because DuckDB makes a hash join of a correlated subquery only if it compares bare columns.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon.label_key(MAP {'age': 1, 'sex': 0}, 'sex', 'f') AS key;
CREATE OR REPLACE MACRO anon.label_key(node, attribute, value) AS
-- Nothing but the two branches depends on the row, so that a chunk of rows computes the character once.
CASE
    WHEN value IS NULL THEN chr(CAST(65 + 2 * coalesce(list_position(map_keys(node), attribute), 0) AS INTEGER))
    ELSE concat(
        chr(CAST(64 + 2 * coalesce(list_position(map_keys(node), attribute), 0) AS INTEGER)), CAST(value AS VARCHAR)
    )
END;

-- The labels of all quasi-identifiers of a node at its levels, by the key of anon.label_key, with NULL among the values
-- as in anon.taxonomy_level. label_rows is 1 unless the taxonomy is malformed.
--
-- Returns: key VARCHAR, label VARCHAR, label_rows BIGINT.
-- Example:
--   FROM anon.node_labels(MAP {'sex': 1}) ORDER BY key;
CREATE OR REPLACE MACRO anon.node_labels(node) AS TABLE
SELECT
    anon.label_key(node, anon_attribute, anon_value) AS key,
    max(anon_label) AS label,
    count(*) AS label_rows
FROM (
    SELECT attribute AS anon_attribute, value AS anon_value, label AS anon_label
    FROM anon.taxonomy
    WHERE level = node[attribute]
    UNION ALL
    SELECT anon_attribute, NULL, CASE WHEN anon_height = anon_level AND anon_level > 0 THEN anon_top END
    FROM (
        SELECT
            attribute AS anon_attribute,
            node[attribute] AS anon_level,
            max(level) AS anon_height,
            max(label) FILTER (WHERE level = node[attribute]) AS anon_top,
            count(*) FILTER (WHERE level = node[attribute]) AS anon_rows,
            count(*) FILTER (WHERE level = node[attribute] AND value IS NULL) AS anon_null_rows
        FROM anon.taxonomy
        WHERE list_contains(map_keys(node), attribute)
        GROUP BY attribute
    )
    WHERE anon_rows > 0 AND anon_null_rows = 0
)
GROUP BY anon.label_key(node, anon_attribute, anon_value);

-- What a relation of labels has under a key, see anon.node_labels; NULL if it has nothing.
--
-- Returns: STRUCT of anon_label VARCHAR and anon_rows BIGINT.
-- Example:
--   WITH labels AS (FROM anon.node_labels(MAP {'sex': 1}))
--   SELECT anon.found_label('labels', anon.label_key(MAP {'sex': 1}, 'sex', 'f')) AS found;
CREATE OR REPLACE MACRO anon.found_label(labels, key) AS (
    SELECT struct_pack(anon_label := anon_labels.anon_label, anon_rows := anon_labels.anon_rows)
    FROM query_table(labels) AS anon_labels (anon_key, anon_label, anon_rows)
    WHERE anon_labels.anon_key IS NOT DISTINCT FROM key
);

-- The label that was found, see anon.found_label; none and more than one are errors, as in anon.label_of.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon.checked_label('sex', 1, struct_pack(anon_label := '*', anon_rows := 1)) AS label;
CREATE OR REPLACE MACRO anon.checked_label(attribute, level, found) AS
CASE
    WHEN struct_extract(found, 'anon_rows') = 1 THEN struct_extract(found, 'anon_label')
    WHEN struct_extract(found, 'anon_rows') > 1 THEN error(concat(
        'attribute "', attribute, '" has a value with several labels at level ', level,
        ': see anon.malformed_taxonomies'
    ))
    ELSE error(concat(
        'attribute "', attribute, '" has a value without a label at level ', level,
        ': see anon.unmapped_values and anon.taxonomy_heights'
    ))
END;

-- The rows of a source with each quasi-identifier of the node replaced by its label at the node's level.
--
-- The quasi-identifiers come first and are text; the other columns follow as they are. Rows are neither
-- dropped nor put in order, and identifiers are not removed: select them away.
--
-- The labels are made once, and each quasi-identifier is a hash join with them. An error may not stand in the
-- subquery that finds a label: DuckDB 2.0 would then look up every row on its own. So keys are made first, then labels
-- found, then errors raised.
--
-- Source: full-domain generalization, Samarati 2001, definition 3.
-- Example:
--   FROM anon.generalize('visits', MAP {'age': 1, 'sex': 0}) LIMIT 3;
CREATE OR REPLACE MACRO anon.generalize(source, node) AS TABLE
WITH anon_node_labels AS MATERIALIZED (
    FROM anon.node_labels(node)
)
SELECT * EXCLUDE (anon_other)
FROM (
    SELECT
        anon.checked_label(
            alias(COLUMNS(map_keys(node))), node[alias(COLUMNS(map_keys(node)))], COLUMNS(map_keys(node))
        ),
        COLUMNS(lambda anon_column: NOT list_contains(map_keys(node), anon_column))
    FROM (
        SELECT
            anon.found_label('anon_node_labels', COLUMNS(map_keys(node))),
            COLUMNS(lambda anon_column: NOT list_contains(map_keys(node), anon_column))
        FROM (
            SELECT
                anon.label_key(node, alias(COLUMNS(map_keys(node))), COLUMNS(map_keys(node))),
                COLUMNS(lambda anon_column: NOT list_contains(map_keys(node), anon_column))
            -- COLUMNS that match nothing are an error: there is always one column beside the quasi-identifiers.
            FROM (SELECT *, NULL AS anon_other FROM query_table(source))
        )
    )
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
