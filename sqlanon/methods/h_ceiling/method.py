"""h-ceiling: a node below the ceiling, and counterfeits where its classes have too few rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy, refuse_inexact, refuse_wide
from sqlanon.engines.relations import ResolvedSource
from sqlanon.mechanisms.source import RandomSource
from sqlanon.mechanisms.sources import SystemSource
from sqlanon.methods.base import Run
from sqlanon.methods.h_ceiling import catalogs, counterfeits
from sqlanon.methods.h_ceiling.ceiling import largest_degrees, level_errors, nodes_below
from sqlanon.methods.h_ceiling.choice import choose_node, in_place_of
from sqlanon.methods.h_ceiling.queries import invented_rows
from sqlanon.methods.h_ceiling.report import CeilingReport, Decision, Facts, ceiling_record, guarantee, report
from sqlanon.methods.shared.cells import encode_table
from sqlanon.methods.shared.choice import only_checked
from sqlanon.methods.shared.counting import node_summaries
from sqlanon.methods.shared.publishing import Publication, attained_at, group_rows, keep_classes
from sqlanon.methods.shared.reports import columns_at_the_top
from sqlanon.methods.stages import Stages
from sqlanon.model.lattice import NodeSummary
from sqlanon.model.methods.h_ceiling import CATALOG, INVENTED, HCeiling
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Inputs, Record
from sqlanon.model.release import Guarantee, Report
from sqlanon.queries.classes.recoding import AtNode
from sqlanon.search import SearchOutcome
from sqlanon.search.arrays import Bounds, Mask


class HCeilingRun(Run):
    """Generalize up to a ceiling, fill up the classes that are too small, and verify what is written."""

    is_random = True
    report_class = CeilingReport
    about_rows = "Some rows may be invented (counterfeits). Sizes of classes and risks count them as well."
    takes_far_rows = True
    instead_of_node = "bound its search by minimum_levels and maximum_levels"

    @property
    def random_source(self) -> RandomSource:
        """Where values are drawn from: the entropy of the system, if nothing else is asked for."""
        return self.request.random_source or SystemSource()

    @property
    def settings(self) -> HCeiling:
        settings = self.bound.policy.method
        assert isinstance(settings, HCeiling)
        return settings

    def refuse_request(self, policy: Policy) -> None:
        super().refuse_request(policy)
        if INVENTED in self.request.tables:
            counterfeits.refuse_table_of_counterfeits(policy)

    @property
    def companions(self) -> Sequence[str]:
        catalog = (CATALOG,) if self.settings.has_catalog else ()
        return (*catalog, *({INVENTED} & {*self.request.tables}))

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        refuse_inexact(bound)
        refuse_wide(bound.lattice, str(bound.policy.method))
        return bound

    def encode(self) -> None:
        self.table = encode_table(self.engine, self.bound, label_losses=("lm",), may_be_empty=self.request.is_dry_run)
        counterfeits.put_entries(self.engine, self.bound.policy)
        if not self.request.is_dry_run:
            counterfeits.refuse_rows(self.engine, self.table)

    def search(self, stages: Stages) -> None:
        """See :meth:`Run.search`; no node may keep to the ceiling."""
        engine, table = self.engine, self.table
        with stages.stage("search"):
            degrees, errors = largest_degrees(engine, table), level_errors(engine, table)
            allowed = nodes_below(degrees, self.settings.h)
            outcome, nodes = self._checked(allowed, errors, stages)
            self.filled, candidate = self._filled(nodes)
            (node,) = (node for node in nodes if node.levels == self.filled.levels)
            outcome = in_place_of(outcome, node, self.filled.added.count)
            stages.concluded(outcome)
        if self.filled.added.suppressed:
            degrees, errors = largest_degrees(engine, self.filled.true), level_errors(engine, self.filled.true)
        index = table.context.lattice.index(self.filled.levels)
        catalog, error = (None, errors[index]) if candidate is None else (candidate.cataloged, candidate.error)
        self.facts = Facts(outcome, catalog, self.filled.added, float(degrees[index]), float(error), int(allowed.sum()))

    def _checked(self, allowed: Mask, errors: Bounds, stages: Stages) -> tuple[SearchOutcome, list[NodeSummary]]:
        """The outcome of the search, and the nodes that it has checked, the best first; in a dry run the bottom."""
        if self.request.is_dry_run:
            bottom = NodeSummary(self.table.context.lattice.bottom, 1, 1, 0, 0)
            node_summaries(self.engine, self.table, [bottom.levels], asked="counts")
            return only_checked(bottom, 0), [bottom]
        return choose_node(self.engine, self.table.without_values(), allowed, errors, stages.checked, self.stopped)

    def _filled(self, nodes: Sequence[NodeSummary]) -> tuple[counterfeits.Filled, catalogs.Candidate | None]:
        """The first of some nodes filled up; if there is to be a catalog the best one of them by it.

        Raises:
            UnsatisfiableError: there is no catalog of any that was tried.
        """
        if not self.settings.has_catalog_of_values:
            return counterfeits.fill(self.engine, self.table, nodes[0].levels, self.random_source), None
        best = catalogs.best_with_catalog(self.engine, self.table, nodes, self.random_source, self.stopped)
        return best.filled, best

    def make(self) -> Publication:
        engine, table, added = self.engine, self.filled.table, self.filled.added
        self.encoding, recoding = table.encoding, AtNode(table.encoding, self.filled.levels)
        keep_classes(engine, recoding)
        self.attained = attained_at(engine, recoding)
        # Of no node: a dependency that holds in true rows alone gives away the counterfeits, which break it.
        publication = group_rows(
            engine, table, recoding, masked=False, with_added=partial(catalogs.with_class_ids, self.filled)
        )
        notes = (
            *columns_at_the_top(table.context.lattice, self.filled.levels),
            *counterfeits.values_of_no_row(engine, table),
        )
        self.decision = Decision(self.facts, self.filled.levels, tuple(self.attained), notes)
        self.row_count = table.context.row_count - added.suppressed + added.count
        return publication

    def companion_rows(self) -> Mapping[str, exp.Query]:
        wanted = {CATALOG: catalogs.catalog_rows(self.filled)} if self.settings.has_catalog else {}
        if INVENTED in self.request.tables:
            wanted[INVENTED] = invented_rows(self.encoding, self.filled.levels)
        return wanted

    def differences(self, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> list[str]:
        catalog = companions.get(CATALOG)
        return [] if catalog is None else catalogs.catalog_shortfalls(self.engine, self.filled, written, catalog)

    def record(self, report: Report, inputs: Inputs | None) -> Record:
        return ceiling_record(self.filled.table.bound, self.decision, report)

    def report(self, into: str, seconds: Mapping[str, float]) -> Report:
        return report(self.filled.table, self.decision, self.measured, into, seconds)

    def guarantee(self, report: Report) -> Guarantee:
        return guarantee(self.bound.policy, report, for_recipients=False)

    def recorded_guarantee(self, report: Report) -> Guarantee:
        return guarantee(self.bound.policy, report, for_recipients=True)
