-- How well the children of a label, or the two sides of a split, separate classes.

-- n log2(n), and 0 for no rows: what the entropy of counts is made of.
--
-- Returns: DOUBLE.
-- Example:
--   SELECT anon_helpers.n_log_n(row_count) AS found FROM (VALUES (0), (1), (8)) AS counts (row_count);
CREATE OR REPLACE MACRO anon_helpers.n_log_n(row_count) AS
CASE WHEN row_count > 0 THEN row_count * log2(row_count) ELSE 0 END;

-- The scores of specializations, by the rows of each class that each child has: `max_score` is the number of rows in the
-- largest class of their child, `information_gain` the information in bits of the children on the class of a row.
--
-- counts: candidate, child, class, row_count, a row per class and child that has rows. One row more of the data changes
-- max_score by 1 at most, and information_gain by 1 bit at most, however many classes and children there are.
-- Returns: candidate, max_score BIGINT, information_gain DOUBLE of 0 or more.
-- Source: Mohammed et al. 2013, score functions Max and InfoGain.
-- Example:
--   WITH counts AS (
--       FROM (VALUES (1, 1, 'a', 3), (1, 1, 'b', 1), (1, 2, 'a', 1), (1, 2, 'b', 3)) AS of_children (candidate, child, class, row_count)
--   )
--   FROM anon_helpers.specialization_scores('counts');
CREATE OR REPLACE MACRO anon_helpers.specialization_scores(counts) AS TABLE
WITH anon_classes AS (
    SELECT candidate, sum(anon_helpers.n_log_n(anon_rows)) AS anon_classes_log
    FROM (
        SELECT candidate, sum(row_count) AS anon_rows FROM query_table(anon_helpers.as_source(counts)) GROUP BY candidate, class
    ) AS anon_of_classes
    GROUP BY candidate
),
anon_children AS (
    SELECT
        candidate,
        sum(anon_largest) AS anon_max_score,
        sum(anon_rows) AS anon_all_rows,
        sum(anon_helpers.n_log_n(anon_rows)) AS anon_children_log,
        sum(anon_log) AS anon_both_log
    FROM (
        SELECT
            candidate,
            max(row_count) AS anon_largest,
            sum(row_count) AS anon_rows,
            sum(anon_helpers.n_log_n(row_count)) AS anon_log
        FROM query_table(anon_helpers.as_source(counts))
        GROUP BY candidate, child
    ) AS anon_of_children
    GROUP BY candidate
)
SELECT
    anon_children.candidate,
    CAST(anon_children.anon_max_score AS BIGINT) AS max_score,
    greatest(0, (
        anon_helpers.n_log_n(anon_children.anon_all_rows) - anon_classes.anon_classes_log
        - anon_children.anon_children_log + anon_children.anon_both_log
    ) / anon_children.anon_all_rows) AS information_gain
FROM anon_children
INNER JOIN anon_classes ON anon_classes.candidate = anon_children.candidate;

-- The scores of a split behind each value of an interval that rows have: of those up to the value, and those above it. See
-- specialization_scores, whose scores these are.
--
-- counts: candidate (the interval), value, class, row_count, a row per class and value that has rows.
-- Returns: candidate, value, max_score BIGINT, information_gain DOUBLE of 0 or more.
-- Source: Mohammed et al. 2013, score functions Max and InfoGain, of the children of an interval.
-- Example:
--   WITH counts AS (
--       FROM (VALUES (1, 20, 'a', 1), (1, 40, 'b', 1), (1, 60, 'b', 2)) AS of_values (candidate, value, class, row_count)
--   )
--   FROM anon_helpers.split_scores('counts') ORDER BY value;
CREATE OR REPLACE MACRO anon_helpers.split_scores(counts) AS TABLE
WITH anon_totals AS (
    SELECT candidate, class, sum(row_count) AS anon_total
    FROM query_table(anon_helpers.as_source(counts))
    GROUP BY candidate, class
),
anon_values AS (
    SELECT DISTINCT candidate, value FROM query_table(anon_helpers.as_source(counts))
),
anon_below AS (
    SELECT
        anon_values.candidate,
        anon_values.value,
        anon_totals.anon_total,
        sum(coalesce(anon_counts.row_count, 0)) OVER (
            PARTITION BY anon_values.candidate, anon_totals.class
            ORDER BY anon_values.value ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS anon_left
    FROM anon_values
    INNER JOIN anon_totals ON anon_totals.candidate = anon_values.candidate
    LEFT JOIN query_table(anon_helpers.as_source(counts)) AS anon_counts
        ON anon_counts.candidate = anon_values.candidate
        AND anon_counts.value = anon_values.value
        AND anon_counts.class = anon_totals.class
)
SELECT
    candidate,
    value,
    CAST(max(anon_left) + max(anon_total - anon_left) AS BIGINT) AS max_score,
    greatest(0, (
        anon_helpers.n_log_n(sum(anon_total)) - sum(anon_helpers.n_log_n(anon_total))
        - anon_helpers.n_log_n(sum(anon_left)) + sum(anon_helpers.n_log_n(anon_left))
        - anon_helpers.n_log_n(sum(anon_total) - sum(anon_left)) + sum(anon_helpers.n_log_n(anon_total - anon_left))
    ) / sum(anon_total)) AS information_gain
FROM anon_below
GROUP BY candidate, value;
