"""The report of a release of DiffGen: what was drawn and spent, and nothing else of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from pydantic import Field

from sqlanon.mechanisms.accountant import Portions
from sqlanon.methods.cuts.diffgen.draws import LEAVES, Leaves
from sqlanon.methods.cuts.diffgen.encode import Points
from sqlanon.methods.cuts.diffgen.specialize import Chosen
from sqlanon.methods.shared.private.chance import Chance
from sqlanon.methods.shared.private.report import private_report_of
from sqlanon.model.budget import Budget
from sqlanon.model.release import PrivateReport, Spent

THEOREM = (
    "permute-and-flip (McKenna and Sheldon 2020) and the exponential mechanism on all splits of a public range; "
    "geometric mechanism on all combinations of the domain; adaptive composition, in which what is left is spent last"
)


WITHIN = "everybody may know that all numbers are within their ranges: that a run is refused says that some are not"


class DiffGenReport(PrivateReport):
    """The numbers of a run of DiffGen.

    Attributes:
        combinations: how many there are of labels and class, whether any row has them or not.
    """

    combinations: int = Field(title="combinations of labels and class")


@dataclass(frozen=True)
class Published:
    """What is published once it is drawn: the cut, its counts, what they cost, and the numbers of what is shown."""

    chosen: Chosen
    leaves: Leaves
    portions: Portions
    rows: int
    groups: int


def report(
    points: Points, published: Published, chance: Chance, into: str, seconds: Mapping[str, float]
) -> DiffGenReport:
    """The numbers of a run."""
    bound, cut = points.bound, published.chosen.cut
    names = [axis.name for axis in points.axes]
    return private_report_of(
        DiffGenReport,
        bound,
        chance,
        into,
        seconds,
        spent=tuple(_spent(published.portions)),
        thresholds={LEAVES: published.leaves.threshold},
        rows=published.rows,
        groups=published.groups,
        labels=dict(zip(names, cut.widths, strict=True)),
        specialized=tuple(names[each.piece.position] for each in published.chosen.specializations),
        combinations=published.leaves.size,
    )


def _spent(portions: Portions) -> list[Spent]:
    spent: dict[str, Fraction] = {}
    for charge in portions.given:
        spent[charge.purpose] = spent.get(charge.purpose, Fraction(0)) + charge.budget.epsilon
    position = portions.given[-1].position
    return [Spent(step=purpose, budget=Budget(epsilon), position=position) for purpose, epsilon in spent.items()]
