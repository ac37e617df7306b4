"""What a policy leaves open on the data of a run; see :class:`sqlanon.model.release.Findings`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlanon.engines.base import Compute
from sqlanon.errors import PolicyError
from sqlanon.methods.cells import EncodedTable
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import Findings, HomogeneousColumn, RepeatedIdentifier
from sqlanon.queries.release import findings as queries

MAX_COUNTED_ROWS = 1_000_000
"""Rows of a column whose values are all counted; of more rows, one value in several: a billion would not fit."""


def findings(engine: Compute, table: EncodedTable) -> Findings:
    """What the policy of a run leaves open, once its published rows are grouped (``EQUAL_ROWS``)."""
    return Findings(
        repeated_identifiers=tuple(_repeated_identifiers(engine, table)),
        homogeneous_columns=tuple(_homogeneous_columns(engine, table)),
    )


def _repeated_identifiers(engine: Compute, table: EncodedTable) -> Iterator[RepeatedIdentifier]:
    bound = table.bound
    policy, names = bound.policy, bound.policy.identifiers
    if policy.individual is not None or not names:
        return
    one_in = max(table.context.row_count // MAX_COUNTED_ROWS, 1)
    query = queries.rows_per_value(bound.source, names, one_in)
    found = engine.fetch(query, "values of identifiers")[0]
    for place, name in enumerate(names):
        rows, values = found[f"rows_{place}"], found[f"values_{place}"]
        if values < found[f"counted_{place}"]:
            values *= one_in
            # A ward, or a yes and no, has few values of many rows each.
            is_person = values > rows / values
            is_complete = rows == found["source_rows"]
            can_be_named = is_person and is_complete and _is_accepted(policy, {"individual": name})
            yield RepeatedIdentifier(
                column=name,
                rows=rows,
                values=values,
                is_exact=one_in == 1,
                is_person=is_person,
                proposal=f"individual = {json.dumps(name, ensure_ascii=False)}" if can_be_named else None,
            )


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
