"""Read files of SPSS, Stata and SAS: values as their labels, missing codes as NULL, and days as dates."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engines.duckdb.catalog import Rows
from sqlanon.engines.duckdb.csv_form import TEXT
from sqlanon.engines.duckdb.scanned_frames import Frames, refuse_equal_names
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.model.names import LOCAL, counted
from sqlanon.model.policy.policy_parts import Csv
from sqlanon.queries.kit.macros import cast_value, scalar_call
from sqlanon.queries.kit.nodes import (
    aliased,
    all_of,
    case,
    column,
    count_distinct,
    f,
    filtered,
    is_there,
    number,
    select,
    string,
    subquery,
)
from sqlanon.queries.kit.steps import printed
from sqlanon.satellites import extra_module

if TYPE_CHECKING:
    import pyarrow as pa

CELLS = 1_000_000  # read at once
RECORD = 80  # bytes; a whole transport file of SAS consists of such records
WHOLE = 2**53  # above it, a DOUBLE does not hold every whole number

DATE, TIMESTAMP, TIME, NUMBER = "DATE", "TIMESTAMP", "TIME", "DOUBLE"


@dataclass(frozen=True)
class Program:
    name: str
    reader: str  # in pyreadstat
    origin: str  # the day 0
    kinds: Mapping[str, tuple[str, float]]  # the type and the seconds of 1, by the pattern of a variable's format


SPSS_KINDS = {
    "(A|E|J|S)?DATE[0-9.]*|(MOYR|QYR|WKYR)[0-9.]*": (DATE, 1.0),
    "(DATETIME|YMDHMS)[0-9.]*": (TIMESTAMP, 1.0),
    "TIME[0-9.]*": (TIME, 1.0),
}
STATA_KINDS = {"%-?tc(HH|hh).*": (TIME, 1e-3), "%-?t[cC].*": (TIMESTAMP, 1e-3), "%-?t?d.*": (DATE, 86_400.0)}
SAS_KINDS = {
    "(DATE|((DDMM|MMDD)YY|YYMMDD)[A-Z]?|WEEKDAT[EX]|([EB]|IS)8601DA)[0-9.]*": (DATE, 86_400.0),
    "(DATETIME|DATEAMPM|MDYAMPM|([EB]|IS)8601D[TN])[0-9.]*": (TIMESTAMP, 1.0),
    "(TIME|HHMM|TOD|TIMEAMPM|([EB]|IS)8601TM)[0-9.]*": (TIME, 1.0),
}
SPSS = partial(Program, "SPSS", origin="1582-10-14", kinds=SPSS_KINDS)
SAS = partial(Program, "SAS", origin="1960-01-01", kinds=SAS_KINDS)
PROGRAMS = {
    ".sav": SPSS("read_sav"),
    ".zsav": SPSS("read_sav"),
    ".por": SPSS("read_por"),
    ".dta": Program("Stata", "read_dta", "1960-01-01", STATA_KINDS),
    ".sas7bdat": SAS("read_sas7bdat"),
    ".xpt": SAS("read_xport"),
}


def is_labelled(file: str) -> bool:
    return file.lower().endswith((*PROGRAMS,))


@dataclass(frozen=True)
class Variable:
    """A column of a file, as the file describes it."""

    name: str
    place: int
    type: str  # of the values as stored: DOUBLE, BIGINT or VARCHAR
    kind: tuple[str, float] | None  # the type of a day or time, and the seconds of 1
    described: str  # its own label; may be empty
    labels: Mapping[float | str, str]  # of its values


class LabelledFiles:
    """The labelled files of a call; each is copied to a temporary table once, a million cells at a time."""

    def __init__(self, frames: Frames, rows: Rows) -> None:
        self._frames = frames
        self._rows = rows

    def source(self, path: str, dataset: str, settings: Csv) -> ResolvedSource:
        """Return the rows of a file; types and labels depend on all of them."""
        read = self._read(path, settings)
        form = f"{read.program.name}, {counted(len(read.variables), 'column')}"
        columns = [
            f"{each.name} {'text' if (kind := read.types[each.name]) == TEXT else kind}"
            + (" without its labels" if each.labels and kind != TEXT else "")
            + (f" ({each.described})" if each.described else "")
            for each in read.variables
        ]
        return ResolvedSource(
            read.relation(read.types),
            f"{read.program.name} file {path}",
            (read.file,),
            dataset,
            follows_rows=True,
            read_as=(form, *columns),
        )

    def texts(self, path: str, settings: Csv) -> exp.Subquery:
        """Return the rows with each value as its label or in its own spelling, so that types depend on none."""
        read = self._read(path, settings)
        stated = {each.name: each.kind[0] for each in read.variables if each.kind and each.kind[0] != TIME}
        return read.relation({**dict.fromkeys(read.types, TEXT), **stated})

    def _read(self, path: str, settings: Csv) -> LabelledFile:
        file = Path(LOCAL.sub("", path, count=1)).expanduser()
        try:
            state = file.stat()
            key = (str(file), state.st_size, state.st_mtime_ns, settings)
        except (OSError, ValueError) as error:
            kind = PROGRAMS[Path(path).suffix.lower()].name
            reason = getattr(error, "strerror", None) or "no such name"
            raise EngineError(f"no {kind} file can be read at {path}: {reason}", step="source") from None
        known: LabelledFile | None = self._frames.files.get(key)
        if known is None:
            known = self._frames.files[key] = LabelledFile(str(file), self._frames, self._rows, settings)
        return known


class LabelledFile:
    def __init__(self, file: str, frames: Frames, rows: Rows, settings: Csv) -> None:
        self.file = file
        self.program = PROGRAMS[Path(file).suffix.lower()]
        self._missing = settings.nullstr
        purpose = f"reading {self.program.name} files"
        reader = getattr(extra_module("pyreadstat", extra="labels", purpose=purpose), self.program.reader)
        encoding = settings.encoding
        with suppress(LookupError):
            encoding = encoding and codecs.lookup(encoding).name
        given = {"encoding": encoding} if encoding and self.program.reader != "read_por" else {}
        self._reader = partial(reader, file, output_format="dict", disable_datetime_conversion=True, **given)
        self._failed: Exception | None = None  # what went wrong in a stream, which DuckDB words anew
        try:
            self.variables = self._described()
            self._table = frames.stored(self._rows())
        except EngineError:
            raise
        except Exception as error:
            raise self._unreadable(self._failed or error) from None
        self.types = self._types(rows)

    def relation(self, types: Mapping[str, str]) -> exp.Subquery:
        cells = [aliased(self._cell(each, types[each.name]), each.name) for each in self.variables]
        return subquery(select(cells, self._table.copy()), "anon_labelled")

    def _described(self) -> tuple[Variable, ...]:
        if self.file.lower().endswith(".xpt") and Path(self.file).stat().st_size % RECORD:
            raise EOFError  # the library would read the rows before the cut
        _, found = self._reader(metadataonly=True)
        refuse_equal_names(found.column_names, f"{self.program.name} file {self.file}")
        if not found.column_names:
            raise EngineError(f"{self.file} has no columns", step="source")
        self._count = found.number_rows
        variables = []
        for place, (name, described) in enumerate(zip(found.column_names, found.column_labels, strict=True)):
            stored = found.readstat_variable_types[name]
            is_text = stored.startswith("string")
            form, labels = found.original_variable_types[name] or "", found.variable_value_labels.get(name, {})
            kinds = (kind for pattern, kind in self.program.kinds.items() if re.fullmatch(pattern, form))
            variables.append(
                Variable(
                    name,
                    place,
                    TEXT if is_text else "BIGINT" if stored.startswith("int") else NUMBER,
                    None if is_text else next(kinds, None),
                    (described or "").strip(),
                    # Labels of Stata's .a to .z stand under letters; these are missing values.
                    {value: label for value, label in labels.items() if isinstance(value, str) == is_text and label},
                )
            )
        return (*variables,)

    def _rows(self) -> pa.RecordBatchReader:
        """Stream the values of each column, and beside them their labels, under the names c0, l0, c1, …"""
        import pyarrow as pa
        import pyarrow.compute as pc

        types = {TEXT: pa.string(), "BIGINT": pa.int64(), NUMBER: pa.float64()}
        schema = pa.schema(
            [
                (f"{letter}{each.place}", types[each.type] if letter == "c" else pa.string())
                for each in self.variables
                for letter in ("cl" if each.labels else "c")
            ]
        )

        def batches() -> Iterator[pa.RecordBatch]:
            done, step, read = 0, max(1, CELLS // len(self.variables)), -1
            try:
                while read in (-1, step):
                    found, _ = self._reader(row_offset=done, row_limit=step)
                    arrays: list[pa.Array] = []
                    for each, values in zip(self.variables, found.values(), strict=True):
                        arrays.append(pa.array(values, types[each.type]))
                        if each.labels:
                            places = pc.index_in(arrays[-1], value_set=pa.array([*each.labels], types[each.type]))
                            arrays.append(pa.array([*each.labels.values()], pa.string()).take(places))
                    read = len(arrays[0])
                    done += read
                    yield pa.RecordBatch.from_arrays(arrays, schema=schema)
                if self._count not in (None, done):
                    raise EOFError
            except Exception as error:
                self._failed = error
                raise

        return pa.RecordBatchReader.from_batches(schema, batches())

    def _types(self, rows: Rows) -> dict[str, str]:
        """Find the types of columns by all their values."""
        # An aggregate, so that the query has one row even if no column has a question.
        asked = [
            aliased(exp.Max(this=exp.true()), "fits"),
            *(aliased(self._is_typed(each), f"fits_{each.place}") for each in self.variables),
        ]
        _, *fits = rows(printed(select(asked, self._table.copy())), ())[0]
        return {each.name: _type_of(each, is_typed) for each, is_typed in zip(self.variables, fits, strict=True)}

    def _is_typed(self, each: Variable) -> exp.Expr:
        """Return whether a column gets the type that its file allows: whole numbers, times of a day, labels."""
        value = self._value(each)
        if each.kind is not None:
            seconds = exp.Mul(this=value, expression=number(each.kind[1]))
            return _of_all(exp.Between(this=seconds, low=number(0), high=number(86_399.999999)))
        if each.labels:
            is_named = is_there(column(f"l{each.place}"))
            named, others = (
                filtered(count_distinct(value.copy()), condition) for condition in (is_named, exp.not_(is_named))
            )
            return exp.GTE(this=named, expression=others)
        if each.type == NUMBER:
            is_whole = exp.EQ(this=value, expression=f.trunc(value.copy()))
            return _of_all(all_of([is_whole, exp.LT(this=f.abs(value.copy()), expression=number(WHOLE))]))
        return exp.true()

    def _value(self, each: Variable) -> exp.Expr:
        """Return a stored value; NULL for empty texts and for the missing codes of the settings."""
        value: exp.Expr = column(f"c{each.place}")
        if each.type == TEXT:
            value = f.nullif(value, string(""))
        if not self._missing:
            return value
        spelled = [_spelled(value), *([column(f"l{each.place}")] if each.labels else [])]
        codes = [
            exp.In(this=f.coalesce(text, string("")), expressions=[*map(string, self._missing)]) for text in spelled
        ]
        return case(exp.or_(*codes), exp.null(), value.copy())

    def _cell(self, each: Variable, kind: str) -> exp.Expr:
        value = self._value(each)
        if each.kind is not None and kind == each.kind[0]:
            return self._moment(each, value)
        if kind != TEXT:
            return cast_value(value, kind)
        if not each.labels:
            return _spelled(value)
        return case(is_there(value), f.coalesce(column(f"l{each.place}"), _spelled(value)))

    def _moment(self, each: Variable, value: exp.Expr) -> exp.Expr:
        assert each.kind is not None
        kind, seconds = each.kind
        since = exp.Mul(this=value, expression=number(seconds * 1e6))
        ticks = f.to_microseconds(cast_value(f.round(since), "BIGINT"))
        return cast_value(exp.Add(this=cast_value(string(self.program.origin), TIMESTAMP), expression=ticks), kind)

    def _unreadable(self, error: Exception) -> EngineError:
        """Say what is wrong in the words of the library, which have no values; other errors might have some."""
        said = str(error) if type(error).__name__ == "ReadstatError" else ""
        reason = f"{self.file} cannot be read as a file of {self.program.name}"
        if "encoding" in said:
            reason += ': its texts are in another encoding than it says; name theirs, such as --csv encoding="cp1252"'
        else:
            reason += f": {said or 'it is cut off, or has values of another type than it says'}"
        return EngineError(reason, step="source", original=error)


def _type_of(each: Variable, is_typed: bool) -> str:
    if each.kind is not None:
        return each.kind[0] if is_typed or each.kind[0] != TIME else NUMBER
    if each.labels:
        return TEXT if is_typed else each.type
    return "BIGINT" if is_typed and each.type == NUMBER else each.type


def _of_all(condition: exp.Expr) -> exp.Expr:
    return f.coalesce(exp.LogicalAnd(this=condition), exp.true())


def _spelled(value: exp.Expr) -> exp.Expr:
    return scalar_call("number_as_text", cast_value(value, TEXT))
