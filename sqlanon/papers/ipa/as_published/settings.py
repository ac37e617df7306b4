"""The settings of IPA as it was published."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from sqlanon.model.base import failed_checks
from sqlanon.model.methods.noisy import IPA

SUPPRESSION = "suppression"
INSERTION = "insertion"
VALUE = "value"
CANDIDATES = "candidates"


class IPAAsPublished(IPA):
    """IPA as it was published, for comparison: it is not differentially private for any ε, and claims nothing.

    Releases are stamped NOT PRIVATE.

    Source: Lee & Chung 2020, as decided in spec/ipa.md B1.

    Args:
        budget: ε that the paper claims; 1 by default.
        node: the level of every quasi-identifier; drawn from the data if not given.
        split: by step (``suppression``, ``insertion``, ``value``, ``candidates``) its share of ε; 0.1 and three times
            0.3 if not given, as in section 5 of the paper.
        threshold: t, the number of rows up to which a class is suppressed, before noise.
        reveal_diagnostics: report how far the release is from the data.

    Raises:
        PolicyError: listing every problem at once.
    """

    default_split: ClassVar[Mapping[str, Fraction]] = {
        SUPPRESSION: Fraction(1, 10),
        INSERTION: Fraction(3, 10),
        VALUE: Fraction(3, 10),
        CANDIDATES: Fraction(3, 10),
    }

    model: Literal["ipa-as-published"] = "ipa-as-published"  # type: ignore[assignment]
    threshold: Annotated[int, Field(ge=1, strict=True)] = 2

    @model_validator(mode="after")
    def _counts_rows(self) -> IPAAsPublished:
        if self.rows_per_individual > 1 or self.minimum_count > 1:
            raise failed_checks(["rows_per_individual and minimum_count are for IPA, which is private"])
        return self

    @property
    def claims_privacy(self) -> bool:
        return False

    @property
    def void(self) -> str:
        return (
            "the algorithm as published is not differentially private for any ε: rows are published as they are, and "
            "counts only grow"
        )

    @property
    def needs_value_domain(self) -> bool:
        return False

    @property
    def _default_split(self) -> Mapping[str, Fraction]:
        return self.default_split
