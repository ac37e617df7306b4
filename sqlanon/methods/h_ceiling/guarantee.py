"""What a release of h-ceiling promises: classes of k rows, of which nobody is told how many are true."""

from __future__ import annotations

from sqlanon.methods.base import AnyReport
from sqlanon.methods.h_ceiling.report import CeilingReport
from sqlanon.model.policy.h_ceiling import HCeiling
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import Guarantee

HOW_DRAWN = {"marginal": "as often as they are in the whole table", "uniform": "each as likely as any other"}
"""How often each value is drawn, by the fill."""

WITH_STRICT = (
    "an attacker with the catalog knows k and that classes are filled up to it, and does not run the grouping again, "
    "which depends on where counterfeits are",
)

LEMMA = (
    "the catalog is grouped by the published condition, lemma 1 of Lee et al. 2017, which does not hide where "
    "counterfeits are: with k = 4, classes of {d, a, b, c} and {a, b, c, d, d} and the catalog a, b, c: 1 each, the "
    "second class is too large to have any, so that d is the one true row of the first; a person's link can exceed 1/k "
    "up to certainty",
)
"""What the catalog of the paper gives away (spec/hceiling.md, H2 and H3)."""


def guarantee(policy: Policy, report: AnyReport) -> Guarantee:
    """The claims of a release (spec/hceiling.md: verdict, and H2 to H9)."""
    settings = policy.method
    assert isinstance(report, CeilingReport)
    assert isinstance(settings, HCeiling)
    columns = ", ".join(f'"{name}"' for name in policy.quasi_identifiers)
    claims = [f"every equivalence class of the release over {columns} has {settings.k} rows or more"]
    if report.ceiling is not None:
        claims.append(f"no row has a degree of generalization above {report.ceiling:g} (Lee et al. 2017, definition 1)")
    if settings.catalog == "strict":
        claims += _claims_of_strict(report)
    return Guarantee(
        claims=tuple(claims),
        conditions=(
            "rows are counted, not persons: some rows were invented, and one individual may own several",
            "an attacker knows no column of the release but the quasi-identifiers, and not who is in the table",
            "neither the report of the run nor the seed of its draws, if it had one, is published",
            "no other release of the same rows is published: classes of several releases can be intersected",
            *(WITH_STRICT if settings.catalog == "strict" else ()),
        ),
        not_covered=(*(LEMMA if settings.catalog == "paper" else ()), *_not_covered(policy, settings, report)),
    )


def _claims_of_strict(report: CeilingReport) -> list[str]:
    """What a strict catalog leaves uncertain."""
    assert report.effective_k is not None
    return [
        "of every class that the catalog names there is a way, among those that agree with release and catalog, in "
        "which it has no counterfeit",
        f"taking all these ways for equally likely, no row is that of a person of its class with a probability above "
        f"{1 / report.effective_k:.4g}: the effective k is {report.effective_k:.4g}, where it would be "
        f"{report.min_class_size} without counterfeits",
    ]


def _not_covered(policy: Policy, settings: HCeiling, report: CeilingReport) -> tuple[str, ...]:
    (sensitive,) = policy.sensitive
    return (
        f"the class of the fewest true rows has {report.fewest_true_rows:,}: an attacker who knows who is in the table "
        "knows how many true rows each class has, and links a person of that class with a probability of 1 in so many",
        f'values of "{sensitive}" that are unlikely in their class are more likely to be invented: they are drawn '
        f"{HOW_DRAWN[settings.fill]}",
        *([_of_impossible(settings)] if settings.impossible else ()),
        f"only classes of just {settings.k} rows can have counterfeits: all rows of larger ones are true",
        f'values of "{sensitive}" that all rows of a class share are disclosed',
        "syntactic models bound no attacker's inference: this is not differential privacy",
        "that the node was chosen from the data says something about the data",
    )


def _of_impossible(settings: HCeiling) -> str:
    return (
        f"no counterfeit has one of the {len(settings.impossible)} combinations of the policy that are impossible, a "
        "list that is published with it: a row that has one is known to be true, and others are likelier to be invented"
    )
