-- The labels of quasi-identifiers, what they lose, and summaries of nodes.

-- name: labels
-- labels and what they lose
-- The label of every value at every level (its depth) of the taxonomies of quasi-identifiers: the code of the label, in the order of the leaves under it; which child it is, from 0,
-- of the label above; and what it loses. A value that lacks a label is left out.
-- :taxonomies (position INTEGER, attribute VARCHAR, height INTEGER, domain_size BIGINT)
-- :taxonomy_labels (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR, leaf_count BIGINT)
WITH anon_coded AS (
    SELECT
        anon_taxonomies.position,
        anon_taxonomies.height,
        anon_taxonomy_labels.level AS depth,
        anon_taxonomy_labels.value,
        anon_taxonomy_labels.label,
        dense_rank() OVER (
            PARTITION BY anon_taxonomies.position, anon_taxonomy_labels.level
            ORDER BY anon_taxonomy_labels.leaf_count ASC NULLS FIRST, anon_taxonomy_labels.label ASC NULLS FIRST
        ) AS code,
        anon_helpers.lm_share_of(anon_taxonomy_labels.leaf_count, anon_taxonomies.domain_size) AS lm,
        anon_helpers.ncp_share_of(anon_taxonomy_labels.leaf_count, anon_taxonomies.domain_size) AS ncp,
        anon_helpers.reconstruction_error(anon_taxonomy_labels.leaf_count, 1) AS rce,
        anon_helpers.log_share_of(anon_taxonomy_labels.leaf_count, anon_taxonomies.mean_log) AS log_share
    FROM (SELECT *, avg(ln(greatest(domain_size, 1))) OVER () AS mean_log FROM :taxonomies) AS anon_taxonomies
    INNER JOIN :taxonomy_labels AS anon_taxonomy_labels ON anon_taxonomy_labels.attribute = anon_taxonomies.attribute
    QUALIFY
        count(*) OVER (PARTITION BY anon_taxonomies.position, anon_taxonomy_labels.value) = anon_taxonomies.height + 1
),
anon_parents AS (
    SELECT
        *,
        -- All labels of the last level but one have the same parent.
        CASE WHEN depth < height - 1 THEN lead(code) OVER (PARTITION BY position, value ORDER BY depth ASC) END AS parent
    FROM anon_coded
)
SELECT
    position,
    depth,
    value,
    label,
    code,
    dense_rank() OVER (PARTITION BY position, depth, parent ORDER BY code ASC) - 1 AS child,
    lm,
    ncp,
    rce,
    log_share
FROM anon_parents;

-- name: labels_of_unknown
-- labels of values that taxonomies do not have
-- The labels of taxonomies with those of values that they do not have: at every level the label of the top,
-- which is taken to have all leaves under it wherever it stands.
-- :taxonomy_labels (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR, leaf_count BIGINT)
-- :roots (attribute VARCHAR, height INTEGER, root VARCHAR, domain_size BIGINT)
-- :unknown_values (attribute VARCHAR, value VARCHAR)
SELECT
    anon_taxonomy_labels.attribute,
    anon_taxonomy_labels.level,
    anon_taxonomy_labels.value,
    anon_taxonomy_labels.label,
    CASE
        WHEN anon_taxonomy_labels.label = anon_roots.root THEN anon_roots.domain_size
        ELSE anon_taxonomy_labels.leaf_count
    END AS leaf_count
FROM :taxonomy_labels AS anon_taxonomy_labels
LEFT JOIN :roots AS anon_roots ON anon_roots.attribute = anon_taxonomy_labels.attribute
UNION ALL
SELECT
    anon_leaves.attribute,
    unnest(range(anon_roots.height + 1)) AS level,
    anon_leaves.value,
    anon_roots.root AS label,
    anon_roots.domain_size AS leaf_count
FROM (
    SELECT attribute, value FROM :unknown_values WHERE value IS NOT NULL
    UNION
    SELECT attribute, root FROM :roots AS anon_roots
) AS anon_leaves
INNER JOIN :roots AS anon_roots ON anon_roots.attribute = anon_leaves.attribute
ANTI JOIN anon.taxonomy AS anon_taxonomy
    ON anon_taxonomy.attribute = anon_leaves.attribute
    AND anon_taxonomy.level = 0
    AND anon_taxonomy.value = anon_leaves.value;

