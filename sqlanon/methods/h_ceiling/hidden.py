"""The conversation about counterfeits that hide: counts of classes go up, what is drawn for them comes down.

Pólya's urn: which of the rows that a class has so far a counterfeit copies, or that it gets a value of its own.

The sequence of the values of a class, true rows first, is then exchangeable: its probability depends on how often it
has each value, and not on their order. Given the values that are published, every set of rows is as likely as any other
of its size to be the true ones (spec/hceiling_fill.md, T2).
"""

from __future__ import annotations

import numpy as np
from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.mechanisms.source import Floats, RandomSource
from sqlanon.methods.h_ceiling import queries
from sqlanon.methods.h_ceiling.queries import PRIOR_ROWS, Ancestors
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.lattice import Levels, with_level
from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.kit.nodes import column

DIGITS = 12
"""Digits to which entropies are compared: a database adds in any order, and equal runs are to choose equal chains."""


def put_urns(engine: Compute, table: EncodedTable, levels: Levels, *, has_barred: bool) -> None:
    """Make the tables that counterfeits are drawn by, for the classes of a node that lack rows.

    They have a row for each of these classes and each value that it may get.

    Args:
        engine: the database.
        table: the cells of true rows.
        levels: the node.
        has_barred: whether there are values that classes never get.
    """
    encoding, named = table.encoding, queries.about(table.encoding, levels)
    cells = queries.cells_by_key(encoding, levels, queries.value_column(encoding), ROW_COUNT)
    engine.run(named.step(queries.CLASS_VALUES, "class_values", cells=cells))
    labels = Ancestors(encoding, _alone(table, levels), queries.LABEL_VALUES)
    engine.run(labels.step("values of labels"))
    chain = Ancestors(encoding, _chain(engine, table, levels, labels), queries.ANCESTOR_VALUES)
    engine.run(chain.step("values of more general classes"))
    engine.run(queries.urns(encoding, levels, chain, has_barred=has_barred))
    engine.run(queries.chances(encoding, levels, labels, chain, has_barred=has_barred))
    own = column(queries.value_column(encoding), "anon_own")
    may_be_copied = queries.is_barred(own).not_() if has_barred else exp.true()
    engine.run(named.step(queries.BOUNDS, "bounds", may_be_copied=may_be_copied))


def classes_without_values(engine: Compute, table: EncodedTable, levels: Levels) -> int:
    """How many classes that lack rows may get no value."""
    query = queries.about(table.encoding, levels).query("classes_without_chances")
    return int(engine.fetch(query, "classes without a value")[0]["classes"])


def draws(engine: Compute, source: RandomSource) -> Floats:
    """What is drawn for all counterfeits, in their places."""
    sizes = engine.fetch(queries.SQL.query("urn_sizes"), "classes by what they lack", "class")
    drawn = [drawn_from_urns(each["own"], each["missing"], each["classes"], source) for each in sizes]
    return np.concatenate([np.empty(0), *drawn])


def _alone(table: EncodedTable, levels: Levels) -> list[Levels]:
    """For each quasi-identifier below its top, the node at which it alone is so, in its own level."""
    heights = table.context.lattice.heights
    return [
        with_level(heights, place, level)
        for place, (level, height) in enumerate(zip(levels, heights, strict=True))
        if level < height
    ] or [heights]


def _chain(engine: Compute, table: EncodedTable, levels: Levels, labels: Ancestors) -> list[Levels]:
    """The nodes from the top of the lattice down to a node, without it: each is one level lower than the one before.

    Quasi-identifiers are lowered one after the other to their level: first the one whose labels leave least uncertain
    of the sensitive value, of equal ones the first of the policy.
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
    # The class without its own rows is empty at the node itself, which then says nothing.
    return chain[:-1] or chain


# guarded: tests/unit/h_ceiling/test_urn.py
def drawn_from_urns(own: int, missing: int, urns: int, source: RandomSource) -> Floats:
    """What the counterfeits of some classes are, without the values that these have.

    A counterfeit copies each of the m rows that its class has so far with probability 1 / (m + :data:`PRIOR_ROWS`), and
    gets a value from the distribution that is expected of the class otherwise.

    Args:
        own: how many true rows each class has that may be copied, 0 or more.
        missing: how many counterfeits each class gets.
        urns: how many classes they are.
        source: where they are drawn from.

    Returns:
        for each counterfeit, class after class, the number of the true row that it copies, from 0 on, or u - 1 in
        (-1, 0), where u is the place in (0, 1) of its value in the distribution; shape (urns * missing,).
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
