"""Queries and views → the tables and files that their rows come from, as far as those are spelled out."""

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
"""How the names of files end that are read with types which their rows fit."""

STATED: dict[re.Pattern[str], dict[str, bool | None]] = {
    re.compile(r"read_csv(_auto)?"): {"columns": None, "auto_detect": False},
    re.compile(r"read_(nd)?json(_auto)?"): {"columns": None},
    re.compile(r"read_xlsx"): {"all_varchar": True},
}
"""The options of functions by which they guess nothing, with their values where only one does that."""

Schema = tuple[str, str]  # the database and the schema of a view, in which the names of its query are looked up first

FILES = frozenset(
    {"PARQUET_SCAN", "READ_BLOB", "READ_CSV", "READ_CSV_AUTO", "READ_PARQUET", "READ_TEXT"}
    | {f"READ_{kind}{form}" for kind in ("JSON", "NDJSON") for form in ("", "_AUTO", "_OBJECTS", "_OBJECTS_AUTO")}
)
FRAMES = frozenset({"ARROW_SCAN", "ARROW_SCAN_DUMB", "PANDAS_SCAN", "PYTHON_ARROW_SCAN"})
MADE_OF_NOTHING = frozenset(
    {"CHUNK_GET", "COLUMN_DATA_SCAN", "CTE_SCAN", "DELIM_GET", "DUMMY_SCAN", "EMPTY_RESULT", "EXPRESSION_SCAN"}
    | {"GENERATE_SERIES", "JSON_EACH", "JSON_TREE", "RANGE", "REPEAT", "REPEAT_ROW", "UNNEST"}
)
"""Where rows begin that are those of no table: constants, and what is made of other rows of the query."""


@dataclass(frozen=True)
class Spelled:
    """The tables and files that queries name."""

    relations: tuple[Stored, ...]  # the tables and views that are there
    texts: tuple[str, ...]  # the texts that may be paths or globs of files
    paths: tuple[str, ...]  # the texts that are read as files for sure
    is_whole: bool  # whether no name of a file can be put together while the query runs
    guessed: tuple[str, ...] = ()  # the files and functions whose columns get the types that their rows fit


Macros = Callable[[], Mapping[str, Sequence[str]]]
"""The queries and expressions of the user's macros by name, in whatever schema."""


def macros_of(rows: Rows) -> Mapping[str, Sequence[str]]:
    """List the macros once: to do so takes longer than to read a small table."""
    found: dict[str, list[str]] = {}
    for name, definition in rows(query_text("engines", "macro_definitions"), ()):
        found.setdefault(folded(name), []).append(definition)
    return found


def spelled_by(source: ResolvedSource, rows: Rows, macros: Macros, *, literals: bool = False) -> Spelled:
    """The tables that a source reads, and what may be files, through views and macros.

    A name that is put together while the query runs is not seen. With ``literals``, texts given to functions may be
    the names of tables as well.
    """
    walk = _Walk(rows, macros, literals)
    if source.defined_by is None:
        walk.query(source.relation, None)
    elif source.defined_by:
        walk.text(source.defined_by, None)
    texts, paths, guessed = (tuple(sorted(each)) for each in (walk.texts, walk.paths, walk.guessed))
    return Spelled(tuple(walk.relations.values()), texts, paths, walk.is_whole, guessed)


class _Walk:
    """Goes through queries, and through those of the views and macros in them, each once."""

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
            self.is_whole = False  # what sqlglot cannot read is not seen
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
                self.text(definition, place[:2])  # without a definition, that of a relation, it is not whole

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
        """Return the files that a function reads: its first argument, a text or a list of texts."""
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
    """The query of a view or a relation, or the expression of a macro, from the text that defines it."""
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
    """The texts of a list, also as DuckDB 1.5 spells it in a view: ``main.list_value('a', 'b')``."""
    node = argument.expression if isinstance(argument, exp.Dot) else argument
    is_list = isinstance(node, exp.Array | exp.List)
    if node is not None and (is_list or (isinstance(node, exp.Anonymous) and folded(node.name) == "list_value")):
        return list(node.expressions)
    return [node]


def names_of(function: exp.Expr) -> list[str]:
    """List the names that a function may have."""
    if isinstance(function, exp.Anonymous):
        return [function.name]
    return function.sql_names() if isinstance(function, exp.Func) else []


def find_named(rows: Rows, table: exp.Table, schema: Schema | None) -> Stored | None:
    """The table or view of a name, from the schema of the view that names it, or from that of the connection."""
    parts = {part: table.args[part].copy() for part in ("this", "db", "catalog") if table.args.get(part)}
    spelled = [exp.Table(**parts)]
    if schema is not None:
        database, name = (identifier(part) for part in schema)
        spelled.insert(0, exp.Table(**{"catalog": database, "db": name, **parts}))
    return next(filter(None, (catalog.find(rows, each.sql(DIALECT)) for each in spelled)), None)


def is_of_with(table: exp.Table) -> bool:
    """Whether a name is that of a WITH clause, which hides a table of that name.

    It does not in the query of the clause itself, unless that is recursive, nor in those of the clauses before it.
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
    """The names of a WITH clause that hold within one of its queries, or after it."""
    names = [folded(each.alias) for each in clause.expressions]
    places = [place for place, each in enumerate(clause.expressions) if each is inside]
    return set(names if clause.args.get("recursive") or not places else names[: places[0]])


@dataclass(frozen=True)
class Scans:
    """The tables, files and frames that a plan scans."""

    tables: tuple[str, ...]  # references to tables, as DuckDB spells them
    files: int  # the number of scans of files
    frames: int  # the number of scans of frames of Python
    others: tuple[str, ...]  # the functions whose rows have an unknown origin, in lower case


def scans_of(plan: str) -> Scans:
    """List the scans of a plan, as EXPLAIN shows it in JSON."""
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
    """The parts of a plan that have no other below them, or scan a table."""
    if not node["children"] or "Table" in node["extra_info"]:
        yield node
    for child in node["children"]:
        yield from _leaves(child)
