"""Reports on releases of other methods, on parts, on individuals, and by the command line."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

import sqlanon as sa
from sqlanon.cli.app import app
from tests.stories import test_release_reports
from tests.stories.test_release_reports import (
    CANARY,
    CLINIC,
    FINE,
    HISTOGRAM,
    KNOWN_TOWNS,
    TAXONOMIES,
    clinic_policy,
    counts_are_of_many,
    policy,
)

session = test_release_reports.session


@pytest.mark.deep
def test_nor_by_local_recoding(session: sa.Session) -> None:
    asked = policy(method=sa.LocalRecoding(suppression_limit=0.05), maximum_levels=FINE["maximum_levels"])
    few = "SELECT * FROM people WHERE visits < 4"
    assert session.anonymize(few, asked, "released").report.rows.dropped > 0
    found = session.report("released", asked, source=few)
    assert CANARY not in found.to_html() + found.model_dump_json()
    assert counts_are_of_many(found, 4)
    assert counts_are_of_many(session.report("released", edition="public"), 4)
    with pytest.raises(sa.PolicyError, match=r"alternatives needs method \"full-domain\""):
        session.report("released", asked, source=few, alternatives=True)


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


def test_the_command_that_a_run_proposes_writes_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    duckdb.connect("some people.duckdb").close()
    run = ["run", "some people.csv", "--policy", "policy.toml", "--into", "released", "--db", "some people.duckdb"]
    shown = CliRunner().invoke(app, run)
    assert shown.exit_code == 0, shown.output
    assert re.search(r"rows alone in their class +\d+ +0", shown.stdout)
    (proposed,) = re.findall(r"sqlanon (report .*report\.html)", shown.stderr)
    assert CliRunner().invoke(app, shlex.split(proposed)).exit_code == 0
    written = Path("report.html").read_text(encoding="utf-8")
    assert written.startswith("<!DOCTYPE html>")
    assert "Smallest class" in written
    assert CliRunner().invoke(app, shlex.split(proposed)).exit_code != 0
    assert Path("report.html").read_text(encoding="utf-8") == written
    public = CliRunner().invoke(app, ["report", "released", "--db", "some people.duckdb", "--public", "--json"])
    assert json.loads(public.stdout)["edition"] == "public"


def test_alternatives_are_those_of_the_lattice(session: sa.Session) -> None:
    """Masked rows are of no level."""
    asked = policy(suppression_limit=0.05, suppression="mask")
    release = session.anonymize("people", asked, "released")
    rows, shown = release.report.rows, session.report("released", asked, source="people", alternatives=True)
    assert rows.masked > 0
    town = next(column for column in shown.columns if column.name == "town")
    assert sum(level.shown for level in town.levels) == pytest.approx(1 - rows.masked / rows.released)
    found = shown.alternatives
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


def test_what_a_method_adds_is_shown(session: sa.Session) -> None:
    moved = policy(privacy=[], insensitive=[], identifiers=[], method=sa.Relocation(4, limit=0.3))
    release = session.anonymize("SELECT age, town, illness FROM people", moved, "moved")
    found = session.report("moved", moved)
    assert found.facts["share of rows that are untruthful"] == release.report.untruthful_share
    assert "classes of rows that were moved" not in found.facts  # the custodian's
    assert "rows that were moved" in found.to_html()
    drawn = policy(**HISTOGRAM)
    noisy = session.anonymize(KNOWN_TOWNS, drawn, "drawn", random_source=sa.SeededSource(1))
    found = session.report("drawn", drawn)
    assert found.spent == noisy.report.spent
    assert found.stamp == "NOT PRIVATE"
    assert "NOT PRIVATE" in found.to_html()
    assert "shows counts from" in found.to_html()


@pytest.mark.deep
def test_a_page_of_ten_columns_has_under_half_a_megabyte(session: sa.Session) -> None:
    names = [f"age_{number}" for number in range(10)]
    columns = ", ".join(f"(i * {number + 1}) % 100 AS {name}" for number, name in enumerate(names))
    session.connection.execute(f"CREATE TABLE wide AS SELECT {columns} FROM range(60) AS _ (i)")
    rule = {"kind": "intervals", "widths": [2, 10, 50], "minimum": 0, "maximum": 99}
    rules = dict.fromkeys(names, rule)
    wide = sa.Policy(quasi_identifiers=names, privacy=[sa.KAnonymity(2)], taxonomies=rules)
    session.anonymize("wide", wide, "released", node=dict.fromkeys(names, 4))
    page = session.report("released", wide, source="wide").to_html()
    assert page.count('role="img"') == 12  # a taxonomy each, and two charts
    assert len(page.encode()) < 500_000


class TestIndividuals:
    def test_are_counted_in_place_of_rows(self, session: Any) -> None:
        """A class of ten rows may be two persons': risks are those of persons."""
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


