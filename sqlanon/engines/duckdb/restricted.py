"""Restrict queries from policies and taxonomies, which other people may have written.

The check uses DuckDB's own parse tree of the text to be sent, and only passes known harmless parts: tables and views,
named files, and functions on a list. Views were made by the owner of the warehouse, so they are not looked into.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from sqlglot import exp

from sqlanon.engines.duckdb import catalog
from sqlanon.engines.duckdb.catalog import Rows
from sqlanon.errors import PolicyError
from sqlanon.model.names import FILE_SUFFIXES, folded
from sqlanon.queries.kit.macros import SCHEMAS, macro_names
from sqlanon.queries.kit.nodes import DIALECT, identifier, select
from sqlanon.queries.kit.sql_files import query_text, sql_folder

Node = dict[str, Any]  # a node of the parse tree

REMOTE = re.compile(r"(?!file:)\w[\w+.-]*://", re.IGNORECASE)
"""Matches paths to other machines, or to what an extension of DuckDB opens."""

READERS = re.compile(r"parquet_scan|read_(parquet|(csv|json|ndjson)(_auto)?|(nd)?json_objects(_auto)?)")
"""The functions that read files."""

TABLE_FUNCTIONS = frozenset(("generate_series", "json_each", "json_tree", "range", "unnest"))
"""Functions in FROM that make rows of their arguments."""

READ_SUFFIXES = (*FILE_SUFFIXES, ".json", ".json.gz", ".jsonl", ".ndjson", ".ndjson.gz")
"""Suffixes of files that may stand in FROM without a function."""

WRITING_OPTIONS = re.compile(r"store_rejects|rejects_\w+", re.IGNORECASE)
"""Reader options that make tables of rejected rows."""

BUILDERS = frozenset(("list_value", "map", "row", "struct_pack"))
"""Functions that DuckDB makes of literal lists, maps and structs."""

PARTS = re.compile(
    # Expressions, queries, what they read from, the ends of queries, and types
    "BETWEEN|CASE|CAST|COLLATE|COLUMN_REF|COMPARISON|CONJUNCTION|CONSTANT|LAMBDA|LAMBDA_REF|OPERATOR|"
    "POSITIONAL_REFERENCE|STAR|SUBQUERY|TYPE|"
    r"(RECURSIVE_)?CTE_NODE|SELECT_NODE|SET_OPERATION_NODE|EMPTY|EXPRESSION_LIST|JOIN|PIVOT|"
    r"ASCENDING|DESCENDING|ORDER_DEFAULT|(DISTINCT|LIMIT|LIMIT_PERCENT|ORDER)_MODIFIER|\w+_TYPE_INFO"
)
"""Parts of a query without effects of their own."""


def refuse_forbidden(relation: exp.Expr, rows: Rows) -> None:
    sql = select([exp.Star()], relation.copy()).sql(DIALECT)
    tree = json.loads(rows(query_text("engines", "parsed_query"), (sql,))[0][0])
    if tree["error"] or len(tree["statements"]) != 1:
        raise _refused(["text that DuckDB does not parse as one SELECT query; a PIVOT needs its values in IN (...)"])
    problems = list(dict.fromkeys(_problems(tree["statements"][0], rows)))
    if problems:
        raise _refused(problems)


def refuse_remote(path: str) -> None:
    if REMOTE.match(path):
        raise _refused([_remote(path)])


@cache
def allowed_functions() -> frozenset[str]:
    """List the scalar, aggregate and window functions that a restricted query may call, in lower case."""
    lines = (sql_folder() / "allowed_functions.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(name for line in lines if not line.startswith("--") for name in line.split())


def _refused(problems: list[str]) -> PolicyError:
    return PolicyError(
        "queries of policies and taxonomies may not use the following; the owner of the warehouse can create a view of "
        "the query, to be named instead:",
        problems,
    )


def _remote(path: str) -> str:
    return f'"{path}", which is not a file on this machine'


def _problems(statement: Node, rows: Rows) -> Iterator[str]:
    nodes = list(_nodes(statement))
    for node in nodes:
        match node.get("class", node.get("type")):
            case "FUNCTION" | "WINDOW":
                yield from _of_function(node, allowed_functions())
            case "TABLE_FUNCTION":
                yield from _of_table_function(node["function"])
            case "BASE_TABLE":
                pass
            case str() as kind if not PARTS.fullmatch(kind):
                yield f"the part {kind.removesuffix('_NODE').removesuffix('_REF')}"
    named = {(folded(entry["key"]),) for node in nodes for entry in node.get("cte_map", {}).get("map", ())}
    for parts in dict.fromkeys(_parts(node) for node in nodes if node.get("type") == "BASE_TABLE"):
        # A WITH name that looks like a path may be used outside of its scope, as a path.
        if tuple(map(folded, parts)) not in named or {".", "/"} & set(parts[0]):
            yield from _of_table(parts, rows)


def _nodes(statement: Node) -> Iterator[Node]:
    """Yield all nodes; the function inside a table function is not one of its own."""
    waiting: list[Any] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            yield node
            is_table = node.get("type") == "TABLE_FUNCTION"
            waiting += [*node["function"].values()] if is_table else []
            waiting += [value for key, value in node.items() if not (is_table and key == "function")]


def _of_function(node: Node, allowed: Collection[str]) -> Iterator[str]:
    name, schema = node.get("function_name", ""), node.get("schema", "")
    if folded(name) not in (macro_names() if folded(schema) in SCHEMAS else allowed):
        yield f'the function "{name}"'


def _of_table_function(function: Node) -> Iterator[str]:
    name = folded(function.get("function_name", ""))
    if not READERS.fullmatch(name):
        yield from _of_function(function, TABLE_FUNCTIONS)
        if folded(function.get("schema", "")) not in SCHEMAS:
            return
    for option, value in _arguments(function):
        if WRITING_OPTIONS.fullmatch(option):
            yield f'the option "{option}"'
        nodes = list(_nodes(value))
        if not all(map(_is_written_out, nodes)):
            yield f'an argument of "{name}" that is not written out'
        yield from (_remote(text) for text in _texts(nodes) if REMOTE.match(text))


def _arguments(function: Node) -> Iterator[tuple[str, Node]]:
    """Yield the arguments of a function with their names, if any, in the form of DuckDB 2.0 or an earlier one."""
    arguments: list[Node] = function.get("arguments") or function.get("children") or []
    for given in arguments:
        value = given.get("expression", given)
        if value["class"] == "COMPARISON" and value["left"]["class"] == "COLUMN_REF":
            yield value["left"]["column_names"][-1], value["right"]
        else:
            yield given.get("name") or value["alias"], value


def _is_written_out(node: Node) -> bool:
    match node.get("class"):
        case "FUNCTION":
            return folded(node["function_name"]) in BUILDERS
        case "CAST":  # of a boolean, before DuckDB 2.0
            return bool(node.get("cast_type", {}).get("id") == "BOOLEAN")
        case kind:
            return kind in (None, "CONSTANT")


def _texts(nodes: Iterable[Node]) -> Iterator[str]:
    constants = (node for node in nodes if node.get("class") == "CONSTANT")
    return (text for each in constants for part in _nodes(each) for text in part.values() if isinstance(text, str))


def _parts(table: Node) -> tuple[str, ...]:
    """Return the parts of a name in FROM; since DuckDB 2.0 there may be more than three."""
    spelled = table.get("qualified_name", {}).get("path")
    return tuple(spelled or filter(None, (table["catalog_name"], table["schema_name"], table["table_name"])))


def _of_table(parts: Sequence[str], rows: Rows) -> Iterator[str]:
    path = ".".join(parts)
    if REMOTE.match(path):
        yield _remote(path)
    elif not path.lower().endswith(READ_SUFFIXES):
        table = exp.Table(**dict(zip(("this", "db", "catalog"), map(identifier, reversed(parts)), strict=False)))
        if catalog.find(rows, table.sql(DIALECT)) is None:
            yield f'"{path}", which is neither a table or view here nor a Parquet, CSV or JSON file'
