-- A decision tree whose counts are noisy: its rows, which go from node to node as it grows level by level.
--
-- :domain (attribute BIGINT, place BIGINT, value VARCHAR)
-- :values (row BIGINT, attribute BIGINT, place BIGINT)
-- :rows (row BIGINT, is_training BOOLEAN, age BIGINT, income VARCHAR, anon_class INTEGER, node BIGINT)
-- :position 0

-- name: roots
-- rows in the root
-- :training (age BIGINT, income VARCHAR)
-- :test (age BIGINT, income VARCHAR)
-- :target income
-- :one '>50K'
SELECT *, row_number() OVER () AS row, CAST(:target = :one AS INTEGER) AS anon_class, CAST(0 AS BIGINT) AS node
FROM (
    SELECT *, TRUE AS is_training FROM :training AS anon_training
    UNION ALL BY NAME
    SELECT *, FALSE AS is_training FROM :test AS anon_test
) AS anon_both;

-- name: places_of_numbers
-- places of numbers
-- Numbers outside of their range have the nearest place.
-- :value anon_rows.age
-- :first 15
-- :last 94
SELECT
    row,
    CAST(:position AS BIGINT) AS attribute,
    CAST(least(greatest(:value, :first), :last) AS BIGINT) AS place
FROM :rows AS anon_rows;

-- name: places_of_values
-- places of categories
-- :value anon_rows.income
SELECT anon_rows.row, anon_domain.attribute, anon_domain.place
FROM :rows AS anon_rows
INNER JOIN :domain AS anon_domain ON anon_domain.attribute = :position AND anon_domain.value = :value;

-- name: rows_of_nodes
-- rows of nodes and classes
SELECT node, anon_class, count(*) AS row_count FROM :rows AS anon_rows WHERE is_training GROUP BY node, anon_class;

-- name: counts
-- rows of values and classes in nodes
-- :open (candidate BIGINT, node BIGINT, attribute BIGINT)
SELECT
    anon_open.candidate,
    anon_values.place AS value,
    anon_values.place AS child,
    anon_rows.anon_class AS class,
    count(*) AS row_count
FROM :rows AS anon_rows
INNER JOIN :values AS anon_values ON anon_values.row = anon_rows.row
INNER JOIN :open AS anon_open ON anon_open.node = anon_rows.node AND anon_open.attribute = anon_values.attribute
WHERE anon_rows.is_training
GROUP BY anon_open.candidate, anon_values.place, anon_rows.anon_class;

-- name: moved
-- rows in the children of their nodes
-- :splits (node BIGINT, attribute BIGINT, split BIGINT, first_child BIGINT)
SELECT
    anon_rows.row,
    anon_rows.is_training,
    anon_rows.anon_class,
    CASE
        WHEN anon_splits.node IS NULL THEN anon_rows.node
        WHEN anon_splits.split IS NULL THEN anon_splits.first_child + anon_values.place
        ELSE anon_splits.first_child + CAST(anon_values.place >= anon_splits.split AS BIGINT)
    END AS node
FROM :rows AS anon_rows
LEFT JOIN :splits AS anon_splits ON anon_splits.node = anon_rows.node
LEFT JOIN :values AS anon_values
    ON anon_values.row = anon_rows.row AND anon_values.attribute = anon_splits.attribute;

-- name: accuracy
-- share of test rows in nodes of their class
-- :labels (node BIGINT, class BIGINT)
SELECT avg(CAST(anon_labels.class = anon_rows.anon_class AS INTEGER)) AS accuracy
FROM :rows AS anon_rows
INNER JOIN :labels AS anon_labels ON anon_labels.node = anon_rows.node
WHERE NOT anon_rows.is_training;
