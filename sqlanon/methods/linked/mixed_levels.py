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

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.keyed_rows import KeyedRows
from sqlanon.methods.linked.known_row import KnownRowCounter, PathCounter, table_counts
from sqlanon.methods.linked.node_counts import LinkedChoice, NodeCounts, TableCounts, choose_linked_node, loss_of
from sqlanon.methods.linked.shown_rows import shown
from sqlanon.model.lattice import Levels, NodeSummary
from sqlanon.nodes.choice import Observer
from sqlanon.queries.encoding import ROW_COUNT
from sqlanon.queries.kit.macros import text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    called,
    column,
    counted_rows,
    f,
    number,
    select,
    subquery,
    union_all,
)
from sqlanon.queries.linked import ROW
from sqlanon.queries.recodings import AtNode
from sqlanon.search import SearchOutcome

MAX_START_ROUNDS = 16  # of a search for one node, whose levels of persons are the first to be looked at
MAX_PERSON_NODES = 12  # whose rows are all counted: 500,000 take a second
MAX_TRIED = 2  # of the nodes that are estimated, in each round those that seem best
SAMPLED_ROWS = 50_000  # of some classes of persons: chains are built for them, and nodes estimated by them
MIN_SAMPLED_CLASSES = 12
MIN_SHARE = 0.001  # of a table's rows on a rung that is not the last: smaller ones make labels harder to read

SQL = Queries("mixed_levels")
CLASS = "anon_class"  # what is shown of the row above, and then of the row itself
LEFT = Relation("anon_rows_left", "row")  # the rows of a table that no rung has shown yet
LABELS = Relation("anon_labels_found", "class")  # the labels that a rung shows

Chains = Mapping[str, Sequence[Levels]]
"""By table the levels of its rungs; that of persons has one rung."""


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
        count = f.coalesce(f.sum(column(ROW_COUNT)), 0)
        queries = (select([count.copy()], subquery(self.labels(levels), "anon_labels")) for levels in nodes)
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


