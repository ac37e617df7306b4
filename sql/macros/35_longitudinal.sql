-- Longitudinal data: from a row per event to the sequence of the first events of every individual.

-- The first n events of every individual, in the order of the columns `ordering`, the most significant first: a row
-- per individual and position 1, 2, ... n, with no row where an individual has fewer events.
--
-- NULL is an event like any other: one without a code has taken place all the same. NULLs in the ordering come last.
-- Events at the same time come in the order of their text, so that the same rows always make the same sequence.
-- Rows without an individual are left out.
--
-- It takes 7 to 10 times as long as a window whose ORDER BY names its columns: for a list of columns of any type, each row
-- has a map of sort keys instead.
--
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
                list_transform(ordering, lambda anon_name: anon_keys[lower(anon_name)]) ASC,
                create_sort_key(anon.text_of(anon_event), 'ASC NULLS LAST') ASC
        ) AS anon_position
    FROM (
        SELECT anon_individual, anon_event, map_from_entries(list_value(*COLUMNS(anon.listed(ordering)))) AS anon_keys
        FROM (
            SELECT
                COLUMNS([individual]) AS anon_individual,
                COLUMNS([event]) AS anon_event,
                -- COLUMNS follows the order of the table, so keys are looked up by name. A key is made of a list,
                -- because keys of bare values differ in type.
                struct_pack(
                    anon_name := lower(alias(COLUMNS(anon.listed(ordering)))),
                    anon_key := create_sort_key([COLUMNS(anon.listed(ordering))], 'ASC NULLS LAST')
                )
            FROM query_table(anon.as_source(source))
        )
        WHERE anon_individual IS NOT NULL
    )
)
WHERE anon_position <= n;
