"""The command that reproduces experiments of papers, and lists what became of each item of a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, BadParameter, Option

from sqlanon.cli import options as opt
from sqlanon.cli.command import command, reading
from sqlanon.cli.output import show, watched_steps, write_json
from sqlanon.papers import NAMES, reproduction


@command()
def reproduce(
    name: Annotated[
        str | None, Argument(metavar="NAME", help=f"What to reproduce: {', '.join(NAMES)}; not with --list.")
    ] = None,
    out: Annotated[
        Path | None,
        Option(metavar="DIR", help="The folder for a table (.csv, .md) and a chart (.svg); not with --list."),
    ] = None,
    listed: Annotated[
        bool,
        Option(
            "--list", help="List the experiments, and every definition, theorem, table and figure with its name here."
        ),
    ] = False,
    data: Annotated[
        Path | None, Option(metavar="DIR", help="The folder with the paper's data; ipa and diffgen-sets need none.")
    ] = None,
    first: Annotated[
        int | None, Option("--seed", metavar="N", min=0, help="The first seed; the same one makes the same table.")
    ] = None,
    count: Annotated[
        int | None,
        Option(
            "--seeds",
            metavar="N",
            min=1,
            help="The number of seeds that a mean is taken over.",
        ),
    ] = None,
    replace: opt.ReplaceFile = False,
    as_json: opt.Json = False,
) -> None:
    """Reproduce an experiment of a paper on public data, and write its table and chart.

    Finished parts are kept in DIR: after an interruption, the same command goes on from there.

    ipa and diffgen-sets invent their tables. All others need a folder with adult.data of UCI Adult, and most of them
    adult.test or hierarchies/<column>.csv beside it: the message of a refusal names the files. NAME and --out are
    required unless --list is given, which prints the tables of the guide papers.

    Example: sqlanon reproduce h-ceiling --data adult_uci --out results
    """
    from sqlanon.evaluation.results import refuse_targets, write_files
    from sqlanon.papers.experiments import KeptParts, unwatched
    from sqlanon.papers.paper_items import items_document, items_json
    from sqlanon.report.document import Document, paragraph

    if listed:
        if replace or any(given is not None for given in (name, out, data, first, count)):
            raise BadParameter("it runs nothing: leave out NAME and all options but --json", param_hint="--list")
        if as_json:
            write_json(items_json())
        else:
            show(items_document())
        return
    if name is None or out is None:
        raise BadParameter("give the NAME of an experiment and its folder, --out DIR; --list lists the experiments")
    experiment = reproduction(name)
    seeds = experiment.seeds_from(first, count)
    folder = experiment.folder(data)
    refuse_targets(out, name, replace=replace)
    kept = KeptParts(out / f"{name}.parts.json", experiment.facts(folder, seeds))
    kept.resume(replace=replace)
    with reading(None) as session:
        found = experiment.run(session, folder, seeds, kept, unwatched if as_json else watched_steps)
    files = write_files(out, name, found, replace=replace)
    kept.drop()
    paths = [str(path) for path in files.values()]
    if as_json:
        seeded = {"seed": seeds.start, "seeds": len(seeds)}
        results = {"findings": found.findings, "rows": found.rows, "printed": [*found.printed], "files": paths}
        write_json({"name": name, "source": experiment.source, **seeded, **results})
    else:
        sentences = (*found.findings, *(f"Written: {path}" for path in paths))
        show(Document(found.title, (*found.tables, *map(paragraph, sentences))))
