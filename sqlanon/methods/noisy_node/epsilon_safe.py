"""ε-safe anonymization: a node is drawn by its score, and classes of a sample that have k rows or more are published.

The conversation with the database: up go scores and the sizes of classes, down come a node and how many rows of each
class are in the sample.

Why it is private. Let D' be D and one more row t; a sample has each row with a probability of β, on its own.

1. The node. A row changes the score of any node by W at most. Permute-and-flip at scale 2 W / ε' is
   ε'-differentially private (McKenna and Sheldon 2020, theorem 1); scores far below the best are raised. It looks at
   the whole table, and at nothing of what the sample is made by.
2. The classes of the sample. Given the node, the class of t has m rows in D' and m - 1 in D; all others are as they
   were, and sampled on their own. A count j of k or more is published with a probability of f(j; m, β) in D' and
   f(j; m - 1, β) in D, whose quotient is m (1 - β) / (m - j): at most e^ε'' where j <= γ m. So larger counts are what δ
   is for, see :mod:`sqlanon.model.sampled_classes`. That nothing of the class is published is at most as likely in D'.
   The other way round the quotient is 1 / (1 - β) at most, which is at most e^ε'' as the policy is checked for. That
   each row of a class is sampled on its own is the same as a binomial number of its rows, because all columns that are
   published are those of the class. Classes of fewer than k rows cannot have k in the sample.
3. β is rounded down to a multiple of 2^-64. It is the same as to leave each row out first with a small probability, and
   that costs nothing: what holds of all tables that may be left holds on average.
4. What is written is a function of what was drawn: no number of rows that were not sampled, or not shown. The steps
   compose adaptively: ε' + ε'', and δ (Dwork and Roth 2014, theorem 3.16 and appendix B).

A node that is drawn on the sample depends on it, and 4 does not hold: the published theorem is wrong there
(spec/epsafe.md S1). Then a larger δ is proven, for all nodes together: see
:func:`sqlanon.model.sampled_classes.delta_on_sample`.

Source: Mazzone 2019, section 4.5; Li, Qardaji and Su 2012, theorem 1; both as corrected in spec/epsafe.md (b).

The score of a node is by what its labels lose, and how many rows are at risk of not being shown:
u(o) = -(l N + (W - l) Φ(o)), where l is the precision that a node loses, N the number of rows, W the weight of a row
that is suppressed, and Φ the sum over the classes of φ(c) = min(c, max(0, 2 (K - 1) - c)): all rows of a class that is
smaller than K, and none of one of twice that. A row changes one class by one row, φ of it by s, which is -1, 0 or 1,
and so the score by l + (W - l) s, which is W at most (spec/epsafe.md (b)).

Two classes that become one put no more rows at risk than both did: φ(a + b) <= φ(a) + φ(b). So Φ does not grow towards
the top, and most nodes need not be counted, as in :mod:`sqlanon.methods.noisy_node.shared`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa
from sqlglot import exp

from sqlanon.chance.exact import Integers
from sqlanon.chance.random_source import RandomSource
from sqlanon.chance.scales import scale_for
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError
from sqlanon.methods.chance import SELECTIONS
from sqlanon.methods.noisy_node.shared import (
    MAX_ROWS,
    DrawnNode,
    Draws,
    Losses,
    NoisyNodeRun,
    Parts,
    nodes_by_scores,
    public_node,
    reach,
    sums,
)
from sqlanon.methods.private import refusing_small_budgets
from sqlanon.model.budget import as_float
from sqlanon.model.lattice import Lattice, Levels
from sqlanon.model.methods.noisy import NODE
from sqlanon.model.methods.sampled_methods import SAMPLE, EpsilonSafe, claimed_delta
from sqlanon.model.sampled_classes import delta_on_sample
from sqlanon.nodes.roll_up import RollUps
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries import noise as private
from sqlanon.queries.encoding import row_sum
from sqlanon.queries.grouping import Grouping, of_all_nodes
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, subquery
from sqlanon.queries.noise import COMBINATIONS, WHOLE
from sqlanon.queries.recodings import AtNode

PLACED_CELLS = Relation("anon_placed_cells", "cell")  # the cells with their places in key order
SAMPLED_ROWS = Relation("anon_sample", "cell")  # the sampled rows of each cell, by place

SAMPLED_CELLS = Relation("anon_sampled_cells", "cell")

SQL = Queries("epsilon_safe", {"placed_cells": PLACED_CELLS, "sample": SAMPLED_ROWS, "combinations": COMBINATIONS})

UNSURE_ROWS = "unsure_rows"  # the query that counts the rows at risk

CLASSES = "classes of k rows or more of a Bernoulli sample (Li, Qardaji and Su 2012, theorem 1)"
ON_TABLE = f"{{}} on the whole table; {CLASSES}; adaptive composition"
ON_SAMPLE = (
    "{} on a Bernoulli sample, and its classes of k rows or more: δ is a sum "
    "over all nodes, as the choice depends on the sample"
)


class EpsilonSafeRun(NoisyNodeRun):
    takes_far_rows = True
    about_rows = "The rows are those of a random sample that are in classes of k rows or more."

    @staticmethod
    def public_domains(engine: Compute, table: EncodedTable) -> None:
        settings = EpsilonSafe.of(table.bound.policy)
        if not settings.chooses_node:
            return
        most = most_rows(settings.suppressed_weight)
        if table.context.row_count > most:
            raise PolicyError(
                f"a node can be chosen privately for up to {most:,} rows with a suppressed_weight of "
                f"{settings.suppressed_weight}: give the method a public node, or a smaller weight"
            )
        with refusing_small_budgets(settings):
            scale_for(settings.budgets[NODE].epsilon, 2 * settings.suppressed_weight * WHOLE)
        if settings.select_on == "sample":
            refuse_many_nodes(settings, table.bound.lattice.size)

    @staticmethod
    def drawn_nodes(
        engine: Compute, table: EncodedTable, draws: Draws, domains: None, runs: int = 1
    ) -> Iterator[DrawnNode]:
        drawn = drawn_on_sample if EpsilonSafe.of(table.bound.policy).select_on == "sample" else drawn_on_table
        yield from drawn(engine, table, draws, runs)

    @property
    def theorem(self) -> str:
        method = EpsilonSafe.of(self.bound.policy)
        if not method.chooses_node:
            return CLASSES
        theorem = ON_SAMPLE if method.select_on == "sample" else ON_TABLE
        return theorem.format(SELECTIONS[method.selection])


# guarded: tests/unit/test_guarded_settings.py::TestEpsilonSafe
def refuse_many_nodes(settings: EpsilonSafe, nodes: int) -> None:
    sampling, budget = settings.sampling, settings.budget
    node = settings.budgets[NODE]
    found = delta_on_sample(
        sampling.k, as_float(sampling.beta), as_float(node.epsilon), as_float(budget.epsilon), nodes
    )
    if (needed := claimed_delta(found, sampling.delta)) > sampling.delta:
        raise PolicyError(
            f"a node that is drawn on the sample, among {nodes:,}, costs δ = {min(1.0, float(needed)):.4g} with "
            f"k = {sampling.k}, more than the delta of {float(sampling.delta):.4g}: take a larger k, or draw it on the "
            "table"
        )


Choice = Callable[[Compute, EncodedTable, Draws, int, int], list[tuple[Levels, int]]]
"""Draws nodes on a table in some runs; classes of fewer rows than a threshold are not shown."""


def drawn_on_table(engine: Compute, table: EncodedTable, draws: Draws, runs: int) -> Iterator[DrawnNode]:
    settings = EpsilonSafe.of(table.bound.policy)
    k, beta = settings.sampling.k, settings.sampling.beta
    if (node := public_node(table.bound)) is not None:
        found = [(node, runs)]
    else:
        # A class of this many rows is expected to be shown.
        found = chosen_nodes(engine, table, draws, math.ceil(k / beta), runs)
    for levels, count in found:
        draw_counts = partial(_draw_classes, engine, table, levels, draws, count)
        yield DrawnNode(levels, count, draw_counts, False, {SAMPLE: k})


def drawn_on_sample(
    engine: Compute, table: EncodedTable, draws: Draws, runs: int, choose: Choice | None = None
) -> Iterator[DrawnNode]:
    """Draw nodes on samples, by their scores unless ``choose`` is given; equal samples share them."""
    sampling = EpsilonSafe.of(table.bound.policy).sampling
    k = sampling.k
    for sample, times in samples(engine, table, draws.source, sampling.beta, runs):
        with engine.scratch():
            found = (choose or chosen_nodes)(engine, sampled_table(engine, table, sample), draws, k, times)
        for levels, count in found:
            draw_counts = partial(_draw_classes, engine, table, levels, draws, count, sample)
            yield DrawnNode(levels, count, draw_counts, False, {SAMPLE: k})


def sampled_table(engine: Compute, table: EncodedTable, sample: Integers) -> EncodedTable:
    places = np.arange(len(sample))
    engine.put(SAMPLED_ROWS, pa.table({private.PLACE: places, "anon_sampled_rows": sample}))
    engine.run(SQL.step(SAMPLED_CELLS, "sampled_cells"))
    context = replace(table.context, row_count=int(sample.sum()))
    encoding = replace(table.encoding, cells=SAMPLED_CELLS)
    return replace(table, encoding=encoding, context=context, cell_count=int(np.count_nonzero(sample)))


def samples(
    engine: Compute, table: EncodedTable, source: RandomSource, beta: Fraction, runs: int
) -> list[tuple[Integers, int]]:
    encoding = table.encoding
    keys = [*encoding.word_columns]
    placed = Queries("noise").query("placed", rows=encoding.cells, keys=keys)
    engine.run(Step(PLACED_CELLS, placed, "cells in their order"))
    sizes = np.array([row["rows"] for row in engine.fetch(SQL.query("cell_sizes"), "cells", "cell")], dtype=np.int64)
    kept = source.thinned(np.tile(sizes, runs), beta).reshape(runs, len(sizes))
    found, times = np.unique(kept, axis=0, return_counts=True)
    return [(sample, int(count)) for sample, count in zip(found, times, strict=True)]


def chosen_nodes(
    engine: Compute, table: EncodedTable, draws: Draws, threshold: int, runs: int
) -> list[tuple[Levels, int]]:
    lattice, charge = table.bound.lattice, draws.charges[NODE]
    settings = EpsilonSafe.of(table.bound.policy)
    weight = settings.suppressed_weight
    sensitivity = weight * WHOLE
    far = reach(charge, sensitivity, lattice.size)
    found = scores(engine, table, threshold=threshold, weight=weight, reach=far)
    return nodes_by_scores(lattice, found, draws, by=settings.selection, sensitivity=sensitivity, runs=runs)


def _draw_classes(
    engine: Compute, table: EncodedTable, levels: Levels, draws: Draws, runs: int, sample: Integers | None = None
) -> list[Relation]:
    """Draw the sampled rows of each class of a node, unless the sample is given; k or more are shown."""
    sampling = EpsilonSafe.of(table.bound.policy).sampling
    shown = table if sample is None else sampled_table(engine, table, sample)
    engine.run(private.combinations(AtNode(shown.encoding, levels)))
    found = engine.fetch(SQL.query("class_sizes", k=sampling.k), "classes", "class")
    places, sizes = (np.tile(np.array([row[name] for row in found], np.int64), runs) for name in ("place", "rows"))
    kept = sizes if sample is not None else draws.source.thinned(sizes, sampling.beta)
    # The rows that chance removes from classes that can be shown, run after run; other classes are left out.
    of_runs = np.repeat(np.arange(runs), len(places) // max(1, runs))
    noise = {private.RUN: of_runs, private.PLACE: places, private.NOISE: kept - sizes}
    engine.put(private.NOISE_OF_COMBINATIONS, pa.table(noise))
    engine.run(private.noisy_combinations(sampling.k))
    return [private.NOISY_COMBINATIONS]


# guarded: tests/unit/test_guarded_settings.py::TestEpsilonSafe
def most_rows(weight: int) -> int:
    return MAX_ROWS // weight


def scores(engine: Compute, table: EncodedTable, *, threshold: int, weight: int, reach: int) -> Integers:
    """Score all nodes in lexicographic order; scores too far below the best are raised to ``reach``.

    The table has at most :func:`most_rows` rows; ``threshold`` is K, and ``weight`` W. Scores are in parts of
    :data:`WHOLE` of a row, and one row changes each by at most ``weight * WHOLE``; shape (nodes,).
    """
    lattice, row_count = table.context.lattice, table.context.row_count
    whole, most = weight * WHOLE, sums(lattice, precision_losses(lattice))
    losses = Losses(lattice, row_count, whole=whole, lost=most * row_count, most=most, reach=reach)
    with engine.scratch():
        roll_ups = RollUps.of(engine, table)
        for nodes in losses.batches():
            for levels, unsure in rows_of_nodes(engine, table, roll_ups, UNSURE_ROWS, threshold, nodes):
                lost = int(most[lattice.index(levels)])
                losses.learn(levels, unsure, lost * row_count + (whole - lost) * unsure)
    return losses.scores()


def precision_losses(lattice: Lattice) -> Parts:
    """Return the losses of a row by level: level / height / quasi-identifiers, in parts of :data:`WHOLE`."""
    count = len(lattice.heights)
    return {
        (position, level): WHOLE * level // (count * height)
        for position, height in enumerate(lattice.heights)
        for level in range(1, height + 1)
    }


def rows_of_nodes(
    engine: Compute, table: EncodedTable, roll_ups: RollUps, counted: str, threshold: int, nodes: Sequence[Levels]
) -> Iterator[tuple[Levels, int]]:
    def sized(grouping: Grouping) -> exp.Select:
        return grouping.select([row_sum(name="anon_rows")], grouping.cells())

    for source, together in roll_ups.statements(nodes):
        classes = of_all_nodes(table.encoding, together, source.cells, sized, apart=source.is_big)
        query = SQL.query(counted, classes=subquery(classes, "anon_classes"), threshold=threshold)
        found = {row["node"]: int(row[counted] or 0) for row in engine.fetch(query, "scores of nodes", "node")}
        for place, levels in enumerate(together):
            yield levels, found.get(place, 0)
