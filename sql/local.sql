-- Local recoding: what is published of classes, the classes that are listed, and the nodes by which a loss is estimated.

-- name: class_labels
-- labels of classes
-- The labels of each class, and those of class 0, which are masked.
-- :classes (anon_class INTEGER, anon_label_0 VARCHAR)
-- :texts anon_label_0
-- :mask '*'
SELECT * FROM :classes AS anon_classes UNION ALL SELECT 0 AS anon_class, :mask AS :texts;

-- name: class_means
-- means of classes
-- The mean of a number in the rows of each class, summed up in its order: a sum of doubles depends on that.
-- :values (anon_class INTEGER, anon_value INTEGER, anon_row_count BIGINT)
-- :mean age_mean
SELECT
    anon_class,
    sum(CAST(anon_value AS DOUBLE) * anon_row_count ORDER BY anon_value ASC)
    / sum(anon_row_count) FILTER (WHERE anon_value IS NOT NULL) AS :mean
FROM :values AS anon_values
GROUP BY anon_class;

-- name: class_medians
-- medians of classes
-- The mean of the two values in the middle: those by which half of the rows are reached, and passed.
-- :values (anon_class INTEGER, anon_value INTEGER, anon_row_count BIGINT)
-- :median age_median
SELECT
    anon_class,
    (
        min(CAST(anon_value AS DOUBLE)) FILTER (WHERE 2 * anon_rows_up_to >= anon_rows)
        + min(CAST(anon_value AS DOUBLE)) FILTER (WHERE 2 * anon_rows_up_to > anon_rows)
    ) / 2 AS :median
FROM (
    SELECT
        anon_class,
        anon_value,
        sum(anon_row_count) OVER (PARTITION BY anon_class ORDER BY anon_value ASC) AS anon_rows_up_to,
        sum(anon_row_count) OVER (PARTITION BY anon_class) AS anon_rows
    FROM :values AS anon_values
    WHERE anon_value IS NOT NULL
) AS anon_counted
GROUP BY anon_class;

-- name: class_ranges
-- ranges of classes
-- :values (anon_class INTEGER, anon_value INTEGER, anon_row_count BIGINT)
-- :least age_min
-- :greatest age_max
SELECT anon_class, min(anon_value) AS :least, max(anon_value) AS :greatest
FROM :values AS anon_values
GROUP BY anon_class;

-- name: masked_class
-- masked rows
-- Whether the class of the rows that are left out meets the privacy models.
-- :kept (anon_class INTEGER)
SELECT count(*) > 0 AS kept FROM :kept WHERE anon_class = 0;

-- name: published_keys
-- classes of keys
-- The keys of the cells that are published; those that are left out are in class 0.
-- :parts (anon_key_0 BIGINT, anon_class INTEGER)
-- :keys anon_key_0
-- :first 1
SELECT :keys, greatest(anon_class, 0) AS anon_class FROM :parts AS anon_parts WHERE greatest(anon_class, 0) >= :first;

-- name: recorded_labels
-- labels of published classes
-- With their levels, and places from 0 among those of their quasi-identifier.
-- :listed (anon_class INTEGER, position INTEGER, depth INTEGER, label VARCHAR)
-- :kept (anon_class INTEGER)
SELECT
    position,
    depth,
    label,
    row_number() OVER (PARTITION BY position ORDER BY depth ASC, label ASC NULLS FIRST) - 1 AS place
FROM (
    SELECT DISTINCT anon_listed.position, anon_listed.depth, anon_listed.label
    FROM :listed AS anon_listed
    SEMI JOIN :kept AS anon_kept ON anon_kept.anon_class = anon_listed.anon_class
) AS anon_of_kept
ORDER BY position ASC, place ASC;

-- name: recorded_classes
-- published classes
-- A list for each combination of labels: how many rows there are, and the places of the labels.
-- :listed (anon_class INTEGER, position INTEGER, depth INTEGER, label VARCHAR)
-- :labels (position INTEGER, depth INTEGER, label VARCHAR, place BIGINT)
-- :parts (anon_class INTEGER, anon_row_count BIGINT)
-- :kept (anon_class INTEGER)
SELECT list_prepend(CAST(sum(anon_of_keys.rows) AS BIGINT), anon_of_levels.places) AS recorded
FROM (
    SELECT anon_listed.anon_class, list(anon_labels.place ORDER BY anon_labels.position ASC) AS places
    FROM :listed AS anon_listed
    SEMI JOIN :kept AS anon_kept ON anon_kept.anon_class = anon_listed.anon_class
    INNER JOIN :labels AS anon_labels
        ON anon_labels.position = anon_listed.position
        AND anon_labels.depth IS NOT DISTINCT FROM anon_listed.depth
        AND anon_labels.label IS NOT DISTINCT FROM anon_listed.label
    GROUP BY anon_listed.anon_class
) AS anon_of_levels
INNER JOIN (SELECT anon_class, sum(anon_row_count) AS rows FROM :parts AS anon_parts GROUP BY anon_class) AS anon_of_keys
    ON anon_of_keys.anon_class = anon_of_levels.anon_class
