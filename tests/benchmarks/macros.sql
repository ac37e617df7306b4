-- Every macro that reads a source, and what one would write by hand for the same answer. Both have the same rows, whose
-- columns may have other names and come in another order where the macro's are not the benchmark's concern.

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

-- compare: label_of
SELECT id, anon.label_of('age', 1, age) AS age FROM people;
-- by hand
SELECT people.id, ages.label AS age
FROM people
INNER JOIN anon.taxonomy AS ages
    ON ages.attribute = 'age' AND ages.level = 1 AND ages.value = CAST(people.age AS VARCHAR);

-- compare: suppress
FROM anon.suppress('people', ['age', 'sex', 'city'], 100);
-- by hand
FROM people QUALIFY count(*) OVER (PARTITION BY age, sex, city) >= 100;

-- compare: column_values
FROM anon.column_values('people', ['age', 'sex', 'city']);
-- by hand
SELECT 'age' AS attribute, CAST(age AS VARCHAR) AS value, count(*) AS row_count FROM people GROUP BY ALL
UNION ALL
SELECT 'sex', sex, count(*) FROM people GROUP BY ALL
UNION ALL
SELECT 'city', city, count(*) FROM people GROUP BY ALL;

-- compare: pseudonym_problems
FROM anon.pseudonym_problems('people', ['zip', 'id']);
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

-- compare: unmapped_values
FROM anon.unmapped_values('people', ['age', 'sex', 'city']);
-- by hand
SELECT attribute, count(missing) AS unmapped_values, coalesce(sum(missing), 0) AS unmapped_rows
FROM (
    SELECT shown.attribute, CASE WHEN taxonomy.value IS NULL THEN shown.row_count END AS missing
    FROM (
        SELECT 'age' AS attribute, CAST(age AS VARCHAR) AS value, count(*) AS row_count FROM people GROUP BY ALL
        UNION ALL
        SELECT 'sex', sex, count(*) FROM people GROUP BY ALL
        UNION ALL
        SELECT 'city', city, count(*) FROM people GROUP BY ALL
    ) AS shown
    LEFT JOIN anon.taxonomy AS taxonomy
        ON taxonomy.attribute = shown.attribute AND taxonomy.level = 0 AND taxonomy.value = shown.value
)
GROUP BY attribute;

-- compare: foreign_labels
FROM anon.foreign_labels('released', MAP {'age': 1, 'sex': 0, 'city': 1});
-- by hand
SELECT attribute, count(missing) AS foreign_labels, coalesce(sum(missing), 0) AS foreign_rows
FROM (
    SELECT shown.attribute, CASE WHEN known.label IS NULL THEN shown.row_count END AS missing
    FROM (
        SELECT 'age' AS attribute, 1 AS level, age AS label, count(*) AS row_count FROM released GROUP BY ALL
        UNION ALL
        SELECT 'sex', 0, sex, count(*) FROM released GROUP BY ALL
        UNION ALL
        SELECT 'city', 1, city, count(*) FROM released GROUP BY ALL
    ) AS shown
    LEFT JOIN (SELECT DISTINCT attribute, level, label FROM anon.taxonomy) AS known
        USING (attribute, level, label)
)
GROUP BY attribute;

-- compare: first_events
FROM anon.first_events('people', 'person', 'diagnosis', ['admission', 'id'], 2);
-- by hand
SELECT person, row_number() OVER (PARTITION BY person ORDER BY admission, id, diagnosis) AS position, diagnosis
FROM people
QUALIFY position <= 2;

-- compare: cells
FROM anon.cells('people', ['age', 'sex', 'city']);
-- by hand
SELECT age, sex, city, count(*) AS row_count FROM people GROUP BY ALL;

-- compare: roll_up
FROM anon.roll_up('cells', MAP {'age': 1, 'zip': 2});
-- by hand
SELECT ages.label AS age, zips.label AS zip, CAST(sum(cells.row_count) AS BIGINT) AS row_count
FROM cells
INNER JOIN anon.taxonomy AS ages
    ON ages.attribute = 'age' AND ages.level = 1 AND ages.value = CAST(cells.age AS VARCHAR)
INNER JOIN anon.taxonomy AS zips ON zips.attribute = 'zip' AND zips.level = 2 AND zips.value = cells.zip
GROUP BY ALL;

