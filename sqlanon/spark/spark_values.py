"""Values of a server as DuckDB has them: types, the columns that a query reads, and texts.

A server spells fractions, instants and some other values differently. Fractions are fetched once, and DuckDB spells
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engines.relations import column_of
from sqlanon.errors import EngineError
from sqlanon.queries.kit.nodes import column, identifier, select
from sqlanon.queries.source import SourceColumn

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType, StructType

SPARK = "spark"  # sqlglot's name of the dialect
BYTES = "UTF8_BINARY"  # the collation that compares bytes

# Types of Spark, as named in its schemas, and of DuckDB.
PLAIN = {
    "boolean": "BOOLEAN",
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INTEGER",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
    "binary": "BLOB",
}
DECLARED = "__CHAR_VARCHAR_TYPE_STRING"  # metadata key of a text column's declared type, such as ``char(5)``
COLLATION = " COLLATE "  # before the collation in the type of texts that are not compared by bytes
SAME_TEXTS = {*PLAIN.values(), "DECIMAL"} - {"BLOB"}  # types whose values both sides spell alike, or are made to


def source_columns(schema: StructType) -> list[SourceColumn]:
    """Return the columns of a frame, with types of DuckDB; refuse names that differ only in case."""
    names = Counter(field.name.lower() for field in schema.fields)
    if twins := [field.name for field in schema.fields if names[field.name.lower()] > 1]:
        raise EngineError(
            f"the names of these columns differ only in case, which the server ignores: {', '.join(twins)}; rename "
            "them there",
            step="source",
        )
    found = []
    for field in schema.fields:
        # The schema has the declared type of fixed-length texts in its metadata.
        declared = str((field.metadata or {}).get(DECLARED, "")).upper()
        kind = declared if declared.startswith("CHAR(") else _type_name(field.dataType)
        found.append(column_of(field.name, kind))
    return found


def misfits(columns: Iterable[SourceColumn]) -> Iterator[str]:
    """Yield a sentence per column whose values a server compares or spells differently from DuckDB."""
    for found in columns:
        if COLLATION in found.type:
            yield (
                f'"{found.name}" is {found.type}, by which texts that differ can be equal: copy it to a column without '
                "a collation, or make it an identifier, which is dropped"
            )
        elif found.type.startswith("CHAR("):
            yield (
                f'"{found.name}" is {found.type}, to which the server adds white space: copy it to a column of type '
                "STRING, or make it an identifier, which is dropped"
            )
        elif found.type.partition("(")[0] not in SAME_TEXTS:
            yield HAS_NO_TEXT.format(found.name, found.type)


HAS_NO_TEXT = (
    '"{}" ({}) has values without a text which the server and DuckDB spell alike: make it an identifier, which is '
    "dropped, or a column of text"
)


def _type_name(kind: DataType) -> str:
    from pyspark.sql.types import ArrayType, DecimalType, StringType

    if isinstance(kind, StringType) and kind.collation != BYTES:
        return f"VARCHAR{COLLATION}{kind.collation}"
    if isinstance(kind, DecimalType):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if isinstance(kind, ArrayType):
        return f"{_type_name(kind.elementType)}[]"
    return PLAIN.get(kind.typeName(), kind.simpleString().upper())


def columns_of(schema: pa.Schema) -> list[SourceColumn]:
    """Return the columns of a small relation, as texts unless Spark would spell them differently."""
    import pyarrow as pa

    return [column_of(field.name, "DOUBLE" if pa.types.is_floating(field.type) else "VARCHAR") for field in schema]


def sendable(table: pa.Table) -> pa.Table:
    """Cast a table to types that Spark has: texts for ENUMs, signed numbers for unsigned ones."""
    import pyarrow as pa

    fields = []
    for field in table.schema:
        if pa.types.is_dictionary(field.type):
            field = field.with_type(field.type.value_type)
        elif pa.types.is_uint64(field.type):
            field = field.with_type(pa.decimal128(20, 0))
        elif pa.types.is_unsigned_integer(field.type):
            field = field.with_type(pa.int64())
        fields.append(field)
    return table.cast(pa.schema(fields))


Columns = Mapping[str, Sequence[SourceColumn]]  # by name of the relation in a query

FLOAT_TEXTS = "anon_float_texts"  # prefix of lookup relations


@dataclass(frozen=True)
class FloatTexts:
    """The lookup of a column of fractions, which each server spells in its own way."""

    name: str  # of the lookup: ``spelled`` by the server, and ``text`` by DuckDB
    relation: str  # of the column
    column: str
    is_single: bool  # 32-bit fractions

    @property
    def look_up(self) -> str:
        """The statement that asks a server for its spellings."""
        spelled = exp.alias_(exp.cast(column(self.column), "STRING"), "spelled")
        return select([spelled], exp.Table(this=identifier(self.relation))).distinct().sql(SPARK)


class Scopes:
    """The columns of all relations that a query reads, and the lookups of texts."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.texts: dict[tuple[str, str], FloatTexts] = {}  # by relation and column

    def of(self, query: exp.Select) -> list[SourceColumn]:
        """Return the columns of ``*`` in a query, in order."""
        return [each for relation in _relations(query) for each in self._of_relation(relation)]

    def column(self, query: exp.Select, found: exp.Column) -> tuple[exp.Expr, SourceColumn] | None:
        """Resolve a column to a relation that the query reads, and the column there, if any."""
        for relation in _relations(query):
            if found.table in ("", relation.alias_or_name):
                named = (each for each in self._of_relation(relation) if each.name.lower() == found.name.lower())
                if (read := next(named, None)) is not None:
                    return relation, read
        return None

    def origin(self, relation: exp.Expr, name: str) -> tuple[str, str] | None:
        """Trace a column through steps that pass it on to its relation; None if a step computes it."""
        query = relation.this if isinstance(relation, exp.Subquery) else _step(relation)
        if query is None:
            return relation.name, name
        if not isinstance(query, exp.Select):
            return None
        made = next((each.unalias() for each in query.selects if each.alias_or_name.lower() == name.lower()), None)
        found = self.column(query, made) if isinstance(made, exp.Column) else None
        return None if found is None else self.origin(found[0], found[1].name)

    def texts_of(self, relation: exp.Expr, read: SourceColumn) -> FloatTexts:
        """Return the lookup of a column, one per statement."""
        origin = self.origin(relation, read.name)
        if origin is None:
            raise EngineError(HAS_NO_TEXT.format(read.name, read.type), step="source")
        new = FloatTexts(f"{FLOAT_TEXTS}_{len(self.texts)}", *origin, is_single=read.type == "FLOAT")
        return self.texts.setdefault(origin, new)

    def _of_relation(self, relation: exp.Expr) -> list[SourceColumn]:
        if isinstance(relation, exp.Subquery):
            return self.made_by(relation.this)
        if isinstance(relation, exp.Values):
            return [column_of(name, "VARCHAR") for name in relation.alias_column_names]
        assert isinstance(relation, exp.Table)
        if relation.name.startswith(FLOAT_TEXTS):
            return []
        made = _step(relation)
        return [*self._columns[relation.name]] if made is None else self.made_by(made)

    def made_by(self, query: exp.Expr) -> list[SourceColumn]:
        """Return the columns of a query's result; its stars are spelled out."""
        if isinstance(query, exp.SetOperation):
            return self.made_by(query.left)
        assert isinstance(query, exp.Select)
        read = {each.name.lower(): each for each in self.of(query)} if query.args.get("from_") else {}
        return [_made(selected, read) for selected in query.selects]


