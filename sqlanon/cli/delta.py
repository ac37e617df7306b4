"""The command that computes what it costs to publish the classes of a sample."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from typing import Annotated, Any

import typer

from sqlanon.cli.options import Json, Tight
from sqlanon.cli.terminal.output import say, write, write_json

K = Annotated[int | None, typer.Option("--k", metavar="K", help="The least count of a class that is published.")]
Beta = Annotated[
    float | None, typer.Option("--beta", metavar="B", help="With which probability each row is in the sample.")
]
Epsilon = Annotated[
    str,
    typer.Option("--epsilon", metavar="E", help="ε of the sampling, as 1.5 or 1/3; to choose a node costs more."),
]
Delta = Annotated[str | None, typer.Option("--delta", metavar="D", help="What δ may be, above 0 and below 1.")]

DIGITS = Context(prec=5, rounding=ROUND_CEILING)
"""δ is shown in five digits, never with less than it is."""

LEAST_SHOWN = Decimal("1e-300")
"""Smaller δ may have become 0, which it never is."""


def delta(
    epsilon: Epsilon,
    k: K = None,
    beta: Beta = None,
    delta: Delta = None,
    tight: Tight = False,
    as_json: Json = False,
) -> None:
    """Print δ of publishing the classes of k rows or more in a sample that has each row with probability beta.

    Given --delta and one of the two, the other one is printed: the least k, or the largest beta in steps of 1/1000.

    No data is read. It holds at a node that is public, or that was chosen on the whole table and not on the sample.

    Example: sqlanon delta --k 50 --beta 0.75 --epsilon 2
    """
    document = computed(epsilon, k, beta, delta, tight=tight)
    if as_json:
        write_json(document)
        return
    shown = {**document, "delta": spelled(document["delta"])}
    write(f"{shown[document['computed']]}\n")
    say(
        f"To publish the classes of {shown['k']} rows or more in a sample that has each row with probability "
        f"{shown['beta']} costs ε = {epsilon} and δ = {shown['delta']}; to choose a node on the data costs more."
    )


def computed(epsilon: str, k: int | None, beta: float | None, delta: str | None, *, tight: bool) -> dict[str, Any]:
    """All three of k, beta and delta, of which two are given, and what they cost.

    Raises:
        typer.BadParameter: not two of them are given.
        PolicyError: one is out of its range.
    """
    from sqlanon.model import sampled_classes
    from sqlanon.model.budget import Budget, as_float

    if [k, beta, delta].count(None) != 1:
        raise typer.BadParameter("give two of --k, --beta and --delta: the third is computed")
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


def spelled(delta: float) -> str:
    """``7.6454e-06``: rounded up, and with a bound in place of what is too small for a float."""
    return f"{float(max(DIGITS.create_decimal_from_float(delta), LEAST_SHOWN)):.5g}"
