"""What another method would lose on the cells of a run: full-domain generalization beside local recoding."""

from __future__ import annotations

from sqlanon.engines.base import Compute
from sqlanon.methods.local.estimate import estimated_loss
from sqlanon.methods.shared.publishing import Publication
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.methods.local import LocalRecoding
from sqlanon.model.policy.policy import Policy
from sqlanon.model.quality import NCP
from sqlanon.model.release.findings import LocalEstimate
from sqlanon.model.release.reports import Report

MUCH_MORE = 2
"""How many times as much a release must lose for a hint."""

LITTLE = 0.025
"""Losses below this are as good as this one: who loses 5 % in all needs no hint."""


def local_loss(engine: Compute, publication: Publication) -> float | None:
    """About how much local recoding would lose of the table of a full-domain run.

    Returns:
        the loss by the quality model of the policy, in [0, 1]. None if the run was not one for utility by such a loss,
        if local recoding does not take its policy, or if the table is too large for an estimate within the time of a
        run.
    """
    node, policy = publication.node, publication.bound.policy
    if node is None or not _can_be_recoded(policy):
        return None
    return estimated_loss(engine, node.table, "ncp" if isinstance(policy.quality, NCP) else "lm")


def _can_be_recoded(policy: Policy) -> bool:
    if not isinstance(policy.method, FullDomain) or policy.objective != "utility" or policy.columns_with("top"):
        return False
    return not [*LocalRecoding().misfits(policy)]


def with_local_loss(report: Report, loss: float | None) -> Report:
    """A report whose findings have the loss of local recoding, if it is known and much less."""
    if loss is None or report.findings is None or report.loss is None or report.loss < MUCH_MORE * max(loss, LITTLE):
        return report
    estimate = LocalEstimate(loss=loss, published_loss=report.loss)
    return report.model_copy(update={"findings": report.findings.model_copy(update={"local_recoding": estimate})})
