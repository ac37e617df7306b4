-- Local recoding: classes of keys and what they lose, and the rows that are left when nodes take no more.
--
-- Every key is in a class (anon_class): 0 is none yet, and -1 is that of the keys that are left out.

-- name: classes_of_keys
-- classes of keys
-- A class that is taken has the number of its first key.
-- :weighed (anon_key BIGINT, anon_row_count BIGINT, anon_mass BIGINT, anon_number BIGINT)
-- :taken (anon_key BIGINT, anon_first_key BIGINT)
SELECT anon_weighed.*, CAST(coalesce(anon_taken.anon_first_key, 0) AS INTEGER) AS anon_class
FROM :weighed AS anon_weighed
LEFT JOIN :taken AS anon_taken ON anon_taken.anon_key = anon_weighed.anon_key;

-- name: changed_classes
-- classes that change
-- The classes that keys leave, and those that they join.
-- :parts (anon_key BIGINT, anon_class INTEGER)
-- :moves (anon_key BIGINT, anon_class INTEGER)
SELECT DISTINCT anon_class
FROM (
    SELECT anon_parts.anon_class
    FROM :parts AS anon_parts
    SEMI JOIN :moves AS anon_moves ON anon_moves.anon_key = anon_parts.anon_key
    UNION ALL
    SELECT anon_class FROM :moves AS anon_all_moves
) AS anon_both
WHERE anon_class > 0;

-- name: moved
-- classes of keys
-- :parts (anon_key BIGINT, anon_class INTEGER)
-- :moves (anon_key BIGINT, anon_class INTEGER)
SELECT anon_parts.* REPLACE (coalesce(anon_moves.anon_class, anon_parts.anon_class) AS anon_class)
FROM :parts AS anon_parts
LEFT JOIN :moves AS anon_moves ON anon_moves.anon_key = anon_parts.anon_key;

-- name: moved_rows
-- keys that move
-- :parts (anon_key BIGINT, anon_row_count BIGINT)
-- :moves (anon_key BIGINT)
SELECT count(*) AS keys, CAST(coalesce(sum(anon_parts.anon_row_count), 0) AS BIGINT) AS rows
FROM :parts AS anon_parts
SEMI JOIN :moves AS anon_moves ON anon_moves.anon_key = anon_parts.anon_key;

-- name: rows_of_class
-- rows in no class
-- :parts (anon_class INTEGER, anon_row_count BIGINT)
-- :classes 0
SELECT count(*) AS keys, CAST(coalesce(sum(anon_row_count), 0) AS BIGINT) AS rows
FROM :parts AS anon_parts
WHERE anon_class IN (:classes);

-- name: levels
-- levels of classes
-- The finest level of each quasi-identifier at which all keys of a class have one label, and the bits of that.
-- :parts (anon_key_0 BIGINT, anon_class INTEGER, anon_number BIGINT)
-- :changed (anon_class INTEGER)
-- :masks (position INTEGER, depth INTEGER, anon_mask_0 BIGINT)
-- :keys anon_key_0
-- :bits anon_mask_0
-- :differences anon_difference_0
-- :bottom [0, 0]
SELECT
    anon_finest.anon_class,
    anon_finest.anon_number,
    anon_finest.position,
    anon_finest.depth,
    anon_finest.:keys & anon_masks.:bits AS :keys
FROM (
    SELECT
        anon_spans.anon_class,
        anon_spans.anon_number,
        anon_masks.position,
        CAST(
            greatest(count(*) FILTER (WHERE anon_spans.:differences & anon_masks.:bits <> 0), :bottom[anon_masks.position + 1])
            AS INTEGER
        ) AS depth,
        anon_spans.:keys
    FROM (
        SELECT
            anon_class,
            max(anon_number) AS anon_number,
            bit_and(anon_parts.:keys) AS :keys,
            xor(bit_and(anon_parts.:keys), bit_or(anon_parts.:keys)) AS :differences
        FROM :parts AS anon_parts
        SEMI JOIN :changed AS anon_changed ON anon_changed.anon_class = anon_parts.anon_class
        GROUP BY anon_class
    ) AS anon_spans
    CROSS JOIN :masks AS anon_masks
    GROUP BY anon_spans.anon_class, anon_spans.anon_number, anon_masks.position, anon_spans.:keys
) AS anon_finest
INNER JOIN :masks AS anon_masks ON anon_masks.position = anon_finest.position AND anon_masks.depth = anon_finest.depth;

