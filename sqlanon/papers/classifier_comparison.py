"""Mohammed et al. 2013 on UCI Adult: accuracy of DiffGen beside a private tree, k-anonymity and a histogram."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlanon.evaluation.results import Row
from sqlanon.model.budget import Budget
from sqlanon.model.methods.cut_methods import TopDownSpecialization
from sqlanon.model.methods.noisy import Histogram
from sqlanon.model.taxonomy.taxonomy import Taxonomy
from sqlanon.papers import adult
from sqlanon.papers.adult import BASELINE, BOUNDS, LOWER_BOUND, RAW_TEST, RAW_TRAINING
from sqlanon.papers.charts import between_limits, colours, steps
from sqlanon.papers.diffgen_experiment import (
    AXIS,
    CLASSES,
    RAW,
    SETTINGS,
    UTILITIES,
    bounds,
    contender,
    diffgen,
    measured,
    put_fold,
    taxonomies,
)
from sqlanon.papers.experiments import Contender, Part, averaged
from sqlanon.papers.private_tree import tree_accuracy

if TYPE_CHECKING:
    from sqlanon.api.session import Session

EPSILONS = ("0.1", "0.25", "0.5", "1", "2", "4")  # the text has "up to 2" and "higher"
SPECIALIZATIONS = 15
FOLDS = 10

BEST = next(iter(UTILITIES))
FEWER = f"{BEST}, counts up to 25 / ε left out"
FEWER_THRESHOLD = 25  # rarely shows an empty one of the 300,000 to 600,000 combinations of 15 specializations

TREE = "DiffP-C4.5"

CLASS_SIZES = (5, 10, 25)  # the paper has 5
TOP_DOWN = {k: f"top-down specialization, k = {k}" for k in CLASS_SIZES}

HISTOGRAM = "histogram"
LEFT_OUT_OF_HISTOGRAMS = "fnlwgt"  # a poor predictor, a survey weight, with 1.5 million values for a taxonomy to list

PEOPLE = "people"
MODEL = "tree"

FILES = adult.BOTH

rows = partial(averaged, by=SETTINGS, spread=(MODEL,))


def prepare(session: Session, folder: Path) -> None:
    people = pa.concat_tables(adult.known_rows(folder, adult.COLUMNS))
    session.connection.from_arrow(people.append_column("row", pa.array(range(len(people))))).create(PEOPLE)
    session.taxonomies.load_all({**taxonomies(), **halves()})


def halves() -> dict[str, Taxonomy]:
    """Return taxonomies of numbers for histograms: the halves of their ranges."""
    return {
        name: Taxonomy.intervals([-(-(high - low) // 2)], origin=low, minimum=low, maximum=high - 1)
        for name, (low, high) in BOUNDS.items()
        if name != LEFT_OUT_OF_HISTOGRAMS
    }


def parts(seeds: Sequence[int]) -> Iterator[Part]:
    for (name, measure), seed in itertools.product(measures(), seeds):
        yield Part(f"{name}, seed {seed}", partial(measure, seed=seed))


def measures() -> Iterator[tuple[str, Callable[..., Iterable[Row]]]]:
    """Yield what learns from nine folds of a seed, and is tested on the tenth."""
    yield BASELINE, raw
    # The highest level with several labels.
    levels = {name: len(next(iter(taxonomy.rows or ()))) - 2 for name, taxonomy in adult.categories().items()}
    node = {**levels, **dict.fromkeys(halves(), 1)}
    for epsilon in EPSILONS:
        yield _released(diffgen(BEST, UTILITIES[BEST], epsilon, SPECIALIZATIONS))
        threshold = FEWER_THRESHOLD / float(epsilon)
        yield _released(diffgen(FEWER, UTILITIES[BEST], epsilon, SPECIALIZATIONS, threshold=threshold))
        yield f"{TREE}, ε = {epsilon}", partial(grown, epsilon=epsilon)
        method = Histogram(budget=Budget(epsilon), node=node)
        yield _released(contender(HISTOGRAM, method, epsilon, left_out=(LEFT_OUT_OF_HISTOGRAMS,)))
    for k, name in TOP_DOWN.items():
        yield _released(contender(name, TopDownSpecialization(k, numeric=BOUNDS)))


def _released(contender: Contender) -> tuple[str, Callable[..., Iterable[Row]]]:
    return contender.name, partial(released, contender=contender)


def raw(session: Session, seed: int) -> Iterator[Row]:
    put_fold(session, PEOPLE, adult.COLUMNS, seed, FOLDS)
    return bounds(session, [seed], [MODEL])


def grown(session: Session, epsilon: str, seed: int) -> Iterator[Row]:
    put_fold(session, PEOPLE, adult.COLUMNS, seed, FOLDS)
    target, budget = (adult.TARGET, CLASSES[1]), Budget(epsilon)
    found = tree_accuracy(session, RAW_TRAINING, RAW_TEST, adult.predictors(), target, budget, seed)
    yield {**RAW, "method": TREE, "epsilon": float(epsilon), MODEL: found}


def released(session: Session, contender: Contender, seed: int) -> Iterator[Row]:
    put_fold(session, PEOPLE, adult.COLUMNS, seed, FOLDS)
    return measured(session, contender, [seed], [MODEL])


def findings(rows: Sequence[Row]) -> Iterator[str]:
    by_method: dict[str, dict[float | None, float]] = {}
    for row in rows:
        by_method.setdefault(row["method"], {})[row["epsilon"]] = row[MODEL]
    for method in (BEST, FEWER):
        mine = by_method[method]
        for other in (TREE, HISTOGRAM, *TOP_DOWN.values()):
            theirs = by_method[other]
            above = [
                f"{epsilon:g}" for epsilon, each in mine.items() if each > theirs.get(epsilon, theirs.get(None, 1))
            ]
            yield f"CA of {method} is above that of {other} for {', '.join(above) or 'no'} ε"
    yield "CA of top-down specialization: " + ", ".join(
        f"{by_method[name][None]:.4f} for k = {k}" for k, name in TOP_DOWN.items()
    )


COLOURS = ("#08306b", "#d62728", "#9467bd", "#2ca02c", "#ff9f43", "#e377c2", "#8c564b")  # by method
SIZE = (420, 300)


def by_epsilon(rows: Sequence[Row], title: str, axis: tuple[float, float]) -> Any:
    """Draw a line of accuracies by ε for each method, between BA and LA; methods without ε are constant over it."""
    limits = {row["method"]: row[MODEL] for row in rows if row["method"] in (BASELINE, LOWER_BOUND)}
    epsilons = sorted({row["epsilon"] for row in rows if row["epsilon"] is not None})
    points = [
        {"epsilon": f"{epsilon:g}", "method": row["method"], "accuracy": row[MODEL]}
        for row in rows
        if row["method"] not in limits
        for epsilon in (epsilons if row["epsilon"] is None else [row["epsilon"]])
    ]
    x = steps("epsilon", title="ε")
    color = colours("method", (each["method"] for each in points), COLOURS, columns=1, labelLimit=300)
    named = f"{title}, classification accuracy: the higher, the better"
    return between_limits(points, limits, axis, named, SIZE, x=x, color=color)


chart = partial(by_epsilon, title="Trees on UCI Adult", axis=AXIS)
