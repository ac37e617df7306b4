-- Texts of CSV files: the types that they are written in, and those that a spreadsheet computes when it opens a file.

-- The rows of CSV files as they are written: all columns are texts, and the first line has their names. DuckDB guesses types
-- from some rows where a path is named alone, so that 02139 becomes 2139, and 250.10 and 250.1 are one code.
--
-- Job: files.
-- Example:
--   SELECT * FROM anon.csv('visits.csv') LIMIT 3;
CREATE OR REPLACE MACRO anon.csv(path) AS TABLE
FROM read_csv(path, all_varchar = TRUE, header = TRUE, quote = '"', escape = '"', nullstr = '', comment = '');

-- The type whose values are spelled as a text is, to the last character: whole numbers without zeros before them,
-- decimals with as many digits behind the point as stand there, days and times as ISO 8601 has them. All other texts are
-- texts: 007, 1E50, 3-2-12, +7, 20.5 beside 20.50, Yes.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT
--       anon_helpers.written_type('250.10') AS decimal,
--       anon_helpers.written_type('02139') AS zip,
--       anon_helpers.written_type('2020-01-05') AS day;
CREATE OR REPLACE MACRO anon_helpers.written_type(written) AS
CASE
    WHEN written IS NULL THEN NULL
    WHEN CAST(TRY_CAST(anon_helpers.as_read(written) AS BIGINT) AS VARCHAR) = written THEN 'BIGINT'
    WHEN regexp_full_match(written, '-?(0|[1-9][0-9]*)[.][0-9]+') AND length(written) <= 18 AND NOT regexp_full_match(written, '-[0.]+')
        THEN concat('DECIMAL(18, ', length(written) - strpos(written, '.'), ')')
    WHEN NOT regexp_matches(written, '^[0-9]') THEN 'VARCHAR'
    WHEN CAST(TRY_CAST(anon_helpers.as_read(written) AS DATE) AS VARCHAR) = written THEN 'DATE'
    WHEN CAST(TRY_CAST(anon_helpers.as_read(written) AS TIMESTAMP) AS VARCHAR) = written THEN 'TIMESTAMP'
    WHEN CAST(TRY_CAST(anon_helpers.as_read(written) AS TIME) AS VARCHAR) = written THEN 'TIME'
    ELSE 'VARCHAR'
END;

-- The one type that all texts of a column are written in, as written_type has it; VARCHAR if there are several.
-- NULL is in every type.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.written_type_of_all(code) AS type FROM (VALUES ('250.10'), ('250.1'), (NULL)) AS codes (code);
CREATE OR REPLACE MACRO anon_helpers.written_type_of_all(written) AS
coalesce(
    CASE
        WHEN min(anon_helpers.written_type(written)) = max(anon_helpers.written_type(written))
            THEN min(anon_helpers.written_type(written))
    END,
    'VARCHAR'
);

-- A text that spells a number as taxonomies of numbers have it: 27.0, +27 and 027 are 27, and 2.50 is 2.5. Digits beyond the
-- ninth behind the point are rounded. Any other text stays as it is.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.number_as_text('027.50') AS number, anon_helpers.number_as_text('NA') AS text;
CREATE OR REPLACE MACRO anon_helpers.number_as_text(written) AS
CASE
    WHEN TRY_CAST(anon_helpers.as_read(written) AS DECIMAL(38, 9)) IS NULL OR contains(written, '_') THEN written
    ELSE rtrim(rtrim(CAST(TRY_CAST(anon_helpers.as_read(written) AS DECIMAL(38, 9)) AS VARCHAR), '0'), '.')
END;

-- A text that has a number with another decimal point, or with a sign between groups of three digits, as SQL writes it:
-- 1.234,50 is 1234.50 where the point stands between thousands and the comma before decimals.
--
-- point: the sign before decimals. thousands: the one between groups of three digits; an empty text for none.
-- Returns: VARCHAR; NULL for any other text.
-- Example:
--   SELECT anon_helpers.plain_number('1.234,50', ',', '.') AS number, anon_helpers.plain_number('250.10', ',', '') AS code;
CREATE OR REPLACE MACRO anon_helpers.plain_number(written, point, thousands) AS
CASE
    WHEN regexp_full_match(
        translate(written, concat(thousands, point, ',.'), concat(repeat(',', length(thousands)), '.xx')),
        '[+-]?([0-9]+|[0-9]{1,3}(,[0-9]{3})+)([.][0-9]+)?'
    ) THEN translate(replace(written, thousands, ''), point, '.')
