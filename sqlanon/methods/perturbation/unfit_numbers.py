"""Numbers that can neither be grouped nor get noise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlanon.methods.perturbation.change import SQL, Change
from sqlanon.model.names import in_quotes
from sqlanon.queries.kit.nodes import column


def unfit_numbers(change: Change[Any], name: str, least: int, fewer: str) -> Iterator[str]:
    """Say what is unfit in a column.

    Args:
        least: the fewest values of a stratum that has some.
        fewer: what strata of fewer values lack, and what to do.
    """
    query = SQL.query(
        "unfit_numbers", rows=change.rows.relation, value=column(name), stratum=change.stratum, least=least
    )
    found = change.engine.fetch(query, f"numbers of {in_quotes(name)}")[0]
    if found["wild"]:
        yield f"{in_quotes(name)} has infinities, NaN or numbers beyond 1e100 in {found['wild']:,} rows"
    if found["is_constant"]:
        yield f"{in_quotes(name)} has one value in all rows, which would stay: do not perturb it"
    elif found["strata"]:
        yield f"{in_quotes(name)} has {found['strata']:,} strata, of {found['rows']:,} values together, {fewer}"
