"""The labels of local recoding: a cell's key finds its class, and the class its labels.

Means, medians and ranges of a class's values stand beside the labels if the policy asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.local.local_table import CLASS, LEVELS, PARTS, key_roles, key_words, loss_roles, with_words
from sqlanon.model.labels import ClassesRecord
from sqlanon.model.methods.full_domain import LocalRecoding
from sqlanon.model.policy.policy import Policy
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries.coded_labels import at_level, has_bits
from sqlanon.queries.encoded_rows import key_word, with_leaves
from sqlanon.queries.encoding import ROW_COUNT, VALUE, EarlierClasses, Encoding
from sqlanon.queries.kit.macros import as_read
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    column,
    left_join,
    number,
    own_type,
    select,
    string,
    subquery,
)
from sqlanon.queries.layout import MASK
from sqlanon.queries.published_rows import KEPT_CLASSES
from sqlanon.queries.recodings import Recoding, as_label
from sqlanon.queries.source_rows import with_persons
from sqlanon.release.publishing import keep_classes

SQL = Queries("local")

CLASS_KEYS = Relation("anon_class_of_key", "cell")  # the keys of published cells, each once, with their class
CLASS_LABELS = Relation("anon_labels_of_classes", "class")  # the labels of each class
OF_KEY = exp.alias_(CLASS_KEYS.table, "anon_of_key", table=True)
OF_CLASS = exp.alias_(CLASS_LABELS.table, "anon_of_class", table=True)


def aggregates_of(position: int) -> Relation:
    return Relation(f"anon_aggregates_{position}", "class")


@dataclass(frozen=True)
class PerClass(Recoding):
    """A recoding with one combination of labels per class.

    :func:`make_classes` or :meth:`find_classes` makes :data:`CLASS_KEYS` and :data:`CLASS_LABELS`. Beside earlier
    releases two classes may share their labels; their persons are then in different joint classes.
    """

    earlier: EarlierClasses | None = None  # what earlier releases show of the persons; part of the keys

    @property
    def class_list(self) -> exp.Query:
        """The level and label of each class by ``position``, one row per class and quasi-identifier."""
        return SQL.query("class_list", levels=LEVELS, labels=self.encoding.labels, keys=self.encoding.word_columns)

    def find_classes(self, engine: Compute, policy: Policy, listed: Relation | exp.Expr) -> None:
        """Make the tables of the recoding by sending each cell to the listed class of least loss.

        The list (:attr:`class_list`) was made under the same policy and taxonomies.
        """
        encoding = self.encoding
        engine.run(Step(CLASS_LABELS, self.labels_of(listed), "labels of listed classes"))
        sql = SQL.given(**key_roles(encoding), **loss_roles(policy), listed=listed, width=len(encoding.spec.shapes))
        keys = sql.query("keys", cells=with_words(encoding, encoding.cells))
        labels = sql.query("listed_labels", labels=with_words(encoding, encoding.labels))
        engine.run(Step(CLASS_KEYS, covering_classes(encoding, keys, labels), "classes of keys"))

    def keep_all(self, engine: Compute) -> None:
        """Keep each class of :data:`CLASS_LABELS`, whatever rows it has."""
        engine.run(SQL.step(KEPT_CLASSES, "all_classes", labels=CLASS_LABELS))

    def labels_of(self, listed: Relation | exp.Expr) -> exp.Query:
        names = self.encoding.label_columns
        return SQL.query("labels_of_listed", listed=listed, positions=[*map(number, range(len(names)))], texts=names)

    def code_columns(self) -> list[tuple[int, str]]:
        return [(place, CLASS) for place, _ in enumerate(self.encoding.spec.shapes)]

    @property
    def keys(self) -> tuple[str, ...]:
        return (CLASS,)

    @property
    def row_columns(self) -> tuple[str, ...]:
        return (CLASS,)

    def join_codes(self, query: exp.Select, table: str) -> exp.Select:
        """Join codes (:meth:`Recoding.join_codes`); left-out cells have no class and drop out."""
        keys = [column(word, table) for word in self.encoding.word_columns]
        joined = query.join(OF_KEY.copy(), on=self._has_key(keys), copy=False)
        return joined.select(column(CLASS, "anon_of_key"), copy=False)

    def join_classes(self, query: exp.Select, table: str) -> exp.Select:
        """Left-join ``anon_of_key``, which has the class of each key, to a table of cells."""
        keys = [column(word, table) for word in self.encoding.word_columns]
        return left_join(query, OF_KEY.copy(), self._has_key(keys))

    def join_to_cells(self, query: exp.Select, table: str) -> exp.Select:
        return self.join_codes(query, table)

    def join_to_source(self, query: exp.Select, table: str) -> exp.Select:
        """Join labels (:meth:`Recoding.join_to_source`); the values of a row together make its key."""
        return self.join_classes_to_source(query, table).select(column(CLASS, "anon_of_key"), copy=False)

    def join_classes_to_source(self, query: exp.Select, table: str) -> exp.Select:
        """Left-join the classes to the rows of the source, like :meth:`join_classes`."""
        encoding = replace(self.encoding, spec=replace(self.encoding.spec, earlier=self.earlier))
        query = with_persons(self.earlier, with_leaves(encoding, query, table), table)
        keys = [exp.paren(key_word(encoding, word)) for word in range(len(self.encoding.word_columns))]
        return left_join(query, OF_KEY.copy(), self._has_key(keys))

    def _has_key(self, keys: Sequence[exp.Expr]) -> exp.Expr:
        words = zip(self.encoding.word_columns, keys, strict=True)
        return all_of([column(word, "anon_of_key").eq(key) for word, key in words])

    def join_labels_to_codes(self, query: exp.Select, table: str) -> exp.Select:
        query = left_join(query, OF_CLASS.copy(), column(CLASS, "anon_of_class").eq(column(CLASS, table)))
        shown = [column(CLASS, table), *map(self._label, range(len(self.encoding.spec.shapes)))]
        for name, columns in self.encoding.beside.items():
            relation = aggregates_of(self.encoding.spec.quasi_identifiers.index(name))
            of_class = column(CLASS, relation.name).eq(column(CLASS, table))
            query = left_join(query, exp.alias_(relation.table, relation.name, table=True), of_class)
            shown += [column(each, relation.name) for each in columns]
        return query.select(*shown, copy=False)

    def labels_by_code(self, position: int) -> exp.Select:
        return select([column(CLASS, "anon_of_class"), self._label(position)], OF_CLASS.copy())

    def texts(self, position: int) -> exp.Select:
        label = column(self.encoding.label(position))
        labels = select([aliased(label, "label")], CLASS_LABELS.table)
        return labels.where(label.copy().is_(exp.null()).not_(), copy=False)

    def label_count(self, position: int) -> int:
        return sum(self.encoding.spec.shapes[position].label_counts)

    def _label(self, position: int) -> exp.Alias:
        name = self.encoding.label(position)
        return aliased(as_label(self.encoding, position, column(name, "anon_of_class")), name)


def without_numbers(table: EncodedTable) -> EncodedTable:
    """Drop the joint-class numbers from the cells' description, for queries that only read labels."""
    spec = replace(table.encoding.spec, earlier=None, shown_values=())
    return replace(table, encoding=replace(table.encoding, spec=spec, has_raw_values=table.encoding.holds_release))


