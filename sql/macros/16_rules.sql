-- Taxonomies made by rules and read from files: rows for INSERT INTO anon.taxonomy.

-- The distinct values of a column as text, with NULL only where it is the only one, since every taxonomy knows it.
--
-- Returns: value VARCHAR.
-- Example:
--   FROM anon_helpers.domain_of('visits', 'sex') ORDER BY value;
CREATE OR REPLACE MACRO anon_helpers.domain_of(source, attribute) AS TABLE
SELECT value
FROM (
    SELECT value, count(value) OVER () AS anon_value_count FROM anon_helpers.column_values(source, [attribute])
) AS anon_values
WHERE value IS NOT NULL OR anon_value_count = 0;

-- The taxonomy of a column with one level above its values, on which all are *.
--
-- Job: taxonomies.
-- Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR.
-- Example:
--   FROM anon.flat_taxonomy('visits', 'diagnosis') ORDER BY level, value;
CREATE OR REPLACE MACRO anon.flat_taxonomy(source, attribute) AS TABLE
SELECT attribute AS attribute, CAST(anon_level AS INTEGER) AS level, value, CASE anon_level WHEN 0 THEN value ELSE '*' END AS label
FROM anon_helpers.domain_of(source, attribute)
CROSS JOIN range(2) AS anon_levels (anon_level);

-- The taxonomy of a column of numbers: a level of half-open intervals for each width, from narrow to wide, then *. Each
-- width must divide the next. The domain is every whole number from first to last, or what the column has if both are NULL.
--
-- Job: taxonomies.
-- Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR; a label of NULL for what is not a number.
-- Example:
--   FROM anon.interval_taxonomy('visits', 'age', [10, 20], NULL, NULL) WHERE value = '34' ORDER BY level;
CREATE OR REPLACE MACRO anon.interval_taxonomy(source, attribute, widths, first, last) AS TABLE
SELECT
    attribute AS attribute,
    CAST(anon_level AS INTEGER) AS level,
    value,
    CASE
        WHEN anon_level = 0 THEN value
        WHEN anon_level > len(widths) OR value IS NULL THEN '*'
        -- A list has one type: of [0.5, 2] the 2 has a decimal, which the labels would show.
        WHEN widths[anon_level] = floor(widths[anon_level])
            THEN anon.interval_label(value, greatest(CAST(widths[anon_level] AS BIGINT), 1), 0, NULL, NULL)
        ELSE anon.interval_label(value, widths[anon_level], 0, NULL, NULL)
    END AS label
FROM (
    SELECT value FROM anon_helpers.domain_of(source, attribute) WHERE first IS NULL AND last IS NULL
    UNION ALL
    SELECT anon.text_of(anon_number)
    FROM range(first, last + 1) AS anon_domain (anon_number)
) AS anon_values
CROSS JOIN range(
    CASE
        WHEN (first IS NULL) <> (last IS NULL) OR first > last
            THEN error('give both ends of the domain, the first not above the last, or NULL for both')
        WHEN len(widths) = 0 OR list_min(widths) <= 0
            OR widths <> list_sort(list_distinct(widths))
            OR len(list_filter(
                range(2, len(widths) + 1),
                lambda anon_place:
                    CAST(widths[anon_place] AS DECIMAL(38, 9)) % CAST(widths[anon_place - 1] AS DECIMAL(38, 9)) > 0
            )) > 0
            THEN error('widths are above 0, and each divides the next, wider one')
        ELSE len(widths) + 2
    END
) AS anon_levels (anon_level);

-- The taxonomy of a column of codes: a level for each number of characters that stay, from many to few, with * in place of
-- the others, then *.
--
-- Job: taxonomies.
-- Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR.
-- Example:
--   FROM anon.prefix_taxonomy('visits', 'zip', [3, 1]) WHERE value = '10115' ORDER BY level;
CREATE OR REPLACE MACRO anon.prefix_taxonomy(source, attribute, keep) AS TABLE
SELECT
    attribute AS attribute,
    CAST(anon_level AS INTEGER) AS level,
    value,
    CASE
        WHEN anon_level = 0 THEN value
        WHEN anon_level > len(keep) OR value IS NULL THEN '*'
        ELSE anon.prefix_label(value, keep[anon_level])
    END AS label
