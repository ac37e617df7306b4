-- Labels that a rule can make: intervals, dates, prefixes, diagnosis codes, networks. Each takes a value as text
-- or in its own type and returns NULL where the rule does not apply, so that a taxonomy made with it is refused.

-- The half-open interval of a given width that a number falls into, [start, end), counted from an origin. Numbers
-- below `lower` and from `upper` on share the open ends; give NULL for no open end. Exact to nine decimals.
--
-- How it goes. From the inside out: the value as a decimal, the step that it falls into by division, that step corrected, the
-- start of the interval, its text.
--
-- Job: labels.
-- Returns: VARCHAR; NULL for a value that is not a number below 1e28.
-- Example:
--   SELECT anon.interval_label(34, 10, 0, NULL, 90) AS decade, anon.interval_label(93, 10, 0, NULL, 90) AS old;
CREATE OR REPLACE MACRO anon.interval_label(value, width, origin, lower, upper) AS (
    SELECT CASE
        WHEN anon_start.anon_number IS NULL THEN NULL
        WHEN anon_start.anon_number < lower THEN concat('< ', lower)
        WHEN anon_start.anon_number >= upper THEN concat('>= ', upper)
        ELSE concat(
            '[', greatest(anon_start.anon_start, lower), ', ', least(anon_start.anon_start + width, upper), ')'
        )
    END
    FROM (
        SELECT
            anon_guess.anon_number,
            -- Division is in floating point: step to the neighbour where it landed on the wrong side of a boundary.
            origin + width * (anon_guess.anon_step + CASE
                WHEN origin + width * (anon_guess.anon_step + 1) <= anon_guess.anon_number THEN 1
                WHEN origin + width * anon_guess.anon_step > anon_guess.anon_number THEN -1
                ELSE 0
            END) AS anon_start
        FROM (
            SELECT
                anon_rough.anon_number,
                -- Beyond 2^53 it lands far from the boundary: what is left is divided once more.
                CASE
                    WHEN abs(anon_rough.anon_step) < 9007199254740992 THEN anon_rough.anon_step
                    ELSE anon_rough.anon_step + CAST(
                        floor((anon_rough.anon_number - origin - width * anon_rough.anon_step) / width) AS HUGEINT
                    )
                END AS anon_step
            FROM (
                SELECT
                    anon_exact.anon_number,
                    CAST(floor((anon_exact.anon_number - origin) / width) AS HUGEINT) AS anon_step
                FROM (
                    -- DuckDB 1.5 takes 100 times as long for the larger type, into which it casts floats with other digits.
                    SELECT coalesce(
                        TRY_CAST(anon_helpers.as_read(value) AS DECIMAL(18, 9)), TRY_CAST(anon.text_of(value) AS DECIMAL(37, 9))
                    ) AS anon_number
                ) AS anon_exact
            ) AS anon_rough
        ) AS anon_guess
    ) AS anon_start
);

-- The half-open interval between two of some numbers that a number falls into, [start, end); < the first or >= the last
-- beyond them. The bounds are numbers in ascending order, or their texts, which labels show as they are. Exact to nine
-- decimals.
--
-- Job: labels.
-- Returns: VARCHAR; NULL for a value that is not a number.
-- Example:
--   SELECT anon.bin_label(34, [18, 25, 65]) AS adult, anon.bin_label(71, [18, 25, 65]) AS old;
CREATE OR REPLACE MACRO anon.bin_label(value, bounds) AS
-- A lambda names the place of the lower bound: DuckDB 1.5 finds no column of a query around a subquery inside one.
list_transform(
    [len(list_filter(
        bounds, lambda anon_bound: CAST(anon_bound AS DECIMAL(38, 9)) <= TRY_CAST(anon.text_of(value) AS DECIMAL(38, 9))
    ))],
    lambda anon_lower: CASE
        WHEN TRY_CAST(anon.text_of(value) AS DECIMAL(38, 9)) IS NULL THEN NULL
        WHEN anon_lower = 0 THEN '< ' || CAST(bounds[1] AS VARCHAR)
        WHEN anon_lower = len(bounds) THEN '>= ' || CAST(bounds[anon_lower] AS VARCHAR)
        ELSE concat('[', bounds[anon_lower], ', ', bounds[anon_lower + 1], ')')
    END
)[1];

