"""Relocation: one release of ten ages and both sexes, and what its rows, report and record say."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests.commands import sqlanon
from tests.conftest import open_clinic


def session_of_people() -> sa.Session:
    """Ten ages of both sexes; of the age of 0 there is one man, and of the age of 9 one woman."""
    session = sa.connect(duckdb.connect(config={"threads": 1}))
    session.connection.execute(
        "CREATE TABLE people AS SELECT 1 + i // 10 AS age, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex, "
        "'d' || (i % 5) AS disease, i AS number FROM range(80) AS numbers (i)"
    )
    session.connection.execute("INSERT INTO people VALUES (0, 'm', 'rare', 100), (9, 'f', NULL, 101)")
    session.taxonomies.load("age", sa.Taxonomy.intervals([5], minimum=0, maximum=9))
    session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
    return session


def people_policy(**settings: Any) -> sa.Policy:
    method = sa.Relocation(**{"k": 4, "limit": 0.05, **settings})
    return sa.Policy(quasi_identifiers=["age", "sex"], sensitive=["disease"], insensitive=["number"], method=method)


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with session_of_people() as session:
        yield session


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("released") / "released.csv"


@pytest.fixture(scope="module")
def release(session: sa.Session, file: Path) -> Any:
    return session.anonymize("people", people_policy(), file)


def moved_rows(session: sa.Session, source: str) -> list[tuple[Any, ...]]:
    """What is shown of the man and the woman."""
    session.anonymize(source, people_policy(), "other", replace=True)
    return session.connection.sql("SELECT age, sex, disease FROM other WHERE number >= 100").fetchall()


def test_report_and_guarantee(release: Any) -> None:
    report = release.report
    assert release.node == {"age": 0, "sex": 0}
    assert (report.relocated_rows, report.relocated_classes) == (2, 2)
    # To another age below the same label of five, at (5 - 1) / (10 - 1) of age and nothing of sex.
    assert report.mean_distance == pytest.approx(4 / 9 / 2)
    assert report.losses["lm"] == 0
    assert report.loss == pytest.approx(2 / 82)
    assert report.rows_in_words == (
        "82 rows, 2 of them untruthful (2.4 %; the limit is 5 %): they are shown in other classes, at a mean distance "
        "of 0.222."
    )
    report_as_json = release.model_dump(mode="json")["report"]
    assert (report_as_json["relocated_rows"], report_as_json["untruthful_share"]) == (2, 2 / 82)
    assert "mean distance" in report._repr_html_()
    assert any("do not see that" in note for note in report.notes)
    assert "2 rows (2.4 %) have quasi-identifiers of other rows" in release.guarantee.not_covered[0]
    assert 'its values of "disease", "number" are true' in release.guarantee.claims[-1]


@pytest.mark.usefixtures("release")
def test_what_travels_with_it(session: sa.Session, file: Path) -> None:
    """How many rows are not true, without how far they are from where they belong."""
    facts = json.loads(session.provenance(file) or "")["sqlanon"]
    assert facts["rows"] == {"source": 82, "released": 82, "masked": 0, "dropped": 0, "unknown": 0}
    assert (facts["report"]["relocated_rows"], facts["report"]["untruthful_share"]) == (2, 2 / 82)
    assert not {"mean_distance", "relocated_classes", "source", "into"} & set(facts["report"])
    assert session.verify(file, people_policy()).met


def test_rows_go_to_the_nearest_class(session: sa.Session) -> None:
    """Of equally near classes to the largest, and of equally large ones to the first by its key."""
    moved = moved_rows(session, "FROM people ORDER BY hash(number)")
    assert moved == [("1", "m", "rare"), ("5", "f", None)]
    rows = session.connection.table("other").fetchall()
    assert moved_rows(session, "FROM people ORDER BY number DESC") == moved
    assert session.connection.table("other").fetchall() == rows
    assert moved_rows(session, "FROM people UNION ALL SELECT 3, 'm', 'x', 90")[0] == ("3", "m", "rare")


def test_a_node_without_outliers_is_that_of_k_anonymity(session: sa.Session) -> None:
    release = session.anonymize("people", people_policy(limit=0), "other", replace=True)
    assert (release.report.relocated_rows, release.report.mean_distance) == (0, None)
    assert not any("do not see that" in note for note in release.report.notes)
    assert "not truthful" not in " ".join(release.guarantee.not_covered)
    plain = people_policy().model_copy(update={"method": sa.FullDomain(), "privacy": (sa.KAnonymity(4),)})
    session.anonymize("people", plain, "plain")
    assert session.connection.table("other").fetchall() == session.connection.table("plain").fetchall()


def test_a_heuristic_search_and_its_lattice(session: sa.Session) -> None:
    policy = people_policy().model_copy(update={"search": "datafly"})
    assert session.anonymize("people", policy, "other", replace=True).report.rows.released == 82
    nodes = session.lattice("people", people_policy())
    found = session.connection.sql("SELECT count(*) FROM nodes WHERE satisfies").fetchall()
    assert nodes.num_rows == 6
    assert found == [(6,)]


def test_a_run_of_the_command(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        open_clinic(connection)
    (tmp_path / "policy.toml").write_text(
        'quasi_identifiers = ["age", "sex", "zip"]\nsensitive = ["diagnosis"]\nidentifiers = ["id"]\n'
        'method = { model = "relocation", k = 2, limit = 0.5 }\n'
    )
    options = ("--db", "clinic.duckdb", "--policy", "policy.toml", "--into", "moved.parquet")
    done = sqlanon("run", "visits", *options, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "12 rows, 4 of them untruthful (33.3 %; the limit is 50 %)" in said
    assert "the release is not truthful" in said
