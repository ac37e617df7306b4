"""Catalogs of h-ceiling: the counterfeits of groups of classes, in a table beside the release."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
import sqlglot

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.methods.h_ceiling import catalogs
from sqlanon.methods.h_ceiling import ceiling_queries as queries
from sqlanon.methods.h_ceiling import h_ceiling_run as method
from sqlanon.queries.encoding import encoding_for
from sqlanon.queries.kit.macros import expand
from sqlanon.queries.kit.nodes import DIALECT
from tests.commands import sqlanon
from tests.engines import engine_of
from tests.stories.test_h_ceiling_release import SEED, people_policy, session_of_people

BESIDE = {"catalog": "listed"}
BOTH = ("released", "listed")


def session_of_groups() -> sa.Session:
    """A hundred ages with four people each, but three of the first few: most classes have just four rows.

    Of every disease there are people in every class, so that a counterfeit can hide.
    """
    session = sa.connect(duckdb.connect(config={"threads": 1}))
    session.connection.execute(
        "CREATE TABLE people AS SELECT i // 4 AS age, 'd' || (i % 4) AS disease FROM range(400) AS numbers (i) "
        "WHERE i NOT IN (3, 9)"
    )
    session.taxonomies.load("age", sa.Taxonomy.intervals([10], minimum=0, maximum=99))
    return session


def groups_policy(catalog: str, **settings: Any) -> sa.Policy:
    method = {"model": "h-ceiling", "k": 4, "h": 0, "fill": "marginal", "catalog": catalog, **settings}
    return sa.Policy(quasi_identifiers=["age"], sensitive=["disease"], method=method, earlier="none")


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with session_of_groups() as session:
        yield session


def catalogued(session: sa.Session, policy: sa.Policy) -> Any:
    """A release with its catalog, as tables ``released`` and ``listed``."""
    return session.anonymize("people", policy, "released", tables=BESIDE, random_source=SEED, replace=True)


@pytest.mark.parametrize(("kind", "fill"), [("strict", "marginal"), ("paper", "hidden")])
def test_it_tells_the_counterfeits_of_groups(session: sa.Session, kind: str, fill: str) -> None:
    """One of values undoes what the fill hides."""
    policy = groups_policy(kind, fill=fill)
    release = catalogued(session, policy)
    report, claims, connection = release.report, " ".join(release.guarantee.claims), session.connection
    assert (report.counterfeits, report.filled_classes, report.catalog) == (2, 2, kind)
    assert connection.table("released").columns == ["class_id", "age", "disease"]
    assert connection.table("listed").columns == ["class_ids", "disease", "counterfeits"]
    ids = connection.sql("SELECT class_id, age FROM released GROUP BY ALL ORDER BY class_id").fetchall()
    assert ids == [(place, age) for place, age in enumerate(sorted(map(str, range(100))), start=1)]
    names = {class_id: int(age) for class_id, age in ids}
    listed = connection.sql("SELECT class_ids, disease, counterfeits FROM listed").fetchall()
    assert sum(count for *_, count in listed) == 2
    assert len({tuple(classes) for classes, *_ in listed}) == report.groups
    assert {0, 2} <= {names[class_id] for classes, *_ in listed for class_id in classes}
    for classes, disease, count in listed:
        found = [
            connection.execute(
                f"SELECT count(*) FROM {table} WHERE list_contains(?, {column}) AND disease = ?", [members, disease]
            ).fetchall()[0][0]
            for table, column, members in (
                ("released", "class_id", classes), ("people", "age", [names[class_id] for class_id in classes])
            )
        ]  # fmt: skip
        assert found[0] - found[1] == count
    assert session.verify("released", policy).met
    assert json.loads(session.provenance("listed") or "")["sqlanon"]["companion"]["release"] == "released"
    if kind == "strict":
        assert 3.2 <= report.effective_k <= 4
        assert f"the effective k is {report.effective_k:.4g}" in claims
    else:
        assert "effective k" not in claims
        not_covered = " ".join(release.guarantee.not_covered)
        assert "lemma 1" in not_covered
        assert "1/4 at most" not in claims
        assert "7/24, more than 1/4" in not_covered


def test_one_of_counts_says_nothing_of_values(session: sa.Session) -> None:
    policy = groups_policy("counts", fill="hidden")
    plain = session.anonymize("people", groups_policy("none", fill="hidden"), "plain", random_source=sa.SeededSource(1))
    release = session.anonymize(
        "people", policy, "released", tables=BESIDE, random_source=sa.SeededSource(1), replace=True
    )
    assert (release.report.catalog, release.report.effective_k, release.node) == ("counts", None, plain.node)
    connection = session.connection
    assert connection.table("listed").columns == ["class_ids", "counterfeits"]
    # All 100 classes have just four rows, true or not.
    assert connection.table("listed").fetchall() == [(list(range(1, 101)), 2)]
    assert connection.sql("SELECT age, disease FROM released").fetchall() == connection.table("plain").fetchall()
    query = "SELECT round(sum(anon_truth), 9) FROM anon.class_truths('released', 'listed')"
    truths = connection.sql(expand(sqlglot.parse_one(query, dialect=DIALECT)).sql(DIALECT)).fetchall()
    assert truths == [(398.0,)]
    assert "with a probability of 1/4 at most" in " ".join(release.guarantee.claims)
    assert "7/24" not in " ".join(release.guarantee.not_covered)
    assert session.verify("released", policy).met
    connection.execute("DROP TABLE plain")


def test_one_that_cannot_be() -> None:
    """Every class lacks a row, so that all classes have three true rows: no catalog hides that."""
    with session_of_people() as session:
        session.connection.execute("CREATE TABLE released AS FROM people; CREATE TABLE listed AS FROM people")
        with pytest.raises(sa.UnsatisfiableError, match="no strict catalog was found"):
            session.anonymize("people", people_policy(catalog="strict"), "released", tables=BESIDE, replace="anything")
        for name in BOTH:
            assert session.connection.sql(f"SELECT count(*) FROM {name}").fetchall() == [(40,)]
        # Without h the lower ceilings, which have less error, give way to the first one with a catalog.
        searched = people_policy(catalog="strict", h=None)
        report = session.anonymize("people", searched, "released", tables=BESIDE, replace="anything").report
        assert [at.counterfeits for at in report.curve] == [40, 40, 40, 40, 0]
        assert min(report.curve, key=lambda at: at.reconstruction_error).ceiling == 0.05
        assert (report.ceiling, report.counterfeits, report.effective_k) == (0.25, 0, 4)


def test_no_counterfeits_make_an_empty_one(session: sa.Session) -> None:
    policy = groups_policy("strict", h=1.0).model_copy(update={"minimum_levels": {"age": 1}})
    report = catalogued(session, policy).report
    assert (report.counterfeits, report.effective_k) == (0, 4)
    assert session.connection.sql("SELECT count(*) FROM listed").fetchall() == [(0,)]


def test_targets_that_do_not_fit(tmp_path: Path) -> None:
    cases: list[tuple[Any, dict[str, str], type[Exception], str]] = [
        ("released", {}, sa.PolicyError, '"catalog" is published as well: name its table'),
        (tmp_path / "released.parquet", BESIDE, sa.EngineError, "give the names of tables"),
        ("released", {"catalog": "listed.parquet"}, sa.EngineError, "give the names of tables"),
        ("released", {"catalog": "people"}, sa.EngineError, "people"),
        ("released", {"catalog": "there"}, sa.EngineError, "there"),
        ("released", {"catalog": "RELEASED"}, sa.EngineError, "two tables of the release have the same name"),
    ]
    with session_of_groups() as session:
        session.connection.execute("CREATE TABLE there (i INTEGER)")
        for target, tables, error, words in cases:
            with pytest.raises(error, match=words):
                session.anonymize("people", groups_policy("strict"), target, tables=tables)
        with pytest.raises(sa.PolicyError, match="published: none"):
            session.anonymize("people", groups_policy("none"), "released", tables=BESIDE)
        assert {row[0] for row in session.connection.sql("SHOW TABLES").fetchall()} == {"people", "there"}
        assert not list(tmp_path.iterdir())


def test_settings_and_names_that_cannot_be() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"effective_k": 3}, "effective_k needs a strict catalog"),
        ({"catalog": "strict", "effective_k": 5}, "effective_k must be at most k"),
        ({"catalog": "strict", "effective_k": 1}, "effective_k of a strict catalog must be above 1"),
        ({"catalog": "public"}, "catalog: "),
    ]
    for settings, words in cases:
        with pytest.raises(sa.PolicyError, match=words):
            sa.HCeiling(4, **settings)
    for name in ("class_id", "Class_IDs", "counterfeits"):
        with pytest.raises(sa.PolicyError, match="a release with a catalog needs"):
            sa.Policy(quasi_identifiers=[name], sensitive=["disease"], method=sa.HCeiling(4, catalog="strict"))
        assert sa.Policy(quasi_identifiers=[name], sensitive=["disease"], method=sa.HCeiling(4))


def test_both_tables_are_as_they_were(session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where what is written of the catalog is not what was to be; and more counterfeits than rows are counted."""
    policy = groups_policy("strict")
    catalogued(session, policy)
    before = [session.connection.table(name).fetchall() for name in BOTH]
    wanted = catalogs.catalog_rows
    for spoilt in (
        lambda *given: wanted(*given).limit(1),
        lambda *given: wanted(*given).select("class_ids", "disease", "1 AS counterfeits", append=False).limit(1),
    ):
        monkeypatch.setattr(method, "catalogs", SimpleNamespace(**{**vars(catalogs), "catalog_rows": spoilt}))
        with pytest.raises(sa.VerificationError, match="rows of the catalog are not as they were to be"):
            catalogued(session, policy)
        assert [session.connection.table(name).fetchall() for name in BOTH] == before
    more_counterfeits_than_rows_are_seen(session, policy)


