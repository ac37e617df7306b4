"""Accounts of private releases: what is charged to which, which ledger a warehouse has, and what failures leave."""

import os
import shutil
from pathlib import Path

import pytest
from sqlglot import parse_one

import sqlanon as sa
from sqlanon.chance.accountant import Expense
from sqlanon.cli.command import writing
from sqlanon.ledger.accounts import known, owners
from sqlanon.ledger.charged_sources import open_ledger
from sqlanon.model.destination import destination
from sqlanon.queries import noise as scores
from tests.commands import opened_elsewhere, sqlanon
from tests.engines import engine_of
from tests.full.test_charged_sources import SPENT, account, charge
from tests.stories.test_private_runs import POLICY, ROLES, TOML, make_warehouse  # noqa: F401 - for the fixture


class TestAccounts:
    def test_a_cap_holds_for_what_is_released_however_it_is_spelled(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "lake").mkdir()
        session.connection.execute("COPY people TO ? (FORMAT parquet)", [str(tmp_path / "lake" / "a.parquet")])
        session.connection.execute("CREATE VIEW seen AS FROM people")
        for spelled, source in (('"people"', "people"), (str(tmp_path / "lake"), f"{tmp_path}/lake/")):
            session.ledger.cap(spelled, sa.Budget("0.1"))
            with pytest.raises(sa.BudgetError):
                charge(session, source)
        with pytest.raises(sa.PolicyError, match="no budget of its own"):
            session.ledger.cap("seen", sa.Budget(1))
        with pytest.raises(sa.PolicyError, match="a cap is a Budget"):
            session.ledger.cap("people", 2.5)  # type: ignore[arg-type]
        assert session.ledger.knows("people")
        assert not session.ledger.knows("poeple")

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
            charge(session, "people")
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
        monkeypatch.setattr("sqlanon.engines.locks.PATIENCE", 0.2)
        run = writing(tmp_path / "w.duckdb", destination("r.parquet"), tmp_path / "b.duckdb", is_charged=True)
        held = opened_elsewhere(tmp_path / "w.duckdb", read_only=True)
        with held, pytest.raises(sa.EngineError, match="is open in another program"), run:
            pass

    def test_files_of_several_accounts_are_charged_to_none(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "lake").mkdir()
        for name, rows in (("a", 400), ("b", 399), ("c", 398)):
            path = str(tmp_path / "lake" / f"{name}.parquet")
            session.connection.execute(f"COPY (FROM people LIMIT {rows}) TO '{path}'")
            if name != "c":
                charge(session, path)
        for call in (
            lambda: session.anonymize(tmp_path / "lake", POLICY, "all"),
            lambda: session.ledger.cap(str(tmp_path / "lake"), sa.Budget(9)),
        ):
            with pytest.raises(sa.PolicyError, match="belong to other data sets") as error:
                call()
            assert [line.endswith('.parquet"') for line in error.value.problems] == [True, True]
        assert session.ledger.entries().num_rows == 2

    def test_a_lake_that_was_one_file_first_goes_on_under_its_name(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "lake").mkdir()
        for name, rows in (("a", 400), ("b", 399)):
            session.connection.execute(f"COPY (FROM people LIMIT {rows}) TO '{tmp_path}/lake/{name}.parquet'")
        for source in ("lake/a.parquet", "lake", "lake/b.parquet"):
            charge(session, tmp_path / source)
        assert session.ledger.spent(str(tmp_path / "lake" / "b.parquet")) == sa.Budget(3, "0.03")
        (tmp_path / "lake" / "a.parquet").unlink()
        charge(session, tmp_path / "lake")
        assert session.ledger.spent(str(tmp_path / "lake")) == sa.Budget(4, "0.04")

    def test_files_that_were_not_there_are_known_by_their_place(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "lake").mkdir()
        session.connection.execute(f"COPY people TO '{tmp_path}/lake/a.parquet'")
        open_ledger(engine_of(session), None).commit([Expense(f"{tmp_path}/lake/", "ipa", "cells", sa.Budget(1), "")])
        charge(session, tmp_path / "lake" / "a.parquet")
        assert session.ledger.spent(str(tmp_path / "lake")) == sa.Budget(2, "0.01")

    def test_a_data_set_that_nobody_declared_is_refused(self, session: sa.Session, tmp_path: Path) -> None:
        for given in ("visits", str(tmp_path / "missing.parquet")):
            with pytest.raises(sa.PolicyError, match="nobody has declared the data set"):
                session.anonymize("FROM people", POLICY, "released", dataset=given)
        assert session.ledger.entries().num_rows == 0
        session.ledger.cap("visits", None)
        charge(session, "FROM people", "Visits")
        assert session.ledger.spent("visits") == sa.Budget(1, "0.01")

    def test_releases_that_were_charged_to_no_ledger_miss_none(self, session: sa.Session) -> None:
        session.anonymize("people", POLICY, "seeded", random_source=sa.SeededSource(1))
        session.anonymize("people", sa.Policy(**ROLES, privacy=[sa.KAnonymity(2)]), "classes")
        session.connection.execute("COMMENT ON TABLE people IS 'ledger_sha256 {'")
        charge(session, "people")
        session.connection.execute("ATTACH ':memory:' AS other; CREATE TABLE other.copied AS FROM seeded")
        session.connection.execute('COMMENT ON TABLE other.copied IS \'{"sqlanon": {"ledger_sha256": "of another"}}\'')
        assert session.ledger.spent("people") == sa.Budget(1, "0.01")

    def test_a_warehouse_knows_its_ledger(self, warehouse: Path, tmp_path: Path) -> None:
        """Else a run that forgets to name the ledger would open a fresh account."""
        budget = tmp_path / "budget.duckdb"
        with sa.connect(warehouse, ledger=budget) as session:
            charge(session, "people")
            charge(session, "people")
            assert session.ledger.spent("people") == sa.Budget(2, "0.02")
        for read_only in (False, True):
            with sa.connect(warehouse, read_only=read_only) as session:
                for call in (
                    lambda session=session: session.anonymize("people", POLICY, tmp_path / "r.parquet"),
                    lambda session=session: session.ledger.cap("people", sa.Budget(9)),
                    lambda session=session: session.ledger.spent("people"),
                ):
                    with pytest.raises(sa.EngineError, match=r"budget\.duckdb; name it with ledger=|read-only"):
                        call()
        budget.rename(tmp_path / "moved.duckdb")
        with sa.connect(warehouse, ledger=tmp_path / "moved.duckdb") as session:
            charge(session, "people")
            assert session.ledger.spent("people") == sa.Budget(3, "0.03")
        with sa.connect(warehouse) as session, pytest.raises(sa.EngineError, match="moved"):
            session.ledger.spent("people")

    @pytest.mark.usefixtures("warehouse")
    def test_a_warehouse_knows_its_ledger_by_runs_into_files(self, tmp_path: Path) -> None:
        """On the command line they open the warehouse read-only, so that several can run at the same time."""
        (tmp_path / "policy.toml").write_text(TOML)
        command = ("run", "people", "--db", "w.duckdb", "--policy", "policy.toml", "--replace", "--into", "r.parquet")
        assert sqlanon(*command, "--ledger", "b.duckdb", folder=tmp_path).returncode == 0
        forgotten = sqlanon(*command, folder=tmp_path)
        assert (forgotten.returncode, "b.duckdb; name it with --ledger" in forgotten.stderr) == (1, True)

    def test_files_have_one_account_by_whatever_path(
        self, session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
        charge(session, "lake")
        for again in (
            "lake", "lake/*.parquet", "lake/a.parquet", "./lake/../lake/[a].parquet", "linked.parquet",
            "symbolic.parquet", "copy.parquet", "other", "**/a.parquet",
        ):  # fmt: skip
            assert account(session, again).name == lake, again
        assert {session.ledger.spent(again) for again in ("linked.parquet", "other", "**/a.parquet")} == {SPENT}
        session.ledger.cap("symbolic.parquet", sa.Budget("1.5", "0.1"))
        assert session.ledger.remaining("lake") == sa.Budget("0.5", "0.09") == session.ledger.remaining("other")
        session.connection.execute("COPY (FROM people LIMIT 8) TO 'lake/c.parquet'")
        for source in ("lake/c.parquet", "lake"):
            with pytest.raises(sa.BudgetError, match="lake"):
                charge(session, source)
        files = [file for files in session.ledger.entries()["sources"].to_pylist() for file in files or ()]
        assert len({file["name"] for file in files}) == len(files)
        assert session.ledger.verify()
        # A link is the file even after the content of both has changed.
        Path("lake/a.parquet").write_bytes(b"another content")
        entries = open_ledger(engine_of(session), None).entries()
        for again in ("linked.parquet", "symbolic.parquet"):
            assert owners(entries, known([str(tmp_path / again)])) == [lake], again
        Path("new.parquet").write_bytes(b"another content")
        assert owners(entries, known([str(tmp_path / "new.parquet")])) == []

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
        session.ledger.cap("people", None)
        session.ledger.cap("hospital", sa.Budget(9, "0.5"))
        for source in (
            "WITH people AS (FROM others) FROM people",
            "SELECT o.* FROM others AS o SEMI JOIN codes AS c ON o.age = c.age",
            "FROM elsewhere.seen",
        ):
            assert account(session, source, "hospital").name == "hospital"

    def test_the_command_line_pays_from_no_other_account(self, session: sa.Session, tmp_path: Path) -> None:
        session.ledger.cap("people", None)
        session.ledger.cap("other", None)
        session.close()
        (tmp_path / "policy.toml").write_text(TOML)
        command = ("run", "FROM people", "--db", "w.duckdb", "--policy", "policy.toml", "--into", "released")
        for named, reason in (
            ("visits", "nobody has declared the data set"),
            ("other", "name that one with --dataset"),
        ):
            refused = sqlanon(*command, "--dataset", named, folder=tmp_path)
            assert (refused.returncode, reason in refused.stderr) == (2, True), refused.stderr

    def test_a_release_in_the_warehouse_misses_rows_of_the_ledger(self, session: sa.Session) -> None:
        """Else who deletes the newest rows, which nobody has noted elsewhere, has their budget back."""
        session.anonymize("people", POLICY, "first")
        session.anonymize("people", POLICY, "it's second")
        for lost, releases in (("position >= 3", ['"it\'s second"']), ("TRUE", ['"first"', '"it\'s second"'])):
            session.connection.execute(f"DELETE FROM anon.ledger WHERE {lost}")
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
        charge(session, "people")


class TestFailures:
    def test_a_failure_tells_what_was_spent(self, session: sa.Session) -> None:
        def stop(event: sa.Event) -> None:
            if (event.stage, event.state) == ("release", "started"):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as error:
            session.anonymize("people", POLICY, "released", progress=stop)
        assert error.value.spent == {"epsilon": "1", "delta": "0.01"}
        assert "see the ledger" in error.value.__notes__[0]

    def test_what_was_spent_before_is_not_told_of_as_spent(self, session: sa.Session) -> None:
        session.ledger.cap("people", sa.Budget("0.1"))
        with pytest.raises(sa.BudgetError) as error:
            session.anonymize("people", POLICY, "released")
        assert not hasattr(error.value, "spent")

    def test_a_score_that_fails_is_what_is_told(self, session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
        failing = parse_one("SELECT error('memory is full') AS node", dialect="duckdb")
        monkeypatch.setattr(scores, "node_scores", lambda *_, **__: failing.copy())
        with pytest.raises(sa.EngineError) as raised:
            session.anonymize("people", POLICY, "released")
        assert raised.value.step == "scores of nodes"
