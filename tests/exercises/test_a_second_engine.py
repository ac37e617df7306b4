"""How to add an engine: here a database that computes nothing, and writes down what it is asked to do.

:class:`RecordingEngine` has all that a run asks of an engine that publishes a table, knows nothing of DuckDB, and edits
nothing of sqlanon. Counts it takes from a tape of what DuckDB has told in the same run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from sqlglot import exp

import sqlanon as sa
from sqlanon.api.session import Session
from sqlanon.engines.base import Compute, Warehouse, Writer
from sqlanon.engines.duckdb import OpenedDatabase
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.engines.locks import CallLock
from sqlanon.engines.relations import Database, ResolvedSource, Stored
from sqlanon.queries.kit.nodes import Grain, PreparedQuery, Relation, Step
from sqlanon.queries.source import MadeTaxonomy, SourceColumn
from tests.conftest import clinic_policy, open_clinic
from tests.fixed_noise import FixedNoise
from tests.reports import alone

HERE = Database("memory", None, is_read_only=False)
MODELS = sa.KAnonymity(2), sa.DistinctLDiversity("diagnosis", 2)
NOISY = sa.Histogram(budget=sa.Budget(9, "0.1"), node={"age": 2, "sex": 1, "zip": 2}, accept_observed_domain=True)
POLICIES = {
    "drops": clinic_policy(*MODELS, suppression_limit=0.3),
    "masks": clinic_policy(*MODELS, suppression_limit=0.3, suppression="mask"),
    "draws": clinic_policy(method=NOISY),
}


@dataclass
class Tape:
    """What a database was asked, and what it answered.

    Attributes:
        answers: the counts that each question came to.
        columns: those of the relations that were looked at.
        arrays: the cells that were handed over as arrays, by the question.
    """

    answers: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    columns: dict[str, list[SourceColumn]] = field(default_factory=dict)
    arrays: dict[str, dict[str, NDArray[Any]]] = field(default_factory=dict)


class RecordingEngine(Compute, Warehouse, Writer):
    """An engine of no database: it answers from a tape, and so answers only what DuckDB was asked, to the letter.

    Attributes:
        statements: what it was to do, in order, with the values that are bound.
        values: the tables that Python has handed it, by the names that statements know them by.
    """

    warehouse = HERE

    def __init__(self, tape: Tape) -> None:
        self.taxonomy = HERE.anon("taxonomy")
        self.ambiguous: dict[tuple[object, ...], int] = {}
        self.made_by: dict[str, MadeTaxonomy] = {}
        self.statements: list[tuple[str, Sequence[object]]] = []
        self.values: dict[str, pa.Table] = {}
        self._tape = tape

    # What it takes to compute

    def describe(self, relation: exp.Expr) -> list[SourceColumn]:
        return self._tape.columns[spelled(relation)]

    def run(self, step: Step, parameters: Sequence[object] = ()) -> None:
        temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
        made = exp.Create(this=step.makes.table, kind="TABLE", expression=step.query, properties=temporary)
        self.execute(made, step.purpose, parameters)

    def put(self, relation: Relation, table: pa.Table) -> None:
        name = f"{relation.name}_values"
        self.values[name] = table
        self.run(Step(relation, exp.select("*").from_(exp.to_identifier(name, quoted=True)), relation.name))

    def drop(self, relation: Relation) -> None:
        self.execute(exp.Drop(tables=[relation.table], kind="TABLE", exists=True), relation.name)

    def fetch(self, query: exp.Query | PreparedQuery, purpose: str, grain: Grain = "count") -> list[dict[str, Any]]:
        assert grain != "row"
        return [dict(row) for row in self._tape.answers[spelled(query)]]

    def arrays(self, query: exp.Query, purpose: str) -> dict[str, NDArray[Any]]:
        return self._tape.arrays[spelled(query)]

    def execute(self, statement: exp.Expr, purpose: str, parameters: Sequence[object] = ()) -> None:
        self.statements.append((spelled(statement), parameters))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.statements.append(("BEGIN", ()))
        yield
        self.statements.append(("COMMIT", ()))

    def scratch(self) -> AbstractContextManager[None]:
        return nullcontext()  # what is dropped at its end is no part of a release

    def watched(self, observer: object) -> AbstractContextManager[None]:
        return nullcontext()

    def in_order(self) -> AbstractContextManager[None]:
        return nullcontext()

    # What it takes to find a source, and the taxonomies

    def find_all(self, *tables: exp.Table) -> list[Stored | None]:
        return [Stored(table) for table in tables]

    def find(self, table: str | exp.Table) -> Stored | None:
        return Stored(table) if isinstance(table, exp.Table) else None

    def resolve(self, source: object, *, restricted: bool = False, here: bool = False) -> ResolvedSource:
        return ResolvedSource(table_of(str(source)), f'table "{source}"', dataset=str(source))

    def reading_frames(self) -> AbstractContextManager[None]:
        return nullcontext()

    def read_as(self, csv: object, timezone: str | None = None) -> None:
        pass

    def databases(self) -> list[Database]:
        return []

    # What it takes to write a release

    def beside(self) -> AbstractContextManager[RecordingEngine]:
        return nullcontext(self)

    def refuse_target(self, target: str, read: Mapping[str, ResolvedSource], *, replace: bool) -> exp.Table:
        return table_of(target)

    def write_table(self, target: exp.Table, query: exp.Query, *, replace: bool) -> None:
        self.execute(exp.Create(this=target.copy(), kind="TABLE", expression=query), "write the release")


class Ready:
    """A database that is open, with an engine that is there already."""

    def __init__(self, made: Any) -> None:
        self._made = made
        self.lock = CallLock()
        self.csv = None

    def engine(self) -> Any:
        return self._made

    def close(self) -> None:
        pass


class TapingEngine(DuckDBEngine):
    """DuckDB, with a tape of what it tells."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        super().__init__(OpenedDatabase(connection, owned=False))
        self.tape = Tape()

    def describe(self, relation: exp.Expr) -> list[SourceColumn]:
        return self.tape.columns.setdefault(spelled(relation), super().describe(relation))

    def fetch(self, query: exp.Query | PreparedQuery, purpose: str, grain: Grain = "count") -> list[dict[str, Any]]:
        question, found = spelled(query), super().fetch(query, purpose, grain)
        self.tape.answers[question] = [dict(row) for row in found]
        return found

    def arrays(self, query: exp.Query, purpose: str) -> dict[str, NDArray[Any]]:
        return self.tape.arrays.setdefault(spelled(query), super().arrays(query, purpose))


