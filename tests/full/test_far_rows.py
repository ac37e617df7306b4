"""Rows that are not in the database: the same releases and reports, and nothing but counts comes near."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest

import sqlanon as sa
from sqlanon.api.session import Session
from sqlanon.engines.duckdb import OpenedDatabase
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.methods.full_domain.method import FullDomainRun
from sqlanon.run import demo
from tests.conftest import clinic_policy, open_clinic
from tests.exercises.test_a_second_engine import Ready
from tests.far_rows import FarRows
from tests.fixed_noise import FixedNoise
from tests.reports import alone

BUDGET = sa.Budget(9, "0.1")
KEY = bytes(range(32))
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
        """The visits of a place, released to a table or to the folder."""
        source, into = f"{place}{table}", f"{self.folder}/" if place else "released"
        return self.session.anonymize(source, wanted, into, random_source=fixed_chance(wanted), replace=True)

    @property
    def there(self) -> duckdb.DuckDBPyRelation:
        """The rows of the folder."""
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
    session = Session(Ready(DuckDBEngine(OpenedDatabase(connection, owned=False), far)))
    return Sides(session, connection, far, folder / "released")


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


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    """The clinic, with a column for who was there and for how long."""
    with duckdb.connect(config={"threads": 1}) as connection:
        open_stays(connection)
        yield with_far_rows(connection, tmp_path_factory.mktemp("far"), "visits", *TABLES.values())


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Sides]:
    """20,000 invented visits of the demonstration."""
    with duckdb.connect(config={"threads": 1}) as connection:
        engine = OpenedDatabase(connection, owned=False).engine()
        demo.invent(engine, rows=20_000, seed=1)
        sa.connect(connection).taxonomies.load_all({name: demo.TAXONOMIES[name] for name in ("age", "sex")})
        yield with_far_rows(connection, tmp_path, "visits")


@pytest.mark.parametrize("name", POLICIES)
def test_far_rows_are_released_as_near_ones(sides: Sides, name: str) -> None:
    near, far = (sides.released(POLICIES[name], place, TABLES.get(name, "visits")) for place in ("", "far."))
    assert far.node == near.node
    changed = {"seconds": far.report.seconds, "source": far.report.source, "into": far.report.into}
    assert alone(near).model_copy(update=changed) == alone(far)
    there, here = sides.there, sides.connection.table("released")
    assert (there.columns, there.types) == (here.columns, here.types)
    assert Counter(map(repr, there.fetchall())) == Counter(map(repr, here.fetchall()))
    assert {*sides.far.relations} == {"visits", *TABLES.values()}


KEPT = {"sensitive": ["diagnosis"], "insensitive": ["length_of_stay", "zip", "admission"], "suppression_limit": 0.05}
T_AND_L = sa.EntropyLDiversity("diagnosis", 2), sa.TCloseness("diagnosis", 0.5)
HOSPITAL = {
    "k, l and t": (
        {**KEPT, "privacy": [sa.KAnonymity(5), *T_AND_L]},
        ["cells", "equal rows", f"measure {T_AND_L[1]}"],
        6,
    ),
    "masks": ({**KEPT, "privacy": [sa.KAnonymity(50)], "suppression": "mask"}, ["cells", "equal rows"], 4),
    "ipa": ({"sensitive": ["diagnosis"], "method": sa.IPA(budget=sa.Budget(2, "0.001"))}, ["cells"], 1),
}
"""Policies for the hospital, what reads all rows of the source, and how many statements read what was written."""


@pytest.mark.parametrize(("roles", "of_source", "of_release"), HOSPITAL.values(), ids=HOSPITAL)
def test_nothing_but_counts_comes_near(
    hospital: Sides, roles: dict[str, Any], of_source: list[str], of_release: int
) -> None:
    wanted = sa.Policy(quasi_identifiers=["age", "sex"], rest="identifier", **roles)
    near, far = hospital.released(wanted, ""), hospital.released(wanted)
    assert far.node == near.node
    there, here = hospital.there, hospital.connection.table("released")
    assert Counter(there.fetchall()) == Counter(here.fetchall())
    statements = hospital.far.statements
    cells = next(each.rows for each in statements if each.purpose == "cells")
    (classes,) = here.aggregate("count(DISTINCT (age, sex))").fetchall()[0]
    assert cells < 2_000
    assert all(each.rows <= cells + classes + 1_000 for each in statements if each.rows is not None)
    # A few rows are looked at besides, as many as a LIMIT says.
    assert [each.purpose for each in statements if "visits" in each.sql and "LIMIT" not in each.sql] == of_source
    made_for_the_run = [each.purpose for each in statements if '"main"."anon_equal_rows"' in each.sql]
    assert {*made_for_the_run} <= {"write the release"}
    assert len([each for each in statements if ".released.run." in each.sql]) == of_release


def test_a_method_that_has_not_been_checked_is_refused(sides: Sides) -> None:
    unchecked = mock.patch.object(FullDomainRun, "takes_far_rows", new=False)
    with unchecked, pytest.raises(sa.PolicyError, match="reads rows of the database alone"):
        sides.released(POLICIES["k"])


def test_a_refused_run_leaves_nothing(sides: Sides, tmp_path: Path) -> None:
    before = sides.far.relations
    for wanted, into, reason in (
        (POLICIES["kept columns"], "here", "the rows are on a server"),
        (POLICIES["kept columns"], f"{tmp_path}/here.parquet", "the rows are on a server"),
        (
            policy(sa.KAnonymity(2), identifiers=["patient", "nights"], pseudonyms=["id"]),
            f"{tmp_path}/new/",
            '"id" cannot have pseudonyms',
        ),
    ):
        key = KEY if wanted.pseudonyms else None
        with pytest.raises((sa.EngineError, sa.PolicyError), match=reason):
            sides.session.anonymize("far.visits", wanted, into, replace=True, pseudonym_key=key)
    with pytest.raises(sa.PolicyError, match="stay where they are"):
        sides.session.suggest("far.visits")
    assert sides.far.relations == before
    assert not [*tmp_path.iterdir()]


def test_a_release_there_is_verified_and_measured_there(sides: Sides) -> None:
    sides.released(POLICIES["k, l and t"])
    found = sides.session.verify(sides.folder, POLICIES["k, l and t"], source="far.visits")
    assert not found.shortfalls
    assert found.record_sha256 is not None
    assert sides.session.measure("far.visits", POLICIES["k"]).k == sides.session.measure("visits", POLICIES["k"]).k
    explained = sides.session.explain("far.visits", POLICIES["k"])
    assert {"cells", "equal rows", "the release"} <= {each.purpose for each in explained}


def test_values_without_a_label_are_listed_where_the_rows_are(sides: Sides) -> None:
    for options in ({}, {"method": sa.LocalRecoding()}):
        problems = []
        for source in ("odd", "far.odd"):
            with pytest.raises(sa.TaxonomyError) as refused:
                sides.session.anonymize(source, policy(sa.KAnonymity(2), **options), f"{sides.folder}/", replace=True)
            problems.append(refused.value.problems)
        for here, there in zip(*problems, strict=True):
            found, query = here.split("; list them by ")
            found_there, query_there = there.split("; list them among all others, which the taxonomy has, by ")
            assert found_there == found
            rows = {str(value): count for value, count in sides.far.connection.execute(query_there).fetchall()}
            assert dict(sides.connection.execute(query).fetchall()).items() < rows.items()


def test_what_cannot_be_published_is_discarded(sides: Sides) -> None:
    sides.released(POLICIES["k"])
    rows = sides.there.fetchall()
    with (
        mock.patch("sqlanon.publish.folders._publish", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        sides.released(POLICIES["masks"])
    assert sides.there.fetchall() == rows
    assert [path.name for path in sides.folder.parent.iterdir()] == ["released"]
