-- Macros whose speed the guide or their comments state, and those that no oracle in Python knows, with what one would
-- write by hand for the same answer. Both have the same rows, whose columns may have other names and come in another
-- order where the macro's are not the benchmark's concern.

-- compare: generalize, 1 column
FROM anon.generalize('people', MAP {'age': 1});
-- by hand
SELECT ages.label AS age, people.* EXCLUDE (age)
FROM people
INNER JOIN anon.taxonomy AS ages
    ON ages.attribute = 'age' AND ages.level = 1 AND ages.value = CAST(people.age AS VARCHAR);

-- compare: generalize, 2 columns
FROM anon.generalize('people', MAP {'age': 1, 'zip': 2});
-- by hand
SELECT ages.label AS age, zips.label AS zip, people.* EXCLUDE (age, zip)
FROM people
INNER JOIN anon.taxonomy AS ages
    ON ages.attribute = 'age' AND ages.level = 1 AND ages.value = CAST(people.age AS VARCHAR)
INNER JOIN anon.taxonomy AS zips ON zips.attribute = 'zip' AND zips.level = 2 AND zips.value = people.zip;

-- compare: generalize, 8 columns
FROM anon.generalize('people', MAP {
    'age': 1, 'sex': 1, 'zip': 1, 'admission': 2, 'city': 1, 'job': 2, 'education': 1, 'insurance': 1
});
-- by hand
SELECT
    ages.label AS age, sexes.label AS sex, zips.label AS zip, admissions.label AS admission, cities.label AS city,
    jobs.label AS job, educations.label AS education, insurances.label AS insurance,
    people.* EXCLUDE (age, sex, zip, admission, city, job, education, insurance)
FROM people
INNER JOIN anon.taxonomy AS ages
    ON ages.attribute = 'age' AND ages.level = 1 AND ages.value = CAST(people.age AS VARCHAR)
INNER JOIN anon.taxonomy AS sexes ON sexes.attribute = 'sex' AND sexes.level = 1 AND sexes.value = people.sex
INNER JOIN anon.taxonomy AS zips ON zips.attribute = 'zip' AND zips.level = 1 AND zips.value = people.zip
INNER JOIN anon.taxonomy AS admissions
    ON admissions.attribute = 'admission' AND admissions.level = 2
    AND admissions.value = CAST(people.admission AS VARCHAR)
INNER JOIN anon.taxonomy AS cities ON cities.attribute = 'city' AND cities.level = 1 AND cities.value = people.city
INNER JOIN anon.taxonomy AS jobs ON jobs.attribute = 'job' AND jobs.level = 2 AND jobs.value = people.job
INNER JOIN anon.taxonomy AS educations
    ON educations.attribute = 'education' AND educations.level = 1 AND educations.value = people.education
INNER JOIN anon.taxonomy AS insurances
    ON insurances.attribute = 'insurance' AND insurances.level = 1 AND insurances.value = people.insurance;

-- compare: suppress
FROM anon.suppress('people', ['age', 'sex', 'city'], 100);
-- by hand
FROM people QUALIFY count(*) OVER (PARTITION BY age, sex, city) >= 100;

-- compare: node_counts, 3 columns
SELECT node['age'] AS age, node['sex'] AS sex, node['city'] AS city, class_count, suppressed_rows
FROM anon.node_counts('people', ['age', 'sex', 'city'], 100);
-- by hand
SELECT
    age_level AS age, sex_level AS sex, city_level AS city, count(*) AS class_count,
    CAST(coalesce(sum(class_size) FILTER (WHERE class_size < 100), 0) AS BIGINT) AS suppressed_rows
FROM (
    SELECT ages.level AS age_level, sexes.level AS sex_level, cities.level AS city_level, sum(row_count) AS class_size
    FROM (SELECT age, sex, city, count(*) AS row_count FROM people GROUP BY ALL) AS cells
    INNER JOIN anon.taxonomy AS ages ON ages.attribute = 'age' AND ages.value = CAST(cells.age AS VARCHAR)
    INNER JOIN anon.taxonomy AS sexes ON sexes.attribute = 'sex' AND sexes.value = cells.sex
    INNER JOIN anon.taxonomy AS cities ON cities.attribute = 'city' AND cities.value = cells.city
    GROUP BY ages.level, sexes.level, cities.level, ages.label, sexes.label, cities.label
)
GROUP BY ALL;

