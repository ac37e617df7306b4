"""Recodings: the labels of quasi-identifiers, and how cells, classes and rows of the source find them.

All methods that publish rows use this interface. Another kind of recoding takes a class here, a case in
``model.labels.LabelsRecord`` and one in ``verification.labels``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.queries.coded_labels import at_level, has_bits
from sqlanon.queries.encoding import EARLIER, PEOPLE, VALUE, Encoding
from sqlanon.queries.grouping import Grouping, by_key
from sqlanon.queries.kit.macros import exact_text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    called,
    column,
    is_there,
    left_join,
    number,
    own_type,
    same,
    select,
    string,
    subquery,
    values,
)
from sqlanon.queries.source_rows import number_of_key

SQL = Queries("cells")


@dataclass(frozen=True)
class Recoding(ABC):
    """The labels of the rows of a run.

    Classes have codes in place of labels, from 1 up. A quasi-identifier with one label for all rows has no code.
    """

    encoding: Encoding

    @abstractmethod
    def code_columns(self) -> list[tuple[int, str]]:
        """Return the position and code column of every quasi-identifier that distinguishes rows."""

    @abstractmethod
    def join_codes(self, query: exp.Select, table: str) -> exp.Select:
        """Join a table with the keys of cells to the codes of their labels."""

    @property
    def row_columns(self) -> tuple[str, ...]:
        """The columns by which rows find their class: labels with codes, and the class in earlier releases."""
        labels = tuple(self.encoding.label(position) for position, _ in self.code_columns())
        return labels if self.encoding.spec.earlier is None else (*labels, EARLIER)

    @abstractmethod
    def join_to_cells(self, query: exp.Select, table: str) -> exp.Select:
        """Join a table with the keys of cells to :attr:`row_columns`."""

    @abstractmethod
    def join_to_source(self, query: exp.Select, table: str) -> exp.Select:
        """Join a table with the rows of the source to :attr:`row_columns`.

        Lookups are LEFT joins although every value is found: DuckDB keeps their order, instead of joining the small
        tables with each other first.
        """

    @abstractmethod
    def labels_by_code(self, position: int) -> exp.Select:
        """Select the codes and labels of a quasi-identifier, or its only label if it has no code."""

    @abstractmethod
    def texts(self, position: int) -> exp.Select:
        """Select ``label``: the texts of the labels of a quasi-identifier, not NULL, perhaps repeated."""

    @abstractmethod
    def label_count(self, position: int) -> int:
        """Return the maximum number of labels of a quasi-identifier, besides NULL."""

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(name for _, name in self.code_columns())

    def label(self, position: int) -> exp.Alias:
        """Return the text label of a lookup in the form of published rows."""
        return aliased(as_label(self.encoding, position, column("label")), self.encoding.label(position))

    def join_labels_to_codes(self, query: exp.Select, table: str) -> exp.Select:
        """Join a table with codes to their labels."""
        for position, code in self.code_columns():
            alias = self.encoding.labels_of(position)
            lookup = subquery(self.labels_by_code(position), alias)
            query = left_join(query, lookup, column(code, alias).eq(column(code, table)))
            query = query.select(column(self.encoding.label(position), alias), copy=False)
        return query

    def join_only_label(self, query: exp.Select, position: int) -> exp.Select:
        """Join a query to the only label of a quasi-identifier without a code."""
        return left_join(query, subquery(self.labels_by_code(position), self.encoding.labels_of(position)), exp.true())

    def coded(self, relation: Relation, carried: Iterable[str]) -> exp.Subquery:
        """Select columns of a relation with keys, and the codes of its labels."""
        query = select((column(name, "anon_keyed") for name in carried), called(relation.table, "anon_keyed"))
        return subquery(self.join_codes(query, "anon_keyed"), relation.name)

    def by_code(self) -> Grouping:
        """Group cells that already have the codes of labels, as in increments."""
        encoding = self.encoding
        return Grouping(
            encoding,
            self.keys,
            lambda: encoding.cells.table,
            lambda: self.coded(encoding.population_cells, [PEOPLE]),
        )

    def grouping(self, carried: Sequence[str] | None = None) -> Grouping:
        """Group all cells by their labels, with some columns, by default the ones that measures need."""
        wanted = self.encoding.carried if carried is None else carried
        return replace(self.by_code(), cells=lambda: self.coded(self.encoding.cells, wanted))

    def coded_classes(
        self, relation: Callable[[Grouping], exp.Select], name: str, carried: Sequence[str] | None = None
    ) -> exp.Select:
        """Select a relation of classes with the codes of their labels as keys, in the last columns.

        ``relation`` makes it from grouped cells, with their keys; ``name`` is its name in the query.
        """
        grouping = self.grouping(carried)
        classes = relation(grouping)
        others = [column(each, name) for each in classes.named_selects if each not in grouping.keys]
        return self._codes_of_keys(select(others, subquery(classes, name)), name)

    def _codes_of_keys(self, query: exp.Select, table: str) -> exp.Select:
        """Replace the keys of :meth:`grouping` by the codes of labels."""
        return query.select(*(column(key, table) for key in self.keys), copy=False)


class _ByValue(Recoding):
    """Labels that follow from the value of their own column: the bits of a label find it for a cell."""

    @abstractmethod
    def _labels(self, position: int, columns: Iterable[exp.Expr], *conditions: exp.Expr) -> exp.Select:
        """Select columns of the labels of values that meet some conditions, a row per value.

        They are columns of :attr:`Encoding.labels`; words of keys are compared with those of cells.
        """

    @abstractmethod
    def _masks(self, position: int) -> Mapping[int, int]:
        """Return the bits that encode the label of a cell, by word of its key."""

    def join_codes(self, query: exp.Select, table: str) -> exp.Select:
        for position, name in self.code_columns():
            query = self._join_by_bits(query, table, position, aliased(column("code"), name))
        return query

    def join_to_cells(self, query: exp.Select, table: str) -> exp.Select:
        for position, _ in self.code_columns():
            query = self.join_label_to_cells(query, table, position)
        return query

    def join_label_to_cells(self, query: exp.Select, table: str, position: int) -> exp.Select:
        """Join a table with the keys of cells to the label of one quasi-identifier."""
        return self._join_by_bits(query, table, position, self.label(position))

    def _join_by_bits(self, query: exp.Select, table: str, position: int, shown: exp.Alias) -> exp.Select:
        alias, masks = self.encoding.labels_of(position), self._masks(position)
        words = [column(self.encoding.key(word)) for word in masks]
        lookup = subquery(self._labels(position, [*words, shown]).distinct(copy=False), alias)
        query = left_join(query, lookup, has_bits(self.encoding, masks, table, alias))
        return query.select(column(shown.alias, alias), copy=False)

    def join_to_source(self, query: exp.Select, table: str) -> exp.Select:
        for position, _ in self.code_columns():
            alias, name = self.encoding.labels_of(position), self.encoding.spec.quasi_identifiers[position]
            lookup = subquery(self._labels(position, [column(VALUE), self.label(position)]), alias)
            query = left_join(query, lookup, same(column(VALUE, alias), exact_text(column(name, table))))
            query = query.select(column(self.encoding.label(position), alias), copy=False)
        return query

    def labels_by_code(self, position: int) -> exp.Select:
        codes = [aliased(column("code"), name) for place, name in self.code_columns() if place == position]
        return self._labels(position, [*codes, self.label(position)]).distinct(copy=False)

    def texts(self, position: int) -> exp.Select:
        return self._labels(position, [column("label")], is_there(column("label")))


@dataclass(frozen=True)
class AtNode(_ByValue):
    """The labels of a node of the lattice, from the labels of all levels that a run encodes."""

    levels: Levels

    def code_columns(self) -> list[tuple[int, str]]:
        # At the top a quasi-identifier has one label for all rows; but a taxonomy with only level 0 keeps NULL apart.
        return [
            (position, self.encoding.code(position, level))
            for position, level in enumerate(self.levels)
            if level in self.encoding.depths(position)
        ]

    def label_count(self, position: int) -> int:
        return self.encoding.spec.shapes[position].label_counts[self.levels[position]]

    def grouping(self, carried: Sequence[str] | None = None) -> Grouping:
        return by_key(self.encoding, self.levels, carried=carried)

    def _codes_of_keys(self, query: exp.Select, table: str) -> exp.Select:
        if self.encoding.spec.earlier is not None:
            words = (column(self.encoding.key(word), table) for word in self.encoding.keys.node_masks(self.levels))
            query = query.select(aliased(number_of_key(self.encoding, table), EARLIER), *words, copy=False)
        return self.join_codes(query, table)  # of the few classes

    def _labels(self, position: int, columns: Iterable[exp.Expr], *conditions: exp.Expr) -> exp.Select:
        return at_level(self.encoding, position, self.levels[position], columns, *conditions)

    def _masks(self, position: int) -> Mapping[int, int]:
        return self.encoding.keys.label_masks(position, self.levels[position])


@dataclass(frozen=True)
class AtCut(_ByValue):
    """The labels of a cut: every value becomes the label above it; NULL without one stays NULL.

    They have their own table, with the bits of values instead of labels: no mask fits labels of several levels.
    """

    cuts: Sequence[Sequence[tuple[int, str]]]  # levels and labels by quasi-identifier; every value has exactly one

    def code_columns(self) -> list[tuple[int, str]]:
        return [(position, f"anon_code_{position}_cut") for position in range(len(self.cuts))]

    def label_count(self, position: int) -> int:
        return len(self.cuts[position])

    def _labels(self, position: int, columns: Iterable[exp.Expr], *conditions: exp.Expr) -> exp.Select:
        return select(columns, cut_labels(position).table).where(*conditions, copy=False)

    def _masks(self, position: int) -> Mapping[int, int]:
        return self.encoding.keys.label_masks(position, 0)

    def step(self, position: int) -> Step:
        """Make :func:`cut_labels`; equal labels of several levels share a code."""
        encoding = self.encoding
        given = [[number(level), string(label)] for level, label in self.cuts[position]]
        words = [*encoding.word_columns]
        query = SQL.query(
            "labels_at_cut",
            labels=encoding.labels,
            cut=values("anon_cut", ("depth", "label"), given),
            position=position,
            leaves=at_level(encoding, position, 0, map(column, [VALUE, *words])),
            words=words,
        )
        return Step(cut_labels(position), query, f'labels of "{encoding.spec.quasi_identifiers[position]}" at a cut')


def as_label(encoding: Encoding, position: int, label: exp.Expr) -> exp.Expr:
    """Cast a text to the label type of a quasi-identifier."""
    if encoding.has_label_texts:
        return label
    return exp.Cast(this=label, to=own_type(encoding.label_type(position)))


def cut_labels(position: int) -> Relation:
    """Name the labels of a quasi-identifier at a cut, a row per value."""
    return Relation(f"anon_cut_labels_{position}", "node")


def cut_misfits(position: int) -> exp.Query:
    """Select one row: values ``without`` a label of the cut, and with ``several``."""
    return SQL.query("cut_misfits", labels=cut_labels(position))
