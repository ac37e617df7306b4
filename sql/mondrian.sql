-- Mondrian: classes of keys, split at medians of ordered quasi-identifiers, or into the children of labels.
--
-- Every key is in a class (anon_class), which has the number of its first key.

-- name: values_in_order
-- values of an ordered quasi-identifier
-- The ranks of the values that keys have, from 1 and NULL first, and their places in [0, 1] between the least and the greatest;
-- NULL has none.
-- :position 0
-- :values (anon_text VARCHAR, anon_value INTEGER, anon_number DOUBLE, anon_key_0 BIGINT)
-- :weighed (anon_key_0 BIGINT)
-- :masks (position INTEGER, depth INTEGER, anon_mask_0 BIGINT)
-- :keys anon_key_0
-- :bits anon_mask_0
SELECT
    :position AS position,
    anon_values.anon_text,
    anon_values.:keys,
    dense_rank() OVER (ORDER BY anon_values.anon_value ASC NULLS FIRST) AS anon_rank,
    CASE WHEN anon_values.anon_number IS NOT NULL THEN coalesce(
        (anon_values.anon_number - min(anon_values.anon_number) OVER ())
        / nullif(max(anon_values.anon_number) OVER () - min(anon_values.anon_number) OVER (), 0),
        0
    ) END AS anon_place
FROM :values AS anon_values
SEMI JOIN (
    SELECT anon_weighed.:keys & anon_masks.:bits AS :keys
    FROM :weighed AS anon_weighed
    INNER JOIN :masks AS anon_masks ON anon_masks.position = :position AND anon_masks.depth = 0
) AS anon_of_keys ON anon_values.:keys = anon_of_keys.:keys;

-- name: no_values
-- no ordered quasi-identifier
-- :keys anon_key_0
-- :zeros 0
SELECT 0 AS position, '' AS anon_text, :zeros AS :keys, 0 AS anon_rank, CAST(0 AS DOUBLE) AS anon_place WHERE FALSE;

-- name: ordered_keys
-- values of keys
-- The value of each key in each ordered quasi-identifier.
-- :weighed (anon_key BIGINT, anon_key_0 BIGINT)
-- :in_order (position INTEGER, anon_text VARCHAR, anon_rank BIGINT, anon_place DOUBLE, anon_key_0 BIGINT)
-- :masks (position INTEGER, depth INTEGER, anon_mask_0 BIGINT)
-- :keys anon_key_0
-- :bits anon_mask_0
SELECT anon_of_keys.anon_key, anon_in_order.position, anon_in_order.anon_text, anon_in_order.anon_rank, anon_in_order.anon_place
FROM (
    SELECT anon_weighed.anon_key, anon_masks.position, anon_weighed.:keys & anon_masks.:bits AS :keys
    FROM :weighed AS anon_weighed
    INNER JOIN :masks AS anon_masks ON anon_masks.depth = 0
) AS anon_of_keys
INNER JOIN :in_order AS anon_in_order
    ON anon_in_order.position = anon_of_keys.position AND anon_in_order.:keys = anon_of_keys.:keys;

-- name: one_class
-- one class of all keys
-- :weighed (anon_key BIGINT)
SELECT anon_weighed.*, CAST(min(anon_key) OVER () AS INTEGER) AS anon_class FROM :weighed AS anon_weighed;

-- name: sides
-- sides of splits
-- The keys of the classes that changed, by the sides of all their possible splits: up to the median of an ordered quasi-identifier
-- and beyond, or by the bits of the labels below the one that a class has.
-- :parts (anon_key BIGINT, anon_key_0 BIGINT, anon_row_count BIGINT, anon_class INTEGER)
-- :changed (anon_class INTEGER)
-- :ordered (anon_key BIGINT, position INTEGER, anon_rank BIGINT)
-- :in_order (position INTEGER)
-- :levels (anon_class INTEGER, position INTEGER, depth INTEGER)
-- :masks (position INTEGER, depth INTEGER, anon_mask_0 BIGINT)
-- :keys anon_key_0
-- :bits anon_mask_0
-- :zeros 0
WITH anon_open AS MATERIALIZED (
    SELECT anon_parts.*
    FROM :parts AS anon_parts
    SEMI JOIN :changed AS anon_changed ON anon_changed.anon_class = anon_parts.anon_class
),

