"""IPA and the histogram, by what they spend: a node, and noisy counts of the combinations of its labels and a value."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.base import Compute, ResolvedSource
from sqlanon.methods.cells import EncodedTable
from sqlanon.methods.private import draws as counts
from sqlanon.methods.private.algorithm import Algorithm, DrawnNode, Draws
from sqlanon.methods.private.draws import Domains, noisy_counts
from sqlanon.methods.private.prepare import refuse_what_cannot_be_drawn
from sqlanon.model.lattice import Levels
from sqlanon.model.policy.noisy_counts import ROLLED_UP
from sqlanon.model.policy.private_node import NodeMethod
from sqlanon.model.recoding import at_node
from sqlanon.queries.noise.diagnostics import diagnostics


class NoisyCountsOfNodes(Algorithm):
    """How a node is drawn, and its counts, for which see :mod:`.draws`."""

    label_losses = ("ncp",)

    def public_domains(self, engine: Compute, table: EncodedTable) -> Domains:
        """What is known of the domain, after a refusal of all that cannot be drawn; nothing is charged yet.

        Raises:
            PolicyError: the domain is too large, an ε too small, or the table has too many rows for exact scores.
        """
        bound = table.bound
        domains = counts.public_domains(engine, table)
        refuse_what_cannot_be_drawn(bound, domains, table.context.row_count)
        return domains

    def drawn_nodes(
        self, engine: Compute, table: EncodedTable, draws: Draws, domains: Domains, runs: int = 1
    ) -> Iterator[DrawnNode]:
        for levels, count in counts.chosen_nodes(engine, table, draws, domains, runs):
            domain = domains.at(levels)
            draw_counts = partial(counts.draw_counts, engine, table, at_node(levels), draws, domain, count)
            thresholds = counts.thresholds(noisy_counts(table.bound.policy), domain)
            yield DrawnNode(levels, count, draw_counts, ROLLED_UP in draws.charges, thresholds)

    def theorem(self, method: NodeMethod) -> str:
        return counts.THEOREMS[method.name, method.is_pure]

    def diagnosed(
        self, engine: Compute, bound: BoundPolicy, levels: Levels, written: ResolvedSource
    ) -> dict[str, float | None] | None:
        if not noisy_counts(bound.policy).reveal_diagnostics:
            return None
        return engine.fetch(diagnostics(bound.cells, bound.lattice.named(levels), written.relation), "diagnostics")[0]
