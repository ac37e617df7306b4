-- Linked tables: persons and the rows that belong to them, such as patients and visits, released together and still joinable.
--
-- Each table may be anonymous on its own, and persons alone by the join: it is measured here. Rows without a person belong to
-- nobody and are not counted, see anon.broken_keys. NULL is a label like any other.

-- guarded: tests/sql/79_linked.test

-- The rows of a parent with their keys and labels, if each row has a key of its own.
--
-- Returns: the columns of the parent, anon_key (the key), anon_label STRUCT; an error for a key that is NULL or in several rows.
-- Example:
--   SELECT id, anon_key, anon_label FROM anon_helpers.keyed_rows('visits', 'id', ['age', 'sex']) ORDER BY id ASC;
CREATE OR REPLACE MACRO anon_helpers.keyed_rows(parent, row_key, labels) AS TABLE
WITH anon_rows AS (
    SELECT
        *,
        COLUMNS([row_key]) AS anon_key,
        row(*COLUMNS(anon_helpers.listed(labels))) AS anon_label
    FROM query_table(anon_helpers.as_source(parent))
),
anon_checked AS (
    SELECT
        CASE
            WHEN count(anon_key) < count(*) THEN error(concat(
                'column "', row_key, '" is NULL in ', count(*) - count(anon_key), ' rows: every row needs a key of its own'
            ))
            WHEN count(DISTINCT anon_key) < count(anon_key) THEN error(concat(
                'column "', row_key, '" has ', count(DISTINCT anon_key), ' keys in ', count(anon_key),
                ' rows: every row needs a key of its own'
            ))
            ELSE TRUE
        END AS anon_are_own
    FROM anon_rows
)
SELECT anon_rows.* FROM anon_rows INNER JOIN anon_checked ON anon_checked.anon_are_own;