END;

-- A text that spells a day with two digits of its year, with all of them: 31.12.24 is 31.12.2024 if the first of the hundred
-- years is 1925. Any other text stays as it is.
--
-- first_year: the first of the hundred years in which years of two digits are.
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.in_century('31.12.24', 1925) AS young, anon_helpers.in_century('31.12.25', 1925) AS old;
CREATE OR REPLACE MACRO anon_helpers.in_century(written, first_year) AS
CASE
    WHEN regexp_full_match(written, '[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2}([ T].*)?')
        THEN regexp_replace(
            written,
            '^([0-9]{1,2}[./-][0-9]{1,2}[./-])[0-9]{2}',
            concat(
                '\1',
                first_year + (TRY_CAST(regexp_extract(written, '^[0-9]+[./-][0-9]+[./-]([0-9]{2})', 1) AS INTEGER) - first_year % 100 + 100)
                % 100
            )
        )
    ELSE written
END;

-- The day that a text spells in numbers, such as 31.12.2024, 12/31/2024, 2024/12/31 or 2024-1-5, whatever time is behind it.
--
-- day_order: of days with the year at the end, dmy where the day stands before the month, mdy where the month does.
-- Returns: DATE; NULL for any other text.
-- Example:
--   SELECT anon_helpers.written_day('31.12.2024 10:30', 'dmy') AS day, anon_helpers.written_day('12/31/2024', 'mdy') AS american;
CREATE OR REPLACE MACRO anon_helpers.written_day(written, day_order) AS
TRY_CAST(
    regexp_replace(
        translate(
            regexp_extract(
                written, '^([0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4}|[0-9]{4}[./-][0-9]{1,2}[./-][0-9]{1,2})([ T].*)?$', 1
            ),
            './',
            '--'
        ),
        '^([0-9]{1,2})-([0-9]{1,2})-([0-9]{4})$',
        CASE day_order WHEN 'mdy' THEN '\3-\1-\2' ELSE '\3-\2-\1' END
    ) AS DATE
);

-- A text that spells a day, see written_day, as taxonomies of days have it: 31.12.2024 is 2024-12-31, and a time behind
-- the day stays there. Any other text stays as it is.
--
-- day_order: dmy or mdy.
-- Returns: VARCHAR.
-- Example:
--   SELECT
--       anon_helpers.day_as_text('31.12.2024 10:30', 'dmy') AS day,
--       anon_helpers.day_as_text('2024-12-31', 'dmy') AS unchanged;
CREATE OR REPLACE MACRO anon_helpers.day_as_text(written, day_order) AS
CASE
    WHEN anon_helpers.written_day(written, day_order) IS NULL THEN written
    ELSE concat(
        CAST(anon_helpers.written_day(written, day_order) AS VARCHAR), regexp_extract(written, '^[^ T]+([ T].*)?$', 1)
    )
END;

-- Whether a spreadsheet may take a text for a formula: it begins with =, +, -, @, a tab or a line break (as OWASP lists
-- them, the wide forms included), and has a letter or a digit. A number with its sign, such as -5 or +3.2, is none.
--
-- Returns: BOOLEAN.
-- Example:
--   SELECT anon_helpers.is_formula('=1+1') AS is_formula;
CREATE OR REPLACE MACRO anon_helpers.is_formula(cell) AS
    regexp_matches(cell, '^[=+@\t\r\n＝＋－＠-](?s:.*)[\p{L}\p{N}]')
    AND NOT regexp_full_match(cell, '[+-]([0-9]+([.,][0-9]+)*|[.,][0-9]+)([eE][+-]?[0-9]+)?%?');

-- The text with an apostrophe before it if it would be taken for a formula, with which a spreadsheet shows it as text.
-- Texts that begin with apostrophes before a formula get one more, so that unquoted_formula restores every text.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.quoted_formula('=1+1') AS cell;
CREATE OR REPLACE MACRO anon_helpers.quoted_formula(cell) AS
    CASE WHEN anon_helpers.is_formula(ltrim(cell, '''')) THEN concat('''', cell) ELSE cell END;

-- The text that quoted_formula was given.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.unquoted_formula('''=1+1') AS cell;
CREATE OR REPLACE MACRO anon_helpers.unquoted_formula(cell) AS
    CASE WHEN cell LIKE '''%' AND anon_helpers.is_formula(ltrim(cell, '''')) THEN substr(cell, 2) ELSE cell END;
