"""A plan in words and as a table, for files and terminals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlanon.evaluation.plans import LIKELY, EpsilonSafePlan
from sqlanon.evaluation.results import Reproduced, cells
from sqlanon.model.budget import spelled
from sqlanon.report.document import Bar, Cell, Document, Table, notes, paragraph

NAME = "plan-epsilon-safe"
"""What the files are called."""

SHOWN = {
    "beta": "β",
    "k": "least k",
    "tight_k": "tight k",
    "sampled_rows": "sampled rows",
    "shown_from": "shown from",
    "share_per_mille": "‰ of table",
    "lost_to": "lost to",
}


def reported(plan: EpsilonSafePlan, chart: Any = None) -> Reproduced:
    """The table of a plan, with what it says and how it is to be read."""
    rows = [
        {
            **sample.model_dump(exclude={"share"}),
            "beta": spelled(sample.beta),
            "share_per_mille": _figure(1000 * sample.share),
        }
        for sample in plan.samples
    ]
    return Reproduced(
        title=f"ε-safe releases of {plan.rows:,} rows with {plan.budget}",
        rows=[{name: row[name] for name in SHOWN} for row in rows],
        shown=SHOWN,
        findings=list(_findings(plan)),
        notes=list(_notes(plan)),
        chart=chart,
    )


def plan_document(plan: EpsilonSafePlan) -> Document:
    """What is shown of a plan: a row with a bar for each β, what it says, and how it is to be read."""
    found = reported(plan)
    most = round(1.1 * max(sample.shown_from for sample in plan.samples)) + 1
    rows: list[list[Cell]] = [
        [
            *cells(found, row),
            Bar((sample.lost_to / most, (sample.shown_from - sample.lost_to) / most, 1 - sample.shown_from / most)),
        ]
        for row, sample in zip(found.rows, plan.samples, strict=True)
    ]
    table = Table(
        (*found.shown.values(), "classes"),
        rows,
        numbers=range(len(found.shown)),
        title=found.title,
        scale=f"classes of 0 to {most:,} rows",
        legend=("lost", "in between", "shown"),
    )
    return Document(found.title, (table, *map(paragraph, found.findings), *notes("Notes", found.notes)))


def _figure(number: float) -> str:
    """In three digits, or as many as it has before the point."""
    return f"{number:.3g}" if number < 1000 else f"{number:.0f}"


def _findings(plan: EpsilonSafePlan) -> Iterator[str]:
    best = plan.best
    k = best.tight_k if plan.tight else best.k
    if best.shown_from > plan.rows:
        yield (
            f"No class of the table is likely to be shown: that takes {best.shown_from:,} rows with β = "
            f"{spelled(best.beta)} and k = {k:,}, and more with any other β of these."
        )
    else:
        yield (
            f"The smallest classes are shown with β = {spelled(best.beta)} and k = {k:,}, of these: those of "
            f"{best.shown_from:,} rows or more. The table has at most {plan.rows // best.shown_from:,} such classes."
        )


def _notes(plan: EpsilonSafePlan) -> Iterator[str]:
    sampling = spelled(plan.epsilon_sampling)
    if plan.epsilon_node:
        yield (
            f"ε = {spelled(plan.budget.epsilon)} is {spelled(plan.epsilon_node)} for the choice of the node, on the "
            f"whole table, and {sampling} for the sampling, which has all of δ."
        )
    else:
        yield f"The node is public and costs nothing: all of ε = {sampling} is for the sampling."
    likely = f"{100 * LIKELY:g} %"
    yield (
        f"Shown from, lost to: a class of at least, or at most, this number of rows is shown, or lost, with a "
        f"probability of {likely}; by {'tight k' if plan.tight else 'least k'}. ‰ of table: the former, of all rows."
    )
    yield "Least k is by the δ of Li et al. 2012; tight k by the smaller one that is exact for one class."
    yield "Of a class that is shown, the sampled rows are: β of them on average."
    yield "No data was read: how many classes are that large depends on the table, and on the node."
