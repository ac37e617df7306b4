"""Relocation: a node of few outliers, whose rows are shown in the classes nearest to theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sqlanon.binding.bound import BoundPolicy, refuse_inexact
from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.base import Run
from sqlanon.methods.relocation.moving import changed_values, move, stay
from sqlanon.methods.relocation.report import PRIVATE, RelocationReport, guarantee, report, untold
from sqlanon.methods.shared.cells import EncodedTable, encode_table
from sqlanon.methods.shared.choice import choose_node, dry_run_choice, settled
from sqlanon.methods.shared.counting import examine_nodes, node_summaries, share_of
from sqlanon.methods.shared.publishing import Publication, PublishedNode, attained_at, group_rows, keep_classes
from sqlanon.methods.shared.reports import Decision, columns_at_the_top, doubts
from sqlanon.methods.shared.unknown import unknown_notes
from sqlanon.methods.stages import Stages
from sqlanon.model.methods.full_domain import Relocation
from sqlanon.model.release import Guarantee, Report, RowCounts
from sqlanon.queries.classes.recoding import AtNode
from sqlanon.search import SearchOutcome


class RelocationRun(Run):
    """Search for the node of least loss that has few outliers, move these, and verify what is written."""

    takes_far_rows = True
    instead_of_node = "bound its search by minimum_levels and maximum_levels"
    report_class = RelocationReport
    custodian_fields = PRIVATE
    about_rows = (
        "Some rows may have been moved to a class that is not their own: their quasi-identifiers are untruthful."
    )

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        refuse_inexact(bound)
        return bound

    def encode(self) -> None:
        losses = tuple(dict.fromkeys(("lm", *self.bound.policy.quality.label_losses)))
        is_dry_run = self.request.is_dry_run
        self.table = encode_table(self.engine, self.bound, label_losses=losses, may_be_empty=is_dry_run)

    def search(self, stages: Stages) -> None:
        """See :meth:`Run.search`; also if no class is large enough."""
        engine, classes = self.engine, self.table.without_values()
        if self.request.is_dry_run:
            _, self.outcome, self.chosen = dry_run_choice(engine, classes)
            return
        with stages.stage("search"):
            self.outcome = choose_node(engine, classes, stages.checked, self.stopped)
            stages.concluded(self.outcome)
        if self.outcome.best is None:
            with stages.stage("explain"):
                raise unsatisfiable(engine, classes, self.outcome)
        _, self.chosen = settled(engine, classes, self.outcome.best)

    def make(self) -> Publication:
        engine, table, node = self.engine, self.table, self.chosen
        policy = table.bound.policy
        has_outliers = node.suppressed_rows > 0 or self.request.is_dry_run
        moved, self.moves = move(engine, table, node.levels) if has_outliers else stay(table)
        recoding = AtNode(moved.encoding, node.levels)
        keep_classes(engine, recoding)
        self.attained = attained_at(engine, recoding)
        (self.published,) = node_summaries(engine, moved.without_values(), [node.levels])
        publication = group_rows(engine, moved, recoding, masked=False)
        self.encoding, self.row_count = moved.encoding, table.context.row_count
        notes = (
            *doubts(policy, self.outcome),
            *untold(self.moves),
            *columns_at_the_top(table.context.lattice, node.levels),
            *unknown_notes(policy, table.unknown),
        )
        unknown = table.unknown.suppressed
        rows = RowCounts(source=self.row_count + unknown, released=self.row_count, masked=0, dropped=0, unknown=unknown)
        self.decision = Decision(self.outcome, node, masked=False, rows=rows, attained=self.attained, notes=notes)
        return replace(publication, table=table, node=PublishedNode(table, node, suppresses=False))

    def differences(self, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> list[str]:
        changed = changed_values(self.engine, self.table, written.relation)
        return [f"it lacks the values of {changed:,} rows of the source"] if changed else []

    def report(self, into: str, seconds: Mapping[str, float]) -> Report:
        return report(self.table, self.decision, self.moves, self.published, self.measured, into, seconds)

    def guarantee(self, report: Report) -> Guarantee:
        return guarantee(self.bound.policy, report)


def unsatisfiable(engine: Compute, table: EncodedTable, outcome: SearchOutcome) -> UnsatisfiableError:
    """The error of a search that found no node; what it proposes was checked.

    The most general node has the fewest rows in small classes, whatever the k: if it does not do, none does.
    """
    settings, context = table.bound.policy.method, table.context
    assert isinstance(settings, Relocation)
    if not outcome.unsatisfiable:
        return UnsatisfiableError(
            f"no node with few enough rows in classes of fewer than {settings.k:,} was found yet:",
            [
                f"{outcome.checked_nodes:,} of {context.lattice.size:,} nodes were checked, and there may be one among "
                'the others: give the search more time, or take search "optimal"'
            ],
        )
    return UnsatisfiableError(
        f"no node has at most {context.allowed_rows:,} rows in classes of fewer than {settings.k:,} (limit "
        f"{settings.limit:g}), and a class that these can go to:",
        list(_lines(engine, table)),
    )


def _lines(engine: Compute, table: EncodedTable) -> Iterator[str]:
    context, lattice = table.context, table.context.lattice
    top, whole = (examine_nodes(engine, table, [levels])[0] for levels in (lattice.top, lattice.heights))
    rows = top.summary.suppressed_rows
    node = ", ".join(f"{name} {level}" for name, level in lattice.named(lattice.top).items())
    yield f"best node: {node}; {rows:,} of {context.row_count:,} rows are in such classes there"
    if top.summary.kept_class_count:
        yield f"limit = {share_of(rows, context.row_count):g} is the smallest that would do"
    if (top.best_k or 0) >= 2:
        yield f"k = {top.best_k:,} is the largest that would do"
    if whole.summary.kept_class_count and whole.summary.suppressed_rows <= context.allowed_rows:
        yield "leaving out maximum_levels would do"
