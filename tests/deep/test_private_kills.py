"""Private runs that are killed, and two at the same time: what was charged stays, and nothing is released."""

import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sqlanon as sa
from tests.commands import ended, started
from tests.stories import test_epsilon_safe as epsilon_safe
from tests.stories import test_private_runs as private
from tests.stories import test_synthetic as synthetic


@pytest.mark.parametrize(("story", "of_two"), [(private, ("2", "0.02")), (epsilon_safe, ("2.2", "0.03858"))])
def test_a_killed_run_leaves_its_charge_and_the_old_release(
    tmp_path: Path, story: ModuleType, of_two: tuple[str, str]
) -> None:
    with story.make_warehouse(tmp_path / "w.duckdb") as session:
        session.connection.execute("CREATE TABLE released AS SELECT 'old' AS text")
    for into in ("released", "released.parquet"):
        program = f"""
import os, signal, sqlanon as sa
from {story.__name__} import POLICY
def die(event):
    if (event.stage, event.state) == ("release", "started"):
        os.kill(os.getpid(), signal.SIGKILL)
with sa.connect("w.duckdb") as session:
    session.anonymize("people", POLICY, {into!r}, replace="anything", progress=die)
"""
        assert ended([sys.executable, "-c", program], tmp_path).returncode == -signal.SIGKILL
    with sa.connect(tmp_path / "w.duckdb") as session:
        assert session.ledger.spent("people") == sa.Budget(*of_two)
        assert session.ledger.verify()
        assert session.connection.execute("FROM released").fetchall() == [("old",)]
        assert not (tmp_path / "released.parquet").exists()
        report: Any = session.anonymize("people", story.POLICY, tmp_path / "released.parquet").report
        assert report.released_rows > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["released.parquet", "w.duckdb"]


def test_a_warehouse_knows_the_ledger_of_a_run_that_was_killed(tmp_path: Path) -> None:
    private.make_warehouse(tmp_path / "w.duckdb").close()
    program = """
import os, signal, sqlanon as sa
from sqlanon.ledger import ledger_table as table
from tests.stories.test_private_runs import POLICY
first = table.write_note
def write(engine, path, sha256):
    if sha256 == "0" * 64:
        first(engine, path, sha256)
    else:
        os.kill(os.getpid(), signal.SIGKILL)
table.write_note = write
with sa.connect("w.duckdb", ledger="budget.duckdb") as session:
    session.anonymize("people", POLICY, "released")
"""
    killed = ended([sys.executable, "-c", program], tmp_path)
    assert killed.returncode == -signal.SIGKILL
    with sa.connect(tmp_path / "w.duckdb") as session, pytest.raises(sa.EngineError, match=r"budget\.duckdb"):
        session.anonymize("people", private.POLICY, "released")
    with sa.connect(tmp_path / "w.duckdb", ledger=tmp_path / "budget.duckdb") as session:
        assert session.ledger.spent("people") == sa.Budget(1, "0.01")


def test_of_two_processes_one_gets_the_last_of_a_budget(tmp_path: Path) -> None:
    with private.make_warehouse(tmp_path / "w.duckdb") as session:
        dataset = "people"
        session.connection.execute("COPY people TO ? (FORMAT parquet)", [str(tmp_path / "people.parquet")])
    with sa.connect(ledger=tmp_path / "l.duckdb") as custodian:
        custodian.ledger.cap(dataset, sa.Budget(1, "0.01"))
    (tmp_path / "private.toml").write_text(private.TOML)

    def run(place: int) -> int:
        return started(
            "run", "people", "--db", "w.duckdb", "--policy", "private.toml", "--into", f"{place}.parquet",
            "--ledger", "l.duckdb", folder=tmp_path,
        ).returncode  # fmt: skip

    with ThreadPoolExecutor(2) as both:
        codes = sorted(both.map(run, range(2)))
    assert codes == [0, 4]
    assert len(list(tmp_path.glob("[01].parquet"))) == 1


def test_a_killed_run_of_synthetic_rows_leaves_its_charge_and_the_old_release(tmp_path: Path) -> None:
    synthetic.make_warehouse(tmp_path / "w.duckdb").close()
    (tmp_path / "p.toml").write_text(synthetic.TOML, encoding="utf-8")
    run = ("run", "patients", "--policy", "p.toml", "--db", "w.duckdb", "--into", "r.parquet")
    assert started(*run, folder=tmp_path).returncode == 0
    before = (tmp_path / "r.parquet").read_bytes()
    code = (
        "import os, signal, sys\n"
        "from sqlanon.methods.synthetic import measuring\n"
        "measuring.chosen = lambda *given: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from sqlanon.cli.app import app\n"
        "app()"
    )
    done = ended([sys.executable, "-c", code, *run, "--replace"], tmp_path)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "r.parquet").read_bytes() == before
    with sa.connect(tmp_path / "w.duckdb") as session:
        assert session.ledger.spent("patients") == sa.Budget(4, "2e-6")
        total = session.ledger.spent_in_rho("patients")
        assert total is not None and 2 < total.epsilon < 3, "both charges have their ρ"
