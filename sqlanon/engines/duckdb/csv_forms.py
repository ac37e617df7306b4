"""Find how to read CSV files: as texts, or in a type that fits every value of the whole file."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby

from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlanon.engines.duckdb import file_readers
from sqlanon.engines.duckdb.catalog import Describe, Rows
from sqlanon.engines.duckdb.csv_form import (
    TEXT,
    Dialect,
    Form,
    alone,
    as_given,
    cell,
    changes_cells,
    given_types,
    notation,
    plain,
)
from sqlanon.errors import EngineError, PolicyError
from sqlanon.model.names import folded
from sqlanon.model.policy.policy_parts import Csv
from sqlanon.model.policy_value import unknown_names
from sqlanon.queries.kit.macros import as_read, scalar_call
from sqlanon.queries.kit.nodes import (
    aliased,
    all_of,
    c,
    case,
    cast,
    column,
    count_rows,
    f,
    grouped,
    is_there,
    listed,
    number,
    select,
    string,
    subquery,
    try_cast,
    unpivoted,
)
from sqlanon.queries.kit.sql_files import query_text
from sqlanon.queries.kit.steps import printed
from sqlanon.queries.source import typed

DELIMITERS = (",", ";", "\t", "|")  # between the fields of a line
SEPARATOR = re.compile("sep=.", re.IGNORECASE)  # a first line that Excel writes for itself
YEAR = re.compile("(1[5-9]|20|21)[0-9]{2}")  # numbers that can also be column names
TABBED = (".tsv", ".tsv.gz", ".tsv.zst")  # suffixes of files whose delimiter defaults to tab
FIRST_ROWS = 2_048  # sampled first: a column with texts in them is text in the whole file
MAX_NAMES = 50  # columns that are searched for their own name


class CsvForms:
    """The forms of CSV files, cached while the files are unchanged."""

    def __init__(self, rows: Rows, describe: Describe, always: Csv | None = None) -> None:
        self.given = file_readers.AS_FOUND  # from the policy
        self.others: frozenset[str] = frozenset()  # folded names of columns that only other linked tables have
        self._always = always or file_readers.AS_FOUND  # overrides the policy
        self._rows = rows
        self._describe = describe
        self._known: dict[tuple[object, ...], Form] = {}

    @property
    def settings(self) -> Csv:
        settings = self.given.with_changes(self._always)
        if not self.others:
            return settings
        types = {name: kind for name, kind in settings.types.items() if folded(name) not in self.others}
        return settings.model_copy(update={"types": types})

    def of(self, files: Sequence[str]) -> Form:
        """Find the form of files; refuse differing forms, and settings that do not fit."""
        state: tuple[object, ...] = ()  # changes with the files' contents; empty if they are not local
        with suppress(OSError, ValueError):
            states = ((file, os.stat(file)) for file in files)  # noqa: PTH116
            state = tuple((file, found.st_ino, found.st_size, found.st_mtime_ns) for file, found in states)
        known = (self.settings, *state)
        form = self._known.get(known) or self._found(files)
        if state:
            self._known[known] = form
        return form

    def of_commas(self, files: Sequence[str]) -> exp.Table | exp.Subquery:
        """Read files as texts without guessing: commas (tabs in ``.tsv``), double quotes, and a header.

        Settings apply, but for types, which the policy has.
        """
        settings = self.settings
        delim = settings.delim or ("\t" if files[0].lower().endswith(TABBED) else ",")
        names = {file: self._names(file, self._first_line(file), delim) for file in files}
        first, *others = names
        for other in others:
            if names[other] != names[first]:
                reason = f"{other} has other columns than {first}, or in another order: give both the same"
                raise EngineError(reason, step="source")
        read = file_readers.text_reader(files, dict.fromkeys(names[first], TEXT), delim=delim, csv=settings)
        if not changes_cells(settings):
            return read
        return typed(read, {name: alone(settings, name) for name in names[first]})

    def _found(self, files: Sequence[str]) -> Form:
        dialects = {file: self._dialect(file) for file in files}
        _refuse_unlike(dialects)
        ordered = sorted(files, key=lambda file: repr(dialects[file]))
        groups = {dialect: (*group,) for dialect, group in groupby(ordered, dialects.__getitem__)}
        names = next(iter(groups)).names
        settings = self.settings
        self._refuse_types(names)
        form = Form(groups, dict.fromkeys(names, TEXT), {}, settings)
        relation = form.texts()
        is_known = file_readers.has_given_columns(relation)
        columns = [*names] if is_known else [column.name for column in self._describe(relation)]
        of_settings = given_types(settings)
        given = {name: of_settings[folded(name)] for name in names if folded(name) in of_settings}
        open_ = [name for name in columns if name not in given]
        own = [name for name in names if name not in given] if settings.has_own_numbers else []
        some = subquery(select([exp.Star()], relation.copy()).limit(number(FIRST_ROWS)), "anon_first_rows")
        first = self._looked_at(some, _texts(settings, open_, own))
        typed_first, own = [name for name, kind in first.types.items() if kind != TEXT], [*first.plain]
        asked = _texts(settings, typed_first, own) | {
            ("unreadable", name): case(_is_unreadable(settings, name, kind), string("")) for name, kind in given.items()
        }
        is_typed = {*typed_first}
        named = [name for name in names if name not in is_typed][:MAX_NAMES]
        found = self._looked_at(relation, asked, named, names)
        if found.unreadable:
            raise _unread(files, form, given, found.unreadable)
        types = {**dict.fromkeys(columns, TEXT), **found.types, **found.plain, **given}
        if settings.header is None and found.is_named_by_a_row:
            raise _no_header(files[0], "its fields also occur in other rows")
        if settings.header is None and self._have_values(types, names):
            raise _no_header(files[0], "it has numbers or days where other lines have them")
        of_lines = {name: types.pop(name) for name in names}
        has_empty_rows, plain = found.empty_rows > 0, {*found.plain}
        return replace(form, types=of_lines, folder_types=types, has_empty_rows=has_empty_rows, plain=plain)

    def _refuse_types(self, names: Sequence[str]) -> None:
        types, there = self.settings.types, {*map(folded, names)}
        strange = [name for name in types if folded(name) not in there]
        problems = [f'column "{name}" is not there{meant}' for name, meant in unknown_names(strange, names)]
        for kind in dict.fromkeys(types.values()):
            try:
                self._rows(printed(exp.select(cast(exp.null(), kind))), ())
            except (SqlglotError, EngineError):
                having = [name for name, given in types.items() if given == kind]
                problems += [f'"{kind}" of "{name}" is not a type of DuckDB' for name in having]
        if problems:
            raise PolicyError("[csv] types do not fit the file:", problems)

    def _have_values(self, types: Mapping[str, str], names: Sequence[str]) -> bool:
        """Return whether a column's name is a value of its type, but not a year, which can be a name."""
        typed = [name for name in names if types[name] != TEXT]
        of_names = [c.name, aliased(scalar_call("written_type", c.name), "type")]
        written = self._rows(printed(select(of_names, listed(typed, "name"))), ()) if typed else []
        return any(kind == types[name] and not YEAR.fullmatch(name) for name, kind in written)

    def _looked_at(
        self, relation: exp.Expr, asked: Mapping[Asked, exp.Expr], names: Sequence[str] = (), whole: Sequence[str] = ()
    ) -> _Found:
        """Find the type that fits all values of each text, and the number of values, in one pass.

        ``names`` are columns to search for their own name, and ``whole`` the columns of rows that may be empty.
        """
        texts = [*asked.values(), *(case(column(name).eq(name), string("")) for name in names)]
        if whole:
            # Without the copies of sqlglot's builders.
            first, *others = map(column, whole)
            is_empty = exp.Is(this=exp.Coalesce(this=first, expressions=others), expression=exp.null())
            texts.append(case(is_empty, string("")))
        cells = subquery(unpivoted(relation, dict(enumerate(texts))), "anon_cells")
        columns = {
            "place": c.anon_place,
            "type": scalar_call("written_type_of_all", c.anon_value),
            "filled": f.count(c.anon_value),
        }
        query = grouped(select([aliased(each, name) for name, each in columns.items()], cells), [c.anon_place])
        by_place = {place: (kind, filled) for place, kind, filled in (self._rows(printed(query), ()) if texts else ())}
        *found, (_, empty_rows) = (by_place.get(place, (TEXT, 0)) for place in range(len(asked) + len(names) + 1))
        repeated = sum(filled > 0 for _, filled in found[len(asked) :])
        return _Found(dict(zip(asked, found, strict=False)), repeated * 2 > len(names) > 0, empty_rows)

    def _dialect(self, file: str) -> Dialect:
        line = self._first_line(file)
        delim = self.settings.delim or self._delimiter(file, line)
        if self.settings.header is None and not any(map(str.isalpha, line)):
            raise _no_header(file, "it has no letters")
        return Dialect(delim, self._names(file, line, delim))

    def _names(self, file: str, line: str, delim: str) -> tuple[str, ...]:
        header, quote = self.settings.header, self.settings.quotes
        quoting = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
        (fields,) = csv.reader([line], delimiter=delim, **quoting)
        if not isinstance(header, tuple):
            return _distinct([""] * len(fields) if header is False else fields)
        if len(header) != len(fields):
            reason = f"the first line of {file} has {len(fields)} fields where [csv] header has {len(header)} names"
            raise EngineError(reason, step="source")
        return header

    def _delimiter(self, file: str, line: str) -> str:
        settings = self.settings
        quote = settings.quotes
        with suppress(EngineError):  # no candidate splits most lines alike
            given = (file, quote, settings.skip, settings.encoding or UTF_8)
            seen = str(self._rows(query_text("engines", "csv_delimiter"), given)[0][0])
            if seen in line:
                return seen
        return max((sign for sign in DELIMITERS if sign not in notation(settings)), key=line.count)

    def _first_line(self, file: str) -> str:
        settings = self.settings
        given = (file, settings.skip, settings.encoding or UTF_8)
        found = self._rows(query_text("engines", "csv_first_line"), given)
        if not found:
            raise EngineError(f"{file} is empty", step="source")
        ((line,),) = found
        without_it = f"[csv] skip = {settings.skip + 1} leaves it out"
        if line is None:
            raise _no_header(file, "it is empty", without_it)
        if SEPARATOR.fullmatch(line):
            raise _no_header(file, "it gives the delimiter for Excel", without_it)
        if settings.quote != "" and line.count(settings.quote or '"') % 2:
            help_ = '[csv] quote = "" reads quotes as any other character, or write the name in one line'
            raise _no_header(file, "a name in it has a line break", help_)
        return str(line)


