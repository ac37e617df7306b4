"""The settings of h-ceiling: how general labels may be, and what fills the classes that are then too small."""

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
"""A label or a value as text, the form in which taxonomies know them; whole numbers may be written as such."""

Fill = Literal["hidden", "marginal", "uniform"]
CatalogKind = Literal["none", "counts", "strict", "paper"]

EFFECTIVE = 0.8
"""The share of k that the effective k of a group is at least, if nothing else is asked for (spec/hceiling.md (b) G)."""

CLASS_ID = "class_id"
CLASS_IDS = "class_ids"
COUNTERFEITS = "counterfeits"
CATALOG = "catalog"
"""What is published beside the rows if the policy asks for it: a table of :data:`CLASS_IDS`, value, number."""

INVENTED = "counterfeits"
"""What is written beside the rows, for nobody else to see, if it is given a name: how many each class has."""


def entry_name(place: int) -> str:
    """Name an entry of the list of impossible combinations for messages."""
    return f"impossible[{place}]"


@kind_of("method")
class HCeiling(MethodSettings):
    """Full-domain generalization up to a ceiling; classes of fewer than k rows are filled up with counterfeits.

    A release has k rows or more in every class, which are rows and not persons: some are invented. No row is more
    general than the ceiling. Of the nodes that keep to it, the one that needs the fewest counterfeits is published; of
    several, that of the least reconstruction error. With a catalog, which makes known how likely rows are true, it is
    the one of least reconstruction error of a few that need the fewest counterfeits.

    Source: Lee, Kim, Kim and Chung 2017, corrected.

    Args:
        k: how many rows a class has at least, 2 or more.
        h: the ceiling, in [0, 1]: the mean over the quasi-identifiers of (leaves - 1) / (domain - 1) that the labels of
            no row may exceed. Without one it is searched, in steps of 0.05: the ceiling is taken whose release has the
            least reconstruction error, each row as likely to be true as rows are in the whole release; the report has
            the curve. With 1 no row is too general, and no counterfeits are needed: plain k-anonymity.
        fill: how the sensitive values of counterfeits are drawn. ``"hidden"`` draws them as they are expected in a
            class: from its own rows, and from those of the classes around it, so that an attacker who expects the
            same cannot distinguish them from true rows. ``"marginal"`` draws them as they are in the whole table,
            ``"uniform"`` from all values that occur: both can be recognized, by what is usual in larger classes.
        catalog: whether a second table says how many counterfeits there are, for recipients to correct for them.
            ``"none"`` is safest. ``"counts"`` has a row with the classes that counterfeits can be in and how many they
            have together, which says nothing of any row. The others have how many of each value there are in groups of
            classes, which makes it easier to find persons. ``"strict"`` groups classes so
            that none is sure to have a counterfeit, and that the effective k of each group, the inverse of the
            probability that a row is the one of a person in its class, is ``effective_k`` at least. ``"paper"`` groups
            them by the published condition, which promises neither. Both of these need scipy.
        effective_k: for a strict catalog; 0.8 k if not given.
        fewest_true_rows: how many true rows a class has at least, from 1 to k. Classes that have fewer are suppressed
            in place of being filled up, as many rows as ``suppression_limit`` allows. An attacker who recognized
            all invented rows would still link a person with no more than 1 / ``fewest_true_rows``.
        impossible: combinations that no counterfeit gets, such as ``{"sex": "Male", "diagnosis": "Pregnancy"}``: labels
            of one or more quasi-identifiers, each of any level of its taxonomy, and a value of the sensitive column. A
            class whose labels all are these or under them never gets that value; its other values are as likely to one
            another as they are elsewhere. The list is published with the policy, and true rows that have such a
            combination are, so that these are known to be true. Not for a strict catalog, whose promise is reckoned as
            if any row of a value could be invented.
        suppression_limit: share of rows that may be suppressed, as in :class:`FullDomain`.

    Raises:
        PolicyError: listing every problem at once.
    """

    invents_values: ClassVar = True
    draws: ClassVar = True
    against_pseudonyms: ClassVar = (
        "counterfeits have no value to make a pseudonym of, so that pseudonyms would mark the true rows"
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
            problems.append("effective_k is for a strict catalog: nothing else is held against it")
        elif self.effective_k is not None and self.effective_k > self.k:
            problems.append("effective_k is k at most: counterfeits make it less")
        elif self.effective_k is not None and self.effective_k <= 1:
            problems.append(
                "effective_k of a strict catalog is above 1, which is certainty: take the catalog paper or none"
            )
        if self.fewest_true_rows > self.k:
            problems.append("fewest_true_rows is k at most: classes of k true rows need no counterfeits")
        if self.impossible and self.catalog == "strict":
            problems.append("impossible is not for a strict catalog: who knows the list knows rows that are true")
        if problems:
            raise failed_checks(problems)
        return self

    @property
    def has_catalog(self) -> bool:
        """Whether a second table says how many counterfeits there are."""
        return self.catalog != "none"

    @property
    def has_catalog_of_values(self) -> bool:
        """Whether that table has the values of counterfeits."""
        return self.catalog in ("strict", "paper")

    @property
    def least_effective_k(self) -> float:
        """The least effective k of the groups of a strict catalog."""
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
        yield from self._other_models(policy)
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
