-- Invented people with 15 columns of 27 values, skewed and correlated: each person is of one of 40 kinds, and each column
-- has the value of the kind for six in ten. Every draw is a hash, scaled to [0, 1): the same rows on every machine.
WITH anon_people AS (
    SELECT person, CAST(floor(40 * pow(hash(concat_ws(' ', person, 'kind')) / pow(2, 64), 2)) AS INTEGER) AS kind
    FROM range($1) AS people (person)
),

anon_values AS (
    SELECT
        person,
        list_transform(
            range(15),
            lambda position: CAST(
                floor(
                    27 * pow(
                        CASE
                            WHEN hash(concat_ws(' ', person, position, 'own')) % 10 < 6 THEN hash(concat_ws(' ', 'kind', kind, position))
                            ELSE hash(concat_ws(' ', person, position))
                        END / pow(2, 64),
                        1 + position % 4
                    )
                ) AS INTEGER
            )
        ) AS value
    FROM anon_people
)

SELECT
    value[1] AS q01,
    value[2] AS q02,
    value[3] AS q03,
    value[4] AS q04,
    value[5] AS q05,
    value[6] AS q06,
    value[7] AS q07,
    value[8] AS q08,
    value[9] AS q09,
    value[10] AS q10,
    value[11] AS q11,
    value[12] AS q12,
    value[13] AS q13,
    value[14] AS q14,
    value[15] AS q15
FROM anon_values
ORDER BY person
