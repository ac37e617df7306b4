"""Results, as JSON or documents; and the measured exposure of a table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

from sqlanon.model.criteria import Bound
from sqlanon.report import html
from sqlanon.report.document import Document, Part, Table, Text, count, facts, figure, notes, paragraph, percent


class Result(BaseModel):
    """A frozen value to print as JSON, or to show on a console, in a notebook and as a page of HTML.

    Every medium renders its document, a heading with parts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @property
    def heading(self) -> str:
        """The title of its document."""
        return type(self).__name__

    def parts(self) -> Iterator[Part]:
        """Show its fields, by default as a table."""
        titles = {name: field.title or name.replace("_", " ") for name, field in type(self).model_fields.items()}
        yield facts((titles[name], value) for name, value in self.model_dump(mode="json").items())

    def document(self) -> Document:
        """Return the document that all media show."""
        return Document(self.heading, tuple(self.parts()))

    def to_html(self) -> str:
        """Render the result as a self-contained page of HTML.

        It is for the custodian: the page of a release has findings, which reveal facts about suppressed rows.
        """
        return html.page(self.document())

    def _repr_html_(self) -> str:
        return html.in_notebook(self.document())


class PartialResult(Result):
    """A result whose JSON omits fields that are None or empty and were not given."""

    @model_serializer(mode="wrap")
    def _leave_out(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        given = self.model_fields_set
        return {
            name: value for name, value in handler(self).items() if name in given or value not in (None, {}, [], ())
        }


Reported = TypeVar("Reported", bound=Result)


def with_notes(report: Reported, notes: Sequence[str]) -> Reported:
    return report.model_copy(update={"notes": (*getattr(report, "notes"), *notes)}) if notes else report  # noqa: B009


VERDICTS = {True: Text("yes", "good"), False: Text("no", "bad"), None: Text("no verdict", "doubtful")}
"""Verdicts on a model."""


class ModelResult(Result):
    """A bound of a privacy model, with the required and the attained value.

    ``comparison`` relates a passing ``attained`` to ``required``; ``attained`` is None for a table without rows.
    ``met`` is None without a verdict: the model compares a release with its source, which was not given.
    """

    model: str
    measure: str
    column: str | None
    comparison: str
    required: float
    attained: float | None
    met: bool | None

    @classmethod
    def of(cls, model: object, bound: Bound, attained: float | None, *, met: bool | None) -> ModelResult:
        """Return the result of a bound of a model."""
        return cls(
            model=str(model),
            measure=bound.measure.name,
            column=bound.measure.column,
            comparison=bound.comparison,
            required=float(bound.required),
            attained=attained,
            met=met,
        )


def unmet(models: Iterable[ModelResult]) -> Iterator[str]:
    """Yield a sentence on each model that falls short."""
    for result in models:
        if result.met is False and result.attained is not None:
            yield f"{result.model}: attained {result.attained:g}"


def models_table(models: Iterable[ModelResult]) -> Table:
    results = [*models]
    bounds = Counter(result.model for result in results)
    rows = [
        (
            result.model if bounds[result.model] == 1 else f"{result.model}: {result.measure.replace('_', ' ')}",
            "no estimate" if result.attained == math.inf else figure(result.attained),
            VERDICTS[result.met],
        )
        for result in results
    ]
    return Table(("privacy model", "attained", "met"), rows, numbers=(1,))


class Exposure(Result):
    """The exposure of the rows of a table: rows, classes, rows of the smallest class, and unique rows."""

    row_count: int
    class_count: int
    k: int
    unique_rows: int

    @property
    def highest_risk(self) -> float:
        return 1 / self.k

    @property
    def average_risk(self) -> float:
        """The mean over rows of 1 / class size."""
        return self.class_count / self.row_count


class Measurement(Result):
    """Measures of a table as it is.

    Attributes:
        source: the table in words.
        row_count, class_count: rows, and equivalence classes over the quasi-identifiers.
        k: rows of the smallest class; None for a table without rows.
        models: every privacy model of the policy against the table.
        highest_prosecutor_risk: 1 / k.
        average_prosecutor_risk: the mean over rows of 1 / class size, also the marketer risk of an attacker who only
            has the table.
        unique_rows, unique_share: rows that are alone in their class, and their share.
            A private release, whose rows belong to nobody, has neither these nor k nor risks.
        notes: measures that the policy requires and that were impossible.
    """

    source: str
    row_count: int
    class_count: int
    k: int | None = None
    models: tuple[ModelResult, ...] = ()
    highest_prosecutor_risk: float | None = None
    average_prosecutor_risk: float | None = None
    unique_rows: int | None = None
    unique_share: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def exposure(self) -> Exposure | None:
        """The exposure of its rows; None without rows, and for a private release."""
        if not self.k or self.unique_rows is None:
            return None
        return Exposure(row_count=self.row_count, class_count=self.class_count, k=self.k, unique_rows=self.unique_rows)

    @property
    def figures(self) -> list[tuple[str, str]]:
        """The measures in words, with their values."""
        return [
            ("rows", count(self.row_count)),
            ("equivalence classes", count(self.class_count)),
            ("rows in the smallest class (k)", count(self.k)),
            ("rows alone in their class", f"{count(self.unique_rows)} ({percent(self.unique_share)})"),
            ("highest risk of re-identification", percent(self.highest_prosecutor_risk)),
            ("average risk of re-identification", percent(self.average_prosecutor_risk)),
        ]

    @property
    def heading(self) -> str:
        return f"Measures of {self.source}"

    def parts(self) -> Iterator[Part]:
        yield from self.tables
        yield from notes("Notes", self.notes)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The measures, and the privacy models against them."""
        return facts(self.figures, self.source), models_table(self.models)

    @property
    def met(self) -> bool:
        """Whether the table meets every privacy model, as far as there is a verdict."""
        return self.row_count > 0 and all(result.met is not False for result in self.models)

    @property
    def shortfalls(self) -> tuple[str, ...]:
        """A sentence for each requirement that the table does not meet."""
        return (*unmet(self.models), *(() if self.row_count else ("it has no rows",)))


NOT_SIGNED = (
    "who wrote the provenance: it is not signed, so that whoever can change the release can change its hashes as well; "
    "a hash of the record that is handed over another way proves it (record_sha256, --record-sha256)",
)


class Verdict(Result):
    """The verdict on a release of one table, or of several: its measurement, and its shortfalls against its policy.

    Attributes:
        source: the release in words.
        measurement: the measurement; of several tables None if some are missing.
        shortfalls: a sentence per requirement that is not met; empty if all are.
        notes: comparisons with the provenance or the policy that were impossible.
        not_covered: limits of the verification.
        record_sha256: the hash of the record of the release, to hand over separately; None without a record, or with
            several.
    """

    source: str
    measurement: Any
    shortfalls: tuple[str, ...]
    notes: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()
    record_sha256: str | None = None

    @property
    def heading(self) -> str:
        return f"Verification of {self.source}"

    def parts(self) -> Iterator[Part]:
        if self.measurement is not None:
            yield from self.measurement.tables
        yield from self.sentences()

    def sentences(self) -> Iterator[Part]:
        """Show all but the measurement."""
        yield from notes("Falls short", self.shortfalls)
        yield from notes("Notes", self.all_notes)
        yield from notes("Not covered", self.not_covered)
        if self.record_sha256 is not None:
            yield paragraph(f"Record: sha256 {self.record_sha256}")

    def with_record(self, expected: str | None) -> Self:
        """Compare the hash of the record with the one that was handed over, if it was."""
        if expected is None:
            return self.model_copy(update={"not_covered": (*self.not_covered, *NOT_SIGNED)})
        if self.record_sha256 == expected.strip().lower():
            return self
        return self.model_copy(update={"shortfalls": (*self.shortfalls, "its record does not have the given hash")})

    def without(self, note: str) -> Self:
        """Return the verdict without a note."""
        return self.model_copy(update={"notes": tuple(each for each in self.notes if each != note)})

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes, and those of the measurement."""
        return self.notes

    @property
    def met(self) -> bool:
        """Whether the release meets its policy."""
        return not self.shortfalls


class Verification(Verdict):
    """The measurement of a release, and its shortfalls against its policy."""

    measurement: Measurement

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes of the measurement, and those of the verification."""
        return (*self.measurement.notes, *self.notes)


class RowCounts(Result):
    """The rows of the source by their treatment."""

    source: int  # all rows
    released: int  # published, including masked ones
    masked: int  # published with ``*`` in all quasi-identifiers
    dropped: int  # in no class that meets the policy
    unknown: int = 0  # left out for a value that a taxonomy lacks
