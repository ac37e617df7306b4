"""Small builders of sqlglot nodes: quoted identifiers, literals, and relations that steps refer to by object."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import Literal

from sqlglot import Dialect, exp

# Warnings of sqlglot can quote a query; without a handler Python writes them to stderr.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())

DIALECT = "duckdb"
"""The dialect of SQL in which queries and macros are written, and statements are sent."""

UNSIGNED_TYPES = ((0xFF, "UTINYINT"), (0xFFFF, "USMALLINT"), (0xFFFFFFFF, "UINTEGER"))

UNNESTED = 500  # values of a row that stand in one list to be unnested

SIGNED = {"UTINYINT": "SMALLINT", "USMALLINT": "INTEGER", "UINTEGER": "BIGINT", "UBIGINT": "DECIMAL(20, 0)"}
"""Signed types that hold the numbers of unsigned ones, which neither Spark nor tables of lakes have."""

Grain = Literal["row", "rows", "cell", "class", "node", "count"]
"""The meaning of a row of a relation; ``rows`` are equal ones, with their number: there may be one for each."""


@dataclass(frozen=True)
class Relation:
    """A temporary table that a step makes: its name, and what one of its rows stands for."""

    name: str
    grain: Grain

    @property
    def table(self) -> exp.Table:
        return temporary_table(self.name)


@dataclass(frozen=True)
class Step:
    """One statement of a run: the relation that it makes, and the query that makes it."""

    makes: Relation
    query: exp.Query
    purpose: str  # what observers are shown
    is_near: bool = False  # the relation has to be here
    is_again: bool = False  # the relation may be there, and is made anew; the query may read it


@dataclass(frozen=True)
class PreparedQuery:
    """A query that was prepared, with a value for each of its parameters: a number, or a list of numbers."""

    name: str
    values: tuple[int | list[int], ...] = ()


def temporary_table(name: str) -> exp.Table:
    """A temporary table, in the catalog of such, where no table of a user can stand in its way."""
    return exp.Table(this=identifier(name), db=identifier("main"), catalog=identifier("temp"))


def identifier(name: str) -> exp.Identifier:
    """A quoted identifier, whatever the name."""
    return exp.Identifier(this=name, quoted=True)


def column(name: str, table: str | None = None) -> exp.Column:
    """A quoted column, of a table alias if one is given."""
    return exp.Column(this=identifier(name), table=identifier(table) if table else None)


def all_columns(table: str) -> exp.Column:
    """``"table".*``."""
    return exp.Column(this=exp.Star(), table=identifier(table))


def aliased(expression: exp.Expr, name: str) -> exp.Alias:
    """``expression AS "name"``."""
    return exp.Alias(this=expression, alias=identifier(name))


def copies(expressions: Iterable[exp.Expr]) -> list[exp.Expr]:
    """Copies of some expressions: a node stands in one place of one tree."""
    return [expression.copy() for expression in expressions]


def select(columns: Iterable[exp.Expr], relation: exp.Expr) -> exp.Select:
    """``SELECT columns FROM relation``, without the copies that sqlglot's builder makes: a search renders thousands."""
    return exp.Select(expressions=list(columns), from_=exp.From(this=relation))


def grouped(query: exp.Select, keys: Sequence[exp.Expr]) -> exp.Select:
    """The query with ``GROUP BY keys``, if there are any."""
    if keys:
        query.set("group", exp.Group(expressions=list(keys)))
    return query


def left_join(query: exp.Select, relation: exp.Expr, condition: exp.Expr) -> exp.Select:
    """``query LEFT JOIN relation ON condition``, in place; sqlglot's builder parses the words of it each time."""
    query.append("joins", exp.Join(this=relation, side="LEFT", on=condition))
    return query


def given_lists(names: Sequence[str]) -> exp.Select:
    """Lists of numbers as columns of these names: the first parameters of a prepared query."""
    given = ((cast(exp.Placeholder(this=str(place)), "BIGINT[]"), name) for place, name in enumerate(names, 1))
    return exp.Select(expressions=[aliased(f.unnest(each), name) for each, name in given])


def cross_join(query: exp.Select, relation: exp.Expr) -> exp.Select:
    """``query CROSS JOIN relation``, in place."""
    query.append("joins", exp.Join(this=relation, kind="CROSS"))
    return query


