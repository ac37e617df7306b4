-- Counterfeits: rows that were invented so that classes are large enough, and the error that they cause in a release.

-- How many counterfeits a class needs to have k rows.
--
-- Returns: the type of class_size; 0 for a class that is large enough.
-- Source: Lee et al. 2017, algorithm 1.
-- Example:
--   SELECT sum(anon_helpers.missing_rows(class_size, 4)) AS counterfeits FROM anon.class_sizes('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon_helpers.missing_rows(class_size, k) AS greatest(k - class_size, 0);

-- The share of rows with a value, as expected from few rows and from what was expected before these were seen.
--
-- value_rows, row_count: how many rows have the value, of how many; prior: the share as expected before, which weighs
-- as much as prior_rows rows.
-- Returns: DOUBLE in [0, 1].
-- Source: MacKay and Peto 1995, a hierarchical Dirichlet model: with the prior of one more label, and that of another.
-- Example:
--   SELECT anon_helpers.backed_off(3, 10, 0.25, 10) AS share;
CREATE OR REPLACE MACRO anon_helpers.backed_off(value_rows, row_count, prior, prior_rows) AS
(value_rows + prior_rows * prior) / (row_count + prior_rows);

-- Reconstruction error of a value that is published as one of `leaf_count` equally likely values, in a row that is real
-- with a probability of `truth`: the squared distance between what is known of the value and the value itself.
--
-- Returns: DOUBLE in [0, 1]; 0 for a value that is published as it is in a row that is known to be real.
-- Source: Lee et al. 2017, equation of RCE, for discrete values.
-- Example:
--   SELECT anon_helpers.reconstruction_error(3, 0.75) AS error;
CREATE OR REPLACE MACRO anon_helpers.reconstruction_error(leaf_count, truth) AS
1 - (2 * truth - truth * truth) / leaf_count;

-- Reconstruction error RCE of the rows of an original in a release that was generalized to a node, over its
-- quasi-identifiers and its sensitive value. Row policy "real": a sum over original rows. Counterfeits cost nothing
-- without a catalog, so report their number beside it.
--
-- An original row whose labels and sensitive value the release does not show together is lost: each of its
-- quasi-identifiers may be any value of the domain, and so may its sensitive value, unless the release has masked rows,
-- which show it. Rows that were moved into another class count as lost, too.
--
-- How it goes. Both tables are counted together by labels, value and truth; each label becomes a row with the leaves under it;
-- the errors of the labels of a cell are summed; and cells are weighed by their rows of the original.
--
-- truth: the column of the release with the probability that a row is true: anon_truth of anon.row_truths, or 1
-- without a catalog. A row where it is NULL is not true.
-- Job: answers.
-- Returns: one row: rce DOUBLE in [0, 1], the mean over rows and attributes; total_rce DOUBLE, the sum; joint_rce
-- DOUBLE in [0, 1], the mean over rows with all attributes taken as one, whose values are their combinations; lost_rows
-- BIGINT. The means are NULL for an original without rows.
-- Source: Lee et al. 2017, equation of RCE, for discrete values.
-- Example:
--   WITH released AS (SELECT *, 1 AS truth FROM anon.generalize('visits', MAP {'age': 2, 'sex': 1}))
--   FROM anon.reconstruction_errors('visits', 'released', MAP {'age': 2, 'sex': 1}, 'diagnosis', 'truth');
CREATE OR REPLACE MACRO anon.reconstruction_errors(original, released, node, sensitive, truth) AS TABLE
WITH anon_cells AS (
    SELECT row_number() OVER () AS anon_cell, *
    FROM (
        SELECT
            COLUMNS(map_keys(node)),
            anon_value,
            count(*) FILTER (WHERE anon_truth IS NULL) AS anon_rows,
            avg(anon_truth) AS anon_truth
        FROM (
            SELECT COLUMNS(map_keys(node)), anon.text_of(COLUMNS([sensitive])) AS anon_value, NULL AS anon_truth
            FROM anon.generalize(original, node)
            -- By name: COLUMNS follows the order of each table, and theirs may differ.
            UNION ALL BY NAME
            SELECT
                anon.text_of(COLUMNS(map_keys(node))),
                anon.text_of(COLUMNS([sensitive])) AS anon_value,
                CAST(coalesce(COLUMNS([truth]), 0) AS DOUBLE) AS anon_truth
            FROM query_table(anon_helpers.as_source(released))
        )
        GROUP BY ALL
    )
),
anon_leaves AS (
    SELECT DISTINCT attribute AS anon_attribute, label AS anon_label, leaf_count AS anon_leaf_count
    FROM anon_helpers.taxonomy_labels(map_keys(node))
    WHERE level = node[attribute]
),
anon_labels AS (
    SELECT
        anon_shown.anon_cell,
        anon_shown.anon_truth IS NOT NULL AND anon_shown.anon_label IS NOT DISTINCT FROM '*' AS anon_is_mask,
        anon_shown.anon_rows,
        anon_shown.anon_truth,
        anon_leaves.anon_leaf_count,
        anon_heights.value_count AS anon_domain_size
    FROM (
        FROM anon_cells UNPIVOT INCLUDE NULLS (
            anon_label FOR anon_attribute IN (COLUMNS(* EXCLUDE (anon_cell, anon_value, anon_rows, anon_truth)))
        )
    ) AS anon_shown
    LEFT JOIN anon.taxonomy_heights() AS anon_heights ON anon_heights.attribute = anon_shown.anon_attribute
    LEFT JOIN anon_leaves
        ON anon_leaves.anon_attribute = anon_shown.anon_attribute
        AND anon_leaves.anon_label IS NOT DISTINCT FROM anon_shown.anon_label
),
anon_errors AS (
    SELECT
        any_value(anon_rows) AS anon_rows,
        any_value(anon_truth) AS anon_truth,
        count(*) AS anon_width,
        bool_or(bool_and(anon_is_mask)) OVER () AS anon_has_masks,
        sum(anon_helpers.reconstruction_error(anon_leaf_count, anon_truth)) AS anon_shown_error,
        sum(anon_helpers.reconstruction_error(anon_domain_size, 1)) AS anon_lost_error,
        product(anon_leaf_count) AS anon_shown_values,
        product(anon_domain_size) AS anon_lost_values
    FROM anon_labels
    GROUP BY anon_cell
),
anon_domain AS (
    SELECT count(DISTINCT anon_value) + count(DISTINCT CASE WHEN anon_value IS NULL THEN 1 END) AS anon_values
    FROM anon_cells
    WHERE anon_rows > 0
)
SELECT
    fsum(anon_rows * anon_error) / sum(anon_rows * (anon_width + 1)) AS rce,
    coalesce(fsum(anon_rows * anon_error), 0.0) AS total_rce,
    fsum(anon_rows * anon_joint_error) / sum(anon_rows) AS joint_rce,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_truth IS NULL), 0) AS BIGINT) AS lost_rows
FROM (
    SELECT
        anon_rows,
        anon_width,
        anon_truth,
        CASE
            WHEN anon_truth IS NULL THEN anon_lost_error + anon_helpers.reconstruction_error(anon_candidates, 1)
            ELSE anon_shown_error + anon_helpers.reconstruction_error(1, anon_truth)
        END AS anon_error,
        CASE
            WHEN anon_truth IS NULL THEN anon_helpers.reconstruction_error(anon_lost_values * anon_candidates, 1)
            ELSE anon_helpers.reconstruction_error(anon_shown_values, anon_truth)
        END AS anon_joint_error
    FROM (
        SELECT anon_errors.*, CASE WHEN anon_has_masks THEN 1 ELSE anon_domain.anon_values END AS anon_candidates
        FROM anon_errors
        CROSS JOIN anon_domain
    )
    WHERE anon_rows > 0
);
