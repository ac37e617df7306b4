-- What values and labels show of the identifiers that the Safe Harbor method of HIPAA removes: 45 CFR 164.514(b)(2)(i).

-- The numbers under a label: the lowest and the greatest one, as lists of two. A number is both; an interval, [90, 95), 90-94 or
-- 90 to 94, has whole numbers; so have a prefix, 9*, and a decade, 1990s; < 18 and >= 90 have no end on one side. Units of age
-- in words, such as years old, may stand beside a number.
--
-- How it goes. The text in small letters without units, the numbers in it, and the first form that the whole text has.
--
-- Returns: DOUBLE[], with infinity at an open end; NULL for another label.
-- Example:
--   SELECT anon_helpers.number_range('[90, 95)') AS halfopen, anon_helpers.number_range('90 years and older') AS from_90_on;
CREATE OR REPLACE MACRO anon_helpers.number_range(label) AS
list_transform(
    [trim(regexp_replace(
        regexp_replace(lower(label), '\b(years?|yrs?|jahren?|ans|años|old|aged?|ages|alter|edad|âge)\b[.:]?', ' ', 'g'), '\s+', ' ', 'g'
    ))],
    lambda anon_text: list_transform(
        -- Within brackets a dash is a sign.
        [CAST(regexp_extract_all(
            anon_text, CASE WHEN anon_text[1] IN ('[', '(') THEN '-?' ELSE '' END || '[0-9]+(?:[.][0-9]+)?'
        ) AS DOUBLE[])],
        lambda anon_numbers: CASE
            WHEN regexp_full_match(anon_text, '[-+]?[0-9]+([.][0-9]+)?') THEN [anon_numbers[1], anon_numbers[1]]
            WHEN regexp_full_match(anon_text, '[\[(] ?-?[0-9.]+ ?[,;] ?-?[0-9.]+ ?[\])]') AND len(anon_numbers) = 2 THEN [
                CASE WHEN anon_text[1] = '(' THEN floor(anon_numbers[1]) + 1 ELSE anon_numbers[1] END,
                CASE WHEN anon_text[-1] = ')' THEN ceil(anon_numbers[2]) - 1 ELSE anon_numbers[2] END
            ]
            WHEN regexp_full_match(anon_text, '[0-9.]+ ?(-|–|—|[.][.]|to|through|bis|à|a) ?[0-9.]+') AND len(anon_numbers) = 2
                THEN anon_numbers
            WHEN
                regexp_full_match(anon_text, '(<=|≤|up to|at most|bis) ?[0-9.]+')
                OR regexp_full_match(
                    anon_text, '[0-9.]+ ?((and|or|&|und|oder|et|ou|y|o) )?(before|earlier|under|below|less|younger|früher|jünger)'
                )
                THEN [CAST('-infinity' AS DOUBLE), anon_numbers[1]]
            WHEN regexp_full_match(anon_text, '(<|under|below|less than|younger than|before|unter|vor) ?[0-9.]+')
                THEN [CAST('-infinity' AS DOUBLE), ceil(anon_numbers[1]) - 1]
            WHEN
                regexp_full_match(anon_text, '(>=|≥|from|at least|ab) ?[0-9.]+')
                OR regexp_full_match(
                    anon_text,
                    '[0-9.]+ ?([+]|((and|or|&|und|oder|et|ou|y|o) )?(above|over|older|more|up|plus|upwards?|later|älter|mehr|más|mayor))'
                )
                THEN [anon_numbers[1], CAST('infinity' AS DOUBLE)]
            WHEN regexp_full_match(anon_text, '(>|over|above|more than|older than|after|über|nach) ?[0-9.]+')
                THEN [floor(anon_numbers[1]) + 1, CAST('infinity' AS DOUBLE)]
            WHEN regexp_full_match(anon_text, '[0-9]+[*]+') THEN [
                anon_numbers[1] * pow(10, length(anon_text) - length(rtrim(anon_text, '*'))),
                (anon_numbers[1] + 1) * pow(10, length(anon_text) - length(rtrim(anon_text, '*'))) - 1
            ]
            WHEN regexp_full_match(anon_text, '[0-9]{3}0s') THEN [anon_numbers[1], anon_numbers[1] + 9]
        END
    )[1]
)[1];

