"""Earlier releases of the same persons, as cells and rows need them: how a row finds what they show of its person.

An earlier release is one more quasi-identifier of a single level, which is not published: the number of the joint class
that all earlier releases show of the person stands in the key of a cell, in bits by which classes differ at every node.
So the classes of a node are joint classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.queries.encoding import EARLIER, EarlierClasses, Encoding
from sqlanon.queries.kit.macros import exact_text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import Relation, Step, aliased, all_of, bits, cast, column, left_join, number, same

SQL = Queries("earlier")

PERSONS = Relation("anon_persons", "rows")
"""The persons in earlier releases: their keys, the number of their joint class, codes of values, and how many they are.

The number of those who are withheld is negative, which that of no class is.
"""

NUMBER_OF_ABSENT = "anon_absent"
ABSENT = Relation("anon_absent_persons", "class")
"""By joint class of the earlier releases, and by codes of values, its persons who have no row in the present source."""


def person_key(place: int) -> str:
    """The column of :data:`PERSONS` with one of the keys."""
    return f"anon_person_{place}"


def value_column(place: int, number: int) -> str:
    """The column of :data:`PERSONS` with the values of a sensitive column in the release at a place."""
    return f"anon_value_{place}_{number}"


def reference_of(name: str) -> Relation:
    """How many persons have each value of a column of :data:`PERSONS`: the whole source that has these values."""
    return Relation(f"anon_reference_of_{name}", "node")


def text_of(name: str) -> str:
    """The column with the texts of such values, where labels are looked up by these."""
    return f"anon_text_of_{name}"


def reference(persons: Relation | exp.Query, name: str, *, with_texts: bool) -> Step:
    """The step that makes :func:`reference_of` persons, whose codes of values are 0 if they are not in the source."""
    texts = [aliased(exp.AnyValue(this=column(text_of(name))), "anon_value")] if with_texts else []
    return SQL.step(reference_of(name), "reference_of_persons", persons=persons, value=name, texts=texts)


def person_value(value: exp.Expr, as_text: bool) -> exp.Expr:
    """A key of persons as releases compare it."""
    return exact_text(value) if as_text else value


def persons_by(keys: Sequence[str]) -> list[str]:
    """The columns of persons with the values of some keys."""
    return [*map(person_key, range(len(keys)))]


def key_columns(keys: Sequence[str], table: str | None, *, as_text: bool) -> list[exp.Alias]:
    """The columns of a table that identify a person, as text or not, under the names that persons have them by."""
    values = (person_value(column(name, table), as_text) for name in keys)
    return [aliased(value, name) for value, name in zip(values, persons_by(keys), strict=True)]


def with_persons(earlier: EarlierClasses | None, query: exp.Select, table: str | None = None) -> exp.Select:
    """The query of the rows of the source, joined with :data:`PERSONS` if there are earlier releases."""
    if earlier is None:
        return query
    ours = key_columns(earlier.keys, table, as_text=earlier.as_text)
    on = all_of([same(column(each.alias, PERSONS.name), each.this) for each in ours])
    return left_join(query, exp.alias_(PERSONS.table, PERSONS.name, table=True), on)


def with_numbers(encoding: Encoding, query: exp.Select, table: str) -> exp.Select:
    """The query of the rows of the source, and the number of their joint class if there are earlier releases."""
    if encoding.spec.earlier is None:
        return query
    return with_persons(encoding.spec.earlier, query, table).select(aliased(number_of_row(), EARLIER), copy=False)


def number_of_row() -> exp.Expr:
    """The number of the joint class of a row that :func:`with_persons` has joined."""
    return exp.func("coalesce", column(EARLIER, PERSONS.name), number(0))


def value_of_row(name: str) -> exp.Alias:
    """The code that a column of persons has for a row joined by :func:`with_persons`; 0 if no person is found."""
    return aliased(exp.func("coalesce", column(name, PERSONS.name), number(0)), name)


def number_of_key(encoding: Encoding, table: str | None = None) -> exp.Expr:
    """The number of the joint class in the key of a cell, or of a class."""
    place = encoding.keys.always
    assert place is not None
    masked = exp.Paren(this=bits(column(encoding.key(place.word), table), number(place.mask)))
    return exp.Paren(this=exp.BitwiseRightShift(this=masked, expression=number(place.shift)))


def bits_of_number(encoding: Encoding) -> exp.Expr:
    """The bits of a key that have the number of the joint class of a row that :func:`with_persons` has joined."""
    place = encoding.keys.always
    assert place is not None
    value = cast(number_of_row(), "BIGINT")
    return exp.Paren(this=exp.BitwiseLeftShift(this=value, expression=number(place.shift)))


def absent_persons(cells: Relation, number: exp.Expr, codes: Mapping[str, str] | None = None) -> Step:
    """The step that makes :data:`ABSENT` from cells.

    Args:
        cells: the cells.
        number: the number of the joint class of each.
        codes: by column of persons with codes of values, that of cells.
    """
    codes = codes or {}
    of_cells = [aliased(column(code), name) for name, code in codes.items()]
    roles = SQL.given(persons=PERSONS, cells=cells, number=aliased(number, EARLIER), codes=of_cells, values=[*codes])
    return roles.step(ABSENT, "absent_persons")
