"""The rows of a ledger: each is sealed with a hash over itself and the row before, so that no row changes unseen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from pydantic_core import PydanticCustomError

from sqlanon.errors import PolicyError
from sqlanon.model.budget import Budget, Unit, UnitName, exact

Kind = Literal["charge", "cap"]

START = "0" * 64  # what stands for the hash of the row before the first


@dataclass(frozen=True)
class Entry:
    """A row of a ledger: an expense, or a cap on what a data set may spend.

    Attributes:
        position: 0, 1, 2 …
        kind: ``charge``, or ``cap``, which holds until the next one of its data set.
        dataset: the name of the data set.
        method: the mechanism that spent; None in a cap.
        purpose: the step that it was for; None in a cap.
        epsilon: ε as exact text; None in a cap that lifts those before.
        delta: δ, likewise.
        spent_at: when, in UTC.
        policy_sha256: the hash of the policy that asked for it; None in a cap.
        previous_sha256: the hash of the row before.
        sha256: the hash of all others.
        unit: what the neighbours of the loss differ by: ``row`` or ``individual``. None in caps that do not say it.
        individual: the column that identifies the owner of a row; None if the unit is not ``individual``.
        rows_per_individual: how many rows of one are counted at most; None likewise, and in caps.
        sources: tables and files that the data set is known to have from here on, each with ``name`` and
            ``fingerprint``.
        public: names of tables and files that were read besides, and declared public.
        rho: in a charge, the ρ of zero-concentrated privacy that it is about, as exact text; None if it has none. In a
            cap, what the sum of these may be; None in a cap on (ε, δ).
        nonce: a random text that nobody else sees: a release carries the hash of a row, and who guesses the other
            values could otherwise see that they are the right ones. None in rows of versions before it.
    """

    position: int
    kind: Kind
    dataset: str
    method: str | None
    purpose: str | None
    epsilon: str | None
    delta: str | None
    spent_at: datetime
    policy_sha256: str | None
    previous_sha256: str = START
    sha256: str = ""
    unit: UnitName | None = None
    individual: str | None = None
    rows_per_individual: int | None = None
    sources: list[dict[str, str | None]] | None = None
    public: list[str] | None = None
    rho: str | None = None
    nonce: str | None = None

    # guarded: tests/unit/test_guarded_ledger.py::TestChains
    def seal(self) -> str:
        """The hash that the row should have. Rows without ρ or a nonce have that of a ledger which knew none."""
        left_out = {"sha256", *(name for name in ("rho", "nonce") if getattr(self, name) is None)}
        values = {name: value for name, value in vars(self).items() if name not in left_out}
        document = json.dumps(values, sort_keys=True, separators=(",", ":"), default=str)
        return hashlib.sha256(document.encode()).hexdigest()

    @property
    def budget(self) -> Budget | None:
        """The budget that was spent, or may be; None in a cap that lifts those before."""
        return None if self.epsilon is None or self.delta is None else Budget(self.epsilon, self.delta)

    @property
    def about(self) -> Unit | None:
        """The unit by which neighbours differ; None if it was not written down."""
        return None if self.unit is None else Unit(self.individual, self.rows_per_individual)


# guarded: tests/unit/test_guarded_ledger.py::TestChains
def chained(rows: Iterable[Entry], before: Sequence[Entry]) -> Iterator[Entry]:
    """Rows in their places after those before, sealed."""
    position, previous = len(before), head(before)
    for row in rows:
        placed = replace(row, position=position, previous_sha256=previous)
        sealed = replace(placed, sha256=placed.seal())
        yield sealed
        position, previous = position + 1, sealed.sha256


# guarded: tests/unit/test_guarded_ledger.py::TestChains
def head(entries: Sequence[Entry]) -> str:
    """The hash of the newest row, which vouches for all of them."""
    return entries[-1].sha256 if entries else START


# guarded: tests/unit/test_guarded_ledger.py::TestChains
def secret(entries: Iterable[Entry]) -> str | None:
    """The secret of a ledger, which keys the fingerprints of files: the first nonce; None if no row has one."""
    return next((entry.nonce for entry in entries if entry.nonce is not None), None)


# guarded: tests/unit/test_guarded_ledger.py::TestChains
def first_broken(entries: Iterable[Entry]) -> int | None:
    """The position of the first row that was changed, removed, moved or put in; None if all is as it was written.

    Newest rows that were removed are not missed: that takes a hash which was noted elsewhere.
    """
    previous = START
    for position, entry in enumerate(entries):
        follows = entry.position == position and entry.previous_sha256 == previous
        if not follows or entry.sha256 != entry.seal() or not _is_sound(entry):
            return position
        previous = entry.sha256
    return None


# guarded: tests/unit/test_guarded_ledger.py::TestChains
def _is_sound(entry: Entry) -> bool:
    """Whether its numbers can be read, as those of a row that was sealed by someone else may not."""
    try:
        if (entry.unit == "individual") != (entry.individual is not None):
            return False
        if entry.kind == "charge" and entry.unit is None:
            return False
        if entry.rho is not None and (entry.budget is None or not exact(entry.rho)):
            return False
        return entry.budget is not None or entry.kind == "cap"
    except (PolicyError, PydanticCustomError):
        return False  # no mutants: None says the same
