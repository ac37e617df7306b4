"""The SQL of queries by group: the macros, expanded over the rows that meet the conditions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from sqlanon.evaluation.workload import GroupQuery
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, aliased, all_of, column, double, same, select, string, subquery
from sqlanon.queries.kit.values import text

ROWS = "anon_rows"
CHANCE = "anon_chance"
"""The column with the probability that a released row is true and meets all conditions."""
MASK = "*"
"""What stands in every quasi-identifier of a masked row."""
TRUTH = "anon_truth"
"""The column of ``anon.row_truths``."""
WEIGHTED = Relation("anon_weighted_rows", "row")
"""The rows of a release with the column :data:`TRUTH`, made once for all queries."""


@dataclass(frozen=True)
class Tables:
    """What is asked: an original and its release, whose rows with a mask in all of some columns are left out.

    Attributes:
        original: the table with the true answers.
        released: its release.
        masked_by: the columns that masked rows have a mask in.
        is_weighted: whether the release has the column :data:`TRUTH`.
    """

    original: exp.Expr
    released: exp.Expr
    masked_by: tuple[str, ...] = ()
    is_weighted: bool = False


def weighted(released: exp.Expr, catalog: exp.Expr, sensitive: str) -> Step:
    """The step that makes :data:`WEIGHTED` of a release, its catalog and the sensitive column of both."""
    return Step(WEIGHTED, table_call("row_truths", released, catalog, string(sensitive)), "the truth of rows")


def errors(tables: Tables, query: GroupQuery) -> exp.Query:
    """One row: ``anon.answer_errors``."""
    return table_call("answer_errors", *_answers(tables, query), _missing(query))


def compared(tables: Tables, query: GroupQuery) -> exp.Query:
    """A row per group, in order: ``anon.compared_answers``."""
    rows = table_call("compared_answers", *_answers(tables, query), _missing(query))
    return Queries("evaluation").query("ordered_answers", answers=rows)


def _missing(query: GroupQuery) -> exp.Expr:
    """The answer for a group without a row: nobody was counted, and there is no average."""
    return double(0) if query.averaged is None else exp.null()


def _answers(tables: Tables, query: GroupQuery) -> tuple[exp.Subquery, exp.Subquery]:
    """The true answers and the estimated ones."""
    kind = "counts" if query.averaged is None else "averages"
    true = table_call(f"grouped_{kind}", _true_rows(tables, query), *_asked(query))
    chances = _chances(tables, query)
    estimated = table_call(f"estimated_{kind}", chances, *_asked(query), string(CHANCE))
    return subquery(true, "anon_truth"), subquery(estimated, "anon_estimate")


def _asked(query: GroupQuery) -> list[exp.Expr]:
    """The arguments of the macros after the table."""
    width = exp.null() if query.width is None else exp.convert(query.width)
    return [string(query.column), width, *([] if query.averaged is None else [string(query.averaged)])]


def _true_rows(tables: Tables, query: GroupQuery) -> exp.Subquery:
    """The rows of the original that meet the conditions."""
    rows = select(_read(query), _named(tables.original))
    conditions = [same(text(column(name, ROWS)), _value(value)) for name, value in query.where.items()]
    return subquery(rows.where(all_of(conditions), copy=False), "anon_true_rows")


def _chances(tables: Tables, query: GroupQuery) -> exp.Subquery:
    """The rows of the release that may meet the conditions, with the probability that they do and are true."""
    released = _unmasked(tables)
    shares: list[exp.Expr] = [column(TRUTH, ROWS)] if tables.is_weighted else []
    joined = select([], _named(released))
    for place, (name, value) in enumerate(query.where.items()):
        condition = f"anon_condition_{place}"
        spread = table_call("spread_labels", released.copy(), string(name))
        meeting = Queries("evaluation").query("shares_of_value", spread=spread, value=_value(value))
        is_shown = same(column("label", condition), text(column(name, ROWS)))
        joined.join(subquery(meeting, condition), on=is_shown, join_type="inner", copy=False)
        shares.append(column("share", condition))
    joined.set("expressions", [*_read(query), aliased(_product(shares), CHANCE)])
    return subquery(joined, "anon_chances")


def _unmasked(tables: Tables) -> exp.Expr:
    """The release without its masked rows."""
    if not tables.masked_by:
        return tables.released
    masked = all_of([same(text(column(name)), string(MASK)) for name in tables.masked_by])
    return subquery(select([exp.Star()], tables.released.copy()).where(exp.not_(masked), copy=False), "anon_unmasked")


def _named(table: exp.Expr) -> exp.Expr:
    """The table under a name of its own, so that no alias beside a column can be taken for it."""
    return exp.alias_(table.copy(), ROWS, table=True)


def _read(query: GroupQuery) -> list[exp.Expr]:
    """The columns to group by and to average."""
    names: Sequence[str | None] = (query.column, query.averaged)
    return [aliased(column(name, ROWS), name) for name in dict.fromkeys(names) if name is not None]


def _product(shares: Iterable[exp.Expr]) -> exp.Expr:
    return reduce(lambda left, right: exp.Mul(this=left, expression=right), shares, double(1))


def _value(value: str | int | None) -> exp.Expr:
    return exp.null() if value is None else string(str(value))
