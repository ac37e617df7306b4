-- Uniques in the population: how many people of it nobody looks like, by estimates from the class sizes of a sample.
--
-- A histogram is two lists of DOUBLE: class sizes, each once and at least 1, and how many classes have them.

-- guarded: tests/sql/76_population_uniques.test

-- The number of classes of a size, by a histogram.
--
-- Returns: DOUBLE.
-- Example:
--   SELECT anon_helpers.classes_of_size([1, 2, 6], [20, 8, 2], 2) AS pairs;
CREATE OR REPLACE MACRO anon_helpers.classes_of_size(class_sizes, class_counts, size) AS
CAST(coalesce(class_counts[list_position(class_sizes, size)], 0) AS DOUBLE);

-- The first and second derivatives of ln Γ above 0: ten steps of their recurrences, then their asymptotic series.
--
-- Returns: STRUCT(psi DOUBLE, psi_1 DOUBLE), to 14 digits.
-- Source: Abramowitz and Stegun 1964, 6.3.5, 6.3.18, 6.4.6 and 6.4.12.
-- Example:
--   SELECT anon_helpers.polygammas(1.0) AS minus_euler_and_sixth_of_pi_squared;
CREATE OR REPLACE MACRO anon_helpers.polygammas(argument) AS
{
    'psi': ln(argument + 10) - 1 / (2 * (argument + 10))
    - (1 / 12 - (1 / 120 - (1 / 252 - (1 / 240 - 1 / (132 * (argument + 10) ** 2))
    / (argument + 10) ** 2) / (argument + 10) ** 2) / (argument + 10) ** 2) / (argument + 10) ** 2
    - list_sum(list_transform(range(10), lambda anon_shift: 1 / (argument + anon_shift))),
    'psi_1': (1 + 1 / (2 * (argument + 10)) + (1 / 6 - (1 / 30 - (1 / 42 - (1 / 30 - 5 / (66 * (argument + 10) ** 2))
    / (argument + 10) ** 2) / (argument + 10) ** 2) / (argument + 10) ** 2) / (argument + 10) ** 2) / (argument + 10)
    + list_sum(list_transform(range(10), lambda anon_shift: 1 / (argument + anon_shift) ** 2))
};

-- A step of Newton from ratio and alpha to those of Pitman's model with the greatest likelihood, 0 < alpha < 1 and
-- ratio > -1, where theta is ratio * alpha. A step across a bound goes half of the way to it.
--
-- How it goes. The sums over i = 1, … number of classes - 1 of 1 / (theta + i * alpha), of its square, and of these times i,
-- are differences of polygammas, and so are those over rows. They give the slopes of the likelihood, and those of the slopes.
--
-- Returns: STRUCT(ratio DOUBLE, alpha DOUBLE, moved DOUBLE): moved is by how much the step changes them, near 0 in a solution.
-- Source: Hoshino 2001.
-- Example:
--   SELECT anon_helpers.pitman_step(2.0, 0.5, [1, 2, 6], [20, 8, 2]) AS fit;
CREATE OR REPLACE MACRO anon_helpers.pitman_step(ratio, alpha, class_sizes, class_counts) AS
list_transform(
    list_transform(
        list_transform(
            -- A list of one list, so that it is made once.
            [list_transform(
                [
                    ratio + list_sum(class_counts), ratio + 1,
                    ratio * alpha + list_dot_product(class_sizes, class_counts), ratio * alpha + 1, 1 - alpha
                ] || list_transform(class_sizes, lambda anon_size: anon_size - alpha),
                lambda anon_argument: anon_helpers.polygammas(anon_argument)
            )],
            lambda anon_at: {
                'ratio': anon_at[1].psi - anon_at[2].psi - alpha * (anon_at[3].psi - anon_at[4].psi),
                'alpha': (list_sum(class_counts) - 1) / alpha - ratio * (anon_at[3].psi - anon_at[4].psi)
                - list_dot_product(class_counts, list_transform(anon_at[6:], lambda anon_size: anon_size.psi - anon_at[5].psi)),
                'ratio_ratio': anon_at[1].psi_1 - anon_at[2].psi_1 - alpha ** 2 * (anon_at[3].psi_1 - anon_at[4].psi_1),
                'ratio_alpha': anon_at[4].psi - anon_at[3].psi - ratio * alpha * (anon_at[3].psi_1 - anon_at[4].psi_1),
                'alpha_alpha': list_dot_product(
                    class_counts, list_transform(anon_at[6:], lambda anon_size: anon_size.psi_1 - anon_at[5].psi_1)
                ) - (list_sum(class_counts) - 1) / alpha ** 2 - ratio ** 2 * (anon_at[3].psi_1 - anon_at[4].psi_1)
            }
        ),
        lambda anon_slope: {
            'ratio': (anon_slope.alpha * anon_slope.ratio_alpha - anon_slope.ratio * anon_slope.alpha_alpha)
            / (anon_slope.ratio_ratio * anon_slope.alpha_alpha - anon_slope.ratio_alpha ** 2),
            'alpha': (anon_slope.ratio * anon_slope.ratio_alpha - anon_slope.alpha * anon_slope.ratio_ratio)
            / (anon_slope.ratio_ratio * anon_slope.alpha_alpha - anon_slope.ratio_alpha ** 2)
        }
    ),
    lambda anon_change: {
        'ratio': greatest(ratio + anon_change.ratio, (ratio - 1) / 2),
        'alpha': least(greatest(alpha + anon_change.alpha, alpha / 2), (1 + alpha) / 2),
        'moved': abs(anon_change.ratio) / (1 + abs(ratio)) + abs(anon_change.alpha)
    }
)[1];

