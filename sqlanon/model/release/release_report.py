"""The report of a release: what an officer asks of it, from counts that were made for it, as JSON and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

from pydantic import Field, PrivateAttr

from sqlanon.model.names import enumerated
from sqlanon.model.policy.terms import ReleaseTerms
from sqlanon.model.release.alternatives import Alternatives
from sqlanon.model.release.approval import (
    about,
    before_and_after,
    every_column,
    glossary,
    signature,
    to_decide,
    unused,
    who_vanished,
)
from sqlanon.model.release.class_sizes import ClassSizes, risk_steps, size_bars
from sqlanon.model.release.findings import Findings
from sqlanon.model.release.joint import OtherRelease, sentences_on
from sqlanon.model.release.marginals import MeasuredMarginal, marginals_section
from sqlanon.model.release.measurement import Exposure, PartialResult, Verification, models_table
from sqlanon.model.release.reported_columns import ExampleRow, ReportedColumn, example, levels_of, strip, tag
from sqlanon.model.release.reports import Guarantee, PrivateGuarantee, Spent, spent_table
from sqlanon.report import html
from sqlanon.report.document import (
    Code,
    Document,
    Figure,
    Figures,
    Paragraph,
    Part,
    Section,
    SideBySide,
    Strips,
    Table,
    Text,
    Tone,
    count,
    facts,
    notes,
    paragraph,
    percent,
    short_percent,
    side_by_side,
    strong,
)

Edition: TypeAlias = Literal["custodian", "public"]
"""Who may read a report: whoever may see the source, or whoever may see the release."""

FOR_CUSTODIANS = (
    "For those who may see the source: it compares the release with that. The edition for others is --public."
)

TWICE = 2
"""A label is marked that is left out this many times as often as all rows."""


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

    def document(self) -> Document:
        return Document(self.release, tuple(self._parts(None)))

    def to_html(self) -> str:
        """The report as a page that needs no other file.

        Beside the source it has a few rows of that, which stand nowhere else: neither in JSON nor on a console.
        """
        return html.page(Document(self.release, tuple(self._parts(self._examples))))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def _parts(self, examples: Sequence[ExampleRow] | None) -> Iterator[Part]:
        yield paragraph(Text(f"Release report · sqlanon {self.version} · method {self.method}"))
        if self.stamp is not None:
            yield paragraph(Text(self.stamp, "bad"))
        if self._compares:
            yield paragraph(Text(FOR_CUSTODIANS, "doubtful"))
        yield paragraph(*self._verdict())
        yield self._lead()
        yield about(self.source, self.terms, self.date)
        yield Figures(tuple(self._figures()))
        yield self._promises()
        yield from to_decide(self.notes, self.findings)
        yield from self._together()
        yield every_column(self.columns, drops_rest=self.drops_rest)
        yield from self._columns()
        yield from self._alike()
        if self.alternatives is not None:
            yield self.alternatives.section
        yield from self._left_out()
        yield from before_and_after(examples)
        if self.marginals:
            yield marginals_section(self.marginals)
        yield from self._of_method()
        yield self._checks()
        if self.edition == "custodian":
            yield signature(self.terms, self.verification.record_sha256)
        yield glossary(is_private=isinstance(self.promise, PrivateGuarantee))

    @property
    def _compares(self) -> bool:
        """Whether it has counts of the source."""
        return self.before is not None or self.alternatives is not None

    def _verdict(self) -> Iterator[Text]:
        if self.verification.met and self.verification.measurement.models:
            yield Text("✓ verified: every privacy model was measured again on what was written", "good")
        elif self.verification.met:
            yield Text("✓ verified: the rows have the labels and the counts that were recorded of them", "good")
        else:
            yield Text("✗ it falls short: " + "; ".join(self.verification.shortfalls), "bad")

    def _lead(self) -> Paragraph:
        names = [column.name for column in self.columns if column.role == "quasi-identifier"]
        known = enumerated(names)
        of_source = (
            "" if self.source_rows is None else f"Of {count(self.source_rows)} rows of {self.source or 'the source'}, "
        )
        is_first = "" if of_source else "There are "
        alike = () if self.after is None else self._alike_to(known, self.after.k)
        released = f"{count(self.released_rows)}{' are' if of_source else ' rows'}"
        about = (f" {self.about_rows}",) if self.about_rows else ()
        return paragraph(
            f"{of_source}{is_first}", strong(released), f"{' released' if of_source else ''}.", *alike, *about
        )

    def _alike_to(self, known: str, k: int) -> tuple[str | Text, ...]:
        """How many others each row, or each individual, looks like."""
        fewest, other, others = (
            (self.individuals, "other individual", "other individuals") if self.individuals else (k, "other", "others")
        )
        return (
            " Each looks like at least ",
            strong(f"{count(fewest - 1)} {other if fewest == 2 else others}"),
            f" to somebody who knows {known} of a person.",
        )

    def _figures(self) -> Iterator[Figure]:
        before, after = self.before, self.after
        if isinstance(self.promise, PrivateGuarantee) and self.promise.budget is not None:
            budget = self.promise.budget.model_dump(mode="json")
            yield Figure(
                "Privacy loss ε", "", budget["epsilon"], f"between tables that differ by {self.promise.neighbours}"
            )
            yield Figure("Privacy loss δ", "", budget["delta"], "is added to the probability of any release")
        if self.thresholds:
            yield Figure("Least count", "", count(max(self.thresholds.values())), "noisy counts below it are left out")
        if after is not None:
            asked = "" if self.k is None or self.individuals else f"; asked for: {self.k}"
            smallest = count(before.k) if before else ""
            yield Figure("Smallest class (k)", smallest, count(after.k), f"rows that look alike{asked}")
            alone = "" if before is None else self._under_k(before.unique_rows)
            yield Figure("Rows alone in their class", alone, count(after.unique_rows), "nobody looks like them")
            yield from self._risks(before, after)
        if self.left_out_rows is not None and self.source_rows:
            rows = self._under_k(self.left_out_rows)
            share = rows if rows.startswith("under") else short_percent(self.left_out_rows / self.source_rows)
            yield Figure("Rows left out", "", share, f"{rows} rows")
        if self.loss is not None:
            yield Figure("Detail lost", "", short_percent(self.loss), f"{self.quality}: {self.search}")

    def _risks(self, before: Exposure | None, after: Exposure) -> Iterator[Figure]:
        """The risks of rows; of individuals, who may have many rows of a class, the highest one of the release."""
        if self.individuals:
            asked = "" if self.k is None else f"; asked for: {self.k}"
            yield Figure("Fewest individuals", "", count(self.individuals), f"in a class of rows{asked}")
            highest = short_percent(1 / self.individuals)
            yield Figure("Highest risk", "", highest, "of a row being taken for an individual's")
            return
        highest = short_percent(before.highest_risk) if before else ""
        yield Figure("Highest risk", highest, short_percent(after.highest_risk), "of a row being taken for a person's")
        average = short_percent(before.average_risk) if before else ""
        yield Figure("Average risk", average, short_percent(after.average_risk), "over all rows")

    def _under_k(self, rows: int) -> str:
        return f"under {self.k}" if self.k is not None and 0 < rows < self.k else count(rows)

    def _promises(self) -> Section:
        promised = self.promise
        unprotected = [] if self.findings is None else [each.column for each in self.findings.homogeneous_columns]
        kept = [
            f'"{column.name}" is released as it is: whoever knows it can distinguish rows'
            for column in self.columns
            if column.role == "insensitive"
        ]
        alike = [
            f'in classes of {count(column.homogeneous_rows)} rows all rows have one value of "{column.name}", which is '
            "known of everybody in them"
            for column in self.columns
            if column.homogeneous_rows and column.name not in unprotected
        ]
        claims = () if promised is None else promised.claims
        conditions = () if promised is None else promised.conditions
        open_points = (*(() if promised is None else promised.not_covered), *alike, *kept)
        models = self.verification.measurement.models
        proof = (f"Proof: {promised.theorem}",) if isinstance(promised, PrivateGuarantee) and not promised.void else ()
        return Section(
            "What is promised, and what is not",
            (
                *((models_table(models),) if models else ()),
                SideBySide(
                    (
                        ("good", (*notes("Promised", (*claims, *proof)), *notes("Provided that", conditions))),
                        ("bad", notes("Not covered: decide yourself", open_points)),
                    )
                ),
            ),
        )

    def _together(self) -> Iterator[Section]:
        if not self.other_releases:
            return
        enough = [each for each in self.other_releases if each.is_met]
        rest = [each for each in self.other_releases if not each.is_met]
        columns: tuple[tuple[Tone, tuple[Part, ...]], ...] = (
            ("good", notes("Enough persons", sentences_on(enough, 0))),
            ("bad", notes("Decide yourself", sentences_on(rest, self.uncompared_releases))),
        )
        yield Section(
            "Together with other releases",
            (SideBySide(tuple((tone, parts) for tone, parts in columns if parts)),),
            "The warehouse lists others of the same source. Persons with the same labels in two releases make a joint "
            "class; whoever has both, and knows which rows are one person's, cannot distinguish them.",
        )

    def _columns(self) -> Iterator[Section]:
        shown = [column for column in self.columns if column.role == "quasi-identifier"]
        if not shown:
            return
        rows = [
            (
                column.name,
                Strips(tuple(map(strip, column.levels))) if column.levels else "",
                levels_of(column),
                example(column),
                "–" if column.lost is None else percent(column.lost),
                tag(column),
            )
            for column in shown
        ]
        headings = ("column", "taxonomy", "released", "such as", "detail lost", "")
        yield Section(
            "What became of each column",
            (Table(headings, rows, numbers=(4,)),),
            "Each strip is a level of the taxonomy, from everything above to single values below; a piece is a label, "
            "as wide as the values that it stands for. In colour: what is released.",
        )

    def _alike(self) -> Iterator[Section]:
        if self.sizes:
            yield Section(
                "How many rows look alike",
                (side_by_side(size_bars(self.sizes, self.k), risk_steps(self.sizes, self.k)),),
                "Rows with the same labels in all quasi-identifiers make a class; nobody in it can be distinguished.",
            )

    def _left_out(self) -> Iterator[Section]:
        compared = [column for column in self.columns if any(each.before is not None for each in column.labels)]
        if self.edition == "public":
            yield from unused(self.columns)
        vanished = tuple(who_vanished(self.columns))
        if not vanished and not (compared and self.left_out_rows and self.source_rows):
            return
        mean = (self.left_out_rows or 0) / (self.source_rows or 1)
        tables = (side_by_side(*(self._left_out_of(column, mean) for column in compared)),) if compared else ()
        uneven = () if self.findings is None else self.findings.uneven_suppression
        yield Section(
            "Who is left out",
            (*vanished, *tables, *uneven),
            f"Before: the rows of the source under each label. On average {percent(mean)} are left out; labels that "
            "are left out more than twice as often are marked. –: fewer rows than k were left out, or it is not known.",
        )

    def _left_out_of(self, column: ReportedColumn, mean: float) -> Table:
        rows = []
        for each in column.labels:
            name = "NULL" if each.label is None else each.label
            before = "–" if each.before is None else count(each.before)
            share = None if not each.before else 1 - each.after / each.before
            tone: Tone = "bad" if share is not None and share > TWICE * mean else "plain"
            rows.append((name, before, count(each.after), Text(percent(share), tone)))
        return Table((column.name, "before", "after", "left out"), rows, numbers=(1, 2, 3))

    def _of_method(self) -> Iterator[Section]:
        parts: list[Part] = []
        if self.spent:
            parts.append(spent_table(self.spent, self.thresholds))
        if self.facts:
            parts.append(facts(self.facts.items()))
        if parts:
            yield Section(f"Method {self.method}", tuple(parts))

    def _checks(self) -> Section:
        found = self.verification
        listed = (
            *notes("Notes", (*found.measurement.notes, *found.notes)),
            *notes("What the check does not see", found.not_covered),
        )
        record = () if found.record_sha256 is None else (paragraph(f"Record: sha256 {found.record_sha256}"),)
        return Section(
            "How to check this",
            (Code("\n".join(self.check)), *record, *listed, *((Code(self.policy, "Policy"),) if self.policy else ())),
        )