-- The rows of a child with their labels, by the key of the row that they belong to.
--
-- Returns: anon_key (the key), anon_label STRUCT.
-- Example:
--   FROM anon_helpers.referring_rows('visits', 'sex', ['age']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.referring_rows(child, key, child_labels) AS TABLE
SELECT
    COLUMNS([key]) AS anon_key,
    row(*COLUMNS(anon_helpers.listed(child_labels))) AS anon_label
FROM query_table(anon_helpers.as_source(child));

-- guarded: tests/sql/79_linked.test

-- Rows of a parent beside what is below them, by the texts of their keys: all are text, or values of other types.
--
-- Returns: the columns of the parents, and those of what is below but anon_key, NULL for a parent without rows; an error for keys
-- that are text in one table alone. NULL is the type of a child without rows.
-- Example:
--   WITH people AS (FROM anon_helpers.keyed_rows('visits', 'id', ['sex'])), below AS (SELECT 1 AS anon_key, 2 AS rows)
--   SELECT anon_key, rows FROM anon_helpers.joined_rows('people', 'below') ORDER BY anon_key ASC;
CREATE OR REPLACE MACRO anon_helpers.joined_rows(parents, below) AS TABLE
WITH anon_above AS (FROM query_table(anon_helpers.as_source(parents))),
anon_below AS (FROM query_table(anon_helpers.as_source(below)))
SELECT anon_above.*, anon_below.* EXCLUDE (anon_key)
FROM anon_above
LEFT JOIN anon_below ON anon.text_of(anon_above.anon_key) = anon.text_of(anon_below.anon_key)
WHERE CASE
    WHEN (typeof(anon_above.anon_key) = 'VARCHAR') <> ((SELECT typeof(anon_key) FROM anon_below LIMIT 1) = 'VARCHAR') THEN error(concat(
        'the keys of the parent are ', typeof(anon_above.anon_key), ', and those that refer to them are ',
        (SELECT typeof(anon_key) FROM anon_below LIMIT 1), ': cast one of them'
    ))
    ELSE TRUE
END;

-- guarded: tests/sql/79_linked.test

-- The rows of a parent, each with its tree: its labels, and those of all of its rows in a child, in an order that says nothing.
-- Rows with equal trees look alike to somebody who knows all of these labels, and which rows belong together.
--
-- A tree is a label, too: of a child whose rows have children, 'tree' stands for the labels of a row and of all below it.
--
-- Job: classes.
-- Returns: the columns of the parent, tree STRUCT (its labels, and the sorted list of its rows' labels); one row per row of the
-- parent. A tree that the parent had goes. An error for a key of the parent that is NULL or in several rows, and for keys that
-- are text in one table alone.
-- Source: Nergiz, Clifton and Nergiz 2009, "Multirelational k-Anonymity".
-- Example:
--   WITH people AS (SELECT DISTINCT sex FROM visits WHERE sex IS NOT NULL)
--   FROM anon.trees('people', 'sex', ['sex'], 'visits', 'sex', ['diagnosis']) ORDER BY sex ASC;
CREATE OR REPLACE MACRO anon.trees(parent, row_key, labels, child, key, child_labels) AS TABLE
WITH anon_parents AS (FROM anon_helpers.keyed_rows(parent, row_key, labels)),
anon_children AS (
    SELECT anon_key, list_sort(list(anon_label)) AS anon_labels
    FROM anon_helpers.referring_rows(child, key, child_labels)
    GROUP BY anon_key
)
SELECT
    COLUMNS(lambda anon_column: NOT starts_with(anon_column, 'anon_') AND lower(anon_column) <> 'tree'),
    row(anon_label, coalesce(anon_labels, [])) AS tree
FROM anon_helpers.joined_rows('anon_parents', 'anon_children');

-- Rows with a number for their labels, so that these are compared once.
--
-- Returns: the columns of the rows, anon_number BIGINT.
-- Example:
--   WITH labelled AS (FROM anon_helpers.referring_rows('visits', 'id', ['sex'])) FROM anon_helpers.numbered_rows('labelled') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.numbered_rows(labelled) AS TABLE
WITH anon_rows AS MATERIALIZED (FROM query_table(anon_helpers.as_source(labelled)))
SELECT anon_rows.*, anon_numbers.anon_number
FROM anon_rows
INNER JOIN (
    SELECT anon_label, row_number() OVER () AS anon_number FROM (SELECT DISTINCT anon_label FROM anon_rows)
) AS anon_numbers ON anon_rows.anon_label = anon_numbers.anon_label;

-- The rows of persons, by their labels.
--
-- Returns: anon_person (the key), anon_class BIGINT (a number for the labels of the person), anon_label BIGINT (one for those of
-- the rows), anon_rows BIGINT (how many, at least 1), anon_first BIGINT and anon_last BIGINT (as anon_helpers.known_patterns takes
-- them: rows that are alike are counted from the number of their label on). A person without rows has the label NULL and 0 rows.
-- Errors as in anon.trees.
-- Example:
--   WITH people AS (SELECT DISTINCT sex, length(sex) AS size FROM visits WHERE sex IS NOT NULL)
--   SELECT anon_person, anon_rows FROM anon_helpers.linked_rows('people', 'sex', ['size'], 'visits', 'sex', ['diagnosis'])
--   ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.linked_rows(parent, row_key, labels, child, key, child_labels) AS TABLE
WITH anon_persons AS (FROM anon_helpers.keyed_rows(parent, row_key, labels)),
anon_parents AS (
    SELECT anon_key, anon_key AS anon_person, anon_number AS anon_class FROM anon_helpers.numbered_rows('anon_persons')
),
anon_referring AS (FROM anon_helpers.referring_rows(child, key, child_labels)),
anon_children AS (
    SELECT anon_key, anon_number AS anon_label, count(*) AS anon_rows
    FROM anon_helpers.numbered_rows('anon_referring')
    GROUP BY anon_key, anon_number
)
SELECT
    anon_person,
    anon_class,
    anon_label,
    coalesce(anon_rows, 0) AS anon_rows,
    anon_label AS anon_first,
    anon_label + anon_rows - 1 AS anon_last
FROM anon_helpers.joined_rows('anon_parents', 'anon_children');

-- guarded: tests/sql/79_linked.test

-- How anonymous the trees of linked tables are: somebody who knows all labels of a person in both tables, and how many rows
-- the person has, is left with at least k persons. Rows count in any order. anon.trees adds the labels of further tables.
--
-- How it goes. The rows of a person are compared by the sum of their hashes: for a million persons, chances are 1 in 10^7 that
-- two of them look alike who do not. DuckDB's hash of 0 is 0, so each label is hashed with another value, or it would not count.
--
-- Job: privacy.
-- Returns: one row: k BIGINT (persons of the smallest class), class_count BIGINT, person_count BIGINT, unique_persons BIGINT
-- (alone in their class). Without persons k is NULL. Errors as in anon.trees.
-- Source: Nergiz, Clifton and Nergiz 2009, "Multirelational k-Anonymity".
-- Example:
--   WITH people AS (SELECT DISTINCT sex FROM visits WHERE sex IS NOT NULL)
--   FROM anon.linked_k('people', 'sex', ['sex'], 'visits', 'sex', ['diagnosis']);
CREATE OR REPLACE MACRO anon.linked_k(parent, row_key, labels, child, key, child_labels) AS TABLE
WITH anon_parents AS (FROM anon_helpers.keyed_rows(parent, row_key, labels)),
anon_children AS (
    SELECT anon_key, sum(CAST(hash(anon_label, 42) AS HUGEINT)) AS anon_signature
    FROM anon_helpers.referring_rows(child, key, child_labels)
    GROUP BY anon_key
)
SELECT
    min(anon_persons) AS k,
    count(*) AS class_count,
    CAST(coalesce(sum(anon_persons), 0) AS BIGINT) AS person_count,
    count(*) FILTER (WHERE anon_persons = 1) AS unique_persons
FROM (
    SELECT count(*) AS anon_persons
    FROM anon_helpers.joined_rows('anon_parents', 'anon_children')
    GROUP BY anon_label, coalesce(anon_signature, 0)
);

-- guarded: tests/sql/79_linked.test

-- What somebody may know of persons and up to m of the rows below them, and how many persons it fits.
--
-- How it goes. A fact is a row with the rows above it. Two facts meet at the last row above both: a person, or a visit of two
-- diagnoses. They hang from it by two rows, not by one, which is known, too: that two diagnoses are of one visit, or of two. So
-- facts are listed once for each row above them (anon_above, at a depth from 0, the person), with the least and the greatest row
-- below that one by which facts with their labels hang from it (anon_first, anon_last; the fact itself, or a row above it).
-- Labels of different depths are different, and so are rows of different tables.
--
-- Returns: known_rows INTEGER, k BIGINT, pattern_count BIGINT, unique_patterns BIGINT, persons_below BIGINT, unique_persons BIGINT,
-- as anon.known_rows.
-- Example:
--   WITH persons AS (SELECT 1 AS anon_person, 1 AS anon_class), facts AS (
--       SELECT 1 AS anon_person, 1 AS anon_class, 0 AS anon_depth, 1 AS anon_above, 1 AS anon_label, 1 AS anon_first, 2 AS anon_last)
--   FROM anon_helpers.known_patterns('persons', 'facts', 2, 5) ORDER BY known_rows ASC;
CREATE OR REPLACE MACRO anon_helpers.known_patterns(persons, facts, m, k) AS TABLE
WITH anon_facts AS (FROM query_table(anon_helpers.as_source(facts))),
-- One number for a class and a label, and one for two of these, so that pairs are compared at once.
anon_numbers AS (
    SELECT anon_class, anon_label, row_number() OVER () AS anon_number
    FROM (SELECT DISTINCT anon_class, anon_label FROM anon_facts WHERE m >= 2)
),
anon_numbered AS MATERIALIZED (
    SELECT anon_facts.*, anon_numbers.anon_number
    FROM anon_facts
    INNER JOIN anon_numbers
        ON anon_facts.anon_class = anon_numbers.anon_class AND anon_facts.anon_label = anon_numbers.anon_label
),
anon_met AS NOT MATERIALIZED (
    SELECT
        anon_one.anon_depth,
        anon_one.anon_person,
        anon_one.anon_number * (SELECT count(*) FROM anon_numbers) + anon_other.anon_number AS anon_pair
    FROM anon_numbered AS anon_one
    INNER JOIN anon_numbered AS anon_other ON anon_one.anon_above = anon_other.anon_above
    WHERE
        anon_one.anon_number <= anon_other.anon_number
        AND (anon_one.anon_first < anon_other.anon_last OR anon_other.anon_first < anon_one.anon_last)
),
anon_pairs AS MATERIALIZED (
    SELECT anon_person, anon_pair FROM anon_met WHERE anon_depth = 0
    UNION ALL
    -- Several visits of a person may have both diagnoses.
    SELECT DISTINCT anon_person, anon_pair FROM anon_met WHERE anon_depth > 0
),
anon_pair_patterns AS MATERIALIZED (
    SELECT anon_pair, count(*) AS anon_persons FROM anon_pairs GROUP BY anon_pair
),
anon_items AS (
    SELECT 0 AS known_rows, count(*) AS anon_persons, min(anon_person, greatest(k, 2)) AS anon_some
    FROM query_table(anon_helpers.as_source(persons))
    GROUP BY anon_class
    UNION ALL
    SELECT 1 AS known_rows, count(*) AS anon_persons, min(anon_person, greatest(k, 2)) AS anon_some
    FROM anon_facts
    WHERE m >= 1 AND anon_depth = 0
    GROUP BY anon_class, anon_label
),
anon_patterns AS (
    SELECT
        known_rows,
        min(anon_persons) AS anon_k,
        count(*) AS pattern_count,
        count(*) FILTER (WHERE anon_persons = 1) AS unique_patterns
    FROM (
        SELECT known_rows, anon_persons FROM anon_items
        UNION ALL
        SELECT 2 AS known_rows, anon_persons FROM anon_pair_patterns
    )
    GROUP BY known_rows
),
anon_below AS (
    SELECT
        known_rows,
        count(*) FILTER (WHERE anon_fewest < k) AS persons_below,
        count(*) FILTER (WHERE anon_fewest = 1) AS unique_persons
    FROM (
        SELECT known_rows, anon_person, min(anon_persons) AS anon_fewest
        FROM (
            SELECT known_rows, unnest(anon_some) AS anon_person, anon_persons FROM anon_items WHERE anon_persons < greatest(k, 2)
            UNION ALL
            SELECT 2 AS known_rows, anon_pairs.anon_person, anon_pair_patterns.anon_persons
            FROM anon_pairs
            INNER JOIN anon_pair_patterns ON anon_pairs.anon_pair = anon_pair_patterns.anon_pair
            WHERE anon_pair_patterns.anon_persons < greatest(k, 2)
        )
        GROUP BY known_rows, anon_person
    )
    GROUP BY known_rows
)
SELECT
    anon_patterns.known_rows,
    anon_patterns.anon_k AS k,
    anon_patterns.pattern_count,
    anon_patterns.unique_patterns,
    coalesce(anon_below.persons_below, 0) AS persons_below,
    coalesce(anon_below.unique_persons, 0) AS unique_persons
FROM anon_patterns
LEFT JOIN anon_below ON anon_patterns.known_rows = anon_below.known_rows;

-- guarded: tests/sql/79_linked.test

-- How anonymous linked tables are for somebody who knows the labels of a person, and those of up to m of the person's rows:
-- at least k persons have them, too. A pattern is what somebody may know: the labels of a person and of 0, 1 or 2 rows that
-- some person has; two rows may have equal labels. That a person has no other rows, and how many, is not known.
--
-- How it goes. Two known rows are two labels of a person's rows, or one label of two. m is 0, 1 or 2; two take several times as
-- long. The argument k is the number of persons that there should be: it is for persons_below alone.
--
-- Job: privacy.
-- Returns: known_rows INTEGER, k BIGINT (persons who have the rarest pattern), pattern_count BIGINT, unique_patterns BIGINT (of
-- one person), persons_below BIGINT (persons who have a pattern of fewer than k persons), unique_persons BIGINT (persons who have
-- one that nobody else has); one row for each number of known rows up to m for which there is a pattern. Errors as in anon.trees.
-- Source: Terrovitis, Mamoulis and Kalnis 2008, "Privacy-preserving anonymization of set-valued data" (k^m-anonymity).
-- Example:
--   WITH people AS (SELECT DISTINCT sex FROM visits WHERE sex IS NOT NULL)
--   FROM anon.known_rows('people', 'sex', ['sex'], 'visits', 'sex', ['diagnosis'], 2, 5) ORDER BY known_rows ASC;
CREATE OR REPLACE MACRO anon.known_rows(parent, row_key, labels, child, key, child_labels, m, k) AS TABLE
WITH anon_linked AS MATERIALIZED (
    FROM anon_helpers.linked_rows(parent, row_key, labels, child, key, child_labels)
),
anon_everybody AS (SELECT DISTINCT anon_person, anon_class FROM anon_linked),
anon_known AS (SELECT *, 0 AS anon_depth, anon_person AS anon_above FROM anon_linked WHERE anon_rows > 0)
FROM anon_helpers.known_patterns('anon_everybody', 'anon_known', m, k);

-- guarded: tests/sql/79_linked.test

-- What linked tables have to leave out, so that somebody who knows the labels of a person and of one of the person's rows is
-- left with at least k persons: all persons of classes of fewer than k, and in other classes the rows of each label that fewer
-- than k persons of the class have. That is the least.
--
-- Job: privacy.
-- Returns: one row: person_count BIGINT, row_count BIGINT, persons_left_out BIGINT, rows_left_out BIGINT (of these persons and
-- of the others). Errors as in anon.trees.
-- Source: Terrovitis, Mamoulis and Kalnis 2008, with rows left out by classes of persons.
-- Example:
--   WITH people AS (SELECT DISTINCT sex FROM visits WHERE sex IS NOT NULL)
--   FROM anon.known_rows_left_out('people', 'sex', ['sex'], 'visits', 'sex', ['diagnosis'], 2);
CREATE OR REPLACE MACRO anon.known_rows_left_out(parent, row_key, labels, child, key, child_labels, k) AS TABLE
WITH anon_linked AS MATERIALIZED (
    FROM anon_helpers.linked_rows(parent, row_key, labels, child, key, child_labels)
),
anon_classes AS (
    SELECT anon_class, count(DISTINCT anon_person) AS anon_persons FROM anon_linked GROUP BY anon_class
),
anon_items AS (
    SELECT anon_class, count(*) AS anon_persons, CAST(sum(anon_rows) AS BIGINT) AS anon_rows
    FROM anon_linked
    GROUP BY anon_class, anon_label
)
SELECT
    CAST(coalesce((SELECT sum(anon_persons) FROM anon_classes), 0) AS BIGINT) AS person_count,
    CAST(coalesce(sum(anon_items.anon_rows), 0) AS BIGINT) AS row_count,
    CAST(coalesce((SELECT sum(anon_persons) FROM anon_classes WHERE anon_persons < k), 0) AS BIGINT) AS persons_left_out,
    CAST(coalesce(sum(anon_items.anon_rows) FILTER (
        WHERE least(anon_items.anon_persons, anon_classes.anon_persons) < k
    ), 0) AS BIGINT) AS rows_left_out
FROM anon_items
INNER JOIN anon_classes ON anon_items.anon_class = anon_classes.anon_class;

-- The keys by which the rows of a child refer to a parent, and those that refer to nobody.
--
-- Job: columns.
-- Returns: one row: row_count BIGINT (of the child), null_keys BIGINT (rows without a key), orphans BIGINT (rows whose key no
-- row of the parent has), repeated_keys BIGINT (of the parent, in several rows), unused_keys BIGINT (of the parent, without a
-- row), most_rows BIGINT (of one key).
-- Example:
--   WITH people AS (SELECT DISTINCT sex FROM visits)
--   FROM anon.broken_keys('people', 'sex', 'visits', 'sex');
CREATE OR REPLACE MACRO anon.broken_keys(parent, row_key, child, key) AS TABLE
SELECT
    CAST(coalesce(sum(anon_rows), 0) AS BIGINT) AS row_count,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_key IS NULL), 0) AS BIGINT) AS null_keys,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_key IS NOT NULL AND anon_parents = 0), 0) AS BIGINT) AS orphans,
    count(*) FILTER (WHERE anon_key IS NOT NULL AND anon_parents > 1) AS repeated_keys,
    count(*) FILTER (WHERE anon_key IS NOT NULL AND anon_parents > 0 AND anon_rows = 0) AS unused_keys,
    coalesce(max(anon_rows) FILTER (WHERE anon_key IS NOT NULL), 0) AS most_rows
FROM (
    SELECT anon_key, count(*) FILTER (WHERE anon_is_parent) AS anon_parents, count(*) FILTER (WHERE NOT anon_is_parent) AS anon_rows
    FROM (
        SELECT anon.text_of(COLUMNS([row_key])) AS anon_key, TRUE AS anon_is_parent
        FROM query_table(anon_helpers.as_source(parent))
        UNION ALL
        SELECT anon.text_of(COLUMNS([key])) AS anon_key, FALSE AS anon_is_parent
        FROM query_table(anon_helpers.as_source(child))
    )
    GROUP BY anon_key
);
