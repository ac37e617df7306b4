-- How tables of a database hang together: which columns have the keys of other tables, and how many rows a person has.
-- :source (id INTEGER, patient INTEGER)
-- :above (id INTEGER, city VARCHAR)
-- :key patient
-- :row_key id
-- :owned (anon_person VARCHAR, anon_key VARCHAR)

-- name: linked_rows
-- rows with the keys of another table
-- Of each value only a share, one in :parts, is looked up for a first guess.
-- :parts 1
SELECT
    CAST(coalesce(sum(anon_rows), 0) AS BIGINT) AS row_count,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_value IS NULL), 0) AS BIGINT) AS null_rows,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_value IS NOT NULL AND anon_known IS NULL), 0) AS BIGINT) AS orphan_rows,
    count(anon_known) AS used_keys
FROM (
    SELECT anon.text_of(:key) AS anon_value, count(*) AS anon_rows
    FROM :source AS anon_source
    WHERE hash(:key) % :parts = 0
    GROUP BY :key
) AS anon_values
LEFT JOIN (SELECT anon.text_of(:row_key) AS anon_known FROM :above AS anon_above) AS anon_keys ON anon_known = anon_value;

-- name: persons
-- persons by their keys
SELECT anon.text_of(:row_key) AS anon_person, anon.text_of(:row_key) AS anon_key FROM :source AS anon_source;

-- name: rows_of_persons
-- rows by the persons whom they belong to
SELECT anon_person, anon.text_of(:row_key) AS anon_key
FROM :source AS anon_source
JOIN :owned AS anon_owned ON anon_key = anon.text_of(:key);

-- name: most_rows
-- how many rows 99 of 100 persons have at most, and how many persons have more
SELECT
    coalesce(any_value(anon_usual), 0) AS usual_rows,
    count(*) FILTER (WHERE anon_rows > anon_usual) AS persons_above
FROM (
    SELECT count(*) AS anon_rows, quantile_disc(count(*), 0.99) OVER () AS anon_usual
    FROM :owned AS anon_owned
    GROUP BY anon_person
) AS anon_counts;
