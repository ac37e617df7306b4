"""Commands that estimate the risk of a survey in its population, and what a release keeps of its source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from typer import Exit

from sqlanon.api.session import Session
from sqlanon.cli import options as opt
from sqlanon.cli.command import command, reading
from sqlanon.cli.options import Spelled
from sqlanon.cli.output import ExitCode, put, say
from sqlanon.report.document import percent


def _names(given: Sequence[str]) -> list[str]:
    return [name.strip() for text in given for name in text.split(",")]


@command(
    Session.risk,
    keys=Spelled("COLUMN,…", "--keys", list[str], _names),
    policy=Spelled("FILE.toml", "--policy", Path, opt.read_policy),
    weight=Spelled("COLUMN"),
    household=Spelled("COLUMN"),
    population=Spelled("N"),
    at_most=Spelled("SHARE"),
    max_size=Spelled("N"),
    nulls=Spelled("value|any"),
)
def risk(database: opt.OptionalDatabase = None, as_json: opt.Json = False, **given: Any) -> None:
    """Estimate how many rows of a survey are found in its population: exit code 3 above --at-most.

    Two estimates from the weights are a bracket, and no bounds. It also shows rows that few values single out, and
    which keys to recode first.

    Example: sqlanon risk survey.csv --keys age,sex,zip --weight weight --household home
    """
    with reading(database) as session:
        found = session.risk(**given)
    put(found, as_json=as_json, met=found.met)
    if not found.met:
        share, most = percent(found.high_share), percent(found.at_most)
        words = f"{share} of the rows are found by the higher estimate, and {most} are accepted"
        say(f"Not met: {'the table has no rows' if found.high_share is None else words}.")
        raise Exit(ExitCode.NOT_MET)


@command(
    Session.compare,
    columns=Spelled("COLUMN,…", "--columns", list[str], _names),
    weight=Spelled("COLUMN"),
    formula=Spelled("FORMULA"),
)
def compare(database: opt.OptionalDatabase = None, as_json: opt.Json = False, **given: Any) -> None:
    """Measure what a release keeps of its source: means, tables, correlations, models.

    Example: sqlanon compare survey.csv survey_k3.csv --key id --weight weight --formula "income ~ age + sex"
    """
    with reading(database) as session:
        put(session.compare(**given), as_json=as_json)
