-- The label of every value at every level (its depth) of the taxonomies of quasi-identifiers (anon_taxonomies: position,
-- attribute, height, domain_size): the code of the label, in the order of the leaves under it; which child it is, from 0,
-- of the label above; and what it loses. A value that lacks a label is left out.
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
    FROM anon_taxonomies
    INNER JOIN anon_taxonomy_labels ON anon_taxonomy_labels.attribute = anon_taxonomies.attribute
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
FROM anon_parents
