"""What a reader of a report would want to be told: columns that tell nothing any more, and those that tell too much."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.methods.kept_values import KeptValues
from sqlanon.model.lattice import Lattice, Levels


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


def nearly_unique_columns(kept: KeptValues, rows: str = "released rows") -> tuple[str, ...]:
    """A note on each kept column that is nearly unique in some rows, which are named by ``rows``."""
    about = "about " if kept.one_in > 1 else ""
    few = "no other row has" if kept.fewer_than == 2 else f"fewer than {kept.fewer_than:,} rows have"
    return tuple(
        f'"{name}" is published as it is and nearly unique: {about}{100 * share:.1f} % of the {rows} have a value '
        f"there that {few}; who knows it finds them, whatever the privacy models say of their class: drop it, or make "
        "it a quasi-identifier"
        for name, share in kept.rare_shares.items()
    )


def _listed(names: Sequence[str]) -> str:
    *others, last = [f'"{name}"' for name in names]
    return f"{', '.join(others)} and {last}" if others else last
