-- Special uniques: rows that few of their values single out, and the keys that do so.

-- The largest size of the sets of keys that SUDA counts: max_size, or the number of keys if that is NULL or greater.
--
-- Returns: INTEGER; an error for a size that is not a whole number from 1, for a key that is listed twice, and for more than
-- 4,096 sets.
-- Example:
--   SELECT anon_helpers.set_size(['age', 'sex', 'zip'], 2) AS largest_size;
CREATE OR REPLACE MACRO anon_helpers.set_size(keys, max_size) AS
CASE
    WHEN len(list_distinct(list_transform(anon_helpers.listed(keys), lambda anon_key: lower(anon_key))))
        < len(anon_helpers.listed(keys))
        THEN error('a key is listed twice')
    WHEN NOT regexp_full_match(anon.text_of(max_size), '0*[1-9][0-9]*')
        THEN error('max_size is a number of keys, 1 or more, or NULL for sets of any size')
    WHEN list_sum(list_transform(
        range(1, least(len(anon_helpers.listed(keys)), TRY_CAST(anon.text_of(max_size) AS INTEGER)) + 1),
        -- The logarithm of a binomial coefficient.
        lambda anon_size: exp(lgamma(len(anon_helpers.listed(keys)) + 1)
            - lgamma(anon_size + 1) - lgamma(len(anon_helpers.listed(keys)) - anon_size + 1))
    )) > 4096.5 THEN error('the keys have more than 4,096 sets: take fewer keys, or a smaller max_size')
    ELSE CAST(least(len(anon_helpers.listed(keys)), TRY_CAST(anon.text_of(max_size) AS INTEGER)) AS INTEGER)
END;

-- The score of a minimal set of keys: (number of keys - size)!, so that few keys weigh more than many.
--
-- Returns: DOUBLE, exact up to 18 keys.
-- Source: Elliot, Manning and Ford 2002, "A Computational Algorithm for Handling the Special Uniques Problem".
-- Example:
--   SELECT anon_helpers.set_score(4, 1) AS one_of_four_keys;
CREATE OR REPLACE MACRO anon_helpers.set_score(key_count, set_size) AS
coalesce(list_product(range(1, CAST(key_count - set_size AS BIGINT) + 1)), 1.0);