-- compare: equivalence_classes
FROM anon.equivalence_classes('people', ['age', 'sex', 'city']);
-- by hand
SELECT age, sex, city, count(*) AS class_size FROM people GROUP BY ALL;

-- compare: class_sizes
FROM anon.class_sizes('people', ['age', 'sex', 'city']);
-- by hand
FROM hand_sizes;

-- compare: class_values
FROM anon.class_values('people', ['age', 'sex', 'city'], 'diagnosis');
-- by hand
FROM hand_counts;

-- compare: value_counts
SELECT class[1] AS age, class[2] AS sex, class[3] AS city, sensitive_value, row_count
FROM anon.value_counts('people', ['age', 'sex', 'city'], 'diagnosis');
-- by hand
FROM hand_counts;

-- compare: k_anonymity
FROM anon.k_anonymity('people', ['age', 'sex', 'city']);
-- by hand
SELECT min(class_size) AS k, count(*) AS class_count, sum(class_size) AS row_count FROM hand_sizes;

-- compare: best_k
FROM anon.best_k('people', ['age', 'sex', 'city'], 100);
-- by hand
SELECT min(class_size) AS k
FROM (SELECT class_size, sum(class_size) OVER (ORDER BY class_size) AS rows_up_to FROM hand_sizes)
WHERE rows_up_to > 100;

-- compare: k_anonymity_of_individuals
FROM anon.k_anonymity_of_individuals('people', ['age', 'sex', 'city'], 'person');
-- by hand
SELECT min(individuals) AS k, count(*) AS class_count, sum(row_count) AS row_count
FROM (
    SELECT count(DISTINCT person) AS individuals, count(*) AS row_count FROM people GROUP BY age, sex, city
);

-- compare: class_diversity
FROM anon.class_diversity('people', ['age', 'sex', 'city'], 'diagnosis');
-- by hand
SELECT
    sum(row_count) AS class_size, count(*) AS distinct_diversity,
    exp(ln(sum(row_count)) - sum(row_count * ln(row_count)) / sum(row_count)) AS entropy_diversity,
    max(row_count) / sum(row_count) AS largest_share
FROM hand_counts
GROUP BY age, sex, city;

-- compare: distinct_l_diversity
FROM anon.distinct_l_diversity('people', ['age', 'sex', 'city'], 'diagnosis');
-- by hand
SELECT min(l) AS l FROM (SELECT count(*) AS l FROM hand_counts GROUP BY age, sex, city);

-- compare: entropy_l_diversity
FROM anon.entropy_l_diversity('people', ['age', 'sex', 'city'], 'diagnosis');
-- by hand
SELECT min(l) AS l
FROM (
    SELECT exp(ln(sum(row_count)) - sum(row_count * ln(row_count)) / sum(row_count)) AS l
    FROM hand_counts
    GROUP BY age, sex, city
);

-- compare: recursive_cl_diversity
FROM anon.recursive_cl_diversity('people', ['age', 'sex', 'city'], 'diagnosis', 2);
-- by hand
SELECT max(coalesce(first_rows / (class_rows - first_rows), CAST('infinity' AS DOUBLE))) AS c
FROM (
    SELECT max(row_count) AS first_rows, sum(row_count) AS class_rows FROM hand_counts GROUP BY age, sex, city
);

-- compare: alpha_k_anonymity
FROM anon.alpha_k_anonymity('people', ['age', 'sex', 'city'], 'diagnosis');
-- by hand
SELECT max(alpha) AS alpha, min(k) AS k
FROM (
    SELECT max(row_count) / sum(row_count) AS alpha, sum(row_count) AS k FROM hand_counts GROUP BY age, sex, city
);

-- compare: value_texts
FROM anon.value_texts('people', 'diagnosis', 'people');
-- by hand
SELECT
    diagnosis AS value_text, diagnosis AS sensitive_value, diagnosis AS value, count(*) AS reference_rows,
    count(*) / sum(count(*)) OVER () AS share
FROM people
GROUP BY diagnosis;

-- compare: value_shares
FROM anon.value_shares('people', 'diagnosis', 'people');
-- by hand
FROM hand_shares;

