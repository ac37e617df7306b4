"""What can be broken: a text of the package that occurs once, what stands there instead, and the tests that notice."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One thing that is broken on purpose.

    Attributes:
        name: what it is called, in words with dashes.
        file: where, from the root of the repository.
        old: the text that is replaced, which occurs once.
        new: what stands there instead.
        breaks: what it would do to people.
        tests: the tests that fail, as pytest names them.
        equivalent: why nobody can tell the difference, if so; then no test has to fail.
    """

    name: str
    file: str
    old: str
    new: str
    breaks: str
    tests: tuple[str, ...]
    equivalent: str | None = None

    def applied(self, text: str) -> str:
        """The text of the file with the mutant in it.

        Raises:
            ValueError: it is stale: what it replaces is not there once.
        """
        count = text.count(self.old)
        if count != 1:
            raise ValueError(f"{self.name}: {self.file} has {self.old!r} {count} times, and not once")
        return text.replace(self.old, self.new)


def _of(file: str, *mutants: tuple[str, str, str, str, str | tuple[str, ...]]) -> list[Mutant]:
    """Mutants of one file: name, old, new, what breaks, and a test or several."""
    return [
        Mutant(name, file, old, new, breaks, (tests,) if isinstance(tests, str) else tests)
        for name, old, new, breaks, tests in mutants
    ]


EARLIER_RELEASES = "tests/integration/test_earlier_releases.py"
OTHER_RELEASES = "tests/integration/test_other_releases.py"
EARLIER_FACTS = f"{EARLIER_RELEASES}::TestFacts"
WITHHOLDING = f"{EARLIER_RELEASES}::TestWithholding"
JOINT_PROPERTIES = "tests/property/test_earlier_releases.py"
JOINT_VALUES = (f"{EARLIER_RELEASES}::TestValues", f"{JOINT_PROPERTIES}::test_values_of_joint_classes_meet_the_models")
CHANGED_VALUES = f"{EARLIER_RELEASES}::TestChangedValues"
VALUES_AS_ARRAYS = f"{JOINT_PROPERTIES}::test_nor_do_values_that_change"
CHANGES_AS_ARRAYS = f"{JOINT_PROPERTIES}::test_arrays_look_at_values_that_have_changed"
TIES_AS_ARRAYS = f"{JOINT_PROPERTIES}::test_of_two_smallest_classes_that_of_the_first_key_is_hidden"
LAPLACE = "tests/unit/test_discrete_laplace.py"
THRESHOLDS = f"{LAPLACE}::TestThresholds"
COSTS = f"{LAPLACE}::TestCosts"
PROBABILITIES = f"{LAPLACE}::TestProbabilities"
SAMPLED = "tests/unit/test_sampled_classes.py"
WORDS = "tests/unit/test_words.py"
CHOICES = "tests/unit/test_grouped.py"
SAMPLERS = "tests/statistical/test_samplers.py"
BUDGET = "tests/unit/test_budget.py"
PORTIONS = "tests/unit/test_portions.py"
NODES = "tests/integration/test_node_audits.py::TestExactly"
RELEASES = "tests/property/test_private_releases.py"
CEILINGS = "tests/property/test_h_ceiling.py"
IMPOSSIBLE = "tests/property/test_impossible_pairs.py"
HIDDEN = "tests/property/test_hidden_counterfeits.py"
URN = "tests/unit/h_ceiling/test_urn.py"
RELOCATIONS = "tests/integration/test_relocation.py::TestRelease"
LEDGERS = "tests/integration/test_ledger.py"
LEDGERS_IN_RHO = "tests/integration/test_ledger_in_rho.py"
CHARGED = "tests/integration/test_charged_sources.py"
RUNS = "tests/integration/test_private_runs.py"
AUDITS = "tests/integration/test_private_audits.py"
SCORES = f"{RELEASES}::TestScores"
SHOWN = f"{RELEASES}::TestReleases::test_they_show_what_the_oracle_shows"
PURE = f"{AUDITS}::test_no_violation_is_found"
CERTAIN = "tests/property/test_certain_rows.py"
MACROS = "tests/sql/test_sqllogic.py::test_file_with_macros_called"
BOUNDS = "tests/unit/test_bounds.py"
METHODS = "tests/unit/test_methods.py"
ZCDP = "tests/unit/test_zcdp.py"
MARGINALS = "tests/unit/test_synthetic_choices.py"
EXACTLY = "tests/unit/test_synthetic_exactly.py"
REFUSALS = "tests/integration/test_synthetic_refusals.py"
ERROR_BOUNDS = "tests/unit/test_synthetic_bounds.py"
SYNTHETIC_RUNS = "tests/integration/test_synthetic.py"
DRAWS = "tests/integration/test_private_draws.py"
DECLARED = "tests/integration/test_declared_sensitivities.py"

SCALES = _of(
    "sqlanon/mechanisms/scales.py",
    (
        "scale-not-rounded-up",
        "return nearest if nearest >= number else math.nextafter(nearest, math.inf)",
        "return nearest",
        "noise is drawn that costs a last digit more than was paid",
        f"{COSTS}::test_a_loss_is_exactly_no_more_than_a_float_either",
    ),
    (
        "scale-halved",
        "scale = max(SMALLEST_SCALE, _rounded_up(sensitivity / epsilon))",
        "return max(SMALLEST_SCALE, _rounded_up(sensitivity / epsilon) / 2)",
        "all noise is half as large as it must be",
        f"{COSTS}::test_a_scale_is_the_smallest_that_opendp_finds_to_cost_no_more",
    ),
    (
        "no-sensitivity-refused",
        "if sensitivity < 1:",
        "if sensitivity < 0:",
        "a sensitivity of 0 buys exact counts",
        f"{COSTS}::test_nothing_is_bought_for_what_nobody_can_change",
    ),
    (
        "difference-halved",
        "return sensitivity if monotonic else 2 * sensitivity",
        "return sensitivity",
        "a choice costs twice what was paid where one score rises and another falls",
        f"{DECLARED}::TestChoices::test_of_nodes",
    ),
    (
        "gaussian-halved",
        "scale = max(SMALLEST_SCALE, sensitivity / math.sqrt(2 * rho))",
        "return max(SMALLEST_SCALE, sensitivity / math.sqrt(2 * rho) / 2)",
        "Gaussian noise and choices cost four times what was paid",
        f"{ZCDP}::TestScales::test_the_first_round_of_the_specification",
    ),
    (
        "gaussian-scale-not-rounded-up",
        "while cost_in_rho(scale, sensitivity) * (1 + RHO_ROUNDING) > rho:",
        "while False:",
        "Gaussian noise costs a last digit more than was paid",
        f"{ZCDP}::TestScales::test_a_scale_costs_no_more_than_was_paid",
    ),
)

DISCRETE_LAPLACE = _of(
    "sqlanon/mechanisms/discrete_laplace.py",
    (
        "threshold-of-opendp",
        "is_at_most(Tail(scale, least - 1), delta / rows)",
        "is_at_most(Tail(scale, least), delta / rows)",
        "the threshold is one too low for rows alone in their combinations: δ is e^ε times as much",
        f"{THRESHOLDS}::test_it_holds_however_rows_are_spread",
    ),
    (
        "threshold-one-row-of-many",
        "is_at_most(Tail(scale, least - rows), delta)",
        "is_at_most(Tail(scale, least - 1), delta)",
        "the threshold does not reckon with all rows of one in one combination",
        f"{THRESHOLDS}::test_it_holds_however_rows_are_spread",
    ),
    (
        "threshold-no-union-bound",
        "delta / rows)",
        "delta)",
        "several combinations of one individual share no δ",
        f"{THRESHOLDS}::test_it_holds_however_rows_are_spread",
    ),
    (
        "threshold-scale-of-a-row",
        "    scale = Fraction(scale_for(epsilon, rows))\n    return _smallest(\n        rows,",
        "    scale = Fraction(scale_for(epsilon, 1))\n    return _smallest(\n        rows,",
        "the threshold is for less noise than is drawn",
        f"{THRESHOLDS}::test_it_holds_however_rows_are_spread",
    ),
    (
        "tail-one-off",
        "Tail(self.scale, 1 - self.least)",
        "Tail(self.scale, -self.least)",
        "probabilities below 0 are those of one more",
        f"{PROBABILITIES}::test_bounds_of_masses_and_tails_enclose_them",
    ),
    (
        "tail-bounds-swapped",
        "return low / (1 + high_base), high / (1 + low_base)",
        "return high / (1 + low_base), low / (1 + high_base)",
        "decisions on δ are made by bounds that do not enclose",
        f"{PROBABILITIES}::test_bounds_of_masses_and_tails_enclose_them",
    ),
    (
        "smallest-one-below",
        "(low, middle) if holds(middle)",
        "(low, middle - 1) if holds(middle)",
        "thresholds are too low",
        f"{THRESHOLDS}::test_it_is_the_smallest_one",
    ),
    (
        "pure-threshold-ignores-rows",
        "scale = Fraction(scale_for(epsilon, rows))\n    return _smallest(1,",
        "scale = Fraction(scale_for(epsilon, 1))\n    return _smallest(1,",
        "with δ = 0 a domain is drowned in rows of nobody",
        f"{THRESHOLDS}::test_of_all_empty_cells_one_is_expected",
    ),
    (
        "empty-cells-too-rare",
        "return Tail(Fraction(scale_for(epsilon, rows)), threshold)",
        "return Tail(Fraction(scale_for(epsilon, rows)), threshold + 1)",
        "combinations that nobody has are shown less often than others of no row: what is shown is likely there",
        f"{DRAWS}::TestUnseen",
    ),
    (
        "empty-cells-ignore-rows",
        "return Tail(Fraction(scale_for(epsilon, rows)), threshold)",
        "return Tail(Fraction(scale_for(epsilon, 1)), threshold)",
        "the same, for individuals with several rows",
        f"{DRAWS}::TestUnseen",
    ),
)

PROBABILITY = _of(
    "sqlanon/mechanisms/probability.py",
    (
        "exponential-from-one-side",
        "high <= limit:",
        "low <= limit:",
        "a δ that is exceeded a little passes",
        f"{PROBABILITIES}::test_a_comparison_looks_as_closely_as_it_must",
    ),
    (
        "exponential-without-neighbours",
        "least.exp(context).next_minus(context), most.exp(context).next_plus(context)",
        "most.exp(context), least.exp(context)",
        "bounds of e^-x do not enclose it",
        f"{PROBABILITIES}::test_bounds_of_the_exponential_enclose_it",
    ),
    (
        "complement-of-nothing",
        "return 1 - high, 1 - low",
        "return low, high",
        "draws of probabilities above a half are those of the opposite",
        f"{PROBABILITIES}::test_bounds_of_masses_and_tails_enclose_them",
    ),
    (
        "power-not-rounded-up",
        "power = -(-power * square >> precision)",
        "power = power * square >> precision",
        "bounds of probabilities do not enclose them",
        f"{WORDS}::TestBinomial::test_powers_are_rounded_either_way",
    ),
)

BINOMIAL = _of(
    "sqlanon/mechanisms/binomial.py",
    (
        "binomial-decides-early",
        "if found < len(low) and (found == 0 or high[found - 1] <= uniform):",
        "if found < len(low):",
        "draws are off where a word does not decide",
        f"{WORDS}::TestBinomial",
    ),
    (
        "binomial-at-a-boundary",
        "bisect_left(low, uniform + 1)",
        "bisect_left(low, uniform)",
        "draws are one too low at a boundary",
        f"{WORDS}::TestBinomial",
    ),
    (
        "binomial-loses-trials",
        "_inverted(size + 1, (runs, larger), probability, words),",
        "_inverted(size, (runs, larger), probability, words),",
        "some trials are never made, so that rows of nobody are too few",
        f"{SAMPLERS}::test_parts_of_a_binomial_have_all_trials",
    ),
)

SAMPLED_CLASSES = _of(
    "sqlanon/model/sampled_classes.py",
    (
        "sampled-choice-counted-once",
        "- 2 * epsilon_node",
        "- epsilon_node",
        "a choice on the sample tells of it more than is said",
        f"{SAMPLED}::test_chosen_on_the_sample",
    ),
    (
        "sampled-choice-of-one-node",
        "min(1.0, nodes * _largest_tail(",
        "min(1.0, _largest_tail(",
        "a node that is chosen for its count is not paid for",
        f"{SAMPLED}::test_chosen_on_the_sample",
    ),
    (
        "sampled-likely-counts",
        "return 1.0 if share <= beta else",
        "return 0.0 if share <= beta else",
        "δ is 0 where nothing is promised",
        f"{SAMPLED}::test_a_choice_that_tells_too_much",
    ),
    (
        "sampled-rest-forgotten",
        "return min(rest, _largest_tail(k, beta, share, enough=enough)) if less else rest",
        "return most",
        "δ is too small where classes are too many to be looked at",
        f"{SAMPLED}::test_tails_that_fall_too_slowly",
    ),
    (
        "sampled-share-inadmissible",
        "if _admissible(beta, epsilon) and _delta(",
        "if _delta(",
        "the sampled share is so large that a missing row tells more than ε",
        f"{SAMPLED}::test_the_largest_share",
    ),
)

UNIFORM_WORDS = _of(
    "sqlanon/mechanisms/words.py",
    (
        "thinned-one-more",
        "words(stop - start) < np.uint64(limit)",
        "words(stop - start) <= np.uint64(limit)",
        "units stay with a probability of 0",
        f"{WORDS}::TestThinned",
    ),
    (
        "sampled-one-place-off",
        'np.searchsorted(ends, _below(int(ends[-1]), size, words), side="right")',
        'np.searchsorted(ends, _below(int(ends[-1]), size, words), side="left")',
        "values are drawn that nobody has",
        f"{WORDS}::TestSampled",
    ),
    (
        "chosen-beyond-the-end",
        "drawn[drawn < np.uint64(population)]",
        "drawn[drawn <= np.uint64(population)]",
        "numbers beyond the population are chosen",
        f"{WORDS}::TestChosen",
    ),
    (
        "chosen-not-uniform",
        "np.uint64((1 << (population - 1).bit_length()) - 1)",
        "np.uint64((1 << (population - 1).bit_length() - 1) - 1)",
        "the last of the population are never chosen",
        f"{WORDS}::TestChosen",
    ),
    (
        "below-each-too-large",
        "np.flatnonzero(found >= limits)",
        "np.flatnonzero(found > limits)",
        "candidates beyond the end of their group are chosen",
        f"{CHOICES}::TestCandidates",
    ),
    (
        "chosen-too-few",
        "    while len(found) < count:\n",
        "    if len(found) < count:\n",
        "fewer combinations of nobody are shown than were drawn",
        f"{WORDS}::TestChosen",
    ),
)

GROUPED = _of(
    "sqlanon/mechanisms/grouped.py",
    (
        "grouped-without-slack",
        "return ends, (int(ends[-1]) >> 43) + 3 * len(ends)",
        "return ends, 0",
        "floats decide draws that they are not precise enough for, which can leak",
        f"{CHOICES}::TestGroups",
    ),
    (
        "grouped-decides-early",
        "if found == 0 or highs[found - 1] << bits <= uniform * lows[-1]:",
        "if True:",
        "draws are off where a word does not decide",
        f"{CHOICES}::TestGroups::test_boundaries_are_met_to_the_last_bit",
    ),
    (
        "grouped-at-a-boundary",
        "above = (uniform + 1) * highs[-1]",
        "above = uniform * highs[-1]",
        "draws are one group too low at a boundary",
        f"{CHOICES}::TestGroups",
    ),
    (
        "grouped-floor-for-ceiling",
        "-int(-high * 2**precision // 1)",
        "int(low * 2**precision)",
        "bounds of weights do not enclose them, so that draws are off where a word does not decide",
        f"{CHOICES}::TestGroups::test_ends_are_between_their_bounds",
    ),
    (
        "grouped-best-score-of-nobody",
        "weights = Weights.of(scores[inhabited], counts[inhabited], Fraction(scale))",
        "weights = Weights(counts[inhabited], (scores.max() - scores[inhabited]).astype(np.uint64), Fraction(scale))",
        "weights are those of a score that no candidate has, and all may be 0",
        f"{CHOICES}::TestExtremes::test_groups_of_no_candidates_are_never_chosen",
    ),
    (
        "grouped-counts-ignored",
        "weights = self.counts * powers",
        "weights = powers",
        "large groups are as likely as small ones, so that what is chosen depends on how rows are grouped",
        f"{CHOICES}::TestGroups",
    ),
    (
        "grouped-first-candidates",
        "below_each(counts[groups], words)",
        "below_each(np.ones_like(groups), words)",
        "candidates at the start of a group are chosen, which are values of somebody",
        f"{CHOICES}::TestCandidates",
    ),
)

