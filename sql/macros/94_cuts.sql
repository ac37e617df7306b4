-- Generalizing rows at a cut: what the values of predictors become by a table, whose labels may be of several levels.
--
-- A cut has columns attribute VARCHAR, value VARCHAR, low DOUBLE, high DOUBLE and label VARCHAR: a row per value of an
-- attribute with a taxonomy, a row per interval of numbers, from low on and below high, and of an attribute whose values
-- are sets of items a row per item, and one that has neither if sets without items have a label. anonymize writes such a
-- table beside a release of DiffGen.

-- The labels of a cut by value, marked as in marked_label, with NULL for what stays NULL: that of an attribute whose
-- values are not sets.
--
-- Returns: attribute VARCHAR, value VARCHAR, label VARCHAR, a row per attribute and value, and one of no attribute.
-- Example:
--   WITH cuts AS (FROM (VALUES ('sex', 'f', NULL, NULL, '*')) AS of_sex (attribute, value, low, high, label))
--   FROM anon_helpers.cut_labels('cuts') ORDER BY value;
CREATE OR REPLACE MACRO anon_helpers.cut_labels(cuts) AS TABLE
SELECT
    anon_attribute AS attribute,
    anon_value AS value,
    anon_helpers.marked_label(max(anon_label), count(*)) AS label
FROM (
    SELECT attribute AS anon_attribute, value AS anon_value, label AS anon_label FROM query_table(anon_helpers.as_source(cuts))
    UNION ALL
    SELECT NULL, NULL, NULL
)
GROUP BY anon_attribute, anon_value;

-- The intervals of a cut by attribute: where they begin, ascending, and their labels, marked as in marked_label.
--
-- Returns: attribute VARCHAR, starts DOUBLE[], labels VARCHAR[], which is NULL if they leave gaps or overlap.
-- Example:
--   WITH cuts AS (FROM (VALUES ('age', NULL, 20, 40, '[20, 40)'), ('age', NULL, 40, 80, '[40, 80)')) AS of_age (attribute, value, low, high, label))
--   FROM anon_helpers.cut_intervals('cuts');
CREATE OR REPLACE MACRO anon_helpers.cut_intervals(cuts) AS TABLE
SELECT
    anon_attribute AS attribute,
    anon_starts AS starts,
    CASE WHEN anon_starts[2:] = anon_ends[:-2] THEN anon_labels END AS labels
FROM (
    SELECT
        attribute AS anon_attribute,
        list(CAST(low AS DOUBLE) ORDER BY low ASC NULLS LAST) AS anon_starts,
        list(CAST(high AS DOUBLE) ORDER BY low ASC NULLS LAST) AS anon_ends,
        list(anon_helpers.marked_label(label, 1) ORDER BY low ASC NULLS LAST) AS anon_labels
    FROM query_table(anon_helpers.as_source(cuts))
    WHERE low IS NOT NULL
    GROUP BY attribute
);

-- What sets of items become at a cut: the labels of their items, each once, in the order of their text. Items that are
-- NULL are left out; of no items it is the label of none, if the cut has one.
--
-- sets: anon_attribute VARCHAR, anon_items VARCHAR[], a row per set; NULL is left out.
-- Returns: attribute VARCHAR, items VARCHAR[], labels VARCHAR[], which is NULL if the cut does not know some item.
-- Example:
--   WITH
--       cuts AS (FROM (VALUES ('drugs', 'a', NULL, NULL, 'A*'), ('drugs', 'b', NULL, NULL, 'B*')) AS of_drugs (attribute, value, low, high, label)),
--       sets AS (SELECT 'drugs' AS anon_attribute, ['b', NULL, 'a', 'b'] AS anon_items)
--   FROM anon_helpers.cut_sets('cuts', 'sets');
CREATE OR REPLACE MACRO anon_helpers.cut_sets(cuts, sets) AS TABLE
SELECT
    anon_attribute AS attribute,
    anon_items AS items,
    CASE
        WHEN count(*) FILTER (WHERE anon_item IS NOT NULL AND coalesce(anon_rows, 0) <> 1) = 0
            THEN coalesce(
                list(DISTINCT anon_label ORDER BY anon_label ASC NULLS LAST) FILTER (WHERE anon_label IS NOT NULL),
                CAST([] AS VARCHAR[])
            )
    END AS labels
