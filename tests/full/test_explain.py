"""Explain is the run: what it shows is what a run sends, in the order in which it does, and no row is read for it."""

import re
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.papers import IPAAsPublished
from sqlanon.queries.examination import JUDGED_CELLS
from sqlanon.queries.exposures import FEW_ROWS, PAIRS
from tests.conftest import clinic_policy
from tests.effort import some
from tests.golden.recording import Recorder, in_lines

POLICIES = {
    "masked": clinic_policy(
        sa.KAnonymity(2), sa.DistinctLDiversity("diagnosis", 2), suppression="mask", suppression_limit=0.3
    ),
    "inverse": clinic_policy(objective="privacy", max_loss=1.0, quality=sa.Prec(), suppression_limit=0.3),
    "ipa": clinic_policy(method=sa.IPA(budget=sa.Budget(2, "0.001"), accept_observed_domain=True)),
    "histogram": clinic_policy(method=sa.Histogram(budget=sa.Budget(2, "0.001"), accept_observed_domain=True)),
    "as published": clinic_policy(method=IPAAsPublished()),
    "relocation": clinic_policy(method=sa.Relocation(2, limit=0.5)),
    "h-ceiling": clinic_policy(method=sa.HCeiling(2, h=0.5)),
}


@pytest.mark.repeated
@pytest.mark.parametrize("name", some(POLICIES, "masked", "ipa", "relocation", "h-ceiling"))
def test_every_table_of_a_run_is_explained(clinic: sa.Session, name: str) -> None:
    """But for nodes of a search and for findings, a run makes the tables that are explained, in their order.

    Explaining leaves none of them, nor any type.
    """
    policy, source = POLICIES[name], "FROM visits WHERE diagnosis IS NOT NULL"
    left = "SELECT table_name FROM duckdb_tables() UNION ALL SELECT type_name FROM duckdb_types() ORDER BY ALL"
    before = clinic.connection.execute(left).fetchall()
    explained = [step.makes for step in clinic.explain(source, policy) if step.makes]
    assert clinic.connection.execute(left).fetchall() == before
    recorder = Recorder(clinic.connection)
    with sa.connect(recorder) as session:  # type: ignore[arg-type]
        seeded = sa.SeededSource(1) if policy.has_private_method else None
        session.anonymize(source, policy, "released", random_source=seeded)
    made = [name for name in (_made(statement) for statement in recorder.statements) if name]
    assert explained[-1] == "the_release"
    assert [name for name in made if name in explained] == explained[:-1]
    # Numbers that are drawn come through a view of their values.
    drawn = {f"{name}_values" for name in explained}
    by_the_data = {each.name for each in (FEW_ROWS, PAIRS, JUDGED_CELLS)}
    assert {name for name in made if "rolled_up" not in name} - by_the_data <= {*explained, *drawn, "released"}


def test_statements_of_a_run_are_written(clinic: sa.Session, tmp_path: Path) -> None:
    """In their order, each once, so that a client can send them again."""
    recorder, path = Recorder(clinic.connection), tmp_path / "run.sql"
    with sa.connect(recorder) as session:  # type: ignore[arg-type]
        session.anonymize("visits", POLICIES["masked"], "released", sql=path)
    written = re.findall(r"-- (\d+)\. (.+) \(\d+\.\d ms\)\n((?s:.+?));\n\n", path.read_text())
    assert [int(number) for number, _, _ in written] == [*range(1, len(written) + 1)]
    assert "nodes of the lattice" in {purpose for _, purpose, _ in written}
    sent = [in_lines(sql) for sql in recorder.statements if sql.startswith("CREATE TEMPORARY TABLE")]
    assert sent == [sql for _, _, sql in written if sql.startswith("CREATE TEMPORARY TABLE")]
    for taken in (path, Path("/dev/full")):
        before = taken.read_bytes() if taken is path else b""
        with pytest.raises(sa.EngineError, match=f"{taken} exists; give a new file for the statements"):
            clinic.anonymize("visits", POLICIES["masked"], "another", sql=taken)
        assert before == (path.read_bytes() if taken is path else b"")
    assert clinic.connection.execute("FROM duckdb_tables() WHERE table_name = 'another'").fetchall() == []