-- name: last_children
-- children of labels
-- The largest number that a label has among those under the same one.
-- :labels (position INTEGER, depth INTEGER, child BIGINT)
SELECT position, depth, max(child) AS last_child FROM :labels GROUP BY position, depth;

-- name: loss_steps
-- steps of what labels lose
-- In the order of the keys, the labels behind which others begin that lose other amounts; of levels with no more such steps
-- than a query spells out.
-- :labels (position INTEGER, depth INTEGER, anon_key_0 BIGINT, anon_key_1 BIGINT, lm DOUBLE, ncp DOUBLE)
-- :words anon_key_0, anon_key_1
-- :losses lm, ncp
-- :following lead(lm) OVER (PARTITION BY position, depth ORDER BY anon_key_0 ASC, anon_key_1 ASC),
--     lead(ncp) OVER (PARTITION BY position, depth ORDER BY anon_key_0 ASC, anon_key_1 ASC)
-- :max_steps 64
SELECT *
FROM (
    SELECT position, depth, CAST([:words] AS BIGINT[]) AS last_bits, :losses
    FROM (SELECT DISTINCT position, depth, :words, :losses FROM :labels) AS anon_labels
    QUALIFY row(:losses) IS DISTINCT FROM row(:following)
) AS anon_steps
QUALIFY count(*) OVER (PARTITION BY position, depth) <= :max_steps;

-- name: sensitive_codes
-- codes of sensitive labels
-- The values of a protected column, with the codes of their labels at the levels that cells carry. The codes of a level are
-- in the order of the leaves under its labels.
-- :labels (level INTEGER, value VARCHAR, label VARCHAR, leaf_count BIGINT)
-- :codes CAST(max(code) FILTER (WHERE level = 1) AS UTINYINT) AS anon_sensitive_0_1
-- :level_count 2
SELECT value, :codes
FROM (
    SELECT
        level,
        value,
        dense_rank() OVER (PARTITION BY level ORDER BY leaf_count ASC NULLS FIRST, label ASC NULLS FIRST) AS code
    FROM :labels AS anon_taxonomy
) AS anon_coded
WHERE level < :level_count
GROUP BY value
HAVING count(*) = :level_count;

-- name: keyed_rows
-- rows by the bits of values
-- The rows of each value of a quasi-identifier (its position), or their weight, by its bits in the words of the key. Without a
-- key to group by there would be a row of no rows.
-- :position 0
-- :words anon_key_0 & 3, 0
-- :keys anon_key_0, anon_key_1
-- :counted anon_row_count
-- :groups anon_key_0 & 3
-- :cells (anon_key_0 BIGINT, anon_key_1 BIGINT, anon_row_count BIGINT)
SELECT :position AS position, :words AS :keys, sum(:counted) AS anon_value_rows
FROM :cells
GROUP BY :groups
HAVING count(*) > 0;

-- name: value_rows
-- rows of values
-- :keyed (position INTEGER, anon_key_0 BIGINT, anon_key_1 BIGINT, anon_value_rows BIGINT)
-- :labels (position INTEGER, depth INTEGER, value VARCHAR, anon_key_0 BIGINT, anon_key_1 BIGINT)
-- :keys anon_key_0, anon_key_1
SELECT anon_labels.position, anon_labels.value, anon_keyed.anon_value_rows
FROM :keyed AS anon_keyed
INNER JOIN :labels AS anon_labels
    ON anon_labels.position = anon_keyed.position
    AND anon_labels.:keys = anon_keyed.:keys
    AND anon_labels.depth = 0;

-- name: informed_labels
-- information of labels
-- :labels (position INTEGER, depth INTEGER, value VARCHAR, code BIGINT)
-- :values (position INTEGER, value VARCHAR, anon_value_rows BIGINT)
SELECT
    anon_labels.*,
    coalesce(
        anon_helpers.label_information(
            sum(anon_values.anon_value_rows)
                OVER (PARTITION BY anon_labels.position, anon_labels.depth, anon_labels.code),
            sum(anon_values.anon_value_rows) OVER (PARTITION BY anon_labels.position, anon_labels.depth)
        ),
        0
    ) AS information
FROM :labels AS anon_labels
LEFT JOIN :values AS anon_values
    ON anon_values.position = anon_labels.position
    AND anon_values.value IS NOT DISTINCT FROM anon_labels.value;

