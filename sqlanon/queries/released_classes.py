"""The classes that a release shows, from its own rows, and the class of each row of its source.

Classes at a cut come with the cut as a table, and with the macros over it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlglot import exp

from sqlanon.model.labels import CutRecord
from sqlanon.model.methods.cut_methods import as_text, interval_label
from sqlanon.queries import taxonomies
from sqlanon.queries.coded_labels import has_bits, label_bits
from sqlanon.queries.encoded_rows import key_word, with_leaves
from sqlanon.queries.encoding import label_of
from sqlanon.queries.kit.macros import exact_text, table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_bits,
    all_of,
    bits,
    called,
    cast,
    column,
    f,
    left_join,
    names,
    number,
    same,
    select,
    subquery,
)
from sqlanon.queries.recodings import AtNode
from sqlanon.queries.source import Taxonomies
from sqlanon.queries.source_rows import SQL, key_columns, persons_by

if TYPE_CHECKING:
    import pyarrow as pa


def class_of(place: int) -> str:
    """Name the column of persons with the number of their class in a release; 0 if it doesn't show them."""
    return f"anon_class_{place}"


@dataclass(frozen=True)
class ReleasedClasses(ABC):
    """The classes that a release shows.

    If they are exact, rows and cells find the class that shows them, and none if the release leaves them out. Otherwise
    all rows with its labels find a class.
    """

    counted: exp.Select  # by :func:`released_labels`
    place: int  # the number of releases before it
    is_exact: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The column with the number of a class; 0 stands for persons whom the release doesn't show."""
        return class_of(self.place)

    @property
    def relation(self) -> Relation:
        """The classes, with their labels, numbers and rows."""
        return Relation(f"anon_released_classes_{self.place}", "class")

    @property
    @abstractmethod
    def labels(self) -> Mapping[str, str]:
        """The columns of :attr:`relation` with labels, by quasi-identifier."""

    @property
    def step(self) -> Step:
        labels = [*self.labels.values()]
        return SQL.step(self.relation, "released_classes", labelled=self.counted, keys=labels, name=self.name)

    def join_to(self, query: exp.Select, alias: str, on: exp.Expr) -> exp.Select:
        """Join a query to the number of its class, under an alias."""
        query = left_join(query, called(self.relation.table, alias), on)
        shown = f.coalesce(column(self.name, alias), 0)
        return query.select(aliased(shown, self.name), copy=False)


class ClassesOfRows(ReleasedClasses):
    """Classes that the rows of a source find by their values."""

    @abstractmethod
    def rows(self, keys: Sequence[str], values: Mapping[str, str], *, as_text: bool) -> exp.Select:
        """Select the rows of its source: keys of persons, values, and the number of their class.

        ``values`` maps new names to columns of the source.
        """


class ClassesOfKeys(ReleasedClasses):
    """Classes that cells find by their keys."""

    @abstractmethod
    def join_to_keys(self, query: exp.Select, table: str) -> exp.Select:
        """Join a table with the keys of rows or cells to the number of their class."""


def carried_columns(keys: Sequence[str], values: Mapping[str, str], *, as_text: bool) -> list[exp.Alias]:
    """Return keys and values of a source, see :meth:`ClassesOfRows.rows`."""
    found = [aliased(column(name, "anon_source"), alias) for alias, name in values.items()]
    return [*key_columns(keys, "anon_source", as_text=as_text), *found]


def released_labels(released: exp.Expr, labels: Mapping[str, str]) -> exp.Select:
    """Count the combinations of labels in a release; ``labels`` maps quasi-identifiers to new names."""
    return SQL.query("released_labels", released=released, names=[*labels], labels=[*labels.values()])


@dataclass(frozen=True)
class NodeClasses(ClassesOfKeys, ClassesOfRows):
    """The classes of a release at a node, with their keys, and in the order of these."""

    recoding: AtNode  # its labels, without earlier releases

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
        source = called(self.recoding.encoding.spec.source, "anon_source")
        query = select(carried_columns(keys, values, as_text=as_text), source)
        query = with_leaves(self.recoding.encoding, query, "anon_source", _positions(self.recoding))
        on = (word.eq(column(name, "anon_released")) for name, word in class_key(self.recoding).items())
        return self.join_to(query, "anon_released", all_of([*on]))

    @property
    def _labelled(self) -> exp.Select:
        """The labels of its rows with their counts, and the words of their keys."""
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
    """Return the positions of quasi-identifiers with several labels."""
    return [position for position, _ in recoding.code_columns()]


def _node_labels(recoding: AtNode) -> Mapping[str, str]:
    names = recoding.encoding.spec.quasi_identifiers
    return {names[position]: label_of(position) for position in _positions(recoding)}


def class_key(recoding: AtNode) -> dict[str, exp.Expr]:
    """Return the words of the key of a row's class, by name, after ``with_leaves``."""
    encoding, shown = recoding.encoding, _positions(recoding)
    return {
        encoding.key(word): bits(exp.Paren(this=key_word(encoding, word, shown)), number(mask))
        for word, mask in encoding.keys.node_masks(recoding.levels).items()
    }


