"""Neighbouring tables that a private mechanism is most likely to tell apart, and policies for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import duckdb

import sqlanon as sa
from sqlanon.model.methods.noisy import CELLS, ROLLED_UP

Person = tuple[int, str, str | None]
"""Age, sex and diagnosis."""

Row = tuple[int, str, str | None, int]
"""The same, and whose row it is."""

FLU, COLD, LAST = "flu", "cold", "x-last"
VALUES = [FLU, COLD, LAST]
FIRST_CELL: Person = (0, "f", FLU)
LAST_CELL: Person = (3, "m", LAST)
BUDGET = sa.Budget(1, "0.01")
"""A δ that an audit can see."""


@dataclass(frozen=True)
class Pair:
    """Some people, and one more, who may have further rows; the others have one each."""

    people: Sequence[Person]
    one_more: Person
    further: Sequence[Person] = ()

    @property
    def tables(self) -> tuple[list[Row], list[Row]]:
        """Without and with that one."""
        others = [(*person, place) for place, person in enumerate(self.people)]
        return others, [*others, *((*person, -1) for person in (self.one_more, *self.further))]


def pairs(cells: int, rolled_up: int) -> dict[str, Pair]:
    """By what makes them hostile, given the thresholds of combinations and of what they do not show."""
    crowd = [(1, "f", FLU)] * (cells + 10)
    strangers: list[Person] = [(age, sex, COLD) for age in range(4) for sex in "fm"]
    return {
        "an empty table": Pair([], FIRST_CELL),
        "a rare value": Pair(crowd, (1, "f", COLD)),
        "a value that nobody else has, alone in its class": Pair(crowd, LAST_CELL),
        "a singleton class": Pair(crowd, (3, "m", FLU)),
        "a pair, of one": Pair([*crowd, (3, "m", FLU)], (3, "m", FLU)),
        "one below the threshold": Pair([FIRST_CELL] * (cells - 2), FIRST_CELL),
        "at the threshold": Pair([FIRST_CELL] * (cells - 1), FIRST_CELL),
        "above the threshold": Pair([FIRST_CELL] * cells, FIRST_CELL),
        "left over, at its threshold": Pair((strangers * rolled_up)[: rolled_up - 1], strangers[rolled_up - 1 & 7]),
        "left over, and its combination at the threshold": Pair(
            [(2, "f", COLD)] * (cells - 1) + strangers[:3], (2, "f", COLD)
        ),
        "the first of the domain": Pair(crowd, FIRST_CELL),
        "the last of the domain": Pair([LAST_CELL] * 3, LAST_CELL),
        "no value": Pair(crowd, (1, "f", None)),
    }


def pairs_of_many_rows(cells: int, rolled_up: int, rows: int) -> dict[str, Pair]:
    """Likewise, for one more who has several rows: together, or each alone."""
    crowd = [(1, "f", FLU)] * (cells + 10)
    apart: list[Person] = [(age, sex, value) for value in (COLD, LAST) for age in (0, 2) for sex in "mf"][:rows]
    return {
        "above the threshold": Pair([FIRST_CELL] * cells, FIRST_CELL, [FIRST_CELL] * (rows - 1)),
        "at the threshold": Pair([FIRST_CELL] * (cells - rows), FIRST_CELL, [FIRST_CELL] * (rows - 1)),
        "a combination of nobody else": Pair(crowd, LAST_CELL, [LAST_CELL] * (rows - 1)),
        "combinations of nobody else": Pair(crowd, apart[0], apart[1:]),
        "left over, at its threshold": Pair(
            [(age, sex, COLD) for age in (0, 2) for sex in "fm"] * (rolled_up // 4),
            (0, "f", COLD),
            [(2, "m", COLD)] * 2,
        ),
    }


def session_on(pair: Pair) -> sa.Session:
    """A session with the tables ``without`` and ``with_one``, and declared taxonomies; the same one every time."""
    session = _session()
    for name, people in zip(("without", "with_one"), pair.tables, strict=True):
        session.connection.execute(
            f"CREATE OR REPLACE TABLE {name} (age INTEGER, sex VARCHAR, diagnosis VARCHAR, person INTEGER)"
        )
        if people:
            session.connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", people)
    return session


@cache
def _session() -> sa.Session:
    """In memory: loading the taxonomies takes a fifth of the time of an audit."""
    session = sa.connect(duckdb.connect(config={"threads": 1}))
    session.taxonomies.load("age", sa.Taxonomy.intervals([2], minimum=0, maximum=3))
    session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
    session.taxonomies.load("diagnosis", sa.Taxonomy.flat(VALUES))
    return session


def policy(method: sa.IPA | sa.Histogram) -> sa.Policy:
    """A policy for these tables; that of a method for individuals with several rows knows whose row it is."""
    return sa.Policy(
        quasi_identifiers=["age", "sex"],
        sensitive=["diagnosis"],
        identifiers=["person"],
        individual="person" if method.rows_per_individual > 1 else None,
        method=method,
    )


def _of_many_rows(cells: str, rolled_up: str) -> sa.IPA:
    return sa.IPA(
        budget=BUDGET, node={"age": 1, "sex": 0}, split={CELLS: cells, ROLLED_UP: rolled_up}, rows_per_individual=3
    )


METHODS = {
    "IPA": sa.IPA(budget=BUDGET),
    "IPA at a public node": sa.IPA(budget=BUDGET, node={"age": 1, "sex": 0}),
    "IPA, pure": sa.IPA(budget=sa.Budget(1), node={"age": 2, "sex": 0}),
    "Histogram": sa.Histogram(budget=sa.Budget(1), node={"age": 1, "sex": 1}),
    "Histogram with δ": sa.Histogram(budget=BUDGET),
}

METHODS_OF_MANY_ROWS: dict[str, sa.IPA | sa.Histogram] = {
    "IPA, nearly all of ε on cells": _of_many_rows("9/10", "1/10"),
    "IPA, nearly all of ε on what is left over": _of_many_rows("1/10", "9/10"),
    "Histogram of three rows": sa.Histogram(budget=sa.Budget(1), node={"age": 1, "sex": 1}, rows_per_individual=3),
}
"""For individuals with three rows."""
