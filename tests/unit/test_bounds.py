"""Where a privacy model ends: what meets a bound exactly passes or not, and what is a little off never does."""

import math

import pytest

import sqlanon as sa
from sqlanon.model.criteria import Bound

A_LITTLE = 1e-6
"""Far more than sums of floats are off by, and less than anybody would call slack."""

AT_LEAST = {
    "k-anonymity": sa.KAnonymity(5),
    "distinct l-diversity": sa.DistinctLDiversity("s", 5),
    "entropy l-diversity": sa.EntropyLDiversity("s", 5),
    "k-map": sa.KMap(5, "everyone"),
}
AT_MOST = {
    "t-closeness": sa.TCloseness("s", 0.3),
    "basic β-likeness": sa.BetaLikeness("s", 0.3),
    "enhanced β-likeness": sa.BetaLikeness("s", 0.3, "enhanced"),
    "m-concealing": sa.MConcealing(0.3, {"s": 0.5}),
    "α of (α,k)-anonymity": sa.AlphaKAnonymity("s", 0.3, 2),
    "sample uniqueness": sa.SampleUniqueness(0.3),
    "average risk": sa.AverageRisk(0.3),
    "the most of δ-presence": sa.DeltaPresence(0, 0.3, "everyone"),
}
BELOW = {
    "recursive (c,l)-diversity": sa.RecursiveCLDiversity("s", 0.3, 2),
    "δ-disclosure": sa.DeltaDisclosure("s", 0.3),
    "what a payout lacks": sa.Profitability(1, 1, 0.3, 1),
}


def last_bound(model: sa.KAnonymity) -> Bound:
    return model.bounds[-1]


@pytest.mark.parametrize("name", AT_LEAST)
def test_what_has_to_be_reached(name: str) -> None:
    bound = last_bound(AT_LEAST[name])
    assert bound.at_least
    assert bound.met_by(5)
    assert bound.met_by(6)
    assert not bound.met_by(5 * (1 - A_LITTLE))
    assert not bound.met_by(4)


def test_sums_of_floats_have_slack() -> None:
    for bound, few in (
        (last_bound(AT_LEAST["entropy l-diversity"]), 1 - 1e-10),
        (last_bound(AT_MOST["t-closeness"]), 1),
    ):
        assert bound.met_by(bound.required * few)
        assert bound.met_by(bound.required * (2 - few) * (1 + 1e-10))


@pytest.mark.parametrize("name", AT_MOST)
def test_what_must_not_be_exceeded(name: str) -> None:
    bound = last_bound(AT_MOST[name])
    assert bound.met_by(0.3)
    assert not bound.met_by(0.3 * (1 + A_LITTLE))
    assert not bound.met_by(math.inf)


@pytest.mark.parametrize("name", BELOW)
def test_what_must_not_be_reached(name: str) -> None:
    """Nor missed by no more than the last digits of a float where the measure is no ratio of integers."""
    bound = last_bound(BELOW[name])
    assert bound.met_by(0.3 * (1 - A_LITTLE))
    assert not bound.met_by(0.3)
    assert not bound.met_by(math.nextafter(0.3, 1))
    assert bound.met_by(math.nextafter(0.3, 0)) == (name == "recursive (c,l)-diversity")
