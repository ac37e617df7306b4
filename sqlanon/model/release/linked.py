"""Measures of linked tables: persons and the rows that belong to them, joined by their keys."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from sqlanon.model.names import counted
from sqlanon.model.release.measurement import ModelResult, Result, Verdict, models_table, unmet
from sqlanon.report.document import Part, Table, Text, count, facts, percent, strong


class KnownPatterns(Result):
    """What somebody may know of a person: combinations of labels that some person has.

    Attributes:
        k: persons who have the rarest pattern; None without persons.
        pattern_count, unique_patterns: the patterns, and those of one person.
        persons_below: persons with a pattern that fewer than the policy's k have.
        unique_persons: persons with a pattern that nobody else has.
    """

    k: int | None
    pattern_count: int
    unique_patterns: int
    persons_below: int
    unique_persons: int


class BrokenKeys(Result):
    """Keys of a table that don't join rows as they should; all are 0 if they do.

    Attributes:
        null_keys: rows without a key of their own, where the table needs one.
        repeated_keys: rows with a key that an earlier row has.
        orphans: rows that belong to no row of the parent, also for a missing key.
    """

    null_keys: int = 0
    repeated_keys: int = 0
    orphans: int = 0

    @property
    def names_every_row(self) -> bool:
        """Whether every row has a key of its own."""
        return not self.null_keys and not self.repeated_keys


class LinkedMeasurement(Result):
    """What linked tables show of persons, as they are.

    Attributes:
        k: the number of persons that the policy asks for, which ``persons_below`` is about.
        known_rows: how many rows of a person others may know, by the policy; None for all of them.
        persons: rows of the table of persons.
        rows: rows of each table.
        broken: the keys of each table that don't join rows. Orphans belong to nobody and count nowhere below.
        known: by the number of known rows, from 0 on, what somebody may know. A number that nobody has is missing, and
            all are if rows of a table lack keys of their own.
        trees: the patterns of persons with all of their rows; None if rows lack keys.
        counts: the patterns of persons with the numbers of their rows in each table; None if rows lack keys.
        models: every privacy model of the policy: the persons who are left, and shares of persons of a class of trees
            who have a value in some row.
    """

    k: int
    known_rows: int | None = None
    persons: int
    rows: dict[str, int]
    broken: dict[str, BrokenKeys]
    known: dict[int, KnownPatterns] = Field(default_factory=dict)
    trees: KnownPatterns | None = None
    counts: KnownPatterns | None = None
    models: tuple[ModelResult, ...] = ()

    @property
    def heading(self) -> str:
        return "Measures of linked tables"

    def parts(self) -> Iterator[Part]:
        yield from self.tables

    @property
    def tables(self) -> tuple[Table, ...]:
        """The rows of each table, what they show of persons, and the privacy models against them."""
        rows = facts((f"rows of {name}", count(rows)) for name, rows in self.rows.items())
        return rows, self.knowledge(), models_table(self.models)

    def knowledge(self, *, is_promised: bool = False) -> Table:
        """Show how many persons each kind of knowledge leaves, and whether a release promises it, if it is one."""
        rows = []
        for words, found, is_covered in self._knowledge():
            row: list[str | Text] = [strong(words) if is_promised and is_covered else words, count(found.k)]
            row += [self._of_persons(found.persons_below), self._of_persons(found.unique_persons)]
            rows.append([*row, Text("promised", "good") if is_covered else "not promised"])
        headings = ("who knows", "is left with at least", f"persons left with fewer than {self.k}", "persons alone", "")
        shown = len(headings) if is_promised else len(headings) - 1
        return Table(headings[:shown], [row[:shown] for row in rows], numbers=(1, 2, 3))

    def _knowledge(self) -> Iterator[tuple[str, KnownPatterns, bool]]:
        """Yield what somebody may know, whom it leaves, and whether the policy is about it."""
        for number, found in self.known.items():
            yield KNOWN[number], found, self.known_rows is None or number <= self.known_rows
        if self.trees is not None and self.counts is not None:
            yield ALL_ROWS, self.trees, self.known_rows is None
            yield "how many rows a person has", self.counts, self.known_rows is None

    def _of_persons(self, some: int) -> str:
        return f"{count(some)} ({percent(some / self.persons if self.persons else None)})"

    @property
    def met(self) -> bool:
        """Whether the tables keep what the policy promises, as far as there is a verdict."""
        return not self.shortfalls

    @property
    def shortfalls(self) -> tuple[str, ...]:
        """A sentence for each part of the promise that the tables do not keep."""
        shares = (each for each in self.models if each.column is not None)
        return (*self._broken(), *self._unprotected(), *unmet(shares))

    def _broken(self) -> Iterator[str]:
        for table, keys in self.broken.items():
            for field, fault in FAULTS.items():
                if rows := getattr(keys, field):
                    yield f'of the table "{table}": {rows:,} rows {fault}'

    def _unprotected(self) -> Iterator[str]:
        if self.trees is None:
            yield "what somebody knows of persons cannot be counted: rows lack keys of their own"
        for words, found, is_covered in self._knowledge():
            # Who knows all rows knows any of them.
            is_asked = is_covered if self.known_rows is not None else words == ALL_ROWS
            if is_asked and found.k is not None and found.k < self.k:
                yield (
                    f"who knows {words} is left with at least {counted(found.k, 'person')}, not {self.k:,}; fewer than "
                    f"{self.k:,} are left for {counted(found.persons_below, 'person')}"
                )


KNOWN = ("the person alone", "the person and one row", "the person and two rows")
"""What somebody knows of a person and 0, 1 or 2 of the person's rows."""
ALL_ROWS = "all rows of a person"
FAULTS = {
    "null_keys": "have no key",
    "repeated_keys": "have the key of another row",
    "orphans": "belong to no row of its parent",
}
"""What is wrong with rows, by the field of :class:`BrokenKeys`."""


class LinkedVerification(Verdict):
    """The measurement of a release of several tables, and its shortfalls against its policy."""

    measurement: LinkedMeasurement | None
