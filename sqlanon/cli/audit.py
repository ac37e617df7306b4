"""The command that puts a private policy to the test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.cli.options import (
    Json,
    OptionalDatabase,
    PolicyFile,
    ReplaceFile,
    Source,
    TaxonomyFiles,
    load_taxonomies,
    read_policy,
    read_taxonomies,
)
from sqlanon.cli.sessions import reading
from sqlanon.cli.terminal.outcome import NOT_MET
from sqlanon.cli.terminal.output import say, show, write_json

if TYPE_CHECKING:
    from sqlanon.evaluation.audit import Audit
    from sqlanon.model.budget import Budget

Neighbour = Annotated[str, typer.Argument(metavar="NEIGHBOUR", help="The same with one row added or removed.")]
Runs = Annotated[int, typer.Option("--runs", metavar="N", help="Runs on each of the two.")]
Confidence = Annotated[float, typer.Option("--confidence", metavar="C", help="That the bound holds, below 1.")]
Chart = Annotated[
    Path | None, typer.Option("--chart", metavar="FILE", help="Draw claimed against found: .html, .svg, .png or .json.")
]
Epsilon = Annotated[
    str | None, typer.Option("--epsilon", metavar="E", help="Hold it to this ε, and not to what the policy claims.")
]
Delta = Annotated[str | None, typer.Option("--delta", metavar="D", help="Hold it to this δ; 0 if only ε is given.")]
ShowEvent = Annotated[
    bool, typer.Option("--show-event", help="Describe the event with values of the release, which may be raw.")
]


def audit_privacy(
    source: Source,
    neighbour: Neighbour,
    policy: PolicyFile,
    database: OptionalDatabase = None,
    taxonomies: TaxonomyFiles = None,
    runs: Runs = 100_000,
    confidence: Confidence = 0.95,
    epsilon: Epsilon = None,
    delta: Delta = None,
    show_event: ShowEvent = False,
    chart: Chart = None,
    replace: ReplaceFile = False,
    as_json: Json = False,
) -> None:
    """Run a private policy many times on two neighbouring tables, and bound from below what it gives away.

    Exit code 3 if that is more than it claims. Nothing is published, and nothing is charged.

    Example: sqlanon audit-privacy visits visits_without_one --db clinic.duckdb --policy private.toml
    """
    from sqlanon.evaluation.audit import audit_privacy as audited

    wanted, claimed = read_policy(policy), _claim(epsilon, delta)
    read = read_taxonomies(taxonomies, wanted)
    if chart is not None:
        _refuse_chart(chart, replace=replace)
    with reading(database) as session:
        load_taxonomies(session, read)
        audit = audited(
            wanted,
            source,
            neighbour,
            runs,
            confidence,
            claimed=claimed,
            show_event=show_event,
            session=session,
        )
    if chart is not None:
        audit.chart(chart, replace=replace)
    if as_json:
        write_json(audit.model_dump(mode="json"))
    else:
        show(audit.document())
    _conclude(audit)


def _claim(epsilon: str | None, delta: str | None) -> Budget | None:
    from sqlanon.model.budget import Budget

    if epsilon is None and delta is not None:
        raise typer.BadParameter("a claim needs --epsilon, too", param_hint="--delta")
    return None if epsilon is None else Budget(epsilon, delta or 0)


def _refuse_chart(path: Path, *, replace: bool) -> None:
    """Refuse a chart that cannot be drawn, before the work is done."""
    from sqlanon.evaluation.audit_chart import refuse_format, required_altair
    from sqlanon.publish.files import refuse_file

    refuse_format(path)
    refuse_file(path, replace=replace)
    required_altair()


def _conclude(audit: Audit) -> None:
    if audit.violates:
        say("Violated: more is given away than is claimed.")
        raise typer.Exit(NOT_MET)
