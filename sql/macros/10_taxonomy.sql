-- Taxonomies as relations: one level, all heights, and what is wrong with them.

-- The labels of one level of one taxonomy: a row per value, with the NULL value always among them.
--
-- NULL carries the label that the taxonomy gives it; without one it stays NULL below the top level and
-- takes the top label there.
--
-- Returns: value VARCHAR, label VARCHAR.
-- Example:
--   FROM anon_helpers.taxonomy_level('sex', 1) ORDER BY value;
CREATE OR REPLACE MACRO anon_helpers.taxonomy_level(attribute, level) AS TABLE
SELECT anon_taxonomy.anon_value AS value, anon_taxonomy.anon_label AS label
FROM anon.taxonomy AS anon_taxonomy (anon_attribute, anon_level, anon_value, anon_label)
WHERE anon_taxonomy.anon_attribute = attribute AND anon_taxonomy.anon_level = level
UNION ALL
SELECT
    NULL AS value,
    CASE WHEN anon_null.anon_height = level AND level > 0 THEN anon_null.anon_label END AS label
FROM (
    SELECT
        max(anon_taxonomy.anon_level) AS anon_height,
        max(anon_taxonomy.anon_label) FILTER (WHERE anon_taxonomy.anon_level = level) AS anon_label,
        count(*) FILTER (WHERE anon_taxonomy.anon_level = level) AS anon_rows,
        count(*) FILTER (WHERE anon_taxonomy.anon_level = level AND anon_taxonomy.anon_value IS NULL) AS anon_null_rows
    FROM anon.taxonomy AS anon_taxonomy (anon_attribute, anon_level, anon_value, anon_label)
    WHERE anon_taxonomy.anon_attribute = attribute
) AS anon_null
WHERE anon_null.anon_rows > 0 AND anon_null.anon_null_rows = 0;

-- The labels of all levels of some taxonomies: a row per attribute, level and value, as taxonomy_level has them, with
-- the number of leaves under the label, as label_leaves has it.
--
-- Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR, leaf_count BIGINT.
-- Example:
--   FROM anon_helpers.taxonomy_labels(['age', 'sex']) ORDER BY attribute, level, value;
CREATE OR REPLACE MACRO anon_helpers.taxonomy_labels(attributes) AS TABLE
WITH anon_labels AS (
    SELECT
        anon_attribute,
        anon_level,
        anon_value,
        anon_label,
        count(*) OVER (PARTITION BY anon_attribute, anon_level, anon_label) AS anon_leaf_count,
        anon_level > 0 AND anon_level = max(anon_level) OVER (PARTITION BY anon_attribute) AS anon_is_top
    FROM anon.taxonomy AS anon_taxonomy (anon_attribute, anon_level, anon_value, anon_label)
    WHERE list_contains(anon_helpers.listed(attributes), anon_taxonomy.anon_attribute)
)
SELECT
    anon_attribute AS attribute,
    anon_level AS level,
    anon_value AS value,
    anon_label AS label,
    anon_leaf_count AS leaf_count
FROM anon_labels
UNION ALL
SELECT
    anon_attribute,
    anon_level,
    NULL,
    CASE WHEN anon_is_top THEN max(anon_label) END,
    -- A label that no value carries is NULL, which is its own single leaf.
    CASE WHEN anon_is_top THEN arg_max(anon_leaf_count, anon_label) ELSE 1 END
FROM anon_labels
GROUP BY anon_attribute, anon_level, anon_is_top
HAVING count(*) FILTER (WHERE anon_value IS NULL) = 0;

-- The labels of all levels of one taxonomy: a row per level and value, as taxonomy_labels has them.
--
-- Returns: level INTEGER, value VARCHAR, label VARCHAR, leaf_count BIGINT.
-- Example:
--   FROM anon_helpers.taxonomy_levels('sex') ORDER BY level, value;
CREATE OR REPLACE MACRO anon_helpers.taxonomy_levels(attribute) AS TABLE
SELECT level, value, label, leaf_count FROM anon_helpers.taxonomy_labels([attribute]);

-- The number of leaves, that is of values of level 0, under each label of one level.
--
-- A label that no value of the taxonomy carries (NULL, where the taxonomy gives it no label) is not listed
-- and counts as its own single leaf.
--
-- Returns: label VARCHAR, leaf_count BIGINT.
-- Example:
--   FROM anon_helpers.label_leaves('age', 2) ORDER BY label;
CREATE OR REPLACE MACRO anon_helpers.label_leaves(attribute, level) AS TABLE
SELECT anon_taxonomy.anon_label AS label, count(*) AS leaf_count
FROM anon.taxonomy AS anon_taxonomy (anon_attribute, anon_level, anon_value, anon_label)
WHERE anon_taxonomy.anon_attribute = attribute AND anon_taxonomy.anon_level = level
GROUP BY anon_taxonomy.anon_label;

