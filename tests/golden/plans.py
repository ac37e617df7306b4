"""A run whose SQL is kept: recorded, verified, and executed again without sqlanon."""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import duckdb
from duckdb import DuckDBPyConnection as Connection

import sqlanon as sa
from sqlanon.binding.stored_taxonomies import well_formed
from tests.golden.recording import FOLDER, Recorder

RELEASE = "released"


@dataclass(frozen=True)
class Plan:
    prepare: Callable[[Connection], None]  # makes the source and its taxonomies
    publish: Callable[[sa.Session, Path], object]  # gets a folder for files beside the warehouse
    before: Callable[[sa.Session, Path], object] | None = None  # comes before publish, and is not recorded
    source: str = "people"


class Recording(NamedTuple):
    """The statements of a run and the rows that it publishes, in their order."""

    statements: list[str]  # with <folder> for the folder beside the warehouse; equal ones that follow one another once
    rows: list[tuple[object, ...]]

    @property
    def published(self) -> str:
        return f"{len(self.rows)} rows {hashlib.sha256(repr(self.rows).encode()).hexdigest()}"


def recorded(plan: Plan, folder: Path) -> Recording:
    """Record what a plan sends, and verify what it publishes; ``folder`` is an empty one."""
    with _connected() as connection:
        plan.prepare(connection)
        if plan.before is not None:
            plan.before(sa.connect(connection), folder)
        well_formed.clear()  # as in a new process
        recorder = Recorder(connection)
        plan.publish(sa.connect(recorder), folder)
        statements = [statement.replace(str(folder), FOLDER) for statement, _ in groupby(recorder.statements)]
        _verify(sa.connect(connection), plan.source)
        return Recording(statements, _rows(connection))


def executed(
    plan: Plan, statements: Iterable[str], folder: Path, seen: Callable[[str, Connection], None]
) -> list[tuple[object, ...]]:
    """The rows that statements publish over the source of a plan; ``folder`` is an empty one.

    Args:
        seen: is called after each statement, while its result can be fetched.
    """
    with _connected() as connection:
        plan.prepare(connection)
        if plan.before is not None:
            plan.before(sa.connect(connection), folder)
        for statement in statements:
            connection.execute(statement.replace(FOLDER, str(folder)))
            seen(statement, connection)
        return _rows(connection)


def _verify(session: sa.Session, source: str) -> None:
    """Verify the release beside its source, which compares all that is compared without it, too."""
    policy = sa.Policy(**json.loads(str(session.provenance(RELEASE)))["sqlanon"]["policy"])
    found = session.verify(RELEASE, policy, source=source)
    assert any("what its mechanism promises" in line for line in found.not_covered) == policy.has_private_method
    assert found.met


def _rows(connection: Connection) -> list[tuple[object, ...]]:
    return connection.execute(f"FROM {RELEASE}").fetchall()


def _connected() -> Connection:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET TimeZone = 'UTC'")  # that of the machine is changed by a statement
    return connection