SOURCES = [
    *_of(
        "sqlanon/mechanisms/sources.py",
        (
            "grouped-at-half-the-scale",
            "return grouped.grouped_choice(scores, counts, scale, runs",
            "return grouped.grouped_choice(scores, counts, scale / 2, runs",
            "a group is chosen at twice the ε, or not at all",
            f"{SAMPLERS}::test_grouped_exponential_mechanism",
        ),
        (
            "grouped-unchecked",
            "        require_covered(charge, change / Fraction(scale))\n        return grouped",
            "        return grouped",
            "what a choice costs is not held against what was paid",
            f"{CHOICES}::TestCosts::test_what_was_not_paid_is_not_drawn",
        ),
        (
            "tail-never-zero",
            "drawn[drawn >= 0]",
            "drawn[drawn > 0]",
            "combinations of nobody are told by their counts, which are larger",
            f"{SAMPLERS}::test_discrete_laplace_tail",
        ),
    ),
    *_of(
        "sqlanon/mechanisms/sources.py",
        (
            "seeded-noise-of-one-sign",
            "noise: Integers = self._generator.geometric(end, size) - self._generator.geometric(end, size)",
            "noise: Integers = self._generator.geometric(end, size) - 1",
            "audits see another noise than is published",
            f"{SAMPLERS}::test_discrete_laplace",
        ),
        (
            "seeded-choice-at-half-the-scale",
            "(scores - np.max(scores)) / scale",
            "(scores - np.max(scores)) / scale * 2",
            "audits see another choice than is published",
            f"{SAMPLERS}::test_exponential_mechanism",
        ),
    ),
    *_of(
        "sqlanon/mechanisms/opendp.py",
        (
            "opendp-noise-unchecked",
            "        require_covered(charge, mechanism.map(sensitivity))\n        return _noise",
            "        return _noise",
            "what OpenDP says that noise costs is not held against what was paid",
            f"{COSTS}::test_a_draw_that_costs_more_than_was_paid_is_refused",
        ),
        (
            "opendp-choice-unchecked",
            "        require_covered(charge, mechanism.map(sensitivity))\n        return _choices",
            "        return _choices",
            "what OpenDP says that a choice costs is not held against what was paid",
            f"{COSTS}::test_a_draw_that_costs_more_than_was_paid_is_refused",
        ),
        (
            "opendp-choice-at-half-the-scale",
            "scale = scale_for(charge.budget.epsilon, difference_sensitivity(sensitivity, monotonic=monotonic))",
            "scale = scale_for(charge.budget.epsilon, sensitivity)",
            "a node is chosen at twice the ε",
            f"{SAMPLERS}::test_exponential_mechanism",
        ),
        (
            "opendp-noise-of-a-row",
            "mechanism = _laplace(scale_for(charge.budget.epsilon, sensitivity))",
            "mechanism = _laplace(scale_for(charge.budget.epsilon, 1))",
            "noise is for one row of an individual",
            f"{SAMPLERS}::test_discrete_laplace",
        ),
    ),
    *_of(
        "sqlanon/mechanisms/sources.py",
        (
            "words-of-no-chance",
            "os.urandom(8 * count)",
            "bytes(8 * count)",
            "all that is drawn from words is known beforehand",
            f"{SAMPLERS}::test_seed",
        ),
    ),
]

SYNTHETIC = [
    *_of(
        "sqlanon/methods/synthetic/fitting.py",
        (
            "synthetic-scores-wrap-around",
            "return min(max(1.0, mean), float(MAX_MODEL_ROWS))",
            "return max(1.0, mean)",
            "a score beyond 64 bits changes by more than it is drawn for",
            f"{REFUSALS}::TestScores::test_no_score_wraps_around",
        ),
    ),
    *_of(
        "sqlanon/methods/synthetic/measuring.py",
        (
            "synthetic-many-rows",
            "    checks.refuse_many_rows(bound, problem)\n",
            "",
            "a score beyond 64 bits changes by more than it is drawn for",
            f"{REFUSALS}::TestScores::test_more_rows_than_can_be_scored",
        ),
        (
            "synthetic-small-budgets",
            "    checks.refuse_small_budgets(settings, sizes, weights, rounds, len(workload))\n",
            "",
            "a run fails after it has paid",
            f"{REFUSALS}::TestBudgets::test_small_ones",
        ),
    ),
    *_of(
        "sqlanon/methods/synthetic/bounds.py",
        (
            "bounds-one-by-one",
            "squared = math.log(number * (number + 1) / ERROR)",
            "squared = math.log(1 / ERROR)",
            "one bound of a report in 20 is wrong, and not one report in 20",
            f"{ERROR_BOUNDS}::TestLargestNoise",
        ),
        (
            "bounds-of-one-sum-of-signs",
            "math.sqrt(2 * cells * (cells * math.log(2) + squared))",
            "math.sqrt(2 * cells * squared)",
            "bounds are those of a sum of counts, not of the sum of their sizes",
            f"{ERROR_BOUNDS}::TestLargestNoise",
        ),
    ),
    *_of(
        "sqlanon/methods/synthetic/choosing.py",
        (
            "synthetic-noise-halved",
            "return counts + noise.reshape(counts.shape)",
            "return counts + noise.reshape(counts.shape) // 2",
            "the noise of marginals is half as large as what was paid for it buys",
            f"{MARGINALS}::TestScores::test_noise_is_as_large_as_it_is_said_to_be",
        ),
        (
            "synthetic-noise-of-a-row",
            "noise = self._source.discrete_gaussian(counts.size, charge, sensitivity=self._problem.sensitivity)",
            "noise = self._source.discrete_gaussian(counts.size, charge, sensitivity=1)",
            "marginals have noise for one row of an individual",
            f"{MARGINALS}::TestScores::test_noise_is_for_the_rows_of_one",
        ),
        (
            "synthetic-choice-of-a-row",
            "sensitivity = GRID * problem.sensitivity * max(problem.weights[each] for each in allowed)",
            "sensitivity = GRID * max(problem.weights[each] for each in allowed)",
            "choices are drawn for one row of an individual",
            f"{MARGINALS}::TestScores::test_no_score_changes_by_more_than_is_drawn_for",
        ),
        (
            "synthetic-choice-without-weights",
            "sensitivity = GRID * problem.sensitivity * max(problem.weights[each] for each in allowed)",
            "sensitivity = GRID * problem.sensitivity",
            "choices are drawn for scores without weights",
            f"{MARGINALS}::TestScores::test_no_score_changes_by_more_than_is_drawn_for",
        ),
        (
            "synthetic-noise-paid-once",
            'charge = self._portions.take("measure", self._for_noise)\n        self._left -= charge.rho',
            'charge = self._portions.take("measure", self._for_noise)\n        self._left -= charge.rho / 2',
            "more is drawn than was paid, or a run ends with an error after its charge",
            f"{MARGINALS}::TestRounds::test_all_is_spent_and_nothing_more",
        ),
        (
            "synthetic-scores-count-twice",
            "scores = np.array([self._score(model, each) for each in allowed], dtype=np.int64)",
            "scores = 2 * np.array([self._score(model, each) for each in allowed], dtype=np.int64)",
            "choices cost four times what is paid for them",
            f"{EXACTLY}::test_no_draw_loses_more_than_its_portion",
        ),
        (
            "synthetic-error-of-one-set",
            "sensitivity = GRID * problem.sensitivity * len(workload)",
            "sensitivity = GRID * problem.sensitivity",
            "the error of a workload has the noise of one marginal",
            f"{MARGINALS}::TestErrors::test_it_is_the_mean_distance_of_the_workload",
        ),
        (
            "synthetic-scores-in-floats",
            "return int(np.abs(GRID * counts - np.rint(GRID * estimate).astype(np.int64)).sum())",
            "return float(np.abs(GRID * counts - GRID * estimate).sum())",
            "scores are sums of floats, which a row changes by more than their sensitivity in the last bit",
            f"{MARGINALS}::TestScores::test_a_distance_is_a_whole_number",
        ),
    ),
    *_of(
        "sqlanon/methods/synthetic/method.py",
        (
            "synthetic-true-row-count",
            "count = self.settings.rows or round(model.total)",
            "count = self.settings.rows or int(self.counted.problem.counts[(0,)].sum())",
            "a release has as many rows as the table, exactly",
            f"{SYNTHETIC_RUNS}::TestCharges::test_side_outputs_do_not_depend_on_a_row",
        ),
    ),
    *_of(
        "sqlanon/mechanisms/opendp.py",
        (
            "gumbel-by-permute-and-flip",
            "return cast(Mechanism, make_noisy_max(*space, zero_concentrated_divergence(), scale))",
            "return _noisy_max(scale, False)",
            "choices in ρ are made by permute-and-flip, which has no bounded range",
            f"{SAMPLERS}::test_gumbel_choice",
        ),
        (
            "opendp-gaussian-unchecked",
            "require_rho(charge, mechanism.map(sensitivity))\n        return _noise",
            "return _noise",
            "what OpenDP says that Gaussian noise costs is not held against what was paid",
            f"{ZCDP}::TestScales::test_what_opendp_says_is_held_against_the_charge",
        ),
    ),
]

ACCOUNTANT = _of(
    "sqlanon/mechanisms/accountant.py",
    (
        "uncovered-draw",
        "Fraction(loss) > charge.budget.epsilon",
        "Fraction(loss) > 2 * charge.budget.epsilon",
        "a draw costs up to twice what was paid for it",
        f"{COSTS}::test_a_draw_that_costs_more_than_was_paid_is_refused",
    ),
    (
        "uncovered-gaussian",
        "Fraction(cost) > charge.rho",
        "Fraction(cost) > 2 * charge.rho",
        "a draw costs up to twice the ρ that was paid for it",
        f"{ZCDP}::TestScales::test_a_draw_that_costs_more_is_refused",
    ),
    (
        "portions-of-rho-beyond-the-whole",
        "if not 0 <= rho <= self.left:",
        "if not 0 <= rho <= self.rho:",
        "portions of ρ come to more than was paid",
        f"{ZCDP}::TestPortions::test_they_add_up_to_the_whole_exactly",
    ),
    (
        "nothing-committed",
        "positions = [None] * len(expenses) if self._ledger is None else self._ledger.commit(expenses)",
        "positions = [None] * len(expenses)",
        "releases are drawn and not charged",
        f"{RUNS}::TestCharges::test_a_release_is_charged_step_by_step",
    ),
    (
        "rho-not-noted",
        "self._unit, rho=rho, **self._reads",
        "self._unit, **self._reads",
        "the ledger does not know the ρ of a charge",
        f"{LEDGERS_IN_RHO}::TestSums::test_runs_of_one_budget",
    ),
    (
        "charged-to-another",
        "self._dataset, self._method, purpose",
        "self._method, self._method, purpose",
        "what is spent of one data set is charged to another",
        f"{RUNS}::TestCharges::test_a_release_is_charged_step_by_step",
    ),
    (
        "portions-never-used-up",
        "self.left -= budget.epsilon",
        "self.left -= 0",
        "a run draws as often as it likes for what was paid once",
        f"{PORTIONS}::TestPortions",
    ),
    (
        "portions-beyond-the-whole",
        "if budget.epsilon > self.left:",
        "if budget.epsilon > self.whole.epsilon:",
        "portions add up to more than was paid",
        f"{PORTIONS}::TestPortions",
    ),
    (
        "portions-with-delta",
        "        if budget.delta:\n",
        "        if not budget:\n",
        "δ is paid that no portion has, so that nobody knows what it was for",
        f"{LEDGERS}::TestBudgets::test_portions_are_paid_as_a_whole_before_any_is_taken",
    ),
    (
        "not-told-what-was-spent",
        "self.paid += [] if self._ledger is None else budgets.values()",
        "self.paid += []",
        "a run that fails does not say that it spent",
        f"{RUNS}::TestAccounts::test_a_failure_tells_what_was_spent",
    ),
)

BUDGETS = [
    *_of(
        "sqlanon/model/budget.py",
        (
            "sum-forgets-delta",
            "return Budget(self.epsilon + other.epsilon, self.delta + other.delta)",
            "return Budget(self.epsilon + other.epsilon, max(self.delta, other.delta))",
            "δ of several releases does not add up",
            BUDGET,
        ),
        (
            "covers-by-epsilon-alone",
            "return other.epsilon <= self.epsilon and other.delta <= self.delta",
            "return other.epsilon <= self.epsilon",
            "more δ is asked for than there is",
            BUDGET,
        ),
        (
            "floats-taken",
            'raise PydanticCustomError("inexact",',
            "value = Fraction(value); (",
            "budgets are not the numbers that were written",
            BUDGET,
        ),
        (
            "negative-budgets",
            "if number < 0:",
            "if number < -1:",
            "a negative charge gives back what was spent",
            BUDGET,
        ),
        (
            "delta-of-one",
            "if delta >= 1:",
            "if delta > 1:",
            "a budget of δ = 1 promises nothing",
            BUDGET,
        ),
    ),
    *_of(
        "sqlanon/model/methods/noisy.py",
        (
            "delta-twice",
            "deltas = {CELLS: delta / 2, ROLLED_UP: delta / 2}",
            "deltas = {CELLS: delta, ROLLED_UP: delta}",
            "steps together cost twice the δ that is promised",
            f"{METHODS}::TestSplits",
        ),
        (
            "epsilon-for-every-step",
            "Budget(epsilon * share, deltas.get(step, 0))",
            "Budget(epsilon, deltas.get(step, 0))",
            "every step costs all of ε",
            f"{METHODS}::TestSplits",
        ),
        (
            "default-split-above-one",
            "CELLS: Fraction(6, 10)",
            "CELLS: Fraction(7, 10)",
            "steps together cost more than is promised",
            f"{METHODS}::TestSplits",
        ),
        (
            "split-above-one",
            "or sum(self.split.values()) != 1",
            "or sum(self.split.values()) < 1",
            "a split of one's own costs more than is promised",
            f"{METHODS}::TestSplits",
        ),
        (
            "public-node-split-above-one",
            "{CELLS: Fraction(2, 3), ROLLED_UP: Fraction(1, 3)}",
            "{CELLS: Fraction(2, 3), ROLLED_UP: Fraction(2, 3)}",
            "steps at a public node cost more than is promised",
            f"{METHODS}::TestSplits",
        ),
        (
            "node-for-nothing",
            "return self.node is None",
            "return False",
            "no node is chosen, and the least general one taken",
            f"{NODES}::test_a_choice_loses_what_is_claimed_and_no_less",
        ),
    ),
]

PRIVATE = _of(
    "sqlanon/methods/noisy_node/ipa.py",
    (
        "node-sensitivity-halved",
        "sensitivity = WHOLE * draws.method.rows_per_individual",
        "sensitivity = WHOLE * draws.method.rows_per_individual // 2",
        "the choice of a node costs twice the ε that is claimed",
        f"{NODES}::test_a_choice_loses_what_is_claimed_and_no_less",
    ),
    (
        "node-sensitivity-of-a-row",
        "sensitivity = WHOLE * draws.method.rows_per_individual",
        "sensitivity = WHOLE",
        "the choice of a node costs as often its ε as an individual has rows",
        f"{NODES}::test_a_choice_loses_what_is_claimed_and_no_less",
    ),
    (
        "node-sensitivity-in-rows",
        "sensitivity = WHOLE * draws.method.rows_per_individual",
        "sensitivity = draws.method.rows_per_individual",
        "the choice of a node is as good as not private",
        f"{NODES}::test_a_choice_loses_what_is_claimed_and_no_less",
    ),
    (
        "node-charged-as-cells",
        "charge = draws.charges[NODE]",
        "charge = draws.charges[CELLS]",
        "a node is chosen at an ε that was paid for something else",
        f"{NODES}::test_a_choice_loses_what_is_claimed_and_no_less",
    ),
    (
        "noise-charged-as-cells",
        "noise = draws.noise(ROLLED_UP, count)",
        "noise = draws.noise(CELLS, count)",
        "what is left over is drawn at an ε that was paid for something else",
        f"{DRAWS}::TestUnseen",
    ),
    (
        "threshold-for-a-row",
        "else threshold(budget.epsilon, budget.delta, rows=rows)",
        "else threshold(budget.epsilon, budget.delta)",
        "combinations of one individual show up more often than δ allows",
        f"{METHODS}::TestThresholds",
    ),
    (
        "threshold-at-all-of-epsilon",
        "else threshold(budget.epsilon, budget.delta, rows=rows)",
        "else threshold(method.budget.epsilon, budget.delta, rows=rows)",
        "the threshold is for less noise than is drawn",
        f"{METHODS}::TestThresholds",
    ),
    (
        "threshold-of-users",
        "CELLS: max(found[CELLS], method.minimum_count)}",
        "CELLS: min(found[CELLS], method.minimum_count)}",
        "a small minimum_count takes the threshold of privacy away",
        f"{METHODS}::TestThresholds",
    ),
    (
        "unseen-too-few",
        "least[CELLS], domain.size - count, runs)",
        "least[CELLS], count, runs)",
        "not all combinations that nobody has can be drawn",
        f"{DRAWS}::TestUnseen",
    ),
    (
        "left-over-of-those-that-are-there",
        "runs if draws.method.needs_value_domain else 0)",
        "0)",
        "with δ = 0 a value that is left over is of somebody for sure",
        f"{DRAWS}::TestUnseen",
    ),
    (
        "reach-of-a-row",
        "scores(engine, table, least, reach(charge, sensitivity, lattice.size))",
        "scores(engine, table, least, reach(charge, WHOLE // 2, lattice.size))",
        "nodes that are far from the best are drawn more often than is said",
        "tests/unit/test_reach.py",
    ),
)

