"""The cells of a source that is read in pieces: those of each piece by their keys, put together at the end.

Keys take a tenth of the room of the values that they stand for, so that the cells of all pieces are grouped where the
rows could not be.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.queries.cells.encoding import IS_UNMAPPED, ROW_COUNT, WEIGHT, Encoding, row_sum
from sqlanon.queries.cells.rows import COMBINATIONS, cells_of, combinations, looked_up
from sqlanon.queries.kit.nodes import Relation, Step, aliased, column, count_rows, grouped, select, subquery

PIECES = Relation("anon_pieces", "cell")
"""The cells of all pieces: those that several pieces have stand there as often."""


def cells_of_piece(encoding: Encoding, piece: exp.Expr) -> Step:
    """The step that makes the cells of a piece, or adds them to those of others."""
    found = subquery(combinations(encoding, piece), COMBINATIONS)
    others = [column(name, COMBINATIONS) for name in (*_others(encoding), *_counts(encoding))]
    return Step(PIECES, looked_up(encoding, found).select(*others, copy=False), "cells of a piece")


def cells_of_pieces(encoding: Encoding) -> Step:
    """The step that makes the cells of the source from those of its pieces."""
    keys = [*_keys(encoding), *_others(encoding)]
    found = grouped(select([*map(column, keys), row_sum()], PIECES.table), [column(name) for name in keys])
    if encoding.spec.row_weight is not None:
        found = found.select(_weight(), copy=False)
    return Step(encoding.cells, cells_of(encoding, found, _as_they_are), "cells")


def row_count(encoding: Encoding) -> exp.Query:
    """One row, ``rows``: those that the source has."""
    return select([aliased(count_rows(), "rows")], encoding.spec.source.copy())


def _as_they_are(encoding: Encoding, relation: exp.Expr) -> exp.Select:
    """Combinations that have the words of their keys already."""
    return select([column(name, COMBINATIONS) for name in _keys(encoding)], relation)


def _keys(encoding: Encoding) -> list[str]:
    """The columns that tell by which labels a cell goes."""
    return [*(encoding.key(word) for word in range(encoding.keys.word_count)), IS_UNMAPPED]


def _others(encoding: Encoding) -> list[str]:
    """What tells cells of the same key apart."""
    spec = encoding.spec
    return [*spec.protected, *([] if spec.individual is None else [spec.individual])]


def _counts(encoding: Encoding) -> list[str]:
    return [ROW_COUNT, *([] if encoding.spec.row_weight is None else [WEIGHT])]


def _weight() -> exp.Alias:
    """The weights of all pieces; NULL where one of them is."""
    known = exp.func("bool_and", exp.Not(this=column(WEIGHT).is_(exp.null())))
    return aliased(exp.Case(ifs=[exp.If(this=known, true=exp.Sum(this=column(WEIGHT)))]), WEIGHT)