FROM (
    SELECT anon_sets.anon_attribute, anon_sets.anon_items, anon_sets.anon_item, anon_cut.anon_rows, anon_cut.anon_label
    FROM (
        SELECT anon_attribute, anon_items, unnest(CASE WHEN len(anon_known) = 0 THEN [NULL] ELSE anon_known END) AS anon_item
        FROM (
            SELECT
                anon_attribute,
                anon_items,
                list_filter(anon_items, lambda anon_item: anon_item IS NOT NULL) AS anon_known
            FROM query_table(anon_helpers.as_source(sets))
        )
    ) AS anon_sets
    LEFT JOIN (
        SELECT
            attribute AS anon_attribute, value AS anon_value, max(label) AS anon_label, count(*) AS anon_rows
        FROM query_table(anon_helpers.as_source(cuts))
        GROUP BY attribute, value
    ) AS anon_cut
        ON anon_cut.anon_attribute = anon_sets.anon_attribute
        AND anon_cut.anon_value IS NOT DISTINCT FROM anon_sets.anon_item
)
GROUP BY anon_attribute, anon_items;

-- The marked label of the interval that a number lies in, by the columns of the same name of two relations of one row; of
-- the nearest one if it lies in none, and the mark of NULL for NULL.
--
-- starts, labels: a column for every attribute, with the list of where its intervals begin, ascending, and that of their
-- labels. `attribute` is a column of a relation anon_rows and DOUBLE. It is read twice, as in found_label.
-- Returns: VARCHAR; NULL without a list.
-- Example:
--   WITH starts AS (SELECT [20, 40, 60] AS age), labels AS (SELECT ['young', 'middle', 'old'] AS age)
--   SELECT id, anon_helpers.found_interval('starts', 'labels', age) AS found FROM visits AS anon_rows ORDER BY id;
CREATE OR REPLACE MACRO anon_helpers.found_interval(starts, labels, attribute) AS
CASE
    WHEN attribute IS NULL THEN chr(2)
    -- One pass over so few numbers takes a third of the time of an ASOF join with them.
    ELSE (SELECT anon_list FROM (SELECT attribute AS anon_list FROM query_table(anon_helpers.as_source(labels)) AS anon_rows))[
        greatest(1, len(list_filter(
            (
                SELECT anon_list
                FROM (SELECT attribute AS anon_list FROM query_table(anon_helpers.as_source(starts)) AS anon_rows)
            ),
            lambda anon_start: anon_start <= attribute
        )))
    ]
END;

