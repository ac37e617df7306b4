"""Output: data on stdout, messages and the progress of a run on stderr."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from typing import IO, TYPE_CHECKING, Any

from sqlanon.errors import EngineError
from sqlanon.report.document import printable

if TYPE_CHECKING:
    from pathlib import Path

    from rich.progress import TaskID

    from sqlanon.model.events import Event
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


def show_version() -> None:
    """Write the versions of this package and of DuckDB to stdout."""
    from importlib.metadata import version

    from sqlanon.model.extras import installed_version

    write(f"sqlanon {installed_version()} (DuckDB {version('duckdb')})\n")


def write_file(out: Path, text: str, what: str, *, replace: bool) -> None:
    """Write a text to a file, beside its place first, and say so; ``what`` is in it, in a word.

    Raises:
        EngineError, TargetError: it is there and may not be replaced, or cannot be written.
    """
    from sqlanon.publish.files import cannot_be_written, staged_file

    with staged_file(out, replace=replace) as staged, cannot_be_written(out, what):
        staged.write_text(text, encoding="utf-8")
    say(f"Wrote the {what} to {out}.")


def write_json(document: dict[str, Any]) -> None:
    """Write one JSON document to stdout."""
    write(json.dumps(document, indent=2, default=str) + "\n")


def show(document: Document) -> None:
    """Write a document to stdout, in colour on a terminal."""
    from rich.console import Console

    from sqlanon.report.console import rendered

    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    written = io.StringIO()  # rich writes to a stream also while it captures
    width = None if is_terminal else PIPE_WIDTH
    console = Console(file=written, force_terminal=is_terminal or None, highlight=False, width=width)
    for part in rendered(document):
        console.print(part)
    # On a pipe rich pads every line to the width.
    write("".join(f"{line.rstrip()}\n" for line in written.getvalue().splitlines()))


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


NOTHING_PUBLISHED = "interrupted; nothing was published"
MAYBE_PUBLISHED = "interrupted while it was published: what is there is either as it was, or new and whole"
PUBLISHED = "interrupted after it was published"


@contextmanager
def progress(*, as_events: bool, quiet: bool) -> Iterator[Callable[[Event], None]]:
    """Observe the progress of a run.

    Args:
        as_events: whether each event is written as a line of JSON.
        quiet: whether nothing is shown even if there is a terminal.

    Raises:
        KeyboardInterrupt: the run was interrupted; the text says what became of the release.
    """
    latest: list[Event] = []
    shown: AbstractContextManager[Callable[[Event], None]] = nullcontext(lambda _event: None)
    if as_events:
        shown = nullcontext(lambda event: write_event(event.document()))
    elif not quiet and sys.stderr is not None and sys.stderr.isatty():
        shown = _on_a_terminal()
    with shown as show:

        def observer(event: Event) -> None:
            latest[:] = [event]
            show(event)

        try:
            yield observer
        except KeyboardInterrupt:
            became = NOTHING_PUBLISHED
            if latest and latest[0].stage == "publish":
                became = PUBLISHED if latest[0].state == "finished" else MAYBE_PUBLISHED
            raise KeyboardInterrupt(became) from None


@contextmanager
def _on_a_terminal() -> Iterator[Callable[[Event], None]]:
    """Show a line for each stage that has begun; all of them vanish at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.fields[doing]}", markup=False),
    )
    lines: dict[str, TaskID] = {}
    with Progress(*columns, console=Console(stderr=True), transient=True) as display:

        def show(event: Event) -> None:
            if event.state == "started":
                lines[event.stage] = display.add_task(event.stage, total=None, left="", doing="")
                return
            done, size = _extent(event)
            left = "" if event.seconds_left is None else f"{timedelta(seconds=round(event.seconds_left))} left"
            display.update(lines[event.stage], completed=done, total=size, left=left, doing=_doing(event))

        yield show


def _extent(event: Event) -> tuple[float, float | None]:
    """Return the work that is done, and all of it: nodes, or the present statement; None if that is not known."""
    if event.state == "finished":
        return 1, 1
    if event.lattice_nodes is not None:
        return event.checked_nodes or 0, event.lattice_nodes
    return (0, None) if event.share is None else (event.share, 1)


def _doing(event: Event) -> str:
    if event.lattice_nodes is None:
        share = "" if event.share is None else f"{event.share:.0%}"
        return " ".join(f"{share:>4} {printable(event.step)}".splitlines()) if event.step else ""
    words = [f"{event.checked_nodes or 0:,} of {event.lattice_nodes:,} nodes checked"]
    if event.left_rows is not None:
        words.append(f"{event.left_rows:,} rows left")
    if event.loss is not None:
        node = "".join(f", {name} {level}" for name, level in (event.node or {}).items())
        words.append(f"best loss {event.loss:,.6g}{printable(node)}")
    if event.lower_bound is not None:
        words.append(f"at least {event.lower_bound:,.6g}")
    if event.gap is not None and event.loss:
        words.append(f"gap {event.gap / event.loss:.2%}")
    return ", ".join(words)
