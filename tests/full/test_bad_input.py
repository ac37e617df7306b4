"""Bad input: each mistake has its error, which says where, what and what next, quotes no data, and changes nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlglot import parse_one

import sqlanon as sa
from sqlanon.errors import SqlanonError
from sqlanon.methods.base import Run
from sqlanon.methods.shared import roll_up
from sqlanon.model.taxonomy.rules import RULES
from sqlanon.queries.classes import summaries as evaluate
from tests.conftest import ROOT

SECRET = "alice-1970"  # noqa: S105
"""A cell value that stands in every column of text of the source, and may stand in no message."""


def policy(**changes: Any) -> sa.Policy:
    values: dict[str, Any] = {
        "quasi_identifiers": ["age", "city"],
        "sensitive": ["illness"],
        "identifiers": ["name"],
        "privacy": [sa.KAnonymity(2)],
    }
    return sa.Policy(**(values | changes))


@pytest.fixture
def session(warehouse: Path, tmp_path: Path) -> Iterator[sa.Session]:
    """A session on a copy of the warehouse, with the old file beside it."""
    for path in warehouse.iterdir():
        shutil.copy(path, tmp_path)
    with sa.connect(tmp_path / "warehouse.duckdb") as session:
        yield session


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with a source, its taxonomies, and an old release as a table and as a file."""
    folder = tmp_path_factory.mktemp("warehouse")
    with sa.connect(folder / "warehouse.duckdb") as session:
        session.connection.execute(
            f"CREATE TABLE people AS SELECT 30 + i % 2 AS age, '{SECRET}' AS city, '{SECRET}' AS illness, "
            f"'{SECRET}' || i AS name FROM range(8) AS r (i)"
        )
        session.taxonomies.load("age", sa.Taxonomy.intervals([10], minimum=0, maximum=99), source="people")
        session.taxonomies.load("city", sa.Taxonomy.flat(), source="people")
        session.anonymize("people", policy(), into="published")
        session.anonymize("people", policy(), into=folder / "published.parquet")
    return folder


def state(session: sa.Session, folder: Path) -> list[object]:
    """Everything that a refused call must leave as it was."""
    connection = session.connection
    names = connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal ORDER BY ALL"
    ).fetchall()
    contents = [connection.execute(f'FROM "{schema}"."{name}" ORDER BY ALL').fetchall() for schema, name in names]
    comments = connection.execute("SELECT comment FROM duckdb_tables() ORDER BY ALL").fetchall()
    files = {path.name: path.read_bytes() for path in folder.iterdir() if ".duckdb" not in path.name}
    return [names, contents, comments, files]


@contextmanager
def refused(
    session: sa.Session, folder: Path, kind: type[SqlanonError], *parts: str, quoting: str = SECRET
) -> Iterator[None]:
    """The block raises this error with these parts in its message, and nothing else has happened."""
    before = state(session, folder)
    with pytest.raises(kind) as caught:
        yield
    assert type(caught.value) is kind
    for part in parts:
        assert part in str(caught.value)
    assert_quotes_nothing(caught.value, quoting)
    assert state(session, folder) == before


def assert_quotes_nothing(error: BaseException, secret: str) -> None:
    printed = "".join(traceback.format_exception(error))
    lines = [line for line in printed.splitlines() if not line.startswith("    ")]  # without the source code
    for text in (str(error), repr(error), repr(error.args), "\n".join(lines)):
        assert secret not in text


