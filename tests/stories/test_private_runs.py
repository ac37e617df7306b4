"""Private releases from end to end: what is charged, refused, promised and written, and what a killed run leaves."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.methods.noisy_node import ipa as noisy_counts
from tests.engines import engine_of
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


@dataclass
class Released:
    release: sa.Release
    session: sa.Session


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Released]:
    with make_warehouse(tmp_path_factory.mktemp("one") / "w.duckdb") as session:
        yield Released(session.anonymize("people", POLICY, "released"), session)


class TestRelease:
    def test_it_is_charged_step_by_step(self, one: Released) -> None:
        assert one.session.ledger.spent("people") == sa.Budget(1, "0.01")
        charges = one.session.ledger.entries()
        assert charges.select(["position", "purpose", "epsilon", "delta"]).to_pylist() == [
            {"position": 0, "purpose": "node", "epsilon": "0.1", "delta": "0"},
            {"position": 1, "purpose": "cells", "epsilon": "0.6", "delta": "0.005"},
            {"position": 2, "purpose": "rolled-up", "epsilon": "0.3", "delta": "0.005"},
        ]
        # An account counts what was read of its tables, too, whatever name that was charged to.
        assert set(charges["dataset"].to_pylist()) == {"people"}
        assert [spent.position for spent in one.release.report.spent] == [0, 1, 2]

    def test_it_is_promised_what_was_paid(self, one: Released) -> None:
        assert one.release.guarantee.budget == sa.Budget(1, "0.01")
        assert one.release.report.stamp is None
        assert rows_of(one.session, "released") == one.release.report.released_rows > 0

    def test_it_carries_the_head_of_its_ledger(self, one: Released) -> None:
        noted = json.loads(one.session.provenance("released") or "")["sqlanon"]["ledger_sha256"]
        assert one.session.ledger.verify(noted) == noted

    def test_what_many_rows_have_is_told_with_its_delta(self, one: Released) -> None:
        guarantee = one.release.guarantee
        for lines in (guarantee.conditions, guarantee.not_covered):
            assert any("n times ε and δ (exp(n ε) - 1) / (exp(ε) - 1)" in line for line in lines)

    def test_explained_steps_run_without_a_row_of_chance(self, one: Released) -> None:
        steps = one.session.explain("people", POLICY)
        purposes = [step.purpose for step in steps]
        assert "scores of nodes" in purposes
        assert purposes[-2:] == ["the release", "what was written"]
        assert not any("random" in step.sql.lower() for step in steps)


def test_diagnostics_void_the_guarantee(session: sa.Session) -> None:
    wanted = POLICY.model_copy(update={"method": METHOD.model_copy(update={"reveal_diagnostics": True})})
    release = session.anonymize("people", wanted, "measured")
    assert release.report.stamp == "NOT PRIVATE"
    assert not release.guarantee.claims
    assert session.ledger.spent("people") == sa.Budget(1, "0.01")
    found = release.report.diagnostics
    before, after = (shares(session, table, "illness") for table in ("people", "measured"))
    apart = sum(abs(before.get(value, 0) - after.get(value, 0)) for value in {*before, *after}) / 2
    assert found["total_variation"] == pytest.approx(apart)
    assert found["information_loss"] == pytest.approx(found["ncp"] + found["total_variation"] + found["rate"])


def shares(session: sa.Session, table: str, name: str) -> dict[str, float]:
    """The share of the rows of a table that have each value of a column."""
    query = f"SELECT {name}, count(*) / sum(count(*)) OVER () FROM {table} GROUP BY ALL"
    return dict(session.connection.execute(query).fetchall())


class TestCharges:
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

    def test_what_cannot_be_drawn_or_was_not_checked_is_not_charged(
        self, session: sa.Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Copies with changes go around the checks of a policy, and are checked where they are used."""
        split = METHOD.model_copy(update={"split": {"node": 10, "cells": 20, "rolled-up": 20}})
        tiny = sa.IPA(budget=sa.Budget("1e-12", "1e-6"))
        for changes, problem in (
            ({"method": split}, "add up to 1"),
            ({"sensitive": ()}, "one sensitive column"),
            ({"method": tiny}, "cannot be drawn with"),
        ):
            with pytest.raises(sa.PolicyError, match=problem):
                session.anonymize("people", POLICY.model_copy(update=changes), "released")
        monkeypatch.setattr(noisy_counts, "MAX_ROWS", 5)
        with pytest.raises(sa.PolicyError, match="up to 5 rows; give the method a public node"):
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

        class Quiet(sa.OpenDPSource):
            """One that says so."""

        quiet = session.anonymize("people", POLICY, into, replace=True, random_source=Quiet())
        assert quiet.report.stamp == "NOT PRIVATE", "only OpenDP itself is trusted"
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
        from sqlanon.queries.source_rows import bounded_rows

        engine = engine_of(session)

        def kept(source: str) -> set[tuple[Any, ...]]:
            rows = bounded_rows(engine.resolve(source).relation, "person", 1, 5, ["person", "sex", "illness"])
            return set(session.connection.execute(f"SELECT * FROM {rows.sql('duckdb')}").fetchall())

        fewer = kept("SELECT * FROM people WHERE person <> 7")
        assert {row for row in kept("people") if row[0] != 7} == fewer

    def test_individuals_are_exact_texts_whatever_the_collation(self, session: sa.Session) -> None:
        """Else one who leaves would make room for rows of another: twice the difference that noise is drawn for."""
        session.connection.execute(
            "CREATE TABLE named (person VARCHAR COLLATE NOCASE.NOACCENT, sex VARCHAR, illness VARCHAR); "
            "INSERT INTO named SELECT unnest(['Ann', 'ann', 'André', 'Andre']), 'f', 'flu' FROM range(4); "
            "INSERT INTO named SELECT i, 'f', 'flu' FROM range(100) AS numbers (i)"
        )
        method = sa.IPA(budget=sa.Budget(9, "0.9"), node={"sex": 0}, rows_per_individual=3)
        policy = sa.Policy(
            quasi_identifiers=["sex"], sensitive=["illness"], individual="person", identifiers=["person"], method=method
        )
        session.connection.execute("CREATE VIEW fewer AS FROM named WHERE md5(person) <> md5('ann')")
        counts = [
            session.anonymize(
                source, policy, "released", replace=True, random_source=FixedNoise(0), dataset=dataset
            ).report.released_rows
            for source, dataset in (("named", None), ("fewer", "named"))
        ]
        assert counts == [112, 109]
        audit = sa.evaluation.AuditedPolicy(session, policy, sa.SeededSource(1))
        audit.refuse_strangers("named", "fewer")

    def test_no_more_rows_than_are_counted_is_asked_of_exact_texts(self, session: sa.Session) -> None:
        from sqlanon.queries.source_rows import crowded

        session.connection.execute(
            "CREATE TABLE named (person VARCHAR COLLATE NOCASE); INSERT INTO named VALUES ('Ann'), ('ann'), ('ANN')"
        )
        engine = engine_of(session)
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
