"""Commands that put a private policy to the test, and run the experiments of papers again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Exit, Option

from sqlanon.cli import options as opt
from sqlanon.cli.outcome import ExitCode
from sqlanon.cli.output import put, say, show, write_json
from sqlanon.cli.sessions import reading
from sqlanon.papers import NAMES

if TYPE_CHECKING:
    from sqlanon.evaluation.audit import Audit
    from sqlanon.model.budget import Budget

Neighbour = Annotated[str, Argument(metavar="NEIGHBOUR", help="The same table with one row added or removed.")]
Runs = Annotated[int, Option("--runs", metavar="N", help="How many runs each of the two tables has.")]
Confidence = Annotated[
    float, Option("--confidence", metavar="C", help="How probable it is at least that the bound holds, below 1.")
]
Chart = Annotated[
    Path | None,
    Option("--chart", metavar="FILE", help="Draw what is claimed and what was found: .html, .svg, .png or .json."),
]
Epsilon = Annotated[
    str | None, Option("--epsilon", metavar="E", help="The ε to hold the policy to, in place of its own.")
]
Delta = Annotated[str | None, Option("--delta", metavar="D", help="The δ to hold it to; 0 if only ε is given.")]
ShowEvent = Annotated[
    bool, Option("--show-event", help="Describe the event with values of the release, which can be raw.")
]

Name = Annotated[str, Argument(metavar="NAME", help=f"What to reproduce: {', '.join(NAMES)}.")]
Data = Annotated[Path | None, Option("--data", metavar="DIR", help="The folder with the paper's data; ipa needs none.")]
Out = Annotated[Path, Option("--out", metavar="DIR", help="The folder for a table (.csv, .md) and a chart (.svg).")]
First = Annotated[
    int | None, Option("--seed", metavar="N", min=0, help="The first seed; the same one makes the same table.")
]
Seeds = Annotated[
    int | None,
    Option("--seeds", metavar="N", min=1, help="The number of seeds that a mean is taken over (10; 3 for ipa)."),
]


def audit_privacy(
    source: opt.Source,
    neighbour: Neighbour,
    policy: opt.PolicyFile,
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    runs: Runs = 100_000,
    confidence: Confidence = 0.95,
    epsilon: Epsilon = None,
    delta: Delta = None,
    show_event: ShowEvent = False,
    chart: Chart = None,
    replace: opt.ReplaceFile = False,
    as_json: opt.Json = False,
) -> None:
    """Run a private policy many times on two neighbouring tables, and bound from below what it gives away.

    Exit code 3 if that is more than it claims. Nothing is published, and nothing is charged.

    Example: sqlanon audit-privacy visits visits_without_one --db clinic.duckdb --policy private.toml
    """
    from sqlanon.evaluation.audit import audit_privacy as audited

    wanted, claimed = opt.read_policy(policy), _claim(epsilon, delta)
    read = opt.read_taxonomies(taxonomies, wanted)
    if chart is not None:
        _refuse_chart(chart, replace=replace)
    with reading(database) as session:
        session.taxonomies.load_all(read)
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
    put(audit, as_json=as_json)
    _conclude(audit)


def _claim(epsilon: str | None, delta: str | None) -> Budget | None:
    from sqlanon.model.budget import Budget

    if epsilon is None and delta is not None:
        raise BadParameter("a claim needs --epsilon, too", param_hint="--delta")
    return None if epsilon is None else Budget(epsilon, delta or 0)


def _refuse_chart(path: Path, *, replace: bool) -> None:
    from sqlanon.evaluation.results import refuse_format, required_altair
    from sqlanon.publish.files import refuse_file

    refuse_format(path)
    refuse_file(path, replace=replace)
    required_altair()


def _conclude(audit: Audit) -> None:
    if audit.violates:
        say("Violated: more is given away than is claimed.")
        raise Exit(ExitCode.NOT_MET)


# More than six parameters: one for each option.
def reproduce(
    name: Name,
    out: Out,
    data: Data = None,
    first: First = None,
    count: Seeds = None,
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
        write_json(
            {
                "name": name,
                "source": experiment.source,
                "seed": seeds.start,
                "seeds": len(seeds),
                "findings": found.findings,
                "rows": found.rows,
                "files": paths,
            }
        )
    else:
        sentences = (*found.findings, *(f"Written: {path}" for path in paths))
        show(Document(found.title, (*found.tables, *map(paragraph, sentences))))
