"""A release of groups of rows: their means, the report and record, what is refused, and what others make of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests.commands import sqlanon

HOSTILE = 'income "of"; drop table x --'
QUOTED = '"' + HOSTILE.replace('"', '""') + '"'


def policy_of(**options: Any) -> sa.Policy:
    roles = {"quasi_identifiers": [HOSTILE, "rooms"], "sensitive": ["illness"], "identifiers": ["id", "weight"]}
    return sa.Policy(**{**roles, "method": sa.Microaggregation(4), **options})


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(
            f"""CREATE TABLE people AS SELECT
                i AS id,
                CASE WHEN i % 29 <> 0 THEN 1000 + i * 7919 % 733 END AS {QUOTED},
                CAST(i * 31 % 17 AS DECIMAL(4, 1)) AS rooms,
                substr('xyz', 1 + i * 17 % 3, 1) AS illness,
                1 + i % 3 AS weight
            FROM range(200) AS _ (i)"""
        )
        yield sa.connect(connection)


@pytest.fixture(scope="module", autouse=True)
def release(session: sa.Session) -> Any:
    return session.anonymize("people", policy_of(), "released")


def test_groups_have_means_of_their_own(session: sa.Session, release: Any) -> None:
    rows = session.connection.execute("SELECT * EXCLUDE (illness), count(*) FROM released GROUP BY ALL").fetchall()
    assert len(rows) == release.report.class_count > 20
    assert min(count for *_, count in rows) == release.report.min_class_size >= 4
    means = "SELECT avg(rooms), avg({0}), count({0}), max({0}) FROM {1}"
    source, shown = (session.connection.execute(means.format(QUOTED, table)).fetchall()[0] for table in PAIR)
    assert shown[:3] == pytest.approx(source[:3])
    assert shown[3] < source[3]
    described = dict(session.connection.execute("SELECT column_name, column_type FROM (DESCRIBE released)").fetchall())
    assert described == {HOSTILE: "DOUBLE", "rooms": "DOUBLE", "illness": "VARCHAR"}


PAIR = ("people", "released")


def test_report_and_guarantee(session: sa.Session, release: Any) -> None:
    report, guarantee = release.report, release.guarantee
    assert (report.rows.released, report.suppressed_rows, report.quality) == (200, 0, "sse_over_sst")
    assert 0 < report.loss < 0.05 < report.il1s
    assert [*report.column_losses] == [HOSTILE, "rooms"]
    assert any("4 rows of the source or more have the same values" in each for each in guarantee.claims)
    assert any("the mean of equal values is the value" in each for each in guarantee.not_covered)
    assert any("can work out the last one" in each for each in guarantee.not_covered)
    page = session.report("released", policy_of(), source="people").to_html()
    assert "microaggregation" in page
    assert "IL1s" in page


def test_verification_measures_k(session: sa.Session) -> None:
    assert session.verify("released", policy_of(), source="people").met
    assert not any("taxonomies" in each for each in session.verify("released", policy_of()).notes)
    record = json.loads(session.provenance("released") or "")["sqlanon"]
    assert record["report"]["loss"] == pytest.approx(record["report"]["losses"]["sse_over_sst"])
    session.connection.execute("CREATE TABLE changed AS FROM released")
    session.connection.execute(
        "UPDATE changed SET rooms = -1 WHERE rowid = (SELECT min(rowid) FROM changed WHERE rooms > 2)"
    )
    with pytest.raises(sa.VerificationError, match="attained 1"):
        session.verify("changed", policy_of(), without_provenance=True)


def test_the_command_publishes_files(session: sa.Session, tmp_path: Path) -> None:
    session.connection.execute(f"COPY (SELECT * EXCLUDE (weight) FROM people) TO '{tmp_path}/people.csv'")
    (tmp_path / "policy.toml").write_text(
        f"quasi_identifiers = [{json.dumps(HOSTILE)}, 'rooms']\nsensitive = ['illness']\nidentifiers = ['id']\n"
        "method = { model = 'microaggregation', k = 4 }\n"
    )
    made = sqlanon("run", "people.csv", "--policy", "policy.toml", "--into", "o.csv", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    found = session.connection.sql(f"FROM '{tmp_path}/o.csv'")
    both = found.fetchall(), session.connection.sql("FROM released").fetchall()
    assert sorted(map(repr, both[0])) == sorted(map(repr, both[1]))


def test_models_on_values_hold_in_every_group_or_nothing_is_published(session: sa.Session) -> None:
    diverse = [sa.KAnonymity(7), sa.DistinctLDiversity("illness", 2)]
    report = session.anonymize("people", policy_of(method=sa.Microaggregation(7), privacy=diverse), "diverse").report
    assert all(each.met for each in report.models)
    strict = [sa.KAnonymity(4), sa.DistinctLDiversity("illness", 3)]
    with pytest.raises(sa.UnsatisfiableError, match=r"do not meet .*\n.*distinct l-diversity"):
        session.anonymize("people", policy_of(privacy=strict), "never")
    assert not session.connection.execute("FROM duckdb_tables() WHERE table_name = 'never'").fetchall()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"method": {"model": "microaggregation", "k": 1}}, "greater than or equal to 2"),
        ({"method": {"model": "microaggregation", "k": 10**6}}, "less than 1000000"),
        ({"privacy": [sa.KAnonymity(5)]}, r"must list k-anonymity \(k = 4\)"),
        ({"privacy": [sa.KAnonymity(4), sa.KMap(4, population="people")]}, "groups are judged by their rows"),
        ({"quality": sa.DM()}, "takes no quality model"),
        ({"minimum_levels": {"rooms": 1}}, "takes no minimum_levels"),
        ({"individual": "id"}, "counts rows, not the individuals"),
        ({"row_weight": "weight", "method": sa.Microaggregation(4, value="mode")}, "weighs means alone"),
        ({"earlier": ["released"]}, "alone are held together"),
        ({"method": sa.Microaggregation(201)}, r"k = 200 is the largest that would do"),
        ({"method": sa.Microaggregation(40)}, r"7 of 200 rows have NULL in the same columns as fewer than 40 rows"),
    ],
)
def test_refusals(session: sa.Session, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(sa.PolicyError if "method" not in options else sa.SqlanonError, match=reason):
        session.anonymize("people", policy_of(**options), "never")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("FROM people WHERE false", "has no rows"),
        ("FROM people LIMIT 1", "can have 4 rows"),
        ("SELECT * REPLACE ([3] AS rooms) FROM people", r'"rooms" is INTEGER\[\], neither a number nor a text'),
        ("SELECT * REPLACE (3 AS rooms, NULL AS {0}) FROM people", "not a number|no quasi-identifier varies"),
        ("SELECT * REPLACE (3 AS rooms, 4 AS {0}) FROM people", "no quasi-identifier varies"),
        ("SELECT * REPLACE (CAST('nan' AS DOUBLE) AS rooms) FROM people", '"rooms": 200 rows with NaN'),
        (
            "SELECT * REPLACE (CASE id WHEN 1 THEN CAST('inf' AS DOUBLE) END AS rooms) FROM people",
            '"rooms": 1 row with',
        ),
        ("SELECT * REPLACE (weight - 1 AS weight) FROM people", '"weight": 67 rows with NULL, or not between 1e-12'),
        ("SELECT * REPLACE (weight * 1e-40 AS weight) FROM people", '"weight": 200 rows with NULL, or not between'),
    ],
)
def test_rows_that_cannot_be_grouped(session: sa.Session, source: str, reason: str) -> None:
    with pytest.raises(sa.SqlanonError, match=reason):
        session.anonymize(source.format(QUOTED), policy_of(row_weight="weight"), "never")


def test_rows_of_rare_patterns_are_left_out_within_the_limit(session: sa.Session) -> None:
    policy = policy_of(method=sa.Microaggregation(40, suppression_limit=0.05))
    rows = session.anonymize("people", policy, "fewer").report.rows
    assert rows is not None
    assert (rows.source, rows.released, rows.dropped) == (200, 193, 7)


def test_a_stopped_run_has_groups_of_all_rows(session: sa.Session) -> None:
    report = session.anonymize("people", policy_of(), "hasty", stop=lambda: True).report
    assert (report.min_class_size or 0) >= 4
    assert any("stopped" in each for each in report.notes)


def test_texts_booleans_and_dates_are_categories(session: sa.Session) -> None:
    source = """SELECT rooms, illness, illness = 'x' AS is_x, DATE '2020-01-01' + CAST(id % 5 AS INTEGER) AS day,
        CAST(id % 2 AS VARCHAR) AS sex FROM people"""
    names = ["rooms", "illness", "is_x", "day"]
    policy = sa.Policy(quasi_identifiers=names, insensitive=["sex"], method=sa.Microaggregation(4))
    release = session.anonymize(source, policy, "mixed")
    described = dict(session.connection.execute("SELECT column_name, column_type FROM (DESCRIBE mixed)").fetchall())
    assert [described[name] for name in names] == ["DOUBLE", "VARCHAR", "BOOLEAN", "DATE"]
    groups = session.connection.execute(f"SELECT count(*) FROM mixed GROUP BY {', '.join(names)}").fetchall()
    assert min(groups)[0] == release.report.min_class_size >= 4
    assert 0 < release.report.column_losses["day"][0] == release.report.column_losses["day"][1] < 1
    assert any("the mean or mode of their group" in each for each in release.guarantee.claims)
    assert session.verify("mixed", policy, source=source).met


def test_texts_that_are_numbers_are_named(session: sa.Session) -> None:
    source = "SELECT rooms, illness, CAST(id % 3 AS VARCHAR) AS code FROM people"
    policy = sa.Policy(quasi_identifiers=["rooms", "illness", "code"], method=sa.Microaggregation(4))
    notes = session.anonymize(source, policy, "coded").report.notes
    assert [each.partition(",")[0] for each in notes if "category" in each] == ['"code" is compared as a category']


def test_pseudonyms_stand_beside_groups(session: sa.Session, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("0123456789abcdef" * 4)
    (tmp_path / "key").chmod(0o600)
    policy = policy_of(pseudonyms=["id"], identifiers=["weight"])
    session.anonymize("people", policy, "linked", pseudonym_key=tmp_path / "key")
    assert session.connection.execute("SELECT count(DISTINCT id) FROM linked").fetchall() == [(200,)]


def test_a_node_is_refused_and_statements_are_explained(session: sa.Session) -> None:
    with pytest.raises(sa.PolicyError, match="values of its own"):
        session.anonymize("people", policy_of(), "never", node={"rooms": 1})
    sql = "\n".join(each.sql for each in session.explain("people", policy_of()))
    assert "USING KEY" in sql