-- The day, month, quarter, year or decade of a date or timestamp: 2024-03-31, 2024-03, 2024-Q1, 2024, 2020s; or its week and
-- the year of that by ISO 8601: 2024-W13, ISO 2024. Weeks do not nest in months or calendar years.
--
-- Job: labels.
-- Returns: VARCHAR; NULL for a value that is not a date, an error for another unit.
-- Example:
--   SELECT anon.date_label('2024-03-31', 'month') AS month, anon.date_label('2024-03-31', 'quarter') AS quarter;
CREATE OR REPLACE MACRO anon.date_label(value, unit) AS CASE unit
    WHEN 'day' THEN strftime(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP), '%Y-%m-%d')
    WHEN 'week' THEN
        isoyear(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP)) || '-W'
        || lpad(CAST(week(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP)) AS VARCHAR), 2, '0')
    WHEN 'isoyear' THEN 'ISO ' || isoyear(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP))
    WHEN 'month' THEN strftime(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP), '%Y-%m')
    WHEN 'quarter' THEN
        year(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP))
        || '-Q' || quarter(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP))
    WHEN 'year' THEN CAST(year(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP)) AS VARCHAR)
    WHEN 'decade' THEN (year(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMP)) // 10 * 10) || 's'
    ELSE error(concat('anon.date_label: no unit ', unit, '; take day, week, isoyear, month, quarter, year or decade'))
END;

-- The first `kept` characters of a value, each other one masked by *.
--
-- Job: labels.
-- Returns: VARCHAR.
-- Example:
--   SELECT anon.prefix_label('10115', 3) AS label;
CREATE OR REPLACE MACRO anon.prefix_label(value, kept) AS
left(anon.text_of(value), kept) || repeat('*', greatest(length(anon.text_of(value)) - kept, 0));

-- The three-character category (E11) or the chapter (E00-E90) of an ICD-10 code, with or without its dot.
--
-- Job: labels.
-- Returns: VARCHAR; NULL for a value that is not an ICD-10 code, an error for another rank.
-- Source: WHO, ICD-10 volume 1; the ranges also hold the codes of ICD-10-CM and ICD-10-GM.
-- Example:
--   SELECT anon.icd10_label('E11.65', 'category') AS category, anon.icd10_label('E11.65', 'chapter') AS chapter;
CREATE OR REPLACE MACRO anon.icd10_label(value, rank) AS CASE
    WHEN NOT regexp_matches(upper(anon.text_of(value)), '^[A-Z][0-9][0-9A-Z]([.]?[0-9A-Z-]+)?$') THEN NULL
    WHEN rank = 'category' THEN upper(left(anon.text_of(value), 3))
    WHEN rank <> 'chapter' THEN error(concat('anon.icd10_label: no rank ', rank, '; take category or chapter'))
    WHEN upper(left(anon.text_of(value), 1)) IN ('A', 'B') THEN 'A00-B99'
    WHEN upper(left(anon.text_of(value), 3)) BETWEEN 'C00' AND 'D4Z' THEN 'C00-D49'
    WHEN upper(left(anon.text_of(value), 1)) = 'D' THEN 'D50-D89'
    WHEN upper(left(anon.text_of(value), 1)) = 'E' THEN 'E00-E90'
    WHEN upper(left(anon.text_of(value), 1)) = 'F' THEN 'F00-F99'
    WHEN upper(left(anon.text_of(value), 1)) = 'G' THEN 'G00-G99'
    WHEN upper(left(anon.text_of(value), 3)) BETWEEN 'H00' AND 'H5Z' THEN 'H00-H59'
    WHEN upper(left(anon.text_of(value), 1)) = 'H' THEN 'H60-H95'
    WHEN upper(left(anon.text_of(value), 1)) = 'I' THEN 'I00-I99'
    WHEN upper(left(anon.text_of(value), 1)) = 'J' THEN 'J00-J99'
    WHEN upper(left(anon.text_of(value), 1)) = 'K' THEN 'K00-K95'
    WHEN upper(left(anon.text_of(value), 1)) = 'L' THEN 'L00-L99'
    WHEN upper(left(anon.text_of(value), 1)) = 'M' THEN 'M00-M99'
    WHEN upper(left(anon.text_of(value), 1)) = 'N' THEN 'N00-N99'
    WHEN upper(left(anon.text_of(value), 1)) = 'O' THEN 'O00-O9A'
    WHEN upper(left(anon.text_of(value), 1)) = 'P' THEN 'P00-P96'
    WHEN upper(left(anon.text_of(value), 1)) = 'Q' THEN 'Q00-Q99'
    WHEN upper(left(anon.text_of(value), 1)) = 'R' THEN 'R00-R99'
    WHEN upper(left(anon.text_of(value), 1)) IN ('S', 'T') THEN 'S00-T98'
    WHEN upper(left(anon.text_of(value), 1)) IN ('V', 'W', 'X', 'Y') THEN 'V01-Y98'
    WHEN upper(left(anon.text_of(value), 1)) = 'Z' THEN 'Z00-Z99'
    ELSE 'U00-U99'
