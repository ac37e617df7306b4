"""Mazzone 2019 on UCI Adult: accuracy of incomes predicted from nodes chosen by Prec, DM* and Entropy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlanon.evaluation.accuracy import Accuracy, classification
from sqlanon.evaluation.results import BLACK, Row, required_altair
from sqlanon.model.class_losses import DMStar
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import KAnonymity
from sqlanon.model.quality import Entropy, Prec, QualityModel
from sqlanon.papers import adult
from sqlanon.papers.adult import BASELINE, LOWER_BOUND, MODELS, RAW_TEST, RAW_TRAINING, as_they_are, at_node
from sqlanon.papers.ceiling_experiment import QUASI_IDENTIFIERS
from sqlanon.papers.charts import below, between_limits, colours, dashes, figures, panel, steps, unpivoted
from sqlanon.papers.experiments import (
    RELEASED,
    Contender,
    Part,
    parts_of,
    printed_beside,
    spelled_node,
    table_rows,
)

if TYPE_CHECKING:
    from sqlanon.api.session import Session

LOSSES: Mapping[str, QualityModel] = {"Prec": Prec(), "DM*": DMStar(), "Entropy": Entropy()}

# Table 6.1: by k and the percentage of rows that may be suppressed, the accuracy with each loss.
PUBLISHED: Mapping[tuple[int, int], Row] = {(row["k"], row["percent"]): row for row in table_rows("thesis_accuracies")}
PUBLISHED_BASELINE = 0.8519  # of raw rows: section 6.1.2


@dataclass(frozen=True)
class Design:
    """The columns that predict incomes."""

    name: str
    quasi_identifiers: tuple[str, ...]  # generalized columns
    kept: tuple[str, ...] = ()  # unchanged columns

    @property
    def predictors(self) -> tuple[str, ...]:
        return (*self.quasi_identifiers, *self.kept)


SEVEN = Design("seven", QUASI_IDENTIFIERS)
THESIS = Design(  # section 5.3
    "thesis", ("age", *adult.categories()), ("capital_gain", "capital_loss", "hours_per_week")
)
DESIGNS = (SEVEN, THESIS)

FILES = adult.needed(THESIS.quasi_identifiers, adult.BOTH)


def contender(design: Design, k: int, percent: int, loss: str) -> Contender:
    """Return a release: columns, k, the percentage of rows that may be suppressed, and the loss."""
    setting = {"columns": design.name, "loss": loss, "k": k, "suppression_limit": percent / 100}
    policy = Policy(
        quasi_identifiers=design.quasi_identifiers,
        sensitive=[adult.TARGET],
        insensitive=design.kept,
        rest="identifier",
        privacy=[KAnonymity(k)],
        quality=LOSSES[loss],
        suppression_limit=percent / 100,
    )
    name = f'columns "{design.name}", k = {k}, up to {percent} % suppressed, {loss}'
    return Contender(name, policy, {**setting, "thesis": PUBLISHED[k, percent][loss]})


def prepare(session: Session, folder: Path) -> None:
    session.connection.from_arrow(adult.training_rows(folder, adult.COLUMNS)).create(RAW_TRAINING)
    session.connection.from_arrow(adult.test_rows(folder, adult.COLUMNS)).create(RAW_TEST)
    session.taxonomies.load_all(adult.taxonomies(folder, THESIS.quasi_identifiers))


def parts(seeds: Sequence[int]) -> Iterator[Part]:
    for design in DESIGNS:
        yield Part(f'columns "{design.name}", {BASELINE}', partial(bounds, design=design, seeds=seeds))
        of_design = (contender(design, *each, loss) for each, loss in itertools.product(PUBLISHED, LOSSES))
        yield from parts_of(of_design, measured, seeds)


def bounds(session: Session, design: Design, seeds: Sequence[int]) -> Iterator[Row]:
    raw = [as_they_are(table, design.predictors) for table in (RAW_TRAINING, RAW_TEST)]
    found = classification(session, *raw, target=adult.TARGET, models=MODELS, seeds=seeds)
    # The thesis has a single figure, for its own columns.
    published = PUBLISHED_BASELINE if design is THESIS else None
    yield {"columns": design.name, "loss": BASELINE, **_accuracies(found.ca), "thesis": published}
    yield {"columns": design.name, "loss": LOWER_BOUND, **dict.fromkeys(MODELS, found.la)}


def measured(session: Session, contender: Contender, seeds: Sequence[int]) -> Iterator[Row]:
    release = contender.release(session, RAW_TRAINING, seeds[0])
    report = release.report
    assert report.rows is not None
    policy = contender.policy
    tested = at_node((*policy.quasi_identifiers, *policy.insensitive), release.node)
    found = classification(session, RELEASED, tested, target=adult.TARGET, models=MODELS, seeds=seeds)
    yield {
        **contender.setting,
        "node": spelled_node(release.node),
        "value": report.loss,
        "tied_nodes": report.tie_count,
        "released_rows": report.rows.released,
        **_accuracies(found.ca),
    }


def _accuracies(found: Mapping[str, Accuracy]) -> dict[str, float | None]:
    """Return the accuracies of both models; logistic regression draws nothing, and has no deviation."""
    return {"tree": found["tree"].mean, "tree_sd": found["tree"].sd, "logistic": found["logistic"].mean}


def findings(rows: Sequence[Row]) -> Iterator[str]:
    """Compare the rows with the bounds, the losses with each other, and both with the thesis."""
    for design in DESIGNS:
        named = f'Columns "{design.name}"'
        of_design = [row for row in rows if row["columns"] == design.name]
        released = [row for row in of_design if row["loss"] in LOSSES]
        accuracy = {row["loss"]: row["logistic"] for row in of_design if row["loss"] not in LOSSES}
        yield f"{named}: BA (logistic) is {accuracy[BASELINE]:.4f}, LA is {accuracy[LOWER_BOUND]:.4f}"
        for model in MODELS:
            wins = dict.fromkeys(LOSSES, 0)
            by_setting = itertools.groupby(released, lambda row: (row["k"], row["suppression_limit"]))
            settings = [[*group] for _, group in by_setting]
            for group in settings:
                best = max(row[model] for row in group)
                for row in group:
                    wins[row["loss"]] += row[model] == best
            counts = ", ".join(f"{loss} in {count}" for loss, count in wins.items())
            yield f"{named}: CA ({model}) is highest, ties included, with {counts} of {len(settings)} settings"
    for loss in LOSSES:
        of_loss = [row for row in rows if row["columns"] == THESIS.name and row["loss"] == loss]
        most = max(abs(row["logistic"] - row["thesis"]) for row in of_loss)
        yield f'Columns "{THESIS.name}", {loss}: CA (logistic) differs from that of the thesis by {most:.4f} at most'
        # Figure 6.2: does a smaller loss come with a higher accuracy?
        pairs = [sorted(pair, key=itemgetter("value")) for pair in itertools.combinations(of_loss, 2)]
        higher = sum(less["logistic"] >= more["logistic"] for less, more in pairs)
        yield (
            f'Columns "{THESIS.name}", {loss}: of {len(pairs)} pairs of settings, {higher} have the higher CA '
            "(logistic) at the smaller loss"
        )


COLOURS = ("#d62728", "#ff9f43", "#08306b")  # by loss

SOURCES = {"logistic": "here", "thesis": "in the thesis"}
AXIS = (0.75, 0.86)  # of accuracies, from below LA to above BA; others are drawn at its ends

SIZE = (260, 200)


def chart(rows: Sequence[Row]) -> Any:
    lines = []
    for design, sources in ((SEVEN, ["logistic"]), (THESIS, ["logistic", "thesis"])):
        of_design = [row for row in rows if row["columns"] == design.name]
        released = [row for row in of_design if row["loss"] in LOSSES]
        limits = {row["loss"]: row["logistic"] for row in of_design if row["loss"] not in LOSSES}
        lines.append(
            [_by_suppression(released, k, sources, limits) for k in dict.fromkeys(row["k"] for row in released)]
        )
    lines.append([_by_loss(released, loss) for loss in LOSSES])
    return below(lines, "Logistic regression on UCI Adult, classification accuracy: the higher, the better", "shared")


def _by_loss(released: Sequence[Row], loss: str) -> Any:
    """Draw the accuracy by the loss of the node, as in figure 6.2."""
    altair = required_altair()
    points = [
        {"value": row["value"], "k": str(row["k"]), "accuracy": row["logistic"]}
        for row in released
        if row["loss"] == loss
    ]
    return panel(
        points,
        {"type": "point", "size": 60, "color": BLACK},
        f"accuracy by {loss}",
        SIZE,
        x=altair.X("value:Q", title=f"{loss} of the node", scale=altair.Scale(zero=False)),
        y=figures("accuracy", domain=list(AXIS), clamp=True),
        shape=altair.Shape("k:N", title="k", sort=None, legend=altair.Legend(orient="bottom")),
    )


def _by_suppression(released: Sequence[Row], k: int, sources: Sequence[str], limits: Mapping[str, float]) -> Any:
    """Draw lines by suppression, dashed for the thesis, and dotted limits across."""
    of_k, drawn = [row for row in released if row["k"] == k], {name: SOURCES[name] for name in sources}
    points = unpivoted(
        of_k,
        drawn,
        "source",
        "accuracy",
        lambda row: {"loss": row["loss"], "suppressed": f"{100 * row['suppression_limit']:g} %"},
    )
    x, color = steps("suppressed", title="suppressed, at most"), colours("loss", LOSSES, COLOURS)
    dashed = dashes("source", [*SOURCES.values()])
    title = f'columns "{released[0]["columns"]}", k = {k}'
    return between_limits(points, limits, AXIS, title, SIZE, x=x, color=color, strokeDash=dashed)


def printed(rows: Sequence[Row]) -> Iterator[Row]:
    def setting(row: Row) -> str:
        return f"{row['loss']}, k = {row['k']}, {row['suppression_limit']:.0%}" if row["k"] else row["loss"]

    of_thesis = [row for row in rows if row["columns"] == THESIS.name]
    yield from printed_beside(of_thesis, "Table 6.1", "thesis", "logistic", setting)
