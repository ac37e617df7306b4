-- Tables as they are: events that become individuals, and the labels in a release.

-- name: event_counts
-- counts of events
-- What is in a table of events: the individuals and their events, how many of both are cut, the rows without an
-- individual, and the individuals for which a column to keep is not the same in all rows.
-- :source (person VARCHAR, city VARCHAR)
-- :individual person
-- :first 2
-- :are_different min(anon_source.city) IS DISTINCT FROM max(anon_source.city)
-- :varies varies_0
-- :varying varying_0
SELECT
    count(*) FILTER (WHERE anon_individual IS NOT NULL) AS individuals,
    CAST(coalesce(sum(event_rows) FILTER (WHERE anon_individual IS NOT NULL), 0) AS BIGINT) AS events,
    count(*) FILTER (WHERE anon_individual IS NOT NULL AND event_rows > :first) AS cut_individuals,
    CAST(coalesce(
        sum(event_rows - :first) FILTER (WHERE anon_individual IS NOT NULL AND event_rows > :first), 0
    ) AS BIGINT) AS cut_events,
    CAST(coalesce(sum(event_rows) FILTER (WHERE anon_individual IS NULL), 0) AS BIGINT) AS lost_events,
    count(*) FILTER (WHERE anon_individual IS NOT NULL AND :varies) AS :varying
FROM (
    SELECT
        anon.text_of(anon_source.:individual) COLLATE "binary" AS anon_individual,
        count(*) AS event_rows,
        :are_different AS :varies
    FROM :source AS anon_source
    GROUP BY anon.text_of(anon_source.:individual) COLLATE "binary"
) AS anon_individuals;

-- name: rows_of_individuals
-- rows of individuals
-- The rows of a table of events under names of our own: :event is a struct, one event for the macro.
-- :source (person VARCHAR, city VARCHAR)
-- :individual person
-- :event {'individual': anon_source.person}
-- :order anon_source.city AS anon_order_0
SELECT anon.text_of(anon_source.:individual) COLLATE "binary" AS anon_individual, :event AS anon_event, :order
FROM :source AS anon_source;

-- name: individuals
-- individuals with their first events
-- Individuals that the database takes for equal, such as texts of another case, still have an order.
-- :events (individual VARCHAR, position BIGINT, event STRUCT(individual VARCHAR, event_0 VARCHAR))
-- :individual person
-- :columns any_value(struct_extract(anon_events.event, 'event_0')) FILTER (WHERE anon_events.position = 1) AS first_city
SELECT any_value(struct_extract(anon_events.event, 'individual')) AS :individual, :columns
FROM :events AS anon_events
GROUP BY anon_events.individual
ORDER BY any_value(struct_extract(anon_events.event, 'individual')) ASC, anon_events.individual ASC;

-- name: risks
-- risks of classes
-- What needs no privacy model.
-- :classes (k BIGINT, class_count BIGINT, row_count BIGINT)
-- :prosecutor (highest_risk DOUBLE, average_risk DOUBLE)
-- :uniqueness (unique_rows BIGINT, unique_share DOUBLE)
SELECT
    anon_k_anonymity.k,
    anon_k_anonymity.class_count,
    anon_k_anonymity.row_count,
    anon_prosecutor_risk.highest_risk,
    anon_prosecutor_risk.average_risk,
    anon_sample_uniqueness.unique_rows,
    anon_sample_uniqueness.unique_share
FROM :classes AS anon_k_anonymity
CROSS JOIN :prosecutor AS anon_prosecutor_risk
CROSS JOIN :uniqueness AS anon_sample_uniqueness;

-- name: blank_rows
-- rows with blanks
-- :released (age VARCHAR)
-- :labels coalesce(CAST(age AS VARCHAR), '*')
SELECT count(*) AS blank_rows FROM :released AS anon_released WHERE list_contains(list_value(:labels), '*');

-- name: few_matches
-- persons whom few rows of a release fit
-- :found (matching_rows BIGINT, person_count BIGINT)
-- :k 3
SELECT
    CAST(sum(person_count) AS BIGINT) AS persons,
    CAST(coalesce(sum(person_count) FILTER (WHERE matching_rows BETWEEN 1 AND :k - 1), 0) AS BIGINT) AS few,
    CAST(coalesce(sum(person_count) FILTER (WHERE matching_rows = 1), 0) AS BIGINT) AS one,
    CAST(coalesce(sum(person_count) FILTER (WHERE matching_rows = 0), 0) AS BIGINT) AS none
FROM :found AS anon_found;

-- name: foreign_labels
-- labels that are not of a cut
-- :source (age VARCHAR)
-- :attribute 'age'
-- :name age
-- :labels '27', '28'
SELECT
    :attribute AS attribute,
    count(DISTINCT anon.text_of(:name) COLLATE "binary") AS foreign_labels,
    count(*) AS foreign_rows
FROM :source
WHERE anon.text_of(:name) COLLATE "binary" IS NOT NULL AND NOT anon.text_of(:name) COLLATE "binary" IN (:labels);

-- name: labels_of_cut
-- labels of a cut that their taxonomy has
-- :taxonomy (attribute VARCHAR, level INTEGER, label VARCHAR)
-- :labels (level INTEGER, label VARCHAR)
-- :attribute 'age'
SELECT anon_stored.label
FROM :taxonomy AS anon_stored
INNER JOIN :labels AS anon_cut ON anon_stored.level = anon_cut.level AND anon_stored.label = anon_cut.label
WHERE anon_stored.attribute = :attribute;

-- name: labels_at
-- labels that a taxonomy has at some levels
-- :taxonomy (attribute VARCHAR, level INTEGER, label VARCHAR)
-- :attribute 'age'
-- :levels 0, 2
SELECT anon_stored.label FROM :taxonomy AS anon_stored WHERE anon_stored.attribute = :attribute AND anon_stored.level IN (:levels);

-- name: overview
-- the tables of the database
-- The tables and views of the current database, each with about how many rows it has; a row without a name if there is
-- none.
SELECT anon_database.database_name, anon_found.* EXCLUDE (database_name)
FROM (SELECT current_database() AS database_name) AS anon_database
LEFT JOIN (
    SELECT
        database_name,
        if(schema_name = current_schema(), table_name, concat_ws('.', schema_name, table_name)) AS table_name,
        estimated_size AS row_count,
        column_count,
        comment
    FROM duckdb_tables()
    WHERE NOT internal AND NOT temporary AND schema_name <> 'anon'
    UNION ALL
    SELECT
        database_name,
        if(schema_name = current_schema(), view_name, concat_ws('.', schema_name, view_name)),
        NULL,
        column_count,
        comment
    FROM duckdb_views()
    WHERE NOT internal AND NOT temporary AND schema_name <> 'anon'
) AS anon_found ON anon_found.database_name = anon_database.database_name
ORDER BY anon_found.table_name ASC;
