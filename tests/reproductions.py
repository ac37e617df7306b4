"""``sqlanon reproduce``, and a folder like that of UCI Adult, with invented rows and flat hierarchies."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from typer.testing import CliRunner

from sqlanon.cli.app import app
from sqlanon.papers import adult


def rows_of_adult() -> Iterator[list[object]]:
    for number in range(400):
        yield [
            20 + number * 7 % 60, ["Private", "?"][number % 9 == 0], number, ["HS-grad", "Masters"][number % 3 == 0],
            9, "Divorced", ["Sales", "Craft-repair"][number % 2], "Husband", ["White", "Black"][number % 11 == 0],
            ["Male", "Female"][number % 2], 0, 0, 40, "United-States", [">50K", "<=50K"][number % 3 > 0],
        ]  # fmt: skip


def write_adult(folder: Path, hierarchies: Iterable[str], line_ends: Mapping[str, str]) -> Path:
    """Write the same rows to several files, by name with the end of their lines, and a hierarchy for some columns."""
    (folder / "hierarchies").mkdir(parents=True)
    rows = [list(map(str, row)) for row in rows_of_adult()]
    for name, end in line_ends.items():
        (folder / name).write_text("".join(f"{', '.join(row)}{end}\n" for row in rows) + "\n")
    for name in hierarchies:
        values = sorted({row[adult.COLUMNS.index(name)] for row in rows} | {"0"})
        (folder / "hierarchies" / f"{name}.csv").write_text("".join(f"{value};*\n" for value in values))
    return folder


def run(*arguments: str | Path) -> Any:
    """The command in this process, where tests can change what it does."""
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


class Written(NamedTuple):
    """What a command leaves behind, and the document that it prints with ``--json``."""

    output: str
    rows: list[dict[str, str]]
    report: str
    chart: str
    document: dict[str, Any]


def reproduced_twice(name: str, out: Path, *options: str | Path) -> Written:
    """Run a command, and once more: its files repeat themselves."""
    command = [name, "--out", out, *options]
    done, files = run(*command), [out / f"{name}{ending}" for ending in (".csv", ".md", ".svg")]
    assert done.exit_code == 0, done.output
    assert sorted(out.iterdir()) == files
    made = [file.read_text() for file in files]
    again = run(*command, "--replace", "--json")
    assert again.exit_code == 0, again.output
    assert [file.read_text() for file in files] == made
    document, rows = json.loads(again.stdout), [*csv.DictReader(made[0].splitlines())]
    assert (document["name"], len(document["rows"])) == (name, len(rows))
    return Written(done.output, rows, *made[1:], document)