-- Whether a number spells a day, a month or a moment: 20240305, 05032024, 202403, 2024065, or the seconds, milli-, micro- or
-- nanoseconds since 1970 of a moment from 1990 to 2039. The days of a spreadsheet look like other numbers.
--
-- Returns: BOOLEAN.
-- Example:
--   SELECT
--       anon_helpers.is_day_number(20240305) AS day,
--       anon_helpers.is_day_number(1709596800) AS moment,
--       anon_helpers.is_day_number(2024) AS year;
CREATE OR REPLACE MACRO anon_helpers.is_day_number(number) AS
regexp_full_match(
    CAST(CAST(floor(number) AS HUGEINT) AS VARCHAR),
    '(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])?([0-2][0-9]([0-5][0-9]){1,2})?'
    || '|(0?[1-9]|[12][0-9]|3[01])(0[1-9]|[12][0-9]|3[01])(19|20)[0-9]{2}'
    || '|(19|20)[0-9]{2}([0-2][0-9][1-9]|[0-3][0-9]0|3[0-6][0-9])'
)
OR number BETWEEN 631152000 AND 2208988799
OR number BETWEEN 631152000000 AND 2208988799999
OR number BETWEEN 631152000000000 AND 2208988799999999
OR number BETWEEN 631152000000000000 AND 2208988799999999999;

-- Whether a text has a part of a date that is finer than a year: a day, month, week, quarter, season or day of the week,
-- spelled in digits or in words (English, German, French, Spanish), also where the rest is masked by *.
--
-- Returns: BOOLEAN.
-- Example:
--   SELECT
--       anon_helpers.has_date('seen on 5 March 2024') AS day,
--       anon_helpers.has_date('Q1 2024') AS quarter,
--       anon_helpers.has_date('2024') AS year;
CREATE OR REPLACE MACRO anon_helpers.has_date(value) AS
regexp_matches(
    value,
    -- 2024-03-05, 2024/3/5, 2024.03.05, 2024-03; 20240305, with or without a time.
    '(^|[^0-9.])[12][0-9]{3}([-/](0?[1-9]|1[0-2])([-/ T.]|$|[^0-9/-])|[.](0[1-9]|1[0-2])[.][0-3]|-W[0-5]|-[0-3][0-9]{2}([^0-9]|$))'
    || '|(^|[^0-9.])(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])([^0-9]|$|[0-2][0-9][0-5][0-9])'
    -- 5/3/24, 05.03.2024, 05-03-2024; 03/2024.
    || '|(^|[^0-9./-])[0-3]?[0-9](/[0-3]?[0-9]/([12][0-9])?[0-9]{2}|[.][0-3]?[0-9][.][12][0-9]{3}|-[0-3]?[0-9]-[12][0-9]{3})([^0-9]|$)'
    || '|(^|[^0-9./-])([0-3][0-9][.][01][0-9][.][0-9]{2}|[0-3][0-9]-[0-3][0-9]-[0-9]{2})([^0-9]|$)'
    || '|(^|[^0-9./-])(0?[1-9]|1[0-2])[-/.][12][0-9]{3}([^0-9]|$)'
)
-- 2024-0*-**, 202403**, 05.**.****.
OR contains(value, '*') AND regexp_full_match(value, '[12][0-9]{3}[-/.][01*]*[01][0-9*]*([-/. T:][-0-9*/. T:]*)?|[12][0-9]{3}[01][0-9*]{3}|[0-3][0-9]?[*]?[-/.][0-9*]{1,2}[-/.][0-9*]{2,4}')
OR regexp_matches(
    value,
    -- March 5, Mar-2024, 5 March, 05MAR2024, 2024 March; a month alone.
    '(?i)(^|[^a-zà-ÿ])(jan(uary|uar|vier)?|feb(ruary|ruar)?|février|fevrier|mar(ch|s|zo)?|märz|apr(il)?|avril|abril|may|mai|mayo|june?|juni|juin|junio|july?|juli|juillet|julio|aug(ust)?|août|aout|agosto|sept?(ember|embre|iembre)?|okt(ober)?|oct(ober|obre|ubre)?|nov(ember|embre|iembre)?|dec(ember)?|dez(ember)?|décembre|decembre|enero|febrero|diciembre)[.]?([ ,/-]{1,2}|)''?[0-9]{1,4}(st|nd|rd|th|er)?([^a-z]|$)'
    || '|(?i)(^|[^0-9])[0-9]{1,4}(st|nd|rd|th|er|[.])?([ ./-]|)((of|de|day of) )?(jan(uary|uar|vier)?|feb(ruary|ruar)?|février|fevrier|mar(ch|s|zo)?|märz|apr(il)?|avril|abril|may|mai|mayo|june?|juni|juin|junio|july?|juli|juillet|julio|aug(ust)?|août|aout|agosto|sept?(ember|embre|iembre)?|okt(ober)?|oct(ober|obre|ubre)?|nov(ember|embre|iembre)?|dec(ember)?|dez(ember)?|décembre|decembre|enero|febrero|diciembre)([^a-zà-ÿ]|$)'
    || '|(?i)^\s*(jan(uary|uar|vier)?|feb(ruary|ruar)?|février|fevrier|mar(ch|s|zo)?|märz|apr(il)?|avril|abril|may|mai|mayo|june?|juni|juin|junio|july?|juli|juillet|julio|aug(ust)?|août|aout|agosto|sept?(ember|embre|iembre)?|okt(ober)?|oct(ober|obre|ubre)?|nov(ember|embre|iembre)?|dec(ember)?|dez(ember)?|décembre|decembre|enero|febrero|diciembre)[.]?\s*$'
    -- Q1 2024, 2024Q1, 1st quarter, H1 2024, week 13 of 2024, spring 2024.
    || '|(?i)\b[QTH][1-4][ ,/''-]{0,2}([12][0-9]{3}|[0-9]{2})\b|\b[12][0-9]{3}[ :,/-]{0,2}[QTH][1-4]\b'
    || '|(?i)\b(q[1-4]|first|second|third|fourth|last|1st|2nd|3rd|4th|[1-4][.]) (quarter|quartal|trimest\w+|half)( of)?,? [12][0-9]{3}\b|\bquarter ?[1-4]\b|\b[1-4][.] ?quartal\b'
    || '|(?i)\b(week|wk|kw|cw|w)[ .]{0,2}[0-5]?[0-9][ ,/-]{1,2}((of|in) )?[12][0-9]{3}\b|\b[12][0-9]{3}[ ,/-]{0,2}(week|wk|kw|cw|w)[ .]{0,2}[0-5]?[0-9]\b'
    || '|(?i)\b(spring|summer|autumn|fall|winter|frühling|frühjahr|sommer|herbst|easter|christmas|new year)\b.{0,5}\b[12][0-9]{3}\b|\b[12][0-9]{3}.{0,3}\b(spring|summer|autumn|fall|winter|frühjahr|sommer|herbst)\b'
    || '|(?i)\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b'
    || '|(?i)^\s*(mon|tue|wed|thu|fri|sat|sun|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo)[.]?\s*$'
);