anon_ranks AS (
    SELECT
        anon_open.anon_class,
        anon_ordered.position,
        anon_ordered.anon_rank,
        sum(sum(anon_open.anon_row_count)) OVER (
            PARTITION BY anon_open.anon_class, anon_ordered.position ORDER BY anon_ordered.anon_rank ASC
        ) AS anon_rows_up_to,
        sum(sum(anon_open.anon_row_count)) OVER (PARTITION BY anon_open.anon_class, anon_ordered.position) AS anon_rows
    FROM anon_open
    INNER JOIN :ordered AS anon_ordered ON anon_ordered.anon_key = anon_open.anon_key
    GROUP BY anon_open.anon_class, anon_ordered.position, anon_ordered.anon_rank
),

anon_medians AS (
    SELECT
        anon_class,
        position,
        least(
            min(anon_rank) FILTER (WHERE 2 * anon_rows_up_to >= anon_rows),
            max(anon_rank) FILTER (WHERE anon_rows_up_to < anon_rows)
        ) AS anon_median
    FROM anon_ranks
    GROUP BY anon_class, position
    HAVING count(*) > 1
)

SELECT
    anon_open.anon_key,
    anon_open.anon_class,
    anon_ordered.position AS anon_position,
    anon_ordered.anon_rank > anon_medians.anon_median AS anon_is_beyond,
    :zeros AS :keys
FROM anon_open
INNER JOIN :ordered AS anon_ordered ON anon_ordered.anon_key = anon_open.anon_key
INNER JOIN anon_medians
    ON anon_medians.anon_class = anon_open.anon_class AND anon_medians.position = anon_ordered.position
UNION ALL
SELECT
    anon_open.anon_key,
    anon_open.anon_class,
    anon_levels.position AS anon_position,
    FALSE AS anon_is_beyond,
    anon_open.:keys & anon_masks.:bits AS :keys
FROM anon_open
INNER JOIN :levels AS anon_levels ON anon_levels.anon_class = anon_open.anon_class
INNER JOIN :masks AS anon_masks
    ON anon_masks.position = anon_levels.position AND anon_masks.depth = anon_levels.depth - 1
ANTI JOIN :in_order AS anon_in_order ON anon_in_order.position = anon_levels.position;

-- name: widths
-- widths of classes
-- The loss of a row by the label of its class of each quasi-identifier, in units: the share of the range that the values of a class
-- span, or the loss of its label. NULL beside other values spans it all.
-- :parts (anon_key BIGINT, anon_class INTEGER)
-- :ordered (anon_key BIGINT, position INTEGER, anon_place DOUBLE)
-- :in_order (position INTEGER)
-- :levels (anon_class INTEGER, position INTEGER, depth INTEGER, anon_key_0 BIGINT)
-- :labels (position INTEGER, depth INTEGER, anon_key_0 BIGINT, anon_loss BIGINT)
-- :shares (position INTEGER, share DOUBLE)
-- :keys anon_key_0
-- :units 1073741824
SELECT
    anon_parts.anon_class,
    anon_ordered.position,
    CAST(round(
        CASE
            WHEN count(anon_ordered.anon_place) = 0 THEN 0
            WHEN count(anon_ordered.anon_place) < count(*) THEN 1
            ELSE max(anon_ordered.anon_place) - min(anon_ordered.anon_place)
        END * any_value(anon_shares.share) * :units
    ) AS BIGINT) AS anon_loss
FROM :parts AS anon_parts
INNER JOIN :ordered AS anon_ordered ON anon_ordered.anon_key = anon_parts.anon_key
INNER JOIN :shares AS anon_shares ON anon_shares.position = anon_ordered.position
GROUP BY anon_parts.anon_class, anon_ordered.position
UNION ALL
SELECT anon_levels.anon_class, anon_levels.position, anon_labels.anon_loss
FROM :levels AS anon_levels
INNER JOIN :labels AS anon_labels
    ON
        anon_labels.position = anon_levels.position
        AND anon_labels.depth = anon_levels.depth
        AND anon_levels.:keys = anon_labels.:keys
ANTI JOIN :in_order AS anon_in_order ON anon_in_order.position = anon_levels.position;

