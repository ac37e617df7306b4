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

from sqlanon.model.recoding import Recoding
from sqlanon.queries.cells.encoding import ROW_COUNT, VALUE, Encoding
from sqlanon.queries.cells.recoding import code_columns
from sqlanon.queries.kit.nodes import (
    DIALECT,
    Relation,
    Step,
    aliased,
    ascending,
    cast,
    column,
    copies,
    grouped,
    left_join,
    number,
    same,
    select,
    subquery,
)
from sqlanon.queries.kit.values import exact_text
from sqlanon.queries.noise.combinations import COMBINATIONS, IS_SHOWN, NOISY, PLACE_OF_VALUE, RUN

VALUES = Relation("anon_domain_values", "node")
"""The declared values of the sensitive column, with their place among them."""

SEEN = Relation("anon_seen", "cell")
"""How many combinations that somebody has come before the ones that nobody has."""

DRAWN = Relation("anon_drawn_unseen", "cell")
"""Per run, combinations that are drawn: their place among those that nobody has, and how many rows to show."""

UNSEEN = Relation("anon_unseen", "cell")
"""The same with the codes of their labels and with their value."""

INDEX = "anon_index"
GAP = "anon_gap"
SHIFT = "anon_shift"
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
    place = [column("position"), column("depth")]
    labels = aliased(exp.Max(this=column("code")), "labels")
    return grouped(select([*place, labels], encoding.labels.table), copies(place))


def domain_values(encoding: Encoding) -> Step:
    """The step that makes :data:`VALUES`."""
    (name,) = encoding.spec.protected
    window = exp.Window(this=exp.RowNumber(), order=ascending(column(VALUE)))
    place = aliased(exp.Sub(this=window, expression=number(1)), PLACE_OF_VALUE)
    return Step(VALUES, select([column(VALUE), place], encoding.sensitive_codes(name).table), "values of the domain")


def seen(encoding: Encoding, recoding: Recoding, domain: Domain) -> Step:
    """The step that makes :data:`SEEN`: the i-th combination that is there has number - i before it that are not."""
    (name,) = encoding.spec.protected
    index: exp.Expr = column(PLACE_OF_VALUE, "anon_values")
    for position, code in code_columns(encoding, recoding):
        digit = exp.Paren(this=exp.Sub(this=cast(column(code, "anon_cells"), "BIGINT"), expression=number(1)))
        index = exp.Add(this=index, expression=exp.Mul(this=digit, expression=number(domain.strides[position])))
    value = same(exact_text(column(encoding.raw(name), "anon_cells")), column(VALUE, "anon_values"))
    numbered = select([aliased(index, INDEX)], exp.alias_(COMBINATIONS.table, "anon_cells", table=True))
    numbered = numbered.join(exp.alias_(VALUES.table, "anon_values", table=True), on=value, copy=False)
    return Step(SEEN, gaps(numbered), "combinations that are there")


def gaps(numbered: exp.Query) -> exp.Select:
    """For numbers that are there, each once: before which of those that are not there how many of them come.

    ``anon_gap`` is a place among the numbers that are not there, from 0; ``anon_shift`` is how many that are there come
    before the number at that place, and before those up to the next one.
    """
    order = exp.Window(this=exp.RowNumber(), order=ascending(column(INDEX)))
    gap = exp.Sub(this=column(INDEX), expression=exp.Paren(this=exp.Sub(this=order, expression=number(1))))
    found = select([aliased(gap, GAP), aliased(order.copy(), SHIFT)], subquery(numbered, "anon_numbered"))
    last = select([column(GAP), aliased(exp.Max(this=column(SHIFT)), SHIFT)], subquery(found, "anon_gaps"))
    return grouped(last, [column(GAP)])


def unseen(encoding: Encoding, recoding: Recoding, domain: Domain) -> Step:
    """The step that makes :data:`UNSEEN` from :data:`DRAWN`: codes, value, run, rows, and that they are shown."""
    (name,) = encoding.spec.protected
    numbered = unseen_numbers(SEEN.table)
    codes = [
        aliased(exp.Add(this=_digit(domain.strides[position], domain.labels[position]), expression=number(1)), code)
        for position, code in code_columns(encoding, recoding)
    ]
    on = column(PLACE_OF_VALUE, "anon_values").eq(_digit(1, domain.values))
    raw = aliased(column(VALUE, "anon_values"), encoding.raw(name))
    shown = aliased(exp.true(), IS_SHOWN)
    query = select(
        [*codes, raw, column(RUN, "anon_numbered"), column(NOISY, "anon_numbered"), shown],
        subquery(numbered, "anon_numbered"),
    )
    query = query.join(exp.alias_(VALUES.table, "anon_values", table=True), on=on, copy=False)
    return Step(UNSEEN, query, "combinations that nobody has")


def unseen_numbers(seen: exp.Expr) -> exp.Select:
    """Run, noisy rows and number of what is in :data:`DRAWN`, given a relation of :func:`gaps`."""
    before = exp.Join(
        this=exp.alias_(seen.copy(), "anon_seen", table=True),
        method="ASOF",
        side="LEFT",
        on=exp.GTE(this=column(RANK, "anon_drawn"), expression=column(GAP, "anon_seen")),
    )
    shift = exp.func("coalesce", column(SHIFT, "anon_seen"), number(0))
    index = aliased(exp.Add(this=column(RANK, "anon_drawn"), expression=shift), INDEX)
    numbered = select(
        [column(RUN, "anon_drawn"), column(NOISY, "anon_drawn"), index],
        exp.alias_(DRAWN.table, "anon_drawn", table=True),
    )
    numbered.append("joins", before)
    return numbered


def every_value(encoding: Encoding, left_over: exp.Query, runs: int) -> exp.Select:
    """What is left over of every declared value in every run, those of which nothing is left too."""
    (name,) = encoding.spec.protected
    raw = encoding.raw(name)
    all_runs = exp.func("unnest", exp.func("range", number(runs), dialect=DIALECT), dialect=DIALECT)
    wanted = select([column(VALUE), aliased(all_runs, RUN)], VALUES.table)
    on = exp.and_(
        same(exact_text(column(raw, "anon_left")), column(VALUE, "anon_wanted")),
        column(RUN, "anon_left").eq(column(RUN, "anon_wanted")),
        copy=False,
    )
    rows = exp.func("coalesce", column(ROW_COUNT, "anon_left"), number(0))
    columns = [
        column(RUN, "anon_wanted"),
        aliased(column(VALUE, "anon_wanted"), raw),
        aliased(cast(rows, "BIGINT"), ROW_COUNT),
    ]
    query = select(columns, subquery(wanted, "anon_wanted"))
    return left_join(query, subquery(left_over, "anon_left"), on)


def _digit(stride: int, base: int) -> exp.Paren:
    """A digit of the number of a combination."""
    place = exp.IntDiv(this=column(INDEX, "anon_numbered"), expression=number(stride))
    return exp.Paren(this=exp.Mod(this=exp.Paren(this=place), expression=number(base)))
