-- Linked tables as they are, joined by their keys: what somebody may know of persons, and how many it fits. The rows of a table
-- have numbers that no other table has, and so have their labels with those of the rows above them (label). Each row has the
-- numbers of the rows from its person (at_0) down to itself.
-- :source (id INTEGER, person INTEGER, sex VARCHAR)
-- :row_key id
-- :key person
-- :labels [sex]
-- :sensitive sex
-- :held held_0
-- :tables 2
-- :number 1
-- :own at_1
-- :k 5
-- :linked (anon_row BIGINT, anon_person BIGINT)
-- :dated (anon_person BIGINT, day DATE)
-- :persons (at_0 BIGINT, label BIGINT, anon_row BIGINT)
-- :rows (key VARCHAR, label BIGINT, at_0 BIGINT, at_1 BIGINT, held_0 VARCHAR)

-- name: labelled
-- rows with numbers for their labels
-- Labels are found first, by reading the rows twice: to keep all rows beside their labels takes ten times the memory.
-- :rows (anon_label STRUCT(v VARCHAR), key VARCHAR, at_0 BIGINT, at_1 BIGINT, held_0 VARCHAR)
WITH anon_rows AS NOT MATERIALIZED (SELECT * FROM :rows AS anon_all),
anon_labels AS (
    SELECT anon_label, row_number() OVER () * :tables + :number AS label FROM (SELECT DISTINCT anon_label FROM anon_rows) AS anon_distinct
)
SELECT anon_rows.* EXCLUDE (anon_label), anon_labels.label
FROM anon_rows
INNER JOIN anon_labels ON anon_labels.anon_label = anon_rows.anon_label;

-- name: persons
-- persons with their labels
SELECT
    row_number() OVER () * :tables AS at_0,
    anon.text_of(anon_source.:row_key) COLLATE "binary" AS key,
    anon.text_of(anon_source.:sensitive) AS :held,
    row(anon_source.:labels) AS anon_label
FROM :source AS anon_source;

-- name: rows_below
-- rows of persons with their labels
-- Rows that belong to no row of the parent are left out. They are numbered before they are joined, as in linked.sql.
-- :path at_0
SELECT
    anon_above.:path,
    anon_source.anon_row AS :own,
    anon.text_of(anon_source.:row_key) COLLATE "binary" AS key,
    anon.text_of(anon_source.:sensitive) AS :held,
    row(anon_above.label, anon_source.:labels) AS anon_label
FROM (SELECT row_number() OVER () * :tables + :number AS anon_row, * FROM :source AS anon_all) AS anon_source
INNER JOIN :rows AS anon_above ON anon_above.key = anon.text_of(anon_source.:key) COLLATE "binary";

-- name: facts
-- facts that somebody may know of a person
-- A row for each label below each row above it, as anon_helpers.known_patterns takes them. Labels have those of the person.
-- :depth 0
-- :depths 2
-- :above at_0
SELECT
    any_value(at_0) AS anon_person,
    0 AS anon_class,
    :depth AS anon_depth,
    :above AS anon_above,
    label * :depths + :depth AS anon_label,
    min(:own) AS anon_first,
    max(:own) AS anon_last
FROM :rows AS anon_rows
GROUP BY :above, label;

-- name: everybody
-- the classes of persons
SELECT at_0 AS anon_person, label AS anon_class FROM :persons AS anon_persons;

-- name: counted
-- persons with the numbers of their rows
-- :counts (at_0 BIGINT, number INTEGER, row_count BIGINT)
SELECT anon_persons.label, anon_numbers.counts
FROM :persons AS anon_persons
LEFT JOIN (
    SELECT at_0, list_sort(list((number, row_count))) AS counts FROM :counts AS anon_counts GROUP BY at_0
) AS anon_numbers ON anon_numbers.at_0 = anon_persons.at_0;

-- name: row_counts
-- numbers of rows of persons in a table
SELECT at_0, :number AS number, count(*) AS row_count FROM :rows AS anon_rows GROUP BY at_0;

-- name: grown
-- trees of rows
-- Trees are labels, too, with numbers of their own.
-- :trees (at_0 BIGINT, label BIGINT, tree STRUCT(v BIGINT))
WITH anon_trees AS (SELECT * EXCLUDE (label, tree), tree AS anon_label FROM :trees AS anon_found)
SELECT * EXCLUDE (anon_label, anon_number), anon_number AS label FROM anon_helpers.numbered_rows('anon_trees');

-- name: classes
-- classes of persons
-- Persons who are alike, and those of classes of fewer than k.
-- :alike (label BIGINT, counts STRUCT(v BIGINT)[])
-- :labels label
SELECT
    min(anon_persons) AS k,
    count(*) AS pattern_count,
    count(*) FILTER (WHERE anon_persons = 1) AS unique_patterns,
    CAST(coalesce(sum(anon_persons) FILTER (WHERE anon_persons < :k), 0) AS BIGINT) AS persons_below,
    count(*) FILTER (WHERE anon_persons = 1) AS unique_persons
FROM (SELECT count(*) AS anon_persons FROM :alike AS anon_alike GROUP BY :labels) AS anon_classes;

-- name: keys
-- keys of the rows of a table
SELECT
    count(*) AS row_count,
    count(*) - count(anon_source.:row_key) AS null_keys,
    count(anon_source.:row_key) - count(DISTINCT anon.text_of(anon_source.:row_key)) AS repeated_keys,
    count(DISTINCT TRY_CAST(anon.text_of(anon_source.:row_key) AS BIGINT)) FILTER (
        WHERE TRY_CAST(anon.text_of(anon_source.:row_key) AS BIGINT) BETWEEN 1 AND (SELECT count(*) FROM :source AS anon_all)
    ) AS numbered_keys
