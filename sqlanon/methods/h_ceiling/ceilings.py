"""The choice of a ceiling, where a policy gives none: of a grid, the one of least reconstruction error.

A low ceiling keeps labels fine and needs many counterfeits; a high one needs few, and its labels say little. Each
ceiling has its node of fewest counterfeits, and is judged by the mean reconstruction error of that node.

By the error as published, counterfeits cost nothing without a catalog, so that the lowest ceiling would always be taken
(spec/hceiling.md, H13). So each row is as likely to be true as rows are in the whole release, which is what a recipient
knows from the number of counterfeits. A suppressed row has an error of 1.

Source: Lee et al. 2017, "Implementation of anonymization algorithm", an optimal h by RCE where none is given; Fig. 8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlanon.engines.duckdb import Compute
from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.h_ceiling.ceiling_report import CeilingPoint
from sqlanon.methods.h_ceiling.ceiling_search import DIGITS, Need, Needs, node_below
from sqlanon.methods.stages import Stopped
from sqlanon.model.lattice import NodeSummary
from sqlanon.nodes.choice import Observer
from sqlanon.nodes.table import EncodedTable
from sqlanon.search import SearchOutcome
from sqlanon.search.arrays import Bounds, Index

GRID = tuple(step / 20 for step in range(1, 21))
"""The ceilings that are tried, 0.05 apart as in Lee et al. 2017, Figs 6 and 8; at 0 nothing would be generalized."""

WITHIN = 1e-12  # the rounding error by which a degree may exceed the ceiling (spec/hceiling.md (a))

Errors = Callable[[float], Bounds]
"""The mean reconstruction error of every node, if each row is true with a probability."""


@dataclass(frozen=True)
class ChosenCeiling:
    """A ceiling, and the nodes below it."""

    ceiling: float
    outcome: SearchOutcome
    nodes: list[NodeSummary]  # that were checked, the best first
    curve: tuple[CeilingPoint, ...]  # all ceilings that were tried, ascending


def ranked_ceilings(
    engine: Compute, table: EncodedTable, degrees: Bounds, errors: Errors, observer: Observer, stopped: Stopped
) -> list[ChosenCeiling]:
    """Order the ceilings of the grid by the error of their nodes, the best first; equal ones from the lowest.

    A ceiling above the first that needs no counterfeits is not tried: the same node would be taken there.

    Args:
        engine: the database.
        table: the cells.
        degrees: the largest degree of generalization of a row at every node.
        errors: the reconstruction errors of nodes.
        observer, stopped: as in a search; a stopped search chooses among the ceilings that it has tried.

    Raises:
        UnsatisfiableError: below each ceiling every node suppresses too many rows.
    """
    lattice, rows = table.context.lattice, max(table.context.row_count, 1)
    of_true_rows = errors(1.0)
    known: dict[Index, Need] = {}
    curve: list[CeilingPoint] = []
    found: list[tuple[SearchOutcome, list[NodeSummary]]] = []
    failure: UnsatisfiableError | None = None
    with engine.scratch():
        needs = Needs(engine, table)
        for ceiling in GRID:
            allowed = degrees <= ceiling + WITHIN
            if not allowed.any():
                continue
            try:
                outcome, nodes = node_below(needs, known, allowed, of_true_rows, observer, stopped)
            except UnsatisfiableError as error_below:
                failure = error_below
                continue
            levels = nodes[0].levels
            index = lattice.index(levels)
            need = known[index]
            kept = rows - need.suppressed
            error = float(errors(kept / (kept + need.counterfeits))[index])
            point = CeilingPoint(
                ceiling=ceiling,
                degree=float(degrees[index]),
                node=lattice.named(levels),
                counterfeits=need.counterfeits,
                reconstruction_error=(kept * error + need.suppressed) / rows,
            )
            curve.append(point)
            found.append((outcome, nodes))
            if need.counterfeits == 0 or stopped():
                break
    if not curve:
        assert failure is not None
        raise failure
    whole = tuple(curve)
    order = sorted(range(len(whole)), key=lambda place: round(whole[place].reconstruction_error, DIGITS))
    return [ChosenCeiling(whole[place].ceiling, *found[place], whole) for place in order]
