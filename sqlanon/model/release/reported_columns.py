"""What a report of a release has of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.model.release.measurement import PartialResult, Result
from sqlanon.report.document import Strip, Table, Text, count, percent

MAX_SIGNS = 40
"""The most signs of a value of an example."""

KNOWN = "others may know it of a person"

TREATMENTS = {
    "quasi-identifier": ("generalized", f"{KNOWN}, so that it could single somebody out"),
    "sensitive": ("released as it is", "it is what the release is about; nobody should learn it of one person"),
    "insensitive": ("released as it is", "the policy says that nobody is recognized by it"),
    "pseudonym": ("pseudonym", "a code in place of the value, so that tables can be joined by it"),
    "identifier": ("dropped", "it names a person, or is not needed"),
    "rest": ("dropped", "the policy does not name it, and drops what it does not name"),
}
"""By role what becomes of a column, and why."""


class Level(Result):
    """A level of a taxonomy.

    Attributes:
        level: its number, from 0 for the values.
        labels: from left to right the values under each label, and its text; None where the release does not show it.
        label_count: how many labels it has.
        shown: the share of the released rows that have labels of this level.
    """

    level: int
    labels: tuple[tuple[int, str | None], ...]
    label_count: int
    shown: float


class LabelRows(Result):
    """The rows with a label.

    Attributes:
        label: its text, None for NULL. That of rows that are all left out is the most general one that stands for them.
        before: the rows of the source whose values are under it; None if that is not known, or not to be.
        after: the rows of the release.
    """

    label: str | None
    before: int | None
    after: int


class ReportedColumn(PartialResult):
    """A column of a release.

    Attributes:
        name: its name.
        role: its role in the policy; ``rest`` if the policy drops it without naming it.
        levels: those of its taxonomy, from the top; empty where that is not known.
        labels: those of the source that no row of the release has any more, and those that most rows have.
        level, height: the level of all its labels, and the top one; None where labels are of several levels.
        lost: the share of other values that its labels cover, as a mean over rows (LM), in [0, 1].
        homogeneous_rows: of a sensitive column, the rows of classes in which all rows have one value.
        other_vanished_labels, other_vanished_rows: how many more labels no row has any more, of too few rows each to
            be named, and the rows of the source that had them.
        unused_labels: of a taxonomy that the policy declares, how many labels of the released level no row has, and
            how many there are; None where readers of the release do not know them.
    """

    name: str
    role: str
    levels: tuple[Level, ...] = ()
    labels: tuple[LabelRows, ...] = ()
    level: int | None = None
    height: int | None = None
    lost: float | None = None
    homogeneous_rows: int | None = None
    other_vanished_labels: int = 0
    other_vanished_rows: int = 0
    unused_labels: tuple[int, int] | None = None

    @property
    def treatment(self) -> tuple[str, str]:
        """What became of the column, and why."""
        if self.role == "quasi-identifier" and self.level is not None and self.height:
            if self.level == 0:
                return "released as it is", f"{KNOWN}; enough rows look alike without a change of it"
            if self.level == self.height:
                return "one label for all rows", f"{KNOWN}; it says nothing any more"
        return TREATMENTS[self.role]

    @property
    def vanished_in_words(self) -> tuple[str, ...]:
        """A sentence for each label that vanished, and one for the others."""
        named = [
            f"all {count(each.before)} rows {self._of(each.label)} are left out or masked: nobody of this group is in "
            "the release"
            for each in self.labels
            if not each.after
        ]
        if not self.other_vanished_labels:
            return tuple(named)
        labels, rows = count(self.other_vanished_labels), count(self.other_vanished_rows)
        more = "more values" if named else "values"
        return (*named, f'all rows of {labels} {more} of "{self.name}" are left out or masked, {rows} in all')

    def _of(self, label: str | None) -> str:
        return f'without a value of "{self.name}"' if label is None else f'of "{self.name}" = {label}'


@dataclass(frozen=True)
class ExampleRow:
    """A row of the source, and what the release shows of it.

    Attributes:
        columns: the names of the columns.
        before, after: their values as text; None for NULL.
    """

    columns: tuple[str, ...]
    before: tuple[str | None, ...]
    after: tuple[str | None, ...]


def examples_table(examples: Sequence[ExampleRow]) -> Table:
    """Rows before and after, a pair below each other."""
    rows: list[tuple[Text, ...]] = []
    for number, each in enumerate(examples, 1):
        rows.append((Text(f"{number} before"), *(Text(_shortened(value)) for value in each.before)))
        rows.append((Text(f"{number} after", "strong"), *(Text(_shortened(value), "strong") for value in each.after)))
    return Table(("row", *examples[0].columns), rows)


def _shortened(value: str | None) -> str:
    if value is None:
        return "NULL"
    return value if len(value) <= MAX_SIGNS else f"{value[: MAX_SIGNS - 1]}…"


def strip(level: Level) -> Strip:
    """A level as it is drawn."""
    values = sum(leaves for leaves, _ in level.labels) or 1
    pieces = tuple((leaves / values, label or "") for leaves, label in level.labels)
    return Strip(f"level {level.level}", pieces or ((1.0, ""),), level.shown)


def levels_of(column: ReportedColumn) -> str:
    """The levels that are released, in words."""
    shown = [each for each in column.levels if each.shown]
    top = max((each.level for each in column.levels), default=0)
    if len(shown) == 1:
        labels = shown[0].label_count
        return f"level {shown[0].level} of {top}, {count(labels)} label{'' if labels == 1 else 's'}"
    return ", ".join(f"level {each.level}: {percent(each.shown)}" for each in shown)


def example(column: ReportedColumn) -> str:
    """A label that the release shows."""
    shown = [each.label for each in column.labels if each.after]
    return next((label for label in shown if label is not None), "NULL" if shown else "")


def tag(column: ReportedColumn) -> Text:
    """What is to be noted of the levels, if anything."""
    shown = {each.level: each.shown for each in column.levels}
    if not shown:
        return Text("")
    if shown[max(shown)] == 1 and max(shown) > 0:
        return Text("says nothing", "bad")
    return Text("as it is", "doubtful") if shown.get(0) == 1 else Text("")