def unpivoted(relation: exp.Expr, values: Mapping[int, exp.Expr], beside: Sequence[exp.Column] = ()) -> exp.Select:
    """A row for each row of a relation and each of some values of one type.

    It has the place of the value, ``anon_place``, the value, ``anon_value``, and the columns ``beside`` it. The values
    stand in several lists: DuckDB takes seven times as long to unnest one list of 15,000.
    """
    numbers = [*values]
    lists = [numbers[start : start + UNNESTED] for start in range(0, len(numbers), UNNESTED)]
    places = [exp.convert(some) for some in lists]
    arrays = [exp.Array(expressions=[values[place] for place in some]) for some in lists]
    listed = [
        aliased(f.unnest(exp.Array(expressions=each)), name)
        for each, name in ((places, "anon_places"), (arrays, "anon_values"))
    ]
    rows = subquery(select([*copies(beside), *listed], relation.copy()), "anon_lists")
    found = [aliased(f.unnest(c.anon_places), "anon_place"), aliased(f.unnest(c.anon_values), "anon_value")]
    return select([*copies(beside), *found], rows)


def values(name: str, columns: Sequence[str], rows: Iterable[Sequence[exp.Expr]]) -> exp.Values:
    """``(VALUES row, ...) AS "name"("column", ...)``."""
    alias = exp.TableAlias(this=identifier(name), columns=[identifier(each) for each in columns])
    return exp.Values(expressions=[exp.Tuple(expressions=list(row)) for row in rows], alias=alias)


def ascending(*keys: exp.Expr, nulls_first: bool = False) -> exp.Order:
    """``ORDER BY key ASC NULLS LAST, ...``, whatever a connection says of the order that it takes if none is given."""
    return exp.Order(expressions=[exp.Ordered(this=key, desc=False, nulls_first=nulls_first) for key in keys])


def union_all(queries: Iterable[exp.Query]) -> exp.Query:
    """``query UNION ALL query ...``."""
    return reduce(lambda left, right: exp.Union(this=left, expression=right, distinct=False), queries)


def union_by_name(queries: Iterable[exp.Query]) -> exp.Query:
    """``query UNION ALL BY NAME query ...``: the rows of all, by the names of their columns."""
    return reduce(lambda left, right: exp.Union(this=left, expression=right, distinct=False, by_name=True), queries)


def called(relation: exp.Expr, alias: str) -> exp.Expr:
    """A copy of a table or of a derived table under another name."""
    return exp.alias_(relation, alias, table=True)


def subquery(query: exp.Query, alias: str) -> exp.Subquery:
    """``(query) AS "alias"``."""
    return exp.Subquery(this=query, alias=exp.TableAlias(this=identifier(alias)))


def made_once(name: str, query: exp.Query) -> exp.CTE:
    """``name AS MATERIALIZED (query)``, for a WITH."""
    return exp.CTE(this=query, alias=exp.TableAlias(this=identifier(name)), materialized=True)


def string(value: str) -> exp.Literal:
    return exp.Literal.string(value)


def number(value: int | float | list[int]) -> exp.Expr:
    return exp.convert(value)


def double(value: float) -> exp.Expr:
    """A literal of type DOUBLE: without an exponent it would be a DECIMAL, whose sums can overflow."""
    text = repr(float(value))
    return exp.Literal.number(text if "e" in text else f"{text}e0")


def names(values: tuple[str, ...] | list[str]) -> exp.Array:
    """A list of names, as the macros take them."""
    return exp.Array(expressions=[string(value) for value in values])


def listed(texts: Sequence[str], name: str) -> exp.Subquery:
    """A row for each of some texts, in a column of a name."""
    return subquery(exp.select(aliased(f.unnest(names([*texts])), name)), "anon_listed")


def cast(expression: exp.Expr, type_name: str) -> exp.Cast:
    """The expression in a type of DuckDB."""
    return exp.cast(expression, _type(type_name).copy(), copy=False)


def try_cast(expression: exp.Expr, type_name: str) -> exp.TryCast:
    """The expression in a type of DuckDB, NULL if it has no value there."""
    return exp.TryCast(this=expression, to=_type(type_name).copy())


def create_table(table: exp.Table, query: exp.Query, *, replace: bool = False) -> exp.Create:
    """``CREATE TABLE table AS query``; a temporary one in the catalog of such."""
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()]) if table.catalog == "temp" else None
    return exp.Create(this=table, kind="TABLE", replace=replace, expression=query, properties=temporary)


