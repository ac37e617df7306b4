"""Generalizing new rows like a release: the session and the command line, what they write and what they refuse."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests.commands import document, sqlanon
from tests.fixed_noise import FixedNoise
from tests.stories.test_flatten import VALUE, quoted, tables
from tests.strategies import HOSTILE_NAMES

PATIENTS = """
CREATE TABLE patients AS
SELECT
    id, 20 + id % 60 AS age, ['clerk', 'cook', 'nurse', 'smith'][1 + id % 4] AS job,
    [['a1', 'b1'], ['a2'], [], ['b1', NULL]][1 + id % 4] AS drugs, if(id % 60 < 25, 'ill', 'well') AS state
FROM range(240) AS numbers (id)
"""

NEW = f"""
CREATE TABLE new AS FROM (VALUES
    ('{VALUE}', 'cook', 10, ['a1', 'a2', NULL]), ('n2', NULL, 44, NULL), ('n3', 'nurse', NULL, []),
    ('n4', 'smith', 90, ['b1'])
) AS found (name, job, age, drugs)
"""

PREDICTORS = ("age", "job", "drugs")
JOBS = [["clerk", "office", "*"], ["cook", "home", "*"], ["nurse", "home", "*"], ["smith", "home", "*"]]
DRUGS = [["a1", "a", "*"], ["a2", "a", "*"], ["b1", "b", "*"]]


def policy(**options: Any) -> sa.Policy:
    settings = {"numeric": {"age": (15, 95)}, "sets": ["drugs"], "specializations": 4, "budget": sa.Budget(60)}
    method = sa.DiffGen(**{**settings, **options})
    return sa.Policy(quasi_identifiers=list(PREDICTORS), sensitive=["state"], identifiers=["id"], method=method)


def load(session: sa.Session) -> None:
    session.connection.execute(PATIENTS)
    session.connection.execute(NEW)
    session.taxonomies.load("job", sa.Taxonomy.from_rows(JOBS))
    session.taxonomies.load("drugs", sa.Taxonomy.from_rows(DRUGS))
    session.taxonomies.load("state", sa.Taxonomy.flat(["ill", "well"]))


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a warehouse: releases with their cut, rows that come after them, and files of both."""
    folder = tmp_path_factory.mktemp("clinic")
    with sa.connect(folder / "clinic.duckdb", threads=1) as session:
        load(session)
        for into, more in (("released", {"tables": {"cuts": "cuts"}}), (folder / "released.parquet", {})):
            session.anonymize("patients", policy(), into, random_source=FixedNoise(0), **more)
        session.taxonomies.export("job", folder / "job.csv")
        session.taxonomies.export("drugs", folder / "drugs.csv")
        session.connection.execute(f"COPY new TO '{folder}/new.parquet'")
    return folder


@pytest.fixture
def folder(clinic: Path, tmp_path: Path) -> Path:
    return shutil.copytree(clinic, tmp_path / "clinic")


@pytest.fixture
def session(folder: Path) -> Iterator[sa.Session]:
    with duckdb.connect(folder / "clinic.duckdb", config={"threads": 1}) as connection:
        yield sa.connect(connection)


def rows(session: sa.Session, relation: str) -> list[tuple[Any, ...]]:
    return session.connection.execute(f"FROM {relation} ORDER BY 1").fetchall()