-- name: losses
-- losses of classes
-- What the labels of a class lose of a row, its mass and its rows, and the numbers of its labels.
-- :levels (anon_class INTEGER, anon_number BIGINT, position INTEGER, depth INTEGER, anon_key_0 BIGINT)
-- :labels (position INTEGER, depth INTEGER, anon_key_0 BIGINT, anon_label_number BIGINT, anon_loss BIGINT)
-- :parts (anon_class INTEGER, anon_row_count BIGINT, anon_mass BIGINT)
-- :changed (anon_class INTEGER)
-- :keys anon_key_0
SELECT anon_of_labels.*, anon_of_keys.anon_mass, anon_of_keys.anon_row_count
FROM (
    SELECT
        anon_levels.anon_class,
        anon_levels.anon_number,
        CAST(sum(anon_labels.anon_loss) AS BIGINT) AS anon_loss,
        list(anon_labels.anon_label_number ORDER BY anon_labels.position ASC) AS anon_labels
    FROM :levels AS anon_levels
    SEMI JOIN :changed AS anon_changed ON anon_changed.anon_class = anon_levels.anon_class
    INNER JOIN :labels AS anon_labels
        ON anon_labels.position = anon_levels.position
        AND anon_labels.depth = anon_levels.depth
        AND anon_levels.:keys = anon_labels.:keys
    GROUP BY anon_levels.anon_class, anon_levels.anon_number
) AS anon_of_labels
INNER JOIN (
    SELECT anon_class, CAST(sum(anon_mass) AS BIGINT) AS anon_mass, CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count
    FROM :parts AS anon_parts
    GROUP BY anon_class
) AS anon_of_keys ON anon_of_keys.anon_class = anon_of_labels.anon_class;

-- name: all_classes
-- all classes
-- :parts (anon_class INTEGER)
SELECT DISTINCT anon_class FROM :parts AS anon_parts WHERE anon_class > 0;

-- name: members
-- cells of classes
-- :cells (anon_key BIGINT, anon_sensitive_0 UINTEGER, anon_sensitive_0_1 UINTEGER, anon_row_count BIGINT, anon_weight DOUBLE)
-- :parts (anon_key BIGINT, anon_class INTEGER)
-- :distinguishing anon_sensitive_0
-- :weights anon_weight
-- :others anon_sensitive_0_1
SELECT
    anon_parts.anon_class,
    anon_cells.:distinguishing,
    any_value(anon_cells.:others) AS :others,
    CAST(sum(anon_cells.anon_row_count) AS BIGINT) AS anon_row_count,
    sum(anon_cells.:weights) AS :weights
FROM :cells AS anon_cells
INNER JOIN :parts AS anon_parts ON anon_parts.anon_key = anon_cells.anon_key
WHERE anon_parts.anon_class > 0
GROUP BY anon_parts.anon_class, anon_cells.:distinguishing;

-- name: cells_of_groups
-- cells of groups
-- The cells of the members of groups, once for each of these.
-- :groups (anon_class INTEGER, anon_length BIGINT, anon_member INTEGER)
-- :group_keys anon_class, anon_length
-- :members (anon_class INTEGER, anon_row_count BIGINT)
-- :member anon_member
-- :key anon_class
-- :carried anon_row_count
SELECT anon_groups.:group_keys, anon_of_group.:carried
FROM :groups AS anon_groups
INNER JOIN :members AS anon_of_group ON anon_groups.:member = anon_of_group.:key;

-- name: cells_of_classes
-- cells of classes
-- :cells (anon_key BIGINT, anon_row_count BIGINT)
-- :parts (anon_key BIGINT, anon_class INTEGER, anon_number BIGINT)
-- :joint anon_earlier
-- :carried anon_row_count
SELECT anon_parts.anon_class, anon_parts.anon_number AS :joint, anon_cells.:carried
FROM :cells AS anon_cells
INNER JOIN :parts AS anon_parts ON anon_parts.anon_key = anon_cells.anon_key;

