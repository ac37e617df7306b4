"""The rows of a source before they become cells: the ones that count, and their persons in earlier releases.

A bounded number of rows per individual, chosen at random, count at all.

Rows with values that a taxonomy lacks are left out of the source before anything is read, or labelled at the top. Such
values are leaves below the top: they have its label at every level, and its loss.

Earlier releases of the same persons act as another quasi-identifier of a single level, which is not published: the key
of a cell contains the number of its joint class in all earlier releases, in bits that distinguish classes at every
node. So the classes of a node are joint classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.queries import taxonomies
from sqlanon.queries.encoding import EARLIER, CellSpec, EarlierClasses, Encoding, UnknownValues
from sqlanon.queries.kit.macros import exact_text, text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_of,
    bits,
    c,
    called,
    case,
    cast,
    column,
    count_distinct,
    f,
    filtered,
    is_there,
    left_join,
    number,
    same,
    select,
    string,
    subquery,
    union_all,
    values,
)
from sqlanon.queries.source import Taxonomies, TaxonomyShape

Source = exp.Table | exp.Subquery

ROWS_SQL = Queries("rows")
SQL = Queries("earlier")

UNKNOWN = Relation("anon_unknown_rows", "cell")
"""Rows with unknown values: a column for each column that may have some, NULL for known values."""

PERSONS = Relation("anon_persons", "rows")
"""The persons in earlier releases: keys, the number of their joint class, codes of values, and their count.