def more_counterfeits_than_rows_are_seen(session: sa.Session, policy: sa.Policy) -> None:
    engine = engine_of(session)
    bound = prepare(engine, engine.resolve("people"), policy)
    encoding = encoding_for(bound.cells, bound.policy.criteria, label_losses=())

    def seen(relation: str) -> int:
        released, catalog = (engine.resolve(name).relation for name in ("released", relation))
        query = queries.about(encoding).query("more_counterfeits_than_rows", release=released, written=catalog)
        return int(engine.fetch(query, "rows")[0]["rows"])

    assert seen("listed") == 0
    session.connection.execute("CREATE TABLE more AS SELECT * REPLACE (counterfeits + 100 AS counterfeits) FROM listed")
    assert seen("more") == session.connection.sql("SELECT count(*) FROM listed").fetchall()[0][0] > 0


@pytest.mark.deep
def test_the_command_names_both(session: sa.Session, tmp_path: Path) -> None:
    session.connection.execute(f"ATTACH '{tmp_path}/w.duckdb' AS stored")
    session.connection.execute("COPY FROM DATABASE memory TO stored; DROP TABLE IF EXISTS stored.released")
    session.connection.execute("DROP TABLE IF EXISTS stored.listed; DETACH stored")
    (tmp_path / "policy.toml").write_text(
        'quasi_identifiers = ["age"]\nsensitive = ["disease"]\n'
        'method = { model = "h-ceiling", k = 4, h = 0, catalog = "strict" }\n'
    )
    command = ("run", "people", "--db", "w.duckdb", "--policy", "policy.toml", "--into", "released")
    assert sqlanon(*command, "--table", "catalog", folder=tmp_path).returncode == 2
    done = sqlanon(*command, "--table", "catalog=listed", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tables"] == {"catalog": "listed"}
    with duckdb.connect(str(tmp_path / "w.duckdb"), read_only=True) as connection:
        assert connection.sql("SELECT sum(counterfeits) FROM listed").fetchall() == [(2,)]