-- name: equal
-- classes of equal labels
-- :losses (anon_class INTEGER, anon_number BIGINT, anon_labels BIGINT[])
SELECT anon_class, min(anon_class) OVER (PARTITION BY anon_labels, anon_number) AS anon_first
FROM :losses AS anon_losses
QUALIFY count(*) OVER (PARTITION BY anon_labels, anon_number) > 1;

-- name: merges
-- classes of equal labels
-- Their keys go to the first class, or to none if the classes fail together.
-- :parts (anon_key BIGINT, anon_class INTEGER)
-- :equal (anon_class INTEGER, anon_first INTEGER)
-- :met (anon_first INTEGER)
SELECT
    anon_parts.anon_key,
    CASE WHEN anon_met.anon_first IS NULL THEN 0 ELSE anon_equal.anon_first END AS anon_class
FROM :parts AS anon_parts
INNER JOIN :equal AS anon_equal ON anon_equal.anon_class = anon_parts.anon_class
LEFT JOIN :met AS anon_met ON anon_met.anon_first = anon_equal.anon_first;

-- name: all_equal
-- classes of equal labels
-- :equal (anon_first INTEGER)
SELECT DISTINCT anon_first FROM :equal AS anon_equal;

-- name: hidden
-- classes that are hidden
-- :parts (anon_key BIGINT, anon_class INTEGER)
-- :hidden (anon_class INTEGER)
SELECT anon_parts.anon_key, -1 AS anon_class
FROM :parts AS anon_parts
SEMI JOIN :hidden AS anon_hidden ON anon_hidden.anon_class = anon_parts.anon_class;

-- name: left_keys
-- keys in no class
-- With their places in their order.
-- :parts (anon_key BIGINT, anon_class INTEGER)
SELECT *, row_number() OVER (ORDER BY anon_key ASC) AS anon_place FROM :parts AS anon_parts WHERE anon_class = 0;

-- name: left_values
-- values of keys in no class
-- :left_keys (anon_key BIGINT, anon_place BIGINT, anon_key_0 BIGINT, anon_number BIGINT, anon_mass BIGINT)
-- :masks (position INTEGER, depth INTEGER, anon_mask_0 BIGINT)
-- :keys anon_key_0
-- :bits anon_mask_0
-- :values anon_value_0
SELECT
    anon_left.anon_key,
    anon_left.anon_place,
    anon_left.anon_number,
    anon_left.anon_mass,
    anon_masks.position,
    anon_left.:keys & anon_masks.:bits AS :values
FROM :left_keys AS anon_left
CROSS JOIN :masks AS anon_masks
WHERE anon_masks.depth = 0;

-- name: meetings
-- labels above labels and values
-- For each label of a class and each value of a key, what the finest label above both loses, if it may be published.
-- :levels (anon_class INTEGER, position INTEGER, depth INTEGER, anon_key_0 BIGINT)
-- :classes (anon_class INTEGER)
-- :left_values (position INTEGER, anon_value_0 BIGINT)
-- :masks (position INTEGER, depth INTEGER, anon_mask_0 BIGINT)
-- :labels (position INTEGER, depth INTEGER, anon_key_0 BIGINT, anon_loss BIGINT)
-- :keys anon_key_0
-- :bits anon_mask_0
-- :values anon_value_0
-- :top [2, 2]
SELECT anon_met.position, anon_met.depth, anon_met.:keys, anon_met.:values, anon_labels.anon_loss
FROM (
    SELECT
        anon_used.position,
        anon_used.depth,
        anon_used.:keys,
        anon_values.:values,
        greatest(
            anon_used.depth,
            count(*) FILTER (WHERE xor(anon_used.:keys, anon_values.:values) & anon_masks.:bits <> 0)
        ) AS anon_depth
    FROM (
        SELECT DISTINCT position, depth, :keys
        FROM :levels AS anon_levels
        SEMI JOIN :classes AS anon_classes ON anon_classes.anon_class = anon_levels.anon_class
    ) AS anon_used
    INNER JOIN (SELECT DISTINCT position, :values FROM :left_values AS anon_left_values) AS anon_values
        ON anon_values.position = anon_used.position
    INNER JOIN :masks AS anon_masks ON anon_masks.position = anon_used.position
    GROUP BY anon_used.position, anon_used.depth, anon_used.:keys, anon_values.:values
) AS anon_met
INNER JOIN :masks AS anon_masks ON anon_masks.position = anon_met.position AND anon_masks.depth = anon_met.anon_depth
INNER JOIN :labels AS anon_labels
    ON anon_labels.position = anon_met.position
    AND anon_labels.depth = anon_met.anon_depth
    AND anon_labels.:keys = (anon_met.:values & anon_masks.:bits)
