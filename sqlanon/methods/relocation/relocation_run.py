"""Relocation: publish a node with few outliers, whose rows are moved to the nearest classes.

Recipients learn how many rows are no longer true.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pydantic import Field

from sqlanon.binding.bound import BoundPolicy, refuse_inexact
from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.base import Comparison, Measured
from sqlanon.methods.relocation.moving import Moves, changed_values, move
from sqlanon.methods.stages import Stages
from sqlanon.methods.syntactic import (
    NodePublication,
    SyntacticRun,
    columns_at_the_top,
    doubts,
    report_of_node,
    row_counts,
)
from sqlanon.model.lattice import NodeSummary
from sqlanon.model.methods.full_domain import Relocation
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import CUSTODIAN_FIELDS, Guarantee, Report
from sqlanon.nodes.choice import NodeChoice, bottom_choice, choose_node, settled
from sqlanon.nodes.counting import examine_nodes, node_summaries, share_of
from sqlanon.nodes.table import EncodedTable, encode_table, unknown_notes
from sqlanon.queries.recodings import AtNode
from sqlanon.release.guarantee import guarantee
from sqlanon.release.publishing import PublishedNode, attained_at, group_rows, keep_classes
from sqlanon.search import SearchOutcome

PRIVATE = CUSTODIAN_FIELDS | {"relocated_classes", "mean_distance"}
"""The fields that do not travel with a release.

