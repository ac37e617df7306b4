"""The form of CSV files with equal columns: dialects, types, and the treatment of cells."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.duckdb import file_readers
from sqlanon.model.names import folded
from sqlanon.model.policy.policy_parts import Csv
from sqlanon.queries.kit.macros import cast_value, scalar_call
from sqlanon.queries.kit.nodes import all_of, case, column, f, select, string, subquery, union_by_name
from sqlanon.queries.source import in_century, typed

TEXT = "VARCHAR"


@dataclass(frozen=True)
class Dialect:
    delim: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Form:
    groups: Mapping[Dialect, tuple[str, ...]]  # files by dialect
    types: Mapping[str, str]  # of the columns in lines, by name
    folder_types: Mapping[str, str]  # of the columns in folder names, ``column=value``
    settings: Csv = file_readers.AS_FOUND  # of the user
    has_empty_rows: bool = False  # rows of empty fields, which are dropped
    plain: Set[str] = frozenset()  # columns with numbers in the notation of the settings

    def relation(self, pattern: str | None = None) -> exp.Table | exp.Subquery:
        """Return the rows of the files; ``pattern``, a glob of all of them, makes a shorter statement than a list."""
        if not changes_cells(self.settings):
            return self._lines(self.types, pattern)
        given = given_types(self.settings)
        cells = {name: self._cell(name, given.get(folded(name))) for name in self.types}
        return typed(self._lines(dict.fromkeys(self.types, TEXT), pattern), cells)

    def texts(self) -> exp.Table | exp.Subquery:
        return self._lines(dict.fromkeys(self.types, TEXT), None)

    @property
    def described(self) -> tuple[str, ...]:
        settings = self.settings
        delims = " or ".join(dict.fromkeys("tab" if each.delim == "\t" else each.delim for each in self.groups))
        names = "names in the first line" if settings.header in (None, True) else "no line of names"
        missing = f", {' '.join(settings.nullstr)} for missing values" if settings.nullstr else ""
        form = f"{(settings.encoding or 'utf-8').upper()}, delimiter {delims}, {names}{missing}"
        return form, *(f"{name} {'text' if kind == TEXT else kind}" for name, kind in self.types.items())

    def _lines(self, types: Mapping[str, str], pattern: str | None) -> exp.Table | exp.Subquery:
        read = [
            file_readers.text_reader(
                files if pattern is None or len(self.groups) > 1 else pattern,
                {name: types[name] for name in dialect.names},
                self.folder_types,
                dialect.delim,
                self.settings,
            )
            for dialect, files in self.groups.items()
        ]
        one = read[0] if len(read) == 1 else subquery(union_by_name([_all_of(each) for each in read]), "anon_files")
        if not self.has_empty_rows:
            return one
        is_empty = all_of([column(name).is_(exp.null()) for name in types])
        return exp.Subquery(this=_all_of(one).where(exp.not_(is_empty), copy=False))

    def _cell(self, name: str, given: str | None) -> exp.Expr:
        if given is not None:
            return cast_value(as_given(self.settings, name, given), given)
        value = cell(self.settings, name)
        if name in self.plain:
            value = plain(self.settings, value)
        return value if self.types[name] == TEXT else cast_value(value, self.types[name])


def changes_cells(settings: Csv) -> bool:
    return bool(settings.types or settings.nullstr or settings.has_own_numbers)


def given_types(settings: Csv) -> dict[str, str]:
    return {folded(name): kind for name, kind in settings.types.items()}


def cell(settings: Csv, name: str) -> exp.Expr:
    value = column(name)
    if not settings.nullstr:
        return value
    is_code = exp.In(this=value.copy(), expressions=[string(code) for code in settings.nullstr])
    return case(is_code, exp.null(), value)


def plain(settings: Csv, value: exp.Expr) -> exp.Expr:
    """Convert a number from the settings' notation to SQL's; NULL for other texts."""
    return scalar_call("plain_number", value, *map(string, notation(settings)))


def notation(settings: Csv) -> tuple[str, str]:
    return settings.decimal or ".", settings.thousands or ""


def as_given(settings: Csv, name: str, kind: str) -> exp.Expr:
    """Return the text of a field for a cast to a type."""
    value = cell(settings, name)
    is_text, is_time = (exp.DataType.build(kind, dialect="duckdb").is_type(*types) for types in (TEXTS, TIMES))
    if is_time and settings.dates:
        return scalar_call("day_as_text", in_century(value, settings.century), string(settings.dates))
    return plain(settings, value) if settings.has_own_numbers and not (is_text or is_time) else value


TEXTS = tuple(exp.DataType.TEXT_TYPES)
TIMES = tuple(exp.DataType.TEMPORAL_TYPES)


def alone(settings: Csv, name: str) -> exp.Expr:
    """Return a field as a text that no other row affects, with numbers in SQL's notation."""
    value = cell(settings, name)
    return f.coalesce(plain(settings, value), value.copy()) if settings.has_own_numbers else value


def _all_of(relation: exp.Expr) -> exp.Select:
    return select([exp.Star()], relation)