-- compare: class_frequencies
SELECT class[1] AS age, class[2] AS sex, class[3] AS city, * EXCLUDE (class)
FROM anon.class_frequencies('people', ['age', 'sex', 'city'], 'diagnosis', 'people');
-- by hand
SELECT age, sex, city, class_size, diagnosis, row_count, share FROM hand_frequencies;

-- compare: class_closeness
FROM anon.class_closeness('people', ['age', 'sex', 'city'], 'diagnosis', 'people');
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

-- compare: t_closeness
FROM anon.t_closeness('people', ['age', 'sex', 'city'], 'diagnosis', 'people');
-- by hand
SELECT max(distance) AS t
FROM (
    SELECT sum(greatest(row_count / class_size - share, 0)) AS distance FROM hand_frequencies GROUP BY age, sex, city
);

-- compare: delta_disclosure
FROM anon.delta_disclosure('people', ['age', 'sex', 'city'], 'diagnosis', 'people');
-- by hand
SELECT max(abs(ln(row_count / class_size / share))) / ln(2.0) AS delta FROM hand_frequencies;

-- compare: beta_likeness
FROM anon.beta_likeness('people', ['age', 'sex', 'city'], 'diagnosis', 'people');
-- by hand
SELECT
    greatest(max(row_count / class_size / share) - 1, 0.0) AS basic,
    CASE
        WHEN bool_and(row_count / class_size / share - 1 <= -ln(share))
            THEN greatest(max(row_count / class_size / share) - 1, 0.0)
        ELSE CAST('infinity' AS DOUBLE)
    END AS enhanced
FROM hand_frequencies;

-- compare: value_positions
FROM anon.value_positions('people', 'diagnosis', 'people');
-- by hand
SELECT diagnosis, row_number() OVER (ORDER BY diagnosis) AS position, count(*) AS row_count
FROM people
GROUP BY diagnosis;

-- compare: class_distributions
SELECT class[1] AS age, class[2] AS sex, class[3] AS city, * EXCLUDE (class)
FROM anon.class_distributions('people', ['age', 'sex', 'city'], 'diagnosis', 'people');
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

-- compare: ordered_t_closeness
FROM anon.ordered_t_closeness('people', ['age', 'sex', 'city'], 'diagnosis', 'people');
-- by hand
SELECT max(distance) AS t
FROM (
    SELECT sum(abs(cumulative_share - reference_cumulative_share)) / (count(*) - 1) AS distance
    FROM (
        SELECT
            age, sex, city,
            sum(coalesce(row_count, 0) / class_size) OVER up_to_here AS cumulative_share,
            sum(share) OVER up_to_here AS reference_cumulative_share
        FROM (SELECT age, sex, city, count(*) AS class_size FROM people GROUP BY ALL) AS classes
        CROSS JOIN hand_shares AS shares
        LEFT JOIN hand_counts AS counts USING (age, sex, city, diagnosis)
        WINDOW up_to_here AS (PARTITION BY age, sex, city ORDER BY diagnosis ROWS UNBOUNDED PRECEDING)
    )
    GROUP BY age, sex, city
);

-- compare: hierarchical_t_closeness
FROM anon.hierarchical_t_closeness('people', ['age', 'sex', 'city'], 'diagnosis', 'people');
-- by hand
WITH labelled AS (
    SELECT age, sex, city, level, label, sum(row_count / class_size) AS class_share
    FROM hand_frequencies
    INNER JOIN anon.taxonomy AS taxonomy
        ON taxonomy.attribute = 'diagnosis' AND taxonomy.level < 3 AND taxonomy.value = diagnosis
    GROUP BY ALL
),
label_shares AS (
    SELECT level, label, sum(share) AS label_share
    FROM hand_shares
    INNER JOIN anon.taxonomy AS taxonomy ON taxonomy.attribute = 'diagnosis' AND taxonomy.value = diagnosis
    GROUP BY ALL
)
SELECT max(distance) AS t
FROM (
    SELECT sum(greatest(class_share - label_share, 0)) / 3 AS distance
    FROM labelled
    INNER JOIN label_shares USING (level, label)
    GROUP BY age, sex, city
);

