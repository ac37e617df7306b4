"""Mazzone 2019, chapter 3, on UCI Adult: persons that demographics, or a few events, single out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sqlglot import exp

from sqlanon.evaluation.results import Row
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import KAnonymity
from sqlanon.papers import adult
from sqlanon.papers.diffgen_experiment import put
from sqlanon.papers.experiments import Part, averaged, printed_beside
from sqlanon.papers.ola_runs import DEMOGRAPHICS, SECRETS
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import column, identifier, select

if TYPE_CHECKING:
    from sqlanon.api.session import Session

FILES = (adult.TRAINING,)
SOURCE = "adult"
SQL = Queries("papers")

Ages = Literal["kept", "normal", "uniform"]


@dataclass(frozen=True)
class Known:
    """Columns that an attacker knows, and the figures of the thesis for columns like them."""

    section: str
    name: str  # in words
    columns: tuple[str, ...]
    unique_share: float | None = None  # in the thesis, on MIMIC-III
    mean_class_size: float | None = None
    ages: Ages = "kept"


WITHOUT_AGE = DEMOGRAPHICS[1:]

KNOWN = (
    Known("3.1", "demographics, ages from a normal distribution", DEMOGRAPHICS, 8254 / 23236, 1.91, "normal"),
    Known("3.1", "demographics, ages from a uniform distribution", DEMOGRAPHICS, 6900 / 23236, None, "uniform"),
    Known("3.1", "demographics with the ages of Adult", DEMOGRAPHICS),
    Known("3.1", "demographics without age", WITHOUT_AGE, 0.0303, 15.7),
    Known("3.2", "the first three events", SECRETS[:3], 14745 / 33044, 1.88),
    Known("3.2", "the first two events", SECRETS[:2], 0.15),
    Known("3.2", "the first and the fifth event", (SECRETS[0], SECRETS[4]), 0.28),
)

rows = partial(averaged, by=("known",))


def prepare(session: Session, folder: Path) -> None:
    rows = adult.training_rows(folder, (*DEMOGRAPHICS, *SECRETS))
    session.connection.from_arrow(rows).row_number("OVER () AS place, *").create(SOURCE)


def parts(seeds: Sequence[int]) -> Iterator[Part]:
    for known in KNOWN:
        for seed in seeds if known.ages != "kept" else seeds[:1]:
            drawn = "" if known.ages == "kept" else f", seed {seed}"
            yield Part(f"{known.name}{drawn}", partial(measured, known=known, seed=seed))


def measured(session: Session, known: Known, seed: int) -> Iterator[Row]:
    """Yield the share of rows that are alone with what is known of them, and the mean size of classes."""
    source = SOURCE
    if known.ages != "kept":
        unaged = select([column("place"), *map(column, WITHOUT_AGE)], exp.Table(this=identifier(SOURCE)))
        aged = SQL.query("aged", rows=unaged, seed=seed, is_normal=exp.convert(known.ages == "normal"), **AGES)
        put(session, source := "aged", aged)
    policy = Policy(quasi_identifiers=known.columns, rest="identifier", privacy=[KAnonymity(2)])
    found = session.measure(source, policy).exposure
    assert found is not None
    yield {
        "section": known.section,
        "known": known.name,
        "columns": ", ".join(known.columns),
        "unique_share": found.unique_rows / found.row_count,
        "thesis_unique_share": known.unique_share,
        "mean_class_size": found.row_count / found.class_count,
        "thesis_mean_class_size": known.mean_class_size,
    }


AGES = {"mean": 30, "deviation": 33, "oldest": 100}  # of the drawn ages: section 3.1


def findings(rows: Sequence[Row]) -> Iterator[str]:
    shares = {row["known"]: f"{row['unique_share']:.1%}" for row in rows}
    aged, _, _, ageless, three, two, far = (shares[known.name] for known in KNOWN)
    yield (
        f"Of persons with known demographics, with ages from a normal distribution, {aged} are alone, and {ageless} "
        f"without age; in the thesis {KNOWN[0].unique_share:.1%} and {KNOWN[3].unique_share:.1%}"
    )
    yield f"Of persons with three known events, {three} are alone, with two {two}, with the first and the fifth {far}"


def printed(rows: Sequence[Row]) -> Iterator[Row]:
    for figure, words in (("unique_share", "unique rows"), ("mean_class_size", "mean class")):
        yield from printed_beside(rows, words, f"thesis_{figure}", figure, lambda row: row["known"])