-- Ratio and alpha of Pitman's model by at most 60 steps from 2 and 1/2, see anon_helpers.pitman_step.
--
-- Returns: the struct of the last step.
-- Example:
--   SELECT anon_helpers.pitman_fit([1, 2, 6], [20, 8, 2]) AS fit;
CREATE OR REPLACE MACRO anon_helpers.pitman_fit(class_sizes, class_counts) AS
list_reduce(
    list_transform(range(60), lambda anon_step: {'ratio': 2.0::DOUBLE, 'alpha': 0.5::DOUBLE, 'moved': 1.0::DOUBLE}),
    lambda anon_fit, anon_next: CASE
        WHEN anon_fit.moved < 1e-9 THEN anon_fit
        ELSE anon_helpers.pitman_step(anon_fit.ratio, anon_fit.alpha, class_sizes, class_counts)
    END
);

-- Uniques in the population by Pitman's model: Γ(theta + 1) / Γ(theta + alpha) * population ** alpha.
--
-- Returns: DOUBLE; NULL where the likelihood has no greatest value inside of its bounds.
-- Source: Hoshino 2001.
-- Example:
--   SELECT anon_helpers.pitman_uniques([1, 2, 6], [20, 8, 2], 1000) AS uniques;
CREATE OR REPLACE MACRO anon_helpers.pitman_uniques(class_sizes, class_counts, population) AS
list_transform(
    [anon_helpers.pitman_fit(class_sizes, class_counts)],
    lambda anon_fit: CASE
        WHEN anon_fit.moved < 1e-9 AND anon_fit.ratio < 1e12 THEN exp(
            lgamma(anon_fit.ratio * anon_fit.alpha + 1) - lgamma((anon_fit.ratio + 1) * anon_fit.alpha)
            + anon_fit.alpha * ln(population)
        )
    END
)[1];

-- Uniques in the population by Zayatz: those of the sample, by the chance that one is unique in the population if classes
-- of the population are as large as those of the sample. A sample has exactly one of a class with a hypergeometric chance.
--
-- Returns: DOUBLE.
-- Source: Zayatz 1991.
-- Example:
--   SELECT anon_helpers.zayatz_uniques([1, 2, 6], [20, 8, 2], 48, 1000.0) AS uniques;
CREATE OR REPLACE MACRO anon_helpers.zayatz_uniques(class_sizes, class_counts, row_count, population) AS
anon_helpers.classes_of_size(class_sizes, class_counts, 1) ** 2 * population / row_count / list_dot_product(
    class_counts,
    list_transform(class_sizes, lambda anon_size: anon_size * coalesce(
        list_product(list_transform(
            -- The product of more is below 1e-26.
            range(1, CAST(least(anon_size, 60 * population / row_count) AS BIGINT)),
            lambda anon_other: greatest(population - row_count - anon_other + 1, 0) / (population - anon_other)
        )),
        1.0
    ))
);

-- The number of classes of the population, from those of a sample.
--
-- Returns: DOUBLE.
-- Source: Haas and Stokes 1998.
-- Example:
--   SELECT anon_helpers.estimated_class_count([1, 2, 6], [20, 8, 2], 0.1) AS classes;
CREATE OR REPLACE MACRO anon_helpers.estimated_class_count(class_sizes, class_counts, share) AS
list_sum(class_counts) + anon_helpers.classes_of_size(class_sizes, class_counts, 1) * share ** 2
* list_dot_product(class_counts, list_transform(class_sizes, lambda anon_f: anon_f * (1 - share ** 2) ** (anon_f - 1)))
/ list_dot_product(class_counts, list_transform(class_sizes, lambda anon_f: (1 - share ** 2) ** anon_f - (1 - share) ** anon_f))
* (
    list_dot_product(class_counts, list_transform(class_sizes, lambda anon_f: (1 - share) ** anon_f))
    / list_dot_product(class_counts, list_transform(class_sizes, lambda anon_f: anon_f * share * (1 - share) ** (anon_f - 1)))
) ** 2;