-- Every taxonomy with its height (the number of its top level), the size of its domain, and whether
-- that domain was declared, stated by a file, or observed from data, as it was when it was loaded.
--
-- Job: taxonomies.
-- Returns: attribute VARCHAR, height INTEGER, value_count BIGINT, domain VARCHAR.
-- Example:
--   FROM anon.taxonomy_heights() ORDER BY attribute;
CREATE OR REPLACE MACRO anon.taxonomy_heights() AS TABLE
SELECT
    anon_taxonomy.attribute,
    max(anon_taxonomy.level) AS height,
    count(*) FILTER (WHERE anon_taxonomy.level = 0) AS value_count,
    coalesce(any_value(anon_domain.domain), 'observed') AS domain
FROM anon.taxonomy AS anon_taxonomy
LEFT JOIN anon.taxonomy_domain AS anon_domain ON anon_domain.attribute = anon_taxonomy.attribute
GROUP BY anon_taxonomy.attribute;

-- What is wrong with the taxonomies in a relation shaped like anon.taxonomy: a row per attribute, level
-- and kind of problem, with counts and never a value. No row means that every taxonomy is well formed.
--
-- Problems: 'missing level' (values of the domain without a label at this level), 'value outside the
-- domain' (rows of this level whose value level 0 does not have), 'several labels' (values with more than one
-- row), 'level 0 is not the value itself', 'empty label', 'not nested' (labels of this level that fall
-- under more than one label of the next), 'several top labels'.
--
-- How it goes. Values that have the same levels are counted together; each kind of problem is a query of these counts or of
-- the rows, and all are put one below the other.
--
-- Returns: attribute VARCHAR, level INTEGER, problem VARCHAR, problem_count BIGINT.
-- Example:
--   FROM anon_helpers.taxonomy_problems('anon.taxonomy');
CREATE OR REPLACE MACRO anon_helpers.taxonomy_problems(taxonomies) AS TABLE
WITH anon_rows AS (
    SELECT attribute, level, value, label FROM query_table(anon_helpers.as_source(taxonomies))
),
-- Values with the same levels are counted together: joins of all rows take three times the memory and the time.
anon_level_sets AS (
    SELECT attribute, anon_levels, count(*) AS anon_value_count
    FROM (
        SELECT attribute, value, list_sort(list(level)) AS anon_levels FROM anon_rows GROUP BY attribute, value
    )
    GROUP BY attribute, anon_levels
),
anon_heights AS (
    SELECT attribute, max(list_max(anon_levels)) AS anon_height FROM anon_level_sets GROUP BY attribute
),
anon_counts AS (
    SELECT attribute, anon_levels, anon_value_count, level, count(*) AS anon_row_count
    FROM (
        SELECT attribute, anon_levels, anon_value_count, unnest(anon_levels) AS level FROM anon_level_sets
    )
    GROUP BY ALL
),
anon_found AS (
    SELECT attribute, level, 'missing level' AS problem, sum(anon_value_count) AS problem_count
    FROM (
        SELECT anon_level_sets.*, unnest(range(0, anon_heights.anon_height + 1)) AS level
        FROM anon_level_sets
        INNER JOIN anon_heights ON anon_heights.attribute = anon_level_sets.attribute
        WHERE list_contains(anon_level_sets.anon_levels, 0)
    )
    WHERE NOT list_contains(anon_levels, level)
    GROUP BY ALL
    UNION ALL
    SELECT attribute, level, 'value outside the domain', sum(anon_value_count * anon_row_count)
    FROM anon_counts
    WHERE NOT list_contains(anon_levels, 0)
    GROUP BY ALL
    UNION ALL
    SELECT attribute, level, 'several labels', sum(anon_value_count)
    FROM anon_counts
    WHERE anon_row_count > 1
    GROUP BY ALL
    UNION ALL
    SELECT attribute, level, 'level 0 is not the value itself', count(*)
    FROM anon_rows
    WHERE level = 0 AND label IS DISTINCT FROM value AND coalesce(label, '') <> ''
    GROUP BY ALL
    UNION ALL
    SELECT attribute, level, 'empty label', count(*)
    FROM anon_rows
    WHERE coalesce(label, '') = '' AND NOT (level = 0 AND value IS NOT DISTINCT FROM label)
    GROUP BY ALL
    UNION ALL
    SELECT attribute, level, 'not nested', count(*)
    FROM (
        SELECT anon_rows.attribute, anon_rows.level, anon_rows.label
        FROM anon_rows
        INNER JOIN anon_rows AS anon_next
            ON anon_next.attribute = anon_rows.attribute
            AND anon_next.level = anon_rows.level + 1
            AND anon_next.value IS NOT DISTINCT FROM anon_rows.value
        WHERE anon_rows.level > 0 AND anon_next.level > 1
        GROUP BY ALL
        HAVING min(anon_next.label) <> max(anon_next.label)
    )
    GROUP BY ALL
    UNION ALL
    SELECT anon_rows.attribute, anon_rows.level, 'several top labels', count(DISTINCT anon_rows.label)
    FROM anon_rows
    INNER JOIN anon_heights
        ON anon_heights.attribute = anon_rows.attribute AND anon_heights.anon_height = anon_rows.level
    GROUP BY ALL
    HAVING count(DISTINCT anon_rows.label) > 1
)
SELECT attribute, CAST(level AS INTEGER) AS level, problem, CAST(problem_count AS BIGINT) AS problem_count FROM anon_found;

