"""The release: the rows of the kept classes with their labels, in the order of their own columns.

It says nothing of the order of the source. Where cells hold all that is shown, rows are rebuilt from their counts: the
source is not read again, and what is sorted are the groups of equal rows.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.compiler import taxonomies
from sqlanon.compiler.encoding import ROW_COUNT, VALUE, Encoding, row_sum
from sqlanon.compiler.evaluate import ALL_ROWS
from sqlanon.compiler.grouping import node_keys
from sqlanon.compiler.macros import DIALECT, template
from sqlanon.compiler.nodes import (
    Relation,
    aliased,
    all_of,
    column,
    exact_text,
    grouped,
    over,
    same,
    select,
    string,
    subquery,
)
from sqlanon.model.lattice import Levels

GROUPED = "anon_grouped"

EQUAL_ROWS = Relation("anon_equal_rows", "class")
"""The published rows in groups of equal ones, if cells hold all that is shown."""

MASK = "*"
"""What stands in every quasi-identifier of a suppressed row that is kept masked."""


def release(
    plan: Encoding, levels: Levels, kept: Relation, *, masked: bool, with_individuals: bool = False
) -> exp.Query:
    """The published rows: labels for quasi-identifiers, other columns as they are, identifiers left out.

    Where cells hold the release, they are those of ``EQUAL_ROWS``, which has to be made first: repeating rows while
    they are still being sorted takes three times as long.

    Args:
        plan: the encoding of the run.
        levels: the chosen node.
        kept: the codes of the classes that are kept there.
        masked: whether the rows of other classes stay, masked, or go.
        with_individuals: whether the column of individuals is added where it is not published: for measuring alone.
    """
    if plan.holds_release and not with_individuals:
        return over(template("repeated_rows"), select([exp.Star()], EQUAL_ROWS.table))
    query = _shown(plan, levels, _labelled(plan, levels), kept, masked=masked)
    individual = plan.bound.policy.individual
    if with_individuals and individual is not None and individual not in plan.bound.policy.released_columns:
        query = query.select(column(individual, "anon_labelled"), copy=False)
    return _in_own_order(query)


def equal_rows(plan: Encoding, levels: Levels, kept: Relation, *, masked: bool) -> exp.Query:
    """The published rows in groups of equal ones with their number, in the order of their own columns."""
    return _in_own_order(_shown(plan, levels, _groups(plan, levels), kept, masked=masked, counted=True))


def _shown(
    plan: Encoding, levels: Levels, labelled: exp.Query, kept: Relation, *, masked: bool, counted: bool = False
) -> exp.Select:
    """What is released of rows with their labels and codes, or of groups of them with their number."""
    keys = [key for _, key in node_keys(plan, levels)]
    same_class = all_of([column(key, "anon_kept").eq(column(key, "anon_labelled")) for key in keys])
    classes = exp.alias_(kept.table, "anon_kept", table=True)
    is_kept = column(keys[0] if keys else ALL_ROWS, "anon_kept").is_(exp.null()).not_() if masked else None
    query = exp.select(*_released(plan, is_kept)).from_(subquery(labelled, "anon_labelled"))
    if counted:
        query = query.select(column(ROW_COUNT, "anon_labelled"), copy=False)
    return query.join(classes, on=same_class, join_type="left" if masked else "", copy=False)


def _in_own_order(query: exp.Query) -> exp.Select:
    ordered = exp.select(exp.Star()).from_(subquery(query, "anon_release"))
    ordered.set("order", exp.Order(expressions=[exp.Ordered(this=exp.Var(this="ALL"))]))
    return ordered


def _groups(plan: Encoding, levels: Levels) -> exp.Query:
    """Rows that a release shows alike, in groups: labels, codes, values of protected columns, and their number."""
    keys = [key for _, key in node_keys(plan, levels)]
    raw = [plan.raw(name) for name in plan.bound.policy.protected_columns]
    grouping = [column(name) for name in (*keys, *raw)]
    cells = grouped(select([*(key.copy() for key in grouping), row_sum()], plan.cells.table), grouping)
    query = exp.select(column(ROW_COUNT, GROUPED)).from_(subquery(cells, GROUPED))
    for name in plan.bound.policy.protected_columns:
        query = query.select(aliased(column(plan.raw(name), GROUPED), name), copy=False)
    for position, depth in enumerate(levels):
        alias, code = f"anon_labels_{position}", plan.code(position, depth)
        labels = select([column(code), column("label")], subquery(_labels(plan, position, depth), "anon_codes"))
        if code in keys:
            on: exp.Expr = column(code, alias).eq(column(code, GROUPED))
            query = query.select(column(code, GROUPED), copy=False)
        else:
            on = exp.true()
        query = query.join(subquery(labels.distinct(copy=False), alias), on=on, join_type="left", copy=False)
        query = query.select(aliased(column("label", alias), _label(position)), copy=False)
    return query


def _labelled(plan: Encoding, levels: Levels) -> exp.Query:
    """Every row of the source with the label and the code of each quasi-identifier.

    Lookups are LEFT joins although every value is found: DuckDB keeps their order, where it would join the small
    tables among each other first.
    """
    query = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier("anon_source", quoted=True)))
    query = query.from_(exp.alias_(plan.bound.source.copy(), "anon_source", table=True))
    for position, depth in enumerate(levels):
        alias = f"anon_labels_{position}"
        raw = exact_text(column(plan.bound.policy.quasi_identifiers[position], "anon_source"))
        lookup = subquery(_labels(plan, position, depth), alias)
        query = query.join(lookup, on=same(column(VALUE, alias), raw), join_type="left", copy=False)
        query = query.select(
            aliased(column("label", alias), _label(position)), column(plan.code(position, depth), alias), copy=False
        )
    return query


def _released(plan: Encoding, is_kept: exp.Expr | None) -> list[exp.Expr]:
    """The columns of the release, in the order of the source."""
    policy = plan.bound.policy
    columns: list[exp.Expr] = []
    for source_column in plan.bound.columns:
        name = source_column.name
        if name in policy.quasi_identifiers:
            label: exp.Expr = column(_label(policy.quasi_identifiers.index(name)), "anon_labelled")
            if is_kept is not None:
                label = exp.case().when(is_kept.copy(), label).else_(string(MASK))
            columns.append(aliased(label, name))
        elif name in policy.released_columns:
            columns.append(aliased(_without_enum(name, source_column.type), name))
    return columns


def _label(position: int) -> str:
    return f"anon_label_{position}"


def _labels(plan: Encoding, position: int, depth: int) -> exp.Query:
    """The values of a quasi-identifier with their code and label at the node's level."""
    attribute = plan.bound.policy.quasi_identifiers[position]
    labels = subquery(taxonomies.level(plan.bound.taxonomy, attribute, depth), "anon_labels")
    return (
        exp.select(
            column(VALUE, "anon_codes"),
            column(plan.code(position, depth), "anon_codes"),
            column("label", "anon_labels"),
        )
        .from_(exp.alias_(plan.codes[position].table, "anon_codes", table=True))
        .join(labels, on=same(column("value", "anon_labels"), column(VALUE, "anon_codes")))
    )


def _without_enum(name: str, type_name: str) -> exp.Expr:
    """The column, with ENUM cast to text wherever it stands in the type.

    A fresh file with an ENUM column carries all labels of the type, those of suppressed rows too.
    """
    value = column(name, "anon_labelled")
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
