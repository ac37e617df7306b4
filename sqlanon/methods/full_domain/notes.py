"""What a reader of a report would want to be told: columns that tell nothing any more, and those that tell too much."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.engines.base import Compute
from sqlanon.methods.cells import EncodedTable
from sqlanon.model.lattice import Lattice, Levels
from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.kit.nodes import aliased, column, number, select, subquery
from sqlanon.queries.release import rare_values
from sqlanon.queries.release.rows import EQUAL_ROWS

NEARLY_UNIQUE = 0.5
"""A column is nearly unique if this share of the rows, or more, have a value that few rows have."""

MOST_RARE = 10
"""A value that so many rows have is not rare, whatever the k: else short lists of values were nearly unique, too."""

COUNTED_ROWS = 1_000_000
"""The most rows of which all values are counted; of more, a sample: to group ten million values takes seconds."""

ESTIMATE_ERROR = 2
"""The factor by which an estimated number of values may be off."""


def columns_at_the_top(lattice: Lattice, levels: Levels) -> tuple[str, ...]:
    """A note on the quasi-identifiers of which one label is left for all rows, unless the policy demanded it."""
    places = zip(lattice.quasi_identifiers, levels, lattice.heights, lattice.bottom, strict=True)
    told_nothing = [name for name, level, height, least in places if level == height > least]
    if not told_nothing:
        return ()
    columns = _listed(told_nothing)
    reached, tells = ("is", "it tells") if len(told_nothing) == 1 else ("are", "they tell")
    return (
        f"{columns} {reached} at the top level, where all rows have one label, so that {tells} nothing any more; what "
        "can help: maximum_levels below the top, more levels in between, fewer quasi-identifiers, a larger "
        "suppression_limit, or another quality model",
    )


def nearly_unique_columns(engine: Compute, table: EncodedTable) -> tuple[str, ...]:
    """A note on each kept column of the release that nearly tells its rows apart."""
    return _nearly_unique(engine, table, EQUAL_ROWS.table, "released rows")


def nearly_unique_columns_of_source(engine: Compute, table: EncodedTable) -> tuple[str, ...]:
    """The same of the source."""
    kept = [column(name) for name in _kept_columns(table)]
    rows = select([*kept, aliased(number(1), ROW_COUNT)], table.bound.source.copy())
    return _nearly_unique(engine, table, subquery(rows, "anon_rows"), "rows")


def _nearly_unique(engine: Compute, table: EncodedTable, rows: exp.Expr, of_what: str) -> tuple[str, ...]:
    """A value is rare if fewer rows have it than a class has, which protects nobody who is known by the value."""
    names, fewer_than = _kept_columns(table), min(max(table.bound.policy.criteria.k, 2), MOST_RARE)
    if not names:
        return ()
    found = engine.fetch(rare_values.distinct_estimates(table.encoding, names, rows), "values of kept columns")[0]
    one_in = max(int(found["rows"]) // COUNTED_ROWS, 1)
    # Every rare value has fewer rows than that: columns of fewer values need not be counted.
    least = NEARLY_UNIQUE * found["rows"] / (fewer_than - 1) / ESTIMATE_ERROR
    notes = []
    for name in (name for place, name in enumerate(names) if found[f"values_{place}"] >= max(least, 1)):
        query = rare_values.rare_rows(table.encoding, name, rows, fewer_than, one_in)
        counts = engine.fetch(query, "rows of rare values")[0]
        if counts["rare"] >= NEARLY_UNIQUE * counts["counted"] > 0:
            share = f"{'about ' if one_in > 1 else ''}{100 * counts['rare'] / counts['counted']:.1f} %"
            few = "no other row has" if fewer_than == 2 else f"fewer than {fewer_than:,} rows have"
            notes.append(
                f'"{name}" is published as it is and nearly unique: {share} of the {of_what} have a value there that '
                f"{few}; who knows it finds them, whatever the privacy models say of their class: drop it, or make it "
                "a quasi-identifier"
            )
    return tuple(notes)


def _kept_columns(table: EncodedTable) -> list[str]:
    policy = table.bound.policy
    return [*policy.sensitive, *policy.insensitive]


def _listed(names: Sequence[str]) -> str:
    *others, last = [f'"{name}"' for name in names]
    return f"{', '.join(others)} and {last}" if others else last