-- The special rows of a source, under names that no key has, see anon.suda.
--
-- How it goes. Rows are counted by cells. A value has a number in its key, and a cell's code holds the numbers of all of its
-- keys in bits of their own, so that code & bits is what a set of keys shows of the cell. One set after the other groups the
-- codes; a cell that is alone in its group and has one row is unique in the set. Cells that are unique in the same sets are a
-- pattern. The sets that are left for a pattern are those that have no unique subset of one key less. A cell without a code is
-- always alone, and so counts the sets. Where NULL is skipped it is a value all the same, and a cell is unique in no set with it:
-- cells that have NULL in a key are alike to none that has a value there.
--
-- With skip_nulls NULL is in no minimal set, and shields no row from being special; without it NULL is a value.
--
-- Returns: the keys as they are, anon_score DOUBLE, anon_least_size INTEGER, anon_minimal_sets VARCHAR[][].
-- Example:
--   SELECT age, anon_score FROM anon_helpers.special_rows('visits', ['age', 'sex'], 2, TRUE) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.special_rows(source, keys, max_size, skip_nulls) AS TABLE
WITH RECURSIVE anon_cells AS MATERIALIZED (
    SELECT COLUMNS(anon_helpers.listed(keys)), count(*) AS anon_rows, row_number() OVER () AS anon_cell
    FROM query_table(anon_helpers.as_source(source))
    GROUP BY ALL
),
anon_cell_values AS NOT MATERIALIZED (
    SELECT
        anon_cell,
        anon_value,
        list_position(
            list_transform(anon_helpers.listed(keys), lambda anon_name: lower(anon_name)), lower(anon_column)
        ) AS anon_key
    FROM (
        FROM (SELECT anon_cell, anon.text_of(COLUMNS(anon_helpers.listed(keys))) FROM anon_cells)
        UNPIVOT INCLUDE NULLS (anon_value FOR anon_column IN (COLUMNS(* EXCLUDE (anon_cell))))
    )
),
anon_values AS MATERIALIZED (
    SELECT anon_key, anon_value, row_number() OVER (PARTITION BY anon_key ORDER BY anon_value ASC) - 1 AS anon_number
    FROM (SELECT DISTINCT anon_key, anon_value FROM anon_cell_values)
),
anon_keys AS MATERIALIZED (
    SELECT
        anon_key,
        -- The bits below are those of the keys before.
        CAST(1 AS HUGEINT) << CAST(sum(anon_width) OVER (ORDER BY anon_key ASC) - anon_width AS HUGEINT) AS anon_first,
        anon_first * ((CAST(1 AS HUGEINT) << CAST(anon_width AS HUGEINT)) - 1) AS anon_bits
    FROM (
        SELECT
            anon_key,
            CASE
                WHEN sum(length(bin(max(anon_number)))) OVER () > 125
                    THEN error('the keys have too many values together: take fewer keys, or generalize them')
                ELSE length(bin(max(anon_number)))
            END AS anon_width
        FROM anon_values
        GROUP BY anon_key
    )
),
anon_codes AS MATERIALIZED (
    -- Sets with a bit that bars a cell are no sets in which it is unique: all, unless it has one row.
    SELECT anon_cell, anon_code, CASE anon_rows WHEN 1 THEN anon_missing ELSE -1 END AS anon_barred
    FROM anon_cells
    INNER JOIN (
        SELECT
            anon_cell,
            CAST(sum(anon_number * anon_first) AS HUGEINT) AS anon_code,
            CAST(sum(CASE WHEN skip_nulls AND anon_cell_values.anon_value IS NULL THEN anon_bits ELSE 0 END) AS HUGEINT)
                AS anon_missing
        FROM anon_cell_values
        INNER JOIN anon_values
            ON
                anon_cell_values.anon_key = anon_values.anon_key
                AND anon_cell_values.anon_value IS NOT DISTINCT FROM anon_values.anon_value
        INNER JOIN anon_keys ON anon_values.anon_key = anon_keys.anon_key
        GROUP BY anon_cell
    ) USING (anon_cell)
    UNION ALL
    SELECT NULL, NULL, 0
),
anon_grown AS (
    SELECT [anon_key] AS anon_set, anon_bits FROM anon_keys
    UNION ALL
    SELECT list_append(anon_grown.anon_set, anon_keys.anon_key), anon_grown.anon_bits | anon_keys.anon_bits
    FROM anon_grown
    INNER JOIN anon_keys ON anon_grown.anon_set[-1] < anon_keys.anon_key
    WHERE len(anon_grown.anon_set) < anon_helpers.set_size(keys, max_size)
),
anon_sets AS MATERIALIZED (
    SELECT
        CAST(row_number() OVER (ORDER BY len(anon_set) ASC, anon_set ASC) AS INTEGER) AS anon_step,
        list_transform(anon_set, lambda anon_key: anon_helpers.listed(keys)[anon_key]) AS anon_names,
        anon_bits
    FROM anon_grown
),
anon_found (anon_step, anon_cell) AS (
    SELECT CAST(0 AS INTEGER), CAST(NULL AS BIGINT)
    UNION ALL
    SELECT any_value(anon_sets.anon_step), any_value(anon_codes.anon_cell)
    FROM anon_sets
    INNER JOIN (SELECT max(anon_step) + 1 AS anon_step FROM anon_found) USING (anon_step)
    CROSS JOIN anon_codes
    GROUP BY anon_codes.anon_code & anon_sets.anon_bits
    HAVING count(*) = 1 AND bool_and(anon_codes.anon_barred & anon_sets.anon_bits = 0)
),
anon_patterns AS MATERIALIZED (
    SELECT row_number() OVER () AS anon_pattern, anon_steps, list(anon_cell) AS anon_members
    FROM (
        SELECT anon_cell, list_sort(list(anon_step)) AS anon_steps FROM anon_found WHERE anon_cell IS NOT NULL GROUP BY ALL
    )
    GROUP BY anon_steps
),
anon_unique AS MATERIALIZED (SELECT anon_pattern, unnest(anon_steps) AS anon_step FROM anon_patterns),
anon_supersets AS MATERIALIZED (
    SELECT anon_sets.anon_step, anon_greater.anon_step AS anon_greater_step
    FROM anon_sets
    INNER JOIN anon_keys ON anon_sets.anon_bits & anon_keys.anon_bits = 0
    INNER JOIN anon_sets AS anon_greater ON anon_sets.anon_bits + anon_keys.anon_bits = anon_greater.anon_bits
),
anon_scores AS (
    SELECT
        anon_pattern,
        sum(anon_helpers.set_score(len(anon_helpers.listed(keys)), len(anon_names))) AS anon_score,
        CAST(min(len(anon_names)) AS INTEGER) AS anon_least_size,
        list(anon_names ORDER BY anon_step ASC) AS anon_minimal_sets
    FROM anon_unique
    INNER JOIN anon_sets USING (anon_step)
    ANTI JOIN (
        SELECT anon_pattern, anon_greater_step AS anon_step FROM anon_unique INNER JOIN anon_supersets USING (anon_step)
    ) AS anon_greater USING (anon_pattern, anon_step)
    GROUP BY anon_pattern
)
SELECT COLUMNS(anon_helpers.listed(keys)), anon_score, anon_least_size, anon_minimal_sets
FROM anon_cells
INNER JOIN (SELECT anon_pattern, unnest(anon_members) AS anon_cell FROM anon_patterns) USING (anon_cell)
INNER JOIN anon_scores USING (anon_pattern);

