"""The command for longitudinal data."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from sqlanon.cli.options import CsvFormulas, Json, OptionalDatabase, Replace, ReplaceAnything, Source, Target, replacing
from sqlanon.cli.sessions import writing
from sqlanon.cli.terminal.output import say, write_json


def flatten(
    source: Source,
    into: Target,
    individual: Annotated[
        str, typer.Option(metavar="COLUMN", help="The column that identifies the individual of an event.")
    ],
    event: Annotated[list[str], typer.Option(metavar="COLUMN", help="A column that becomes columns; repeat it.")],
    order: Annotated[
        list[str],
        typer.Option(metavar="COLUMN", help="A column that orders events; repeat it, most significant first."),
    ],
    first: Annotated[int, typer.Option(metavar="N", help="How many events of an individual become columns.")],
    keep: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column that is constant per individual; repeat it.")
    ] = None,
    count: Annotated[
        str | None, typer.Option(metavar="NAME", help="The name of a new column for the number of events.")
    ] = None,
    database: OptionalDatabase = None,
    csv_formulas: CsvFormulas = None,
    replace: Replace = False,
    replace_anything: ReplaceAnything = False,
    as_json: Json = False,
) -> None:
    """Turn a table of events into one with a row per individual, whose first events are columns.

    The result is as sensitive as the source: nothing is anonymized yet.

    Example: sqlanon flatten visits --db clinic.duckdb --into patients --individual patient_id --event diagnosis
    --order admission --first 3
    """
    from sqlanon.model.destination import destination

    with writing(database, destination(into)) as session:
        done = session.flatten(
            source,
            into,
            individual=individual,
            event=event,
            order=order,
            first=first,
            keep=keep or (),
            count=count,
            csv_formulas=cast("Any", csv_formulas),
            replace=replacing(replace, anything=replace_anything),
        )
    if as_json:
        write_json(done.model_dump(mode="json"))
    say(
        f"Wrote {done.individuals:,} individuals to {into}; {done.cut_events:,} of {done.events:,} events are beyond "
        f"the first {first:,} of {done.cut_individuals:,} individuals and were left out."
    )
    for note in done.notes:
        say(f"Note: {note}.")
