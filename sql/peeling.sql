-- Local recoding: keys and their labels, the nodes that are tried, and the keys that they take.

-- name: numbered_keys
-- keys of cells
-- The keys with numbers from 1 in their order, their rows and mass, and the number of their joint class.
-- :cells (anon_key_0 BIGINT, anon_row_count BIGINT, anon_weight DOUBLE)
-- :keys anon_key_0
-- :weights anon_weight
-- :weight anon_row_count
-- :mass anon_mass
-- :number 0
SELECT row_number() OVER (ORDER BY :keys ASC) AS anon_key, * REPLACE (CAST(:mass AS BIGINT) AS anon_mass)
FROM (
    SELECT
        :keys,
        CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count,
        sum(:weights) AS :weights,
        sum(:weight) AS anon_mass,
        :number AS anon_number
    FROM :cells AS anon_cells
    GROUP BY :keys
) AS anon_unnumbered;

-- name: cells_with_keys
-- cells to be peeled
-- :cells (anon_key_0 BIGINT, anon_sensitive_0 UINTEGER, anon_sensitive_0_1 UINTEGER, anon_row_count BIGINT, anon_weight DOUBLE)
-- :weighed (anon_key BIGINT, anon_key_0 BIGINT, anon_number BIGINT)
-- :keys anon_key_0
-- :weights anon_weight
-- :distinguishing anon_sensitive_0
-- :labels anon_sensitive_0_1
SELECT anon_weighed.anon_key, anon_weighed.anon_number, anon_merged.*
FROM (
    SELECT
        :keys,
        :distinguishing,
        any_value(:labels) AS :labels,
        CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count,
        sum(:weights) AS :weights
    FROM :cells AS anon_cells
    GROUP BY :keys, :distinguishing
) AS anon_merged
INNER JOIN :weighed AS anon_weighed ON anon_merged.:keys = anon_weighed.:keys;

-- name: weighed_labels
-- labels and what they lose
-- By the bits of labels their numbers, and what they lose of a row in units, by the share of their quasi-identifier. Labels of
-- equal text have equal numbers at all levels.
-- :labels (position INTEGER, depth INTEGER, label VARCHAR, ncp DOUBLE, anon_key_0 BIGINT)
-- :shares (position INTEGER, share DOUBLE)
-- :keys anon_key_0
-- :loss anon_labels.ncp
-- :units 1073741824
SELECT position, depth, :keys, min(anon_label_number) AS anon_label_number, max(anon_loss) AS anon_loss
FROM (
    SELECT
        anon_labels.position,
        anon_labels.depth,
        anon_labels.:keys,
        dense_rank() OVER (PARTITION BY anon_labels.position ORDER BY anon_labels.label ASC NULLS FIRST)
            AS anon_label_number,
        CAST(round(:loss * anon_shares.share * :units) AS BIGINT) AS anon_loss
    FROM :labels AS anon_labels
    INNER JOIN :shares AS anon_shares ON anon_shares.position = anon_labels.position
) AS anon_numbered
GROUP BY position, depth, :keys;

-- name: left_cells
-- cells that are left
-- :cells (anon_key BIGINT, anon_row_count BIGINT)
-- :taken (anon_key BIGINT, anon_node INTEGER)
-- :since 0
SELECT anon_cells.*
FROM :cells AS anon_cells
ANTI JOIN (SELECT anon_key FROM :taken AS anon_all_taken WHERE anon_node >= :since) AS anon_taken
    ON anon_taken.anon_key = anon_cells.anon_key;

-- name: at_nodes
-- cells at nodes
-- Each cell once for every node, with the words of its class.
-- :cells (anon_key_0 BIGINT, anon_row_count BIGINT)
-- :nodes (anon_node INTEGER, anon_mask_0 BIGINT)
-- :keys anon_key_0
-- :bits anon_mask_0
-- :carried anon_row_count
SELECT anon_live.:keys & anon_nodes.:bits AS :keys, anon_nodes.anon_node, anon_live.:carried
FROM :cells AS anon_live
CROSS JOIN :nodes AS anon_nodes;

