"""An exploration: every node and every point of its curve against brute force, and what may happen while it is open."""

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.run import lattice_table
from tests import brute_force
from tests.brute_force import Measured, loss_of
from tests.case_tables import fill, make_schema, store
from tests.conftest import clinic_policy
from tests.effort import examples
from tests.search_cases import SENSITIVE, SENSITIVE_TAXONOMIES, Table, policy_for, privacy_models, tables, task_of

QUALITIES = [sa.LM(), sa.NCP(), sa.DM(), sa.AECS(), sa.Entropy(), sa.LM(aggregate="geometric"), sa.Prec()]
KS = (2, 3, 4)


@contextmanager
def session_of(table: Table) -> Iterator[sa.Session]:
    names = dict.fromkeys(table.taxonomies, "VARCHAR")
    columns = {**names, **dict.fromkeys(SENSITIVE, "VARCHAR"), "person": "INTEGER"}
    taxonomies = {**SENSITIVE_TAXONOMIES, **table.taxonomies}
    with duckdb.connect(config={"threads": 1}) as connection:
        make_schema(connection)
        fill(connection, SimpleNamespace(columns=columns, rows=table.rows, taxonomies=taxonomies))  # type: ignore[arg-type]
        store(connection, "everyone", names, table.population)
        yield sa.connect(connection)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables(), privacy_models(), st.sampled_from(QUALITIES), st.sampled_from([0.0, 0.2, 0.5]), st.booleans())
def test_it_is_what_brute_force_finds(table: Table, models: list[Any], quality: Any, limit: float, whole: bool) -> None:
    policy = policy_for(table, models, quality, limit).changed({"identifiers": ["person"]})
    at_k = {k: brute_force.lattice(task_of(table, policy.with_k(k))) for k in KS}
    nodes = brute_force.lattice(task_of(table, policy))
    satisfying = [node for node in nodes if node.satisfies]
    with session_of(table) as session, session.exploration("given", policy) as found:
        found.is_whole = whole
        found.search(ks=KS)
        for point in found.curve():
            least = brute_force.answer(nodes if point.k == found.k else at_k[point.k])
            assert point.is_proven
            assert (point.best is None) == (least is None)
            if least is not None and point.best is not None:
                assert point.best.node == least.best.node
                assert point.best.loss == pytest.approx(least.loss) == pytest.approx(point.lower_bound)
        assert found.best() == found.curve([found.k])[0].best
        assert (found.explanation is not None) == (not satisfying)
        assert len(found.nodes()) == len(nodes) or not whole
        for place, node in enumerate(nodes):
            measured = found.at(node.node)
            assert (measured.class_count, measured.satisfies) == (node.class_count, node.satisfies)
            assert measured.suppressed_rows == node.suppressed_rows
            assert measured.loss == pytest.approx(loss_of(node))
            assert (measured.blocking_model is None) == node.satisfies
            for k in () if any(isinstance(model, sa.AverageRisk) for model in models) else KS:
                assert (measured.best_k is not None and measured.best_k >= k) == at_k[k][place].satisfies
        # All nodes are known by now.
        for node in satisfying[:3]:
            check_finer(found, node, satisfying)


def check_finer(found: sa.Exploration, node: Measured, satisfying: list[Measured]) -> None:
    finer = found.finer(node.node)
    assert [each.loss for each in finer] == sorted(each.loss for each in finer)
    for name, level in node.node.items():
        least = min((loss_of(each) for each in satisfying if each.node[name] < level), default=None)
        known = next((each.loss for each in finer if name in each.finer), None)
        assert known == (None if least is None else pytest.approx(least))


PEOPLE = """
CREATE TABLE people AS
SELECT i AS name, 20 + (i * 37) % 60 AS age, (i * 7919) % 1000 AS zip, ['Bonn', 'Ulm', 'Jena'][1 + i % 3] AS town
FROM range(3000) AS _ (i)
"""
POLICY: dict[str, Any] = {
    "quasi_identifiers": ["age", "zip", "town"],
    "identifiers": ["name"],
    "privacy": [sa.KAnonymity(5)],
    "suppression_limit": 0.1,
    "taxonomies": {
        "age": {"kind": "intervals", "widths": [2, 4, 12, 24]},
        "zip": {"kind": "intervals", "widths": [10, 100]},
        "town": "flat",
    },
}


@pytest.fixture
def session() -> Iterator[sa.Session]:
    with sa.connect(threads=1) as opened:
        opened.connection.execute(PEOPLE)
        yield opened


def test_columns_have_their_labels(session: sa.Session) -> None:
    with session.exploration("people", POLICY) as found:
        age, _, town = found.columns
        assert (age.label_counts, town.label_counts) == ((60, 30, 15, 6, 4, 1), (3, 1))
        assert (len(age.example), age.example[-1], found.row_count, found.node_count) == (6, "*", 3000, 48)


