"""The settings of Mondrian."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

from sqlanon.model.methods.settings import MethodSettings, Requirements
from sqlanon.model.policy_value import kind_of, unknown_names
from sqlanon.model.quality import NCP, QualityModel


@kind_of("method")
class Mondrian(MethodSettings):
    """Strict Mondrian: all rows are one class, which is split again and again while its parts meet the privacy models.

    A class splits by one quasi-identifier: an ordered one at the median of its values, another one into the children of
    the label that its rows share. Of the splits whose parts all meet the models, the one at the widest quasi-identifier
    is taken, where the width is the normalized certainty penalty of the label. A class has the interval of its values,
    ``[17, 35]``, as the label of an ordered quasi-identifier. No row is left out.

    If more than half of the rows have the greatest value, the split is before it: at the median one part would be
    empty.

    Source: LeFevre, DeWitt and Ramakrishnan 2006 ("Mondrian multidimensional k-anonymity", ICDE), section 4; the
    children of labels: the same authors, 2006 ("Workload-aware anonymization", KDD), section 3.

    Args:
        ordered: the quasi-identifiers to split at medians; by default all with numbers, dates or times. Only the values
            and the top of their taxonomies are used.

    Raises:
        PolicyError: lists every problem at once.
    """

    why_no_search: ClassVar = "it publishes every row, in classes of its own"
    against_pseudonyms: ClassVar = None
    model: Literal["mondrian"] = "mondrian"
    ordered: tuple[str, ...] | None = None

    @property
    def default_quality(self) -> QualityModel:
        return NCP()

    def misfits(self, policy: Requirements) -> Iterable[str]:
        for name, meant in unknown_names(self.ordered or (), policy.quasi_identifiers):
            yield f'method.ordered: "{name}" is not a quasi-identifier{meant}'
        yield from self._weights(policy)
        yield from self._quality(policy, "it splits the quasi-identifier of the largest normalized certainty penalty")
        yield from self._levels(policy)
        for model in policy.privacy:
            if model.is_of_one_node:
                yield f"{self} does not take {model}, which is defined for classes of one node"
