"""The report of an h-ceiling run, and the guarantee of its release.

Recipients do not learn how many rows of a class of k rows are true.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import Field

from sqlanon.model.methods.counterfeiting import HCeiling
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import Guarantee, Report, Result
from sqlanon.report.document import Table


class CeilingPoint(Result):
    """A ceiling that was tried, see :mod:`~sqlanon.methods.h_ceiling.ceilings`.

    Attributes:
        ceiling: h.
        degree: the largest degree of generalization of a row, at the node of fewest counterfeits below the ceiling.
        node: that node, by quasi-identifier its level.
        counterfeits: how many rows it needs.
        reconstruction_error: its mean over true rows and published columns, in [0, 1], each row as likely to be true as
            rows are in the whole release.
    """

    ceiling: float
    degree: float
    node: dict[str, int]
    counterfeits: int
    reconstruction_error: float


class CeilingReport(Report):
    """The numbers of a run of h-ceiling; not for publication, as they reveal how many rows are true.

    Attributes:
        ceiling: h, of the policy or of the grid.
        curve: the ceilings that were tried, ascending, if the policy gives none.
        degree: the largest degree of generalization of a row, at most the ceiling.
        allowed_nodes: how many nodes keep to the ceiling.
        counterfeits: how many rows were invented; equal to ``loss``.
        counterfeit_share: their share of the published rows.
        filled_classes: how many classes have counterfeits.
        fewest_true_rows: the smallest number of true rows in a class: rows, not persons.
        reconstruction_error: the mean over true rows and published columns, each row as likely to be true as the
            catalog of values implies; without such a catalog, true rows count as known.
        catalog: the published catalog: ``none``, ``counts``, ``strict`` or ``paper``.
        groups: how many groups of classes it has.
        effective_k: the inverse of an upper bound of the probability that a row is a given person's, to whoever knows
            their class, the release and the catalog, and takes all ways that agree with them as equally likely.
    """

    ceiling: float | None = Field(title="ceiling h of the degree of generalization")
    curve: tuple[CeilingPoint, ...] = ()
    degree: float = Field(title="largest degree of generalization of a row")
    allowed_nodes: int = Field(title="nodes below the ceiling")
    counterfeits: int = Field(title="counterfeits")
    counterfeit_share: float = Field(title="counterfeit share of the published rows")
    filled_classes: int = Field(title="classes with counterfeits")
    fewest_true_rows: int = Field(title="fewest true rows of a class")
    reconstruction_error: float = Field(title="mean reconstruction error")
    catalog: str = Field(title="catalog")
    groups: int | None = Field(title="groups of classes in the catalog")
    effective_k: float | None = Field(title="effective k, against release and catalog together")

    def of_method(self) -> Iterator[Table]:
        yield from super().of_method()
        if self.curve:
            names = ("ceiling h", "largest degree", "counterfeits", "reconstruction error")
            rows = [
                (f"{at.ceiling:g}", f"{at.degree:.3f}", f"{at.counterfeits:,}", f"{at.reconstruction_error:.4f}")
                for at in self.curve
            ]
            yield Table(names, rows, numbers=range(4), title="Ceilings that were tried")

    @property
    def rows_in_words(self) -> str:
        assert self.rows is not None
        assert self.suppressed_rows is not None
        share = 100 * self.suppressed_rows / max(self.rows.source, 1)
        limit = f"{share:.1f} %; the limit is {100 * (self.suppression_limit or 0):g} %"
        suppressed = f" {self.suppressed_rows:,} suppressed ({limit})." if self.suppression_limit else ""
        return (
            f"{self.rows.released:,} rows, {self.counterfeits:,} of them counterfeits "
            f"({100 * self.counterfeit_share:.1f} %) in {self.filled_classes:,} of {self.class_count:,} classes; the "
            f"class of the fewest true rows has {self.fewest_true_rows:,}.{suppressed}"
        )


RECOGNIZED = {
    "marginal": "as often as they are in the whole table: a classifier that learns from larger classes "
    "separates counterfeits from true rows, on UCI Adult with an area under the curve of .83",
    "uniform": "each as likely as any other: counterfeits of rare values are easy to recognize",
}
"""How the fills that do not hide draw values, and who recognizes these (spec/hceiling_fill.md)."""

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
"""The leak of the paper's catalog (spec/hceiling.md, H2 and H3)."""


