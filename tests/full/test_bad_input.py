"""Bad input: each mistake has its error, which says where, what and what next, quotes no data, and changes nothing."""

import os
import re
import shutil
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlglot import parse_one

import sqlanon as sa
from sqlanon.errors import SqlanonError
from sqlanon.methods.base import Run
from sqlanon.model.taxonomy.rules import RULES
from sqlanon.nodes import roll_up
from sqlanon.queries import summaries as evaluate
from tests.commands import opened_elsewhere
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


@dataclass(frozen=True)
class Clinic:
    """A warehouse with a source, its taxonomies, and an old release as a table and as a file beside it."""

    session: sa.Session
    folder: Path

    def run(self, source: str | Path = "people", into: str | Path = "new", **changes: Any) -> sa.Release:
        return self.session.anonymize(source, policy(**changes), into=into)

    def execute(self, *statements: str) -> None:
        for statement in statements:
            self.session.connection.execute(statement)

    def targets(self, *names: str) -> list[str]:
        """The table and the file of each name."""
        return [*names, *(str(self.folder / f"{name}.parquet") for name in names)]

    def state(self) -> list[object]:
        """Everything that a refused call must leave as it was."""
        connection = self.session.connection
        names = connection.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal ORDER BY ALL"
        ).fetchall()
        contents = [connection.execute(f'FROM "{schema}"."{name}" ORDER BY ALL').fetchall() for schema, name in names]
        comments = connection.execute("SELECT comment FROM duckdb_tables() ORDER BY ALL").fetchall()
        files = {path.name: path.read_bytes() for path in self.folder.iterdir() if ".duckdb" not in path.name}
        return [names, contents, comments, files]

    @contextmanager
    def refusing(self, kind: type[SqlanonError], *parts: str) -> Iterator[pytest.ExceptionInfo[SqlanonError]]:
        """The block raises this error with these parts in its message, and nothing else has happened."""
        before = self.state()
        with pytest.raises(kind) as caught:
            yield caught
        assert type(caught.value) is kind
        for part in parts:
            assert part in str(caught.value)
        printed = "".join(traceback.format_exception(caught.value))
        lines = [line for line in printed.splitlines() if not line.startswith("    ")]  # without the source code
        for text in (str(caught.value), repr(caught.value), repr(caught.value.args), "\n".join(lines)):
            assert SECRET not in text
        assert self.state() == before


def make(folder: Path) -> None:
    with sa.connect(folder / "warehouse.duckdb") as session:
        session.connection.execute(
            f"CREATE TABLE people AS SELECT 30 + i % 2 AS age, '{SECRET}' AS city, '{SECRET}' AS illness, "
            f"'{SECRET}' || i AS name FROM range(8) AS r (i)"
        )
        session.taxonomies.load("age", sa.Taxonomy.intervals([10], minimum=0, maximum=99), source="people")
        session.taxonomies.load("city", sa.Taxonomy.flat(), source="people")
        session.anonymize("people", policy(), into="published")
        session.anonymize("people", policy(), into=folder / "published.parquet")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    make(folder)
    return folder


@contextmanager
def opened(made: Path, folder: Path) -> Iterator[Clinic]:
    shutil.copytree(made, folder, dirs_exist_ok=True)
    with sa.connect(folder / "warehouse.duckdb", threads=1) as session:
        yield Clinic(session, folder)


