-- Risk of a sample, such as a survey, whose rows stand for weight people each: how many of its rows can be found by somebody
-- who knows the keys of everybody in the population.
--
-- All of it is read off the classes: rows that agree on every key. NULL agrees with NULL.

-- guarded: tests/sql/71_survey.test

-- A row's weight in a sample: how many people of the population it stands for. A weight that is text, NULL, not finite or not
-- above 0 is an error, and so is a column that is a key as well.
--
-- Returns: DOUBLE above 0.
-- Example:
--   SELECT anon_helpers.sampling_weight(age + 1, 'weight', ['sex']) AS weight FROM visits WHERE age IS NOT NULL;
CREATE OR REPLACE MACRO anon_helpers.sampling_weight(weight, weight_name, keys) AS
CASE
    WHEN list_contains(list_transform(anon_helpers.listed(keys), lambda anon_name: lower(anon_name)), lower(weight_name))
        THEN error(concat('column "', weight_name, '" is the weight and cannot be a key: leave it out of the keys'))
    WHEN NOT regexp_matches(typeof(weight), '^(FLOAT|DOUBLE|DECIMAL.*|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER)$')
        THEN error(concat('column "', weight_name, '" is ', typeof(weight), ': a weight is a number above 0; cast it'))
    WHEN weight IS NULL
        THEN error(concat('column "', weight_name, '" is NULL in a row: every row needs a weight above 0'))
    WHEN NOT coalesce(TRY_CAST(anon_helpers.as_read(weight) AS DOUBLE) BETWEEN 1e-300 AND 1e300, false)
        THEN error(concat('column "', weight_name, '" has a weight that is not a finite number above 0'))
    ELSE TRY_CAST(anon_helpers.as_read(weight) AS DOUBLE)
END;

-- The people that a class of a sample stands for. That a class stands for fewer people than it has rows is an error.
--
-- A difference in the ninth digit is rounding.
-- Returns: DOUBLE, at least class_size.
-- Example:
--   SELECT anon_helpers.estimated_size(class_size, class_size * 10.0) AS people FROM anon.class_sizes('visits', ['sex']);
CREATE OR REPLACE MACRO anon_helpers.estimated_size(class_size, weight_sum) AS
CASE
    WHEN weight_sum < class_size * (1 - 1e-9)
        THEN error('weights below 1: a class stands for fewer people than it has rows')
    ELSE greatest(CAST(weight_sum AS DOUBLE), class_size)
END;

-- The mean of 1 / F over the number F of people in a class with class_size rows in the sample, where F is negative binomial
-- with the chance class_size / population_size: the individual risk of Benedetti and Franconi, exactly.
--
-- Below 40 rows and half of the people by parts, from one row upwards; else by Euler's transform of the hypergeometric
-- function, whose terms are all positive. Both hold to 13 digits.
-- Returns: DOUBLE in (0, 1].
-- Source: Benedetti and Franconi 1998; Polettini 2003; Franconi and Polettini 2004.
-- Example:
--   SELECT anon_helpers.negative_binomial_risk(2, 110.0) AS risk;
CREATE OR REPLACE MACRO anon_helpers.negative_binomial_risk(class_size, population_size) AS
CASE
    WHEN population_size <= class_size THEN 1.0 / class_size
    WHEN 2 * class_size < population_size AND class_size < 40 THEN list_reduce(
        list_prepend(
            class_size / (population_size - class_size) * ln(population_size / class_size),
            CAST(range(1, CAST(class_size AS BIGINT)) AS DOUBLE[])
        ),
        lambda anon_risk, anon_rows: class_size / (population_size - class_size) * (1 / anon_rows - anon_risk)
    )
    ELSE 1 / population_size * list_reduce(
        CAST([1] || range(96, 0, -1) AS DOUBLE[]),
        lambda anon_sum, anon_term:
            1 + anon_term * (1 - class_size / population_size) / (class_size + anon_term) * anon_sum
    )
END;

-- The mean of 1 / (f + J), where J is Poisson, by the central moments of J up to the sixth: of the mean's share in f + mean
-- and of 1 / (f + mean).
--
-- Returns: DOUBLE above 0, to 8 digits where f + mean is 400 or more.
-- Example:
--   SELECT anon_helpers.poisson_expansion(0.9, 1 / 500) AS risk;
CREATE OR REPLACE MACRO anon_helpers.poisson_expansion(mean_share, reciprocal) AS
reciprocal * (1 + mean_share * reciprocal * (
    1 + reciprocal * (3 * mean_share - 1 + reciprocal * (1 - 10 * mean_share + 15 * mean_share * mean_share))
));

