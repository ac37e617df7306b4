"""What a release of h-ceiling promises: classes of k rows; nobody learns how many of these are true."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.methods.h_ceiling.report import CeilingReport
from sqlanon.model.methods.h_ceiling import HCeiling
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import Guarantee, Report

RECOGNIZED = {
    "marginal": "as often as they are in the whole table: a classifier that learns from larger classes "
    "separates counterfeits from true rows, on UCI Adult with an area under the curve of .83",
    "uniform": "each as likely as any other: counterfeits of rare values are easy to recognize",
}
"""How values are drawn by the fills that do not hide, and who recognizes them (spec/hceiling_fill.md)."""

WITH_STRICT = (
    "an attacker with the catalog knows k and that classes are filled up to it, and does not run the grouping again, "
    "which depends on where counterfeits are",
)

CERTAIN = "certainty, since a class has 1 true row alone"
"""What is left of a class once all of its counterfeits are recognized."""

LEMMA = (
    "the catalog is grouped by the published condition, lemma 1 of Lee et al. 2017, which does not hide where "
    "counterfeits are: with k = 4, classes of {d, a, b, c} and {a, b, c, d, d} and the catalog a, b, c: 1 each, the "
    "second class is too large to have any, so that d is the one true row of the first; a person's link can exceed 1/k "
    "up to certainty",
)
"""What the catalog of the paper gives away (spec/hceiling.md, H2 and H3)."""


def guarantee(policy: Policy, report: Report) -> Guarantee:
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
    claims.append(_claim_of_links(settings, report))
    return Guarantee(
        claims=tuple(claims),
        conditions=(
            "rows are counted, not persons: some rows were invented, and one individual may own several",
            "an attacker knows no column of the release but the quasi-identifiers",
            "nobody is given the report of the run, the seed of its draws or the number of counterfeits of a class",
            "no other release of the same rows is published: classes of several releases can be intersected",
            *(WITH_STRICT if settings.catalog == "strict" else ()),
        ),
        not_covered=(*(LEMMA if settings.catalog == "paper" else ()), *_not_covered(policy, settings, report)),
    )


def _claim_of_links(settings: HCeiling, report: CeilingReport) -> str:
    """How likely a person's row is found (spec/hceiling_fill.md, T1 and T2)."""
    fewest = report.fewest_true_rows
    worst = f"1/{fewest:,}, where {fewest:,} is the fewest true rows of a class" if fewest > 1 else CERTAIN
    if not _is_hidden(settings):
        return f"whoever could separate all invented rows from true ones finds a person's row with probability {worst}"
    return (
        "whoever cannot distinguish invented rows from true ones, and expects values in a class as the fill draws "
        f"them, finds a person's row with a probability of 1/{settings.k} at most, whether or not they know how many "
        f"rows of the class are true; whoever could recognize all of them, with {worst}"
    )


def _is_hidden(settings: HCeiling) -> bool:
    """Whether counterfeits are recognized only by whoever expects other values in a class."""
    return settings.fill == "hidden" and not settings.has_catalog_of_values and not settings.impossible


def _claims_of_strict(report: CeilingReport) -> list[str]:
    """What a strict catalog leaves uncertain."""
    assert report.effective_k is not None
    return [
        "of every class that the catalog names there is a way, among those that agree with release and catalog, in "
        "which it has no counterfeit",
        "taking all these ways to label rows for equally likely, and not all numbers of counterfeits that a class may "
        f"have, no row is that of a person of its class with a probability above {1 / report.effective_k:.4g}: the "
        f"effective k is {report.effective_k:.4g}, where it would be {report.min_class_size} without counterfeits",
    ]


def _not_covered(policy: Policy, settings: HCeiling, report: CeilingReport) -> Iterator[str]:
    (sensitive,) = policy.sensitive
    if not _is_hidden(settings):
        yield (
            f"the class of the fewest true rows has {report.fewest_true_rows:,}: an attacker who knows who is in the "
            "table knows how many true rows each class has"
        )
    if settings.fill == "hidden":
        yield from _of_hidden(sensitive)
    else:
        yield f'values of "{sensitive}" are drawn {RECOGNIZED[settings.fill]}; fill "hidden" hides them'
    if settings.has_catalog_of_values:
        yield (
            "the catalog says which values are invented: with k = 4, two classes {D, D, A, F} and a catalog of one D, "
            "the row A is a person's with a probability of 7/24, more than 1/4"
        )
    if settings.impossible:
        yield _of_impossible(settings)
    yield f"only classes of just {settings.k} rows can have counterfeits: all rows of larger ones are true"
    yield f'values of "{sensitive}" that all rows of a class share are disclosed'
    yield "syntactic models bound no attacker's inference: this is not differential privacy"
    yield "that the node was chosen from the data says something about the data"


def _of_hidden(sensitive: str) -> Iterator[str]:
    """What counterfeits that hide give away (spec/hceiling_fill.md, T2, T3 and *Not held*)."""
    yield (
        f'who expects other values of "{sensitive}" in a class than the fill does can recognize counterfeits in part: '
        "if the two differ by a factor of e^ε at most for every choice of true rows, a person's row is found with a "
        "probability of 1/(n + (k - n) e^(-2ε)) at most in a class of n true rows"
    )
    yield (
        f'a value of "{sensitive}" that is seen with a label in one class alone is that of a true row there, and which '
        "values are drawn in other classes depends on it: who works back from these learns more"
    )
    yield (
        f'a person\'s value of "{sensitive}": counterfeits repeat what is likely in a class, so that its most frequent '
        "value is as often the person's as in a class without counterfeits"
    )


def _of_impossible(settings: HCeiling) -> str:
    return (
        f"no counterfeit has one of the {len(settings.impossible)} combinations of the policy that are impossible, a "
        "list that is published with it: a row that has one is known to be true, and others are likelier to be invented"
    )
