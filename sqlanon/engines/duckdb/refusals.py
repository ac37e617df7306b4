"""Errors of the database, reworded to quote none of its data."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import duckdb

from sqlanon.engines.locks import PATIENCE
from sqlanon.errors import EngineError, Refusal
from sqlanon.model.whole_files import NO_FILE, is_special

QUOTED = frozenset({"BinderException", "CatalogException", "IOException"})
"""Error classes about names, paths and the words of a query, never about a value."""

OUR_ERRORS = ("Invalid Input Error: attribute ", "Invalid Input Error: the catalog ")
"""The beginnings of errors that our own macros raise; none quotes a value."""

HEADERS = 3 * 4096  # of the headers of a DuckDB file
HALF_MADE = re.compile("not a valid DuckDB database|Could not read enough bytes")  # DuckDB's errors on half a file
MAGIC = slice(8, 12)  # the place of the magic bytes, after the checksum of the first header

SIGNS = (
    ("CatalogException", "already exists", Refusal.TAKEN),
    ("TransactionException", "write-write conflict on create", Refusal.TAKEN),
    ("ConstraintException", "duplicate key", Refusal.OVERTAKEN),
    ("TransactionException", "duplicate key", Refusal.OVERTAKEN),
    ("TransactionException", "write-write conflict on alter", Refusal.OVERTAKEN),
    ("TransactionException", "altered by a different transaction", Refusal.OVERTAKEN),
    (None, "could not set lock", Refusal.LOCKED),
    (None, "already attached|already exists|different configuration|file handle conflict", Refusal.OPEN),
    (None, "permission denied|operation not permitted|read-only", Refusal.UNWRITABLE),
)
"""The signs of refusals: the error class, or None for any, and a pattern of its text; the first match wins."""

IN_USE_BY_READER = (
    "the connection has a result that is not read to its end; read or delete it first, or open the session on "
    "a connection of its own, connection.cursor()"
)
IN_USE_BY_THREAD = (
    "another thread runs a statement on the connection; open the session on a connection of its own, "
    "connection.cursor()"
)

MEMORY_LIMIT = re.compile(r"/([\d.]+ \w+) used\)")  # the memory limit in an error

EXTENSION = re.compile(
    r'requires the extension (\w+) |exists in the (\w+) extension|(\w+)\.duckdb_extension" not found'
)
"""Matches errors on an extension of DuckDB that is not loaded."""

CSV_LINE = re.compile(r"[^\n]*\bCSV Error on Line: (\d+)")
"""Matches the beginning of an error on a CSV line, before the quoted line."""

CSV_FIELDS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)\s*\nPossible fixes:")
"""Matches an error on a line with more or fewer fields than the first one."""

CSV_SIGNS = {
    "Invalid unicode": 'is not UTF-8; say what it is by [csv] encoding = "latin-1" (--csv encoding=latin-1), or '
    '"utf-16", or save it as UTF-8',
    "unterminated quote": "has a quote that nothing closes; double the quotes within quoted fields, or say "
    '[csv] quote = "" (--csv quote=) if quotes are characters as any others',
    "Maximum line size": "is longer than 2 MB; read it by a query: FROM read_csv('…', all_varchar = true, "
    "max_line_size = 20_000_000)",
}
"""Other errors on CSV lines, and their meanings."""

CSV_FILE = re.compile(r"\n  file = ([^\n]*)\n")  # the file name in such an error

CSV_ENCODINGS = {
    "does not support the encoding": "DuckDB reads utf-8, latin-1 and utf-16, and others with its extension encodings: "
    "INSTALL encodings in DuckDB once, then --load encodings; or convert the file: iconv -f CP1252 -t UTF-8",
    "File is not": "a CSV file is not in the encoding that [csv] gives; Windows-1252 is not latin-1: convert the file, "
    "iconv -f CP1252 -t UTF-8, or take DuckDB's extension encodings",
}
"""Errors on encodings, and their meanings."""

CSV_STATE = "The CSV Parser state machine reached an invalid state"  # in errors that name no line
MISSING_EXTENSION = re.compile(r"install the required extension '(\w+)")  # the missing extension in an error


@contextmanager
def refusals(purpose: str, sql: str | None = None) -> Iterator[None]:
    """Re-raise errors of the database as ours, and an interruption as KeyboardInterrupt."""
    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except RuntimeError as error:
        # Ctrl-C is a bare RuntimeError.
        if "interrupted" not in str(error).lower():
            raise
        raise KeyboardInterrupt from None
    except duckdb.Error as error:
        raise refused(error, purpose, sql) from None


def refuse_special(path: str) -> None:
    """Refuse a device or a pipe, where the database would wait and ignore interruptions."""
    if is_special(Path(path)):
        raise EngineError(f"{path} cannot be opened: {NO_FILE}", step="open")


def not_opened(path: str, error: Exception) -> EngineError:
    """Make the error for a file that cannot be opened, with the reason and a remedy."""
    found = refused(error, "open", None)
    if found.refusal is None and HALF_MADE.search(_unquoted(error)) and _is_in_the_making(path):
        found.refusal = Refusal.IN_THE_MAKING
    elif found.refusal in (None, Refusal.LACKING) and _is_unfinished(path):
        found.refusal = Refusal.UNFINISHED
    return found.reworded(_why_not_opened(path, found, error), "open")


def remove_unfinished(path: str, error: Exception) -> None:
    """Remove a new file that could not be written; after other errors another process may be making it."""
    if "Could not write" in _unquoted(error) and _is_unfinished(path):
        Path(path).unlink()


def refused(error: Exception, purpose: str, sql: str | None) -> EngineError:
    """Make the error of a failed step; the database's own text, which can quote data, stays in ``original``."""
    holder = re.search(r"PID (\d+)", str(error))
    return EngineError(
        f"the database stopped at {purpose}: {_reason(error)}",
        step=purpose,
        sql=sql,
        original=error,
        refusal=_refusal(error),
        holder=int(holder[1]) if holder else None,
    )


