"""The layout of the rows of a release: in files by a number of rows or by values, and as values of ENUM types.

ENUM values sort like their texts, and take a byte or two to group and sort by. A cast makes labels texts again while
DuckDB streams rows in order; above a join, as a lookup would be, it keeps no order. Parquet files store ENUM values as
texts, eight times as fast as texts. DuckDB writes whole types to its files, not only the values that occur, so each
type has exactly the published values.

Cells of CSV files that a spreadsheet would compute are counted, and quoted with an apostrophe.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from sqlanon.queries.encoding import Encoding
from sqlanon.queries.kit.macros import scalar_call, text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    SIGNED,
    Relation,
    aliased,
    ascending,
    c,
    column,
    count_rows,
    enum_type,
    f,
    grouped,
    is_there,
    listed,
    number,
    own_type,
    select,
    string,
    subquery,
    unpivoted,
)
from sqlanon.queries.recodings import Recoding
from sqlanon.queries.source import SourceColumn

ROW = "anon_row"
"""The column with the number of a row; DuckDB's own starts anywhere inside a transaction."""

PIECE = "anon_file"  # the column with the number of the file of a row in its partition
MAX_NAME_BYTES = 255  # of a file name
MASK = "*"  # every quasi-identifier of a suppressed row that is kept masked


def numbered(query: exp.Query) -> exp.Query:
    """Number the rows of a release from 1, in its order."""
    row = aliased(exp.Window(this=exp.RowNumber()), ROW)
    return select([exp.Star(), row], subquery(query, "anon_release"))


def piece(table: Relation, names: Sequence[str], first: int, last: int) -> exp.Query:
    """Select the rows of :func:`numbered` between two numbers."""
    rows = select([column(name) for name in names], table.table)
    return rows.where(column(ROW).between(first, last), copy=False)


def guarded(
    query: exp.Query, columns: Sequence[SourceColumn], partition_by: Sequence[str], rows_per_file: int | None
) -> exp.Query:
    """Select the rows of a release for folders of partitions, with the number of their file if its rows are limited.

    The query fails if readers of such folders would take a value for NULL, or if one is too long for a name.
    """
    texts = {found.name for found in columns if found.traits.is_text}
    wanted: list[exp.Expr] = [
        aliased(_readable(found.name), found.name)
        if found.name in partition_by and found.name in texts
        else column(found.name)
        for found in columns
    ]
    if rows_per_file is not None:
        # The position of a row in its partition, in the order of all other columns.
        others = [column(found.name) for found in columns if found.name not in partition_by]
        row = exp.Window(this=exp.RowNumber(), partition_by=[*map(column, partition_by)], order=ascending(*others))
        before = exp.Paren(this=exp.Sub(this=row, expression=number(1)))
        wanted.append(aliased(exp.IntDiv(this=before, expression=number(rows_per_file)), PIECE))
    return select(wanted, subquery(query, "anon_release"))


def _readable(name: str) -> exp.Expr:
    """Return a column of text, or an error that quotes none of it."""
    value = column(name)
    null = exp.In(this=f.upper(value), expressions=[string("NULL"), string("__HIVE_DEFAULT_PARTITION__")])
    room = MAX_NAME_BYTES - len(f"{name}=")
    encoded = f.strlen(f.url_encode(value.copy()))
    quoted = f'attribute "{name}" cannot partition the release:'
    return (
        exp.case()
        .when(null, f.error(string(f"{quoted} it has the text NULL, which readers of partitions take for no value")))
        .when(encoded > room, f.error(string(f"{quoted} it has values too long for the name of a folder")))
        .else_(value)
    )


def signed(query: exp.Query, columns: Sequence[SourceColumn]) -> exp.Query:
    """Replace unsigned numbers of a release by signed ones."""
    if not any(found.type in SIGNED for found in columns):
        return query
    cells = ((found.name, column(found.name), SIGNED.get(found.type)) for found in columns)
    wanted = [cell if kind is None else aliased(exp.cast(cell, kind), name) for name, cell, kind in cells]
    return select(wanted, subquery(query, "anon_release"))