def covering_classes(encoding: Encoding, keys: exp.Query, labels: exp.Query) -> exp.Query:
    """Select each covered key once, with its covering class of least loss; the first of several.

    ``labels`` has the labels of the classes by position, with their words and losses.
    """
    sql = SQL.given(**key_roles(encoding))
    masked = [f"anon_masked_{word}" for word, _ in enumerate(key_words(encoding))]
    return sql.query("covering_classes", of_keys=keys, covers=sql.query("covers", labels=labels), masked=masked)


def make_classes(engine: Compute, recoding: PerClass, left_out: int, *, masks: bool) -> bool:
    """Make the tables of a recoding from :data:`PARTS` and :data:`LEVELS`, and its ``KEPT_CLASSES``.

    With ``masks``, left-out rows are masked if they meet the privacy models as one class. Returns whether they were.
    """
    listed, texts = recoding.class_list, recoding.encoding.label_columns
    listed.set("order", None)  # which grouped rows do not need
    labels = recoding.labels_of(listed)
    engine.run(SQL.step(CLASS_LABELS, "class_labels", classes=labels, texts=texts, mask=string(MASK)))
    is_masked, words = masks and left_out > 0, recoding.encoding.word_columns
    while True:
        query = SQL.query("published_keys", parts=PARTS, keys=words, first=0 if is_masked else 1)
        engine.run(Step(CLASS_KEYS, query, "classes of keys"))
        keep_classes(engine, recoding)
        masked_class = SQL.query("masked_class", kept=KEPT_CLASSES)
        if not is_masked or engine.fetch(masked_class, "masked rows", "node")[0]["kept"]:
            return is_masked
        is_masked = False  # as one class they fail
        for relation in (CLASS_KEYS, KEPT_CLASSES):
            engine.drop(relation)


