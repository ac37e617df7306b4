-- Linked tables: their rows with numbers in place of keys, and what is released of them.
--
-- :source (id BIGINT, patient BIGINT, age VARCHAR)
-- :parents (anon_row BIGINT, anon_person BIGINT, anon_key VARCHAR, anon_is_cut BOOLEAN)
-- :columns age
-- :key patient
-- :row_key anon.text_of(id)

-- name: persons
-- rows of the table of persons
-- Each row has a number, by which the rows below refer to it.
SELECT
    CAST(row_number() OVER () AS UINTEGER) AS anon_row,
    CAST(row_number() OVER () AS UINTEGER) AS anon_person,
    :row_key COLLATE "binary" AS anon_key,
    FALSE AS anon_is_cut,
    TRUE AS anon_has_key,
    :columns
FROM :source;

-- name: rows_below
-- rows of a table, by the rows that they belong to
-- Without a row above, a row has no person. Rows above the cap of their person are left out, as are those below them. Rows are
-- numbered before they are joined: a join below a window takes as much memory again (tests.benchmarks.linked).
-- :is_above anon_person IS NOT NULL AND row_number() OVER (PARTITION BY anon_person ORDER BY age ASC NULLS LAST) > 20
SELECT
    anon_below.anon_row,
    anon_parents.anon_row AS anon_parent,
    anon_parents.anon_person,
    :row_key COLLATE "binary" AS anon_key,
    coalesce(anon_parents.anon_is_cut, FALSE) OR :is_above AS anon_is_cut,
    :key IS NOT NULL AS anon_has_key,
    :columns
FROM (SELECT CAST(row_number() OVER () AS UINTEGER) AS anon_row, * FROM :source AS anon_source) AS anon_below
LEFT JOIN :parents AS anon_parents ON anon_parents.anon_key = anon.text_of(:key) COLLATE "binary";

-- name: key_counts
-- keys of rows
-- :rows (anon_key VARCHAR)
SELECT count(*) - count(anon_key) AS null_keys, count(anon_key) - count(DISTINCT anon_key) AS repeated
FROM :rows;

-- name: link_counts
-- rows without a row above them, and persons with too many
-- :rows (anon_person BIGINT, anon_has_key BOOLEAN, anon_is_cut BOOLEAN)
-- :most 20
SELECT
    CAST(coalesce(sum(anon_rows), 0) AS BIGINT) AS rows,
    CAST(coalesce(sum(anon_cut), 0) AS BIGINT) AS cut,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_person IS NULL), 0) AS BIGINT) AS orphans,
    CAST(coalesce(sum(anon_without_key), 0) AS BIGINT) AS without_key,
    count(*) FILTER (WHERE anon_person IS NOT NULL AND anon_rows > :most) AS persons_above
FROM (
    SELECT
        anon_person,
        count(*) AS anon_rows,
        count(*) FILTER (WHERE anon_is_cut) AS anon_cut,
        count(*) FILTER (WHERE NOT anon_has_key) AS anon_without_key
    FROM :rows
    GROUP BY anon_person
) AS anon_persons;

-- name: copied_taxonomy
-- a taxonomy under the name of a column of a table
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
-- :attribute 'age'
-- :own 'visits.age'
SELECT * REPLACE (:own AS attribute) FROM :taxonomy WHERE attribute = :attribute;

-- name: fresh_keys
-- new keys, in an order that nobody can know
-- $1 'a'::BLOB
-- $2 'b'::BLOB
-- :shown (anon_row BIGINT)
SELECT
    anon_row,
    row_number() OVER (
        ORDER BY anon_helpers.hmac_of_blocks(CAST($1 AS BLOB), CAST($2 AS BLOB), encode(anon.text_of(anon_row))) ASC
    ) AS anon_fresh
FROM :shown;

-- name: released_counts
-- rows of a table that are released, and why others are not
-- :rows (anon_person BIGINT)
-- :shown (anon_row BIGINT)
-- :shown_persons (anon_row BIGINT)
SELECT released, anon_all - anon_of_shown AS suppressed, anon_of_shown - released AS hidden
FROM (
    SELECT count(*) AS anon_all, count(anon_persons.anon_row) AS anon_of_shown
    FROM :rows AS anon_rows
    LEFT JOIN :shown_persons AS anon_persons ON anon_persons.anon_row = anon_rows.anon_person
) AS anon_counts
CROSS JOIN (SELECT count(*) AS released FROM :shown AS anon_shown) AS anon_released;