def _refusal(error: Exception) -> Refusal | None:
    if _extension(error) is not None:
        return Refusal.UNLOADED
    text = _unquoted(error)
    for kind, sign, refusal in SIGNS:
        if (kind is None or type(error).__name__ == kind) and re.search(sign, text, re.IGNORECASE):
            return refusal
    return None if _lacking(str(error), type(error).__name__) is None else Refusal.LACKING


def _unquoted(error: Exception) -> str:
    return re.sub(r'"[^"]*"', '""', str(error))


def _extension(error: Exception) -> str | None:
    found = EXTENSION.search(str(error)) if type(error).__name__ in {*QUOTED, "Error"} else None
    return found and found[found.lastindex or 0]


def _is_unfinished(path: str) -> bool:
    file = Path(path)
    return file.exists() and file.stat().st_size < HEADERS


def _is_in_the_making(path: str) -> bool:
    """Return whether a file is a moment old, and empty or the start of a DuckDB file.

    It may be complete by now, since another program may write it faster than the refusal arrives.
    """
    try:
        with Path(path).open("rb") as file:
            begun, age = file.read(MAGIC.stop), time.time() - Path(path).stat().st_mtime
    except OSError:
        return False
    return age < PATIENCE and (begun[MAGIC] == b"DUCK" or not any(begun))


def _why_not_opened(path: str, found: EngineError, error: Exception) -> str:
    if found.refusal is Refusal.LOCKED:
        return f"{path} is open in another program{found.held_by}; close it there, or work on a copy"
    if (extension := _extension(error)) is not None:
        reason = f"{path} cannot be opened: it needs DuckDB's extension {extension}"
        return f"{reason}; open it in DuckDB, and pass that connection"
    if type(error).__name__ == "OutOfMemoryException":
        return f"{path} cannot be opened: memory_limit is too small"
    reasons = {
        "not a valid DuckDB database": f"{path} is not a DuckDB file",
        "version number": f"{path} was made by a newer DuckDB; upgrade duckdb",
        "No such file or directory": f"{path} cannot be opened: no such file or folder",
        "Permission denied|Operation not permitted|Read-only file system": (
            f"{path} cannot be opened for writing; open it with read_only=True"
        ),
        "already attached|different configuration": (
            f"{path} is already open in this program; pass that connection instead"
        ),
    }
    return next(
        (reason for sign, reason in reasons.items() if re.search(sign, _unquoted(error))),
        f"{path} cannot be opened: {_lacking(str(error), type(error).__name__) or type(error).__name__}",
    )


