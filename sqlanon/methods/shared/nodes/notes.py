"""A note on columns whose labels say nothing any more."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.model.lattice import Lattice, Levels


def columns_at_the_top(lattice: Lattice, levels: Levels) -> tuple[str, ...]:
    """A note on the quasi-identifiers that have one label for all rows, unless the policy demanded it."""
    places = zip(lattice.quasi_identifiers, levels, lattice.heights, lattice.bottom, strict=True)
    at_top = [name for name, level, height, least in places if level == height > least]
    if not at_top:
        return ()
    columns = _listed(at_top)
    reached, say = ("is", "it says") if len(at_top) == 1 else ("are", "they say")
    return (
        f"{columns} {reached} at the top level, where all rows have one label, so that {say} nothing any more; what "
        "can help: maximum_levels below the top, more levels in between, fewer quasi-identifiers, a larger "
        "suppression_limit, or another quality model",
    )


def _listed(names: Sequence[str]) -> str:
    *others, last = [f'"{name}"' for name in names]
    return f"{', '.join(others)} and {last}" if others else last
