"""What the settings of models and methods come to: bounds, budgets, sensitivities, thresholds, and whose rows count."""

import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import sqlanon as sa
from sqlanon.chance.accountant import Charge
from sqlanon.chance.scales import empty_cell_probability
from sqlanon.ledger.charged_sources import DataSet
from sqlanon.methods.chance import drawn_unseen, individual_of, reached_by_noise, refuse_observed, unit_of
from sqlanon.methods.diffgen import draws
from sqlanon.methods.noisy_node.epsilon_safe import most_rows, refuse_many_nodes
from sqlanon.model.budget import ROW, Unit
from sqlanon.model.criteria import Criteria
from sqlanon.model.methods.sampled_methods import DIGITS, claimed_delta, is_admissible
from sqlanon.model.names import KnownSource
from sqlanon.model.sampled_classes import NEAR, delta, delta_on_sample, gamma, maximum_beta
from sqlanon.papers import IPAAsPublished


def diffgen(**settings: Any) -> sa.DiffGen:
    return sa.DiffGen(budget=sa.Budget(1), target="illness", **settings)


def private(method: Any = None, **roles: Any) -> sa.Policy:
    return sa.Policy(quasi_identifiers=["age"], sensitive=["illness"], method=method or sa.IPA(), **roles)


class TestModels:
    K, ALPHA, T = sa.KAnonymity(3), sa.AlphaKAnonymity("s", 0.5, 4), sa.TCloseness("s", 0.2)

    def test_monotonic_ones(self) -> None:
        models = [self.K, sa.DistinctLDiversity("s", 2), sa.KMap(2, "p"), self.ALPHA, self.T]
        assert [model.monotonic for model in models] == [True, True, True, False, False]
        assert [bound.monotonic for bound in self.ALPHA.bounds] == [True, False]

    def test_of_a_population(self) -> None:
        presence = sa.DeltaPresence(0.2, 0.5, "everyone")
        assert [(each.comparison, each.required, each.grain) for each in presence.bounds] == [
            (">=", 0.2, "class"),
            ("<=", 0.5, "class"),
            ("<=", 0, "node"),
        ]
        assert len(sa.DeltaPresence(0, 0.5, "everyone").bounds) == 2

    def test_k_above_which_no_attack_pays(self) -> None:
        asked = [(300, 4), (50, 10), (299, 4), (0.3, 0.1), (1, 3), (0, 0), (0, 2)]
        assert [sa.NoAttack(*each).k for each in asked] == [76, 6, 75, 4, 1, 1, 1]

    def test_k_is_the_largest(self) -> None:
        assert Criteria((self.K, self.T, self.ALPHA, sa.KMap(9, "p"))).k == 4
        assert Criteria((self.T,)).k == 1

    def test_bounds_that_prove_a_part(self) -> None:
        size, share, *_ = bounds = (*self.ALPHA.bounds, *self.T.bounds)
        assert Criteria((self.ALPHA, self.T)).partly_certain_bounds == bounds[1:]
        assert Criteria((self.ALPHA,), certain_bounds=(size, share)).partly_certain_bounds == ()
        assert Criteria((self.ALPHA,), counts_individuals=True).partly_certain_bounds == ()


class TestMethods:
    def test_pure_privacy(self) -> None:
        assert [sa.IPA(budget=sa.Budget(1, delta)).is_pure for delta in (0, "1e-9")] == [True, False]

    def test_some_epsilon(self) -> None:
        with pytest.raises(sa.PolicyError, match="ε must be positive"):
            sa.IPA(budget=sa.Budget(0, "1e-6"))
        assert sa.IPA().split is None
        assert sa.IPA(split={"node": "0.2", "cells": "0.5", "rolled-up": "0.3"}).split is not None
        with pytest.raises(sa.PolicyError, match="add up to 1"):
            sa.IPA(split={"cells": "0.5", "rolled-up": "0.5"})
        for node, rolled_up in (("0.2", "0.4"), ("0", "0.5")):
            with pytest.raises(sa.PolicyError, match="add up to 1"):
                sa.IPA(split={"node": node, "cells": "0.5", "rolled-up": rolled_up})

    def test_steps_of_a_cut(self) -> None:
        """Two a round and one for the first split of each number, of half of ε; of a set as of a label."""
        assert diffgen(specializations=3).step == Fraction(1, 12)
        assert diffgen(specializations=3, numeric={"age": (0, 100)}).step == Fraction(1, 14)

    def test_sensitivities_of_a_cut(self) -> None:
        settings = [diffgen(rows_per_individual=3), diffgen(rows_per_individual=3, utility="infogain")]
        assert [draws.sensitivity(each) for each in settings] == [3, 3 * (2**20 + 2)]
        assert [draws.is_monotonic(each) for each in settings] == [True, False]

    def test_thresholds_of_a_cut(self) -> None:
        """√2 / ε of an individual's rows, or what is given; more where noise alone would show more than a million."""
        half = Fraction(1, 2)
        assert [draws.threshold(None, half, 1), draws.threshold(None, half, 3)] == [3, 9]
        assert [draws.threshold(4.0, half, 1), draws.threshold(4.5, half, 1)] == [5, 5]
        paid = Charge("leaves", sa.Budget(half), None)
        sizes = (10**6, 10**9, 10**12)
        assert [draws.least_shown(diffgen(), paid, size) for size in sizes] == [3, 14, 28]
        assert draws.least_shown(diffgen(rows_per_individual=3), paid, 10**9) == 42
        assert draws.least_shown(diffgen(threshold=100), paid, 10**9) == 101
        assert draws.least_shown(diffgen(threshold=0), paid, 10) == 1


