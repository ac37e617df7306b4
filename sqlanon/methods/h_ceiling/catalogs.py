"""The node with a catalog: of those that need few counterfeits, the one of least reconstruction error.

A catalog shows recipients which rows may be invented, so that counterfeits cost the true rows beside them: if half
the rows of a value in a group were invented, each is true with even odds. That decides between nodes, whereas
without a catalog counterfeits cost nothing (spec/hceiling.md (b) 5 and H13). It depends on the values that are drawn,
which is why nodes are filled up to be judged, and the best one is made again from what was drawn for it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import pyarrow as pa
from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import UnsatisfiableError
from sqlanon.mechanisms.source import RandomSource
from sqlanon.methods.h_ceiling import queries
from sqlanon.methods.h_ceiling.catalog.conditions import ConditionF, FilledClasses, Lemma
from sqlanon.methods.h_ceiling.catalog.grouping import Catalog, grouped
from sqlanon.methods.h_ceiling.catalog.links import Link, Links
from sqlanon.methods.h_ceiling.choice import DIGITS
from sqlanon.methods.h_ceiling.counterfeits import Filled, fill, fill_again, settings_of
from sqlanon.methods.h_ceiling.queries import catalog_error
from sqlanon.methods.progress import Stopped
from sqlanon.methods.shared.cells import EncodedTable
from sqlanon.model.lattice import NodeSummary, total
from sqlanon.model.methods.h_ceiling import HCeiling
from sqlanon.queries.cells.encoding import ROW_COUNT
from sqlanon.queries.kit.nodes import column, number

TRIED_NODES = 8
"""Of how many nodes a catalog is looked for: each takes a while, and the values that are drawn decide as much."""


@dataclass(frozen=True)
class Candidate:
    """A node that was filled up to be judged.

    Attributes:
        filled: what is needed to fill it up again.
        catalog: its groups; None if its classes cannot be grouped.
        error: the mean reconstruction error of true rows with that catalog, in [0, 1]; infinite without one.
    """

    filled: Filled
    catalog: Catalog | None
    error: float

    @property
    def order(self) -> tuple[float, ...]:
        """What candidates are compared by: of two, the one with less is better (spec/hceiling.md (b) 5)."""
        filled = self.filled
        lm = total(filled.table.context.losses.lm, filled.levels)
        return (round(self.error, DIGITS), filled.added.count, round(lm, DIGITS), *filled.levels)

    @cached_property
    def cataloged(self) -> Cataloged:
        """The rows of the catalog, and what they imply."""
        assert self.catalog is not None
        return linked(self.catalog, self.filled.settings)

    @property
    def problem(self) -> str | None:
        """Why the node has no such catalog; None if it has one."""
        if self.catalog is None:
            return "its classes cannot be grouped so that their counterfeits are concealed"
        settings = self.filled.settings
        if settings.catalog != "strict" or self.cataloged.effective_k >= settings.least_effective_k:
            return None
        known = "is" if self.cataloged.is_exact else "cannot be shown to be more than"
        found, least = self.cataloged.effective_k, settings.least_effective_k
        return f"the effective k of a group {known} {found:.4g}, less than {least:.4g}; others may have less still"


def best_with_catalog(
    engine: Compute, table: EncodedTable, nodes: Sequence[NodeSummary], source: RandomSource, stopped: Stopped
) -> Candidate:
    """Fill up the node of least reconstruction error, and make its catalog.

    Args:
        engine: the database.
        table: the cells.
        nodes: those that keep to the ceiling, those first that need the fewest counterfeits.
        source: where the values of counterfeits are drawn from.
        stopped: asked before every node but the first whether to make do with those so far, if one has a catalog.

    Raises:
        UnsatisfiableError: there is no catalog of any that was tried.
    """
    untried, problems = deque(nodes[:TRIED_NODES]), list[str]()
    while untried:
        candidates: list[Candidate] = []
        while untried and not (candidates and stopped()):
            levels = untried.popleft().levels
            with engine.scratch():
                try:
                    candidates.append(judged(engine, fill(engine, table, levels, source)))
                except UnsatisfiableError as error:  # within, for a scope that fails leaves its tables
                    problems += error.problems
        # The best one first: what keeps a node from having a catalog may take a while to know.
        for candidate in sorted(candidates, key=lambda each: each.order):
            if candidate.problem is None:
                _make_again(engine, table, candidate)
                return candidate
            count = candidate.filled.added.count
            problems.append(f"{count:,} counterfeits at {tuple(candidate.filled.levels)}: {candidate.problem}")
    kind = settings_of(table).catalog
    raise UnsatisfiableError(
        f"no {kind} catalog was found for the {len(problems)} nodes that need the fewest counterfeits, "
        'by the values that were drawn; try again, or with another h, a smaller effective_k, or catalog "none":',
        problems,
    )


def _make_again(engine: Compute, table: EncodedTable, candidate: Candidate) -> None:
    """Make the tables of a candidate, with the values and groups that it was judged by."""
    assert candidate.catalog is not None
    fill_again(engine, table, candidate.filled)
    group_again(engine, candidate.filled, candidate.catalog)


def judged(engine: Compute, filled: Filled) -> Candidate:
    """A node that was filled up, with its catalog and the reconstruction error of that."""
    catalog = group_classes(engine, filled)
    if catalog is None:
        return Candidate(filled, None, math.inf)
    query = catalog_error(filled.table.encoding, filled.levels)
    return Candidate(filled, catalog, float(engine.fetch(query, "reconstruction error with a catalog")[0]["error"]))


@dataclass(frozen=True)
class Cataloged:
    """A catalog that can be published.

    Attributes:
        groups: how many groups of classes it describes.
        effective_k: the least effective k of a group, or a number that it is at least; k if there is no group.
        is_exact: whether it is just that.
    """

    groups: int
    effective_k: float
    is_exact: bool


def group_classes(engine: Compute, filled: Filled) -> Catalog | None:
    """Group the classes of a node, and make the tables of the groups; None if they cannot be grouped."""
    settings = filled.settings
    _number_classes(engine, filled)
    classes = _classes(engine, filled, settings)
    found = grouped(ConditionF(classes) if settings.catalog == "strict" else Lemma(classes))
    if found is not None:
        _put(engine, found)
    return found


def group_again(engine: Compute, filled: Filled, catalog: Catalog) -> None:
    """Make the tables of the groups of a node again, whose classes are filled up as before."""
    _number_classes(engine, filled)
    _put(engine, catalog)


def linked(catalog: Catalog, settings: HCeiling) -> Cataloged:
    """What a catalog leaves of k, which may take a while to reckon.

    Of a strict one that leaves too little: what the first group leaves that is found to.
    """
    links, least = Links(catalog.classes), settings.least_effective_k if settings.catalog == "strict" else 0
    found = [Link(Fraction(1, settings.k), exact=True)]
    # Those of few classes take the least time.
    for group in sorted(catalog.groups, key=len):
        found.append(links.of(group))
        if float(found[-1].effective_k) < least:
            break
    highest = max(found, key=lambda link: (link.probability, link.exact))
    return Cataloged(len(catalog.groups), float(highest.effective_k), highest.exact)


def catalog_rows(filled: Filled) -> exp.Query:
    """The rows of the catalog."""
    if filled.settings.has_catalog_of_values:
        return queries.catalog(filled.table.encoding, filled.levels)
    return queries.SQL.query("catalog_of_counts", k=filled.settings.k)


def with_class_ids(filled: Filled, groups: exp.Query) -> exp.Query:
    """Groups of equal rows, with the ids of classes if a catalog names these."""
    if not filled.settings.has_catalog:
        return groups
    groups.set("order", None)  # that of the query around it
    return queries.about(filled.table.encoding).query("class_ids", groups=groups)


def catalog_shortfalls(engine: Compute, filled: Filled, release: ResolvedSource, written: ResolvedSource) -> list[str]:
    """How the catalog that was written is not the one that was to be, or does not fit the rows beside it."""
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


def _classes(engine: Compute, filled: Filled, settings: HCeiling) -> FilledClasses:
    """The classes that counterfeits can be in, or that can conceal them: of just k rows, or any by lemma 1."""
    is_asked: exp.Expr = exp.true()
    if settings.catalog == "strict":
        is_asked = column("anon_class_size", "anon_classes").eq(number(settings.k))
    rows = engine.fetch(
        queries.about(filled.table.encoding, filled.levels).query("class_value_counts", is_asked=is_asked),
        "values of classes with counterfeits",
        "class",
    )
    columns = (
        np.array([row[name] for row in rows], dtype=np.int64)
        for name in ("class", "value", "published", "counterfeits")
    )
    return FilledClasses.of_columns(settings.k, *columns)


def _put(engine: Compute, found: Catalog) -> None:
    numbers, identifiers = found.members
    engine.put(queries.GROUPS, pa.table({"anon_group": numbers, "anon_class_number": identifiers}))
    group, value, count = found.totals
    totals = {"anon_group": group, "anon_value_code": value, "anon_counterfeit_count": count}
    engine.put(queries.TOTALS, pa.table(totals))