def test_its_session_takes_no_other_call_until_it_is_closed(session: sa.Session) -> None:
    with session.exploration("people", POLICY) as found:
        for call in (lambda: session.measure("people", POLICY), lambda: session.exploration("people", POLICY)):
            with pytest.raises(sa.EngineError, match=r"an exploration of the session is open.*or use another"):
                call()
        with sa.connect(session.connection.cursor()) as other:
            assert other.measure("people", POLICY).row_count == 3000
        session.connection.execute("DELETE FROM people")
        found.search(ks=())
        assert found.best() is not None
    with pytest.raises(sa.EngineError, match="the exploration is closed"):
        found.search()
    assert found.best() is not None  # still known
    session.connection.execute("INSERT INTO people SELECT i, i, i, 'Ulm' FROM range(20) AS _ (i)")
    assert session.measure("people", POLICY).row_count == 20
    assert session.connection.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchone() == (0,)


def test_closing_the_session_closes_it() -> None:
    session = sa.connect()
    session.connection.execute(PEOPLE)
    found = session.exploration("people", POLICY)
    session.close()
    with pytest.raises(sa.EngineError, match="the exploration is closed"):
        found.at({"age": 1, "zip": 1, "town": 0})
    found.close()


@pytest.mark.parametrize("stage", ["search", "count"])
def test_an_exception_in_progress_leaves_it_usable(session: sa.Session, stage: str) -> None:
    def progress(event: sa.Event) -> None:
        if event.stage == stage and event.k != 5 and event.state != "finished":
            raise KeyError(stage)

    with session.exploration("people", POLICY) as found:
        with pytest.raises(KeyError):
            found.search(progress=progress)
        first = found.best()
        assert first is not None
        assert found.curve([5])[0].is_proven
        assert found.at({"age": 4, "zip": 3, "town": 1}).class_count == 4
        found.search()
        assert (found.best(), len(found.curve()), len(found.nodes())) == (first, 7, 48)


def test_a_stopped_search_keeps_what_it_has(session: sa.Session) -> None:
    calls = itertools.count()
    with session.exploration("people", POLICY) as found:
        found.search(stop=lambda: next(calls) > 0)
        [point] = found.curve()
        assert not point.is_proven
        assert point.best is not None
        assert found.lower_bound is not None
        assert found.lower_bound <= point.best.loss
        assert 0 < found.checked_nodes < 48
        found.search(ks=(), time_limit=0.001)
        assert found.best() is not None
        assert found.best().loss <= point.best.loss  # type: ignore[union-attr]
        assert found.lower_bound >= point.lower_bound  # type: ignore[operator]
        found.search(ks=(), time_limit=60)
        assert found.curve([5])[0].is_proven


def test_a_large_lattice_is_searched(session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice_table, "MAX_CELLS", 20 * lattice_table.MIN_CELLS)
    with session.exploration("people", POLICY) as found:
        found.search(ks=(), stop=lambda: found.checked_nodes > 0)
        assert not found.is_whole
        least = min((each for each in map(found.at, all_nodes()) if each.satisfies), key=lambda each: each.loss)
        assert found.best() == least  # an asked node may be better than a stopped search's
    page = session.explore("people", POLICY)
    assert (page.checked_nodes, page.node_count, page.gap) == (20, 48, 0)
    assert session.explore("people", POLICY, time_limit=60).checked_nodes == 48
    assert session.lattice("people", POLICY).num_rows == 48


def all_nodes() -> Iterator[dict[str, int]]:
    for levels in itertools.product(range(6), range(4), range(2)):
        yield dict(zip(("age", "zip", "town"), levels, strict=True))


def test_events_have_nodes_and_the_loss(session: sa.Session) -> None:
    events: list[sa.Event] = []
    with session.exploration("people", POLICY, progress=events.append) as found:
        found.search(ks=(2,), progress=events.append)
    ends = [event for event in events if event.state == "finished"]
    assert [(event.stage, event.k) for event in ends] == [
        ("encode", None),
        ("search", 5),
        ("search", 2),
        ("count", None),
    ]
    assert ends[1].loss == pytest.approx(found.best().loss)  # type: ignore[union-attr]
    assert (ends[3].checked_nodes, ends[3].lattice_nodes) == (48, 48)
    assert ends[1].document()["k"] == 5 and ends[1].in_words.startswith("searches for k = 5 · ")
    assert ends[3].in_words == "counts · 48 of 48 nodes"
    best = found.best()
    assert best is not None and found.is_finished and found.in_words(0.5) == "50.0 %"
    chart = found.chart(best)
    assert chart.mark == (best.best_k, best.loss, "this node") and [k for k, _ in chart.front] == [2, 5]
    known = [each for each in (*found.nodes(), *(point.best for point in found.curve())) if each and each.best_k]
    assert sum(together for *_, together, _ in chart.points) == len(known)


