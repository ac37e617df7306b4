"""IPA and the histogram: a node is drawn by its score, combinations get noise, those with few rows are left over.

The conversation with the database: up go scores and how many counts there are, down come a node and noise.

Why it is private. Let D' be D and one more row, or the rows of one more individual, at most c of them counted;
noise has scale c / ε, and a = exp(-ε / c).

1. The node. A row changes the score of any node by g + (1 - g) s, where g in [0, 1] is what its labels lose and s is
   how much the rows at risk change, -1, 0 or 1: by 1 at most, and by c for c rows. Scores are integers, so that this
   holds to the last bit. Those below max(scores) - r are raised to that, for a public r: the best of scores that change
   by c at most changes by c at most, and so does the larger of two. Permute-and-flip at scale 2 c / ε is then
   ε-differentially private (McKenna and Sheldon 2020, theorem 1), whatever r is; see :func:`.reach` for what it is for.
2. Combinations. Given the node, D' differs from D in c rows of all combinations together. Where D has rows of one as
   well, noise makes their counts ε-indistinguishable (Ghosh, Roughgarden and Sundararajan 2009). Where it has none, D
   shows nothing, and D' shows something with a probability of δ at most: so the threshold is chosen, see
   :func:`sqlanon.chance.scales.threshold`. With δ = 0 all combinations of the domain have noise.
3. What is left over. Given what is shown, the rows that are not, by value, differ in c rows again: as in 2.
4. What is written is a function of what was drawn. The steps compose adaptively, each being private whatever those
   before it gave: ε and δ add up (Dwork and Roth 2014, theorem 3.16 and appendix B).

Source: Lee & Chung 2020, corrected as in spec/ipa.md B2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa

from sqlanon.chance.exact import Integers
from sqlanon.chance.scales import pure_threshold, scale_for, threshold
from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods.base import Measured
from sqlanon.methods.chance import SELECTIONS, drawn_unseen, noise_of_places, row_count
from sqlanon.methods.noisy_node.shared import (
    MAX_ROWS,
    DrawnNode,
    Draws,
    Losses,
    NoisyNodeRun,
    NoisyPublication,
    nodes_by_scores,
    public_node,
    reach,
    sums,
)
from sqlanon.methods.private import refusing_small_budgets
from sqlanon.model.lattice import Levels
from sqlanon.model.methods.noisy import CELLS, IPA, NODE, ROLLED_UP, NoisyCounts
from sqlanon.nodes.roll_up import RollUps
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries import noise as private
from sqlanon.queries.kit.nodes import Relation
from sqlanon.queries.noise import WHOLE, Domain
from sqlanon.queries.recodings import AtNode, Recoding


class NoisyCountsRun(NoisyNodeRun):
    takes_far_rows = True
    about_rows = "There are as many rows of each combination of labels as a noisy count says: none stands for a person."
    label_losses = ("ncp",)

    @staticmethod
    def public_domains(engine: Compute, table: EncodedTable) -> Domains:
        bound = table.bound
        domains, wanted = public_domains(engine, table), NoisyCounts.of(bound.policy)
        if wanted.chooses_node and table.context.row_count > MAX_ROWS:
            most = f"{MAX_ROWS:,}"
            raise PolicyError(f"a node can be chosen privately for up to {most} rows; give the method a public node")
        with refusing_small_budgets(wanted):
            thresholds(wanted, domains.at(public_node(bound) or bound.lattice.bottom))
            for step, budget in wanted.budgets.items():
                whole = 2 * WHOLE if step == NODE else 1
                scale_for(budget.epsilon, whole * wanted.rows_per_individual)
        return domains

    @staticmethod
    def drawn_nodes(
        engine: Compute, table: EncodedTable, draws: Draws, domains: Domains, runs: int = 1
    ) -> Iterator[DrawnNode]:
        for levels, count in chosen_nodes(engine, table, draws, domains, runs):
            domain = domains.at(levels)
            recoding = AtNode(table.encoding, levels)
            drawing = partial(draw_counts, engine, table, recoding, draws, domain, count)
            shown_from = thresholds(NoisyCounts.of(table.bound.policy), domain)
            yield DrawnNode(levels, count, drawing, ROLLED_UP in draws.charges, shown_from)

    @property
    def theorem(self) -> str:
        method = NoisyCounts.of(self.bound.policy)
        theorem = THEOREMS[method.name, method.is_pure]
        return theorem.format(SELECTIONS[method.selection]) if isinstance(method, IPA) else theorem

    def verify(
        self, made: NoisyPublication, written: ResolvedSource, companions: Mapping[str, ResolvedSource]
    ) -> Measured:
        measured, bound = super().verify(made, written, companions), made.bound
        if not NoisyCounts.of(bound.policy).reveal_diagnostics:
            return measured
        query = private.diagnostics(bound.cells, bound.lattice.named(made.drawn.levels), written.relation)
        return replace(measured, diagnostics=self.engine.fetch(query, "diagnostics")[0])


THEOREMS = {
    (
        "ipa",
        False,
    ): "{}, or a public node; geometric mechanism with a threshold on combinations, and on what they do not "
    "show; adaptive composition",
    (
        "ipa",
        True,
    ): "{}, or a public node; geometric mechanism on all combinations of the domain, and on what they do not "
    "show; adaptive composition",
    ("histogram", False): "geometric mechanism with a threshold",
    ("histogram", True): "geometric mechanism on all combinations of the domain",
}
"""The theorem of each method, for δ > 0 and δ = 0; the proofs are above."""


MAX_COMBINATIONS = 1 << 62  # of a domain's labels and values that 63 bits can number


@dataclass(frozen=True)
class Domains:
    labels: Mapping[tuple[int, int], int]  # by quasi-identifier and depth below the top
    values: int  # of the sensitive column; 0 if not declared

    def at(self, levels: Levels) -> Domain:
        return Domain(tuple(self.labels.get(place, 1) for place in enumerate(levels)), self.values)


def public_domains(engine: Compute, table: EncodedTable) -> Domains:
    method, encoding = NoisyCounts.of(table.bound.policy), table.encoding
    if not method.needs_value_domain:
        return Domains({}, 0)
    engine.run(private.domain_values(encoding))
    rows = engine.fetch(private.domain_sizes(encoding), "labels", "node")
    found = Domains({(row["position"], row["depth"]): row["labels"] for row in rows}, row_count(engine, private.VALUES))
    lowest = public_node(table.bound) or table.bound.lattice.bottom
    if (size := found.at(lowest).size) > MAX_COMBINATIONS:
        raise PolicyError(
            f"the domain has {size:,} combinations of labels and value, more than can be numbered: take a more general "
            "node, minimum_levels, or δ > 0, with which combinations that nobody has are never looked at"
        )
    return found


# guarded: tests/unit/test_methods.py::TestThresholds
def thresholds(method: NoisyCounts, domain: Domain) -> dict[str, int]:
    """Return the smallest noisy count that each step shows at a node, from public numbers only."""
    rows, found = method.rows_per_individual, {}
    for step, size in ((CELLS, domain.size), (ROLLED_UP, domain.values)):
        if (budget := method.budgets.get(step)) is not None:
            found[step] = (
                pure_threshold(size, budget.epsilon, rows=rows)
                if method.needs_value_domain
                else threshold(budget.epsilon, budget.delta, rows=rows)
            )
    return {**found, CELLS: max(found[CELLS], method.minimum_count)}


def chosen_nodes(
    engine: Compute, table: EncodedTable, draws: Draws, domains: Domains, runs: int = 1
) -> list[tuple[Levels, int]]:
    """Draw nodes, each with the number of runs that draw it.

    Scores use the threshold of the least general node: it has to be public, not equal for all nodes.
    """
    lattice = table.bound.lattice
    if (node := public_node(table.bound)) is not None:
        return [(node, runs)]
    if not draws.method.chooses_node:
        return [(lattice.bottom, runs)]
    method, charge = draws.method, draws.charges[NODE]
    assert isinstance(method, IPA)
    sensitivity = WHOLE * method.rows_per_individual
    least = thresholds(method, domains.at(lattice.bottom))[CELLS]
    found = scores(engine, table, least, reach(charge, sensitivity, lattice.size))
    return nodes_by_scores(lattice, found, draws, by=method.selection, sensitivity=sensitivity, runs=runs)


def draw_counts(
    engine: Compute, table: EncodedTable, recoding: Recoding, draws: Draws, domain: Domain, runs: int = 1
) -> list[Relation]:
    """Draw the shown counts of a recoding: combinations with noise and, of hidden ones, values with noise.

    Returns the relations of combinations; values are in :data:`private.NOISY_LEFT_OVER`.
    """
    method = NoisyCounts.of(table.bound.policy)
    least = thresholds(method, domain)
    engine.run(private.combinations(recoding))
    count = row_count(engine, private.COMBINATIONS)
    engine.put(private.NOISE_OF_COMBINATIONS, noise_of_places(draws.noise(CELLS, count * runs), runs))
    engine.run(private.noisy_combinations(least[CELLS]))
    combinations = [private.NOISY_COMBINATIONS]
    if method.needs_value_domain:
        rows, charge = draws.method.rows_per_individual, draws.charges[CELLS]
        drawn = drawn_unseen(draws.source, charge, rows, least[CELLS], domain.size - count, runs)
        engine.put(private.DRAWN, drawn)
        engine.run(private.seen(recoding, domain))
        engine.run(private.unseen(recoding, domain))
        combinations.append(private.UNSEEN)
    if ROLLED_UP in least:
        engine.run(private.left_over(table.encoding, runs if method.needs_value_domain else 0))
        count = row_count(engine, private.LEFT_OVER)
        noise = draws.noise(ROLLED_UP, count)
        engine.put(private.NOISE_OF_LEFT_OVER, pa.table({private.PLACE: np.arange(count), private.NOISE: noise}))
        engine.run(private.noisy_left_over(least[ROLLED_UP]))
    return combinations


def scores(engine: Compute, table: EncodedTable, threshold: int, reach: int) -> Integers:
    """Score all nodes in lexicographic order; scores too far below the best are raised to ``reach``.

    A row changes none of them by more than it changes a score: the larger of two numbers, and the largest of many,
    changes by no more than one of these does.

    Args:
        table: the cells, with the NCP of their labels and up to :data:`MAX_ROWS` rows.
        threshold: the rows below which all rows of a combination are at risk.
        reach: the distance from the best within which scores are distinguished.

    Returns:
        integers in parts of :data:`WHOLE` of a row, shape (nodes,).
    """
    context, lattice = table.context, table.context.lattice
    rows = engine.fetch(private.level_losses(table.encoding), "losses of levels", "node")
    lost, most = (
        sums(lattice, {(int(row["position"]), int(row["depth"])): int(row[name]) for row in rows})
        for name in ("lost", "most")
    )
    losses = Losses(lattice, context.row_count, whole=WHOLE, lost=lost, most=most, reach=reach)
    with engine.scratch():
        combined = _by_combination(engine, table)
        roll_ups = RollUps.of(engine, combined)
        for nodes in losses.batches():
            for cells, together in roll_ups.statements(nodes):
                query = private.node_scores(
                    combined.encoding, together, threshold, cells=cells.cells, apart=cells.is_big
                )
                found = {row["node"]: row for row in engine.fetch(query, "scores of nodes", "node")}
                for place, levels in enumerate(together):
                    # A node without an answer has no combination that reaches the threshold.
                    row = found.get(place, {"row_count": 0, "score": 0})
                    at_risk = context.row_count - int(row["row_count"])
                    losses.learn(levels, at_risk, WHOLE * at_risk - int(row["score"]))
    return losses.scores()


def _by_combination(engine: Compute, table: EncodedTable) -> EncodedTable:
    """Treat combinations as classes: sensitive values join the labels of the first quasi-identifier in the keys."""
    (name,) = table.encoding.spec.protected
    largest = private.SQL.query("largest_value", cells=table.encoding.cells, value=table.encoding.sensitive(name))
    values = int(engine.fetch(largest, "sensitive values")[0]["largest"])
    combined = private.by_combination(table.encoding, values)
    engine.run(private.keyed_cells(table.encoding, combined))
    first, *others = table.context.losses.distinct_labels
    labels = (tuple(count * max(values, 1) for count in first), *others)
    losses = replace(table.context.losses, distinct_labels=labels)
    return replace(table, encoding=combined, context=replace(table.context, losses=losses))
