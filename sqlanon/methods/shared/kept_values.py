"""The columns that are released as they are: which of them, and which pairs of them, single rows out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.base import Compute
from sqlanon.model.release import IdentifyingPair
from sqlanon.queries.release import findings as queries
from sqlanon.queries.source import Traits

NEARLY_UNIQUE = 0.5
"""Columns are nearly unique if this share of the rows, or more, have values that few rows have."""

MAX_RARE_ROWS = 10
"""A value that as many rows have is not rare, whatever the k: else short lists of values were nearly unique, too."""

COUNTED_ROWS = 1_000_000
"""Up to this number of rows all values are counted, beyond it a sample: to group ten million values takes seconds."""

ESTIMATE_ERROR = 2
"""The factor by which an estimated number of values may be off."""

SIEVED_ROWS = 50_000
"""Rows whose pairs of values are counted, of all rows, to see whether a pair of columns can be nearly unique."""

SIEVE_ERROR = 0.1
"""How far the share of rare rows may be off there: twenty times its standard error."""

MAX_PAIRS = 100
"""The most pairs of columns that are looked at."""

MAX_PAIR_ROWS = 20_000_000
"""The most rows that are read for them, over all pairs: a tenth of what a run of a million rows takes."""


@dataclass(frozen=True)
class KeptValues:
    """The values of kept columns.

    Attributes:
        traits: the types of the columns of the source, by name.
        row_count: how many published rows there are.
        estimates: by column, about how many values it has.
        fewer_than: a value is rare if fewer rows have it.
        rare_shares: by column that is nearly unique, the share of rows with a rare value.
    """

    traits: Mapping[str, Traits]
    row_count: int
    estimates: dict[str, int]
    fewer_than: int
    rare_shares: dict[str, float]

    @property
    def one_in(self) -> int:
        """One value in how many is counted."""
        return max(self.row_count // COUNTED_ROWS, 1)

    @property
    def least_values(self) -> float:
        """How many values nearly unique columns have at least: every rare one has fewer rows than that."""
        return max(NEARLY_UNIQUE * self.row_count / (self.fewer_than - 1), 1)


def released_values(engine: Compute, bound: BoundPolicy) -> KeptValues:
    """Those of the published rows.

    A value is rare if fewer rows have it than a class has, which protects nobody who is known by the value.
    """
    policy, traits = bound.policy, bound.traits
    names, fewer_than = [*policy.sensitive, *policy.insensitive], min(max(policy.criteria.k, 2), MAX_RARE_ROWS)
    if not names:
        return KeptValues(traits, 0, {}, fewer_than, {})
    found = engine.fetch(queries.distinct_estimates(traits, names), "values of kept columns")[0]
    estimates = {name: int(found[f"values_{place}"]) for place, name in enumerate(names)}
    kept = KeptValues(traits, int(found["rows"]), estimates, fewer_than, {})
    for name, values in estimates.items():
        if values >= max(kept.least_values / ESTIMATE_ERROR, 1):
            query = queries.rare_rows(traits, [name], fewer_than, kept.one_in)
            counts = engine.fetch(query, "rows of rare values")[0]
            if counts["rare"] >= NEARLY_UNIQUE * counts["counted"] > 0:
                kept.rare_shares[name] = counts["rare"] / counts["counted"]
    return kept


def nearly_unique_columns(kept: KeptValues) -> tuple[str, ...]:
    """A note on each column that is nearly unique in the published rows."""
    about = "about " if kept.one_in > 1 else ""
    few = "no other row has" if kept.fewer_than == 2 else f"fewer than {kept.fewer_than:,} rows have"
    return tuple(
        f'"{name}" is published as it is and nearly unique: {about}{100 * share:.1f} % of the released rows have a '
        f"value there that {few}; who knows it finds them, whatever the privacy models say of their class: drop it, or "
        "make it a quasi-identifier"
        for name, share in kept.rare_shares.items()
    )


def identifying_pairs(engine: Compute, kept: KeptValues) -> tuple[list[IdentifyingPair], list[tuple[str, str]]]:
    """The pairs of columns that are nearly unique together, and those that were not looked at.

    Reported numbers are counts, estimates beyond ``COUNTED_ROWS``. A sieve leaves out pairs with too few values, and
    pairs with far too few rare rows among one pair of values in several.
    """
    possible = list(_possible_pairs(kept))
    looked_at = min(MAX_PAIRS, max(MAX_PAIR_ROWS // max(kept.row_count, 1), 1))
    pairs, others = possible[:looked_at], possible[looked_at:]
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
    return sorted(found, key=lambda pair: -pair.rare_rows), others


def _possible_pairs(kept: KeptValues) -> Iterator[tuple[str, str]]:
    """The pairs of other columns that can have as many values as nearly unique ones have, most values first."""
    values = {name: estimate for name, estimate in kept.estimates.items() if name not in kept.rare_shares}
    products = {(one, other): values[one] * values[other] for one, other in itertools.combinations(values, 2)}
    least = kept.least_values / ESTIMATE_ERROR**2
    yield from (pair for pair in sorted(products, key=lambda pair: -products[pair]) if products[pair] >= max(least, 2))


def _rare_shares(engine: Compute, kept: KeptValues, pairs: Sequence[tuple[str, str]], one_in: int) -> list[float]:
    """Of each pair, the share of all rows that have a rare pair of values; it errs if not all values are counted."""
    if not pairs:
        return []
    query = queries.rare_rows_of_pairs(kept.traits, pairs, kept.fewer_than, one_in)
    found = {row["place"]: row["rare"] for row in engine.fetch(query, "rows of rare pairs of values")}
    return [min(found[place] * one_in / kept.row_count, 1.0) for place in range(len(pairs))]
