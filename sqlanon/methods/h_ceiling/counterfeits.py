"""Counterfeits: how many a node needs is counted in SQL, chance comes from here, and rows are rebuilt in SQL.

Counterfeits are known by their number alone: they are counted together with true rows of the same class and value
before any row is written, and rows are in the order of their own columns.

Entries of impossible combinations, which no counterfeit gets, go down once, and what they bar is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.mechanisms.source import Floats, RandomSource
from sqlanon.methods.h_ceiling import hidden, queries
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.lattice import Levels
from sqlanon.model.methods.h_ceiling import COUNTERFEITS, HCeiling, entry_name
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.kit.nodes import Relation, number, values

Drawn = NDArray[np.uint32] | Floats
"""What was drawn for all counterfeits, in their places: the codes of values, or of what hides as urns have it."""


@dataclass(frozen=True)
class Added:
    """What was added to a node.

    Attributes:
        count: how many counterfeits.
        classes: how many classes they are in.
        fewest_true_rows: how many true rows the class has that has the fewest.
        suppressed: how many rows are left out, those of classes of fewer true rows than the policy asks for.
    """

    count: int
    classes: int
    fewest_true_rows: int
    suppressed: int


@dataclass(frozen=True)
class Filled:
    """A node whose classes all have k rows.

    Attributes:
        table: its cells, counterfeits among them.
        true: its cells without counterfeits.
        levels: the node.
        added: what was added.
        drawn: what was drawn for its counterfeits.
    """

    table: EncodedTable
    true: EncodedTable
    levels: Levels
    added: Added
    drawn: Drawn

    @property
    def settings(self) -> HCeiling:
        """What was asked for."""
        return settings_of(self.table)


def settings_of(table: EncodedTable) -> HCeiling:
    """What was asked for."""
    assert isinstance(table.bound.policy.method, HCeiling)
    return table.bound.policy.method


def rows_without_value(engine: Compute, table: EncodedTable) -> int:
    """How many rows have NULL for a sensitive value."""
    query = queries.about(table.encoding).query("rows_without_value")
    return int(engine.fetch(query, "rows without a value")[0]["rows"])


def fill(engine: Compute, table: EncodedTable, levels: Levels, source: RandomSource) -> Filled:
    """Fill up the classes of a node with counterfeits (spec/hceiling.md (b) 3, spec/hceiling_fill.md).

    Raises:
        UnsatisfiableError: the policy leaves no value for the counterfeits of some classes.
    """
    settings = settings_of(table)
    true = _true_rows(engine, table, levels)
    _find_lacking(engine, true, levels)
    totals = engine.fetch(queries.SQL.query("lacking_totals"), "classes that lack rows")[0]
    drawn = _drawn(engine, true, levels, totals, source)
    _put_in(engine, true, levels, drawn)
    fewest = settings.k if totals["smallest"] is None else int(totals["smallest"])
    filled = replace(table.encoding, cells=queries.FILLED, added=settings.added_columns)
    added = Added(len(drawn), int(totals["classes"]), fewest, _suppressed(engine, true))
    return Filled(replace(table, encoding=filled), true, levels, added, drawn)


def fill_again(engine: Compute, table: EncodedTable, filled: Filled) -> None:
    """Make the tables of a node again that was filled up before, with the values that were drawn then."""
    true = _true_rows(engine, table, filled.levels)
    _find_lacking(engine, true, filled.levels)
    _put_in(engine, true, filled.levels, filled.drawn)


def _true_rows(engine: Compute, table: EncodedTable, levels: Levels) -> EncodedTable:
    fewest = settings_of(table).fewest_true_rows
    if fewest == 1:
        return table
    engine.run(queries.kept_cells(table.encoding, levels, fewest))
    return replace(table, encoding=replace(table.encoding, cells=queries.KEPT_CELLS))


def _suppressed(engine: Compute, true: EncodedTable) -> int:
    """How many rows are not in the cells of the classes that are left."""
    if settings_of(true).fewest_true_rows == 1:
        return 0
    query = queries.about(true.encoding).query("row_count")
    return true.context.row_count - int(engine.fetch(query, "true rows")[0]["rows"])


def _find_lacking(engine: Compute, table: EncodedTable, levels: Levels) -> None:
    settings, named = settings_of(table), queries.about(table.encoding, levels)
    engine.run(named.step(queries.KNOWN, "known_values"))
    cells = queries.cells_by_key(table.encoding, levels, ROW_COUNT)
    engine.run(named.step(queries.LACKING, "lacking", cells=cells, k=settings.k))
    if settings.impossible:
        place_by_barred_values(engine, table, levels)
    if settings.fill == "hidden":
        hidden.put_urns(engine, table, levels, has_barred=bool(settings.impossible))


def _put_in(engine: Compute, table: EncodedTable, levels: Levels, drawn: Drawn) -> None:
    """Put drawn values in their places, and make the cells that they are in."""
    engine.put(queries.DRAWN, pa.table({"anon_place": np.arange(len(drawn)), "anon_drawn_value": drawn}))
    settings, named = settings_of(table), queries.about(table.encoding, levels)
    if settings.fill == "hidden":
        engine.run(named.step(queries.COUNTERFEITS, "hidden_counterfeits"))
    else:
        lacking = queries.PLACED if settings.impossible else queries.LACKING
        engine.run(named.step(queries.COUNTERFEITS, "counterfeits", lacking=lacking))
    engine.run(queries.filled_cells(table.encoding, levels))


def _drawn(
    engine: Compute, table: EncodedTable, levels: Levels, totals: Mapping[str, int], source: RandomSource
) -> Drawn:
    settings = settings_of(table)
    if settings.fill == "hidden":
        if settings.impossible:
            _refuse_without_values(levels, hidden.classes_without_values(engine, table, levels))
        return hidden.draws(engine, source)
    sets: Sequence[Mapping[str, Any]] = [totals]
    if settings.impossible:
        sets = engine.fetch(queries.SQL.query("barred_sets"), "sets of values that classes never get")
    return _drawn_from_all(engine, table, levels, sets, source)


def _drawn_from_all(
    engine: Compute, table: EncodedTable, levels: Levels, sets: Sequence[Mapping[str, Any]], source: RandomSource
) -> Drawn:
    """The codes of values that are drawn from those of all rows: for each set of barred values from what is left."""
    known = engine.fetch(queries.about(table.encoding).query("value_counts"), "sensitive values")
    codes, rows = (np.array([row[name] for row in known], dtype=np.int64) for name in ("value", "rows"))
    weights = rows if settings_of(table).fill == "marginal" else np.ones_like(rows)
    drawn, classes = [np.empty(0, dtype=np.uint32)], 0
    for each in sets:
        left = np.where(np.isin(codes, each.get("barred", [])), 0, weights)
        if each["missing"] and left.any():
            drawn.append(codes[source.sampled(left, int(each["missing"]))].astype(np.uint32))
        elif each["missing"]:
            classes += int(each["classes"])
    _refuse_without_values(levels, classes)
    return np.concatenate(drawn)


def _refuse_without_values(levels: Levels, classes: int) -> None:
    if classes:
        raise UnsatisfiableError(
            "impossible leaves counterfeits no value:",
            [f"at {tuple(levels)} {classes:,} classes that lack rows never get any value that the table has"],
        )


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


def refuse_table_of_counterfeits(policy: Policy) -> None:
    """Refuse a companion table of counterfeits two of whose columns would have one name.

    Raises:
        PolicyError: names the column.
    """
    for name in policy.columns:
        if folded(name) == COUNTERFEITS:
            raise PolicyError(f'the table of counterfeits needs the name of column "{name}"; rename it in a view')


def refuse_rows(engine: Compute, table: EncodedTable) -> None:
    """Refuse a table that has fewer rows than a class is to have, or rows without a sensitive value.

    And labels of impossible combinations that its taxonomies do not have.

    Raises:
        PolicyError: listing all.
    """
    problems, k = [], table.context.k
    if k > table.context.row_count:
        problems.append(f"k is {k:,}, and there are {table.context.row_count:,} rows: no class could be true")
    if nameless := rows_without_value(engine, table):
        (name,) = table.bound.policy.sensitive
        problems.append(
            f'"{name}" is NULL in {nameless:,} rows: give them a value in a view or a query, or leave them out'
        )
    problems += unknown_labels(engine, table)
    if problems:
        raise PolicyError(f"the policy does not fit {table.bound.description}:", problems)
