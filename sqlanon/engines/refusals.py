"""What a database refused, in words that quote none of its data."""

from __future__ import annotations

import re

from sqlanon.errors import EngineError

TOLD = frozenset({"BinderException", "CatalogException", "IOException"})
"""Errors that are about names, paths and the words of a query, never about a value of a table."""

OUR_ERROR = "Invalid Input Error: attribute "
"""How an error begins that a macro of ours has raised."""


CSV_LINE = re.compile(r"[^\n]*\bCSV Error on Line: (\d+)")
"""How an error begins that tells of a line of a CSV file, and goes on by quoting it."""


def why_not_opened(path: str, error: Exception) -> str:
    """Why a file cannot be opened, and what to do about it."""
    text = str(error)
    if "lock" in text.lower():
        return f"{path} is open in another program{holder_of(error)}; close it there, or work on a copy"
    if type(error).__name__ == "OutOfMemoryException":
        return f"{path} cannot be opened: memory_limit is too small"
    reasons = {
        "not a valid DuckDB database": f"{path} is not a DuckDB file",
        "version number": f"{path} was made by a newer DuckDB; upgrade duckdb",
        "No such file or directory": f"{path} cannot be opened: no such file or folder",
        "Permission denied": f"{path} cannot be opened for writing; open it with read_only=True",
        "Read-only file system": f"{path} cannot be opened for writing; open it with read_only=True",
        "already attached": f"{path} is already open in this program; pass that connection instead",
        "different configuration": f"{path} is already open in this program; pass that connection instead",
    }
    return next(
        (reason for sign, reason in reasons.items() if sign in text),
        f"{path} cannot be opened ({type(error).__name__})",
    )


def holder_of(error: BaseException) -> str:
    """The process that has a file open, in brackets after a space; nothing if the database does not say."""
    holder = re.search(r"PID (\d+)", str(error))
    return f" (process {holder.group(1)})" if holder else ""


def is_in_use(error: BaseException | None) -> bool:
    """Whether a file cannot be opened because it is open already, in another program or in this one."""
    signs = "could not set lock|already attached|already exists|different configuration|file handle conflict"
    return error is not None and re.search(signs, str(error), re.IGNORECASE) is not None


def is_unwritable(error: BaseException | None) -> bool:
    """Whether a file can only be read."""
    return error is not None and re.search(r"permission denied|read-only", str(error), re.IGNORECASE) is not None


def is_overtaken(error: BaseException | None) -> bool:
    """Whether what was to be written has meanwhile been written by another connection."""
    signs = (
        ("ConstraintException", "duplicate key"),
        ("TransactionException", "duplicate key"),
        ("TransactionException", "write-write conflict on alter"),
        ("TransactionException", "altered by a different transaction"),
    )
    return is_taken(error) or any(type(error).__name__ == kind and sign in str(error).lower() for kind, sign in signs)


def refused(error: Exception, purpose: str, sql: str | None) -> EngineError:
    """The error for a step that failed; the database's own text, which can quote data, is only in ``original``."""
    return EngineError(f"the database stopped at {purpose}: {_reason(error)}", step=purpose, sql=sql, original=error)


def is_taken(error: BaseException | None) -> bool:
    """Whether a table could not be made because another connection has made one of its name, committed or not."""
    signs = (("CatalogException", "already exists"), ("TransactionException", "write-write conflict on create"))
    return any(type(error).__name__ == kind and sign in str(error) for kind, sign in signs)


def _reason(error: Exception) -> str:
    text = str(error)
    kind = type(error).__name__
    if (reason := _lacking(text, kind)) is not None:
        return reason
    if kind == "ConnectionException" and "closed" in text.lower():
        return "the connection is closed"
    if text.startswith(OUR_ERROR):
        return text.removeprefix("Invalid Input Error: ").splitlines()[0]
    if line := CSV_LINE.match(text):
        return (
            f"line {line[1]} of a CSV file does not fit the columns and types that its first rows tell; mend it, or "
            "read it by a query with options, such as FROM read_csv('file.csv', types = {'column': 'VARCHAR'})"
        )
    if kind in TOLD:
        return text.partition(" Error: ")[2].partition("\n")[0] or kind
    return kind


def _lacking(text: str, kind: str) -> str | None:
    """What there is too little of, if that is why a statement failed."""
    if "No space left on device" in text or "could not be written to disk" in text.lower():
        return "the disk is full"
    if "max_temp_directory_size" in text:
        return "its temp_directory is full; give it one with more room, or raise memory_limit"
    if kind == "OutOfMemoryException":
        return "it ran out of memory; raise memory_limit, or give it a temp_directory"
    return "the name of a file or folder is too long" if "File name too long" in text else None
