"""The classes that a release by local recoding shows, and in which of them each row of its source is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from sqlanon.methods.local.recoding import CLASS, LABELS, PerClass
from sqlanon.queries.cells.earlier import SQL
from sqlanon.queries.cells.encoding import label_of
from sqlanon.queries.kit.nodes import Step, all_of, column, left_join, same
from sqlanon.queries.release.released_classes import ClassesOfKeys, released_labels


@dataclass(frozen=True)
class LocalReleasedClasses(ClassesOfKeys):
    """The classes of a release by local recoding, in the order of their labels.

    Labels of several classes cover a row: its own class is that of its key.

    Attributes:
        recoding: the classes of keys, with their labels.
    """

    recoding: PerClass
    is_exact: ClassVar[bool] = True

    @classmethod
    def of(cls, recoding: PerClass, released: exp.Expr, place: int) -> LocalReleasedClasses:
        """Those of the rows of a release."""
        return cls(released_labels(released, _labels(recoding)), place, recoding)

    @property
    def labels(self) -> Mapping[str, str]:
        return _labels(self.recoding)

    @property
    def step(self) -> Step:
        labels = [*self.labels.values()]
        return SQL.step(self.relation, "released_classes", labelled=self.counted, keys=labels, name=self.name)

    def join_to_keys(self, query: exp.Select, table: str) -> exp.Select:
        query = self.recoding.join_classes(query, table)
        of_class = exp.alias_(LABELS.table, "anon_of_class", table=True)
        query = left_join(query, of_class, column(CLASS, "anon_of_class").eq(column(CLASS, "anon_of_key")))
        name = self.relation.name
        labels = (same(column(label, name), column(label, "anon_of_class")) for label in self.labels.values())
        is_in_one = exp.Not(this=column(CLASS, "anon_of_class").is_(exp.null()))
        return self.join_to(query, name, all_of([is_in_one, *labels]))


def _labels(recoding: PerClass) -> Mapping[str, str]:
    names = recoding.encoding.spec.quasi_identifiers
    return {name: label_of(place) for place, name in enumerate(names)}
