"""Tables made before and after a release: flattened events, and rows generalized like a release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictInt, model_validator

from sqlanon.errors import PolicyError
from sqlanon.model.names import folded
from sqlanon.model.policy_value import OneOrSeveral, PolicyValue, failed_checks, unknown_names

MAXIMUM_COLUMNS = 1_000
"""The limit for columns of events: each needs a taxonomy, and wider rows are unique anyway."""
Names = Annotated[Sequence[str], OneOrSeveral, AfterValidator(tuple)]  # one or several columns


class Flattening(PolicyValue):
    """The flattening of a row per event to a row per individual.

    Args:
        individual: the column that identifies the individual of an event.
        event: the columns that describe an event; values of one row stay together.
        order: the columns that order the events of an individual, the most significant first.
        first: the number of events of an individual that become columns.
        keep: columns with one value for all rows of an individual.
        count: the name of a new column for the number of events, including the ones left out; None for no such column.

    Raises:
        PolicyError: lists every problem at once.
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
        """The columns of events, each with the place of its event column, its position from 1, and its name."""
        return tuple(
            (place, position, f"{name}_{position}")
            for place, name in enumerate(self.event)
            for position in range(1, self.first + 1)
        )

    @property
    def named(self) -> tuple[str, ...]:
        """The columns of the source that it names."""
        return tuple(dict.fromkeys((self.individual, *self.event, *self.order, *self.keep)))

    @property
    def columns(self) -> tuple[str, ...]:
        counted = () if self.count is None else (self.count,)
        return (self.individual, *self.keep, *(name for *_, name in self.event_columns), *counted)

    def check_columns(self, columns: Sequence[str], source: str) -> None:
        """Refuse a source that lacks columns, or would repeat columns in the result, listing all problems."""
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
        notes: remarks on the result for readers.
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
        generalized: the columns with labels.
        rows: the number of rows.
        unknown_rows: the number of rows left out for a value that a taxonomy lacks, by the policy of the release.
        uncovered_rows: the number of rows left out because no class of a local recoding covers them.
        notes: remarks on the result for readers.
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
