"""A run of full domains that leaves nothing but its figures."""

from __future__ import annotations

from sqlanon.binding.carried_taxonomies import with_own_taxonomies
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.base import Request, method_of
from sqlanon.methods.progress import silent
from sqlanon.methods.stages import Stages
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release.trial import Trial
from sqlanon.run.alternatives import local_loss


@with_own_taxonomies
def tried(engine: Engine, source: ResolvedSource, policy: Policy, source_rows: int) -> Trial:
    """What a policy for full domains makes of rows; nothing is written, and the list of releases does not have it.

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