def _reason(error: Exception) -> str:
    text = str(error)
    kind = type(error).__name__
    if (reason := _lacking(text, kind) or why_in_use(error)) is not None:
        return reason
    if (extension := _extension(error)) is not None:
        return (
            f"it needs DuckDB's extension {extension}, which is not loaded; once INSTALL {extension} in DuckDB has "
            f'installed it, connect(..., extensions=["{extension}"]) or --load {extension} loads it'
        )
    if kind == "ConnectionException" and "closed" in text.lower():
        return "the connection is closed"
    if text.startswith(OUR_ERRORS):
        return text.removeprefix("Invalid Input Error: ").splitlines()[0]
    if (reason := _of_csv(text)) is not None:
        return reason
    if missing := MISSING_EXTENSION.search(text):
        return (
            f'DuckDB could not download its extension "{missing[1]}"; run INSTALL {missing[1]} in DuckDB once, as this '
            "user and with access to the internet, or save the data as CSV or Parquet"
        )
    if kind in QUOTED:
        return text.partition(" Error: ")[2].partition("\n")[0] or kind
    return kind


def _of_csv(text: str) -> str | None:
    """Describe the fault of a CSV line without quoting it; None if the error has another reason."""
    file = (CSV_FILE.findall(text) or ["a CSV file"])[-1]  # the last match: the quoted line stands before it
    if CSV_STATE in text:
        return f"{file} has several kinds of line ends, or quotes that RFC 4180 does not know; save it anew as CSV"
    if text.startswith("Invalid Input Error: ") and (of_encoding := _meaning(CSV_ENCODINGS, text.partition("\n")[0])):
        return of_encoding
    line = CSV_LINE.match(text)
    if line is None:
        return None
    where = f"line {line[1]} of {file}"
    if fields := CSV_FIELDS.search(text):
        expected, given = map(int, fields.groups())
        counted = "more" if given > expected else f"{given} field{'s' * (given != 1)}"
        return (
            f"{where} has {counted} where the first line has {expected}; correct it. [csv] skip = 1 leaves out a line "
            "above the names, delim and quote say what stands between and around fields (--csv skip=1); where fields "
            "at the ends of lines may be missing, a query reads FROM read_csv('…', all_varchar = true, null_padding = "
            "true)"
        )
    return f"{where} " + (
        _meaning(CSV_SIGNS, text)
        or "does not fit the columns and types of its first rows; correct it, or read it by a query with options, such "
        "as FROM read_csv('file.csv', types = {'column': 'VARCHAR'})"
    )


def _meaning(meanings: Mapping[str, str], text: str) -> str | None:
    return next((meaning for sign, meaning in meanings.items() if sign in text), None)


def why_in_use(error: Exception) -> str | None:
    """Return who else uses the connection, with a remedy, if that made a statement fail."""
    if type(error).__name__ != "ResourceInUseException":
        return None
    return IN_USE_BY_READER if "open result" in str(error) else IN_USE_BY_THREAD


def _lacking(text: str, kind: str) -> str | None:
    if "No space left on device" in text or "could not be written to disk" in text.lower():
        return "the disk is full"
    if "max_temp_directory_size" in text:
        return "its temp_directory is full; give it one with more room, or raise memory_limit"
    if "Max expression depth" in text:
        return "a statement is nested deeper than max_expression_depth; simplify the query, or name fewer columns"
    if "Too many open files" in text:
        return "it may open no more files; raise the limit (ulimit -n)"
    if "File too large" in text:
        return "a file is larger than the system allows (ulimit -f, or the file system)"
    if kind == "OutOfMemoryException" or "could not allocate" in text:
        limit = f", which is {found[1]}," if (found := MEMORY_LIMIT.search(text)) else ","
        return f"it ran out of memory; raise memory_limit{limit} or give it a temp_directory"
    return "the name of a file or folder is too long" if "File name too long" in text else None
