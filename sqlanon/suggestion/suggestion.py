"""A suggested policy as a value: what each column is taken for, what its quasi-identifiers give away, and the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import PrivateAttr

from sqlanon.model.release.measurement import Result
from sqlanon.model.release.trial import Trial
from sqlanon.report.document import Code, Document, Table, Text, count, facts, notes, percent
from sqlanon.suggestion.evidence import Role
from sqlanon.suggestion.writing import Draft, SuggestedMethod, text_of, write

Profile: TypeAlias = Literal["research", "public", "hipaa-safe-harbor"]

MAX_SHOWN = 60
"""Columns that are shown in a table."""


class SuggestedColumn(Result):
    """What a column is taken for.

    Attributes:
        name, role: identifiers are dropped.
        is_undecided: whether a person has to decide; it is dropped until then.
        kind: what it has; empty if that is not known.
        reason: why it has the role.
        taxonomy: how it is generalized; None of other roles than quasi-identifiers.
        values, missing: how many distinct values it has, and rows without one.
    """

    name: str
    role: Role
    is_undecided: bool
    kind: str
    reason: str
    taxonomy: str | None
    values: int
    missing: int


class SetMeasures(Result):
    """What rows give away by a set of columns.

    Attributes:
        columns: the set.
        k, unique_rows: rows of the smallest class, and rows that are alone in theirs.
        distinction, separation: what is left where each class keeps one row, and pairs of rows that differ,
            as shares (Motwani & Xu 2008); None without rows, or pairs.
    """

    columns: tuple[str, ...]
    k: int
    unique_rows: int
    distinction: float | None
    separation: float | None


class Suggestion(Result):
    """A policy for a source that has none, decided by rules; nothing in it but its file holds a value of the source.

    Attributes:
        source: in words.
        profile: for whom.
        k: rows of a class, at least.
        row_count: rows of the source.
        columns: what each is taken for.
        quasi_identifiers: what all suggested ones together give away; None if there are none.
        alone: the same of each by itself.
        without: the same of all but each; without the columns at the end least is given away.
        lattice_nodes: of the suggested taxonomies.
        in_the_way: the columns for which the warehouse stores a taxonomy, and the profile needs another one.
        notes: what is to be known before a run.
        query: the query that it is for, in place of the source.
        cleaning: a query over the source that writes its values in one way; None if nothing is to be cleaned.
        method: by which the policy anonymizes.
        trial: what a run on some rows has shown; None if there was none, as no run could succeed or be quick.
    """

    source: str
    profile: Profile
    k: int
    row_count: int
    columns: tuple[SuggestedColumn, ...]
    quasi_identifiers: SetMeasures | None
    alone: tuple[SetMeasures, ...]
    without: tuple[SetMeasures, ...]
    lattice_nodes: int
    in_the_way: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    query: str | None = None
    cleaning: str | None = None
    method: SuggestedMethod = "full-domain"
    trial: Trial | None = None

    _draft: Draft = PrivateAttr()

    @property
    def runs(self) -> bool:
        """Whether a run of the policy could succeed."""
        return self.quasi_identifiers is not None and self.row_count >= self.k and not self.in_the_way

    @property
    def undecided(self) -> tuple[str, ...]:
        """The columns that a person has to decide."""
        return tuple(column.name for column in self.columns if column.is_undecided)

    def write(
        self, path: str | Path, *, replace: bool = False, beside: Mapping[Path, str] | None = None
    ) -> tuple[Path, ...]:
        """Write the policy, with a comment a column, and the files of its taxonomies beside it.

        Taxonomy files hold values of the source: their owner alone may read them.

        Args:
            path: the policy file; the names of others begin as its own.
            replace: whether files that are there may be replaced.
            beside: texts that are written in the same step, such as ``cleaning``, by their files.

        Returns:
            all files that were written, the policy first.

        Raises:
            EngineError: one of them is there, or cannot be written.
        """
        return write(self._draft, Path(path), replace=replace, beside=beside)

    def to_toml(self, stem: str = "policy") -> str:
        """The policy file as a text; files of taxonomies begin with its stem."""
        return text_of(self._draft, stem)

    def document(self) -> Document:
        """What each column is taken for, and what is to be decided."""
        shown = [*filter(lambda column: column.is_undecided, self.columns)]
        shown += [column for column in self.columns if not column.is_undecided]
        rows = [
            (
                column.name,
                Text("?  dropped until you decide", "doubtful") if column.is_undecided else column.role,
                column.reason,
                column.taxonomy or "",
            )
            for column in shown[:MAX_SHOWN]
        ]
        left = [f"{len(shown) - MAX_SHOWN:,} more columns are in the policy"] if len(shown) > MAX_SHOWN else []
        table = Table(("column", "role", "why", "generalized to"), rows)
        query = (Code(self.cleaning, "A query that cleans these values"),) if self.cleaning else ()
        return Document(
            f"A policy for {self.source}",
            (facts(self._figures()), table, *notes("Notes", [*self.notes, *left]), *query),
        )

    def _figures(self) -> list[tuple[str, str]]:
        found = [("rows", count(self.row_count))]
        if self.quasi_identifiers is not None:
            share = self.quasi_identifiers.unique_rows / self.row_count if self.row_count else None
            found += [
                ("quasi-identifiers", count(len(self.quasi_identifiers.columns))),
                ("rows that are unique by them", f"{count(self.quasi_identifiers.unique_rows)} ({percent(share)})"),
                ("pairs of rows that differ in them", percent(self.quasi_identifiers.separation)),
            ]
        return [*found, ("columns that you must decide", count(len(self.undecided)))]
