"""The ledger: exact, in one piece, on the disk before anyone draws, and never overspent, whoever is at it."""

import datetime
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Self

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.chance.accountant import Accountant, Expense
from sqlanon.engines.duckdb import Engine, OpenedDatabase
from sqlanon.ledger import ledger as ledger_module
from sqlanon.ledger.charged_sources import dataset_of, open_ledger
from sqlanon.ledger.ledger import WarehouseLedger
from sqlanon.ledger.ledger_table import chained, first_broken
from sqlanon.model.budget import ROW, Budget, Unit, sequential_composition
from sqlanon.model.names import dataset_named, dataset_of_table
from tests.engines import engine_of

HASH = "ab" * 32
COLUMNS = {
    "position": "99", "kind": "'cap'", "dataset": "'other'", "method": "'another'", "purpose": "NULL",
    "epsilon": "'0.0'", "delta": "NULL", "spent_at": "spent_at + INTERVAL 1 MICROSECOND", "policy_sha256": "NULL",
    "previous_sha256": "sha256", "sha256": "previous_sha256", "unit": "NULL", "individual": "'person'",
    "rows_per_individual": "7", "sources": "[{'name': '/a', 'fingerprint': 'b'}]", "public": "['codes']",
    "rho": "'0.5'",
}  # fmt: skip


def expense(epsilon: Any, delta: Any = 0, dataset: str = "visits", unit: Unit = ROW) -> Expense:
    return Expense(dataset, "ipa", "best node", Budget(epsilon, delta), HASH, unit)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[WarehouseLedger]:
    with closing(OpenedDatabase.at(tmp_path / "w.duckdb").engine()) as engine:
        yield open_ledger(engine, None)


