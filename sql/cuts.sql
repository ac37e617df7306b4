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

-- name: first_places
-- where the values under each label begin
-- :leaves (position INTEGER, depth INTEGER, value VARCHAR, label VARCHAR, leaf BIGINT)
SELECT position, depth, CAST(min(leaf) AS BIGINT) AS first FROM :leaves GROUP BY position, depth, label;

-- name: values_of_axis
-- the values of a taxonomy
-- :leaves (position INTEGER, depth INTEGER, value VARCHAR, label VARCHAR, leaf BIGINT)
-- :position 0
SELECT value FROM :leaves WHERE position = :position AND depth = 0;

-- name: marginal
-- rows by value and class
-- :points (anon_value_0 UTINYINT, anon_class UTINYINT, anon_row_count BIGINT)
-- :position 0
-- :value anon_value_0
SELECT
    :position AS position,
    CAST(:value AS BIGINT) AS value,
    anon_class AS class,
    CAST(sum(anon_row_count) AS BIGINT) AS row_count
FROM :points
GROUP BY :value, anon_class;

-- name: no_marginals
-- rows by value and class
-- :points (anon_class UTINYINT)
SELECT 0 AS position, 0 AS value, 0 AS class, 0 AS row_count FROM :points WHERE FALSE;

-- name: values_in
-- values of a predictor with the pieces that they lie in
-- :marginals (position INTEGER, value BIGINT, class BIGINT, row_count BIGINT)
-- :pieces (position INTEGER, first BIGINT, "end" BIGINT, place BIGINT)
-- :position 0
-- :columns place
SELECT DISTINCT anon_rows.value, anon_pieces.:columns
FROM :marginals AS anon_rows
INNER JOIN :pieces AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
WHERE anon_rows.position = :position;

-- name: specialization_scores
-- scores of specializations
-- The counts are made once, since the macro reads anon_counts several times.
-- :counts (candidate INTEGER, child INTEGER, class INTEGER, row_count BIGINT)
-- :scored (candidate INTEGER, max_score BIGINT)
-- :score CAST(max_score AS BIGINT)
WITH anon_counts AS MATERIALIZED (SELECT * FROM :counts AS anon_child_counts)
SELECT candidate, :score AS score FROM :scored AS anon_scored;

-- name: split_scores
-- scores of splits
-- The counts are made once, since the macro reads anon_counts several times.
-- :counts (candidate INTEGER, value BIGINT, class INTEGER, row_count BIGINT)
-- :scored (candidate INTEGER, value BIGINT, max_score BIGINT)
-- :score CAST(max_score AS BIGINT)
WITH anon_counts AS MATERIALIZED (SELECT * FROM :counts AS anon_value_counts)
SELECT candidate, value, :score AS score
FROM :scored AS anon_scored
ORDER BY candidate ASC, value ASC;

-- name: counts_in
-- rows of classes in pieces
-- :marginals (position INTEGER, value BIGINT, class BIGINT, row_count BIGINT)
-- :pieces (position INTEGER, first BIGINT, "end" BIGINT, candidate BIGINT, child BIGINT)
-- :keys anon_pieces.candidate, anon_rows.class
SELECT :keys, CAST(sum(anon_rows.row_count) AS BIGINT) AS row_count
FROM :marginals AS anon_rows
INNER JOIN :pieces AS anon_pieces
    ON anon_rows.position = anon_pieces.position
    AND anon_rows.value >= anon_pieces.first
    AND anon_rows.value < anon_pieces."end"
GROUP BY :keys;

-- name: labelled_cut
-- labels of the cut
-- :given (position INTEGER, attribute VARCHAR, first BIGINT, "end" BIGINT, depth INTEGER, text VARCHAR, low DOUBLE,
--     high DOUBLE)
-- :leaves (position INTEGER, depth INTEGER, value VARCHAR, label VARCHAR, leaf BIGINT)
SELECT
    anon_given.position,
    anon_given.attribute,
    anon_given.first,
    anon_given."end",
    anon_given.depth,
    anon_given.low,
    anon_given.high,
    coalesce(anon_given.text, anon_leaves.label) AS label
FROM :given AS anon_given
LEFT JOIN :leaves AS anon_leaves
    ON anon_leaves.position = anon_given.position
    AND anon_leaves.leaf = anon_given.first
    AND anon_leaves.depth = anon_given.depth;

-- name: cut_labels
-- labels of the cut
-- :cut (position INTEGER, attribute VARCHAR, first BIGINT, "end" BIGINT, depth INTEGER, low DOUBLE, high DOUBLE,
--     label VARCHAR)
SELECT attribute, depth, low, high, label FROM :cut ORDER BY position ASC, first ASC;

-- name: cut_rows
-- the cut as a table
-- What a value, or the numbers from low on and below high, become: a row per value of a taxonomy, one per interval, and
-- one with neither for sets whose label stands for no items as well. It is what anon.apply_cut takes.
-- :cut (position INTEGER, attribute VARCHAR, first BIGINT, "end" BIGINT, low DOUBLE, high DOUBLE, label VARCHAR)
-- :leaves (position INTEGER, depth INTEGER, value VARCHAR, leaf BIGINT)
SELECT attribute, value, low, high, label
FROM (
    SELECT anon_cut.attribute, anon_leaves.value, anon_cut.low, anon_cut.high, anon_cut.label
    FROM :cut AS anon_cut
    LEFT JOIN :leaves AS anon_leaves
        ON anon_leaves.position = anon_cut.position
        AND anon_leaves.depth = 0
        AND anon_leaves.leaf >= anon_cut.first
        AND anon_leaves.leaf < anon_cut."end"
    WHERE anon_leaves.value IS NOT NULL OR anon_cut.low IS NOT NULL
    UNION ALL
    -- No items are behind all items.
    SELECT anon_cut.attribute, CAST(NULL AS VARCHAR) AS value, anon_cut.low, anon_cut.high, anon_cut.label
    FROM :cut AS anon_cut
    LEFT JOIN :leaves AS anon_leaves
        ON anon_leaves.position = anon_cut.position
        AND anon_leaves.depth = 0
        AND anon_leaves.leaf = anon_cut."end" - 1
    WHERE anon_leaves.leaf IS NULL AND anon_cut.low IS NULL AND anon_cut.label IS NOT NULL
) AS anon_rows
ORDER BY attribute ASC, low ASC, value ASC;

-- name: cut_mismatches
-- the cut as it was written
-- :rows (attribute VARCHAR, value VARCHAR, low DOUBLE, high DOUBLE, label VARCHAR)
-- :written (attribute VARCHAR, value VARCHAR, low DOUBLE, high DOUBLE, label VARCHAR)
SELECT count(*) AS unlike
FROM (
    SELECT * FROM (
        SELECT * FROM :rows EXCEPT ALL SELECT attribute, value, low, high, label FROM :written
    ) AS anon_missing
    UNION ALL
    SELECT * FROM (
        SELECT attribute, value, low, high, label FROM :written EXCEPT ALL SELECT * FROM :rows
    ) AS anon_added
) AS anon_differing;
