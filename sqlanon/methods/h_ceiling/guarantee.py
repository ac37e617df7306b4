"""What a release of h-ceiling promises: classes of k rows, of which nobody is told how many are true."""

from __future__ import annotations

from sqlanon.methods.base import AnyReport
from sqlanon.methods.h_ceiling.report import CeilingReport
from sqlanon.model.policy.h_ceiling import HCeiling
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import Guarantee

HOW_DRAWN = {"marginal": "as often as they are in the whole table", "uniform": "each as likely as any other"}
"""How often each value is drawn, by the fill."""


def guarantee(policy: Policy, report: AnyReport) -> Guarantee:
    """The claims of a release without a catalog (spec/hceiling.md: verdict, H8 and H9)."""
    settings = policy.method
    assert isinstance(report, CeilingReport)
    assert isinstance(settings, HCeiling)
    columns = ", ".join(f'"{name}"' for name in policy.quasi_identifiers)
    (sensitive,) = policy.sensitive
    claims = [f"every equivalence class of the release over {columns} has {settings.k} rows or more"]
    if report.ceiling is not None:
        claims.append(f"no row has a degree of generalization above {report.ceiling:g} (Lee et al. 2017, definition 1)")
    return Guarantee(
        claims=tuple(claims),
        conditions=(
            "rows are counted, not persons: some rows were invented, and one individual may own several",
            "an attacker knows no column of the release but the quasi-identifiers, and not who is in the table",
            "neither the report of the run nor the seed of its draws, if it had one, is published",
            "no other release of the same rows is published: classes of several releases can be intersected",
        ),
        not_covered=(
            f"the class of the fewest true rows has {report.fewest_true_rows:,}: an attacker who knows who is in the "
            "table knows how many true rows each class has, and links a person of such a class with a probability of 1 "
            "in so many",
            f'values of "{sensitive}" that are unlikely in their class are more likely to be invented: they are drawn '
            f"{HOW_DRAWN[settings.fill]}",
            "only classes of just k rows can have counterfeits: all rows of larger ones are true",
            f'values of "{sensitive}" that all rows of a class share are disclosed',
            "syntactic models bound no attacker's inference: this is not differential privacy",
            "that the node was chosen from the data says something about the data",
        ),
    )
