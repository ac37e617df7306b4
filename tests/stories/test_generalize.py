"""Generalizing new rows like a release: the session and the command line, what they write and what they refuse."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests.fixed_noise import FixedNoise
from tests.stories.test_flatten import VALUE

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
        assert facts(session, "cuts")["companion"] == {"name": "cuts", "release": "released"}

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
