"""The classes that a release shows, as its own rows have them, and in which of them each row of its source is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from sqlanon.queries.coded_labels import has_bits, label_bits
from sqlanon.queries.encoded_rows import key_word, with_leaves
from sqlanon.queries.encoding import label_of
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_bits,
    all_of,
    bits,
    cast,
    column,
    left_join,
    number,
    same,
    select,
    subquery,
)
from sqlanon.queries.recodings import AtNode
from sqlanon.queries.source_rows import SQL, key_columns


def class_of(place: int) -> str:
    """The column of persons with the number of their class in a release; 0 where it does not show them."""
    return f"anon_class_{place}"


@dataclass(frozen=True)
class ReleasedClasses(ABC):
    """The classes that a release shows.

    If they are exact, rows and cells find the class that shows them, and none where the release leaves them out; else
    all of equal labels find one that it shows.
    """

    counted: exp.Select  # those that it has, see released_labels
    place: int  # how many releases there are before it
    is_exact: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The column with the number of a class; 0 stands for those whom the release does not show."""
        return class_of(self.place)

    @property
    def relation(self) -> Relation:
        """The classes: their labels, their numbers, and their rows."""
        return Relation(f"anon_released_classes_{self.place}", "class")

    @property
    @abstractmethod
    def labels(self) -> Mapping[str, str]:
        """The columns of :attr:`relation` with labels, by quasi-identifier."""

    @property
    def step(self) -> Step:
        """The step that makes :attr:`relation`, in the order of labels."""
        labels = [*self.labels.values()]
        return SQL.step(self.relation, "released_classes", labelled=self.counted, keys=labels, name=self.name)

    def join_to(self, query: exp.Select, alias: str, on: exp.Expr) -> exp.Select:
        """A query with the number of the class that is joined to it under an alias."""
        query = left_join(query, exp.alias_(self.relation.table, alias, table=True), on)
        shown = exp.func("coalesce", column(self.name, alias), number(0))
        return query.select(aliased(shown, self.name), copy=False)


class ClassesOfRows(ReleasedClasses):
    """Classes that the rows of a source find by their values."""

    @abstractmethod
    def rows(self, keys: Sequence[str], values: Mapping[str, str], *, as_text: bool) -> exp.Select:
        """The rows of its source: the columns that identify a person, values, and the number of their class.

        ``values`` are what columns with values are called, and the columns that have them.
        """


class ClassesOfKeys(ReleasedClasses):
    """Classes that cells find by their keys."""

    @abstractmethod
    def join_to_keys(self, query: exp.Select, table: str) -> exp.Select:
        """The query of a table with the keys of rows or cells of its source, and the number of their class."""


def carried_columns(keys: Sequence[str], values: Mapping[str, str], *, as_text: bool) -> list[exp.Alias]:
    """Columns of a source beside classes, see :meth:`ClassesOfRows.rows`."""
    found = [aliased(column(name, "anon_source"), alias) for alias, name in values.items()]
    return [*key_columns(keys, "anon_source", as_text=as_text), *found]


def released_labels(released: exp.Expr, labels: Mapping[str, str]) -> exp.Select:
    """The combinations of labels that the rows of a release have, and how many have them.

    ``labels`` are the columns that these become, by quasi-identifier.
    """
    return SQL.query("released_labels", released=released, names=[*labels], labels=[*labels.values()])


