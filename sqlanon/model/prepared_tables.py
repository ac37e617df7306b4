"""Tables that are made before and after a release: flattened events, and rows generalized as a release is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictInt, model_validator

from sqlanon.errors import PolicyError
from sqlanon.model.names import folded
from sqlanon.model.policy_value import OneOrSeveral, PolicyValue, failed_checks, unknown_names

MAXIMUM_COLUMNS = 1_000
"""More columns of events are refused: each is to get a taxonomy, and a row that wide is nobody's but its own."""


Names = Annotated[Sequence[str], OneOrSeveral, AfterValidator(tuple)]
"""Names of columns; a single one need not be in a list."""


class Flattening(PolicyValue):
    """The flattening of a row per event to a row per individual.

    Args:
        individual: the column that identifies the individual of an event.
        event: the columns that describe an event; those of one row stay together.
        order: the columns that put the events of an individual in order, the most significant first.
        first: how many events of an individual become columns.
        keep: columns that are the same in all rows of an individual.
        count: the name of a new column for the number of events, those left out included; None for no such column.

    Raises:
        PolicyError: listing every problem at once.
    """

    individual: str
    event: Names = Field(min_length=1)
    order: Names = Field(min_length=1)
    first: Annotated[StrictInt, Field(ge=1)]
    keep: Names = ()
    count: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _check_width(self) -> Flattening:
        width = self.first * len(self.event)
        if width > MAXIMUM_COLUMNS:
            raise failed_checks([f"first: makes {width:,} columns of events; the limit is {MAXIMUM_COLUMNS:,}"])
        return self

    @property
    def event_columns(self) -> tuple[tuple[int, int, str], ...]:
        """The columns of events, each as the place of its event, its position from 1, and its name."""
        return tuple(
            (place, position, f"{name}_{position}")
            for place, name in enumerate(self.event)
            for position in range(1, self.first + 1)
        )

    @property
    def named(self) -> tuple[str, ...]:
        """The columns of the source that it names, each once."""
        return tuple(dict.fromkeys((self.individual, *self.event, *self.order, *self.keep)))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the result, in order."""
        counted = () if self.count is None else (self.count,)
        return (self.individual, *self.keep, *(name for *_, name in self.event_columns), *counted)

    def check_columns(self, columns: Sequence[str], source: str) -> None:
        """Refuse a source that lacks columns, or whose columns would stand twice in the result; list all of them."""
        problems = [f'column "{name}" is not there{meant}' for name, meant in unknown_names(self.named, columns)]
        times = Counter(map(folded, self.columns))
        problems += [
            f'the result would have more than one column "{name}"; rename the others in a view'
            for name in dict.fromkeys(self.columns)
            if times[folded(name)] > 1
        ]
        if problems:
            raise PolicyError(f"{source} cannot be flattened:", problems)


class Flattened(BaseModel):
    """The outcome of a flattening: counts, no cell value.

    Attributes:
        source, into: in words.
        columns: the columns of the result, in order.
        individuals: rows of the result.
        events: rows of the source.
        cut_individuals: individuals with more events than were kept.
        cut_events: events that were left out.
        notes: anything that a reader should know of what was written.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    into: str
    columns: tuple[str, ...]
    individuals: int
    events: int
    cut_individuals: int
    cut_events: int
    notes: tuple[str, ...] = ()


class Generalized(BaseModel):
    """The outcome of a generalization: counts, no cell value.

    Attributes:
        source, release, into: in words.
        columns: the columns of the result, in order.
        generalized: those of them that have labels.
        rows: how many there are.
        unknown_rows: how many were left out for a value that a taxonomy does not have, by the policy of the release.
        uncovered_rows: how many were left out because no class of a release of local recoding covers them.
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
    uncovered_rows: int = 0
    notes: tuple[str, ...] = ()
