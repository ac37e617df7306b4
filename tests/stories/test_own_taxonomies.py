"""Taxonomies that a policy carries: one file and one command make a release."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests.commands import document, sqlanon

PEOPLE = """
    SELECT 20 + i % 40 AS age, lpad(CAST(10100 + i % 7 AS VARCHAR), 5, '0') AS zip, if(i % 2 = 0, 'f', 'm') AS sex,
        DATE '2025-01-01' + CAST(i AS INTEGER) AS day, 'flu ' || i % 3 AS illness
    FROM range(120) AS rows (i)
"""
RULES: dict[str, Any] = {
    "age": {"kind": "intervals", "widths": [10, 20], "minimum": 0, "maximum": 99},
    "zip": "zip",
    "sex": {"kind": "flat", "values": ["f", "m"]},
    "day": {"kind": "dates", "units": ["month", "year"]},
}
TAXONOMIES = {
    "age": sa.Taxonomy.intervals([10, 20], minimum=0, maximum=99),
    "zip": sa.Taxonomy.zip_codes(),
    "sex": sa.Taxonomy.flat(["f", "m"]),
    "day": sa.Taxonomy.dates(["month", "year"]),
}
TOML = """
quasi_identifiers = ["age", "zip", "sex", "day"]
sensitive = ["illness"]

[[privacy]]
model = "k-anonymity"
k = 4