@dataclass(frozen=True)
class NodeClasses(ClassesOfKeys, ClassesOfRows):
    """The classes of a release at a node, in the order of the words of their keys, which they have, too."""

    recoding: AtNode  # its labels, which say nothing of other releases

    @classmethod
    def of(cls, recoding: AtNode, released: exp.Expr, place: int) -> NodeClasses:
        return cls(released_labels(released, _node_labels(recoding)), place, recoding)

    @property
    def labels(self) -> Mapping[str, str]:
        return _node_labels(self.recoding)

    @property
    def step(self) -> Step:
        keys = [*class_key(self.recoding)]
        return SQL.step(self.relation, "released_classes", labelled=self._labelled, keys=keys, name=self.name)

    def join_to_keys(self, query: exp.Select, table: str) -> exp.Select:
        encoding, alias = self.recoding.encoding, self.relation.name
        on = has_bits(encoding, encoding.keys.node_masks(self.recoding.levels), table, alias)
        return self.join_to(query, alias, on)

    def rows(self, keys: Sequence[str], values: Mapping[str, str], *, as_text: bool) -> exp.Select:
        source = exp.alias_(self.recoding.encoding.spec.source.copy(), "anon_source", table=True)
        query = select(carried_columns(keys, values, as_text=as_text), source)
        query = with_leaves(self.recoding.encoding, query, "anon_source", _positions(self.recoding))
        on = (word.eq(column(name, "anon_released")) for name, word in class_key(self.recoding).items())
        return self.join_to(query, "anon_released", all_of([*on]))

    @property
    def _labelled(self) -> exp.Select:
        """The labels of its rows, how many have them, and the words of the key that these labels make."""
        encoding, levels, positions = self.recoding.encoding, self.recoding.levels, _positions(self.recoding)
        columns = [column(name, "anon_counted") for name in (*map(label_of, positions), "anon_released_rows")]
        query = select(columns, subquery(self.counted, "anon_counted"))
        for position in positions:
            alias = encoding.labels_of(position)
            lookup = subquery(label_bits(encoding, position, levels[position], [column("label")]), alias)
            query = left_join(query, lookup, same(column("label", alias), column(label_of(position), "anon_counted")))
        for word in encoding.keys.node_masks(levels):
            found = [
                column(encoding.key(word), encoding.labels_of(position))
                for position in positions
                if word in encoding.keys.label_masks(position, levels[position])
            ]
            query = query.select(aliased(all_bits(found), encoding.key(word)), copy=False)
        return query


def _positions(recoding: AtNode) -> list[int]:
    """The positions of the quasi-identifiers that have several labels."""
    return [position for position, _ in recoding.code_columns()]


def _node_labels(recoding: AtNode) -> Mapping[str, str]:
    names = recoding.encoding.spec.quasi_identifiers
    return {names[position]: label_of(position) for position in _positions(recoding)}


def class_key(recoding: AtNode) -> dict[str, exp.Expr]:
    """The words of the key of the class of a row that ``with_leaves`` has joined, by name."""
    encoding, shown = recoding.encoding, _positions(recoding)
    return {
        encoding.key(word): bits(exp.Paren(this=key_word(encoding, word, shown)), number(mask))
        for word, mask in encoding.keys.node_masks(recoding.levels).items()
    }


@dataclass(frozen=True)
class ListedClasses(ClassesOfRows):
    """The classes of a release whose labels do not say in which of them a row is, in the order of their labels.

    Its rows have the number 0 until its classes are made again.
    """

    names: tuple[str, ...]  # the quasi-identifiers
    source: exp.Expr  # the rows that it was made from
    is_exact: ClassVar[bool] = True

    @classmethod
    def of_release(cls, names: Sequence[str], source: exp.Expr, released: exp.Expr, place: int) -> ListedClasses:
        return cls(released_labels(released, labels_by_place(names)), place, tuple(names), source)

    @property
    def labels(self) -> Mapping[str, str]:
        return labels_by_place(self.names)

    def rows(self, keys: Sequence[str], values: Mapping[str, str], *, as_text: bool) -> exp.Select:
        columns = carried_columns(keys, values, as_text=as_text)
        nothing = aliased(cast(number(0), "UINTEGER"), self.name)
        return select([*columns, nothing], exp.alias_(self.source.copy(), "anon_source", table=True))


def labels_by_place(names: Sequence[str]) -> Mapping[str, str]:
    """The columns of :attr:`ReleasedClasses.relation` with the labels of some columns, in their order."""
    return {name: label_of(place) for place, name in enumerate(names)}
