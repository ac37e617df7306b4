"""The classes that a release at a cut shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.queries.cuts import Predictors, generalized
from sqlanon.queries.encoding import label_of
from sqlanon.queries.kit.macros import exact_text
from sqlanon.queries.kit.nodes import Relation, all_of, column, same, select, subquery
from sqlanon.queries.persons_of_rows import persons_by
from sqlanon.queries.released_classes import ClassesOfRows, carried_columns, released_labels


@dataclass(frozen=True)
class CutClasses(ClassesOfRows):
    """The classes of a release at a cut, which :func:`cut_of` has, in the order of their labels.

    Attributes:
        predictors: the columns that have labels of the cut.
        source: the rows that it was made from.
    """

    predictors: Predictors
    source: exp.Expr

    @classmethod
    def of(cls, predictors: Predictors, source: exp.Expr, released: exp.Expr, place: int) -> CutClasses:
        """Those of the rows of a release."""
        return cls(released_labels(released, _cut_labels(predictors)), place, predictors, source)

    @property
    def labels(self) -> Mapping[str, str]:
        return _cut_labels(self.predictors)

    def rows(self, keys: Sequence[str], values: Mapping[str, str], *, as_text: bool) -> exp.Select:
        carried, names = [*persons_by(keys), *values], self.predictors.all
        source = exp.alias_(self.source.copy(), "anon_source", table=True)
        columns = carried_columns(keys, values, as_text=as_text)
        keyed = subquery(select([*columns, *(column(name, "anon_source") for name in names)], source), "anon_keyed")
        labelled = generalized(keyed, [*carried, *names], self.predictors, cut_of(self.place))
        query = select([column(name, "anon_labelled") for name in carried], subquery(labelled, "anon_labelled"))
        on = (
            same(column(label, "anon_released"), exact_text(column(name, "anon_labelled")))
            for name, label in self.labels.items()
        )
        return self.join_to(query, "anon_released", all_of([*on]))


def cut_of(place: int) -> Relation:
    """The cut of a release as a table."""
    return Relation(f"anon_cut_of_release_{place}", "node")


def _cut_labels(predictors: Predictors) -> Mapping[str, str]:
    return {name: label_of(place) for place, name in enumerate(predictors.all)}