FROM anon_helpers.domain_of(source, attribute)
CROSS JOIN range(
    CASE
        WHEN len(keep) = 0 OR list_min(keep) < 0 OR keep <> list_reverse_sort(list_distinct(keep))
            THEN error('the numbers of characters that stay are 0 or more, each less than the one before')
        ELSE len(keep) + 2
    END
) AS anon_levels (anon_level);

-- The taxonomy of a column of dates or timestamps: a level for each unit of anon.date_label, from fine to coarse, such as
-- month, quarter, year, decade; then *. The domain is every day from first to last, for a column of dates, or what the column
-- has if both are NULL.
--
-- Job: taxonomies.
-- Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR; a label of NULL for what is not a date.
-- Example:
--   WITH stays AS (SELECT DATE '2024-01-31' AS admission)
--   FROM anon.date_taxonomy('stays', 'admission', ['month', 'year'], '2024-01-30', '2024-02-01') ORDER BY level, value;
CREATE OR REPLACE MACRO anon.date_taxonomy(source, attribute, units, first, last) AS TABLE
SELECT
    attribute AS attribute,
    CAST(anon_level AS INTEGER) AS level,
    value,
    CASE
        WHEN anon_level = 0 THEN value
        WHEN anon_level > len(anon_helpers.listed(units)) OR value IS NULL THEN '*'
        ELSE anon.date_label(value, anon_helpers.listed(units)[anon_level])
    END AS label
FROM (
    SELECT value FROM anon_helpers.domain_of(source, attribute) WHERE first IS NULL AND last IS NULL
    UNION ALL
    SELECT anon.text_of(CAST(anon_day AS DATE))
    FROM generate_series(CAST(first AS DATE), CAST(last AS DATE), INTERVAL '1' DAY) AS anon_domain (anon_day)
) AS anon_values
CROSS JOIN range(
    CASE
        WHEN (first IS NULL) <> (last IS NULL) OR CAST(first AS DATE) > CAST(last AS DATE)
            THEN error('give both ends of the domain, the first not after the last, or NULL for both')
        WHEN len(anon_helpers.listed(units)) = 0
            OR anon_helpers.listed(units) NOT IN (
                list_filter(
                    ['day', 'month', 'quarter', 'year', 'decade'],
                    lambda anon_unit: list_contains(anon_helpers.listed(units), anon_unit)
                ),
                list_filter(['day', 'week', 'isoyear'], lambda anon_unit: list_contains(anon_helpers.listed(units), anon_unit))
            )
            THEN error('units are among day, month, quarter, year, decade, or among day, week, isoyear, from fine to coarse')
        ELSE len(anon_helpers.listed(units)) + 2
    END
) AS anon_levels (anon_level);

-- The taxonomy in a file as ARX writes hierarchies: a line per value, which is the first field, with its labels of levels 1
-- and up in the others. Fields are between semicolons, commas or tabs, whichever DuckDB finds.
--
-- Job: taxonomies.
-- Returns: attribute VARCHAR, level INTEGER, value VARCHAR, label VARCHAR; anon.malformed_taxonomies says what is wrong with it.
-- Example:
--   FROM anon.hierarchy_file('sex.csv', 'sex') ORDER BY level, value;
CREATE OR REPLACE MACRO anon.hierarchy_file(path, attribute) AS TABLE
SELECT DISTINCT
    attribute AS attribute,
    CAST(anon_place - 1 AS INTEGER) AS level,
    CASE
        WHEN len(anon_labels) > 1 THEN nullif(anon_labels[1], '')
        ELSE error('the file has one field in each line: are fields missing in some of them, or is it no hierarchy?')
    END AS value,
    CASE anon_place WHEN 1 THEN nullif(anon_labels[1], '') ELSE anon_labels[anon_place] END AS label
FROM (
    SELECT list_value(*COLUMNS(*)) AS anon_labels
    FROM read_csv(path, header = FALSE, all_varchar = TRUE, quote = '"', escape = '"', nullstr = '', skip = 0, comment = '')
) AS anon_lines
CROSS JOIN unnest(range(1, len(anon_labels) + 1)) AS anon_fields (anon_place);
