"""The labels of local recoding: those of a cell are at the levels of its class, and found by the number of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.queries.cells.earlier import with_persons
from sqlanon.queries.cells.encoding import EarlierClasses
from sqlanon.queries.cells.rows import key_word, with_leaves
from sqlanon.queries.classes.recoding import Recoding, as_label
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    c,
    column,
    f,
    filtered,
    left_join,
    number,
    select,
    string,
)
from sqlanon.queries.release.text_types import MASK

CLASS = "anon_class"
"""The column with the number of a class, from 1; 0 is the class of the rows that are masked."""

KEYS = Relation("anon_class_of_key", "cell")
"""The keys of the cells that are published, each once, with the number of their class."""

LEVELS = Relation("anon_levels_of_classes", "class")
"""By class and quasi-identifier (``position``) the level (``depth``), and the bits of the label in words of keys."""

LABELS = Relation("anon_labels_of_classes", "class")
"""The labels of each class."""

SQL = Queries("local")


def aggregates_of(position: int) -> Relation:
    """What is published of the values that a quasi-identifier has in each class."""
    return Relation(f"anon_aggregates_{position}", "class")


_CLASS_OF_KEY = column(CLASS, "anon_of_key")


def _of_key() -> exp.Expr:
    return exp.alias_(KEYS.table, "anon_of_key", table=True)


def _of_class() -> exp.Expr:
    return exp.alias_(LABELS.table, "anon_of_class", table=True)


@dataclass(frozen=True)
class PerClass(Recoding):
    """The labels of classes that are each at levels of their own; no two of them have the same ones.

    :data:`KEYS` and :data:`LEVELS` are made, and :data:`LABELS` by :meth:`step`; or :data:`KEYS`, and :data:`LABELS` by
    :meth:`step_of_listed`. Beside earlier releases two of them may have the same labels, and persons of other joint
    classes.

    Attributes:
        earlier: what earlier releases show of the persons, which stands in keys beside the labels.
    """

    earlier: EarlierClasses | None = None

    @property
    def _positions(self) -> range:
        return range(len(self.encoding.spec.shapes))

    @property
    def words(self) -> list[str]:
        """The columns of :data:`KEYS` with the words of keys."""
        return [self.encoding.key(word) for word in range(self.encoding.keys.word_count)]

    def step(self) -> Step:
        """The step that makes :data:`LABELS`."""
        listed = self.class_list
        listed.set("order", None)  # which grouped rows do not need
        masks = [aliased(string(MASK), name) for name in self.encoding.label_columns]
        return SQL.step(LABELS, "class_labels", classes=self._listed_labels(listed), masks=masks)

    def step_of_listed(self, listed: Relation | exp.Expr) -> Step:
        """The same from a list of classes, with the label of each by quasi-identifier (``position``)."""
        return Step(LABELS, self._listed_labels(listed), "labels of listed classes")

    @property
    def class_list(self) -> exp.Query:
        """The list of the classes: by class and quasi-identifier (``position``) the level and the label."""
        return SQL.query("class_list", levels=LEVELS, labels=self.encoding.labels, keys=self.words)

    def _listed_labels(self, listed: Relation | exp.Expr) -> exp.Query:
        of_position = (filtered(f.max(c.label), c.position.eq(number(place))) for place in self._positions)
        names = self.encoding.label_columns
        texts = [aliased(label, name) for label, name in zip(of_position, names, strict=True)]
        return SQL.query("labels_of_listed", listed=listed, texts=texts)

    def code_columns(self) -> list[tuple[int, str]]:
        return [(place, CLASS) for place in self._positions]

    @property
    def keys(self) -> tuple[str, ...]:
        return (CLASS,)

    @property
    def row_columns(self) -> tuple[str, ...]:
        return (CLASS,)

    def join_codes(self, query: exp.Select, table: str) -> exp.Select:
        """See :meth:`Recoding.join_codes`; cells that are left out are in no class, and in none of the rows."""
        keys = [column(word, table) for word in self.words]
        return query.join(_of_key(), on=self._has_key(keys), copy=False).select(_CLASS_OF_KEY.copy(), copy=False)

    def join_classes(self, query: exp.Select, table: str) -> exp.Select:
        """The query of a table with the keys of cells, joined with ``anon_of_key``, which has their classes if any."""
        return left_join(query, _of_key(), self._has_key([column(word, table) for word in self.words]))

    def join_to_cells(self, query: exp.Select, table: str) -> exp.Select:
        return self.join_codes(query, table)

    def join_to_source(self, query: exp.Select, table: str) -> exp.Select:
        """See :meth:`Recoding.join_to_source`; the key of a row is that of its values together."""
        return self.join_classes_to_source(query, table).select(_CLASS_OF_KEY.copy(), copy=False)

    def join_classes_to_source(self, query: exp.Select, table: str) -> exp.Select:
        """The query of a table with the rows of the source, joined as by :meth:`join_classes`."""
        encoding = replace(self.encoding, spec=replace(self.encoding.spec, earlier=self.earlier))
        query = with_persons(self.earlier, with_leaves(encoding, query, table), table)
        keys = [exp.paren(key_word(encoding, word)) for word in range(len(self.words))]
        return left_join(query, _of_key(), self._has_key(keys))

    def _has_key(self, keys: Sequence[exp.Expr]) -> exp.Expr:
        return all_of([column(word, "anon_of_key").eq(key) for word, key in zip(self.words, keys, strict=True)])

    def join_labels_to_codes(self, query: exp.Select, table: str) -> exp.Select:
        query = left_join(query, _of_class(), column(CLASS, "anon_of_class").eq(column(CLASS, table)))
        shown = [column(CLASS, table), *map(self._label, self._positions)]
        for name, columns in self.encoding.beside.items():
            relation = aggregates_of(self.encoding.spec.quasi_identifiers.index(name))
            query = left_join(
                query,
                exp.alias_(relation.table, relation.name, table=True),
                column(CLASS, relation.name).eq(column(CLASS, table)),
            )
            shown += [column(each, relation.name) for each in columns]
        return query.select(*shown, copy=False)

    def labels_by_code(self, position: int) -> exp.Select:
        return select([column(CLASS, "anon_of_class"), self._label(position)], _of_class())

    def texts(self, position: int) -> exp.Select:
        label = column(self.encoding.label(position))
        return select([aliased(label, "label")], LABELS.table).where(label.copy().is_(exp.null()).not_(), copy=False)

    def label_count(self, position: int) -> int:
        return sum(self.encoding.spec.shapes[position].label_counts)

    def _label(self, position: int) -> exp.Alias:
        name = self.encoding.label(position)
        return aliased(as_label(self.encoding, position, column(name, "anon_of_class")), name)
