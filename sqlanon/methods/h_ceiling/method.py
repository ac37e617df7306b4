"""h-ceiling as the pipeline runs it: a node below the ceiling, and counterfeits where its classes have too few rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy, refuse_inexact, refuse_wide
from sqlanon.binding.prepare import prepare, with_present_taxonomies
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.errors import UnsatisfiableError
from sqlanon.mechanisms.source import RandomSource
from sqlanon.mechanisms.system import SystemSource
from sqlanon.methods.base import AnyGuarantee, AnyReport, Request, TakesEnums
from sqlanon.methods.h_ceiling.candidates import Candidate, best_with_catalog
from sqlanon.methods.h_ceiling.catalogs import catalog_rows, catalog_shortfalls
from sqlanon.methods.h_ceiling.ceiling import WITHIN, largest_degrees, level_errors
from sqlanon.methods.h_ceiling.choice import choose_node, in_place_of
from sqlanon.methods.h_ceiling.counterfeits import Filled, fill, settings_of
from sqlanon.methods.h_ceiling.guarantee import guarantee
from sqlanon.methods.h_ceiling.impossible import put_entries, values_of_no_row
from sqlanon.methods.h_ceiling.queries import about, invented_rows
from sqlanon.methods.h_ceiling.refusals import refuse_request, refuse_rows
from sqlanon.methods.h_ceiling.report import Decision, Facts, note, report
from sqlanon.methods.shared import publishing
from sqlanon.methods.shared.cells import EncodedTable, encode_table
from sqlanon.methods.shared.nodes.choice import only_checked
from sqlanon.methods.shared.nodes.kept_classes import attained_measures, keep_classes
from sqlanon.methods.shared.nodes.node_counter import node_summaries
from sqlanon.methods.shared.nodes.notes import columns_at_the_top
from sqlanon.methods.shared.publication import Publication
from sqlanon.methods.stages import Stages
from sqlanon.methods.stopping import Stopped, never
from sqlanon.model.lattice import NodeSummary
from sqlanon.model.policy.h_ceiling import CATALOG, INVENTED, HCeiling
from sqlanon.model.policy.policy import Policy
from sqlanon.model.recoding import at_node
from sqlanon.model.release import Measurement
from sqlanon.queries.cells.encoding import Encoding
from sqlanon.queries.classes.grouping import recoded
from sqlanon.search import SearchOutcome
from sqlanon.search.arrays import Bounds, Mask
from sqlanon.verification.measure import measured_beside
from sqlanon.verification.verify import refuse_shortfalls, verify


class Ceiling:
    """Generalize up to a ceiling, fill up the classes that are too small, and verify what is written."""

    is_repeatable = False

    def prepare(self, engine: Engine, source: ResolvedSource, policy: Policy, request: Request) -> Prepared:
        """See :class:`sqlanon.methods.base.Method`."""
        refuse_request(policy, request)
        bound = prepare(engine, source, policy)
        refuse_inexact(bound)
        refuse_wide(bound.lattice, str(policy.method))
        return Prepared(Run(engine, request), bound)


@dataclass(frozen=True)
class Run:
    """What all states of a run need."""

    engine: Engine
    request: Request

    @property
    def random_source(self) -> RandomSource:
        """Where values are drawn from: the entropy of the system, if nothing else is asked for."""
        return self.request.random_source or SystemSource()

    @property
    def stopped(self) -> Stopped:
        """Asked whether to make do with the best node so far."""
        return self.request.stopped or never


@dataclass(frozen=True)
class Prepared:
    """A policy that fits its source."""

    node: ClassVar[None] = None

    run: Run
    bound: BoundPolicy

    @property
    def beside(self) -> tuple[str, ...]:
        settings = self.bound.policy.method
        assert isinstance(settings, HCeiling)
        catalog = (CATALOG,) if settings.has_catalog else ()
        return (*catalog, *({INVENTED} & {*self.run.request.tables}))

    def answering(self) -> AbstractContextManager[None]:
        return nullcontext()

    def with_present_taxonomies(self) -> Prepared:
        return replace(self, bound=with_present_taxonomies(self.run.engine, self.bound))

    def encode(self) -> Encoded:
        rehearsed = self.run.request.rehearsed
        table = encode_table(self.run.engine, self.bound, label_losses=("lm",), may_be_empty=rehearsed)
        put_entries(self.run.engine, self.bound.policy)
        if not rehearsed:
            refuse_rows(self.run.engine, table)
        return Encoded(self.run, table)


@dataclass(frozen=True)
class Encoded:
    """The cells: the values of counterfeits are drawn at random, and cost nobody any privacy that is counted."""

    run: Run
    table: EncodedTable

    def charge(self) -> Encoded:
        return self

    def choose(self, stages: Stages) -> Chosen:
        """See :class:`sqlanon.methods.base.Paid`; no node may keep to the ceiling."""
        engine, table = self.run.engine, self.table
        with stages.stage("search"):
            degrees, errors = largest_degrees(engine, table), level_errors(engine, table)
            h = settings_of(table).h
            allowed = degrees <= (1 if h is None else h) + WITHIN
            if not allowed.any():
                raise UnsatisfiableError(
                    f"no node keeps to the ceiling h = {h:g}:",
                    [f"the least general node that the policy allows has a degree of {degrees.min():.6g}"],
                )
            outcome, nodes = self._checked(allowed, errors, stages)
            filled, candidate = self._filled(nodes)
            catalog = None if candidate is None else candidate.told
            (node,) = (node for node in nodes if node.levels == filled.levels)
            outcome = in_place_of(outcome, node, filled.added.count)
            stages.concluded(outcome)
        if filled.added.suppressed:
            degrees, errors = largest_degrees(engine, filled.true), level_errors(engine, filled.true)
        index = table.context.lattice.index(filled.levels)
        error = float(errors[index]) if candidate is None else candidate.error
        facts = Facts(outcome, catalog, filled.added, float(degrees[index]), error, int(allowed.sum()))
        return Chosen(self.run, filled, facts)

    def _checked(self, allowed: Mask, errors: Bounds, stages: Stages) -> tuple[SearchOutcome, list[NodeSummary]]:
        """The outcome of the search, and the nodes that it has checked, the best first; in a rehearsal the bottom."""
        engine, run = self.run.engine, self.run
        if run.request.rehearsed:
            return _bottom(engine, self.table)
        classes = self.table.without_values()
        return choose_node(engine, classes, allowed, errors, stages.checked, run.stopped)

    def _filled(self, nodes: Sequence[NodeSummary]) -> tuple[Filled, Candidate | None]:
        """The first of some nodes filled up; if there is to be a catalog the best one of them by it.

        Raises:
            UnsatisfiableError: there is no catalog of any that was tried.
        """
        engine, table, source = self.run.engine, self.table, self.run.random_source
        if not settings_of(table).has_catalog_of_values:
            return fill(engine, table, nodes[0].levels, source), None
        best = best_with_catalog(engine, table, nodes, source, self.run.stopped)
        return best.filled, best


@dataclass(frozen=True)
class Chosen:
    """A node that is filled up, of which no row is made yet."""

    run: Run
    filled: Filled
    facts: Facts

    def draw(self) -> Drawn:
        engine, table = self.run.engine, self.filled.table
        recoding = at_node(self.filled.levels)
        keep_classes(engine, table, recoding)
        attained = attained_measures(engine, recoded(table.encoding, recoding))
        # Of no node: what depends on a quasi-identifier in true rows alone tells the counterfeits, which break it.
        publication = publishing.group_rows(engine, table, recoding, masked=False, with_added=self._with_added)
        at_top = columns_at_the_top(table.context.lattice, self.filled.levels)
        notes = (*at_top, *values_of_no_row(engine, table))
        decision = Decision(self.facts, self.filled.levels, tuple(attained), notes)
        return Drawn(self.run, self.filled, decision, publication)

    def _with_added(self, groups: exp.Query) -> exp.Query:
        """Groups of equal rows, with the ids of classes if a catalog names these."""
        if not self.filled.settings.has_catalog:
            return groups
        groups.set("order", None)  # that of the query around it
        return about(self.filled.table.encoding).query("class_ids", groups=groups)


@dataclass(frozen=True)
class Drawn:
    """The rows of a node, and counterfeits among them."""

    run: Run
    filled: Filled
    decision: Decision
    publication: Publication

    @property
    def table(self) -> EncodedTable:
        """The cells, counterfeits among them."""
        return self.filled.table

    @property
    def encoding(self) -> Encoding:
        return self.table.encoding

    def released_rows(self, takes_enums: TakesEnums) -> exp.Query:
        return publishing.released_rows(self.run.engine, self.encoding, takes_enums)

    def note(self, report: AnyReport, made_from: Mapping[str, Any]) -> str:
        return note(self.table.bound, self.decision, report)

    def rows_beside(self) -> Mapping[str, exp.Query]:
        wanted = {}
        if self.filled.settings.has_catalog:
            wanted[CATALOG] = catalog_rows(self.filled)
        if INVENTED in self.run.request.tables:
            wanted[INVENTED] = invented_rows(self.encoding, self.filled.levels)
        return wanted

    def verify(self, written: ResolvedSource, beside: Mapping[str, ResolvedSource]) -> Verified:
        bound = self.table.bound
        node = bound.lattice.named(self.decision.levels)
        compared = measured_beside(bound.policy, bound.taxonomy, node, bound.source, bound.columns, None)
        found = verify(self.run.engine, written, bound.policy, compared)
        others: Sequence[str] = ()
        if CATALOG in beside:
            others = catalog_shortfalls(self.run.engine, self.filled, written, beside[CATALOG])
        if not self.run.request.rehearsed:
            added = self.filled.added
            refuse_shortfalls(found, self.table.context.row_count - added.suppressed + added.count, others)
        return Verified(self, found.measurement)


@dataclass(frozen=True)
class Verified:
    """A release whose classes have k rows."""

    drawn: Drawn
    measured: Measurement

    def report(self, into: str, seconds: Mapping[str, float]) -> AnyReport:
        return report(self.drawn.table, self.drawn.decision, self.measured, into, seconds)

    def guarantee(self, report: AnyReport) -> AnyGuarantee:
        return guarantee(self.drawn.table.bound.policy, report)


def _bottom(engine: Engine, table: EncodedTable) -> tuple[SearchOutcome, list[NodeSummary]]:
    """The bottom of the lattice, which a rehearsal takes for the node that a search would choose."""
    bottom = NodeSummary(table.context.lattice.bottom, 1, 1, 0, 0)
    node_summaries(engine, table, [bottom.levels], asked="counts")
    return only_checked(bottom, 0), [bottom]
