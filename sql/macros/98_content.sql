-- The content of a table as one hash, and what a table has that another one does not.

-- A value as text with its length in bytes before it, so that a sequence of values has one reading; a colon for NULL.
--
-- Returns: VARCHAR.
-- Example:
--   SELECT anon_helpers.text_with_length('flu') AS text;
CREATE OR REPLACE MACRO anon_helpers.text_with_length(value) AS
concat(strlen(anon_helpers.text_in_utc(value)), ':', anon_helpers.text_in_utc(value));

-- A hash of the rows of a table, whatever their order, and their number. Each distinct row is spelled as text, its columns
-- in their order with their lengths (values by text_in_utc), and hashed with the number of times that it is there by
-- SHA-256. These hashes are summed in up to 16^5 groups by their first digits, and the sums are hashed. It changes with any
-- edit, but does not resist somebody who searches for other rows with the same sums (Wagner 2002, "A Generalized Birthday
-- Problem"). Names and types of columns are not in it. Instants within lists and structs are spelled in the time zone of the
-- session.
--
-- Job: verify.
-- Returns: row_count BIGINT, content_hash VARCHAR (64 hexadecimal digits), one row.
-- Example:
--   FROM anon.content_hash('visits');
CREATE OR REPLACE MACRO anon.content_hash(source) AS TABLE
WITH anon_rows AS (
    SELECT encode(concat(*COLUMNS(*))) AS anon_row
    FROM (SELECT anon_helpers.text_with_length(COLUMNS(*)) FROM query_table(anon_helpers.as_source(source)))
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
-- the rows were taken from it. Values compare as text, by text_in_utc.
--
-- Job: verify.
-- Returns: added_rows BIGINT, one row.
-- Example:
--   FROM anon.added_values('visits', 'visits', ['diagnosis']);
CREATE OR REPLACE MACRO anon.added_values(source, original, column_names) AS TABLE
WITH anon_counts AS (
    SELECT sum(anon_times) AS anon_difference
    FROM (
        SELECT encode(concat(*COLUMNS(*))) AS anon_row, 1 AS anon_times
        FROM (
            SELECT anon_helpers.text_with_length(COLUMNS(anon_helpers.listed(column_names)))
            FROM query_table(anon_helpers.as_source(source))
        )
        UNION ALL
        SELECT encode(concat(*COLUMNS(*))) AS anon_row, -1 AS anon_times
        FROM (
            SELECT anon_helpers.text_with_length(COLUMNS(anon_helpers.listed(column_names)))
            FROM query_table(anon_helpers.as_source(original))
        )
    )
    GROUP BY anon_row
)
SELECT CAST(coalesce(sum(anon_difference), 0) AS BIGINT) AS added_rows
FROM anon_counts
WHERE anon_difference > 0;

-- The values of the columns that are no quasi-identifiers: a row per row of the source and column, and one more, of the column
-- anon_other, which is NULL, for a source that has no others. Values are texts, by text_in_utc.
--
-- Returns: row_number BIGINT, column_name VARCHAR, value VARCHAR.
-- Example:
--   FROM anon_helpers.other_values('visits', ['age', 'sex', 'zip']) ORDER BY ALL LIMIT 3;
CREATE OR REPLACE MACRO anon_helpers.other_values(source, quasi_identifiers) AS TABLE
SELECT anon_row AS row_number, anon_column AS column_name, anon_value AS value
FROM (
    FROM (
        SELECT row_number() OVER () AS anon_row, *
        FROM (
            SELECT anon_helpers.text_in_utc(COLUMNS(*))
            FROM (
                SELECT COLUMNS(lambda anon_column: NOT list_contains(anon_helpers.listed(quasi_identifiers), anon_column))
                FROM (SELECT *, NULL AS anon_other FROM query_table(anon_helpers.as_source(source)))
            )
        )
    )
    UNPIVOT INCLUDE NULLS (anon_value FOR anon_column IN (COLUMNS(* EXCLUDE (anon_row))))
);

-- Whether a release keeps what can be seen of it: k, labels that are of the taxonomies, and other values that stand together
-- in the source.
--
-- Classes are counted by the texts of the labels, which may be of any level, as in local recoding. A row was added if its
-- values in the columns that are no quasi-identifiers stand together in more rows of the release than of the source; values
-- compare as text, by text_in_utc, and rows by label_code. A CSV file has no types, so that a value may be read
-- back as another text. Whether rows have the labels of their own values cannot be seen.
--
-- How it goes. The classes by their labels; the labels that are of no taxonomy; the other values of each row as one code,
-- counted up in the release and down in the source; and all three beside the hash.
--
-- Job: verify.
-- Returns: one row: holds BOOLEAN, row_count BIGINT, k BIGINT, foreign_labels BIGINT, added_rows BIGINT, content_hash VARCHAR
-- (as by anon.content_hash). Of a release without rows k is NULL, and nothing holds.
-- Example:
--   WITH released AS (FROM anon.release('visits', ['age', 'sex'], 2, 0.25))
--   SELECT holds, k, foreign_labels, added_rows FROM anon.verify('released', 'visits', ['age', 'sex'], 2);
CREATE OR REPLACE MACRO anon.verify(release, source, quasi_identifiers, k) AS TABLE
WITH anon_classes AS (
    SELECT min(anon_class_size) AS anon_k, CAST(coalesce(sum(anon_class_size), 0) AS BIGINT) AS anon_row_count
    FROM (
        SELECT *, count(*) AS anon_class_size
        FROM (
            SELECT encode(anon.text_of(COLUMNS(anon_helpers.listed(quasi_identifiers))))
            FROM query_table(anon_helpers.as_source(release))
        )
        GROUP BY ALL
    )
),
anon_foreign AS (
    SELECT count(*) AS anon_foreign_labels
    FROM anon_helpers.column_values(release, quasi_identifiers) AS anon_found
    ANTI JOIN anon_helpers.taxonomy_labels(quasi_identifiers) AS anon_known
        ON anon_known.attribute = anon_found.attribute
        AND anon_known.label IS NOT DISTINCT FROM anon_found.value
),
-- Of the source those columns that the release has.
anon_released AS (
    FROM anon_helpers.other_values(release, quasi_identifiers)
),
anon_rows AS (
    SELECT bit_xor(anon_helpers.label_code(column_name, value)) AS anon_code, 1 AS anon_times
    FROM anon_released
    GROUP BY row_number
    UNION ALL
    SELECT bit_xor(anon_helpers.label_code(column_name, value)), -1
    FROM anon_helpers.other_values(source, quasi_identifiers)
    WHERE column_name IN (SELECT column_name FROM anon_released)
    GROUP BY row_number
),
anon_added AS (
    SELECT CAST(coalesce(sum(anon_difference), 0) AS BIGINT) AS anon_added_rows
    FROM (SELECT sum(anon_times) AS anon_difference FROM anon_rows GROUP BY anon_code)
    WHERE anon_difference > 0
)
SELECT
    coalesce(anon_k >= anon_helpers.checked_k(k) AND anon_foreign_labels = 0 AND anon_added_rows = 0, FALSE) AS holds,
    anon_row_count AS row_count,
    anon_k AS k,
    anon_foreign_labels AS foreign_labels,
    anon_added_rows AS added_rows,
    content_hash
FROM anon_classes
CROSS JOIN anon_foreign
CROSS JOIN anon_added
CROSS JOIN anon.content_hash(release) AS anon_content;