The number of untruthful rows does: whoever analyses the release has to know by how much any count may be off, and
whoever knows which rows are in the table could compute it anyway. The distance may be about a single row.
"""


class RelocationReport(Report):
    """The numbers of a run of relocation.

    ``loss`` chose the node and counts moved rows as suppressed; ``losses`` are of the published labels, which do not
    show that some are untrue.

    Attributes:
        limit: the share of rows that could be moved.
        relocated_rows: how many rows have quasi-identifiers that are not theirs.
        untruthful_share: their share of all rows, in [0, 1].
        relocated_classes: how many classes they were in, each of fewer than k rows.
        mean_distance: the mean loss, in [0, 1], of the labels that are true of a moved row and of its new class. None
            if no row was moved.
    """

    limit: float = Field(title="share of rows that may be untruthful")
    relocated_rows: int = Field(title="rows that were moved")
    untruthful_share: float = Field(title="share of rows that are untruthful")
    relocated_classes: int = Field(title="classes of rows that were moved")
    mean_distance: float | None = Field(title="mean distance of rows that were moved")

    @property
    def rows_in_words(self) -> str:
        assert self.rows is not None
        moved = (
            f"{self.relocated_rows:,} of them untruthful ({100 * self.untruthful_share:.1f} %; the limit is "
            f"{100 * self.limit:g} %)"
        )
        if self.mean_distance is None:
            return f"{self.rows.released:,} rows, {moved}."
        return (
            f"{self.rows.released:,} rows, {moved}: they are shown in other classes, at a mean distance of "
            f"{self.mean_distance:.3g}."
        )


@dataclass(frozen=True, kw_only=True)
class RelocatedPublication(NodePublication):
    moves: Moves
    published: NodeSummary  # the node with moved rows where they are shown


class RelocationRun(SyntacticRun[EncodedTable, NodeChoice, RelocatedPublication]):
    takes_far_rows = True
    instead_of_node = "bound its search by minimum_levels and maximum_levels"
    report_class = RelocationReport
    custodian_fields = PRIVATE
    about_rows = (
        "Some rows may have been moved to a class that is not their own: their quasi-identifiers are untruthful."
    )

    @property
    def settings(self) -> Relocation:
        return Relocation.of(self.bound.policy)

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        refuse_inexact(bound)
        return bound

    def encode(self) -> EncodedTable:
        losses = tuple(dict.fromkeys(("lm", *self.bound.policy.quality.label_losses)))
        return encode_table(self.engine, self.bound, label_losses=losses)

    def search(self, table: EncodedTable, stages: Stages) -> NodeChoice:
        engine, classes = self.engine, table.without_values()
        with stages.stage("search"):
            outcome = choose_node(engine, classes, stages.checked, self.stopped)
            stages.concluded(outcome)
        if outcome.best is None:
            with stages.stage("explain"):
                raise unsatisfiable(engine, classes, outcome)
        return settled(engine, classes, outcome, outcome.best)

    def choice_without_rows(self, table: EncodedTable) -> NodeChoice:
        choice = bottom_choice(self.engine, table.without_values())
        return replace(choice, node=replace(choice.node, suppressed_rows=1))  # a row to move

    def make(self, table: EncodedTable, choice: NodeChoice) -> RelocatedPublication:
        engine, node, policy = self.engine, choice.node, table.bound.policy
        moved, moves = table, Moves(0, 0, None, is_exact=True)
        if node.suppressed_rows > 0:
            moved, moves = move(engine, table, node.levels)
        recoding = AtNode(moved.encoding, node.levels)
        keep_classes(engine, recoding)
        attained = attained_at(engine, recoding)
        (published,) = node_summaries(engine, moved.without_values(), [node.levels])
        groups = group_rows(engine, moved, recoding, masked=False)
        notes = (
            *doubts(table.bound, choice.outcome),
            *_caveats(moves),
            *columns_at_the_top(table.context.lattice, node.levels),
            *unknown_notes(policy, table.unknown),
        )
        return RelocatedPublication(
            bound=table.bound,
            encoding=moved.encoding,
            groups=replace(groups, table=table, node=PublishedNode(table, node, suppresses=False)),
            rows=row_counts(table, 0, masked=False),
            attained=attained,
            notes=notes,
            table=table,
            choice=choice,
            moves=moves,
            published=published,
        )

    def compare(
        self, made: RelocatedPublication, written: ResolvedSource, companions: Mapping[str, ResolvedSource]
    ) -> Comparison:
        changed = changed_values(self.engine, made.table, written.relation)
        return Comparison([f"it lacks the values of {changed:,} rows of the source"] if changed else [])

    def report(self, made: RelocatedPublication, measured: Measured, into: str, seconds: Mapping[str, float]) -> Report:
        moves, published = made.moves, made.published
        found = report_of_node(made, measured, into, seconds)
        losses = {**found.losses, **published.class_losses, "lm": published.lm, "ncp": published.ncp}
        return RelocationReport(
            **{**found.model_dump(), "losses": losses, "suppressed_rows": 0},
            limit=self.settings.limit,
            relocated_rows=moves.rows,
            untruthful_share=moves.rows / max(measured.measurement.row_count, 1),
            relocated_classes=moves.classes,
            mean_distance=moves.mean_distance,
        )

    def guarantee(self, made: RelocatedPublication, report: Report) -> Guarantee:
        policy = self.bound.policy
        assert isinstance(report, RelocationReport)
        plain = guarantee(policy, report)
        return Guarantee(
            claims=(
                *plain.claims,
                f"every class has {self.settings.k} rows or more that belong there, besides those that were moved to "
                "it",
                "every row of the source stands for one row of the release, and its values of "
                f"{_listed(policy.sensitive, policy.insensitive)} are true",
            ),
            conditions=plain.conditions,
            not_covered=tuple(_not_covered(policy, report)),
        )


def unsatisfiable(engine: Compute, table: EncodedTable, outcome: SearchOutcome) -> UnsatisfiableError:
    """Explain a search that found no node, with checked proposals.

    The most general node has the fewest rows in small classes, whatever k is: if it fails, every node does.
    """
    settings, context = Relocation.of(table.bound.policy), table.context
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


def _caveats(moves: Moves) -> Iterator[str]:
    if moves.rows:
        yield (
            f"losses are of the labels as published and do not see that {moves.rows:,} rows are not true; the loss "
            "that the node was chosen by counts these as suppressed"
        )
    if moves.rows and not moves.is_exact:
        yield (
            "there are too many classes to compare all: each that is too small went to the nearest of those that stand "
            "close to it in the order of their labels"
        )


def _not_covered(policy: Policy, report: RelocationReport) -> Iterator[str]:
    if report.relocated_rows:
        yield (
            f"the release is not truthful: {report.relocated_rows:,} rows ({100 * report.untruthful_share:.1f} %) have "
            "quasi-identifiers of other rows, and nothing shows which; a count by these may be off by as many"
        )
        yield (
            "nothing is drawn at random: who knows the quasi-identifiers of all rows can work out which classes were "
            "too small, and where their rows are"
        )
        yield "a row that was moved stands out in a class whose rows would never have its other values"
    yield "syntactic models bound no attacker's inference: this is not differential privacy"
    yield "that the node was chosen from the data says something about the data"
    if policy.sensitive:
        yield f"values of {_listed(policy.sensitive)} that all rows of a class share are disclosed"


def _listed(*columns: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' for names in columns for name in names)
