"""Taxonomies in files: large ones are read in batches, what is none is refused, and those that a policy carries."""

import hashlib
import json
import os
import tracemalloc
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from sqlanon.binding import loading
from sqlanon.model.taxonomy import hierarchies
from tests.stories import test_own_taxonomies
from tests.stories.test_own_taxonomies import PEOPLE, RULES, policy, rows


def test_python_never_holds_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_text("".join(f"{code:06};group {code // 100};*\n" for code in range(20_000)))
    monkeypatch.setattr(loading, "MAX_STAGED_ROWS", 500)
    tracemalloc.start()
    try:
        taxonomy = sa.Taxonomy.from_csv(path)
        batches = loading.staged_batches([loading.TaxonomyLoad("a", taxonomy, None, "a")])
        staged = sum(len(labels) for _, _, (labels, *_) in batches)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert staged == 20_000
    assert peak < 4 * path.stat().st_size


def test_batches_are_stored_and_checked_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "MAX_STAGED_ROWS", 2)
    path = tmp_path / "a.csv"
    path.write_text('\ufeffx;X;*\n\n;missing;*\n\'y;Y;*\r\n"z;\n";Z;*\n', encoding="utf-8")
    rows = [("x", "X", "*"), (None, "missing", "*"), ("'y", "Y", "*"), ("z;\n", "Z", "*")]
    pairs = [("1", "*"), ("2", "*"), ("3", "*")]
    with sa.connect() as session:
        session.taxonomies.load_all({"a": path, "b": sa.Taxonomy.from_rows(pairs)})
        rows_of = "SELECT attribute, level, value, label FROM anon.taxonomy"
        stored = session.connection.execute(rows_of).fetchall()
        expected = [("a", level, row[0], label) for row in rows for level, label in enumerate(row)]
        expected += [("b", level, row[0], label) for row in pairs for level, label in enumerate(row)]
        assert sorted(stored, key=str) == sorted(expected, key=str)
        path.write_text("x;X;*\ny;X;*\nz;Z;*\nx;Z;*\n")  # the same value in two batches
        with pytest.raises(sa.TaxonomyError) as caught:
            session.taxonomies.load("a", path)
        assert '"a" level 1: several labels (1), line 4' in caught.value.problems
        assert (
            session.connection.execute("SELECT attribute, level, value, label FROM anon.taxonomy").fetchall() == stored
        )