def drop_table(table: exp.Table) -> exp.Drop:
    """``DROP TABLE IF EXISTS table``."""
    return exp.Drop(tables=[table], kind="TABLE", exists=True)


def enum_type(name: str, values: exp.Query, order: str) -> exp.Create:
    """The statement that makes a temporary ENUM type of the one column of a query, in the order of a column."""
    values.set("order", ascending(column(order)))
    return exp.Create(
        # Not qualified: DuckDB takes no catalog in the name of a temporary type.
        this=exp.Table(this=identifier(name)),
        kind="TYPE",
        expression=exp.Anonymous(this="ENUM", expressions=[values]),
        properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
    )


def own_type(name: str) -> exp.DataType:
    """A type that was made for a run."""
    return exp.DataType.build(name, udt=True)


def unsigned_type(largest: int) -> str:
    """The smallest type that holds all numbers from 0 to the largest."""
    return next((name for most, name in UNSIGNED_TYPES if largest <= most), "UBIGINT")


@cache
def _type(name: str) -> exp.DataType:
    return exp.DataType.build(name, dialect=DIALECT)


def same(left: exp.Expr, right: exp.Expr) -> exp.NullSafeEQ:
    """Equal, with NULL equal to NULL."""
    return exp.NullSafeEQ(this=left, expression=right)


def is_there(value: exp.Expr) -> exp.Not:
    """Whether a value is not NULL."""
    return exp.Not(this=value.is_(exp.null()))


def case(condition: exp.Expr, value: exp.Expr, otherwise: exp.Expr | None = None) -> exp.Case:
    """``CASE WHEN condition THEN value ELSE otherwise END``, in which NULL is otherwise if nothing else is."""
    return exp.Case(ifs=[exp.If(this=condition, true=value)], default=otherwise)


def all_of(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """The conditions joined by AND; TRUE if there are none."""
    return exp.and_(*conditions, copy=False) if conditions else exp.true()


def equal_in(columns: Iterable[str], one: str, other: str) -> exp.Expr:
    """Whether two tables have equal values in some columns; TRUE if these are none."""
    return all_of([column(name, one).eq(column(name, other)) for name in columns])


def added(expressions: Iterable[exp.Expr]) -> exp.Expr:
    """The sum of some expressions."""
    return reduce(lambda left, right: exp.Add(this=left, expression=right), expressions)


def bits(expression: exp.Expr, mask: exp.Expr) -> exp.BitwiseAnd:
    """The bits of a number that a mask shows."""
    return exp.BitwiseAnd(this=expression, expression=mask)


def all_bits(expressions: Iterable[exp.Expr]) -> exp.Expr:
    """The bits that any of some numbers has."""
    return reduce(lambda left, right: exp.BitwiseOr(this=left, expression=right), expressions)


def count_rows() -> exp.Count:
    """``count(*)``."""
    return exp.Count(this=exp.Star(), big_int=True)


def counted_rows(relation: exp.Expr) -> exp.Select:
    """One row, ``rows``: how many a relation has."""
    return select([aliased(count_rows(), "rows")], relation.copy())


def count_distinct(expression: exp.Expr) -> exp.Count:
    """``count(DISTINCT expression)``."""
    return exp.Count(this=exp.Distinct(expressions=[expression]), big_int=True)


def filtered(aggregate: exp.Expr, condition: exp.Expr) -> exp.Filter:
    """``aggregate FILTER (WHERE condition)``."""
    return exp.Filter(this=aggregate, expression=exp.Where(this=condition))


class Functions:
    """``f.list_transform(x, y)``: the call of a function of DuckDB, with numbers as they are in Python."""

    def __getattr__(self, name: str) -> Callable[..., exp.Expr]:
        return lambda *arguments: _call(name, [*map(exp.convert, arguments)])


def _call(name: str, arguments: list[exp.Expr]) -> exp.Expr:
    """Build a call as sqlglot's parser does. ``exp.func``, if compiled, refuses some, as those that ignore NULLs."""
    dialect = Dialect.get_or_raise(DIALECT)
    make: Callable[..., exp.Expr] | None = dialect.parser_class.FUNCTIONS.get(name.upper())
    if make is None:
        return exp.Anonymous(this=name, expressions=arguments)
    try:
        return make(arguments)
    except TypeError:
        return make(arguments, dialect=dialect)


class Columns:
    """``c.anon_row_count``: a column by its name."""

    def __getattr__(self, name: str) -> exp.Column:
        return column(name)


f = Functions()
c = Columns()