@pytest.fixture(scope="module")
def first_rows(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a ledger with a cap and four charges."""
    path = tmp_path_factory.mktemp("ledger") / "b.duckdb"
    ledger = at(path)
    ledger.cap("visits", Budget(4, "0.1"))
    ledger.commit([expense("0.5"), expense("0.25", "1e-6"), expense("0.5", dataset="patients"), expense("1/3")])
    return path.read_bytes()


@pytest.fixture
def written(first_rows: bytes, tmp_path: Path) -> Path:
    """A copy of it."""
    (tmp_path / "b.duckdb").write_bytes(first_rows)
    return tmp_path / "b.duckdb"


def change(path: Path, *statements: str) -> None:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)


@cache
def memory() -> Engine:
    return OpenedDatabase.at(":memory:").engine()


def at(path: Path) -> WarehouseLedger:
    return open_ledger(memory(), path)


class LastCentury(datetime.datetime):
    """A clock that goes wrong."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Self:
        return cls(1999, 12, 31, tzinfo=tz)


class TestBudgets:
    def test_they_are_spent_to_the_last_digit(self, ledger: WarehouseLedger) -> None:
        ledger.cap("visits", Budget("0.3", "3e-7"))
        assert ledger.commit([expense("0.1", "1e-7"), expense("0.1", "1e-7")]) == [1, 2]
        assert ledger.account("visits").remaining == Budget("0.1", "1e-7")
        with pytest.raises(sa.BudgetError):
            ledger.commit([expense("0.10000000000000000000000000001")])
        assert ledger.commit([expense("0.1", "1e-7")]) == [3]
        assert ledger.account("visits").remaining == Budget(0)
        with pytest.raises(sa.BudgetError):
            ledger.commit([expense(Fraction(1, 10**60))])
        assert ledger.commit([expense(0)]) == [4]

    @given(parts=st.lists(st.fractions(0, 1, max_denominator=1000), max_size=8), cap=st.fractions(0, 4))
    def test_what_is_left_is_the_cap_without_the_sum(self, parts: list[Fraction], cap: Fraction) -> None:
        rows = [
            ledger_module.new_entry("charge", "visits", Budget(part), "ipa", "counts", HASH, unit=ROW) for part in parts
        ]
        entries = list(chained([ledger_module.new_entry("cap", "visits", Budget(cap)), *rows], []))
        found = ledger_module.account(entries, "visits")
        assert found.spent == sequential_composition(Budget(part) for part in parts)
        assert found.remaining == Budget(max(cap - sum(parts), Fraction(0)))
        assert first_broken(entries) is None

    def test_a_clock_that_goes_back_changes_nothing_but_times(
        self, ledger: WarehouseLedger, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ledger.cap("visits", Budget("0.5"))
        ledger.commit([expense("0.2")])
        monkeypatch.setattr(ledger_module, "datetime", LastCentury)
        ledger.commit([expense("0.2")])
        with pytest.raises(sa.BudgetError):
            ledger.commit([expense("0.2")])
        ledger.cap("visits", Budget("0.6"))
        ledger.commit([expense("0.2")])
        assert [row.epsilon for row in ledger.entries()] == ["0.5", "0.2", "0.2", "0.6", "0.2"]
        assert ledger.entries()[2].spent_at < ledger.entries()[1].spent_at
        assert ledger.verify() == ledger.head()

    def test_the_accountant_writes_what_it_charges(self, ledger: WarehouseLedger) -> None:
        accountant = Accountant(ledger, dataset="main.Visits", method="ipa", policy_sha256=HASH)
        charges = accountant.charge({"best node": Budget("0.5"), "counts": Budget("0.25", "1e-6")})
        assert [charge.position for charge in charges.values()] == [0, 1]
        assert ledger.account("visits").spent == Budget("0.75", "1e-6")
        last = ledger.entries()[-1]
        assert (last.purpose, last.method, last.policy_sha256) == ("counts", "ipa", HASH)
        assert ledger.head() == last.sha256

    def test_portions_are_paid_as_a_whole_before_any_is_taken(self, ledger: WarehouseLedger) -> None:
        """Also by a run that ends early."""
        ledger.cap("visits", Budget("0.5"))
        accountant = Accountant(ledger, dataset="visits", method="diffgen", policy_sha256=HASH)
        portions = accountant.charge_in_portions("splits", Budget("0.4"))
        assert ledger.account("visits").remaining == Budget("0.1")
        taken = [portions.take("split", Fraction(1, 10)), portions.take("leaves", Fraction(1, 5))]
        assert [charge.position for charge in taken] == [1, 1]
        assert [(row.purpose, row.epsilon) for row in ledger.entries()] == [(None, "0.5"), ("splits", "0.4")]
        assert accountant.paid == [Budget("0.4")]
        assert ledger.account("visits").spent == Budget("0.4")
        with pytest.raises(sa.BudgetError, match=r"0.1 is left of 0.5"):
            accountant.charge_in_portions("more", Budget("0.2"))
        with pytest.raises(ValueError, match="δ"):
            accountant.charge_in_portions("with δ", Budget("0.1", "1e-9"))
        assert len(ledger.entries()) == 2

    def test_a_data_set_may_have_any_name(self, ledger: WarehouseLedger) -> None:
        names = ['a"; DROP TABLE anon.ledger; --', "new\nline", "été", "'", "[x]*", "λ" * 500, "{}", "NULL"]
        ledger.commit([expense(place + 1, dataset=name) for place, name in enumerate(names)])
        shouted = [name.upper() if name.isascii() else name for name in names]
        assert [ledger.account(name).spent.epsilon for name in shouted] == list(range(1, len(names) + 1))


class TestUnits:
    """What was spent per row and what was spent per individual have no sum."""

    PERSON = Unit("person", 10)

    def test_a_loss_per_row_is_not_added_to_one_per_individual(self, ledger: WarehouseLedger) -> None:
        ledger.commit([expense(1, "0.01", unit=self.PERSON)])
        with pytest.raises(sa.PolicyError, match="different units of privacy") as caught:
            ledger.commit([expense(2, "0.02")])
        assert caught.value.problems == (
            'data set "visits": (ε = 1, δ = 0.01) was spent so far on all rows of one "person", and (ε = 2, δ = 0.02) '
            "is asked for on one row: a person with n rows would have lost ε = 1 + n · 2 and "
            "δ = 0.01 + 0.02 · (exp(n · 2) - 1) / (exp(2) - 1), and n is not known; let the policy name "
            'individual = "person"',
        )
        assert ledger.account("visits").spent == Budget(1, "0.01")
        assert ledger.commit([expense(2, dataset="patients")]) == [1]

    def test_all_rows_of_an_individual_are_lost_whatever_number_is_counted(self, ledger: WarehouseLedger) -> None:
        ledger.commit([expense(1, unit=self.PERSON), expense(1, unit=Unit("Person", 3))])
        found = ledger.account("visits")
        assert (found.spent, found.unit) == (Budget(2), self.PERSON)
        rows = [(row.unit, row.individual, row.rows_per_individual) for row in ledger.entries()]
        assert rows == [("individual", "person", 10), ("individual", "Person", 3)]

    def test_a_cap_can_say_the_unit_before_the_first_charge(self, ledger: WarehouseLedger) -> None:
        ledger.cap("visits", Budget(2), Unit("person"))
        with pytest.raises(sa.PolicyError, match="different units"):
            ledger.commit([expense(1)])
        ledger.commit([expense(1, unit=self.PERSON)])
        assert ledger.account("visits").remaining == Budget(1)


class TestTampering:
    def test_a_copy_without_its_key_is_not_charged(self, written: Path) -> None:
        change(
            written, "CREATE TABLE t AS FROM anon.ledger; DROP TABLE anon.ledger; CREATE TABLE anon.ledger AS FROM t"
        )
        with pytest.raises(sa.EngineError, match=r"copy without its key.*ADD PRIMARY KEY"):
            at(written).commit([expense(1)])
        assert len(at(written).entries()) == 5
        change(written, "ALTER TABLE anon.ledger ADD PRIMARY KEY (position)")
        assert at(written).commit([expense(1)]) == [5]

    def test_a_value_that_was_changed_in_the_table_is_found(self, first_rows: bytes, tmp_path: Path) -> None:
        without_key = ["CREATE TABLE t AS FROM anon.ledger", "DROP TABLE anon.ledger"]
        for column, value in COLUMNS.items():
            path = tmp_path / f"{column}.duckdb"
            path.write_bytes(first_rows)
            again = [*without_key, "CREATE TABLE anon.ledger AS FROM t"] if column == "position" else []
            change(path, *again, f"UPDATE anon.ledger SET {column} = {value} WHERE position = 2")
            with pytest.raises(sa.EngineError, match="was tampered with: row 2 "):
                at(path).commit([expense("0.1")])

    def test_newest_rows_that_were_removed_are_missed_by_who_noted_their_hash(self, written: Path) -> None:
        noted = at(written).verify()
        at(written).commit([expense("0.1")])
        assert at(written).verify(noted) == at(written).head() != noted
        change(written, "DELETE FROM anon.ledger WHERE position >= 4")
        assert at(written).verify() != noted
        with pytest.raises(sa.EngineError, match="newest rows were removed or rewritten"):
            at(written).verify(noted)

    def test_another_table_is_no_ledger(self, written: Path) -> None:
        for statement in ("RENAME epsilon TO e", "DROP delta"):
            change(written, f"ALTER TABLE anon.ledger {statement}")
            with pytest.raises(sa.EngineError, match="is not what sqlanon made"):
                at(written).commit([expense("0.1")])

    def test_nothing_in_its_file_is_executed(self, written: Path) -> None:
        other = written.with_name("other.duckdb")
        if duckdb.__version__ >= "2":
            with duckdb.connect() as connection:
                connection.execute(f"ATTACH '{written}' AS a; ATTACH '{other}' AS b (STORAGE_VERSION 'v2.0.0')")
                connection.execute("COPY FROM DATABASE a TO b; USE b; CREATE TABLE seen (content VARCHAR)")
                body = "FOR EACH STATEMENT INSERT INTO seen SELECT 'executed'"
                connection.execute(f"CREATE TRIGGER t AFTER INSERT ON anon.ledger {body}")
            with pytest.raises(sa.EngineError, match="has a trigger, which no ledger has"):
                at(other).commit([expense("0.1")])
        view = "CREATE VIEW anon.ledger_note AS SELECT error('executed') AS path, '' AS sha256, now() AS noted_at"
        change(written, view)
        with sa.connect(written) as session, pytest.raises(sa.EngineError, match=r"anon\.ledger_note is a view"):
            session.ledger.entries()
        change(written, "DROP VIEW anon.ledger_note")
        ledger = at(written)
        change(
            written,
            "CREATE TABLE kept AS FROM anon.ledger",
            "DROP TABLE anon.ledger",
            "CREATE VIEW anon.ledger AS FROM kept WHERE error('executed') IS NULL",
        )
        for call in (lambda: ledger.commit([expense("0.1")]), ledger.entries, lambda: at(written)):
            with pytest.raises(sa.EngineError, match=r"anon\.ledger is a view.* it was not read") as refused:
                call()
            assert refused.value.original is None


class TestDataSets:
    def test_one_name_however_it_is_spelled(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "data").mkdir()
        (tmp_path / "link").symlink_to("data")
        with sa.connect("w.duckdb") as session:
            session.connection.execute(
                "CREATE TABLE Visits AS SELECT 1 AS i; CREATE SCHEMA Clinic; "
                'CREATE TABLE clinic.Visits AS FROM visits; CREATE TABLE clinic."a.b" AS FROM visits; '
                'CREATE SCHEMA "clinic.a"; CREATE TABLE "clinic.a".b AS FROM visits; '
                "COPY visits TO 'data/V.parquet'"
            )
            names = {
                spelled: dataset_of(engine_of(session), engine_of(session).resolve(spelled), None)
                for spelled in (
                    "VISITS", "main.visits", "w.main.visits", "clinic.visits", 'clinic."a.b"', '"clinic.a".b',
                    "data/V.parquet", "link/../data/V.parquet", "./data/*.parquet", "link/*.parquet", "data", "link/",
                )
            }  # fmt: skip
        folder = str(tmp_path.resolve())
        assert list(names.values()) == [
            "visits", "visits", "visits", "clinic.visits", 'clinic."a.b"', '"clinic.a".b',
            f"{folder}/data/V.parquet", f"{folder}/data/V.parquet", f"{folder}/data/*.parquet",
            f"{folder}/data/*.parquet", f"{folder}/data", f"{folder}/data",
        ]  # fmt: skip
        with sa.connect() as session:
            source = engine_of(session).resolve("data/V.parquet")
            with pytest.raises(sa.PolicyError, match="dataset= is for queries and views"):
                dataset_of(engine_of(session), source, "visits")
            assert dataset_of(engine_of(session), source, "./data/V.parquet") == f"{folder}/data/V.parquet"
            query = engine_of(session).resolve("SELECT 1")
            for given_name in ("Main.VISITS", " visits "):
                assert dataset_of(engine_of(session), query, given_name) == "visits"

    def test_quotes_make_no_other_name(self, tmp_path: Path) -> None:
        with sa.connect(tmp_path / "w.duckdb") as session:
            session.connection.execute(
                'CREATE TABLE "My visits" AS SELECT 1 AS i; CREATE TABLE visits AS SELECT 1 AS i'
            )
            query = engine_of(session).resolve("FROM visits")
            spellings = ("my visits", '"MY visits"', 'main."my visits"', 'w."my visits"', 'w.main."my visits"')
            for spelled in spellings:
                assert dataset_of(engine_of(session), engine_of(session).resolve(spelled), None) == "my visits"
                assert dataset_of(engine_of(session), query, spelled) == "my visits"
            for spelled in ('"visits"', "w.visits", "W.main.Visits", 'main."visits"'):
                assert dataset_of(engine_of(session), query, spelled) == "visits"
            session.connection.execute("CREATE VIEW seen AS FROM visits")
            with pytest.raises(sa.PolicyError, match="no budget of its own"):
                dataset_of(engine_of(session), query, "seen")
        for spelled in spellings[:3]:
            assert dataset_named(spelled) == "my visits"

    @given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda name: "\0" not in name))
    def test_a_table_of_any_name_has_one_name(self, name: str) -> None:
        of_table = dataset_of_table("main", name)
        quoted = '"' + name.replace('"', '""') + '"'
        assert of_table == dataset_named(of_table) == dataset_named(quoted) == dataset_named(f"main.{quoted}")
        assert dataset_of_table("clinic", name) != of_table

    def test_a_path_that_no_disk_takes_is_a_name_as_well(self) -> None:
        for name in ("a" * 300 + ".parquet", "/" + "x" * 300 + "/", "y" * 5000 + "/*.parquet"):
            assert dataset_named(name) == dataset_named(dataset_named(name))

    def test_files_have_one_name_by_whatever_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HOME", str(tmp_path))
        for folder in ("lake[1]", "lake[1]/below", "lake", "LAKE"):
            (tmp_path / folder).mkdir()
        with sa.connect("w.duckdb") as session:
            for folder in ("lake[1]", "lake", "LAKE"):
                session.connection.execute(f"COPY (SELECT 1 AS i) TO '{folder}/a.parquet'")

            def name(source: str) -> str:
                return dataset_of(engine_of(session), engine_of(session).resolve(source), None)

            (tmp_path / "link").symlink_to(tmp_path / "lake")
            (tmp_path / "link.parquet").symlink_to(tmp_path / "lake" / "a.parquet")
            one = str(tmp_path.resolve() / "lake" / "a.parquet")
            for spelled in (
                "link/a.parquet",
                "link.parquet",
                "lake/a.parquet",
                "~/lake/a.parquet",
                f"file:{one}",
                f"file://{one}",
                f"file://localhost{one}",
            ):
                assert name(spelled) == one == dataset_named(spelled)
            session.connection.execute(f"SET home_directory = '{tmp_path / 'lake'}'")
            assert name("~/a.parquet") == one
            assert name("lake[1]") == name("lake[1]/../lake[1]/") == name("lake[1]/below/..")
            assert name("lake") == name("link") != name("LAKE")
            assert name("lake/*.parquet") == name("link/*.parquet")

    def test_what_could_have_another_name_must_be_given_one(self, tmp_path: Path) -> None:
        change(tmp_path / "other.duckdb", "CREATE TABLE visits AS SELECT 1 AS i")
        with sa.connect(tmp_path / "w.duckdb") as session:
            session.connection.execute(
                "CREATE TABLE visits AS SELECT 1 AS i; CREATE VIEW seen AS FROM visits; "
                "CREATE TEMP TABLE t AS FROM visits"
            )
            session.connection.execute(f"ATTACH '{tmp_path / 'other.duckdb'}' AS other")
            for source in ("seen", "FROM visits", "t", "other.visits", "SELECT * FROM visits"):
                with pytest.raises(sa.PolicyError, match="dataset="):
                    dataset_of(engine_of(session), engine_of(session).resolve(source), None)
                assert dataset_of(engine_of(session), engine_of(session).resolve(source), "Visits") == "visits"
            for name in ("", "  ", "\ud800", "a\0.parquet"):
                with pytest.raises(sa.PolicyError, match="the name of the data set"):
                    dataset_of(engine_of(session), engine_of(session).resolve("visits"), name)


