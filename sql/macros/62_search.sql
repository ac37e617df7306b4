-- The search in SQL: the nodes of a lattice counted by one query, the nodes that lose least, and the release of one.

-- A label of a quasi-identifier as a number of 128 bits. The code of a class is the bitwise xor of those of its labels, so
-- that the code of a label is exchanged without a look at the others. MD5 leaves no pattern: sums of plain hashes, which
-- DuckDB 1.5 combines without mixing them, are the same for (a, b) and (b, a). Two of 10^9 classes have the same code with
-- a probability below 10^-20.
--
-- Returns: UHUGEINT.
-- Example:
--   SELECT anon.label_code('sex', 'f') <> anon.label_code('age', 'f') AS differs;
CREATE OR REPLACE MACRO anon.label_code(attribute, label) AS
CAST(md5_number(concat(strlen(attribute), ':', attribute, CASE WHEN label IS NOT NULL THEN '=' || label END)) AS UHUGEINT);

-- The nodes of a lattice with their classes, counted, and what they lose. Every node is counted if allowed_rows is NULL.
-- Otherwise nodes that leave more rows than that in classes of fewer than k may be missing.
--
-- How it goes. Rows are read once and counted by cells. The code of a cell is that of its values, see anon.label_code. One
-- quasi-identifier after the other, that of most values first, gets each of its levels: the code of the label takes the
-- place of that of the value, and classes with the same code are counted as one. So a class is a sum of classes, which are
-- far fewer than the rows. The labels alone, without the values of the quasi-identifiers that are left, make larger classes;
-- where these are too small for too many rows, no levels of the others help, and these levels are given up. A node has a
-- number, whose digits are its levels. The classes of all levels that were not given up are in memory.
--
-- Returns: as anon.node_counts.
-- Source: Samarati 2001, section 4, for the lattice; LeFevre et al. 2005 (Incognito), subset property, for what is given up.
-- Example:
--   SELECT node, suppressed_rows, lm FROM anon.node_counts_within('visits', ['age', 'sex'], 2, 3) ORDER BY lm, node;
CREATE OR REPLACE MACRO anon.node_counts_within(source, quasi_identifiers, k, allowed_rows) AS TABLE
WITH RECURSIVE anon_cells AS MATERIALIZED (
    SELECT row_number() OVER () AS anon_cell, *
    FROM (
        SELECT anon.text_of(COLUMNS(anon.listed(quasi_identifiers))), count(*) AS anon_cell_rows
        FROM query_table(anon.as_source(source))
        GROUP BY ALL
    )
),
anon_cell_values AS MATERIALIZED (
    SELECT
        anon_cell,
        anon_cell_rows,
        CASE
            WHEN list_contains(quasi_identifiers, anon_column) THEN anon_column
            ELSE error(concat('a column is called "', anon_column, '": spell it so among the quasi-identifiers'))
        END AS anon_attribute,
        anon_value
    FROM (
        FROM anon_cells UNPIVOT INCLUDE NULLS (
            anon_value FOR anon_column IN (COLUMNS(* EXCLUDE (anon_cell, anon_cell_rows)))
        )
    )
),
anon_values AS (
    SELECT
        anon_attribute,
        anon_value,
        sum(anon_cell_rows) AS anon_value_rows,
        sum(sum(anon_cell_rows)) OVER (PARTITION BY anon_attribute) AS anon_row_count,
        count(*) OVER (PARTITION BY anon_attribute) AS anon_value_count
    FROM anon_cell_values
    GROUP BY anon_attribute, anon_value
),
anon_labels AS MATERIALIZED (
    SELECT
        anon_values.*,
        dense_rank() OVER (ORDER BY anon_value_count DESC, anon_attribute ASC) AS anon_place,
        anon_heights.height AS anon_height,
        anon_heights.value_count AS anon_domain_size,
        anon_taxonomy.level AS anon_level,
        anon_taxonomy.leaf_count AS anon_leaf_count,
        count(*) OVER (PARTITION BY anon_attribute, anon_value) AS anon_label_count,
        count(DISTINCT anon_taxonomy.level) OVER (PARTITION BY anon_attribute, anon_value) AS anon_level_count,
        bool_or(anon_taxonomy.label IS NULL AND anon_value IS NOT NULL)
            OVER (PARTITION BY anon_attribute, anon_value) AS anon_lacks_label,
        sum(anon_value_rows) OVER (PARTITION BY anon_attribute, anon_taxonomy.level, anon_taxonomy.label) AS anon_label_rows,
        anon.label_code(anon_attribute, anon_value) AS anon_value_code,
        anon.label_code(anon_attribute, anon_taxonomy.label) AS anon_label_code
    FROM anon_values
    LEFT JOIN anon.taxonomy_heights() AS anon_heights ON anon_heights.attribute = anon_attribute
    LEFT JOIN anon.taxonomy_labels(quasi_identifiers) AS anon_taxonomy
        ON anon_taxonomy.attribute = anon_attribute
        AND anon_taxonomy.value IS NOT DISTINCT FROM anon_value
),
anon_lattice AS MATERIALIZED (
    SELECT product(anon_height + 1) AS anon_node_count
    FROM (SELECT DISTINCT anon_attribute, anon_height FROM anon_labels)
),
-- The values of each cell by their codes, and what each level puts in the place of a value.
anon_cell_codes AS MATERIALIZED (
    SELECT CAST(anon_cell AS UINTEGER) AS anon_cell, anon_cell_rows, anon_place, anon_value_code
    FROM anon_cell_values
    INNER JOIN (SELECT DISTINCT anon_attribute, anon_value, anon_place, anon_value_code FROM anon_labels) AS anon_coded
        ON anon_coded.anon_attribute = anon_cell_values.anon_attribute
        AND anon_coded.anon_value IS NOT DISTINCT FROM anon_cell_values.anon_value
),
anon_steps AS MATERIALIZED (
    SELECT
        anon_value_code,
        anon_height,
        CASE
            WHEN anon_label_count = anon_height + 1 AND anon_level_count = anon_label_count AND NOT anon_lacks_label
                THEN anon_level
            WHEN anon_height IS NULL
                THEN error(concat('attribute "', anon_attribute, '" has no taxonomy: see anon.taxonomy_heights'))
            ELSE error(concat(
                'attribute "', anon_attribute, '" has a value without one label at each level: ',
                'see anon.unmapped_values and anon.malformed_taxonomies'
            ))
        END AS anon_level,
        anon_label_code,
        anon.lm_share_of(anon_leaf_count, anon_domain_size) AS anon_lm,
        anon.ncp_share_of(anon_leaf_count, anon_domain_size) AS anon_ncp,
        anon.label_information(anon_label_rows, anon_row_count) AS anon_information
    FROM anon_labels
),
anon_classes AS (
    SELECT
        CASE
            WHEN anon.checked_k(k) IS NULL THEN NULL
            WHEN len(list_distinct(quasi_identifiers)) < len(quasi_identifiers)
                THEN error('a quasi-identifier is listed twice')
            WHEN (SELECT anon_node_count FROM anon_lattice) > 100000 THEN error(concat(
                'the lattice has ', format('{:,}', CAST((SELECT anon_node_count FROM anon_lattice) AS HUGEINT)),
                ' nodes, and no more than 100,000 are counted: take fewer quasi-identifiers or levels'
            ))
            ELSE CAST(0 AS UTINYINT)
        END AS anon_depth,
        -- Small types: there are many classes. Labels that are taken for the same give up fewer levels, no more.
        CAST(0 AS UINTEGER) AS anon_number,
        CAST(0 AS UBIGINT) AS anon_labels_code,
        bit_xor(anon_value_code) AS anon_code,
        anon_cell,
        CAST(any_value(anon_cell_rows) AS BIGINT) AS anon_class_size,
        CAST(0 AS DOUBLE) AS anon_lm,
        CAST(0 AS DOUBLE) AS anon_ncp,
        CAST(0 AS DOUBLE) AS anon_information
    FROM anon_cell_codes
    GROUP BY anon_cell
    UNION ALL
    SELECT
        CAST(anon_open.anon_depth + 1 AS UTINYINT) AS anon_next_depth,
        CAST(anon_open.anon_number * (anon_steps.anon_height + 1) + anon_steps.anon_level AS UINTEGER) AS anon_next_number,
        xor(anon_open.anon_labels_code, CAST(anon_steps.anon_label_code >> 64 AS UBIGINT)) AS anon_next_labels_code,
        xor(xor(anon_open.anon_code, anon_steps.anon_value_code), anon_steps.anon_label_code) AS anon_next_code,
        min(anon_open.anon_cell),
        CAST(sum(anon_open.anon_class_size) AS BIGINT),
        anon_open.anon_lm + anon_steps.anon_lm AS anon_next_lm,
        anon_open.anon_ncp + anon_steps.anon_ncp AS anon_next_ncp,
        anon_open.anon_information + anon_steps.anon_information AS anon_next_information
    FROM (
        FROM anon_classes
        WHERE allowed_rows IS NULL
        UNION ALL
        FROM anon_classes
        WHERE anon_number IN (
            SELECT anon_number
            FROM (
                SELECT anon_number, sum(anon_class_size) AS anon_size
                FROM anon_classes
                WHERE allowed_rows IS NOT NULL
                GROUP BY anon_number, anon_labels_code
            )
            GROUP BY anon_number
            HAVING anon.suppressed_rows_of(anon_size, anon_size >= k) <= allowed_rows
        )
    ) AS anon_open
    INNER JOIN anon_cell_codes
        ON anon_cell_codes.anon_cell = anon_open.anon_cell AND anon_cell_codes.anon_place = anon_open.anon_depth + 1
    INNER JOIN anon_steps ON anon_steps.anon_value_code = anon_cell_codes.anon_value_code
    -- Number and code make the class, and all of these follow from them; to group by them is faster than to pick any value.
    GROUP BY
        anon_next_depth, anon_next_number, anon_next_labels_code, anon_next_code, anon_next_lm, anon_next_ncp,
        anon_next_information
),
anon_levels AS (
    SELECT
        anon_place,
        any_value(anon_attribute) AS anon_attribute,
        any_value(anon_height) AS anon_height,
        anon_level,
        CASE WHEN any_value(anon_height) = 0 THEN 0.0 ELSE anon_level / any_value(anon_height) END AS anon_prec,
        anon.entropy_loss_of(anon_value_rows, anon_label_rows) AS anon_entropy
    FROM anon_labels
    GROUP BY anon_place, anon_level
),
anon_nodes AS (
    SELECT
        CAST(0 AS BIGINT) AS anon_depth,
        CAST(0 AS BIGINT) AS anon_number,
        map(CAST([] AS VARCHAR[]), CAST([] AS INTEGER[])) AS anon_node,
        CAST(0 AS DOUBLE) AS anon_prec,
        CAST(0 AS DOUBLE) AS anon_entropy
    UNION ALL
    SELECT
        anon_levels.anon_place,
        anon_nodes.anon_number * (anon_levels.anon_height + 1) + anon_levels.anon_level,
        map_concat(anon_nodes.anon_node, MAP {anon_levels.anon_attribute: anon_levels.anon_level}),
        anon_nodes.anon_prec + anon_levels.anon_prec,
        anon_nodes.anon_entropy + anon_levels.anon_entropy
    FROM anon_nodes
    INNER JOIN anon_levels ON anon_levels.anon_place = anon_nodes.anon_depth + 1
),
anon_counts AS (
    SELECT
        anon_number,
        count(*) AS anon_class_count,
        count(*) FILTER (WHERE anon_class_size >= k) AS anon_kept_class_count,
        anon.suppressed_rows_of(anon_class_size, anon_class_size >= k) AS anon_suppressed_rows,
        min(anon_class_size) AS anon_smallest_class,
        anon.mean_loss_of(anon_class_size, anon_class_size >= k, anon_lm / len(quasi_identifiers)) AS anon_lm,
        anon.mean_loss_of(anon_class_size, anon_class_size >= k, anon_ncp / len(quasi_identifiers)) AS anon_ncp,
        anon.suppressed_loss_of(anon_class_size, anon_class_size >= k, anon_information) AS anon_suppressed_information,
        anon.dm_of(anon_class_size, anon_class_size >= k, (SELECT sum(anon_cell_rows) FROM anon_cells)) AS anon_dm,
        anon.aecs_of(anon_class_size, anon_class_size >= k, k) AS anon_aecs
    FROM anon_classes
    WHERE anon_depth = len(quasi_identifiers)
    GROUP BY anon_number
)
SELECT
    map(quasi_identifiers, list_transform(quasi_identifiers, lambda anon_name: anon_node[anon_name])) AS node,
    CAST(list_sum(map_values(anon_node)) AS INTEGER) AS height,
    anon_class_count AS class_count,
    anon_kept_class_count AS kept_class_count,
    anon_suppressed_rows AS suppressed_rows,
    anon_smallest_class AS smallest_class,
    anon_lm AS lm,
    anon_ncp AS ncp,
    anon_prec / len(quasi_identifiers) AS prec,
    anon_entropy AS entropy,
    anon_entropy + anon_suppressed_information AS charged_entropy,
    anon_dm AS dm,
    anon_aecs AS aecs