def test_the_recorded_policy_is_reported_on(session: sa.Session) -> None:
    stricter = policy(privacy=[sa.KAnonymity(9)], **FINE)
    session.anonymize("people", stricter, "released")
    found = session.report("released", policy(**FINE), source="people")
    assert found.k == 9
    assert [each.required for each in found.verification.measurement.models] == [9]
    assert found.verification.notes == ()


def test_lost_columns_are_named(session: sa.Session, tmp_path: Path) -> None:
    """Also those of a record that names others than its files have."""
    chosen, folder = policy(**FINE), tmp_path / "released"
    session.anonymize("people", chosen, f"{folder}/")
    marker = folder / "_sqlanon.json"
    record = json.loads(marker.read_text())
    record["sqlanon"]["policy"]["sensitive"] += ["other"]
    marker.write_text(json.dumps(record))
    with pytest.raises(sa.PolicyError, match='"other" is not there'):
        session.report(f"{folder}/")
    session.anonymize("people", chosen, "released")
    session.connection.execute(f"ALTER TABLE released DROP COLUMN {chosen.sensitive[0]}")
    session.connection.execute("ALTER TABLE released RENAME COLUMN town TO Town")
    with pytest.raises(sa.PolicyError, match="does not match its provenance") as refused:
        session.report("released")
    assert refused.value.problems[:-1] == (f'column "{chosen.sensitive[0]}" is not there',)


@pytest.fixture(scope="module")
def clinic() -> Iterator[sa.Session]:
    """Half of the clinic of the stories."""
    with sa.connect(threads=1) as opened:
        opened.connection.execute(CLINIC.replace("range(600)", "range(300)"))
        yield opened


def test_groups_of_few_rows_and_of_masked_ones_are_counted(clinic: sa.Session) -> None:
    """By local recoding labels are of several levels; a label of fewer rows than k has no name."""
    clinic.connection.execute(
        "CREATE VIEW few AS SELECT * REPLACE (CASE WHEN patient = 0 THEN 'x' ELSE sex END AS sex) FROM clinic"
    )
    masked = clinic.anonymize("few", clinic_policy(suppression="mask"), "masked").report.rows
    assert masked is not None
    assert masked.masked == 8
    clinic.anonymize("few", clinic_policy(method=sa.LocalRecoding(suppression_limit=0.05)), "local")
    reports = {name: clinic.report(name, source="few") for name in ("masked", "local")}
    for name, found in reports.items():
        sex = next(each for each in found.columns if each.name == "sex")
        assert [(each.label, each.before) for each in sex.labels if not each.after] == [("d", 6)], name
        assert (sex.other_vanished_labels, sex.other_vanished_rows) == (1, 2), name
        assert "x" not in [each.label for each in sex.labels]
    assert "No rows beside their labels" in reports["local"].to_html()
    assert "No rows beside" not in clinic.report("local").to_html() + reports["masked"].to_html()


def test_a_report_beside_another_source_says_what_is_missing(clinic: sa.Session) -> None:
    clinic.anonymize("clinic", clinic_policy(), "released")
    clinic.connection.execute("CREATE TABLE later AS SELECT * FROM clinic WHERE sex <> 'd'")
    assert any("has changed since" in note for note in clinic.report("released", source="later").notes)
    clinic.connection.execute("CREATE TABLE other AS SELECT * REPLACE ('other' AS sex) FROM clinic")
    found = clinic.report("released", source="other")
    assert any("does not fit the policy of the release any more" in note for note in found.notes)
    assert found.findings == clinic.report("released", source="clinic", edition="public").findings
