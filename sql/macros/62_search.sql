-- The search in SQL: the nodes of a lattice counted by one query, the nodes that lose least, and the release of one.

-- A label of a quasi-identifier as a number of 128 bits. The code of a class is the bitwise xor of those of its labels, so
-- that the code of a label is exchanged without a look at the others. MD5 leaves no pattern: sums of plain hashes, which
-- DuckDB 1.5 combines without mixing them, are the same for (a, b) and (b, a). Two of 10^9 classes have the same code with
-- a probability below 10^-20.
--
-- Returns: UHUGEINT.
-- Example:
--   SELECT anon_helpers.label_code('sex', 'f') <> anon_helpers.label_code('age', 'f') AS differs;
CREATE OR REPLACE MACRO anon_helpers.label_code(attribute, label) AS
CAST(md5_number(concat(strlen(attribute), ':', attribute, CASE WHEN label IS NOT NULL THEN '=' || label END)) AS UHUGEINT);

-- The columns that some models look at; models are a list of structs, see anon.best_nodes_where, or NULL.
--
-- Returns: VARCHAR[].
-- Example:
--   SELECT anon_helpers.model_columns([{'model': 'distinct-l-diversity', 'column': 'diagnosis', 'l': 2}]) AS columns;
CREATE OR REPLACE MACRO anon_helpers.model_columns(models) AS
list_distinct(coalesce(CAST(json_extract_string(to_json(models), '$[*].column') AS VARCHAR[]), CAST([] AS VARCHAR[])));

-- The k of some models: the largest that one has, 1 if none has any.
--
-- Returns: BIGINT; an error without models, and for one without its column, which every class would meet.
-- Example:
--   SELECT anon_helpers.models_k([{'model': 'k-anonymity', 'k': 5}]) AS k;
CREATE OR REPLACE MACRO anon_helpers.models_k(models) AS
coalesce(
    list_max(list_transform(
        CAST(to_json(models) AS JSON[]),
        lambda anon_model: CASE
            WHEN (anon_model ->> 'column') IS NOT NULL THEN coalesce(CAST(anon_model ->> 'k' AS BIGINT), 1)
            WHEN (anon_model ->> 'model') = 'k-anonymity'
                THEN coalesce(CAST(anon_model ->> 'k' AS BIGINT), error('the model "k-anonymity" lacks k'))
            ELSE error(concat('the model "', anon_model ->> 'model', '" lacks its column'))
        END
    )),
    error('give at least one model, such as {''model'': ''k-anonymity'', ''k'': 5}')
);

-- The cells of some columns of a source, which are the rows that agree on all of them: a row a cell and column. NULL is a value.
--
-- Returns: cell BIGINT, cell_rows BIGINT, attribute VARCHAR, value VARCHAR.
-- Example:
--   SELECT attribute, value, sum(cell_rows) AS value_rows FROM anon_helpers.cell_values('visits', ['age', 'sex']) GROUP BY ALL;
CREATE OR REPLACE MACRO anon_helpers.cell_values(source, column_names) AS TABLE
WITH anon_cells AS MATERIALIZED (
    SELECT row_number() OVER () AS anon_cell, *
    FROM (
        SELECT anon.text_of(COLUMNS(anon_helpers.listed(column_names))), count(*) AS anon_cell_rows
        FROM query_table(anon_helpers.as_source(source))
        GROUP BY ALL
    )
)
SELECT anon_cell AS cell, anon_cell_rows AS cell_rows, anon_column AS attribute, anon_value AS value
FROM (
    FROM anon_cells UNPIVOT INCLUDE NULLS (
        anon_value FOR anon_column IN (COLUMNS(* EXCLUDE (anon_cell, anon_cell_rows)))
    )
);

