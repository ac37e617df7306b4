-- Linked tables for attackers who know two rows of a person: items, pairs of items that few persons have, and what to hide.
--
-- An item is a label of rows of a class of persons, with a number that no other table has (anon_class of rows on rungs).
--
-- :rung (anon_row BIGINT, anon_person BIGINT, anon_class BIGINT)
-- :items (anon_place INTEGER, anon_class BIGINT, anon_weight BIGINT, anon_is_single BOOLEAN, anon_is_hidden BOOLEAN,
--     anon_least BIGINT)

-- name: items_of_persons
-- items of persons
-- :place 1
SELECT :place AS anon_place, anon_person, anon_class, count(*) AS anon_rows FROM :rung GROUP BY anon_person, anon_class;

-- name: items
-- items to show, and to hide for pairs that fewer than k persons have
-- At least :k persons have each item. Where fewer have two rows of one, it has a single row of each person.
--
-- Of two items that fewer than k persons have, one is hidden. A heavier item (by rows, then by the order of labels) is shown
-- if no heavier one is shown with which it makes such a pair. That is what these two steps come to: hide the lighter item of
-- each pair, and show again, heaviest first, whatever has no shown partner. So in a round all items are shown that have no
-- heavier partner among those not decided, and their partners are hidden. Numbers of items follow their weights.
--
-- anon_least: rows of the table that are hidden at every less general node, besides those that are not among items or single
-- rows here. Whoever has both items of a rare pair has no row of one of them there. So a person lacks at least as many items
-- as it takes, those with the most rare pairs first, to have as many pairs together as the person has.
-- :own (anon_place INTEGER, anon_person BIGINT, anon_class BIGINT, anon_rows BIGINT)
-- :k 5
WITH RECURSIVE anon_own AS MATERIALIZED (SELECT * FROM :own AS anon_all_items),
anon_items AS MATERIALIZED (
    SELECT
        * EXCLUDE (anon_row_count),
        CAST(row_number() OVER (ORDER BY anon_weight ASC, anon_class ASC) AS INTEGER) AS anon_item
    FROM (
        SELECT
            anon_place,
            anon_class,
            CAST(sum(anon_rows) AS BIGINT) AS anon_row_count,
            count(*) FILTER (WHERE anon_rows > 1) BETWEEN 1 AND :k - 1 AS anon_is_single,
            CASE WHEN anon_is_single THEN count(*) ELSE anon_row_count END AS anon_weight
        FROM anon_own
        GROUP BY anon_place, anon_class
    ) AS anon_weighed
),
anon_numbered AS MATERIALIZED (
    SELECT anon_own.anon_place, anon_own.anon_person, anon_items.anon_item
    FROM anon_own
    INNER JOIN anon_items ON anon_items.anon_class = anon_own.anon_class
),
anon_met AS NOT MATERIALIZED (
    SELECT
        anon_one.anon_person,
        anon_one.anon_place,
        anon_one.anon_item AS anon_light,
        anon_other.anon_place AS anon_other_place,
        anon_other.anon_item AS anon_heavy
    FROM anon_numbered AS anon_one
    INNER JOIN anon_numbered AS anon_other
        ON anon_one.anon_person = anon_other.anon_person AND anon_one.anon_item < anon_other.anon_item
),
anon_pairs AS MATERIALIZED (
    SELECT anon_light, anon_heavy FROM anon_met GROUP BY anon_light, anon_heavy HAVING count(*) < :k
),
anon_rounds AS (
    SELECT 0 AS anon_round, anon_light, anon_heavy FROM anon_pairs
    UNION ALL
    SELECT anon_round + 1 AS anon_round, anon_light, anon_heavy
    FROM anon_rounds
    ANTI JOIN (
        SELECT anon_lighter.anon_light AS anon_item
        FROM anon_rounds AS anon_lighter
        ANTI JOIN anon_rounds AS anon_heavier ON anon_heavier.anon_light = anon_lighter.anon_heavy
    ) AS anon_gone ON anon_gone.anon_item = anon_rounds.anon_light
    ANTI JOIN (
        SELECT anon_lighter.anon_light AS anon_item
        FROM anon_rounds AS anon_lighter
        ANTI JOIN anon_rounds AS anon_heavier ON anon_heavier.anon_light = anon_lighter.anon_heavy
    ) AS anon_gone_too ON anon_gone_too.anon_item = anon_rounds.anon_heavy
),
anon_hidden AS (
    SELECT DISTINCT anon_lighter.anon_light AS anon_item
    FROM anon_rounds AS anon_lighter
    ANTI JOIN anon_rounds AS anon_heavier
        ON anon_heavier.anon_light = anon_lighter.anon_heavy AND anon_heavier.anon_round = anon_lighter.anon_round
),
anon_partners AS (
    SELECT anon_place, anon_person, anon_item, count(*) AS anon_pair_count
    FROM (
        SELECT anon_place, anon_person, unnest([anon_met.anon_light, anon_met.anon_heavy]) AS anon_item
        FROM anon_met
        SEMI JOIN anon_pairs
            ON anon_pairs.anon_light = anon_met.anon_light AND anon_pairs.anon_heavy = anon_met.anon_heavy
        WHERE anon_place = anon_other_place
    ) AS anon_rare
    GROUP BY anon_place, anon_person, anon_item
),
anon_least AS (
    SELECT anon_place, count(*) FILTER (WHERE 2 * (anon_so_far - anon_pair_count) < anon_all) AS anon_least
    FROM (
        SELECT
            anon_place,
            anon_pair_count,
            sum(anon_pair_count) OVER (PARTITION BY anon_place, anon_person) AS anon_all,
            sum(anon_pair_count)
                OVER (PARTITION BY anon_place, anon_person ORDER BY anon_pair_count DESC, anon_item ASC) AS anon_so_far
        FROM anon_partners
    ) AS anon_counted
    GROUP BY anon_place
)
SELECT
    anon_items.* EXCLUDE (anon_item),
    anon_hidden.anon_item IS NOT NULL AS anon_is_hidden,
    coalesce(anon_least.anon_least, 0) AS anon_least