class TestSampledClasses:
    def test_gamma(self) -> None:
        assert gamma(0.3, math.log(2)) == pytest.approx(0.65)

    def test_of_nodes_that_are_chosen_on_the_sample(self) -> None:
        """ρ = (e^ε / (1 - β) - 1) e^(-2 ε'), γ = ρ / (1 + ρ); then the largest tail, a node."""
        assert delta_on_sample(50, 0.5, 0.5, 900.0, nodes=3) == pytest.approx(3 * 0.5**50)
        assert delta_on_sample(2, 0.5, 0.5, 900.0, nodes=9) == 1
        assert delta_on_sample(5, 0.3, 0.0, math.log(2), nodes=1) == pytest.approx(delta(5, 0.3, math.log(2)))
        assert delta_on_sample(20, 0.3, 0.25, 1.0, nodes=2) == pytest.approx(0.00014906587708, rel=1e-9)
        assert delta_on_sample(5, 0.1, 1.0, 1.2, nodes=1) == pytest.approx(0.02819385651325, rel=1e-9)
        assert delta_on_sample(20, 0.3, 1.0, 1.0, nodes=1) == 1
        with pytest.raises(sa.PolicyError, match="nodes must be"):
            delta_on_sample(20, 0.3, 0.25, 1.0, nodes=0)
        with pytest.raises(sa.PolicyError, match="beta must be"):
            delta_on_sample(20, 1.0, 0.25, 1.0, nodes=1)

    def test_the_largest_share(self) -> None:
        """Of those that cost less than 0.01, also beyond one that costs more, or where ε of a missing row ends."""
        assert delta(2, 0.093, 1.0) > 0.01
        assert maximum_beta(2, 1.0, 0.01) == Fraction(99, 1000)
        assert maximum_beta(50, 1.0, 0.99) == Fraction(632, 1000)
        assert maximum_beta(50, math.log(2), 0.99) == Fraction(1, 2)
        assert maximum_beta(5, 9.0, float(delta(5, 0.5, 9.0))) == Fraction(1, 2)
        with pytest.raises(sa.PolicyError, match="no beta of 1/1000 or more"):
            maximum_beta(2, 2.0, 1e-9)
        with pytest.raises(sa.PolicyError, match="k must be"):
            maximum_beta(1, 2.0, 0.5)
        least, most = float(delta(2, 0.001, 1.0)), float(delta(5, 0.999, 9.0))
        assert maximum_beta(2, 1.0, least) == Fraction(1, 1000)
        assert maximum_beta(5, 9.0, most) == Fraction(999, 1000)

    def test_a_missing_row_costs_no_more_but_for_rounding(self) -> None:
        just_enough = float(-np.log1p(-0.5) - NEAR)
        assert delta(5, 0.5, just_enough) > 0
        with pytest.raises(sa.PolicyError, match="epsilon must be at least"):
            delta(5, 0.5, just_enough - NEAR)


