"""Recodings: which labels quasi-identifiers become, and how cells, classes and rows of the source find them.

Whatever publishes rows asks the recoding for them, whatever its kind. A further kind is one class more, with one case
in ``model.labels.LabelsRecord`` and one in ``verification.labels``.
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

    Classes have codes in place of labels, from 1 on. A quasi-identifier with the same label for all rows has none.
    """

    encoding: Encoding

    @abstractmethod
    def code_columns(self) -> list[tuple[int, str]]:
        """Position and code column of every quasi-identifier that still distinguishes rows."""

    @abstractmethod
    def join_codes(self, query: exp.Select, table: str) -> exp.Select:
        """The query of a table with the keys of cells, and the codes of their labels."""

    @property
    def row_columns(self) -> tuple[str, ...]:
        """The columns by which rows find their class: labels that have codes, and what earlier releases show."""
        labels = tuple(self.encoding.label(position) for position, _ in self.code_columns())
        return labels if self.encoding.spec.earlier is None else (*labels, EARLIER)

    @abstractmethod
    def join_to_cells(self, query: exp.Select, table: str) -> exp.Select:
        """The query of a table with the keys of cells, and :attr:`row_columns`."""

    @abstractmethod
    def join_to_source(self, query: exp.Select, table: str) -> exp.Select:
        """The query of a table with the rows of the source, and :attr:`row_columns`.

        Lookups are LEFT joins although every value is found: DuckDB keeps their order, where it would join the small
        tables among each other first.
        """

    @abstractmethod
    def labels_by_code(self, position: int) -> exp.Select:
        """The codes of the labels of a quasi-identifier, with these; the one label alone if it has no code."""

    @abstractmethod
    def texts(self, position: int) -> exp.Select:
        """``label``: the texts of the labels of a quasi-identifier but NULL, some of them several times."""

    @abstractmethod
    def label_count(self, position: int) -> int:
        """The most labels that a quasi-identifier has, besides NULL."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The code columns that define classes."""
        return tuple(name for _, name in self.code_columns())

    def label(self, position: int) -> exp.Alias:
        """The label that a lookup holds as a text, as rows of a release have it."""
        return aliased(as_label(self.encoding, position, column("label")), self.encoding.label(position))

    def join_labels_to_codes(self, query: exp.Select, table: str) -> exp.Select:
        """The query of a table with codes, and their labels."""
        for position, code in self.code_columns():
            alias = self.encoding.labels_of(position)
            lookup = subquery(self.labels_by_code(position), alias)
            query = left_join(query, lookup, column(code, alias).eq(column(code, table)))
            query = query.select(column(self.encoding.label(position), alias), copy=False)
        return query

    def join_only_label(self, query: exp.Select, position: int) -> exp.Select:
        """The query joined with the one label of a quasi-identifier that has no code."""
        return left_join(query, subquery(self.labels_by_code(position), self.encoding.labels_of(position)), exp.true())

    def coded(self, relation: Relation, carried: Iterable[str]) -> exp.Subquery:
        """Some columns of a relation with keys, and the codes of its labels."""
        query = select((column(name, "anon_keyed") for name in carried), called(relation.table, "anon_keyed"))
        return subquery(self.join_codes(query, "anon_keyed"), relation.name)

    def by_code(self) -> Grouping:
        """Cells that have the codes of labels, as those of increments do, grouped by these."""
        encoding = self.encoding
        return Grouping(
            encoding,
            self.keys,
            lambda: encoding.cells.table,
            lambda: self.coded(encoding.population_cells, [PEOPLE]),
        )

    def grouping(self, carried: Sequence[str] | None = None) -> Grouping:
        """All cells, grouped by their labels, with some columns: those that classes are measured by if None."""
        wanted = self.encoding.carried if carried is None else carried
        return replace(self.by_code(), cells=lambda: self.coded(self.encoding.cells, wanted))

    def coded_classes(
        self, relation: Callable[[Grouping], exp.Select], name: str, carried: Sequence[str] | None = None
    ) -> exp.Select:
        """A relation of classes with the codes of their labels for keys, which come last.

        ``relation`` makes it, with its keys, from cells that are grouped; ``name`` is what it is called in the query.
        """
        grouping = self.grouping(carried)
        classes = relation(grouping)
        others = [column(each, name) for each in classes.named_selects if each not in grouping.keys]
        return self._codes_of_keys(select(others, subquery(classes, name)), name)

    def _codes_of_keys(self, query: exp.Select, table: str) -> exp.Select:
        """The query of a table with the keys of :meth:`grouping`, and the codes of their labels."""
        return query.select(*(column(key, table) for key in self.keys), copy=False)


