"""Queries about taxonomies: the macros, expanded over the table that holds the taxonomies, wherever that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import sqlglot
from sqlglot import exp

from sqlanon.queries.kit.macros import schema_statements, table_call, template
from sqlanon.queries.kit.nodes import (
    DIALECT,
    aliased,
    column,
    count_rows,
    filtered,
    grouped,
    identifier,
    names,
    number,
    select,
    string,
    subquery,
    text,
)

LONGEST_QUERY = 2000
"""Characters of a query in a message: one over a list of many files is longer."""

Statement = TypeVar("Statement", bound=exp.Expr)
TABLES = ("taxonomy", "taxonomy_domain", "taxonomy_origin")


def at(query: Statement, taxonomy: exp.Table) -> Statement:
    """The statement with ``anon.taxonomy`` (and the tables that tell of it) in another place."""
    for table in list(query.find_all(exp.Table)):
        if table.db == "anon" and table.name in TABLES:
            table.set("db", taxonomy.args.get("db"))
            table.set("catalog", taxonomy.args.get("catalog"))
            if table.name == "taxonomy":
                table.set("this", taxonomy.this.copy())
    return query


def origin_table(taxonomy: exp.Table) -> exp.Table:
    """The table beside that of the taxonomies that tells what was loaded, and from where."""
    return beside(taxonomy, "taxonomy_origin")


def domains_of(taxonomy: exp.Table) -> exp.Table:
    """The table beside that of the taxonomies that tells whether their domains were declared, stated or observed."""
    return beside(taxonomy, "taxonomy_domain")


def beside(taxonomy: exp.Table, name: str) -> exp.Table:
    """A table in the schema of that of the taxonomies."""
    found = taxonomy.copy()
    found.set("this", identifier(name))
    return found


def level(taxonomy: exp.Table, attribute: str, depth: int) -> exp.Query:
    """``anon.taxonomy_level``: value, label."""
    return at(table_call("taxonomy_level", string(attribute), number(depth)), taxonomy)


def levels(taxonomy: exp.Table, attribute: str) -> exp.Query:
    """``anon.taxonomy_levels``: level, value, label, leaf_count."""
    return at(table_call("taxonomy_levels", string(attribute)), taxonomy)


def all_labels(taxonomy: exp.Table, attributes: Sequence[str]) -> exp.Query:
    """``anon.taxonomy_labels``: attribute, level, value, label, leaf_count."""
    return at(table_call("taxonomy_labels", names(list(attributes))), taxonomy)


def attributes(taxonomy: exp.Table) -> exp.Select:
    """``attribute``: each that has a taxonomy."""
    return select([column("attribute")], taxonomy.copy()).distinct(copy=False)


def removal(table: exp.Table, attributes: Sequence[str]) -> exp.Delete:
    """The statement that removes the rows of some attributes from a table about taxonomies."""
    return exp.delete(table.copy(), where=_is_one_of(column("attribute"), attributes))


def level_counts(taxonomy: exp.Table, highest: int) -> exp.Select:
    """``attribute``, ``wrong_levels``: how many rows of each have a level that is none from 0 to the highest."""
    level = column("level")
    wrong = exp.or_(level.is_(exp.null()), exp.not_(level.copy().between(0, highest)))
    counts = [column("attribute"), aliased(filtered(count_rows(), wrong), "wrong_levels")]
    return grouped(select(counts, taxonomy.copy()), [column("attribute")])


def problems(taxonomy: exp.Table, attributes: Sequence[str] | None = None) -> exp.Query:
    """``anon.taxonomy_problems``: attribute, level, problem, problem_count; of all attributes if none are given."""
    if attributes is None:
        return table_call("taxonomy_problems", taxonomy)
    rows = select([exp.Star()], taxonomy.copy()).where(_is_one_of(column("attribute"), attributes), copy=False)
    return table_call("taxonomy_problems", subquery(rows, "anon_taxonomy"))


def unmapped_values(source: exp.Expr, quasi_identifiers: tuple[str, ...], taxonomy: exp.Table) -> exp.Query:
    """``anon.unmapped_values``: attribute, unmapped_values, unmapped_rows."""
    return at(table_call("unmapped_values", source, names(quasi_identifiers)), taxonomy)


def values_without_label(source: exp.Expr, name: str, taxonomy: exp.Table, attribute: str) -> exp.Select:
    """The values of a column that a taxonomy does not know, with how many rows have them: for the user to run."""
    value = text(column(name))
    of_attribute = column("attribute").eq(string(attribute)), column("level").eq(number(0))
    known = select([column("value")], taxonomy.copy()).where(
        *of_attribute, exp.not_(column("value").is_(exp.null())), copy=False
    )
    unknown = exp.not_(exp.In(this=value.copy(), query=exp.Subquery(this=known)))
    listed = select([aliased(value, "value"), aliased(count_rows(), "rows")], source.copy())
    return grouped(listed.where(unknown, copy=False), [value.copy()])


def listing(source: exp.Expr, name: str, taxonomy: exp.Table, attribute: str) -> str:
    """The text of that query for a message, for a session that has the taxonomy in its warehouse.

    It is over ``the_source`` if that is a list of many files, or a frame, which has its name during the run alone.
    """
    stored = exp.Table(this=taxonomy.this.copy(), db=taxonomy.args["db"].copy())
    query = values_without_label(source, name, stored, attribute).sql(DIALECT)
    if len(query) > LONGEST_QUERY or (isinstance(source, exp.Table) and source.catalog == "temp"):
        query = values_without_label(exp.to_table("the_source"), name, stored, attribute).sql(DIALECT)
    return query


def shapes(taxonomy: exp.Table, attributes: Sequence[str] | None = None) -> exp.Query:
    """The shape and the hash of taxonomies, a row per attribute and level; of all attributes if none are given."""
    query = template("taxonomy_shapes")
    if attributes is not None:
        query.where(_is_one_of(column("attribute", "anon_taxonomy"), attributes), copy=False)
    return at(query, taxonomy)


def origins(taxonomy: exp.Table) -> exp.Query:
    """``attribute``, ``origin``, ``sha256``: what was loaded last, and from where."""
    return at(template("taxonomy_origins"), taxonomy)


def observed(taxonomy: exp.Table) -> exp.Query:
    """``sha256``: of all taxonomies that were loaded with values read off the data."""
    return at(template("observed_taxonomies"), taxonomy)


def has_narrow_domains(taxonomy: exp.Table) -> exp.Query:
    """One row, ``is_narrow``: whether the table of domains is that of an earlier version."""
    here = column("database_name").eq(string(taxonomy.catalog))
    return template("narrow_domains").where(here, copy=False)


def domain_table(taxonomy: exp.Table) -> exp.Create:
    """The statement that makes the table of domains."""
    parsed = (sqlglot.parse_one(statement, read=DIALECT) for statement in schema_statements())
    made = next(each for each in parsed if any(table.name == "taxonomy_domain" for table in each.find_all(exp.Table)))
    assert isinstance(made, exp.Create)
    return at(made, taxonomy)


def _is_one_of(attribute: exp.Column, attributes: Sequence[str]) -> exp.In:
    return exp.In(this=attribute, expressions=[string(name) for name in attributes])
