"""The utility of a release: what offices report about its numbers and tables, beside those of its source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlanon.model.release.measurement import Result
from sqlanon.report.document import Part, Section, Table, count, facts, figure, notes, paragraph, percent

FOR_WHOM = (
    "For the custodian: these figures describe the source as well as the release, and no guarantee covers them. Rows "
    "that are close to the source, or nearest to their own, may be recognized."
)

Row = dict[str, Any]


class Utility(Result):
    """What a release keeps of its source.

    Attributes:
        source, release: the tables in words.
        before_rows, after_rows: their rows.
        key, weight: the columns by which rows are joined, and weighted; None if none was named.
        statistics: of the numbers, as ``anon.moment_changes`` has them, with sds in place of variances, whose
            standard errors they keep; and quantiles.
        tables: rows of ``anon.table_changes`` for the tables of one to three ``columns`` of few values.
        losses: rows of ``anon.numeric_loss``, by column, and last in all; empty without a key.
        nearest_share: of up to 1,000 rows, those whose nearest released row is their own; None without a key.
        eigenvalue_distance: the mean absolute difference of the eigenvalues of the correlations; None without any.
        inverse_distance: √½ times the distance of the diagonals of both inverse correlation matrices, at length 1
            (``IL_correl`` of sdcMicro); None if a matrix has no inverse.
        pmse: the propensity score: how well a logistic regression separates released rows from those of the source, the
            mean of (chance - share)²; None if columns or rows do not suffice.
        pmse_expected: its expectation if the release is another sample of the same population (Snoke et al. 2018).
        formula: that of the regression; None if none was given.
        coefficients: rows with values and standard errors in both tables, None if one cannot estimate it, and the
            ``overlap`` of 95 % intervals (Karr et al. 2006), below 0 if they are apart, None for exact fits.
        overlap: the mean of the overlaps.
        notes: what was left out, and why.
    """

    source: str
    release: str
    before_rows: int
    after_rows: int
    key: str | None = None
    weight: str | None = None
    statistics: tuple[Row, ...] = ()
    tables: tuple[Row, ...] = ()
    losses: tuple[Row, ...] = ()
    nearest_share: float | None = None
    eigenvalue_distance: float | None = None
    inverse_distance: float | None = None
    pmse: float | None = None
    pmse_expected: float | None = None
    formula: str | None = None
    coefficients: tuple[Row, ...] = ()
    overlap: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        return f"Utility of {self.release} beside {self.source}"

    def parts(self) -> Iterator[Part]:
        yield paragraph(FOR_WHOM)
        yield facts(
            [
                ("rows before", count(self.before_rows)),
                ("rows after", count(self.after_rows)),
                ("propensity score", figure(self.pmse)),
                ("its expectation if nothing is lost", figure(self.pmse_expected)),
                ("mean difference of eigenvalues", figure(self.eigenvalue_distance)),
                ("distance of inverse correlations", figure(self.inverse_distance)),
                *([("rows nearest to their own", percent(self.nearest_share))] if self.losses else []),
                *([("mean overlap of intervals", figure(self.overlap))] if self.formula else []),
            ]
        )
        titles = {"statistics": "Numbers", "tables": "Tables", "losses": "Row by row"}
        for name, title in (titles | {"coefficients": f"Regression {self.formula}"}).items():
            if rows := getattr(self, name):
                headings = tuple(heading.replace("_", " ") for heading in rows[0])
                numbers = [place for place, value in enumerate(rows[0].values()) if not isinstance(value, str | list)]
                yield Table(headings, [[*map(_cell, row.values())] for row in rows], numbers=numbers, title=title)
        yield from notes("Notes", self.notes)


def utility_section(utility: Utility | None) -> Iterator[Section]:
    """Show what a release keeps of changed columns, if it has any."""
    if utility is not None:
        yield Section("What changed columns keep", tuple(utility.parts()))


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return " × ".join(value)
    return value if isinstance(value, str) else count(value) if isinstance(value, int) else figure(value)