-- compare: dm_star
FROM anon.dm_star('people', ['age', 'sex', 'city']);
-- by hand
SELECT sum(class_size * class_size) AS dm_star FROM hand_sizes;

-- compare: dm
FROM anon.dm('people', ['age', 'sex', 'city'], 100);
-- by hand
SELECT sum(class_size * CASE WHEN class_size >= 100 THEN class_size ELSE row_count END) AS dm
FROM hand_sizes
CROSS JOIN (SELECT count(*) AS row_count FROM people);

-- compare: aecs
FROM anon.aecs('people', ['age', 'sex', 'city'], 100);
-- by hand
SELECT
    sum(class_size)
    / (count(*) FILTER (WHERE class_size >= 100) + CAST(min(class_size) < 100 AS INTEGER)) / 100 AS aecs
FROM hand_sizes;

-- compare: entropy_loss
FROM anon.entropy_loss('people', MAP {'age': 1, 'sex': 0, 'city': 1});
-- by hand
SELECT sum(row_count * log2(label_rows / row_count)) AS entropy
FROM (
    SELECT row_count, sum(row_count) OVER (PARTITION BY taxonomy.attribute, taxonomy.label) AS label_rows
    FROM (
        SELECT 'age' AS attribute, 1 AS level, CAST(age AS VARCHAR) AS value, count(*) AS row_count
        FROM people
        GROUP BY ALL
        UNION ALL
        SELECT 'sex', 0, sex, count(*) FROM people GROUP BY ALL
        UNION ALL
        SELECT 'city', 1, city, count(*) FROM people GROUP BY ALL
    ) AS shown
    INNER JOIN anon.taxonomy AS taxonomy USING (attribute, level, value)
);

-- compare: class_labels
SELECT class_size, attribute, label FROM anon.class_labels('people', MAP {'age': 1, 'sex': 0, 'city': 1});
-- by hand
SELECT class_size, 'age' AS attribute, age AS label FROM hand_classes
UNION ALL
SELECT class_size, 'sex', sex FROM hand_classes
UNION ALL
SELECT class_size, 'city', city FROM hand_classes;

-- compare: charged_entropy_loss
FROM anon.charged_entropy_loss('people', MAP {'age': 1, 'sex': 0, 'city': 1}, 400);
-- by hand
SELECT entropy + bits AS entropy
FROM (
    SELECT sum(row_count * log2(label_rows / row_count)) AS entropy
    FROM (
        SELECT row_count, sum(row_count) OVER (PARTITION BY taxonomy.attribute, taxonomy.label) AS label_rows
        FROM (
            SELECT 'age' AS attribute, 1 AS level, CAST(age AS VARCHAR) AS value, count(*) AS row_count
            FROM people
            GROUP BY ALL
            UNION ALL
            SELECT 'sex', 0, sex, count(*) FROM people GROUP BY ALL
            UNION ALL
            SELECT 'city', 1, city, count(*) FROM people GROUP BY ALL
        ) AS shown
        INNER JOIN anon.taxonomy AS taxonomy USING (attribute, level, value)
    )
)
CROSS JOIN (
    SELECT
        coalesce(sum(class_size * (
            log2(row_count / age_rows) + log2(row_count / sex_rows) + log2(row_count / city_rows)
        )) FILTER (WHERE class_size < 400), 0) AS bits
    FROM (
        SELECT
            class_size,
            sum(class_size) OVER () AS row_count,
            sum(class_size) OVER (PARTITION BY age) AS age_rows,
            sum(class_size) OVER (PARTITION BY sex) AS sex_rows,
            sum(class_size) OVER (PARTITION BY city) AS city_rows
        FROM hand_classes
    )
);

-- compare: label_losses
SELECT class_size, attribute, lm_share, ncp_share
FROM anon.label_losses('people', MAP {'age': 1, 'sex': 0, 'city': 1});
-- by hand
SELECT class_size, 'age' AS attribute, age_lm AS lm_share, age_ncp AS ncp_share FROM hand_losses
UNION ALL
SELECT class_size, 'sex', sex_lm, sex_ncp FROM hand_losses
UNION ALL
SELECT class_size, 'city', city_lm, city_ncp FROM hand_losses;

