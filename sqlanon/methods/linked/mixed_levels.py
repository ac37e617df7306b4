"""Mixed levels for attackers who know one row: each row is shown at the first rung where k persons have its label.

The levels of persons are one node, and persons of classes of fewer than k are left out. Each other table has a chain of
levels of its own quasi-identifiers, from the least general up. A rung shows the rows whose label at least k persons of
the class have, counting only rows that no rung before showed; after the last rung rows are left out. The class of a row
is that of its person, and below other rows all that is shown of the row above: its class, rung and label.

So what is shown of a row follows from the labels of its person and from the rows of its path, once chains and classes
are given, and theorem C of known rows holds: somebody who knows the row knows its rung, and k persons there have its
label. Two levels can have one label for different sets of values; then more persons look alike than were counted.

The levels of persons are searched downhill, and chains are built step by step: no result is proven to be the best.

Source: spec/linked.md, section 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.keyed_table import LABELS, LEFT, KeyedTable
from sqlanon.methods.linked.known_row import KnownRowCounter, PathCounter
from sqlanon.methods.linked.node_counts import LinkedChoice, NodeCounts, TableCounts, choose_linked_node, loss_of
from sqlanon.methods.linked.shown_rows import shown
from sqlanon.model.lattice import Levels
from sqlanon.nodes.choice import Observer
from sqlanon.queries.encoding import ROW_COUNT
from sqlanon.queries.kit.nodes import Step, aliased, column, counted_rows, f, number, select, subquery, union_all
from sqlanon.search import Inquiry, SearchOutcome

MAX_START_NODES = 64  # to check before the search, which begins with the levels of persons at the best of them
MAX_PERSON_NODES = 12  # whose rows are all counted: 500,000 take a second
MAX_TRIED = 2  # of the neighbours of a node, those that seem best
SAMPLED_ROWS = 50_000  # of some classes of persons: chains are built for them, and neighbours compared by them
MIN_SAMPLED_CLASSES = 12
MIN_SHARE = 0.0005  # of a table's rows on a rung that is not the last: smaller ones make labels harder to read

Chains = Mapping[str, Sequence[Levels]]
"""By table the levels of its rungs; that of persons has one rung."""


@dataclass(frozen=True)
class MixedRows:
    """What is shown of all tables, or an estimate by some classes of persons."""

    counts: NodeCounts  # at the first rungs
    chains: Chains
    loss: float
    excess: float  # how far tables are beyond their limits, as shares of their rows

    @property
    def rank(self) -> tuple[float, float, Levels]:
        return self.excess, self.loss, self.counts.levels


class MixedLevels:
    """Chooses the rungs of linked tables, and shows their rows."""

    def __init__(self, engine: Compute, encoded: EncodedLinked) -> None:
        self._engine = engine
        self._encoded = encoded
        self._root = encoded.policy.root
        self._persons = PathCounter(engine, encoded, self._root)
        self._tables = {name: KeyedTable(encoded, name) for name in encoded.tables}
        for table in self._tables.values():
            engine.run(table.keyed_rows())

    def choose(self, observer: Observer, stopped: Callable[[], bool]) -> LinkedChoice:
        """Search the levels of persons, and build chains for them.

        It begins with the best of the first nodes that a search for one node checks, or with the top. The result may be
        beyond the limits of tables; it is then the closest that was found.
        """
        outcome = self._start(observer, stopped)
        lattice, own = self._encoded.context.lattice, self._encoded.own_levels
        best = self._best_chains(own(self._root, outcome.best.levels if outcome.best is not None else lattice.top))
        best, counted = self._downhill(best, stopped)
        if best.excess and (top := self._best_chains(own(self._root, lattice.top))).rank < best.rank:
            best = top
        checked = outcome.checked_nodes + counted
        outcome = replace(outcome, loss=best.loss, ties=(), checked_nodes=checked, lower_bound=None)
        rungs = {name: chain for name, chain in best.chains.items() if name != self._root}
        return LinkedChoice(best.counts, best.loss, replace(outcome, proven_optimal=False), rungs)

    def show(self, choice: LinkedChoice) -> None:
        """Make the tables of the rows to release (:mod:`~.shown_rows`)."""
        chains = {**choice.rungs, self._root: [self._encoded.own_levels(self._root, choice.counts.levels)]}
        self._rows(chains, keeps=True)
        for name, table in self._tables.items():
            rungs = (table.labelled(place, levels) for place, levels in enumerate(chains[name]))
            self._engine.run(Step(shown(table.bound), union_all(rungs), f'rows of "{name}" to release'))
        made = (table.rung(place) for name, table in self._tables.items() for place, _ in enumerate(chains[name]))
        for relation in (LEFT, LABELS, *made, *(table.rows for table in self._tables.values())):
            self._engine.drop(relation)

    # The search

    def _start(self, observer: Observer, stopped: Callable[[], bool]) -> SearchOutcome:
        checked = 0

        def observed(count: int, size: int, inquiry: Inquiry) -> None:
            nonlocal checked
            checked = count
            observer(count, size, inquiry)

        counter = KnownRowCounter(self._engine, self._encoded)
        return choose_linked_node(self._encoded, counter, observed, lambda: checked >= MAX_START_NODES or stopped())

    def _downhill(self, best: MixedRows, stopped: Callable[[], bool]) -> tuple[MixedRows, int]:
        """Move to better neighbours; return the best rows and the number of nodes whose rows were all counted."""
        estimates: dict[Levels, MixedRows] = {}  # of nodes that are not counted yet
        seen, counted = {best.chains[self._root][0]}, 1
        while counted < MAX_PERSON_NODES and not stopped():
            for persons in self._neighbours(best.chains[self._root][0]):
                if persons not in seen:
                    estimates[persons] = self._estimated({**best.chains, self._root: [persons]})
                    seen.add(persons)
            tried = sorted(estimates, key=lambda persons: estimates[persons].rank)[:MAX_TRIED]
            for persons in tried:
                del estimates[persons]
            counted += len(tried)
            better = min([best, *map(self._best_chains, tried)], key=lambda each: each.rank)
            if better is best:
                break
            best = better
        return best, counted

    def _neighbours(self, persons: Levels) -> Iterator[Levels]:
        table = self._tables[self._root]
        for place, level in enumerate(persons):
            for other in (level - 1, level + 1):
                if table.bottom[place] <= other <= table.top[place]:
                    yield (*persons[:place], other, *persons[place + 1 :])

    def _best_chains(self, persons: Levels) -> MixedRows:
        """Count what is shown with the chains that are best for some classes of persons."""
        chains = self._estimated({self._root: [persons]}).chains
        return self._rows(chains)

    def _estimated(self, chains: Chains) -> MixedRows:
        """Estimate what is shown; chains that are not given are built."""
        [persons] = self._persons.counts([self._node(self._root, chains[self._root][0])], with_losses=False)
        rows = max(map(self._encoded.rows, self._tables))
        return self._rows(chains, every=max(min(rows // SAMPLED_ROWS, persons.class_count // MIN_SAMPLED_CLASSES), 1))

    # Rows on rungs

    def _rows(self, chains: Chains, *, every: int = 1, keeps: bool = False) -> MixedRows:
        """Put the rows of all tables on rungs, those of one in ``every`` class of persons."""
        [persons] = self._persons.counts([self._node(self._root, chains[self._root][0])], with_losses=True)
        counts = {}
        built: dict[str, list[Levels]] = {}
        for name, table in self._tables.items():
            parent = self._encoded.policy.tables[name].parent
            above = [] if parent is None else [*map(self._tables[parent].rung, range(len(built[parent])))]
            self._engine.run(table.all_left(above, every if parent == self._root else 1))
            keeps_rows = keeps or bool(self._encoded.policy.children(name))
            built[name], counts[name] = self._climb(table, chains.get(name), keeps=keeps_rows, is_sample=every > 1)
        counts[self._root] = TableCounts(
            persons.suppressed_rows, 0, persons.lm if persons.combined_loss is None else persons.combined_loss
        )
        levels = tuple(level for rungs in built.values() for level in rungs[0])
        found = NodeCounts(levels, persons.class_count, persons.kept_class_count, counts)
        beyond = (
            max(each.left_out - max(self._encoded.allowed(name), 0), 0) / max(self._encoded.rows(name), 1)
            for name, each in counts.items()
        )
        return MixedRows(found, built, loss_of(self._encoded, found), sum(beyond))

    def _climb(
        self, table: KeyedTable, chain: Sequence[Levels] | None, *, keeps: bool, is_sample: bool
    ) -> tuple[list[Levels], TableCounts]:
        """Put rows on the rungs of a chain, or of a new one, without the rungs that show few; return it and counts."""
        all_rows = int(self._engine.fetch(counted_rows(LEFT.table), "rows")[0]["rows"])
        rungs: list[Levels] = []
        shown_rows, labels, lost = 0, 0, 0.0
        for levels in self._steps(table) if chain is None else chain:
            self._engine.run(Step(LABELS, table.labels(levels, labels), "labels of a rung", is_again=True))
            found = self._engine.fetch(table.label_counts(levels), "rows of a rung")[0]
            if chain is None and found["rows"] < MIN_SHARE * all_rows and levels != table.top:
                continue  # its rows go on to the next rung
            if keeps:
                self._engine.run(table.found(len(rungs), levels))
            self._engine.run(table.left(levels))
            rungs.append(levels)
            shown_rows += int(found["rows"])
            labels += int(found["labels"])
            lost += found["loss"] * int(found["rows"])
        scale = 1.0
        if is_sample:
            counts = self._encoded.bound.tables[table.name].counts
            scale = (counts.linked - counts.cut) / max(all_rows, 1)
        return rungs, self._table_counts(table.name, scale, shown_rows, lost)

    def _table_counts(self, name: str, scale: float, shown_rows: int, lost: float) -> TableCounts:
        """Return the counts of a table whose rows that were looked at stand for ``scale`` times as many."""
        rows, cut = self._encoded.rows(name), self._encoded.bound.tables[name].counts.cut
        left_out = rows - scale * shown_rows
        loss = (scale * lost + left_out) / rows if rows else 0.0
        return TableCounts(round(left_out) - cut, 0, loss)

    def _steps(self, table: KeyedTable) -> Iterator[Levels]:
        """Yield the levels of a new chain: each next one shows a row that is left at the least loss per row."""
        levels = table.bottom
        while True:
            yield levels
            higher = [
                (*levels[:place], level + 1, *levels[place + 1 :])
                for place, level in enumerate(levels)
                if level < table.top[place]
            ]
            if not higher:
                return
            levels = self._cheapest(table, levels, higher)

    def _cheapest(self, table: KeyedTable, below: Levels, higher: Sequence[Levels]) -> Levels:
        queries = (
            select(
                [aliased(number(place), "place"), aliased(f.coalesce(f.sum(column(ROW_COUNT)), 0), "rows")],
                subquery(table.labels(levels), "anon_labels"),
            )
            for place, levels in enumerate(higher)
        )
        found = {row["place"]: int(row["rows"]) for row in self._engine.fetch(union_all(queries), "rows of a rung")}
        known = self._encoded.known_loss(table.name, self._node(table.name, below))

        def price(place: int) -> tuple[float, Levels]:
            more = self._encoded.known_loss(table.name, self._node(table.name, higher[place])) - known
            return more / max(found[place], 0.5), higher[place]

        return min(map(price, found))[1]

    def _node(self, name: str, own: Levels) -> Levels:
        """Return a node with these levels of a table's own quasi-identifiers."""
        lattice, levels = self._encoded.context.lattice, dict(zip(self._tables[name].bound.own, own, strict=True))
        places = zip(lattice.quasi_identifiers, lattice.bottom, strict=True)
        return tuple(levels.get(each, least) for each, least in places)