-- The rows that are special: each is the only one with its values of some keys, and the fewer keys that takes, the higher its
-- score (SUDA). A set of keys is minimal if only this row has its values, and that is true of none of its subsets. The score
-- is the sum over minimal sets of (number of keys - size of the set)!. It ranks rows: it is not a probability.
--
-- Sets of more than max_size keys are not counted; NULL stands for sets of any size. NULL in a key is a value; where it is
-- none, as sdcMicro has it, take anon_helpers.special_rows(source, keys, max_size, TRUE).
--
-- Job: risk.
-- Returns: the keys as they are, score DOUBLE, least_size INTEGER (of its minimal sets), minimal_sets VARCHAR[][] (the keys of
-- each); one row per row of the source with a minimal set. An error for more than 4,096 sets, or more than 125 bits of values.
-- Source: Elliot, Manning and Ford 2002; Manning, Haglin and Keane 2008, "A recursive search algorithm for statistical
-- disclosure assessment".
-- Example:
--   FROM anon.suda('visits', ['age', 'sex', 'diagnosis'], 2) ORDER BY score DESC, age ASC;
CREATE OR REPLACE MACRO anon.suda(source, keys, max_size) AS TABLE
SELECT
    COLUMNS(anon_helpers.listed(keys)),
    anon_score AS score,
    anon_least_size AS least_size,
    anon_minimal_sets AS minimal_sets
FROM anon_helpers.special_rows(source, keys, max_size, FALSE);

-- How much each key adds to the scores of special rows that were found, see anon.suda_contributions.
--
-- Returns: attribute VARCHAR, set_count BIGINT, score DOUBLE, contribution DOUBLE; one row per key.
-- Example:
--   WITH special AS (FROM anon_helpers.special_rows('visits', ['age', 'sex'], 2, FALSE))
--   FROM anon_helpers.key_contributions('special', ['age', 'sex']) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.key_contributions(special, keys) AS TABLE
WITH anon_scored AS MATERIALIZED (
    SELECT anon_names, anon_helpers.set_score(len(anon_helpers.listed(keys)), len(anon_names)) AS anon_score
    FROM (SELECT unnest(anon_minimal_sets) AS anon_names FROM query_table(anon_helpers.as_source(special)))
)
SELECT
    anon_key AS attribute,
    count(anon_score) AS set_count,
    coalesce(sum(anon_score), 0.0) AS score,
    100 * coalesce(sum(anon_score), 0.0) / (SELECT sum(anon_score) FROM anon_scored) AS contribution
FROM unnest(anon_helpers.listed(keys)) AS anon_listed (anon_key)
LEFT JOIN (SELECT unnest(anon_names) AS anon_name, anon_score FROM anon_scored) AS anon_parts
    ON anon_listed.anon_key = anon_parts.anon_name
GROUP BY anon_key;

-- How much each key adds to the scores of the special rows, see anon.suda: recode the first one first. The shares of the keys
-- add up to more than 100, as a minimal set counts for each of its keys.
--
-- Job: risk.
-- Returns: attribute VARCHAR, set_count BIGINT (minimal sets that contain it), score DOUBLE (of these), contribution DOUBLE (in
-- percent of the score of all); one row per key. Without special rows the contribution is NULL.
-- Source: Elliot, Manning and Ford 2002.
-- Example:
--   FROM anon.suda_contributions('visits', ['age', 'sex', 'diagnosis'], 2) ORDER BY contribution DESC;
CREATE OR REPLACE MACRO anon.suda_contributions(source, keys, max_size) AS TABLE
WITH anon_special AS MATERIALIZED (FROM anon_helpers.special_rows(source, keys, max_size, FALSE))
FROM anon_helpers.key_contributions('anon_special', keys);

-- The people who are not in a sample, for each one who is, by weights of rows that are about equal.
--
-- Returns: DOUBLE, 0 or more; NULL if a weight is above three times another one, since chances that differ have no theory.
-- Example:
--   SELECT anon_helpers.odds_by_weights(10, 50.0, 4, 7) AS odds;
CREATE OR REPLACE MACRO anon_helpers.odds_by_weights(row_count, weight_sum, least_weight, greatest_weight) AS
CASE WHEN greatest_weight <= 3 * least_weight THEN greatest(weight_sum / row_count - 1, 0) END;