FROM anon_counts
INNER JOIN anon_nodes ON anon_nodes.anon_number = anon_counts.anon_number
WHERE anon_nodes.anon_depth = len(quasi_identifiers);

-- Every node of the lattice of some quasi-identifiers with its classes, counted, and what it loses if its classes of fewer
-- than k rows are suppressed. Losses are as of anon.lm, anon.ncp, anon.charged_precision_loss without suppression,
-- anon.entropy_loss, anon.charged_entropy_loss, anon.dm and anon.aecs.
--
-- Job: search.
-- Returns: node MAP(VARCHAR, INTEGER), height INTEGER, class_count BIGINT, kept_class_count BIGINT, suppressed_rows BIGINT,
-- smallest_class BIGINT, lm DOUBLE, ncp DOUBLE, prec DOUBLE, entropy DOUBLE, charged_entropy DOUBLE, dm HUGEINT, aecs DOUBLE;
-- no row for a source without rows.
-- Source: Samarati 2001, section 4; Mazzone 2019, section 4.3.
-- Example:
--   SELECT node, class_count, suppressed_rows, lm FROM anon.node_counts('visits', ['age', 'sex'], 2) ORDER BY lm, node;
CREATE OR REPLACE MACRO anon.node_counts(source, quasi_identifiers, k) AS TABLE
FROM anon.node_counts_within(source, quasi_identifiers, k, NULL);

