"""What specializations and splits are worth: counts by candidate, child and class, and the scores made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
from sqlglot import exp

from sqlanon.methods.cuts.shared.pieces import Piece, Specialization
from sqlanon.methods.cuts.shared.queries.points import SQL
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.nodes import Relation, c, cast, column, f, identifier, union_all

CHILDREN = Relation("anon_children", "node")
"""The children of candidates, or the intervals to split, which are children of themselves."""

CANDIDATE = "candidate"


def children(candidates: Iterable[tuple[int, Specialization]]) -> pa.Table:
    """The rows of :data:`CHILDREN`, of candidates by their number."""
    return _pieces((number, place, child) for number, each in candidates for place, child in enumerate(each.children))


def intervals(pieces: Sequence[Piece]) -> pa.Table:
    """The rows of :data:`CHILDREN`, of intervals by their place."""
    return _pieces((place, 0, piece) for place, piece in enumerate(pieces))


def child_counts() -> exp.Select:
    """``candidate``, ``child``, ``class`` and ``row_count`` of the candidates of predictors that are no sets."""
    return _counts(CANDIDATE, "child", "class")


def value_counts() -> exp.Select:
    """``candidate`` (the place of an interval), ``value``, ``class`` and ``row_count`` of intervals."""
    return _counts(CANDIDATE, "value", "class")


def scores(counts: Sequence[exp.Query], utility: str, whole: int) -> exp.Select:
    """``candidate`` and ``score``: of specializations, by counts of their children."""
    return _scored("specialization_scores", union_all(counts), utility, whole)


def split_scores(utility: str, whole: int) -> exp.Select:
    """``candidate`` (the place of an interval), ``value`` and ``score`` of a split behind it, in this order."""
    return _scored("split_scores", value_counts(), utility, whole)


def _scored(macro: str, counts: exp.Query, utility: str, whole: int) -> exp.Select:
    """What a macro makes of counts, with the score that is asked for: rows, or parts of a bit."""
    scored = table_call(macro, exp.Table(this=identifier("anon_counts")))
    score = cast(f.floor(c.information_gain * whole) if utility == "infogain" else c.max_score, "BIGINT")
    return SQL.query(macro, counts=counts, scored=scored, score=score)


def _counts(*keys: str) -> exp.Select:
    """The rows of marginals that lie in pieces of :data:`CHILDREN`, by some columns of either."""
    places = {CANDIDATE: "anon_pieces", "child": "anon_pieces"}
    named = [column(key, places.get(key, "anon_rows")) for key in keys]
    return SQL.query("counts_in", pieces=CHILDREN, keys=named)


def _pieces(rows: Iterable[tuple[int, int, Piece]]) -> pa.Table:
    found = [(number, child, *piece) for number, child, piece in rows]
    names = (CANDIDATE, "child", "position", "first", "end")
    columns = zip(*found, strict=True) if found else ([] for _ in names)
    return pa.table({name: pa.array(each, pa.int64()) for name, each in zip(names, columns, strict=True)})
