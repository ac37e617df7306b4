"""The macros of ``sql/macros`` as values: parsed once, listed, documented, and expanded into plain SQL.

DuckDB users call the macros. The engine runs the same text expanded: every call replaced by the macro's body,
so that it works on a database where nothing is installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import cast

import sqlglot
from sqlglot import exp

from sqlanon.compiler.columns import resolve_columns

SCHEMA = "anon"
DIALECT = "duckdb"


def sql_folder() -> Path:
    """The folder ``sql``: inside the package in a wheel, beside it in a working copy."""
    packaged = Path(__file__).parents[1] / "sql"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "sql"


@dataclass(frozen=True)
class Macro:
    """One macro: its name, parameters, body and the comment above it."""

    name: str
    parameters: tuple[str, ...]
    body: exp.Expr
    is_table: bool
    comment: str

    @property
    def example(self) -> str:
        """The SQL after ``Example:`` in the comment."""
        return self.comment.partition("Example:\n")[2].strip()


def macro_files() -> list[Path]:
    """The macro files in the order of their numbers, which is the order of installation."""
    return sorted((sql_folder() / "macros").glob("*.sql"))


@cache
def macros() -> dict[str, Macro]:
    """All macros by name, in the order of installation."""
    found = {}
    for path in macro_files():
        text = path.read_text(encoding="utf-8")
        for statement in sqlglot.parse(text, read=DIALECT):
            if isinstance(statement, exp.Create) and statement.args["kind"] == "MACRO":
                macro = _macro(statement, text)
                found[macro.name] = macro
    return found


def install_script() -> str:
    """One SQL script that creates schema ``anon`` with every macro and its comment; fit for ``.read``."""
    parts = [path.read_text(encoding="utf-8").strip() for path in macro_files()]
    comments = [_comment_statement(macro).sql(DIALECT) + ";" for macro in macros().values()]
    return "\n\n".join([*parts, "\n".join(comments)]) + "\n"


@cache
def install_statements() -> tuple[str, ...]:
    """The statements of :func:`install_script`, one by one."""
    macro_statements = [statement for path in macro_files()[1:] for statement in _statements(path)]
    comments = [_comment_statement(macro).sql(DIALECT) for macro in macros().values()]
    return (*schema_statements(), *macro_statements, *comments)


@cache
def schema_statements() -> tuple[str, ...]:
    """The statements that create schema ``anon`` and its tables, without the macros."""
    return tuple(_statements(macro_files()[0]))


def _statements(path: Path) -> list[str]:
    parsed = sqlglot.parse(path.read_text(encoding="utf-8"), read=DIALECT)
    return [statement.sql(DIALECT, comments=False) for statement in parsed if statement is not None]


def table_call(name: str, *arguments: exp.Expr) -> exp.Query:
    """The query that the table macro ``anon.<name>`` stands for, fully expanded."""
    if all(isinstance(argument, exp.Literal) for argument in arguments):
        literals = tuple((argument.name, argument.is_string) for argument in arguments)
        return cast(exp.Query, _call_of_literals(name, literals).copy())
    return cast(exp.Query, _substituted(macros()[name], arguments))


@lru_cache(maxsize=512)
def _call_of_literals(name: str, literals: tuple[tuple[str, bool], ...]) -> exp.Expr:
    """A call that runs make again and again, as of one level of a taxonomy: a copy takes a quarter of the time."""
    arguments = (exp.Literal(this=text, is_string=is_string) for text, is_string in literals)
    return _substituted(macros()[name], arguments)


def scalar_call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """The expression that the scalar macro ``anon.<name>`` stands for, fully expanded."""
    return exp.paren(_substituted(macros()[name], arguments), copy=False)


@cache
def _template(name: str) -> exp.Expr:
    path = sql_folder() / "templates" / f"{name}.sql"
    return expand(_bare(sqlglot.parse_one(path.read_text(encoding="utf-8"), read=DIALECT)))


def template(name: str) -> exp.Select:
    """The query in ``sql/templates/<name>.sql``, with its macro calls expanded."""
    return cast(exp.Select, _template(name).copy())


def expand(tree: exp.Expr) -> exp.Expr:
    """A copy of ``tree`` in which no macro of schema ``anon`` is called any more."""
    return _expanded(tree.copy())


def _expanded(tree: exp.Expr) -> exp.Expr:
    """The same in place."""
    # A root to hang the tree on: a node without a parent cannot be replaced in place.
    root = exp.Paren(this=tree)
    # Before the calls: in a body that is a subquery COLUMNS would no longer mean the caller's columns.
    resolve_columns(root)
    for call in _calls(root):
        _replace_call(call)
    return _unrooted(root)


def _macro(statement: exp.Create, text: str) -> Macro:
    function = statement.this
    name = function.this.name
    return Macro(
        name=name,
        parameters=tuple(parameter.name for parameter in function.expressions),
        body=_bare(statement.expression),
        is_table=isinstance(statement.expression, exp.Query) and not isinstance(statement.expression, exp.Subquery),
        comment=_comment_above(name, text),
    )


def _comment_above(name: str, text: str) -> str:
    """The block of ``--`` lines that ends right above the statement that creates the macro."""
    pattern = rf"((?:^--.*\n)+)CREATE OR REPLACE MACRO {SCHEMA}\.{re.escape(name)}\("
    match = re.search(pattern, text, flags=re.MULTILINE)
    lines = match.group(1).splitlines() if match else []
    return "\n".join(line.removeprefix("--").removeprefix(" ") for line in lines)


def _comment_statement(macro: Macro) -> exp.Comment:
    kind = "MACRO TABLE" if macro.is_table else "MACRO"
    return exp.Comment(
        this=exp.to_table(f"{SCHEMA}.{macro.name}"), kind=kind, expression=exp.Literal.string(macro.comment)
    )


def _bare(tree: exp.Expr) -> exp.Expr:
    """Without comments and places in the file, in place: copying these would take longer than copying the tree."""
    for node in tree.walk():
        node.comments = None
        node._meta = None
    return tree


def _calls(tree: exp.Expr) -> list[exp.Expr]:
    """Calls of macros in ``tree``, scalar and table, innermost first, so that arguments come before their call."""
    functions = [node for node in tree.find_all(exp.Anonymous, bfs=True) if node.name.lower() in macros()]
    calls = [function.parent for function in reversed(functions)]
    return [call for call in calls if call is not None and _is_ours(call)]


def _is_ours(call: exp.Expr) -> bool:
    """Whether a call is qualified by the schema of the macros, as a table function or as a scalar one."""
    if isinstance(call, exp.Table):
        return call.db == SCHEMA
    return isinstance(call, exp.Dot) and call.this.name == SCHEMA


def _replace_call(call: exp.Expr) -> None:
    function = call.this if isinstance(call, exp.Table) else call.expression
    body = _substituted(macros()[function.name.lower()], function.expressions)
    if isinstance(call, exp.Table):
        call.replace(exp.Subquery(this=body, alias=call.args.get("alias")))
    else:
        call.replace(exp.paren(body, copy=False))


def _substituted(macro: Macro, arguments: Iterable[exp.Expr]) -> exp.Expr:
    """The body of ``macro`` with an argument in place of each parameter, itself expanded."""
    values = dict(zip(macro.parameters, arguments, strict=True))
    root = exp.Paren(this=macro.body.copy())
    for column in list(root.find_all(exp.Column)):
        if not column.table and column.name in values:
            _put(column, values[column.name].copy())
    return _expanded(_unrooted(root))


def _put(column: exp.Column, value: exp.Expr) -> None:
    """Replace a parameter by its value; a relation takes the place of the ``query_table`` around the parameter."""
    function = column.parent
    reads = isinstance(function, exp.Anonymous) and function.name.lower() == "query_table"
    if reads and isinstance(value, exp.Table | exp.Subquery):
        assert isinstance(function, exp.Anonymous)
        source = function.parent
        assert isinstance(source, exp.Table)
        value.set("alias", source.args.get("alias") or value.args.get("alias"))
        source.replace(value)
    else:
        column.replace(exp.paren(value, copy=False) if isinstance(value, exp.Binary) else value)


def _unrooted(root: exp.Paren) -> exp.Expr:
    tree: exp.Expr = root.this
    return tree.pop()
