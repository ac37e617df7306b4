"""Measures of a table as it is: the public macros, expanded over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.model.criteria import CLASS_SIZE, Bound, Measure
from sqlanon.queries import taxonomies
from sqlanon.queries.kit.macros import cast_value, exact_text, scalar_call, table_call, text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    aliased,
    all_of,
    column,
    f,
    names,
    number,
    select,
    string,
    subquery,
    values,
)
from sqlanon.queries.layout import MASK
from sqlanon.queries.source import Taxonomies, typed

SQL = Queries("tables")


@dataclass(frozen=True)
class MeasuredClasses:
    """The classes of a table: rows that agree in the quasi-identifiers, or their distinct individuals."""

    quasi_identifiers: tuple[str, ...]
    individual: str | None = None
    row_weight: str | None = None


@dataclass(frozen=True)
class Comparison:
    """The tables to measure a table against."""

    taxonomy: Taxonomies
    source: exp.Expr | None = None  # the table that it was made from; None compares it with itself
    population: exp.Expr | None = None  # with quasi-identifiers spelled as in the table
    labelled_source: exp.Expr | None = None  # the table before suppression; None for the table itself
    node: Mapping[str, int] | None = None  # of its labels; None for values as they are


def attained(table: exp.Expr, classes: MeasuredClasses, bound: Bound, comparison: Comparison) -> exp.Query:
    """Select one row, ``attained``: the worst value of a bound's measure over the classes of a table."""
    measure = bound.measure
    table, source = table.copy(), table if comparison.source is None else comparison.source
    if classes.individual is not None:
        table = _once_each(table, classes, measure)
        source = _once_each(source, classes, measure, of_classes=False)
    if measure.view == "labels":
        call = _of_labels(table, classes, measure, comparison.node)
    else:
        call = _measured(table, source.copy(), classes, bound, comparison)
    return taxonomies.at(call, comparison.taxonomy)


def risks(source: exp.Expr, quasi_identifiers: tuple[str, ...]) -> exp.Query:
    """Select one row: measures that need no privacy model, over classes that are counted once."""

    def measured(macro: str) -> exp.Query:
        return table_call(macro, source.copy(), names(quasi_identifiers))

    classes, prosecutor, uniqueness = map(measured, ("k_anonymity", "prosecutor_risk", "sample_uniqueness"))
    return SQL.query("risks", classes=classes, prosecutor=prosecutor, uniqueness=uniqueness)


def rows_without(table: exp.Expr, name: str, label: str) -> exp.Query:
    has_other = exp.NullSafeNEQ(this=exact_text(column(name)), expression=string(label))
    return select([exp.Star()], table.copy()).where(has_other, copy=False)


def foreign_labels(table: exp.Expr, node: Mapping[str, int], taxonomy: Taxonomies) -> exp.Query:
    """Call ``anon.foreign_labels``: attribute, foreign_labels, foreign_rows."""
    return taxonomies.at(table_call("foreign_labels", table.copy(), level_map(node)), taxonomy)


def distinct_labels(table: exp.Expr, quasi_identifiers: Iterable[str]) -> exp.Query:
    """Select the combinations of labels in a table, as exact text."""
    return _labels(table, quasi_identifiers).distinct(copy=False)


def _labels(table: exp.Expr, quasi_identifiers: Iterable[str]) -> exp.Select:
    return select([aliased(exact_text(column(name)), name) for name in quasi_identifiers], table.copy())


def labels_outside(
    table: exp.Expr, name: str, labels: Sequence[tuple[int | None, str]], taxonomy: Taxonomies
) -> exp.Query:
    """Select one row, ``attribute``, ``foreign_labels``, ``foreign_rows``: labels of a column outside a cut."""
    of_all = [label for level, label in labels if level is None]
    if of_all:
        return other_labels(table, name, of_all)
    rows = [[number(level), string(label)] for level, label in labels if level is not None]
    # A column of NULLs has no labels, and VALUES need a row.
    given = values("anon_cut", ("level", "label"), rows or [[exp.null(), exp.null()]])
    known = SQL.query("labels_of_cut", taxonomy=taxonomy, labels=given, attribute=string(name))
    return SQL.query("foreign_labels", source=table, attribute=string(name), name=name, labels=exp.Subquery(this=known))


def labels_off_levels(table: exp.Expr, name: str, levels: Iterable[int], taxonomy: Taxonomies) -> exp.Query:
    """Select the row of :func:`labels_outside` for labels of a column that its taxonomy has at none of some levels."""
    known = SQL.query("labels_at", taxonomy=taxonomy, attribute=string(name), levels=[*map(number, levels)])
    return SQL.query("foreign_labels", source=table, attribute=string(name), name=name, labels=exp.Subquery(this=known))


def other_labels(table: exp.Expr, name: str, labels: Sequence[str]) -> exp.Query:
    """Select the row of :func:`labels_outside` for labels without a taxonomy, such as intervals."""
    given = [*map(string, labels)]
    return SQL.query("foreign_labels", source=table, attribute=string(name), name=name, labels=given)


def class_mismatches(table: exp.Expr, quasi_identifiers: Sequence[str], listed: Relation) -> exp.Query:
    """Select one row: ``unlisted`` combinations of labels, their ``unlisted_rows``, and listed ones that differ."""
    found = _labels(table, quasi_identifiers)
    return Queries("local").query("class_mismatches", names=list(quasi_identifiers), found=found, listed=listed)


