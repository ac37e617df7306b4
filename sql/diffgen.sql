-- DiffGen: combinations of labels and class, numbered by the places of their labels, and what is shown of them.

-- name: occupied
-- rows of every combination of labels and class
-- :numbered (anon_index BIGINT, anon_row_count BIGINT)
SELECT anon_index, anon_row_count, row_number() OVER (ORDER BY anon_index ASC) - 1 AS anon_place
FROM (
    SELECT anon_index, CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count FROM :numbered GROUP BY anon_index
) AS anon_counted;

-- name: shown
-- noisy combinations that are shown
-- :occupied (anon_index BIGINT, anon_row_count BIGINT, anon_place BIGINT)
-- :noise (anon_run BIGINT, anon_place BIGINT, anon_noise BIGINT)
-- :unseen (anon_run BIGINT, anon_noisy_rows BIGINT, anon_index BIGINT)
-- :threshold 5
SELECT *
FROM (
    SELECT
        anon_drawn.anon_run,
        anon_leaves.anon_index,
        anon_leaves.anon_row_count + anon_drawn.anon_noise AS anon_noisy_rows
    FROM :occupied AS anon_leaves
    INNER JOIN :noise AS anon_drawn ON anon_drawn.anon_place = anon_leaves.anon_place
) AS anon_noisy
WHERE anon_noisy_rows >= :threshold
UNION ALL
SELECT anon_run, anon_index, anon_noisy_rows FROM :unseen;

-- name: labels
-- labels of a predictor by their place
-- :places (position INTEGER, place BIGINT, first BIGINT)
-- :cut (position INTEGER, first BIGINT, label VARCHAR)
-- :position 0
SELECT anon_places.place, anon_cut.label
FROM :places AS anon_places
INNER JOIN :cut AS anon_cut ON anon_cut.position = anon_places.position AND anon_cut.first = anon_places.first
WHERE anon_places.position = :position;

-- name: sets_of_labels
-- sets of labels of a predictor by their place
-- In the order of their text, and each once, as anon.apply_cut has them.
-- :places (position INTEGER, place BIGINT, first BIGINT)
-- :cut (position INTEGER, first BIGINT, label VARCHAR)
-- :position 0
SELECT
    anon_places.place,
    coalesce(
        list(DISTINCT anon_cut.label ORDER BY anon_cut.label ASC) FILTER (WHERE anon_cut.label IS NOT NULL),
        CAST([] AS VARCHAR[])
    ) AS label
FROM :places AS anon_places
INNER JOIN :cut AS anon_cut ON anon_cut.position = anon_places.position AND anon_cut.first = anon_places.first
WHERE anon_places.position = :position
GROUP BY anon_places.place;

-- name: classes_of_no_type
-- how many classes their type does not hold
-- :leaves (position INTEGER, depth INTEGER, value VARCHAR, leaf BIGINT)
-- :position 0
-- :held TRY_CAST(value AS INTEGER)
SELECT count(*) AS classes FROM :leaves WHERE position = :position AND depth = 0 AND :held IS NULL;

-- name: classes
-- classes by their place
-- :leaves (position INTEGER, depth INTEGER, value VARCHAR, leaf BIGINT)
-- :position 0
SELECT leaf AS place, value AS label FROM :leaves WHERE position = :position AND depth = 0;
