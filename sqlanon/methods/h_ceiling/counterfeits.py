"""Counterfeits: SQL counts the needed rows and rebuilds the table; Python only draws.

Only their number distinguishes counterfeits: they are counted together with true rows of the same class and value
before any row is written, and rows are ordered by their own columns.

Entries of impossible combinations, which counterfeits avoid, are loaded once; SQL finds the values that they bar.

The fill "hidden" draws from Pólya's urn, which decides whether a counterfeit copies one of its class's rows so far, or
gets a value of its own. The sequence of a class's values, true rows first, is then exchangeable: its probability
depends on how often each value occurs, not on their order. Given the published values, every set of rows is as likely
as any other of its size to be the true ones (spec/hceiling_fill.md, T2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.chance.exact import Floats
from sqlanon.chance.random_source import RandomSource
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.methods.h_ceiling import ceiling_queries as queries
from sqlanon.methods.h_ceiling.ceiling_queries import PRIOR_ROWS, Ancestors
from sqlanon.model.lattice import Levels, with_level
from sqlanon.model.methods.counterfeiting import HCeiling, entry_name
from sqlanon.model.policy.policy import Policy
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries.encoding import ROW_COUNT
from sqlanon.queries.kit.nodes import Relation, column, number, values

Drawn = NDArray[np.uint32] | Floats  # the draws for all counterfeits, by place: codes of values, or draws from urns


@dataclass(frozen=True)
class Added:
    count: int
    classes: int  # with counterfeits
    fewest_true_rows: int  # the smallest number in a class
    suppressed: int  # rows of classes with fewer true rows than the policy demands


@dataclass(frozen=True)
class Filled:
    table: EncodedTable  # with counterfeits
    true: EncodedTable  # without counterfeits
    levels: Levels
    added: Added
    drawn: Drawn

    @property
    def settings(self) -> HCeiling:
        return HCeiling.of(self.table.bound.policy)


def fill(engine: Compute, table: EncodedTable, levels: Levels, source: RandomSource) -> Filled:
    """Fill small classes of a node with counterfeits (spec/hceiling.md (b) 3, spec/hceiling_fill.md)."""
    settings = HCeiling.of(table.bound.policy)
    true = _true_rows(engine, table, levels)
    _find_lacking(engine, true, levels)
    totals = engine.fetch(queries.SQL.query("lacking_totals"), "classes that lack rows")[0]
    drawn = _drawn(engine, true, levels, totals, source)
    _put_in(engine, true, levels, drawn)
    fewest = settings.k if totals["smallest"] is None else int(totals["smallest"])
    filled = replace(table.encoding, cells=queries.FILLED, added=settings.added_columns)
    suppressed = 0
    if settings.fewest_true_rows > 1:
        kept = engine.fetch(queries.about(true.encoding).query("row_count"), "true rows")[0]["rows"]
        suppressed = true.context.row_count - int(kept)
    added = Added(len(drawn), int(totals["classes"]), fewest, suppressed)
    return Filled(replace(table, encoding=filled), true, levels, added, drawn)


def fill_again(engine: Compute, table: EncodedTable, filled: Filled) -> None:
    true = _true_rows(engine, table, filled.levels)
    _find_lacking(engine, true, filled.levels)
    _put_in(engine, true, filled.levels, filled.drawn)


def _true_rows(engine: Compute, table: EncodedTable, levels: Levels) -> EncodedTable:
    fewest = HCeiling.of(table.bound.policy).fewest_true_rows
    if fewest == 1:
        return table
    engine.run(queries.kept_cells(table.encoding, levels, fewest))
    return replace(table, encoding=replace(table.encoding, cells=queries.KEPT_CELLS))


def _find_lacking(engine: Compute, table: EncodedTable, levels: Levels) -> None:
    settings, named = HCeiling.of(table.bound.policy), queries.about(table.encoding, levels)
    engine.run(named.step(queries.KNOWN, "known_values"))
    cells = queries.cells_by_key(table.encoding, levels, ROW_COUNT)
    engine.run(named.step(queries.LACKING, "lacking", cells=cells, k=settings.k))
    if settings.impossible:
        # Order the classes that lack rows by the values that are barred from them.
        mentioned = {name for entry in settings.impossible for name in entry}
        positions = [at for at, name in enumerate(table.bound.policy.quasi_identifiers) if name in mentioned]
        depths = ([number(place), number(at)] for place, at in enumerate(levels))
        node = values("anon_node", ("position", "depth"), depths)
        engine.run(named.step(queries.BARRING, "barring_labels", node=node))
        engine.run(queries.barred(table.encoding, levels, positions))
        engine.run(named.step(queries.PLACED, "placed"))
    if settings.fill == "hidden":
        put_urns(engine, table, levels, has_barred=bool(settings.impossible))


def _put_in(engine: Compute, table: EncodedTable, levels: Levels, drawn: Drawn) -> None:
    engine.put(queries.DRAWN, pa.table({"anon_place": np.arange(len(drawn)), "anon_drawn_value": drawn}))
    settings, named = HCeiling.of(table.bound.policy), queries.about(table.encoding, levels)
    if settings.fill == "hidden":
        engine.run(named.step(queries.COUNTERFEITS, "hidden_counterfeits"))
    else:
        lacking = queries.PLACED if settings.impossible else queries.LACKING
        engine.run(named.step(queries.COUNTERFEITS, "counterfeits", lacking=lacking))
    engine.run(queries.filled_cells(table.encoding, levels))


def _drawn(
    engine: Compute, table: EncodedTable, levels: Levels, totals: Mapping[str, int], source: RandomSource
) -> Drawn:
    settings = HCeiling.of(table.bound.policy)
    if settings.fill == "hidden":
        if settings.impossible:
            query = queries.about(table.encoding, levels).query("classes_without_chances")
            _refuse_without_values(levels, int(engine.fetch(query, "classes without a value")[0]["classes"]))
        sizes = engine.fetch(queries.SQL.query("urn_sizes"), "classes by what they lack", "class")
        of_urns = [drawn_from_urns(each["own"], each["missing"], each["classes"], source) for each in sizes]
        return np.concatenate([np.empty(0), *of_urns])
    sets: Sequence[Mapping[str, Any]] = [totals]
    if settings.impossible:
        sets = engine.fetch(queries.SQL.query("barred_sets"), "sets of values that classes never get")
    known = engine.fetch(queries.about(table.encoding).query("value_counts"), "sensitive values")
    codes, rows = (np.array([row[name] for row in known], dtype=np.int64) for name in ("value", "rows"))
    weights = rows if settings.fill == "marginal" else np.ones_like(rows)
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
    labels, sensitive = [], []
    for place, entry in enumerate(HCeiling.of(policy).impossible):
        positions = [at for at, name in enumerate(policy.quasi_identifiers) if name in entry]
        labels += [(place, len(positions), at, entry[policy.quasi_identifiers[at]]) for at in positions]
        sensitive += [(place, entry[name]) for name in policy.sensitive]
    if sensitive:
        _put(engine, queries.ENTRY_LABELS, ("anon_entry", "anon_entry_size", "position", "anon_entry_label"), labels)
        _put(engine, queries.ENTRY_VALUES, ("anon_entry", "anon_entry_value"), sensitive)


def values_of_no_row(engine: Compute, table: EncodedTable) -> tuple[str, ...]:
    """Note the impossible combinations whose sensitive value occurs in no row; another table may have it."""
    if not HCeiling.of(table.bound.policy).impossible:
        return ()
    found = engine.fetch(queries.about(table.encoding).query("values_of_no_row"), "values of impossible combinations")
    if not found:
        return ()
    entries = ", ".join(entry_name(row["entry"]) for row in found)
    return (f'no row has the value of "{table.bound.policy.sensitive[0]}" in {entries}: check its spelling',)


def _put(engine: Compute, relation: Relation, names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
    engine.put(relation, pa.table([list(each) for each in zip(*rows, strict=True)], names=list(names)))


def refuse_rows(engine: Compute, table: EncodedTable) -> None:
    """Refuse too few rows for a class, NULL as a sensitive value, and impossible labels that no taxonomy has."""
    problems, k = [], table.context.k
    if k > table.context.row_count:
        problems.append(f"k is {k:,}, and there are {table.context.row_count:,} rows: no class could be true")
    without_value = queries.about(table.encoding).query("rows_without_value")
    if nameless := int(engine.fetch(without_value, "rows without a value")[0]["rows"]):
        (name,) = table.bound.policy.sensitive
        problems.append(
            f'"{name}" is NULL in {nameless:,} rows: give them a value in a view or a query, or leave them out'
        )
    if HCeiling.of(table.bound.policy).impossible:
        unknown = queries.about(table.encoding).query("unknown_labels")
        names = table.bound.policy.quasi_identifiers
        problems += [
            f'{entry_name(row["entry"])}: the taxonomy of "{names[row["position"]]}" has no such label'
            for row in engine.fetch(unknown, "labels of impossible combinations")
        ]
    if problems:
        raise PolicyError(f"the policy does not fit {table.bound.description}:", problems)


DIGITS = 12  # digits of compared entropies: equal runs choose equal chains in whatever order terms were added


def put_urns(engine: Compute, table: EncodedTable, levels: Levels, *, has_barred: bool) -> None:
    """Make the tables that counterfeits of the node's small classes are drawn from, based on true rows.

    They have a row per small class and possible value; ``has_barred`` is false if nothing is barred.
    """
    encoding, named = table.encoding, queries.about(table.encoding, levels)
    cells = queries.cells_by_key(encoding, levels, queries.value_column(encoding), ROW_COUNT)
    engine.run(named.step(queries.CLASS_VALUES, "class_values", cells=cells))
    heights = table.context.lattice.heights
    # The nodes with only one quasi-identifier below its top, at its own level.
    alone = [
        with_level(heights, place, level)
        for place, (level, height) in enumerate(zip(levels, heights, strict=True))
        if level < height
    ]
    labels = Ancestors(encoding, alone or [heights], queries.LABEL_VALUES)
    engine.run(labels.step("values of labels"))
    chain = Ancestors(encoding, _chain(engine, table, levels, labels), queries.ANCESTOR_VALUES)
    engine.run(chain.step("values of more general classes"))
    engine.run(queries.urns(encoding, levels, chain, has_barred=has_barred))
    engine.run(queries.chances(encoding, levels, labels, chain, has_barred=has_barred))
    own = column(queries.value_column(encoding), "anon_own")
    may_be_copied = queries.is_barred(own).not_() if has_barred else exp.true()
    engine.run(named.step(queries.BOUNDS, "bounds", may_be_copied=may_be_copied))


def _chain(engine: Compute, table: EncodedTable, levels: Levels, labels: Ancestors) -> list[Levels]:
    """List a chain of nodes from the top of the lattice down towards a node, exclusive, one level per step.

    Quasi-identifiers go down to their level one after the other: first the one whose labels leave the least uncertainty
    about the sensitive value, then in the policy's order.
    """
    heights = table.context.lattice.heights
    lowered = [place for place, (level, height) in enumerate(zip(levels, heights, strict=True)) if level < height]
    entropies = queries.SQL.query("entropies", label_values=labels.values, keys=labels.keys)
    found = engine.fetch(entropies, "entropies of values by label", "node")
    by_node = {row["node"]: round(row["entropy"], DIGITS) for row in found}
    order = sorted(range(len(lowered)), key=lambda at: (by_node.get(at, 0.0), at))
    chain = [heights]
    for place in (lowered[at] for at in order):
        for level in reversed(range(levels[place], heights[place])):
            chain.append(with_level(chain[-1], place, level))
    # At the node itself, the class without its own rows is empty and carries no information.
    return chain[:-1] or chain


# guarded: tests/unit/h_ceiling/test_urn.py
def drawn_from_urns(own: int, missing: int, urns: int, source: RandomSource) -> Floats:
    """Draw the counterfeits of some classes (``urns``) before looking up the values of these.

    A counterfeit copies each of its class's m rows so far with probability 1 / (m + :data:`PRIOR_ROWS`); otherwise it
    gets a value from the class's expected distribution. Each class has ``own`` true rows that may be copied, 0 or more,
    and gets ``missing`` counterfeits.

    Returns:
        by class and counterfeit, the number of the copied true row, from 0, or u - 1 in (-1, 0), where u in (0, 1) is
            the quantile of its value; shape (urns * missing,).
    """
    rows = np.empty((urns, own + missing))
    rows[:, :own] = np.arange(own)
    for size in range(own, own + missing):
        copied = source.sampled(np.array([1] * size + [PRIOR_ROWS], dtype=np.int64), urns)
        is_new = copied == size
        copies = np.flatnonzero(~is_new)
        rows[copies, size] = rows[copies, copied[copies]]
        rows[is_new, size] = source.uniform(int(is_new.sum())) - 1
    return rows[:, own:].ravel()
