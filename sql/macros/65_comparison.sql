-- Comparison of a released table with its original. Every macro here reads the original: the results are for those who
-- may see that table, and publishing them beside a differentially private release would undo the promise of the release.
--
-- A masked row has * in every quasi-identifier. Labels and sensitive values are compared as text, and NULL is a value.

-- The values that each label of each taxonomy may stand for, at whatever level a released table shows it. A label that
-- stands at several levels is read at the highest of them, and * as the whole domain where no level has it.
--
-- Returns: attribute VARCHAR, label VARCHAR, value VARCHAR; a row per label and value under it.
-- Example:
--   SELECT label, count(*) AS leaf_count FROM anon_helpers.label_values() WHERE attribute = 'sex' GROUP BY label ORDER BY label;
CREATE OR REPLACE MACRO anon_helpers.label_values() AS TABLE
SELECT anon_attribute AS attribute, anon_label AS label, anon_value AS value
FROM (
    SELECT *, max(anon_level) OVER (PARTITION BY anon_attribute, anon_label) AS anon_highest
    FROM (
        SELECT anon_attribute, anon_level, anon_value, anon_label
        FROM anon.taxonomy AS anon_taxonomy (anon_attribute, anon_level, anon_value, anon_label)
        UNION ALL
        SELECT anon_attribute, -1 AS anon_level, anon_value, '*' AS anon_label
        FROM anon.taxonomy AS anon_taxonomy (anon_attribute, anon_level, anon_value, anon_label)
        WHERE anon_level = 0
    )
)
WHERE anon_level = anon_highest;

-- A label that no value of the taxonomy carries, as the value that it is: NULL, and all that a column without a
-- taxonomy shows. Any other label that its taxonomy does not have is an error, because its meaning is unknown.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.value_without_taxonomy('diagnosis', 'flu') AS value;
CREATE OR REPLACE MACRO anon_helpers.value_without_taxonomy(attribute, label) AS
CASE
    WHEN label IS NULL THEN NULL
    WHEN attribute IN (SELECT anon_taxonomy.anon_attribute FROM anon.taxonomy AS anon_taxonomy (
        anon_attribute, anon_level, anon_value, anon_label
    )) THEN error(concat('attribute "', attribute, '" shows a label that its taxonomy has at no level'))
    ELSE anon.text_of(label)
END;

-- The probability that a released label stands for a value, if all values under the label are equally likely; see
-- label_values and value_without_taxonomy. A row meets several conditions with the product of these.
--
-- Job: answers.
-- Returns: DOUBLE in [0, 1].
-- Source: Lee and Chung 2020, queries Q1 to Q4.
-- Example:
--   SELECT
--       anon.label_share('age', '[30, 40)', 34) AS decade,
--       anon.label_share('diagnosis', 'flu', 'flu') AS kept;
CREATE OR REPLACE MACRO anon.label_share(attribute, label, value) AS (
    SELECT CASE
        WHEN anon_found.anon_values > 0 THEN anon_found.anon_same_values / anon_found.anon_values
        WHEN anon_helpers.value_without_taxonomy(attribute, label) IS NOT DISTINCT FROM anon.text_of(value) THEN 1.0
        ELSE 0.0
    END
    FROM (
        SELECT
            count(*) AS anon_values,
            count(*) FILTER (WHERE anon_labels.anon_value IS NOT DISTINCT FROM anon.text_of(value)) AS anon_same_values
        FROM anon_helpers.label_values() AS anon_labels (anon_attribute, anon_label, anon_value)
        WHERE anon_labels.anon_attribute = attribute AND anon_labels.anon_label IS NOT DISTINCT FROM anon.text_of(label)
    ) AS anon_found (anon_values, anon_same_values)
);

-- A value of a column as a number; an error names the column, never the value.
--
-- Returns: DOUBLE; NULL for NULL.
-- Example:
--   SELECT anon_helpers.number_of('age', '34') AS number;
CREATE OR REPLACE MACRO anon_helpers.number_of(attribute, value) AS
CASE
    WHEN value IS NULL THEN NULL
    WHEN TRY_CAST(anon_helpers.as_read(value) AS DOUBLE) IS NULL
        THEN error(concat('column "', attribute, '" has a value that is not a number'))
    ELSE TRY_CAST(anon_helpers.as_read(value) AS DOUBLE)
