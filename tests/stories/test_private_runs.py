"""Private releases from end to end: what is charged, refused, promised and written, and what a killed run leaves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlglot import parse_one

import sqlanon as sa
from sqlanon.cli.sessions import writing
from sqlanon.ledger.opening import open_ledger
from sqlanon.mechanisms import opendp
from sqlanon.mechanisms.accountant import Expense
from sqlanon.methods.noisy_node import ipa as noisy_counts
from sqlanon.model.destination import destination
from sqlanon.model.ledger import START
from sqlanon.papers import IPAAsPublished
from sqlanon.papers.ipa import published_queries as ipa_paper
from sqlanon.queries.noise import scores
from tests.commands import environment, sqlanon
from tests.conftest import ROOT
from tests.fixed_noise import FixedNoise

HOSTILE = '"a""b"; drop table x --'
ROLES: dict[str, Any] = {"quasi_identifiers": ["age", "sex"], "sensitive": ["illness"], "identifiers": ["person"]}
METHOD = sa.IPA(budget=sa.Budget(1, "0.01"))
POLICY = sa.Policy(**ROLES, method=METHOD)
TOML = """
quasi_identifiers = ["age", "sex"]
sensitive = ["illness"]
identifiers = ["person"]
method = { model = "ipa", budget = { epsilon = 1.0, delta = 0.01 } }
"""


def make_warehouse(path: Path | str, rows: int = 400) -> sa.Session:
    """A warehouse with invented people, two rows each, and declared taxonomies."""
    session = sa.connect(path)
    session.connection.execute(
        f"""
        CREATE TABLE people AS
        SELECT
            i // 2 AS person, 20 + i % 7 AS age, ['f', 'm'][1 + i % 2] AS sex, ['flu', 'cold'][1 + i % 3 % 2] AS illness
        FROM range({rows}) AS numbers (i)
        """
    )
    session.taxonomies.load("age", sa.Taxonomy.intervals([5], minimum=20, maximum=29))
    session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
    return session


def rows_of(session: sa.Session, table: str) -> int:
    return session.connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]


class TestCharges:
    def test_a_release_is_charged_step_by_step(self, session: sa.Session) -> None:
        release = session.anonymize("people", POLICY, "released")
        assert session.ledger.spent("people") == sa.Budget(1, "0.01")
        charges = session.ledger.entries()
        assert charges.select(["position", "purpose", "epsilon", "delta"]).to_pylist() == [
            {"position": 0, "purpose": "node", "epsilon": "0.1", "delta": "0"},
            {"position": 1, "purpose": "cells", "epsilon": "0.6", "delta": "0.005"},
            {"position": 2, "purpose": "rolled-up", "epsilon": "0.3", "delta": "0.005"},
        ]
        # An account counts what was read of its tables, too, whatever name that was charged to.
        assert set(charges["dataset"].to_pylist()) == {"people"}
        assert [spent.position for spent in release.report.spent] == [0, 1, 2]
        assert release.guarantee.budget == sa.Budget(1, "0.01")
        assert release.report.stamp is None
        assert rows_of(session, "released") == release.report.released_rows > 0

    def test_what_is_not_left_is_refused_and_nothing_lost(self, session: sa.Session) -> None:
        session.ledger.cap("people", sa.Budget("1.5", "0.1"))
        session.anonymize("people", POLICY, "released")
        before = session.connection.execute("SELECT * FROM released").fetchall()
        with pytest.raises(sa.BudgetError, match=r"0\.5 is left"):
            session.anonymize("people", POLICY, "released", replace=True)
        assert session.ledger.remaining("people") == sa.Budget("0.5", "0.09")
        assert session.connection.execute("SELECT * FROM released").fetchall() == before

    def test_nothing_is_charged_for_what_cannot_be_released(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "taken.parquet").write_text("something else")
        with pytest.raises(sa.EngineError):
            session.anonymize("people", POLICY, tmp_path / "taken.parquet")
        session.connection.execute("UPDATE people SET age = 99 WHERE person = 3")
        with pytest.raises(sa.TaxonomyError):
            session.anonymize("people", POLICY, "released")
        assert session.ledger.spent("people") == sa.Budget(0)

    def test_what_fails_after_the_charge_stays_charged(self, session: sa.Session) -> None:
        def fail(event: sa.Event) -> None:
            if (event.stage, event.state) == ("verify", "started"):
                raise RuntimeError("enough")

        with pytest.raises(RuntimeError, match="enough"):
            session.anonymize("people", POLICY, "released", progress=fail)
        assert session.ledger.spent("people") == sa.Budget(1, "0.01")
        tables = session.connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall()
        assert ("released",) not in tables
        assert not [name for (name,) in tables if name.startswith("anon_")]

    def test_a_seeded_release_costs_nothing_and_says_what_it_is(self, session: sa.Session, tmp_path: Path) -> None:
        into = tmp_path / "seeded.parquet"
        releases = [
            session.anonymize("people", POLICY, into, replace=True, random_source=sa.SeededSource(4)) for _ in range(2)
        ]
        assert releases[0].model_dump(exclude={"report"}) == releases[1].model_dump(exclude={"report"})
        assert releases[0].report.stamp == "NOT PRIVATE"
        assert releases[0].guarantee.budget is None
        assert releases[0].guarantee.claims == ()
        assert json.loads(session.provenance(into) or "")["sqlanon"]["stamp"] == "NOT PRIVATE"
        assert session.ledger.spent("people") == sa.Budget(0)

    @pytest.mark.usefixtures("warehouse")
    @pytest.mark.deep
    def test_a_killed_run_leaves_its_charge_and_no_release(self, tmp_path: Path) -> None:
        program = """
import os, signal, sqlanon as sa
from tests.stories.test_private_runs import POLICY
def die(event):
    if (event.stage, event.state) == ("release", "started"):
        os.kill(os.getpid(), signal.SIGKILL)
with sa.connect("w.duckdb") as session:
    session.anonymize("people", POLICY, INTO, progress=die)
