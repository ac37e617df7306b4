"""What a run changed in perturbed columns, for those who may see the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.model.names import in_quotes
from sqlanon.model.release.measurement import Result
from sqlanon.report.document import Part, Table, count, figure, notes, percent


class PerturbedColumn(Result):
    """The changes of a column, over all rows of the source.

    Attributes:
        column: its name.
        kind: of the perturbation.
        rows: the rows with a value.
        changed: the rows that show another value than their own.
        il1s: the mean of abs(x - x') / (sqrt(2) * sd), of numbers that vary (Yancey, Winkler and Creecy 2002).
        sse_share: the squared changes as a share of the squared distances to the mean (SSE/SST).
        remarks: on the draws, a sentence each.
    """

    column: str
    kind: str
    rows: int
    changed: int
    il1s: float | None = None
    sse_share: float | None = None
    remarks: tuple[str, ...] = ()

    @property
    def share(self) -> float | None:
        """The share of changed rows among those with a value."""
        return self.changed / self.rows if self.rows else None


def perturbed_columns(columns: Sequence[PerturbedColumn]) -> Iterator[Part]:
    """Show what was changed, if anything was."""
    if not columns:
        return
    rows = [
        (each.column, each.kind, count(each.changed), percent(each.share), figure(each.il1s), figure(each.sse_share))
        for each in columns
    ]
    headings = ("perturbed column", "by", "rows changed", "share", "IL1s", "SSE/SST")
    yield Table(headings, rows, numbers=(2, 3, 4, 5))
    yield from notes("Perturbed columns", [remark for each in columns for remark in (*each.remarks, *_unchanged(each))])


def _unchanged(column: PerturbedColumn) -> Iterator[str]:
    if column.rows and not column.changed:
        yield f"all values of {in_quotes(column.column)} are its own: a stronger perturbation would change some"
