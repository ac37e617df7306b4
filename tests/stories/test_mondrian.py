"""A release by Mondrian: its labels, record and report, what is refused, and what others make of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa

HOSTILE = 'age "of"; drop table x --'
FLAT = {"kind": "flat"}


def policy_of(**options: Any) -> sa.Policy:
    roles = {"quasi_identifiers": [HOSTILE, "town", "seen"], "sensitive": ["illness"], "privacy": [sa.KAnonymity(4)]}
    towns = {"kind": "groups", "groups": {"north": ["a", "b"], "south": ["c", "d"]}}
    rules = {HOSTILE: FLAT, "town": towns, "seen": FLAT}
    return sa.Policy(**{**roles, "method": sa.Mondrian(), "taxonomies": rules, **options})


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(
            f"""CREATE TABLE people AS SELECT
                CASE WHEN i % 29 <> 0 THEN 17 + i * 7919 % 73 END AS "{HOSTILE.replace('"', '""')}",
                substr('abcd', 1 + i * 31 % 4, 1) AS town,
                DATE '2020-01-01' + CAST(i * 13 % 400 AS INTEGER) AS seen,
                substr('xyz', 1 + i * 17 % 3, 1) AS illness
            FROM range(200) AS _ (i)"""
        )
        yield sa.connect(connection)


@pytest.fixture(scope="module", autouse=True)
def release(session: sa.Session) -> Any:
    return session.anonymize("people", policy_of(), "released")


def test_classes_have_intervals_of_their_own(session: sa.Session, release: Any) -> None:
    labels = session.connection.execute("SELECT * EXCLUDE (illness), count(*) FROM released GROUP BY ALL").fetchall()
    assert len(labels) == release.report.class_count > 20
    assert min(rows for *_, rows in labels) == release.report.min_class_size >= 4
    assert sum(rows for *_, rows in labels) == 200
    assert {town for _, town, _, _ in labels} <= {"a", "b", "c", "d", "north", "south", "*"}
    assert all(seen[:5] in ("[2020", "[2021") or seen[:4] in ("2020", "2021") for _, _, seen, _ in labels)
    assert "*" in {age for age, *_ in labels}  # of a class with NULL beside numbers


def test_report_and_guarantee(session: sa.Session, release: Any) -> None:
    report, guarantee = release.report, release.guarantee
    assert (report.rows.released, report.suppressed_rows, report.quality) == (200, 0, "ncp")
    assert report.ordered == (HOSTILE, "seen")
    assert report.loss == pytest.approx(sum(report.column_losses.values()) / 3)
    assert "every row stands for one row of the source, whose values are under its labels" in guarantee.claims
    assert any("values of single rows" in each for each in guarantee.not_covered)
    shown = session.report("released", policy_of(), source="people").to_html()
    assert "Mondrian" in shown or "mondrian" in shown


def test_verification_compares_classes(session: sa.Session) -> None:
    found = session.verify("released", policy_of())
    assert found.met
    assert not any("not compared" in each for each in found.notes)
    assert json.loads(session.provenance("released") or "")["sqlanon"]["labels"]["ordered"] == [HOSTILE, "seen"]
    session.connection.execute("CREATE TABLE changed AS FROM released")
    session.connection.execute(
        f"COMMENT ON TABLE changed IS '{(session.provenance('released') or '').replace(chr(39), chr(39) * 2)}'"
    )
    session.connection.execute(
        "UPDATE changed SET seen = '[2020-01-01, 2020-01-02]' WHERE seen = (SELECT min(seen) FROM changed)"
    )
    with pytest.raises(sa.VerificationError, match="1 combinations of labels, in 5 rows, are not among the classes"):
        session.verify("changed", policy_of())


def test_files_have_the_same_rows(session: sa.Session, tmp_path: Path) -> None:
    for name in ("out.csv", "out.parquet"):
        session.anonymize("people", policy_of(), tmp_path / name)
        both = session.connection.sql(f"FROM '{tmp_path / name}'"), session.connection.sql("FROM released")
        assert both[0].except_(both[1]).fetchall() == both[1].except_(both[0]).fetchall() == []
        assert session.verify(tmp_path / name, policy_of()).met


def test_models_on_values_hold_in_every_class(session: sa.Session) -> None:
    diverse = policy_of(privacy=[sa.KAnonymity(4), sa.EntropyLDiversity("illness", 2.5), sa.TCloseness("illness", 0.3)])
    report = session.anonymize("people", diverse, "diverse").report
    assert all(each.met for each in report.models)
    assert session.verify("diverse", diverse).met


def test_rows_that_cannot_meet_the_models_are_refused(session: sa.Session) -> None:
    with pytest.raises(sa.UnsatisfiableError, match="all rows together"):
        session.anonymize("people", policy_of(privacy=[sa.KAnonymity(201)]), "never")
    with pytest.raises(sa.TaxonomyError, match="no values"):
        session.anonymize("SELECT * FROM people WHERE false", policy_of(), "never")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"method": sa.Mondrian(ordered=["town"])}, "no medians"),
        ({"method": sa.Mondrian(ordered=["villages"])}, "not a quasi-identifier"),
        ({"quality": sa.DM()}, "takes no quality model"),
        ({"minimum_levels": {"town": 1}}, "takes no minimum_levels"),
        ({"privacy": [sa.KMap(4, population="people")]}, "defined for classes of one node"),
        ({"row_weight": "weight"}, "counts rows"),
        ({"earlier": ["released"]}, "alone are held together"),
        ({"suppression_limit": 0.1}, "suppression_limit"),
    ],
)
def test_refusals(session: sa.Session, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(sa.PolicyError, match=reason):
        session.anonymize("people", policy_of(**options), "never")


def test_a_node_and_a_fit_are_refused(session: sa.Session) -> None:
    with pytest.raises(sa.PolicyError, match="labels of its own"):
        session.anonymize("people", policy_of(), "never", node={HOSTILE: 1, "town": 1, "seen": 1})
    with pytest.raises(sa.PolicyError):
        session.partitions.fit("people", policy_of(), "never.fit")


def test_without_order_labels_are_those_of_taxonomies(session: sa.Session) -> None:
    session.anonymize("people", policy_of(method=sa.Mondrian(ordered=[])), "leveled")
    found = session.connection.sql("SELECT DISTINCT seen FROM leveled").fetchall()
    assert all("[" not in seen for (seen,) in found)


def test_explain_shows_its_statements(session: sa.Session) -> None:
    sql = "\n".join(each.sql for each in session.explain("people", policy_of()))
    assert "anon_median" in sql


def test_sides_are_judged_by_ordered_distances() -> None:
    """Both sides of the only split have one v0 of two, where the table has two of three."""
    with sa.connect(threads=1) as session:
        session.connection.execute(
            "CREATE TABLE people AS "
            "FROM (VALUES (0, 'v0', 0), (0, 'v1', 0), (0, 'v1', 1), (1, 'v0', 1)) AS given (who, s, n)"
        )
        policy = sa.Policy(
            quasi_identifiers=["n"],
            sensitive=["s"],
            individual="who",
            insensitive=["who"],
            privacy=[sa.TCloseness("s", 0.2, "ordered")],
            method=sa.Mondrian(),
            taxonomies={"n": FLAT},
        )
        session.anonymize("people", policy, "split")
        assert session.connection.sql("SELECT n FROM split ORDER BY ALL").fetchall() == [("0",), ("0",), ("1",), ("1",)]
