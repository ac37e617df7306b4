"""The report of a private release, and its provenance: what a run has drawn and spent, in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from sqlanon.binding.bound import BoundPolicy
from sqlanon.methods.shared.private.chance import Chance
from sqlanon.methods.shared.private.guarantee import NOT_PRIVATE, why_void
from sqlanon.methods.shared.reports import report_of
from sqlanon.model.policy.private import PrivateMethod
from sqlanon.model.release import PrivateReport
from sqlanon.publish.provenance import note_by_policy

APrivateReport = TypeVar("APrivateReport", bound=PrivateReport)

MUCH = 10
"""The ε from which on a release can be 20,000 times as likely with a row as without it."""


# More than six parameters: the run, and what was shown of how many rows.
def private_report_of(
    kind: type[APrivateReport],
    bound: BoundPolicy,
    chance: Chance,
    into: str,
    seconds: Mapping[str, float],
    *,
    rows: int,
    groups: int,
    **facts: Any,
) -> APrivateReport:
    """The report of a private run, with facts by the names of its fields."""
    wanted = bound.policy.method
    assert isinstance(wanted, PrivateMethod)
    return report_of(
        kind,
        bound,
        into,
        seconds,
        stamp=NOT_PRIVATE if why_void(wanted, chance.is_private) else None,
        rows_per_individual=wanted.rows_per_individual,
        released_rows=rows,
        released_groups=groups,
        opened_account=chance.opened_account,
        notes=(*weak_budget(wanted), *few_rows(rows)),
        **facts,
    )


def weak_budget(wanted: PrivateMethod) -> Iterator[str]:
    """What a budget means that means little."""
    if wanted.budget.epsilon >= MUCH and wanted.claims_privacy:
        yield f"with ε of {MUCH} or more hardly anybody is protected: whoever looks can be all but certain"


def few_rows(rows: int) -> Iterator[str]:
    """What it means that a release has no rows."""
    if rows == 0:
        yield "no count reached its threshold, so that the release has no rows: spend more, or generalize more"


def private_provenance(bound: BoundPolicy, report: PrivateReport, chance: Chance, **more: object) -> str:
    """What travels with the release: nothing that tells more of the data, such as how long a stage took.

    Args:
        bound: the policy.
        report: the numbers of the run.
        chance: what was drawn with, and charged.
        more: what else was drawn that the release shows.
    """
    return note_by_policy(
        bound.policy,
        stamp=report.stamp,
        ledger_sha256=None if chance.ledger is None else chance.ledger.head(),
        taxonomy_sha256=bound.taxonomy_hashes,
        node=report.node,
        **more,
        report=report.model_dump(mode="json", exclude={"source", "into", "opened_account", "seconds", "diagnostics"}),
    )