-- name: left_counts
-- rows that are left
-- :cells (anon_row_count BIGINT)
SELECT count(*) AS cells, CAST(coalesce(sum(anon_row_count), 0) AS BIGINT) AS rows FROM :cells AS anon_cells;

-- name: tried_classes
-- classes of nodes
-- With numbers from 1 in the order of their nodes.
-- :trial 0
-- :classes (anon_node INTEGER, anon_key_0 BIGINT, anon_class_size BIGINT)
-- :keys anon_key_0
-- :is_met anon_class_size > 5
-- :is_large anon_class_size > 1
SELECT
    :trial AS anon_trial,
    row_number() OVER (ORDER BY anon_node ASC) AS anon_class,
    anon_node,
    :keys,
    anon_class_size,
    :is_met AS anon_is_met
FROM :classes AS anon_classes
WHERE :is_large;

-- name: rows_of_nodes
-- rows of nodes
-- The rows of the classes of each node that meet the privacy models.
-- :tried (anon_trial INTEGER, anon_node INTEGER, anon_class_size BIGINT, anon_is_met BOOLEAN)
-- :trial 0
SELECT anon_node AS node, CAST(sum(anon_class_size) AS BIGINT) AS rows
FROM :tried AS anon_tried
WHERE anon_trial = :trial AND anon_is_met
GROUP BY anon_node;

-- name: rows_of_keys
-- keys that are left
-- :cells (anon_key BIGINT, anon_key_0 BIGINT, anon_row_count BIGINT)
-- :keys anon_key_0
SELECT anon_key, :keys, CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count
FROM :cells AS anon_cells
GROUP BY anon_key, :keys;

-- name: first_classes
-- classes that are taken
-- The keys of the classes that meet the privacy models and have no key in such a class of a node before.
-- :pairs (anon_key BIGINT, anon_node INTEGER, anon_key_0 BIGINT, anon_row_count BIGINT)
-- :tried (anon_trial INTEGER, anon_class BIGINT, anon_node INTEGER, anon_key_0 BIGINT, anon_class_size BIGINT, anon_is_met BOOLEAN)
-- :trial 0
-- :keys anon_key_0
SELECT anon_sized.anon_key, anon_tried.anon_node, anon_sized.anon_first_key
FROM (
    SELECT
        anon_key,
        anon_class,
        min(anon_key) OVER (PARTITION BY anon_class) AS anon_first_key,
        sum(anon_row_count) OVER (PARTITION BY anon_class) AS anon_rows
    FROM (
        SELECT anon_pairs.anon_key, any_value(anon_pairs.anon_row_count) AS anon_row_count, min(anon_met.anon_class) AS anon_class
        FROM :pairs AS anon_pairs
        INNER JOIN :tried AS anon_met ON anon_met.anon_node = anon_pairs.anon_node AND anon_pairs.:keys = anon_met.:keys
        WHERE anon_met.anon_trial = :trial AND anon_met.anon_is_met
        GROUP BY anon_pairs.anon_key
    ) AS anon_firsts
) AS anon_sized
INNER JOIN :tried AS anon_tried
    ON anon_tried.anon_class = anon_sized.anon_class AND anon_tried.anon_class_size = anon_sized.anon_rows
WHERE anon_tried.anon_trial = :trial;

-- name: cells_in_turn
-- cells of a batch
-- With the place of the node that took them, if one has.
-- :cells (anon_key BIGINT, anon_key_0 BIGINT, anon_row_count BIGINT)
-- :taken (anon_key BIGINT, anon_node INTEGER)
-- :since 0
SELECT anon_cells.*, anon_taken.anon_node AS anon_turn
FROM :cells AS anon_cells
LEFT JOIN (SELECT * FROM :taken AS anon_all_taken WHERE anon_node >= :since) AS anon_taken
    ON anon_taken.anon_key = anon_cells.anon_key;