-- What is wrong with the taxonomies that are stored in anon.taxonomy; no row means nothing is.
--
-- Job: taxonomies.
-- Returns: attribute VARCHAR, level INTEGER, problem VARCHAR, problem_count BIGINT.
-- Example:
--   FROM anon.malformed_taxonomies();
CREATE OR REPLACE MACRO anon.malformed_taxonomies() AS TABLE
FROM anon_helpers.taxonomy_problems('anon.taxonomy');

-- How many labels of some taxonomies are also values of level 0 that have another label at the same level: who reads such
-- a label may take it for the value. A value that is its own group is none of them, nor is the label of the top.
--
-- Job: taxonomies.
-- Returns: attribute VARCHAR, ambiguous_labels BIGINT, one row per attribute.
-- Example:
--   FROM anon.ambiguous_labels(['age', 'sex']) ORDER BY attribute;
CREATE OR REPLACE MACRO anon.ambiguous_labels(attributes) AS TABLE
WITH anon_rows AS (
    SELECT anon_attribute, anon_level, anon_value, anon_label
    FROM anon.taxonomy AS anon_taxonomy (anon_attribute, anon_level, anon_value, anon_label)
    WHERE list_contains(anon_helpers.listed(attributes), anon_taxonomy.anon_attribute)
),
anon_tops AS (
    SELECT anon_attribute, arg_max(anon_label, anon_level) AS anon_label FROM anon_rows GROUP BY anon_attribute
),
anon_labels AS (
    SELECT DISTINCT anon_attribute, anon_level, anon_label
    FROM anon_rows
    ANTI JOIN anon_tops
        ON anon_tops.anon_attribute = anon_rows.anon_attribute AND anon_tops.anon_label = anon_rows.anon_label
    WHERE anon_level > 0
),
anon_ambiguous AS (
    SELECT DISTINCT anon_labels.anon_attribute, anon_labels.anon_label
    FROM anon_labels
    INNER JOIN anon_rows
        ON anon_rows.anon_attribute = anon_labels.anon_attribute
        AND anon_rows.anon_level = anon_labels.anon_level
        AND anon_rows.anon_value = anon_labels.anon_label
    WHERE anon_rows.anon_label <> anon_labels.anon_label
)
SELECT anon_wanted.anon_name AS attribute, count(anon_ambiguous.anon_label) AS ambiguous_labels
FROM unnest(anon_helpers.listed(attributes)) AS anon_wanted (anon_name)
LEFT JOIN anon_ambiguous ON anon_ambiguous.anon_attribute = anon_wanted.anon_name
GROUP BY anon_wanted.anon_name;

