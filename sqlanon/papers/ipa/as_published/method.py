"""IPA as it was published, as the pipeline runs it: for comparison, stamped NOT PRIVATE, and charged to nobody."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sqlanon.engines.base import Compute
from sqlanon.methods.noisy_node.ipa import Domains, NoisyCountsOfNodes, NoisyCountsRun
from sqlanon.methods.noisy_node.shared import DrawnNode, Draws
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.papers.ipa.as_published import draws as published

NO_DOMAINS = Domains({}, 0)


class AlgorithmAsPublished(NoisyCountsOfNodes):
    """The algorithm of Lee & Chung 2020, which draws in floating point and needs to know no domain."""

    def public_domains(self, engine: Compute, table: EncodedTable) -> Domains:
        return NO_DOMAINS

    def drawn_nodes(
        self, engine: Compute, table: EncodedTable, draws: Draws, domains: Domains, runs: int = 1
    ) -> Iterator[DrawnNode]:
        for chosen in published.chosen_nodes(engine, table, draws, runs):
            draw_counts = partial(published.draw_counts, engine, table, draws, chosen)
            yield DrawnNode(chosen.levels, len(chosen.perturbation.runs), draw_counts, True, {})


class AsPublishedRun(NoisyCountsRun):
    """Publish what the algorithm of the paper makes of a table."""

    algorithm = AlgorithmAsPublished()
    theorem = "none"
