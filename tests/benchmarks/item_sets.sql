-- Invented patients with ten codes of 1,000 each, low ones more often, an age, a ward and an outcome that goes with high
-- codes. Every draw is a hash, scaled to [0, 1): the same rows on every machine.
WITH anon_patients AS (
    SELECT
        patient,
        list_transform(
            range(10),
            lambda place: CAST(floor(1000 * pow(hash(concat_ws(' ', patient, place)) / pow(2, 64), 2)) AS INTEGER)
        ) AS codes,
        hash(concat_ws(' ', patient, 'outcome')) / pow(2, 64) AS outcome
    FROM range($1) AS patients (patient)
)

SELECT
    list_transform(codes, lambda code: format('{:03d}', code)) AS codes,
    CAST(hash(concat_ws(' ', patient, 'age')) % 100 AS INTEGER) AS age,
    format('ward {}', hash(concat_ws(' ', patient, 'ward')) % 8) AS ward,
    CASE WHEN outcome < CASE WHEN list_max(codes) >= 900 THEN 0.8 ELSE 0.2 END THEN 'died' ELSE 'left' END AS outcome
FROM anon_patients
ORDER BY patient