class TestEpsilonSafe:
    def test_the_share_is_admissible(self) -> None:
        """1 - e^-1 = 0.632120558828557678..."""
        cases = {"0.6321205588285576": True, "0.6321205588285577": False, "0.5": True, "0.9": False}
        assert {text: is_admissible(Fraction(text), Fraction(1)) for text in cases} == cases
        assert is_admissible(Fraction(1, 2), Fraction(7, 10))
        assert not is_admissible(Fraction(1, 2), Fraction(69, 100))
        assert not is_admissible(Fraction(1, 10**61), Fraction(1, 10**61))
        least = DIGITS.exp(Decimal(-1)).next_plus(DIGITS).next_plus(DIGITS)
        assert is_admissible(1 - Fraction(least), Fraction(1)), "what is known of e^-1 is enough"

    def test_delta_is_claimed_in_four_digits_rounded_up(self) -> None:
        assert claimed_delta(0.00012341) == Fraction("0.0001235")
        assert claimed_delta(0.0001234) == Fraction("0.0001235"), "the computed one may be a millionth too small"
        assert claimed_delta(0.0) == Fraction(1, 10**300)
        assert claimed_delta(0.00012341, Fraction("0.000123411")) == Fraction("0.000123411")
        assert claimed_delta(0.00012341, Fraction("0.00012341")) == Fraction("0.0001235")
        assert claimed_delta(0.00012341, Fraction("0.5")) == Fraction("0.0001235")
        just_enough = Fraction(Decimal.from_float(0.00012341) * Decimal("1.000001"))
        assert claimed_delta(0.00012341, just_enough) == just_enough

    def test_rows_that_scores_can_count(self) -> None:
        assert most_rows(5) * 5 <= most_rows(1) < (most_rows(5) + 1) * 5

    def test_nodes_among_which_one_is_drawn_on_the_sample(self) -> None:
        enough = claimed_delta(delta_on_sample(50, 0.3, 0.1, 1.1, 2))
        settings = sa.EpsilonSafe(k=50, beta="0.3", delta=enough, select_on="sample", epsilon_sampling=1)
        refuse_many_nodes(settings, 2)
        with pytest.raises(sa.PolicyError, match="costs δ"):
            refuse_many_nodes(settings, 3)


@dataclass
class Fixed:
    """A source that draws what it is given to, and notes what it is asked for."""

    times: list[int]
    asked: list[Any] = field(default_factory=list)

    def binomial(self, size: int, probability: object, *, runs: int) -> np.ndarray:
        self.asked.append((size, probability, runs))
        return np.array(self.times)

    def chosen(self, population: int, count: int) -> np.ndarray:
        return np.arange(population - count, population)

    def discrete_laplace_tail(self, count: int, charge: Charge, *, sensitivity: int) -> np.ndarray:
        self.asked.append((count, sensitivity))
        return np.arange(count)


def bound(policy: sa.Policy, **domains: str) -> Any:
    return SimpleNamespace(policy=policy, domains=domains)


class TestChance:
    PAID = Charge("cells", sa.Budget(1), None)

    def test_empty_cells_that_noise_alone_shows(self) -> None:
        source = Fixed([2, 0, 1])
        drawn = drawn_unseen(cast(Any, source), self.PAID, 3, 20, 5, 3).to_pydict()
        assert [*zip(*drawn.values(), strict=True)] == [(0, 3, 20), (0, 4, 21), (2, 4, 22)]
        probability = empty_cell_probability(20, Fraction(1), rows=3)
        assert source.asked == [(5, probability, 3), (3, 3)]
        ranks = reached_by_noise(cast(Any, Fixed([1])), self.PAID, 1, 2, 9, 1)
        assert [each.tolist() for each in ranks] == [[8]]

    def test_the_unit(self) -> None:
        people = private(sa.IPA(rows_per_individual=3), individual="id")
        assert unit_of(private(), None) == unit_of(private(), "id") == ROW
        assert [unit_of(people, name) for name in (None, "patient")] == [Unit("id", 3), Unit("patient", 3)]

    def test_observed_domains(self) -> None:
        accepting = private(sa.IPA(accept_observed_domain=True))
        refuse_observed(bound(private(), age="declared"))
        refuse_observed(bound(accepting, age="observed"))
        refuse_observed(bound(private(IPAAsPublished()), age="observed"))
        with pytest.raises(sa.TaxonomyError, match="read off the data"):
            refuse_observed(bound(private(), age="declared", illness="observed"))

    @pytest.mark.parametrize(
        ("origin", "public", "name"),
        [
            (("id", ()), (), "id"),
            (("id", ("a",)), ("b",), "id"),
            (("id", ("a",)), ("/b.csv",), "id"),
            (("id", ("a",)), ("a", "b"), None),
            (("id", ()), ("/b.csv",), None),
            (None, (), None),
        ],
    )
    def test_whose_rows_they_are(self, origin: Any, public: tuple[str, ...], name: str | None) -> None:
        """A column of what is charged, and of nothing that is public, as far as that can be seen."""
        traced = origin and SimpleNamespace(name=origin[0], tables=frozenset(origin[1]))
        engine = cast(Any, SimpleNamespace(traced=lambda *_: [traced]))
        source = cast(Any, SimpleNamespace(description="visits"))
        dataset = DataSet("visits", public=tuple(map(KnownSource, public)))
        policy = private(individual="id")
        assert individual_of(engine, source, private(), dataset) is None
        if name is None:
            with pytest.raises(sa.PolicyError, match="cannot be traced to a plain column"):
                individual_of(engine, source, policy, dataset)
        else:
            assert individual_of(engine, source, policy, dataset) == name