def formula_counts(query: exp.Query, columns: Sequence[str]) -> exp.Query:
    """Select ``place`` and ``count`` by column with cells that are formulas or need an apostrophe."""
    cells = unpivoted(subquery(query.copy(), "anon_written"), dict(enumerate(map(column, columns))))
    is_quoted = scalar_call("quoted_formula", c.anon_value).neq(c.anon_value)
    counted = select(
        [aliased(c.anon_place, "place"), aliased(count_rows(), "count")], subquery(cells, "anon_cells")
    ).where(is_quoted, copy=False)
    return grouped(counted, [c.anon_place])


def quoted_names(columns: Sequence[str]) -> exp.Select:
    """Select the ``name`` of each column and its form as a cell of a header, ``written``."""
    return select([c.name, aliased(scalar_call("quoted_formula", c.name), "written")], listed(columns, "name"))


def with_quoted_formulas(query: exp.Query, names: Mapping[str, str], quoted: Collection[str]) -> exp.Select:
    """Rename the columns of a query, and put an apostrophe before the formulas of some."""
    cells: dict[str, exp.Expr] = {name: column(name) for name in names}
    cells |= {name: scalar_call("quoted_formula", text(column(name))) for name in quoted}
    columns = [aliased(cells[name], written) for name, written in names.items()]
    return select(columns, subquery(query.copy(), "anon_written"))


def label_types(recoding: Recoding) -> list[exp.Create]:
    """Make the types of labels, each with the mask; none if labels are texts."""
    encoding = recoding.encoding
    if encoding.has_label_texts:
        return []
    mask = exp.Select(expressions=[aliased(string(MASK), "label")])
    return [
        enum_type(
            encoding.label_type(position),
            exp.Union(this=recoding.texts(position), expression=mask.copy(), distinct=True),
            "label",
        )
        for position in range(len(encoding.spec.shapes))
    ]


def published_texts(encoding: Encoding) -> dict[str, exp.Expr]:
    """Return the released columns with texts, by the expression over groups of equal rows."""
    spec = encoding.spec
    labels = {name: column(encoding.label(position)) for position, name in enumerate(spec.quasi_identifiers)}
    return {
        found.name: labels.get(found.name, column(found.name))
        for found in spec.columns
        if found.name in spec.released and (found.name in labels or found.traits.is_text or found.traits.is_enum)
    }


def group_sizes(rows: exp.Table) -> exp.Query:
    """Select one row: published ``rows``, and ``groups`` of equal ones."""
    return Queries("release").query("group_sizes", groups=rows)


def text_counts(encoding: Encoding, names: list[str], rows: exp.Table) -> exp.Query:
    """Select one row: the estimated number of published texts of columns, ``count_<place>``, and the longest's bytes.

    ``bytes_<place>`` is 0 for labels, which are assumed to be short.
    """
    values, labels = published_texts(encoding), encoding.spec.quasi_identifiers
    found = []
    for place, name in enumerate(names):
        length = number(0) if name in labels else f.strlen(values[name].copy())
        found.append(aliased(exp.ApproxDistinct(this=values[name]), f"count_{place}"))
        found.append(aliased(exp.Max(this=length), f"bytes_{place}"))
    return select(found, rows)


def text_type(encoding: Encoding, name: str, rows: exp.Table) -> exp.Create:
    value = published_texts(encoding)[name]
    texts = select([aliased(text(value), "label")], rows).where(is_there(value), copy=False)
    return enum_type(encoding.published_type(name), texts.distinct(copy=False), "label")


def as_typed(encoding: Encoding, name: str) -> exp.Cast:
    return exp.Cast(this=published_texts(encoding)[name], to=own_type(encoding.published_type(name)))
