"""What a row changes of the chances of every cut, computed: never more than what is spent on it."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.audits.mechanisms import Remembered
from sqlanon.binding.prepare import prepare
from sqlanon.methods.diffgen.diffgen_run import checked, encode
from tests.effort import examples
from tests.engines import engine_of
from tests.exact_diffgen import Path, path_probabilities
from tests.naive_diffgen import Case
from tests.property.test_diffgen import cases, policy, session_of

EXAMPLES = settings(
    max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
CLOSE = 1e-9


@contextmanager
def probabilities(case: Case, **options: Any) -> Iterator[dict[Path, tuple[float, Any]]]:
    with session_of(case) as session:
        engine = engine_of(session)
        bound = checked(prepare(engine, engine.resolve("given"), policy(case, **options)))
        with engine.transaction(), engine.scratch():
            points = encode(engine, bound, bound.source)
            evidence = Remembered(engine, sa.DiffGen.of(bound.policy).utility)
            yield path_probabilities(points.axes, points.classes, sa.DiffGen.of(bound.policy), evidence)


def worst_loss(case: Case, row: dict[str, Any], **options: Any) -> tuple[float, float]:
    """The largest loss of anything that can be drawn, and the most that is spent on anything."""
    with_one = Case(**{**vars(case), "rows": [*case.rows, row]})
    with probabilities(case, **options) as without, probabilities(with_one, **options) as others:
        assert math.isclose(sum(chance for chance, _ in without.values()), 1, abs_tol=1e-6)
        loss = 0.0
        for path in without.keys() | others.keys():
            (one, spent), (other, same) = without[path], others[path]
            assert spent == same
            if one > 1e-300 and other > 1e-300:
                assert abs(math.log(one / other)) <= spent + CLOSE
                loss = max(loss, abs(math.log(one / other)))
        return loss, float(max(spent for _, spent in without.values()))


@EXAMPLES
@given(
    cases(predictors=2, values=3, rounds=2),
    st.sampled_from(["max", "infogain"]),
    st.sampled_from([1, 4]),
    st.sampled_from(["permute-and-flip", "exponential"]),
)
def test_no_row_costs_more_than_is_spent(case: Case, utility: str, epsilon: int, selection: str) -> None:
    assume(case.rows)
    *rows, row = case.rows
    options = {"utility": utility, "budget": sa.Budget(epsilon), "selection": selection}
    worst_loss(Case(**{**vars(case), "rows": rows}), row, **options)


def test_first_splits_of_several_numbers_are_paid_for_one_by_one() -> None:
    """They look at the same rows: a row can change the draws of all of them, each by nearly what a step costs.

    Without the row all splits are worth as much as each other; with it, the first of each number is worth a row more.
    """
    names = ("one", "two", "three")
    case = Case(
        [dict.fromkeys(names, 0) | {"target": "c0"}], {}, dict.fromkeys(names, (0, 3)), {}, ("c0", "c1"), names, 1
    )
    row = dict.fromkeys(names, 1) | {"target": "c1"}
    wanted = policy(case, budget=sa.Budget(100)).method
    loss, spent = worst_loss(case, row, budget=wanted.budget)
    # Three splits and a choice.
    assert spent == 4 * wanted.step
    assert 2 * wanted.step < loss <= spent
