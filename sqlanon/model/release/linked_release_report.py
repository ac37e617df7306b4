"""The report of a release of linked tables for whoever approves it: from the release and its record."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.model.policy.policy_parts import ReleaseTerms
from sqlanon.model.release.linked import LinkedVerification
from sqlanon.model.release.linked_report import LinkedReport
from sqlanon.model.release.measurement import PartialResult
from sqlanon.model.release.reports import Guarantee
from sqlanon.report.document import Part, Section, facts, notes


class LinkedReleaseReport(PartialResult):
    """What a release of linked tables promises, what it shows of persons, and what is left out.

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
