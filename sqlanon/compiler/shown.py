"""The columns that are released as they are: what tells the rows apart that a release shows, and orders them.

Equal values can differ in their bytes, such as 0.0 and -0.0. They must not stand in the order of the source, nor one of
them for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.compiler.bind import SourceColumn
from sqlanon.compiler.encoding import ONE_FORM_PER_VALUE, Encoding
from sqlanon.compiler.macros import DIALECT
from sqlanon.compiler.nodes import aliased, cast, column, exact_text, number

FLOATS = ("FLOAT", "DOUBLE")

NO_SIGN = 0x7FFF_FFFF_FFFF_FFFF
"""All bits of a BIGINT but that of its sign."""


@dataclass(frozen=True)
class Shown:
    """A column of rows, or of groups of them, that is released as it is.

    Attributes:
        name: its name.
        value: what is released of it.
        keys: the columns beside it that tell its values apart and order them; none if it does so itself.
        is_grouped: whether any of the values that agree in the keys can stand for all of them.
    """

    name: str
    value: exp.Expr
    keys: tuple[exp.Alias, ...] = ()
    is_grouped: bool = True

    @property
    def key_names(self) -> list[str]:
        """The columns that tell its values apart and order them."""
        return [key.alias for key in self.keys] or [self.name]


def shown_columns(plan: Encoding, *, of_cells: bool) -> list[Shown]:
    """The released columns but the quasi-identifiers, from the cells or from the source."""
    policy = plan.bound.policy
    found: list[Shown] = []
    for source_column in plan.bound.columns:
        name = source_column.name
        if name in policy.released_columns and name not in policy.quasi_identifiers:
            raw = column(plan.raw(name), "anon_cells") if of_cells else column(name, "anon_source")
            value = released_value(source_column, raw)
            keys = _keys(plan.types[name], value)
            named = [aliased(key, f"anon_shown_{len(found)}_{index}") for index, key in enumerate(keys)]
            found.append(Shown(name, value, tuple(named), _is_grouped(plan.types[name])))
    return found


def can_be_grouped(shown: Sequence[Shown]) -> bool:
    """Whether equal rows can be grouped without a loss."""
    return all(each.is_grouped for each in shown)


def released_value(source_column: SourceColumn, raw: exp.Expr) -> exp.Expr:
    """What is released of a value of a column; texts are compared byte by byte, whatever their collation was."""
    return exact_text(raw) if is_text(source_column) else _without_enum(raw, source_column.type)


def plain_value(source_column: SourceColumn) -> exp.Expr:
    """What is published of such a column of rows; a cast would leave texts the collation that they are compared by."""
    value = column(source_column.name)
    if not is_text(source_column):
        return value
    return exp.Anonymous(this="decode", expressions=[exp.Anonymous(this="encode", expressions=[value])])


def is_text(source_column: SourceColumn) -> bool:
    """Whether a column of the source holds texts."""
    return source_column.type.upper() == "VARCHAR"


def _without_enum(value: exp.Expr, type_name: str) -> exp.Expr:
    """A value of a type, with ENUM cast to text wherever it stands in the type.

    A fresh file with an ENUM column carries all labels of the type, those of suppressed rows too.
    """
    if "ENUM" not in type_name.upper():
        return value
    data_type = exp.DataType.build(type_name, dialect=DIALECT)
    plain = data_type.transform(
        lambda node: (
            exp.DataType.build("VARCHAR")
            if isinstance(node, exp.DataType) and node.is_type(exp.DataType.Type.ENUM)
            else node
        )
    )
    return exp.Cast(this=value, to=plain)


def _keys(kind: str, value: exp.Expr) -> list[exp.Expr]:
    """What tells the bytes of values of a type apart, in the order of the values; none if the values do."""
    if kind in ONE_FORM_PER_VALUE:
        return []
    if kind == "JSON":
        return [exact_text(value.copy())]
    if kind in FLOATS:
        return [_total_order(value)]
    # Not the value itself: DuckDB 1.5 gives what it has sorted by back with 0.0 for -0.0.
    return [exp.func("coalesce", value.copy()), exact_text(value.copy())]


def _is_grouped(kind: str) -> bool:
    """Whether equal values of a type can be grouped without a loss: aggregates of nested ones make 0.0 of -0.0."""
    return kind in {*ONE_FORM_PER_VALUE, *FLOATS, "JSON"}


def _total_order(value: exp.Expr) -> exp.Expr:
    """The bits of a floating-point number as an integer: in the order of the numbers, and -0.0 before 0.0."""
    bits = cast(cast(cast(value.copy(), "DOUBLE"), "BIT"), "BIGINT")
    flipped = exp.Anonymous(this="xor", expressions=[bits.copy(), number(NO_SIGN)])
    return exp.case().when(exp.LT(this=bits.copy(), expression=number(0)), flipped).else_(bits)
