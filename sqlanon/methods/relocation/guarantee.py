"""What a release of relocation promises: classes of k rows, not all of which are where they belong."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.methods.relocation.report import RelocationReport
from sqlanon.methods.shared.guarantee import guarantee as of_full_domain
from sqlanon.model.policy.policy import Policy
from sqlanon.model.policy.relocation import Relocation
from sqlanon.model.release import Guarantee, Report


def guarantee(policy: Policy, report: Report) -> Guarantee:
    """The claims of a release: those of a full-domain release of k-anonymity, without its truth."""
    settings = policy.method
    assert isinstance(report, RelocationReport)
    assert isinstance(settings, Relocation)
    plain = of_full_domain(policy, report)
    return Guarantee(
        claims=(
            *plain.claims,
            f"every class has {settings.k} rows or more that belong there, besides those that were moved to it",
            "every row of the source stands for one row of the release, and its values of "
            f"{_listed(policy.sensitive, policy.insensitive)} are true",
        ),
        conditions=plain.conditions,
        not_covered=tuple(_not_covered(policy, report)),
    )


def _not_covered(policy: Policy, report: RelocationReport) -> Iterator[str]:
    if report.relocated_rows:
        yield (
            f"the release is not truthful: {report.relocated_rows:,} rows ({100 * report.untruthful_share:.1f} %) have "
            "quasi-identifiers of other rows, and nothing tells which; a count by these may be off by as many"
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
