"""Queries as values: counts and averages by group."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictInt, StrictStr, model_validator

from sqlanon.model.names import folded
from sqlanon.model.policy_value import RESERVED_PREFIX, PolicyValue, failed_checks


class GroupQuery(PolicyValue):
    """A query by group over the rows that meet its conditions.

    Args:
        column: the column to group by.
        width: the width of a group in the unit of the column, counted from 0; None to group by values.
        where: required values by column, compared as text; None stands for NULL.

    Raises:
        PolicyError: listing every problem at once.
    """

    column: str
    width: Annotated[int | float, Field(gt=0)] | None = None
    where: dict[str, StrictStr | StrictInt | None] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_names(self) -> GroupQuery:
        reserved = [name for name in self.columns if folded(name).startswith(RESERVED_PREFIX)]
        if reserved:
            raise failed_checks(
                [f'column "{name}": names that start with {RESERVED_PREFIX} are reserved' for name in reserved]
            )
        return self

    @property
    def averaged(self) -> str | None:
        """The column to average; None for a count."""
        return None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the query reads."""
        return tuple(name for name in dict.fromkeys((self.column, self.averaged, *self.where)) if name is not None)

    def __str__(self) -> str:
        """Describe the query without values of conditions, since tables of errors have more readers."""
        answer = "count" if self.averaged is None else f"average {self.averaged}"
        groups = self.column if self.width is None else f"{self.column} by {self.width:g}"
        conditions = f" where {', '.join(self.where)}" if self.where else ""
        return f"{answer} of {groups}{conditions}"


class CountQuery(GroupQuery):
    """``SELECT group, COUNT(*) ... WHERE ... GROUP BY group``, with the arguments of :class:`GroupQuery`.

    Source: Lee and Chung 2020, Q1 and Q2; Lee et al. 2017, query error rate.
    """


class AverageQuery(GroupQuery):
    """``SELECT group, AVG(average) ... WHERE ... GROUP BY group``.

    Args:
        column, width, where: as in :class:`GroupQuery`.
        average: the column of numbers to average.

    Raises:
        PolicyError: listing every problem at once.

    Source: Lee and Chung 2020, Q3 and Q4.
    """

    average: str

    @property
    def averaged(self) -> str | None:
        return self.average
