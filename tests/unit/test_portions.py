"""Portions of a whole that was paid: exact, never more than it, and private whatever they are made to depend on."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.audits.exact_audit import smallest_epsilon
from sqlanon.chance.accountant import Accountant, Charge, Expense, Portions
from sqlanon.model.budget import Unit
from sqlanon.model.names import KnownSource

A, B = KnownSource("memory.main.a", "1"), KnownSource("memory.main.b", "2")
EPSILONS = st.fractions(0, 2, max_denominator=1000)


def portions(epsilon: str | Fraction) -> Portions:
    accountant = Accountant(None, dataset="", method="", policy_sha256="")
    return accountant.charge_in_portions("specializations", sa.Budget(epsilon))


class TestPortions:
    def test_they_add_up_to_the_whole_to_the_last_digit(self) -> None:
        whole = portions("1")
        given = [whole.take("split", Fraction(1, 52)) for _ in range(26)]
        given.append(whole.rest("leaves"))
        assert given == [Charge("split", sa.Budget("1/52"), None)] * 26 + [Charge("leaves", sa.Budget("1/2"), None)]
        assert whole.given == given
        assert whole.left == 0
        assert whole.whole == sa.Budget(1)

    def test_more_than_is_left_is_refused(self) -> None:
        whole = portions("0.3")
        whole.take("split", Fraction(1, 5))
        with pytest.raises(sa.BudgetError, match="leaves: nothing is drawn") as refused:
            whole.take("leaves", Fraction(1, 10) + Fraction(1, 10**60))
        [problem] = refused.value.problems
        assert problem.startswith("ε = 0.1000")
        assert problem.endswith("is asked for, 0.1 is left of 0.3, paid for specializations")
        assert whole.rest("leaves").budget == sa.Budget("0.1"), "a refusal takes nothing"
        with pytest.raises(sa.BudgetError, match="0 is left"):
            whole.take("more", Fraction(1, 10**60))

    def test_nothing_can_be_drawn_once_all_is_given(self) -> None:
        whole = portions("0.3")
        assert whole.rest("leaves").budget == sa.Budget("0.3")
        assert whole.rest("more").budget == sa.Budget(0)
        with pytest.raises(sa.BudgetError, match="ε must be above 0"):
            sa.SeededSource(1).discrete_laplace(1, whole.rest("more"))

    @pytest.mark.parametrize("epsilon", [Fraction(-1, 10), 0.1, math.nan])
    def test_what_is_no_portion_is_refused(self, epsilon: Fraction) -> None:
        whole = portions("0.3")
        with pytest.raises(sa.PolicyError):
            whole.take("split", epsilon)
        assert (whole.left, whole.given) == (Fraction("0.3"), [])

    @given(EPSILONS, st.lists(EPSILONS | st.none(), max_size=12))
    def test_they_never_add_up_to_more(self, paid: Fraction, asked: list[Fraction | None]) -> None:
        """Whatever is asked for, None being all of the rest, and whatever was refused before."""
        whole, expected = portions(paid), list[tuple[str, Fraction]]()
        for place, epsilon in enumerate(asked):
            left, purpose = paid - sum(found for _, found in expected), f"step {place}"
            if epsilon is not None and epsilon > left:
                with pytest.raises(sa.BudgetError):
                    whole.take(purpose, epsilon)
            else:
                charge = whole.rest(purpose) if epsilon is None else whole.take(purpose, epsilon)
                expected.append((charge.purpose, left if epsilon is None else epsilon))
        assert [(charge.purpose, charge.budget.epsilon) for charge in whole.given] == expected
        assert whole.left == paid - sum(found for _, found in expected) >= 0


@dataclass
class Book:
    """A ledger of expenses, numbered from 7 up."""

    expenses: list[Expense] = field(default_factory=list)

    def commit(self, expenses: Sequence[Expense]) -> list[int]:
        self.expenses += expenses
        return [*range(7, 7 + len(expenses))]

    def head(self) -> str:
        return ""


class TestCharges:
    def test_all_of_it_is_committed(self) -> None:
        book, budgets = Book(), {"choose": sa.Budget(1), "count": sa.Budget(2, "1e-6")}
        accountant = Accountant(
            book, dataset="visits", method="ipa", policy_sha256="ab", unit=Unit("id", 3), sources=(A,), public=(B,)
        )
        charges = accountant.charge(budgets)
        assert charges == {name: Charge(name, budget, 7 + i) for i, (name, budget) in enumerate(budgets.items())}
        assert book.expenses == [
            Expense("visits", "ipa", name, budget, "ab", Unit("id", 3), (A,), (B,)) for name, budget in budgets.items()
        ]
        assert accountant.paid == [*budgets.values()]
        whole = accountant.charge_in_rho("measure", sa.Budget(1, "1e-6"))
        assert book.expenses[-1].rho == whole.rho > 0
        assert len(accountant.paid) == 3

    def test_without_a_ledger_nothing_is_paid(self) -> None:
        accountant = Accountant(None, dataset="", method="", policy_sha256="")
        budgets = {"choose": sa.Budget(1), "count": sa.Budget(2)}
        assert accountant.charge(budgets) == {name: Charge(name, each, None) for name, each in budgets.items()}
        assert accountant.paid == []

    def test_portions_have_no_delta(self) -> None:
        book = Book()
        accountant = Accountant(book, dataset="", method="", policy_sha256="")
        with pytest.raises(ValueError, match="is not 0"):
            accountant.charge_in_portions("split", sa.Budget(1, "1e-6"))
        assert book.expenses == accountant.paid == []


class TestPrivacy:
    """Exactly: an individual's bit is asked about again and again, at an ε that depends on the answers before."""

    WHOLE = Fraction(5, 2)

    def test_the_loss_of_every_path_is_at_most_the_whole(self) -> None:
        assert self.loss(lambda: portions(self.WHOLE)) == pytest.approx(2.5, abs=1e-9)

    def test_the_loss_without_a_bound_is_found(self) -> None:
        def unbounded() -> SimpleNamespace:
            return SimpleNamespace(take=lambda purpose, epsilon: Charge(purpose, sa.Budget(epsilon), None))

        assert self.loss(unbounded) > 3

    def loss(self, wholes: Callable[[], Portions | SimpleNamespace]) -> float:
        """The smallest ε of all that is answered to the neighbours whose bit is set and is not."""
        with_bit, without = ({path: chance[bit] for path, chance in self.paths(wholes)} for bit in (1, 0))
        return max(smallest_epsilon(with_bit, without, 0).upper, smallest_epsilon(without, with_bit, 0).upper)

    def paths(
        self, wholes: Callable[[], Portions | SimpleNamespace], before: tuple[int, ...] = ()
    ) -> Iterator[tuple[tuple[int, ...], tuple[float, float]]]:
        """All answers up to five, or until one is refused, and how likely they are if the bit is 0 and if it is 1."""
        whole, chance = wholes(), [1.0, 1.0]
        for place, answer in enumerate(before):
            truth = 1 / (1 + math.exp(-self.asked(whole, before[:place]).budget.epsilon))
            chance = [chance[bit] * (truth if answer == bit else 1 - truth) for bit in (0, 1)]
        try:
            refused = len(before) == 5 or not self.asked(whole, before)
        except sa.BudgetError:
            refused = True
        if refused:
            yield before, (chance[0], chance[1])
        else:
            for answer in (0, 1):
                yield from self.paths(wholes, (*before, answer))

    def asked(self, whole: Portions | SimpleNamespace, before: tuple[int, ...]) -> Charge:
        """The more often the bit is said to be set, the more closely it is asked about."""
        return whole.take("bit", Fraction(1 + sum(before), 4))
