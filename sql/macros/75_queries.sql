-- What an analyst's queries give on a released table instead of its original: counts and averages by group.
--
-- Answers have a row per group: group_label VARCHAR, group_start DOUBLE and answer DOUBLE. A group is an interval of a
-- given width, counted from 0, of a column of numbers; without a width (NULL) it is a value. NULL is a group of its own.
-- To ask about some rows only, let the source be a query over them.

-- The group that a value of a column falls into: an interval of this width, or the value itself without one.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.group_label_of(34, 5) AS age_group, anon_helpers.group_label_of('flu', NULL) AS diagnosis;
CREATE OR REPLACE MACRO anon_helpers.group_label_of(value, width) AS
CASE WHEN width IS NULL THEN anon.text_of(value) ELSE anon.interval_label(value, width, 0, NULL, NULL) END;

-- Where the group of a value of a column starts; NULL without a width, an error for a value that is not a number.
--
-- Returns: DOUBLE.
-- Example:
--   SELECT anon_helpers.group_start_of('age', 34, 5) AS group_start;
CREATE OR REPLACE MACRO anon_helpers.group_start_of(attribute, value, width) AS
CASE WHEN width IS NOT NULL THEN floor(anon_helpers.number_of(attribute, value) / width) * width END;

-- COUNT(*) by group, of a table that shows its values.
--
-- Values whose types give each a text of its own, and equal ones the same, are counted before they become texts, which takes
-- a quarter of the time. The type of a column is known to the planner, which leaves out the other branch.
--
-- Job: answers.
-- Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
-- Source: Lee and Chung 2020, queries Q1 and Q2.
-- Example:
--   FROM anon.grouped_counts('visits', 'age', 5) ORDER BY group_start;
CREATE OR REPLACE MACRO anon.grouped_counts(source, column_name, width) AS TABLE
SELECT
    anon_helpers.group_label_of(anon_value, width) AS group_label,
    min(anon_helpers.group_start_of(column_name, anon_value, width)) AS group_start,
    CAST(sum(anon_rows) AS DOUBLE) AS answer