-- name: root_rows
-- rows of the label of the top
-- By level, the rows of values that have the label of the top there, and all rows.
-- :labels (position INTEGER, depth INTEGER, value VARCHAR, label VARCHAR)
-- :values (position INTEGER, value VARCHAR, anon_value_rows BIGINT)
-- :is_root anon_labels.position = 0 AND anon_labels.label = '*'
SELECT
    anon_labels.position,
    anon_labels.depth,
    coalesce(sum(anon_values.anon_value_rows) FILTER (WHERE :is_root), 0) AS rows,
    sum(anon_values.anon_value_rows) AS whole
FROM :labels AS anon_labels
INNER JOIN :values AS anon_values
    ON anon_values.position = anon_labels.position
    AND anon_values.value IS NOT DISTINCT FROM anon_labels.value
GROUP BY anon_labels.position, anon_labels.depth;

-- name: labelled_values
-- labelled values
-- The values of every quasi-identifier (its position) with their rows (anon_value_rows), once per level (its depth) with the
-- code of their label there (anon_label) and what it loses.
-- :values (position INTEGER, value VARCHAR, anon_value_rows BIGINT)
-- :labels (position INTEGER, depth INTEGER, value VARCHAR, code BIGINT, lm DOUBLE, ncp DOUBLE, rce DOUBLE,
--     log_share DOUBLE)
SELECT
    anon_labels.position,
    anon_labels.depth,
    anon_values.anon_value_rows,
    anon_labels.code AS anon_label,
    anon_labels.lm AS anon_lm,
    anon_labels.ncp AS anon_ncp,
    anon_labels.rce AS anon_rce,
    anon_labels.log_share AS anon_log_share
FROM :values AS anon_values
INNER JOIN :labels AS anon_labels
    ON anon_labels.position = anon_values.position
    AND anon_labels.value IS NOT DISTINCT FROM anon_values.value;

-- name: labels_at_cut
-- labels at a cut
-- The values of a quasi-identifier with the label of the cut that they are under, its code, and their bits. Labels of several
-- levels that read the same have one code.
-- :labels (position INTEGER, depth INTEGER, value VARCHAR, label VARCHAR)
-- :cut (depth INTEGER, label VARCHAR)
-- :position 0
-- :leaves (value VARCHAR, anon_key_0 BIGINT)
-- :words anon_key_0
SELECT
    anon_leaves.value,
    anon_found.label,
    dense_rank() OVER (ORDER BY anon_found.label ASC) AS code,
    anon_leaves.:words
FROM :leaves AS anon_leaves
LEFT JOIN (
    SELECT anon_labels.value, anon_labels.label
    FROM :labels AS anon_labels
    INNER JOIN :cut AS anon_cut ON anon_labels.depth = anon_cut.depth AND anon_labels.label = anon_cut.label
    WHERE anon_labels.position = :position
) AS anon_found
    ON anon_found.value IS NOT DISTINCT FROM anon_leaves.value;

-- name: cut_misfits
-- values at a cut
-- Values without a label of the cut, and with more than one.
-- :labels (value VARCHAR, label VARCHAR)
SELECT
    count(*) FILTER (WHERE anon_is_missing) AS without,
    count(*) FILTER (WHERE anon_label_count > 1) AS several
FROM (
    SELECT count(*) AS anon_label_count, bool_or(label IS NULL AND value IS NOT NULL) AS anon_is_missing
    FROM :labels
    GROUP BY value
) AS anon_values;

-- name: level_losses
-- level losses
-- The losses of every quasi-identifier (its position) at every level (its depth), from the rows of each value
-- (anon_value_rows), the code of the label that it falls under (anon_label) and the loss of that label; the largest loss
-- of a label, the least information of one, and how many labels of the level the data has, NULL among them. Suppression is
-- ignored.
-- :levels (position INTEGER, depth INTEGER, anon_value_rows BIGINT, anon_label BIGINT, anon_lm DOUBLE,
--     anon_ncp DOUBLE, anon_rce DOUBLE, anon_log_share DOUBLE)
SELECT
    position,
    depth,
    coalesce(anon_helpers.entropy_loss_of(anon_value_rows, anon_label_rows), 0.0) AS entropy,
    anon_helpers.mean_loss_of(anon_value_rows, TRUE, anon_lm) AS lm,
    anon_helpers.mean_loss_of(anon_value_rows, TRUE, anon_ncp) AS ncp,
    anon_helpers.mean_loss_of(anon_value_rows, TRUE, anon_rce) AS rce,
    anon_helpers.mean_loss_of(anon_value_rows, TRUE, anon_log_share) AS log_share,
    max(anon_lm) AS largest_lm,
    max(anon_ncp) AS largest_ncp,
    max(anon_rce) AS largest_rce,
    max(anon_log_share) AS largest_log_share,
    min(anon_helpers.label_information(anon_label_rows, anon_row_count)) AS least_information,
    count(DISTINCT anon_label) AS distinct_labels