-- The rows of a source with what each predictor of a cut is found to become there: categories and numbers as marked
-- labels, see marked_label, and sets as lists of labels behind an empty text; the empty list is NULL that stays NULL,
-- and NULL says that the cut does not know the value. There are columns anon_category, anon_number and anon_set more.
--
-- Joins are hash joins, as in anon.generalize. Equal lists of items become labels once.
--
-- How it goes. For each kind of predictor a relation of a few rows has the labels, in columns of the predictors' names; the
-- rows of the source, as texts, numbers and sort keys of lists, look them up.
--
-- Example:
--   WITH cuts AS (FROM (VALUES ('sex', 'f', NULL, NULL, '*'), ('sex', 'm', NULL, NULL, '*')) AS of_sex (attribute, value, low, high, label))
--   FROM anon_helpers.found_cut_labels('visits', 'cuts', ['sex'], [], []) ORDER BY id LIMIT 3;
CREATE OR REPLACE MACRO anon_helpers.found_cut_labels(source, cuts, categories, numbers, sets) AS TABLE
WITH anon_named AS NOT MATERIALIZED (
    -- No rows, but the names of the columns. COLUMNS that match nothing are an error: there is one of each kind.
    SELECT *, '' AS anon_category, 0 AS anon_number, [''] AS anon_set FROM query_table(anon_helpers.as_source(source)) LIMIT 0
),
anon_category_labels AS NOT MATERIALIZED (
    SELECT
        anon_value,
        CASE
            WHEN anon_value IS NULL THEN chr(2)
            ELSE max(CASE
                WHEN anon_attribute = alias(COLUMNS(anon_helpers.listed(categories) || ['anon_category'])) THEN anon_label
            END)
        END
    FROM anon_helpers.cut_labels(cuts) AS anon_labels (anon_attribute, anon_value, anon_label)
    LEFT JOIN (SELECT COLUMNS(anon_helpers.listed(categories) || ['anon_category']) FROM anon_named) AS anon_columns ON TRUE
    GROUP BY anon_value
),
anon_starts AS NOT MATERIALIZED (
    SELECT max(CASE WHEN anon_attribute = alias(COLUMNS(anon_helpers.listed(numbers) || ['anon_number'])) THEN anon_list END)
    FROM anon_helpers.cut_intervals(cuts) AS anon_intervals (anon_attribute, anon_list, anon_labels)
    LEFT JOIN (SELECT COLUMNS(anon_helpers.listed(numbers) || ['anon_number']) FROM anon_named) AS anon_columns ON TRUE
),
anon_interval_labels AS NOT MATERIALIZED (
    SELECT max(CASE WHEN anon_attribute = alias(COLUMNS(anon_helpers.listed(numbers) || ['anon_number'])) THEN anon_list END)
    FROM anon_helpers.cut_intervals(cuts) AS anon_intervals (anon_attribute, anon_starts, anon_list)
    LEFT JOIN (SELECT COLUMNS(anon_helpers.listed(numbers) || ['anon_number']) FROM anon_named) AS anon_columns ON TRUE
),
anon_given_sets AS NOT MATERIALIZED (
    SELECT DISTINCT anon_set.anon_attribute, anon_set.anon_items
    FROM (
        SELECT unnest([*COLUMNS(anon_helpers.listed(sets) || ['anon_set'])]) AS anon_set
        FROM (
            SELECT {
                -- Bare, it would be the name of the field.
                'anon_attribute': concat(alias(COLUMNS(anon_helpers.listed(sets) || ['anon_set']))),
                'anon_items': CAST(anon_helpers.as_read(COLUMNS(anon_helpers.listed(sets) || ['anon_set'])) AS VARCHAR[])
            }
            FROM (SELECT *, CAST(NULL AS VARCHAR[]) AS anon_set FROM query_table(anon_helpers.as_source(source)))
        )
    )
),
anon_set_labels AS NOT MATERIALIZED (
    SELECT
        anon_value,
        CASE
            WHEN anon_value IS NULL THEN CAST([] AS VARCHAR[])
            ELSE max(CASE
                WHEN anon_attribute = alias(COLUMNS(anon_helpers.listed(sets) || ['anon_set'])) THEN anon_labels
            END)
        END
    FROM (
        SELECT
            attribute AS anon_attribute,
            create_sort_key(items, 'ASC NULLS LAST') AS anon_value,
            [''] || labels AS anon_labels
        FROM anon_helpers.cut_sets(cuts, 'anon_given_sets')
        UNION ALL
        SELECT NULL, NULL, NULL
    )
    LEFT JOIN (SELECT COLUMNS(anon_helpers.listed(sets) || ['anon_set']) FROM anon_named) AS anon_columns ON TRUE
    GROUP BY anon_value
)
SELECT
    anon_helpers.found_label('anon_category_labels', COLUMNS(anon_helpers.listed(categories) || ['anon_category'])),
    anon_helpers.found_interval('anon_starts', 'anon_interval_labels', COLUMNS(anon_helpers.listed(numbers) || ['anon_number'])),
    anon_helpers.found_label('anon_set_labels', COLUMNS(anon_helpers.listed(sets) || ['anon_set'])),
    COLUMNS(lambda anon_column: NOT list_contains(
        categories || numbers || sets || ['anon_category', 'anon_number', 'anon_set'], anon_column
    ))
