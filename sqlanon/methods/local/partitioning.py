"""Strict Mondrian: the classes of a table, which split until no split has parts that all meet the privacy models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.local.class_labels import PerClass
from sqlanon.methods.local.local_table import (
    CLASS,
    KEY,
    KEYS,
    LABELS,
    LEVELS,
    PARTS,
    UNITS,
    LocalTable,
    key_roles,
    loss_roles,
)
from sqlanon.methods.local.settling import TABLES, Parts
from sqlanon.methods.stages import Stopped
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries.coded_labels import at_level
from sqlanon.queries.encoding import VALUE
from sqlanon.queries.kit.macros import as_read
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    cast,
    column,
    f,
    number,
    own_type,
    select,
    string,
    union_all,
)
from sqlanon.queries.layout import MASK

IN_ORDER = Relation("anon_values_in_order", "node")  # the values of ordered quasi-identifiers, with their ranks
ORDERED = Relation("anon_ordered_keys", "cell")  # the value of each key in each of them
SIDES = Relation("anon_sides", "cell")  # the keys of the open classes, by the sides of all possible splits
WIDTHS = Relation("anon_widths", "class")  # the loss of a row by the label of its class of each quasi-identifier

SQL = Queries("mondrian", {"ordered": ORDERED, "in_order": IN_ORDER, "parts": PARTS, "levels": LEVELS})


@dataclass(frozen=True)
class Partition:
    """The summary of a partition, whose classes are in ``PARTS`` and ``LEVELS``."""

    class_count: int
    losses: Sequence[float]  # by quasi-identifier, the mean over rows of the label's loss, in [0, 1]
    is_final: bool  # False if it was stopped, so that classes could be smaller

    @property
    def loss(self) -> float:
        return sum(self.losses) / len(self.losses)


@dataclass(frozen=True)
class InIntervals(PerClass):
    """The labels of classes, which are intervals of the values of ordered quasi-identifiers."""

    class_count: int = 0

    @property
    def class_list(self) -> exp.Query:
        return SQL.query("class_list", listed=super().class_list, mask=string(MASK))

    def label_count(self, position: int) -> int:
        return max(self.class_count, 1)


def partitioned(engine: Compute, source: EncodedTable, ordered: Sequence[str], stopped: Stopped) -> Partition:
    """Split all rows into classes, the widest quasi-identifier first.

    Raises:
        UnsatisfiableError: all rows together do not meet the privacy models.
    """
    table = LocalTable(engine, source)
    table.make()
    sql = SQL.given(**key_roles(table.encoding), **loss_roles(table.policy), weighed=KEYS, labels=LABELS)
    sql = sql.given(zeros=[number(0) for _ in table.words])
    _order(table, sql, ordered)
    parts = Parts(table, described=["levels"])
    parts.put("parts", sql.query("one_class"), "one class of all keys")
    is_met = engine.fetch(parts.met([CLASS], parts.make_members()), "all rows as one class", "node")
    if source.context.row_count and not is_met:
        required = f"required: {', '.join(map(str, table.policy.privacy))}"
        raise UnsatisfiableError("all rows together do not meet the privacy models:", [required])
    parts.describe()
    is_final = False
    while not (is_final or stopped()):
        is_final = _split(parts, sql) == 0
    engine.run(sql.step(WIDTHS, "widths"))
    found = engine.fetch(sql.query("partition", widths=WIDTHS), "losses of classes", "node")
    width = len(table.lattice.heights)
    return Partition(
        class_count=max((int(row["classes"]) for row in found), default=0),
        losses=[width * int(row["lost"]) / (UNITS * int(row["rows"])) for row in found] or [0.0] * width,
        is_final=is_final,
    )


def _order(table: LocalTable, sql: Queries, ordered: Sequence[str]) -> None:
    """Make the ranks of the values of ordered quasi-identifiers, and find those of each key."""
    engine, encoding = table.engine, table.encoding
    columns = {found.name: found for found in encoding.spec.columns}
    queries = []
    for name in ordered:
        position = encoding.spec.quasi_identifiers.index(name)
        masks = encoding.keys.label_masks(position, 0)
        words = [column(word) if place in masks else number(0) for place, word in enumerate(table.words)]
        value = exp.TryCast(this=as_read(column(VALUE)), to=own_type(columns[name].type))
        at = cast(value.copy(), "DOUBLE") if columns[name].traits.is_number else f.epoch(value.copy())
        shown = [
            aliased(column("label"), "anon_text"),
            aliased(value, "anon_value"),
            aliased(at, "anon_number"),
            *(aliased(word, key) for word, key in zip(words, table.words, strict=True)),
        ]
        values = at_level(encoding, position, 0, shown).distinct(copy=False)
        queries.append(sql.query("values_in_order", position=position, values=values))
    queries = queries or [sql.query("no_values")]
    engine.run(Step(IN_ORDER, union_all(queries), "values of ordered quasi-identifiers"))
    engine.run(sql.step(ORDERED, "ordered_keys"))


def _split(parts: Parts, sql: Queries) -> int:
    """Split each class that changed in the last round, if it can be split; return the number of keys in new classes."""
    table, sql = parts.table, sql.given(changed=TABLES["changed"])
    parts.engine.run(Step(SIDES, sql.query("sides"), "sides of splits", is_again=True))
    side = [CLASS, "anon_position", "anon_is_beyond", *table.words]
    met = parts.met(side, parts.cells_of(select([exp.Star()], SIDES.table), side, KEY))
    moved, _ = parts.move(sql.query("splits", sides=SIDES, met=met, widths=sql.query("widths")))
    return moved
