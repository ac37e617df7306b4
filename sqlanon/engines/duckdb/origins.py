"""Find the tables and files that queries and views name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.engines.duckdb import catalog
from sqlanon.engines.duckdb.catalog import Rows
from sqlanon.engines.relations import ResolvedSource, Stored, place_of
from sqlanon.model.names import CSV_SUFFIXES, folded
from sqlanon.queries.kit.nodes import DIALECT, identifier
from sqlanon.queries.kit.sql_files import query_text

GUESSED_SUFFIXES = (*CSV_SUFFIXES, ".json", ".json.gz", ".json.zst", ".jsonl", ".ndjson", ".ndjson.gz", ".xlsx")
"""Suffixes of files whose column types are guessed from their rows."""

STATED: dict[re.Pattern[str], dict[str, bool | None]] = {
    re.compile(r"read_csv(_auto)?"): {"columns": None, "auto_detect": False},
    re.compile(r"read_(nd)?json(_auto)?"): {"columns": None},
    re.compile(r"read_xlsx"): {"all_varchar": True},
}
"""Reader options that prevent guessing, with the required value, if any."""

Schema = tuple[str, str]  # database and schema of a view, searched first for names in its query

FILES = frozenset(
    {"PARQUET_SCAN", "READ_BLOB", "READ_CSV", "READ_CSV_AUTO", "READ_PARQUET", "READ_TEXT"}
    | {f"READ_{kind}{form}" for kind in ("JSON", "NDJSON") for form in ("", "_AUTO", "_OBJECTS", "_OBJECTS_AUTO")}
)
FRAMES = frozenset({"ARROW_SCAN", "ARROW_SCAN_DUMB", "PANDAS_SCAN", "PYTHON_ARROW_SCAN"})
MADE_OF_NOTHING = frozenset(
    {"CHUNK_GET", "COLUMN_DATA_SCAN", "CTE_SCAN", "DELIM_GET", "DUMMY_SCAN", "EMPTY_RESULT", "EXPRESSION_SCAN"}
    | {"GENERATE_SERIES", "JSON_EACH", "JSON_TREE", "RANGE", "REPEAT", "REPEAT_ROW", "UNNEST"}
)
"""Plan leaves that read no table: constants, and rows made from other rows of the query."""


@dataclass(frozen=True)
class Spelled:
    relations: tuple[Stored, ...]  # existing tables and views
    texts: tuple[str, ...]  # texts that may be paths or globs
    paths: tuple[str, ...]  # texts that are certainly read as files
    is_whole: bool  # whether no file name can be computed at run time
    guessed: tuple[str, ...] = ()  # files and functions with column types guessed from their rows


Macros = Callable[[], Mapping[str, Sequence[str]]]
"""Returns the queries and expressions of the user's macros by name, of any schema."""


def macros_of(rows: Rows) -> Mapping[str, Sequence[str]]:
    """List the user's macros; slow, so call it once."""
    found: dict[str, list[str]] = {}
    for name, definition in rows(query_text("engines", "macro_definitions"), ()):
        found.setdefault(folded(name), []).append(definition)
    return found


def spelled_by(source: ResolvedSource, rows: Rows, macros: Macros, *, literals: bool = False) -> Spelled:
    """Find the tables that a source reads, and possible files, through views and macros.

    Names computed at run time are not found. With ``literals``, texts passed to functions may also name tables.
    """
    walk = _Walk(rows, macros, literals)
    if source.defined_by is None:
        walk.query(source.relation, None)
    elif source.defined_by:
        walk.text(source.defined_by, None)
    texts, paths, guessed = (tuple(sorted(each)) for each in (walk.texts, walk.paths, walk.guessed))
    return Spelled(tuple(walk.relations.values()), texts, paths, walk.is_whole, guessed)


class _Walk:
    def __init__(self, rows: Rows, macros: Macros, literals: bool) -> None:
        self._rows = rows
        self._macros = macros
        self._literals = literals
        self._called: set[str] = set()
        self.relations: dict[tuple[str, str, str], Stored] = {}
        self.texts: set[str] = set()
        self.paths: set[str] = set()
        self.guessed: set[str] = set()
        self.is_whole = True

    def text(self, sql: str, schema: Schema | None) -> None:
        try:
            query = query_of(sql)
        except SqlglotError:
            self.is_whole = False  # unparsable for sqlglot
            return
        self.query(query, schema)

    def query(self, query: exp.Expr, schema: Schema | None) -> None:
        for table in query.find_all(exp.Table):
            if isinstance(table.this, exp.Identifier):
                if not is_of_with(table):
                    self._name(table, schema)
            else:
                self._arguments(table)
        for function in query.find_all(exp.Func):
            for name in names_of(function):
                self._macro(folded(name), schema)

    def _name(self, table: exp.Table, schema: Schema | None) -> None:
        found = find_named(self._rows, table, schema)
        if found is None:
            self.texts.add(table.name)
            self.paths.add(table.name)
            if table.name.lower().endswith(GUESSED_SUFFIXES):
                self.guessed.add(table.name)
        else:
            self._relation(found)

    def _relation(self, found: Stored) -> None:
        place = place_of(found.table)
        if place in self.relations:
            return
        self.relations[place] = found
        if found.is_view:
            for (definition,) in self._rows(query_text("engines", "view_definition"), place):
                self.text(definition, place[:2])  # a relation's view has no definition, so it is not whole

    def _arguments(self, table: exp.Table) -> None:
        function = table.this
        if isinstance(function, exp.Anonymous) and folded(function.name) == "query":
            self.is_whole = False
        elif FILES.intersection(map(str.upper, names_of(function))):
            self._files(function)
        self.guessed.update(name for name in map(folded, names_of(function)) if _guesses(name, function))
        for text in (literal.name for literal in table.find_all(exp.Literal) if literal.is_string):
            found = catalog.find(self._rows, text) if self._literals else None
            if found is None:
                self.texts.add(text)
            else:
                self._relation(found)

    def _files(self, reader: exp.Expr) -> None:
        first = reader.args.get("this") if not isinstance(reader, exp.Anonymous) else None
        for text in _listed(first if isinstance(first, exp.Expr) else next(iter(reader.expressions), None)):
            if isinstance(text, exp.Literal):
                self.paths.add(text.name)
            else:
                self.is_whole = False

    def _macro(self, name: str, schema: Schema | None) -> None:
        if name in self._called:
            return
        self._called.add(name)
        for definition in self._macros().get(name, ()):
            self.text(definition, schema)


