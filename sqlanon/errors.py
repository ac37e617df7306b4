"""Exceptions of sqlanon.

::

    SqlanonError
    ├── PolicyError          the policy is malformed, or does not fit the table
    ├── TaxonomyError        a taxonomy is malformed, or does not cover the data
    ├── UnsatisfiableError   no node meets the privacy models within the suppression limit
    ├── BudgetError          the ledger has less left than the run needs
    ├── VerificationError    a release does not meet its policy
    └── EngineError          the database or the file system refused a step
        └── TargetError      the target is not free, has an impossible name, or holds another release

A message says where, what and what next. It names columns and gives counts, never a cell value, unless the user asks
for values missing from a taxonomy (``show_values`` of :func:`sqlanon.connect`). The text of a database error may quote
data, so it is kept only in :attr:`EngineError.original`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, Protocol, Self, TypeVar


class SqlanonError(Exception):
    """Base of all errors of this package.

    Attributes:
        guide: the topic of ``sqlanon guide`` that helps; empty if none does.
    """

    guide: str = ""

    def with_guide(self, topic: str) -> Self:
        """Set a more specific topic of the guide, and return the error."""
        self.guide = topic
        return self


def reason_of(error: SqlanonError) -> str:
    """Return the problems of an error on one line, or its text if it lists none."""
    return "; ".join(getattr(error, "problems", ())) or str(error)


def with_spent(error: BaseException, epsilon: str, delta: str) -> None:
    """Record on an error that budget was spent before it, in its notes and as ``error.spent``."""
    error.add_note(f"ε = {epsilon} and δ = {delta} were charged before the error, and stay charged: see the ledger")
    error.spent = {"epsilon": epsilon, "delta": delta}  # type: ignore[attr-defined]


class _ProblemsError(SqlanonError):
    """An error that lists every problem found, not just the first."""

    def __init__(self, heading: str, problems: Sequence[str] = ()) -> None:
        self.heading = heading
        self.problems = tuple(problems)
        super().__init__("\n".join([heading, *(f"  - {problem}" for problem in self.problems)]))


class PolicyError(_ProblemsError):
    """The policy is malformed or does not fit the source. ``problems`` lists all reasons."""

    guide = "policy"


class TaxonomyError(_ProblemsError):
    """A taxonomy is malformed, missing, or does not cover the data. ``problems`` lists all reasons."""

    guide = "taxonomies"


class Changeable(Protocol):
    """A value that returns copies with changed fields, such as a policy."""

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """Return a validated copy with other values of some fields."""


AnyChangeable = TypeVar("AnyChangeable", bound=Changeable)

RelaxationKind = Literal["suppression_limit", "k", "threshold", "maximum_levels", "max_loss"]


@dataclass(frozen=True)
class BlockingModel:
    """A privacy model that some classes of a node violate, and the rows of these classes."""

    model: str
    rows: int


@dataclass(frozen=True)
class Relaxation:
    """A change of a policy that makes a node satisfy it, as checked.

    Attributes:
        kind: the kind of change.
        changes: the changed fields of the policy, with their new values as in a policy file.
        smallest: whether no smaller change of this field would do, as proven to six digits.
        node, suppressed_rows: a node that satisfies the relaxed policy, and the rows that it suppresses.
        sentence: the change in words.
    """

    kind: RelaxationKind
    changes: dict[str, Any]
    smallest: bool
    node: dict[str, int]
    suppressed_rows: int
    sentence: str

    def applied_to(self, policy: AnyChangeable) -> AnyChangeable:
        """Return the policy with the change."""
        return policy.changed(self.changes)


@dataclass(frozen=True)
class Explanation:
    """Why no node satisfies a policy.

    Attributes:
        node: the examined node that suppresses the fewest rows. row_count, allowed_rows, suppressed_rows: rows of the
            source, rows that may be suppressed, and rows that the node suppresses.
        blocking_models: the privacy models that classes of the node violate, by rows, descending.
        relaxations: changes of the policy, each enough on its own; one per kind and field.
    """

    node: dict[str, int]
    row_count: int
    allowed_rows: int
    suppressed_rows: int
    blocking_models: tuple[BlockingModel, ...]
    relaxations: tuple[Relaxation, ...]


class UnsatisfiableError(_ProblemsError):
    """No node meets the privacy models within the suppression limit, or a stopped search found none.

    Attributes:
        explanation: what blocks the best node, and the changes of the policy that would help; None if the search was
            stopped, because a node may exist.
    """

    guide = "when-no-node-meets-the-policy"

    def __init__(self, heading: str, problems: Sequence[str] = (), explanation: Explanation | None = None) -> None:
        super().__init__(heading, problems)
        self.explanation = explanation


class BudgetError(_ProblemsError):
    """A data set has too little privacy budget left for a run, or a draw would cost more than was paid for it."""

    guide = "the-budget"


class VerificationError(_ProblemsError):
    """A release falls short of its policy."""

    guide = "what-verify-compares"


class Refusal(Enum):
    """Why a database refuses a step, where callers distinguish reasons."""

    LOCKED = "another program has the file open"
    OPEN = "this program has the file open"
    UNWRITABLE = "the file can only be read"
    IN_THE_MAKING = "another program has just begun to make the file"
    UNFINISHED = "the file is too short to hold anything"
    TAKEN = "another connection has made a table of that name"
    UNLOADED = "it takes an extension of the database that is not loaded"
    OVERTAKEN = "another connection wrote first"
    LACKING = "there is too little of something, such as memory, disk or open files"
    GONE = "the server of the rows no longer answers"


class EngineError(SqlanonError):
    """The database or the file system refused a step.

    Attributes:
        step: the purpose of the step, in words.
        sql: the statement, if there was one.
        original: the exception of the database; do not log it, because its text may quote data.
        refusal: why the database refused it, if callers distinguish the reason.
        holder: the ID of the process that has the file open, if known.
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
        """Return the error in the words of a caller who knows the purpose of the step."""
        return EngineError(message, step=step, original=self.original, refusal=self.refusal, holder=self.holder)

    @property
    def held_by(self) -> str:
        """The process that has the file open, in brackets after a space; empty if unknown."""
        return "" if self.holder is None else f" (process {self.holder})"


class TargetError(EngineError):
    """The target is not free, has an impossible name, or holds a release of another source or policy."""
