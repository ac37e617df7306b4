"""Where a ledger is, on the disk before anyone draws: races, runs that are cut short, files of others, commands."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from sqlanon.engines.duckdb import Engine, OpenedDatabase
from sqlanon.engines.locks import A_MOMENT, retry_while_locked
from sqlanon.ledger import ledger as ledger_module
from sqlanon.ledger.charged_sources import open_ledger
from sqlanon.ledger.ledger import WarehouseLedger
from sqlanon.model.budget import Budget
from sqlanon.model.names import KnownSource, dataset_named
from tests.commands import document, opened_elsewhere, sqlanon
from tests.conftest import ROOT
from tests.engines import engine_of
from tests.full.test_scarce_resources import file_size_limit
from tests.stories.test_ledger import at, change, expense, first_rows, ledger, written

__all__ = ["first_rows", "ledger", "written"]
HOSTILE = 'a"; [red]drop\x1b\n --'


@pytest.fixture(params=["warehouse", "file"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Engine, WarehouseLedger]]:
    """An engine and its ledger: in the warehouse, or in a file beside one in memory."""
    in_file = request.param == "file"
    engine = OpenedDatabase.at(":memory:" if in_file else tmp_path / "w.duckdb").engine()
    yield engine, open_ledger(engine, tmp_path / "b.duckdb" if in_file else None)
    engine.close()


PROGRAM = """
import os, signal, sys
from sqlanon.engines.duckdb import OpenedDatabase
from sqlanon.engines.duckdb import Engine
from sqlanon.errors import BudgetError
from sqlanon.chance.accountant import Expense
from sqlanon.model.budget import Budget
from sqlanon.ledger.charged_sources import open_ledger

warehouse, file, processes = sys.argv[1:]

def spend():
    engine = OpenedDatabase.at(warehouse).engine()
    engine.connection.begin()
    engine.connection.execute("CREATE TABLE unpublished AS SELECT 1 AS i")
    try:
        found = open_ledger(engine, file or None).commit([Expense("visits", "ipa", "counts", Budget("0.1", "0.3"), "")])
    except BudgetError:
        found = ["refused"]
    os.write(1, "".join(f"{position}\\n" for position in found).encode())
    os.kill(os.getpid(), signal.SIGKILL)

children = []
for _ in range(int(processes)):
    children.append(os.fork())
    if not children[-1]:
        spend()
for child in children:
    os.waitpid(child, 0)
"""


def outcomes_of(processes: int, warehouse: str, file: Path | str) -> list[str]:
    """What becomes of processes that ask for a tenth at the same time, and are killed when they have it or not."""
    command = [sys.executable, "-c", PROGRAM, warehouse, str(file), str(processes)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(done.stdout.split())


class TestCutShort:
    def test_a_killed_run_keeps_its_charge_and_nothing_else(self, tmp_path: Path) -> None:
        assert outcomes_of(1, str(tmp_path / "w.duckdb"), "") == ["0"]
        assert at(tmp_path / "w.duckdb").account("visits").spent.epsilon == Budget("0.1").epsilon
        with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
            assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("ledger",)]

    def test_a_run_that_is_rolled_back_keeps_its_charge(self, opened: tuple[Engine, WarehouseLedger]) -> None:
        engine, ledger = opened
        with pytest.raises(ZeroDivisionError), engine.transaction():
            engine.connection.execute("CREATE TABLE t AS SELECT 1 AS i")
            ledger.commit([expense("0.5")])
            raise ZeroDivisionError
        assert ledger.account("visits").spent == Budget("0.5")
        assert engine.find("t") is None
        with engine.transaction():
            assert ledger.commit([expense("0.5")]) == [1]

    def test_a_charge_waits_for_the_disk(
        self, opened: tuple[Engine, WarehouseLedger], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nobody may draw unless the ledger confirms that it was written."""
        _, ledger = opened
        waited: list[Path] = []
        monkeypatch.setattr(ledger_module, "flush", waited.append)
        ledger.commit([expense("0.5"), expense("0.25")])
        assert waited == [tmp_path]

        def failing(_: Path) -> None:
            raise OSError(5, "the disk is gone")

        monkeypatch.setattr(ledger_module, "flush", failing)
        with pytest.raises(sa.EngineError, match="the charge may not be on the disk: the disk is gone"):
            ledger.commit([expense("0.5")])

    def test_a_full_disk(self, written: Path) -> None:
        """What cannot be written is not charged, and the ledger is what it was."""
        with file_size_limit(20), pytest.raises(sa.EngineError, match="ledger"):
            at(written).commit([expense(1)])
        assert len(at(written).entries()) == 5


