"""The table that local recoding peels: its cells, keys and labels in the database, and what Python knows of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.bounds import CLASS_SIZE
from sqlanon.model.lattice import Lattice, Levels, Table, total
from sqlanon.model.methods.local import LocalRecoding
from sqlanon.model.policy.policy import Policy
from sqlanon.model.quality import NCP
from sqlanon.queries.cells.earlier import number_of_key
from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding, row_sum
from sqlanon.queries.classes.classes import class_relation, within
from sqlanon.queries.classes.earlier import with_values_within
from sqlanon.queries.classes.grouping import Grouping, mask_column, measure_column
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    bits,
    column,
    double,
    grouped,
    number,
    select,
    subquery,
    values,
)

SQL = Queries("peeling")

UNITS = 2**30
"""Losses of labels, and masses of keys, are integers in units of 1 / 2^30: their products and sums are exact."""

KEYS = Relation("anon_weighed_keys", "cell")
"""The keys, each once, with a number from 1 in their order (``anon_key``), their words, rows and mass.

``anon_number`` is the number of the joint class in earlier releases, or 0.
"""

CELLS = Relation("anon_peeled_cells", "cell")
"""The cells, with the number and the words of their key and what classes are judged by, if that is more than rows."""

LABELS = Relation("anon_weighed_labels", "node")
"""By position, depth and words of keys the number of the label, and what it loses of a row in :data:`UNITS`."""

KEY = "anon_key"
NUMBER = "anon_number"


@dataclass(frozen=True)
class LocalTable:
    """A table that is peeled.

    Attributes:
        engine: the database.
        source: the table as cells of the run.
        encoding: that of the cells, which have no values if no model looks at them.
    """

    engine: Compute
    source: EncodedTable
    encoding: Encoding

    @classmethod
    def of(cls, engine: Compute, source: EncodedTable) -> LocalTable:
        """Make the tables of a table: cells, keys and labels."""
        table = cls.of_made(engine, source)
        engine.run(table._keys)
        if table.cells is CELLS:
            engine.run(table._cells)
        engine.run(table._labels)
        return table

    @classmethod
    def of_made(cls, engine: Compute, source: EncodedTable) -> LocalTable:
        """The same where its tables are made."""
        looks = source.encoding.criteria.looks_at_values or source.encoding.spec.earlier is not None
        encoding = (source if looks else source.without_values()).encoding
        return cls(engine, source, replace(encoding, spec=replace(encoding.spec, row_weight=None)))

    @property
    def policy(self) -> Policy:
        """What is asked for."""
        return self.source.bound.policy

    @cached_property
    def lattice(self) -> Lattice:
        """The levels that may be published."""
        return self.source.bound.lattice

    @cached_property
    def cells(self) -> Relation:
        """The cells by which classes are judged; the keys if by their rows alone."""
        return CELLS if self.encoding.distinguishing else KEYS

    @cached_property
    def words(self) -> list[str]:
        """The columns of keys; a single one of zeros if all quasi-identifiers have one label each."""
        return key_words(self.encoding)

    @cached_property
    def least_size(self) -> int:
        """The rows, or individuals, that every class has at least."""
        bounds = self.encoding.criteria.class_bounds
        return max((int(bound.threshold) for bound in bounds if bound.measure == CLASS_SIZE), default=1)

    @property
    def size_column(self) -> str:
        """The column of classes with how many rows, or individuals, they have."""
        return measure_column(self.encoding, CLASS_SIZE)

    @cached_property
    def is_monotonic(self) -> bool:
        """Whether a class that meets all bounds meets them with any other cells, too."""
        return self.encoding.spec.earlier is None and all(
            bound.monotonic for bound in self.encoding.criteria.class_bounds
        )

    def masks(self, levels: Levels) -> list[int]:
        """The bits of each word that distinguish the classes of a node."""
        masks = self.encoding.keys.node_masks(levels)
        return [masks.get(word, 0) for word in range(len(self.words))]

    def label_masks(self) -> exp.Values:
        """See :func:`label_masks`."""
        return label_masks(self.encoding)

    def tops(self) -> exp.Values:
        """By position the most general level that may be published (``anon_top``)."""
        rows = ([number(place), number(top)] for place, top in enumerate(self.lattice.top))
        return values("anon_tops", ("position", "anon_top"), rows)

    @property
    def mask_columns(self) -> list[str]:
        """The columns of ``anon_masks`` with the bits."""
        return mask_columns(self.encoding)

    def masked(self, table: str, masks: str) -> list[exp.Alias]:
        """The words of a table under the masks of another."""
        pairs = zip(self.words, self.mask_columns, strict=True)
        return [aliased(bits(column(word, table), column(mask, masks)), word) for word, mask in pairs]

    def is_met(self) -> exp.Expr:
        """Whether a class, with its key, meets the bounds, also on what earlier releases show of it."""
        encoding = self.encoding
        met = within(encoding, encoding.criteria.class_bounds)
        changed = [each for each in encoding.spec.shown_values if each.column != each.bounded]
        if changed:
            met = exp.and_(met, with_values_within(encoding, changed, [column(NUMBER)]), copy=False)
        return exp.func("coalesce", met, exp.false())

    def classes(self, cells: exp.Query, keys: Sequence[str]) -> exp.Select:
        """Classes of cells with their keys and measures; cells have :data:`NUMBER` if the classes are to have it."""
        return class_relation(self.grouping(cells, keys), with_keys=True, measured_from=self.measured_from)

    @property
    def measured_from(self) -> int:
        """The rows from which on the values of a class are measured."""
        return 1 if self.encoding.criteria.counts_individuals else self.least_size

    def grouping(self, cells: exp.Query, keys: Sequence[str]) -> Grouping:
        """Cells that are grouped by some of their columns, and by the number of their joint class if there is one."""
        earlier, relation = self.encoding.spec.earlier, subquery(cells, "anon_judged_cells")
        gaps = earlier is not None and earlier.is_by_person
        return Grouping(self.encoding, (*keys, *self._numbered), relation.copy, relation.copy, gaps=gaps)

    def carried(self, table: str | None = None) -> list[exp.Expr]:
        """The columns of cells that classes are judged by."""
        return [column(name, table) for name in (*self.encoding.carried, *self._numbered)]

    @property
    def _numbered(self) -> list[str]:
        """The column of the number of a joint class, if earlier releases make such."""
        return [] if self.encoding.spec.earlier is None else [NUMBER]

    @property
    def _word_values(self) -> list[exp.Expr]:
        if self.encoding.keys.word_count:
            return [column(word) for word in self.words]
        return [exp.cast(number(0), "BIGINT")]

    def _named_words(self) -> list[exp.Expr]:
        return [aliased(value, name) for value, name in zip(self._word_values, self.words, strict=True)]

    @property
    def _keys(self) -> Step:
        cells, joint = self.encoding.cells, number_of_key(self.encoding) if self._numbered else number(0)
        mass: exp.Expr = exp.cast(exp.Sum(this=column(ROW_COUNT)), "BIGINT")
        if self.source.encoding.spec.row_weight is not None:
            mass = SQL.query("weight_of_keys", cells=cells, units=UNITS).expressions[0].this
        shown = [*self._named_words(), row_sum(), aliased(mass, "anon_mass"), aliased(joint, NUMBER)]
        keys = grouped(select(shown, cells.table), [*self._word_values, *([joint.copy()] if self._numbered else [])])
        return SQL.step(KEYS, "numbered_keys", unnumbered=keys, keys=self.words)

    @property
    def _cells(self) -> Step:
        encoding, names = self.encoding, self.encoding.distinguishing
        labels = [aliased(exp.AnyValue(this=column(name)), name) for name in encoding.sensitive_labels]
        shown = [*self._named_words(), *map(column, names), *labels, row_sum()]
        merged = grouped(select(shown, encoding.cells.table), [*self._word_values, *map(column, names)])
        return SQL.step(CELLS, "cells_with_keys", merged=merged, weighed=KEYS, keys=self.words)

    @property
    def _labels(self) -> Step:
        return SQL.step(
            LABELS,
            "weighed_labels",
            labels=with_words(self.encoding, self.encoding.labels),
            loss=loss_column(self.policy),
            keys=self.words,
            shares=weighed_shares(self.policy),
            units=UNITS,
        )

    def level_losses(self) -> Table:
        """By quasi-identifier and level, what the whole table loses of a row, in :data:`UNITS`."""
        shares = settings_of(self.policy).shares(self.policy)
        scaled = zip(level_losses(self.source), (share * len(shares) * UNITS for share in shares), strict=True)
        return tuple(tuple(round(loss * scale) for loss in of) for of, scale in scaled)


def key_words(encoding: Encoding) -> list[str]:
    """The columns of keys; a single one of zeros if all quasi-identifiers have one label each."""
    return [encoding.key(word) for word in range(max(encoding.keys.word_count, 1))]


def with_words(encoding: Encoding, relation: Relation) -> Relation | exp.Query:
    """A relation with keys, with a word of zeros if these have none."""
    if encoding.keys.word_count:
        return relation
    return select([exp.Star(), aliased(exp.cast(number(0), "BIGINT"), encoding.key(0))], relation.table)


def mask_columns(encoding: Encoding) -> list[str]:
    """The columns of :func:`label_masks` with the bits."""
    return [mask_column(word) for word, _ in enumerate(key_words(encoding))]


def label_masks(encoding: Encoding) -> exp.Values:
    """``anon_masks``: by position and depth, the bits of each word that distinguish labels, at all levels."""
    names, rows = mask_columns(encoding), []
    for place, shape in enumerate(encoding.spec.shapes):
        for depth in range(shape.height + 1):
            masks = encoding.keys.label_masks(place, depth)
            rows.append([*map(number, (place, depth, *(masks.get(word, 0) for word, _ in enumerate(names))))])
    return values("anon_masks", ("position", "depth", *names), rows)


def settings_of(policy: Policy) -> LocalRecoding:
    """The settings of a policy for local recoding."""
    assert isinstance(policy.method, LocalRecoding)
    return policy.method


def weighed_shares(policy: Policy) -> exp.Values:
    """``anon_shares``: by position how much a quasi-identifier counts in the loss."""
    shares = enumerate(settings_of(policy).shares(policy))
    return values("anon_shares", ("position", "share"), ([number(place), double(share)] for place, share in shares))


def level_losses(source: EncodedTable) -> Table:
    """By quasi-identifier and level, what a table loses by the quality model of its policy."""
    losses = source.context.losses
    return losses.ncp if isinstance(source.bound.policy.quality, NCP) else losses.lm


def loss_column(policy: Policy) -> exp.Column:
    """What labels lose by the quality model of a policy."""
    return column("ncp" if isinstance(policy.quality, NCP) else "lm", "anon_labels")


def ordered_nodes(table: LocalTable) -> list[Levels]:
    """The nodes by what the table loses at them, the least first, and then in lexicographic order."""
    return sorted(table.lattice.nodes(), key=partial(total, table.level_losses()))
