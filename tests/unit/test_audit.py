"""Audits find mechanisms guilty that are, with power, and others not, but for the chance that they state."""

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincinv

import sqlanon as sa
from sqlanon.audits.audit import chart
from sqlanon.audits.audit_events import (
    ABSENT,
    Event,
    Samples,
    lower_probability,
    offered_events,
    upper_probability,
    weighed,
)
from sqlanon.audits.audit_outputs import countable, default_features
from sqlanon.evaluation import audit_privacy

ONE = sa.Budget(1)
Draw = Callable[[np.random.Generator, Any, int], Any]


@dataclass
class Vectorised:
    """A mechanism that draws all runs at once: ``draw(generator, table, runs)`` has an output a row."""

    draw: Draw
    seed: int = 0

    def __post_init__(self) -> None:
        self.generator = np.random.default_rng(self.seed)

    def outcomes(self, table: Any, runs: int) -> Mapping[Any, int]:
        return Counter(map(countable, self.draw(self.generator, table, runs).tolist()))


def geometric(generator: np.random.Generator, table: int, runs: int, epsilon: float = 1.0) -> Any:
    """A count with discrete Laplace noise: ε-private."""
    p = 1 - math.exp(-epsilon)
    return table + generator.geometric(p, runs) - generator.geometric(p, runs)


def randomized_response(generator: np.random.Generator, table: int, runs: int) -> Any:
    """A bit that is flipped with probability 1 / (1 + e): 1-private, and tight."""
    return table ^ (generator.random(runs) < 1 / (1 + math.e))


class TestBounds:
    def test_they_are_those_of_clopper_and_pearson(self) -> None:
        for successes in (0, 1, 17, 99, 100):
            counts, failures = np.array([successes]), 100 - successes
            low = betaincinv(successes, failures + 1, 0.05) if successes else 0.0
            high = betaincinv(successes + 1, failures, 0.95) if failures else 1.0
            assert lower_probability(counts, 100, 0.05)[0] == pytest.approx(low)
            assert upper_probability(counts, 100, 0.05)[0] == pytest.approx(high)


class TestPower:
    def test_a_geometric_mechanism_shows_nearly_all_that_it_loses(self) -> None:
        for seed in range(5):
            audit = audit_privacy(Vectorised(geometric, seed), 10, 11, claimed=ONE)
            assert 0.9 < audit.lower_bound <= 1
            assert audit.violates is False

    def test_it_is_guilty_of_a_claim_that_is_a_little_too_low(self) -> None:
        audit = audit_privacy(Vectorised(geometric), 10, 11, claimed=sa.Budget("0.9"))
        assert audit.violates
        assert not audit.exact

    def test_a_threshold_on_single_rows_leaks_whatever_delta_is_claimed(self) -> None:
        """A class of one row is published with probability e^-ε / 2 = 0.45, and never without it (E5)."""

        def draw(generator: np.random.Generator, table: int, runs: int) -> Any:
            return (table > 0) & (table > 2 + generator.laplace(scale=1 / 0.1, size=runs))

        audit = audit_privacy(Vectorised(draw), 1, 0, claimed=sa.Budget("0.1", "0.4"))
        assert audit.violates
        assert audit.lower_bound > 5
        assert not audit_privacy(Vectorised(draw), 1, 0, claimed=sa.Budget("0.1", "0.46")).violates


class TestExact:
    def test_randomized_response_is_computed(self) -> None:
        truth = math.e / (1 + math.e)
        method = SimpleNamespace(distribution=lambda bit: {bit: truth, 1 - bit: 1 - truth}, claimed=ONE)
        audit = audit_privacy(method, 0, 1)
        assert audit.exact
        assert audit.lower_bound == pytest.approx(1)
        assert audit.violates is False
        assert (audit.runs, audit.confidence, audit.claimed) == (None, None, ONE)
        assert audit.divergence == pytest.approx(0, abs=1e-12)
        lower = audit_privacy(method, 0, 1, claimed=sa.Budget("0.99"))
        assert lower.violates
        assert lower.divergence == pytest.approx(truth - math.exp(0.99) * (1 - truth))

    def test_what_only_one_table_can_give_is_an_infinite_loss(self) -> None:
        method = SimpleNamespace(distribution=lambda table: {table: 1.0})
        audit = audit_privacy(method, "a", "b", claimed=ONE)
        assert audit.lower_bound == math.inf
        assert json.loads(audit.model_dump_json())["lower_bound"] == "Infinity"
        rows = chart({"publishes": audit, "again": audit}).to_dict()["datasets"].popitem()[1]
        assert [(row["name"], row["words"], row["claimed"]) for row in rows] == [
            ("publishes", "ε = ∞", 1.0),
            ("again", "ε = ∞", 1.0),
        ]


