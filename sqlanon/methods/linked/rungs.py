"""The rows of one of several linked tables, and the rungs that show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.keyed_rows import KeyedRows
from sqlanon.model.lattice import Levels
from sqlanon.queries.encoding import ROW_COUNT
from sqlanon.queries.kit.macros import text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    called,
    column,
    f,
    number,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.linked import ROW
from sqlanon.queries.recodings import AtNode

SQL = Queries("mixed_levels")

CLASS = "anon_class"  # what is shown of the row above, and then of the row itself
LEFT = Relation("anon_rows_left", "row")  # the rows of a table that no rung has shown yet
LABELS = Relation("anon_labels_found", "class")  # the labels that a rung shows


class RungRows(KeyedRows):
    """Rows of a table that stand on rungs."""

    def __init__(self, encoded: EncodedLinked, name: str) -> None:
        super().__init__(encoded, name)
        lattice = self.bound.path.lattice
        self.bottom, self.top = (
            tuple(levels[position] for position in self.positions) for levels in (lattice.bottom, lattice.top)
        )
        self._sql = SQL.given(keys=self.keys, rows=self.relation, left=LEFT, labels=LABELS, k=encoded.policy.k)

    def rung(self, place: int) -> Relation:
        return Relation(f"anon_rung_{self.bound.rows.place}_{place}", "row")

    def all_left(self, above: Sequence[Relation], every: int) -> Step:
        """Make :data:`LEFT` of all rows below those that some rungs show, or of one in ``every`` class of them."""
        if self.bound.rows.parent is None:
            query = self._sql.query("all_persons")
        else:
            rungs = (select([column(ROW), column(CLASS)], each.table) for each in above)
            query = self._sql.query("rows_below", above=union_all(rungs), every=every)
        return Step(LEFT, query, "rows that no rung shows yet", is_again=True)

    def labels(self, levels: Levels, first: int = 0) -> exp.Select:
        """Select the labels of a rung that enough persons of their class have, numbered after the first ones."""
        return self._sql.query("labels_found", masks=self._masks(levels), first=first)

    def label_counts(self, levels: Levels) -> exp.Select:
        """Select one row: the ``labels`` of :data:`LABELS`, their ``rows``, and what these have ``lost``."""
        labels = select([column(ROW_COUNT), *map(column, self.keys)], LABELS.table)
        return SQL.query("label_counts", labels=subquery(self.with_loss(labels, levels), "anon_labels"))

    def row_counts(self, nodes: Sequence[Levels]) -> exp.Select:
        """Select one row: for each node in order the rows that a rung with its levels would show."""
        counts = (f.coalesce(f.sum(column(ROW_COUNT)), 0) for _ in nodes)
        queries = (
            select([each], subquery(self.labels(levels), "anon_labels"))
            for each, levels in zip(counts, nodes, strict=True)
        )
        return exp.Select(expressions=[aliased(exp.paren(each), f"rows_{place}") for place, each in enumerate(queries)])

    def taken(self, levels: Levels, rung: Relation | None) -> Iterator[Step]:
        """Take the rows with :data:`LABELS` from those that are left, and put them on a rung if it is kept."""
        sql = self._sql.given(masks=self._masks(levels))
        if rung is not None:
            yield Step(rung, sql.query("rows_found"), "rows of a rung", is_again=True)
        yield Step(LEFT, sql.query("rows_left"), "rows that no rung shows yet", is_again=True)

    def labelled(self, place: int, levels: Levels) -> exp.Select:
        """Select the rows that a rung shows, with their labels."""
        recoding = AtNode(self.encoding, self.path_levels(levels))
        query = select([column(ROW, "anon_found")], called(self.rung(place).table, "anon_found"))
        for position in self.positions:
            query = recoding.join_label_to_cells(query, "anon_found", position)
        named = zip(map(self.encoding.label, self.positions), self.bound.own, strict=True)
        labels = (aliased(text(column(label)), name) for label, name in named)
        return select([column(ROW), *labels], subquery(query, "anon_labelled"))

    def _masks(self, levels: Levels) -> list[exp.Expr]:
        masks = self.masks(levels)
        return [number(masks.get(key, 0)) for key in self.keys]