def test_files_wait_to_be_stored_together(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("x" + ";*" * 300 + "\n")
    (tmp_path / "wrong.csv").write_text("m;x;*\nf;;*\n")
    for name in "abc":
        (tmp_path / f"{name}.csv").write_text(f"{name};*\n")
    values = "SELECT attribute, value FROM anon.taxonomy WHERE level = 0 ORDER BY ALL"
    with sa.connect() as session:
        for name in "ab":
            session.taxonomies.load(name, tmp_path / f"{name}.csv")
        session.taxonomies.load("A", tmp_path / "c.csv")  # the same name to the warehouse
        for name, problem in (("wide", "not a whole number from 0 to 255"), ("wrong", "empty label")):
            with pytest.raises(sa.TaxonomyError, match=problem):
                session.taxonomies.load("a", tmp_path / f"{name}.csv")
        session.taxonomies.load("c", tmp_path / "c.csv")
        connection = session.connection
        assert connection.execute(values).fetchall() == [("A", "c"), ("b", "b"), ("c", "c")]
        session.taxonomies.load("b", tmp_path / "a.csv")  # which the connection shows at once
        assert connection.execute(values).fetchall() == [("A", "c"), ("b", "a"), ("c", "c")]
        assert [*session.taxonomies.list()] == ["A", "b", "c"]
    for database in (tmp_path / "w.duckdb", connection := duckdb.connect()):
        session = sa.connect(database)
        reader = connection if database is connection else session.connection
        session.taxonomies.load("a", tmp_path / "a.csv")
        assert reader.execute(values).fetchall() == [("a", "a")]
        session.close()


def test_devices_and_pipes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(sa.TaxonomyError, match=f"{path} is not a file, but a device or a pipe"):
            sa.Taxonomy.from_csv(path)


def test_files_that_are_too_large(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with path.open("wb") as file:
        file.truncate(hierarchies.MAX_FILE_MB * 1_000_000 + 1)  # a sparse file
    with pytest.raises(sa.TaxonomyError, match=r"is larger than 1,000 MB"):
        sa.Taxonomy.from_csv(path)


def test_equal_lines_are_one(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("m;*\nf;*\nf;*\n")
    with sa.connect() as session:
        session.taxonomies.load("a", path)
        assert session.connection.execute("SELECT count(*) FROM anon.taxonomy").fetchone() == (4,)
        session.taxonomies.load("b", sa.Taxonomy.from_rows([("m", "*"), ("m", "*")]))
        assert session.connection.execute("SELECT count(*) FROM anon.taxonomy").fetchone() == (6,)


def test_problems_name_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('m;x;*\nf;y;*\nf;z;*\nd;;*\n"a\nb";x;*\nq;x;+\n' + "f;x;*\n" * 6)
    with sa.connect() as session, pytest.raises(sa.TaxonomyError) as caught:
        session.taxonomies.load("a", path)
    assert {*caught.value.problems} == {
        '"a" level 1: several labels (1), lines 3, 8, 9, 10, 11 …',
        '"a" level 1: empty label (1), line 4',
        '"a" level 1: not nested (1), line 7',
        '"a" level 2: several top labels (2), line 7',
    }
    path.write_text("m;x;*\nf;x;*\n\nd;*\n")
    with pytest.raises(sa.TaxonomyError, match="by ';' line 4 has 2 where the first line has 3"):
        sa.Taxonomy.from_csv(path)


def test_binary_data(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"PK\0\1;x\nb;x\n")
    with pytest.raises(sa.TaxonomyError, match="is not text: it has NUL characters"):
        sa.Taxonomy.from_csv(path)


session = test_own_taxonomies.session


@pytest.mark.parametrize(
    ("into", "spelled"),
    [
        pytest.param("released", "{folder}/everyone.parquet", marks=pytest.mark.deep),
        ("released/", "FROM '{folder}/everyone.parquet'"),
    ],
)
def test_a_release_does_not_tell_where_files_lie(
    session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, into: str, spelled: str
) -> None:
    """Their names and what is in them do: a release goes to others, and the machine is the custodian's."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "very-private"
    folder.mkdir()
    (folder / "sex.csv").write_text("f;*\nm;*\n")
    session.connection.execute(f"COPY people TO '{folder}/everyone.parquet'")
    models = [sa.KAnonymity(4), sa.KMap(4, spelled.format(folder=folder))]
    wanted = policy({**RULES, "sex": str(folder / "sex.csv")}, privacy=models)
    session.anonymize(folder / "everyone.parquet" if "/" in into else "people", wanted, into)
    note = session.provenance(into) or ""
    written = (tmp_path / into / "_sqlanon.json").read_text() if "/" in into else note
    assert "very-private" not in written
    assert str(tmp_path) not in written
    facts = json.loads(note)["sqlanon"]
    names = ["sex.csv", "everyone.parquet"]
    assert facts["policy_files"] == [
        {"name": name, "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest()} for name in names
    ]
    assert facts["policy"]["taxonomies"]["sex"]["file"] == "sex.csv"
    assert facts["policy"]["privacy"][1]["population"] in ("everyone.parquet", "FROM 'everyone.parquet'")
    assert session.verify(into, wanted, source="people").met


BY_AGE = {"quasi_identifiers": ["age"], "identifiers": ["zip", "sex", "day"]}


def test_two_sessions_on_one_database_at_once(session: sa.Session, tmp_path: Path) -> None:
    """Each has its taxonomies in a database of its own, and they see those of each other."""
    wanted = policy({"age": RULES["age"]}, **BY_AGE)
    other = sa.connect(session.connection.cursor())
    nested: list[sa.Release] = []

    def publish(event: sa.Event) -> None:
        if (event.stage, event.state) == ("search", "started"):
            nested.append(other.anonymize("people", policy({"age": "flat"}, **BY_AGE), tmp_path / "second.parquet"))

    before = session.connection.execute("SELECT database_name FROM duckdb_databases() ORDER BY ALL").fetchall()
    first = session.anonymize("people", wanted, tmp_path / "first.parquet", progress=publish)
    assert (first.report.heights["age"], nested[0].report.heights["age"]) == (3, 1)
    assert session.verify(tmp_path / "first.parquet", wanted, source="people").met
    assert session.connection.execute("SELECT database_name FROM duckdb_databases() ORDER BY ALL").fetchall() == before


NESTED = """
quasi_identifiers = ["age", "city", "day", "sex", "zip"]
rest = "identifier"

[[privacy]]
model = "k-anonymity"
k = 4

[taxonomies]
age = { kind = "cuts", breaks = [[30, 40.5, 50], [40.5]], minimum = 0, maximum = 99 }
day = { kind = "dates", units = ["week", "isoyear"], first = 2024-01-01, last = 2026-12-31 }

[taxonomies.sex]
kind = "groups"
groups = { "?" = ["f", "m"] }

[taxonomies.city]
kind = "groups"

[taxonomies.city.groups]
West = { Rhine = ["Bonn", "Köln"], Moselle = ["Trier"] }
East = { Elbe = ["Dresden"] }

[taxonomies.zip]
kind = "columns"
columns = ["area"]
"""


def test_breaks_groups_weeks_and_columns_in_a_file(session: sa.Session, tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(NESTED)
    asked = sa.Policy.from_toml(tmp_path / "policy.toml")
    assert sa.Policy.model_validate_json(asked.model_dump_json()) == asked
    session.connection.execute(
        "CREATE TABLE travellers AS SELECT *, ['Bonn', 'Köln', 'Trier', 'Dresden'][1 + age % 4] AS city, "
        "left(zip, 4) AS area FROM people"
    )
    node = {"age": 1, "city": 2, "day": 2, "sex": 0, "zip": 1}
    published = session.anonymize("travellers", asked, tmp_path / "k4.parquet", node=node)
    declared = dict.fromkeys(["age", "city", "day", "sex"], "declared")
    assert published.report.domains == {**declared, "zip": "observed"}
    columns = ", ".join(f"list_sort(list(DISTINCT {name}))" for name in ("age", "city", "day", "zip"))
    assert rows(session, f"(SELECT {columns} FROM '{tmp_path}/k4.parquet')") == [
        (["< 30", ">= 50", "[30, 40.5)", "[40.5, 50)"], ["East", "West"], ["ISO 2025"], ["1010"])
    ]
    assert session.verify(tmp_path / "k4.parquet", asked, source="travellers").met


def test_a_warehouse_that_can_only_be_read(tmp_path: Path) -> None:
    wanted = policy({"age": RULES["age"]}, **BY_AGE)
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute(f"CREATE TABLE people AS {PEOPLE}")
    with sa.connect(tmp_path / "people.duckdb", read_only=True) as session:
        session.anonymize("people", wanted, tmp_path / "opened.parquet")
    with duckdb.connect(str(tmp_path / "people.duckdb"), read_only=True) as connection:
        sa.connect(connection).anonymize("people", wanted, tmp_path / "lent.parquet")


def test_sensitive_columns_with_hierarchical_distances(session: sa.Session) -> None:
    close = [sa.KAnonymity(2), sa.TCloseness("illness", 0.9, distance="hierarchical")]
    asked = policy({"age": RULES["age"], "illness": "flat"}, privacy=close, **BY_AGE)
    session.anonymize("people", asked, "published")
    assert session.verify("published", asked, source="people").met
    assert session.measure("published", asked).k
