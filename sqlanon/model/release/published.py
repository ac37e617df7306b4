"""A published table, with its guarantee and the numbers of its run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from pydantic import Field, PrivateAttr, SerializeAsAny

from sqlanon.errors import EngineError, SqlanonError
from sqlanon.model.release.measurement import Exposure, PartialResult, Result
from sqlanon.model.release.perturbed import perturbed_columns
from sqlanon.model.release.pictures import ClassSizes, size_bars
from sqlanon.model.release.reports import Guarantee, Report
from sqlanon.report.document import (
    Document,
    Figure,
    Figures,
    Part,
    Table,
    Text,
    notes,
    paragraph,
    short_percent,
    strong,
)
from sqlanon.report.html import in_notebook

SHOWN_ROWS = 10

MAX_READ_ROWS = 1_000  # to find examples of labels in
MAX_SHOWN_LABELS = 3  # examples of labels per column
NOTHING_LOST = {"prec", "entropy", "lm", "ncp"}  # losses that are 0 for an unchanged table


class Published(PartialResult):
    """A table or file that a session has written, and can read while it is open.

    The rows are read on demand; they don't belong to the value.
    """

    into: str
    _rows: Callable[..., Any] | None = PrivateAttr(default=None)

    def to_arrow(self) -> Any:
        """Return the published rows as a pyarrow Table.

        Raises:
            EngineError: the session is closed, or the rows no longer exist.
        """
        return self._read("to_arrow_table")

    def df(self) -> Any:
        """Return the published rows as a pandas DataFrame.

        Raises:
            EngineError: as :meth:`to_arrow`, or pandas is not installed.
        """
        return self._read("df")

    def pl(self) -> Any:
        """Return the published rows as a polars DataFrame.

        Raises:
            EngineError: as :meth:`to_arrow`, or polars is not installed.
        """
        return self._read("pl")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def _first_rows(self) -> list[dict[str, Any]]:
        try:
            return [] if self._rows is None else self._rows("to_arrow_table", MAX_READ_ROWS).to_pylist()
        except SqlanonError:
            return []

    def _read(self, form: str) -> Any:
        if self._rows is None:
            raise EngineError(
                f"this is the report of {self.into}, without the session that published it: read it by its name",
                step="rows",
            )
        return self._rows(form)


class Release(Published):
    """A published table.

    Attributes:
        into: the table or file.
        node: the level of each quasi-identifier, e.g. ``{"age": 1, "sex": 0, "zip": 3}``; empty for a cut.
        guarantee: the guarantee.
        report: the numbers of the run that wrote it.
        unchanged: whether it already existed, made from the same files by the same policy, so that nothing was done.
        tables: companion tables, by kind.
    """

    node: dict[str, int] = Field(default_factory=dict)
    guarantee: SerializeAsAny[Guarantee]
    report: SerializeAsAny[Report]
    unchanged: bool = False
    tables: dict[str, str] = Field(default_factory=dict)
    _report: Callable[[], Result] | None = PrivateAttr(default=None)
    _sizes: Callable[[], Sequence[ClassSizes]] | None = PrivateAttr(default=None)

    def to_html(self) -> str:
        """Render the report of :meth:`Session.report` with the source, as a self-contained page.

        If the session is closed or the source is gone, the page has the content of the console. Either is for the
        custodian.
        """
        try:
            return super().to_html() if self._report is None else self._report().to_html()
        except SqlanonError:
            return super().to_html()

    @property
    def heading(self) -> str:
        return f"Release {self.into}"

    def parts(self) -> Iterator[Part]:
        report = self.report
        if stamp := getattr(report, "stamp", None):
            yield paragraph(Text(stamp, "bad"))
        yield paragraph(strong("Published "), strong(self.into), f": {report.rows_in_words}")
        if report.rows is not None:
            yield Figures(_figures(report))
        yield from report.summary()
        yield from perturbed_columns(report.perturbed)
        yield from self.guarantee.parts()
        yield from notes("Notes", report.notes)
        if report.findings is not None:
            yield from report.findings.parts()

    def __repr__(self) -> str:
        if self.report.rows is None:
            return super().__repr__()
        figures = [f"  {each.name}: {each.before} -> {each.after}" for each in _figures(self.report)]
        levels = [f'  "{name}": {words}' for name, words in self.report.generalization.items()]
        return "\n".join([self._sentence(), *figures, *levels])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """Show a sentence, six figures, the labels and some rows; of a private release everything that is known."""
        report = self.report
        if report.rows is None:
            return super()._repr_html_()
        rows = self._first_rows()
        labels = [(name, words, _examples(name, rows)) for name, words in report.generalization.items()]
        parts: list[Part] = [paragraph(self._sentence()), Figures(_figures(report))]
        if labels:
            parts.append(Table(("quasi-identifier", "generalized to", "such as"), labels))
        with suppress(SqlanonError):  # the rows no longer exist
            if sizes := () if self._sizes is None else self._sizes():
                parts.append(size_bars(sizes, None))
        if rows:
            parts.append(Table(tuple(rows[0]), [[*map(_cell, row.values())] for row in rows[:SHOWN_ROWS]]))
        return in_notebook(Document("", tuple(parts)))

    def _sentence(self) -> str:
        report, models = self.report, "; ".join(dict.fromkeys(result.model for result in self.report.models))
        return f"Published {self.into} from {report.source}: {report.rows_in_words} Verified: {models}."


def _figures(report: Report) -> tuple[Figure, ...]:
    """Show the measures of the source and of the release; a dash for missing ones."""
    rows = report.rows
    assert rows is not None

    def of_both(name: str, words: Callable[[Exposure], str]) -> Figure:
        before, after = ("-" if each is None else words(each) for each in (report.before, report.after))
        return Figure(name, before, after)

    highest, left_out = "highest risk of re-identification", rows.dropped + rows.unknown
    if report.individuals:  # they may have many rows in a class
        risks = [
            Figure("individuals in the smallest class", "-", f"{report.individuals:,}"),
            Figure(highest, "-", short_percent(1 / report.individuals)),
        ]
    else:
        risks = [
            of_both(highest, lambda each: short_percent(each.highest_risk)),
            of_both("average risk of re-identification", lambda each: short_percent(each.average_risk)),
        ]
    return (
        of_both("rows in the smallest class (k)", lambda each: f"{each.k:,}"),
        of_both("rows alone in their class", lambda each: f"{each.unique_rows:,}"),
        *risks,
        Figure("rows left out", "0", f"{left_out:,} ({short_percent(left_out / rows.source)})"),
        Figure(f"detail lost ({report.quality})", "0" if report.quality in NOTHING_LOST else "-", f"{report.loss:.3g}"),
    )


def _examples(name: str, rows: Iterable[Mapping[str, Any]]) -> str:
    found = list(dict.fromkeys(_cell(row[name]) for row in rows if name in row))
    return ", ".join([*found[:MAX_SHOWN_LABELS], *(["..."] if len(found) > MAX_SHOWN_LABELS else [])])


def _cell(value: Any) -> str:
    return "NULL" if value is None else str(value)
