"""Alternatives: a run of full domains that leaves nothing but its figures, or local recoding."""

from __future__ import annotations

from sqlanon.binding.carried_taxonomies import with_own_taxonomies
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.base import Request, method_of
from sqlanon.methods.local.least_loss import estimated_loss
from sqlanon.methods.progress import silent
from sqlanon.methods.stages import Stages
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.methods.local import LocalRecoding
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import Report
from sqlanon.model.release.findings import LocalEstimate
from sqlanon.model.release.trial import LITTLE, MUCH_MORE, Trial
from sqlanon.release.publishing import GroupedRows


@with_own_taxonomies
def tried(engine: Engine, source: ResolvedSource, policy: Policy, source_rows: int) -> Trial:
    """Try a policy for full domains on rows; nothing is written, and the list of releases does not have it.

    Args:
        engine: the database.
        source: some rows of a source.
        policy: the policy.
        source_rows: rows of the whole source.

    Raises:
        SqlanonError: as :func:`sqlanon.run.pipeline.anonymize`.
    """
    run = method_of(policy)(engine, source, policy, Request())
    with engine.transaction(), engine.scratch():
        run = run.with_present_taxonomies()
        table = run.charge(run.encode())
        groups = run.make(table, run.search(table, Stages(silent))).groups
        summary, context = groups.node.summary, groups.node.table.context
        heights = zip(context.lattice.quasi_identifiers, summary.levels, context.lattice.heights, strict=True)
        return Trial(
            source_rows=source_rows,
            rows=groups.source_rows,
            columns=len(policy.quasi_identifiers),
            loss=policy.quality.loss(summary, context),
            suppressed_rows=summary.suppressed_rows,
            at_top=tuple(name for name, level, height in heights if level == height > 0),
            local_loss=local_loss(engine, groups),
        )


def local_loss(engine: Compute, groups: GroupedRows) -> float | None:
    """Estimate how much local recoding would lose of the table of a full-domain run.

    Returns:
        the loss by the quality model of the policy, in [0, 1]. None if the run was not one for utility by such a loss,
        if local recoding does not take its policy, or if the table is too large for an estimate within the time of a
        run.
    """
    node, policy = groups.node, groups.bound.policy
    if node is None or not isinstance(policy.method, FullDomain) or policy.objective != "utility":
        return None
    if policy.columns_with("top") or policy.held_with or [*LocalRecoding().misfits(policy)]:
        return None
    return estimated_loss(engine, node.table)


def with_local_loss(report: Report, loss: float | None) -> Report:
    """Add the loss of local recoding to the findings of a report, if it is known and much less."""
    if loss is None or report.findings is None or report.loss is None or report.loss < MUCH_MORE * max(loss, LITTLE):
        return report
    estimate = LocalEstimate(loss=loss, published_loss=report.loss)
    return report.model_copy(update={"findings": report.findings.model_copy(update={"local_recoding": estimate})})
