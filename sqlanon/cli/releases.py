"""The commands ``sqlanon releases``: what a warehouse lists of the releases that were made from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, BadParameter, Context, Option, Typer

from sqlanon.cli.options import Database, Json
from sqlanon.cli.output import put, say
from sqlanon.cli.sessions import existing, on_this_machine

Listing = Annotated[Path | None, Option("--db", metavar="DB", help="The DuckDB file whose list it is.")]

app = Typer()


@app.callback(invoke_without_command=True)
@on_this_machine
def releases(
    context: Context,
    database: Listing = None,
    dataset: Annotated[
        str | None, Option("--dataset", metavar="SOURCE", help="Only releases of this table, files or query.")
    ] = None,
    all_: Annotated[bool, Option("--all", help="Also those that were forgotten.")] = False,
    as_json: Json = False,
) -> None:
    """Show every release that was made from a warehouse, and whether it is still there.

    Example: sqlanon releases --db clinic.duckdb
    """
    if context.invoked_subcommand is not None:
        return
    if database is None:
        raise BadParameter("give --db, the file whose list it is")
    with existing(database) as session:
        found = session.releases.list(dataset, forgotten=all_)
    put(found, as_json=as_json)


@app.command()
@on_this_machine
def forget(
    name: Annotated[str, Argument(metavar="RELEASE", help="The table, path or address, as the list has it.")],
    database: Database,
    reason: Annotated[str, Option("--reason", metavar="TEXT", help="Why, for whoever audits the list.")],
    as_json: Json = False,
) -> None:
    """Mark a release as forgotten, such as one that nobody was given: it stays on the list, with the reason.

    Example: sqlanon releases forget visits_k5 --db clinic.duckdb --reason "it was a rehearsal"
    """
    with existing(database, read_only=False) as session:
        found = session.releases.forget(name, reason=reason)
    put(found, as_json=as_json)
    say(f'Forgotten: {len(found.releases):,} of "{name}"; sqlanon releases --all shows them.')
