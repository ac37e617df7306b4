-- What values look like, whatever their column is called.

-- Whether a text is an IBAN: country, check digits, up to 30 letters and digits, with or without spaces, and its checksum.
--
-- Returns: BOOLEAN.
-- Source: ISO 13616; the checksum is MOD 97-10 of ISO 7064.
-- Example:
--   SELECT anon_helpers.is_iban('GB82 WEST 1234 5698 7654 32') AS is_iban;
CREATE OR REPLACE MACRO anon_helpers.is_iban(value) AS
regexp_full_match(upper(replace(value, ' ', '')), '[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}')
AND list_reduce(
    -- Each letter stands for a number from 10 to 35; the remainder so far comes before the next digits.
    list_transform(
        string_split(concat(substr(upper(replace(value, ' ', '')), 5), left(upper(replace(value, ' ', '')), 4)), ''),
        lambda anon_sign: CASE WHEN anon_sign BETWEEN '0' AND '9' THEN ascii(anon_sign) - 48 ELSE ascii(anon_sign) - 55 END
    ),
    lambda anon_rest, anon_next: (anon_rest * CASE WHEN anon_next > 9 THEN 100 ELSE 10 END + anon_next) % 97
) = 1;

-- Whether a text is the number of a payment card: 13 to 19 digits, with or without spaces or dashes, and its check digit.
--
-- Returns: BOOLEAN.
-- Source: ISO/IEC 7812-1, annex B (Luhn).
-- Example:
--   SELECT anon_helpers.is_card_number('4111 1111 1111 1111') AS is_card_number;
CREATE OR REPLACE MACRO anon_helpers.is_card_number(value) AS
regexp_full_match(value, '[1-9]([ -]?[0-9]){12,18}')
AND list_sum(
    list_transform(
        string_split(reverse(regexp_replace(value, '[ -]', '', 'g')), ''),
        -- Every second digit from the right counts twice, and the digits of that are added.
        lambda anon_digit, anon_place: CASE
            WHEN anon_place % 2 = 1 THEN ascii(anon_digit) - 48
            ELSE (ascii(anon_digit) - 48) * 2 // 10 + (ascii(anon_digit) - 48) * 2 % 10
        END
    )
) % 10 = 0;

-- What a text looks like: email, url, guid, mac, ip, iban, ssn, hash, date (as ISO 8601 has it), period (a month, quarter
-- or week of a year), phone, card, street, icd10 (with its dot), postcode (of more than digits), decimal_comma (a
-- number; three digits behind its comma may be thousands, and have no shape), or text (four words or more).
--
-- Job: columns.
-- Returns: VARCHAR; NULL for what looks like none of these.
-- Example:
--   SELECT anon.shape_of('ada@example.org') AS email, anon.shape_of('E11.65') AS icd10;
CREATE OR REPLACE MACRO anon.shape_of(value) AS
CASE
    WHEN regexp_full_match(value, '[^@\s]+@[^@\s]+[.][A-Za-z]{2,}') THEN 'email'
    WHEN regexp_full_match(value, '(?i)((https?|ftp)://|www[.])\S+') THEN 'url'
    WHEN regexp_full_match(value, '(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}') THEN 'guid'
    WHEN regexp_full_match(value, '(?i)[0-9a-f]{2}([:-][0-9a-f]{2}){5}') THEN 'mac'
    WHEN regexp_full_match(value, '((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])([.]|$)){4}') THEN 'ip'
    WHEN regexp_full_match(value, '(?i)[0-9a-f]{0,4}(:[0-9a-f]{0,4}){2,7}') AND regexp_matches(value, '(?i)::|(:.*){7}') THEN 'ip'
    WHEN anon_helpers.is_iban(value) THEN 'iban'
    WHEN regexp_full_match(value, '[0-9]{3}-[0-9]{2}-[0-9]{4}') THEN 'ssn'
    WHEN regexp_full_match(value, '(?i)[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128}') THEN 'hash'
    WHEN regexp_full_match(value, '[0-9]{4}-[01][0-9]-[0-3][0-9]([ T][0-9:.]+(Z|[+-][0-9:]+)?)?') THEN 'date'
    WHEN regexp_full_match(value, '[0-9]{4}-(Q[1-4]|W[0-5][0-9]|[01][0-9])') THEN 'period'
    WHEN regexp_full_match(
        value,
        '[+][0-9][0-9 ()./-]{6,18}[0-9]|(1[ .-])?[(]?[0-9]{3}[)]?[ .-] ?[0-9]{3}[ .-][0-9]{4}|0[0-9]{1,4}[ /-][0-9][0-9 -]{4,}'
    ) THEN 'phone'
    WHEN anon_helpers.is_card_number(value) THEN 'card'
    WHEN regexp_full_match(
        value,
        '(?i)[0-9]+[a-z]? .*\b(street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way)\b.*'
        || '|.*(straße|strasse|str[.]|weg|platz|allee|gasse|ring) [0-9]+ ?[a-z]?'
        || '|([0-9]+,? )?(rue|avenue|boulevard|place|chemin|calle|avenida|plaza) .*'
    ) THEN 'street'
    WHEN regexp_full_match(value, '[A-TV-Z][0-9][0-9A-Z][.][0-9A-Z]{1,4}') THEN 'icd10'
    WHEN regexp_full_match(
        value,
        '[0-9]{5}-[0-9]{4}|[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]|[1-9][0-9]{3} ?[A-Z]{2}'
    ) THEN 'postcode'
    WHEN regexp_full_match(value, '[-+]?([0-9]+|[0-9]{1,3}([.][0-9]{3})+),([0-9]{1,2}|[0-9]{4,})') THEN 'decimal_comma'
    WHEN regexp_full_match(value, '(\S+\s+){3,}\S+\s*') THEN 'text'
END;
