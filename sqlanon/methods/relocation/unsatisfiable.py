"""Why no node has few enough rows in small classes, and what would do."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.engines.base import Compute
from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.nodes.counting import examine_nodes
from sqlanon.methods.shared.nodes.proposals import share_of
from sqlanon.model.methods.full_domain import Relocation
from sqlanon.search import SearchOutcome


def unsatisfiable(engine: Compute, table: EncodedTable, outcome: SearchOutcome) -> UnsatisfiableError:
    """The error of a search that found no node; what it proposes was checked.

    The most general node has the fewest rows in small classes, whatever the k: if it does not do, none does.
    """
    settings, context = table.bound.policy.method, table.context
    assert isinstance(settings, Relocation)
    if not outcome.unsatisfiable:
        return UnsatisfiableError(
            f"no node with few enough rows in classes of fewer than {settings.k:,} was found yet:",
            [
                f"{outcome.checked_nodes:,} of {context.lattice.size:,} nodes were checked, and there may be one among "
                'the others: give the search more time, or take search "optimal"'
            ],
        )
    return UnsatisfiableError(
        f"no node has at most {context.allowed_rows:,} rows in classes of fewer than {settings.k:,} (limit "
        f"{settings.limit:g}), and a class that these can go to:",
        list(_lines(engine, table)),
    )


def _lines(engine: Compute, table: EncodedTable) -> Iterator[str]:
    context, lattice = table.context, table.context.lattice
    top, whole = (examine_nodes(engine, table, [levels])[0] for levels in (lattice.top, lattice.heights))
    rows = top.summary.suppressed_rows
    node = ", ".join(f"{name} {level}" for name, level in lattice.named(lattice.top).items())
    yield f"best node: {node}; {rows:,} of {context.row_count:,} rows are in such classes there"
    if top.summary.kept_class_count:
        yield f"limit = {share_of(rows, context.row_count):g} is the smallest that would do"
    if (top.best_k or 0) >= 2:
        yield f"k = {top.best_k:,} is the largest that would do"
    if whole.summary.kept_class_count and whole.summary.suppressed_rows <= context.allowed_rows:
        yield "leaving out maximum_levels would do"