class TestFeatures:
    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=2),
            lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(max_size=2), parts, max_size=4),
        )
    )
    def test_anything_that_is_made_of_values_has_views(self, output: Any) -> None:
        views = default_features(output)
        assert default_features(countable(output)) == views
        assert all(hash(value) is not None for value in views.values())

    def test_equal_outputs_of_different_types_are_equal(self) -> None:
        assert countable(np.array([[1, 2], [3, 4]])) == countable([(1, 2), [3.0, 4]])
        assert countable({"a": {1, 2}, "b": math.nan}) == countable({"b": np.float64("nan"), "a": frozenset({2, 1})})

    def test_rows_are_seen_by_item_and_by_field(self) -> None:
        views = default_features([("M", "Flu"), ("F", "Flu"), ("M", "Flu")])
        items = {name[1]: count for name, count in views.items() if isinstance(name, tuple)}
        assert items == {("M", "Flu"): 2, ("F", "Flu"): 1, (0, "M"): 2, (0, "F"): 1, (1, "Flu"): 3}

    def test_counts_by_cell_are_added_up_by_field_in_any_part(self) -> None:
        views = default_features((1, {("old", "Flu"): 3, ("young", "Flu"): 5}))
        assert views["the sum of its numbers (part 2)"] == 8
        assert views["the sum of the entries with a certain value in a certain field (part 2)", (1, "Flu")] == 8
        assert views["the value of an entry (part 2)", ("old", "Flu")] == 3

    def test_pairs_of_a_cell_and_a_count_are_a_mapping(self) -> None:
        as_mapping = default_features({("old", "Flu"): 3, ("young", "Flu"): 5})
        as_set = default_features(frozenset({(("old", "Flu"), 3), (("young", "Flu"), 5)}))
        as_tuple = default_features(((("old", "Flu"), 3), (("young", "Flu"), 5)))
        del as_mapping["the output"], as_set["the output"]  # type: ignore[attr-defined]
        assert as_set == as_mapping
        assert as_mapping.items() <= as_tuple.items()

    def test_own_features_see_the_output_as_it_was_returned(self) -> None:
        generator = np.random.default_rng(4)

        def published(table: int) -> dict[str, Any]:
            return {"noise": generator.normal(), "count": int(geometric(generator, table, 1)[0])}

        audit = audit_privacy(published, 3, 4, 4_000, features=lambda output: {"the count": output["count"]})
        assert 0.6 < audit.lower_bound <= 1
        assert audit.event is not None
        assert "the count" in audit.event or "evidence" in audit.event

    def test_an_event_holds_for_what_was_counted(self) -> None:
        outputs = [3, 5, 5, 8, None]
        samples = Samples(Counter(outputs), Counter(outputs[:1]), 5)
        above, below = Event("the output", threshold=5.0), Event("the output", threshold=5.0, is_below=True)
        some = Event("the output", values=frozenset({3, 8}))
        missing = Event("its size", values=frozenset({ABSENT}))
        counts = samples.count([above, below, some, missing], default_features)
        assert counts.tolist() == [[3, 0], [2, 1], [2, 1], [5, 1]]


class TestSearch:
    @given(
        st.lists(st.tuples(st.sampled_from([0, 1, 2.5, 7]), st.sampled_from("ab")), min_size=40, max_size=40),
        st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=40, max_size=40),
        st.booleans(),
    )
    def test_every_event_that_is_offered_happened_as_often_as_is_said(
        self, first: list[Any], second: list[Any], is_reversed: bool
    ) -> None:
        weighing = Samples(Counter(second), Counter(first), 40)
        choosing = Samples(Counter(first), Counter(second), 40)
        views, tally = weighed(weighing, lambda output: default_features(output[: 1 + (output[1] == "a")]))
        kinds = set()
        for nested in offered_events(tally, choosing.tally(views), is_reversed):
            events = [nested.event(position) for position in range(len(nested.more))]
            kinds.add(events[0].values is None)
            counted = choosing.count(events, views)
            assert np.array_equal(counted[:, ::-1] if is_reversed else counted, np.c_[nested.more, nested.less])
        assert kinds == {True, False}


class TestBadInput:
    def test_all_problems_are_told_at_once(self) -> None:
        with pytest.raises(sa.PolicyError) as refused:
            audit_privacy("no method", 0, 1, 3, 1.0)
        assert len(refused.value.problems) == 3
        for delta in ("0.1", 0.1, -1, 2):
            with pytest.raises(sa.PolicyError, match="delta"):
                audit_privacy(Vectorised(geometric), 0, 1, claimed=ONE, delta=delta)

    def test_outputs_that_cannot_be_counted(self) -> None:
        class Opaque:
            __hash__ = None  # type: ignore[assignment]

        with pytest.raises(sa.PolicyError, match="Opaque has no hash"):
            audit_privacy(lambda _: Opaque(), 0, 1, 8)

    def test_counts_that_do_not_add_up(self) -> None:
        with pytest.raises(sa.PolicyError, match="asked for 2 runs and returned counts of 3"):
            audit_privacy(SimpleNamespace(outcomes=lambda *_: {0: 3}), 0, 1, 8)

    def test_a_policy_needs_a_session(self) -> None:
        policy = sa.Policy(quasi_identifiers=["age"], privacy=[sa.KAnonymity(2)])
        with pytest.raises(sa.PolicyError, match="needs a session"):
            audit_privacy(policy, "visits", "fewer_visits")

    def test_what_the_mechanism_raises_is_raised(self) -> None:
        def broken(_: int) -> int:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            audit_privacy(broken, 0, 1, 8)


def test_runs_that_are_too_few_to_fail_are_told() -> None:
    notes = [
        any("So few runs" in note for note in audit_privacy(len, [1], [1, 2], runs, claimed=sa.Budget(4)).notes)
        for runs in (40, 4_000)
    ]
    assert notes == [True, False]
