"""Catalogs of h-ceiling: counterfeits of groups of classes, told beside the release."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.cli.app import app
from sqlanon.methods.h_ceiling import catalogs, method, queries
from sqlanon.methods.h_ceiling.report import CeilingReport
from sqlanon.queries.cells.encoding import encoding_for
from tests.stories.test_h_ceiling import SEED, people_policy, session_of_people


def session_of_groups() -> sa.Session:
    """A hundred ages with four people each, but three of the first few: most classes have just four rows.

    Of every disease there are people in every class, so that a counterfeit can hide.
    """
    session = sa.connect(duckdb.connect())
    session.connection.execute(
        "CREATE TABLE people AS SELECT i // 4 AS age, 'd' || (i % 4) AS disease FROM range(400) AS numbers (i) "
        "WHERE i NOT IN (3, 9)"
    )
    session.taxonomies.load("age", sa.Taxonomy.intervals([10], minimum=0, maximum=99))
    return session


def groups_policy(catalog: str, **settings: Any) -> sa.Policy:
    method = {"model": "h-ceiling", "k": 4, "h": 0, "fill": "marginal", "catalog": catalog, **settings}
    return sa.Policy(quasi_identifiers=["age"], sensitive=["disease"], method=method)


BESIDE = {"catalog": "told"}


BOTH = ("released", "told")


class TestCatalog:
    @pytest.mark.parametrize("kind", ["strict", "paper"])
    def test_it_tells_the_counterfeits_of_groups(self, kind: str) -> None:
        with session_of_groups() as session:
            policy = groups_policy(kind)
            release = session.anonymize("people", policy, "released", tables=BESIDE, random_source=SEED)
            report = release.report
            assert isinstance(report, CeilingReport)
            assert (report.counterfeits, report.filled_classes, report.catalog) == (2, 2, kind)
            connection = session.connection
            assert connection.table("released").columns == ["class_id", "age", "disease"]
            assert connection.table("told").columns == ["class_ids", "disease", "counterfeits"]
            ids = connection.sql("SELECT class_id, age FROM released GROUP BY ALL ORDER BY class_id").fetchall()
            assert ids == [(place, age) for place, age in enumerate(sorted(map(str, range(100))), start=1)]
            names = {class_id: int(age) for class_id, age in ids}
            told = connection.sql("SELECT class_ids, disease, counterfeits FROM told").fetchall()
            assert sum(count for *_, count in told) == 2
            assert len({tuple(classes) for classes, *_ in told}) == report.groups
            grouped_ages = {names[class_id] for classes, *_ in told for class_id in classes}
            assert {0, 2} <= grouped_ages
            for classes, disease, count in told:
                ages = [names[class_id] for class_id in classes]
                true = connection.execute(
                    "SELECT count(*) FROM people WHERE list_contains(?, age) AND disease = ?", [ages, disease]
                ).fetchall()
                shown = connection.execute(
                    "SELECT count(*) FROM released WHERE list_contains(?, class_id) AND disease = ?", [classes, disease]
                ).fetchall()
                assert shown[0][0] - true[0][0] == count
            assert session.verify("released", policy).met
            assert json.loads(session.provenance("told") or "")["sqlanon"]["companion"]["release"] == "released"

    def test_one_of_counts_says_nothing_of_values(self) -> None:
        with session_of_groups() as session:
            policy, source = groups_policy("counts", fill="hidden"), sa.SeededSource
            plain = session.anonymize("people", groups_policy("none", fill="hidden"), "plain", random_source=source(1))
            release = session.anonymize("people", policy, "released", tables=BESIDE, random_source=source(1))
            assert isinstance(release.report, CeilingReport)
            assert (release.report.catalog, release.report.effective_k, release.node) == ("counts", None, plain.node)
            connection = session.connection
            assert connection.table("told").columns == ["class_ids", "counterfeits"]
            # All 100 classes have just four rows, true or not.
            assert connection.table("told").fetchall() == [(list(range(1, 101)), 2)]
            assert connection.sql("SELECT age, disease FROM released").fetchall() == (
                connection.table("plain").fetchall()
            )
            session.install()
            truths = connection.sql(
                "SELECT round(sum(anon_truth), 9) FROM anon.class_truths('released', 'told')"
            ).fetchall()
            assert truths == [(398.0,)]
            assert "with a probability of 1/4 at most" in " ".join(release.guarantee.claims)
            assert "7/24" not in " ".join(release.guarantee.not_covered)
            assert session.verify("released", policy).met

    def test_one_of_values_undoes_what_the_fill_hides(self) -> None:
        with session_of_groups() as session:
            release = session.anonymize("people", groups_policy("paper", fill="hidden"), "released", tables=BESIDE)
            assert "1/4 at most" not in " ".join(release.guarantee.claims)
            assert "7/24, more than 1/4" in " ".join(release.guarantee.not_covered)

    def test_a_strict_one_keeps_its_promise(self) -> None:
        with session_of_groups() as session:
            release = session.anonymize("people", groups_policy("strict"), "released", tables=BESIDE)
            assert isinstance(release.report, CeilingReport)
            assert release.report.effective_k is not None
            assert 3.2 <= release.report.effective_k <= 4
            assert f"the effective k is {release.report.effective_k:.4g}" in " ".join(release.guarantee.claims)

    def test_the_published_one_promises_nothing(self) -> None:
        with session_of_groups() as session:
            release = session.anonymize("people", groups_policy("paper"), "released", tables=BESIDE)
            assert "effective k" not in " ".join(release.guarantee.claims)
            assert "lemma 1" in release.guarantee.not_covered[0]

    def test_one_that_cannot_be(self) -> None:
        """Every class lacks a row, so that all classes have three true rows: no catalog hides that."""
        with session_of_people() as session:
            session.connection.execute("CREATE TABLE released AS FROM people; CREATE TABLE told AS FROM people")
            method = sa.HCeiling(4, h=0.1, catalog="strict")
            policy = people_policy(h=0.1).model_copy(update={"method": method})
            with pytest.raises(sa.UnsatisfiableError, match="no strict catalog was found"):
                session.anonymize("people", policy, "released", tables=BESIDE, replace="anything")
            for name in ("released", "told"):
                assert session.connection.sql(f"SELECT count(*) FROM {name}").fetchall() == [(40,)]

    def test_no_counterfeits_make_an_empty_one(self) -> None:
        with session_of_groups() as session:
            policy = groups_policy("strict", h=1.0).model_copy(update={"minimum_levels": {"age": 1}})
            release = session.anonymize("people", policy, "released", tables=BESIDE)
            assert isinstance(release.report, CeilingReport)
            assert (release.report.counterfeits, release.report.groups, release.report.effective_k) == (0, 0, 4)
            assert session.connection.sql("SELECT count(*) FROM told").fetchall() == [(0,)]
            policy = groups_policy("counts", h=1.0).model_copy(update={"minimum_levels": {"age": 1}})
            session.anonymize("people", policy, "released", tables=BESIDE, replace=True)
            assert session.connection.sql("SELECT count(*) FROM told").fetchall() == [(0,)]

    def test_it_is_explained(self) -> None:
        with session_of_groups() as session:
            purposes = [step.purpose for step in session.explain("people", groups_policy("strict"))]
            assert purposes.index("the release") < purposes.index("the catalog")

    @pytest.mark.parametrize(
        ("into", "tables", "error", "words"),
        [
            ("released", {}, sa.PolicyError, '"catalog" is published as well: name its table'),
            ("released.parquet", BESIDE, sa.EngineError, "give the names of tables"),
            ("released", {"catalog": "told.parquet"}, sa.EngineError, "give the names of tables"),
            ("released", {"catalog": "people"}, sa.EngineError, "people"),
            ("released", {"catalog": "there"}, sa.EngineError, "there"),
            ("released", {"catalog": "RELEASED"}, sa.EngineError, "two tables of the release have one name"),
        ],
    )
    def test_targets_that_do_not_fit(
        self, tmp_path: Path, into: str, tables: dict[str, str], error: type[Exception], words: str
    ) -> None:
        with session_of_groups() as session:
            session.connection.execute("CREATE TABLE there (i INTEGER)")
            target = tmp_path / into if into.endswith(".parquet") else into
            with pytest.raises(error, match=words):
                session.anonymize("people", groups_policy("strict"), target, tables=tables)
            assert {row[0] for row in session.connection.sql("SHOW TABLES").fetchall()} == {"people", "there"}
            assert not list(tmp_path.iterdir())

    def test_a_release_that_has_none(self) -> None:
        with session_of_groups() as session, pytest.raises(sa.PolicyError, match="what is, is none"):
            session.anonymize("people", groups_policy("none"), "released", tables=BESIDE)

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            ({"effective_k": 3}, "effective_k is for a strict catalog"),
            ({"catalog": "strict", "effective_k": 5}, "effective_k is k at most"),
            ({"catalog": "strict", "effective_k": 1}, "effective_k of a strict catalog is above 1, which is certainty"),
            ({"catalog": "public"}, "catalog: "),
        ],
    )
    def test_settings_that_cannot_be(self, settings: dict[str, Any], words: str) -> None:
        with pytest.raises(sa.PolicyError, match=words):
            sa.HCeiling(4, **settings)

    @pytest.mark.parametrize("name", ["class_id", "Class_IDs", "counterfeits"])
    def test_names_that_it_needs(self, name: str) -> None:
        with pytest.raises(sa.PolicyError, match="a release with a catalog needs"):
            sa.Policy(quasi_identifiers=[name], sensitive=["disease"], method=sa.HCeiling(4, catalog="strict"))
        assert sa.Policy(quasi_identifiers=[name], sensitive=["disease"], method=sa.HCeiling(4))

    def test_both_tables_are_as_they_were(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where what is written of the catalog is not what was to be."""
        with session_of_groups() as session:
            policy = groups_policy("strict")
            session.anonymize("people", policy, "released", tables=BESIDE)
            before = [session.connection.table(name).fetchall() for name in BOTH]
            wanted = catalogs.catalog_rows
            for spoilt in (
                lambda *given: wanted(*given).limit(0),
                lambda *given: wanted(*given).limit(1),
                lambda *given: (
                    wanted(*given).select("class_ids", "disease", "1 AS counterfeits", append=False).limit(1)
                ),
            ):
                monkeypatch.setattr(method, "catalogs", SimpleNamespace(**{**vars(catalogs), "catalog_rows": spoilt}))
                with pytest.raises(sa.VerificationError, match="rows of the catalog are not as they were to be"):
                    session.anonymize("people", policy, "released", tables=BESIDE, replace=True)
                assert [session.connection.table(name).fetchall() for name in BOTH] == before

    def test_more_counterfeits_than_rows_are_seen(self) -> None:
        with session_of_groups() as session:
            session.anonymize("people", groups_policy("strict"), "released", tables=BESIDE)
            engine = session._engine
            bound = prepare(engine, engine.resolve("people"), groups_policy("strict"))
            encoding = encoding_for(bound.cells, bound.policy.criteria, label_losses=())

            def seen(relation: str) -> int:
                released, catalog = (engine.resolve(name).relation for name in ("released", relation))
                query = queries.about(encoding).query("more_counterfeits_than_rows", release=released, written=catalog)
                return int(engine.fetch(query, "rows")[0]["rows"])

            assert seen("told") == 0
            session.connection.execute(
                "CREATE TABLE more AS SELECT * REPLACE (counterfeits + 100 AS counterfeits) FROM told"
            )
            assert seen("more") == session.connection.sql("SELECT count(*) FROM told").fetchall()[0][0] > 0


class TestCommandOfTwoTables:
    def test_both_are_named(self, tmp_path: Path) -> None:
        database, policy = tmp_path / "people.duckdb", tmp_path / "policy.toml"
        with session_of_groups() as session:
            connection = session.connection
            connection.execute(f"ATTACH '{database}' AS stored; COPY FROM DATABASE memory TO stored; DETACH stored")
        policy.write_text(
            'quasi_identifiers = ["age"]\nsensitive = ["disease"]\n'
            'method = { model = "h-ceiling", k = 4, h = 0, catalog = "strict" }\n'
        )
        command = ["run", "people", "--db", str(database), "--policy", str(policy), "--into", "released"]
        refused = CliRunner().invoke(app, [*command, "--table", "catalog"])
        assert refused.exit_code == 2
        done = CliRunner().invoke(app, [*command, "--table", "catalog=told", "--json"])
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["tables"] == {"catalog": "told"}
        with duckdb.connect(str(database), read_only=True) as connection:
            assert connection.sql("SELECT sum(counterfeits) FROM told").fetchall() == [(2,)]
