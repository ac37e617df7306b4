"""Runs over the visits of a clinic: searches with roll-ups and proofs, masks, lists, and rows of a query."""

from functools import partial
from pathlib import Path

import sqlanon as sa
from tests.far_stays import POLICIES, T_CLOSENESS, drawing, fixed_chance, open_stays, policy
from tests.golden.plans import RELEASE, Plan

SYNTHETIC = sa.Synthetic(
    budget=sa.Budget(2, "0.001"),
    numeric={"age": [0, 40, 80]},
    levels={"zip": 2, "diagnosis": 1},
    refine=["diagnosis"],
    nulls=["age", "sex", "diagnosis"],
    rows=8,
    accept_observed_domain=True,
)


def _publish(session: sa.Session, _: Path, *, source: str, wanted: sa.Policy) -> None:
    session.anonymize(source, wanted, RELEASE, random_source=fixed_chance(wanted))


VISITS = {
    name: Plan(open_stays, partial(_publish, source=source, wanted=wanted), source=source)
    for name, source, wanted in (
        ("masks", "visits", POLICIES["masks"]),
        ("t of a query", "SELECT * FROM visits WHERE nights > 0", policy(sa.KAnonymity(2), T_CLOSENESS[1])),
        ("diffgen of sets", "treated", POLICIES["diffgen of sets"]),
        ("synthetic, refined", "visits", drawing(SYNTHETIC)),
    )
}
"""Plans over the visits."""
