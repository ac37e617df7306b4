-- Cuts: taxonomies in the order of their leaves, the splits of intervals, and the cut of a release as a table.

-- name: ordered_leaves
-- ordered leaves
-- The values of taxonomies, numbered from 0 in the order of their labels from the top
-- down, so that the values under any label follow each other; with their label at every level. NULL is left out.
-- :taxonomies (position INTEGER, attribute VARCHAR)
-- :taxonomy_labels (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR, leaf_count BIGINT)
SELECT
    anon_taxonomies.position,
    anon_taxonomy_labels.level AS depth,
    anon_taxonomy_labels.value,
    anon_taxonomy_labels.label,
    anon_places.leaf
FROM :taxonomies AS anon_taxonomies
INNER JOIN :taxonomy_labels AS anon_taxonomy_labels ON anon_taxonomy_labels.attribute = anon_taxonomies.attribute
INNER JOIN (
    SELECT
        attribute,
        value,
        row_number() OVER (PARTITION BY attribute ORDER BY anon_path ASC, encode(value) ASC) - 1 AS leaf
    FROM (
        SELECT attribute, value, list(encode(label) ORDER BY level DESC) AS anon_path
        FROM :taxonomy_labels AS anon_taxonomy_labels
        WHERE value IS NOT NULL
        GROUP BY attribute, value
    ) AS anon_paths
) AS anon_places ON anon_places.attribute = anon_taxonomies.attribute AND anon_places.value = anon_taxonomy_labels.value;

-- name: best_splits
-- best splits
-- Where to split intervals in two: of the scores of splits behind each value the best of each interval, by the value that its second part begins with; of several the first.
-- Scores are compared to 12 digits: equal ones are to be equal, in whatever order their terms were added.
-- :scored (candidate INTEGER, value DOUBLE, information_gain DOUBLE)
SELECT candidate, anon_at AS at
FROM (
    SELECT
        candidate,
        round(information_gain, 12) AS anon_gain,
        lead(value) OVER (PARTITION BY candidate ORDER BY value ASC) AS anon_at
    FROM :scored
) AS anon_splits
WHERE anon_at IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY candidate ORDER BY anon_gain DESC, anon_at ASC) = 1;

-- name: noted_cut
-- noted cut
-- A cut as a table, as anon.apply_cut takes it: the values under the labels that were noted, or all values for a label of all, and what was
-- noted of no values.
-- :noted_labels (attribute VARCHAR, level INTEGER, label VARCHAR, is_of_all BOOLEAN)
-- :noted_parts (attribute VARCHAR, low DOUBLE, high DOUBLE, label VARCHAR)
SELECT
    anon_noted_labels.attribute,
    anon_stored.value,
    CAST(NULL AS DOUBLE) AS low,
    CAST(NULL AS DOUBLE) AS high,
    anon_noted_labels.label
FROM :noted_labels AS anon_noted_labels
INNER JOIN anon.taxonomy AS anon_stored
    ON anon_stored.attribute = anon_noted_labels.attribute
    AND anon_stored.level = anon_noted_labels.level
    AND (anon_noted_labels.is_of_all OR anon_stored.label = anon_noted_labels.label)
WHERE anon_stored.value IS NOT NULL
UNION ALL
SELECT attribute, NULL, low, high, label FROM :noted_parts;
