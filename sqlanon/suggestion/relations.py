"""What columns say of each other: twins, and coarser columns of texts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.queries.tables import suggestions as queries
from sqlanon.suggestion.evidence import Evidence
from sqlanon.suggestion.roles import Decision

MAX_PAIRS = 400
"""Pairs of columns that are counted."""

MIN_MONOTONE = 20
"""Values of two columns that are not in the same order by chance."""

MIN_REPEATS = 20
"""Rows that repeat the value of another, from which they agree in other columns for a reason."""

LASTING = frozenset(("sex", "age", "year", "date", "origin"))
"""Kinds of quasi-identifiers that can stay the same on all rows of a person."""

Pair = tuple[str, str]
Counts = Mapping[Pair, int]
"""Pairs of values where the first column has one, by the names of the columns."""


def pair_counts(engine: Compute, source: exp.Expr, evidence: Mapping[str, Evidence], pairs: Iterable[Pair]) -> Counts:
    """The number of pairs of values of each pair of columns, of the first ``MAX_PAIRS``."""
    counted = [*itertools.islice(pairs, MAX_PAIRS)]
    if not counted:
        return {}
    columns = {name: evidence[name].column for name in {*itertools.chain(*counted)}}
    rows = engine.fetch(queries.pair_counts(source, columns, counted), "pairs of values of columns")
    return {counted[row["place"]]: row["pair_count"] for row in rows}


def twin_candidates(evidence: Mapping[str, Evidence]) -> Iterator[Pair]:
    """Columns with as many values, which repeat in both, and the same rows without one."""
    repeating = (each for each in evidence.values() if 3 <= each.values <= each.filled / 2)
    return _pairs_alike(repeating, attrgetter("values", "filled", "largest"))


def _pairs_alike(found: Iterable[Evidence], key: Callable[[Evidence], object]) -> Iterator[Pair]:
    """Each two columns of one key, by their names and in their order; one by one, since there may be millions."""
    ordered = [*found]
    alike: dict[object, list[str]] = {}
    for each in reversed(ordered):
        alike.setdefault(key(each), []).append(each.name)
    for each in ordered:
        later = alike[key(each)]
        later.pop()
        for other in reversed(later):
            yield each.name, other


def twins(counts: Counts, evidence: Mapping[str, Evidence]) -> list[Pair]:
    """The pairs with as many pairs of values as values."""
    return [pair for pair, count in counts.items() if count == evidence[pair[0]].values == evidence[pair[1]].values]


def monotone_twins(engine: Compute, source: exp.Expr, evidence: Mapping[str, Evidence]) -> list[Pair]:
    """Pairs of numbers that are nearly unique, and one rises or falls with the other: a wage and its logarithm.

    Any two columns of unique values have as many pairs as values, so that only their order says something.
    """
    unique = (each for each in evidence.values() if each.is_number and MIN_MONOTONE <= each.values > each.filled / 2)
    candidates = [*itertools.islice(_pairs_alike(unique, attrgetter("values", "filled")), MAX_PAIRS)]
    if not candidates:
        return []
    columns = {name: evidence[name].column for name in {*itertools.chain(*candidates)}}
    rows = engine.fetch(queries.monotone_pairs(source, columns, candidates), "the order of nearly unique numbers")
    return [
        candidates[row["place"]]
        for row in sorted(rows, key=itemgetter("place"))
        if row["pair_count"] - 1 in (row["rise_count"], row["fall_count"])
        and row["pair_count"] == evidence[candidates[row["place"]][0]].values
    ]


def individual_candidates(evidence: Mapping[str, Evidence], decisions: Mapping[str, Decision]) -> Iterator[Pair]:
    """Columns that are dropped and may name persons on several rows, each with the quasi-identifiers."""
    names = [
        name
        for name, found in evidence.items()
        if decisions[name].role == "identifier"
        and found.filled == found.rows
        and found.rows - found.values >= MIN_REPEATS
        and not found.is_unique
        and found.values**2 > found.rows
    ]
    known = [name for name, each in decisions.items() if each.role == "quasi-identifier" and evidence[name].values > 1]
    return itertools.product(names, known)


def individual(
    counts: Counts, evidence: Mapping[str, Evidence], decisions: Mapping[str, Decision]
) -> tuple[str, list[str]] | None:
    """The column whose values are persons, and the quasi-identifiers that each has one value of.

    There are two of these at least, and one of them is what a person keeps. Of several columns it is the one with the
    fewest values: an order has one customer, too.
    """
    same: dict[str, list[str]] = {}
    for (name, known), count in counts.items():
        if count == evidence[name].values:
            same.setdefault(name, []).append(known)
    found = {
        name: known
        for name, known in same.items()
        if len(known) > 1 and any(decisions[each].kind in LASTING for each in known)
    }
    if not found:
        return None
    name = min(found, key=lambda each: evidence[each].values)
    return name, found[name]


def coarser_candidates(evidence: Mapping[str, Evidence], texts: Sequence[str], others: Sequence[str]) -> Iterator[Pair]:
    """Texts, each with another column that has fewer values and no gap: it may have the labels of the text."""
    return (
        (text, other)
        for text, other in itertools.product(texts, others)
        if text != other
        and 2 <= evidence[other].values < evidence[text].values <= evidence[text].filled / 2
        and evidence[other].filled == evidence[other].rows
    )


def coarser_columns(
    text: str, counts: Counts, evidence: Mapping[str, Evidence], within: Callable[[Pair], bool]
) -> list[str]:
    """The columns that have the labels of a text, from fine to coarse, each within the next.

    Args:
        text: the column.
        counts: of pairs of values.
        evidence: on all columns.
        within: whether each value of a column stands with one of another.
    """
    found: list[str] = []
    parents = [other for (one, other), count in counts.items() if one == text and count == evidence[text].values]
    for other in sorted(parents, key=lambda name: -evidence[name].values):
        if not found or (evidence[other].values < evidence[found[-1]].values and within((found[-1], other))):
            found.append(other)
    return found
