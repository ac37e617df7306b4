"""Tables of nodes: their targets, the best of them, and what blocks others."""

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
from tests.conftest import open_clinic
from tests.effort import examples
from tests.stories import test_lattice_tables
from tests.stories.test_lattice_tables import COLUMNS, MODELS, policy, rows_of

clinic = test_lattice_tables.clinic


def on_the_front(rows: list[dict[str, Any]]) -> list[bool]:
    """By definition: pairwise."""
    points = [(row["loss"], row["best_k"] or 0) for row in rows]
    return [
        not any(loss <= own_loss and k >= own_k and (loss < own_loss or k > own_k) for loss, k in points)
        for own_loss, own_k in points
    ]


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

        from sqlanon.run.lattice_table import pareto_front

        columns = {"loss": pa.array([loss for loss, _ in points], pa.float64())}
        columns["best_k"] = pa.array([k for _, k in points], pa.int64())
        rows = [{"loss": 9.0 if loss is None else round(loss, 9), "best_k": k} for loss, k in points]
        assert pareto_front(pa.table(columns)).tolist() == on_the_front(rows)


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
        shown = sqlanon(*command, "--into", "nodes", folder=tmp_path)
        assert shown.returncode == 0, shown.stderr
        assert "to nodes." in shown.stderr
        assert "best k" in shown.stdout
        assert sqlanon(*command, "--into", "nodes.csv", folder=tmp_path).returncode == 0
        lines = (tmp_path / "nodes.csv").read_text().splitlines()
        assert lines[0].replace('"', "") == "node.age,node.sex,node.zip," + ",".join(COLUMNS.split()[1:])
        found = document(sqlanon(*command, "--into", "nodes.parquet", "--json", folder=tmp_path))
        assert pq.read_table(tmp_path / "nodes.parquet").num_rows == found["nodes"] == len(lines) - 1
        assert found["table"][0]["models"][0]["measure"] == "class_size"
        assert sqlanon(*command, "--into", "nodes", folder=tmp_path).returncode == 2
