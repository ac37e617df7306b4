-- The content of a table as one hash, and what a table has that another one does not.

-- A value as text with its length in bytes before it, so that a sequence of values has one reading; a colon for NULL.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon.text_with_length('flu') AS text;
CREATE OR REPLACE MACRO anon.text_with_length(value) AS
concat(strlen(anon.text_in_utc(value)), ':', anon.text_in_utc(value));

-- A hash of the rows of a table, whatever their order, and their number. Each distinct row is spelled as text, its columns
-- in their order with their lengths (values by anon.text_in_utc), and hashed with the number of times that it is there by
-- SHA-256. These hashes are summed in up to 16^5 groups by their first digits, and the sums are hashed. It changes with any
-- edit, but does not resist somebody who searches for other rows with the same sums (Wagner 2002, "A Generalized Birthday
-- Problem"). Names and types of columns are not in it. Instants within lists and structs are spelled in the time zone of the
-- session.
--
-- Returns: row_count BIGINT, content_hash VARCHAR (64 hexadecimal digits), one row.
-- Example:
--   FROM anon.content_hash('visits');
CREATE OR REPLACE MACRO anon.content_hash(source) AS TABLE
WITH anon_rows AS (
    SELECT encode(concat(*COLUMNS(*))) AS anon_row
    FROM (SELECT anon.text_with_length(COLUMNS(*)) FROM query_table(anon.as_source(source)))
),
anon_hashes AS (
    SELECT count(*) AS anon_times, sha256(concat(count(*), ' ', sha256(anon_row))) AS anon_hash
    FROM anon_rows
    GROUP BY anon_row
),
anon_sums AS (
    SELECT
        CAST('0x' || substr(anon_hash, 1, 5) AS INTEGER) AS anon_group,
        sum(anon_times) AS anon_times,
        sum(CAST('0x' || substr(anon_hash, 1, 16) AS UBIGINT)) AS anon_first,
        sum(CAST('0x' || substr(anon_hash, 17, 16) AS UBIGINT)) AS anon_second,
        sum(CAST('0x' || substr(anon_hash, 33, 16) AS UBIGINT)) AS anon_third,
        sum(CAST('0x' || substr(anon_hash, 49, 16) AS UBIGINT)) AS anon_fourth
    FROM anon_hashes
    GROUP BY anon_group
)
SELECT
    CAST(coalesce(sum(anon_times), 0) AS BIGINT) AS row_count,
    sha256(
        coalesce(
            string_agg(
                sha256(concat_ws(' ', anon_group, anon_first, anon_second, anon_third, anon_fourth)),
                '' ORDER BY anon_group ASC
            ),
            ''
        )
    ) AS content_hash
FROM anon_sums;

-- How many rows of a table have values in some columns that stand together more often there than in another table: 0 if
-- the rows were taken from it. Values compare as text, by anon.text_in_utc.
--
-- Returns: added_rows BIGINT, one row.
-- Example:
--   FROM anon.added_values('visits', 'visits', ['diagnosis']);
CREATE OR REPLACE MACRO anon.added_values(source, original, column_names) AS TABLE
WITH anon_counts AS (
    SELECT sum(anon_times) AS anon_difference
    FROM (
        SELECT encode(concat(*COLUMNS(*))) AS anon_row, 1 AS anon_times
        FROM (
            SELECT anon.text_with_length(COLUMNS(anon.listed(column_names)))
            FROM query_table(anon.as_source(source))
        )
        UNION ALL
        SELECT encode(concat(*COLUMNS(*))) AS anon_row, -1 AS anon_times
        FROM (
            SELECT anon.text_with_length(COLUMNS(anon.listed(column_names)))
            FROM query_table(anon.as_source(original))
        )
    )
    GROUP BY anon_row
)
SELECT CAST(coalesce(sum(anon_difference), 0) AS BIGINT) AS added_rows
FROM anon_counts
WHERE anon_difference > 0;
