"""A folder like that of UCI Adult, with invented rows and flat hierarchies."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

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
        (folder / name).write_text("".join(f"{', '.join(row)}{end}\n" for row in rows))
    for name in hierarchies:
        values = sorted({row[adult.COLUMNS.index(name)] for row in rows} | {"0"})
        (folder / "hierarchies" / f"{name}.csv").write_text("".join(f"{value};*\n" for value in values))
    return folder
