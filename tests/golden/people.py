"""Runs over eight people, whose statements are short: two quasi-identifiers of two levels and a sensitive column."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection as Connection

import sqlanon as sa
from sqlanon.queries.kit.macros import schema_statements
from tests.fixed_noise import FixedNoise
from tests.golden.plans import RELEASE, Plan
from tests.golden.sent import Sent

TABLE = """\
CREATE TABLE people AS FROM (VALUES
    (1, 31, 'f', 'asthma', 1, 2),
    (2, 34, 'f', 'asthma', 1, 1),
    (3, 34, 'f', 'flu',    2, 3),
    (4, 34, 'm', 'angina', 2, 1),
    (5, 42, 'm', 'flu',    3, 2),
    (6, 42, 'm', 'flu',    4, 1),
    (7, 42, 'm', 'angina', 4, 1),
    (8, 47, 'm', 'asthma', 5, 2)
) AS people (id, age, sex, diagnosis, patient, nights)"""

TAXONOMIES = {
    "age": [["31", "30s", "*"], ["34", "30s", "*"], ["42", "40s", "*"], ["47", "40s", "*"]],
    "sex": [["f", "*"], ["m", "*"]],
    "diagnosis": [["asthma", "lung", "*"], ["flu", "lung", "*"], ["angina", "heart", "*"]],
}
ROLES = {"quasi_identifiers": ["age", "sex"], "sensitive": ["diagnosis"], "rest": "identifier"}
AGES = {"age": (30, 50)}
BUDGET = sa.Budget(9, "0.1")
NODE = {"age": 1, "sex": 1}


def people(connection: Connection) -> None:
    for statement in (*schema_statements(), TABLE):
        connection.execute(statement)
    taxonomies = {name: sa.Taxonomy.from_rows(rows) for name, rows in TAXONOMIES.items()}
    sa.connect(connection).taxonomies.load_all(taxonomies)


def policy(*privacy: Any, **options: Any) -> sa.Policy:
    """A policy for the people: ages, sexes and diagnoses, unless the options say otherwise."""
    return sa.Policy(**{**ROLES, "privacy": privacy, **options})


def judged(*privacy: Any, **options: Any) -> sa.Policy:
    """A policy of models that may hide some rows."""
    return policy(*privacy, **{"suppression_limit": 0.5, **options})


K = sa.KAnonymity(2)
LOCAL = sa.LocalRecoding(suppression_limit=0.9)
L = sa.DistinctLDiversity("diagnosis", 2)
T, T_ORDERED, T_HIERARCHICAL = (sa.TCloseness("diagnosis", 0.6, kind) for kind in ("equal", "ordered", "hierarchical"))

POLICIES = {
    "k": judged(K),
    "local": policy(K, L, method=LOCAL),
    "ipa": policy(method=sa.IPA(budget=BUDGET)),
    "l": judged(
        K,
        L,
        sa.EntropyLDiversity("diagnosis", 1.5),
        sa.RecursiveCLDiversity("diagnosis", 3, 2),
        sa.AlphaKAnonymity("diagnosis", 0.7, k=2),
    ),
    "shares": judged(K, T, sa.BetaLikeness("diagnosis", 2), sa.DeltaDisclosure("diagnosis", 3)),
    "t, ordered": judged(K, T_ORDERED),
    "t, hierarchical": judged(K, T_HIERARCHICAL),
    "geometric lm": judged(K, quality=sa.LM(aggregate="geometric")),
    "entropy": judged(K, quality=sa.Entropy()),
    "dm": judged(K, quality=sa.DM()),
    "unknown": judged(K, unknown={"age": "suppress", "sex": "top"}),
    "kept columns": judged(K, insensitive=["nights"]),
    "coded": judged(K, insensitive=["nights"], bottom_coding={"nights": 2}, top_coding={"age": 42}),
    "individuals": judged(K, individual="patient", row_weight="nights"),
    "local means": policy(K, method=sa.LocalRecoding(aggregate={"age": "mean"})),
    "mondrian": policy(K, method=sa.Mondrian()),
    "relocation": policy(method=sa.Relocation(2, limit=0.5)),
    "h-ceiling": policy(method=sa.HCeiling(2, h=0.5)),
    "epsilon-safe": policy(method=sa.EpsilonSafe(k=2, beta="1/2"), sensitive=[]),
    "ipa of individuals": policy(method=sa.IPA(budget=BUDGET), individual="patient"),
    "histogram": policy(method=sa.Histogram(budget=BUDGET, node=NODE)),
    "synthetic": policy(
        method=sa.Synthetic(
            budget=BUDGET, numeric={"age": [30, 40, 50]}, levels={"diagnosis": 1}, nulls=["sex"], rows=6
        )
    ),
    "diffgen": policy(method=sa.DiffGen(specializations=2, numeric=AGES, threshold=0)),
    "top-down": policy(method=sa.TopDownSpecialization(2, numeric=AGES)),
}
"""Policies of runs that stand alone."""

WHOLE = "k at a node"
"""The run all of whose statements are kept as text."""


def _drawing(wanted: sa.Policy, **options: Any) -> Callable[[sa.Session, Path], object]:
    draws = wanted.has_private_method or isinstance(wanted.method, sa.HCeiling)
    return lambda session, _: session.anonymize(
        "people", wanted, RELEASE, random_source=FixedNoise(1) if draws else None, **options
    )


def _published(wanted: sa.Policy) -> Callable[[sa.Session, Path], None]:
    """A release of most people, before one of them leaves the table."""

    def before(session: sa.Session, _: Path) -> None:
        session.connection.execute("CREATE TABLE earlier_people AS FROM people WHERE id <> 1")
        session.anonymize("earlier_people", wanted, "earlier_release")
        session.connection.execute("DELETE FROM people WHERE id = 2")

    return before


def _beside(wanted: sa.Policy, **options: Any) -> Plan:
    """A plan of a release that is held together with an earlier one of the same policy, by a key of people."""
    earlier = sa.Earlier("earlier_release", source="earlier_people", key="id")
    held = wanted.model_copy(update={"earlier": (earlier,)})
    return Plan(people, _drawing(held, **options), before=_published(wanted))


def _partition(wanted: sa.Policy) -> Plan:
    """A plan of a partition of most people that is applied to the others."""
    return Plan(
        people,
        lambda session, folder: session.partitions.apply("people", folder / "fit", RELEASE),
        before=lambda session, folder: session.partitions.fit(
            "SELECT * FROM people WHERE id < 8", wanted, folder / "fit", accept_observed_domain=True
        ),
    )


def _seen_earlier(wanted: sa.Policy) -> Plan:
    """A plan of a release that is held together with an earlier one, as one who has no key sees both."""
    held = wanted.model_copy(update={"earlier": (sa.Earlier("earlier_release"),)})
    before = partial(_publish, wanted=wanted, into="earlier_release")
    return Plan(people, _drawing(held), before=before)


def _publish(session: sa.Session, _: Path, *, wanted: sa.Policy, into: str) -> None:
    session.anonymize("people", wanted, into)


HELD = {
    "earlier k": judged(K),
    "earlier l": judged(K, L),
    "earlier t, ordered": judged(K, T_ORDERED),
    "earlier shares": judged(K, T, sa.BetaLikeness("diagnosis", 5), suppression_limit=0.9),
    "earlier local": policy(K, method=LOCAL),
    "earlier release alone": judged(K),
    "earlier values alone": judged(K, L),
    "other release": judged(K),
    "partition": judged(K),
    "partition, t": judged(K, L, T_HIERARCHICAL, suppression_limit=0.9),
    "partition of classes": policy(K, method=LOCAL),
    "partition of diverse classes": policy(K, L, method=LOCAL),
    "k at a node": judged(K),
}
"""Policies of runs that have an earlier release, a partition or a node."""

RUNS = {
    **{name: Plan(people, _drawing(wanted)) for name, wanted in POLICIES.items()},
    "k at a node": Plan(people, _drawing(HELD["k at a node"], node=NODE)),
    "earlier k": _beside(HELD["earlier k"], node=NODE),
    "earlier l": _beside(HELD["earlier l"], node=NODE),
    "earlier t, ordered": _beside(HELD["earlier t, ordered"], node=NODE),
    "earlier shares": _beside(HELD["earlier shares"], node=NODE),
    "earlier local": _beside(HELD["earlier local"]),
    "earlier release alone": _seen_earlier(HELD["earlier release alone"]),
    "earlier values alone": _seen_earlier(HELD["earlier values alone"]),
    "other release": Plan(
        people, _drawing(HELD["other release"].with_k(3)), before=partial(_publish, wanted=judged(K), into="other")
    ),
    **{name: _partition(wanted) for name, wanted in HELD.items() if name.startswith("partition")},
}
"""Plans over the people."""

SERVED = Sent(judged(K, L, suppression="mask"), "people", people)
"""A run whose rows are on a server."""