class MixedLevels:
    """Chooses the rungs of linked tables, and shows their rows."""

    def __init__(self, engine: Compute, encoded: EncodedLinked) -> None:
        self._engine = engine
        self._encoded = encoded
        self._root = encoded.policy.root
        self._persons = PathCounter(engine, encoded, self._root)
        self._tables = {name: RungRows(encoded, name) for name in encoded.tables}
        for table in self._tables.values():
            engine.run(table.step())

    def choose(self, observer: Observer, stopped: Callable[[], bool]) -> LinkedChoice:
        """Search the levels of persons, and build chains for them.

        It begins with the best of the first nodes that a search for one node checks, or with the top. The result may be
        beyond the limits of tables; it is then the closest that was found.
        """
        rounds, counter = itertools.count(1), KnownRowCounter(self._engine, self._encoded)
        outcome = choose_linked_node(
            self._encoded, counter, observer, lambda: next(rounds) >= MAX_START_ROUNDS or stopped()
        )
        top, own = self._encoded.context.lattice.top, self._encoded.own_levels
        best = self._with_chains(own(self._root, outcome.best.levels if outcome.best is not None else top))
        best, counted = self._downhill(best, stopped)
        if self._excess(best):
            best = min([best, self._with_chains(own(self._root, top))], key=self._rank)
        checked = outcome.checked_nodes + counted
        outcome = SearchOutcome(outcome.best, best.loss, ties=(), checked_nodes=checked)
        rungs = {name: chain for name, chain in best.rungs.items() if name != self._root}
        return replace(best, outcome=outcome, rungs=rungs)

    def show(self, choice: LinkedChoice) -> None:
        """Make the tables of the rows to release (:mod:`~.shown_rows`)."""
        chains = {**choice.rungs, self._root: [self._encoded.own_levels(self._root, choice.counts.levels)]}
        self._on_rungs(chains, keeps=True)
        for name, table in self._tables.items():
            rungs = (table.labelled(place, levels) for place, levels in enumerate(chains[name]))
            self._engine.run(Step(shown(table.bound), union_all(rungs), f'rows of "{name}" to release'))
        made = (table.rung(place) for name, table in self._tables.items() for place, _ in enumerate(chains[name]))
        for relation in (LEFT, LABELS, *made, *(table.relation for table in self._tables.values())):
            self._engine.drop(relation)

    # The search

    def _downhill(self, best: LinkedChoice, stopped: Callable[[], bool]) -> tuple[LinkedChoice, int]:
        """Move to better levels of persons; return the best, and for how many all rows were counted."""
        estimates: dict[Levels, LinkedChoice] = {}  # of nodes that are not counted yet
        seen, counted = {best.rungs[self._root][0]}, 1
        while counted < MAX_PERSON_NODES and not stopped():
            for persons in self._neighbours(best):
                if persons not in seen:
                    estimates[persons] = self._estimated({**best.rungs, self._root: [persons]})
                    seen.add(persons)
            tried = sorted(estimates, key=lambda persons: self._rank(estimates[persons]))[:MAX_TRIED]
            estimates = {persons: each for persons, each in estimates.items() if persons not in tried}
            found = [*map(self._with_chains, tried)]
            counted += len(found)
            better = min([best, *found], key=self._rank)
            if better is best:
                break
            best = better
        return best, counted

    def _neighbours(self, best: LinkedChoice) -> Iterator[Levels]:
        """Yield levels of persons a step away that lose less by themselves than all tables do now."""
        table, [persons] = self._tables[self._root], best.rungs[self._root]
        for place, step in itertools.product(range(len(persons)), (-1, 1)):
            levels = (*persons[:place], persons[place] + step, *persons[place + 1 :])
            is_inside = table.bottom[place] <= levels[place] <= table.top[place]
            if is_inside and (self._excess(best) or self._encoded.known_loss(self._root, levels) < best.loss):
                yield levels

    def _with_chains(self, persons: Levels) -> LinkedChoice:
        """Count what is shown with the chains that are best for some classes of persons."""
        return self._on_rungs(self._estimated({self._root: [persons]}).rungs)

    def _estimated(self, chains: Chains) -> LinkedChoice:
        """Estimate what is shown; chains that are not given are built."""
        persons = self._person_counts(chains[self._root][0], with_losses=False)
        every = max(map(self._encoded.rows, self._tables)) // SAMPLED_ROWS
        return self._on_rungs(chains, every=max(min(every, persons.class_count // MIN_SAMPLED_CLASSES), 1))

    def _rank(self, choice: LinkedChoice) -> tuple[float, float, Levels]:
        return self._excess(choice), choice.loss, choice.counts.levels

    def _excess(self, choice: LinkedChoice) -> float:
        """Return how far tables are beyond their limits, as shares of their rows."""
        allowed, rows = self._encoded.allowed, self._encoded.rows
        return sum(max(each.left_out - allowed(name), 0) / rows(name) for name, each in choice.counts.tables.items())

    # Rows on rungs

    def _on_rungs(self, chains: Chains, *, every: int = 1, keeps: bool = False) -> LinkedChoice:
        """Put the rows of all tables on rungs, those of one in ``every`` class of persons."""
        policy = self._encoded.policy
        counts: dict[str, TableCounts] = {}
        built: dict[str, list[Levels]] = {}
        for name, table in self._tables.items():
            parent = policy.tables[name].parent
            above = [] if parent is None else [*map(self._tables[parent].rung, range(len(built[parent])))]
            self._engine.run(table.all_left(above, every if parent == self._root else 1))
            keeps_rows = keeps or bool(policy.children(name))
            built[name], counts[name] = self._climb(table, chains.get(name), keeps=keeps_rows, is_sample=every > 1)
        persons = self._person_counts(chains[self._root][0], with_losses=True)
        counts[self._root] = table_counts(self._encoded, self._root, persons)
        levels = tuple(level for rungs in built.values() for level in rungs[0])
        found = NodeCounts(levels, persons.class_count, persons.kept_class_count, counts)
        lost = loss_of(self._encoded, found)
        return LinkedChoice(found, lost, SearchOutcome(None, lost, ties=(), checked_nodes=1), built)

    def _climb(
        self, table: RungRows, chain: Sequence[Levels] | None, *, keeps: bool, is_sample: bool
    ) -> tuple[list[Levels], TableCounts]:
        """Put rows on the rungs of a chain, or of a new one, without the rungs that show few; return it and counts."""
        looked_at = int(self._engine.fetch(counted_rows(LEFT.table), "rows")[0]["rows"])
        rungs: list[Levels] = []
        shown_rows, labels, lost = 0, 0, 0.0
        for levels in self._steps(table) if chain is None else chain:
            self._engine.run(Step(LABELS, table.labels(levels, labels), "labels of a rung", is_again=True))
            found = self._engine.fetch(table.label_counts(levels), "rows of a rung")[0]
            if chain is None and found["rows"] < MIN_SHARE * looked_at and levels != table.top:
                continue  # its rows go on to the next rung
            for step in table.taken(levels, table.rung(len(rungs)) if keeps else None):
                self._engine.run(step)
            rungs.append(levels)
            shown_rows += found["rows"]
            labels += found["labels"]
            lost += found["lost"]
        counts = table.bound.counts
        # The rows of a sample stand for all that may be shown.
        scale = (counts.linked - counts.cut) / max(looked_at, 1) if is_sample else 1.0
        left_out = counts.linked - scale * shown_rows
        loss = (scale * lost + left_out) / counts.linked
        return rungs, TableCounts(round(left_out) - counts.cut, 0, loss)

    def _steps(self, table: RungRows) -> Iterator[Levels]:
        """Yield the levels of a new chain: the next rung shows rows that are left at the least more loss per row."""
        levels = table.bottom
        yield levels
        while levels != table.top:
            higher = [
                (*levels[:place], level + 1, *levels[place + 1 :])
                for place, level in enumerate(levels)
                if level < table.top[place]
            ]
            rows = self._engine.fetch(table.row_counts(higher), "rows of rungs")[0].values()
            known = self._encoded.known_loss(table.name, levels)
            losses = (self._encoded.known_loss(table.name, each) - known for each in higher)
            _, levels = min(
                (loss / max(int(count), 0.5), each) for loss, count, each in zip(losses, rows, higher, strict=True)
            )
            yield levels

    def _person_counts(self, persons: Levels, *, with_losses: bool) -> NodeSummary:
        bottom = self._encoded.context.lattice.bottom
        [found] = self._persons.counts([(*persons, *bottom[len(persons) :])], with_losses=with_losses)
        return found
