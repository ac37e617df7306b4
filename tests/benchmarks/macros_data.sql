-- Invented people with eight quasi-identifiers, their taxonomies, a release of them and a larger population, all from
-- hashes, so that every run has the same rows. The number of people is the variable people_rows.

CREATE TABLE people AS
SELECT
    id,
    CAST(hash(id, 1) % 90 AS INTEGER) AS age,
    CASE hash(id, 2) % 2 WHEN 0 THEN 'f' ELSE 'm' END AS sex,
    lpad(CAST(hash(id, 3) % 1000 AS VARCHAR), 5, '1') AS zip,
    DATE '2020-01-01' + CAST(hash(id, 4) % 730 AS INTEGER) AS admission,
    'city ' || hash(id, 5) % 50 AS city,
    'job ' || hash(id, 6) % 50 AS job,
    'school ' || hash(id, 7) % 16 AS education,
    'plan ' || hash(id, 8) % 5 AS insurance,
    'diagnosis ' || hash(id, 9) % 30 AS diagnosis,
    hash(id, 10) % CAST(getvariable('people_rows') // 4 + 1 AS UBIGINT) AS person,
    1.0 AS weight
FROM range(CAST(getvariable('people_rows') AS BIGINT)) AS numbers (id);

CREATE TABLE population AS
FROM people
UNION ALL
SELECT * REPLACE (-1 - id AS id) FROM people WHERE id % 5 = 0;

-- Four levels each: the value, a group by the start or the end of its text, half of the domain, and *.
INSERT INTO anon.taxonomy
SELECT
    attribute,
    level,
    value,
    CASE level
        WHEN 0 THEN value
        WHEN 1 THEN 'group ' || position // 4
        WHEN 2 THEN 'half ' || 2 * position // domain_size
        ELSE '*'
    END AS label
FROM (
    SELECT
        attribute,
        value,
        row_number() OVER (PARTITION BY attribute ORDER BY value) - 1 AS position,
        count(*) OVER (PARTITION BY attribute) AS domain_size
    FROM (
        SELECT DISTINCT attribute, value
        FROM (
            UNPIVOT (
                SELECT CAST(COLUMNS(['age', 'sex', 'zip', 'admission', 'city', 'job', 'education', 'insurance', 'diagnosis']) AS VARCHAR)
                FROM people
            )
            ON COLUMNS(*) INTO NAME attribute VALUE value
        )
    )
) AS domains
CROSS JOIN range(4) AS levels (level);

CREATE TABLE released AS
SELECT ages.label AS age, people.sex, cities.label AS city, people.diagnosis, people.weight
FROM people
INNER JOIN anon.taxonomy AS ages
    ON ages.attribute = 'age' AND ages.level = 1 AND ages.value = CAST(people.age AS VARCHAR)
INNER JOIN anon.taxonomy AS cities ON cities.attribute = 'city' AND cities.level = 1 AND cities.value = people.city;

-- The same with numbered classes, and a catalog of pairs of them, in which every third row is taken to be invented.
CREATE TABLE filled AS
SELECT dense_rank() OVER (ORDER BY age, sex, city) AS class_id, age, sex, city, diagnosis
FROM released;

CREATE TABLE catalog AS
SELECT list(DISTINCT class_id ORDER BY class_id) AS class_ids, diagnosis, count(*) // 3 AS counterfeits
FROM filled
WHERE class_id % 10 < 4
GROUP BY class_id // 2, diagnosis
HAVING count(*) >= 3;

CREATE TABLE cells AS
SELECT age, sex, zip, city, count(*) AS row_count FROM people GROUP BY ALL;

-- Parts of what one would write by hand.
CREATE VIEW hand_labels AS
SELECT attribute, level, value, label, count(*) OVER (PARTITION BY attribute, level, label) AS leaves
FROM anon.taxonomy;

CREATE VIEW hand_counts AS
SELECT age, sex, city, diagnosis, count(*) AS row_count FROM people GROUP BY ALL;

CREATE VIEW hand_shares AS
SELECT diagnosis, count(*) / sum(count(*)) OVER () AS share FROM people GROUP BY diagnosis;

CREATE VIEW hand_frequencies AS
SELECT
    age, sex, city, diagnosis, row_count, share, sum(row_count) OVER (PARTITION BY age, sex, city) AS class_size
FROM hand_counts
INNER JOIN hand_shares USING (diagnosis);

-- The classes of the people at the node of the release, with the leaves of their labels.
CREATE VIEW hand_classes AS
SELECT
    ages.label AS age, sexes.label AS sex, cities.label AS city, count(*) AS class_size,
    any_value(ages.leaves) AS age_leaves, any_value(sexes.leaves) AS sex_leaves, any_value(cities.leaves) AS city_leaves
FROM (SELECT age, sex, city FROM people) AS rows
INNER JOIN hand_labels AS ages ON ages.attribute = 'age' AND ages.level = 1 AND ages.value = CAST(rows.age AS VARCHAR)
INNER JOIN hand_labels AS sexes ON sexes.attribute = 'sex' AND sexes.level = 0 AND sexes.value = rows.sex
INNER JOIN hand_labels AS cities ON cities.attribute = 'city' AND cities.level = 1 AND cities.value = rows.city
GROUP BY ages.label, sexes.label, cities.label;

CREATE VIEW hand_losses AS
SELECT
    class_size,
    (age_leaves - 1) / (ages - 1) AS age_lm, (sex_leaves - 1) / (sexes - 1) AS sex_lm,
    (city_leaves - 1) / (cities - 1) AS city_lm,
    CASE WHEN age_leaves > 1 THEN age_leaves / ages ELSE 0 END AS age_ncp,
    CASE WHEN sex_leaves > 1 THEN sex_leaves / sexes ELSE 0 END AS sex_ncp,
    CASE WHEN city_leaves > 1 THEN city_leaves / cities ELSE 0 END AS city_ncp
FROM hand_classes
CROSS JOIN (
    SELECT
        count(*) FILTER (WHERE attribute = 'age') AS ages,
        count(*) FILTER (WHERE attribute = 'sex') AS sexes,
        count(*) FILTER (WHERE attribute = 'city') AS cities
    FROM anon.taxonomy
    WHERE level = 0
) AS domains;

CREATE VIEW hand_matched AS
SELECT
    coalesce(sample.class_size, 0) AS class_size,
    greatest(coalesce(sample.class_size, 0), coalesce(everyone.class_size, 0)) AS population_size
FROM (SELECT age, sex, city, count(*) AS class_size FROM people GROUP BY ALL) AS sample
FULL JOIN (SELECT age, sex, city, count(*) AS class_size FROM population GROUP BY ALL) AS everyone
    USING (age, sex, city);

CREATE VIEW hand_compared AS
SELECT
    age, sex, city, diagnosis,
    coalesce(originals.row_count, 0) AS original_rows, coalesce(releases.row_count, 0) AS released_rows
FROM (
    SELECT ages.label AS age, people.sex, cities.label AS city, people.diagnosis, count(*) AS row_count
    FROM people
    INNER JOIN anon.taxonomy AS ages
        ON ages.attribute = 'age' AND ages.level = 1 AND ages.value = CAST(people.age AS VARCHAR)
    INNER JOIN anon.taxonomy AS cities ON cities.attribute = 'city' AND cities.level = 1 AND cities.value = people.city
    GROUP BY ALL
) AS originals
FULL JOIN (
    SELECT age, sex, city, diagnosis, count(*) AS row_count FROM released GROUP BY ALL
) AS releases USING (age, sex, city, diagnosis);

CREATE VIEW hand_label_values AS
SELECT attribute, label, value, 1.0 / count(*) OVER (PARTITION BY attribute, label) AS share
FROM (
    SELECT *, max(level) OVER (PARTITION BY attribute, label) AS highest FROM anon.taxonomy
)
WHERE level = highest;

CREATE VIEW hand_catalog AS
SELECT
    class_ids, class_id, diagnosis, class_rows,
    sum(class_rows) OVER (PARTITION BY class_ids, diagnosis) AS group_rows, counterfeits
FROM (SELECT class_ids, unnest(class_ids) AS class_id, diagnosis, counterfeits FROM catalog)
INNER JOIN (SELECT class_id, diagnosis, count(*) AS class_rows FROM filled GROUP BY ALL) USING (class_id, diagnosis);

-- A cut: all predictors at a level of their own, days since 2020 in intervals, and sets of jobs and cities.
CREATE TABLE patients AS
SELECT
    *,
    date_diff('day', DATE '2020-01-01', admission) AS day,
    CAST(id % 1000 AS DOUBLE) AS dose,
    list_distinct([job, city, 'job ' || id % 50]) AS places
FROM people;

CREATE TABLE cut AS
SELECT attribute, value, CAST(NULL AS DOUBLE) AS low, CAST(NULL AS DOUBLE) AS high, label
FROM anon.taxonomy
WHERE level = 1 AND attribute IN ('age', 'sex', 'zip', 'city', 'job', 'education', 'insurance')
UNION ALL
SELECT 'day', NULL, start, start + 146, 'days from ' || start FROM range(0, 730, 146) AS starts (start)
UNION ALL
SELECT 'dose', NULL, start, start + 250, 'doses from ' || start FROM range(0, 1000, 250) AS starts (start)
UNION ALL
SELECT 'places', value, NULL, NULL, label FROM anon.taxonomy WHERE level = 1 AND attribute IN ('job', 'city');