def test_other_threads_get_their_turn_and_callbacks_do_not(session: sa.Session) -> None:
    refused: list[str] = []
    measured: list[Any] = []
    had_turn: list[bool] = []
    node = {"age": 2, "zip": 1, "town": 0}
    asking = threading.Thread(target=lambda: measured.append(found.at(node)))

    def progress(event: sa.Event) -> None:
        if event.stage == "search" and event.state == "started" and event.k == 5:
            with pytest.raises(sa.EngineError) as error:
                found.at(node)
            refused.append(str(error.value))
            asking.start()
            time.sleep(0.05)  # it waits for its turn

    def stop() -> bool:
        had_turn.append(bool(measured))
        return False

    with session.exploration("people", POLICY) as found:
        found.search(ks=(), progress=progress, stop=stop)
        assert had_turn[-1]  # before the search ended
        assert refused
        assert "a callback cannot use the session" in refused[0]
        assert measured == [found.at(node)]


def test_refusals(session: sa.Session) -> None:
    roles = {"quasi_identifiers": ["age", "zip"], "sensitive": ["town"], "privacy": [], "suppression_limit": None}
    private = sa.Policy(**{**POLICY, **roles, "method": sa.Histogram(budget=sa.Budget(epsilon=1))})
    with pytest.raises(sa.PolicyError, match="there is nothing to look for"):
        session.exploration("people", private)
    with session.exploration("people", POLICY) as found:
        for node in ({"age": 1}, {"age": 9, "zip": 0, "town": 0}, {"age": 1, "zip": 0, "town": 0, "x": 1}):
            with pytest.raises(sa.PolicyError, match="the given node does not fit the policy"):
                found.at(node)
        with pytest.raises(sa.PolicyError, match="each k must be a whole number of 2 or more, not 1, True"):
            found.search(ks=(1, True, 5))
        with pytest.raises(sa.PolicyError, match="not a positive number"):
            found.search(time_limit=0)


def test_none_meets_the_policy(session: sa.Session) -> None:
    with session.exploration("people", {**POLICY, "privacy": [sa.KAnonymity(4000)]}) as found:
        found.search(ks=())
        assert (found.best(), found.lower_bound, found.curve()[0].is_proven) == (None, None, True)
        assert found.explanation is not None
        assert any(each.kind == "k" for each in found.explanation.relaxations)


class TestNodeOfThePolicy:
    """A policy that names a node publishes it, says so, and has the hash that it had if it names none."""

    NODE: ClassVar = {"age": 3, "zip": 2, "town": 0}

    def test_it_is_published_and_never_called_proven(self, session: sa.Session) -> None:
        levels = {"minimum_levels": self.NODE, "maximum_levels": self.NODE}
        for number, named in enumerate(({"node": self.NODE}, {"method": sa.FullDomain(node=self.NODE)}, levels)):
            fields = {**POLICY, **named} if "method" not in named else {**POLICY, "suppression_limit": 0.1, **named}
            release = session.anonymize("people", fields, f"release_{number}")
            report = release.report
            assert release.node == self.NODE
            assert (report.search, report.proven_optimal, report.lower_bound, report.gap) == (
                "given",
                False,
                None,
                None,
            )
            assert "the policy names the node: it is not known how much less another one would lose" in report.notes
            assert "proven" not in report.search_in_words
            assert session.verify(f"release_{number}", fields).met

    def test_a_file_names_it(self, session: sa.Session, tmp_path: Path) -> None:
        path = tmp_path / "policy.toml"
        path.write_text(
            'quasi_identifiers = ["age"]\nidentifiers = ["name", "zip", "town"]\nnode = { AGE = 4 }\n'
            '[taxonomies]\nage = { kind = "intervals", widths = [2, 4, 12, 24] }\n'
            '[[privacy]]\nmodel = "k-anonymity"\nk = 5\n'
        )
        assert session.anonymize("people", path, "release").node == {"age": 4}
        assert session.lattice("people", path).num_rows == 6
        with pytest.raises(sa.PolicyError, match=r"the policy names another node \(age 4\)"):
            session.anonymize("people", path, "other", node={"age": 3})
        assert session.anonymize("people", path, "other", node={"age": 4}).node == {"age": 4}

    def test_other_policies_keep_their_hash(self) -> None:
        policy = clinic_policy(sa.KAnonymity(2))
        assert "node" not in policy.as_recorded()["method"]
        assert policy.sha256() == "0b6209b0f7267418dc60308f16446eb3581de95719bff79526c5ca31c4669cc2"
        assert policy.changed({"node": {"age": 1, "sex": 0, "zip": 0}}).sha256() != policy.sha256()

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"node": {"age": 1}}, '"zip" has no level'),
            ({"node": {**NODE, "aeg": 1}}, '"aeg" is not a quasi-identifier'),
            ({"node": NODE, "maximum_levels": {"age": 2}}, 'level 3 of "age" is outside'),
            ({"node": NODE, "search": "datafly"}, 'takes the place of search "datafly"'),
            ({"node": NODE, "objective": "privacy", "max_loss": 1}, "needs a search"),
            ({"node": NODE, "method": "local-recoding"}, 'method "local-recoding" takes no node'),
            ({"node": NODE, "method": sa.FullDomain(node={**NODE, "age": 1})}, "node is .* in it, and .* beside it"),
        ],
    )
    def test_refusals(self, changes: dict[str, Any], message: str) -> None:
        with pytest.raises(sa.PolicyError, match=message):
            sa.Policy(**{**POLICY, **changes})