class _ByValue(Recoding):
    """Labels that follow from the value of their own column alone: the bits of a label find it for a cell."""

    @abstractmethod
    def _labels(self, position: int, columns: Iterable[exp.Expr], *conditions: exp.Expr) -> exp.Select:
        """Some columns of the labels that values become and that meet some conditions, a row per value.

        They are those of :attr:`Encoding.labels`, the words of keys being what cells are compared with.
        """

    @abstractmethod
    def _masks(self, position: int) -> Mapping[int, int]:
        """The bits that encode the label of a cell, for each word of its key that has any."""

    def join_codes(self, query: exp.Select, table: str) -> exp.Select:
        for position, name in self.code_columns():
            query = self._join_by_bits(query, table, position, aliased(column("code"), name))
        return query

    def join_to_cells(self, query: exp.Select, table: str) -> exp.Select:
        for position, _ in self.code_columns():
            query = self.join_label_to_cells(query, table, position)
        return query

    def join_label_to_cells(self, query: exp.Select, table: str, position: int) -> exp.Select:
        """The query of a table with the keys of cells, and the label of one quasi-identifier."""
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
    """The labels of a node of the lattice, which are among those that a run makes of all levels."""

    levels: Levels

    def code_columns(self) -> list[tuple[int, str]]:
        # At its top level a quasi-identifier has one label for all; a taxonomy of level 0 alone has none for NULL,
        # which then stands apart.
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
        return self.join_codes(query, table)  # of the few classes that cells make

    def _labels(self, position: int, columns: Iterable[exp.Expr], *conditions: exp.Expr) -> exp.Select:
        return at_level(self.encoding, position, self.levels[position], columns, *conditions)

    def _masks(self, position: int) -> Mapping[int, int]:
        return self.encoding.keys.label_masks(position, self.levels[position])


@dataclass(frozen=True)
class AtCut(_ByValue):
    """The labels of a cut: every value becomes the one that it is under; NULL stays NULL where it is under none.

    They are a table of their own, with the bits of values in place of those of labels: no mask is the same for labels
    of several levels.
    """

    cuts: Sequence[Sequence[tuple[int, str]]]  # levels and labels by quasi-identifier; every value has just one

    def code_columns(self) -> list[tuple[int, str]]:
        return [(position, f"anon_code_{position}_cut") for position in range(len(self.cuts))]

    def label_count(self, position: int) -> int:
        return len(self.cuts[position])

    def _labels(self, position: int, columns: Iterable[exp.Expr], *conditions: exp.Expr) -> exp.Select:
        return select(columns, cut_labels(position).table).where(*conditions, copy=False)

    def _masks(self, position: int) -> Mapping[int, int]:
        return self.encoding.keys.label_masks(position, 0)

    def step(self, position: int) -> Step:
        """The step that makes :func:`cut_labels`; labels of several levels that read the same have one code."""
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
    """A text as a label of a quasi-identifier."""
    if encoding.has_label_texts:
        return label
    return exp.Cast(this=label, to=own_type(encoding.label_type(position)))


def cut_labels(position: int) -> Relation:
    """The labels of a quasi-identifier at a cut, a row per value."""
    return Relation(f"anon_cut_labels_{position}", "node")


def cut_misfits(position: int) -> exp.Query:
    """One row: values without a label of the cut, ``without``, and with more than one, ``several``."""
    return SQL.query("cut_misfits", labels=cut_labels(position))
