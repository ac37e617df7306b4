"""Queries about taxonomies: the macros, expanded over the table that holds the taxonomies, wherever that is."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.compiler.macros import table_call, template
from sqlanon.compiler.nodes import names, number, string


def at(query: exp.Query, taxonomy: exp.Table) -> exp.Query:
    """The query with ``anon.taxonomy`` (and ``anon.taxonomy_domain`` beside it) read from another place."""
    for table in list(query.find_all(exp.Table)):
        if table.db == "anon" and table.name in ("taxonomy", "taxonomy_domain"):
            table.set("db", taxonomy.args.get("db"))
            table.set("catalog", taxonomy.args.get("catalog"))
            if table.name == "taxonomy":
                table.set("this", taxonomy.this.copy())
    return query


def level(taxonomy: exp.Table, attribute: str, depth: int) -> exp.Query:
    """``anon.taxonomy_level``: value, label."""
    return at(table_call("taxonomy_level", string(attribute), number(depth)), taxonomy)


def leaves(taxonomy: exp.Table, attribute: str, depth: int) -> exp.Query:
    """``anon.label_leaves``: label, leaf_count."""
    return at(table_call("label_leaves", string(attribute), number(depth)), taxonomy)


def problems(taxonomy: exp.Table) -> exp.Query:
    """``anon.taxonomy_problems``: attribute, level, problem, problem_count."""
    return table_call("taxonomy_problems", taxonomy)


def unmapped_values(source: exp.Expr, quasi_identifiers: tuple[str, ...], taxonomy: exp.Table) -> exp.Query:
    """``anon.unmapped_values``: attribute, unmapped_values, unmapped_rows."""
    return at(table_call("unmapped_values", source, names(quasi_identifiers)), taxonomy)


def shapes(taxonomy: exp.Table) -> exp.Query:
    """The shape and the hash of every taxonomy, a row per attribute and level."""
    return at(template("taxonomy_shapes"), taxonomy)
