"""Relations over files: find the files of a glob, their format, and their reader."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from sqlglot import exp

from sqlanon.engines.paths import is_glob
from sqlanon.engines.relations import Files
from sqlanon.errors import EngineError
from sqlanon.model.names import CSV_SUFFIXES, LOCAL, PARQUET_SUFFIXES, SOURCE_SUFFIXES
from sqlanon.model.policy.policy_parts import Csv
from sqlanon.queries.kit.macros import scalar_call
from sqlanon.queries.kit.nodes import DIALECT, aliased, column, select, string, struct

PARQUET_READER = "read_parquet"

AS_FOUND = Csv()  # no settings


@dataclass(frozen=True)
class Format:
    name: str
    suffixes: tuple[str, ...]
    function: str

    def has(self, file: str) -> bool:
        return file.lower().endswith(self.suffixes)


QUERIED = {".xlsx": "read_xlsx", ".json": "read_json", ".jsonl": "read_json", ".ndjson": "read_json"}
"""Suffixes of files that only a query can read, with the function for it."""

PARQUET = Format("Parquet", PARQUET_SUFFIXES, PARQUET_READER)
CSV = Format("CSV", CSV_SUFFIXES, "read_csv")


def format_of(source: str, files: Sequence[str]) -> Format:
    """Return the common format of the files that a path or glob matches; Parquet unless a suffix is CSV's."""
    tables = [file for file in files if CSV.has(file)]
    others = [file for file in files if not CSV.has(file)]
    if tables and others:
        raise EngineError(
            f"{source} matches files of several formats, such as {others[0]} and {tables[0]}; name only Parquet files, "
            "or only CSV files",
            step="format",
        )
    return CSV if tables or (not files and CSV.has(source)) else PARQUET


PACKED = (".zip", ".bz2", ".xz", ".7z", ".tar", ".tgz", ".rar")  # suffixes of unsupported archives
PLAIN = (".txt", ".dat", ".tab", ".psv", ".asc")  # suffixes of files that may be CSV


def refuse_other_formats(source: str) -> None:
    name = source.lower()
    for ending, function in QUERIED.items():
        if name.endswith(ending):
            query = f"FROM {function}({string(source).sql(DIALECT)})"
            raise EngineError(f'{source} can only be read by a query: "{query}"', step="format")
    with suppress(OSError, ValueError):  # not a valid file name
        if not name.endswith(SOURCE_SUFFIXES) and (
            Path(source).is_file() or (is_glob(source) and name.endswith(PLAIN))
        ):
            raise EngineError(f"{source} cannot be read: {_what_reads(name)}", step="format")


def _what_reads(name: str) -> str:
    if name.endswith(PACKED):
        return "unpack it, or pack it as .gz or .zst"
    if name.endswith(PLAIN):
        return "if it is a CSV file, give it a name that ends in .csv"
    return "save it as CSV or Parquet, under a name that says so (.csv, .tsv, .parquet)"


def unreadable_below(folder: str) -> str | None:
    """Return a folder at or below this one that cannot be listed: a glob would silently skip it."""
    failed: list[OSError] = []
    for _ in os.walk(folder, onerror=failed.append):
        if failed:
            break
    return str(failed[0].filename) if failed else None


def links_below(folder: str) -> Iterator[str]:
    """Yield the symbolic links to folders outside of a folder, which a ``**`` glob does not enter.

    Links below linked folders count, too. Each folder is visited once, whatever loops there are; links to folders above
    the given one are not followed.
    """
    seen: list[Path] = []
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        seen.append(Path(os.path.realpath(here)))
        for place, below, _ in os.walk(here):
            links = [os.path.join(place, name) for name in sorted(below) if Path(place, name).is_symlink()]  # noqa: PTH118
            for link in links:
                real = Path(os.path.realpath(link))
                if not any(real.is_relative_to(known) for known in seen):
                    yield link
                    if not is_above(link, folder):
                        waiting.append(link)


def is_above(link: str, folder: str) -> bool:
    return Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(link))


def walked(pattern: str) -> tuple[list[str], str]:
    """Return the folders where ``**`` of a glob starts, and the rest of the glob; none without ``**``."""
    parts = LOCAL.sub("", pattern, count=1).split("/")
    if "**" not in parts:
        return [], ""
    place = parts.index("**")
    start = "/".join(parts[:place]) or ("/" if place else ".")
    folders = glob(start) if is_glob(start) else [start]  # noqa: PTH207 (a Path takes no absolute pattern)
    return folders, "/" + "/".join(parts[place:])


def reader(paths: str | Sequence[str]) -> exp.Table:
    return exp.Table(this=exp.func(PARQUET_READER, _paths(paths), dialect=DIALECT))


def bare_reader(file: str) -> exp.Table:
    return _read(PARQUET_READER, file, {"hive_partitioning": exp.false()})


