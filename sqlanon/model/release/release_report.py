"""The report of a release for a data protection officer, as JSON and as a page.

Each section is a function here, listed in :func:`parts_of`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

from pydantic import Field, PrivateAttr

from sqlanon.model.names import enumerated
from sqlanon.model.policy.policy_parts import ReleaseTerms
from sqlanon.model.release.findings import Findings
from sqlanon.model.release.joint import OtherRelease, sentences_on
from sqlanon.model.release.measurement import Exposure, PartialResult, Verification, models_table
from sqlanon.model.release.pictures import (
    Alternatives,
    ClassSizes,
    MeasuredMarginal,
    alternatives_section,
    marginals_section,
    sizes_section,
)
from sqlanon.model.release.population_risk import PopulationRisk, population_section
from sqlanon.model.release.reported_columns import (
    ExampleRow,
    ReportedColumn,
    before_and_after,
    every_column,
    left_out,
    what_became,
)
from sqlanon.model.release.reports import Guarantee, PrivateGuarantee, Spent, spent_table
from sqlanon.model.release.utility import Utility, utility_section
from sqlanon.report import html
from sqlanon.report.document import (
    Code,
    Document,
    Figure,
    Figures,
    Part,
    Section,
    SideBySide,
    Table,
    Text,
    Tone,
    at_least,
    count,
    facts,
    figure,
    notes,
    paragraph,
    short_percent,
    strong,
)

SHARES = {"lm", "geometric_lm", "ncp", "rce", "prec", "charged_prec", "classification_metric"}
"""The losses that are shares of what can be lost."""

Edition: TypeAlias = Literal["custodian", "public"]
"""The readers of a report: people who may see the source, or people who may see the release."""

FOR_CUSTODIANS = (
    "For those who may see the source: it compares the release with that. The edition for others is --public."
)

LINE = "_" * 40  # for a signature

GLOSSARY = {
    "before, after": "the source, from which the release was made; and the release",
    "class": "the rows that look alike: with the same labels in all generalized columns",
    "k": "the least number of rows of a class: a row cannot be distinguished from k - 1 others",
    "quasi-identifier": "a column that others may know of a person, such as age or place; it is generalized",
    "generalized": "shown as a label that stands for several values: 30 to 39 in place of 34",
    "level": "how general a label is: level 0 is the value itself, the top level stands for everything",
    "sensitive": "what nobody should learn of one person, such as a diagnosis; it is released as it is",
    "left out": "rows that too few others look like: they are not in the release",
    "masked": "rows that too few others look like: they stand in the release without labels",
    "pseudonym": "a code in place of a value, which the same value always has; whoever has the key can link it",
    "risk": "the chance that a row of a known person is picked out of those that look alike",
    "detail lost": "how many other values a label covers: 0 % as in the source, 100 % nothing is said",
    "privacy model": "a condition that every class meets, and that was measured on the released rows",
    "nearly unique": "a value that few rows have: whoever knows it of a person finds the row",
    "record": "what was promised and measured, and hashes of the rows; it travels with the release",
    "sha256, hash": "a fingerprint: it changes with any change of the release or of its record",
    "–": "not known, or not shown: numbers that would give away fewer rows than k stand for few persons",
}

PRIVATE_GLOSSARY = {
    "ε, δ": "how much a release can change if one person's rows are added or removed: the smaller, the safer",
    "budget": "what all releases of a table may spend of ε and δ together",
    **{word: GLOSSARY[word] for word in ("quasi-identifier", "generalized", "level", "sensitive", "record")},
    "sha256, hash": GLOSSARY["sha256, hash"],
    "–": "not known, or not shown",
}


class ReleaseReport(PartialResult):
    """The report of a release: its guarantee and measures, the rows left out, and how to check it.

    Attributes:
        format: the number of the schema.
        edition: its readers.
        release, source: in words.
        method: the name of the method.
        about_rows: an explanation of rows that don't come from the source.
        version: of the package.
        k: the minimum number of rows in a class, by the policy; None for a private release.
        source_rows, released_rows, left_out_rows: counts of rows; None if not recorded.
        before, after: the exposure of the rows of the source, and of the release.
        individuals: the fewest individuals of a class, as counted for the release; None if rows were counted.
        quality, loss: the measure of loss that was minimized, and its value.
        search: the search for the release, in a sentence.
        promise: the guarantee of the release.
        verification: the new measurement of the release.
        columns: its columns.
        sizes: the rows by the size of their class.
        population_risk: the risk in the population before and after; None without weights or a number of people.
        utility: what perturbed and microaggregated columns keep of the source, for its custodian.
        alternatives: other nodes that could have been published; None if not examined.
        other_releases: comparisons with the latest listed releases of its source that the policy doesn't name.
        uncompared_releases: the number of targets of older releases on the list.
        stamp: a warning that the release is not private.
        date: the day of the report, in UTC.
        terms: the recipient, purpose and approval, as in the policy.
        drops_rest: whether the policy drops columns that it doesn't name.
        notes: the notes of the run, and remarks on columns that are nearly unique.
        findings: risks that the policy leaves open; without the source, risks that the released rows show.
        spent, thresholds: the budget of each step of a private method, and the least noisy count that it shows.
        marginals: those of drawn rows.
        facts: further facts of the method, by name.
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
    population_risk: PopulationRisk | None = None
    utility: Utility | None = None
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

    @property
    def example_count(self) -> int:
        """The rows of the source that the page of the report has."""
        return len(self._examples or ())

    def parts(self) -> Iterator[Part]:
        return parts_of(self)

    def to_html(self) -> str:
        """Render the report as a self-contained page.

        With the source it has a few of its rows, which neither JSON nor the console shows.
        """
        return html.page(Document(self.heading, tuple(parts_of(self, self._examples))))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]


