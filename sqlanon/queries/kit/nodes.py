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
"""The dialect of queries, macros and sent statements."""

UNSIGNED_TYPES = ((0xFF, "UTINYINT"), (0xFFFF, "USMALLINT"), (0xFFFFFFFF, "UINTEGER"))

UNNESTED = 500  # values of a row per list to unnest

SIGNED = {"UTINYINT": "SMALLINT", "USMALLINT": "INTEGER", "UINTEGER": "BIGINT", "UBIGINT": "DECIMAL(20, 0)"}
"""Signed types for the numbers of unsigned ones, which Spark and tables of lakes lack."""

Grain = Literal["row", "rows", "cell", "class", "node", "count"]
"""The meaning of a row of a relation; ``rows`` are groups of equal rows, possibly single ones."""


@dataclass(frozen=True)
class Relation:
    """A temporary table that a step makes."""

    name: str
    grain: Grain

    @property
    def table(self) -> exp.Table:
        return temporary_table(self.name)


@dataclass(frozen=True)
class Step:
    """A statement of a run that makes a relation by a query."""

    makes: Relation
    query: exp.Query
    purpose: str  # for observers
    is_near: bool = False  # whether the relation must be here, even if the rows are far
    is_again: bool = False  # whether to replace an existing relation, which the query may read


@dataclass(frozen=True)
class PreparedQuery:
    """A prepared query, with a number or a list of numbers for each parameter."""

    name: str
    values: tuple[int | list[int], ...] = ()


def temporary_table(name: str) -> exp.Table:
    """Name a temporary table by its catalog, so that no table of a user hides it."""
    return exp.Table(this=identifier(name), db=identifier("main"), catalog=identifier("temp"))


def identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


def column(name: str, table: str | None = None) -> exp.Column:
    return exp.Column(this=identifier(name), table=identifier(table) if table else None)


def all_columns(table: str) -> exp.Column:
    """``"table".*``."""
    return exp.Column(this=exp.Star(), table=identifier(table))


def aliased(expression: exp.Expr, name: str) -> exp.Alias:
    return exp.Alias(this=expression, alias=identifier(name))


def copies(expressions: Iterable[exp.Expr]) -> list[exp.Expr]:
    """Copy expressions: a node belongs to one place of one tree."""
    return [expression.copy() for expression in expressions]


def select(columns: Iterable[exp.Expr], relation: exp.Expr) -> exp.Select:
    """Return ``SELECT columns FROM relation``, without the copies of sqlglot's builder: a search renders thousands."""
    return exp.Select(expressions=list(columns), from_=exp.From(this=relation))


def grouped(query: exp.Select, keys: Sequence[exp.Expr]) -> exp.Select:
    if keys:
        query.set("group", exp.Group(expressions=list(keys)))
    return query


def left_join(query: exp.Select, relation: exp.Expr, condition: exp.Expr) -> exp.Select:
    """Append ``LEFT JOIN relation ON condition`` in place; sqlglot's builder would parse the keywords each time."""
    query.append("joins", exp.Join(this=relation, side="LEFT", on=condition))
    return query


def given_lists(names: Sequence[str]) -> exp.Select:
    """Unnest lists of numbers as columns of these names: the first parameters of a prepared query."""
    given = ((cast(exp.Placeholder(this=str(place)), "BIGINT[]"), name) for place, name in enumerate(names, 1))
    return exp.Select(expressions=[aliased(f.unnest(each), name) for each, name in given])


def cross_join(query: exp.Select, relation: exp.Expr) -> exp.Select:
    query.append("joins", exp.Join(this=relation, kind="CROSS"))
    return query