-- name: splits
-- keys of classes that split
-- The widest split of each class whose sides all meet the privacy models; a key goes to the class of the first key on its side.
-- :sides (anon_key BIGINT, anon_class INTEGER, anon_position INTEGER, anon_is_beyond BOOLEAN, anon_key_0 BIGINT)
-- :met (anon_class INTEGER, anon_position INTEGER, anon_is_beyond BOOLEAN, anon_key_0 BIGINT)
-- :widths (anon_class INTEGER, position INTEGER, anon_loss BIGINT)
-- :keys anon_key_0
WITH anon_splits AS (
    SELECT anon_sides.anon_class, anon_sides.anon_position
    FROM (SELECT DISTINCT anon_class, anon_position, anon_is_beyond, :keys FROM :sides AS anon_all_sides) AS anon_sides
    LEFT JOIN :met AS anon_met
        ON
            anon_met.anon_class = anon_sides.anon_class
            AND anon_met.anon_position = anon_sides.anon_position
            AND anon_met.anon_is_beyond = anon_sides.anon_is_beyond
            AND anon_met.:keys = anon_sides.:keys
    INNER JOIN :widths AS anon_widths
        ON anon_widths.anon_class = anon_sides.anon_class AND anon_widths.position = anon_sides.anon_position
    GROUP BY anon_sides.anon_class, anon_sides.anon_position, anon_widths.anon_loss
    HAVING count(*) = count(anon_met.anon_class)
    QUALIFY row_number() OVER (
        PARTITION BY anon_sides.anon_class ORDER BY anon_widths.anon_loss DESC, anon_sides.anon_position ASC
    ) = 1
)

SELECT
    anon_sides.anon_key,
    CAST(min(anon_sides.anon_key) OVER (
        PARTITION BY anon_sides.anon_class, anon_sides.anon_is_beyond, anon_sides.:keys
    ) AS INTEGER) AS anon_class
FROM :sides AS anon_sides
INNER JOIN anon_splits ON anon_splits.anon_class = anon_sides.anon_class AND anon_splits.anon_position = anon_sides.anon_position;

-- name: class_list
-- list of classes
-- The label of each class in each quasi-identifier. The label of an ordered one is the value or the interval of values of its
-- class, or :mask if NULL is among them.
-- :parts (anon_key BIGINT, anon_class INTEGER)
-- :ordered (anon_key BIGINT, position INTEGER, anon_text VARCHAR, anon_rank BIGINT, anon_place DOUBLE)
-- :in_order (position INTEGER)
-- :listed (anon_class INTEGER, position INTEGER, depth INTEGER, label VARCHAR)
-- :mask '*'
SELECT
    anon_class,
    position,
    CASE WHEN anon_least = anon_greatest THEN 0 END AS depth,
    CASE
        WHEN anon_least = anon_greatest THEN anon_first
        WHEN anon_has_null THEN :mask
        ELSE format('[{}, {}]', anon_first, anon_last)
    END AS label
FROM (
    SELECT
        anon_parts.anon_class,
        anon_ordered.position,
        min(anon_ordered.anon_rank) AS anon_least,
        max(anon_ordered.anon_rank) AS anon_greatest,
        count(anon_ordered.anon_place) < count(*) AS anon_has_null,
        arg_min(anon_ordered.anon_text, anon_ordered.anon_rank) AS anon_first,
        arg_max(anon_ordered.anon_text, anon_ordered.anon_rank) AS anon_last
    FROM :parts AS anon_parts
    INNER JOIN :ordered AS anon_ordered ON anon_ordered.anon_key = anon_parts.anon_key
    GROUP BY anon_parts.anon_class, anon_ordered.position
) AS anon_spans
UNION ALL
SELECT anon_listed.*
FROM :listed AS anon_listed
ANTI JOIN :in_order AS anon_in_order ON anon_in_order.position = anon_listed.position;

-- name: partition
-- losses of classes
-- How many classes and rows there are, and the loss of all rows in each quasi-identifier, in units.
-- :parts (anon_class INTEGER, anon_row_count BIGINT)
-- :widths (anon_class INTEGER, position INTEGER, anon_loss BIGINT)
SELECT
    anon_widths.position,
    count(*) AS classes,
    CAST(sum(anon_of_keys.rows) AS BIGINT) AS rows,
    sum(CAST(anon_widths.anon_loss AS HUGEINT) * anon_of_keys.rows) AS lost
FROM :widths AS anon_widths
INNER JOIN (
    SELECT anon_class, sum(anon_row_count) AS rows FROM :parts AS anon_parts GROUP BY anon_class
) AS anon_of_keys ON anon_of_keys.anon_class = anon_widths.anon_class
GROUP BY anon_widths.position
ORDER BY anon_widths.position ASC;
