-- A table like the one that Lee and Chung 2020 release, which is not public.

-- name: patients
-- patients
-- Invented patients, a row each. Stroke patients without surgery come from :strokes: as many of each sex and age as are
-- printed, in proportion to the rows, and with stays of the printed mean. Of the others the diseases depend on age, and
-- stays on age and surgery. Every draw is a hash of the seed, the row and the name of the draw, as in the demonstration.
-- :settings (seed BIGINT, row_count BIGINT, disease_count BIGINT)
-- :strokes (sex VARCHAR, youngest INTEGER, patients DOUBLE, stay DOUBLE)
-- :width 5
WITH anon_settings AS (
    SELECT * FROM :settings
),

anon_printed AS (
    SELECT sex, youngest, stay, CAST(round(patients * row_count) AS BIGINT) AS patients
    FROM :strokes, anon_settings
),

anon_stroke_rows AS (
    SELECT
        row_number() OVER (ORDER BY sex ASC, youngest ASC) AS place,
        sex,
        youngest,
        stay
    FROM (SELECT sex, youngest, stay, unnest(range(patients)) FROM anon_printed) AS anon_repeated (sex, youngest, stay, copy)
),

anon_rows AS (
    SELECT place, sex, youngest, stay AS mean_stay FROM anon_stroke_rows
    UNION ALL
    SELECT place, NULL, NULL, NULL
    FROM (
        SELECT unnest(range((SELECT count(*) FROM anon_stroke_rows) + 1, row_count + 1)) AS place FROM anon_settings
    ) AS anon_others
),

anon_draws AS (
    SELECT
        anon_rows.*,
        disease_count,
        hash(concat_ws(' ', seed, place, 'age 1')) / pow(2, 64) AS first_age,
        hash(concat_ws(' ', seed, place, 'age 2')) / pow(2, 64) AS second_age,
        hash(concat_ws(' ', seed, place, 'sex')) / pow(2, 64) AS sex_draw,
        hash(concat_ws(' ', seed, place, 'stay')) / pow(2, 64) AS stay_draw,
        hash(concat_ws(' ', seed, place, 'surgery')) / pow(2, 64) AS surgery_draw,
        hash(concat_ws(' ', seed, place, 'location')) / pow(2, 64) AS location_draw,
        hash(concat_ws(' ', seed, place, 'disease')) / pow(2, 64) AS disease_draw
    FROM anon_rows, anon_settings
),

anon_people AS (
    SELECT
        place,
        coalesce(sex, CASE WHEN sex_draw < 0.54 THEN 'F' ELSE 'M' END) AS sex,
        -- more old people than young ones
        CAST(coalesce(
            youngest + floor(:width * first_age),
            floor(90 * (0.6 * greatest(first_age, second_age) + 0.4 * least(first_age, second_age)))
        ) AS INTEGER) AS age,
        CASE WHEN youngest IS NULL AND surgery_draw < 0.05 THEN 'Y' ELSE 'N' END AS surgery,
        youngest IS NOT NULL AS is_printed,
        mean_stay,
        stay_draw,
        location_draw,
        disease_draw,
        disease_count
    FROM anon_draws
),

anon_stays AS (
    SELECT
        *,
        -- a day, or geometric days
        greatest(coalesce(mean_stay, 1.2 + age / 30.0 + CASE WHEN surgery = 'Y' THEN 4 ELSE 0 END), 1) AS mean_days
    FROM anon_people
)

SELECT
    age,
    sex,
    CAST(CASE
        WHEN mean_days <= 1 THEN 1
        ELSE least(1 + floor(ln(1 - stay_draw) / ln(1 - 1 / mean_days)), 399)
    END AS INTEGER) AS length_of_stay,
    -- a few places have most patients
    'province ' || lpad(CAST(CAST(floor(16 * location_draw * location_draw) AS BIGINT) AS VARCHAR), 2, '0') AS location,
    surgery,
    CASE
        WHEN is_printed OR (surgery = 'Y' AND age >= 40 AND disease_draw < 0.02) THEN 'stroke'
        ELSE 'disease ' || lpad(CAST(
            (CAST(floor(disease_count * pow(disease_draw, 3)) AS BIGINT) + 37 * (age // 10)) % disease_count AS VARCHAR
        ), 3, '0')
    END AS disease
FROM anon_stays
