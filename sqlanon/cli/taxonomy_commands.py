"""Commands on taxonomies."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Argument, BadParameter, Exit, Option, Typer

from sqlanon.api.session_taxonomies import Taxonomies
from sqlanon.cli import options as opt
from sqlanon.cli.command import command, existing, existing_or_new
from sqlanon.cli.options import Spelled
from sqlanon.cli.output import ExitCode, say, show, write_json

if TYPE_CHECKING:
    from sqlanon.model.taxonomy.taxonomy import Taxonomy

app = Typer(help="Load, make, check, list and export taxonomies.", rich_markup_mode="rich")

Days = Annotated[
    datetime | None,
    Option(metavar="YEAR-MONTH-DAY", formats=["%Y-%m-%d"], help="For dates: the first or the last day that can occur."),
]


def _breaks(levels: list[str]) -> list[list[str]]:
    return [[number.strip() for number in level.split(",")] for level in levels]


def _groups(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BadParameter('JSON is needed, as {"label": ["value"]}', param_hint="--groups") from None


Kind = StrEnum("Kind", "intervals cuts dates prefixes zip icd9 icd10 ipv4 flat groups columns query")

SOURCE = Spelled("SOURCE", help="A table, files or a query whose values the taxonomy must cover.")
COLUMN = Spelled("COLUMN", help="The column of --source, if it is not named like the attribute.")

# Spellings of rules' settings, with shorter texts than in :class:`Taxonomy`.
SETTINGS = {
    "widths": Spelled("NUMBER", "--width", list[float], help="For intervals: the width of a level, from level 1 up."),
    "origin": Spelled("NUMBER", kind=float, help="For intervals: a boundary of every level."),
    "minimum": Spelled("NUMBER", kind=int, help="For intervals and cuts: the least value that can occur."),
    "maximum": Spelled("NUMBER", kind=int, help="For intervals and cuts: the greatest value that can occur."),
    "below": Spelled("NUMBER", kind=float, help="For intervals: smaller numbers share a label."),
    "above": Spelled("NUMBER", kind=float, help="For intervals: numbers from here on share a label."),
    "breaks": Spelled("NUMBER,…", kind=list[str], read=_breaks, help="For cuts: where a level's intervals begin."),
    "units": Spelled(
        "UNIT", "--unit", list[str], help="For dates: day, month, quarter, year, decade; or day, week, isoyear."
    ),
    "keep": Spelled("N", kind=list[int], help="For prefixes: how many characters a level keeps."),
    "bits": Spelled("N", kind=list[int], help="For ipv4: the length of the prefix at a level."),
    "groups": Spelled("JSON", read=_groups, help='For groups: {"label": ["value", …], …}, or such groups by label.'),
    "columns": Spelled(
        "COLUMN", "--coarser", list[str], help="For columns: the column of --source with the labels of a level."
    ),
    "query": Spelled("SQL", help="For query: SQL that gives values and labels."),
    "declared": Spelled(kind=bool, help="For query: its values are not read off data."),
    "values": Spelled("VALUE", "--value", list[str], help="A value that can occur."),
}


@app.command()
@command(Taxonomies.load, source=SOURCE, column=COLUMN)
def load(
    file: Annotated[Path, Argument(metavar="FILE.csv", help="An ARX hierarchy: a line per value, no header.")],
    database: opt.NewDatabase,
    delimiter: Annotated[
        str | None, Option(metavar="CHARACTER", help="The separator of fields; detected unless given.")
    ] = None,
    as_json: opt.Json = False,
    **given: Any,
) -> None:
    """Store a taxonomy from a file, in place of the one that is there.

    The warehouse is created if it does not exist.

    Example: sqlanon taxonomy load age age.csv --db clinic.duckdb --source visits
    """
    from sqlanon.model.taxonomy.taxonomy import Taxonomy

    if delimiter is not None and len(delimiter) != 1:
        raise BadParameter("one character is needed", param_hint="--delimiter")
    _store(database, Taxonomy.from_csv(file, delimiter=delimiter), as_json=as_json, **given)


@app.command()
@command(Taxonomies.make, source=SOURCE, column=COLUMN, **SETTINGS)
def make(
    kind: Annotated[Kind, Argument(metavar="KIND", help=f"How the labels are made: {', '.join(Kind)}.")],
    database: opt.NewDatabase,
    first: Days = None,
    last: Days = None,
    as_json: opt.Json = False,
    **given: Any,
) -> None:
    """Make a taxonomy by a rule and store it, in place of the one that is there.

    Its values are declared by options, or read off --source. The warehouse is created if it does not exist.

    Example: sqlanon taxonomy make age intervals --db clinic.duckdb --width 5 --width 10 --minimum 0 --maximum 99
    """
    covering = {name: given.pop(name) for name in ("attribute", "source", "column") if name in given}
    days = {name: day for name, day in (("first", first), ("last", last)) if day is not None}
    _store(database, _made(kind, given | days), as_json=as_json, **covering)


def _made(kind: Kind, settings: dict[str, Any]) -> Taxonomy:
    from sqlanon.model.taxonomy.rules import RULES, made
    from sqlanon.model.taxonomy.taxonomy import Taxonomy

    if kind is Kind.query:
        _check_options(kind, settings, required=["query"], optional=["declared"])
        return Taxonomy.from_query(settings["query"], domain="declared" if "declared" in settings else "observed")
    fields = {name: field for name, field in RULES[kind].model_fields.items() if name != "kind"}
    required = [name for name, field in fields.items() if field.is_required()]
    _check_options(kind, settings, required=required, optional=list(fields))
    return made(kind, settings)


def _check_options(kind: Kind, given: Collection[str], *, required: list[str], optional: list[str]) -> None:
    option = {name: how.flag or f"--{name}" for name, how in SETTINGS.items()}
    for name in required:
        if name not in given:
            raise BadParameter(f"{kind} needs {option[name]}")
    if strangers := [option.get(name, f"--{name}") for name in given if name not in (*required, *optional)]:
        raise BadParameter(f"{kind} does not take {', '.join(strangers)}")


@app.command()
@command()
def check(database: opt.Database, as_json: opt.Json = False) -> None:
    """Check the stored taxonomies: exit code 0 if all are well-formed, 2 if not.

    Example: sqlanon taxonomy check --db clinic.duckdb
    """
    with existing(database) as session:
        names = list(session.taxonomies.list())
        problems = session.taxonomies.check()
    if as_json:
        write_json({"taxonomies": names, "problems": problems, "met": not problems})
    for line in (line for lines in problems.values() for line in lines):
        say(f"  - {line}")
    if problems:
        say(f"{len(problems)} of {len(names)} taxonomies are malformed.")
        raise Exit(ExitCode.USAGE)
    say(f"{len(names)} taxonomies are fine.")


@app.command(name="list")
@command()
def list_(database: opt.Database, as_json: opt.Json = False) -> None:
    """List the stored taxonomies: levels, values, labels at each level, and where the values come from.

    Example: sqlanon taxonomy list --db clinic.duckdb
    """
    with existing(database) as session:
        found = session.taxonomies.list()
    if as_json:
        write_json({"taxonomies": found})
    elif not found:
        say(f"There are no taxonomies in {database}; 'sqlanon taxonomy make --help' shows how to make one.")
    else:
        from sqlanon.report.document import Document, Table, count

        rows = [
            (
                name,
                str(shape["height"]),
                count(cast("int", shape["values"])),
                ", ".join(map(count, cast("list[int]", shape["labels"]))),
                str(shape["domain"]),
            )
            for name, shape in found.items()
        ]
        headings = ("attribute", "top level", "values", "labels by level", "domain")
        show(Document("Taxonomies", (Table(headings, rows, numbers=(1, 2)),)))


@app.command()
@command(Taxonomies.export)
def export(
    file: Annotated[Path, Argument(metavar="FILE.csv", help="Where to write it.")],
    database: opt.Database,
    replace: opt.ReplaceFile = False,
    as_json: opt.Json = False,
    **given: Any,
) -> None:
    """Write a stored taxonomy as an ARX hierarchy: a line per value, separated by semicolons, no header.

    Example: sqlanon taxonomy export age age.csv --db clinic.duckdb
    """
    attribute = given["attribute"]
    with existing(database) as session:
        session.taxonomies.export(attribute, file, replace=replace)
    if as_json:
        write_json({"attribute": attribute, "file": str(file)})
    say(f'Wrote the taxonomy of "{attribute}" to {file}.')


def _store(database: Path, taxonomy: Taxonomy, attribute: str, *, as_json: bool, **covering: Any) -> None:
    from sqlanon.model.taxonomy.hierarchies import ambiguous_note

    if "column" in covering and "source" not in covering:
        raise BadParameter("--column names a column of --source, which is missing")
    with existing_or_new(database) as session:
        session.taxonomies.load(attribute, taxonomy, **covering)
        shape = session.taxonomies.list()[attribute]
    if as_json:
        write_json({"attribute": attribute, **shape})
    say(f'Stored the taxonomy of "{attribute}": {shape["values"]:,} values, top level {shape["height"]}.')
    if labels := cast("int", shape["ambiguous_labels"]):
        say(f"Note: {ambiguous_note(attribute, labels)}.")
