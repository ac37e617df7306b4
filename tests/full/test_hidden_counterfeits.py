"""What is expected of the classes that lack rows, and what is made of it, against brute force."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlglot import exp

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.chance.exact import Floats, Integers
from sqlanon.methods.h_ceiling.ceiling_queries import CHANCES, KNOWN, value_column, with_labels
from sqlanon.methods.h_ceiling.counterfeits import fill, put_entries
from sqlanon.nodes.table import encode_table
from sqlanon.queries.kit.nodes import aliased, column, select
from sqlanon.queries.recodings import AtNode
from sqlanon.release.publishing import make_labels
from tests import oracle
from tests.case_tables import session_of
from tests.effort import examples
from tests.engines import engine_of
from tests.property.test_impossible_pairs import Entries, cases_with_entries, policy_of
from tests.strategies import Case

TELLING_LAST = Case(
    rows=[
        {"a": str(place % 2), "b": str(place // 4), "s": "xy"[place // 4] if place % 4 else "z"} for place in range(8)
    ],
    columns={"a": "VARCHAR", "b": "VARCHAR", "s": "VARCHAR"},
    taxonomies={"a": [["0", "*"], ["1", "*"]], "b": [["0", "*"], ["1", "*"]]},
    sensitive="s",
    node={"a": 0, "b": 0},
)
"""People whose value depends on b, and not on a, which the policy has first."""

SOME = settings(max_examples=examples(48), deadline=None, suppress_health_check=[HealthCheck.too_slow])


class AllCopied(sa.SeededSource):
    """A source by which every counterfeit copies the first row that may be copied."""

    def sampled(self, weights: Integers, size: int) -> Integers:
        return np.zeros(size, dtype=np.int64)


class NothingCopied(sa.SeededSource):
    """A source by which no counterfeit copies a row, and all have the value at one place of what is expected."""

    def __init__(self, place: float) -> None:
        super().__init__(0)
        self.place = place

    def sampled(self, weights: Integers, size: int) -> Integers:
        return np.full(size, len(weights) - 1)

    def uniform(self, size: int) -> Floats:
        return np.full(size, self.place)


def chances_of(session: sa.Session, policy: sa.Policy, node: oracle.Node) -> dict[tuple[Any, ...], dict[str, float]]:
    """By the labels of the classes that lack rows, the chances of values."""
    engine = engine_of(session)
    bound = prepare(engine, engine.resolve("given"), policy)
    with engine.transaction(), engine.scratch():
        table = encode_table(engine, bound, label_losses=("lm",))
        put_entries(engine, policy)
        fill(engine, table, (*node.values(),), sa.SeededSource(0))
        encoding = table.encoding
        (name,), code = encoding.spec.protected, value_column(encoding)
        query = select(
            [aliased(column(encoding.raw(name), "anon_known"), "anon_value"), column("anon_chance", "anon_chances")],
            exp.alias_(CHANCES.table, "anon_chances", table=True),
        )
        on = column(code, "anon_known").eq(column(code, "anon_chances"))
        query = query.join(exp.alias_(KNOWN.table, "anon_known", table=True), on=on, copy=False)
        recoding = AtNode(encoding, (*node.values(),))
        make_labels(engine, recoding)
        rows = engine.fetch(with_labels(recoding, query, "anon_chances"), "x", "class")
        width = len(encoding.spec.shapes)
    found: dict[tuple[Any, ...], Counter[str]] = {}
    for row in rows:
        labels = tuple(row[encoding.label(place)] for place in range(width))
        found.setdefault(labels, Counter())[str(row["anon_value"])] += row["anon_chance"]
    return {
        labels: {value: chance / chances.total() for value, chance in chances.items()}
        for labels, chances in found.items()
    }


def barred_of(case: Case, entries: Entries, labels: tuple[Any, ...]) -> set[str]:
    known = dict(zip(case.quasi_identifiers, labels, strict=True))
    return oracle.barred_values(known, case.taxonomies, case.node, entries, case.sensitive)


def node_of(case: Case) -> dict[str, int]:
    return {name: case.node[name] for name in case.quasi_identifiers}


@SOME
@example((TELLING_LAST, []), False, 4)
@given(cases_with_entries(), st.booleans(), st.integers(2, 9))
def test_chances_are_those_of_other_rows(drawn: tuple[Case, Entries], has_entries: bool, k: int) -> None:
    case, entries = drawn[0], drawn[1] if has_entries else []
    k = min(k, len(case.rows))
    wanted = oracle.BackOff(case.rows, case.taxonomies, node_of(case), case.sensitive)
    lacking = {labels: wanted.own(labels) for labels in wanted.members if wanted.own(labels).total() < k}
    expected = {labels: wanted.chances(labels, barred_of(case, entries, labels)) for labels in lacking}
    with session_of(case) as session:
        policy = policy_of(case, entries, k=k)
        if not all(expected.values()):
            stuck = sum(not chances for chances in expected.values())
            with pytest.raises(sa.UnsatisfiableError, match=f" {stuck} classes that lack rows never get any value"):
                chances_of(session, policy, node_of(case))
            return
        found = chances_of(session, policy, node_of(case))
    assert {labels: pytest.approx(chances, abs=1e-12) for labels, chances in expected.items()} == found


@SOME
@given(cases_with_entries(), st.booleans(), st.integers(2, 9), st.floats(0.01, 0.99), st.booleans())
def test_counterfeits_copy_rows_or_are_drawn_by_chances(
    drawn: tuple[Case, Entries], has_entries: bool, k: int, place: float, copies: bool
) -> None:
    case, entries = drawn[0], drawn[1] if has_entries else []
    k = min(k, len(case.rows))
    wanted = oracle.BackOff(case.rows, case.taxonomies, node_of(case), case.sensitive)
    source = sa.SeededSource(7) if copies else NothingCopied(place)
    with session_of(case) as session:
        try:
            session.anonymize(
                "given",
                policy_of(case, entries, k=k),
                "released",
                tables={"counterfeits": "invented"},
                random_source=source,
            )
        except sa.UnsatisfiableError:
            assert has_entries
            return
        invented = session.connection.table("invented").fetchall()
    names = {tuple(map(oracle.text, labels)): labels for labels in wanted.members}
    found: dict[Any, Counter[str]] = {}
    for *labels, value, count in invented:
        found.setdefault(names[tuple(labels)], Counter())[str(value)] += count
    order = {value: at for at, value in enumerate(sorted({row[case.sensitive] for row in case.rows}))}
    order = {str(value): at for value, at in order.items()}
    own = {labels: wanted.own(labels) for labels in wanted.members}
    assert {labels: drawn.total() for labels, drawn in found.items()} == {
        labels: k - rows.total() for labels, rows in own.items() if rows.total() < k
    }
    for labels, values in found.items():
        barred = barred_of(case, entries, labels)
        chances = wanted.chances(labels, barred)
        assert not values.keys() & barred
        assert values.keys() <= chances.keys() | (+own[labels]).keys() if copies else values.keys() <= chances.keys()
        assert has_entries or all(wanted.is_seen(labels, value) for value in values)
        if not copies:
            (value,) = values
            before = sum(chance for other, chance in chances.items() if order[other] < order[value])
            assert before - 1e-12 <= place <= before + chances[value] + 1e-12


def test_impossible_combinations_are_not_copied() -> None:
    """A true row has one, and comes first."""
    with sa.connect() as session:
        rows = "('m', 'a'), ('m', 'b'), ('f', 'b')"
        session.connection.execute(f"CREATE TABLE people AS FROM (VALUES {rows}) AS people (sex, ill)")
        session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
        method = sa.HCeiling(3, h=0, impossible=[{"sex": "m", "ill": "a"}])
        policy = sa.Policy(quasi_identifiers=["sex"], sensitive=["ill"], method=method)
        session.anonymize("people", policy, "released", random_source=AllCopied(0))
        found = Counter(session.connection.table("released").fetchall())
    assert found == {("m", "a"): 1, ("m", "b"): 2, ("f", "b"): 3}
