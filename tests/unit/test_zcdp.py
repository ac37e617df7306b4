"""Zero-concentrated privacy: conversions by the table of the specification and by OpenDP, scales, and a filter."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.chance import opendp
from sqlanon.chance.accountant import Accountant, RhoCharge, RhoPortions, require_rho
from sqlanon.chance.scales import LARGEST_SCALE, RHO_ROUNDING, cost_in_rho, epsilon_of, rho_of, scale_in_rho


def portions(epsilon: str, delta: str = "1e-6") -> RhoPortions:
    accountant = Accountant(None, dataset="", method="", policy_sha256="")
    return accountant.charge_in_rho("marginals", sa.Budget(epsilon, delta))


class TestConversions:
    @pytest.mark.parametrize(
        ("delta", "table"),
        [
            ("1e-6", [0.000321047690, 0.006641524357, 0.024355970360, 0.088152688380, 0.311064954941, 1.539278763867]),
            ("1e-9", [0.000177138447, 0.003953191141, 0.014973057674, 0.056130501797, 0.206312909229, 1.090785704397]),
        ],
    )
    def test_the_table_of_the_specification(self, delta: str, table: list[float]) -> None:
        found = [float(rho_of(sa.Budget(epsilon, delta))) for epsilon in ("0.1", "0.5", "1", "2", "4", "10")]
        assert found == pytest.approx(table, abs=1.5e-12)

    @given(st.fractions("1/1000", 50, max_denominator=1000), st.integers(2, 300))
    def test_what_is_converted_and_back_costs_no_more(self, epsilon: Fraction, digits: int) -> None:
        delta = Fraction(1, 10**digits)
        back = epsilon_of(rho_of(sa.Budget(epsilon, delta)), delta)
        assert float(epsilon) * (1 - 1e-10) <= back <= float(epsilon)

    @pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-9"), ("1", "1e-6"), ("8", "1e-5")])
    def test_opendp_agrees(self, epsilon: str, delta: str) -> None:
        pytest.importorskip("opendp")
        from opendp.combinators import make_fix_delta, make_zCDP_to_approxDP
        from opendp.domains import atom_domain
        from opendp.measurements import make_gaussian
        from opendp.metrics import absolute_distance
        from opendp.mod import enable_features

        enable_features("contrib")
        rho = rho_of(sa.Budget(epsilon, delta))

        def epsilon_at(scale: float) -> float:
            noise = make_gaussian(atom_domain(T="i64"), absolute_distance(T="i64"), scale)
            return float(make_fix_delta(make_zCDP_to_approxDP(noise), float(delta)).map(1)[0])

        scale = scale_in_rho(rho, 1)
        assert epsilon_at(scale * (1 - 1e-9)) > float(epsilon) >= epsilon_at(scale * (1 + 1e-9))

    @pytest.mark.parametrize("budget", [sa.Budget(1), sa.Budget(0, "1e-6"), sa.Budget("1e-30", "1e-300")])
    def test_what_buys_nothing_is_refused(self, budget: sa.Budget) -> None:
        with pytest.raises(sa.BudgetError, match="zero-concentrated privacy buys nothing"):
            rho_of(budget)


class TestScales:
    def test_the_first_round_of_the_specification(self) -> None:
        """spec/synthetic.md, section 7: Adult's 15 columns, 240 rounds."""
        each = rho_of(sa.Budget(1, "1e-6")) / 240
        assert scale_in_rho(each * 9 / 10, 1) == pytest.approx(73.98891349, abs=5e-9)
        assert 2 * 28 * 1024 / scale_in_rho(each / 10, 28 * 1024) == pytest.approx(0.009010358920, abs=5e-13)

    @given(st.fractions("1/100000", 100, max_denominator=10**6), st.integers(1, 2**40))
    def test_a_scale_costs_no_more_than_was_paid(self, rho: Fraction, sensitivity: int) -> None:
        scale = scale_in_rho(rho, sensitivity)
        assert cost_in_rho(scale, sensitivity) <= rho
        assert float(cost_in_rho(scale, sensitivity)) == pytest.approx(float(rho), rel=1e-12) or scale == 2.0**-10

    @given(st.fractions("1/100000", 100, max_denominator=10**6), st.integers(1, 2**40))
    def test_opendp_says_the_same(self, rho: Fraction, sensitivity: int) -> None:
        """Whatever it rounds up: a draw is not refused once it was paid."""
        pytest.importorskip("opendp")
        source, charge = sa.OpenDPSource(), RhoCharge("measure", rho, None)
        assert len(source.discrete_gaussian(1, charge, sensitivity=sensitivity)) == 1
        assert source.gumbel_choice(np.array([0, 1]), charge, sensitivity=sensitivity)[0] in (0, 1)

    def test_what_opendp_says_is_held_against_the_charge(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("opendp")
        monkeypatch.setattr(opendp, "scale_in_rho", lambda rho, sensitivity: scale_in_rho(2 * rho, sensitivity))
        source, charge = sa.OpenDPSource(), RhoCharge("measure", Fraction(1, 10), None)
        with pytest.raises(sa.BudgetError, match="nothing is drawn"):
            source.discrete_gaussian(1, charge)
        with pytest.raises(sa.BudgetError, match="nothing is drawn"):
            source.gumbel_choice(np.array([0, 1]), charge, sensitivity=1)

    @pytest.mark.parametrize(("rho", "why"), [(Fraction(0), "ρ must be above 0"), (Fraction(1, 10**40), "too small")])
    def test_what_buys_no_draw_is_refused(self, rho: Fraction, why: str) -> None:
        with pytest.raises(sa.BudgetError, match=why):
            scale_in_rho(rho, 1)

    def test_scales_have_ends(self) -> None:
        least = Fraction(1, 2 * LARGEST_SCALE**2)
        assert scale_in_rho(least, 1) == pytest.approx(LARGEST_SCALE)
        with pytest.raises(sa.BudgetError, match="too small"):
            scale_in_rho(least * 9 / 10, 1)
        with pytest.raises(ValueError, match="must be 1 or more"):
            scale_in_rho(Fraction(1), 0)
        assert scale_in_rho((1 + RHO_ROUNDING) / 2, 1) == 1, "what is paid to the last bit is enough"

    def test_a_draw_that_costs_more_is_refused(self) -> None:
        """As a source does whose scale is too small."""
        paid = RhoCharge("measure", Fraction(1, 4), None)
        require_rho(paid, 0.25)
        for cost in (math.nextafter(0.25, 1), math.inf):
            with pytest.raises(sa.BudgetError, match=r"but 0\.25 was paid"):
                require_rho(paid, cost)


class TestPortions:
    def test_they_add_up_to_the_whole_exactly(self) -> None:
        whole = portions("1")
        assert whole.take("nothing", Fraction(0)) == whole.given.pop() == RhoCharge("nothing", Fraction(0), None)
        given_out = [whole.take("measure", whole.rho / 3) for _ in range(3)]
        assert whole.left == 0
        assert whole.given == given_out
        with pytest.raises(sa.BudgetError, match="choose: nothing is drawn"):
            whole.take("choose", Fraction(1, 10**60))

    def test_a_refusal_takes_nothing(self) -> None:
        whole = portions("1")
        for rho in (whole.rho * 2, Fraction(-1)):
            with pytest.raises(sa.BudgetError, match=r"is asked for, 0\.0243559703"):
                whole.take("measure", rho)
        assert whole.left == whole.rho
