-- The label of the top of taxonomies, and the number of rows below where it stands under another label: then it is not
-- that of the top alone.
SELECT
    attribute,
    any_value(label) FILTER (WHERE level = anon_height) AS root,
    count(*) FILTER (WHERE label = anon_root AND anon_next IS DISTINCT FROM anon_root AND level < anon_height) AS others
FROM (
    SELECT
        *,
        max(label) FILTER (WHERE level = anon_height) OVER (PARTITION BY attribute) AS anon_root,
        lead(label) OVER (PARTITION BY attribute, value ORDER BY level ASC) AS anon_next
    FROM (
        SELECT attribute, level, value, label, max(level) OVER (PARTITION BY attribute) AS anon_height
        FROM anon.taxonomy
    ) AS anon_levels
) AS anon_rooted
GROUP BY attribute
