"""What IPA as published shows, and what nodes are worth to it, against the oracle; chance is fixed and known."""

from collections import Counter
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlanon.papers import IPAAsPublished
from tests import oracle
from tests.effort import examples
from tests.fixed_chance import FixedChance
from tests.property.test_private_releases import SMALL, quoted, table_of
from tests.strategies import Case, cases

EXAMPLES = settings(max_examples=examples(10), deadline=None, suppress_health_check=[HealthCheck.too_slow])
T = 3
PAPER = IPAAsPublished(threshold=T, budget=SMALL)

chances = st.builds(
    partial(FixedChance, PAPER),
    st.sampled_from([-2.5, -1.0, 0.0, 1.0]),
    st.sampled_from([-3.0, 0.4, 0.5, 1.0, 2.6]),
    # No share of up to five values that weigh the same, where the last bit would decide.
    st.integers(0, 996).map(lambda place: (place + 0.5) / 997),
)


def expected(case: Case, chance: FixedChance, node: dict[str, int]) -> tuple[Counter[tuple[oracle.Value, ...]], float]:
    return oracle.release_as_published(
        case.rows,
        case.taxonomies,
        node,
        case.sensitive,
        threshold=chance.threshold,
        counterfeits=chance.counterfeits,
        uniform=chance.number,
        epsilon=chance.value_epsilon,
    )


@EXAMPLES
@given(cases(max_rows=16, max_quasi_identifiers=3), chances)
def test_a_public_node_shows_what_the_oracle_shows(case: Case, chance: FixedChance) -> None:
    with table_of(case, IPAAsPublished, threshold=T, node=case.node) as (session, policy):
        release = session.anonymize("given", policy, "released", random_source=chance)
        shown = ", ".join(map(quoted, [*case.quasi_identifiers, case.sensitive]))
        rows = session.connection.execute(f"SELECT {shown} FROM released").fetchall()
        assert Counter(rows) == expected(case, chance, case.node)[0]
        assert len(rows) == release.report.released_rows
        assert session.connection.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]


@EXAMPLES
@given(cases(max_rows=16, max_quasi_identifiers=3), chances)
def test_all_nodes_are_worth_what_the_oracle_says_and_the_drawn_one_is_shown(case: Case, chance: FixedChance) -> None:
    with table_of(case, IPAAsPublished, threshold=T) as (session, policy):
        release = session.anonymize("given", policy, "released", random_source=chance)
        nodes = oracle.lattice(case.taxonomies, case.quasi_identifiers)
        utilities = [expected(case, chance, node)[1] for node in nodes]
        assert sorted(chance.utilities) == pytest.approx(sorted(utilities), abs=1e-9)
        shown = ", ".join(map(quoted, [*case.quasi_identifiers, case.sensitive]))
        rows = session.connection.execute(f"SELECT {shown} FROM released").fetchall()
        assert Counter(rows) == expected(case, chance, release.node)[0]


def test_the_order_of_rows_does_not_matter() -> None:
    """Nor does it show which rows are counterfeit: rows are sorted."""
    rows = [{"a": number % 3, "s": "xyz"[number % 2]} for number in range(12)]
    taxonomy = [[str(value), "*"] for value in range(3)]
    found = []
    for given_rows in (rows, rows[::-1]):
        case = Case(given_rows, {"a": "INTEGER", "s": "VARCHAR"}, {"a": taxonomy}, "s", {"a": 0})
        with table_of(case, IPAAsPublished, threshold=T, node=case.node) as (session, policy):
            session.anonymize("given", policy, "released", random_source=FixedChance(PAPER, 0, 2, 0.9))
            found.append(session.connection.execute("SELECT * FROM released").fetchall())
    assert found[0] == found[1] == sorted(found[0])
    assert len(found[0]) == 18
