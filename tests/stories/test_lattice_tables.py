"""The table of the lattice against runs of the policies that it speaks of, and where it is written to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from tests.commands import document, sqlanon
from tests.conftest import clinic_policy, open_clinic
from tests.effort import examples

COLUMNS = (
    "node height class_count min_class_size suppressed_rows satisfies loss prec dm_star entropy lm ncp dm aecs "
    "best_k blocking_model blocking_rows excess_rows models pareto"
)


@pytest.fixture
def clinic(shared_clinic: sa.Session) -> sa.Session:
    return shared_clinic


def policy(*privacy: Any, **options: Any) -> sa.Policy:
    return clinic_policy(*(privacy or (sa.KAnonymity(2),)), **options)


def rows_of(session: sa.Session, wanted: sa.Policy, source: str = "visits") -> list[dict[str, Any]]:
    return [{**row, "node": dict(row["node"])} for row in session.lattice(source, wanted).to_pylist()]


def satisfying(session: sa.Session, wanted: sa.Policy, source: str = "visits") -> dict[str, bool]:
    return {json.dumps(row["node"]): row["satisfies"] for row in rows_of(session, wanted, source)}


def on_the_front(rows: list[dict[str, Any]]) -> list[bool]:
    """By definition: pairwise."""
    points = [(row["loss"], row["best_k"] or 0) for row in rows]
    return [
        not any(loss <= own_loss and k >= own_k and (loss < own_loss or k > own_k) for loss, k in points)
        for own_loss, own_k in points
    ]


MODELS: list[list[Any]] = [
    [sa.KAnonymity(2), sa.DistinctLDiversity("diagnosis", 2)],
    [sa.AlphaKAnonymity("diagnosis", 0.5, 2)],
    [sa.KAnonymity(2), sa.MConcealing(0.4, {"diagnosis": 0.5}, "node")],
]


def test_the_order_that_a_connection_takes_if_none_is_given_changes_nothing() -> None:
    wanted = policy(sa.KAnonymity(2), sa.TCloseness("diagnosis", 0.5, distance="ordered"))
    with duckdb.connect() as connection:
        session = open_clinic(connection)
        plain = rows_of(session, wanted)
        connection.execute("SET default_order = 'DESC'")
        for found, expected in zip(rows_of(session, wanted), plain, strict=True):
            losses = {name: pytest.approx(expected[name]) for name in ("loss", "entropy", "lm", "ncp", "aecs")}
            models = [model | {"worst": pytest.approx(model["worst"])} for model in expected["models"]]
            assert found == expected | losses | {"models": models}


class TestColumns:
    def test_names(self, clinic: sa.Session) -> None:
        assert clinic.lattice("visits", policy()).schema.names == COLUMNS.split()

    @pytest.mark.parametrize("quality", [sa.LM(aggregate="geometric"), sa.AECS(), sa.Prec(weights={"age": 3})])
    def test_the_loss_is_that_of_a_run(self, clinic: sa.Session, quality: Any) -> None:
        wanted = policy(quality=quality, suppression_limit=0.25)
        report = clinic.anonymize("visits", wanted, into="published", replace=True).report
        losses = [row["loss"] for row in rows_of(clinic, wanted) if row["satisfies"]]
        assert report.loss == pytest.approx(min(losses))

    def test_all_rows_are_one_class_where_all_are_suppressed_and_only_allowed_nodes_are_there(
        self, clinic: sa.Session
    ) -> None:
        levels = {"minimum_levels": {"age": 1}, "maximum_levels": {"age": 2, "zip": 1}}
        found = rows_of(clinic, policy(sa.KAnonymity(13), quality=sa.AECS(), **levels))
        assert {(row["loss"], row["satisfies"]) for row in found} == {(12 / 13, False)}
        assert {row["node"]["age"] for row in found} == {1, 2}
        assert {row["node"]["zip"] for row in found} == {0, 1}


@pytest.mark.parametrize(
    ("models", "limit"),
    [(MODELS[0], 0.0), (MODELS[1], 0.25), (MODELS[2], 1.0)],
)
def test_best_k_is_the_largest_k_that_satisfies(clinic: sa.Session, models: list[Any], limit: float) -> None:
    options: dict[str, Any] = {"suppression_limit": limit, "minimum_levels": {"age": 1, "zip": 1}}
    options["maximum_levels"] = {"sex": 0}
    others = [model for model in models if not isinstance(model, sa.KAnonymity)]
    rows = rows_of(clinic, policy(*models, **options))
    tried = {2, 3, 13} | {row["best_k"] + more for row in rows if row["best_k"] for more in (0, 1)}
    by_k = {k: satisfying(clinic, policy(sa.KAnonymity(k), *others, **options)) for k in tried - {1}}
    if others:
        by_k[1] = satisfying(clinic, policy(*others, **options))
    for row in rows:
        attained = [k for k, satisfied in by_k.items() if satisfied[json.dumps(row["node"])]]
        assert row["best_k"] == max(attained, default=None if others else 1), row["node"]


def test_best_k_counts_individuals() -> None:
    with duckdb.connect() as connection:
        session = sa.connect(connection)
        connection.execute("CREATE TABLE t AS SELECT i % 2 AS q, i // 4 AS person FROM range(40) AS r (i)")
        session.taxonomies.load("q", sa.Taxonomy.flat(), source="t")
        roles = {"quasi_identifiers": ["q"], "identifiers": ["person"], "privacy": [sa.KAnonymity(2)]}
        by_row = session.lattice("t", sa.Policy(**roles))
        by_person = session.lattice("t", sa.Policy(**roles, individual="person"))
    assert by_row["best_k"].to_pylist() == [20, 40]
    assert by_person["best_k"].to_pylist() == [10, 10]


class TestBlocking:
    @pytest.mark.parametrize("models", [MODELS[0], MODELS[2]], ids=lambda models: models[-1].model)
    def test_who_blocks(self, clinic: sa.Session, models: list[Any]) -> None:
        wanted = policy(*models, suppression_limit=0.25)
        alone = {str(model): rows_of(clinic, policy(model, suppression_limit=0.25)) for model in models}
        for place, row in enumerate(rows_of(clinic, wanted)):
            assert row["excess_rows"] == max(row["suppressed_rows"] - 3, 0)
            if row["satisfies"]:
                assert row["blocking_model"] is row["blocking_rows"] is None
                continue
            blocked = {
                name: max(bound["violating_rows"] for bound in rows[place]["models"]) for name, rows in alone.items()
            }
            assert row["blocking_rows"] == max(blocked.values()) == blocked[row["blocking_model"]]

    def test_the_worst_measure_of_every_bound(self, clinic: sa.Session) -> None:
        wanted = policy(sa.KAnonymity(3), sa.AlphaKAnonymity("diagnosis", 0.5, 2), suppression_limit=0.25)
        for row in rows_of(clinic, wanted):
            k, alpha_k, share = row["models"]
            assert [bound["required"] for bound in row["models"]] == [3, 2, 0.5]
            assert k["worst"] == alpha_k["worst"] == row["min_class_size"]
            assert k["violating_rows"] >= alpha_k["violating_rows"]
            assert 0 < share["worst"] <= 1
            assert (share["violating_rows"] > 0) is (share["worst"] > 0.5)
            assert max(bound["violating_rows"] for bound in row["models"]) <= row["suppressed_rows"]


class TestPareto:
    @pytest.mark.parametrize(("quality", "limit"), [(sa.Entropy(), 0.25), (sa.Prec(), 0.0), (sa.DM(), 0.25)])
    def test_it_is_the_front(self, clinic: sa.Session, quality: Any, limit: float) -> None:
        rows = rows_of(clinic, policy(quality=quality, suppression_limit=limit))
        exact = [{**row, "loss": round(row["loss"], 9)} for row in rows]
        assert [row["pareto"] for row in rows] == on_the_front(exact)

    @given(st.lists(st.tuples(st.sampled_from([None, 0.0, 1.0, 1.0 + 1e-14, 2.0]), st.none() | st.integers(1, 4))))
    @settings(max_examples=examples(60))
    def test_ties_and_nothing(self, points: list[tuple[float | None, int | None]]) -> None:
        import pyarrow as pa

        from sqlanon.run.lattice import _pareto

        columns = {"loss": pa.array([loss for loss, _ in points], pa.float64())}
        columns["best_k"] = pa.array([k for _, k in points], pa.int64())
        rows = [{"loss": 9.0 if loss is None else round(loss, 9), "best_k": k} for loss, k in points]
        assert _pareto(pa.table(columns)).tolist() == on_the_front(rows)


class TestTargets:
    def test_a_table_and_a_file(self, tmp_path: Path) -> None:
        with duckdb.connect() as connection:
            session = open_clinic(connection)
            returned = session.lattice("visits", policy(), into="nodes")
            session.lattice("visits", policy(), into=tmp_path / "nodes.parquet")
            for relation in ("nodes", f"'{tmp_path}/nodes.parquet'"):
                query = f"SELECT node['age'], best_k, models[1].worst, pareto FROM {relation}"
                found = connection.execute(query).fetchall()
                assert found == [
                    (dict(row["node"])["age"], row["best_k"], row["models"][0]["worst"], row["pareto"])
                    for row in returned.to_pylist()
                ]
            note = json.loads(session.provenance("nodes") or "")["sqlanon"]
            other = json.loads(session.provenance(tmp_path / "nodes.parquet") or "")["sqlanon"]
            hashes = {"content": None, "record_sha256": None}
            assert {**note, **hashes} == {**other, **hashes}
            assert note["lattice"]["nodes"] == returned.num_rows
            assert note["policy"] == policy().model_dump(mode="json")
            for into in ("nodes", tmp_path / "nodes.parquet"):
                with pytest.raises(sa.EngineError, match="exists"):
                    session.lattice("visits", policy(sa.KAnonymity(5)), into=into)
            session.lattice("visits", policy(sa.KAnonymity(5)), into="nodes", replace=True)
            assert connection.execute("SELECT max(models[1].required) FROM nodes").fetchone() == (5.0,)
            with pytest.raises(sa.EngineError, match="its own source"):
                session.lattice("visits", policy(), into="visits", replace=True)
            assert connection.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchone() == (0,)

    def test_the_command_line(self, tmp_path: Path) -> None:
        with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
            open_clinic(connection)
        (tmp_path / "policy.toml").write_text(
            'quasi_identifiers = ["age", "sex", "zip"]\nsensitive = ["diagnosis"]\nidentifiers = ["id"]\n'
            '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
        )
        command = ["lattice", "visits", "--db", "clinic.duckdb", "--policy", "policy.toml"]
        told = sqlanon(*command, "--into", "nodes", folder=tmp_path)
        assert told.returncode == 0, told.stderr
        assert "to nodes." in told.stderr
        assert "best k" in told.stdout
        assert sqlanon(*command, "--into", "nodes.csv", folder=tmp_path).returncode == 0
        lines = (tmp_path / "nodes.csv").read_text().splitlines()
        assert lines[0].replace('"', "") == "node.age,node.sex,node.zip," + ",".join(COLUMNS.split()[1:])
        found = document(sqlanon(*command, "--into", "nodes.parquet", "--json", folder=tmp_path))
        assert pq.read_table(tmp_path / "nodes.parquet").num_rows == found["nodes"] == len(lines) - 1
        assert found["table"][0]["models"][0]["measure"] == "class_size"
        assert sqlanon(*command, "--into", "nodes", folder=tmp_path).returncode == 1
