"""Rows of linked tables on rungs: each is shown at the first of several levels where k persons have its label.

The levels of persons are one rung, and persons of classes of fewer than k are left out. Each other table has a chain of
levels of its own quasi-identifiers, from the least general up. A rung shows the rows whose label at least k persons of
the class have, counting only rows that no rung before showed; after the last rung rows are left out. The class of a row
is that of its person, and below other rows all that is shown of the row above: its class, rung and label.

With one rung in each table, that is a node: it shows what attackers who know one row leave k persons for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.keyed_rows import KeyedRows, ShownRows, TableCounts
from sqlanon.model.lattice import Levels
from sqlanon.queries.encoding import ROW_COUNT
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    column,
    counted_rows,
    f,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.linked import ROW

SAMPLED_ROWS = 50_000  # of some classes of persons: chains are built for them, and nodes estimated by them
MIN_SAMPLED_CLASSES = 12
MIN_SHARE = 0.001  # of a table's rows on a rung that is not the last: smaller ones make labels harder to read

SQL = Queries("rungs")
CLASS = "anon_class"  # what is shown of the row above, and then of the row itself
LEFT = Relation("anon_rows_left", "row")  # the rows of a table that no rung has shown yet

Chains = Mapping[str, Sequence[Levels]]
"""By table the levels of its rungs; that of persons has one rung."""


class Rungs:
    """Puts rows on rungs, one table after another, those of persons first."""

    def __init__(self, engine: Compute, encoded: EncodedLinked) -> None:
        self._engine = engine
        self._encoded = encoded
        self.tables = encoded.keyed
        self._sql = {
            name: SQL.given(
                rows=table.relation, left=LEFT, labels=self.labels(name), keys=table.keys, k=encoded.policy.k
            )
            for name, table in self.tables.items()
        }
        self.chains: dict[str, list[Levels]] = {}

    def rung(self, name: str, place: int = 0) -> Relation:
        return Relation(f"anon_rung_{self.tables[name].bound.rows.place}_{place}", "row")

    def labels(self, name: str) -> Relation:
        """Name the labels that a table's last rung shows; their classes have numbers of their own among all tables."""
        return Relation(f"anon_labels_{self.tables[name].bound.rows.place}", "class")

    def put(self, chains: Chains, *, is_sample: bool = False, keeps: bool = False) -> dict[str, TableCounts]:
        """Put the rows of all tables on rungs, and count what is left out.

        Args:
            chains: of persons, and of other tables; new ones are built for those without.
            is_sample: whether the rows of some classes of persons stand for all.
            keeps: whether the rows of each rung are kept.
        """
        policy, every, labels = self._encoded.policy, 1, 0
        counts: dict[str, TableCounts] = {}
        self.chains = {}
        for name, table in self.tables.items():
            is_below_persons = policy.tables[name].parent == policy.root
            self._make(LEFT, self._all_left(name, every if is_below_persons else 1))
            keeps_rows = keeps or bool(policy.children(name))
            found, counts[name] = self._climb(table, chains.get(name), labels, keeps=keeps_rows, is_sample=is_sample)
            if is_sample and name == policy.root:
                rows = max(map(self._encoded.rows, self.tables))
                every = max(min(rows // SAMPLED_ROWS, found // MIN_SAMPLED_CLASSES), 1)
            labels += found
        return counts

    def shown(self) -> dict[str, ShownRows]:
        """Return the rows that :meth:`put` kept."""
        for relation in (LEFT, *map(self.labels, self.tables)):
            self._engine.drop(relation)
        return {
            name: ShownRows(table, [(self.rung(name, place), levels) for place, levels in enumerate(self.chains[name])])
            for name, table in self.tables.items()
        }

    def _all_left(self, name: str, every: int) -> exp.Select:
        """Select all rows below those that rungs show, or below one in ``every`` class of them."""
        parent = self._encoded.policy.tables[name].parent
        if parent is None:
            return self._sql[name].query("all_persons")
        above = (self.rung(parent, place).table for place in range(len(self.chains[parent])))
        rungs = union_all(select([column(ROW), column(CLASS)], each) for each in above)
        return self._sql[name].query("rows_below", above=rungs, every=every)

    # More than six parameters: what is kept, and what it stands for.
    def _climb(
        self, table: KeyedRows, chain: Sequence[Levels] | None, first: int, *, keeps: bool, is_sample: bool
    ) -> tuple[int, TableCounts]:
        """Put rows on the rungs of a chain, or of a new one without rungs that show few; return labels and counts."""
        name, top = table.name, self._encoded.own_levels(table.name, self._encoded.context.lattice.top)
        looked_at = int(self._engine.fetch(counted_rows(LEFT.table), "rows")[0]["rows"])
        rungs: list[Levels] = []
        self.chains[name] = rungs
        labels, shown_rows, lost = 0, 0, 0.0
        for levels in self._new_chain(name) if chain is None else chain:
            sql = self._labelled(name, levels)
            self._make(self.labels(name), sql.query("labels_found", first=first + labels))
            found = table.label_counts(self._engine, self.labels(name).table, levels)
            if chain is None and found["rows"] < MIN_SHARE * looked_at and levels != top:
                continue  # its rows go on to the next rung
            if keeps:
                self._make(self.rung(name, len(rungs)), sql.query("rows_found"))
            if levels != (chain or [top])[-1]:
                self._make(LEFT, sql.query("rows_left"))
            rungs.append(levels)
            shown_rows += found["rows"]
            labels += found["labels"]
            lost += found["lost"]
        counts = table.bound.counts
        # The rows of a sample stand for all that may be shown.
        scale = (counts.linked - counts.cut) / max(looked_at, 1) if is_sample else 1.0
        return labels, table.counts(scale * shown_rows, scale * lost)

    def _new_chain(self, name: str) -> Iterator[Levels]:
        """Yield the levels of a new chain: the next rung shows rows that are left at the least more loss per row."""
        lattice = self._encoded.context.lattice
        levels, top = (self._encoded.own_levels(name, each) for each in (lattice.bottom, lattice.top))
        yield levels
        while levels != top:
            higher = [
                (*levels[:place], level + 1, *levels[place + 1 :])
                for place, level in enumerate(levels)
                if level < top[place]
            ]
            counts = self._engine.fetch(self._row_counts(name, higher), "rows of rungs")[0].values()
            known = self._encoded.known_loss(name, levels)
            losses = (self._encoded.known_loss(name, each) - known for each in higher)
            _, levels = min(
                (loss / max(int(count), 0.5), each) for loss, count, each in zip(losses, counts, higher, strict=True)
            )
            yield levels

    def _row_counts(self, name: str, nodes: Sequence[Levels]) -> exp.Select:
        """Select one row: for each node in order the rows that a rung with its levels would show."""
        count = f.coalesce(f.sum(column(ROW_COUNT)), 0)
        labels = (self._labelled(name, levels).query("labels_found", first=0) for levels in nodes)
        queries = (select([count.copy()], subquery(each, "anon_labels")) for each in labels)
        return exp.Select(expressions=[aliased(exp.paren(each), f"rows_{place}") for place, each in enumerate(queries)])

    def _labelled(self, name: str, levels: Levels) -> Queries:
        return self._sql[name].given(masks=self.tables[name].masks(levels))

    def _make(self, relation: Relation, query: exp.Query) -> None:
        self._engine.run(Step(relation, query, "rows on rungs", is_again=True))


def rows_on_rungs(engine: Compute, encoded: EncodedLinked, chains: Chains) -> dict[str, ShownRows]:
    rungs = Rungs(engine, encoded)
    rungs.put(chains, keeps=True)
    return rungs.shown()