COUNTS = [
    *_of(
        "sqlanon/methods/shared/private/chance.py",
        (
            "unseen-noise-of-a-row",
            "sum(map(len, ranks)), charge, sensitivity=rows)",
            "sum(map(len, ranks)), charge, sensitivity=1)",
            "combinations of nobody are told by their counts, which are smaller",
            f"{DRAWS}::TestUnseen",
        ),
        (
            "unseen-of-a-row",
            "empty_cell_probability(threshold, charge.budget.epsilon, rows=rows)",
            "empty_cell_probability(threshold, charge.budget.epsilon)",
            "combinations of nobody are shown less often than their noise would show them",
            f"{DRAWS}::TestUnseen",
        ),
        (
            "unseen-above-the-threshold",
            "NOISY: threshold + above,",
            "NOISY: threshold + 1 + above,",
            "a count at the threshold is of somebody for sure",
            f"{DRAWS}::TestUnseen",
        ),
    ),
    *_of(
        "sqlanon/queries/noise/scores.py",
        (
            "scores-at-another-threshold",
            "reached = exp.GTE(this=exp.Sum(this=column(ROW_COUNT)), expression=number(threshold))",
            "reached = exp.GT(this=exp.Sum(this=column(ROW_COUNT)), expression=number(threshold))",
            "a row changes a score by more than one: the proof of the choice has a hole",
            f"{SCORES}::test_they_are_those_of_the_oracle",
        ),
        (
            "level-losses-of-all-labels",
            "in_units(c.anon_ncp, WHOLE / len(encoding.spec.shapes))",
            "in_units(c.anon_ncp, WHOLE)",
            "bounds leave nodes out that are near the best, which scores depend on then",
            f"{SCORES}::test_what_labels_lose_is_the_sum_over_levels",
        ),
    ),
    *_of(
        "sql/noise.sql",
        (
            "below-the-threshold-shown",
            "anon_noisy_rows >= :threshold AS",
            "anon_noisy_rows >= :threshold - 1 AS",
            "combinations with one row less than δ allows are shown",
            SHOWN,
        ),
        (
            "true-rows-shown",
            "anon_row_count + anon_noise AS",
            "anon_row_count AS",
            "counts are published as they are",
            SHOWN,
        ),
        (
            "left-over-of-what-is-shown",
            "WHERE NOT anon_is_shown",
            "WHERE anon_is_shown",
            "rows that are shown are counted again, and cost again",
            SHOWN,
        ),
        (
            "unseen-are-seen",
            "anon_drawn.anon_rank >= anon_seen.anon_gap",
            "anon_drawn.anon_rank > anon_seen.anon_gap",
            "a combination of somebody is drawn as one of nobody, and shown twice",
            f"{DRAWS}::TestUnseen",
        ),
    ),
    *_of(
        "sqlanon/queries/noise/combinations.py",
        (
            "hidden-rows-shown",
            '    return query.where(column(IS_SHOWN, "anon_cells"), copy=False)\n',
            "    return query\n",
            "combinations of few are published",
            SHOWN,
        ),
    ),
    *_of(
        "sql/macros/90_private.sql",
        (
            "unsure-rows-that-jump",
            "greatest(0, 2 * (CAST(threshold AS BIGINT) - 1) - row_count)",
            "greatest(0, (CAST(threshold AS BIGINT) - 1) * 2 - 2 * row_count)",
            "a row changes a score by two",
            f"{MACROS}[90_private]",
        ),
        (
            "unsure-rows-cut-off",
            "least(row_count, greatest(0, 2 * (CAST(threshold AS BIGINT) - 1) - row_count));",
            "if(row_count < threshold, row_count, 0);",
            "a row that reaches the threshold changes a score by all of its combination",
            f"{MACROS}[90_private]",
        ),
        (
            "score-of-labels-twice",
            "-sum(loss * row_count + (whole - loss) *",
            "-sum(loss * row_count + whole *",
            "a row changes a score by two",
            f"{MACROS}[90_private]",
        ),
    ),
    *_of(
        "sqlanon/methods/noisy_node/shared.py",
        (
            "scores-not-raised",
            "np.minimum(self._known - self._least, self._reach))",
            "self._known - self._least)",
            "scores depend on which nodes were counted, which depends on the data",
            f"{SCORES}::test_what_is_just_within_reach_is_told_apart",
        ),
        (
            "bounds-too-high",
            "bounds = self._lost + self._at_risk * self._spared",
            "bounds = self._lost + self._at_risk * self._spared * 2",
            "nodes near the best are taken for far, depending on the data",
            f"{SCORES}::test_what_is_just_within_reach_is_told_apart",
        ),
    ),
    *_of(
        "sqlanon/queries/noise/combinations.py",
        (
            "domain-without-values",
            "return prod(self.labels) * self.values",
            "return prod(self.labels)",
            "combinations of nobody are drawn from a part of the domain",
            f"{DRAWS}::TestUnseen",
        ),
    ),
]

