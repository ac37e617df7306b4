"""A lower bound for the loss of any recoding, and an estimate of the loss of local recoding.

No recoding loses less than the cheapest labels that enough rows share, whichever rows it leaves out and whatever else
it asks of classes: in the whole table, too, all rows of a class have its labels. The nodes are visited in boxes, least
loss first: few keys can have cheaper labels in a box than those already known. (Without boxes, node by node, ARX's
Adult takes three times as long.)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial
from operator import add

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.local.class_labels import SQL
from sqlanon.methods.local.local_table import KEY, UNITS, LocalTable, judges_no_classes, level_losses, make_empty
from sqlanon.model.lattice import Levels, total
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries.class_measures import class_relation, within
from sqlanon.queries.grouping import NODE, by_keys, mask_column, masked_nodes
from sqlanon.queries.kit.nodes import PreparedQuery, Relation, column, f, given_lists, number, select, subquery

MAX_BOX_NODES = 16  # per box: in larger ones, more keys may have cheaper labels somewhere
BOXES_AT_ONCE = 16  # per statement
LADDERS = Relation("anon_ladders", "cell")  # the keys, and the losses of their labels, level by level (``anon_losses``)
CHEAPEST = Relation("anon_cheapest", "cell")  # the loss of each key at the cheapest shared labels known so far

SAMPLED_NODES = 60
"""The most nodes to look at, most of them fine.

The estimate is lower where rows need not share a class that others have taken, and higher the fewer nodes there are to
choose from. For ARX's Adult, 30,162 rows, k = 5, it is .056 where local recoding loses .057, and for 3 distinct
occupations .030 where it loses .035; with 160 nodes it would be .043 and .022.
"""

MAX_NODES = 100_000  # of a lattice to estimate: all are sorted
MAX_CELLS = 50_000  # of a table: beyond them the estimate takes a tenth of a second and longer
DIGITS = 9  # of losses that order nodes: the last digits of a mean depend on the order of addition


def lower_bound(table: LocalTable) -> float:
    """Bound the loss: the mean over rows of the least loss of labels that enough rows of the table share, or 1."""
    engine, sql = table.engine, table.sql.given(ladders=LADDERS, cheapest=CHEAPEST)
    engine.run(sql.step(LADDERS, "ladders"))
    make_empty(engine, CHEAPEST, [KEY, "anon_loss"], "cheapest labels")
    heights = table.lattice.heights
    # By quasi-identifier the place of its level in ``anon_losses``, from 1.
    firsts = [*itertools.accumulate((height + 1 for height in heights[:-1]), initial=1)]
    places = [f"anon_place_{place}" for place, _ in enumerate(heights)]

    def losses(keys: str, nodes: str) -> exp.Expr:
        each = (f.list_extract(column("anon_losses", keys), column(place, nodes)) for place in places)
        return sum(each, number(0))

    cheaper = sql.query(
        "cheapest_labels",
        nodes=given_lists([NODE, "anon_box", *table.bits, *places]),
        places=places,
        boxed=[f"anon_boxed_{word}" for word, _ in enumerate(table.words)],
        least_losses=losses("anon_ladders", "anon_boxes"),
        losses=losses("anon_live", "anon_nodes"),
        k=table.policy.criteria.k,
    )
    engine.prepare("anon_cheapest_labels", exp.Insert(this=CHEAPEST.table, expression=cheaper), "cheapest labels")
    boxes = _boxes(table)
    # The box of least loss comes first and by itself: its result spares most of the others.
    for batch in [boxes[:1], *(boxes[at : at + BOXES_AT_ONCE] for at in range(1, len(boxes), BOXES_AT_ONCE))]:
        nodes = ((box, node) for box, nodes_of_box in enumerate(batch) for node in nodes_of_box)
        rows = ((at, box, *table.masks(node), *map(add, firsts, node)) for at, (box, node) in enumerate(nodes))
        given = tuple(map(list, zip(*rows, strict=True)))
        engine.fetch(PreparedQuery("anon_cheapest_labels", given), "cheapest labels", "count")
    row = engine.fetch(sql.query("least_loss"), "least loss", "count")[0]
    return int(row["lost"]) / (UNITS * max(int(row["mass"]), 1))


def _boxes(table: LocalTable) -> list[Sequence[Levels]]:
    """Split the nodes into boxes that span the quasi-identifiers whose levels lose least; least loss first."""
    lattice, losses = table.lattice, table.level_losses
    levels = [range(least, most + 1) for least, most in zip(lattice.bottom, lattice.top, strict=True)]
    size, sides = 1, set[int]()
    for place in sorted(range(len(levels)), key=lambda place: losses[place][lattice.top[place]]):
        size *= len(levels[place])
        if size > MAX_BOX_NODES:
            break
        sides.add(place)
    corners = itertools.product(*([of[0]] if place in sides else of for place, of in enumerate(levels)))
    return [
        [*itertools.product(*(levels[place] if place in sides else [level] for place, level in enumerate(corner)))]
        for corner in sorted(corners, key=partial(total, losses))
    ]


def estimated_loss(engine: Compute, source: EncodedTable) -> float | None:
    """Estimate the loss of rows at the first of a few nodes where their class meets the models; 1 without such a node.

    Returns the mean loss, in [0, 1]; None for too many cells or nodes, row weights, or a model of one node's classes.
    """
    encoding, lattice = source.encoding, source.context.lattice
    is_large = engine.is_far(encoding.cells.table) or source.cell_count > MAX_CELLS or lattice.size > MAX_NODES
    has_classes = source.cell_count > 0 and encoding.keys.word_count > 0 and encoding.spec.row_weight is None
    if is_large or not has_classes or judges_no_classes(encoding.criteria.bounds):
        return None
    losses = level_losses(source)
    ordered = sorted(lattice.nodes(), key=lambda node: (round(total(losses, node), DIGITS), node))
    steps = (step / (SAMPLED_NODES - 1) for step in range(SAMPLED_NODES))
    sample = [ordered[place] for place in dict.fromkeys(round(step**3 * (len(ordered) - 1)) for step in steps)]
    words, nodes = masked_nodes(encoding, sample)
    keys = [encoding.key(word) for word in words]
    classes = subquery(class_relation(by_keys(encoding, sample), with_keys=True), "anon_judged")
    kept = select(map(column, [NODE, *keys]), classes)
    kept = kept.where(within(encoding, encoding.criteria.class_bounds), copy=False)
    own, masks = [f"anon_own_{key}" for key in keys], [*map(mask_column, words)]
    query = SQL.query("first_nodes", cells=encoding.cells, nodes=nodes, kept=kept, keys=keys, bits=masks, own=own)
    found = engine.fetch(query, "rows of nodes", "node")
    saved = math.fsum(row["rows"] * (1 - total(losses, sample[row["node"]])) for row in found)
    return 1 - saved / source.context.row_count
