-- What is counted of a source to suggest a policy for it: its columns, pairs of columns, and sets of quasi-identifiers.
-- :source (age INTEGER)
-- :cells (anon_0 UBIGINT, anon_1 UBIGINT, anon_row_count BIGINT)

-- name: column_profile
-- counts of columns of one type
-- A row of each column by its place, from its values with their rows: missing ones are none of its values. Of its values, the
-- texts of the 2,000 with the least hashes stay, to look at their shapes.
-- :places [0]
-- :cells (anon_place BIGINT, anon_value INTEGER)
-- :text CAST(anon_value AS VARCHAR)
-- :number CAST(anon_value AS DOUBLE)
-- :moment CAST(NULL AS TIMESTAMP)
SELECT
    place,
    CAST(coalesce(sum(anon_rows), 0) AS BIGINT) AS row_count,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_value IS NOT NULL), 0) AS BIGINT) AS filled_rows,
    count(anon_value) AS value_count,
    count(*) FILTER (WHERE anon_rows = 1 AND anon_value IS NOT NULL) AS single_values,
    coalesce(max(anon_rows), 0) AS largest_rows,
    coalesce(min(anon_rows), 0) AS smallest_rows,
    count(*) FILTER (WHERE anon_rows = 1) AS unique_rows,
    anon_helpers.distinction_of(anon_rows) AS distinction,
    anon_helpers.separation_of(anon_rows) AS separation,
    coalesce(bool_or(anon_text = ''), FALSE) AS has_empty,
    -- CASE leaves out texts for which a look at one letter is enough; AND does not.
    coalesce(bool_or(CASE WHEN ascii(anon_text) = 48 THEN regexp_full_match(anon_text, '0[0-9]+') END), FALSE)
        AS has_leading_zeros,
    count(anon_number) AS number_count,
    count(*) FILTER (WHERE anon_number <> floor(anon_number)) AS fraction_count,
    min(anon_number) AS minimum,
    max(anon_number) AS maximum,
    sum(anon_number * anon_rows) / sum(anon_rows) FILTER (WHERE anon_number IS NOT NULL) AS mean,
    count(*) FILTER (WHERE regexp_matches(anon_text, '[0-9]')) AS digit_count,
    count(anon_moment) AS moment_count,
    count(*) FILTER (WHERE anon_moment <> date_trunc('day', anon_moment)) AS daytime_count,
    date_diff('day', min(anon_moment), max(anon_moment)) AS day_span,
    list_transform(arg_min(anon_value, hash(anon_value), 2000), lambda anon_each: anon.text_of(anon_each)) AS anon_texts
FROM (SELECT unnest(:places) AS place) AS anon_columns
LEFT JOIN (
    SELECT
        anon_place AS place,
        anon_value,
        anon_rows,
        :text AS anon_text,
        CASE WHEN isfinite(:number) THEN :number END AS anon_number,
        CASE WHEN isfinite(:moment) THEN :moment END AS anon_moment
    FROM (SELECT anon_place, anon_value, count(*) AS anon_rows FROM :cells AS anon_cells GROUP BY anon_place, anon_value)
        AS anon_grouped
) AS anon_counts USING (place)
GROUP BY place;

-- name: sampled_rows
-- some rows of the source
-- They are the same in every run, as rows are numbered in the order of the source.
-- :most 10000
SELECT * EXCLUDE (anon_row_number)
FROM (SELECT *, row_number() OVER () AS anon_row_number FROM :source AS anon_source) AS anon_numbered
ORDER BY hash(anon_row_number) ASC
LIMIT :most;

-- name: text_forms
-- how texts are written
-- A row of each column of texts: how many of its values differ in more than case and blanks around them, and how many of its
-- rows are days, points in time, digits, capital letters, or amounts of money with a decimal point or a decimal comma.
-- :cells (anon_place INTEGER, anon_value VARCHAR)
-- :sign '[$€]'
-- :ymd CAST(NULL AS TIMESTAMP)
-- :dmy CAST(NULL AS DATE)
-- :mdy CAST(NULL AS DATE)
SELECT
    anon_place AS place,
    count(DISTINCT trim(anon_text)) AS trimmed_count,
    count(DISTINCT lower(trim(anon_text))) AS folded_count,
    coalesce(bool_or(trim(anon_text) = ''), FALSE) AS has_blank,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_text = upper(anon_text)), 0) AS BIGINT) AS upper_rows,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_moment IS NOT NULL), 0) AS BIGINT) AS moment_rows,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_moment <> date_trunc('day', anon_moment)), 0) AS BIGINT) AS time_rows,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_dmy IS NOT NULL), 0) AS BIGINT) AS dmy_rows,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_mdy IS NOT NULL), 0) AS BIGINT) AS mdy_rows,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_dmy <> anon_mdy), 0) AS BIGINT) AS unlike_rows,
    CAST(coalesce(sum(anon_rows) FILTER (WHERE anon_digits > 0), 0) AS BIGINT) AS digit_rows,
    coalesce(min(anon_digits), 0) AS fewest_digits,
    coalesce(max(anon_digits), 0) AS most_digits,
    count(DISTINCT anon_sign) AS sign_count,
    coalesce(bool_and(anon_sign IN ('$', '£', '¥', 'USD', 'GBP')), FALSE) AS has_point_sign,
    coalesce(bool_or(regexp_matches(anon_amount, '[.,]')), FALSE) AS has_marks,
    CAST(
        coalesce(
            sum(anon_rows) FILTER (
                WHERE regexp_full_match(anon_amount, '[+-]?([0-9]+|[0-9]{1,3}([,''’\s\x{A0}\x{202F}][0-9]{3})+)([.][0-9]+)?')
            ),
            0
        ) AS BIGINT
    ) AS point_rows,
    CAST(
        coalesce(
            sum(anon_rows) FILTER (
                WHERE regexp_full_match(anon_amount, '[+-]?([0-9]+|[0-9]{1,3}([.''’\s\x{A0}\x{202F}][0-9]{3})+)(,[0-9]+)?')
            ),
            0
        ) AS BIGINT
    ) AS comma_rows
