"""The command for rows that come after a release."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from sqlanon.cli.options import (
    CsvFormulas,
    Json,
    OptionalDatabase,
    Replace,
    ReplaceAnything,
    Source,
    Target,
    TaxonomyFiles,
    load_taxonomies,
    replacing,
    taxonomies_of_files,
)
from sqlanon.cli.sessions import writing
from sqlanon.cli.terminal.output import say, write_json

Like = Annotated[
    str,
    typer.Option("--like", metavar="RELEASE", help="A published table, or the path of a published file or folder/."),
]


def generalize(
    source: Source,
    like: Like,
    into: Target,
    database: OptionalDatabase = None,
    taxonomies: TaxonomyFiles = None,
    csv_formulas: CsvFormulas = None,
    replace: Replace = False,
    replace_anything: ReplaceAnything = False,
    as_json: Json = False,
) -> None:
    """Give new rows the labels of a release that has a cut, such as one of diffgen: a test part, for instance.

    The result is as sensitive as the source: nothing is anonymized.

    Example: sqlanon generalize test --like released --db clinic.duckdb --into test_like_released
    """
    from sqlanon.model.destination import destination

    read = taxonomies_of_files(taxonomies)
    with writing(database, destination(into)) as session:
        load_taxonomies(session, read)
        done = session.generalize(
            source,
            like,
            into,
            csv_formulas=cast("Any", csv_formulas),
            replace=replacing(replace, anything=replace_anything),
        )
    if as_json:
        write_json(done.model_dump(mode="json"))
    labelled = len(done.generalized)
    unknown = f" {done.unknown_rows:,} were left out for unknown values." if done.unknown_rows else ""
    say(
        f"Wrote {done.rows:,} rows to {into}, {labelled} of whose {len(done.columns)} columns are generalized.{unknown}"
    )
    for note in done.notes:
        say(f"Note: {note}.")
