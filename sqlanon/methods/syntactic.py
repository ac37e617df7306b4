"""Base of syntactic methods, whose classes meet privacy models: they are verified, measured and reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.base import AReport, ChoiceT, Measured, Publication, Run, TableT, report_of
from sqlanon.methods.stages import proven_gap
from sqlanon.model.criteria import CLASS_SIZE
from sqlanon.model.labels import LabelsRecord, NodeRecord
from sqlanon.model.lattice import Lattice, Levels, total
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.names import listed
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Inputs, Record, ReportRecord
from sqlanon.model.release import GIVEN, REPORTED_TIES, Guarantee, Measurement, Report, RowCounts
from sqlanon.nodes.choice import NodeChoice
from sqlanon.nodes.table import EncodedTable, refuse_empty
from sqlanon.publish.provenance import release_record
from sqlanon.queries.kit.nodes import subquery
from sqlanon.queries.published_rows import with_unpublished
from sqlanon.queries.recodings import Recoding
from sqlanon.release.guarantee import guarantee
from sqlanon.search import SearchOutcome
from sqlanon.verification.measure import Beside, measured_beside
from sqlanon.verification.verify import shortfalls_of, verify


@dataclass(frozen=True, kw_only=True)
class SyntacticPublication(Publication):
    rows: RowCounts  # what became of the source rows
    attained: Sequence[float] = ()  # by bound of the policy, the attained value; none if it is only measured later
    notes: tuple[str, ...] = ()  # of the report, one sentence each


ClassesT = TypeVar("ClassesT", bound=SyntacticPublication)


class SyntacticRun(Run[TableT, TableT, ChoiceT, ClassesT], Generic[TableT, ChoiceT, ClassesT]):
    def refuse_rows(self, table: TableT) -> None:
        if isinstance(table, EncodedTable):
            refuse_empty(self.engine, table)

    def charge(self, table: TableT) -> TableT:
        return table

    def verify(self, made: ClassesT, written: ResolvedSource, companions: Mapping[str, ResolvedSource]) -> Measured:
        found = verify(self.engine, written, made.bound.policy, self.reference(made))
        comparison = self.compare(made, written, companions)
        shortfalls = shortfalls_of(found, made.rows.released, comparison.differences)
        return Measured(shortfalls, found.measurement, comparison.joint)

    def reference(self, made: ClassesT) -> Beside:
        """Return the policy, taxonomy and rows to measure the release with."""
        bound = made.bound
        return measured_beside(bound.policy, bound.taxonomy, {}, bound.source, bound.columns, None)

    def beside_unpublished(self, found: Beside, recoding: Recoding, *, masked: bool) -> Beside:
        policy = self.bound.policy
        needs_weights = policy.weighs_risks and found.labelled_source is None
        name = policy.row_weight if needs_weights else policy.individual
        if name is None:
            return found
        rows = with_unpublished(recoding, name, masked=masked)
        return replace(found, with_unpublished=subquery(rows, "anon_individuals"))

    def record(self, made: ClassesT, measured: Measured, report: Report, inputs: Inputs | None) -> Record:
        assert report.rows is not None
        models = measured.measurement.models
        return release_record(
            made.bound.policy,
            made.bound.taxonomy_hashes,
            self.labels_record(made, report),
            # Attained values of joint classes include the release's own and are for the custodian.
            [each.attained for each in models] if self.request.earlier or not made.attained else made.attained,
            report.rows,
            report=ReportRecord(**report.model_dump(mode="json", exclude=set(self.custodian_fields))),
            made_from=inputs,
        )

    def labels_record(self, made: ClassesT, report: Report) -> LabelsRecord | None:
        return NodeRecord(levels=report.node)

    def guarantee(self, made: ClassesT, report: Report) -> Guarantee:
        return guarantee(made.bound.policy, report)


def report_of_classes(
    kind: type[AReport],
    bound: BoundPolicy,
    measured: Measurement,
    into: str,
    seconds: Mapping[str, float],
    **facts: Any,
) -> AReport:
    return report_of(
        kind,
        bound,
        into,
        seconds,
        models=measured.models,
        class_count=measured.class_count,
        min_class_size=measured.k or 0,
        individuals=None if bound.policy.individual is None else _individuals(measured),
        suppression_limit=bound.policy.suppression_limit,
        **facts,
    )


def _individuals(measured: Measurement) -> int | None:
    """Return the fewest individuals of a class; None if no privacy model counts them."""
    sizes = (model.attained for model in measured.models if model.measure == CLASS_SIZE.name)
    return next((int(size) for size in sizes if size is not None), None)


# More than six parameters: the choice, its search, and its measures.
def report_at_node(
    kind: type[AReport],
    table: EncodedTable,
    levels: Levels,
    outcome: SearchOutcome,
    measured: Measurement,
    into: str,
    seconds: Mapping[str, float],
    *,
    losses: Mapping[str, float | None],
    **facts: Any,
) -> AReport:
    """Make the report of a run that published a node; ``losses`` come beside those by level."""
    bound, lattice, by_level = table.bound, table.context.lattice, table.context.losses
    return report_of_classes(
        kind,
        bound,
        measured,
        into,
        seconds,
        node=lattice.named(levels),
        heights=lattice.named(lattice.heights),
        domains={name: shape.domain for name, shape in zip(bound.policy.quasi_identifiers, bound.shapes, strict=True)},
        unknown_rows=dict(table.unknown.by_column),
        losses={"prec": total(by_level.prec, levels), "entropy": total(by_level.entropy, levels), **losses},
        lattice_nodes=lattice.size,
        checked_nodes=outcome.checked_nodes,
        proven_optimal=outcome.proven_optimal,
        lower_bound=outcome.lower_bound,
        gap=proven_gap(outcome.loss, outcome.lower_bound),
        tie_count=len(outcome.ties),
        ties=tuple(lattice.named(node) for node in outcome.ties[:REPORTED_TIES]),
        **facts,
    )


NOT_COMPARED = "it is not known how much less another one would lose"


@dataclass(frozen=True, kw_only=True)
class NodePublication(SyntacticPublication):
    table: EncodedTable
    choice: NodeChoice
    masked: bool = False


def report_of_node(made: NodePublication, measured: Measured, into: str, seconds: Mapping[str, float]) -> Report:
    table, node, outcome = made.table, made.choice.node, made.choice.outcome
    policy = table.bound.policy
    return report_at_node(
        Report,
        table,
        node.levels,
        outcome,
        measured.measurement,
        into,
        seconds,
        quality=policy.quality.measure,
        loss=policy.quality.loss_of(node, table.context),
        # Losses of classes were counted over joint classes; the release has other classes.
        losses={**({} if policy.held_with else node.class_losses), "lm": node.lm, "ncp": node.ncp},
        rows=made.rows,
        suppressed_rows=node.suppressed_rows,
        search=found_by(policy, outcome),
        minimal_nodes=None if outcome.minimal_nodes is None else len(outcome.minimal_nodes),
        notes=made.notes,
        after=measured.measurement.exposure,
        **joint_facts(measured, made.choice.loss_alone),
    )


def joint_facts(measured: Measured, loss_alone: float | None) -> dict[str, Any]:
    return {} if measured.joint is None else {"joint": measured.joint, "loss_alone": loss_alone}


def row_counts(table: EncodedTable, suppressed_rows: int, *, masked: bool) -> RowCounts:
    rows, unknown = table.context.row_count, table.unknown.suppressed
    return RowCounts(
        source=rows + unknown,
        released=rows if masked else rows - suppressed_rows,
        masked=suppressed_rows if masked else 0,
        dropped=0 if masked else suppressed_rows,
        unknown=unknown,
    )


def named_node(policy: Policy) -> Mapping[str, int] | None:
    """Return the node that a policy of full domains names."""
    return policy.method.node if isinstance(policy.method, FullDomain) else None


def found_by(policy: Policy, outcome: SearchOutcome) -> str:
    return policy.algorithm if outcome.searched else GIVEN


def doubts(bound: BoundPolicy, outcome: SearchOutcome) -> tuple[str, ...]:
    policy = bound.policy
    if outcome.proven_optimal:
        return ()
    if not outcome.searched:
        by_policy = named_node(policy) is not None or bound.lattice.size == 1
        return (f"{'the policy names the node' if by_policy else 'the node was given'}: {NOT_COMPARED}",)
    if policy.max_loss is not None:
        return ("the release is not proven to be the most private within max_loss: the search was stopped",)
    gap = proven_gap(outcome.loss, outcome.lower_bound)
    assert gap is not None
    assert outcome.loss is not None
    share = f", {100 * gap / outcome.loss:.3g} % of it" if outcome.loss else ""
    return (
        f"the release is not proven optimal: its {policy.quality.measure} loss, {outcome.loss:.6g}, exceeds the least "
        f"that meets the policy by at most {gap:.6g}{share}",
    )


def columns_at_the_top(lattice: Lattice, levels: Levels, remedy: str = "") -> tuple[str, ...]:
    """Note the quasi-identifiers with one label for all rows, unless the policy demanded it.

    ``remedy`` is additional advice.
    """
    places = zip(lattice.quasi_identifiers, levels, lattice.heights, lattice.bottom, strict=True)
    at_top = [name for name, level, height, least in places if level == height > least]
    if not at_top:
        return ()
    columns = listed(at_top)
    reached, say = ("is", "it says") if len(at_top) == 1 else ("are", "they say")
    return (
        f"{columns} {reached} at the top level, where all rows have one label, so that {say} nothing any more; what "
        f"can help: {remedy}maximum_levels below the top, more levels in between, fewer quasi-identifiers, a larger "
        "suppression_limit, or another quality model",
    )
