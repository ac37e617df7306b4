"""The report of a release of linked tables for whoever approves it: from the release and its record."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.model.policy.policy_parts import ReleaseTerms
from sqlanon.model.release.linked import LinkedVerification
from sqlanon.model.release.linked_report import LinkedRowCounts
from sqlanon.model.release.measurement import PartialResult
from sqlanon.model.release.reports import Guarantee
from sqlanon.report.document import Part, Section, Table, count, facts, notes


class LinkedReleaseReport(PartialResult):
    """What a release of linked tables promises, what it shows of persons, and what is left out.

    Attributes:
        release: in words.
        date: the day of the report.
        version: of the package that wrote the release.
        models: the models of privacy, in words.
        terms: who may use the release, from the policy.
        tables: counts of rows by table.
        node: the level of each quasi-identifier, such as ``"visits.day"``; empty where rows have several.
        promise: the guarantee.
        verification: the release as it is now, against its policy and its record.
    """

    release: str
    date: str
    version: str
    models: tuple[str, ...]
    terms: ReleaseTerms | None = None
    tables: dict[str, LinkedRowCounts]
    node: dict[str, int]
    promise: Guarantee
    verification: LinkedVerification

    @property
    def heading(self) -> str:
        return f"Report on {self.release}"

    def parts(self) -> Iterator[Part]:
        terms = {} if self.terms is None else self.terms.model_dump(mode="json", exclude_none=True)
        met = "yes" if self.verification.met else "no"
        yield facts(
            [("date", self.date), ("models", ", ".join(self.models)), ("meets its policy", met), *terms.items()]
        )
        yield Section(
            "What is promised", (*notes("Promised", self.promise.claims), *notes("As long as", self.promise.conditions))
        )
        if self.verification.measurement is not None:
            yield Section("What somebody may know", (self.verification.measurement.knowledge(),))
        yield Section("What is not promised", notes("", self.promise.not_covered))
        yield Section("Tables", (self._rows(), self._levels()))
        found = (*notes("Falls short", self.verification.shortfalls), *notes("Notes", self.verification.notes))
        yield Section("Verification", (*found, *notes("Not covered", self.verification.not_covered)))

    def _rows(self) -> Table:
        headings = ("table", "source", "left out before", "of persons left out", "hidden", "released")
        rows = [
            (name, *map(count, (each.source, each.orphans + each.cut, each.suppressed, each.hidden, each.released)))
            for name, each in self.tables.items()
        ]
        return Table(headings, rows, numbers=(1, 2, 3, 4, 5))

    def _levels(self) -> Table:
        return Table(("quasi-identifier", "level"), [(name, str(level)) for name, level in self.node.items()], (1,))
