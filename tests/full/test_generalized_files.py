"""New rows with labels of a release, in files and under hostile names."""

from pathlib import Path
from typing import Any

import sqlglot

import sqlanon as sa
from sqlanon.queries.kit.macros import expand
from sqlanon.queries.kit.nodes import DIALECT
from tests.case_tables import quoted
from tests.fixed_noise import FixedNoise
from tests.stories import test_generalize
from tests.stories.test_flatten import VALUE
from tests.stories.test_generalize import JOBS, facts, policy, rows
from tests.strategies import HOSTILE_NAMES

clinic, folder, session = test_generalize.clinic, test_generalize.folder, test_generalize.session


class TestResult:
    def test_rows_are_those_of_the_macro(self, session: sa.Session) -> None:
        done = session.generalize("new", "released", "new_like_released")
        assert (done.source, done.release) == ('table "new"', 'table "released"')
        assert done.columns == ("name", "job", "age", "drugs")
        assert done.generalized == ("job", "age", "drugs")
        assert done.rows == 4
        by_macro = "SELECT name, job, age, drugs FROM anon.apply_cut('new', 'cuts', ['job'], ['age'], ['drugs'])"
        expanded = expand(sqlglot.parse_one(by_macro, dialect=DIALECT)).sql(DIALECT)
        session.connection.execute(f"CREATE TABLE by_macro AS {expanded}")
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

    def test_releases_and_targets_that_are_files(self, session: sa.Session, tmp_path: Path) -> None:
        roles: dict[str, Any] = {"sensitive": ["state"], "identifiers": ["id", "drugs"]}
        method = sa.DiffGen(numeric={"age": (15, 95)}, budget=sa.Budget(60))
        wanted = sa.Policy(quasi_identifiers=["age", "job"], method=method, **roles)
        new = "SELECT name, age, job FROM new"
        # Of each kind one after the other; the command has Parquet files.
        ends, found = (".csv", "/"), []
        for end, other in zip(ends, reversed(ends), strict=True):
            release, into = f"{tmp_path}/released{end}", f"{tmp_path}/like{other}"
            session.anonymize("patients", wanted, release, random_source=FixedNoise(0))
            session.generalize(new, release, into)
            found.append(rows(session, f"'{into}{'*.parquet' if other == '/' else ''}'"))
        session.generalize(new, f"{tmp_path}/released/", "like_it")
        assert found[0] == found[1] == rows(session, "like_it")

    def test_hostile_names(self, session: sa.Session) -> None:
        """Of all of them; the macros have theirs from Hypothesis."""
        texts, numbers = HOSTILE_NAMES[::2], HOSTILE_NAMES[1::2]
        session.taxonomies.load_all({name: sa.Taxonomy.from_rows(JOBS) for name in texts})
        method = sa.DiffGen(numeric=dict.fromkeys(numbers, (15, 95)), budget=sa.Budget(60), specializations=2)
        wanted = sa.Policy(quasi_identifiers=[*texts, *numbers], sensitive=["state"], method=method)
        columns = [f"job AS {quoted(name)}" for name in texts] + [f"age AS {quoted(name)}" for name in numbers]
        source = f"SELECT {', '.join(columns)}, state FROM patients"
        session.anonymize(source, wanted, "hostile", random_source=FixedNoise(0))
        done = session.generalize(source, "hostile", "like_it")
        assert (done.generalized, done.rows) == ((*texts, *numbers), 240)

    def test_its_note_quotes_no_value(self, session: sa.Session) -> None:
        before = {*session.connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        source = 'SELECT name, job AS "JOB", age AS "Age", drugs FROM new'
        assert session.generalize(source, "released", "like_it").columns == ("name", "job", "age", "drugs")
        after = {*session.connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        assert after - before == {("like_it",)}, "nothing else is left behind"
        assert VALUE not in (session.provenance("like_it") or "")
        found = facts(session, "like_it")["generalized"]
        assert (found["rows"], found["columns"]) == (4, ["job", "age", "drugs"])
        assert found["policy_sha256"] == policy().sha256()
