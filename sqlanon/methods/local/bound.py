"""A lower bound of what any local recoding loses: all rows have the cheapest labels that enough rows share.

No recoding loses less, whichever rows it leaves out and whatever else it asks of classes: all rows of a class have its
labels in the whole table, too. The nodes are looked at in boxes, those of the least loss first: few keys can have
cheaper labels in a box than the ones that are known.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from functools import partial

from sqlglot import exp

from sqlanon.methods.local.table import KEY, KEYS, LABELS, SQL, UNITS, LocalTable
from sqlanon.model.lattice import Levels, total
from sqlanon.queries.classes.grouping import NODE
from sqlanon.queries.kit.nodes import (
    PreparedQuery,
    Relation,
    Step,
    aliased,
    bits,
    cast,
    column,
    given_lists,
    number,
    subquery,
)

MAX_BOX_NODES = 16
"""The most nodes of a box: of more, more keys may have cheaper labels somewhere in it."""

BOXES_AT_ONCE = 16
"""The boxes of a statement."""

LADDERS = Relation("anon_ladders", "cell")
"""The keys, and what their labels lose, level by level of all quasi-identifiers (``anon_losses``)."""

CHEAPEST = Relation("anon_cheapest", "cell")
"""What keys lose at their cheapest labels that enough rows share, as far as they are known."""

Box = Sequence[Levels]
"""All nodes between its first and its last one."""


def lower_bound(table: LocalTable) -> float:
    """The mean over rows of the least loss of labels under which the whole table has enough rows, or 1.

    Args:
        table: the table.
    """
    engine, words = table.engine, table.words
    masked = table.masked("anon_weighed", "anon_masks")
    query = SQL.query("ladders", weighed=KEYS, masks=table.label_masks(), labels=LABELS, keys=words, masked=masked)
    engine.run(Step(LADDERS, query, "losses of keys"))
    empty = exp.select(*(aliased(cast(number(0), "BIGINT"), name) for name in (KEY, "anon_loss")))
    engine.run(Step(CHEAPEST, empty.where(exp.false()), "cheapest labels"))
    engine.prepare(
        "anon_cheapest_labels", exp.Insert(this=CHEAPEST.table, expression=_cheaper(table)), "cheapest labels"
    )
    boxes = _boxes(table)
    for start in (0, *range(1, len(boxes), BOXES_AT_ONCE)):
        batch = boxes[start : start + BOXES_AT_ONCE] if start else boxes[:1]
        nodes = [(number, node) for number, box in enumerate(batch) for node in box]
        given = (
            [*range(len(batch))],
            *_columns(table.masks(box[-1]) for box in batch),
            *_columns(_places(table, box[0]) for box in batch),
            [*range(len(nodes))],
            [number for number, _ in nodes],
            *_columns(table.masks(node) for _, node in nodes),
            *_columns(_places(table, node) for _, node in nodes),
        )
        engine.fetch(PreparedQuery("anon_cheapest_labels", given), "cheapest labels", "count")
    query = SQL.query("least_loss", ladders=LADDERS, cheapest=CHEAPEST, units=UNITS)
    row = engine.fetch(query, "least loss", "count")[0]
    return int(row["lost"]) / (UNITS * max(int(row["mass"]), 1))


def _cheaper(table: LocalTable) -> exp.Select:
    words, width = table.words, len(table.lattice.heights)
    places = [f"anon_place_{place}" for place in range(width)]
    of_boxes = ["anon_box", *table.mask_columns, *places]
    of_nodes = [NODE, "anon_box", *table.mask_columns, *places]

    def losses(keys: str, nodes: str) -> exp.Expr:
        added: exp.Expr = number(0)
        for place in places:
            loss = exp.Bracket(this=column("anon_losses", keys), expressions=[column(place, nodes)], offset=1)
            added = exp.Add(this=added, expression=loss)
        return added

    boxed = [f"anon_boxed_{word}" for word in words]
    return SQL.query(
        "cheapest_labels",
        ladders=LADDERS,
        cheapest=CHEAPEST,
        boxes=subquery(given_lists(of_boxes), "anon_boxes"),
        nodes=subquery(given_lists(of_nodes, len(of_boxes)), "anon_nodes"),
        keys=words,
        least_losses=losses("anon_ladders", "anon_boxes"),
        boxed=[
            aliased(bits(column(word, "anon_ladders"), column(mask, "anon_boxes")), name)
            for word, mask, name in zip(words, table.mask_columns, boxed, strict=True)
        ],
        boxed_keys=boxed,
        masked=table.masked("anon_live", "anon_nodes"),
        losses=losses("anon_live", "anon_nodes"),
        units=UNITS,
        k=table.policy.criteria.k,
    )


def _boxes(table: LocalTable) -> list[Box]:
    """The lattice in boxes over the quasi-identifiers whose levels lose least, by what the table loses at the least."""
    lattice, losses = table.lattice, table.level_losses()
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


def _places(table: LocalTable, node: Levels) -> list[int]:
    """By quasi-identifier the place of its level among what all labels of a key lose, from 1."""
    firsts = itertools.accumulate((height + 1 for height in table.lattice.heights[:-1]), initial=1)
    return [first + level for first, level in zip(firsts, node, strict=True)]


def _columns(rows: Iterable[Sequence[int]]) -> list[list[int]]:
    return [list(each) for each in zip(*rows, strict=True)]
