-- Rows of linked tables by number, with the key words of their own values.
--
-- :rows (anon_row BIGINT, anon_person BIGINT, anon_key_0 BIGINT)
-- :persons (anon_person BIGINT)
-- :keys anon_key_0
-- :masks 1

-- name: label_counts
-- labels, their rows, and what these lose
-- :labels (anon_row_count BIGINT)
-- :loss CAST(0 AS DOUBLE)
SELECT
    count(*) AS labels,
    CAST(coalesce(sum(anon_row_count), 0) AS BIGINT) AS rows,
    coalesce(sum(anon_row_count * :loss), 0) AS lost
FROM :labels;

-- name: whole_rows
-- rows with all of their columns
-- :shown (anon_row BIGINT)
SELECT anon_rows.* FROM :rows AS anon_rows SEMI JOIN :shown AS anon_shown ON anon_shown.anon_row = anon_rows.anon_row;

-- name: rows_of_persons
-- numbers of the rows of persons
SELECT anon_rows.anon_row
FROM :rows AS anon_rows
INNER JOIN :persons AS anon_kept ON anon_kept.anon_person = anon_rows.anon_person;

-- name: labels_of_persons
-- labels of the rows of persons
SELECT anon_rows.:keys & :masks AS :keys, count(*) AS anon_row_count
FROM :rows AS anon_rows
INNER JOIN :persons AS anon_kept ON anon_kept.anon_person = anon_rows.anon_person
GROUP BY ALL;