def parts_of(report: ReleaseReport, examples: Sequence[ExampleRow] | None = None) -> Iterator[Part]:
    """Show the sections of a report for its readers, with any examples of rows."""
    yield from introduction(report)
    for section in (
        *promises(report),
        *to_decide(report),
        *together(report),
        *every_column(report),
        *what_became(report),
        *sizes_section(report.sizes, report.k),
        *population_section(report.population_risk, report.k),
        *utility_section(report.utility),
        *alternatives_section(report.alternatives),
        *left_out(report),
        *before_and_after(examples),
        *marginals_section(report.marginals),
        *of_method(report),
        *checks(report),
        *signature(report),
        *glossary(report),
    ):
        if section.audience == "recipient" or report.edition == "custodian":
            yield section


def introduction(report: ReleaseReport) -> Iterator[Part]:
    """Show the rows, the verdict on the policy, the recipient, and the most important numbers."""
    yield paragraph(f"Release report · sqlanon {report.version} · method {report.method}")
    if report.stamp is not None:
        yield paragraph(Text(report.stamp, "bad"))
    if report.before is not None or report.alternatives is not None:  # it has counts of the source
        yield paragraph(Text(FOR_CUSTODIANS, "doubtful"))
    found = report.verification
    if not found.met:
        yield paragraph(Text("✗ it falls short: " + "; ".join(found.shortfalls), "bad"))
    elif found.measurement.models:
        has_doubts = any(each.met is None for each in found.measurement.models)
        measured = "what has a verdict was measured again" if has_doubts else "every privacy model was measured again"
        yield paragraph(Text(f"✓ verified: {measured} on what was written", "doubtful" if has_doubts else "good"))
    else:
        verified = "✓ verified: the rows have the labels and the counts that were recorded of them"
        yield paragraph(Text(verified, "good"))
    yield paragraph(*_lead(report))
    terms = report.terms or ReleaseTerms()
    about = {
        "made from": report.source,
        "recipient": terms.recipient,
        "purpose": terms.purpose,
        "approved by": terms.approved_by,
        "date of this report": report.date,
    }
    yield facts((what, words) for what, words in about.items() if words is not None)
    yield Figures(tuple(_figures(report)))


def _lead(report: ReleaseReport) -> Iterator[str | Text]:
    """Describe how many rows are released, and how many others each row, or individual, looks like."""
    if report.source_rows is None:
        yield "There are "
        yield strong(f"{count(report.released_rows)} rows")
        yield "."
    else:
        yield f"Of {count(report.source_rows)} rows of {report.source or 'the source'}, "
        yield strong(f"{count(report.released_rows)} are")
        yield " released."
    if report.after is not None:
        known = enumerated([column.name for column in report.columns if column.role == "quasi-identifier"])
        others = (report.individuals or report.after.k) - 1
        other = "other individual" if report.individuals else "other"
        yield " Each looks like at least "
        yield strong(f"{count(others)} {other}{'' if others == 1 else 's'}")
        yield f" to somebody who knows {known} of a person."
    if report.about_rows:
        yield f" {report.about_rows}"


def _figures(report: ReleaseReport) -> Iterator[Figure]:
    before, after, promise = report.before, report.after, report.promise
    if isinstance(promise, PrivateGuarantee) and promise.budget is not None:
        budget = promise.budget.model_dump(mode="json")
        yield Figure("Privacy loss ε", "", budget["epsilon"], f"between tables that differ by {promise.neighbours}")
        yield Figure("Privacy loss δ", "", budget["delta"], "is added to the probability of any release")
    if report.thresholds:
        yield Figure("Least count", "", count(max(report.thresholds.values())), "noisy counts below it are left out")
    if after is not None:
        asked = "" if report.k is None or report.individuals else f"; asked for: {report.k}"
        smallest = count(before.k) if before else ""
        yield Figure("Smallest class (k)", smallest, count(after.k), f"rows that look alike{asked}")
        alone = "" if before is None else at_least(before.unique_rows, report.k)
        yield Figure("Rows alone in their class", alone, count(after.unique_rows), "nobody looks like them")
        yield from _risks(report, before, after)
    if report.left_out_rows is not None and report.source_rows:
        rows = at_least(report.left_out_rows, report.k)
        share = rows if rows.startswith("under") else short_percent(report.left_out_rows / report.source_rows)
        yield Figure("Rows left out", "", share, f"{rows} rows")
    if report.loss is not None:
        lost = short_percent(report.loss) if report.quality in SHARES else figure(report.loss)
        yield Figure("Detail lost", "", lost, f"{report.quality}: {report.search}")