WHERE anon_met.anon_depth <= :top[anon_met.position + 1];

-- name: candidates
-- classes for keys
-- Of the keys at some places the classes that they may join, from one rank to another in the order of the rise of the loss.
-- :left_values (anon_key BIGINT, anon_place BIGINT, anon_number BIGINT, anon_mass BIGINT, position INTEGER, anon_value_0 BIGINT)
-- :meetings (position INTEGER, depth INTEGER, anon_key_0 BIGINT, anon_value_0 BIGINT, anon_loss BIGINT)
-- :levels (anon_class INTEGER, anon_number BIGINT, position INTEGER, depth INTEGER, anon_key_0 BIGINT)
-- :classes (anon_class INTEGER)
-- :losses (anon_class INTEGER, anon_loss BIGINT, anon_mass BIGINT)
-- :keys anon_key_0
-- :values anon_value_0
-- :width 2
-- :after 0
-- :until 100
-- :first 0
-- :last 32
SELECT
    anon_pairs.anon_key,
    anon_pairs.anon_class,
    anon_pairs.anon_together * anon_pairs.anon_mass
    + (anon_pairs.anon_together - anon_losses.anon_loss) * anon_losses.anon_mass AS anon_rise
FROM (
    SELECT
        anon_left_values.anon_key,
        anon_levels.anon_class,
        any_value(anon_left_values.anon_mass) AS anon_mass,
        CAST(sum(anon_meetings.anon_loss) AS HUGEINT) AS anon_together
    FROM :left_values AS anon_left_values
    INNER JOIN :meetings AS anon_meetings
        ON anon_meetings.position = anon_left_values.position AND anon_left_values.:values = anon_meetings.:values
    INNER JOIN (
        SELECT anon_all_levels.*
        FROM :levels AS anon_all_levels
        SEMI JOIN :classes AS anon_classes ON anon_classes.anon_class = anon_all_levels.anon_class
    ) AS anon_levels
        ON anon_levels.position = anon_meetings.position
        AND anon_levels.depth = anon_meetings.depth
        AND anon_levels.:keys = anon_meetings.:keys
        AND anon_levels.anon_number = anon_left_values.anon_number
    WHERE anon_left_values.anon_place > :after AND anon_left_values.anon_place <= :until
    GROUP BY anon_left_values.anon_key, anon_levels.anon_class
    HAVING count(*) = :width
) AS anon_pairs
INNER JOIN :losses AS anon_losses ON anon_losses.anon_class = anon_pairs.anon_class
QUALIFY
    row_number() OVER (
        PARTITION BY anon_pairs.anon_key ORDER BY anon_rise ASC, anon_pairs.anon_class ASC
    ) BETWEEN :first + 1 AND :last;

-- name: fitting_candidates
-- classes that fit keys
-- :candidates (anon_key BIGINT, anon_class INTEGER, anon_rise HUGEINT)
-- :fits (anon_key BIGINT, anon_class INTEGER)
SELECT anon_candidates.*
FROM :candidates AS anon_candidates
SEMI JOIN :fits AS anon_fits
    ON anon_fits.anon_key = anon_candidates.anon_key AND anon_fits.anon_class = anon_candidates.anon_class;

-- name: other_candidates
-- classes that did not change
-- :candidates (anon_key BIGINT, anon_class INTEGER, anon_rise HUGEINT)
-- :moves (anon_key BIGINT)
-- :changed (anon_class INTEGER)
SELECT anon_candidates.*
FROM :candidates AS anon_candidates
ANTI JOIN :moves AS anon_moves ON anon_moves.anon_key = anon_candidates.anon_key
ANTI JOIN :changed AS anon_changed ON anon_changed.anon_class = anon_candidates.anon_class;