-- How often each value of some columns of a source stands in its column; values are text, and NULL is one of them.
-- Columns are found whatever their case, and named as in the list.
--
-- Returns: attribute VARCHAR, value VARCHAR, row_count BIGINT.
-- Example:
--   FROM anon_helpers.column_values('visits', ['sex', 'zip']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.column_values(source, column_names) AS TABLE
SELECT
    CASE WHEN list_contains(column_names, anon_attribute) THEN anon_attribute
        ELSE list_filter(column_names, lambda anon_name: lower(anon_name) = lower(anon_attribute))[1]
    END AS attribute,
    CASE WHEN anon_signed <> '' THEN substr(anon_signed, 2) END AS value,
    CAST(anon_rows AS BIGINT) AS row_count
FROM (
    -- A map per column, made in one scan: grouping by all columns, or unpivoting all rows, takes several times as long.
    -- A value that is not NULL has a sign before it, since maps have no NULL.
    SELECT
        anon_attribute,
        unnest(map_keys(anon_rows_by_value)) AS anon_signed,
        unnest(map_values(anon_rows_by_value)) AS anon_rows
    FROM (
        UNPIVOT (
            SELECT histogram(coalesce('=' || anon.text_of(COLUMNS(anon_helpers.listed(column_names))), '') COLLATE "binary")
            FROM query_table(anon_helpers.as_source(source))
        )
        ON COLUMNS(*) INTO NAME anon_attribute VALUE anon_rows_by_value
    )
);

-- How many distinct values of each quasi-identifier its taxonomy does not know, and in how many rows
-- they stand; values are compared as text. A taxonomy covers the data where both counts are 0; NULL is
-- always covered (see taxonomy_level).
--
-- Job: taxonomies.
-- Returns: attribute VARCHAR, unmapped_values BIGINT, unmapped_rows BIGINT, one row per quasi-identifier.
-- Example:
--   FROM anon.unmapped_values('visits', ['age', 'zip']);
CREATE OR REPLACE MACRO anon.unmapped_values(source, quasi_identifiers) AS TABLE
WITH anon_values AS (
    SELECT
        -- In the list's own spelling, which the taxonomies must share: columns are found whatever their case.
        CASE WHEN list_contains(quasi_identifiers, anon_attribute) THEN anon_attribute
            ELSE list_filter(quasi_identifiers, lambda anon_name: lower(anon_name) = lower(anon_attribute))[1]
        END AS anon_name,
        anon_value,
        count(*) AS anon_rows
    FROM (
        UNPIVOT (
            SELECT anon.text_of(COLUMNS(anon_helpers.listed(quasi_identifiers)))
            FROM query_table(anon_helpers.as_source(source))
        )
        ON COLUMNS(*) INTO NAME anon_attribute VALUE anon_value
    )
    GROUP BY ALL
),
anon_gaps AS (
    SELECT anon_name, anon_rows
    FROM anon_values
    ANTI JOIN anon.taxonomy AS anon_taxonomy
        ON anon_taxonomy.attribute = anon_values.anon_name
        AND anon_taxonomy.level = 0
        AND anon_taxonomy.value = anon_values.anon_value
)
SELECT
    anon_wanted.anon_name AS attribute,
    count(anon_gaps.anon_rows) AS unmapped_values,
    CAST(coalesce(sum(anon_gaps.anon_rows), 0) AS BIGINT) AS unmapped_rows
FROM unnest(anon_helpers.listed(quasi_identifiers)) AS anon_wanted (anon_name)
LEFT JOIN anon_gaps ON anon_gaps.anon_name = anon_wanted.anon_name
GROUP BY anon_wanted.anon_name;

-- How many distinct labels of each quasi-identifier are none of its taxonomy at the level that the node gives it, and
-- in how many rows they stand; compared as text. A table is generalized to a node where both counts are 0.
--
-- NULL is a label where taxonomy_level has it. Rows that were masked with * are none of the node, unless * is a
-- label there: leave them out first.
--
-- Job: verify.
-- Returns: attribute VARCHAR, foreign_labels BIGINT, foreign_rows BIGINT, one row per quasi-identifier.
-- Example:
--   WITH generalized AS (FROM anon.generalize('visits', MAP {'age': 1, 'sex': 0}))
--   FROM anon.foreign_labels('generalized', MAP {'age': 2, 'sex': 0});
CREATE OR REPLACE MACRO anon.foreign_labels(source, node) AS TABLE
WITH anon_wanted AS (
    SELECT unnest(map_keys(node)) AS anon_name, unnest(map_values(node)) AS anon_level
),
anon_labels AS (
    SELECT anon_wanted.anon_name, anon_taxonomy.anon_label
    FROM anon_wanted
    CROSS JOIN anon_helpers.taxonomy_level(anon_wanted.anon_name, anon_wanted.anon_level)
        AS anon_taxonomy (anon_value, anon_label)
),
anon_found AS (
    SELECT attribute AS anon_name, value AS anon_label, row_count AS anon_rows
    FROM anon_helpers.column_values(source, map_keys(node))
),
anon_foreign AS (
    SELECT anon_name, anon_rows
    FROM anon_found
    ANTI JOIN anon_labels
        ON anon_labels.anon_name = anon_found.anon_name
        AND anon_labels.anon_label IS NOT DISTINCT FROM anon_found.anon_label
)
SELECT
    anon_wanted.anon_name AS attribute,
    count(anon_foreign.anon_rows) AS foreign_labels,
    CAST(coalesce(sum(anon_foreign.anon_rows), 0) AS BIGINT) AS foreign_rows
FROM anon_wanted
LEFT JOIN anon_foreign ON anon_foreign.anon_name = anon_wanted.anon_name
GROUP BY anon_wanted.anon_name;
