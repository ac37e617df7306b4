"""Texts of values as DuckDB makes them: fractions, instants and what has none are spelled in another way on a server.

Fractions are looked up once, and DuckDB spells them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.spark.scopes import FLOAT_TEXTS, Scopes
from sqlanon.spark.spark_types import HAS_NO_TEXT, SPARK, misfits
from sqlanon.engines.types import column_of
from sqlanon.errors import EngineError
from sqlanon.queries.kit.nodes import column, identifier, select
from sqlanon.queries.source import SourceColumn


@dataclass(frozen=True)
class FloatTexts:
    """The texts of a column of fractions, which servers spell each in their way."""

    name: str  # the relation that has them, ``spelled`` as the server does, and ``text``, as DuckDB
    relation: str  # with the column of the fractions
    column: str
    is_single: bool  # whether the fractions are of 32 bits

    @property
    def look_up(self) -> str:
        """The statement that asks a server for the fractions as it spells them."""
        spelled = exp.alias_(exp.cast(column(self.column), "STRING"), "spelled")
        return select([spelled], exp.Table(this=identifier(self.relation))).distinct().sql(SPARK)


def spell_texts(query: exp.Select, scopes: Scopes, texts: dict[tuple[str, str], FloatTexts]) -> None:
    """Make the texts of values as DuckDB does; those of fractions are looked up, and added to ``texts``."""
    if not query.args.get("from_"):
        return
    for cast in [*_own(query, exp.Cast)]:
        value = _cast_value(cast)
        found = scopes.column(query, value) if isinstance(value, exp.Column) else None
        if found is not None and cast.args["to"].is_type("TEXT"):
            _spell_text(query, cast, *found, scopes, texts)
        elif found is not None and found[1].traits.is_list:
            _refuse_items(found[1])
    for counted in [*_own(query, exp.ApproxDistinct)]:
        counted.set("this", exp.cast(counted.this.copy(), "TEXT"))  # Sail counts no fractions so


# More than six parameters: a text, what it is of, and what has been looked up.
def _spell_text(
    query: exp.Select,
    cast: exp.Expr,
    relation: exp.Expr,
    read: SourceColumn,
    scopes: Scopes,
    texts: dict[tuple[str, str], FloatTexts],
) -> None:
    if [*misfits([read])]:
        raise EngineError(HAS_NO_TEXT.format(read.name, read.type), step="source")
    if read.traits.is_instant:
        cast.replace(exp.DPipe(this=cast.copy(), expression=exp.Literal.string("+00")))
    elif read.traits.is_float:
        _look_up(query, cast, _float_texts(scopes.origin(relation, read.name), read, texts), relation)


def _refuse_items(read: SourceColumn) -> None:
    """Refuse a list that becomes one of texts unless the server spells its items as DuckDB does."""
    items = column_of(read.name, read.type.removesuffix("[]")).traits
    if not items.can_be_rebuilt:
        raise EngineError(HAS_NO_TEXT.format(read.name, read.type), step="source")


def _cast_value(cast: exp.Expr) -> exp.Expr:
    """What a text is made of, without what our macros put around it."""
    value: exp.Expr = cast.this
    while isinstance(value, exp.Coalesce | exp.Paren | exp.Bracket) or (
        isinstance(value, exp.Array) and len(value.expressions) == 1
    ):
        value = value.expressions[0] if isinstance(value, exp.Array) else value.this
    return value


def _float_texts(
    origin: tuple[str, str] | None, read: SourceColumn, texts: dict[tuple[str, str], FloatTexts]
) -> FloatTexts:
    """The texts of a column, which are the same wherever a statement reads it."""
    if origin is None:
        raise EngineError(HAS_NO_TEXT.format(read.name, read.type), step="source")
    new = FloatTexts(f"{FLOAT_TEXTS}_{len(texts)}", *origin, is_single=read.type == "FLOAT")
    return texts.setdefault(origin, new)


def _look_up(query: exp.Select, cast: exp.Expr, wanted: FloatTexts, relation: exp.Expr) -> None:
    """Take the text of a fraction from a relation that has it for what the server spells, joined behind its own."""
    spelled = exp.cast(cast.this.copy(), "TEXT")
    cast.replace(column("text", wanted.name))
    joins: list[exp.Join] = query.args.get("joins") or []
    if any(join.this.name == wanted.name for join in joins):
        return
    on = exp.EQ(this=column("spelled", wanted.name), expression=spelled)
    place = next((place for place, join in enumerate(joins, 1) if join.this is relation), 0)
    joins.insert(place, exp.Join(this=exp.Table(this=identifier(wanted.name)), side="LEFT", on=on))
    query.set("joins", joins)


def _own(query: exp.Select, kind: type[exp.Expr]) -> Iterator[exp.Expr]:
    """The nodes of a kind that are of a query itself, not of one in it."""
    for node in query.find_all(kind):
        if node.find_ancestor(exp.Select) is query:
            yield node
