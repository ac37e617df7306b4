"""Neighbours that are meant to give synthetic rows away, and policies that spend nearly all on one kind of draw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from unittest import mock

import duckdb
import numpy as np

import sqlanon as sa
from sqlanon.methods.synthetic import choosing
from sqlanon.methods.synthetic.fitting import Measurement, Model, fitted

Row = tuple[int, str, str]
"""Whose it is, and two columns."""


@dataclass(frozen=True)
class Pair:
    """Rows, and those of one more individual."""

    rows: Sequence[Row]
    more: Sequence[Row]


CROWD: list[Row] = [(1, "x", "u"), (2, "x", "u"), (3, "y", "v"), (4, "y", "u")]

PAIRS: Mapping[str, Pair] = {
    "what decides between two columns": Pair([(number, "x", "v") for number in range(6)], [(9, "x", "u")]),
    "a combination that nobody has": Pair(CROWD, [(9, "x", "v")]),
    "a row like another": Pair(CROWD, [(9, "x", "u")]),
    "the only row": Pair([], [(9, "y", "v")]),
}

BUDGET = sa.Budget(1, "0.05")
"""With a δ at which what Gaussian noise loses is not far from its bound, so that an audit can see it."""

SHARES: Mapping[str, tuple[Fraction, str]] = {
    "all draws": (Fraction(9, 10), "0.3"),
    "the choices": (Fraction(1, 1000), "0"),
    "the counts": (Fraction(999, 1000), "0"),
    "the report": (Fraction(9, 10), "0.999"),
}
"""The share of the counts among counts and choices, and that of the report."""


def session_on(pair: Pair, path: Path | str = ":memory:") -> sa.Session:
    """A session with the tables ``without`` and ``with_one``, and the taxonomies."""
    connection = duckdb.connect(str(path), config={"threads": 1})
    for name, rows in (("without", pair.rows), ("with_one", [*pair.rows, *pair.more])):
        connection.execute(f"CREATE TABLE {name} (person INTEGER, a VARCHAR, b VARCHAR)")
        if rows:
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows)
    session = sa.connect(connection)
    session.taxonomies.load("a", sa.Taxonomy.flat(["x", "y"]))
    session.taxonomies.load("b", sa.Taxonomy.flat(["u", "v"]))
    return session


@cache
def eight_rows() -> Model:
    """A model of two rows in each combination, which takes the place of all others: audits need no good one.

    With it a choice depends on the rows alone, so that an audit can see what it gives away.
    """
    even = {columns: Measurement(np.full([2] * len(columns), 8.0 / 2 ** len(columns)), 1.0) for columns in ((0,), (1,))}
    return fitted((2, 2), even, steps=100)


def audited(
    share: str, pair: Pair, runs: int, confidence: float, source: sa.SeededSource, *, rows: int = 0
) -> sa.evaluation.Audit:
    """An audit with nearly all of the budget on one kind of draw; by individuals with some rows, if these are given."""
    counts, report = SHARES[share]
    method = sa.Synthetic(
        budget=BUDGET, rounds=2, report_share=report, rows_per_individual=rows or 1, workload=[["a"], ["b"]]
    )
    policy = sa.Policy(
        quasi_identifiers=["a", "b"], identifiers=["person"], individual="person" if rows else None, method=method
    )
    with mock.patch.multiple(choosing, MEASURED=counts, fitted=lambda *_, **__: eight_rows()):
        mechanism = sa.evaluation.repeatable(session_on(pair), policy, source)
        return sa.evaluation.audit_privacy(mechanism, "without", "with_one", runs, confidence)
