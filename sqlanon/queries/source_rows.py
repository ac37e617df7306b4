"""The rows of a source before they are cells: which of them count, and what earlier releases show of their persons.

No more rows of an individual count than a bound, chosen at random, before anything else is counted.

Rows with values that the taxonomy of their column does not have are left out from the source of a run, before anything
is read, or labelled at the top. Such values are leaves of their own below the top: their label is that of the top at
every level, and loses what the top loses.

Earlier releases of the same persons are one more quasi-identifier of a single level, which is not published: the number
of the joint class that all earlier releases show of the person stands in the key of a cell, in bits by which classes
differ at every node. So the classes of a node are joint classes.
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
"""Rows with unknown values, by these: a column for each column that may have some, NULL for a value that is known."""

PERSONS = Relation("anon_persons", "rows")
"""The persons in earlier releases: their keys, the number of their joint class, codes of values, and how many they are.

The number of those who are withheld is negative, which that of no class is.
"""

NUMBER_OF_ABSENT = "anon_absent"
ABSENT = Relation("anon_absent_persons", "class")
"""By joint class of the earlier releases, and by codes of values, its persons who have no row in the present source."""


def anonymous_rows(source: Source, individual: str) -> exp.Query:
    """One row, ``rows``: how many belong to nobody."""
    return ROWS_SQL.query("anonymous_rows", source=source, individual=individual)


def crowded(source: Source, individual: str, most: int) -> exp.Query:
    """One row, ``individuals``: how many have more rows than that."""
    return ROWS_SQL.query("crowded_individuals", source=source, individual=individual, most=most)


def differences(first: CellSpec, second: CellSpec) -> exp.Query:
    """One row, ``differing``: how many rows two sources differ by, or individuals if their column is specified.

    An individual that both have with different rows counts as two: one that leaves, and one that comes.
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
    """A source with at most ``most`` rows of each individual.

    Which ones depends on the rows of that individual and on the seed alone, so that those of others stay the same when
    an individual comes or goes; ``names`` are the columns by whose texts rows are known.
    """
    texts = [text(column(name)) for name in names]
    parts = [part for each in texts for part in (f.strlen(each), string(":"), each.copy())]
    drawn = f.md5(f.concat(string(f"{seed} "), *parts))
    query = ROWS_SQL.query("first_rows", source=source, individual=individual, drawn=drawn, most=most)
    return subquery(query, "anon_bounded")


def known_rows(source: Source, names: Sequence[str], taxonomy: Taxonomies) -> Source:
    """The rows of a source without those that have an unknown value in some columns; the source itself without any."""
    return without_unknown(source, names, taxonomy) if names else source


def without_unknown(rows: exp.Expr, names: Sequence[str], taxonomy: Taxonomies) -> exp.Subquery:
    """Rows without those that have an unknown value in some columns.

    By one condition: DuckDB expects each of several to leave a fifth of the rows, and keeps what it takes for few.
    """
    unknown = exp.or_(*(_is_unknown(name, taxonomy) for name in names), copy=False)
    is_known = case(unknown, exp.false(), exp.true())
    return subquery(select([exp.Star()], rows.copy()).where(is_known, copy=False), "anon_known_rows")


def unknown_rows(unknown: UnknownValues, taxonomy: Taxonomies) -> exp.Query:
    """The query that makes :data:`UNKNOWN`."""
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
    """One row: ``suppressed`` rows, and by the place of each column ``rows_<place>`` with an unknown value there."""
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
    """Labels as ``anon_helpers.taxonomy_labels`` has them, with those of unknown values.

    The label of the top is a value, too, unless the taxonomy has it: a part of a table may have no unknown value, and
    be compared with one that has some.
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
    """The column of :data:`PERSONS` with one of the keys."""
    return f"anon_person_{place}"


def value_column(place: int, number: int) -> str:
    """The column of :data:`PERSONS` with the values of a sensitive column in the release at a place."""
    return f"anon_value_{place}_{number}"


def reference_of(name: str) -> Relation:
    """The number of persons with each value of a column of :data:`PERSONS`: the whole source that has these values."""
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
    found = (person_value(column(name, table), as_text) for name in keys)
    return [aliased(value, name) for value, name in zip(found, persons_by(keys), strict=True)]


def with_persons(earlier: EarlierClasses | None, query: exp.Select, table: str | None = None) -> exp.Select:
    """The query of the rows of the source, joined with :data:`PERSONS` if there are earlier releases."""
    if earlier is None:
        return query
    ours = key_columns(earlier.keys, table, as_text=earlier.as_text)
    on = all_of([same(column(each.alias, PERSONS.name), each.this) for each in ours])
    return left_join(query, called(PERSONS.table, PERSONS.name), on)


def with_numbers(encoding: Encoding, query: exp.Select, table: str) -> exp.Select:
    """The query of the rows of the source, and the number of their joint class if there are earlier releases."""
    if encoding.spec.earlier is None:
        return query
    return with_persons(encoding.spec.earlier, query, table).select(aliased(number_of_row(), EARLIER), copy=False)


def number_of_row() -> exp.Expr:
    """The number of the joint class of a row that :func:`with_persons` has joined."""
    return f.coalesce(column(EARLIER, PERSONS.name), 0)


def value_of_row(name: str) -> exp.Alias:
    """The code that a column of persons has for a row joined by :func:`with_persons`; 0 if no person is found."""
    return aliased(f.coalesce(column(name, PERSONS.name), 0), name)


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
    """The step that makes :data:`ABSENT` from cells with a number of a joint class, and codes by column of persons."""
    codes = codes or {}
    of_cells = [aliased(column(code), name) for name, code in codes.items()]
    roles = SQL.given(persons=PERSONS, cells=cells, number=aliased(number, EARLIER), codes=of_cells, values=[*codes])
    return roles.step(ABSENT, "absent_persons")
