-- Whole trees of linked tables: persons look alike if their labels are equal, and those of all their rows.
--
-- :rows (anon_row BIGINT, anon_parent BIGINT, anon_person BIGINT, anon_key_0 BIGINT)
-- :persons (anon_person BIGINT, anon_key_0 BIGINT, anon_signature UBIGINT, anon_rows_1 BIGINT)
-- :classes (anon_key_0 BIGINT, anon_signature UBIGINT, anon_persons BIGINT, anon_is_kept BOOLEAN)
-- :keys anon_key_0, anon_signature

-- name: sums
-- rows by the row that they belong to
-- Signatures add up the hashes of rows with all that is below them, so that their order means nothing.
-- :sums sum(CAST(hash(anon_key_0 & 3, 42) AS HUGEINT)) AS anon_signature_1, count(*) AS anon_rows_1
SELECT anon_parent, :sums
FROM :rows
GROUP BY anon_parent;

-- name: classes
-- persons who look alike
-- :columns anon_key_0 & 1 AS anon_key_0, anon_signature
-- :values anon_key_0 & 1, anon_signature
-- :carried sum(anon_rows_1) AS anon_rows_1
SELECT :columns, count(*) AS anon_persons, :carried
FROM :persons
GROUP BY :values;

-- name: counts
-- classes of a node, and what it leaves out
-- :node 0
-- :left_out coalesce(sum(anon_persons) FILTER (WHERE NOT anon_is_kept), 0) AS left_out_0
SELECT :node AS node, count(*) AS class_count, count(*) FILTER (WHERE anon_is_kept) AS kept_class_count, :left_out
FROM :classes;

-- name: kept_persons
-- persons to release
-- :values anon_key_0 & 1, anon_signature
SELECT anon_person
FROM (SELECT anon_person, :values AS :keys FROM :persons AS anon_all) AS anon_keyed
INNER JOIN :classes AS anon_classes USING (:keys)
WHERE anon_classes.anon_is_kept;

-- name: values_of_persons
-- values of persons in some row, with the share of all persons who have them
-- :rows (anon_person BIGINT, diagnosis VARCHAR)
-- :value diagnosis
-- :person_count 100
SELECT
    anon_person,
    dense_rank() OVER (ORDER BY anon_value ASC NULLS FIRST) AS anon_value,
    count(*) OVER (PARTITION BY anon_value) / :person_count AS anon_share
FROM (SELECT DISTINCT anon_person, :value AS anon_value FROM :rows);

-- name: holders
-- values of classes of persons, with the persons who have them
-- :columns anon_key_0 & 1 AS anon_key_0, anon_signature
-- :groups anon_key_0 & 1, anon_signature
-- :values (anon_person BIGINT, anon_value BIGINT, anon_share DOUBLE)
SELECT :columns, anon_value, any_value(anon_share) AS anon_share, count(*) AS anon_holders
FROM :persons AS anon_persons
INNER JOIN :values AS anon_held USING (anon_person)
GROUP BY :groups, anon_value;

-- name: value_measures
-- classes of persons by the shares of persons who have a value
-- :holders (anon_key_0 BIGINT, anon_signature UBIGINT, anon_share DOUBLE, anon_holders BIGINT)
SELECT
    :keys,
    max(anon_holders / anon_persons) AS largest_share,
    max(anon_holders / anon_share / anon_persons) - 1 AS basic_likeness,
    -- An equal gain keeps the bound of -ln, so the number of persons is on the other side, as in enhanced_likeness_of.
    CASE
        WHEN bool_or(anon_holders / anon_share / (1 - ln(anon_share)) > anon_persons) THEN CAST('infinity' AS DOUBLE)
        ELSE max(anon_holders / anon_share / anon_persons) - 1
    END AS enhanced_likeness,
    ln(max(anon_holders / anon_share / anon_persons)) / ln(2.0) AS disclosure
FROM :holders
INNER JOIN (SELECT :keys, anon_persons FROM :classes) AS anon_sizes USING (:keys)
GROUP BY :keys;