FROM (
    SELECT
        *,
        sum(anon_value_rows) OVER (PARTITION BY position, depth, anon_label) AS anon_label_rows,
        sum(anon_value_rows) OVER (PARTITION BY position, depth) AS anon_row_count
    FROM :levels AS anon_levels
) AS anon_weighed
GROUP BY position, depth;

-- name: ranks
-- values in their order
-- The values of a protected column by their order, from 1.
-- :rows (disease VARCHAR)
-- :value disease
-- :code anon_sensitive_0
SELECT :value, CAST(dense_rank() OVER (ORDER BY :value ASC) AS UINTEGER) AS :code
FROM (SELECT DISTINCT :value FROM :rows) AS anon_values;

-- name: cell_counts
-- counts of cells
-- Cells, rows, and those of cells that meet some conditions.
-- :cells (anon_is_unmapped BOOLEAN, anon_individual VARCHAR, anon_row_count BIGINT)
-- :conditions anon_is_unmapped, anon_individual IS NULL
-- :counts unmapped, anonymous
SELECT
    count(*) AS cells,
    coalesce(sum(anon_row_count), 0) AS rows,
    coalesce(sum(anon_row_count) FILTER (WHERE :conditions), 0) AS :counts
FROM :cells;

-- name: unmapped_people
-- people with a value that no taxonomy knows
-- :population (anon_is_unmapped BOOLEAN, anon_people BIGINT)
SELECT coalesce(sum(anon_people) FILTER (WHERE anon_is_unmapped), 0) AS unmapped FROM :population;

-- name: rows_of_codes
-- rows of the values of a protected column
-- With the codes of their labels.
-- :cells (anon_sensitive_0 UINTEGER, anon_sensitive_0_1 UINTEGER, anon_row_count BIGINT)
-- :code anon_sensitive_0
-- :labels anon_sensitive_0_1
-- :counted sum(anon_row_count)
SELECT :code, any_value(:labels) AS :labels, :counted AS anon_rows FROM :cells GROUP BY :code;

-- name: rows_of_positions
-- rows of the values of a protected column in their order
-- :cells (anon_sensitive_0 UINTEGER, anon_row_count BIGINT)
-- :code anon_sensitive_0
-- :counted sum(anon_row_count)
SELECT :code AS position, :counted AS row_count FROM :cells GROUP BY :code;

-- name: shares
-- shares of values
-- The values of a protected column by their codes, with their shares of the table, and with the labels that they have and the
-- shares of these.
-- :counts (anon_sensitive_0 UINTEGER, anon_sensitive_0_1 UINTEGER, anon_rows BIGINT)
-- :code anon_sensitive_0
-- :labels anon_sensitive_0_1
-- :shares anon_share_1
SELECT
    :code,
    :labels,
    anon_rows / sum(anon_rows) OVER () AS anon_share,
    sum(anon_rows) OVER (PARTITION BY :labels) / sum(anon_rows) OVER () AS :shares
FROM :counts AS anon_counts;

-- name: unlabelled_values
-- values of persons without a label
-- :values (anon_sensitive_0 UINTEGER, anon_sensitive_0_1 UINTEGER)
-- :label anon_sensitive_0_1
SELECT count(*) FILTER (WHERE :label IS NULL) AS unlabelled FROM :values;

-- name: rolled_up
-- cells of a node
-- From those of a less general one.
-- :cells (anon_key_0 BIGINT, anon_sensitive_0 UINTEGER, anon_sensitive_0_1 UINTEGER, anon_row_count BIGINT,
--     anon_weight DOUBLE)
-- :keys anon_key_0, anon_sensitive_0
-- :labels anon_sensitive_0_1
-- :weights anon_weight
SELECT
    :keys,
    any_value(:labels) AS :labels,
    CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count,
    sum(:weights) AS :weights
