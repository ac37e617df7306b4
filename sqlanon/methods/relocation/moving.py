"""Move the rows of small classes of a node to large ones, by ``sql/relocation.sql``.

Classes are compared by the bits of their keys, which hold the labels of all levels: two labels have the same label
above them at a level if they agree in its bits and in those of all higher levels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.model.lattice import Levels
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries.class_measures import KEPT, class_relation, within
from sqlanon.queries.coded_labels import has_bits
from sqlanon.queries.encoding import ROW_COUNT, VALUE, Encoding
from sqlanon.queries.grouping import by_key
from sqlanon.queries.kit.macros import exact_text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_columns,
    all_of,
    bits,
    c,
    column,
    double,
    f,
    filtered,
    grouped,
    left_join,
    number,
    select,
    subquery,
)

MAX_PAIRS = 10_000_000
"""The pairs of classes to compare, unless :data:`MIN_NEIGHBOURS` makes them more: a second's work
(tests.benchmarks.relocation).
"""

MIN_NEIGHBOURS = 64
"""The large classes on either side, in key order, that an outlier class is compared with.

Rows then move less than 2 % further than if all were compared (tests.benchmarks.relocation).
"""

DIGITS = 12  # of compared distances, so that equal ones are equal in whatever order terms were added

RANKED = Relation("anon_ranked_classes", "class")  # the classes of the node, those of k rows first, larger ones first
OUTLIERS = Relation("anon_outlier_classes", "class")  # of fewer than k rows, with the losses of their labels and above
MOVES = Relation("anon_moves", "class")  # the target of each outlier class, and its distance
MOVED = Relation("anon_moved_cells", "cell")  # the cells of the node, each in its target class

SQL = Queries("relocation", {"ranked": RANKED, "outliers": OUTLIERS, "moves": MOVES})


@dataclass(frozen=True)
class Moves:
    rows: int
    classes: int
    mean_distance: float | None  # None if no row was moved
    is_exact: bool  # whether each class was compared with all possible targets


def move(engine: Compute, table: EncodedTable, levels: Levels) -> tuple[EncodedTable, Moves]:
    """Move the rows of classes that are too small, and return the table with its new cells."""
    encoding = table.encoding
    engine.run(ranked(encoding, levels))
    counts = engine.fetch(SQL.query("class_counts"), "classes that are too small")[0]
    neighbours = max(MIN_NEIGHBOURS, MAX_PAIRS // (2 * max(counts["small"], 1)))
    for step in (
        outliers(encoding, levels),
        moves(encoding, levels, min(neighbours, max(counts["large"], 1))),
        moved(encoding, levels),
    ):
        engine.run(step)
    distance = engine.fetch(SQL.query("mean_distance"), "how far they go")[0]["distance"]
    made = Moves(int(counts["rows"]), int(counts["small"]), distance, neighbours >= counts["large"])
    return replace(table, encoding=replace(encoding, cells=MOVED)), made


def ranked(encoding: Encoding, levels: Levels) -> Step:
    grouping = by_key(encoding, levels, carried=[ROW_COUNT])
    sizes = subquery(class_relation(grouping, with_keys=True), "anon_sizes")
    judged = select([exp.Star(), aliased(within(encoding, encoding.criteria.bounds), KEPT)], sizes)
    return SQL.step(RANKED, "ranked", keys=grouping.keys, judged=judged)


def outliers(encoding: Encoding, levels: Levels) -> Step:
    query = select([all_columns("anon_classes")], exp.alias_(RANKED.table, "anon_classes", table=True))
    for position, level in enumerate(levels):
        alias = f"anon_losses_{position}"
        on = has_bits(encoding, encoding.keys.label_masks(position, level), "anon_classes", alias)
        query = left_join(query, subquery(_losses_above(encoding, position, level), alias), on)
        depths = range(level, encoding.spec.shapes[position].height + 1)
        query = query.select(*(column(_loss(position, depth), alias) for depth in depths), copy=False)
    query = query.where(column(KEPT, "anon_classes").not_(), copy=False)
    return Step(OUTLIERS, query, "classes that are too small")


def moves(encoding: Encoding, levels: Levels, neighbours: int) -> Step:
    """Make :data:`MOVES`; each outlier class is compared with this number of large classes on either side."""
    keys = by_key(encoding, levels).keys
    both = {key: (column(key, "anon_outliers"), column(key, "anon_large")) for key in keys}
    losses = [
        column(_loss(position, depth), "anon_outliers")
        for position, level in enumerate(levels)
        for depth in range(level, encoding.spec.shapes[position].height + 1)
    ]
    terms = [_shared_loss(encoding, position, level) for position, level in enumerate(levels)]
    return SQL.step(
        MOVES,
        "moves",
        keys=keys,
        targets=[aliased(large, _target(key)) for key, (_, large) in both.items()],
        differing=[
            aliased(exp.BitwiseXor(this=outlier, expression=large), key) for key, (outlier, large) in both.items()
        ],
        losses=losses,
        distance=f.round(exp.paren(reduce(add, terms)) / number(len(terms)), DIGITS),
        neighbours=neighbours,
    )


def moved(encoding: Encoding, levels: Levels) -> Step:
    codes = [encoding.sensitive(name) for name in encoding.spec.protected]
    raw = [encoding.raw(name) for name in encoding.spec.protected]
    grouping = by_key(encoding, levels, carried=[*codes, *raw, ROW_COUNT])
    words = encoding.word_columns
    there = {key: f.coalesce(column(_target(key), "anon_moves"), column(key, "anon_here")) for key in grouping.keys}
    return SQL.step(
        MOVED,
        "moved",
        cells=grouping.cells(),
        keys=grouping.keys,
        new_keys=[aliased(word, key) for key, word in there.items()],
        codes=codes,
        raw=raw,
        unused_words=[aliased(number(0), key) for key in words if key not in grouping.keys],
        values=[aliased(f.any_value(column(name)), name) for name in raw],
    )


def changed_values(engine: Compute, table: EncodedTable, written: exp.Expr) -> int:
    """Count the source rows whose values beside the quasi-identifiers are missing from the written rows."""
    encoding = table.encoding
    names = encoding.spec.protected
    query = SQL.query(
        "changed_values",
        cells=encoding.cells,
        written=written,
        names=names,
        given=[aliased(exact_text(column(encoding.raw(name))), name) for name in names],
        found=[aliased(exact_text(column(name)), name) for name in names],
    )
    return int(engine.fetch(query, "values that were written")[0]["rows"] or 0)


def _losses_above(encoding: Encoding, position: int, level: int) -> exp.Select:
    """Select the losses of the labels of a level and above, one row per label, with its bits in keys."""
    depths = range(level, encoding.spec.shapes[position].height + 1)
    words = [encoding.key(word) for word in encoding.keys.label_masks(position, level)]
    columns = [aliased(filtered(f.max(column(word)), c.depth.eq(number(level))), word) for word in words]
    columns += [aliased(filtered(f.max(c.lm), c.depth.eq(number(depth))), _loss(position, depth)) for depth in depths]
    labels = select(columns, encoding.labels.table).where(c.position.eq(number(position)), copy=False)
    return grouped(labels, [column(VALUE)]).distinct(copy=False)


def _shared_loss(encoding: Encoding, position: int, level: int) -> exp.Expr:
    """Return the loss of the lowest common label of two classes in a quasi-identifier; 1 if there is none."""
    ifs: list[exp.If] = []
    for depth in range(level, encoding.spec.shapes[position].height + 1):
        masks = encoding.keys.label_masks(position, depth)
        loss = column(_loss(position, depth))
        if not masks:
            return exp.Case(ifs=ifs, default=loss) if ifs else loss
        agree = [
            exp.Paren(this=bits(column(encoding.key(word)), number(mask))).eq(number(0)) for word, mask in masks.items()
        ]
        ifs.append(exp.If(this=all_of(agree), true=loss))
    return exp.Case(ifs=ifs, default=double(1))


def _loss(position: int, depth: int) -> str:
    return f"anon_loss_{position}_{depth}"


def _target(key: str) -> str:
    return f"{key}_there"
