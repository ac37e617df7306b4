"""The conversation about combinations that no counterfeit gets: entries go down once, and what they bar is counted."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from sqlanon.engines.base import Compute
from sqlanon.methods.h_ceiling import queries
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.lattice import Levels
from sqlanon.model.methods.h_ceiling import HCeiling, entry_name
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.kit.nodes import Relation, number, values


def put_entries(engine: Compute, policy: Policy) -> None:
    """Make the tables of the entries of a policy, if it has any; they are there until the run is over."""
    labels, sensitive = [], []
    for place, entry in enumerate(_entries(policy)):
        positions = [at for at, name in enumerate(policy.quasi_identifiers) if name in entry]
        labels += [(place, len(positions), at, entry[policy.quasi_identifiers[at]]) for at in positions]
        sensitive += [(place, entry[name]) for name in policy.sensitive]
    if sensitive:
        _put(engine, queries.ENTRY_LABELS, ("anon_entry", "anon_entry_size", "position", "anon_entry_label"), labels)
        _put(engine, queries.ENTRY_VALUES, ("anon_entry", "anon_entry_value"), sensitive)


def unknown_labels(engine: Compute, table: EncodedTable) -> list[str]:
    """The labels of entries that their taxonomies do not have, a sentence each."""
    policy = table.bound.policy
    if not _entries(policy):
        return []
    found = engine.fetch(queries.about(table.encoding).query("unknown_labels"), "labels of impossible combinations")
    return [
        f'{entry_name(row["entry"])}: the taxonomy of "{policy.quasi_identifiers[row["position"]]}" has no such label'
        for row in found
    ]


def place_by_barred_values(engine: Compute, table: EncodedTable, levels: Levels) -> None:
    """Order the classes of a node that lack rows by the values that they never get."""
    policy, encoding = table.bound.policy, table.encoding
    mentioned = {name for entry in _entries(policy) for name in entry}
    positions = [at for at, name in enumerate(policy.quasi_identifiers) if name in mentioned]
    named = queries.about(encoding, levels)
    node = values("anon_node", ("position", "depth"), ([number(place), number(at)] for place, at in enumerate(levels)))
    engine.run(named.step(queries.BARRING, "barring_labels", node=node))
    engine.run(queries.barred(encoding, levels, positions))
    engine.run(named.step(queries.PLACED, "placed"))


def values_of_no_row(engine: Compute, table: EncodedTable) -> tuple[str, ...]:
    """A note on the entries whose sensitive value no row has, which is right if another table may have it."""
    policy = table.bound.policy
    if not _entries(policy):
        return ()
    found = engine.fetch(queries.about(table.encoding).query("values_of_no_row"), "values of impossible combinations")
    if not found:
        return ()
    entries = ", ".join(entry_name(row["entry"]) for row in found)
    return (f'no row has the value of "{policy.sensitive[0]}" in {entries}: check its spelling',)


def _entries(policy: Policy) -> Sequence[dict[str, str]]:
    assert isinstance(policy.method, HCeiling)
    return policy.method.impossible


def _put(engine: Compute, relation: Relation, names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
    engine.put(relation, pa.table([list(each) for each in zip(*rows, strict=True)], names=list(names)))
