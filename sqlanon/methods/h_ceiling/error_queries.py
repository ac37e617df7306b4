"""The reconstruction error in SQL: of the levels of a lattice, and of a node that is filled up and has a catalog."""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from sqlanon.methods.h_ceiling.catalog_queries import COUNT, GROUP, GROUPS, NUMBER, TOTALS, VALUE
from sqlanon.methods.h_ceiling.queries import CLASSES, COUNTERFEITS, FILLED, value_column
from sqlanon.model.lattice import Levels
from sqlanon.model.recoding import AtLevel
from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding
from sqlanon.queries.cells.information import VALUE_ROWS, labelled_values
from sqlanon.queries.cells.recoding import bits_of_labels
from sqlanon.queries.classes.grouping import by_key, with_bits
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import (
    aliased,
    all_of,
    column,
    copies,
    equal_in,
    grouped,
    left_join,
    number,
    select,
    subquery,
    values,
)

CELLS = "anon_true_cells"
"""The cells of a node with their true rows, and what the catalog tells of these."""

TRUTH = "anon_truth"
LEAST_LEVEL = 1
"""Labels of lower levels are values, of which one is published as it is."""


def level_errors(encoding: Encoding) -> exp.Query:
    """``position``, ``depth`` and ``error``: what is lost of a value by its label there, a mean over rows, in [0, 1].

    The reconstruction error of rows that are known to be real; the number of leaves of a label is told by its LM.
    """
    sizes = [[number(position), number(shape.domain_size)] for position, shape in enumerate(encoding.spec.shapes)]
    domains = values("anon_domains", ("position", "domain_size"), sizes)
    leaves = _leaves(column("anon_lm", "anon_levels"), column("domain_size", "anon_domains"))
    error = scalar_call("reconstruction_error", leaves, number(1))
    keys = [column("position", "anon_levels"), column("depth", "anon_levels")]
    mean = _mean(column(VALUE_ROWS, "anon_levels"), error)
    query = select([*keys, aliased(mean, "error")], subquery(labelled_values(encoding), "anon_levels"))
    on = column("position", "anon_domains").eq(column("position", "anon_levels"))
    return grouped(query.join(domains, on=on, copy=False), copies(keys))


def catalog_error(encoding: Encoding, levels: Levels) -> exp.Query:
    """One row, ``error``: the mean reconstruction error of true rows, each as true as the catalog tells, in [0, 1].

    Over quasi-identifiers and the sensitive value, from cells that are filled up and the groups of their classes.
    0 for a table without rows.
    """
    truth = scalar_call("row_truth", column(COUNT), column("anon_group_rows"))
    cells = subquery(select([exp.Star(), aliased(truth, TRUTH)], subquery(_told_cells(encoding, levels), CELLS)), CELLS)
    errors = [scalar_call("reconstruction_error", number(1), column(TRUTH, CELLS))]
    query = select([], cells)
    for position, (level, shape) in enumerate(zip(levels, encoding.spec.shapes, strict=True)):
        leaves: exp.Expr = number(1 if level < LEAST_LEVEL else shape.domain_size)
        if LEAST_LEVEL <= level < shape.height:
            alias, part = encoding.labels_of(position), AtLevel(level)
            labels = subquery(bits_of_labels(encoding, position, part, [column("lm")]), alias)
            query = left_join(query, labels, with_bits(encoding, position, part, CELLS, alias))
            leaves = _leaves(column("lm", alias), number(shape.domain_size))
        errors.append(scalar_call("reconstruction_error", leaves, column(TRUTH, CELLS)))
    of_row = reduce(lambda one, other: exp.Add(this=one, expression=other), errors)
    mean = _mean(column(ROW_COUNT, CELLS), exp.Paren(this=of_row))
    of_attribute = exp.Div(this=mean, expression=number(len(errors)))
    return query.select(aliased(exp.func("coalesce", of_attribute, number(0)), "error"), copy=False)


def _told_cells(encoding: Encoding, levels: Levels) -> exp.Select:
    """The true rows of each class and value, how many of its value the group has, and how many of these are not true.

    Without either where the catalog does not tell of them.
    """
    keys, value = by_key(encoding, levels).keys, value_column(encoding)
    published = column(ROW_COUNT, "anon_filled")
    invented = exp.func("coalesce", column(ROW_COUNT, "anon_invented"), number(0))
    of_group = exp.Window(
        this=exp.Sum(this=published.copy()),
        partition_by=[column(GROUP, "anon_groups"), column(value, "anon_filled")],
    )
    columns = [
        *(column(key, "anon_filled") for key in keys),
        aliased(exp.Sub(this=published, expression=invented), ROW_COUNT),
        column(COUNT, "anon_totals"),
        aliased(of_group, "anon_group_rows"),
    ]
    query = select(columns, exp.alias_(FILLED.table, "anon_filled", table=True))
    same_class = equal_in(keys, "anon_filled", "anon_classes")
    query = query.join(exp.alias_(CLASSES.table, "anon_classes", table=True), on=same_class, copy=False)
    same_number = column(NUMBER, "anon_groups").eq(column(NUMBER, "anon_classes"))
    query = left_join(query, exp.alias_(GROUPS.table, "anon_groups", table=True), same_number)
    same_total = [column(GROUP, "anon_totals").eq(column(GROUP, "anon_groups"))]
    same_total.append(column(VALUE, "anon_totals").eq(column(value, "anon_filled")))
    query = left_join(query, exp.alias_(TOTALS.table, "anon_totals", table=True), all_of(same_total))
    same_cell = equal_in((*keys, value), "anon_filled", "anon_invented")
    return left_join(query, exp.alias_(COUNTERFEITS.table, "anon_invented", table=True), same_cell)


def _leaves(lm: exp.Expr, domain_size: exp.Expr) -> exp.Expr:
    """How many leaves are under a label, by what it loses of a domain of so many."""
    others = exp.Paren(this=exp.Sub(this=domain_size, expression=number(1)))
    return exp.Paren(this=exp.Add(this=number(1), expression=exp.Mul(this=lm, expression=others)))


def _mean(rows: exp.Expr, error: exp.Expr) -> exp.Expr:
    """The mean of what groups of so many rows lose each."""
    return exp.Div(this=exp.Sum(this=exp.Mul(this=rows, expression=error)), expression=exp.Sum(this=rows.copy()))