-- Matches of unique rows of a sample with people, by classes that were counted: how many unique rows somebody outside of the
-- sample looks like, by its pairs, and the chance that a match is right (DIS), see anon.dis_suda; by the odds that somebody
-- is not in the sample.
--
-- Returns: one row: anon_others DOUBLE, anon_correct_match DOUBLE; NULL if the odds are.
-- Source: Skinner and Elliot 2002.
-- Example:
--   WITH classes AS (SELECT class_size AS anon_class_size FROM anon.class_sizes('visits', ['age', 'sex']))
--   FROM anon_helpers.matches_of_classes('classes', 19.0);
CREATE OR REPLACE MACRO anon_helpers.matches_of_classes(classes, odds) AS TABLE
SELECT anon_others, anon_singles / (anon_singles + anon_others) AS anon_correct_match
FROM (
    SELECT
        count(*) FILTER (WHERE anon_class_size = 1) AS anon_singles,
        2 * count(*) FILTER (WHERE anon_class_size = 2) * odds AS anon_others
    FROM query_table(anon_helpers.as_source(classes))
);

-- The people who are not in a sample, for each one who is, by its share in the population or, as text, its column of weights.
--
-- Returns: one row: anon_odds DOUBLE; NULL without rows. An error for weights that differ by a factor above 3.
-- Example:
--   WITH survey AS (SELECT *, 20 + id AS weight FROM visits) FROM anon_helpers.odds_in_sample('survey', ['age'], 'weight');
CREATE OR REPLACE MACRO anon_helpers.odds_in_sample(source, keys, share_or_weight) AS TABLE
SELECT
    coalesce(
        anon_helpers.odds_by_weights(count(*), sum(anon_weight), min(anon_weight), max(anon_weight)),
        -- Without rows this is NULL, and no error.
        error('weights differ by a factor of ' || round(max(anon_weight) / min(anon_weight), 2) || ', and DIS holds up to 3')
    ) AS anon_odds
FROM (
    SELECT
        CASE
            WHEN typeof(share_or_weight) = 'VARCHAR' THEN anon_helpers.sampling_weight(
                -- A share needs no column, and takes any.
                COLUMNS(CASE typeof(share_or_weight)
                    WHEN 'VARCHAR' THEN [anon.text_of(share_or_weight)] ELSE anon_helpers.listed(keys)[:1]
                END),
                anon.text_of(share_or_weight),
                keys
            )
            WHEN anon_helpers.checked_share(share_or_weight, 'the sampled share') > 0 THEN 1 / CAST(share_or_weight AS DOUBLE)
            ELSE error('the sampled share is above 0: the rows of the sample for each person of the population')
        END AS anon_weight
    FROM query_table(anon_helpers.as_source(source))
);

-- The special rows of a sample with DIS-SUDA scores: anon.suda, scaled by the chance that somebody who matches a unique row of
-- the sample with a person of the population is right (DIS). That chance is of the table, an estimate for a sample of equal
-- chances. Name its share in the population, or the column of its weights, by which it is rows / sum of the weights: that they
-- differ by a factor above 3 is an error. The scores rank rows and are no probabilities: 1 / (1 + m / (s ** q * S)) of a score
-- s, where S is the sum of s ** -q over the special rows, q is 1 + (8 - number of keys) / 20, and m is 2 * (1 - share) / share
-- for each pair of equal rows.
--
-- Job: risk.
-- Returns: the keys as they are, score DOUBLE, dis_score DOUBLE in (0, 1], correct_match DOUBLE in (0, 1] (the chance of the
-- table, the same in every row); one row per row of anon.suda. An error for a share outside of (0, 1], and for weights as in
-- anon.individual_risk.
-- Source: Skinner and Elliot 2002, "A measure of disclosure risk for microdata"; dis_score as sdcMicro 5.8.1 has it.
-- Example:
--   FROM anon.dis_suda('visits', ['age', 'sex', 'diagnosis'], NULL, 0.05) ORDER BY dis_score DESC, age ASC;
CREATE OR REPLACE MACRO anon.dis_suda(source, keys, max_size, share_or_weight) AS TABLE
WITH anon_classes AS (SELECT class_size AS anon_class_size FROM anon.class_sizes(source, keys)),
anon_odds AS (FROM anon_helpers.odds_in_sample(source, keys, share_or_weight)),
anon_matches AS (FROM anon_helpers.matches_of_classes('anon_classes', (FROM anon_odds))),
anon_special AS (
    SELECT
        COLUMNS(anon_helpers.listed(keys)),
        anon_score,
        anon_score ** (1 + (8 - len(anon_helpers.listed(keys))) / 20) AS anon_power
    FROM anon_helpers.special_rows(source, keys, max_size, FALSE)
)
SELECT
    COLUMNS(anon_helpers.listed(keys)),
    anon_score AS score,
    1 / (1 + anon_others / (anon_power * sum(1 / anon_power) OVER ())) AS dis_score,
    anon_correct_match AS correct_match
FROM anon_special
CROSS JOIN anon_matches;
