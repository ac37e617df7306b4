"""ε-safe anonymization as it was published, as the pipeline runs it: stamped NOT PRIVATE, and charged to nobody."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.engines.base import Compute
from sqlanon.methods.noisy_node.epsilon_safe import EpsilonSafeRun, SampledClasses, drawn_on_sample
from sqlanon.methods.noisy_node.shared import DrawnNode, Draws
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.papers.thesis.epsilon_safe_as_published.draws import chosen_nodes


class AlgorithmAsPublished(SampledClasses):
    """The algorithm of Mazzone 2019, which chooses on the sample, in floating point."""

    def public_domains(self, engine: Compute, table: EncodedTable) -> None:
        """Nothing is known, and nothing refused."""

    def drawn_nodes(
        self, engine: Compute, table: EncodedTable, draws: Draws, domains: None, runs: int = 1
    ) -> Iterator[DrawnNode]:
        yield from drawn_on_sample(engine, table, draws, runs, chosen_nodes)


class AsPublishedRun(EpsilonSafeRun):
    """Publish what the algorithm of the thesis makes of a table."""

    algorithm = AlgorithmAsPublished()