-- name: keys_of_failed
-- keys of failed classes
-- The keys in classes that fail and have enough rows of those that no node before has taken.
-- :pairs (anon_key BIGINT, anon_turn INTEGER, anon_node INTEGER, anon_key_0 BIGINT, anon_row_count BIGINT)
-- :tried (anon_trial INTEGER, anon_class BIGINT, anon_node INTEGER, anon_key_0 BIGINT, anon_is_met BOOLEAN)
-- :failed (anon_key BIGINT)
-- :keys anon_key_0
-- :is_large sum(anon_row_count) >= 5
WITH anon_in_turn AS MATERIALIZED (
    SELECT anon_pairs.*, anon_tried.anon_trial, anon_tried.anon_class
    FROM :pairs AS anon_pairs
    INNER JOIN :tried AS anon_tried ON anon_tried.anon_node = anon_pairs.anon_node AND anon_pairs.:keys = anon_tried.:keys
    WHERE NOT anon_tried.anon_is_met AND (anon_pairs.anon_turn IS NULL OR anon_pairs.anon_turn > anon_pairs.anon_node)
)

SELECT DISTINCT anon_in_turn.anon_key
FROM anon_in_turn
SEMI JOIN (
    SELECT anon_trial, anon_class FROM anon_in_turn GROUP BY anon_trial, anon_class HAVING :is_large
) AS anon_large ON anon_large.anon_trial = anon_in_turn.anon_trial AND anon_large.anon_class = anon_in_turn.anon_class
ANTI JOIN :failed AS anon_failed ON anon_failed.anon_key = anon_in_turn.anon_key;

-- name: failed_rows
-- rows of failed classes
-- :failed (anon_key BIGINT)
-- :weighed (anon_key BIGINT, anon_row_count BIGINT)
SELECT CAST(coalesce(sum(anon_weighed.anon_row_count), 0) AS BIGINT) AS rows
FROM :weighed AS anon_weighed
SEMI JOIN :failed AS anon_failed ON anon_failed.anon_key = anon_weighed.anon_key;

-- name: ladders
-- losses of keys
-- What the labels of keys lose, in units: one list of all quasi-identifiers and levels.
-- :weighed (anon_key BIGINT, anon_key_0 BIGINT, anon_row_count BIGINT, anon_mass BIGINT)
-- :masks (position INTEGER, depth INTEGER, anon_mask_0 BIGINT)
-- :labels (position INTEGER, depth INTEGER, anon_key_0 BIGINT, anon_loss BIGINT)
-- :keys anon_key_0
-- :bits anon_mask_0
SELECT anon_of_keys.*, anon_of_labels.anon_losses
FROM :weighed AS anon_of_keys
INNER JOIN (
    SELECT
        anon_at_levels.anon_key,
        list(anon_labels.anon_loss ORDER BY anon_labels.position ASC, anon_labels.depth ASC) AS anon_losses
    FROM (
        SELECT anon_weighed.anon_key, anon_masks.position, anon_masks.depth, anon_weighed.:keys & anon_masks.:bits AS :keys
        FROM :weighed AS anon_weighed
        CROSS JOIN :masks AS anon_masks
    ) AS anon_at_levels
    INNER JOIN :labels AS anon_labels
        ON anon_labels.position = anon_at_levels.position
        AND anon_labels.depth = anon_at_levels.depth
        AND anon_at_levels.:keys = anon_labels.:keys
    GROUP BY anon_at_levels.anon_key
) AS anon_of_labels ON anon_of_labels.anon_key = anon_of_keys.anon_key;

