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
        anon.lm_share_of(anon_taxonomy_labels.leaf_count, anon_taxonomies.domain_size) AS lm,
        anon.ncp_share_of(anon_taxonomy_labels.leaf_count, anon_taxonomies.domain_size) AS ncp
    FROM :taxonomies AS anon_taxonomies
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
    ncp
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

-- name: labelled_values
-- labelled values
-- The values of every quasi-identifier (its position) with their rows (anon_value_rows), once per level (its depth) with the
-- code of their label there (anon_label) and what it loses.
-- :values (position INTEGER, value VARCHAR, anon_value_rows BIGINT)
-- :labels (position INTEGER, depth INTEGER, value VARCHAR, code BIGINT, lm DOUBLE, ncp DOUBLE)
SELECT
    anon_labels.position,
    anon_labels.depth,
    anon_values.anon_value_rows,
    anon_labels.code AS anon_label,
    anon_labels.lm AS anon_lm,
    anon_labels.ncp AS anon_ncp
FROM :values AS anon_values
INNER JOIN :labels AS anon_labels
    ON anon_labels.position = anon_values.position
    AND anon_labels.value IS NOT DISTINCT FROM anon_values.value;

-- name: level_losses
-- level losses
-- The losses of every quasi-identifier (its position) at every level (its depth), from the rows of each value
-- (anon_value_rows), the code of the label that it falls under (anon_label) and the loss of that label; the largest loss
-- of a label, the least information of one, and how many labels of the level the data has, NULL among them. Suppression is
-- ignored.
-- :levels (position INTEGER, depth INTEGER, anon_value_rows BIGINT, anon_label BIGINT, anon_lm DOUBLE,
--     anon_ncp DOUBLE)
SELECT
    position,
    depth,
    coalesce(anon.entropy_loss_of(anon_value_rows, anon_label_rows), 0.0) AS entropy,
    anon.mean_loss_of(anon_value_rows, TRUE, anon_lm) AS lm,
    anon.mean_loss_of(anon_value_rows, TRUE, anon_ncp) AS ncp,
    max(anon_lm) AS largest_lm,
    max(anon_ncp) AS largest_ncp,
    min(anon.label_information(anon_label_rows, anon_row_count)) AS least_information,
    count(DISTINCT anon_label) AS distinct_labels
FROM (
    SELECT
        *,
        sum(anon_value_rows) OVER (PARTITION BY position, depth, anon_label) AS anon_label_rows,
        sum(anon_value_rows) OVER (PARTITION BY position, depth) AS anon_row_count
    FROM :levels AS anon_levels
) AS anon_weighed
GROUP BY position, depth;

-- name: node_summary
-- node summary
-- What one node is worth, from its classes: a row per node of the batch. The measures are the public macros.
-- :classes (anon_node INTEGER, anon_class_size BIGINT, anon_class_weight DOUBLE, anon_kept BOOLEAN,
--     anon_certainly_kept BOOLEAN, anon_out_of_bounds BOOLEAN, anon_lm DOUBLE, anon_ncp DOUBLE, anon_information DOUBLE,
--     anon_strictness BIGINT, anon_rows_up_to BIGINT, anon_allowed_rows BIGINT)
SELECT
    anon_node AS node,
    count(*) AS class_count,
    min(anon_class_size) AS min_class_size,
    count(*) FILTER (WHERE anon_kept) AS kept_class_count,
    anon.suppressed_rows_of(anon_class_size, anon_kept) AS suppressed_rows,
    anon.suppressed_rows_of(anon_class_size, anon_certainly_kept) AS certain_suppressed_rows,
    coalesce(bool_or(anon_out_of_bounds) FILTER (WHERE anon_kept), FALSE) AS rejected,
    anon.mean_loss_of(anon_class_weight, anon_kept, anon_lm) AS lm,
    anon.mean_loss_of(anon_class_weight, anon_kept, anon_ncp) AS ncp,
    anon.mean_loss_of(anon_class_weight, anon_kept, 0.0) AS suppressed_share,
    anon.suppressed_loss_of(anon_class_weight, anon_kept, anon_information) AS suppressed_information,
    anon.best_k_of(anon_strictness, anon_rows_up_to, anon_allowed_rows) AS attainable
FROM :classes AS anon_classes
GROUP BY anon_node;