-- name: chosen
-- classes that keys choose
-- The class of the least rise for each key, and the place of the key among those of its class.
-- :candidates (anon_key BIGINT, anon_class INTEGER, anon_rise HUGEINT)
SELECT
    anon_key,
    anon_class,
    anon_rise,
    row_number() OVER (PARTITION BY anon_class ORDER BY anon_rise ASC, anon_key ASC) AS anon_place,
    count(*) OVER (PARTITION BY anon_class) AS anon_places
FROM (
    SELECT *
    FROM :candidates AS anon_candidates
    QUALIFY row_number() OVER (PARTITION BY anon_key ORDER BY anon_rise ASC, anon_class ASC) = 1
) AS anon_of_keys;

-- name: lengths
-- how many join a class
-- By class how many are tried together, in their order: powers of two, and all.
-- :chosen (anon_class INTEGER, anon_place BIGINT, anon_places BIGINT)
SELECT anon_class, anon_place AS anon_length
FROM :chosen AS anon_chosen
WHERE bit_count(anon_place) = 1 OR anon_place = anon_places;

-- name: in_lengths
-- keys that are tried together
-- :lengths (anon_class INTEGER, anon_length BIGINT)
-- :chosen (anon_class INTEGER, anon_key BIGINT, anon_place BIGINT)
-- :member anon_key
SELECT anon_lengths.anon_class, anon_lengths.anon_length, anon_chosen.:member
FROM :lengths AS anon_lengths
INNER JOIN :chosen AS anon_chosen
    ON anon_chosen.anon_class = anon_lengths.anon_class AND anon_chosen.anon_place <= anon_lengths.anon_length;

-- name: first_choices
-- keys that join classes
-- Those of a few classes, where the rise of the loss is the greatest: other keys may lose less in the classes that these make.
-- :chosen (anon_key BIGINT, anon_class INTEGER, anon_rise HUGEINT)
-- :most 1
SELECT anon_key, anon_class
FROM (SELECT *, max(anon_rise) OVER (PARTITION BY anon_class) AS anon_most FROM :chosen AS anon_chosen) AS anon_of_classes
QUALIFY dense_rank() OVER (ORDER BY anon_most DESC, anon_class ASC) <= :most;

-- name: longest_choices
-- keys that join classes
-- The most keys with which a class meets the privacy models.
-- :chosen (anon_key BIGINT, anon_class INTEGER, anon_place BIGINT)
-- :met (anon_class INTEGER, anon_length BIGINT)
SELECT anon_chosen.anon_key, anon_chosen.anon_class
FROM :chosen AS anon_chosen
INNER JOIN (SELECT anon_class, max(anon_length) AS anon_length FROM :met AS anon_met GROUP BY anon_class) AS anon_longest
    ON anon_longest.anon_class = anon_chosen.anon_class AND anon_longest.anon_length >= anon_chosen.anon_place;

-- name: tops
-- labels of the top
-- The keys in no class by their labels at the top, by the first key with these (anon_top).
-- :weighed (anon_key BIGINT, anon_number BIGINT, anon_key_0 BIGINT)
-- :keys anon_key_0
-- :top_masks 0
SELECT anon_key, min(anon_key) OVER (PARTITION BY anon_number, :keys) AS anon_top
FROM (SELECT anon_key, anon_number, anon_weighed.:keys & :top_masks AS :keys FROM :weighed AS anon_weighed) AS anon_at_top;

-- name: cells_at_top
-- cells in no class
-- :cells (anon_key BIGINT, anon_row_count BIGINT)
-- :parts (anon_key BIGINT, anon_class INTEGER)
-- :tops (anon_key BIGINT, anon_top BIGINT)
-- :carried anon_row_count
SELECT anon_tops.anon_top, anon_cells.:carried
FROM :cells AS anon_cells
INNER JOIN :tops AS anon_tops ON anon_tops.anon_key = anon_cells.anon_key
SEMI JOIN (SELECT anon_key FROM :parts AS anon_parts WHERE anon_class = 0) AS anon_left ON anon_left.anon_key = anon_cells.anon_key;