@dataclass(frozen=True)
class ListedClasses(ClassesOfRows):
    """The classes of a release whose labels don't determine the class of a row, in the order of labels.

    Rows have the number 0 until the classes are rebuilt.
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
        return select([*columns, nothing], called(self.source, "anon_source"))


def labels_by_place(names: Sequence[str]) -> Mapping[str, str]:
    """Name the columns of :attr:`ReleasedClasses.relation` with labels, by quasi-identifier."""
    return {name: label_of(place) for place, name in enumerate(names)}


CUT_LABELS = Relation("anon_noted_labels", "node")
"""The labels of a cut: attribute, level, label, is_of_all."""

CUT_PARTS = Relation("anon_noted_parts", "node")
"""Labels without values in a taxonomy: attribute, low, high, label of intervals, and of no items."""

CUTS = Relation("anon_cuts", "node")
"""The cut as an argument of ``anon.apply_cut``."""


@dataclass(frozen=True)
class Predictors:
    """The predictors of a cut, by kind."""

    categories: tuple[str, ...]
    numbers: tuple[str, ...]
    sets: tuple[str, ...]

    @classmethod
    def of(cls, cut: CutRecord) -> Predictors:
        return cls((*cut.labels,), (*cut.intervals,), (*cut.items,))

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.categories, *self.numbers, *self.sets)


def noted_labels(cut: CutRecord) -> pa.Table:
    """Return the rows of :data:`CUT_LABELS`; a label without a level covers all values."""
    import pyarrow as pa

    found = {**cut.labels, **cut.items}.items()
    rows = [(name, level, label) for name, labels in found for level, label in labels if label is not None]
    columns = {
        "attribute": pa.array([attribute for attribute, _, _ in rows], pa.string()),
        "level": pa.array([level or 0 for _, level, _ in rows], pa.int64()),
        "label": pa.array([label for *_, label in rows], pa.string()),
        "is_of_all": pa.array([level is None for _, level, _ in rows], pa.bool_()),
    }
    return pa.table(columns)


def noted_parts(cut: CutRecord) -> pa.Table:
    import pyarrow as pa

    rows: list[tuple[str, float | None, float | None, str]] = [
        (name, low, high, interval_label(as_text(low), as_text(high)))
        for name, intervals in cut.intervals.items()
        for low, high in intervals
    ]
    for name, labels in cut.items.items():
        # While all items share a label, sets without items have it, too.
        if all(label is not None for _, label in labels):
            rows += ((name, None, None, label) for _, label in labels if label is not None)
    kinds = {"attribute": pa.string(), "low": pa.float64(), "high": pa.float64(), "label": pa.string()}
    return pa.table({name: pa.array([row[at] for row in rows], kind) for at, (name, kind) in enumerate(kinds.items())})


def cut_step(taxonomy: Taxonomies, relation: Relation = CUTS) -> Step:
    """Make :data:`CUTS`, or another relation, from the noted cut."""
    query = Queries("cuts").query("noted_cut", noted_labels=CUT_LABELS, noted_parts=CUT_PARTS)
    return Step(relation, taxonomies.at(query, taxonomy), "the cut of a release")


def rows_without_label(source: exp.Expr, predictors: Predictors, relation: Relation = CUTS) -> exp.Query:
    """Call ``anon_helpers.rows_without_label``: attribute, row_count."""
    return table_call("rows_without_label", source.copy(), relation.table, *_lists(predictors))


def rows_at_cut(
    source: exp.Expr, columns: Sequence[str], predictors: Predictors, relation: Relation = CUTS
) -> exp.Select:
    """Call ``anon.apply_cut``, with the columns in order."""
    rows = table_call("apply_cut", source.copy(), relation.table, *_lists(predictors))
    return select([column(name) for name in columns], subquery(rows, "anon_generalized"))


def _lists(predictors: Predictors) -> list[exp.Array]:
    return [names(each) for each in (predictors.categories, predictors.numbers, predictors.sets)]


@dataclass(frozen=True)
class CutClasses(ClassesOfRows):
    """The classes of a release at a cut, the table :func:`cut_of`, in the order of their labels."""

    predictors: Predictors
    source: exp.Expr  # the rows that it was made from

    @classmethod
    def of(cls, predictors: Predictors, source: exp.Expr, released: exp.Expr, place: int) -> CutClasses:
        return cls(released_labels(released, labels_by_place(predictors.all)), place, predictors, source)

    @property
    def labels(self) -> Mapping[str, str]:
        return labels_by_place(self.predictors.all)

    def rows(self, keys: Sequence[str], values: Mapping[str, str], *, as_text: bool) -> exp.Select:
        carried, names = [*persons_by(keys), *values], self.predictors.all
        source = called(self.source, "anon_source")
        columns = carried_columns(keys, values, as_text=as_text)
        keyed = subquery(select([*columns, *(column(name, "anon_source") for name in names)], source), "anon_keyed")
        labelled = rows_at_cut(keyed, [*carried, *names], self.predictors, cut_of(self.place))
        query = select([column(name, "anon_labelled") for name in carried], subquery(labelled, "anon_labelled"))
        on = (
            same(column(label, "anon_released"), exact_text(column(name, "anon_labelled")))
            for name, label in self.labels.items()
        )
        return self.join_to(query, "anon_released", all_of([*on]))


def cut_of(place: int) -> Relation:
    return Relation(f"anon_cut_of_release_{place}", "node")
