"""Reports of releases: every figure is that of a macro, nothing shows what the release does not."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import sqlanon as sa
from sqlanon.cli.app import app
from sqlanon.methods.h_ceiling.report import guarantee
from sqlanon.model.release.release_report import ReleaseReport

CANARY = "CANARY"
"""Begins the values that no report may show: identifiers, and those of rows that are left out."""

PEOPLE = f"""
CREATE TABLE people AS
SELECT
    '{CANARY}' || i AS name,
    20 + (i * 37) % 60 AS age,
    CASE WHEN i % 100 = 1 THEN '{CANARY}ville' || i ELSE ['Bonn', 'Ulm', 'Jena'][1 + i % 3] END AS town,
    ['flu', 'gout', 'burn'][1 + (i * i) % 3] AS illness,
    i % 7 AS visits
FROM range(600) AS _ (i)
"""
TAXONOMIES: dict[str, Any] = {
    "age": {"kind": "intervals", "widths": [5, 20], "minimum": 20, "maximum": 79},
    "town": {"kind": "flat"},
}
LOCAL = sa.LocalRecoding(suppression_limit=0.05)


def policy(**more: Any) -> sa.Policy:
    roles: dict[str, Any] = {
        "quasi_identifiers": ["age", "town"],
        "sensitive": ["illness"],
        "insensitive": ["visits"],
        "identifiers": ["name"],
        "privacy": [sa.KAnonymity(4)],
        "taxonomies": TAXONOMIES,
    }
    return sa.Policy(**{**roles, **more})


@pytest.fixture
def session() -> Any:
    with sa.connect() as opened:
        opened.connection.execute(PEOPLE)
        yield opened


FINE = {"maximum_levels": {"age": 1, "town": 0}, "suppression_limit": 0.05}


def test_its_figures_are_those_of_the_macros(session: sa.Session) -> None:
    session.anonymize("people", policy(**FINE), "released")
    found = session.report("released", policy(**FINE), source="people")
    session.install()
    ask = session.connection.execute
    columns = "['age', 'town']"
    for table, exposure in (("people", found.before), ("released", found.after)):
        assert exposure is not None
        row = ask(f"SELECT k, class_count, row_count FROM anon.k_anonymity('{table}', {columns})").fetchone()
        assert (exposure.k, exposure.class_count, exposure.row_count) == row
        unique = ask(f"SELECT unique_rows FROM anon.sample_uniqueness('{table}', {columns})").fetchone()
        assert (exposure.unique_rows,) == unique
        sizes = [each.after if table == "released" else each.before for each in found.sizes]
        small = ask(
            f"SELECT sum(class_size) FROM anon.class_sizes('{table}', {columns}) WHERE class_size < 4"
        ).fetchone()
        assert sum(size or 0 for size in sizes[:2]) == pytest.approx(((small or (0,))[0] or 0) / exposure.row_count)
        assert sum(size or 0 for size in sizes) == pytest.approx(1)
    by_name = {column.name: column for column in found.columns}
    homogeneous = ask(f"FROM anon.homogeneous_rows('released', {columns}, 'illness')").fetchone()
    assert homogeneous is not None
    assert by_name["illness"].homogeneous_rows == homogeneous[0]
    assert {each.label: each.after for each in by_name["town"].labels} == dict(
        ask("SELECT town, count(*) FROM released GROUP BY town").fetchall()
    )
    before = dict(ask("SELECT town, count(*) FROM people GROUP BY town").fetchall())
    assert all(each.before in (None, before[each.label]) for each in by_name["town"].labels)


@pytest.mark.parametrize("edition", ["custodian", "public"])
@pytest.mark.parametrize("method", [None, LOCAL])
def test_no_value_of_a_suppressed_row_or_an_identifier_is_shown(session: sa.Session, edition: Any, method: Any) -> None:
    asked = policy(**FINE) if method is None else policy(method=method, maximum_levels=FINE["maximum_levels"])
    release = session.anonymize("people", asked, "released")
    assert release.report.rows is not None
    assert release.report.rows.dropped > 0
    found = session.report("released", asked, source="people", edition=edition)
    assert CANARY not in found.to_html()
    assert CANARY not in found.model_dump_json()


def test_a_public_edition_has_nothing_of_the_source(session: sa.Session) -> None:
    session.anonymize("people", policy(**FINE), "released")
    found = session.report("released", source="people", edition="public")
    assert (found.before, found.source) == (None, None)
    assert all(each.before is None for each in found.sizes)
    assert all(each.before is None for column in found.columns for each in column.labels)
    assert "may see the source" not in found.to_html()


def test_differences_of_few_rows_are_not_shown(session: sa.Session) -> None:
    session.connection.execute("CREATE TABLE few AS FROM people WHERE visits > 0 OR name IS NULL")
    session.anonymize("people", policy(**FINE), "released")
    found = session.report("released", policy(**FINE), source="people")
    rows = dict(session.connection.execute("SELECT town, count(*) FROM people GROUP BY town").fetchall())
    for column in found.columns:
        for each in column.labels:
            assert each.before is None or each.before == each.after or each.before - each.after >= 4
    town = next(column for column in found.columns if column.name == "town")
    assert any(each.before is not None and each.before == rows[each.label] for each in town.labels)


def test_a_sensitive_value_of_few_rows_is_not_shown(session: sa.Session) -> None:
    session.connection.execute(f"UPDATE people SET illness = '{CANARY}' WHERE name IN ('{CANARY}3', '{CANARY}6')")
    session.anonymize("people", policy(**FINE), "released")
    ((rows,),) = session.connection.execute(f"SELECT count(*) FROM released WHERE illness = '{CANARY}'").fetchall()
    assert 0 < rows < 4, "they are released"
    found = session.report("released", policy(**FINE), source="people")
    illness = next(column for column in found.columns if column.name == "illness")
    assert illness.labels
    assert all(each.after >= 4 for each in illness.labels)
    assert CANARY not in found.to_html()


def test_the_page_is_made_of_its_json_alone(session: sa.Session) -> None:
    session.anonymize("people", policy(**FINE), "released")
    found = session.report("released", policy(**FINE), source="people")
    page = found.to_html()
    assert ReleaseReport.model_validate_json(found.model_dump_json()).to_html() == page
    assert not re.search(r"<(script|link|img|iframe|object)|@import|url\(|https?:", page)
    for text in ("What is promised", "Who is left out", "taxonomy of age", "How to check this", "k = 4"):
        assert text in page
    for sentence in found.promise.claims if found.promise else ():
        assert sentence.partition('"')[0] in page


def test_promises_travel_with_a_release(session: sa.Session) -> None:
    release = session.anonymize("people", policy(**FINE), "released")
    found = session.report("released")
    assert found.promise is not None
    assert found.promise.claims == release.guarantee.claims
    assert found.promise.not_covered == release.guarantee.not_covered


def test_a_private_release_is_reported_without_its_source(tmp_path: Path) -> None:
    asked = policy(
        privacy=[],
        insensitive=[],
        identifiers=[],
        method=sa.Histogram(budget=sa.Budget(50, "0.01"), node={"age": 2, "town": 1}),
        taxonomies={"age": TAXONOMIES["age"], "town": {"kind": "flat", "values": ["Bonn", "Ulm", "Jena"]}},
    )
    with sa.connect(ledger=tmp_path / "ledger.duckdb") as custodian:
        custodian.connection.execute(PEOPLE)
        query = f"SELECT age, town, illness FROM people WHERE town NOT LIKE '{CANARY}%'"
        custodian.anonymize(query, asked, "released", dataset="people")
        found = custodian.report("released", asked, source=query)
    assert (found.before, found.after, found.sizes, found.k) == (None, None, (), None)
    assert all(each.before is None for column in found.columns for each in column.labels)
    assert isinstance(found.promise, sa.PrivateGuarantee)
    assert found.promise.budget == sa.Budget(50, "0.01")
    page = found.to_html()
    assert "differentially private" in page
    assert re.search(r"Privacy loss ε</h3><p class=\"value\"><b>50</b>", page)
    assert "none stands for a person" in page
    assert "may see the source" not in page  # it has no count of it
    assert ReleaseReport.model_validate_json(found.model_dump_json()).promise == found.promise


def test_h_ceiling_is_reported_without_what_distinguishes_counterfeits(session: sa.Session) -> None:
    asked = policy(privacy=[], insensitive=[], identifiers=[], method=sa.HCeiling(4))
    release = session.anonymize("SELECT age, town, illness FROM people", asked, "released")
    found = session.report("released", asked, edition="public")
    assert found.source_rows is None
    assert "Some rows may be invented" in found.to_html()
    assert not {"counterfeits", "fewest true rows of a class"} & found.facts.keys()
    assert found.promise is not None
    assert "since a class may have 1 true row alone" in found.promise.claims[-1]
    secret = {"counterfeits": 7, "counterfeit_share": 0.5, "fewest_true_rows": 3, "effective_k": 3.5, "loss": 7.0}
    other = release.report.model_copy(update=secret)
    assert guarantee(asked, other, for_recipients=True) == found.promise
    assert guarantee(asked, other, for_recipients=False) != found.promise


def test_a_partition_is_reported_with_the_promise_of_all(session: sa.Session, tmp_path: Path) -> None:
    towns = {"kind": "groups", "groups": {"Rhine": ["Bonn"], "Danube": ["Ulm"], "Saale": ["Jena"]}}
    asked = policy(taxonomies={**TAXONOMIES, "town": towns}, maximum_levels={"age": 1})
    session.connection.execute(f"DELETE FROM people WHERE town LIKE '{CANARY}%'")
    sidecar = tmp_path / "people.fit.duckdb"
    session.partitions.fit("people", asked, sidecar)
    session.partitions.apply("people", sidecar, "first")
    second = session.partitions.apply("SELECT * FROM people WHERE age < 50", sidecar, "second")
    found = session.report("second", asked)
    assert found.promise == second.guarantee
    assert found.facts["partitions published with the fit"] == 2
    assert found.facts["privacy models are met"] == "by all partitions together"
    assert "of the 2 partitions" in found.to_html()


def test_what_is_no_release_is_refused(session: sa.Session) -> None:
    session.lattice("people", policy(**FINE), into="nodes")
    for name in ("people", "nodes"):
        with pytest.raises(sa.EngineError, match="has no provenance of a release"):
            session.report(name)


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    warehouse, page = tmp_path / "w.duckdb", tmp_path / "report.html"
    with sa.connect(warehouse) as session:
        session.connection.execute(PEOPLE)
        session.anonymize("people", policy(**FINE), "released")
    command = ["report", "released", "--db", str(warehouse), "--source", "people", "--out", str(page)]
    assert CliRunner().invoke(app, command).exit_code == 0
    written = page.read_text(encoding="utf-8")
    assert written.startswith("<!DOCTYPE html>")
    assert CliRunner().invoke(app, command).exit_code != 0
    assert page.read_text(encoding="utf-8") == written
    shown = CliRunner().invoke(app, [*command[:4], "--public", "--json"])
    assert json.loads(shown.stdout)["edition"] == "public"
    assert "Who is left out" not in CliRunner().invoke(app, command[:4]).stdout


def test_the_command_that_a_run_proposes_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(
        """
        quasi_identifiers = ["age"]
        rest = "identifier"
        privacy = [{ model = "k-anonymity", k = 4 }]
        taxonomies = { age = { kind = "intervals", widths = [5], minimum = 0, maximum = 99 } }
        """
    )
    Path("some people.csv").write_text("age\n" + "\n".join(str(20 + place % 30) for place in range(300)))
    run = ["run", "some people.csv", "--policy", "policy.toml", "--into", "out.csv"]
    shown = CliRunner().invoke(app, run)
    assert shown.exit_code == 0, shown.output
    (proposed,) = re.findall(r"sqlanon (report .*report\.html)", shown.stderr)
    assert CliRunner().invoke(app, shlex.split(proposed)).exit_code == 0
    assert "Smallest class" in Path("report.html").read_text()
    assert re.search(r"rows alone in their class +\d+ +0", shown.stdout)


def test_masked_rows_are_of_no_level(session: sa.Session) -> None:
    asked = policy(**FINE, suppression="mask")
    release = session.anonymize("people", asked, "released")
    rows = release.report.rows
    assert rows is not None
    assert rows.masked > 0
    town = next(
        column for column in session.report("released", asked, source="people").columns if column.name == "town"
    )
    assert sum(level.shown for level in town.levels) == pytest.approx(1 - rows.masked / rows.released)


def test_alternatives_are_those_of_the_lattice(session: sa.Session) -> None:
    asked = policy(suppression_limit=0.05)
    release = session.anonymize("people", asked, "released")
    found = session.report("released", asked, source="people", alternatives=True).alternatives
    nodes = session.lattice("people", asked).to_pylist()
    assert found is not None
    assert found.node == release.node
    assert found.loss == pytest.approx(release.report.loss, abs=1e-11)
    assert (found.node_count, found.satisfying_count) == (len(nodes), sum(node["satisfies"] for node in nodes))
    assert sum(count for _, _, count, _ in found.points) == sum(node["best_k"] > 0 for node in nodes)
    for k, loss in found.least_losses.items():
        assert loss == pytest.approx(min(node["loss"] for node in nodes if node["best_k"] >= k), abs=1e-11)
    for each in found.finer:
        finer = [
            node["loss"]
            for node in nodes
            if node["satisfies"] and dict(node["node"])[each.column] < release.node[each.column]
        ]
        assert each.loss == pytest.approx(min(finer, default=None), abs=1e-11)


def test_alternatives_need_a_source_and_full_domains(session: sa.Session) -> None:
    session.anonymize("people", policy(**FINE), "released")
    for given in ({}, {"source": "people", "edition": "public"}):
        with pytest.raises(sa.PolicyError, match="counted on the source"):
            session.report("released", policy(**FINE), alternatives=True, **given)
    session.anonymize("people", policy(method=sa.LocalRecoding()), "released", replace=True)
    with pytest.raises(sa.PolicyError, match="nodes of full domains"):
        session.report("released", policy(method=sa.LocalRecoding()), source="people", alternatives=True)


def test_what_a_method_adds_is_shown(session: sa.Session) -> None:
    moved = policy(privacy=[], insensitive=[], identifiers=[], method=sa.Relocation(4, limit=0.3))
    release = session.anonymize("SELECT age, town, illness FROM people", moved, "moved")
    found = session.report("moved", moved)
    assert found.facts["share of rows that are untruthful"] == release.report.untruthful_share
    assert "classes of rows that were moved" not in found.facts  # the custodian's
    assert "rows that were moved" in found.to_html()
    drawn = policy(
        privacy=[],
        insensitive=[],
        identifiers=[],
        method=sa.Histogram(budget=sa.Budget(50, "0.01"), node={"age": 2, "town": 1}),
        taxonomies={"age": TAXONOMIES["age"], "town": {"kind": "flat", "values": ["Bonn", "Ulm", "Jena"]}},
    )
    query = f"SELECT age, town, illness FROM people WHERE town NOT LIKE '{CANARY}%'"
    noisy = session.anonymize(query, drawn, "drawn", random_source=sa.SeededSource(1))
    found = session.report("drawn", drawn)
    assert found.spent == noisy.report.spent
    assert found.stamp == "NOT PRIVATE"
    assert "NOT PRIVATE" in found.to_html()
    assert "shows counts from" in found.to_html()


def test_a_release_is_shown_as_its_report(session: sa.Session) -> None:
    release = session.anonymize("people", policy(**FINE), "released")
    assert release.to_html() == session.report("released", policy(**FINE), source="people").to_html()
    session.connection.execute("DROP TABLE released")
    assert "<title>Release released" in release.to_html()


def test_a_page_of_forty_columns_has_under_two_megabytes(session: sa.Session) -> None:
    names = [f"age_{number}" for number in range(40)]
    columns = ", ".join(f"(i * {number + 1}) % 100 AS {name}" for number, name in enumerate(names))
    session.connection.execute(f"CREATE TABLE wide AS SELECT {columns} FROM range(300) AS _ (i)")
    rule = {"kind": "intervals", "widths": [2, 10, 50], "minimum": 0, "maximum": 99}
    wide = policy(
        quasi_identifiers=names,
        sensitive=[],
        insensitive=[],
        identifiers=[],
        privacy=[sa.KAnonymity(2)],
        taxonomies=dict.fromkeys(names, rule),
    )
    session.anonymize("wide", wide, "released", node=dict.fromkeys(names, 4))
    page = session.report("released", wide, source="wide").to_html()
    assert page.count('role="img"') == 42  # a taxonomy each, and two charts
    assert len(page.encode()) < 2_000_000


def test_the_release_has_one_colour_with_and_without_its_source(session: sa.Session) -> None:
    session.anonymize("people", policy(**FINE), "released")
    for source, colours in (("people", {"s0", "s1"}), (None, {"s1"})):
        page = session.report("released", policy(**FINE), source=source).to_html()
        assert set(re.findall(r'<(?:rect|path)[^>]* class="(?:line )?(s\d)"', page)) == colours


def test_the_recorded_policy_is_reported_on(session: sa.Session) -> None:
    stricter = policy(privacy=[sa.KAnonymity(9)], **FINE)
    session.anonymize("people", stricter, "released")
    found = session.report("released", policy(**FINE), source="people")
    assert found.k == 9
    assert [each.required for each in found.verification.measurement.models] == [9]
    assert found.verification.notes == ()


class TestIndividuals:
    """A class of ten rows may be two persons': risks are those of persons."""

    def test_are_counted_in_place_of_rows(self, session: Any) -> None:
        session.connection.execute("CREATE TABLE visits AS SELECT people.* FROM people, range(5)")
        release = session.anonymize("visits", policy(**FINE, individual="name"), into="r")
        query = """
            SELECT min(persons) FROM (
                SELECT count(DISTINCT visits.name) AS persons
                FROM visits JOIN r ON r.town = visits.town AND r.age = CAST(visits.age AS VARCHAR)
                GROUP BY r.age, r.town
            )
        """
        (fewest,) = session.connection.execute(query).fetchone()
        assert release.report.min_class_size >= 5 * fewest
        assert release.report.individuals == fewest
        risk = f"{100 / fewest:.3g} %"
        assert f"individuals in the smallest class: - -> {fewest}" in str(release)
        assert f"highest risk of re-identification: - -> {risk}" in str(release)
        assert "average risk" not in str(release)
        page = session.report("r", source="visits")
        assert page.individuals == fewest
        text = re.sub(r"<[^>]*>|\s+", " ", page.to_html())
        assert f"at least {fewest - 1} other individuals" in re.sub(" +", " ", text)
        assert risk in text

    def test_are_not_in_a_report_without_them(self, session: Any) -> None:
        release = session.anonymize("people", policy(**FINE), into="r")
        assert release.report.individuals is None
        assert "average risk" in str(release)
