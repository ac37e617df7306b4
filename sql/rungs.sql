-- Rows of linked tables on rungs: they are shown at the first of several where enough persons have their label.
--
-- :keys anon_key_0
-- :masks 1
-- :rows (anon_row BIGINT, anon_parent BIGINT, anon_person BIGINT, anon_key_0 BIGINT)
-- :left (anon_row BIGINT, anon_person BIGINT, anon_class BIGINT, anon_key_0 BIGINT)
-- :labels (anon_class BIGINT, anon_above BIGINT, anon_row_count BIGINT, anon_key_0 BIGINT)

-- name: all_persons
-- persons, all of one class
SELECT anon_row, anon_person, 0 AS anon_class, :keys FROM :rows AS anon_rows;

-- name: rows_below
-- rows below shown rows
-- Their class is what is shown of the row above them. Of the persons' classes, one in :every is looked at.
-- :above (anon_row BIGINT, anon_class BIGINT)
-- :every 1
SELECT anon_rows.anon_row, anon_rows.anon_person, anon_above.anon_class, anon_rows.:keys FROM :rows AS anon_rows
INNER JOIN :above AS anon_above ON anon_above.anon_row = anon_rows.anon_parent
WHERE anon_above.anon_class % :every = 0;

-- name: labels_found
-- labels that enough persons of a class have
-- They are classes, too, of the rows below: they are numbered after the :first ones.
-- :first 0
-- :k 5
SELECT
    row_number() OVER (ORDER BY anon_above ASC, :keys ASC) + :first AS anon_class,
    anon_above,
    CAST(sum(anon_rows) AS BIGINT) AS anon_row_count,
    :keys
FROM (
    SELECT anon_class AS anon_above, anon_person, :keys & :masks AS :keys, count(*) AS anon_rows
    FROM :left AS anon_left
    GROUP BY ALL
) AS anon_of_persons
GROUP BY anon_above, :keys
HAVING count(*) >= :k;

-- name: rows_found
-- rows with these labels
SELECT anon_left.* REPLACE (anon_labels.anon_class AS anon_class) FROM :left AS anon_left
INNER JOIN :labels AS anon_labels
    ON anon_labels.anon_above = anon_left.anon_class AND anon_labels.:keys = anon_left.:keys & :masks;

-- name: rows_left
-- rows without these labels
SELECT anon_left.* FROM :left AS anon_left
ANTI JOIN :labels AS anon_labels
    ON anon_labels.anon_above = anon_left.anon_class AND anon_labels.:keys = anon_left.:keys & :masks;