-- The shifted negative binomial of class sizes with these log odds that has as many pairs for each single in a sample as there
-- are: the shares of the population's classes that are uniques of it, and singles of the sample. Its shape is a root of a
-- quadratic equation.
--
-- Returns: STRUCT(uniques DOUBLE, singles DOUBLE).
-- Source: Chen and Keller-McNulty 1998, with the equation of pairs derived anew.
-- Example:
--   SELECT anon_helpers.snb_shares(-1.4, 0.1, 0.3) AS shares;
CREATE OR REPLACE MACRO anon_helpers.snb_shares(odds, share, pair_ratio) AS
list_transform(
    [{'chance': 1 / (1 + exp(-odds)), 'absent': (1 - share) / (1 + exp(odds)), 'sampled': 1 - (1 - share) / (1 + exp(odds))}],
    lambda anon_term: list_transform(
        list_transform(
            [anon_term.absent * (share / (1 - share) * (1 - anon_term.absent / 2) - pair_ratio * anon_term.sampled)],
            lambda anon_half: 2 * pair_ratio * anon_term.sampled ** 2 / (anon_half + sqrt(
                anon_half ** 2 + 2 * pair_ratio * (anon_term.sampled * anon_term.absent) ** 2 * share / (1 - share)
            ))
        ),
        lambda anon_shape: {
            'uniques': anon_term.chance ** anon_shape,
            'singles': share * (anon_term.chance / anon_term.sampled) ** anon_shape
            * (anon_shape * anon_term.absent / anon_term.sampled + 1)
        }
    )[1]
)[1];

-- Uniques in the population by the shifted negative binomial of class sizes that has as many singles and pairs in a sample
-- as there are; the log odds of its chance are halved between -20 and 20.
--
-- Returns: DOUBLE; NULL where the sample has no pair, or no distribution fits.
-- Source: see anon_helpers.snb_shares and estimated_class_count.
-- Example:
--   SELECT anon_helpers.snb_uniques([1, 2, 6], [20, 8, 2], 0.05) AS uniques;
CREATE OR REPLACE MACRO anon_helpers.snb_uniques(class_sizes, class_counts, share) AS
list_transform(
    [{
        'singles': anon_helpers.classes_of_size(class_sizes, class_counts, 1),
        'pair_ratio': anon_helpers.classes_of_size(class_sizes, class_counts, 2)
        / anon_helpers.classes_of_size(class_sizes, class_counts, 1),
        'classes': anon_helpers.estimated_class_count(class_sizes, class_counts, share)
    }],
    lambda anon_given: list_transform(
        [list_reduce(
            -- From 0 by steps of 10, 5 and so on.
            list_prepend(0.0::DOUBLE, list_transform(range(1, 60), lambda anon_step: 20 / 2.0::DOUBLE ** anon_step)),
            lambda anon_odds, anon_width: anon_odds + anon_width * sign(
                anon_given.singles - anon_given.classes * anon_helpers.snb_shares(anon_odds, share, anon_given.pair_ratio).singles
            )
        )],
        lambda anon_odds: CASE
            WHEN anon_given.pair_ratio > 0 AND abs(anon_odds) < 19.9
                THEN anon_helpers.snb_shares(anon_odds, share, anon_given.pair_ratio).uniques * anon_given.classes
        END
    )[1]
)[1];

