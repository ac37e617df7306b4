"""The conversation about combinations that no counterfeit gets: entries go down once, and what they bar is counted."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from sqlanon.engines.base import Compute
from sqlanon.methods.h_ceiling import impossible_queries as queries
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.lattice import Levels
from sqlanon.model.policy.h_ceiling import HCeiling, entry_name
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.kit.nodes import Relation


def put_entries(engine: Compute, policy: Policy) -> None:
    """Make the tables of the entries of a policy, if it has any; they are there until the run is over."""
    labels, values = [], []
    for place, entry in enumerate(_entries(policy)):
        positions = [at for at, name in enumerate(policy.quasi_identifiers) if name in entry]
        labels += [(place, len(positions), at, entry[policy.quasi_identifiers[at]]) for at in positions]
        values += [(place, entry[name]) for name in policy.sensitive]
    if values:
        _put(engine, queries.ENTRY_LABELS, (queries.ENTRY, queries.SIZE, "position", queries.LABEL), labels)
        _put(engine, queries.ENTRY_VALUES, (queries.ENTRY, queries.ENTRY_VALUE), values)


def unknown_labels(engine: Compute, table: EncodedTable) -> list[str]:
    """The labels of entries that their taxonomies do not have, a sentence each."""
    policy = table.bound.policy
    if not _entries(policy):
        return []
    found = engine.fetch(queries.unknown_labels(table.encoding), "labels of impossible combinations")
    return [
        f'{entry_name(row["entry"])}: the taxonomy of "{policy.quasi_identifiers[row["position"]]}" has no such label'
        for row in found
    ]


def place_by_barred_values(engine: Compute, table: EncodedTable, levels: Levels) -> None:
    """Order the classes of a node that lack rows by the values that they never get."""
    policy, encoding = table.bound.policy, table.encoding
    named = {name for entry in _entries(policy) for name in entry}
    positions = [at for at, name in enumerate(policy.quasi_identifiers) if name in named]
    for step in (
        queries.barring_labels(encoding, levels),
        queries.barred(encoding, levels, positions),
        queries.placed(encoding, levels),
    ):
        engine.run(step)


def values_of_no_row(engine: Compute, table: EncodedTable) -> tuple[str, ...]:
    """A note on the entries whose sensitive value no row has, which is no mistake if it may be in another table."""
    policy = table.bound.policy
    if not _entries(policy):
        return ()
    found = engine.fetch(queries.values_of_no_row(table.encoding), "values of impossible combinations")
    if not found:
        return ()
    entries = ", ".join(entry_name(row["entry"]) for row in found)
    return (f'no row has the value of "{policy.sensitive[0]}" in {entries}: check its spelling',)


def _entries(policy: Policy) -> Sequence[dict[str, str]]:
    assert isinstance(policy.method, HCeiling)
    return policy.method.impossible


def _put(engine: Compute, relation: Relation, names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
    engine.put(relation, pa.table([list(each) for each in zip(*rows, strict=True)], names=list(names)))