-- Whether a class meets a model, from what node_counts_within measures of the values of its column. Numbers are compared
-- as by Python: a ratio of whole numbers exactly, another sum with a relative tolerance of 1e-9.
--
-- Returns: BOOLEAN; an error for another model, or one without its numbers.
-- Example:
--   SELECT anon_helpers.meets_model(
--       {'model': 'distinct-l-diversity', 'l': 2},
--       {
--           'size': 3, 'counts': [2, 1], 'distinct_diversity': 2, 'entropy_diversity': 1.9, 'largest_share': 0.67, 'distance': 0.1,
--           'disclosure': 0.5, 'basic_likeness': 0.2, 'enhanced_likeness': 0.2
--       }
--   ) AS meets;
CREATE OR REPLACE MACRO anon_helpers.meets_model(model, class) AS
coalesce(
    CASE to_json(model) ->> 'model'
        WHEN 'distinct-l-diversity' THEN class['distinct_diversity'] >= CAST(to_json(model) ->> 'l' AS BIGINT)
        WHEN 'alpha-k-anonymity'
            THEN class['largest_share'] <= CAST(to_json(model) ->> 'alpha' AS DOUBLE)
            AND class['size'] >= CAST(to_json(model) ->> 'k' AS BIGINT)
        WHEN 'recursive-c-l-diversity'
            -- recursive_ratio_of takes a constant l.
            THEN coalesce(
                class['counts'][1] / list_sum(class['counts'][CAST(to_json(model) ->> 'l' AS BIGINT):]), CAST('infinity' AS DOUBLE)
            ) < CAST(to_json(model) ->> 'c' AS DOUBLE)
        WHEN 'entropy-l-diversity'
            THEN class['entropy_diversity'] >= CAST(to_json(model) ->> 'l' AS DOUBLE) * (1 - 1e-9)
        WHEN 't-closeness'
            THEN CASE coalesce(to_json(model) ->> 'distance', 'equal')
                WHEN 'equal' THEN class['distance'] <= CAST(to_json(model) ->> 't' AS DOUBLE) * (1 + 1e-9)
                ELSE error('t-closeness is counted for the equal distance alone: Python searches for the others')
            END
        WHEN 'delta-disclosure' THEN class['disclosure'] < CAST(to_json(model) ->> 'delta' AS DOUBLE) * (1 - 1e-9)
        WHEN 'beta-likeness'
            THEN CASE to_json(model) ->> 'variant' WHEN 'enhanced' THEN class['enhanced_likeness'] ELSE class['basic_likeness'] END
            <= CAST(to_json(model) ->> 'beta' AS DOUBLE) * (1 + 1e-9)
        ELSE error(concat(
            'no model "', to_json(model) ->> 'model', '" is counted here with a column: take distinct-l-diversity, entropy-l-diversity, '
            'recursive-c-l-diversity, alpha-k-anonymity, t-closeness, beta-likeness or delta-disclosure'
        ))
    END,
    error(concat('the model "', to_json(model) ->> 'model', '" lacks a number'))
);

-- How many of some rows may be suppressed: a share of them, taken as the decimal that it is written as, and rounded down.
--
-- Returns: BIGINT; an error for a share that is not from 0 to 1.
-- Example:
--   SELECT anon_helpers.allowed_rows(0.05, 119) AS allowed_rows;
CREATE OR REPLACE MACRO anon_helpers.allowed_rows(suppression_limit, row_count) AS
CASE
    WHEN suppression_limit BETWEEN 0 AND 1
        THEN CAST(floor(CAST(anon.text_of(suppression_limit) AS DECIMAL(38, 20)) * row_count) AS BIGINT)
    ELSE error('a suppression limit is a share of the rows, from 0 to 1')
END;

