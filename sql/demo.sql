-- The demonstration.

-- name: demo_visits
-- demo visits
-- Invented hospital visits, one per patient. Every draw is a hash of the seed, the patient and the name of the draw,
-- scaled to [0, 1), so the same seed makes the same rows on every machine. They are hashed as one text: hash(a, b, c)
-- combines the hashes of its arguments linearly, and draws that differ in one argument alone depend on each other.
-- :settings (seed BIGINT, row_count BIGINT)
WITH anon_patients AS (
    SELECT seed, unnest(range(1, row_count + 1)) AS patient_id FROM :settings
),

anon_draws AS (
    SELECT
        seed,
        patient_id,
        hash(concat_ws(' ', seed, patient_id, 'identity')) AS identity,
        hash(concat_ws(' ', seed, patient_id, 'age 1')) / pow(2, 64) AS first_age,
        hash(concat_ws(' ', seed, patient_id, 'age 2')) / pow(2, 64) AS second_age,
        hash(concat_ws(' ', seed, patient_id, 'sex')) / pow(2, 64) AS sex,
        hash(concat_ws(' ', seed, patient_id, 'region')) / pow(2, 64) AS region,
        hash(concat_ws(' ', seed, patient_id, 'district')) / pow(2, 64) AS district,
        hash(concat_ws(' ', seed, patient_id, 'day')) / pow(2, 64) AS admission_day,
        hash(concat_ws(' ', seed, patient_id, 'stay')) / pow(2, 64) AS stay,
        hash(concat_ws(' ', seed, patient_id, 'unknown age')) / pow(2, 64) AS unknown_age,
        hash(concat_ws(' ', seed, patient_id, 'unknown zip')) / pow(2, 64) AS unknown_zip,
        hash(concat_ws(' ', seed, patient_id, 'unknown diagnosis')) / pow(2, 64) AS unknown_diagnosis
    FROM anon_patients
),

anon_people AS (
    SELECT
        *,
        -- more old people than young ones
        CAST(floor(95 * (0.7 * greatest(first_age, second_age) + 0.3 * least(first_age, second_age))) AS INTEGER) AS age,
        CASE WHEN sex < 0.53 THEN 'female' ELSE 'male' END AS gender
    FROM anon_draws
),

anon_codes (code, frequency, youngest, oldest, gender, usual_stay) AS (
    VALUES
    ('A09.9', 6, 0, 99, NULL, 2),     -- gastroenteritis
    ('C50.9', 7, 35, 99, 'female', 5),  -- breast cancer
    ('C61', 7, 50, 99, 'male', 5),    -- prostate cancer
    ('E11.9', 10, 35, 99, NULL, 5),   -- type 2 diabetes
    ('F32.9', 6, 15, 80, NULL, 14),   -- depression
    ('G40.9', 3, 0, 99, NULL, 4),     -- epilepsy
    ('I10', 12, 40, 99, NULL, 3),     -- high blood pressure
    ('I21.9', 9, 45, 99, NULL, 7),    -- heart attack
    ('I50.9', 10, 60, 99, NULL, 8),   -- heart failure
    ('J18.9', 8, 0, 99, NULL, 7),     -- pneumonia
    ('J20.9', 12, 0, 12, NULL, 3),    -- bronchitis
    ('J45.9', 6, 3, 60, NULL, 3),     -- asthma
    ('K35.8', 8, 6, 40, NULL, 4),     -- appendicitis
    ('K80.2', 6, 25, 80, NULL, 4),    -- gallstones
    ('M17.1', 8, 50, 90, NULL, 7),    -- arthrosis of the knee
    ('N40', 6, 50, 99, 'male', 4),    -- enlarged prostate
    ('O80', 30, 18, 44, 'female', 3),   -- birth
    ('S06.0', 7, 0, 40, NULL, 1),     -- concussion
    ('S72.0', 10, 70, 99, NULL, 12)   -- broken hip
),

-- Efraimidis and Spirakis 2006: the smallest of -ln(draw) / weight is a draw in proportion to the weights
anon_diagnoses AS (
    SELECT
        anon_people.patient_id,
        arg_min(
            struct_pack(code := code, usual_stay := usual_stay),
            -ln((hash(concat_ws(' ', seed, patient_id, code)) + 1.0) / pow(2, 64)) / frequency
        ) AS diagnosis
    FROM anon_people
    INNER JOIN anon_codes
        ON
            anon_people.age BETWEEN anon_codes.youngest AND anon_codes.oldest
            AND coalesce(anon_codes.gender, anon_people.gender) = anon_people.gender
    GROUP BY anon_people.patient_id
)

