-- Linked tables as they are, joined by their keys: what somebody may know of persons, and how many it fits. The rows of a table
-- have numbers that no other table has (id), and so have their labels with those of the rows above them (label).
-- :source (id INTEGER, person INTEGER, sex VARCHAR)
-- :row_key id
-- :key person
-- :labels [sex]
-- :sensitive [sex]
-- :tables 2
-- :number 1
-- :k 5
-- :linked (anon_row BIGINT, anon_person BIGINT)
-- :dated (anon_person BIGINT, day DATE)
-- :persons (id BIGINT, class BIGINT, anon_row BIGINT)
-- :rows (id BIGINT, key VARCHAR, above BIGINT, person BIGINT, class BIGINT, path BIGINT[], label BIGINT, sensitive STRUCT(v VARCHAR))

-- name: persons
-- persons with numbers for their labels
WITH anon_rows AS (
    SELECT
        row_number() OVER () * :tables AS id,
        anon.text_of(anon_source.:row_key) COLLATE "binary" AS key,
        row(anon_source.:sensitive) AS sensitive,
        row(anon_source.:labels) AS anon_label
    FROM :source AS anon_source
)
SELECT
    id,
    key,
    id AS above,
    id AS person,
    anon_number * :tables AS class,
    [id] AS path,
    anon_number * :tables AS label,
    label AS tree,
    sensitive
FROM anon_helpers.numbered_rows('anon_rows');

-- name: rows_below
-- rows of persons with numbers for their labels
-- Rows that belong to no row of the parent are left out.
WITH anon_rows AS (
    SELECT
        row_number() OVER () * :tables + :number AS id,
        anon.text_of(anon_source.:row_key) COLLATE "binary" AS key,
        anon_above.id AS above,
        anon_above.person,
        anon_above.class,
        anon_above.path AS anon_path,
        row(anon_source.:sensitive) AS sensitive,
        row(anon_above.label, anon_source.:labels) AS anon_label
    FROM :source AS anon_source
    INNER JOIN :rows AS anon_above ON anon.text_of(anon_source.:key) COLLATE "binary" = anon_above.key
)
SELECT
    id,
    key,
    above,
    person,
    class,
    list_append(anon_path, id) AS path,
    anon_number * :tables + :number AS label,
    label AS tree,
    sensitive
FROM anon_helpers.numbered_rows('anon_rows');

-- name: facts
-- facts that somebody may know of a person
-- A row for each label below each row above it, as anon_helpers.known_patterns takes them. A path has the numbers of the rows
-- from the person to the fact.
-- :depths 2
SELECT
    any_value(person) AS anon_person,
    any_value(class) AS anon_class,
    any_value(anon_depth) AS anon_depth,
    path[anon_depth + 1] AS anon_above,
    label * :depths + anon_depth AS anon_label,
    min(path[anon_depth + 2]) AS anon_first,
    max(path[anon_depth + 2]) AS anon_last
FROM (SELECT person, class, path, label, unnest(range(len(path) - 1)) AS anon_depth FROM :rows AS anon_rows) AS anon_facts
GROUP BY path[anon_depth + 1], label * :depths + anon_depth;

-- name: everybody
-- the classes of persons
SELECT id AS anon_person, class AS anon_class FROM :rows AS anon_rows;

-- name: counted
-- persons with the numbers of their rows
SELECT class, list_sort(list((number, row_count))) AS tree
FROM (
    SELECT class, person, id % :tables AS number, count(*) AS row_count
    FROM :rows AS anon_rows
    GROUP BY class, person, id % :tables
) AS anon_counted
GROUP BY class, person;

-- name: classes
-- classes of persons
-- Persons who are alike, and those of classes of fewer than k.
-- :alike (class BIGINT, tree STRUCT(v BIGINT))
SELECT
    min(anon_persons) AS k,
    count(*) AS pattern_count,
    count(*) FILTER (WHERE anon_persons = 1) AS unique_patterns,
    CAST(coalesce(sum(anon_persons) FILTER (WHERE anon_persons < :k), 0) AS BIGINT) AS persons_below,
    count(*) FILTER (WHERE anon_persons = 1) AS unique_persons
FROM (SELECT count(*) AS anon_persons FROM :alike AS anon_alike GROUP BY class, tree) AS anon_classes;

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
-- :grown (id BIGINT, class BIGINT, tree BIGINT)
-- :original_persons (id BIGINT)
-- :original_rows (person BIGINT, sensitive STRUCT(v VARCHAR))
-- :value struct_extract(sensitive, 'v')
WITH anon_classes AS (
    SELECT
        id,
        min(id) OVER (PARTITION BY class, tree) AS anon_class,
        count(*) OVER (PARTITION BY class, tree) AS anon_persons
    FROM :grown AS anon_grown
),
anon_whole AS (
    SELECT anon_value, count(*) / (SELECT count(*) FROM :original_persons AS anon_everybody) AS anon_share
    FROM (SELECT DISTINCT person, anon.text_of(:value) AS anon_value FROM :original_rows AS anon_original) AS anon_held
    GROUP BY anon_value
),
anon_shares AS (
    SELECT anon_held.anon_value, count(*) / any_value(anon_classes.anon_persons) AS anon_of_class
    FROM (SELECT DISTINCT person, anon.text_of(:value) AS anon_value FROM :rows AS anon_rows) AS anon_held
    INNER JOIN anon_classes ON anon_classes.id = anon_held.person
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