@pytest.fixture(scope="module")
def clinic(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    """One for all mistakes, since each leaves it as it is."""
    with opened(made, tmp_path_factory.mktemp("clinic")) as found:
        yield found


@pytest.fixture
def own(made: Path, tmp_path: Path) -> Iterator[Clinic]:
    """One that a test may change."""
    with opened(made, tmp_path) as found:
        yield found


HIERARCHICAL = sa.TCloseness("illness", 0.5, "hierarchical")
NO_SELECTS = (
    "DELETE FROM people", "WITH x AS (SELECT 1) DELETE FROM people", "SELECT * FROM people; DROP TABLE people",
    "SELECT * FROM", "(SELECT 1", "COPY people TO 'x.csv'", "-- SELECT\nDROP TABLE people", "", " ",
)  # fmt: skip
WRONG_RUNS: list[tuple[str, dict[str, Any], type[SqlanonError], str]] = [
    ("people", {"quasi_identifiers": ["age", "ctiy"]}, sa.PolicyError, '"ctiy" ... did you mean "city"?'),
    ("people", {"quasi_identifiers": ["Agé", "city"]}, sa.PolicyError, '"Agé" has a role ... did you mean "age"?'),
    ("people", {"identifiers": []}, sa.PolicyError, 'table "people" ... "name" has no role ... identifier'),
    (
        "people", {"quasi_identifiers": ["aeg", "cty"], "identifiers": []}, sa.PolicyError,
        '"aeg" ... "cty" ... "age", "city", "name" have no role',
    ),
    ("poeple", {}, sa.EngineError, '"poeple" ... did you mean "people"?'),
    ("SELECT * FROM nowhere", {}, sa.EngineError, "Table with name nowhere does not exist"),
    ("SELECT agee FROM people", {}, sa.EngineError, '"agee" not found in FROM clause'),
    ("FROM read_csv('nowhere.csv')", {}, sa.EngineError, "No files found that match ... nowhere.csv"),
    ("it's/*.XLSX", {}, sa.EngineError, "a query: \"FROM read_xlsx('it''s/*.XLSX')\""),
    ("people.ndjson", {}, sa.EngineError, "a query: \"FROM read_json('people.ndjson')\""),
    ("people", {"privacy": [HIERARCHICAL]}, sa.TaxonomyError, 'without a taxonomy ... "illness"'),
    (
        "people", {"minimum_levels": {"age": 7}, "maximum_levels": {"city": 2}}, sa.PolicyError,
        'minimum_levels: "age" has levels 0 to 2, so not 7 ... maximum_levels: "city" has levels 0 to 1, so not 2',
    ),
    *((query, {}, sa.EngineError, "SELECT query") for query in NO_SELECTS),
]  # fmt: skip
"""A source, changes of the policy, and what is said of them in this order."""


class TestPolicyAndSource:
    @pytest.mark.parametrize(("source", "changes", "kind", "message"), WRONG_RUNS)
    def test_wrong_runs(
        self, clinic: Clinic, source: str, changes: dict[str, Any], kind: type[SqlanonError], message: str
    ) -> None:
        with clinic.refusing(kind, *message.split(" ... ")):
            clinic.run(source, **changes)

    def test_columns_without_a_role_can_be_dropped(self, own: Clinic) -> None:
        own.run(into="without_name", identifiers=[], rest="identifier")
        assert "name" not in own.session.connection.table("without_name").columns
        assert own.session.verify("without_name", policy(identifiers=[], rest="identifier")).met

    def test_columns_are_checked_before_taxonomies(self, own: Clinic) -> None:
        own.execute("UPDATE anon.taxonomy SET label = 'x' WHERE level = 0")
        with own.refusing(sa.PolicyError, '"name" has no role'):
            own.run(identifiers=[])
        with own.refusing(sa.TaxonomyError, "malformed"):
            own.run()

    @pytest.mark.parametrize("call", ["anonymize", "lattice", "explain"])
    def test_quasi_identifier_without_a_taxonomy(self, clinic: Clinic, call: str) -> None:
        wrong = policy(quasi_identifiers=["age", "city", "illness"], sensitive=[])
        with clinic.refusing(sa.TaxonomyError, '"illness"', "load"):
            getattr(clinic.session, call)("people", wrong, **({"into": "new"} if call == "anonymize" else {}))

    def test_values_not_in_a_taxonomy(self, own: Clinic) -> None:
        own.session.taxonomies.load("city", sa.Taxonomy.flat(["elsewhere"]))
        own.session.taxonomies.load("age", sa.Taxonomy.flat([30]))
        expected = ('table "people"', '"age": 1 distinct value in 4 rows', '"city": 1 distinct value in 8 rows')
        with own.refusing(sa.TaxonomyError, *expected) as caught:
            own.run()
        query = caught.value.problems[1].partition("list them by ")[2]
        cities = "SELECT city, count(*) FROM people GROUP BY city"
        connection = own.session.connection
        assert sorted(connection.execute(query).fetchall()) == connection.execute(cities).fetchall()

    def test_stored_taxonomy_that_was_broken_by_hand(self, own: Clinic) -> None:
        own.execute(f"UPDATE anon.taxonomy SET label = '{SECRET}' WHERE level = 2 AND value = '5'")
        with own.refusing(sa.TaxonomyError, '"age" level 2: several top labels (2)', "load"):
            own.run()
        assert own.session.taxonomies.check()["age"]

    def test_no_rows_or_no_node_leave_targets_as_they_are(self, clinic: Clinic) -> None:
        strict = policy(privacy=[sa.KAnonymity(9), sa.DistinctLDiversity("illness", 2)])
        expected = (
            "k-anonymity (k = 9)", 'distinct l-diversity of "illness" (l = 2)', "best node", "8 of 8 rows",
            "classes of 8 rows violate k-anonymity (k = 9)",
        )  # fmt: skip
        table, file = clinic.targets("published")
        with clinic.refusing(sa.PolicyError, "no rows"):
            clinic.session.anonymize("SELECT * FROM people WHERE age < 0", policy(), into=table, replace=True)
        with clinic.refusing(sa.UnsatisfiableError, *expected):
            clinic.session.anonymize("people", strict, into=file, replace=True)

    def test_a_missing_table_that_is_named_like_a_query(self, own: Clinic) -> None:
        for name in ("selection", "from_2024", "with_names"):
            own.execute(f'CREATE TABLE "{name}s" AS FROM people')
            with own.refusing(sa.EngineError, f'"{name}" is not a table or view', f'did you mean "{name}s"?'):
                own.run(name)

    def test_query_that_fails(self, clinic: Clinic) -> None:
        """The database quotes the value that it cannot convert; the error must not."""
        query = "SELECT age, city, illness, CAST(name AS INTEGER) AS name FROM people"
        wrong = policy(identifiers=[], insensitive=["name"], earlier="none")
        for into in clinic.targets("published"):
            with clinic.refusing(sa.EngineError, "ConversionException") as caught:
                clinic.session.anonymize(query, wrong, into=into, replace=True)
            assert isinstance(caught.value, sa.EngineError)
            assert SECRET in str(caught.value.original)


WIDE_RUNS: list[tuple[dict[str, Any], type[SqlanonError], str]] = [
    *(
        ({"row_weight": name}, sa.PolicyError, f'table "wide" ... "{name}": NULL, not positive or infinite')
        for name in ("zero", "negative", "absent", "infinite")
    ),
    ({"individual": "absent"}, sa.PolicyError, '"absent": NULL in 2 rows, which belong to no individual'),
    (
        {"individual": "absent", "row_weight": "zero"}, sa.PolicyError,
        '"zero": NULL, not positive ... "absent": NULL in 2 rows',
    ),
    (
        {"individual": "nobody", "row_weight": "zeroo"}, sa.PolicyError,
        'row_weight "zeroo" is not in the source; did you mean "zero"? ... individual "nobody" is not in',
    ),
    *(
        ({"privacy": [model]}, sa.TaxonomyError, 'the population "strangers" ... "city": 1 distinct value in 8 rows')
        for model in (sa.KMap(2, "strangers"), sa.DeltaPresence(0, 1, "strangers"))
    ),
    ({"privacy": [sa.KMap(2, "stranger")]}, sa.EngineError, '"stranger" ... did you mean "strangers"?'),
]  # fmt: skip


@pytest.fixture(scope="module")
def wide(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    """Table ``wide``, with more columns than ``people``, and populations that do not fit it."""
    with opened(made, tmp_path_factory.mktemp("wide")) as found:
        found.execute(
            "CREATE TABLE wide AS SELECT people.*, i AS zero, -i - 1 AS negative, CASE WHEN i > 1 THEN i END AS "
            "absent, CASE WHEN i > 0 THEN 1.0::DOUBLE ELSE 'infinity' END AS infinite "
            "FROM people POSITIONAL JOIN range(8) AS numbers (i)",
            f"CREATE TABLE strangers AS SELECT age, '{SECRET}!' AS city FROM people",
            f"CREATE TABLE faceless AS SELECT age AS agee, '{SECRET}' AS city FROM people",
        )
        yield found


class TestModels:
    """What privacy models, weights, individuals and level bounds ask of a source and what it lacks."""

    @staticmethod
    def policy(**changes: Any) -> sa.Policy:
        return policy(insensitive=["zero", "negative", "absent", "infinite"], **changes)

    @pytest.mark.parametrize(("changes", "kind", "message"), WIDE_RUNS)
    def test_wrong_runs(self, wide: Clinic, changes: dict[str, Any], kind: type[SqlanonError], message: str) -> None:
        with wide.refusing(kind, *message.split(" ... ")):
            wide.session.anonymize("wide", self.policy(**changes), into="new")

    def test_weights_that_are_no_number(self, wide: Clinic) -> None:
        nan = "SELECT * REPLACE ('nan'::DOUBLE AS zero) FROM wide"
        with wide.refusing(sa.PolicyError, '"zero": NULL, not positive or infinite in the cells of 8 rows'):
            wide.session.anonymize(nan, self.policy(row_weight="zero"), "new")

    @pytest.mark.parametrize("call", ["anonymize", "lattice", "explain", "measure"])
    def test_population_without_a_quasi_identifier(self, wide: Clinic, call: str) -> None:
        arguments = {"into": "new"} if call == "anonymize" else {}
        expected = ('the population, table "faceless"', 'quasi-identifier "age" is not there; did you mean "agee"?')
        with wide.refusing(sa.PolicyError, *expected):
            getattr(wide.session, call)("wide", self.policy(privacy=[sa.KMap(2, "faceless")]), **arguments)

    def test_hierarchical_distance_in_a_taxonomy_that_does_not_do(self, own: Clinic) -> None:
        for rows, problem in (
            ([["flu", "*"], ["gout", "*"]], "1 distinct value in 8 rows"),
            ([["flu", "some", "*"], ["gout", "some", "*"]], "1 distinct value in 8 rows"),
            ([[SECRET]], "a level above the values"),
        ):
            own.session.taxonomies.load("illness", sa.Taxonomy.from_rows(rows))
            with own.refusing(sa.TaxonomyError, problem, '"illness"'):
                own.run(privacy=[HIERARCHICAL])

    def test_levels_and_missing_taxonomies_come_at_once(self, own: Clinic) -> None:
        own.execute("DELETE FROM anon.taxonomy WHERE attribute = 'city'")
        own.session.taxonomies.load("illness", sa.Taxonomy.from_rows([[SECRET]]))
        with pytest.raises(sa.TaxonomyError) as caught:
            own.run(minimum_levels={"age": 7}, privacy=[HIERARCHICAL])
        assert caught.value.problems == (
            '"city" has no taxonomy',
            '"illness" needs a taxonomy with a level above the values for hierarchical distances',
            'minimum_levels: "age" has levels 0 to 2, so not 7',
        )
        assert "[taxonomies]" in caught.value.heading
        assert '"city" = { kind = "flat" }' in caught.value.heading
        assert all(kind in caught.value.heading for kind in RULES)

    def test_nobody_would_be_protected(self, own: Clinic) -> None:
        own.execute(
            "CREATE TABLE lonely AS SELECT DISTINCT ON (age) * REPLACE (i AS age) FROM people, range(8) AS r (i)"
        )
        inverse = policy(privacy=[], objective="privacy", max_loss=0, quality=sa.Prec(), identifiers=["name", "i"])
        with own.refusing(sa.UnsatisfiableError, "has k = 1", "raise max_loss"):
            own.session.anonymize("lonely", inverse, into="new")


class TestFiles:
    def test_parquet_files_that_are_not_there(self, clinic: Clinic) -> None:
        for path in (clinic.folder / "none.parquet", clinic.folder / "none" / "*.parquet"):
            with clinic.refusing(sa.EngineError, "no Parquet file can be read", str(path)):
                clinic.run(path)

    def test_file_that_is_no_parquet(self, own: Clinic) -> None:
        for content in (b"", b"PAR1", SECRET.encode() * 99, b"PAR1" + b"\x00" * 99 + b"PAR1"):
            (own.folder / "bad.parquet").write_bytes(content)
            with own.refusing(sa.EngineError, "no Parquet file can be read"):
                own.session.anonymize(own.folder / "bad.parquet", policy(), into="published", replace=True)

    def test_parquet_file_with_a_damaged_page(self, own: Clinic) -> None:
        target = own.folder / "damaged.parquet"
        own.execute(f"COPY people TO '{target}' (COMPRESSION zstd)")
        content = bytearray(target.read_bytes())
        content[4:200] = b"\xff" * 196
        target.write_bytes(content)
        with own.refusing(sa.EngineError, "the database stopped at"):
            own.session.anonymize(target, policy(), into="published", replace=True)

    def test_folders_that_are_none_and_a_file_that_is_one(self, own: Clinic) -> None:
        (own.folder / "file").write_text("x")
        for folder in (own.folder / "missing", own.folder / "file"):
            with own.refusing(sa.EngineError, f"the folder {folder} does not exist"):
                own.run(into=folder / "new.parquet")
        folder = own.folder.parent / f"{own.folder.name}.parquet"
        folder.mkdir()
        with own.refusing(sa.EngineError, "is a folder"):
            own.session.anonymize("people", policy(), into=folder, replace=True)

    def test_folder_that_may_not_be_written(self, clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "access", lambda *_: False)  # a user's rights; the tests may run as root
        with clinic.refusing(sa.EngineError, "cannot be written"):
            clinic.run(into=clinic.folder / "new.parquet")

    @pytest.mark.parametrize("name", ["x" * 300 + ".parquet", "x" * 245 + ".parquet", "a\0b.parquet"])
    def test_names_that_no_file_can_have(self, clinic: Clinic, name: str) -> None:
        with clinic.refusing(sa.EngineError):
            clinic.run(into=clinic.folder / name)

    def test_a_table_that_appears_during_the_run_is_not_replaced(self, own: Clinic) -> None:
        another = own.session.connection.cursor()
        for made_as, moment in (("TABLE", "encode"), ("VIEW", "search"), ("TABLE", "release")):

            def appear(event: sa.Event, made_as: str = made_as, moment: str = moment) -> None:
                if (event.stage, event.state) == (moment, "started"):
                    another.execute(f"CREATE {made_as} new AS SELECT 'of another connection' AS state")

            with pytest.raises(sa.EngineError, match=r'"new" exists.*replace=True'):
                own.session.anonymize("people", policy(earlier="none"), into="new", progress=appear)
            assert own.session.connection.execute("FROM new").fetchall() == [("of another connection",)]
            another.execute(f"DROP {made_as} new")

    def test_export_over_a_file(self, own: Clinic) -> None:
        (own.folder / "age.csv").write_text("old")
        with own.refusing(sa.TargetError, "exists"):
            own.session.taxonomies.export("age", own.folder / "age.csv")
        with own.refusing(sa.TaxonomyError, '"agee"', '"age"'):
            own.session.taxonomies.export("agee", own.folder / "new.csv")


class TestWarehouse:
    @pytest.mark.parametrize("read_only", [False, True])
    def test_locked_by_another_process(self, tmp_path: Path, read_only: bool) -> None:
        path = tmp_path / "locked.duckdb"
        with opened_elsewhere(path) as holder, pytest.raises(sa.EngineError) as caught:
            sa.connect(path, read_only=read_only)
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
    def test_a_release_that_falls_short_is_withdrawn(self, clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
        """As if the source had lost rows between the search and the writing."""
        honest = Run.released_rows
        monkeypatch.setattr(Run, "released_rows", lambda *given: honest(*given).limit(1))
        for into in ("new", *clinic.targets("published")):
            expected = ("withdrawn", "k-anonymity (k = 2): attained 1", "1 rows where 8")
            with clinic.refusing(sa.VerificationError, *expected):
                clinic.session.anonymize("people", policy(earlier="none"), into=into, replace=True)

    def test_tables_that_do_not_meet_a_policy(self, clinic: Clinic) -> None:
        higher = policy(privacy=[sa.KAnonymity(5), sa.DistinctLDiversity("illness", 3)])
        with clinic.refusing(sa.VerificationError, "k-anonymity (k = 5): attained 4", "(l = 3): attained 1"):
            clinic.session.verify("published", higher)
        assert len(clinic.session.verify("published", higher, strict=False).shortfalls) == 2
        with clinic.refusing(sa.VerificationError, 'it has the identifier "name"'):
            clinic.session.verify("people", policy())
        with clinic.refusing(sa.VerificationError, "it has no rows"):
            clinic.session.verify("SELECT age, city, illness FROM people LIMIT 0", policy())

    def test_tables_without_the_columns(self, own: Clinic) -> None:
        own.execute("CREATE TABLE other AS SELECT age AS agee FROM people")
        with own.refusing(sa.PolicyError, '"age" is not there; did you mean "agee"?', '"city"'):
            own.session.verify("other", policy())
        own.execute("CREATE TABLE source AS SELECT age, city AS cty FROM people")
        expected = (
            'table "source" is not the source of the release',
            '"city" is not there; did you mean "cty"?',
            '"illness"',
        )
        for verb in (own.session.report, partial(own.session.verify, policy=policy())):
            with own.refusing(sa.PolicyError, *expected):
                verb("published", source="source")


MALFORMED_LEVELS = {
    "(0, '30', '31'), (1, '30', '*')": "level 0 is not the value itself",
    "(-1, '30', 'x'), (0, '30', '30'), (1, '30', '*')": "1 rows whose level is not a whole number",
    "(0, '30', '30'), (2000000000, '30', '*')": "1 rows whose level is not a whole number",
    f"('{SECRET}', '30', '30')": "1 rows whose level is not a whole number",
}
"""The other problems are found in tests/sql/10_taxonomy.test."""
MALFORMED_FILES = (
    (b"", "not a hierarchy"),
    (b"\n\n", "not a hierarchy"),
    (b"30\n31\n", "two or more fields"),
    (b"30;3x;*\n31;*\n", "the same two or more fields"),
    (b"30|3x|*\n31|3x|*\n", "no delimiter among"),
    (b"30;\xff\xfe;*\n", "not UTF-8"),
    ("30;x;*\n".encode("utf-16"), "not UTF-8"),
    (b"30;3x;*\n31;3x;" + b"y" * 200_000, "cannot be read"),
)
RULES_OF_OTHER_VALUES = {
    "numbers": (sa.Taxonomy.intervals([10]), sa.Taxonomy.cuts([[10]])),
    "dates": (sa.Taxonomy.dates(),),
    "ICD-9 codes": (sa.Taxonomy.icd9(),),
    "ICD-10 codes": (sa.Taxonomy.icd10(),),
    "IPv4 addresses": (sa.Taxonomy.ipv4(),),
}


class TestTaxonomies:
    """Every malformed taxonomy of the ages 30 and 31, and the one that is there stays."""

    @pytest.fixture
    def load(self, clinic: Clinic) -> Callable[..., None]:
        return clinic.session.taxonomies.load

    def test_all_problems_come_at_once(self, clinic: Clinic, load: Any) -> None:
        rows = [("30", SECRET, "*"), ("31", SECRET, "x"), ("32", "", "*"), ("32", "b", "*"), (None, None, "")]
        with clinic.refusing(sa.TaxonomyError, "not nested", "several top", "empty label", "several labels"):
            load("age", sa.Taxonomy.from_rows(rows), source="people")

    @pytest.mark.parametrize("values", MALFORMED_LEVELS)
    def test_long_relations(self, clinic: Clinic, load: Any, values: str) -> None:
        query = f"SELECT * FROM (VALUES {values}) AS t (level, value, label)"
        with clinic.refusing(sa.TaxonomyError, MALFORMED_LEVELS[values]):
            load("age", sa.Taxonomy.from_query(query))

    def test_relations_that_are_none(self, clinic: Clinic, load: Any) -> None:
        with clinic.refusing(sa.TaxonomyError, "no values"):
            load("age", sa.Taxonomy.from_query("SELECT '30', '*' WHERE false"))
        with clinic.refusing(sa.EngineError, "SELECT query"):
            load("age", sa.Taxonomy.from_query("DROP TABLE people"))

    def test_what_does_not_fit_the_source(self, clinic: Clinic, load: Any) -> None:
        with clinic.refusing(sa.TaxonomyError, 'table "people"', "1 distinct value in 4 rows"):
            load("age", sa.Taxonomy.flat([30]), source="people")
        with clinic.refusing(sa.TaxonomyError, '"aeg" is not in table "people"', 'did you mean "age"?'):
            load("aeg", sa.Taxonomy.flat(), source="people")
        with clinic.refusing(sa.TaxonomyError, '"people" is not in table "people"'):
            load("age", sa.Taxonomy.flat(), source="people", column="people")
        with clinic.refusing(sa.TaxonomyError, '"age" has no declared domain', "source"):
            load("age", sa.Taxonomy.flat())

    @pytest.mark.parametrize("takes", RULES_OF_OTHER_VALUES)
    def test_rules_that_do_not_apply_to_the_values(self, clinic: Clinic, load: Any, takes: str) -> None:
        for taxonomy in RULES_OF_OTHER_VALUES[takes]:
            with clinic.refusing(sa.TaxonomyError, f'"city" has 1 value other than {takes}, which get no label'):
                load("city", taxonomy, source="people")

    @pytest.mark.parametrize("taxonomy", [sa.Taxonomy.intervals([10, 20]), sa.Taxonomy.cuts([[5]])])
    def test_decimal_commas(self, own: Clinic, taxonomy: sa.Taxonomy) -> None:
        own.execute("CREATE TABLE commas AS SELECT unnest(['1,5', '-1.234,5', '7,25 ', '8.5', '9', 'a,5']) AS weight")
        with pytest.raises(sa.TaxonomyError) as caught:
            own.session.taxonomies.load("weight", taxonomy, source="commas")
        assert caught.value.problems == (
            '"weight" has 4 values other than numbers, which get no label: 3 with a decimal comma; write a decimal '
            "point in its place, as by replace(value, ',', '.') in a view or a query",
        )
        (own.folder / "weight.csv").write_text("1,5,light,*\n2,light,*\n")
        with own.refusing(sa.TaxonomyError, 'quote a field with a delimiter in it, as "1,5"'):
            own.session.taxonomies.load("weight", own.folder / "weight.csv")

    @pytest.mark.parametrize(("content", "message"), MALFORMED_FILES, ids=[message for _, message in MALFORMED_FILES])
    def test_files(self, clinic: Clinic, load: Any, content: bytes, message: str) -> None:
        path = clinic.folder / "age.csv"
        path.write_bytes(content)
        with clinic.refusing(sa.TaxonomyError, str(path), message):
            load("age", path)

    def test_files_that_are_not_there(self, clinic: Clinic, load: Any) -> None:
        for path in (clinic.folder / "none.csv", clinic.folder):
            with clinic.refusing(sa.TaxonomyError, f"{path} cannot be read"):
                load("age", path)

    def test_a_first_taxonomy_that_is_refused_leaves_no_schema(self) -> None:
        with sa.connect() as session:
            with pytest.raises(sa.TaxonomyError):
                session.taxonomies.load("age", sa.Taxonomy.from_rows([("1", "a"), ("2", "b")]))
            schemas = "SELECT schema_name FROM duckdb_schemas() WHERE schema_name = 'anon'"
            assert session.connection.execute(schemas).fetchall() == []
            assert session.taxonomies.list() == {}
            assert session.taxonomies.check() == {}


class TestInterruption:
    def test_a_statement_of_a_search_that_fails_is_the_one_that_is_named(
        self, own: Clinic, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Not one that would have tidied up, which the database refuses after it."""
        before = own.state()
        failing = parse_one("SELECT error(CAST(i AS VARCHAR)) FROM range(1) AS rows (i)", dialect="duckdb")
        for cost in ("BIG", "STEP_ROWS", "MAKING", "CLASS_ROWS"):
            monkeypatch.setattr(roll_up, cost, 0)  # so that there is a relation to tidy up
        monkeypatch.setattr(evaluate, "any_node_summaries", lambda *_: failing.copy())
        of_people = policy(individual="name")  # who are counted by SQL
        with pytest.raises(sa.EngineError) as raised:
            own.session.anonymize("people", of_people, into="published", replace=True)
        assert raised.value.step == "nodes of the lattice"
        assert own.state() == before


def test_every_error_is_in_the_tree_of_the_documentation() -> None:
    """Every class of errors is documented in the tree of sqlanon/errors.py."""
    text = (ROOT / "sqlanon" / "errors.py").read_text()
    for name in ("PolicyError", "TaxonomyError", "UnsatisfiableError", "VerificationError", "EngineError"):
        assert re.search(rf"[├└]── {name}", text)
        assert issubclass(getattr(sa, name), sa.SqlanonError)