-- The mean of 1 / (f + J) over the number J of people of a class who are not in the sample, where f are and J is Poisson.
--
-- From 400 people on by poisson_expansion; else by parts, upwards where the mean is at least f, and
-- downwards where it is less, so that errors shrink at every step.
-- Returns: DOUBLE in (0, 1].
-- Source: Bethlehem, Keller and Pannekoek 1990; Skinner and Holmes 1998; Elamir and Skinner 2006.
-- Example:
--   SELECT anon_helpers.poisson_mean_risk(1, 0.5) AS risk;
CREATE OR REPLACE MACRO anon_helpers.poisson_mean_risk(class_size, unsampled) AS
CASE
    WHEN class_size + unsampled >= 400 THEN anon_helpers.poisson_expansion(
        unsampled / (class_size + unsampled), 1 / (class_size + unsampled)
    )
    WHEN unsampled >= class_size THEN list_reduce(
        list_prepend((1 - exp(-unsampled)) / unsampled, CAST(range(1, CAST(class_size AS BIGINT)) AS DOUBLE[])),
        lambda anon_risk, anon_rows: (1 - anon_rows * anon_risk) / unsampled
    )
    ELSE list_reduce(
        CAST([0] || range(160, -1, -1) AS DOUBLE[]),
        lambda anon_risk, anon_more: (1 - unsampled * anon_risk) / (class_size + anon_more)
    )
END;

-- guarded: tests/sql/71_survey.test

-- A share that is given to a macro.
--
-- Returns: DOUBLE; an error that names it for what is not a number from 0 to 1.
-- Example:
--   SELECT anon_helpers.checked_share(0.05, 'at_most') AS at_most;
CREATE OR REPLACE MACRO anon_helpers.checked_share(share, name) AS
CASE
    WHEN coalesce(TRY_CAST(anon.text_of(share) AS DOUBLE) BETWEEN 0 AND 1, false) THEN TRY_CAST(anon.text_of(share) AS DOUBLE)
    ELSE error(concat(name, ' is a number from 0 to 1'))
END;

-- The classes of a sample, the people that they stand for, and the estimate of their risk by their own weights.
--
-- Returns: the keys as they are, anon_class_size BIGINT, anon_population_size DOUBLE; the same as anon_fitting_size and
-- anon_fitting_people, see fitting_classes; anon_binomial_risk DOUBLE, see anon.individual_risk.
-- Example:
--   FROM anon_helpers.weighted_classes('visits', ['sex'], 'id') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.weighted_classes(source, keys, weight) AS TABLE
SELECT
    *,
    anon_class_size AS anon_fitting_size,
    anon_population_size AS anon_fitting_people,
    anon_helpers.negative_binomial_risk(anon_class_size, anon_population_size) AS anon_binomial_risk
FROM (
    SELECT
        COLUMNS(anon_helpers.listed(keys)),
        count(*) AS anon_class_size,
        anon_helpers.estimated_size(count(*), sum(anon_helpers.sampling_weight(COLUMNS([weight]), weight, keys)))
            AS anon_population_size
    FROM query_table(anon_helpers.as_source(source))
    GROUP BY ALL
);

