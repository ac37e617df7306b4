-- Taxonomies as they are stored, and what is wrong with them.

-- name: given_taxonomies
-- given taxonomies
-- The rows of taxonomies that are given: a list of labels per level, whose names and numbers $1 and $2 are. The values
-- are the labels of the first level.
-- $1 ['age']
-- $2 [0]
-- $3 [['1']]
SELECT
    anon_attribute AS attribute,
    anon_level AS level,
    unnest(anon_values) AS value,
    unnest(anon_labels) AS label
FROM (
    SELECT
        anon_attribute,
        anon_level,
        first(anon_labels) OVER (PARTITION BY anon_attribute ORDER BY anon_level ASC) AS anon_values,
        anon_labels
    FROM (
        SELECT
            unnest(CAST($1 AS VARCHAR[])) AS anon_attribute,
            unnest(CAST($2 AS INTEGER[])) AS anon_level,
            unnest(CAST($3 AS VARCHAR[][])) AS anon_labels
    ) AS anon_given
) AS anon_leveled;

-- name: taxonomy_shapes
-- taxonomy shapes
-- Every level of the taxonomies: how many labels and values it has, how many of them are NULL, and a
-- hash of its rows in a fixed order.
SELECT
    anon_taxonomy.attribute,
    anon_taxonomy.level,
    count(DISTINCT anon_taxonomy.label) + CAST(bool_or(anon_taxonomy.label IS NULL) AS BIGINT) AS label_count,
    count(*) AS value_count,
    count(*) - count(anon_taxonomy.value) AS null_value_count,
    count(*) - count(anon_taxonomy.label) AS null_label_count,
    coalesce(any_value(anon_domain.domain), 'observed') AS domain,
    sha256(string_agg(
        concat(coalesce(anon_taxonomy.value, ''), chr(31), coalesce(anon_taxonomy.label, ''), chr(30)), ''
        ORDER BY anon_taxonomy.value ASC NULLS FIRST, anon_taxonomy.label ASC NULLS FIRST
    )) AS sha256
FROM anon.taxonomy AS anon_taxonomy
LEFT JOIN anon.taxonomy_domain AS anon_domain ON anon_domain.attribute = anon_taxonomy.attribute
GROUP BY anon_taxonomy.attribute, anon_taxonomy.level
ORDER BY anon_taxonomy.attribute ASC, anon_taxonomy.level ASC;

-- name: roots
-- roots
-- The label of the top of taxonomies, and the number of rows below where it stands under another label: then it is not
-- that of the top alone.
-- :attributes 'age', 'sex'
SELECT
    attribute,
    any_value(label) FILTER (WHERE level = anon_height) AS root,
    count(*) FILTER (WHERE label = anon_root AND anon_next IS DISTINCT FROM anon_root AND level < anon_height) AS others
FROM (
    SELECT
        *,
        max(label) FILTER (WHERE level = anon_height) OVER (PARTITION BY attribute) AS anon_root,
        lead(label) OVER (PARTITION BY attribute, value ORDER BY level ASC) AS anon_next
    FROM (
        SELECT attribute, level, value, label, max(level) OVER (PARTITION BY attribute) AS anon_height
        FROM anon.taxonomy
        WHERE attribute IN (:attributes)
    ) AS anon_levels
) AS anon_rooted
GROUP BY attribute;

-- name: taxonomy_origins
-- of each attribute, the file that stated its taxonomy when it was loaded last, and the hash of the labels then
SELECT
    attribute,
    arg_max(coalesce(origin, ''), rowid) AS origin,
    arg_max(sha256, rowid) AS sha256
FROM anon.taxonomy_origin
GROUP BY attribute;

-- name: observed_taxonomies
-- the hashes of all taxonomies whose values were read off the data, those that were replaced included
SELECT DISTINCT sha256
FROM anon.taxonomy_origin
WHERE domain = 'observed';

-- name: values_without_rule
-- how many values a rule has no label for, and how many of these are numbers with a decimal comma
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
-- :attribute 'age'
SELECT
    count(*) AS value_count,
    count(*) FILTER (WHERE regexp_full_match(value, '\s*[-+]?[0-9]{1,3}([.]?[0-9]{3})*,[0-9]+\s*')) AS comma_count
FROM :taxonomy
WHERE attribute = :attribute AND level = 1 AND label IS NULL;