-- How many of some rows may be suppressed: a share of them, taken as the decimal that it is written as, and rounded down.
--
-- Returns: BIGINT; an error for a share that is not from 0 to 1.
-- Example:
--   SELECT anon.allowed_rows(0.05, 119) AS allowed_rows;
CREATE OR REPLACE MACRO anon.allowed_rows(suppression_limit, row_count) AS
CASE
    WHEN suppression_limit BETWEEN 0 AND 1
        THEN CAST(floor(CAST(anon.text_of(suppression_limit) AS DECIMAL(38, 20)) * row_count) AS BIGINT)
    ELSE error('a suppression limit is a share of the rows, from 0 to 1')
END;

-- The nodes that leave at most a share of the rows of a source in classes of fewer than k, and not all of them; first the
-- one to publish, which loses least in LM. Nodes of one rank lose the same: they stand in the order of their entropy,
-- suppressed rows, height and levels.
--
-- Job: search.
-- Returns: rank BIGINT, and the columns of anon.node_counts, in order; no row if no node satisfies.
-- Source: Iyengar 2002 for LM; El Emam et al. 2009 for entropy as what decides among nodes that lose the same.
-- Example:
--   SELECT rank, node, suppressed_rows, lm FROM anon.best_nodes('visits', ['age', 'sex'], 2, 0.25) LIMIT 3;
CREATE OR REPLACE MACRO anon.best_nodes(source, quasi_identifiers, k, suppression_limit) AS TABLE
WITH anon_limit AS MATERIALIZED (
    SELECT anon.allowed_rows(suppression_limit, count(*)) AS anon_allowed_rows FROM query_table(anon.as_source(source))
),
anon_found AS (
    -- Sums of the same numbers in another order differ in their last digits.
    SELECT lm - lag(lm) OVER (ORDER BY lm ASC) > 1e-12 AS anon_loses_more, *
    FROM anon.node_counts_within(source, quasi_identifiers, k, (SELECT anon_allowed_rows FROM anon_limit))
    WHERE suppressed_rows <= (SELECT anon_allowed_rows FROM anon_limit) AND kept_class_count > 0
)
SELECT 1 + count(*) FILTER (WHERE anon_loses_more) OVER (ORDER BY lm ASC) AS rank, * EXCLUDE (anon_loses_more)
FROM anon_found
ORDER BY rank ASC, round(entropy, 6) ASC, suppressed_rows ASC, height ASC, map_values(node) ASC;

