"""Mohammed et al. 2013 on invented stays in intensive care: accuracy with sets of diagnoses among the predictors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.evaluation.results import Row, required_altair
from sqlanon.model.budget import Budget
from sqlanon.model.methods.cut_methods import DiffGen
from sqlanon.model.policy.policy import Policy
from sqlanon.model.taxonomy.taxonomy import TOP, Taxonomy
from sqlanon.papers import diffgen_experiment
from sqlanon.papers.adult import BASELINE, LOWER_BOUND
from sqlanon.papers.classifier_comparison import by_epsilon
from sqlanon.papers.diffgen_experiment import EPSILONS, SQL, UTILITIES, put, put_fold
from sqlanon.papers.experiments import Contender, Part, averaged, table_rows
from sqlanon.queries.kit.nodes import select, string

if TYPE_CHECKING:
    from sqlanon.api.session import Session

ROW_COUNT = 36_500  # stays, some of them without a diagnosis, which are left out
SPECIALIZATIONS = 5
FOLDS = 3  # a third of the rows is for tests
DATA_SEED = 1
NEWBORNS = 0.2  # share of stays

# By table, the log odds of death to which diagnoses add: about one patient in nine dies, as in MIMIC, or one in two.
LOG_ODDS = {"stays": -2.75, "severe stays": 0.0}

DIAGNOSES = "diagnoses"
DIED = "died"

# Shares of values by column; newborns have an admission type of their own.
CATEGORIES = {
    column: {row["value"]: row["share"] for row in rows}
    for column, rows in itertools.groupby(table_rows("stay_categories"), itemgetter("column"))
}

QUASI_IDENTIFIERS = (*CATEGORIES, DIAGNOSES)

TABLES_BY = "table"

rows = partial(averaged, by=(TABLES_BY, "method", "epsilon"), spread=("tree",))

AXES = ((0.76, 0.92), (0.5, 0.8))  # of accuracies, by table


def prepare(session: Session, _folder: Path) -> None:
    """Make the table, and its public taxonomies."""
    values = [("admission_type", "newborn", True, 0.0, 1.0)]
    for name, shares in CATEGORIES.items():
        ends = itertools.pairwise(itertools.accumulate(shares.values(), initial=0.0))
        for (value, (low, high)), is_newborn in itertools.product(zip(shares, ends, strict=True), (False, True)):
            if not is_newborn or name != "admission_type":
                values.append((name, value, is_newborn, low, high))
    # ICD-9 codes of three digits, with the share of stays that have them, and what they add to the log odds of death.
    diagnoses = [tuple(row.values()) for row in table_rows("stay_diagnoses")]
    constants: Mapping[str, tuple[str, Sequence[tuple[object, ...]]]] = {
        "values": ("attribute value is_of_newborns low high", values),
        "diagnoses": ("code is_of_newborns share log_odds", diagnoses),
    }
    for table, log_odds in LOG_ODDS.items():
        settings = ("seed row_count newborns log_odds", [(DATA_SEED, ROW_COUNT, NEWBORNS, log_odds)])
        given = {
            role: select([exp.Star()], exp.values([*rows], f"given_{role}", names.split()))
            for role, (names, rows) in {**constants, "settings": settings}.items()
        }
        columns = [*CATEGORIES]
        put(session, table, SQL.query("stays", columns=columns, names=[*map(string, columns)], **given))
    codes = Taxonomy.from_rows([(code, code[:2], code[:1], TOP) for code, *_ in diagnoses])
    flat = {name: Taxonomy.flat([*shares]) for name, shares in CATEGORIES.items()}
    session.taxonomies.load_all({**flat, DIAGNOSES: codes, DIED: Taxonomy.flat(["N", "Y"])})


def parts(seeds: Sequence[int]) -> Iterator[Part]:
    for table, seed in itertools.product(LOG_ODDS, seeds):
        yield Part(f"{table}, {BASELINE}, seed {seed}", partial(bounds, table=table, seed=seed))
        for method, epsilon in itertools.product(UTILITIES, EPSILONS):
            release = partial(measured, table=table, method=method, epsilon=epsilon, seed=seed)
            yield Part(f"{table}, {method}, ε = {epsilon}, seed {seed}", release)


def bounds(session: Session, table: str, seed: int) -> Iterator[Row]:
    put_fold(session, table, (*QUASI_IDENTIFIERS, DIED), seed, FOLDS)
    return diffgen_experiment.bounds(session, [seed], ["tree"], DIED, {"table": table, "method": None, "epsilon": None})


def measured(session: Session, table: str, method: str, epsilon: str, seed: int) -> Iterator[Row]:
    put_fold(session, table, (*QUASI_IDENTIFIERS, DIED), seed, FOLDS)
    settings = DiffGen(
        budget=Budget(epsilon), specializations=SPECIALIZATIONS, utility=UTILITIES[method], sets=[DIAGNOSES]
    )
    policy = Policy(quasi_identifiers=QUASI_IDENTIFIERS, sensitive=[DIED], method=settings)
    contender = Contender(method, policy, {"table": table, "method": method, "epsilon": float(epsilon)})
    return diffgen_experiment.measured(session, contender, [seed], ["tree"])


def chart(rows: Sequence[Row]) -> Any:
    altair = required_altair()
    charts = [
        by_epsilon([row for row in rows if row["table"] == table], f"Trees on invented {table}", axis)
        for table, axis in zip(LOG_ODDS, AXES, strict=True)
    ]
    return altair.hconcat(*charts).resolve_scale(color="independent")


def findings(rows: Sequence[Row]) -> Iterator[str]:
    for table in LOG_ODDS:
        of_table = [row for row in rows if row["table"] == table]
        limits = {row["method"]: row["tree"] for row in of_table if row["epsilon"] is None}
        least = limits[LOWER_BOUND]
        yield f"{table.capitalize()}: BA is {limits[BASELINE]:.4f}, LA is {least:.4f}"
        for method in UTILITIES:
            found = [row["tree"] for row in of_table if row["method"] == method]
            above = sum(each > least for each in found)
            yield (
                f"{table.capitalize()}: CA of {method} is {min(found):.4f} to {max(found):.4f}, above LA for {above} "
                f"of {len(found)} ε"
            )
