"""The report of a release of DiffGen: what was drawn and spent, and nothing else of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sqlanon.mechanisms.accountant import Portions
from sqlanon.methods.cuts.diffgen.draws import LEAVES
from sqlanon.methods.cuts.diffgen.encode import Points
from sqlanon.methods.cuts.diffgen.leaves import Leaves
from sqlanon.methods.cuts.diffgen.specialize import Chosen
from sqlanon.methods.cuts.shared.noted import numbers_of_labels
from sqlanon.methods.shared.private.chance import Chance
from sqlanon.methods.shared.private.guarantee import NOT_PRIVATE, why_void
from sqlanon.methods.shared.private.report import few_rows, weak_budget
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
        labels: of each predictor, how many labels it has, or how many sets of labels.
        specialized: the predictor of each specialization, in the order in which they were drawn.
        combinations: how many there are of labels and class, whether any row has them or not.
    """

    labels: dict[str, int]
    specialized: tuple[str, ...]
    combinations: int

    @property
    def generalization(self) -> dict[str, str]:
        return numbers_of_labels(self.labels)


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
    bound, settings, cut = points.bound, points.settings, published.chosen.cut
    names = [axis.name for axis in points.axes]
    return DiffGenReport(
        source=bound.description,
        into=into,
        method=settings.name,
        variant="private",
        stamp=NOT_PRIVATE if why_void(settings, chance.is_private) else None,
        node={},
        heights={},
        node_is_public=False,
        domains=bound.domains,
        spent=tuple(_spent(published.portions)),
        thresholds={LEAVES: published.leaves.threshold},
        rows_per_individual=settings.rows_per_individual,
        released_rows=published.rows,
        released_groups=published.groups,
        lattice_nodes=0,
        opened_account=chance.opened_account,
        seconds=dict(seconds),
        notes=(*weak_budget(settings), *few_rows(published.rows)),
        labels=dict(zip(names, cut.widths, strict=True)),
        specialized=tuple(names[each.piece.position] for each in published.chosen.specializations),
        combinations=published.leaves.size,
    )


def _spent(portions: Portions) -> list[Spent]:
    """What each kind of step spent, all of them together."""
    spent: dict[str, Fraction] = {}
    for charge in portions.given:
        spent[charge.purpose] = spent.get(charge.purpose, Fraction(0)) + charge.budget.epsilon
    position = portions.given[-1].position
    return [Spent(step=purpose, budget=Budget(epsilon), position=position) for purpose, epsilon in spent.items()]