class TestPolicyAndSource:
    def test_unknown_column(self, session: sa.Session, tmp_path: Path) -> None:
        wrong = policy(quasi_identifiers=["age", "ctiy"])
        with refused(session, tmp_path, sa.PolicyError, 'table "people"', '"ctiy"', 'did you mean "city"?'):
            session.anonymize("people", wrong, into="new")

    def test_column_without_a_role(self, session: sa.Session, tmp_path: Path) -> None:
        with refused(session, tmp_path, sa.PolicyError, '"name" has no role', "identifier", "insensitive"):
            session.anonymize("people", policy(identifiers=[]), into="new")

    def test_columns_without_a_role_can_be_dropped(self, session: sa.Session) -> None:
        session.anonymize("people", policy(identifiers=[], rest="identifier"), into="without_name")
        released = [name for name, *_ in session.connection.execute("DESCRIBE without_name").fetchall()]
        assert "name" not in released
        assert session.verify("without_name", policy(identifiers=[], rest="identifier")).met

    def test_all_problems_come_at_once(self, session: sa.Session, tmp_path: Path) -> None:
        wrong = policy(quasi_identifiers=["aeg", "cty"], identifiers=[])
        with refused(session, tmp_path, sa.PolicyError, '"aeg"', '"cty"', '"age", "city", "name" have no role'):
            session.anonymize("people", wrong, into="new")

    def test_columns_are_checked_before_taxonomies(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute("UPDATE anon.taxonomy SET label = 'x' WHERE level = 0")
        with refused(session, tmp_path, sa.PolicyError, '"name" has no role'):
            session.anonymize("people", policy(identifiers=[]), into="new")
        with refused(session, tmp_path, sa.TaxonomyError, "malformed"):
            session.anonymize("people", policy(), into="new")

    def test_another_letter_is_another_column(self, session: sa.Session, tmp_path: Path) -> None:
        wrong = policy(quasi_identifiers=["Agé", "city"])
        with refused(session, tmp_path, sa.PolicyError, '"Agé" has a role', 'did you mean "age"?'):
            session.anonymize("people", wrong, into="new")

    @pytest.mark.parametrize("call", ["anonymize", "lattice", "explain"])
    def test_quasi_identifier_without_a_taxonomy(self, session: sa.Session, tmp_path: Path, call: str) -> None:
        wrong = policy(quasi_identifiers=["age", "city", "illness"], sensitive=[])
        arguments = {"into": "new"} if call == "anonymize" else {}
        with refused(session, tmp_path, sa.TaxonomyError, '"illness"', "load"):
            getattr(session, call)("people", wrong, **arguments)

    def test_value_not_in_a_taxonomy(self, session: sa.Session, tmp_path: Path) -> None:
        session.taxonomies.load("city", sa.Taxonomy.flat(["elsewhere"]))
        session.taxonomies.load("age", sa.Taxonomy.flat([30]))
        expected = ('table "people"', '"age": 1 distinct value in 4 rows', '"city": 1 distinct value in 8 rows')
        with refused(session, tmp_path, sa.TaxonomyError, *expected):
            session.anonymize("people", policy(), into="new")

    def test_values_not_in_a_taxonomy_come_with_the_query_that_lists_them(self, session: sa.Session) -> None:
        session.taxonomies.load("city", sa.Taxonomy.flat(["elsewhere"]))
        with pytest.raises(sa.TaxonomyError) as caught:
            session.anonymize("people", policy(), into="new")
        (problem,) = caught.value.problems
        query = problem.partition("list them by ")[2]
        cities = "SELECT city, count(*) FROM people GROUP BY city"
        assert sorted(session.connection.execute(query).fetchall()) == session.connection.execute(cities).fetchall()

    def test_stored_taxonomy_that_was_broken_by_hand(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute(f"UPDATE anon.taxonomy SET label = '{SECRET}' WHERE level = 2 AND value = '5'")
        with refused(session, tmp_path, sa.TaxonomyError, '"age" level 2: several top labels (2)', "load"):
            session.anonymize("people", policy(), into="new")
        assert session.taxonomies.check()["age"]

    @pytest.mark.parametrize("into", ["new", "new.parquet", "published", "published.parquet"])
    def test_empty_table(self, session: sa.Session, tmp_path: Path, into: str) -> None:
        target = str(tmp_path / into) if into.endswith("parquet") else into
        with refused(session, tmp_path, sa.PolicyError, "no rows"):
            session.anonymize("SELECT * FROM people WHERE age < 0", policy(), into=target, replace=True)

    @pytest.mark.parametrize("into", ["new", "new.parquet", "published", "published.parquet"])
    def test_no_node_meets_the_policy(self, session: sa.Session, tmp_path: Path, into: str) -> None:
        target = str(tmp_path / into) if into.endswith("parquet") else into
        strict = policy(privacy=[sa.KAnonymity(9), sa.DistinctLDiversity("illness", 2)])
        expected = (
            "k-anonymity (k = 9)",
            'distinct l-diversity of "illness" (l = 2)',
            "best node",
            "8 of 8 rows",
            "classes of 8 rows violate k-anonymity (k = 9)",
        )
        with refused(session, tmp_path, sa.UnsatisfiableError, *expected):
            session.anonymize("people", strict, into=target, replace=True)

    def test_source_that_is_not_there(self, session: sa.Session, tmp_path: Path) -> None:
        with refused(session, tmp_path, sa.EngineError, '"poeple"', 'did you mean "people"?'):
            session.anonymize("poeple", policy(), into="new")

    @pytest.mark.parametrize("name", ["selection", "tables", "from_2024", "values2", "with_names"])
    def test_a_missing_table_that_is_named_like_a_query(self, session: sa.Session, tmp_path: Path, name: str) -> None:
        session.connection.execute(f'CREATE TABLE "{name}s" AS FROM people')
        with refused(session, tmp_path, sa.EngineError, f'"{name}" is not a table or view', f'did you mean "{name}s"?'):
            session.anonymize(name, policy(), into="new")

    @pytest.mark.parametrize(
        "query",
        [
            "DELETE FROM people",
            "WITH x AS (SELECT 1) DELETE FROM people",
            "SELECT * FROM people; DROP TABLE people",
            "SELECT * FROM",
            "(SELECT 1",
            "INSERT INTO people SELECT * FROM people",
            "COPY people TO 'x.csv'",
            "-- SELECT\nDROP TABLE people",
            "",
            " ",
        ],
    )
    def test_query_that_is_no_single_select(self, session: sa.Session, tmp_path: Path, query: str) -> None:
        with refused(session, tmp_path, sa.EngineError, "SELECT query"):
            session.anonymize(query, policy(), into="new")

    def test_query_that_fails(self, session: sa.Session, tmp_path: Path) -> None:
        """The database quotes the value that it cannot convert; the error must not."""
        query = "SELECT age, city, illness, CAST(name AS INTEGER) AS name FROM people"
        for into in ("published", str(tmp_path / "published.parquet")):
            with refused(session, tmp_path, sa.EngineError, "ConversionException"):
                session.anonymize(query, policy(identifiers=[], insensitive=["name"]), into=into, replace=True)
        with pytest.raises(sa.EngineError) as caught:
            session.anonymize(query, policy(identifiers=[], insensitive=["name"]), into="new")
        assert SECRET in str(caught.value.original)
        session.anonymize("people", policy(), into="works_again")

    def test_query_over_a_table_that_is_not_there(self, session: sa.Session, tmp_path: Path) -> None:
        with refused(session, tmp_path, sa.EngineError, "Table with name nowhere does not exist"):
            session.anonymize("SELECT * FROM nowhere", policy(), into="new")

    def test_query_over_a_column_or_a_file_that_is_not_there(self, session: sa.Session, tmp_path: Path) -> None:
        with refused(session, tmp_path, sa.EngineError, '"agee" not found in FROM clause'):
            session.anonymize("SELECT agee FROM people", policy(), into="new")
        with refused(session, tmp_path, sa.EngineError, "No files found that match", "nowhere.csv"):
            session.anonymize("FROM read_csv('nowhere.csv')", policy(), into="new")

    @pytest.mark.parametrize(
        ("into", "message"),
        [
            ("releases/visits", "does not end in .parquet"),
            ("out/people.json", "unsupported output format .json; use .parquet or .csv"),
            ("people.XLSX", "unsupported output format .xlsx; use .parquet or .csv"),
            (Path("people.tsv"), "unsupported output format .tsv; use .parquet or .csv"),
        ],
    )
    def test_a_path_that_is_no_target(self, session: sa.Session, tmp_path: Path, into: str, message: str) -> None:
        """And no name of a table that would be made instead."""
        with refused(session, tmp_path, sa.TargetError, message):
            session.anonymize("people", policy(), into=into)

    @pytest.mark.parametrize(
        ("source", "query"),
        [
            ("people.xlsx", "FROM read_xlsx('people.xlsx')"),
            ("it's/*.XLSX", "FROM read_xlsx('it''s/*.XLSX')"),
            ("people.ndjson", "FROM read_json('people.ndjson')"),
        ],
    )
    def test_a_file_that_only_a_query_reads(self, session: sa.Session, tmp_path: Path, source: str, query: str) -> None:
        with refused(session, tmp_path, sa.EngineError, f'a query: "{query}"'):
            session.anonymize(source, policy(), into="new")


class TestModels:
    """What privacy models, weights, individuals and level bounds ask of a source and what it lacks."""

    @pytest.fixture
    def wide(self, session: sa.Session) -> sa.Session:
        """Table ``wide``, with more columns than ``people``, and populations that do not fit it."""
        session.connection.execute(
            "CREATE TABLE wide AS SELECT *, i AS zero, -i - 1 AS negative, CASE WHEN i > 1 THEN i END AS absent, "
            "CASE WHEN i > 0 THEN 1.0::DOUBLE ELSE 'infinity' END AS infinite "
            "FROM people POSITIONAL JOIN range(8) AS numbers (i)"
        )
        session.connection.execute("ALTER TABLE wide DROP COLUMN i")
        session.connection.execute(f"CREATE TABLE strangers AS SELECT age, '{SECRET}!' AS city FROM people")
        session.connection.execute(f"CREATE TABLE faceless AS SELECT age AS agee, '{SECRET}' AS city FROM people")
        return session

    @staticmethod
    def policy(**changes: Any) -> sa.Policy:
        return policy(insensitive=["zero", "negative", "absent", "infinite"], **changes)

    @pytest.mark.parametrize("name", ["zero", "negative", "absent", "infinite"])
    def test_weights_that_are_none(self, wide: sa.Session, tmp_path: Path, name: str) -> None:
        with refused(wide, tmp_path, sa.PolicyError, 'table "wide"', f'"{name}": NULL, not positive or infinite'):
            wide.anonymize("wide", self.policy(row_weight=name), into="new")

    def test_weights_that_are_no_number(self, wide: sa.Session, tmp_path: Path) -> None:
        with refused(wide, tmp_path, sa.PolicyError, '"zero": NULL, not positive or infinite in the cells of 8 rows'):
            wide.anonymize("SELECT * REPLACE ('nan'::DOUBLE AS zero) FROM wide", self.policy(row_weight="zero"), "new")

    def test_rows_of_nobody(self, wide: sa.Session, tmp_path: Path) -> None:
        with refused(wide, tmp_path, sa.PolicyError, '"absent": NULL in 2 rows, which belong to no individual'):
            wide.anonymize("wide", self.policy(individual="absent"), into="new")

    def test_weights_and_individuals_at_once(self, wide: sa.Session, tmp_path: Path) -> None:
        with refused(wide, tmp_path, sa.PolicyError, '"zero": NULL, not positive', '"absent": NULL in 2 rows'):
            wide.anonymize("wide", self.policy(individual="absent", row_weight="zero"), into="new")

    def test_weights_and_individuals_that_are_no_column(self, wide: sa.Session, tmp_path: Path) -> None:
        expected = ('row_weight "zeroo" is not in the source; did you mean "zero"?', 'individual "nobody" is not in')
        with refused(wide, tmp_path, sa.PolicyError, *expected):
            wide.anonymize("wide", self.policy(individual="nobody", row_weight="zeroo"), into="new")

    @pytest.mark.parametrize("model", [sa.KMap(2, "strangers"), sa.DeltaPresence(0, 1, "strangers")])
    def test_population_that_a_taxonomy_does_not_know(
        self, wide: sa.Session, tmp_path: Path, model: sa.KMap | sa.DeltaPresence
    ) -> None:
        with refused(
            wide, tmp_path, sa.TaxonomyError, 'the population "strangers"', '"city": 1 distinct value in 8 rows'
        ):
            wide.anonymize("wide", self.policy(privacy=[model]), into="new")

    @pytest.mark.parametrize("call", ["anonymize", "lattice", "explain", "measure"])
    def test_population_without_a_quasi_identifier(self, wide: sa.Session, tmp_path: Path, call: str) -> None:
        arguments = {"into": "new"} if call == "anonymize" else {}
        expected = ('the population, table "faceless"', 'quasi-identifier "age" is not there; did you mean "agee"?')
        with refused(wide, tmp_path, sa.PolicyError, *expected):
            getattr(wide, call)("wide", self.policy(privacy=[sa.KMap(2, "faceless")]), **arguments)

    def test_population_that_is_not_there(self, wide: sa.Session, tmp_path: Path) -> None:
        with refused(wide, tmp_path, sa.EngineError, '"stranger"', 'did you mean "strangers"?'):
            wide.anonymize("wide", self.policy(privacy=[sa.KMap(2, "stranger")]), into="new")

    def test_hierarchical_distance_without_a_taxonomy(self, session: sa.Session, tmp_path: Path) -> None:
        hierarchical = policy(privacy=[sa.TCloseness("illness", 0.5, "hierarchical")])
        with refused(session, tmp_path, sa.TaxonomyError, "without a taxonomy", '"illness"'):
            session.anonymize("people", hierarchical, into="new")

    @pytest.mark.parametrize("levels", [["*"], ["some", "*"], ["some", "more", "*"]])
    def test_hierarchical_distance_of_a_value_that_its_taxonomy_does_not_know(
        self, session: sa.Session, tmp_path: Path, levels: list[str]
    ) -> None:
        session.taxonomies.load("illness", sa.Taxonomy.from_rows([["flu", *levels], ["gout", *levels]]))
        hierarchical = policy(privacy=[sa.TCloseness("illness", 0.5, "hierarchical")])
        with refused(session, tmp_path, sa.TaxonomyError, '"illness": 1 distinct value in 8 rows'):
            session.anonymize("people", hierarchical, into="new")

    def test_hierarchical_distance_in_a_taxonomy_of_values_alone(self, session: sa.Session, tmp_path: Path) -> None:
        session.taxonomies.load("illness", sa.Taxonomy.from_rows([[SECRET]]))
        hierarchical = policy(privacy=[sa.TCloseness("illness", 0.5, "hierarchical")])
        with refused(session, tmp_path, sa.TaxonomyError, "a level above the values", '"illness"'):
            session.anonymize("people", hierarchical, into="new")

    def test_levels_above_the_taxonomies(self, session: sa.Session, tmp_path: Path) -> None:
        wrong = policy(minimum_levels={"age": 7}, maximum_levels={"city": 2})
        expected = (
            'minimum_levels: "age" has levels 0 to 2, so not 7',
            'maximum_levels: "city" has levels 0 to 1, so not 2',
        )
        with refused(session, tmp_path, sa.PolicyError, *expected):
            session.anonymize("people", wrong, into="new")

    def test_levels_and_missing_taxonomies_come_at_once(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute("DELETE FROM anon.taxonomy WHERE attribute = 'city'")
        session.taxonomies.load("illness", sa.Taxonomy.from_rows([[SECRET]]))
        wrong = policy(minimum_levels={"age": 7}, privacy=[sa.TCloseness("illness", 0.5, "hierarchical")])
        with pytest.raises(sa.TaxonomyError) as caught:
            session.anonymize("people", wrong, into="new")
        assert caught.value.problems == (
            '"city" has no taxonomy',
            '"illness" needs a taxonomy with a level above the values for hierarchical distances',
            'minimum_levels: "age" has levels 0 to 2, so not 7',
        )
        assert "[taxonomies]" in caught.value.heading
        assert '"city" = { kind = "flat" }' in caught.value.heading
        assert all(kind in caught.value.heading for kind in RULES)

    def test_nobody_would_be_protected(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute("CREATE TABLE unlike AS SELECT * REPLACE (i AS age) FROM people, range(8) AS r (i)")
        inverse = policy(privacy=[], objective="privacy", max_loss=0, quality=sa.Prec(), identifiers=["name", "i"])
        session.connection.execute("CREATE TABLE lonely AS SELECT DISTINCT ON (age) * FROM unlike")
        with refused(session, tmp_path, sa.UnsatisfiableError, "has k = 1", "raise max_loss"):
            session.anonymize("lonely", inverse, into="new")


class TestFiles:
    def test_parquet_file_that_is_not_there(self, session: sa.Session, tmp_path: Path) -> None:
        for path in (tmp_path / "none.parquet", tmp_path / "none" / "*.parquet"):
            with refused(session, tmp_path, sa.EngineError, "no Parquet file can be read", str(path)):
                session.anonymize(path, policy(), into="new")

    @pytest.mark.parametrize("content", [b"", b"PAR1", SECRET.encode() * 99, b"PAR1" + b"\x00" * 99 + b"PAR1"])
    def test_file_that_is_no_parquet(self, session: sa.Session, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "bad.parquet").write_bytes(content)
        with refused(session, tmp_path, sa.EngineError, "no Parquet file can be read"):
            session.anonymize(tmp_path / "bad.parquet", policy(), into="published", replace=True)

    def test_parquet_file_with_a_damaged_page(self, session: sa.Session, tmp_path: Path) -> None:
        target = tmp_path / "damaged.parquet"
        session.connection.execute(f"COPY people TO '{target}' (COMPRESSION zstd)")
        content = bytearray(target.read_bytes())
        content[4:200] = b"\xff" * 196
        target.write_bytes(content)
        with refused(session, tmp_path, sa.EngineError, "the database stopped at"):
            session.anonymize(target, policy(), into="published", replace=True)

    def test_target_that_exists(self, session: sa.Session, tmp_path: Path) -> None:
        for into in ("published", str(tmp_path / "published.parquet")):
            with refused(session, tmp_path, sa.TargetError, into, "exists", "replace=True"):
                session.anonymize("people", policy(), into=into)

    def test_folder_that_is_missing_or_no_folder(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        for folder in (tmp_path / "missing", tmp_path / "file"):
            with refused(session, tmp_path, sa.EngineError, f"the folder {folder} does not exist"):
                session.anonymize("people", policy(), into=folder / "new.parquet")

    def test_target_that_is_a_folder(self, session: sa.Session, tmp_path: Path) -> None:
        folder = tmp_path.parent / f"{tmp_path.name}.parquet"
        folder.mkdir()
        with refused(session, tmp_path, sa.EngineError, "is a folder"):
            session.anonymize("people", policy(), into=folder, replace=True)

    def test_folder_that_may_not_be_written(
        self, session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "access", lambda *_: False)  # a user's rights; the tests may run as root
        with refused(session, tmp_path, sa.EngineError, "cannot be written"):
            session.anonymize("people", policy(), into=tmp_path / "new.parquet")

    @pytest.mark.parametrize("name", ["x" * 300 + ".parquet", "x" * 245 + ".parquet", "a\0b.parquet"])
    def test_names_that_no_file_can_have(self, session: sa.Session, tmp_path: Path, name: str) -> None:
        with refused(session, tmp_path, sa.EngineError):
            session.anonymize("people", policy(), into=tmp_path / name)

    def test_empty_table_name(self, session: sa.Session, tmp_path: Path) -> None:
        with refused(session, tmp_path, sa.TargetError):
            session.anonymize("people", policy(), into="")

    def test_a_file_that_appears_during_the_run_is_not_overwritten(self, session: sa.Session, tmp_path: Path) -> None:
        target = tmp_path / "new.parquet"

        def appear(event: sa.Event) -> None:
            if event.stage == "verify":
                target.write_bytes(b"of another program")

        with pytest.raises(sa.EngineError, match="exists"):
            session.anonymize("people", policy(), into=target, progress=appear)
        assert target.read_bytes() == b"of another program"
        assert not list(tmp_path.glob(".*"))

    @pytest.mark.parametrize("made", ["TABLE", "VIEW"])
    @pytest.mark.parametrize("moment", ["encode", "search", "release"])
    def test_a_table_that_appears_during_the_run_is_not_replaced(
        self, session: sa.Session, made: str, moment: str
    ) -> None:
        another = session.connection.cursor()

        def appear(event: sa.Event) -> None:
            if (event.stage, event.state) == (moment, "started"):
                another.execute(f"CREATE {made} new AS SELECT 'of another connection' AS state")

        with pytest.raises(sa.EngineError, match=r'"new" exists.*replace=True'):
            session.anonymize("people", policy(), into="new", progress=appear)
        assert session.connection.execute("FROM new").fetchall() == [("of another connection",)]

    def test_export_over_a_file(self, session: sa.Session, tmp_path: Path) -> None:
        (tmp_path / "age.csv").write_text("old")
        with refused(session, tmp_path, sa.EngineError, "exists"):
            session.taxonomies.export("age", tmp_path / "age.csv")
        with refused(session, tmp_path, sa.TaxonomyError, '"agee"', '"age"'):
            session.taxonomies.export("agee", tmp_path / "new.csv")


class TestWarehouse:
    @pytest.mark.parametrize("read_only", [False, True])
    def test_locked_by_another_process(self, tmp_path: Path, read_only: bool) -> None:
        path = tmp_path / "locked.duckdb"
        program = f"import duckdb, sys; c = duckdb.connect({str(path)!r}); print('ready', flush=True); sys.stdin.read()"
        with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            assert holder.stdout is not None
            holder.stdout.readline()
            with pytest.raises(sa.EngineError) as caught:
                sa.connect(path, read_only=read_only)
            holder.kill()
        assert f"{path} is open in another program (process {holder.pid})" in str(caught.value)

    @pytest.mark.parametrize("read_only", [False, True])
    @pytest.mark.parametrize("content", [b"x", b"not a database" * 999])
    def test_not_a_database(self, tmp_path: Path, content: bytes, read_only: bool) -> None:
        # The error quotes the path, which is not what is wrong.
        path = tmp_path / "unlocked, already attached.duckdb"
        path.write_bytes(content)
        with pytest.raises(sa.EngineError, match="is not a DuckDB file"):
            sa.connect(path, read_only=read_only)
        assert path.read_bytes() == content

    def test_missing_folder_or_file(self, tmp_path: Path) -> None:
        with pytest.raises(sa.EngineError, match="no such file or folder"):
            sa.connect(tmp_path / "missing" / "w.duckdb")
        with pytest.raises(sa.EngineError, match="no such file or folder"):
            sa.connect(tmp_path / "missing.duckdb", read_only=True)
        assert not list(tmp_path.iterdir())

    def test_folder(self, tmp_path: Path) -> None:
        with pytest.raises(sa.EngineError, match="cannot be opened"):
            sa.connect(tmp_path)

    def test_open_in_this_program_already(self, tmp_path: Path) -> None:
        expected = pytest.raises(sa.EngineError, match="already open in this program")
        with duckdb.connect(str(tmp_path / "w.duckdb")), expected:
            sa.connect(tmp_path / "w.duckdb", read_only=True)


class TestVerification:
    def test_a_release_that_falls_short_is_withdrawn(
        self, session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As if the source had lost rows between the search and the writing."""
        honest = Run.released_rows
        monkeypatch.setattr(Run, "released_rows", lambda *given: honest(*given).limit(1))
        for into in ("new", "published", str(tmp_path / "new.parquet"), str(tmp_path / "published.parquet")):
            expected = ("withdrawn", "k-anonymity (k = 2): attained 1", "1 rows where 8")
            with refused(session, tmp_path, sa.VerificationError, *expected):
                session.anonymize("people", policy(), into=into, replace=True)

    def test_a_table_that_does_not_meet_a_policy(self, session: sa.Session, tmp_path: Path) -> None:
        higher = policy(privacy=[sa.KAnonymity(5), sa.DistinctLDiversity("illness", 3)])
        with refused(session, tmp_path, sa.VerificationError, "k-anonymity (k = 5): attained 4", "(l = 3): attained 1"):
            session.verify("published", higher)
        assert len(session.verify("published", higher, strict=False).shortfalls) == 2

    def test_the_source_itself_has_its_identifier(self, session: sa.Session, tmp_path: Path) -> None:
        with refused(session, tmp_path, sa.VerificationError, 'it has the identifier "name"'):
            session.verify("people", policy())

    def test_an_empty_table(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute("CREATE TABLE nothing AS SELECT age, city, illness FROM people LIMIT 0")
        with refused(session, tmp_path, sa.VerificationError, "it has no rows"):
            session.verify("nothing", policy())

    def test_a_table_without_the_columns(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute("CREATE TABLE other AS SELECT age AS agee FROM people")
        with refused(session, tmp_path, sa.PolicyError, '"age" is not there; did you mean "agee"?', '"city"'):
            session.verify("other", policy())

    def test_a_source_without_the_columns(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute("CREATE TABLE other AS SELECT age, city AS cty FROM people")
        expected = ('another source than table "other"', '"city" is not there; did you mean "cty"?', '"illness"')
        for verb in (session.report, partial(session.verify, policy=policy())):
            with refused(session, tmp_path, sa.PolicyError, *expected):
                verb("published", source="other")


class TestTaxonomies:
    """Every malformed taxonomy of the ages 30 and 31, and the one that is there stays."""

    @pytest.mark.parametrize(
        ("rows", "problem"),
        [
            ([("30", "3x", "*"), ("31", "3x", "x"), ("32", "3y", "x")], "not nested"),
            ([("30", "3x", "*"), ("31", "3y", "all")], "several top labels (2)"),
            ([("30", "3x", "*"), ("31", "", "*")], "empty label (1)"),
            ([("30", "3x", "*"), ("31", None, "*")], "empty label (1)"),
            ([("30", "3x", "*"), ("30", "3y", "*"), ("31", "3x", "*")], "several labels"),
            ([("30", "3x", "*"), ("30", "3x", "*"), ("31", "3x", "*")], "several labels"),
            ([("30", "3x", "*"), (None, "", ""), ("31", "3x", "*")], "empty label"),
        ],
    )
    def test_rows(self, session: sa.Session, tmp_path: Path, rows: list[tuple[str | None, ...]], problem: str) -> None:
        hidden = [tuple(field and field.replace("3x", SECRET) for field in row) for row in rows]
        with refused(session, tmp_path, sa.TaxonomyError, '"age"', problem):
            session.taxonomies.load("age", sa.Taxonomy.from_rows(hidden), source="people")

    def test_all_problems_come_at_once(self, session: sa.Session, tmp_path: Path) -> None:
        rows = [("30", "a", "*"), ("31", "a", "x"), ("32", "", "*"), ("32", "b", "*")]
        with refused(session, tmp_path, sa.TaxonomyError, "not nested", "several top", "empty label", "several labels"):
            session.taxonomies.load("age", sa.Taxonomy.from_rows(rows))

    @pytest.mark.parametrize(
        ("values", "problem"),
        [
            ("(0, '30', '30'), (2, '30', '*')", "level 1: missing level"),
            ("(0, '30', '30'), (1, '30', '*'), (1, '31', '*')", "value outside the domain"),
            ("(0, '30', '31'), (1, '30', '*')", "level 0 is not the value itself"),
            ("(-1, '30', 'x'), (0, '30', '30'), (1, '30', '*')", "1 rows whose level is not a whole number"),
            ("(NULL, '30', 'x'), (0, '30', '30'), (1, '30', '*')", "1 rows whose level is not a whole number"),
            ("(0, '30', '30'), (2000000000, '30', '*')", "1 rows whose level is not a whole number"),
            (f"('{SECRET}', '30', '30')", "1 rows whose level is not a whole number"),
            ("(1, '30', '*')", "value outside the domain"),
        ],
    )
    def test_long_relations(self, session: sa.Session, tmp_path: Path, values: str, problem: str) -> None:
        query = f"SELECT * FROM (VALUES {values}) AS t (level, value, label)"
        with refused(session, tmp_path, sa.TaxonomyError, problem):
            session.taxonomies.load("age", sa.Taxonomy.from_query(query))

    def test_relation_without_rows(self, session: sa.Session, tmp_path: Path) -> None:
        with refused(session, tmp_path, sa.TaxonomyError, "no values"):
            session.taxonomies.load("age", sa.Taxonomy.from_query("SELECT '30', '*' WHERE false"))

    def test_query_that_is_no_select(self, session: sa.Session, tmp_path: Path) -> None:
        with refused(session, tmp_path, sa.EngineError, "SELECT query"):
            session.taxonomies.load("age", sa.Taxonomy.from_query("DROP TABLE people"))

    def test_it_does_not_cover_the_source(self, session: sa.Session, tmp_path: Path) -> None:
        with refused(session, tmp_path, sa.TaxonomyError, 'table "people"', "1 distinct value in 4 rows"):
            session.taxonomies.load("age", sa.Taxonomy.flat([30]), source="people")

    def test_unknown_column_of_the_source(self, session: sa.Session, tmp_path: Path) -> None:
        with refused(session, tmp_path, sa.TaxonomyError, '"aeg" is not in table "people"', 'did you mean "age"?'):
            session.taxonomies.load("aeg", sa.Taxonomy.flat(), source="people")
        with refused(session, tmp_path, sa.TaxonomyError, '"people" is not in table "people"'):
            session.taxonomies.load("age", sa.Taxonomy.flat(), source="people", column="people")

    def test_rule_without_a_domain(self, session: sa.Session, tmp_path: Path) -> None:
        with refused(session, tmp_path, sa.TaxonomyError, '"age" has no declared domain', "source"):
            session.taxonomies.load("age", sa.Taxonomy.flat())

    @pytest.mark.parametrize(
        "taxonomy",
        [
            sa.Taxonomy.intervals([10]),
            sa.Taxonomy.cuts([[10]]),
            sa.Taxonomy.dates(),
            sa.Taxonomy.icd9(),
            sa.Taxonomy.icd10(),
            sa.Taxonomy.ipv4(),
        ],
        ids=lambda taxonomy: taxonomy.origin,
    )
    def test_rule_that_does_not_apply_to_the_values(
        self, session: sa.Session, tmp_path: Path, taxonomy: sa.Taxonomy
    ) -> None:
        takes = {"ICD-9": "ICD-9 codes", "ICD-10": "ICD-10 codes", "IPv4": "IPv4 addresses", "dates": "dates"}
        expected = f'"city" has 1 value other than {takes.get(taxonomy.origin, "numbers")}, which get no label'
        with refused(session, tmp_path, sa.TaxonomyError, expected):
            session.taxonomies.load("city", taxonomy, source="people")

    @pytest.mark.parametrize("taxonomy", [sa.Taxonomy.intervals([10, 20]), sa.Taxonomy.cuts([[5]])])
    def test_decimal_commas_are_told_in_words(self, session: sa.Session, tmp_path: Path, taxonomy: sa.Taxonomy) -> None:
        session.connection.execute(
            "CREATE TABLE commas AS SELECT unnest(['1,5', '-1.234,5', '7,25 ', '8.5', '9', 'a,5']) AS weight"
        )
        with pytest.raises(sa.TaxonomyError) as caught:
            session.taxonomies.load("weight", taxonomy, source="commas")
        assert caught.value.problems == (
            '"weight" has 4 values other than numbers, which get no label: 3 with a decimal comma; write a decimal '
            "point in its place, as by replace(value, ',', '.') in a view or a query",
        )
        (tmp_path / "weight.csv").write_text("1,5,light,*\n2,light,*\n")
        with refused(session, tmp_path, sa.TaxonomyError, 'quote a field with a delimiter in it, as "1,5"'):
            session.taxonomies.load("weight", tmp_path / "weight.csv")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "not a hierarchy"),
            (b"\n\n", "not a hierarchy"),
            (b"30\n31\n", "two or more fields"),
            (b"30;3x;*\n31;*\n", "the same two or more fields"),
            (b"30|3x|*\n31|3x|*\n", "no delimiter among"),
            (b"30;\xff\xfe;*\n", "not UTF-8"),
            ("30;x;*\n".encode("utf-16"), "not UTF-8"),
            (b"30;3x;*\n31;3x;" + b"y" * 200_000, "cannot be read"),
        ],
    )
    def test_csv(self, session: sa.Session, tmp_path: Path, content: bytes, message: str) -> None:
        path = tmp_path / "age.csv"
        path.write_bytes(content)
        with refused(session, tmp_path, sa.TaxonomyError, str(path), message):
            session.taxonomies.load("age", path)

    def test_csv_that_is_not_there(self, session: sa.Session, tmp_path: Path) -> None:
        for path in (tmp_path / "none.csv", tmp_path):
            with refused(session, tmp_path, sa.TaxonomyError, f"{path} cannot be read"):
                session.taxonomies.load("age", path)

    def test_a_first_taxonomy_that_is_refused_leaves_no_schema(self) -> None:
        with duckdb.connect() as connection:
            session = sa.connect(connection)
            with pytest.raises(sa.TaxonomyError):
                session.taxonomies.load("age", sa.Taxonomy.from_rows([("1", "a"), ("2", "b")]))
            found = connection.execute("SELECT schema_name FROM duckdb_schemas() WHERE schema_name = 'anon'").fetchall()
            assert found == []
            assert session.taxonomies.list() == {}
            assert session.taxonomies.check() == {}


class TestInterruption:
    @pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
    @pytest.mark.parametrize("at", ["encode", "search", "release", "verify", "publish"])
    def test_an_error_at_any_stage_leaves_the_old_state(
        self, session: sa.Session, tmp_path: Path, at: str, error: type[BaseException]
    ) -> None:
        def stop(event: sa.Event) -> None:
            if event.stage == at:
                raise error

        before = state(session, tmp_path)
        for into in ("published", str(tmp_path / "published.parquet"), "new", str(tmp_path / "new.parquet")):
            with pytest.raises(error):
                session.anonymize("people", policy(), into=into, replace=True, progress=stop)
            assert state(session, tmp_path) == before
        assert session.anonymize("people", policy(), into="new").report.rows.released == 8

    def test_a_statement_of_a_search_that_fails_is_the_one_that_is_told(
        self, session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Not one that would have tidied up, which the database refuses after it."""
        before = state(session, tmp_path)
        failing = parse_one("SELECT error(CAST(i AS VARCHAR)) FROM range(1) AS rows (i)", dialect="duckdb")
        monkeypatch.setattr(roll_up, "BIG", 0)
        for cost in ("STEP_ROWS", "MAKING", "CLASS_ROWS"):
            monkeypatch.setattr(roll_up, cost, 0)  # so that there is a relation to tidy up
        monkeypatch.setattr(evaluate, "any_node_summaries", lambda *_: failing.copy())
        of_people = policy(individual="name")  # who are counted by SQL
        with pytest.raises(sa.EngineError) as raised:
            session.anonymize("people", of_people, into="published", replace=True)
        assert raised.value.step == "nodes of the lattice"
        assert state(session, tmp_path) == before


def test_every_error_is_in_the_tree_of_the_documentation() -> None:
    """Every class of errors is documented in the tree of sqlanon/errors.py."""
    text = (ROOT / "sqlanon" / "errors.py").read_text()
    for name in ("PolicyError", "TaxonomyError", "UnsatisfiableError", "VerificationError", "EngineError"):
        assert re.search(rf"[├└]── {name}", text)
        assert issubclass(getattr(sa, name), sa.SqlanonError)


@pytest.mark.parametrize("name", ["", "  "])
def test_a_release_without_a_name_is_refused_at_once(clinic: sa.Session, name: str) -> None:
    policy = sa.Policy(
        quasi_identifiers=["age", "sex", "zip"],
        sensitive=["diagnosis"],
        identifiers=["id"],
        privacy=[sa.KAnonymity(2)],
        suppression_limit=0.5,
    )
    with pytest.raises(sa.EngineError, match="needs a name"):
        clinic.anonymize("visits", policy, into=name)


def test_an_absurd_k_is_refused_by_the_policy() -> None:
    with pytest.raises(sa.PolicyError, match="less than or equal"):
        sa.KAnonymity(10**40)
