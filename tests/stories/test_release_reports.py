"""Reports of releases: nothing shows what the release does not. Their figures have a property."""

import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any, Self

import pytest
from rich.console import Console

import sqlanon as sa
from sqlanon.methods.h_ceiling.ceiling_report import guarantee
from sqlanon.model.release.release_report import ReleaseReport
from sqlanon.report.console import rendered
from sqlanon.run import reported_release

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


FINE = {"maximum_levels": {"age": 1, "town": 0}, "suppression_limit": 0.05}


@contextmanager
def people(**options: Any) -> Iterator[sa.Session]:
    with sa.connect(threads=1, **options) as opened:
        opened.connection.execute(PEOPLE)
        yield opened


@pytest.fixture
def session() -> Iterator[sa.Session]:
    with people() as opened:
        yield opened


@dataclass(frozen=True)
class Story:
    """A release, and its report beside the source."""

    session: sa.Session
    release: sa.Release
    found: ReleaseReport

    def ask(self, query: str) -> list[Any]:
        return self.session.connection.execute(query).fetchall()


@pytest.fixture(scope="module")
def story() -> Iterator[Story]:
    with people() as opened:
        release = opened.anonymize("people", policy(**FINE), "released")
        yield Story(opened, release, opened.report("released", policy(**FINE), source="people"))


def test_a_public_edition_has_nothing_of_the_source_and_none_a_value_of_a_suppressed_row_or_an_identifier(
    story: Story,
) -> None:
    assert story.release.report.rows.dropped > 0
    found = story.session.report("released", source="people", edition="public")
    for each in (found, story.found):
        assert CANARY not in each.to_html() + each.model_dump_json()
    assert (found.before, found.source) == (None, None)
    assert all(each.before is None for each in found.sizes)
    assert all(each.before is None for column in found.columns for each in column.labels)
    assert "may see the source" not in found.to_html()


def counts_are_of_many(found: ReleaseReport, k: int) -> bool:
    """Whether counts by label or by size of classes, and differences of those of a label, are of no 1 to k - 1 rows."""
    labels = [each for column in found.columns for each in column.labels]
    known = [(each.before, each.after) for each in labels if each.before is not None]
    counts = [each.after for each in labels] + [before for before, _ in known]
    counts += [abs(before - after) for before, after in known]
    totals = [(each.before, found.source_rows) for each in found.sizes] + [
        (each.after, found.released_rows) for each in found.sizes
    ]
    counts += [round(share * rows) for share, rows in totals if share is not None and rows is not None]
    return bool(labels) and all(count == 0 or count >= k for count in counts)


def test_differences_of_few_rows_are_not_shown(story: Story) -> None:
    rows = dict(story.ask("SELECT town, count(*) FROM people GROUP BY town"))
    assert counts_are_of_many(story.found, 4)
    town = next(column for column in story.found.columns if column.name == "town")
    assert any(each.before is not None and each.before == rows[each.label] for each in town.labels)


def test_a_sensitive_value_of_few_rows_is_not_shown(session: sa.Session) -> None:
    session.connection.execute(f"UPDATE people SET illness = '{CANARY}' WHERE name IN ('{CANARY}3', '{CANARY}6')")
    session.anonymize("people", policy(**FINE), "released")
    [(rows,)] = session.connection.execute(f"SELECT count(*) FROM released WHERE illness = '{CANARY}'").fetchall()
    assert 0 < rows < 4, "they are released"
    found = session.report("released", policy(**FINE), source="people")
    illness = next(column for column in found.columns if column.name == "illness")
    assert illness.labels
    assert all(each.after >= 4 for each in illness.labels)
    assert CANARY not in found.to_html()


def test_the_page_is_made_of_its_json_alone(story: Story) -> None:
    page = story.found.to_html()
    made_again = ReleaseReport.model_validate_json(story.found.model_dump_json())
    assert made_again == story.found
    assert made_again.to_html() == re.sub("<section><h2>5 rows before.*?</section>", "", page) != page
    assert not re.search(r"<(script|link|img|iframe|object)|@import|url\(|https?:", page)
    for text in ("What is promised", "Who is left out", "taxonomy of age", "How to check this", "k = 4"):
        assert text in page
    for sentence in story.found.promise.claims if story.found.promise else ():
        assert sentence.partition('"')[0] in page


def test_a_release_has_its_promises_and_one_colour_with_and_without_its_source(story: Story) -> None:
    alone = story.session.report("released")
    assert alone.promise is not None
    promised = story.release.guarantee
    assert (alone.promise.claims, alone.promise.not_covered) == (promised.claims, promised.not_covered)
    for found, colours in ((story.found, {"s0", "s1"}), (alone, {"s1"})):
        shown = re.findall(r'<(?:rect|path)[^>]* class="(?:line )?(s\d)"', found.to_html())
        assert set(shown) == colours


