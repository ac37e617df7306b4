"""Measures of linked tables: persons and the rows that belong to them, joined by their keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pydantic import Field

from sqlanon.model.release.measurement import Result, Verdict
from sqlanon.report.document import Part, Table, Text, count, facts, percent, strong


class PersonClasses(Result):
    """Classes of persons who look alike.

    Attributes:
        k: persons of the smallest class; None without persons.
        class_count: classes.
        unique_persons: persons who are alone in their class.
        persons_below: persons in classes of fewer than the policy's k.
    """

    k: int | None
    class_count: int
    unique_persons: int
    persons_below: int


class KnownPatterns(Result):
    """What somebody may know of a person and a number of rows that the person has.

    Attributes:
        k: persons who have the rarest pattern.
        patterns, unique_patterns: the combinations of labels that some person has, and those of one person.
        persons_below: persons with a pattern that fewer than the policy's k have.
        unique_persons: persons with a pattern that nobody else has.
    """

    k: int
    patterns: int
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
        persons: rows of the table of persons.
        rows: rows of each table.
        broken: the keys of each table that don't join rows. Orphans belong to nobody and count nowhere below.
        known: by the number of known rows, from 0 on, what somebody may know. A number that nobody has is missing, and
            all are if rows of a table lack keys of their own.
        trees: classes of persons by all of their rows; None if rows lack keys.
        counts: classes of persons by the numbers of their rows in each table; None if rows lack keys.
        shares: by column, such as ``"visits.diagnosis"``, and measure, what is attained of bounds on the share of
            persons of a class of trees who have a value in some row: ``largest_share``, ``basic_likeness``,
            ``enhanced_likeness`` and ``disclosure``.
    """

    k: int
    persons: int
    rows: dict[str, int]
    broken: dict[str, BrokenKeys]
    known: dict[int, KnownPatterns] = Field(default_factory=dict)
    trees: PersonClasses | None = None
    counts: PersonClasses | None = None
    shares: dict[str, dict[str, float | None]] = Field(default_factory=dict)

    @property
    def heading(self) -> str:
        return "Measures of linked tables"

    def parts(self) -> Iterator[Part]:
        yield from self.tables

    @property
    def tables(self) -> tuple[Table, ...]:
        """The rows of each table, and what they show of persons."""
        return facts((f"rows of {name}", count(rows)) for name, rows in self.rows.items()), self.knowledge()

    def knowledge(self, promised: Collection[str] | None = None) -> Table:
        """Show how many persons each kind of knowledge leaves, and what of it a release promises, if it is one."""
        known: dict[str, KnownPatterns | PersonClasses | None] = {
            **{known_in_words(number): found for number, found in self.known.items()},
            ALL_ROWS: self.trees,
            ROW_COUNTS: self.counts,
        }
        rows = []
        for words, found in known.items():
            if found is None:
                continue
            is_promised = promised is not None and words in promised
            row: list[str | Text] = [strong(words) if is_promised else words, count(found.k)]
            row += [self._of_persons(found.persons_below), self._of_persons(found.unique_persons)]
            if promised is not None:
                row.append(Text("promised", "good") if is_promised else "not promised")
            rows.append(row)
        headings = ("who knows", "is left with at least", f"persons left with fewer than {self.k}", "persons alone", "")
        return Table(headings[: 4 if promised is None else 5], rows, numbers=(1, 2, 3))

    def _of_persons(self, some: int) -> str:
        return f"{count(some)} ({percent(some / self.persons if self.persons else None)})"


ALL_ROWS = "all rows of a person"
ROW_COUNTS = "how many rows a person has"


def known_in_words(number: int) -> str:
    """Return what somebody knows of a person and 0, 1 or 2 of the person's rows."""
    return ("the person alone", "the person and one row", "the person and two rows")[number]


class LinkedVerification(Verdict):
    """The measurement of a release of several tables, and its shortfalls against its policy."""

    measurement: LinkedMeasurement | None
