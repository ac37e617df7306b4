"""What a release of top-down specialization promises: classes of k rows, no more."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.methods.shared.guarantee import guarantee as of_full_domain
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy.top_down import TopDownSpecialization
from sqlanon.model.release import Guarantee, Report


def guarantee(policy: Policy, report: Report) -> Guarantee:
    """The claims of a release."""
    (target,) = policy.sensitive
    plain = of_full_domain(policy, report)
    return Guarantee(
        claims=(
            *plain.claims,
            f'every row of the source stands for one row of the release, whose labels and "{target}" are true of it',
        ),
        conditions=plain.conditions,
        not_covered=tuple(_not_covered(policy, target)),
    )


def _not_covered(policy: Policy, target: str) -> Iterator[str]:
    settings = policy.method
    assert isinstance(settings, TopDownSpecialization)
    if settings.numeric:
        columns = ", ".join(f'"{name}"' for name in settings.numeric)
        yield (
            f"bounds of the intervals of {columns} come from the data: each that is not an end of the range is a value "
            "that some row has"
        )
    yield (
        f'labels were chosen by what they tell of "{target}", so that rows of a class have much the same value; values '
        "that all rows of a class share are disclosed"
    )
    yield "which labels there are depends on the data, and says something about it beyond the rows"
    yield "syntactic models bound no attacker's inference: this is not differential privacy"
