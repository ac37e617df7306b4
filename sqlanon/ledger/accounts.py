"""What data sets have spent, and may spend: their charges add up, as (ε, δ) and, if each has one, in ρ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from sqlanon.mechanisms.zcdp import epsilon_of
from sqlanon.model.budget import Budget, Unit, as_float, exact, spelled
from sqlanon.model.ledger import Entry

DIGITS = 6
"""Significant digits of an ε that ρ is converted to; it is rounded against whoever asks."""


@dataclass(frozen=True)
class Account:
    """What a data set has spent, and may spend in all.

    Losses add up in two ways, both also where each budget is chosen by a look at the releases before.

    - As (Σε, Σδ), basic composition (Rogers, Roth, Ullman & Vadhan 2016).
    - In ρ. A charge that has ρ noted is ρ-zCDP, and one of (ε, 0) is ε²/2-zCDP (Bun & Steinke 2016, proposition 1.4).
      All of them together are Σρ-zCDP (:class:`sqlanon.mechanisms.accountant.RhoPortions`; Feldman & Zrnic 2021), which
      is (ε, δ)-differential privacy for every δ above 0, at an ε that grows as the square root of the number of runs.

    A cap bounds one of the two sums, as its row says. It must not bound whichever is smaller at the time: a charge
    without ρ can only be added to (Σε, Σδ), and whether one comes may depend on what was released. Then some of the
    possible histories keep the cap by one sum and the others by the other one, each of these sets of histories may
    fail with δ, and together they fail with up to 2δ. Where all charges have the ρ of their (ε, δ), Σρ is the smaller
    sum anyway: at one δ that ρ is a supremum of affine functions of ε (:func:`sqlanon.mechanisms.zcdp.rho_of`), so that
    it is convex, and ρ(ε) + ρ(ε') <= ρ(ε + ε') + ρ(0), where ρ(0) is of the order of δ².

    Attributes:
        spent: the sum of its charges.
        cap: what it may spend; None without a bound.
        unit: what the neighbours of these losses differ by; None if nothing was charged, and no cap says it.
        rho: the sum of the ρ of its charges; None if one has none.
        rho_cap: what that may be; None if the cap bounds (ε, δ), or there is none.
        delta: δ at which ρ is converted: that of the cap, or the largest of a charge.
    """

    spent: Budget
    cap: Budget | None
    unit: Unit | None = None
    rho: Fraction | None = None
    rho_cap: Fraction | None = None
    delta: Fraction = Fraction(0)

    # guarded: tests/unit/test_guarded_ledger.py::TestAccounts
    @property
    def remaining(self) -> Budget | None:
        """What is left, no less than 0 of either; None without a bound. Of a bound in ρ, what one run may spend."""
        if self.cap is None:
            return None
        if self.rho_cap is not None and self.rho != 0:
            left = Fraction(0) if self.rho is None else max(self.rho_cap - self.rho, Fraction(0))
            return _converted(left, self.delta, ROUND_FLOOR)
        return Budget(
            max(self.cap.epsilon - self.spent.epsilon, Fraction(0)), max(self.cap.delta - self.spent.delta, Fraction(0))
        )

    # guarded: tests/unit/test_guarded_ledger.py::TestAccounts
    @property
    def in_rho(self) -> Budget | None:
        """What Σρ comes to, rounded up; None if a charge has no ρ, or all are of (ε, 0) and no cap has a δ."""
        return None if self.rho is None or not self.delta else _converted(self.rho, self.delta, ROUND_CEILING)


# guarded: tests/unit/test_guarded_ledger.py::TestAccounts
def account(entries: Iterable[Entry], dataset: str) -> Account:
    """What the rows say of a data set: charges add up, and the last cap holds."""
    own = [entry for entry in entries if entry.dataset == dataset]
    caps = [entry for entry in own if entry.kind == "cap"]
    cap, rho_cap = (caps[-1].budget, caps[-1].rho) if caps else (None, None)
    deltas = [cap.delta] if cap and cap.delta else [exact(entry.delta) for entry in _charges(own, dataset)]
    return Account(
        Budget(*spending(own, dataset)),
        cap,
        unit(own, dataset),
        spending_in_rho(own, dataset),
        None if rho_cap is None else exact(rho_cap),
        max(deltas, default=Fraction(0)),
    )


def unit(entries: Iterable[Entry], dataset: str) -> Unit | None:
    """What the neighbours of the losses of a data set differ by; None if nothing was charged, and no cap says it."""
    return next((entry.about for entry in entries if entry.dataset == dataset and entry.about is not None), None)


# guarded: tests/unit/test_guarded_ledger.py::TestAccounts
def spending(entries: Iterable[Entry], dataset: str) -> tuple[Fraction, Fraction]:
    """ε and δ of all charges to a data set together; δ is not bounded yet, as it is in a budget."""
    charges = _charges(entries, dataset)
    epsilons, deltas = ([exact(getattr(entry, name)) for entry in charges] for name in ("epsilon", "delta"))
    return sum(epsilons, Fraction(0)), sum(deltas, Fraction(0))


# guarded: tests/unit/test_guarded_ledger.py::TestAccounts
def spending_in_rho(entries: Iterable[Entry], dataset: str) -> Fraction | None:
    """ρ of all charges to a data set together; None if one has none."""
    total = Fraction(0)
    for entry in _charges(entries, dataset):
        if entry.rho is not None:
            total += exact(entry.rho)
        elif exact(entry.delta) == 0:
            total += exact(entry.epsilon) ** 2 / 2
        else:
            return None
    return total


# guarded: tests/unit/test_guarded_ledger.py::TestRefusals
def shortfalls(dataset: str, before: Account, rows: Sequence[Entry]) -> Iterator[str]:
    """Why a data set has less left than new charges take, a line each."""
    if before.rho_cap is not None:
        yield from _shortfalls_in_rho(dataset, before, spending_in_rho(rows, dataset), before.rho_cap)
    spent_before = (before.spent.epsilon, before.spent.delta)
    bound = before.cap if before.rho_cap is None else None
    caps = (None, None) if bound is None else (bound.epsilon, bound.delta)
    for sign, wanted, spent, cap in zip("εδ", spending(rows, dataset), spent_before, caps, strict=True):
        if cap is not None and spent + wanted > cap:
            left = spelled(max(cap - spent, Fraction(0)))
            yield f'data set "{dataset}": {sign} = {spelled(wanted)} is asked for, {left} is left of {spelled(cap)}'
        elif sign == "δ" and spent + wanted >= 1:
            yield f'data set "{dataset}": δ would add up to {spelled(spent + wanted)}, and 1 promises nothing'


# guarded: tests/unit/test_guarded_ledger.py::TestRefusals
def _shortfalls_in_rho(dataset: str, before: Account, wanted: Fraction | None, cap: Fraction) -> Iterator[str]:
    if before.rho is None or wanted is None:
        when = "it was charged" if before.rho is None else "it is asked for"
        yield (
            f'data set "{dataset}": its cap bounds ρ, and {when} a loss with a δ above 0 that has no ρ; a cap on '
            "(ε, δ) adds up any losses"
        )
    elif before.rho + wanted > cap:
        numbers = [f"{as_float(each):.6g}" for each in (wanted, max(cap - before.rho, Fraction(0)), cap)]
        left = f"{numbers[1]} is left of {numbers[2]}"
        yield f'data set "{dataset}": ρ = {numbers[0]} is asked for, {left}: {before.remaining} for one run'


# guarded: tests/unit/test_guarded_ledger.py::TestAccounts
def _charges(entries: Iterable[Entry], dataset: str) -> list[Entry]:
    return [entry for entry in entries if entry.kind == "charge" and entry.dataset == dataset]


def _converted(rho: Fraction, delta: Fraction, rounding: str) -> Budget:
    """ρ at a δ, with few digits."""
    if not rho:
        return Budget(0)
    epsilon = Decimal(epsilon_of(rho, delta))
    return Budget(Context(prec=DIGITS, rounding=rounding).plus(epsilon), delta)