END;

-- The number halfway between the smallest and the largest number that a released label may stand for; see
-- label_values and value_without_taxonomy.
--
-- Returns: DOUBLE; NULL for a label of nothing but NULL, an error for a value that is not a number.
-- Example:
--   SELECT anon_helpers.label_midpoint('age', '[30, 40)') AS decade, anon_helpers.label_midpoint('age', '*') AS domain;
CREATE OR REPLACE MACRO anon_helpers.label_midpoint(attribute, label) AS (
    SELECT CASE
        WHEN anon_found.anon_values = 0
            THEN anon_helpers.number_of(attribute, anon_helpers.value_without_taxonomy(attribute, label))
        ELSE (anon_found.anon_smallest + anon_found.anon_largest) / 2
    END
    FROM (
        SELECT
            count(*) AS anon_values,
            min(anon_helpers.number_of(attribute, anon_labels.anon_value)) AS anon_smallest,
            max(anon_helpers.number_of(attribute, anon_labels.anon_value)) AS anon_largest
        FROM anon_helpers.label_values() AS anon_labels (anon_attribute, anon_label, anon_value)
        WHERE anon_labels.anon_attribute = attribute AND anon_labels.anon_label IS NOT DISTINCT FROM anon.text_of(label)
    ) AS anon_found (anon_values, anon_smallest, anon_largest)
);

