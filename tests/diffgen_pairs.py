"""Neighbours that are meant to give DiffGen away, and policies that spend nearly all on one kind of draw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

import sqlanon as sa

Person = tuple[int | None, str | None, Sequence[str] | None, str | None]
"""Age, job, illnesses and class."""

AGES = (15, 95, 20)


@dataclass(frozen=True)
class Pair:
    rows: list[Person]
    more: Person


CROWD: list[Person] = [
    (20, "nurse", ["flu"], "yes"),
    (30, "nurse", ["flu", "cold"], "no"),
    (40, "cook", ["burn"], "no"),
    (50, "baker", ["cold"], "yes"),
    (60, "doctor", ["flu", "burn"], "no"),
]

PAIRS: Mapping[str, Pair] = {
    "a combination that nobody has": Pair(CROWD, (35, "baker", ["burn", "cut"], "yes")),
    "a number above all others": Pair(CROWD, (94, "nurse", ["flu"], "yes")),
    "a number below all others": Pair([row for row in CROWD if row[0] != 20], (15, "nurse", ["flu"], "yes")),
    "a number out of the range": Pair(CROWD, (1000, "cook", ["burn"], "yes")),
    "between two numbers": Pair([CROWD[0], CROWD[4]], (40, "nurse", ["flu"], "yes")),
    "the only row": Pair([], (20, "nurse", ["flu"], "yes")),
    "the only one of its class": Pair([row for row in CROWD if row[3] == "no"], CROWD[0]),
    "a set without items": Pair(CROWD, (30, "cook", [], "no")),
    "the only row, a set without items": Pair([], (30, "cook", [], "no")),
    "a set of all items": Pair(CROWD, (30, "cook", ["flu", "cold", "burn", "cut"], "no")),
    "a row like another": Pair(CROWD, CROWD[0]),
    "what decides between two labels": Pair([CROWD[0]] * 4 + [CROWD[1]] * 2, (40, "cook", ["flu"], "no")),
    "a row that is left out": Pair(CROWD, (None, "cook", ["burn"], "no")),
}

WHOLE = sa.DiffGen(specializations=1, numeric={"age": AGES}, sets=["illnesses"], budget=sa.Budget(2))


def alone(step: int, **options: object) -> sa.DiffGen:
    """With a step that costs so much, and no count that is ever shown."""
    settings = sa.DiffGen(specializations=1, threshold=1e9, **options)
    return settings.model_copy(update={"budget": sa.Budget(settings.budget.epsilon * step / settings.step)})


DRAWS: Mapping[str, tuple[sa.DiffGen, tuple[str, ...], sa.Budget]] = {
    "all draws": (WHOLE, ("age", "job", "illnesses"), sa.Budget(2)),
    "information": (WHOLE.model_copy(update={"utility": "infogain"}), ("age", "job", "illnesses"), sa.Budget(2)),
    "the choice": (alone(2), ("job", "illnesses as text"), sa.Budget(2)),
    "the split": (alone(2, numeric={"age": AGES}), ("age",), sa.Budget(2)),
    "the sets that are kept": (alone(2, sets=["illnesses"]), ("illnesses",), sa.Budget(2)),
    "the counts": (sa.DiffGen(specializations=1, budget=sa.Budget(2)), ("nothing",), sa.Budget(2)),
}
"""Settings, predictors, and what is spent on the draw."""


def session_on(pair: Pair) -> sa.Session:
    """A session with the tables ``without`` and ``with_one``, and the taxonomies."""
    connection = duckdb.connect(config={"threads": 1})
    for name, rows in (("without", pair.rows), ("with_one", [*pair.rows, pair.more])):
        connection.execute(f"CREATE TABLE {name} (age INTEGER, job VARCHAR, illnesses VARCHAR[], class VARCHAR)")
        for row in rows:
            connection.execute(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", row)
        connection.execute(f'ALTER TABLE {name} ADD COLUMN "illnesses as text" VARCHAR')
        connection.execute(f"UPDATE {name} SET \"illnesses as text\" = coalesce(illnesses[1], 'cut')")
        connection.execute(f"ALTER TABLE {name} ADD COLUMN nothing VARCHAR DEFAULT 'none'")
    session = sa.connect(connection)
    illnesses = [("flu", "infection", "*"), ("cold", "infection", "*"), ("burn", "injury", "*"), ("cut", "injury", "*")]
    jobs = [("nurse", "ward", "*"), ("doctor", "ward", "*"), ("cook", "kitchen", "*"), ("baker", "kitchen", "*")]
    session.taxonomies.load("job", sa.Taxonomy.from_rows(jobs))
    for name in ("illnesses", "illnesses as text"):
        session.taxonomies.load(name, sa.Taxonomy.from_rows(illnesses))
    session.taxonomies.load("nothing", sa.Taxonomy.flat(["none"]))
    session.taxonomies.load("class", sa.Taxonomy.flat(["yes", "no"]))
    return session


def audited(
    draw: str, name: str, runs: int, confidence: float, source: object, pair: Pair | None = None
) -> sa.evaluation.Audit:
    """An audit of one kind of draw on a pair of neighbours."""
    settings, predictors, claimed = DRAWS[draw]
    policy = sa.Policy(quasi_identifiers=predictors, sensitive=["class"], rest="identifier", method=settings)
    mechanism = sa.evaluation.repeatable(session_on(pair or PAIRS[name]), policy, source)
    return sa.evaluation.audit_privacy(mechanism, "without", "with_one", runs, confidence, claimed=claimed)