-- compare: class_losses
FROM anon.class_losses('people', MAP {'age': 1, 'sex': 0, 'city': 1});
-- by hand
SELECT class_size, (age_lm + sex_lm + city_lm) / 3 AS lm_share, (age_ncp + sex_ncp + city_ncp) / 3 AS ncp_share
FROM hand_losses;

-- compare: attribute_losses
FROM anon.attribute_losses('people', MAP {'age': 1, 'sex': 0, 'city': 1}, 10);
-- by hand
SELECT attribute, losses.lm, losses.ncp
FROM (UNPIVOT (
    SELECT
        {'lm': sum(class_size * age_lm) / sum(class_size), 'ncp': sum(class_size * age_ncp) / sum(class_size)} AS age,
        {'lm': sum(class_size * sex_lm) / sum(class_size), 'ncp': sum(class_size * sex_ncp) / sum(class_size)} AS sex,
        {'lm': sum(class_size * city_lm) / sum(class_size), 'ncp': sum(class_size * city_ncp) / sum(class_size)} AS city
    FROM (
        SELECT
            class_size,
            CASE WHEN class_size >= 10 THEN age_lm ELSE 1 END AS age_lm,
            CASE WHEN class_size >= 10 THEN sex_lm ELSE 1 END AS sex_lm,
            CASE WHEN class_size >= 10 THEN city_lm ELSE 1 END AS city_lm,
            CASE WHEN class_size >= 10 THEN age_ncp ELSE 1 END AS age_ncp,
            CASE WHEN class_size >= 10 THEN sex_ncp ELSE 1 END AS sex_ncp,
            CASE WHEN class_size >= 10 THEN city_ncp ELSE 1 END AS city_ncp
        FROM hand_losses
    )
)
ON age, sex, city INTO NAME attribute VALUE losses);

-- compare: lm
FROM anon.lm('people', MAP {'age': 1, 'sex': 0, 'city': 1}, 10);
-- by hand
SELECT
    sum(class_size * CASE WHEN class_size >= 10 THEN (age_lm + sex_lm + city_lm) / 3 ELSE 1 END)
    / sum(class_size) AS lm
FROM hand_losses;

-- compare: ncp
FROM anon.ncp('people', MAP {'age': 1, 'sex': 0, 'city': 1}, 10);
-- by hand
SELECT
    sum(class_size * CASE WHEN class_size >= 10 THEN (age_ncp + sex_ncp + city_ncp) / 3 ELSE 1 END)
    / sum(class_size) AS ncp
FROM hand_losses;

-- compare: geometric_lm
FROM anon.geometric_lm('people', MAP {'age': 1, 'sex': 0, 'city': 1}, 10);
-- by hand
SELECT ((1 + age) * (1 + sex) * (1 + city)) ** (1 / 3) - 1 AS geometric_lm
FROM (
    SELECT
        sum(class_size * CASE WHEN class_size >= 10 THEN age_lm ELSE 1 END) / sum(class_size) AS age,
        sum(class_size * CASE WHEN class_size >= 10 THEN sex_lm ELSE 1 END) / sum(class_size) AS sex,
        sum(class_size * CASE WHEN class_size >= 10 THEN city_lm ELSE 1 END) / sum(class_size) AS city
    FROM hand_losses
);

-- compare: charged_precision_loss
FROM anon.charged_precision_loss('people', MAP {'age': 1, 'sex': 0, 'city': 1}, 400);
-- by hand
SELECT
    sum(class_size * CASE WHEN class_size >= 400 THEN (1 / 3 + 0 / 3 + 1 / 3) / 3 ELSE 1 END)
    / sum(class_size) AS prec
FROM hand_classes;

-- compare: released_ncp
SELECT ncp FROM anon.released_ncp('released', ['age', 'sex', 'city']);
-- by hand
SELECT avg(age_loss + city_loss) / 3 AS ncp
FROM released
INNER JOIN (
    SELECT label, count(*) / (SELECT count(DISTINCT age) FROM people) AS age_loss
    FROM hand_label_values WHERE attribute = 'age' GROUP BY label
) AS ages ON ages.label = released.age
INNER JOIN (
    SELECT label, count(*) / (SELECT count(DISTINCT city) FROM people) AS city_loss
    FROM hand_label_values WHERE attribute = 'city' GROUP BY label
) AS cities ON cities.label = released.city;