-- compare: release, 3 columns
SELECT age, sex, city, diagnosis FROM anon.release('people', ['age', 'sex', 'city'], 1, 0.0);
-- by hand
WITH labelled AS (
    SELECT ages.label AS age, sexes.label AS sex, cities.label AS city, people.diagnosis
    FROM people
    CROSS JOIN (
        SELECT ages.level AS age_level, sexes.level AS sex_level, cities.level AS city_level
        FROM (SELECT age, sex, city, count(*) AS row_count FROM people GROUP BY ALL) AS cells
        INNER JOIN anon.taxonomy AS ages ON ages.attribute = 'age' AND ages.value = CAST(cells.age AS VARCHAR)
        INNER JOIN anon.taxonomy AS sexes ON sexes.attribute = 'sex' AND sexes.value = cells.sex
        INNER JOIN anon.taxonomy AS cities ON cities.attribute = 'city' AND cities.value = cells.city
        GROUP BY ages.level, sexes.level, cities.level
        -- What the search finds for k = 1.
        ORDER BY age_level, sex_level, city_level
        LIMIT 1
    ) AS best
    INNER JOIN anon.taxonomy AS ages
        ON ages.attribute = 'age' AND ages.level = age_level AND ages.value = CAST(people.age AS VARCHAR)
    INNER JOIN anon.taxonomy AS sexes ON sexes.attribute = 'sex' AND sexes.level = sex_level AND sexes.value = people.sex
    INNER JOIN anon.taxonomy AS cities
        ON cities.attribute = 'city' AND cities.level = city_level AND cities.value = people.city
)
FROM labelled QUALIFY count(*) OVER (PARTITION BY age, sex, city) >= 1 ORDER BY ALL;

-- compare: local_recoding, 3 columns, beside its search
SELECT count(*) AS row_count FROM anon.local_recoding('people', ['age', 'sex', 'city'], 100, 50);
-- by hand
SELECT count(*) AS row_count FROM people WHERE (SELECT count(*) FROM anon.node_counts('people', ['age', 'sex', 'city'], 100)) > 0;

-- compare: verify
SELECT k, added_rows FROM anon.verify('released', 'people', ['age', 'sex', 'city'], 1);
-- by hand
SELECT
    (SELECT min(class_size) FROM (SELECT count(*) AS class_size FROM released GROUP BY age, sex, city)) AS k,
    (SELECT count(*) FROM (SELECT diagnosis, weight FROM released EXCEPT ALL SELECT diagnosis, weight FROM people)) AS added_rows;

-- compare: column_values
FROM anon_helpers.column_values('people', ['age', 'sex', 'city']);
-- by hand
SELECT 'age' AS attribute, CAST(age AS VARCHAR) AS value, count(*) AS row_count FROM people GROUP BY ALL
UNION ALL
SELECT 'sex', sex, count(*) FROM people GROUP BY ALL
UNION ALL
SELECT 'city', city, count(*) FROM people GROUP BY ALL;

-- compare: pseudonym_problems
FROM anon_helpers.pseudonym_problems('people', ['zip', 'id']);
-- by hand
WITH shown AS (
    SELECT 'zip' AS attribute, zip AS value FROM people
    UNION ALL
    SELECT 'id', CAST(id AS VARCHAR) FROM people
),
counted AS (
    SELECT *, count(*) OVER (PARTITION BY value) AS times FROM shown
)
SELECT
    attribute,
    count(*) FILTER (WHERE NOT regexp_full_match(value, '[0-9a-f]{64}')) AS malformed_rows,
    count(DISTINCT value) FILTER (WHERE times > 1) AS repeated_values,
    count(*) FILTER (WHERE times > 1) AS repeated_rows
FROM counted
GROUP BY attribute;

-- compare: first_events
FROM anon.first_events('people', 'person', 'diagnosis', ['admission', 'id'], 2);
-- by hand
SELECT person, row_number() OVER (PARTITION BY person ORDER BY admission, id, diagnosis) AS position, diagnosis
FROM people
QUALIFY position <= 2;

-- compare: cells
FROM anon_helpers.cells('people', ['age', 'sex', 'city']);
-- by hand
SELECT age, sex, city, count(*) AS row_count FROM people GROUP BY ALL;

