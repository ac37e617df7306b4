"""What came of rows that were generalized as a release is."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Generalized(BaseModel):
    """What became of the rows; counts, no cell value.

    Attributes:
        source, release, into: in words.
        columns: the columns of the result, in order.
        generalized: those of them that have labels.
        rows: how many there are.
        unknown_rows: how many were left out for a value that a taxonomy does not have, by the policy of the release.
        notes: anything that a reader should know of what was written.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    release: str
    into: str
    columns: tuple[str, ...]
    generalized: tuple[str, ...]
    rows: int
    unknown_rows: int = 0
    notes: tuple[str, ...] = ()