END;

-- The category (250, V10, E950) or the chapter (240-279, V01-V91, E000-E999) of an ICD-9 diagnosis code, with or
-- without its dot.
--
-- Job: labels.
-- Returns: VARCHAR; NULL for a value that is not an ICD-9 code, an error for another rank.
-- Source: CDC, ICD-9-CM tabular list of diseases.
-- Example:
--   SELECT anon.icd9_label('250.01', 'category') AS category, anon.icd9_label('V10.3', 'chapter') AS chapter;
CREATE OR REPLACE MACRO anon.icd9_label(value, rank) AS CASE
    WHEN NOT regexp_matches(upper(anon.text_of(value)), '^([0-9]{3}|V[0-9]{2}|E[0-9]{3})([.]?[0-9]{1,2})?$') THEN NULL
    WHEN rank = 'category' THEN regexp_extract(upper(anon.text_of(value)), '^([0-9]{3}|V[0-9]{2}|E[0-9]{3})')
    WHEN rank <> 'chapter' THEN error(concat('anon.icd9_label: no rank ', rank, '; take category or chapter'))
    WHEN upper(left(anon.text_of(value), 1)) = 'V' THEN 'V01-V91'
    WHEN upper(left(anon.text_of(value), 1)) = 'E' THEN 'E000-E999'
    WHEN left(anon.text_of(value), 3) <= '139' THEN '001-139'
    WHEN left(anon.text_of(value), 3) <= '239' THEN '140-239'
    WHEN left(anon.text_of(value), 3) <= '279' THEN '240-279'
    WHEN left(anon.text_of(value), 3) <= '289' THEN '280-289'
    WHEN left(anon.text_of(value), 3) <= '319' THEN '290-319'
    WHEN left(anon.text_of(value), 3) <= '389' THEN '320-389'
    WHEN left(anon.text_of(value), 3) <= '459' THEN '390-459'
    WHEN left(anon.text_of(value), 3) <= '519' THEN '460-519'
    WHEN left(anon.text_of(value), 3) <= '579' THEN '520-579'
    WHEN left(anon.text_of(value), 3) <= '629' THEN '580-629'
    WHEN left(anon.text_of(value), 3) <= '679' THEN '630-679'
    WHEN left(anon.text_of(value), 3) <= '709' THEN '680-709'
    WHEN left(anon.text_of(value), 3) <= '739' THEN '710-739'
    WHEN left(anon.text_of(value), 3) <= '759' THEN '740-759'
    WHEN left(anon.text_of(value), 3) <= '779' THEN '760-779'
    WHEN left(anon.text_of(value), 3) <= '799' THEN '780-799'
    ELSE '800-999'
END;

-- The IPv4 network of an address: its first `bits` bits, in CIDR notation.
--
-- Job: labels.
-- Returns: VARCHAR; NULL for a value that is not an IPv4 address.
-- Example:
--   SELECT anon.ipv4_label('192.168.17.4', 24) AS network, anon.ipv4_label('192.168.17.4', 12) AS wider;
CREATE OR REPLACE MACRO anon.ipv4_label(value, bits) AS (
    SELECT concat(
        anon_network.anon_address >> 24, '.', (anon_network.anon_address >> 16) & 255, '.',
        (anon_network.anon_address >> 8) & 255, '.', anon_network.anon_address & 255, '/', bits
    )
    FROM (
        SELECT (
            (CAST(anon_octets.anon_octet[1] AS BIGINT) << 24) + (CAST(anon_octets.anon_octet[2] AS BIGINT) << 16)
            + (CAST(anon_octets.anon_octet[3] AS BIGINT) << 8) + CAST(anon_octets.anon_octet[4] AS BIGINT)
        ) >> (32 - bits) << (32 - bits) AS anon_address
        FROM (
            SELECT CASE
                WHEN regexp_matches(
                    anon.text_of(value),
                    '^((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.]){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])$'
                ) THEN string_split(anon.text_of(value), '.')
            END AS anon_octet
        ) AS anon_octets
    ) AS anon_network
    WHERE anon_network.anon_address IS NOT NULL
);
