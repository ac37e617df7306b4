"""Reports of releases: nothing shows what the release does not. Their figures have a property."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
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
    assert ReleaseReport.model_validate_json(story.found.model_dump_json()).to_html() == page
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
    with pytest.raises(sa.PolicyError, match="is not the release that") as refused:
        session.report("released")
    assert refused.value.problems[:-1] == (f'column "{chosen.sensitive[0]}" is not there',)


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


def test_the_recorded_policy_is_reported_on(session: sa.Session) -> None:
    stricter = policy(privacy=[sa.KAnonymity(9)], **FINE)
    session.anonymize("people", stricter, "released")
    found = session.report("released", policy(**FINE), source="people")
    assert found.k == 9
    assert [each.required for each in found.verification.measurement.models] == [9]
    assert found.verification.notes == ()