"""
        for into in ("released", "released.parquet"):
            killed = subprocess.run(
                [sys.executable, "-c", program.replace("INTO", repr(into))],
                cwd=tmp_path, env=environment(PYTHONPATH=str(ROOT)), check=False, timeout=60,
            )  # fmt: skip
            assert killed.returncode == -signal.SIGKILL
        with sa.connect(tmp_path / "w.duckdb") as session:
            assert session.ledger.spent("people") == sa.Budget(2, "0.02")
            assert session.ledger.verify()
            assert (
                session.connection.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'released'").fetchall()
                == []
            )
            assert not (tmp_path / "released.parquet").exists()
            assert session.anonymize("people", POLICY, tmp_path / "released.parquet").report.released_rows > 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["released.parquet", "w.duckdb"]

    def test_of_two_processes_one_gets_the_last_of_a_budget(self, tmp_path: Path) -> None:
        with make_warehouse(tmp_path / "w.duckdb") as session:
            dataset = "people"
            session.connection.execute("COPY people TO ? (FORMAT parquet)", [str(tmp_path / "people.parquet")])
        with sa.connect(ledger=tmp_path / "l.duckdb") as custodian:
            custodian.ledger.cap(dataset, sa.Budget(1, "0.01"))
        (tmp_path / "private.toml").write_text(TOML)

        def run(place: int) -> int:
            return sqlanon(
                "run", "people", "--db", "w.duckdb", "--policy", "private.toml", "--into", f"{place}.parquet",
                "--ledger", "l.duckdb", folder=tmp_path,
            ).returncode  # fmt: skip

        with ThreadPoolExecutor(2) as both:
            codes = sorted(both.map(run, range(2)))
        assert codes == [0, 4]
        assert len(list(tmp_path.glob("[01].parquet"))) == 1


HAVE_ACCOUNTS = {
    "FROM people": "table",
    "people_seen": "table",
    "FROM seen.again": "table",
    "FROM nested": "table",
    "WITH people AS (FROM people) FROM people": "table",
    "FROM query_table('people')": "table",
    "FROM people_of(1)": "table",
    "FROM 'lake/*.parquet'": "lake",
    "FROM read_parquet(['lake/a.parquet'])": "lake",
    "listed": "lake",
    "FROM files_of(1)": "lake",
    "FROM 'link.parquet'": "lake",
    "FROM listed SEMI JOIN query_table('people') USING (person)": "both",
}
"""Queries and views, and what of that which has an account they read."""


class TestAccounts:
    def test_a_cap_holds_for_what_is_released_however_it_is_spelled(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "lake").mkdir()
        session.connection.execute("COPY people TO ? (FORMAT parquet)", [str(tmp_path / "lake" / "a.parquet")])
        session.connection.execute("CREATE VIEW seen AS FROM people")
        for spelled, source in (('"people"', "people"), (str(tmp_path / "lake"), f"{tmp_path}/lake/")):
            session.ledger.cap(spelled, sa.Budget("0.1"))
            with pytest.raises(sa.BudgetError):
                session.anonymize(source, POLICY, "released")
        with pytest.raises(sa.PolicyError, match="no budget of its own"):
            session.ledger.cap("seen", sa.Budget(1))
        with pytest.raises(sa.PolicyError, match="a cap is a Budget"):
            session.ledger.cap("people", 2.5)  # type: ignore[arg-type]
        assert session.ledger.knows("people")
        assert not session.ledger.knows("poeple")

    def test_no_account_is_passed_by(self, session: sa.Session, tmp_path: Path) -> None:
        session.ledger.cap("people", sa.Budget("0.5"))
        with pytest.raises(sa.PolicyError, match="dataset= is for queries and views"):
            session.anonymize("people", POLICY, "released", dataset="anything")
        session.close()
        with (
            sa.connect(tmp_path / "w.duckdb", ledger=tmp_path / "fresh.duckdb") as beside,
            pytest.raises(sa.EngineError, match="a ledger of its own"),
        ):
            beside.anonymize("people", POLICY, "released")

    @pytest.mark.parametrize(
        "again",
        ["lake", "lake/*.parquet", "lake/a.parquet", "./lake/../lake/[a].parquet", "linked.parquet", "symbolic.parquet",
         "copy.parquet", "other", "**/a.parquet"],
    )  # fmt: skip
    def test_files_have_one_account_by_whatever_path(
        self, session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "lake").mkdir()
        (tmp_path / "other").mkdir()
        session.connection.execute("COPY people TO 'lake/a.parquet'; COPY (FROM people LIMIT 9) TO 'lake/b.parquet'")
        os.link("lake/a.parquet", "linked.parquet")
        Path("symbolic.parquet").symlink_to(tmp_path / "lake" / "a.parquet")
        shutil.copyfile("lake/a.parquet", "copy.parquet")
        os.link("lake/a.parquet", "other/c.parquet")
        lake = str((tmp_path / "lake").resolve())
        session.anonymize("lake", POLICY, "first")
        session.anonymize(again, POLICY, "second")
        assert session.ledger.spent("lake") == sa.Budget(2, "0.02")
        assert set(session.ledger.entries()["dataset"].to_pylist()) == {lake}
        session.ledger.cap(again, sa.Budget("2.5", "0.1"))
        assert session.ledger.remaining("lake") == sa.Budget("0.5", "0.08") == session.ledger.remaining(again)
        session.connection.execute("COPY (FROM people LIMIT 8) TO 'lake/c.parquet'")
        for source in ("lake/c.parquet", "lake"):
            with pytest.raises(sa.BudgetError, match="lake"):
                session.anonymize(source, POLICY, "third")
        files = [file for files in session.ledger.entries()["sources"].to_pylist() for file in files or ()]
        assert len({file["name"] for file in files}) == len(files) <= 4
        assert session.ledger.verify()

    @pytest.mark.usefixtures("warehouse")
    def test_a_warehouse_knows_its_ledger(self, tmp_path: Path) -> None:
        """Else a run that forgets to name the ledger would open a fresh account."""
        budget = tmp_path / "budget.duckdb"
        with sa.connect(tmp_path / "w.duckdb", ledger=budget) as session:
            session.anonymize("people", POLICY, "released")
        old = budget.read_bytes()
        with sa.connect(tmp_path / "w.duckdb", ledger=budget) as session:
            session.anonymize("people", POLICY, "again")
            assert session.ledger.spent("people") == sa.Budget(2, "0.02")
        for read_only in (False, True):
            with sa.connect(tmp_path / "w.duckdb", read_only=read_only) as session:
                for call in (
                    lambda session=session: session.anonymize("people", POLICY, tmp_path / "r.parquet"),
                    lambda session=session: session.ledger.cap("people", sa.Budget(9)),
                    lambda session=session: session.ledger.spent("people"),
                ):
                    with pytest.raises(
                        sa.EngineError, match=r"is the file .*budget\.duckdb; name it with ledger=|read-only"
                    ):
                        call()
        (tmp_path / "copy.duckdb").write_bytes(old)
        for other in ("new.duckdb", "copy.duckdb"):
            with (
                sa.connect(tmp_path / "w.duckdb", ledger=tmp_path / other) as session,
                pytest.raises(sa.EngineError, match=r"is not that of this warehouse, or an old copy .*budget\.duckdb"),
            ):
                session.anonymize("people", POLICY, "third")
        assert not (tmp_path / "new.duckdb").exists()
        budget.rename(tmp_path / "moved.duckdb")
        with sa.connect(tmp_path / "w.duckdb", ledger=tmp_path / "moved.duckdb") as session:
            session.anonymize("people", POLICY, "third")
            assert session.ledger.spent("people") == sa.Budget(3, "0.03")
        with sa.connect(tmp_path / "w.duckdb") as session, pytest.raises(sa.EngineError, match="moved"):
            session.ledger.spent("people")

    @pytest.mark.usefixtures("warehouse")
    @pytest.mark.deep
    def test_a_warehouse_knows_the_ledger_of_a_run_that_was_killed(self, tmp_path: Path) -> None:
        program = """