def recorded_classes(engine: Compute, recoding: PerClass, masked_rows: int) -> ClassesRecord:
    names, sql = recoding.encoding.spec.quasi_identifiers, SQL.given(listed=recoding.class_list, kept=KEPT_CLASSES)
    query = sql.query("recorded_labels")
    labels: dict[str, list[tuple[int | None, str | None]]] = {name: [] for name in names}
    for row in engine.fetch(query, "labels of classes", "node"):
        labels[names[row["position"]]].append((row["depth"], row["label"]))
    query = sql.query("recorded_classes", labels=query.copy(), parts=PARTS)
    classes = [tuple(row["recorded"]) for row in engine.fetch(query, "classes", "class")]
    if masked_rows:
        classes.append((masked_rows, *map(len, labels.values())))
        for of_name in labels.values():
            of_name.append((None, MASK))
    return ClassesRecord(labels={name: tuple(found) for name, found in labels.items()}, classes=tuple(classes))


def listed_classes(engine: Compute, names: Sequence[str], listed: exp.Expr, cells: exp.Expr) -> ClassesRecord:
    """Record all labels of listed classes, and the classes that cells are in, with their rows."""
    labels: list[dict[tuple[int | None, str | None], int]] = [{} for _ in names]
    for row in engine.fetch(SQL.query("distinct_labels", listed=listed), "labels of listed classes", "node"):
        of_column = labels[row["position"]]
        of_column[row["depth"], row["label"]] = len(of_column)
    query = SQL.query("released_classes", listed=listed, cells=cells)
    classes = []
    for row in engine.fetch(query, "classes of the partition", "class"):
        combination = zip(row["depths"], row["labels"], strict=True)
        places = (known[label] for known, label in zip(labels, combination, strict=True))
        classes.append((int(row["rows"]), *places))
    recorded = {name: tuple(known) for name, known in zip(names, labels, strict=True)}
    return ClassesRecord(labels=recorded, classes=tuple(classes))


def make_aggregates(engine: Compute, recoding: PerClass, settings: LocalRecoding) -> None:
    encoding = recoding.encoding
    types = {found.name: found.type for found in encoding.spec.columns}
    for name, columns in settings.aggregates.items():
        # The numeric value of each cell's quasi-identifier, beside its class and rows.
        position = encoding.spec.quasi_identifiers.index(name)
        masks = encoding.keys.label_masks(position, 0)
        words = [column(encoding.key(word)) for word in masks]
        value = exp.TryCast(this=as_read(column(VALUE)), to=own_type(types[name]))
        numbers = subquery(at_level(encoding, position, 0, [*words, aliased(value, "anon_value")]), "anon_numbers")
        cells = select([column(ROW_COUNT, "anon_cells")], exp.alias_(encoding.cells.table, "anon_cells", table=True))
        cells = recoding.join_codes(cells, "anon_cells")
        cells = left_join(cells, numbers, has_bits(encoding, masks, "anon_cells", "anon_numbers"))
        values = subquery(cells.select(column("anon_value", "anon_numbers"), copy=False), "anon_values")
        sql = SQL.given(values=values, mean=columns[0], median=columns[0], least=columns[0], greatest=columns[-1])
        engine.run(sql.step(aggregates_of(position), f"class_{settings.aggregate[name]}s"))