FROM (
    SELECT
        anon_place,
        anon_text,
        anon_rows,
        :ymd AS anon_moment,
        :dmy AS anon_dmy,
        :mdy AS anon_mdy,
        CASE WHEN regexp_full_match(trim(anon_text), '[0-9]+') THEN length(trim(anon_text)) END AS anon_digits,
        nullif(upper(regexp_extract(anon_text, :sign)), '') AS anon_sign,
        CASE
            WHEN regexp_matches(anon_text, :sign)
                THEN regexp_replace(trim(anon_text), concat('^([+-]?)', :sign, '\s?|\s?', :sign, '$'), '\1')
        END AS anon_amount
    FROM (
        SELECT anon_place, anon_value COLLATE "binary" AS anon_text, count(*) AS anon_rows
        FROM :cells AS anon_cells
        WHERE anon_value IS NOT NULL
        GROUP BY anon_place, anon_value COLLATE "binary"
    ) AS anon_counted
) AS anon_written
GROUP BY anon_place
ORDER BY anon_place ASC;

-- name: total_rows
-- lines of totals
-- How many rows have one of some words as their first text, and how many different words.
-- :source (age VARCHAR)
-- :first_text age
-- :words ['total']
SELECT count(*) AS total_rows, count(DISTINCT :first_text) AS words
FROM :source AS anon_source
WHERE list_contains(:words, :first_text);

-- name: shapes
-- shapes of values
-- How many of the texts of each column look like what.
-- :profile (place INTEGER, anon_texts VARCHAR[])
SELECT place, shape, count(*) AS text_count
FROM (
    SELECT place, anon.shape_of(anon_text) AS shape
    FROM (SELECT place, unnest(anon_texts) AS anon_text FROM :profile AS anon_profile) AS anon_listed
) AS anon_shaped
GROUP BY place, shape
ORDER BY place ASC, text_count DESC, shape ASC;

-- name: written_columns
-- how the texts of columns of a CSV file are written
-- A row of each column, from its distinct values: the codes for missing values among them, and what all others are.
-- :cells (anon_place INTEGER, anon_value VARCHAR)
-- :codes ['NA']
SELECT
    anon_place AS place,
    list_sort(coalesce(list(anon_text) FILTER (is_code), [])) AS codes,
    count(*) FILTER (NOT is_code) AS others,
    count(TRY_CAST(anon_helpers.as_read(anon_text) AS DOUBLE)) FILTER (NOT is_code) AS numbers,
    count(*) FILTER (NOT is_code AND regexp_full_match(anon_text, '-?(0|[1-9][0-9]{0,8})([.][0-9]{1,9})?')) AS decimal_numbers,
    coalesce(max(strlen(regexp_extract(anon_text, '[.]([0-9]+)', 1))) FILTER (NOT is_code), 0) AS decimals,
    count(*) FILTER (NOT is_code AND anon_text LIKE '-%') AS negatives,
    count(anon_helpers.plain_number(anon_text, ',', '.')) FILTER (NOT is_code) AS comma_numbers,
    count(*) FILTER (NOT is_code AND regexp_full_match(anon_text, '.*,([0-9]{1,2}|[0-9]{4,})')) AS decimal_commas,
    count(*) FILTER (NOT is_code AND regexp_matches(anon_text, '[0-9][.][0-9]{3}(\D|$)')) AS thousand_points,
    count(anon_helpers.plain_number(anon_text, '.', ',')) FILTER (NOT is_code) AS point_numbers,
    count(*) FILTER (NOT is_code AND regexp_matches(anon_text, '(,[0-9]{3}){2}|,[0-9]{3}[.]')) AS thousand_commas,
    count(coalesce(anon_dmy, anon_mdy)) FILTER (NOT is_code) AS days,
    count(anon_dmy) FILTER (NOT is_code AND NOT regexp_matches(anon_text, '[ T]')) AS dmy,
    count(anon_mdy) FILTER (NOT is_code AND NOT regexp_matches(anon_text, '[ T]')) AS mdy,
    count(*) FILTER (anon_dmy <> anon_mdy) AS two_days,
    count(*) FILTER (has_short_year) AS short_years