GROUP BY anon_of_levels.places
ORDER BY anon_of_levels.places ASC;

-- name: class_list
-- list of classes
-- The label of each class at its level of each quasi-identifier.
-- :levels (anon_class INTEGER, position INTEGER, depth INTEGER, anon_key_0 BIGINT)
-- :labels (position INTEGER, depth INTEGER, label VARCHAR, anon_key_0 BIGINT)
-- :keys anon_key_0
SELECT anon_levels.anon_class, anon_levels.position, anon_levels.depth, anon_labels.label
FROM :levels AS anon_levels
INNER JOIN (SELECT DISTINCT position, depth, label, :keys FROM :labels) AS anon_labels
    ON
        anon_labels.position = anon_levels.position
        AND anon_labels.depth = anon_levels.depth
        AND anon_levels.:keys = anon_labels.:keys
ORDER BY anon_levels.anon_class ASC, anon_levels.position ASC;

-- name: listed_labels
-- labels of listed classes
-- The labels of listed classes by quasi-identifier (position): what they lose, in units, and the words of their keys. A class
-- with a label that the taxonomies do not have is left out.
-- :listed (anon_class INTEGER, position INTEGER, depth INTEGER, label VARCHAR)
-- :labels (position INTEGER, depth INTEGER, label VARCHAR, ncp DOUBLE, anon_key_0 BIGINT)
-- :shares (position INTEGER, share DOUBLE)
-- :loss anon_labels.ncp
-- :keys anon_key_0
-- :width 2
-- :units 1073741824
SELECT
    anon_listed.anon_class,
    anon_listed.position,
    anon_listed.depth,
    anon_labels.:keys,
    CAST(round(anon_labels.anon_share_lost * anon_shares.share * :units) AS BIGINT) AS anon_loss
FROM :listed AS anon_listed
INNER JOIN (
    SELECT DISTINCT position, depth, label, :loss AS anon_share_lost, :keys FROM :labels AS anon_labels
) AS anon_labels
    ON
        anon_labels.position = anon_listed.position
        AND anon_labels.depth = anon_listed.depth
        AND anon_labels.label IS NOT DISTINCT FROM anon_listed.label
INNER JOIN :shares AS anon_shares ON anon_shares.position = anon_listed.position
QUALIFY count(*) OVER (PARTITION BY anon_listed.anon_class) = :width;

-- name: covers
-- listed classes
-- The words of the key of a class, the bits of keys that distinguish the classes of its node, and what its labels lose.
-- :labels (anon_class INTEGER, position INTEGER, depth INTEGER, anon_key_0 BIGINT, anon_loss BIGINT)
-- :masks (position INTEGER, depth INTEGER, anon_mask_0 BIGINT)
-- :keys anon_key_0
-- :bits anon_mask_0
SELECT
    anon_labels.anon_class,
    bit_or(anon_labels.:keys) AS :keys,
    bit_or(anon_masks.:bits) AS :bits,
    CAST(sum(anon_labels.anon_loss) AS BIGINT) AS anon_loss
FROM :labels AS anon_labels
INNER JOIN :masks AS anon_masks
    ON anon_masks.position = anon_labels.position AND anon_masks.depth = anon_labels.depth
GROUP BY anon_labels.anon_class;

-- name: covering_classes
-- classes of keys
-- :of_keys (anon_key_0 BIGINT)
-- :covers (anon_class INTEGER, anon_key_0 BIGINT, anon_mask_0 BIGINT, anon_loss BIGINT)
-- :keys anon_key_0
-- :bits anon_mask_0
-- :masked anon_masked_0
SELECT anon_at_nodes.:keys, min(row(anon_covers.anon_loss, anon_covers.anon_class))[2] AS anon_class
FROM (
    SELECT anon_keys.:keys, anon_nodes.:bits, anon_keys.:keys & anon_nodes.:bits AS :masked
    FROM :of_keys AS anon_keys
    CROSS JOIN (SELECT DISTINCT :bits FROM :covers AS anon_all_covers) AS anon_nodes
) AS anon_at_nodes
INNER JOIN :covers AS anon_covers ON anon_at_nodes.:bits = anon_covers.:bits AND anon_at_nodes.:masked = anon_covers.:keys
GROUP BY anon_at_nodes.:keys;

