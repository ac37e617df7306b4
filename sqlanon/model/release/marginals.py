"""The marginals that a private method measured with noise, beside the rows that it drew from them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from sqlanon.model.release.measurement import PartialResult, Result
from sqlanon.report.document import Section, Table, Text, Tone, count, figure, notes, side_by_side

SHOWN_MARGINALS = 20
"""The marginals of several columns that a page lists, those with the least noise first; JSON has all."""

SHOWN_LABELS = 12
"""The labels of a column that a page lists, those of most rows."""

FAR = 3
"""A label is marked whose rows differ from its noisy count by more scales of the noise than this."""

ACCURACY = (
    "counts of columns together that are not in the workload: they follow from others as if nothing else tied them",
    "rare combinations: where few rows are, noise is most of a count",
    "standard errors and tests of analyses that take the rows for those of people: they come out too small",
)
"""What rows do not promise that are drawn from marginals."""


class LabelCounts(Result):
    """The rows with a label or in a bin.

    Attributes:
        label: its text, None for NULL.
        measured: how many there are in the source, with noise.
        drawn: the rows of the release.
    """

    label: str | None
    measured: float
    drawn: int


class MeasuredMarginal(PartialResult):
    """A marginal that was measured.

    Attributes:
        columns: whose it is.
        times: how often it was measured.
        sigma: the scale of the noise of a count, of all measurements together.
        error_at_most: how many rows the model counts in other places than the table at most: half the sum of all
            differences. All that a report has are true together with a probability of 95 %.
        labels: of one column, its labels in the order of its domain.
    """

    columns: tuple[str, ...]
    times: int
    sigma: float
    error_at_most: float
    labels: tuple[LabelCounts, ...] = ()


def marginals_section(marginals: Sequence[MeasuredMarginal]) -> Section:
    """Each column, measured and drawn, and what was measured of several columns."""
    tables = [_labels_table(each) for each in marginals if each.labels]
    return Section(
        "How near the rows are to the table",
        (side_by_side(*tables), *measured_tables(marginals), *notes("Not promised", ACCURACY)),
        "Measured: the rows of the source, counted with noise within the budget; drawn: those of the release. Marked "
        f"are those that differ by more than {FAR} scales of the noise. Rows in other places than in the source: "
        "bounds of the model, which all hold together with a probability of 95 %.",
    )


def measured_tables(marginals: Sequence[MeasuredMarginal]) -> tuple[Table, ...]:
    """The marginals of several columns, those with the least noise first; nothing if none was measured."""
    several = sorted((each for each in marginals if len(each.columns) > 1), key=lambda each: each.sigma)
    rows = [
        (", ".join(each.columns), count(each.times), figure(each.sigma), count(math.ceil(each.error_at_most)))
        for each in several[:SHOWN_MARGINALS]
    ]
    if left := len(several) - len(rows):
        rows.append((f"and {left:,} others", "", "", ""))
    headings = ("measured together", "times", "scale of noise", "rows in other places, at most")
    return (Table(headings, rows, numbers=(1, 2, 3)),) if rows else ()


def _labels_table(marginal: MeasuredMarginal) -> Table:
    return Table((marginal.columns[0], "measured", "drawn"), list(_label_rows(marginal)), numbers=(1, 2))


def _label_rows(marginal: MeasuredMarginal) -> Iterator[tuple[str | Text, ...]]:
    largest = sorted(marginal.labels, key=lambda each: -each.drawn)[:SHOWN_LABELS]
    for each in marginal.labels:
        if each in largest:
            tone: Tone = "bad" if abs(each.measured - each.drawn) > FAR * marginal.sigma else "plain"
            name = "NULL" if each.label is None else each.label
            yield name, count(round(each.measured)), Text(count(each.drawn), tone)
    if others := [each for each in marginal.labels if each not in largest]:
        measured, drawn = sum(each.measured for each in others), sum(each.drawn for each in others)
        yield f"{len(others):,} others", count(round(measured)), count(drawn)
