"""What private methods refuse alike, and what they say then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlanon.errors import BudgetError, PolicyError, VerificationError
from sqlanon.model.methods.noisy import PrivateMethod
from sqlanon.queries.source import SourceColumn


@contextmanager
def refusing_small_budgets(method: PrivateMethod) -> Iterator[None]:
    """Have an ε that is too small to draw at be a fault of the policy, before anything is charged.

    Raises:
        PolicyError: within, scales or thresholds were asked for at such an ε.
    """
    try:
        yield
    except BudgetError as error:
        raise PolicyError(f"the budget of the {method} cannot be drawn with: {error.heading}", error.problems) from None


def refuse_other_than_drawn(problems: Sequence[str]) -> None:
    """Refuse a release that is not what was drawn, if there are problems.

    Raises:
        VerificationError: listing them.
    """
    if problems:
        raise VerificationError(
            "what was written is not what was drawn; it was withdrawn, and what was spent is spent:", problems
        )


def no_category(found: SourceColumn) -> str:
    """The refusal of a column whose equal values differ in spelling, from which its rows would be made anew."""
    return (
        f'"{found.name}" is published as a category, for which its type, {found.type}, is not fit: equal values can be '
        "spelled in several ways; cast it to VARCHAR in a view"
    )