-- The years that a text says somebody was born in.
--
-- Returns: INTEGER[].
-- Example:
--   SELECT anon_helpers.birth_years_in('born 1931, moved in 1950') AS years;
CREATE OR REPLACE MACRO anon_helpers.birth_years_in(value) AS
CAST(regexp_extract_all(
    value, '(?i)\b(?:born|birth|birthday|dob|yob|geb|geboren|geburt\w*|naissance|née?|nacid[oa]|nacimiento)\b[^0-9]{0,20}(1[89][0-9]{2}|20[0-9]{2})', 1
) AS INTEGER[]);

-- The kinds of identifiers that stand anywhere in a text, of those that 45 CFR 164.514(b)(2)(i) removes and that have a form:
-- name (with a title), street, postcode, coordinates, date, age (above 89), phone, email, ssn, member, number (behind the word
-- for one), iban, card, vehicle, mac, url, ip, picture, guid, hash.
--
-- How it goes. A regular expression for each kind, or what its check digits say, and the kinds that were found.
--
-- Job: columns.
-- Returns: VARCHAR[], empty without any.
-- Example:
--   SELECT anon.identifiers_in('see http://example.org/7, or write to ada@example.org') AS kinds;
CREATE OR REPLACE MACRO anon.identifiers_in(value) AS
list_filter(
    [
        CASE WHEN regexp_matches(
            value,
            '\b(Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Madame|Monsieur|Mme|Sra?|Señora?|Don|Doña)[.]? (Dr[.]? )?\p{Lu}[\p{L}''-]+|(?i:\b(name|surname)) ?(:|=|is) ?\p{Lu}\p{L}+'
        ) THEN 'name' END,
        CASE WHEN regexp_matches(
            value,
            '\b[0-9]+[A-Za-z]? ([NSEW][.]? )?([A-Z][a-zA-Z''.-]*[ ]){1,4}(?i:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way)\b'
            || '|\p{L}(straße|strasse|str[.]|weg|platz|allee|gasse) ?[0-9]|\b(Straße|Strasse|Weg|Platz|Allee|Gasse|Ring) [0-9]|\b\p{Lu}\p{L}+ring [0-9]{1,3}\b'
            || '|(?i)^\s*[0-9]+[a-z]? ([a-z''.-]+ ){1,3}(street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way)[., ]*$'
            || '|(?i)\b[0-9]+,? (bis )?(rue|boulevard|chemin|allée) \p{L}|\b(calle|avenida|plaza) \p{L}[^0-9]*[0-9]|\bp[.]? ?o[.]? ?box [0-9]'
        ) THEN 'street' END,
        CASE WHEN regexp_matches(
            value,
            '(^|[^0-9-])[0-9]{5}-[0-9*]{4}([^0-9-]|$)'
            || '|\b(A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|P[AR]|RI|S[CD]|T[NX]|UT|V[AIT]|W[AIVY]),? [0-9]{5}\b'
            || '|(?i)\b(zip|zip code|postal code|postcode|plz)\b[^0-9]{0,10}[0-9]{4,5}\b'
            || '|(?-i)\b[A-Z]{1,2}[0-9][A-Z0-9]? [0-9][A-Z]{2}\b|\b[ABCEGHJ-NPRSTVXY][0-9][A-Z] [0-9][A-Z][0-9]\b'
        ) THEN 'postcode' END,
        CASE WHEN regexp_matches(
            value, '(^|[^\[0-9.-])-?[0-9]{1,2}[.][0-9]{3,}°? ?[NS]?, ?-?[0-9]{1,3}[.][0-9]{3,}'
        ) THEN 'coordinates' END,
        CASE WHEN anon_helpers.has_date(value) THEN 'date' END,
        -- Ages of 90 or older may stay as one.
        CASE WHEN regexp_matches(
            regexp_replace(value, '(?i)\b90[ -]?(years?|yrs?)?([ -]old)? ?([+]|(and|or|&) (older|over|above|more))', '', 'g'),
            '(?i)\b(9[0-9]|1[0-4][0-9])[ -]?((years?|yrs?|y)[ -]?(old|of age|o)|y/o|yo|jahre alt|jährig\w*|ans|años)\b|\b(age|aged|age of|alter|edad)[: =]{1,3}(9[0-9]|1[0-4][0-9])\b'
        ) THEN 'age' END,
        CASE WHEN regexp_matches(
            value,
            '(^|[^0-9A-Za-z])[+][1-9][0-9* ()./-]{6,18}[0-9*]'
            || '|(^|[^0-9.])(1[ .-])?[(]?[0-9]{3}[)]?[ .-] ?[0-9]{3}[ .-][0-9*]{4}([^0-9]|$)'
            || '|(^|[^0-9.,/-])0([0-9]{2,4}([ /][0-9]{2}|-[0-9]{3})[0-9 -]{3,}|[0-9]([ .][0-9]{2}){4})'
            || '|(?i)\b(tel|telephone|phone|fax|mobile|cell|telefon|handy|call)\b[^0-9]{0,12}[0-9][0-9 ()./-]{5,}'
        ) THEN 'phone' END,
        CASE WHEN regexp_matches(value, '[^@\s]@[^@\s]') THEN 'email' END,
        CASE WHEN regexp_matches(
            value,
            '(^|[^0-9*-])([0-9]{3}-[0-9]{2}-[0-9*]{4}|[0-9]{3}-[0-9*]{2}-[*]{4}|[*xX]{3}-[*xX]{2}-[0-9]{4}|[0-9]{3} [0-9]{2} [0-9]{4})([^0-9*-]|$)'
            || '|(?i)\b(ssn|social security)[^0-9]{0,20}[0-9]{3,}'
        ) THEN 'ssn' END,
        -- Numbers of Medicare.
        CASE WHEN regexp_matches(
            value,
            '\b[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9][0-9]-?[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9][0-9]-?[AC-HJKMNP-RT-Y]{2}[0-9]{2}\b'
        ) THEN 'member' END,
        CASE WHEN regexp_matches(
            value,
            '(?i)\b(mrn|medical record|record|chart|account|acct|license|licence|passport|policy|member|beneficiary|medicare|medicaid|insurance|certificate|plate|vin|serial|device|imei|udi|dea|npi|patient|case)( ?(id|no|number|num|nr|#)\b)?[.:#= ]{0,3}[A-Z]{0,4}-?[0-9-]*[0-9]{5,}'
        ) THEN 'number' END,
        CASE WHEN
            anon_helpers.is_iban(value)
            OR regexp_matches(value, '\b[A-Z]{2}[0-9]{2} ?[0-9A-Z]{4} ?([0-9]{4} ?){2,6}')
            THEN 'iban' END,
        CASE WHEN len(list_filter(
            regexp_extract_all(value, '(?:^|[^0-9])([1-9][0-9]{3}[ -]?[0-9]{4,6}[ -]?[0-9]{4,5}(?:[ -]?[0-9]{1,4})?)', 1),
            lambda anon_digits: anon_helpers.is_card_number(anon_digits)
        )) > 0 THEN 'card' END,
        CASE WHEN regexp_matches(regexp_extract(value, '\b[A-HJ-NPR-Z0-9]{12}[0-9]{5}\b'), '[A-Z]') THEN 'vehicle' END,
        CASE WHEN regexp_matches(value, '(?i)\b[0-9a-f]{2}([:-][0-9a-f]{2}){5}\b') THEN 'mac' END,
        CASE WHEN regexp_matches(
            value,
            '(?i)\b(https?|ftps?|sftp|file|s3)://|\bwww[.][a-z0-9]|(^|[^@\w.-])([a-z0-9-]+[.])+(com|org|net|edu|gov|info|io|de|uk|fr|es|eu)\b'
        ) THEN 'url' END,
        CASE WHEN regexp_matches(
            value,
            '(^|[^0-9.])((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.]){3}[0-9*]'
            || '|(?i)(^|[^0-9a-z:])([0-9a-f]{1,4}(:[0-9a-f]{1,4}){7}([^0-9a-z:]|$)|([0-9a-f]{1,4}(:[0-9a-f]{1,4}){0,5})?::[0-9a-f])'
        ) THEN 'ip' END,
        CASE WHEN regexp_matches(
            value, '^(\\xFF\\xD8\\xFF|\\x89PNG)|(?i)data:image/|[.](jpe?g|png|gif|tiff?|bmp|heic|webp|dcm)\b'
        ) THEN 'picture' END,
        CASE WHEN regexp_matches(value, '(?i)\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b') THEN 'guid' END,
        CASE WHEN regexp_matches(value, '(?i)\b[0-9a-f]{32,}\b') THEN 'hash' END
    ],
    lambda anon_kind: anon_kind IS NOT NULL
);

