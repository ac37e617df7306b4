-- m-concealing: the risk of an attacker who knows the quasi-identifiers for sure and each secret column with a
-- probability of its own, independently. A measure, not a guarantee: it is an average over what may be known.

-- Every state of knowledge that has a positive probability under a prior, MAP {'column': probability that it is known}:
-- which columns are known, in the order of the prior, and how probable that is.
--
-- Returns: state BIGINT, known VARCHAR[], probability DOUBLE in (0, 1]. More than 12 columns are an error, since every
-- column doubles the states, and so is a probability outside [0, 1].
-- Source: Mazzone 2019, section 5.2.
-- Example:
--   FROM anon_helpers.knowledge_states(MAP {'diagnosis': 0.05, 'zip': 0.01}) ORDER BY state;
CREATE OR REPLACE MACRO anon_helpers.knowledge_states(prior) AS TABLE
SELECT *
FROM (
    SELECT
        anon_state AS state,
        list_filter(map_keys(prior), lambda anon_name, anon_position: (anon_state >> (anon_position - 1)) & 1 = 1)
            AS known,
        list_product(list_transform(
            map_values(prior),
            lambda anon_chance, anon_position: CAST(CASE (anon_state >> (anon_position - 1)) & 1
                WHEN 1 THEN anon_chance ELSE 1 - anon_chance
            END AS DOUBLE)
        )) AS probability
    FROM range(0, CASE
        WHEN len(map_keys(prior)) > 12 THEN error('m-concealing takes at most 12 secret columns')
        WHEN len(list_filter(map_values(prior), lambda anon_chance: coalesce(anon_chance BETWEEN 0 AND 1, false)))
            < len(map_keys(prior))
            THEN error('m-concealing takes probabilities from 0 to 1')
        ELSE 1 << len(map_keys(prior))
    END) AS anon_states (anon_state)
)
WHERE probability > 0;

-- The risk of each record class under column names that cannot clash with the columns'; see concealing_exposure.
--
-- How it goes. Records are counted; in each state of knowledge, those that look alike to an attacker are candidates for each
-- other; and the risks of a record are summed over the states.
--
-- Returns: the quasi-identifiers, the secret columns, anon_row_count BIGINT, anon_m DOUBLE, anon_worst_state VARCHAR[],
-- anon_worst_risk DOUBLE.
-- Example:
--   FROM anon_helpers.record_risks('visits', ['sex'], MAP {'diagnosis': 0.05}) ORDER BY ALL;
CREATE OR REPLACE MACRO anon_helpers.record_risks(source, quasi_identifiers, prior) AS TABLE
WITH anon_records AS MATERIALIZED (
    SELECT row_number() OVER () AS anon_record, *
    FROM (
        SELECT COLUMNS(anon_helpers.listed(quasi_identifiers)), COLUMNS(map_keys(prior)), count(*) AS anon_row_count
        FROM query_table(anon_helpers.as_source(source))
        GROUP BY ALL
    )
),
anon_guesses AS (
    SELECT
        anon_records.anon_record,
        anon_records.anon_row_count,
        anon_states.anon_state,
        anon_states.anon_known,
        anon_states.anon_probability,
        row(*COLUMNS(anon_helpers.listed(quasi_identifiers))) AS anon_class,
        CASE
            -- Columns are found whatever their case: the prior may spell them otherwise than the table.
            WHEN list_contains(
                list_transform(anon_states.anon_known, lambda anon_name: lower(anon_name)),
                lower(alias(COLUMNS(map_keys(prior))))
            ) THEN COLUMNS(map_keys(prior))
        END
    FROM anon_records
    CROSS JOIN anon_helpers.knowledge_states(prior) AS anon_states (anon_state, anon_known, anon_probability)
),
anon_matches AS (
    SELECT
        anon_record,
        anon_state,
        anon_known,
        anon_probability,
        sum(anon_row_count) OVER (PARTITION BY anon_state, anon_class, anon_seen) AS anon_candidates
    FROM (SELECT *, row(*COLUMNS(map_keys(prior))) AS anon_seen FROM anon_guesses)
),
anon_risks AS (
    SELECT
        anon_record,
        -- The probabilities of all states may sum to a last digit more than 1.
        least(sum(anon_probability / anon_candidates ORDER BY anon_state ASC), 1.0) AS anon_m,
        first(anon_known ORDER BY anon_candidates ASC, len(anon_known) ASC, anon_state ASC) AS anon_worst_state,
        1 / min(anon_candidates) AS anon_worst_risk
    FROM anon_matches
    GROUP BY anon_record
)
SELECT
    COLUMNS(anon_helpers.listed(quasi_identifiers)),
    COLUMNS(map_keys(prior)),
    anon_records.anon_row_count,
    anon_risks.anon_m,
    anon_risks.anon_worst_state,
    anon_risks.anon_worst_risk
FROM anon_records
INNER JOIN anon_risks ON anon_risks.anon_record = anon_records.anon_record;

-- The risk of each record class, that is of the rows that agree on the quasi-identifiers and on the secret columns of a
-- prior, MAP {'column': probability that it is known}. m is the expected success of guessing uniformly among the rows
-- that agree with what is known. Since an average hides a certain hit in an unlikely state, the worst state is shown
-- beside it: of those with the highest risk the one that takes the fewest columns, the earliest in the prior.
--
-- Returns: the quasi-identifiers, the secret columns, row_count BIGINT, m DOUBLE, worst_state VARCHAR[], the columns
-- known in it, and worst_risk DOUBLE, the risk in it. NULL is a value. At most 12 secret columns, at least one.
-- Source: Mazzone 2019, section 5.2, for an inclusion probability of 1.
-- Example:
--   FROM anon_helpers.concealing_exposure('visits', ['sex'], MAP {'diagnosis': 0.05}) ORDER BY m DESC;
CREATE OR REPLACE MACRO anon_helpers.concealing_exposure(source, quasi_identifiers, prior) AS TABLE
SELECT
    * EXCLUDE (anon_row_count, anon_m, anon_worst_state, anon_worst_risk),
    anon_row_count AS row_count,
    anon_m AS m,
    anon_worst_state AS worst_state,
    anon_worst_risk AS worst_risk
FROM anon_helpers.record_risks(source, quasi_identifiers, prior);

-- m-concealing attained: the highest risk of any row, see concealing_exposure; NULL for a table without rows. With
-- probabilities of 0 it is 1 / k of k-anonymity, and generalization never raises it. Correlated and partial leaks are
-- outside the model.
--
-- Job: privacy.
-- Returns: one row: m DOUBLE in (0, 1], inverse_m DOUBLE, which is 1 / m.
-- Source: Mazzone 2019, section 5.2, for an inclusion probability of 1.
-- Example:
--   FROM anon.m_concealing('visits', ['sex'], MAP {'diagnosis': 0.05});
CREATE OR REPLACE MACRO anon.m_concealing(source, quasi_identifiers, prior) AS TABLE
SELECT max(anon_m) AS m, 1 / max(anon_m) AS inverse_m
FROM anon_helpers.record_risks(source, quasi_identifiers, prior);
