"""The classes that peeling finds for a table under its policy, beside earlier releases or not.

Beside earlier releases the number of a joint class is one more quasi-identifier, of a single level.
"""

from __future__ import annotations

from dataclasses import replace

from sqlanon.engines.base import Compute
from sqlanon.methods.local.arrays import CellArrays
from sqlanon.methods.local.hiding import JointHiding
from sqlanon.methods.local.peeling import LocalClasses, peel
from sqlanon.methods.local.refusals import no_classes
from sqlanon.methods.local.settling import UnsettledError
from sqlanon.methods.local.watching import Watch
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.lattice import Lattice
from sqlanon.model.methods.local import LocalRecoding
from sqlanon.queries.cells.encoding import EARLIER

HELP = "what can help: a larger suppression_limit, a smaller k, or fewer releases in earlier"


def found_classes(engine: Compute, table: EncodedTable, cells: CellArrays, watch: Watch) -> LocalClasses:
    """The classes of a table; beside earlier releases several may have the same labels.

    Args:
        engine: the database.
        table: the cells.
        cells: the same as arrays.
        watch: follows the search.

    Raises:
        UnsatisfiableError: none meet the policy within its suppression limit.
    """
    earlier, policy, context = table.encoding.spec.earlier, table.bound.policy, table.context
    if earlier is None:
        return _peeled(table, cells, watch)
    classes = _peeled(table, cells, watch, JointHiding.of(engine, table.encoding, cells))
    if classes.left_out > context.allowed_rows:
        which = "joint class of earlier releases whose persons are no longer all there, or are too few"
        hidden = f"{classes.left_out:,} rows are hidden: {policy.criteria.k:,} persons at least of each {which}"
        if policy.criteria.looks_at_values:
            hidden += ", or have values that do not meet the models"
        raise no_classes(policy, context, hidden, HELP)
    return replace(classes, levels=classes.levels[:, :-1], labels=classes.labels[:, :-1])


def _peeled(table: EncodedTable, cells: CellArrays, watch: Watch, beside: JointHiding | None = None) -> LocalClasses:
    policy, context, lattice = table.bound.policy, table.context, table.bound.lattice
    assert isinstance(policy.method, LocalRecoding)
    shares = policy.method.shares(policy)
    try:
        classes = peel(
            cells,
            lattice if beside is None else _with_numbers(lattice),
            table.encoding.criteria.bounds,
            shares=shares if beside is None else (*shares, 0.0),
            min_share=policy.method.min_share,
            allowed_rows=context.allowed_rows,
            beside=beside,
            watch=watch,
        )
    except UnsettledError as error:
        rows = f"{error.rows:,} of {context.row_count:,} rows do not meet them even all together"
        if beside is not None:
            raise no_classes(policy, context, f"{rows} with others of the same joint class", HELP) from None
        raise no_classes(policy, context, rows) from None
    if context.row_count and not len(classes.levels):
        raise no_classes(policy, context, "no class would be left")
    return classes


def _with_numbers(lattice: Lattice) -> Lattice:
    """The lattice with one more quasi-identifier, which stays at its least level."""
    return Lattice(
        (*lattice.quasi_identifiers, EARLIER), (*lattice.heights, 1), (*lattice.bottom, 0), (*lattice.top, 0)
    )


def without_numbers(table: EncodedTable) -> EncodedTable:
    """The same cells for what asks for labels alone: the key of a cell finds its class, and has the number in it."""
    spec = replace(table.encoding.spec, earlier=None, shown_values=())
    return replace(table, encoding=replace(table.encoding, spec=spec, has_raw_values=table.encoding.holds_release))
