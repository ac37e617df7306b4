"""Commands that plan releases by sampling, before any data is read."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path
from typing import Annotated, Any

from typer import BadParameter, Option, Typer

from sqlanon.cli import options as opt
from sqlanon.cli.output import say, show, write, write_json

DIGITS = Context(prec=5, rounding=ROUND_CEILING)
"""δ is shown in five digits, never with less than it is."""

MIN_SHOWN = Decimal("1e-300")
"""Smaller δ may have become 0, which it never is."""

plan_app = Typer(help="Plans: what a release could show, before any data is read.")


@plan_app.command()
def epsilon_safe(
    rows: Annotated[int, Option(metavar="N", min=1, help="How many rows the table has.")],
    epsilon: Annotated[str, Option(metavar="E", help="ε of the node and the sampling in all, such as 1.5 or 1/3.")],
    delta: Annotated[str, Option(metavar="D", help="δ, above 0 and below 1; all of it is for the sampling.")],
    epsilon_node: Annotated[
        str, Option(metavar="E", help="The part of ε for the choice of the node; 0 if it is public.")
    ] = "0.1",
    tight: opt.Tight = False,
    out: Annotated[
        Path | None, Option(metavar="DIR", help="A folder for a table (.csv, .md) and a chart (.svg).")
    ] = None,
    replace: opt.ReplaceFile = False,
    as_json: opt.Json = False,
) -> None:
    """Show which k each β takes, the probability of a row to be in the sample, and how large classes must be for it.

    Example: sqlanon plan epsilon-safe --rows 100000 --epsilon 2 --delta 1e-6
    """
    from sqlanon.evaluation.plans import NAME, plan_chart, plan_epsilon_safe, reported
    from sqlanon.evaluation.results import refuse_targets, write_files

    if out is not None:
        refuse_targets(out, NAME, replace=replace)
    made = plan_epsilon_safe(rows, epsilon, delta, epsilon_node=epsilon_node, tight=tight)
    paths = []
    if out is not None:
        files = write_files(out, NAME, reported(made, plan_chart(made)), replace=replace)
        paths = [str(path) for path in files.values()]
    if as_json:
        write_json({**made.model_dump(mode="json"), "best": made.best.model_dump(mode="json"), "files": paths})
    else:
        show(made.document())
        for path in paths:
            say(f"Written: {path}")


def delta(
    epsilon: Annotated[
        str,
        Option(metavar="E", help="ε of the sampling, such as 1.5 or 1/3; the choice of a node is not in it."),
    ],
    k: Annotated[int | None, Option(metavar="K", help="The least count of a class that is published.")] = None,
    beta: Annotated[float | None, Option(metavar="B", help="The probability of each row to be in the sample.")] = None,
    delta: Annotated[str | None, Option(metavar="D", help="The largest δ, above 0 and below 1.")] = None,
    tight: opt.Tight = False,
    as_json: opt.Json = False,
) -> None:
    """Print δ of publishing the classes of k rows or more in a sample that has each row with probability beta.

    Given --delta and one of the two, the other one is printed: the least k, or the largest beta in steps of 1/1000.

    No data is read. It holds at a node that is public, or that was chosen on the whole table and not on the sample.

    Example: sqlanon delta --k 50 --beta 0.75 --epsilon 2
    """
    document = _computed(epsilon, k, beta, delta, tight=tight)
    if as_json:
        write_json(document)
        return
    # Rounded up, and with a bound in place of what is too small for a float.
    rounded = float(max(DIGITS.create_decimal_from_float(document["delta"]), MIN_SHOWN))
    shown = {**document, "delta": f"{rounded:.5g}"}
    write(f"{shown[document['computed']]}\n")
    say(
        f"To publish the classes of {shown['k']} rows or more in a sample that has each row with probability "
        f"{shown['beta']} costs ε = {epsilon} and δ = {shown['delta']}; to choose a node on the data costs more."
    )


def _computed(epsilon: str, k: int | None, beta: float | None, delta: str | None, *, tight: bool) -> dict[str, Any]:
    """Compute the third of k, beta and delta from the two that are given."""
    from sqlanon.model import sampled_classes
    from sqlanon.model.budget import Budget, as_float

    if [k, beta, delta].count(None) != 1:
        raise BadParameter("give two of --k, --beta and --delta: the third is computed")
    budget = Budget(epsilon, delta or 0)
    spent, limit = as_float(budget.epsilon), as_float(budget.delta)
    missing = "delta" if delta is None else "k" if k is None else "beta"
    if beta is None:
        beta = float(sampled_classes.maximum_beta(k or 0, spent, limit, tight=tight))
    if k is None:
        k = sampled_classes.minimum_k(beta, spent, limit, tight=tight)
    return {
        "computed": missing,
        "k": k,
        "beta": beta,
        "epsilon": spent,
        "delta": sampled_classes.delta(k, beta, spent, tight=tight),
        "delta_limit": None if delta is None else limit,
        "tight": tight,
    }