FROM (
    SELECT
        anon.text_of(COLUMNS(anon_helpers.listed(categories) || ['anon_category'])),
        CASE
            WHEN COLUMNS(anon_helpers.listed(numbers) || ['anon_number']) IS NOT NULL THEN coalesce(
                TRY_CAST(anon_helpers.as_read(COLUMNS(anon_helpers.listed(numbers) || ['anon_number'])) AS DOUBLE),
                error(concat(
                    'attribute "', alias(COLUMNS(anon_helpers.listed(numbers) || ['anon_number'])),
                    '" has a value that is not a number: cast it in a view'
                ))
            )
        END,
        -- Not the list itself: it would be no hash join.
        CASE
            WHEN COLUMNS(anon_helpers.listed(sets) || ['anon_set']) IS NOT NULL THEN create_sort_key(
                CAST(anon_helpers.as_read(COLUMNS(anon_helpers.listed(sets) || ['anon_set'])) AS VARCHAR[]), 'ASC NULLS LAST'
            )
        END,
        COLUMNS(lambda anon_column: NOT list_contains(
            categories || numbers || sets || ['anon_category', 'anon_number', 'anon_set'], anon_column
        ))
    FROM (
        SELECT
            *,
            CAST(NULL AS VARCHAR) AS anon_category,
            CAST(NULL AS DOUBLE) AS anon_number,
            CAST(NULL AS VARCHAR[]) AS anon_set,
            NULL AS anon_other
        FROM query_table(anon_helpers.as_source(source))
    )
) AS anon_rows;

-- The label that was found, see found_cut_labels; what the cut does not know is an error, as in anon.label_of.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.checked_cut_label('sex', anon_helpers.marked_label('*', 1)) AS label;
CREATE OR REPLACE MACRO anon_helpers.checked_cut_label(attribute, found) AS
anon_helpers.unmarked_label(
    found,
    concat('attribute "', attribute, '" has a value with several labels in the cut: see anon_helpers.rows_without_label'),
    concat('attribute "', attribute, '" has a value without a label in the cut: see anon_helpers.rows_without_label')
);

-- The labels of a set that were found, see found_cut_labels; what the cut does not know is an error.
--
-- Returns: VARCHAR[].
-- Example:
--   SELECT anon_helpers.checked_cut_labels('drugs', string_split(',A*', ',')) AS labels;
CREATE OR REPLACE MACRO anon_helpers.checked_cut_labels(attribute, found) AS
CASE
    -- As found[2:], which DuckDB 1.5 does not read behind COLUMNS.
    WHEN len(found) > 0 THEN list_slice(found, 2, -1)
    WHEN found IS NULL THEN error(concat(
        'attribute "', attribute, '" has an item without a label in the cut, or with several: see anon_helpers.rows_without_label'
    ))
END;

