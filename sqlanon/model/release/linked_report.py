"""The numbers of a run over linked tables, the release itself, and the report for whoever approves it."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from sqlanon.model.names import enumerated
from sqlanon.model.policy.policy_parts import ReleaseTerms
from sqlanon.model.release.linked import LinkedMeasurement, LinkedVerification
from sqlanon.model.release.measurement import PartialResult, Result, models_table
from sqlanon.model.release.published import Release
from sqlanon.model.release.reports import CUSTODIAN_FIELDS as OF_ONE_TABLE
from sqlanon.model.release.reports import Guarantee, Report, levels_table
from sqlanon.report.document import (
    Part,
    Section,
    Table,
    count,
    facts,
    notes,
    paragraph,
    percent,
    short_percent,
)


class LinkedRowCounts(Result):
    """What became of the rows of a table.

    Attributes:
        source: rows read.
        orphans: rows that belong to nobody, left out.
        cut: rows above the cap of the policy, left out.
        suppressed: rows of persons who are not released; in the table of persons these persons.
        hidden: rows of released persons that are left out by class.
        released: rows of the release.
    """

    source: int
    orphans: int = 0
    cut: int = 0
    suppressed: int = 0
    hidden: int = 0
    released: int


class HiddenLabel(Result):
    """A label of a column, and how many of the rows with it that released persons have are left out."""

    label: str | None
    hidden_rows: int
    row_count: int


class SingledOut(Result):
    """Persons, and those of them whom something singles out."""

    persons: int
    unique_persons: int


CUSTODIAN_FIELDS = OF_ONE_TABLE | {"hidden", "intervals", "persons_without_rows"}
"""The fields of a report that don't travel with a release: those of one table, and facts about its sources."""


class LinkedReport(Report):
    """The numbers of a run over linked tables, without any cell value.

    Attributes:
        tables: counts of rows by table.
        persons_without_rows: source persons with no row in any other table.
        rungs: by table, the levels of its quasi-identifiers, finest first, where rows are shown at several levels.
        limits: by table, the share of its rows that may be left out.
        measured: what the written tables show of persons.
        hidden: by column, the labels that released persons lost most often, only for the custodian.
        intervals: by column of dates, the persons of the source with three rows or more, and those who are alone by the
            days between them, only for the custodian.

    The other fields are those of :class:`Report`: columns are named ``"visits.day"``, ``losses`` are those of tables
    before their weights.
    """

    tables: dict[str, LinkedRowCounts]
    persons_without_rows: int | None = None
    rungs: dict[str, tuple[dict[str, int], ...]] = Field(default_factory=dict)
    limits: dict[str, float]
    measured: LinkedMeasurement
    hidden: dict[str, tuple[HiddenLabel, ...]] = Field(default_factory=dict)
    intervals: dict[str, SingledOut] = Field(default_factory=dict)

    def parts(self) -> Iterator[Part]:
        yield paragraph(self.search_in_words)
        yield models_table(self.models)
        yield Section("Tables", (*self._tables(),))
        yield Section("What somebody may know", (self.measured.knowledge(is_promised=True),), KNOWLEDGE)
        if self.hidden:
            yield Section("What was hidden", (self._hidden(),), FEW_PERSONS.format(self.measured.k), "custodian")
        yield Section("Levels and losses", (*self._levels(),))
        yield from notes("Decide yourself", self.warnings)
        yield from notes("Notes", self.notes)

    def _tables(self) -> Iterator[Part]:
        rows = [
            (name, *(count(number) for _, number in counts), short_percent(self.limits[name]))
            for name, counts in self.tables.items()
        ]
        yield Table(TABLE_HEADINGS, rows, numbers=range(1, len(TABLE_HEADINGS)))
        if self.persons_without_rows is not None:
            yield facts([("persons of the source without rows", count(self.persons_without_rows))])

    def _hidden(self) -> Table:
        rows = [
            (column, "–" if each.label is None else each.label, count(each.hidden_rows), count(each.row_count))
            for column, labels in self.hidden.items()
            for each in labels
        ]
        return Table(("column", "label", "rows left out", "of"), rows, numbers=(2, 3))

    def _levels(self) -> Iterator[Part]:
        yield levels_table({name: enumerated(levels) for name, levels in self.levels.items()}, self.heights)
        losses = [(name, percent(loss)) for name, loss in self.losses.items()]
        yield Table(("table", "of its detail is lost"), losses, numbers=(1,))

    @property
    def levels(self) -> dict[str, tuple[int, ...]]:
        """The levels of each quasi-identifier: several where rows are shown at several."""
        rungs = [rung for of_table in self.rungs.values() for rung in of_table]
        return {
            name: tuple(sorted({rung[name] for rung in rungs if name in rung} or {level}))
            for name, level in self.node.items()
        }

    @property
    def warnings(self) -> Iterator[str]:
        """What the promise leaves open, by what was measured."""
        for column, found in self.intervals.items():
            yield (
                f'"{column}": of {count(found.persons)} persons with three rows or more '
                f"{percent(found.unique_persons / found.persons)} are alone by the days between them; shifting all "
                "dates of a person would protect nobody, and labels finer than these days single persons out"
            )
        counts = self.measured.counts
        if self.measured.known_rows is not None and counts is not None and counts.unique_persons:
            yield f"the number of rows is not protected: {count(counts.unique_persons)} persons are alone by it"


TABLE_HEADINGS = (
    "table",
    "source",
    "belong to nobody",
    "above the cap",
    "left out with their person",
    "hidden",
    "released",
    "may be left out",
)
KNOWLEDGE = "How many released persons fit, at least, what somebody knows of one of them."
FEW_PERSONS = "The labels that released persons lost most often; those of fewer than {} persons are not shown."


class LinkedRelease(Release):
    """Published tables that belong together.

    Attributes:
        into: the folder or the schema.
        tables: the file or table of each table of the policy.
        node: the level of each quasi-identifier, e.g. ``{"patients.born": 1, "visits.day": 2}``.
        guarantee, report: as of :class:`Release`.
    """

    report: LinkedReport

    def parts(self) -> Iterator[Part]:
        yield from self.report.parts()
        yield from self.guarantee.parts()


class LinkedReleaseReport(PartialResult):
    """What a release of linked tables promises, what it shows of persons, and what is left out: for who approves it.

    Attributes:
        release: in words.
        date: the day of the report.
        version: of the package that wrote the release.
        terms: who may use the release, from the policy.
        promise: the guarantee.
        report: the numbers of the run, as they travel with the release.
        verification: the release as it is now, against its policy and its record.
    """

    release: str
    date: str
    version: str
    terms: ReleaseTerms | None = None
    promise: Guarantee
    report: LinkedReport
    verification: LinkedVerification

    @property
    def heading(self) -> str:
        return f"Report on {self.release}"

    def parts(self) -> Iterator[Part]:
        terms = {} if self.terms is None else self.terms.model_dump(mode="json", exclude_none=True)
        met = "yes" if self.verification.met else "no"
        yield facts([("date of this report", self.date), ("as it was released, and as promised", met), *terms.items()])
        promised = (*notes("", self.promise.claims), *notes("As long as", self.promise.conditions))
        yield Section("What is promised", promised)
        yield from self.report.parts()
        yield Section("What is not promised", notes("", self.promise.not_covered))
        yield Section("Verification", (*self.verification.sentences(),))
