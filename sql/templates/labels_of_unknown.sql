-- The labels of taxonomies (anon_taxonomy_labels: attribute, level, value, label, leaf_count) with those of values that
-- they do not have (anon_unknown_values: attribute, value): at every level the label of the top (anon_roots: attribute,
-- height, root, domain_size), which is taken to have all leaves under it wherever it stands.
SELECT
    anon_taxonomy_labels.attribute,
    anon_taxonomy_labels.level,
    anon_taxonomy_labels.value,
    anon_taxonomy_labels.label,
    CASE
        WHEN anon_taxonomy_labels.label = anon_roots.root THEN anon_roots.domain_size
        ELSE anon_taxonomy_labels.leaf_count
    END AS leaf_count
FROM anon_taxonomy_labels
LEFT JOIN anon_roots ON anon_roots.attribute = anon_taxonomy_labels.attribute
UNION ALL
SELECT
    anon_leaves.attribute,
    unnest(range(anon_roots.height + 1)) AS level,
    anon_leaves.value,
    anon_roots.root AS label,
    anon_roots.domain_size AS leaf_count
FROM (
    SELECT attribute, value FROM anon_unknown_values WHERE value IS NOT NULL
    UNION
    SELECT attribute, root FROM anon_roots
) AS anon_leaves
INNER JOIN anon_roots ON anon_roots.attribute = anon_leaves.attribute
ANTI JOIN anon.taxonomy AS anon_taxonomy
    ON anon_taxonomy.attribute = anon_leaves.attribute
    AND anon_taxonomy.level = 0
    AND anon_taxonomy.value = anon_leaves.value
