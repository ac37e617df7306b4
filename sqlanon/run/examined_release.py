"""What a policy leaves open on a release that was published: the findings of its run, counted anew for a report."""

from __future__ import annotations

from sqlanon.binding.prepare import prepare
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import SqlanonError
from sqlanon.model.labels import NodeRecord
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Record
from sqlanon.model.release import Findings
from sqlanon.nodes.counting import node_summaries
from sqlanon.nodes.table import encode_table
from sqlanon.release.findings import Examined, examine, examine_kept
from sqlanon.release.kept_columns import released_values
from sqlanon.release.publishing import GroupedRows, PublishedNode, groups_as_written
from sqlanon.run.listed_others import reason_of
from sqlanon.verification.published import Published

CANNOT_BE_COMPARED = (
    "the source does not fit the policy of the release any more, so that findings beside it are missing"
)

OTHER_SOURCE = (
    "the source has changed since the release was made: it leaves out another number of rows, so that the labels of "
    "suppressed rows are not compared"
)


def examined_release(
    engine: Engine, found: Published, record: Record, policy: Policy, source: ResolvedSource | None
) -> Examined:
    """The findings and notes of a release: by itself, or beside its source.

    Without the source they follow from the released rows and k alone. Those of a private release are its recorded
    notes: whatever was counted beside its source would be outside its budget.
    """
    recorded = () if record.report is None else tuple(record.report.as_json.get("notes", ()))
    if policy.has_private_method:
        return Examined(Findings(), recorded, None)
    problems: tuple[str, ...] = ()
    examined = None
    if source is not None:
        try:
            with engine.transaction(), engine.scratch():
                examined, problems = _beside(engine, found, record, policy, source)
        except SqlanonError as error:
            problems = (f"{CANNOT_BE_COMPARED}: {reason_of(error)}",)
    if examined is None:
        examined = _alone(engine, found, policy)
    notes = dict.fromkeys((*recorded, *examined.notes, *problems))
    return Examined(examined.findings, tuple(notes), None)


def _alone(engine: Engine, found: Published, policy: Policy) -> Examined:
    """What the kept columns show that the release still has."""
    described = {folded(each.name): each.traits for each in engine.describe(found.source.relation)}
    kept = policy.model_copy(
        update={
            role: tuple(name for name in getattr(policy, role) if folded(name) in described)
            for role in ("sensitive", "insensitive")
        }
    )
    traits = {name: described[folded(name)] for name in (*kept.sensitive, *kept.insensitive)}
    groups = groups_as_written(kept, kept.quasi_identifiers, found.source.relation)
    return examine_kept(engine, released_values(engine, kept, traits, groups))


def _beside(
    engine: Engine, found: Published, record: Record, policy: Policy, source: ResolvedSource
) -> tuple[Examined, tuple[str, ...]]:
    """What is found beside the source, and why something is missing."""
    bound = prepare(engine, source, policy, has_earlier=True)
    node: PublishedNode | None = None
    problems: tuple[str, ...] = ()
    # Relocation and h-ceiling publish rows that are not those of the source at the node.
    if isinstance(record.labels, NodeRecord) and isinstance(policy.method, FullDomain) and record.report is not None:
        table = encode_table(engine, bound, label_losses=policy.quality.label_losses, may_stay=True)
        levels = tuple(record.labels.levels[name] for name in policy.taxonomy_columns)
        [summary] = node_summaries(engine, table, [levels], as_asked=True)
        # Held together with earlier releases, persons are left out whose classes meet the policy by themselves.
        suppresses = summary.suppressed_rows == record.report.as_json.get("suppressed_rows")
        problems = () if suppresses or policy.held_with else (OTHER_SOURCE,)
        node = PublishedNode(table, summary, suppresses=suppresses)
    names, rows = policy.quasi_identifiers, 0 if record.rows is None else record.rows.source or 0
    groups = groups_as_written(policy, names, found.source.relation)
    return examine(engine, GroupedRows(bound, rows, names, node=node, relation=groups)), problems