-- name: left_out
-- keys that are left out
-- The first keys of the labels whose keys fail together, as many as have no more rows than are allowed.
-- :parts (anon_key BIGINT, anon_class INTEGER, anon_row_count BIGINT)
-- :tops (anon_key BIGINT, anon_top BIGINT)
-- :excesses (anon_top BIGINT, anon_excess DOUBLE)
-- :allowed 5
SELECT anon_parts.anon_key, -1 AS anon_class
FROM :parts AS anon_parts
INNER JOIN :tops AS anon_tops ON anon_tops.anon_key = anon_parts.anon_key
INNER JOIN :excesses AS anon_excesses ON anon_excesses.anon_top = anon_tops.anon_top AND anon_excesses.anon_excess > 0
WHERE anon_parts.anon_class = 0
QUALIFY sum(anon_parts.anon_row_count) OVER (ORDER BY anon_tops.anon_top ASC, anon_parts.anon_key ASC) <= :allowed;

-- name: at_top
-- classes at the top
-- The other keys in no class make a new class for each label of the top.
-- :parts (anon_key BIGINT, anon_class INTEGER)
-- :tops (anon_key BIGINT, anon_top BIGINT)
SELECT
    anon_parts.anon_key,
    CAST((SELECT max(greatest(anon_class, 0)) FROM :parts AS anon_all_parts) + anon_tops.anon_top AS INTEGER) AS anon_class,
    anon_tops.anon_top
FROM :parts AS anon_parts
INNER JOIN :tops AS anon_tops ON anon_tops.anon_key = anon_parts.anon_key
WHERE anon_parts.anon_class = 0;

-- name: failing
-- classes that fail
-- :excesses (anon_class INTEGER, anon_excess DOUBLE)
-- :at_top (anon_class INTEGER, anon_top BIGINT)
SELECT DISTINCT anon_moves.anon_class, anon_moves.anon_top, anon_excesses.anon_excess
FROM :at_top AS anon_moves
INNER JOIN :excesses AS anon_excesses ON anon_excesses.anon_class = anon_moves.anon_class
WHERE anon_excesses.anon_excess > 0;

-- name: failing_rows
-- classes that fail
-- With their rows, those for which a class of their label is left, and what each lacks at the least.
-- :failing (anon_class INTEGER)
-- :near (anon_class INTEGER)
-- :parts (anon_class INTEGER, anon_row_count BIGINT)
SELECT
    count(DISTINCT anon_parts.anon_class) AS classes,
    CAST(coalesce(sum(anon_parts.anon_row_count) FILTER (WHERE anon_near.anon_class IS NULL), 0) AS BIGINT) AS rows
FROM :parts AS anon_parts
SEMI JOIN :failing AS anon_failing ON anon_failing.anon_class = anon_parts.anon_class
LEFT JOIN (SELECT DISTINCT anon_class FROM :near AS anon_all_near) AS anon_near
    ON anon_near.anon_class = anon_parts.anon_class;

-- name: near
-- classes under labels of the top
-- For each class that fails the others under its label of the top (anon_other), and what it adds to the loss to give them that label.
-- :failing (anon_class INTEGER, anon_top BIGINT)
-- :parts (anon_key BIGINT, anon_class INTEGER)
-- :tops (anon_key BIGINT, anon_top BIGINT)
-- :levels (anon_class INTEGER, position INTEGER, depth INTEGER, anon_key_0 BIGINT)
-- :losses (anon_class INTEGER, anon_loss BIGINT, anon_mass BIGINT)
-- :labels (position INTEGER, depth INTEGER, anon_key_0 BIGINT, anon_loss BIGINT)
-- :masks (position INTEGER, depth INTEGER, anon_mask_0 BIGINT)
-- :keys anon_key_0
-- :bits anon_mask_0
-- :top [2, 2]
SELECT
    anon_failing.anon_class,
    anon_losses.anon_class AS anon_other,
    any_value((anon_at_top.anon_loss - anon_losses.anon_loss) * CAST(anon_losses.anon_mass AS HUGEINT)) AS anon_added