def query_of(definition: str) -> exp.Expr:
    parsed = sqlglot.parse_one(definition, read=DIALECT)
    return parsed.expression if isinstance(parsed, exp.Create) else parsed


# guarded: tests/full/test_private_refusals.py::TestGuessedTypes
def _guesses(name: str, function: exp.Expr) -> bool:
    needed = next((options for names, options in STATED.items() if names.fullmatch(name)), {})
    arguments = [each.unnest() for each in function.expressions]
    given = {folded(each.this.name): each.expression for each in arguments if isinstance(each, exp.Binary)}
    return not all(
        option in given and (value is None or given[option] == exp.convert(value)) for option, value in needed.items()
    )


def _listed(argument: exp.Expr | None) -> list[exp.Expr | None]:
    """Return the elements of a list, also in DuckDB 1.5's form in views, ``main.list_value('a', 'b')``."""
    node = argument.expression if isinstance(argument, exp.Dot) else argument
    is_list = isinstance(node, exp.Array | exp.List)
    if node is not None and (is_list or (isinstance(node, exp.Anonymous) and folded(node.name) == "list_value")):
        return list(node.expressions)
    return [node]


def names_of(function: exp.Expr) -> list[str]:
    if isinstance(function, exp.Anonymous):
        return [function.name]
    return function.sql_names() if isinstance(function, exp.Func) else []


def find_named(rows: Rows, table: exp.Table, schema: Schema | None) -> Stored | None:
    """Find a named table or view, from the schema of the view that names it or the connection's."""
    parts = {part: table.args[part].copy() for part in ("this", "db", "catalog") if table.args.get(part)}
    spelled = [exp.Table(**parts)]
    if schema is not None:
        database, name = (identifier(part) for part in schema)
        spelled.insert(0, exp.Table(**{"catalog": database, "db": name, **parts}))
    return next(filter(None, (catalog.find(rows, each.sql(DIALECT)) for each in spelled)), None)


def is_of_with(table: exp.Table) -> bool:
    """Return whether a name refers to a WITH clause, which hides a table of that name.

    Inside of the clause's own query it does not, unless that is recursive, nor in earlier clauses.
    """
    node: exp.Expr = table
    inside: exp.Expr | None = None
    while not table.db and node.parent is not None:
        inside = node if isinstance(node, exp.CTE) else inside
        node = node.parent
        clause = node.args.get("with_")
        if clause is not None and folded(table.name) in _defined_before(clause, inside):
            return True
    return False


def _defined_before(clause: exp.With, inside: exp.Expr | None) -> set[str]:
    """Return the names of a WITH clause that are visible inside one of its queries, or after it."""
    names = [folded(each.alias) for each in clause.expressions]
    places = [place for place, each in enumerate(clause.expressions) if each is inside]
    return set(names if clause.args.get("recursive") or not places else names[: places[0]])


@dataclass(frozen=True)
class Scans:
    tables: tuple[str, ...]  # in DuckDB's spelling
    files: int  # number of file scans
    frames: int  # number of scans of Python frames
    others: tuple[str, ...]  # functions with rows of unknown origin, in lower case


def scans_of(plan: str) -> Scans:
    leaves = [leaf for root in json.loads(plan) for leaf in _leaves(root)]
    tables = [str(leaf["extra_info"]["Table"]) for leaf in leaves if "Table" in leaf["extra_info"]]
    functions = [str(leaf["name"]).strip().upper() for leaf in leaves if "Table" not in leaf["extra_info"]]
    others = [name for name in functions if name not in FILES | FRAMES | MADE_OF_NOTHING]
    return Scans(
        tuple(dict.fromkeys(tables)),
        sum(name in FILES for name in functions),
        sum(name in FRAMES for name in functions),
        tuple(dict.fromkeys(name.lower() for name in others)),
    )


def _leaves(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if not node["children"] or "Table" in node["extra_info"]:
        yield node
    for child in node["children"]:
        yield from _leaves(child)