-- The nodes of a lattice with their classes, counted, and what they lose. Classes are kept that have k rows and meet the
-- models, if any are given; see anon.best_nodes_where. Every node is counted if the suppression limit is NULL; otherwise nodes
-- that leave a greater share of the rows in classes of fewer than k may be missing.
--
-- How it goes. Rows are read once and counted by cells. The code of a cell is that of its values, see label_code. One
-- quasi-identifier after the other, that of most values first, gets each of its levels: the code of the label takes the
-- place of that of the value, and classes with the same code are counted as one. So a class is a sum of classes, which are
-- far fewer than the rows. The labels alone, without the values of the quasi-identifiers that are left, make larger classes;
-- where these are too small for too many rows, no levels of the others help, and these levels are given up. A node has a
-- number, whose digits are its levels. The classes of all levels that were not given up are in memory. The columns of models
-- take part in the codes, and get no level: at the end a class has a row for each combination of their values.
--
-- Returns: as anon.node_counts, with row_count BIGINT, the rows of the source.
-- Source: Samarati 2001, section 4, for the lattice; LeFevre et al. 2005 (Incognito), subset property, for what is given up.
-- Example:
--   SELECT node, suppressed_rows, lm
--   FROM anon_helpers.node_counts_within('visits', ['age', 'sex'], NULL, 2, 0.3) ORDER BY lm, node;
CREATE OR REPLACE MACRO anon_helpers.node_counts_within(source, quasi_identifiers, models, k, suppression_limit) AS TABLE
WITH RECURSIVE anon_cell_values AS MATERIALIZED (
    SELECT
        anon_cell,
        anon_cell_rows,
        CASE
            WHEN list_contains(quasi_identifiers, anon_column) THEN anon_column
            WHEN list_contains(anon_helpers.model_columns(models), anon_column) THEN NULL
            ELSE error(concat('a column is called "', anon_column, '": spell it so among the quasi-identifiers'))
        END AS anon_attribute,
        anon_column,
        anon_value
    FROM anon_helpers.cell_values(source, anon_helpers.listed(quasi_identifiers) || anon_helpers.model_columns(models))
        AS anon_cells (anon_cell, anon_cell_rows, anon_column, anon_value)
),
anon_values AS (
    SELECT
        anon_attribute,
        anon_value,
        sum(anon_cell_rows) AS anon_value_rows,
        sum(sum(anon_cell_rows)) OVER (PARTITION BY anon_attribute) AS anon_row_count,
        count(*) OVER (PARTITION BY anon_attribute) AS anon_value_count
    FROM anon_cell_values
    WHERE anon_attribute IS NOT NULL
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
        anon_helpers.label_code(anon_attribute, anon_value) AS anon_value_code,
        anon_helpers.label_code(anon_attribute, anon_taxonomy.label) AS anon_label_code
    FROM anon_values
    LEFT JOIN anon.taxonomy_heights() AS anon_heights ON anon_heights.attribute = anon_attribute
    LEFT JOIN anon_helpers.taxonomy_labels(quasi_identifiers) AS anon_taxonomy
        ON anon_taxonomy.attribute = anon_attribute
        AND anon_taxonomy.value IS NOT DISTINCT FROM anon_value
),
anon_lattice AS MATERIALIZED (
    SELECT
        product(anon_height + 1) AS anon_node_count,
        any_value(anon_row_count) AS anon_row_count,
        CASE
            WHEN suppression_limit IS NOT NULL THEN anon_helpers.allowed_rows(suppression_limit, any_value(anon_row_count))
        END AS anon_allowed_rows
    FROM (SELECT DISTINCT anon_attribute, anon_height, anon_row_count FROM anon_labels)
),
-- The values of each cell by their codes, and what each level puts in the place of a value.
anon_cell_codes AS MATERIALIZED (
    SELECT CAST(anon_cell AS UINTEGER) AS anon_cell, anon_cell_rows, anon_place, anon_value_code
    FROM anon_cell_values
    INNER JOIN (SELECT DISTINCT anon_attribute, anon_value, anon_place, anon_value_code FROM anon_labels) AS anon_coded
        ON anon_coded.anon_attribute = anon_cell_values.anon_attribute
        AND anon_coded.anon_value IS NOT DISTINCT FROM anon_cell_values.anon_value
),
-- The values of the columns of models stay what they are, in the place of a quasi-identifier that gets no level.
anon_model_codes AS MATERIALIZED (
    SELECT
        CAST(anon_cell AS UINTEGER) AS anon_cell,
        anon_column,
        anon_value,
        anon_helpers.label_code(anon_column, anon_value) AS anon_value_code,
        sum(anon_cell_rows) OVER (PARTITION BY anon_column, anon_value)
        / sum(anon_cell_rows) OVER (PARTITION BY anon_column) AS anon_reference_share
    FROM anon_cell_values
    WHERE anon_attribute IS NULL
),
anon_steps AS MATERIALIZED (
    SELECT
        anon_value_code,
        anon_height,
        CASE
            WHEN anon_label_count = anon_height + 1 AND anon_level_count = anon_label_count AND NOT anon_lacks_label
                THEN anon_level
            WHEN anon_height IS NULL
                THEN error(concat(
                    'attribute "', anon_attribute, '" has no taxonomy: insert the rows of anon.flat_taxonomy, interval_taxonomy, ',
                    'prefix_taxonomy, date_taxonomy or hierarchy_file into anon.taxonomy'
                ))
            ELSE error(concat(
                'attribute "', anon_attribute, '" has a value without one label at each level: ',
                'see anon.unmapped_values and anon.malformed_taxonomies'
            ))
        END AS anon_level,
        anon_label_code,
        anon_helpers.lm_share_of(anon_leaf_count, anon_domain_size) AS anon_lm,
        anon_helpers.ncp_share_of(anon_leaf_count, anon_domain_size) AS anon_ncp,
        anon_helpers.label_information(anon_label_rows, anon_row_count) AS anon_information
    FROM anon_labels
),
anon_classes AS (
    SELECT
        CASE
            WHEN anon_helpers.checked_k(k) IS NULL THEN NULL
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
    FROM (
        SELECT anon_cell, anon_cell_rows, anon_value_code FROM anon_cell_codes
        UNION ALL
        SELECT anon_cell, NULL, anon_value_code FROM anon_model_codes
    )
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
        WHERE suppression_limit IS NULL
        UNION ALL
        FROM anon_classes
        WHERE anon_number IN (
            SELECT anon_number
            FROM (
                SELECT anon_number, sum(anon_class_size) AS anon_size
                FROM anon_classes
                WHERE suppression_limit IS NOT NULL
                GROUP BY anon_number, anon_labels_code
            )
            GROUP BY anon_number
            HAVING anon_helpers.suppressed_rows_of(anon_size, anon_size >= k)
                <= (SELECT anon_allowed_rows FROM anon_lattice)
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
        anon_helpers.entropy_loss_of(anon_value_rows, anon_label_rows) AS anon_entropy
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
-- A class is kept if it has k rows, and meets the models: each is held against the counts of the values of its column.
anon_models AS MATERIALIZED (
    SELECT unnest(CAST(to_json(models) AS JSON[])) AS anon_model
),
anon_class_values AS (
    SELECT
        anon_number,
        anon_class,
        anon_column,
        anon_value,
        any_value(anon_reference_share) AS anon_reference_share,
        sum(anon_class_size) AS anon_rows,
        sum(sum(anon_class_size)) OVER (PARTITION BY anon_number, anon_class, anon_column) AS anon_size,
        any_value(anon_lm) AS anon_lm,
        any_value(anon_ncp) AS anon_ncp,
        any_value(anon_information) AS anon_information
    FROM (
        SELECT anon_classes.*, xor(anon_code, anon_all_values_code) AS anon_class
        FROM anon_classes
        INNER JOIN (
            SELECT anon_cell, bit_xor(anon_value_code) AS anon_all_values_code FROM anon_model_codes GROUP BY anon_cell
        ) AS anon_cell_models ON anon_cell_models.anon_cell = anon_classes.anon_cell
        WHERE anon_depth = len(quasi_identifiers)
    ) AS anon_valued
    INNER JOIN anon_model_codes ON anon_model_codes.anon_cell = anon_valued.anon_cell
    GROUP BY anon_number, anon_class, anon_column, anon_value
),
anon_judged AS (
    SELECT anon_number, anon_class_size, anon_class_size >= k AS anon_kept, anon_lm, anon_ncp, anon_information
    FROM anon_classes
    WHERE anon_depth = len(quasi_identifiers) AND len(anon_helpers.model_columns(models)) = 0
    UNION ALL
    SELECT
        anon_number,
        any_value(anon_size),
        any_value(anon_size) >= k AND bool_and(anon_helpers.meets_model(anon_model, anon_measures)),
        any_value(anon_lm),
        any_value(anon_ncp),
        any_value(anon_information)
    FROM (
        SELECT
            anon_number,
            anon_class,
            anon_column,
            CAST(any_value(anon_size) AS BIGINT) AS anon_size,
            {
                'size': any_value(anon_size),
                'counts': list(anon_rows ORDER BY anon_rows DESC),
                'distinct_diversity': anon_helpers.distinct_diversity_of(anon_rows),
                'entropy_diversity': anon_helpers.entropy_diversity_of(anon_rows),
                'largest_share': anon_helpers.largest_share_of(anon_rows),
                'distance': anon_helpers.equal_distance_of(anon_rows, anon_size, anon_reference_share),
                'disclosure': anon_helpers.disclosure_of(anon_rows, anon_reference_share),
                'basic_likeness': anon_helpers.basic_likeness_of(anon_rows, anon_reference_share),
                'enhanced_likeness': anon_helpers.enhanced_likeness_of(anon_rows, anon_reference_share)
            } AS anon_measures,
            any_value(anon_lm) AS anon_lm,
            any_value(anon_ncp) AS anon_ncp,
            any_value(anon_information) AS anon_information
        FROM anon_class_values
        GROUP BY anon_number, anon_class, anon_column
    ) AS anon_measured
    INNER JOIN anon_models ON (anon_model ->> 'column') = anon_column
    WHERE len(anon_helpers.model_columns(models)) > 0
    GROUP BY anon_number, anon_class
),
anon_counts AS (
    SELECT
        anon_number,
        count(*) AS anon_class_count,
        count(*) FILTER (WHERE anon_kept) AS anon_kept_class_count,
        anon_helpers.suppressed_rows_of(anon_class_size, anon_kept) AS anon_suppressed_rows,
        min(anon_class_size) AS anon_smallest_class,
        anon_helpers.mean_loss_of(anon_class_size, anon_kept, anon_lm / len(quasi_identifiers)) AS anon_lm,
        anon_helpers.mean_loss_of(anon_class_size, anon_kept, anon_ncp / len(quasi_identifiers)) AS anon_ncp,
        anon_helpers.suppressed_loss_of(anon_class_size, anon_kept, anon_information) AS anon_suppressed_information,
        anon_helpers.dm_of(anon_class_size, anon_kept, (SELECT anon_row_count FROM anon_lattice)) AS anon_dm,
        anon_helpers.aecs_of(anon_class_size, anon_kept, k) AS anon_aecs
    FROM anon_judged
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
    anon_aecs AS aecs,
    CAST((SELECT anon_row_count FROM anon_lattice) AS BIGINT) AS row_count
FROM anon_counts
INNER JOIN anon_nodes ON anon_nodes.anon_number = anon_counts.anon_number
WHERE anon_nodes.anon_depth = len(quasi_identifiers);

-- Every node of the lattice of some quasi-identifiers with its classes, counted, and what it loses if its classes of fewer
-- than k rows are suppressed. Losses are as of anon.lm, anon.ncp, charged_precision_loss without suppression,
-- anon.entropy_loss, charged_entropy_loss, anon.dm and anon.aecs.
--
-- Job: search.
-- Returns: node MAP(VARCHAR, INTEGER), height INTEGER, class_count BIGINT, kept_class_count BIGINT, suppressed_rows BIGINT,
-- smallest_class BIGINT, lm DOUBLE, ncp DOUBLE, prec DOUBLE, entropy DOUBLE, charged_entropy DOUBLE, dm HUGEINT, aecs DOUBLE;
-- no row for a source without rows.
-- Source: Samarati 2001, section 4; Mazzone 2019, section 4.3.
-- Example:
--   SELECT node, class_count, suppressed_rows, lm FROM anon.node_counts('visits', ['age', 'sex'], 2) ORDER BY lm, node;
CREATE OR REPLACE MACRO anon.node_counts(source, quasi_identifiers, k) AS TABLE
SELECT * EXCLUDE (row_count) FROM anon_helpers.node_counts_within(source, quasi_identifiers, NULL, k, NULL);

-- The nodes of node_counts_within that suppress at most a share of the rows, and not all of them, in the order of their
-- loss; see anon.best_nodes.
--
-- Returns: as anon.best_nodes.
-- Example:
--   SELECT rank, node, lm FROM anon_helpers.ranked_nodes('visits', ['age', 'sex'], NULL, 2, 0.25) LIMIT 3;
CREATE OR REPLACE MACRO anon_helpers.ranked_nodes(source, quasi_identifiers, models, k, suppression_limit) AS TABLE
WITH anon_found AS (
    -- Sums of the same numbers in another order differ in their last digits.
    SELECT lm - lag(lm) OVER (ORDER BY lm ASC) > 1e-12 AS anon_loses_more, *
    FROM anon_helpers.node_counts_within(source, quasi_identifiers, models, k, suppression_limit)
    WHERE suppressed_rows <= anon_helpers.allowed_rows(suppression_limit, row_count) AND kept_class_count > 0
)
SELECT
    1 + count(*) FILTER (WHERE anon_loses_more) OVER (ORDER BY lm ASC) AS rank,
    * EXCLUDE (anon_loses_more, row_count)
FROM anon_found
ORDER BY rank ASC, round(entropy, 6) ASC, suppressed_rows ASC, height ASC, map_values(node) ASC;

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
FROM anon_helpers.ranked_nodes(source, quasi_identifiers, NULL, k, suppression_limit);

-- The nodes that leave at most a share of the rows of a source in classes that do not meet some models, ranked as by
-- anon.best_nodes. Models are a list of structs with the names of a policy: k-anonymity with k, and of a column
-- distinct-l-diversity and entropy-l-diversity with l, recursive-c-l-diversity with c and l, alpha-k-anonymity with alpha and k,
-- t-closeness with t (all values equally far apart), delta-disclosure with delta, beta-likeness with beta and its variant. The
-- distributions that the last three compare with are those of the source. NULL is a value.
--
-- Job: search.
-- Returns: as anon.best_nodes.
-- Source: those of the macros that measure the models, such as anon.distinct_l_diversity.
-- Example:
--   SELECT rank, node, suppressed_rows FROM anon.best_nodes_where(
--       'visits', ['age', 'sex'], [{'model': 'k-anonymity', 'k': 2}, {'model': 'distinct-l-diversity', 'column': 'diagnosis', 'l': 2}], 0.25
--   ) LIMIT 3;
CREATE OR REPLACE MACRO anon.best_nodes_where(source, quasi_identifiers, models, suppression_limit) AS TABLE
FROM anon_helpers.ranked_nodes(
    source,
    quasi_identifiers,
    models,
    anon_helpers.models_k(models),
    suppression_limit
);

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
    FROM query_table(anon_helpers.as_source(source)) OFFSET 0
),
anon_generalized AS (
    FROM anon.generalize_columns('anon_source', quasi_identifiers, (SELECT anon_node FROM anon_best))
)
FROM anon.suppress('anon_generalized', quasi_identifiers, k)
ORDER BY ALL ASC;

-- A release of a source by local recoding: every class has labels of its own, so that rare rows coarsen nobody else. Where all
-- rows stay, it loses a fourth of what anon.release does on the demo's hospital, and a tenth on Adult with 9 quasi-identifiers.
-- Labels of several levels stand beside each other: [30, 40) and 34. Identifiers are left to the caller, as by anon.release.
-- k-anonymity is all that holds of it: whoever knows how it was made learns that the finer classes of a coarse one were small.
--
-- How it goes. Nodes are tried in the order of their loss: each takes those of the remaining rows that are in classes of k or
-- more there. A node is worth a try if it leaves fewer rows in small classes than every node that loses less; of these, and the
-- top, `rounds` are tried, evenly spaced, the top last. Fewer than k rows remain, and are left out. At the end each class shows,
-- of each quasi-identifier, the finest level at which its rows have one label; classes of the same labels are one class.
--
-- Job: release.
-- Returns: the quasi-identifiers as labels, VARCHAR, and the other columns as they are; an error for fewer than k rows.
-- Source: ours; the nodes of ARX's iterated local recoding (Prasser et al. 2020) without a search for each.
-- Example:
--   SELECT * EXCLUDE (id) FROM anon.local_recoding('visits', ['age', 'sex'], 2, 20);
CREATE OR REPLACE MACRO anon.local_recoding(source, quasi_identifiers, k, rounds) AS TABLE
WITH RECURSIVE anon_cell_values AS MATERIALIZED (
    SELECT *, anon_helpers.label_code(anon_attribute, anon_value) AS anon_value_code
    FROM anon_helpers.cell_values(source, quasi_identifiers)
        AS anon_cells (anon_cell, anon_cell_rows, anon_attribute, anon_value)
),
-- The labels of each value at all levels, and what its rows lose by them.
anon_labels AS MATERIALIZED (
    SELECT
        anon_values.anon_attribute,
        anon_values.anon_value_code,
        anon_taxonomy.level AS anon_level,
        anon_taxonomy.label AS anon_label,
        anon_helpers.label_code(anon_values.anon_attribute, anon_taxonomy.label) AS anon_label_code,
        anon_values.anon_value_rows * anon_helpers.ncp_share_of(anon_taxonomy.leaf_count, anon_heights.value_count) AS anon_loss
    FROM (
        SELECT anon_attribute, anon_value, anon_value_code, sum(anon_cell_rows) AS anon_value_rows
        FROM anon_cell_values
        GROUP BY anon_attribute, anon_value, anon_value_code
    ) AS anon_values
    INNER JOIN anon.taxonomy_heights() AS anon_heights ON anon_heights.attribute = anon_values.anon_attribute
    INNER JOIN anon_helpers.taxonomy_labels(quasi_identifiers) AS anon_taxonomy
        ON anon_taxonomy.attribute = anon_values.anon_attribute
        AND anon_taxonomy.value IS NOT DISTINCT FROM anon_values.anon_value
),
anon_nodes AS (
    SELECT anon_node, anon_height, anon_suppressed_rows, sum(anon_losses.anon_loss) AS anon_loss
    FROM (
        SELECT
            node AS anon_node,
            height AS anon_height,
            suppressed_rows AS anon_suppressed_rows,
            unnest(map_entries(node)) AS anon_level
        FROM anon.node_counts(source, quasi_identifiers, k)
        WHERE kept_class_count > 0
    ) AS anon_counted
    INNER JOIN (
        SELECT anon_attribute, anon_level, sum(anon_loss) AS anon_loss FROM anon_labels GROUP BY anon_attribute, anon_level
    ) AS anon_losses
        ON anon_losses.anon_attribute = anon_counted.anon_level['key']
        AND anon_losses.anon_level = anon_counted.anon_level['value']
    GROUP BY anon_node, anon_height, anon_suppressed_rows
),
anon_rounds AS MATERIALIZED (
    SELECT anon_node, row_number() OVER (ORDER BY anon_place ASC) AS anon_round
    FROM (
        SELECT anon_node, row_number() OVER (ORDER BY anon_order ASC) AS anon_place, count(*) OVER () AS anon_count
        FROM (
            SELECT
                *,
                row_number() OVER anon_by_loss AS anon_order,
                anon_height = max(anon_height) OVER () AS anon_is_top,
                min(anon_suppressed_rows) OVER (anon_by_loss ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
                    AS anon_fewest
            FROM anon_nodes
            WINDOW anon_by_loss AS (ORDER BY round(anon_loss, 6) ASC, anon_suppressed_rows ASC, map_values(anon_node) ASC)
        )
        WHERE anon_fewest IS NULL OR anon_suppressed_rows < anon_fewest OR anon_is_top
    )
    WHERE CASE
        WHEN rounds >= 1 THEN anon_place * rounds // anon_count > (anon_place - 1) * rounds // anon_count
        ELSE error('rounds is a number of nodes, 1 or more')
    END
),
-- What each node puts in the place of a value.
anon_steps AS MATERIALIZED (
    SELECT anon_opened.anon_round, anon_labels.anon_value_code, anon_labels.anon_label_code
    FROM (SELECT anon_round, unnest(map_entries(anon_node)) AS anon_level FROM anon_rounds) AS anon_opened
    INNER JOIN anon_labels
        ON anon_labels.anon_attribute = anon_opened.anon_level['key']
        AND anon_labels.anon_level = anon_opened.anon_level['value']
),
anon_peeled AS (
    SELECT
        CAST(0 AS BIGINT) AS anon_round,
        anon_cell,
        any_value(anon_cell_rows) AS anon_cell_rows,
        CAST(0 AS UHUGEINT) AS anon_class,
        FALSE AS anon_is_taken
    FROM anon_cell_values
    GROUP BY anon_cell
    UNION ALL
    SELECT
        anon_round,
        anon_cell,
        anon_cell_rows,
        anon_class,
        sum(anon_cell_rows) OVER (PARTITION BY anon_class) >= k
    FROM (
        SELECT
            anon_steps.anon_round,
            anon_left.anon_cell,
            any_value(anon_left.anon_cell_rows) AS anon_cell_rows,
            bit_xor(anon_steps.anon_label_code) AS anon_class
        FROM anon_peeled AS anon_left
        INNER JOIN anon_cell_values ON anon_cell_values.anon_cell = anon_left.anon_cell
        INNER JOIN anon_steps
            ON anon_steps.anon_round = anon_left.anon_round + 1
            AND anon_steps.anon_value_code = anon_cell_values.anon_value_code
        WHERE NOT anon_left.anon_is_taken
        GROUP BY anon_steps.anon_round, anon_left.anon_cell
    ) AS anon_at_node
),
anon_taken AS MATERIALIZED (
    SELECT anon_round, anon_class, anon_cell FROM anon_peeled WHERE anon_is_taken
),
anon_class_labels AS (
    SELECT anon_round, anon_class, map(list(anon_attribute), list(anon_label)) AS anon_labels
    FROM (
        SELECT anon_round, anon_class, anon_attribute, first(anon_label ORDER BY anon_level ASC) AS anon_label
        FROM (
            SELECT
                anon_taken.anon_round,
                anon_taken.anon_class,
                anon_labels.anon_attribute,
                anon_labels.anon_level,
                any_value(anon_labels.anon_label) AS anon_label
            FROM anon_taken
            INNER JOIN anon_cell_values ON anon_cell_values.anon_cell = anon_taken.anon_cell
            INNER JOIN anon_labels ON anon_labels.anon_value_code = anon_cell_values.anon_value_code
            GROUP BY anon_taken.anon_round, anon_taken.anon_class, anon_labels.anon_attribute, anon_labels.anon_level
            HAVING min(anon_labels.anon_label_code) = max(anon_labels.anon_label_code)
        )
        GROUP BY anon_round, anon_class, anon_attribute
    )
    GROUP BY anon_round, anon_class
),
anon_published AS MATERIALIZED (
    SELECT anon_cell_codes.anon_cell_code, anon_class_labels.anon_labels
    FROM anon_taken
    INNER JOIN anon_class_labels
        ON anon_class_labels.anon_round = anon_taken.anon_round AND anon_class_labels.anon_class = anon_taken.anon_class
    INNER JOIN (
        SELECT anon_cell, bit_xor(anon_value_code) AS anon_cell_code FROM anon_cell_values GROUP BY anon_cell
    ) AS anon_cell_codes ON anon_cell_codes.anon_cell = anon_taken.anon_cell
)
SELECT * EXCLUDE (anon_other)
FROM (
    SELECT
        anon_labels[alias(COLUMNS(anon_helpers.listed(quasi_identifiers)))],
        COLUMNS(lambda anon_column: NOT list_contains(
            anon_helpers.listed(quasi_identifiers) || ['anon_cell_code', 'anon_labels', 'anon_last_round'], anon_column
        ))
    FROM (
        SELECT *, list_aggregate([*COLUMNS(anon_helpers.listed(quasi_identifiers))], 'bit_xor') AS anon_cell_code
        FROM (
            SELECT
                anon_helpers.label_code(
                    alias(COLUMNS(anon_helpers.listed(quasi_identifiers))),
                    anon.text_of(COLUMNS(anon_helpers.listed(quasi_identifiers)))
                ),
                COLUMNS(lambda anon_column: NOT list_contains(anon_helpers.listed(quasi_identifiers), anon_column))
            -- COLUMNS that match nothing are an error: there is always one column beside the quasi-identifiers.
            FROM (SELECT *, NULL AS anon_other FROM query_table(anon_helpers.as_source(source)))
        )
    ) AS anon_rows
    INNER JOIN anon_published USING (anon_cell_code)
    CROSS JOIN (
        SELECT coalesce(max(anon_round), error('there are fewer rows than k, or none: take a smaller k')) AS anon_last_round
        FROM anon_rounds
    ) AS anon_checked
    WHERE anon_last_round > 0
)
ORDER BY ALL ASC;
