"""The commands ``sqlanon plan``: what a release could show, computed before there is one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.cli.options import Json, ReplaceFile, Tight
from sqlanon.cli.terminal.output import say, show, write_json

if TYPE_CHECKING:
    from sqlanon.evaluation.plans import EpsilonSafePlan

Rows = Annotated[int, typer.Option("--rows", metavar="N", min=1, help="How many rows the table has.")]
Epsilon = Annotated[
    str, typer.Option("--epsilon", metavar="E", help="ε in all, as 1.5 or 1/3: for the node and for the sampling.")
]
Delta = Annotated[str, typer.Option("--delta", metavar="D", help="δ, above 0 and below 1: all of it for the sampling.")]
EpsilonNode = Annotated[
    str, typer.Option("--epsilon-node", metavar="E", help="The part of ε for the choice of the node; 0: it is public.")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="The folder for a table (.csv, .md) and a chart (.svg)."),
]

app = typer.Typer(help="Plans: what a release could show, before any data is read.")


# More than six parameters: one for each option.
@app.command()
def epsilon_safe(
    rows: Rows,
    epsilon: Epsilon,
    delta: Delta,
    epsilon_node: EpsilonNode = "0.1",
    tight: Tight = False,
    out: Out = None,
    replace: ReplaceFile = False,
    as_json: Json = False,
) -> None:
    """Show which k each β takes, the probability of a row to be in the sample, and how large classes must be for it.

    Example: sqlanon plan epsilon-safe --rows 100000 --epsilon 2 --delta 1e-6
    """
    from sqlanon.evaluation.plan_report import NAME, plan_document
    from sqlanon.evaluation.plans import plan_epsilon_safe
    from sqlanon.evaluation.results import refuse_targets

    if out is not None:
        refuse_targets(out, NAME, replace=replace)
    made = plan_epsilon_safe(rows, epsilon, delta, epsilon_node=epsilon_node, tight=tight)
    paths = [] if out is None else written(made, out, replace=replace)
    if as_json:
        write_json({**made.model_dump(mode="json"), "best": made.best.model_dump(mode="json"), "files": paths})
    else:
        show(plan_document(made))
        for path in paths:
            say(f"Written: {path}")


def written(made: EpsilonSafePlan, folder: Path, *, replace: bool) -> list[str]:
    """Write the table and the chart of a plan to a folder: the paths of the files."""
    from sqlanon.evaluation.plan_chart import drawn
    from sqlanon.evaluation.plan_report import NAME, reported
    from sqlanon.evaluation.results import write_files

    files = write_files(folder, NAME, reported(made, drawn(made)), replace=replace)
    return [str(path) for path in files.values()]