FROM anon_items
LEFT JOIN anon_hidden ON anon_hidden.anon_item = anon_items.anon_item
LEFT JOIN anon_least ON anon_least.anon_place = anon_items.anon_place;

-- name: item_counts
-- rows of items, by table
SELECT anon_place AS place, CAST(sum(anon_weight) AS BIGINT) AS rows, max(anon_least) AS least FROM :items GROUP BY anon_place;

-- name: shown_labels
-- labels of items to show
-- :labels (anon_class BIGINT, anon_row_count BIGINT, anon_key_0 BIGINT)
SELECT anon_labels.* REPLACE (anon_items.anon_weight AS anon_row_count)
FROM :labels AS anon_labels
INNER JOIN :items AS anon_items ON anon_items.anon_class = anon_labels.anon_class
WHERE NOT anon_items.anon_is_hidden;

-- name: shown_rows
-- rows of items to show
-- Of an item that is shown once, each person has one row. Its rows may differ in other columns: which of them it is, is drawn.
-- $1 'a'::BLOB
-- $2 'b'::BLOB
SELECT anon_rung.*
FROM :rung AS anon_rung
INNER JOIN :items AS anon_items ON anon_items.anon_class = anon_rung.anon_class
WHERE NOT anon_items.anon_is_hidden
QUALIFY
    NOT anon_items.anon_is_single
    OR row_number() OVER (
        PARTITION BY anon_rung.anon_person, anon_rung.anon_class
        ORDER BY anon_helpers.hmac_of_blocks(CAST($1 AS BLOB), CAST($2 AS BLOB), encode(anon.text_of(anon_rung.anon_row))) ASC
    ) = 1;
