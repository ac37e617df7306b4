"""Rows with values that taxonomies do not have: how many there are, whether they may go, and what their labels lose."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.unknown_values import unknown_in
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import UnsatisfiableError
from sqlanon.model.lattice import LevelLosses
from sqlanon.model.policy.policy import Policy
from sqlanon.queries import source_rows as queries
from sqlanon.queries import taxonomies
from sqlanon.queries.coded_labels import root_rows
from sqlanon.queries.encoding import CellSpec, Encoding
from sqlanon.queries.kit.nodes import Step


@dataclass(frozen=True)
class UnknownRows:
    """The number of rows with a value that the taxonomy of its column does not have.

    Attributes:
        suppressed: those that are left out.
        by_column: those with such a value in a column whose policy is not to refuse it, left out or not.
    """

    suppressed: int = 0
    by_column: Mapping[str, int] = field(default_factory=dict)


def find_unknown_rows(engine: Compute, spec: CellSpec) -> UnknownRows:
    """Count the rows, and keep their values for the labels of the run; the rows are read once for it."""
    unknown = spec.unknown
    if unknown is None:
        return UnknownRows()
    engine.run(Step(queries.UNKNOWN, queries.unknown_rows(unknown, spec.taxonomy), "values without a label"))
    counts = engine.fetch(queries.unknown_counts(unknown), "rows of values without a label")[0]
    by_column = {name: int(counts[f"rows_{place}"]) for place, name in enumerate(unknown.columns)}
    return UnknownRows(int(counts["suppressed"]), {name: rows for name, rows in by_column.items() if rows})


def unknown_notes(policy: Policy, unknown: UnknownRows) -> tuple[str, ...]:
    """Say what became of the rows, a sentence for each column."""
    left_out = policy.columns_with("suppress")
    return tuple(
        f'{rows:,} rows have a value of "{name}" that its taxonomy does not have: '
        + ("they are left out" if name in left_out else "they have the label of its top level")
        for name, rows in unknown.by_column.items()
    )


def refuse_too_many(engine: Compute, bound: BoundPolicy, unknown: UnknownRows, known: int) -> None:
    """Refuse to leave out more rows than the policy allows to be suppressed, or all.

    Raises:
        UnsatisfiableError: says how many there are in each column, and how to list their values.
    """
    policy, rows = bound.policy, known + unknown.suppressed
    allowed = policy.allowed_rows(known, unknown.suppressed)
    if allowed < 0 or (unknown.suppressed and not known):
        limit = f" ({allowed + unknown.suppressed:,} may be, suppression_limit {policy.suppression_limit:g})"
        labelled = {name: taxonomies.values_of(bound.taxonomy, name) for name in policy.columns_with("suppress")}
        listed = (
            unknown_in(engine, bound.whole, name, values, bound.known.get(name)) for name, values in labelled.items()
        )
        raise UnsatisfiableError(
            f"{unknown.suppressed:,} of {rows:,} rows of {bound.description} have values that their taxonomy does not "
            f"have, and would be left out{limit if allowed < 0 else ''}:",
            [*filter(None, listed), "what can help: taxonomies with these values, or a larger suppression_limit"],
        )


def with_root_losses(engine: Compute, encoding: Encoding, losses: LevelLosses) -> LevelLosses:
    """The losses of levels with unknown values at what the top loses, which is the same at every level."""
    prec, entropy = [[*map(list, table)] for table in (losses.prec, losses.entropy)]
    least = [*map(list, losses.least_information)]
    width = len(prec)
    for row in engine.fetch(root_rows(encoding), "rows of unknown values", "node"):
        position, depth, rows, whole = row["position"], row["depth"], float(row["rows"]), float(row["whole"])
        if rows > 0:
            share = rows / whole
            prec[position][depth] += share * (1 / width - prec[position][depth])
            entropy[position][depth] += rows * math.log2(whole / rows)
            if least:
                least[position][depth] = 0.0
    return replace(losses, prec=_table(prec), entropy=_table(entropy), least_information=_table(least))


def _table(rows: list[list[float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, rows))
