"""Commands that make tables as sensitive as their source, put macros in place, and print what sqlanon consists of."""

from __future__ import annotations

from typing import Annotated, Any, cast

from typer import Option

from sqlanon.cli import options as opt
from sqlanon.cli.options import Json, NewDatabase
from sqlanon.cli.output import say, write, write_json
from sqlanon.cli.sessions import existing_or_new, writing


def install(database: NewDatabase, as_json: Json = False) -> None:
    """Create schema anon with all macros in a DuckDB file, for any DuckDB client to call.

    Example: sqlanon install --db clinic.duckdb
    """
    from sqlanon.queries.kit.macros import macros

    with existing_or_new(database) as session:
        session.install()
    if as_json:
        write_json({"database": str(database), "macros": list(macros())})
    say(f"Installed {len(macros())} macros in schema anon of {database}.")


def sql() -> None:
    """Print the SQL that creates schema anon with all macros.

    DuckDB's shell runs it by .read sqlanon.sql.

    Example: sqlanon sql > sqlanon.sql
    """
    from sqlanon.queries.kit.macros import install_script

    write(install_script())


def schema() -> None:
    """Print the JSON Schema of a policy, with which editors complete and check policy files.

    Example: sqlanon schema > policy.schema.json
    """
    import sqlanon.papers.methods  # noqa: F401
    from sqlanon.model.policy.policy import Policy

    write_json(Policy.model_json_schema())


Like = Annotated[
    str, Option("--like", metavar="RELEASE", help="A published table, or the path of a published file or folder/.")
]


def flatten(
    source: opt.Source,
    into: opt.Target,
    individual: Annotated[str, Option(metavar="COLUMN", help="The column that identifies the individual of an event.")],
    event: Annotated[list[str], Option(metavar="COLUMN", help="A column that becomes columns; repeat it.")],
    order: Annotated[
        list[str], Option(metavar="COLUMN", help="A column that orders events; repeat it, most significant first.")
    ],
    first: Annotated[int, Option(metavar="N", help="How many events of an individual become columns.")],
    keep: Annotated[
        list[str] | None,
        Option(metavar="COLUMN", help="A column that is the same in all rows of an individual; repeat it."),
    ] = None,
    count: Annotated[str | None, Option(metavar="NAME", help="A new column for the number of events.")] = None,
    database: opt.OptionalDatabase = None,
    csv_formulas: opt.CsvFormulas = None,
    replace: opt.Replace = False,
    replace_anything: opt.ReplaceAnything = False,
    as_json: opt.Json = False,
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
            replace=opt.replacing(replace, anything=replace_anything),
        )
    if as_json:
        write_json(done.model_dump(mode="json"))
    say(
        f"Wrote {done.individuals:,} individuals to {into}; {done.cut_events:,} of {done.events:,} events are beyond "
        f"the first {first:,} of {done.cut_individuals:,} individuals and were left out."
    )
    for note in done.notes:
        say(f"Note: {note}.")


def generalize(
    source: opt.Source,
    like: Like,
    into: opt.Target,
    database: opt.OptionalDatabase = None,
    taxonomies: opt.TaxonomyFiles = None,
    csv_formulas: opt.CsvFormulas = None,
    replace: opt.Replace = False,
    replace_anything: opt.ReplaceAnything = False,
    as_json: opt.Json = False,
) -> None:
    """Give new rows the labels of a release of diffgen or of local recoding: a test part, for instance.

    The result is as sensitive as the source: nothing is anonymized.

    Example: sqlanon generalize test --like released --db clinic.duckdb --into test_like_released
    """
    from sqlanon.model.destination import destination

    read = opt.taxonomies_of_files(taxonomies)
    with writing(database, destination(into)) as session:
        session.taxonomies.load_all(read)
        done = session.generalize(
            source,
            like,
            into,
            csv_formulas=cast("Any", csv_formulas),
            replace=opt.replacing(replace, anything=replace_anything),
        )
    if as_json:
        write_json(done.model_dump(mode="json"))
    labelled = len(done.generalized)
    unknown = f" {done.unknown_rows:,} were left out for unknown values." if done.unknown_rows else ""
    unknown += f" {done.uncovered_rows:,} were left out: no class covers them." if done.uncovered_rows else ""
    say(
        f"Wrote {done.rows:,} rows to {into}, {labelled} of whose {len(done.columns)} columns are generalized.{unknown}"
    )
    for note in done.notes:
        say(f"Note: {note}.")