def masked_rows(table: exp.Expr, quasi_identifiers: Sequence[str]) -> exp.Select:
    """Select the rows with the mask in every quasi-identifier."""
    return select([exp.Star()], table.copy()).where(_is_masked(quasi_identifiers), copy=False)


def unmasked_rows(table: exp.Expr, quasi_identifiers: Sequence[str]) -> exp.Select:
    """Select the other rows, including those with a NULL."""
    masked = f.coalesce(_is_masked(quasi_identifiers), exp.false())
    return select([exp.Star()], table.copy()).where(exp.not_(masked), copy=False)


def generalized(
    table: exp.Expr, node: Mapping[str, int], taxonomy: Taxonomies, kept: Sequence[str] = ()
) -> exp.Subquery:
    """Select the labels of a table at a node, and the columns to keep."""
    query = table_call("generalize", table.copy(), level_map(node))
    columns: list[exp.Expr] = [column(name) for name in (*node, *kept)]
    return subquery(select(columns, subquery(taxonomies.at(query, taxonomy), "anon_rows")), "anon_generalized")


def blank_rows(table: exp.Expr, quasi_identifiers: Sequence[str]) -> exp.Query:
    """Select one row: ``blank_rows``, those with NULL or the mask in a quasi-identifier."""
    labels: list[exp.Expr] = [f.coalesce(text(column(name)), string(MASK)) for name in quasi_identifiers]
    return SQL.query("blank_rows", released=table.copy(), labels=labels)


def few_matches(release: exp.Expr, source: exp.Expr, quasi_identifiers: Sequence[str], k: int) -> exp.Query:
    """Select one row of rows of the source: ``persons``, and how many fit ``few``, ``one`` or ``none`` of a release."""
    found = table_call("matching_rows", source.copy(), release.copy(), names([*quasi_identifiers]))
    return SQL.query("few_matches", found=subquery(found, "anon_matches"), k=k)


def as_enums(table: exp.Expr, types: Mapping[str, str]) -> exp.Expr:
    """Cast text columns of a table to the ENUM types of its source, which have the order of values."""
    if not types:
        return table
    return typed(table, {name: cast_value(column(name), type_name) for name, type_name in types.items()})


def level_map(node: Mapping[str, int]) -> exp.Expr:
    return _map({name: number(level) for name, level in node.items()})


def _measured(
    table: exp.Expr, source: exp.Expr, classes: MeasuredClasses, bound: Bound, comparison: Comparison
) -> exp.Query:
    """Call the macro of a measure over a table, with its result as ``attained``."""
    measure, keys = bound.measure, names(classes.quasi_identifiers)
    macro, result = measure.of_table
    arguments: list[exp.Expr]
    if measure == CLASS_SIZE and classes.individual is not None:
        macro, result, arguments = "k_anonymity_of_individuals", "k", [string(classes.individual)]
    elif measure.view == "population":
        assert comparison.population is not None
        if measure.name == "presence" and bound.at_least:
            result = "smallest_published"
        # Before suppression, since a class is not absent because all its rows were suppressed.
        if bound.grain == "node" and comparison.labelled_source is not None:
            table = comparison.labelled_source.copy()
        arguments = [comparison.population.copy()]
    elif measure.view == "sample":
        assert classes.row_weight is not None
        before = table if comparison.labelled_source is None else comparison.labelled_source
        arguments = [before.copy(), string(classes.row_weight)]
    elif measure.of_all is not None:
        sizes = table_call("class_sizes", table, keys)
        value = scalar_call(measure.of_all, column("class_size"), exp.convert(measure.argument))
        return select([aliased(value, "attained")], subquery(sizes, "anon_sizes"))
    elif measure.view == "attacker":
        assert isinstance(measure.argument, tuple)
        arguments = [_map({name: number(probability) for name, probability in measure.argument})]
    else:
        arguments = [] if measure.column is None else [string(measure.column)]
        arguments += [] if measure.view in ("size", "values") else [source]
        arguments += [] if measure.argument is None else [exp.convert(measure.argument)]
    measured = subquery(table_call(macro, table, keys, *arguments), "anon_measured")
    return exp.select(aliased(column(result), "attained")).from_(measured)


def _of_labels(
    table: exp.Expr, classes: MeasuredClasses, measure: Measure, node: Mapping[str, int] | None
) -> exp.Query:
    """Call a macro that measures each class by its labels, which are values if no node is given."""
    assert isinstance(measure.argument, tuple)
    macro, result = measure.of_table
    levels = level_map(node or dict.fromkeys(classes.quasi_identifiers, 0))
    measured = table_call(macro, table, levels, *(number(figure) for _, figure in measure.argument))
    return select([aliased(exp.Max(this=column(result)), "attained")], subquery(measured, "anon_measured"))


def _is_masked(quasi_identifiers: Sequence[str]) -> exp.Expr:
    return all_of([exact_text(column(name)).eq(MASK) for name in quasi_identifiers])


def _once_each(table: exp.Expr, classes: MeasuredClasses, measure: Measure, *, of_classes: bool = True) -> exp.Subquery:
    """Select each individual once per class, or once per class and sensitive value."""
    assert classes.individual is not None
    kept = [*(classes.quasi_identifiers if of_classes else ()), classes.individual]
    kept += [] if measure.column is None else [measure.column]
    once = select([column(name) for name in dict.fromkeys(kept)], table.copy()).distinct(copy=False)
    return subquery(once, "anon_once")


def _map(values: Mapping[str, exp.Expr]) -> exp.Expr:
    entries = [exp.PropertyEQ(this=string(name), expression=value) for name, value in values.items()]
    return exp.ToMap(this=exp.Struct(expressions=entries))