-- Whether a label of a column of ages shows an age above 89 other than by one label of 90 or older (45 CFR
-- 164.514(b)(2)(i)(C)). `is_coded` says that 90 stands for all ages from there on.
--
-- Returns: BOOLEAN.
-- Example:
--   SELECT
--       anon_helpers.shows_old_age('[95, 100)', FALSE) AS interval_of_five,
--       anon_helpers.shows_old_age('>= 90', FALSE) AS from_90_on;
CREATE OR REPLACE MACRO anon_helpers.shows_old_age(label, is_coded) AS
list_transform(
    -- Of another text, its greatest number.
    [coalesce(
        anon_helpers.number_range(label),
        list_transform([1, 2], lambda anon_end: list_max(CAST(regexp_extract_all(label, '[0-9]{1,15}') AS DOUBLE[])))
    )],
    lambda anon_ages: anon_ages[2] > 89
        AND (anon_ages[1] > 90 OR NOT (is_coded OR isinf(anon_ages[2])))
)[1];

-- Whether a label of a column of births shows a year before one, other than by one label of that year's predecessor or
-- earlier. `is_coded` says that the lowest year stands for all before it.
--
-- Returns: BOOLEAN.
-- Example:
--   SELECT
--       anon_helpers.shows_early_year('1930s', 1937, FALSE) AS decade,
--       anon_helpers.shows_early_year('< 1940', 1937, FALSE) AS before;
CREATE OR REPLACE MACRO anon_helpers.shows_early_year(label, year, is_coded) AS
list_transform(
    -- Of a date, the year.
    [anon_helpers.number_range(CASE
        WHEN regexp_matches(label, '^[12][0-9*]{3}[-/][0-9*]{1,2}([^0-9*]|$)') THEN left(label, 4)
        ELSE regexp_replace(label, '^ISO ', '')
    END)],
    lambda anon_years: anon_years[1] < year AND (isinf(anon_years[1]) OR anon_years[1] >= 1000)
        AND NOT ((is_coded OR isinf(anon_years[1])) AND anon_years[2] >= year - 1)
)[1];

