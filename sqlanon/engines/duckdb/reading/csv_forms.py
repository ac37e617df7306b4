"""CSV files → how they are read: as texts, in a type only where every value of the whole file is spelled so."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby

from sqlglot import exp

from sqlanon.engines.duckdb.catalog import Describe, Rows
from sqlanon.engines.duckdb.reading import lake
from sqlanon.errors import EngineError
from sqlanon.model.names import folded
from sqlanon.queries.kit.nodes import select, subquery, union_by_name
from sqlanon.queries.kit.steps import printed
from sqlanon.queries.kit.texts import query_text
from sqlanon.queries.tables import csv_values as queries

TEXT = "VARCHAR"

DELIMITERS = (",", ";", "\t", "|")
"""What may stand between the fields of a line."""

SEPARATOR = re.compile("sep=.", re.IGNORECASE)
"""The first line of a file that Excel has written for itself."""

YEAR = re.compile("(1[5-9]|20|21)[0-9]{2}")
"""Numbers that are names of columns as well."""

TABBED = (".tsv", ".tsv.gz", ".tsv.zst")
"""How the names of files end that have tabs between fields where nobody looks."""

FIRST_ROWS = 2_048
"""The rows whose types are looked at first: a column that is text in these is text in the whole file."""

MAX_NAMES = 50
"""Columns in which the names of the first line are looked for."""


@dataclass(frozen=True)
class Dialect:
    """How the lines of CSV files are cut into fields: by which sign, and what these are called."""

    delim: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Form:
    """How CSV files that have the same columns are read.

    Attributes:
        groups: the files of each dialect.
        types: of the columns of their lines, by name.
        folder_types: of the columns of their folders, ``column=value``.
        has_empty_rows: whether there are rows in which nothing stands, which are left out.
    """

    groups: Mapping[Dialect, tuple[str, ...]]
    types: Mapping[str, str]
    folder_types: Mapping[str, str]
    has_empty_rows: bool = False

    def relation(self, pattern: str | None = None) -> exp.Table | exp.Subquery:
        """The rows of the files; ``pattern`` is a glob of all of them, which makes a shorter statement than a list."""
        read = [
            lake.text_reader(
                files if pattern is None or len(self.groups) > 1 else pattern,
                {name: self.types[name] for name in dialect.names},
                self.folder_types,
                dialect.delim,
            )
            for dialect, files in self.groups.items()
        ]
        one = read[0] if len(read) == 1 else subquery(union_by_name([_all_of(each) for each in read]), "anon_files")
        if not self.has_empty_rows:
            return one
        return exp.Subquery(this=_all_of(one).where(exp.not_(queries.all_empty([*self.types])), copy=False))


def _all_of(relation: exp.Expr) -> exp.Select:
    return select([exp.Star()], relation)


class CsvForms:
    """The forms of CSV files, each found once for as long as its files stay as they are."""

    def __init__(self, rows: Rows, describe: Describe) -> None:
        self._rows = rows
        self._describe = describe
        self._known: dict[tuple[object, ...], Form] = {}

    def of(self, files: Sequence[str]) -> Form:
        """How some files are read.

        Raises:
            EngineError: a line has more or fewer fields than the first one, the first line has no names, files have
                different columns, or one cannot be read.
        """
        state = _state_of(files)
        form = self._known.get(state) or self._found(files)
        if state:
            self._known[state] = form
        return form

    def of_commas(self, files: Sequence[str]) -> exp.Table:
        """Files as texts with nothing found out about them: commas (tabs in ``.tsv``), double quotes, and names.

        Raises:
            EngineError: a file is empty, or it has other columns than the first one, or in another order.
        """
        delim = "\t" if files[0].lower().endswith(TABBED) else ","
        names = {file: _names_of(self._first_line(file), delim) for file in files}
        first, *others = names
        for other in others:
            if names[other] != names[first]:
                reason = f"{other} has other columns than {first}, or in another order: give both the same"
                raise EngineError(reason, step="source")
        return lake.text_reader(files, dict.fromkeys(names[first], TEXT), delim=delim)

    def _found(self, files: Sequence[str]) -> Form:
        dialects = {file: self._dialect(file) for file in files}
        _refuse_unlike(dialects)
        ordered = sorted(files, key=lambda file: repr(dialects[file]))
        groups = {dialect: (*group,) for dialect, group in groupby(ordered, dialects.__getitem__)}
        names = next(iter(groups)).names
        texts = Form(groups, dict.fromkeys(names, TEXT), {})
        relation = texts.relation()
        columns = [column.name for column in self._describe(relation)]
        first = self._looked_at(queries.first_rows(relation, FIRST_ROWS), columns, (), names)
        typed = [name for name in columns if first.types[name] != TEXT]
        named = [name for name in names if first.types[name] == TEXT]
        found = self._looked_at(relation, typed, named[:MAX_NAMES], names)
        if found.is_named_by_a_row:
            raise EngineError(_no_header(files[0], "its fields stand in other rows, too"), step="source")
        types = first.types | found.types
        if self._have_values(types, names):
            raise EngineError(_no_header(files[0], "it has numbers or days where other lines have them"), step="source")
        of_lines = {name: types.pop(name) for name in names}
        return Form(groups, of_lines, types, has_empty_rows=found.empty_rows > 0)

    def _have_values(self, types: Mapping[str, str], names: Sequence[str]) -> bool:
        """Whether the name of a column is a value of its type, and not a year, which a column can be called."""
        typed = [name for name in names if types[name] != TEXT]
        (written,) = self._rows(printed(queries.types_of_names(typed)), ()) if typed else ((),)
        pairs = zip(typed, written, strict=True)
        return any(kind == types[name] and not YEAR.fullmatch(name) for name, kind in pairs)

    def _looked_at(
        self, relation: exp.Expr, columns: Sequence[str], names: Sequence[str], whole: Sequence[str]
    ) -> _Found:
        (row,) = self._rows(printed(queries.written(relation, columns, names, whole)), ())
        types, repeated = dict(zip(columns, row, strict=False)), row[len(columns) : -1]
        return _Found(types, sum(count > 0 for count in repeated) * 2 > len(names) > 0, row[-1])

    def _dialect(self, file: str) -> Dialect:
        """The dialect of a file.

        Raises:
            EngineError: it is empty, it cannot be read as text, or its first line has no names.
        """
        line = self._first_line(file)
        delim = self._delimiter(file, line)
        if not any(map(str.isalpha, line)):
            raise EngineError(_no_header(file, "it has no letter"), step="source")
        return Dialect(delim, _names_of(line, delim))

    def _delimiter(self, file: str, line: str) -> str:
        """What stands between the fields of a file: what DuckDB has seen, or what the first line has most of."""
        with suppress(EngineError):  # no sign cuts most of its lines into as many fields
            seen = str(self._rows(query_text("engines", "csv_delimiter"), (file,))[0][0])
            if seen in line:
                return seen
        return max(DELIMITERS, key=line.count)

    def _first_line(self, file: str) -> str:
        found = self._rows(query_text("engines", "csv_first_line"), (file,))
        if not found:
            raise EngineError(f"{file} is empty", step="source")
        ((line,),) = found
        if line is None:
            raise EngineError(_no_header(file, "nothing stands in it"), step="source")
        if SEPARATOR.fullmatch(line):
            raise EngineError(_no_header(file, "it says for Excel what stands between fields"), step="source")
        if line.count('"') % 2:
            raise EngineError(_no_header(file, "a name in it has a line break"), step="source")
        return str(line)


@dataclass(frozen=True)
class _Found:
    """What columns are written in, whether their names are the values of a row, and how many rows are empty."""

    types: dict[str, str]
    is_named_by_a_row: bool
    empty_rows: int


def _names_of(line: str, delim: str) -> tuple[str, ...]:
    """The names of columns in a first line; names that several columns have get a number, as DuckDB gives it."""
    (fields,) = csv.reader([line], delimiter=delim)
    names: dict[str, str] = {}
    for place, field in enumerate(fields):
        wanted = field.strip() or f"column{place}"
        number, name = 0, wanted
        while folded(name) in names:
            number += 1
            name = f"{wanted}_{number}"
        names[folded(name)] = name
    return (*names.values(),)


def _refuse_unlike(dialects: Mapping[str, Dialect]) -> None:
    """Refuse files of different columns.

    Raises:
        EngineError: names the first one.
    """
    (first, here), *others = ((file, {*dialect.names}) for file, dialect in dialects.items())
    for other, there in others:
        if here != there:
            # Without their names, which are those of a person where a file has no line of names.
            raise EngineError(
                f"CSV files have different columns: {first} has {len(here - there)} that {other} lacks, which has "
                f"{len(there - here)} others; bring them to one form by a query over read_csv with union_by_name",
                step="source",
            )


def _no_header(file: str, reason: str) -> str:
    return (
        f"the first line of {file} is not a line of names: {reason}; write one, or read the file by a query: "
        f"FROM read_csv('{os.path.basename(file)}', header = false, all_varchar = true, names = ['age', …])"  # noqa: PTH119
    )


def _state_of(files: Sequence[str]) -> tuple[object, ...]:
    """What changes with the content of files; nothing if they are not files of this machine."""
    with suppress(OSError, ValueError):
        states = ((file, os.stat(file)) for file in files)  # noqa: PTH116
        return tuple((file, state.st_ino, state.st_size, state.st_mtime_ns) for file, state in states)
    return ()
