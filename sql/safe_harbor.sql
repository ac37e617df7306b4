-- What the values of columns show of the identifiers that 45 CFR 164.514(b)(2)(i) removes.
-- :values (place INTEGER, anon_text VARCHAR)
-- :meanings (place INTEGER, attribute VARCHAR, is_text BOOLEAN, is_age BOOLEAN, is_birth BOOLEAN, is_date BOOLEAN, is_part BOOLEAN, is_zip BOOLEAN, is_coordinate BOOLEAN, is_number BOOLEAN, is_unnamed BOOLEAN, is_top_coded BOOLEAN, is_bottom_coded BOOLEAN, first_year INTEGER)

-- name: texts
-- values of a column as texts
-- :place 0
-- :source (age INTEGER)
-- :value age
-- Other dashes, blanks and digits than those of ASCII stand for these.
SELECT
    DISTINCT :place AS place,
    translate(anon.text_of(:value), '‐‑‒–—−   ０１２３４５６７８９', '------   0123456789') COLLATE "binary" AS anon_text
FROM :source AS anon_source
WHERE :value IS NOT NULL;

-- name: shown_kinds
-- kinds of identifiers that values show
-- Each value is judged by itself: one that shows an identifier is enough.
SELECT DISTINCT place, anon_kind AS kind
FROM (
    SELECT
        place,
        unnest(list_concat(
            CASE WHEN is_text THEN anon.identifiers_in(anon_text) END,
            [
                CASE WHEN is_age THEN CASE WHEN anon_helpers.shows_old_age(anon_text, is_top_coded) THEN 'age' END END,
                CASE WHEN is_birth THEN
                    CASE WHEN anon_helpers.shows_early_year(anon_text, first_year, is_bottom_coded) THEN 'birth' END
                END,
                CASE WHEN is_text THEN
                    CASE WHEN list_min(anon_helpers.birth_years_in(anon_text)) < first_year THEN 'birth' END
                END,
                CASE WHEN is_date THEN CASE WHEN anon_helpers.shows_part_of_date(anon_text, is_part) THEN 'date' END END,
                CASE WHEN is_zip THEN CASE WHEN anon_helpers.shows_small_area(anon_text) THEN 'postcode' END END,
                CASE WHEN is_number AND regexp_matches(anon_text, '([0-9][^A-Za-z]{0,2}){6}') THEN 'number' END,
                CASE WHEN is_coordinate AND regexp_matches(anon_text, '[0-9][.][0-9]*[1-9]') THEN 'coordinates' END
            ]
        )) AS anon_kind
    FROM :values AS anon_values
    INNER JOIN :meanings AS anon_meanings USING (place)
) AS anon_judged
WHERE anon_kind IS NOT NULL;

-- name: shown_numbers
-- kinds of identifiers that the numbers of a column show together
-- A number can look like a day by chance, but not half of the numbers of a column, and like a day of a spreadsheet, but not
-- all. Small numbers stand for something else, such as what is missing.
SELECT DISTINCT place, anon_kind AS kind
FROM (
    SELECT
        place,
        unnest([
            CASE WHEN 2 * count(*) FILTER (WHERE anon_helpers.is_day_number(anon_number)) >= count(*) THEN 'date' END,
            CASE
                WHEN is_unnamed AND count(*) >= 5 AND min(anon_number) >= 32874 AND max(anon_number) <= 51135 THEN 'date'
            END,
            CASE WHEN 2 * count(*) FILTER (WHERE anon_is_card) >= count(*) THEN 'card' END
        ]) AS anon_kind
    FROM (
        SELECT DISTINCT
            place,
            is_unnamed,
            anon_helpers.is_card_number(anon_text) AS anon_is_card,
            unnest(anon_helpers.number_range(anon_text)) AS anon_number
        FROM :values AS anon_values
        INNER JOIN :meanings AS anon_meanings USING (place)
    ) AS anon_numbers
    WHERE isfinite(anon_number) AND anon_number >= 1000
    GROUP BY place, is_unnamed
) AS anon_judged
WHERE anon_kind IS NOT NULL;

-- name: split_kinds
-- kinds of identifiers that labels show by their leaves
-- Some leaves may be shown together alone: ages above 89, the days of a year, the ZIP codes of an area. A label that has some of
-- them, and not all, shows more. Where ages are top-coded, those above do not occur.
-- :taxonomy (attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR)
SELECT DISTINCT place, anon_part[1] AS kind
FROM (
    SELECT
        place,
        anon_label,
        anon_part,
        count(*) OVER (PARTITION BY place, anon_level, anon_label, anon_part)
        < count(*) OVER (PARTITION BY place, anon_level, anon_part) AS anon_is_split
    FROM (
        SELECT
            place,
            level AS anon_level,
            label AS anon_label,
            unnest([
                CASE
                    WHEN
                        is_age AND anon_helpers.number_range(value)[2] > 89
                        AND NOT (is_top_coded AND anon_helpers.number_range(value)[1] > 90)
                        THEN ['age', '']
                END,
                ['date', CAST(year(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP)) AS VARCHAR)],
                CASE
                    WHEN is_zip AND regexp_matches(value, '^[0-9]{3}')
                        THEN ['postcode', left(lpad(regexp_extract(value, '^[0-9]+'), 5, '0'), 3)]
                END
            ]) AS anon_part
        FROM :taxonomy AS anon_taxonomy
        INNER JOIN :meanings AS anon_meanings USING (attribute)
        WHERE level > 0
    ) AS anon_labels
    WHERE anon_part[2] IS NOT NULL
) AS anon_compared
-- Weeks do not nest in years, and a year of weeks is a year.
WHERE
    anon_is_split AND NOT starts_with(anon_label, 'ISO ')
    AND (place, anon_label) IN (SELECT (place, anon_text) FROM :values AS anon_values);