-- compare: value_counts
SELECT class[1] AS age, class[2] AS sex, class[3] AS city, sensitive_value, row_count
FROM anon_helpers.value_counts('people', ['age', 'sex', 'city'], 'diagnosis');
-- by hand
FROM hand_counts;

-- compare: value_texts
FROM anon_helpers.value_texts('people', 'diagnosis', 'people');
-- by hand
SELECT
    diagnosis AS value_text, diagnosis AS sensitive_value, diagnosis AS value, count(*) AS reference_rows,
    count(*) / sum(count(*)) OVER () AS share
FROM people
GROUP BY diagnosis;

-- compare: value_shares
FROM anon_helpers.value_shares('people', 'diagnosis', 'people');
-- by hand
FROM hand_shares;

-- compare: class_frequencies
SELECT class[1] AS age, class[2] AS sex, class[3] AS city, * EXCLUDE (class)
FROM anon_helpers.class_frequencies('people', ['age', 'sex', 'city'], 'diagnosis', 'people');
-- by hand
SELECT age, sex, city, class_size, diagnosis, row_count, share FROM hand_frequencies;

-- compare: class_closeness
FROM anon_helpers.class_closeness('people', ['age', 'sex', 'city'], 'diagnosis', 'people');
-- by hand
SELECT
    class_size, distance, greatest(ln(most), -ln(least)) / ln(2.0) AS disclosure, greatest(most - 1, 0.0) AS basic,
    CASE WHEN bounded THEN greatest(most - 1, 0.0) ELSE CAST('infinity' AS DOUBLE) END AS enhanced
FROM (
    SELECT
        any_value(class_size) AS class_size,
        sum(greatest(row_count / class_size - share, 0)) AS distance,
        max(row_count / class_size / share) AS most,
        min(row_count / class_size / share) AS least,
        bool_and(row_count / class_size / share - 1 <= -ln(share)) AS bounded
    FROM hand_frequencies
    GROUP BY age, sex, city
);

-- compare: value_positions
FROM anon_helpers.value_positions('people', 'diagnosis', 'people');
-- by hand
SELECT diagnosis, row_number() OVER (ORDER BY diagnosis) AS position, count(*) AS row_count
FROM people
GROUP BY diagnosis;

-- compare: class_distributions
SELECT class[1] AS age, class[2] AS sex, class[3] AS city, * EXCLUDE (class)
FROM anon_helpers.class_distributions('people', ['age', 'sex', 'city'], 'diagnosis', 'people');
-- by hand
WITH positions AS (
    SELECT
        diagnosis, row_number() OVER (ORDER BY diagnosis) AS position, count(*) AS row_count,
        sum(count(*)) OVER (ORDER BY diagnosis) AS rows_up_to, sum(count(*)) OVER () AS all_rows
    FROM people
    GROUP BY diagnosis
),
beside AS (
    SELECT
        here.position, sum(others.row_count * greatest(here.position - others.position, 0)) AS work_below,
        sum(others.row_count * greatest(others.position - here.position, 0)) AS work_above,
        here.all_rows * (count(*) - 1) AS most_work
    FROM positions AS here
    CROSS JOIN positions AS others
    GROUP BY here.position, here.all_rows
),
placed AS (
    SELECT
        age, sex, city, class_size, position, counts.row_count, sum(counts.row_count) OVER up_to_here AS rows_up_to,
        lead(position) OVER up_to_here AS next_position
    FROM hand_frequencies AS counts
    INNER JOIN positions USING (diagnosis)
    WINDOW up_to_here AS (PARTITION BY age, sex, city ORDER BY position ROWS UNBOUNDED PRECEDING)
)
SELECT
    age, sex, city, placed.position, any_value(placed.row_count) AS row_count,
    sum(abs(placed.rows_up_to * all_rows - class_size * positions.rows_up_to)) AS work_between,
    any_value(work_below) AS work_below, any_value(work_above) AS work_above, any_value(most_work) AS most_work
FROM placed
INNER JOIN beside ON beside.position = placed.position
LEFT JOIN positions ON positions.position >= placed.position AND positions.position < placed.next_position
GROUP BY age, sex, city, placed.position;

