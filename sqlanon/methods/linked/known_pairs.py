"""Two known rows: rows are left out by class, so that no two labels are shown that fewer than k persons have together.

An item is a label of rows in a class of persons. Items of fewer than k persons are left out, as for one known row;
where fewer than k persons have two rows of an item, each keeps one. Of two items that fewer than k persons have, one is
left out: that is a vertex cover, found as ``items`` of ``sql/linked_pairs.sql`` says. Facts may be of two tables.

What a cover leaves out is not monotone: a more general node can leave out more rows. Certain is only what every choice
leaves out at every less general node: rows of items of fewer than k persons, second rows, and for each person as many
rows as a cover of the person's own pairs takes at least.

Source: Terrovitis, Mamoulis and Kalnis 2008; spec/linked.md, section 3.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.keyed_rows import ShownRows, TableCounts
from sqlanon.methods.linked.known_row import KnownRowCounter
from sqlanon.methods.linked.node_counts import NodeCounts, is_within_limits
from sqlanon.methods.linked.rungs import Rungs
from sqlanon.methods.linked.written_rows import drawn_blocks
from sqlanon.model.lattice import Levels
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, subquery, union_all

ITEMS = Relation("anon_pair_items", "class")
"""The items of a node, to be shown or hidden."""
SQL = Queries("linked_pairs").given(items=ITEMS)


class KnownPairsCounter(KnownRowCounter):
    """Counts what nodes leave out for attackers who know two rows of a person."""

    def __init__(self, engine: Compute, encoded: EncodedLinked) -> None:
        super().__init__(engine, encoded)
        self._rungs = Rungs(engine, encoded)
        self._known: dict[Levels, dict[str, TableCounts]] = {}

    def bounds(self, nodes: Sequence[Levels]) -> list[NodeCounts]:
        """Count one known row, by rows, and where the limits of tables allow that, two.

        The bound of one row is of little use against less general nodes, so it serves only where it rules them out.
        """
        return [
            self._with_pairs(counts) if is_within_limits(self._encoded, counts) else counts
            for counts in super().bounds(nodes)
        ]

    def counts(self, nodes: Sequence[Levels], *, with_losses: bool) -> list[NodeCounts]:
        return [*map(self._with_pairs, super().counts(nodes, with_losses=with_losses))]

    def show(self, levels: Levels) -> Mapping[str, ShownRows]:
        self._make_items(levels)
        for name in self.counted:
            rung = self._rungs.rung(name)
            step = SQL.step(rung, "shown_rows", rung=rung)
            self._engine.run(replace(step, is_again=True), drawn_blocks())
        return self._rungs.shown()

    def _with_pairs(self, counts: NodeCounts) -> NodeCounts:
        """Replace the counts of the tables below persons, counted once."""
        if counts.levels not in self._known:
            self._make_items(counts.levels)
            rows = {row["place"]: row for row in self._engine.fetch(SQL.query("item_counts"), "pairs of known rows")}
            self._known[counts.levels] = {
                name: self._item_counts(name, counts.levels, rows.get(place, {"rows": 0, "least": 0}))
                for place, name in enumerate(self.counted)
            }
        return replace(counts, tables={**counts.tables, **self._known[counts.levels]})

    def _item_counts(self, name: str, levels: Levels, found: Mapping[str, int]) -> TableCounts:
        table, own = self._rungs.tables[name], self._encoded.own_levels(name, levels)
        labels = SQL.query("shown_labels", labels=self._rungs.labels(name))
        shown = table.label_counts(self._engine, subquery(labels, "anon_labels"), own)
        certain = table.counts(found["rows"], 0).left_out + found["least"]
        return table.counts(shown["rows"], shown["lost"], certain)

    def _make_items(self, levels: Levels) -> None:
        """Put rows on one rung in each table, whose labels are items."""
        self._rungs.put(self._encoded.chains(levels), keeps=True)
        of_tables = enumerate(map(self._rungs.rung, self.counted))
        own = union_all(SQL.query("items_of_persons", rung=rung, place=place) for place, rung in of_tables)
        items = SQL.query("items", own=own, k=self._encoded.policy.k)
        self._engine.run(Step(ITEMS, items, "items of known rows", is_again=True))
