"""Scores of nodes, by which private methods choose one, against the oracle."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlanon.engines.duckdb import Engine
from sqlanon.methods.noisy_node import shared as node_scores
from sqlanon.methods.noisy_node.ipa import scores as scores_of_nodes
from sqlanon.methods.noisy_node.shared import prepared
from sqlanon.nodes import roll_up
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.queries.noise import WHOLE, level_losses
from tests import oracle
from tests.engines import engine_of
from tests.property.test_private_releases import EXAMPLES, table_of
from tests.strategies import Case, cases


def scores(case: Case, threshold: int, reach: int | None = None) -> dict[tuple[int, ...], int]:
    """Without a reach, all nodes are counted exactly, however far below the best they are."""
    with encoded(case) as (engine, table):
        reach = len(case.rows) * WHOLE if reach is None else reach
        found = scores_of_nodes(engine, table, threshold, reach)
        return dict(zip(table.context.lattice.nodes(), map(int, found), strict=True))


@contextmanager
def encoded(case: Case, **options: object) -> Iterator[tuple[Engine, EncodedTable]]:
    """The cells of a table, under a policy with other options if they are given."""
    with table_of(case) as (session, policy):
        engine = engine_of(session)
        bound = prepared(engine, engine.resolve("given"), policy.model_copy(update=options))
        with engine.transaction(), engine.scratch():
            table = encode_table(engine, bound, label_losses=("ncp",))
            yield engine, table


WIDE = Case(
    [
        {"a": one % 8, "b": one * one % 7, "c": one % 5 + one % 3, "s": one % 2}
        for one in range(60)
        for _ in range(one % 4)
    ],
    dict.fromkeys("abcs", "INTEGER"),
    {name: [[str(value), str(value // 2), str(value // 4), "*"] for value in range(8)] for name in "abc"},
    "s",
    dict.fromkeys("abc", 0),
)
"""90 rows, 64 nodes."""


reaches = st.integers(0, 4 * WHOLE) | st.integers(0, 8).map(lambda halves: halves * WHOLE // 2)


class TestScores:
    @EXAMPLES
    @given(cases(max_rows=8, max_quasi_identifiers=3), st.integers(1, 5))
    def test_they_are_those_of_the_oracle(self, case: Case, threshold: int) -> None:
        """Up to what rounding losses down to parts of a whole takes away, which is the same for every table."""
        for levels, score in scores(case, threshold).items():
            node = dict(zip(case.quasi_identifiers, levels, strict=True))
            expected = oracle.node_score(case.rows, case.taxonomies, node, case.sensitive, threshold)
            slack = Fraction(len(case.rows) * len(levels) + len(case.rows), WHOLE)
            assert abs(Fraction(score, WHOLE) - expected) <= slack

    @EXAMPLES
    @given(cases(max_rows=8, max_quasi_identifiers=3), st.integers(1, 5), reaches)
    def test_those_far_below_the_best_are_raised_to_the_reach(self, case: Case, threshold: int, reach: int) -> None:
        exact = scores(case, threshold)
        least = max(exact.values()) - reach
        assert scores(case, threshold, reach) == {levels: max(score, least) for levels, score in exact.items()}

    @pytest.mark.parametrize("rows", [0, 30])
    def test_nodes_that_are_far_below_the_best_are_not_counted(
        self, monkeypatch: pytest.MonkeyPatch, rows: int
    ) -> None:
        counted: list[tuple[int, ...]] = []
        learn = node_scores.Losses.learn

        def learned(self: node_scores.Losses, levels: tuple[int, ...], at_risk: int, loss: int) -> None:
            counted.append(levels)
            learn(self, levels, at_risk, loss)

        monkeypatch.setattr(node_scores.Losses, "learn", learned)
        exact = scores(WIDE, 4)
        assert sorted(counted) == sorted(exact)
        counted.clear()
        assert scores(WIDE, 4, rows * WHOLE) == {
            levels: max(score, max(exact.values()) - rows * WHOLE) for levels, score in exact.items()
        }
        assert len(counted) == len(set(counted))
        assert max(exact, key=lambda levels: exact[levels]) in counted
        assert len(counted) < {0: 30, 30: 64}[rows]

    def test_what_is_just_within_reach_is_told_apart(self) -> None:
        threshold = 4
        exact = scores(WIDE, threshold)
        best = max(exact.values())
        with encoded(WIDE) as (engine, table):
            for gap in sorted({best - score for score in exact.values()})[1:6]:
                for reach in (gap - 1, gap, gap + 1):
                    found = scores_of_nodes(engine, table, threshold, reach)
                    assert list(found) == [max(score, best - reach) for score in exact.values()]

    def test_levels_that_are_not_allowed_do_not_count(self) -> None:
        exact = scores(WIDE, 4)
        bounds = {"minimum_levels": {"a": 1, "c": 1}, "maximum_levels": {"b": 2, "c": 2}}
        with encoded(WIDE, **bounds) as (engine, table):
            lattice = table.context.lattice
            assert (lattice.bottom, lattice.top) == ((1, 0, 1), (3, 2, 2))
            for reach in (0, 3 * WHOLE, 90 * WHOLE):
                found = dict(zip(lattice.nodes(), scores_of_nodes(engine, table, 4, reach), strict=True))
                best = max(exact[levels] for levels in found)
                assert found == {levels: max(exact[levels], best - reach) for levels in found}

    def test_values_that_are_not_generalized_lose_nothing(self) -> None:
        """Also where NULL is a second value of a taxonomy that has no level above the values."""
        rows = [{"a": None, "b": 1, "s": 1}, {"a": 1, "b": 1, "s": 1}, {"a": 1, "b": 2, "s": 1}]
        taxonomies = {"a": [["1"], [None]], "b": [["1", "*"], ["2", "*"]]}
        case = Case(rows, dict.fromkeys("abs", "INTEGER"), taxonomies, "s", dict.fromkeys("ab", 0))
        assert scores(case, 1) == {(0, 0): 0, (0, 1): -3 * WHOLE // 2}

    @pytest.mark.parametrize("rows", [9, None])
    def test_they_are_the_same_however_they_are_counted(
        self, monkeypatch: pytest.MonkeyPatch, rows: int | None
    ) -> None:
        """Relations that pay for large tables alone are made for a small one, and nodes are counted apart."""
        reach = None if rows is None else rows * WHOLE
        expected = scores(WIDE, 4, reach)
        monkeypatch.setattr(roll_up, "STEP_ROWS", -1e9)
        monkeypatch.setattr(roll_up, "RECENT_NODES", 2)
        monkeypatch.setattr(roll_up, "LOOK_ROWS", 0)
        monkeypatch.setattr(roll_up, "BIG", 0)
        monkeypatch.setattr(node_scores, "TELLING_NODES", 3)
        made: list[object] = []
        make = roll_up.RollUps.make
        monkeypatch.setattr(roll_up.RollUps, "make", lambda *given: made.append(given) or make(*given))
        assert scores(WIDE, 4, reach) == expected
        assert len(made) > 1

    @EXAMPLES
    @given(cases(min_rows=1, max_rows=10, max_quasi_identifiers=3), st.integers(1, 5), st.none() | reaches)
    def test_a_row_changes_none_by_more_than_one(self, case: Case, threshold: int, reach: int | None) -> None:
        """The proof of the mechanism rests on it, to the last bit."""
        reach = len(case.rows) * WHOLE if reach is None else reach
        fewer = Case(case.rows[:-1], case.columns, case.taxonomies, case.sensitive, case.node)
        before, after = scores(fewer, threshold, reach), scores(case, threshold, reach)
        assert all(abs(after[levels] - before[levels]) <= WHOLE for levels in after)

    @EXAMPLES
    @given(cases(max_rows=8, max_quasi_identifiers=3))
    def test_what_labels_lose_is_the_sum_over_levels(self, case: Case) -> None:
        """With a threshold of 1 no row is at risk. Bounds rest on it: a node that they leave out must be far away."""
        with encoded(case) as (engine, table):
            rows = engine.fetch(level_losses(table.encoding), "losses of levels", "node")
        lost = {(row["position"], row["depth"]): row["lost"] for row in rows}
        for levels, score in scores(case, 1).items():
            assert -score == sum(lost.get(place, 0) for place in enumerate(levels))