-- compare: total_variation
FROM anon.total_variation('people', 'released', 'diagnosis');
-- by hand
SELECT sum(greatest(coalesce(after.share, 0) - coalesce(before.share, 0), 0)) AS total_variation
FROM hand_shares AS before
FULL JOIN (
    SELECT diagnosis, count(*) / sum(count(*)) OVER () AS share FROM released GROUP BY diagnosis
) AS after USING (diagnosis);

-- compare: compared_values
SELECT class[1] AS age, class[2] AS sex, class[3] AS city, sensitive_value, original_rows, released_rows
FROM anon.compared_values('people', 'released', MAP {'age': 1, 'sex': 0, 'city': 1}, 'diagnosis');
-- by hand
FROM hand_compared;

-- compare: compared_classes
SELECT class[1] AS age, class[2] AS sex, class[3] AS city, original_rows, released_rows, distance, counterfeit_share
FROM anon.compared_classes('people', 'released', MAP {'age': 1, 'sex': 0, 'city': 1}, 'diagnosis');
-- by hand
FROM hand_compared_classes;

-- compare: class_changes
FROM anon.class_changes('people', 'released', MAP {'age': 1, 'sex': 0, 'city': 1}, 'diagnosis');
-- by hand
SELECT
    avg(distance) AS class_distance, avg(counterfeit_share) AS rate, avg(counterfeit_share) AS unmasked_rate,
    sum(greatest(original_rows - released_rows, 0)) / sum(original_rows) AS deletion_rate
FROM hand_compared_classes;

-- compare: information_loss
SELECT information_loss
FROM anon.information_loss('people', 'released', MAP {'age': 1, 'sex': 0, 'city': 1}, 'diagnosis');
-- by hand
SELECT
    (
        SELECT avg(age_loss + city_loss) / 3
        FROM released
        INNER JOIN (
            SELECT label, count(*) / (SELECT count(DISTINCT age) FROM people) AS age_loss
            FROM hand_label_values WHERE attribute = 'age' GROUP BY label
        ) AS ages ON ages.label = released.age
        INNER JOIN (
            SELECT label, count(*) / (SELECT count(DISTINCT city) FROM people) AS city_loss
            FROM hand_label_values WHERE attribute = 'city' GROUP BY label
        ) AS cities ON cities.label = released.city
    ) + (
        SELECT sum(greatest(coalesce(after.share, 0) - coalesce(before.share, 0), 0))
        FROM hand_shares AS before
        FULL JOIN (
            SELECT diagnosis, count(*) / sum(count(*)) OVER () AS share FROM released GROUP BY diagnosis
        ) AS after USING (diagnosis)
    ) + (SELECT avg(counterfeit_share) FROM hand_compared_classes) AS information_loss;

-- compare: homogeneous_rows
FROM anon.homogeneous_rows('people', ['age', 'sex', 'city'], 'diagnosis');
-- by hand
SELECT
    coalesce(sum(class_rows) FILTER (WHERE diagnoses = 1), 0) AS homogeneous_rows,
    sum(class_rows) AS row_count
FROM (SELECT count(*) AS diagnoses, sum(row_count) AS class_rows FROM hand_counts GROUP BY age, sex, city);

-- compare: rare_rows
FROM anon.rare_rows('people', ['age', 'city', 'diagnosis'], 5);
-- by hand
SELECT coalesce(sum(class_rows) FILTER (WHERE class_rows < 5), 0) AS rare_rows, sum(class_rows) AS row_count
FROM (SELECT count(*) AS class_rows FROM people GROUP BY age, city, diagnosis);

-- compare: prosecutor_risk
FROM anon.prosecutor_risk('people', ['age', 'sex', 'city']);
-- by hand
SELECT 1 / min(class_size) AS highest_risk, count(*) / sum(class_size) AS average_risk FROM hand_sizes;

-- compare: matched_classes
FROM anon.matched_classes('people', ['age', 'sex', 'city'], 'population');
-- by hand
FROM hand_matched;

-- compare: population_classes
FROM anon.population_classes('people', ['age', 'sex', 'city'], 'population');
-- by hand
FROM hand_matched WHERE class_size > 0;

