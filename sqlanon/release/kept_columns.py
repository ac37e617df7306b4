"""Columns that are released unchanged: values that single rows out, and values that refine a quasi-identifier.

A kept column *depends* on a quasi-identifier if each value of the latter has a single value of it (every age is
``older`` or not): it refines the published label where rows of one label differ in it. It *determines* a label if each
of its values has a single label that is finer than the published one (every town is in one region).
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.model.lattice import Levels
from sqlanon.model.policy.policy import Policy
from sqlanon.model.release import IdentifyingPair, RevealingColumn
from sqlanon.nodes.table import EncodedTable
from sqlanon.queries import exposures as queries
from sqlanon.queries.source import Traits
from sqlanon.release.publishing import PublishedNode

NEARLY_UNIQUE = 0.5  # a column is nearly unique if at least this share of the rows has rare values
MAX_RARE_ROWS = 10  # caps k for rarity: with a large k, columns of few values would count as nearly unique
COUNTED_ROWS = 1_000_000  # beyond it a sample is counted: grouping ten million values takes seconds
ESTIMATE_ERROR = 2  # factor by which an estimated number of values may be off
SIEVED_ROWS = 50_000  # sampled rows that rule out most pairs of columns
SIEVE_ERROR = 0.1  # tolerance for the share of rare rows in that sample: twenty standard errors
MAX_PAIRS = 100  # maximum number of pairs of columns that are examined
MAX_LISTED_PAIRS = 100  # maximum number of unexamined pairs that are named
MAX_PAIR_ROWS = 20_000_000  # maximum number of rows read over all pairs: a tenth of the time of a run of a million rows
FEW_ROWS = 5_000  # rows of the source, enough to refute most dependencies
MIN_SUPPORT = 10  # minimum support of a dependency (macro ``dependency``): by chance, probability at most 2 ** -20

# Least mean rows per value of a quasi-identifier on which columns may depend: all columns of an event depend on its
# time, which its rows share, and reveal next to nothing about them.
MIN_ROWS_PER_VALUE = 2

MAX_COLUMNS = 100  # maximum number of kept columns examined, fewest values first: refuting takes a GROUP BY each
MAX_COUNTED = 20  # maximum number of pairs of columns counted in all rows, after few rows did not refute them


@dataclass(frozen=True)
class KeptValues:
    groups: exp.Expr  # the published rows, equal ones grouped
    traits: Mapping[str, Traits]  # types of the source's columns, by name
    row_count: int  # published rows
    estimates: dict[str, int]  # by column, the estimated number of values
    fewer_than: int  # a value is rare if fewer rows have it
    rare_shares: dict[str, float]  # by nearly unique column, the share of rows with a rare value

    @property
    def one_in(self) -> int:
        """The sampling rate: one value in this many is counted."""
        return max(self.row_count // COUNTED_ROWS, 1)

    @property
    def least_values(self) -> float:
        """The fewest values of a nearly unique column: each rare value has fewer than ``fewer_than`` rows."""
        return max(NEARLY_UNIQUE * self.row_count / (self.fewer_than - 1), 1)


def released_values(engine: Compute, policy: Policy, traits: Mapping[str, Traits], groups: exp.Expr) -> KeptValues:
    """Count the values of kept columns in the published rows, which are in ``groups`` of equal ones.

    A value is rare if fewer rows have it than a class has: the class then protects nobody who is known by the value.
    """
    names, fewer_than = [*policy.sensitive, *policy.insensitive], min(max(policy.criteria.k, 2), MAX_RARE_ROWS)
    if not names:
        return KeptValues(groups, traits, 0, {}, fewer_than, {})
    found = engine.fetch(queries.distinct_estimates(groups, traits, names), "values of kept columns")[0]
    estimates = {name: int(found[f"values_{place}"]) for place, name in enumerate(names)}
    kept = KeptValues(groups, traits, int(found["rows"]), estimates, fewer_than, {})
    many = [name for name, values in estimates.items() if values >= max(kept.least_values / ESTIMATE_ERROR, 1)]
    # Spark cannot unnest two lists side by side.
    at_once = 1 if engine.is_far(groups) else max(COUNTED_ROWS // max(kept.row_count, 1), 1)
    for start in range(0, len(many), at_once):
        some = many[start : start + at_once]
        query = (
            queries.rare_rows(groups, traits, some, fewer_than, kept.one_in)
            if at_once == 1
            else queries.rare_rows_of_columns(groups, traits, some, fewer_than, kept.one_in)
        )
        for counts in sorted(engine.fetch(query, "rows of rare values"), key=itemgetter("place")):
            if counts["rare"] >= NEARLY_UNIQUE * counts["counted"] > 0:
                kept.rare_shares[some[counts["place"]]] = counts["rare"] / counts["counted"]
    return kept


def nearly_unique_columns(kept: KeptValues) -> tuple[str, ...]:
    about = "about " if kept.one_in > 1 else ""
    few = "no other row has" if kept.fewer_than == 2 else f"fewer than {kept.fewer_than:,} rows have"
    return tuple(
        f'"{name}" is not generalized and nearly unique: {about}{100 * share:.1f} % of the released rows have a '
        f"value there that {few}; who knows it finds them, whatever the privacy models say of their class: drop it, or "
        "make it a quasi-identifier"
        for name, share in kept.rare_shares.items()
    )


def identifying_pairs(engine: Compute, kept: KeptValues) -> tuple[list[IdentifyingPair], list[tuple[str, str]], int]:
    """Return pairs of columns that are nearly unique together, then some unexamined pairs and the number of all these.

    Reported numbers are counts, or estimates beyond ``COUNTED_ROWS``. Pairs with too few values are skipped, and pairs
    with far too few rare rows in a sample.
    """
    possible, count = _possible_pairs(kept)
    looked_at = min(MAX_PAIRS, max(MAX_PAIR_ROWS // max(kept.row_count, 1), 1))
    pairs, others = possible[:looked_at], possible[looked_at : looked_at + MAX_LISTED_PAIRS]
    sieve = max(kept.row_count // SIEVED_ROWS, 1)
    if sieve > kept.one_in:
        shares = _rare_shares(engine, kept, pairs, sieve)
        pairs = [pair for pair, share in zip(pairs, shares, strict=True) if share >= NEARLY_UNIQUE - SIEVE_ERROR]
    shares = _rare_shares(engine, kept, pairs, kept.one_in)
    found = [
        IdentifyingPair(
            columns=pair,
            rare_rows=round(share * kept.row_count),
            released_rows=kept.row_count,
            fewer_than=kept.fewer_than,
            is_exact=kept.one_in == 1,
        )
        for pair, share in zip(pairs, shares, strict=True)
        if share >= NEARLY_UNIQUE
    ]
    return sorted(found, key=lambda pair: -pair.rare_rows), others, max(count - looked_at, 0)


def _possible_pairs(kept: KeptValues) -> tuple[list[tuple[str, str]], int]:
    """Return the pairs of columns with enough values to be nearly unique, most values first, and their full number.

    Only the first pairs are returned; they consist of the columns with the most values.
    """
    values = {name: estimate for name, estimate in kept.estimates.items() if name not in kept.rare_shares}
    least = max(kept.least_values / ESTIMATE_ERROR**2, 2)
    ordered = sorted(values, key=lambda name: -values[name])
    first = {*ordered[: MAX_PAIRS + MAX_LISTED_PAIRS + 1]}
    products = {
        (one, other): values[one] * values[other]
        for one, other in itertools.combinations((name for name in values if name in first), 2)
    }
    possible = (pair for pair in sorted(products, key=lambda pair: -products[pair]) if products[pair] >= least)
    ascending = sorted(values.values())
    # Count the partners of each column whose product is large enough; this counts each pair twice.
    large = sum(len(ascending) - bisect_left(ascending, least, key=value.__mul__) for value in ascending)
    own = sum(value * value >= least for value in ascending)
    return [*possible], (large - own) // 2


def _rare_shares(engine: Compute, kept: KeptValues, pairs: Sequence[tuple[str, str]], one_in: int) -> list[float]:
    """Return the share of rows with a rare pair of values per pair of columns, an estimate if sampled."""
    if not pairs:
        return []
    query = queries.rare_rows_of_pairs(kept.groups, kept.traits, pairs, kept.fewer_than, one_in)
    found = {row["place"]: row["rare"] for row in engine.fetch(query, "rows of rare pairs of values")}
    return [min(found[place] * one_in / kept.row_count, 1.0) for place in range(len(pairs))]


@dataclass(frozen=True)
class Candidate:
    """A kept column and a quasi-identifier, by position, between which a dependency may hold."""

    column: str
    position: int
    may_depend: bool
    may_determine: bool

    @property
    def pair(self) -> tuple[int, str]:
        return self.position, self.column


def revealing_columns(
    engine: Compute, node: PublishedNode, kept: KeptValues
) -> tuple[list[RevealingColumn], list[str]]:
    """Return the columns that refine a published quasi-identifier, and the columns not examined."""
    table, levels = node.table, node.summary.levels
    positions = [position for position, level in enumerate(levels) if level > 0]
    # Nearly unique columns determine everything and have their own finding; constants reveal nothing.
    by_values = sorted(kept.estimates, key=lambda name: kept.estimates[name])
    names = [name for name in by_values if name not in kept.rare_shares and kept.estimates[name] > 1]
    looked_at, others = names[:MAX_COLUMNS], names[MAX_COLUMNS:]
    if not positions or not looked_at:
        return [], []
    candidates = _candidates(engine, table, levels, positions, looked_at)
    possible = [each for each in candidates if _is_possible(table, levels, kept, each)]
    counted, uncounted = possible[:MAX_COUNTED], possible[MAX_COUNTED:]
    found = list(_counted(engine, node, counted)) if counted else []
    return found, [*dict.fromkeys([*(each.column for each in uncounted), *others])]


def _candidates(
    engine: Compute, table: EncodedTable, levels: Levels, positions: Sequence[int], names: Sequence[str]
) -> list[Candidate]:
    finer = {position: levels[position] - 1 for position in positions}
    engine.run(queries.few_rows(table.encoding, finer, names, FEW_ROWS))
    depend = engine.fetch(queries.kept_that_may_depend(positions, len(names)), "dependent columns")
    determine = engine.fetch(queries.kept_that_may_determine(positions, len(names)), "determining columns")
    engine.drop(queries.FEW_ROWS)
    may_depend = {(row["position"], place): row[f"holds_{place}"] for row in depend for place in range(len(names))}
    may_determine = {
        (position, row["position"]): row[f"holds_{place}"]
        for row in determine
        for place, position in enumerate(positions)
    }
    found = [
        Candidate(name, position, bool(may_depend[position, place]), bool(may_determine[position, place]))
        for place, name in enumerate(names)
        for position in positions
    ]
    return [each for each in found if each.may_depend or each.may_determine]


def _is_possible(table: EncodedTable, levels: Levels, kept: KeptValues, candidate: Candidate) -> bool:
    labels = table.context.losses.distinct_labels[candidate.position]
    values, rows = kept.estimates[candidate.column], table.context.row_count
    finer = labels[levels[candidate.position] - 1]
    is_repeated = labels[0] * MIN_ROWS_PER_VALUE <= rows
    depends = candidate.may_depend and labels[0] * ESTIMATE_ERROR >= values and is_repeated
    return depends or (candidate.may_determine and values * ESTIMATE_ERROR >= finer > 1)


def _counted(engine: Compute, node: PublishedNode, candidates: Sequence[Candidate]) -> Iterator[RevealingColumn]:
    table = node.table
    counts = queries.PairCounts(table.encoding, [each.pair for each in candidates])
    engine.run(counts.step())
    for candidate in candidates:
        published = node.summary.levels[candidate.position]
        revealed, rows = _revealed(engine, counts, candidate, published)
        if rows:
            yield RevealingColumn(
                column=candidate.column,
                quasi_identifier=table.encoding.spec.quasi_identifiers[candidate.position],
                published_level=published,
                revealed_level=revealed,
                rows=rows,
                source_rows=table.context.row_count,
            )
    engine.drop(queries.PAIRS)


def _revealed(
    engine: Compute, counts: queries.PairCounts, candidate: Candidate, published: int
) -> tuple[int | None, int]:
    """Return the finest level that is determined, if any, and the rows that reveal more than the published label."""

    def undetermined(determinant: queries.Side, dependent: queries.Side, support: int = 0) -> int | None:
        """Return the rows that are not determined; None if the support is too small."""
        found = engine.fetch(counts.dependency(candidate.pair, determinant, dependent), "a dependency")[0]
        return int(found["undetermined_rows"]) if found["support"] >= support else None

    if candidate.may_determine:
        for level in range(published):
            if undetermined("kept", level, MIN_SUPPORT) == 0:
                return level, undetermined(published, level) or 0
    if candidate.may_depend and undetermined("value", "kept", MIN_SUPPORT) == 0:
        return None, undetermined(published, "kept") or 0
    return None, 0
