"""DiffGen as the pipeline runs it: labels give way to their children by chance, and all combinations get noise.

What is charged is in the ledger before anything is drawn, and stays there whatever happens to the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.prepare import prepare, with_present_taxonomies
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.mechanisms.accountant import Accountant, Portions
from sqlanon.methods.base import AnyGuarantee, AnyReport, Request, TakesEnums
from sqlanon.methods.cuts.diffgen.draws import LEAVES, Draws
from sqlanon.methods.cuts.diffgen.encode import Points, encode
from sqlanon.methods.cuts.diffgen.evidence import CountedRows
from sqlanon.methods.cuts.diffgen.leaves import Leaves, draw_leaves
from sqlanon.methods.cuts.diffgen.prepare import checked, refuse_request
from sqlanon.methods.cuts.diffgen.queries import rows as queries
from sqlanon.methods.cuts.diffgen.report import THEOREM, WITHIN, DiffGenReport, Published, report
from sqlanon.methods.cuts.diffgen.specialize import Chosen as ChosenCut
from sqlanon.methods.cuts.diffgen.specialize import specialized
from sqlanon.methods.cuts.shared.noted import NotedCut, noted_cut
from sqlanon.methods.cuts.shared.queries import labels, released
from sqlanon.methods.shared import publishing
from sqlanon.methods.shared.private import charging
from sqlanon.methods.shared.private.chance import Chance
from sqlanon.methods.shared.private.counts import row_count
from sqlanon.methods.shared.private.guarantee import private_guarantee
from sqlanon.methods.shared.private.neighbours import bounded_source
from sqlanon.methods.shared.private.refusals import refuse_other_than_drawn
from sqlanon.methods.shared.private.report import private_provenance
from sqlanon.methods.stages import Stages
from sqlanon.model.policy.diffgen import CUTS
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.release.rows import EQUAL_ROWS
from sqlanon.queries.release.text_types import group_sizes

MOST_NOTED = 10_000
"""How many labels a cut has at most that is in the note of its release; a table beside it has any."""


class DrawnGeneralization:
    """Publish noisy counts of labels that were drawn, paid for from the budget of the data set."""

    is_repeatable = False

    def prepare(self, engine: Engine, source: ResolvedSource, policy: Policy, request: Request) -> Prepared:
        """See :class:`sqlanon.methods.base.Method`.

        Raises:
            PolicyError, TaxonomyError: the policy, a taxonomy or the request does not fit the source, or what was spent
                before is about another unit of privacy.
            EngineError: there is no ledger that outlives the session, or another one is that of the warehouse.
        """
        refuse_request(request)
        chance = Chance.found(engine, source, policy, request)
        bound = checked(prepare(engine, source, policy))
        return Prepared(Run(engine, chance, charging.accountant_of(chance, bound.policy), request), bound)


@dataclass(frozen=True)
class Run:
    """What a run has throughout."""

    engine: Engine
    chance: Chance
    accountant: Accountant
    request: Request


@dataclass(frozen=True)
class Prepared:
    """A policy that fits its source, and an account that will be charged."""

    node: ClassVar[None] = None

    run: Run
    bound: BoundPolicy

    @property
    def beside(self) -> tuple[str, ...]:
        return (CUTS,) if CUTS in self.run.request.tables else ()

    def answering(self) -> AbstractContextManager[None]:
        return charging.answering(self.run.accountant)

    def with_present_taxonomies(self) -> Prepared:
        return replace(self, bound=checked(with_present_taxonomies(self.run.engine, self.bound)))

    def encode(self) -> Encoded:
        engine = self.run.engine
        source = bounded_source(engine, self.bound, self.run.chance.source)
        return Encoded(self.run, encode(engine, self.bound, source))


@dataclass(frozen=True)
class Encoded:
    """The rows as points, no individual with more than are counted."""

    run: Run
    points: Points

    def charge(self) -> Paid:
        settings = self.points.settings
        return Paid(self.run, self.points, self.run.accountant.charge_in_portions(settings.name, settings.budget))


@dataclass(frozen=True)
class Paid:
    """Points, and a budget that is paid."""

    run: Run
    points: Points
    portions: Portions

    def choose(self, stages: Stages) -> Chosen:
        points, settings = self.points, self.points.settings
        with stages.stage("search"):
            evidence = CountedRows(self.run.engine, settings.utility)
            draws = Draws(settings, self.run.chance.source, self.portions)
            cut = specialized(points.axes, points.classes, settings.specializations, evidence, draws)
        return Chosen(self, cut)


@dataclass(frozen=True)
class Chosen:
    """A cut whose counts can be drawn."""

    paid: Paid
    chosen: ChosenCut

    def draw(self) -> Drawn:
        points, portions, cut = self.paid.points, self.paid.portions, self.chosen.cut
        engine, source = self.paid.run.engine, self.paid.run.chance.source
        leaves = draw_leaves(engine, cut, points.classes, points.settings, source, portions.rest(LEAVES))
        engine.put(labels.GIVEN, labels.given_pieces(cut, points.ranges))
        engine.put(queries.PLACES, queries.places(cut))
        engine.run(labels.labelled_cut())
        engine.run(queries.equal_rows(cut, points.classes, points.bound.published_columns, points.target))
        return Drawn(self.paid.run, points, self._published(leaves))

    def _published(self, leaves: Leaves) -> Published:
        found = self.paid.run.engine.fetch(group_sizes(EQUAL_ROWS.table), "published rows")[0]
        return Published(self.chosen, leaves, self.paid.portions, int(found["rows"]), int(found["groups"]))


@dataclass(frozen=True)
class Drawn:
    """The rows that noisy counts stand for."""

    publication: ClassVar[None] = None

    run: Run
    points: Points
    published: Published

    def released_rows(self, takes_enums: TakesEnums) -> exp.Query:
        return released.released(self.points.bound.published_columns, self.points.settings.count_column)

    def rows_beside(self) -> Mapping[str, exp.Query]:
        return {CUTS: labels.cut_rows()} if CUTS in self.run.request.tables else {}

    def note(self, report: AnyReport, made_from: Mapping[str, Any]) -> str:
        """See :class:`sqlanon.methods.base.Drawn`; what it was made from tells of the data, and is not in it."""
        assert isinstance(report, DiffGenReport)
        return private_provenance(self.points.bound, report, self.run.chance, **self._noted_cut())

    def _noted_cut(self) -> Mapping[str, NotedCut]:
        """The cut for a note, that of sets by itself; nothing if it has very many labels."""
        if row_count(self.run.engine, labels.CUT) > MOST_NOTED:
            return {}
        cut, sets = noted_cut(self.run.engine), self.points.settings.sets
        of_items = {"cut_of_items": {name: cut[name] for name in sets}} if sets else {}
        return {"cut": {name: cut[name] for name in cut if name not in sets}, **of_items}

    def verify(self, written: ResolvedSource, beside: Mapping[str, ResolvedSource]) -> Verified:
        columns, counts = self.points.bound.published_columns, self.points.settings.count_column
        query = released.unlike_what_was_made(columns, written.relation, counts)
        problems = publishing.other_rows(self.run.engine, query)
        if CUTS in beside:
            query = labels.unlike_cut(beside[CUTS].relation)
            if unlike := self.run.engine.fetch(query, "the cut that was written")[0]["unlike"]:
                problems.append(f"the table of cuts differs in {unlike:,} rows from the cut of the release")
        refuse_other_than_drawn(problems)
        return Verified(self)


@dataclass(frozen=True)
class Verified:
    """A release that is what was drawn."""

    drawn: Drawn

    def report(self, into: str, seconds: Mapping[str, float]) -> AnyReport:
        return report(self.drawn.points, self.drawn.published, self.drawn.run.chance, into, seconds)

    def guarantee(self, report: AnyReport) -> AnyGuarantee:
        assert isinstance(report, DiffGenReport)
        chance, bound = self.drawn.run.chance, self.drawn.points.bound
        return private_guarantee(
            bound,
            report,
            THEOREM,
            chance,
            [WITHIN] if self.drawn.points.settings.outside == "refuse" else (),
        )
