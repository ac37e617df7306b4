"""The combinations of labels and value that nobody has: drawn by their number in the domain, without listing it.

The domain of a node is public: every label of every quasi-identifier at its level, NULL among them, with every declared
value of the sensitive column. Its combinations are numbered by their labels' codes and the place of their value.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from math import prod
from operator import mul

from sqlglot import exp

from sqlanon.queries.cells.encoding import Encoding
from sqlanon.queries.classes.recoding import Recoding
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, aliased, cast, column, number
from sqlanon.queries.noise.combinations import COMBINATIONS, PLACE_OF_VALUE

SQL = Queries("noise")

VALUES = Relation("anon_domain_values", "node")
"""The declared values of the sensitive column, with their place among them."""

SEEN = Relation("anon_seen", "cell")
"""How many combinations that somebody has come before the ones that nobody has."""

DRAWN = Relation("anon_drawn_unseen", "cell")
"""Per run, combinations that are drawn: their place among those that nobody has, and how many rows to show."""

UNSEEN = Relation("anon_unseen", "cell")
"""The same with the codes of their labels and with their value."""

INDEX = "anon_index"
RANK = "anon_rank"


@dataclass(frozen=True)
class Domain:
    """How many combinations a node has.

    Attributes:
        labels: by quasi-identifier, how many labels its level has; 1 at the top.
        values: how many values the sensitive column has.
    """

    labels: tuple[int, ...]
    values: int

    @property
    def size(self) -> int:
        """The number of combinations."""
        return prod(self.labels) * self.values

    @property
    def strides(self) -> tuple[int, ...]:
        """How much the number of a combination grows with the code of each label."""
        return tuple(accumulate(self.labels[:-1], mul, initial=self.values))


def domain_sizes(encoding: Encoding) -> exp.Query:
    """``position``, ``depth``, ``labels`` of every level, from the codes of the labels alone."""
    return SQL.query("domain_sizes", labels=encoding.labels)


def domain_values(encoding: Encoding) -> Step:
    """The step that makes :data:`VALUES`."""
    (name,) = encoding.spec.protected
    return SQL.step(VALUES, "domain_values", declared=encoding.sensitive_codes(name))


def seen(recoding: Recoding, domain: Domain) -> Step:
    """The step that makes :data:`SEEN`: the i-th combination that is there has number - i before it that are not."""
    (name,) = recoding.encoding.spec.protected
    index: exp.Expr = column(PLACE_OF_VALUE, "anon_values")
    for position, code in recoding.code_columns():
        digit = exp.paren(cast(column(code, "anon_cells"), "BIGINT") - 1)
        index += digit * domain.strides[position]
    numbered = SQL.query(
        "numbered", index=index, combinations=COMBINATIONS, values=VALUES, raw=recoding.encoding.raw(name)
    )
    return SQL.step(SEEN, "gaps", numbered=numbered)


def unseen(recoding: Recoding, domain: Domain) -> Step:
    """The step that makes :data:`UNSEEN` from :data:`DRAWN`: codes, value, run, rows, and that they are shown."""
    (name,) = recoding.encoding.spec.protected
    codes = [
        aliased(digit(domain.strides[position], domain.labels[position], "anon_numbered") + 1, code)
        for position, code in recoding.code_columns()
    ]
    return SQL.step(
        UNSEEN,
        "unseen",
        numbered=SQL.query("unseen_numbers", drawn=DRAWN, seen=SEEN),
        codes=codes,
        values=VALUES,
        value_count=domain.values,
        raw=recoding.encoding.raw(name),
    )


def every_value(encoding: Encoding, left_over: exp.Query, runs: int) -> exp.Select:
    """What is left over of every declared value in every run, those of no rows too."""
    (name,) = encoding.spec.protected
    return SQL.query("every_value", left_over=left_over, values=VALUES, raw=encoding.raw(name), runs=runs)


def digit(stride: int, base: int, relation: str) -> exp.Paren:
    """A digit of the number of a combination, which is a column of a relation."""
    place = exp.IntDiv(this=column(INDEX, relation), expression=number(stride))
    return exp.Paren(this=exp.Mod(this=exp.Paren(this=place), expression=number(base)))
