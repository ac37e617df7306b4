"""Private methods as the pipeline runs them: a node is drawn or public, and what is drawn of its counts is published.

What is charged is in the ledger before anything is drawn, and stays there whatever happens to the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.errors import PolicyError
from sqlanon.mechanisms.accountant import Accountant
from sqlanon.methods.base import AnyGuarantee, AnyReport, Request, TakesEnums
from sqlanon.methods.noisy_node.shared.algorithm import Algorithm, DrawnNode, Draws, node_method
from sqlanon.methods.noisy_node.shared.prepare import bounded, prepared, prepared_again
from sqlanon.methods.shared import publishing
from sqlanon.methods.shared.cells import EncodedTable, encode_table
from sqlanon.methods.shared.private import charging
from sqlanon.methods.shared.private.chance import Chance
from sqlanon.methods.shared.private.guarantee import private_guarantee
from sqlanon.methods.shared.private.refusals import refuse_other_than_drawn
from sqlanon.methods.shared.private.report import Published, private_provenance, private_report
from sqlanon.methods.stages import Stages
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import PrivateReport
from sqlanon.queries.noise import combinations as queries
from sqlanon.queries.release.rows import EQUAL_ROWS
from sqlanon.queries.release.text_types import group_sizes


class Private:
    """Publish what is drawn of the counts of a node, paid for from the budget of the data set."""

    is_repeatable = False

    def __init__(self, algorithm: Algorithm) -> None:
        self.algorithm = algorithm

    def prepare(self, engine: Engine, source: ResolvedSource, policy: Policy, request: Request) -> Prepared:
        """See :class:`sqlanon.methods.base.Method`.

        Raises:
            PolicyError, TaxonomyError: the policy, a taxonomy or the request does not fit the source, or what was spent
                before is about another unit of privacy.
            EngineError: there is no ledger that outlives the session, or another one is that of the warehouse.
        """
        _refuse_request(request)
        chance = Chance.found(engine, source, policy, request)
        bound = prepared(engine, source, policy)
        return Prepared(Run(engine, self.algorithm, chance, charging.accountant_of(chance, bound.policy)), bound)


@dataclass(frozen=True)
class Run:
    """What a run of a private method has throughout."""

    engine: Engine
    algorithm: Algorithm
    chance: Chance
    accountant: Accountant


@dataclass(frozen=True)
class Prepared:
    """A policy that fits its source, and an account that will be charged."""

    node: ClassVar[None] = None
    beside: ClassVar[tuple[str, ...]] = ()

    run: Run
    bound: BoundPolicy

    def answering(self) -> AbstractContextManager[None]:
        return charging.answering(self.run.accountant)

    def with_present_taxonomies(self) -> Prepared:
        return replace(self, bound=prepared_again(self.run.engine, self.bound))

    def encode(self) -> Encoded:
        engine = self.run.engine
        counted = bounded(engine, self.bound, self.run.chance.source)
        losses = self.run.algorithm.label_losses
        table = encode_table(engine, self.bound, counted, label_losses=losses, may_be_empty=True)
        return Encoded(self.run, self.bound, table)


@dataclass(frozen=True)
class Encoded:
    """The cells, in which no individual has more rows than are counted."""

    run: Run
    bound: BoundPolicy
    table: EncodedTable

    def charge(self) -> Paid:
        wanted, chance = node_method(self.bound.policy), self.run.chance
        domains = self.run.algorithm.public_domains(self.run.engine, self.table)
        draws = Draws(wanted, chance.source, self.run.accountant.charge(wanted.budgets))
        return Paid(self.run, self.bound, self.table, draws, domains)


@dataclass(frozen=True)
class Paid:
    """Cells, and draws that are paid for."""

    run: Run
    bound: BoundPolicy
    table: EncodedTable
    draws: Draws
    domains: Any

    def choose(self, stages: Stages) -> Chosen:
        with stages.stage("search"):
            (node,) = self.run.algorithm.drawn_nodes(self.run.engine, self.table, self.draws, self.domains)
        return Chosen(self, node)


@dataclass(frozen=True)
class Chosen:
    """A node whose counts can be drawn."""

    paid: Paid
    node: DrawnNode

    def draw(self) -> Drawn:
        engine, encoding, recoding = self.paid.run.engine, self.paid.table.encoding, self.node.recoding
        combinations = self.node.draw_counts()
        publishing.make_labels(engine, encoding, recoding)
        engine.run(queries.equal_rows(encoding, recoding, combinations, with_left_over=self.node.with_left_over))
        found = engine.fetch(group_sizes(EQUAL_ROWS.table), "published rows")[0]
        published = Published(
            self.node.levels, self.paid.draws, self.node.thresholds, int(found["rows"]), int(found["groups"])
        )
        return Drawn(self.paid.run, self.paid.bound, self.paid.table, published)


@dataclass(frozen=True)
class Drawn:
    """The rows that drawn counts stand for."""

    publication: ClassVar[None] = None

    run: Run
    bound: BoundPolicy
    table: EncodedTable
    published: Published

    def released_rows(self, takes_enums: TakesEnums) -> exp.Query:
        return publishing.released_rows(self.run.engine, self.table.encoding, takes_enums)

    def note(self, report: AnyReport, made_from: Mapping[str, Any]) -> str:
        """See :class:`sqlanon.methods.base.Drawn`; what it was made from tells of the data, and is not in it."""
        assert isinstance(report, PrivateReport)
        return private_provenance(self.bound, report, self.run.chance)

    def rows_beside(self) -> Mapping[str, exp.Query]:
        return {}

    def verify(self, written: ResolvedSource, beside: Mapping[str, ResolvedSource]) -> Verified:
        query = queries.unlike_what_was_drawn(self.table.encoding, written.relation)
        refuse_other_than_drawn(publishing.other_rows(self.run.engine, query))
        run, levels = self.run, self.published.levels
        return Verified(self, run.algorithm.diagnosed(run.engine, self.bound, levels, written))


@dataclass(frozen=True)
class Verified:
    """A release that is what was drawn."""

    drawn: Drawn
    diagnosed: dict[str, float | None] | None

    def report(self, into: str, seconds: Mapping[str, float]) -> PrivateReport:
        drawn = self.drawn
        return private_report(drawn.bound, drawn.published, drawn.run.chance, into, seconds, self.diagnosed)

    def guarantee(self, report: AnyReport) -> AnyGuarantee:
        assert isinstance(report, PrivateReport)
        bound, run, method = self.drawn.bound, self.drawn.run, node_method(self.drawn.bound.policy)
        return private_guarantee(
            bound,
            report,
            run.algorithm.theorem(method),
            run.chance,
            run.algorithm.conditions(method),
        )


def _refuse_request(request: Request) -> None:
    """Refuse what a private method does not take.

    Raises:
        PolicyError: there is some.
    """
    if request.stopped is not None:
        # What it chose until then would depend on the clock.
        raise PolicyError(
            "a private method scores every node: give it a public node, or maximum_levels, not a time limit"
        )
    if request.node is not None:
        raise PolicyError('a private method draws its node, or has a public one: write it as "node" of the method')