FROM (
    SELECT anon_lifted.anon_class, CAST(sum(anon_labels.anon_loss) AS HUGEINT) AS anon_loss
    FROM (
        SELECT anon_levels.anon_class, anon_masks.position, anon_masks.depth, anon_levels.:keys & anon_masks.:bits AS :keys
        FROM :levels AS anon_levels
        INNER JOIN :masks AS anon_masks
            ON anon_masks.position = anon_levels.position AND anon_masks.depth = :top[anon_masks.position + 1]
    ) AS anon_lifted
    INNER JOIN :labels AS anon_labels
        ON anon_labels.position = anon_lifted.position
        AND anon_labels.depth = anon_lifted.depth
        AND anon_lifted.:keys = anon_labels.:keys
    GROUP BY anon_lifted.anon_class
) AS anon_at_top
INNER JOIN :losses AS anon_losses ON anon_losses.anon_class = anon_at_top.anon_class
INNER JOIN :parts AS anon_parts ON anon_parts.anon_class = anon_losses.anon_class
INNER JOIN :tops AS anon_tops ON anon_tops.anon_key = anon_parts.anon_key
INNER JOIN :failing AS anon_failing
    ON anon_failing.anon_top = anon_tops.anon_top AND anon_failing.anon_class <> anon_losses.anon_class
GROUP BY anon_failing.anon_class, anon_losses.anon_class;

-- name: pairs_with_others
-- classes that fail, with others
-- :near (anon_class INTEGER, anon_other INTEGER)
SELECT anon_class, anon_other, unnest([anon_class, anon_other]) AS anon_member FROM :near AS anon_near;

-- name: nearest
-- classes in the order of their gain
-- The others by how much nearer to its bounds a class comes with them for what it adds to the loss, and by that where nothing gains.
-- :near (anon_class INTEGER, anon_other INTEGER, anon_added HUGEINT)
-- :failing (anon_class INTEGER, anon_excess DOUBLE)
-- :excesses (anon_class INTEGER, anon_other INTEGER, anon_excess DOUBLE)
-- :most 16
SELECT
    anon_near.anon_class,
    anon_near.anon_other,
    row_number() OVER (
        PARTITION BY anon_near.anon_class
        ORDER BY
            CAST(
                greatest(anon_failing.anon_excess - anon_excesses.anon_excess, 0) / greatest(anon_near.anon_added, 1) AS REAL
            ) DESC,
            anon_near.anon_added ASC,
            anon_near.anon_other ASC
    ) AS anon_place,
    least(count(*) OVER (PARTITION BY anon_near.anon_class), :most) AS anon_places
FROM :near AS anon_near
INNER JOIN :failing AS anon_failing ON anon_failing.anon_class = anon_near.anon_class
INNER JOIN :excesses AS anon_excesses
    ON anon_excesses.anon_class = anon_near.anon_class AND anon_excesses.anon_other = anon_near.anon_other
QUALIFY anon_place <= :most;

-- name: with_itself
-- classes that are tried together
-- :together (anon_class INTEGER, anon_length BIGINT, anon_other INTEGER)
-- :lengths (anon_class INTEGER, anon_length BIGINT)
SELECT anon_class, anon_length, anon_other AS anon_member FROM :together AS anon_together
UNION ALL
SELECT anon_class, anon_length, anon_class AS anon_member FROM :lengths AS anon_lengths;

-- name: dissolved
-- classes that are dissolved
-- The fewest with which a class meets the privacy models, or those that bring it nearest to them.
-- :parts (anon_key BIGINT, anon_class INTEGER)
-- :nearest (anon_class INTEGER, anon_other INTEGER, anon_place BIGINT)
-- :excesses (anon_class INTEGER, anon_length BIGINT, anon_excess DOUBLE)
SELECT anon_parts.anon_key, anon_nearest.anon_class
FROM :parts AS anon_parts
INNER JOIN :nearest AS anon_nearest ON anon_nearest.anon_other = anon_parts.anon_class
INNER JOIN (
    SELECT anon_class, min(row(anon_excess, anon_length))[2] AS anon_length
    FROM :excesses AS anon_excesses
    GROUP BY anon_class
) AS anon_best ON anon_best.anon_class = anon_nearest.anon_class AND anon_best.anon_length >= anon_nearest.anon_place;

