"""The command that runs an experiment of a paper again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlanon.cli.options import Json, ReplaceFile
from sqlanon.cli.sessions import reading
from sqlanon.cli.terminal.output import say, show, write_json
from sqlanon.papers import NAMES

if TYPE_CHECKING:
    from sqlanon.evaluation.results import Reproduced
    from sqlanon.report.document import Document

Name = Annotated[str, typer.Argument(metavar="NAME", help=f"What to reproduce: {', '.join(NAMES)}.")]
Data = Annotated[Path, typer.Option("--data", metavar="DIR", help="The folder with the data of the paper.")]
Out = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="The folder for a table (.csv, .md) and a chart (.svg).")
]
First = Annotated[
    int | None, typer.Option("--seed", metavar="N", min=0, help="The first seed; the same seeds make the same table.")
]
Seeds = Annotated[
    int | None,
    typer.Option("--seeds", metavar="N", min=1, help="Of how many seeds a figure is the mean (10, if it is one)."),
]


# More than six parameters: one for each option.
def reproduce(
    name: Name,
    data: Data,
    out: Out,
    first: First = None,
    count: Seeds = None,
    replace: ReplaceFile = False,
    as_json: Json = False,
) -> None:
    """Run an experiment of a paper again, on public data, and write a table and a chart of it.

    All need a folder with adult.data of UCI Adult: all but diffgen also hierarchies/<column>.csv beside it, diffgen and
    thesis-accuracy also adult.test.

    Example: sqlanon reproduce h-ceiling --data adult_uci --out results
    """
    from sqlanon.evaluation.results import refuse_targets, write_files
    from sqlanon.papers import reproduction

    experiment = reproduction(name)
    seeds = experiment.seeds_from(first, count)
    experiment.check(data)
    refuse_targets(out, name, replace=replace)
    with reading(None) as session:
        found = experiment.run(session, data, seeds, lambda step: None if as_json else say(step))
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
        show(_summary(found, paths))


def _summary(found: Reproduced, paths: list[str]) -> Document:
    from sqlanon.evaluation.results import cells
    from sqlanon.report.document import Document, Table, paragraph

    tables = [
        Table(
            tuple(each.shown.values()), [cells(each, row) for row in each.rows], range(1, len(each.shown)), each.title
        )
        for each in found.tables
    ]
    sentences = (*found.findings, *(f"Written: {path}" for path in paths))
    return Document(found.title, (*tables, *map(paragraph, sentences)))
