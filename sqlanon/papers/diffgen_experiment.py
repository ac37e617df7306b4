"""Mohammed et al. 2013 on UCI Adult: accuracy of classifiers trained on DiffGen, by ε and h."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.evaluation.accuracy import classification
from sqlanon.evaluation.results import Row
from sqlanon.methods.diffgen.diffgen_run import DiffGenReport
from sqlanon.model.budget import Budget
from sqlanon.model.methods.cut_methods import COUNT, DiffGen, Utility
from sqlanon.model.methods.noisy import Histogram
from sqlanon.model.methods.settings import MethodSettings
from sqlanon.model.policy.policy import Policy
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.papers import adult
from sqlanon.papers.adult import BASELINE, BOUNDS, LOWER_BOUND, MODELS, RAW_TEST, RAW_TRAINING, at_node
from sqlanon.papers.charts import below, between_limits, colours, steps
from sqlanon.papers.experiments import RELEASED, Contender, Part, averaged, parts_of
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import DIALECT, column, identifier, select

if TYPE_CHECKING:
    from sqlanon.api.session import Session
    from sqlanon.model.release import Release

CLASSES = ("<=50K", ">50K")

UTILITIES: Mapping[str, Utility] = {"DiffGen, Max": "max", "DiffGen, InfoGain": "infogain"}
EPSILONS = ("0.1", "0.25", "0.5", "1")
SPECIALIZATIONS = (4, 7, 10, 13, 16)  # of figure 4

SQL = Queries("diffgen_rows")

TESTED = "tested"  # the test rows at the release's cut

FILES = adult.BOTH
SLACK = 0.01  # tolerated fall of accuracy from one ε to the next

SETTINGS = ("method", "epsilon", "specializations")
rows = partial(averaged, by=SETTINGS, spread=MODELS)
RAW: Row = dict.fromkeys((*SETTINGS, "combinations"))  # columns that rows without a release lack


def contenders() -> Iterator[Contender]:
    for (name, utility), epsilon, count in itertools.product(UTILITIES.items(), EPSILONS, SPECIALIZATIONS):
        yield diffgen(name, utility, epsilon, count)


def diffgen(
    name: str, utility: Utility, epsilon: str, specializations: int, threshold: float | None = None
) -> Contender:
    method = DiffGen(
        budget=Budget(epsilon),
        specializations=specializations,
        utility=utility,
        numeric=BOUNDS,
        threshold=threshold,
    )
    return contender(name, method, epsilon, specializations)


def contender(
    name: str,
    method: MethodSettings,
    epsilon: str | None = None,
    specializations: int | None = None,
    left_out: tuple[str, ...] = (),
) -> Contender:
    """Return releases of the income by a method, without some predictors."""
    predictors = [each for each in adult.COLUMNS if each not in (adult.TARGET, *left_out)]
    policy = Policy(quasi_identifiers=predictors, sensitive=[adult.TARGET], identifiers=left_out, method=method)
    given = {"ε": epsilon, "h": specializations}
    words = [name, *(f"{name} = {value}" for name, value in given.items() if value is not None)]
    setting = {"epsilon": None if epsilon is None else float(epsilon), "specializations": specializations}
    return Contender(", ".join(words), policy, {"method": name, **setting})


def taxonomies() -> dict[str, Taxonomy]:
    """Return the taxonomies of the classes and of categorical predictors."""
    return {adult.TARGET: Taxonomy.flat(CLASSES), **adult.categories()}


def prepare(session: Session, folder: Path) -> None:
    for name, rows in zip((RAW_TRAINING, RAW_TEST), adult.known_rows(folder, adult.COLUMNS), strict=True):
        session.connection.from_arrow(rows).create(name)
    session.taxonomies.load_all(taxonomies())


def put(session: Session, name: str, query: exp.Query) -> None:
    """Make a table by a query, in place of any of its name."""
    table = exp.Table(this=identifier(name))
    session._engine.execute(exp.Create(this=table, kind="TABLE", replace=True, expression=query), name)


def put_fold(session: Session, source: str, columns: Sequence[str], seed: int, folds: int) -> None:
    """Put the rows of a seed's fold into :data:`RAW_TEST`, and all others into :data:`RAW_TRAINING`.

    Seeds from 0 to ``folds - 1`` have the folds of one partition, the next ones those of another. The source has the
    number of each row, ``row``.
    """
    run, number = divmod(seed, folds)
    for name, is_inside in ((RAW_TRAINING, exp.false()), (RAW_TEST, exp.true())):
        people = exp.Table(this=identifier(source))
        part = SQL.query(
            "fold", people=people, columns=columns, run=run, folds=folds, number=number, is_inside=is_inside
        )
        put(session, name, part)


def parts(seeds: Sequence[int]) -> Iterator[Part]:
    yield Part(BASELINE, partial(bounds, seeds=seeds))
    yield from parts_of(contenders(), measured, seeds)


def bounds(
    session: Session,
    seeds: Sequence[int],
    models: Sequence[str] = MODELS,
    target: str = adult.TARGET,
    given: Row = RAW,
) -> Iterator[Row]:
    """Yield the accuracies of rows as they are, of each seed, and of the more frequent class."""
    found = classification(session, RAW_TRAINING, RAW_TEST, target=target, models=models, seeds=seeds)
    for each in zip(*(found.ca[name].each for name in models), strict=True):
        yield {**given, "method": BASELINE, **dict(zip(models, each, strict=True))}
    yield {**given, "method": LOWER_BOUND, **dict.fromkeys(models, found.la)}


def measured(
    session: Session, contender: Contender, seeds: Sequence[int], models: Sequence[str] = MODELS
) -> Iterator[Row]:
    """Release once, by the first seed, and yield the accuracies of classifiers of each seed."""
    method, tested, [target] = contender.policy.method, TESTED, contender.policy.sensitive
    release = contender.release(session, RAW_TRAINING, seeds[0])
    if isinstance(method, Histogram):
        tested = at_node(contender.policy.quasi_identifiers, release.node)
    else:
        session.generalize(RAW_TEST, RELEASED, TESTED, replace=True)
    weight = COUNT if isinstance(method, DiffGen) else None
    # A histogram counts NULL as a class.
    released = select([exp.Star()], exp.Table(this=identifier(RELEASED)))
    trained = released.where(column(target).is_(exp.null()).not_(), copy=False).sql(DIALECT)
    learnt = partial(classification, session, trained, tested, target=target, models=models, weight=weight)
    for seed in seeds:
        found = learnt(seeds=[seed])
        accuracies = {name: each.mean for name, each in found.ca.items()}
        yield {**contender.setting, **accuracies, "combinations": combinations_of(release)}


def combinations_of(release: Release) -> int | None:
    return release.report.combinations if isinstance(release.report, DiffGenReport) else None


def findings(rows: Sequence[Row]) -> Iterator[str]:
    """Count how often the paper's claims hold for trees."""
    tree = {(row["method"], row["epsilon"], row["specializations"]): row["tree"] for row in rows}
    best, other = UTILITIES
    baseline, least = tree[BASELINE, None, None], tree[LOWER_BOUND, None, None]
    yield f"BA is {baseline:.4f}, LA is {least:.4f}"
    grid = [*itertools.product(map(float, EPSILONS), SPECIALIZATIONS)]
    for epsilon in map(float, EPSILONS):
        count = max(SPECIALIZATIONS, key=lambda each: tree[best, epsilon, each])
        accuracy = tree[best, epsilon, count]
        yield (
            f"ε = {epsilon:g}: CA of {best} is {accuracy:.4f} at its best, h = {count}; BA - CA is "
            f"{baseline - accuracy:.4f}, CA - LA is {accuracy - least:.4f}"
        )
    below = sum(tree[other, *each] < tree[best, *each] for each in grid)
    yield f"CA of {other} is below that of {best} in {below} of {len(grid)} settings"
    steps = [
        tree[best, higher, count] >= tree[best, lower, count] - SLACK
        for count in SPECIALIZATIONS
        for lower, higher in itertools.pairwise(map(float, EPSILONS))
    ]
    yield f"CA of {best} rises with ε, or falls by {SLACK} at most, in {sum(steps)} of {len(steps)} steps"


SHADES = ("#9ecae1", "#4292c6", "#2171b5", "#08306b")  # by ε, ascending

AXIS = (0.74, 0.87)  # of accuracies, from below LA to above BA; others are drawn at its ends

SIZE = (300, 260)


def chart(rows: Sequence[Row]) -> Any:
    limits = {row["method"]: row["tree"] for row in rows if row["method"] in (BASELINE, LOWER_BOUND)}
    by_count = [row for row in rows if row["specializations"] in SPECIALIZATIONS]
    panels = []
    x = steps("h", title="specializations (h)")
    for method in dict.fromkeys(row["method"] for row in by_count):
        points = [
            {"h": row["specializations"], "epsilon": f"{row['epsilon']:g}", "accuracy": row["tree"]}
            for row in by_count
            if row["method"] == method
        ]
        color = colours("epsilon", (each["epsilon"] for each in points), SHADES, "ε", columns=4, labelLimit=300)
        panels.append(between_limits(points, limits, AXIS, method, SIZE, x=x, color=color))
    return below([panels], "Trees on UCI Adult, classification accuracy: the higher, the better")