-- compare: k_map
FROM anon.k_map('people', ['age', 'sex', 'city'], 'population');
-- by hand
SELECT min(population_size) AS k FROM hand_matched WHERE class_size > 0;

-- compare: delta_presence
FROM anon.delta_presence('people', ['age', 'sex', 'city'], 'population');
-- by hand
SELECT
    min(class_size / population_size) AS smallest, max(class_size / population_size) AS largest,
    min(class_size / population_size) FILTER (WHERE class_size > 0) AS smallest_published,
    count(*) FILTER (WHERE class_size = 0) AS absent_classes
FROM hand_matched;

-- compare: journalist_risk
FROM anon.journalist_risk('people', ['age', 'sex', 'city'], 'population');
-- by hand
SELECT 1 / min(population_size) AS highest_risk, sum(class_size / population_size) / sum(class_size) AS average_risk
FROM hand_matched
WHERE class_size > 0;

-- compare: marketer_risk
FROM anon.marketer_risk('people', ['age', 'sex', 'city'], 'population');
-- by hand
SELECT sum(class_size / population_size) / sum(class_size) AS marketer_risk FROM hand_matched WHERE class_size > 0;

-- compare: sample_uniqueness
FROM anon.sample_uniqueness('people', ['age', 'sex', 'city']);
-- by hand
SELECT
    count(*) FILTER (WHERE class_size = 1) AS unique_rows, sum(class_size) AS row_count,
    count(*) FILTER (WHERE class_size = 1) / sum(class_size) AS unique_share
FROM hand_sizes;

-- compare: distinction
FROM anon.distinction('people', ['age', 'sex', 'city']);
-- by hand
SELECT count(*) / sum(class_size) AS distinction FROM hand_sizes;

-- compare: separation
FROM anon.separation('people', ['age', 'sex', 'city']);
-- by hand
SELECT 1 - sum(class_size * (class_size - 1)) / (sum(class_size) * (sum(class_size) - 1)) AS separation FROM hand_sizes;

-- compare: grouped_counts
SELECT group_start, answer FROM anon.grouped_counts('people', 'age', 5);
-- by hand
SELECT age // 5 * 5 AS group_start, count(*) AS answer FROM people GROUP BY ALL;

-- compare: grouped_counts, texts
SELECT group_label, answer FROM anon.grouped_counts('people', 'city', NULL);
-- by hand
SELECT city AS group_label, count(*) AS answer FROM people GROUP BY ALL;

-- compare: grouped_averages
SELECT group_label, answer FROM anon.grouped_averages('people', 'city', NULL, 'age');
-- by hand
SELECT city AS group_label, avg(age) AS answer FROM people GROUP BY ALL;

-- compare: spread_labels
FROM anon.spread_labels('released', 'age');
-- by hand
SELECT label, value, share
FROM (SELECT DISTINCT age FROM released) AS shown
INNER JOIN hand_label_values ON attribute = 'age' AND label = age;

-- compare: estimated_counts
SELECT group_start, answer FROM anon.estimated_counts('released', 'age', 5, 'weight');
-- by hand
SELECT CAST(value AS INTEGER) // 5 * 5 AS group_start, sum(weight * share) AS answer
FROM (SELECT age, sum(weight) AS weight FROM released GROUP BY age) AS shown
INNER JOIN hand_label_values ON attribute = 'age' AND label = age
GROUP BY ALL;

-- compare: estimated_averages
SELECT group_label, answer FROM anon.estimated_averages('released', 'city', NULL, 'age', 'weight');
-- by hand
SELECT cities.value AS group_label, sum(weight * cities.share * midpoint) / sum(weight * cities.share) AS answer
FROM (SELECT age, city, sum(weight) AS weight FROM released GROUP BY ALL) AS shown
INNER JOIN hand_label_values AS cities ON cities.attribute = 'city' AND cities.label = shown.city
INNER JOIN (
    SELECT label, (min(CAST(value AS DOUBLE)) + max(CAST(value AS DOUBLE))) / 2 AS midpoint
    FROM hand_label_values
    WHERE attribute = 'age'
    GROUP BY label
) AS ages ON ages.label = shown.age
GROUP BY cities.value;

