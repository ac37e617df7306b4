-- Invented people with the columns, the domains and roughly the correlations of UCI Adult: a table to blow up.
-- Every draw is a hash of the person and the name of the draw, scaled to [0, 1): the same rows on every machine.
WITH anon_draws AS (
    SELECT
        person,
        hash(concat_ws(' ', person, 'sex')) / pow(2, 64) AS sex,
        hash(concat_ws(' ', person, 'age 1')) / pow(2, 64) AS first_age,
        hash(concat_ws(' ', person, 'age 2')) / pow(2, 64) AS second_age,
        hash(concat_ws(' ', person, 'race')) / pow(2, 64) AS race,
        hash(concat_ws(' ', person, 'marital')) / pow(2, 64) AS marital,
        hash(concat_ws(' ', person, 'education')) / pow(2, 64) AS education,
        hash(concat_ws(' ', person, 'country 1')) / pow(2, 64) AS foreigner,
        hash(concat_ws(' ', person, 'country 2')) / pow(2, 64) AS country,
        hash(concat_ws(' ', person, 'class')) / pow(2, 64) AS workclass,
        hash(concat_ws(' ', person, 'occupation')) / pow(2, 64) AS occupation,
        hash(concat_ws(' ', person, 'salary')) / pow(2, 64) AS salary,
        hash(concat_ws(' ', person, 'hours 1')) / pow(2, 64) AS usual_hours,
        hash(concat_ws(' ', person, 'hours 2')) / pow(2, 64) AS hours,
        hash(concat_ws(' ', person, 'gain')) / pow(2, 64) AS gain,
        hash(concat_ws(' ', person, 'weeks')) / pow(2, 64) AS weeks
    FROM range($1) AS people (person)
),

anon_people AS (
    SELECT
        *,
        CAST(17 + floor(74 * (0.75 * least(first_age, second_age) + 0.25 * greatest(first_age, second_age))) AS INTEGER)
            AS age,
        -- 16 grades, most people in the middle
        CAST(floor(16 * (0.5 + 0.5 * pow(2 * education - 1, 7))) AS INTEGER) AS grade
    FROM anon_draws
)

SELECT
    CASE WHEN sex < 0.67 THEN 'male' ELSE 'female' END AS sex,
    age,
    list_extract(
        ['white', 'black', 'asian', 'native', 'other'], CAST(1 + floor(5 * pow(race, 10)) AS INTEGER)
    ) AS race,
    CASE
        WHEN age < 20 + 25 * marital THEN 'never married'
        WHEN marital < 0.7 THEN 'married'
        WHEN marital < 0.88 THEN 'divorced'
        WHEN age > 55 THEN 'widowed'
        WHEN marital < 0.94 THEN 'separated'
        WHEN marital < 0.98 THEN 'spouse absent'
        ELSE 'married, armed forces'
    END AS marital_status,
    format('grade {:02d}', grade) AS education,
    CASE
        WHEN foreigner < 0.91 THEN 'country 00'
        ELSE format('country {:02d}', CAST(1 + floor(40 * country * country) AS INTEGER))
    END AS native_country,
    format('class {}', CAST(floor(7 * pow(workclass, 5)) AS INTEGER)) AS workclass,
    -- a grade goes with some occupations more than with others
    format('occupation {:02d}', (grade // 2 + CAST(floor(14 * pow(occupation, 3)) AS INTEGER)) % 14) AS occupation,
    CASE WHEN salary < 0.04 + 0.03 * grade + CASE WHEN age > 35 THEN 0.1 ELSE 0 END THEN '>50K' ELSE '<=50K' END
        AS salary_class,
    CAST(CASE WHEN usual_hours < 0.47 THEN 40 ELSE 1 + floor(98 * (0.3 + 0.7 * hours) * hours) END AS INTEGER)
        AS hours_per_week,
    format('gain {:02d}', CAST(floor(30 * pow(gain, 20)) AS INTEGER)) AS capital_gain,
    CAST(52 - floor(52 * pow(weeks, 8)) AS INTEGER) AS weeks_per_year
FROM anon_people
ORDER BY person
