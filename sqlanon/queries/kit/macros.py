"""The macros of ``sql/macros`` as values: parsed once, listed, documented, and expanded into plain SQL.

DuckDB users call the macros of schema ``anon``, which are made of those of schema ``anon_helpers``. The engine runs the
same text expanded: every call replaced by the macro's body, so that it works on a database where nothing is installed.
Lists of columns that are known are resolved: one projection a name, as any engine understands it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import cast as typed

import sqlglot
from sqlglot import exp

from sqlanon.errors import SqlanonError
from sqlanon.queries.kit.nodes import DIALECT, aliased, cast, column, identifier
from sqlanon.queries.kit.sql_files import sql_folder

SCHEMAS = SCHEMA, HELPERS = "anon", "anon_helpers"  # the macros for people, and those that they are made of

MACRO = re.compile(
    r"(?P<comment>(?:^--[^\n]*\n)*)"
    rf"(?P<statement>^CREATE OR REPLACE MACRO (?P<schema>{SCHEMA}|{HELPERS})\.(?P<name>\w+)\(.*?);$",
    re.MULTILINE | re.DOTALL,
)
"""The statement of a macro in its file: the only semicolon at the end of a line ends it."""


@dataclass(frozen=True)
class Macro:
    schema: str
    name: str  # unique in both schemas
    parameters: tuple[str, ...]
    body: exp.Expr
    is_table: bool
    comment: str

    @property
    def qualified(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def example(self) -> str:
        """The SQL after ``Example:`` in the comment."""
        return self.comment.partition("Example:\n")[2].strip()


_added: list[Path] = []


def macro_files() -> list[Path]:
    """The macro files in the order of their numbers, which is the order of installation; then those that were added."""
    return [*sorted((sql_folder() / "macros").glob("*.sql")), *_added]


def add_macros(path: Path) -> None:
    """Have the macros of another file installed and expanded as those of this package are.

    It has statements ``CREATE OR REPLACE MACRO anon.<name>(...) AS ...;`` of new names, each with its comment above.
    """
    found = [match["name"] for match in _macros_in(path)]
    others = {match["name"] for file in macro_files() if file != path for match in _macros_in(file)}
    if problems := [f'"{name}" is the name of a macro already' for name in found if name in others]:
        raise SqlanonError(f"the macros of {path} cannot be added:", problems)
    if not found:
        raise SqlanonError(f"{path} has no macro of schema {SCHEMA}; write each as those in sql/macros are written")
    _added[:] = [*(other for other in _added if other != path), path]
    _forget()


def remove_macros(path: Path) -> None:
    """Forget the macros of a file that was added."""
    _added[:] = [other for other in _added if other != path]
    _forget()


def _forget() -> None:
    """Read anew what depends on which files there are."""
    for known in (macros, macro, _texts, _call_of_literals, install_statements):
        known.cache_clear()


def macros_of(path: Path) -> list[Macro]:
    """The macros of a file, in its order."""
    return [macro(match["name"]) for match in _macros_in(path)]


def documented(path: Path) -> str:
    """The comment at the top of a file."""
    return _text_of_comment(path.read_text(encoding="utf-8").partition("\n\n")[0])


def _macros_in(path: Path) -> Iterator[re.Match[str]]:
    return MACRO.finditer(path.read_text(encoding="utf-8"))


@cache
def macros() -> dict[str, Macro]:
    """All macros by name, in the order of installation."""
    return {name: macro(name) for name in _texts()}


@cache
def macro(name: str) -> Macro:
    """A macro; it is parsed when it is first asked for, for a run needs few of them."""
    comment, text = _texts()[name]
    statement = sqlglot.parse_one(text, read=DIALECT)
    assert isinstance(statement, exp.Create)
    return Macro(
        schema=statement.this.this.db,
        name=name,
        parameters=tuple(parameter.name for parameter in statement.this.expressions),
        body=bare(statement.expression),
        is_table=isinstance(statement.expression, exp.Query) and not isinstance(statement.expression, exp.Subquery),
        comment=_text_of_comment(comment),
    )


def _text_of_comment(comment: str) -> str:
    return "\n".join(line.removeprefix("--").removeprefix(" ") for line in comment.splitlines())


@cache
def _texts() -> dict[str, tuple[str, str]]:
    """The block of ``--`` lines right above the statement that creates each macro, and the statement."""
    found = (match for path in macro_files() for match in _macros_in(path))
    return {match["name"]: (match["comment"], match["statement"]) for match in found}


def macro_names() -> Collection[str]:
    """The names of all macros, in the order of installation."""
    return _texts().keys()


def install_script() -> str:
    """One SQL script that creates schema ``anon`` with every macro and its comment; fit for ``.read``."""
    parts = [path.read_text(encoding="utf-8").strip() for path in macro_files()]
    comments = [_comment_statement(macro).sql(DIALECT) + ";" for macro in macros().values()]
    return "\n\n".join([SCRIPT_HEAD, *parts, "\n".join(comments), "COMMIT;"]) + "\n"


SCRIPT_HEAD = """\
-- sqlanon: anonymize tables in SQL. This file makes schema anon with all macros in a database of DuckDB 1.5 or newer:
--   .read sqlanon.sql
-- FROM anon.help() lists them then. `sqlanon sql` made it of sql/macros: change these, and make it anew.
BEGIN TRANSACTION;"""  # a transaction of its own for each macro takes ten times as long on a disk


@cache
def install_statements() -> tuple[str, ...]:
    """The statements of :func:`install_script`, one by one."""
    statements = (statement for _, statement in _texts().values())
    comments = (_comment_statement(macro).sql(DIALECT) for macro in macros().values())
    helpers = exp.Create(this=exp.Table(db=identifier(HELPERS)), kind="SCHEMA", exists=True)
    return (*schema_statements(), helpers.sql(DIALECT), *statements, *comments)


@cache
def schema_statements() -> tuple[str, ...]:
    """The statements that create schema ``anon`` and its tables, without the macros, as they stand in their file."""
    parts = macro_files()[0].read_text(encoding="utf-8").split(";\n")
    return tuple(part.strip() for part in parts if part.strip())


def table_call(name: str, *arguments: exp.Expr) -> exp.Query:
    """The query that the table macro ``anon.<name>`` stands for, fully expanded."""
    if all(isinstance(argument, exp.Literal) for argument in arguments):
        literals = tuple((argument.name, argument.is_string) for argument in arguments)
        return typed(exp.Query, _call_of_literals(name, literals).copy())
    return typed(exp.Query, _substituted(macro(name), arguments))


@lru_cache(maxsize=512)
def _call_of_literals(name: str, literals: tuple[tuple[str, bool], ...]) -> exp.Expr:
    """A call that runs make again and again, as of one level of a taxonomy: a copy takes a quarter of the time."""
    arguments = (exp.Literal(this=text, is_string=is_string) for text, is_string in literals)
    return _substituted(macro(name), arguments)


def scalar_call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """The expression that the scalar macro ``anon.<name>`` stands for, fully expanded."""
    return _in_parentheses(_substituted(macro(name), arguments))


def expand(tree: exp.Expr) -> exp.Expr:
    """A copy of ``tree`` in which no macro of schema ``anon`` is called any more."""
    return _expanded(tree.copy())


def _expanded(tree: exp.Expr) -> exp.Expr:
    """Expand a tree in place."""
    # A root to hang the tree on: a node without a parent cannot be replaced in place.
    root = exp.Paren(this=tree)
    # Most trees have nothing of all this, and one walk over their nodes shows that in place of four.
    kinds = {type(node) for node in root.walk()}
    # Before the calls: in a body that is a subquery COLUMNS would no longer mean the caller's columns.
    if exp.Dot in kinds:
        _resolve_lists(root)
    if exp.Columns in kinds:
        _resolve_columns(root)
    if exp.Anonymous in kinds:
        for call in _calls(root):
            _replace_call(call)
    return _unrooted(root)


def _comment_statement(macro: Macro) -> exp.Comment:
    kind = "MACRO TABLE" if macro.is_table else "MACRO"
    return exp.Comment(this=exp.to_table(macro.qualified), kind=kind, expression=exp.Literal.string(macro.comment))


def bare(tree: exp.Expr) -> exp.Expr:
    """Without comments and places in the file, in place: copying these would take longer than copying the tree."""
    for node in tree.walk():
        node.comments = None
        node._meta = None
    return tree


def _calls(tree: exp.Expr) -> list[exp.Expr]:
    """Calls of macros in ``tree``, scalar and table, innermost first, so that arguments come before their call."""
    functions = [node for node in tree.find_all(exp.Anonymous, bfs=True) if node.name.lower() in _texts()]
    calls = [function.parent for function in reversed(functions)]
    return [
        call
        for call in calls
        if (isinstance(call, exp.Table) and call.db in SCHEMAS)
        or (isinstance(call, exp.Dot) and call.this.name in SCHEMAS)
    ]


def _replace_call(call: exp.Expr) -> None:
    function = call.this if isinstance(call, exp.Table) else call.expression
    body = _substituted(macro(function.name.lower()), function.expressions)
    if isinstance(call, exp.Table):
        alias = call.args.get("alias") or exp.TableAlias(this=exp.to_identifier(f"{SCHEMA}_{function.name.lower()}"))
        relation: exp.Expr = exp.Subquery(this=body)
        if any(argument.find(exp.Column) for argument in function.expressions):
            relation = exp.Lateral(this=relation)
        relation.set("alias", alias)
        call.replace(relation)
    else:
        call.replace(_in_parentheses(body))


def _in_parentheses(body: exp.Expr) -> exp.Expr:
    """A body as one operand of whatever stands around it; a call is one already."""
    return body if isinstance(body, exp.Cast | exp.Coalesce) else exp.paren(body, copy=False)


def _substituted(called: Macro, arguments: Iterable[exp.Expr]) -> exp.Expr:
    """The body of a macro with an argument in place of each parameter, itself expanded."""
    values = dict(zip(called.parameters, arguments, strict=True))
    root = exp.Paren(this=called.body.copy())
    for each in list(root.find_all(exp.Column)):
        if not each.table and each.name in values:
            _put(each, values[each.name].copy())
    return _expanded(_unrooted(root))


def _put(parameter: exp.Column, value: exp.Expr) -> None:
    """Replace a parameter by its value; a relation takes the place of the ``query_table`` around the parameter."""
    source = parameter.find_ancestor(exp.Table) if isinstance(value, exp.Table | exp.Subquery) else None
    if source is not None and isinstance(source.this, exp.Anonymous) and source.this.name.lower() == "query_table":
        value.set("alias", source.args.get("alias") or value.args.get("alias"))
        source.replace(value)
    else:
        parameter.replace(exp.paren(value, copy=False) if isinstance(value, exp.Binary) else value)


def _unrooted(root: exp.Paren) -> exp.Expr:
    tree: exp.Expr = root.this
    return tree.pop()


def text(value: exp.Expr) -> exp.Expr:
    """The value as text, the form in which taxonomies have values."""
    return scalar_call("text_of", value)


def exact_text(value: exp.Expr) -> exp.Collate:
    """The value as text that is compared byte by byte, whatever the collation of its column."""
    return exp.Collate(this=text(value), expression=identifier("binary"))


def exact_text_in_memory(value: exp.Expr) -> exp.Collate:
    """Exact text in a relation that is made once, whose casts no reader takes: DuckDB 1.5 cannot coalesce arrays."""
    return exp.Collate(this=cast(value, "VARCHAR"), expression=identifier("binary"))


def exact_text_in_utc(value: exp.Expr) -> exp.Collate:
    """The exact text, which is the same in sessions of whatever time zone."""
    return exp.Collate(this=scalar_call("text_in_utc", value), expression=identifier("binary"))


def cast_value(value: exp.Expr, type_name: str) -> exp.Cast:
    """The value in a type of DuckDB."""
    return cast(as_read(value), type_name)


def as_read(value: exp.Expr) -> exp.Expr:
    """The value in a form whose casts are not left to the reader of a file."""
    return scalar_call("as_read", value)


def _resolve_lists(tree: exp.Expr) -> None:
    """Replace, in place, what stands for columns of a list that is spelled out.

    ``listed(['a', 'b'])`` is the list, or the keys of a node, and ``listed_at(['a', 'b'], 3)`` its last name.
    """
    for call in list(tree.find_all(exp.Dot)):
        function = call.expression
        name = function.name.lower() if isinstance(function, exp.Anonymous) else ""
        if name not in ("listed", "listed_at"):
            continue
        given = function.expressions[0]
        if name == "listed" and isinstance(given, exp.Array | exp.MapKeys):
            call.replace(given)
        elif name == "listed_at" and isinstance(given, exp.Array) and given.expressions:
            call.replace(given.expressions[min(int(function.expressions[1].name), len(given.expressions)) - 1])


def _resolve_columns(tree: exp.Expr) -> None:
    """Replace, in place, every ``COLUMNS`` over a constant list of names by those columns.

    ``COLUMNS(['a', 'b'])`` and ``COLUMNS(map_keys(MAP {...}))`` repeat the projection
    that they stand in, with ``alias(COLUMNS(...))`` as the name; ``f(*COLUMNS(...))`` becomes several arguments; and
    ``COLUMNS(lambda c: NOT list_contains(names, c))`` becomes ``* EXCLUDE``.
    """
    for select in list(tree.find_all(exp.Select)):
        select.set("expressions", [new for old in select.expressions for new in _resolved(old)])


def _resolved(projection: exp.Expr) -> list[exp.Expr]:
    for unpacked in [node for node in _own_columns(projection) if node.args.get("unpack")]:
        names, function = _constant_names(unpacked.this), unpacked.parent
        if names is not None and isinstance(function, exp.Func):
            function.set("expressions", [column(name) for name in names])
    columns = _own_columns(projection)
    if not columns:
        return [projection]
    excluded = _excluded(projection)
    if excluded is not None:
        return [exp.Star(except_=[identifier(name) for name in excluded])]
    names = _constant_names(columns[0].this)
    return [projection] if names is None else [_for_name(projection, name) for name in names]


def _own_columns(projection: exp.Expr) -> list[exp.Columns]:
    """The ``COLUMNS`` of this projection, not those of a query within it."""
    within = projection.walk(prune=lambda node: isinstance(node, exp.Query) and node is not projection)
    return [node for node in within if isinstance(node, exp.Columns)]


def _for_name(projection: exp.Expr, name: str) -> exp.Expr:
    root = exp.Paren(this=projection.copy())
    for columns in _own_columns(root):
        call = columns.parent
        if isinstance(call, exp.Anonymous) and call.name.lower() == "alias":
            call.replace(exp.Literal.string(name))
        else:
            columns.replace(column(name))
    resolved: exp.Expr = root.this.pop()
    if isinstance(resolved, exp.Alias):
        return resolved
    return aliased(resolved, name)


def _excluded(projection: exp.Expr) -> list[str] | None:
    """The names that ``COLUMNS(lambda c: NOT list_contains(names, c))`` leaves out."""
    if not isinstance(projection, exp.Columns) or not isinstance(projection.this, exp.Lambda):
        return None
    condition = projection.this.this
    contains = condition.this if isinstance(condition, exp.Not) else None
    return _constant_names(contains.this) if isinstance(contains, exp.ArrayContains) else None


def _constant_names(names: exp.Expr) -> list[str] | None:
    if isinstance(names, exp.MapKeys):
        entries = names.this
        if isinstance(entries, exp.ToMap) and isinstance(entries.this, exp.Struct):
            return _strings([entry.this for entry in entries.this.expressions])
        return None
    if isinstance(names, exp.Array):
        return _strings(names.expressions)
    if isinstance(names, exp.DPipe):
        both = _constant_names(names.this), _constant_names(names.expression)
        return None if both[0] is None or both[1] is None else [*both[0], *both[1]]
    return None


def _strings(values: Sequence[exp.Expr]) -> list[str] | None:
    if all(isinstance(value, exp.Literal) and value.is_string for value in values):
        return [value.name for value in values]
    return None
