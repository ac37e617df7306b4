-- Tables on which DiffGen is tried as Mohammed et al. 2013 try it: parts of a table, its variations, and invented stays.
-- Every draw is a hash of the row and the name of the draw, scaled to [0, 1).
--
-- :people (row BIGINT, age BIGINT, income VARCHAR)

-- name: fold
-- rows in a fold
-- Or those outside of it. A run parts the rows anew.
-- :columns age, income
-- :run 0
-- :folds 10
-- :number 3
-- :is_inside FALSE
SELECT :columns
FROM :people AS anon_people
WHERE (hash(concat_ws(' ', CAST(:run AS BIGINT), row)) % :folds = :number) = :is_inside;

-- name: variations
-- variations of rows
-- Each row, and copies of it, in which half of the columns have values of another row.
-- :scale 5
-- :columns age
-- :names 'age'
-- :kept income
WITH anon_copies AS (
    SELECT *, hash(concat_ws(' ', row, copy)) % row_count AS other
    FROM (SELECT *, unnest(range(:scale)) AS copy, count(*) OVER () AS row_count FROM :people AS anon_rows) AS anon_copied
)

SELECT
    CASE
        WHEN copy > 0 AND hash(concat_ws(' ', anon_copies.row, copy, :names)) % 2 = 0 THEN anon_others.:columns
        ELSE anon_copies.:columns
    END AS :columns,
    anon_copies.:kept
FROM anon_copies
INNER JOIN :people AS anon_others ON anon_others.row = anon_copies.other;

-- name: stays
-- stays
-- Invented stays in intensive care, with the codes of their diagnoses and whether the patient died.
-- :settings (seed BIGINT, row_count BIGINT, newborns DOUBLE, log_odds DOUBLE)
-- :values (attribute VARCHAR, value VARCHAR, is_of_newborns BOOLEAN, low DOUBLE, high DOUBLE)
-- :diagnoses (code VARCHAR, is_of_newborns BOOLEAN, share DOUBLE, log_odds DOUBLE)
-- :columns gender
-- :names 'gender'
WITH anon_stays AS (
    SELECT seed, row, log_odds, hash(concat_ws(' ', seed, row, 'newborn')) / pow(2, 64) < newborns AS is_newborn
    FROM (SELECT *, unnest(range(row_count)) AS row FROM :settings AS anon_settings) AS anon_numbered
),

anon_values AS (
    SELECT row, max(value) FILTER (WHERE attribute = :names) AS :columns
    FROM anon_stays
    INNER JOIN :values AS anon_possible
        ON anon_possible.is_of_newborns = anon_stays.is_newborn
        AND hash(concat_ws(' ', seed, row, attribute)) / pow(2, 64) >= low
        AND hash(concat_ws(' ', seed, row, attribute)) / pow(2, 64) < high
    GROUP BY row
),

anon_items AS (
    SELECT row, list(code ORDER BY code ASC) AS diagnoses, sum(anon_diagnoses.log_odds) AS log_odds
    FROM anon_stays
    INNER JOIN :diagnoses AS anon_diagnoses
        ON anon_diagnoses.is_of_newborns = anon_stays.is_newborn
        AND hash(concat_ws(' ', seed, row, code)) / pow(2, 64) < share
    GROUP BY row
)

SELECT
    anon_stays.row,
    :columns,
    diagnoses,
    CASE
        WHEN hash(concat_ws(' ', seed, anon_stays.row, 'death')) / pow(2, 64)
            < 1 / (1 + exp(-anon_stays.log_odds - anon_items.log_odds)) THEN 'Y'
        ELSE 'N'
    END AS died
FROM anon_stays
INNER JOIN anon_values ON anon_values.row = anon_stays.row
INNER JOIN anon_items ON anon_items.row = anon_stays.row;
