"""Pictures of a source: profiles of its columns, and what a taxonomy would make of one. They are for the custodian."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from sqlanon.model.release.measurement import Result
from sqlanon.report.document import Part, Table, count, percent


class FrequentValue(Result):
    """A value with its rows.

    Attributes:
        value: its text.
        rows: how many rows have it.
    """

    value: str
    rows: int


class Histogram(Result):
    """Rows by bins of equal width; infinite values, and days more than 219,000 years from 1970, are in none.

    Attributes:
        edges: the ends of the bins, one more than there are bins: numbers, or days and times as text. They are
            multiples of the width, which is 1, 2 or 5 times a power of ten; None for a hidden column.
        rows: the rows of each bin, 24 at most; the last bin ends before its edge, as all others do.
    """

    edges: tuple[float | str, ...] | None
    rows: tuple[int, ...]


class ColumnProfile(Result):
    """Counts of the values of a column.

    Attributes:
        name, type: the column, and its type as DuckDB spells it.
        rows, missing: rows, and those without a value.
        values: distinct values, counted exactly.
        histogram: of numbers, days and times; None for other types, and without finite values.
        frequencies: the rows of the most frequent values, 24 at most, in falling order; empty beside a histogram.
        frequent: up to four most frequent values of at least ``least`` rows; empty for a hidden column.
        rare_rows: rows with a value that fewer than ``least`` rows have.
        is_hidden: whether it shows no value.
    """

    name: str
    type: str
    rows: int
    missing: int
    values: int
    histogram: Histogram | None
    frequencies: tuple[int, ...]
    frequent: tuple[FrequentValue, ...]
    rare_rows: int
    is_hidden: bool = False

    @property
    def rare_share(self) -> float | None:
        """The share of rows with a rare value; None without rows."""
        return self.rare_rows / self.rows if self.rows else None


class SourceProfile(Result):
    """Profiles of the columns of a source.

    Attributes:
        source: in words.
        least: the least rows of a value that is shown.
        columns: a profile each, in the order of the source or of the call.
    """

    source: str
    least: int
    columns: tuple[ColumnProfile, ...]

    @property
    def heading(self) -> str:
        return f"The columns of {self.source}"

    def parts(self) -> Iterator[Part]:
        rows = [
            (
                each.name,
                each.type,
                count(each.values),
                count(each.missing),
                ", ".join(value.value for value in each.frequent),
                percent(each.rare_share),
            )
            for each in self.columns
        ]
        headings = ("column", "type", "values", "missing", "frequent values", f"rows of values under {self.least} rows")
        yield Table(headings, rows, numbers=(2, 3, 5))


class PreviewedLabel(Result):
    """A label with its rows.

    Attributes:
        label: its text; None for a rare label, unless rare ones were asked for.
        rows: how many rows it has, without missing values.
    """

    label: str | None
    rows: int


class PreviewedLevel(Result):
    """A level of a taxonomy on a column.

    Attributes:
        level: 0 has the values.
        label_count: labels that rows have.
        smallest_rows: the rows of the smallest label.
        rare_labels, rare_rows: labels of fewer than ``least`` rows, and their rows.
        labels: those that rows have, in the order of the labels above them, and then of their numbers or texts; None
            for a level with many.
    """

    level: int
    label_count: int
    smallest_rows: int
    rare_labels: int
    rare_rows: int
    labels: tuple[PreviewedLabel, ...] | None = None


class PreviewedValue(Result):
    """A value with its labels.

    Attributes:
        value: its text; None for a rare value, unless rare ones were asked for.
        rows: how many rows have it.
        labels: its labels from level 1 to the top; None for a rare one, in the same way.
    """

    value: str | None
    rows: int
    labels: tuple[str | None, ...]


class TaxonomyPreview(Result):
    """What a taxonomy would make of a column.

    Attributes:
        column: the column.
        rows, missing: rows, or items of a column of sets, and those without a value, which are not under any label.
        value_count: distinct values.
        least: the rows below which a label is rare.
        levels: from the values, level 0, to the top; none if no row has a value.
        values: the first values by number or text, as many as were asked for, in the order of their labels.
    """

    column: str
    rows: int
    missing: int
    value_count: int
    least: int
    levels: tuple[PreviewedLevel, ...]
    values: tuple[PreviewedValue, ...] = ()

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return max(len(self.levels) - 1, 0)

    def groups(self) -> list[list[tuple[str | None, int, int]]]:
        """Return the values as lines of a table with merged cells.

        A line has the value, and each label that begins there from level 1 on: its text, its rows, and its height in
        lines. Only ``values`` are counted.
        """
        lines: list[list[tuple[str | None, int, int]]] = [[(each.value, each.rows, 1)] for each in self.values]
        for level in range(self.height):
            first = 0
            for labels, run in itertools.groupby(each.labels[level:] for each in self.values):
                end = first + len([*run])
                rows = sum(each.rows for each in self.values[first:end])
                lines[first].append((labels[0], rows, end - first))
                first = end
        return lines

    @property
    def heading(self) -> str:
        return f'The taxonomy of "{self.column}"'

    def parts(self) -> Iterator[Part]:
        rows = [
            (str(each.level), *map(count, (each.label_count, each.smallest_rows, each.rare_labels, each.rare_rows)))
            for each in self.levels
        ]
        rare = f"under {self.least} rows"
        yield Table(("level", "labels", "smallest", f"labels {rare}", f"rows {rare}"), rows, numbers=range(5))


class SampledRow(Result):
    """A row of a source beside what a release shows for it.

    Attributes:
        before: its quasi-identifiers, as texts; None without a value.
        after: their labels in the release; None if it was left out. A masked row has ``*`` in all.
        others: how many other classes of the release cover the row as well, so that it may be in one of these instead;
            0 but for local recoding.
    """

    before: tuple[str | None, ...]
    after: tuple[str | None, ...] | None
    others: int = 0


class SampledRows(Result):
    """Some rows of a source beside a release.

    Attributes:
        source, release: in words.
        columns: the quasi-identifiers.
        rows: the rows, in the order of the source.
    """

    source: str
    release: str
    columns: tuple[str, ...]
    rows: tuple[SampledRow, ...]

    @property
    def heading(self) -> str:
        return f"Rows of {self.source} beside {self.release}"

    def parts(self) -> Iterator[Part]:
        def cells(row: SampledRow) -> Iterator[str]:
            for place, before in enumerate(row.before):
                after = "left out" if row.after is None else row.after[place] or "–"
                yield f"{before or '–'} → {after}"

        yield Table(self.columns, [tuple(cells(row)) for row in self.rows])
