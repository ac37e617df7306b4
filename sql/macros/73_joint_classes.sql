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