-- In how many rows of a source each predictor has a value that the cut does not know, or that has several labels there; see
-- anon.apply_cut, which takes the same. NULL is always known.
--
-- Returns: attribute VARCHAR, row_count BIGINT, one row per predictor.
-- Example:
--   WITH cuts AS (FROM (VALUES ('sex', 'f', NULL, NULL, '*')) AS of_sex (attribute, value, low, high, label))
--   FROM anon_helpers.rows_without_label('visits', 'cuts', ['sex'], [], []);
CREATE OR REPLACE MACRO anon_helpers.rows_without_label(source, cuts, categories, numbers, sets) AS TABLE
SELECT anon_found.anon_attribute AS attribute, anon_found.anon_rows AS row_count
FROM (
    SELECT unnest([*COLUMNS(*)]) AS anon_found
    FROM (
        -- A bare alias would be the name of the field.
        SELECT {'anon_attribute': concat(alias(COLUMNS(*))), 'anon_rows': COLUMNS(*)}
        FROM (
            SELECT
                -- COLUMNS in a FILTER would stand for all columns at once on DuckDB 2.0.
                count(CASE WHEN coalesce(ascii(COLUMNS(anon_helpers.listed(categories) || ['anon_category'])), 1) = 1 THEN 1 END),
                count(CASE WHEN coalesce(ascii(COLUMNS(anon_helpers.listed(numbers) || ['anon_number'])), 1) = 1 THEN 1 END),
                count(CASE WHEN COLUMNS(anon_helpers.listed(sets) || ['anon_set']) IS NULL THEN 1 END)
            FROM anon_helpers.found_cut_labels(source, cuts, categories, numbers, sets)
        )
    )
)
WHERE anon_found.anon_attribute NOT IN ('anon_category', 'anon_number', 'anon_set');

-- The rows of a source with each predictor of a cut replaced by its label there, as those of a release are whose cut it is.
--
-- Values of categories are compared as text; numbers take the label of their interval, those beyond all intervals that of
-- the nearest one; and sets become the list of the labels of their items, see cut_sets. NULL stays NULL. A value that
-- the cut does not know, or that has several labels, is an error, because a raw value must never pass for a label.
--
-- Categories come first, then numbers and sets; the other columns follow as they are. Rows are neither dropped nor put in
-- order, and are as sensitive as they were: nothing is anonymized. The lists of columns may be empty.
--
-- It takes 0.2 to 0.9 times as long as joins written by hand (tests/benchmarks/macros.py, seven categories and two numbers,
-- or sets, of a million rows, written to a table): these look for the interval of a number by a join of inequalities.
--
-- cuts: attribute VARCHAR, value VARCHAR, low DOUBLE, high DOUBLE, label VARCHAR, as described at the top of this file.
-- Job: release.
-- Source: Mohammed et al. 2013, algorithm 1, of records that come after the release.
-- Example:
--   WITH cuts AS (
--       FROM (VALUES
--           ('sex', 'f', NULL, NULL, '*'), ('sex', 'm', NULL, NULL, '*'),
--           ('age', NULL, 20, 40, '[20, 40)'), ('age', NULL, 40, 80, '[40, 80)')
--       ) AS of_predictors (attribute, value, low, high, label)
--   )
--   FROM anon.apply_cut('visits', 'cuts', ['sex'], ['age'], []) ORDER BY id LIMIT 3;
CREATE OR REPLACE MACRO anon.apply_cut(source, cuts, categories, numbers, sets) AS TABLE
SELECT * EXCLUDE (anon_category, anon_number, anon_set, anon_other)
FROM (
    SELECT
        anon_helpers.checked_cut_label(
            alias(COLUMNS(anon_helpers.listed(categories) || ['anon_category'])),
            COLUMNS(anon_helpers.listed(categories) || ['anon_category'])
        ),
        anon_helpers.checked_cut_label(
            alias(COLUMNS(anon_helpers.listed(numbers) || ['anon_number'])),
            COLUMNS(anon_helpers.listed(numbers) || ['anon_number'])
        ),
        anon_helpers.checked_cut_labels(
            alias(COLUMNS(anon_helpers.listed(sets) || ['anon_set'])),
            COLUMNS(anon_helpers.listed(sets) || ['anon_set'])
        ),
        COLUMNS(lambda anon_column: NOT list_contains(
            categories || numbers || sets || ['anon_category', 'anon_number', 'anon_set'], anon_column
        ))
    FROM anon_helpers.found_cut_labels(source, cuts, categories, numbers, sets)
);
