"""What an audit looks at: mechanisms that are run many times, or that list their outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sqlanon.errors import PolicyError
from sqlanon.evaluation.audit_outputs import countable
from sqlanon.model.policy.policy import Policy

if TYPE_CHECKING:
    from sqlanon.api.session import Session


@runtime_checkable
class Repeatable(Protocol):
    """A mechanism that can be run many times at once.

    It may have an attribute ``claimed``, the :class:`Budget` that it is held to if the audit has no other.
    """

    def outcomes(self, table: Any, runs: int) -> Mapping[Any, int]:
        """How often each output came in ``runs`` runs, all independent of each other and of those of other calls.

        Outputs are best numbers, texts, and tuples and frozensets of them: what is made of cells and counts as
        ``frozenset({(cell, count), ...})`` is looked at cell by cell.
        """


@runtime_checkable
class RestrictsInputs(Protocol):
    """A mechanism that knows whether two tables are neighbours."""

    def refuse_strangers(self, table: Any, neighbour: Any) -> None:
        """Refuse tables that are not neighbours, because a loss would mean nothing."""


@runtime_checkable
class Enumerable(Protocol):
    """A mechanism so small that its outputs can be listed; it may have an attribute ``claimed`` as well."""

    def distribution(self, table: Any) -> Mapping[Any, float]:
        """The probability of each output. Those of tails that are cut off are left out, and the rest are exact."""


def mechanism_of(
    method: Callable[[Any], Any] | Repeatable | Enumerable | Policy | str, session: Session | None
) -> Repeatable | Enumerable:
    """The mechanism of what was given to an audit: of a policy in a session, of a function, or what it is itself."""
    if isinstance(method, Policy):
        # By name: policies build on what is here, and audits of other mechanisms do without them.
        made: Repeatable = import_module("sqlanon.evaluation.policies").repeatable(session, method)
        return made
    assert not isinstance(method, str), "which is checked before"
    return method if isinstance(method, Repeatable | Enumerable) else Repeated(method)


def outcomes_of(mechanism: Repeatable, table: Any, runs: int) -> Mapping[Any, int]:
    """How often each output came.

    Raises:
        PolicyError: there are not as many outputs as runs.
    """
    outcomes = mechanism.outcomes(table, runs)
    counted = sum(outcomes.values())
    if counted != runs or any(count < 0 for count in outcomes.values()):
        raise PolicyError(
            "the outputs of the mechanism cannot be counted:",
            [f"outcomes() was asked for {runs:,} runs and returned counts of {counted:,}"],
        )
    return outcomes


class Repeated:
    """A function, called once a run."""

    def __init__(self, method: Callable[[Any], Any]) -> None:
        self._method = method
        self._originals: dict[Hashable, Any] = {}
        self._has_returned = False

    def outcomes(self, table: Any, runs: int) -> Mapping[Hashable, int]:
        counts: Counter[Hashable] = Counter()
        for _ in range(runs):
            output = self._output(table)
            counted = countable(output)
            counts[counted] += 1
            if counted is not output:
                self._originals.setdefault(counted, output)
        return counts

    def _output(self, table: Any) -> Any:
        """What a run gives, which can be that it fails: that is seen, too."""
        try:
            output = self._method(table)
        except Exception as error:
            if not self._has_returned:
                raise  # it may never work
            return f"failed: {type(error).__name__}"
        self._has_returned = True
        return output

    def original(self, counted: Hashable) -> Any:
        """The output as it was returned."""
        return self._originals.get(counted, counted)