-- name: labels_of_levels
-- labels of classes
-- :levels (anon_class INTEGER, position INTEGER, depth INTEGER, anon_key_0 BIGINT)
-- :labels (position INTEGER, depth INTEGER, anon_key_0 BIGINT, anon_loss BIGINT)
-- :keys anon_key_0
SELECT anon_levels.anon_class, anon_levels.position, anon_levels.depth, anon_levels.:keys, anon_labels.anon_loss
FROM :levels AS anon_levels
INNER JOIN :labels AS anon_labels
    ON anon_labels.position = anon_levels.position
    AND anon_labels.depth = anon_levels.depth
    AND anon_levels.:keys = anon_labels.:keys;

-- name: covered_keys
-- classes of keys
-- :weighed (anon_key BIGINT, anon_key_0 BIGINT)
-- :covered (anon_key_0 BIGINT, anon_class INTEGER)
-- :keys anon_key_0
SELECT anon_weighed.*, CAST(coalesce(anon_covered.anon_class, 0) AS INTEGER) AS anon_class
FROM :weighed AS anon_weighed
LEFT JOIN :covered AS anon_covered ON anon_weighed.:keys = anon_covered.:keys;

-- name: held_levels
-- classes that meet the models
-- :levels (anon_class INTEGER, position INTEGER)
-- :met (anon_class INTEGER)
SELECT anon_levels.* FROM :levels AS anon_levels SEMI JOIN :met AS anon_met ON anon_met.anon_class = anon_levels.anon_class;

-- name: class_count
-- classes
-- :classes (anon_class INTEGER)
SELECT count(DISTINCT anon_class) AS classes FROM :classes AS anon_classes;

-- name: described_classes
-- what classes lose
-- One row: the classes, the loss of their labels in units, the mass of all keys and of those that are left out, the rows of
-- these, and how many combinations of levels there are.
-- :parts (anon_class INTEGER, anon_mass BIGINT, anon_row_count BIGINT)
-- :losses (anon_class INTEGER, anon_loss BIGINT, anon_mass BIGINT)
-- :levels (anon_class INTEGER, position INTEGER, depth INTEGER)
SELECT
    anon_of_classes.*,
    anon_of_keys.*,
    (
        SELECT count(DISTINCT anon_depths)
        FROM (
            SELECT list(depth ORDER BY position ASC) AS anon_depths FROM :levels AS anon_levels GROUP BY anon_class
        ) AS anon_nodes
    ) AS nodes
FROM (
    SELECT count(*) AS classes, coalesce(sum(CAST(anon_loss AS HUGEINT) * anon_mass), 0) AS lost
    FROM :losses AS anon_losses
) AS anon_of_classes
CROSS JOIN (
    SELECT
        coalesce(sum(anon_mass), 0) AS mass,
        coalesce(sum(anon_mass) FILTER (WHERE anon_class <= 0), 0) AS out_mass,
        CAST(coalesce(sum(anon_row_count) FILTER (WHERE anon_class <= 0), 0) AS BIGINT) AS out_rows
    FROM :parts AS anon_parts
) AS anon_of_keys;

-- name: level_rows
-- levels of rows
-- By quasi-identifier (its position) and level (its depth) the rows of classes, and how many labels the quasi-identifier has.
-- :levels (anon_class INTEGER, position INTEGER, depth INTEGER)
-- :losses (anon_class INTEGER, anon_labels BIGINT[], anon_row_count BIGINT)
SELECT position, depth, CAST(sum(anon_row_count) AS BIGINT) AS rows, any_value(anon_label_count) AS labels
FROM (
    SELECT
        anon_levels.position,
        anon_levels.depth,
        anon_losses.anon_row_count,
        count(DISTINCT anon_losses.anon_labels[anon_levels.position + 1]) OVER (PARTITION BY anon_levels.position)
            AS anon_label_count
    FROM :levels AS anon_levels
    INNER JOIN :losses AS anon_losses ON anon_losses.anon_class = anon_levels.anon_class
) AS anon_of_classes
GROUP BY position, depth;