FROM (
    SELECT anon.text_of(anon_plain) AS anon_value, count(*) AS anon_rows
    FROM (SELECT COLUMNS([column_name]) AS anon_plain FROM query_table(anon_helpers.as_source(source)))
    WHERE typeof(anon_plain) IN ('BOOLEAN', 'TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'DATE')
    GROUP BY anon_plain
    UNION ALL
    SELECT anon.text_of(anon_other), count(*)
    FROM (SELECT COLUMNS([column_name]) AS anon_other FROM query_table(anon_helpers.as_source(source)))
    WHERE typeof(anon_other) NOT IN ('BOOLEAN', 'TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'DATE')
    GROUP BY ALL
)
GROUP BY group_label;

-- AVG(averaged) by group, of a table that shows its values. As in AVG, a NULL to average does not count, and the answer
-- of a group with nothing else is NULL.
--
-- Job: answers.
-- Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
-- Source: Lee and Chung 2020, queries Q3 and Q4.
-- Example:
--   FROM anon.grouped_averages('visits', 'sex', NULL, 'age') ORDER BY group_label;
CREATE OR REPLACE MACRO anon.grouped_averages(source, column_name, width, averaged) AS TABLE
SELECT
    anon_helpers.group_label_of(anon_value, width) AS group_label,
    min(anon_helpers.group_start_of(column_name, anon_value, width)) AS group_start,
    fsum(anon_rows * anon_number) / sum(anon_rows) FILTER (WHERE anon_number IS NOT NULL) AS answer
FROM (
    SELECT anon_value, anon_rows, anon_helpers.number_of(averaged, anon_averaged) AS anon_number
    FROM (
        SELECT
            anon.text_of(COLUMNS([column_name])) AS anon_value,
            anon.text_of(COLUMNS([averaged])) AS anon_averaged,
            count(*) AS anon_rows
        FROM query_table(anon_helpers.as_source(source))
        GROUP BY ALL
    )
)
GROUP BY group_label;

-- What the labels in a column of a released table may stand for: the values under them, all equally likely; see
-- label_values and value_without_taxonomy.
--
-- Returns: label VARCHAR, value VARCHAR, share DOUBLE in (0, 1]; the shares of a label sum to 1.
-- Example:
--   WITH released AS (FROM anon.generalize('visits', MAP {'sex': 1}))
--   FROM anon_helpers.spread_labels('released', 'sex') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.spread_labels(released, column_name) AS TABLE
SELECT
    anon_shown.anon_label AS label,
    CASE
        WHEN anon_known.anon_is_known THEN anon_known.anon_value
        ELSE anon_helpers.value_without_taxonomy(column_name, anon_shown.anon_label)
    END AS value,
    1.0 / count(*) OVER (PARTITION BY anon_shown.anon_label) AS share
FROM (
    SELECT DISTINCT anon.text_of(COLUMNS([column_name])) AS anon_label
    FROM query_table(anon_helpers.as_source(released))
) AS anon_shown
LEFT JOIN (
    SELECT anon_label, anon_value, TRUE AS anon_is_known
    FROM anon_helpers.label_values() AS anon_label_values (anon_attribute, anon_label, anon_value)
    WHERE anon_attribute = column_name
) AS anon_known
    ON anon_known.anon_label IS NOT DISTINCT FROM anon_shown.anon_label;

-- COUNT(*) by group as a released table lets it be estimated: every row counts its weight, spread evenly over the
-- values that its label may stand for. Row policy: all rows of the released table; masked ones spread over the domain.
--
-- weight: the column of weights, which are the probabilities that a row meets the conditions of the query (see
-- label_share), or that it is not a counterfeit. Rows without a weight do not count.
-- Job: answers.
-- Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
-- Source: Lee et al. 2017, query error rate.
-- Example:
--   WITH released AS (
--       SELECT age, anon.label_share('sex', sex, 'f') * anon.label_share('zip', zip, '10115') AS weight
--       FROM anon.generalize('visits', MAP {'age': 2, 'sex': 1, 'zip': 2})
--       WHERE diagnosis = 'flu'
--   )
--   FROM anon.estimated_counts('released', 'age', 5, 'weight') ORDER BY group_start;
CREATE OR REPLACE MACRO anon.estimated_counts(released, column_name, width, weight) AS TABLE
SELECT
    anon_helpers.group_label_of(anon_spread.value, width) AS group_label,
    min(anon_helpers.group_start_of(column_name, anon_spread.value, width)) AS group_start,
    fsum(anon_labels.anon_weight * anon_spread.share) AS answer
FROM (
    SELECT anon_label, sum(anon_weight) AS anon_weight
    FROM (
        SELECT anon.text_of(COLUMNS([column_name])) AS anon_label, COLUMNS([weight]) AS anon_weight
        FROM query_table(anon_helpers.as_source(released))
    )
    WHERE anon_weight > 0
    GROUP BY anon_label
) AS anon_labels
INNER JOIN anon_helpers.spread_labels(released, column_name) AS anon_spread
    ON anon_spread.label IS NOT DISTINCT FROM anon_labels.anon_label
GROUP BY group_label;

-- AVG(averaged) by group as a released table lets it be estimated: rows count as in anon.estimated_counts, each with
-- the midpoint of its label in the averaged column, see label_midpoint. A label of nothing but NULL does not
-- count, and the answer of a group with nothing else is NULL.
--
-- Job: answers.
-- Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
-- Source: Lee et al. 2017 and Lee and Chung 2020, queries Q3 and Q4.
-- Example:
--   WITH released AS (SELECT *, 1 AS weight FROM anon.generalize('visits', MAP {'age': 2, 'sex': 0}))
--   FROM anon.estimated_averages('released', 'sex', NULL, 'age', 'weight') ORDER BY group_label;
CREATE OR REPLACE MACRO anon.estimated_averages(released, column_name, width, averaged, weight) AS TABLE
SELECT
    anon_helpers.group_label_of(anon_spread.value, width) AS group_label,
    min(anon_helpers.group_start_of(column_name, anon_spread.value, width)) AS group_start,
    fsum(anon_labels.anon_weight * anon_spread.share * anon_labels.anon_midpoint)
        / fsum(anon_labels.anon_weight * anon_spread.share) FILTER (WHERE anon_labels.anon_midpoint IS NOT NULL)
        AS answer
FROM (
    SELECT anon_label, anon_weight, anon_helpers.label_midpoint(averaged, anon_averaged) AS anon_midpoint
    FROM (
        SELECT anon_label, anon_averaged, sum(anon_weight) AS anon_weight
        FROM (
            SELECT
                anon.text_of(COLUMNS([column_name])) AS anon_label,
                anon.text_of(COLUMNS([averaged])) AS anon_averaged,
                COLUMNS([weight]) AS anon_weight
            FROM query_table(anon_helpers.as_source(released))
        )
        WHERE anon_weight > 0
        GROUP BY anon_label, anon_averaged
    )
) AS anon_labels
INNER JOIN anon_helpers.spread_labels(released, column_name) AS anon_spread
    ON anon_spread.label IS NOT DISTINCT FROM anon_labels.anon_label
GROUP BY group_label;

-- Mean absolute error of answers (an aggregate over groups); NULL without an answer.
--
-- Returns: DOUBLE, at least 0, in the unit of the answers.
-- Example:
--   SELECT anon_helpers.mean_absolute_error_of(answer, truth) AS mae FROM (VALUES (3, 2), (0, 1)) AS answers (answer, truth);
CREATE OR REPLACE MACRO anon_helpers.mean_absolute_error_of(answer, truth) AS
fsum(abs(answer - truth)) / nullif(count(answer - truth), 0);

-- Root mean square error of answers (an aggregate over groups); NULL without an answer.
--
-- Returns: DOUBLE, at least 0, in the unit of the answers.
-- Example:
--   SELECT anon_helpers.root_mean_square_error_of(answer, truth) AS rmse FROM (VALUES (3, 2), (0, 1)) AS answers (answer, truth);
CREATE OR REPLACE MACRO anon_helpers.root_mean_square_error_of(answer, truth) AS
sqrt(fsum((answer - truth) * (answer - truth)) / nullif(count(answer - truth), 0));

-- Mean relative error of answers over the groups whose true answer is above 0 (an aggregate over groups); NULL if there
-- is none.
--
-- Returns: DOUBLE, at least 0.
-- Source: Lee et al. 2017, query error rate.
-- Example:
--   SELECT anon_helpers.mean_relative_error_of(answer, truth) AS error FROM (VALUES (3, 2), (1, 0)) AS answers (answer, truth);
CREATE OR REPLACE MACRO anon_helpers.mean_relative_error_of(answer, truth) AS
fsum(abs(answer - truth) / truth) FILTER (WHERE truth > 0) / nullif(count(answer - truth) FILTER (WHERE truth > 0), 0);

-- The sum of the absolute errors over the sum of the true answers (an aggregate over groups); NULL if that is 0.
--
-- Returns: DOUBLE, at least 0 where no true answer is negative.
-- Example:
--   SELECT anon_helpers.total_relative_error_of(answer, truth) AS error FROM (VALUES (3, 2), (1, 0)) AS answers (answer, truth);
CREATE OR REPLACE MACRO anon_helpers.total_relative_error_of(answer, truth) AS
fsum(abs(answer - truth)) / nullif(fsum(truth) FILTER (WHERE answer IS NOT NULL), 0);

-- The answers to a query from an original and from its release, next to each other.
--
-- missing: the answer for a group that one of them does not have: 0 for counts, NULL for averages.
-- Returns: group_label VARCHAR, group_start DOUBLE, truth DOUBLE, answer DOUBLE; a row per group of either.
-- Example:
--   WITH truth AS (FROM anon.grouped_counts('visits', 'sex', NULL)),
--   answers AS (SELECT 'f' AS group_label, CAST(NULL AS DOUBLE) AS group_start, 5.0 AS answer)
--   FROM anon_helpers.compared_answers('truth', 'answers', 0) ORDER BY group_label;
CREATE OR REPLACE MACRO anon_helpers.compared_answers(original_answers, released_answers, missing) AS TABLE
SELECT
    anon_label AS group_label,
    max(anon_start) AS group_start,
    CASE WHEN bool_or(NOT anon_is_estimate) THEN max(anon_answer) FILTER (WHERE NOT anon_is_estimate) ELSE missing END
        AS truth,
    CASE WHEN bool_or(anon_is_estimate) THEN max(anon_answer) FILTER (WHERE anon_is_estimate) ELSE missing END AS answer
FROM (
    SELECT group_label AS anon_label, group_start AS anon_start, answer AS anon_answer, FALSE AS anon_is_estimate
    FROM query_table(anon_helpers.as_source(original_answers))
    UNION ALL
    SELECT group_label AS anon_label, group_start AS anon_start, answer AS anon_answer, TRUE AS anon_is_estimate
    FROM query_table(anon_helpers.as_source(released_answers))
)
GROUP BY anon_label;

-- How wrong the answers from a release are, see compared_answers. Groups where one of both is NULL are left out of
-- the errors, and counted.
--
-- Job: answers.
-- Returns: one row: group_count BIGINT, of the groups of either; unanswered_groups BIGINT, with a truth and no answer;
-- unknown_groups BIGINT, with an answer and no truth; mean_absolute_error, root_mean_square_error, mean_relative_error
-- and total_relative_error DOUBLE.
-- Source: Lee et al. 2017, query error rate.
-- Example:
--   WITH truth AS (FROM anon.grouped_counts('visits', 'age', 5)),
--   released AS (SELECT *, 1 AS weight FROM anon.generalize('visits', MAP {'age': 2})),
--   answers AS (FROM anon.estimated_counts('released', 'age', 5, 'weight'))
--   FROM anon.answer_errors('truth', 'answers', 0);
CREATE OR REPLACE MACRO anon.answer_errors(original_answers, released_answers, missing) AS TABLE
SELECT
    count(*) AS group_count,
    count(*) FILTER (WHERE truth IS NOT NULL AND answer IS NULL) AS unanswered_groups,
    count(*) FILTER (WHERE truth IS NULL AND answer IS NOT NULL) AS unknown_groups,
    anon_helpers.mean_absolute_error_of(answer, truth) AS mean_absolute_error,
    anon_helpers.root_mean_square_error_of(answer, truth) AS root_mean_square_error,
    anon_helpers.mean_relative_error_of(answer, truth) AS mean_relative_error,
    anon_helpers.total_relative_error_of(answer, truth) AS total_relative_error
FROM anon_helpers.compared_answers(original_answers, released_answers, missing);
