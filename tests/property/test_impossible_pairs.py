"""Combinations that no counterfeit gets, against brute force: which classes they are of, and what is drawn there."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.chance.exact import Integers
from tests import oracle
from tests.case_tables import session_of
from tests.effort import examples
from tests.property.test_h_ceiling import counted, filled_cases
from tests.strategies import Case

Entries = list[dict[str, str]]
Draws = Counter[tuple[tuple[int, ...], int]]

INVENTED = {"counterfeits": "invented"}


class WatchedSource(sa.SeededSource):
    """A source that takes note of the weights by which values are drawn, and of how many are."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.draws: Draws = Counter()

    def sampled(self, weights: Integers, size: int) -> Integers:
        self.draws[tuple(sorted(weights[weights > 0].tolist())), size] += 1
        return super().sampled(weights, size)


@st.composite
def cases_with_entries(draw: st.DrawFn) -> tuple[Case, Entries]:
    """A table, and combinations of labels of its taxonomies, of any level, with a value that may be of no row."""
    case = draw(filled_cases().filter(lambda case: "counterfeits" not in case.columns))
    values = sorted({oracle.text(row[case.sensitive]) or "" for row in case.rows} | {"nowhere"})
    labels = {
        name: sorted({label for row in taxonomy for label in row if label is not None})
        for name, taxonomy in case.taxonomies.items()
    }
    named = st.lists(st.sampled_from(sorted(labels)), min_size=1, max_size=2, unique=True)
    entry = named.flatmap(
        lambda names: st.fixed_dictionaries(
            {**{name: st.sampled_from(labels[name]) for name in names}, case.sensitive: st.sampled_from(values)}
        )
    )
    return case, draw(st.lists(entry.filter(lambda found: len(found) > 1), min_size=1, max_size=6))


def policy_of(case: Case, entries: Sequence[Mapping[str, str]], **more: Any) -> sa.Policy:
    """Of the node of the case alone."""
    return sa.Policy(
        quasi_identifiers=case.quasi_identifiers,
        sensitive=[case.sensitive],
        rest="identifier",
        minimum_levels=case.node,
        maximum_levels=case.node,
        method={"model": "h-ceiling", "impossible": entries, **more},
    )


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases_with_entries(), st.integers(2, 9), st.sampled_from(["marginal", "uniform"]), st.integers(0, 99))
def test_no_counterfeit_has_one_and_others_are_drawn_by_their_weights(
    drawn: tuple[Case, Entries], k: int, fill: str, seed: int
) -> None:
    case, entries = drawn
    names, sensitive, node, k = case.quasi_identifiers, case.sensitive, case.node, min(k, len(case.rows))
    rows = Counter(oracle.text(row[sensitive]) for row in case.rows)
    weights = rows if fill == "marginal" else Counter(dict.fromkeys(rows, 1))
    source, policy = WatchedSource(seed), policy_of(case, entries, k=k, fill=fill)
    with session_of(case) as session:
        true = oracle.generalize(case.rows, case.taxonomies, node)
        wanted: Counter[frozenset[str]] = Counter()
        stuck = 0
        barred = {}
        for labels, members in oracle.classes(true, names).items():
            known = dict(zip(names, labels, strict=True))
            never = oracle.barred_values(known, case.taxonomies, node, entries, sensitive)
            barred[tuple(map(oracle.text, labels))] = never
            if len(members) < k:
                wanted[frozenset(never & {*rows})] += k - len(members)
                stuck += never >= {*rows}
        if stuck:
            with pytest.raises(sa.UnsatisfiableError, match=f" {stuck} classes that lack rows never get any value"):
                session.anonymize("given", policy, "released", tables=INVENTED, random_source=source)
            assert ("released",) not in session.connection.sql("SHOW TABLES").fetchall()
            return
        release = session.anonymize("given", policy, "released", tables=INVENTED, random_source=source)
        released, added = (session.connection.table(name) for name in ("released", "invented"))
        shown = [dict(zip(released.columns, row, strict=True)) for row in released.fetchall()]
        invented = added.fetchall()
    # True rows stay, such as have an impossible combination, too.
    columns = [*names, sensitive]
    assert counted(shown, columns) - counted(true, columns) == Counter(
        {tuple(map(oracle.text, key)): count for *key, count in invented}
    )
    assert not counted(true, columns) - counted(shown, columns)
    for *labels, value, _ in invented:
        assert oracle.text(value) not in barred[tuple(labels)]
    assert source.draws == Counter(
        (tuple(sorted(weight for value, weight in weights.items() if value not in never)), missing)
        for never, missing in wanted.items()
    )
    unheard = [place for place, entry in enumerate(entries) if entry[sensitive] not in rows]
    notes = [note for note in release.report.notes if "no row has the value" in note]
    assert len(notes) == bool(unheard)
    assert all(f"impossible[{place}]" in note for note in notes for place in unheard)


def test_values_of_a_class_are_drawn_as_often_to_one_another() -> None:
    """12,000 draws for each of two sets: no count is further from its mean than five standard deviations.

    Drawn from all values again and again until one fits, or from the values alone, each would be further off by far.
    """
    with sa.connect() as session:
        session.connection.execute(
            "CREATE TABLE people AS SELECT i AS id, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex, "
            "['flu', 'flu', 'flu', 'cold', 'cold', 'birth'][1 + i // 2 % 6] AS illness FROM range(12000) AS numbers (i)"
        )
        session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
        rule = {"id": {"kind": "intervals", "widths": [10], "minimum": 0, "maximum": 11999}}
        method = sa.HCeiling(3, h=0, fill="marginal", impossible=[{"sex": "m", "illness": "birth"}])
        policy = sa.Policy(quasi_identifiers=["id", "sex"], sensitive=["illness"], taxonomies=rule, method=method)
        session.anonymize("people", policy, "released", tables=INVENTED, random_source=sa.SeededSource(3))
        added = session.connection.sql("SELECT sex, illness, sum(counterfeits) FROM invented GROUP BY ALL").fetchall()
    found = {(sex, illness): int(count) for sex, illness, count in added}
    expected = {
        ("f", "flu"): 1 / 2, ("f", "cold"): 1 / 3, ("f", "birth"): 1 / 6, ("m", "flu"): 3 / 5, ("m", "cold"): 2 / 5
    }  # fmt: skip
    assert found.keys() == expected.keys()
    for key, share in expected.items():
        assert abs(found[key] - 12000 * share) < 5 * np.sqrt(12000 * share * (1 - share)), key


def test_a_label_that_stands_for_others_too_bars_nothing() -> None:
    """No man gives birth, but of the class of both sexes that lacks two rows a counterfeit may."""
    with sa.connect() as session:
        rows = "('a', 'm', 'flu'), ('b', 'f', 'birth'), ('b', 'f', 'flu'), ('b', 'm', 'flu')"
        session.connection.execute(f"CREATE TABLE people AS FROM (VALUES {rows}) AS people (city, sex, illness)")
        session.taxonomies.load("city", sa.Taxonomy.flat(["a", "b"]))
        session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
        source = WatchedSource(1)
        levels = {"city": 0, "sex": 1}
        policy = sa.Policy(
            quasi_identifiers=[*levels],
            sensitive=["illness"],
            minimum_levels=levels,
            maximum_levels=levels,
            method=sa.HCeiling(3, h=1, fill="uniform", impossible=[{"sex": "m", "illness": "birth"}]),
        )
        session.anonymize("people", policy, "released", random_source=source)
    assert source.draws == Counter({((1, 1), 2): 1})
