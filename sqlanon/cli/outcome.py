"""The end of a command: exit codes, and every failure as one message without a traceback."""

from __future__ import annotations

import errno
import os
import traceback
from dataclasses import asdict
from enum import IntEnum
from typing import Any, Self

import typer
from typer import BadParameter

from sqlanon.cli.output import say, write_event, write_json
from sqlanon.errors import (
    BudgetError,
    EngineError,
    PolicyError,
    SqlanonError,
    TargetError,
    TaxonomyError,
    UnsatisfiableError,
    VerificationError,
)
from sqlanon.report.document import printable


class ExitCode(IntEnum):
    """The ways in which a command ends; the only list of the codes, which the help and the guides show."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Self:
        """A code with its meaning."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    DONE = 0, "done, or met"
    FAILED = 1, "the database or the file system refused a step"
    USAGE = 2, "wrong usage, policy or taxonomy; or a target that is not free, or cannot be one"
    NOT_MET = (
        3,
        "not met: a table falls short or loses too much, a mechanism is not private, or nothing meets the policy",
    )
    OVERSPENT = 4, "the ledger has less budget left than was asked for"
    WITHDRAWN = 5, "the written release fell short, and was withdrawn"
    INTERRUPTED = 130, "interrupted"


EXIT_CODES: dict[type[SqlanonError], ExitCode] = {
    PolicyError: ExitCode.USAGE,
    TaxonomyError: ExitCode.USAGE,
    UnsatisfiableError: ExitCode.NOT_MET,
    BudgetError: ExitCode.OVERSPENT,
    VerificationError: ExitCode.WITHDRAWN,
    EngineError: ExitCode.FAILED,
    TargetError: ExitCode.USAGE,
}

LACKING = {
    errno.ENOMEM: "the command ran out of memory: give it more (ulimit -v), or fewer threads",
    errno.EMFILE: "the command may open no more files: raise the limit (ulimit -n)",
    errno.ENFILE: "the system can open no more files",
    errno.ENOSPC: "a disk is full, or the device that the output goes to",
    errno.EDQUOT: "the quota of a disk is used up",
    errno.EBADF: "the output cannot be written: it is not open for writing",
}
"""What there is too little of, or what was not opened, by the number of the error of the system."""

USAGE_ERRORS = BadParameter.__bases__
"""typer brings its own click from 0.2x on; this is the same class in all of them."""

SPELLINGS = (
    ("replace=True", "--replace"),
    ('replace="changed"', "--replace-if-changed"),
    ('replace="anything"', "--replace-anything"),
    ("ledger_mode=", "--ledger-mode "),
    ("ledger=", "--ledger"),
    ("where max_loss is", "where --max-loss is"),
    ("dataset=", "--dataset"),
    ("public=", "--public"),
    (" or partitions.fit", ""),
    ("`sqlanon ledger cap` or session.ledger.cap", "`sqlanon ledger cap`"),
    ("with session.taxonomies.load or `sqlanon taxonomy`", "with --taxonomy or `sqlanon taxonomy`"),
    ("accept_observed_domain=True", "accept_observed_domain = true"),
    ("open it with read_only=True", "write the release to a file"),
    ("memory_limit", "--memory-limit"),
    ("temp_directory", "--temp-directory"),
)
"""How a message of the Python interface is worded on the command line."""


def report_failure(error: BaseException, *, as_json: bool, as_events: bool, debug: bool) -> int:
    """Report a failure in words or as an event, and as JSON on stdout too if that was asked for.

    Returns:
        the exit code.
    """
    debugging = _debugging(error) if debug or os.environ.get("SQLANON_DEBUG", "0") not in ("", "0") else None
    code, document = _failure(error)
    if hasattr(error, "spent"):
        document["spent"] = error.spent
        document["problems"] += error.__notes__
    if as_events:
        write_event({"event": "failed", "exit_code": code, **document, **({"debug": debugging} if debugging else {})})
    else:
        say("\n".join(filter(None, (debugging, _text(error, document)))))
    if as_json:
        write_json({"error": document})
    return code


def _failure(error: BaseException) -> tuple[int, dict[str, Any]]:
    if isinstance(error, SqlanonError):
        message = getattr(error, "heading", str(error))
        document = _document(type(error).__name__, message, getattr(error, "problems", ()))
        if isinstance(error, UnsatisfiableError):
            relaxations = () if error.explanation is None else error.explanation.relaxations
            document["relaxations"] = [asdict(relaxation) for relaxation in relaxations]
        return EXIT_CODES.get(type(error), ExitCode.FAILED), document
    if isinstance(error, USAGE_ERRORS):
        return ExitCode.USAGE, _document("UsageError", error.format_message())  # type: ignore[attr-defined]
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return ExitCode.INTERRUPTED, _document("Interrupted", str(error) or "interrupted")
    number = errno.ENOMEM if isinstance(error, MemoryError) else getattr(error, "errno", None)
    if number in LACKING:
        return ExitCode.FAILED, _document("EngineError", LACKING[number])
    # Its text is left out: it could quote data.
    unexpected = f"{type(error).__name__} was not expected; this is a bug of sqlanon"
    return ExitCode.FAILED, _document(type(error).__name__, unexpected)


def _document(kind: str, message: str, problems: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"kind": kind, "message": _worded(message), "problems": [_worded(problem) for problem in problems]}


def _worded(message: str) -> str:
    for python, command_line in SPELLINGS:
        message = message.replace(python, command_line)
    return printable(message)


def _text(error: BaseException, document: dict[str, Any]) -> str:
    lines = [f"Error: {document['message']}", *(f"  - {problem}" for problem in document["problems"])]
    if isinstance(error, USAGE_ERRORS):
        context = getattr(error, "ctx", None)
        lines.append(f"Try '{context.command_path if context else 'sqlanon'} --help'.")
    elif document["kind"] not in {kind.__name__ for kind in EXIT_CODES} | {"Interrupted"}:
        lines.append("Please report it, with what --debug prints once you have made sure that it shows no data.")
    if topic := getattr(error, "guide", ""):
        lines.append(f"What to do about it: sqlanon guide {topic}")
    return "\n".join(lines)


def _debugging(error: BaseException) -> str:
    lines = ["Debugging: what follows may quote data.", "".join(traceback.format_exception(error))]
    if isinstance(error, EngineError):
        lines.append(f"Step: {error.step}\nSQL: {error.sql}\nDatabase: {error.original}")
    return "\n".join(lines)
