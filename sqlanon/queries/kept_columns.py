"""The columns that are released as they are: they distinguish and order the rows of a release.

Equal values can differ in their bytes, such as 0.0 and -0.0. They must not stand in the order of the source, nor one of
them for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.queries.encoding import Encoding
from sqlanon.queries.kit.macros import cast_value, exact_text, exact_text_in_utc, scalar_call
from sqlanon.queries.kit.nodes import aliased, cast, column, f, number
from sqlanon.queries.source import SourceColumn, Traits

NO_SIGN = 0x7FFF_FFFF_FFFF_FFFF
"""All bits of a BIGINT but that of its sign."""


@dataclass(frozen=True)
class KeptColumn:
    """A column of rows, or of groups of them, that is released as it is.

    Attributes:
        name: its name.
        value: what is released of it.
        keys: the columns beside it that distinguish and order its values; none if it does so itself.
        is_grouped: whether any of the values that agree in the keys can stand for all of them.
    """

    name: str
    value: exp.Expr
    keys: tuple[exp.Alias, ...] = ()
    is_grouped: bool = True

    @property
    def key_names(self) -> list[str]:
        """The columns that distinguish and order its values."""
        return [key.alias for key in self.keys] or [self.name]


def kept_columns(encoding: Encoding, *, of_cells: bool) -> list[KeptColumn]:
    """The released columns but the quasi-identifiers, from the cells or from the source."""
    spec = encoding.spec
    found: list[KeptColumn] = []
    for source_column in spec.columns:
        name = source_column.name
        if name in spec.released and name not in spec.quasi_identifiers:
            raw = column(encoding.raw(name), "anon_cells") if of_cells else column(name, "anon_source")
            if name in spec.pseudonyms:
                found.append(KeptColumn(name, pseudonym(raw), is_grouped=False))
                continue
            value = released_value(source_column, raw)
            keys = _keys(source_column.traits, value)
            named = [aliased(key, f"anon_shown_{len(found)}_{index}") for index, key in enumerate(keys)]
            found.append(KeptColumn(name, value, tuple(named), _is_grouped(source_column.traits)))
    return found


def pseudonym(raw: exp.Expr) -> exp.Expr:
    """The pseudonym of a value; the blocks of the key are the first two parameters of the statement."""
    blocks = (cast(exp.Parameter(this=number(place)), "BLOB") for place in (1, 2))
    return scalar_call("hmac_of_blocks", *blocks, f.encode(exact_text_in_utc(raw)))


def can_be_grouped(shown: Sequence[KeptColumn]) -> bool:
    """Whether equal rows can be grouped without a loss."""
    return all(each.is_grouped for each in shown)


def released_value(source_column: SourceColumn, raw: exp.Expr) -> exp.Expr:
    """What is released of a value of a column; texts are compared byte by byte, whatever their collation was.

    A fresh file with an ENUM column carries all labels of the type, those of suppressed rows too: so there is none.
    """
    if source_column.traits.is_text:
        return exact_text(raw)
    released_as = source_column.traits.released_as
    return raw if released_as == source_column.type else cast_value(raw, released_as)


def plain_value(source_column: SourceColumn) -> exp.Expr:
    """What is published of such a column of rows; a cast would leave texts the collation that they are compared by."""
    value = column(source_column.name)
    return f.decode(f.encode(value)) if source_column.traits.is_text else value


def _keys(traits: Traits, value: exp.Expr) -> list[exp.Expr]:
    """What distinguishes the bytes of values of a type, in the order of the values; none if the values do."""
    if traits.has_one_form:
        return []
    if traits.is_json:
        return [exact_text(value.copy())]
    if traits.is_float:
        return [_total_order(value)]
    # Not the value itself: DuckDB 1.5 gives what it has sorted by back with 0.0 for -0.0.
    return [f.coalesce(value), exact_text(value.copy())]


def _is_grouped(traits: Traits) -> bool:
    """Whether equal values of a type can be grouped without a loss: aggregates of nested ones make 0.0 of -0.0."""
    return traits.has_one_form or traits.is_float or traits.is_json


def _total_order(value: exp.Expr) -> exp.Expr:
    """The bits of a floating-point number as an integer: in the order of the numbers, and -0.0 before 0.0."""
    bits = cast(cast(cast(value.copy(), "DOUBLE"), "BIT"), "BIGINT")
    return exp.case().when(bits < 0, f.xor(bits, NO_SIGN)).else_(bits)