FROM (
    SELECT
        anon_place,
        anon_text,
        list_contains(:codes, anon_text) AS is_code,
        anon_text <> anon_day AS has_short_year,
        anon_helpers.written_day(anon_day, 'dmy') AS anon_dmy,
        anon_helpers.written_day(anon_day, 'mdy') AS anon_mdy
    FROM (
        SELECT
            anon_place,
            anon_text,
            -- 3-2-12 is a bed, and 3.2.12 a section.
            CASE
                WHEN regexp_matches(anon_text, '^([0-9]{2}[.][0-9]{2}[.]|[0-9]{1,2}/[0-9]{1,2}/)[0-9]{2}')
                    THEN anon_helpers.in_century(anon_text, 1900)
                ELSE anon_text
            END AS anon_day
        FROM (SELECT DISTINCT anon_place, anon_value AS anon_text FROM :cells AS anon_cells WHERE anon_value IS NOT NULL) AS anon_texts
    ) AS anon_dated
) AS anon_written
GROUP BY anon_place
ORDER BY anon_place ASC;

-- name: pair_count
-- pairs of values of two columns
-- :place 0
-- :one age
-- :other age
SELECT :place AS place, count(*) AS pair_count
FROM (
    SELECT :one AS anon_one, :other AS anon_other
    FROM :source AS anon_source
    WHERE :one IS NOT NULL
    GROUP BY :one, :other
) AS anon_pairs;

-- name: monotone_pair
-- pairs of numbers of two columns, in the order of the first
-- :place 0
-- :one age
-- :other age
SELECT
    :place AS place,
    count(*) AS pair_count,
    count(*) FILTER (WHERE anon_other > anon_before) AS rise_count,
    count(*) FILTER (WHERE anon_other < anon_before) AS fall_count
FROM (
    SELECT anon_other, lag(anon_other) OVER (ORDER BY anon_one ASC, anon_other ASC) AS anon_before
    FROM (
        SELECT :one AS anon_one, :other AS anon_other
        FROM :source AS anon_source
        WHERE :one IS NOT NULL
        GROUP BY :one, :other
    ) AS anon_pairs
) AS anon_ordered;

-- name: tails
-- where the tails of a column of numbers begin
-- :place 0
-- :number age
SELECT :place AS place, quantile_disc(:number, 0.01) AS low, quantile_disc(:number, 0.99) AS high
FROM :source AS anon_source;

-- name: repeated_cells
-- cells that others agree with on some columns
-- Cells of a class have one key: the hashes of their values, combined.
-- :key xor(anon_0, anon_1)
SELECT *
FROM :cells AS anon_cells
WHERE :key IN (SELECT :key FROM :cells AS anon_grouped GROUP BY :key HAVING count(*) > 1);

-- name: lone_cells
-- cells that no other agrees with on some columns
-- By more columns, each of these is a class of its own, too.
-- :repeated (anon_0 UBIGINT, anon_1 UBIGINT, anon_row_count BIGINT)
-- :key xor(anon_0, anon_1)
SELECT anon_row_count
FROM :cells AS anon_cells
WHERE :key NOT IN (SELECT :key FROM :repeated AS anon_repeated);

-- name: class_sizes
-- classes by a set of columns
-- :repeated (anon_0 UBIGINT, anon_1 UBIGINT, anon_row_count BIGINT)
-- :lone (anon_row_count BIGINT)
-- :key xor(anon_0, anon_1)
SELECT CAST(sum(anon_row_count) AS BIGINT) AS class_size
FROM :repeated AS anon_repeated
GROUP BY :key
UNION ALL
SELECT anon_row_count AS class_size
FROM :lone AS anon_lone;

-- name: set_measures
-- what classes give away
-- :place 0
-- :classes (class_size BIGINT)
-- :size class_size
SELECT
    :place AS place,
    coalesce(min(:size), 0) AS k,
    count(*) FILTER (WHERE :size = 1) AS unique_rows,
    anon_helpers.distinction_of(:size) AS distinction,
    anon_helpers.separation_of(:size) AS separation
FROM :classes AS anon_classes;

-- name: ordered_values
-- values of a text in the order of numbers that stand beside them
-- :value age
-- :number age
SELECT anon_text AS value
FROM (
    SELECT anon.text_of(:value) COLLATE "binary" AS anon_text, min(:number) AS anon_number
    FROM :source AS anon_source
    WHERE :value IS NOT NULL
    GROUP BY anon.text_of(:value) COLLATE "binary"
) AS anon_numbered
ORDER BY anon_number ASC, value ASC;

-- name: own_labels
-- values of a text, and whether they have a label of their own
-- A value has one from a share of the rows on.
-- :value age
-- :share 0.02
SELECT anon_text AS value, anon_rows >= :share * sum(anon_rows) OVER () AS is_frequent
FROM (
    SELECT anon.text_of(:value) COLLATE "binary" AS anon_text, count(*) AS anon_rows
    FROM :source AS anon_source
    WHERE :value IS NOT NULL
    GROUP BY anon.text_of(:value) COLLATE "binary"
) AS anon_counted
ORDER BY is_frequent DESC, value ASC;
