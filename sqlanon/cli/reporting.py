"""The commands that describe what was published: a report for people, a contract for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from sqlanon.cli import options as opt
from sqlanon.cli.outcome import ExitCode
from sqlanon.cli.output import say, show, write, write_file, write_json
from sqlanon.cli.sessions import reading


def report(
    release: Annotated[
        str,
        Argument(metavar="RELEASE", help="A published table, or the path of a published Parquet file, CSV or folder."),
    ],
    policy: Annotated[
        Path | None,
        Option("--policy", metavar="FILE", help="Its policy file, if that has files of taxonomies beside it."),
    ] = None,
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    source: Annotated[
        str | None, Option("--source", metavar="SOURCE", help="What it was made from, to compare it with.")
    ] = None,
    out: Annotated[Path | None, Option("--out", metavar="FILE", help="Write it as a page of HTML.")] = None,
    replace: opt.ReplaceFile = False,
    public: Annotated[
        bool, Option("--public", help="Only what follows from the release and its provenance, for whoever may see it.")
    ] = False,
    alternatives: Annotated[
        bool,
        Option("--alternatives", help="Look at all nodes, for what else could have been published."),
    ] = False,
    as_json: opt.Json = False,
) -> None:
    """Report on a published table: promises, findings, what became of each column, who is left out, how to check it.

    The page that --out writes needs no other file, runs no script and prints on two sheets. With --source it has five
    rows of that: keep it like the source.

    Example: sqlanon report visits_k5 --db clinic.duckdb --source visits --out report.html
    """
    wanted = None if policy is None else opt.read_policy(policy)
    read = {} if wanted is None else opt.read_taxonomies(taxonomies, wanted)
    with reading(database) as session:
        session.taxonomies.load_all(read)
        found = session.report(
            release,
            wanted,
            source=source,
            edition="public" if public else "custodian",
            alternatives=alternatives,
        )
    if out is not None:
        write_file(out, found.to_html(), "report", replace=replace)
    if as_json:
        write_json(found.model_dump(mode="json"))
    elif out is None:
        show(found.document())
    if not found.verification.met:
        say(f"Not met: {release} falls short of its policy.")
        raise Exit(ExitCode.NOT_MET)


def contract(
    release: Annotated[
        str,
        Argument(metavar="RELEASE", help="A published table, or the path of a published Parquet file, CSV or folder."),
    ],
    database: opt.OptionalDatabase = None,
    out: Annotated[
        Path | None, Option("--out", metavar="FILE", help="Write it to a file, such as release.odcs.yaml.")
    ] = None,
    replace: opt.ReplaceFile = False,
    as_json: opt.Json = False,
) -> None:
    """Describe a published table as a data contract: columns, promises, and the queries that check them.

    It is one of the Open Data Contract Standard, which data catalogs and contract testers read. --json prints the same
    fields as JSON.

    Example: sqlanon contract visits_k5 --db clinic.duckdb --out visits_k5.odcs.yaml
    """
    with reading(database) as session:
        found = session.contract(release)
    if out is not None:
        write_file(out, found.to_yaml(), "contract", replace=replace)
    if as_json:
        write_json(found.to_odcs())
    elif out is None:
        write(found.to_yaml())
