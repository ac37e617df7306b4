-- Longitudinal data: from a row per event to the sequence of the first events of every individual.

-- The first n events of every individual, in the order of the columns `ordering`, the most significant first: a row
-- per individual and position 1, 2, ... n, with no row where an individual has fewer events.
--
-- NULL is an event like any other: one without a code has taken place all the same. NULLs in the ordering come last.
-- Events at the same time come in the order of their text, so that the same rows always make the same sequence.
-- Rows without an individual are left out.
--
-- The first three columns of the ordering are sorted by as they are, texts byte by byte. Of further ones, whose number is
-- not known, each row has a map of sort keys, which takes 7 times as long as ORDER BY.
--
-- How it goes. The ordering becomes columns of known names, and a map of sort keys behind the third; events are numbered by these
-- within their individual.
--
-- Job: release.
-- Returns: individual with its column's type, position BIGINT, event with its column's type.
-- Source: Mazzone 2019, sections 3.2 and 4.2.
-- Example:
--   FROM anon.first_events('visits', 'zip', 'diagnosis', ['age', 'id'], 2) ORDER BY ALL;
CREATE OR REPLACE MACRO anon.first_events(source, individual, event, ordering, n) AS TABLE
SELECT anon_individual AS individual, anon_position AS position, anon_event AS event
FROM (
    SELECT
        anon_individual,
        anon_event,
        row_number() OVER (
            PARTITION BY anon_individual
            ORDER BY
                anon_key_1 IS NULL ASC,
                CASE WHEN typeof(anon_key_1) <> 'VARCHAR' THEN anon_key_1 END ASC,
                CASE WHEN typeof(anon_key_1) = 'VARCHAR' THEN anon.text_of(anon_key_1) END COLLATE "binary" ASC,
                anon_key_2 IS NULL ASC,
                CASE WHEN typeof(anon_key_2) <> 'VARCHAR' THEN anon_key_2 END ASC,
                CASE WHEN typeof(anon_key_2) = 'VARCHAR' THEN anon.text_of(anon_key_2) END COLLATE "binary" ASC,
                anon_key_3 IS NULL ASC,
                CASE WHEN typeof(anon_key_3) <> 'VARCHAR' THEN anon_key_3 END ASC,
                CASE WHEN typeof(anon_key_3) = 'VARCHAR' THEN anon.text_of(anon_key_3) END COLLATE "binary" ASC,
                CASE
                    WHEN len(ordering) > 3
                        THEN list_transform(ordering[4:], lambda anon_name: anon_keys[lower(anon_name)])
                END ASC,
                anon_event IS NULL ASC,
                anon.text_of(anon_event) COLLATE "binary" ASC
        ) AS anon_position
    FROM (
        SELECT
            anon_individual,
            anon_event,
            anon_key_1,
            anon_key_2,
            anon_key_3,
            map_from_entries(list_value(*COLUMNS(anon_helpers.listed(ordering)))) AS anon_keys
        FROM (
            SELECT
                COLUMNS([individual]) AS anon_individual,
                COLUMNS([event]) AS anon_event,
                COLUMNS([anon_helpers.listed_at(ordering, 1)]) AS anon_key_1,
                COLUMNS([anon_helpers.listed_at(ordering, 2)]) AS anon_key_2,
                COLUMNS([anon_helpers.listed_at(ordering, 3)]) AS anon_key_3,
                -- COLUMNS follows the order of the table, so keys are looked up by name. A key is made of a list,
                -- because keys of bare values differ in type.
                struct_pack(
                    anon_name := lower(alias(COLUMNS(anon_helpers.listed(ordering)))),
                    anon_key := create_sort_key([COLUMNS(anon_helpers.listed(ordering))], 'ASC NULLS LAST')
                )
            FROM query_table(anon_helpers.as_source(source))
        )
        WHERE anon_individual IS NOT NULL
    )
)
WHERE anon_position <= n;
