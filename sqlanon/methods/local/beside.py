"""Local recoding beside earlier releases: numbers of joint classes are one more quasi-identifier, of a single level."""

from __future__ import annotations

from dataclasses import replace

from sqlanon.engines.base import Compute
from sqlanon.methods.local.hiding import JointHiding
from sqlanon.methods.local.peeling import LocalClasses
from sqlanon.methods.shared.absent import absent_by_number
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.lattice import Lattice
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.cells.encoding import EARLIER


def joint_hiding(engine: Compute, table: EncodedTable) -> JointHiding:
    """What is hidden already of the joint classes of earlier releases."""
    earlier = table.encoding.spec.earlier
    assert earlier is not None
    return JointHiding(table.encoding.criteria.k, absent_by_number(engine, earlier.count))


def with_numbers(lattice: Lattice) -> Lattice:
    """The lattice with one more quasi-identifier, which stays at its least level."""
    return Lattice(
        (*lattice.quasi_identifiers, EARLIER), (*lattice.heights, 1), (*lattice.bottom, 0), (*lattice.top, 0)
    )


def without_numbers(classes: LocalClasses) -> LocalClasses:
    """Classes without the levels and the labels of that one, so that several may have the same labels."""
    return replace(classes, levels=classes.levels[:, :-1], labels=classes.labels[:, :-1])


HELP = "what can help: a larger suppression_limit, a smaller k, or fewer releases in earlier"


def too_many_hidden(policy: Policy, hidden: int) -> list[str]:
    """What to say where more rows are left out beside earlier releases than may be."""
    which = "joint class of earlier releases whose persons are no longer all there, or are too few"
    return [f"{hidden:,} rows are hidden: {policy.criteria.k:,} persons at least of each {which}", HELP]
