"""What the user sees: data on stdout, talk on stderr."""

from __future__ import annotations

import json
import os
import sys
from typing import IO, TYPE_CHECKING, Any

from sqlanon.errors import EngineError
from sqlanon.report.document import printable

if TYPE_CHECKING:
    from sqlanon.model.release import Result
    from sqlanon.report.document import Document

PIPE_WIDTH = 120
"""Columns of a table that goes to a file or a pipe."""


def write(text: str) -> None:
    """Write data to stdout; a reader may stop early (``| head``) without an error."""
    try:
        _put(text, sys.stdout)
    except BrokenPipeError:
        silence(sys.stdout)
    except OSError as error:
        silence(sys.stdout)
        raise EngineError(f"the output cannot be written: {error.strerror}", step="output", original=error) from None


def write_json(document: dict[str, Any]) -> None:
    """Write one JSON document to stdout."""
    write(json.dumps(document, indent=2, default=str) + "\n")


def show(document: Document) -> None:
    """Write a document to stdout, in colour on a terminal."""
    from rich.console import Console

    from sqlanon.report.console import rendered

    console = Console(highlight=False, width=None if sys.stdout and sys.stdout.isatty() else PIPE_WIDTH)
    with console.capture() as capture:
        for part in rendered(document):
            console.print(part)
    # On a pipe rich pads every line to the width.
    write("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))


def put(result: Result, *, as_json: bool, **more: Any) -> None:
    """Write a result to stdout: as a document, or as JSON with more keys."""
    if as_json:
        write_json({**result.model_dump(mode="json"), **more})
    else:
        show(result.document())


def say(text: str) -> None:
    """Write a message to the user on stderr."""
    try:
        _put(f"{printable(text)}\n", sys.stderr)
    except OSError:
        silence(sys.stderr)


def write_event(document: dict[str, Any]) -> None:
    """Write one event to stderr at once, as a line of JSON."""
    say(json.dumps(document, default=str))


def _put(text: str, stream: IO[str] | None) -> None:
    """Write a text at once to a stream, which a program without a console does not have."""
    if stream is not None:
        stream.write(text)
        stream.flush()


def silence(stream: IO[str] | None) -> None:
    """Let all further output vanish, what Python flushes at its end included."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