def facts(session: sa.Session, table: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(session.provenance(table) or "null")["sqlanon"]
    return found


class TestTheCutBesideARelease:
    def test_it_has_a_label_for_every_value_number_and_item(self, session: sa.Session) -> None:
        found = session.connection.execute("FROM cuts").fetchall()
        assert {name for name, *_ in found} == {*PREDICTORS}
        assert {value for name, value, *_ in found if name == "job"} == {"clerk", "cook", "nurse", "smith"}
        assert {value for name, value, *_ in found if name == "drugs"} - {None} == {"a1", "a2", "b1"}
        bounds = [(low, high) for name, _, low, high, _ in found if name == "age"]
        assert (bounds[0][0], bounds[-1][1]) == (15, 95)
        assert [high for _, high in bounds[:-1]] == [low for low, _ in bounds[1:]]

    def test_its_note_tells_what_it_is_beside(self, session: sa.Session) -> None:
        assert facts(session, "cuts")["companion"] == {"name": "cuts", "release": "released"}

    @pytest.mark.parametrize(
        "change",
        [
            "UPDATE {} SET label = 'x' WHERE attribute = 'job'",
            "DELETE FROM {} WHERE low IS NOT NULL",
            "INSERT INTO {} FROM {}",
        ],
    )
    def test_another_cut_than_was_drawn_is_withdrawn(
        self, session: sa.Session, change: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from sqlanon.publish.targets import TableTarget

        write = TableTarget.write

        def write_and_change(self: TableTarget, query: Any, *, streamed: bool = False) -> Any:
            written = write(self, query, streamed=streamed)
            if self.name == "cuts_2":
                session.connection.execute(change.format("cuts_2", "cuts_2"))
            return written

        monkeypatch.setattr(TableTarget, "write", write_and_change)
        with pytest.raises(sa.VerificationError) as caught:
            session.anonymize("patients", policy(), "again", tables={"cuts": "cuts_2"}, random_source=FixedNoise(0))
        assert "table of cuts differs" in caught.value.problems[0]
        assert session.connection.execute("FROM duckdb_tables() SELECT table_name ORDER BY ALL").fetchall() == [
            (name,)
            for name in (
                "cuts",
                "new",
                "patients",
                "released",
                "releases",
                "taxonomy",
                "taxonomy_domain",
                "taxonomy_origin",
            )
        ]

    def test_the_note_of_the_release_tells_the_cut(self, session: sa.Session) -> None:
        found = facts(session, "released")["labels"]
        assert found["kind"] == "cut"
        columns = [{*found[kind]} for kind in ("labels", "intervals", "items")]
        assert columns == [{"job"}, {"age"}, {"drugs"}]
        labels = dict(
            session.connection.execute("SELECT attribute, list(DISTINCT label) FROM cuts GROUP BY 1").fetchall()
        )
        assert sorted(f"[{low}, {high})" for low, high in found["intervals"]["age"]) == sorted(labels["age"])
        assert sorted(label for _, label in found["labels"]["job"]) == sorted(labels["job"])
        assert sorted(label for _, label in found["items"]["drugs"] if label) == sorted(labels["drugs"])

    def test_labels_that_are_none_of_the_noted_cut_are_found(self, session: sa.Session) -> None:
        roles: dict[str, Any] = {
            "quasi_identifiers": ["age", "job"],
            "sensitive": ["state"],
            "identifiers": ["id", "drugs"],
        }
        method = sa.DiffGen(numeric={"age": (15, 95)}, budget=sa.Budget(60), output="rows")
        session.anonymize("patients", sa.Policy(**roles, method=method), "flat", random_source=FixedNoise(0))
        held_against = sa.Policy(**roles, privacy=[sa.KAnonymity(2)])
        assert session.verify("flat", held_against, strict=False).shortfalls == ()
        session.connection.execute("UPDATE flat SET age = '[1, 2)' WHERE state = 'ill'; UPDATE flat SET job = 'poet'")
        found = session.verify("flat", held_against, strict=False).shortfalls
        labels = [shortfall.partition(" has ")[0] for shortfall in found if " has " in shortfall]
        assert labels == ['column "job"', 'column "age"']


class TestResult:
    def test_rows_are_those_of_the_macro(self, session: sa.Session) -> None:
        done = session.generalize("new", "released", "new_like_released")
        assert (done.source, done.release) == ('table "new"', 'table "released"')
        assert done.columns == ("name", "job", "age", "drugs")
        assert done.generalized == ("job", "age", "drugs")
        assert done.rows == 4
        session.install()
        session.connection.execute(
            "CREATE TABLE by_macro AS SELECT name, job, age, drugs "
            "FROM anon.apply_cut('new', 'cuts', ['job'], ['age'], ['drugs'])"
        )
        found = rows(session, "new_like_released")
        assert found == rows(session, "by_macro")
        by_name = {name: labels for name, *labels in found}
        assert by_name["n2"][0] is by_name["n2"][2] is by_name["n3"][1] is None
        assert by_name[VALUE][1].startswith("[15, ")
        assert by_name["n4"][1].endswith(", 95)")

    def test_rows_of_the_source_get_the_labels_that_were_released(self, session: sa.Session) -> None:
        session.generalize("patients", "released", "again")
        query = (
            "SELECT age, job, drugs, state, count(*) AS count FROM again GROUP BY ALL HAVING count(*) > {} ORDER BY ALL"
        )
        released = session.connection.execute(
            "SELECT age, job, drugs, state, count FROM released ORDER BY ALL"
        ).fetchall()
        least = min(row[-1] for row in released) - 1
        assert session.connection.execute(query.format(least)).fetchall() == released

    @pytest.mark.parametrize("kind", ["parquet", "csv", "folder"])
    def test_releases_and_targets_that_are_files(self, session: sa.Session, tmp_path: Path, kind: str) -> None:
        release, into = (tmp_path / "released", tmp_path / "like")
        names = (f"{release}/", f"{into}/") if kind == "folder" else (f"{release}.{kind}", f"{into}.{kind}")
        wanted = sa.Policy(
            quasi_identifiers=["age", "job"],
            sensitive=["state"],
            identifiers=["id", "drugs"],
            method=sa.DiffGen(numeric={"age": (15, 95)}, budget=sa.Budget(60)),
        )
        session.anonymize("patients", wanted, names[0], random_source=FixedNoise(0))
        session.generalize("SELECT name, age, job FROM new", names[0], names[1])
        session.generalize("SELECT name, age, job FROM new", names[0], "like_it")
        read = {"parquet": f"'{names[1]}'", "csv": f"'{names[1]}'", "folder": f"'{names[1]}*.parquet'"}[kind]
        assert rows(session, read) == rows(session, "like_it")

    def test_columns_of_another_case(self, session: sa.Session) -> None:
        done = session.generalize('SELECT name, job AS "JOB", age AS "Age", drugs FROM new', "released", "like_it")
        assert done.columns == ("name", "job", "age", "drugs")

    def test_hostile_names(self, session: sa.Session) -> None:
        """Of all of them; the macros have theirs from Hypothesis."""
        texts, numbers = HOSTILE_NAMES[::2], HOSTILE_NAMES[1::2]
        for name in texts:
            session.taxonomies.load(name, sa.Taxonomy.from_rows(JOBS))
        method = sa.DiffGen(numeric=dict.fromkeys(numbers, (15, 95)), budget=sa.Budget(60), specializations=2)
        wanted = sa.Policy(quasi_identifiers=[*texts, *numbers], sensitive=["state"], method=method)
        columns = [f"job AS {quoted(name)}" for name in texts] + [f"age AS {quoted(name)}" for name in numbers]
        source = f"SELECT {', '.join(columns)}, state FROM patients"
        session.anonymize(source, wanted, "hostile", random_source=FixedNoise(0))
        done = session.generalize(source, "hostile", "like_it")
        assert (done.generalized, done.rows) == ((*texts, *numbers), 240)

    def test_its_note_quotes_no_value(self, session: sa.Session) -> None:
        session.generalize("new", "released", "like_it")
        assert VALUE not in (session.provenance("like_it") or "")
        found = facts(session, "like_it")
        assert (found["generalized"]["rows"], found["generalized"]["columns"]) == (4, ["job", "age", "drugs"])
        assert found["generalized"]["policy_sha256"] == policy().sha256()

    def test_nothing_is_left_behind(self, session: sa.Session) -> None:
        before = {*session.connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        session.generalize("new", "released", "like_it")
        after = {*session.connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        assert after - before == {("like_it",)}


class TestRefusals:
    def refused(self, session: sa.Session, error: type[sa.SqlanonError], *given: str, **more: Any) -> sa.SqlanonError:
        with pytest.raises(error) as caught:
            session.generalize(*given, **{"into": "like_it", **more})
        assert VALUE not in str(caught.value)
        assert not session.connection.execute("FROM duckdb_tables() WHERE table_name = 'like_it'").fetchall()
        return caught.value

    def test_what_has_no_note(self, session: sa.Session) -> None:
        assert "no note" in str(self.refused(session, sa.PolicyError, "new", "patients"))
        session.connection.execute("COMMENT ON TABLE patients IS 'mine'; CREATE VIEW seen AS FROM released")
        assert "no note" in str(self.refused(session, sa.PolicyError, "new", "patients"))
        assert "no note" in str(self.refused(session, sa.PolicyError, "new", "seen"))
        self.refused(session, sa.EngineError, "new", "nothing")

    def test_what_has_no_cut(self, session: sa.Session) -> None:
        k_anonymous = sa.Policy(
            quasi_identifiers=["job"],
            identifiers=["id", "age", "drugs"],
            sensitive=["state"],
            privacy=[sa.KAnonymity(2)],
        )
        session.anonymize("patients", k_anonymous, "at_a_node")
        for table in ("at_a_node", "cuts"):
            assert "no cut" in str(self.refused(session, sa.PolicyError, "new", table))

    def test_all_columns_that_do_not_fit_at_once(self, session: sa.Session) -> None:
        found = self.refused(
            session, sa.PolicyError, "SELECT 1 AS aeg, [job] AS job, 'x' AS drugs FROM new", "released"
        )
        assert found.problems == (
            '"job" is VARCHAR[], where the release has one label',
            'column "age" is not there; did you mean "aeg"?',
            '"drugs" is VARCHAR, not a list of items: gather them with list(item) in a view',
        )
        found = self.refused(session, sa.PolicyError, "SELECT * REPLACE ('10' AS age) FROM new", "released")
        assert found.problems == ('"age" is VARCHAR, not a number: cast it in a view',)

    def test_values_without_a_label_are_counted(self, session: sa.Session) -> None:
        session.connection.execute(
            f"INSERT INTO new VALUES ('x', '{VALUE}', 3, ['{VALUE}', 'a1']), ('y', '{VALUE}', 3, [])"
        )
        found = self.refused(session, sa.PolicyError, "new", "released")
        assert found.problems == ('"job": 2 rows', '"drugs": 1 rows')

    def test_taxonomies_that_are_not_those_of_the_release(self, session: sa.Session) -> None:
        session.taxonomies.load("job", sa.Taxonomy.from_rows([*JOBS, ["poet", "home", "*"]]))
        session.connection.execute("DELETE FROM anon.taxonomy WHERE attribute = 'drugs'")
        found = self.refused(session, sa.TaxonomyError, "new", "released")
        assert found.problems == (
            'the taxonomy "job" is another one: load that of the release',
            'the taxonomy "drugs" is missing: load it',
        )

    def test_targets_that_are_taken(self, session: sa.Session) -> None:
        for into in ("patients", "new", "released"):
            self.refused(session, sa.EngineError, "new", "released", into=into)
        for into in ("new", "released"):
            self.refused(session, sa.EngineError, "new", "released", into=into, replace="anything")
        session.generalize("new", "released", "again")
        assert session.generalize("new", "released", "again", replace=True).rows == 4

    def test_a_cut_of_very_many_labels_is_not_noted(self, session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
        from sqlanon.methods.cuts.diffgen import method

        monkeypatch.setattr(method, "MAX_RECORDED_LABELS", 2)
        session.anonymize("patients", policy(), "large", tables={"cuts": "large_cuts"}, random_source=FixedNoise(0))
        assert facts(session, "large")["labels"] is None
        assert "very many labels" in str(self.refused(session, sa.PolicyError, "new", "large"))


class TestCommand:
    """``sqlanon generalize``."""

    def test_a_table_to_json(self, folder: Path) -> None:
        command = ["generalize", "new", "--like", "released", "--db", "clinic.duckdb", "--into", "like_it"]
        done = sqlanon(*command, "--json", folder=folder)
        assert done.returncode == 0, done.stderr
        assert document(done)["generalized"] == ["job", "age", "drugs"]
        assert VALUE not in done.stdout + done.stderr
        assert "like_it" in tables(folder / "clinic.duckdb")
        assert sqlanon(*command, folder=folder).returncode == 1
        again = sqlanon(*command, "--replace", folder=folder)
        assert (again.returncode, again.stdout) == (0, "")
        assert "4 rows" in again.stderr

    def test_files_without_a_warehouse(self, folder: Path) -> None:
        taxonomies = ["--taxonomy", "job=job.csv", "--taxonomy", "drugs=drugs.csv"]
        command = ["generalize", "new.parquet", "--like", "released.parquet", "--into", "like.parquet"]
        assert sqlanon(*command, folder=folder).returncode == 2
        done = sqlanon(*command, *taxonomies, folder=folder)
        assert done.returncode == 0, done.stderr
        assert (folder / "like.parquet").is_file()

    @pytest.mark.parametrize(
        ("source", "like", "into", "code", "kind"),
        [
            ("new", "patients", "t", 2, "PolicyError"),
            ("patients", "nothing", "t", 1, "EngineError"),
            ("SELECT 1 AS age", "released", "t", 2, "PolicyError"),
            ("new", "released", "new", 1, "EngineError"),
        ],
    )
    def test_refusals(self, folder: Path, source: str, like: str, into: str, code: int, kind: str) -> None:
        result = sqlanon(
            *["generalize", source, "--like", like, "--into", into, "--db", "clinic.duckdb", "--json"], folder=folder
        )
        assert (result.returncode, document(result)["error"]["kind"]) == (code, kind), result.stderr
        assert VALUE not in result.stdout + result.stderr
