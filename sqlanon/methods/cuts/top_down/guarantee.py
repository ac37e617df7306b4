"""What a release of top-down specialization promises."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.binding.bound import BoundPolicy
from sqlanon.methods.cuts.top_down.encode import settings_of
from sqlanon.methods.shared import guarantee as shared
from sqlanon.model.release import Guarantee, Report


def guarantee(bound: BoundPolicy, report: Report) -> Guarantee:
    """The claims of a release, and what they do not cover."""
    policy = bound.policy
    (target,) = policy.sensitive
    plain = shared.guarantee(policy, report)
    return Guarantee(
        claims=(
            *plain.claims,
            f'every row of the source stands for one row of the release, whose labels and "{target}" are true of it',
        ),
        conditions=plain.conditions,
        not_covered=tuple(_not_covered(bound, target)),
    )


def _not_covered(bound: BoundPolicy, target: str) -> Iterator[str]:
    if numeric := settings_of(bound).numeric:
        columns = ", ".join(f'"{name}"' for name in numeric)
        yield (
            f"bounds of the intervals of {columns} come from the data: each that is not an end of the range is a value "
            "that some row has"
        )
    yield (
        f'labels were chosen because they predict "{target}", so that rows of a class have much the same value; values '
        "that all rows of a class share are disclosed"
    )
    yield "which labels there are depends on the data, and says something about it beyond the rows"
    yield "syntactic models bound no attacker's inference: this is not differential privacy"