def _risks(report: ReleaseReport, before: Exposure | None, after: Exposure) -> Iterator[Figure]:
    """Show the risks of rows; for individuals, who may have many rows in a class, only the highest risk."""
    if report.individuals:
        asked = "" if report.k is None else f"; asked for: {report.k}"
        yield Figure("Fewest individuals", "", count(report.individuals), f"in a class of rows{asked}")
        highest = short_percent(1 / report.individuals)
        yield Figure("Highest risk", "", highest, "of a row being taken for an individual's")
        return
    highest = short_percent(before.highest_risk) if before else ""
    yield Figure("Highest risk", highest, short_percent(after.highest_risk), "of a row being taken for a person's")
    average = short_percent(before.average_risk) if before else ""
    yield Figure("Average risk", average, short_percent(after.average_risk), "over all rows")


def promises(report: ReleaseReport) -> Iterator[Section]:
    promised, models = report.promise, report.verification.measurement.models
    claims, conditions, not_covered = (
        ((), (), ()) if promised is None else (promised.claims, promised.conditions, promised.not_covered)
    )
    proof = (f"Proof: {promised.theorem}",) if isinstance(promised, PrivateGuarantee) and not promised.void else ()
    unprotected = [] if report.findings is None else [each.column for each in report.findings.homogeneous_columns]
    kept = [
        f'"{column.name}" is released as it is: whoever knows it can distinguish rows'
        for column in report.columns
        if column.role == "insensitive" and column.perturbation is None
    ]
    alike = [
        f'in classes of {count(column.homogeneous_rows)} rows all rows have one value of "{column.name}", which is '
        "known of everybody in them"
        for column in report.columns
        if column.homogeneous_rows and column.perturbation is None and column.name not in unprotected
    ]
    promise = (*notes("Promised", (*claims, *proof)), *notes("Provided that", conditions))
    open_points = notes("Not covered: decide yourself", (*not_covered, *alike, *kept))
    beside = SideBySide((("good", promise), ("bad", open_points)))
    yield Section("What is promised, and what is not", (*((models_table(models),) if models else ()), beside))


def to_decide(report: ReleaseReport) -> Iterator[Section]:
    """Show findings on the release, also by comparison with its source if there is one."""
    found = () if report.findings is None else report.findings.sentences
    parts = (*notes("Noted by the run", report.notes), *notes("Found", found))
    if parts:
        remark = "What the privacy models do not see. Whoever approves the release decides on each of these."
        yield Section("What else was found", parts, remark)


def together(report: ReleaseReport) -> Iterator[Section]:
    """Show what the release reveals together with others of its source."""
    if not report.other_releases:
        return
    enough = [each for each in report.other_releases if each.is_met]
    rest = [each for each in report.other_releases if not each.is_met]
    columns: tuple[tuple[Tone, tuple[Part, ...]], ...] = (
        ("good", notes("Enough persons", sentences_on(enough, 0))),
        ("bad", notes("Decide yourself", sentences_on(rest, report.uncompared_releases))),
    )
    yield Section(
        "Together with other releases",
        (SideBySide(tuple((tone, parts) for tone, parts in columns if parts)),),
        "The warehouse lists others of the same source. Persons with the same labels in two releases make a joint "
        "class; whoever has both, and knows which rows are one person's, cannot distinguish them.",
    )


def of_method(report: ReleaseReport) -> Iterator[Section]:
    """Show the budget spent by a private method, and further facts of a method."""
    parts: list[Table] = [spent_table(report.spent, report.thresholds)] if report.spent else []
    if report.facts:
        parts.append(facts(report.facts.items()))
    if parts:
        yield Section(f"Method {report.method}", tuple(parts))


def checks(report: ReleaseReport) -> Iterator[Section]:
    """Show the commands that check the release again, and their limits."""
    found = report.verification
    parts: list[Part] = [Code("\n".join(report.check))]
    if found.record_sha256 is not None:
        parts.append(paragraph(f"Record: sha256 {found.record_sha256}"))
    parts += notes("Notes", found.all_notes)
    parts += notes("What the check does not see", found.not_covered)
    if report.policy:
        parts.append(Code(report.policy, "Policy"))
    yield Section("How to check this", tuple(parts))


def signature(report: ReleaseReport) -> Iterator[Section]:
    name = None if report.terms is None else report.terms.approved_by
    rows = [("approved by", name or LINE), ("conditions", LINE), ("date and signature", f"\n{LINE}")]
    if (digest := report.verification.record_sha256) is not None:
        rows.insert(0, ("record of the release", f"sha256 {digest}"))
    yield Section("Approval", (facts(rows),), audience="custodian")


def glossary(report: ReleaseReport) -> Iterator[Section]:
    words = PRIVATE_GLOSSARY if isinstance(report.promise, PrivateGuarantee) else GLOSSARY
    yield Section("Words of this page", (facts(words.items()),), is_printed=False)
