-- Pseudonyms: values replaced by a keyed hash, and what is wrong with those of a table.

-- guarded: tests/sql/37_pseudonyms.test

-- The key of HMAC-SHA-256 as a block of 64 bytes, each combined with the byte of one of its two pads by XOR. A key of more
-- than 64 bytes is replaced by its hash, a shorter one is filled up with zeros.
--
-- key, pad: BLOB; the pads are '\x36' (inner) and '\x5C' (outer).
-- Returns: BLOB.
-- Source: RFC 2104, section 2.
-- Example:
--   SELECT anon_helpers.hmac_block(CAST('Jefe' AS BLOB), CAST('\x36' AS BLOB)) AS block;
CREATE OR REPLACE MACRO anon_helpers.hmac_block(key, pad) AS
CAST(
    xor(
        CAST(
            CASE WHEN octet_length(key) > 64 THEN unhex(sha256(key)) ELSE key END
            || repeat(CAST('\x00' AS BLOB), 64 - CASE WHEN octet_length(key) > 64 THEN 32 ELSE octet_length(key) END)
            AS BIT
        ),
        CAST(repeat(pad, 64) AS BIT)
    ) AS BLOB
);

-- HMAC-SHA-256 of a message by the two blocks of its key (hmac_block), as 64 hexadecimal digits.
--
-- inner_block, outer_block, message: BLOB.
-- Returns: VARCHAR; NULL for NULL.
-- Source: RFC 2104, section 2.
-- Example:
--   SELECT anon_helpers.hmac_of_blocks(
--       anon_helpers.hmac_block(CAST('Jefe' AS BLOB), CAST('\x36' AS BLOB)),
--       anon_helpers.hmac_block(CAST('Jefe' AS BLOB), CAST('\x5C' AS BLOB)),
--       encode('what do ya want for nothing?')
--   ) AS hash;
CREATE OR REPLACE MACRO anon_helpers.hmac_of_blocks(inner_block, outer_block, message) AS
sha256(outer_block || unhex(sha256(inner_block || message)));

-- HMAC-SHA-256 of a message under a key, as 64 hexadecimal digits.
--
-- key, message: BLOB.
-- Returns: VARCHAR; NULL for NULL.
-- Source: RFC 2104, section 2; test vectors in RFC 4231.
-- Example:
--   SELECT anon_helpers.hmac_sha256(CAST('Jefe' AS BLOB), encode('what do ya want for nothing?')) AS hash;
CREATE OR REPLACE MACRO anon_helpers.hmac_sha256(key, message) AS
anon_helpers.hmac_of_blocks(
    anon_helpers.hmac_block(key, CAST('\x36' AS BLOB)), anon_helpers.hmac_block(key, CAST('\x5C' AS BLOB)), message
);

-- The pseudonym of a value: HMAC-SHA-256 of its text (text_in_utc) in UTF-8, as 64 hexadecimal digits. The same value
-- has the same pseudonym wherever the key is the same. Who has the key can find the value of a pseudonym by trying values.
--
-- key: BLOB, a secret of 32 random bytes or more. Keep it in a variable: a statement that spells it shows it to whoever can
-- read a log of statements. What `sqlanon run --pseudonym-key FILE` takes for the key is the file without its line break:
-- SET VARIABLE pseudonym_key = (SELECT encode(rtrim(content, chr(10))) FROM read_text('FILE'));
--
-- Job: release.
-- Returns: VARCHAR; NULL for NULL.
-- Example:
--   SELECT anon.pseudonym(id, repeat(CAST('k' AS BLOB), 32)) AS pseudonym FROM visits ORDER BY id LIMIT 2;
CREATE OR REPLACE MACRO anon.pseudonym(value, key) AS
anon_helpers.hmac_sha256(key, encode(anon_helpers.text_in_utc(value)));

-- guarded: tests/sql/37_pseudonyms.test

-- What is wrong with columns of pseudonyms: rows whose value is not 64 hexadecimal digits, values that stand more than once
-- in these columns taken together, and the rows that have one. A pseudonym that repeats links rows, also where it stands in
-- two columns. NULL is not a pseudonym, and may repeat. All counts are 0 in a release.
--
-- Returns: attribute VARCHAR, malformed_rows BIGINT, repeated_values BIGINT, repeated_rows BIGINT, one row per column.
-- Example:
--   FROM anon_helpers.pseudonym_problems('visits', ['zip']);
CREATE OR REPLACE MACRO anon_helpers.pseudonym_problems(source, column_names) AS TABLE
WITH anon_values AS (
    SELECT lower(anon_attribute) AS anon_attribute, anon_value
    FROM (
        UNPIVOT (
            SELECT anon.text_of(COLUMNS(anon_helpers.listed(column_names))) COLLATE "binary"
            FROM query_table(anon_helpers.as_source(source))
        )
        ON COLUMNS(*) INTO NAME anon_attribute VALUE anon_value
    )
),
anon_repeated AS (
    SELECT anon_value FROM anon_values GROUP BY anon_value HAVING count(*) > 1
),
anon_counts AS (
    SELECT
        anon_values.anon_attribute,
        count(*) FILTER (WHERE NOT regexp_full_match(anon_values.anon_value, '[0-9a-f]{64}')) AS anon_malformed_rows,
        count(DISTINCT anon_repeated.anon_value) AS anon_repeated_values,
        count(anon_repeated.anon_value) AS anon_repeated_rows
    FROM anon_values
    LEFT JOIN anon_repeated ON anon_repeated.anon_value = anon_values.anon_value
    GROUP BY anon_values.anon_attribute
)
SELECT
    anon_wanted.anon_name AS attribute,
    coalesce(anon_counts.anon_malformed_rows, 0) AS malformed_rows,
    coalesce(anon_counts.anon_repeated_values, 0) AS repeated_values,
    coalesce(anon_counts.anon_repeated_rows, 0) AS repeated_rows
FROM unnest(anon_helpers.listed(column_names)) AS anon_wanted (anon_name)
LEFT JOIN anon_counts ON anon_counts.anon_attribute = lower(anon_wanted.anon_name);