SELECT
    patient_id,
    -- no social security number begins with 000
    format('000-{:02d}-{:04d}', 1 + identity % 99, 1 + identity // 99 % 9999) AS ssn,
    CASE WHEN unknown_age >= 0.008 THEN age END AS age,
    gender AS sex,
    CASE
        WHEN unknown_zip >= 0.008
            THEN format(
                '{:s}{:02d}',
                list_extract(['101', '213', '324', '437'], CAST(1 + floor(4 * region * region) AS INTEGER)),
                CAST(floor(40 * district * district) AS INTEGER)
            )
    END AS zip,
    DATE '2025-01-01' + CAST(floor(365 * admission_day) AS INTEGER) AS admission,
    CASE WHEN unknown_diagnosis >= 0.008 THEN diagnosis.code END AS diagnosis,
    CAST(1 + floor(-ln(1 - stay) * diagnosis.usual_stay) AS INTEGER) AS length_of_stay
FROM anon_people
INNER JOIN anon_diagnoses USING (patient_id)
ORDER BY patient_id ASC;

-- name: demo_sample
-- a handful of rows to look at, always the same ones
-- :table (age BIGINT)
SELECT * FROM :table AS anon_row
ORDER BY hash(anon.text_of(anon_row)) ASC
LIMIT 6;

-- name: demo_patients
-- demo patients
-- Invented patients of another hospital, whose treatments are a table of their own.
-- :settings (seed BIGINT, row_count BIGINT)
WITH anon_draws AS (
    SELECT
        patient_id,
        hash(concat_ws(' ', seed, patient_id, 'patient born 1')) / pow(2, 64) AS first_born,
        hash(concat_ws(' ', seed, patient_id, 'patient born 2')) / pow(2, 64) AS second_born,
        hash(concat_ws(' ', seed, patient_id, 'patient sex')) / pow(2, 64) AS sex,
        hash(concat_ws(' ', seed, patient_id, 'patient region')) / pow(2, 64) AS region,
        hash(concat_ws(' ', seed, patient_id, 'patient district')) / pow(2, 64) AS district
    FROM (SELECT seed, unnest(range(1, row_count + 1)) AS patient_id FROM :settings)
)

SELECT
    patient_id,
    CAST(1930 + floor(90 * (first_born + second_born) / 2) AS INTEGER) AS born,
    CASE WHEN sex < 0.53 THEN 'female' ELSE 'male' END AS sex,
    format(
        '{:s}{:02d}',
        list_extract(['101', '213', '324', '437'], CAST(1 + floor(4 * region * region) AS INTEGER)),
        CAST(floor(40 * district * district) AS INTEGER)
    ) AS zip
FROM anon_draws
ORDER BY patient_id ASC;

-- name: demo_treatments
-- demo treatments
-- None to 9 treatments of each patient, most of them in a department of the patient's own.
-- :settings (seed BIGINT, row_count BIGINT)
WITH anon_patients AS (
    SELECT
        seed,
        patient_id,
        CAST(
            least(9, floor(-3 * ln(1 - hash(concat_ws(' ', seed, patient_id, 'treatments')) / pow(2, 64)))) AS INTEGER
        ) AS treatments
    FROM (SELECT seed, unnest(range(1, row_count + 1)) AS patient_id FROM :settings)
),

anon_treatments AS (
    SELECT
        patient_id,
        number,
        CASE
            WHEN hash(concat_ws(' ', seed, patient_id, number, 'own department')) / pow(2, 64) < 0.7
                THEN hash(concat_ws(' ', seed, patient_id, 'department')) / pow(2, 64)
            ELSE hash(concat_ws(' ', seed, patient_id, number, 'department')) / pow(2, 64)
        END AS department,
        hash(concat_ws(' ', seed, patient_id, number, 'treatment day')) / pow(2, 64) AS treatment_day,
        hash(concat_ws(' ', seed, patient_id, number, 'treatment diagnosis')) / pow(2, 64) AS diagnosis
    FROM (SELECT *, unnest(range(treatments)) AS number FROM anon_patients)
),

-- the first departments have the most patients
anon_departments (place, department, diagnoses) AS (
    VALUES
    (1, 'cardiology', ['I10', 'I21.9', 'I50.9']),
    (2, 'surgery', ['K35.8', 'K80.2', 'S72.0']),
    (3, 'pneumology', ['J18.9', 'J20.9', 'J45.9']),
    (4, 'orthopaedics', ['M17.1', 'M54.5', 'S06.0']),
    (5, 'oncology', ['C18.9', 'C50.9', 'C61']),
    (6, 'neurology', ['G35', 'G40.9', 'G43.9']),
    (7, 'psychiatry', ['F20.0', 'F32.9', 'F41.1'])
)

SELECT
    patient_id,
    DATE '2025-01-01' + CAST(floor(365 * treatment_day) AS INTEGER) AS day,
    anon_departments.department,
    list_extract(diagnoses, CAST(1 + floor(3 * diagnosis * diagnosis) AS INTEGER)) AS diagnosis
FROM anon_treatments
INNER JOIN anon_departments
    ON anon_departments.place = CAST(1 + floor(7 * anon_treatments.department * anon_treatments.department) AS INTEGER)
ORDER BY patient_id ASC, number ASC;