FROM :source AS anon_source;

-- name: kept_keys
-- rows with a new key that is an old value of a row like them
-- How many rows have a key that is a value of the source, how many of these look like the row that has it, and the share of all
-- pairs of rows that look alike: keys that are drawn anew match no more often.
-- :original (name VARCHAR, sex VARCHAR)
-- :old name
-- :shown [sex]
WITH anon_new AS (SELECT anon.text_of(:row_key) AS anon_key, row(:shown) AS anon_label FROM :source AS anon_source),
anon_old AS (SELECT anon.text_of(:old) AS anon_key, row(:shown) AS anon_label FROM :original AS anon_original)
SELECT
    count(*) AS matched,
    count(*) FILTER (WHERE anon_new.anon_label IS NOT DISTINCT FROM anon_old.anon_label) AS alike,
    coalesce((
        SELECT sum(anon_shown.anon_rows * anon_there.anon_rows)
        FROM (SELECT anon_label, count(*) AS anon_rows FROM anon_new GROUP BY anon_label) AS anon_shown
        INNER JOIN (SELECT anon_label, count(*) AS anon_rows FROM anon_old GROUP BY anon_label) AS anon_there
            ON anon_shown.anon_label IS NOT DISTINCT FROM anon_there.anon_label
    ) / ((SELECT count(*) FROM anon_new) * (SELECT count(*) FROM anon_old)), 0) AS chance
FROM anon_new
INNER JOIN anon_old ON anon_new.anon_key = anon_old.anon_key;

-- name: hidden_labels
-- labels of rows that are left out of a release, the most frequent ones first
-- Rows of persons who are released; labels of fewer than k persons are not shown.
-- :labelled (anon_row BIGINT, anon_person BIGINT, age VARCHAR)
-- :shown (anon_row BIGINT)
-- :name age
-- :most 5
SELECT
    anon_labelled.:name AS label,
    count(*) FILTER (WHERE anon_shown.anon_row IS NULL) AS hidden_rows,
    count(*) AS row_count
FROM :labelled AS anon_labelled
INNER JOIN :persons AS anon_persons ON anon_persons.anon_row = anon_labelled.anon_person
LEFT JOIN :shown AS anon_shown ON anon_shown.anon_row = anon_labelled.anon_row
GROUP BY anon_labelled.:name
HAVING count(DISTINCT anon_labelled.anon_person) FILTER (WHERE anon_shown.anon_row IS NULL) >= :k
ORDER BY hidden_rows DESC, label ASC
LIMIT :most;

-- name: intervals
-- persons with three dates or more, and those whom the days between them single out
-- :day day
SELECT count(*) AS persons, count(*) FILTER (WHERE anon_alike = 1) AS unique_persons
FROM (
    SELECT
        count(*) OVER (
            PARTITION BY list_transform(range(1, len(anon_days)), lambda i: anon_days[i + 1] - anon_days[i])
        ) AS anon_alike
    FROM (
        SELECT list_sort(list(CAST(:day AS DATE))) AS anon_days
        FROM :dated AS anon_dated
        WHERE :day IS NOT NULL
        GROUP BY anon_person
        HAVING count(*) >= 3
    ) AS anon_dates
) AS anon_persons;

-- name: persons_without_rows
-- persons without a row in any other table
SELECT count(*) AS persons
FROM :linked AS anon_linked
ANTI JOIN :dated AS anon_dated ON anon_dated.anon_person = anon_linked.anon_person;

-- name: shares
-- shares of persons of a class who have a value in some row
-- Classes are of persons with equal trees; shares of all persons are those of :original_persons.
-- :grown (at_0 BIGINT, label BIGINT)
-- :original_persons (at_0 BIGINT)
-- :original_rows (at_0 BIGINT, held_0 VARCHAR)
WITH anon_classes AS (
    SELECT
        at_0,
        min(at_0) OVER (PARTITION BY label) AS anon_class,
        count(*) OVER (PARTITION BY label) AS anon_persons
    FROM :grown AS anon_grown
),
anon_whole AS (
    SELECT anon_value, count(*) / (SELECT count(*) FROM :original_persons AS anon_everybody) AS anon_share
    FROM (SELECT DISTINCT at_0, :held AS anon_value FROM :original_rows AS anon_original) AS anon_held
    GROUP BY anon_value
),
anon_shares AS (
    SELECT anon_held.anon_value, count(*) / any_value(anon_classes.anon_persons) AS anon_of_class
    FROM (SELECT DISTINCT at_0, :held AS anon_value FROM :rows AS anon_rows) AS anon_held
    INNER JOIN anon_classes ON anon_classes.at_0 = anon_held.at_0
    GROUP BY anon_classes.anon_class, anon_held.anon_value
)
SELECT
    max(anon_shares.anon_of_class) AS largest_share,
    max(anon_shares.anon_of_class / anon_whole.anon_share) - 1 AS basic_likeness,
    CASE
        WHEN bool_or(anon_shares.anon_of_class / anon_whole.anon_share - 1 > -ln(anon_whole.anon_share))
            THEN CAST('infinity' AS DOUBLE)
        ELSE max(anon_shares.anon_of_class / anon_whole.anon_share) - 1
    END AS enhanced_likeness,
    log2(max(anon_shares.anon_of_class / anon_whole.anon_share)) AS disclosure
FROM anon_shares
LEFT JOIN anon_whole ON anon_whole.anon_value IS NOT DISTINCT FROM anon_shares.anon_value;