-- name: cheapest_labels
-- cheapest labels
-- What keys lose at their cheapest labels that at least :k rows share, at nodes of boxes: no key loses less in a box than at its least
-- general node (:least_losses), and all rows that share a label with it there share one at its most general node (:boxed).
-- :ladders (anon_key BIGINT, anon_key_0 BIGINT, anon_row_count BIGINT, anon_losses BIGINT[])
-- :cheapest (anon_key BIGINT, anon_loss BIGINT)
-- :nodes (anon_node BIGINT, anon_box BIGINT, anon_mask_0 BIGINT, anon_place_0 BIGINT)
-- :keys anon_key_0
-- :bits anon_mask_0
-- :places anon_place_0
-- :least_losses anon_ladders.anon_losses[anon_boxes.anon_place_0]
-- :boxed anon_boxed_0
-- :losses anon_live.anon_losses[anon_nodes.anon_place_0]
-- :units 1073741824
-- :k 5
WITH anon_boxes AS (
    SELECT anon_box, bit_and(anon_nodes.:bits) AS :bits, min(anon_nodes.:places) AS :places
    FROM :nodes AS anon_nodes
    GROUP BY anon_box
),

anon_near AS MATERIALIZED (
    SELECT anon_ladders.*, anon_boxes.anon_box, anon_ladders.:keys & anon_boxes.:bits AS :boxed
    FROM :ladders AS anon_ladders
    LEFT JOIN (
        SELECT anon_key, min(anon_loss) AS anon_loss FROM :cheapest AS anon_cheapest GROUP BY anon_key
    ) AS anon_known ON anon_known.anon_key = anon_ladders.anon_key
    INNER JOIN anon_boxes ON :least_losses < coalesce(anon_known.anon_loss, :units)
),

anon_large AS (
    SELECT anon_node, :keys
    FROM (
        SELECT anon_nodes.anon_node, anon_live.anon_row_count, anon_live.:keys & anon_nodes.:bits AS :keys
        FROM (
            SELECT anon_ladders.*, anon_boxes.anon_box, anon_ladders.:keys & anon_boxes.:bits AS :boxed
            FROM :ladders AS anon_ladders
            CROSS JOIN anon_boxes
        ) AS anon_live
        SEMI JOIN anon_near ON anon_near.anon_box = anon_live.anon_box AND anon_near.:boxed = anon_live.:boxed
        INNER JOIN :nodes AS anon_nodes ON anon_nodes.anon_box = anon_live.anon_box
    ) AS anon_at_nodes
    GROUP BY anon_node, :keys
    HAVING sum(anon_row_count) >= :k
)

SELECT anon_pairs.anon_key, min(anon_pairs.anon_loss) AS anon_loss
FROM (
    SELECT anon_live.anon_key, anon_nodes.anon_node, anon_live.:keys & anon_nodes.:bits AS :keys, :losses AS anon_loss
    FROM anon_near AS anon_live
    INNER JOIN :nodes AS anon_nodes ON anon_nodes.anon_box = anon_live.anon_box
) AS anon_pairs
SEMI JOIN anon_large ON anon_large.anon_node = anon_pairs.anon_node AND anon_pairs.:keys = anon_large.:keys
GROUP BY anon_pairs.anon_key;

-- name: least_loss
-- least loss
-- One row: what all keys lose at least, in units by mass, and their mass.
-- :ladders (anon_key BIGINT, anon_mass BIGINT)
-- :cheapest (anon_key BIGINT, anon_loss BIGINT)
-- :units 1073741824
SELECT
    coalesce(sum(CAST(coalesce(anon_least.anon_loss, :units) AS HUGEINT) * anon_ladders.anon_mass), 0) AS lost,
    coalesce(sum(anon_ladders.anon_mass), 0) AS mass
FROM :ladders AS anon_ladders
LEFT JOIN (
    SELECT anon_key, min(anon_loss) AS anon_loss FROM :cheapest AS anon_cheapest GROUP BY anon_key
) AS anon_least ON anon_least.anon_key = anon_ladders.anon_key;
