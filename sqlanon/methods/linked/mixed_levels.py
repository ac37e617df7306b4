"""Mixed levels for attackers who know one row: each row is shown at the first rung where k persons have its label.

What is shown of a row (:mod:`~.rungs`) follows from the labels of its person and from the rows of its path, once chains
and classes are given, and theorem C of known rows holds: somebody who knows the row knows its rung, and k persons there
have its label. Two levels can have one label for different sets of values; then more persons look alike than were
counted.

The levels of persons are searched downhill, and chains are built step by step: no result is proven to be the best.

Source: spec/linked.md, section 3.4.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.known_row import KnownRowCounter
from sqlanon.methods.linked.node_counts import LinkedChoice, NodeCounts, choose_linked_node, loss_of
from sqlanon.methods.linked.rungs import Chains, Rungs
from sqlanon.methods.stages import Stopped
from sqlanon.model.lattice import Levels
from sqlanon.nodes.choice import Observer
from sqlanon.search import SearchOutcome

MAX_START_ROUNDS = 16  # of a search for one node, whose levels of persons are the first to be looked at
MAX_PERSON_NODES = 12  # whose rows are all counted: 500,000 take a second
MAX_TRIED = 2  # of the nodes that are estimated, in each round those that seem best


class MixedLevels:
    """Chooses the rungs of linked tables."""

    def __init__(self, engine: Compute, encoded: EncodedLinked) -> None:
        self._engine = engine
        self._encoded = encoded
        self._root = encoded.policy.root
        self._rungs = Rungs(engine, encoded)

    def choose(self, observer: Observer, stopped: Stopped) -> LinkedChoice:
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

    def _downhill(self, best: LinkedChoice, stopped: Stopped) -> tuple[LinkedChoice, int]:
        """Move to better levels of persons; return the best, and for how many all rows were counted."""
        estimates: dict[Levels, LinkedChoice] = {}  # of nodes that are not counted yet
        seen, counted = {best.rungs[self._root][0]}, 1
        while counted < MAX_PERSON_NODES and not stopped():
            for persons in self._neighbours(best):
                if persons not in seen:
                    estimates[persons] = self._on_rungs({**best.rungs, self._root: [persons]}, is_sample=True)
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
        [persons], lattice = best.rungs[self._root], self._encoded.context.lattice
        for place, step in itertools.product(range(len(persons)), (-1, 1)):  # the columns of persons come first
            levels = (*persons[:place], persons[place] + step, *persons[place + 1 :])
            is_inside = lattice.bottom[place] <= levels[place] <= lattice.top[place]
            if is_inside and (self._excess(best) or self._encoded.known_loss(self._root, levels) < best.loss):
                yield levels

    def _with_chains(self, persons: Levels) -> LinkedChoice:
        """Count what is shown with the chains that are best for some classes of persons."""
        return self._on_rungs(self._on_rungs({self._root: [persons]}, is_sample=True).rungs)

    def _on_rungs(self, chains: Chains, *, is_sample: bool = False) -> LinkedChoice:
        """Count what is shown, or estimate it by a sample; chains that are not given are built."""
        tables = self._rungs.put(chains, is_sample=is_sample)
        levels = tuple(level for rungs in self._rungs.chains.values() for level in rungs[0])
        counts = NodeCounts(levels, tables)
        loss = loss_of(self._encoded, counts)
        return LinkedChoice(counts, loss, SearchOutcome(None, loss, ties=(), checked_nodes=1), self._rungs.chains)

    def _rank(self, choice: LinkedChoice) -> tuple[float, float, Levels]:
        return self._excess(choice), choice.loss, choice.counts.levels

    def _excess(self, choice: LinkedChoice) -> float:
        """Return how far tables are beyond their limits, as shares of their rows."""
        allowed, rows = self._encoded.allowed, self._encoded.rows
        return sum(max(each.left_out - allowed(name), 0) / rows(name) for name, each in choice.counts.tables.items())
