"""What a policy leaves open on the data of a run; see :class:`sqlanon.model.release.Findings`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlanon.engines.base import Compute
from sqlanon.errors import PolicyError
from sqlanon.methods.cells import EncodedTable
from sqlanon.methods.dependencies import revealing_columns
from sqlanon.methods.kept_values import KeptValues, identifying_pairs
from sqlanon.model.lattice import Levels
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import Exposure, Findings, HomogeneousColumn, RepeatedIdentifier
from sqlanon.queries.release import findings as queries

MAX_LISTED_PAIRS = 100
"""The most pairs of columns that are listed where they were not looked at; their number is always given."""

MAX_COUNTED_ROWS = 1_000_000
"""Rows of a column whose values are all counted; of more they are estimated: a billion would not fit."""

SIEVED_ROWS = 50_000
"""Rows by whose values identifiers are found that repeat; of more, one value in several. Where fewer values than that
repeat, which hardly changes what classes count, they can be missed."""


def findings(engine: Compute, table: EncodedTable, levels: Levels, kept: KeptValues) -> Findings:
    """What the policy of a run leaves open at a node, once its published rows are grouped (``EQUAL_ROWS``)."""
    revealing, columns_left = revealing_columns(engine, table, levels, kept)
    pairs, pairs_left = identifying_pairs(engine, table, kept)
    return Findings(
        repeated_identifiers=tuple(_repeated_identifiers(engine, table)),
        homogeneous_columns=tuple(_homogeneous_columns(engine, table)),
        revealing_columns=tuple(revealing),
        identifying_pairs=tuple(pairs),
        unexamined_columns=tuple(columns_left),
        unexamined_pairs=len(pairs_left),
        unexamined_pairs_listed=tuple(pairs_left[:MAX_LISTED_PAIRS]),
    )


def exposure(engine: Compute, table: EncodedTable) -> Exposure | None:
    """How exposed the rows of the source are; None if cells do not have them all as they are."""
    if table.unknown.suppressed or any(table.bound.policy.minimum_levels.values()):
        return None
    found = engine.fetch(queries.exposure(table.encoding), "the classes of the source")[0]
    return Exposure(**found) if found["k"] else None


def _repeated_identifiers(engine: Compute, table: EncodedTable) -> Iterator[RepeatedIdentifier]:
    bound, rows = table.bound, table.context.row_count
    names = () if bound.policy.individual is not None else bound.policy.identifiers
    one_in = max(rows // SIEVED_ROWS, 1)
    estimates: dict[str, int] = {}
    if one_in > 1 and names:
        estimates = _estimated_values(engine, table, names, one_in)
        names = tuple(estimates)
    if not names:
        return
    is_exact = rows <= MAX_COUNTED_ROWS
    query = queries.rows_per_value(bound.source, names, counts_values=is_exact)
    found = engine.fetch(query, "values of identifiers")[0]
    for place, name in enumerate(names):
        filled, values = found[f"rows_{place}"], found[f"values_{place}"] if is_exact else estimates[name]
        if values < filled:
            yield _repeated(bound.policy, name, filled, found["source_rows"], values, is_exact=is_exact)


# More than six parameters: what was counted of a column.
def _repeated(
    policy: Policy, name: str, filled: int, source_rows: int, values: int, *, is_exact: bool
) -> RepeatedIdentifier:
    # A ward, or a yes and no, has few values of many rows each.
    is_person = values > filled / values
    can_be_named = is_person and filled == source_rows and _is_accepted(policy, {"individual": name})
    return RepeatedIdentifier(
        column=name,
        rows=filled,
        values=values,
        is_exact=is_exact,
        is_person=is_person,
        proposal=f"individual = {json.dumps(name, ensure_ascii=False)}" if can_be_named else None,
    )


def _estimated_values(engine: Compute, table: EncodedTable, names: Sequence[str], one_in: int) -> dict[str, int]:
    """About how many values the identifiers have, for those with repetitions among one value in several."""
    engine.run(queries.some_values(table.bound.source, names, one_in))
    found = engine.fetch(queries.rows_of_some_values(len(names), one_in), "values of identifiers")
    engine.drop(queries.SOME_VALUES)
    return {names[row["place"]]: row["values"] * one_in for row in found if row["values"] < row["rows"]}


def _homogeneous_columns(engine: Compute, table: EncodedTable) -> Iterator[HomogeneousColumn]:
    policy = table.bound.policy
    protected = {column for model in policy.privacy for column in model.columns}
    names = [name for name in policy.sensitive if name not in protected]
    if not names:
        return
    found = engine.fetch(queries.homogeneous_rows(table.encoding, names), "classes with a single value")[0]
    if not found["rows"]:
        return
    for place, name in enumerate(names):
        model = {"model": "distinct-l-diversity", "column": name, "l": 2}
        models = [*(each.model_dump(mode="json") for each in policy.privacy), model]
        yield HomogeneousColumn(
            column=name,
            homogeneous_rows=found[f"homogeneous_{place}"],
            released_rows=found["rows"],
            proposal=_as_toml("privacy", model) if _is_accepted(policy, {"privacy": models}) else None,
        )


def _is_accepted(policy: Policy, changes: Mapping[str, Any]) -> bool:
    """Whether a policy with changes is valid."""
    try:
        Policy(**{**policy.model_dump(mode="json"), **changes})
    except PolicyError:
        return False
    return True


def _as_toml(table: str, values: Mapping[str, object]) -> str:
    """An element of an array of tables; a string of JSON is one of TOML."""
    lines = (f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())
    return "\n".join([f"[[{table}]]", *lines])