Withheld persons have negative numbers, which no class has.
"""

NUMBER_OF_ABSENT = "anon_absent"
ABSENT = Relation("anon_absent_persons", "class")
"""Persons without a row in the present source, by joint class of earlier releases and codes of values."""


def anonymous_rows(source: Source, individual: str) -> exp.Query:
    """Select one row, ``rows``: the rows without an individual."""
    return ROWS_SQL.query("anonymous_rows", source=source, individual=individual)


def crowded(source: Source, individual: str, most: int) -> exp.Query:
    """Select one row, ``individuals``: the ones with more rows than ``most``."""
    return ROWS_SQL.query("crowded_individuals", source=source, individual=individual, most=most)


def differences(first: CellSpec, second: CellSpec) -> exp.Query:
    """Select one row, ``differing``: the rows by which two sources differ, or individuals if they are specified.

    An individual with different rows in both counts as two: one that leaves, and one that comes.
    """
    individual = () if first.individual is None else (first.individual,)
    names = [*first.quasi_identifiers, *first.protected, *individual]
    keys = [f"anon_{place}" for place in range(len(names))]
    counted = f.sum(f.abs(c.anon_more))
    if individual:
        signs = exp.Tuple(expressions=[column(keys[-1]), f.sign(c.anon_more)])
        counted = filtered(count_distinct(signs), c.anon_more.neq(0))
    roles = ROWS_SQL.given(first=first.source, second=second.source, names=names, keys=keys, counted=counted)
    return roles.query("differences")


def bounded_rows(source: Source, individual: str, most: int, seed: int, names: Sequence[str]) -> exp.Subquery:
    """Keep at most ``most`` rows of each individual of a source.

    The choice depends only on the individual's rows and the seed, so that another individual never affects it. The
    texts of columns ``names`` distinguish rows.
    """
    texts = [text(column(name)) for name in names]
    parts = [part for each in texts for part in (f.strlen(each), string(":"), each.copy())]
    drawn = f.md5(f.concat(string(f"{seed} "), *parts))
    query = ROWS_SQL.query("first_rows", source=source, individual=individual, drawn=drawn, most=most)
    return subquery(query, "anon_bounded")


def known_rows(source: Source, names: Sequence[str], taxonomy: Taxonomies) -> Source:
    """Leave out rows with an unknown value in some columns, if any are given."""
    return without_unknown(source, names, taxonomy) if names else source


def without_unknown(rows: exp.Expr, names: Sequence[str], taxonomy: Taxonomies) -> exp.Subquery:
    """Leave out rows with an unknown value, by one condition: DuckDB estimates that each of several keeps a fifth."""
    unknown = exp.or_(*(_is_unknown(name, taxonomy) for name in names), copy=False)
    is_known = case(unknown, exp.false(), exp.true())
    return subquery(select([exp.Star()], rows.copy()).where(is_known, copy=False), "anon_known_rows")


def unknown_rows(unknown: UnknownValues, taxonomy: Taxonomies) -> exp.Query:
    columns = [_unknown(place) for place in range(len(unknown.columns))]
    return ROWS_SQL.query(
        "unknown_rows",
        source=unknown.source,
        are_unknown=[_is_unknown(name, taxonomy) for name in unknown.columns],
        names=unknown.columns,
        columns=columns,
        is_any_unknown=exp.or_(*(is_there(column(each)) for each in columns), copy=False),
    )


def unknown_counts(unknown: UnknownValues) -> exp.Query:
    """Select one row: ``suppressed`` rows, and by column ``rows_<place>`` with an unknown value."""
    columns = [_unknown(place) for place in range(len(unknown.columns))]
    left_out = (is_there(column(each)) for each in columns[: len(unknown.suppressed)])
    return ROWS_SQL.query(
        "unknown_counts",
        unknown=UNKNOWN,
        is_left_out=exp.or_(*left_out, exp.false(), copy=False),
        columns=columns,
        counts=[f"rows_{place}" for place in range(len(columns))],
    )


def with_unknown_labels(
    labels: exp.Query, unknown: UnknownValues, shapes: Mapping[str, TaxonomyShape], taxonomy: Taxonomies
) -> exp.Query:
    """Add labels of unknown values to the columns of ``anon_helpers.taxonomy_labels``.

    The label of the top is a value, too, unless the taxonomy has it: a part of a table without unknown values may be
    compared with one that has some.
    """
    found = [
        select([aliased(string(name), "attribute"), aliased(column(_unknown(place)), "value")], UNKNOWN.table)
        for place, name in enumerate(unknown.roots, len(unknown.suppressed))
    ]
    roots = [
        [string(name), number(shapes[name].height), string(root), number(shapes[name].domain_size)]
        for name, root in unknown.roots.items()
    ]
    query = Queries("cells").query(
        "labels_of_unknown",
        taxonomy_labels=labels,
        roots=values("anon_roots", ("attribute", "height", "root", "domain_size"), roots),
        unknown_values=union_all(found),
    )
    return taxonomies.at(query, taxonomy)


def _is_unknown(name: str, taxonomy: Taxonomies) -> exp.Expr:
    known = Queries("taxonomies").query("known_values", taxonomy=taxonomy, attribute=string(name))
    is_known = exp.In(this=exact_text(column(name)), query=exp.Subquery(this=known))
    return exp.Paren(this=exp.and_(is_there(column(name)), exp.Not(this=is_known), copy=False))


def _unknown(place: int) -> str:
    return f"anon_unknown_{place}"


def person_key(place: int) -> str:
    return f"anon_person_{place}"


def value_column(place: int, number: int) -> str:
    """Name the column of :data:`PERSONS` with the values of a sensitive column in the release at ``place``."""
    return f"anon_value_{place}_{number}"


def reference_of(name: str) -> Relation:
    """Name the counts of persons by value of a column of :data:`PERSONS`, over the whole source of the values."""
    return Relation(f"anon_reference_of_{name}", "node")


def text_of(name: str) -> str:
    """Name the column with the texts of a column of :data:`PERSONS`, to look up labels by."""
    return f"anon_text_of_{name}"


def reference(persons: Relation | exp.Query, name: str, *, with_texts: bool) -> Step:
    """Make :func:`reference_of` persons; the code 0 stands for persons outside the source."""
    texts = [aliased(exp.AnyValue(this=column(text_of(name))), "anon_value")] if with_texts else []
    return SQL.step(reference_of(name), "reference_of_persons", persons=persons, value=name, texts=texts)


def person_value(value: exp.Expr, as_text: bool) -> exp.Expr:
    return exact_text(value) if as_text else value


def persons_by(keys: Sequence[str]) -> list[str]:
    return [*map(person_key, range(len(keys)))]


def key_columns(keys: Sequence[str], table: str | None, *, as_text: bool) -> list[exp.Alias]:
    """Return the columns of a table that identify a person, under the names of key columns."""
    found = (person_value(column(name, table), as_text) for name in keys)
    return [aliased(value, name) for value, name in zip(found, persons_by(keys), strict=True)]


def with_persons(earlier: EarlierClasses | None, query: exp.Select, table: str | None = None) -> exp.Select:
    """Join the rows of a source to :data:`PERSONS` if there are earlier releases."""
    if earlier is None:
        return query
    ours = key_columns(earlier.keys, table, as_text=earlier.as_text)
    on = all_of([same(column(each.alias, PERSONS.name), each.this) for each in ours])
    return left_join(query, called(PERSONS.table, PERSONS.name), on)


def with_numbers(encoding: Encoding, query: exp.Select, table: str) -> exp.Select:
    """Add the number of their joint class to the rows of a source if there are earlier releases."""
    if encoding.spec.earlier is None:
        return query
    return with_persons(encoding.spec.earlier, query, table).select(aliased(number_of_row(), EARLIER), copy=False)


def number_of_row() -> exp.Expr:
    """Return the number of the joint class of a row, after :func:`with_persons`."""
    return f.coalesce(column(EARLIER, PERSONS.name), 0)


def value_of_row(name: str) -> exp.Alias:
    """Return the code of a value of a row's person, after :func:`with_persons`; 0 without a person."""
    return aliased(f.coalesce(column(name, PERSONS.name), 0), name)


def number_of_key(encoding: Encoding, table: str | None = None) -> exp.Expr:
    """Extract the number of the joint class from the key of a cell or a class."""
    place = encoding.keys.always
    assert place is not None
    masked = exp.Paren(this=bits(column(encoding.key(place.word), table), number(place.mask)))
    return exp.Paren(this=exp.BitwiseRightShift(this=masked, expression=number(place.shift)))


def bits_of_number(encoding: Encoding) -> exp.Expr:
    """Return the bits of a key with the number of the joint class of a row, after :func:`with_persons`."""
    place = encoding.keys.always
    assert place is not None
    value = cast(number_of_row(), "BIGINT")
    return exp.Paren(this=exp.BitwiseLeftShift(this=value, expression=number(place.shift)))


def absent_persons(cells: Relation, number: exp.Expr, codes: Mapping[str, str] | None = None) -> Step:
    """Make :data:`ABSENT` from cells with a number of a joint class, and codes by column of persons."""
    codes = codes or {}
    of_cells = [aliased(column(code), name) for name, code in codes.items()]
    roles = SQL.given(persons=PERSONS, cells=cells, number=aliased(number, EARLIER), codes=of_cells, values=[*codes])
    return roles.step(ABSENT, "absent_persons")