-- A release of a source: its rows at the best node, without those in classes of fewer than k, in the order of their values.
-- Identifiers and other columns that recipients must not have are left to the caller: SELECT * EXCLUDE (name, ssn).
--
-- Where no node satisfies the limit, it is an error. k-anonymity is all that holds of the release; see anon.best_nodes for
-- what was chosen, and anon.k_anonymity for what it attains.
--
-- Job: release.
-- Returns: the quasi-identifiers as labels, VARCHAR, and the other columns as they are.
-- Example:
--   SELECT * EXCLUDE (id) FROM anon.release('visits', ['age', 'sex'], 2, 0.25);
CREATE OR REPLACE MACRO anon.release(source, quasi_identifiers, k, suppression_limit) AS TABLE
WITH anon_best AS MATERIALIZED (
    SELECT coalesce(
        first(node),
        error(
            'no node leaves so few rows in classes of fewer than k, or there are no rows: take a smaller k or a larger '
            'suppression limit'
        )
    ) AS anon_node
    FROM (FROM anon.best_nodes(source, quasi_identifiers, k, suppression_limit) LIMIT 1)
),
-- OFFSET 0 keeps DuckDB 1.5 from looking through to a CSV file, where it fails to plan what follows.
anon_source AS (
    FROM query_table(anon.as_source(source)) OFFSET 0
),
anon_generalized AS (
    FROM anon.generalize_columns('anon_source', quasi_identifiers, (SELECT anon_node FROM anon_best))
)
FROM anon.suppress('anon_generalized', quasi_identifiers, k)
ORDER BY ALL ASC;
