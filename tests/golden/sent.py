"""What runs send to a server of Spark Connect, without a server: a second database of DuckDB answers in its place."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa
import sqlglot
from duckdb import DuckDBPyConnection as Connection
from sqlglot import exp

import sqlanon as sa
from sqlanon.engines.cutting import Staged
from sqlanon.queries.kit.nodes import Relation, select
from sqlanon.queries.source import SourceColumn
from sqlanon.spark.spark_rows import View, sent
from sqlanon.spark.spark_values import SPARK
from tests.far_rows import FarRows
from tests.far_stays import POLICIES, TABLES, fixed_chance, open_stays, with_far_rows
from tests.golden.plans import RELEASE

VIEW = re.compile(r"\bsqlanon_\d+\b")
"""A relation of rows by its name there."""

FRACTIONS = sa.Policy(
    quasi_identifiers=["nights", "sex"],
    rest="identifier",
    privacy=[sa.KAnonymity(2)],
    suppression_limit=0.3,
    taxonomies={"nights": "flat"},
)
"""A policy for visits that last for parts of nights."""


def golden_name(policy: str) -> str:
    return f"spark {policy}"


class Sent(NamedTuple):
    """A run whose rows are on a server.

    Attributes:
        policy: what is asked of it.
        table: the rows.
        prepare: makes the table and its taxonomies.
    """

    policy: sa.Policy
    table: str = "visits"
    prepare: Callable[[Connection], None] = open_stays


SENT = {golden_name(name): Sent(wanted, TABLES.get(name, "visits")) for name, wanted in POLICIES.items()}
SENT[golden_name("fractions")] = Sent(FRACTIONS, "halves")


class Server(FarRows):
    """A second database, which writes down what a server would be sent in its place.

    Attributes:
        sent: purposes and statements, in order.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[str, str]] = []
        self._numbers = count(1)
        self._names: dict[tuple[str, str], str] = {}

    def describe(self, relation: exp.Expr) -> list[SourceColumn]:
        if not isinstance(relation, exp.Table):
            self._note(select([exp.Star()], relation.copy()), {}, "the columns of the source")
        return super().describe(relation)

    def count(self, query: exp.Query, small: Mapping[str, pa.Table], purpose: str) -> pa.Table:
        self._note(query, small, purpose)
        return super().count(query, small, purpose)

    def make(self, relation: Relation, query: exp.Query, small: Mapping[str, pa.Table], purpose: str) -> None:
        unordered = query.copy()
        unordered.set("order", None)
        self._note(unordered, small, purpose)
        super().make(relation, query, small, purpose)

    def write(self, query: exp.Query, small: Mapping[str, pa.Table], staged: Staged) -> exp.Table:
        self._note(query, small, "write the release")
        return super().write(query, small, staged)

    def _note(self, query: exp.Query, small: Mapping[str, pa.Table], purpose: str) -> None:
        views = {}
        for table in query.find_all(exp.Table):
            if self.owns(table):
                key = (table.catalog, table.name)
                name = self._names.setdefault(key, f"sqlanon_{next(self._numbers)}")
                bare = exp.Table(this=table.this.copy(), db=table.args.get("db"), catalog=table.args.get("catalog"))
                views[key] = View(name, super().describe(bare))
        statement = sent(query, views, small)
        looked_up = [("the texts of fractions", texts.look_up) for texts in statement.float_texts]
        self.sent += [each for each in looked_up if each not in self.sent]  # columns are looked up once
        self.sent.append((purpose, statement.text))


def recorded(run: Sent, folder: Path) -> list[tuple[str, str]]:
    """Purposes and statements of a run that publishes to an empty folder; the statements are in lines."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        run.prepare(connection)
        statements = sent_by(run, connection, folder)
    texts = in_lines([statement for _, statement in statements])
    return [(purpose, text) for (purpose, _), text in zip(statements, texts, strict=True)]


def sent_by(run: Sent, connection: Connection, folder: Path) -> list[tuple[str, str]]:
    """Purposes and statements of a run over a table of a connection."""
    server = Server()
    session = with_far_rows(connection, folder, run.table, far=server).session
    chance = fixed_chance(run.policy)
    session.anonymize(f"far.{run.table}", run.policy, f"{folder}/{RELEASE}/", random_source=chance)
    return server.sent


def in_lines(statements: Sequence[str]) -> list[str]:
    """Statements in lines, for people: views have numbers in the order in which they are read, and no other name."""
    numbers: dict[str, str] = {}
    return [
        _in_lines(VIEW.sub(lambda view: numbers.setdefault(view[0], f"sqlanon_{len(numbers) + 1}"), statement))
        for statement in statements
    ]


def _in_lines(statement: str) -> str:
    tree = sqlglot.parse_one(statement, dialect=SPARK)
    views = {table.alias: table for table in tree.find_all(exp.Table) if VIEW.fullmatch(table.name)}
    # A path, or the name of a step, by which the rest of the statement may know it.
    for read in tree.find_all(exp.Column):
        if read.table in views:
            read.set("table", views[read.table].this.copy())
    for view in tree.find_all(exp.Table):
        if VIEW.fullmatch(view.name):
            view.set("alias", None)
    return tree.sql(SPARK, pretty=True)