def at_once(spend: Callable[[], object], count: int = 4) -> list[object]:
    """What threads return that begin together, or the names of their errors."""
    together = threading.Barrier(count)

    def begin(_: int) -> object:
        together.wait()
        try:
            return spend()
        except Exception as error:
            return type(error).__name__

    with ThreadPoolExecutor(count) as pool:
        return [*pool.map(begin, range(count))]


class TestRaces:
    def test_of_threads(self, opened: tuple[Engine, WarehouseLedger], tmp_path: Path) -> None:
        """Four threads with a session each, on one connection or one file, for two tenths."""
        engine, ledger = opened
        ledger.cap("visits", Budget("0.25"))
        path = ledger.file

        def spend() -> object:
            own = OpenedDatabase(engine.connection.cursor(), owned=True).engine()
            return open_ledger(own, path).commit([expense("0.1")])

        assert sorted(map(str, at_once(spend))) == ["BudgetError", "BudgetError", "[1]", "[2]"]
        assert ledger.account("visits").spent == Budget("0.2")

    def test_files_that_another_run_has_charged_meanwhile(self, ledger: WarehouseLedger) -> None:
        """Under another name, which was theirs when both looked."""
        files = (KnownSource("/lake/a.parquet", "ab"),)
        first, second = (replace(expense("0.5", dataset=name), sources=files) for name in ("/lake", "/lake/a.parquet"))
        ledger.commit([first])
        with pytest.raises(sa.PolicyError, match="belong to other data sets"):
            ledger.commit([second])
        assert ledger.commit([first]) == [1]

    @pytest.mark.parametrize("begun", [0, 4096, 8192])
    def test_of_a_file_that_another_process_is_just_making(self, tmp_path: Path, begun: int) -> None:
        duckdb.connect(str(tmp_path / "made.duckdb")).close()
        path, made = tmp_path / "b.duckdb", (tmp_path / "made.duckdb").read_bytes()
        path.write_bytes(made[:begun])

        def finish() -> None:
            with path.open("ab") as file:
                file.write(made[begun:])

        threading.Timer(0.3, finish).start()
        assert at(path).commit([expense("0.5")]) == [0]

    def test_of_a_file_that_is_made_while_it_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """All of it is there when it is looked why it was refused."""
        duckdb.connect(str(tmp_path / "made.duckdb")).close()
        path = tmp_path / "b.duckdb"
        path.write_bytes(b"")
        connect = duckdb.connect

        def connect_and_finish(*given: Any, **named: Any) -> Any:
            try:
                return connect(*given, **named)
            except duckdb.IOException:
                path.write_bytes((tmp_path / "made.duckdb").read_bytes())
                raise

        monkeypatch.setattr(duckdb, "connect", connect_and_finish)
        assert at(path).commit([expense("0.5")]) == [0]

    @pytest.mark.parametrize("content", [b"", bytes(4096), b"not a ledger"])
    def test_a_file_that_nobody_is_making_is_refused_soon(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "b.duckdb"
        path.write_bytes(content)
        if not any(content):
            os.utime(path, (0, 0))
        start = time.monotonic()
        with pytest.raises(sa.EngineError, match=r"is not a DuckDB file; it was never written because .* remove it"):
            at(path).commit([expense("0.5")])
        assert time.monotonic() - start < A_MOMENT

    def test_of_processes(self, tmp_path: Path) -> None:
        """Four race to make the file, for a δ below 1."""
        path = tmp_path / "b.duckdb"
        assert outcomes_of(4, ":memory:", path) == ["0", "1", "2", "refused"]
        assert at(path).account("visits").spent == Budget("0.3", "0.9")


class TestPlaces:
    def test_a_file_that_is_open_elsewhere_says_so(self, written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ledger_module, "retry_while_locked", partial(retry_while_locked, patience=0.1))
        with opened_elsewhere(written) as process:
            with pytest.raises(sa.EngineError, match=rf"is open in another program \(process {process.pid}\)"):
                at(written).commit([expense(1)])
            monkeypatch.setattr(ledger_module, "retry_while_locked", retry_while_locked)
            threading.Timer(0.2, process.kill).start()
            assert at(written).commit([expense(1)]) == [5]
        other = duckdb.connect(str(written), config={"threads": 1})
        monkeypatch.setattr(ledger_module, "retry_while_locked", partial(retry_while_locked, patience=0.1))
        with other, pytest.raises(sa.EngineError, match="is open in this program"):
            at(written).commit([expense(1)])

    def test_a_file_that_can_only_be_read(self, written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "access", lambda *_: False)  # a user's rights; the tests may run as root
        with pytest.raises(sa.EngineError, match="cannot be written, so nothing can be charged"):
            at(written).commit([expense(1)])
        assert at(written).account("patients").spent == Budget("0.5")

    def test_a_place_where_none_can_be(self, tmp_path: Path) -> None:
        (tmp_path / "text.duckdb").write_text("not a ledger " * 2000)
        for name in ("missing/b.duckdb", "text.duckdb", "."):
            with pytest.raises(sa.EngineError, match="ledger"):
                at(tmp_path / name).commit([expense(1)])

    def test_looking_makes_no_file(self, tmp_path: Path) -> None:
        assert at(tmp_path / "b.duckdb").account("visits").remaining is None
        assert not list(tmp_path.iterdir())

    def test_the_file_of_the_warehouse_is_the_warehouse(self, written: Path) -> None:
        with sa.connect(written) as session:
            assert open_ledger(engine_of(session), written).commit([expense(1)]) == [5]
        assert len(at(written).entries()) == 6


class TestCommands:
    def test_a_cap_is_set_shown_spent_and_lifted(self, tmp_path: Path) -> None:
        place = ("--ledger", "b.duckdb")
        capped = sqlanon("ledger", "cap", "Visits", *place, "--epsilon", "1/3", folder=tmp_path)
        assert (capped.returncode, capped.stdout) == (0, "")
        assert 'Data set "visits" may spend (ε = 1/3, δ = 0) in all' in capped.stderr
        at(tmp_path / "b.duckdb").commit([expense("0.25", dataset=HOSTILE)])
        left = sqlanon("ledger", "remaining", "main.visits", *place, folder=tmp_path)
        assert left.stdout == "(ε = 1/3, δ = 0)\n"
        shown = sqlanon("ledger", "show", *place, folder=tmp_path)
        assert "0.25" in shown.stdout and "\x1b" not in shown.stdout
        found = json.loads(sqlanon("ledger", "show", *place, "--json", folder=tmp_path).stdout)
        assert [each["dataset"] for each in found["datasets"]] == ["visits", dataset_named(HOSTILE)]
        assert [entry["epsilon"] for entry in found["entries"]] == ["1/3", "0.25"]
        lifted = sqlanon(
            "ledger", "cap", "visits", *place, "--lift", "--individual", "person", "--json", folder=tmp_path
        )
        assert json.loads(lifted.stdout)["cap"] is None
        assert json.loads(lifted.stdout)["individual"] == "person"

    def test_accounts_are_those_of_what_is_released(self, tmp_path: Path) -> None:
        change(tmp_path / "w.duckdb", "CREATE TABLE people AS SELECT 1 AS i; CREATE VIEW seen AS FROM people")
        capped = sqlanon("ledger", "cap", '"people"', "--db", "w.duckdb", "--epsilon", "0.5", folder=tmp_path)
        assert 'Data set "people" may spend' in capped.stderr
        left = sqlanon("ledger", "remaining", "w.PEOPLE", "--db", "w.duckdb", folder=tmp_path)
        assert left.stdout == "(ε = 0.5, δ = 0)\n"
        slip = sqlanon("ledger", "remaining", "poeple", "--db", "w.duckdb", folder=tmp_path)
        assert (slip.stdout, "is the name spelled right?" in slip.stderr) == ("no cap\n", True)
        assert sqlanon("ledger", "remaining", "seen", "--db", "w.duckdb", folder=tmp_path).returncode == 2

    def test_each_ledger_gives_a_file_a_budget_of_its_own_and_says_so(self, tmp_path: Path) -> None:
        (tmp_path / "people.csv").write_text("age,illness\n1,flu\n2,gout\n")
        wanted = sa.Policy(
            quasi_identifiers=["age"],
            sensitive=["illness"],
            method=sa.Histogram(budget=sa.Budget("1/2")),
            taxonomies={
                "age": {"kind": "flat", "values": [1, 2]},
                "illness": {"kind": "flat", "values": ["flu", "gout"]},
            },
        )

        def charge(warehouse: str, ledger: Path | None = None) -> Any:
            source = str(tmp_path / "people.csv")
            with sa.connect(tmp_path / warehouse, ledger=ledger) as session:
                session.ledger.cap(source, sa.Budget("1/2"))
                return session.anonymize(source, wanted, f"{tmp_path}/{warehouse}.parquet").guarantee

        charge("one.duckdb")
        assert any("another warehouse has charged" in line for line in charge("other.duckdb").conditions)
        shown = sqlanon("ledger", "show", "--db", "other.duckdb", folder=tmp_path).stdout
        assert "every other ledger gives them another budget" in " ".join(shown.split())
        charge("third.duckdb", tmp_path / "b.duckdb")
        with pytest.raises(sa.BudgetError):
            charge("fourth.duckdb", tmp_path / "b.duckdb")

    def test_the_ledger_of_a_warehouse_is_verified(self, written: Path) -> None:
        place = ("--db", written.name)
        head = sqlanon("ledger", "verify", *place, folder=written.parent).stdout.strip()
        change(written, "DELETE FROM anon.ledger WHERE position = 4")
        assert sqlanon("ledger", "verify", *place, folder=written.parent).returncode == 0
        missed = sqlanon("ledger", "verify", *place, "--head", head, "--json", folder=written.parent)
        assert missed.returncode == 1
        assert "newest rows were removed" in document(missed)["error"]["message"]
        change(written, "UPDATE anon.ledger SET epsilon = '0' WHERE position = 2")
        for command in (["show"], ["cap", "visits", "--epsilon", "1"]):
            refused = sqlanon("ledger", *command, *place, folder=written.parent)
            assert (refused.returncode, refused.stdout) == (1, "")
            assert "row 2 " in refused.stderr

    def test_what_cannot_be_meant_is_refused(self, written: Path) -> None:
        for arguments in (
            "show",
            "show --db b.duckdb --ledger b.duckdb",
            "remaining visits --ledger missing.duckdb",
            "cap visits --ledger new.duckdb --delta 0",
            "cap visits --ledger new.duckdb --epsilon 1 --lift",
            "cap visits --ledger new.duckdb --epsilon 1 --delta 1",
        ):
            refused = sqlanon("ledger", *arguments.split(), folder=written.parent)
            assert (refused.returncode, refused.stdout) == (2, ""), arguments
        nameless = sqlanon("ledger", "cap", " ", "--ledger", "new.duckdb", "--epsilon", "1", folder=written.parent)
        assert nameless.returncode == 2
        assert not (written.parent / "new.duckdb").exists()