def test_what_is_no_release_is_refused(story: Story) -> None:
    story.session.lattice("people", policy(**FINE), into="nodes", replace=True)
    for name in ("people", "nodes"):
        with pytest.raises(sa.EngineError, match="has no provenance of a release"):
            story.session.report(name)


def test_alternatives_need_a_source(story: Story) -> None:
    for given in ({}, {"source": "people", "edition": "public"}):
        with pytest.raises(sa.PolicyError, match="counted on the source"):
            story.session.report("released", policy(**FINE), alternatives=True, **given)


HISTOGRAM = {
    "privacy": [],
    "insensitive": [],
    "identifiers": [],
    "method": sa.Histogram(budget=sa.Budget(50, "0.01"), node={"age": 2, "town": 1}),
    "taxonomies": {"age": TAXONOMIES["age"], "town": {"kind": "flat", "values": ["Bonn", "Ulm", "Jena"]}},
}
KNOWN_TOWNS = f"SELECT age, town, illness FROM people WHERE town NOT LIKE '{CANARY}%'"


def test_a_private_release_is_reported_without_its_source(tmp_path: Path) -> None:
    asked = policy(**HISTOGRAM)
    with people(ledger=tmp_path / "ledger.duckdb") as custodian:
        custodian.anonymize(KNOWN_TOWNS, asked, "released", dataset="people")
        found = custodian.report("released", asked, source=KNOWN_TOWNS)
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


def test_a_release_is_shown_as_its_report(story: Story) -> None:
    assert story.release.to_html() == story.found.to_html()
    assert story.release.report.individuals is None
    assert "average risk" in str(story.release), "of rows, where individuals are not counted"


CLINIC = """
CREATE TABLE clinic AS
SELECT
    i // 2 AS patient,
    20 + (i * 37) % 60 AS age,
    CASE WHEN i % 50 = 7 THEN 'd' ELSE ['f', 'm'][1 + i % 2] END AS sex,
    ['flu', 'gout', 'burn'][1 + (i * i) % 3] AS illness,
    1000 + i AS cost,
    i % 37 AS ward,
    i // 37 AS week,
    20 + (i * 37) % 60 >= 47 AS is_older,
    CASE WHEN i % 50 = 7 THEN 'seldom' ELSE 'common' END AS kind,
    i AS unnamed
FROM range(600) AS _ (i)
"""
TERMS = {"recipient": "the <b>University</b> of Jena", "purpose": "a study of flu", "approved_by": "A. Officer"}


def clinic_policy(**more: Any) -> sa.Policy:
    sexes = {"kind": "flat", "values": ["f", "m", "d", "x"]}
    roles: dict[str, Any] = {
        "quasi_identifiers": ["age", "sex"],
        "sensitive": ["illness"],
        "insensitive": ["cost", "ward", "week", "is_older", "kind"],
        "identifiers": ["patient"],
        "rest": "identifier",
        "privacy": [sa.KAnonymity(4)],
        "taxonomies": {"age": TAXONOMIES["age"], "sex": sexes},
        "minimum_levels": {"age": 1},
        "maximum_levels": {"age": 1, "sex": 0},
        "suppression_limit": 0.05,
        "release": TERMS,
    }
    return sa.Policy(**{**roles, **more})


@dataclass(frozen=True)
class Page:
    found: ReleaseReport
    html: str
    printed: str

    @classmethod
    def of(cls, found: ReleaseReport) -> Self:
        console = Console(width=10_000, file=io.StringIO(), record=True)
        console.print(*rendered(found.document()))
        return cls(found, unescape(found.to_html()), console.export_text())

    def everywhere(self, text: str) -> list[bool]:
        """Whether a text is on the page, on a console, and in JSON."""
        return [text in self.html.replace("<br>", "\n"), text in self.printed, text in self.found.model_dump_json()]


@dataclass(frozen=True)
class Editions:
    """A release of the clinic with both editions of its report."""

    session: sa.Session
    release: sa.Release
    custodian: Page
    public: Page


@pytest.fixture(scope="module")
def clinic() -> Iterator[Editions]:
    with sa.connect(threads=1) as session:
        session.connection.execute(CLINIC)
        release = session.anonymize("clinic", clinic_policy(), "released")
        yield Editions(
            session,
            release,
            Page.of(session.report("released", source="clinic")),
            Page.of(session.report("released", source="clinic", edition="public")),
        )


def test_findings_of_a_run_are_in_the_edition_beside_the_source(clinic: Editions) -> None:
    report = clinic.release.report
    assert report.findings is not None
    of_run = {*report.findings.sentences} - {each.sentence for each in report.findings.finer_nodes}
    for words in ("patient", "nearly unique together", "is_older", "no privacy model protects"):
        assert any(words in sentence for sentence in of_run), words
    assert any("nearly unique" in note for note in report.notes)
    for sentence in (*of_run, *report.notes):
        assert clinic.custodian.everywhere(sentence.replace("\n", "\n"))[0], sentence
        assert sentence.splitlines()[0] in clinic.custodian.printed
    again = clinic.custodian.found.findings
    assert again is not None
    for field in ("repeated_identifiers", "homogeneous_columns", "revealing_columns", "identifying_pairs"):
        assert getattr(again, field) == getattr(report.findings, field), field
    assert again.suppression == report.findings.suppression != ()


