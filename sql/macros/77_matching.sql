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
