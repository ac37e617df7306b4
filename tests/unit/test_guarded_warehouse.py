"""The ledger of a warehouse, in small files: what it refuses to write, and which ledger a warehouse is charged to."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import duckdb
import pytest

import sqlanon as sa
from sqlanon.chance.accountant import Expense
from sqlanon.engines.duckdb import Engine, OpenedDatabase
from sqlanon.ledger import ledger as ledger_module
from sqlanon.ledger.charged_sources import open_ledger, read_ledger
from sqlanon.ledger.ledger import WarehouseLedger
from sqlanon.ledger.ledger_table import START
from sqlanon.model.budget import ROW, Budget, Unit
from sqlanon.model.names import KnownSource
from sqlanon.releases.release_table import have_common


def expense(epsilon: Any, dataset: str = "visits", unit: Unit = ROW, **more: Any) -> Expense:
    return Expense(dataset, "ipa", "count", Budget(epsilon), "ab", unit, **more)


def opened(path: Path, **options: Any) -> Any:
    return closing(OpenedDatabase.at(path, **options).engine())


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with opened(tmp_path / "w.duckdb") as engine:
        yield engine


@pytest.fixture
def ledger(engine: Engine) -> WarehouseLedger:
    return open_ledger(engine, None)


class TestWriting:
    def test_charges_are_chained_and_safe(self, ledger: WarehouseLedger, monkeypatch: pytest.MonkeyPatch) -> None:
        flushed: list[Path] = []
        monkeypatch.setattr(ledger_module, "flush", flushed.append)
        assert ledger.commit([]) == flushed == []
        assert ledger.commit([expense(1), expense(2)]) == [0, 1]
        assert len(flushed) == 1
        assert ledger.commit([expense(3)]) == [2]
        assert [entry.epsilon for entry in ledger.entries()] == ["1", "2", "3"]
        assert ledger.head() == ledger.entries()[2].sha256

    @pytest.mark.parametrize(
        "asked",
        [
            expense(3),
            expense(1, unit=Unit("id", 1)),
            expense(1, dataset="others", sources=(KnownSource("memory.main.t"),)),
        ],
    )
    def test_what_is_refused_is_not_written(self, ledger: WarehouseLedger, asked: Expense) -> None:
        ledger.cap("visits", Budget(3))
        ledger.commit([expense(1, sources=(KnownSource("memory.main.t"),))])
        with pytest.raises((sa.BudgetError, sa.PolicyError)):
            ledger.commit([asked])
        assert len(ledger.entries()) == 2

    def test_data_sets_without_a_cap(self, engine: Engine) -> None:
        ledger = open_ledger(engine, None, must_be_capped=True)
        with pytest.raises(sa.BudgetError, match="without a cap"):
            ledger.commit([expense(1)])
        ledger.cap("visits", Budget(1))
        assert ledger.commit([expense(1)]) == [1]
        open_ledger(engine, None).commit([expense(1, dataset="others")])

    @pytest.mark.parametrize(
        ("statement", "reason"),
        [
            ("UPDATE anon.ledger SET epsilon = '0.1' WHERE position = 0", "was tampered with: row 0"),
            (
                "CREATE TABLE t AS FROM anon.ledger; DROP TABLE anon.ledger; CREATE TABLE anon.ledger AS FROM t",
                "is a copy",
            ),
            ("DROP TABLE anon.ledger; CREATE TABLE anon.ledger (a INTEGER)", "cannot be read, or is not"),
        ],
    )
    def test_a_ledger_that_was_tampered_with(self, tmp_path: Path, statement: str, reason: str) -> None:
        with opened(tmp_path / "w.duckdb") as engine:
            open_ledger(engine, None).commit([expense(1)])
        with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
            connection.execute(statement)
        with opened(tmp_path / "w.duckdb") as engine, pytest.raises(sa.EngineError) as refused:
            WarehouseLedger(engine, None).commit([expense(1)])
        assert f"the ledger of the warehouse {reason}" in str(refused.value)
        assert "cannot be written" not in str(refused.value)

    def test_what_cannot_be_written(self, ledger: WarehouseLedger, monkeypatch: pytest.MonkeyPatch) -> None:
        error = sa.EngineError("the disk is full", step="count")
        monkeypatch.setattr(ledger_module.table, "append", Mock(side_effect=error))
        with pytest.raises(sa.EngineError, match=r"cannot be written: .*the disk is full"):
            ledger.commit([expense(1)])

    def test_a_warehouse_knows_its_ledger_before_the_first_row(
        self, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ledger = open_ledger(engine, tmp_path / "b.duckdb")
        with monkeypatch.context() as patch, pytest.raises(OSError, match="killed"):
            patch.setattr(ledger_module.table, "append", Mock(side_effect=OSError("killed")))
            ledger.commit([expense(1)])
        assert [note.sha256 for note in ledger_module.table.notes(engine)] == [START]
        ledger.commit([expense(1)])
        assert [note.sha256 for note in ledger_module.table.notes(engine)] == [START, ledger.head()]

    def test_the_head_is_the_last_row_that_was_written_here(self, engine: Engine, ledger: WarehouseLedger) -> None:
        ledger.commit([expense(1)])
        written = ledger.head()
        charged(engine, None)
        assert ledger.head() == written

    def test_one_that_is_read_only(self, tmp_path: Path) -> None:
        with opened(tmp_path / "w.duckdb") as engine:
            ledger = open_ledger(engine, None)
            ledger.commit([expense(1)])
        with opened(tmp_path / "w.duckdb", read_only=True) as engine:
            with pytest.raises(sa.EngineError, match="cannot be written, so nothing can be charged"):
                read_ledger(engine, None).commit([expense(1)])
            with pytest.raises(sa.EngineError, match="is charged to a ledger first"):
                open_ledger(engine, None)

    def test_a_file_beside_a_warehouse_that_is_read_only(self, tmp_path: Path) -> None:
        with opened(tmp_path / "w.duckdb") as engine:
            charged(engine, tmp_path / "b.duckdb")
        with opened(tmp_path / "w.duckdb", read_only=True) as engine:
            charged(engine, tmp_path / "b.duckdb")

    def test_a_hash_that_was_noted(self, ledger: WarehouseLedger) -> None:
        assert ledger.verify() == ledger.verify(START) == ledger.head() == START
        ledger.commit([expense(1)])
        first = ledger.head()
        ledger.commit([expense(1)])
        assert ledger.verify() == ledger.verify(first) == ledger.verify(START) == ledger.head() != first
        with pytest.raises(sa.EngineError, match="no row with the hash that was noted"):
            ledger.verify("ab" * 32)


def charged(engine: Engine, file: Path | None) -> str:
    ledger = open_ledger(engine, file)
    ledger.commit([expense(1)])
    return ledger.head()


class TestWhichLedger:
    def refused(self, reason: str, made: Callable[[], object]) -> None:
        with pytest.raises(sa.EngineError, match=reason):
            made()

    def test_that_of_the_warehouse_stays_it(self, engine: Engine, tmp_path: Path) -> None:
        charged(engine, None)
        charged(engine, None)
        self.refused("has a ledger of its own", lambda: open_ledger(engine, tmp_path / "b.duckdb"))

    def test_a_file_that_was_charged_stays_it(self, engine: Engine, tmp_path: Path) -> None:
        charged(engine, tmp_path / "b.duckdb")
        charged(engine, tmp_path / "b.duckdb")
        self.refused("the ledger of this warehouse is the file", lambda: open_ledger(engine, None))
        self.refused("is not that of this warehouse", lambda: open_ledger(engine, tmp_path / "c.duckdb"))

    def test_a_file_that_is_lost_stays_it(self, engine: Engine, tmp_path: Path) -> None:
        charged(engine, tmp_path / "b.duckdb")
        (tmp_path / "b.duckdb").unlink()
        self.refused("the ledger of this warehouse is the file", lambda: open_ledger(engine, None))

    def test_a_file_that_was_noted_stays_it_once_it_has_a_row(
        self, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ledger = open_ledger(engine, tmp_path / "b.duckdb")
        ledger.note_in_warehouse()
        open_ledger(engine, None)
        monkeypatch.setattr(ledger_module.table, "write_note", Mock(side_effect=sa.EngineError("killed", step="note")))
        ledger.commit([expense(1)])
        self.refused("the ledger of this warehouse is the file", lambda: open_ledger(engine, None))

    def test_an_old_copy_of_the_file(self, engine: Engine, tmp_path: Path) -> None:
        charged(engine, tmp_path / "b.duckdb")
        old = (tmp_path / "b.duckdb").read_bytes()
        charged(engine, tmp_path / "b.duckdb")
        (tmp_path / "b.duckdb").write_bytes(old)
        self.refused("or an old copy of it", lambda: open_ledger(engine, tmp_path / "b.duckdb"))

    def test_the_table_of_the_warehouse_copied_to_a_file(self, tmp_path: Path) -> None:
        with opened(tmp_path / "w.duckdb") as engine:
            head = charged(engine, None)
        (tmp_path / "b.duckdb").write_bytes((tmp_path / "w.duckdb").read_bytes())
        with opened(tmp_path / "w.duckdb") as engine:
            assert read_ledger(engine, tmp_path / "b.duckdb").head() == head
            charged(engine, tmp_path / "b.duckdb")
            self.refused("the ledger of this warehouse is the file", lambda: open_ledger(engine, None))

    @pytest.mark.parametrize("known", [True, False])
    def test_releases_whose_charge_is_missing(self, engine: Engine, known: bool) -> None:
        head = charged(engine, None) if known else "ab" * 32
        engine.connection.execute("CREATE TABLE visits_anon (age INTEGER)")
        comment = f'{{"sqlanon": {{"format": 1, "ledger_sha256": "{head}"}}}}'
        engine.connection.execute(f"COMMENT ON TABLE visits_anon IS '{comment}'")
        if known:
            open_ledger(engine, None)
        else:
            self.refused("a row is missing that was written before", lambda: open_ledger(engine, None))

    def test_a_warehouse_in_memory_has_none(self) -> None:
        with closing(OpenedDatabase.at(":memory:").engine()) as engine:
            self.refused("is not a DuckDB file", lambda: open_ledger(engine, None))


def test_names_of_data_sets() -> None:
    assert have_common(["a", "b"], ["b", "c"])
    assert not have_common(["a"], ["b"])
    assert not have_common([], ["b"])
    for one, other in (("/data/*.csv", "/data/a.csv"), ("/data", "/data/a.csv"), ("/data", "/data/2025/a.csv")):
        assert have_common([one], [other]) and have_common([other], [one])
    assert not have_common(["/data/*.csv"], ["/data/a.parquet"])
    assert not have_common(["/data/*.csv"], ["/more/a.csv"])
