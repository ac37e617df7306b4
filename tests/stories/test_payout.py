"""A publisher who weighs detail against attacks: the release that pays best, what it promises, and its report."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlanon as sa

FIGURES = (300, 4, 1200, 3000)
ROLES = {"quasi_identifiers": ["age", "sex"], "insensitive": ["day"], "suppression_limit": 0.3}
POLICY = sa.Policy(**ROLES, privacy=[sa.Profitability(*FIGURES)], quality=sa.PublisherPayout(*FIGURES))


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    """500 people in 60 pairs of an age and a sex: each class of 8 or 9 rows is attacked."""
    with sa.connect() as opened:
        opened.connection.execute(
            "CREATE TABLE people AS "
            "SELECT i * 7 % 60 AS age, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex, i % 5 AS day "
            "FROM range(500) AS numbers (i)"
        )
        ages = [[str(age), f"{age // 10}x", str(age // 30), "*"] for age in range(60)]
        opened.taxonomies.load("age", sa.Taxonomy.from_rows(ages))
        opened.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
        yield opened


def test_the_release_that_pays_best_is_verified_and_says_of_whom_it_speaks(session: sa.Session) -> None:
    release = session.anonymize("people", POLICY, into="paid")
    assert (release.node, release.report.loss) == ({"age": 0, "sex": 0}, 60 * 3000)
    [model] = release.report.models
    assert (model.measure, model.required, model.attained) == ("missing_payout", 1200, 3000 / 8)
    for source in (None, "people"):
        assert session.verify("paid", POLICY, source=source).met
    session.install()
    [(paid,)] = session.connection.execute(
        "SELECT sum(class_size * payout) "
        "FROM anon.publisher_payout('paid', MAP {'age': 0, 'sex': 0}, 300, 4, 1200, 3000)"
    ).fetchall()
    assert paid == pytest.approx(500 * 1200 - 60 * 3000)


def test_the_report_shows_a_payout_as_an_amount(session: sa.Session) -> None:
    session.anonymize("people", POLICY, into="reported")
    page = session.report("reported", POLICY, source="people").to_html()
    assert "180,000" in page
    assert "it is about a rational adversary with these figures" in page


def test_a_release_whose_node_is_not_known_is_not_judged(session: sa.Session) -> None:
    session.connection.execute("CREATE OR REPLACE TABLE found AS SELECT age::VARCHAR AS age, sex, day FROM people")
    with pytest.raises(sa.PolicyError, match="it has no provenance"):
        session.verify("found", POLICY, without_provenance=True)


def test_a_payout_chooses_the_node_of_future_partitions(session: sa.Session, tmp_path: Path) -> None:
    policy = POLICY.changed({"privacy": [sa.NoAttack(300, 40)]})
    fitted = session.partitions.fit("people", policy, tmp_path / "paid.fit", accept_observed_domain=True)
    assert (fitted.loss, fitted.quality) == (60 * 3000, "publisher_payout")
    session.partitions.apply("people", tmp_path / "paid.fit", into=tmp_path / "part.parquet")


def test_no_verdict_without_the_taxonomies_and_none_on_labels_that_were_changed(
    session: sa.Session, tmp_path: Path
) -> None:
    session.anonymize("people", POLICY, into=tmp_path / "paid.parquet")
    with sa.connect() as elsewhere:
        found = elsewhere.verify(tmp_path / "paid.parquet", POLICY)
        assert [(each.attained, each.met) for each in found.measurement.models] == [(None, None)]
        assert "lack labels of it" in " ".join(found.measurement.notes)
        report = elsewhere.report(tmp_path / "paid.parquet", POLICY).to_html()
        assert "verified: what has a verdict was measured again" in report
    session.anonymize("people", POLICY, into="changed")
    session.connection.execute("UPDATE changed SET age = 'Canary' WHERE age = '7'")
    changed = session.verify("changed", POLICY, strict=False)
    assert (changed.met, changed.measurement.models[0].met) == (False, None)
    assert "Canary" not in str(changed)


def test_more_rows_than_people_are_no_sample(session: sa.Session) -> None:
    policy = {"quasi_identifiers": ["age", "sex"], "privacy": [sa.PopulationUniqueness(0.1, population=100)]}
    with pytest.raises(sa.PolicyError, match=r"is of a sample of these people, and the table has 500 rows"):
        session.measure("people", policy)