import os, signal, sqlanon as sa
from sqlanon.ledger import table
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
        killed = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path, env=environment(PYTHONPATH=str(ROOT)), check=False, timeout=60,
        )  # fmt: skip
        assert killed.returncode == -signal.SIGKILL
        with sa.connect(tmp_path / "w.duckdb") as session, pytest.raises(sa.EngineError, match=r"budget\.duckdb"):
            session.anonymize("people", POLICY, "released")
        with sa.connect(tmp_path / "w.duckdb", ledger=tmp_path / "budget.duckdb") as session:
            assert session.ledger.spent("people") == sa.Budget(1, "0.01")

    def test_a_ledger_that_was_never_written_binds_nobody(self, session: sa.Session, tmp_path: Path) -> None:
        session.close()
        with (
            sa.connect(tmp_path / "w.duckdb", ledger=tmp_path / "missing" / "b.duckdb") as other,
            pytest.raises(sa.EngineError, match="ledger"),
        ):
            other.anonymize("people", POLICY, "released")
        with sa.connect(tmp_path / "w.duckdb") as own:
            own.anonymize("people", POLICY, "released")
            assert own.ledger.spent("people") == sa.Budget(1, "0.01")

    def test_a_ledger_that_goes_on_in_a_file_is_that_of_the_warehouse(
        self, session: sa.Session, tmp_path: Path
    ) -> None:
        session.anonymize("people", POLICY, "released")
        session.connection.execute(f"ATTACH '{tmp_path}/b.duckdb' AS b; CREATE SCHEMA b.anon")
        session.connection.execute(
            "CREATE TABLE b.anon.ledger AS FROM anon.ledger; ALTER TABLE b.anon.ledger ADD PRIMARY KEY (position)"
        )
        session.close()
        with sa.connect(tmp_path / "w.duckdb", ledger=tmp_path / "b.duckdb") as moved:
            moved.anonymize("people", POLICY, "again")
            assert moved.ledger.spent("people") == sa.Budget(2, "0.02")
        with sa.connect(tmp_path / "w.duckdb") as own, pytest.raises(sa.EngineError, match="name it with ledger="):
            own.anonymize("people", POLICY, "third")

    @pytest.mark.usefixtures("warehouse")
    def test_a_warehouse_knows_its_ledger_by_runs_into_files(self, tmp_path: Path) -> None:
        """On the command line they open the warehouse read-only, so that several can run at the same time."""
        (tmp_path / "policy.toml").write_text(TOML)
        command = ("run", "people", "--db", "w.duckdb", "--policy", "policy.toml", "--replace", "--into", "r.parquet")
        assert sqlanon(*command, "--ledger", "b.duckdb", folder=tmp_path).returncode == 0
        forgotten = sqlanon(*command, folder=tmp_path)
        assert (forgotten.returncode, "b.duckdb; name it with --ledger" in forgotten.stderr) == (1, True)
        assert sqlanon(*command, "--ledger", "b.duckdb", folder=tmp_path).returncode == 0
        with sa.connect(ledger=tmp_path / "b.duckdb") as session:
            assert session.ledger.spent("people") == sa.Budget(2, "0.02")

    @pytest.mark.usefixtures("warehouse")
    def test_a_warehouse_that_is_open_read_only_must_know_its_ledger(self, tmp_path: Path) -> None:
        """Else every other file that is named would be a fresh account."""
        for name in ("b1.duckdb", "b2.duckdb"):
            with sa.connect(tmp_path / "w.duckdb", read_only=True, ledger=tmp_path / name) as session:
                with pytest.raises(sa.EngineError, match=r"open it writable once .* so that it notes its ledger"):
                    session.anonymize("people", POLICY, tmp_path / "r.parquet")
                with pytest.raises(sa.EngineError, match="has not noted its ledger"):
                    session.ledger.cap("people", sa.Budget(9))
                assert session.ledger.spent("people") == sa.Budget(0)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["w.duckdb"]
        with sa.connect(tmp_path / "w.duckdb", ledger=tmp_path / "b1.duckdb") as session:
            session.ledger.cap("people", None)
        with sa.connect(tmp_path / "w.duckdb", read_only=True, ledger=tmp_path / "b1.duckdb") as session:
            session.anonymize("people", POLICY, tmp_path / "r.parquet")
        with (
            sa.connect(tmp_path / "w.duckdb", read_only=True, ledger=tmp_path / "b2.duckdb") as session,
            pytest.raises(sa.EngineError, match="is not that of this warehouse"),
        ):
            session.anonymize("people", POLICY, tmp_path / "r2.parquet")

    @pytest.mark.usefixtures("warehouse")
    def test_a_warehouse_that_nobody_here_may_write_notes_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        may = os.access
        monkeypatch.setattr(
            "os.access", lambda path, mode: not (mode == os.W_OK and Path(path).name == "w.duckdb") and may(path, mode)
        )
        with sa.connect(tmp_path / "w.duckdb", read_only=True, ledger=tmp_path / "b.duckdb") as session:
            release = session.anonymize("people", POLICY, tmp_path / "r.parquet")
            assert session.ledger.spent("people") == sa.Budget(1, "0.01")
        assert any("the ledger knows those that it recorded" in line for line in release.guarantee.conditions)

    @pytest.mark.usefixtures("warehouse")
    def test_a_run_that_cannot_note_the_ledger_of_its_warehouse_says_why(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sqlanon.engines.retries.PATIENCE", 0.2)
        program = "import duckdb; c = duckdb.connect('w.duckdb', read_only=True); print('open', flush=True); input()"
        run = writing(tmp_path / "w.duckdb", destination("r.parquet"), tmp_path / "b.duckdb", is_charged=True)
        with subprocess.Popen(
            [sys.executable, "-c", program], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as other:
            assert other.stdout is not None
            assert other.stdin is not None
            assert other.stdout.readline() == "open\n"
            with pytest.raises(sa.EngineError, match="is open in another program"), run:
                pass
            other.stdin.close()

    def test_files_of_several_accounts_are_charged_to_none(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "lake").mkdir()
        for name, rows in (("a", 400), ("b", 399), ("c", 398)):
            path = str(tmp_path / "lake" / f"{name}.parquet")
            session.connection.execute(f"COPY (FROM people LIMIT {rows}) TO '{path}'")
            if name != "c":
                session.anonymize(path, POLICY, f"of_{name}")
        for call in (
            lambda: session.anonymize(tmp_path / "lake", POLICY, "all"),
            lambda: session.ledger.cap(str(tmp_path / "lake"), sa.Budget(9)),
        ):
            with pytest.raises(sa.PolicyError, match="belong to other data sets") as error:
                call()
            assert [line.endswith('.parquet"') for line in error.value.problems] == [True, True]
        assert session.ledger.entries().num_rows == 6

    def test_a_lake_that_was_one_file_first_goes_on_under_its_name(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "lake").mkdir()
        for name, rows in (("a", 400), ("b", 399)):
            session.connection.execute(f"COPY (FROM people LIMIT {rows}) TO '{tmp_path}/lake/{name}.parquet'")
        for source in ("lake/a.parquet", "lake", "lake/b.parquet"):
            session.anonymize(tmp_path / source, POLICY, "released", replace=True)
        assert session.ledger.spent(str(tmp_path / "lake" / "b.parquet")) == sa.Budget(3, "0.03")
        (tmp_path / "lake" / "a.parquet").unlink()
        session.anonymize(tmp_path / "lake", POLICY, "released", replace=True)
        assert session.ledger.spent(str(tmp_path / "lake")) == sa.Budget(4, "0.04")

    def test_files_that_were_not_there_are_known_by_their_place(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "lake").mkdir()
        session.connection.execute(f"COPY people TO '{tmp_path}/lake/a.parquet'")
        open_ledger(session._engine, None).commit([Expense(f"{tmp_path}/lake/", "ipa", "cells", sa.Budget(1), "")])
        session.anonymize(tmp_path / "lake" / "a.parquet", POLICY, "released")
        assert session.ledger.spent(str(tmp_path / "lake")) == sa.Budget(2, "0.01")

    def test_a_data_set_that_nobody_declared_is_refused(self, session: sa.Session, tmp_path: Path) -> None:
        for given in ("visits", str(tmp_path / "missing.parquet")):
            with pytest.raises(sa.PolicyError, match="nobody has declared the data set"):
                session.anonymize("FROM people", POLICY, "released", dataset=given)
        assert session.ledger.entries().num_rows == 0
        session.ledger.cap("visits", None)
        session.anonymize("FROM people", POLICY, "released", dataset="Visits")
        assert session.ledger.spent("visits") == sa.Budget(1, "0.01")

    @pytest.mark.usefixtures("warehouse")
    def test_the_command_line_refuses_it_as_well(self, tmp_path: Path) -> None:
        (tmp_path / "policy.toml").write_text(TOML)
        command = ("run", "FROM people", "--db", "w.duckdb", "--policy", "policy.toml", "--into", "released")
        refused = sqlanon(*command, "--dataset", "visits", folder=tmp_path)
        assert refused.returncode == 2
        assert "nobody has declared the data set" in refused.stderr

    def test_what_has_an_account_is_charged_to_no_other(
        self, session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Else the same rows would be paid for from two accounts."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "lake").mkdir()
        session.connection.execute(
            """
            COPY people TO 'lake/a.parquet';
            CREATE VIEW people_seen AS FROM people;
            CREATE SCHEMA seen;
            CREATE VIEW seen.again AS FROM people_seen;
            CREATE VIEW nested AS SELECT * FROM (WITH found AS (FROM seen.again) FROM found);
            CREATE MACRO people_of(i) AS TABLE (FROM people WHERE person >= i OR TRUE);
            CREATE VIEW listed AS FROM read_parquet(['lake/a.parquet']);
            CREATE MACRO files_of(i) AS TABLE (FROM read_parquet('lake/a.parquet') WHERE person >= i OR TRUE);
            """
        )
        os.link("lake/a.parquet", "link.parquet")
        session.anonymize("people", POLICY, "first")
        session.ledger.cap("lake", None)
        session.ledger.cap("other", sa.Budget(9, "0.5"))
        lake = str((tmp_path / "lake").resolve())
        for source, account in HAVE_ACCOUNTS.items():
            query = source if " " in source else f"FROM {source}"
            for read in (source, session.connection.sql(query)):
                with pytest.raises(sa.PolicyError, match="have other accounts in the ledger") as error:
                    session.anonymize(read, POLICY, "third", dataset="other")
                expected = {"table": ['"people"'], "lake": [f'"{lake}"'], "both": ['"people"', f'"{lake}"']}
                assert list(error.value.problems) == expected[account], source
        session.anonymize("FROM listed", POLICY, "third", dataset="lake")
        assert session.ledger.spent("lake") == sa.Budget(1, "0.01")
        assert session.ledger.spent("other") == sa.Budget(0)

    def test_what_has_no_account_may_be_charged_to_one_that_is_named(self, session: sa.Session) -> None:
        session.connection.execute(
            """
            CREATE TABLE others AS FROM people;
            CREATE TABLE codes AS SELECT DISTINCT age FROM people;
            CREATE SCHEMA elsewhere;
            CREATE TABLE elsewhere.others AS FROM people;
            CREATE VIEW elsewhere.seen AS FROM elsewhere.others;
            """
        )
        session.anonymize("people", POLICY, "first")
        session.ledger.cap("hospital", sa.Budget(9, "0.5"))
        for source in (
            "WITH people AS (FROM others) FROM people",
            "SELECT o.* FROM others AS o SEMI JOIN codes AS c ON o.age = c.age",
            "FROM elsewhere.seen",
        ):
            session.anonymize(source, POLICY, "second", dataset="hospital", replace=True)
        assert session.ledger.spent("people") == sa.Budget(1, "0.01")
        assert session.ledger.spent("hospital") == sa.Budget(3, "0.03")

    def test_the_command_line_pays_from_no_other_account_either(self, session: sa.Session, tmp_path: Path) -> None:
        session.anonymize("people", POLICY, "first")
        session.ledger.cap("other", None)
        session.close()
        (tmp_path / "policy.toml").write_text(TOML)
        command = ("run", "FROM people", "--db", "w.duckdb", "--policy", "policy.toml", "--into", "released")
        refused = sqlanon(*command, "--dataset", "other", folder=tmp_path)
        assert (refused.returncode, "name that one with --dataset" in refused.stderr) == (2, True), refused.stderr
        assert sqlanon(*command, "--dataset", "people", folder=tmp_path).returncode == 0

    def test_only_opendp_itself_is_trusted(self, session: sa.Session) -> None:
        class Quiet(sa.OpenDPSource):
            """One that says so."""

        release = session.anonymize("people", POLICY, "released", random_source=Quiet())
        assert release.report.stamp == "NOT PRIVATE"
        assert session.ledger.spent("people") == sa.Budget(0)

    def test_what_is_promised_is_what_was_paid(self, session: sa.Session) -> None:
        """Copies with changes go around the checks of a policy, and are checked where they are used."""
        split = METHOD.model_copy(update={"split": {"node": 10, "cells": 20, "rolled-up": 20}})
        for policy in (POLICY.model_copy(update={"method": split}), POLICY.model_copy(update={"sensitive": ()})):
            with pytest.raises(sa.PolicyError):
                session.anonymize("people", policy, "released")
        assert session.ledger.spent("people") == sa.Budget(0)

    def test_of_a_query_nobody_knows_what_its_rows_stand_for(self, session: sa.Session) -> None:
        about_query = [
            any("from one row of the data set" in line for line in release.guarantee.conditions)
            for release in (
                session.anonymize("people", POLICY, "released"),
                session.anonymize("FROM people WHERE age > 20", POLICY, "some", dataset="people"),
            )
        ]
        assert about_query == [False, True]

    def test_a_release_carries_the_head_of_its_ledger(self, session: sa.Session) -> None:
        session.anonymize("people", POLICY, "released")
        noted = json.loads(session.provenance("released") or "")["sqlanon"]["ledger_sha256"]
        assert session.ledger.verify(noted) == noted

    @pytest.mark.parametrize("lost", ["position >= 3", "TRUE"])
    def test_a_release_in_the_warehouse_misses_rows_of_the_ledger(self, session: sa.Session, lost: str) -> None:
        """Else who deletes the newest rows, which nobody has noted elsewhere, has their budget back."""
        session.anonymize("people", POLICY, "first")
        session.anonymize("people", POLICY, "it's second")
        session.connection.execute(f"DELETE FROM anon.ledger WHERE {lost}")
        releases = ['"it\'s second"'] if lost != "TRUE" else ['"first"', '"it\'s second"']
        for refused in (
            lambda: session.ledger.verify(),
            lambda: session.ledger.spent("people"),
            lambda: session.ledger.cap("people", sa.Budget(9)),
            lambda: session.anonymize("people", POLICY, "third"),
        ):
            with pytest.raises(sa.EngineError, match="a row is missing that was written before") as error:
                refused()
            assert all(name in str(error.value) for name in releases)
        session.connection.execute('DROP TABLE first; COMMENT ON TABLE "it\'s second" IS NULL')
        session.anonymize("people", POLICY, "third")

    def test_releases_that_were_charged_to_no_ledger_miss_none(self, session: sa.Session) -> None:
        session.anonymize("people", POLICY, "seeded", random_source=sa.SeededSource(1))
        session.anonymize("people", sa.Policy(**ROLES, privacy=[sa.KAnonymity(2)]), "classes")
        session.connection.execute("COMMENT ON TABLE people IS 'ledger_sha256 {'")
        session.anonymize("people", POLICY, "first")
        session.connection.execute("ATTACH ':memory:' AS other; CREATE TABLE other.copied AS FROM first")
        session.connection.execute('COMMENT ON TABLE other.copied IS \'{"sqlanon": {"ledger_sha256": "of another"}}\'')
        assert session.ledger.spent("people") == sa.Budget(1, "0.01")

    def test_a_file_whose_newest_rows_were_deleted_is_missed_without_notes(
        self, session: sa.Session, tmp_path: Path
    ) -> None:
        session.close()
        with sa.connect(tmp_path / "w.duckdb", ledger=tmp_path / "b.duckdb") as charged:
            charged.anonymize("people", POLICY, "first")
            charged.connection.execute(f"DELETE FROM anon.ledger_note WHERE sha256 <> '{START}'")
        (tmp_path / "b.duckdb").unlink()
        with (
            sa.connect(tmp_path / "w.duckdb", ledger=tmp_path / "b.duckdb") as charged,
            pytest.raises(sa.EngineError, match="a row is missing that was written before"),
        ):
            charged.anonymize("people", POLICY, "second")

    @pytest.mark.parametrize("stage", ["release", "publish"])
    def test_a_failure_tells_what_was_spent(self, session: sa.Session, tmp_path: Path, stage: str) -> None:
        def stop(event: sa.Event) -> None:
            if (event.stage, event.state) == (stage, "started"):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as error:
            session.anonymize("people", POLICY, "released", progress=stop)
        assert error.value.spent == {"epsilon": "1", "delta": "0.01"}
        assert "see the ledger" in error.value.__notes__[0]

    def test_a_target_that_comes_up_meanwhile_tells_what_was_spent(self, session: sa.Session, tmp_path: Path) -> None:
        target = tmp_path / "released.parquet"

        def meanwhile(event: sa.Event) -> None:
            if (event.stage, event.state) == ("publish", "started"):
                target.write_text("of somebody else")

        with pytest.raises(sa.EngineError, match="exists") as error:
            session.anonymize("people", POLICY, target, progress=meanwhile)
        assert error.value.spent == {"epsilon": "1", "delta": "0.01"}
        assert target.read_text() == "of somebody else"

    def test_a_budget_of_before_is_not_told_of_as_spent(self, session: sa.Session) -> None:
        session.ledger.cap("people", sa.Budget("0.1"))
        with pytest.raises(sa.BudgetError) as error:
            session.anonymize("people", POLICY, "released")
        assert not hasattr(error.value, "spent")

    def test_too_many_rows_for_exact_scores_are_refused_before_anything_is_charged(
        self, session: sa.Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(noisy_counts, "MAX_ROWS", 5)
        with pytest.raises(sa.PolicyError, match="up to 5 rows; give the method a public node"):
            session.anonymize("people", POLICY, "released")
        assert session.ledger.spent("people") == sa.Budget(0)

    @pytest.mark.parametrize("method", [METHOD, IPAAsPublished()], ids=lambda method: method.name)
    def test_a_score_that_fails_is_what_is_told(
        self, session: sa.Session, monkeypatch: pytest.MonkeyPatch, method: sa.IPA
    ) -> None:
        failing = parse_one("SELECT error('memory is full') AS node", dialect="duckdb")
        monkeypatch.setattr(scores, "node_scores", lambda *_, **__: failing.copy())
        monkeypatch.setattr(ipa_paper, "utilities", lambda *_: failing.copy())
        with pytest.raises(sa.EngineError) as raised:
            session.anonymize("people", sa.Policy(**ROLES, method=method), "released")
        assert raised.value.step in ("scores of nodes", "utilities of nodes")

    def test_what_many_rows_have_is_told_with_its_delta(self, session: sa.Session) -> None:
        guarantee = session.anonymize("people", POLICY, "released").guarantee
        for lines in (guarantee.conditions, guarantee.not_covered):
            assert any("n times ε and δ (exp(n ε) - 1) / (exp(ε) - 1)" in line for line in lines)

    def test_what_cannot_be_drawn_is_not_charged(self, session: sa.Session) -> None:
        tiny = POLICY.model_copy(update={"method": sa.IPA(budget=sa.Budget("1e-12", "1e-6"))})
        with pytest.raises(sa.PolicyError, match="cannot be drawn with"):
            session.anonymize("people", tiny, "released")
        assert session.ledger.spent("people") == sa.Budget(0)

    @pytest.mark.usefixtures("warehouse")
    def test_a_ledger_that_could_not_be_written_is_not_left(self, tmp_path: Path) -> None:
        program = """
import resource, sqlanon as sa
from tests.stories.test_private_runs import POLICY
with sa.connect("w.duckdb", ledger="l.duckdb") as session:
    session.ledger._note_in_warehouse()
with sa.connect("w.duckdb", read_only=True, ledger="l.duckdb") as session:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    session.anonymize("people", POLICY, "released.parquet")
"""
        failed = subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, env=environment(PYTHONPATH=str(ROOT)), check=False,
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert "EngineError" in failed.stderr
        assert not (tmp_path / "released.parquet").exists()
        assert not (tmp_path / "l.duckdb").exists()
        with sa.connect(tmp_path / "w.duckdb", read_only=True, ledger=tmp_path / "l.duckdb") as session:
            session.anonymize("people", POLICY, tmp_path / "released.parquet")
            assert session.ledger.spent("people").epsilon > 0

    def test_a_ledger_that_a_killed_process_has_left_empty_says_what_to_do(self, tmp_path: Path) -> None:
        with make_warehouse(tmp_path / "w.duckdb"):
            (tmp_path / "l.duckdb").write_bytes(bytes(4096))
        with (
            sa.connect(tmp_path / "w.duckdb", read_only=True, ledger=tmp_path / "l.duckdb") as session,
            pytest.raises(sa.EngineError, match=r"it was never written, .* remove it"),
        ):
            session.anonymize("people", POLICY, tmp_path / "released.parquet")


class TestRefusals:
    @pytest.mark.parametrize(
        ("changes", "problems"),
        [
            ({"insensitive": ["x"]}, ['cannot publish the insensitive "x"']),
            ({"sensitive": ["illness", "y"]}, ["one sensitive column"]),
            (
                {"privacy": [sa.KAnonymity(2)], "suppression_limit": 0.1},
                ["takes no privacy model", "takes no suppression"],
            ),
            ({"row_weight": "person"}, ["counts rows"]),
            ({"quality": sa.LM()}, ["takes no quality model"]),
            ({"method": sa.IPA(rows_per_individual=2)}, ["rows_per_individual needs individual"]),
            ({"method": sa.IPA(node={"age": 1})}, ["method.node must give every quasi-identifier"]),
        ],
        ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
    )
    def test_policies_that_ask_for_more(self, changes: dict[str, Any], problems: list[str]) -> None:
        with pytest.raises(sa.PolicyError) as error:
            sa.Policy(**{**ROLES, "method": METHOD, **changes})
        assert all(any(problem in line for line in error.value.problems) for problem in problems)

    @pytest.mark.parametrize(
        ("method", "problem"),
        [
            ({"budget": {"epsilon": 0.1}}, "method.budget.epsilon: must be exact"),
            ({"budget": {"epsilon": 0}}, "ε must be positive"),
            ({"split": {"cells": "0.5", "rolled-up": "0.5"}}, "positive shares that add up to 1"),
            ({"spilt": {}}, 'did you mean "split"?'),
        ],
        ids=["a float", "no ε", "a split without the node", "a slip"],
    )
    def test_methods_that_make_no_sense(self, method: dict[str, Any], problem: str) -> None:
        with pytest.raises(sa.PolicyError) as error:
            sa.Policy(**ROLES, method={"model": "ipa", **method})
        assert any(problem in line for line in error.value.problems)

    def test_domains_that_were_read_off_the_data(self, session: sa.Session) -> None:
        session.taxonomies.load("age", sa.Taxonomy.intervals([5]), source="people")
        with pytest.raises(sa.TaxonomyError, match="read off the data") as error:
            session.anonymize("people", POLICY, "released")
        assert error.value.problems == ('"age"',)
        accepted = POLICY.model_copy(update={"method": METHOD.model_copy(update={"accept_observed_domain": True})})
        promised = session.anonymize("people", accepted, "released").guarantee
        assert any('values of "age" occur' in line for line in promised.conditions)

    def test_a_domain_that_a_file_states_is_a_condition(self, session: sa.Session, tmp_path: Path) -> None:
        """An observed taxonomy that was exported and loaded again counted as declared."""
        session.taxonomies.load("sex", sa.Taxonomy.flat(), source="people")
        session.taxonomies.export("sex", tmp_path / "laundered.csv")
        session.taxonomies.load("sex", tmp_path / "laundered.csv")
        with pytest.raises(sa.TaxonomyError, match="read off the data") as error:
            session.anonymize("people", POLICY, "released")
        assert error.value.problems == ('"sex"',)
        (tmp_path / "stated.csv").write_text("f;*\nm;*\nx;*\n")
        session.taxonomies.load("sex", tmp_path / "stated.csv")
        release = session.anonymize("people", POLICY, "released")
        assert release.report.domains == {"age": "declared", "sex": "stated"}
        [said] = [line for line in release.guarantee.conditions if "stated.csv" in line]
        assert '"sex"' in said and "nobody has checked" in said and str(tmp_path) not in said

    def test_a_pure_release_without_a_declared_domain(self, session: sa.Session) -> None:
        pure = sa.Policy(**ROLES, method=sa.IPA(budget=sa.Budget(1)))
        with pytest.raises(sa.TaxonomyError, match="without a taxonomy"):
            session.anonymize("people", pure, "released")
        session.taxonomies.load("illness", sa.Taxonomy.flat(["flu"]))
        with pytest.raises(sa.TaxonomyError, match="values that their taxonomy does not have"):
            session.anonymize("people", pure, "released")
        session.taxonomies.load("illness", sa.Taxonomy.flat(["flu", "cold", "plague"]))
        release = session.anonymize("people", pure, "released")
        assert release.guarantee.budget == sa.Budget(1)

    def test_a_domain_too_large_to_be_numbered(self) -> None:
        names = [f"q{place}" for place in range(8)]
        with make_warehouse(":memory:") as session:
            columns = ", ".join(f"age AS {name}" for name in names)
            session.connection.execute(f"CREATE TABLE wide AS SELECT {columns}, illness FROM people")
            for name in names:
                session.taxonomies.load(name, sa.Taxonomy.intervals([100], minimum=0, maximum=999))
            session.taxonomies.load("illness", sa.Taxonomy.flat(["flu", "cold"]))
            policy = sa.Policy(quasi_identifiers=names, sensitive=["illness"], method=sa.Histogram())
            with pytest.raises(sa.PolicyError, match="more than can be numbered"):
                session.anonymize("wide", policy, "released", random_source=sa.SeededSource(1))

    def test_places_without_a_ledger(self, session: sa.Session, tmp_path: Path) -> None:
        with make_warehouse(":memory:") as in_memory, pytest.raises(sa.EngineError, match="ledger="):
            in_memory.anonymize("people", POLICY, "released")
        with pytest.raises(sa.PolicyError, match="dataset="):
            session.anonymize("SELECT * FROM people", POLICY, "released")
        release = session.anonymize("SELECT * FROM people", POLICY, "released", dataset="people")
        assert release.report.spent[0].position == 0
        session.close()
        with (
            sa.connect(tmp_path / "w.duckdb", read_only=True) as read_only,
            pytest.raises(sa.EngineError, match="ledger="),
        ):
            read_only.anonymize("people", POLICY, tmp_path / "released.parquet")

    def test_what_is_done_with_privacy_models(self, session: sa.Session, tmp_path: Path) -> None:
        session.anonymize("people", POLICY, "released")
        syntactic = sa.Policy(**ROLES, privacy=[sa.KAnonymity(2)])
        for refused in (
            lambda: session.measure("people", POLICY),
            lambda: session.lattice("people", POLICY),
            lambda: session.partitions.fit("people", POLICY, tmp_path / "fit"),
            lambda: session.anonymize("people", POLICY, "other", time_limit=1),
            lambda: session.anonymize("people", syntactic, "other", dataset="people"),
            lambda: session.anonymize("people", syntactic, "other", random_source=sa.SeededSource(1)),
            lambda: sa.SeededSource(-1),
        ):
            with pytest.raises(sa.PolicyError):
                refused()

    def test_a_level_or_a_type_that_does_not_fit(self, session: sa.Session) -> None:
        at_node = POLICY.model_copy(update={"method": METHOD.model_copy(update={"node": {"age": 9, "sex": 0}})})
        with pytest.raises(sa.PolicyError, match='"age" has levels 0 to 2, so not 9'):
            session.anonymize("people", at_node, "released")
        session.connection.execute("CREATE TABLE measured AS SELECT * REPLACE (random() AS illness) FROM people")
        with pytest.raises(sa.PolicyError, match="cast it to VARCHAR"):
            session.anonymize("measured", POLICY, "released")

    def test_without_opendp(self, session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
        opendp._require_opendp.cache_clear()
        monkeypatch.setitem(sys.modules, "opendp.mod", None)
        monkeypatch.setitem(sys.modules, "opendp", None)
        with pytest.raises(sa.PolicyError) as error:
            session.anonymize("people", POLICY, "released")
        assert "pip install '.[dp]'" in str(error.value)
        assert session.ledger.spent("people") == sa.Budget(0)


class TestIndividuals:
    def test_no_more_rows_of_one_are_counted_than_is_allowed(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE people SET person = 1 WHERE person < 50")  # 100 rows of one person
        for most in (1, 3):
            noise = FixedNoise(0)
            method = sa.IPA(budget=sa.Budget(9, "0.9"), node={"age": 2, "sex": 1}, rows_per_individual=most)
            policy = sa.Policy(**ROLES, individual="person", method=method)
            release = session.anonymize("people", policy, "released", replace=True, random_source=noise)
            assert noise.sensitivities == [most, most]
            assert release.report.released_rows == (151 if most == 1 else 150 * 2 + 3)
            assert "person" in release.guarantee.neighbours

    def test_a_release_per_row_after_one_per_individual_has_no_sum(self, session: sa.Session) -> None:
        """With 10 rows a person and ε = 1 each, the ledger said 2 where a person had lost 11."""
        session.connection.execute("UPDATE people SET person = person // 5")
        method = sa.IPA(budget=sa.Budget(1, "0.01"), rows_per_individual=10)
        by_person = sa.Policy(**ROLES, individual="person", method=method)
        session.anonymize("people", by_person, "by_person")
        with pytest.raises(sa.PolicyError, match=r'would have lost ε = 1 \+ n · 1 .*individual = "person"'):
            session.anonymize("people", POLICY, "by_row")
        assert session.ledger.spent("people") == sa.Budget(1, "0.01")
        rows = session.ledger.entries().select(["unit", "individual", "rows_per_individual"]).to_pylist()
        assert rows == [{"unit": "individual", "individual": "person", "rows_per_individual": 10}] * 3
        session.anonymize("people", by_person, "again")
        assert session.ledger.spent("people") == sa.Budget(2, "0.02")

    def test_rows_of_nobody_are_refused(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE people SET person = NULL WHERE person < 5")
        policy = sa.Policy(**ROLES, individual="person", method=METHOD)
        with pytest.raises(sa.PolicyError) as error:
            session.anonymize("people", policy, "released")
        assert error.value.problems == ('"person": NULL in 10 rows, which belong to no individual',)
        assert session.ledger.spent("people") == sa.Budget(0)

    def test_the_rows_of_others_stay_when_one_comes(self, session: sa.Session) -> None:
        """What is kept of an individual depends on their own rows and the seed alone."""
        from sqlanon.queries.cells.contributions import bounded_rows

        engine = session._engine

        def kept(source: str) -> set[tuple[Any, ...]]:
            rows = bounded_rows(engine.resolve(source).relation, "person", 1, 5, ["person", "sex", "illness"])
            return set(session.connection.execute(f"SELECT * FROM {rows.sql('duckdb')}").fetchall())

        fewer = kept("SELECT * FROM people WHERE person <> 7")
        assert {row for row in kept("people") if row[0] != 7} == fewer

    @pytest.mark.parametrize(
        ("kind", "values"),
        [("VARCHAR COLLATE NOCASE", ("'Ann'", "'ann'")), ("VARCHAR COLLATE NOACCENT", ("'André'", "'Andre'"))],
        ids=["case", "accents"],
    )
    def test_individuals_are_exact_texts_whatever_the_collation(
        self, session: sa.Session, kind: str, values: tuple[str, str]
    ) -> None:
        """Else one who leaves would make room for rows of another: twice the difference that noise is drawn for."""
        first, second = values
        session.connection.execute(
            f"CREATE TABLE named (person {kind}, sex VARCHAR, illness VARCHAR); "
            f"INSERT INTO named SELECT [{first}, {second}][1 + i % 2], 'f', 'flu' FROM range(8) AS numbers (i); "
            "INSERT INTO named SELECT i, 'f', 'flu' FROM range(100) AS numbers (i)"
        )
        session.connection.execute(f"CREATE VIEW fewer AS FROM named WHERE md5(person) <> md5({second})")
        method = sa.IPA(budget=sa.Budget(9, "0.9"), node={"sex": 0}, rows_per_individual=3)
        policy = sa.Policy(
            quasi_identifiers=["sex"], sensitive=["illness"], individual="person", identifiers=["person"], method=method
        )
        counts = [
            session.anonymize(
                source, policy, "released", replace=True, random_source=FixedNoise(0), dataset=dataset
            ).report.released_rows
            for source, dataset in (("named", None), ("fewer", "named"))
        ]
        assert counts == [106, 103]
        audit = sa.evaluation.AuditedPolicy(session, policy, sa.SeededSource(1))
        audit.refuse_strangers("named", "fewer")

    def test_no_more_rows_than_are_counted_is_asked_of_exact_texts(self, session: sa.Session) -> None:
        from sqlanon.queries.cells.contributions import crowded

        session.connection.execute(
            "CREATE TABLE named (person VARCHAR COLLATE NOCASE); INSERT INTO named VALUES ('Ann'), ('ann'), ('ANN')"
        )
        engine = session._engine
        query = crowded(engine.resolve("named").relation, "person", 1)
        assert engine.fetch(query, "individuals")[0]["individuals"] == 0


def test_what_is_written_depends_on_nothing_but_what_is_shown(tmp_path: Path) -> None:
    """Files of tables that differ in a row that is not shown are the same, byte by byte."""
    files = []
    for extra in (False, True):
        with make_warehouse(":memory:") as session:
            if extra:
                session.connection.execute("INSERT INTO people VALUES (9999, 29, 'f', 'plague')")
            into = tmp_path / f"{extra}.parquet"
            session.anonymize("people", POLICY, into, random_source=FixedNoise(-2))
            files.append(into.read_bytes())
    assert files[0] == files[1]


def test_hostile_names_and_null_values(tmp_path: Path) -> None:
    with sa.connect(tmp_path / "w.duckdb") as session:
        name = '"' + HOSTILE.replace('"', '""') + '"'
        session.connection.execute(
            f"CREATE TABLE {name} AS SELECT CASE WHEN i % 5 > 0 THEN i % 3 END AS {name}, "
            "CASE WHEN i % 4 > 0 THEN 'it''s' END AS \"select\" FROM range(500) AS numbers (i)"
        )
        session.taxonomies.load(HOSTILE, sa.Taxonomy.intervals([2], minimum=0, maximum=3))
        policy = sa.Policy(quasi_identifiers=[HOSTILE], sensitive=["select"], method=METHOD)
        release = session.anonymize(HOSTILE, policy, f"{HOSTILE} out")
        out = '"' + f"{HOSTILE} out".replace('"', '""') + '"'
        assert rows_of(session, out) == release.report.released_rows > 400
        assert {row[0] for row in session.connection.execute(f'SELECT "select" FROM {out}').fetchall()} == {
            "it's",
            None,
        }


def test_explained_steps_run_without_a_row_of_chance(session: sa.Session) -> None:
    steps = session.explain("people", POLICY)
    purposes = [step.purpose for step in steps]
    assert "scores of nodes" in purposes
    assert purposes[-2:] == ["the release", "what was written"]
    assert not any("random" in step.sql.lower() for step in steps)
