"""The releases that DiffGen is compared by on UCI Adult, and what classifiers learn from each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.chance.word_sources import SeededSource
from sqlanon.evaluation.accuracy import classification
from sqlanon.methods.cuts.diffgen.diffgen_run import DiffGenReport
from sqlanon.model.budget import Budget
from sqlanon.model.methods.cut_methods import COUNT, DiffGen, TopDownSpecialization, Utility
from sqlanon.model.methods.noisy import Histogram
from sqlanon.model.methods.settings import MethodSettings
from sqlanon.model.policy.policy import Policy
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.papers import adult
from sqlanon.papers.adult import BOUNDS, MODELS, RAW_TEST, RAW_TRAINING, at_node, predictors
from sqlanon.queries.kit.nodes import DIALECT, column, identifier, select

if TYPE_CHECKING:
    from sqlanon.api.session import Session

CLASSES = ("<=50K", ">50K")

UTILITIES: Mapping[str, Utility] = {"DiffGen, Max": "max", "DiffGen, InfoGain": "infogain"}
EPSILONS = ("0.1", "0.25", "0.5", "1")
SPECIALIZATIONS = (4, 7, 10, 13, 16)  # of figure 4

COMPARED_EPSILONS = (*EPSILONS, "2", "4")
COMPARED_SPECIALIZATIONS = 15  # of figure 5A: the text mentions budgets of 2 and more without naming them

FEWER = "DiffGen, Max, counts up to 25 / ε left out"
FEWER_THRESHOLD = 25
"""Of the 300,000 to 600,000 combinations of 15 specializations, one that nobody has is shown now and then."""

CLASS_SIZE = 5
TOP_DOWN = f"top-down specialization, k = {CLASS_SIZE}"

HISTOGRAM = "histogram"
LEFT_OUT_OF_HISTOGRAMS = "fnlwgt"
"""Its 1.5 million values would all be listed in a taxonomy; and a survey weight predicts an income badly."""

RELEASED = "released"
TESTED = "tested"  # the tables of a release, and of the rows for tests at its cut


@dataclass(frozen=True)
class Contender:
    """The method of some releases."""

    method: str  # in words
    settings: MethodSettings | None = None  # the method of its policy; rows as they are have none
    epsilon: str | None = None  # of a release, if it is private
    specializations: int | None = None  # how many were wanted, if that is a setting
    left_out: tuple[str, ...] = ()  # columns that it does without

    def __str__(self) -> str:
        """In words, as progress is reported."""
        given = {"ε": self.epsilon, "h": self.specializations}
        return ", ".join([self.method, *(f"{name} = {value}" for name, value in given.items() if value is not None)])

    @property
    def predictors(self) -> list[str]:
        """The columns that incomes are predicted by."""
        return [name for name in adult.COLUMNS if name not in (adult.TARGET, *self.left_out)]

    @property
    def policy(self) -> Policy:
        """The policy of the releases."""
        return Policy(
            quasi_identifiers=self.predictors,
            sensitive=[adult.TARGET],
            identifiers=self.left_out,
            method=self.settings,
        )


@dataclass(frozen=True)
class Outcome:
    """The results of one release."""

    accuracies: Mapping[str, float]  # of a model, by name, trained on it
    combinations: int | None = None  # how many there are of the labels and classes of DiffGen


def contenders() -> Iterator[Contender]:
    """List the contenders: the settings of figure 4, and then those of figure 5A."""
    for (name, utility), epsilon, count in itertools.product(UTILITIES.items(), EPSILONS, SPECIALIZATIONS):
        yield diffgen(name, utility, epsilon, count)
    name, utility = next(iter(UTILITIES.items()))
    for epsilon in COMPARED_EPSILONS:
        yield diffgen(name, utility, epsilon, COMPARED_SPECIALIZATIONS)
        yield diffgen(FEWER, utility, epsilon, COMPARED_SPECIALIZATIONS, threshold=FEWER_THRESHOLD / float(epsilon))
    node = {name: _level_below_top(taxonomy) for name, taxonomy in taxonomies().items() if name != adult.TARGET}
    for epsilon in COMPARED_EPSILONS:
        method = Histogram(budget=Budget(epsilon), node=node)
        yield Contender(HISTOGRAM, method, epsilon, left_out=(LEFT_OUT_OF_HISTOGRAMS,))
    yield Contender(TOP_DOWN, TopDownSpecialization(CLASS_SIZE, numeric=BOUNDS))


def diffgen(
    name: str, utility: Utility, epsilon: str, specializations: int, threshold: float | None = None
) -> Contender:
    """DiffGen of all 14 predictors."""
    method = DiffGen(
        budget=Budget(epsilon),
        specializations=specializations,
        utility=utility,
        numeric=BOUNDS,
        threshold=threshold,
    )
    return Contender(name, method, epsilon, specializations)


def taxonomies() -> dict[str, Taxonomy]:
    """Return the taxonomies of classes, of predictors that have one, and of numbers in halves of their range."""
    known = {adult.TARGET: Taxonomy.flat(CLASSES)}
    for name, each in predictors().items():
        if isinstance(each, Taxonomy):
            known[name] = each
        elif name != LEFT_OUT_OF_HISTOGRAMS:
            low, high = each
            known[name] = Taxonomy.intervals([-(-(high - low) // 2)], origin=low, minimum=low, maximum=high - 1)
    return known


def outcomes(session: Session, contender: Contender, seeds: Sequence[int]) -> Iterator[Outcome]:
    """A release by draws that follow from each seed, and what a classifier with that seed learns from it.

    What draws nothing is released once.
    """
    method = contender.policy.method
    tested = TESTED
    for place, seed in enumerate(seeds):
        if method.draws or place == 0:
            source = SeededSource(seed) if method.draws else None
            release = session.anonymize(RAW_TRAINING, contender.policy, RELEASED, replace=True, random_source=source)
            if isinstance(method, Histogram):
                tested = at_node(contender.predictors, release.node)
            else:
                session.generalize(RAW_TEST, RELEASED, TESTED, replace=True)
        found = classification(
            session,
            with_income(RELEASED),
            tested,
            target=adult.TARGET,
            models=MODELS,
            weight=COUNT if isinstance(method, DiffGen) else None,
            seeds=[seed],
        )
        combinations = release.report.combinations if isinstance(release.report, DiffGenReport) else None
        yield Outcome({name: each.mean for name, each in found.ca.items()}, combinations)


def with_income(table: str) -> str:
    """The query for the rows that have an income: a histogram takes NULL for a class like any other."""
    rows = select([exp.Star()], _table(table))
    return rows.where(column(adult.TARGET).is_(exp.null()).not_(), copy=False).sql(DIALECT)


def _table(name: str) -> exp.Table:
    return exp.Table(this=identifier(name))


def _level_below_top(taxonomy: Taxonomy) -> int:
    """The highest level with several labels."""
    rows = taxonomy.rows
    return 1 if rows is None else len(next(iter(rows))) - 2