-- Whether a label of a column of dates shows more than years. Few digits are a count, unless `is_part` says that the column has
-- months, days or other parts of dates.
--
-- Returns: BOOLEAN.
-- Example:
--   SELECT anon_helpers.shows_part_of_date('43831', FALSE) AS day, anon_helpers.shows_part_of_date('2020s', FALSE) AS decade;
CREATE OR REPLACE MACRO anon_helpers.shows_part_of_date(label, is_part) AS
CASE
    WHEN regexp_full_match(label, '(ISO )?[12][0-9]{3}([-/][*]+)*|[12][0-9*]{3}[*/-]*') THEN FALSE
    WHEN anon_helpers.number_range(label) IS NULL THEN regexp_matches(label, '[0-9]')
    ELSE len(list_filter(
        anon_helpers.number_range(label),
        lambda anon_number: isfinite(anon_number) AND anon_number NOT BETWEEN 1000 AND 2999
            AND (is_part OR abs(anon_number) >= 1000)
    )) > 0
END;

-- Whether an area of three digits of ZIP codes has 20,000 people or fewer, by the Census of 2000.
--
-- Returns: BOOLEAN.
-- Source: Office for Civil Rights, guidance on de-identification of November 26, 2012.
-- Example:
--   SELECT anon_helpers.is_sparse_area('036') AS few_people, anon_helpers.is_sparse_area('021') AS many_people;
CREATE OR REPLACE MACRO anon_helpers.is_sparse_area(area) AS
area IN (
    '036', '059', '063', '102', '203', '556', '692', '790', '821', '823', '830', '831', '878', '879', '884', '890', '893'
);