-- name: counted_labels
-- labels with the leaves of whole domains
-- Labels may have more leaves than the table has values under them.
-- :labels (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR, leaf_count BIGINT)
-- :leaves (attribute VARCHAR, level INTEGER, label VARCHAR, leaf_count BIGINT)
SELECT
    anon_own_labels.attribute,
    anon_own_labels.level,
    anon_own_labels.value,
    anon_own_labels.label,
    coalesce(anon_counted_labels.leaf_count, anon_own_labels.leaf_count) AS leaf_count
FROM :labels AS anon_own_labels
LEFT JOIN :leaves AS anon_counted_labels
    ON anon_own_labels.attribute = anon_counted_labels.attribute
    AND anon_own_labels.level = anon_counted_labels.level
    AND anon_own_labels.label = anon_counted_labels.label;

-- name: leaf_counts
-- leaves of labels
-- How many values of whole domains are under the labels of a table.
-- :listings (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
SELECT attribute, level, label, count(*) AS leaf_count
FROM :listings
WHERE
    level > 0
    AND (attribute, level, label) IN (SELECT (attribute, level, label) FROM :taxonomy WHERE level > 0)
GROUP BY attribute, level, label;

-- name: level_counts
-- levels that are not from 0 to the highest
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
-- :highest 3
SELECT attribute, count(*) FILTER (WHERE level IS NULL OR NOT level BETWEEN 0 AND :highest) AS wrong_levels
FROM :taxonomy
GROUP BY attribute;

-- name: values_of
-- values of a taxonomy
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
-- :attribute 'age'
SELECT value FROM :taxonomy WHERE attribute = :attribute AND level = 0;

-- name: uneven_digits
-- digits of values
-- The taxonomies whose values are digits alone, and not as many in all of them: one may have lost zeros at its beginning.
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
-- :attributes 'age', 'sex'
SELECT attribute, min(length(value)) AS fewest_digits, max(length(value)) AS most_digits
FROM :taxonomy
WHERE level = 0 AND attribute IN (:attributes) AND value IS NOT NULL
GROUP BY attribute
HAVING bool_and(regexp_full_match(value, '[0-9]+')) AND min(length(value)) < max(length(value));

-- name: values_without_label
-- values without a label
-- The texts of a column, the most frequent first. They are taken behind a barrier: a CSV would give those that stand in
-- it, whatever the type of the column.
-- :source (age VARCHAR)
-- :name age
-- :text value
-- :is_missing TRUE
WITH anon_source AS MATERIALIZED (SELECT :name AS value FROM :source)
SELECT value, count(*) AS rows
FROM (SELECT :text AS value FROM anon_source) AS anon_texts
WHERE value IS NOT NULL AND :is_missing
GROUP BY value
ORDER BY rows DESC, value ASC;

-- name: count_of
-- values and rows of a list
-- :listed (value VARCHAR, rows BIGINT)
SELECT count(*) AS value_count, CAST(coalesce(sum(rows), 0) AS BIGINT) AS row_count FROM :listed;

-- name: integers
-- values of a range of whole numbers
-- :first 0
-- :end 3
SELECT anon.text_of(anon_number) AS value FROM range(:first, :end) AS anon_range (anon_number);

-- name: occurring_integers
-- values of a range of whole numbers that occur
-- Those that were found, and the two ends.
-- :first 0
-- :last 2
-- :end 3
-- :found (number BIGINT)
SELECT anon.text_of(anon_number) AS value
FROM range(:first, :end) AS anon_range (anon_number)
WHERE
    anon_number IN (SELECT number FROM :found WHERE number IS NOT NULL)
    OR anon_number IN (:first, :last);

-- name: whole_numbers
-- values as whole numbers
-- NULL for what is none.
-- :source (age VARCHAR)
-- :name age
SELECT TRY_CAST(anon.text_of(anon_value) AS BIGINT) AS number
FROM (SELECT DISTINCT :name AS anon_value FROM :source) AS anon_values;

-- name: days
-- days of a range of dates
-- :first '2024-01-01'
-- :last '2024-01-03'
SELECT anon.text_of(CAST(anon_day AS DATE)) AS value
FROM generate_series(CAST(:first AS DATE), CAST(:last AS DATE), INTERVAL '1' DAY) AS anon_range (anon_day);

-- name: given_values
-- values of a declared domain
-- $1 ['female', 'male']
SELECT unnest(CAST($1 AS VARCHAR[])) AS value;

-- name: observed_values
-- distinct values of a column
-- As text, and without NULL: every taxonomy knows it.
-- :source (age VARCHAR)
-- :name age
SELECT value
FROM (SELECT DISTINCT anon.text_of(:name) COLLATE "binary" AS value FROM :source) AS anon_values
WHERE value IS NOT NULL;

-- name: missing_values
-- NULL as the only value of a taxonomy
-- Of a column that has no other value: NULL itself, and the label of the top at each level above. No row of a source
-- without rows.
-- :attribute 'age'
-- :source (age VARCHAR)
-- :name age
-- :levels 3
-- :top '*'
SELECT
    :attribute AS attribute,
    CAST(anon_level AS INTEGER) AS level,
    CAST(NULL AS VARCHAR) AS value,
    CASE WHEN anon_level > 0 THEN :top END AS label
FROM (SELECT DISTINCT anon.text_of(:name) COLLATE "binary" AS anon_value FROM :source) AS anon_values
CROSS JOIN range(:levels) AS anon_range (anon_level)
WHERE anon_value IS NULL;

-- name: labels_at
-- labels of a level
-- :rows (value VARCHAR, label VARCHAR)
-- :depth 1
-- :value value
-- :label label
SELECT :depth AS level, :value AS value, :label AS label FROM :rows;

-- name: distinct_labels
-- distinct labels of a level
-- :rows (value VARCHAR, label VARCHAR)
-- :depth 1
-- :value value
-- :label label
SELECT DISTINCT :depth AS level, :value AS value, :label AS label
FROM :rows
WHERE :value IS NOT NULL AND :label IS NOT NULL;

-- name: long_taxonomy
-- rows of a taxonomy that is given
-- :rows (level VARCHAR, value VARCHAR, label VARCHAR)
SELECT
    TRY_CAST(anon_helpers.as_read(level) AS INTEGER) AS level,
    anon.text_of(value) AS value,
    anon.text_of(label) AS label
FROM :rows AS anon_long;

-- name: wide_taxonomy
-- a taxonomy with a column for each level
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
-- :attribute 'age'
-- :levels max(label) FILTER (WHERE level = 1) AS level_1
SELECT value AS level_0, :levels
FROM :taxonomy
WHERE attribute = :attribute
GROUP BY value
ORDER BY level_0 ASC NULLS FIRST;

-- name: staged_taxonomy
-- rows of a taxonomy that is loaded
-- :attribute 'age'
-- :levels (level INTEGER, value VARCHAR, label VARCHAR)
SELECT :attribute AS attribute, CAST(anon_levels.level AS INTEGER) AS level, anon_levels.value, anon_levels.label
FROM :levels AS anon_levels;

-- name: values_of_levels
-- values of a taxonomy that is not stored
-- :levels (level INTEGER, value VARCHAR, label VARCHAR)
SELECT anon_levels.value FROM :levels AS anon_levels WHERE anon_levels.level = 0;

-- name: first_of_equal_rows
-- the first of equal rows of taxonomies
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
SELECT min(rowid) AS first_row FROM :taxonomy GROUP BY attribute, level, value, label;

-- name: rows_of
-- rows of some taxonomies
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
-- :attributes 'age', 'sex'
SELECT * FROM :taxonomy WHERE attribute IN (:attributes);

-- name: stored_and_staged
-- taxonomies that are stored, and those that are loaded
-- The attributes of the latter have a NUL in front, which no name has.
-- :stored (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
-- :staged (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
SELECT attribute, level, value, label FROM :stored
UNION ALL
SELECT concat(chr(0), attribute), level, value, label FROM :staged;

-- name: attributes
-- attributes with a taxonomy
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
SELECT DISTINCT attribute FROM :taxonomy;

-- name: items
-- items of a column of lists
-- :source (drugs VARCHAR[])
-- :name drugs
SELECT unnest(:name) AS :name FROM :source;

-- name: known_values
-- values of a taxonomy without NULL
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
-- :attribute 'age'
SELECT value FROM :taxonomy WHERE attribute = :attribute AND level = 0 AND value IS NOT NULL;

-- name: both_spellings
-- values as they are and as a column spells them
-- Beside others than whole numbers and days, NULL.
-- :known (value VARCHAR)
-- :spelled CASE WHEN value = '27' THEN '27.0' END
SELECT unnest([value, :spelled]) AS value FROM :known AS anon_whole;