-- compare: record_risks
SELECT age, sex, diagnosis, job, anon_row_count, anon_m
FROM anon.record_risks('people', ['age', 'sex'], MAP {'diagnosis': 0.05, 'job': 0.1});
-- by hand
SELECT age, sex, diagnosis, job, row_count, m FROM hand_risks;

-- compare: concealing_exposure
SELECT age, sex, diagnosis, job, row_count, m
FROM anon.concealing_exposure('people', ['age', 'sex'], MAP {'diagnosis': 0.05, 'job': 0.1});
-- by hand
SELECT age, sex, diagnosis, job, row_count, m FROM hand_risks;

-- compare: m_concealing
SELECT m FROM anon.m_concealing('people', ['age', 'sex'], MAP {'diagnosis': 0.05, 'job': 0.1});
-- by hand
SELECT max(m) AS m FROM hand_risks;

-- compare: reconstruction_errors
SELECT rce
FROM anon.reconstruction_errors('people', 'released', MAP {'age': 1, 'sex': 0, 'city': 1}, 'diagnosis', 'weight');
-- by hand
SELECT sum(class_size * (3 - 1 / age_leaves - 1 / sex_leaves - 1 / city_leaves)) / (4 * sum(class_size)) AS rce
FROM hand_classes;

-- compare: catalog_values
FROM anon.catalog_values('filled', 'catalog', 'diagnosis');
-- by hand
FROM hand_catalog;

-- compare: row_truths
FROM anon.row_truths('filled', 'catalog', 'diagnosis');
-- by hand
FROM hand_weighted;

-- compare: class_truths
FROM anon.class_truths('filled', 'catalog_of_counts');
-- by hand
SELECT filled.*, CASE WHEN is_small THEN 1 - count(DISTINCT class_id) OVER small / count(*) OVER small ELSE 1 END AS truth
FROM filled
INNER JOIN (SELECT class_id, count(*) < 10 AS is_small FROM filled GROUP BY class_id) USING (class_id)
WINDOW small AS (PARTITION BY is_small);

-- compare: corrected_counts
SELECT group_start, answer FROM anon.corrected_counts('filled', 'catalog', 'diagnosis', 'age', 5);
-- by hand
SELECT CAST(value AS INTEGER) // 5 * 5 AS group_start, sum(weight * share) AS answer
FROM (SELECT age, sum(truth) AS weight FROM hand_weighted GROUP BY age) AS shown
INNER JOIN hand_label_values ON attribute = 'age' AND label = age
GROUP BY ALL;

-- compare: corrected_averages
SELECT group_label, answer FROM anon.corrected_averages('filled', 'catalog', 'diagnosis', 'sex', NULL, 'age');
-- by hand
SELECT sex AS group_label, sum(weight * midpoint) / sum(weight) AS answer
FROM (SELECT age, sex, sum(truth) AS weight FROM hand_weighted GROUP BY ALL) AS shown
INNER JOIN (
    SELECT label, (min(CAST(value AS DOUBLE)) + max(CAST(value AS DOUBLE))) / 2 AS midpoint
    FROM hand_label_values
    WHERE attribute = 'age'
    GROUP BY label
) AS ages ON ages.label = shown.age
GROUP BY sex;

-- compare: truthful_rows
FROM anon.truthful_rows('filled', 'catalog', ['age', 'sex', 'city'], 'diagnosis');
-- by hand
SELECT class_id, age, sex, city, diagnosis
FROM (
    SELECT
        class_id, age, sex, city, diagnosis,
        unnest(range(count(*) - least(count(*), coalesce(any_value(counterfeits), 0))))
    FROM filled
    LEFT JOIN hand_catalog USING (class_id, diagnosis)
    GROUP BY class_id, age, sex, city, diagnosis
)
UNION ALL
SELECT NULL, '*', '*', '*', diagnosis
FROM (
    SELECT diagnosis, unnest(range(CAST(sum(least(class_rows, counterfeits)) - any_value(counterfeits) AS BIGINT)))
    FROM hand_catalog
    GROUP BY class_ids, diagnosis
);

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
FROM anon.found_cut_labels('patients', 'cut', ['age', 'sex'], ['day'], ['places']);
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
FROM anon.rows_without_label('patients', 'cut', ['age', 'sex'], ['day'], []);
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
