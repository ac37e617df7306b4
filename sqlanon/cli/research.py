"""Commands that audit a private policy, plan releases by sampling, and run the experiments of papers again."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, BadParameter, Exit, Option, Typer

from sqlanon.cli import options as opt
from sqlanon.cli.command import command
from sqlanon.cli.outcome import ExitCode
from sqlanon.cli.output import put, say, show, write, write_json
from sqlanon.cli.sessions import reading
from sqlanon.papers import NAMES

DIGITS = Context(prec=5, rounding=ROUND_CEILING)
"""δ is shown in five digits, never with less than it is."""

MIN_SHOWN = Decimal("1e-300")
"""Smaller δ may have become 0, which it never is."""

plan_app = Typer(help="Plans: what a release could show, before any data is read.")


@command()
def audit_privacy(
    source: Annotated[str, Argument(metavar="SOURCE", help=opt.SPELLED["source"].help)],
    neighbour: Annotated[str, Argument(metavar="NEIGHBOUR", help="The same table with one row added or removed.")],
    policy: opt.PolicyFile,
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    runs: Annotated[int, Option(metavar="N", help="How many runs each of the two tables has.")] = 100_000,
    confidence: Annotated[
        float, Option(metavar="C", help="How probable it is at least that the bound holds, below 1.")
    ] = 0.95,
    epsilon: Annotated[
        str | None, Option(metavar="E", help="The ε to hold the policy to, in place of its own.")
    ] = None,
    delta: Annotated[str | None, Option(metavar="D", help="The δ to hold it to; 0 if only ε is given.")] = None,
    show_event: Annotated[
        bool, Option("--show-event", help="Describe the event with values of the release, which can be raw.")
    ] = False,
    chart: Annotated[
        Path | None, Option(metavar="FILE", help="Draw what is claimed and what was found: .html, .svg, .png or .json.")
    ] = None,
    replace: opt.ReplaceFile = False,
    as_json: opt.Json = False,
) -> None:
    """Run a private policy many times on two neighbouring tables, and bound from below what it gives away.

    Exit code 3 if that is more than it claims. Nothing is published, and nothing is charged.

    Example: sqlanon audit-privacy visits visits_without_one --db clinic.duckdb --policy private.toml
    """
    from sqlanon.evaluation.audit import audit_privacy as audited
    from sqlanon.evaluation.results import refuse_format, required_altair
    from sqlanon.model.budget import Budget
    from sqlanon.publish.files import refuse_file

    wanted = opt.read_policy(policy)
    if epsilon is None and delta is not None:
        raise BadParameter("a claim needs --epsilon, too", param_hint="--delta")
    claimed = None if epsilon is None else Budget(epsilon, delta or 0)
    read = opt.read_taxonomies(taxonomies, wanted)
    if chart is not None:
        refuse_format(chart)
        refuse_file(chart, replace=replace)
        required_altair()
    with reading(database, read) as session:
        audit = audited(
            wanted, source, neighbour, runs, confidence, claimed=claimed, show_event=show_event, session=session
        )
    if chart is not None:
        audit.chart(chart, replace=replace)
    put(audit, as_json=as_json)
    if audit.violates:
        say("Violated: more is given away than is claimed.")
        raise Exit(ExitCode.NOT_MET)


@command()
def reproduce(
    name: Annotated[str, Argument(metavar="NAME", help=f"What to reproduce: {', '.join(NAMES)}.")],
    out: Annotated[Path, Option(metavar="DIR", help="The folder for a table (.csv, .md) and a chart (.svg).")],
    data: Annotated[
        Path | None, Option(metavar="DIR", help="The folder with the paper's data; ipa needs none.")
    ] = None,
    first: Annotated[
        int | None, Option("--seed", metavar="N", min=0, help="The first seed; the same one makes the same table.")
    ] = None,
    count: Annotated[
        int | None,
        Option("--seeds", metavar="N", min=1, help="The number of seeds that a mean is taken over (10; 3 for ipa)."),
    ] = None,
    replace: opt.ReplaceFile = False,
    as_json: opt.Json = False,
) -> None:
    """Run an experiment of a paper again, on public data, and write a table and a chart of it.

    All but ipa, whose table is invented, need a folder with adult.data of UCI Adult: all but diffgen also
    hierarchies/<column>.csv beside it, diffgen and thesis-accuracy also adult.test.

    Example: sqlanon reproduce h-ceiling --data adult_uci --out results
    """
    from sqlanon.evaluation.results import refuse_targets, write_files
    from sqlanon.papers import reproduction
    from sqlanon.report.document import Document, paragraph

    experiment = reproduction(name)
    seeds = experiment.seeds_from(first, count)
    folder = experiment.folder(data)
    refuse_targets(out, name, replace=replace)
    with reading(None) as session:
        found = experiment.run(session, folder, seeds, lambda step: None if as_json else say(step))
    files = write_files(out, name, found, replace=replace)
    paths = [str(path) for path in files.values()]
    if as_json:
        seeded = {"seed": seeds.start, "seeds": len(seeds)}
        results = {"findings": found.findings, "rows": found.rows, "files": paths}
        write_json({"name": name, "source": experiment.source, **seeded, **results})
    else:
        sentences = (*found.findings, *(f"Written: {path}" for path in paths))
        show(Document(found.title, (*found.tables, *map(paragraph, sentences))))


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
