"""Classes of more general nodes that the classes of a node are in, with their true rows by value, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from sqlanon.methods.h_ceiling.queries import value_column
from sqlanon.model.lattice import Levels
from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding, row_sum
from sqlanon.queries.cells.keys import words_of
from sqlanon.queries.classes.grouping import NODE, by_key, by_keys
from sqlanon.queries.kit.nodes import Relation, Step, all_of, bits, column, grouped, number, select

CLASS_VALUES = Relation("anon_class_values", "cell")
"""The true rows of each class and value of a node."""


def class_values(encoding: Encoding, levels: Levels) -> Step:
    """The step that makes :data:`CLASS_VALUES`."""
    code = value_column(encoding)
    grouping = by_key(encoding, levels, carried=[code, ROW_COUNT])
    query = grouping.select([row_sum()], grouping.cells(), column(code))
    return Step(CLASS_VALUES, query, "values of classes")


@dataclass(frozen=True)
class Ancestors:
    """The classes of some nodes above one whose :data:`CLASS_VALUES` are there.

    Attributes:
        encoding: that of the run.
        nodes: the nodes.
        values: the true rows of each node, by its place among these, class and value.
    """

    encoding: Encoding
    nodes: Sequence[Levels]
    values: Relation

    def step(self, purpose: str) -> Step:
        """The step that makes :attr:`values`."""
        grouping = by_keys(self.encoding, self.nodes, CLASS_VALUES)
        query = grouping.select([row_sum()], grouping.cells(), column(value_column(self.encoding)))
        return Step(self.values, query, purpose)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The columns with the words of the keys of classes."""
        words = words_of(map(self.encoding.keys.node_masks, self.nodes))
        return tuple(map(self.encoding.key, words))

    def rows_by_value(self, place: int) -> exp.Select:
        """Key, value and rows of the classes of one node, by class and value."""
        columns = [*map(column, self.keys), column(value_column(self.encoding)), column(ROW_COUNT)]
        return select(columns, self.values.table).where(column(NODE).eq(number(place)), copy=False)

    def rows_of_classes(self, place: int) -> exp.Select:
        """Key and rows of the classes of one node."""
        query = select([*map(column, self.keys), row_sum()], self.values.table)
        return grouped(query.where(column(NODE).eq(number(place)), copy=False), [*map(column, self.keys)])

    def is_above(self, place: int, alias: str, table: str) -> exp.Expr:
        """Whether the class of a table is in a class of one node, which has that alias."""
        masks = self.encoding.keys.node_masks(self.nodes[place])
        words = {self.encoding.key(word): mask for word, mask in masks.items()}
        return all_of(
            [
                exp.Paren(this=bits(column(key, table), number(words.get(key, 0)))).eq(column(key, alias))
                for key in self.keys
            ]
        )