CONTRIBUTIONS = [
    *_of(
        "sqlanon/queries/cells/contributions.py",
        (
            "one-row-more",
            "exp.LTE(this=column(PLACE), expression=number(most))",
            "exp.LTE(this=column(PLACE), expression=number(most + 1))",
            "an individual has a row more than noise is drawn for",
            f"{RUNS}::TestIndividuals::test_no_more_rows_of_one_are_counted_than_is_allowed",
        ),
        (
            "rows-not-drawn-by-the-seed",
            'f.concat(string(f"{seed} "), *parts)',
            'f.concat(string(" "), *parts)',
            "which rows of an individual are counted is the same in every release",
            f"{DRAWS}::test_rows_of_an_individual_are_chosen_by_the_seed",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/private/chance.py",
        (
            "rows-of-nobody",
            "    if anonymous:\n",
            "    if False:\n",
            "rows without an individual are taken for those of one, or bounded by nobody",
            f"{RUNS}::TestIndividuals::test_rows_of_nobody_are_refused",
        ),
        (
            "rows-not-bounded",
            "most = private_method(bound.policy).rows_per_individual\n",
            "most = private_method(bound.policy).rows_per_individual + 1\n",
            "an individual has more rows than noise is drawn for",
            f"{RUNS}::TestIndividuals::test_no_more_rows_of_one_are_counted_than_is_allowed",
        ),
        (
            "observed-taxonomies",
            'if domain == "observed"]\n    wanted',
            'if domain == "noticed"]\n    wanted',
            "values that were read off the data are published as they are",
            f"{RUNS}::TestRefusals::test_domains_that_were_read_off_the_data",
        ),
    ),
    *_of(
        "sqlanon/methods/noisy_node/shared.py",
        (
            "noise-of-a-row",
            "self.charges[step], sensitivity=self.method.rows_per_individual)",
            "self.charges[step], sensitivity=1)",
            "noise is for one row of an individual",
            f"{RUNS}::TestIndividuals::test_no_more_rows_of_one_are_counted_than_is_allowed",
        ),
    ),
    *_of(
        "sqlanon/methods/noisy_node/ipa.py",
        (
            "too-many-rows-for-scores",
            "row_count > MAX_ROWS",
            "row_count > MAX_ROWS << 32",
            "scores of very large tables overflow, and their sensitivity with them",
            f"{RUNS}::TestAccounts::test_too_many_rows_for_exact_scores_are_refused_before_anything_is_charged",
        ),
    ),
]

RUN = [
    *_of(
        "sqlanon/model/policy/policy.py",
        (
            "unchecked-policy",
            "return Policy.model_validate(given)",
            "return given",
            "a policy that was copied with changes spends what its checks would refuse",
            f"{RUNS}::TestAccounts::test_what_is_promised_is_what_was_paid",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/private/run.py",
        (
            "written-unchecked",
            "    if problems:\n",
            "    if False:\n",
            "a release that is not what was drawn is published",
            f"{DRAWS}::test_a_release_that_is_not_what_was_drawn_is_withdrawn",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/private/chance.py",
        (
            "any-source-trusted",
            "type(chosen) is OpenDPSource",
            "isinstance(chosen, OpenDPSource)",
            "a source with noise of its own is taken for private",
            f"{RUNS}::TestAccounts::test_only_opendp_itself_is_trusted",
        ),
        (
            "everything-private",
            "is_private = type(chosen) is OpenDPSource",
            "is_private = True",
            "a seeded release is called private",
            f"{RUNS}::TestCharges::test_a_seeded_release_costs_nothing_and_says_what_it_is",
        ),
    ),
    *_of(
        "sqlanon/model/methods/noisy.py",
        (
            "diagnostics-promised",
            "        if self.reveal_diagnostics:\n",
            "        if False:\n",
            "a release with measures of the true data claims to be private",
            f"{METHODS}::test_what_takes_a_promise_away",
        ),
    ),
]

SPECIALIZED = "tests/integration/test_diffgen.py"
NAIVELY = "tests/property/test_diffgen.py"

EPSILON_SAFE = [
    *_of(
        "sqlanon/methods/noisy_node/epsilon_safe.py",
        (
            "sampled-node-sensitivity",
            "sensitivity = weight * WHOLE",
            "sensitivity = WHOLE",
            "the choice of a node costs more than is claimed where suppressed rows weigh more",
            "tests/integration/test_epsilon_safe_audits.py::TestChoice",
        ),
        (
            "sampled-one-row-fewer",
            "engine.run(private.noisy_combinations(k))",
            "engine.run(private.noisy_combinations(k - 1))",
            "classes are shown with one row fewer than δ is paid for",
            "tests/integration/test_epsilon_safe.py::TestReleases",
        ),
        (
            "sampled-not",
            "kept = draws.source.thinned(sizes, sampling.beta)",
            "kept = sizes",
            "all rows of a class are shown, so that one more is seen",
            "tests/property/test_epsilon_safe.py",
        ),
        (
            "sampled-of-the-table",
            "found = (choose or chosen_nodes)(engine, sample.table(engine, table), draws, k, times)",
            "found = (choose or chosen_nodes)(engine, table, draws, k, times)",
            "a node depends on rows that are not in the sample, for which δ is not computed",
            f"{DECLARED}::TestScores::test_of_nodes_that_are_chosen_on_the_sample",
        ),
    ),
    *_of(
        "sql/epsilon_safe.sql",
        (
            "sampled-not-of-k",
            "WHERE anon_row_count >= :k",
            "WHERE anon_row_count > :k",
            "that k rows of a class are shown says that it has one more: the tight δ does not hold",
            f"{DECLARED}::TestSampledClasses::test_classes_of_k_rows_are_sampled",
        ),
    ),
    *_of(
        "sqlanon/methods/noisy_node/epsilon_safe.py",
        (
            "sampled-rows-overflow",
            "return MAX_ROWS // weight",
            "return MAX_ROWS",
            "scores of very large tables overflow, and their sensitivity with them",
            "tests/integration/test_epsilon_safe.py::TestRefusals",
        ),
    ),
    *_of(
        "sqlanon/model/methods/epsilon_safe.py",
        (
            "sampled-missing-row",
            "<= 1 - beta",
            "<= 1",
            "that a row is missing tells more than ε says",
            "tests/integration/test_epsilon_safe.py::TestSettings",
        ),
        (
            "sampled-delta-rounded-down",
            "rounding=ROUND_CEILING",
            'rounding="ROUND_FLOOR"',
            "less δ is claimed than is spent",
            "tests/integration/test_epsilon_safe.py::TestSettings",
        ),
    ),
    *_of(
        "sqlanon/methods/noisy_node/epsilon_safe.py",
        (
            "sampled-node-for-less",
            "> sampling.delta:",
            "> 1:",
            "a node that is drawn on the sample costs more than is claimed",
            "tests/integration/test_epsilon_safe.py::TestRefusals",
        ),
    ),
]

DIFFGEN = [
    *_of(
        "sqlanon/methods/cuts/diffgen/draws.py",
        (
            "diffgen-rows-of-one",
            "return settings.rows_per_individual * (1 if",
            "return 1 * (1 if",
            "scores change by more than choices are drawn for",
            f"{SPECIALIZED}::test_no_more_rows_of_an_individual_are_counted_than_is_allowed",
        ),
        (
            "diffgen-bits",
            "else WHOLE + 2)",
            "else WHOLE // 16)",
            "information changes by more than choices are drawn for",
            f"{DECLARED}::TestChoices::test_of_labels",
        ),
        (
            "diffgen-unrounded",
            "else WHOLE + 2)",
            "else WHOLE)",
            "what floating point and rounding add to a score is not paid for",
            f"{DECLARED}::TestChoices::test_information_is_rounded",
        ),
        (
            "diffgen-information-monotonic",
            'return settings.utility == "max"',
            "return True",
            "a choice costs nearly twice what was paid where information of one label rises and that of another falls",
            f"{DECLARED}::TestChoices::test_of_labels_that_hold_different_rows",
        ),
    ),
    *_of(
        "sqlanon/methods/cuts/diffgen/draws.py",
        (
            "diffgen-nobody",
            "rows, least, size - count, runs)",
            "rows, least, 0, runs)",
            "whoever looks knows that somebody has what is shown",
            f"{SPECIALIZED}::test_combinations_that_nobody_has_are_shown",
        ),
    ),
    *_of(
        "sql/diffgen.sql",
        (
            "diffgen-threshold",
            "anon_noisy_rows >= :threshold",
            "anon_noisy_rows > :threshold",
            "counts are left out that reach the threshold",
            f"{NAIVELY}::test_without_noise_it_is_the_naive_algorithm",
        ),
    ),
    *_of(
        "sqlanon/methods/cuts/diffgen/specialize.py",
        (
            "diffgen-splits-in-vain",
            "_split(cut, evidence, draws) if rounds_left else cut",
            "_split(cut, evidence, draws)",
            "splits are paid for that nobody asks for",
            f"{SPECIALIZED}::test_no_split_is_paid_for_that_is_not_asked_for",
        ),
        (
            "diffgen-first-splits-in-parallel",
            "for side_by_side in by_number.values():",
            "for side_by_side in [sum(by_number.values(), [])]:",
            "the first splits of all numbers, which look at the same rows, are paid for as one",
            "tests/unit/test_diffgen_losses.py::test_first_splits_of_several_numbers_are_paid_for_one_by_one",
        ),
    ),
    *_of(
        "sqlanon/methods/cuts/diffgen/queries.py",
        (
            "diffgen-rows-in-no-order",
            '    query.set("order", ascending(column(INDEX, "anon_shown")))\n',
            "",
            "the place of a row says whether somebody has its combination",
            f"{SPECIALIZED}::test_the_order_of_rows_tells_nothing",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/private/run.py",
        (
            "diffgen-of-any-query",
            "self.theorem, self.chance, self.conditions",
            'self.theorem, type(self.chance)(**{**vars(self.chance), "is_query": False}), self.conditions',
            "a release of a query promises what depends on what the query does",
            f"{DECLARED}::TestUnits::test_of_a_query_nobody_knows_what_its_rows_stand_for",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/private/chance.py",
        (
            "diffgen-unit-of-a-row",
            "if policy.individual is None:\n        return ROW",
            'if policy.individual is None or policy.method.name == "diffgen":\n        return ROW',
            "what was spent per individual is added to what was spent per row",
            f"{DECLARED}::TestUnits::test_of_a_release",
        ),
    ),
    *_of(
        "sqlanon/model/methods/cuts.py",
        (
            "diffgen-step",
            "(2 * (len(self.numeric) + 2 * self.specializations))",
            "(len(self.numeric) + 2 * self.specializations)",
            "choices cost all of the budget, and counts nothing is left for",
            f"{NAIVELY}::test_the_budget_is_spent_to_the_last_part",
        ),
    ),
]

APPLICANTS = "tests/integration/test_top_down.py"

TOP_DOWN = [
    *_of(
        "sqlanon/methods/cuts/top_down/specialize.py",
        (
            "top-down-too-small",
            "if least[each] >= k]",
            "if least[each] >= k - 1]",
            "labels give way that leave classes of fewer than k rows, and nothing is published",
            f"{APPLICANTS}::TestThePaper::test_every_k",
        ),
        (
            "top-down-forgotten-classes",
            "least[each] = min(found, least.get(each, found))",
            "least[each] = found",
            "classes that have not changed are not reckoned with",
            "tests/unit/test_top_down_choice.py::test_classes_that_have_not_changed_are_reckoned_with",
        ),
        (
            "top-down-anonymity-for-nothing",
            "gain / (before - after + 1)",
            "gain / 1",
            "labels are chosen whatever the smallest class loses",
            f"{APPLICANTS}::TestThePaper::test_every_k",
        ),
    ),
    *_of(
        "sql/top_down.sql",
        (
            "top-down-in-vain",
            "HAVING count(DISTINCT class) > 1",
            "HAVING count(DISTINCT class) > 0",
            "labels give way that tell nothing of the target",
            "tests/property/test_top_down_specialization.py::test_it_is_the_naive_algorithm",
        ),
    ),
    *_of(
        "sqlanon/methods/cuts/top_down/encode.py",
        (
            "top-down-null",
            'if counts[f"null_{place}"]\n',
            "if False\n",
            "rows with NULL are not told of",
            f"{APPLICANTS}::TestRefusals::test_a_source_that_does_not_fit",
        ),
    ),
]

CEILING = [
    *_of(
        "sqlanon/methods/h_ceiling/choice.py",
        (
            "ceiling-ties-by-nothing",
            "(self._at_least == needed) & (self._ranks < rank)",
            "(self._at_least == needed) & (self._ranks < 0)",
            "a more general node than need be is published",
            f"{CEILINGS}::test_the_search_finds_the_best_node_of_all",
        ),
        (
            "ceiling-above-it",
            "if self.keeps_to_ceiling(index) and (self.best is None",
            "if (self.best is None",
            "a node above the ceiling is published",
            "tests/integration/test_h_ceiling.py::TestAdult::test_own_targets",
        ),
    ),
    *_of(
        "sqlanon/methods/h_ceiling/choice.py",
        (
            "ceiling-saves-nothing",
            "saved = (allowed - suppressed) * (k - fewest) // fewest",
            "saved = 0",
            "a node is called the best that is not, where small classes are suppressed",
            "tests/unit/h_ceiling/test_needs.py",
        ),
        (
            "ceiling-without-limit",
            "if suppressed > allowed:",
            "if suppressed > allowed + k:",
            "more rows are suppressed than may be",
            f"{CEILINGS}::test_releases",
        ),
        (
            "ceiling-missing-rows",
            "summary.class_count - summary.kept_class_count",
            "summary.class_count",
            "nodes are chosen that need more counterfeits",
            f"{CEILINGS}::test_releases",
        ),
    ),
    *_of(
        "sqlanon/methods/h_ceiling/catalogs.py",
        (
            "catalog-by-the-fewest",
            "(round(self.error, DIGITS), filled.added.count,",
            "(filled.added.count, round(self.error, DIGITS),",
            "counterfeits cost nothing with a catalog",
            "tests/integration/test_h_ceiling.py::TestAdult::test_with_a_catalog_labels_are_finer",
        ),
    ),
    *_of(
        "sql/h_ceiling.sql",
        (
            "catalog-error-of-counterfeits",
            "anon_filled.anon_row_count - coalesce(anon_invented.anon_row_count, 0) AS",
            "anon_filled.anon_row_count AS",
            "the reconstruction error is one of counterfeits, too",
            f"{CEILINGS}::test_with_a_catalog_the_least_reconstruction_error_decides",
        ),
    ),
    *_of(
        "sqlanon/methods/h_ceiling/ceiling.py",
        (
            "ceiling-of-other-rows",
            "(losses[kept] >= losses[index]).all(axis=1).any()",
            "(losses[kept] >= losses[index]).any()",
            "rows are more general than the ceiling allows",
            f"{CEILINGS}::test_kinds_of_rows_that_are_left_out_change_nothing",
        ),
    ),
    *_of(
        "sqlanon/methods/h_ceiling/counterfeits.py",
        (
            "ceiling-uniform-as-marginal",
            'rows if settings_of(table).fill == "marginal" else np.ones_like(rows)',
            "rows",
            "a uniform fill is none",
            "tests/integration/test_h_ceiling.py::TestAdult::test_values_are_drawn_as_in_the_whole_table",
        ),
        (
            "impossible-is-drawn",
            'np.where(np.isin(codes, each.get("barred", [])), 0, weights)',
            "weights",
            "counterfeits have impossible combinations",
            f"{IMPOSSIBLE}::test_no_counterfeit_has_one_and_others_are_drawn_by_their_weights",
        ),
    ),
    *_of(
        "sqlanon/methods/h_ceiling/hidden.py",
        (
            "urn-of-true-rows",
            "[1] * size + [PRIOR_ROWS]",
            "[1] * own + [0] * (size - own) + [PRIOR_ROWS]",
            "no counterfeit copies another, so that the values that are alone in a class are likelier to be invented",
            f"{URN}::TestLinks::test_every_set_of_rows_is_as_likely_to_be_true",
        ),
    ),
    *_of(
        "sqlanon/methods/h_ceiling/hidden.py",
        (
            "back-off-by-policy",
            "key=lambda at: (by_node.get(at, 0.0), at)",
            "key=lambda at: at",
            "what is expected of a class is that of classes that say little of it",
            f"{HIDDEN}::test_chances_are_those_of_other_rows",
        ),
    ),
    *_of(
        "sqlanon/methods/h_ceiling/queries.py",
        (
            "back-off-with-own-rows",
            'own = f.coalesce(column(ROW_COUNT, "anon_own"), 0)',
            "own = number(0)",
            "what is expected of a class depends on its own rows",
            f"{HIDDEN}::test_chances_are_those_of_other_rows",
        ),
        (
            "counterfeits-never-seen",
            '"LEFT" if has_barred else None',
            '"LEFT"',
            "counterfeits have values that no true row has with their labels",
            f"{HIDDEN}::test_chances_are_those_of_other_rows",
        ),
    ),
    *_of(
        "sqlanon/methods/h_ceiling/hidden.py",
        (
            "impossible-is-copied",
            "queries.is_barred(own).not_() if",
            "exp.true() if",
            "counterfeits copy impossible combinations",
            f"{HIDDEN}::test_impossible_combinations_are_not_copied",
        ),
    ),
    *_of(
        "sql/h_ceiling.sql",
        (
            "impossible-by-one-label",
            "HAVING count(*) = anon_entry_size",
            "HAVING count(*) = count(*)",
            "a class is barred from a value by one label of several",
            f"{IMPOSSIBLE}::test_no_counterfeit_has_one_and_others_are_drawn_by_their_weights",
        ),
        (
            "impossible-above-a-label",
            "HAVING count(*) = any_value(anon_of_node.anon_leaves)",
            "HAVING count(*) = count(*)",
            "a class is barred from a value by what some of its rows are",
            f"{IMPOSSIBLE}::test_a_label_that_stands_for_others_too_bars_nothing",
        ),
        (
            "impossible-in-other-places",
            "OVER (ORDER BY anon_barred_codes ASC, :keys ASC)",
            "OVER (ORDER BY :keys ASC)",
            "values are drawn for other classes",
            f"{IMPOSSIBLE}::test_values_of_a_class_are_drawn_as_often_to_one_another",
        ),
    ),
    *_of(
        "sqlanon/methods/h_ceiling/report.py",
        (
            "ceiling-tells-true-rows",
            "rows=RowsRecord(released=report.rows.released)",
            "rows=report.rows.model_dump()",
            "recipients are told how many rows are true",
            "tests/integration/test_h_ceiling.py::TestRelease::test_nothing_in_it_tells_counterfeits",
        ),
    ),
    *_of(
        "sql/relocation.sql",
        (
            "relocation-to-anywhere",
            "min({'anon_distance': anon_distance, 'anon_nearest': anon_nearest})",
            "min({'anon_nearest': anon_nearest, 'anon_distance': anon_distance})",
            "rows are moved further than need be",
            f"{RELOCATIONS}::test_what_is_told_of_it",
        ),
        (
            "relocation-to-the-smaller-class",
            "anon_class_size DESC",
            "anon_class_size ASC",
            "of equally near classes the smaller one gets the rows",
            f"{RELOCATIONS}::test_the_larger_of_equally_near_classes_is_taken",
        ),
    ),
    *_of(
        "sqlanon/methods/relocation/report.py",
        (
            "relocation-tells-distances",
            '"relocated_classes", "mean_distance"}',
            '"relocated_classes"}',
            "recipients are told how far the one row was moved that was",
            f"{RELOCATIONS}::test_what_travels_with_it",
        ),
    ),
    *_of(
        "sqlanon/methods/relocation/method.py",
        (
            "relocation-of-other-values",
            "changed = changed_values(self.engine, self.table, written.relation)",
            "changed = 0",
            "sensitive values may be others than those of the source",
            "tests/integration/test_relocation.py::TestRefusals::test_a_release_that_is_not_as_it_should_be",
        ),
    ),
]

MODELS = [
    *_of(
        "sql/macros/30_generalize.sql",
        (
            "suppress-one-too-few",
            "OVER (PARTITION BY anon_class) >= k",
            "OVER (PARTITION BY anon_class) >= k - 1",
            "classes of k - 1 rows are kept",
            f"{MACROS}[30_generalize]",
        ),
    ),
    *_of(
        "sql/macros/94_cuts.sql",
        (
            "cut-interval-without-its-start",
            "lambda anon_start: anon_start <= attribute",
            "lambda anon_start: anon_start < attribute",
            "a number at a bound gets the label of the interval before",
            f"{MACROS}[94_cuts]",
        ),
    ),
    *_of(
        "sqlanon/run/preparations.py",
        (
            "generalize-by-any-taxonomy",
            "elif stored[name].sha256 != record.taxonomy_sha256.get(name):",
            "elif False:",
            "labels stand for other values than in the release",
            "tests/integration/test_generalize.py::TestRefusals::test_taxonomies_that_are_not_those_of_the_release",
        ),
    ),
    *_of(
        "sql/macros/50_privacy.sql",
        (
            "k-of-the-largest-class",
            "min(class_size) AS k,",
            "max(class_size) AS k,",
            "releases with classes of one are verified",
            f"{MACROS}[50_privacy]",
        ),
        (
            "best-k-beyond-the-limit",
            "FILTER (WHERE rows_up_to > allowed_rows)",
            "FILTER (WHERE rows_up_to >= allowed_rows)",
            "the largest k that can be attained is that of classes that are suppressed",
            f"{MACROS}[50_privacy]",
        ),
        (
            "individuals-by-row",
            "greatest(count(DISTINCT individual), 1)",
            "greatest(count(individual), 1)",
            "a class with many rows of one counts as many individuals",
            f"{MACROS}[50_privacy]",
        ),
        (
            "share-of-the-rarest-value",
            "max(row_count) / sum(row_count);",
            "min(row_count) / sum(row_count);",
            "a class with one value for all but one passes",
            f"{MACROS}[50_privacy]",
        ),
        (
            "recursive-ratio-without-the-l-th",
            " + list_extract(max(row_count, l), l)),",
            " + list_extract(max(row_count, l), 1)),",
            "the most frequent value counts as a rare one",
            f"{MACROS}[50_privacy]",
        ),
        (
            "too-few-values-pass",
            "    CAST('infinity' AS DOUBLE)\n);",
            "    0.0\n);",
            "a class with fewer than l values is (c, l)-diverse",
            f"{MACROS}[50_privacy]",
        ),
        (
            "entropy-of-all",
            "exp(ln(sum(row_count)) - sum(row_count * ln(row_count)) / sum(row_count));",
            "exp(ln(sum(row_count)) - min(ln(row_count)));",
            "a class with one frequent value is diverse",
            f"{MACROS}[50_privacy]",
        ),
        (
            "diversity-of-the-best-class",
            "SELECT min(distinct_diversity) AS l",
            "SELECT max(distinct_diversity) AS l",
            "a class with one value passes beside a diverse one",
            f"{MACROS}[50_privacy]",
        ),
    ),
    *_of(
        "sql/macros/57_certain_rows.sql",
        (
            "a-tolerance-the-wrong-way",
            "THEN (excess - 1e-9) / ",
            "THEN (excess + 1e-9) / ",
            "a class proves a row too many, and nodes are ruled out that satisfy",
            f"{MACROS}[57_certain_rows]",
        ),
        (
            "all-of-a-class-that-proves-a-part",
            "WHEN kept THEN ceil(class_size * certain_share)",
            "WHEN kept AND certain_share = 0 THEN 0",
            "a class proves all of its rows where it proves one, and nodes are ruled out that satisfy",
            f"{MACROS}[57_certain_rows]",
        ),
        (
            "two-values-of-one-share",
            "- 2 * alpha, 1 - 2 * alpha)",
            "- alpha, 1 - alpha)",
            "two frequent values prove what one would, and nodes are ruled out that satisfy",
            f"{MACROS}[57_certain_rows]",
        ),
        (
            "entropy-of-rows-that-are-alike",
            "ln(l) + ln(anon.largest_share_of(row_count))",
            "ln(l) + 2 * ln(anon.largest_share_of(row_count))",
            "suppressed rows are taken to gain too little, and nodes are ruled out that satisfy",
            f"{MACROS}[57_certain_rows]",
        ),
        (
            "frequent-values-of-less-than-none",
            "            0.0\n        )\n    )),\n    1\n);",
            "            -1.0\n        )\n    )),\n    1\n);",
            "values that are rare enough prove less than nothing, and the search looks at nodes in vain",
            f"{MACROS}[57_certain_rows]",
        ),
        (
            "distance-of-one-level",
            "reference_share) / height - t,",
            "reference_share) - t,",
            "levels of a taxonomy prove what each alone would, and nodes are ruled out that satisfy",
            f"{MACROS}[57_certain_rows]",
        ),
        (
            "farthest-from-the-middle",
            "max(work_below + work_above) / greatest(max(most_work), 1e0);",
            "max(work_above) / greatest(max(most_work), 1e0);",
            "rows are taken to be nearer than they can be, and nodes are ruled out that satisfy",
            f"{MACROS}[57_certain_rows]",
        ),
        (
            "all-of-a-value-that-has-too-much",
            "sum(row_count / class_size - largest_share) FILTER",
            "sum(row_count / class_size) FILTER",
            "a value proves the rows that it may have, and nodes are ruled out that satisfy",
            f"{MACROS}[57_certain_rows]",
        ),
        (
            "half-of-delta",
            "exp(delta * ln(2.0))",
            "exp(delta * ln(2.0) / 2)",
            "values may have less than they may, and nodes are ruled out that satisfy",
            f"{MACROS}[57_certain_rows]",
        ),
        (
            "likeness-without-its-own-share",
            "(1 + beta) * coalesce(reference_share, 0.0)",
            "beta * coalesce(reference_share, 0.0)",
            "values may have less than they may, and nodes are ruled out that satisfy",
            f"{MACROS}[57_certain_rows]",
        ),
        (
            "enhanced-likeness-without-its-own-share",
            "(1 + least(beta, ",
            "(least(beta, ",
            "values may have less than they may, and nodes are ruled out that satisfy",
            f"{MACROS}[57_certain_rows]",
        ),
    ),
    *_of(
        "sqlanon/model/criteria.py",
        (
            "individuals-prove-rows",
            "        if self.counts_individuals:",
            "        if False:",
            "an individual who stands in several classes proves too much, and nodes are ruled out that satisfy",
            f"{CERTAIN}::test_individuals_prove_nothing",
        ),
    ),
    *_of(
        "sqlanon/queries/classes/grouping.py",
        (
            "what-one-bound-proves-alone",
            'exp.func("greatest", *shares)',
            'exp.func("least", *shares)',
            "a class that is out of one of two bounds proves nothing, and the search looks at nodes in vain",
            f"{CERTAIN}::test_of_several_bounds_the_one_that_proves_most_counts",
        ),
    ),
    *_of(
        "sql/macros/55_closeness.sql",
        (
            "values-that-nobody-else-has",
            "coalesce(reference_share, 0.0), 0.0));",
            "coalesce(reference_share, 1.0), 0.0));",
            "values that are not in the source are no distance",
            f"{MACROS}[55_closeness]",
        ),
        (
            "only-values-that-grow",
            "    -ln(min(anon.rows_over_share(row_count, reference_share)) / sum(row_count))\n",
            "    0.0\n",
            "a value that a class has less of discloses nothing",
            f"{MACROS}[55_closeness]",
        ),
        (
            "likeness-one-less",
            "/ sum(row_count) - 1, 0.0);",
            "/ sum(row_count) - 2, 0.0);",
            "a value may grow by more than β",
            f"{MACROS}[55_closeness]",
        ),
        (
            "enhanced-is-basic",
            "(1 - ln(nullif(reference_share, 0.0)))) > sum(row_count)",
            "(9 - ln(nullif(reference_share, 0.0)))) > sum(row_count)",
            "enhanced β-likeness has no bound of its own",
            f"{MACROS}[55_closeness]",
        ),
        (
            "distance-of-the-nearest-class",
            "SELECT max(equal_distance) AS t",
            "SELECT min(equal_distance) AS t",
            "a class that is far from everyone passes beside one that is near",
            f"{MACROS}[55_closeness]",
        ),
        (
            "work-that-cancels-out",
            "(abs(CAST(crossing AS DOUBLE) - own_position) - abs(CAST(next_position AS DOUBLE) - crossing))",
            "(next_position - own_position)",
            "rows that are missing between two values of a class make up for rows that it has too many of",
            f"{MACROS}[55_closeness]",
        ),
        (
            "nothing-above-the-last-value",
            "(min(work_below) + min(work_above))",
            "min(work_below)",
            "values above all of a class are no distance",
            f"{MACROS}[55_closeness]",
        ),
    ),
    *_of(
        "sqlanon/model/bounds.py",
        (
            "slack-of-a-thousandth",
            "TOLERANCE = 1e-9",
            "TOLERANCE = 1e-3",
            "classes that fall a little short are published",
            BOUNDS,
        ),
        (
            "strict-is-not",
            "return value < self.threshold if",
            "return value <= self.threshold if",
            "a class that equals a strict bound is verified",
            BOUNDS,
        ),
        (
            "at-least-is-above",
            "return value >= self.threshold\n",
            "return value >= self.threshold - 1\n",
            "a release one short of k is verified",
            BOUNDS,
        ),
    ),
    *_of(
        "sqlanon/queries/classes/summaries.py",
        (
            "values-of-classes-of-k-rows",
            "measured_from=least)",
            "measured_from=least + 1)",
            "the values of the smallest classes that may be kept are not looked at",
            "tests/property/test_releases.py",
        ),
    ),
    *_of(
        "sqlanon/queries/classes/classes.py",
        (
            "k-less-one-published",
            "return comparison(this=measure, expression=number(bound.threshold))",
            "return comparison(this=measure, expression=number(bound.threshold - bound.at_least))",
            "classes of k - 1 rows are published",
            "tests/integration/test_releases.py::TestSuppression",
        ),
        (
            "individuals-by-row-of-a-class",
            "columns.append(aliased(count_distinct(column(INDIVIDUAL)), INDIVIDUALS))",
            "columns.append(aliased(exp.Count(this=column(INDIVIDUAL)), INDIVIDUALS))",
            "a class with many rows of one is published",
            "tests/integration/test_kept_classes.py::test_rows_of_one_individual_are_one",
        ),
        (
            "any-bound-is-enough",
            "return all_of([_kept(measure_of(encoding, bound), bound) for bound in bounds])",
            "return all_of([_kept(measure_of(encoding, bound), bound) for bound in [*bounds][:1]])",
            "a class has to keep one of several bounds",
            "tests/integration/test_kept_classes.py::test_all_bounds_are_kept",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/intervals/evidence.py",
        (
            "price-without-what-is-beyond",
            "(excess.sums - beyond) / prices",
            "excess.sums / prices",
            "cells that score more than the price are counted on it, so that too many rows count as suppressed",
            "tests/property/test_intervals.py::test_no_way_to_group_cells_suppresses_fewer_rows",
        ),
        (
            "price-of-the-mean-cell",
            "np.maximum.reduceat(excess.scores / excess.rows, excess.starts)",
            "np.add.reduceat(excess.scores, excess.starts) / np.add.reduceat(excess.rows, excess.starts)",
            "a row makes up for the mean score alone, so that too many rows count as suppressed",
            "tests/property/test_intervals.py::test_no_way_to_group_cells_suppresses_fewer_rows",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/intervals/scores.py",
        (
            "at-least-of-every-value",
            "np.where(of_cells > 0, counts.cell_rows, 0.0)",
            "counts.cell_rows",
            "a value that cells lack is held against them",
            "tests/property/test_intervals.py::test_no_way_to_group_cells_suppresses_fewer_rows",
        ),
        (
            "distance-from-nothing",
            "self.reference.shares @ potentials + self.most + SLACK",
            "self.most + SLACK",
            "the share that the table has of values counts as excess",
            "tests/property/test_intervals.py::test_no_way_to_group_cells_suppresses_fewer_rows",
        ),
    ),
    *_of(
        "sqlanon/search/optimal/intervals.py",
        (
            "half-an-interval-forgotten",
            "        stack.push(low, with_level(high, position, middle), cells, suppressed)\n",
            "",
            "the finer half of an interval is not looked at",
            "tests/property/test_intervals.py::test_intervals_find_what_brute_force_finds",
        ),
        (
            "what-is-checked-last-bounds-nothing",
            'return min((each.loss for each in self._intervals), default=float("inf"))',
            'return max((each.loss for each in self._intervals), default=float("inf"))',
            "a search that is stopped claims too small a gap",
            "tests/property/test_intervals.py::test_a_search_that_is_stopped_has_a_true_bound",
        ),
    ),
    *_of(
        "sqlanon/search/optimal/wide.py",
        (
            "half-a-box-forgotten",
            "            halves.append(Half(box, box.low, high, (high,) if asks_high else ()))\n",
            "",
            "the finer half of a box is not looked at",
            "tests/property/test_class_sizes.py::test_a_search_fed_by_arrays_finds_what_brute_force_finds",
        ),
        (
            "the-other-end-of-a-box-decides",
            "bounds = self._boxes.bounds([part.low for part in parts], rows)",
            "bounds = self._boxes.bounds([part.high for part in parts], rows)",
            "nodes are taken to lose as much as the most general one of their box",
            "tests/property/test_class_sizes.py::test_a_search_fed_by_arrays_finds_what_brute_force_finds",
        ),
        (
            "what-suppresses-now-suppresses-always",
            "part.box.suppressed_rows if high is None else high.certain_suppressed_rows",
            "part.box.suppressed_rows if high is None else high.suppressed_rows",
            "what a node suppresses by a model that is not monotonic is held against less general nodes",
            "tests/unit/test_wide_regions.py::"
            "test_what_a_node_suppresses_is_not_held_against_finer_ones_unless_it_is_certain",
        ),
        (
            "any-checked-node-is-a-wall",
            "        if ruled_out:\n            self.walls.add(summary.levels)\n",
            "        self.walls.add(summary.levels)\n",
            "a node that satisfies rules out those below it",
            "tests/property/test_search.py::test_the_searches_for_the_optimum_find_what_brute_force_finds",
        ),
    ),
    *_of(
        "sqlanon/search/optimal/walls.py",
        (
            "part-of-a-cut-box-forgotten",
            "            ceilings[leaves, own] = left - 1\n",
            "            ceilings[leaves, own] = boxes.low[leaves, own]\n",
            "nodes between a box and a wall are not looked at",
            "tests/unit/test_walls.py::test_boxes_hold_the_nodes_that_are_below_no_wall",
        ),
        (
            "a-box-lost-among-others",
            "        low[gaps], high[gaps], bounds[gaps] = self._room.of(last)\n",
            "",
            "boxes that wait are forgotten where others are taken",
            "tests/unit/test_walls.py::test_boxes_hold_the_nodes_that_are_below_no_wall",
        ),
        (
            "open-boxes-bound-nothing",
            "return float(min(self._waiting.bounds.min(initial=np.inf), self._open.bounds.min(initial=np.inf)))",
            "return float(self._waiting.bounds.min(initial=np.inf))",
            "a search that is stopped forgets what it was at, and claims too small a gap",
            "tests/unit/test_walls.py::test_boxes_hold_the_nodes_that_are_below_no_wall",
        ),
    ),
    *_of(
        "sqlanon/search/optimal/boxes.py",
        (
            "boxes-at-hand-bound-nothing",
            "for box in (*first, *self._taken)",
            "for box in first",
            "a search that is stopped forgets what it was at, and claims too small a gap",
            "tests/property/test_stopped_searches.py::test_so_does_a_search_without_arrays_of_the_size_of_the_lattice",
        ),
        (
            "bounds-rounded-up",
            "np.rint(exact / unit) - 1",
            "np.rint(exact / unit) + 1e6",
            "bounds are larger than the losses",
            "tests/property/test_stopped_searches.py::test_so_does_a_search_without_arrays_of_the_size_of_the_lattice",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/class_sizes.py",
        (
            "a-class-too-small-is-large-enough",
            "small = sizes[sizes < self._cells.most]",
            "small = sizes[sizes < self._cells.most - 1]",
            "classes of a row less than k are kept",
            "tests/property/test_class_sizes.py::test_a_search_fed_by_arrays_finds_what_brute_force_finds",
        ),
        (
            "rows-in-the-bits-of-keys",
            "return packed(self.layout, levels, self._row_bits)",
            "return packed(self.layout, levels, self._row_bits - 1)",
            "the rows of a cell change its key",
            "tests/property/test_class_sizes.py::test_classes_have_the_rows_of_their_cells",
        ),
        (
            "people-counted-as-rows",
            "is_plain = policy.individual is None and ",
            "is_plain = ",
            "k counts rows where it is to count people",
            "tests/property/test_class_sizes.py::test_arrays_are_left_alone_where_more_than_rows_counts",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/class_values.py",
        (
            "values-of-classes-forgotten",
            "                met &= ~fails\n",
            "",
            "classes whose values violate a model are kept",
            "tests/property/test_class_values.py::test_a_search_fed_by_arrays_finds_what_brute_force_finds",
        ),
        (
            "values-of-two-columns-swapped",
            "codes = self.references[name], self.codes[name][combinations]",
            "codes = self.references[name], next(iter(self.codes.values()))[combinations]",
            "a model looks at another sensitive column",
            "tests/property/test_class_values.py::test_arrays_count_what_the_database_counts",
        ),
        (
            "rounding-decides",
            "if bound.measure.name not in EXACT:",
            "if False:",
            "a class at a bound is kept or not by the order in which doubles are added",
            "tests/property/test_class_values.py::test_classes_at_a_bound_are_judged_as_by_the_database",
        ),
        (
            "sizes-say-too-much",
            "if small_rows > enough or not met.any():",
            "if small_rows or not met.any():",
            "the values of large classes are not looked at where there are small ones",
            "tests/property/test_class_values.py::test_what_sizes_say_of_a_node_is_true",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/certain_shares.py",
        (
            "more-is-certain-than-is-proven",
            "np.where(excess > SLACK, largest + SLACK, 1.0)",
            "np.where(excess > SLACK, excess, 1.0)",
            "a class out of a bound rules out less general nodes that satisfy",
            "tests/property/test_class_values.py::test_arrays_count_what_the_database_counts",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/packing.py",
        (
            "moved-labels-overlap",
            "            taken |= _shifted(mask, shift)\n",
            "",
            "labels of two quasi-identifiers share bits of a key, so that classes merge",
            "tests/property/test_class_sizes.py::test_packed_keys_are_equal_where_labels_are",
        ),
    ),
    *_of(
        "sqlanon/search/problem.py",
        (
            "a-row-over-the-limit",
            "summary.suppressed_rows <= self.context.allowed_rows\n",
            "summary.suppressed_rows <= self.context.allowed_rows + 1\n",
            "a row more than the limit is suppressed",
            "tests/integration/test_releases.py::TestSuppression",
        ),
        (
            "rejected-nodes-satisfy",
            "summary.kept_class_count > 0 and not summary.rejected",
            "summary.kept_class_count > 0",
            "a node with a row above m is published",
            "tests/integration/test_privacy_models.py::TestMConcealing::test_a_node_above_m_is_rejected",
        ),
    ),
    *_of(
        "sqlanon/model/policy/fields.py",
        (
            "limit-rounded-up",
            "rounding=ROUND_FLOOR))",
            'rounding="ROUND_CEILING"))',
            "a row more than the limit is suppressed",
            "tests/unit/test_policy.py::TestLimit",
        ),
        (
            "unknown-rows-beyond-the-limit",
            "rounding=ROUND_FLOOR)) - left_out",
            "rounding=ROUND_FLOOR))",
            "rows that are left out for unknown values are missing beyond the limit",
            "tests/integration/test_unknown_actions.py::TestReleases::test_they_count_against_the_suppression_limit",
        ),
    ),
]

LEDGER = [
    *_of(
        "sqlanon/ledger/opening.py",
        (
            "ledger-beside-the-warehouse",
            "if engine.find(table.ledger_of(engine)) and WarehouseLedger(engine, None).verify() not in hashes:",
            "if False:",
            "another ledger gives a data set of the warehouse a fresh budget",
            f"{RUNS}::TestAccounts::test_no_account_is_passed_by",
        ),
        (
            "another-ledger",
            "if any(note.sha256 not in hashes for note in noted):",
            "if False:",
            "another file than the ledger of a warehouse, or an old copy, is charged",
            f"{RUNS}::TestAccounts::test_a_warehouse_knows_its_ledger",
        ),
        (
            "no-ledger-named",
            "if any(note.sha256 != START for note in noted) or",
            "if False and",
            "whoever forgets to name the ledger of a warehouse opens a fresh account",
            f"{RUNS}::TestAccounts::test_a_warehouse_knows_its_ledger",
        ),
    ),
    *_of(
        "sqlanon/ledger/ledger.py",
        (
            "ledger-noted-late",
            "        self.note_in_warehouse()\n",
            "",
            "a warehouse does not know its ledger after a run that was killed",
            f"{RUNS}::TestAccounts::test_a_warehouse_knows_the_ledger_of_a_run_that_was_killed",
        ),
        (
            "overspending-not-refused",
            "                    refuse_overspending(before, rows)\n",
            "",
            "a data set spends more than its cap",
            f"{LEDGERS}::TestBudgets::test_a_refusal_says_what_is_left_and_writes_nothing",
        ),
        (
            "units-mixed",
            "                    refuse_what_cannot_be_added(before, rows)\n",
            "",
            "losses per row and per individual are added up",
            f"{LEDGERS}::TestUnits::test_a_loss_per_row_is_not_added_to_one_per_individual",
        ),
        (
            "files-of-others-charged",
            "                    refuse_sources_of_others(before, rows)\n",
            "",
            "of two runs at once on the same files by two names, both have a budget of their own",
            f"{LEDGERS}::TestRaces::test_files_that_another_run_has_charged_meanwhile",
        ),
        (
            "uncapped-charged",
            "                    if self.must_be_capped:\n",
            "                    if False:\n",
            "a cap that is lifted during a run bounds nothing",
            f"{CHARGED}::TestNewAccounts",
        ),
        (
            "copy-charged",
            "                    self._refuse_without_key(engine)\n",
            "",
            "runs at the same time overspend together on a copy of a ledger",
            f"{LEDGERS}::TestTampering::test_a_copy_without_its_key_is_not_charged",
        ),
        (
            "tampering-not-looked-for",
            "        if broken is not None:\n",
            "        if False:\n",
            "a ledger whose rows were changed is charged as if nothing was",
            f"{LEDGERS}::TestTampering::test_a_value_that_was_changed_in_the_table_is_found",
        ),
        (
            "charged-in-the-run",
            "            with self._engine.beside() as engine:\n                yield engine\n",
            "            yield self._engine\n",
            "a run that is rolled back takes its charge with it",
            f"{LEDGERS}::TestCutShort::test_a_run_that_is_rolled_back_keeps_its_charge",
        ),
        (
            "not-on-the-disk",
            "            _wait_for_names(engine)\n            return new\n",
            "            return new\n",
            "a power cut after a release takes its charge away",
            f"{LEDGERS}::TestCutShort::test_a_charge_waits_for_the_disk",
        ),
        (
            "head-of-nothing",
            "return self._head or head(self.entries())",
            "return head([])",
            "a release does not vouch for the rows that were there",
            f"{RUNS}::TestAccounts::test_a_release_carries_the_head_of_its_ledger",
        ),
        (
            "noted-hash-not-looked-for",
            "if noted is not None and noted not in",
            "if noted is None and noted not in",
            "nobody sees that the newest rows of a ledger were removed",
            f"{LEDGERS}::TestTampering::test_newest_rows_that_were_removed_are_missed_by_who_noted_their_hash",
        ),
    ),
    *_of(
        "sqlanon/ledger/accounts.py",
        (
            "cap-of-one-release",
            "if cap is not None and spent + wanted > cap:",
            "if cap is not None and wanted > cap:",
            "every release may spend the whole cap",
            f"{LEDGERS}::TestBudgets::test_a_refusal_says_what_is_left_and_writes_nothing",
        ),
        (
            "cap-one-release-late",
            "if cap is not None and spent + wanted > cap:",
            "if cap is not None and spent > cap:",
            "the last release spends more than is left",
            f"{LEDGERS}::TestBudgets::test_a_refusal_says_what_is_left_and_writes_nothing",
        ),
        (
            "delta-of-one-in-sum",
            "spent + wanted >= 1:",
            "spent + wanted > 1:",
            "releases together promise nothing",
            f"{LEDGERS}::TestBudgets::test_without_a_cap_all_is_recorded_and_only_delta_is_bounded",
        ),
        (
            "epsilon-capped-alone",
            "caps = (None, None) if bound is None else (bound.epsilon, bound.delta)",
            "caps = (None, None) if bound is None else (bound.epsilon, None)",
            "δ is spent beyond its cap",
            f"{LEDGERS}::TestBudgets",
        ),
        (
            "first-cap-holds",
            "(caps[-1].budget, caps[-1].rho) if caps",
            "(caps[0].budget, caps[0].rho) if caps",
            "a custodian cannot lower what may be spent",
            f"{LEDGERS}::TestBudgets::test_the_last_cap_holds_and_is_on_record",
        ),
        (
            "deltas-do-not-add-up",
            "return sum(epsilons, Fraction(0)), sum(deltas, Fraction(0))",
            "return sum(epsilons, Fraction(0)), max(deltas, default=Fraction(0))",
            "δ of several releases does not add up",
            f"{LEDGERS}::TestBudgets",
        ),
        (
            "dearest-release",
            "return sum(epsilons, Fraction(0)), sum(deltas, Fraction(0))",
            "return max(epsilons, default=Fraction(0)), sum(deltas, Fraction(0))",
            "ε of several releases does not add up",
            f"{LEDGERS}::TestBudgets::test_they_are_spent_to_the_last_digit",
        ),
        (
            "pure-losses-in-rho-at-half",
            "total += exact(entry.epsilon) ** 2 / 2",
            "total += exact(entry.epsilon) ** 2 / 4",
            "a pure loss costs half of its ρ",
            f"{LEDGERS_IN_RHO}::TestSums::test_pure_losses_have_half_of_their_square",
        ),
        (
            "losses-without-rho-cost-nothing",
            "        else:\n            return None\n    return total",
            "    return total",
            "losses with a δ are left out of what is added up in ρ",
            f"{LEDGERS_IN_RHO}::TestCaps::test_a_loss_without_rho_is_refused",
        ),
        (
            "cap-of-one-release-in-rho",
            "elif before.rho + wanted > cap:",
            "elif wanted > cap:",
            "every release may spend the whole cap in ρ",
            f"{LEDGERS_IN_RHO}::TestCaps::test_one_in_rho_takes_more_runs",
        ),
        (
            "spent-in-rho-rounded-down",
            "_converted(self.rho, self.delta, ROUND_CEILING)",
            "_converted(self.rho, self.delta, ROUND_FLOOR)",
            "less is shown than was spent",
            f"{LEDGERS_IN_RHO}::TestSums::test_what_is_shown_is_not_below_what_was_spent",
        ),
    ),
    *_of(
        "sqlanon/model/budget.py",
        (
            "rows-are-individuals",
            "return self.name == other.name",
            "return True",
            "losses per row and per individual are added up",
            f"{LEDGERS}::TestUnits::test_a_loss_per_row_is_not_added_to_one_per_individual",
        ),
        (
            "any-individual",
            "return folded(self.individual) == folded(other.individual)",
            "return True",
            "losses of patients and of households are added up",
            f"{LEDGERS}::TestUnits::test_individuals_of_two_columns_are_not_added",
        ),
    ),
    *_of(
        "sqlanon/model/ledger.py",
        (
            "seal-without-epsilon",
            'if name != "sha256"}',
            'if name not in ("sha256", "epsilon")}',
            "what was spent can be made less afterwards",
            f"{LEDGERS}::TestTampering::test_a_value_that_was_changed_in_the_table_is_found",
        ),
        (
            "seal-without-rho",
            "        if self.rho is None:\n            del",
            "        if True:\n            del",
            "what was spent in ρ can be made less afterwards",
            f"{LEDGERS_IN_RHO}::TestTampering::test_a_rho_that_was_changed_is_found",
        ),
        (
            "seal-not-compared",
            "if not follows or entry.sha256 != entry.seal() or",
            "if not follows or",
            "rows of a ledger can be changed",
            f"{LEDGERS}::TestTampering::test_a_changed_value_is_found",
        ),
        (
            "chain-not-compared",
            "entry.position == position and entry.previous_sha256 == previous",
            "entry.position == position",
            "rows of a ledger can be changed and sealed anew under a hash that was noted, or taken out",
            f"{LEDGERS}::TestTampering::test_a_row_that_was_changed_and_sealed_anew_is_missed_by_the_next",
        ),
        (
            "chain-of-one",
            "position, previous = position + 1, sealed.sha256",
            "position = position + 1",
            "rows do not vouch for those before",
            f"{LEDGERS}::TestBudgets::test_the_accountant_writes_what_it_charges",
        ),
    ),
    *_of(
        "sqlanon/ledger/datasets.py",
        (
            "another-name-another-budget",
            "if source.dataset not in (None, known):",
            "if False:",
            "a table has a fresh budget under every name",
            f"{RUNS}::TestAccounts::test_no_account_is_passed_by",
        ),
        (
            "undeclared-names",
            "if resolved(engine, given) is None and all(",
            "if resolved(engine, given) is None and not all(",
            "a query has a fresh budget under every name",
            f"{RUNS}::TestAccounts::test_a_data_set_that_nobody_declared_is_refused",
        ),
        (
            "files-of-several-accounts",
            "if len(others) > 1 or (others and has_account):",
            "if False:",
            "files of two data sets are charged to one of them",
            f"{RUNS}::TestAccounts::test_files_of_several_accounts_are_charged_to_none",
        ),
        (
            "file-by-its-path",
            "return others[0] if others else name",
            "return name",
            "a file has a fresh budget by every path",
            f"{RUNS}::TestAccounts::test_files_have_one_account_by_whatever_path",
        ),
        (
            "tables-of-queries-not-charged",
            "own = tuple(each for each in read if each not in declared)",
            "own = tuple(each for each in read if each not in declared and each.is_file)",
            "a table has a fresh budget after each query over it",
            f"{CHARGED}::TestOneAccount",
        ),
        (
            "secrets-declared-public",
            "if others := owners(entries, sources):",
            "if False:",
            "what has an account is read without a charge",
            f"{CHARGED}::TestJoins::test_what_cannot_be_public",
        ),
    ),
    *_of(
        "sqlanon/ledger/opening.py",
        (
            "shortened-ledgers",
            "    _refuse_shortened(found, releases)\n",
            "",
            "who deletes the newest rows has their budget back",
            f"{RUNS}::TestAccounts::test_a_release_in_the_warehouse_misses_rows_of_the_ledger",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/private/chance.py",
        (
            "individuals-redefined",
            "    if origin is None or is_public:",
            "    if False:",
            "losses are added up that are about other individuals",
            f"{CHARGED}::TestIndividuals",
        ),
    ),
    *_of(
        "sqlanon/engines/duckdb/reading/lineage.py",
        (
            "replaced-columns",
            "None if made_anew else column.origin",
            "column.origin",
            "a column that a star replaces is taken for the one of the table",
            f"{CHARGED}::TestIndividuals",
        ),
    ),
    *_of(
        "sqlanon/engines/duckdb/reading/sources.py",
        (
            "files-put-together",
            "if scans.files and not spelled.is_whole:",
            "if False:",
            "files are read that nobody is charged for",
            f"{CHARGED}::TestOneAccount::test_what_cannot_be_seen_is_refused",
        ),
        (
            "functions-of-nobody",
            "    if scans.others:",
            "    if False:",
            "rows of nobody knows whom are read without a charge",
            f"{CHARGED}::TestOneAccount::test_what_cannot_be_seen_is_refused",
        ),
    ),
    *_of(
        "sqlanon/ledger/known_sources.py",
        (
            "copies-of-files",
            "or (None if source.fingerprint is None else by_content.get(source.fingerprint))",
            "or None",
            "a copy of a file has a fresh budget",
            f"{RUNS}::TestAccounts::test_files_have_one_account_by_whatever_path",
        ),
    ),
    *_of(
        "sqlanon/publish/files.py",
        (
            "new-files-of-a-lake",
            "    if Path(name) in Path(path).parents:",
            "    if False:",
            "new files of a lake have a fresh budget",
            f"{RUNS}::TestAccounts::test_files_have_one_account_by_whatever_path",
        ),
    ),
    *_of(
        "sqlanon/model/datasets.py",
        (
            "names-by-case",
            "(_spelled(folded(part)) for part in parts)",
            "(_spelled(part) for part in parts)",
            "a table has a fresh budget in every spelling of its name",
            f"{LEDGERS}::TestDataSets::test_one_name_however_it_is_spelled",
        ),
        (
            "links-not-followed",
            "Path(os.path.realpath(Path(*parts[:fixed])))",
            "Path(os.path.abspath(Path(*parts[:fixed])))",
            "files have a fresh budget by every link",
            f"{LEDGERS}::TestDataSets::test_files_have_one_name_by_whatever_path",
        ),
    ),
]

MEASURED = "tests/property/test_releases.py::test_a_measurement_is_what_the_oracle_measures"
REFUSED = "tests/integration/test_bad_input.py::TestVerification"

VERIFICATION = [
    *_of(
        "sqlanon/verification/measure.py",
        (
            "everything-is-met",
            "met=attained is None or bound.met_by(attained),",
            "met=True,",
            "a release that falls short is verified",
            f"{REFUSED}::test_a_table_that_does_not_meet_a_policy",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/counting.py",
        (
            "sizes-at-the-limit",
            "if summary.suppressed_rows > allowed}",
            "if summary.suppressed_rows >= allowed}",
            "a node satisfies whose sensitive values were not looked at",
            "tests/property/test_sizes_first.py",
        ),
    ),
    *_of(
        "sqlanon/verification/verify.py",
        (
            "not-verified-before-publishing",
            "    if shortfalls:\n        raise VerificationError(",
            "    if False:\n        raise VerificationError(",
            "what falls short is published",
            f"{REFUSED}::test_a_release_that_falls_short_is_withdrawn",
        ),
    ),
    *_of(
        "sqlanon/model/privacy.py",
        (
            "below-with-the-wrong-slack",
            "self.delta * (1 - TOLERANCE)",
            "self.delta * (1 + TOLERANCE)",
            "a class that equals a strict bound is published",
            BOUNDS,
        ),
        (
            "enhanced-measured-as-basic",
            'of_table=("beta_likeness", self.variant)',
            'of_table=("beta_likeness", "basic")',
            "a release that falls short of enhanced β-likeness is verified",
            "tests/integration/test_privacy_models.py::test_a_gain_beyond_the_logarithm_meets_no_enhanced_likeness",
        ),
    ),
    *_of(
        "sqlanon/queries/tables/measures.py",
        (
            "individuals-measured-by-row",
            "if measure == CLASS_SIZE and classes.individual is not None:",
            "if False:",
            "rows of nobody count as an individual where releases are verified",
            "tests/integration/test_privacy_models.py::test_rows_of_nobody_add_no_individual_to_a_measurement",
        ),
        (
            "presence-the-other-way",
            'if measure.name == "presence" and bound.at_least:',
            'if measure.name == "presence" and not bound.at_least:',
            "δ-presence is measured where it is best",
            "tests/integration/test_privacy_models.py::test_presence_is_measured_where_it_is_least_and_where_it_is_most",
        ),
    ),
    *_of(
        "sqlanon/publish/listings.py",
        (
            "any-folder-is-whole",
            "return layout is not None and layout.files == listing(sizes_in(folder))",
            "return layout is not None",
            "a release folder with files of others is replaced, or taken for what was written",
            "tests/integration/test_lakes.py::TestReplacing::test_a_folder_with_files_of_others_never",
        ),
    ),
]

TAMPERED = "tests/integration/test_tampered_releases.py"

CUT = "tests/exercises/test_a_cut.py::TestTheClinic"

CODING = "tests/integration/test_coding.py"

TAMPERING = [
    *_of(
        "sqlanon/binding/prepare.py",
        (
            "uncoded-numbers",
            "source = coded(engine, source, policy)",
            "coded(engine, source, policy)",
            "numbers beyond public bounds are published as they are",
            f"{CODING}::test_a_release_is_that_of_the_coded_table",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/publishing.py",
        (
            "any-labels-are-a-cut",
            "for which, what in CUT_MISFITS.items() if found[which]]",
            "for which, what in CUT_MISFITS.items() if not found]",
            "rows are published twice whose value is under two labels",
            f"{CUT}::test_what_is_no_cut_is_refused",
        ),
    ),
    *_of(
        "sqlanon/verification/verify.py",
        (
            "columns-without-a-role",
            "elif folded(name) not in released:",
            "elif False:",
            "a column of telephone numbers that was added to a release is verified",
            f"{TAMPERED}::TestColumns::test_one_without_a_role",
        ),
        (
            "rows-not-compared",
            "record.rows.released != measurement.row_count",
            "record.rows.released < measurement.row_count",
            "a release of which rows were taken is verified",
            f"{TAMPERED}::TestProvenance::test_rows_that_were_removed_or_added",
        ),
        (
            "levels-not-compared",
            "if level < least:",
            "if level < least - 9:",
            "a release at a level that the policy does not allow is verified",
            f"{TAMPERED}::TestProvenance::test_a_level_that_the_policy_does_not_allow",
        ),
    ),
    *_of(
        "sqlanon/verification/labels.py",
        (
            "labels-not-compared",
            "        for row in _foreign_rows(engine, relation, check)\n",
            "        for row in list[dict[str, Any]]()\n",
            "a raw value in place of a label is verified",
            f"{TAMPERED}::TestProvenance::test_an_age_that_was_replaced_by_a_raw_value",
        ),
        (
            "labels-of-a-cut-not-compared",
            "for name, labels in self.labels.labels.items()",
            "for name, labels in self.labels.labels.items() if not labels",
            "a finer label than that of the cut is verified",
            f"{CUT}::test_a_label_that_is_none_of_the_cut_is_found",
        ),
    ),
    *_of(
        "sqlanon/verification/published.py",
        (
            "files-not-compared",
            "    changes = changes_of(folder, layout)\n",
            "    changes = tuple[str, ...]()\n",
            "a folder with a file of names beside the release is verified",
            f"{TAMPERED}::TestFolders::test_a_file_beside_the_data",
        ),
    ),
    *_of(
        "sqlanon/publish/listings.py",
        (
            "sizes-not-compared",
            "json.dumps([name, sizes[name]])",
            "json.dumps([name])",
            "files of a release that were exchanged are those that were written",
            f"{TAMPERED}::TestFolders::test_files_that_were_exchanged",
        ),
    ),
]

CONDITIONS = "tests/unit/h_ceiling/test_catalog_conditions.py"
LINKS = "tests/unit/h_ceiling/test_catalog_links.py"
CATALOGS = "tests/property/test_catalogs.py"
F_IS_A_WORLD = f"{CONDITIONS}::test_the_condition_is_that_there_is_a_world_for_every_class"
EVERY_LABELLING = f"{LINKS}::test_it_is_what_every_labelling_together_says"

CATALOG = [
    *_of(
        "sqlanon/methods/h_ceiling/catalog/conditions.py",
        (
            "classes-without-anybody",
            "self.sizes - 1, 0)",
            "self.sizes, 0)",
            "a class is taken to be one that nobody may be in, so that counterfeits can be told in others",
            F_IS_A_WORLD,
        ),
        (
            "hosts-above-k",
            "np.where(self.sizes == self.k, ",
            "np.where(self.sizes >= self.k, ",
            "counterfeits are concealed by classes that everybody knows to have none",
            f"{CONDITIONS}::TestExamples",
        ),
    ),
    *_of(
        "sqlanon/methods/h_ceiling/catalog/conditions.py",
        (
            "concealed-by-itself-at-first",
            "if left <= 0 or position == target:",
            "if left <= 0:",
            "the counterfeits of a class are concealed by its own rows",
            F_IS_A_WORLD,
        ),
        (
            "concealed-by-itself",
            "hosts = members[(members != target) & ",
            "hosts = members[",
            "counterfeits of a class are concealed by its own rows, if others have no room for them",
            F_IS_A_WORLD,
        ),
        (
            "room-used-twice",
            "left -= taken",
            "left -= 0",
            "one place in a class conceals several counterfeits",
            F_IS_A_WORLD,
        ),
        (
            "nobody-pushed-away",
            "self._free[entries], classes.counterfeits[entries]",
            "self._free[entries], 0 * classes.counterfeits[entries]",
            "catalogs are refused that conceal all counterfeits",
            F_IS_A_WORLD,
        ),
    ),
    *_of(
        "sqlanon/methods/h_ceiling/catalog/conditions.py",
        (
            "counterfeits-conceal",
            "self.offered = classes.published - classes.counterfeits",
            "self.offered = classes.published",
            "catalogs of the paper conceal counterfeits by others",
            f"{CONDITIONS}::test_the_lemma_is_what_the_paper_says",
        ),
    ),
    *_of(
        "sqlanon/methods/h_ceiling/catalog/grouping.py",
        (
            "merged-classes-not-looked-at",
            "pending + [position for position in joined if position in turn]",
            "pending",
            "a class that another one is merged with comes into two groups, or is left with too little",
            f"{CATALOGS}::test_in_a_strict_catalog_no_class_is_sure_to_have_a_counterfeit",
        ),
    ),
    *_of(
        "sqlanon/methods/h_ceiling/catalog/links.py",
        (
            "likeliest-row-counted-twice",
            "free, rest = count - real, ",
            "free, rest = count, ",
            "k_eff counts ways in which the row is a counterfeit",
            EVERY_LABELLING,
        ),
        (
            "sets-all-added",
            "sets.get(joined, 0) - sign",
            "sets.get(joined, 0) + sign",
            "k_eff counts worlds in which classes have nobody",
            EVERY_LABELLING,
        ),
        (
            "target-may-be-full",
            "rest[full] = sign + rest.get(tuple(map(sub, full, rows.counts)), 0)",
            "rest[full] = sign",
            "k_eff counts worlds twice in which the class has nobody",
            EVERY_LABELLING,
        ),
        (
            "bound-without-full-classes",
            "self._ways -= sum(count * self._ways_of(full) for full, count in self._fillable.items())",
            "self._ways -= 0",
            "k_eff of large groups is told too high",
            f"{LINKS}::test_of_too_many_terms_it_is_a_bound",
        ),
    ),
]

RECIPIENTS = "tests/property/test_catalog_macros.py"
TRUTHFUL = f"{RECIPIENTS}::test_the_truthful_view"

FOR_RECIPIENTS = _of(
    "sql/macros/86_catalog.sql",
    (
        "one-row-of-a-class-masked",
        "least(anon_rows, coalesce(anon_counterfeits, 0)) AS anon_masked",
        "least(anon_rows, coalesce(least(anon_counterfeits, 1), 0)) AS anon_masked",
        "counterfeits are kept as true rows of their class",
        TRUTHFUL,
    ),
    (
        "masked-rows-left",
        "greatest(anon_masked_so_far - anon_counterfeits, 0)",
        "anon_masked_so_far",
        "the truthful view has as many rows as the release",
        TRUTHFUL,
    ),
    (
        "too-much-truth",
        "1.0 - counterfeits / row_count",
        "1.0 - counterfeits / (row_count + 1)",
        "counterfeits count for more than they are",
        f"{RECIPIENTS}::test_the_truth_of_rows",
    ),
    (
        "catalog-of-another-release",
        "anon_counterfeits > anon_group_rows",
        "anon_counterfeits < 0",
        "the wrong catalog bends answers without a word",
        "tests/sql/test_sqllogic.py::test_file_with_macros_called",
    ),
)

PSEUDONYMS = [
    *_of(
        "sql/macros/37_pseudonyms.sql",
        (
            "pseudonym-that-repeats-once",
            "HAVING count(*) > 1",
            "HAVING count(*) > 2",
            "two rows of one person are linked",
            f"{MACROS}[37_pseudonyms]",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/publishing.py",
        (
            "pseudonyms-that-repeat",
            "pseudonym_problems(engine, EQUAL_ROWS.table, columns)",
            "pseudonym_problems(engine, EQUAL_ROWS.table, ())",
            "rows of one person are published before they are found to be linked",
            "tests/integration/test_pseudonyms.py::TestRepetition::test_rows_of_one_person",
        ),
    ),
    *_of(
        "sqlanon/queries/release/kept_columns.py",
        (
            "pseudonym-without-a-key",
            'scalar_call("hmac_of_blocks", *blocks,',
            'scalar_call("hmac_of_blocks", *[exp.Literal.string("")] * 2,',
            "anyone can compute the pseudonyms of values",
            "tests/property/test_pseudonyms.py::test_pseudonyms_of_texts",
        ),
    ),
    *_of(
        "sqlanon/model/pseudonym_key.py",
        (
            "pseudonym-key-of-31-bytes",
            "len(self._secret) < MIN_KEY_BYTES",
            "len(self._secret) < MIN_KEY_BYTES - 1",
            "a key is shorter than it may be",
            "tests/unit/test_pseudonym_key.py::TestRefusals::test_too_short",
        ),
        (
            "pseudonym-key-for-everybody",
            "st_mode & stat.S_IROTH",
            "st_mode & stat.S_IXOTH",
            "every user of the machine can read the key",
            "tests/unit/test_pseudonym_key.py::TestRefusals::test_a_file_that_everybody_reads",
        ),
    ),
]

RESTRICTED = "tests/integration/test_restricted_queries.py::TestPolicies"

UNTRUSTED = [
    *_of(
        "sqlanon/binding/prepare.py",
        (
            "population-that-is-not-restricted",
            "resolved = engine.resolve(policy.population, restricted=True)",
            "resolved = engine.resolve(policy.population)",
            "a policy writes files",
            f"{RESTRICTED}::test_a_policy_writes_no_file",
        ),
    ),
    *_of(
        "sqlanon/engines/duckdb/reading/restricted.py",
        (
            "restricted-method-of-a-column",
            "(macro_names() if folded(schema) == SCHEMA else allowed)",
            "(name if folded(schema) == SCHEMA else allowed)",
            "a policy calls any function on a column that is named as the schema of our macros",
            f"{RESTRICTED}::test_all_else_is_refused_by_name",
        ),
        (
            "restricted-argument-that-is-computed",
            "if not all(map(_is_written_out, nodes)):",
            "if not any(map(_is_written_out, nodes)):",
            "a policy reads files that it does not name",
            f"{RESTRICTED}::test_all_else_is_refused_by_name",
        ),
        (
            "restricted-name-of-with",
            'not in named or {".", "/"} & set(parts[0])',
            "not in named",
            "a policy reads what it names like a query of WITH somewhere else",
            f"{RESTRICTED}::test_all_else_is_refused_by_name",
        ),
        (
            "restricted-part-that-shows",
            '"POSITIONAL_REFERENCE|STAR|SUBQUERY|TYPE|"',
            '"POSITIONAL_REFERENCE|SHOW_REF|STAR|SUBQUERY|TYPE|"',
            "a policy reads the catalog",
            f"{RESTRICTED}::test_all_else_is_refused_by_name",
        ),
    ),
    *_of(
        "sqlanon/engines/duckdb/opening.py",
        (
            "extensions-loaded-by-themselves",
            'connection.execute(query_text("engines", "no_autoload"))',
            "connection.execute(query_text('engines', 'connection_count'))",
            "DuckDB asks another machine for an extension",
            "tests/integration/test_extensions.py::TestSettings::test_what_is_opened_loads_nothing_by_itself",
        ),
    ),
]

PEELING = "tests/property/test_peeling.py"
COVERING = "tests/property/test_covering.py"

LOCAL = [
    *_of(
        "sqlanon/methods/local/peeling.py",
        (
            "class-of-values-too-alike",
            "met = large & judge.met_by_values(classes, near) if judge.others else large",
            "met = large",
            "a class is taken that does not meet a model of sensitive values",
            f"{PEELING}::test_the_classes_of_the_naive_twin",
        ),
        (
            "row-in-two-classes",
            "stays[places[taken]] = False",
            "stays[places[taken]] = True",
            "a class counts rows that are published in another one",
            f"{PEELING}::test_the_classes_of_the_naive_twin",
        ),
    ),
    *_of(
        "sqlanon/methods/local/labels.py",
        (
            "labels-that-not-all-rows-share",
            "return np.maximum(levels, self.lowest[:, np.newaxis])",
            "return np.maximum(levels - 1, self.lowest[:, np.newaxis])",
            "a class is shown at labels finer than all of its rows share",
            f"{PEELING}::test_what_holds_of_every_recoding",
        ),
    ),
    *_of(
        "sqlanon/methods/local/settling.py",
        (
            "union-not-judged",
            "meets = self._judge.met(merged[classes], members)[merged]",
            "meets = np.ones(len(order), dtype=bool)",
            "two classes of equal labels are published as one that falls short",
            f"{PEELING}::test_classes_that_come_to_have_equal_labels_are_judged_together",
        ),
    ),
    *_of(
        "sqlanon/methods/local/hosts.py",
        (
            "class-that-a-key-spoils",
            "return int(places[fits.argmax()])",
            "return int(places[0])",
            "rows join a class that violates a privacy model with them",
            f"{PEELING}::test_a_key_goes_to_the_nearest_class_that_still_meets_the_bounds_with_it",
        ),
        (
            "class-that-is-not-tried-again",
            "self._changed[host] = self.clock",
            "self._changed[host] = 0",
            "rows are left out though a class that has grown would take them",
            f"{PEELING}::test_a_class_that_has_grown_is_tried_again",
        ),
    ),
    *_of(
        "sqlanon/methods/local/covering.py",
        (
            "class-of-other-values",
            "return numbers, np.where(is_known, found, -1)",
            "return numbers, found",
            "a row goes to a class that does not cover it",
            f"{COVERING}::test_of_all_classes_that_cover_a_cell_it_goes_to_that_of_the_least_loss",
        ),
        (
            "short-classes-listed",
            "if holds.all():",
            "if len(holds):",
            "a fit lists classes that fall short where its rows go to others",
            f"{COVERING}::test_a_class_that_loses_a_row_to_another_is_not_listed",
        ),
    ),
    *_of(
        "sqlanon/methods/local/bound.py",
        (
            "bound-of-larger-classes",
            "np.where(classes.rows >= self.least_size,",
            "np.where(classes.rows > self.least_size,",
            "the loss is said to be closer to the least than it is",
            "tests/property/test_recoding_bound.py::test_every_row_at_its_cheapest_labels",
        ),
    ),
    *_of(
        "sqlanon/methods/local/tight.py",
        (
            "infeasible-prices",
            "exceeds = means[of_class] > costs",
            "exceeds = means[of_class] > 2 * costs",
            "a lower bound of the loss is printed above what some recodings lose",
            "tests/property/test_recoding_bound.py::test_prices_are_lowered_if_and_only_if_they_are_not_feasible",
        ),
        (
            "prices-raised-too-far",
            "most = np.maximum(prices[places], least[of_class])",
            "most = np.maximum(prices[places], 2 * least[of_class])",
            "prices are raised above what classes lose, and lowered again further than it takes",
            "tests/property/test_recoding_bound.py::test_raised_prices_are_feasible",
        ),
    ),
    *_of(
        "sqlanon/verification/labels.py",
        (
            "classes-not-compared",
            "if isinstance(record.labels, ClassesRecord) else []",
            "if isinstance(record.labels, CutRecord) else []",
            "rows that were moved to another class are not noticed",
            "tests/integration/test_local_recoding.py::TestRecords::test_changes_are_seen",
        ),
    ),
]

FAR = "tests/integration/test_spark_rows.py"
FAR_ROWS = (
    _of(
        "sqlanon/engines/spark/rows.py",
        (
            "order-of-the-source-on-a-server",
            "            ordered = frame.sort(*map(_quoted, frame.columns))\n",
            "            ordered = frame\n",
            "the order of the source says who stood beside whom",
            f"{FAR}::test_the_order_of_the_source_does_not_show",
        ),
        (
            "errors-of-a-server-are-logged",
            "logging.getLogger(name).disabled = True",
            "logging.getLogger(name).disabled = False",
            "values of the table are in a log",
            f"{FAR}::test_the_client_logs_no_error",
        ),
        (
            "account-of-a-file-on-a-server",
            "dataset = dataset_of_files(source) if is_path(source) else source",
            "dataset = self.url",
            "a file has a second budget where it is counted on a server",
            f"{FAR}::test_a_file_has_the_account_that_it_has_here",
        ),
    )
    + _of(
        "sqlanon/engines/spark/dialect.py",
        (
            "bounds-on-a-server",
            "instead.get(name.lower()) or column(name)",
            "column(name)",
            "values beyond the bounds of a policy are released",
            "tests/unit/test_spark_dialect.py",
        ),
        (
            "missing-keys-on-a-server",
            "    return exp.and_(exp.EQ(this=texts[0], expression=texts[1]), both)\n",
            "    return exp.EQ(this=texts[0], expression=texts[1])\n",
            "a missing value and an empty text have the labels of each other",
            "tests/unit/test_spark_dialect.py",
        ),
    )
    + _of(
        "sqlanon/engines/spark/types.py",
        (
            "collations-on-a-server",
            "isinstance(kind, StringType) and kind.collation != BYTES",
            "False",
            "texts that differ are one value where a collation makes them equal",
            "tests/unit/test_spark_types.py",
        ),
        (
            "white-space-on-a-server",
            'return declared if declared.startswith("CHAR(") else None',
            "return None",
            "texts come with white space that they do not have elsewhere",
            "tests/unit/test_spark_types.py",
        ),
        (
            "names-in-another-case-on-a-server",
            "names[field.name.lower()] > 1",
            "False",
            "a column is taken for another one, such as an identifier",
            "tests/unit/test_spark_types.py",
        ),
        (
            "types-on-a-server",
            """elif found.type.partition("(")[0] not in SAME_TEXTS:""",
            """elif "[" in found.type:""",
            "values have another text than their taxonomy has for them",
            "tests/unit/test_spark_types.py",
        ),
    )
    + _of(
        "sqlanon/binding/far.py",
        (
            "pseudonyms-on-a-server",
            "[*_pseudonyms(bound), *engine.far.misfits",
            "[*engine.far.misfits",
            "the key of pseudonyms is in a statement that a server logs",
            f"{FAR}::test_all_that_cannot_be_released_is_named_at_once",
        ),
    )
    + _of(
        "sqlanon/engines/spark/texts.py",
        (
            "items-on-a-server",
            "    if not items.can_be_rebuilt:\n",
            "    if False:\n",
            "items have another text than their taxonomy has for them",
            f"{FAR}::test_items_without_a_text_are_refused",
        ),
    )
    + _of(
        "sql/top_down.sql",
        (
            "classes-of-distinct-rows",
            "SELECT anon_children.candidate, CAST(sum(anon_rows.anon_row_count) AS BIGINT) AS rows",
            "SELECT anon_children.candidate, count(*) AS rows",
            "a class is measured by its distinct rows",
            "tests/integration/test_top_down.py",
        ),
    )
    + _of(
        "sql/diffgen.sql",
        (
            "counts-of-distinct-rows",
            "CAST(sum(anon_row_count) AS BIGINT) AS anon_row_count FROM :numbered",
            "count(*) AS anon_row_count FROM :numbered",
            "noise is added to the number of distinct rows",
            "tests/integration/test_diffgen.py",
        ),
    )
)


REPORTED = _of(
    "sqlanon/run/release_reports.py",
    (
        "differences-of-few-rows-in-a-report",
        "    return None if before is None or 0 < abs(before - after) < k else before\n",
        "    return before\n",
        "the difference of two counts is a number of few persons",
        "tests/integration/test_release_reports.py::test_differences_of_few_rows_are_not_shown",
    ),
    (
        "rare-labels-in-a-report",
        "if rows >= self._fewest_shown}",
        "if rows >= 1}",
        "a sensitive value of one row is in the page",
        "tests/integration/test_release_reports.py",
    ),
) + _of(
    "sqlanon/run/explorer.py",
    (
        "rare-examples-on-a-page",
        "dict.fromkeys(range(len(names)), 0), _fewest_rows(bound.policy))",
        "dict.fromkeys(range(len(names)), 0), 1)",
        "a value of one row is the example of its column",
        "tests/integration/test_explorer.py",
    ),
)

DELTA = "tests/integration/test_delta.py"
ICEBERG = "tests/integration/test_iceberg.py"
STORES = "tests/integration/test_stores.py"
FAR_STORES = "tests/integration/test_spark_stores.py"
LAKES = (
    _of(
        "sqlanon/engines/lakes/delta.py",
        (
            "old-files-stay-in-a-lake",
            '"overwrite",',
            '"append",',
            "readers see the old release beside the new one",
            f"{DELTA}::TestReleases::test_one_commit_replaces_all",
        ),
        (
            "note-left-out-in-a-lake",
            "custom_metadata={NOTE_KEY: note}",
            "custom_metadata={}",
            "nobody can hold a release against what was promised",
            f"{DELTA}::TestReleases::test_verify_and_report_find_it",
        ),
        (
            "commits-tried-again-in-a-lake",
            "max_commit_retries=0",
            "max_commit_retries=15",
            "rows of another program stay beside those of the release",
            f"{DELTA}::TestReplacing::test_a_commit_of_another_program_meanwhile_is_kept",
        ),
        (
            "renamed-columns-read-in-a-lake",
            '!= "none":',
            "is None:",
            "columns are read by names that mean others",
            f"{DELTA}::TestSources::test_files_that_do_not_have_the_rows",
        ),
        (
            "deleted-rows-read-in-a-lake",
            "if _rows(table.deletion_vectors()):",
            "if not files:",
            "rows that were deleted are released",
            f"{DELTA}::TestSources::test_files_with_rows_that_were_deleted_by_a_vector",
        ),
    )
    + _of(
        "sqlanon/engines/lakes/iceberg.py",
        (
            "old-snapshot-stays-in-a-lake",
            "                update.delete_data_file(task.file)\n",
            "                pass\n",
            "readers see the old release beside the new one",
            f"{ICEBERG}::TestReleases::test_one_snapshot_replaces_all",
        ),
        (
            "snapshots-tried-again-in-a-lake",
            'properties[RETRIES] = "0"',
            'properties[RETRIES] = "4"',
            "rows of another program stay beside those of the release",
            f"{ICEBERG}::TestReplacing::test_a_commit_of_another_program_meanwhile_is_kept",
        ),
        (
            "snapshot-without-its-note-in-a-lake",
            "note = {NOTE_KEY: release.note}",
            "note: dict[str, str] = {}",
            "nobody can hold a release against what was promised",
            f"{ICEBERG}::TestReleases::test_a_table_has_the_rows_of_a_folder_and_its_record",
        ),
    )
    + _of(
        "sqlanon/engines/lakes/base.py",
        (
            "versions-not-compared-in-a-lake",
            "newest.number != self.version.number",
            "newest.number < self.version.number",
            "a release is published of rows that are not there any more",
            f"{DELTA}::TestSources::test_a_version_that_was_committed_meanwhile_is_refused",
        ),
    )
    + _of(
        "sqlanon/publish/to_lake.py",
        (
            "tables-of-others-go-in-a-lake",
            'if replace != "anything" and not is_own(found):',
            "if not replace:",
            "the table of somebody else is replaced",
            f"{DELTA}::TestRefused::test_a_table_of_others",
        ),
        (
            "earlier-versions-removed-in-a-lake",
            "0 if version is None else version.number + 1",
            "0 if version is None else version.number",
            "the release that readers see loses its files",
            f"{DELTA}::TestReleases::test_one_commit_replaces_all",
        ),
        (
            "dropped-tables-lose-files-in-a-lake",
            "    if table.owns_folder:\n        shutil.rmtree(place, ignore_errors=True)\n",
            "    shutil.rmtree(place, ignore_errors=True)\n",
            "a table that was dropped, and can be registered again, loses its files",
            f"{ICEBERG}::TestReleases::test_a_table_that_was_dropped_keeps_its_files",
        ),
        (
            "published-release-removed-in-a-lake",
            "if not _is_published(table, place):",
            "if table.folder:",
            "a release loses its files when what comes after its commit fails",
            f"{DELTA}::TestReplacing::test_a_commit_that_was_made_stays_whatever_came_after",
        ),
        (
            "any-table-is-whole-in-a-lake",
            "layout.files == listing(release_files(version))",
            "layout.columns is not None",
            "rows that others have added go, or pass for a release",
            f"{DELTA}::TestTampering::test_rows_that_were_appended",
        ),
        (
            "unsigned-numbers-on-a-server",
            "        refuse_other_types(footer.schema.to_arrow_schema(), layout.columns)\n",
            "",
            "readers of the table find negative numbers, or none",
            f"{FAR}::test_unsigned_numbers_that_a_server_writes_are_not_committed_as_signed_ones",
        ),
    )
    + _of(
        "sqlanon/engines/lakes/store.py",
        (
            "listed-files-removed-in-a-store",
            'if run not in (self._read() or ""):',
            "if run:",
            "a release loses its files when what comes after its note fails",
            f"{STORES}::test_a_release_that_was_listed_stays_whatever_came_after",
        ),
        (
            "notes-cut-off-in-a-store",
            "range(READS)",
            "range(1)",
            "a release that was just replaced is not found",
            f"{STORES}::test_a_note_that_was_cut_off_is_read_again",
        ),
    )
    + _of(
        "sqlanon/publish/to_store.py",
        (
            "files-of-nobody-in-a-store",
            "  # what went before says more\n                store.discard(run)\n",
            "\n                pass\n",
            "a run that fails leaves its release for everybody who lists the store",
            f"{STORES}::test_files_without_a_note_are_of_nobody",
        ),
        (
            "killed-runs-stay-in-a-store",
            "            if run is not None:\n                store.discard(run)\n",
            "",
            "a run that was killed leaves a release that was never verified",
            f"{STORES}::test_the_note_of_a_release_that_is_written_by_others_is_put_last",
        ),
        (
            "note-before-files-in-a-store",
            "        store.copy(staged.path, run)\n        _publish(store.of_run(run), staged, layout, replace)\n",
            "        _publish(store.of_run(run), staged, layout, replace)\n        store.copy(staged.path, run)\n",
            "readers find a note of files that are not there",
            f"{STORES}::test_the_note_lists_the_rows_of_a_folder",
        ),
        (
            "others-name-runs-in-a-store",
            "if folder.lstat().st_uid == os.geteuid():",
            "if folder:",
            "another user of the machine has files of a store removed",
            f"{STORES}::test_what_others_leave_in_the_folder_for_temporary_files_removes_nothing",
        ),
        (
            "any-path-is-a-run-in-a-store",
            "found if RUN.fullmatch(found) else None",
            "found",
            "files of a store are removed that are of no run",
            f"{STORES}::test_what_others_leave_in_the_folder_for_temporary_files_removes_nothing",
        ),
        (
            "other-releases-go-in-a-store",
            "    _refuse_taken(StoredRelease(written.url), replace)\n",
            "",
            "a release that was put meanwhile is replaced by one that may replace none",
            f"{STORES}::test_a_release_that_was_put_meanwhile_stays",
        ),
        (
            "unsigned-numbers-in-a-store",
            "        written.refuse_other_types(staged.columns)\n",
            "",
            "readers of the release find negative numbers, or none",
            f"{FAR_STORES}::test_unsigned_numbers_that_a_server_writes_are_not_listed_as_signed_ones",
        ),
        (
            "files-not-compared-in-a-store",
            "layout.files == listing(store.sizes())",
            "layout.columns is not None",
            "what others have changed goes, or passes for a release",
            f"{STORES}::test_tampering_is_noticed",
        ),
        (
            "open-to-others-in-a-store",
            "PRIVATE = 0o700",
            "PRIVATE = 0o755",
            "others of the machine read a release before it is verified",
            f"{STORES}::test_a_run_leaves_nothing_in_the_folder_for_temporary_files",
        ),
    )
    + _of(
        "sqlanon/engines/spark/pins.py",
        (
            "earlier-releases-read-on-a-server",
            "any(map(_is_of_run, files)):",
            "not files:",
            "rows of releases that were replaced pass for those of the last one",
            f"{FAR_STORES}::test_a_release_is_a_source_without_the_files_of_earlier_ones",
        ),
    )
    + _of(
        "sqlanon/publish/files.py",
        (
            "releases-among-sources-on-a-server",
            "    if is_within:\n",
            "    if False:\n",
            "the next run takes a release for rows of its source",
            f"{FAR}::test_a_target_among_the_files_of_the_source_is_refused",
        ),
    )
    + _of(
        "sqlanon/publish/targets.py",
        (
            "refused-late-on-a-server",
            'if is_far and into.kind in ("table", "file"):',
            "if False:",
            "a budget is spent on a release that no server writes",
            f"{FAR}::test_what_no_server_writes_is_refused_before_anything_is_spent",
        ),
    )
)

LISTED = "tests/integration/test_release_register.py"

RELEASES = [
    *_of(
        "sqlanon/releases/noting.py",
        (
            "published-and-not-listed",
            "            if self._published() is None:",
            "            if True:",
            "a release that is there is missing from the list, and is not held together with later ones",
            f"{LISTED}::TestCutShort::test_a_run_that_fails_after_it_has_published_is_listed",
        ),
        (
            "failed-runs-listed",
            "        noted.take_back()\n        raise",
            "        raise",
            "later releases are held together with one that nobody got",
            f"{LISTED}::TestCutShort::test_a_run_that_fails_there_takes_it_back",
        ),
        (
            "listed-beside-the-release",
            "    return not is_elsewhere and engine.have(table.table_of(engine))[0]",
            "    return False",
            "a table is there without its row, or a row without its table",
            f"{LISTED}::TestCutShort::test_a_table_is_there_with_its_row_or_not_at_all",
        ),
    ),
    *_of(
        "sqlanon/releases/names.py",
        (
            "values-in-paths",
            'if "=" in part and not part',
            'if "=" in "" and not part',
            "the list shows values of the rows, which are names of folders",
            f"{LISTED}::TestWhatIsListed::test_it_has_no_cell_value_and_no_text_of_a_query",
        ),
        (
            "sources-by-equal-names-alone",
            "    return any(one == other or lies_in(one, other) or lies_in(other, one)",
            "    return any(one == other",
            "a release from a file of a lake is not found by one from the lake",
            f"{LISTED}::test_data_sets_have_something_in_common_by_name_folder_and_glob",
        ),
    ),
    *_of(
        "sqlanon/releases/listing.py",
        (
            "a-killed-run-hides-the-release-before",
            "    place = len(rows) - 1 if found is None else rows.index(found)",
            "    found, place = found and rows[-1], len(rows) - 1",
            "a release that is still there counts as replaced after a run was killed",
            f"{LISTED}::TestCutShort::test_a_run_that_is_killed_before_it_publishes_leaves_a_row",
        ),
    ),
]

EARLIER = [
    *_of(
        "sql/earlier.sql",
        (
            "joint-classes-of-nobody",
            "WHEN NOT (anon_kept AND anon_earlier > 0 AND",
            "WHEN NOT (anon_kept AND anon_earlier >= 0 AND",
            "new persons make others be left out, and counts differ from those of the search",
            JOINT_PROPERTIES,
        ),
        (
            "joint-classes-after-one-round",
            "anon_hidden BETWEEN 1 AND :k - 1) THEN 0",
            "anon_hidden BETWEEN 1 AND 0) THEN 0",
            "persons of a class that is left out stand alone in the classes of earlier releases",
            EARLIER_FACTS,
        ),
        (
            "joint-classes-without-those-who-left",
            "HAVING sum(anon_rows) <> 0;",
            "HAVING sum(anon_rows) < 0;",
            "whoever left a source stands alone in the class of an earlier release",
            EARLIER_FACTS,
        ),
        (
            "joint-classes-lend-too-many",
            "WHEN :by_person AND anon_largest >= :k + :k - anon_hidden",
            "WHEN :by_person AND anon_largest >= :k",
            "a class that lends persons to others has fewer than k itself",
            WITHHOLDING,
        ),
        (
            "withheld-persons-are-taken-for-shown",
            "CASE WHEN anon_withheld.anon_person_0 IS NULL THEN coalesce(anon_shown.:name, 0) ELSE 0 END AS :name",
            "coalesce(anon_shown.:name, 0) AS :name",
            "a later release takes persons for shown who were withheld, and joint classes for larger than they are",
            WITHHOLDING,
        ),
    ),
    *_of(
        "sql/top_down.sql",
        (
            "cuts-beside-those-who-are-new",
            "count(*) FILTER (WHERE rows < :k) AS short_classes",
            "count(*) FILTER (WHERE rows < 1) AS short_classes",
            "a few new persons stand alone in a release at a cut",
            f"{EARLIER_RELEASES}::TestCuts::test_no_row_is_left_out_for_others",
        ),
        (
            "cuts-beside-those-who-left",
            "WHERE anon_absent < :k) AS left_classes",
            "WHERE anon_absent < 1) AS left_classes",
            "a few persons who left stand alone in an earlier release",
            f"{EARLIER_RELEASES}::TestCuts::test_no_row_is_left_out_for_others",
        ),
    ),
    *_of(
        "sqlanon/methods/cuts/top_down/specialize.py",
        (
            "cuts-without-joint-classes",
            "part=column(EARLIER) if is_joint else number(0)",
            "part=number(0)",
            "a cut is chosen by its own classes, and a run is withdrawn whose joint classes fall short",
            f"{EARLIER_RELEASES}::TestCuts::test_both_are_cuts",
        ),
    ),
    *_of(
        "sqlanon/run/earlier.py",
        (
            "earlier-releases-without-some-rows",
            "elif rows != record.rows.released:",
            "elif rows > record.rows.released:",
            "a class that was deleted from an earlier release is taken for one that it left out",
            f"{EARLIER_RELEASES}::TestRefusals::test_releases_that_have_changed",
        ),
    ),
    *_of(
        "sqlanon/queries/release/rows.py",
        (
            "withheld-rows-stay-among-equal-ones",
            "        if encoding.holds_release:  #",
            "        if not encoding.holds_release:  #",
            "persons are shown whom others need to be hidden, and those of an earlier class stand out",
            WITHHOLDING,
        ),
    ),
    *_of(
        "sqlanon/methods/shared/joint_sizes.py",
        (
            "joint-sizes-of-nobody",
            "lends[0] = False",
            "lends[0] = lends[0]",
            "a search takes persons whom no earlier release shows for a class of their own",
            EARLIER_FACTS,
        ),
        (
            "joint-sizes-after-one-round",
            "return NodeSummary(levels, len(sizes), kept, certain + withheld, certain)",
            "return NodeSummary(levels, len(sizes), kept, certain, certain)",
            "a search counts fewer suppressed rows than a release then has",
            (EARLIER_FACTS, JOINT_PROPERTIES),
        ),
    ),
    *_of(
        "sql/earlier.sql",
        (
            "joint-values-of-hidden-persons-do-not-matter",
            "REPLACE (anon_kept AND anon_is_shown AS anon_kept)",
            "REPLACE (anon_kept AS anon_kept)",
            "all persons whom the second release hides of a class of the first have the same illness",
            JOINT_VALUES,
        ),
        (
            "joint-values-without-a-class-that-is-hidden-with-others",
            "            anon_hides_well\n            OR row_number()",
            "            TRUE\n            OR row_number()",
            "a joint class is left out whole where its smallest class would do",
            JOINT_VALUES,
        ),
    ),
    *_of(
        "sqlanon/queries/classes/earlier.py",
        (
            "joint-values-of-whom-no-earlier-release-shows",
            'exp.GT(this=exp.func("greatest", *(each.this for each in joint(table))), expression=number(0))',
            "exp.true()",
            "rows that no earlier release shows are left out for each other's values",
            JOINT_VALUES,
        ),
        (
            "joint-values-of-earlier-releases",
            "if changed := [each for each in encoding.spec.shown_values if each.column != each.bounded]:",
            "if changed := [each for each in encoding.spec.shown_values if each.column == each.bounded]:",
            "an earlier release shows the same illness of all persons of a joint class, and the new one shows several",
            CHANGED_VALUES,
        ),
        (
            "joint-values-of-whoever-left",
            "if encoding.spec.earlier is not None and encoding.spec.earlier.is_by_person:",
            "if encoding.spec.earlier is not None and not encoding.spec.earlier.is_by_person:",
            "all persons who left a class of an earlier release had the same illness",
            CHANGED_VALUES,
        ),
    ),
    *_of(
        "sql/earlier.sql",
        (
            "joint-values-compared-with-persons-who-were-not-there",
            "WHERE :value > 0\n",
            "",
            "a release is verified by shares among the persons of all sources",
            CHANGED_VALUES,
        ),
    ),
    *_of(
        "sqlanon/queries/classes/sensitive_values.py",
        (
            "joint-values-without-rows-of-whoever-left",
            "return not self.grouping.gaps or all(",
            "return True or all(",
            "persons who left do not count among those who are hidden",
            CHANGED_VALUES,
        ),
    ),
    *_of(
        "sqlanon/methods/local/judging.py",
        (
            "joint-values-in-local-classes",
            "        met[self._out_of_joint_bounds(classes, members)] = False\n",
            "",
            "local recoding looks at the values of the last source alone",
            CHANGED_VALUES,
        ),
    ),
    *_of(
        "sqlanon/methods/local/hiding.py",
        (
            "joint-values-of-whom-local-classes-hide",
            "        self._leave_out(parts, parts.of_keys[hides_badly[parts.joint_numbers]])\n",
            "",
            "those whom local recoding hides of a joint class have the same illness even with its smallest class",
            CHANGED_VALUES,
        ),
    ),
    *_of(
        "sqlanon/methods/shared/joint_bounds.py",
        (
            "joint-values-as-arrays-without-whoever-left",
            " + self.absent.of(numbers[self.absent.numbers])\n",
            "\n",
            "a search takes nodes for satisfying that are none",
            VALUES_AS_ARRAYS,
        ),
    ),
    *_of(
        "sqlanon/methods/shared/sensitive.py",
        (
            "joint-labels-as-arrays",
            "        labels[level, codes] = found[encoding.sensitive_label(name, level)]\n",
            "        pass\n",
            "values have one label, so that a search underestimates distances from an earlier source",
            CHANGES_AS_ARRAYS,
        ),
    ),
    *_of(
        "sqlanon/methods/shared/joint_values.py",
        (
            "joint-labels-that-are-unknown",
            "    _refuse_unlabelled(engine, grouping.encoding)\n",
            "",
            "values of an earlier source without a label count as having the same one",
            CHANGED_VALUES,
        ),
    ),
    *_of(
        "sqlanon/queries/cells/rows.py",
        (
            "joint-labels-of-other-values",
            'on = same(column(VALUE, lookup), column("anon_value", reference.name))',
            'on = exp.GTE(this=column(VALUE, lookup), expression=column("anon_value", reference.name))',
            "values of an earlier source have labels of others",
            CHANGED_VALUES,
        ),
    ),
    *_of(
        "sqlanon/methods/shared/joint_judge.py",
        (
            "joint-values-as-arrays-of-the-last-source-alone",
            "for shown in self.bounds.shown:\n            if shown.is_changed and",
            "for shown in self.bounds.shown:\n            if not shown.is_changed and",
            "a search takes nodes for satisfying that are none",
            CHANGES_AS_ARRAYS,
        ),
        (
            "joint-values-as-arrays-of-classes-in-no-order",
            "np.lexsort((*keys[::-1], sizes, numbers))",
            "np.lexsort((*-keys[::-1], sizes, numbers))",
            "a search counts another one of two smallest classes as hidden than the release hides",
            TIES_AS_ARRAYS,
        ),
    ),
    *_of(
        "sqlanon/methods/shared/persons.py",
        (
            "classes-made-again-alone",
            "            spec = numbered_cells(engine, spec",
            "            numbered_cells(engine, spec",
            "classes of local recoding are made again without the releases that they were held together with",
            f"{EARLIER_RELEASES}::TestLocalRecoding::test_its_classes_are_found_again",
        ),
    ),
    *_of(
        "sqlanon/methods/local/hiding.py",
        (
            "local-recoding-hides-few",
            "shown = parts.joint_numbers[parts.of_keys != OUT]",
            "shown = parts.joint_numbers[:0]",
            "a few persons who left stand alone in an earlier release beside local recoding",
            f"{EARLIER_RELEASES}::TestLocalRecoding",
        ),
    ),
    *_of(
        "sqlanon/methods/local/searching.py",
        (
            "local-recoding-mixes-joint-classes",
            "(*lattice.bottom, 0), (*lattice.top, 0)",
            "(*lattice.bottom, 1), (*lattice.top, 1)",
            "a class of local recoding has persons of several joint classes, and the release is withdrawn",
            f"{EARLIER_RELEASES}::TestLocalRecoding",
        ),
    ),
    *_of(
        "sqlanon/queries/release/joint_values.py",
        (
            "joint-values-of-classes-that-were-left-out",
            "exp.and_(_is_shown([name]), within(",
            "exp.and_(exp.true(), within(",
            "classes that an earlier release left out count as one that it shows",
            JOINT_VALUES,
        ),
    ),
    *_of(
        "sqlanon/methods/shared/class_sizes.py",
        (
            "joint-classes-of-rows-up-to-twice-k",
            "return 2 * k if earlier.is_by_person else",
            "return 2 * k if earlier else",
            "a search takes a large class that is hidden for a small one, and finds a node that hides too much",
            EARLIER_FACTS,
        ),
    ),
    *_of(
        "sqlanon/methods/shared/arrays.py",
        (
            "numbers-of-joint-classes-in-other-bits",
            " & of_words[:, np.newaxis]",
            "",
            "the search that looks at no earlier release takes bits of joint classes for those of values",
            JOINT_VALUES,
        ),
    ),
    *_of(
        "sqlanon/methods/shared/earlier.py",
        (
            "keys-of-persons-are-forgotten",
            "    if first.is_by_person:\n        refuse_keys",
            "    if not first.is_by_person:\n        refuse_keys",
            "two rows of one person count as two persons",
            f"{EARLIER_RELEASES}::TestRefusals::test_keys_that_are_none",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/persons.py",
        (
            "keys-in-earlier-sources-are-forgotten",
            "if first.is_by_person and any(",
            "if not first.is_by_person and any(",
            "one person stands for those who have the same key, or none, in an earlier source",
            f"{EARLIER_RELEASES}::TestRefusals::test_keys_that_are_none_in_an_earlier_source",
        ),
        (
            "sources-that-have-changed",
            "    if not differing:\n",
            '    if not differing or name != "the release":\n',
            "persons are looked up in another table than a release was made from",
            f"{EARLIER_RELEASES}::TestRefusals::test_sources_that_have_changed",
        ),
    ),
    *_of(
        "sqlanon/methods/shared/meet.py",
        (
            "others-of-a-source-that-has-changed",
            "        if differing := differing_classes(engine, theirs):\n",
            "        if not (differing := differing_classes(engine, theirs)):\n",
            "persons of another release are looked for among others, and found in large joint classes",
            f"{OTHER_RELEASES}::TestReasons::test_a_source_that_has_changed",
        ),
        (
            "others-with-new-values",
            "    if unmapped:\n",
            "    if not unmapped:\n",
            "rows with values that no taxonomy has stand in no joint class",
            f"{OTHER_RELEASES}::TestReasons::test_a_source_with_values_that_its_taxonomies_lack",
        ),
    ),
    *_of(
        "sqlanon/run/others.py",
        (
            "others-beside-withheld-persons",
            "    if (reason := held_with_others(record)) is not None:\n",
            "    if (reason := None) is not None:\n",
            "persons whom a release withheld for earlier ones count among those whom it shows",
            f"{OTHER_RELEASES}::TestReasons::test_it_was_held_together_with_others",
        ),
        (
            "others-that-code-otherwise",
            "if treated.get(name, treatment) != treatment]",
            "if treated.get(name, treatment)[0] != treatment[0]]",
            "a person is looked for under a value that another release has coded",
            f"{OTHER_RELEASES}::TestReasons::test_what_the_other_one_is",
        ),
        (
            "others-with-masked-rows",
            'if policy.suppression == "mask" and',
            'if policy.suppression == "drop" and',
            "masked rows, which other releases show, count for nobody",
            f"{OTHER_RELEASES}::TestReasons::test_masked_rows",
        ),
    ),
    *_of(
        "sqlanon/run/listed_others.py",
        (
            "others-with-their-labels-in-a-report",
            'joint.model_copy(update={"smallest": ()})',
            "joint",
            "a report has labels that the release does not show",
            f"{OTHER_RELEASES}::TestReports::test_no_label_of_another_release_is_shown",
        ),
    ),
    *_of(
        "sqlanon/run/release_reports.py",
        (
            "joint-classes-without-the-key-in-a-report",
            '        changes["earlier"] = given.held_with\n',
            "        pass\n",
            "persons are not found in the sources of earlier releases, and nothing is counted of them",
            f"{OTHER_RELEASES}::TestReports::test_earlier_ones_are_found_by_the_policy_that_is_given",
        ),
    ),
    *_of(
        "sqlanon/model/release/joint.py",
        (
            "few-persons-counted-in-a-report",
            "if at_risk < k else count(at_risk)",
            "if k < 0 else count(at_risk)",
            "a report counts persons whom a joint class nearly singles out",
            f"{OTHER_RELEASES}::TestReports::test_few_persons_are_not_counted",
        ),
    ),
]

MUTANTS: list[Mutant] = list(
    itertools.chain(
        SCALES,
        DISCRETE_LAPLACE,
        PROBABILITY,
        BINOMIAL,
        SAMPLED_CLASSES,
        UNIFORM_WORDS,
        GROUPED,
        SOURCES,
        ACCOUNTANT,
        SYNTHETIC,
        BUDGETS,
        PRIVATE,
        COUNTS,
        CONTRIBUTIONS,
        RUN,
        LEDGER,
        RELEASES,
        TAMPERING,
        VERIFICATION,
        CEILING,
        DIFFGEN,
        EPSILON_SAFE,
        TOP_DOWN,
        LOCAL,
        CATALOG,
        FOR_RECIPIENTS,
        MODELS,
        PSEUDONYMS,
        UNTRUSTED,
        FAR_ROWS,
        LAKES,
        REPORTED,
        EARLIER,
    )
)


def named(names: Iterable[str]) -> list[Mutant]:
    """The mutants whose name contains one of some texts; all if there are none."""
    wanted = list(names)
    return [mutant for mutant in MUTANTS if not wanted or any(name in mutant.name for name in wanted)]
