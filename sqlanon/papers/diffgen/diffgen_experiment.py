"""Mohammed et al. 2013 on UCI Adult: how well classifiers learn from DiffGen, and from what it competes with."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from sqlanon.evaluation.accuracy import classification
from sqlanon.evaluation.results import BLACK, Reproduced, Row, required_altair, rounded
from sqlanon.papers import adult
from sqlanon.papers.adult import BASELINE, LOWER_BOUND, MODELS, RAW_TEST, RAW_TRAINING
from sqlanon.papers.diffgen.diffgen_releases import (
    COMPARED_EPSILONS,
    COMPARED_SPECIALIZATIONS,
    EPSILONS,
    FEWER,
    HISTOGRAM,
    LEFT_OUT_OF_HISTOGRAMS,
    SPECIALIZATIONS,
    TOP_DOWN,
    UTILITIES,
    Contender,
    Outcome,
    contenders,
    outcomes,
    taxonomies,
)
from sqlanon.papers.reproductions import Announce, Reproduction

if TYPE_CHECKING:
    from sqlanon.api.session import Session

NEEDED = (adult.TRAINING, adult.TEST)

SLACK = 0.01  # by how much accuracy may fall from one ε to the next, and still count as not falling

SHOWN = {
    "method": "method",
    "epsilon": "ε",
    "specializations": "h",
    "tree": "CA (tree)",
    "tree_sd": "sd",
    "logistic": "CA (logistic)",
    "logistic_sd": "sd ",
    "combinations": "combinations",
}


def run(session: Session, folder: Path, seeds: Sequence[int], announce: Announce) -> Reproduced:
    """Make every release, and have classifiers learn from it.

    Raises:
        PolicyError: the folder lacks data, or a seed is none of a classifier.
        EngineError: the database refused a step, or scikit-learn or altair is not installed.
    """
    for name, rows in zip((RAW_TRAINING, RAW_TEST), adult.known_rows(folder, adult.COLUMNS), strict=True):
        session.connection.from_arrow(rows).create(name)
    session.taxonomies.load_all(taxonomies())
    announce(BASELINE)
    rows = [*bounds(session, seeds)]
    for contender in contenders():
        announce(str(contender))
        rows.append(row_of(contender, [*outcomes(session, contender, seeds)]))
    return Reproduced(
        title="DiffGen on UCI Adult, after Mohammed et al. 2013",
        rows=rows,
        shown=SHOWN,
        findings=findings(rows),
        notes=notes(len(seeds)),
        chart=chart(rows),
    )


def bounds(session: Session, seeds: Sequence[int]) -> Iterator[Row]:
    """Compute the bounds of accuracy: with the rows as they are (BA), and without any predictor (LA)."""
    found = classification(session, RAW_TRAINING, RAW_TEST, target=adult.TARGET, models=MODELS, seeds=seeds)
    by_seed = zip(*(found.ca[name].each for name in MODELS), strict=True)
    yield row_of(Contender(BASELINE), [Outcome(dict(zip(MODELS, each, strict=True))) for each in by_seed])
    yield row_of(Contender(LOWER_BOUND), [Outcome(dict.fromkeys(MODELS, found.la))])


def row_of(contender: Contender, outcomes: Sequence[Outcome]) -> Row:
    """The means over releases as a row of the table; a standard deviation is that of a sample, None of one release."""
    figures: dict[str, Any] = {}
    for name in MODELS:
        each = [outcome.accuracies[name] for outcome in outcomes]
        figures |= {name: fmean(each), f"{name}_sd": stdev(each) if len(each) > 1 else None}
    sizes = [outcome.combinations for outcome in outcomes if outcome.combinations is not None]
    return rounded(
        {
            "method": contender.method,
            "epsilon": None if contender.epsilon is None else float(contender.epsilon),
            "specializations": contender.specializations,
            **figures,
            "combinations": round(fmean(sizes)) if sizes else None,
        }
    )


def findings(rows: Sequence[Row]) -> list[str]:
    """Count how often the claims of the paper hold, of trees."""
    tree = {(row["method"], row["epsilon"], row["specializations"]): row["tree"] for row in rows}
    best, other = UTILITIES
    baseline, least = tree[BASELINE, None, None], tree[LOWER_BOUND, None, None]
    found = [f"BA is {baseline:.4f}, LA is {least:.4f}"]
    grid = [*itertools.product(map(float, EPSILONS), SPECIALIZATIONS)]
    for epsilon in map(float, EPSILONS):
        count = max(SPECIALIZATIONS, key=lambda each: tree[best, epsilon, each])
        accuracy = tree[best, epsilon, count]
        found.append(
            f"ε = {epsilon:g}: CA of {best} is {accuracy:.4f} at its best, h = {count}; BA - CA is "
            f"{baseline - accuracy:.4f}, CA - LA is {accuracy - least:.4f}"
        )
    below = sum(tree[other, *each] < tree[best, *each] for each in grid)
    found.append(f"CA of {other} is below that of {best} in {below} of {len(grid)} settings")
    steps = [
        tree[best, higher, count] >= tree[best, lower, count] - SLACK
        for count in SPECIALIZATIONS
        for lower, higher in itertools.pairwise(map(float, EPSILONS))
    ]
    found.append(f"CA of {best} rises with ε, or falls by {SLACK} at most, in {sum(steps)} of {len(steps)} steps")
    return [*found, *_compared(tree, best)]


def _compared(tree: Mapping[tuple[Any, Any, Any], float], best: str) -> Iterator[str]:
    """Count how often DiffGen is better than its competitors, and than itself with more counts left out."""
    count, epsilons = COMPARED_SPECIALIZATIONS, [*map(float, COMPARED_EPSILONS)]
    for method, other in itertools.product((best, FEWER), (HISTOGRAM, TOP_DOWN)):
        wins = sum(
            tree[method, epsilon, count] > tree[other, None if other == TOP_DOWN else epsilon, None]
            for epsilon in epsilons
        )
        yield f"CA of {method}, h = {count}, is above that of {other} for {wins} of {len(epsilons)} ε"


def chart(rows: Sequence[Row]) -> Any:
    """The rows as altair draws them.

    Raises:
        EngineError: altair is not installed.
    """
    limits = [row for row in rows if row["method"] in (BASELINE, LOWER_BOUND)]
    compared = [row for row in rows if row["specializations"] in (None, COMPARED_SPECIALIZATIONS)]
    return drawn(
        by_count=[row for row in rows if row["specializations"] in SPECIALIZATIONS],
        compared=[row for row in compared if row not in limits],
        across={f"{row['method']}": row["tree"] for row in limits},
    )


def notes(seeds: int) -> list[str]:
    """Write notes on how to read the table."""
    each = "one release, and one classifier" if seeds == 1 else f"{seeds} releases, and of a classifier of each"
    return [
        "UCI Adult without unknown values, 30,162 rows for training and 15,060 for tests; 6 numeric and 8 categorical "
        "predictors of the income.",
        f"CA is the share of the rows for tests whose income a classifier predicts that was trained on a release: the "
        f"mean of {each}. sd is the standard deviation from release to release.",
        "Rows for tests are generalized as the release is. The tree is CART, where the paper has C4.5.",
        "Taxonomies are those of this package, and not the paper's. Ranges of numbers are the paper's.",
        "combinations are those of labels and class that a release could show, a mean.",
        f"{TOP_DOWN.capitalize()}, promises k-anonymity alone, and splits numbers where they occur.",
        f"The {HISTOGRAM} is that of combinations at a fixed node: of every taxonomy the level below the top, of every "
        f"number the halves of its range; without {LEFT_OUT_OF_HISTOGRAMS}, which it could not list.",
        "The paper reports ten-fold cross-validation for figure 5A; here all figures are of the one split.",
        "Trying several ε or h on the same data, as this does, spends the budget of all of them: it shows how DiffGen "
        "behaves; do not choose h that way.",
    ]


REPRODUCTION = Reproduction(
    name="diffgen",
    source="Mohammed, Jiang, Chen, Fung and Ohno-Machado 2013",
    check=lambda folder: adult.refuse_folder(folder, [], NEEDED),
    run=run,
    seeds=range(10),
)

SHADES = ("#9ecae1", "#4292c6", "#2171b5", "#08306b")
"""By ε, ascending."""

COLOURS = ("#08306b", "#d62728", "#2ca02c", "#ff9f43")
"""By method."""

ACCURACY = "accuracy"
LEAST, MOST = 0.74, 0.87
"""The accuracies that are drawn, from below LA to above BA; what is beyond is drawn at the edge."""

WIDTH, HEIGHT = 300, 260


def drawn(by_count: Sequence[Row], compared: Sequence[Row], across: Mapping[str, float]) -> Any:
    """The chart as altair has it.

    Args:
        by_count: the rows of figure 4, by specializations.
        compared: the rows of figure 5A, by ε; one without ε is the same for all.
        across: accuracies that are lines across all panels, by what they are of.

    Raises:
        EngineError: altair is not installed.
    """
    altair = required_altair()
    panels = [
        _by_count(altair, method, by_count, across) for method in dict.fromkeys(row["method"] for row in by_count)
    ]
    panels.append(_by_epsilon(altair, compared, across))
    title = altair.TitleParams("Trees on UCI Adult, classification accuracy: the higher, the better", anchor="start")
    return altair.hconcat(*panels).resolve_scale(color="independent").properties(title=title)


def _by_count(altair: Any, method: str, rows: Sequence[Row], across: Mapping[str, float]) -> Any:
    points = [
        {"h": row["specializations"], "epsilon": f"{row['epsilon']:g}", ACCURACY: row["tree"]}
        for row in rows
        if row["method"] == method
    ]
    x = altair.X("h:O", title="specializations (h)", axis=altair.Axis(labelAngle=0))
    return _panel(altair, points, x, "epsilon", SHADES, across).properties(title=method, width=WIDTH, height=HEIGHT)


def _by_epsilon(altair: Any, rows: Sequence[Row], across: Mapping[str, float]) -> Any:
    epsilons = sorted({row["epsilon"] for row in rows if row["epsilon"] is not None})
    points = [
        {"epsilon": f"{epsilon:g}", "method": _name(row), ACCURACY: row["tree"]}
        for row in rows
        for epsilon in (epsilons if row["epsilon"] is None else [row["epsilon"]])
    ]
    x = altair.X("epsilon:O", title="ε", sort=None, axis=altair.Axis(labelAngle=0))
    return _panel(altair, points, x, "method", COLOURS, across).properties(
        title="beside other methods", width=WIDTH, height=HEIGHT
    )


# More than six parameters: the points, the meaning of their places and colours, and what is drawn across them.
def _panel(
    altair: Any,
    points: Sequence[Mapping[str, Any]],
    x: Any,
    colour: str,
    shades: Sequence[str],
    across: Mapping[str, float],
) -> Any:
    names = list(dict.fromkeys(point[colour] for point in points))
    y = altair.Y(f"{ACCURACY}:Q", title=None, scale=altair.Scale(domain=[LEAST, MOST], clamp=True))
    lines = altair.Chart(altair.InlineData(list(points))).encode(
        x=x,
        y=y,
        color=altair.Color(
            f"{colour}:N",
            title="ε" if colour == "epsilon" else None,
            sort=names,
            scale=altair.Scale(domain=names, range=list(shades[: len(names)])),
            legend=altair.Legend(orient="bottom", columns=1 if colour == "method" else 4, labelLimit=300),
        ),
    )
    return altair.layer(
        *_across(altair, across, y),
        lines.mark_line(),
        lines.mark_point(filled=True, size=40, opacity=1),
    )


def _across(altair: Any, across: Mapping[str, float], y: Any) -> Iterator[Any]:
    """Dotted lines with their names: that of the highest above it, others below, where no points are."""
    highest = max(across.values())
    for name, accuracy in across.items():
        line = altair.Chart(altair.InlineData([{"of": name, ACCURACY: accuracy}])).encode(y=y)
        yield line.mark_rule(strokeDash=[2, 3], color=BLACK)
        named = line.encode(text="of:N", x=altair.value(WIDTH))
        yield named.mark_text(align="right", dx=-4, dy=-7 if accuracy == highest else 9, color=BLACK)


def _name(row: Row) -> str:
    return row["method"] if row["specializations"] is None else f"{row['method']}, h = {row['specializations']}"
