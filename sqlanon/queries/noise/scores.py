"""What a private method chooses a node by: its score, of the combinations that enough rows have.

The keys of cells have their sensitive value in them, so that a combination is a class by such keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding, row_sum
from sqlanon.queries.cells.information import labelled_values
from sqlanon.queries.classes.grouping import Grouping, of_all_nodes
from sqlanon.queries.classes.label_losses import LabelLosses, in_units
from sqlanon.queries.kit.macros import template
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_bits,
    ascending,
    cast,
    column,
    grouped,
    number,
    over,
    select,
    subquery,
)

WHOLE = 1 << 30
"""Losses of labels are counted in parts of this: integers, whose sums no order of rows can change."""

ROWS = "anon_rows"

KEYED_CELLS = Relation("anon_keyed_cells", "cell")
"""The cells with their sensitive value in the bits of their key: one number is grouped faster than two."""


def largest_value(encoding: Encoding) -> exp.Query:
    """One row, ``largest``: the largest code of a sensitive value."""
    (name,) = encoding.spec.protected
    largest = exp.func("coalesce", exp.Max(this=column(encoding.sensitive(name))), number(0))
    return select([aliased(largest, "largest")], encoding.cells.table)


def by_combination(encoding: Encoding, largest: int) -> Encoding:
    """The encoding of :data:`KEYED_CELLS`: its classes are combinations, with the sensitive value in their keys."""
    spec = replace(encoding.spec, protected=(), protected_shapes={})
    return replace(encoding, spec=spec, cells=KEYED_CELLS, keys=encoding.keys.telling(largest))


def keyed_cells(encoding: Encoding, combined: Encoding) -> Step:
    """The step that makes :data:`KEYED_CELLS`, in the order of their keys."""
    (name,) = encoding.spec.protected
    place = combined.keys.always
    assert place is not None
    value = cast(column(encoding.sensitive(name)), "BIGINT")
    words: dict[int, exp.Expr] = {word: column(encoding.key(word)) for word in range(encoding.keys.word_count)}
    words[place.word] = all_bits([words[place.word], value]) if place.word in words else value
    columns = [aliased(word, encoding.key(index)) for index, word in words.items()]
    query = select([*columns, column(ROW_COUNT)], encoding.cells.table)
    query.set("order", ascending(*(column(encoding.key(index)) for index in words)))
    return Step(KEYED_CELLS, query, "cells with their values in their keys")


def level_losses(encoding: Encoding) -> exp.Query:
    """``position``, ``depth``, ``lost`` and ``most``: what the rows lose by their labels at every level, and the most.

    In parts of :data:`WHOLE`, rounded as in scores: what the labels of a node lose is the sum over its levels.
    """
    part = in_units(column("anon_ncp"), WHOLE / len(encoding.spec.shapes))
    values = select([exp.Star(), aliased(part, "anon_part")], subquery(labelled_values(encoding), "anon_levels"))
    lost = cast(exp.Sum(this=exp.Mul(this=column("anon_value_rows"), expression=column("anon_part"))), "BIGINT")
    keys = [column("position"), column("depth")]
    most = exp.Max(this=column("anon_part"))
    return grouped(select([*keys, aliased(lost, "lost"), aliased(most, "most")], subquery(values, "anon_parts")), keys)


def node_scores(
    encoding: Encoding, batch: Sequence[Levels], threshold: int, *, cells: Relation | None, apart: bool
) -> exp.Query:
    """``node``, ``row_count`` and ``score`` of the combinations that reach a threshold at each node of a batch.

    The encoding is that of :func:`by_combination`.

    Scores are in parts of :data:`WHOLE` of a row. All rows of other combinations are at risk, so that their part of the
    score is known without a look at what their labels lose. Nodes without any that reach it are left out.
    """

    def reaching(grouping: Grouping) -> exp.Select:
        query = grouping.select([row_sum(name=ROWS)], grouping.cells())
        reached = exp.GTE(this=exp.Sum(this=column(ROW_COUNT)), expression=number(threshold))
        query.set("having", exp.Having(this=reached))
        return query

    losses = LabelLosses(encoding, batch, ("ncp",), units=WHOLE)
    combinations = losses.beside(of_all_nodes(encoding, batch, cells, reaching, apart=apart))
    known = [aliased(number(WHOLE), "anon_whole"), aliased(number(threshold), "anon_threshold")]
    return over(template("node_score"), select([exp.Star(), *known], subquery(combinations, "anon_scored")))
