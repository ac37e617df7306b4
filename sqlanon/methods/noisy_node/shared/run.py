"""Private methods that publish the labels of a node: it is drawn or public, and its counts are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.noisy_node.shared.algorithm import Algorithm, Draws, node_method
from sqlanon.methods.noisy_node.shared.prepare import bounded, checked
from sqlanon.methods.shared.cells import encode_table
from sqlanon.methods.shared.private.chance import Chance
from sqlanon.methods.shared.private.report import private_report_of
from sqlanon.methods.shared.private.run import PrivateRun
from sqlanon.methods.shared.publishing import make_labels, released_sizes, row_mismatches
from sqlanon.methods.stages import Stages
from sqlanon.model.lattice import Levels
from sqlanon.model.release import PrivateReport, Spent
from sqlanon.queries.noise import combinations as queries


@dataclass(frozen=True)
class Published:
    """What is published, once it is drawn: the node, the charges, and the numbers of what is left."""

    levels: Levels
    draws: Draws
    thresholds: Mapping[str, int]
    rows: int
    groups: int


def private_report(
    bound: BoundPolicy,
    published: Published,
    chance: Chance,
    into: str,
    seconds: Mapping[str, float],
    found: dict[str, float | None] | None = None,
) -> PrivateReport:
    """The numbers of a run; ``found`` are its diagnostics."""
    wanted, lattice = published.draws.method, bound.lattice
    return private_report_of(
        PrivateReport,
        bound,
        chance,
        into,
        seconds,
        spent=tuple(
            Spent(step=step, budget=charge.budget, position=charge.position)
            for step, charge in published.draws.charges.items()
        ),
        thresholds=dict(published.thresholds),
        rows=published.rows,
        groups=published.groups,
        node=lattice.named(published.levels),
        heights=lattice.named(lattice.heights),
        node_is_public=not wanted.chooses_node,
        lattice_nodes=lattice.size if wanted.chooses_node else 1,
        diagnostics=found,
    )


class NoisyNodeRun(PrivateRun):
    """Publish what is drawn of the counts of a node, paid for from the budget of the data set.

    Attributes:
        algorithm: how a node is drawn, and what is shown of it.
        diagnostics: what is lost, measured on the true data, if the policy asks for it.
    """

    instead_of_node = 'it draws its node, or has a public one: write it as "node" of the method'
    instead_of_time_limit = "it scores every node; give it a public node, or maximum_levels"
    algorithm: ClassVar[Algorithm]
    diagnostics: dict[str, float | None] | None = None

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        return checked(bound)

    def encode(self) -> None:
        counted = bounded(self.engine, self.bound, self.chance.source)
        losses = self.algorithm.label_losses
        self.table = encode_table(self.engine, self.bound, counted, label_losses=losses, may_be_empty=True)

    def charge(self) -> None:
        self.domains = self.algorithm.public_domains(self.engine, self.table)
        wanted = node_method(self.bound.policy)
        self.draws = Draws(wanted, self.chance.source, self.accountant.charge(wanted.budgets))

    def search(self, stages: Stages) -> None:
        with stages.stage("search"):
            (self.drawn,) = self.algorithm.drawn_nodes(self.engine, self.table, self.draws, self.domains)

    def make(self) -> None:
        engine, drawn, self.encoding = self.engine, self.drawn, self.table.encoding
        combinations = drawn.draw_counts()
        make_labels(engine, self.encoding, drawn.recoding)
        engine.run(queries.equal_rows(self.encoding, drawn.recoding, combinations, with_left_over=drawn.with_left_over))
        self.published = Published(drawn.levels, self.draws, drawn.thresholds, *released_sizes(engine))

    def differences(self, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> list[str]:
        return row_mismatches(self.engine, queries.unlike_what_was_drawn(self.encoding, written.relation))

    def report(self, into: str, seconds: Mapping[str, float]) -> PrivateReport:
        return private_report(self.bound, self.published, self.chance, into, seconds, self.diagnostics)