-- Whether a label of a column of ZIP codes shows more than three digits, or three of a sparse area, for which 000 stands (45 CFR
-- 164.514(b)(2)(i)(B)).
--
-- Returns: BOOLEAN.
-- Example:
--   SELECT anon_helpers.shows_small_area('0213*') AS four_digits, anon_helpers.shows_small_area('036') AS few_people;
CREATE OR REPLACE MACRO anon_helpers.shows_small_area(label) AS
CASE
    WHEN regexp_full_match(label, '\s*[0-9]{1,3}[*xX#]+\s*') THEN anon_helpers.is_sparse_area(regexp_extract(label, '[0-9]+'))
    -- A number has lost the zeros at its beginning.
    WHEN regexp_full_match(label, '\s*[0-9]{1,3}([.]0)?\s*')
        THEN anon_helpers.is_sparse_area(lpad(regexp_extract(label, '[0-9]+'), 3, '0'))
    -- An area has a hundred codes of five digits.
    WHEN anon_helpers.number_range(label)[1] < anon_helpers.number_range(label)[2] THEN
        anon_helpers.number_range(label)[2] > 999
        AND anon_helpers.number_range(label)[2] - anon_helpers.number_range(label)[1] < 199
        AND (
            anon_helpers.number_range(label)[2] - anon_helpers.number_range(label)[1] < 99
            OR anon_helpers.is_sparse_area(
                lpad(CAST(CAST(floor(anon_helpers.number_range(label)[1] / 100) AS BIGINT) AS VARCHAR), 3, '0')
            )
        )
    ELSE regexp_matches(label, '[0-9]') AND length(regexp_replace(label, '[^0-9A-Za-z]', '', 'g')) > 3
END;
