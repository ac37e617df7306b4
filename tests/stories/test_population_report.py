"""The section *Risk in the population* of reports: a source and its release, measured as samples."""

from collections.abc import Iterator
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.model.release.release_report import ReleaseReport

HOSTILE = 'a"b; drop table x --'
PEOPLE = f"""
CREATE TABLE people AS
SELECT
    i AS name,
    CASE WHEN i % 7 > 0 THEN 20 + i * 37 % 41 END AS "{HOSTILE.replace('"', '""')}",
    CASE WHEN i % 90 = 1 THEN 'ville' || i ELSE ['Bonn', 'Ulm', 'Jena'][1 + i % 3] END AS town,
    10 + i % 5 AS "Weight"
FROM range(400) AS _ (i)
"""
KEYS = [HOSTILE, "town"]
LOCAL = {"method": sa.LocalRecoding(), "individual": "name", "maximum_levels": {}, "suppression_limit": 0.0}


def policy(**more: Any) -> sa.Policy:
    fields: dict[str, Any] = {
        "quasi_identifiers": KEYS,
        "rest": "identifier",
        "row_weight": "weight",
        "privacy": [sa.KAnonymity(4)],
        "taxonomies": {
            HOSTILE: {"kind": "intervals", "widths": [5, 20], "minimum": 20, "maximum": 60},
            "town": {"kind": "flat"},
        },
        "maximum_levels": {HOSTILE: 1, "town": 0},
        "suppression_limit": 0.1,
    }
    return sa.Policy(**{**fields, **more})


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect() as opened:
        opened.connection.execute(PEOPLE)
        yield opened


def reported(session: sa.Session, wanted: sa.Policy, **options: Any) -> ReleaseReport:
    session.anonymize("people", wanted, "released", replace=True)
    return session.report("released", wanted, **options)


def test_both_samples_are_measured_as_session_risk_does(session: sa.Session) -> None:
    found = reported(session, policy(rest=None, identifiers=["name"], insensitive=["Weight"]), source="people")
    risk = found.population_risk
    assert risk is not None
    assert risk.notes == ()
    for each, table in ((risk.before, "people"), (risk.after, "released")):
        assert each is not None
        assert each == session.risk(table, KEYS, weight="Weight", max_size=2)
        assert each.row_count > each.unique_rows >= 0 < (each.expected_low or 0) < (each.expected_high or 0)
    assert found.left_out_rows
    assert risk.before is not None
    assert risk.before.special is not None
    shown = found.to_html()
    for words in ("Risk in the population", "between them in 32 of 33 cases", "What to recode first"):
        assert words in shown
    few = [each.row_count for each in risk.before.special.sizes if 0 < each.row_count < 4]
    assert shown.count(">under 4</td>") >= len(few) > 0
    assert ReleaseReport.model_validate_json(found.model_dump_json()) == found
    public = session.report("released", edition="public", source="people").population_risk
    assert public is not None
    assert (public.before, public.after) == (None, risk.after)


@pytest.mark.parametrize("suppression", ["drop", "mask"])
def test_weights_that_are_not_released_are_those_of_the_source(session: sa.Session, suppression: Any) -> None:
    given = policy(rest=None, identifiers=["name"], insensitive=["Weight"])
    with_weights = reported(session, given, source="people").population_risk
    risk = reported(session, policy(suppression=suppression), source="people").population_risk
    assert risk is not None
    assert with_weights is not None
    assert risk.after is not None
    assert with_weights.after is not None
    for name in ("row_count", "class_count", "population_size", "bands", "expected_low", "expected_high"):
        wanted = getattr(with_weights.after, name)
        assert getattr(risk.after, name) == (pytest.approx(wanted, rel=1e-12) if isinstance(wanted, float) else wanted)
    assert risk.notes == (("after: masked rows are left out",) if suppression == "mask" else ())


def test_what_is_missing_is_a_note(session: sa.Session) -> None:
    alone = reported(session, policy()).population_risk
    assert alone is not None
    assert (alone.before, alone.after) == (None, None)
    assert alone.notes == (
        "after: the release has no weights: report beside the source (source, --source), or release "
        '"weight" among the insensitive columns',
    )
    pages = [session.report("released", edition=edition).to_html() for edition in ("custodian", "public")]
    assert ["Risk in the population" in page for page in pages] == [True, False]
    local = reported(session, policy(**LOCAL), source="people").population_risk
    assert local is not None
    assert local.before is not None
    assert local.notes == (
        'rows are counted, not the individuals of column "name"',
        'after: the release has no weights: release "weight" among the insensitive columns',
    )
    weighted = {"rest": None, "identifiers": ["name"], "insensitive": ["Weight"], "individual": None}
    local = reported(session, policy(**{**LOCAL, **weighted}), source="people").population_risk
    assert local is not None
    assert local.after is not None
    assert "labels of several levels overlap" in local.notes[0]
    assert reported(session, policy(row_weight=None), source="people").population_risk is None


def test_equal_weights_follow_from_a_number_of_people(session: sa.Session) -> None:
    people = [sa.KAnonymity(4), sa.PopulationUniqueness(0.5, 8000)]
    found = reported(session, policy(row_weight=None, privacy=people), source="people")
    risk = found.population_risk
    assert risk is not None
    assert risk.before == session.risk("people", KEYS, population=8000, max_size=2)
    assert risk.after is not None
    assert risk.after.population_size == pytest.approx(8000 / 400 * found.released_rows)
    grown = session.report("released", source="SELECT people.* FROM people, range(21)")
    assert grown.population_risk is not None
    assert grown.population_risk.notes[0].startswith(
        "before: a population of 8,000 has fewer people than the table has"
    )
