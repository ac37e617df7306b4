"""The release: the rows of the kept classes with their labels, in the order of their own columns.

It reveals nothing about the order of the source: published rows are counted in groups of equal ones, which are sorted,
and repeated when they are written. If cells hold all published columns, the source is not read again.

Columns that are released unchanged distinguish and order these rows. Equal values can differ in their bytes, such as
0.0 and -0.0: they must not appear in the order of the source, and none of them may replace the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.queries.encoding import EARLIER, ROW_COUNT, WORD_BITS, Encoding, row_sum
from sqlanon.queries.joint_classes import WITHHELD
from sqlanon.queries.kit.macros import cast_value, exact_text, exact_text_in_utc, scalar_call, text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    aliased,
    all_bits,
    all_of,
    ascending,
    called,
    case,
    cast,
    column,
    copies,
    count_rows,
    f,
    grouped,
    number,
    same,
    select,
    string,
    subquery,
)
from sqlanon.queries.layout import MASK, as_typed
from sqlanon.queries.recodings import Recoding, as_label
from sqlanon.queries.source import SourceColumn, Traits
from sqlanon.queries.source_rows import number_of_key, with_numbers

SQL = Queries("release")

EQUAL_ROWS = Relation("anon_equal_rows", "rows")
"""The published rows in groups of equal ones, with their number."""
KEPT_CLASSES = Relation("anon_kept", "class")

IS_KEPT = "anon_is_kept"

NO_SIGN = 0x7FFF_FFFF_FFFF_FFFF  # all bits of a BIGINT but its sign


def equal_rows(recoding: Recoding, *, masked: bool, is_grouped: bool = True) -> exp.Query:
    """Select the published rows in groups of equal ones with their number, in the order of their own columns.

    The tables and types of labels must exist. Suppressed rows are kept ``masked``, or left out. Unless ``is_grouped``,
    each row may be its own group.
    """
    encoding = recoding.encoding
    columns = kept_columns(encoding, of_cells=encoding.holds_release)
    rows = (_rows_of_cells if encoding.holds_release else _rows_of_source)(recoding, columns)
    keys = [name for each in columns for name in each.key_names]
    values = [each.name for each in columns]
    if is_grouped and can_be_grouped(columns):
        # Group rows that a release shows alike.
        alike = [column(name) for name in (*recoding.row_columns, *keys)]
        any_value = [aliased(exp.AnyValue(this=column(each.name)), each.name) for each in columns if each.keys]
        groups = select([*copies(alike), *any_value, row_sum()], subquery(rows, "anon_labelled_rows"))
        rows = grouped(groups, alike)
    published = _published(recoding, rows, [*dict.fromkeys([*values, *keys]), ROW_COUNT], masked=masked)
    names = (*encoding.label_columns, *encoding.class_columns, *values, ROW_COUNT)
    query = select(map(column, names), subquery(published, "anon_published"))
    order = order_of_groups(recoding, columns, masked=masked)
    if order:
        query.set("order", ascending(*order))
    return query


def expected_groups(encoding: Encoding, beside: Sequence[exp.Alias] = ()) -> exp.Query | None:
    """Select one row: ``groups``, their number if values were independent of classes, and aggregates ``beside`` it.

    It reads the rows of the source. Return None if cells hold the release, or rows can't be grouped.
    """
    columns = kept_columns(encoding, of_cells=False)
    if encoding.holds_release or not columns or not can_be_grouped(columns):
        return None
    classes = exp.Subquery(this=select([count_rows()], KEPT_CLASSES.table))
    counts = [classes, *(exp.ApproxDistinct(this=each.value) for each in columns)]
    # As a list, since DuckDB refuses products nested a thousand deep.
    groups = f.list_product(exp.Array(expressions=[cast(count, "DOUBLE") for count in counts]))
    source = called(encoding.spec.source, "anon_source")
    return select([aliased(groups, "groups"), *beside], source)


def release(encoding: Encoding, typed: Container[str] = ()) -> exp.Query:
    """Select the published rows from ``EQUAL_ROWS``; ``typed`` columns have types of their published texts."""
    shown = [*map(column, encoding.added), *released_columns(encoding, typed)]
    groups = select([*shown, column(ROW_COUNT)], EQUAL_ROWS.table)
    return SQL.query("repeated_rows", groups=groups)


def with_unpublished(recoding: Recoding, name: str, *, masked: bool) -> exp.Query:
    """Select the published rows, unordered, with a column even if it is unpublished, to measure them."""
    # Without pseudonyms, which aren't measured and whose key is gone.
    spec = recoding.encoding.spec
    spec = replace(spec, released=spec.released - {*spec.pseudonyms})
    encoding = replace(recoding.encoding, spec=spec, beside={})
    columns = kept_columns(encoding, of_cells=False)
    added = [] if name in spec.released else [name]
    rows = _rows_of_source(recoding, columns).select(*(column(name, "anon_source") for name in added), copy=False)
    names = [*(each.name for each in columns), *added]
    published = _published(recoding, rows, names, masked=masked)
    return select(
        [*released_columns(encoding), *(column(name) for name in added)], subquery(published, "anon_published")
    )


def unlike_groups(names: Sequence[str], made: exp.Expr, written: exp.Expr, counts: str | None = None) -> exp.Query:
    """Select one row, ``unlike``: the groups of equal rows whose number in a release differs.

    ``names`` identify rows, and ``counts`` is the column of the release with the number of equal rows; None if rows are
    repeated.
    """
    rows = count_rows() if counts is None else cast(f.sum(column(counts)), "BIGINT")
    return SQL.query("group_mismatches", names=names, made=made, written=written, rows=rows)


def _rows_of_source(recoding: Recoding, columns: Sequence[KeptColumn]) -> exp.Select:
    """Select every row of the source with its kept columns, and the columns that find its class."""
    encoding = recoding.encoding
    query = select([], called(encoding.spec.source, "anon_source"))
    query = _with_kept_columns(recoding.join_to_source(query, "anon_source"), columns)
    return with_numbers(encoding, query, "anon_source").select(aliased(number(1), ROW_COUNT), copy=False)


def _rows_of_cells(recoding: Recoding, columns: Sequence[KeptColumn]) -> exp.Select:
    """Select cells with their rows and kept columns, and the columns that find their class."""
    cells = called(recoding.encoding.cells.table, "anon_cells")
    query = select([column(ROW_COUNT, "anon_cells")], cells)
    if recoding.encoding.spec.earlier is not None:
        query = query.select(aliased(number_of_key(recoding.encoding, "anon_cells"), EARLIER), copy=False)
    return _with_kept_columns(recoding.join_to_cells(query, "anon_cells"), columns)


def _with_kept_columns(query: exp.Select, columns: Sequence[KeptColumn]) -> exp.Select:
    values = (aliased(each.value.copy(), each.name) for each in columns)
    return query.select(*values, *(key.copy() for each in columns for key in each.keys), copy=False)


def _published(recoding: Recoding, rows: exp.Query, names: Sequence[str], *, masked: bool) -> exp.Select:
    """Select the published rows, or groups of them, with all labels, masked if suppressed, and the columns."""
    encoding, keys = recoding.encoding, dict(recoding.code_columns())
    classes = select([aliased(exp.true(), IS_KEPT)], called(KEPT_CLASSES.table, "anon_codes"))
    shown: dict[str, exp.Expr] = {name: column(name, "anon_rows") for name in names}
    if encoding.spec.earlier is not None:
        classes = classes.select(column(EARLIER, "anon_codes"), copy=False)
        if encoding.holds_release:  # cells don't determine who is withheld
            classes = classes.select(column(WITHHELD, "anon_codes"), copy=False)
            withheld = cast(column(WITHHELD, "anon_kept"), "BIGINT")
            shown[ROW_COUNT] = aliased(exp.Sub(this=shown[ROW_COUNT], expression=withheld), ROW_COUNT)
    classes = recoding.join_labels_to_codes(classes, "anon_codes")
    same_class = all_of([same(column(name, "anon_kept"), column(name, "anon_rows")) for name in recoding.row_columns])
    query = select(shown.values(), subquery(rows, "anon_rows"))
    query = query.join(subquery(classes, "anon_kept"), on=same_class, join_type="left" if masked else "", copy=False)
    for position, name in enumerate(encoding.label_columns):
        place = "anon_rows" if name in recoding.row_columns else "anon_kept"
        if position not in keys:
            place = encoding.labels_of(position)
            query = recoding.join_only_label(query, position)
        label: exp.Expr = column(name, place)
        if masked:
            is_kept = column(IS_KEPT, "anon_kept")
            label = case(is_kept, label, as_label(encoding, position, string(MASK)))
        query = query.select(aliased(label, name), copy=False)
    return query.select(*(column(name, "anon_kept") for name in encoding.class_columns), copy=False)


def order_of_groups(recoding: Recoding, columns: Sequence[KeptColumn], *, masked: bool) -> list[exp.Expr]:
    """Return the order of groups, by the columns of the source; labels at the top are constant."""
    spec, coded = recoding.encoding.spec, dict(recoding.code_columns())
    labels = {name: position for position, name in enumerate(spec.quasi_identifiers) if masked or position in coded}
    keys = {each.name: [column(key) for key in each.key_names] for each in columns}
    order: list[exp.Expr] = []
    for are_labels, found in itertools.groupby(spec.columns, key=lambda found: found.name in labels):
        if are_labels:
            order += _side_by_side(recoding, [labels[each.name] for each in found])
        else:
            order += (key for each in found for key in keys.get(each.name, ()))
    return order


def _side_by_side(recoding: Recoding, positions: Sequence[int]) -> list[exp.Expr]:
    """Pack the codes of labels into the bits of a few numbers, which sort much faster than labels."""
    encoding = recoding.encoding
    if encoding.has_label_texts:
        return [column(encoding.label(position)) for position in positions]
    words: list[list[exp.Expr]] = []
    free = 0
    for position in positions:
        # Codes are below the number of labels, the mask adds one, and NULL comes last.
        last = recoding.label_count(position) + 1
        code = f.coalesce(f.enum_code(column(encoding.label(position))), last)
        width = last.bit_length()
        if width > free:
            words.append([])
            free = WORD_BITS
        free -= width
        words[-1].append(exp.Paren(this=exp.BitwiseLeftShift(this=cast(code, "BIGINT"), expression=number(free))))
    return [all_bits(word) for word in words]


def released_columns(encoding: Encoding, typed: Container[str] = ()) -> list[exp.Alias]:
    """Return the columns of the release, in the order of the source; see :func:`release`."""
    spec, shown = encoding.spec, []
    labels = {name: text(column(encoding.label(position))) for position, name in enumerate(spec.quasi_identifiers)}
    for found in (found for found in spec.columns if found.name in spec.released):
        value = as_typed(encoding, found.name) if found.name in typed else labels.get(found.name) or plain_value(found)
        shown.append(aliased(value, found.name))
        shown += [aliased(column(name), name) for name in encoding.beside.get(found.name, ())]
    return shown


@dataclass(frozen=True)
class KeptColumn:
    """A column that is released unchanged, of rows or of groups of them."""

    name: str
    value: exp.Expr  # its released form
    keys: tuple[exp.Alias, ...] = ()  # columns that distinguish and order its values, if the value itself doesn't
    is_grouped: bool = True  # whether values with equal keys are interchangeable

    @property
    def key_names(self) -> list[str]:
        return [key.alias for key in self.keys] or [self.name]


def kept_columns(encoding: Encoding, *, of_cells: bool) -> list[KeptColumn]:
    """Return the released columns except quasi-identifiers, from the cells or from the source."""
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
            # Aggregates of nested types turn -0.0 into 0.0.
            traits = source_column.traits
            is_grouped = traits.has_one_form or traits.is_float or traits.is_json
            found.append(KeptColumn(name, value, tuple(named), is_grouped))
    return found


def pseudonym(raw: exp.Expr) -> exp.Expr:
    """Return the pseudonym of a value; the blocks of the key are the first two parameters of the statement."""
    blocks = (cast(exp.Parameter(this=number(place)), "BLOB") for place in (1, 2))
    return scalar_call("hmac_of_blocks", *blocks, f.encode(exact_text_in_utc(raw)))


def can_be_grouped(shown: Sequence[KeptColumn]) -> bool:
    return all(each.is_grouped for each in shown)


def released_value(source_column: SourceColumn, raw: exp.Expr) -> exp.Expr:
    """Return the released form of a value; texts are compared byte by byte, without their collation.

    No ENUM is released: a new file with an ENUM column carries all labels of the type, even those of suppressed rows.
    """
    if source_column.traits.is_text:
        return exact_text(raw)
    released_as = source_column.traits.released_as
    return raw if released_as == source_column.type else cast_value(raw, released_as)


def plain_value(source_column: SourceColumn) -> exp.Expr:
    """Return the published form of a released column; a cast would keep the collation of texts."""
    value = column(source_column.name)
    return f.decode(f.encode(value)) if source_column.traits.is_text else value


def _keys(traits: Traits, value: exp.Expr) -> list[exp.Expr]:
    """Return keys that distinguish the bytes of values, in the order of values; none if the values do."""
    if traits.has_one_form:
        return []
    if traits.is_json:
        return [exact_text(value.copy())]
    if traits.is_float:
        # The bits as an integer sort like the numbers, with -0.0 before 0.0.
        bits = cast(cast(cast(value.copy(), "DOUBLE"), "BIT"), "BIGINT")
        return [case(bits < 0, f.xor(bits.copy(), NO_SIGN), bits.copy())]
    # Not the value itself: DuckDB 1.5 returns sort keys with 0.0 for -0.0.
    return [f.coalesce(value), exact_text(value.copy())]
