"""The runs whose SQL is kept as hashes: one a plan that differs from the others."""

from __future__ import annotations

import atexit
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import duckdb
from duckdb import DuckDBPyConnection as Connection

import sqlanon as sa
from sqlanon.binding.loading import TaxonomyLoad, load
from sqlanon.binding.stored_taxonomies import well_formed
from sqlanon.engines.duckdb import OpenedDatabase
from sqlanon.run import demo
from tests.conftest import clinic_policy, open_clinic
from tests.fixed_noise import FixedNoise
from tests.golden.recording import FOLDER, Recorder

RELEASE = "released"


@dataclass(frozen=True)
class Plan:
    """A run.

    Attributes:
        prepare: makes its source and its taxonomies.
        publish: publishes table ``released``; gets a folder for files beside the warehouse.
        before: what comes before ``publish`` and is not recorded.
    """

    prepare: Callable[[Connection], None]
    publish: Callable[[sa.Session, Path], object]
    before: Callable[[sa.Session, Path], object] | None = None


class Recording(NamedTuple):
    """What a run sends, and the rows that it publishes in their order.

    Attributes:
        statements: with ``<folder>`` for the folder beside the warehouse; equal ones that follow one another once.
    """

    statements: list[str]
    rows: list[tuple[object, ...]]

    @property
    def published(self) -> str:
        """What identifies the rows."""
        return f"{len(self.rows)} rows {hashlib.sha256(repr(self.rows).encode()).hexdigest()}"


Look = Callable[[sa.Session], object]
"""Looks at a release, by a session that is not recorded."""


def recorded(plan: Plan, folder: Path, look: Look = lambda _: None) -> Recording:
    """What a plan does; ``folder`` is an empty one."""
    with _connected() as connection:
        plan.prepare(connection)
        if plan.before is not None:
            plan.before(sa.connect(connection), folder)
        well_formed.clear()  # as in a new process
        recorder = Recorder(connection)
        plan.publish(sa.connect(recorder), folder)
        statements = [statement.replace(str(folder), FOLDER) for statement, _ in groupby(recorder.statements)]
        look(sa.connect(connection))
        return Recording(statements, rows_of(connection))


