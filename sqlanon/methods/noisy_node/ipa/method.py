"""IPA and the histogram, by what they spend: a node, and noisy counts of the combinations of its labels and a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.base import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.mechanisms.scales import scale_for
from sqlanon.methods.noisy_node.ipa import draws as counts
from sqlanon.methods.noisy_node.ipa.draws import Domains, noisy_counts
from sqlanon.methods.noisy_node.shared.algorithm import Algorithm, DrawnNode, Draws, public_node
from sqlanon.methods.noisy_node.shared.run import NoisyNodeRun
from sqlanon.methods.noisy_node.shared.scores import MAX_ROWS
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.private.refusals import refusing_small_budgets
from sqlanon.model.methods.noisy import NODE, ROLLED_UP
from sqlanon.model.recoding import at_node
from sqlanon.queries.noise import scores as queries


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
        _refuse_what_cannot_be_drawn(bound, domains, table.context.row_count)
        return domains

    def drawn_nodes(
        self, engine: Compute, table: EncodedTable, draws: Draws, domains: Domains, runs: int = 1
    ) -> Iterator[DrawnNode]:
        for levels, count in counts.chosen_nodes(engine, table, draws, domains, runs):
            domain = domains.at(levels)
            draw_counts = partial(counts.draw_counts, engine, table, at_node(levels), draws, domain, count)
            thresholds = counts.thresholds(noisy_counts(table.bound.policy), domain)
            yield DrawnNode(levels, count, draw_counts, ROLLED_UP in draws.charges, thresholds)


class NoisyCountsRun(NoisyNodeRun):
    """Publish noisy counts of the labels of a node, paid for from the budget of the data set."""

    algorithm = NoisyCountsOfNodes()
    takes_far_rows = True

    @property
    def theorem(self) -> str:
        method = noisy_counts(self.bound.policy)
        return counts.THEOREMS[method.name, method.is_pure]

    def verify(self, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> None:
        super().verify(written, companions)
        if noisy_counts(self.bound.policy).reveal_diagnostics:
            node = self.bound.lattice.named(self.drawn.levels)
            query = queries.diagnostics(self.bound.cells, node, written.relation)
            self.diagnostics = self.engine.fetch(query, "diagnostics")[0]


def _refuse_what_cannot_be_drawn(bound: BoundPolicy, domains: Domains, row_count: int) -> None:
    """Find out before anything is charged.

    Raises:
        PolicyError: an ε is too small for noise of 64 bits, or the table has too many rows for exact scores.
    """
    wanted = noisy_counts(bound.policy)
    if wanted.chooses_node and row_count > MAX_ROWS:
        most = f"{MAX_ROWS:,}"
        raise PolicyError(f"a node can be chosen privately for up to {most} rows; give the method a public node")
    with refusing_small_budgets(wanted):
        counts.thresholds(wanted, domains.at(public_node(bound) or bound.lattice.bottom))
        for step, budget in wanted.budgets.items():
            whole = 2 * queries.WHOLE if step == NODE else 1
            scale_for(budget.epsilon, whole * wanted.rows_per_individual)
