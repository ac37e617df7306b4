"""The risk of a release in its population, beside that of its source."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.model.release.measurement import PartialResult
from sqlanon.model.release.sample_risk import SampleRisk
from sqlanon.report.document import Part, Section, Table, at_least, count, estimate, figure, notes, percent

REMARK = (
    "Rows of a sample stand for people whom it does not have. Before: the quasi-identifiers as they are in the source. "
    "After: their labels in the release. The rows and keys that single out are those of the source."
)


class PopulationRisk(PartialResult):
    """The risk in the population before and after a release.

    Attributes:
        before: of the source with its quasi-identifiers as they are; None without a source.
        after: of the released rows with their labels; None if their weights are not known.
        notes: what is missing, and why.
    """

    before: SampleRisk | None = None
    after: SampleRisk | None = None
    notes: tuple[str, ...] = ()


def population_section(found: PopulationRisk | None, k: int | None) -> Iterator[Section]:
    """Show both brackets, unique people, and the keys to recode first; nothing without weights or a population."""
    if found is None:
        return
    before, after = found.before, found.after
    parts: list[Part] = []
    if (shown := after or before) is not None:
        parts += shown.promise()
        names = ("", *(name for name, each in (("before", before), ("after", after)) if each is not None))
        columns = [[*_figures(each, k)] for each in (before, after) if each is not None]
        rows = [(cells[0][0], *(value for _, value in cells)) for cells in zip(*columns, strict=True)]
        parts.append(Table(names, rows, numbers=range(1, len(names))))
    if before is not None and before.special is not None:
        parts += before.special.parts(k)
    parts += notes("Notes", (*found.notes, *_notes(before, after)))
    # Recipients can do nothing about what is missing.
    yield Section("Risk in the population", tuple(parts), REMARK, "custodian" if shown is None else "recipient")


def _notes(before: SampleRisk | None, after: SampleRisk | None) -> Iterator[str]:
    tables: dict[str, list[str]] = {}
    for when, risk in (("before", before), ("after", after)):
        for note in () if risk is None else risk.notes:
            tables.setdefault(note, []).append(when)
    yield from (f"{' and '.join(when)}: {note}" for note, when in tables.items())


def _figures(risk: SampleRisk, k: int | None) -> Iterator[tuple[str, str]]:
    yield "rows", count(risk.row_count)
    yield "people that they stand for", figure(risk.population_size)
    yield "rows that are found, lower estimate", estimate(risk.expected_low)
    yield "rows that are found, higher estimate", estimate(risk.expected_high)
    yield "share of rows, higher estimate", percent(risk.high_share)
    yield "rows alone in their class", at_least(risk.unique_rows, k)
    yield "of them alone in the population", f"{estimate(risk.uniques_low)} to {estimate(risk.uniques_high)}"
    estimators = {"by Pitman": "pitman", "by Zayatz": "zayatz", "by SNB": "snb", "by the rule of Dankar": "estimate"}
    for words, name in estimators.items():
        yield f"unique people of the population, {words}", estimate(getattr(risk.uniques, name, None))
