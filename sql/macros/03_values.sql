-- Values of a source as their column has them.

-- The macros of schema anon are for people; those of this schema are what these are made of.
CREATE SCHEMA IF NOT EXISTS anon_helpers;

-- The value itself, in a form whose casts stay in the query.
--
-- DuckDB 2.0 hands the cast of a bare column to the reader of a CSV file, which casts the text in the file instead of the
-- value: TRUE would be 'True', 20.5 would be '20.50' or the integer 21, and a TRY_CAST would be an error instead of NULL.
-- It does so before it knows that this is the value, and casts of other sources take no longer.
--
-- Example:
--   SELECT DISTINCT CAST(anon_helpers.as_read(age) AS DOUBLE) AS age FROM visits ORDER BY age ASC;
CREATE OR REPLACE MACRO anon_helpers.as_read(value) AS coalesce(value, NULL);

-- A value as text, the form in which taxonomies have values; the same whether a table, a Parquet or a CSV file holds it.
--
-- Job: labels.
-- Returns: VARCHAR.
-- Example:
--   SELECT anon.text_of(DATE '2016-01-01') AS text, anon.text_of(20.50::DOUBLE) AS number;
CREATE OR REPLACE MACRO anon.text_of(value) AS CAST(anon_helpers.as_read(value) AS VARCHAR);

-- A number, or the bottom if it is below that; NULL stays NULL.
--
-- Job: labels.
-- Returns: a number of the type that holds both.
-- Example:
--   SELECT income, anon.bottom_coded(income, 0) AS coded FROM (VALUES (-300), (1200), (NULL)) AS people(income);
CREATE OR REPLACE MACRO anon.bottom_coded(value, bottom) AS CASE WHEN value < bottom THEN bottom ELSE value END;

-- A number, or the top if it is above that; NULL stays NULL.
--
-- Job: labels.
-- Returns: a number of the type that holds both.
-- Example:
--   SELECT age, anon.top_coded(age, 89) AS coded FROM (VALUES (34), (97), (NULL)) AS people(age) ORDER BY age;
CREATE OR REPLACE MACRO anon.top_coded(value, top) AS CASE WHEN value > top THEN top ELSE value END;

-- A value as text that is the same whatever the time zone of the session: a TIMESTAMP WITH TIME ZONE is spelled in UTC,
-- others as by anon.text_of, those in lists and structs too.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.text_in_utc(TIMESTAMPTZ '2024-10-27 01:30:00+02') AS instant, anon_helpers.text_in_utc(20.50) AS number;
CREATE OR REPLACE MACRO anon_helpers.text_in_utc(value) AS
CASE
    WHEN typeof(value) = 'TIMESTAMP WITH TIME ZONE' THEN coalesce(
        CAST(make_timestamp(epoch_us(TRY_CAST(anon_helpers.as_read(value) AS TIMESTAMPTZ))) AS VARCHAR) || '+00',
        -- Infinity is in no time zone.
        anon.text_of(value)
    )
    -- DuckDB 1.5 coalesces no arrays; the only value of a list is read as well, but takes longer.
    WHEN regexp_matches(typeof(value), '\[|^(STRUCT|MAP|UNION)') THEN CAST([value][1] AS VARCHAR)
    ELSE anon.text_of(value)
END;