-- name: keys
-- keys of cells
-- :cells (anon_key_0 BIGINT)
-- :keys anon_key_0
SELECT DISTINCT :keys FROM :cells AS anon_cells;

-- name: labels_of_listed
-- labels of listed classes
-- :listed (anon_class INTEGER, position INTEGER, label VARCHAR)
-- :positions 0
-- :texts anon_label_0
SELECT anon_class, max(label) FILTER (WHERE position = :positions) AS :texts
FROM :listed AS anon_listed
GROUP BY anon_class;

-- name: all_classes
-- all classes
-- :labels (anon_class INTEGER)
SELECT anon_class FROM :labels AS anon_labels;

-- name: distinct_labels
-- labels of listed classes
-- :listed (anon_class INTEGER, position INTEGER, depth INTEGER, label VARCHAR)
SELECT DISTINCT position, depth, label
FROM :listed AS anon_listed
ORDER BY position ASC, depth ASC, label ASC NULLS FIRST;

-- name: released_classes
-- classes of a partition
-- The levels and labels of the listed classes that cells are in, by quasi-identifier (position), and the rows of these.
-- :listed (anon_class INTEGER, position INTEGER, depth INTEGER, label VARCHAR)
-- :cells (anon_class INTEGER, anon_row_count BIGINT)
SELECT
    anon_rows.rows,
    list(anon_listed.depth ORDER BY anon_listed.position ASC) AS depths,
    list(anon_listed.label ORDER BY anon_listed.position ASC) AS labels
FROM :listed AS anon_listed
INNER JOIN (
    SELECT anon_class, CAST(sum(anon_row_count) AS BIGINT) AS rows FROM :cells AS anon_cells GROUP BY anon_class
) AS anon_rows ON anon_rows.anon_class = anon_listed.anon_class
GROUP BY anon_listed.anon_class, anon_rows.rows
ORDER BY anon_listed.anon_class ASC;

-- name: class_mismatches
-- classes of a release
-- guarded: tests/unit/test_guarded_verification.py
-- Combinations of labels that are not listed, and those that have another number of rows than is listed.
-- :names disease, city
-- :listed (disease VARCHAR, city VARCHAR, anon_rows BIGINT)
-- :found (disease VARCHAR, city VARCHAR)
SELECT
    count(*) FILTER (WHERE anon_listed.anon_rows IS NULL) AS unlisted,
    CAST(sum(anon_found.anon_rows) FILTER (WHERE anon_listed.anon_rows IS NULL) AS BIGINT) AS unlisted_rows,
    count(*) FILTER (
        WHERE anon_listed.anon_rows IS NOT NULL AND anon_found.anon_rows IS DISTINCT FROM anon_listed.anon_rows
    ) AS differing
FROM (SELECT :names, CAST(count(*) AS BIGINT) AS anon_rows FROM :found GROUP BY :names) AS anon_found
FULL JOIN :listed AS anon_listed ON anon_found.:names IS NOT DISTINCT FROM anon_listed.:names;

-- name: first_nodes
-- rows of nodes
-- The rows by the first node where their class in the whole table meets the privacy models.
-- :cells (anon_key_0 BIGINT, anon_row_count BIGINT)
-- :nodes (anon_node INTEGER, anon_mask_0 BIGINT)
-- :kept (anon_node INTEGER, anon_key_0 BIGINT)
-- :keys anon_key_0
-- :bits anon_mask_0
-- :own anon_own_0
SELECT anon_node AS node, CAST(sum(anon_rows) AS BIGINT) AS rows
FROM (
    SELECT any_value(anon_at_nodes.anon_row_count) AS anon_rows, min(anon_at_nodes.anon_node) AS anon_node
    FROM (
        SELECT
            anon_cells.anon_row_count,
            anon_nodes.anon_node,
            anon_cells.:keys AS :own,
            anon_cells.:keys & anon_nodes.:bits AS :keys
        FROM (SELECT :keys, sum(anon_row_count) AS anon_row_count FROM :cells AS anon_all_cells GROUP BY :keys) AS anon_cells
        CROSS JOIN :nodes AS anon_nodes
    ) AS anon_at_nodes
    SEMI JOIN :kept AS anon_kept ON anon_kept.anon_node = anon_at_nodes.anon_node AND anon_at_nodes.:keys = anon_kept.:keys
    GROUP BY anon_at_nodes.:own
) AS anon_firsts
GROUP BY anon_node;
