"""The classes that a release lists, each with labels of its own levels: those of several may cover the same row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from sqlanon.queries.encoding import label_of
from sqlanon.queries.kit.nodes import aliased, cast, number, select
from sqlanon.queries.released_classes import ClassesOfRows, carried_columns, released_labels


@dataclass(frozen=True)
class ListedClasses(ClassesOfRows):
    """The classes of a release whose labels do not say in which of them a row is, in the order of their labels.

    Its rows have the number 0 until its classes are made again.

    Attributes:
        names: the quasi-identifiers.
        source: the rows that it was made from.
    """

    names: tuple[str, ...]
    source: exp.Expr
    is_exact: ClassVar[bool] = True

    @classmethod
    def of_release(cls, names: Sequence[str], source: exp.Expr, released: exp.Expr, place: int) -> ListedClasses:
        """Those of the rows of a release."""
        return cls(released_labels(released, _labels(names)), place, tuple(names), source)

    @property
    def labels(self) -> Mapping[str, str]:
        return _labels(self.names)

    def rows(self, keys: Sequence[str], values: Mapping[str, str], *, as_text: bool) -> exp.Select:
        columns = carried_columns(keys, values, as_text=as_text)
        nothing = aliased(cast(number(0), "UINTEGER"), self.name)
        return select([*columns, nothing], exp.alias_(self.source.copy(), "anon_source", table=True))


def _labels(names: Sequence[str]) -> Mapping[str, str]:
    return {name: label_of(place) for place, name in enumerate(names)}
