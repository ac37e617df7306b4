-- A cut as a table, as anon.apply_cut takes it: the values under noted labels (anon_noted_labels: attribute, level, label,
-- is_of_all, which says that the label stands for all values), and what is noted of no values (anon_noted_parts: attribute,
-- low, high, label).
SELECT
    anon_noted_labels.attribute,
    anon_stored.value,
    CAST(NULL AS DOUBLE) AS low,
    CAST(NULL AS DOUBLE) AS high,
    anon_noted_labels.label
FROM anon_noted_labels
INNER JOIN anon.taxonomy AS anon_stored
    ON anon_stored.attribute = anon_noted_labels.attribute
    AND anon_stored.level = anon_noted_labels.level
    AND (anon_noted_labels.is_of_all OR anon_stored.label = anon_noted_labels.label)
WHERE anon_stored.value IS NOT NULL
UNION ALL
SELECT attribute, NULL, low, high, label FROM anon_noted_parts