class TestSessions:
    def test_a_custodian_sees_and_bounds_what_is_spent(self, tmp_path: Path) -> None:
        with sa.connect(ledger=tmp_path / "b.duckdb") as session:
            assert session.ledger.entries().num_rows == 0
            session.ledger.cap("Visits", sa.Budget(2, "1e-6"))
            open_ledger(engine_of(session), session.ledger.file).commit([expense("0.5", "1e-7")])
            assert session.ledger.spent("main.visits") == sa.Budget("0.5", "1e-7")
            assert session.ledger.remaining("visits") == sa.Budget("1.5", "9e-7")
            assert session.ledger.remaining("patients") is None
            rows = session.ledger.entries()
            assert rows.select(["position", "kind", "epsilon", "delta"]).to_pylist() == [
                {"position": 0, "kind": "cap", "epsilon": "2", "delta": "0.000001"},
                {"position": 1, "kind": "charge", "epsilon": "0.5", "delta": "0.0000001"},
            ]
            assert session.ledger.verify(rows["sha256"][0].as_py()) == rows["sha256"][1].as_py()

    def test_a_warehouse_that_is_read_only_shows_its_ledger(self, written: Path) -> None:
        with sa.connect(written, read_only=True) as session:
            assert session.ledger.spent("patients") == sa.Budget("0.5")
            assert session.ledger.entries().num_rows == 5
            with pytest.raises(sa.EngineError, match="read-only"):
                session.ledger.cap("visits", None)

    def test_a_ledger_in_memory_is_refused(self) -> None:
        with pytest.raises(sa.EngineError, match="outlives the session"):
            sa.connect(ledger=":memory:")
        with sa.connect() as session, pytest.raises(sa.EngineError, match="name a file with ledger="):
            session.ledger.spent("visits")

    def test_the_file_is_found_from_everywhere(self, written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(written.parent)
        with sa.connect(ledger="b.duckdb") as session:
            monkeypatch.chdir("/")
            assert session.ledger.entries().num_rows == 5

    def test_a_release_leaves_the_ledger_alone(self, tmp_path: Path) -> None:
        with sa.connect(tmp_path / "w.duckdb") as session:
            session.ledger.cap("visits", sa.Budget(1))
            policy = sa.Policy(quasi_identifiers=["i"], privacy=[sa.KAnonymity(2)])
            session.taxonomies.load("i", sa.Taxonomy.flat([1]))
            with pytest.raises(sa.EngineError, match='schema "anon" is reserved'):
                session.anonymize("SELECT 1 AS i", policy, into="anon.ledger", replace=True)
            session.install()
            with pytest.raises(sa.EngineError, match='schema "anon_helpers" is reserved'):
                session.anonymize("SELECT 1 AS i", policy, into="anon_helpers.released")
            assert session.ledger.remaining("visits") == sa.Budget(1)
