-- sqlanon: anonymize tables in SQL. This file makes schema anon with all macros in a database of DuckDB 1.5 or newer:
--   .read sqlanon.sql
-- FROM anon.help() lists them then. `sqlanon sql` made it of sql/macros: change these, and make it anew.
BEGIN TRANSACTION;

-- Schema anon: the taxonomies that every macro reads, and where their values come from, as plain tables.
--
-- There is deliberately no unique index on anon.taxonomy: NULL is a value of its own, which a primary
-- key cannot hold, and an index makes a million-value taxonomy 5 times slower to load and 11 times
-- larger on disk. anon.malformed_taxonomies() finds what an index would have refused.
CREATE SCHEMA IF NOT EXISTS anon;

CREATE TABLE IF NOT EXISTS anon.taxonomy (
    attribute VARCHAR NOT NULL,
    level INTEGER NOT NULL,
    value VARCHAR,
    label VARCHAR
);

-- Where the values of a taxonomy come from: they were declared, a file states them, or they were read off the data.
-- An attribute without a row here counts as observed.
CREATE TABLE IF NOT EXISTS anon.taxonomy_domain (
    attribute VARCHAR NOT NULL PRIMARY KEY,
    domain VARCHAR NOT NULL CHECK (domain IN ('declared', 'stated', 'observed'))
);

-- A row per time that a taxonomy was loaded, the newest last: where its values came from, which file stated them, and a
-- hash of the labels. A taxonomy that was changed in SQL since then has another hash, and counts as observed. So does a
-- file that is equal to a taxonomy whose values were read off the data.
CREATE TABLE IF NOT EXISTS anon.taxonomy_origin (
    attribute VARCHAR NOT NULL,
    domain VARCHAR NOT NULL,
    origin VARCHAR,
    sha256 VARCHAR NOT NULL
);

-- Values of a source as their column has them.

-- The macros of schema anon are for people; those of this schema are what these are made of.
CREATE SCHEMA IF NOT EXISTS anon_helpers;

-- The value itself, in a form whose casts stay in the query.
--
-- DuckDB 2.0 hands the cast of a bare column to the reader of a CSV file, which casts the text in the file instead of the
-- value: TRUE would be 'True', 20.5 would be '20.50' or the integer 21, and a TRY_CAST would be an error instead of NULL.
-- It does so before it knows that this is the value, and casts of other sources take no longer.
--
-- Example:
--   SELECT DISTINCT CAST(anon_helpers.as_read(age) AS DOUBLE) AS age FROM visits ORDER BY age ASC;
CREATE OR REPLACE MACRO anon_helpers.as_read(value) AS coalesce(value, NULL);

-- A value as text, the form in which taxonomies have values; the same whether a table, a Parquet or a CSV file holds it.
--
-- Job: labels.
-- Returns: VARCHAR.
-- Example:
--   SELECT anon.text_of(DATE '2016-01-01') AS text, anon.text_of(20.50::DOUBLE) AS number;
CREATE OR REPLACE MACRO anon.text_of(value) AS CAST(anon_helpers.as_read(value) AS VARCHAR);

-- A number, or the bottom if it is below that; NULL stays NULL.
--
-- Job: labels.
-- Returns: a number of the type that holds both.
-- Example:
--   SELECT income, anon.bottom_coded(income, 0) AS coded FROM (VALUES (-300), (1200), (NULL)) AS people(income);
CREATE OR REPLACE MACRO anon.bottom_coded(value, bottom) AS CASE WHEN value < bottom THEN bottom ELSE value END;

-- A number, or the top if it is above that; NULL stays NULL.
--
-- Job: labels.
-- Returns: a number of the type that holds both.
-- Example:
--   SELECT age, anon.top_coded(age, 89) AS coded FROM (VALUES (34), (97), (NULL)) AS people(age) ORDER BY age;
CREATE OR REPLACE MACRO anon.top_coded(value, top) AS CASE WHEN value > top THEN top ELSE value END;

-- A value as text that is the same whatever the time zone of the session: a TIMESTAMP WITH TIME ZONE is spelled in UTC,
-- others as by anon.text_of, those in lists and structs too.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.text_in_utc(TIMESTAMPTZ '2024-10-27 01:30:00+02') AS instant, anon_helpers.text_in_utc(20.50) AS number;
CREATE OR REPLACE MACRO anon_helpers.text_in_utc(value) AS
CASE
    WHEN typeof(value) = 'TIMESTAMP WITH TIME ZONE' THEN coalesce(
        CAST(make_timestamp(epoch_us(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMPTZ))) AS VARCHAR) || '+00',
        -- Infinity is in no time zone.
        anon.text_of(value)
    )
    -- DuckDB 1.5 coalesces no arrays; the only value of a list is read as well, but takes longer.
    WHEN regexp_matches(typeof(value), '\[|^(STRUCT|MAP|UNION)') THEN CAST([value][1] AS VARCHAR)
    ELSE anon.text_of(value)
END;

-- Names of sources and columns as they are handed to a macro.

-- A name as query_table takes it: a path, which is a text with a slash or with a double quote that does not enclose a
-- part of a name, is put in double quotes; names of tables stay as they are. DuckDB 1.5 reads './visits.csv' as a qualified
-- name otherwise, with a schema before the dot, and has no way to spell a path that contains a double quote.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.as_name('./visits.csv') AS path, anon_helpers.as_name('main.visits') AS table_name;
CREATE OR REPLACE MACRO anon_helpers.as_name(name) AS
CASE
    WHEN regexp_full_match(name, '("([^"]|"")*"|[^"./]+)([.]("([^"]|"")*"|[^"./]+))*') OR NOT regexp_matches(name, '["/]')
        THEN name
    WHEN contains(name, '"') AND version() < 'v2'
        THEN error(
            'DuckDB 1.5 finds no path with a double quote here: make a view, CREATE VIEW visits AS FROM read_csv(''...''), '
            'or read_parquet, and name that'
        )
    ELSE concat('"', replace(name, '"', '""'), '"')
END;

-- A source as query_table takes it: the name of a table or a path, or a list of them.
--
-- Example:
--   SELECT anon_helpers.as_source('./visits.csv') AS path, anon_helpers.as_source(['main.visits', '../visits.csv']) AS listed;
CREATE OR REPLACE MACRO anon_helpers.as_source(source_name) AS
CASE
    -- Each branch has the type of the source.
    WHEN typeof(source_name) = 'VARCHAR' THEN cast_to_type(anon_helpers.as_name(CAST(source_name AS VARCHAR)), source_name)
    WHEN typeof(source_name) LIKE 'VARCHAR[%'
        THEN cast_to_type(
            list_transform(CAST(source_name AS VARCHAR[]), lambda anon_name: anon_helpers.as_name(anon_name)), source_name
        )
    ELSE source_name
END;

-- A list of columns as it is; anything else is an error, which stands in the message of a failed cast. DuckDB reads a
-- string in COLUMNS as a regular expression: 'age' would be every column whose name contains it.
--
-- COLUMNS takes no function that raises errors, but it takes a cast.
--
-- Returns: VARCHAR[].
-- Example:
--   SELECT anon_helpers.listed(['age', 'sex']) AS columns;
CREATE OR REPLACE MACRO anon_helpers.listed(column_names) AS
CASE
    -- An array is a list of a fixed length.
    WHEN typeof(column_names) LIKE '%]' THEN CAST(column_names AS VARCHAR[])
    ELSE CAST(
        concat(
            'write a list of columns, such as [''',
            coalesce(regexp_replace(trim(CAST(column_names AS VARCHAR), '()[] '), '\s*,\s*', ''', ''', 'g'), 'age'),
            ''']'
        ) AS VARCHAR[]
    )
END;

-- One of a list of columns by its place, from 1; of a shorter list the last one. So that a query, which has a fixed
-- number of columns, can name each of a list.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.listed_at(['age', 'sex'], 1) AS column_1, anon_helpers.listed_at(['age', 'sex'], 3) AS column_3;
CREATE OR REPLACE MACRO anon_helpers.listed_at(column_names, place) AS
anon_helpers.listed(column_names)[least(place, len(anon_helpers.listed(column_names)))];

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

-- Labels that a rule can make: intervals, dates, prefixes, diagnosis codes, networks. Each takes a value as text
-- or in its own type and returns NULL where the rule does not apply, so that a taxonomy made with it is refused.

-- The half-open interval of a given width that a number falls into, [start, end), counted from an origin. Numbers
-- below `lower` and from `upper` on share the open ends; give NULL for no open end. Exact to nine decimals.
--
-- How it goes. From the inside out: the value as a decimal, the step that it falls into by division, that step corrected, the
-- start of the interval, its text.
--
-- Job: labels.
-- Returns: VARCHAR; NULL for a value that is not a number below 1e28.
-- Example:
--   SELECT anon.interval_label(34, 10, 0, NULL, 90) AS decade, anon.interval_label(93, 10, 0, NULL, 90) AS old;
CREATE OR REPLACE MACRO anon.interval_label(value, width, origin, lower, upper) AS (
    SELECT CASE
        WHEN anon_start.anon_number IS NULL THEN NULL
        WHEN anon_start.anon_number < lower THEN concat('< ', lower)
        WHEN anon_start.anon_number >= upper THEN concat('>= ', upper)
        ELSE concat(
            '[', greatest(anon_start.anon_start, lower), ', ', least(anon_start.anon_start + width, upper), ')'
        )
    END
    FROM (
        SELECT
            anon_guess.anon_number,
            -- Division is in floating point: step to the neighbour where it landed on the wrong side of a boundary.
            origin + width * (anon_guess.anon_step + CASE
                WHEN origin + width * (anon_guess.anon_step + 1) <= anon_guess.anon_number THEN 1
                WHEN origin + width * anon_guess.anon_step > anon_guess.anon_number THEN -1
                ELSE 0
            END) AS anon_start
        FROM (
            SELECT
                anon_rough.anon_number,
                -- Beyond 2^53 it lands far from the boundary: what is left is divided once more.
                CASE
                    WHEN abs(anon_rough.anon_step) < 9007199254740992 THEN anon_rough.anon_step
                    ELSE anon_rough.anon_step + CAST(
                        floor((anon_rough.anon_number - origin - width * anon_rough.anon_step) / width) AS HUGEINT
                    )
                END AS anon_step
            FROM (
                SELECT
                    anon_exact.anon_number,
                    CAST(floor((anon_exact.anon_number - origin) / width) AS HUGEINT) AS anon_step
                FROM (
                    -- DuckDB 1.5 takes 100 times as long for the larger type, into which it casts floats with other digits.
                    SELECT coalesce(
                        TRY_CAST(anon_helpers.as_read(value) AS DECIMAL(18, 9)), TRY_CAST(anon.text_of(value) AS DECIMAL(37, 9))
                    ) AS anon_number
                ) AS anon_exact
            ) AS anon_rough
        ) AS anon_guess
    ) AS anon_start
);

-- The half-open interval between two of some numbers that a number falls into, [start, end); < the first or >= the last
-- beyond them. The bounds are numbers in ascending order, or their texts, which labels show as they are. Exact to nine
-- decimals.
--
-- Job: labels.
-- Returns: VARCHAR; NULL for a value that is not a number.
-- Example:
--   SELECT anon.bin_label(34, [18, 25, 65]) AS adult, anon.bin_label(71, [18, 25, 65]) AS old;
CREATE OR REPLACE MACRO anon.bin_label(value, bounds) AS
-- A lambda names the place of the lower bound: DuckDB 1.5 finds no column of a query around a subquery inside one.
list_transform(
    [len(list_filter(
        bounds, lambda anon_bound: CAST(anon_bound AS DECIMAL(38, 9)) <= TRY_CAST(anon.text_of(value) AS DECIMAL(38, 9))
    ))],
    lambda anon_lower: CASE
        WHEN TRY_CAST(anon.text_of(value) AS DECIMAL(38, 9)) IS NULL THEN NULL
        WHEN anon_lower = 0 THEN '< ' || CAST(bounds[1] AS VARCHAR)
        WHEN anon_lower = len(bounds) THEN '>= ' || CAST(bounds[anon_lower] AS VARCHAR)
        ELSE concat('[', bounds[anon_lower], ', ', bounds[anon_lower + 1], ')')
    END
)[1];

-- The day, month, quarter, year or decade of a date or timestamp: 2024-03-31, 2024-03, 2024-Q1, 2024, 2020s; or its week and
-- the year of that by ISO 8601: 2024-W13, ISO 2024. Weeks do not nest in months or calendar years.
--
-- Job: labels.
-- Returns: VARCHAR; NULL for a value that is not a date, an error for another unit.
-- Example:
--   SELECT anon.date_label('2024-03-31', 'month') AS month, anon.date_label('2024-03-31', 'quarter') AS quarter;
CREATE OR REPLACE MACRO anon.date_label(value, unit) AS CASE unit
    WHEN 'day' THEN strftime(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP), '%Y-%m-%d')
    WHEN 'week' THEN
        isoyear(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP)) || '-W'
        || lpad(CAST(week(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP)) AS VARCHAR), 2, '0')
    WHEN 'isoyear' THEN 'ISO ' || isoyear(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP))
    WHEN 'month' THEN strftime(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP), '%Y-%m')
    WHEN 'quarter' THEN
        year(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP))
        || '-Q' || quarter(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP))
    WHEN 'year' THEN CAST(year(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP)) AS VARCHAR)
    WHEN 'decade' THEN (year(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP)) // 10 * 10) || 's'
    ELSE error(concat('anon.date_label: no unit ', unit, '; take day, week, isoyear, month, quarter, year or decade'))
END;

-- The first `kept` characters of a value, each other one masked by *.
--
-- Job: labels.
-- Returns: VARCHAR.
-- Example:
--   SELECT anon.prefix_label('10115', 3) AS label;
CREATE OR REPLACE MACRO anon.prefix_label(value, kept) AS
left(anon.text_of(value), kept) || repeat('*', greatest(length(anon.text_of(value)) - kept, 0));

-- The three-character category (E11) or the chapter (E00-E90) of an ICD-10 code, with or without its dot.
--
-- Job: labels.
-- Returns: VARCHAR; NULL for a value that is not an ICD-10 code, an error for another rank.
-- Source: WHO, ICD-10 volume 1; the ranges also hold the codes of ICD-10-CM and ICD-10-GM.
-- Example:
--   SELECT anon.icd10_label('E11.65', 'category') AS category, anon.icd10_label('E11.65', 'chapter') AS chapter;
CREATE OR REPLACE MACRO anon.icd10_label(value, rank) AS CASE
    WHEN NOT regexp_matches(upper(anon.text_of(value)), '^[A-Z][0-9][0-9A-Z]([.]?[0-9A-Z-]+)?$') THEN NULL
    WHEN rank = 'category' THEN upper(left(anon.text_of(value), 3))
    WHEN rank <> 'chapter' THEN error(concat('anon.icd10_label: no rank ', rank, '; take category or chapter'))
    WHEN upper(left(anon.text_of(value), 1)) IN ('A', 'B') THEN 'A00-B99'
    WHEN upper(left(anon.text_of(value), 3)) BETWEEN 'C00' AND 'D4Z' THEN 'C00-D49'
    WHEN upper(left(anon.text_of(value), 1)) = 'D' THEN 'D50-D89'
    WHEN upper(left(anon.text_of(value), 1)) = 'E' THEN 'E00-E90'
    WHEN upper(left(anon.text_of(value), 1)) = 'F' THEN 'F00-F99'
    WHEN upper(left(anon.text_of(value), 1)) = 'G' THEN 'G00-G99'
    WHEN upper(left(anon.text_of(value), 3)) BETWEEN 'H00' AND 'H5Z' THEN 'H00-H59'
    WHEN upper(left(anon.text_of(value), 1)) = 'H' THEN 'H60-H95'
    WHEN upper(left(anon.text_of(value), 1)) = 'I' THEN 'I00-I99'
    WHEN upper(left(anon.text_of(value), 1)) = 'J' THEN 'J00-J99'
    WHEN upper(left(anon.text_of(value), 1)) = 'K' THEN 'K00-K95'
    WHEN upper(left(anon.text_of(value), 1)) = 'L' THEN 'L00-L99'
    WHEN upper(left(anon.text_of(value), 1)) = 'M' THEN 'M00-M99'
    WHEN upper(left(anon.text_of(value), 1)) = 'N' THEN 'N00-N99'
    WHEN upper(left(anon.text_of(value), 1)) = 'O' THEN 'O00-O9A'
    WHEN upper(left(anon.text_of(value), 1)) = 'P' THEN 'P00-P96'
    WHEN upper(left(anon.text_of(value), 1)) = 'Q' THEN 'Q00-Q99'
    WHEN upper(left(anon.text_of(value), 1)) = 'R' THEN 'R00-R99'
    WHEN upper(left(anon.text_of(value), 1)) IN ('S', 'T') THEN 'S00-T98'
    WHEN upper(left(anon.text_of(value), 1)) IN ('V', 'W', 'X', 'Y') THEN 'V01-Y98'
    WHEN upper(left(anon.text_of(value), 1)) = 'Z' THEN 'Z00-Z99'
    ELSE 'U00-U99'
END;

-- The category (250, V10, E950) or the chapter (240-279, V01-V91, E000-E999) of an ICD-9 diagnosis code, with or
-- without its dot.
--
-- Job: labels.
-- Returns: VARCHAR; NULL for a value that is not an ICD-9 code, an error for another rank.
-- Source: CDC, ICD-9-CM tabular list of diseases.
-- Example:
--   SELECT anon.icd9_label('250.01', 'category') AS category, anon.icd9_label('V10.3', 'chapter') AS chapter;
CREATE OR REPLACE MACRO anon.icd9_label(value, rank) AS CASE
    WHEN NOT regexp_matches(upper(anon.text_of(value)), '^([0-9]{3}|V[0-9]{2}|E[0-9]{3})([.]?[0-9]{1,2})?$') THEN NULL
    WHEN rank = 'category' THEN regexp_extract(upper(anon.text_of(value)), '^([0-9]{3}|V[0-9]{2}|E[0-9]{3})')
    WHEN rank <> 'chapter' THEN error(concat('anon.icd9_label: no rank ', rank, '; take category or chapter'))
    WHEN upper(left(anon.text_of(value), 1)) = 'V' THEN 'V01-V91'
    WHEN upper(left(anon.text_of(value), 1)) = 'E' THEN 'E000-E999'
    WHEN left(anon.text_of(value), 3) <= '139' THEN '001-139'
    WHEN left(anon.text_of(value), 3) <= '239' THEN '140-239'
    WHEN left(anon.text_of(value), 3) <= '279' THEN '240-279'
    WHEN left(anon.text_of(value), 3) <= '289' THEN '280-289'
    WHEN left(anon.text_of(value), 3) <= '319' THEN '290-319'
    WHEN left(anon.text_of(value), 3) <= '389' THEN '320-389'
    WHEN left(anon.text_of(value), 3) <= '459' THEN '390-459'
    WHEN left(anon.text_of(value), 3) <= '519' THEN '460-519'
    WHEN left(anon.text_of(value), 3) <= '579' THEN '520-579'
    WHEN left(anon.text_of(value), 3) <= '629' THEN '580-629'
    WHEN left(anon.text_of(value), 3) <= '679' THEN '630-679'
    WHEN left(anon.text_of(value), 3) <= '709' THEN '680-709'
    WHEN left(anon.text_of(value), 3) <= '739' THEN '710-739'
    WHEN left(anon.text_of(value), 3) <= '759' THEN '740-759'
    WHEN left(anon.text_of(value), 3) <= '779' THEN '760-779'
    WHEN left(anon.text_of(value), 3) <= '799' THEN '780-799'
    ELSE '800-999'
END;

-- The IPv4 network of an address: its first `bits` bits, in CIDR notation.
--
-- Job: labels.
-- Returns: VARCHAR; NULL for a value that is not an IPv4 address.
-- Example:
--   SELECT anon.ipv4_label('192.168.17.4', 24) AS network, anon.ipv4_label('192.168.17.4', 12) AS wider;
CREATE OR REPLACE MACRO anon.ipv4_label(value, bits) AS (
    SELECT concat(
        anon_network.anon_address >> 24, '.', (anon_network.anon_address >> 16) & 255, '.',
        (anon_network.anon_address >> 8) & 255, '.', anon_network.anon_address & 255, '/', bits
    )
    FROM (
        SELECT (
            (CAST(anon_octets.anon_octet[1] AS BIGINT) << 24) + (CAST(anon_octets.anon_octet[2] AS BIGINT) << 16)
            + (CAST(anon_octets.anon_octet[3] AS BIGINT) << 8) + CAST(anon_octets.anon_octet[4] AS BIGINT)
        ) >> (32 - bits) << (32 - bits) AS anon_address
        FROM (
            SELECT CASE
                WHEN regexp_matches(
                    anon.text_of(value),
                    '^((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.]){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])$'
                ) THEN string_split(anon.text_of(value), '.')
            END AS anon_octet
        ) AS anon_octets
    ) AS anon_network
    WHERE anon_network.anon_address IS NOT NULL
);

-- Taxonomies made by rules and read from files: rows for INSERT INTO anon.taxonomy.

-- The distinct values of a column as text, with NULL only where it is the only one, since every taxonomy knows it.
--
-- Returns: value VARCHAR.
-- Example:
--   FROM anon_helpers.domain_of('visits', 'sex') ORDER BY value;
CREATE OR REPLACE MACRO anon_helpers.domain_of(source, attribute) AS TABLE
SELECT value
FROM (
    SELECT value, count(value) OVER () AS anon_value_count FROM anon_helpers.column_values(source, [attribute])
) AS anon_values
WHERE value IS NOT NULL OR anon_value_count = 0;

-- The taxonomy of a column with one level above its values, on which all are *.
--
-- Job: taxonomies.
-- Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR.
-- Example:
--   FROM anon.flat_taxonomy('visits', 'diagnosis') ORDER BY level, value;
CREATE OR REPLACE MACRO anon.flat_taxonomy(source, attribute) AS TABLE
SELECT attribute AS attribute, CAST(anon_level AS INTEGER) AS level, value, CASE anon_level WHEN 0 THEN value ELSE '*' END AS label
FROM anon_helpers.domain_of(source, attribute)
CROSS JOIN range(2) AS anon_levels (anon_level);

-- The taxonomy of a column of numbers: a level of half-open intervals for each width, from narrow to wide, then *. Each
-- width must divide the next. The domain is every whole number from first to last, or what the column has if both are NULL.
--
-- Job: taxonomies.
-- Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR; a label of NULL for what is not a number.
-- Example:
--   FROM anon.interval_taxonomy('visits', 'age', [10, 20], NULL, NULL) WHERE value = '34' ORDER BY level;
CREATE OR REPLACE MACRO anon.interval_taxonomy(source, attribute, widths, first, last) AS TABLE
SELECT
    attribute AS attribute,
    CAST(anon_level AS INTEGER) AS level,
    value,
    CASE
        WHEN anon_level = 0 THEN value
        WHEN anon_level > len(widths) OR value IS NULL THEN '*'
        -- A list has one type: of [0.5, 2] the 2 has a decimal, which the labels would show.
        WHEN widths[anon_level] = floor(widths[anon_level])
            THEN anon.interval_label(value, greatest(CAST(widths[anon_level] AS BIGINT), 1), 0, NULL, NULL)
        ELSE anon.interval_label(value, widths[anon_level], 0, NULL, NULL)
    END AS label
FROM (
    SELECT value FROM anon_helpers.domain_of(source, attribute) WHERE first IS NULL AND last IS NULL
    UNION ALL
    SELECT anon.text_of(anon_number)
    FROM range(first, last + 1) AS anon_domain (anon_number)
) AS anon_values
CROSS JOIN range(
    CASE
        WHEN (first IS NULL) <> (last IS NULL) OR first > last
            THEN error('give both ends of the domain, the first not above the last, or NULL for both')
        WHEN len(widths) = 0 OR list_min(widths) <= 0
            OR widths <> list_sort(list_distinct(widths))
            OR len(list_filter(
                range(2, len(widths) + 1),
                lambda anon_place:
                    CAST(widths[anon_place] AS DECIMAL(38, 9)) % CAST(widths[anon_place - 1] AS DECIMAL(38, 9)) > 0
            )) > 0
            THEN error('widths are above 0, and each divides the next, wider one')
        ELSE len(widths) + 2
    END
) AS anon_levels (anon_level);

-- The taxonomy of a column of codes: a level for each number of characters that stay, from many to few, with * in place of
-- the others, then *.
--
-- Job: taxonomies.
-- Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR.
-- Example:
--   FROM anon.prefix_taxonomy('visits', 'zip', [3, 1]) WHERE value = '10115' ORDER BY level;
CREATE OR REPLACE MACRO anon.prefix_taxonomy(source, attribute, keep) AS TABLE
SELECT
    attribute AS attribute,
    CAST(anon_level AS INTEGER) AS level,
    value,
    CASE
        WHEN anon_level = 0 THEN value
        WHEN anon_level > len(keep) OR value IS NULL THEN '*'
        ELSE anon.prefix_label(value, keep[anon_level])
    END AS label
FROM anon_helpers.domain_of(source, attribute)
CROSS JOIN range(
    CASE
        WHEN len(keep) = 0 OR list_min(keep) < 0 OR keep <> list_reverse_sort(list_distinct(keep))
            THEN error('the numbers of characters that stay are 0 or more, each less than the one before')
        ELSE len(keep) + 2
    END
) AS anon_levels (anon_level);

-- The taxonomy of a column of dates or timestamps: a level for each unit of anon.date_label, from fine to coarse, such as
-- month, quarter, year, decade; then *. The domain is every day from first to last, for a column of dates, or what the column
-- has if both are NULL.
--
-- Job: taxonomies.
-- Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR; a label of NULL for what is not a date.
-- Example:
--   WITH stays AS (SELECT DATE '2024-01-31' AS admission)
--   FROM anon.date_taxonomy('stays', 'admission', ['month', 'year'], '2024-01-30', '2024-02-01') ORDER BY level, value;
CREATE OR REPLACE MACRO anon.date_taxonomy(source, attribute, units, first, last) AS TABLE
SELECT
    attribute AS attribute,
    CAST(anon_level AS INTEGER) AS level,
    value,
    CASE
        WHEN anon_level = 0 THEN value
        WHEN anon_level > len(anon_helpers.listed(units)) OR value IS NULL THEN '*'
        ELSE anon.date_label(value, anon_helpers.listed(units)[anon_level])
    END AS label
FROM (
    SELECT value FROM anon_helpers.domain_of(source, attribute) WHERE first IS NULL AND last IS NULL
    UNION ALL
    SELECT anon.text_of(CAST(anon_day AS DATE))
    FROM generate_series(CAST(first AS DATE), CAST(last AS DATE), INTERVAL '1' DAY) AS anon_domain (anon_day)
) AS anon_values
CROSS JOIN range(
    CASE
        WHEN (first IS NULL) <> (last IS NULL) OR CAST(first AS DATE) > CAST(last AS DATE)
            THEN error('give both ends of the domain, the first not after the last, or NULL for both')
        WHEN len(anon_helpers.listed(units)) = 0
            OR anon_helpers.listed(units) NOT IN (
                list_filter(
                    ['day', 'month', 'quarter', 'year', 'decade'],
                    lambda anon_unit: list_contains(anon_helpers.listed(units), anon_unit)
                ),
                list_filter(['day', 'week', 'isoyear'], lambda anon_unit: list_contains(anon_helpers.listed(units), anon_unit))
            )
            THEN error('units are among day, month, quarter, year, decade, or among day, week, isoyear, from fine to coarse')
        ELSE len(anon_helpers.listed(units)) + 2
    END
) AS anon_levels (anon_level);

-- The taxonomy in a file as ARX writes hierarchies: a line per value, which is the first field, with its labels of levels 1
-- and up in the others. Fields are between semicolons, commas or tabs, whichever DuckDB finds.
--
-- Job: taxonomies.
-- Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR; anon.malformed_taxonomies says what is wrong with it.
-- Example:
--   FROM anon.hierarchy_file('sex.csv', 'sex') ORDER BY level, value;
CREATE OR REPLACE MACRO anon.hierarchy_file(path, attribute) AS TABLE
SELECT DISTINCT
    attribute AS attribute,
    CAST(anon_place - 1 AS INTEGER) AS level,
    CASE
        WHEN len(anon_labels) > 1 THEN nullif(anon_labels[1], '')
        ELSE error('the file has one field in each line: are fields missing in some of them, or is it no hierarchy?')
    END AS value,
    CASE anon_place WHEN 1 THEN nullif(anon_labels[1], '') ELSE anon_labels[anon_place] END AS label
FROM (
    SELECT list_value(*COLUMNS(*)) AS anon_labels
    FROM read_csv(path, header = FALSE, all_varchar = TRUE, quote = '"', escape = '"', nullstr = '', skip = 0, comment = '')
) AS anon_lines
CROSS JOIN unnest(range(1, len(anon_labels) + 1)) AS anon_fields (anon_place);

-- What values look like, whatever their column is called.

-- Whether a text is an IBAN: country, check digits, up to 30 letters and digits, with or without spaces, and its checksum.
--
-- Returns: BOOLEAN.
-- Source: ISO 13616; the checksum is MOD 97-10 of ISO 7064.
-- Example:
--   SELECT anon_helpers.is_iban('GB82 WEST 1234 5698 7654 32') AS is_iban;
CREATE OR REPLACE MACRO anon_helpers.is_iban(value) AS
regexp_full_match(upper(replace(value, ' ', '')), '[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}')
AND list_reduce(
    -- Each letter stands for a number from 10 to 35; the remainder so far comes before the next digits.
    list_transform(
        string_split(concat(substr(upper(replace(value, ' ', '')), 5), left(upper(replace(value, ' ', '')), 4)), ''),
        lambda anon_sign: CASE WHEN anon_sign BETWEEN '0' AND '9' THEN ascii(anon_sign) - 48 ELSE ascii(anon_sign) - 55 END
    ),
    lambda anon_rest, anon_next: (anon_rest * CASE WHEN anon_next > 9 THEN 100 ELSE 10 END + anon_next) % 97
) = 1;

-- Whether a text is the number of a payment card: 13 to 19 digits, with or without spaces or dashes, and its check digit.
--
-- Returns: BOOLEAN.
-- Source: ISO/IEC 7812-1, annex B (Luhn).
-- Example:
--   SELECT anon_helpers.is_card_number('4111 1111 1111 1111') AS is_card_number;
CREATE OR REPLACE MACRO anon_helpers.is_card_number(value) AS
regexp_full_match(value, '[1-9]([ -]?[0-9]){12,18}')
AND list_sum(
    list_transform(
        string_split(reverse(regexp_replace(value, '[ -]', '', 'g')), ''),
        -- Every second digit from the right counts twice, and the digits of that are added.
        lambda anon_digit, anon_place: CASE
            WHEN anon_place % 2 = 1 THEN ascii(anon_digit) - 48
            ELSE (ascii(anon_digit) - 48) * 2 // 10 + (ascii(anon_digit) - 48) * 2 % 10
        END
    )
) % 10 = 0;

-- What a text looks like: email, url, guid, mac, ip, iban, ssn, hash, date (as ISO 8601 has it), period (a month, quarter
-- or week of a year), phone, card, street, icd10 (with its dot), postcode (of more than digits), decimal_comma (a
-- number; three digits behind its comma may be thousands, and have no shape), or text (four words or more).
--
-- Job: columns.
-- Returns: VARCHAR; NULL for what looks like none of these.
-- Example:
--   SELECT anon.shape_of('ada@example.org') AS email, anon.shape_of('E11.65') AS icd10;
CREATE OR REPLACE MACRO anon.shape_of(value) AS
CASE
    WHEN regexp_full_match(value, '[^@\s]+@[^@\s]+[.][A-Za-z]{2,}') THEN 'email'
    WHEN regexp_full_match(value, '(?i)((https?|ftp)://|www[.])\S+') THEN 'url'
    WHEN regexp_full_match(value, '(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}') THEN 'guid'
    WHEN regexp_full_match(value, '(?i)[0-9a-f]{2}([:-][0-9a-f]{2}){5}') THEN 'mac'
    WHEN regexp_full_match(value, '((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])([.]|$)){4}') THEN 'ip'
    WHEN regexp_full_match(value, '(?i)[0-9a-f]{0,4}(:[0-9a-f]{0,4}){2,7}') AND regexp_matches(value, '(?i)::|(:.*){7}') THEN 'ip'
    WHEN anon_helpers.is_iban(value) THEN 'iban'
    WHEN regexp_full_match(value, '[0-9]{3}-[0-9]{2}-[0-9]{4}') THEN 'ssn'
    WHEN regexp_full_match(value, '(?i)[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128}') THEN 'hash'
    WHEN regexp_full_match(value, '[0-9]{4}-[01][0-9]-[0-3][0-9]([ T][0-9:.]+(Z|[+-][0-9:]+)?)?') THEN 'date'
    WHEN regexp_full_match(value, '[0-9]{4}-(Q[1-4]|W[0-5][0-9]|[01][0-9])') THEN 'period'
    WHEN regexp_full_match(
        value,
        '[+][0-9][0-9 ()./-]{6,18}[0-9]|(1[ .-])?[(]?[0-9]{3}[)]?[ .-] ?[0-9]{3}[ .-][0-9]{4}|0[0-9]{1,4}[ /-][0-9][0-9 -]{4,}'
    ) THEN 'phone'
    WHEN anon_helpers.is_card_number(value) THEN 'card'
    WHEN regexp_full_match(
        value,
        '(?i)[0-9]+[a-z]? .*\b(street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way)\b.*'
        || '|.*(straße|strasse|str[.]|weg|platz|allee|gasse|ring) [0-9]+ ?[a-z]?'
        || '|([0-9]+,? )?(rue|avenue|boulevard|place|chemin|calle|avenida|plaza) .*'
    ) THEN 'street'
    WHEN regexp_full_match(value, '[A-TV-Z][0-9][0-9A-Z][.][0-9A-Z]{1,4}') THEN 'icd10'
    WHEN regexp_full_match(
        value,
        '[0-9]{5}-[0-9]{4}|[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]|[1-9][0-9]{3} ?[A-Z]{2}'
    ) THEN 'postcode'
    WHEN regexp_full_match(value, '[-+]?([0-9]+|[0-9]{1,3}([.][0-9]{3})+),([0-9]{1,2}|[0-9]{4,})') THEN 'decimal_comma'
    WHEN regexp_full_match(value, '(\S+\s+){3,}\S+\s*') THEN 'text'
END;

-- What values and labels show of the identifiers that the Safe Harbor method of HIPAA removes: 45 CFR 164.514(b)(2)(i).

-- The numbers under a label: the lowest and the greatest one, as lists of two. A number is both; an interval, [90, 95), 90-94 or
-- 90 to 94, has whole numbers; so have a prefix, 9*, and a decade, 1990s; < 18 and >= 90 have no end on one side. Units of age
-- in words, such as years old, may stand beside a number.
--
-- How it goes. The text in small letters without units, the numbers in it, and the first form that the whole text has.
--
-- Returns: DOUBLE[], with infinity at an open end; NULL for another label.
-- Example:
--   SELECT anon_helpers.number_range('[90, 95)') AS halfopen, anon_helpers.number_range('90 years and older') AS from_90_on;
CREATE OR REPLACE MACRO anon_helpers.number_range(label) AS
list_transform(
    [trim(regexp_replace(
        regexp_replace(lower(label), '\b(years?|yrs?|jahren?|ans|años|old|aged?|ages|alter|edad|âge)\b[.:]?', ' ', 'g'), '\s+', ' ', 'g'
    ))],
    lambda anon_text: list_transform(
        -- Within brackets a dash is a sign.
        [CAST(regexp_extract_all(
            anon_text, CASE WHEN anon_text[1] IN ('[', '(') THEN '-?' ELSE '' END || '[0-9]+(?:[.][0-9]+)?'
        ) AS DOUBLE[])],
        lambda anon_numbers: CASE
            WHEN regexp_full_match(anon_text, '[-+]?[0-9]+([.][0-9]+)?') THEN [anon_numbers[1], anon_numbers[1]]
            WHEN regexp_full_match(anon_text, '[\[(] ?-?[0-9.]+ ?[,;] ?-?[0-9.]+ ?[\])]') AND len(anon_numbers) = 2 THEN [
                CASE WHEN anon_text[1] = '(' THEN floor(anon_numbers[1]) + 1 ELSE anon_numbers[1] END,
                CASE WHEN anon_text[-1] = ')' THEN ceil(anon_numbers[2]) - 1 ELSE anon_numbers[2] END
            ]
            WHEN regexp_full_match(anon_text, '[0-9.]+ ?(-|–|—|[.][.]|to|through|bis|à|a) ?[0-9.]+') AND len(anon_numbers) = 2
                THEN anon_numbers
            WHEN
                regexp_full_match(anon_text, '(<=|≤|up to|at most|bis) ?[0-9.]+')
                OR regexp_full_match(
                    anon_text, '[0-9.]+ ?((and|or|&|und|oder|et|ou|y|o) )?(before|earlier|under|below|less|younger|früher|jünger)'
                )
                THEN [CAST('-infinity' AS DOUBLE), anon_numbers[1]]
            WHEN regexp_full_match(anon_text, '(<|under|below|less than|younger than|before|unter|vor) ?[0-9.]+')
                THEN [CAST('-infinity' AS DOUBLE), ceil(anon_numbers[1]) - 1]
            WHEN
                regexp_full_match(anon_text, '(>=|≥|from|at least|ab) ?[0-9.]+')
                OR regexp_full_match(
                    anon_text,
                    '[0-9.]+ ?([+]|((and|or|&|und|oder|et|ou|y|o) )?(above|over|older|more|up|plus|upwards?|later|älter|mehr|más|mayor))'
                )
                THEN [anon_numbers[1], CAST('infinity' AS DOUBLE)]
            WHEN regexp_full_match(anon_text, '(>|over|above|more than|older than|after|über|nach) ?[0-9.]+')
                THEN [floor(anon_numbers[1]) + 1, CAST('infinity' AS DOUBLE)]
            WHEN regexp_full_match(anon_text, '[0-9]+[*]+') THEN [
                anon_numbers[1] * pow(10, length(anon_text) - length(rtrim(anon_text, '*'))),
                (anon_numbers[1] + 1) * pow(10, length(anon_text) - length(rtrim(anon_text, '*'))) - 1
            ]
            WHEN regexp_full_match(anon_text, '[0-9]{3}0s') THEN [anon_numbers[1], anon_numbers[1] + 9]
        END
    )[1]
)[1];

-- Whether a number spells a day, a month or a moment: 20240305, 05032024, 202403, 2024065, or the seconds, milli-, micro- or
-- nanoseconds since 1970 of a moment from 1990 to 2039. The days of a spreadsheet look like other numbers.
--
-- Returns: BOOLEAN.
-- Example:
--   SELECT
--       anon_helpers.is_day_number(20240305) AS day,
--       anon_helpers.is_day_number(1709596800) AS moment,
--       anon_helpers.is_day_number(2024) AS year;
CREATE OR REPLACE MACRO anon_helpers.is_day_number(number) AS
regexp_full_match(
    CAST(CAST(floor(number) AS HUGEINT) AS VARCHAR),
    '(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])?([0-2][0-9]([0-5][0-9]){1,2})?'
    || '|(0?[1-9]|[12][0-9]|3[01])(0[1-9]|[12][0-9]|3[01])(19|20)[0-9]{2}'
    || '|(19|20)[0-9]{2}([0-2][0-9][1-9]|[0-3][0-9]0|3[0-6][0-9])'
)
OR number BETWEEN 631152000 AND 2208988799
OR number BETWEEN 631152000000 AND 2208988799999
OR number BETWEEN 631152000000000 AND 2208988799999999
OR number BETWEEN 631152000000000000 AND 2208988799999999999;

-- Whether a text has a part of a date that is finer than a year: a day, month, week, quarter, season or day of the week,
-- spelled in digits or in words (English, German, French, Spanish), also where the rest is masked by *.
--
-- Returns: BOOLEAN.
-- Example:
--   SELECT
--       anon_helpers.has_date('seen on 5 March 2024') AS day,
--       anon_helpers.has_date('Q1 2024') AS quarter,
--       anon_helpers.has_date('2024') AS year;
CREATE OR REPLACE MACRO anon_helpers.has_date(value) AS
regexp_matches(
    value,
    -- 2024-03-05, 2024/3/5, 2024.03.05, 2024-03; 20240305, with or without a time.
    '(^|[^0-9.])[12][0-9]{3}([-/](0?[1-9]|1[0-2])([-/ T.]|$|[^0-9/-])|[.](0[1-9]|1[0-2])[.][0-3]|-W[0-5]|-[0-3][0-9]{2}([^0-9]|$))'
    || '|(^|[^0-9.])(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])([^0-9]|$|[0-2][0-9][0-5][0-9])'
    -- 5/3/24, 05.03.2024, 05-03-2024; 03/2024.
    || '|(^|[^0-9./-])[0-3]?[0-9](/[0-3]?[0-9]/([12][0-9])?[0-9]{2}|[.][0-3]?[0-9][.][12][0-9]{3}|-[0-3]?[0-9]-[12][0-9]{3})([^0-9]|$)'
    || '|(^|[^0-9./-])([0-3][0-9][.][01][0-9][.][0-9]{2}|[0-3][0-9]-[0-3][0-9]-[0-9]{2})([^0-9]|$)'
    || '|(^|[^0-9./-])(0?[1-9]|1[0-2])[-/.][12][0-9]{3}([^0-9]|$)'
)
-- 2024-0*-**, 202403**, 05.**.****.
OR contains(value, '*') AND regexp_full_match(value, '[12][0-9]{3}[-/.][01*]*[01][0-9*]*([-/. T:][-0-9*/. T:]*)?|[12][0-9]{3}[01][0-9*]{3}|[0-3][0-9]?[*]?[-/.][0-9*]{1,2}[-/.][0-9*]{2,4}')
OR regexp_matches(
    value,
    -- March 5, Mar-2024, 5 March, 05MAR2024, 2024 March; a month alone.
    '(?i)(^|[^a-zà-ÿ])(jan(uary|uar|vier)?|feb(ruary|ruar)?|février|fevrier|mar(ch|s|zo)?|märz|apr(il)?|avril|abril|may|mai|mayo|june?|juni|juin|junio|july?|juli|juillet|julio|aug(ust)?|août|aout|agosto|sept?(ember|embre|iembre)?|okt(ober)?|oct(ober|obre|ubre)?|nov(ember|embre|iembre)?|dec(ember)?|dez(ember)?|décembre|decembre|enero|febrero|diciembre)[.]?([ ,/-]{1,2}|)''?[0-9]{1,4}(st|nd|rd|th|er)?([^a-z]|$)'
    || '|(?i)(^|[^0-9])[0-9]{1,4}(st|nd|rd|th|er|[.])?([ ./-]|)((of|de|day of) )?(jan(uary|uar|vier)?|feb(ruary|ruar)?|février|fevrier|mar(ch|s|zo)?|märz|apr(il)?|avril|abril|may|mai|mayo|june?|juni|juin|junio|july?|juli|juillet|julio|aug(ust)?|août|aout|agosto|sept?(ember|embre|iembre)?|okt(ober)?|oct(ober|obre|ubre)?|nov(ember|embre|iembre)?|dec(ember)?|dez(ember)?|décembre|decembre|enero|febrero|diciembre)([^a-zà-ÿ]|$)'
    || '|(?i)^\s*(jan(uary|uar|vier)?|feb(ruary|ruar)?|février|fevrier|mar(ch|s|zo)?|märz|apr(il)?|avril|abril|may|mai|mayo|june?|juni|juin|junio|july?|juli|juillet|julio|aug(ust)?|août|aout|agosto|sept?(ember|embre|iembre)?|okt(ober)?|oct(ober|obre|ubre)?|nov(ember|embre|iembre)?|dec(ember)?|dez(ember)?|décembre|decembre|enero|febrero|diciembre)[.]?\s*$'
    -- Q1 2024, 2024Q1, 1st quarter, H1 2024, week 13 of 2024, spring 2024.
    || '|(?i)\b[QTH][1-4][ ,/''-]{0,2}([12][0-9]{3}|[0-9]{2})\b|\b[12][0-9]{3}[ :,/-]{0,2}[QTH][1-4]\b'
    || '|(?i)\b(q[1-4]|first|second|third|fourth|last|1st|2nd|3rd|4th|[1-4][.]) (quarter|quartal|trimest\w+|half)( of)?,? [12][0-9]{3}\b|\bquarter ?[1-4]\b|\b[1-4][.] ?quartal\b'
    || '|(?i)\b(week|wk|kw|cw|w)[ .]{0,2}[0-5]?[0-9][ ,/-]{1,2}((of|in) )?[12][0-9]{3}\b|\b[12][0-9]{3}[ ,/-]{0,2}(week|wk|kw|cw|w)[ .]{0,2}[0-5]?[0-9]\b'
    || '|(?i)\b(spring|summer|autumn|fall|winter|frühling|frühjahr|sommer|herbst|easter|christmas|new year)\b.{0,5}\b[12][0-9]{3}\b|\b[12][0-9]{3}.{0,3}\b(spring|summer|autumn|fall|winter|frühjahr|sommer|herbst)\b'
    || '|(?i)\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b'
    || '|(?i)^\s*(mon|tue|wed|thu|fri|sat|sun|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)[.]?\s*$'
);

-- The years that a text says somebody was born in.
--
-- Returns: INTEGER[].
-- Example:
--   SELECT anon_helpers.birth_years_in('born 1931, moved in 1950') AS years;
CREATE OR REPLACE MACRO anon_helpers.birth_years_in(value) AS
CAST(regexp_extract_all(
    value, '(?i)\b(?:born|birth|birthday|dob|yob|geb|geboren|geburt\w*|naissance|née?|nacid[oa]|nacimiento)\b[^0-9]{0,20}(1[89][0-9]{2}|20[0-9]{2})', 1
) AS INTEGER[]);

-- The kinds of identifiers that stand anywhere in a text, of those that 45 CFR 164.514(b)(2)(i) removes and that have a form:
-- name (with a title), street, postcode, coordinates, date, age (above 89), phone, email, ssn, member, number (behind the word
-- for one), iban, card, vehicle, mac, url, ip, picture, guid, hash.
--
-- How it goes. A regular expression for each kind, or what its check digits say, and the kinds that were found.
--
-- Job: columns.
-- Returns: VARCHAR[], empty without any.
-- Example:
--   SELECT anon.identifiers_in('see http://example.org/7, or write to ada@example.org') AS kinds;
CREATE OR REPLACE MACRO anon.identifiers_in(value) AS
list_filter(
    [
        CASE WHEN regexp_matches(
            value,
            '\b(Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Madame|Monsieur|Mme|Sra?|Señora?|Don|Doña)[.]? (Dr[.]? )?\p{Lu}[\p{L}''-]+|(?i:\b(name|surname)) ?(:|=|is) ?\p{Lu}\p{L}+'
        ) THEN 'name' END,
        CASE WHEN regexp_matches(
            value,
            '\b[0-9]+[A-Za-z]? ([NSEW][.]? )?([A-Z][a-zA-Z''.-]*[ ]){1,4}(?i:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way)\b'
            || '|\p{L}(straße|strasse|str[.]|weg|platz|allee|gasse) ?[0-9]|\b(Straße|Strasse|Weg|Platz|Allee|Gasse|Ring) [0-9]|\b\p{Lu}\p{L}+ring [0-9]{1,3}\b'
            || '|(?i)^\s*[0-9]+[a-z]? ([a-z''.-]+ ){1,3}(street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way)[., ]*$'
            || '|(?i)\b[0-9]+,? (bis )?(rue|boulevard|chemin|allée) \p{L}|\b(calle|avenida|plaza) \p{L}[^0-9]*[0-9]|\bp[.]? ?o[.]? ?box [0-9]'
        ) THEN 'street' END,
        CASE WHEN regexp_matches(
            value,
            '(^|[^0-9-])[0-9]{5}-[0-9*]{4}([^0-9-]|$)'
            || '|\b(A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|P[AR]|RI|S[CD]|T[NX]|UT|V[AIT]|W[AIVY]),? [0-9]{5}\b'
            || '|(?i)\b(zip|zip code|postal code|postcode|plz)\b[^0-9]{0,10}[0-9]{4,5}\b'
            || '|(?-i)\b[A-Z]{1,2}[0-9][A-Z0-9]? [0-9][A-Z]{2}\b|\b[ABCEGHJ-NPRSTVXY][0-9][A-Z] [0-9][A-Z][0-9]\b'
        ) THEN 'postcode' END,
        CASE WHEN regexp_matches(
            value, '(^|[^\[0-9.-])-?[0-9]{1,2}[.][0-9]{3,}°? ?[NS]?, ?-?[0-9]{1,3}[.][0-9]{3,}'
        ) THEN 'coordinates' END,
        CASE WHEN anon_helpers.has_date(value) THEN 'date' END,
        -- Ages of 90 or older may stay as one.
        CASE WHEN regexp_matches(
            regexp_replace(value, '(?i)\b90[ -]?(years?|yrs?)?([ -]old)? ?([+]|(and|or|&) (older|over|above|more))', '', 'g'),
            '(?i)\b(9[0-9]|1[0-4][0-9])[ -]?((years?|yrs?|y)[ -]?(old|of age|o)|y/o|yo|jahre alt|jährig\w*|ans|años)\b|\b(age|aged|age of|alter|edad)[: =]{1,3}(9[0-9]|1[0-4][0-9])\b'
        ) THEN 'age' END,
        CASE WHEN regexp_matches(
            value,
            '(^|[^0-9A-Za-z])[+][1-9][0-9* ()./-]{6,18}[0-9*]'
            || '|(^|[^0-9.])(1[ .-])?[(]?[0-9]{3}[)]?[ .-] ?[0-9]{3}[ .-][0-9*]{4}([^0-9]|$)'
            || '|(^|[^0-9.,/-])0([0-9]{2,4}([ /][0-9]{2}|-[0-9]{3})[0-9 -]{3,}|[0-9]([ .][0-9]{2}){4})'
            || '|(?i)\b(tel|telephone|phone|fax|mobile|cell|telefon|handy|call)\b[^0-9]{0,12}[0-9][0-9 ()./-]{5,}'
        ) THEN 'phone' END,
        CASE WHEN regexp_matches(value, '[^@\s]@[^@\s]') THEN 'email' END,
        CASE WHEN regexp_matches(
            value,
            '(^|[^0-9*-])([0-9]{3}-[0-9]{2}-[0-9*]{4}|[0-9]{3}-[0-9*]{2}-[*]{4}|[*xX]{3}-[*xX]{2}-[0-9]{4}|[0-9]{3} [0-9]{2} [0-9]{4})([^0-9*-]|$)'
            || '|(?i)\b(ssn|social security)[^0-9]{0,20}[0-9]{3,}'
        ) THEN 'ssn' END,
        -- Numbers of Medicare.
        CASE WHEN regexp_matches(
            value,
            '\b[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9][0-9]-?[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9][0-9]-?[AC-HJKMNP-RT-Y]{2}[0-9]{2}\b'
        ) THEN 'member' END,
        CASE WHEN regexp_matches(
            value,
            '(?i)\b(mrn|medical record|record|chart|account|acct|license|licence|passport|policy|member|beneficiary|medicare|medicaid|insurance|certificate|plate|vin|serial|device|imei|udi|dea|npi|patient|case)( ?(id|no|number|num|nr|#)\b)?[.:#= ]{0,3}[A-Z]{0,4}-?[0-9-]*[0-9]{5,}'
        ) THEN 'number' END,
        CASE WHEN
            anon_helpers.is_iban(value)
            OR regexp_matches(value, '\b[A-Z]{2}[0-9]{2} ?[0-9A-Z]{4} ?([0-9]{4} ?){2,6}')
            THEN 'iban' END,
        CASE WHEN len(list_filter(
            regexp_extract_all(value, '(?:^|[^0-9])([1-9][0-9]{3}[ -]?[0-9]{4,6}[ -]?[0-9]{4,5}(?:[ -]?[0-9]{1,4})?)', 1),
            lambda anon_digits: anon_helpers.is_card_number(anon_digits)
        )) > 0 THEN 'card' END,
        CASE WHEN regexp_matches(regexp_extract(value, '\b[A-HJ-NPR-Z0-9]{12}[0-9]{5}\b'), '[A-Z]') THEN 'vehicle' END,
        CASE WHEN regexp_matches(value, '(?i)\b[0-9a-f]{2}([:-][0-9a-f]{2}){5}\b') THEN 'mac' END,
        CASE WHEN regexp_matches(
            value,
            '(?i)\b(https?|ftps?|sftp|file|s3)://|\bwww[.][a-z0-9]|(^|[^@\w.-])([a-z0-9-]+[.])+(com|org|net|edu|gov|info|io|de|uk|fr|es|eu)\b'
        ) THEN 'url' END,
        CASE WHEN regexp_matches(
            value,
            '(^|[^0-9.])((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.]){3}[0-9*]'
            || '|(?i)(^|[^0-9a-z:])([0-9a-f]{1,4}(:[0-9a-f]{1,4}){7}([^0-9a-z:]|$)|([0-9a-f]{1,4}(:[0-9a-f]{1,4}){0,5})?::[0-9a-f])'
        ) THEN 'ip' END,
        CASE WHEN regexp_matches(
            value, '^(\\xFF\\xD8\\xFF|\\x89PNG)|(?i)data:image/|[.](jpe?g|png|gif|tiff?|bmp|heic|webp|dcm)\b'
        ) THEN 'picture' END,
        CASE WHEN regexp_matches(value, '(?i)\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b') THEN 'guid' END,
        CASE WHEN regexp_matches(value, '(?i)\b[0-9a-f]{32,}\b') THEN 'hash' END
    ],
    lambda anon_kind: anon_kind IS NOT NULL
);

-- Whether a label of a column of ages shows an age above 89 other than by one label of 90 or older (45 CFR
-- 164.514(b)(2)(i)(C)). `is_coded` says that 90 stands for all ages from there on.
--
-- Returns: BOOLEAN.
-- Example:
--   SELECT
--       anon_helpers.shows_old_age('[95, 100)', FALSE) AS interval_of_five,
--       anon_helpers.shows_old_age('>= 90', FALSE) AS from_90_on;
CREATE OR REPLACE MACRO anon_helpers.shows_old_age(label, is_coded) AS
list_transform(
    -- Of another text, its greatest number.
    [coalesce(
        anon_helpers.number_range(label),
        list_transform([1, 2], lambda anon_end: list_max(CAST(regexp_extract_all(label, '[0-9]{1,15}') AS DOUBLE[])))
    )],
    lambda anon_ages: anon_ages[2] > 89
        AND (anon_ages[1] > 90 OR NOT (is_coded OR isinf(anon_ages[2])))
)[1];

-- Whether a label of a column of births shows a year before one, other than by one label of that year's predecessor or
-- earlier. `is_coded` says that the lowest year stands for all before it.
--
-- Returns: BOOLEAN.
-- Example:
--   SELECT
--       anon_helpers.shows_early_year('1930s', 1937, FALSE) AS decade,
--       anon_helpers.shows_early_year('< 1940', 1937, FALSE) AS before;
CREATE OR REPLACE MACRO anon_helpers.shows_early_year(label, year, is_coded) AS
list_transform(
    -- Of a date, the year.
    [anon_helpers.number_range(CASE
        WHEN regexp_matches(label, '^[12][0-9*]{3}[-/][0-9*]{1,2}([^0-9*]|$)') THEN left(label, 4)
        ELSE regexp_replace(label, '^ISO ', '')
    END)],
    lambda anon_years: anon_years[1] < year AND (isinf(anon_years[1]) OR anon_years[1] >= 1000)
        AND NOT ((is_coded OR isinf(anon_years[1])) AND anon_years[2] >= year - 1)
)[1];

-- Whether a label of a column of dates shows more than years. Few digits are a count, unless `is_part` says that the column has
-- months, days or other parts of dates.
--
-- Returns: BOOLEAN.
-- Example:
--   SELECT anon_helpers.shows_part_of_date('43831', FALSE) AS day, anon_helpers.shows_part_of_date('2020s', FALSE) AS decade;
CREATE OR REPLACE MACRO anon_helpers.shows_part_of_date(label, is_part) AS
CASE
    WHEN regexp_full_match(label, '(ISO )?[12][0-9]{3}([-/][*]+)*|[12][0-9*]{3}[*/-]*') THEN FALSE
    WHEN anon_helpers.number_range(label) IS NULL THEN regexp_matches(label, '[0-9]')
    ELSE len(list_filter(
        anon_helpers.number_range(label),
        lambda anon_number: isfinite(anon_number) AND anon_number NOT BETWEEN 1000 AND 2999
            AND (is_part OR abs(anon_number) >= 1000)
    )) > 0
END;

-- Whether an area of three digits of ZIP codes has 20,000 people or fewer, by the Census of 2000.
--
-- Returns: BOOLEAN.
-- Source: Office for Civil Rights, guidance on de-identification of November 26, 2012.
-- Example:
--   SELECT anon_helpers.is_sparse_area('036') AS few_people, anon_helpers.is_sparse_area('021') AS many_people;
CREATE OR REPLACE MACRO anon_helpers.is_sparse_area(area) AS
area IN (
    '036', '059', '063', '102', '203', '556', '692', '790', '821', '823', '830', '831', '878', '879', '884', '890', '893'
);

-- Whether a label of a column of ZIP codes shows more than three digits, or three of a sparse area, for which 000 stands (45 CFR
-- 164.514(b)(2)(i)(B)).
--
-- Returns: BOOLEAN.
-- Example:
--   SELECT anon_helpers.shows_small_area('0213*') AS four_digits, anon_helpers.shows_small_area('036') AS few_people;
CREATE OR REPLACE MACRO anon_helpers.shows_small_area(label) AS
CASE
    WHEN regexp_full_match(label, '\s*[0-9]{1,3}[*xX#]+\s*') THEN anon_helpers.is_sparse_area(regexp_extract(label, '[0-9]+'))
    -- A number has lost the zeros at its beginning.
    WHEN regexp_full_match(label, '\s*[0-9]{1,3}([.]0)?\s*')
        THEN anon_helpers.is_sparse_area(lpad(regexp_extract(label, '[0-9]+'), 3, '0'))
    -- An area has a hundred codes of five digits.
    WHEN anon_helpers.number_range(label)[1] < anon_helpers.number_range(label)[2] THEN
        anon_helpers.number_range(label)[2] > 999
        AND anon_helpers.number_range(label)[2] - anon_helpers.number_range(label)[1] < 199
        AND (
            anon_helpers.number_range(label)[2] - anon_helpers.number_range(label)[1] < 99
            OR anon_helpers.is_sparse_area(
                lpad(CAST(CAST(floor(anon_helpers.number_range(label)[1] / 100) AS BIGINT) AS VARCHAR), 3, '0')
            )
        )
    ELSE regexp_matches(label, '[0-9]') AND length(regexp_replace(label, '[^0-9A-Za-z]', '', 'g')) > 3
END;

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

-- Transformations of rows: generalization and suppression.

-- What anon.generalize finds instead of a label: the character 1 if there are several labels, 2 for NULL, and 3 before a
-- label that is empty or starts with one of these characters itself. Any other label is found as it is.
--
-- It is one text, because a join that carries a struct takes twice as long.
--
-- Returns: VARCHAR, never NULL.
-- Example:
--   SELECT anon_helpers.marked_label('f', 1) AS label, ascii(anon_helpers.marked_label(NULL, 1)) AS mark;
CREATE OR REPLACE MACRO anon_helpers.marked_label(label, label_rows) AS
CASE
    WHEN label_rows > 1 THEN chr(1)
    WHEN label IS NULL THEN chr(2)
    WHEN ascii(label) <= 3 THEN chr(3) || label
    ELSE label
END;

-- The labels of all quasi-identifiers of a node at its levels, with NULL among the values as in taxonomy_level;
-- labels are marked, see marked_label.
--
-- There is no WHERE in it, so that anon.generalize joins it as it is: before a relation that is filtered, DuckDB 1.5 would
-- look for the values that are there.
--
-- Returns: attribute VARCHAR, value VARCHAR, label VARCHAR, a row per attribute and value; NULL where a value has no label
-- at the level, and for other attributes.
-- Example:
--   FROM anon_helpers.node_labels(MAP {'sex': 1}) WHERE label IS NOT NULL ORDER BY value;
CREATE OR REPLACE MACRO anon_helpers.node_labels(node) AS TABLE
SELECT
    anon_attribute AS attribute,
    anon_value AS value,
    CASE WHEN sum(anon_rows) > 0 THEN anon_helpers.marked_label(max(anon_label), sum(anon_rows)) END AS label
FROM (
    SELECT
        attribute AS anon_attribute,
        value AS anon_value,
        CASE WHEN level = node[attribute] THEN label END AS anon_label,
        CASE WHEN level = node[attribute] THEN 1 ELSE 0 END AS anon_rows
    FROM anon.taxonomy
    UNION ALL
    SELECT
        anon_attribute,
        NULL,
        CASE WHEN anon_height = anon_level AND anon_level > 0 AND anon_null_rows = 0 THEN anon_top END,
        CASE WHEN anon_level_rows > 0 AND anon_null_rows = 0 THEN 1 ELSE 0 END
    FROM (
        SELECT
            attribute AS anon_attribute,
            node[attribute] AS anon_level,
            max(level) AS anon_height,
            max(label) FILTER (WHERE level = node[attribute]) AS anon_top,
            count(*) FILTER (WHERE level = node[attribute]) AS anon_level_rows,
            count(*) FILTER (WHERE level = node[attribute] AND value IS NULL) AS anon_null_rows
        FROM anon.taxonomy
        GROUP BY attribute
    )
)
GROUP BY anon_attribute, anon_value;

-- The marked label of a value in the column of the same name of a relation of labels, which has a row per value; NULL if
-- it has none.
--
-- labels: anon_value VARCHAR, and a column of marked labels for every attribute. `attribute` is a column of a relation
-- anon_rows and text. It is read twice: inside, anon_rows are the labels, outside those of the caller.
-- Returns: VARCHAR.
-- Example:
--   WITH labels AS (SELECT 'f' AS anon_value, '*' AS sex)
--   SELECT id, anon_helpers.found_label('labels', sex) AS found FROM visits AS anon_rows ORDER BY id;
CREATE OR REPLACE MACRO anon_helpers.found_label(labels, attribute) AS (
    SELECT anon_found.anon_label
    FROM (
        SELECT anon_value, attribute AS anon_label FROM query_table(anon_helpers.as_source(labels)) AS anon_rows
    ) AS anon_found
    -- IS NOT DISTINCT FROM, since = would be no hash join on DuckDB 1.5, and NULL is a value.
    WHERE anon_found.anon_value IS NOT DISTINCT FROM attribute
);

-- The label of a marked one, see marked_label; several and none are errors, with a text for each.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.unmarked_label(anon_helpers.marked_label('*', 1), 'several labels', 'no label') AS label;
CREATE OR REPLACE MACRO anon_helpers.unmarked_label(marked, of_several, of_none) AS
CASE
    WHEN ascii(marked) > 3 THEN marked
    WHEN ascii(marked) = 3 THEN substr(marked, 2)
    WHEN ascii(marked) = 2 THEN NULL
    WHEN ascii(marked) = 1 THEN error(of_several)
    ELSE error(of_none)
END;

-- The label that was found, see found_label; none and more than one are errors, as in anon.label_of.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.checked_label('sex', 1, anon_helpers.marked_label('*', 1)) AS label;
CREATE OR REPLACE MACRO anon_helpers.checked_label(attribute, level, found) AS
anon_helpers.unmarked_label(
    found,
    concat(
        'attribute "', attribute, '" has a value with several labels at level ', level,
        ': see anon.malformed_taxonomies'
    ),
    concat(
        'attribute "', attribute, '" has a value without a label at level ', level,
        ': see anon.unmapped_values and anon.taxonomy_heights'
    )
);

-- The label of one value at one level of its taxonomy; values are compared as text.
--
-- Level 0 is the value itself. A value that the taxonomy does not know, a level that it does not have and
-- a value with more than one label are errors, because a raw value must never pass for a label.
--
-- Job: labels.
-- Returns: VARCHAR.
-- Example:
--   SELECT anon.label_of('age', 1, 34) AS label;
CREATE OR REPLACE MACRO anon.label_of(attribute, level, value) AS
-- The lambda takes what was found once, outside the subquery that finds it: DuckDB 2.0 would otherwise look up every row
-- on its own.
list_transform(
    [(
        SELECT CASE WHEN count(*) > 0 THEN anon_helpers.marked_label(max(anon_labels.anon_label), count(*)) END
        FROM anon_helpers.taxonomy_level(attribute, level) AS anon_labels (anon_value, anon_label)
        WHERE anon_labels.anon_value IS NOT DISTINCT FROM anon.text_of(value)
    )],
    lambda anon_found: anon_helpers.checked_label(attribute, level, anon_found)
)[1];

-- The rows of a source with some columns replaced by their labels at the levels of a node, as anon.generalize has them. The
-- node may be found by a query, such as (SELECT node FROM ...), while a macro needs the names of columns beforehand.
--
-- The labels are made once, with a column for each quasi-identifier, and each quasi-identifier is a hash join with them.
-- A subquery becomes one only if it compares a bare column, reads a relation without a filter, and raises no error: so
-- values are made text first, then labels found, then errors raised. The labels are not materialized, since the columns
-- that a query leaves out would then be read as well.
--
-- It takes 0.7 to 1.5 times as long as joins written by hand (tests/benchmarks/macros.py, 1, 2 and 8 quasi-identifiers of a
-- million rows, written to a table or counted). Whether a label is checked that a query leaves out depends on the planner.
--
-- Job: release.
-- Example:
--   FROM anon.generalize_columns('visits', ['age', 'sex'], (SELECT MAP {'age': 1, 'sex': 0})) ORDER BY id LIMIT 3;
CREATE OR REPLACE MACRO anon.generalize_columns(source, quasi_identifiers, node) AS TABLE
WITH anon_node_labels AS NOT MATERIALIZED (
    SELECT anon_value, max(CASE WHEN anon_attribute = alias(COLUMNS(anon_helpers.listed(quasi_identifiers))) THEN anon_label END)
    FROM anon_helpers.node_labels(node) AS anon_labels (anon_attribute, anon_value, anon_label)
    -- No rows, but the names of the columns.
    LEFT JOIN (
        SELECT COLUMNS(anon_helpers.listed(quasi_identifiers)) FROM query_table(anon_helpers.as_source(source)) LIMIT 0
    ) AS anon_named ON TRUE
    GROUP BY anon_value
)
SELECT * EXCLUDE (anon_other)
FROM (
    SELECT
        anon_helpers.checked_label(
            alias(COLUMNS(anon_helpers.listed(quasi_identifiers))),
            node[alias(COLUMNS(anon_helpers.listed(quasi_identifiers)))],
            COLUMNS(anon_helpers.listed(quasi_identifiers))
        ),
        COLUMNS(lambda anon_column: NOT list_contains(anon_helpers.listed(quasi_identifiers), anon_column))
    FROM (
        SELECT
            anon_helpers.found_label('anon_node_labels', COLUMNS(anon_helpers.listed(quasi_identifiers))),
            COLUMNS(lambda anon_column: NOT list_contains(anon_helpers.listed(quasi_identifiers), anon_column))
        FROM (
            SELECT
                anon.text_of(COLUMNS(anon_helpers.listed(quasi_identifiers))),
                COLUMNS(lambda anon_column: NOT list_contains(anon_helpers.listed(quasi_identifiers), anon_column))
            -- COLUMNS that match nothing are an error: there is always one column beside the quasi-identifiers.
            FROM (SELECT *, NULL AS anon_other FROM query_table(anon_helpers.as_source(source)))
        ) AS anon_rows
    )
);

-- The rows of a source with each quasi-identifier of the node replaced by its label at the node's level.
--
-- The quasi-identifiers come first and are text; the other columns follow as they are. Rows are neither
-- dropped nor put in order, and identifiers are not removed: select them away.
--
-- Job: release.
-- Source: full-domain generalization, Samarati 2001, definition 3.
-- Example:
--   FROM anon.generalize('visits', MAP {'age': 1, 'sex': 0}) ORDER BY id LIMIT 3;
CREATE OR REPLACE MACRO anon.generalize(source, node) AS TABLE
FROM anon.generalize_columns(source, map_keys(node), node);

-- k as it is, if it is a number of rows; otherwise an error, since a comparison with NULL would drop or keep all of them.
--
-- Returns: k.
-- Example:
--   SELECT anon_helpers.checked_k(5) AS k;
CREATE OR REPLACE MACRO anon_helpers.checked_k(k) AS CASE WHEN k >= 1 THEN k ELSE error('k is a number of rows, 1 or more') END;

-- The rows of a source that share their quasi-identifiers with at least k - 1 others; the rest is dropped.
--
-- Job: release.
-- Example:
--   WITH generalized AS (FROM anon.generalize('visits', MAP {'age': 2, 'sex': 0}))
--   FROM anon.suppress('generalized', ['age', 'sex'], 3);
CREATE OR REPLACE MACRO anon.suppress(source, quasi_identifiers, k) AS TABLE
SELECT * EXCLUDE (anon_class)
FROM (
    SELECT *, row(*COLUMNS(anon_helpers.listed(quasi_identifiers))) AS anon_class
    FROM query_table(anon_helpers.as_source(source))
)
QUALIFY count(*) OVER (PARTITION BY anon_class) >= anon_helpers.checked_k(k);

-- The rows of a source in classes of at least k rows with at least l different sensitive values; the rest is dropped. NULL
-- is a value.
--
-- Job: release.
-- Source: Machanavajjhala et al. 2007, distinct l-diversity.
-- Example:
--   WITH generalized AS (FROM anon.generalize('visits', MAP {'age': 2, 'sex': 0}))
--   FROM anon.suppress_where('generalized', ['age', 'sex'], 2, 'diagnosis', 2);
CREATE OR REPLACE MACRO anon.suppress_where(source, quasi_identifiers, k, sensitive, l) AS TABLE
SELECT * EXCLUDE (anon_class, anon_sensitive)
FROM (
    SELECT *, row(*COLUMNS(anon_helpers.listed(quasi_identifiers))) AS anon_class, row(COLUMNS([sensitive])) AS anon_sensitive
    FROM query_table(anon_helpers.as_source(source))
)
QUALIFY count(*) OVER (PARTITION BY anon_class) >= anon_helpers.checked_k(k)
    AND count(DISTINCT anon_sensitive) OVER (PARTITION BY anon_class) >= l;

-- Longitudinal data: from a row per event to the sequence of the first events of every individual.

-- The first n events of every individual, in the order of the columns `ordering`, the most significant first: a row
-- per individual and position 1, 2, ... n, with no row where an individual has fewer events.
--
-- NULL is an event like any other: one without a code has taken place all the same. NULLs in the ordering come last.
-- Events at the same time come in the order of their text, so that the same rows always make the same sequence.
-- Rows without an individual are left out.
--
-- The first three columns of the ordering are sorted by as they are, texts byte by byte. Of further ones, whose number is
-- not known, each row has a map of sort keys, which takes 7 times as long as ORDER BY.
--
-- How it goes. The ordering becomes columns of known names, and a map of sort keys behind the third; events are numbered by these
-- within their individual.
--
-- Job: release.
-- Returns: individual with its column's type, position BIGINT, event with its column's type.
-- Source: Mazzone 2019, sections 3.2 and 4.2.
-- Example:
--   FROM anon.first_events('visits', 'zip', 'diagnosis', ['age', 'id'], 2) ORDER BY ALL;
CREATE OR REPLACE MACRO anon.first_events(source, individual, event, ordering, n) AS TABLE
SELECT anon_individual AS individual, anon_position AS position, anon_event AS event
FROM (
    SELECT
        anon_individual,
        anon_event,
        row_number() OVER (
            PARTITION BY anon_individual
            ORDER BY
                anon_key_1 IS NULL ASC,
                CASE WHEN typeof(anon_key_1) <> 'VARCHAR' THEN anon_key_1 END ASC,
                CASE WHEN typeof(anon_key_1) = 'VARCHAR' THEN anon.text_of(anon_key_1) END COLLATE "binary" ASC,
                anon_key_2 IS NULL ASC,
                CASE WHEN typeof(anon_key_2) <> 'VARCHAR' THEN anon_key_2 END ASC,
                CASE WHEN typeof(anon_key_2) = 'VARCHAR' THEN anon.text_of(anon_key_2) END COLLATE "binary" ASC,
                anon_key_3 IS NULL ASC,
                CASE WHEN typeof(anon_key_3) <> 'VARCHAR' THEN anon_key_3 END ASC,
                CASE WHEN typeof(anon_key_3) = 'VARCHAR' THEN anon.text_of(anon_key_3) END COLLATE "binary" ASC,
                CASE
                    WHEN len(ordering) > 3
                        THEN list_transform(ordering[4:], lambda anon_name: anon_keys[lower(anon_name)])
                END ASC,
                anon_event IS NULL ASC,
                anon.text_of(anon_event) COLLATE "binary" ASC
        ) AS anon_position
    FROM (
        SELECT
            anon_individual,
            anon_event,
            anon_key_1,
            anon_key_2,
            anon_key_3,
            map_from_entries(list_value(*COLUMNS(anon_helpers.listed(ordering)))) AS anon_keys
        FROM (
            SELECT
                COLUMNS([individual]) AS anon_individual,
                COLUMNS([event]) AS anon_event,
                COLUMNS([anon_helpers.listed_at(ordering, 1)]) AS anon_key_1,
                COLUMNS([anon_helpers.listed_at(ordering, 2)]) AS anon_key_2,
                COLUMNS([anon_helpers.listed_at(ordering, 3)]) AS anon_key_3,
                -- COLUMNS follows the order of the table, so keys are looked up by name. A key is made of a list,
                -- because keys of bare values differ in type.
                struct_pack(
                    anon_name := lower(alias(COLUMNS(anon_helpers.listed(ordering)))),
                    anon_key := create_sort_key([COLUMNS(anon_helpers.listed(ordering))], 'ASC NULLS LAST')
                )
            FROM query_table(anon_helpers.as_source(source))
        )
        WHERE anon_individual IS NOT NULL
    )
)
WHERE anon_position <= n;

-- Pseudonyms: values replaced by a keyed hash, and what is wrong with those of a table.

-- guarded: tests/sql/37_pseudonyms.test

-- The key of HMAC-SHA-256 as a block of 64 bytes, each combined with the byte of one of its two pads by XOR. A key of more
-- than 64 bytes is replaced by its hash, a shorter one is filled up with zeros.
--
-- key, pad: BLOB; the pads are '\x36' (inner) and '\x5C' (outer).
-- Returns: BLOB.
-- Source: RFC 2104, section 2.
-- Example:
--   SELECT anon_helpers.hmac_block(CAST('Jefe' AS BLOB), CAST('\x36' AS BLOB)) AS block;
CREATE OR REPLACE MACRO anon_helpers.hmac_block(key, pad) AS
CAST(
    xor(
        CAST(
            CASE WHEN octet_length(key) > 64 THEN unhex(sha256(key)) ELSE key END
            || repeat(CAST('\x00' AS BLOB), 64 - CASE WHEN octet_length(key) > 64 THEN 32 ELSE octet_length(key) END)
            AS BIT
        ),
        CAST(repeat(pad, 64) AS BIT)
    ) AS BLOB
);

-- HMAC-SHA-256 of a message by the two blocks of its key (hmac_block), as 64 hexadecimal digits.
--
-- inner_block, outer_block, message: BLOB.
-- Returns: VARCHAR; NULL for NULL.
-- Source: RFC 2104, section 2.
-- Example:
--   SELECT anon_helpers.hmac_of_blocks(
--       anon_helpers.hmac_block(CAST('Jefe' AS BLOB), CAST('\x36' AS BLOB)),
--       anon_helpers.hmac_block(CAST('Jefe' AS BLOB), CAST('\x5C' AS BLOB)),
--       encode('what do ya want for nothing?')
--   ) AS hash;
CREATE OR REPLACE MACRO anon_helpers.hmac_of_blocks(inner_block, outer_block, message) AS
sha256(outer_block || unhex(sha256(inner_block || message)));

-- HMAC-SHA-256 of a message under a key, as 64 hexadecimal digits.
--
-- key, message: BLOB.
-- Returns: VARCHAR; NULL for NULL.
-- Source: RFC 2104, section 2; test vectors in RFC 4231.
-- Example:
--   SELECT anon_helpers.hmac_sha256(CAST('Jefe' AS BLOB), encode('what do ya want for nothing?')) AS hash;
CREATE OR REPLACE MACRO anon_helpers.hmac_sha256(key, message) AS
anon_helpers.hmac_of_blocks(
    anon_helpers.hmac_block(key, CAST('\x36' AS BLOB)), anon_helpers.hmac_block(key, CAST('\x5C' AS BLOB)), message
);

-- The pseudonym of a value: HMAC-SHA-256 of its text (text_in_utc) in UTF-8, as 64 hexadecimal digits. The same value
-- has the same pseudonym wherever the key is the same. Who has the key can find the value of a pseudonym by trying values.
--
-- key: BLOB, a secret of 32 random bytes or more. Keep it in a variable: a statement that spells it shows it to whoever can
-- read a log of statements. What `sqlanon run --pseudonym-key FILE` takes for the key is the file without its line break:
-- SET VARIABLE pseudonym_key = (SELECT encode(rtrim(content, chr(10))) FROM read_text('FILE'));
--
-- Job: release.
-- Returns: VARCHAR; NULL for NULL.
-- Example:
--   SELECT anon.pseudonym(id, repeat(CAST('k' AS BLOB), 32)) AS pseudonym FROM visits ORDER BY id LIMIT 2;
CREATE OR REPLACE MACRO anon.pseudonym(value, key) AS
anon_helpers.hmac_sha256(key, encode(anon_helpers.text_in_utc(value)));

-- guarded: tests/sql/37_pseudonyms.test

-- What is wrong with columns of pseudonyms: rows whose value is not 64 hexadecimal digits, values that stand more than once
-- in these columns taken together, and the rows that have one. A pseudonym that repeats links rows, also where it stands in
-- two columns. NULL is not a pseudonym, and may repeat. All counts are 0 in a release.
--
-- Returns: attribute VARCHAR, malformed_rows BIGINT, repeated_values BIGINT, repeated_rows BIGINT, one row per column.
-- Example:
--   FROM anon_helpers.pseudonym_problems('visits', ['zip']);
CREATE OR REPLACE MACRO anon_helpers.pseudonym_problems(source, column_names) AS TABLE
WITH anon_values AS (
    SELECT lower(anon_attribute) AS anon_attribute, anon_value
    FROM (
        UNPIVOT (
            SELECT anon.text_of(COLUMNS(anon_helpers.listed(column_names))) COLLATE "binary"
            FROM query_table(anon_helpers.as_source(source))
        )
        ON COLUMNS(*) INTO NAME anon_attribute VALUE anon_value
    )
),
anon_repeated AS (
    SELECT anon_value FROM anon_values GROUP BY anon_value HAVING count(*) > 1
),
anon_counts AS (
    SELECT
        anon_values.anon_attribute,
        count(*) FILTER (WHERE NOT regexp_full_match(anon_values.anon_value, '[0-9a-f]{64}')) AS anon_malformed_rows,
        count(DISTINCT anon_repeated.anon_value) AS anon_repeated_values,
        count(anon_repeated.anon_value) AS anon_repeated_rows
    FROM anon_values
    LEFT JOIN anon_repeated ON anon_repeated.anon_value = anon_values.anon_value
    GROUP BY anon_values.anon_attribute
)
SELECT
    anon_wanted.anon_name AS attribute,
    coalesce(anon_counts.anon_malformed_rows, 0) AS malformed_rows,
    coalesce(anon_counts.anon_repeated_values, 0) AS repeated_values,
    coalesce(anon_counts.anon_repeated_rows, 0) AS repeated_rows
FROM unnest(anon_helpers.listed(column_names)) AS anon_wanted (anon_name)
LEFT JOIN anon_counts ON anon_counts.anon_attribute = lower(anon_wanted.anon_name);

-- From rows to counts: cells, and the equivalence classes that generalization merges them into.

-- The distinct combinations of quasi-identifiers of a source, each with the number of its rows.
--
-- Returns: the quasi-identifiers as they are, row_count BIGINT.
-- Example:
--   FROM anon_helpers.cells('visits', ['age', 'sex']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.cells(source, quasi_identifiers) AS TABLE
SELECT COLUMNS(anon_helpers.listed(quasi_identifiers)), count(*) AS row_count
FROM query_table(anon_helpers.as_source(source))
GROUP BY ALL;

-- Cells generalized to a node and merged: the equivalence classes at that node, counted without
-- another look at the rows.
--
-- Returns: the quasi-identifiers of the node as labels, row_count BIGINT.
-- Example:
--   WITH cells AS (FROM anon_helpers.cells('visits', ['age', 'sex']))
--   FROM anon_helpers.roll_up('cells', MAP {'age': 2, 'sex': 1});
CREATE OR REPLACE MACRO anon_helpers.roll_up(cells, node) AS TABLE
SELECT COLUMNS(map_keys(node)), CAST(sum(row_count) AS BIGINT) AS row_count
FROM anon.generalize(cells, node)
GROUP BY ALL;

-- The equivalence classes of a source as it is: rows that agree on every quasi-identifier. NULL agrees
-- with NULL.
--
-- Job: classes.
-- Returns: the quasi-identifiers, class_size BIGINT.
-- Source: Samarati 2001, definition 2.
-- Example:
--   FROM anon.equivalence_classes('visits', ['sex']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon.equivalence_classes(source, quasi_identifiers) AS TABLE
SELECT COLUMNS(anon_helpers.listed(quasi_identifiers)), count(*) AS class_size
FROM query_table(anon_helpers.as_source(source))
GROUP BY ALL;

-- The size of every equivalence class, without its labels.
--
-- Job: classes.
-- Returns: class_size BIGINT.
-- Example:
--   FROM anon.class_sizes('visits', ['sex']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon.class_sizes(source, quasi_identifiers) AS TABLE
SELECT anon_class_size AS class_size
FROM (
    SELECT COLUMNS(anon_helpers.listed(quasi_identifiers)), count(*) AS anon_class_size
    FROM query_table(anon_helpers.as_source(source))
    GROUP BY ALL
) AS anon_classes;

-- How often each sensitive value stands in each equivalence class. NULL is a value.
--
-- Job: classes.
-- Returns: the quasi-identifiers, sensitive_value with the sensitive column's type, row_count BIGINT.
-- Example:
--   FROM anon.class_values('visits', ['sex'], 'diagnosis') ORDER BY ALL;
CREATE OR REPLACE MACRO anon.class_values(source, quasi_identifiers, sensitive) AS TABLE
SELECT COLUMNS(anon_helpers.listed(quasi_identifiers)), COLUMNS([sensitive]) AS sensitive_value, count(*) AS row_count
FROM query_table(anon_helpers.as_source(source))
GROUP BY ALL;

-- The same without the labels, so that no quasi-identifier's name can clash: a row per class and sensitive value.
--
-- Returns: class STRUCT of the quasi-identifiers' values, sensitive_value with the sensitive column's type, row_count
-- BIGINT.
-- Example:
--   SELECT count(DISTINCT class) AS class_count FROM anon_helpers.value_counts('visits', ['sex'], 'diagnosis');
CREATE OR REPLACE MACRO anon_helpers.value_counts(source, quasi_identifiers, sensitive) AS TABLE
SELECT
    row(*COLUMNS(anon_helpers.listed(quasi_identifiers))) AS class,
    COLUMNS([sensitive]) AS sensitive_value,
    count(*) AS row_count
FROM query_table(anon_helpers.as_source(source))
GROUP BY ALL;

-- Privacy models as measures. Each returns what a table attains; the caller compares it with what it wants.

-- guarded: tests/sql/50_privacy.test

-- k-anonymity attained: the size of the smallest equivalence class; NULL for a table without rows.
--
-- Job: privacy.
-- Returns: one row: k BIGINT, class_count BIGINT, row_count BIGINT.
-- Source: Samarati 2001, definition 2; Sweeney 2002.
-- Example:
--   FROM anon.k_anonymity('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon.k_anonymity(source, quasi_identifiers) AS TABLE
SELECT
    min(class_size) AS k,
    count(*) AS class_count,
    CAST(coalesce(sum(class_size), 0) AS BIGINT) AS row_count
FROM anon.class_sizes(source, quasi_identifiers);

-- The largest k that can be attained by suppressing no more than some rows: the size of the smallest class that
-- cannot be suppressed together with all smaller ones (an aggregate over classes).
--
-- rows_up_to: the rows of all classes of at most this class's size.
-- Returns: the type of class_size; all rows if all may be suppressed.
-- Source: Mazzone 2019, section 4.4 (Inverse OLA).
-- Example:
--   SELECT anon_helpers.best_k_of(class_size, rows_up_to, 2) AS k
--   FROM (SELECT class_size, sum(class_size) OVER (ORDER BY class_size ASC) AS rows_up_to FROM anon.class_sizes('visits', ['sex']));
CREATE OR REPLACE MACRO anon_helpers.best_k_of(class_size, rows_up_to, allowed_rows) AS
coalesce(min(class_size) FILTER (WHERE rows_up_to > allowed_rows), max(rows_up_to));

-- The largest k that a source can attain by suppressing no more than some of its rows; NULL for a table without rows.
--
-- Job: privacy.
-- Returns: one row: k BIGINT.
-- Source: Mazzone 2019, section 4.4 (Inverse OLA).
-- Example:
--   FROM anon.best_k('visits', ['sex'], 2);
CREATE OR REPLACE MACRO anon.best_k(source, quasi_identifiers, allowed_rows) AS TABLE
SELECT CAST(anon_helpers.best_k_of(class_size, anon_rows_up_to, anon_allowed) AS BIGINT) AS k
FROM (
    SELECT class_size, sum(class_size) OVER (ORDER BY class_size ASC) AS anon_rows_up_to, allowed_rows AS anon_allowed
    FROM anon.class_sizes(source, quasi_identifiers)
);

-- The number of distinct sensitive values of one class, from the number of rows of each value (an aggregate).
--
-- Returns: BIGINT.
-- Source: Machanavajjhala et al. 2007, section 4.1.
-- Example:
--   SELECT anon_helpers.distinct_diversity_of(row_count) AS l
--   FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.distinct_diversity_of(row_count) AS count(row_count);

-- guarded: tests/sql/50_privacy.test

-- The effective number of sensitive values of one class, exp(H), from the number of rows of each value (an
-- aggregate); H is the entropy of the values within the class. Exact to about 1e-15 relative.
--
-- Returns: DOUBLE.
-- Source: Machanavajjhala et al. 2007, definition 4.1: a class is entropy l-diverse if H >= log(l).
-- Example:
--   SELECT anon_helpers.entropy_diversity_of(row_count) AS l FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.entropy_diversity_of(row_count) AS
exp(ln(sum(row_count)) - sum(row_count * ln(row_count)) / sum(row_count));

-- guarded: tests/sql/50_privacy.test

-- The share of the most frequent sensitive value of one class, from the number of rows of each value (an aggregate).
--
-- Returns: DOUBLE in (0, 1].
-- Source: Wong et al. 2006, alpha-deassociation: a class is within alpha if no value has a larger share.
-- Example:
--   SELECT anon_helpers.largest_share_of(row_count) AS alpha
--   FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.largest_share_of(row_count) AS max(row_count) / sum(row_count);

-- guarded: tests/sql/50_privacy.test

-- How much the most frequent sensitive value of one class outweighs the rare ones, from the number of rows of each
-- value (an aggregate): r_1 / (r_l + ... + r_m), counts descending; infinity if there are fewer than l values.
--
-- The class is recursive (c, l)-diverse if this is less than c, strictly. Both sides are the nearest doubles of their
-- quotient and of the decimal c, so that equal numbers compare as equal.
--
-- Returns: DOUBLE. l must be a constant of at least 1.
-- Source: Machanavajjhala et al. 2007, definition 4.2.
-- Example:
--   SELECT anon_helpers.recursive_ratio_of(row_count, 2) AS c
--   FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.recursive_ratio_of(row_count, l) AS
coalesce(
    -- max with a second argument returns the list of the l largest counts; element l is NULL if the class has fewer values.
    max(row_count) / (sum(row_count) - list_sum(max(row_count, l)) + list_extract(max(row_count, l), l)),
    CAST('infinity' AS DOUBLE)
);

-- guarded: tests/sql/50_privacy.test

-- The number of individuals that surely stand in one class (an aggregate over its rows). A row whose individual is
-- NULL may belong to anyone, also to an individual counted already: it adds nobody to a class that has an individual.
--
-- Returns: BIGINT, at least 1.
-- Example:
--   SELECT sex, anon_helpers.individuals_of(zip) AS households FROM visits GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.individuals_of(individual) AS greatest(count(DISTINCT individual), 1);

-- k-anonymity of individuals attained, for tables in which an individual may own several rows: the smallest number of
-- distinct individuals in any equivalence class, see individuals_of; NULL for a table without rows.
--
-- It takes 1.5 to 3.4 times as long as count(DISTINCT) by columns that are named: its classes are structs, so that no name of
-- a column can clash.
--
-- Job: privacy.
-- Returns: one row: k BIGINT, class_count BIGINT, row_count BIGINT.
-- Example:
--   FROM anon.k_anonymity_of_individuals('visits', ['sex'], 'zip');
CREATE OR REPLACE MACRO anon.k_anonymity_of_individuals(source, quasi_identifiers, individual) AS TABLE
SELECT
    min(anon_individuals) AS k,
    count(*) AS class_count,
    CAST(coalesce(sum(anon_rows), 0) AS BIGINT) AS row_count
FROM (
    SELECT anon_helpers.individuals_of(sensitive_value) AS anon_individuals, sum(row_count) AS anon_rows
    FROM anon_helpers.value_counts(source, quasi_identifiers, individual)
    GROUP BY class
);

-- The diversity of one sensitive column in every equivalence class, without the class's labels.
--
-- Job: classes.
-- Returns: class_size BIGINT, distinct_diversity BIGINT, entropy_diversity DOUBLE, largest_share DOUBLE.
-- Example:
--   FROM anon.class_diversity('visits', ['sex'], 'diagnosis') ORDER BY ALL;
CREATE OR REPLACE MACRO anon.class_diversity(source, quasi_identifiers, sensitive) AS TABLE
SELECT
    CAST(sum(row_count) AS BIGINT) AS class_size,
    anon_helpers.distinct_diversity_of(row_count) AS distinct_diversity,
    anon_helpers.entropy_diversity_of(row_count) AS entropy_diversity,
    anon_helpers.largest_share_of(row_count) AS largest_share
FROM anon_helpers.value_counts(source, quasi_identifiers, sensitive)
GROUP BY class;

-- Distinct l-diversity attained: the smallest number of distinct sensitive values in any equivalence class;
-- NULL for a table without rows. NULL counts as a value.
--
-- Job: privacy.
-- Returns: one row: l BIGINT.
-- Source: Machanavajjhala et al. 2007, section 4.1.
-- Example:
--   FROM anon.distinct_l_diversity('visits', ['sex'], 'diagnosis');
CREATE OR REPLACE MACRO anon.distinct_l_diversity(source, quasi_identifiers, sensitive) AS TABLE
SELECT min(distinct_diversity) AS l
FROM anon.class_diversity(source, quasi_identifiers, sensitive);

-- Entropy l-diversity attained: the smallest exp(H) of the sensitive values in any equivalence class, rounded to 12
-- decimals, within which it is computed; NULL for a table without rows. NULL counts as a value.
--
-- Job: privacy.
-- Returns: one row: l DOUBLE.
-- Source: Machanavajjhala et al. 2007, definition 4.1.
-- Example:
--   FROM anon.entropy_l_diversity('visits', ['sex'], 'diagnosis');
CREATE OR REPLACE MACRO anon.entropy_l_diversity(source, quasi_identifiers, sensitive) AS TABLE
SELECT round(min(entropy_diversity), 12) AS l
FROM anon.class_diversity(source, quasi_identifiers, sensitive);

-- Recursive (c, l)-diversity attained: the largest r_1 / (r_l + ... + r_m) of any equivalence class, see
-- recursive_ratio_of; infinity if a class has fewer than l values, NULL for a table without rows. NULL counts as a
-- value. The table is (c, l)-diverse for every greater c.
--
-- Job: privacy.
-- Returns: one row: c DOUBLE.
-- Source: Machanavajjhala et al. 2007, definition 4.2.
-- Example:
--   FROM anon.recursive_cl_diversity('visits', ['sex'], 'diagnosis', 2);
CREATE OR REPLACE MACRO anon.recursive_cl_diversity(source, quasi_identifiers, sensitive, l) AS TABLE
SELECT max(anon_ratio) AS c
FROM (
    SELECT anon_helpers.recursive_ratio_of(row_count, l) AS anon_ratio
    FROM anon_helpers.value_counts(source, quasi_identifiers, sensitive)
    GROUP BY class
);

-- (alpha, k)-anonymity attained, in its general form: the largest share of any sensitive value in any equivalence
-- class, and the size of the smallest class; NULL for a table without rows. NULL counts as a value.
--
-- Job: privacy.
-- Returns: one row: alpha DOUBLE in (0, 1], k BIGINT.
-- Source: Wong et al. 2006, the general (alpha, k)-anonymity model, which protects every sensitive value.
-- Example:
--   FROM anon.alpha_k_anonymity('visits', ['sex'], 'diagnosis');
CREATE OR REPLACE MACRO anon.alpha_k_anonymity(source, quasi_identifiers, sensitive) AS TABLE
SELECT max(largest_share) AS alpha, min(class_size) AS k
FROM anon.class_diversity(source, quasi_identifiers, sensitive);

-- Closeness, disclosure and likeness: how far the sensitive values of a class are from those of everyone. Measures
-- ending in _of are aggregates over the values of one class, and the engine uses them too.
--
-- In all of them the reference is the table whose distribution an attacker knows anyway: the original table for a
-- release, as in ARX, or the source itself. NULL is a value. Equal values are one value, such as 0.0 and -0.0, and are
-- compared as the type that the columns of both tables fit in: text if one of them is text.

-- The texts of the sensitive values of the source and the reference: the one that stands for all that are equal, the
-- last of them, and their share in the reference, 0 if they are not there.
--
-- A reference without rows is an error if the source has some: without a distribution to be far from, distances would
-- look small.
--
-- Returns: value_text VARCHAR, sensitive_value VARCHAR, value with the type that both columns fit in, reference_rows BIGINT,
-- share DOUBLE in [0, 1]; a row per text.
-- Example:
--   FROM anon_helpers.value_texts('visits', 'diagnosis', 'visits') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.value_texts(source, sensitive, reference) AS TABLE
SELECT value_text, sensitive_value, value, reference_rows, reference_rows / anon_all_rows AS share
FROM (
    SELECT
        anon_text AS value_text,
        max(anon_text) OVER (PARTITION BY anon_value) AS sensitive_value,
        anon_value AS value,
        CASE
            WHEN sum(anon_known_rows) OVER () = 0 THEN error('the reference has no row')
            ELSE CAST(sum(anon_known_rows) OVER (PARTITION BY anon_value) AS BIGINT)
        END AS reference_rows,
        sum(anon_known_rows) OVER () AS anon_all_rows
    FROM (
        SELECT anon_text, any_value(anon_value) AS anon_value, sum(anon_is_known) AS anon_known_rows
        FROM (
            SELECT anon.text_of(COLUMNS([sensitive])) AS anon_text, COLUMNS([sensitive]) AS anon_value, 0 AS anon_is_known
            FROM query_table(anon_helpers.as_source(source))
            UNION ALL
            SELECT anon.text_of(COLUMNS([sensitive])) AS anon_text, COLUMNS([sensitive]) AS anon_value, 1 AS anon_is_known
            FROM query_table(anon_helpers.as_source(reference))
        )
        GROUP BY anon_text
    )
);

-- The share that each sensitive value of the source or the reference has in the reference, see value_texts.
--
-- Returns: sensitive_value VARCHAR, share DOUBLE in [0, 1].
-- Example:
--   FROM anon_helpers.value_shares('visits', 'diagnosis', 'visits') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.value_shares(source, sensitive, reference) AS TABLE
SELECT DISTINCT sensitive_value, share FROM anon_helpers.value_texts(source, sensitive, reference);

-- How often each sensitive value stands in each equivalence class, and its share in the reference, see
-- value_texts.
--
-- Returns: class STRUCT of the quasi-identifiers' values, class_size BIGINT, sensitive_value VARCHAR, row_count BIGINT,
-- reference_share DOUBLE; a row per class and value that stands in it.
-- Example:
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.class_frequencies(source, quasi_identifiers, sensitive, reference) AS TABLE
SELECT
    anon_counts.class,
    CAST(sum(sum(anon_counts.row_count)) OVER (PARTITION BY anon_counts.class) AS BIGINT) AS class_size,
    anon_texts.sensitive_value,
    CAST(sum(anon_counts.row_count) AS BIGINT) AS row_count,
    any_value(anon_texts.share) AS reference_share
FROM anon_helpers.value_counts(source, quasi_identifiers, sensitive) AS anon_counts
INNER JOIN anon_helpers.value_texts(source, sensitive, reference) AS anon_texts
    ON anon_texts.value_text IS NOT DISTINCT FROM anon.text_of(anon_counts.sensitive_value)
GROUP BY anon_counts.class, anon_texts.sensitive_value;

-- guarded: tests/sql/55_closeness.test

-- Earth mover's distance between the values of one class and the reference if all values are equally far apart (an
-- aggregate over the values of the class): the sum of what the class has more of than the reference. A reference share
-- of NULL is 0. Summed with compensation, so that the order of the rows hardly matters.
--
-- Returns: DOUBLE in [0, 1].
-- Source: Li et al. 2007, EMD for categorical attributes with equal distance.
-- Example:
--   SELECT anon_helpers.equal_distance_of(row_count, class_size, reference_share) AS t
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.equal_distance_of(row_count, class_size, reference_share) AS
fsum(greatest(row_count / class_size - coalesce(reference_share, 0.0), 0.0));

-- What it takes to move the rows of a reference to each value of an order, a row by a step being 1: those of lower values
-- up to it, and those of higher ones down to it.
--
-- reference: a relation with a row per value: position, from 1 without a gap, and row_count.
-- Returns: position, reference_rows DOUBLE, which is all of them, cumulative_share DOUBLE in [0, 1], work_below DOUBLE,
-- work_above DOUBLE, most_work DOUBLE, that from one end to the other.
-- Example:
--   WITH ages AS (FROM anon_helpers.value_positions('visits', 'age', 'visits'))
--   FROM anon_helpers.reference_work('ages') ORDER BY position;
CREATE OR REPLACE MACRO anon_helpers.reference_work(reference) AS TABLE
SELECT
    position,
    anon_all_rows AS reference_rows,
    anon_rows_up_to / nullif(anon_all_rows, 0e0) AS cumulative_share,
    position * anon_rows_up_to - anon_moment AS work_below,
    (anon_all_moment - anon_moment) - position * (anon_all_rows - anon_rows_up_to) AS work_above,
    anon_all_rows * (anon_positions - 1) AS most_work
FROM (
    SELECT
        position,
        CAST(sum(row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_rows_up_to,
        CAST(sum(position * row_count) OVER (ORDER BY position ASC) AS DOUBLE) AS anon_moment,
        CAST(sum(row_count) OVER () AS DOUBLE) AS anon_all_rows,
        CAST(sum(position * row_count) OVER () AS DOUBLE) AS anon_all_moment,
        count(*) OVER () AS anon_positions
    FROM query_table(anon_helpers.as_source(reference))
);

-- The interval of shares that a share is in, of 1,024 that are equally long: a power of two, so that nothing is rounded.
--
-- Returns: BIGINT.
-- Example:
--   SELECT anon_helpers.share_slot(0.5) AS slot;
CREATE OR REPLACE MACRO anon_helpers.share_slot(share) AS CAST(floor(share * 1024e0) AS BIGINT);

-- Where the cumulative share of a reference first exceeds a given share, from least_share up to next_share: the position, and
-- what it takes to move the rows below up to it. Cut into slots, see share_slot, so that it is found by an equal join.
--
-- work: a relation such as reference_work returns.
-- Returns: slot BIGINT, least_share DOUBLE, next_share DOUBLE, crossing, which is a position, crossing_work DOUBLE.
-- Example:
--   WITH ages AS (FROM anon_helpers.value_positions('visits', 'age', 'visits')),
--   work AS (FROM anon_helpers.reference_work('ages'))
--   SELECT DISTINCT * EXCLUDE (slot) FROM anon_helpers.reference_crossings('work') ORDER BY crossing;
CREATE OR REPLACE MACRO anon_helpers.reference_crossings(work) AS TABLE
SELECT
    unnest(range(anon_helpers.share_slot(anon_least_share), anon_helpers.share_slot(anon_next_share) + 1)) AS slot,
    anon_least_share AS least_share,
    anon_next_share AS next_share,
    anon_position AS crossing,
    anon_work AS crossing_work
FROM (
    SELECT
        position AS anon_position,
        work_below AS anon_work,
        coalesce(lag(cumulative_share) OVER (ORDER BY position ASC), 0e0) AS anon_least_share,
        cumulative_share AS anon_next_share
    FROM query_table(anon_helpers.as_source(work))
)
WHERE anon_least_share < anon_next_share;

-- What it takes to move the rows of a class to where those of the reference are, from one value of the class to its next
-- one: the sum of |rows_up_to * reference_rows - class_size * R| over the positions from the one to the other, R being the
-- rows of the reference up to a position.
--
-- R only grows, and the rest is the same between two values of a class, so that the sum follows from what is known of three
-- positions: of both values, and of the one where R / reference_rows first exceeds rows_up_to / class_size, see
-- reference_work and reference_crossings. NULL behind the last value. All terms are integers, so that the sum is
-- exact and independent of any order as long as they are below 2^53.
--
-- Returns: DOUBLE.
-- Example:
--   SELECT anon_helpers.work_between(2, 3, 8, 1, 4, 0, 9, 3, 5) AS work;
CREATE OR REPLACE MACRO anon_helpers.work_between(
    rows_up_to, class_size, reference_rows, own_position, next_position, work_below, next_work_below, crossing, crossing_work
) AS
-- |c - a| - |b - c| is twice the point of [a, b] that is nearest to c, less a and b.
rows_up_to * reference_rows * (abs(CAST(crossing AS DOUBLE) - own_position) - abs(CAST(next_position AS DOUBLE) - crossing))
+ class_size * (abs(next_work_below - crossing_work) - abs(crossing_work - work_below));

-- guarded: tests/sql/55_closeness.test
-- no mutants of MAX(most_work): it is the same in all rows

-- Earth mover's distance between the values of one class and the reference if values have an order and neighbours are
-- equally far apart (an aggregate over the values of the class): the mean difference of the cumulative shares over the steps
-- between the first and the last position of the domain; 0 for a domain of one value.
--
-- Returns: DOUBLE in [0, 1].
-- Source: Li et al. 2007, EMD for numerical attributes.
-- Example:
--   SELECT anon_helpers.ordered_distance_of(row_count, work_between, work_below, work_above, most_work) AS t
--   FROM anon_helpers.class_distributions('visits', ['sex'], 'age', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.ordered_distance_of(row_count, work_between, work_below, work_above, most_work) AS
(coalesce(fsum(work_between), 0e0) + sum(row_count) * (min(work_below) + min(work_above)))
/ (sum(row_count) * greatest(max(most_work), 1e0));

-- guarded: tests/sql/55_closeness.test

-- How many times more rows a value has than its share in the reference, infinity for a value that is not there. Over the
-- rows of the class that is the ratio q / p of its shares in the class and in the reference.
--
-- Returns: DOUBLE, above 0.
-- Example:
--   SELECT anon_helpers.rows_over_share(3, 0.2) AS ratio;
CREATE OR REPLACE MACRO anon_helpers.rows_over_share(row_count, reference_share) AS
CASE
    WHEN coalesce(reference_share, 0.0) = 0.0 THEN CAST('infinity' AS DOUBLE)
    ELSE row_count / reference_share
END;

-- guarded: tests/sql/55_closeness.test

-- delta of delta-disclosure attained by one class (an aggregate over its values): the largest |log2(q / p)| of a
-- value's share in the class and in the reference; infinity for a value that is not in the reference. As in ARX the
-- logarithm is binary and values that are not in the class do not count, whose logarithm is infinite. The class is
-- delta-disclosure private for every greater delta, strictly.
--
-- Returns: DOUBLE, at least 0, in bits.
-- Source: Brickell and Shmatikov 2008, delta-disclosure privacy.
-- Example:
--   SELECT anon_helpers.disclosure_of(row_count, reference_share) AS delta
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.disclosure_of(row_count, reference_share) AS
-- Not log2, which sqlglot would spell as another logarithm with other last digits.
greatest(
    ln(max(anon_helpers.rows_over_share(row_count, reference_share)) / sum(row_count)),
    -ln(min(anon_helpers.rows_over_share(row_count, reference_share)) / sum(row_count))
) / ln(2.0);

-- guarded: tests/sql/55_closeness.test

-- beta of basic beta-likeness attained by one class (an aggregate over its values): the largest relative gain
-- (q - p) / p of a value's share in the class over its share in the reference, 0 if none grows, infinity for a value
-- that is not in the reference. The class is beta-like if this is at most beta.
--
-- Returns: DOUBLE, at least 0.
-- Source: Cao and Karras 2012, basic beta-likeness.
-- Example:
--   SELECT anon_helpers.basic_likeness_of(row_count, reference_share) AS beta
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.basic_likeness_of(row_count, reference_share) AS
greatest(max(anon_helpers.rows_over_share(row_count, reference_share)) / sum(row_count) - 1, 0.0);

-- guarded: tests/sql/55_closeness.test

-- beta of enhanced beta-likeness attained by one class (an aggregate over its values): the largest relative gain of any
-- value, or infinity if the gain of some value exceeds -ln(p), the bound that holds whatever beta is. The class is
-- beta-like if this is at most beta.
--
-- Returns: DOUBLE, at least 0.
-- Source: Cao and Karras 2012, enhanced beta-likeness.
-- Example:
--   SELECT anon_helpers.enhanced_likeness_of(row_count, reference_share) AS beta
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.enhanced_likeness_of(row_count, reference_share) AS
CASE
    -- q / p - 1 > -ln(p), with the class size on the other side.
    WHEN max(anon_helpers.rows_over_share(row_count, reference_share) / (1 - ln(nullif(reference_share, 0.0)))) > sum(row_count)
        THEN CAST('infinity' AS DOUBLE)
    ELSE anon_helpers.basic_likeness_of(row_count, reference_share)
END;

-- How far the values of each equivalence class are from the reference, for values without order or taxonomy.
--
-- Returns: class_size BIGINT, equal_distance DOUBLE, disclosure DOUBLE, basic_likeness DOUBLE, enhanced_likeness
-- DOUBLE.
-- Example:
--   FROM anon_helpers.class_closeness('visits', ['sex'], 'diagnosis', 'visits') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.class_closeness(source, quasi_identifiers, sensitive, reference) AS TABLE
SELECT
    any_value(class_size) AS class_size,
    anon_helpers.equal_distance_of(row_count, class_size, reference_share) AS equal_distance,
    anon_helpers.disclosure_of(row_count, reference_share) AS disclosure,
    anon_helpers.basic_likeness_of(row_count, reference_share) AS basic_likeness,
    anon_helpers.enhanced_likeness_of(row_count, reference_share) AS enhanced_likeness
FROM anon_helpers.class_frequencies(source, quasi_identifiers, sensitive, reference)
GROUP BY class;

-- guarded: tests/sql/55_closeness.test

-- t-closeness attained with equal ground distance: the largest distance of any equivalence class from the reference,
-- see equal_distance_of; NULL for a table without rows.
--
-- Job: privacy.
-- Returns: one row: t DOUBLE in [0, 1].
-- Source: Li et al. 2007, the t-closeness principle.
-- Example:
--   FROM anon.t_closeness('visits', ['sex'], 'diagnosis', 'visits');
CREATE OR REPLACE MACRO anon.t_closeness(source, quasi_identifiers, sensitive, reference) AS TABLE
SELECT max(equal_distance) AS t
FROM anon_helpers.class_closeness(source, quasi_identifiers, sensitive, reference);

-- delta-disclosure attained: the largest delta of any equivalence class, see disclosure_of; NULL for a table
-- without rows. The table is delta-disclosure private for every greater delta, strictly.
--
-- Job: privacy.
-- Returns: one row: delta DOUBLE, in bits.
-- Source: Brickell and Shmatikov 2008, delta-disclosure privacy.
-- Example:
--   FROM anon.delta_disclosure('visits', ['sex'], 'diagnosis', 'visits');
CREATE OR REPLACE MACRO anon.delta_disclosure(source, quasi_identifiers, sensitive, reference) AS TABLE
SELECT max(disclosure) AS delta
FROM anon_helpers.class_closeness(source, quasi_identifiers, sensitive, reference);

-- beta-likeness attained: the largest beta of any equivalence class, see basic_likeness_of and
-- enhanced_likeness_of; NULL for a table without rows.
--
-- Job: privacy.
-- Returns: one row: basic DOUBLE, enhanced DOUBLE.
-- Source: Cao and Karras 2012, basic and enhanced beta-likeness.
-- Example:
--   FROM anon.beta_likeness('visits', ['sex'], 'diagnosis', 'visits');
CREATE OR REPLACE MACRO anon.beta_likeness(source, quasi_identifiers, sensitive, reference) AS TABLE
SELECT max(basic_likeness) AS basic, max(enhanced_likeness) AS enhanced
FROM anon_helpers.class_closeness(source, quasi_identifiers, sensitive, reference);

-- The values of the source and the reference in their order, numbered from 1: that of the sensitive column's type, or
-- of the type that both columns fit in, NULL last, as in ARX. Text is in the order of its code points; for another
-- order give the column an ENUM type. Numbers that a table keeps as text are in the order of text: cast them.
--
-- Returns: sensitive_value VARCHAR, position BIGINT, row_count BIGINT, the rows of the reference.
-- Example:
--   FROM anon_helpers.value_positions('visits', 'age', 'visits') ORDER BY position;
CREATE OR REPLACE MACRO anon_helpers.value_positions(source, sensitive, reference) AS TABLE
SELECT
    anon_value AS sensitive_value,
    row_number() OVER (ORDER BY min(anon_order) IS NULL ASC, min(anon_order) ASC, anon_value ASC) AS position,
    any_value(anon_rows) AS row_count
FROM (
    SELECT sensitive_value AS anon_value, value AS anon_order, reference_rows AS anon_rows
    FROM anon_helpers.value_texts(source, sensitive, reference)
)
GROUP BY anon_value;

-- How far the sensitive values of each equivalence class are from the reference, over the order of value_positions: of
-- each value what it takes to move rows between it and the next one, and the rows of the reference to it; see
-- work_between and reference_work.
--
-- How it goes. The values of each class in their order, with the rows up to each and the next value; where the cumulative share of
-- the reference crosses that of the class between both, if it does; and the work from these.
--
-- Returns: class STRUCT of the quasi-identifiers' values, position BIGINT, row_count BIGINT, work_between DOUBLE, NULL for the
-- last value, work_below DOUBLE, work_above DOUBLE, most_work DOUBLE; a row per class and value that stands in it.
-- Example:
--   FROM anon_helpers.class_distributions('visits', ['sex'], 'age', 'visits') ORDER BY ALL LIMIT 3;
CREATE OR REPLACE MACRO anon_helpers.class_distributions(source, quasi_identifiers, sensitive, reference) AS TABLE
WITH anon_positions AS MATERIALIZED (
    SELECT * FROM anon_helpers.value_positions(source, sensitive, reference)
),
anon_work AS MATERIALIZED (
    SELECT * FROM anon_helpers.reference_work('anon_positions')
),
anon_values AS (
    SELECT
        anon_counts.class AS anon_class,
        anon_counts.class_size AS anon_size,
        anon_counts.row_count AS anon_rows,
        sum(anon_counts.row_count) OVER anon_up_to_here AS anon_rows_up_to,
        lead(anon_work.position) OVER anon_up_to_here AS anon_next_position,
        lead(anon_work.work_below) OVER anon_up_to_here AS anon_next_work,
        anon_work.*
    FROM anon_helpers.class_frequencies(source, quasi_identifiers, sensitive, reference) AS anon_counts
    INNER JOIN anon_positions ON anon_positions.sensitive_value IS NOT DISTINCT FROM anon_counts.sensitive_value
    INNER JOIN anon_work ON anon_work.position = anon_positions.position
    WINDOW anon_up_to_here AS (
        PARTITION BY anon_counts.class ORDER BY anon_work.position ASC ROWS UNBOUNDED PRECEDING
    )
)
SELECT
    anon_values.anon_class AS class,
    anon_values.position,
    anon_values.anon_rows AS row_count,
    anon_helpers.work_between(
        anon_values.anon_rows_up_to,
        anon_values.anon_size,
        anon_values.reference_rows,
        anon_values.position,
        anon_values.anon_next_position,
        anon_values.work_below,
        anon_values.anon_next_work,
        anon_crossings.crossing,
        anon_crossings.crossing_work
    ) AS work_between,
    anon_values.work_below,
    anon_values.work_above,
    anon_values.most_work
FROM anon_values
LEFT JOIN anon_helpers.reference_crossings('anon_work') AS anon_crossings
    ON anon_crossings.slot = anon_helpers.share_slot(anon_values.anon_rows_up_to / anon_values.anon_size)
    AND anon_crossings.least_share <= anon_values.anon_rows_up_to / anon_values.anon_size
    AND anon_crossings.next_share > anon_values.anon_rows_up_to / anon_values.anon_size;

-- t-closeness attained with ordered ground distance: the largest distance of any equivalence class from the reference,
-- see ordered_distance_of and value_positions; NULL for a table without rows.
--
-- Job: privacy.
-- Returns: one row: t DOUBLE in [0, 1].
-- Source: Li et al. 2007, the t-closeness principle.
-- Example:
--   FROM anon.ordered_t_closeness('visits', ['sex'], 'age', 'visits');
CREATE OR REPLACE MACRO anon.ordered_t_closeness(source, quasi_identifiers, sensitive, reference) AS TABLE
SELECT max(anon_distance) AS t
FROM (
    SELECT anon_helpers.ordered_distance_of(row_count, work_between, work_below, work_above, most_work) AS anon_distance
    FROM anon_helpers.class_distributions(source, quasi_identifiers, sensitive, reference)
    GROUP BY class
);

-- t-closeness attained with hierarchical ground distance: the largest distance of any equivalence class from the
-- reference if two values are as far apart as the level of their lowest common label over the height of the taxonomy,
-- which is stored under the sensitive column's own name; NULL for a table without rows.
--
-- Moving rows through a tree costs the same per level, so that the distance is the mean over the levels below the top
-- of the equal distance of their labels. A value that the taxonomy does not know is an error; NULL is a label of its
-- own below the top unless the taxonomy has it.
--
-- How it goes. The labels of each value at each level below the top; their rows in each class and their share in the reference;
-- the equal distance of both at each level, and its mean.
--
-- Job: privacy.
-- Returns: one row: t DOUBLE in [0, 1].
-- Source: Li et al. 2007, the t-closeness principle; EMD for categorical attributes with hierarchical distance.
-- Example:
--   FROM anon.hierarchical_t_closeness('visits', ['sex'], 'zip', 'visits');
CREATE OR REPLACE MACRO anon.hierarchical_t_closeness(source, quasi_identifiers, sensitive, reference) AS TABLE
WITH anon_counts AS (
    SELECT class AS anon_class, class_size AS anon_size, sensitive_value AS anon_value, row_count AS anon_rows
    FROM anon_helpers.class_frequencies(source, quasi_identifiers, sensitive, reference)
),
anon_shares AS (
    SELECT sensitive_value AS anon_value, share AS anon_share FROM anon_helpers.value_shares(source, sensitive, reference)
),
anon_labels AS (
    SELECT
        anon_shares.anon_value,
        anon_levels.anon_level,
        anon.label_of(sensitive, anon_levels.anon_level, anon_shares.anon_value) AS anon_label
    FROM anon_shares
    CROSS JOIN (
        -- A taxonomy of nothing but its values, or none at all, still has its level 0 looked at.
        SELECT unnest(range(0, greatest(max(anon_heights.height), 1))) AS anon_level
        FROM anon.taxonomy_heights() AS anon_heights
        WHERE anon_heights.attribute = sensitive
    ) AS anon_levels
),
anon_class_labels AS (
    SELECT
        anon_counts.anon_class,
        any_value(anon_counts.anon_size) AS anon_size,
        anon_labels.anon_level,
        anon_labels.anon_label,
        sum(anon_counts.anon_rows) AS anon_rows
    FROM anon_counts
    INNER JOIN anon_labels ON anon_labels.anon_value IS NOT DISTINCT FROM anon_counts.anon_value
    GROUP BY anon_counts.anon_class, anon_labels.anon_level, anon_labels.anon_label
),
anon_reference_labels AS (
    SELECT anon_labels.anon_level, anon_labels.anon_label, sum(anon_shares.anon_share) AS anon_share
    FROM anon_shares
    INNER JOIN anon_labels ON anon_labels.anon_value IS NOT DISTINCT FROM anon_shares.anon_value
    GROUP BY anon_labels.anon_level, anon_labels.anon_label
)
SELECT max(anon_distance) AS t
FROM (
    SELECT
        anon_helpers.equal_distance_of(
            anon_class_labels.anon_rows, anon_class_labels.anon_size, anon_reference_labels.anon_share
        ) / count(DISTINCT anon_class_labels.anon_level) AS anon_distance
    FROM anon_class_labels
    INNER JOIN anon_reference_labels
        ON anon_reference_labels.anon_level = anon_class_labels.anon_level
        AND anon_reference_labels.anon_label IS NOT DISTINCT FROM anon_class_labels.anon_label
    GROUP BY anon_class_labels.anon_class
);

-- What one class proves about every less general node: how many of its rows are suppressed there, whatever else is. Macros
-- ending in _certainty_of are aggregates over the values of one class, and the engine uses them too.
--
-- A less general node splits a class of n rows with shares P into classes of n_i rows with shares P_i, so that P is the mean
-- of P_i with weights n_i / n. Let g be convex, g <= t in every class that is kept, g <= G where all rows have one value of
-- the class, and s rows be suppressed. Then s >= n (g(P) - t) / (G - t) if g(P) > t.
-- Proof: g(P) <= sum (n_i / n) g(P_i) <= (s / n) G + (1 - s / n) t, since a convex g is largest where all rows are alike.
--
-- A measure f that is convex has linear g <= f with g(P) = f(P). Their G is smaller, so that they prove more than f itself.
-- The proof holds for rows, because a row falls into one part; an individual may stand in several.

-- guarded: tests/sql/57_certain_rows.test
-- no mutants of excess > 1e-9: both are 0 at 1e-9

-- The share of the rows of a class that is certainly suppressed, from how much the class exceeds a bound and how much rows
-- that are all alike could: g(P) - t and G - t above.
--
-- Both are taken to be off by 1e-9 for the worse. That is far more than sums of floats are off by, so that the rows of the
-- share, rounded up, are never too many; and it costs no more than a row in 1e9, unless G is nearly t.
--
-- Returns: DOUBLE in [0, 1); 0 if excess is NULL.
-- Example:
--   SELECT anon_helpers.certain_share(0.5 - 0.2, 0.8 - 0.2) AS share;
CREATE OR REPLACE MACRO anon_helpers.certain_share(excess, largest_excess) AS
CASE WHEN excess > 1e-9 THEN (excess - 1e-9) / (largest_excess + 1e-9) ELSE 0e0 END;

-- guarded: tests/sql/57_certain_rows.test

-- Rows that every less general node suppresses as well (an aggregate over classes): all rows of a class that is certainly
-- not kept, and of any other as many as a certain share makes, rounded up.
--
-- Returns: BIGINT.
-- Example:
--   SELECT anon_helpers.certain_rows_of(class_size, class_size >= 2, 0.3) AS suppressed FROM anon.class_sizes('visits', ['age']);
CREATE OR REPLACE MACRO anon_helpers.certain_rows_of(class_size, kept, certain_share) AS
CAST(coalesce(sum(CASE WHEN kept THEN ceil(class_size * certain_share) ELSE class_size END), 0) AS BIGINT);

-- guarded: tests/sql/57_certain_rows.test

-- The rows that every less general node suppresses at least if the mean over its published rows may be at_most: less general
-- classes have no smaller sum, and a row adds at most 1 to it, so that without s rows the mean is (total - s) / (rows - s) or
-- more.
--
-- at_most is taken to be 1e-9 larger, which is far more than the sum is off by.
--
-- total: the sum over all rows. at_most: below 1.
-- Returns: BIGINT.
-- Example:
--   SELECT anon_helpers.rows_above_mean(unique_rows, row_count, 0.05) AS suppressed FROM anon.sample_uniqueness('visits', ['age']);
CREATE OR REPLACE MACRO anon_helpers.rows_above_mean(total, row_count, at_most) AS
CAST(greatest(ceil((total - (at_most + 1e-9) * row_count) / (1 - at_most)), 0) AS BIGINT);

-- The share of the rows of one class that is certainly suppressed if no value may have more than the share alpha: the most
-- that its one, two or three most frequent values prove. g is the share of these j, t is j alpha, G is 1.
--
-- More than 1 / alpha values prove nothing, and to look at all takes twice as long as all else of a class.
--
-- Returns: DOUBLE in [0, 1).
-- Source: Wong et al. 2006 for the model; the lemma above.
-- Example:
--   SELECT anon_helpers.largest_share_certainty_of(row_count, 0.5) AS share
--   FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.largest_share_certainty_of(row_count, alpha) AS
greatest(
    anon_helpers.certain_share(anon_helpers.largest_share_of(row_count) - alpha, 1 - alpha),
    anon_helpers.certain_share(list_sum(max(row_count, 2)) / sum(row_count) - 2 * alpha, 1 - 2 * alpha),
    anon_helpers.certain_share(list_sum(max(row_count, 3)) / sum(row_count) - 3 * alpha, 1 - 3 * alpha)
);

-- The same if classes are to have entropy log l: g is the sum of P'_v log P_v, which is the negative entropy for P' = P and
-- no more for any other P'; G is the logarithm of the largest share.
--
-- Returns: DOUBLE in [0, 1).
-- Source: Machanavajjhala et al. 2007, definition 4.1, for the model; the lemma above, with the inequality of Gibbs.
-- Example:
--   SELECT anon_helpers.entropy_diversity_certainty_of(row_count, 2.5) AS share
--   FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.entropy_diversity_certainty_of(row_count, l) AS
anon_helpers.certain_share(
    ln(l) - ln(anon_helpers.entropy_diversity_of(row_count)), ln(l) + ln(anon_helpers.largest_share_of(row_count))
);

-- The same if classes are to be recursive (c, l)-diverse: the l - 1 most frequent values lose what they have more than c
-- times the rows of the rare ones.
--
-- With shares p descending and the rare ones r = p_l + ... + p_m, the mean of any j < l largest shares less c r is convex,
-- and no more than p_1 - c r, which is at most 0 in a class that is kept; G is 1 / j. So p_1 + ... + p_j - j c r are lost.
--
-- Returns: DOUBLE in [0, 1). l must be a constant of at least 2.
-- Source: Machanavajjhala et al. 2007, definition 4.2, for the model; the lemma above.
-- Example:
--   SELECT anon_helpers.recursive_ratio_certainty_of(row_count, 2, 1.5) AS share
--   FROM anon.class_values('visits', ['sex'], 'diagnosis') GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.recursive_ratio_certainty_of(row_count, l, c) AS
anon_helpers.certain_share(
    list_sum(list_transform(
        list_slice(max(row_count, l), 1, l - 1),
        lambda anon_frequent: greatest(
            anon_frequent / sum(row_count)
            - c * ((sum(row_count) - list_sum(list_slice(max(row_count, l), 1, l - 1))) / sum(row_count)),
            0.0
        )
    )),
    1
);

-- The same if classes are to be within distance t of the reference and values have a taxonomy of a height (an aggregate over
-- the labels of the class at all levels below the top).
--
-- g is the mean over the levels of the share of the labels that the class has no less of than the reference, less their share
-- there; G is the mean of 1 less the latter.
--
-- Returns: DOUBLE in [0, 1).
-- Source: Li et al. 2007, EMD for categorical attributes with hierarchical distance, for the model; the lemma above.
-- Example:
--   SELECT anon_helpers.hierarchical_distance_certainty_of(anon_rows, 4, anon_share, 1, 0.2) AS share
--   FROM (VALUES (3, 0.25), (1, 0.5)) AS anon_labels (anon_rows, anon_share);
CREATE OR REPLACE MACRO anon_helpers.hierarchical_distance_certainty_of(row_count, class_size, reference_share, height, t) AS
anon_helpers.certain_share(
    anon_helpers.equal_distance_of(row_count, class_size, reference_share) / height - t,
    1
    - coalesce(sum(reference_share) FILTER (WHERE row_count / class_size >= reference_share), 0.0) / height
    - t
);

-- The same if all values are equally far apart: there is one level.
--
-- Returns: DOUBLE in [0, 1).
-- Source: Li et al. 2007, EMD for categorical attributes with equal distance, for the model; the lemma above.
-- Example:
--   SELECT anon_helpers.equal_distance_certainty_of(row_count, class_size, reference_share, 0.2) AS share
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.equal_distance_certainty_of(row_count, class_size, reference_share, t) AS
anon_helpers.hierarchical_distance_certainty_of(row_count, class_size, reference_share, 1, t);

-- The largest of the distances that rows would have from the reference if all had one value of the class (an aggregate over
-- its values, as in ordered_distance_of).
--
-- Returns: DOUBLE in [0, 1].
-- Source: Li et al. 2007, EMD for numerical attributes.
-- Example:
--   SELECT anon_helpers.ordered_reach_of(work_below, work_above, most_work) AS farthest
--   FROM anon_helpers.class_distributions('visits', ['sex'], 'age', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.ordered_reach_of(work_below, work_above, most_work) AS
max(work_below + work_above) / greatest(max(most_work), 1e0);

-- The share of the rows of one class that is certainly suppressed if classes are to be within distance t of the reference
-- and values have an order (an aggregate over the values of the class): g is the distance, G is the farthest.
--
-- Returns: DOUBLE in [0, 1).
-- Source: Li et al. 2007, EMD for numerical attributes, for the model; the lemma above.
-- Example:
--   SELECT anon_helpers.ordered_distance_certainty_of(row_count, work_between, work_below, work_above, most_work, 0.2) AS share
--   FROM anon_helpers.class_distributions('visits', ['sex'], 'age', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.ordered_distance_certainty_of(
    row_count, work_between, work_below, work_above, most_work, t
) AS
anon_helpers.certain_share(
    anon_helpers.ordered_distance_of(row_count, work_between, work_below, work_above, most_work) - t,
    anon_helpers.ordered_reach_of(work_below, work_above, most_work) - t
);

-- guarded: tests/sql/57_certain_rows.test
-- no mutants of row_count / class_size > largest_share: at the bound, 0 is in excess

-- The same if no value may have more than a share of its own (an aggregate over the values of one class): g is the share of
-- the values that have too much together, t is what they may have, G is 1.
--
-- Returns: DOUBLE in [0, 1).
-- Example:
--   SELECT anon_helpers.share_certainty_of(row_count, class_size, 2 * reference_share) AS share
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.share_certainty_of(row_count, class_size, largest_share) AS
anon_helpers.certain_share(
    sum(row_count / class_size - largest_share) FILTER (WHERE row_count / class_size > largest_share),
    1 - sum(largest_share) FILTER (WHERE row_count / class_size > largest_share)
);

-- guarded: tests/sql/57_certain_rows.test

-- The same if classes are to be delta-disclosure private. That values may not be too rare proves nothing: a value that is not
-- in a class at all is allowed.
--
-- Returns: DOUBLE in [0, 1).
-- Source: Brickell and Shmatikov 2008 for the model; the lemma above.
-- Example:
--   SELECT anon_helpers.disclosure_certainty_of(row_count, class_size, reference_share, 0.5) AS share
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.disclosure_certainty_of(row_count, class_size, reference_share, delta) AS
anon_helpers.share_certainty_of(row_count, class_size, exp(delta * ln(2.0)) * coalesce(reference_share, 0.0));

-- The same if classes are to have basic beta-likeness.
--
-- Returns: DOUBLE in [0, 1).
-- Source: Cao and Karras 2012, basic beta-likeness, for the model; the lemma above.
-- Example:
--   SELECT anon_helpers.basic_likeness_certainty_of(row_count, class_size, reference_share, 0.5) AS share
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.basic_likeness_certainty_of(row_count, class_size, reference_share, beta) AS
anon_helpers.share_certainty_of(row_count, class_size, (1 + beta) * coalesce(reference_share, 0.0));

-- The same if classes are to have enhanced beta-likeness.
--
-- Returns: DOUBLE in [0, 1).
-- Source: Cao and Karras 2012, enhanced beta-likeness, for the model; the lemma above.
-- Example:
--   SELECT anon_helpers.enhanced_likeness_certainty_of(row_count, class_size, reference_share, 0.5) AS share
--   FROM anon_helpers.class_frequencies('visits', ['sex'], 'diagnosis', 'visits') GROUP BY class;
CREATE OR REPLACE MACRO anon_helpers.enhanced_likeness_certainty_of(row_count, class_size, reference_share, beta) AS
anon_helpers.share_certainty_of(
    row_count,
    class_size,
    -- A value that the reference has no share of has none here, whatever its logarithm is.
    coalesce((1 + least(beta, -ln(nullif(reference_share, 0.0)))) * reference_share, 0.0)
);

-- What the classes of one node prove about every node between it and a more general one: how many rows are suppressed in each
-- of them, whatever else is. Classes of the less general node are called cells here, and the engine uses these macros, too.
--
-- Every node between the two groups the cells of a class C of the more general one into classes. A score of a model is a number
-- of each cell whose sum is at most 0 over the cells of any class that the model keeps. Let the scores of the cells of C add up
-- to an excess T > 0, and let p > 0 be a price of a row. Then each node between suppresses at least
-- (T - sum of max(score - p size, 0)) / p rows of C, where the sum is over the cells of C.
-- Proof: classes that are kept add up to at most 0, so the suppressed cells X add up to at least T. They add up to at most p times
-- their rows and the sum of max(score - p size, 0) over X, which is at most that over C.
--
-- With the largest score / size of a cell as price, no cell scores beyond it, and T / p rows are suppressed. Lower prices can prove
-- more. Rows may be suppressed for any reason; they are counted as rows, so that nothing here holds for individuals.

-- guarded: tests/sql/58_interval_rows.test

-- The score of a cell where a value may have at most a share of a class, as in (alpha, k)-anonymity, in beta-likeness, and on the
-- upper side of delta-disclosure. It is linear: of the rows of a whole class it makes the sum over its cells.
--
-- In a class S that is kept, the rows of the value are at most the share of the rows of S, so that the scores add up to at most 0.
--
-- Returns: DOUBLE, in rows.
-- Example:
--   SELECT anon_helpers.largest_share_score(8, 10, 0.5) AS score;
CREATE OR REPLACE MACRO anon_helpers.largest_share_score(row_count, cell_size, largest_share) AS
row_count - largest_share * cell_size;

-- guarded: tests/sql/58_interval_rows.test

-- The score of a cell with some rows of a value where a class that has the value has it at least to a share, as on the lower side
-- of delta-disclosure; a cell without the value scores 0.
--
-- A class S that is kept lacks the value, and all of its cells score 0; or it has at least the share of its rows, and the cells of S
-- that have the value have no more rows than S.
--
-- Returns: DOUBLE, in rows.
-- Example:
--   SELECT anon_helpers.least_share_score(1, 10, 0.25) AS score;
CREATE OR REPLACE MACRO anon_helpers.least_share_score(row_count, cell_size, least_share) AS
least_share * cell_size - row_count;

-- guarded: tests/sql/58_interval_rows.test

-- The score of a cell where classes are to be within distance t of the reference (an aggregate over the values of the cell). Each
-- value has a potential; reference_potential is the mean of the potentials over the rows of the reference.
--
-- The earth mover's distance of a class is the sum, over some sets of values with a weight each, of what the share of the set in the
-- class exceeds its share in the reference by, if it does. For the equal distance the sets are the single values, with weight 1; for
-- the hierarchical one the labels of all levels below the top, with 1 over their number of levels; for the ordered one, over m
-- values, all first and all last values of the order, with 1 / (m - 1). Take any of these sets, and let the potential of a value be
-- the sum of the weights of those that have it. The mean potential of a class S less that of the reference is at most its distance,
-- which is at most t if S is kept: so the scores add up to at most 0. The sets whose share in C exceeds that in the reference score
-- most: then the mean potential of C less that of the reference is its distance.
--
-- Returns: DOUBLE, in rows.
-- Source: Li et al. 2007 for the distances; linear programming duality.
-- Example:
--   SELECT anon_helpers.distance_score_of(row_count, potential, 10, 0.5, 0.2) AS score
--   FROM (VALUES (8, 1.0), (2, 0.0)) AS counts (row_count, potential);
CREATE OR REPLACE MACRO anon_helpers.distance_score_of(row_count, potential, cell_size, reference_potential, t) AS
coalesce(sum(row_count * potential), 0e0) - (reference_potential + t) * cell_size;

-- guarded: tests/sql/58_interval_rows.test

-- By how much the scores of the cells of a class exceed 0, less 1e-11 of a row for each row of the class: more than what rounding
-- adds to a sum of scores, or takes from a price.
--
-- Returns: DOUBLE, in rows; not above 0 if nothing is proven.
-- Example:
--   SELECT anon_helpers.score_excess(3.0, 10) AS excess;
CREATE OR REPLACE MACRO anon_helpers.score_excess(score, class_size) AS
score - 1e-11 * class_size;

-- guarded: tests/sql/58_interval_rows.test

-- The rows of a class that every node between suppresses to make up for an excess, at a price of a row, where cells score some
-- sum beyond that price times their rows: the lemma above.
--
-- Returns: DOUBLE, in rows; not above 0 if nothing is proven.
-- Example:
--   SELECT anon_helpers.excess_rows(3.0, 0.5, 0.0) AS suppressed;
CREATE OR REPLACE MACRO anon_helpers.excess_rows(excess, price, beyond) AS
(excess - beyond) / price;

-- guarded: tests/sql/58_interval_rows.test

-- The largest share of a value in a class of basic beta-likeness, from its share in the reference.
--
-- Returns: DOUBLE.
-- Source: Cao and Karras 2012, basic beta-likeness.
-- Example:
--   SELECT anon_helpers.basic_likeness_share(0.1, 2) AS largest_share;
CREATE OR REPLACE MACRO anon_helpers.basic_likeness_share(reference_share, beta) AS
(1 + beta) * reference_share;

-- guarded: tests/sql/58_interval_rows.test

-- The largest share of a value in a class of enhanced beta-likeness, from its share in the reference, above 0.
--
-- Returns: DOUBLE.
-- Source: Cao and Karras 2012, enhanced beta-likeness.
-- Example:
--   SELECT anon_helpers.enhanced_likeness_share(0.1, 2) AS largest_share;
CREATE OR REPLACE MACRO anon_helpers.enhanced_likeness_share(reference_share, beta) AS
(1 + least(beta, -ln(reference_share))) * reference_share;

-- guarded: tests/sql/58_interval_rows.test

-- The largest share of a value in a class of delta-disclosure privacy, from its share in the reference; with -delta the least one
-- of a value that is in the class.
--
-- Returns: DOUBLE.
-- Source: Brickell and Shmatikov 2008, delta-disclosure privacy.
-- Example:
--   SELECT anon_helpers.disclosure_share(0.1, 1.5) AS largest_share, anon_helpers.disclosure_share(0.1, -1.5) AS least_share;
CREATE OR REPLACE MACRO anon_helpers.disclosure_share(reference_share, delta) AS
exp(delta * ln(2.0)) * reference_share;

-- Information loss. Measures ending in _of are aggregates over classes, labels or values, and the engine
-- uses them too; the table macros apply them to a source and a node.
--
-- In all of them "kept" says whether a class meets the privacy models and is published.

-- Rows in suppressed classes (an aggregate over classes).
--
-- Returns: BIGINT.
-- Example:
--   SELECT anon_helpers.suppressed_rows_of(class_size, class_size >= 2) AS suppressed FROM anon.class_sizes('visits', ['age']);
CREATE OR REPLACE MACRO anon_helpers.suppressed_rows_of(class_size, kept) AS
CAST(coalesce(sum(class_size) FILTER (WHERE NOT kept), 0) AS BIGINT);

-- Discernibility DM*, before suppression: the sum of the squares of all class sizes (an aggregate over classes).
--
-- Returns: HUGEINT, between n and n^2.
-- Source: El Emam et al. 2009; Mazzone 2019, section 4.3.
-- Example:
--   SELECT anon_helpers.dm_star_of(class_size) AS dm_star FROM anon.class_sizes('visits', ['sex']);
CREATE OR REPLACE MACRO anon_helpers.dm_star_of(class_size) AS
sum(CAST(class_size AS HUGEINT) * class_size);

-- Discernibility DM: a kept row costs the size of its class, a suppressed row the size of the table (an
-- aggregate over classes). Not monotonic in the node.
--
-- Returns: HUGEINT, between n and n^2.
-- Source: Bayardo and Agrawal 2005, equation 1.
-- Example:
--   SELECT anon_helpers.dm_of(class_size, class_size >= 2, 12) AS dm FROM anon.class_sizes('visits', ['age']);
CREATE OR REPLACE MACRO anon_helpers.dm_of(class_size, kept, row_count) AS
sum(CAST(class_size AS HUGEINT) * CASE WHEN kept THEN class_size ELSE row_count END);

-- Classification metric: the share of rows that are suppressed, or differ from the most frequent value of their class
-- (an aggregate over classes). `largest_share` is the share of that value in its class. Not monotonic in the node.
--
-- Returns: DOUBLE in [0, 1].
-- Source: Iyengar 2002, section 3.2.
-- Example:
--   SELECT anon_helpers.classification_metric_of(class_size, class_size >= 2, largest_share) AS cm
--   FROM (VALUES (4, 0.75), (1, 1.0)) AS classes (class_size, largest_share);
CREATE OR REPLACE MACRO anon_helpers.classification_metric_of(class_size, kept, largest_share) AS
sum(class_size - CASE WHEN kept THEN round(class_size * largest_share) ELSE 0 END) / sum(class_size);

-- Average equivalence class size over k; the suppressed rows are one more class, so that to suppress rows never
-- looks like a gain (an aggregate over classes). Not monotonic in the node. The average of the kept classes alone is
-- that of a table from which the others are gone, see anon.suppress.
--
-- Returns: DOUBLE; NULL without classes.
-- Source: LeFevre et al. 2006, equation C_AVG, in the form of ARX: suppressed records are one group.
-- Example:
--   SELECT anon_helpers.aecs_of(class_size, class_size >= 2, 2) AS aecs FROM anon.class_sizes('visits', ['age']);
CREATE OR REPLACE MACRO anon_helpers.aecs_of(class_size, kept, k) AS
CAST(sum(class_size) AS DOUBLE) / (count(*) FILTER (WHERE kept) + CAST(bool_or(NOT kept) AS INTEGER)) / k;

-- Non-uniform entropy loss in bits of one attribute at one level, from the number of rows of each value
-- and of the label that the value falls under (an aggregate over values). Suppression is ignored. Summed in a fixed
-- order, so that equal tables give equal sums to the last bit.
--
-- Returns: DOUBLE, at least 0.
-- Source: El Emam et al. 2009; spec -sum log2(N(value) / N(label)) over rows.
-- Example:
--   SELECT anon_helpers.entropy_loss_of(value_rows, label_rows) AS bits
--   FROM (VALUES (2, 4), (1, 4), (1, 4)) AS counts (value_rows, label_rows);
CREATE OR REPLACE MACRO anon_helpers.entropy_loss_of(value_rows, label_rows) AS
sum(value_rows * log2(label_rows / value_rows) ORDER BY value_rows ASC, label_rows ASC);

-- Information of a label in bits, from the number of its rows and the number of all rows.
--
-- Returns: DOUBLE, at least 0.
-- Example:
--   SELECT anon_helpers.label_information(3, 12) AS bits;
CREATE OR REPLACE MACRO anon_helpers.label_information(label_rows, row_count) AS
log2(row_count / label_rows);

-- Loss of one label in LM: the share of the other leaves that the label also covers, (leaves - 1) / (domain - 1).
--
-- Returns: DOUBLE in [0, 1]; 0 for a domain of one value.
-- Source: Iyengar 2002; Lee et al. 2017, equation 2.
-- Example:
--   SELECT anon_helpers.lm_share_of(10, 100) AS share;
CREATE OR REPLACE MACRO anon_helpers.lm_share_of(leaf_count, domain_size) AS
CASE WHEN domain_size > 1 THEN (leaf_count - 1) / (domain_size - 1) ELSE 0.0 END;

-- Loss of one label in NCP: the share of the domain that it covers, leaves / domain, and 0 for a single leaf.
--
-- Returns: DOUBLE in [0, 1].
-- Source: Xu et al. 2006; Lee and Chung 2020, equation 6.
-- Example:
--   SELECT anon_helpers.ncp_share_of(10, 100) AS share;
CREATE OR REPLACE MACRO anon_helpers.ncp_share_of(leaf_count, domain_size) AS
CASE WHEN leaf_count = 1 THEN 0.0 ELSE leaf_count / domain_size END;

-- guarded: tests/sql/60_quality.test

-- Loss of one label by the logarithm of its leaves, over the mean logarithm of the values of all quasi-identifiers. The mean
-- of a class's labels is the information loss of Wan et al.: the sum of ln(leaves) over the sum of ln(values).
--
-- Returns: DOUBLE, at least 0, with a mean over the quasi-identifiers of at most 1; 0 where each has one value.
-- Source: Wan et al. 2015.
-- Example:
--   SELECT anon_helpers.log_share_of(10, (ln(100) + ln(2)) / 2) AS share;
CREATE OR REPLACE MACRO anon_helpers.log_share_of(leaf_count, mean_log) AS
CASE WHEN leaf_count > 1 THEN ln(leaf_count) / mean_log ELSE 0.0 END;

-- guarded: tests/sql/60_quality.test

-- What a publisher misses of the benefit of a row: the information that its labels lose, and the loss from an attack. An
-- adversary attacks if the gain over the rows of the class is above the cost, and finds the row with 1 / rows.
--
-- Returns: DOUBLE, at least 0; the payout of the row is the benefit without it.
-- Source: Wan et al. 2015.
-- Example:
--   SELECT 1200 - anon_helpers.missing_payout_of(50, 0.25, 300, 4, 1200, 300) AS payout;
CREATE OR REPLACE MACRO anon_helpers.missing_payout_of(class_size, log_share, gain, cost, benefit, loss) AS
benefit * log_share + CASE WHEN gain > cost * class_size THEN loss / class_size ELSE 0 END;

-- guarded: tests/sql/60_quality.test

-- What a publisher misses of the benefit of all rows: of a suppressed one everything (an aggregate over classes). Not
-- monotonic in the node: attacks on larger classes stop to pay.
--
-- Returns: DOUBLE, at least 0; NULL without classes.
-- Source: Wan et al. 2015; ARX, "Publisher payout (prosecutor)".
-- Example:
--   SELECT anon_helpers.publisher_payout_of(class_size, class_size >= 2, 0.25, 300, 4, 1200, 300) AS missing
--   FROM anon.class_sizes('visits', ['age']);
CREATE OR REPLACE MACRO anon_helpers.publisher_payout_of(class_size, kept, log_share, gain, cost, benefit, loss) AS
sum(class_size * CASE
    WHEN kept THEN anon_helpers.missing_payout_of(class_size, log_share, gain, cost, benefit, loss)
    ELSE benefit
END);

-- Mean loss per row of classes whose rows each lose `share`; a suppressed row loses 1 (an aggregate over
-- classes; the row policy "real" of LM and NCP). Not monotonic in the node.
--
-- Returns: DOUBLE in [0, 1].
-- Example:
--   SELECT anon_helpers.mean_loss_of(class_size, class_size >= 2, share) AS lm
--   FROM (VALUES (3, 0.5), (1, 0.1)) AS classes (class_size, share);
CREATE OR REPLACE MACRO anon_helpers.mean_loss_of(class_size, kept, share) AS
sum(class_size * CASE WHEN kept THEN share ELSE 1.0 END) / sum(class_size);

-- What suppressed rows lose that each lose `share`; nothing for kept ones (an aggregate over classes).
--
-- Returns: DOUBLE, at least 0.
-- Example:
--   SELECT anon_helpers.suppressed_loss_of(class_size, class_size >= 2, bits) AS bits
--   FROM (VALUES (3, 0.5), (1, 4.5)) AS classes (class_size, bits);
CREATE OR REPLACE MACRO anon_helpers.suppressed_loss_of(class_size, kept, share) AS
coalesce(sum(class_size * share) FILTER (WHERE NOT kept), 0.0);

-- The losses of several attributes as one, the mean with weights that sum to 1.
--
-- Returns: DOUBLE.
-- Example:
--   SELECT anon_helpers.arithmetic_loss([0.5, 0.1], [0.75, 0.25]) AS loss;
CREATE OR REPLACE MACRO anon_helpers.arithmetic_loss(losses, weights) AS
list_sum(list_transform(
    list_zip(losses, weights), lambda anon_pair: struct_extract(anon_pair, 1) * struct_extract(anon_pair, 2)
));

-- The losses of several attributes as one: product((1 + loss)^weight) - 1, with weights that sum to 1.
--
-- Returns: DOUBLE.
-- Source: ARX, "Loss" with the aggregate function geometric mean.
-- Example:
--   SELECT anon_helpers.geometric_loss([0.5, 0.1], [0.5, 0.5]) AS loss;
CREATE OR REPLACE MACRO anon_helpers.geometric_loss(losses, weights) AS
exp(list_sum(list_transform(
    list_zip(losses, weights), lambda anon_pair: ln(1 + struct_extract(anon_pair, 1)) * struct_extract(anon_pair, 2)
))) - 1;

-- Precision loss (Prec) of a node: the mean over its quasi-identifiers of level / height. 0 at the bottom, 1
-- at the top; a taxonomy without levels above the values counts as 0.
--
-- Job: loss.
-- Returns: DOUBLE in [0, 1]. Sweeney's precision is 1 minus this.
-- Source: Sweeney 2002, section 4.3; Mazzone 2019, section 4.3.
-- Example:
--   SELECT anon.precision_loss(MAP {'age': 1, 'sex': 1}) AS prec;
CREATE OR REPLACE MACRO anon.precision_loss(node) AS (
    SELECT CASE count(*)
        WHEN len(map_keys(node)) THEN
            avg(CASE WHEN anon_height = 0 THEN 0.0 ELSE node[anon_attribute] / anon_height END)
        ELSE error('the node has a quasi-identifier without a taxonomy: see anon.taxonomy_heights')
    END
    FROM anon.taxonomy_heights() AS anon_heights (anon_attribute, anon_height, anon_value_count, anon_domain)
    WHERE list_contains(map_keys(node), anon_attribute)
);

-- Discernibility DM* of a source as it is.
--
-- Job: loss.
-- Returns: one row: dm_star HUGEINT.
-- Example:
--   FROM anon.dm_star('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon.dm_star(source, quasi_identifiers) AS TABLE
SELECT anon_helpers.dm_star_of(class_size) AS dm_star
FROM anon.class_sizes(source, quasi_identifiers);

-- Discernibility DM of a source as it is, if its classes of fewer than k rows were suppressed.
--
-- Job: loss.
-- Returns: one row: dm HUGEINT.
-- Example:
--   FROM anon.dm('visits', ['age', 'sex'], 2);
CREATE OR REPLACE MACRO anon.dm(source, quasi_identifiers, k) AS TABLE
SELECT anon_helpers.dm_of(class_size, class_size >= k, anon_rows) AS dm
FROM (
    SELECT class_size, sum(class_size) OVER () AS anon_rows
    FROM anon.class_sizes(source, quasi_identifiers)
);

-- Classification metric of a source as it is, if its classes of fewer than k rows were suppressed: the share of rows that
-- are suppressed, or differ from most of their class in a column.
--
-- Job: loss.
-- Returns: one row: classification_metric DOUBLE.
-- Source: Iyengar 2002, section 3.2.
-- Example:
--   FROM anon.classification_metric('visits', ['age', 'sex'], 'diagnosis', 2);
CREATE OR REPLACE MACRO anon.classification_metric(source, quasi_identifiers, target, k) AS TABLE
SELECT anon_helpers.classification_metric_of(class_size, class_size >= k, largest_share) AS classification_metric
FROM anon.class_diversity(source, quasi_identifiers, target);

-- Average equivalence class size of a source as it is, over k; the rows of its classes of fewer than k rows are one
-- class.
--
-- Job: loss.
-- Returns: one row: aecs DOUBLE.
-- Example:
--   FROM anon.aecs('visits', ['sex'], 2);
CREATE OR REPLACE MACRO anon.aecs(source, quasi_identifiers, k) AS TABLE
SELECT anon_helpers.aecs_of(class_size, class_size >= k, k) AS aecs
FROM anon.class_sizes(source, quasi_identifiers);

-- Non-uniform entropy loss in bits of a source generalized to a node. Suppression is ignored.
--
-- Job: loss.
-- Returns: one row: entropy DOUBLE.
-- Example:
--   FROM anon.entropy_loss('visits', MAP {'age': 1, 'sex': 0});
CREATE OR REPLACE MACRO anon.entropy_loss(source, node) AS TABLE
SELECT coalesce(anon_helpers.entropy_loss_of(anon_rows, anon_label_rows), 0.0) AS entropy
FROM (
    SELECT anon_rows, sum(anon_rows) OVER (PARTITION BY anon_attribute, anon_label) AS anon_label_rows
    FROM (
        SELECT
            anon_values.attribute AS anon_attribute,
            anon_helpers.checked_label(anon_values.attribute, node[anon_values.attribute], anon_labels.label) AS anon_label,
            anon_values.row_count AS anon_rows
        FROM anon_helpers.column_values(source, map_keys(node)) AS anon_values
        LEFT JOIN anon_helpers.node_labels(node) AS anon_labels
            ON anon_labels.attribute = anon_values.attribute AND anon_labels.value IS NOT DISTINCT FROM anon_values.value
    )
);

-- The labels of every class of a release with the labels of a node: a row per class and quasi-identifier, with the leaves under
-- the label, and the values of the quasi-identifier. Classes are numbered.
--
-- Returns: class BIGINT, class_size BIGINT, attribute VARCHAR, label VARCHAR, leaf_count BIGINT (NULL for a label that the
-- taxonomy does not have at the level), value_count BIGINT (NULL without a taxonomy).
-- Example:
--   WITH released AS (FROM anon.generalize('visits', MAP {'age': 1, 'sex': 1}))
--   FROM anon_helpers.class_labels('released', MAP {'age': 1, 'sex': 1}) ORDER BY attribute, label, class_size;
CREATE OR REPLACE MACRO anon_helpers.class_labels(release, node) AS TABLE
WITH anon_classes AS (
    SELECT anon.text_of(COLUMNS(map_keys(node))), count(*) AS anon_class_size, row_number() OVER () AS anon_class
    FROM query_table(anon_helpers.as_source(release))
    GROUP BY ALL
)
SELECT
    anon_labels.anon_class AS class,
    anon_labels.anon_class_size AS class_size,
    anon_labels.anon_attribute AS attribute,
    anon_labels.anon_label AS label,
    anon_leaves.anon_leaf_count AS leaf_count,
    anon_heights.value_count
FROM (
    FROM anon_classes UNPIVOT INCLUDE NULLS (
        anon_label FOR anon_attribute IN (COLUMNS(* EXCLUDE (anon_class, anon_class_size)))
    )
) AS anon_labels
LEFT JOIN anon.taxonomy_heights() AS anon_heights ON anon_heights.attribute = anon_labels.anon_attribute
LEFT JOIN (
    SELECT attribute, label, count(*) AS anon_leaf_count FROM anon.taxonomy WHERE level = node[attribute] GROUP BY ALL
) AS anon_leaves
    ON anon_leaves.attribute = anon_labels.anon_attribute AND anon_leaves.label IS NOT DISTINCT FROM anon_labels.anon_label;

-- Non-uniform entropy loss in bits of a source generalized to a node, where rows in classes of fewer than k lose all
-- their information, as if they were generalized to the top. Without such rows it is anon.entropy_loss.
--
-- Returns: one row: entropy DOUBLE.
-- Source: El Emam et al. 2009 for the loss; the charge for suppressed rows is ours.
-- Example:
--   FROM anon_helpers.charged_entropy_loss('visits', MAP {'age': 1, 'sex': 0}, 2);
CREATE OR REPLACE MACRO anon_helpers.charged_entropy_loss(source, node, k) AS TABLE
WITH anon_labelled AS (FROM anon.generalize(source, node)),
anon_informed AS (
    SELECT
        class_size AS anon_class_size,
        -- Every class has one label of an attribute, so that these are all rows.
        sum(class_size) OVER (PARTITION BY attribute) AS anon_row_count,
        sum(class_size) OVER (PARTITION BY attribute, label) AS anon_label_rows
    FROM anon_helpers.class_labels('anon_labelled', node)
)
SELECT anon_generalized.entropy + anon_suppressed.anon_bits AS entropy
FROM anon.entropy_loss(source, node) AS anon_generalized
CROSS JOIN (
    SELECT
        anon_helpers.suppressed_loss_of(
            anon_class_size, anon_class_size >= k, anon_helpers.label_information(anon_label_rows, anon_row_count)
        ) AS anon_bits
    FROM anon_informed
) AS anon_suppressed;

-- The loss of every label of every class at a node, in LM and in NCP: a row per class of the generalized source and
-- quasi-identifier. Classes are numbered.
--
-- Returns: class BIGINT, class_size BIGINT, attribute VARCHAR, lm_share DOUBLE, ncp_share DOUBLE.
-- Example:
--   FROM anon_helpers.label_losses('visits', MAP {'age': 1, 'sex': 1}) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.label_losses(source, node) AS TABLE
WITH anon_labelled AS (FROM anon.generalize(source, node))
SELECT
    class,
    class_size,
    attribute,
    anon_helpers.lm_share_of(coalesce(leaf_count, 1), value_count) AS lm_share,
    anon_helpers.ncp_share_of(coalesce(leaf_count, 1), value_count) AS ncp_share
FROM anon_helpers.class_labels('anon_labelled', node);

-- The loss that each row of a class bears at a node: the mean over the quasi-identifiers of the loss of their
-- labels, in LM and in NCP; a row per class of the generalized source.
--
-- Returns: class_size BIGINT, lm_share DOUBLE, ncp_share DOUBLE.
-- Example:
--   FROM anon_helpers.class_losses('visits', MAP {'age': 1, 'sex': 1}) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.class_losses(source, node) AS TABLE
SELECT any_value(class_size) AS class_size, avg(lm_share) AS lm_share, avg(ncp_share) AS ncp_share
FROM anon_helpers.label_losses(source, node)
GROUP BY class;

-- The loss of each quasi-identifier at a node, the mean over the rows of the source; rows in classes of fewer than k
-- lose 1. Combine them with weights by arithmetic_loss or geometric_loss.
--
-- Returns: attribute VARCHAR, lm DOUBLE, ncp DOUBLE, both in [0, 1].
-- Example:
--   SELECT anon_helpers.arithmetic_loss(list(lm), list(CASE attribute WHEN 'age' THEN 0.75 ELSE 0.25 END)) AS weighted_lm
--   FROM anon_helpers.attribute_losses('visits', MAP {'age': 1, 'sex': 0}, 2);
CREATE OR REPLACE MACRO anon_helpers.attribute_losses(source, node, k) AS TABLE
SELECT
    attribute,
    anon_helpers.mean_loss_of(class_size, class_size >= k, lm_share) AS lm,
    anon_helpers.mean_loss_of(class_size, class_size >= k, ncp_share) AS ncp
FROM anon_helpers.label_losses(source, node)
GROUP BY attribute;

-- Loss metric LM of a source generalized to a node; rows in classes of fewer than k lose 1.
--
-- Job: loss.
-- Returns: one row: lm DOUBLE in [0, 1].
-- Example:
--   FROM anon.lm('visits', MAP {'age': 1, 'sex': 0}, 2);
CREATE OR REPLACE MACRO anon.lm(source, node, k) AS TABLE
SELECT anon_helpers.mean_loss_of(class_size, class_size >= k, lm_share) AS lm
FROM anon_helpers.class_losses(source, node);

-- Normalized certainty penalty NCP of a source generalized to a node, divided by the number of
-- quasi-identifiers; rows in classes of fewer than k lose 1.
--
-- Job: loss.
-- Returns: one row: ncp DOUBLE in [0, 1].
-- Example:
--   FROM anon.ncp('visits', MAP {'age': 1, 'sex': 0}, 2);
CREATE OR REPLACE MACRO anon.ncp(source, node, k) AS TABLE
SELECT anon_helpers.mean_loss_of(class_size, class_size >= k, ncp_share) AS ncp
FROM anon_helpers.class_losses(source, node);

-- What a publisher may expect of each row of a release with the labels of a node, by its class, against an adversary who gains
-- `gain` from a row that is found, and pays `cost` for an attack on it. A row has the `benefit`, less the information that its
-- labels lose; if it is found it costs the `loss`.
--
-- The sum of class_size * payout is that of the release: rows that were left out have none. Classes with a payout of 0 or
-- less are not worth to be published.
--
-- The logarithms of the leaves under the labels of a class, over the mean logarithm of all values, have the information loss
-- as their mean.
--
-- Job: loss.
-- Returns: class_size BIGINT, information_loss DOUBLE, missing DOUBLE, what the payout lacks to the benefit, payout DOUBLE.
-- Source: Wan et al. 2015; ARX, "Publisher payout (prosecutor)".
-- Example:
--   WITH released AS (FROM anon.generalize('visits', MAP {'age': 1, 'sex': 0}))
--   FROM anon.publisher_payout('released', MAP {'age': 1, 'sex': 0}, 300, 4, 1200, 300);
CREATE OR REPLACE MACRO anon.publisher_payout(release, node, gain, cost, benefit, loss) AS TABLE
SELECT
    class_size,
    information_loss,
    anon_helpers.missing_payout_of(class_size, information_loss, gain, cost, benefit, loss) AS missing,
    benefit - missing AS payout
FROM (
    SELECT any_value(class_size) AS class_size, avg(anon_helpers.log_share_of(anon_leaf_count, anon_mean_log)) AS information_loss
    FROM (
        SELECT
            class,
            class_size,
            CASE
                WHEN value_count IS NULL
                    THEN error('the node has a quasi-identifier without a taxonomy: see anon.taxonomy_heights')
                WHEN leaf_count IS NULL AND label IS NOT NULL
                    THEN error('the release has labels that their taxonomy does not have at the level of the node')
                ELSE coalesce(leaf_count, 1)
            END AS anon_leaf_count,
            avg(ln(value_count)) OVER (PARTITION BY class) AS anon_mean_log
        FROM anon_helpers.class_labels(release, node)
    )
    GROUP BY class
);

-- Geometric loss metric of a source generalized to a node: product(1 + L)^(1 / q) - 1 of the losses L of its q
-- quasi-identifiers; rows in classes of fewer than k lose 1.
--
-- Job: loss.
-- Returns: one row: geometric_lm DOUBLE in [0, 1]; NULL for a table without rows.
-- Source: ARX, "Loss" with the aggregate function geometric mean.
-- Example:
--   FROM anon.geometric_lm('visits', MAP {'age': 1, 'sex': 0}, 2);
CREATE OR REPLACE MACRO anon.geometric_lm(source, node, k) AS TABLE
SELECT anon_helpers.geometric_loss(list(lm), list(anon_weight)) AS geometric_lm
FROM (SELECT lm, 1.0 / count(*) OVER () AS anon_weight FROM anon_helpers.attribute_losses(source, node, k));

-- Precision loss of a source generalized to a node: the mean over its rows, where rows in classes of fewer than k lose 1.
-- Without such rows it is anon.precision_loss.
--
-- Returns: one row: prec DOUBLE in [0, 1]; NULL for a table without rows.
-- Source: Sweeney 2002, section 4.3 for the loss; the charge for suppressed rows is ours.
-- Example:
--   FROM anon_helpers.charged_precision_loss('visits', MAP {'age': 1, 'sex': 0}, 2);
CREATE OR REPLACE MACRO anon_helpers.charged_precision_loss(source, node, k) AS TABLE
SELECT anon_helpers.mean_loss_of(anon_class_size, anon_class_size >= k, anon.precision_loss(node)) AS prec
FROM (
    SELECT COLUMNS(map_keys(node)), count(*) AS anon_class_size
    FROM anon.generalize(source, node)
    GROUP BY ALL
);

-- Precision loss of a node in which some quasi-identifiers matter more than others: the mean of level / height with
-- weights, a MAP from each quasi-identifier of the node to its weight.
--
-- Returns: DOUBLE in [0, 1].
-- Source: Mazzone 2019, section 4.4.
-- Example:
--   SELECT anon_helpers.weighted_precision_loss(MAP {'age': 1, 'sex': 1}, MAP {'age': 3, 'sex': 1}) AS prec;
CREATE OR REPLACE MACRO anon_helpers.weighted_precision_loss(node, weights) AS (
    SELECT CASE count(weights[anon_attribute])
        WHEN len(map_keys(node)) THEN
            sum(weights[anon_attribute] * CASE WHEN anon_height = 0 THEN 0.0 ELSE node[anon_attribute] / anon_height END)
            / sum(weights[anon_attribute])
        ELSE error('the node has a quasi-identifier without a taxonomy or a weight: see anon.taxonomy_heights')
    END
    FROM anon.taxonomy_heights() AS anon_heights (anon_attribute, anon_height, anon_value_count, anon_domain)
    WHERE list_contains(map_keys(node), anon_attribute)
);

-- The search in SQL: the nodes of a lattice counted by one query, the nodes that lose least, and the release of one.

-- A label of a quasi-identifier as a number of 128 bits. The code of a class is the bitwise xor of those of its labels, so
-- that the code of a label is exchanged without a look at the others. MD5 leaves no pattern: sums of plain hashes, which
-- DuckDB 1.5 combines without mixing them, are the same for (a, b) and (b, a). Two of 10^9 classes have the same code with
-- a probability below 10^-20.
--
-- Returns: UHUGEINT.
-- Example:
--   SELECT anon_helpers.label_code('sex', 'f') <> anon_helpers.label_code('age', 'f') AS differs;
CREATE OR REPLACE MACRO anon_helpers.label_code(attribute, label) AS
CAST(md5_number(concat(strlen(attribute), ':', attribute, CASE WHEN label IS NOT NULL THEN '=' || label END)) AS UHUGEINT);

-- The columns that some models look at; models are a list of structs, see anon.best_nodes_where, or NULL.
--
-- Returns: VARCHAR[].
-- Example:
--   SELECT anon_helpers.model_columns([{'model': 'distinct-l-diversity', 'column': 'diagnosis', 'l': 2}]) AS columns;
CREATE OR REPLACE MACRO anon_helpers.model_columns(models) AS
list_distinct(coalesce(CAST(json_extract_string(to_json(models), '$[*].column') AS VARCHAR[]), CAST([] AS VARCHAR[])));

-- The k of some models: the largest that one has, 1 if none has any.
--
-- Returns: BIGINT; an error without models, and for one without its column, which every class would meet.
-- Example:
--   SELECT anon_helpers.models_k([{'model': 'k-anonymity', 'k': 5}]) AS k;
CREATE OR REPLACE MACRO anon_helpers.models_k(models) AS
coalesce(
    list_max(list_transform(
        CAST(to_json(models) AS JSON[]),
        lambda anon_model: CASE
            WHEN (anon_model ->> 'column') IS NOT NULL THEN coalesce(CAST(anon_model ->> 'k' AS BIGINT), 1)
            WHEN (anon_model ->> 'model') = 'k-anonymity'
                THEN coalesce(CAST(anon_model ->> 'k' AS BIGINT), error('the model "k-anonymity" lacks k'))
            ELSE error(concat('the model "', anon_model ->> 'model', '" lacks its column'))
        END
    )),
    error('give at least one model, such as {''model'': ''k-anonymity'', ''k'': 5}')
);

-- The cells of some columns of a source, which are the rows that agree on all of them: a row a cell and column. NULL is a value.
--
-- Returns: cell BIGINT, cell_rows BIGINT, attribute VARCHAR, value VARCHAR.
-- Example:
--   SELECT attribute, value, sum(cell_rows) AS value_rows FROM anon_helpers.cell_values('visits', ['age', 'sex']) GROUP BY ALL;
CREATE OR REPLACE MACRO anon_helpers.cell_values(source, column_names) AS TABLE
WITH anon_cells AS MATERIALIZED (
    SELECT row_number() OVER () AS anon_cell, *
    FROM (
        SELECT anon.text_of(COLUMNS(anon_helpers.listed(column_names))), count(*) AS anon_cell_rows
        FROM query_table(anon_helpers.as_source(source))
        GROUP BY ALL
    )
)
SELECT anon_cell AS cell, anon_cell_rows AS cell_rows, anon_column AS attribute, anon_value AS value
FROM (
    FROM anon_cells UNPIVOT INCLUDE NULLS (
        anon_value FOR anon_column IN (COLUMNS(* EXCLUDE (anon_cell, anon_cell_rows)))
    )
);

-- Whether a class meets a model, from what node_counts_within measures of the values of its column. Numbers are compared
-- as by Python: a ratio of whole numbers exactly, another sum with a relative tolerance of 1e-9.
--
-- Returns: BOOLEAN; an error for another model, or one without its numbers.
-- Example:
--   SELECT anon_helpers.meets_model(
--       {'model': 'distinct-l-diversity', 'l': 2},
--       {
--           'size': 3, 'counts': [2, 1], 'distinct_diversity': 2, 'entropy_diversity': 1.9, 'largest_share': 0.67, 'distance': 0.1,
--           'disclosure': 0.5, 'basic_likeness': 0.2, 'enhanced_likeness': 0.2
--       }
--   ) AS meets;
CREATE OR REPLACE MACRO anon_helpers.meets_model(model, class) AS
coalesce(
    CASE to_json(model) ->> 'model'
        WHEN 'distinct-l-diversity' THEN class['distinct_diversity'] >= CAST(to_json(model) ->> 'l' AS BIGINT)
        WHEN 'alpha-k-anonymity'
            THEN class['largest_share'] <= CAST(to_json(model) ->> 'alpha' AS DOUBLE)
            AND class['size'] >= CAST(to_json(model) ->> 'k' AS BIGINT)
        WHEN 'recursive-c-l-diversity'
            -- recursive_ratio_of takes a constant l.
            THEN coalesce(
                class['counts'][1] / list_sum(class['counts'][CAST(to_json(model) ->> 'l' AS BIGINT):]), CAST('infinity' AS DOUBLE)
            ) < CAST(to_json(model) ->> 'c' AS DOUBLE)
        WHEN 'entropy-l-diversity'
            THEN class['entropy_diversity'] >= CAST(to_json(model) ->> 'l' AS DOUBLE) * (1 - 1e-9)
        WHEN 't-closeness'
            THEN CASE coalesce(to_json(model) ->> 'distance', 'equal')
                WHEN 'equal' THEN class['distance'] <= CAST(to_json(model) ->> 't' AS DOUBLE) * (1 + 1e-9)
                ELSE error('t-closeness is counted for the equal distance alone: Python searches for the others')
            END
        WHEN 'delta-disclosure' THEN class['disclosure'] < CAST(to_json(model) ->> 'delta' AS DOUBLE) * (1 - 1e-9)
        WHEN 'beta-likeness'
            THEN CASE to_json(model) ->> 'variant' WHEN 'enhanced' THEN class['enhanced_likeness'] ELSE class['basic_likeness'] END
            <= CAST(to_json(model) ->> 'beta' AS DOUBLE) * (1 + 1e-9)
        ELSE error(concat(
            'no model "', to_json(model) ->> 'model', '" is counted here with a column: take distinct-l-diversity, entropy-l-diversity, '
            'recursive-c-l-diversity, alpha-k-anonymity, t-closeness, beta-likeness or delta-disclosure'
        ))
    END,
    error(concat('the model "', to_json(model) ->> 'model', '" lacks a number'))
);

-- How many of some rows may be suppressed: a share of them, taken as the decimal that it is written as, and rounded down.
--
-- Returns: BIGINT; an error for a share that is not from 0 to 1.
-- Example:
--   SELECT anon_helpers.allowed_rows(0.05, 119) AS allowed_rows;
CREATE OR REPLACE MACRO anon_helpers.allowed_rows(suppression_limit, row_count) AS
CASE
    WHEN suppression_limit BETWEEN 0 AND 1
        THEN CAST(floor(CAST(anon.text_of(suppression_limit) AS DECIMAL(38, 20)) * row_count) AS BIGINT)
    ELSE error('a suppression limit is a share of the rows, from 0 to 1')
END;

-- The nodes of a lattice with their classes, counted, and what they lose. Classes are kept that have k rows and meet the
-- models, if any are given; see anon.best_nodes_where. Every node is counted if the suppression limit is NULL; otherwise nodes
-- that leave a greater share of the rows in classes of fewer than k may be missing.
--
-- How it goes. Rows are read once and counted by cells. The code of a cell is that of its values, see label_code. One
-- quasi-identifier after the other, that of most values first, gets each of its levels: the code of the label takes the
-- place of that of the value, and classes with the same code are counted as one. So a class is a sum of classes, which are
-- far fewer than the rows. The labels alone, without the values of the quasi-identifiers that are left, make larger classes;
-- where these are too small for too many rows, no levels of the others help, and these levels are given up. A node has a
-- number, whose digits are its levels. The classes of all levels that were not given up are in memory. The columns of models
-- take part in the codes, and get no level: at the end a class has a row for each combination of their values.
--
-- Returns: as anon.node_counts, with row_count BIGINT, the rows of the source.
-- Source: Samarati 2001, section 4, for the lattice; LeFevre et al. 2005 (Incognito), subset property, for what is given up.
-- Example:
--   SELECT node, suppressed_rows, lm
--   FROM anon_helpers.node_counts_within('visits', ['age', 'sex'], NULL, 2, 0.3) ORDER BY lm, node;
CREATE OR REPLACE MACRO anon_helpers.node_counts_within(source, quasi_identifiers, models, k, suppression_limit) AS TABLE
WITH RECURSIVE anon_cell_values AS MATERIALIZED (
    SELECT
        anon_cell,
        anon_cell_rows,
        CASE
            WHEN list_contains(quasi_identifiers, anon_column) THEN anon_column
            WHEN list_contains(anon_helpers.model_columns(models), anon_column) THEN NULL
            ELSE error(concat('a column is called "', anon_column, '": spell it so among the quasi-identifiers'))
        END AS anon_attribute,
        anon_column,
        anon_value
    FROM anon_helpers.cell_values(source, anon_helpers.listed(quasi_identifiers) || anon_helpers.model_columns(models))
        AS anon_cells (anon_cell, anon_cell_rows, anon_column, anon_value)
),
anon_values AS (
    SELECT
        anon_attribute,
        anon_value,
        sum(anon_cell_rows) AS anon_value_rows,
        sum(sum(anon_cell_rows)) OVER (PARTITION BY anon_attribute) AS anon_row_count,
        count(*) OVER (PARTITION BY anon_attribute) AS anon_value_count
    FROM anon_cell_values
    WHERE anon_attribute IS NOT NULL
    GROUP BY anon_attribute, anon_value
),
anon_labels AS MATERIALIZED (
    SELECT
        anon_values.*,
        dense_rank() OVER (ORDER BY anon_value_count DESC, anon_attribute ASC) AS anon_place,
        anon_heights.height AS anon_height,
        anon_heights.value_count AS anon_domain_size,
        anon_taxonomy.level AS anon_level,
        anon_taxonomy.leaf_count AS anon_leaf_count,
        count(*) OVER (PARTITION BY anon_attribute, anon_value) AS anon_label_count,
        count(DISTINCT anon_taxonomy.level) OVER (PARTITION BY anon_attribute, anon_value) AS anon_level_count,
        bool_or(anon_taxonomy.label IS NULL AND anon_value IS NOT NULL)
            OVER (PARTITION BY anon_attribute, anon_value) AS anon_lacks_label,
        sum(anon_value_rows) OVER (PARTITION BY anon_attribute, anon_taxonomy.level, anon_taxonomy.label) AS anon_label_rows,
        anon_helpers.label_code(anon_attribute, anon_value) AS anon_value_code,
        anon_helpers.label_code(anon_attribute, anon_taxonomy.label) AS anon_label_code
    FROM anon_values
    LEFT JOIN anon.taxonomy_heights() AS anon_heights ON anon_heights.attribute = anon_attribute
    LEFT JOIN anon_helpers.taxonomy_labels(quasi_identifiers) AS anon_taxonomy
        ON anon_taxonomy.attribute = anon_attribute
        AND anon_taxonomy.value IS NOT DISTINCT FROM anon_value
),
anon_lattice AS MATERIALIZED (
    SELECT
        product(anon_height + 1) AS anon_node_count,
        any_value(anon_row_count) AS anon_row_count,
        CASE
            WHEN suppression_limit IS NOT NULL THEN anon_helpers.allowed_rows(suppression_limit, any_value(anon_row_count))
        END AS anon_allowed_rows
    FROM (SELECT DISTINCT anon_attribute, anon_height, anon_row_count FROM anon_labels)
),
-- The values of each cell by their codes, and what each level puts in the place of a value.
anon_cell_codes AS MATERIALIZED (
    SELECT CAST(anon_cell AS UINTEGER) AS anon_cell, anon_cell_rows, anon_place, anon_value_code
    FROM anon_cell_values
    INNER JOIN (SELECT DISTINCT anon_attribute, anon_value, anon_place, anon_value_code FROM anon_labels) AS anon_coded
        ON anon_coded.anon_attribute = anon_cell_values.anon_attribute
        AND anon_coded.anon_value IS NOT DISTINCT FROM anon_cell_values.anon_value
),
-- The values of the columns of models stay what they are, in the place of a quasi-identifier that gets no level.
anon_model_codes AS MATERIALIZED (
    SELECT
        CAST(anon_cell AS UINTEGER) AS anon_cell,
        anon_column,
        anon_value,
        anon_helpers.label_code(anon_column, anon_value) AS anon_value_code,
        sum(anon_cell_rows) OVER (PARTITION BY anon_column, anon_value)
        / sum(anon_cell_rows) OVER (PARTITION BY anon_column) AS anon_reference_share
    FROM anon_cell_values
    WHERE anon_attribute IS NULL
),
anon_steps AS MATERIALIZED (
    SELECT
        anon_value_code,
        anon_height,
        CASE
            WHEN anon_label_count = anon_height + 1 AND anon_level_count = anon_label_count AND NOT anon_lacks_label
                THEN anon_level
            WHEN anon_height IS NULL
                THEN error(concat(
                    'attribute "', anon_attribute, '" has no taxonomy: insert the rows of anon.flat_taxonomy, interval_taxonomy, ',
                    'prefix_taxonomy, date_taxonomy or hierarchy_file into anon.taxonomy'
                ))
            ELSE error(concat(
                'attribute "', anon_attribute, '" has a value without one label at each level: ',
                'see anon.unmapped_values and anon.malformed_taxonomies'
            ))
        END AS anon_level,
        anon_label_code,
        anon_helpers.lm_share_of(anon_leaf_count, anon_domain_size) AS anon_lm,
        anon_helpers.ncp_share_of(anon_leaf_count, anon_domain_size) AS anon_ncp,
        anon_helpers.label_information(anon_label_rows, anon_row_count) AS anon_information
    FROM anon_labels
),
anon_classes AS (
    SELECT
        CASE
            WHEN anon_helpers.checked_k(k) IS NULL THEN NULL
            WHEN len(list_distinct(quasi_identifiers)) < len(quasi_identifiers)
                THEN error('a quasi-identifier is listed twice')
            WHEN (SELECT anon_node_count FROM anon_lattice) > 100000 THEN error(concat(
                'the lattice has ', format('{:,}', CAST((SELECT anon_node_count FROM anon_lattice) AS HUGEINT)),
                ' nodes, and no more than 100,000 are counted: take fewer quasi-identifiers or levels'
            ))
            ELSE CAST(0 AS UTINYINT)
        END AS anon_depth,
        -- Small types: there are many classes. Labels that are taken for the same give up fewer levels, no more.
        CAST(0 AS UINTEGER) AS anon_number,
        CAST(0 AS UBIGINT) AS anon_labels_code,
        bit_xor(anon_value_code) AS anon_code,
        anon_cell,
        CAST(any_value(anon_cell_rows) AS BIGINT) AS anon_class_size,
        CAST(0 AS DOUBLE) AS anon_lm,
        CAST(0 AS DOUBLE) AS anon_ncp,
        CAST(0 AS DOUBLE) AS anon_information
    FROM (
        SELECT anon_cell, anon_cell_rows, anon_value_code FROM anon_cell_codes
        UNION ALL
        SELECT anon_cell, NULL, anon_value_code FROM anon_model_codes
    )
    GROUP BY anon_cell
    UNION ALL
    SELECT
        CAST(anon_open.anon_depth + 1 AS UTINYINT) AS anon_next_depth,
        CAST(anon_open.anon_number * (anon_steps.anon_height + 1) + anon_steps.anon_level AS UINTEGER) AS anon_next_number,
        xor(anon_open.anon_labels_code, CAST(anon_steps.anon_label_code >> 64 AS UBIGINT)) AS anon_next_labels_code,
        xor(xor(anon_open.anon_code, anon_steps.anon_value_code), anon_steps.anon_label_code) AS anon_next_code,
        min(anon_open.anon_cell),
        CAST(sum(anon_open.anon_class_size) AS BIGINT),
        anon_open.anon_lm + anon_steps.anon_lm AS anon_next_lm,
        anon_open.anon_ncp + anon_steps.anon_ncp AS anon_next_ncp,
        anon_open.anon_information + anon_steps.anon_information AS anon_next_information
    FROM (
        FROM anon_classes
        WHERE suppression_limit IS NULL
        UNION ALL
        FROM anon_classes
        WHERE anon_number IN (
            SELECT anon_number
            FROM (
                SELECT anon_number, sum(anon_class_size) AS anon_size
                FROM anon_classes
                WHERE suppression_limit IS NOT NULL
                GROUP BY anon_number, anon_labels_code
            )
            GROUP BY anon_number
            HAVING anon_helpers.suppressed_rows_of(anon_size, anon_size >= k)
                <= (SELECT anon_allowed_rows FROM anon_lattice)
        )
    ) AS anon_open
    INNER JOIN anon_cell_codes
        ON anon_cell_codes.anon_cell = anon_open.anon_cell AND anon_cell_codes.anon_place = anon_open.anon_depth + 1
    INNER JOIN anon_steps ON anon_steps.anon_value_code = anon_cell_codes.anon_value_code
    -- Number and code make the class, and all of these follow from them; to group by them is faster than to pick any value.
    GROUP BY
        anon_next_depth, anon_next_number, anon_next_labels_code, anon_next_code, anon_next_lm, anon_next_ncp,
        anon_next_information
),
anon_levels AS (
    SELECT
        anon_place,
        any_value(anon_attribute) AS anon_attribute,
        any_value(anon_height) AS anon_height,
        anon_level,
        CASE WHEN any_value(anon_height) = 0 THEN 0.0 ELSE anon_level / any_value(anon_height) END AS anon_prec,
        anon_helpers.entropy_loss_of(anon_value_rows, anon_label_rows) AS anon_entropy
    FROM anon_labels
    GROUP BY anon_place, anon_level
),
anon_nodes AS (
    SELECT
        CAST(0 AS BIGINT) AS anon_depth,
        CAST(0 AS BIGINT) AS anon_number,
        map(CAST([] AS VARCHAR[]), CAST([] AS INTEGER[])) AS anon_node,
        CAST(0 AS DOUBLE) AS anon_prec,
        CAST(0 AS DOUBLE) AS anon_entropy
    UNION ALL
    SELECT
        anon_levels.anon_place,
        anon_nodes.anon_number * (anon_levels.anon_height + 1) + anon_levels.anon_level,
        map_concat(anon_nodes.anon_node, MAP {anon_levels.anon_attribute: anon_levels.anon_level}),
        anon_nodes.anon_prec + anon_levels.anon_prec,
        anon_nodes.anon_entropy + anon_levels.anon_entropy
    FROM anon_nodes
    INNER JOIN anon_levels ON anon_levels.anon_place = anon_nodes.anon_depth + 1
),
-- A class is kept if it has k rows, and meets the models: each is held against the counts of the values of its column.
anon_models AS MATERIALIZED (
    SELECT unnest(CAST(to_json(models) AS JSON[])) AS anon_model
),
anon_class_values AS (
    SELECT
        anon_number,
        anon_class,
        anon_column,
        anon_value,
        any_value(anon_reference_share) AS anon_reference_share,
        sum(anon_class_size) AS anon_rows,
        sum(sum(anon_class_size)) OVER (PARTITION BY anon_number, anon_class, anon_column) AS anon_size,
        any_value(anon_lm) AS anon_lm,
        any_value(anon_ncp) AS anon_ncp,
        any_value(anon_information) AS anon_information
    FROM (
        SELECT anon_classes.*, xor(anon_code, anon_all_values_code) AS anon_class
        FROM anon_classes
        INNER JOIN (
            SELECT anon_cell, bit_xor(anon_value_code) AS anon_all_values_code FROM anon_model_codes GROUP BY anon_cell
        ) AS anon_cell_models ON anon_cell_models.anon_cell = anon_classes.anon_cell
        WHERE anon_depth = len(quasi_identifiers)
    ) AS anon_valued
    INNER JOIN anon_model_codes ON anon_model_codes.anon_cell = anon_valued.anon_cell
    GROUP BY anon_number, anon_class, anon_column, anon_value
),
anon_judged AS (
    SELECT anon_number, anon_class_size, anon_class_size >= k AS anon_kept, anon_lm, anon_ncp, anon_information
    FROM anon_classes
    WHERE anon_depth = len(quasi_identifiers) AND len(anon_helpers.model_columns(models)) = 0
    UNION ALL
    SELECT
        anon_number,
        any_value(anon_size),
        any_value(anon_size) >= k AND bool_and(anon_helpers.meets_model(anon_model, anon_measures)),
        any_value(anon_lm),
        any_value(anon_ncp),
        any_value(anon_information)
    FROM (
        SELECT
            anon_number,
            anon_class,
            anon_column,
            CAST(any_value(anon_size) AS BIGINT) AS anon_size,
            {
                'size': any_value(anon_size),
                'counts': list(anon_rows ORDER BY anon_rows DESC),
                'distinct_diversity': anon_helpers.distinct_diversity_of(anon_rows),
                'entropy_diversity': anon_helpers.entropy_diversity_of(anon_rows),
                'largest_share': anon_helpers.largest_share_of(anon_rows),
                'distance': anon_helpers.equal_distance_of(anon_rows, anon_size, anon_reference_share),
                'disclosure': anon_helpers.disclosure_of(anon_rows, anon_reference_share),
                'basic_likeness': anon_helpers.basic_likeness_of(anon_rows, anon_reference_share),
                'enhanced_likeness': anon_helpers.enhanced_likeness_of(anon_rows, anon_reference_share)
            } AS anon_measures,
            any_value(anon_lm) AS anon_lm,
            any_value(anon_ncp) AS anon_ncp,
            any_value(anon_information) AS anon_information
        FROM anon_class_values
        GROUP BY anon_number, anon_class, anon_column
    ) AS anon_measured
    INNER JOIN anon_models ON (anon_model ->> 'column') = anon_column
    WHERE len(anon_helpers.model_columns(models)) > 0
    GROUP BY anon_number, anon_class
),
anon_counts AS (
    SELECT
        anon_number,
        count(*) AS anon_class_count,
        count(*) FILTER (WHERE anon_kept) AS anon_kept_class_count,
        anon_helpers.suppressed_rows_of(anon_class_size, anon_kept) AS anon_suppressed_rows,
        min(anon_class_size) AS anon_smallest_class,
        anon_helpers.mean_loss_of(anon_class_size, anon_kept, anon_lm / len(quasi_identifiers)) AS anon_lm,
        anon_helpers.mean_loss_of(anon_class_size, anon_kept, anon_ncp / len(quasi_identifiers)) AS anon_ncp,
        anon_helpers.suppressed_loss_of(anon_class_size, anon_kept, anon_information) AS anon_suppressed_information,
        anon_helpers.dm_of(anon_class_size, anon_kept, (SELECT anon_row_count FROM anon_lattice)) AS anon_dm,
        anon_helpers.aecs_of(anon_class_size, anon_kept, k) AS anon_aecs
    FROM anon_judged
    GROUP BY anon_number
)
SELECT
    map(quasi_identifiers, list_transform(quasi_identifiers, lambda anon_name: anon_node[anon_name])) AS node,
    CAST(list_sum(map_values(anon_node)) AS INTEGER) AS height,
    anon_class_count AS class_count,
    anon_kept_class_count AS kept_class_count,
    anon_suppressed_rows AS suppressed_rows,
    anon_smallest_class AS smallest_class,
    anon_lm AS lm,
    anon_ncp AS ncp,
    anon_prec / len(quasi_identifiers) AS prec,
    anon_entropy AS entropy,
    anon_entropy + anon_suppressed_information AS charged_entropy,
    anon_dm AS dm,
    anon_aecs AS aecs,
    CAST((SELECT anon_row_count FROM anon_lattice) AS BIGINT) AS row_count
FROM anon_counts
INNER JOIN anon_nodes ON anon_nodes.anon_number = anon_counts.anon_number
WHERE anon_nodes.anon_depth = len(quasi_identifiers);

-- Every node of the lattice of some quasi-identifiers with its classes, counted, and what it loses if its classes of fewer
-- than k rows are suppressed. Losses are as of anon.lm, anon.ncp, charged_precision_loss without suppression,
-- anon.entropy_loss, charged_entropy_loss, anon.dm and anon.aecs.
--
-- Job: search.
-- Returns: node MAP(VARCHAR, INTEGER), height INTEGER, class_count BIGINT, kept_class_count BIGINT, suppressed_rows BIGINT,
-- smallest_class BIGINT, lm DOUBLE, ncp DOUBLE, prec DOUBLE, entropy DOUBLE, charged_entropy DOUBLE, dm HUGEINT, aecs DOUBLE;
-- no row for a source without rows.
-- Source: Samarati 2001, section 4; Mazzone 2019, section 4.3.
-- Example:
--   SELECT node, class_count, suppressed_rows, lm FROM anon.node_counts('visits', ['age', 'sex'], 2) ORDER BY lm, node;
CREATE OR REPLACE MACRO anon.node_counts(source, quasi_identifiers, k) AS TABLE
SELECT * EXCLUDE (row_count) FROM anon_helpers.node_counts_within(source, quasi_identifiers, NULL, k, NULL);

-- The nodes of node_counts_within that suppress at most a share of the rows, and not all of them, in the order of their
-- loss; see anon.best_nodes.
--
-- Returns: as anon.best_nodes.
-- Example:
--   SELECT rank, node, lm FROM anon_helpers.ranked_nodes('visits', ['age', 'sex'], NULL, 2, 0.25) LIMIT 3;
CREATE OR REPLACE MACRO anon_helpers.ranked_nodes(source, quasi_identifiers, models, k, suppression_limit) AS TABLE
WITH anon_found AS (
    -- Sums of the same numbers in another order differ in their last digits.
    SELECT lm - lag(lm) OVER (ORDER BY lm ASC) > 1e-12 AS anon_loses_more, *
    FROM anon_helpers.node_counts_within(source, quasi_identifiers, models, k, suppression_limit)
    WHERE suppressed_rows <= anon_helpers.allowed_rows(suppression_limit, row_count) AND kept_class_count > 0
)
SELECT
    1 + count(*) FILTER (WHERE anon_loses_more) OVER (ORDER BY lm ASC) AS rank,
    * EXCLUDE (anon_loses_more, row_count)
FROM anon_found
ORDER BY rank ASC, round(entropy, 6) ASC, suppressed_rows ASC, height ASC, map_values(node) ASC;

-- The nodes that leave at most a share of the rows of a source in classes of fewer than k, and not all of them; first the
-- one to publish, which loses least in LM. Nodes of one rank lose the same: they stand in the order of their entropy,
-- suppressed rows, height and levels.
--
-- Job: search.
-- Returns: rank BIGINT, and the columns of anon.node_counts, in order; no row if no node satisfies.
-- Source: Iyengar 2002 for LM; El Emam et al. 2009 for entropy as what decides among nodes that lose the same.
-- Example:
--   SELECT rank, node, suppressed_rows, lm FROM anon.best_nodes('visits', ['age', 'sex'], 2, 0.25) LIMIT 3;
CREATE OR REPLACE MACRO anon.best_nodes(source, quasi_identifiers, k, suppression_limit) AS TABLE
FROM anon_helpers.ranked_nodes(source, quasi_identifiers, NULL, k, suppression_limit);

-- The nodes that leave at most a share of the rows of a source in classes that do not meet some models, ranked as by
-- anon.best_nodes. Models are a list of structs with the names of a policy: k-anonymity with k, and of a column
-- distinct-l-diversity and entropy-l-diversity with l, recursive-c-l-diversity with c and l, alpha-k-anonymity with alpha and k,
-- t-closeness with t (all values equally far apart), delta-disclosure with delta, beta-likeness with beta and its variant. The
-- distributions that the last three compare with are those of the source. NULL is a value.
--
-- Job: search.
-- Returns: as anon.best_nodes.
-- Source: those of the macros that measure the models, such as anon.distinct_l_diversity.
-- Example:
--   SELECT rank, node, suppressed_rows FROM anon.best_nodes_where(
--       'visits', ['age', 'sex'], [{'model': 'k-anonymity', 'k': 2}, {'model': 'distinct-l-diversity', 'column': 'diagnosis', 'l': 2}], 0.25
--   ) LIMIT 3;
CREATE OR REPLACE MACRO anon.best_nodes_where(source, quasi_identifiers, models, suppression_limit) AS TABLE
FROM anon_helpers.ranked_nodes(
    source,
    quasi_identifiers,
    models,
    anon_helpers.models_k(models),
    suppression_limit
);

-- A release of a source: its rows at the best node, without those in classes of fewer than k, in the order of their values.
-- Identifiers and other columns that recipients must not have are left to the caller: SELECT * EXCLUDE (name, ssn).
--
-- Where no node satisfies the limit, it is an error. k-anonymity is all that holds of the release; see anon.best_nodes for
-- what was chosen, and anon.k_anonymity for what it attains.
--
-- Job: release.
-- Returns: the quasi-identifiers as labels, VARCHAR, and the other columns as they are.
-- Example:
--   SELECT * EXCLUDE (id) FROM anon.release('visits', ['age', 'sex'], 2, 0.25);
CREATE OR REPLACE MACRO anon.release(source, quasi_identifiers, k, suppression_limit) AS TABLE
WITH anon_best AS MATERIALIZED (
    SELECT coalesce(
        first(node),
        error(
            'no node leaves so few rows in classes of fewer than k, or there are no rows: take a smaller k or a larger '
            'suppression limit'
        )
    ) AS anon_node
    FROM (FROM anon.best_nodes(source, quasi_identifiers, k, suppression_limit) LIMIT 1)
),
-- OFFSET 0 keeps DuckDB 1.5 from looking through to a CSV file, where it fails to plan what follows.
anon_source AS (
    FROM query_table(anon_helpers.as_source(source)) OFFSET 0
),
anon_generalized AS (
    FROM anon.generalize_columns('anon_source', quasi_identifiers, (SELECT anon_node FROM anon_best))
)
FROM anon.suppress('anon_generalized', quasi_identifiers, k)
ORDER BY ALL ASC;

-- A release of a source by local recoding: every class has labels of its own, so that rare rows coarsen nobody else. Where all
-- rows stay, it loses a fourth of what anon.release does on the demo's hospital, and a tenth on Adult with 9 quasi-identifiers.
-- Labels of several levels stand beside each other: [30, 40) and 34. Identifiers are left to the caller, as by anon.release.
-- k-anonymity is all that holds of it: whoever knows how it was made learns that the finer classes of a coarse one were small.
--
-- How it goes. Nodes are tried in the order of their loss: each takes those of the remaining rows that are in classes of k or
-- more there. A node is worth a try if it leaves fewer rows in small classes than every node that loses less; of these, and the
-- top, `rounds` are tried, evenly spaced, the top last. Fewer than k rows remain, and are left out. At the end each class shows,
-- of each quasi-identifier, the finest level at which its rows have one label; classes of the same labels are one class.
--
-- Job: release.
-- Returns: the quasi-identifiers as labels, VARCHAR, and the other columns as they are; an error for fewer than k rows.
-- Source: ours; the nodes of ARX's iterated local recoding (Prasser et al. 2020) without a search for each.
-- Example:
--   SELECT * EXCLUDE (id) FROM anon.local_recoding('visits', ['age', 'sex'], 2, 20);
CREATE OR REPLACE MACRO anon.local_recoding(source, quasi_identifiers, k, rounds) AS TABLE
WITH RECURSIVE anon_cell_values AS MATERIALIZED (
    SELECT *, anon_helpers.label_code(anon_attribute, anon_value) AS anon_value_code
    FROM anon_helpers.cell_values(source, quasi_identifiers)
        AS anon_cells (anon_cell, anon_cell_rows, anon_attribute, anon_value)
),
-- The labels of each value at all levels, and what its rows lose by them.
anon_labels AS MATERIALIZED (
    SELECT
        anon_values.anon_attribute,
        anon_values.anon_value_code,
        anon_taxonomy.level AS anon_level,
        anon_taxonomy.label AS anon_label,
        anon_helpers.label_code(anon_values.anon_attribute, anon_taxonomy.label) AS anon_label_code,
        anon_values.anon_value_rows * anon_helpers.ncp_share_of(anon_taxonomy.leaf_count, anon_heights.value_count) AS anon_loss
    FROM (
        SELECT anon_attribute, anon_value, anon_value_code, sum(anon_cell_rows) AS anon_value_rows
        FROM anon_cell_values
        GROUP BY anon_attribute, anon_value, anon_value_code
    ) AS anon_values
    INNER JOIN anon.taxonomy_heights() AS anon_heights ON anon_heights.attribute = anon_values.anon_attribute
    INNER JOIN anon_helpers.taxonomy_labels(quasi_identifiers) AS anon_taxonomy
        ON anon_taxonomy.attribute = anon_values.anon_attribute
        AND anon_taxonomy.value IS NOT DISTINCT FROM anon_values.anon_value
),
anon_nodes AS (
    SELECT anon_node, anon_height, anon_suppressed_rows, sum(anon_losses.anon_loss) AS anon_loss
    FROM (
        SELECT
            node AS anon_node,
            height AS anon_height,
            suppressed_rows AS anon_suppressed_rows,
            unnest(map_entries(node)) AS anon_level
        FROM anon.node_counts(source, quasi_identifiers, k)
        WHERE kept_class_count > 0
    ) AS anon_counted
    INNER JOIN (
        SELECT anon_attribute, anon_level, sum(anon_loss) AS anon_loss FROM anon_labels GROUP BY anon_attribute, anon_level
    ) AS anon_losses
        ON anon_losses.anon_attribute = anon_counted.anon_level['key']
        AND anon_losses.anon_level = anon_counted.anon_level['value']
    GROUP BY anon_node, anon_height, anon_suppressed_rows
),
anon_rounds AS MATERIALIZED (
    SELECT anon_node, row_number() OVER (ORDER BY anon_place ASC) AS anon_round
    FROM (
        SELECT anon_node, row_number() OVER (ORDER BY anon_order ASC) AS anon_place, count(*) OVER () AS anon_count
        FROM (
            SELECT
                *,
                row_number() OVER anon_by_loss AS anon_order,
                anon_height = max(anon_height) OVER () AS anon_is_top,
                min(anon_suppressed_rows) OVER (anon_by_loss ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
                    AS anon_fewest
            FROM anon_nodes
            WINDOW anon_by_loss AS (ORDER BY round(anon_loss, 6) ASC, anon_suppressed_rows ASC, map_values(anon_node) ASC)
        )
        WHERE anon_fewest IS NULL OR anon_suppressed_rows < anon_fewest OR anon_is_top
    )
    WHERE CASE
        WHEN rounds >= 1 THEN anon_place * rounds // anon_count > (anon_place - 1) * rounds // anon_count
        ELSE error('rounds is a number of nodes, 1 or more')
    END
),
-- What each node puts in the place of a value.
anon_steps AS MATERIALIZED (
    SELECT anon_opened.anon_round, anon_labels.anon_value_code, anon_labels.anon_label_code
    FROM (SELECT anon_round, unnest(map_entries(anon_node)) AS anon_level FROM anon_rounds) AS anon_opened
    INNER JOIN anon_labels
        ON anon_labels.anon_attribute = anon_opened.anon_level['key']
        AND anon_labels.anon_level = anon_opened.anon_level['value']
),
anon_peeled AS (
    SELECT
        CAST(0 AS BIGINT) AS anon_round,
        anon_cell,
        any_value(anon_cell_rows) AS anon_cell_rows,
        CAST(0 AS UHUGEINT) AS anon_class,
        FALSE AS anon_is_taken
    FROM anon_cell_values
    GROUP BY anon_cell
    UNION ALL
    SELECT
        anon_round,
        anon_cell,
        anon_cell_rows,
        anon_class,
        sum(anon_cell_rows) OVER (PARTITION BY anon_class) >= k
    FROM (
        SELECT
            anon_steps.anon_round,
            anon_left.anon_cell,
            any_value(anon_left.anon_cell_rows) AS anon_cell_rows,
            bit_xor(anon_steps.anon_label_code) AS anon_class
        FROM anon_peeled AS anon_left
        INNER JOIN anon_cell_values ON anon_cell_values.anon_cell = anon_left.anon_cell
        INNER JOIN anon_steps
            ON anon_steps.anon_round = anon_left.anon_round + 1
            AND anon_steps.anon_value_code = anon_cell_values.anon_value_code
        WHERE NOT anon_left.anon_is_taken
        GROUP BY anon_steps.anon_round, anon_left.anon_cell
    ) AS anon_at_node
),
anon_taken AS MATERIALIZED (
    SELECT anon_round, anon_class, anon_cell FROM anon_peeled WHERE anon_is_taken
),
anon_class_labels AS (
    SELECT anon_round, anon_class, map(list(anon_attribute), list(anon_label)) AS anon_labels
    FROM (
        SELECT anon_round, anon_class, anon_attribute, first(anon_label ORDER BY anon_level ASC) AS anon_label
        FROM (
            SELECT
                anon_taken.anon_round,
                anon_taken.anon_class,
                anon_labels.anon_attribute,
                anon_labels.anon_level,
                any_value(anon_labels.anon_label) AS anon_label
            FROM anon_taken
            INNER JOIN anon_cell_values ON anon_cell_values.anon_cell = anon_taken.anon_cell
            INNER JOIN anon_labels ON anon_labels.anon_value_code = anon_cell_values.anon_value_code
            GROUP BY anon_taken.anon_round, anon_taken.anon_class, anon_labels.anon_attribute, anon_labels.anon_level
            HAVING min(anon_labels.anon_label_code) = max(anon_labels.anon_label_code)
        )
        GROUP BY anon_round, anon_class, anon_attribute
    )
    GROUP BY anon_round, anon_class
),
anon_published AS MATERIALIZED (
    SELECT anon_cell_codes.anon_cell_code, anon_class_labels.anon_labels
    FROM anon_taken
    INNER JOIN anon_class_labels
        ON anon_class_labels.anon_round = anon_taken.anon_round AND anon_class_labels.anon_class = anon_taken.anon_class
    INNER JOIN (
        SELECT anon_cell, bit_xor(anon_value_code) AS anon_cell_code FROM anon_cell_values GROUP BY anon_cell
    ) AS anon_cell_codes ON anon_cell_codes.anon_cell = anon_taken.anon_cell
)
SELECT * EXCLUDE (anon_other)
FROM (
    SELECT
        anon_labels[alias(COLUMNS(anon_helpers.listed(quasi_identifiers)))],
        COLUMNS(lambda anon_column: NOT list_contains(
            anon_helpers.listed(quasi_identifiers) || ['anon_cell_code', 'anon_labels', 'anon_last_round'], anon_column
        ))
    FROM (
        SELECT *, list_aggregate([*COLUMNS(anon_helpers.listed(quasi_identifiers))], 'bit_xor') AS anon_cell_code
        FROM (
            SELECT
                anon_helpers.label_code(
                    alias(COLUMNS(anon_helpers.listed(quasi_identifiers))),
                    anon.text_of(COLUMNS(anon_helpers.listed(quasi_identifiers)))
                ),
                COLUMNS(lambda anon_column: NOT list_contains(anon_helpers.listed(quasi_identifiers), anon_column))
            -- COLUMNS that match nothing are an error: there is always one column beside the quasi-identifiers.
            FROM (SELECT *, NULL AS anon_other FROM query_table(anon_helpers.as_source(source)))
        )
    ) AS anon_rows
    INNER JOIN anon_published USING (anon_cell_code)
    CROSS JOIN (
        SELECT coalesce(max(anon_round), error('there are fewer rows than k, or none: take a smaller k')) AS anon_last_round
        FROM anon_rounds
    ) AS anon_checked
    WHERE anon_last_round > 0
)
ORDER BY ALL ASC;

-- Comparison of a released table with its original. Every macro here reads the original: the results are for those who
-- may see that table, and publishing them beside a differentially private release would undo the promise of the release.
--
-- A masked row has * in every quasi-identifier. Labels and sensitive values are compared as text, and NULL is a value.

-- The values that each label of each taxonomy may stand for, at whatever level a released table shows it. A label that
-- stands at several levels is read at the highest of them, and * as the whole domain where no level has it.
--
-- Returns: attribute VARCHAR, label VARCHAR, value VARCHAR; a row per label and value under it.
-- Example:
--   SELECT label, count(*) AS leaf_count FROM anon_helpers.label_values() WHERE attribute = 'sex' GROUP BY label ORDER BY label;
CREATE OR REPLACE MACRO anon_helpers.label_values() AS TABLE
SELECT anon_attribute AS attribute, anon_label AS label, anon_value AS value
FROM (
    SELECT *, max(anon_level) OVER (PARTITION BY anon_attribute, anon_label) AS anon_highest
    FROM (
        SELECT anon_attribute, anon_level, anon_value, anon_label
        FROM anon.taxonomy AS anon_taxonomy (anon_attribute, anon_level, anon_value, anon_label)
        UNION ALL
        SELECT anon_attribute, -1 AS anon_level, anon_value, '*' AS anon_label
        FROM anon.taxonomy AS anon_taxonomy (anon_attribute, anon_level, anon_value, anon_label)
        WHERE anon_level = 0
    )
)
WHERE anon_level = anon_highest;

-- A label that no value of the taxonomy carries, as the value that it is: NULL, and all that a column without a
-- taxonomy shows. Any other label that its taxonomy does not have is an error, because its meaning is unknown.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.value_without_taxonomy('diagnosis', 'flu') AS value;
CREATE OR REPLACE MACRO anon_helpers.value_without_taxonomy(attribute, label) AS
CASE
    WHEN label IS NULL THEN NULL
    WHEN attribute IN (SELECT anon_taxonomy.anon_attribute FROM anon.taxonomy AS anon_taxonomy (
        anon_attribute, anon_level, anon_value, anon_label
    )) THEN error(concat('attribute "', attribute, '" shows a label that its taxonomy has at no level'))
    ELSE anon.text_of(label)
END;

-- The probability that a released label stands for a value, if all values under the label are equally likely; see
-- label_values and value_without_taxonomy. A row meets several conditions with the product of these.
--
-- Job: answers.
-- Returns: DOUBLE in [0, 1].
-- Source: Lee and Chung 2020, queries Q1 to Q4.
-- Example:
--   SELECT
--       anon.label_share('age', '[30, 40)', 34) AS decade,
--       anon.label_share('diagnosis', 'flu', 'flu') AS kept;
CREATE OR REPLACE MACRO anon.label_share(attribute, label, value) AS (
    SELECT CASE
        WHEN anon_found.anon_values > 0 THEN anon_found.anon_same_values / anon_found.anon_values
        WHEN anon_helpers.value_without_taxonomy(attribute, label) IS NOT DISTINCT FROM anon.text_of(value) THEN 1.0
        ELSE 0.0
    END
    FROM (
        SELECT
            count(*) AS anon_values,
            count(*) FILTER (WHERE anon_labels.anon_value IS NOT DISTINCT FROM anon.text_of(value)) AS anon_same_values
        FROM anon_helpers.label_values() AS anon_labels (anon_attribute, anon_label, anon_value)
        WHERE anon_labels.anon_attribute = attribute AND anon_labels.anon_label IS NOT DISTINCT FROM anon.text_of(label)
    ) AS anon_found (anon_values, anon_same_values)
);

-- A value of a column as a number; an error names the column, never the value.
--
-- Returns: DOUBLE; NULL for NULL.
-- Example:
--   SELECT anon_helpers.number_of('age', '34') AS number;
CREATE OR REPLACE MACRO anon_helpers.number_of(attribute, value) AS
CASE
    WHEN value IS NULL THEN NULL
    WHEN TRY_CAST(anon_helpers.as_read(value) AS DOUBLE) IS NULL
        THEN error(concat('column "', attribute, '" has a value that is not a number'))
    ELSE TRY_CAST(anon_helpers.as_read(value) AS DOUBLE)
END;

-- The number halfway between the smallest and the largest number that a released label may stand for; see
-- label_values and value_without_taxonomy.
--
-- Returns: DOUBLE; NULL for a label of nothing but NULL, an error for a value that is not a number.
-- Example:
--   SELECT anon_helpers.label_midpoint('age', '[30, 40)') AS decade, anon_helpers.label_midpoint('age', '*') AS domain;
CREATE OR REPLACE MACRO anon_helpers.label_midpoint(attribute, label) AS (
    SELECT CASE
        WHEN anon_found.anon_values = 0
            THEN anon_helpers.number_of(attribute, anon_helpers.value_without_taxonomy(attribute, label))
        ELSE (anon_found.anon_smallest + anon_found.anon_largest) / 2
    END
    FROM (
        SELECT
            count(*) AS anon_values,
            min(anon_helpers.number_of(attribute, anon_labels.anon_value)) AS anon_smallest,
            max(anon_helpers.number_of(attribute, anon_labels.anon_value)) AS anon_largest
        FROM anon_helpers.label_values() AS anon_labels (anon_attribute, anon_label, anon_value)
        WHERE anon_labels.anon_attribute = attribute AND anon_labels.anon_label IS NOT DISTINCT FROM anon.text_of(label)
    ) AS anon_found (anon_values, anon_smallest, anon_largest)
);

-- NCP of a released table by the labels that it shows, the mean over its rows: row policy "published", which counts
-- counterfeit rows in. A masked row loses 1 in every quasi-identifier; one without a taxonomy is shown as it is and
-- loses nothing else.
--
-- How it goes. The rows are counted by cells; each label that is shown gets its loss once, from the leaves under it, and cells
-- get the mean of theirs.
--
-- Job: loss.
-- Returns: one row: ncp DOUBLE in [0, 1]; literal_ncp DOUBLE, as printed, which is not divided by the number q of
-- quasi-identifiers, in [0, q]. Both are NULL for a table without rows.
-- Source: Lee and Chung 2020, equations 5 and 6.
-- Example:
--   FROM anon.released_ncp('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon.released_ncp(released, quasi_identifiers) AS TABLE
WITH anon_labels AS (
    FROM anon_helpers.cell_values(released, quasi_identifiers)
        AS anon_cells (anon_cell, anon_rows, anon_attribute, anon_label)
),
anon_leaves AS (
    SELECT attribute AS anon_attribute, label AS anon_label, count(*) AS anon_leaf_count
    FROM anon_helpers.label_values()
    GROUP BY ALL
),
anon_losses AS (
    SELECT
        anon_shown.anon_attribute,
        anon_shown.anon_label,
        CASE
            WHEN anon_leaves.anon_leaf_count IS NOT NULL
                THEN anon_helpers.ncp_share_of(anon_leaves.anon_leaf_count, anon_heights.value_count)
            WHEN anon_helpers.value_without_taxonomy(anon_shown.anon_attribute, anon_shown.anon_label)
                IS NOT DISTINCT FROM anon_shown.anon_label THEN 0.0
        END AS anon_loss
    FROM (SELECT DISTINCT anon_attribute, anon_label FROM anon_labels) AS anon_shown
    LEFT JOIN anon.taxonomy_heights() AS anon_heights ON anon_heights.attribute = anon_shown.anon_attribute
    LEFT JOIN anon_leaves
        ON anon_leaves.anon_attribute = anon_shown.anon_attribute
        AND anon_leaves.anon_label IS NOT DISTINCT FROM anon_shown.anon_label
)
SELECT
    sum(anon_rows * anon_loss) / sum(anon_rows) AS ncp,
    sum(anon_rows * anon_loss * anon_width) / sum(anon_rows) AS literal_ncp
FROM (
    SELECT
        any_value(anon_labels.anon_rows) AS anon_rows,
        count(*) AS anon_width,
        CASE
            WHEN bool_and(anon_labels.anon_label IS NOT DISTINCT FROM '*') THEN 1.0
            ELSE avg(anon_losses.anon_loss)
        END AS anon_loss
    FROM anon_labels
    INNER JOIN anon_losses
        ON anon_losses.anon_attribute = anon_labels.anon_attribute
        AND anon_losses.anon_label IS NOT DISTINCT FROM anon_labels.anon_label
    GROUP BY anon_labels.anon_cell
);

-- Total variation distance between the distributions of one column in two tables, half of all differences between the
-- shares of its values. Lee and Chung 2020 call it earth mover's distance, which it is for values equally far apart.
-- Row policy: all rows of both tables, masked and counterfeit ones included.
--
-- Job: loss.
-- Returns: one row: total_variation DOUBLE in [0, 1]; NULL if one of the tables has no rows.
-- Source: Lee and Chung 2020, equation 7.
-- Example:
--   WITH released AS (FROM visits WHERE age IS NOT NULL)
--   FROM anon.total_variation('visits', 'released', 'diagnosis');
CREATE OR REPLACE MACRO anon.total_variation(original, released, column_name) AS TABLE
SELECT
    CASE
        WHEN min(anon_original_total) > 0 AND min(anon_released_total) > 0 THEN
            anon_helpers.equal_distance_of(anon_released_rows, anon_released_total, anon_original_rows / anon_original_total)
    END AS total_variation
FROM (
    SELECT
        anon_original_rows,
        anon_released_rows,
        sum(anon_original_rows) OVER () AS anon_original_total,
        sum(anon_released_rows) OVER () AS anon_released_total
    FROM (
        SELECT anon_value, sum(1 - anon_in_released) AS anon_original_rows, sum(anon_in_released) AS anon_released_rows
        FROM (
            SELECT anon.text_of(COLUMNS([column_name])) AS anon_value, 0 AS anon_in_released
            FROM query_table(anon_helpers.as_source(original))
            UNION ALL
            SELECT anon.text_of(COLUMNS([column_name])) AS anon_value, 1 AS anon_in_released
            FROM query_table(anon_helpers.as_source(released))
        )
        GROUP BY anon_value
    )
);

-- Every class and sensitive value of a released table, with the rows of the original that it was made from. The
-- original is generalized to the node of the release; its rows belong to the class that has their labels.
--
-- In a release with masked rows, original rows whose labels and sensitive value it does not show together are among the
-- masked ones, and belong to their class. Without masked rows they were dropped, and stay where they were.
--
-- How it goes. Both tables are counted together by labels and value; the labels become a list in the order of the node; and rows
-- of the original that went nowhere go to the class of masked rows, if there is one.
--
-- Returns: class VARCHAR[], the labels in the order of the node; sensitive_value VARCHAR; original_rows BIGINT and
-- released_rows BIGINT, one of them above 0.
-- Source: Lee and Chung 2020, tables 5 to 8.
-- Example:
--   WITH released AS (FROM anon.generalize('visits', MAP {'age': 2, 'sex': 1}) WHERE diagnosis = 'flu')
--   FROM anon_helpers.compared_values('visits', 'released', MAP {'age': 2, 'sex': 1}, 'diagnosis') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.compared_values(original, released, node, sensitive) AS TABLE
WITH anon_cells AS (
    SELECT
        COLUMNS(map_keys(node)),
        anon_value,
        sum(1 - anon_in_released) AS anon_original_rows,
        sum(anon_in_released) AS anon_released_rows
    FROM (
        SELECT COLUMNS(map_keys(node)), anon.text_of(COLUMNS([sensitive])) AS anon_value, 0 AS anon_in_released
        FROM anon.generalize(original, node)
        -- By name: COLUMNS follows the order of each table, and theirs may differ.
        UNION ALL BY NAME
        SELECT
            anon.text_of(COLUMNS(map_keys(node))),
            anon.text_of(COLUMNS([sensitive])) AS anon_value,
            1 AS anon_in_released
        FROM query_table(anon_helpers.as_source(released))
    )
    GROUP BY ALL
),
anon_labelled AS (
    SELECT
        list_transform(map_keys(node), lambda anon_name: anon_labels[lower(anon_name)]) AS anon_class,
        list_transform(map_keys(node), lambda anon_name: '*') AS anon_mask,
        anon_value,
        anon_original_rows,
        anon_released_rows
    FROM (
        SELECT
            map_from_entries(list_value(*COLUMNS(map_keys(node)))) AS anon_labels,
            anon_value,
            anon_original_rows,
            anon_released_rows
        FROM (
            SELECT
                struct_pack(anon_name := lower(alias(COLUMNS(map_keys(node)))), anon_label := COLUMNS(map_keys(node))),
                anon_value,
                anon_original_rows,
                anon_released_rows
            FROM anon_cells
        )
    )
)
SELECT
    anon_class AS class,
    anon_value AS sensitive_value,
    CAST(sum(anon_original_rows) AS BIGINT) AS original_rows,
    CAST(sum(anon_released_rows) AS BIGINT) AS released_rows
FROM (
    SELECT
        CASE WHEN anon_released_rows = 0 AND bool_or(anon_released_rows > 0 AND anon_class = anon_mask) OVER ()
            THEN anon_mask
            ELSE anon_class
        END AS anon_class,
        anon_value,
        anon_original_rows,
        anon_released_rows
    FROM anon_labelled
)
GROUP BY anon_class, anon_value;

-- The share of a class's released rows that nothing in the original stands for.
--
-- Returns: DOUBLE in [0, 1]; NULL for a class that is not released.
-- Source: Lee and Chung 2020, equation 8.
-- Example:
--   SELECT anon_helpers.counterfeit_share_of(3, 4) AS rate;
CREATE OR REPLACE MACRO anon_helpers.counterfeit_share_of(original_rows, released_rows) AS
CASE WHEN released_rows > 0 THEN greatest(released_rows - original_rows, 0) / released_rows END;

-- Every class of compared_values with its sizes, and how far its released sensitive values are from the original
-- ones: the total variation distance, 1 for a class without original rows, NULL for one that is not released.
--
-- Returns: class VARCHAR[], masked BOOLEAN, original_rows BIGINT, released_rows BIGINT, distance DOUBLE and
-- counterfeit_share DOUBLE, both in [0, 1].
-- Source: Lee and Chung 2020, equations 7 and 8 for one class.
-- Example:
--   WITH released AS (FROM anon.generalize('visits', MAP {'age': 2, 'sex': 1}) WHERE diagnosis = 'flu')
--   FROM anon_helpers.compared_classes('visits', 'released', MAP {'age': 2, 'sex': 1}, 'diagnosis') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.compared_classes(original, released, node, sensitive) AS TABLE
SELECT
    anon_class AS class,
    anon_class = list_transform(anon_class, lambda anon_label: '*') AS masked,
    CAST(any_value(anon_original_size) AS BIGINT) AS original_rows,
    CAST(any_value(anon_released_size) AS BIGINT) AS released_rows,
    CASE
        WHEN any_value(anon_released_size) > 0 THEN anon_helpers.equal_distance_of(
            anon_released_rows, anon_released_size, anon_original_rows / nullif(anon_original_size, 0)
        )
    END AS distance,
    anon_helpers.counterfeit_share_of(any_value(anon_original_size), any_value(anon_released_size)) AS counterfeit_share
FROM (
    SELECT
        class AS anon_class,
        original_rows AS anon_original_rows,
        released_rows AS anon_released_rows,
        sum(original_rows) OVER (PARTITION BY class) AS anon_original_size,
        sum(released_rows) OVER (PARTITION BY class) AS anon_released_size
    FROM anon_helpers.compared_values(original, released, node, sensitive)
)
GROUP BY anon_class;

-- What a release with masked, counterfeit or deleted rows does to its classes, see compared_classes: means over
-- the released classes, each with the same weight.
--
-- Returns: one row, all in [0, 1]: class_distance DOUBLE, the mean distance (EMD of classes), NULL if no class is
-- released; rate DOUBLE, the mean counterfeit share, 0 if no class is released; unmasked_rate DOUBLE, that of all
-- classes but the masked one; deletion_rate DOUBLE, the share of the original rows that their class lacks, those of
-- classes that are not released included, NULL for an original without rows.
-- Source: Lee and Chung 2020, equation 9.
-- Example:
--   WITH released AS (FROM anon.generalize('visits', MAP {'age': 2, 'sex': 1}) WHERE diagnosis = 'flu')
--   FROM anon_helpers.class_changes('visits', 'released', MAP {'age': 2, 'sex': 1}, 'diagnosis');
CREATE OR REPLACE MACRO anon_helpers.class_changes(original, released, node, sensitive) AS TABLE
SELECT
    avg(distance ORDER BY class ASC NULLS LAST) AS class_distance,
    coalesce(avg(counterfeit_share ORDER BY class ASC NULLS LAST), 0.0) AS rate,
    coalesce(avg(counterfeit_share ORDER BY class ASC NULLS LAST) FILTER (WHERE NOT masked), 0.0) AS unmasked_rate,
    sum(greatest(original_rows - released_rows, 0)) / nullif(sum(original_rows), 0) AS deletion_rate
FROM anon_helpers.compared_classes(original, released, node, sensitive);

-- Information loss of a release in IPA, the sum of three losses that each have rows of their own: NCP over all released
-- rows, the total variation distance of the sensitive values over all rows of both tables, and the rate over classes,
-- the masked one included. It is measured on the true data and must not be part of a differentially private release.
--
-- Job: loss.
-- Returns: one row: ncp, total_variation, rate DOUBLE as in released_ncp, anon.total_variation and
-- class_changes; information_loss DOUBLE, their sum, in [0, 3]; normalized_information_loss DOUBLE, a third of it;
-- literal_information_loss DOUBLE, the sum with literal_ncp; utility DOUBLE, 3 - information_loss. NULL where a part is.
-- Source: Lee and Chung 2020, equations 10 and 11.
-- Example:
--   WITH released AS (FROM anon.generalize('visits', MAP {'age': 2, 'sex': 1}) WHERE diagnosis = 'flu')
--   FROM anon.information_loss('visits', 'released', MAP {'age': 2, 'sex': 1}, 'diagnosis');
CREATE OR REPLACE MACRO anon.information_loss(original, released, node, sensitive) AS TABLE
SELECT
    anon_labels.ncp,
    anon_values.total_variation,
    anon_classes.rate,
    anon_labels.ncp + anon_values.total_variation + anon_classes.rate AS information_loss,
    (anon_labels.ncp + anon_values.total_variation + anon_classes.rate) / 3 AS normalized_information_loss,
    anon_labels.literal_ncp + anon_values.total_variation + anon_classes.rate AS literal_information_loss,
    3 - (anon_labels.ncp + anon_values.total_variation + anon_classes.rate) AS utility
FROM anon.released_ncp(released, map_keys(node)) AS anon_labels
CROSS JOIN anon.total_variation(original, released, sensitive) AS anon_values
CROSS JOIN anon_helpers.class_changes(original, released, node, sensitive) AS anon_classes;

-- Who is left out of a release: the values of a column with their rows in the source and in the release, first the value that
-- has lost the largest share of its rows. The column is one that the release has as it is.
--
-- Job: verify.
-- Returns: value VARCHAR, source_rows BIGINT, release_rows BIGINT, left_out_share DOUBLE; values of the source alone.
-- Example:
--   WITH released AS (FROM anon.release('visits', ['age', 'sex'], 2, 0.25))
--   FROM anon.left_out('visits', 'released', 'diagnosis');
CREATE OR REPLACE MACRO anon.left_out(source, release, column_name) AS TABLE
SELECT
    anon_source.value,
    anon_source.row_count AS source_rows,
    coalesce(anon_release.row_count, 0) AS release_rows,
    1 - coalesce(anon_release.row_count, 0) / anon_source.row_count AS left_out_share
FROM anon_helpers.column_values(source, [column_name]) AS anon_source
LEFT JOIN anon_helpers.column_values(release, [column_name]) AS anon_release
    ON anon_release.value IS NOT DISTINCT FROM anon_source.value
ORDER BY left_out_share DESC, source_rows DESC, value ASC;

-- Re-identification risk of a published table. Risks of an attacker who knows the quasi-identifiers.

-- guarded: tests/sql/70_risk.test

-- The mean over the rows of some classes of what a class is the sum of (an aggregate over classes).
--
-- Returns: DOUBLE; NULL without rows.
-- Example:
--   SELECT anon_helpers.mean_of_rows(1, class_size) AS average_risk FROM anon.class_sizes('visits', ['age']);
CREATE OR REPLACE MACRO anon_helpers.mean_of_rows(total, class_size) AS CAST(sum(total) AS DOUBLE) / sum(class_size);

-- guarded: tests/sql/70_risk.test

-- The rows of a class that are alone in it.
--
-- Returns: BIGINT, 0 or 1.
-- Example:
--   SELECT sum(anon_helpers.unique_rows_of(class_size)) AS unique_rows FROM anon.class_sizes('visits', ['age']);
CREATE OR REPLACE MACRO anon_helpers.unique_rows_of(class_size) AS CAST(class_size = 1 AS BIGINT);

-- Prosecutor risk: the attacker knows that the person is in the table. The highest risk is 1 over the size of
-- the smallest class, the average is the mean over rows of 1 / class size.
--
-- Job: risk.
-- Returns: one row: highest_risk DOUBLE, average_risk DOUBLE; NULL for a table without rows.
-- Source: El Emam 2013, "Guide to the De-Identification of Personal Health Information", chapter 16.
-- Example:
--   FROM anon.prosecutor_risk('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon.prosecutor_risk(source, quasi_identifiers) AS TABLE
SELECT 1.0 / min(class_size) AS highest_risk, anon_helpers.mean_of_rows(1, class_size) AS average_risk
FROM anon.class_sizes(source, quasi_identifiers);

-- Every class of the source or the population table with its size in both; a class counts at least as many people in
-- the population as in the source. Both tables must spell the quasi-identifiers alike; values are compared as text.
--
-- Returns: class_size BIGINT, 0 for a class that only the population has; population_size BIGINT, at least 1.
-- Example:
--   FROM anon_helpers.matched_classes('visits', ['sex'], 'visits') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.matched_classes(source, quasi_identifiers, population) AS TABLE
SELECT
    CAST(anon_sample_size AS BIGINT) AS class_size,
    CAST(greatest(anon_sample_size, anon_population_size) AS BIGINT) AS population_size
FROM (
    SELECT
        COLUMNS(anon_helpers.listed(quasi_identifiers)),
        sum(anon_in_sample) AS anon_sample_size,
        sum(anon_in_population) AS anon_population_size
    FROM (
        SELECT anon.text_of(COLUMNS(anon_helpers.listed(quasi_identifiers))), 1 AS anon_in_sample, 0 AS anon_in_population
        FROM query_table(anon_helpers.as_source(source))
        -- By name: COLUMNS follows the order of each table, and theirs may differ.
        UNION ALL BY NAME
        SELECT anon.text_of(COLUMNS(anon_helpers.listed(quasi_identifiers))), 0 AS anon_in_sample, 1 AS anon_in_population
        FROM query_table(anon_helpers.as_source(population))
    )
    GROUP BY ALL
);

-- Every class of the source with its size there and in the population table, see matched_classes.
--
-- Returns: class_size BIGINT, population_size BIGINT.
-- Example:
--   FROM anon_helpers.population_classes('visits', ['sex'], 'visits') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.population_classes(source, quasi_identifiers, population) AS TABLE
SELECT class_size, population_size
FROM anon_helpers.matched_classes(source, quasi_identifiers, population)
WHERE class_size > 0;

-- k-map attained: the smallest population size of any class of the source, see matched_classes; NULL for a table
-- without rows. Classes without a row of the source do not count.
--
-- Job: privacy.
-- Returns: one row: k BIGINT.
-- Source: Sweeney 2001, "Computational Disclosure Control"; El Emam and Dankar 2008.
-- Example:
--   FROM anon.k_map('visits', ['sex'], 'visits');
CREATE OR REPLACE MACRO anon.k_map(source, quasi_identifiers, population) AS TABLE
SELECT min(population_size) AS k
FROM anon_helpers.population_classes(source, quasi_identifiers, population);

-- delta-presence attained: the smallest and the largest probability that an individual of the population has a row in
-- the source, which is the share of the individual's class that does. Individuals whose class has no row of the source
-- count with 0, as published and as in ARX; NULL if there is nobody in either table.
--
-- The source is (delta_min, delta_max)-present if delta_min <= smallest and largest <= delta_max. Of a table whose small
-- classes were suppressed, smallest_published leaves out the classes without a row, and absent_classes counts them.
--
-- Job: privacy.
-- Returns: one row: smallest DOUBLE, largest DOUBLE, smallest_published DOUBLE, all in [0, 1]; absent_classes BIGINT.
-- Source: Nergiz et al. 2007, delta-presence.
-- Example:
--   FROM anon.delta_presence('visits', ['sex'], 'visits');
CREATE OR REPLACE MACRO anon.delta_presence(source, quasi_identifiers, population) AS TABLE
SELECT
    min(class_size / population_size) AS smallest,
    max(class_size / population_size) AS largest,
    min(class_size / population_size) FILTER (WHERE class_size > 0) AS smallest_published,
    count(*) FILTER (WHERE class_size = 0) AS absent_classes
FROM anon_helpers.matched_classes(source, quasi_identifiers, population);

-- Journalist risk: the attacker does not know whether the person is in the table, but has the population that
-- it was drawn from. The highest risk is 1 over the smallest population size of any published class.
--
-- Job: risk.
-- Returns: one row: highest_risk DOUBLE, average_risk DOUBLE (mean over rows of 1 / population size); NULL for
-- a table without rows.
-- Source: El Emam 2013, chapter 16.
-- Example:
--   FROM anon.journalist_risk('visits', ['sex'], 'visits');
CREATE OR REPLACE MACRO anon.journalist_risk(source, quasi_identifiers, population) AS TABLE
SELECT
    1.0 / min(population_size) AS highest_risk,
    sum(CAST(class_size AS DOUBLE) / population_size) / sum(class_size) AS average_risk
FROM anon_helpers.population_classes(source, quasi_identifiers, population);

-- Marketer risk: the share of the rows that an attacker is expected to match rightly when every row is
-- matched with a person of the population at random within its class. Give the source itself as population
-- where there is none.
--
-- Job: risk.
-- Returns: one row: marketer_risk DOUBLE; NULL for a table without rows.
-- Source: El Emam 2013, chapter 16; Dankar and El Emam 2010.
-- Example:
--   FROM anon.marketer_risk('visits', ['sex'], 'visits');
CREATE OR REPLACE MACRO anon.marketer_risk(source, quasi_identifiers, population) AS TABLE
SELECT sum(CAST(class_size AS DOUBLE) / population_size) / sum(class_size) AS marketer_risk
FROM anon_helpers.population_classes(source, quasi_identifiers, population);

-- Rows that are alone in their class.
--
-- Job: risk.
-- Returns: one row: unique_rows BIGINT, row_count BIGINT, unique_share DOUBLE; the share is NULL for a table
-- without rows.
-- Example:
--   FROM anon.sample_uniqueness('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon.sample_uniqueness(source, quasi_identifiers) AS TABLE
SELECT
    count(*) FILTER (WHERE class_size = 1) AS unique_rows,
    CAST(coalesce(sum(class_size), 0) AS BIGINT) AS row_count,
    anon_helpers.mean_of_rows(anon_helpers.unique_rows_of(class_size), class_size) AS unique_share
FROM anon.class_sizes(source, quasi_identifiers);

-- The share of the rows of some classes that is left where each class keeps one row.
--
-- An aggregate over classes.
-- Returns: DOUBLE in (0, 1]; NULL without rows.
-- Source: Motwani and Xu 2008, "Efficient Algorithms for Masking and Finding Quasi-Identifiers", the distinct ratio.
-- Example:
--   SELECT anon_helpers.distinction_of(class_size) AS distinction FROM anon.class_sizes('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon_helpers.distinction_of(class_size) AS CAST(count(*) AS DOUBLE) / sum(class_size);

-- The share of all pairs of rows of some classes whose two rows are in different classes.
--
-- An aggregate over classes. The pairs are counted exactly, so that it is the same in whatever order classes come.
-- Returns: DOUBLE in [0, 1]; NULL of fewer than two rows, which are no pair.
-- Source: Motwani and Xu 2008, the separation ratio.
-- Example:
--   SELECT anon_helpers.separation_of(class_size) AS separation FROM anon.class_sizes('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon_helpers.separation_of(class_size) AS
1 - sum(CAST(class_size AS HUGEINT) * (class_size - 1))
/ nullif(CAST(sum(CAST(class_size AS HUGEINT)) * (sum(CAST(class_size AS HUGEINT)) - 1) AS DOUBLE), 0);

-- Distinction of some columns: how close they are to a key. Of the rows, the largest share among which no two agree on all
-- of the columns. NULL agrees with NULL.
--
-- Job: columns.
-- Returns: one row: distinction DOUBLE in (0, 1], 1 for a key; NULL for a table without rows.
-- Source: Motwani and Xu 2008, "Efficient Algorithms for Masking and Finding Quasi-Identifiers", the distinct ratio.
-- Example:
--   FROM anon.distinction('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon.distinction(source, columns) AS TABLE
SELECT anon_helpers.distinction_of(class_size) AS distinction
FROM anon.class_sizes(source, columns);

-- Separation by some columns: the share of all pairs of rows whose two rows differ in one of the columns, at least. NULL
-- agrees with NULL.
--
-- Job: columns.
-- Returns: one row: separation DOUBLE in [0, 1], 1 for a key; NULL for a table of fewer than two rows.
-- Source: Motwani and Xu 2008, the separation ratio.
-- Example:
--   FROM anon.separation('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon.separation(source, columns) AS TABLE
SELECT anon_helpers.separation_of(class_size) AS separation
FROM anon.class_sizes(source, columns);

-- The columns of a source that single rows out by themselves: how many rows have a value that fewer than k rows have, most
-- of them first. Such a column is an identifier, or a quasi-identifier that has to be generalized. NULL singles nobody out.
--
-- Job: risk.
-- Returns: column_name VARCHAR, value_count BIGINT (distinct values, without NULL), rare_rows BIGINT, rare_share DOUBLE (of all
-- rows), one row per column.
-- Example:
--   FROM anon.nearly_unique('visits', 2);
CREATE OR REPLACE MACRO anon.nearly_unique(source, k) AS TABLE
WITH anon_values AS (
    SELECT anon_column, anon_value, count(*) AS anon_value_rows
    FROM (
        FROM (SELECT anon.text_of(COLUMNS(*)) FROM query_table(anon_helpers.as_source(source)))
        UNPIVOT INCLUDE NULLS (anon_value FOR anon_column IN (COLUMNS(*)))
    )
    GROUP BY anon_column, anon_value
)
SELECT
    anon_column AS column_name,
    count(anon_value) AS value_count,
    CAST(coalesce(
        sum(anon_value_rows) FILTER (WHERE anon_value IS NOT NULL AND anon_value_rows < anon_helpers.checked_k(k)), 0
    ) AS BIGINT) AS rare_rows,
    rare_rows / sum(anon_value_rows) AS rare_share
FROM anon_values
GROUP BY anon_column
ORDER BY rare_rows DESC, column_name ASC;

-- Risk of a sample, such as a survey, whose rows stand for weight people each: how many of its rows can be found by somebody
-- who knows the keys of everybody in the population.
--
-- All of it is read off the classes: rows that agree on every key. NULL agrees with NULL.

-- guarded: tests/sql/71_survey.test

-- A row's weight in a sample: how many people of the population it stands for. A weight that is text, NULL, not finite or not
-- above 0 is an error, and so is a column that is a key as well.
--
-- Returns: DOUBLE above 0.
-- Example:
--   SELECT anon_helpers.sampling_weight(age + 1, 'weight', ['sex']) AS weight FROM visits WHERE age IS NOT NULL;
CREATE OR REPLACE MACRO anon_helpers.sampling_weight(weight, weight_name, keys) AS
CASE
    WHEN list_contains(list_transform(anon_helpers.listed(keys), lambda anon_name: lower(anon_name)), lower(weight_name))
        THEN error(concat('column "', weight_name, '" is the weight and cannot be a key: leave it out of the keys'))
    WHEN NOT regexp_matches(typeof(weight), '^(FLOAT|DOUBLE|DECIMAL.*|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER)$')
        THEN error(concat('column "', weight_name, '" is ', typeof(weight), ': a weight is a number above 0; cast it'))
    WHEN weight IS NULL
        THEN error(concat('column "', weight_name, '" is NULL in a row: every row needs a weight above 0'))
    WHEN NOT coalesce(TRY_CAST(anon_helpers.as_read(weight) AS DOUBLE) BETWEEN 1e-300 AND 1e300, false)
        THEN error(concat('column "', weight_name, '" has a weight that is not a finite number above 0'))
    ELSE TRY_CAST(anon_helpers.as_read(weight) AS DOUBLE)
END;

-- The people that a class of a sample stands for. That a class stands for fewer people than it has rows is an error.
--
-- A difference in the ninth digit is rounding.
-- Returns: DOUBLE, at least class_size.
-- Example:
--   SELECT anon_helpers.estimated_size(class_size, class_size * 10.0) AS people FROM anon.class_sizes('visits', ['sex']);
CREATE OR REPLACE MACRO anon_helpers.estimated_size(class_size, weight_sum) AS
CASE
    WHEN weight_sum < class_size * (1 - 1e-9)
        THEN error('weights below 1: a class stands for fewer people than it has rows')
    ELSE greatest(CAST(weight_sum AS DOUBLE), class_size)
END;

-- The mean of 1 / F over the number F of people in a class with class_size rows in the sample, where F is negative binomial
-- with the chance class_size / population_size: the individual risk of Benedetti and Franconi, exactly.
--
-- Below 40 rows and half of the people by parts, from one row upwards; else by Euler's transform of the hypergeometric
-- function, whose terms are all positive. Both hold to 13 digits.
-- Returns: DOUBLE in (0, 1].
-- Source: Benedetti and Franconi 1998; Polettini 2003; Franconi and Polettini 2004.
-- Example:
--   SELECT anon_helpers.negative_binomial_risk(2, 110.0) AS risk;
CREATE OR REPLACE MACRO anon_helpers.negative_binomial_risk(class_size, population_size) AS
CASE
    WHEN population_size <= class_size THEN 1.0 / class_size
    WHEN 2 * class_size < population_size AND class_size < 40 THEN list_reduce(
        list_prepend(
            class_size / (population_size - class_size) * ln(population_size / class_size),
            CAST(range(1, CAST(class_size AS BIGINT)) AS DOUBLE[])
        ),
        lambda anon_risk, anon_rows: class_size / (population_size - class_size) * (1 / anon_rows - anon_risk)
    )
    ELSE 1 / population_size * list_reduce(
        CAST([1] || range(96, 0, -1) AS DOUBLE[]),
        lambda anon_sum, anon_term:
            1 + anon_term * (1 - class_size / population_size) / (class_size + anon_term) * anon_sum
    )
END;

-- The mean of 1 / (f + J), where J is Poisson, by the central moments of J up to the sixth: of the mean's share in f + mean
-- and of 1 / (f + mean).
--
-- Returns: DOUBLE above 0, to 8 digits where f + mean is 400 or more.
-- Example:
--   SELECT anon_helpers.poisson_expansion(0.9, 1 / 500) AS risk;
CREATE OR REPLACE MACRO anon_helpers.poisson_expansion(mean_share, reciprocal) AS
reciprocal * (1 + mean_share * reciprocal * (
    1 + reciprocal * (3 * mean_share - 1 + reciprocal * (1 - 10 * mean_share + 15 * mean_share * mean_share))
));

-- The mean of 1 / (f + J) over the number J of people of a class who are not in the sample, where f are and J is Poisson.
--
-- From 400 people on by poisson_expansion; else by parts, upwards where the mean is at least f, and
-- downwards where it is less, so that errors shrink at every step.
-- Returns: DOUBLE in (0, 1].
-- Source: Bethlehem, Keller and Pannekoek 1990; Skinner and Holmes 1998; Elamir and Skinner 2006.
-- Example:
--   SELECT anon_helpers.poisson_mean_risk(1, 0.5) AS risk;
CREATE OR REPLACE MACRO anon_helpers.poisson_mean_risk(class_size, unsampled) AS
CASE
    WHEN class_size + unsampled >= 400 THEN anon_helpers.poisson_expansion(
        unsampled / (class_size + unsampled), 1 / (class_size + unsampled)
    )
    WHEN unsampled >= class_size THEN list_reduce(
        list_prepend((1 - exp(-unsampled)) / unsampled, CAST(range(1, CAST(class_size AS BIGINT)) AS DOUBLE[])),
        lambda anon_risk, anon_rows: (1 - anon_rows * anon_risk) / unsampled
    )
    ELSE list_reduce(
        CAST([0] || range(160, -1, -1) AS DOUBLE[]),
        lambda anon_risk, anon_more: (1 - unsampled * anon_risk) / (class_size + anon_more)
    )
END;

-- guarded: tests/sql/71_survey.test

-- A share that is given to a macro.
--
-- Returns: DOUBLE; an error that names it for what is not a number from 0 to 1.
-- Example:
--   SELECT anon_helpers.checked_share(0.05, 'at_most') AS at_most;
CREATE OR REPLACE MACRO anon_helpers.checked_share(share, name) AS
CASE
    WHEN coalesce(TRY_CAST(anon.text_of(share) AS DOUBLE) BETWEEN 0 AND 1, false) THEN TRY_CAST(anon.text_of(share) AS DOUBLE)
    ELSE error(concat(name, ' is a number from 0 to 1'))
END;

-- The classes of a sample, the people that they stand for, and the estimate of their risk by their own weights.
--
-- Returns: the keys as they are, anon_class_size BIGINT, anon_population_size DOUBLE; the same as anon_fitting_size and
-- anon_fitting_people, see fitting_classes; anon_binomial_risk DOUBLE, see anon.individual_risk.
-- Example:
--   FROM anon_helpers.weighted_classes('visits', ['sex'], 'id') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.weighted_classes(source, keys, weight) AS TABLE
SELECT
    *,
    anon_class_size AS anon_fitting_size,
    anon_population_size AS anon_fitting_people,
    anon_helpers.negative_binomial_risk(anon_class_size, anon_population_size) AS anon_binomial_risk
FROM (
    SELECT
        COLUMNS(anon_helpers.listed(keys)),
        count(*) AS anon_class_size,
        anon_helpers.estimated_size(count(*), sum(anon_helpers.sampling_weight(COLUMNS([weight]), weight, keys)))
            AS anon_population_size
    FROM query_table(anon_helpers.as_source(source))
    GROUP BY ALL
);

-- Classes that were numbered, with the texts of their keys.
--
-- Returns: anon_class, anon_class_size and anon_population_size as they are, anon_texts VARCHAR[].
-- Example:
--   WITH classes AS (SELECT sex, zip, id AS anon_class, 1 AS anon_class_size, 9 AS anon_population_size FROM visits)
--   FROM anon_helpers.texts_of_classes('classes', ['sex', 'zip']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.texts_of_classes(classes, keys) AS TABLE
SELECT anon_class, anon_class_size, anon_population_size, [*COLUMNS(anon_helpers.listed(keys))] AS anon_texts
FROM (
    SELECT anon_class, anon_class_size, anon_population_size, anon.text_of(COLUMNS(anon_helpers.listed(keys)))
    FROM query_table(anon_helpers.as_source(classes))
);

-- guarded: tests/sql/71_survey.test

-- A class by the texts of its keys, with NULL where a pattern has a blank.
--
-- Returns: VARCHAR[].
-- Example:
--   SELECT anon_helpers.blanked(string_split('f 10115', ' '), [false, true]) AS texts;
CREATE OR REPLACE MACRO anon_helpers.blanked(texts, blanks) AS
list_transform(texts, lambda anon_text, anon_place: CASE WHEN NOT blanks[anon_place] THEN anon_text END);

-- guarded: tests/sql/71_survey.test

-- The patterns of blanks of classes: which keys are unknown.
--
-- Returns: anon_blanks BOOLEAN[]; one row per pattern. An error for more than 64.
-- Example:
--   WITH cells AS (SELECT [age IS NULL, sex IS NULL] AS anon_blanks FROM visits)
--   FROM anon_helpers.patterns_of_blanks('cells') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.patterns_of_blanks(cells) AS TABLE
SELECT
    CASE
        WHEN count(*) OVER () > 64
            THEN error('more than 64 patterns of blanks (which keys of a row are NULL, or * in a release): take fewer keys')
        ELSE anon_blanks
    END AS anon_blanks
FROM (SELECT DISTINCT anon_blanks FROM query_table(anon_helpers.as_source(cells)));

-- guarded: tests/sql/71_survey.test

-- The classes of a sample with the rows that each may equal if NULL fits every value, and the people that these stand for: a
-- class fits another one if they agree in the keys that are known in both.
--
-- How it goes. For each two patterns of NULLs in keys, the classes of both are blanked where one of them has NULL, and joined.
--
-- Returns: the columns of weighted_classes, the fitting ones and the risk by the rows that fit. An error for more than 64
-- patterns.
-- Source: as freqCalc of sdcMicro counts, with alpha = 1.
-- Example:
--   WITH classes AS (FROM anon_helpers.weighted_classes('visits', ['sex', 'zip'], 'id'))
--   FROM anon_helpers.fitting_classes('classes', ['sex', 'zip']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.fitting_classes(classes, keys) AS TABLE
WITH anon_numbered AS MATERIALIZED (
    SELECT * EXCLUDE (anon_fitting_size, anon_fitting_people, anon_binomial_risk), row_number() OVER () AS anon_class
    FROM query_table(anon_helpers.as_source(classes))
),
anon_cells AS MATERIALIZED (
    SELECT *, list_transform(anon_texts, lambda anon_text: anon_text IS NULL) AS anon_blanks
    FROM anon_helpers.texts_of_classes('anon_numbered', keys)
),
anon_pairs AS MATERIALIZED (
    SELECT
        anon_cells.* EXCLUDE (anon_texts),
        anon_patterns.anon_blanks AS anon_others,
        anon_helpers.blanked(anon_cells.anon_texts, anon_patterns.anon_blanks) AS anon_kept
    FROM anon_cells
    CROSS JOIN anon_helpers.patterns_of_blanks('anon_cells') AS anon_patterns
)
SELECT
    * EXCLUDE (anon_class),
    anon_helpers.negative_binomial_risk(anon_fitting_size, anon_fitting_people) AS anon_binomial_risk
FROM anon_numbered
INNER JOIN (
    SELECT
        anon_class,
        CAST(sum(anon_fits.anon_size) AS BIGINT) AS anon_fitting_size,
        sum(anon_fits.anon_people) AS anon_fitting_people
    FROM anon_pairs
    INNER JOIN (
        SELECT anon_others, anon_blanks, anon_kept, sum(anon_class_size), sum(anon_population_size) FROM anon_pairs GROUP BY ALL
    ) AS anon_fits (anon_blanks, anon_others, anon_kept, anon_size, anon_people) USING (anon_blanks, anon_others, anon_kept)
    GROUP BY anon_class
) AS anon_sizes USING (anon_class);

-- guarded: tests/sql/71_survey.test

-- Classes of a sample with both estimates of their risk: with the people that they would have if the keys were independent,
-- and how many of these are expected outside of the sample. NULL is a value, or it is left out of the keys that a class is
-- expected by.
--
-- Returns: the columns of weighted_classes, anon_expected_size DOUBLE, anon_unsampled DOUBLE, anon_poisson_risk DOUBLE, see
-- anon.poisson_risk.
-- Example:
--   WITH classes AS (FROM anon_helpers.weighted_classes('visits', ['age', 'sex'], 'id'))
--   FROM anon_helpers.risk_classes('classes', ['age', 'sex'], TRUE) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.risk_classes(classes, keys, null_is_value) AS TABLE
WITH anon_numbered AS MATERIALIZED (
    SELECT *, row_number() OVER () AS anon_class, sum(anon_population_size) OVER () AS anon_people
    FROM query_table(anon_helpers.as_source(classes))
),
anon_values AS NOT MATERIALIZED (
    SELECT *, unnest(anon_texts) AS anon_value, generate_subscripts(anon_texts, 1) AS anon_key
    FROM anon_helpers.texts_of_classes('anon_numbered', keys)
),
anon_shares AS MATERIALIZED (
    SELECT
        anon_key,
        anon_value,
        sum(anon_population_size) / sum(sum(anon_population_size)) OVER (PARTITION BY anon_key) AS anon_share
    FROM anon_values
    WHERE null_is_value OR anon_value IS NOT NULL
    GROUP BY anon_key, anon_value
)
SELECT *, anon_helpers.poisson_mean_risk(anon_fitting_size, anon_unsampled) AS anon_poisson_risk
FROM (
    SELECT
        * EXCLUDE (anon_class, anon_people, anon_product),
        anon_people * coalesce(anon_product, 1.0) AS anon_expected_size,
        anon_expected_size * greatest(1 - anon_fitting_size / anon_fitting_people, 0) AS anon_unsampled
    FROM anon_numbered
    LEFT JOIN (
        SELECT anon_values.anon_class, product(anon_shares.anon_share) AS anon_product
        FROM anon_values
        INNER JOIN anon_shares
            ON anon_values.anon_key = anon_shares.anon_key AND anon_values.anon_value IS NOT DISTINCT FROM anon_shares.anon_value
        GROUP BY anon_values.anon_class
    ) AS anon_products USING (anon_class)
);

-- guarded: tests/sql/71_survey.test

-- Risks of a release in the population of its source, which is given with the labels of the release, the rows included that
-- were suppressed: the largest ones of its classes, and the means over its rows. A class without a row of the source has a
-- risk of 1.
--
-- Returns: one row: risk DOUBLE, mean_risk DOUBLE (anon.individual_risk), poisson_risk DOUBLE, mean_poisson_risk DOUBLE
-- (anon.poisson_risk); NULL for a release without rows.
-- Example:
--   FROM anon_helpers.release_risks('visits', ['sex'], 'visits', 'id');
CREATE OR REPLACE MACRO anon_helpers.release_risks(released, keys, source, weight) AS TABLE
WITH anon_weighted AS (FROM anon_helpers.weighted_classes(source, keys, weight))
SELECT
    max(coalesce(anon_class_risk, 1)) AS risk,
    max(coalesce(anon_class_poisson_risk, 1)) AS poisson_risk,
    anon_helpers.mean_of_rows(coalesce(anon_class_risk, 1) * anon_rows, anon_rows) AS mean_risk,
    anon_helpers.mean_of_rows(coalesce(anon_class_poisson_risk, 1) * anon_rows, anon_rows) AS mean_poisson_risk
FROM (
    SELECT
        COLUMNS(anon_helpers.listed(keys)),
        count(anon_is_released) AS anon_rows,
        any_value(anon_binomial_risk) AS anon_class_risk,
        any_value(anon_poisson_risk) AS anon_class_poisson_risk
    FROM (
        SELECT anon.text_of(COLUMNS(anon_helpers.listed(keys))), anon_binomial_risk, anon_poisson_risk
        FROM anon_helpers.risk_classes('anon_weighted', keys, TRUE)
        UNION ALL BY NAME
        SELECT anon.text_of(COLUMNS(anon_helpers.listed(keys))), true AS anon_is_released
        FROM query_table(anon_helpers.as_source(released))
    )
    GROUP BY ALL
    HAVING count(anon_is_released) > 0
);

-- guarded: tests/sql/71_survey.test

-- The bracket of classes that were counted, see anon.global_risk.
--
-- Returns: the row of anon.global_risk.
-- Example:
--   WITH classes AS (FROM anon_helpers.weighted_classes('visits', ['age', 'sex'], 'id')),
--   risks AS (FROM anon_helpers.risk_classes('classes', ['age', 'sex'], TRUE))
--   FROM anon_helpers.risk_sums('risks');
CREATE OR REPLACE MACRO anon_helpers.risk_sums(classes) AS TABLE
SELECT
    CAST(coalesce(sum(anon_class_size), 0) AS BIGINT) AS row_count,
    count(*) AS class_count,
    sum(anon_population_size) AS population_size,
    count(*) FILTER (WHERE anon_fitting_size = 1) AS unique_rows,
    least(sum(anon_class_size * anon_binomial_risk), sum(anon_class_size * anon_poisson_risk)) AS expected_low,
    greatest(sum(anon_class_size * anon_binomial_risk), sum(anon_class_size * anon_poisson_risk)) AS expected_high,
    expected_low / row_count AS low_share,
    expected_high / row_count AS high_share,
    least(sum(anon_binomial_unique), sum(anon_poisson_unique)) AS uniques_low,
    greatest(sum(anon_binomial_unique), sum(anon_poisson_unique)) AS uniques_high
FROM (
    SELECT
        *,
        CASE anon_fitting_size WHEN 1 THEN 1 / anon_fitting_people ELSE 0.0 END AS anon_binomial_unique,
        CASE anon_fitting_size WHEN 1 THEN exp(-anon_unsampled) ELSE 0.0 END AS anon_poisson_unique
    FROM query_table(anon_helpers.as_source(classes))
);

-- Sizes of classes where NULL fits every value: how many rows each class may be of, those that agree in the keys that are
-- known in both. Each row counts the others, so that sizes do not add up to the rows: do not take them for a promise, since
-- somebody who knows the true values of a person may find fewer rows; see anon.matching_rows.
--
-- Job: risk.
-- Returns: the keys as they are, class_size BIGINT (rows that look the same), matched_size BIGINT; one row per class. An error
-- for more than 64 patterns of NULLs.
-- Source: as freqCalc of sdcMicro counts, with alpha = 1; but complete rows count those that are NULL in all keys, too.
-- Example:
--   FROM anon.matched_sizes('visits', ['sex', 'zip']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon.matched_sizes(source, keys) AS TABLE
WITH anon_rows AS (SELECT COLUMNS(anon_helpers.listed(keys)), 1 AS anon_one FROM query_table(anon_helpers.as_source(source))),
anon_weighted AS (FROM anon_helpers.weighted_classes('anon_rows', keys, 'anon_one'))
SELECT COLUMNS(anon_helpers.listed(keys)), anon_class_size AS class_size, anon_fitting_size AS matched_size
FROM anon_helpers.fitting_classes('anon_weighted', keys);

-- Individual risk: the chance that a row of a sample is rightly matched by somebody who knows the keys of everybody in the
-- population, by class. The class has F people, and the match is right with 1 / F; F is negative binomial given the rows of
-- the class and the sum of their weights. `sum(class_size * risk)` is the expected number of rows that are found.
--
-- Where the truth was known this was below it: a class is judged by its own weights, and rare ones have little. The other
-- end of the bracket is anon.poisson_risk, see anon.global_risk. Weights that are text, NULL, not finite or not above 0 are
-- errors, and so are classes that stand for fewer people than they have rows.
--
-- Job: risk.
-- Returns: the keys, class_size BIGINT, population_size DOUBLE (the sum of the weights), risk DOUBLE in (0, 1]; one row per
-- class.
-- Source: Benedetti and Franconi 1998; Franconi and Polettini 2004. sdcMicro approximates it in classes of 3 rows and more.
-- Example:
--   WITH survey AS (SELECT *, 20 + id AS weight FROM visits)
--   FROM anon.individual_risk('survey', ['age', 'sex'], 'weight') ORDER BY risk DESC, age ASC;
CREATE OR REPLACE MACRO anon.individual_risk(source, keys, weight) AS TABLE
SELECT
    COLUMNS(anon_helpers.listed(keys)),
    anon_class_size AS class_size,
    anon_population_size AS population_size,
    anon_binomial_risk AS risk
FROM anon_helpers.weighted_classes(source, keys, weight);

-- Risk of the rows of a sample where the keys are taken as independent, by class: the people of a class are Poisson with
-- the mean that the weighted counts of each key's values give, and those outside of the sample are what is left of it.
-- `sum(class_size * risk)` is the expected number of rows that are found.
--
-- Where the truth was known this was mostly above it. Weights are checked as in anon.individual_risk.
--
-- Job: risk.
-- Returns: the keys, class_size BIGINT, population_size DOUBLE (the sum of the weights), expected_size DOUBLE (people if keys
-- are independent), risk DOUBLE in (0, 1], population_unique DOUBLE (of a class of one row the chance that nobody else in the
-- population is in it, else 0); one row per class.
-- Source: Bethlehem, Keller and Pannekoek 1990; Skinner and Holmes 1998; Elamir and Skinner 2006.
-- Example:
--   WITH survey AS (SELECT *, 20 + id AS weight FROM visits)
--   FROM anon.poisson_risk('survey', ['age', 'sex'], 'weight') ORDER BY risk DESC, age ASC;
CREATE OR REPLACE MACRO anon.poisson_risk(source, keys, weight) AS TABLE
WITH anon_weighted AS (FROM anon_helpers.weighted_classes(source, keys, weight))
SELECT
    COLUMNS(anon_helpers.listed(keys)),
    anon_class_size AS class_size,
    anon_population_size AS population_size,
    anon_expected_size AS expected_size,
    anon_poisson_risk AS risk,
    CASE anon_class_size WHEN 1 THEN exp(-anon_unsampled) ELSE 0.0 END AS population_unique
FROM anon_helpers.risk_classes('anon_weighted', keys, TRUE);

-- Risk of a whole sample in its population, as a bracket: of row_count rows, an attacker who knows the keys of everybody in
-- the population is expected to find between expected_low and expected_high, the sums of anon.individual_risk and of
-- anon.poisson_risk over rows, the smaller one first. Both are estimates from the weights; where the truth was known it lay
-- between them in 32 of 33 cases. They are no bounds. They hold for the keys that you name, and not for one who knows that a
-- person is in the sample: anon.prosecutor_risk. A wide bracket says that so small a sample cannot answer.
--
-- Job: risk.
-- Returns: one row: row_count BIGINT, class_count BIGINT, population_size DOUBLE (the sum of the weights), unique_rows BIGINT
-- (alone in their class), expected_low DOUBLE, expected_high DOUBLE (rows found), low_share DOUBLE, high_share DOUBLE (of the
-- rows), uniques_low DOUBLE, uniques_high DOUBLE (of the unique rows, those that are expected to be unique in the population,
-- by the same two models). Measures of a table without rows are NULL.
-- Source: see anon.individual_risk and anon.poisson_risk.
-- Example:
--   WITH survey AS (SELECT *, 20 + id AS weight FROM visits) FROM anon.global_risk('survey', ['age', 'sex'], 'weight');
CREATE OR REPLACE MACRO anon.global_risk(source, keys, weight) AS TABLE
WITH anon_weighted AS (FROM anon_helpers.weighted_classes(source, keys, weight)),
anon_classes AS (FROM anon_helpers.risk_classes('anon_weighted', keys, TRUE))
FROM anon_helpers.risk_sums('anon_classes');

-- guarded: tests/sql/71_survey.test

-- The greatest risk that rows may have so that a share of them is found at most: recode until no row has more. It is one of
-- the risks of anon.individual_risk, the greatest with which `sum(least(risk, threshold))` over rows is at most the accepted
-- number. If that holds of all rows as they are it is the greatest risk of them all, and no row is above it.
--
-- Job: risk.
-- Returns: one row: row_count BIGINT, expected DOUBLE (rows found), accepted DOUBLE (share * rows), threshold DOUBLE (NULL if
-- every row has too much of a risk), rows_above BIGINT (with more). Measures of a table without rows are NULL.
-- Source: Franconi and Polettini 2004; sdcMicro has NA where no row is above it, and 0 where there is none.
-- Example:
--   WITH survey AS (SELECT *, 20 + id AS weight FROM visits)
--   FROM anon.risk_threshold('survey', ['age', 'sex'], 'weight', 0.1);
CREATE OR REPLACE MACRO anon.risk_threshold(source, keys, weight, share) AS TABLE
WITH anon_risks AS (
    SELECT
        anon_class_size,
        anon_binomial_risk,
        anon_helpers.checked_share(share, 'the share of rows') * sum(anon_class_size) OVER () AS anon_accepted,
        sum(anon_class_size * anon_binomial_risk) OVER anon_rising
        + anon_binomial_risk * (sum(anon_class_size) OVER () - sum(anon_class_size) OVER anon_rising) AS anon_found
    FROM anon_helpers.weighted_classes(source, keys, weight)
    WINDOW anon_rising AS (ORDER BY anon_binomial_risk ASC)
)
SELECT
    CAST(coalesce(sum(anon_class_size), 0) AS BIGINT) AS row_count,
    max(anon_found) AS expected,
    any_value(anon_accepted) AS accepted,
    max(anon_binomial_risk) FILTER (WHERE anon_found <= anon_accepted) AS threshold,
    CAST(coalesce(sum(anon_class_size) FILTER (WHERE anon_found > anon_accepted), 0) AS BIGINT) AS rows_above
FROM anon_risks;

-- guarded: tests/sql/71_survey.test

-- The classes of a sample whose rows have more than a risk by one estimate at least, with both: what to recode first. Classes
-- with most rows come first.
--
-- Job: risk.
-- Returns: the keys, class_size BIGINT, population_size DOUBLE (the sum of the weights), risk DOUBLE (of
-- anon.individual_risk), poisson_risk DOUBLE (of anon.poisson_risk), expected_rows DOUBLE (found by the greater one); one row
-- per class.
-- Source: see anon.individual_risk and anon.poisson_risk.
-- Example:
--   WITH survey AS (SELECT *, 20 + id AS weight FROM visits)
--   FROM anon.risky_cells('survey', ['age', 'sex'], 'weight', 0.05);
CREATE OR REPLACE MACRO anon.risky_cells(source, keys, weight, at_most) AS TABLE
WITH anon_weighted AS (FROM anon_helpers.weighted_classes(source, keys, weight))
SELECT
    COLUMNS(anon_helpers.listed(keys)),
    anon_class_size AS class_size,
    anon_population_size AS population_size,
    anon_binomial_risk AS risk,
    anon_poisson_risk AS poisson_risk,
    anon_class_size * greatest(anon_binomial_risk, anon_poisson_risk) AS expected_rows
FROM anon_helpers.risk_classes('anon_weighted', keys, TRUE)
WHERE greatest(anon_binomial_risk, anon_poisson_risk) > anon_helpers.checked_share(at_most, 'at_most')
ORDER BY anon_class_size DESC, greatest(anon_binomial_risk, anon_poisson_risk) DESC;

-- The rows of a sample, each with its household, its weight, and the number and risk of its class, one of those that were
-- counted. A household that is NULL is an error.
--
-- Returns: anon_household with its column's type, anon_weight DOUBLE, anon_class BIGINT, anon_binomial_risk DOUBLE.
-- Example:
--   WITH survey AS (SELECT *, id // 2 AS home FROM visits),
--   classes AS (SELECT DISTINCT sex, 0.1 AS anon_binomial_risk FROM visits)
--   FROM anon_helpers.household_members('survey', 'classes', ['sex'], 'id', 'home') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.household_members(source, classes, keys, weight, household) AS TABLE
SELECT anon_household, anon_weight, anon_class, anon_binomial_risk
FROM (
    SELECT
        row(*COLUMNS(anon_helpers.listed(keys))) AS anon_key,
        coalesce(
            COLUMNS([household]), error(concat('column "', household, '" is NULL in a row: every row needs its household'))
        ) AS anon_household,
        anon_helpers.sampling_weight(COLUMNS([weight]), weight, keys) AS anon_weight
    FROM query_table(anon_helpers.as_source(source))
) AS anon_rows
-- NULLs within rows are equal.
INNER JOIN (
    SELECT row(*COLUMNS(anon_helpers.listed(keys))) AS anon_key, anon_binomial_risk, row_number() OVER () AS anon_class
    FROM query_table(anon_helpers.as_source(classes))
) AS anon_numbered USING (anon_key);

-- guarded: tests/sql/71_survey.test
-- no mutants of risk < 1: risks of 1 are another case, and DuckDB 1.5 has no logarithm of 0

-- An aggregate over the members of a household: the chance that one of them, at least, is found, if each is independently.
--
-- Returns: DOUBLE.
-- Example:
--   SELECT zip, anon_helpers.risk_of_any(1 / (1 + id)) AS risk FROM visits GROUP BY ALL ORDER BY zip ASC;
CREATE OR REPLACE MACRO anon_helpers.risk_of_any(risk) AS
CASE WHEN max(risk) >= 1 THEN 1.0 ELSE 1 - exp(sum(ln(CASE WHEN risk < 1 THEN 1 - risk ELSE 1.0 END))) END;

-- guarded: tests/sql/71_survey.test

-- The risk of all households of a sample, by single members, see anon.household_risk, and by all members together, see
-- anon.household_key_risk: where weights differ by more than a factor of 2 within a household there is none of the latter.
--
-- Returns: one row: household_count BIGINT, households_found DOUBLE, rows_found DOUBLE (by single members), uneven_households
-- BIGINT (with such weights), unique_households BIGINT, matched_households DOUBLE, matched_rows DOUBLE.
-- Example:
--   WITH members AS (
--       SELECT id // 2 AS anon_household, id % 2 AS anon_class, 5.0 AS anon_weight, 0.1 AS anon_binomial_risk FROM visits
--   )
--   FROM anon_helpers.risk_of_households('members');
CREATE OR REPLACE MACRO anon_helpers.risk_of_households(members) AS TABLE
SELECT
    CAST(coalesce(sum(anon_homes), 0) AS BIGINT) AS household_count,
    sum(anon_homes_found) AS households_found,
    sum(anon_rows_found) AS rows_found,
    CAST(coalesce(sum(anon_uneven), 0) AS BIGINT) AS uneven_households,
    count(*) FILTER (WHERE anon_homes = 1) AS unique_households,
    CASE uneven_households WHEN 0 THEN sum(anon_homes * anon_risk) END AS matched_households,
    CASE uneven_households WHEN 0 THEN sum(anon_rows * anon_risk) END AS matched_rows
FROM (
    SELECT
        count(*) AS anon_homes,
        sum(anon_members) AS anon_rows,
        sum(anon_found) AS anon_homes_found,
        sum(anon_members * anon_found) AS anon_rows_found,
        count(*) FILTER (WHERE anon_is_uneven) AS anon_uneven,
        anon_helpers.negative_binomial_risk(count(*), sum(anon_mean)) AS anon_risk
    FROM (
        SELECT
            list_sort(list(anon_class)) AS anon_key,
            count(*) AS anon_members,
            anon_helpers.risk_of_any(anon_binomial_risk) AS anon_found,
            max(anon_weight) > 2 * min(anon_weight) AS anon_is_uneven,
            avg(anon_weight) AS anon_mean
        FROM query_table(anon_helpers.as_source(members))
        GROUP BY anon_household
    )
    GROUP BY anon_key
);

-- Risk of the households of a sample: the chance that a member, at least, is rightly matched, where members are found
-- independently with their anon.individual_risk. `sum(risk)` is the expected number of households that are found, and
-- `sum(member_count * risk)` that of the rows in them, which sdcMicro prints.
--
-- An attacker may know households as a whole, which this leaves out: see anon.household_key_risk. A household that is NULL is
-- an error; weights are checked as in anon.individual_risk.
--
-- Job: risk.
-- Returns: household with its column's type, member_count BIGINT (rows), risk DOUBLE in (0, 1]; one row per household.
-- Source: Franconi and Polettini 2004; equal to the hierarchical risk of sdcMicro but for its approximation.
-- Example:
--   WITH survey AS (SELECT *, 20 + id AS weight, id // 2 AS home FROM visits)
--   FROM anon.household_risk('survey', ['age', 'sex'], 'weight', 'home') ORDER BY household ASC;
CREATE OR REPLACE MACRO anon.household_risk(source, keys, weight, household) AS TABLE
WITH anon_weighted AS (FROM anon_helpers.weighted_classes(source, keys, weight)),
anon_members AS (FROM anon_helpers.household_members(source, 'anon_weighted', keys, weight, household))
SELECT anon_household AS household, count(*) AS member_count, anon_helpers.risk_of_any(anon_binomial_risk) AS risk
FROM anon_members
GROUP BY anon_household;

-- Risk of the households of a sample, as a whole: the keys of all members together are one key of a household, whatever the
-- order of members, and households are matched by it. They are rows of a sample then, with the mean of their members'
-- weights, and found with their individual risk. anon.household_risk takes each member alone.
--
-- A household that is NULL is an error, and so are weights that differ by more than a factor of 2 within a household. Weights
-- are checked as in anon.individual_risk; a class of households that stands for fewer than it has is a census.
--
-- Job: risk.
-- Returns: one row: household_count BIGINT, unique_households BIGINT (no other household of the sample has these members),
-- households_found DOUBLE (expected), rows_found DOUBLE (in them). The last two are NULL for a table without rows.
-- Source: see anon.individual_risk.
-- Example:
--   WITH survey AS (SELECT *, 20 + id AS weight, id // 2 AS home FROM visits)
--   FROM anon.household_key_risk('survey', ['age', 'sex'], 'weight', 'home');
CREATE OR REPLACE MACRO anon.household_key_risk(source, keys, weight, household) AS TABLE
WITH anon_weighted AS (FROM anon_helpers.weighted_classes(source, keys, weight)),
anon_members AS (FROM anon_helpers.household_members(source, 'anon_weighted', keys, weight, household))
SELECT household_count, unique_households, matched_households AS households_found, matched_rows AS rows_found
FROM anon_helpers.risk_of_households('anon_members')
WHERE CASE uneven_households WHEN 0 THEN TRUE ELSE error(concat(
    'weights differ by more than a factor of 2 within households: ', uneven_households, ' of ', household_count,
    '; give each household one weight'
)) END;

-- What privacy models do not see: classes with one sensitive value, columns that single out rows, and dependencies.

-- Whether all rows of a class have one value (an aggregate over its rows). NULL is a value.
--
-- Returns: BOOLEAN; true for no rows.
-- Source: Machanavajjhala et al. 2007, the homogeneity attack.
-- Example:
--   SELECT sex, anon_helpers.is_homogeneous(diagnosis) AS is_homogeneous FROM visits GROUP BY sex;
CREATE OR REPLACE MACRO anon_helpers.is_homogeneous(value) AS
min(value) IS NOT DISTINCT FROM max(value) AND count(value) IN (0, count(*));

-- The rows of classes in which all rows have one sensitive value, so that their class gives the value away.
--
-- Job: risk.
-- Returns: one row: homogeneous_rows BIGINT, row_count BIGINT.
-- Source: Machanavajjhala et al. 2007, the homogeneity attack.
-- Example:
--   FROM anon.homogeneous_rows('visits', ['age', 'sex'], 'diagnosis');
CREATE OR REPLACE MACRO anon.homogeneous_rows(source, quasi_identifiers, sensitive) AS TABLE
SELECT
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_is_homogeneous), 0) AS BIGINT) AS homogeneous_rows,
    CAST(coalesce(sum(anon_rows), 0) AS BIGINT) AS row_count
FROM (
    SELECT sum(row_count) AS anon_rows, anon_helpers.is_homogeneous(sensitive_value) AS anon_is_homogeneous
    FROM anon_helpers.value_counts(source, quasi_identifiers, sensitive)
    GROUP BY class
);

-- The rows whose value fewer rows have than a number (an aggregate over values, with the rows of each).
--
-- Returns: HUGEINT, 0 without any.
-- Example:
--   SELECT anon_helpers.rare_rows_of(class_size, 5) AS rare_rows FROM anon.class_sizes('visits', ['zip']);
CREATE OR REPLACE MACRO anon_helpers.rare_rows_of(value_rows, fewer_than) AS
coalesce(sum(value_rows) FILTER (WHERE value_rows < fewer_than), 0);

-- The rows whose combination of values in some columns fewer rows have than a number: who knows these values finds them.
--
-- Job: risk.
-- Returns: one row: rare_rows BIGINT, row_count BIGINT.
-- Example:
--   FROM anon.rare_rows('visits', ['age', 'diagnosis'], 2);
CREATE OR REPLACE MACRO anon.rare_rows(source, column_names, fewer_than) AS TABLE
SELECT
    CAST(anon_helpers.rare_rows_of(class_size, anon_fewer_than) AS BIGINT) AS rare_rows,
    CAST(coalesce(sum(class_size), 0) AS BIGINT) AS row_count
FROM (SELECT class_size, fewer_than AS anon_fewer_than FROM anon.class_sizes(source, column_names));

-- How far one column determines another: it does if no row is undetermined. NULL is a value.
--
-- The support separates a dependency from chance: a value that no other row has determines whatever its row has. It is the
-- second largest, over values of the dependent column, of the rows beyond the first of each determinant: none is repeated
-- where determinants are unique, or where the dependent column has one value.
--
-- pairs: a relation of the pairs of values, each once: determinant, dependent, row_count.
-- Returns: one row: undetermined_rows BIGINT, those whose determinant has several dependents; support BIGINT; row_count BIGINT.
-- Source: Codd 1971, functional dependency.
-- Example:
--   WITH pairs AS (SELECT zip AS determinant, sex AS dependent, count(*) AS row_count FROM visits GROUP BY ALL)
--   FROM anon_helpers.dependency('pairs');
CREATE OR REPLACE MACRO anon_helpers.dependency(pairs) AS TABLE
SELECT
    CAST(coalesce(sum(anon_undetermined_rows), 0) AS BIGINT) AS undetermined_rows,
    CAST(coalesce(list_extract(max(anon_repeated_rows, 2), 2), 0) AS BIGINT) AS support,
    CAST(coalesce(sum(anon_rows), 0) AS BIGINT) AS row_count
FROM (
    SELECT
        coalesce(sum(row_count) FILTER (WHERE anon_dependents > 1), 0) AS anon_undetermined_rows,
        sum(row_count) - count(*) AS anon_repeated_rows,
        sum(row_count) AS anon_rows
    FROM (
        SELECT dependent, row_count, count(*) OVER (PARTITION BY determinant) AS anon_dependents
        FROM query_table(anon_helpers.as_source(pairs))
    )
    GROUP BY dependent
);

-- Releases that follow each other: what they give away together of the persons in them.
--
-- A release is given as the rows that it shows: the labels of its quasi-identifiers, and beside them the key of the
-- person, which no release has. A quasi-identifier of the other release that it publishes as it is belongs to them: the
-- joint classes count all columns but the key. Keys are compared as text: 7 and 7.0 are two.

-- guarded: tests/sql/73_joint_classes.test

-- The persons that two releases show, by their labels in both. Whoever knows the quasi-identifiers of a person at both
-- times, and links all rows that belong together, is left with the persons of one joint class. A release that shows no
-- row of a person has NULL for their class, whether it left the row out or there was none. A key that is NULL, or has
-- several rows of a release, is an error, and so are two releases with rows and no key in common.
--
-- Job: privacy.
-- Returns: first_class STRUCT, second_class STRUCT of the labels in each release, or NULL; person_count BIGINT.
-- Source: composition attacks (Ganta, Kasiviswanathan and Smith 2008); differences of releases (Byun et al. 2006).
-- Example:
--   WITH spring AS (SELECT id, sex FROM visits), autumn AS (SELECT id, zip FROM visits WHERE id > 3)
--   FROM anon.joint_classes('spring', 'autumn', 'id') ORDER BY ALL;
CREATE OR REPLACE MACRO anon.joint_classes(first_release, second_release, key) AS TABLE
SELECT
    first_class,
    second_class,
    CASE
        WHEN NOT bool_or(first_class IS NOT NULL AND second_class IS NOT NULL) OVER ()
            AND count(first_class) OVER () > 0
            AND count(second_class) OVER () > 0
            THEN error(concat('no value of column "', key, '" is in both releases'))
        ELSE person_count
    END AS person_count
FROM (
    SELECT anon_first_class AS first_class, anon_second_class AS second_class, count(*) AS person_count
    FROM (
        SELECT
            CASE
                WHEN anon_key IS NULL THEN error(concat('column "', key, '" is NULL in a row of a release'))
                WHEN greatest(count(anon_first_class), count(anon_second_class)) > 1
                    THEN error(concat('column "', key, '" has a value in several rows of a release'))
                ELSE any_value(anon_first_class)
            END AS anon_first_class,
            any_value(anon_second_class) AS anon_second_class
        FROM (
            SELECT
                anon.text_of(COLUMNS([key])) AS anon_key,
                row(*COLUMNS(lambda anon_name: lower(anon_name) <> lower(key))) AS anon_first_class
            FROM query_table(anon_helpers.as_source(first_release))
            -- By name: the column that a table lacks is NULL.
            UNION ALL BY NAME
            SELECT
                anon.text_of(COLUMNS([key])) AS anon_key,
                row(*COLUMNS(lambda anon_name: lower(anon_name) <> lower(key))) AS anon_second_class
            FROM query_table(anon_helpers.as_source(second_release))
        )
        GROUP BY anon_key
    )
    GROUP BY ALL
);

-- guarded: tests/sql/73_joint_classes.test

-- The k of some joint classes, such as those of anon.joint_classes: the fewest persons of one.
--
-- Returns: one row: k BIGINT; class_count BIGINT; person_count BIGINT; unique_persons BIGINT, those alone in their joint
-- class. Without classes, k is NULL.
-- Example:
--   WITH joint AS (FROM anon.joint_classes('visits', 'visits', 'id')) FROM anon_helpers.joint_sizes('joint');
CREATE OR REPLACE MACRO anon_helpers.joint_sizes(joint_classes) AS TABLE
SELECT
    min(anon_classes.person_count) AS k,
    count(*) AS class_count,
    CAST(coalesce(sum(anon_classes.person_count), 0) AS BIGINT) AS person_count,
    count(*) FILTER (WHERE anon_classes.person_count = 1) AS unique_persons
FROM query_table(anon_helpers.as_source(joint_classes)) AS anon_classes;

-- The k of two releases together, see anon.joint_classes and joint_sizes. Three releases are two, once the first two
-- are one table with the labels of both.
--
-- Job: risk.
-- Returns: one row: k BIGINT; class_count BIGINT; person_count BIGINT; unique_persons BIGINT. k is NULL where neither
-- release has a row.
-- Example:
--   WITH spring AS (SELECT id, sex FROM visits), autumn AS (SELECT id, zip FROM visits WHERE id > 3)
--   FROM anon.joint_k('spring', 'autumn', 'id');
CREATE OR REPLACE MACRO anon.joint_k(first_release, second_release, key) AS TABLE
WITH anon_joint AS (SELECT * FROM anon.joint_classes(first_release, second_release, key))
SELECT * FROM anon_helpers.joint_sizes('anon_joint');

-- Special uniques: rows that few of their values single out, and the keys that do so.

-- The largest size of the sets of keys that SUDA counts: max_size, or the number of keys if that is NULL or greater.
--
-- Returns: INTEGER; an error for a size that is not a whole number from 1, for a key that is listed twice, and for more than
-- 4,096 sets.
-- Example:
--   SELECT anon_helpers.set_size(['age', 'sex', 'zip'], 2) AS largest_size;
CREATE OR REPLACE MACRO anon_helpers.set_size(keys, max_size) AS
CASE
    WHEN len(list_distinct(list_transform(anon_helpers.listed(keys), lambda anon_key: lower(anon_key))))
        < len(anon_helpers.listed(keys))
        THEN error('a key is listed twice')
    WHEN NOT regexp_full_match(anon.text_of(max_size), '0*[1-9][0-9]*')
        THEN error('max_size is a number of keys, 1 or more, or NULL for sets of any size')
    WHEN list_sum(list_transform(
        range(1, least(len(anon_helpers.listed(keys)), TRY_CAST(anon.text_of(max_size) AS INTEGER)) + 1),
        -- The logarithm of a binomial coefficient.
        lambda anon_size: exp(lgamma(len(anon_helpers.listed(keys)) + 1)
            - lgamma(anon_size + 1) - lgamma(len(anon_helpers.listed(keys)) - anon_size + 1))
    )) > 4096.5 THEN error('the keys have more than 4,096 sets: take fewer keys, or a smaller max_size')
    ELSE CAST(least(len(anon_helpers.listed(keys)), TRY_CAST(anon.text_of(max_size) AS INTEGER)) AS INTEGER)
END;

-- The score of a minimal set of keys: (number of keys - size)!, so that few keys weigh more than many.
--
-- Returns: DOUBLE, exact up to 18 keys.
-- Source: Elliot, Manning and Ford 2002, "A Computational Algorithm for Handling the Special Uniques Problem".
-- Example:
--   SELECT anon_helpers.set_score(4, 1) AS one_of_four_keys;
CREATE OR REPLACE MACRO anon_helpers.set_score(key_count, set_size) AS
coalesce(list_product(range(1, CAST(key_count - set_size AS BIGINT) + 1)), 1.0);

-- The special rows of a source, under names that no key has, see anon.suda.
--
-- How it goes. Rows are counted by cells. A value has a number in its key, and a cell's code holds the numbers of all of its
-- keys in bits of their own, so that code & bits is what a set of keys shows of the cell. One set after the other groups the
-- codes; a cell that is alone in its group and has one row is unique in the set. Cells that are unique in the same sets are a
-- pattern. The sets that are left for a pattern are those that have no unique subset of one key less. A cell without a code is
-- always alone, and so counts the sets. Where NULL is skipped it is a value all the same, and a cell is unique in no set with it:
-- cells that have NULL in a key are alike to none that has a value there.
--
-- With skip_nulls NULL is in no minimal set, and shields no row from being special; without it NULL is a value.
--
-- Returns: the keys as they are, anon_score DOUBLE, anon_least_size INTEGER, anon_minimal_sets VARCHAR[][].
-- Example:
--   SELECT age, anon_score FROM anon_helpers.special_rows('visits', ['age', 'sex'], 2, TRUE) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.special_rows(source, keys, max_size, skip_nulls) AS TABLE
WITH RECURSIVE anon_cells AS MATERIALIZED (
    SELECT COLUMNS(anon_helpers.listed(keys)), count(*) AS anon_rows, row_number() OVER () AS anon_cell
    FROM query_table(anon_helpers.as_source(source))
    GROUP BY ALL
),
anon_cell_values AS NOT MATERIALIZED (
    SELECT
        anon_cell,
        anon_value,
        list_position(
            list_transform(anon_helpers.listed(keys), lambda anon_name: lower(anon_name)), lower(anon_column)
        ) AS anon_key
    FROM (
        FROM (SELECT anon_cell, anon.text_of(COLUMNS(anon_helpers.listed(keys))) FROM anon_cells)
        UNPIVOT INCLUDE NULLS (anon_value FOR anon_column IN (COLUMNS(* EXCLUDE (anon_cell))))
    )
),
anon_values AS MATERIALIZED (
    SELECT anon_key, anon_value, row_number() OVER (PARTITION BY anon_key ORDER BY anon_value ASC) - 1 AS anon_number
    FROM (SELECT DISTINCT anon_key, anon_value FROM anon_cell_values)
),
anon_keys AS MATERIALIZED (
    SELECT
        anon_key,
        -- The bits below are those of the keys before.
        CAST(1 AS HUGEINT) << CAST(sum(anon_width) OVER (ORDER BY anon_key ASC) - anon_width AS HUGEINT) AS anon_first,
        anon_first * ((CAST(1 AS HUGEINT) << CAST(anon_width AS HUGEINT)) - 1) AS anon_bits
    FROM (
        SELECT
            anon_key,
            CASE
                WHEN sum(length(bin(max(anon_number)))) OVER () > 125
                    THEN error('the keys have too many values together: take fewer keys, or generalize them')
                ELSE length(bin(max(anon_number)))
            END AS anon_width
        FROM anon_values
        GROUP BY anon_key
    )
),
anon_codes AS MATERIALIZED (
    -- Sets with a bit that bars a cell are no sets in which it is unique: all, unless it has one row.
    SELECT anon_cell, anon_code, CASE anon_rows WHEN 1 THEN anon_missing ELSE -1 END AS anon_barred
    FROM anon_cells
    INNER JOIN (
        SELECT
            anon_cell,
            CAST(sum(anon_number * anon_first) AS HUGEINT) AS anon_code,
            CAST(sum(CASE WHEN skip_nulls AND anon_cell_values.anon_value IS NULL THEN anon_bits ELSE 0 END) AS HUGEINT)
                AS anon_missing
        FROM anon_cell_values
        INNER JOIN anon_values
            ON
                anon_cell_values.anon_key = anon_values.anon_key
                AND anon_cell_values.anon_value IS NOT DISTINCT FROM anon_values.anon_value
        INNER JOIN anon_keys ON anon_values.anon_key = anon_keys.anon_key
        GROUP BY anon_cell
    ) USING (anon_cell)
    UNION ALL
    SELECT NULL, NULL, 0
),
anon_grown AS (
    SELECT [anon_key] AS anon_set, anon_bits FROM anon_keys
    UNION ALL
    SELECT list_append(anon_grown.anon_set, anon_keys.anon_key), anon_grown.anon_bits | anon_keys.anon_bits
    FROM anon_grown
    INNER JOIN anon_keys ON anon_grown.anon_set[-1] < anon_keys.anon_key
    WHERE len(anon_grown.anon_set) < anon_helpers.set_size(keys, max_size)
),
anon_sets AS MATERIALIZED (
    SELECT
        CAST(row_number() OVER (ORDER BY len(anon_set) ASC, anon_set ASC) AS INTEGER) AS anon_step,
        list_transform(anon_set, lambda anon_key: anon_helpers.listed(keys)[anon_key]) AS anon_names,
        anon_bits
    FROM anon_grown
),
anon_found (anon_step, anon_cell) AS (
    SELECT CAST(0 AS INTEGER), CAST(NULL AS BIGINT)
    UNION ALL
    SELECT any_value(anon_sets.anon_step), any_value(anon_codes.anon_cell)
    FROM anon_sets
    INNER JOIN (SELECT max(anon_step) + 1 AS anon_step FROM anon_found) USING (anon_step)
    CROSS JOIN anon_codes
    GROUP BY anon_codes.anon_code & anon_sets.anon_bits
    HAVING count(*) = 1 AND bool_and(anon_codes.anon_barred & anon_sets.anon_bits = 0)
),
anon_patterns AS MATERIALIZED (
    SELECT row_number() OVER () AS anon_pattern, anon_steps, list(anon_cell) AS anon_members
    FROM (
        SELECT anon_cell, list_sort(list(anon_step)) AS anon_steps FROM anon_found WHERE anon_cell IS NOT NULL GROUP BY ALL
    )
    GROUP BY anon_steps
),
anon_unique AS MATERIALIZED (SELECT anon_pattern, unnest(anon_steps) AS anon_step FROM anon_patterns),
anon_supersets AS MATERIALIZED (
    SELECT anon_sets.anon_step, anon_greater.anon_step AS anon_greater_step
    FROM anon_sets
    INNER JOIN anon_keys ON anon_sets.anon_bits & anon_keys.anon_bits = 0
    INNER JOIN anon_sets AS anon_greater ON anon_sets.anon_bits + anon_keys.anon_bits = anon_greater.anon_bits
),
anon_scores AS (
    SELECT
        anon_pattern,
        sum(anon_helpers.set_score(len(anon_helpers.listed(keys)), len(anon_names))) AS anon_score,
        CAST(min(len(anon_names)) AS INTEGER) AS anon_least_size,
        list(anon_names ORDER BY anon_step ASC) AS anon_minimal_sets
    FROM anon_unique
    INNER JOIN anon_sets USING (anon_step)
    ANTI JOIN (
        SELECT anon_pattern, anon_greater_step AS anon_step FROM anon_unique INNER JOIN anon_supersets USING (anon_step)
    ) AS anon_greater USING (anon_pattern, anon_step)
    GROUP BY anon_pattern
)
SELECT COLUMNS(anon_helpers.listed(keys)), anon_score, anon_least_size, anon_minimal_sets
FROM anon_cells
INNER JOIN (SELECT anon_pattern, unnest(anon_members) AS anon_cell FROM anon_patterns) USING (anon_cell)
INNER JOIN anon_scores USING (anon_pattern);

-- The rows that are special: each is the only one with its values of some keys, and the fewer keys that takes, the higher its
-- score (SUDA). A set of keys is minimal if only this row has its values, and that is true of none of its subsets. The score
-- is the sum over minimal sets of (number of keys - size of the set)!. It ranks rows: it is not a probability.
--
-- Sets of more than max_size keys are not counted; NULL stands for sets of any size. NULL in a key is a value; where it is
-- none, as sdcMicro has it, take anon_helpers.special_rows(source, keys, max_size, TRUE).
--
-- Job: risk.
-- Returns: the keys as they are, score DOUBLE, least_size INTEGER (of its minimal sets), minimal_sets VARCHAR[][] (the keys of
-- each); one row per row of the source with a minimal set. An error for more than 4,096 sets, or more than 125 bits of values.
-- Source: Elliot, Manning and Ford 2002; Manning, Haglin and Keane 2008, "A recursive search algorithm for statistical
-- disclosure assessment".
-- Example:
--   FROM anon.suda('visits', ['age', 'sex', 'diagnosis'], 2) ORDER BY score DESC, age ASC;
CREATE OR REPLACE MACRO anon.suda(source, keys, max_size) AS TABLE
SELECT
    COLUMNS(anon_helpers.listed(keys)),
    anon_score AS score,
    anon_least_size AS least_size,
    anon_minimal_sets AS minimal_sets
FROM anon_helpers.special_rows(source, keys, max_size, FALSE);

-- How much each key adds to the scores of special rows that were found, see anon.suda_contributions.
--
-- Returns: attribute VARCHAR, set_count BIGINT, score DOUBLE, contribution DOUBLE; one row per key.
-- Example:
--   WITH special AS (FROM anon_helpers.special_rows('visits', ['age', 'sex'], 2, FALSE))
--   FROM anon_helpers.key_contributions('special', ['age', 'sex']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.key_contributions(special, keys) AS TABLE
WITH anon_scored AS MATERIALIZED (
    SELECT anon_names, anon_helpers.set_score(len(anon_helpers.listed(keys)), len(anon_names)) AS anon_score
    FROM (SELECT unnest(anon_minimal_sets) AS anon_names FROM query_table(anon_helpers.as_source(special)))
)
SELECT
    anon_key AS attribute,
    count(anon_score) AS set_count,
    coalesce(sum(anon_score), 0.0) AS score,
    100 * coalesce(sum(anon_score), 0.0) / (SELECT sum(anon_score) FROM anon_scored) AS contribution
FROM unnest(anon_helpers.listed(keys)) AS anon_listed (anon_key)
LEFT JOIN (SELECT unnest(anon_names) AS anon_name, anon_score FROM anon_scored) AS anon_parts
    ON anon_listed.anon_key = anon_parts.anon_name
GROUP BY anon_key;

-- How much each key adds to the scores of the special rows, see anon.suda: recode the first one first. The shares of the keys
-- add up to more than 100, as a minimal set counts for each of its keys.
--
-- Job: risk.
-- Returns: attribute VARCHAR, set_count BIGINT (minimal sets that contain it), score DOUBLE (of these), contribution DOUBLE (in
-- percent of the score of all); one row per key. Without special rows the contribution is NULL.
-- Source: Elliot, Manning and Ford 2002.
-- Example:
--   FROM anon.suda_contributions('visits', ['age', 'sex', 'diagnosis'], 2) ORDER BY contribution DESC;
CREATE OR REPLACE MACRO anon.suda_contributions(source, keys, max_size) AS TABLE
WITH anon_special AS MATERIALIZED (FROM anon_helpers.special_rows(source, keys, max_size, FALSE))
FROM anon_helpers.key_contributions('anon_special', keys);

-- The people who are not in a sample, for each one who is, by weights of rows that are about equal.
--
-- Returns: DOUBLE, 0 or more; NULL if a weight is above three times another one, since chances that differ have no theory.
-- Example:
--   SELECT anon_helpers.odds_by_weights(10, 50.0, 4, 7) AS odds;
CREATE OR REPLACE MACRO anon_helpers.odds_by_weights(row_count, weight_sum, least_weight, greatest_weight) AS
CASE WHEN greatest_weight <= 3 * least_weight THEN greatest(weight_sum / row_count - 1, 0) END;

-- Matches of unique rows of a sample with people, by classes that were counted: how many unique rows somebody outside of the
-- sample looks like, by its pairs, and the chance that a match is right (DIS), see anon.dis_suda; by the odds that somebody
-- is not in the sample.
--
-- Returns: one row: anon_others DOUBLE, anon_correct_match DOUBLE; NULL if the odds are.
-- Source: Skinner and Elliot 2002.
-- Example:
--   WITH classes AS (SELECT class_size AS anon_class_size FROM anon.class_sizes('visits', ['age', 'sex']))
--   FROM anon_helpers.matches_of_classes('classes', 19.0);
CREATE OR REPLACE MACRO anon_helpers.matches_of_classes(classes, odds) AS TABLE
SELECT anon_others, anon_singles / (anon_singles + anon_others) AS anon_correct_match
FROM (
    SELECT
        count(*) FILTER (WHERE anon_class_size = 1) AS anon_singles,
        2 * count(*) FILTER (WHERE anon_class_size = 2) * odds AS anon_others
    FROM query_table(anon_helpers.as_source(classes))
);

-- The people who are not in a sample, for each one who is, by its share in the population or, as text, its column of weights.
--
-- Returns: one row: anon_odds DOUBLE; NULL without rows. An error for weights that differ by a factor above 3.
-- Example:
--   WITH survey AS (SELECT *, 20 + id AS weight FROM visits) FROM anon_helpers.odds_in_sample('survey', ['age'], 'weight');
CREATE OR REPLACE MACRO anon_helpers.odds_in_sample(source, keys, share_or_weight) AS TABLE
SELECT
    coalesce(
        anon_helpers.odds_by_weights(count(*), sum(anon_weight), min(anon_weight), max(anon_weight)),
        -- Without rows this is NULL, and no error.
        error('weights differ by a factor of ' || round(max(anon_weight) / min(anon_weight), 2) || ', and DIS holds up to 3')
    ) AS anon_odds
FROM (
    SELECT
        CASE
            WHEN typeof(share_or_weight) = 'VARCHAR' THEN anon_helpers.sampling_weight(
                -- A share needs no column, and takes any.
                COLUMNS(CASE typeof(share_or_weight)
                    WHEN 'VARCHAR' THEN [anon.text_of(share_or_weight)] ELSE anon_helpers.listed(keys)[:1]
                END),
                anon.text_of(share_or_weight),
                keys
            )
            WHEN anon_helpers.checked_share(share_or_weight, 'the sampled share') > 0 THEN 1 / CAST(share_or_weight AS DOUBLE)
            ELSE error('the sampled share is above 0: the rows of the sample for each person of the population')
        END AS anon_weight
    FROM query_table(anon_helpers.as_source(source))
);

-- The special rows of a sample with DIS-SUDA scores: anon.suda, scaled by the chance that somebody who matches a unique row of
-- the sample with a person of the population is right (DIS). That chance is of the table, an estimate for a sample of equal
-- chances. Name its share in the population, or the column of its weights, by which it is rows / sum of the weights: that they
-- differ by a factor above 3 is an error. The scores rank rows and are no probabilities: 1 / (1 + m / (s ** q * S)) of a score
-- s, where S is the sum of s ** -q over the special rows, q is 1 + (8 - number of keys) / 20, and m is 2 * (1 - share) / share
-- for each pair of equal rows.
--
-- Job: risk.
-- Returns: the keys as they are, score DOUBLE, dis_score DOUBLE in (0, 1], correct_match DOUBLE in (0, 1] (the chance of the
-- table, the same in every row); one row per row of anon.suda. An error for a share outside of (0, 1], and for weights as in
-- anon.individual_risk.
-- Source: Skinner and Elliot 2002, "A measure of disclosure risk for microdata"; dis_score as sdcMicro 5.8.1 has it.
-- Example:
--   FROM anon.dis_suda('visits', ['age', 'sex', 'diagnosis'], NULL, 0.05) ORDER BY dis_score DESC, age ASC;
CREATE OR REPLACE MACRO anon.dis_suda(source, keys, max_size, share_or_weight) AS TABLE
WITH anon_classes AS (SELECT class_size AS anon_class_size FROM anon.class_sizes(source, keys)),
anon_odds AS (FROM anon_helpers.odds_in_sample(source, keys, share_or_weight)),
anon_matches AS (FROM anon_helpers.matches_of_classes('anon_classes', (FROM anon_odds))),
anon_special AS (
    SELECT
        COLUMNS(anon_helpers.listed(keys)),
        anon_score,
        anon_score ** (1 + (8 - len(anon_helpers.listed(keys))) / 20) AS anon_power
    FROM anon_helpers.special_rows(source, keys, max_size, FALSE)
)
SELECT
    COLUMNS(anon_helpers.listed(keys)),
    anon_score AS score,
    1 / (1 + anon_others / (anon_power * sum(1 / anon_power) OVER ())) AS dis_score,
    anon_correct_match AS correct_match
FROM anon_special
CROSS JOIN anon_matches;

-- What an analyst's queries give on a released table instead of its original: counts and averages by group.
--
-- Answers have a row per group: group_label VARCHAR, group_start DOUBLE and answer DOUBLE. A group is an interval of a
-- given width, counted from 0, of a column of numbers; without a width (NULL) it is a value. NULL is a group of its own.
-- To ask about some rows only, let the source be a query over them.

-- The group that a value of a column falls into: an interval of this width, or the value itself without one.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.group_label_of(34, 5) AS age_group, anon_helpers.group_label_of('flu', NULL) AS diagnosis;
CREATE OR REPLACE MACRO anon_helpers.group_label_of(value, width) AS
CASE WHEN width IS NULL THEN anon.text_of(value) ELSE anon.interval_label(value, width, 0, NULL, NULL) END;

-- Where the group of a value of a column starts; NULL without a width, an error for a value that is not a number.
--
-- Returns: DOUBLE.
-- Example:
--   SELECT anon_helpers.group_start_of('age', 34, 5) AS group_start;
CREATE OR REPLACE MACRO anon_helpers.group_start_of(attribute, value, width) AS
CASE WHEN width IS NOT NULL THEN floor(anon_helpers.number_of(attribute, value) / width) * width END;

-- COUNT(*) by group, of a table that shows its values.
--
-- Values whose types give each a text of its own, and equal ones the same, are counted before they become texts, which takes
-- a quarter of the time. The type of a column is known to the planner, which leaves out the other branch.
--
-- Job: answers.
-- Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
-- Source: Lee and Chung 2020, queries Q1 and Q2.
-- Example:
--   FROM anon.grouped_counts('visits', 'age', 5) ORDER BY group_start;
CREATE OR REPLACE MACRO anon.grouped_counts(source, column_name, width) AS TABLE
SELECT
    anon_helpers.group_label_of(anon_value, width) AS group_label,
    min(anon_helpers.group_start_of(column_name, anon_value, width)) AS group_start,
    CAST(sum(anon_rows) AS DOUBLE) AS answer
FROM (
    SELECT anon.text_of(anon_plain) AS anon_value, count(*) AS anon_rows
    FROM (SELECT COLUMNS([column_name]) AS anon_plain FROM query_table(anon_helpers.as_source(source)))
    WHERE typeof(anon_plain) IN ('BOOLEAN', 'TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'DATE')
    GROUP BY anon_plain
    UNION ALL
    SELECT anon.text_of(anon_other), count(*)
    FROM (SELECT COLUMNS([column_name]) AS anon_other FROM query_table(anon_helpers.as_source(source)))
    WHERE typeof(anon_other) NOT IN ('BOOLEAN', 'TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'DATE')
    GROUP BY ALL
)
GROUP BY group_label;

-- AVG(averaged) by group, of a table that shows its values. As in AVG, a NULL to average does not count, and the answer
-- of a group with nothing else is NULL.
--
-- Job: answers.
-- Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
-- Source: Lee and Chung 2020, queries Q3 and Q4.
-- Example:
--   FROM anon.grouped_averages('visits', 'sex', NULL, 'age') ORDER BY group_label;
CREATE OR REPLACE MACRO anon.grouped_averages(source, column_name, width, averaged) AS TABLE
SELECT
    anon_helpers.group_label_of(anon_value, width) AS group_label,
    min(anon_helpers.group_start_of(column_name, anon_value, width)) AS group_start,
    fsum(anon_rows * anon_number) / sum(anon_rows) FILTER (WHERE anon_number IS NOT NULL) AS answer
FROM (
    SELECT anon_value, anon_rows, anon_helpers.number_of(averaged, anon_averaged) AS anon_number
    FROM (
        SELECT
            anon.text_of(COLUMNS([column_name])) AS anon_value,
            anon.text_of(COLUMNS([averaged])) AS anon_averaged,
            count(*) AS anon_rows
        FROM query_table(anon_helpers.as_source(source))
        GROUP BY ALL
    )
)
GROUP BY group_label;

-- What the labels in a column of a released table may stand for: the values under them, all equally likely; see
-- label_values and value_without_taxonomy.
--
-- Returns: label VARCHAR, value VARCHAR, share DOUBLE in (0, 1]; the shares of a label sum to 1.
-- Example:
--   WITH released AS (FROM anon.generalize('visits', MAP {'sex': 1}))
--   FROM anon_helpers.spread_labels('released', 'sex') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.spread_labels(released, column_name) AS TABLE
SELECT
    anon_shown.anon_label AS label,
    CASE
        WHEN anon_known.anon_is_known THEN anon_known.anon_value
        ELSE anon_helpers.value_without_taxonomy(column_name, anon_shown.anon_label)
    END AS value,
    1.0 / count(*) OVER (PARTITION BY anon_shown.anon_label) AS share
FROM (
    SELECT DISTINCT anon.text_of(COLUMNS([column_name])) AS anon_label
    FROM query_table(anon_helpers.as_source(released))
) AS anon_shown
LEFT JOIN (
    SELECT anon_label, anon_value, TRUE AS anon_is_known
    FROM anon_helpers.label_values() AS anon_label_values (anon_attribute, anon_label, anon_value)
    WHERE anon_attribute = column_name
) AS anon_known
    ON anon_known.anon_label IS NOT DISTINCT FROM anon_shown.anon_label;

-- COUNT(*) by group as a released table lets it be estimated: every row counts its weight, spread evenly over the
-- values that its label may stand for. Row policy: all rows of the released table; masked ones spread over the domain.
--
-- weight: the column of weights, which are the probabilities that a row meets the conditions of the query (see
-- label_share), or that it is not a counterfeit. Rows without a weight do not count.
-- Job: answers.
-- Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
-- Source: Lee et al. 2017, query error rate.
-- Example:
--   WITH released AS (
--       SELECT age, anon.label_share('sex', sex, 'f') * anon.label_share('zip', zip, '10115') AS weight
--       FROM anon.generalize('visits', MAP {'age': 2, 'sex': 1, 'zip': 2})
--       WHERE diagnosis = 'flu'
--   )
--   FROM anon.estimated_counts('released', 'age', 5, 'weight') ORDER BY group_start;
CREATE OR REPLACE MACRO anon.estimated_counts(released, column_name, width, weight) AS TABLE
SELECT
    anon_helpers.group_label_of(anon_spread.value, width) AS group_label,
    min(anon_helpers.group_start_of(column_name, anon_spread.value, width)) AS group_start,
    fsum(anon_labels.anon_weight * anon_spread.share) AS answer
FROM (
    SELECT anon_label, sum(anon_weight) AS anon_weight
    FROM (
        SELECT anon.text_of(COLUMNS([column_name])) AS anon_label, COLUMNS([weight]) AS anon_weight
        FROM query_table(anon_helpers.as_source(released))
    )
    WHERE anon_weight > 0
    GROUP BY anon_label
) AS anon_labels
INNER JOIN anon_helpers.spread_labels(released, column_name) AS anon_spread
    ON anon_spread.label IS NOT DISTINCT FROM anon_labels.anon_label
GROUP BY group_label;

-- AVG(averaged) by group as a released table lets it be estimated: rows count as in anon.estimated_counts, each with
-- the midpoint of its label in the averaged column, see label_midpoint. A label of nothing but NULL does not
-- count, and the answer of a group with nothing else is NULL.
--
-- Job: answers.
-- Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
-- Source: Lee et al. 2017 and Lee and Chung 2020, queries Q3 and Q4.
-- Example:
--   WITH released AS (SELECT *, 1 AS weight FROM anon.generalize('visits', MAP {'age': 2, 'sex': 0}))
--   FROM anon.estimated_averages('released', 'sex', NULL, 'age', 'weight') ORDER BY group_label;
CREATE OR REPLACE MACRO anon.estimated_averages(released, column_name, width, averaged, weight) AS TABLE
SELECT
    anon_helpers.group_label_of(anon_spread.value, width) AS group_label,
    min(anon_helpers.group_start_of(column_name, anon_spread.value, width)) AS group_start,
    fsum(anon_labels.anon_weight * anon_spread.share * anon_labels.anon_midpoint)
        / fsum(anon_labels.anon_weight * anon_spread.share) FILTER (WHERE anon_labels.anon_midpoint IS NOT NULL)
        AS answer
FROM (
    SELECT anon_label, anon_weight, anon_helpers.label_midpoint(averaged, anon_averaged) AS anon_midpoint
    FROM (
        SELECT anon_label, anon_averaged, sum(anon_weight) AS anon_weight
        FROM (
            SELECT
                anon.text_of(COLUMNS([column_name])) AS anon_label,
                anon.text_of(COLUMNS([averaged])) AS anon_averaged,
                COLUMNS([weight]) AS anon_weight
            FROM query_table(anon_helpers.as_source(released))
        )
        WHERE anon_weight > 0
        GROUP BY anon_label, anon_averaged
    )
) AS anon_labels
INNER JOIN anon_helpers.spread_labels(released, column_name) AS anon_spread
    ON anon_spread.label IS NOT DISTINCT FROM anon_labels.anon_label
GROUP BY group_label;

-- Mean absolute error of answers (an aggregate over groups); NULL without an answer.
--
-- Returns: DOUBLE, at least 0, in the unit of the answers.
-- Example:
--   SELECT anon_helpers.mean_absolute_error_of(answer, truth) AS mae FROM (VALUES (3, 2), (0, 1)) AS answers (answer, truth);
CREATE OR REPLACE MACRO anon_helpers.mean_absolute_error_of(answer, truth) AS
fsum(abs(answer - truth)) / nullif(count(answer - truth), 0);

-- Root mean square error of answers (an aggregate over groups); NULL without an answer.
--
-- Returns: DOUBLE, at least 0, in the unit of the answers.
-- Example:
--   SELECT anon_helpers.root_mean_square_error_of(answer, truth) AS rmse FROM (VALUES (3, 2), (0, 1)) AS answers (answer, truth);
CREATE OR REPLACE MACRO anon_helpers.root_mean_square_error_of(answer, truth) AS
sqrt(fsum((answer - truth) * (answer - truth)) / nullif(count(answer - truth), 0));

-- Mean relative error of answers over the groups whose true answer is above 0 (an aggregate over groups); NULL if there
-- is none.
--
-- Returns: DOUBLE, at least 0.
-- Source: Lee et al. 2017, query error rate.
-- Example:
--   SELECT anon_helpers.mean_relative_error_of(answer, truth) AS error FROM (VALUES (3, 2), (1, 0)) AS answers (answer, truth);
CREATE OR REPLACE MACRO anon_helpers.mean_relative_error_of(answer, truth) AS
fsum(abs(answer - truth) / truth) FILTER (WHERE truth > 0) / nullif(count(answer - truth) FILTER (WHERE truth > 0), 0);

-- The sum of the absolute errors over the sum of the true answers (an aggregate over groups); NULL if that is 0.
--
-- Returns: DOUBLE, at least 0 where no true answer is negative.
-- Example:
--   SELECT anon_helpers.total_relative_error_of(answer, truth) AS error FROM (VALUES (3, 2), (1, 0)) AS answers (answer, truth);
CREATE OR REPLACE MACRO anon_helpers.total_relative_error_of(answer, truth) AS
fsum(abs(answer - truth)) / nullif(fsum(truth) FILTER (WHERE answer IS NOT NULL), 0);

-- The answers to a query from an original and from its release, next to each other.
--
-- missing: the answer for a group that one of them does not have: 0 for counts, NULL for averages.
-- Returns: group_label VARCHAR, group_start DOUBLE, truth DOUBLE, answer DOUBLE; a row per group of either.
-- Example:
--   WITH truth AS (FROM anon.grouped_counts('visits', 'sex', NULL)),
--   answers AS (SELECT 'f' AS group_label, CAST(NULL AS DOUBLE) AS group_start, 5.0 AS answer)
--   FROM anon_helpers.compared_answers('truth', 'answers', 0) ORDER BY group_label;
CREATE OR REPLACE MACRO anon_helpers.compared_answers(original_answers, released_answers, missing) AS TABLE
SELECT
    anon_label AS group_label,
    max(anon_start) AS group_start,
    CASE WHEN bool_or(NOT anon_is_estimate) THEN max(anon_answer) FILTER (WHERE NOT anon_is_estimate) ELSE missing END
        AS truth,
    CASE WHEN bool_or(anon_is_estimate) THEN max(anon_answer) FILTER (WHERE anon_is_estimate) ELSE missing END AS answer
FROM (
    SELECT group_label AS anon_label, group_start AS anon_start, answer AS anon_answer, FALSE AS anon_is_estimate
    FROM query_table(anon_helpers.as_source(original_answers))
    UNION ALL
    SELECT group_label AS anon_label, group_start AS anon_start, answer AS anon_answer, TRUE AS anon_is_estimate
    FROM query_table(anon_helpers.as_source(released_answers))
)
GROUP BY anon_label;

-- How wrong the answers from a release are, see compared_answers. Groups where one of both is NULL are left out of
-- the errors, and counted.
--
-- Job: answers.
-- Returns: one row: group_count BIGINT, of the groups of either; unanswered_groups BIGINT, with a truth and no answer;
-- unknown_groups BIGINT, with an answer and no truth; mean_absolute_error, root_mean_square_error, mean_relative_error
-- and total_relative_error DOUBLE.
-- Source: Lee et al. 2017, query error rate.
-- Example:
--   WITH truth AS (FROM anon.grouped_counts('visits', 'age', 5)),
--   released AS (SELECT *, 1 AS weight FROM anon.generalize('visits', MAP {'age': 2})),
--   answers AS (FROM anon.estimated_counts('released', 'age', 5, 'weight'))
--   FROM anon.answer_errors('truth', 'answers', 0);
CREATE OR REPLACE MACRO anon.answer_errors(original_answers, released_answers, missing) AS TABLE
SELECT
    count(*) AS group_count,
    count(*) FILTER (WHERE truth IS NOT NULL AND answer IS NULL) AS unanswered_groups,
    count(*) FILTER (WHERE truth IS NULL AND answer IS NOT NULL) AS unknown_groups,
    anon_helpers.mean_absolute_error_of(answer, truth) AS mean_absolute_error,
    anon_helpers.root_mean_square_error_of(answer, truth) AS root_mean_square_error,
    anon_helpers.mean_relative_error_of(answer, truth) AS mean_relative_error,
    anon_helpers.total_relative_error_of(answer, truth) AS total_relative_error
FROM anon_helpers.compared_answers(original_answers, released_answers, missing);

-- Uniques in the population: how many people of it nobody looks like, by estimates from the class sizes of a sample.
--
-- A histogram is two lists of DOUBLE: class sizes, each once and at least 1, and how many classes have them.

-- guarded: tests/sql/76_population_uniques.test

-- The number of classes of a size, by a histogram.
--
-- Returns: DOUBLE.
-- Example:
--   SELECT anon_helpers.classes_of_size([1, 2, 6], [20, 8, 2], 2) AS pairs;
CREATE OR REPLACE MACRO anon_helpers.classes_of_size(class_sizes, class_counts, size) AS
CAST(coalesce(class_counts[list_position(class_sizes, size)], 0) AS DOUBLE);

-- The first and second derivatives of ln Γ above 0: ten steps of their recurrences, then their asymptotic series.
--
-- Returns: STRUCT(psi DOUBLE, psi_1 DOUBLE), to 14 digits.
-- Source: Abramowitz and Stegun 1964, 6.3.5, 6.3.18, 6.4.6 and 6.4.12.
-- Example:
--   SELECT anon_helpers.polygammas(1.0) AS minus_euler_and_sixth_of_pi_squared;
CREATE OR REPLACE MACRO anon_helpers.polygammas(argument) AS
{
    'psi': ln(argument + 10) - 1 / (2 * (argument + 10))
    - (1 / 12 - (1 / 120 - (1 / 252 - (1 / 240 - 1 / (132 * (argument + 10) ** 2))
    / (argument + 10) ** 2) / (argument + 10) ** 2) / (argument + 10) ** 2) / (argument + 10) ** 2
    - list_sum(list_transform(range(10), lambda anon_shift: 1 / (argument + anon_shift))),
    'psi_1': (1 + 1 / (2 * (argument + 10)) + (1 / 6 - (1 / 30 - (1 / 42 - (1 / 30 - 5 / (66 * (argument + 10) ** 2))
    / (argument + 10) ** 2) / (argument + 10) ** 2) / (argument + 10) ** 2) / (argument + 10) ** 2) / (argument + 10)
    + list_sum(list_transform(range(10), lambda anon_shift: 1 / (argument + anon_shift) ** 2))
};

-- A step of Newton from ratio and alpha to those of Pitman's model with the greatest likelihood, 0 < alpha < 1 and
-- ratio > -1, where theta is ratio * alpha. A step across a bound goes half of the way to it.
--
-- How it goes. The sums over i = 1, … number of classes - 1 of 1 / (theta + i * alpha), of its square, and of these times i,
-- are differences of polygammas, and so are those over rows. They give the slopes of the likelihood, and those of the slopes.
--
-- Returns: STRUCT(ratio DOUBLE, alpha DOUBLE, moved DOUBLE): moved is by how much the step changes them, near 0 in a solution.
-- Source: Hoshino 2001.
-- Example:
--   SELECT anon_helpers.pitman_step(2.0, 0.5, [1, 2, 6], [20, 8, 2]) AS fit;
CREATE OR REPLACE MACRO anon_helpers.pitman_step(ratio, alpha, class_sizes, class_counts) AS
list_transform(
    list_transform(
        list_transform(
            -- A list of one list, so that it is made once.
            [list_transform(
                [
                    ratio + list_sum(class_counts), ratio + 1,
                    ratio * alpha + list_dot_product(class_sizes, class_counts), ratio * alpha + 1, 1 - alpha
                ] || list_transform(class_sizes, lambda anon_size: anon_size - alpha),
                lambda anon_argument: anon_helpers.polygammas(anon_argument)
            )],
            lambda anon_at: {
                'ratio': anon_at[1].psi - anon_at[2].psi - alpha * (anon_at[3].psi - anon_at[4].psi),
                'alpha': (list_sum(class_counts) - 1) / alpha - ratio * (anon_at[3].psi - anon_at[4].psi)
                - list_dot_product(class_counts, list_transform(anon_at[6:], lambda anon_size: anon_size.psi - anon_at[5].psi)),
                'ratio_ratio': anon_at[1].psi_1 - anon_at[2].psi_1 - alpha ** 2 * (anon_at[3].psi_1 - anon_at[4].psi_1),
                'ratio_alpha': anon_at[4].psi - anon_at[3].psi - ratio * alpha * (anon_at[3].psi_1 - anon_at[4].psi_1),
                'alpha_alpha': list_dot_product(
                    class_counts, list_transform(anon_at[6:], lambda anon_size: anon_size.psi_1 - anon_at[5].psi_1)
                ) - (list_sum(class_counts) - 1) / alpha ** 2 - ratio ** 2 * (anon_at[3].psi_1 - anon_at[4].psi_1)
            }
        ),
        lambda anon_slope: {
            'ratio': (anon_slope.alpha * anon_slope.ratio_alpha - anon_slope.ratio * anon_slope.alpha_alpha)
            / (anon_slope.ratio_ratio * anon_slope.alpha_alpha - anon_slope.ratio_alpha ** 2),
            'alpha': (anon_slope.ratio * anon_slope.ratio_alpha - anon_slope.alpha * anon_slope.ratio_ratio)
            / (anon_slope.ratio_ratio * anon_slope.alpha_alpha - anon_slope.ratio_alpha ** 2)
        }
    ),
    lambda anon_change: {
        'ratio': greatest(ratio + anon_change.ratio, (ratio - 1) / 2),
        'alpha': least(greatest(alpha + anon_change.alpha, alpha / 2), (1 + alpha) / 2),
        'moved': abs(anon_change.ratio) / (1 + abs(ratio)) + abs(anon_change.alpha)
    }
)[1];

-- Ratio and alpha of Pitman's model by at most 60 steps from 2 and 1/2, see anon_helpers.pitman_step.
--
-- Returns: the struct of the last step.
-- Example:
--   SELECT anon_helpers.pitman_fit([1, 2, 6], [20, 8, 2]) AS fit;
CREATE OR REPLACE MACRO anon_helpers.pitman_fit(class_sizes, class_counts) AS
list_reduce(
    list_transform(range(60), lambda anon_step: {'ratio': 2.0::DOUBLE, 'alpha': 0.5::DOUBLE, 'moved': 1.0::DOUBLE}),
    lambda anon_fit, anon_next: CASE
        WHEN anon_fit.moved < 1e-9 THEN anon_fit
        ELSE anon_helpers.pitman_step(anon_fit.ratio, anon_fit.alpha, class_sizes, class_counts)
    END
);

-- Uniques in the population by Pitman's model: Γ(theta + 1) / Γ(theta + alpha) * population ** alpha.
--
-- Returns: DOUBLE; NULL where the likelihood has no greatest value inside of its bounds.
-- Source: Hoshino 2001.
-- Example:
--   SELECT anon_helpers.pitman_uniques([1, 2, 6], [20, 8, 2], 1000) AS uniques;
CREATE OR REPLACE MACRO anon_helpers.pitman_uniques(class_sizes, class_counts, population) AS
list_transform(
    [anon_helpers.pitman_fit(class_sizes, class_counts)],
    lambda anon_fit: CASE
        WHEN anon_fit.moved < 1e-9 AND anon_fit.ratio < 1e12 THEN exp(
            lgamma(anon_fit.ratio * anon_fit.alpha + 1) - lgamma((anon_fit.ratio + 1) * anon_fit.alpha)
            + anon_fit.alpha * ln(population)
        )
    END
)[1];

-- Uniques in the population by Zayatz: those of the sample, by the chance that one is unique in the population if classes
-- of the population are as large as those of the sample. A sample has exactly one of a class with a hypergeometric chance.
--
-- Returns: DOUBLE.
-- Source: Zayatz 1991.
-- Example:
--   SELECT anon_helpers.zayatz_uniques([1, 2, 6], [20, 8, 2], 48, 1000.0) AS uniques;
CREATE OR REPLACE MACRO anon_helpers.zayatz_uniques(class_sizes, class_counts, row_count, population) AS
anon_helpers.classes_of_size(class_sizes, class_counts, 1) ** 2 * population / row_count / list_dot_product(
    class_counts,
    list_transform(class_sizes, lambda anon_size: anon_size * coalesce(
        list_product(list_transform(
            -- The product of more is below 1e-26.
            range(1, CAST(least(anon_size, 60 * population / row_count) AS BIGINT)),
            lambda anon_other: greatest(population - row_count - anon_other + 1, 0) / (population - anon_other)
        )),
        1.0
    ))
);

-- The number of classes of the population, from those of a sample.
--
-- Returns: DOUBLE.
-- Source: Haas and Stokes 1998.
-- Example:
--   SELECT anon_helpers.estimated_class_count([1, 2, 6], [20, 8, 2], 0.1) AS classes;
CREATE OR REPLACE MACRO anon_helpers.estimated_class_count(class_sizes, class_counts, share) AS
list_sum(class_counts) + anon_helpers.classes_of_size(class_sizes, class_counts, 1) * share ** 2
* list_dot_product(class_counts, list_transform(class_sizes, lambda anon_f: anon_f * (1 - share ** 2) ** (anon_f - 1)))
/ list_dot_product(class_counts, list_transform(class_sizes, lambda anon_f: (1 - share ** 2) ** anon_f - (1 - share) ** anon_f))
* (
    list_dot_product(class_counts, list_transform(class_sizes, lambda anon_f: (1 - share) ** anon_f))
    / list_dot_product(class_counts, list_transform(class_sizes, lambda anon_f: anon_f * share * (1 - share) ** (anon_f - 1)))
) ** 2;

-- The shifted negative binomial of class sizes with these log odds that has as many pairs for each single in a sample as there
-- are: the shares of the population's classes that are uniques of it, and singles of the sample. Its shape is a root of a
-- quadratic equation.
--
-- Returns: STRUCT(uniques DOUBLE, singles DOUBLE).
-- Source: Chen and Keller-McNulty 1998, with the equation of pairs derived anew.
-- Example:
--   SELECT anon_helpers.snb_shares(-1.4, 0.1, 0.3) AS shares;
CREATE OR REPLACE MACRO anon_helpers.snb_shares(odds, share, pair_ratio) AS
list_transform(
    [{'chance': 1 / (1 + exp(-odds)), 'absent': (1 - share) / (1 + exp(odds)), 'sampled': 1 - (1 - share) / (1 + exp(odds))}],
    lambda anon_term: list_transform(
        list_transform(
            [anon_term.absent * (share / (1 - share) * (1 - anon_term.absent / 2) - pair_ratio * anon_term.sampled)],
            lambda anon_half: 2 * pair_ratio * anon_term.sampled ** 2 / (anon_half + sqrt(
                anon_half ** 2 + 2 * pair_ratio * (anon_term.sampled * anon_term.absent) ** 2 * share / (1 - share)
            ))
        ),
        lambda anon_shape: {
            'uniques': anon_term.chance ** anon_shape,
            'singles': share * (anon_term.chance / anon_term.sampled) ** anon_shape
            * (anon_shape * anon_term.absent / anon_term.sampled + 1)
        }
    )[1]
)[1];

-- Uniques in the population by the shifted negative binomial of class sizes that has as many singles and pairs in a sample
-- as there are; the log odds of its chance are halved between -20 and 20.
--
-- Returns: DOUBLE; NULL where the sample has no pair, or no distribution fits.
-- Source: see anon_helpers.snb_shares and estimated_class_count.
-- Example:
--   SELECT anon_helpers.snb_uniques([1, 2, 6], [20, 8, 2], 0.05) AS uniques;
CREATE OR REPLACE MACRO anon_helpers.snb_uniques(class_sizes, class_counts, share) AS
list_transform(
    [{
        'singles': anon_helpers.classes_of_size(class_sizes, class_counts, 1),
        'pair_ratio': anon_helpers.classes_of_size(class_sizes, class_counts, 2)
        / anon_helpers.classes_of_size(class_sizes, class_counts, 1),
        'classes': anon_helpers.estimated_class_count(class_sizes, class_counts, share)
    }],
    lambda anon_given: list_transform(
        [list_reduce(
            -- From 0 by steps of 10, 5 and so on.
            list_prepend(0.0::DOUBLE, list_transform(range(1, 60), lambda anon_step: 20 / 2.0::DOUBLE ** anon_step)),
            lambda anon_odds, anon_width: anon_odds + anon_width * sign(
                anon_given.singles - anon_given.classes * anon_helpers.snb_shares(anon_odds, share, anon_given.pair_ratio).singles
            )
        )],
        lambda anon_odds: CASE
            WHEN anon_given.pair_ratio > 0 AND abs(anon_odds) < 19.9
                THEN anon_helpers.snb_shares(anon_odds, share, anon_given.pair_ratio).uniques * anon_given.classes
        END
    )[1]
)[1];

-- Uniques in the population by the histogram of a sample's class sizes, see anon.population_uniques. What is not a finite
-- number of people, or fewer than the sample has rows, is an error, up to rounding.
--
-- How it goes. The histogram is taken apart once. A census, and a sample without uniques, have as many as the sample. Else
-- all three estimates are made, and the rule takes one of them.
--
-- Returns: STRUCT(pitman DOUBLE, zayatz DOUBLE, snb DOUBLE, estimate DOUBLE, estimator VARCHAR).
-- Source: Dankar et al. 2012, and see the three.
-- Example:
--   SELECT anon_helpers.estimated_uniques(MAP {1: 20, 2: 8, 6: 2}, 1000) AS uniques;
CREATE OR REPLACE MACRO anon_helpers.estimated_uniques(class_histogram, population) AS
list_transform(
    list_transform(
        [{
            'sizes': CAST(coalesce(map_keys(class_histogram), []) AS DOUBLE[]),
            'counts': CAST(coalesce(map_values(class_histogram), []) AS DOUBLE[]),
            'people': TRY_CAST(anon.text_of(population) AS DOUBLE)
        }],
        lambda anon_given: struct_insert(
            anon_given,
            singles := anon_helpers.classes_of_size(anon_given.sizes, anon_given.counts, 1),
            rows := list_dot_product(anon_given.sizes, anon_given.counts)
        )
    ),
    lambda anon_sample: list_transform(
        [CASE
            WHEN NOT coalesce(anon_sample.people BETWEEN 1e-300 AND 1e300, false)
                THEN error('the population is a number of people, above 0')
            WHEN anon_sample.people < anon_sample.rows * (1 - 1e-9)
                THEN error('the population has fewer people than the sample has rows')
            WHEN anon_sample.rows = 0 THEN {'pitman': NULL, 'zayatz': NULL, 'snb': NULL}
            WHEN anon_sample.singles = 0 OR anon_sample.people <= anon_sample.rows
                THEN {'pitman': anon_sample.singles, 'zayatz': anon_sample.singles, 'snb': anon_sample.singles}
            ELSE {
                'pitman': anon_helpers.pitman_uniques(anon_sample.sizes, anon_sample.counts, anon_sample.people),
                'zayatz': anon_helpers.zayatz_uniques(anon_sample.sizes, anon_sample.counts, anon_sample.rows, anon_sample.people),
                'snb': anon_helpers.snb_uniques(anon_sample.sizes, anon_sample.counts, anon_sample.rows / anon_sample.people)
            }
        END],
        lambda anon_uniques: struct_insert(
            anon_uniques,
            estimate := CASE
                WHEN 10 * anon_sample.rows <= anon_sample.people THEN anon_uniques.pitman
                ELSE least(anon_uniques.snb, anon_uniques.zayatz)
            END,
            estimator := CASE
                WHEN anon_sample.rows = 0 THEN NULL
                WHEN anon_sample.people <= anon_sample.rows THEN 'census'
                WHEN 10 * anon_sample.rows <= anon_sample.people THEN 'pitman'
                WHEN anon_uniques.snb < anon_uniques.zayatz THEN 'snb'
                ELSE 'zayatz'
            END
        )
    )[1]
)[1];

-- guarded: tests/sql/76_population_uniques.test

-- Uniques in the population as a share of it, by the rule of anon.population_uniques (an aggregate over classes).
--
-- Returns: DOUBLE; infinite without an estimate, NULL without rows.
-- Example:
--   SELECT anon_helpers.population_uniqueness_of(class_size, 1000) AS share FROM anon.class_sizes('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon_helpers.population_uniqueness_of(class_size, population) AS
CASE WHEN count(class_size) > 0 THEN coalesce(
    anon_helpers.estimated_uniques(histogram(class_size), population).estimate / population, CAST('infinity' AS DOUBLE)
) END;

-- Uniques in the population, by classes of a sample that were counted, see anon.population_uniques.
--
-- Returns: the row of anon.population_uniques.
-- Example:
--   WITH classes AS (SELECT class_size AS anon_class_size FROM anon.class_sizes('visits', ['age', 'sex']))
--   FROM anon_helpers.uniques_of_classes('classes', 1000);
CREATE OR REPLACE MACRO anon_helpers.uniques_of_classes(classes, population) AS TABLE
SELECT
    CAST(coalesce(sum(anon_class_size), 0) AS BIGINT) AS row_count,
    count(*) AS class_count,
    count(*) FILTER (WHERE anon_class_size = 1) AS unique_rows,
    unnest(anon_helpers.estimated_uniques(histogram(anon_class_size), population))
FROM query_table(anon_helpers.as_source(classes));

-- Uniques in the population: how many of its people nobody looks like in these keys, by the class sizes of a sample and the
-- number of people. Three estimates, and one of them by a rule: up to a tenth sampled that of Pitman, else the smaller
-- of SNB and Zayatz. Where the truth was known the best was off by a factor of 0.7 to 2.8 below a tenth. A population of as
-- many people as rows is a census, which is exact.
--
-- Job: risk.
-- Returns: one row: row_count BIGINT, class_count BIGINT, unique_rows BIGINT (alone in their class), pitman DOUBLE, zayatz
-- DOUBLE, snb DOUBLE, estimate DOUBLE (by the rule), estimator VARCHAR: pitman, zayatz, snb or census. An estimate that
-- cannot be had is NULL, and so are all of a table without rows. Fewer people than rows are an error.
-- Source: Hoshino 2001 (Pitman); Zayatz 1991; Chen and Keller-McNulty 1998 (SNB); Dankar et al. 2012 (the rule).
-- Example:
--   FROM anon.population_uniques('visits', ['age', 'sex'], 1000);
CREATE OR REPLACE MACRO anon.population_uniques(source, keys, population) AS TABLE
WITH anon_classes AS (SELECT class_size AS anon_class_size FROM anon.class_sizes(source, keys))
FROM anon_helpers.uniques_of_classes('anon_classes', population);

-- Matching: how many rows of a release fit a person whose true values somebody knows.
--
-- A blank is NULL or *, and fits every value. A class of rows that look alike takes blanks for values of their own, and a row
-- with blanks counted together with all rows that it may equal seems to have more company than the person behind it.

-- guarded: tests/sql/77_matching.test

-- How many rows of a release fit the true values of each person of its source, where NULL and * in the release fit every
-- value and all other labels fit themselves: what somebody finds who knows the keys of a person. `sum(person_count) FILTER
-- (WHERE matching_rows < 3)` counts the persons whom fewer than three rows fit.
--
-- How it goes. Rows of both tables are counted by cells. For each pattern of blanks in the release the keys of persons are
-- blanked in the same way, and joined with the released cells of that pattern.
--
-- Blanks that are counted as if they equalled every value protect fewer: after local suppression to k = 3 every row of a
-- release may match three rows, while a person fits one. Labels above the values, such as [30, 40), fit nobody here.
--
-- Job: risk.
-- Returns: matching_rows BIGINT, person_count BIGINT (rows of the source); one row per number of matching rows. An error for
-- more than 64 patterns of blanks.
-- Source: Samarati 2001, section 4 (a released row fits whom it may be of), for suppressed values.
-- Example:
--   WITH released AS (SELECT * REPLACE (CASE WHEN id > 2 THEN zip END AS zip) FROM visits)
--   FROM anon.matching_rows('visits', 'released', ['sex', 'zip']) ORDER BY matching_rows ASC;
CREATE OR REPLACE MACRO anon.matching_rows(source, release, keys) AS TABLE
WITH anon_cells AS MATERIALIZED (
    SELECT [*COLUMNS(anon_helpers.listed(keys))] AS anon_texts, anon_people, anon_released
    FROM (
        SELECT
            COLUMNS(anon_helpers.listed(keys)),
            count(*) FILTER (WHERE anon_is_source) AS anon_people,
            count(*) FILTER (WHERE NOT anon_is_source) AS anon_released
        FROM (
            -- By name: the columns of the two tables need not be in one order.
            SELECT anon.text_of(COLUMNS(anon_helpers.listed(keys))), TRUE AS anon_is_source
            FROM query_table(anon_helpers.as_source(source))
            UNION ALL BY NAME
            SELECT anon.text_of(COLUMNS(anon_helpers.listed(keys))), FALSE AS anon_is_source
            FROM query_table(anon_helpers.as_source(release))
        )
        GROUP BY ALL
    )
),
anon_blanked AS MATERIALIZED (
    SELECT
        list_transform(anon_texts, lambda anon_text: anon_text IS NULL OR anon_text = '*') AS anon_blanks,
        list_transform(anon_texts, lambda anon_text: nullif(anon_text, '*')) AS anon_kept,
        sum(anon_released) AS anon_released
    FROM anon_cells
    WHERE anon_released > 0
    GROUP BY ALL
)
SELECT matching_rows, CAST(sum(anon_people) AS BIGINT) AS person_count
FROM (
    SELECT any_value(anon_people) AS anon_people, CAST(coalesce(sum(anon_released), 0) AS BIGINT) AS matching_rows
    FROM (
        SELECT anon_texts, anon_people, anon_blanks, anon_helpers.blanked(anon_texts, anon_blanks) AS anon_kept
        FROM anon_cells
        LEFT JOIN anon_helpers.patterns_of_blanks('anon_blanked') AS anon_patterns ON TRUE
        WHERE anon_people > 0
    ) AS anon_persons
    LEFT JOIN anon_blanked USING (anon_blanks, anon_kept)
    GROUP BY anon_texts
)
GROUP BY matching_rows;

-- Linked tables: persons and the rows that belong to them, such as patients and visits, released together and still joinable.
--
-- Each table may be anonymous on its own, and persons alone by the join: it is measured here. Rows without a person belong to
-- nobody and are not counted, see anon.broken_keys. NULL is a label like any other.

-- guarded: tests/sql/79_linked.test

-- The rows of a parent with their keys and labels, if each row has a key of its own.
--
-- Returns: the columns of the parent, anon_key (the key), anon_label STRUCT; an error for a key that is NULL or in several rows.
-- Example:
--   SELECT id, anon_key, anon_label FROM anon_helpers.keyed_rows('visits', 'id', ['age', 'sex']) ORDER BY id ASC;
CREATE OR REPLACE MACRO anon_helpers.keyed_rows(parent, row_key, labels) AS TABLE
WITH anon_rows AS (
    SELECT
        *,
        COLUMNS([row_key]) AS anon_key,
        row(*COLUMNS(anon_helpers.listed(labels))) AS anon_label
    FROM query_table(anon_helpers.as_source(parent))
),
anon_checked AS (
    SELECT
        CASE
            WHEN count(anon_key) < count(*) THEN error(concat(
                'column "', row_key, '" is NULL in ', count(*) - count(anon_key), ' rows: every row needs a key of its own'
            ))
            WHEN count(DISTINCT anon_key) < count(anon_key) THEN error(concat(
                'column "', row_key, '" has ', count(DISTINCT anon_key), ' keys in ', count(anon_key),
                ' rows: every row needs a key of its own'
            ))
            ELSE TRUE
        END AS anon_are_own
    FROM anon_rows
)
SELECT anon_rows.* FROM anon_rows INNER JOIN anon_checked ON anon_checked.anon_are_own;

-- The rows of a child with their labels, by the key of the row that they belong to.
--
-- Returns: anon_key (the key), anon_label STRUCT.
-- Example:
--   FROM anon_helpers.referring_rows('visits', 'sex', ['age']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.referring_rows(child, key, child_labels) AS TABLE
SELECT
    COLUMNS([key]) AS anon_key,
    row(*COLUMNS(anon_helpers.listed(child_labels))) AS anon_label
FROM query_table(anon_helpers.as_source(child));

-- guarded: tests/sql/79_linked.test

-- Rows of a parent beside what is below them, by the texts of their keys: all are text, or values of other types.
--
-- Returns: the columns of the parents, and those of what is below but anon_key, NULL for a parent without rows; an error for keys
-- that are text in one table alone. NULL is the type of a child without rows.
-- Example:
--   WITH people AS (FROM anon_helpers.keyed_rows('visits', 'id', ['sex'])), below AS (SELECT 1 AS anon_key, 2 AS rows)
--   SELECT anon_key, rows FROM anon_helpers.joined_rows('people', 'below') ORDER BY anon_key ASC;
CREATE OR REPLACE MACRO anon_helpers.joined_rows(parents, below) AS TABLE
WITH anon_above AS (FROM query_table(anon_helpers.as_source(parents))),
anon_below AS (FROM query_table(anon_helpers.as_source(below)))
SELECT anon_above.*, anon_below.* EXCLUDE (anon_key)
FROM anon_above
LEFT JOIN anon_below ON anon.text_of(anon_above.anon_key) = anon.text_of(anon_below.anon_key)
WHERE CASE
    WHEN (typeof(anon_above.anon_key) = 'VARCHAR') <> ((SELECT typeof(anon_key) FROM anon_below LIMIT 1) = 'VARCHAR') THEN error(concat(
        'the keys of the parent are ', typeof(anon_above.anon_key), ', and those that refer to them are ',
        (SELECT typeof(anon_key) FROM anon_below LIMIT 1), ': cast one of them'
    ))
    ELSE TRUE
END;

-- guarded: tests/sql/79_linked.test

-- The rows of a parent, each with its tree: its labels, and those of all of its rows in a child, in an order that says nothing.
-- Rows with equal trees look alike to somebody who knows all of these labels, and which rows belong together.
--
-- A tree is a label, too: of a child whose rows have children, 'tree' stands for the labels of a row and of all below it.
--
-- Job: classes.
-- Returns: the columns of the parent, tree STRUCT (its labels, and the sorted list of its rows' labels); one row per row of the
-- parent. A tree that the parent had goes. An error for a key of the parent that is NULL or in several rows, and for keys that
-- are text in one table alone.
-- Source: Nergiz, Clifton and Nergiz 2009, "Multirelational k-Anonymity".
-- Example:
--   WITH people AS (SELECT DISTINCT sex FROM visits WHERE sex IS NOT NULL)
--   FROM anon.trees('people', 'sex', ['sex'], 'visits', 'sex', ['diagnosis']) ORDER BY sex ASC;
CREATE OR REPLACE MACRO anon.trees(parent, row_key, labels, child, key, child_labels) AS TABLE
WITH anon_parents AS (FROM anon_helpers.keyed_rows(parent, row_key, labels)),
anon_children AS (
    SELECT anon_key, list_sort(list(anon_label)) AS anon_labels
    FROM anon_helpers.referring_rows(child, key, child_labels)
    GROUP BY anon_key
)
SELECT
    COLUMNS(lambda anon_column: NOT starts_with(anon_column, 'anon_') AND lower(anon_column) <> 'tree'),
    row(anon_label, coalesce(anon_labels, [])) AS tree
FROM anon_helpers.joined_rows('anon_parents', 'anon_children');

-- Rows with a number for their labels, so that these are compared once.
--
-- Returns: the columns of the rows, anon_number BIGINT.
-- Example:
--   WITH labelled AS (FROM anon_helpers.referring_rows('visits', 'id', ['sex'])) FROM anon_helpers.numbered_rows('labelled') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.numbered_rows(labelled) AS TABLE
WITH anon_rows AS MATERIALIZED (FROM query_table(anon_helpers.as_source(labelled)))
SELECT anon_rows.*, anon_numbers.anon_number
FROM anon_rows
INNER JOIN (
    SELECT anon_label, row_number() OVER () AS anon_number FROM (SELECT DISTINCT anon_label FROM anon_rows)
) AS anon_numbers ON anon_rows.anon_label = anon_numbers.anon_label;

-- The rows of persons, by their labels.
--
-- Returns: anon_person (the key), anon_class BIGINT (a number for the labels of the person), anon_label BIGINT (one for those of
-- the rows), anon_rows BIGINT (how many, at least 1), anon_first BIGINT and anon_last BIGINT (as anon_helpers.known_patterns takes
-- them: rows that are alike are counted from the number of their label on). A person without rows has the label NULL and 0 rows.
-- Errors as in anon.trees.
-- Example:
--   WITH people AS (SELECT DISTINCT sex, length(sex) AS size FROM visits WHERE sex IS NOT NULL)
--   SELECT anon_person, anon_rows FROM anon_helpers.linked_rows('people', 'sex', ['size'], 'visits', 'sex', ['diagnosis'])
--   ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.linked_rows(parent, row_key, labels, child, key, child_labels) AS TABLE
WITH anon_persons AS (FROM anon_helpers.keyed_rows(parent, row_key, labels)),
anon_parents AS (
    SELECT anon_key, anon_key AS anon_person, anon_number AS anon_class FROM anon_helpers.numbered_rows('anon_persons')
),
anon_referring AS (FROM anon_helpers.referring_rows(child, key, child_labels)),
anon_children AS (
    SELECT anon_key, anon_number AS anon_label, count(*) AS anon_rows
    FROM anon_helpers.numbered_rows('anon_referring')
    GROUP BY anon_key, anon_number
)
SELECT
    anon_person,
    anon_class,
    anon_label,
    coalesce(anon_rows, 0) AS anon_rows,
    anon_label AS anon_first,
    anon_label + anon_rows - 1 AS anon_last
FROM anon_helpers.joined_rows('anon_parents', 'anon_children');

-- guarded: tests/sql/79_linked.test

-- How anonymous the trees of linked tables are: somebody who knows all labels of a person in both tables, and how many rows
-- the person has, is left with at least k persons. Rows count in any order. anon.trees adds the labels of further tables.
--
-- How it goes. The rows of a person are compared by the sum of their hashes: for a million persons, chances are 1 in 10^7 that
-- two of them look alike who do not. DuckDB's hash of 0 is 0, so each label is hashed with another value, or it would not count.
--
-- Job: privacy.
-- Returns: one row: k BIGINT (persons of the smallest class), class_count BIGINT, person_count BIGINT, unique_persons BIGINT
-- (alone in their class). Without persons k is NULL. Errors as in anon.trees.
-- Source: Nergiz, Clifton and Nergiz 2009, "Multirelational k-Anonymity".
-- Example:
--   WITH people AS (SELECT DISTINCT sex FROM visits WHERE sex IS NOT NULL)
--   FROM anon.linked_k('people', 'sex', ['sex'], 'visits', 'sex', ['diagnosis']);
CREATE OR REPLACE MACRO anon.linked_k(parent, row_key, labels, child, key, child_labels) AS TABLE
WITH anon_parents AS (FROM anon_helpers.keyed_rows(parent, row_key, labels)),
anon_children AS (
    SELECT anon_key, sum(CAST(hash(anon_label, 42) AS HUGEINT)) AS anon_signature
    FROM anon_helpers.referring_rows(child, key, child_labels)
    GROUP BY anon_key
)
SELECT
    min(anon_persons) AS k,
    count(*) AS class_count,
    CAST(coalesce(sum(anon_persons), 0) AS BIGINT) AS person_count,
    count(*) FILTER (WHERE anon_persons = 1) AS unique_persons
FROM (
    SELECT count(*) AS anon_persons
    FROM anon_helpers.joined_rows('anon_parents', 'anon_children')
    GROUP BY anon_label, coalesce(anon_signature, 0)
);

-- guarded: tests/sql/79_linked.test

-- What somebody may know of persons and up to m of the rows below them, and how many persons it fits.
--
-- How it goes. A fact is a row with the rows above it. Two facts meet at the last row above both: a person, or a visit of two
-- diagnoses. They hang from it by two rows, not by one, which is known, too: that two diagnoses are of one visit, or of two. So
-- facts are listed once for each row above them (anon_above, at a depth from 0, the person), with the least and the greatest row
-- below that one by which facts with their labels hang from it (anon_first, anon_last; the fact itself, or a row above it).
-- Labels of different depths are different, and so are rows of different tables.
--
-- Returns: known_rows INTEGER, k BIGINT, pattern_count BIGINT, unique_patterns BIGINT, persons_below BIGINT, unique_persons BIGINT,
-- as anon.known_rows.
-- Example:
--   WITH persons AS (SELECT 1 AS anon_person, 1 AS anon_class), facts AS (
--       SELECT 1 AS anon_person, 1 AS anon_class, 0 AS anon_depth, 1 AS anon_above, 1 AS anon_label, 1 AS anon_first, 2 AS anon_last)
--   FROM anon_helpers.known_patterns('persons', 'facts', 2, 5) ORDER BY known_rows ASC;
CREATE OR REPLACE MACRO anon_helpers.known_patterns(persons, facts, m, k) AS TABLE
WITH anon_facts AS (FROM query_table(anon_helpers.as_source(facts))),
-- One number for a class and a label, and one for two of these, so that pairs are compared at once.
anon_numbers AS (
    SELECT anon_class, anon_label, row_number() OVER () AS anon_number
    FROM (SELECT DISTINCT anon_class, anon_label FROM anon_facts WHERE m >= 2)
),
anon_numbered AS MATERIALIZED (
    SELECT anon_facts.*, anon_numbers.anon_number
    FROM anon_facts
    INNER JOIN anon_numbers
        ON anon_facts.anon_class = anon_numbers.anon_class AND anon_facts.anon_label = anon_numbers.anon_label
),
anon_met AS NOT MATERIALIZED (
    SELECT
        anon_one.anon_depth,
        anon_one.anon_person,
        anon_one.anon_number * (SELECT count(*) FROM anon_numbers) + anon_other.anon_number AS anon_pair
    FROM anon_numbered AS anon_one
    INNER JOIN anon_numbered AS anon_other ON anon_one.anon_above = anon_other.anon_above
    WHERE
        anon_one.anon_number <= anon_other.anon_number
        AND (anon_one.anon_first < anon_other.anon_last OR anon_other.anon_first < anon_one.anon_last)
),
anon_pairs AS MATERIALIZED (
    SELECT anon_person, anon_pair FROM anon_met WHERE anon_depth = 0
    UNION ALL
    -- Several visits of a person may have both diagnoses.
    SELECT DISTINCT anon_person, anon_pair FROM anon_met WHERE anon_depth > 0
),
anon_pair_patterns AS MATERIALIZED (
    SELECT anon_pair, count(*) AS anon_persons FROM anon_pairs GROUP BY anon_pair
),
anon_items AS (
    SELECT 0 AS known_rows, count(*) AS anon_persons, min(anon_person, greatest(k, 2)) AS anon_some
    FROM query_table(anon_helpers.as_source(persons))
    GROUP BY anon_class
    UNION ALL
    SELECT 1 AS known_rows, count(*) AS anon_persons, min(anon_person, greatest(k, 2)) AS anon_some
    FROM anon_facts
    WHERE m >= 1 AND anon_depth = 0
    GROUP BY anon_class, anon_label
),
anon_patterns AS (
    SELECT
        known_rows,
        min(anon_persons) AS anon_k,
        count(*) AS pattern_count,
        count(*) FILTER (WHERE anon_persons = 1) AS unique_patterns
    FROM (
        SELECT known_rows, anon_persons FROM anon_items
        UNION ALL
        SELECT 2 AS known_rows, anon_persons FROM anon_pair_patterns
    )
    GROUP BY known_rows
),
anon_below AS (
    SELECT
        known_rows,
        count(*) FILTER (WHERE anon_fewest < k) AS persons_below,
        count(*) FILTER (WHERE anon_fewest = 1) AS unique_persons
    FROM (
        SELECT known_rows, anon_person, min(anon_persons) AS anon_fewest
        FROM (
            SELECT known_rows, unnest(anon_some) AS anon_person, anon_persons FROM anon_items WHERE anon_persons < greatest(k, 2)
            UNION ALL
            SELECT 2 AS known_rows, anon_pairs.anon_person, anon_pair_patterns.anon_persons
            FROM anon_pairs
            INNER JOIN anon_pair_patterns ON anon_pairs.anon_pair = anon_pair_patterns.anon_pair
            WHERE anon_pair_patterns.anon_persons < greatest(k, 2)
        )
        GROUP BY known_rows, anon_person
    )
    GROUP BY known_rows
)
SELECT
    anon_patterns.known_rows,
    anon_patterns.anon_k AS k,
    anon_patterns.pattern_count,
    anon_patterns.unique_patterns,
    coalesce(anon_below.persons_below, 0) AS persons_below,
    coalesce(anon_below.unique_persons, 0) AS unique_persons
FROM anon_patterns
LEFT JOIN anon_below ON anon_patterns.known_rows = anon_below.known_rows;

-- guarded: tests/sql/79_linked.test

-- How anonymous linked tables are for somebody who knows the labels of a person, and those of up to m of the person's rows:
-- at least k persons have them, too. A pattern is what somebody may know: the labels of a person and of 0, 1 or 2 rows that
-- some person has; two rows may have equal labels. That a person has no other rows, and how many, is not known.
--
-- How it goes. Two known rows are two labels of a person's rows, or one label of two. m is 0, 1 or 2; two take several times as
-- long. The argument k is the number of persons that there should be: it is for persons_below alone.
--
-- Job: privacy.
-- Returns: known_rows INTEGER, k BIGINT (persons who have the rarest pattern), pattern_count BIGINT, unique_patterns BIGINT (of
-- one person), persons_below BIGINT (persons who have a pattern of fewer than k persons), unique_persons BIGINT (persons who have
-- one that nobody else has); one row for each number of known rows up to m for which there is a pattern. Errors as in anon.trees.
-- Source: Terrovitis, Mamoulis and Kalnis 2008, "Privacy-preserving anonymization of set-valued data" (k^m-anonymity).
-- Example:
--   WITH people AS (SELECT DISTINCT sex FROM visits WHERE sex IS NOT NULL)
--   FROM anon.known_rows('people', 'sex', ['sex'], 'visits', 'sex', ['diagnosis'], 2, 5) ORDER BY known_rows ASC;
CREATE OR REPLACE MACRO anon.known_rows(parent, row_key, labels, child, key, child_labels, m, k) AS TABLE
WITH anon_linked AS MATERIALIZED (
    FROM anon_helpers.linked_rows(parent, row_key, labels, child, key, child_labels)
),
anon_everybody AS (SELECT DISTINCT anon_person, anon_class FROM anon_linked),
anon_known AS (SELECT *, 0 AS anon_depth, anon_person AS anon_above FROM anon_linked WHERE anon_rows > 0)
FROM anon_helpers.known_patterns('anon_everybody', 'anon_known', m, k);

-- guarded: tests/sql/79_linked.test

-- What linked tables have to leave out, so that somebody who knows the labels of a person and of one of the person's rows is
-- left with at least k persons: all persons of classes of fewer than k, and in other classes the rows of each label that fewer
-- than k persons of the class have. That is the least.
--
-- Job: privacy.
-- Returns: one row: person_count BIGINT, row_count BIGINT, persons_left_out BIGINT, rows_left_out BIGINT (of these persons and
-- of the others). Errors as in anon.trees.
-- Source: Terrovitis, Mamoulis and Kalnis 2008, with rows left out by classes of persons.
-- Example:
--   WITH people AS (SELECT DISTINCT sex FROM visits WHERE sex IS NOT NULL)
--   FROM anon.known_rows_left_out('people', 'sex', ['sex'], 'visits', 'sex', ['diagnosis'], 2);
CREATE OR REPLACE MACRO anon.known_rows_left_out(parent, row_key, labels, child, key, child_labels, k) AS TABLE
WITH anon_linked AS MATERIALIZED (
    FROM anon_helpers.linked_rows(parent, row_key, labels, child, key, child_labels)
),
anon_classes AS (
    SELECT anon_class, count(DISTINCT anon_person) AS anon_persons FROM anon_linked GROUP BY anon_class
),
anon_items AS (
    SELECT anon_class, count(*) AS anon_persons, CAST(sum(anon_rows) AS BIGINT) AS anon_rows
    FROM anon_linked
    GROUP BY anon_class, anon_label
)
SELECT
    CAST(coalesce((SELECT sum(anon_persons) FROM anon_classes), 0) AS BIGINT) AS person_count,
    CAST(coalesce(sum(anon_items.anon_rows), 0) AS BIGINT) AS row_count,
    CAST(coalesce((SELECT sum(anon_persons) FROM anon_classes WHERE anon_persons < k), 0) AS BIGINT) AS persons_left_out,
    CAST(coalesce(sum(anon_items.anon_rows) FILTER (
        WHERE least(anon_items.anon_persons, anon_classes.anon_persons) < k
    ), 0) AS BIGINT) AS rows_left_out
FROM anon_items
INNER JOIN anon_classes ON anon_items.anon_class = anon_classes.anon_class;

-- The keys by which the rows of a child refer to a parent, and those that refer to nobody.
--
-- Job: columns.
-- Returns: one row: row_count BIGINT (of the child), null_keys BIGINT (rows without a key), orphans BIGINT (rows whose key no
-- row of the parent has), repeated_keys BIGINT (of the parent, in several rows), unused_keys BIGINT (of the parent, without a
-- row), most_rows BIGINT (of one key).
-- Example:
--   WITH people AS (SELECT DISTINCT sex FROM visits)
--   FROM anon.broken_keys('people', 'sex', 'visits', 'sex');
CREATE OR REPLACE MACRO anon.broken_keys(parent, row_key, child, key) AS TABLE
SELECT
    CAST(coalesce(sum(anon_rows), 0) AS BIGINT) AS row_count,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_key IS NULL), 0) AS BIGINT) AS null_keys,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_key IS NOT NULL AND anon_parents = 0), 0) AS BIGINT) AS orphans,
    count(*) FILTER (WHERE anon_key IS NOT NULL AND anon_parents > 1) AS repeated_keys,
    count(*) FILTER (WHERE anon_key IS NOT NULL AND anon_parents > 0 AND anon_rows = 0) AS unused_keys,
    coalesce(max(anon_rows) FILTER (WHERE anon_key IS NOT NULL), 0) AS most_rows
FROM (
    SELECT anon_key, count(*) FILTER (WHERE anon_is_parent) AS anon_parents, count(*) FILTER (WHERE NOT anon_is_parent) AS anon_rows
    FROM (
        SELECT anon.text_of(COLUMNS([row_key])) AS anon_key, TRUE AS anon_is_parent
        FROM query_table(anon_helpers.as_source(parent))
        UNION ALL
        SELECT anon.text_of(COLUMNS([key])) AS anon_key, FALSE AS anon_is_parent
        FROM query_table(anon_helpers.as_source(child))
    )
    GROUP BY anon_key
);

-- m-concealing: the risk of an attacker who knows the quasi-identifiers for sure and each secret column with a
-- probability of its own, independently. A measure, not a guarantee: it is an average over what may be known.

-- Every state of knowledge that has a positive probability under a prior, MAP {'column': probability that it is known}:
-- which columns are known, in the order of the prior, and how probable that is.
--
-- Returns: state BIGINT, known VARCHAR[], probability DOUBLE in (0, 1]. More than 12 columns are an error, since every
-- column doubles the states, and so is a probability outside [0, 1].
-- Source: Mazzone 2019, section 5.2.
-- Example:
--   FROM anon_helpers.knowledge_states(MAP {'diagnosis': 0.05, 'zip': 0.01}) ORDER BY state;
CREATE OR REPLACE MACRO anon_helpers.knowledge_states(prior) AS TABLE
SELECT *
FROM (
    SELECT
        anon_state AS state,
        list_filter(map_keys(prior), lambda anon_name, anon_position: (anon_state >> (anon_position - 1)) & 1 = 1)
            AS known,
        list_product(list_transform(
            map_values(prior),
            lambda anon_chance, anon_position: CAST(CASE (anon_state >> (anon_position - 1)) & 1
                WHEN 1 THEN anon_chance ELSE 1 - anon_chance
            END AS DOUBLE)
        )) AS probability
    FROM range(0, CASE
        WHEN len(map_keys(prior)) > 12 THEN error('m-concealing takes at most 12 secret columns')
        WHEN len(list_filter(map_values(prior), lambda anon_chance: coalesce(anon_chance BETWEEN 0 AND 1, false)))
            < len(map_keys(prior))
            THEN error('m-concealing takes probabilities from 0 to 1')
        ELSE 1 << len(map_keys(prior))
    END) AS anon_states (anon_state)
)
WHERE probability > 0;

-- The risk of each record class under column names that cannot clash with the columns'; see concealing_exposure.
--
-- How it goes. Records are counted; in each state of knowledge, those that look alike to an attacker are candidates for each
-- other; and the risks of a record are summed over the states.
--
-- Returns: the quasi-identifiers, the secret columns, anon_row_count BIGINT, anon_m DOUBLE, anon_worst_state VARCHAR[],
-- anon_worst_risk DOUBLE.
-- Example:
--   FROM anon_helpers.record_risks('visits', ['sex'], MAP {'diagnosis': 0.05}) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.record_risks(source, quasi_identifiers, prior) AS TABLE
WITH anon_records AS MATERIALIZED (
    SELECT row_number() OVER () AS anon_record, *
    FROM (
        SELECT COLUMNS(anon_helpers.listed(quasi_identifiers)), COLUMNS(map_keys(prior)), count(*) AS anon_row_count
        FROM query_table(anon_helpers.as_source(source))
        GROUP BY ALL
    )
),
anon_guesses AS (
    SELECT
        anon_records.anon_record,
        anon_records.anon_row_count,
        anon_states.anon_state,
        anon_states.anon_known,
        anon_states.anon_probability,
        row(*COLUMNS(anon_helpers.listed(quasi_identifiers))) AS anon_class,
        CASE
            -- Columns are found whatever their case: the prior may spell them otherwise than the table.
            WHEN list_contains(
                list_transform(anon_states.anon_known, lambda anon_name: lower(anon_name)),
                lower(alias(COLUMNS(map_keys(prior))))
            ) THEN COLUMNS(map_keys(prior))
        END
    FROM anon_records
    CROSS JOIN anon_helpers.knowledge_states(prior) AS anon_states (anon_state, anon_known, anon_probability)
),
anon_matches AS (
    SELECT
        anon_record,
        anon_state,
        anon_known,
        anon_probability,
        sum(anon_row_count) OVER (PARTITION BY anon_state, anon_class, anon_seen) AS anon_candidates
    FROM (SELECT *, row(*COLUMNS(map_keys(prior))) AS anon_seen FROM anon_guesses)
),
anon_risks AS (
    SELECT
        anon_record,
        -- The probabilities of all states may sum to a last digit more than 1.
        least(sum(anon_probability / anon_candidates ORDER BY anon_state ASC), 1.0) AS anon_m,
        first(anon_known ORDER BY anon_candidates ASC, len(anon_known) ASC, anon_state ASC) AS anon_worst_state,
        1 / min(anon_candidates) AS anon_worst_risk
    FROM anon_matches
    GROUP BY anon_record
)
SELECT
    COLUMNS(anon_helpers.listed(quasi_identifiers)),
    COLUMNS(map_keys(prior)),
    anon_records.anon_row_count,
    anon_risks.anon_m,
    anon_risks.anon_worst_state,
    anon_risks.anon_worst_risk
FROM anon_records
INNER JOIN anon_risks ON anon_risks.anon_record = anon_records.anon_record;

-- The risk of each record class, that is of the rows that agree on the quasi-identifiers and on the secret columns of a
-- prior, MAP {'column': probability that it is known}. m is the expected success of guessing uniformly among the rows
-- that agree with what is known. Since an average hides a certain hit in an unlikely state, the worst state is shown
-- beside it: of those with the highest risk the one that takes the fewest columns, the earliest in the prior.
--
-- Returns: the quasi-identifiers, the secret columns, row_count BIGINT, m DOUBLE, worst_state VARCHAR[], the columns
-- known in it, and worst_risk DOUBLE, the risk in it. NULL is a value. At most 12 secret columns, at least one.
-- Source: Mazzone 2019, section 5.2, for an inclusion probability of 1.
-- Example:
--   FROM anon_helpers.concealing_exposure('visits', ['sex'], MAP {'diagnosis': 0.05}) ORDER BY m DESC;
CREATE OR REPLACE MACRO anon_helpers.concealing_exposure(source, quasi_identifiers, prior) AS TABLE
SELECT
    * EXCLUDE (anon_row_count, anon_m, anon_worst_state, anon_worst_risk),
    anon_row_count AS row_count,
    anon_m AS m,
    anon_worst_state AS worst_state,
    anon_worst_risk AS worst_risk
FROM anon_helpers.record_risks(source, quasi_identifiers, prior);

-- m-concealing attained: the highest risk of any row, see concealing_exposure; NULL for a table without rows. With
-- probabilities of 0 it is 1 / k of k-anonymity, and generalization never raises it. Correlated and partial leaks are
-- outside the model.
--
-- Job: privacy.
-- Returns: one row: m DOUBLE in (0, 1], inverse_m DOUBLE, which is 1 / m.
-- Source: Mazzone 2019, section 5.2, for an inclusion probability of 1.
-- Example:
--   FROM anon.m_concealing('visits', ['sex'], MAP {'diagnosis': 0.05});
CREATE OR REPLACE MACRO anon.m_concealing(source, quasi_identifiers, prior) AS TABLE
SELECT max(anon_m) AS m, 1 / max(anon_m) AS inverse_m
FROM anon_helpers.record_risks(source, quasi_identifiers, prior);

-- Utility: what a release keeps of the numbers and tables of its source, as statistical offices measure it. All macros here
-- read the source.

-- The numbers of each row, in the order of the names in lower case, and one more column of it, without which there is 1. Values
-- that are not numbers are an error.
--
-- Returns: anon_is_source as it is given; anon_kept as the column is; anon_numbers DOUBLE[].
-- Example:
--   FROM anon_helpers.numbers_of_rows('visits', ['id', 'age'], 'sex', TRUE) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.numbers_of_rows(source, columns, kept, is_source) AS TABLE
SELECT
    is_source AS anon_is_source,
    anon_kept,
    list_select([*COLUMNS(anon_helpers.listed(columns))], anon_order) AS anon_numbers
FROM (
    SELECT
        COLUMNS([coalesce(kept, 'anon_one')]) AS anon_kept,
        anon_helpers.number_of(alias(COLUMNS(anon_helpers.listed(columns))), COLUMNS(anon_helpers.listed(columns)))
    FROM (SELECT *, 1 AS anon_one FROM query_table(anon_helpers.as_source(source)))
)
-- One order for all rows: sorting the names in each takes most of the time.
CROSS JOIN (
    SELECT list_grade_up([*COLUMNS(anon_helpers.listed(columns))]) AS anon_order
    FROM (SELECT lower(alias(COLUMNS(anon_helpers.listed(columns)))) FROM query_table(anon_helpers.as_source(source)) LIMIT 1)
);

-- The column at a place in numbers_of_rows, as the caller wrote it.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.name_at(1, ['sex', 'Age']) AS name;
CREATE OR REPLACE MACRO anon_helpers.name_at(place, columns) AS
list_filter(anon_helpers.listed(columns), lambda anon_name: lower(anon_name) = list_extract(
    list_sort(list_distinct(list_transform(anon_helpers.listed(columns), lambda anon_other: lower(anon_other)))), place
))[1];

-- guarded: tests/sql/81_utility.test

-- The rows that two tables share by a key, with their numbers in both. A key that is NULL, or has several rows of a table, is an
-- error, and so are two tables with rows and no key in common.
--
-- Returns: anon_was and anon_is, the numbers of a row as numbers_of_rows has them.
-- Example:
--   FROM anon_helpers.paired_numbers('visits', 'visits', 'id', ['age']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.paired_numbers(source, release, key, columns) AS TABLE
SELECT anon_was, anon_is
FROM (
    SELECT
        any_value(anon_numbers) FILTER (WHERE anon_is_source) AS anon_was,
        any_value(anon_numbers) FILTER (WHERE NOT anon_is_source) AS anon_is,
        CASE
            WHEN anon.text_of(anon_kept) IS NULL
                THEN error(concat('column "', key, '" is NULL in a row: rows are joined by it'))
            WHEN greatest(count_if(anon_is_source), count_if(NOT anon_is_source)) > 1
                THEN error(concat('column "', key, '" has a value in several rows of a table: rows are joined by it'))
            WHEN NOT bool_or(count(*) = 2) OVER () AND count(DISTINCT bool_or(anon_is_source)) OVER () = 2
                THEN error(concat('no value of column "', key, '" is in both tables'))
            ELSE count(*) = 2
        END AS anon_is_paired
    FROM (
        SELECT * REPLACE (anon.text_of(anon_kept) AS anon_kept)
        FROM anon_helpers.numbers_of_rows(source, columns, key, TRUE)
        UNION ALL
        SELECT * REPLACE (anon.text_of(anon_kept) AS anon_kept)
        FROM anon_helpers.numbers_of_rows(release, columns, key, FALSE)
    )
    GROUP BY anon_kept
)
WHERE anon_is_paired;

-- guarded: tests/sql/81_utility.test

-- How far the numbers of a release are from those of its source, row by row, by column and in all. Rows are joined by a key,
-- which is compared as text; rows of one table alone are left out.
--
-- IL1s adds up |x - x'| / (sqrt(2) S), where S is the standard deviation of the source; SSE / SST is the share of the variation
-- that is lost. Cells count whose values are both known, and S is theirs; a column without variation has no loss.
--
-- A row is close where every value is within 0.05 S of the source's, or NULL in both. That is a risk: somebody who knows the
-- numbers of a person may recognize the row.
--
-- How it goes. Deviations come first, then each row is judged by them, and its cells are added up by column and in all.
--
-- Job: loss.
-- Returns: column_name VARCHAR, NULL in the row for all columns, which is last; cell_count BIGINT (known in both); il1s DOUBLE;
-- il1s_per_cell DOUBLE; sse_over_sst DOUBLE; close_share DOUBLE in [0, 1]. Without rows in both there is the last row alone, with
-- measures that are NULL. A key that is NULL or not unique, and a value that is not a number, are errors.
-- Source: Yancey, Winkler and Creecy 2002 (IL1s); Domingo-Ferrer and Mateo-Sanz 2002 (SSE / SST). As dUtility and dRisk of
-- sdcMicro.
-- Example:
--   WITH released AS (SELECT id, age // 5 * 5 + 2 AS age FROM visits)
--   FROM anon.numeric_loss('visits', 'released', 'id', ['age']);
CREATE OR REPLACE MACRO anon.numeric_loss(source, release, key, columns) AS TABLE
WITH anon_rows AS MATERIALIZED (FROM anon_helpers.paired_numbers(source, release, key, columns)),
anon_scales AS (
    SELECT anon_place, stddev_samp(anon_x) FILTER (WHERE anon_y IS NOT NULL) AS anon_scale
    FROM (
        SELECT unnest(anon_was) AS anon_x, unnest(anon_is) AS anon_y, generate_subscripts(anon_was, 1) AS anon_place
        FROM anon_rows
    )
    GROUP BY ALL
),
anon_near AS (
    SELECT anon_was, anon_is, list_transform(anon_was, lambda anon_x, anon_place: coalesce(
        abs(anon_x - anon_is[anon_place]) <= 0.05 * anon_scales[anon_place],
        anon_x IS NOT DISTINCT FROM anon_is[anon_place]
    )) AS anon_close
    FROM anon_rows
    CROSS JOIN (SELECT list(anon_scale ORDER BY anon_place ASC) AS anon_scales FROM anon_scales)
)
SELECT
    anon_helpers.name_at(anon_place, columns) AS column_name,
    count(anon_x - anon_y) AS cell_count,
    sum(abs(anon_x - anon_y) / nullif(anon_scale, 0)) / sqrt(2) AS il1s,
    avg(abs(anon_x - anon_y) / nullif(anon_scale, 0)) / sqrt(2) AS il1s_per_cell,
    sum(((anon_x - anon_y) / nullif(anon_scale, 0)) ** 2)
    / nullif(count(anon_x - anon_y) FILTER (WHERE anon_scale > 0) - count(DISTINCT anon_place) FILTER (WHERE anon_scale > 0), 0)
        AS sse_over_sst,
    CASE grouping(anon_place) WHEN 0 THEN count_if(anon_is_close) ELSE count_if(anon_are_close) END / nullif(count(*), 0)
        AS close_share
FROM (
    SELECT
        unnest(anon_was) AS anon_x,
        unnest(anon_is) AS anon_y,
        unnest(anon_close) AS anon_is_close,
        list_bool_and(anon_close) AS anon_are_close,
        generate_subscripts(anon_was, 1) AS anon_place
    FROM anon_near
)
INNER JOIN anon_scales USING (anon_place)
GROUP BY GROUPING SETS ((anon_place), ())
ORDER BY grouping(anon_place) ASC, anon_place ASC;

-- guarded: tests/sql/81_utility.test

-- What became of the means, totals, variances and correlations of numbers, each difference also in standard errors of the
-- source: how much of it may be the chance of a sample of this size. All are weighted; without a weight, NULL is given in its
-- place. NULL is left out, and from a correlation rows without one of the two values.
--
-- The errors are those of a simple sample of (sum of w)^2 / (sum of w^2) rows, the number of people is taken as known, and
-- correlations as those of normal distributions.
--
-- How it goes. Each row gives its numbers by twos, also with themselves; these are many, and are never kept. Means of the twos
-- come first, then sums of powers of the differences from them, from which all measures and their errors follow.
--
-- Job: loss.
-- Returns: statistic VARCHAR (correlation, mean, total or variance), column_name VARCHAR, other_column VARCHAR (of a
-- correlation), source_value DOUBLE, release_value DOUBLE, difference DOUBLE, standard_errors DOUBLE, the difference in these;
-- NULL where something cannot be had, as of a column without variation.
-- Source: Kish 1965 (errors with weights).
-- Example:
--   WITH released AS (SELECT id, age // 5 * 5 + 2 AS age FROM visits)
--   FROM anon.moment_changes('visits', 'released', ['id', 'age'], NULL);
CREATE OR REPLACE MACRO anon.moment_changes(source, release, columns, weight) AS TABLE
WITH anon_twos AS NOT MATERIALIZED (
    SELECT
        anon_is_source,
        anon_place,
        anon_other,
        anon_helpers.sampling_weight(anon_kept, weight, columns) AS anon_w,
        anon_numbers[anon_place] AS anon_x,
        anon_numbers[anon_other] AS anon_y
    FROM (
        FROM anon_helpers.numbers_of_rows(source, columns, weight, TRUE)
        UNION ALL
        FROM anon_helpers.numbers_of_rows(release, columns, weight, FALSE)
    )
    INNER JOIN range(1, len(anon_helpers.listed(columns)) + 1) AS anon_places (anon_place) ON TRUE
    INNER JOIN range(1, len(anon_helpers.listed(columns)) + 1) AS anon_others (anon_other) ON anon_place <= anon_other
    WHERE anon_x + anon_y IS NOT NULL
),
anon_means AS (
    SELECT
        anon_is_source,
        anon_place,
        anon_other,
        count(*) / nullif(count(*) - 1, 0) AS anon_factor,
        sum(anon_w) AS anon_sum,
        anon_sum ** 2 / sum(anon_w * anon_w) AS anon_size,
        sum(anon_w * anon_x) / anon_sum AS anon_mean,
        sum(anon_w * anon_y) / anon_sum AS anon_other_mean
    FROM anon_twos
    GROUP BY ALL
),
anon_powers AS (
    SELECT
        anon_is_source,
        anon_place,
        anon_other,
        sum(anon_w * anon_dx * anon_dx) AS anon_square,
        sum(anon_w * anon_dx * anon_dx * anon_dx * anon_dx) AS anon_fourth,
        sum(anon_w * anon_dx * anon_dy) / nullif(sqrt(anon_square) * sqrt(sum(anon_w * anon_dy * anon_dy)), 0)
            AS anon_correlation
    FROM (
        SELECT *, anon_x - anon_mean AS anon_dx, anon_y - anon_other_mean AS anon_dy
        FROM anon_twos
        INNER JOIN anon_means USING (anon_is_source, anon_place, anon_other)
    )
    GROUP BY anon_is_source, anon_place, anon_other
)
SELECT
    statistic,
    anon_helpers.name_at(anon_place, columns) AS column_name,
    anon_helpers.name_at(nullif(anon_other, anon_place), columns) AS other_column,
    any_value(anon_value) FILTER (WHERE anon_is_source) AS source_value,
    any_value(anon_value) FILTER (WHERE NOT anon_is_source) AS release_value,
    release_value - source_value AS difference,
    difference / nullif(any_value(anon_error / sqrt(anon_size)) FILTER (WHERE anon_is_source), 0) AS standard_errors
FROM (
    SELECT anon_is_source, anon_place, anon_other, anon_size, unnest(CASE anon_other
        WHEN anon_place THEN [
            {'statistic': 'mean', 'anon_value': anon_mean, 'anon_error': sqrt(anon_variance)},
            {'statistic': 'total', 'anon_value': anon_sum * anon_mean, 'anon_error': anon_sum * sqrt(anon_variance)},
            {'statistic': 'variance', 'anon_value': anon_variance, 'anon_error': sqrt(greatest(anon_of_variance, 0))}
        ]
        ELSE [{'statistic': 'correlation', 'anon_value': anon_correlation, 'anon_error': round(1 - anon_correlation ** 2, 12)}]
    END, recursive := TRUE)
    FROM (
        SELECT
            *,
            anon_factor * anon_square / anon_sum AS anon_variance,
            anon_fourth / anon_sum - (anon_square / anon_sum) ** 2 AS anon_of_variance
        FROM anon_means
        INNER JOIN anon_powers USING (anon_is_source, anon_place, anon_other)
    )
)
GROUP BY statistic, anon_place, anon_other
ORDER BY statistic ASC, anon_place ASC, anon_other ASC;

-- guarded: tests/sql/81_utility.test

-- How far the table of some columns is from that of the source: the cells that either of them has, by their rows or the sum of
-- their weights. Without a weight, NULL is given in its place. NULL in a column is a value, and labels are compared as text.
--
-- Job: loss.
-- Returns: one row: cell_count BIGINT; mean_difference DOUBLE and greatest_difference DOUBLE, of rows or weights; hellinger
-- DOUBLE and total_variation DOUBLE in [0, 1], of shares; emptied_cells BIGINT, which the release lacks; filled_cells BIGINT,
-- which the source lacks. Distances from a table without rows are NULL.
-- Source: infoLoss of sdcMicro; Hellinger 1909.
-- Example:
--   WITH released AS (SELECT CASE WHEN id > 2 THEN sex END AS sex, diagnosis FROM visits)
--   FROM anon.table_changes('visits', 'released', ['sex', 'diagnosis'], NULL);
CREATE OR REPLACE MACRO anon.table_changes(source, release, columns, weight) AS TABLE
WITH anon_cells AS (
    SELECT COLUMNS(anon_helpers.listed(columns)), sum(anon_was) AS anon_was, sum(anon_is) AS anon_is
    FROM (
        -- Values become texts once, not row by row.
        SELECT anon.text_of(COLUMNS(anon_helpers.listed(columns))), anon_was, 0 AS anon_is
        FROM (
            SELECT
                COLUMNS(anon_helpers.listed(columns)),
                sum(anon_helpers.sampling_weight(COLUMNS([coalesce(weight, 'anon_one')]), weight, columns)) AS anon_was
            FROM (SELECT *, 1 AS anon_one FROM query_table(anon_helpers.as_source(source)))
            GROUP BY ALL
        )
        -- By name: COLUMNS follows the order of each table.
        UNION ALL BY NAME
        SELECT anon.text_of(COLUMNS(anon_helpers.listed(columns))), anon_is, 0 AS anon_was
        FROM (
            SELECT
                COLUMNS(anon_helpers.listed(columns)),
                sum(anon_helpers.sampling_weight(COLUMNS([coalesce(weight, 'anon_one')]), weight, columns)) AS anon_is
            FROM (SELECT *, 1 AS anon_one FROM query_table(anon_helpers.as_source(release)))
            GROUP BY ALL
        )
    )
    GROUP BY ALL
)
SELECT
    count(*) AS cell_count,
    avg(abs(anon_is - anon_was)) AS mean_difference,
    max(abs(anon_is - anon_was)) AS greatest_difference,
    sqrt(sum((sqrt(anon_is / anon_released) - sqrt(anon_was / anon_source)) ** 2) / 2) AS hellinger,
    sum(abs(anon_is / anon_released - anon_was / anon_source)) / 2 AS total_variation,
    count(*) FILTER (WHERE anon_is = 0) AS emptied_cells,
    count(*) FILTER (WHERE anon_was = 0) AS filled_cells
FROM (SELECT *, nullif(sum(anon_was) OVER (), 0) AS anon_source, nullif(sum(anon_is) OVER (), 0) AS anon_released FROM anon_cells);

-- PRAM, the post-randomization method (Gouweleeuw et al. 1998): each value of a column is shown as another one with a
-- probability that a matrix states.

-- guarded: tests/sql/82_pram.test
-- no mutants of 1: any number is a stratum

-- The values of a column with their shares, for a matrix. NULL is left out: it stays NULL in a release.
--
-- Returns: anon_stratum INTEGER (1: all rows), anon_value VARCHAR, anon_share DOUBLE, anon_values BIGINT (how many there are). An
-- error for one value, and for more than 1,000.
-- Example:
--   FROM anon_helpers.pram_values('visits', 'diagnosis') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.pram_values(source, column_name) AS TABLE
SELECT
    1 AS anon_stratum,
    value AS anon_value,
    row_count / sum(row_count) OVER () AS anon_share,
    CASE
        WHEN count(*) OVER () BETWEEN 2 AND 1000 THEN count(*) OVER ()
        ELSE error(concat('column "', column_name, '" needs 2 to 1,000 values beside NULL for a matrix'))
    END AS anon_values
FROM anon_helpers.column_values(source, [column_name])
WHERE value IS NOT NULL;

-- guarded: tests/sql/82_pram.test

-- The matrix of PRAM for each stratum of a table of shares like that of pram_values; see anon.pram_matrix.
--
-- Returns: anon_stratum and anon_value as they are, anon_shown like anon_value, anon_probability DOUBLE.
-- Example:
--   WITH shares AS (FROM anon_helpers.pram_values('visits', 'diagnosis'))
--   FROM anon_helpers.one_step_matrices('shares', 0.2, 'invariant') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.one_step_matrices(shares, change, form) AS TABLE
SELECT
    anon_from.anon_stratum,
    anon_from.anon_value,
    anon_to.anon_value AS anon_shown,
    CASE
        WHEN coalesce(NOT (change > 0 AND change < 1), TRUE) THEN error('change is a probability above 0 and below 1')
        WHEN form = 'invariant' AND anon_from.anon_value = anon_to.anon_value THEN 1 - change + change * anon_to.anon_share
        WHEN form = 'invariant' THEN change * anon_to.anon_share
        WHEN coalesce(form <> 'plain', TRUE) THEN error('form is ''plain'' or ''invariant''')
        WHEN anon_from.anon_value = anon_to.anon_value THEN 1 - change
        ELSE change / (anon_to.anon_values - 1)
    END AS anon_probability
FROM query_table(anon_helpers.as_source(shares)) AS anon_from
JOIN query_table(anon_helpers.as_source(shares)) AS anon_to ON anon_to.anon_stratum = anon_from.anon_stratum;

-- The matrix of PRAM for a column: the probability with which each value is shown as each other one. For strata, take the rows of
-- one stratum.
--
-- plain: a value changes with the probability `change`, to any other alike. Such a matrix has nothing of the rows but the values,
-- and anon.pram_estimate recovers the counts. invariant: with this probability a value is drawn anew from the column, so that
-- expected counts stay. Such a matrix has the exact shares of the values in it: publish it for many rows only.
--
-- Job: release.
-- Returns: value VARCHAR, shown_value VARCHAR, probability DOUBLE; a row for each two values. An error for a column that has one
-- value, or more than 1,000, for a change that is not above 0 and below 1, and for another form. NULL is left out.
-- Source: Gouweleeuw, Kooiman, Willenborg and De Wolf 1998.
-- Example:
--   FROM anon.pram_matrix('visits', 'diagnosis', 0.2, 'invariant') ORDER BY ALL;
CREATE OR REPLACE MACRO anon.pram_matrix(source, column_name, change, form) AS TABLE
WITH anon_shares AS (
    SELECT * FROM anon_helpers.pram_values(source, column_name)
)
SELECT anon_value AS value, anon_shown AS shown_value, anon_probability AS probability
FROM anon_helpers.one_step_matrices('anon_shares', change, form);

-- guarded: tests/sql/82_pram.test

-- The invariant matrix of PRAM in two steps, as sdcMicro makes it: a value is kept with a probability of its own, else it becomes
-- any other alike (P); then it becomes one of the values that it may have been (Q). The matrix is alpha PQ + (1 - alpha) I. A
-- value may stay far less often than it is kept in the first step.
--
-- Beside its diagonal a row of P is one number, so that no sum over values is needed for PQ. The shares are those of
-- one_step_matrices, with the probability of each value to be kept, anon_keep.
--
-- Returns: the rows of one_step_matrices. An error for a value without a probability.
-- Source: Gouweleeuw, Kooiman, Willenborg and De Wolf 1998; as pram of sdcMicro.
-- Example:
--   WITH shares AS (SELECT *, 0.8 AS anon_keep FROM anon_helpers.pram_values('visits', 'diagnosis'))
--   FROM anon_helpers.two_step_matrices('shares', 0.5) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.two_step_matrices(shares, alpha) AS TABLE
WITH anon_steps AS (
    SELECT
        *,
        (1 - anon_kept) / (anon_values - 1) AS anon_moved,
        anon_kept - anon_moved AS anon_more,
        sum(anon_share * anon_moved) OVER (PARTITION BY anon_stratum) + anon_share * anon_more AS anon_between
    FROM (
        SELECT *, anon_helpers.checked_share(anon_keep, 'the probability to keep a value') AS anon_kept
        FROM query_table(anon_helpers.as_source(shares))
    )
)
SELECT
    anon_from.anon_stratum,
    anon_from.anon_value,
    anon_to.anon_value AS anon_shown,
    CASE WHEN anon_from.anon_value = anon_to.anon_value
        THEN 1 - alpha + alpha * anon_to.anon_share * anon_from.anon_more ** 2 / anon_from.anon_between ELSE 0
    END + anon_helpers.checked_share(alpha, 'alpha') * anon_to.anon_share * (
        anon_from.anon_moved * anon_to.anon_moved
        * sum(1 / anon_to.anon_between) OVER (PARTITION BY anon_from.anon_stratum, anon_from.anon_value)
        + anon_from.anon_moved * anon_to.anon_more / anon_to.anon_between
        + anon_from.anon_more * anon_to.anon_moved / anon_from.anon_between
    ) AS anon_probability
FROM anon_steps AS anon_from
JOIN anon_steps AS anon_to ON anon_to.anon_stratum = anon_from.anon_stratum;

-- guarded: tests/sql/82_pram.test

-- A step of Gauss and Jordan: of the first rows, which are not done, the one with the largest first number is divided by it,
-- taken from the others as often as their first numbers say, and put last. The first numbers are gone then.
--
-- Returns: DOUBLE[][]; an error where all of them are 0, up to rounding.
-- Example:
--   SELECT anon_helpers.gauss_step([[0.5, 0.5, 1.0, 0.0], [0.2, 0.8, 0.0, 1.0]], 2) AS matrix;
CREATE OR REPLACE MACRO anon_helpers.gauss_step(matrix, undone) AS
list_transform(
    [list_transform(list_slice(matrix, 1, undone), lambda anon_row: abs(CAST(anon_row[1] AS DOUBLE)))],
    lambda anon_sizes: list_transform(
        [list_extract(matrix, list_position(anon_sizes, list_max(anon_sizes)))],
        lambda anon_pivot: CASE
            WHEN list_max(anon_sizes) < 1e-9
                THEN error('the matrix is singular: different counts look the same in a release, and nobody can estimate them')
            ELSE list_append(
                list_transform(
                    list_filter(matrix, lambda anon_row, anon_at: anon_at <> list_position(anon_sizes, list_max(anon_sizes))),
                    lambda anon_row: list_transform(anon_row[2:], lambda anon_x, anon_at:
                        anon_x - anon_row[1] / anon_pivot[1] * list_extract(anon_pivot, anon_at + 1))
                ),
                list_transform(anon_pivot[2:], lambda anon_x: anon_x / anon_pivot[1])
            )
        END
    )[1]
)[1];

-- The inverse of a square matrix.
--
-- Returns: DOUBLE[][]; an error for a singular matrix.
-- Example:
--   SELECT anon_helpers.inverse_of([[0.5, 0.5], [0.2, 0.8]]) AS inverse;
CREATE OR REPLACE MACRO anon_helpers.inverse_of(matrix) AS
list_reduce(
    list_prepend(
        list_transform(CAST(matrix AS DOUBLE[][]), lambda anon_row, anon_at: list_concat(
            anon_row, list_transform(anon_row, lambda anon_x, anon_other: CAST(anon_at = anon_other AS DOUBLE))
        )),
        list_transform(range(len(matrix), 0, -1), lambda anon_undone: [[CAST(anon_undone AS DOUBLE)]])
    ),
    lambda anon_rows, anon_undone: anon_helpers.gauss_step(anon_rows, CAST(anon_undone[1][1] AS BIGINT))
);

-- guarded: tests/sql/82_pram.test

-- How often each value stood in a column before PRAM, by what a release shows and the matrix: estimates without bias, with their
-- standard errors. Those of rare values are large. For strata, take the rows and the matrix of one stratum.
--
-- The matrix is a table like that of anon.pram_matrix; two values that it lacks have the probability 0. NULL is left out, unless
-- it is a value of the matrix.
--
-- How it goes. Plain and invariant matrices have one number in each column beside the diagonal, and a known inverse. Others are
-- inverted, up to 100 values.
--
-- Job: answers.
-- Returns: value VARCHAR, shown_count BIGINT, estimated_count DOUBLE (below 0 for some rare values), standard_error DOUBLE. An error
-- for a singular matrix, for one whose probabilities are not from 0 to 1 and add up to 1 for each value, for another matrix
-- of more than 100 values, and for a value that the matrix lacks.
-- Source: Kooiman, Willenborg and Gouweleeuw 1997.
-- Example:
--   WITH matrix AS (FROM anon.pram_matrix('visits', 'diagnosis', 0.2, 'plain'))
--   FROM anon.pram_estimate('visits', 'diagnosis', 'matrix');
CREATE OR REPLACE MACRO anon.pram_estimate(release, column_name, matrix) AS TABLE
WITH anon_matrix AS (
    SELECT anon.text_of(value) AS anon_value, anon.text_of(shown_value) AS anon_shown, sum(probability) AS anon_p
    FROM query_table(anon_helpers.as_source(matrix))
    GROUP BY ALL
),
anon_labels AS MATERIALIZED (
    SELECT anon_value, row_number() OVER (ORDER BY anon_value ASC) AS anon_place
    FROM (SELECT DISTINCT anon_value FROM anon_matrix)
),
anon_columns AS (
    SELECT
        anon_to,
        list(anon_checked ORDER BY anon_from ASC) AS anon_column,
        max(anon_checked) FILTER (WHERE anon_from <> anon_to) AS anon_beside,
        anon_beside - min(anon_checked) FILTER (WHERE anon_from <> anon_to) < 1e-12 AS anon_is_even
    FROM (
        SELECT
            anon_origins.anon_place AS anon_from,
            anon_targets.anon_place AS anon_to,
            CASE
                WHEN coalesce(anon_p, 0) >= 0 AND abs(sum(anon_p) OVER (PARTITION BY anon_origins.anon_place) - 1) < 1e-6
                    THEN coalesce(anon_p, 0)
                ELSE error('the probabilities of a value in the matrix are from 0 to 1 and add up to 1')
            END AS anon_checked
        FROM anon_labels AS anon_origins
        CROSS JOIN anon_labels AS anon_targets
        LEFT JOIN anon_matrix
            ON anon_matrix.anon_value IS NOT DISTINCT FROM anon_origins.anon_value
            AND anon_matrix.anon_shown IS NOT DISTINCT FROM anon_targets.anon_value
    )
    GROUP BY anon_to
),
anon_inverse AS MATERIALIZED (
    SELECT CASE
        WHEN bool_and(anon_is_even) AND any_value(anon_rest) > 1e-9 THEN list(list_transform(
            anon_column,
            lambda anon_p, anon_from: (CASE WHEN anon_from = anon_to THEN 1 ELSE 0 END - anon_beside) / anon_rest
        ) ORDER BY anon_to ASC)
        WHEN count(*) <= 100 THEN anon_helpers.inverse_of(list(anon_column ORDER BY anon_to ASC))
        ELSE error('a matrix of more than 100 values that is neither plain nor invariant by one probability is not inverted here')
    END AS anon_rows
    FROM (SELECT *, 1 - sum(anon_beside) OVER () AS anon_rest FROM anon_columns)
),
anon_counts AS MATERIALIZED (
    SELECT
        anon_labels.anon_value,
        coalesce(anon_shown.row_count, 0) AS anon_count,
        CASE
            WHEN anon_place IS NULL THEN error(concat('column "', column_name, '" shows a value that the matrix lacks'))
            ELSE anon_place
        END AS anon_place
    FROM anon_labels
    FULL JOIN anon_helpers.column_values(release, [column_name]) AS anon_shown
        ON anon_shown.value IS NOT DISTINCT FROM anon_labels.anon_value
    WHERE anon_place IS NOT NULL OR anon_shown.value IS NOT NULL
)
SELECT
    anon_value AS value,
    anon_count AS shown_count,
    list_dot_product(anon_row, anon_all) AS estimated_count,
    sqrt(greatest(
        list_dot_product(list_transform(anon_row, lambda anon_x: anon_x ** 2), anon_all) - list_dot_product(anon_row, anon_all), 0
    )) AS standard_error
FROM (
    SELECT anon_value, anon_count, anon_all, anon_rows[anon_place] AS anon_row
    FROM anon_counts
    CROSS JOIN anon_inverse
    CROSS JOIN (SELECT list(CAST(anon_count AS DOUBLE) ORDER BY anon_place ASC) AS anon_all FROM anon_counts)
)
ORDER BY anon_value ASC;

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

-- What a recipient does with a release that has counterfeits and a catalog of them.
--
-- Such a release has a column class_id, which numbers its classes. Its catalog has a row per group of classes and
-- sensitive value: class_ids BIGINT[], the classes of the group; the sensitive column under its own name; counterfeits
-- BIGINT, how many rows of that value in these classes were invented. A class is in one group at most. Rows that no row
-- of the catalog speaks of are true. Sensitive values are compared as text, and NULL is a value. A catalog of counts has
-- no sensitive column: only anon.class_truths reads it.

-- guarded: tests/sql/86_catalog.test

-- The entries of a catalog, by class and sensitive value. A catalog that does not fit the release is an error: it counts
-- more counterfeits than there are rows of their value, or has a value of a class in two groups.
--
-- Returns: class_ids BIGINT[], the group; class_id BIGINT, sensitive_value VARCHAR; class_rows BIGINT and group_rows
-- BIGINT, how many rows of the class and of its group have the value; counterfeits BIGINT, how many of the group's were
-- invented.
-- Source: Lee et al. 2017, definition 3.
-- Example:
--   WITH released AS (FROM (VALUES (1, 'f', 'flu'), (1, 'f', 'gout'), (2, 'm', 'flu')) AS rows (class_id, sex, ill)),
--   catalog AS (SELECT [1, 2] AS class_ids, 'flu' AS ill, 1 AS counterfeits)
--   FROM anon_helpers.catalog_values('released', 'catalog', 'ill') ORDER BY class_id;
CREATE OR REPLACE MACRO anon_helpers.catalog_values(released, catalog, sensitive) AS TABLE
SELECT
    anon_group AS class_ids,
    anon_class AS class_id,
    anon_value AS sensitive_value,
    anon_class_rows AS class_rows,
    CAST(anon_group_rows AS BIGINT) AS group_rows,
    CASE
        WHEN anon_counterfeits > anon_group_rows
            THEN error('the catalog does not fit the release: it counts more counterfeits than there are such rows')
        WHEN count(*) OVER (PARTITION BY anon_class, anon_value) > 1
            THEN error('the catalog has rows of one value and class in several groups')
        ELSE CAST(anon_counterfeits AS BIGINT)
    END AS counterfeits
FROM (
    SELECT
        anon_listed.anon_group,
        anon_listed.anon_class,
        anon_listed.anon_value,
        anon_listed.anon_counterfeits,
        coalesce(anon_counts.anon_rows, 0) AS anon_class_rows,
        coalesce(sum(anon_counts.anon_rows) OVER (PARTITION BY anon_listed.anon_group, anon_listed.anon_value), 0)
            AS anon_group_rows
    FROM (
        SELECT
            class_ids AS anon_group,
            unnest(class_ids) AS anon_class,
            anon.text_of(COLUMNS([sensitive])) AS anon_value,
            counterfeits AS anon_counterfeits
        FROM query_table(anon_helpers.as_source(catalog))
    ) AS anon_listed
    LEFT JOIN (
        SELECT class_id AS anon_class, anon.text_of(COLUMNS([sensitive])) AS anon_value, count(*) AS anon_rows
        FROM query_table(anon_helpers.as_source(released))
        GROUP BY ALL
    ) AS anon_counts
        ON anon_counts.anon_class = anon_listed.anon_class
        AND anon_counts.anon_value IS NOT DISTINCT FROM anon_listed.anon_value
);

-- guarded: tests/sql/86_catalog.test

-- Probability that a row is true, if all rows of its value in its group are equally likely to be those that were invented.
--
-- counterfeits, row_count: how many rows of the value were invented in the group, NULL without a row of the catalog, and
-- how many there are.
-- Returns: DOUBLE in [0, 1]; 1 for a row that no catalog speaks of.
-- Source: Lee et al. 2017, on RCE with a catalog.
-- Example:
--   SELECT anon_helpers.row_truth(1, 4) AS truth;
CREATE OR REPLACE MACRO anon_helpers.row_truth(counterfeits, row_count) AS
CASE WHEN counterfeits IS NULL THEN 1.0 ELSE 1.0 - counterfeits / row_count END;

-- The rows of a release, each with the probability that it is true, anon_truth: see row_truth, and
-- catalog_values for the errors. It is a weight for anon.estimated_counts and anon.estimated_averages; to ask about
-- some rows only, take them from here.
--
-- Job: answers.
-- Returns: the columns of the release, anon_truth DOUBLE in [0, 1], 1 for a row that the catalog does not speak of.
-- Source: Lee et al. 2017, on RCE with a catalog.
-- Example:
--   WITH released AS (FROM (VALUES (1, 'f', 'flu'), (1, 'f', 'gout'), (2, 'm', 'flu')) AS rows (class_id, sex, ill)),
--   catalog AS (SELECT [1, 2] AS class_ids, 'flu' AS ill, 1 AS counterfeits),
--   weighted AS (FROM anon.row_truths('released', 'catalog', 'ill') WHERE ill = 'flu')
--   FROM anon.estimated_counts('weighted', 'sex', NULL, 'anon_truth') ORDER BY group_label;
CREATE OR REPLACE MACRO anon.row_truths(released, catalog, sensitive) AS TABLE
SELECT
    * EXCLUDE (anon_value, anon_listed_class, anon_listed_value, anon_counterfeits, anon_group_rows),
    anon_helpers.row_truth(anon_counterfeits, anon_group_rows) AS anon_truth
FROM (
    SELECT *, anon.text_of(COLUMNS([sensitive])) AS anon_value FROM query_table(anon_helpers.as_source(released))
) AS anon_rows
LEFT JOIN (
    SELECT
        class_id AS anon_listed_class,
        sensitive_value AS anon_listed_value,
        counterfeits AS anon_counterfeits,
        group_rows AS anon_group_rows
    FROM anon_helpers.catalog_values(released, catalog, sensitive)
) AS anon_known
    ON anon_known.anon_listed_class = anon_rows.class_id
    AND anon_known.anon_listed_value IS NOT DISTINCT FROM anon_rows.anon_value;

-- The rows of a release, each with the probability that it is true, anon_truth, by a catalog of counts: without values,
-- all rows of the classes of a group are equally likely to be those that were invented. It is a weight for
-- anon.estimated_counts and anon.estimated_averages. A catalog that cannot be that of the release is an error: it has
-- more counterfeits than its classes have rows.
--
-- Job: answers.
-- Returns: the columns of the release, anon_truth DOUBLE in [0, 1], 1 for a row that the catalog does not speak of.
-- Source: Lee et al. 2017, on RCE with a catalog, for all values alike.
-- Example:
--   WITH released AS (FROM (VALUES (1, 'f', 'flu'), (1, 'f', 'gout'), (2, 'm', 'flu')) AS rows (class_id, sex, ill)),
--   catalog AS (SELECT [1] AS class_ids, 1 AS counterfeits),
--   weighted AS (FROM anon.class_truths('released', 'catalog'))
--   FROM anon.estimated_counts('weighted', 'ill', NULL, 'anon_truth') ORDER BY group_label;
CREATE OR REPLACE MACRO anon.class_truths(released, catalog) AS TABLE
SELECT
    * EXCLUDE (anon_listed_class, anon_group, anon_counterfeits),
    CASE
        WHEN anon_counterfeits > count(*) OVER (PARTITION BY anon_group)
            THEN error('the catalog does not fit the release: it has more counterfeits than there are rows')
        ELSE anon_helpers.row_truth(anon_counterfeits, count(*) OVER (PARTITION BY anon_group))
    END AS anon_truth
FROM query_table(anon_helpers.as_source(released)) AS anon_rows
LEFT JOIN (
    SELECT class_ids AS anon_group, unnest(class_ids) AS anon_listed_class, counterfeits AS anon_counterfeits
    FROM query_table(anon_helpers.as_source(catalog))
) AS anon_listed
    ON anon_listed.anon_listed_class = anon_rows.class_id;

-- COUNT(*) by group of a release with counterfeits, corrected by its catalog: see anon.estimated_counts, with
-- anon.row_truths for weights. Of rows of one class and value nobody knows which were invented, so that a count within
-- a group of classes is an expectation; one of all rows of a value is exact.
--
-- Job: answers.
-- Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
-- Source: Lee et al. 2017, query error rate.
-- Example:
--   WITH released AS (FROM (VALUES (1, 'f', 'flu'), (1, 'f', 'gout'), (2, 'm', 'flu')) AS rows (class_id, sex, ill)),
--   catalog AS (SELECT [1, 2] AS class_ids, 'flu' AS ill, 1 AS counterfeits)
--   FROM anon.corrected_counts('released', 'catalog', 'ill', 'ill', NULL) ORDER BY group_label;
CREATE OR REPLACE MACRO anon.corrected_counts(released, catalog, sensitive, column_name, width) AS TABLE
WITH anon_weighted AS (FROM anon.row_truths(released, catalog, sensitive))
FROM anon.estimated_counts('anon_weighted', column_name, width, 'anon_truth');

-- AVG(averaged) by group of a release with counterfeits, corrected by its catalog: see anon.estimated_averages, with
-- anon.row_truths for weights.
--
-- Job: answers.
-- Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
-- Source: Lee et al. 2017, queries Q3 and Q4.
-- Example:
--   WITH released AS (FROM (VALUES (1, '*', 'flu'), (1, '*', 'gout'), (2, '*', 'flu')) AS rows (class_id, age, ill)),
--   catalog AS (SELECT [1, 2] AS class_ids, 'flu' AS ill, 1 AS counterfeits)
--   FROM anon.corrected_averages('released', 'catalog', 'ill', 'ill', NULL, 'age') ORDER BY group_label;
CREATE OR REPLACE MACRO anon.corrected_averages(released, catalog, sensitive, column_name, width, averaged) AS TABLE
WITH anon_weighted AS (FROM anon.row_truths(released, catalog, sensitive))
FROM anon.estimated_averages('anon_weighted', column_name, width, averaged, 'anon_truth');

-- A release reduced to as many rows as are true; rows that may have been invented keep no quasi-identifier. With C
-- counterfeits of a value in a group, all of them may lie in any one class of the group. So in every class C rows of the
-- value, or all if there are fewer, are masked: * in all quasi-identifiers and no class. C of the group's masked rows are
-- then left out. Every value then has as many rows as are true, and every class keeps at most as many rows as are true
-- in it, wherever the counterfeits are.
--
-- Its classes may have fewer than k rows: it is for analyses and is not k-anonymous.
--
-- How it goes. Rows are counted by class and value; of each value the counterfeits of its group say how many rows of a class are
-- masked, and running sums how many of these are left out; then the counts become rows again.
--
-- Job: answers.
-- Returns: class_id BIGINT, NULL in masked rows; the quasi-identifiers as VARCHAR; the sensitive column as it is.
-- Source: Lee et al. 2017, tables 8 and 9.
-- Example:
--   WITH released AS (FROM (VALUES (1, 'f', 'flu'), (1, 'f', 'gout'), (2, 'm', 'flu')) AS rows (class_id, sex, ill)),
--   catalog AS (SELECT [1, 2] AS class_ids, 'flu' AS ill, 1 AS counterfeits)
--   FROM anon.truthful_rows('released', 'catalog', ['sex'], 'ill') ORDER BY class_id;
CREATE OR REPLACE MACRO anon.truthful_rows(released, catalog, quasi_identifiers, sensitive) AS TABLE
SELECT
    CASE WHEN anon_place < anon_kept THEN class_id END AS class_id,
    CASE WHEN anon_place < anon_kept THEN anon.text_of(COLUMNS(anon_helpers.listed(quasi_identifiers))) ELSE '*' END,
    COLUMNS([sensitive])
FROM (
    -- A number for each row that is left: first those that keep their class, then those that are masked.
    SELECT
        *,
        unnest(range(anon_kept + least(anon_masked, greatest(anon_masked_so_far - anon_counterfeits, 0)))) AS anon_place
    FROM (
        SELECT
            *,
            anon_rows - anon_masked AS anon_kept,
            CAST(sum(anon_masked) OVER (PARTITION BY anon_group, anon_value ORDER BY class_id ASC) AS BIGINT)
                AS anon_masked_so_far
        FROM (
            SELECT *, least(anon_rows, coalesce(anon_counterfeits, 0)) AS anon_masked
            FROM (
                SELECT
                    class_id,
                    COLUMNS(anon_helpers.listed(quasi_identifiers)),
                    COLUMNS([sensitive]),
                    anon.text_of(COLUMNS([sensitive])) AS anon_value,
                    count(*) AS anon_rows
                FROM query_table(anon_helpers.as_source(released))
                GROUP BY ALL
            ) AS anon_cells
            LEFT JOIN (
                SELECT
                    class_ids AS anon_group,
                    class_id AS anon_listed_class,
                    sensitive_value AS anon_listed_value,
                    counterfeits AS anon_counterfeits
                FROM anon_helpers.catalog_values(released, catalog, sensitive)
            ) AS anon_known
                ON anon_known.anon_listed_class = anon_cells.class_id
                AND anon_known.anon_listed_value IS NOT DISTINCT FROM anon_cells.anon_value
        )
    )
);

-- What differentially private methods count, and the score by which they choose a node. Noise is not drawn in SQL.

-- guarded: tests/sql/90_private.test

-- How many rows of a combination of labels and value a node puts at risk of not being shown: all below the threshold,
-- none from twice that on. Adding a row changes it by 1 at most, so that it can be used where a row must not matter more.
--
-- Returns: BIGINT, or the type of row_count if that is wider.
-- Source: spec of the corrected mechanism of Lee and Chung 2020: min(n, max(0, 2 (T - 1) - n)).
-- Example:
--   SELECT anon_helpers.unsure_rows_of(row_count, 24) AS unsure FROM (VALUES (10), (30), (50)) AS cells (row_count);
CREATE OR REPLACE MACRO anon_helpers.unsure_rows_of(row_count, threshold) AS
least(row_count, greatest(0, 2 * (CAST(threshold AS BIGINT) - 1) - row_count));

-- guarded: tests/sql/90_private.test

-- The score of a node, the larger the better: minus the rows that it puts at risk, and minus, for the other rows, the
-- share of their information that its labels lose (an aggregate over combinations of labels and value). `loss`
-- is that share, NCP for one, counted in parts of `whole`; with integers the score is exact, and adding a row changes it
-- by `whole` at most.
--
-- Returns: the type of loss * row_count, at most 0.
-- Source: spec of the corrected mechanism of Lee and Chung 2020, step 1.
-- Example:
--   SELECT anon_helpers.node_score_of(row_count, loss, 1000, 24) AS score
--   FROM (VALUES (10, 137), (50, 137)) AS cells (row_count, loss);
CREATE OR REPLACE MACRO anon_helpers.node_score_of(row_count, loss, whole, threshold) AS
-sum(loss * row_count + (whole - loss) * anon_helpers.unsure_rows_of(row_count, threshold));

-- How much a value speaks for itself in a class when a counterfeit row gets a value in IPA as published: by its share of
-- the rows, or, if the class does not have it, by what one more row leaves to all such values together. value_count is
-- the number of values in the whole table, class_values that of the values in the class.
--
-- Returns: DOUBLE in [0, 1]; NULL for a value that the class does not have if it has all values.
-- Source: Lee and Chung 2020, equation 3.
-- Example:
--   SELECT anon_helpers.value_score_of(2, 3, 5, 2) AS present, anon_helpers.value_score_of(0, 3, 5, 2) AS absent;
CREATE OR REPLACE MACRO anon_helpers.value_score_of(row_count, class_size, value_count, class_values) AS
CASE
    WHEN row_count > 0 THEN row_count / (class_size + 1)
    ELSE 1 / ((class_size + 1) * nullif(value_count - class_values, 0))
END;

-- The weight with which a value of a score is drawn in IPA as published, where scores are said to have sensitivity 1.
--
-- Returns: DOUBLE of 1 or more; NULL for no score.
-- Source: Lee and Chung 2020, equation 4.
-- Example:
--   SELECT anon_helpers.value_weight_of(anon_helpers.value_score_of(2, 3, 5, 2), 0.3) AS weight;
CREATE OR REPLACE MACRO anon_helpers.value_weight_of(score, epsilon) AS exp(epsilon * score / 2);

-- How well the children of a label, or the two sides of a split, separate classes.

-- n log2(n), and 0 for no rows: what the entropy of counts is made of.
--
-- Returns: DOUBLE.
-- Example:
--   SELECT anon_helpers.n_log_n(row_count) AS found FROM (VALUES (0), (1), (8)) AS counts (row_count);
CREATE OR REPLACE MACRO anon_helpers.n_log_n(row_count) AS
CASE WHEN row_count > 0 THEN row_count * log2(row_count) ELSE 0 END;

-- The scores of specializations, by the rows of each class that each child has: `max_score` is the number of rows in the
-- largest class of their child, `information_gain` the information in bits of the children on the class of a row.
--
-- counts: candidate, child, class, row_count, a row per class and child that has rows. One row more of the data changes
-- max_score by 1 at most, and information_gain by 1 bit at most, however many classes and children there are.
-- Returns: candidate, max_score BIGINT, information_gain DOUBLE of 0 or more.
-- Source: Mohammed et al. 2013, score functions Max and InfoGain.
-- Example:
--   WITH counts AS (
--       FROM (VALUES (1, 1, 'a', 3), (1, 1, 'b', 1), (1, 2, 'a', 1), (1, 2, 'b', 3)) AS of_children (candidate, child, class, row_count)
--   )
--   FROM anon_helpers.specialization_scores('counts');
CREATE OR REPLACE MACRO anon_helpers.specialization_scores(counts) AS TABLE
WITH anon_classes AS (
    SELECT candidate, sum(anon_helpers.n_log_n(anon_rows)) AS anon_classes_log
    FROM (
        SELECT candidate, sum(row_count) AS anon_rows FROM query_table(anon_helpers.as_source(counts)) GROUP BY candidate, class
    ) AS anon_of_classes
    GROUP BY candidate
),
anon_children AS (
    SELECT
        candidate,
        sum(anon_largest) AS anon_max_score,
        sum(anon_rows) AS anon_all_rows,
        sum(anon_helpers.n_log_n(anon_rows)) AS anon_children_log,
        sum(anon_log) AS anon_both_log
    FROM (
        SELECT
            candidate,
            max(row_count) AS anon_largest,
            sum(row_count) AS anon_rows,
            sum(anon_helpers.n_log_n(row_count)) AS anon_log
        FROM query_table(anon_helpers.as_source(counts))
        GROUP BY candidate, child
    ) AS anon_of_children
    GROUP BY candidate
)
SELECT
    anon_children.candidate,
    CAST(anon_children.anon_max_score AS BIGINT) AS max_score,
    greatest(0, (
        anon_helpers.n_log_n(anon_children.anon_all_rows) - anon_classes.anon_classes_log
        - anon_children.anon_children_log + anon_children.anon_both_log
    ) / anon_children.anon_all_rows) AS information_gain
FROM anon_children
INNER JOIN anon_classes ON anon_classes.candidate = anon_children.candidate;

-- The scores of a split behind each value of an interval that rows have: of those up to the value, and those above it. See
-- specialization_scores, whose scores these are.
--
-- counts: candidate (the interval), value, class, row_count, a row per class and value that has rows.
-- Returns: candidate, value, max_score BIGINT, information_gain DOUBLE of 0 or more.
-- Source: Mohammed et al. 2013, score functions Max and InfoGain, of the children of an interval.
-- Example:
--   WITH counts AS (
--       FROM (VALUES (1, 20, 'a', 1), (1, 40, 'b', 1), (1, 60, 'b', 2)) AS of_values (candidate, value, class, row_count)
--   )
--   FROM anon_helpers.split_scores('counts') ORDER BY value;
CREATE OR REPLACE MACRO anon_helpers.split_scores(counts) AS TABLE
WITH anon_totals AS (
    SELECT candidate, class, sum(row_count) AS anon_total
    FROM query_table(anon_helpers.as_source(counts))
    GROUP BY candidate, class
),
anon_values AS (
    SELECT DISTINCT candidate, value FROM query_table(anon_helpers.as_source(counts))
),
anon_below AS (
    SELECT
        anon_values.candidate,
        anon_values.value,
        anon_totals.anon_total,
        sum(coalesce(anon_counts.row_count, 0)) OVER (
            PARTITION BY anon_values.candidate, anon_totals.class
            ORDER BY anon_values.value ASC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS anon_left
    FROM anon_values
    INNER JOIN anon_totals ON anon_totals.candidate = anon_values.candidate
    LEFT JOIN query_table(anon_helpers.as_source(counts)) AS anon_counts
        ON anon_counts.candidate = anon_values.candidate
        AND anon_counts.value = anon_values.value
        AND anon_counts.class = anon_totals.class
)
SELECT
    candidate,
    value,
    CAST(max(anon_left) + max(anon_total - anon_left) AS BIGINT) AS max_score,
    greatest(0, (
        anon_helpers.n_log_n(sum(anon_total)) - sum(anon_helpers.n_log_n(anon_total))
        - anon_helpers.n_log_n(sum(anon_left)) + sum(anon_helpers.n_log_n(anon_left))
        - anon_helpers.n_log_n(sum(anon_total) - sum(anon_left)) + sum(anon_helpers.n_log_n(anon_total - anon_left))
    ) / sum(anon_total)) AS information_gain
FROM anon_below
GROUP BY candidate, value;

-- Generalizing rows at a cut: what the values of predictors become by a table, whose labels may be of several levels.
--
-- A cut has columns attribute VARCHAR, value VARCHAR, low DOUBLE, high DOUBLE and label VARCHAR: a row per value of an
-- attribute with a taxonomy, a row per interval of numbers, from low on and below high, and of an attribute whose values
-- are sets of items a row per item, and one that has neither if sets without items have a label. anonymize writes such a
-- table beside a release of DiffGen.

-- The labels of a cut by value, marked as in marked_label, with NULL for what stays NULL: that of an attribute whose
-- values are not sets.
--
-- Returns: attribute VARCHAR, value VARCHAR, label VARCHAR, a row per attribute and value, and one of no attribute.
-- Example:
--   WITH cuts AS (FROM (VALUES ('sex', 'f', NULL, NULL, '*')) AS of_sex (attribute, value, low, high, label))
--   FROM anon_helpers.cut_labels('cuts') ORDER BY value;
CREATE OR REPLACE MACRO anon_helpers.cut_labels(cuts) AS TABLE
SELECT
    anon_attribute AS attribute,
    anon_value AS value,
    anon_helpers.marked_label(max(anon_label), count(*)) AS label
FROM (
    SELECT attribute AS anon_attribute, value AS anon_value, label AS anon_label FROM query_table(anon_helpers.as_source(cuts))
    UNION ALL
    SELECT NULL, NULL, NULL
)
GROUP BY anon_attribute, anon_value;

-- The intervals of a cut by attribute: where they begin, ascending, and their labels, marked as in marked_label.
--
-- Returns: attribute VARCHAR, starts DOUBLE[], labels VARCHAR[], which is NULL if they leave gaps or overlap.
-- Example:
--   WITH cuts AS (FROM (VALUES ('age', NULL, 20, 40, '[20, 40)'), ('age', NULL, 40, 80, '[40, 80)')) AS of_age (attribute, value, low, high, label))
--   FROM anon_helpers.cut_intervals('cuts');
CREATE OR REPLACE MACRO anon_helpers.cut_intervals(cuts) AS TABLE
SELECT
    anon_attribute AS attribute,
    anon_starts AS starts,
    CASE WHEN anon_starts[2:] = anon_ends[:-2] THEN anon_labels END AS labels
FROM (
    SELECT
        attribute AS anon_attribute,
        list(CAST(low AS DOUBLE) ORDER BY low ASC NULLS LAST) AS anon_starts,
        list(CAST(high AS DOUBLE) ORDER BY low ASC NULLS LAST) AS anon_ends,
        list(anon_helpers.marked_label(label, 1) ORDER BY low ASC NULLS LAST) AS anon_labels
    FROM query_table(anon_helpers.as_source(cuts))
    WHERE low IS NOT NULL
    GROUP BY attribute
);

-- What sets of items become at a cut: the labels of their items, each once, in the order of their text. Items that are
-- NULL are left out; of no items it is the label of none, if the cut has one.
--
-- sets: anon_attribute VARCHAR, anon_items VARCHAR[], a row per set; NULL is left out.
-- Returns: attribute VARCHAR, items VARCHAR[], labels VARCHAR[], which is NULL if the cut does not know some item.
-- Example:
--   WITH
--       cuts AS (FROM (VALUES ('drugs', 'a', NULL, NULL, 'A*'), ('drugs', 'b', NULL, NULL, 'B*')) AS of_drugs (attribute, value, low, high, label)),
--       sets AS (SELECT 'drugs' AS anon_attribute, ['b', NULL, 'a', 'b'] AS anon_items)
--   FROM anon_helpers.cut_sets('cuts', 'sets');
CREATE OR REPLACE MACRO anon_helpers.cut_sets(cuts, sets) AS TABLE
SELECT
    anon_attribute AS attribute,
    anon_items AS items,
    CASE
        WHEN count(*) FILTER (WHERE anon_item IS NOT NULL AND coalesce(anon_rows, 0) <> 1) = 0
            THEN coalesce(
                list(DISTINCT anon_label ORDER BY anon_label ASC NULLS LAST) FILTER (WHERE anon_label IS NOT NULL),
                CAST([] AS VARCHAR[])
            )
    END AS labels
FROM (
    SELECT anon_sets.anon_attribute, anon_sets.anon_items, anon_sets.anon_item, anon_cut.anon_rows, anon_cut.anon_label
    FROM (
        SELECT anon_attribute, anon_items, unnest(CASE WHEN len(anon_known) = 0 THEN [NULL] ELSE anon_known END) AS anon_item
        FROM (
            SELECT
                anon_attribute,
                anon_items,
                list_filter(anon_items, lambda anon_item: anon_item IS NOT NULL) AS anon_known
            FROM query_table(anon_helpers.as_source(sets))
        )
    ) AS anon_sets
    LEFT JOIN (
        SELECT
            attribute AS anon_attribute, value AS anon_value, max(label) AS anon_label, count(*) AS anon_rows
        FROM query_table(anon_helpers.as_source(cuts))
        GROUP BY attribute, value
    ) AS anon_cut
        ON anon_cut.anon_attribute = anon_sets.anon_attribute
        AND anon_cut.anon_value IS NOT DISTINCT FROM anon_sets.anon_item
)
GROUP BY anon_attribute, anon_items;

-- The marked label of the interval that a number lies in, by the columns of the same name of two relations of one row; of
-- the nearest one if it lies in none, and the mark of NULL for NULL.
--
-- starts, labels: a column for every attribute, with the list of where its intervals begin, ascending, and that of their
-- labels. `attribute` is a column of a relation anon_rows and DOUBLE. It is read twice, as in found_label.
-- Returns: VARCHAR; NULL without a list.
-- Example:
--   WITH starts AS (SELECT [20, 40, 60] AS age), labels AS (SELECT ['young', 'middle', 'old'] AS age)
--   SELECT id, anon_helpers.found_interval('starts', 'labels', age) AS found FROM visits AS anon_rows ORDER BY id;
CREATE OR REPLACE MACRO anon_helpers.found_interval(starts, labels, attribute) AS
CASE
    WHEN attribute IS NULL THEN chr(2)
    -- One pass over so few numbers takes a third of the time of an ASOF join with them.
    ELSE (SELECT anon_list FROM (SELECT attribute AS anon_list FROM query_table(anon_helpers.as_source(labels)) AS anon_rows))[
        greatest(1, len(list_filter(
            (
                SELECT anon_list
                FROM (SELECT attribute AS anon_list FROM query_table(anon_helpers.as_source(starts)) AS anon_rows)
            ),
            lambda anon_start: anon_start <= attribute
        )))
    ]
END;

-- The rows of a source with what each predictor of a cut is found to become there: categories and numbers as marked
-- labels, see marked_label, and sets as lists of labels behind an empty text; the empty list is NULL that stays NULL,
-- and NULL says that the cut does not know the value. There are columns anon_category, anon_number and anon_set more.
--
-- Joins are hash joins, as in anon.generalize. Equal lists of items become labels once.
--
-- How it goes. For each kind of predictor a relation of a few rows has the labels, in columns of the predictors' names; the
-- rows of the source, as texts, numbers and sort keys of lists, look them up.
--
-- Example:
--   WITH cuts AS (FROM (VALUES ('sex', 'f', NULL, NULL, '*'), ('sex', 'm', NULL, NULL, '*')) AS of_sex (attribute, value, low, high, label))
--   FROM anon_helpers.found_cut_labels('visits', 'cuts', ['sex'], [], []) ORDER BY id LIMIT 3;
CREATE OR REPLACE MACRO anon_helpers.found_cut_labels(source, cuts, categories, numbers, sets) AS TABLE
WITH anon_named AS NOT MATERIALIZED (
    -- No rows, but the names of the columns. COLUMNS that match nothing are an error: there is one of each kind.
    SELECT *, '' AS anon_category, 0 AS anon_number, [''] AS anon_set FROM query_table(anon_helpers.as_source(source)) LIMIT 0
),
anon_category_labels AS NOT MATERIALIZED (
    SELECT
        anon_value,
        CASE
            WHEN anon_value IS NULL THEN chr(2)
            ELSE max(CASE
                WHEN anon_attribute = alias(COLUMNS(anon_helpers.listed(categories) || ['anon_category'])) THEN anon_label
            END)
        END
    FROM anon_helpers.cut_labels(cuts) AS anon_labels (anon_attribute, anon_value, anon_label)
    LEFT JOIN (SELECT COLUMNS(anon_helpers.listed(categories) || ['anon_category']) FROM anon_named) AS anon_columns ON TRUE
    GROUP BY anon_value
),
anon_starts AS NOT MATERIALIZED (
    SELECT max(CASE WHEN anon_attribute = alias(COLUMNS(anon_helpers.listed(numbers) || ['anon_number'])) THEN anon_list END)
    FROM anon_helpers.cut_intervals(cuts) AS anon_intervals (anon_attribute, anon_list, anon_labels)
    LEFT JOIN (SELECT COLUMNS(anon_helpers.listed(numbers) || ['anon_number']) FROM anon_named) AS anon_columns ON TRUE
),
anon_interval_labels AS NOT MATERIALIZED (
    SELECT max(CASE WHEN anon_attribute = alias(COLUMNS(anon_helpers.listed(numbers) || ['anon_number'])) THEN anon_list END)
    FROM anon_helpers.cut_intervals(cuts) AS anon_intervals (anon_attribute, anon_starts, anon_list)
    LEFT JOIN (SELECT COLUMNS(anon_helpers.listed(numbers) || ['anon_number']) FROM anon_named) AS anon_columns ON TRUE
),
anon_given_sets AS NOT MATERIALIZED (
    SELECT DISTINCT anon_set.anon_attribute, anon_set.anon_items
    FROM (
        SELECT unnest([*COLUMNS(anon_helpers.listed(sets) || ['anon_set'])]) AS anon_set
        FROM (
            SELECT {
                -- Bare, it would be the name of the field.
                'anon_attribute': concat(alias(COLUMNS(anon_helpers.listed(sets) || ['anon_set']))),
                'anon_items': CAST(anon_helpers.as_read(COLUMNS(anon_helpers.listed(sets) || ['anon_set'])) AS VARCHAR[])
            }
            FROM (SELECT *, CAST(NULL AS VARCHAR[]) AS anon_set FROM query_table(anon_helpers.as_source(source)))
        )
    )
),
anon_set_labels AS NOT MATERIALIZED (
    SELECT
        anon_value,
        CASE
            WHEN anon_value IS NULL THEN CAST([] AS VARCHAR[])
            ELSE max(CASE
                WHEN anon_attribute = alias(COLUMNS(anon_helpers.listed(sets) || ['anon_set'])) THEN anon_labels
            END)
        END
    FROM (
        SELECT
            attribute AS anon_attribute,
            create_sort_key(items, 'ASC NULLS LAST') AS anon_value,
            [''] || labels AS anon_labels
        FROM anon_helpers.cut_sets(cuts, 'anon_given_sets')
        UNION ALL
        SELECT NULL, NULL, NULL
    )
    LEFT JOIN (SELECT COLUMNS(anon_helpers.listed(sets) || ['anon_set']) FROM anon_named) AS anon_columns ON TRUE
    GROUP BY anon_value
)
SELECT
    anon_helpers.found_label('anon_category_labels', COLUMNS(anon_helpers.listed(categories) || ['anon_category'])),
    anon_helpers.found_interval('anon_starts', 'anon_interval_labels', COLUMNS(anon_helpers.listed(numbers) || ['anon_number'])),
    anon_helpers.found_label('anon_set_labels', COLUMNS(anon_helpers.listed(sets) || ['anon_set'])),
    COLUMNS(lambda anon_column: NOT list_contains(
        categories || numbers || sets || ['anon_category', 'anon_number', 'anon_set'], anon_column
    ))
FROM (
    SELECT
        anon.text_of(COLUMNS(anon_helpers.listed(categories) || ['anon_category'])),
        CASE
            WHEN COLUMNS(anon_helpers.listed(numbers) || ['anon_number']) IS NOT NULL THEN coalesce(
                TRY_CAST(anon_helpers.as_read(COLUMNS(anon_helpers.listed(numbers) || ['anon_number'])) AS DOUBLE),
                error(concat(
                    'attribute "', alias(COLUMNS(anon_helpers.listed(numbers) || ['anon_number'])),
                    '" has a value that is not a number: cast it in a view'
                ))
            )
        END,
        -- Not the list itself: it would be no hash join.
        CASE
            WHEN COLUMNS(anon_helpers.listed(sets) || ['anon_set']) IS NOT NULL THEN create_sort_key(
                CAST(anon_helpers.as_read(COLUMNS(anon_helpers.listed(sets) || ['anon_set'])) AS VARCHAR[]), 'ASC NULLS LAST'
            )
        END,
        COLUMNS(lambda anon_column: NOT list_contains(
            categories || numbers || sets || ['anon_category', 'anon_number', 'anon_set'], anon_column
        ))
    FROM (
        SELECT
            *,
            CAST(NULL AS VARCHAR) AS anon_category,
            CAST(NULL AS DOUBLE) AS anon_number,
            CAST(NULL AS VARCHAR[]) AS anon_set,
            NULL AS anon_other
        FROM query_table(anon_helpers.as_source(source))
    )
) AS anon_rows;

-- The label that was found, see found_cut_labels; what the cut does not know is an error, as in anon.label_of.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.checked_cut_label('sex', anon_helpers.marked_label('*', 1)) AS label;
CREATE OR REPLACE MACRO anon_helpers.checked_cut_label(attribute, found) AS
anon_helpers.unmarked_label(
    found,
    concat('attribute "', attribute, '" has a value with several labels in the cut: see anon_helpers.rows_without_label'),
    concat('attribute "', attribute, '" has a value without a label in the cut: see anon_helpers.rows_without_label')
);

-- The labels of a set that were found, see found_cut_labels; what the cut does not know is an error.
--
-- Returns: VARCHAR[].
-- Example:
--   SELECT anon_helpers.checked_cut_labels('drugs', string_split(',A*', ',')) AS labels;
CREATE OR REPLACE MACRO anon_helpers.checked_cut_labels(attribute, found) AS
CASE
    -- As found[2:], which DuckDB 1.5 does not read behind COLUMNS.
    WHEN len(found) > 0 THEN list_slice(found, 2, -1)
    WHEN found IS NULL THEN error(concat(
        'attribute "', attribute, '" has an item without a label in the cut, or with several: see anon_helpers.rows_without_label'
    ))
END;

-- In how many rows of a source each predictor has a value that the cut does not know, or that has several labels there; see
-- anon.apply_cut, which takes the same. NULL is always known.
--
-- Returns: attribute VARCHAR, row_count BIGINT, one row per predictor.
-- Example:
--   WITH cuts AS (FROM (VALUES ('sex', 'f', NULL, NULL, '*')) AS of_sex (attribute, value, low, high, label))
--   FROM anon_helpers.rows_without_label('visits', 'cuts', ['sex'], [], []);
CREATE OR REPLACE MACRO anon_helpers.rows_without_label(source, cuts, categories, numbers, sets) AS TABLE
SELECT anon_found.anon_attribute AS attribute, anon_found.anon_rows AS row_count
FROM (
    SELECT unnest([*COLUMNS(*)]) AS anon_found
    FROM (
        -- A bare alias would be the name of the field.
        SELECT {'anon_attribute': concat(alias(COLUMNS(*))), 'anon_rows': COLUMNS(*)}
        FROM (
            SELECT
                -- COLUMNS in a FILTER would stand for all columns at once on DuckDB 2.0.
                count(CASE WHEN coalesce(ascii(COLUMNS(anon_helpers.listed(categories) || ['anon_category'])), 1) = 1 THEN 1 END),
                count(CASE WHEN coalesce(ascii(COLUMNS(anon_helpers.listed(numbers) || ['anon_number'])), 1) = 1 THEN 1 END),
                count(CASE WHEN COLUMNS(anon_helpers.listed(sets) || ['anon_set']) IS NULL THEN 1 END)
            FROM anon_helpers.found_cut_labels(source, cuts, categories, numbers, sets)
        )
    )
)
WHERE anon_found.anon_attribute NOT IN ('anon_category', 'anon_number', 'anon_set');

-- The rows of a source with each predictor of a cut replaced by its label there, as those of a release are whose cut it is.
--
-- Values of categories are compared as text; numbers take the label of their interval, those beyond all intervals that of
-- the nearest one; and sets become the list of the labels of their items, see cut_sets. NULL stays NULL. A value that
-- the cut does not know, or that has several labels, is an error, because a raw value must never pass for a label.
--
-- Categories come first, then numbers and sets; the other columns follow as they are. Rows are neither dropped nor put in
-- order, and are as sensitive as they were: nothing is anonymized. The lists of columns may be empty.
--
-- It takes 0.2 to 0.9 times as long as joins written by hand (tests/benchmarks/macros.py, seven categories and two numbers,
-- or sets, of a million rows, written to a table): these look for the interval of a number by a join of inequalities.
--
-- cuts: attribute VARCHAR, value VARCHAR, low DOUBLE, high DOUBLE, label VARCHAR, as described at the top of this file.
-- Job: release.
-- Source: Mohammed et al. 2013, algorithm 1, of records that come after the release.
-- Example:
--   WITH cuts AS (
--       FROM (VALUES
--           ('sex', 'f', NULL, NULL, '*'), ('sex', 'm', NULL, NULL, '*'),
--           ('age', NULL, 20, 40, '[20, 40)'), ('age', NULL, 40, 80, '[40, 80)')
--       ) AS of_predictors (attribute, value, low, high, label)
--   )
--   FROM anon.apply_cut('visits', 'cuts', ['sex'], ['age'], []) ORDER BY id LIMIT 3;
CREATE OR REPLACE MACRO anon.apply_cut(source, cuts, categories, numbers, sets) AS TABLE
SELECT * EXCLUDE (anon_category, anon_number, anon_set, anon_other)
FROM (
    SELECT
        anon_helpers.checked_cut_label(
            alias(COLUMNS(anon_helpers.listed(categories) || ['anon_category'])),
            COLUMNS(anon_helpers.listed(categories) || ['anon_category'])
        ),
        anon_helpers.checked_cut_label(
            alias(COLUMNS(anon_helpers.listed(numbers) || ['anon_number'])),
            COLUMNS(anon_helpers.listed(numbers) || ['anon_number'])
        ),
        anon_helpers.checked_cut_labels(
            alias(COLUMNS(anon_helpers.listed(sets) || ['anon_set'])),
            COLUMNS(anon_helpers.listed(sets) || ['anon_set'])
        ),
        COLUMNS(lambda anon_column: NOT list_contains(
            categories || numbers || sets || ['anon_category', 'anon_number', 'anon_set'], anon_column
        ))
    FROM anon_helpers.found_cut_labels(source, cuts, categories, numbers, sets)
);

-- Texts of CSV files: the types that they are written in, and those that a spreadsheet computes when it opens a file.

-- The rows of CSV files as they are written: all columns are texts, and the first line has their names. DuckDB guesses types
-- from some rows where a path is named alone, so that 02139 becomes 2139, and 250.10 and 250.1 are one code.
--
-- Job: files.
-- Example:
--   SELECT * FROM anon.csv('visits.csv') LIMIT 3;
CREATE OR REPLACE MACRO anon.csv(path) AS TABLE
FROM read_csv(path, all_varchar = TRUE, header = TRUE, quote = '"', escape = '"', nullstr = '', comment = '');

-- The type whose values are spelled as a text is, to the last character: whole numbers without zeros before them,
-- decimals with as many digits behind the point as stand there, days and times as ISO 8601 has them. All other texts are
-- texts: 007, 1E50, 3-2-12, +7, 20.5 beside 20.50, Yes.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT
--       anon_helpers.written_type('250.10') AS decimal,
--       anon_helpers.written_type('02139') AS zip,
--       anon_helpers.written_type('2020-01-05') AS day;
CREATE OR REPLACE MACRO anon_helpers.written_type(written) AS
CASE
    WHEN written IS NULL THEN NULL
    WHEN CAST(TRY_CAST(anon_helpers.as_read(written) AS BIGINT) AS VARCHAR) = written THEN 'BIGINT'
    WHEN regexp_full_match(written, '-?(0|[1-9][0-9]*)[.][0-9]+') AND length(written) <= 18 AND NOT regexp_full_match(written, '-[0.]+')
        THEN concat('DECIMAL(18, ', length(written) - strpos(written, '.'), ')')
    WHEN NOT regexp_matches(written, '^[0-9]') THEN 'VARCHAR'
    WHEN CAST(TRY_CAST(anon_helpers.as_read(written) AS DATE) AS VARCHAR) = written THEN 'DATE'
    WHEN CAST(TRY_CAST(anon_helpers.as_read(written) AS TIMESTAMP) AS VARCHAR) = written THEN 'TIMESTAMP'
    WHEN CAST(TRY_CAST(anon_helpers.as_read(written) AS TIME) AS VARCHAR) = written THEN 'TIME'
    ELSE 'VARCHAR'
END;

-- The one type that all texts of a column are written in, as written_type has it; VARCHAR if there are several.
-- NULL is in every type.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.written_type_of_all(code) AS type FROM (VALUES ('250.10'), ('250.1'), (NULL)) AS codes (code);
CREATE OR REPLACE MACRO anon_helpers.written_type_of_all(written) AS
coalesce(
    CASE
        WHEN min(anon_helpers.written_type(written)) = max(anon_helpers.written_type(written))
            THEN min(anon_helpers.written_type(written))
    END,
    'VARCHAR'
);

-- A text that spells a number as taxonomies of numbers have it: 27.0, +27 and 027 are 27, and 2.50 is 2.5. Digits beyond the
-- ninth behind the point are rounded. Any other text stays as it is.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.number_as_text('027.50') AS number, anon_helpers.number_as_text('NA') AS text;
CREATE OR REPLACE MACRO anon_helpers.number_as_text(written) AS
CASE
    WHEN TRY_CAST(anon_helpers.as_read(written) AS DECIMAL(38, 9)) IS NULL OR contains(written, '_') THEN written
    ELSE rtrim(rtrim(CAST(TRY_CAST(anon_helpers.as_read(written) AS DECIMAL(38, 9)) AS VARCHAR), '0'), '.')
END;

-- A text that has a number with another decimal point, or with a sign between groups of three digits, as SQL writes it:
-- 1.234,50 is 1234.50 where the point stands between thousands and the comma before decimals.
--
-- point: the sign before decimals. thousands: the one between groups of three digits; an empty text for none.
-- Returns: VARCHAR; NULL for any other text.
-- Example:
--   SELECT anon_helpers.plain_number('1.234,50', ',', '.') AS number, anon_helpers.plain_number('250.10', ',', '') AS code;
CREATE OR REPLACE MACRO anon_helpers.plain_number(written, point, thousands) AS
CASE
    WHEN regexp_full_match(
        translate(written, concat(thousands, point, ',.'), concat(repeat(',', length(thousands)), '.xx')),
        '[+-]?([0-9]+|[0-9]{1,3}(,[0-9]{3})+)([.][0-9]+)?'
    ) THEN translate(replace(written, thousands, ''), point, '.')
END;

-- A text that spells a day with two digits of its year, with all of them: 31.12.24 is 31.12.2024 if the first of the hundred
-- years is 1925. Any other text stays as it is.
--
-- first_year: the first of the hundred years in which years of two digits are.
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.in_century('31.12.24', 1925) AS young, anon_helpers.in_century('31.12.25', 1925) AS old;
CREATE OR REPLACE MACRO anon_helpers.in_century(written, first_year) AS
CASE
    WHEN regexp_full_match(written, '[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2}([ T].*)?')
        THEN regexp_replace(
            written,
            '^([0-9]{1,2}[./-][0-9]{1,2}[./-])[0-9]{2}',
            concat(
                '\1',
                first_year + (TRY_CAST(regexp_extract(written, '^[0-9]+[./-][0-9]+[./-]([0-9]{2})', 1) AS INTEGER) - first_year % 100 + 100)
                % 100
            )
        )
    ELSE written
END;

-- The day that a text spells in numbers, such as 31.12.2024, 12/31/2024, 2024/12/31 or 2024-1-5, whatever time is behind it.
--
-- day_order: of days with the year at the end, dmy where the day stands before the month, mdy where the month does.
-- Returns: DATE; NULL for any other text.
-- Example:
--   SELECT anon_helpers.written_day('31.12.2024 10:30', 'dmy') AS day, anon_helpers.written_day('12/31/2024', 'mdy') AS american;
CREATE OR REPLACE MACRO anon_helpers.written_day(written, day_order) AS
TRY_CAST(
    regexp_replace(
        translate(
            regexp_extract(
                written, '^([0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4}|[0-9]{4}[./-][0-9]{1,2}[./-][0-9]{1,2})([ T].*)?$', 1
            ),
            './',
            '--'
        ),
        '^([0-9]{1,2})-([0-9]{1,2})-([0-9]{4})$',
        CASE day_order WHEN 'mdy' THEN '\3-\1-\2' ELSE '\3-\2-\1' END
    ) AS DATE
);

-- A text that spells a day, see written_day, as taxonomies of days have it: 31.12.2024 is 2024-12-31, and a time behind
-- the day stays there. Any other text stays as it is.
--
-- day_order: dmy or mdy.
-- Returns: VARCHAR.
-- Example:
--   SELECT
--       anon_helpers.day_as_text('31.12.2024 10:30', 'dmy') AS day,
--       anon_helpers.day_as_text('2024-12-31', 'dmy') AS unchanged;
CREATE OR REPLACE MACRO anon_helpers.day_as_text(written, day_order) AS
CASE
    WHEN anon_helpers.written_day(written, day_order) IS NULL THEN written
    ELSE concat(
        CAST(anon_helpers.written_day(written, day_order) AS VARCHAR), regexp_extract(written, '^[^ T]+([ T].*)?$', 1)
    )
END;

-- Whether a spreadsheet may take a text for a formula: it begins with =, +, -, @, a tab or a line break (as OWASP lists
-- them, the wide forms included), and has a letter or a digit. A number with its sign, such as -5 or +3.2, is none.
--
-- Returns: BOOLEAN.
-- Example:
--   SELECT anon_helpers.is_formula('=1+1') AS is_formula;
CREATE OR REPLACE MACRO anon_helpers.is_formula(cell) AS
    regexp_matches(cell, '^[=+@\t\r\n＝＋－＠-](?s:.*)[\p{L}\p{N}]')
    AND NOT regexp_full_match(cell, '[+-]([0-9]+([.,][0-9]+)*|[.,][0-9]+)([eE][+-]?[0-9]+)?%?');

-- The text with an apostrophe before it if it would be taken for a formula, with which a spreadsheet shows it as text.
-- Texts that begin with apostrophes before a formula get one more, so that unquoted_formula restores every text.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.quoted_formula('=1+1') AS cell;
CREATE OR REPLACE MACRO anon_helpers.quoted_formula(cell) AS
    CASE WHEN anon_helpers.is_formula(ltrim(cell, '''')) THEN concat('''', cell) ELSE cell END;

-- The text that quoted_formula was given.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.unquoted_formula('''=1+1') AS cell;
CREATE OR REPLACE MACRO anon_helpers.unquoted_formula(cell) AS
    CASE WHEN cell LIKE '''%' AND anon_helpers.is_formula(ltrim(cell, '''')) THEN substr(cell, 2) ELSE cell END;

-- The content of a table as one hash, and what a table has that another one does not.

-- A value as text with its length in bytes before it, so that a sequence of values has one reading; a colon for NULL.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.text_with_length('flu') AS text;
CREATE OR REPLACE MACRO anon_helpers.text_with_length(value) AS
concat(strlen(anon_helpers.text_in_utc(value)), ':', anon_helpers.text_in_utc(value));

-- A hash of the rows of a table, whatever their order, and their number. Each distinct row is spelled as text, its columns
-- in their order with their lengths (values by text_in_utc), and hashed with the number of times that it is there by
-- SHA-256. These hashes are summed in up to 16^5 groups by their first digits, and the sums are hashed. It changes with any
-- edit, but does not resist somebody who searches for other rows with the same sums (Wagner 2002, "A Generalized Birthday
-- Problem"). Names and types of columns are not in it. Instants within lists and structs are spelled in the time zone of the
-- session.
--
-- Job: verify.
-- Returns: row_count BIGINT, content_hash VARCHAR (64 hexadecimal digits), one row.
-- Example:
--   FROM anon.content_hash('visits');
CREATE OR REPLACE MACRO anon.content_hash(source) AS TABLE
WITH anon_rows AS (
    SELECT encode(concat(*COLUMNS(*))) AS anon_row
    FROM (SELECT anon_helpers.text_with_length(COLUMNS(*)) FROM query_table(anon_helpers.as_source(source)))
),
anon_hashes AS (
    SELECT count(*) AS anon_times, sha256(concat(count(*), ' ', sha256(anon_row))) AS anon_hash
    FROM anon_rows
    GROUP BY anon_row
),
anon_sums AS (
    SELECT
        CAST('0x' || substr(anon_hash, 1, 5) AS INTEGER) AS anon_group,
        sum(anon_times) AS anon_times,
        sum(CAST('0x' || substr(anon_hash, 1, 16) AS UBIGINT)) AS anon_first,
        sum(CAST('0x' || substr(anon_hash, 17, 16) AS UBIGINT)) AS anon_second,
        sum(CAST('0x' || substr(anon_hash, 33, 16) AS UBIGINT)) AS anon_third,
        sum(CAST('0x' || substr(anon_hash, 49, 16) AS UBIGINT)) AS anon_fourth
    FROM anon_hashes
    GROUP BY anon_group
)
SELECT
    CAST(coalesce(sum(anon_times), 0) AS BIGINT) AS row_count,
    sha256(
        coalesce(
            string_agg(
                sha256(concat_ws(' ', anon_group, anon_first, anon_second, anon_third, anon_fourth)),
                '' ORDER BY anon_group ASC
            ),
            ''
        )
    ) AS content_hash
FROM anon_sums;

-- How many rows of a table have values in some columns that stand together more often there than in another table: 0 if
-- the rows were taken from it. Values compare as text, by text_in_utc.
--
-- Job: verify.
-- Returns: added_rows BIGINT, one row.
-- Example:
--   FROM anon.added_values('visits', 'visits', ['diagnosis']);
CREATE OR REPLACE MACRO anon.added_values(source, original, column_names) AS TABLE
WITH anon_counts AS (
    SELECT sum(anon_times) AS anon_difference
    FROM (
        SELECT encode(concat(*COLUMNS(*))) AS anon_row, 1 AS anon_times
        FROM (
            SELECT anon_helpers.text_with_length(COLUMNS(anon_helpers.listed(column_names)))
            FROM query_table(anon_helpers.as_source(source))
        )
        UNION ALL
        SELECT encode(concat(*COLUMNS(*))) AS anon_row, -1 AS anon_times
        FROM (
            SELECT anon_helpers.text_with_length(COLUMNS(anon_helpers.listed(column_names)))
            FROM query_table(anon_helpers.as_source(original))
        )
    )
    GROUP BY anon_row
)
SELECT CAST(coalesce(sum(anon_difference), 0) AS BIGINT) AS added_rows
FROM anon_counts
WHERE anon_difference > 0;

-- The values of the columns that are no quasi-identifiers: a row per row of the source and column, and one more, of the column
-- anon_other, which is NULL, for a source that has no others. Values are texts, by text_in_utc.
--
-- Returns: row_number BIGINT, column_name VARCHAR, value VARCHAR.
-- Example:
--   FROM anon_helpers.other_values('visits', ['age', 'sex', 'zip']) ORDER BY ALL LIMIT 3;
CREATE OR REPLACE MACRO anon_helpers.other_values(source, quasi_identifiers) AS TABLE
SELECT anon_row AS row_number, anon_column AS column_name, anon_value AS value
FROM (
    FROM (
        SELECT row_number() OVER () AS anon_row, *
        FROM (
            SELECT anon_helpers.text_in_utc(COLUMNS(*))
            FROM (
                SELECT COLUMNS(lambda anon_column: NOT list_contains(anon_helpers.listed(quasi_identifiers), anon_column))
                FROM (SELECT *, NULL AS anon_other FROM query_table(anon_helpers.as_source(source)))
            )
        )
    )
    UNPIVOT INCLUDE NULLS (anon_value FOR anon_column IN (COLUMNS(* EXCLUDE (anon_row))))
);

-- Whether a release keeps what can be seen of it: k, labels that are of the taxonomies, and other values that stand together
-- in the source.
--
-- Classes are counted by the texts of the labels, which may be of any level, as in local recoding. A row was added if its
-- values in the columns that are no quasi-identifiers stand together in more rows of the release than of the source; values
-- compare as text, by text_in_utc, and rows by label_code. A CSV file has no types, so that a value may be read
-- back as another text. Whether rows have the labels of their own values cannot be seen.
--
-- How it goes. The classes by their labels; the labels that are of no taxonomy; the other values of each row as one code,
-- counted up in the release and down in the source; and all three beside the hash.
--
-- Job: verify.
-- Returns: one row: holds BOOLEAN, row_count BIGINT, k BIGINT, foreign_labels BIGINT, added_rows BIGINT, content_hash VARCHAR
-- (as by anon.content_hash). Of a release without rows k is NULL, and nothing holds.
-- Example:
--   WITH released AS (FROM anon.release('visits', ['age', 'sex'], 2, 0.25))
--   SELECT holds, k, foreign_labels, added_rows FROM anon.verify('released', 'visits', ['age', 'sex'], 2);
CREATE OR REPLACE MACRO anon.verify(release, source, quasi_identifiers, k) AS TABLE
WITH anon_classes AS (
    SELECT min(anon_class_size) AS anon_k, CAST(coalesce(sum(anon_class_size), 0) AS BIGINT) AS anon_row_count
    FROM (
        SELECT *, count(*) AS anon_class_size
        FROM (
            SELECT encode(anon.text_of(COLUMNS(anon_helpers.listed(quasi_identifiers))))
            FROM query_table(anon_helpers.as_source(release))
        )
        GROUP BY ALL
    )
),
anon_foreign AS (
    SELECT count(*) AS anon_foreign_labels
    FROM anon_helpers.column_values(release, quasi_identifiers) AS anon_found
    ANTI JOIN anon_helpers.taxonomy_labels(quasi_identifiers) AS anon_known
        ON anon_known.attribute = anon_found.attribute
        AND anon_known.label IS NOT DISTINCT FROM anon_found.value
),
-- Of the source those columns that the release has.
anon_released AS (
    FROM anon_helpers.other_values(release, quasi_identifiers)
),
anon_rows AS (
    SELECT bit_xor(anon_helpers.label_code(column_name, value)) AS anon_code, 1 AS anon_times
    FROM anon_released
    GROUP BY row_number
    UNION ALL
    SELECT bit_xor(anon_helpers.label_code(column_name, value)), -1
    FROM anon_helpers.other_values(source, quasi_identifiers)
    WHERE column_name IN (SELECT column_name FROM anon_released)
    GROUP BY row_number
),
anon_added AS (
    SELECT CAST(coalesce(sum(anon_difference), 0) AS BIGINT) AS anon_added_rows
    FROM (SELECT sum(anon_times) AS anon_difference FROM anon_rows GROUP BY anon_code)
    WHERE anon_difference > 0
)
SELECT
    coalesce(anon_k >= anon_helpers.checked_k(k) AND anon_foreign_labels = 0 AND anon_added_rows = 0, FALSE) AS holds,
    anon_row_count AS row_count,
    anon_k AS k,
    anon_foreign_labels AS foreign_labels,
    anon_added_rows AS added_rows,
    content_hash
FROM anon_classes
CROSS JOIN anon_foreign
CROSS JOIN anon_added
CROSS JOIN anon.content_hash(release) AS anon_content;

-- The macros and what each is for.

-- The macros of schema anon by job and name: what each takes, whether it is called in FROM (table) or in SELECT (scalar), and
-- the first sentence of its documentation. They are made of macros of schema anon_helpers, which are last and have no job. The
-- rest of the documentation is `SELECT comment FROM duckdb_functions() WHERE function_name = 'lm';`.
--
-- Job: help.
-- Returns: job VARCHAR, name VARCHAR, parameters VARCHAR[], kind VARCHAR, description VARCHAR, one row per macro.
-- Example:
--   FROM anon.help() WHERE job = 'risk';
CREATE OR REPLACE MACRO anon.help() AS TABLE
SELECT DISTINCT
    nullif(regexp_extract(comment, '\nJob: (\w+)[.]', 1), '') AS job,
    CASE schema_name WHEN 'anon' THEN function_name ELSE schema_name || '.' || function_name END AS name,
    parameters,
    CASE function_type WHEN 'table_macro' THEN 'table' ELSE 'scalar' END AS kind,
    -- A sentence ends at a full stop before a capital letter, or at the end of a paragraph: "et al. 2007" has none.
    regexp_replace(
        regexp_extract(comment, '^(.*?[.])(\s+[A-Z`]|\n\n|\s*$)', 1, 's'), '\s+', ' ', 'g'
    ) AS description
FROM duckdb_functions()
WHERE schema_name IN ('anon', 'anon_helpers') AND function_type IN ('macro', 'table_macro')
ORDER BY job ASC NULLS LAST, name ASC;

COMMENT ON MACRO anon_helpers.as_read IS 'The value itself, in a form whose casts stay in the query.

DuckDB 2.0 hands the cast of a bare column to the reader of a CSV file, which casts the text in the file instead of the
value: TRUE would be ''True'', 20.5 would be ''20.50'' or the integer 21, and a TRY_CAST would be an error instead of NULL.
It does so before it knows that this is the value, and casts of other sources take no longer.

Example:
  SELECT DISTINCT CAST(anon_helpers.as_read(age) AS DOUBLE) AS age FROM visits ORDER BY age ASC;';
COMMENT ON MACRO anon.text_of IS 'A value as text, the form in which taxonomies have values; the same whether a table, a Parquet or a CSV file holds it.

Job: labels.
Returns: VARCHAR.
Example:
  SELECT anon.text_of(DATE ''2016-01-01'') AS text, anon.text_of(20.50::DOUBLE) AS number;';
COMMENT ON MACRO anon.bottom_coded IS 'A number, or the bottom if it is below that; NULL stays NULL.

Job: labels.
Returns: a number of the type that holds both.
Example:
  SELECT income, anon.bottom_coded(income, 0) AS coded FROM (VALUES (-300), (1200), (NULL)) AS people(income);';
COMMENT ON MACRO anon.top_coded IS 'A number, or the top if it is above that; NULL stays NULL.

Job: labels.
Returns: a number of the type that holds both.
Example:
  SELECT age, anon.top_coded(age, 89) AS coded FROM (VALUES (34), (97), (NULL)) AS people(age) ORDER BY age;';
COMMENT ON MACRO anon_helpers.text_in_utc IS 'A value as text that is the same whatever the time zone of the session: a TIMESTAMP WITH TIME ZONE is spelled in UTC,
others as by anon.text_of, those in lists and structs too.

Returns: VARCHAR.
Example:
  SELECT anon_helpers.text_in_utc(TIMESTAMPTZ ''2024-10-27 01:30:00+02'') AS instant, anon_helpers.text_in_utc(20.50) AS number;';
COMMENT ON MACRO anon_helpers.as_name IS 'A name as query_table takes it: a path, which is a text with a slash or with a double quote that does not enclose a
part of a name, is put in double quotes; names of tables stay as they are. DuckDB 1.5 reads ''./visits.csv'' as a qualified
name otherwise, with a schema before the dot, and has no way to spell a path that contains a double quote.

Returns: VARCHAR.
Example:
  SELECT anon_helpers.as_name(''./visits.csv'') AS path, anon_helpers.as_name(''main.visits'') AS table_name;';
COMMENT ON MACRO anon_helpers.as_source IS 'A source as query_table takes it: the name of a table or a path, or a list of them.

Example:
  SELECT anon_helpers.as_source(''./visits.csv'') AS path, anon_helpers.as_source([''main.visits'', ''../visits.csv'']) AS listed;';
COMMENT ON MACRO anon_helpers.listed IS 'A list of columns as it is; anything else is an error, which stands in the message of a failed cast. DuckDB reads a
string in COLUMNS as a regular expression: ''age'' would be every column whose name contains it.

COLUMNS takes no function that raises errors, but it takes a cast.

Returns: VARCHAR[].
Example:
  SELECT anon_helpers.listed([''age'', ''sex'']) AS columns;';
COMMENT ON MACRO anon_helpers.listed_at IS 'One of a list of columns by its place, from 1; of a shorter list the last one. So that a query, which has a fixed
number of columns, can name each of a list.

Returns: VARCHAR.
Example:
  SELECT anon_helpers.listed_at([''age'', ''sex''], 1) AS column_1, anon_helpers.listed_at([''age'', ''sex''], 3) AS column_3;';
COMMENT ON MACRO TABLE anon_helpers.taxonomy_level IS 'The labels of one level of one taxonomy: a row per value, with the NULL value always among them.

NULL carries the label that the taxonomy gives it; without one it stays NULL below the top level and
takes the top label there.

Returns: value VARCHAR, label VARCHAR.
Example:
  FROM anon_helpers.taxonomy_level(''sex'', 1) ORDER BY value;';
COMMENT ON MACRO TABLE anon_helpers.taxonomy_labels IS 'The labels of all levels of some taxonomies: a row per attribute, level and value, as taxonomy_level has them, with
the number of leaves under the label, as label_leaves has it.

Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR, leaf_count BIGINT.
Example:
  FROM anon_helpers.taxonomy_labels([''age'', ''sex'']) ORDER BY attribute, level, value;';
COMMENT ON MACRO TABLE anon_helpers.taxonomy_levels IS 'The labels of all levels of one taxonomy: a row per level and value, as taxonomy_labels has them.

Returns: level INTEGER, value VARCHAR, label VARCHAR, leaf_count BIGINT.
Example:
  FROM anon_helpers.taxonomy_levels(''sex'') ORDER BY level, value;';
COMMENT ON MACRO TABLE anon_helpers.label_leaves IS 'The number of leaves, that is of values of level 0, under each label of one level.

A label that no value of the taxonomy carries (NULL, where the taxonomy gives it no label) is not listed
and counts as its own single leaf.

Returns: label VARCHAR, leaf_count BIGINT.
Example:
  FROM anon_helpers.label_leaves(''age'', 2) ORDER BY label;';
COMMENT ON MACRO TABLE anon.taxonomy_heights IS 'Every taxonomy with its height (the number of its top level), the size of its domain, and whether
that domain was declared, stated by a file, or observed from data, as it was when it was loaded.

Job: taxonomies.
Returns: attribute VARCHAR, height INTEGER, value_count BIGINT, domain VARCHAR.
Example:
  FROM anon.taxonomy_heights() ORDER BY attribute;';
COMMENT ON MACRO TABLE anon_helpers.taxonomy_problems IS 'What is wrong with the taxonomies in a relation shaped like anon.taxonomy: a row per attribute, level
and kind of problem, with counts and never a value. No row means that every taxonomy is well formed.

Problems: ''missing level'' (values of the domain without a label at this level), ''value outside the
domain'' (rows of this level whose value level 0 does not have), ''several labels'' (values with more than one
row), ''level 0 is not the value itself'', ''empty label'', ''not nested'' (labels of this level that fall
under more than one label of the next), ''several top labels''.

How it goes. Values that have the same levels are counted together; each kind of problem is a query of these counts or of
the rows, and all are put one below the other.

Returns: attribute VARCHAR, level INTEGER, problem VARCHAR, problem_count BIGINT.
Example:
  FROM anon_helpers.taxonomy_problems(''anon.taxonomy'');';
COMMENT ON MACRO TABLE anon.malformed_taxonomies IS 'What is wrong with the taxonomies that are stored in anon.taxonomy; no row means nothing is.

Job: taxonomies.
Returns: attribute VARCHAR, level INTEGER, problem VARCHAR, problem_count BIGINT.
Example:
  FROM anon.malformed_taxonomies();';
COMMENT ON MACRO TABLE anon.ambiguous_labels IS 'How many labels of some taxonomies are also values of level 0 that have another label at the same level: who reads such
a label may take it for the value. A value that is its own group is none of them, nor is the label of the top.

Job: taxonomies.
Returns: attribute VARCHAR, ambiguous_labels BIGINT, one row per attribute.
Example:
  FROM anon.ambiguous_labels([''age'', ''sex'']) ORDER BY attribute;';
COMMENT ON MACRO TABLE anon_helpers.column_values IS 'How often each value of some columns of a source stands in its column; values are text, and NULL is one of them.
Columns are found whatever their case, and named as in the list.

Returns: attribute VARCHAR, value VARCHAR, row_count BIGINT.
Example:
  FROM anon_helpers.column_values(''visits'', [''sex'', ''zip'']) ORDER BY ALL;';
COMMENT ON MACRO TABLE anon.unmapped_values IS 'How many distinct values of each quasi-identifier its taxonomy does not know, and in how many rows
they stand; values are compared as text. A taxonomy covers the data where both counts are 0; NULL is
always covered (see taxonomy_level).

Job: taxonomies.
Returns: attribute VARCHAR, unmapped_values BIGINT, unmapped_rows BIGINT, one row per quasi-identifier.
Example:
  FROM anon.unmapped_values(''visits'', [''age'', ''zip'']);';
COMMENT ON MACRO TABLE anon.foreign_labels IS 'How many distinct labels of each quasi-identifier are none of its taxonomy at the level that the node gives it, and
in how many rows they stand; compared as text. A table is generalized to a node where both counts are 0.

NULL is a label where taxonomy_level has it. Rows that were masked with * are none of the node, unless * is a
label there: leave them out first.

Job: verify.
Returns: attribute VARCHAR, foreign_labels BIGINT, foreign_rows BIGINT, one row per quasi-identifier.
Example:
  WITH generalized AS (FROM anon.generalize(''visits'', MAP {''age'': 1, ''sex'': 0}))
  FROM anon.foreign_labels(''generalized'', MAP {''age'': 2, ''sex'': 0});';
COMMENT ON MACRO anon.interval_label IS 'The half-open interval of a given width that a number falls into, [start, end), counted from an origin. Numbers
below `lower` and from `upper` on share the open ends; give NULL for no open end. Exact to nine decimals.

How it goes. From the inside out: the value as a decimal, the step that it falls into by division, that step corrected, the
start of the interval, its text.

Job: labels.
Returns: VARCHAR; NULL for a value that is not a number below 1e28.
Example:
  SELECT anon.interval_label(34, 10, 0, NULL, 90) AS decade, anon.interval_label(93, 10, 0, NULL, 90) AS old;';
COMMENT ON MACRO anon.bin_label IS 'The half-open interval between two of some numbers that a number falls into, [start, end); < the first or >= the last
beyond them. The bounds are numbers in ascending order, or their texts, which labels show as they are. Exact to nine
decimals.

Job: labels.
Returns: VARCHAR; NULL for a value that is not a number.
Example:
  SELECT anon.bin_label(34, [18, 25, 65]) AS adult, anon.bin_label(71, [18, 25, 65]) AS old;';
COMMENT ON MACRO anon.date_label IS 'The day, month, quarter, year or decade of a date or timestamp: 2024-03-31, 2024-03, 2024-Q1, 2024, 2020s; or its week and
the year of that by ISO 8601: 2024-W13, ISO 2024. Weeks do not nest in months or calendar years.

Job: labels.
Returns: VARCHAR; NULL for a value that is not a date, an error for another unit.
Example:
  SELECT anon.date_label(''2024-03-31'', ''month'') AS month, anon.date_label(''2024-03-31'', ''quarter'') AS quarter;';
COMMENT ON MACRO anon.prefix_label IS 'The first `kept` characters of a value, each other one masked by *.

Job: labels.
Returns: VARCHAR.
Example:
  SELECT anon.prefix_label(''10115'', 3) AS label;';
COMMENT ON MACRO anon.icd10_label IS 'The three-character category (E11) or the chapter (E00-E90) of an ICD-10 code, with or without its dot.

Job: labels.
Returns: VARCHAR; NULL for a value that is not an ICD-10 code, an error for another rank.
Source: WHO, ICD-10 volume 1; the ranges also hold the codes of ICD-10-CM and ICD-10-GM.
Example:
  SELECT anon.icd10_label(''E11.65'', ''category'') AS category, anon.icd10_label(''E11.65'', ''chapter'') AS chapter;';
COMMENT ON MACRO anon.icd9_label IS 'The category (250, V10, E950) or the chapter (240-279, V01-V91, E000-E999) of an ICD-9 diagnosis code, with or
without its dot.

Job: labels.
Returns: VARCHAR; NULL for a value that is not an ICD-9 code, an error for another rank.
Source: CDC, ICD-9-CM tabular list of diseases.
Example:
  SELECT anon.icd9_label(''250.01'', ''category'') AS category, anon.icd9_label(''V10.3'', ''chapter'') AS chapter;';
COMMENT ON MACRO anon.ipv4_label IS 'The IPv4 network of an address: its first `bits` bits, in CIDR notation.

Job: labels.
Returns: VARCHAR; NULL for a value that is not an IPv4 address.
Example:
  SELECT anon.ipv4_label(''192.168.17.4'', 24) AS network, anon.ipv4_label(''192.168.17.4'', 12) AS wider;';
COMMENT ON MACRO TABLE anon_helpers.domain_of IS 'The distinct values of a column as text, with NULL only where it is the only one, since every taxonomy knows it.

Returns: value VARCHAR.
Example:
  FROM anon_helpers.domain_of(''visits'', ''sex'') ORDER BY value;';
COMMENT ON MACRO TABLE anon.flat_taxonomy IS 'The taxonomy of a column with one level above its values, on which all are *.

Job: taxonomies.
Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR.
Example:
  FROM anon.flat_taxonomy(''visits'', ''diagnosis'') ORDER BY level, value;';
COMMENT ON MACRO TABLE anon.interval_taxonomy IS 'The taxonomy of a column of numbers: a level of half-open intervals for each width, from narrow to wide, then *. Each
width must divide the next. The domain is every whole number from first to last, or what the column has if both are NULL.

Job: taxonomies.
Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR; a label of NULL for what is not a number.
Example:
  FROM anon.interval_taxonomy(''visits'', ''age'', [10, 20], NULL, NULL) WHERE value = ''34'' ORDER BY level;';
COMMENT ON MACRO TABLE anon.prefix_taxonomy IS 'The taxonomy of a column of codes: a level for each number of characters that stay, from many to few, with * in place of
the others, then *.

Job: taxonomies.
Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR.
Example:
  FROM anon.prefix_taxonomy(''visits'', ''zip'', [3, 1]) WHERE value = ''10115'' ORDER BY level;';
COMMENT ON MACRO TABLE anon.date_taxonomy IS 'The taxonomy of a column of dates or timestamps: a level for each unit of anon.date_label, from fine to coarse, such as
month, quarter, year, decade; then *. The domain is every day from first to last, for a column of dates, or what the column
has if both are NULL.

Job: taxonomies.
Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR; a label of NULL for what is not a date.
Example:
  WITH stays AS (SELECT DATE ''2024-01-31'' AS admission)
  FROM anon.date_taxonomy(''stays'', ''admission'', [''month'', ''year''], ''2024-01-30'', ''2024-02-01'') ORDER BY level, value;';
COMMENT ON MACRO TABLE anon.hierarchy_file IS 'The taxonomy in a file as ARX writes hierarchies: a line per value, which is the first field, with its labels of levels 1
and up in the others. Fields are between semicolons, commas or tabs, whichever DuckDB finds.

Job: taxonomies.
Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR; anon.malformed_taxonomies says what is wrong with it.
Example:
  FROM anon.hierarchy_file(''sex.csv'', ''sex'') ORDER BY level, value;';
COMMENT ON MACRO anon_helpers.is_iban IS 'Whether a text is an IBAN: country, check digits, up to 30 letters and digits, with or without spaces, and its checksum.

Returns: BOOLEAN.
Source: ISO 13616; the checksum is MOD 97-10 of ISO 7064.
Example:
  SELECT anon_helpers.is_iban(''GB82 WEST 1234 5698 7654 32'') AS is_iban;';
COMMENT ON MACRO anon_helpers.is_card_number IS 'Whether a text is the number of a payment card: 13 to 19 digits, with or without spaces or dashes, and its check digit.

Returns: BOOLEAN.
Source: ISO/IEC 7812-1, annex B (Luhn).
Example:
  SELECT anon_helpers.is_card_number(''4111 1111 1111 1111'') AS is_card_number;';
COMMENT ON MACRO anon.shape_of IS 'What a text looks like: email, url, guid, mac, ip, iban, ssn, hash, date (as ISO 8601 has it), period (a month, quarter
or week of a year), phone, card, street, icd10 (with its dot), postcode (of more than digits), decimal_comma (a
number; three digits behind its comma may be thousands, and have no shape), or text (four words or more).

Job: columns.
Returns: VARCHAR; NULL for what looks like none of these.
Example:
  SELECT anon.shape_of(''ada@example.org'') AS email, anon.shape_of(''E11.65'') AS icd10;';
COMMENT ON MACRO anon_helpers.number_range IS 'The numbers under a label: the lowest and the greatest one, as lists of two. A number is both; an interval, [90, 95), 90-94 or
90 to 94, has whole numbers; so have a prefix, 9*, and a decade, 1990s; < 18 and >= 90 have no end on one side. Units of age
in words, such as years old, may stand beside a number.

How it goes. The text in small letters without units, the numbers in it, and the first form that the whole text has.

Returns: DOUBLE[], with infinity at an open end; NULL for another label.
Example:
  SELECT anon_helpers.number_range(''[90, 95)'') AS halfopen, anon_helpers.number_range(''90 years and older'') AS from_90_on;';
COMMENT ON MACRO anon_helpers.is_day_number IS 'Whether a number spells a day, a month or a moment: 20240305, 05032024, 202403, 2024065, or the seconds, milli-, micro- or
nanoseconds since 1970 of a moment from 1990 to 2039. The days of a spreadsheet look like other numbers.

Returns: BOOLEAN.
Example:
  SELECT
      anon_helpers.is_day_number(20240305) AS day,
      anon_helpers.is_day_number(1709596800) AS moment,
      anon_helpers.is_day_number(2024) AS year;';
COMMENT ON MACRO anon_helpers.has_date IS 'Whether a text has a part of a date that is finer than a year: a day, month, week, quarter, season or day of the week,
spelled in digits or in words (English, German, French, Spanish), also where the rest is masked by *.

Returns: BOOLEAN.
Example:
  SELECT
      anon_helpers.has_date(''seen on 5 March 2024'') AS day,
      anon_helpers.has_date(''Q1 2024'') AS quarter,
      anon_helpers.has_date(''2024'') AS year;';
COMMENT ON MACRO anon_helpers.birth_years_in IS 'The years that a text says somebody was born in.

Returns: INTEGER[].
Example:
  SELECT anon_helpers.birth_years_in(''born 1931, moved in 1950'') AS years;';
COMMENT ON MACRO anon.identifiers_in IS 'The kinds of identifiers that stand anywhere in a text, of those that 45 CFR 164.514(b)(2)(i) removes and that have a form:
name (with a title), street, postcode, coordinates, date, age (above 89), phone, email, ssn, member, number (behind the word
for one), iban, card, vehicle, mac, url, ip, picture, guid, hash.

How it goes. A regular expression for each kind, or what its check digits say, and the kinds that were found.

Job: columns.
Returns: VARCHAR[], empty without any.
Example:
  SELECT anon.identifiers_in(''see http://example.org/7, or write to ada@example.org'') AS kinds;';
COMMENT ON MACRO anon_helpers.shows_old_age IS 'Whether a label of a column of ages shows an age above 89 other than by one label of 90 or older (45 CFR
164.514(b)(2)(i)(C)). `is_coded` says that 90 stands for all ages from there on.

Returns: BOOLEAN.
Example:
  SELECT
      anon_helpers.shows_old_age(''[95, 100)'', FALSE) AS interval_of_five,
      anon_helpers.shows_old_age(''>= 90'', FALSE) AS from_90_on;';
COMMENT ON MACRO anon_helpers.shows_early_year IS 'Whether a label of a column of births shows a year before one, other than by one label of that year''s predecessor or
earlier. `is_coded` says that the lowest year stands for all before it.

Returns: BOOLEAN.
Example:
  SELECT
      anon_helpers.shows_early_year(''1930s'', 1937, FALSE) AS decade,
      anon_helpers.shows_early_year(''< 1940'', 1937, FALSE) AS before;';
COMMENT ON MACRO anon_helpers.shows_part_of_date IS 'Whether a label of a column of dates shows more than years. Few digits are a count, unless `is_part` says that the column has
months, days or other parts of dates.

Returns: BOOLEAN.
Example:
  SELECT anon_helpers.shows_part_of_date(''43831'', FALSE) AS day, anon_helpers.shows_part_of_date(''2020s'', FALSE) AS decade;';
COMMENT ON MACRO anon_helpers.is_sparse_area IS 'Whether an area of three digits of ZIP codes has 20,000 people or fewer, by the Census of 2000.

Returns: BOOLEAN.
Source: Office for Civil Rights, guidance on de-identification of November 26, 2012.
Example:
  SELECT anon_helpers.is_sparse_area(''036'') AS few_people, anon_helpers.is_sparse_area(''021'') AS many_people;';
COMMENT ON MACRO anon_helpers.shows_small_area IS 'Whether a label of a column of ZIP codes shows more than three digits, or three of a sparse area, for which 000 stands (45 CFR
164.514(b)(2)(i)(B)).

Returns: BOOLEAN.
Example:
  SELECT anon_helpers.shows_small_area(''0213*'') AS four_digits, anon_helpers.shows_small_area(''036'') AS few_people;';
COMMENT ON MACRO TABLE anon.lattice IS 'Every node of the lattice of these quasi-identifiers: a MAP from quasi-identifier to level, in the order
given, and its height, the sum of its levels. There are product(height + 1) of them.

Job: search.
Returns: node MAP(VARCHAR, INTEGER), height INTEGER. No row if a quasi-identifier has no taxonomy.
Source: Samarati 2001, section 4; Mazzone 2019, section 4.3.
Example:
  FROM anon.lattice([''age'', ''sex'']) ORDER BY height, node;';
COMMENT ON MACRO anon_helpers.marked_label IS 'What anon.generalize finds instead of a label: the character 1 if there are several labels, 2 for NULL, and 3 before a
label that is empty or starts with one of these characters itself. Any other label is found as it is.

It is one text, because a join that carries a struct takes twice as long.

Returns: VARCHAR, never NULL.
Example:
  SELECT anon_helpers.marked_label(''f'', 1) AS label, ascii(anon_helpers.marked_label(NULL, 1)) AS mark;';
COMMENT ON MACRO TABLE anon_helpers.node_labels IS 'The labels of all quasi-identifiers of a node at its levels, with NULL among the values as in taxonomy_level;
labels are marked, see marked_label.

There is no WHERE in it, so that anon.generalize joins it as it is: before a relation that is filtered, DuckDB 1.5 would
look for the values that are there.

Returns: attribute VARCHAR, value VARCHAR, label VARCHAR, a row per attribute and value; NULL where a value has no label
at the level, and for other attributes.
Example:
  FROM anon_helpers.node_labels(MAP {''sex'': 1}) WHERE label IS NOT NULL ORDER BY value;';
COMMENT ON MACRO anon_helpers.found_label IS 'The marked label of a value in the column of the same name of a relation of labels, which has a row per value; NULL if
it has none.

labels: anon_value VARCHAR, and a column of marked labels for every attribute. `attribute` is a column of a relation
anon_rows and text. It is read twice: inside, anon_rows are the labels, outside those of the caller.
Returns: VARCHAR.
Example:
  WITH labels AS (SELECT ''f'' AS anon_value, ''*'' AS sex)
  SELECT id, anon_helpers.found_label(''labels'', sex) AS found FROM visits AS anon_rows ORDER BY id;';
COMMENT ON MACRO anon_helpers.unmarked_label IS 'The label of a marked one, see marked_label; several and none are errors, with a text for each.

Returns: VARCHAR.
Example:
  SELECT anon_helpers.unmarked_label(anon_helpers.marked_label(''*'', 1), ''several labels'', ''no label'') AS label;';
COMMENT ON MACRO anon_helpers.checked_label IS 'The label that was found, see found_label; none and more than one are errors, as in anon.label_of.

Returns: VARCHAR.
Example:
  SELECT anon_helpers.checked_label(''sex'', 1, anon_helpers.marked_label(''*'', 1)) AS label;';
COMMENT ON MACRO anon.label_of IS 'The label of one value at one level of its taxonomy; values are compared as text.

Level 0 is the value itself. A value that the taxonomy does not know, a level that it does not have and
a value with more than one label are errors, because a raw value must never pass for a label.

Job: labels.
Returns: VARCHAR.
Example:
  SELECT anon.label_of(''age'', 1, 34) AS label;';
COMMENT ON MACRO TABLE anon.generalize_columns IS 'The rows of a source with some columns replaced by their labels at the levels of a node, as anon.generalize has them. The
node may be found by a query, such as (SELECT node FROM ...), while a macro needs the names of columns beforehand.

The labels are made once, with a column for each quasi-identifier, and each quasi-identifier is a hash join with them.
A subquery becomes one only if it compares a bare column, reads a relation without a filter, and raises no error: so
values are made text first, then labels found, then errors raised. The labels are not materialized, since the columns
that a query leaves out would then be read as well.

It takes 0.7 to 1.5 times as long as joins written by hand (tests/benchmarks/macros.py, 1, 2 and 8 quasi-identifiers of a
million rows, written to a table or counted). Whether a label is checked that a query leaves out depends on the planner.

Job: release.
Example:
  FROM anon.generalize_columns(''visits'', [''age'', ''sex''], (SELECT MAP {''age'': 1, ''sex'': 0})) ORDER BY id LIMIT 3;';
COMMENT ON MACRO TABLE anon.generalize IS 'The rows of a source with each quasi-identifier of the node replaced by its label at the node''s level.

The quasi-identifiers come first and are text; the other columns follow as they are. Rows are neither
dropped nor put in order, and identifiers are not removed: select them away.

Job: release.
Source: full-domain generalization, Samarati 2001, definition 3.
Example:
  FROM anon.generalize(''visits'', MAP {''age'': 1, ''sex'': 0}) ORDER BY id LIMIT 3;';
COMMENT ON MACRO anon_helpers.checked_k IS 'k as it is, if it is a number of rows; otherwise an error, since a comparison with NULL would drop or keep all of them.

Returns: k.
Example:
  SELECT anon_helpers.checked_k(5) AS k;';
COMMENT ON MACRO TABLE anon.suppress IS 'The rows of a source that share their quasi-identifiers with at least k - 1 others; the rest is dropped.

Job: release.
Example:
  WITH generalized AS (FROM anon.generalize(''visits'', MAP {''age'': 2, ''sex'': 0}))
  FROM anon.suppress(''generalized'', [''age'', ''sex''], 3);';
COMMENT ON MACRO TABLE anon.suppress_where IS 'The rows of a source in classes of at least k rows with at least l different sensitive values; the rest is dropped. NULL
is a value.

Job: release.
Source: Machanavajjhala et al. 2007, distinct l-diversity.
Example:
  WITH generalized AS (FROM anon.generalize(''visits'', MAP {''age'': 2, ''sex'': 0}))
  FROM anon.suppress_where(''generalized'', [''age'', ''sex''], 2, ''diagnosis'', 2);';
COMMENT ON MACRO TABLE anon.first_events IS 'The first n events of every individual, in the order of the columns `ordering`, the most significant first: a row
per individual and position 1, 2, ... n, with no row where an individual has fewer events.

NULL is an event like any other: one without a code has taken place all the same. NULLs in the ordering come last.
Events at the same time come in the order of their text, so that the same rows always make the same sequence.
Rows without an individual are left out.

The first three columns of the ordering are sorted by as they are, texts byte by byte. Of further ones, whose number is
not known, each row has a map of sort keys, which takes 7 times as long as ORDER BY.

How it goes. The ordering becomes columns of known names, and a map of sort keys behind the third; events are numbered by these
within their individual.

Job: release.
Returns: individual with its column''s type, position BIGINT, event with its column''s type.
Source: Mazzone 2019, sections 3.2 and 4.2.
Example:
  FROM anon.first_events(''visits'', ''zip'', ''diagnosis'', [''age'', ''id''], 2) ORDER BY ALL;';
COMMENT ON MACRO anon_helpers.hmac_block IS 'The key of HMAC-SHA-256 as a block of 64 bytes, each combined with the byte of one of its two pads by XOR. A key of more
than 64 bytes is replaced by its hash, a shorter one is filled up with zeros.

key, pad: BLOB; the pads are ''\x36'' (inner) and ''\x5C'' (outer).
Returns: BLOB.
Source: RFC 2104, section 2.
Example:
  SELECT anon_helpers.hmac_block(CAST(''Jefe'' AS BLOB), CAST(''\x36'' AS BLOB)) AS block;';
COMMENT ON MACRO anon_helpers.hmac_of_blocks IS 'HMAC-SHA-256 of a message by the two blocks of its key (hmac_block), as 64 hexadecimal digits.

inner_block, outer_block, message: BLOB.
Returns: VARCHAR; NULL for NULL.
Source: RFC 2104, section 2.
Example:
  SELECT anon_helpers.hmac_of_blocks(
      anon_helpers.hmac_block(CAST(''Jefe'' AS BLOB), CAST(''\x36'' AS BLOB)),
      anon_helpers.hmac_block(CAST(''Jefe'' AS BLOB), CAST(''\x5C'' AS BLOB)),
      encode(''what do ya want for nothing?'')
  ) AS hash;';
COMMENT ON MACRO anon_helpers.hmac_sha256 IS 'HMAC-SHA-256 of a message under a key, as 64 hexadecimal digits.

key, message: BLOB.
Returns: VARCHAR; NULL for NULL.
Source: RFC 2104, section 2; test vectors in RFC 4231.
Example:
  SELECT anon_helpers.hmac_sha256(CAST(''Jefe'' AS BLOB), encode(''what do ya want for nothing?'')) AS hash;';
COMMENT ON MACRO anon.pseudonym IS 'The pseudonym of a value: HMAC-SHA-256 of its text (text_in_utc) in UTF-8, as 64 hexadecimal digits. The same value
has the same pseudonym wherever the key is the same. Who has the key can find the value of a pseudonym by trying values.

key: BLOB, a secret of 32 random bytes or more. Keep it in a variable: a statement that spells it shows it to whoever can
read a log of statements. What `sqlanon run --pseudonym-key FILE` takes for the key is the file without its line break:
SET VARIABLE pseudonym_key = (SELECT encode(rtrim(content, chr(10))) FROM read_text(''FILE''));

Job: release.
Returns: VARCHAR; NULL for NULL.
Example:
  SELECT anon.pseudonym(id, repeat(CAST(''k'' AS BLOB), 32)) AS pseudonym FROM visits ORDER BY id LIMIT 2;';
COMMENT ON MACRO TABLE anon_helpers.pseudonym_problems IS 'What is wrong with columns of pseudonyms: rows whose value is not 64 hexadecimal digits, values that stand more than once
in these columns taken together, and the rows that have one. A pseudonym that repeats links rows, also where it stands in
two columns. NULL is not a pseudonym, and may repeat. All counts are 0 in a release.

Returns: attribute VARCHAR, malformed_rows BIGINT, repeated_values BIGINT, repeated_rows BIGINT, one row per column.
Example:
  FROM anon_helpers.pseudonym_problems(''visits'', [''zip'']);';
COMMENT ON MACRO TABLE anon_helpers.cells IS 'The distinct combinations of quasi-identifiers of a source, each with the number of its rows.

Returns: the quasi-identifiers as they are, row_count BIGINT.
Example:
  FROM anon_helpers.cells(''visits'', [''age'', ''sex'']) ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.roll_up IS 'Cells generalized to a node and merged: the equivalence classes at that node, counted without
another look at the rows.

Returns: the quasi-identifiers of the node as labels, row_count BIGINT.
Example:
  WITH cells AS (FROM anon_helpers.cells(''visits'', [''age'', ''sex'']))
  FROM anon_helpers.roll_up(''cells'', MAP {''age'': 2, ''sex'': 1});';
COMMENT ON MACRO TABLE anon.equivalence_classes IS 'The equivalence classes of a source as it is: rows that agree on every quasi-identifier. NULL agrees
with NULL.

Job: classes.
Returns: the quasi-identifiers, class_size BIGINT.
Source: Samarati 2001, definition 2.
Example:
  FROM anon.equivalence_classes(''visits'', [''sex'']) ORDER BY ALL;';
COMMENT ON MACRO TABLE anon.class_sizes IS 'The size of every equivalence class, without its labels.

Job: classes.
Returns: class_size BIGINT.
Example:
  FROM anon.class_sizes(''visits'', [''sex'']) ORDER BY ALL;';
COMMENT ON MACRO TABLE anon.class_values IS 'How often each sensitive value stands in each equivalence class. NULL is a value.

Job: classes.
Returns: the quasi-identifiers, sensitive_value with the sensitive column''s type, row_count BIGINT.
Example:
  FROM anon.class_values(''visits'', [''sex''], ''diagnosis'') ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.value_counts IS 'The same without the labels, so that no quasi-identifier''s name can clash: a row per class and sensitive value.

Returns: class STRUCT of the quasi-identifiers'' values, sensitive_value with the sensitive column''s type, row_count
BIGINT.
Example:
  SELECT count(DISTINCT class) AS class_count FROM anon_helpers.value_counts(''visits'', [''sex''], ''diagnosis'');';
COMMENT ON MACRO TABLE anon.k_anonymity IS 'k-anonymity attained: the size of the smallest equivalence class; NULL for a table without rows.

Job: privacy.
Returns: one row: k BIGINT, class_count BIGINT, row_count BIGINT.
Source: Samarati 2001, definition 2; Sweeney 2002.
Example:
  FROM anon.k_anonymity(''visits'', [''age'', ''sex'']);';
COMMENT ON MACRO anon_helpers.best_k_of IS 'The largest k that can be attained by suppressing no more than some rows: the size of the smallest class that
cannot be suppressed together with all smaller ones (an aggregate over classes).

rows_up_to: the rows of all classes of at most this class''s size.
Returns: the type of class_size; all rows if all may be suppressed.
Source: Mazzone 2019, section 4.4 (Inverse OLA).
Example:
  SELECT anon_helpers.best_k_of(class_size, rows_up_to, 2) AS k
  FROM (SELECT class_size, sum(class_size) OVER (ORDER BY class_size ASC) AS rows_up_to FROM anon.class_sizes(''visits'', [''sex'']));';
COMMENT ON MACRO TABLE anon.best_k IS 'The largest k that a source can attain by suppressing no more than some of its rows; NULL for a table without rows.

Job: privacy.
Returns: one row: k BIGINT.
Source: Mazzone 2019, section 4.4 (Inverse OLA).
Example:
  FROM anon.best_k(''visits'', [''sex''], 2);';
COMMENT ON MACRO anon_helpers.distinct_diversity_of IS 'The number of distinct sensitive values of one class, from the number of rows of each value (an aggregate).

Returns: BIGINT.
Source: Machanavajjhala et al. 2007, section 4.1.
Example:
  SELECT anon_helpers.distinct_diversity_of(row_count) AS l
  FROM anon.class_values(''visits'', [''sex''], ''diagnosis'') GROUP BY sex;';
COMMENT ON MACRO anon_helpers.entropy_diversity_of IS 'The effective number of sensitive values of one class, exp(H), from the number of rows of each value (an
aggregate); H is the entropy of the values within the class. Exact to about 1e-15 relative.

Returns: DOUBLE.
Source: Machanavajjhala et al. 2007, definition 4.1: a class is entropy l-diverse if H >= log(l).
Example:
  SELECT anon_helpers.entropy_diversity_of(row_count) AS l FROM anon.class_values(''visits'', [''sex''], ''diagnosis'') GROUP BY sex;';
COMMENT ON MACRO anon_helpers.largest_share_of IS 'The share of the most frequent sensitive value of one class, from the number of rows of each value (an aggregate).

Returns: DOUBLE in (0, 1].
Source: Wong et al. 2006, alpha-deassociation: a class is within alpha if no value has a larger share.
Example:
  SELECT anon_helpers.largest_share_of(row_count) AS alpha
  FROM anon.class_values(''visits'', [''sex''], ''diagnosis'') GROUP BY sex;';
COMMENT ON MACRO anon_helpers.recursive_ratio_of IS 'How much the most frequent sensitive value of one class outweighs the rare ones, from the number of rows of each
value (an aggregate): r_1 / (r_l + ... + r_m), counts descending; infinity if there are fewer than l values.

The class is recursive (c, l)-diverse if this is less than c, strictly. Both sides are the nearest doubles of their
quotient and of the decimal c, so that equal numbers compare as equal.

Returns: DOUBLE. l must be a constant of at least 1.
Source: Machanavajjhala et al. 2007, definition 4.2.
Example:
  SELECT anon_helpers.recursive_ratio_of(row_count, 2) AS c
  FROM anon.class_values(''visits'', [''sex''], ''diagnosis'') GROUP BY sex;';
COMMENT ON MACRO anon_helpers.individuals_of IS 'The number of individuals that surely stand in one class (an aggregate over its rows). A row whose individual is
NULL may belong to anyone, also to an individual counted already: it adds nobody to a class that has an individual.

Returns: BIGINT, at least 1.
Example:
  SELECT sex, anon_helpers.individuals_of(zip) AS households FROM visits GROUP BY sex;';
COMMENT ON MACRO TABLE anon.k_anonymity_of_individuals IS 'k-anonymity of individuals attained, for tables in which an individual may own several rows: the smallest number of
distinct individuals in any equivalence class, see individuals_of; NULL for a table without rows.

It takes 1.5 to 3.4 times as long as count(DISTINCT) by columns that are named: its classes are structs, so that no name of
a column can clash.

Job: privacy.
Returns: one row: k BIGINT, class_count BIGINT, row_count BIGINT.
Example:
  FROM anon.k_anonymity_of_individuals(''visits'', [''sex''], ''zip'');';
COMMENT ON MACRO TABLE anon.class_diversity IS 'The diversity of one sensitive column in every equivalence class, without the class''s labels.

Job: classes.
Returns: class_size BIGINT, distinct_diversity BIGINT, entropy_diversity DOUBLE, largest_share DOUBLE.
Example:
  FROM anon.class_diversity(''visits'', [''sex''], ''diagnosis'') ORDER BY ALL;';
COMMENT ON MACRO TABLE anon.distinct_l_diversity IS 'Distinct l-diversity attained: the smallest number of distinct sensitive values in any equivalence class;
NULL for a table without rows. NULL counts as a value.

Job: privacy.
Returns: one row: l BIGINT.
Source: Machanavajjhala et al. 2007, section 4.1.
Example:
  FROM anon.distinct_l_diversity(''visits'', [''sex''], ''diagnosis'');';
COMMENT ON MACRO TABLE anon.entropy_l_diversity IS 'Entropy l-diversity attained: the smallest exp(H) of the sensitive values in any equivalence class, rounded to 12
decimals, within which it is computed; NULL for a table without rows. NULL counts as a value.

Job: privacy.
Returns: one row: l DOUBLE.
Source: Machanavajjhala et al. 2007, definition 4.1.
Example:
  FROM anon.entropy_l_diversity(''visits'', [''sex''], ''diagnosis'');';
COMMENT ON MACRO TABLE anon.recursive_cl_diversity IS 'Recursive (c, l)-diversity attained: the largest r_1 / (r_l + ... + r_m) of any equivalence class, see
recursive_ratio_of; infinity if a class has fewer than l values, NULL for a table without rows. NULL counts as a
value. The table is (c, l)-diverse for every greater c.

Job: privacy.
Returns: one row: c DOUBLE.
Source: Machanavajjhala et al. 2007, definition 4.2.
Example:
  FROM anon.recursive_cl_diversity(''visits'', [''sex''], ''diagnosis'', 2);';
COMMENT ON MACRO TABLE anon.alpha_k_anonymity IS '(alpha, k)-anonymity attained, in its general form: the largest share of any sensitive value in any equivalence
class, and the size of the smallest class; NULL for a table without rows. NULL counts as a value.

Job: privacy.
Returns: one row: alpha DOUBLE in (0, 1], k BIGINT.
Source: Wong et al. 2006, the general (alpha, k)-anonymity model, which protects every sensitive value.
Example:
  FROM anon.alpha_k_anonymity(''visits'', [''sex''], ''diagnosis'');';
COMMENT ON MACRO TABLE anon_helpers.value_texts IS 'The texts of the sensitive values of the source and the reference: the one that stands for all that are equal, the
last of them, and their share in the reference, 0 if they are not there.

A reference without rows is an error if the source has some: without a distribution to be far from, distances would
look small.

Returns: value_text VARCHAR, sensitive_value VARCHAR, value with the type that both columns fit in, reference_rows BIGINT,
share DOUBLE in [0, 1]; a row per text.
Example:
  FROM anon_helpers.value_texts(''visits'', ''diagnosis'', ''visits'') ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.value_shares IS 'The share that each sensitive value of the source or the reference has in the reference, see value_texts.

Returns: sensitive_value VARCHAR, share DOUBLE in [0, 1].
Example:
  FROM anon_helpers.value_shares(''visits'', ''diagnosis'', ''visits'') ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.class_frequencies IS 'How often each sensitive value stands in each equivalence class, and its share in the reference, see
value_texts.

Returns: class STRUCT of the quasi-identifiers'' values, class_size BIGINT, sensitive_value VARCHAR, row_count BIGINT,
reference_share DOUBLE; a row per class and value that stands in it.
Example:
  FROM anon_helpers.class_frequencies(''visits'', [''sex''], ''diagnosis'', ''visits'') ORDER BY ALL;';
COMMENT ON MACRO anon_helpers.equal_distance_of IS 'Earth mover''s distance between the values of one class and the reference if all values are equally far apart (an
aggregate over the values of the class): the sum of what the class has more of than the reference. A reference share
of NULL is 0. Summed with compensation, so that the order of the rows hardly matters.

Returns: DOUBLE in [0, 1].
Source: Li et al. 2007, EMD for categorical attributes with equal distance.
Example:
  SELECT anon_helpers.equal_distance_of(row_count, class_size, reference_share) AS t
  FROM anon_helpers.class_frequencies(''visits'', [''sex''], ''diagnosis'', ''visits'') GROUP BY class;';
COMMENT ON MACRO TABLE anon_helpers.reference_work IS 'What it takes to move the rows of a reference to each value of an order, a row by a step being 1: those of lower values
up to it, and those of higher ones down to it.

reference: a relation with a row per value: position, from 1 without a gap, and row_count.
Returns: position, reference_rows DOUBLE, which is all of them, cumulative_share DOUBLE in [0, 1], work_below DOUBLE,
work_above DOUBLE, most_work DOUBLE, that from one end to the other.
Example:
  WITH ages AS (FROM anon_helpers.value_positions(''visits'', ''age'', ''visits''))
  FROM anon_helpers.reference_work(''ages'') ORDER BY position;';
COMMENT ON MACRO anon_helpers.share_slot IS 'The interval of shares that a share is in, of 1,024 that are equally long: a power of two, so that nothing is rounded.

Returns: BIGINT.
Example:
  SELECT anon_helpers.share_slot(0.5) AS slot;';
COMMENT ON MACRO TABLE anon_helpers.reference_crossings IS 'Where the cumulative share of a reference first exceeds a given share, from least_share up to next_share: the position, and
what it takes to move the rows below up to it. Cut into slots, see share_slot, so that it is found by an equal join.

work: a relation such as reference_work returns.
Returns: slot BIGINT, least_share DOUBLE, next_share DOUBLE, crossing, which is a position, crossing_work DOUBLE.
Example:
  WITH ages AS (FROM anon_helpers.value_positions(''visits'', ''age'', ''visits'')),
  work AS (FROM anon_helpers.reference_work(''ages''))
  SELECT DISTINCT * EXCLUDE (slot) FROM anon_helpers.reference_crossings(''work'') ORDER BY crossing;';
COMMENT ON MACRO anon_helpers.work_between IS 'What it takes to move the rows of a class to where those of the reference are, from one value of the class to its next
one: the sum of |rows_up_to * reference_rows - class_size * R| over the positions from the one to the other, R being the
rows of the reference up to a position.

R only grows, and the rest is the same between two values of a class, so that the sum follows from what is known of three
positions: of both values, and of the one where R / reference_rows first exceeds rows_up_to / class_size, see
reference_work and reference_crossings. NULL behind the last value. All terms are integers, so that the sum is
exact and independent of any order as long as they are below 2^53.

Returns: DOUBLE.
Example:
  SELECT anon_helpers.work_between(2, 3, 8, 1, 4, 0, 9, 3, 5) AS work;';
COMMENT ON MACRO anon_helpers.ordered_distance_of IS 'Earth mover''s distance between the values of one class and the reference if values have an order and neighbours are
equally far apart (an aggregate over the values of the class): the mean difference of the cumulative shares over the steps
between the first and the last position of the domain; 0 for a domain of one value.

Returns: DOUBLE in [0, 1].
Source: Li et al. 2007, EMD for numerical attributes.
Example:
  SELECT anon_helpers.ordered_distance_of(row_count, work_between, work_below, work_above, most_work) AS t
  FROM anon_helpers.class_distributions(''visits'', [''sex''], ''age'', ''visits'') GROUP BY class;';
COMMENT ON MACRO anon_helpers.rows_over_share IS 'How many times more rows a value has than its share in the reference, infinity for a value that is not there. Over the
rows of the class that is the ratio q / p of its shares in the class and in the reference.

Returns: DOUBLE, above 0.
Example:
  SELECT anon_helpers.rows_over_share(3, 0.2) AS ratio;';
COMMENT ON MACRO anon_helpers.disclosure_of IS 'delta of delta-disclosure attained by one class (an aggregate over its values): the largest |log2(q / p)| of a
value''s share in the class and in the reference; infinity for a value that is not in the reference. As in ARX the
logarithm is binary and values that are not in the class do not count, whose logarithm is infinite. The class is
delta-disclosure private for every greater delta, strictly.

Returns: DOUBLE, at least 0, in bits.
Source: Brickell and Shmatikov 2008, delta-disclosure privacy.
Example:
  SELECT anon_helpers.disclosure_of(row_count, reference_share) AS delta
  FROM anon_helpers.class_frequencies(''visits'', [''sex''], ''diagnosis'', ''visits'') GROUP BY class;';
COMMENT ON MACRO anon_helpers.basic_likeness_of IS 'beta of basic beta-likeness attained by one class (an aggregate over its values): the largest relative gain
(q - p) / p of a value''s share in the class over its share in the reference, 0 if none grows, infinity for a value
that is not in the reference. The class is beta-like if this is at most beta.

Returns: DOUBLE, at least 0.
Source: Cao and Karras 2012, basic beta-likeness.
Example:
  SELECT anon_helpers.basic_likeness_of(row_count, reference_share) AS beta
  FROM anon_helpers.class_frequencies(''visits'', [''sex''], ''diagnosis'', ''visits'') GROUP BY class;';
COMMENT ON MACRO anon_helpers.enhanced_likeness_of IS 'beta of enhanced beta-likeness attained by one class (an aggregate over its values): the largest relative gain of any
value, or infinity if the gain of some value exceeds -ln(p), the bound that holds whatever beta is. The class is
beta-like if this is at most beta.

Returns: DOUBLE, at least 0.
Source: Cao and Karras 2012, enhanced beta-likeness.
Example:
  SELECT anon_helpers.enhanced_likeness_of(row_count, reference_share) AS beta
  FROM anon_helpers.class_frequencies(''visits'', [''sex''], ''diagnosis'', ''visits'') GROUP BY class;';
COMMENT ON MACRO TABLE anon_helpers.class_closeness IS 'How far the values of each equivalence class are from the reference, for values without order or taxonomy.

Returns: class_size BIGINT, equal_distance DOUBLE, disclosure DOUBLE, basic_likeness DOUBLE, enhanced_likeness
DOUBLE.
Example:
  FROM anon_helpers.class_closeness(''visits'', [''sex''], ''diagnosis'', ''visits'') ORDER BY ALL;';
COMMENT ON MACRO TABLE anon.t_closeness IS 't-closeness attained with equal ground distance: the largest distance of any equivalence class from the reference,
see equal_distance_of; NULL for a table without rows.

Job: privacy.
Returns: one row: t DOUBLE in [0, 1].
Source: Li et al. 2007, the t-closeness principle.
Example:
  FROM anon.t_closeness(''visits'', [''sex''], ''diagnosis'', ''visits'');';
COMMENT ON MACRO TABLE anon.delta_disclosure IS 'delta-disclosure attained: the largest delta of any equivalence class, see disclosure_of; NULL for a table
without rows. The table is delta-disclosure private for every greater delta, strictly.

Job: privacy.
Returns: one row: delta DOUBLE, in bits.
Source: Brickell and Shmatikov 2008, delta-disclosure privacy.
Example:
  FROM anon.delta_disclosure(''visits'', [''sex''], ''diagnosis'', ''visits'');';
COMMENT ON MACRO TABLE anon.beta_likeness IS 'beta-likeness attained: the largest beta of any equivalence class, see basic_likeness_of and
enhanced_likeness_of; NULL for a table without rows.

Job: privacy.
Returns: one row: basic DOUBLE, enhanced DOUBLE.
Source: Cao and Karras 2012, basic and enhanced beta-likeness.
Example:
  FROM anon.beta_likeness(''visits'', [''sex''], ''diagnosis'', ''visits'');';
COMMENT ON MACRO TABLE anon_helpers.value_positions IS 'The values of the source and the reference in their order, numbered from 1: that of the sensitive column''s type, or
of the type that both columns fit in, NULL last, as in ARX. Text is in the order of its code points; for another
order give the column an ENUM type. Numbers that a table keeps as text are in the order of text: cast them.

Returns: sensitive_value VARCHAR, position BIGINT, row_count BIGINT, the rows of the reference.
Example:
  FROM anon_helpers.value_positions(''visits'', ''age'', ''visits'') ORDER BY position;';
COMMENT ON MACRO TABLE anon_helpers.class_distributions IS 'How far the sensitive values of each equivalence class are from the reference, over the order of value_positions: of
each value what it takes to move rows between it and the next one, and the rows of the reference to it; see
work_between and reference_work.

How it goes. The values of each class in their order, with the rows up to each and the next value; where the cumulative share of
the reference crosses that of the class between both, if it does; and the work from these.

Returns: class STRUCT of the quasi-identifiers'' values, position BIGINT, row_count BIGINT, work_between DOUBLE, NULL for the
last value, work_below DOUBLE, work_above DOUBLE, most_work DOUBLE; a row per class and value that stands in it.
Example:
  FROM anon_helpers.class_distributions(''visits'', [''sex''], ''age'', ''visits'') ORDER BY ALL LIMIT 3;';
COMMENT ON MACRO TABLE anon.ordered_t_closeness IS 't-closeness attained with ordered ground distance: the largest distance of any equivalence class from the reference,
see ordered_distance_of and value_positions; NULL for a table without rows.

Job: privacy.
Returns: one row: t DOUBLE in [0, 1].
Source: Li et al. 2007, the t-closeness principle.
Example:
  FROM anon.ordered_t_closeness(''visits'', [''sex''], ''age'', ''visits'');';
COMMENT ON MACRO TABLE anon.hierarchical_t_closeness IS 't-closeness attained with hierarchical ground distance: the largest distance of any equivalence class from the
reference if two values are as far apart as the level of their lowest common label over the height of the taxonomy,
which is stored under the sensitive column''s own name; NULL for a table without rows.

Moving rows through a tree costs the same per level, so that the distance is the mean over the levels below the top
of the equal distance of their labels. A value that the taxonomy does not know is an error; NULL is a label of its
own below the top unless the taxonomy has it.

How it goes. The labels of each value at each level below the top; their rows in each class and their share in the reference;
the equal distance of both at each level, and its mean.

Job: privacy.
Returns: one row: t DOUBLE in [0, 1].
Source: Li et al. 2007, the t-closeness principle; EMD for categorical attributes with hierarchical distance.
Example:
  FROM anon.hierarchical_t_closeness(''visits'', [''sex''], ''zip'', ''visits'');';
COMMENT ON MACRO anon_helpers.certain_share IS 'The share of the rows of a class that is certainly suppressed, from how much the class exceeds a bound and how much rows
that are all alike could: g(P) - t and G - t above.

Both are taken to be off by 1e-9 for the worse. That is far more than sums of floats are off by, so that the rows of the
share, rounded up, are never too many; and it costs no more than a row in 1e9, unless G is nearly t.

Returns: DOUBLE in [0, 1); 0 if excess is NULL.
Example:
  SELECT anon_helpers.certain_share(0.5 - 0.2, 0.8 - 0.2) AS share;';
COMMENT ON MACRO anon_helpers.certain_rows_of IS 'Rows that every less general node suppresses as well (an aggregate over classes): all rows of a class that is certainly
not kept, and of any other as many as a certain share makes, rounded up.

Returns: BIGINT.
Example:
  SELECT anon_helpers.certain_rows_of(class_size, class_size >= 2, 0.3) AS suppressed FROM anon.class_sizes(''visits'', [''age'']);';
COMMENT ON MACRO anon_helpers.rows_above_mean IS 'The rows that every less general node suppresses at least if the mean over its published rows may be at_most: less general
classes have no smaller sum, and a row adds at most 1 to it, so that without s rows the mean is (total - s) / (rows - s) or
more.

at_most is taken to be 1e-9 larger, which is far more than the sum is off by.

total: the sum over all rows. at_most: below 1.
Returns: BIGINT.
Example:
  SELECT anon_helpers.rows_above_mean(unique_rows, row_count, 0.05) AS suppressed FROM anon.sample_uniqueness(''visits'', [''age'']);';
COMMENT ON MACRO anon_helpers.largest_share_certainty_of IS 'The share of the rows of one class that is certainly suppressed if no value may have more than the share alpha: the most
that its one, two or three most frequent values prove. g is the share of these j, t is j alpha, G is 1.

More than 1 / alpha values prove nothing, and to look at all takes twice as long as all else of a class.

Returns: DOUBLE in [0, 1).
Source: Wong et al. 2006 for the model; the lemma above.
Example:
  SELECT anon_helpers.largest_share_certainty_of(row_count, 0.5) AS share
  FROM anon.class_values(''visits'', [''sex''], ''diagnosis'') GROUP BY sex;';
COMMENT ON MACRO anon_helpers.entropy_diversity_certainty_of IS 'The same if classes are to have entropy log l: g is the sum of P''_v log P_v, which is the negative entropy for P'' = P and
no more for any other P''; G is the logarithm of the largest share.

Returns: DOUBLE in [0, 1).
Source: Machanavajjhala et al. 2007, definition 4.1, for the model; the lemma above, with the inequality of Gibbs.
Example:
  SELECT anon_helpers.entropy_diversity_certainty_of(row_count, 2.5) AS share
  FROM anon.class_values(''visits'', [''sex''], ''diagnosis'') GROUP BY sex;';
COMMENT ON MACRO anon_helpers.recursive_ratio_certainty_of IS 'The same if classes are to be recursive (c, l)-diverse: the l - 1 most frequent values lose what they have more than c
times the rows of the rare ones.

With shares p descending and the rare ones r = p_l + ... + p_m, the mean of any j < l largest shares less c r is convex,
and no more than p_1 - c r, which is at most 0 in a class that is kept; G is 1 / j. So p_1 + ... + p_j - j c r are lost.

Returns: DOUBLE in [0, 1). l must be a constant of at least 2.
Source: Machanavajjhala et al. 2007, definition 4.2, for the model; the lemma above.
Example:
  SELECT anon_helpers.recursive_ratio_certainty_of(row_count, 2, 1.5) AS share
  FROM anon.class_values(''visits'', [''sex''], ''diagnosis'') GROUP BY sex;';
COMMENT ON MACRO anon_helpers.hierarchical_distance_certainty_of IS 'The same if classes are to be within distance t of the reference and values have a taxonomy of a height (an aggregate over
the labels of the class at all levels below the top).

g is the mean over the levels of the share of the labels that the class has no less of than the reference, less their share
there; G is the mean of 1 less the latter.

Returns: DOUBLE in [0, 1).
Source: Li et al. 2007, EMD for categorical attributes with hierarchical distance, for the model; the lemma above.
Example:
  SELECT anon_helpers.hierarchical_distance_certainty_of(anon_rows, 4, anon_share, 1, 0.2) AS share
  FROM (VALUES (3, 0.25), (1, 0.5)) AS anon_labels (anon_rows, anon_share);';
COMMENT ON MACRO anon_helpers.equal_distance_certainty_of IS 'The same if all values are equally far apart: there is one level.

Returns: DOUBLE in [0, 1).
Source: Li et al. 2007, EMD for categorical attributes with equal distance, for the model; the lemma above.
Example:
  SELECT anon_helpers.equal_distance_certainty_of(row_count, class_size, reference_share, 0.2) AS share
  FROM anon_helpers.class_frequencies(''visits'', [''sex''], ''diagnosis'', ''visits'') GROUP BY class;';
COMMENT ON MACRO anon_helpers.ordered_reach_of IS 'The largest of the distances that rows would have from the reference if all had one value of the class (an aggregate over
its values, as in ordered_distance_of).

Returns: DOUBLE in [0, 1].
Source: Li et al. 2007, EMD for numerical attributes.
Example:
  SELECT anon_helpers.ordered_reach_of(work_below, work_above, most_work) AS farthest
  FROM anon_helpers.class_distributions(''visits'', [''sex''], ''age'', ''visits'') GROUP BY class;';
COMMENT ON MACRO anon_helpers.ordered_distance_certainty_of IS 'The share of the rows of one class that is certainly suppressed if classes are to be within distance t of the reference
and values have an order (an aggregate over the values of the class): g is the distance, G is the farthest.

Returns: DOUBLE in [0, 1).
Source: Li et al. 2007, EMD for numerical attributes, for the model; the lemma above.
Example:
  SELECT anon_helpers.ordered_distance_certainty_of(row_count, work_between, work_below, work_above, most_work, 0.2) AS share
  FROM anon_helpers.class_distributions(''visits'', [''sex''], ''age'', ''visits'') GROUP BY class;';
COMMENT ON MACRO anon_helpers.share_certainty_of IS 'The same if no value may have more than a share of its own (an aggregate over the values of one class): g is the share of
the values that have too much together, t is what they may have, G is 1.

Returns: DOUBLE in [0, 1).
Example:
  SELECT anon_helpers.share_certainty_of(row_count, class_size, 2 * reference_share) AS share
  FROM anon_helpers.class_frequencies(''visits'', [''sex''], ''diagnosis'', ''visits'') GROUP BY class;';
COMMENT ON MACRO anon_helpers.disclosure_certainty_of IS 'The same if classes are to be delta-disclosure private. That values may not be too rare proves nothing: a value that is not
in a class at all is allowed.

Returns: DOUBLE in [0, 1).
Source: Brickell and Shmatikov 2008 for the model; the lemma above.
Example:
  SELECT anon_helpers.disclosure_certainty_of(row_count, class_size, reference_share, 0.5) AS share
  FROM anon_helpers.class_frequencies(''visits'', [''sex''], ''diagnosis'', ''visits'') GROUP BY class;';
COMMENT ON MACRO anon_helpers.basic_likeness_certainty_of IS 'The same if classes are to have basic beta-likeness.

Returns: DOUBLE in [0, 1).
Source: Cao and Karras 2012, basic beta-likeness, for the model; the lemma above.
Example:
  SELECT anon_helpers.basic_likeness_certainty_of(row_count, class_size, reference_share, 0.5) AS share
  FROM anon_helpers.class_frequencies(''visits'', [''sex''], ''diagnosis'', ''visits'') GROUP BY class;';
COMMENT ON MACRO anon_helpers.enhanced_likeness_certainty_of IS 'The same if classes are to have enhanced beta-likeness.

Returns: DOUBLE in [0, 1).
Source: Cao and Karras 2012, enhanced beta-likeness, for the model; the lemma above.
Example:
  SELECT anon_helpers.enhanced_likeness_certainty_of(row_count, class_size, reference_share, 0.5) AS share
  FROM anon_helpers.class_frequencies(''visits'', [''sex''], ''diagnosis'', ''visits'') GROUP BY class;';
COMMENT ON MACRO anon_helpers.largest_share_score IS 'The score of a cell where a value may have at most a share of a class, as in (alpha, k)-anonymity, in beta-likeness, and on the
upper side of delta-disclosure. It is linear: of the rows of a whole class it makes the sum over its cells.

In a class S that is kept, the rows of the value are at most the share of the rows of S, so that the scores add up to at most 0.

Returns: DOUBLE, in rows.
Example:
  SELECT anon_helpers.largest_share_score(8, 10, 0.5) AS score;';
COMMENT ON MACRO anon_helpers.least_share_score IS 'The score of a cell with some rows of a value where a class that has the value has it at least to a share, as on the lower side
of delta-disclosure; a cell without the value scores 0.

A class S that is kept lacks the value, and all of its cells score 0; or it has at least the share of its rows, and the cells of S
that have the value have no more rows than S.

Returns: DOUBLE, in rows.
Example:
  SELECT anon_helpers.least_share_score(1, 10, 0.25) AS score;';
COMMENT ON MACRO anon_helpers.distance_score_of IS 'The score of a cell where classes are to be within distance t of the reference (an aggregate over the values of the cell). Each
value has a potential; reference_potential is the mean of the potentials over the rows of the reference.

The earth mover''s distance of a class is the sum, over some sets of values with a weight each, of what the share of the set in the
class exceeds its share in the reference by, if it does. For the equal distance the sets are the single values, with weight 1; for
the hierarchical one the labels of all levels below the top, with 1 over their number of levels; for the ordered one, over m
values, all first and all last values of the order, with 1 / (m - 1). Take any of these sets, and let the potential of a value be
the sum of the weights of those that have it. The mean potential of a class S less that of the reference is at most its distance,
which is at most t if S is kept: so the scores add up to at most 0. The sets whose share in C exceeds that in the reference score
most: then the mean potential of C less that of the reference is its distance.

Returns: DOUBLE, in rows.
Source: Li et al. 2007 for the distances; linear programming duality.
Example:
  SELECT anon_helpers.distance_score_of(row_count, potential, 10, 0.5, 0.2) AS score
  FROM (VALUES (8, 1.0), (2, 0.0)) AS counts (row_count, potential);';
COMMENT ON MACRO anon_helpers.score_excess IS 'By how much the scores of the cells of a class exceed 0, less 1e-11 of a row for each row of the class: more than what rounding
adds to a sum of scores, or takes from a price.

Returns: DOUBLE, in rows; not above 0 if nothing is proven.
Example:
  SELECT anon_helpers.score_excess(3.0, 10) AS excess;';
COMMENT ON MACRO anon_helpers.excess_rows IS 'The rows of a class that every node between suppresses to make up for an excess, at a price of a row, where cells score some
sum beyond that price times their rows: the lemma above.

Returns: DOUBLE, in rows; not above 0 if nothing is proven.
Example:
  SELECT anon_helpers.excess_rows(3.0, 0.5, 0.0) AS suppressed;';
COMMENT ON MACRO anon_helpers.basic_likeness_share IS 'The largest share of a value in a class of basic beta-likeness, from its share in the reference.

Returns: DOUBLE.
Source: Cao and Karras 2012, basic beta-likeness.
Example:
  SELECT anon_helpers.basic_likeness_share(0.1, 2) AS largest_share;';
COMMENT ON MACRO anon_helpers.enhanced_likeness_share IS 'The largest share of a value in a class of enhanced beta-likeness, from its share in the reference, above 0.

Returns: DOUBLE.
Source: Cao and Karras 2012, enhanced beta-likeness.
Example:
  SELECT anon_helpers.enhanced_likeness_share(0.1, 2) AS largest_share;';
COMMENT ON MACRO anon_helpers.disclosure_share IS 'The largest share of a value in a class of delta-disclosure privacy, from its share in the reference; with -delta the least one
of a value that is in the class.

Returns: DOUBLE.
Source: Brickell and Shmatikov 2008, delta-disclosure privacy.
Example:
  SELECT anon_helpers.disclosure_share(0.1, 1.5) AS largest_share, anon_helpers.disclosure_share(0.1, -1.5) AS least_share;';
COMMENT ON MACRO anon_helpers.suppressed_rows_of IS 'Rows in suppressed classes (an aggregate over classes).

Returns: BIGINT.
Example:
  SELECT anon_helpers.suppressed_rows_of(class_size, class_size >= 2) AS suppressed FROM anon.class_sizes(''visits'', [''age'']);';
COMMENT ON MACRO anon_helpers.dm_star_of IS 'Discernibility DM*, before suppression: the sum of the squares of all class sizes (an aggregate over classes).

Returns: HUGEINT, between n and n^2.
Source: El Emam et al. 2009; Mazzone 2019, section 4.3.
Example:
  SELECT anon_helpers.dm_star_of(class_size) AS dm_star FROM anon.class_sizes(''visits'', [''sex'']);';
COMMENT ON MACRO anon_helpers.dm_of IS 'Discernibility DM: a kept row costs the size of its class, a suppressed row the size of the table (an
aggregate over classes). Not monotonic in the node.

Returns: HUGEINT, between n and n^2.
Source: Bayardo and Agrawal 2005, equation 1.
Example:
  SELECT anon_helpers.dm_of(class_size, class_size >= 2, 12) AS dm FROM anon.class_sizes(''visits'', [''age'']);';
COMMENT ON MACRO anon_helpers.classification_metric_of IS 'Classification metric: the share of rows that are suppressed, or differ from the most frequent value of their class
(an aggregate over classes). `largest_share` is the share of that value in its class. Not monotonic in the node.

Returns: DOUBLE in [0, 1].
Source: Iyengar 2002, section 3.2.
Example:
  SELECT anon_helpers.classification_metric_of(class_size, class_size >= 2, largest_share) AS cm
  FROM (VALUES (4, 0.75), (1, 1.0)) AS classes (class_size, largest_share);';
COMMENT ON MACRO anon_helpers.aecs_of IS 'Average equivalence class size over k; the suppressed rows are one more class, so that to suppress rows never
looks like a gain (an aggregate over classes). Not monotonic in the node. The average of the kept classes alone is
that of a table from which the others are gone, see anon.suppress.

Returns: DOUBLE; NULL without classes.
Source: LeFevre et al. 2006, equation C_AVG, in the form of ARX: suppressed records are one group.
Example:
  SELECT anon_helpers.aecs_of(class_size, class_size >= 2, 2) AS aecs FROM anon.class_sizes(''visits'', [''age'']);';
COMMENT ON MACRO anon_helpers.entropy_loss_of IS 'Non-uniform entropy loss in bits of one attribute at one level, from the number of rows of each value
and of the label that the value falls under (an aggregate over values). Suppression is ignored. Summed in a fixed
order, so that equal tables give equal sums to the last bit.

Returns: DOUBLE, at least 0.
Source: El Emam et al. 2009; spec -sum log2(N(value) / N(label)) over rows.
Example:
  SELECT anon_helpers.entropy_loss_of(value_rows, label_rows) AS bits
  FROM (VALUES (2, 4), (1, 4), (1, 4)) AS counts (value_rows, label_rows);';
COMMENT ON MACRO anon_helpers.label_information IS 'Information of a label in bits, from the number of its rows and the number of all rows.

Returns: DOUBLE, at least 0.
Example:
  SELECT anon_helpers.label_information(3, 12) AS bits;';
COMMENT ON MACRO anon_helpers.lm_share_of IS 'Loss of one label in LM: the share of the other leaves that the label also covers, (leaves - 1) / (domain - 1).

Returns: DOUBLE in [0, 1]; 0 for a domain of one value.
Source: Iyengar 2002; Lee et al. 2017, equation 2.
Example:
  SELECT anon_helpers.lm_share_of(10, 100) AS share;';
COMMENT ON MACRO anon_helpers.ncp_share_of IS 'Loss of one label in NCP: the share of the domain that it covers, leaves / domain, and 0 for a single leaf.

Returns: DOUBLE in [0, 1].
Source: Xu et al. 2006; Lee and Chung 2020, equation 6.
Example:
  SELECT anon_helpers.ncp_share_of(10, 100) AS share;';
COMMENT ON MACRO anon_helpers.log_share_of IS 'Loss of one label by the logarithm of its leaves, over the mean logarithm of the values of all quasi-identifiers. The mean
of a class''s labels is the information loss of Wan et al.: the sum of ln(leaves) over the sum of ln(values).

Returns: DOUBLE, at least 0, with a mean over the quasi-identifiers of at most 1; 0 where each has one value.
Source: Wan et al. 2015.
Example:
  SELECT anon_helpers.log_share_of(10, (ln(100) + ln(2)) / 2) AS share;';
COMMENT ON MACRO anon_helpers.missing_payout_of IS 'What a publisher misses of the benefit of a row: the information that its labels lose, and the loss from an attack. An
adversary attacks if the gain over the rows of the class is above the cost, and finds the row with 1 / rows.

Returns: DOUBLE, at least 0; the payout of the row is the benefit without it.
Source: Wan et al. 2015.
Example:
  SELECT 1200 - anon_helpers.missing_payout_of(50, 0.25, 300, 4, 1200, 300) AS payout;';
COMMENT ON MACRO anon_helpers.publisher_payout_of IS 'What a publisher misses of the benefit of all rows: of a suppressed one everything (an aggregate over classes). Not
monotonic in the node: attacks on larger classes stop to pay.

Returns: DOUBLE, at least 0; NULL without classes.
Source: Wan et al. 2015; ARX, "Publisher payout (prosecutor)".
Example:
  SELECT anon_helpers.publisher_payout_of(class_size, class_size >= 2, 0.25, 300, 4, 1200, 300) AS missing
  FROM anon.class_sizes(''visits'', [''age'']);';
COMMENT ON MACRO anon_helpers.mean_loss_of IS 'Mean loss per row of classes whose rows each lose `share`; a suppressed row loses 1 (an aggregate over
classes; the row policy "real" of LM and NCP). Not monotonic in the node.

Returns: DOUBLE in [0, 1].
Example:
  SELECT anon_helpers.mean_loss_of(class_size, class_size >= 2, share) AS lm
  FROM (VALUES (3, 0.5), (1, 0.1)) AS classes (class_size, share);';
COMMENT ON MACRO anon_helpers.suppressed_loss_of IS 'What suppressed rows lose that each lose `share`; nothing for kept ones (an aggregate over classes).

Returns: DOUBLE, at least 0.
Example:
  SELECT anon_helpers.suppressed_loss_of(class_size, class_size >= 2, bits) AS bits
  FROM (VALUES (3, 0.5), (1, 4.5)) AS classes (class_size, bits);';
COMMENT ON MACRO anon_helpers.arithmetic_loss IS 'The losses of several attributes as one, the mean with weights that sum to 1.

Returns: DOUBLE.
Example:
  SELECT anon_helpers.arithmetic_loss([0.5, 0.1], [0.75, 0.25]) AS loss;';
COMMENT ON MACRO anon_helpers.geometric_loss IS 'The losses of several attributes as one: product((1 + loss)^weight) - 1, with weights that sum to 1.

Returns: DOUBLE.
Source: ARX, "Loss" with the aggregate function geometric mean.
Example:
  SELECT anon_helpers.geometric_loss([0.5, 0.1], [0.5, 0.5]) AS loss;';
COMMENT ON MACRO anon.precision_loss IS 'Precision loss (Prec) of a node: the mean over its quasi-identifiers of level / height. 0 at the bottom, 1
at the top; a taxonomy without levels above the values counts as 0.

Job: loss.
Returns: DOUBLE in [0, 1]. Sweeney''s precision is 1 minus this.
Source: Sweeney 2002, section 4.3; Mazzone 2019, section 4.3.
Example:
  SELECT anon.precision_loss(MAP {''age'': 1, ''sex'': 1}) AS prec;';
COMMENT ON MACRO TABLE anon.dm_star IS 'Discernibility DM* of a source as it is.

Job: loss.
Returns: one row: dm_star HUGEINT.
Example:
  FROM anon.dm_star(''visits'', [''age'', ''sex'']);';
COMMENT ON MACRO TABLE anon.dm IS 'Discernibility DM of a source as it is, if its classes of fewer than k rows were suppressed.

Job: loss.
Returns: one row: dm HUGEINT.
Example:
  FROM anon.dm(''visits'', [''age'', ''sex''], 2);';
COMMENT ON MACRO TABLE anon.classification_metric IS 'Classification metric of a source as it is, if its classes of fewer than k rows were suppressed: the share of rows that
are suppressed, or differ from most of their class in a column.

Job: loss.
Returns: one row: classification_metric DOUBLE.
Source: Iyengar 2002, section 3.2.
Example:
  FROM anon.classification_metric(''visits'', [''age'', ''sex''], ''diagnosis'', 2);';
COMMENT ON MACRO TABLE anon.aecs IS 'Average equivalence class size of a source as it is, over k; the rows of its classes of fewer than k rows are one
class.

Job: loss.
Returns: one row: aecs DOUBLE.
Example:
  FROM anon.aecs(''visits'', [''sex''], 2);';
COMMENT ON MACRO TABLE anon.entropy_loss IS 'Non-uniform entropy loss in bits of a source generalized to a node. Suppression is ignored.

Job: loss.
Returns: one row: entropy DOUBLE.
Example:
  FROM anon.entropy_loss(''visits'', MAP {''age'': 1, ''sex'': 0});';
COMMENT ON MACRO TABLE anon_helpers.class_labels IS 'The labels of every class of a release with the labels of a node: a row per class and quasi-identifier, with the leaves under
the label, and the values of the quasi-identifier. Classes are numbered.

Returns: class BIGINT, class_size BIGINT, attribute VARCHAR, label VARCHAR, leaf_count BIGINT (NULL for a label that the
taxonomy does not have at the level), value_count BIGINT (NULL without a taxonomy).
Example:
  WITH released AS (FROM anon.generalize(''visits'', MAP {''age'': 1, ''sex'': 1}))
  FROM anon_helpers.class_labels(''released'', MAP {''age'': 1, ''sex'': 1}) ORDER BY attribute, label, class_size;';
COMMENT ON MACRO TABLE anon_helpers.charged_entropy_loss IS 'Non-uniform entropy loss in bits of a source generalized to a node, where rows in classes of fewer than k lose all
their information, as if they were generalized to the top. Without such rows it is anon.entropy_loss.

Returns: one row: entropy DOUBLE.
Source: El Emam et al. 2009 for the loss; the charge for suppressed rows is ours.
Example:
  FROM anon_helpers.charged_entropy_loss(''visits'', MAP {''age'': 1, ''sex'': 0}, 2);';
COMMENT ON MACRO TABLE anon_helpers.label_losses IS 'The loss of every label of every class at a node, in LM and in NCP: a row per class of the generalized source and
quasi-identifier. Classes are numbered.

Returns: class BIGINT, class_size BIGINT, attribute VARCHAR, lm_share DOUBLE, ncp_share DOUBLE.
Example:
  FROM anon_helpers.label_losses(''visits'', MAP {''age'': 1, ''sex'': 1}) ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.class_losses IS 'The loss that each row of a class bears at a node: the mean over the quasi-identifiers of the loss of their
labels, in LM and in NCP; a row per class of the generalized source.

Returns: class_size BIGINT, lm_share DOUBLE, ncp_share DOUBLE.
Example:
  FROM anon_helpers.class_losses(''visits'', MAP {''age'': 1, ''sex'': 1}) ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.attribute_losses IS 'The loss of each quasi-identifier at a node, the mean over the rows of the source; rows in classes of fewer than k
lose 1. Combine them with weights by arithmetic_loss or geometric_loss.

Returns: attribute VARCHAR, lm DOUBLE, ncp DOUBLE, both in [0, 1].
Example:
  SELECT anon_helpers.arithmetic_loss(list(lm), list(CASE attribute WHEN ''age'' THEN 0.75 ELSE 0.25 END)) AS weighted_lm
  FROM anon_helpers.attribute_losses(''visits'', MAP {''age'': 1, ''sex'': 0}, 2);';
COMMENT ON MACRO TABLE anon.lm IS 'Loss metric LM of a source generalized to a node; rows in classes of fewer than k lose 1.

Job: loss.
Returns: one row: lm DOUBLE in [0, 1].
Example:
  FROM anon.lm(''visits'', MAP {''age'': 1, ''sex'': 0}, 2);';
COMMENT ON MACRO TABLE anon.ncp IS 'Normalized certainty penalty NCP of a source generalized to a node, divided by the number of
quasi-identifiers; rows in classes of fewer than k lose 1.

Job: loss.
Returns: one row: ncp DOUBLE in [0, 1].
Example:
  FROM anon.ncp(''visits'', MAP {''age'': 1, ''sex'': 0}, 2);';
COMMENT ON MACRO TABLE anon.publisher_payout IS 'What a publisher may expect of each row of a release with the labels of a node, by its class, against an adversary who gains
`gain` from a row that is found, and pays `cost` for an attack on it. A row has the `benefit`, less the information that its
labels lose; if it is found it costs the `loss`.

The sum of class_size * payout is that of the release: rows that were left out have none. Classes with a payout of 0 or
less are not worth to be published.

The logarithms of the leaves under the labels of a class, over the mean logarithm of all values, have the information loss
as their mean.

Job: loss.
Returns: class_size BIGINT, information_loss DOUBLE, missing DOUBLE, what the payout lacks to the benefit, payout DOUBLE.
Source: Wan et al. 2015; ARX, "Publisher payout (prosecutor)".
Example:
  WITH released AS (FROM anon.generalize(''visits'', MAP {''age'': 1, ''sex'': 0}))
  FROM anon.publisher_payout(''released'', MAP {''age'': 1, ''sex'': 0}, 300, 4, 1200, 300);';
COMMENT ON MACRO TABLE anon.geometric_lm IS 'Geometric loss metric of a source generalized to a node: product(1 + L)^(1 / q) - 1 of the losses L of its q
quasi-identifiers; rows in classes of fewer than k lose 1.

Job: loss.
Returns: one row: geometric_lm DOUBLE in [0, 1]; NULL for a table without rows.
Source: ARX, "Loss" with the aggregate function geometric mean.
Example:
  FROM anon.geometric_lm(''visits'', MAP {''age'': 1, ''sex'': 0}, 2);';
COMMENT ON MACRO TABLE anon_helpers.charged_precision_loss IS 'Precision loss of a source generalized to a node: the mean over its rows, where rows in classes of fewer than k lose 1.
Without such rows it is anon.precision_loss.

Returns: one row: prec DOUBLE in [0, 1]; NULL for a table without rows.
Source: Sweeney 2002, section 4.3 for the loss; the charge for suppressed rows is ours.
Example:
  FROM anon_helpers.charged_precision_loss(''visits'', MAP {''age'': 1, ''sex'': 0}, 2);';
COMMENT ON MACRO anon_helpers.weighted_precision_loss IS 'Precision loss of a node in which some quasi-identifiers matter more than others: the mean of level / height with
weights, a MAP from each quasi-identifier of the node to its weight.

Returns: DOUBLE in [0, 1].
Source: Mazzone 2019, section 4.4.
Example:
  SELECT anon_helpers.weighted_precision_loss(MAP {''age'': 1, ''sex'': 1}, MAP {''age'': 3, ''sex'': 1}) AS prec;';
COMMENT ON MACRO anon_helpers.label_code IS 'A label of a quasi-identifier as a number of 128 bits. The code of a class is the bitwise xor of those of its labels, so
that the code of a label is exchanged without a look at the others. MD5 leaves no pattern: sums of plain hashes, which
DuckDB 1.5 combines without mixing them, are the same for (a, b) and (b, a). Two of 10^9 classes have the same code with
a probability below 10^-20.

Returns: UHUGEINT.
Example:
  SELECT anon_helpers.label_code(''sex'', ''f'') <> anon_helpers.label_code(''age'', ''f'') AS differs;';
COMMENT ON MACRO anon_helpers.model_columns IS 'The columns that some models look at; models are a list of structs, see anon.best_nodes_where, or NULL.

Returns: VARCHAR[].
Example:
  SELECT anon_helpers.model_columns([{''model'': ''distinct-l-diversity'', ''column'': ''diagnosis'', ''l'': 2}]) AS columns;';
COMMENT ON MACRO anon_helpers.models_k IS 'The k of some models: the largest that one has, 1 if none has any.

Returns: BIGINT; an error without models, and for one without its column, which every class would meet.
Example:
  SELECT anon_helpers.models_k([{''model'': ''k-anonymity'', ''k'': 5}]) AS k;';
COMMENT ON MACRO TABLE anon_helpers.cell_values IS 'The cells of some columns of a source, which are the rows that agree on all of them: a row a cell and column. NULL is a value.

Returns: cell BIGINT, cell_rows BIGINT, attribute VARCHAR, value VARCHAR.
Example:
  SELECT attribute, value, sum(cell_rows) AS value_rows FROM anon_helpers.cell_values(''visits'', [''age'', ''sex'']) GROUP BY ALL;';
COMMENT ON MACRO anon_helpers.meets_model IS 'Whether a class meets a model, from what node_counts_within measures of the values of its column. Numbers are compared
as by Python: a ratio of whole numbers exactly, another sum with a relative tolerance of 1e-9.

Returns: BOOLEAN; an error for another model, or one without its numbers.
Example:
  SELECT anon_helpers.meets_model(
      {''model'': ''distinct-l-diversity'', ''l'': 2},
      {
          ''size'': 3, ''counts'': [2, 1], ''distinct_diversity'': 2, ''entropy_diversity'': 1.9, ''largest_share'': 0.67, ''distance'': 0.1,
          ''disclosure'': 0.5, ''basic_likeness'': 0.2, ''enhanced_likeness'': 0.2
      }
  ) AS meets;';
COMMENT ON MACRO anon_helpers.allowed_rows IS 'How many of some rows may be suppressed: a share of them, taken as the decimal that it is written as, and rounded down.

Returns: BIGINT; an error for a share that is not from 0 to 1.
Example:
  SELECT anon_helpers.allowed_rows(0.05, 119) AS allowed_rows;';
COMMENT ON MACRO TABLE anon_helpers.node_counts_within IS 'The nodes of a lattice with their classes, counted, and what they lose. Classes are kept that have k rows and meet the
models, if any are given; see anon.best_nodes_where. Every node is counted if the suppression limit is NULL; otherwise nodes
that leave a greater share of the rows in classes of fewer than k may be missing.

How it goes. Rows are read once and counted by cells. The code of a cell is that of its values, see label_code. One
quasi-identifier after the other, that of most values first, gets each of its levels: the code of the label takes the
place of that of the value, and classes with the same code are counted as one. So a class is a sum of classes, which are
far fewer than the rows. The labels alone, without the values of the quasi-identifiers that are left, make larger classes;
where these are too small for too many rows, no levels of the others help, and these levels are given up. A node has a
number, whose digits are its levels. The classes of all levels that were not given up are in memory. The columns of models
take part in the codes, and get no level: at the end a class has a row for each combination of their values.

Returns: as anon.node_counts, with row_count BIGINT, the rows of the source.
Source: Samarati 2001, section 4, for the lattice; LeFevre et al. 2005 (Incognito), subset property, for what is given up.
Example:
  SELECT node, suppressed_rows, lm
  FROM anon_helpers.node_counts_within(''visits'', [''age'', ''sex''], NULL, 2, 0.3) ORDER BY lm, node;';
COMMENT ON MACRO TABLE anon.node_counts IS 'Every node of the lattice of some quasi-identifiers with its classes, counted, and what it loses if its classes of fewer
than k rows are suppressed. Losses are as of anon.lm, anon.ncp, charged_precision_loss without suppression,
anon.entropy_loss, charged_entropy_loss, anon.dm and anon.aecs.

Job: search.
Returns: node MAP(VARCHAR, INTEGER), height INTEGER, class_count BIGINT, kept_class_count BIGINT, suppressed_rows BIGINT,
smallest_class BIGINT, lm DOUBLE, ncp DOUBLE, prec DOUBLE, entropy DOUBLE, charged_entropy DOUBLE, dm HUGEINT, aecs DOUBLE;
no row for a source without rows.
Source: Samarati 2001, section 4; Mazzone 2019, section 4.3.
Example:
  SELECT node, class_count, suppressed_rows, lm FROM anon.node_counts(''visits'', [''age'', ''sex''], 2) ORDER BY lm, node;';
COMMENT ON MACRO TABLE anon_helpers.ranked_nodes IS 'The nodes of node_counts_within that suppress at most a share of the rows, and not all of them, in the order of their
loss; see anon.best_nodes.

Returns: as anon.best_nodes.
Example:
  SELECT rank, node, lm FROM anon_helpers.ranked_nodes(''visits'', [''age'', ''sex''], NULL, 2, 0.25) LIMIT 3;';
COMMENT ON MACRO TABLE anon.best_nodes IS 'The nodes that leave at most a share of the rows of a source in classes of fewer than k, and not all of them; first the
one to publish, which loses least in LM. Nodes of one rank lose the same: they stand in the order of their entropy,
suppressed rows, height and levels.

Job: search.
Returns: rank BIGINT, and the columns of anon.node_counts, in order; no row if no node satisfies.
Source: Iyengar 2002 for LM; El Emam et al. 2009 for entropy as what decides among nodes that lose the same.
Example:
  SELECT rank, node, suppressed_rows, lm FROM anon.best_nodes(''visits'', [''age'', ''sex''], 2, 0.25) LIMIT 3;';
COMMENT ON MACRO TABLE anon.best_nodes_where IS 'The nodes that leave at most a share of the rows of a source in classes that do not meet some models, ranked as by
anon.best_nodes. Models are a list of structs with the names of a policy: k-anonymity with k, and of a column
distinct-l-diversity and entropy-l-diversity with l, recursive-c-l-diversity with c and l, alpha-k-anonymity with alpha and k,
t-closeness with t (all values equally far apart), delta-disclosure with delta, beta-likeness with beta and its variant. The
distributions that the last three compare with are those of the source. NULL is a value.

Job: search.
Returns: as anon.best_nodes.
Source: those of the macros that measure the models, such as anon.distinct_l_diversity.
Example:
  SELECT rank, node, suppressed_rows FROM anon.best_nodes_where(
      ''visits'', [''age'', ''sex''], [{''model'': ''k-anonymity'', ''k'': 2}, {''model'': ''distinct-l-diversity'', ''column'': ''diagnosis'', ''l'': 2}], 0.25
  ) LIMIT 3;';
COMMENT ON MACRO TABLE anon.release IS 'A release of a source: its rows at the best node, without those in classes of fewer than k, in the order of their values.
Identifiers and other columns that recipients must not have are left to the caller: SELECT * EXCLUDE (name, ssn).

Where no node satisfies the limit, it is an error. k-anonymity is all that holds of the release; see anon.best_nodes for
what was chosen, and anon.k_anonymity for what it attains.

Job: release.
Returns: the quasi-identifiers as labels, VARCHAR, and the other columns as they are.
Example:
  SELECT * EXCLUDE (id) FROM anon.release(''visits'', [''age'', ''sex''], 2, 0.25);';
COMMENT ON MACRO TABLE anon.local_recoding IS 'A release of a source by local recoding: every class has labels of its own, so that rare rows coarsen nobody else. Where all
rows stay, it loses a fourth of what anon.release does on the demo''s hospital, and a tenth on Adult with 9 quasi-identifiers.
Labels of several levels stand beside each other: [30, 40) and 34. Identifiers are left to the caller, as by anon.release.
k-anonymity is all that holds of it: whoever knows how it was made learns that the finer classes of a coarse one were small.

How it goes. Nodes are tried in the order of their loss: each takes those of the remaining rows that are in classes of k or
more there. A node is worth a try if it leaves fewer rows in small classes than every node that loses less; of these, and the
top, `rounds` are tried, evenly spaced, the top last. Fewer than k rows remain, and are left out. At the end each class shows,
of each quasi-identifier, the finest level at which its rows have one label; classes of the same labels are one class.

Job: release.
Returns: the quasi-identifiers as labels, VARCHAR, and the other columns as they are; an error for fewer than k rows.
Source: ours; the nodes of ARX''s iterated local recoding (Prasser et al. 2020) without a search for each.
Example:
  SELECT * EXCLUDE (id) FROM anon.local_recoding(''visits'', [''age'', ''sex''], 2, 20);';
COMMENT ON MACRO TABLE anon_helpers.label_values IS 'The values that each label of each taxonomy may stand for, at whatever level a released table shows it. A label that
stands at several levels is read at the highest of them, and * as the whole domain where no level has it.

Returns: attribute VARCHAR, label VARCHAR, value VARCHAR; a row per label and value under it.
Example:
  SELECT label, count(*) AS leaf_count FROM anon_helpers.label_values() WHERE attribute = ''sex'' GROUP BY label ORDER BY label;';
COMMENT ON MACRO anon_helpers.value_without_taxonomy IS 'A label that no value of the taxonomy carries, as the value that it is: NULL, and all that a column without a
taxonomy shows. Any other label that its taxonomy does not have is an error, because its meaning is unknown.

Returns: VARCHAR.
Example:
  SELECT anon_helpers.value_without_taxonomy(''diagnosis'', ''flu'') AS value;';
COMMENT ON MACRO anon.label_share IS 'The probability that a released label stands for a value, if all values under the label are equally likely; see
label_values and value_without_taxonomy. A row meets several conditions with the product of these.

Job: answers.
Returns: DOUBLE in [0, 1].
Source: Lee and Chung 2020, queries Q1 to Q4.
Example:
  SELECT
      anon.label_share(''age'', ''[30, 40)'', 34) AS decade,
      anon.label_share(''diagnosis'', ''flu'', ''flu'') AS kept;';
COMMENT ON MACRO anon_helpers.number_of IS 'A value of a column as a number; an error names the column, never the value.

Returns: DOUBLE; NULL for NULL.
Example:
  SELECT anon_helpers.number_of(''age'', ''34'') AS number;';
COMMENT ON MACRO anon_helpers.label_midpoint IS 'The number halfway between the smallest and the largest number that a released label may stand for; see
label_values and value_without_taxonomy.

Returns: DOUBLE; NULL for a label of nothing but NULL, an error for a value that is not a number.
Example:
  SELECT anon_helpers.label_midpoint(''age'', ''[30, 40)'') AS decade, anon_helpers.label_midpoint(''age'', ''*'') AS domain;';
COMMENT ON MACRO TABLE anon.released_ncp IS 'NCP of a released table by the labels that it shows, the mean over its rows: row policy "published", which counts
counterfeit rows in. A masked row loses 1 in every quasi-identifier; one without a taxonomy is shown as it is and
loses nothing else.

How it goes. The rows are counted by cells; each label that is shown gets its loss once, from the leaves under it, and cells
get the mean of theirs.

Job: loss.
Returns: one row: ncp DOUBLE in [0, 1]; literal_ncp DOUBLE, as printed, which is not divided by the number q of
quasi-identifiers, in [0, q]. Both are NULL for a table without rows.
Source: Lee and Chung 2020, equations 5 and 6.
Example:
  FROM anon.released_ncp(''visits'', [''age'', ''sex'']);';
COMMENT ON MACRO TABLE anon.total_variation IS 'Total variation distance between the distributions of one column in two tables, half of all differences between the
shares of its values. Lee and Chung 2020 call it earth mover''s distance, which it is for values equally far apart.
Row policy: all rows of both tables, masked and counterfeit ones included.

Job: loss.
Returns: one row: total_variation DOUBLE in [0, 1]; NULL if one of the tables has no rows.
Source: Lee and Chung 2020, equation 7.
Example:
  WITH released AS (FROM visits WHERE age IS NOT NULL)
  FROM anon.total_variation(''visits'', ''released'', ''diagnosis'');';
COMMENT ON MACRO TABLE anon_helpers.compared_values IS 'Every class and sensitive value of a released table, with the rows of the original that it was made from. The
original is generalized to the node of the release; its rows belong to the class that has their labels.

In a release with masked rows, original rows whose labels and sensitive value it does not show together are among the
masked ones, and belong to their class. Without masked rows they were dropped, and stay where they were.

How it goes. Both tables are counted together by labels and value; the labels become a list in the order of the node; and rows
of the original that went nowhere go to the class of masked rows, if there is one.

Returns: class VARCHAR[], the labels in the order of the node; sensitive_value VARCHAR; original_rows BIGINT and
released_rows BIGINT, one of them above 0.
Source: Lee and Chung 2020, tables 5 to 8.
Example:
  WITH released AS (FROM anon.generalize(''visits'', MAP {''age'': 2, ''sex'': 1}) WHERE diagnosis = ''flu'')
  FROM anon_helpers.compared_values(''visits'', ''released'', MAP {''age'': 2, ''sex'': 1}, ''diagnosis'') ORDER BY ALL;';
COMMENT ON MACRO anon_helpers.counterfeit_share_of IS 'The share of a class''s released rows that nothing in the original stands for.

Returns: DOUBLE in [0, 1]; NULL for a class that is not released.
Source: Lee and Chung 2020, equation 8.
Example:
  SELECT anon_helpers.counterfeit_share_of(3, 4) AS rate;';
COMMENT ON MACRO TABLE anon_helpers.compared_classes IS 'Every class of compared_values with its sizes, and how far its released sensitive values are from the original
ones: the total variation distance, 1 for a class without original rows, NULL for one that is not released.

Returns: class VARCHAR[], masked BOOLEAN, original_rows BIGINT, released_rows BIGINT, distance DOUBLE and
counterfeit_share DOUBLE, both in [0, 1].
Source: Lee and Chung 2020, equations 7 and 8 for one class.
Example:
  WITH released AS (FROM anon.generalize(''visits'', MAP {''age'': 2, ''sex'': 1}) WHERE diagnosis = ''flu'')
  FROM anon_helpers.compared_classes(''visits'', ''released'', MAP {''age'': 2, ''sex'': 1}, ''diagnosis'') ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.class_changes IS 'What a release with masked, counterfeit or deleted rows does to its classes, see compared_classes: means over
the released classes, each with the same weight.

Returns: one row, all in [0, 1]: class_distance DOUBLE, the mean distance (EMD of classes), NULL if no class is
released; rate DOUBLE, the mean counterfeit share, 0 if no class is released; unmasked_rate DOUBLE, that of all
classes but the masked one; deletion_rate DOUBLE, the share of the original rows that their class lacks, those of
classes that are not released included, NULL for an original without rows.
Source: Lee and Chung 2020, equation 9.
Example:
  WITH released AS (FROM anon.generalize(''visits'', MAP {''age'': 2, ''sex'': 1}) WHERE diagnosis = ''flu'')
  FROM anon_helpers.class_changes(''visits'', ''released'', MAP {''age'': 2, ''sex'': 1}, ''diagnosis'');';
COMMENT ON MACRO TABLE anon.information_loss IS 'Information loss of a release in IPA, the sum of three losses that each have rows of their own: NCP over all released
rows, the total variation distance of the sensitive values over all rows of both tables, and the rate over classes,
the masked one included. It is measured on the true data and must not be part of a differentially private release.

Job: loss.
Returns: one row: ncp, total_variation, rate DOUBLE as in released_ncp, anon.total_variation and
class_changes; information_loss DOUBLE, their sum, in [0, 3]; normalized_information_loss DOUBLE, a third of it;
literal_information_loss DOUBLE, the sum with literal_ncp; utility DOUBLE, 3 - information_loss. NULL where a part is.
Source: Lee and Chung 2020, equations 10 and 11.
Example:
  WITH released AS (FROM anon.generalize(''visits'', MAP {''age'': 2, ''sex'': 1}) WHERE diagnosis = ''flu'')
  FROM anon.information_loss(''visits'', ''released'', MAP {''age'': 2, ''sex'': 1}, ''diagnosis'');';
COMMENT ON MACRO TABLE anon.left_out IS 'Who is left out of a release: the values of a column with their rows in the source and in the release, first the value that
has lost the largest share of its rows. The column is one that the release has as it is.

Job: verify.
Returns: value VARCHAR, source_rows BIGINT, release_rows BIGINT, left_out_share DOUBLE; values of the source alone.
Example:
  WITH released AS (FROM anon.release(''visits'', [''age'', ''sex''], 2, 0.25))
  FROM anon.left_out(''visits'', ''released'', ''diagnosis'');';
COMMENT ON MACRO anon_helpers.mean_of_rows IS 'The mean over the rows of some classes of what a class is the sum of (an aggregate over classes).

Returns: DOUBLE; NULL without rows.
Example:
  SELECT anon_helpers.mean_of_rows(1, class_size) AS average_risk FROM anon.class_sizes(''visits'', [''age'']);';
COMMENT ON MACRO anon_helpers.unique_rows_of IS 'The rows of a class that are alone in it.

Returns: BIGINT, 0 or 1.
Example:
  SELECT sum(anon_helpers.unique_rows_of(class_size)) AS unique_rows FROM anon.class_sizes(''visits'', [''age'']);';
COMMENT ON MACRO TABLE anon.prosecutor_risk IS 'Prosecutor risk: the attacker knows that the person is in the table. The highest risk is 1 over the size of
the smallest class, the average is the mean over rows of 1 / class size.

Job: risk.
Returns: one row: highest_risk DOUBLE, average_risk DOUBLE; NULL for a table without rows.
Source: El Emam 2013, "Guide to the De-Identification of Personal Health Information", chapter 16.
Example:
  FROM anon.prosecutor_risk(''visits'', [''age'', ''sex'']);';
COMMENT ON MACRO TABLE anon_helpers.matched_classes IS 'Every class of the source or the population table with its size in both; a class counts at least as many people in
the population as in the source. Both tables must spell the quasi-identifiers alike; values are compared as text.

Returns: class_size BIGINT, 0 for a class that only the population has; population_size BIGINT, at least 1.
Example:
  FROM anon_helpers.matched_classes(''visits'', [''sex''], ''visits'') ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.population_classes IS 'Every class of the source with its size there and in the population table, see matched_classes.

Returns: class_size BIGINT, population_size BIGINT.
Example:
  FROM anon_helpers.population_classes(''visits'', [''sex''], ''visits'') ORDER BY ALL;';
COMMENT ON MACRO TABLE anon.k_map IS 'k-map attained: the smallest population size of any class of the source, see matched_classes; NULL for a table
without rows. Classes without a row of the source do not count.

Job: privacy.
Returns: one row: k BIGINT.
Source: Sweeney 2001, "Computational Disclosure Control"; El Emam and Dankar 2008.
Example:
  FROM anon.k_map(''visits'', [''sex''], ''visits'');';
COMMENT ON MACRO TABLE anon.delta_presence IS 'delta-presence attained: the smallest and the largest probability that an individual of the population has a row in
the source, which is the share of the individual''s class that does. Individuals whose class has no row of the source
count with 0, as published and as in ARX; NULL if there is nobody in either table.

The source is (delta_min, delta_max)-present if delta_min <= smallest and largest <= delta_max. Of a table whose small
classes were suppressed, smallest_published leaves out the classes without a row, and absent_classes counts them.

Job: privacy.
Returns: one row: smallest DOUBLE, largest DOUBLE, smallest_published DOUBLE, all in [0, 1]; absent_classes BIGINT.
Source: Nergiz et al. 2007, delta-presence.
Example:
  FROM anon.delta_presence(''visits'', [''sex''], ''visits'');';
COMMENT ON MACRO TABLE anon.journalist_risk IS 'Journalist risk: the attacker does not know whether the person is in the table, but has the population that
it was drawn from. The highest risk is 1 over the smallest population size of any published class.

Job: risk.
Returns: one row: highest_risk DOUBLE, average_risk DOUBLE (mean over rows of 1 / population size); NULL for
a table without rows.
Source: El Emam 2013, chapter 16.
Example:
  FROM anon.journalist_risk(''visits'', [''sex''], ''visits'');';
COMMENT ON MACRO TABLE anon.marketer_risk IS 'Marketer risk: the share of the rows that an attacker is expected to match rightly when every row is
matched with a person of the population at random within its class. Give the source itself as population
where there is none.

Job: risk.
Returns: one row: marketer_risk DOUBLE; NULL for a table without rows.
Source: El Emam 2013, chapter 16; Dankar and El Emam 2010.
Example:
  FROM anon.marketer_risk(''visits'', [''sex''], ''visits'');';
COMMENT ON MACRO TABLE anon.sample_uniqueness IS 'Rows that are alone in their class.

Job: risk.
Returns: one row: unique_rows BIGINT, row_count BIGINT, unique_share DOUBLE; the share is NULL for a table
without rows.
Example:
  FROM anon.sample_uniqueness(''visits'', [''age'', ''sex'']);';
COMMENT ON MACRO anon_helpers.distinction_of IS 'The share of the rows of some classes that is left where each class keeps one row.

An aggregate over classes.
Returns: DOUBLE in (0, 1]; NULL without rows.
Source: Motwani and Xu 2008, "Efficient Algorithms for Masking and Finding Quasi-Identifiers", the distinct ratio.
Example:
  SELECT anon_helpers.distinction_of(class_size) AS distinction FROM anon.class_sizes(''visits'', [''age'', ''sex'']);';
COMMENT ON MACRO anon_helpers.separation_of IS 'The share of all pairs of rows of some classes whose two rows are in different classes.

An aggregate over classes. The pairs are counted exactly, so that it is the same in whatever order classes come.
Returns: DOUBLE in [0, 1]; NULL of fewer than two rows, which are no pair.
Source: Motwani and Xu 2008, the separation ratio.
Example:
  SELECT anon_helpers.separation_of(class_size) AS separation FROM anon.class_sizes(''visits'', [''age'', ''sex'']);';
COMMENT ON MACRO TABLE anon.distinction IS 'Distinction of some columns: how close they are to a key. Of the rows, the largest share among which no two agree on all
of the columns. NULL agrees with NULL.

Job: columns.
Returns: one row: distinction DOUBLE in (0, 1], 1 for a key; NULL for a table without rows.
Source: Motwani and Xu 2008, "Efficient Algorithms for Masking and Finding Quasi-Identifiers", the distinct ratio.
Example:
  FROM anon.distinction(''visits'', [''age'', ''sex'']);';
COMMENT ON MACRO TABLE anon.separation IS 'Separation by some columns: the share of all pairs of rows whose two rows differ in one of the columns, at least. NULL
agrees with NULL.

Job: columns.
Returns: one row: separation DOUBLE in [0, 1], 1 for a key; NULL for a table of fewer than two rows.
Source: Motwani and Xu 2008, the separation ratio.
Example:
  FROM anon.separation(''visits'', [''age'', ''sex'']);';
COMMENT ON MACRO TABLE anon.nearly_unique IS 'The columns of a source that single rows out by themselves: how many rows have a value that fewer than k rows have, most
of them first. Such a column is an identifier, or a quasi-identifier that has to be generalized. NULL singles nobody out.

Job: risk.
Returns: column_name VARCHAR, value_count BIGINT (distinct values, without NULL), rare_rows BIGINT, rare_share DOUBLE (of all
rows), one row per column.
Example:
  FROM anon.nearly_unique(''visits'', 2);';
COMMENT ON MACRO anon_helpers.sampling_weight IS 'A row''s weight in a sample: how many people of the population it stands for. A weight that is text, NULL, not finite or not
above 0 is an error, and so is a column that is a key as well.

Returns: DOUBLE above 0.
Example:
  SELECT anon_helpers.sampling_weight(age + 1, ''weight'', [''sex'']) AS weight FROM visits WHERE age IS NOT NULL;';
COMMENT ON MACRO anon_helpers.estimated_size IS 'The people that a class of a sample stands for. That a class stands for fewer people than it has rows is an error.

A difference in the ninth digit is rounding.
Returns: DOUBLE, at least class_size.
Example:
  SELECT anon_helpers.estimated_size(class_size, class_size * 10.0) AS people FROM anon.class_sizes(''visits'', [''sex'']);';
COMMENT ON MACRO anon_helpers.negative_binomial_risk IS 'The mean of 1 / F over the number F of people in a class with class_size rows in the sample, where F is negative binomial
with the chance class_size / population_size: the individual risk of Benedetti and Franconi, exactly.

Below 40 rows and half of the people by parts, from one row upwards; else by Euler''s transform of the hypergeometric
function, whose terms are all positive. Both hold to 13 digits.
Returns: DOUBLE in (0, 1].
Source: Benedetti and Franconi 1998; Polettini 2003; Franconi and Polettini 2004.
Example:
  SELECT anon_helpers.negative_binomial_risk(2, 110.0) AS risk;';
COMMENT ON MACRO anon_helpers.poisson_expansion IS 'The mean of 1 / (f + J), where J is Poisson, by the central moments of J up to the sixth: of the mean''s share in f + mean
and of 1 / (f + mean).

Returns: DOUBLE above 0, to 8 digits where f + mean is 400 or more.
Example:
  SELECT anon_helpers.poisson_expansion(0.9, 1 / 500) AS risk;';
COMMENT ON MACRO anon_helpers.poisson_mean_risk IS 'The mean of 1 / (f + J) over the number J of people of a class who are not in the sample, where f are and J is Poisson.

From 400 people on by poisson_expansion; else by parts, upwards where the mean is at least f, and
downwards where it is less, so that errors shrink at every step.
Returns: DOUBLE in (0, 1].
Source: Bethlehem, Keller and Pannekoek 1990; Skinner and Holmes 1998; Elamir and Skinner 2006.
Example:
  SELECT anon_helpers.poisson_mean_risk(1, 0.5) AS risk;';
COMMENT ON MACRO anon_helpers.checked_share IS 'A share that is given to a macro.

Returns: DOUBLE; an error that names it for what is not a number from 0 to 1.
Example:
  SELECT anon_helpers.checked_share(0.05, ''at_most'') AS at_most;';
COMMENT ON MACRO TABLE anon_helpers.weighted_classes IS 'The classes of a sample, the people that they stand for, and the estimate of their risk by their own weights.

Returns: the keys as they are, anon_class_size BIGINT, anon_population_size DOUBLE; the same as anon_fitting_size and
anon_fitting_people, see fitting_classes; anon_binomial_risk DOUBLE, see anon.individual_risk.
Example:
  FROM anon_helpers.weighted_classes(''visits'', [''sex''], ''id'') ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.texts_of_classes IS 'Classes that were numbered, with the texts of their keys.

Returns: anon_class, anon_class_size and anon_population_size as they are, anon_texts VARCHAR[].
Example:
  WITH classes AS (SELECT sex, zip, id AS anon_class, 1 AS anon_class_size, 9 AS anon_population_size FROM visits)
  FROM anon_helpers.texts_of_classes(''classes'', [''sex'', ''zip'']) ORDER BY ALL;';
COMMENT ON MACRO anon_helpers.blanked IS 'A class by the texts of its keys, with NULL where a pattern has a blank.

Returns: VARCHAR[].
Example:
  SELECT anon_helpers.blanked(string_split(''f 10115'', '' ''), [false, true]) AS texts;';
COMMENT ON MACRO TABLE anon_helpers.patterns_of_blanks IS 'The patterns of blanks of classes: which keys are unknown.

Returns: anon_blanks BOOLEAN[]; one row per pattern. An error for more than 64.
Example:
  WITH cells AS (SELECT [age IS NULL, sex IS NULL] AS anon_blanks FROM visits)
  FROM anon_helpers.patterns_of_blanks(''cells'') ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.fitting_classes IS 'The classes of a sample with the rows that each may equal if NULL fits every value, and the people that these stand for: a
class fits another one if they agree in the keys that are known in both.

How it goes. For each two patterns of NULLs in keys, the classes of both are blanked where one of them has NULL, and joined.

Returns: the columns of weighted_classes, the fitting ones and the risk by the rows that fit. An error for more than 64
patterns.
Source: as freqCalc of sdcMicro counts, with alpha = 1.
Example:
  WITH classes AS (FROM anon_helpers.weighted_classes(''visits'', [''sex'', ''zip''], ''id''))
  FROM anon_helpers.fitting_classes(''classes'', [''sex'', ''zip'']) ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.risk_classes IS 'Classes of a sample with both estimates of their risk: with the people that they would have if the keys were independent,
and how many of these are expected outside of the sample. NULL is a value, or it is left out of the keys that a class is
expected by.

Returns: the columns of weighted_classes, anon_expected_size DOUBLE, anon_unsampled DOUBLE, anon_poisson_risk DOUBLE, see
anon.poisson_risk.
Example:
  WITH classes AS (FROM anon_helpers.weighted_classes(''visits'', [''age'', ''sex''], ''id''))
  FROM anon_helpers.risk_classes(''classes'', [''age'', ''sex''], TRUE) ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.release_risks IS 'Risks of a release in the population of its source, which is given with the labels of the release, the rows included that
were suppressed: the largest ones of its classes, and the means over its rows. A class without a row of the source has a
risk of 1.

Returns: one row: risk DOUBLE, mean_risk DOUBLE (anon.individual_risk), poisson_risk DOUBLE, mean_poisson_risk DOUBLE
(anon.poisson_risk); NULL for a release without rows.
Example:
  FROM anon_helpers.release_risks(''visits'', [''sex''], ''visits'', ''id'');';
COMMENT ON MACRO TABLE anon_helpers.risk_sums IS 'The bracket of classes that were counted, see anon.global_risk.

Returns: the row of anon.global_risk.
Example:
  WITH classes AS (FROM anon_helpers.weighted_classes(''visits'', [''age'', ''sex''], ''id'')),
  risks AS (FROM anon_helpers.risk_classes(''classes'', [''age'', ''sex''], TRUE))
  FROM anon_helpers.risk_sums(''risks'');';
COMMENT ON MACRO TABLE anon.matched_sizes IS 'Sizes of classes where NULL fits every value: how many rows each class may be of, those that agree in the keys that are
known in both. Each row counts the others, so that sizes do not add up to the rows: do not take them for a promise, since
somebody who knows the true values of a person may find fewer rows; see anon.matching_rows.

Job: risk.
Returns: the keys as they are, class_size BIGINT (rows that look the same), matched_size BIGINT; one row per class. An error
for more than 64 patterns of NULLs.
Source: as freqCalc of sdcMicro counts, with alpha = 1; but complete rows count those that are NULL in all keys, too.
Example:
  FROM anon.matched_sizes(''visits'', [''sex'', ''zip'']) ORDER BY ALL;';
COMMENT ON MACRO TABLE anon.individual_risk IS 'Individual risk: the chance that a row of a sample is rightly matched by somebody who knows the keys of everybody in the
population, by class. The class has F people, and the match is right with 1 / F; F is negative binomial given the rows of
the class and the sum of their weights. `sum(class_size * risk)` is the expected number of rows that are found.

Where the truth was known this was below it: a class is judged by its own weights, and rare ones have little. The other
end of the bracket is anon.poisson_risk, see anon.global_risk. Weights that are text, NULL, not finite or not above 0 are
errors, and so are classes that stand for fewer people than they have rows.

Job: risk.
Returns: the keys, class_size BIGINT, population_size DOUBLE (the sum of the weights), risk DOUBLE in (0, 1]; one row per
class.
Source: Benedetti and Franconi 1998; Franconi and Polettini 2004. sdcMicro approximates it in classes of 3 rows and more.
Example:
  WITH survey AS (SELECT *, 20 + id AS weight FROM visits)
  FROM anon.individual_risk(''survey'', [''age'', ''sex''], ''weight'') ORDER BY risk DESC, age ASC;';
COMMENT ON MACRO TABLE anon.poisson_risk IS 'Risk of the rows of a sample where the keys are taken as independent, by class: the people of a class are Poisson with
the mean that the weighted counts of each key''s values give, and those outside of the sample are what is left of it.
`sum(class_size * risk)` is the expected number of rows that are found.

Where the truth was known this was mostly above it. Weights are checked as in anon.individual_risk.

Job: risk.
Returns: the keys, class_size BIGINT, population_size DOUBLE (the sum of the weights), expected_size DOUBLE (people if keys
are independent), risk DOUBLE in (0, 1], population_unique DOUBLE (of a class of one row the chance that nobody else in the
population is in it, else 0); one row per class.
Source: Bethlehem, Keller and Pannekoek 1990; Skinner and Holmes 1998; Elamir and Skinner 2006.
Example:
  WITH survey AS (SELECT *, 20 + id AS weight FROM visits)
  FROM anon.poisson_risk(''survey'', [''age'', ''sex''], ''weight'') ORDER BY risk DESC, age ASC;';
COMMENT ON MACRO TABLE anon.global_risk IS 'Risk of a whole sample in its population, as a bracket: of row_count rows, an attacker who knows the keys of everybody in
the population is expected to find between expected_low and expected_high, the sums of anon.individual_risk and of
anon.poisson_risk over rows, the smaller one first. Both are estimates from the weights; where the truth was known it lay
between them in 32 of 33 cases. They are no bounds. They hold for the keys that you name, and not for one who knows that a
person is in the sample: anon.prosecutor_risk. A wide bracket says that so small a sample cannot answer.

Job: risk.
Returns: one row: row_count BIGINT, class_count BIGINT, population_size DOUBLE (the sum of the weights), unique_rows BIGINT
(alone in their class), expected_low DOUBLE, expected_high DOUBLE (rows found), low_share DOUBLE, high_share DOUBLE (of the
rows), uniques_low DOUBLE, uniques_high DOUBLE (of the unique rows, those that are expected to be unique in the population,
by the same two models). Measures of a table without rows are NULL.
Source: see anon.individual_risk and anon.poisson_risk.
Example:
  WITH survey AS (SELECT *, 20 + id AS weight FROM visits) FROM anon.global_risk(''survey'', [''age'', ''sex''], ''weight'');';
COMMENT ON MACRO TABLE anon.risk_threshold IS 'The greatest risk that rows may have so that a share of them is found at most: recode until no row has more. It is one of
the risks of anon.individual_risk, the greatest with which `sum(least(risk, threshold))` over rows is at most the accepted
number. If that holds of all rows as they are it is the greatest risk of them all, and no row is above it.

Job: risk.
Returns: one row: row_count BIGINT, expected DOUBLE (rows found), accepted DOUBLE (share * rows), threshold DOUBLE (NULL if
every row has too much of a risk), rows_above BIGINT (with more). Measures of a table without rows are NULL.
Source: Franconi and Polettini 2004; sdcMicro has NA where no row is above it, and 0 where there is none.
Example:
  WITH survey AS (SELECT *, 20 + id AS weight FROM visits)
  FROM anon.risk_threshold(''survey'', [''age'', ''sex''], ''weight'', 0.1);';
COMMENT ON MACRO TABLE anon.risky_cells IS 'The classes of a sample whose rows have more than a risk by one estimate at least, with both: what to recode first. Classes
with most rows come first.

Job: risk.
Returns: the keys, class_size BIGINT, population_size DOUBLE (the sum of the weights), risk DOUBLE (of
anon.individual_risk), poisson_risk DOUBLE (of anon.poisson_risk), expected_rows DOUBLE (found by the greater one); one row
per class.
Source: see anon.individual_risk and anon.poisson_risk.
Example:
  WITH survey AS (SELECT *, 20 + id AS weight FROM visits)
  FROM anon.risky_cells(''survey'', [''age'', ''sex''], ''weight'', 0.05);';
COMMENT ON MACRO TABLE anon_helpers.household_members IS 'The rows of a sample, each with its household, its weight, and the number and risk of its class, one of those that were
counted. A household that is NULL is an error.

Returns: anon_household with its column''s type, anon_weight DOUBLE, anon_class BIGINT, anon_binomial_risk DOUBLE.
Example:
  WITH survey AS (SELECT *, id // 2 AS home FROM visits),
  classes AS (SELECT DISTINCT sex, 0.1 AS anon_binomial_risk FROM visits)
  FROM anon_helpers.household_members(''survey'', ''classes'', [''sex''], ''id'', ''home'') ORDER BY ALL;';
COMMENT ON MACRO anon_helpers.risk_of_any IS 'An aggregate over the members of a household: the chance that one of them, at least, is found, if each is independently.

Returns: DOUBLE.
Example:
  SELECT zip, anon_helpers.risk_of_any(1 / (1 + id)) AS risk FROM visits GROUP BY ALL ORDER BY zip ASC;';
COMMENT ON MACRO TABLE anon_helpers.risk_of_households IS 'The risk of all households of a sample, by single members, see anon.household_risk, and by all members together, see
anon.household_key_risk: where weights differ by more than a factor of 2 within a household there is none of the latter.

Returns: one row: household_count BIGINT, households_found DOUBLE, rows_found DOUBLE (by single members), uneven_households
BIGINT (with such weights), unique_households BIGINT, matched_households DOUBLE, matched_rows DOUBLE.
Example:
  WITH members AS (
      SELECT id // 2 AS anon_household, id % 2 AS anon_class, 5.0 AS anon_weight, 0.1 AS anon_binomial_risk FROM visits
  )
  FROM anon_helpers.risk_of_households(''members'');';
COMMENT ON MACRO TABLE anon.household_risk IS 'Risk of the households of a sample: the chance that a member, at least, is rightly matched, where members are found
independently with their anon.individual_risk. `sum(risk)` is the expected number of households that are found, and
`sum(member_count * risk)` that of the rows in them, which sdcMicro prints.

An attacker may know households as a whole, which this leaves out: see anon.household_key_risk. A household that is NULL is
an error; weights are checked as in anon.individual_risk.

Job: risk.
Returns: household with its column''s type, member_count BIGINT (rows), risk DOUBLE in (0, 1]; one row per household.
Source: Franconi and Polettini 2004; equal to the hierarchical risk of sdcMicro but for its approximation.
Example:
  WITH survey AS (SELECT *, 20 + id AS weight, id // 2 AS home FROM visits)
  FROM anon.household_risk(''survey'', [''age'', ''sex''], ''weight'', ''home'') ORDER BY household ASC;';
COMMENT ON MACRO TABLE anon.household_key_risk IS 'Risk of the households of a sample, as a whole: the keys of all members together are one key of a household, whatever the
order of members, and households are matched by it. They are rows of a sample then, with the mean of their members''
weights, and found with their individual risk. anon.household_risk takes each member alone.

A household that is NULL is an error, and so are weights that differ by more than a factor of 2 within a household. Weights
are checked as in anon.individual_risk; a class of households that stands for fewer than it has is a census.

Job: risk.
Returns: one row: household_count BIGINT, unique_households BIGINT (no other household of the sample has these members),
households_found DOUBLE (expected), rows_found DOUBLE (in them). The last two are NULL for a table without rows.
Source: see anon.individual_risk.
Example:
  WITH survey AS (SELECT *, 20 + id AS weight, id // 2 AS home FROM visits)
  FROM anon.household_key_risk(''survey'', [''age'', ''sex''], ''weight'', ''home'');';
COMMENT ON MACRO anon_helpers.is_homogeneous IS 'Whether all rows of a class have one value (an aggregate over its rows). NULL is a value.

Returns: BOOLEAN; true for no rows.
Source: Machanavajjhala et al. 2007, the homogeneity attack.
Example:
  SELECT sex, anon_helpers.is_homogeneous(diagnosis) AS is_homogeneous FROM visits GROUP BY sex;';
COMMENT ON MACRO TABLE anon.homogeneous_rows IS 'The rows of classes in which all rows have one sensitive value, so that their class gives the value away.

Job: risk.
Returns: one row: homogeneous_rows BIGINT, row_count BIGINT.
Source: Machanavajjhala et al. 2007, the homogeneity attack.
Example:
  FROM anon.homogeneous_rows(''visits'', [''age'', ''sex''], ''diagnosis'');';
COMMENT ON MACRO anon_helpers.rare_rows_of IS 'The rows whose value fewer rows have than a number (an aggregate over values, with the rows of each).

Returns: HUGEINT, 0 without any.
Example:
  SELECT anon_helpers.rare_rows_of(class_size, 5) AS rare_rows FROM anon.class_sizes(''visits'', [''zip'']);';
COMMENT ON MACRO TABLE anon.rare_rows IS 'The rows whose combination of values in some columns fewer rows have than a number: who knows these values finds them.

Job: risk.
Returns: one row: rare_rows BIGINT, row_count BIGINT.
Example:
  FROM anon.rare_rows(''visits'', [''age'', ''diagnosis''], 2);';
COMMENT ON MACRO TABLE anon_helpers.dependency IS 'How far one column determines another: it does if no row is undetermined. NULL is a value.

The support separates a dependency from chance: a value that no other row has determines whatever its row has. It is the
second largest, over values of the dependent column, of the rows beyond the first of each determinant: none is repeated
where determinants are unique, or where the dependent column has one value.

pairs: a relation of the pairs of values, each once: determinant, dependent, row_count.
Returns: one row: undetermined_rows BIGINT, those whose determinant has several dependents; support BIGINT; row_count BIGINT.
Source: Codd 1971, functional dependency.
Example:
  WITH pairs AS (SELECT zip AS determinant, sex AS dependent, count(*) AS row_count FROM visits GROUP BY ALL)
  FROM anon_helpers.dependency(''pairs'');';
COMMENT ON MACRO TABLE anon.joint_classes IS 'The persons that two releases show, by their labels in both. Whoever knows the quasi-identifiers of a person at both
times, and links all rows that belong together, is left with the persons of one joint class. A release that shows no
row of a person has NULL for their class, whether it left the row out or there was none. A key that is NULL, or has
several rows of a release, is an error, and so are two releases with rows and no key in common.

Job: privacy.
Returns: first_class STRUCT, second_class STRUCT of the labels in each release, or NULL; person_count BIGINT.
Source: composition attacks (Ganta, Kasiviswanathan and Smith 2008); differences of releases (Byun et al. 2006).
Example:
  WITH spring AS (SELECT id, sex FROM visits), autumn AS (SELECT id, zip FROM visits WHERE id > 3)
  FROM anon.joint_classes(''spring'', ''autumn'', ''id'') ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.joint_sizes IS 'The k of some joint classes, such as those of anon.joint_classes: the fewest persons of one.

Returns: one row: k BIGINT; class_count BIGINT; person_count BIGINT; unique_persons BIGINT, those alone in their joint
class. Without classes, k is NULL.
Example:
  WITH joint AS (FROM anon.joint_classes(''visits'', ''visits'', ''id'')) FROM anon_helpers.joint_sizes(''joint'');';
COMMENT ON MACRO TABLE anon.joint_k IS 'The k of two releases together, see anon.joint_classes and joint_sizes. Three releases are two, once the first two
are one table with the labels of both.

Job: risk.
Returns: one row: k BIGINT; class_count BIGINT; person_count BIGINT; unique_persons BIGINT. k is NULL where neither
release has a row.
Example:
  WITH spring AS (SELECT id, sex FROM visits), autumn AS (SELECT id, zip FROM visits WHERE id > 3)
  FROM anon.joint_k(''spring'', ''autumn'', ''id'');';
COMMENT ON MACRO anon_helpers.set_size IS 'The largest size of the sets of keys that SUDA counts: max_size, or the number of keys if that is NULL or greater.

Returns: INTEGER; an error for a size that is not a whole number from 1, for a key that is listed twice, and for more than
4,096 sets.
Example:
  SELECT anon_helpers.set_size([''age'', ''sex'', ''zip''], 2) AS largest_size;';
COMMENT ON MACRO anon_helpers.set_score IS 'The score of a minimal set of keys: (number of keys - size)!, so that few keys weigh more than many.

Returns: DOUBLE, exact up to 18 keys.
Source: Elliot, Manning and Ford 2002, "A Computational Algorithm for Handling the Special Uniques Problem".
Example:
  SELECT anon_helpers.set_score(4, 1) AS one_of_four_keys;';
COMMENT ON MACRO TABLE anon_helpers.special_rows IS 'The special rows of a source, under names that no key has, see anon.suda.

How it goes. Rows are counted by cells. A value has a number in its key, and a cell''s code holds the numbers of all of its
keys in bits of their own, so that code & bits is what a set of keys shows of the cell. One set after the other groups the
codes; a cell that is alone in its group and has one row is unique in the set. Cells that are unique in the same sets are a
pattern. The sets that are left for a pattern are those that have no unique subset of one key less. A cell without a code is
always alone, and so counts the sets. Where NULL is skipped it is a value all the same, and a cell is unique in no set with it:
cells that have NULL in a key are alike to none that has a value there.

With skip_nulls NULL is in no minimal set, and shields no row from being special; without it NULL is a value.

Returns: the keys as they are, anon_score DOUBLE, anon_least_size INTEGER, anon_minimal_sets VARCHAR[][].
Example:
  SELECT age, anon_score FROM anon_helpers.special_rows(''visits'', [''age'', ''sex''], 2, TRUE) ORDER BY ALL;';
COMMENT ON MACRO TABLE anon.suda IS 'The rows that are special: each is the only one with its values of some keys, and the fewer keys that takes, the higher its
score (SUDA). A set of keys is minimal if only this row has its values, and that is true of none of its subsets. The score
is the sum over minimal sets of (number of keys - size of the set)!. It ranks rows: it is not a probability.

Sets of more than max_size keys are not counted; NULL stands for sets of any size. NULL in a key is a value; where it is
none, as sdcMicro has it, take anon_helpers.special_rows(source, keys, max_size, TRUE).

Job: risk.
Returns: the keys as they are, score DOUBLE, least_size INTEGER (of its minimal sets), minimal_sets VARCHAR[][] (the keys of
each); one row per row of the source with a minimal set. An error for more than 4,096 sets, or more than 125 bits of values.
Source: Elliot, Manning and Ford 2002; Manning, Haglin and Keane 2008, "A recursive search algorithm for statistical
disclosure assessment".
Example:
  FROM anon.suda(''visits'', [''age'', ''sex'', ''diagnosis''], 2) ORDER BY score DESC, age ASC;';
COMMENT ON MACRO TABLE anon_helpers.key_contributions IS 'How much each key adds to the scores of special rows that were found, see anon.suda_contributions.

Returns: attribute VARCHAR, set_count BIGINT, score DOUBLE, contribution DOUBLE; one row per key.
Example:
  WITH special AS (FROM anon_helpers.special_rows(''visits'', [''age'', ''sex''], 2, FALSE))
  FROM anon_helpers.key_contributions(''special'', [''age'', ''sex'']) ORDER BY ALL;';
COMMENT ON MACRO TABLE anon.suda_contributions IS 'How much each key adds to the scores of the special rows, see anon.suda: recode the first one first. The shares of the keys
add up to more than 100, as a minimal set counts for each of its keys.

Job: risk.
Returns: attribute VARCHAR, set_count BIGINT (minimal sets that contain it), score DOUBLE (of these), contribution DOUBLE (in
percent of the score of all); one row per key. Without special rows the contribution is NULL.
Source: Elliot, Manning and Ford 2002.
Example:
  FROM anon.suda_contributions(''visits'', [''age'', ''sex'', ''diagnosis''], 2) ORDER BY contribution DESC;';
COMMENT ON MACRO anon_helpers.odds_by_weights IS 'The people who are not in a sample, for each one who is, by weights of rows that are about equal.

Returns: DOUBLE, 0 or more; NULL if a weight is above three times another one, since chances that differ have no theory.
Example:
  SELECT anon_helpers.odds_by_weights(10, 50.0, 4, 7) AS odds;';
COMMENT ON MACRO TABLE anon_helpers.matches_of_classes IS 'Matches of unique rows of a sample with people, by classes that were counted: how many unique rows somebody outside of the
sample looks like, by its pairs, and the chance that a match is right (DIS), see anon.dis_suda; by the odds that somebody
is not in the sample.

Returns: one row: anon_others DOUBLE, anon_correct_match DOUBLE; NULL if the odds are.
Source: Skinner and Elliot 2002.
Example:
  WITH classes AS (SELECT class_size AS anon_class_size FROM anon.class_sizes(''visits'', [''age'', ''sex'']))
  FROM anon_helpers.matches_of_classes(''classes'', 19.0);';
COMMENT ON MACRO TABLE anon_helpers.odds_in_sample IS 'The people who are not in a sample, for each one who is, by its share in the population or, as text, its column of weights.

Returns: one row: anon_odds DOUBLE; NULL without rows. An error for weights that differ by a factor above 3.
Example:
  WITH survey AS (SELECT *, 20 + id AS weight FROM visits) FROM anon_helpers.odds_in_sample(''survey'', [''age''], ''weight'');';
COMMENT ON MACRO TABLE anon.dis_suda IS 'The special rows of a sample with DIS-SUDA scores: anon.suda, scaled by the chance that somebody who matches a unique row of
the sample with a person of the population is right (DIS). That chance is of the table, an estimate for a sample of equal
chances. Name its share in the population, or the column of its weights, by which it is rows / sum of the weights: that they
differ by a factor above 3 is an error. The scores rank rows and are no probabilities: 1 / (1 + m / (s ** q * S)) of a score
s, where S is the sum of s ** -q over the special rows, q is 1 + (8 - number of keys) / 20, and m is 2 * (1 - share) / share
for each pair of equal rows.

Job: risk.
Returns: the keys as they are, score DOUBLE, dis_score DOUBLE in (0, 1], correct_match DOUBLE in (0, 1] (the chance of the
table, the same in every row); one row per row of anon.suda. An error for a share outside of (0, 1], and for weights as in
anon.individual_risk.
Source: Skinner and Elliot 2002, "A measure of disclosure risk for microdata"; dis_score as sdcMicro 5.8.1 has it.
Example:
  FROM anon.dis_suda(''visits'', [''age'', ''sex'', ''diagnosis''], NULL, 0.05) ORDER BY dis_score DESC, age ASC;';
COMMENT ON MACRO anon_helpers.group_label_of IS 'The group that a value of a column falls into: an interval of this width, or the value itself without one.

Returns: VARCHAR.
Example:
  SELECT anon_helpers.group_label_of(34, 5) AS age_group, anon_helpers.group_label_of(''flu'', NULL) AS diagnosis;';
COMMENT ON MACRO anon_helpers.group_start_of IS 'Where the group of a value of a column starts; NULL without a width, an error for a value that is not a number.

Returns: DOUBLE.
Example:
  SELECT anon_helpers.group_start_of(''age'', 34, 5) AS group_start;';
COMMENT ON MACRO TABLE anon.grouped_counts IS 'COUNT(*) by group, of a table that shows its values.

Values whose types give each a text of its own, and equal ones the same, are counted before they become texts, which takes
a quarter of the time. The type of a column is known to the planner, which leaves out the other branch.

Job: answers.
Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
Source: Lee and Chung 2020, queries Q1 and Q2.
Example:
  FROM anon.grouped_counts(''visits'', ''age'', 5) ORDER BY group_start;';
COMMENT ON MACRO TABLE anon.grouped_averages IS 'AVG(averaged) by group, of a table that shows its values. As in AVG, a NULL to average does not count, and the answer
of a group with nothing else is NULL.

Job: answers.
Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
Source: Lee and Chung 2020, queries Q3 and Q4.
Example:
  FROM anon.grouped_averages(''visits'', ''sex'', NULL, ''age'') ORDER BY group_label;';
COMMENT ON MACRO TABLE anon_helpers.spread_labels IS 'What the labels in a column of a released table may stand for: the values under them, all equally likely; see
label_values and value_without_taxonomy.

Returns: label VARCHAR, value VARCHAR, share DOUBLE in (0, 1]; the shares of a label sum to 1.
Example:
  WITH released AS (FROM anon.generalize(''visits'', MAP {''sex'': 1}))
  FROM anon_helpers.spread_labels(''released'', ''sex'') ORDER BY ALL;';
COMMENT ON MACRO TABLE anon.estimated_counts IS 'COUNT(*) by group as a released table lets it be estimated: every row counts its weight, spread evenly over the
values that its label may stand for. Row policy: all rows of the released table; masked ones spread over the domain.

weight: the column of weights, which are the probabilities that a row meets the conditions of the query (see
label_share), or that it is not a counterfeit. Rows without a weight do not count.
Job: answers.
Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
Source: Lee et al. 2017, query error rate.
Example:
  WITH released AS (
      SELECT age, anon.label_share(''sex'', sex, ''f'') * anon.label_share(''zip'', zip, ''10115'') AS weight
      FROM anon.generalize(''visits'', MAP {''age'': 2, ''sex'': 1, ''zip'': 2})
      WHERE diagnosis = ''flu''
  )
  FROM anon.estimated_counts(''released'', ''age'', 5, ''weight'') ORDER BY group_start;';
COMMENT ON MACRO TABLE anon.estimated_averages IS 'AVG(averaged) by group as a released table lets it be estimated: rows count as in anon.estimated_counts, each with
the midpoint of its label in the averaged column, see label_midpoint. A label of nothing but NULL does not
count, and the answer of a group with nothing else is NULL.

Job: answers.
Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
Source: Lee et al. 2017 and Lee and Chung 2020, queries Q3 and Q4.
Example:
  WITH released AS (SELECT *, 1 AS weight FROM anon.generalize(''visits'', MAP {''age'': 2, ''sex'': 0}))
  FROM anon.estimated_averages(''released'', ''sex'', NULL, ''age'', ''weight'') ORDER BY group_label;';
COMMENT ON MACRO anon_helpers.mean_absolute_error_of IS 'Mean absolute error of answers (an aggregate over groups); NULL without an answer.

Returns: DOUBLE, at least 0, in the unit of the answers.
Example:
  SELECT anon_helpers.mean_absolute_error_of(answer, truth) AS mae FROM (VALUES (3, 2), (0, 1)) AS answers (answer, truth);';
COMMENT ON MACRO anon_helpers.root_mean_square_error_of IS 'Root mean square error of answers (an aggregate over groups); NULL without an answer.

Returns: DOUBLE, at least 0, in the unit of the answers.
Example:
  SELECT anon_helpers.root_mean_square_error_of(answer, truth) AS rmse FROM (VALUES (3, 2), (0, 1)) AS answers (answer, truth);';
COMMENT ON MACRO anon_helpers.mean_relative_error_of IS 'Mean relative error of answers over the groups whose true answer is above 0 (an aggregate over groups); NULL if there
is none.

Returns: DOUBLE, at least 0.
Source: Lee et al. 2017, query error rate.
Example:
  SELECT anon_helpers.mean_relative_error_of(answer, truth) AS error FROM (VALUES (3, 2), (1, 0)) AS answers (answer, truth);';
COMMENT ON MACRO anon_helpers.total_relative_error_of IS 'The sum of the absolute errors over the sum of the true answers (an aggregate over groups); NULL if that is 0.

Returns: DOUBLE, at least 0 where no true answer is negative.
Example:
  SELECT anon_helpers.total_relative_error_of(answer, truth) AS error FROM (VALUES (3, 2), (1, 0)) AS answers (answer, truth);';
COMMENT ON MACRO TABLE anon_helpers.compared_answers IS 'The answers to a query from an original and from its release, next to each other.

missing: the answer for a group that one of them does not have: 0 for counts, NULL for averages.
Returns: group_label VARCHAR, group_start DOUBLE, truth DOUBLE, answer DOUBLE; a row per group of either.
Example:
  WITH truth AS (FROM anon.grouped_counts(''visits'', ''sex'', NULL)),
  answers AS (SELECT ''f'' AS group_label, CAST(NULL AS DOUBLE) AS group_start, 5.0 AS answer)
  FROM anon_helpers.compared_answers(''truth'', ''answers'', 0) ORDER BY group_label;';
COMMENT ON MACRO TABLE anon.answer_errors IS 'How wrong the answers from a release are, see compared_answers. Groups where one of both is NULL are left out of
the errors, and counted.

Job: answers.
Returns: one row: group_count BIGINT, of the groups of either; unanswered_groups BIGINT, with a truth and no answer;
unknown_groups BIGINT, with an answer and no truth; mean_absolute_error, root_mean_square_error, mean_relative_error
and total_relative_error DOUBLE.
Source: Lee et al. 2017, query error rate.
Example:
  WITH truth AS (FROM anon.grouped_counts(''visits'', ''age'', 5)),
  released AS (SELECT *, 1 AS weight FROM anon.generalize(''visits'', MAP {''age'': 2})),
  answers AS (FROM anon.estimated_counts(''released'', ''age'', 5, ''weight''))
  FROM anon.answer_errors(''truth'', ''answers'', 0);';
COMMENT ON MACRO anon_helpers.classes_of_size IS 'The number of classes of a size, by a histogram.

Returns: DOUBLE.
Example:
  SELECT anon_helpers.classes_of_size([1, 2, 6], [20, 8, 2], 2) AS pairs;';
COMMENT ON MACRO anon_helpers.polygammas IS 'The first and second derivatives of ln Γ above 0: ten steps of their recurrences, then their asymptotic series.

Returns: STRUCT(psi DOUBLE, psi_1 DOUBLE), to 14 digits.
Source: Abramowitz and Stegun 1964, 6.3.5, 6.3.18, 6.4.6 and 6.4.12.
Example:
  SELECT anon_helpers.polygammas(1.0) AS minus_euler_and_sixth_of_pi_squared;';
COMMENT ON MACRO anon_helpers.pitman_step IS 'A step of Newton from ratio and alpha to those of Pitman''s model with the greatest likelihood, 0 < alpha < 1 and
ratio > -1, where theta is ratio * alpha. A step across a bound goes half of the way to it.

How it goes. The sums over i = 1, … number of classes - 1 of 1 / (theta + i * alpha), of its square, and of these times i,
are differences of polygammas, and so are those over rows. They give the slopes of the likelihood, and those of the slopes.

Returns: STRUCT(ratio DOUBLE, alpha DOUBLE, moved DOUBLE): moved is by how much the step changes them, near 0 in a solution.
Source: Hoshino 2001.
Example:
  SELECT anon_helpers.pitman_step(2.0, 0.5, [1, 2, 6], [20, 8, 2]) AS fit;';
COMMENT ON MACRO anon_helpers.pitman_fit IS 'Ratio and alpha of Pitman''s model by at most 60 steps from 2 and 1/2, see anon_helpers.pitman_step.

Returns: the struct of the last step.
Example:
  SELECT anon_helpers.pitman_fit([1, 2, 6], [20, 8, 2]) AS fit;';
COMMENT ON MACRO anon_helpers.pitman_uniques IS 'Uniques in the population by Pitman''s model: Γ(theta + 1) / Γ(theta + alpha) * population ** alpha.

Returns: DOUBLE; NULL where the likelihood has no greatest value inside of its bounds.
Source: Hoshino 2001.
Example:
  SELECT anon_helpers.pitman_uniques([1, 2, 6], [20, 8, 2], 1000) AS uniques;';
COMMENT ON MACRO anon_helpers.zayatz_uniques IS 'Uniques in the population by Zayatz: those of the sample, by the chance that one is unique in the population if classes
of the population are as large as those of the sample. A sample has exactly one of a class with a hypergeometric chance.

Returns: DOUBLE.
Source: Zayatz 1991.
Example:
  SELECT anon_helpers.zayatz_uniques([1, 2, 6], [20, 8, 2], 48, 1000.0) AS uniques;';
COMMENT ON MACRO anon_helpers.estimated_class_count IS 'The number of classes of the population, from those of a sample.

Returns: DOUBLE.
Source: Haas and Stokes 1998.
Example:
  SELECT anon_helpers.estimated_class_count([1, 2, 6], [20, 8, 2], 0.1) AS classes;';
COMMENT ON MACRO anon_helpers.snb_shares IS 'The shifted negative binomial of class sizes with these log odds that has as many pairs for each single in a sample as there
are: the shares of the population''s classes that are uniques of it, and singles of the sample. Its shape is a root of a
quadratic equation.

Returns: STRUCT(uniques DOUBLE, singles DOUBLE).
Source: Chen and Keller-McNulty 1998, with the equation of pairs derived anew.
Example:
  SELECT anon_helpers.snb_shares(-1.4, 0.1, 0.3) AS shares;';
COMMENT ON MACRO anon_helpers.snb_uniques IS 'Uniques in the population by the shifted negative binomial of class sizes that has as many singles and pairs in a sample
as there are; the log odds of its chance are halved between -20 and 20.

Returns: DOUBLE; NULL where the sample has no pair, or no distribution fits.
Source: see anon_helpers.snb_shares and estimated_class_count.
Example:
  SELECT anon_helpers.snb_uniques([1, 2, 6], [20, 8, 2], 0.05) AS uniques;';
COMMENT ON MACRO anon_helpers.estimated_uniques IS 'Uniques in the population by the histogram of a sample''s class sizes, see anon.population_uniques. What is not a finite
number of people, or fewer than the sample has rows, is an error, up to rounding.

How it goes. The histogram is taken apart once. A census, and a sample without uniques, have as many as the sample. Else
all three estimates are made, and the rule takes one of them.

Returns: STRUCT(pitman DOUBLE, zayatz DOUBLE, snb DOUBLE, estimate DOUBLE, estimator VARCHAR).
Source: Dankar et al. 2012, and see the three.
Example:
  SELECT anon_helpers.estimated_uniques(MAP {1: 20, 2: 8, 6: 2}, 1000) AS uniques;';
COMMENT ON MACRO anon_helpers.population_uniqueness_of IS 'Uniques in the population as a share of it, by the rule of anon.population_uniques (an aggregate over classes).

Returns: DOUBLE; infinite without an estimate, NULL without rows.
Example:
  SELECT anon_helpers.population_uniqueness_of(class_size, 1000) AS share FROM anon.class_sizes(''visits'', [''age'', ''sex'']);';
COMMENT ON MACRO TABLE anon_helpers.uniques_of_classes IS 'Uniques in the population, by classes of a sample that were counted, see anon.population_uniques.

Returns: the row of anon.population_uniques.
Example:
  WITH classes AS (SELECT class_size AS anon_class_size FROM anon.class_sizes(''visits'', [''age'', ''sex'']))
  FROM anon_helpers.uniques_of_classes(''classes'', 1000);';
COMMENT ON MACRO TABLE anon.population_uniques IS 'Uniques in the population: how many of its people nobody looks like in these keys, by the class sizes of a sample and the
number of people. Three estimates, and one of them by a rule: up to a tenth sampled that of Pitman, else the smaller
of SNB and Zayatz. Where the truth was known the best was off by a factor of 0.7 to 2.8 below a tenth. A population of as
many people as rows is a census, which is exact.

Job: risk.
Returns: one row: row_count BIGINT, class_count BIGINT, unique_rows BIGINT (alone in their class), pitman DOUBLE, zayatz
DOUBLE, snb DOUBLE, estimate DOUBLE (by the rule), estimator VARCHAR: pitman, zayatz, snb or census. An estimate that
cannot be had is NULL, and so are all of a table without rows. Fewer people than rows are an error.
Source: Hoshino 2001 (Pitman); Zayatz 1991; Chen and Keller-McNulty 1998 (SNB); Dankar et al. 2012 (the rule).
Example:
  FROM anon.population_uniques(''visits'', [''age'', ''sex''], 1000);';
COMMENT ON MACRO TABLE anon.matching_rows IS 'How many rows of a release fit the true values of each person of its source, where NULL and * in the release fit every
value and all other labels fit themselves: what somebody finds who knows the keys of a person. `sum(person_count) FILTER
(WHERE matching_rows < 3)` counts the persons whom fewer than three rows fit.

How it goes. Rows of both tables are counted by cells. For each pattern of blanks in the release the keys of persons are
blanked in the same way, and joined with the released cells of that pattern.

Blanks that are counted as if they equalled every value protect fewer: after local suppression to k = 3 every row of a
release may match three rows, while a person fits one. Labels above the values, such as [30, 40), fit nobody here.

Job: risk.
Returns: matching_rows BIGINT, person_count BIGINT (rows of the source); one row per number of matching rows. An error for
more than 64 patterns of blanks.
Source: Samarati 2001, section 4 (a released row fits whom it may be of), for suppressed values.
Example:
  WITH released AS (SELECT * REPLACE (CASE WHEN id > 2 THEN zip END AS zip) FROM visits)
  FROM anon.matching_rows(''visits'', ''released'', [''sex'', ''zip'']) ORDER BY matching_rows ASC;';
COMMENT ON MACRO TABLE anon_helpers.keyed_rows IS 'The rows of a parent with their keys and labels, if each row has a key of its own.

Returns: the columns of the parent, anon_key (the key), anon_label STRUCT; an error for a key that is NULL or in several rows.
Example:
  SELECT id, anon_key, anon_label FROM anon_helpers.keyed_rows(''visits'', ''id'', [''age'', ''sex'']) ORDER BY id ASC;';
COMMENT ON MACRO TABLE anon_helpers.referring_rows IS 'The rows of a child with their labels, by the key of the row that they belong to.

Returns: anon_key (the key), anon_label STRUCT.
Example:
  FROM anon_helpers.referring_rows(''visits'', ''sex'', [''age'']) ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.joined_rows IS 'Rows of a parent beside what is below them, by the texts of their keys: all are text, or values of other types.

Returns: the columns of the parents, and those of what is below but anon_key, NULL for a parent without rows; an error for keys
that are text in one table alone. NULL is the type of a child without rows.
Example:
  WITH people AS (FROM anon_helpers.keyed_rows(''visits'', ''id'', [''sex''])), below AS (SELECT 1 AS anon_key, 2 AS rows)
  SELECT anon_key, rows FROM anon_helpers.joined_rows(''people'', ''below'') ORDER BY anon_key ASC;';
COMMENT ON MACRO TABLE anon.trees IS 'The rows of a parent, each with its tree: its labels, and those of all of its rows in a child, in an order that says nothing.
Rows with equal trees look alike to somebody who knows all of these labels, and which rows belong together.

A tree is a label, too: of a child whose rows have children, ''tree'' stands for the labels of a row and of all below it.

Job: classes.
Returns: the columns of the parent, tree STRUCT (its labels, and the sorted list of its rows'' labels); one row per row of the
parent. A tree that the parent had goes. An error for a key of the parent that is NULL or in several rows, and for keys that
are text in one table alone.
Source: Nergiz, Clifton and Nergiz 2009, "Multirelational k-Anonymity".
Example:
  WITH people AS (SELECT DISTINCT sex FROM visits WHERE sex IS NOT NULL)
  FROM anon.trees(''people'', ''sex'', [''sex''], ''visits'', ''sex'', [''diagnosis'']) ORDER BY sex ASC;';
COMMENT ON MACRO TABLE anon_helpers.numbered_rows IS 'Rows with a number for their labels, so that these are compared once.

Returns: the columns of the rows, anon_number BIGINT.
Example:
  WITH labelled AS (FROM anon_helpers.referring_rows(''visits'', ''id'', [''sex''])) FROM anon_helpers.numbered_rows(''labelled'') ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.linked_rows IS 'The rows of persons, by their labels.

Returns: anon_person (the key), anon_class BIGINT (a number for the labels of the person), anon_label BIGINT (one for those of
the rows), anon_rows BIGINT (how many, at least 1), anon_first BIGINT and anon_last BIGINT (as anon_helpers.known_patterns takes
them: rows that are alike are counted from the number of their label on). A person without rows has the label NULL and 0 rows.
Errors as in anon.trees.
Example:
  WITH people AS (SELECT DISTINCT sex, length(sex) AS size FROM visits WHERE sex IS NOT NULL)
  SELECT anon_person, anon_rows FROM anon_helpers.linked_rows(''people'', ''sex'', [''size''], ''visits'', ''sex'', [''diagnosis''])
  ORDER BY ALL;';
COMMENT ON MACRO TABLE anon.linked_k IS 'How anonymous the trees of linked tables are: somebody who knows all labels of a person in both tables, and how many rows
the person has, is left with at least k persons. Rows count in any order. anon.trees adds the labels of further tables.

How it goes. The rows of a person are compared by the sum of their hashes: for a million persons, chances are 1 in 10^7 that
two of them look alike who do not. DuckDB''s hash of 0 is 0, so each label is hashed with another value, or it would not count.

Job: privacy.
Returns: one row: k BIGINT (persons of the smallest class), class_count BIGINT, person_count BIGINT, unique_persons BIGINT
(alone in their class). Without persons k is NULL. Errors as in anon.trees.
Source: Nergiz, Clifton and Nergiz 2009, "Multirelational k-Anonymity".
Example:
  WITH people AS (SELECT DISTINCT sex FROM visits WHERE sex IS NOT NULL)
  FROM anon.linked_k(''people'', ''sex'', [''sex''], ''visits'', ''sex'', [''diagnosis'']);';
COMMENT ON MACRO TABLE anon_helpers.known_patterns IS 'What somebody may know of persons and up to m of the rows below them, and how many persons it fits.

How it goes. A fact is a row with the rows above it. Two facts meet at the last row above both: a person, or a visit of two
diagnoses. They hang from it by two rows, not by one, which is known, too: that two diagnoses are of one visit, or of two. So
facts are listed once for each row above them (anon_above, at a depth from 0, the person), with the least and the greatest row
below that one by which facts with their labels hang from it (anon_first, anon_last; the fact itself, or a row above it).
Labels of different depths are different, and so are rows of different tables.

Returns: known_rows INTEGER, k BIGINT, pattern_count BIGINT, unique_patterns BIGINT, persons_below BIGINT, unique_persons BIGINT,
as anon.known_rows.
Example:
  WITH persons AS (SELECT 1 AS anon_person, 1 AS anon_class), facts AS (
      SELECT 1 AS anon_person, 1 AS anon_class, 0 AS anon_depth, 1 AS anon_above, 1 AS anon_label, 1 AS anon_first, 2 AS anon_last)
  FROM anon_helpers.known_patterns(''persons'', ''facts'', 2, 5) ORDER BY known_rows ASC;';
COMMENT ON MACRO TABLE anon.known_rows IS 'How anonymous linked tables are for somebody who knows the labels of a person, and those of up to m of the person''s rows:
at least k persons have them, too. A pattern is what somebody may know: the labels of a person and of 0, 1 or 2 rows that
some person has; two rows may have equal labels. That a person has no other rows, and how many, is not known.

How it goes. Two known rows are two labels of a person''s rows, or one label of two. m is 0, 1 or 2; two take several times as
long. The argument k is the number of persons that there should be: it is for persons_below alone.

Job: privacy.
Returns: known_rows INTEGER, k BIGINT (persons who have the rarest pattern), pattern_count BIGINT, unique_patterns BIGINT (of
one person), persons_below BIGINT (persons who have a pattern of fewer than k persons), unique_persons BIGINT (persons who have
one that nobody else has); one row for each number of known rows up to m for which there is a pattern. Errors as in anon.trees.
Source: Terrovitis, Mamoulis and Kalnis 2008, "Privacy-preserving anonymization of set-valued data" (k^m-anonymity).
Example:
  WITH people AS (SELECT DISTINCT sex FROM visits WHERE sex IS NOT NULL)
  FROM anon.known_rows(''people'', ''sex'', [''sex''], ''visits'', ''sex'', [''diagnosis''], 2, 5) ORDER BY known_rows ASC;';
COMMENT ON MACRO TABLE anon.known_rows_left_out IS 'What linked tables have to leave out, so that somebody who knows the labels of a person and of one of the person''s rows is
left with at least k persons: all persons of classes of fewer than k, and in other classes the rows of each label that fewer
than k persons of the class have. That is the least.

Job: privacy.
Returns: one row: person_count BIGINT, row_count BIGINT, persons_left_out BIGINT, rows_left_out BIGINT (of these persons and
of the others). Errors as in anon.trees.
Source: Terrovitis, Mamoulis and Kalnis 2008, with rows left out by classes of persons.
Example:
  WITH people AS (SELECT DISTINCT sex FROM visits WHERE sex IS NOT NULL)
  FROM anon.known_rows_left_out(''people'', ''sex'', [''sex''], ''visits'', ''sex'', [''diagnosis''], 2);';
COMMENT ON MACRO TABLE anon.broken_keys IS 'The keys by which the rows of a child refer to a parent, and those that refer to nobody.

Job: columns.
Returns: one row: row_count BIGINT (of the child), null_keys BIGINT (rows without a key), orphans BIGINT (rows whose key no
row of the parent has), repeated_keys BIGINT (of the parent, in several rows), unused_keys BIGINT (of the parent, without a
row), most_rows BIGINT (of one key).
Example:
  WITH people AS (SELECT DISTINCT sex FROM visits)
  FROM anon.broken_keys(''people'', ''sex'', ''visits'', ''sex'');';
COMMENT ON MACRO TABLE anon_helpers.knowledge_states IS 'Every state of knowledge that has a positive probability under a prior, MAP {''column'': probability that it is known}:
which columns are known, in the order of the prior, and how probable that is.

Returns: state BIGINT, known VARCHAR[], probability DOUBLE in (0, 1]. More than 12 columns are an error, since every
column doubles the states, and so is a probability outside [0, 1].
Source: Mazzone 2019, section 5.2.
Example:
  FROM anon_helpers.knowledge_states(MAP {''diagnosis'': 0.05, ''zip'': 0.01}) ORDER BY state;';
COMMENT ON MACRO TABLE anon_helpers.record_risks IS 'The risk of each record class under column names that cannot clash with the columns''; see concealing_exposure.

How it goes. Records are counted; in each state of knowledge, those that look alike to an attacker are candidates for each
other; and the risks of a record are summed over the states.

Returns: the quasi-identifiers, the secret columns, anon_row_count BIGINT, anon_m DOUBLE, anon_worst_state VARCHAR[],
anon_worst_risk DOUBLE.
Example:
  FROM anon_helpers.record_risks(''visits'', [''sex''], MAP {''diagnosis'': 0.05}) ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.concealing_exposure IS 'The risk of each record class, that is of the rows that agree on the quasi-identifiers and on the secret columns of a
prior, MAP {''column'': probability that it is known}. m is the expected success of guessing uniformly among the rows
that agree with what is known. Since an average hides a certain hit in an unlikely state, the worst state is shown
beside it: of those with the highest risk the one that takes the fewest columns, the earliest in the prior.

Returns: the quasi-identifiers, the secret columns, row_count BIGINT, m DOUBLE, worst_state VARCHAR[], the columns
known in it, and worst_risk DOUBLE, the risk in it. NULL is a value. At most 12 secret columns, at least one.
Source: Mazzone 2019, section 5.2, for an inclusion probability of 1.
Example:
  FROM anon_helpers.concealing_exposure(''visits'', [''sex''], MAP {''diagnosis'': 0.05}) ORDER BY m DESC;';
COMMENT ON MACRO TABLE anon.m_concealing IS 'm-concealing attained: the highest risk of any row, see concealing_exposure; NULL for a table without rows. With
probabilities of 0 it is 1 / k of k-anonymity, and generalization never raises it. Correlated and partial leaks are
outside the model.

Job: privacy.
Returns: one row: m DOUBLE in (0, 1], inverse_m DOUBLE, which is 1 / m.
Source: Mazzone 2019, section 5.2, for an inclusion probability of 1.
Example:
  FROM anon.m_concealing(''visits'', [''sex''], MAP {''diagnosis'': 0.05});';
COMMENT ON MACRO TABLE anon_helpers.numbers_of_rows IS 'The numbers of each row, in the order of the names in lower case, and one more column of it, without which there is 1. Values
that are not numbers are an error.

Returns: anon_is_source as it is given; anon_kept as the column is; anon_numbers DOUBLE[].
Example:
  FROM anon_helpers.numbers_of_rows(''visits'', [''id'', ''age''], ''sex'', TRUE) ORDER BY ALL;';
COMMENT ON MACRO anon_helpers.name_at IS 'The column at a place in numbers_of_rows, as the caller wrote it.

Returns: VARCHAR.
Example:
  SELECT anon_helpers.name_at(1, [''sex'', ''Age'']) AS name;';
COMMENT ON MACRO TABLE anon_helpers.paired_numbers IS 'The rows that two tables share by a key, with their numbers in both. A key that is NULL, or has several rows of a table, is an
error, and so are two tables with rows and no key in common.

Returns: anon_was and anon_is, the numbers of a row as numbers_of_rows has them.
Example:
  FROM anon_helpers.paired_numbers(''visits'', ''visits'', ''id'', [''age'']) ORDER BY ALL;';
COMMENT ON MACRO TABLE anon.numeric_loss IS 'How far the numbers of a release are from those of its source, row by row, by column and in all. Rows are joined by a key,
which is compared as text; rows of one table alone are left out.

IL1s adds up |x - x''| / (sqrt(2) S), where S is the standard deviation of the source; SSE / SST is the share of the variation
that is lost. Cells count whose values are both known, and S is theirs; a column without variation has no loss.

A row is close where every value is within 0.05 S of the source''s, or NULL in both. That is a risk: somebody who knows the
numbers of a person may recognize the row.

How it goes. Deviations come first, then each row is judged by them, and its cells are added up by column and in all.

Job: loss.
Returns: column_name VARCHAR, NULL in the row for all columns, which is last; cell_count BIGINT (known in both); il1s DOUBLE;
il1s_per_cell DOUBLE; sse_over_sst DOUBLE; close_share DOUBLE in [0, 1]. Without rows in both there is the last row alone, with
measures that are NULL. A key that is NULL or not unique, and a value that is not a number, are errors.
Source: Yancey, Winkler and Creecy 2002 (IL1s); Domingo-Ferrer and Mateo-Sanz 2002 (SSE / SST). As dUtility and dRisk of
sdcMicro.
Example:
  WITH released AS (SELECT id, age // 5 * 5 + 2 AS age FROM visits)
  FROM anon.numeric_loss(''visits'', ''released'', ''id'', [''age'']);';
COMMENT ON MACRO TABLE anon.moment_changes IS 'What became of the means, totals, variances and correlations of numbers, each difference also in standard errors of the
source: how much of it may be the chance of a sample of this size. All are weighted; without a weight, NULL is given in its
place. NULL is left out, and from a correlation rows without one of the two values.

The errors are those of a simple sample of (sum of w)^2 / (sum of w^2) rows, the number of people is taken as known, and
correlations as those of normal distributions.

How it goes. Each row gives its numbers by twos, also with themselves; these are many, and are never kept. Means of the twos
come first, then sums of powers of the differences from them, from which all measures and their errors follow.

Job: loss.
Returns: statistic VARCHAR (correlation, mean, total or variance), column_name VARCHAR, other_column VARCHAR (of a
correlation), source_value DOUBLE, release_value DOUBLE, difference DOUBLE, standard_errors DOUBLE, the difference in these;
NULL where something cannot be had, as of a column without variation.
Source: Kish 1965 (errors with weights).
Example:
  WITH released AS (SELECT id, age // 5 * 5 + 2 AS age FROM visits)
  FROM anon.moment_changes(''visits'', ''released'', [''id'', ''age''], NULL);';
COMMENT ON MACRO TABLE anon.table_changes IS 'How far the table of some columns is from that of the source: the cells that either of them has, by their rows or the sum of
their weights. Without a weight, NULL is given in its place. NULL in a column is a value, and labels are compared as text.

Job: loss.
Returns: one row: cell_count BIGINT; mean_difference DOUBLE and greatest_difference DOUBLE, of rows or weights; hellinger
DOUBLE and total_variation DOUBLE in [0, 1], of shares; emptied_cells BIGINT, which the release lacks; filled_cells BIGINT,
which the source lacks. Distances from a table without rows are NULL.
Source: infoLoss of sdcMicro; Hellinger 1909.
Example:
  WITH released AS (SELECT CASE WHEN id > 2 THEN sex END AS sex, diagnosis FROM visits)
  FROM anon.table_changes(''visits'', ''released'', [''sex'', ''diagnosis''], NULL);';
COMMENT ON MACRO TABLE anon_helpers.pram_values IS 'The values of a column with their shares, for a matrix. NULL is left out: it stays NULL in a release.

Returns: anon_stratum INTEGER (1: all rows), anon_value VARCHAR, anon_share DOUBLE, anon_values BIGINT (how many there are). An
error for one value, and for more than 1,000.
Example:
  FROM anon_helpers.pram_values(''visits'', ''diagnosis'') ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.one_step_matrices IS 'The matrix of PRAM for each stratum of a table of shares like that of pram_values; see anon.pram_matrix.

Returns: anon_stratum and anon_value as they are, anon_shown like anon_value, anon_probability DOUBLE.
Example:
  WITH shares AS (FROM anon_helpers.pram_values(''visits'', ''diagnosis''))
  FROM anon_helpers.one_step_matrices(''shares'', 0.2, ''invariant'') ORDER BY ALL;';
COMMENT ON MACRO TABLE anon.pram_matrix IS 'The matrix of PRAM for a column: the probability with which each value is shown as each other one. For strata, take the rows of
one stratum.

plain: a value changes with the probability `change`, to any other alike. Such a matrix has nothing of the rows but the values,
and anon.pram_estimate recovers the counts. invariant: with this probability a value is drawn anew from the column, so that
expected counts stay. Such a matrix has the exact shares of the values in it: publish it for many rows only.

Job: release.
Returns: value VARCHAR, shown_value VARCHAR, probability DOUBLE; a row for each two values. An error for a column that has one
value, or more than 1,000, for a change that is not above 0 and below 1, and for another form. NULL is left out.
Source: Gouweleeuw, Kooiman, Willenborg and De Wolf 1998.
Example:
  FROM anon.pram_matrix(''visits'', ''diagnosis'', 0.2, ''invariant'') ORDER BY ALL;';
COMMENT ON MACRO TABLE anon_helpers.two_step_matrices IS 'The invariant matrix of PRAM in two steps, as sdcMicro makes it: a value is kept with a probability of its own, else it becomes
any other alike (P); then it becomes one of the values that it may have been (Q). The matrix is alpha PQ + (1 - alpha) I. A
value may stay far less often than it is kept in the first step.

Beside its diagonal a row of P is one number, so that no sum over values is needed for PQ. The shares are those of
one_step_matrices, with the probability of each value to be kept, anon_keep.

Returns: the rows of one_step_matrices. An error for a value without a probability.
Source: Gouweleeuw, Kooiman, Willenborg and De Wolf 1998; as pram of sdcMicro.
Example:
  WITH shares AS (SELECT *, 0.8 AS anon_keep FROM anon_helpers.pram_values(''visits'', ''diagnosis''))
  FROM anon_helpers.two_step_matrices(''shares'', 0.5) ORDER BY ALL;';
COMMENT ON MACRO anon_helpers.gauss_step IS 'A step of Gauss and Jordan: of the first rows, which are not done, the one with the largest first number is divided by it,
taken from the others as often as their first numbers say, and put last. The first numbers are gone then.

Returns: DOUBLE[][]; an error where all of them are 0, up to rounding.
Example:
  SELECT anon_helpers.gauss_step([[0.5, 0.5, 1.0, 0.0], [0.2, 0.8, 0.0, 1.0]], 2) AS matrix;';
COMMENT ON MACRO anon_helpers.inverse_of IS 'The inverse of a square matrix.

Returns: DOUBLE[][]; an error for a singular matrix.
Example:
  SELECT anon_helpers.inverse_of([[0.5, 0.5], [0.2, 0.8]]) AS inverse;';
COMMENT ON MACRO TABLE anon.pram_estimate IS 'How often each value stood in a column before PRAM, by what a release shows and the matrix: estimates without bias, with their
standard errors. Those of rare values are large. For strata, take the rows and the matrix of one stratum.

The matrix is a table like that of anon.pram_matrix; two values that it lacks have the probability 0. NULL is left out, unless
it is a value of the matrix.

How it goes. Plain and invariant matrices have one number in each column beside the diagonal, and a known inverse. Others are
inverted, up to 100 values.

Job: answers.
Returns: value VARCHAR, shown_count BIGINT, estimated_count DOUBLE (below 0 for some rare values), standard_error DOUBLE. An error
for a singular matrix, for one whose probabilities are not from 0 to 1 and add up to 1 for each value, for another matrix
of more than 100 values, and for a value that the matrix lacks.
Source: Kooiman, Willenborg and Gouweleeuw 1997.
Example:
  WITH matrix AS (FROM anon.pram_matrix(''visits'', ''diagnosis'', 0.2, ''plain''))
  FROM anon.pram_estimate(''visits'', ''diagnosis'', ''matrix'');';
COMMENT ON MACRO anon_helpers.missing_rows IS 'How many counterfeits a class needs to have k rows.

Returns: the type of class_size; 0 for a class that is large enough.
Source: Lee et al. 2017, algorithm 1.
Example:
  SELECT sum(anon_helpers.missing_rows(class_size, 4)) AS counterfeits FROM anon.class_sizes(''visits'', [''age'', ''sex'']);';
COMMENT ON MACRO anon_helpers.backed_off IS 'The share of rows with a value, as expected from few rows and from what was expected before these were seen.

value_rows, row_count: how many rows have the value, of how many; prior: the share as expected before, which weighs
as much as prior_rows rows.
Returns: DOUBLE in [0, 1].
Source: MacKay and Peto 1995, a hierarchical Dirichlet model: with the prior of one more label, and that of another.
Example:
  SELECT anon_helpers.backed_off(3, 10, 0.25, 10) AS share;';
COMMENT ON MACRO anon_helpers.reconstruction_error IS 'Reconstruction error of a value that is published as one of `leaf_count` equally likely values, in a row that is real
with a probability of `truth`: the squared distance between what is known of the value and the value itself.

Returns: DOUBLE in [0, 1]; 0 for a value that is published as it is in a row that is known to be real.
Source: Lee et al. 2017, equation of RCE, for discrete values.
Example:
  SELECT anon_helpers.reconstruction_error(3, 0.75) AS error;';
COMMENT ON MACRO TABLE anon.reconstruction_errors IS 'Reconstruction error RCE of the rows of an original in a release that was generalized to a node, over its
quasi-identifiers and its sensitive value. Row policy "real": a sum over original rows. Counterfeits cost nothing
without a catalog, so report their number beside it.

An original row whose labels and sensitive value the release does not show together is lost: each of its
quasi-identifiers may be any value of the domain, and so may its sensitive value, unless the release has masked rows,
which show it. Rows that were moved into another class count as lost, too.

How it goes. Both tables are counted together by labels, value and truth; each label becomes a row with the leaves under it;
the errors of the labels of a cell are summed; and cells are weighed by their rows of the original.

truth: the column of the release with the probability that a row is true: anon_truth of anon.row_truths, or 1
without a catalog. A row where it is NULL is not true.
Job: answers.
Returns: one row: rce DOUBLE in [0, 1], the mean over rows and attributes; total_rce DOUBLE, the sum; joint_rce
DOUBLE in [0, 1], the mean over rows with all attributes taken as one, whose values are their combinations; lost_rows
BIGINT. The means are NULL for an original without rows.
Source: Lee et al. 2017, equation of RCE, for discrete values.
Example:
  WITH released AS (SELECT *, 1 AS truth FROM anon.generalize(''visits'', MAP {''age'': 2, ''sex'': 1}))
  FROM anon.reconstruction_errors(''visits'', ''released'', MAP {''age'': 2, ''sex'': 1}, ''diagnosis'', ''truth'');';
COMMENT ON MACRO TABLE anon_helpers.catalog_values IS 'The entries of a catalog, by class and sensitive value. A catalog that does not fit the release is an error: it counts
more counterfeits than there are rows of their value, or has a value of a class in two groups.

Returns: class_ids BIGINT[], the group; class_id BIGINT, sensitive_value VARCHAR; class_rows BIGINT and group_rows
BIGINT, how many rows of the class and of its group have the value; counterfeits BIGINT, how many of the group''s were
invented.
Source: Lee et al. 2017, definition 3.
Example:
  WITH released AS (FROM (VALUES (1, ''f'', ''flu''), (1, ''f'', ''gout''), (2, ''m'', ''flu'')) AS rows (class_id, sex, ill)),
  catalog AS (SELECT [1, 2] AS class_ids, ''flu'' AS ill, 1 AS counterfeits)
  FROM anon_helpers.catalog_values(''released'', ''catalog'', ''ill'') ORDER BY class_id;';
COMMENT ON MACRO anon_helpers.row_truth IS 'Probability that a row is true, if all rows of its value in its group are equally likely to be those that were invented.

counterfeits, row_count: how many rows of the value were invented in the group, NULL without a row of the catalog, and
how many there are.
Returns: DOUBLE in [0, 1]; 1 for a row that no catalog speaks of.
Source: Lee et al. 2017, on RCE with a catalog.
Example:
  SELECT anon_helpers.row_truth(1, 4) AS truth;';
COMMENT ON MACRO TABLE anon.row_truths IS 'The rows of a release, each with the probability that it is true, anon_truth: see row_truth, and
catalog_values for the errors. It is a weight for anon.estimated_counts and anon.estimated_averages; to ask about
some rows only, take them from here.

Job: answers.
Returns: the columns of the release, anon_truth DOUBLE in [0, 1], 1 for a row that the catalog does not speak of.
Source: Lee et al. 2017, on RCE with a catalog.
Example:
  WITH released AS (FROM (VALUES (1, ''f'', ''flu''), (1, ''f'', ''gout''), (2, ''m'', ''flu'')) AS rows (class_id, sex, ill)),
  catalog AS (SELECT [1, 2] AS class_ids, ''flu'' AS ill, 1 AS counterfeits),
  weighted AS (FROM anon.row_truths(''released'', ''catalog'', ''ill'') WHERE ill = ''flu'')
  FROM anon.estimated_counts(''weighted'', ''sex'', NULL, ''anon_truth'') ORDER BY group_label;';
COMMENT ON MACRO TABLE anon.class_truths IS 'The rows of a release, each with the probability that it is true, anon_truth, by a catalog of counts: without values,
all rows of the classes of a group are equally likely to be those that were invented. It is a weight for
anon.estimated_counts and anon.estimated_averages. A catalog that cannot be that of the release is an error: it has
more counterfeits than its classes have rows.

Job: answers.
Returns: the columns of the release, anon_truth DOUBLE in [0, 1], 1 for a row that the catalog does not speak of.
Source: Lee et al. 2017, on RCE with a catalog, for all values alike.
Example:
  WITH released AS (FROM (VALUES (1, ''f'', ''flu''), (1, ''f'', ''gout''), (2, ''m'', ''flu'')) AS rows (class_id, sex, ill)),
  catalog AS (SELECT [1] AS class_ids, 1 AS counterfeits),
  weighted AS (FROM anon.class_truths(''released'', ''catalog''))
  FROM anon.estimated_counts(''weighted'', ''ill'', NULL, ''anon_truth'') ORDER BY group_label;';
COMMENT ON MACRO TABLE anon.corrected_counts IS 'COUNT(*) by group of a release with counterfeits, corrected by its catalog: see anon.estimated_counts, with
anon.row_truths for weights. Of rows of one class and value nobody knows which were invented, so that a count within
a group of classes is an expectation; one of all rows of a value is exact.

Job: answers.
Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
Source: Lee et al. 2017, query error rate.
Example:
  WITH released AS (FROM (VALUES (1, ''f'', ''flu''), (1, ''f'', ''gout''), (2, ''m'', ''flu'')) AS rows (class_id, sex, ill)),
  catalog AS (SELECT [1, 2] AS class_ids, ''flu'' AS ill, 1 AS counterfeits)
  FROM anon.corrected_counts(''released'', ''catalog'', ''ill'', ''ill'', NULL) ORDER BY group_label;';
COMMENT ON MACRO TABLE anon.corrected_averages IS 'AVG(averaged) by group of a release with counterfeits, corrected by its catalog: see anon.estimated_averages, with
anon.row_truths for weights.

Job: answers.
Returns: group_label VARCHAR, group_start DOUBLE, answer DOUBLE.
Source: Lee et al. 2017, queries Q3 and Q4.
Example:
  WITH released AS (FROM (VALUES (1, ''*'', ''flu''), (1, ''*'', ''gout''), (2, ''*'', ''flu'')) AS rows (class_id, age, ill)),
  catalog AS (SELECT [1, 2] AS class_ids, ''flu'' AS ill, 1 AS counterfeits)
  FROM anon.corrected_averages(''released'', ''catalog'', ''ill'', ''ill'', NULL, ''age'') ORDER BY group_label;';
COMMENT ON MACRO TABLE anon.truthful_rows IS 'A release reduced to as many rows as are true; rows that may have been invented keep no quasi-identifier. With C
counterfeits of a value in a group, all of them may lie in any one class of the group. So in every class C rows of the
value, or all if there are fewer, are masked: * in all quasi-identifiers and no class. C of the group''s masked rows are
then left out. Every value then has as many rows as are true, and every class keeps at most as many rows as are true
in it, wherever the counterfeits are.

Its classes may have fewer than k rows: it is for analyses and is not k-anonymous.

How it goes. Rows are counted by class and value; of each value the counterfeits of its group say how many rows of a class are
masked, and running sums how many of these are left out; then the counts become rows again.

Job: answers.
Returns: class_id BIGINT, NULL in masked rows; the quasi-identifiers as VARCHAR; the sensitive column as it is.
Source: Lee et al. 2017, tables 8 and 9.
Example:
  WITH released AS (FROM (VALUES (1, ''f'', ''flu''), (1, ''f'', ''gout''), (2, ''m'', ''flu'')) AS rows (class_id, sex, ill)),
  catalog AS (SELECT [1, 2] AS class_ids, ''flu'' AS ill, 1 AS counterfeits)
  FROM anon.truthful_rows(''released'', ''catalog'', [''sex''], ''ill'') ORDER BY class_id;';
COMMENT ON MACRO anon_helpers.unsure_rows_of IS 'How many rows of a combination of labels and value a node puts at risk of not being shown: all below the threshold,
none from twice that on. Adding a row changes it by 1 at most, so that it can be used where a row must not matter more.

Returns: BIGINT, or the type of row_count if that is wider.
Source: spec of the corrected mechanism of Lee and Chung 2020: min(n, max(0, 2 (T - 1) - n)).
Example:
  SELECT anon_helpers.unsure_rows_of(row_count, 24) AS unsure FROM (VALUES (10), (30), (50)) AS cells (row_count);';
COMMENT ON MACRO anon_helpers.node_score_of IS 'The score of a node, the larger the better: minus the rows that it puts at risk, and minus, for the other rows, the
share of their information that its labels lose (an aggregate over combinations of labels and value). `loss`
is that share, NCP for one, counted in parts of `whole`; with integers the score is exact, and adding a row changes it
by `whole` at most.

Returns: the type of loss * row_count, at most 0.
Source: spec of the corrected mechanism of Lee and Chung 2020, step 1.
Example:
  SELECT anon_helpers.node_score_of(row_count, loss, 1000, 24) AS score
  FROM (VALUES (10, 137), (50, 137)) AS cells (row_count, loss);';
COMMENT ON MACRO anon_helpers.value_score_of IS 'How much a value speaks for itself in a class when a counterfeit row gets a value in IPA as published: by its share of
the rows, or, if the class does not have it, by what one more row leaves to all such values together. value_count is
the number of values in the whole table, class_values that of the values in the class.

Returns: DOUBLE in [0, 1]; NULL for a value that the class does not have if it has all values.
Source: Lee and Chung 2020, equation 3.
Example:
  SELECT anon_helpers.value_score_of(2, 3, 5, 2) AS present, anon_helpers.value_score_of(0, 3, 5, 2) AS absent;';
COMMENT ON MACRO anon_helpers.value_weight_of IS 'The weight with which a value of a score is drawn in IPA as published, where scores are said to have sensitivity 1.

Returns: DOUBLE of 1 or more; NULL for no score.
Source: Lee and Chung 2020, equation 4.
Example:
  SELECT anon_helpers.value_weight_of(anon_helpers.value_score_of(2, 3, 5, 2), 0.3) AS weight;';
COMMENT ON MACRO anon_helpers.n_log_n IS 'n log2(n), and 0 for no rows: what the entropy of counts is made of.

Returns: DOUBLE.
Example:
  SELECT anon_helpers.n_log_n(row_count) AS found FROM (VALUES (0), (1), (8)) AS counts (row_count);';
COMMENT ON MACRO TABLE anon_helpers.specialization_scores IS 'The scores of specializations, by the rows of each class that each child has: `max_score` is the number of rows in the
largest class of their child, `information_gain` the information in bits of the children on the class of a row.

counts: candidate, child, class, row_count, a row per class and child that has rows. One row more of the data changes
max_score by 1 at most, and information_gain by 1 bit at most, however many classes and children there are.
Returns: candidate, max_score BIGINT, information_gain DOUBLE of 0 or more.
Source: Mohammed et al. 2013, score functions Max and InfoGain.
Example:
  WITH counts AS (
      FROM (VALUES (1, 1, ''a'', 3), (1, 1, ''b'', 1), (1, 2, ''a'', 1), (1, 2, ''b'', 3)) AS of_children (candidate, child, class, row_count)
  )
  FROM anon_helpers.specialization_scores(''counts'');';
COMMENT ON MACRO TABLE anon_helpers.split_scores IS 'The scores of a split behind each value of an interval that rows have: of those up to the value, and those above it. See
specialization_scores, whose scores these are.

counts: candidate (the interval), value, class, row_count, a row per class and value that has rows.
Returns: candidate, value, max_score BIGINT, information_gain DOUBLE of 0 or more.
Source: Mohammed et al. 2013, score functions Max and InfoGain, of the children of an interval.
Example:
  WITH counts AS (
      FROM (VALUES (1, 20, ''a'', 1), (1, 40, ''b'', 1), (1, 60, ''b'', 2)) AS of_values (candidate, value, class, row_count)
  )
  FROM anon_helpers.split_scores(''counts'') ORDER BY value;';
COMMENT ON MACRO TABLE anon_helpers.cut_labels IS 'The labels of a cut by value, marked as in marked_label, with NULL for what stays NULL: that of an attribute whose
values are not sets.

Returns: attribute VARCHAR, value VARCHAR, label VARCHAR, a row per attribute and value, and one of no attribute.
Example:
  WITH cuts AS (FROM (VALUES (''sex'', ''f'', NULL, NULL, ''*'')) AS of_sex (attribute, value, low, high, label))
  FROM anon_helpers.cut_labels(''cuts'') ORDER BY value;';
COMMENT ON MACRO TABLE anon_helpers.cut_intervals IS 'The intervals of a cut by attribute: where they begin, ascending, and their labels, marked as in marked_label.

Returns: attribute VARCHAR, starts DOUBLE[], labels VARCHAR[], which is NULL if they leave gaps or overlap.
Example:
  WITH cuts AS (FROM (VALUES (''age'', NULL, 20, 40, ''[20, 40)''), (''age'', NULL, 40, 80, ''[40, 80)'')) AS of_age (attribute, value, low, high, label))
  FROM anon_helpers.cut_intervals(''cuts'');';
COMMENT ON MACRO TABLE anon_helpers.cut_sets IS 'What sets of items become at a cut: the labels of their items, each once, in the order of their text. Items that are
NULL are left out; of no items it is the label of none, if the cut has one.

sets: anon_attribute VARCHAR, anon_items VARCHAR[], a row per set; NULL is left out.
Returns: attribute VARCHAR, items VARCHAR[], labels VARCHAR[], which is NULL if the cut does not know some item.
Example:
  WITH
      cuts AS (FROM (VALUES (''drugs'', ''a'', NULL, NULL, ''A*''), (''drugs'', ''b'', NULL, NULL, ''B*'')) AS of_drugs (attribute, value, low, high, label)),
      sets AS (SELECT ''drugs'' AS anon_attribute, [''b'', NULL, ''a'', ''b''] AS anon_items)
  FROM anon_helpers.cut_sets(''cuts'', ''sets'');';
COMMENT ON MACRO anon_helpers.found_interval IS 'The marked label of the interval that a number lies in, by the columns of the same name of two relations of one row; of
the nearest one if it lies in none, and the mark of NULL for NULL.

starts, labels: a column for every attribute, with the list of where its intervals begin, ascending, and that of their
labels. `attribute` is a column of a relation anon_rows and DOUBLE. It is read twice, as in found_label.
Returns: VARCHAR; NULL without a list.
Example:
  WITH starts AS (SELECT [20, 40, 60] AS age), labels AS (SELECT [''young'', ''middle'', ''old''] AS age)
  SELECT id, anon_helpers.found_interval(''starts'', ''labels'', age) AS found FROM visits AS anon_rows ORDER BY id;';
COMMENT ON MACRO TABLE anon_helpers.found_cut_labels IS 'The rows of a source with what each predictor of a cut is found to become there: categories and numbers as marked
labels, see marked_label, and sets as lists of labels behind an empty text; the empty list is NULL that stays NULL,
and NULL says that the cut does not know the value. There are columns anon_category, anon_number and anon_set more.

Joins are hash joins, as in anon.generalize. Equal lists of items become labels once.

How it goes. For each kind of predictor a relation of a few rows has the labels, in columns of the predictors'' names; the
rows of the source, as texts, numbers and sort keys of lists, look them up.

Example:
  WITH cuts AS (FROM (VALUES (''sex'', ''f'', NULL, NULL, ''*''), (''sex'', ''m'', NULL, NULL, ''*'')) AS of_sex (attribute, value, low, high, label))
  FROM anon_helpers.found_cut_labels(''visits'', ''cuts'', [''sex''], [], []) ORDER BY id LIMIT 3;';
COMMENT ON MACRO anon_helpers.checked_cut_label IS 'The label that was found, see found_cut_labels; what the cut does not know is an error, as in anon.label_of.

Returns: VARCHAR.
Example:
  SELECT anon_helpers.checked_cut_label(''sex'', anon_helpers.marked_label(''*'', 1)) AS label;';
COMMENT ON MACRO anon_helpers.checked_cut_labels IS 'The labels of a set that were found, see found_cut_labels; what the cut does not know is an error.

Returns: VARCHAR[].
Example:
  SELECT anon_helpers.checked_cut_labels(''drugs'', string_split('',A*'', '','')) AS labels;';
COMMENT ON MACRO TABLE anon_helpers.rows_without_label IS 'In how many rows of a source each predictor has a value that the cut does not know, or that has several labels there; see
anon.apply_cut, which takes the same. NULL is always known.

Returns: attribute VARCHAR, row_count BIGINT, one row per predictor.
Example:
  WITH cuts AS (FROM (VALUES (''sex'', ''f'', NULL, NULL, ''*'')) AS of_sex (attribute, value, low, high, label))
  FROM anon_helpers.rows_without_label(''visits'', ''cuts'', [''sex''], [], []);';
COMMENT ON MACRO TABLE anon.apply_cut IS 'The rows of a source with each predictor of a cut replaced by its label there, as those of a release are whose cut it is.

Values of categories are compared as text; numbers take the label of their interval, those beyond all intervals that of
the nearest one; and sets become the list of the labels of their items, see cut_sets. NULL stays NULL. A value that
the cut does not know, or that has several labels, is an error, because a raw value must never pass for a label.

Categories come first, then numbers and sets; the other columns follow as they are. Rows are neither dropped nor put in
order, and are as sensitive as they were: nothing is anonymized. The lists of columns may be empty.

It takes 0.2 to 0.9 times as long as joins written by hand (tests/benchmarks/macros.py, seven categories and two numbers,
or sets, of a million rows, written to a table): these look for the interval of a number by a join of inequalities.

cuts: attribute VARCHAR, value VARCHAR, low DOUBLE, high DOUBLE, label VARCHAR, as described at the top of this file.
Job: release.
Source: Mohammed et al. 2013, algorithm 1, of records that come after the release.
Example:
  WITH cuts AS (
      FROM (VALUES
          (''sex'', ''f'', NULL, NULL, ''*''), (''sex'', ''m'', NULL, NULL, ''*''),
          (''age'', NULL, 20, 40, ''[20, 40)''), (''age'', NULL, 40, 80, ''[40, 80)'')
      ) AS of_predictors (attribute, value, low, high, label)
  )
  FROM anon.apply_cut(''visits'', ''cuts'', [''sex''], [''age''], []) ORDER BY id LIMIT 3;';
COMMENT ON MACRO TABLE anon.csv IS 'The rows of CSV files as they are written: all columns are texts, and the first line has their names. DuckDB guesses types
from some rows where a path is named alone, so that 02139 becomes 2139, and 250.10 and 250.1 are one code.

Job: files.
Example:
  SELECT * FROM anon.csv(''visits.csv'') LIMIT 3;';
COMMENT ON MACRO anon_helpers.written_type IS 'The type whose values are spelled as a text is, to the last character: whole numbers without zeros before them,
decimals with as many digits behind the point as stand there, days and times as ISO 8601 has them. All other texts are
texts: 007, 1E50, 3-2-12, +7, 20.5 beside 20.50, Yes.

Returns: VARCHAR.
Example:
  SELECT
      anon_helpers.written_type(''250.10'') AS decimal,
      anon_helpers.written_type(''02139'') AS zip,
      anon_helpers.written_type(''2020-01-05'') AS day;';
COMMENT ON MACRO anon_helpers.written_type_of_all IS 'The one type that all texts of a column are written in, as written_type has it; VARCHAR if there are several.
NULL is in every type.

Returns: VARCHAR.
Example:
  SELECT anon_helpers.written_type_of_all(code) AS type FROM (VALUES (''250.10''), (''250.1''), (NULL)) AS codes (code);';
COMMENT ON MACRO anon_helpers.number_as_text IS 'A text that spells a number as taxonomies of numbers have it: 27.0, +27 and 027 are 27, and 2.50 is 2.5. Digits beyond the
ninth behind the point are rounded. Any other text stays as it is.

Returns: VARCHAR.
Example:
  SELECT anon_helpers.number_as_text(''027.50'') AS number, anon_helpers.number_as_text(''NA'') AS text;';
COMMENT ON MACRO anon_helpers.plain_number IS 'A text that has a number with another decimal point, or with a sign between groups of three digits, as SQL writes it:
1.234,50 is 1234.50 where the point stands between thousands and the comma before decimals.

point: the sign before decimals. thousands: the one between groups of three digits; an empty text for none.
Returns: VARCHAR; NULL for any other text.
Example:
  SELECT anon_helpers.plain_number(''1.234,50'', '','', ''.'') AS number, anon_helpers.plain_number(''250.10'', '','', '''') AS code;';
COMMENT ON MACRO anon_helpers.in_century IS 'A text that spells a day with two digits of its year, with all of them: 31.12.24 is 31.12.2024 if the first of the hundred
years is 1925. Any other text stays as it is.

first_year: the first of the hundred years in which years of two digits are.
Returns: VARCHAR.
Example:
  SELECT anon_helpers.in_century(''31.12.24'', 1925) AS young, anon_helpers.in_century(''31.12.25'', 1925) AS old;';
COMMENT ON MACRO anon_helpers.written_day IS 'The day that a text spells in numbers, such as 31.12.2024, 12/31/2024, 2024/12/31 or 2024-1-5, whatever time is behind it.

day_order: of days with the year at the end, dmy where the day stands before the month, mdy where the month does.
Returns: DATE; NULL for any other text.
Example:
  SELECT anon_helpers.written_day(''31.12.2024 10:30'', ''dmy'') AS day, anon_helpers.written_day(''12/31/2024'', ''mdy'') AS american;';
COMMENT ON MACRO anon_helpers.day_as_text IS 'A text that spells a day, see written_day, as taxonomies of days have it: 31.12.2024 is 2024-12-31, and a time behind
the day stays there. Any other text stays as it is.

day_order: dmy or mdy.
Returns: VARCHAR.
Example:
  SELECT
      anon_helpers.day_as_text(''31.12.2024 10:30'', ''dmy'') AS day,
      anon_helpers.day_as_text(''2024-12-31'', ''dmy'') AS unchanged;';
COMMENT ON MACRO anon_helpers.is_formula IS 'Whether a spreadsheet may take a text for a formula: it begins with =, +, -, @, a tab or a line break (as OWASP lists
them, the wide forms included), and has a letter or a digit. A number with its sign, such as -5 or +3.2, is none.

Returns: BOOLEAN.
Example:
  SELECT anon_helpers.is_formula(''=1+1'') AS is_formula;';
COMMENT ON MACRO anon_helpers.quoted_formula IS 'The text with an apostrophe before it if it would be taken for a formula, with which a spreadsheet shows it as text.
Texts that begin with apostrophes before a formula get one more, so that unquoted_formula restores every text.

Returns: VARCHAR.
Example:
  SELECT anon_helpers.quoted_formula(''=1+1'') AS cell;';
COMMENT ON MACRO anon_helpers.unquoted_formula IS 'The text that quoted_formula was given.

Returns: VARCHAR.
Example:
  SELECT anon_helpers.unquoted_formula(''''''=1+1'') AS cell;';
COMMENT ON MACRO anon_helpers.text_with_length IS 'A value as text with its length in bytes before it, so that a sequence of values has one reading; a colon for NULL.

Returns: VARCHAR.
Example:
  SELECT anon_helpers.text_with_length(''flu'') AS text;';
COMMENT ON MACRO TABLE anon.content_hash IS 'A hash of the rows of a table, whatever their order, and their number. Each distinct row is spelled as text, its columns
in their order with their lengths (values by text_in_utc), and hashed with the number of times that it is there by
SHA-256. These hashes are summed in up to 16^5 groups by their first digits, and the sums are hashed. It changes with any
edit, but does not resist somebody who searches for other rows with the same sums (Wagner 2002, "A Generalized Birthday
Problem"). Names and types of columns are not in it. Instants within lists and structs are spelled in the time zone of the
session.

Job: verify.
Returns: row_count BIGINT, content_hash VARCHAR (64 hexadecimal digits), one row.
Example:
  FROM anon.content_hash(''visits'');';
COMMENT ON MACRO TABLE anon.added_values IS 'How many rows of a table have values in some columns that stand together more often there than in another table: 0 if
the rows were taken from it. Values compare as text, by text_in_utc.

Job: verify.
Returns: added_rows BIGINT, one row.
Example:
  FROM anon.added_values(''visits'', ''visits'', [''diagnosis'']);';
COMMENT ON MACRO TABLE anon_helpers.other_values IS 'The values of the columns that are no quasi-identifiers: a row per row of the source and column, and one more, of the column
anon_other, which is NULL, for a source that has no others. Values are texts, by text_in_utc.

Returns: row_number BIGINT, column_name VARCHAR, value VARCHAR.
Example:
  FROM anon_helpers.other_values(''visits'', [''age'', ''sex'', ''zip'']) ORDER BY ALL LIMIT 3;';
COMMENT ON MACRO TABLE anon.verify IS 'Whether a release keeps what can be seen of it: k, labels that are of the taxonomies, and other values that stand together
in the source.

Classes are counted by the texts of the labels, which may be of any level, as in local recoding. A row was added if its
values in the columns that are no quasi-identifiers stand together in more rows of the release than of the source; values
compare as text, by text_in_utc, and rows by label_code. A CSV file has no types, so that a value may be read
back as another text. Whether rows have the labels of their own values cannot be seen.

How it goes. The classes by their labels; the labels that are of no taxonomy; the other values of each row as one code,
counted up in the release and down in the source; and all three beside the hash.

Job: verify.
Returns: one row: holds BOOLEAN, row_count BIGINT, k BIGINT, foreign_labels BIGINT, added_rows BIGINT, content_hash VARCHAR
(as by anon.content_hash). Of a release without rows k is NULL, and nothing holds.
Example:
  WITH released AS (FROM anon.release(''visits'', [''age'', ''sex''], 2, 0.25))
  SELECT holds, k, foreign_labels, added_rows FROM anon.verify(''released'', ''visits'', [''age'', ''sex''], 2);';
COMMENT ON MACRO TABLE anon.help IS 'The macros of schema anon by job and name: what each takes, whether it is called in FROM (table) or in SELECT (scalar), and
the first sentence of its documentation. They are made of macros of schema anon_helpers, which are last and have no job. The
rest of the documentation is `SELECT comment FROM duckdb_functions() WHERE function_name = ''lm'';`.

Job: help.
Returns: job VARCHAR, name VARCHAR, parameters VARCHAR[], kind VARCHAR, description VARCHAR, one row per macro.
Example:
  FROM anon.help() WHERE job = ''risk'';';

COMMIT;