def _relations(query: exp.Select) -> list[exp.Expr]:
    return [query.args["from_"].this, *(join.this for join in query.args.get("joins") or [])]


def _made(selected: exp.Expr, read: Mapping[str, SourceColumn]) -> SourceColumn:
    """Return the column that an expression makes, of the type of the column that it passes on."""
    made = selected.unalias()
    while isinstance(made, exp.Case | exp.Paren):  # a number, or its bound
        made = made.args["default"] if isinstance(made, exp.Case) and made.args.get("default") else made.this
    found = read.get(made.name.lower()) if isinstance(made, exp.Column) else None
    return column_of(selected.alias_or_name, "VARCHAR" if found is None else found.type)


def _step(table: exp.Expr) -> exp.Query | None:
    """Return the step of a WITH that a name refers to, in its query or one around it."""
    if table.args.get("db"):
        return None
    around = table.find_ancestor(exp.Select, exp.SetOperation)
    while around is not None:
        for step in around.ctes:
            if step.alias == table.name and table.find_ancestor(exp.CTE) is not step:
                found: exp.Query = step.this
                return found
        around = around.find_ancestor(exp.Select, exp.SetOperation)
    return None


def spell_texts(query: exp.Select, scopes: Scopes) -> None:
    """Make texts of values as DuckDB does, with lookups for fractions, which the scopes collect."""
    if not query.args.get("from_"):
        return
    for cast in [*_own(query, exp.Cast)]:
        value = _cast_value(cast)
        found = scopes.column(query, value) if isinstance(value, exp.Column) else None
        if found is not None and cast.args["to"].is_type("TEXT"):
            _spell_text(query, cast, *found, scopes)
        elif found is not None and found[1].traits.is_list:
            _refuse_items(found[1])
    for counted in [*_own(query, exp.ApproxDistinct)]:
        counted.set("this", exp.cast(counted.this.copy(), "TEXT"))  # Sail does not estimate counts of fractions


def _spell_text(query: exp.Select, cast: exp.Expr, relation: exp.Expr, read: SourceColumn, scopes: Scopes) -> None:
    if [*misfits([read])]:
        raise EngineError(HAS_NO_TEXT.format(read.name, read.type), step="source")
    if read.traits.is_instant:
        cast.replace(exp.DPipe(this=cast.copy(), expression=exp.Literal.string("+00")))
    elif read.traits.is_float:
        _look_up(query, cast, scopes.texts_of(relation, read), relation)


def _refuse_items(read: SourceColumn) -> None:
    """Refuse a list that is cast to texts, unless the server spells its items as DuckDB does."""
    items = column_of(read.name, read.type.removesuffix("[]")).traits
    if not items.can_be_rebuilt:
        raise EngineError(HAS_NO_TEXT.format(read.name, read.type), step="source")


def _cast_value(cast: exp.Expr) -> exp.Expr:
    """Return the expression that a text is made of, without macros' calls around it."""
    value: exp.Expr = cast.this
    while isinstance(value, exp.Coalesce | exp.Paren | exp.Bracket) or (
        isinstance(value, exp.Array) and len(value.expressions) == 1
    ):
        value = value.expressions[0] if isinstance(value, exp.Array) else value.this
    return value


def _look_up(query: exp.Select, cast: exp.Expr, wanted: FloatTexts, relation: exp.Expr) -> None:
    """Take the text of a fraction from a lookup by the server's spelling, joined after its relation."""
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
    """Yield nodes of a kind that belong to the query itself, not to one inside it."""
    for node in query.find_all(kind):
        if node.find_ancestor(exp.Select) is query:
            yield node