[taxonomies]
age = { kind = "intervals", widths = [10, 20], minimum = 0, maximum = 99 }
zip = "zip"
sex = "taxonomies/sex.csv"
day = { kind = "dates", units = ["month", "year"] }
"""


def policy(taxonomies: dict[str, Any] | None = None, **options: Any) -> sa.Policy:
    asked = {"quasi_identifiers": ["age", "zip", "sex", "day"], "sensitive": ["illness"], "earlier": "none", **options}
    return sa.Policy(**{"privacy": [sa.KAnonymity(4)], **asked}, taxonomies=taxonomies)


@pytest.fixture
def session() -> Iterator[sa.Session]:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"CREATE TABLE people AS {PEOPLE}")
        yield sa.connect(connection)


def stored(session: sa.Session) -> list[Any]:
    names = "SELECT database_name, schema_name, table_name FROM duckdb_tables()"
    tables = f"{names} WHERE schema_name <> 'anon' OR table_name <> 'releases' ORDER BY ALL"
    databases = "SELECT database_name FROM duckdb_databases() ORDER BY ALL"
    return [session.connection.execute(query).fetchall() for query in (tables, databases)]


def rows(session: sa.Session, source: str) -> list[Any]:
    return session.connection.execute(f"FROM {source} ORDER BY ALL").fetchall()


def test_a_release_is_that_of_stored_taxonomies(session: sa.Session, tmp_path: Path) -> None:
    before = stored(session)
    carried = session.anonymize("people", policy(RULES), tmp_path / "carried.parquet")
    lattice = session.lattice("people", policy(RULES))
    assert lattice.equals(session.lattice("people", policy(dict(TAXONOMIES)))), "a rule is given or written"
    assert [step.purpose for step in session.explain("people", policy(RULES))]
    assert stored(session) == before, "nothing is stored"
    for name, taxonomy in TAXONOMIES.items():
        session.taxonomies.load(name, taxonomy, source="people")
    loaded = session.anonymize("people", policy(), tmp_path / "loaded.parquet")
    assert carried.node == loaded.node
    assert rows(session, f"'{tmp_path}/carried.parquet'") == rows(session, f"'{tmp_path}/loaded.parquet'")
    assert lattice.equals(session.lattice("people", policy()))
    assert carried.report.domains == {"age": "declared", "zip": "observed", "sex": "declared", "day": "observed"}
    assert session.verify(tmp_path / "carried.parquet", policy(RULES)).met


def test_those_that_are_not_carried_are_the_stored_ones(session: sa.Session) -> None:
    some = {name: RULES[name] for name in ("age", "day")}
    with pytest.raises(sa.TaxonomyError, match='"zip"'):
        session.anonymize("people", policy(some), "published")
    for name in ("zip", "sex"):
        session.taxonomies.load(name, TAXONOMIES[name], source="people")
    assert session.anonymize("people", policy(some), "published").report.domains["zip"] == "observed"
    assert set(session.taxonomies.list()) == {"zip", "sex", "age", "day"}  # what the policy carried stays


def test_another_one_that_is_stored_is_told(session: sa.Session) -> None:
    session.taxonomies.load("age", TAXONOMIES["age"])
    session.anonymize("people", policy(RULES), "published")
    session.taxonomies.load("age", sa.Taxonomy.intervals([5], minimum=0, maximum=99))
    before = stored(session)
    with pytest.raises(sa.TaxonomyError) as refused:
        session.anonymize("people", policy(RULES), "other")
    assert refused.value.problems == ('taxonomies."age"',)
    assert stored(session) == before


def test_all_problems_come_at_once(session: sa.Session, tmp_path: Path) -> None:
    with pytest.raises(sa.PolicyError) as refused:
        policy({"age": {"kind": "intervals", "widths": [5, 7]}, "zip": "zipp.csv", "sxe": "flat", "day": {"kind": "d"}})
    assert refused.value.problems == (
        "taxonomies.age: width 7 is not a multiple of 5, so the levels do not nest",
        'taxonomies.day: unknown kind "d" (one of intervals, cuts, dates, prefixes, ipv4, zip, icd9, icd10, flat, '
        "groups, columns, rows, file)",
    )
    with pytest.raises(sa.PolicyError, match='"sxe" is neither a quasi-identifier'):
        policy({"sxe": "flat"})
    (tmp_path / "ragged.csv").write_text("f;*\nm;a;*\n")
    before = stored(session)
    with pytest.raises(sa.TaxonomyError) as unread:
        session.anonymize("people", policy({**RULES, "zip": "no.csv", "sex": f"{tmp_path}/ragged.csv"}), "published")
    assert [problem.partition(":")[0] for problem in unread.value.problems] == ['taxonomies."zip"', 'taxonomies."sex"']
    with pytest.raises(sa.TaxonomyError, match=r'"age": 20 distinct values in 60 rows'):
        session.anonymize("people", policy({**RULES, "age": {**RULES["age"], "maximum": 39}}), "published")
    assert stored(session) == before


def test_a_policy_without_any_has_the_hash_that_it_had(tmp_path: Path) -> None:
    bare = sa.Policy(quasi_identifiers=["age"], privacy=[sa.KAnonymity(2)])
    assert bare.sha256() == "a515ea781e515a29a0b8be3331df6828f28c696395e930f4ec9af9f2f5dc9c2b"
    (tmp_path / "policy.toml").write_text(TOML)
    assert sa.Policy.from_toml(tmp_path / "policy.toml").sha256() != policy().sha256()


def test_labels_that_would_be_released_are_refused() -> None:
    for role in ("sensitive", "insensitive"):
        roles = {"quasi_identifiers": ["city"], "sensitive": [], role: ["State", "county"]}
        with pytest.raises(sa.PolicyError) as refused:
            policy({"city": {"kind": "columns", "columns": ["county", "state"]}}, **roles)
        assert [problem.partition(" has")[0] for problem in refused.value.problems] == [
            'taxonomies: "county"',
            'taxonomies: "state"',
        ]
    dropped = {"quasi_identifiers": ["city", "county"], "sensitive": [], "identifiers": ["state"]}
    policy({"city": {"kind": "columns", "columns": ["county", "state"]}}, **dropped)


def test_one_file_and_one_command(tmp_path: Path) -> None:
    """Files are found from wherever the command is called; nobody learns where they lie."""
    private = tmp_path / "private"
    (private / "taxonomies").mkdir(parents=True)
    (private / "taxonomies" / "sex.csv").write_text("f;*\nm;*\n")
    (private / "policy.toml").write_text(TOML)
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({PEOPLE}) TO '{tmp_path}/people.parquet'")
    command = ["run", "people.parquet", "--policy", f"{private}/policy.toml", "--into", "k4.parquet", "--json"]
    run = sqlanon(*command, folder=tmp_path)
    assert run.returncode == 0, run.stderr
    again = sqlanon(*command, folder=tmp_path)
    assert document(again)["unchanged"] is True
    assert sqlanon("verify", "k4.parquet", "--policy", "private/policy.toml", folder=tmp_path).returncode == 0
    with sa.connect() as session:
        note = session.provenance(tmp_path / "k4.parquet")
    assert note is not None
    assert "taxonomies/sex.csv" in note
    assert "private" not in note
    both = sqlanon(*command, "--taxonomy", "sex=private/taxonomies/sex.csv", folder=tmp_path)
    assert both.returncode == 2
    assert 'the policy carries the taxonomy of "sex" itself' in both.stderr
    schema = document(sqlanon("schema", folder=tmp_path))
    assert "taxonomies" in schema["properties"]