-- compare: class_labels
WITH released AS (FROM anon.generalize('people', MAP {'age': 1, 'sex': 0, 'city': 1}))
SELECT class_size, attribute, label FROM anon_helpers.class_labels('released', MAP {'age': 1, 'sex': 0, 'city': 1});
-- by hand
SELECT class_size, 'age' AS attribute, age AS label FROM hand_classes
UNION ALL
SELECT class_size, 'sex', sex FROM hand_classes
UNION ALL
SELECT class_size, 'city', city FROM hand_classes;

-- compare: label_losses
SELECT class_size, attribute, lm_share, ncp_share
FROM anon_helpers.label_losses('people', MAP {'age': 1, 'sex': 0, 'city': 1});
-- by hand
SELECT class_size, 'age' AS attribute, age_lm AS lm_share, age_ncp AS ncp_share FROM hand_losses
UNION ALL
SELECT class_size, 'sex', sex_lm, sex_ncp FROM hand_losses
UNION ALL
SELECT class_size, 'city', city_lm, city_ncp FROM hand_losses;

-- compare: compared_values
SELECT class[1] AS age, class[2] AS sex, class[3] AS city, sensitive_value, original_rows, released_rows
FROM anon_helpers.compared_values('people', 'released', MAP {'age': 1, 'sex': 0, 'city': 1}, 'diagnosis');
-- by hand
FROM hand_compared;

-- compare: matched_classes
FROM anon_helpers.matched_classes('people', ['age', 'sex', 'city'], 'population');
-- by hand
FROM hand_matched;

-- compare: grouped_counts
SELECT group_start, answer FROM anon.grouped_counts('people', 'age', 5);
-- by hand
SELECT age // 5 * 5 AS group_start, count(*) AS answer FROM people GROUP BY ALL;

-- compare: grouped_counts, texts
SELECT group_label, answer FROM anon.grouped_counts('people', 'city', NULL);
-- by hand
SELECT city AS group_label, count(*) AS answer FROM people GROUP BY ALL;

-- compare: spread_labels
FROM anon_helpers.spread_labels('released', 'age');
-- by hand
SELECT label, value, share
FROM (SELECT DISTINCT age FROM released) AS shown
INNER JOIN hand_label_values ON attribute = 'age' AND label = age;

-- compare: catalog_values
FROM anon_helpers.catalog_values('filled', 'catalog', 'diagnosis');
-- by hand
FROM hand_catalog;

-- compare: apply_cut
FROM anon.apply_cut(
    'patients', 'cut', ['age', 'sex', 'zip', 'city', 'job', 'education', 'insurance'], ['day', 'dose'], []
);
-- by hand
SELECT
    ages.label AS age, sexes.label AS sex, zips.label AS zip, cities.label AS city, jobs.label AS job,
    educations.label AS education, insurances.label AS insurance, days.label AS day, doses.label AS dose,
    patients.* EXCLUDE (age, sex, zip, city, job, education, insurance, day, dose)
FROM patients
INNER JOIN cut AS ages ON ages.attribute = 'age' AND ages.value = CAST(patients.age AS VARCHAR)
INNER JOIN cut AS sexes ON sexes.attribute = 'sex' AND sexes.value = patients.sex
INNER JOIN cut AS zips ON zips.attribute = 'zip' AND zips.value = patients.zip
INNER JOIN cut AS cities ON cities.attribute = 'city' AND cities.value = patients.city
INNER JOIN cut AS jobs ON jobs.attribute = 'job' AND jobs.value = patients.job
INNER JOIN cut AS educations ON educations.attribute = 'education' AND educations.value = patients.education
INNER JOIN cut AS insurances ON insurances.attribute = 'insurance' AND insurances.value = patients.insurance
INNER JOIN cut AS days ON days.attribute = 'day' AND patients.day >= days.low AND patients.day < days.high
INNER JOIN cut AS doses ON doses.attribute = 'dose' AND patients.dose >= doses.low AND patients.dose < doses.high;

-- compare: apply_cut, sets
FROM anon.apply_cut('patients', 'cut', [], [], ['places']);
-- by hand
SELECT sets.places, patients.* EXCLUDE (places)
FROM patients
INNER JOIN (
    SELECT id, list(DISTINCT label ORDER BY label) AS places
    FROM (SELECT id, unnest(places) AS item FROM patients) AS items
    INNER JOIN cut ON attribute = 'places' AND value = item
    GROUP BY id
) AS sets ON sets.id = patients.id;

