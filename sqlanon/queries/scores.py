"""What a private method chooses a node by: its score, of the combinations that enough rows have.

The keys of cells have their sensitive value in them, so that a combination is a class by such keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.queries import taxonomies
from sqlanon.queries.encoding import ROW_COUNT, CellSpec, Encoding, row_sum
from sqlanon.queries.grouping import Grouping, of_all_nodes
from sqlanon.queries.information import labelled_values
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, aliased, all_bits, c, cast, column, number, string
from sqlanon.queries.label_losses import LabelLosses, in_units
from sqlanon.queries.measures import level_map

SQL = Queries("noise")

WHOLE = 1 << 30
"""Losses of labels are counted in parts of this: integers, whose sums no order of rows can change."""

ROWS = "anon_rows"

KEYED_CELLS = Relation("anon_keyed_cells", "cell")
"""The cells with their sensitive value in the bits of their key: one number is grouped faster than two."""


def by_combination(encoding: Encoding, largest: int) -> Encoding:
    """The encoding of :data:`KEYED_CELLS`: its classes are combinations, with the sensitive value in their keys."""
    spec = replace(encoding.spec, protected=(), protected_shapes={})
    return replace(encoding, spec=spec, cells=KEYED_CELLS, keys=encoding.keys.with_number(largest))


def keyed_cells(encoding: Encoding, combined: Encoding) -> Step:
    """The step that makes :data:`KEYED_CELLS`, in the order of their keys."""
    (name,) = encoding.spec.protected
    place = combined.keys.always
    assert place is not None
    value = cast(column(encoding.sensitive(name)), "BIGINT")
    words: dict[int, exp.Expr] = {word: column(encoding.key(word)) for word in range(encoding.keys.word_count)}
    words[place.word] = all_bits([words[place.word], value]) if place.word in words else value
    return SQL.step(
        KEYED_CELLS,
        "keyed_cells",
        cells=encoding.cells,
        words=[aliased(word, encoding.key(index)) for index, word in words.items()],
        keys=[encoding.key(index) for index in words],
    )


def level_losses(encoding: Encoding) -> exp.Query:
    """``position``, ``depth``, ``lost`` and ``most``: what the rows lose by their labels at every level, and the most.

    In parts of :data:`WHOLE`, rounded as in scores: what the labels of a node lose is the sum over its levels.
    """
    part = in_units(c.anon_ncp, WHOLE / len(encoding.spec.shapes))
    return SQL.query("level_losses", levels=labelled_values(encoding), part=part)


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
    return SQL.query("node_scores", scored=combinations, whole=WHOLE, threshold=threshold)


def diagnostics(spec: CellSpec, node: Mapping[str, int], written: exp.Expr) -> exp.Query:
    """One row with measures of ``anon.information_loss`` and ``anon.class_changes``; NULL where there are no rows."""
    (sensitive,) = spec.protected
    loss, changes = (
        table_call(macro, spec.source.copy(), written.copy(), level_map(node), string(sensitive))
        for macro in ("information_loss", "class_changes")
    )
    return taxonomies.at(SQL.query("diagnostics", loss=loss, changes=changes), spec.taxonomy)
