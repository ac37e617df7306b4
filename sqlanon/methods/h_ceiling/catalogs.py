"""Catalogs: group the classes of a node, and choose the node whose catalog gives the least reconstruction error.

A catalog reveals which rows may be invented, so counterfeits devalue the true rows beside them: if half the rows of a
value in a group were invented, each is true with even odds. That decides between nodes, whereas without a catalog
counterfeits cost nothing (spec/hceiling.md (b) 5 and H13). It depends on the drawn values, so nodes are filled to be
judged, and the best one is made again from its own draws.

The grouping is greedy, by condition F or, as published, by lemma 1. Classes with counterfeits are taken in turn, those
with most first. Each starts as a group, and while the condition fails for a class of the group, it merges with the
other group that offers most of what that class lacks. It finds a grouping if there is one: the condition is preserved
by merging, so where no group has anything to offer it fails for all classes together. It need not find the best one.

An adversary who runs the algorithm again may rule out some worlds that the condition counts: merges depend on where the
counterfeits are. The condition and :mod:`sqlanon.methods.h_ceiling.links` are as specified, against an adversary who
does not.

Source: spec/hceiling.md (G); Lee, Kim, Kim & Chung 2017, algorithm 2.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.chance.random_source import RandomSource
from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.h_ceiling import ceiling_queries as queries
from sqlanon.methods.h_ceiling.ceiling_queries import catalog_error
from sqlanon.methods.h_ceiling.ceiling_search import DIGITS
from sqlanon.methods.h_ceiling.ceilings import ChosenCeiling
from sqlanon.methods.h_ceiling.conditions import Condition, ConditionF, Counts, FilledClasses, Lemma, Positions
from sqlanon.methods.h_ceiling.counterfeits import Filled, fill, fill_again
from sqlanon.methods.h_ceiling.links import Link, Links
from sqlanon.methods.stages import Stopped
from sqlanon.model.lattice import Levels, NodeSummary, total
from sqlanon.model.methods.counterfeiting import HCeiling
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries.encoding import ROW_COUNT
from sqlanon.queries.kit.nodes import column, number


@dataclass(frozen=True, eq=False)
class Catalog:
    classes: FilledClasses  # all published classes
    # Ascending positions, in the order of each group's first class. Groups are disjoint and hold every class with
    # counterfeits.
    groups: tuple[tuple[int, ...], ...]

    @property
    def members(self) -> tuple[Counts, Counts]:
        """The numbers of groups, from 0, and the identifiers of their classes; each of shape (members,)."""
        numbers, positions = self._members
        return numbers, self.classes.identifiers[positions]

    @property
    def totals(self) -> tuple[Counts, Counts, Counts]:
        """The numbers of groups, values, and their counts of counterfeits, at least 1; each of shape (rows,)."""
        number_of = np.zeros(len(self.classes), dtype=np.int64)
        numbers, positions = self._members
        number_of[positions] = numbers
        entries = np.flatnonzero(self.classes.counterfeits)
        pairs = np.stack([number_of[self.classes.positions[entries]], self.classes.values[entries]])
        (numbers, values), row_of = np.unique(pairs, axis=1, return_inverse=True)
        counts = np.zeros(len(numbers), dtype=np.int64)
        np.add.at(counts, row_of.ravel(), self.classes.counterfeits[entries])
        return numbers, values, counts

    @cached_property
    def _members(self) -> tuple[Counts, Positions]:
        numbers = np.repeat(np.arange(len(self.groups)), [len(group) for group in self.groups])
        return numbers, np.array([position for group in self.groups for position in group], dtype=np.intp)


def grouped(condition: Condition) -> Catalog | None:
    """Return a catalog whose groups all meet the condition; None if the greedy grouping fails.

    Among groups with equal offers, the smallest by rows is merged, then the first.
    """
    classes = condition.classes
    offers = Offers(classes, condition.offered)
    turn = {position: rank for rank, position in enumerate(classes.deficient.tolist())}
    groups: dict[int, list[int]] = {}
    while turn:
        first = next(iter(turn))
        group, members = first, groups.pop(first, [first])
        pending = [first]
        while pending:
            target = pending[0]
            missing = condition.missing(target, members)
            if not missing:
                del turn[pending.pop(0)]
                continue
            other = offers.best(missing, group)
            if other is None:
                other = offers.best(condition.wanted(target, members), group)
            if other is None:
                return None
            joined = groups.pop(other, [other])
            pending = sorted(pending + [position for position in joined if position in turn], key=turn.__getitem__)
            offers.merge(min(group, other), max(group, other))
            # Append the shorter list. A class may find what it lacks in any of the new members.
            longer, shorter = (members, joined) if len(members) >= len(joined) else (joined, members)
            longer += shorter
            group, members = min(group, other), longer
        groups[group] = members
    return Catalog(classes, tuple(sorted(tuple(sorted(members)) for members in groups.values())))


MAX_BYTES = 1 << 28  # of kept counts; values that were not asked for recently are counted again


class Offers:
    """Counts of the rows that groups offer, by value; a group is identified by its first class.

    A class asks for at most k - 1 rows, and larger counts are equivalent. So counts are small integers, and a request
    is a few passes over an array with one element per group.
    """

    def __init__(self, classes: FilledClasses, offered: Counts) -> None:
        self._classes = classes
        self._offered = offered  # rows that each class offers of each value; shape (entries,)
        self._most = classes.k - 1
        self._rows = classes.sizes.copy()
        self._group_of = np.arange(len(classes))
        self._by_value = np.argsort(classes.values, kind="stable")
        self._sorted_values = classes.values[self._by_value]
        kind = np.min_scalar_type(-2 * classes.k)  # fits two counts
        values = len(np.unique(classes.values[classes.counterfeits > 0]))
        slots = min(values, max(1, MAX_BYTES // (kind.itemsize * max(1, len(classes)))))
        self._counts = np.zeros((slots, len(classes)), dtype=kind)
        self._slot_of: dict[int, int] = {}  # least recently asked first
        self._gain, self._part = np.empty((2, len(classes)), dtype=kind)

    def best(self, wanted: Mapping[int, int], group: int) -> int | None:
        """Return the other group with most of the wanted rows, by value; None if no other has any.

        Over all values, at most k - 1 rows count. Among equals the smallest group by rows wins, then the first.
        """
        gain, part = self._gain, self._part
        gain[:] = 0
        for value, count in wanted.items():
            np.minimum(self._of(value), min(count, self._most), out=part)
            np.add(gain, part, out=gain)
            np.minimum(gain, self._most, out=gain)
        gain[group] = 0
        most = gain.max(initial=0)
        if most == 0:
            return None
        candidates = np.flatnonzero(gain == most)
        return int(candidates[self._rows[candidates].argmin()])

    def merge(self, kept: int, gone: int) -> None:
        used = self._counts[: len(self._slot_of)]
        used[:, kept] = np.minimum(used[:, kept] + used[:, gone], self._most)
        used[:, gone] = 0
        self._rows[kept] += self._rows[gone]
        self._group_of[gone] = kept

    def _of(self, value: int) -> NDArray[Any]:
        """Return the rows of a value that each group offers, capped at k - 1; shape (classes,)."""
        slot = self._slot_of.pop(value, None)
        if slot is None:
            full = len(self._slot_of) == len(self._counts)
            slot = self._slot_of.pop(next(iter(self._slot_of))) if full else len(self._slot_of)
            first, end = np.searchsorted(self._sorted_values, [value, value + 1])
            entries = self._by_value[first:end]
            # Groups that were merged point to the group that they joined.
            while (further := self._group_of[self._group_of] != self._group_of).any():
                self._group_of[further] = self._group_of[self._group_of[further]]
            counts = np.zeros(len(self._classes), dtype=np.int64)
            np.add.at(counts, self._group_of[self._classes.positions[entries]], self._offered[entries])
            self._counts[slot] = np.minimum(counts, self._most)
        self._slot_of[value] = slot
        row: NDArray[Any] = self._counts[slot]
        return row


TRIED_NODES = 8  # that may get a catalog: each takes a while, and drawn values matter as much as the node


@dataclass(frozen=True)
class Candidate:
    filled: Filled
    catalog: Catalog | None  # None if its classes cannot be grouped
    error: float  # mean reconstruction error of true rows given the catalog, in [0, 1]; infinite without one

    @property
    def order(self) -> tuple[float, ...]:
        """The sort key of candidates: less is better (spec/hceiling.md (b) 5)."""
        filled = self.filled
        lm = total(filled.table.context.losses.lm, filled.levels)
        return (round(self.error, DIGITS), filled.added.count, round(lm, DIGITS), *filled.levels)

    @cached_property
    def effective_k(self) -> tuple[float, bool]:
        """The least effective k of a group, k without groups, and whether it is exact or a lower bound.

        This may be slow, and ends at the first group that is too weak for a strict catalog.
        """
        assert self.catalog is not None
        settings = self.filled.settings
        links, least = Links(self.catalog.classes), settings.least_effective_k if settings.catalog == "strict" else 0
        found = [Link(Fraction(1, settings.k), exact=True)]
        # Groups of few classes take the least time.
        for group in sorted(self.catalog.groups, key=len):
            found.append(links.of(group))
            if float(found[-1].effective_k) < least:
                break
        highest = max(found, key=lambda link: (link.probability, link.exact))
        return float(highest.effective_k), highest.exact

    @property
    def problem(self) -> str | None:
        """The reason why the node has no valid catalog; None if it has one."""
        if self.catalog is None:
            return "its classes cannot be grouped so that their counterfeits are concealed"
        settings = self.filled.settings
        if settings.catalog != "strict":
            return None
        (found, is_exact), least = self.effective_k, settings.least_effective_k
        if found >= least:
            return None
        known = "is" if is_exact else "cannot be shown to be more than"
        return f"the effective k of a group {known} {found:.4g}, less than {least:.4g}; others may have less still"


def first_with_catalog(
    engine: Compute,
    table: EncodedTable,
    ceilings: Sequence[ChosenCeiling],
    source: RandomSource,
    stopped: Stopped,
) -> tuple[ChosenCeiling, Candidate]:
    """Return the first ceiling below which a node has a catalog, and the best such node.

    ``stopped`` is asked before every node but the first; a stop makes do with the nodes so far, if one has a catalog.

    Raises:
        UnsatisfiableError: no tried node has a catalog.
    """
    problems: dict[Levels, str] = {}
    for chosen in ceilings:
        found = _best_with_catalog(engine, table, chosen.nodes[:TRIED_NODES], source, stopped, problems)
        if found is not None:
            return chosen, found
    settings = HCeiling.of(table.bound.policy)
    other = "another k" if settings.h is None else "without h, for a search among all ceilings"
    raise UnsatisfiableError(
        f"no {settings.catalog} catalog was found for the {len(problems)} nodes that need the fewest counterfeits, "
        f'by the values that were drawn; try again, or {other}, with a smaller effective_k, or with catalog "none":',
        [*problems.values()],
    )


# More than six parameters: those of first_with_catalog, and the problems of nodes that were tried below other ceilings.
def _best_with_catalog(
    engine: Compute,
    table: EncodedTable,
    nodes: Sequence[NodeSummary],
    source: RandomSource,
    stopped: Stopped,
    problems: dict[Levels, str],
) -> Candidate | None:
    """Fill nodes, and return the one of least reconstruction error with its catalog; None if none has a catalog."""
    untried = deque(node.levels for node in nodes if node.levels not in problems)
    while untried:
        candidates: list[Candidate] = []
        while untried and not (candidates and stopped()):
            levels = untried.popleft()
            with engine.scratch():
                try:
                    candidates.append(judged(engine, fill(engine, table, levels, source)))
                except UnsatisfiableError as error:  # caught inside, since a failing scope leaves its tables
                    problems[levels] = "; ".join(error.problems)
        # Best first: checking a catalog can be slow.
        for candidate in sorted(candidates, key=lambda each: each.order):
            if candidate.problem is None:
                assert candidate.catalog is not None
                # Make its tables again, with the same values and groups.
                fill_again(engine, table, candidate.filled)
                _number_classes(engine, candidate.filled)
                _put_groups(engine, candidate.catalog)
                return candidate
            levels, count = candidate.filled.levels, candidate.filled.added.count
            problems[levels] = f"{count:,} counterfeits at {tuple(levels)}: {candidate.problem}"
    return None


def judged(engine: Compute, filled: Filled) -> Candidate:
    settings = filled.settings
    _number_classes(engine, filled)
    # Hosts are classes of exactly k rows; by lemma 1 any class conceals.
    is_asked: exp.Expr = exp.true()
    if settings.catalog == "strict":
        is_asked = column("anon_class_size", "anon_classes").eq(number(settings.k))
    query = queries.about(filled.table.encoding, filled.levels).query("class_value_counts", is_asked=is_asked)
    rows = engine.fetch(query, "values of classes with counterfeits", "class")
    names = ("class", "value", "published", "counterfeits")
    columns = (np.array([row[name] for row in rows], dtype=np.int64) for name in names)
    classes = FilledClasses.of_columns(settings.k, *columns)
    catalog = grouped(ConditionF(classes) if settings.catalog == "strict" else Lemma(classes))
    if catalog is None:
        return Candidate(filled, None, math.inf)
    _put_groups(engine, catalog)
    error = catalog_error(filled.table.encoding, filled.levels)
    return Candidate(filled, catalog, float(engine.fetch(error, "reconstruction error with a catalog")[0]["error"]))


def catalog_rows(filled: Filled) -> exp.Query:
    if filled.settings.has_catalog_of_values:
        return queries.catalog(filled.table.encoding, filled.levels)
    return queries.SQL.query("catalog_of_counts", k=filled.settings.k)


def with_class_ids(filled: Filled, groups: exp.Query) -> exp.Query:
    if not filled.settings.has_catalog:
        return groups
    groups.set("order", None)  # ordered by the outer query
    return queries.about(filled.table.encoding).query("class_ids", groups=groups)


def catalog_shortfalls(engine: Compute, filled: Filled, release: ResolvedSource, written: ResolvedSource) -> list[str]:
    """List how the written catalog differs from the made one, or contradicts the rows beside it."""
    wanted = catalog_rows(filled)
    wanted.set("order", None)
    mismatches = queries.SQL.query(
        "catalog_mismatches", wanted=wanted, written=written.relation, columns=wanted.named_selects
    )
    found = {"are not as they were to be": engine.fetch(mismatches, "the catalog as it was written")[0]["mismatches"]}
    if filled.settings.has_catalog_of_values:
        more = queries.about(filled.table.encoding).query(
            "more_counterfeits_than_rows", release=release.relation, written=written.relation
        )
        rows = engine.fetch(more, "rows of the catalog")[0]["rows"]
        found["count more counterfeits than there are rows"] = rows
    return [f"{count:,} rows of the catalog {what}" for what, count in found.items() if count]


def _number_classes(engine: Compute, filled: Filled) -> None:
    encoding, levels = filled.table.encoding, filled.levels
    cells = queries.cells_by_key(encoding, levels, ROW_COUNT)
    engine.run(queries.about(encoding, levels).step(queries.CLASSES, "numbered_classes", cells=cells))


def _put_groups(engine: Compute, catalog: Catalog) -> None:
    numbers, identifiers = catalog.members
    engine.put(queries.GROUPS, pa.table({"anon_group": numbers, "anon_class_number": identifiers}))
    group, value, count = catalog.totals
    totals = {"anon_group": group, "anon_value_code": value, "anon_counterfeit_count": count}
    engine.put(queries.TOTALS, pa.table(totals))
