"""ε-safe anonymization: a node is drawn by its score, and classes of a sample that have k rows or more are published.

The conversation with the database: up go scores and the sizes of classes, down come a node and how many rows of each
class are in the sample.

Why it is private. Let D' be D and one more row t; a sample has each row with a probability of β, on its own.

1. The node. A row changes the score of any node by W at most (:mod:`.scores`). Permute-and-flip at scale 2 W / ε' is
   ε'-differentially private (McKenna and Sheldon 2020, theorem 1); scores far below the best are raised
   (:mod:`..shared.scores`). It looks at the whole table, and at nothing of what the sample is made by.
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
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
import pyarrow as pa

from sqlanon.engines.base import Compute
from sqlanon.mechanisms.source import Integers, RandomSource
from sqlanon.methods.noisy_node.epsilon_safe import queries
from sqlanon.methods.noisy_node.epsilon_safe.scores import scores
from sqlanon.methods.noisy_node.shared.algorithm import DrawnNode, Draws, public_node
from sqlanon.methods.noisy_node.shared.scores import nodes_by_scores, reach
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.lattice import Levels
from sqlanon.model.methods.epsilon_safe import SAMPLE, EpsilonSafe
from sqlanon.model.methods.noisy import NODE
from sqlanon.model.policy.policy import Policy
from sqlanon.model.recoding import at_node
from sqlanon.queries.kit.nodes import Relation
from sqlanon.queries.noise import combinations as private
from sqlanon.queries.noise.scores import WHOLE

Choice = Callable[[Compute, EncodedTable, Draws, int, int], list[tuple[Levels, int]]]
"""What draws nodes on a table in some runs, whose classes of fewer rows than a threshold are not shown."""


def epsilon_safe(policy: Policy) -> EpsilonSafe:
    """The method of a policy that has this one."""
    assert isinstance(policy.method, EpsilonSafe)
    return policy.method


def drawn_on_table(engine: Compute, table: EncodedTable, draws: Draws, runs: int) -> Iterator[DrawnNode]:
    """The nodes that are drawn on the whole table, or the public one, each with how its classes are sampled."""
    settings = epsilon_safe(table.bound.policy)
    k, beta = settings.sampling.k, settings.sampling.beta
    if (node := public_node(table.bound)) is not None:
        found = [(node, runs)]
    else:
        # A class of this number of rows is expected to be shown.
        found = chosen_nodes(engine, table, draws, math.ceil(k / beta), runs)
    for levels, count in found:
        draw_counts = partial(_draw_classes, engine, table, levels, draws, count)
        yield DrawnNode(levels, count, draw_counts, False, {SAMPLE: k})


def drawn_on_sample(
    engine: Compute, table: EncodedTable, draws: Draws, runs: int, choose: Choice | None = None
) -> Iterator[DrawnNode]:
    """The nodes that are drawn on samples, by their scores if nothing else chooses; equal samples share them."""
    sampling = epsilon_safe(table.bound.policy).sampling
    k = sampling.k
    for sample, times in samples(engine, table, draws.source, sampling.beta, runs):
        with engine.scratch():
            found = (choose or chosen_nodes)(engine, sample.table(engine, table), draws, k, times)
        for levels, count in found:
            draw_counts = partial(_show_classes, engine, table, sample, levels, k, count)
            yield DrawnNode(levels, count, draw_counts, False, {SAMPLE: k})


@dataclass(frozen=True)
class Sample:
    """How many rows of each cell are in a sample; shape (cells,)."""

    counts: Integers

    def table(self, engine: Compute, table: EncodedTable) -> EncodedTable:
        """The cells of the sample, which are made."""
        places = np.arange(len(self.counts))
        engine.put(queries.SAMPLE, pa.table({private.PLACE: places, "anon_sampled_rows": self.counts}))
        engine.run(queries.SQL.step(queries.SAMPLED_CELLS, "sampled_cells"))
        context = replace(table.context, row_count=int(self.counts.sum()))
        cell_count = int(np.count_nonzero(self.counts))
        return replace(table, encoding=queries.of_sample(table.encoding), context=context, cell_count=cell_count)


def samples(
    engine: Compute, table: EncodedTable, source: RandomSource, beta: Fraction, runs: int
) -> list[tuple[Sample, int]]:
    """The samples that are drawn, each with in how many runs."""
    engine.run(queries.placed_cells(table.encoding))
    sizes = np.array(
        [row["rows"] for row in engine.fetch(queries.SQL.query("cell_sizes"), "cells", "cell")], dtype=np.int64
    )
    kept = source.thinned(np.tile(sizes, runs), beta).reshape(runs, len(sizes))
    found, times = np.unique(kept, axis=0, return_counts=True)
    return [(Sample(sample), int(count)) for sample, count in zip(found, times, strict=True)]


def chosen_nodes(
    engine: Compute, table: EncodedTable, draws: Draws, threshold: int, runs: int
) -> list[tuple[Levels, int]]:
    """The nodes that are drawn by their scores, each with in how many runs."""
    lattice, charge, weight = (
        table.bound.lattice,
        draws.charges[NODE],
        epsilon_safe(table.bound.policy).suppressed_weight,
    )
    sensitivity = weight * WHOLE
    far = reach(charge, sensitivity, lattice.size)
    found = scores(engine, table, threshold=threshold, weight=weight, reach=far)
    return nodes_by_scores(lattice, found, draws.source, charge, sensitivity=sensitivity, runs=runs)


def _draw_classes(engine: Compute, table: EncodedTable, levels: Levels, draws: Draws, runs: int) -> list[Relation]:
    """Draw how many rows of each class of a node are in the sample; those of k or more are shown."""
    sampling = epsilon_safe(table.bound.policy).sampling
    engine.run(private.combinations(table.encoding, at_node(levels)))
    found = engine.fetch(queries.SQL.query("class_sizes", k=sampling.k), "classes", "class")
    places = np.array([row["place"] for row in found], dtype=np.int64)
    sizes = np.tile(np.array([row["rows"] for row in found], dtype=np.int64), runs)
    kept = draws.source.thinned(sizes, sampling.beta)
    return _shown(engine, np.tile(places, runs), kept - sizes, runs, sampling.k)


def _show_classes(
    engine: Compute, table: EncodedTable, sample: Sample, levels: Levels, k: int, runs: int
) -> list[Relation]:
    """Show the classes of a sample that have k rows or more, in ``runs`` runs."""
    engine.run(private.combinations(sample.table(engine, table).encoding, at_node(levels)))
    found = engine.fetch(queries.SQL.query("class_sizes", k=k), "classes", "class")
    places = np.tile(np.array([row["place"] for row in found], dtype=np.int64), runs)
    return _shown(engine, places, np.zeros(len(places), dtype=np.int64), runs, k)


def _shown(engine: Compute, places: Integers, missing: Integers, runs: int, k: int) -> list[Relation]:
    """Put what chance takes from the classes that can be shown, run after run; the others are left out."""
    of_runs = np.repeat(np.arange(runs), len(places) // max(1, runs))
    noise = {private.RUN: of_runs, private.PLACE: places, private.NOISE: missing}
    engine.put(private.NOISE_OF_COMBINATIONS, pa.table(noise))
    engine.run(private.noisy_combinations(k))
    return [private.NOISY_COMBINATIONS]