-- Classes that were numbered, with the texts of their keys.
--
-- Returns: anon_class, anon_class_size and anon_population_size as they are, anon_texts VARCHAR[].
-- Example:
--   WITH classes AS (SELECT sex, zip, id AS anon_class, 1 AS anon_class_size, 9 AS anon_population_size FROM visits)
--   FROM anon_helpers.texts_of_classes('classes', ['sex', 'zip']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.texts_of_classes(classes, keys) AS TABLE
SELECT anon_class, anon_class_size, anon_population_size, [*COLUMNS(anon_helpers.listed(keys))] AS anon_texts
FROM (
    SELECT anon_class, anon_class_size, anon_population_size, anon.text_of(COLUMNS(anon_helpers.listed(keys)))
    FROM query_table(anon_helpers.as_source(classes))
);

-- guarded: tests/sql/71_survey.test

-- A class by the texts of its keys, with NULL where a pattern has a blank.
--
-- Returns: VARCHAR[].
-- Example:
--   SELECT anon_helpers.blanked(string_split('f 10115', ' '), [false, true]) AS texts;
CREATE OR REPLACE MACRO anon_helpers.blanked(texts, blanks) AS
list_transform(texts, lambda anon_text, anon_place: CASE WHEN NOT blanks[anon_place] THEN anon_text END);

-- guarded: tests/sql/71_survey.test

-- The patterns of blanks of classes: which keys are unknown.
--
-- Returns: anon_blanks BOOLEAN[]; one row per pattern. An error for more than 64.
-- Example:
--   WITH cells AS (SELECT [age IS NULL, sex IS NULL] AS anon_blanks FROM visits)
--   FROM anon_helpers.patterns_of_blanks('cells') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.patterns_of_blanks(cells) AS TABLE
SELECT
    CASE
        WHEN count(*) OVER () > 64
            THEN error('more than 64 patterns of blanks (which keys of a row are NULL, or * in a release): take fewer keys')
        ELSE anon_blanks
    END AS anon_blanks
FROM (SELECT DISTINCT anon_blanks FROM query_table(anon_helpers.as_source(cells)));

-- guarded: tests/sql/71_survey.test

-- The classes of a sample with the rows that each may equal if NULL fits every value, and the people that these stand for: a
-- class fits another one if they agree in the keys that are known in both.
--
-- How it goes. For each two patterns of NULLs in keys, the classes of both are blanked where one of them has NULL, and joined.
--
-- Returns: the columns of weighted_classes, the fitting ones and the risk by the rows that fit. An error for more than 64
-- patterns.
-- Source: as freqCalc of sdcMicro counts, with alpha = 1.
-- Example:
--   WITH classes AS (FROM anon_helpers.weighted_classes('visits', ['sex', 'zip'], 'id'))
--   FROM anon_helpers.fitting_classes('classes', ['sex', 'zip']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.fitting_classes(classes, keys) AS TABLE
WITH anon_numbered AS MATERIALIZED (
    SELECT * EXCLUDE (anon_fitting_size, anon_fitting_people, anon_binomial_risk), row_number() OVER () AS anon_class
    FROM query_table(anon_helpers.as_source(classes))
),
anon_cells AS MATERIALIZED (
    SELECT *, list_transform(anon_texts, lambda anon_text: anon_text IS NULL) AS anon_blanks
    FROM anon_helpers.texts_of_classes('anon_numbered', keys)
),
anon_pairs AS MATERIALIZED (
    SELECT
        anon_cells.* EXCLUDE (anon_texts),
        anon_patterns.anon_blanks AS anon_others,
        anon_helpers.blanked(anon_cells.anon_texts, anon_patterns.anon_blanks) AS anon_kept
    FROM anon_cells
    CROSS JOIN anon_helpers.patterns_of_blanks('anon_cells') AS anon_patterns
)
SELECT
    * EXCLUDE (anon_class),
    anon_helpers.negative_binomial_risk(anon_fitting_size, anon_fitting_people) AS anon_binomial_risk
FROM anon_numbered
INNER JOIN (
    SELECT
        anon_class,
        CAST(sum(anon_fits.anon_size) AS BIGINT) AS anon_fitting_size,
        sum(anon_fits.anon_people) AS anon_fitting_people
    FROM anon_pairs
    INNER JOIN (
        SELECT anon_others, anon_blanks, anon_kept, sum(anon_class_size), sum(anon_population_size) FROM anon_pairs GROUP BY ALL
    ) AS anon_fits (anon_blanks, anon_others, anon_kept, anon_size, anon_people) USING (anon_blanks, anon_others, anon_kept)
    GROUP BY anon_class
) AS anon_sizes USING (anon_class);

-- guarded: tests/sql/71_survey.test

-- Classes of a sample with both estimates of their risk: with the people that they would have if the keys were independent,
-- and how many of these are expected outside of the sample. NULL is a value, or it is left out of the keys that a class is
-- expected by.
--
-- Returns: the columns of weighted_classes, anon_expected_size DOUBLE, anon_unsampled DOUBLE, anon_poisson_risk DOUBLE, see
-- anon.poisson_risk.
-- Example:
--   WITH classes AS (FROM anon_helpers.weighted_classes('visits', ['age', 'sex'], 'id'))
--   FROM anon_helpers.risk_classes('classes', ['age', 'sex'], TRUE) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.risk_classes(classes, keys, null_is_value) AS TABLE
WITH anon_numbered AS MATERIALIZED (
    SELECT *, row_number() OVER () AS anon_class, sum(anon_population_size) OVER () AS anon_people
    FROM query_table(anon_helpers.as_source(classes))
),
anon_values AS NOT MATERIALIZED (
    SELECT *, unnest(anon_texts) AS anon_value, generate_subscripts(anon_texts, 1) AS anon_key
    FROM anon_helpers.texts_of_classes('anon_numbered', keys)
),
anon_shares AS MATERIALIZED (
    SELECT
        anon_key,
        anon_value,
        sum(anon_population_size) / sum(sum(anon_population_size)) OVER (PARTITION BY anon_key) AS anon_share
    FROM anon_values
    WHERE null_is_value OR anon_value IS NOT NULL
    GROUP BY anon_key, anon_value
)
SELECT *, anon_helpers.poisson_mean_risk(anon_fitting_size, anon_unsampled) AS anon_poisson_risk
FROM (
    SELECT
        * EXCLUDE (anon_class, anon_people, anon_product),
        anon_people * coalesce(anon_product, 1.0) AS anon_expected_size,
        anon_expected_size * greatest(1 - anon_fitting_size / anon_fitting_people, 0) AS anon_unsampled
    FROM anon_numbered
    LEFT JOIN (
        SELECT anon_values.anon_class, product(anon_shares.anon_share) AS anon_product
        FROM anon_values
        INNER JOIN anon_shares
            ON anon_values.anon_key = anon_shares.anon_key AND anon_values.anon_value IS NOT DISTINCT FROM anon_shares.anon_value
        GROUP BY anon_values.anon_class
    ) AS anon_products USING (anon_class)
);

-- guarded: tests/sql/71_survey.test

-- Risks of a release in the population of its source, which is given with the labels of the release, the rows included that
-- were suppressed: the largest ones of its classes, and the means over its rows. A class without a row of the source has a
-- risk of 1.
--
-- Returns: one row: risk DOUBLE, mean_risk DOUBLE (anon.individual_risk), poisson_risk DOUBLE, mean_poisson_risk DOUBLE
-- (anon.poisson_risk); NULL for a release without rows.
-- Example:
--   FROM anon_helpers.release_risks('visits', ['sex'], 'visits', 'id');
CREATE OR REPLACE MACRO anon_helpers.release_risks(released, keys, source, weight) AS TABLE
WITH anon_weighted AS (FROM anon_helpers.weighted_classes(source, keys, weight))
SELECT
    max(coalesce(anon_class_risk, 1)) AS risk,
    max(coalesce(anon_class_poisson_risk, 1)) AS poisson_risk,
    anon_helpers.mean_of_rows(coalesce(anon_class_risk, 1) * anon_rows, anon_rows) AS mean_risk,
    anon_helpers.mean_of_rows(coalesce(anon_class_poisson_risk, 1) * anon_rows, anon_rows) AS mean_poisson_risk
FROM (
    SELECT
        COLUMNS(anon_helpers.listed(keys)),
        count(anon_is_released) AS anon_rows,
        any_value(anon_binomial_risk) AS anon_class_risk,
        any_value(anon_poisson_risk) AS anon_class_poisson_risk
    FROM (
        SELECT anon.text_of(COLUMNS(anon_helpers.listed(keys))), anon_binomial_risk, anon_poisson_risk
        FROM anon_helpers.risk_classes('anon_weighted', keys, TRUE)
        UNION ALL BY NAME
        SELECT anon.text_of(COLUMNS(anon_helpers.listed(keys))), true AS anon_is_released
        FROM query_table(anon_helpers.as_source(released))
    )
    GROUP BY ALL
    HAVING count(anon_is_released) > 0
);

-- guarded: tests/sql/71_survey.test

-- The bracket of classes that were counted, see anon.global_risk.
--
-- Returns: the row of anon.global_risk.
-- Example:
--   WITH classes AS (FROM anon_helpers.weighted_classes('visits', ['age', 'sex'], 'id')),
--   risks AS (FROM anon_helpers.risk_classes('classes', ['age', 'sex'], TRUE))
--   FROM anon_helpers.risk_sums('risks');
CREATE OR REPLACE MACRO anon_helpers.risk_sums(classes) AS TABLE
SELECT
    CAST(coalesce(sum(anon_class_size), 0) AS BIGINT) AS row_count,
    count(*) AS class_count,
    sum(anon_population_size) AS population_size,
    count(*) FILTER (WHERE anon_fitting_size = 1) AS unique_rows,
    least(sum(anon_class_size * anon_binomial_risk), sum(anon_class_size * anon_poisson_risk)) AS expected_low,
    greatest(sum(anon_class_size * anon_binomial_risk), sum(anon_class_size * anon_poisson_risk)) AS expected_high,
    expected_low / row_count AS low_share,
    expected_high / row_count AS high_share,
    least(sum(anon_binomial_unique), sum(anon_poisson_unique)) AS uniques_low,
    greatest(sum(anon_binomial_unique), sum(anon_poisson_unique)) AS uniques_high
FROM (
    SELECT
        *,
        CASE anon_fitting_size WHEN 1 THEN 1 / anon_fitting_people ELSE 0.0 END AS anon_binomial_unique,
        CASE anon_fitting_size WHEN 1 THEN exp(-anon_unsampled) ELSE 0.0 END AS anon_poisson_unique
    FROM query_table(anon_helpers.as_source(classes))
);

-- Sizes of classes where NULL fits every value: how many rows each class may be of, those that agree in the keys that are
-- known in both. Each row counts the others, so that sizes do not add up to the rows: do not take them for a promise, since
-- somebody who knows the true values of a person may find fewer rows; see anon.matching_rows.
--
-- Job: risk.
-- Returns: the keys as they are, class_size BIGINT (rows that look the same), matched_size BIGINT; one row per class. An error
-- for more than 64 patterns of NULLs.
-- Source: as freqCalc of sdcMicro counts, with alpha = 1; but complete rows count those that are NULL in all keys, too.
-- Example:
--   FROM anon.matched_sizes('visits', ['sex', 'zip']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon.matched_sizes(source, keys) AS TABLE
WITH anon_rows AS (SELECT COLUMNS(anon_helpers.listed(keys)), 1 AS anon_one FROM query_table(anon_helpers.as_source(source))),
anon_weighted AS (FROM anon_helpers.weighted_classes('anon_rows', keys, 'anon_one'))
SELECT COLUMNS(anon_helpers.listed(keys)), anon_class_size AS class_size, anon_fitting_size AS matched_size
FROM anon_helpers.fitting_classes('anon_weighted', keys);

-- Individual risk: the chance that a row of a sample is rightly matched by somebody who knows the keys of everybody in the
-- population, by class. The class has F people, and the match is right with 1 / F; F is negative binomial given the rows of
-- the class and the sum of their weights. `sum(class_size * risk)` is the expected number of rows that are found.
--
-- Where the truth was known this was below it: a class is judged by its own weights, and rare ones have little. The other
-- end of the bracket is anon.poisson_risk, see anon.global_risk. Weights that are text, NULL, not finite or not above 0 are
-- errors, and so are classes that stand for fewer people than they have rows.
--
-- Job: risk.
-- Returns: the keys, class_size BIGINT, population_size DOUBLE (the sum of the weights), risk DOUBLE in (0, 1]; one row per
-- class.
-- Source: Benedetti and Franconi 1998; Franconi and Polettini 2004. sdcMicro approximates it in classes of 3 rows and more.
-- Example:
--   WITH survey AS (SELECT *, 20 + id AS weight FROM visits)
--   FROM anon.individual_risk('survey', ['age', 'sex'], 'weight') ORDER BY risk DESC, age ASC;
CREATE OR REPLACE MACRO anon.individual_risk(source, keys, weight) AS TABLE
SELECT
    COLUMNS(anon_helpers.listed(keys)),
    anon_class_size AS class_size,
    anon_population_size AS population_size,
    anon_binomial_risk AS risk
FROM anon_helpers.weighted_classes(source, keys, weight);

-- Risk of the rows of a sample where the keys are taken as independent, by class: the people of a class are Poisson with
-- the mean that the weighted counts of each key's values give, and those outside of the sample are what is left of it.
-- `sum(class_size * risk)` is the expected number of rows that are found.
--
-- Where the truth was known this was mostly above it. Weights are checked as in anon.individual_risk.
--
-- Job: risk.
-- Returns: the keys, class_size BIGINT, population_size DOUBLE (the sum of the weights), expected_size DOUBLE (people if keys
-- are independent), risk DOUBLE in (0, 1], population_unique DOUBLE (of a class of one row the chance that nobody else in the
-- population is in it, else 0); one row per class.
-- Source: Bethlehem, Keller and Pannekoek 1990; Skinner and Holmes 1998; Elamir and Skinner 2006.
-- Example:
--   WITH survey AS (SELECT *, 20 + id AS weight FROM visits)
--   FROM anon.poisson_risk('survey', ['age', 'sex'], 'weight') ORDER BY risk DESC, age ASC;
CREATE OR REPLACE MACRO anon.poisson_risk(source, keys, weight) AS TABLE
WITH anon_weighted AS (FROM anon_helpers.weighted_classes(source, keys, weight))
SELECT
    COLUMNS(anon_helpers.listed(keys)),
    anon_class_size AS class_size,
    anon_population_size AS population_size,
    anon_expected_size AS expected_size,
    anon_poisson_risk AS risk,
    CASE anon_class_size WHEN 1 THEN exp(-anon_unsampled) ELSE 0.0 END AS population_unique
FROM anon_helpers.risk_classes('anon_weighted', keys, TRUE);

-- Risk of a whole sample in its population, as a bracket: of row_count rows, an attacker who knows the keys of everybody in
-- the population is expected to find between expected_low and expected_high, the sums of anon.individual_risk and of
-- anon.poisson_risk over rows, the smaller one first. Both are estimates from the weights; where the truth was known it lay
-- between them in 32 of 33 cases. They are no bounds. They hold for the keys that you name, and not for one who knows that a
-- person is in the sample: anon.prosecutor_risk. A wide bracket says that so small a sample cannot answer.
--
-- Job: risk.
-- Returns: one row: row_count BIGINT, class_count BIGINT, population_size DOUBLE (the sum of the weights), unique_rows BIGINT
-- (alone in their class), expected_low DOUBLE, expected_high DOUBLE (rows found), low_share DOUBLE, high_share DOUBLE (of the
-- rows), uniques_low DOUBLE, uniques_high DOUBLE (of the unique rows, those that are expected to be unique in the population,
-- by the same two models). Measures of a table without rows are NULL.
-- Source: see anon.individual_risk and anon.poisson_risk.
-- Example:
--   WITH survey AS (SELECT *, 20 + id AS weight FROM visits) FROM anon.global_risk('survey', ['age', 'sex'], 'weight');
CREATE OR REPLACE MACRO anon.global_risk(source, keys, weight) AS TABLE
WITH anon_weighted AS (FROM anon_helpers.weighted_classes(source, keys, weight)),
anon_classes AS (FROM anon_helpers.risk_classes('anon_weighted', keys, TRUE))
FROM anon_helpers.risk_sums('anon_classes');

-- guarded: tests/sql/71_survey.test

-- The greatest risk that rows may have so that a share of them is found at most: recode until no row has more. It is one of
-- the risks of anon.individual_risk, the greatest with which `sum(least(risk, threshold))` over rows is at most the accepted
-- number. If that holds of all rows as they are it is the greatest risk of them all, and no row is above it.
--
-- Job: risk.
-- Returns: one row: row_count BIGINT, expected DOUBLE (rows found), accepted DOUBLE (share * rows), threshold DOUBLE (NULL if
-- every row has too much of a risk), rows_above BIGINT (with more). Measures of a table without rows are NULL.
-- Source: Franconi and Polettini 2004; sdcMicro has NA where no row is above it, and 0 where there is none.
-- Example:
--   WITH survey AS (SELECT *, 20 + id AS weight FROM visits)
--   FROM anon.risk_threshold('survey', ['age', 'sex'], 'weight', 0.1);
CREATE OR REPLACE MACRO anon.risk_threshold(source, keys, weight, share) AS TABLE
WITH anon_risks AS (
    SELECT
        anon_class_size,
        anon_binomial_risk,
        anon_helpers.checked_share(share, 'the share of rows') * sum(anon_class_size) OVER () AS anon_accepted,
        sum(anon_class_size * anon_binomial_risk) OVER anon_rising
        + anon_binomial_risk * (sum(anon_class_size) OVER () - sum(anon_class_size) OVER anon_rising) AS anon_found
    FROM anon_helpers.weighted_classes(source, keys, weight)
    WINDOW anon_rising AS (ORDER BY anon_binomial_risk ASC)
)
SELECT
    CAST(coalesce(sum(anon_class_size), 0) AS BIGINT) AS row_count,
    max(anon_found) AS expected,
    any_value(anon_accepted) AS accepted,
    max(anon_binomial_risk) FILTER (WHERE anon_found <= anon_accepted) AS threshold,
    CAST(coalesce(sum(anon_class_size) FILTER (WHERE anon_found > anon_accepted), 0) AS BIGINT) AS rows_above
FROM anon_risks;

-- guarded: tests/sql/71_survey.test

-- The classes of a sample whose rows have more than a risk by one estimate at least, with both: what to recode first. Classes
-- with most rows come first.
--
-- Job: risk.
-- Returns: the keys, class_size BIGINT, population_size DOUBLE (the sum of the weights), risk DOUBLE (of
-- anon.individual_risk), poisson_risk DOUBLE (of anon.poisson_risk), expected_rows DOUBLE (found by the greater one); one row
-- per class.
-- Source: see anon.individual_risk and anon.poisson_risk.
-- Example:
--   WITH survey AS (SELECT *, 20 + id AS weight FROM visits)
--   FROM anon.risky_cells('survey', ['age', 'sex'], 'weight', 0.05);
CREATE OR REPLACE MACRO anon.risky_cells(source, keys, weight, at_most) AS TABLE
WITH anon_weighted AS (FROM anon_helpers.weighted_classes(source, keys, weight))
SELECT
    COLUMNS(anon_helpers.listed(keys)),
    anon_class_size AS class_size,
    anon_population_size AS population_size,
    anon_binomial_risk AS risk,
    anon_poisson_risk AS poisson_risk,
    anon_class_size * greatest(anon_binomial_risk, anon_poisson_risk) AS expected_rows
FROM anon_helpers.risk_classes('anon_weighted', keys, TRUE)
WHERE greatest(anon_binomial_risk, anon_poisson_risk) > anon_helpers.checked_share(at_most, 'at_most')
ORDER BY anon_class_size DESC, greatest(anon_binomial_risk, anon_poisson_risk) DESC;

-- The rows of a sample, each with its household, its weight, and the number and risk of its class, one of those that were
-- counted. A household that is NULL is an error.
--
-- Returns: anon_household with its column's type, anon_weight DOUBLE, anon_class BIGINT, anon_binomial_risk DOUBLE.
-- Example:
--   WITH survey AS (SELECT *, id // 2 AS home FROM visits),
--   classes AS (SELECT DISTINCT sex, 0.1 AS anon_binomial_risk FROM visits)
--   FROM anon_helpers.household_members('survey', 'classes', ['sex'], 'id', 'home') ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.household_members(source, classes, keys, weight, household) AS TABLE
SELECT anon_household, anon_weight, anon_class, anon_binomial_risk
FROM (
    SELECT
        row(*COLUMNS(anon_helpers.listed(keys))) AS anon_key,
        coalesce(
            COLUMNS([household]), error(concat('column "', household, '" is NULL in a row: every row needs its household'))
        ) AS anon_household,
        anon_helpers.sampling_weight(COLUMNS([weight]), weight, keys) AS anon_weight
    FROM query_table(anon_helpers.as_source(source))
) AS anon_rows
-- NULLs within rows are equal.
INNER JOIN (
    SELECT row(*COLUMNS(anon_helpers.listed(keys))) AS anon_key, anon_binomial_risk, row_number() OVER () AS anon_class
    FROM query_table(anon_helpers.as_source(classes))
) AS anon_numbered USING (anon_key);

-- guarded: tests/sql/71_survey.test
-- no mutants of risk < 1: risks of 1 are another case, and DuckDB 1.5 has no logarithm of 0

-- An aggregate over the members of a household: the chance that one of them, at least, is found, if each is independently.
--
-- Returns: DOUBLE.
-- Example:
--   SELECT zip, anon_helpers.risk_of_any(1 / (1 + id)) AS risk FROM visits GROUP BY ALL ORDER BY zip ASC;
CREATE OR REPLACE MACRO anon_helpers.risk_of_any(risk) AS
CASE WHEN max(risk) >= 1 THEN 1.0 ELSE 1 - exp(sum(ln(CASE WHEN risk < 1 THEN 1 - risk ELSE 1.0 END))) END;

-- guarded: tests/sql/71_survey.test

-- The risk of all households of a sample, by single members, see anon.household_risk, and by all members together, see
-- anon.household_key_risk: where weights differ by more than a factor of 2 within a household there is none of the latter.
--
-- Returns: one row: household_count BIGINT, households_found DOUBLE, rows_found DOUBLE (by single members), uneven_households
-- BIGINT (with such weights), unique_households BIGINT, matched_households DOUBLE, matched_rows DOUBLE.
-- Example:
--   WITH members AS (
--       SELECT id // 2 AS anon_household, id % 2 AS anon_class, 5.0 AS anon_weight, 0.1 AS anon_binomial_risk FROM visits
--   )
--   FROM anon_helpers.risk_of_households('members');
CREATE OR REPLACE MACRO anon_helpers.risk_of_households(members) AS TABLE
SELECT
    CAST(coalesce(sum(anon_homes), 0) AS BIGINT) AS household_count,
    sum(anon_homes_found) AS households_found,
    sum(anon_rows_found) AS rows_found,
    CAST(coalesce(sum(anon_uneven), 0) AS BIGINT) AS uneven_households,
    count(*) FILTER (WHERE anon_homes = 1) AS unique_households,
    CASE uneven_households WHEN 0 THEN sum(anon_homes * anon_risk) END AS matched_households,
    CASE uneven_households WHEN 0 THEN sum(anon_rows * anon_risk) END AS matched_rows
FROM (
    SELECT
        count(*) AS anon_homes,
        sum(anon_members) AS anon_rows,
        sum(anon_found) AS anon_homes_found,
        sum(anon_members * anon_found) AS anon_rows_found,
        count(*) FILTER (WHERE anon_is_uneven) AS anon_uneven,
        anon_helpers.negative_binomial_risk(count(*), sum(anon_mean)) AS anon_risk
    FROM (
        SELECT
            list_sort(list(anon_class)) AS anon_key,
            count(*) AS anon_members,
            anon_helpers.risk_of_any(anon_binomial_risk) AS anon_found,
            max(anon_weight) > 2 * min(anon_weight) AS anon_is_uneven,
            avg(anon_weight) AS anon_mean
        FROM query_table(anon_helpers.as_source(members))
        GROUP BY anon_household
    )
    GROUP BY anon_key
);

-- Risk of the households of a sample: the chance that a member, at least, is rightly matched, where members are found
-- independently with their anon.individual_risk. `sum(risk)` is the expected number of households that are found, and
-- `sum(member_count * risk)` that of the rows in them, which sdcMicro prints.
--
-- An attacker may know households as a whole, which this leaves out: see anon.household_key_risk. A household that is NULL is
-- an error; weights are checked as in anon.individual_risk.
--
-- Job: risk.
-- Returns: household with its column's type, member_count BIGINT (rows), risk DOUBLE in (0, 1]; one row per household.
-- Source: Franconi and Polettini 2004; equal to the hierarchical risk of sdcMicro but for its approximation.
-- Example:
--   WITH survey AS (SELECT *, 20 + id AS weight, id // 2 AS home FROM visits)
--   FROM anon.household_risk('survey', ['age', 'sex'], 'weight', 'home') ORDER BY household ASC;
CREATE OR REPLACE MACRO anon.household_risk(source, keys, weight, household) AS TABLE
WITH anon_weighted AS (FROM anon_helpers.weighted_classes(source, keys, weight)),
anon_members AS (FROM anon_helpers.household_members(source, 'anon_weighted', keys, weight, household))
SELECT anon_household AS household, count(*) AS member_count, anon_helpers.risk_of_any(anon_binomial_risk) AS risk
FROM anon_members
GROUP BY anon_household;

-- Risk of the households of a sample, as a whole: the keys of all members together are one key of a household, whatever the
-- order of members, and households are matched by it. They are rows of a sample then, with the mean of their members'
-- weights, and found with their individual risk. anon.household_risk takes each member alone.
--
-- A household that is NULL is an error, and so are weights that differ by more than a factor of 2 within a household. Weights
-- are checked as in anon.individual_risk; a class of households that stands for fewer than it has is a census.
--
-- Job: risk.
-- Returns: one row: household_count BIGINT, unique_households BIGINT (no other household of the sample has these members),
-- households_found DOUBLE (expected), rows_found DOUBLE (in them). The last two are NULL for a table without rows.
-- Source: see anon.individual_risk.
-- Example:
--   WITH survey AS (SELECT *, 20 + id AS weight, id // 2 AS home FROM visits)
--   FROM anon.household_key_risk('survey', ['age', 'sex'], 'weight', 'home');
CREATE OR REPLACE MACRO anon.household_key_risk(source, keys, weight, household) AS TABLE
WITH anon_weighted AS (FROM anon_helpers.weighted_classes(source, keys, weight)),
anon_members AS (FROM anon_helpers.household_members(source, 'anon_weighted', keys, weight, household))
SELECT household_count, unique_households, matched_households AS households_found, matched_rows AS rows_found
FROM anon_helpers.risk_of_households('anon_members')
WHERE CASE uneven_households WHEN 0 THEN TRUE ELSE error(concat(
    'weights differ by more than a factor of 2 within households: ', uneven_households, ' of ', household_count,
    '; give each household one weight'
)) END;