UTF_8 = "utf-8"

Asked = tuple[str, str]  # the kind of question, and the column


@dataclass(frozen=True)
class _Found:
    answers: Mapping[Asked, tuple[str, int]]
    is_named_by_a_row: bool
    empty_rows: int

    @property
    def types(self) -> dict[str, str]:
        return {name: kind for (what, name), (kind, _) in self.answers.items() if what == "cell"}

    @property
    def plain(self) -> dict[str, str]:
        """The types of columns whose values are all numbers in the notation of the settings."""
        return {
            name: kind
            for (what, name), (kind, numbers) in self.answers.items()
            if what == "plain" and numbers == self.answers["own", name][1]
        }

    @property
    def unreadable(self) -> dict[str, int]:
        found = {name: count for (what, name), (_, count) in self.answers.items() if what == "unreadable"}
        return {name: count for name, count in found.items() if count}


def _texts(settings: Csv, written: Sequence[str], own: Sequence[str]) -> dict[Asked, exp.Expr]:
    texts = {("cell", name): cell(settings, name) for name in written}
    texts |= {("own", name): cell(settings, name) for name in own}
    return texts | {("plain", name): plain(settings, cell(settings, name)) for name in own}


def _is_unreadable(settings: Csv, name: str, kind: str) -> exp.Expr:
    read = try_cast(as_read(as_given(settings, name, kind)), kind)
    return all_of([is_there(cell(settings, name)), read.is_(exp.null())])