-- compare: found_cut_labels
SELECT * EXCLUDE (anon_category, anon_number, anon_set, anon_other, places), places[2:] AS places
FROM anon_helpers.found_cut_labels('patients', 'cut', ['age', 'sex'], ['day'], ['places']);
-- by hand
SELECT
    ages.label AS age, sexes.label AS sex, days.label AS day, patients.* EXCLUDE (age, sex, day, places), sets.places
FROM patients
INNER JOIN cut AS ages ON ages.attribute = 'age' AND ages.value = CAST(patients.age AS VARCHAR)
INNER JOIN cut AS sexes ON sexes.attribute = 'sex' AND sexes.value = patients.sex
INNER JOIN cut AS days ON days.attribute = 'day' AND patients.day >= days.low AND patients.day < days.high
INNER JOIN (
    SELECT id, list(DISTINCT label ORDER BY label) AS places
    FROM (SELECT id, unnest(places) AS item FROM patients) AS items
    INNER JOIN cut ON attribute = 'places' AND value = item
    GROUP BY id
) AS sets ON sets.id = patients.id;

-- compare: rows_without_label
FROM anon_helpers.rows_without_label('patients', 'cut', ['age', 'sex'], ['day'], []);
-- by hand
SELECT unnest(['age', 'sex', 'day']) AS attribute, unnest([age, sex, day]) AS row_count
FROM (
    SELECT
        count(*) FILTER (WHERE ages.label IS NULL) AS age, count(*) FILTER (WHERE sexes.label IS NULL) AS sex,
        count(*) FILTER (WHERE days.label IS NULL) AS day
    FROM patients
    LEFT JOIN cut AS ages ON ages.attribute = 'age' AND ages.value = CAST(patients.age AS VARCHAR)
    LEFT JOIN cut AS sexes ON sexes.attribute = 'sex' AND sexes.value = patients.sex
    LEFT JOIN cut AS days ON days.attribute = 'day' AND patients.day >= days.low AND patients.day < days.high
);

-- compare: content_hash
FROM anon.content_hash('released');
-- by hand
SELECT
    CAST(sum(times) AS BIGINT) AS row_count,
    sha256(string_agg(sha256(concat_ws(' ', bucket, first, second, third, fourth)), '' ORDER BY bucket)) AS content_hash
FROM (
    SELECT
        ('0x' || digest[:5])::INTEGER AS bucket,
        sum(times) AS times,
        sum(('0x' || digest[:16])::UBIGINT) AS first,
        sum(('0x' || digest[17:32])::UBIGINT) AS second,
        sum(('0x' || digest[33:48])::UBIGINT) AS third,
        sum(('0x' || digest[49:])::UBIGINT) AS fourth
    FROM (
        SELECT count(*) AS times, sha256(concat(count(*), ' ', sha256(spelled))) AS digest
        FROM (
            SELECT
                strlen(age) || ':' || age || strlen(sex) || ':' || sex || strlen(city) || ':' || city || strlen(diagnosis)
                || ':' || diagnosis || strlen(weight::VARCHAR) || ':' || weight AS spelled
            FROM released
        )
        GROUP BY spelled
    )
    GROUP BY bucket
);

-- compare: added_values
FROM anon.added_values('people', 'people', ['diagnosis', 'city']);
-- by hand
SELECT count(*) AS added_rows
FROM (SELECT diagnosis, city FROM people EXCEPT ALL SELECT diagnosis, city FROM people);

-- compare: joint_classes
WITH spring AS (SELECT id, age, sex FROM people), autumn AS (SELECT id, zip FROM people)
SELECT first_class[1] AS age, first_class[2] AS sex, second_class[1] AS zip, person_count
FROM anon.joint_classes('spring', 'autumn', 'id');
-- by hand
SELECT spring.age, spring.sex, autumn.zip, count(*) AS person_count
FROM people AS spring
FULL JOIN people AS autumn USING (id)
GROUP BY ALL;

-- compare: joint_k
WITH spring AS (SELECT id, age, sex FROM people), autumn AS (SELECT id, zip FROM people)
FROM anon.joint_k('spring', 'autumn', 'id');
-- by hand
SELECT min(persons), count(*), CAST(sum(persons) AS BIGINT), count(*) FILTER (WHERE persons = 1)
FROM (
    SELECT count(*) AS persons
    FROM people AS spring
    FULL JOIN people AS autumn USING (id)
    GROUP BY spring.age, spring.sex, autumn.zip
);
