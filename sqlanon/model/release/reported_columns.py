"""What a report of a release has of its columns."""

from __future__ import annotations

from sqlanon.model.release.measurement import PartialResult, Result
from sqlanon.report.document import Strip, Text, count, percent


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
        label: its text, None for NULL.
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
        role: its role in the policy.
        levels: those of its taxonomy, from the top; empty where that is not known.
        labels: those that most rows have, with their rows.
        lost: the share of other values that its labels cover, as a mean over rows (LM), in [0, 1].
        homogeneous_rows: of a sensitive column, the rows of classes in which all rows have one value.
    """

    name: str
    role: str
    levels: tuple[Level, ...] = ()
    labels: tuple[LabelRows, ...] = ()
    lost: float | None = None
    homogeneous_rows: int | None = None


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
    return next((each.label for each in column.labels if each.label is not None), "NULL" if column.labels else "")


def tag(column: ReportedColumn) -> Text:
    """What is to be noted of the levels, if anything."""
    shown = {each.level: each.shown for each in column.levels}
    if not shown:
        return Text("")
    if shown[max(shown)] == 1 and max(shown) > 0:
        return Text("says nothing", "bad")
    return Text("as it is", "doubtful") if shown.get(0) == 1 else Text("")