def folder_reader(paths: str | Sequence[str], types: Mapping[str, str] | None = None) -> exp.Table:
    """Read Parquet files with partition columns of given types, or as texts."""
    options = {"hive_types_autocast": exp.false()} if types is None else {"hive_types": _types(types)}
    return _read(PARQUET_READER, paths, options)


def text_reader(
    paths: str | Sequence[str],
    types: Mapping[str, str],
    folder_types: Mapping[str, str] | None = None,
    delim: str = ",",
    csv: Csv = AS_FOUND,
) -> exp.Table:
    """Read CSV files without guessing: only empty fields are NULL, and folder columns without a type are texts."""
    options = {"columns": _types(types), "auto_detect": exp.false(), **_form(delim, csv)}
    known = {name: kind for name, kind in (folder_types or {}).items() if kind != "VARCHAR"}
    options |= {"hive_types": _types(known)} if known else {"hive_types_autocast": exp.false()}
    return _read(CSV.function, paths, options)


def listing_reader(paths: Sequence[str], names: Sequence[str], delim: str, csv: Csv) -> exp.Table:
    """Read files as texts, in a query for people; ``names`` are the columns."""
    listed = {} if csv.header in (None, True) else {"names": exp.Array(expressions=[string(name) for name in names])}
    options = {"all_varchar": exp.true(), **_form(delim, csv), **listed}
    return _read(CSV.function, paths[0] if len(paths) == 1 else paths, options)


def _form(delim: str, csv: Csv) -> dict[str, exp.Expr]:
    quote = string(csv.quotes)
    encoding = {} if csv.encoding is None else {"encoding": string(csv.encoding)}
    return {
        "header": exp.convert(csv.header in (None, True)),
        "delim": string(delim),
        "quote": quote,
        "escape": quote.copy(),
        "nullstr": string(""),
        "skip": exp.Literal.number(csv.skip),
        # DuckDB could detect # as a comment sign and drop the rest of a line, or whole rows.
        "comment": string(""),
        **encoding,
    }


def has_given_columns(relation: exp.Expr) -> bool:
    """Return whether a relation is CSV files with listed columns, to which no folder can add any."""
    call = relation.this if isinstance(relation, exp.Table) else None
    if not isinstance(call, exp.Anonymous) or call.name != CSV.function:
        return False
    paths, *options = call.expressions
    files = [each.name for each in (paths.expressions if isinstance(paths, exp.Array) else [paths])]
    is_given = any(isinstance(each, exp.PropertyEQ) and each.name == "columns" for each in options)
    return is_given and not any(is_glob(file) or "=" in file for file in files)


def as_written(files: Files) -> exp.Table | exp.Subquery:
    """Read files that sqlanon wrote without guessing: a label such as 10 would become a number."""
    if files.columns is None:
        # The union of all files' columns, without those of partitions.
        return _read(PARQUET_READER, files.paths, {"union_by_name": exp.true(), "hive_partitioning": exp.false()})
    if files.format == "CSV":
        return _own_csv(files.paths, files.columns, files.quoted)
    options: dict[str, exp.Expr] = {"hive_partitioning": exp.convert(bool(files.partition_by))}
    if files.partition_by:
        options["hive_types"] = _types({name: files.columns[name] for name in files.partition_by})
    if files.by_name:
        options["union_by_name"] = exp.true()
    read = _read(PARQUET_READER, files.paths, options)
    return exp.Subquery(this=select([column(name) for name in files.columns], read))


def _own_csv(paths: str | Sequence[str], columns: Mapping[str, str], quoted: Sequence[str]) -> exp.Table | exp.Subquery:
    options = {
        "columns": _types(columns),
        "auto_detect": exp.false(),
        "header": exp.true(),
        "delim": string(","),
        "quote": string('"'),
        "escape": string('"'),
        "nullstr": string(""),
        "allow_quoted_nulls": exp.false(),
        "compression": string("none"),
        "hive_partitioning": exp.false(),
        # A quoted text may look like rows, which a thread that starts inside it would misread.
        "parallel": exp.false(),
    }
    table = _read(CSV.function, paths, options)
    if not quoted:
        return table
    cells = ((name, column(name)) for name in columns)
    read = [aliased(scalar_call("unquoted_formula", cell), name) if name in quoted else cell for name, cell in cells]
    return exp.Subquery(this=select(read, table))


def _read(function: str, paths: str | Sequence[str], options: Mapping[str, exp.Expr]) -> exp.Table:
    given = [exp.PropertyEQ(this=exp.to_identifier(name), expression=value.copy()) for name, value in options.items()]
    return exp.Table(this=exp.Anonymous(this=function, expressions=[_paths(paths), *given]))


def _types(columns: Mapping[str, str]) -> exp.Var:
    """Make a leaf of the types of columns: as a struct, 15,000 would be copied with every statement."""
    types = struct({name: string(kind) for name, kind in columns.items()})
    return exp.Var(this=types.sql(DIALECT, copy=False))


def _paths(paths: str | Sequence[str]) -> exp.Expr:
    return string(paths) if isinstance(paths, str) else exp.Array(expressions=[string(path) for path in paths])
