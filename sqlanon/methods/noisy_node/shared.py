"""Private methods that publish one node: it is public or drawn by its score, and its counts are drawn.

Most of a lattice is never counted: bounds show that a node is far from the best, as in
:mod:`sqlanon.search.optimal`.

- The loss of labels is a sum over the quasi-identifiers, known for every level.
- Combinations do not shrink at a more general node. So a node has at least the rows at risk of any node above it, and
  each of them loses all that its labels do not.

Which nodes are counted, and so the running time, depends on the data; the scores do not depend on that.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.prepare import prepare
from sqlanon.chance.accountant import Charge
from sqlanon.chance.exact import Integers
from sqlanon.chance.random_source import RandomSource
from sqlanon.chance.scales import scale_for
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.methods.base import Comparison, Measured
from sqlanon.methods.chance import bounded_source, refuse_observed
from sqlanon.methods.private import PrivatePublication, PrivateRun, no_category
from sqlanon.methods.stages import Stages
from sqlanon.model.labels import LabelsRecord, NodeRecord
from sqlanon.model.lattice import Lattice, Levels
from sqlanon.model.methods.noisy import NODE, NodeMethod, Selection
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import PrivateReport, Report, Spent
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.queries import noise as queries
from sqlanon.queries.encoding import CellSpec
from sqlanon.queries.kit.nodes import Relation
from sqlanon.queries.recodings import AtNode
from sqlanon.release.publishing import make_labels, released_sizes, row_mismatches
from sqlanon.search import batches
from sqlanon.search.arrays import Mask, most_informative, spread_downwards


def public_node(bound: BoundPolicy) -> Levels | None:
    given = NodeMethod.of(bound.policy).node
    return None if given is None else tuple(given[name] for name in bound.policy.quasi_identifiers)


@dataclass(frozen=True)
class Draws:
    method: NodeMethod
    source: RandomSource
    charges: Mapping[str, Charge]

    def noise(self, step: str, size: int) -> Integers:
        return self.source.discrete_laplace(size, self.charges[step], sensitivity=self.method.rows_per_individual)


@dataclass(frozen=True)
class DrawnNode:
    levels: Levels
    runs: int  # one for a release; an audit makes a hundred thousand at once
    draw_counts: Callable[[], list[Relation]]  # returns the relations that combinations are in
    with_left_over: bool  # whether rows of hidden combinations are drawn by value as well
    thresholds: Mapping[str, int]  # the smallest shown count of each step


def prepared(engine: Engine, source: ResolvedSource, policy: Policy) -> BoundPolicy:
    return checked(prepare(engine, source, policy))


def checked(bound: BoundPolicy) -> BoundPolicy:
    node, lattice = public_node(bound), bound.lattice
    problems = [
        f'method.node: "{name}" has levels {least} to {most}, so not {level}'
        for name, least, level, most in zip(
            lattice.quasi_identifiers, lattice.bottom, node or (), lattice.top, strict=node is not None
        )
        if not least <= level <= most
    ]
    if problems:
        raise PolicyError("the policy does not fit the taxonomies:", problems)
    refuse_observed(bound)
    wanted, columns = NodeMethod.of(bound.policy), {found.name: found for found in bound.columns}
    for name in bound.policy.sensitive:
        found = columns[name]
        if wanted.needs_value_domain and not (found.traits.is_text or found.traits.is_enum):
            raise PolicyError(
                f'with δ = 0 the values of "{name}" are those of its taxonomy; cast it from {found.type} to VARCHAR'
            )
        if not found.traits.can_be_rebuilt:
            raise PolicyError(no_category(found))
    return bound


def bounded(engine: Compute, bound: BoundPolicy, source: RandomSource) -> CellSpec:
    return replace(bound.cells, source=bounded_source(engine, bound, source), individual=None)


@dataclass(frozen=True)
class PaidNodes:
    table: EncodedTable
    domains: Any
    draws: Draws


@dataclass(frozen=True, kw_only=True)
class NoisyPublication(PrivatePublication):
    drawn: DrawnNode
    draws: Draws


class NoisyNodeRun(PrivateRun[EncodedTable, PaidNodes, DrawnNode, NoisyPublication]):
    instead_of_node = 'it draws its node, or has a public one: write it as "node" of the method'
    instead_of_time_limit = "it scores every node; give it a public node, or maximum_levels"
    label_losses: ClassVar[tuple[str, ...]] = ()  # that its scores need

    @staticmethod
    @abstractmethod
    def public_domains(engine: Compute, table: EncodedTable) -> Any:
        """Refuse everything that cannot be drawn while nothing is charged, and return the facts on the domain."""

    @staticmethod
    @abstractmethod
    def drawn_nodes(
        engine: Compute, table: EncodedTable, draws: Draws, domains: Any, runs: int = 1
    ) -> Iterator[DrawnNode]:
        """Draw the node of each run, unless it is public; draw the counts of each before the next is yielded."""

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        return checked(bound)

    def encode(self) -> EncodedTable:
        counted = bounded(self.engine, self.bound, self.chance.source)
        return encode_table(self.engine, self.bound, counted, label_losses=self.label_losses)

    def charge(self, table: EncodedTable) -> PaidNodes:
        domains = self.public_domains(self.engine, table)
        wanted = NodeMethod.of(self.bound.policy)
        return PaidNodes(table, domains, Draws(wanted, self.chance.source, self.accountant.charge(wanted.budgets)))

    def search(self, table: PaidNodes, stages: Stages) -> DrawnNode:
        with stages.stage("search"):
            (drawn,) = self.drawn_nodes(self.engine, table.table, table.draws, table.domains)
        return drawn

    def make(self, table: PaidNodes, choice: DrawnNode) -> NoisyPublication:
        engine, encoding = self.engine, table.table.encoding
        combinations = choice.draw_counts()
        recoding = AtNode(encoding, choice.levels)
        make_labels(engine, recoding)
        engine.run(queries.equal_rows(recoding, combinations, with_left_over=choice.with_left_over))
        rows, groups = released_sizes(engine)
        return NoisyPublication(
            bound=self.bound,
            encoding=encoding,
            row_count=rows,
            group_count=groups,
            drawn=choice,
            draws=table.draws,
        )

    def compare(
        self, made: NoisyPublication, written: ResolvedSource, companions: Mapping[str, ResolvedSource]
    ) -> Comparison:
        assert made.encoding is not None
        return Comparison(row_mismatches(self.engine, queries.unlike_what_was_drawn(made.encoding, written.relation)))

    def report(
        self, made: NoisyPublication, measured: Measured, into: str, seconds: Mapping[str, float]
    ) -> PrivateReport:
        draws, drawn, lattice = made.draws, made.drawn, made.bound.lattice
        return self.private_report(
            PrivateReport,
            made,
            into,
            seconds,
            spent=tuple(
                Spent(step=step, budget=charge.budget, position=charge.position)
                for step, charge in draws.charges.items()
            ),
            thresholds=dict(drawn.thresholds),
            node=lattice.named(drawn.levels),
            heights=lattice.named(lattice.heights),
            node_is_public=not draws.method.chooses_node,
            lattice_nodes=lattice.size if draws.method.chooses_node else 1,
            diagnostics=measured.diagnostics,
        )

    def labels_record(self, made: NoisyPublication, report: Report) -> LabelsRecord:
        return NodeRecord(levels=report.node)


MAX_ROWS = 1 << 32  # that scores can count, as integers of 63 bits in parts of a row

TELLING_NODES = 8  # to score before looking again at which nodes are near the best


FAILURE_PROBABILITY = 2.0**-64
"""An upper bound of the probability to draw a node whose score was merged with others far below the best."""


Parts = Mapping[tuple[int, int], int]  # by quasi-identifier and level, a number in parts of :data:`WHOLE` of a row


class Losses:
    """The known losses of the nodes of a lattice: negated scores, in parts of a row.

    ``whole`` is the loss of a row at risk, ``most`` the largest loss of a row by the labels of each node.
    """

    def __init__(
        self, lattice: Lattice, row_count: int, *, whole: int, lost: Integers, most: Integers, reach: int
    ) -> None:
        self._lattice = lattice
        self._largest = row_count * whole
        self._reach = min(reach, self._largest)  # losses are distinguished up to this distance from the least
        self._lost = lost  # by the labels of each node, over all rows; shape of the lattice
        self._spared = whole - most
        self._known = np.full(lattice.shape, -1, dtype=np.int64)
        self._at_risk = np.zeros(lattice.shape, dtype=np.int64)
        self._least = self._largest

    def learn(self, levels: Levels, at_risk: int, loss: int) -> None:
        index = self._lattice.index(levels)
        self._at_risk[index] = at_risk
        self._known[index] = loss
        self._least = min(self._least, loss)

    def batches(self) -> Iterator[list[Levels]]:
        """Yield the nodes to count in batches; :meth:`learn` the losses of each before the next.

        Bounds are of no use if nothing can be out of reach.
        """
        if self._reach == self._largest:
            yield from batches(self._lattice.nodes())
        else:
            while telling := most_informative(self._open(), self._lost, TELLING_NODES):
                yield [self._lattice.node(index) for index in telling]

    def scores(self) -> Integers:
        above = np.where(self._known < 0, self._reach, np.minimum(self._known - self._least, self._reach))
        scores: Integers = -(self._least + above).ravel()
        return scores

    def _open(self) -> Mask:
        spread_downwards(self._at_risk)
        bounds = self._lost + self._at_risk * self._spared
        is_open: Mask = (self._known < 0) & (bounds - self._least < self._reach)
        return is_open


def sums(lattice: Lattice, table: Parts) -> Integers:
    """Sum the numbers of the levels of every node; 0 for levels that no row has."""
    terms = [
        np.array([table.get((position, depth), 0) for depth in range(least, most + 1)], dtype=np.int64)
        for position, (least, most) in enumerate(zip(lattice.bottom, lattice.top, strict=True))
    ]
    return reduce(np.add.outer, terms)


def reach(charge: Charge, sensitivity: int, nodes: int) -> int:
    """Return the distance from the best score within which nodes are distinguished: a public number.

    Either mechanism draws a node further below with a probability of at most exp(-reach / scale), and all of these
    together with at most :data:`FAILURE_PROBABILITY`.
    """
    scale = scale_for(charge.budget.epsilon, 2 * sensitivity)
    return math.ceil(scale * (math.log(nodes) - math.log(FAILURE_PROBABILITY)))


def nodes_by_scores(
    lattice: Lattice, scores: Integers, draws: Draws, *, by: Selection, sensitivity: int, runs: int
) -> list[tuple[Levels, int]]:
    drawn = draws.source.choice(scores, draws.charges[NODE], by=by, sensitivity=sensitivity, runs=runs)
    places, times = np.unique(drawn, return_counts=True)
    nodes = [lattice.node(np.unravel_index(place, lattice.shape)) for place in places]
    return [(levels, int(count)) for levels, count in zip(nodes, times, strict=True)]
