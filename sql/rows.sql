-- The rows of a source before they are cells: those of individuals, and those with values that taxonomies do not have.
--
-- :source (person VARCHAR, age VARCHAR)
-- :individual person
-- :names person, age

-- name: anonymous_rows
-- rows of nobody
SELECT count(*) AS rows FROM :source WHERE :individual IS NULL;

-- name: crowded_individuals
-- individuals with more rows than a bound
-- :most 3
SELECT count(*) AS individuals
FROM (
    SELECT anon.text_of(:individual) COLLATE "binary" AS anon_owner
    FROM :source
    GROUP BY anon.text_of(:individual) COLLATE "binary"
    HAVING count(*) > :most
) AS anon_crowded;

-- name: first_rows
-- the first rows of individuals
-- At most :most rows of each individual. Individuals are compared as exact text: under the collation of a column two of them
-- could share the bound, and one who leaves would make room for rows of the other.
-- :drawn md5(person)
-- :most 3
SELECT * EXCLUDE (anon_place_of_row)
FROM (
    SELECT
        *,
        row_number() OVER (PARTITION BY anon.text_of(:individual) COLLATE "binary" ORDER BY :drawn ASC)
            AS anon_place_of_row
    FROM :source
) AS anon_placed
WHERE anon_place_of_row <= :most;

-- name: differences
-- rows by which two sources differ
-- Rows that are equal as exact text, with how many more the first source has.
-- :first (person VARCHAR, age VARCHAR)
-- :second (person VARCHAR, age VARCHAR)
-- :keys anon_0, anon_1
-- :counted sum(abs(anon_more))
SELECT coalesce(:counted, 0) AS differing
FROM (
    SELECT :keys, sum(anon_sign) AS anon_more
    FROM (
        SELECT anon.text_of(:names) COLLATE "binary" AS :keys, 1 AS anon_sign FROM :first
        UNION ALL
        SELECT anon.text_of(:names) COLLATE "binary" AS :keys, -1 AS anon_sign FROM :second
    ) AS anon_both
    GROUP BY :keys
) AS anon_changed;

-- name: unknown_rows
-- values without a label
-- Rows with a value that its taxonomy does not have, by these values.
-- :are_unknown person IS NULL, age IS NULL
-- :columns anon_unknown_0, anon_unknown_1
-- :is_any_unknown anon_unknown_0 IS NOT NULL OR anon_unknown_1 IS NOT NULL
SELECT :columns, count(*) AS anon_row_count
FROM (SELECT CASE WHEN :are_unknown THEN anon.text_of(:names) COLLATE "binary" END AS :columns FROM :source) AS anon_unknown
WHERE :is_any_unknown
GROUP BY :columns;

-- name: unknown_counts
-- rows of values without a label
-- Those that are left out, and those with such a value in each column.
-- :unknown (anon_unknown_0 VARCHAR, anon_unknown_1 VARCHAR, anon_row_count BIGINT)
-- :is_left_out NOT anon_unknown_0 IS NULL
-- :columns anon_unknown_0, anon_unknown_1
-- :counts rows_0, rows_1
SELECT
    coalesce(sum(anon_row_count) FILTER (WHERE :is_left_out), 0) AS suppressed,
    coalesce(sum(anon_row_count) FILTER (WHERE NOT :columns IS NULL), 0) AS :counts
FROM :unknown;
