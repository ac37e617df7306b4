"""How suppression falls on the labels of each quasi-identifier: rows, and suppressed rows."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.model.recoding import AtLevel
from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding, row_sum
from sqlanon.queries.cells.labels import label_bits
from sqlanon.queries.classes.grouping import by_key, with_bits
from sqlanon.queries.classes.summaries import kept_keys
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    bits,
    column,
    grouped,
    left_join,
    number,
    select,
    subquery,
    union_all,
)

JUDGED_CELLS = Relation("anon_judged_cells", "cell")
"""The keys of the cells, with their rows and those that are suppressed."""

SUPPRESSED_ROWS = "anon_suppressed_rows"


def judged_cells(encoding: Encoding, levels: Levels) -> Step:
    """The step that makes :data:`JUDGED_CELLS` at a node."""
    grouping = by_key(encoding, levels)
    kept = kept_keys(grouping).select(aliased(exp.true(), "anon_is_kept"), copy=False)
    masks = encoding.keys.node_masks(levels)
    same = all_of(
        [
            exp.Paren(this=bits(column(encoding.key(word), "anon_cells"), number(mask))).eq(
                column(encoding.key(word), "anon_kept")
            )
            for word, mask in masks.items()
        ]
    )
    words = [column(encoding.key(word), "anon_cells") for word in range(encoding.keys.word_count)]
    rows = column(ROW_COUNT, "anon_cells")
    is_kept = column("anon_is_kept", "anon_kept")
    suppressed = exp.case().when(is_kept, number(0)).else_(rows.copy())
    query = select(
        [*words, rows, aliased(suppressed, SUPPRESSED_ROWS)],
        encoding.cells.table.as_("anon_cells", quoted=True, table=True),
    )
    return Step(JUDGED_CELLS, left_join(query, subquery(kept, "anon_kept"), same), "suppressed cells")


def rows_by_label(encoding: Encoding, depths: Mapping[int, int], fewest: int) -> exp.Query:
    """``position``, ``label``, ``rows`` and ``suppressed_rows`` of the labels of some levels, by position.

    Labels of fewer rows than ``fewest`` are left out.
    """
    return union_all(_rows_by_label(encoding, position, depth, fewest) for position, depth in depths.items())


def _rows_by_label(encoding: Encoding, position: int, depth: int, fewest: int) -> exp.Select:
    masks = encoding.keys.label_masks(position, depth)
    words = [
        aliased(bits(column(encoding.key(word)), number(mask)), encoding.key(word)) for word, mask in masks.items()
    ]
    counts = [row_sum(), row_sum(SUPPRESSED_ROWS, SUPPRESSED_ROWS)]
    groups = grouped(select([*words, *counts], JUDGED_CELLS.table), [each.this.copy() for each in words])
    labels = subquery(label_bits(encoding, position, depth, [column("label")]), "anon_labels")
    query = select(
        [
            aliased(number(position), "position"),
            aliased(column("label", "anon_labels"), "label"),
            aliased(column(ROW_COUNT, "anon_groups"), "rows"),
            aliased(column(SUPPRESSED_ROWS, "anon_groups"), "suppressed_rows"),
        ],
        subquery(groups, "anon_groups"),
    )
    query = left_join(query, labels, with_bits(encoding, position, AtLevel(depth), "anon_groups", "anon_labels"))
    return query.where(exp.GTE(this=column(ROW_COUNT, "anon_groups"), expression=number(fewest)), copy=False)
