-- The values of every quasi-identifier (its position) with their rows (anon_value_rows), once per level (its depth) with the
-- code of their label there (anon_label) and what it loses.
SELECT
    anon_labels.position,
    anon_labels.depth,
    anon_values.anon_value_rows,
    anon_labels.code AS anon_label,
    anon_labels.lm AS anon_lm,
    anon_labels.ncp AS anon_ncp
FROM anon_values
INNER JOIN anon_labels
    ON anon_labels.position = anon_values.position
    AND anon_labels.value IS NOT DISTINCT FROM anon_values.value
