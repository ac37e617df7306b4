"""What a report has for whoever approves a release: what is to be decided, every column, a place to sign, and words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlanon.model.policy.terms import ReleaseTerms
from sqlanon.model.release.findings import Findings
from sqlanon.model.release.reported_columns import TREATMENTS, ExampleRow, ReportedColumn, examples_table
from sqlanon.report.document import Notes, Part, Section, Table, Text, count, facts, notes, paragraph

LINE = "_" * 40
"""To write on."""

REST = "all others"
"""What columns are called that a policy drops and does not name."""

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


def about(source: str | None, terms: ReleaseTerms | None, date: str) -> Table:
    """What the release was made from, to whom it goes and what for."""
    said = ReleaseTerms() if terms is None else terms
    rows = {
        "made from": source,
        "recipient": said.recipient,
        "purpose": said.purpose,
        "approved by": said.approved_by,
        "date of this report": date,
    }
    return facts((what, words) for what, words in rows.items() if words is not None)


def to_decide(noted: Iterable[str], findings: Findings | None) -> Iterator[Section]:
    """What was found of the release, and beside its source if there is one."""
    found = () if findings is None else findings.sentences
    parts = (*notes("Noted by the run", noted), *notes("Found", found))
    if parts:
        remark = "What the privacy models do not see. Whoever approves the release decides on each of these."
        yield Section("What else was found", parts, remark)


def every_column(columns: Sequence[ReportedColumn], *, drops_rest: bool) -> Section:
    """What became of each column of the source, and why."""
    rows = [(each.name, *each.treatment) for each in columns]
    if drops_rest and not any(each.role == "rest" for each in columns):
        rows.append((REST, *TREATMENTS["rest"]))
    return Section("Every column", (Table(("column", "in the release", "why"), rows),))


def who_vanished(columns: Sequence[ReportedColumn]) -> Iterator[Notes]:
    """The labels of the source that the release has no row of."""
    yield from notes("Missing altogether", [sentence for each in columns for sentence in each.vanished_in_words])


def unused(columns: Sequence[ReportedColumn]) -> Iterator[Section]:
    """How many labels of a published taxonomy no row has, which any reader can count."""
    rows = [
        (each.name, count(each.unused_labels[0]), count(each.unused_labels[1]))
        for each in columns
        if each.unused_labels is not None and each.unused_labels[0]
    ]
    if rows:
        remark = (
            "Labels that the policy lists and no row of the release has. Whether the source had such rows, which were "
            "left out, is not public."
        )
        yield Section("Labels without a row", (Table(("column", "labels without a row", "of"), rows, (1, 2)),), remark)


NO_EXAMPLES = (
    "Rows of the source are shown with what is released of each if it is known which labels each row has: in a "
    "full-domain release of rows that no server keeps, with a taxonomy of each quasi-identifier, which is held with no "
    "other release and has no rule for unknown values. This release is of another kind, or has none of the rows."
)


def before_and_after(examples: Sequence[ExampleRow] | None) -> Iterator[Section]:
    """A few rows with what is released of them, or why there are none; nothing where none were looked for."""
    if examples is not None and not examples:
        yield Section("No rows beside their labels", (paragraph(Text(NO_EXAMPLES)),))
    if examples:
        remark = (
            "Rows of the source, picked by a hash, with what the release shows of each; columns that are dropped are "
            "left out. They are personal data: keep this page like the source."
        )
        yield Section(f"{len(examples)} rows before and after", (examples_table(examples),), remark)


def signature(terms: ReleaseTerms | None, record_sha256: str | None) -> Section:
    """A place to sign."""
    name = None if terms is None else terms.approved_by
    rows = [("approved by", name or LINE), ("conditions", LINE), ("date and signature", f"\n{LINE}")]
    if record_sha256 is not None:
        rows.insert(0, ("record of the release", f"sha256 {record_sha256}"))
    return Section("Approval", (facts(rows),))


def glossary(*, is_private: bool) -> Section:
    """The words of a report."""
    parts: tuple[Part, ...] = (facts((PRIVATE_GLOSSARY if is_private else GLOSSARY).items()),)
    return Section("Words of this page", parts, is_printed=False)