def _unread(files: Sequence[str], form: Form, given: Mapping[str, str], counts: Mapping[str, int]) -> PolicyError:
    settings, (dialect, *_) = form.settings, form.groups
    problems = []
    for name, count in counts.items():
        relation = file_readers.listing_reader(files, dialect.names, dialect.delim, settings)
        query = select([column(name), aliased(count_rows(), "rows")], relation)
        query = query.where(_is_unreadable(settings, name, given[name]), copy=False).group_by(column(name), copy=False)
        problems.append(f'"{name}" ({given[name]}): {count:,} rows; {printed(query)}')
    return PolicyError(
        "[csv] types cannot read all values of the file. Give nullstr what stands for missing values, or other types; "
        "the queries list the values:",
        problems,
    )


def _distinct(fields: Sequence[str]) -> tuple[str, ...]:
    """Name the columns of a first line; repeated names get numbers, like in DuckDB."""
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
    (first, here), *others = ((file, {*dialect.names}) for file, dialect in dialects.items())
    for other, there in others:
        if here != there:
            # Without the names, which are a person's data in a file without a header.
            raise EngineError(
                f"CSV files have different columns: {first} has {len(here - there)} that {other} lacks, which has "
                f"{len(there - here)} others; bring them to one form by a query over read_csv with union_by_name",
                step="source",
            )


NAMES = 'add one, or give the names, [csv] header = ["age", …]; [csv] header = true takes it as it is'


def _no_header(file: str, reason: str, what_helps: str = NAMES) -> EngineError:
    return EngineError(f"the first line of {file} is not a header: {reason}; {what_helps}", step="source")
