"""Taxonomies made from their arguments, and queries about stored ones in any place."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TypeVar

from sqlglot import exp

from sqlanon.model.taxonomy.arguments import DateRange, IntegerRange, LabelRule
from sqlanon.model.taxonomy.taxonomy import TOP
from sqlanon.queries.kit.macros import exact_text, exact_text_in_memory, scalar_call, table_call, text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    aliased,
    c,
    column,
    count_rows,
    f,
    filtered,
    identifier,
    is_there,
    made_once,
    names,
    number,
    select,
    string,
    subquery,
    union_all,
)
from sqlanon.queries.source import Taxonomies

SQL = Queries("taxonomies")

Statement = TypeVar("Statement", bound=exp.Expr)
TABLES = ("taxonomy", "taxonomy_domain", "taxonomy_origin")


def at(query: Statement, taxonomy: Taxonomies) -> Statement:
    """Replace ``anon.taxonomy``, and the tables about it, by another place; a query has no tables beside it."""
    for table in list(query.find_all(exp.Table)):
        if table.db != "anon" or table.name not in TABLES:
            continue
        if isinstance(taxonomy, exp.Table):
            table.set("db", taxonomy.args.get("db"))
            table.set("catalog", taxonomy.args.get("catalog"))
            if table.name == "taxonomy":
                table.set("this", taxonomy.this.copy())
        elif table.name == "taxonomy":
            relation = taxonomy.copy()
            relation.set("alias", table.args.get("alias") or exp.TableAlias(this=identifier("taxonomy")))
            table.replace(relation)
    return query


def origin_table(taxonomy: exp.Table) -> exp.Table:
    """Name the table of what was loaded, and from where."""
    return beside(taxonomy, "taxonomy_origin")


def domains_of(taxonomy: exp.Table) -> exp.Table:
    return beside(taxonomy, "taxonomy_domain")


def beside(taxonomy: exp.Table, name: str) -> exp.Table:
    found = taxonomy.copy()
    found.set("this", identifier(name))
    return found


def levels(taxonomy: Taxonomies, attribute: str) -> exp.Query:
    """Call ``anon_helpers.taxonomy_levels``: level, value, label, leaf_count."""
    return at(table_call("taxonomy_levels", string(attribute)), taxonomy)


def all_labels(taxonomy: Taxonomies, attributes: Sequence[str], leaves: exp.Table | None = None) -> exp.Query:
    """Call ``anon_helpers.taxonomy_labels``: attribute, level, value, label, leaf_count.

    ``leaves`` has the counts of labels with more leaves than values in the table.
    """
    labels = at(table_call("taxonomy_labels", names(list(attributes))), taxonomy)
    if leaves is None:
        return labels
    return SQL.query("counted_labels", labels=labels, leaves=leaves)


def leaf_counts(taxonomy: exp.Table, listings: Sequence[exp.Subquery]) -> exp.Select:
    """Select attribute, level, label, leaf_count: the values of whole domains under the labels of a table."""
    rows = union_all([select([exp.Star()], listing.copy()) for listing in listings])
    return SQL.query("leaf_counts", listings=rows, taxonomy=taxonomy)


def leaves_of(taxonomy: exp.Table) -> exp.Table:
    """Name the table of counts of labels by whole domains."""
    return beside(taxonomy, "taxonomy_leaves")


def removal(table: exp.Table, attributes: Sequence[str]) -> exp.Delete:
    return exp.delete(table.copy(), where=_is_one_of(column("attribute"), attributes))


def problems(taxonomy: exp.Table, attributes: Sequence[str] | None = None) -> exp.Query:
    """Call ``anon_helpers.taxonomy_problems``: attribute, level, problem, problem_count; of all attributes if None."""
    if attributes is None:
        return table_call("taxonomy_problems", taxonomy)
    rows = SQL.query("rows_of", taxonomy=taxonomy, attributes=[*map(string, attributes)])
    return table_call("taxonomy_problems", subquery(rows, "anon_taxonomy"))


def ambiguous_labels(taxonomy: exp.Table, attributes: Sequence[str]) -> exp.Query:
    """Call ``anon.ambiguous_labels``: attribute, ambiguous_labels."""
    return at(table_call("ambiguous_labels", names(list(attributes))), taxonomy)


def uneven_digits(taxonomy: exp.Table, attributes: Sequence[str]) -> exp.Select:
    """Select ``attribute``, ``fewest_digits``, ``most_digits`` of digit taxonomies with values of different lengths."""
    return SQL.query("uneven_digits", taxonomy=taxonomy, attributes=[*map(string, attributes)])


def values_of(taxonomy: Taxonomies, attribute: str) -> exp.Select:
    """Select the ``value`` column of a stored taxonomy."""
    return SQL.query("values_of", taxonomy=taxonomy, attribute=string(attribute))


def values_in_file(path: str, delimiter: str) -> exp.Select:
    """Select each ``value`` of a hierarchy file, the first field of a line; ``path`` may be a glob."""
    texts = {"delim": delimiter, "quote": '"', "escape": '"', "comment": ""}
    settings: dict[str, exp.Expr] = {name: string(text) for name, text in texts.items()}
    settings |= {"header": exp.false(), "all_varchar": exp.true(), "skip": number(0)}
    given = [exp.EQ(this=exp.column(name), expression=value) for name, value in settings.items()]
    alias = exp.TableAlias(this=identifier("anon_taxonomy"), columns=[identifier("value")])
    function = exp.Anonymous(this="read_csv", expressions=[string(path), *given])
    return select([column("value")], exp.Table(this=function, alias=alias))


def values_of_fit(path: str, attribute: str) -> exp.Select:
    """Select each ``value`` of a taxonomy in the file of a fit."""
    place = {"schema_name": string("main"), "table_name": string("taxonomy")}
    given = [exp.EQ(this=exp.column(name), expression=value) for name, value in place.items()]
    return values_of(exp.Table(this=exp.Anonymous(this="read_duckdb", expressions=[string(path), *given])), attribute)


def values_without_label(source: exp.Expr, name: str, known: exp.Query | None = None) -> exp.Select:
    """Select ``value``, ``rows``: the texts of a column except ``known`` ones, the most frequent first."""
    is_missing: exp.Expr = exp.true()
    if known is not None:
        labelled = select([column("value")], subquery(known, "anon_known"))
        labelled.where(is_there(column("value")), copy=False)
        is_missing = exp.not_(exp.In(this=column("value"), query=exp.Subquery(this=labelled)))
    text = exact_text_in_memory(column("value"))
    return SQL.query("values_without_label", source=source, name=name, text=text, is_missing=is_missing)


def values_to_list(source: exp.Expr, name: str, known: exp.Query | None, type_name: str) -> exp.Select:
    """Select values without a label in a query for people to read; for columns of any type but arrays."""
    read = _as_texts(source)
    is_text = type_name == "VARCHAR" or read != source
    text = exp.Collate(this=column(name), expression=identifier("binary")) if is_text else exact_text(column(name))
    query = select([c.value, aliased(count_rows(), "rows")], subquery(select([aliased(text, "value")], read), "texts"))
    query.where(is_there(c.value), copy=False)
    if known is not None:
        is_column = isinstance(known, exp.Select) and isinstance(known.selects[0], exp.Column)
        labelled = known.copy() if is_column else select([c.value], subquery(known, "known"))
        labelled.where(is_there(c.value), copy=False)
        query.where(exp.not_(exp.In(this=c.value, query=exp.Subquery(this=labelled))), copy=False)
    return query.group_by(c.value).order_by(exp.Ordered(this=c.rows, desc=True))


def _as_texts(source: exp.Expr) -> exp.Expr:
    """Read all columns of CSV files as texts, so that values appear as written."""
    source = source.copy()
    if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Anonymous):
        return source
    options = {each.name: each for each in source.this.expressions if isinstance(each, exp.PropertyEQ)}
    if options.keys() >= {"columns", "header"} and options["header"].expression == exp.true():
        options["columns"].replace(exp.PropertyEQ(this=exp.to_identifier("all_varchar"), expression=exp.true()))
        for name in options.keys() & {"auto_detect", "hive_types_autocast"}:
            options[name].pop()
    return source


def values_with_rows(source: exp.Expr, name: str) -> exp.Select:
    """Select ``value``, ``rows``: the values of a column, the most frequent first, in portable SQL."""
    value, rows = column(name), exp.Ordered(this=column("rows"), desc=True)
    counted = select([aliased(value, "value"), aliased(count_rows(), "rows")], source.copy())
    return counted.where(is_there(value)).group_by(value.copy()).order_by(rows)


def items_of(source: exp.Expr, name: str) -> exp.Subquery:
    return subquery(SQL.query("items", source=source, name=name), "anon_items")


def shapes(taxonomy: exp.Table, attributes: Sequence[str] | None = None) -> exp.Query:
    """Select the shape and the hash of taxonomies, a row per attribute and level; by default of all attributes."""
    query = SQL.query("taxonomy_shapes")
    if attributes is not None:
        query.where(_is_one_of(column("attribute", "anon_taxonomy"), attributes), copy=False)
    return at(query, taxonomy)


NOT_STORED = "\0"
"""The prefix of attributes that are being loaded, beside stored ones."""


def stored_and_staged(taxonomy: exp.Table, staged: Relation) -> exp.Subquery:
    """Return the rows of all stored taxonomies, and of the ones being loaded, with marked attributes."""
    return subquery(SQL.query("stored_and_staged", stored=taxonomy, staged=staged), "anon_taxonomy")


def roots(taxonomy: exp.Table, attributes: Sequence[str]) -> exp.Query:
    """Select ``attribute``, ``root``, ``others``: the label of the top, and the rows with it below another label."""
    return at(SQL.query("roots", attributes=[*map(string, attributes)]), taxonomy)


def origins(taxonomy: exp.Table) -> exp.Query:
    """Select ``attribute``, ``origin``, ``sha256``: what was loaded last, and from where."""
    return at(SQL.query("taxonomy_origins"), taxonomy)


def observed(taxonomy: exp.Table) -> exp.Query:
    """Select ``sha256`` of all taxonomies that were loaded with values observed in data."""
    return at(SQL.query("observed_taxonomies"), taxonomy)


def _is_one_of(attribute: exp.Column, attributes: Sequence[str]) -> exp.In:
    return exp.In(this=attribute, expressions=[string(name) for name in attributes])


LONG_COLUMNS = ("level", "value", "label")


def integers(domain: IntegerRange, occurring: Sequence[tuple[exp.Expr, str]] = ()) -> exp.Query:
    """Select the values of a declared range of integers, as text.

    With ``occurring``, relations with a column each, select only values that occur, and the two ends.
    """
    first, end = domain.minimum, domain.maximum + 1
    if not occurring:
        return SQL.query("integers", first=first, end=end)
    found = union_all(SQL.query("whole_numbers", source=relation, name=name) for relation, name in occurring)
    return SQL.query("occurring_integers", first=first, last=domain.maximum, end=end, found=found)


def days(domain: DateRange) -> exp.Query:
    return SQL.query("days", first=string(domain.first.isoformat()), last=string(domain.last.isoformat()))


def labelled(domain: exp.Query, rules: Sequence[LabelRule]) -> exp.Query:
    """Select level, value, label: the values, one level per rule, and the top."""
    value = column("value", "anon_domain")
    labels = [value, *(scalar_call(rule.macro, value.copy(), *map(_literal, rule.arguments)) for rule in rules)]
    return _leveled("anon_domain", value, [*labels, string(TOP)]).with_("anon_domain", as_=domain)


def of_columns(source: exp.Table | exp.Subquery, name: str, coarser: Sequence[str]) -> exp.Query:
    """Select level, value, label: the values of a column, one level per coarser column, and the top.

    A value that occurs with several values of a coarser column has several labels, and only with NULL none.
    """
    texts = [aliased(exact_text(column(each)), f"anon_{depth}") for depth, each in enumerate((name, *coarser))]
    labels = [*(column(each.alias) for each in texts), string(TOP)]
    rows = exp.table_("anon_rows")
    query = union_all(
        SQL.query("distinct_labels", rows=rows, depth=depth, value="anon_0", label=label)
        for depth, label in enumerate(labels)
    )
    made = exp.select(*texts).from_(source.copy()).distinct()
    query.set("with_", exp.With(expressions=[made_once("anon_rows", made)]))
    return query


def unpivoted(wide: exp.Query, columns: Sequence[str]) -> exp.Query:
    """Select level, value, label from a relation of values followed by their labels in ``columns``."""
    labels = [text(column(name)) for name in columns]
    return _leveled("anon_wide", labels[0], labels).with_("anon_wide", as_=wide)


def wide(taxonomy: exp.Table, attribute: str, height: int) -> exp.Query:
    """Select a stored taxonomy as an ARX hierarchy: a row per value, a column per level, NULL first."""
    levels = [
        aliased(filtered(f.max(column("label")), column("level").eq(depth)), f"level_{depth}")
        for depth in range(1, height + 1)
    ]
    return SQL.query("wide_taxonomy", taxonomy=taxonomy, attribute=string(attribute), levels=levels)


def _leveled(relation: str, value: exp.Expr, labels: Sequence[exp.Expr]) -> exp.Query:
    return union_all(
        SQL.query("labels_at", rows=exp.table_(relation), depth=depth, value=value, label=label)
        for depth, label in enumerate(labels)
    )


def _literal(argument: int | Decimal | str | tuple[str, ...] | None) -> exp.Expr:
    if argument is None:
        return exp.null()
    if isinstance(argument, str):
        return string(argument)
    if isinstance(argument, tuple):
        return names(argument)
    literal = exp.Literal.number(str(abs(argument)))
    return exp.Neg(this=literal) if argument < 0 else literal
