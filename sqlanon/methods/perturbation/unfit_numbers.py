"""Numbers that can neither be grouped nor get noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlanon.methods.perturbation.change import SQL, Change
from sqlanon.model.names import counted, in_quotes
from sqlanon.queries.kit.nodes import column


def number_counts(change: Change[Any], name: str, least: int) -> Mapping[str, Any]:
    """Count the numbers of a column that do not fit, and strata of fewer values than ``least``."""
    query = SQL.query(
        "unfit_strata",
        rows=change.rows.relation,
        value=column(name),
        number=change.as_number(name),
        stratum=change.stratum,
        least=least,
    )
    return change.engine.fetch(query, f"values of {in_quotes(name)}")[0]


def unfit_numbers(name: str, found: Mapping[str, Any], fewer: str) -> Iterator[str]:
    """Say what does not fit in a column; ``fewer`` is what strata of few values lack, and what to do."""
    if found["wild"]:
        yield f"{in_quotes(name)} has infinities, NaN or numbers beyond 1e100 in {counted(found['wild'], 'row')}"
    if found["is_constant"]:
        yield f"{in_quotes(name)} has one value in all rows, which would stay: do not perturb it"
    elif found["strata"]:
        yield f"{in_quotes(name)} has {found['strata']:,} strata, of {found['rows']:,} values together, {fewer}"
