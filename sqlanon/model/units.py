"""What neighbouring tables differ by: losses of privacy add up only if they are about the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlanon.model.budget import Budget, spelled
from sqlanon.model.names import folded

UnitName = Literal["row", "individual"]


@dataclass(frozen=True)
class Unit:
    """The unit of privacy: one row, or all rows of one individual.

    Losses of both cannot be added up. Somebody with n rows loses up to n times ε by a release that promises ε per row,
    and the ledger does not know n. A row can lose up to twice ε by a release that promises ε per individual: to change
    one row of an individual is to take all of them away, and to put others in their place.

    Attributes:
        individual: the column that identifies the owner of a row; None if the unit is a row.
        rows: how many rows of an individual a mechanism counts at most. All of them are protected whatever it is, so
            releases with different numbers do add up.
    """

    individual: str | None = None
    rows: int | None = None

    @property
    def name(self) -> UnitName:
        """The unit as the ledger names it."""
        return "row" if self.individual is None else "individual"

    def adds_up_with(self, other: Unit) -> bool:
        """Whether losses of both can be added up. Columns are compared as DuckDB compares their names."""
        if self.individual is None or other.individual is None:
            return self.name == other.name
        return folded(self.individual) == folded(other.individual)

    def __str__(self) -> str:
        return "one row" if self.individual is None else f'all rows of one "{self.individual}"'


ROW = Unit()


def why_not_added(before: Unit, spent: Budget, after: Unit, asked: Budget) -> str:
    """Why losses of two units have no sum that is known, with the arithmetic, and what to do about it.

    What n rows lose follows from going row by row: Vadhan 2017, lemma 2.2.
    """
    if after.individual is None:
        return (
            f"somebody with n rows would have lost {_loss(spent, of_n_rows=asked)}, and n is not known; let the policy "
            f'name individual = "{before.individual}"'
        )
    if before.individual is None:
        return (
            f"somebody with n rows would have lost {_loss(asked, of_n_rows=spent)}, and n is not known; let the policy "
            "name no individual, and promise something about rows alone"
        )
    return (
        f'how many of "{after.individual}" belong to one of "{before.individual}" is not known; let the policy name '
        f'individual = "{before.individual}"'
    )


def _loss(once: Budget, *, of_n_rows: Budget) -> str:
    """What an individual with n rows loses by a release per individual and one per row."""
    each = spelled(of_n_rows.epsilon)
    epsilon = f"ε = {spelled(once.epsilon)} + n · {each}"
    if not of_n_rows.delta:
        return epsilon
    many = f"{spelled(of_n_rows.delta)} · (exp(n · {each}) - 1) / (exp({each}) - 1)"
    return f"{epsilon} and δ = {spelled(once.delta)} + {many}"