-- NCP of a released table by the labels that it shows, the mean over its rows: row policy "published", which counts
-- counterfeit rows in. A masked row loses 1 in every quasi-identifier; one without a taxonomy is shown as it is and
-- loses nothing else.
--
-- How it goes. The rows are counted by cells; each label that is shown gets its loss once, from the leaves under it, and cells
-- get the mean of theirs.
--
-- Job: loss.
-- Returns: one row: ncp DOUBLE in [0, 1]; literal_ncp DOUBLE, as printed, which is not divided by the number q of
-- quasi-identifiers, in [0, q]. Both are NULL for a table without rows.
-- Source: Lee and Chung 2020, equations 5 and 6.
-- Example:
--   FROM anon.released_ncp('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon.released_ncp(released, quasi_identifiers) AS TABLE
WITH anon_labels AS (
    FROM anon_helpers.cell_values(released, quasi_identifiers)
        AS anon_cells (anon_cell, anon_rows, anon_attribute, anon_label)
),
anon_leaves AS (
    SELECT attribute AS anon_attribute, label AS anon_label, count(*) AS anon_leaf_count
    FROM anon_helpers.label_values()
    GROUP BY ALL
),
anon_losses AS (
    SELECT
        anon_shown.anon_attribute,
        anon_shown.anon_label,
        CASE
            WHEN anon_leaves.anon_leaf_count IS NOT NULL
                THEN anon_helpers.ncp_share_of(anon_leaves.anon_leaf_count, anon_heights.value_count)
            WHEN anon_helpers.value_without_taxonomy(anon_shown.anon_attribute, anon_shown.anon_label)
                IS NOT DISTINCT FROM anon_shown.anon_label THEN 0.0
        END AS anon_loss
    FROM (SELECT DISTINCT anon_attribute, anon_label FROM anon_labels) AS anon_shown
    LEFT JOIN anon.taxonomy_heights() AS anon_heights ON anon_heights.attribute = anon_shown.anon_attribute
    LEFT JOIN anon_leaves
        ON anon_leaves.anon_attribute = anon_shown.anon_attribute
        AND anon_leaves.anon_label IS NOT DISTINCT FROM anon_shown.anon_label
)
SELECT
    sum(anon_rows * anon_loss) / sum(anon_rows) AS ncp,
    sum(anon_rows * anon_loss * anon_width) / sum(anon_rows) AS literal_ncp
FROM (
    SELECT
        any_value(anon_labels.anon_rows) AS anon_rows,
        count(*) AS anon_width,
        CASE
            WHEN bool_and(anon_labels.anon_label IS NOT DISTINCT FROM '*') THEN 1.0
            ELSE avg(anon_losses.anon_loss)
        END AS anon_loss
    FROM anon_labels
    INNER JOIN anon_losses
        ON anon_losses.anon_attribute = anon_labels.anon_attribute
        AND anon_losses.anon_label IS NOT DISTINCT FROM anon_labels.anon_label
    GROUP BY anon_labels.anon_cell
);

-- Total variation distance between the distributions of one column in two tables, half of all differences between the
-- shares of its values. Lee and Chung 2020 call it earth mover's distance, which it is for values equally far apart.
-- Row policy: all rows of both tables, masked and counterfeit ones included.
--
-- Job: loss.
-- Returns: one row: total_variation DOUBLE in [0, 1]; NULL if one of the tables has no rows.
-- Source: Lee and Chung 2020, equation 7.
-- Example:
--   WITH released AS (FROM visits WHERE age IS NOT NULL)
--   FROM anon.total_variation('visits', 'released', 'diagnosis');
CREATE OR REPLACE MACRO anon.total_variation(original, released, column_name) AS TABLE
SELECT
    CASE
        WHEN min(anon_original_total) > 0 AND min(anon_released_total) > 0 THEN
            anon_helpers.equal_distance_of(anon_released_rows, anon_released_total, anon_original_rows / anon_original_total)
    END AS total_variation
FROM (
    SELECT
        anon_original_rows,
        anon_released_rows,
        sum(anon_original_rows) OVER () AS anon_original_total,
        sum(anon_released_rows) OVER () AS anon_released_total
    FROM (
        SELECT anon_value, sum(1 - anon_in_released) AS anon_original_rows, sum(anon_in_released) AS anon_released_rows
        FROM (
            SELECT anon.text_of(COLUMNS([column_name])) AS anon_value, 0 AS anon_in_released
            FROM query_table(anon_helpers.as_source(original))
            UNION ALL
            SELECT anon.text_of(COLUMNS([column_name])) AS anon_value, 1 AS anon_in_released
            FROM query_table(anon_helpers.as_source(released))
        )
        GROUP BY anon_value
    )
);

-- Every class and sensitive value of a released table, with the rows of the original that it was made from. The
-- original is generalized to the node of the release; its rows belong to the class that has their labels.
--
-- In a release with masked rows, original rows whose labels and sensitive value it does not show together are among the
-- masked ones, and belong to their class. Without masked rows they were dropped, and stay where they were.
--
-- How it goes. Both tables are counted together by labels and value; the labels become a list in the order of the node; and rows
-- of the original that went nowhere go to the class of masked rows, if there is one.
--
-- Returns: class VARCHAR[], the labels in the order of the node; sensitive_value VARCHAR; original_rows BIGINT and
-- released_rows BIGINT, one of them above 0.
-- Source: Lee and Chung 2020, tables 5 to 8.
-- Example:
--   WITH released AS (FROM anon.generalize('visits', MAP {'age': 2, 'sex': 1}) WHERE diagnosis = 'flu')
--   FROM anon_helpers.compared_values('visits', 'released', MAP {'age': 2, 'sex': 1}, 'diagnosis') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.compared_values(original, released, node, sensitive) AS TABLE
WITH anon_cells AS (
    SELECT
        COLUMNS(map_keys(node)),
        anon_value,
        sum(1 - anon_in_released) AS anon_original_rows,
        sum(anon_in_released) AS anon_released_rows
    FROM (
        SELECT COLUMNS(map_keys(node)), anon.text_of(COLUMNS([sensitive])) AS anon_value, 0 AS anon_in_released
        FROM anon.generalize(original, node)
        -- By name: COLUMNS follows the order of each table, and theirs may differ.
        UNION ALL BY NAME
        SELECT
            anon.text_of(COLUMNS(map_keys(node))),
            anon.text_of(COLUMNS([sensitive])) AS anon_value,
            1 AS anon_in_released
        FROM query_table(anon_helpers.as_source(released))
    )
    GROUP BY ALL
),
anon_labelled AS (
    SELECT
        list_transform(map_keys(node), lambda anon_name: anon_labels[lower(anon_name)]) AS anon_class,
        list_transform(map_keys(node), lambda anon_name: '*') AS anon_mask,
        anon_value,
        anon_original_rows,
        anon_released_rows
    FROM (
        SELECT
            map_from_entries(list_value(*COLUMNS(map_keys(node)))) AS anon_labels,
            anon_value,
            anon_original_rows,
            anon_released_rows
        FROM (
            SELECT
                struct_pack(anon_name := lower(alias(COLUMNS(map_keys(node)))), anon_label := COLUMNS(map_keys(node))),
                anon_value,
                anon_original_rows,
                anon_released_rows
            FROM anon_cells
        )
    )
)
SELECT
    anon_class AS class,
    anon_value AS sensitive_value,
    CAST(sum(anon_original_rows) AS BIGINT) AS original_rows,
    CAST(sum(anon_released_rows) AS BIGINT) AS released_rows
FROM (
    SELECT
        CASE WHEN anon_released_rows = 0 AND bool_or(anon_released_rows > 0 AND anon_class = anon_mask) OVER ()
            THEN anon_mask
            ELSE anon_class
        END AS anon_class,
        anon_value,
        anon_original_rows,
        anon_released_rows
    FROM anon_labelled
)
GROUP BY anon_class, anon_value;

-- The share of a class's released rows that nothing in the original stands for.
--
-- Returns: DOUBLE in [0, 1]; NULL for a class that is not released.
-- Source: Lee and Chung 2020, equation 8.
-- Example:
--   SELECT anon_helpers.counterfeit_share_of(3, 4) AS rate;
CREATE OR REPLACE MACRO anon_helpers.counterfeit_share_of(original_rows, released_rows) AS
CASE WHEN released_rows > 0 THEN greatest(released_rows - original_rows, 0) / released_rows END;

-- Every class of compared_values with its sizes, and how far its released sensitive values are from the original
-- ones: the total variation distance, 1 for a class without original rows, NULL for one that is not released.
--
-- Returns: class VARCHAR[], masked BOOLEAN, original_rows BIGINT, released_rows BIGINT, distance DOUBLE and
-- counterfeit_share DOUBLE, both in [0, 1].
-- Source: Lee and Chung 2020, equations 7 and 8 for one class.
-- Example:
--   WITH released AS (FROM anon.generalize('visits', MAP {'age': 2, 'sex': 1}) WHERE diagnosis = 'flu')
--   FROM anon_helpers.compared_classes('visits', 'released', MAP {'age': 2, 'sex': 1}, 'diagnosis') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.compared_classes(original, released, node, sensitive) AS TABLE
SELECT
    anon_class AS class,
    anon_class = list_transform(anon_class, lambda anon_label: '*') AS masked,
    CAST(any_value(anon_original_size) AS BIGINT) AS original_rows,
    CAST(any_value(anon_released_size) AS BIGINT) AS released_rows,
    CASE
        WHEN any_value(anon_released_size) > 0 THEN anon_helpers.equal_distance_of(
            anon_released_rows, anon_released_size, anon_original_rows / nullif(anon_original_size, 0)
        )
    END AS distance,
    anon_helpers.counterfeit_share_of(any_value(anon_original_size), any_value(anon_released_size)) AS counterfeit_share
FROM (
    SELECT
        class AS anon_class,
        original_rows AS anon_original_rows,
        released_rows AS anon_released_rows,
        sum(original_rows) OVER (PARTITION BY class) AS anon_original_size,
        sum(released_rows) OVER (PARTITION BY class) AS anon_released_size
    FROM anon_helpers.compared_values(original, released, node, sensitive)
)
GROUP BY anon_class;

-- What a release with masked, counterfeit or deleted rows does to its classes, see compared_classes: means over
-- the released classes, each with the same weight.
--
-- Returns: one row, all in [0, 1]: class_distance DOUBLE, the mean distance (EMD of classes), NULL if no class is
-- released; rate DOUBLE, the mean counterfeit share, 0 if no class is released; unmasked_rate DOUBLE, that of all
-- classes but the masked one; deletion_rate DOUBLE, the share of the original rows that their class lacks, those of
-- classes that are not released included, NULL for an original without rows.
-- Source: Lee and Chung 2020, equation 9.
-- Example:
--   WITH released AS (FROM anon.generalize('visits', MAP {'age': 2, 'sex': 1}) WHERE diagnosis = 'flu')
--   FROM anon_helpers.class_changes('visits', 'released', MAP {'age': 2, 'sex': 1}, 'diagnosis');
CREATE OR REPLACE MACRO anon_helpers.class_changes(original, released, node, sensitive) AS TABLE
SELECT
    avg(distance ORDER BY class ASC NULLS LAST) AS class_distance,
    coalesce(avg(counterfeit_share ORDER BY class ASC NULLS LAST), 0.0) AS rate,
    coalesce(avg(counterfeit_share ORDER BY class ASC NULLS LAST) FILTER (WHERE NOT masked), 0.0) AS unmasked_rate,
    sum(greatest(original_rows - released_rows, 0)) / nullif(sum(original_rows), 0) AS deletion_rate
FROM anon_helpers.compared_classes(original, released, node, sensitive);

-- Information loss of a release in IPA, the sum of three losses that each have rows of their own: NCP over all released
-- rows, the total variation distance of the sensitive values over all rows of both tables, and the rate over classes,
-- the masked one included. It is measured on the true data and must not be part of a differentially private release.
--
-- Job: loss.
-- Returns: one row: ncp, total_variation, rate DOUBLE as in released_ncp, anon.total_variation and
-- class_changes; information_loss DOUBLE, their sum, in [0, 3]; normalized_information_loss DOUBLE, a third of it;
-- literal_information_loss DOUBLE, the sum with literal_ncp; utility DOUBLE, 3 - information_loss. NULL where a part is.
-- Source: Lee and Chung 2020, equations 10 and 11.
-- Example:
--   WITH released AS (FROM anon.generalize('visits', MAP {'age': 2, 'sex': 1}) WHERE diagnosis = 'flu')
--   FROM anon.information_loss('visits', 'released', MAP {'age': 2, 'sex': 1}, 'diagnosis');
CREATE OR REPLACE MACRO anon.information_loss(original, released, node, sensitive) AS TABLE
SELECT
    anon_labels.ncp,
    anon_values.total_variation,
    anon_classes.rate,
    anon_labels.ncp + anon_values.total_variation + anon_classes.rate AS information_loss,
    (anon_labels.ncp + anon_values.total_variation + anon_classes.rate) / 3 AS normalized_information_loss,
    anon_labels.literal_ncp + anon_values.total_variation + anon_classes.rate AS literal_information_loss,
    3 - (anon_labels.ncp + anon_values.total_variation + anon_classes.rate) AS utility
FROM anon.released_ncp(released, map_keys(node)) AS anon_labels
CROSS JOIN anon.total_variation(original, released, sensitive) AS anon_values
CROSS JOIN anon_helpers.class_changes(original, released, node, sensitive) AS anon_classes;

-- Who is left out of a release: the values of a column with their rows in the source and in the release, first the value that
-- has lost the largest share of its rows. The column is one that the release has as it is.
--
-- Job: verify.
-- Returns: value VARCHAR, source_rows BIGINT, release_rows BIGINT, left_out_share DOUBLE; values of the source alone.
-- Example:
--   WITH released AS (FROM anon.release('visits', ['age', 'sex'], 2, 0.25))
--   FROM anon.left_out('visits', 'released', 'diagnosis');
CREATE OR REPLACE MACRO anon.left_out(source, release, column_name) AS TABLE
SELECT
    anon_source.value,
    anon_source.row_count AS source_rows,
    coalesce(anon_release.row_count, 0) AS release_rows,
    1 - coalesce(anon_release.row_count, 0) / anon_source.row_count AS left_out_share
FROM anon_helpers.column_values(source, [column_name]) AS anon_source
LEFT JOIN anon_helpers.column_values(release, [column_name]) AS anon_release
    ON anon_release.value IS NOT DISTINCT FROM anon_source.value
ORDER BY left_out_share DESC, source_rows DESC, value ASC;
