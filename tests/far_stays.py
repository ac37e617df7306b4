"""Stays at a clinic whose rows are not in the database: their tables, policies of each kind, and a session on both."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

import sqlanon as sa
from sqlanon.api.session import Session
from sqlanon.engines.duckdb import OpenedDatabase
from sqlanon.engines.locks import CallLock
from tests.conftest import clinic_policy, open_clinic
from tests.far_rows import FarRows
from tests.fixed_noise import FixedNoise

BUDGET = sa.Budget(9, "0.1")
NODE = {"age": 2, "sex": 1, "zip": 2}
AGES = {"age": (0, 1_000_000)}
DIFFGEN = sa.DiffGen(budget=sa.Budget(9), specializations=2, numeric=AGES, accept_observed_domain=True)
OF_SETS = DIFFGEN.model_copy(update={"sets": ("drugs",), "specializations": 3})
T_CLOSENESS = sa.TCloseness("diagnosis", 0.4), sa.TCloseness("diagnosis", 0.4, "hierarchical")


def policy(*privacy: Any, **options: Any) -> sa.Policy:
    """A policy for the visits of the clinic."""
    roles = {"identifiers": ["id", "patient", "nights"], "suppression_limit": 0.3}
    return clinic_policy(*privacy, **{**roles, **options})


def drawing(method: Any, **options: Any) -> sa.Policy:
    """The same with a method of its own."""
    return clinic_policy(**{"method": method, "identifiers": ["id", "patient", "nights"], **options})


FEW = 11
"""Cells of the clinic that come near; it has 12."""

SEARCHED = ("seconds", "source", "into", "checked_nodes")
"""What differs in reports: cells that stay prove nothing of intervals, so that other nodes are checked, and found."""

POLICIES = {
    "k": policy(sa.KAnonymity(2)),
    "k, l and t": policy(sa.KAnonymity(2), sa.DistinctLDiversity("diagnosis", 2), *T_CLOSENESS),
    "kept columns": policy(sa.KAnonymity(2), identifiers=["id"], insensitive=["patient", "nights"]),
    "geometric loss": policy(sa.KAnonymity(2), quality=sa.LM(aggregate="geometric")),
    "masks": policy(sa.KAnonymity(2), suppression="mask"),
    "order": policy(sa.KAnonymity(2), sa.TCloseness("diagnosis", 0.4, "ordered")),
    "unknown values": policy(sa.KAnonymity(2), unknown={"zip": "suppress", "age": "top"}),
    "coded": policy(
        sa.KAnonymity(2),
        identifiers=["id", "patient"],
        insensitive=["nights"],
        bottom_coding={"nights": 2},
        top_coding={"age": 50},
    ),
    "weights": policy(sa.KAnonymity(2), row_weight="nights"),
    "individuals": policy(sa.KAnonymity(2), T_CLOSENESS[0], individual="patient"),
    "local": policy(sa.KAnonymity(2), T_CLOSENESS[0], method=sa.LocalRecoding()),
    "local with masks": policy(sa.KAnonymity(3), method=sa.LocalRecoding(), suppression="mask"),
    "local with means": policy(sa.KAnonymity(2), method=sa.LocalRecoding(aggregate={"age": "mean"})),
    "local with kept columns": policy(
        sa.KAnonymity(2), method=sa.LocalRecoding(), identifiers=["id"], insensitive=["patient", "nights"]
    ),
    "local of individuals": policy(sa.KAnonymity(2), method=sa.LocalRecoding(), individual="patient"),
    "relocation": drawing(sa.Relocation(2, limit=0.5)),
    "h-ceiling": drawing(sa.HCeiling(2, h=0.9)),
    "histogram": drawing(sa.Histogram(budget=BUDGET, node=NODE, accept_observed_domain=True)),
    "ipa": drawing(sa.IPA(budget=BUDGET, accept_observed_domain=True)),
    "ipa of individuals": drawing(sa.IPA(budget=BUDGET, accept_observed_domain=True), individual="patient"),
    "epsilon-safe": drawing(
        sa.EpsilonSafe(k=2, beta="1/2", accept_observed_domain=True),
        sensitive=[],
        identifiers=["id", "patient", "nights", "diagnosis"],
    ),
    "diffgen": drawing(DIFFGEN),
    "diffgen of individuals": drawing(DIFFGEN, individual="patient"),
    "diffgen by information": drawing(DIFFGEN.model_copy(update={"utility": "infogain", "output": "rows"})),
    "diffgen of sets": sa.Policy(
        quasi_identifiers=["age", "drugs"], sensitive=["diagnosis"], rest="identifier", method=OF_SETS
    ),
    "top-down": drawing(sa.TopDownSpecialization(2, numeric=AGES)),
}
TABLES = {"h-ceiling": "whole", "unknown values": "odd", "diffgen of sets": "treated", "top-down": "complete"}
"""Those that policies are for which are not for the visits."""


@dataclass(frozen=True)
class Sides:
    """A session whose rows are in its database as ``visits``, and are elsewhere as ``far.visits``.

    Attributes:
        folder: what rows from there are released to.
    """

    session: sa.Session
    connection: duckdb.DuckDBPyConnection
    far: FarRows
    folder: Path

    def released(self, wanted: sa.Policy, place: str = "far.", table: str = "visits") -> sa.Release:
        source, into = f"{place}{table}", f"{self.folder}/" if place else "released"
        return self.session.anonymize(source, wanted, into, random_source=fixed_chance(wanted), replace=True)

    @property
    def there(self) -> duckdb.DuckDBPyRelation:
        return self.connection.read_parquet(f"{self.folder}/*.parquet")


def fixed_chance(wanted: sa.Policy) -> FixedNoise | None:
    """The same draws each time, for a policy whose method draws."""
    return FixedNoise(1) if wanted.has_private_method or isinstance(wanted.method, sa.HCeiling) else None


def with_far_rows(
    connection: duckdb.DuckDBPyConnection, folder: Path, *tables: str, far: FarRows | None = None
) -> Sides:
    """A session on a database, with some of its tables elsewhere as well."""
    far = far or FarRows()
    for table in tables:
        far.connection.register("given", connection.table(table).to_arrow_table())
        far.connection.execute(f"CREATE TABLE {table} AS FROM given")
    opened = OpenedDatabase(connection, owned=False)
    opened.lock = CallLock()  # a callback may ask another session on the connection
    opened.far = far
    return Sides(Session(opened), connection, far, folder / "released")


DRUGS = "list_filter(['aspirin', NULL, 'codeine'], lambda drug, place: id % (place + 1) = 0)"


def open_stays(connection: duckdb.DuckDBPyConnection) -> None:
    """The clinic, with a column for who was there and for how long, and a taxonomy of diagnoses; and tables like it."""
    open_clinic(connection)
    connection.execute("ALTER TABLE visits ADD patient INTEGER; ALTER TABLE visits ADD nights INTEGER")
    connection.execute("UPDATE visits SET patient = id // 2, nights = 1 + id % 3")
    rows = [["asthma", "lung", "*"], ["flu", "lung", "*"], ["angina", "heart", "*"]]
    sa.connect(connection).taxonomies.load("diagnosis", sa.Taxonomy.from_rows(rows))
    for name, query in {
        "whole": "FROM visits WHERE diagnosis IS NOT NULL",
        "complete": "FROM visits WHERE COLUMNS(*) IS NOT NULL",
        "odd": "FROM visits UNION ALL FROM (VALUES (13, 34, 'f', '99999', 'flu', 6, 1))",
        "halves": "SELECT * REPLACE (nights / 2 AS nights) FROM visits",
        "treated": f"SELECT *, {DRUGS} AS drugs FROM visits",
    }.items():
        connection.execute(f"CREATE TABLE {name} AS {query}")
    sa.connect(connection).taxonomies.load("drugs", sa.Taxonomy.from_rows([["aspirin", "*"], ["codeine", "*"]]))