def test_no_row_is_read(tmp_path: Path) -> None:
    """A source whose rows are all errors can be explained: even its population is left alone.

    So can it in a warehouse that is read-only.
    """
    policy = sa.Policy(quasi_identifiers=["age"], privacy=[sa.KAnonymity(2), sa.KMap(2, "trap")])
    with sa.connect(tmp_path / "w.duckdb") as session:
        session.connection.execute("CREATE TABLE ages AS SELECT i AS age FROM range(20) AS t(i)")
        session.taxonomies.load("age", sa.Taxonomy.intervals([5, 10]), source="ages")
        session.connection.execute("CREATE VIEW trap AS SELECT error('a row was read')::INT AS age FROM ages")
        with pytest.raises(sa.EngineError, match="stopped at cells"):
            session.anonymize("trap", policy, "released")
        steps = session.explain("trap", policy)
    assert any('"trap"' in step.sql for step in steps)
    assert not any("FALSE" in step.sql.upper().split("WHERE")[-1][:10] for step in steps)
    with sa.connect(tmp_path / "w.duckdb", read_only=True) as session:
        assert [step.purpose for step in session.explain("trap", policy)] == [step.purpose for step in steps]


LINKED = sa.LinkedPolicy(
    tables={
        "people": sa.TableRoles(
            row_key="id",
            quasi_identifiers=["age"],
            taxonomies={"age": sa.Taxonomy.intervals([20], minimum=0, maximum=99)},
        ),
        "stays": sa.TableRoles(
            parent="people",
            key="id",
            quasi_identifiers=["ward"],
            sensitive=["code"],
            suppression_limit=0.9,
            taxonomies={"ward": sa.Taxonomy.flat(["a", "b", "c"])},
        ),
    },
    privacy=[sa.KnownRows(2, m=1)],
    suppression_limit=0.5,
)
PEOPLE = """
CREATE TABLE people AS SELECT i AS id, i % 100 AS age FROM range(200) AS t (i);
CREATE TABLE stays AS SELECT i % 200 AS id, 'abc'[1 + i % 3] AS ward, 'c' || i % 5 AS code FROM range(900) AS t (i);
"""


@pytest.mark.parametrize(
    "changes", [{}, {"method": "local-recoding"}, {"privacy": [sa.KnownRows(2, m=2)]}, {"privacy": [sa.KAnonymity(2)]}]
)
def test_tables_of_a_run_over_linked_tables_are_explained(tmp_path: Path, changes: dict[str, Any]) -> None:
    """In their order, among those of other nodes of a search and of other levels; none of them is left."""
    policy, left = LINKED.changed(changes), "SELECT table_name FROM duckdb_tables() ORDER BY ALL"
    with sa.connect() as session:
        session.connection.execute(PEOPLE)
        before = session.connection.execute(left).fetchall()
        explained = [step.makes.removeprefix("the_") for step in session.explain({}, policy) if step.makes]
        assert session.connection.execute(left).fetchall() == before
        session.anonymize({}, policy, "released", sql=tmp_path / "run.sql")
    created = r'^CREATE (?:OR REPLACE )?(?:TEMPORARY )?TABLE (?:"\w+"\.)*"?(\w+)"? AS'
    made = re.findall(created, (tmp_path / "run.sql").read_text(), re.MULTILINE)
    rest = iter(made)
    assert [name for name in explained if name not in rest] == [], made
    kinds, shown = ({re.sub(r"\d+$", "", name) for name in names} for names in (made, explained))
    assert kinds - {"anon_staged"} == shown  # where values of taxonomies are read


def test_no_row_of_linked_tables_is_read() -> None:
    with sa.connect() as session:
        session.connection.execute(PEOPLE.replace("i % 100", "error('a row was read')::INT").replace("TABLE", "VIEW"))
        with pytest.raises(sa.EngineError, match='stopped at rows of "people"'):
            session.anonymize({}, LINKED, "released")
        steps = session.explain({"stays": "SELECT * FROM stays"}, LINKED)
        with pytest.raises(sa.PolicyError, match="a source for each"):
            session.explain("people", LINKED)
    assert any('"people"' in step.sql for step in steps)


def _made(statement: str) -> str | None:
    """The temporary table that a statement makes."""
    words = statement.split(maxsplit=4)
    if words[:2] == ["CREATE", "TEMPORARY"] and words[2] == "TABLE":
        return words[3].split(".")[-1].strip('"')
    return None