def spelled(asked: exp.Expr | PreparedQuery) -> str:
    """What is asked, as text."""
    return repr(asked) if isinstance(asked, PreparedQuery) else asked.sql(dialect="duckdb")


def table_of(name: str) -> exp.Table:
    """A table of the user, in the place where both databases have it."""
    parts = {"this": name, "db": "main", "catalog": HERE.name}
    return exp.Table(**{part: exp.to_identifier(text, quoted=True) for part, text in parts.items()})


@pytest.fixture
def clinic() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        # There is a list of releases from the first one on.
        open_clinic(connection).anonymize("visits", POLICIES["drops"], "earlier")
        yield connection


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_another_engine_is_asked_for_the_same(clinic: duckdb.DuckDBPyConnection, policy: sa.Policy) -> None:
    taping = TapingEngine(clinic)
    expected = Session(Ready(taping)).anonymize("visits", policy, "released", random_source=chance(policy))
    rows = clinic.execute("FROM released").fetchall()
    recording = RecordingEngine(taping.tape)
    release = Session(Ready(recording)).anonymize("visits", policy, "released", random_source=chance(policy))
    assert alone(release).model_copy(update={"seconds": expected.report.seconds}) == alone(expected)
    clinic.execute("DROP TABLE released")
    for name, table in recording.values.items():
        clinic.register(name, table)
    for statement, bound in recording.statements:
        clinic.execute(statement, bound)
    assert clinic.execute("FROM released").fetchall() == rows
    assert len(rows) > 2


def chance(policy: sa.Policy) -> FixedNoise | None:
    """The same draws for both, if there are any."""
    return FixedNoise(1) if policy.has_private_method else None