def executed(
    plan: Plan, statements: Iterable[str], folder: Path, seen: Callable[[str, Connection], None] = lambda *_: None
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
        return rows_of(connection)


def rows_of(connection: Connection) -> list[tuple[object, ...]]:
    """What is published, in its order."""
    return connection.execute(f"FROM {RELEASE}").fetchall()


def _connected() -> Connection:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET TimeZone = 'UTC'")  # that of the machine is changed by a statement
    return connection


@cache
def _invented() -> Path:
    """A warehouse with the invented hospital of the demonstration: 1,000 visits and their taxonomies."""
    folder = Path(tempfile.mkdtemp(prefix="golden"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with duckdb.connect(str(folder / "hospital.duckdb")) as connection:
        _invent(connection)
    return folder / "hospital.duckdb"


def _hospital(connection: Connection) -> None:
    (database,) = connection.execute("SELECT current_database()").fetchone() or ("",)
    connection.execute(
        f"ATTACH '{_invented()}' AS made (READ_ONLY); COPY FROM DATABASE made TO \"{database}\"; DETACH made"
    )


def _invent(connection: Connection) -> None:
    engine = OpenedDatabase(connection, owned=False).engine()
    demo.invent(engine, rows=1000, seed=1)
    source = engine.resolve(demo.SOURCE)
    load(engine, [TaxonomyLoad(name, taxonomy, source, name) for name, taxonomy in demo.TAXONOMIES.items()])


def _clinic(connection: Connection) -> None:
    """The twelve visits of fixtures/clinic.sql, with a taxonomy of their diagnoses and columns for who was there."""
    open_clinic(connection)
    connection.execute("ALTER TABLE visits ADD patient INTEGER; ALTER TABLE visits ADD nights INTEGER")
    connection.execute("UPDATE visits SET patient = id // 2, nights = 1 + id % 3")
    rows = [[name, group, "*"] for name, group in (("asthma", "lung"), ("flu", "lung"), ("angina", "heart"))]
    sa.connect(connection).taxonomies.load("diagnosis", sa.Taxonomy.from_rows(rows))


def _anonymized(policy: sa.Policy) -> Callable[[sa.Session, Path], object]:
    return lambda session, _: session.anonymize("visits", policy, RELEASE)


def _drawn(method: sa.IPA | sa.Histogram | sa.HCeiling, source: str = "visits") -> Callable[[sa.Session, Path], object]:
    policy = _of_diagnoses(method)
    return lambda session, _: session.anonymize(source, policy, RELEASE, random_source=FixedNoise(1))


def _of_diagnoses(method: sa.IPA | sa.Histogram | sa.HCeiling | sa.Relocation) -> sa.Policy:
    return sa.Policy(
        quasi_identifiers=["age", "sex"],
        sensitive=["diagnosis"],
        identifiers=["patient_id", "ssn", "zip", "admission", "length_of_stay"],
        method=method,
    )


FEW_COLUMNS = sa.Policy(
    quasi_identifiers=["age", "sex"],
    sensitive=["diagnosis"],
    identifiers=["patient_id", "ssn", "zip", "admission", "length_of_stay"],
    privacy=[sa.KAnonymity(5)],
    suppression_limit=0.2,
)


def _published_before(policy: sa.Policy) -> Callable[[sa.Session, Path], None]:
    def before(session: sa.Session, _: Path) -> None:
        session.connection.execute("CREATE TABLE earlier_visits AS FROM visits WHERE patient_id % 40 <> 1")
        session.anonymize("earlier_visits", policy, "earlier_release")
        session.connection.execute("DELETE FROM visits WHERE patient_id % 40 = 2")

    return before


def _held_together(policy: sa.Policy, node: dict[str, int] | None = None) -> Callable[[sa.Session, Path], object]:
    earlier = sa.Earlier("earlier_release", source="earlier_visits", key="patient_id")
    held = policy.model_copy(update={"earlier": (earlier,)})
    return lambda session, _: session.anonymize("visits", held, RELEASE, node=node)


LOCAL = FEW_COLUMNS.changed({"method": sa.LocalRecoding(suppression_limit=0.9)})
DIVERSE = FEW_COLUMNS.changed({"privacy": [sa.KAnonymity(5), sa.DistinctLDiversity("diagnosis", 2)]})
DIVERSE_FEW = DIVERSE.changed({"suppression_limit": 0.5})
CLOSE = [sa.KAnonymity(5), sa.TCloseness("diagnosis", 0.4, distance="ordered"), sa.BetaLikeness("diagnosis", 5)]
CLOSE_FEW = FEW_COLUMNS.changed({"privacy": CLOSE, "suppression_limit": 0.9})


def _diverse_before(session: sa.Session, _: Path) -> None:
    session.anonymize("visits", DIVERSE, "earlier_release")


def _diverse_together(session: sa.Session, _: Path) -> object:
    held = DIVERSE.model_copy(update={"earlier": (sa.Earlier("earlier_release"),)})
    return session.anonymize("visits", held, RELEASE)


def _listed(session: sa.Session, _: Path) -> None:
    session.anonymize("visits", FEW_COLUMNS, "earlier_release")


def _sampled(session: sa.Session, _: Path) -> object:
    policy = sa.Policy(
        quasi_identifiers=["age", "sex"],
        identifiers=["patient_id", "ssn", "zip", "admission", "diagnosis", "length_of_stay"],
        method=sa.EpsilonSafe(k=10, beta="1/2"),
    )
    return session.anonymize("visits", policy, RELEASE, random_source=FixedNoise(1))


def _specialized(session: sa.Session, _: Path) -> object:
    method = sa.DiffGen(specializations=3, numeric={"age": (0, 120)}, sets=["complaints"], threshold=0, set_threshold=0)
    policy = sa.Policy(quasi_identifiers=["age", "sex", "complaints"], sensitive=["diagnosis"], method=method)
    return session.anonymize("complaining", policy, RELEASE, random_source=FixedNoise(2))


def _synthesized(session: sa.Session, _: Path) -> object:
    method = sa.Synthetic(
        budget=sa.Budget(2, "0.001"),
        numeric={"age": [0, 40, 80]},
        levels={"zip": 2, "diagnosis": 1},
        refine=["diagnosis"],
        nulls=["age", "sex", "diagnosis"],
        rows=8,
        accept_observed_domain=True,
    )
    policy = clinic_policy(identifiers=["id", "patient", "nights"], method=method)
    return session.anonymize("visits", policy, RELEASE, random_source=FixedNoise(1))


def _told_apart(session: sa.Session, _: Path) -> object:
    policy = sa.Policy(
        quasi_identifiers=["age", "sex"],
        sensitive=["diagnosis"],
        rest="identifier",
        method=sa.TopDownSpecialization(k=200, numeric={"age": (0, 120)}),
    )
    return session.anonymize("SELECT * FROM visits WHERE age + length(diagnosis) > 0", policy, RELEASE)


def _complaining(connection: Connection) -> None:
    """The visits of the clinic with a list of complaints, and a taxonomy of these."""
    _clinic(connection)
    connection.execute(
        "CREATE TABLE complaining AS SELECT age, sex, diagnosis, list_filter(['pain', 'cough', 'fever'], "
        "lambda complaint, place: id % (place + 1) = 0) AS complaints FROM visits"
    )
    rows = [["pain", "pain", "*"], ["cough", "cold", "*"], ["fever", "cold", "*"]]
    complaints = sa.Taxonomy.from_rows(rows)
    diagnoses = sa.Taxonomy.flat(["asthma", "flu", "angina"])
    sa.connect(connection).taxonomies.load_all({"complaints": complaints, "diagnosis": diagnoses})


def _fit(session: sa.Session, folder: Path) -> None:
    policy = demo.demo_policy().model_copy(update={"suppression_limit": 0.1})
    session.partitions.fit(
        "SELECT * FROM visits WHERE admission < DATE '2025-07-01'", policy, folder / "fit", accept_observed_domain=True
    )


def _applied(session: sa.Session, folder: Path) -> None:
    session.partitions.apply("SELECT * FROM visits WHERE admission >= DATE '2025-07-01'", folder / "fit", RELEASE)


def _fit_classes(session: sa.Session, folder: Path) -> None:
    policy = demo.demo_policy().model_copy(update={"method": sa.LocalRecoding(suppression_limit=0.5)})
    source = "SELECT * FROM visits WHERE age % 2 = 0"
    session.partitions.fit(source, policy, folder / "fit", accept_observed_domain=True)


def _applied_classes(session: sa.Session, folder: Path) -> None:
    session.partitions.apply("SELECT * FROM visits WHERE age % 4 <> 1", folder / "fit", RELEASE)


PLANS = {
    "k_anonymity": Plan(_hospital, _anonymized(demo.demo_policy())),
    "l_diversity_masked": Plan(
        _clinic,
        _anonymized(
            clinic_policy(
                sa.KAnonymity(2),
                sa.DistinctLDiversity("diagnosis", 2),
                identifiers=["id", "patient", "nights"],
                suppression="mask",
                suppression_limit=0.3,
            )
        ),
    ),
    "t_closeness_hierarchical": Plan(
        _clinic,
        _anonymized(
            clinic_policy(
                sa.KAnonymity(2),
                sa.TCloseness("diagnosis", 0.4, "hierarchical"),
                identifiers=["id", "patient", "nights"],
                suppression_limit=0.3,
            )
        ),
    ),
    "individuals_and_weights": Plan(
        _clinic,
        _anonymized(
            clinic_policy(
                sa.KAnonymity(2),
                identifiers=["id", "patient", "nights"],
                individual="patient",
                row_weight="nights",
                suppression_limit=0.3,
            )
        ),
    ),
    "h_ceiling": Plan(_hospital, _drawn(sa.HCeiling(5, h=0.02), "SELECT * FROM visits WHERE diagnosis IS NOT NULL")),
    "epsilon_safe": Plan(_hospital, _sampled),
    "diffgen": Plan(_complaining, _specialized),
    "top_down": Plan(_hospital, _told_apart),
    "local_recoding": Plan(
        _clinic,
        _anonymized(
            clinic_policy(
                sa.KAnonymity(2),
                sa.DistinctLDiversity("diagnosis", 2),
                identifiers=["id", "patient", "nights"],
                method=sa.LocalRecoding(suppression_limit=0.2, suppression="mask"),
            )
        ),
    ),
    "relocation": Plan(_hospital, _anonymized(_of_diagnoses(sa.Relocation(5, limit=0.1)))),
    "ipa": Plan(_hospital, _drawn(sa.IPA(budget=sa.Budget(2, "0.001")))),
    "histogram": Plan(_hospital, _drawn(sa.Histogram(budget=sa.Budget(2, "0.001"), node={"age": 3, "sex": 1}))),
    "synthetic": Plan(_clinic, _synthesized),
    "earlier": Plan(_hospital, _held_together(FEW_COLUMNS), before=_published_before(FEW_COLUMNS)),
    "earlier_changed_values": Plan(
        _hospital, _held_together(DIVERSE_FEW, {"age": 5, "sex": 1}), before=_published_before(DIVERSE_FEW)
    ),
    "earlier_shares": Plan(
        _hospital, _held_together(CLOSE_FEW, {"age": 4, "sex": 1}), before=_published_before(CLOSE_FEW)
    ),
    "earlier_local_recoding": Plan(_hospital, _held_together(LOCAL), before=_published_before(LOCAL)),
    "earlier_values": Plan(_hospital, _diverse_together, before=_diverse_before),
    "other_release": Plan(_hospital, _anonymized(FEW_COLUMNS.with_k(50)), before=_listed),
    "partition": Plan(_hospital, _applied, before=_fit),
    "local_partition": Plan(_hospital, _applied_classes, before=_fit_classes),
}
"""By their names."""
