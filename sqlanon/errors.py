"""Everything that sqlanon raises on purpose.

::

    SqlanonError
    ├── PolicyError          the policy is malformed, or does not fit the table
    ├── TaxonomyError        a taxonomy is malformed, or does not cover the data
    ├── UnsatisfiableError   no node meets the privacy models within the suppression limit
    ├── BudgetError          the ledger has less left than the run needs
    ├── VerificationError    a release does not meet its policy
    └── EngineError          the database or the file system refused a step
        └── TargetError      the target is not free, cannot have the name of one, or holds the release of something else

A message says where, what and what next. It names columns and gives counts, never a cell value unless the user has
asked for those that a taxonomy does not have (``show_values`` of :func:`sqlanon.connect`): the text of a database
error can quote data, so it is kept in :attr:`EngineError.original` and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, Protocol, Self, TypeVar


class SqlanonError(Exception):
    """Base of all errors of this package; catch it to catch them all.

    Attributes:
        guide: the topic of ``sqlanon guide`` that helps; empty if none does.
    """

    guide: str = ""

    def with_guide(self, topic: str) -> Self:
        """Return the error with a topic of the guide that says more than the one of its class."""
        self.guide = topic
        return self


def reason_of(error: SqlanonError) -> str:
    """Return the problems of an error in a line; its text if it lists none."""
    return "; ".join(getattr(error, "problems", ())) or str(error)


def with_spent(error: BaseException, epsilon: str, delta: str) -> None:
    """Record on an error that a budget was spent before it: in its notes, and as ``error.spent``."""
    error.add_note(f"ε = {epsilon} and δ = {delta} were charged before, and stay so: see the ledger")
    error.spent = {"epsilon": epsilon, "delta": delta}  # type: ignore[attr-defined]


class _ProblemsError(SqlanonError):
    """An error that reports every problem that was found, not just the first."""

    def __init__(self, heading: str, problems: Sequence[str] = ()) -> None:
        self.heading = heading
        self.problems = tuple(problems)
        super().__init__("\n".join([heading, *(f"  - {problem}" for problem in self.problems)]))


class PolicyError(_ProblemsError):
    """The policy is malformed or does not fit the source. ``problems`` lists all of them."""

    guide = "policy"


class TaxonomyError(_ProblemsError):
    """A taxonomy is malformed, missing, or does not cover the data. ``problems`` lists all of them."""

    guide = "taxonomies"


class Changeable(Protocol):
    """A value that can be had with changes, as a policy can."""

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """Return the value with other values of some fields, checked."""


AnyChangeable = TypeVar("AnyChangeable", bound=Changeable)

RelaxationKind = Literal["suppression_limit", "k", "threshold", "maximum_levels", "max_loss"]


@dataclass(frozen=True)
class BlockingModel:
    """A privacy model that some classes of a node violate, and the rows of these classes."""

    model: str
    rows: int


@dataclass(frozen=True)
class Relaxation:
    """A change of a policy with which a node satisfies it; that was checked.

    Attributes:
        kind: what is relaxed.
        changes: the fields of the policy that change, with their new values as in a policy file.
        smallest: whether it is proven that no smaller change of this field would do, in six digits.
        node, suppressed_rows: a node that satisfies the relaxed policy, and the rows that it suppresses.
        sentence: the same in words.
    """

    kind: RelaxationKind
    changes: dict[str, Any]
    smallest: bool
    node: dict[str, int]
    suppressed_rows: int
    sentence: str

    def applied_to(self, policy: AnyChangeable) -> AnyChangeable:
        """The policy with the change."""
        return policy.changed(self.changes)


@dataclass(frozen=True)
class Explanation:
    """Why no node satisfies a policy.

    Attributes:
        node: the best node that was examined: the one that suppresses the fewest rows.
        row_count, allowed_rows, suppressed_rows: rows of the source, how many of them may be suppressed, and how many
            the node suppresses.
        blocking_models: the privacy models that classes of the node violate, those of most rows first.
        relaxations: what could be asked for instead, each enough on its own; one of each kind and field.
    """

    node: dict[str, int]
    row_count: int
    allowed_rows: int
    suppressed_rows: int
    blocking_models: tuple[BlockingModel, ...]
    relaxations: tuple[Relaxation, ...]


class UnsatisfiableError(_ProblemsError):
    """No node meets the privacy models within the suppression limit, or none was found before the search was stopped.

    Attributes:
        explanation: what blocks the best node, and the changes of the policy that would do; None if the search was
            stopped, so that it is not known whether there is a node.
    """

    guide = "when-no-node-meets-the-policy"

    def __init__(self, heading: str, problems: Sequence[str] = (), explanation: Explanation | None = None) -> None:
        super().__init__(heading, problems)
        self.explanation = explanation


class BudgetError(_ProblemsError):
    """A data set has less privacy budget left than a run needs, or a draw would cost more than was paid for it."""

    guide = "the-budget"


class VerificationError(_ProblemsError):
    """A release falls short of its policy, as measured."""

    guide = "what-verify-compares"


class Refusal(Enum):
    """Why a database refuses a step, where a caller goes on differently then."""

    LOCKED = "another program has the file open"
    OPEN = "this program has the file open"
    UNWRITABLE = "the file can only be read"
    IN_THE_MAKING = "another program has just begun to make the file"
    UNFINISHED = "the file is too short to hold anything"
    TAKEN = "another connection has made a table of that name"
    UNLOADED = "it takes an extension of the database that is not loaded"
    OVERTAKEN = "another connection has written what was to be written"
    LACKING = "there is too little of something, such as memory, disk or open files"
    GONE = "the server of the rows does not answer any more"


class EngineError(SqlanonError):
    """The database or the file system refused a step.

    Attributes:
        step: what was being done, in words.
        sql: the statement, if there was one.
        original: the exception of the database; its text may quote data, so do not log it.
        refusal: why the database refused it, if callers distinguish the reason.
        holder: the number of the process that has the file open, if the database says it.
    """

    def __init__(
        self,
        message: str,
        *,
        step: str = "",
        sql: str | None = None,
        original: BaseException | None = None,
        refusal: Refusal | None = None,
        holder: int | None = None,
    ) -> None:
        super().__init__(message)
        self.step = step
        self.sql = sql
        self.original = original
        self.refusal = refusal
        self.holder = holder

    def reworded(self, message: str, step: str) -> EngineError:
        """Return the error in the words of a caller, who knows the purpose of the step."""
        return EngineError(message, step=step, original=self.original, refusal=self.refusal, holder=self.holder)

    @property
    def held_by(self) -> str:
        """The process that has the file open, in brackets after a space; nothing if the database does not say it."""
        return "" if self.holder is None else f" (process {self.holder})"


class TargetError(EngineError):
    """The target is not free, cannot have the name of a release, or holds one of another source or policy."""
