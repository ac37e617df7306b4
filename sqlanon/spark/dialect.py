"""Translation of DuckDB statements to Spark, with other spellings where Spark lacks a construct.

Servers of Spark Connect differ in the syntax that they parse, so stars, keys of groups and repeated rows are spelled
out in a common subset. Texts are compared by bytes there, as ``COLLATE "binary"`` does here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import chain

from sqlglot import exp, parse_one
from sqlglot.optimizer.simplify import simplify

from sqlanon.queries.kit.nodes import DIALECT, SIGNED, aliased, column, identifier
from sqlanon.queries.source import SourceColumn
from sqlanon.spark.spark_values import SPARK, Columns, FloatTexts, Scopes, spell_texts

WIDEST = "DECIMAL(38, 0)"  # for integers beyond 64 bits, INT128 and UINT128 in sqlglot


@dataclass(frozen=True)
class Statement:
    text: str
    float_texts: tuple[FloatTexts, ...]  # lookups that it reads besides the relations of the query


def in_spark(query: exp.Query, columns: Columns) -> Statement:
    """Translate a query of DuckDB to Spark; the tree given is unchanged.

    Refuse texts of values that the two sides do not spell alike.
    """
    # Parse the SQL: functions from templates become nodes of their own.
    tree = parse_one(query.sql(DIALECT), dialect=DIALECT)
    scopes = Scopes(columns)
    for each in _inside_out(tree):
        _spell_columns(each, scopes)
        group = each.args.get("group")
        if group is not None and group.args.get("all"):
            keys = [selected.unalias().copy() for selected in each.selects if not selected.find(exp.AggFunc)]
            each.set("group", exp.Group(expressions=keys))
        spell_texts(each, scopes)
        _repeat_rows(each)
    for node in reversed([*tree.walk()]):  # parts before what they are parts of
        change = _CHANGES.get(type(node))
        if change is not None:
            node.replace(change(node))
    return Statement(tree.sql(SPARK), tuple(scopes.texts.values()))


def _inside_out(tree: exp.Expr) -> list[exp.Select]:
    found: list[exp.Select] = []

    def visit(node: exp.Expr) -> None:
        with_ = node.args.get("with_")
        for child in [*([] if with_ is None else [with_]), *(c for c in node.iter_expressions() if c is not with_)]:
            visit(child)
        if isinstance(node, exp.Select):
            found.append(node)

    visit(tree)
    return found


def _spell_columns(query: exp.Select, scopes: Scopes) -> None:
    """Spell out ``* EXCLUDE``, ``* REPLACE`` and expressions over ``COLUMNS(*)``."""
    if not any(isinstance(selected, exp.Star) or selected.find(exp.Columns) for selected in query.selects):
        return
    read = scopes.of(query)
    spelled: list[exp.Expr] = []
    for selected in query.selects:
        if isinstance(selected, exp.Star):
            left_out = {each.name.lower() for each in selected.args.get("except_") or []}
            instead = {each.alias.lower(): each for each in selected.args.get("replace") or []}
            kept = (each.name for each in read if each.name.lower() not in left_out)
            spelled += [instead.get(name.lower()) or column(name) for name in kept]
        elif selected.find(exp.Columns):
            spelled += _of_each_column(selected, read)
        else:
            spelled.append(selected)
    query.set("expressions", spelled)


def _of_each_column(selected: exp.Expr, read: list[SourceColumn]) -> list[exp.Expr]:
    """Expand an expression over ``COLUMNS(*)``, per column, or as the arguments of a function of all."""
    unpacked = [node for node in selected.find_all(exp.Columns) if node.args.get("unpack")]
    if unpacked:
        for node in unpacked:
            node.replace(exp.Tuple(expressions=[column(each.name) for each in read]))
        # Pass the parts of the tuple as separate arguments.
        for function in selected.find_all(exp.Func):
            for name, value in function.args.items():
                if isinstance(value, list):
                    parts = (each.expressions if isinstance(each, exp.Tuple) else [each] for each in value)
                    function.set(name, [*chain.from_iterable(parts)])
        return [selected]
    return [exp.alias_(_of_column(selected.unalias(), each), identifier(each.name)) for each in read]


def _of_column(expression: exp.Expr, read: SourceColumn) -> exp.Expr:
    """Expand an expression over ``COLUMNS(*)`` for one column, without cases for other types."""
    bound = exp.Select(expressions=[expression.copy()])
    for values in list(bound.find_all(exp.Columns)):
        values.replace(column(read.name))
    for kind in list(bound.find_all(exp.Typeof)):
        kind.replace(exp.Literal.string(read.type))
    for matched in list(bound.find_all(exp.RegexpLike)):
        if isinstance(matched.this, exp.Literal):
            matched.replace(exp.convert(re.search(matched.expression.name, read.type) is not None))
    (made,) = simplify(bound, dialect=DIALECT).selects
    assert isinstance(made, exp.Expr)
    return made


def _repeat_rows(query: exp.Select) -> None:
    """Replace ``unnest(list)`` among the columns by a lateral view of the list's items.

    For ``unnest(range(0, count))``, the view has the numbers below a count.
    """
    for selected in query.selects:
        unnested = selected.unalias()
        if not isinstance(unnested, exp.Explode):
            continue
        if not isinstance(unnested.this, exp.GenerateSeries):
            items = exp.TableAlias(this=identifier("anon_items"), columns=[identifier("anon_item")])
            query.append("laterals", exp.Lateral(this=unnested.copy(), view=True, alias=items))
            selected.replace(aliased(column("anon_item"), selected.alias))
            continue
        count = exp.cast(unnested.this.args["end"], "BIGINT")
        # A sequence that ends below its start runs down: take one number more, and drop it again.
        numbers = exp.func("sequence", exp.cast(exp.convert(0), "BIGINT"), count)
        numbers = exp.func("slice", numbers, exp.convert(1), exp.cast(count.copy(), "INT"))
        view = exp.Lateral(
            this=exp.Explode(this=numbers),
            view=True,
            alias=exp.TableAlias(this=identifier("anon_numbers"), columns=[identifier(selected.alias)]),
        )
        query.append("laterals", view)
        selected.replace(column(selected.alias))


def _bare(node: exp.Expr) -> exp.Expr:
    inner: exp.Expr = node.this
    return inner


def _joined(node: exp.Expr) -> exp.Expr:
    """Concatenate texts as DuckDB does, which converts all values and skips NULLs."""
    parts = [exp.func("coalesce", exp.cast(each, "TEXT"), exp.Literal.string("")) for each in node.expressions]
    return exp.Concat(expressions=parts)


def _same(node: exp.Expr) -> exp.Expr:
    """Compare values that may be NULL: Sail has no hash join on ``<=>``, and fails elsewhere."""
    left, right = node.this, node.expression
    missing = [exp.Is(this=each.copy(), expression=exp.null()) for each in (left, right)]
    if not isinstance(node.find_ancestor(exp.Join, exp.Select), exp.Join):
        return exp.func("coalesce", exp.paren(exp.EQ(this=left, expression=right)), exp.paren(exp.and_(*missing)))
    texts = [exp.func("coalesce", exp.cast(each, "TEXT"), exp.Literal.string("")) for each in (left, right)]
    both = exp.EQ(this=exp.paren(missing[0]), expression=exp.paren(missing[1]))
    return exp.and_(exp.EQ(this=texts[0], expression=texts[1]), both)


def _listed_in(node: exp.Expr) -> exp.Expr:
    """Look up a value in a query; outside conditions, as an element of an array: Sail answers no query there."""
    query = node.args.get("query")
    if query is None or isinstance(node.find_ancestor(exp.Where, exp.Case, exp.Select), exp.Where):
        return node
    found = query.unnest().copy()
    (selected,) = found.selects
    found.set("expressions", [exp.Anonymous(this="collect_set", expressions=[selected.unalias()])])
    return exp.Anonymous(this="array_contains", expressions=[exp.Subquery(this=found), node.this])


def _decoded(node: exp.Expr) -> exp.Expr:
    """Drop the encoding and decoding of a text, which only removes the type of an ENUM."""
    return _bare(node.this) if isinstance(node.this, exp.Encode) else node


def _step_of(node: exp.Expr) -> exp.Expr:
    """Drop MATERIALIZED, which Spark lacks: the server computes a step as often as the query reads it."""
    return exp.CTE(this=node.this, alias=node.args["alias"])


def _cast(node: exp.Expr) -> exp.Expr:
    """Convert up to 8 hex digits to a number, or 16 as two numbers: servers disagree beyond 63 bits."""
    text = node.this.unnest()
    if not isinstance(text, exp.DPipe) or text.this.name != "0x":
        return node

    def part(first: int) -> exp.Expr:
        eight = exp.func("substring", text.expression.copy(), exp.convert(first), exp.convert(8))
        return exp.cast(exp.func("conv", eight, exp.convert(16), exp.convert(10)), "BIGINT")

    if node.args["to"].is_type("INT"):
        return part(1)
    high, low = (exp.cast(part(first), "DECIMAL(20, 0)") for first in (1, 9))
    return exp.paren(exp.Add(this=exp.Mul(this=high, expression=exp.convert(2**32)), expression=low))


def _type(node: exp.Expr) -> exp.Expr:
    name = node.sql(DIALECT)
    wanted = SIGNED.get(name, WIDEST if name in ("INT128", "UINT128") else name)
    return node if wanted == name else exp.DataType.build(wanted, dialect=SPARK)


def _without_frame(node: exp.Expr) -> exp.Expr:
    """Drop the frame of LEAD and LAG, which Spark does not accept."""
    if isinstance(node.this, exp.Lead | exp.Lag):
        node.set("spec", None)
    return node


def _listed(node: exp.Expr) -> exp.Expr:
    if not isinstance(node.this, exp.Order):
        return node
    listed = exp.Anonymous(this="listagg", expressions=[node.this.this, node.args["separator"]])
    return exp.WithinGroup(this=listed, expression=exp.Order(expressions=node.this.expressions))


def _function(node: exp.Expr) -> exp.Expr:
    name = node.name.lower()
    if name == "list_unique":
        return _count_of_distinct(node.expressions[0])
    if name == "list_sum" and isinstance(node.expressions[0], exp.Transform):
        return _sum_of_pairs(node.expressions[0])
    if name == "row":
        return exp.Anonymous(this="struct", expressions=node.expressions)
    return exp.Anonymous(this=FUNCTIONS[name], expressions=node.expressions) if name in FUNCTIONS else node


def _sum_of_pairs(transformed: exp.Transform) -> exp.Expr:
    """Expand a sum over pairs from two literal lists, as Sail lacks list functions."""
    lists = [[*listed.expressions] for listed in transformed.this.expressions]
    function, terms = transformed.expression, []
    (name,) = function.expressions
    for pair in zip(*lists, strict=True):
        made: exp.Expr = exp.paren(function.this.copy())
        for part in [*made.find_all(exp.StructExtract)]:
            if part.this.name == name.name:
                part.replace(exp.paren(pair[int(part.expression.name) - 1].copy()))
        terms.append(made)
    return exp.paren(reduce(lambda left, right: exp.Add(this=left, expression=right), terms))


def _count_of_distinct(values: exp.Expr) -> exp.Expr:
    listed = values.this if isinstance(values, exp.Filter) else values
    counted = exp.Count(this=exp.Distinct(expressions=[listed.this]))
    return exp.Filter(this=counted, expression=values.expression) if isinstance(values, exp.Filter) else counted


# Functions with another name in Spark.
FUNCTIONS = {
    "hash": "xxhash64",
    "strlen": "octet_length",
    "epoch_us": "unix_micros",
    "fsum": "sum",
    "prefix": "startswith",
}

_CHANGES: Mapping[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.CTE: _step_of,
    exp.Collate: _bare,
    exp.Concat: _joined,
    exp.Decode: _decoded,
    exp.In: _listed_in,
    exp.NullSafeEQ: _same,
    exp.Cast: _cast,
    exp.DataType: _type,
    exp.GroupConcat: _listed,
    exp.Window: _without_frame,
    exp.Anonymous: _function,
}
