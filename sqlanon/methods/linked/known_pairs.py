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

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.keyed_rows import KeyedRows
from sqlanon.methods.linked.known_row import KnownRowCounter, table_counts
from sqlanon.methods.linked.node_counts import NodeCounts, TableCounts, is_within_limits
from sqlanon.methods.linked.shown_rows import drawn_blocks, show_classes, show_kept_classes, shown
from sqlanon.model.lattice import Levels
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, bits, column, number, select, subquery, union_all

SQL = Queries("linked_pairs")

ITEMS = Relation("anon_pair_items", "class")
"""The items of a node, to be shown or hidden."""
IS_SINGLE = "anon_is_single"  # whether each person shows one row of an item


class KnownPairsCounter(KnownRowCounter):
    """Counts what nodes leave out for attackers who know two rows of a person."""

    def __init__(self, engine: Compute, encoded: EncodedLinked) -> None:
        super().__init__(engine, encoded)
        self._root = encoded.policy.root
        self._places = {name: encoded.bound.tables[name].rows.place for name in self.counted}
        self._counted: dict[Levels, NodeCounts] = {}
        # All tables have the words of the longest key.
        self._words = max((encoded.tables[name].encoding.word_columns for name in self._places), key=len)

    def bounds(self, nodes: Sequence[Levels]) -> list[NodeCounts]:
        """Count one known row, by rows, and where the limits of tables allow that, two.

        The bound of one row is of little use against less general nodes, so it serves only where it rules them out.
        """
        return [
            self._count(counts.levels) if is_within_limits(self._encoded, counts) else counts
            for counts in super().bounds(nodes)
        ]

    def counts(self, nodes: Sequence[Levels], *, with_losses: bool) -> list[NodeCounts]:
        counted = map(self._count, nodes)
        return [self._with_losses(each) for each in counted] if with_losses else [*counted]

    def show(self, levels: Levels) -> None:
        show_kept_classes(self._engine, self._encoded, levels, [self._root])
        self._keep_items(levels)
        for name, place in self._places.items():
            table, recoding = self._encoded.bound.tables[name], self._encoded.recoding(name, levels)
            items = SQL.query("shown_items", items=ITEMS, words=self._words, place=place)
            kept = recoding.join_codes(
                select([column(IS_SINGLE, "anon_kept")], subquery(items, "anon_kept")), "anon_kept"
            )
            show_classes(self._engine, self._encoded, name, levels, kept, [IS_SINGLE])
            step = SQL.step(shown(table), "single_rows", shown=shown(table), rows=table.rows.relation, labels=table.own)
            self._engine.run(replace(step, is_again=True), drawn_blocks())

    def _count(self, levels: Levels) -> NodeCounts:
        """Count a node once, without losses."""
        if levels not in self._counted:
            [persons] = self._tables[self._root].counts([levels], with_losses=False)
            query = SQL.query("item_counts", items=self._items(levels))
            by_place = {row["anon_place"]: row for row in self._engine.fetch(query, "pairs of known rows")}
            tables = {self._root: table_counts(self._encoded, self._root, persons)}
            for name, place in self._places.items():
                rows = self._encoded.tables[name].context.row_count
                found = by_place.get(place, {"rows": 0, "shown": 0, "least": 0})
                tables[name] = TableCounts(rows - found["shown"], rows - found["rows"] + found["least"])
            self._counted[levels] = NodeCounts(levels, persons.class_count, persons.kept_class_count, tables)
        return self._counted[levels]

    def _with_losses(self, counts: NodeCounts) -> NodeCounts:
        [persons] = self._tables[self._root].counts([counts.levels], with_losses=True)
        tables = {**counts.tables, self._root: table_counts(self._encoded, self._root, persons)}
        lacking = [name for name in self._places if tables[name].left_out and self._encoded.weights[name]]
        if lacking:
            self._keep_items(counts.levels)
        for name in lacking:
            tables[name] = replace(tables[name], loss=self._loss(name, counts.levels, tables[name].left_out))
        return replace(counts, tables=tables)

    def _loss(self, name: str, levels: Levels, left_out: int) -> float:
        """Return the loss of a table, by the labels of its shown items."""
        items = SQL.query("shown_items", items=ITEMS, words=self._words, place=self._places[name])
        items = KeyedRows(self._encoded, name).with_loss(items, self._encoded.own_levels(name, levels))
        query = SQL.query("lost", shown=subquery(items, "anon_shown"))
        [found] = self._engine.fetch(query, "losses of items")
        return float(found["lost"] + left_out + self._encoded.bound.tables[name].counts.cut) / self._encoded.rows(name)

    def _keep_items(self, levels: Levels) -> None:
        self._engine.run(Step(ITEMS, self._items(levels), "items of known rows", is_again=True))

    def _items(self, levels: Levels) -> exp.Query:
        own = union_all([self._items_of_persons(name, levels) for name in self._places])
        return SQL.query("items", own=own, words=self._words, k=self._encoded.policy.k)

    def _items_of_persons(self, name: str, levels: Levels) -> exp.Query:
        encoding = self._encoded.tables[name].encoding
        masks = encoding.keys.node_masks(self._encoded.path_levels(name, levels))
        of_key = {word: bits(column(encoding.key(word)), number(mask)) for word, mask in masks.items()}
        return SQL.query(
            "items_of_persons",
            cells=encoding.cells,
            place=self._places[name],
            bits=[of_key.get(word, number(0)) for word in range(len(self._words))],
            words=self._words,
            groups=[*of_key.values()],
        )
