"""The columns of a report of a release, and the sections that show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.model.release.measurement import PartialResult, Result
from sqlanon.report.document import (
    Section,
    Strip,
    Strips,
    Table,
    Text,
    Tone,
    count,
    notes,
    paragraph,
    percent,
    side_by_side,
)

if TYPE_CHECKING:
    from sqlanon.model.release.release_report import ReleaseReport

MAX_SIGNS = 40  # of a value of an example
TWICE = 2  # labels are marked if they are left out this many times as often as all rows
REST = "all others"  # columns that a policy drops without naming them

KNOWN = "others may know it of a person"

TREATMENTS = {
    "quasi-identifier": ("generalized", f"{KNOWN}, so that it could single somebody out"),
    "sensitive": ("released as it is", "it is what the release is about; nobody should learn it of one person"),
    "insensitive": ("released as it is", "the policy says that nobody is recognized by it"),
    "pseudonym": ("pseudonym", "a code in place of the value, so that tables can be joined by it"),
    "identifier": ("dropped", "it names a person, or is not needed"),
    "rest": ("dropped", "the policy does not name it, and drops what it does not name"),
}
"""The treatment of a column and the reason, by role."""


class Level(Result):
    """A level of a taxonomy."""

    level: int  # 0 for the values
    # From left to right the number of values under each label, and its text; None if the release doesn't show it.
    labels: tuple[tuple[int, str | None], ...]
    label_count: int
    shown: float  # the share of released rows with labels of this level


class LabelRows(Result):
    """The rows with a label."""

    # None for NULL. Rows that are all left out have the most general label above only them.
    label: str | None
    before: int | None  # rows of the source with values under it; None if unknown or secret
    after: int  # rows of the release


class ReportedColumn(PartialResult):
    """A column of a release."""

    name: str
    role: str  # in the policy; ``rest`` if it drops the column without naming it
    perturbation: str | None = None  # what happened to its values, in words
    levels: tuple[Level, ...] = ()  # of its taxonomy, from the top; empty if unknown
    labels: tuple[LabelRows, ...] = ()  # labels that vanished from the release, then the most frequent ones
    level: int | None = None  # of its labels; None for several levels
    height: int | None = None  # the top level
    lost: float | None = None  # the share of other values that its labels cover, as a mean over rows (LM), in [0, 1]
    homogeneous_rows: int | None = None  # of a sensitive column: rows in classes that show a single value
    other_vanished_labels: int = 0  # further labels that vanished, with too few rows to be named
    other_vanished_rows: int = 0  # rows of the source with these labels
    # For a taxonomy that the policy declares: the number of labels of the released level without a row, and of all
    # labels; None if readers of the release don't know them.
    unused_labels: tuple[int, int] | None = None

    @property
    def treatment(self) -> tuple[str, str]:
        """Return the treatment of the column, and the reason."""
        if self.role == "quasi-identifier" and self.level is not None and self.height:
            if self.level == 0:
                return "released as it is", f"{KNOWN}; enough rows look alike without a change of it"
            if self.level == self.height:
                return "one label for all rows", f"{KNOWN}; it says nothing any more"
        treatment, reason = TREATMENTS[self.role]
        return treatment if self.perturbation is None else self.perturbation, reason

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
    """A row of the source, and its released form."""

    columns: tuple[str, ...]
    before: tuple[str | None, ...]  # the values as text; None for NULL
    after: tuple[str | None, ...]


NO_EXAMPLES = (
    "Rows of the source are shown with what is released of each if it is known which labels each row has: in a "
    "full-domain release of rows that no server keeps, with a taxonomy of each quasi-identifier, which is held with no "
    "other release and has no rule for unknown values. This release is of another kind, or has none of the rows."
)


def every_column(report: ReleaseReport) -> Iterator[Section]:
    """Show the treatment of each column of the source, with the reason."""
    rows = [(each.name, *each.treatment) for each in report.columns]
    if report.drops_rest and not any(each.role == "rest" for each in report.columns):
        rows.append((REST, *TREATMENTS["rest"]))
    yield Section("Every column", (Table(("column", "in the release", "why"), rows),))


def what_became(report: ReleaseReport) -> Iterator[Section]:
    """Show the taxonomy of each quasi-identifier, with the released levels."""
    rows = [
        (
            column.name,
            Strips(tuple(map(_strip, column.levels))) if column.levels else "",
            _levels(column.levels),
            _example(column),
            percent(column.lost),
            _tag(column.levels),
        )
        for column in report.columns
        if column.role == "quasi-identifier"
    ]
    if rows:
        headings = ("column", "taxonomy", "released", "such as", "detail lost", "")
        yield Section(
            "What became of each column",
            (Table(headings, rows, numbers=(4,)),),
            "Each strip is a level of the taxonomy, from everything above to single values below; a piece is a label, "
            "as wide as the values that it stands for. In colour: what is released.",
        )


def _strip(level: Level) -> Strip:
    values = sum(leaves for leaves, _ in level.labels) or 1
    pieces = tuple((leaves / values, label or "") for leaves, label in level.labels)
    return Strip(f"level {level.level}", pieces or ((1.0, ""),), level.shown)


def _levels(levels: Sequence[Level]) -> str:
    shown = [each for each in levels if each.shown]
    if len(shown) != 1:
        return ", ".join(f"level {each.level}: {percent(each.shown)}" for each in shown)
    labels, top = shown[0].label_count, max(each.level for each in levels)
    return f"level {shown[0].level} of {top}, {count(labels)} label{'' if labels == 1 else 's'}"


def _example(column: ReportedColumn) -> str:
    shown = [each.label for each in column.labels if each.after]
    return next((label for label in shown if label is not None), "NULL" if shown else "")


def _tag(levels: Sequence[Level]) -> Text:
    """Mark columns at the top level, or at level 0."""
    shown = {each.level: each.shown for each in levels}
    if not shown:
        return Text("")
    if shown[max(shown)] == 1 and max(shown) > 0:
        return Text("says nothing", "bad")
    return Text("as it is", "doubtful") if shown.get(0) == 1 else Text("")


def left_out(report: ReleaseReport) -> Iterator[Section]:
    """Show the labels that vanished from the release, and the shares of other labels that are left out."""
    if report.edition == "public":
        yield from _unused(report.columns)
    compared = [column for column in report.columns if any(each.before is not None for each in column.labels)]
    vanished = notes("Missing altogether", [words for each in report.columns for words in each.vanished_in_words])
    if not vanished and not (compared and report.left_out_rows and report.source_rows):
        return
    mean = (report.left_out_rows or 0) / (report.source_rows or 1)
    tables = (side_by_side(*(_left_out_of(column, mean) for column in compared)),) if compared else ()
    uneven = () if report.findings is None else report.findings.uneven_suppression()
    yield Section(
        "Who is left out",
        (*vanished, *tables, *uneven),
        f"Before: the rows of the source under each label. On average {percent(mean)} are left out; labels that are "
        "left out more than twice as often are marked. –: fewer rows than k were left out, or it is not known.",
    )


def _left_out_of(column: ReportedColumn, mean: float) -> Table:
    rows = []
    for each in column.labels:
        name = "NULL" if each.label is None else each.label
        share = None if not each.before else 1 - each.after / each.before
        tone: Tone = "bad" if share is not None and share > TWICE * mean else "plain"
        rows.append((name, count(each.before), count(each.after), Text(percent(share), tone)))
    return Table((column.name, "before", "after", "left out"), rows, numbers=(1, 2, 3))


def _unused(columns: Sequence[ReportedColumn]) -> Iterator[Section]:
    """Count the labels of a published taxonomy without a row, as any reader can."""
    rows = [
        (each.name, *map(count, each.unused_labels))
        for each in columns
        if each.unused_labels is not None and each.unused_labels[0]
    ]
    if rows:
        remark = (
            "Labels that the policy lists and no row of the release has. Whether the source had such rows, which were "
            "left out, is not public."
        )
        yield Section("Labels without a row", (Table(("column", "labels without a row", "of"), rows, (1, 2)),), remark)


def before_and_after(examples: Sequence[ExampleRow] | None) -> Iterator[Section]:
    """Show a few rows with their released form, or why there are none; nothing if not wanted."""
    if examples is None:
        return
    if not examples:
        yield Section("No rows beside their labels", (paragraph(NO_EXAMPLES),))
        return
    rows: list[tuple[Text, ...]] = []
    for number, each in enumerate(examples, 1):
        rows.append((Text(f"{number} before"), *(Text(_shortened(value)) for value in each.before)))
        rows.append((Text(f"{number} after", "strong"), *(Text(_shortened(value), "strong") for value in each.after)))
    remark = (
        "Rows of the source, picked by a hash, with what the release shows of each; columns that are dropped are left "
        "out. They are personal data: keep this page like the source."
    )
    table = Table(("row", *examples[0].columns), rows)
    yield Section(f"{len(examples)} rows before and after", (table,), remark, audience="custodian")


def _shortened(value: str | None) -> str:
    if value is None:
        return "NULL"
    return value if len(value) <= MAX_SIGNS else f"{value[: MAX_SIGNS - 1]}…"
