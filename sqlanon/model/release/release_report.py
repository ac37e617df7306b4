"""The report of a release: what an officer asks of it, from counts that were made for it, as JSON and as a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from pydantic import Field, PrivateAttr

from sqlanon.model.policy.policy_parts import ReleaseTerms
from sqlanon.model.release.findings import Findings
from sqlanon.model.release.joint import OtherRelease
from sqlanon.model.release.measurement import Exposure, PartialResult, Verification
from sqlanon.model.release.pictures import Alternatives, ClassSizes, MeasuredMarginal
from sqlanon.model.release.reported_columns import ExampleRow, ReportedColumn
from sqlanon.model.release.reports import Guarantee, PrivateGuarantee, Spent
from sqlanon.model.release.sections import parts_of
from sqlanon.report import html
from sqlanon.report.document import Document, Part

Edition: TypeAlias = Literal["custodian", "public"]
"""Who may read a report: whoever may see the source, or whoever may see the release."""


class ReleaseReport(PartialResult):
    """What became of a table: what is promised, what was measured, who is left out, and how to check it.

    Attributes:
        format: the number of the schema.
        edition: who may read it.
        release, source: in words.
        method: by which it was made.
        about_rows: what is to be known of its rows, where they are not those of the source.
        version: of the package.
        k: the rows that every class has at least, by the policy; None of a private release.
        source_rows, released_rows, left_out_rows: rows; None where that is not recorded.
        before, after: how exposed the rows of the source are, and those of the release.
        individuals: the fewest individuals of a class as they were counted for the release; None if rows were.
        quality, loss: the measure of loss that was minimized, and its value.
        search: how what is published was found, in a sentence.
        promise: what the release promises.
        verification: what was measured on it now.
        columns: its columns.
        sizes: the rows by the size of their class.
        alternatives: what else could have been published; None if that was not looked at.
        other_releases: what it shows together with others of its source: the latest on the list of the warehouse that
            are still there, and that the policy does not name.
        uncompared_releases: how many targets of older ones are on the list.
        stamp: a warning that the release is not private.
        date: the day of the report, in UTC.
        terms: to whom the release goes, what for, and who approves it, as its policy says.
        drops_rest: whether the policy drops columns that it does not name.
        notes: what the run noted, and what is to be known of columns that are nearly unique.
        findings: what the policy leaves open; without the source, what the released rows show by themselves.
        spent, thresholds: of a private release, the budget of each step, and the least noisy count that it shows.
        marginals: of rows that were drawn from marginals, what was measured.
        facts: what the method adds, by what it is.
        policy: the policy, as JSON.
        check: commands that check it again.
    """

    format: Literal[1] = 1
    edition: Edition
    release: str
    source: str | None = None
    method: str
    about_rows: str = ""
    version: str
    date: str = ""
    terms: ReleaseTerms | None = None
    k: int | None = None
    source_rows: int | None = None
    released_rows: int
    left_out_rows: int | None = None
    before: Exposure | None = None
    after: Exposure | None = None
    individuals: int | None = None
    quality: str | None = None
    loss: float | None = None
    search: str | None = None
    promise: PrivateGuarantee | Guarantee | None = None
    verification: Verification
    columns: tuple[ReportedColumn, ...] = ()
    drops_rest: bool = False
    notes: tuple[str, ...] = ()
    findings: Findings | None = None
    sizes: tuple[ClassSizes, ...] = ()
    alternatives: Alternatives | None = None
    other_releases: tuple[OtherRelease, ...] = ()
    uncompared_releases: int = 0
    stamp: str | None = None
    spent: tuple[Spent, ...] = ()
    thresholds: dict[str, int] = Field(default_factory=dict)
    marginals: tuple[MeasuredMarginal, ...] = ()
    facts: dict[str, Any] = Field(default_factory=dict)
    policy: str = ""
    check: tuple[str, ...] = Field(default=())
    _examples: tuple[ExampleRow, ...] | None = PrivateAttr(default=None)

    @property
    def heading(self) -> str:
        return self.release

    def parts(self) -> Iterator[Part]:
        return parts_of(self)

    def to_html(self) -> str:
        """Render the report as a page that needs no other file.

        Beside the source it has a few rows of that, which stand nowhere else: neither in JSON nor on a console.
        """
        return html.page(Document(self.heading, tuple(parts_of(self, self._examples))))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]
