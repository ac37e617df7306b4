"""The settings of h-ceiling: how general labels may be, and how classes that are too small are filled up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from sqlanon.model.methods.settings import MethodSettings, Requirements
from sqlanon.model.names import folded
from sqlanon.model.policy_value import NotNegative, Share, did_you_mean, failed_checks, kind_of
from sqlanon.model.privacy import KAnonymity, PrivacyModel, TwoOrMore


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


if TYPE_CHECKING:
    Text = Any
else:
    Text = Annotated[str, BeforeValidator(_as_text)]
"""A label or a value as text, as in taxonomies; whole numbers are accepted."""

Fill = Literal["hidden", "marginal", "uniform"]
CatalogKind = Literal["none", "counts", "strict", "paper"]

EFFECTIVE = 0.8  # the default minimum for the effective k of a group, as a share of k (spec/hceiling.md (b) G)

CLASS_ID = "class_id"
CLASS_IDS = "class_ids"
COUNTERFEITS = "counterfeits"
CATALOG = "catalog"
"""The companion table that a policy can ask for: :data:`CLASS_IDS`, value, number."""
INVENTED = "counterfeits"
"""The private companion table with the number of counterfeits in each class, if it is given a name."""


def entry_name(place: int) -> str:
    return f"impossible[{place}]"


@kind_of("method")
class HCeiling(MethodSettings):
    """Full-domain generalization up to a ceiling; classes of fewer than k rows are filled up with counterfeits.

    A release has at least k rows in every class, but these are rows, not persons: some are invented. No row is more
    general than the ceiling. Among the nodes below it, the one that needs the fewest counterfeits is published; among
    several, the one with the least reconstruction error. With a catalog, which shows recipients how likely rows are
    true, it is the one with the least reconstruction error among a few that need the fewest counterfeits.

    Source: Lee, Kim, Kim and Chung 2017, corrected.

    Args:
        k: the minimum number of rows in a class, 2 or more.
        h: the ceiling, in [0, 1], for the mean over quasi-identifiers of (leaves - 1) / (domain - 1) of a row's labels.
            By default ceilings in steps of 0.05 are tried, and the one whose release has the least reconstruction error
            is chosen, where each row is as likely to be true as rows are in the whole release; the report has the
            curve. With 1 no row is too general, and no counterfeits are needed: plain k-anonymity.
        fill: how the sensitive values of counterfeits are drawn. ``"hidden"`` draws them as expected in a class, from
            its own rows and neighbouring classes, so that an attacker with the same expectation cannot distinguish
            them from true rows. ``"marginal"`` draws them from the whole table, ``"uniform"`` from all values that
            occur: both can be recognized by comparison with larger classes.
        catalog: whether a second table has the number of counterfeits, so that recipients can correct for them.
            ``"none"`` is safest. ``"counts"`` has a row with the classes that may have counterfeits and their total,
            which reveals nothing about any row. The others count each value in groups of classes, which makes it
            easier to find persons. ``"strict"`` groups classes so that none certainly has a counterfeit, and that the
            effective k of each group, the inverse of the probability that a row belongs to a given person of its
            class, is at least ``effective_k``. ``"paper"`` groups them by the published condition, which guarantees
            neither. Both need scipy.
        effective_k: for a strict catalog; 0.8 k if not given.
        fewest_true_rows: the minimum number of true rows in a class, from 1 to k. Classes with fewer are suppressed
            instead of filled up, within ``suppression_limit``. Even an attacker who recognizes all invented rows
            links a person with a probability of at most 1 / ``fewest_true_rows``.
        impossible: combinations that no counterfeit gets, such as ``{"sex": "Male", "diagnosis": "Pregnancy"}``: labels
            of one or more quasi-identifiers, of any level, and a value of the sensitive column. A class whose labels
            all equal these or lie below them never gets that value; its other values keep their relative
            probabilities. The list is published with the policy, and so are true rows with such a combination, which
            are then known to be true. Not for a strict catalog, whose guarantee assumes that any row of a value could
            be invented.
        suppression_limit: share of rows that may be suppressed, as in :class:`FullDomain`.

    Raises:
        PolicyError: lists every problem at once.
    """

    invents_values: ClassVar = True
    draws: ClassVar = True
    against_pseudonyms: ClassVar = (
        "counterfeits have no value to make a pseudonym of, so pseudonyms would mark the true rows"
    )
    model: Literal["h-ceiling"] = "h-ceiling"
    k: TwoOrMore = Field(kw_only=False)
    h: Share | None = None
    fill: Fill = "hidden"
    catalog: CatalogKind = "none"
    effective_k: NotNegative | None = None
    impossible: Annotated[Sequence[dict[str, Text]], AfterValidator(tuple)] = ()
    fewest_true_rows: Annotated[int, Field(ge=1, strict=True)] = 1
    suppression_limit: Share = 0.0

    @model_validator(mode="after")
    def _fit_for_the_catalog(self) -> HCeiling:
        problems = []
        if self.effective_k is not None and self.catalog != "strict":
            problems.append("effective_k needs a strict catalog")
        elif self.effective_k is not None and self.effective_k > self.k:
            problems.append("effective_k must be at most k: counterfeits only reduce it")
        elif self.effective_k is not None and self.effective_k <= 1:
            problems.append(
                "effective_k of a strict catalog must be above 1, since 1 is certainty: use the catalog paper or none"
            )
        if self.fewest_true_rows > self.k:
            problems.append("fewest_true_rows must be at most k: classes of k true rows need no counterfeits")
        if self.impossible and self.catalog == "strict":
            problems.append("impossible is not for a strict catalog: readers of the list know some rows to be true")
        if problems:
            raise failed_checks(problems)
        return self

    @property
    def has_catalog(self) -> bool:
        """Whether a second table has the number of counterfeits."""
        return self.catalog != "none"

    @property
    def has_catalog_of_values(self) -> bool:
        """Whether that table has the values of counterfeits."""
        return self.catalog in ("strict", "paper")

    @property
    def least_effective_k(self) -> float:
        """The minimum effective k of the groups of a strict catalog."""
        return EFFECTIVE * self.k if self.effective_k is None else self.effective_k

    @property
    def added_columns(self) -> tuple[str, ...]:
        return (CLASS_ID,) if self.has_catalog else ()

    @property
    def implied_models(self) -> tuple[PrivacyModel, ...]:
        return (KAnonymity(self.k),)

    @property
    def why_no_search(self) -> str:
        if self.fewest_true_rows > 1:
            return "it drops the rows of small classes"
        return "it fills classes up in place of suppressing them, unless fewest_true_rows is above 1"

    def counted_columns(self, policy: Requirements) -> tuple[str, ...]:
        return policy.sensitive  # whose values are drawn as they are counted

    def misfits(self, policy: Requirements) -> Iterable[str]:
        yield from self._columns_that_misfit(policy)
        if policy.privacy != self.implied_models:
            yield (
                f"{self} takes no privacy model but k-anonymity with its own k: give k only there; values beside "
                "counterfeits keep no other promise (`sqlanon guide h-ceiling` has the counterexamples)"
            )
        if self.fewest_true_rows > 1 and not self.suppression_limit:
            needs = f"fewest_true_rows = {self.fewest_true_rows} needs a suppression_limit"
            yield f"{needs}: classes of fewer true rows are suppressed"
        if self.fewest_true_rows == 1 and self.suppression_limit:
            yield f"{self} takes no suppression_limit: {self.why_no_search}"
        yield from self._quality(policy, "it looks for the fewest counterfeits below its ceiling")
        if len(policy.sensitive) == 1:
            yield from self._impossible_that_misfit(policy)

    def _impossible_that_misfit(self, policy: Requirements) -> Iterable[str]:
        known, (sensitive,) = policy.quasi_identifiers, policy.sensitive
        for place, entry in enumerate(self.impossible):
            where = entry_name(place)
            if sensitive not in entry:
                yield f'{where} has no value of the sensitive "{sensitive}"'
            if not entry.keys() & {*known}:
                yield f"{where} has no label of a quasi-identifier"
            for name in entry:
                if name not in (*known, sensitive):
                    meant = did_you_mean(name, [*known, sensitive])
                    yield f'{where}: "{name}" is neither a quasi-identifier nor the sensitive column{meant}'

    def _columns_that_misfit(self, policy: Requirements) -> Iterable[str]:
        if len(policy.sensitive) != 1:
            yield f"{self} draws the values of one sensitive column for counterfeits, not of {len(policy.sensitive)}"
        for name in policy.insensitive:
            yield (
                f'{self} cannot publish the insensitive "{name}": counterfeits have no values of it, which would '
                "expose them; make it an identifier, which is dropped, or a quasi-identifier"
            )
        reserved = (CLASS_ID, CLASS_IDS, COUNTERFEITS) if self.has_catalog else ()
        for name in (*policy.quasi_identifiers, *policy.sensitive):
            if folded(name) in reserved:
                yield f'column "{name}" has a name that a release with a catalog needs; rename it in a view'
        yield from self._weights(policy)
        yield from self._individuals(policy, ": counterfeits are nobody's rows")
