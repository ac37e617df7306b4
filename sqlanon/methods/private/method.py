"""Private methods as the pipeline runs them: a node is drawn or public, and its counts are published with noise.

What is charged is in the ledger before anything is drawn, and stays there whatever happens to the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.base import Compute, Engine, ResolvedSource
from sqlanon.errors import PolicyError, VerificationError, with_spent
from sqlanon.mechanisms.accountant import Accountant
from sqlanon.methods import publishing
from sqlanon.methods.base import AnyGuarantee, AnyReport, Request, TakesEnums
from sqlanon.methods.cells import EncodedTable, encode_table
from sqlanon.methods.private import draws as counts
from sqlanon.methods.private.chance import Chance
from sqlanon.methods.private.draws import Domains, Draws
from sqlanon.methods.private.guarantee import private_guarantee
from sqlanon.methods.private.neighbours import unit_of
from sqlanon.methods.private.prepare import (
    bounded,
    noisy_counts,
    prepared,
    prepared_again,
    refuse_what_cannot_be_drawn,
)
from sqlanon.methods.private.report import Published, private_provenance, private_report
from sqlanon.methods.stages import Stages
from sqlanon.model.budget import one_after_the_other
from sqlanon.model.lattice import Levels
from sqlanon.model.policy.noisy_counts import ROLLED_UP
from sqlanon.model.policy.policy import Policy
from sqlanon.model.recoding import Recoding, at_node
from sqlanon.model.release import PrivateReport
from sqlanon.queries.kit.nodes import Relation
from sqlanon.queries.noise import combinations as queries
from sqlanon.queries.noise.diagnostics import diagnostics
from sqlanon.queries.release.rows import EQUAL_ROWS
from sqlanon.queries.release.text_types import group_sizes


@dataclass(frozen=True)
class DrawnNode:
    """A node, and how its counts are drawn.

    Attributes:
        levels: the node.
        runs: in how many runs it is drawn: a release is one, an audit makes a hundred thousand at once.
        draw_counts: draws them, and returns the relations that combinations are in.
        with_left_over: whether what they do not show is drawn as well.
        thresholds: the least noisy count that a step shows.
    """

    levels: Levels
    runs: int
    draw_counts: Callable[[], list[Relation]]
    with_left_over: bool
    thresholds: Mapping[str, int]

    @property
    def recoding(self) -> Recoding:
        """The labels of the node."""
        return at_node(self.levels)


class Algorithm:
    """How a node is drawn, and its counts: IPA and the histogram by what they spend, for which see ``draws``."""

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
        """Draw the node of each run, unless it is public; the counts of one node are drawn before the next comes."""
        for levels, count in counts.chosen_nodes(engine, table, draws, domains, runs):
            domain = domains.at(levels)
            draw_counts = partial(counts.draw_counts, engine, table, at_node(levels), draws, domain, count)
            thresholds = counts.thresholds(draws.method, domain)
            yield DrawnNode(levels, count, draw_counts, ROLLED_UP in draws.charges, thresholds)


class Private:
    """Publish noisy counts, paid for from the budget of the data set."""

    is_repeatable = False

    def __init__(self, algorithm: Algorithm | None = None) -> None:
        self.algorithm = algorithm or Algorithm()

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
        accountant = Accountant(
            chance.ledger,
            dataset=chance.dataset,
            method=noisy_counts(policy).name,
            policy_sha256=bound.policy.sha256(),
            unit=unit_of(bound.policy),
            files=chance.files,
        )
        return Prepared(Run(engine, self.algorithm, chance, accountant), bound)


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

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Have whatever ends the run tell what it was charged before."""
        try:
            yield
        except BaseException as error:
            if paid := self.run.accountant.paid:
                with_spent(error, **one_after_the_other(paid).model_dump(mode="json"))
            raise

    def with_present_taxonomies(self) -> Prepared:
        return replace(self, bound=prepared_again(self.run.engine, self.bound))

    def encode(self) -> Encoded:
        engine = self.run.engine
        counted = bounded(engine, self.bound, self.run.chance.source)
        table = encode_table(engine, self.bound, counted, label_losses=("ncp",), may_be_empty=True)
        return Encoded(self.run, self.bound, table)


@dataclass(frozen=True)
class Encoded:
    """The cells, in which no individual has more rows than are counted."""

    run: Run
    bound: BoundPolicy
    table: EncodedTable

    def charge(self) -> Paid:
        wanted, chance = noisy_counts(self.bound.policy), self.run.chance
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
    domains: Domains

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
    """The rows that noisy counts stand for."""

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
        unlike = self.run.engine.fetch(query, "what was written")[0]["unlike"]
        if unlike:
            raise VerificationError(
                "what was written is not what was drawn; it was withdrawn, and what was spent is spent:",
                [f"{unlike:,} groups of equal rows differ in their number of rows"],
            )
        return Verified(self, self._diagnosed(written))

    def _diagnosed(self, written: ResolvedSource) -> dict[str, float | None] | None:
        """What is lost, measured on the true data, if the policy asks for it."""
        if not noisy_counts(self.bound.policy).reveal_diagnostics:
            return None
        node = self.bound.lattice.named(self.published.levels)
        return self.run.engine.fetch(diagnostics(self.bound.cells, node, written.relation), "diagnostics")[0]


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
        bound, chance = self.drawn.bound, self.drawn.run.chance
        theorem = counts.THEOREMS[report.method, noisy_counts(bound.policy).is_pure]
        return private_guarantee(bound, report, theorem, is_private=chance.is_private, is_query=chance.is_query)


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
