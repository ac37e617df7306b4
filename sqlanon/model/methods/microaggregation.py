"""The settings of microaggregation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from sqlanon.model.methods.settings import MethodSettings, Requirements
from sqlanon.model.policy_value import Share, kind_of
from sqlanon.model.privacy import KAnonymity, PrivacyModel

MAX_NEAREST_ROWS = 1_000_000  # DuckDB's arg_min takes fewer
MAX_COLUMNS = 60  # whose patterns of NULL are bits of one number

GroupValue = Literal["mean", "median", "mode"]
VIEWS = ("size", "values", "shares", "sized shares", "ordered", "hierarchical")  # of measures of classes alone


@kind_of("method")
class Microaggregation(MethodSettings):
    """Microaggregation: k rows or more that are close to each other have the means of their numbers.

    All quasi-identifiers are grouped together by MDAV: the row farthest from the mean of all rows and its k - 1
    nearest are a group, then the row that is farthest from that one and its own, until fewer than 3k rows are left.
    Distances are of numbers in standard deviations. Texts, booleans, UUIDs, dates and times are categories: beside
    them, distances are those of Gower (1971), the sum of numbers in ranges of their column and of 1 for each category
    that differs. Equal rows stay together, and k or more of them are a group at no loss. Rows with NULL are grouped
    with those that have NULL in the same columns. Published numbers are DOUBLE.

    Beyond about 4,000 different rows, MDAV runs in blocks: the farthest 4,000 are one, and the others are halved at the
    median of the column that varies most until a block has ``block`` of them. Each block is halved down to groups, too,
    and keeps these where they lose less, as on lattices; not beside categories.

    Source: Domingo-Ferrer and Torra 2005 ("Ordinal, continuous and heterogeneous k-anonymity through microaggregation",
    Data Mining and Knowledge Discovery 11); groups of all columns together, Domingo-Ferrer and Mateo-Sanz 2002.

    Args:
        k: the minimum number of rows in a group, 2 or more, and fewer than a million.
        block: the maximum number of different rows in a block; a block has 10 k at least.
        value: ``"mean"`` of the numbers of a group, weighted if the policy names ``row_weight``, their ``"median"``, or
            the ``"mode"``, the most frequent one, which categories always have.
        suppression_limit: share of rows that may be left out since fewer than k have NULL in the same columns.

    Raises:
        PolicyError: lists every problem at once.
    """

    against_pseudonyms: ClassVar = None
    needs_taxonomies: ClassVar = False
    model: Literal["microaggregation"] = "microaggregation"
    k: Annotated[int, Field(ge=2, lt=MAX_NEAREST_ROWS, strict=True)] = Field(kw_only=False)
    block: Annotated[int, Field(ge=10, le=100_000, strict=True)] = 500
    value: GroupValue = "mean"
    suppression_limit: Share = 0.0

    @property
    def implied_models(self) -> tuple[PrivacyModel, ...]:
        return (KAnonymity(self.k),)

    def misfits(self, policy: Requirements) -> Iterable[str]:
        if not {*self.implied_models} <= {*policy.privacy}:
            yield f"{self} makes groups of {self.k:,} rows: among its models privacy must list {KAnonymity(self.k)}"
        for model in policy.privacy:
            if any(bound.measure.view not in VIEWS or bound.grain != "class" for bound in model.bounds):
                yield f"{self} does not take {model}: its groups are judged by their rows and sensitive values alone"
        if len(policy.quasi_identifiers) > MAX_COLUMNS:
            yield f"{self} takes at most {MAX_COLUMNS} quasi-identifiers, not {len(policy.quasi_identifiers)}"
        if policy.row_weight is not None and self.value != "mean":
            yield f'{self} weighs means alone: leave row_weight "{policy.row_weight}" out, or take value = "mean"'
        yield from self._individuals(policy)
        yield from self._quality(policy, "it groups rows that are close to each other")
        yield from self._levels(policy)
