-- The lattice: every combination of levels of the quasi-identifiers' taxonomies.

-- Every node of the lattice of these quasi-identifiers: a MAP from quasi-identifier to level, in the order
-- given, and its height, the sum of its levels. There are product(height + 1) of them.
--
-- Job: search.
-- Returns: node MAP(VARCHAR, INTEGER), height INTEGER. No row if a quasi-identifier has no taxonomy.
-- Source: Samarati 2001, section 4; Mazzone 2019, section 4.3.
-- Example:
--   FROM anon.lattice(['age', 'sex']) ORDER BY height, node;
CREATE OR REPLACE MACRO anon.lattice(quasi_identifiers) AS TABLE
WITH RECURSIVE anon_levels AS (
    SELECT anon_name AS anon_attribute, anon_position, unnest(range(0, anon_height.height + 1)) AS anon_level
    FROM unnest(anon_helpers.listed(quasi_identifiers)) WITH ORDINALITY AS anon_wanted (anon_name, anon_position)
    INNER JOIN anon.taxonomy_heights() AS anon_height ON anon_height.attribute = anon_name
),
anon_nodes AS (
    SELECT
        map(CAST([] AS VARCHAR[]), CAST([] AS INTEGER[])) AS anon_node,
        0 AS anon_height,
        CAST(0 AS BIGINT) AS anon_depth
    UNION ALL
    SELECT
        map_concat(anon_nodes.anon_node, MAP {anon_levels.anon_attribute: CAST(anon_levels.anon_level AS INTEGER)}),
        anon_nodes.anon_height + CAST(anon_levels.anon_level AS INTEGER),
        anon_levels.anon_position
    FROM anon_nodes
    INNER JOIN anon_levels ON anon_levels.anon_position = anon_nodes.anon_depth + 1
)
SELECT anon_node AS node, anon_height AS height
FROM anon_nodes
WHERE anon_depth = len(quasi_identifiers);