@dataclass(frozen=True)
class Known:
    fewest_true_rows: int  # in a class
    effective_k: float | None  # given release and catalog; None if unknown
    is_attained: bool  # whether the run attained these; else they are the policy's minimum

    @property
    def worst_link(self) -> str:
        fewest = self.fewest_true_rows
        if fewest == 1:
            return f"certainty, since a class {'has' if self.is_attained else 'may have'} 1 true row alone"
        of_class = "of a class" if self.is_attained else "that a class may have"
        return f"1/{fewest:,}, where {fewest:,} is the fewest true rows {of_class}"


def guarantee(policy: Policy, report: Report, *, for_recipients: bool) -> Guarantee:
    """Make the guarantee of a release (spec/hceiling.md: verdict, and H2 to H9).

    For recipients it states the policy's minimum in place of attained values, which would reveal how many rows are
    true.
    """
    settings = HCeiling.of(policy)
    assert isinstance(report, CeilingReport)
    known = Known(report.fewest_true_rows, report.effective_k, is_attained=True)
    if for_recipients:
        known = Known(settings.fewest_true_rows, settings.least_effective_k, is_attained=False)
    columns = ", ".join(f'"{name}"' for name in policy.quasi_identifiers)
    claims = [f"every equivalence class of the release over {columns} has {settings.k} rows or more"]
    if report.ceiling is not None:
        claims.append(f"no row has a degree of generalization above {report.ceiling:g} (Lee et al. 2017, definition 1)")
    if settings.catalog == "strict":
        claims += _claims_of_strict(known, report)
    claims.append(_claim_of_links(settings, known))
    return Guarantee(
        claims=tuple(claims),
        conditions=(
            "rows are counted, not persons: some rows were invented, and one individual may own several",
            "an attacker knows no column of the release but the quasi-identifiers",
            "nobody is given the report of the run, the seed of its draws or the number of counterfeits of a class",
            "no other release of the same rows is published: classes of several releases can be intersected",
            *(WITH_STRICT if settings.catalog == "strict" else ()),
        ),
        not_covered=(*(LEMMA if settings.catalog == "paper" else ()), *_not_covered(policy, settings, known)),
    )


def _claim_of_links(settings: HCeiling, known: Known) -> str:
    """Claim how likely a person's row is found (spec/hceiling_fill.md, T1 and T2)."""
    worst = known.worst_link
    if not _is_hidden(settings):
        return f"whoever could separate all invented rows from true ones finds a person's row with probability {worst}"
    return (
        "whoever cannot distinguish invented rows from true ones, and expects values in a class as the fill draws "
        f"them, finds a person's row with a probability of 1/{settings.k} at most, whether or not they know how many "
        f"rows of the class are true; whoever could recognize all of them, with {worst}"
    )


def _is_hidden(settings: HCeiling) -> bool:
    return settings.fill == "hidden" and not settings.has_catalog_of_values and not settings.impossible


def _claims_of_strict(known: Known, report: CeilingReport) -> list[str]:
    assert known.effective_k is not None
    verb = "is" if known.is_attained else "is at least"
    return [
        "of every class that the catalog names there is a way, among those that agree with release and catalog, in "
        "which it has no counterfeit",
        "taking all these ways to label rows for equally likely, and not all numbers of counterfeits that a class may "
        f"have, no row is that of a person of its class with a probability above {1 / known.effective_k:.4g}: the "
        f"effective k {verb} {known.effective_k:.4g}, where it would be {report.min_class_size} without counterfeits",
    ]


def _not_covered(policy: Policy, settings: HCeiling, known: Known) -> Iterator[str]:
    (sensitive,) = policy.sensitive
    if not _is_hidden(settings):
        verb = "has" if known.is_attained else "may have"
        yield (
            f"the class of the fewest true rows {verb} {known.fewest_true_rows:,}: an attacker who knows who is in the "
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
        yield (
            f"no counterfeit has one of the {len(settings.impossible)} combinations of the policy that are impossible, "
            "a list that is published with it: a row that has one is known to be true, and others are likelier to be "
            "invented"
        )
    yield f"only classes of just {settings.k} rows can have counterfeits: all rows of larger ones are true"
    yield f'values of "{sensitive}" that all rows of a class share are disclosed'
    yield "syntactic models bound no attacker's inference: this is not differential privacy"
    yield "that the node was chosen from the data says something about the data"


def _of_hidden(sensitive: str) -> Iterator[str]:
    """State what hidden counterfeits give away (spec/hceiling_fill.md, T2, T3 and *Not held*)."""
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