def test_a_reader_of_the_release_gets_the_findings_that_it_shows(clinic: Editions) -> None:
    """Which columns are nearly unique anybody can count; dependencies, identifiers and suppression need the source."""
    custodian, public = clinic.custodian.found.findings, clinic.public.found.findings
    assert custodian is not None
    assert public == sa.Findings(
        identifying_pairs=custodian.identifying_pairs,
        unexamined_pairs=custodian.unexamined_pairs,
        unexamined_pairs_listed=custodian.unexamined_pairs_listed,
    )
    assert clinic.public.found.notes == clinic.custodian.found.notes
    assert all(clinic.public.everywhere("nearly unique"))


def test_groups_without_a_row_in_the_release_come_first(clinic: Editions) -> None:
    columns = {each.name: each for each in clinic.custodian.found.columns}
    first = columns["sex"].labels[0]
    assert (first.label, first.before, first.after) == ("d", 12, 0)
    assert [(each.label, each.before) for each in columns["kind"].labels if not each.after] == [("seldom", 12)]
    page = clinic.custodian.html
    sentence = 'all 12 rows of "sex" = d are left out or masked: nobody of this group is in the release'
    assert page.index("Who is left out") < page.index(sentence) < page.index('<th scope="row">f</th>')
    assert sentence in clinic.custodian.printed
    for text in ("left out or masked", '"label":"d"', "seldom"):
        assert not any(clinic.public.everywhere(text)), text
    # The policy is public, and so is what nobody of the release has of it.
    assert {each.name: each.unused_labels for each in clinic.public.found.columns if each.unused_labels} == {
        "age": (0, 12),
        "sex": (2, 4),
    }
    assert "Labels without a row" in clinic.public.html


def test_every_column_of_the_source_has_a_line(clinic: Editions) -> None:
    treatments = {each.name: each.treatment[0] for each in clinic.custodian.found.columns}
    [names] = clinic.session.connection.execute("SELECT list(column_name) FROM (DESCRIBE clinic)").fetchone()
    assert treatments.keys() == {*names}
    assert (treatments["age"], treatments["sex"]) == ("generalized", "released as it is")
    assert (treatments["patient"], treatments["unnamed"], treatments["cost"]) == (
        "dropped",
        "dropped",
        "released as it is",
    )
    assert '<th scope="row">unnamed</th><td>dropped</td>' in clinic.custodian.html
    assert '<th scope="row">all others</th><td>dropped</td>' in clinic.public.html
    assert "unnamed" not in clinic.public.html


def test_rows_before_and_after_are_on_the_page_beside_the_source_alone(
    clinic: Editions, monkeypatch: pytest.MonkeyPatch
) -> None:
    [table] = re.findall("<h2>5 rows before and after.*?<tbody>(.*?)</tbody>", clinic.custodian.html)
    rows = [re.findall("<t[hd][^>]*>(?:<span[^>]*>)?(.*?)(?:</span>)?</t[hd]>", line) for line in table.split("</tr>")]
    lines = [row for row in rows if row]
    assert len(lines) == 10
    fields = "CAST(age AS VARCHAR), CAST(sex AS VARCHAR), illness, cost::VARCHAR, ward::VARCHAR, week::VARCHAR"
    kept = {name: clinic.session.connection.execute(f"SELECT {fields} FROM {name}").fetchall() for name in TABLES}
    for (number, *before), (other, *after) in zip(lines[::2], lines[1::2], strict=True):
        assert (number.split()[0], other.split()[0]) == (other.split()[0], number.split()[0])
        assert (*before[:6],) in kept["clinic"]
        assert (*after[:6],) in kept["released"]
    monkeypatch.setattr(reported_release, "EXAMPLES_AMONG", 2)
    assert clinic.session.report("released", source="clinic").to_html() == clinic.custodian.found.to_html()
    for text in ("before and after", f">{lines[0][4]}<"):
        assert text not in clinic.public.html + clinic.custodian.printed + clinic.custodian.found.model_dump_json()


TABLES = ("clinic", "released")


def test_terms_are_in_both_editions_and_a_place_to_sign_in_one(clinic: Editions) -> None:
    for page in (clinic.custodian, clinic.public):
        for words in TERMS.values():
            assert all(page.everywhere(words)), words
        assert "<b>University" not in page.found.to_html()
        assert page.found.date in page.html
        assert "sqlanon verify released" in page.html
        assert "Words of this page" in page.html
    assert "date and signature" in clinic.custodian.html
    assert "date and signature" not in clinic.public.html
    record = json.loads(clinic.session.provenance("released") or "")["sqlanon"]
    assert record["policy"]["release"] == TERMS
