"""The command that audits a private policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, BadParameter, Exit, Option

from sqlanon.cli import options as opt
from sqlanon.cli.command import command, reading
from sqlanon.cli.output import ExitCode, put, say


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
    """Run a private policy many times on two neighbouring tables, and bound its privacy loss from below.

    Exit code 3 if the loss exceeds the claim. Nothing is published, and nothing is charged.

    Example: sqlanon audit-privacy visits visits_without_one --db clinic.duckdb --policy private.toml
    """
    from sqlanon.audits.audit import audit_privacy as audited
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
