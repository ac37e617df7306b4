"""What a policy leaves open, found by a run on its data: for the custodian of the source, and never published."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.model.release.document import Document


class RepeatedIdentifier(Document):
    """An identifier whose values repeat, so that classes count rows where they should count individuals.

    Attributes:
        column: the identifier.
        rows: rows of the source that have a value there.
        values: distinct values; estimated from one in several values unless ``is_exact``.
        is_exact: whether ``values`` was counted.
        is_person: whether values can be persons: there are more of them than rows per value. Others name groups.
        proposal: a line for the policy, in TOML; None if values are no persons, some rows have none, or the method
            of the policy takes no individuals.
    """

    column: str
    rows: int
    values: int
    is_exact: bool
    is_person: bool
    proposal: str | None

    @property
    def sentence(self) -> str:
        about = "" if self.is_exact else "about "
        repeats = f'the identifier "{self.column}" repeats: {self.rows:,} rows have {about}{self.values:,} values'
        if self.proposal is None:
            return f"{repeats}; if each is a person, classes count rows, not persons: flatten the table first"
        return f"{repeats}; if each is a person, add {self.proposal} to the policy, which then counts persons, not rows"


class HomogeneousColumn(Document):
    """A sensitive column that no privacy model looks at.

    Attributes:
        column: the sensitive column.
        homogeneous_rows: released rows in classes with a single value of it.
        released_rows: all released rows.
        proposal: a privacy model for the policy, in TOML; None if the policy cannot take it.
    """

    column: str
    homogeneous_rows: int
    released_rows: int
    proposal: str | None

    @property
    def sentence(self) -> str:
        share = 100 * self.homogeneous_rows / self.released_rows
        open_to = (
            f'no privacy model protects the sensitive "{self.column}": {self.homogeneous_rows:,} of '
            f"{self.released_rows:,} released rows ({share:.1f} %) are in classes with a single value, which their "
            "quasi-identifiers give away"
        )
        return open_to if self.proposal is None else f"{open_to}; this model forbids it:\n{self.proposal}"


class Findings(Document):
    """What a policy leaves open. It may show facts of suppressed rows: keep it like the source.

    Attributes:
        repeated_identifiers: identifiers whose values repeat, if the policy has no ``individual``.
        homogeneous_columns: sensitive columns without a diversity model.
    """

    repeated_identifiers: tuple[RepeatedIdentifier, ...] = ()
    homogeneous_columns: tuple[HomogeneousColumn, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """The findings in words."""
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        yield from (found.sentence for found in self.repeated_identifiers if found.is_person)
        yield from (found.sentence for found in self.homogeneous_columns)