FROM :cells
GROUP BY :keys;

-- name: distinct_others
-- values that distinguish cells
-- :cells (anon_sensitive_0 UINTEGER, anon_individual VARCHAR)
-- :columns anon_sensitive_0, anon_individual
SELECT count(*) AS others FROM (SELECT DISTINCT :columns FROM :cells) AS anon_others;

-- name: largest_risks
-- largest risks of rows
-- Per class the largest risk of one of its rows (:risk), by the rows (anon_rows) that have the same secrets, and what a guess
-- adds to it.
-- :cells (anon_key_0 BIGINT, anon_sensitive_0 UINTEGER, anon_row_count BIGINT)
-- :keys anon_key_0
-- :secrets anon_sensitive_0
-- :risk 0.5 / anon_rows
-- :guess 0.5
-- :measure anon_measure_0
SELECT
    :keys,
    -- The probabilities of all states may sum to a last digit more than 1.
    least(max(anon_risk) + :guess / sum(anon_rows), 1.0) AS :measure
FROM (
    SELECT :keys, anon_rows, :risk AS anon_risk
    FROM (
        SELECT :keys, :secrets, sum(anon_row_count) AS anon_rows FROM :cells GROUP BY :keys, :secrets
    ) AS anon_records
) AS anon_exposed
GROUP BY :keys;

-- name: matched_people
-- people that classes match
-- The classes with rows, beside the people of the population that they match, and how many classes have none.
-- :cells (anon_node INTEGER, anon_key_0 BIGINT, anon_row_count BIGINT)
-- :people (anon_node INTEGER, anon_key_0 BIGINT, anon_people BIGINT)
-- :keys anon_node, anon_key_0
-- :node anon_node
-- :measures greatest(anon_class_rows, anon_people) AS anon_measure_0, anon_absent AS anon_measure_1
SELECT :keys, :measures
FROM (
    SELECT *, count(*) FILTER (WHERE anon_class_rows = 0) OVER (PARTITION BY :node) AS anon_absent
    FROM (
        SELECT :keys, sum(anon_row_count) AS anon_class_rows, sum(anon_people) AS anon_people
        FROM (
            SELECT :keys, anon_row_count, 0 AS anon_people FROM :cells
            UNION ALL
            SELECT :keys, 0 AS anon_row_count, anon_people FROM :people
        ) AS anon_both
        GROUP BY :keys
    ) AS anon_matched
) AS anon_counts
WHERE anon_class_rows > 0;

-- name: node_summary
-- node summary
-- What one node is worth, from its classes: a row per node of the batch. The measures are the public macros.
-- :classes (anon_node INTEGER, anon_class_size BIGINT, anon_class_weight DOUBLE, anon_kept BOOLEAN,
--     anon_certainly_kept BOOLEAN, anon_out_of_bounds BOOLEAN, anon_lm DOUBLE, anon_ncp DOUBLE, anon_rce DOUBLE, anon_information DOUBLE,
--     anon_strictness BIGINT, anon_rows_up_to BIGINT, anon_allowed_rows BIGINT)
SELECT
    anon_node AS node,
    count(*) AS class_count,
    min(anon_class_size) AS min_class_size,
    count(*) FILTER (WHERE anon_kept) AS kept_class_count,
    anon_helpers.suppressed_rows_of(anon_class_size, anon_kept) AS suppressed_rows,
    anon_helpers.suppressed_rows_of(anon_class_size, anon_certainly_kept) AS certain_suppressed_rows,
    coalesce(bool_or(anon_out_of_bounds) FILTER (WHERE anon_kept), FALSE) AS rejected,
    anon_helpers.mean_loss_of(anon_class_weight, anon_kept, anon_lm) AS lm,
    anon_helpers.mean_loss_of(anon_class_weight, anon_kept, anon_ncp) AS ncp,
    anon_helpers.mean_loss_of(anon_class_weight, anon_kept, anon_rce) AS rce,
    anon_helpers.mean_loss_of(anon_class_weight, anon_kept, 0.0) AS suppressed_share,
    anon_helpers.suppressed_loss_of(anon_class_weight, anon_kept, anon_information) AS suppressed_information,
    anon_helpers.best_k_of(anon_strictness, anon_rows_up_to, anon_allowed_rows) AS attainable
FROM :classes AS anon_classes
GROUP BY anon_node;