-- Uniques in the population by the histogram of a sample's class sizes, see anon.population_uniques. What is not a finite
-- number of people, or fewer than the sample has rows, is an error, up to rounding.
--
-- How it goes. The histogram is taken apart once. A census, and a sample without uniques, have as many as the sample. Else
-- all three estimates are made, and the rule takes one of them.
--
-- Returns: STRUCT(pitman DOUBLE, zayatz DOUBLE, snb DOUBLE, estimate DOUBLE, estimator VARCHAR).
-- Source: Dankar et al. 2012, and see the three.
-- Example:
--   SELECT anon_helpers.estimated_uniques(MAP {1: 20, 2: 8, 6: 2}, 1000) AS uniques;
CREATE OR REPLACE MACRO anon_helpers.estimated_uniques(class_histogram, population) AS
list_transform(
    list_transform(
        [{
            'sizes': CAST(coalesce(map_keys(class_histogram), []) AS DOUBLE[]),
            'counts': CAST(coalesce(map_values(class_histogram), []) AS DOUBLE[]),
            'people': TRY_CAST(anon.text_of(population) AS DOUBLE)
        }],
        lambda anon_given: struct_insert(
            anon_given,
            singles := anon_helpers.classes_of_size(anon_given.sizes, anon_given.counts, 1),
            rows := list_dot_product(anon_given.sizes, anon_given.counts)
        )
    ),
    lambda anon_sample: list_transform(
        [CASE
            WHEN NOT coalesce(anon_sample.people BETWEEN 1e-300 AND 1e300, false)
                THEN error('the population is a number of people, above 0')
            WHEN anon_sample.people < anon_sample.rows * (1 - 1e-9)
                THEN error('the population has fewer people than the sample has rows')
            WHEN anon_sample.rows = 0 THEN {'pitman': NULL, 'zayatz': NULL, 'snb': NULL}
            WHEN anon_sample.singles = 0 OR anon_sample.people <= anon_sample.rows
                THEN {'pitman': anon_sample.singles, 'zayatz': anon_sample.singles, 'snb': anon_sample.singles}
            ELSE {
                'pitman': anon_helpers.pitman_uniques(anon_sample.sizes, anon_sample.counts, anon_sample.people),
                'zayatz': anon_helpers.zayatz_uniques(anon_sample.sizes, anon_sample.counts, anon_sample.rows, anon_sample.people),
                'snb': anon_helpers.snb_uniques(anon_sample.sizes, anon_sample.counts, anon_sample.rows / anon_sample.people)
            }
        END],
        lambda anon_uniques: struct_insert(
            anon_uniques,
            estimate := CASE
                WHEN 10 * anon_sample.rows <= anon_sample.people THEN anon_uniques.pitman
                ELSE least(anon_uniques.snb, anon_uniques.zayatz)
            END,
            estimator := CASE
                WHEN anon_sample.rows = 0 THEN NULL
                WHEN anon_sample.people <= anon_sample.rows THEN 'census'
                WHEN 10 * anon_sample.rows <= anon_sample.people THEN 'pitman'
                WHEN anon_uniques.snb < anon_uniques.zayatz THEN 'snb'
                ELSE 'zayatz'
            END
        )
    )[1]
)[1];

-- guarded: tests/sql/76_population_uniques.test

-- Uniques in the population as a share of it, by the rule of anon.population_uniques (an aggregate over classes).
--
-- Returns: DOUBLE; infinite without an estimate, NULL without rows.
-- Example:
--   SELECT anon_helpers.population_uniqueness_of(class_size, 1000) AS share FROM anon.class_sizes('visits', ['age', 'sex']);
CREATE OR REPLACE MACRO anon_helpers.population_uniqueness_of(class_size, population) AS
CASE WHEN count(class_size) > 0 THEN coalesce(
    anon_helpers.estimated_uniques(histogram(class_size), population).estimate / population, CAST('infinity' AS DOUBLE)
) END;

-- Uniques in the population, by classes of a sample that were counted, see anon.population_uniques.
--
-- Returns: the row of anon.population_uniques.
-- Example:
--   WITH classes AS (SELECT class_size AS anon_class_size FROM anon.class_sizes('visits', ['age', 'sex']))
--   FROM anon_helpers.uniques_of_classes('classes', 1000);
CREATE OR REPLACE MACRO anon_helpers.uniques_of_classes(classes, population) AS TABLE
SELECT
    CAST(coalesce(sum(anon_class_size), 0) AS BIGINT) AS row_count,
    count(*) AS class_count,
    count(*) FILTER (WHERE anon_class_size = 1) AS unique_rows,
    unnest(anon_helpers.estimated_uniques(histogram(anon_class_size), population))
FROM query_table(anon_helpers.as_source(classes));

-- Uniques in the population: how many of its people nobody looks like in these keys, by the class sizes of a sample and the
-- number of people. Three estimates, and one of them by a rule: up to a tenth sampled that of Pitman, else the smaller
-- of SNB and Zayatz. Where the truth was known the best was off by a factor of 0.7 to 2.8 below a tenth. A population of as
-- many people as rows is a census, which is exact.
--
-- Job: risk.
-- Returns: one row: row_count BIGINT, class_count BIGINT, unique_rows BIGINT (alone in their class), pitman DOUBLE, zayatz
-- DOUBLE, snb DOUBLE, estimate DOUBLE (by the rule), estimator VARCHAR: pitman, zayatz, snb or census. An estimate that
-- cannot be had is NULL, and so are all of a table without rows. Fewer people than rows are an error.
-- Source: Hoshino 2001 (Pitman); Zayatz 1991; Chen and Keller-McNulty 1998 (SNB); Dankar et al. 2012 (the rule).
-- Example:
--   FROM anon.population_uniques('visits', ['age', 'sex'], 1000);
CREATE OR REPLACE MACRO anon.population_uniques(source, keys, population) AS TABLE
WITH anon_classes AS (SELECT class_size AS anon_class_size FROM anon.class_sizes(source, keys))
FROM anon_helpers.uniques_of_classes('anon_classes', population);
