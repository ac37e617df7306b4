"""The report of a release of linked tables: what it counts, whom it is for, and what it promises."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

import pytest

import sqlanon as sa
from sqlanon.model.policy.linked_policy import LinkedPolicy
from sqlanon.model.release.linked_report import CUSTODIAN_FIELDS, LinkedRelease
from sqlanon.release.linked_guarantee import linked_guarantee
from sqlanon.report.document import Section
from sqlanon.run.linked import anonymize_linked
from tests.engines import engine_of
from tests.linked_hospital import hospital_policy, make_hospital

POLICY = LinkedPolicy(**hospital_policy(limits={"patients": 0.2, "visits": 0.4}))


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect() as opened:
        make_hospital(opened.connection, 300)
        yield opened


@pytest.fixture(scope="module")
def release(session: sa.Session, tmp_path_factory: pytest.TempPathFactory) -> LinkedRelease:
    engine, into = engine_of(session), tmp_path_factory.mktemp("linked") / "released"
    sources = {name: engine.resolve(name) for name in POLICY.tables}
    return anonymize_linked(engine, sources, POLICY, f"{into}/", replace=False, progress=lambda *_: None)


def test_rows_of_tables_add_up(session: sa.Session, release: LinkedRelease) -> None:
    report = release.report
    for rows in report.tables.values():
        assert rows.source == rows.orphans + rows.cut + rows.suppressed + rows.hidden + rows.released
    [(without,)] = session.connection.execute(
        "SELECT count(*) FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits)"
    ).fetchall()
    assert report.persons_without_rows == without > 0
    assert [each.attained for each in report.models] == [min(report.measured.known[m].k for m in (0, 1))]


def test_intervals_between_dates_single_persons_out(session: sa.Session, release: LinkedRelease) -> None:
    days = defaultdict(list)
    for person, day in session.connection.execute("SELECT patient_id, day FROM visits").fetchall():
        days[person].append(day)
    several = [sorted(some) for some in days.values() if len(some) >= 3]
    gaps = [tuple(later - day for day, later in pairwise(some)) for some in several]
    alone = sum(times == 1 for times in Counter(gaps).values())
    found = release.report.intervals["visits.day"]
    assert (found.persons, found.unique_persons) == (len(several), alone)
    assert any('"visits.day"' in warning for warning in release.report.warnings)


def test_hidden_labels_are_of_k_persons(release: LinkedRelease) -> None:
    """Each column's labels lose no more rows than are hidden, the most frequent ones first."""
    report = release.report
    assert report.hidden and all(name.startswith("visits.") for name in report.hidden)
    for name, labels in report.hidden.items():
        assert report.node[name] < report.heights[name]
        rows = [each.hidden_rows for each in labels]
        assert rows == sorted(rows, reverse=True) and sum(rows) <= report.tables["visits"].hidden
        assert all(POLICY.k <= each.hidden_rows <= each.row_count for each in labels)


def test_sections_for_readers(session: sa.Session, release: LinkedRelease) -> None:
    headings = [each.heading for each in release.report.parts() if isinstance(each, Section)]
    assert headings == ["Tables", "What somebody may know", "What was hidden", "Levels and losses"]
    found = session.report(release.into, POLICY)
    given = found.report.model_dump(mode="json")
    assert not any(given[name] for name in CUSTODIAN_FIELDS - {"into"} & given.keys())
    assert "What was hidden" not in [each.heading for each in found.report.parts() if isinstance(each, Section)]
    page = release.to_html()
    assert "not promised" in page and "up to 1 row of" in page


@pytest.mark.parametrize(
    ("privacy", "named"),
    [
        ([{"model": "known-rows", "k": 5, "m": 1}], "(m = 1)"),
        ([{"model": "known-rows", "k": 5, "m": 2}], "(m = 2)"),
        ([{"model": "k-anonymity", "k": 5}], "(all rows)"),
    ],
)
def test_every_sentence_names_what_is_known(privacy: list[dict[str, object]], named: str) -> None:
    found = linked_guarantee(LinkedPolicy(**hospital_policy(privacy=privacy)))
    sentences = [*found.claims, *found.conditions, *found.not_covered]
    assert all(sentence.endswith(named) for sentence in sentences)
    assert len(found.not_covered) == (8 if "m =" in named else 5)