def unpivoted(relation: exp.Expr, values: Mapping[int, exp.Expr], beside: Sequence[exp.Column] = ()) -> exp.Select:
    """Select a row for each row of a relation and each of its values, which have one type.

    A row has the place of the value, ``anon_place``, the value, ``anon_value``, and the columns ``beside``. Values are
    split into several lists: unnesting one list of 15,000 takes DuckDB seven times as long.
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
    """Return ``ORDER BY key ASC NULLS LAST, ...``, independent of the default order of the connection."""
    return exp.Order(expressions=[exp.Ordered(this=key, desc=False, nulls_first=nulls_first) for key in keys])


def union_all(queries: Iterable[exp.Query]) -> exp.Query:
    return reduce(lambda left, right: exp.Union(this=left, expression=right, distinct=False), queries)


def union_by_name(queries: Iterable[exp.Query]) -> exp.Query:
    """Return ``query UNION ALL BY NAME query ...``."""
    return reduce(lambda left, right: exp.Union(this=left, expression=right, distinct=False, by_name=True), queries)


def called(relation: exp.Expr, alias: str) -> exp.Expr:
    return exp.alias_(relation, alias, table=True)


def subquery(query: exp.Query, alias: str) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=identifier(alias)))


def made_once(name: str, query: exp.Query) -> exp.CTE:
    """``name AS MATERIALIZED (query)``, for a WITH."""
    return exp.CTE(this=query, alias=exp.TableAlias(this=identifier(name)), materialized=True)


def string(value: str) -> exp.Literal:
    return exp.Literal.string(value)


def number(value: int | float | list[int]) -> exp.Expr:
    return exp.convert(value)


def double(value: float) -> exp.Expr:
    """Return a literal of type DOUBLE: without an exponent it would be a DECIMAL, whose sums can overflow."""
    text = repr(float(value))
    return exp.Literal.number(text if "e" in text else f"{text}e0")


def names(values: tuple[str, ...] | list[str]) -> exp.Array:
    """Return an array of names for macros."""
    return exp.Array(expressions=[string(value) for value in values])


def listed(texts: Sequence[str], name: str) -> exp.Subquery:
    """Return a relation with a row per text."""
    return subquery(exp.select(aliased(f.unnest(names([*texts])), name)), "anon_listed")


def struct(fields: Mapping[str, exp.Expr]) -> exp.Struct:
    entries = [exp.PropertyEQ(this=identifier(name), expression=value) for name, value in fields.items()]
    return exp.Struct(expressions=entries)


def cast(expression: exp.Expr, type_name: str) -> exp.Cast:
    return exp.cast(expression, _type(type_name).copy(), copy=False)


def try_cast(expression: exp.Expr, type_name: str) -> exp.TryCast:
    """Cast to a type of DuckDB, or to NULL where that fails."""
    return exp.TryCast(this=expression, to=_type(type_name).copy())


def create_table(table: exp.Table, query: exp.Query, *, replace: bool = False) -> exp.Create:
    """Return ``CREATE TABLE table AS query``, temporary in the catalog ``temp``."""
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()]) if table.catalog == "temp" else None
    return exp.Create(this=table, kind="TABLE", replace=replace, expression=query, properties=temporary)


def drop_table(table: exp.Table) -> exp.Drop:
    return exp.Drop(tables=[table], kind="TABLE", exists=True)


def enum_type(name: str, values: exp.Query, order: str) -> exp.Create:
    """Create a temporary ENUM type from the only column of a query, in the order of a column."""
    values.set("order", ascending(column(order)))
    return exp.Create(
        # Unqualified: DuckDB accepts no catalog in the name of a temporary type.
        this=exp.Table(this=identifier(name)),
        kind="TYPE",
        expression=exp.Anonymous(this="ENUM", expressions=[values]),
        properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
    )


def own_type(name: str) -> exp.DataType:
    return exp.DataType.build(name, udt=True)


def unsigned_type(largest: int) -> str:
    """Return the smallest type for numbers from 0 to the largest."""
    return next((name for most, name in UNSIGNED_TYPES if largest <= most), "UBIGINT")


@cache
def _type(name: str) -> exp.DataType:
    return exp.DataType.build(name, dialect=DIALECT)


def same(left: exp.Expr, right: exp.Expr) -> exp.NullSafeEQ:
    """Compare for equality, with NULL equal to NULL."""
    return exp.NullSafeEQ(this=left, expression=right)


def is_there(value: exp.Expr) -> exp.Not:
    """Test that a value is not NULL."""
    return exp.Not(this=value.is_(exp.null()))


def case(condition: exp.Expr, value: exp.Expr, otherwise: exp.Expr | None = None) -> exp.Case:
    """Return ``CASE WHEN condition THEN value ELSE otherwise END``."""
    return exp.Case(ifs=[exp.If(this=condition, true=value)], default=otherwise)


def all_of(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """Join conditions by AND; TRUE without any."""
    return exp.and_(*conditions, copy=False) if conditions else exp.true()


def equal_in(columns: Iterable[str], one: str, other: str) -> exp.Expr:
    """Test that two tables have equal values in some columns; TRUE without any."""
    return all_of([column(name, one).eq(column(name, other)) for name in columns])


def added(expressions: Iterable[exp.Expr]) -> exp.Expr:
    return reduce(lambda left, right: exp.Add(this=left, expression=right), expressions)


def bits(expression: exp.Expr, mask: exp.Expr) -> exp.BitwiseAnd:
    return exp.BitwiseAnd(this=expression, expression=mask)


def all_bits(expressions: Iterable[exp.Expr]) -> exp.Expr:
    return reduce(lambda left, right: exp.BitwiseOr(this=left, expression=right), expressions)


def count_rows() -> exp.Count:
    return exp.Count(this=exp.Star(), big_int=True)


def counted_rows(relation: exp.Expr) -> exp.Select:
    """Select one row, ``rows``: the row count of a relation."""
    return select([aliased(count_rows(), "rows")], relation.copy())


def count_distinct(expression: exp.Expr) -> exp.Count:
    return exp.Count(this=exp.Distinct(expressions=[expression]), big_int=True)


def filtered(aggregate: exp.Expr, condition: exp.Expr) -> exp.Filter:
    return exp.Filter(this=aggregate, expression=exp.Where(this=condition))


class Functions:
    """Builder of function calls: ``f.list_transform(x, 2)``, with Python values as literals."""

    def __getattr__(self, name: str) -> Callable[..., exp.Expr]:
        return lambda *arguments: _call(name, [*map(exp.convert, arguments)])


def _call(name: str, arguments: list[exp.Expr]) -> exp.Expr:
    """Build a call as sqlglot's parser does; a compiled ``exp.func`` refuses some, like IGNORE NULLS."""
    dialect = Dialect.get_or_raise(DIALECT)
    make: Callable[..., exp.Expr] | None = dialect.parser_class.FUNCTIONS.get(name.upper())
    if make is None:
        return exp.Anonymous(this=name, expressions=arguments)
    try:
        return make(arguments)
    except TypeError:
        return make(arguments, dialect=dialect)


class Columns:
    """Builder of columns: ``c.anon_row_count``."""

    def __getattr__(self, name: str) -> exp.Column:
        return column(name)


f = Functions()
c = Columns()
