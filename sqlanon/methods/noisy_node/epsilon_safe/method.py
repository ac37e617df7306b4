"""ε-safe anonymization as the pipeline runs it: the run of private methods, with another draw."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.engines.base import Compute
from sqlanon.errors import PolicyError
from sqlanon.mechanisms.scales import scale_for
from sqlanon.methods.noisy_node.epsilon_safe.draws import drawn_on_sample, drawn_on_table, epsilon_safe
from sqlanon.methods.noisy_node.epsilon_safe.scores import most_rows
from sqlanon.methods.noisy_node.shared.algorithm import Algorithm, DrawnNode, Draws
from sqlanon.methods.noisy_node.shared.run import NoisyNodeRun
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.methods.shared.private.refusals import refusing_small_budgets
from sqlanon.model.budget import as_float
from sqlanon.model.methods.epsilon_safe import EpsilonSafe, claimed_delta
from sqlanon.model.methods.noisy import NODE
from sqlanon.model.sampled_classes import delta_on_sample
from sqlanon.queries.noise.scores import WHOLE

CLASSES = "classes of k rows or more of a Bernoulli sample (Li, Qardaji and Su 2012, theorem 1)"
ON_TABLE = f"permute-and-flip (McKenna and Sheldon 2020) on the whole table; {CLASSES}; adaptive composition"
ON_SAMPLE = (
    "permute-and-flip (McKenna and Sheldon 2020) on a Bernoulli sample, and its classes of k rows or more: δ is a sum "
    "over all nodes, as the choice depends on the sample"
)


class SampledClasses(Algorithm):
    """How a node is drawn, and which of its classes are shown: see :mod:`.draws`."""

    def public_domains(self, engine: Compute, table: EncodedTable) -> None:
        """Nothing of the domain is needed: refuse what cannot be drawn; nothing is charged yet.

        Raises:
            PolicyError: the table has too many rows for exact scores, an ε is too small, or the node is to be drawn on
                the sample, and their number costs more than δ.
        """
        settings = epsilon_safe(table.bound.policy)
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
            _refuse_many_nodes(settings, table.bound.lattice.size)

    def drawn_nodes(
        self, engine: Compute, table: EncodedTable, draws: Draws, domains: None, runs: int = 1
    ) -> Iterator[DrawnNode]:
        drawn = drawn_on_sample if epsilon_safe(table.bound.policy).select_on == "sample" else drawn_on_table
        yield from drawn(engine, table, draws, runs)


class EpsilonSafeRun(NoisyNodeRun):
    """Publish the classes of a sample, paid for from the budget of the data set."""

    algorithm = SampledClasses()
    takes_far_rows = True

    @property
    def theorem(self) -> str:
        method = epsilon_safe(self.bound.policy)
        if not method.chooses_node:
            return CLASSES
        return ON_SAMPLE if method.select_on == "sample" else ON_TABLE


def _refuse_many_nodes(settings: EpsilonSafe, nodes: int) -> None:
    """δ must be enough for a node that is drawn on the sample, among ``nodes``."""
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
