"""Output: data on stdout, messages and progress on stderr, exit codes and failure messages."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from datetime import timedelta
from enum import IntEnum
from typing import IO, TYPE_CHECKING, Any, Protocol, Self, TypeVar

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

if TYPE_CHECKING:
    from pathlib import Path

    from rich.progress import TaskID

    from sqlanon.methods.stages import Event
    from sqlanon.model.release import Result
    from sqlanon.report.document import Document


PIPE_WIDTH = 120  # characters per line in a file or a pipe


def write(text: str) -> None:
    """Write data to stdout; a reader may close the pipe early (``| head``) without an error."""
    try:
        _put(text, sys.stdout)
    except BrokenPipeError:
        silence(sys.stdout)
    except OSError as error:
        silence(sys.stdout)
        raise EngineError(f"the output cannot be written: {error.strerror}", step="output", original=error) from None


def show_version() -> None:
    from importlib.metadata import version

    from sqlanon.satellites import installed_version

    write(f"sqlanon {installed_version()} (DuckDB {version('duckdb')})\n")


def write_file(out: Path, text: str, what: str, *, replace: bool) -> None:
    """Write a text to a file in one step, and report it as ``what``."""
    from sqlanon.publish.files import cannot_be_written, staged_file

    with staged_file(out, replace=replace) as staged, cannot_be_written(out, what):
        staged.write_text(text, encoding="utf-8")
    say(f"Wrote the {what} to {out}.")


def write_json(document: dict[str, Any]) -> None:
    """Write a document to stdout; JSON has no infinite numbers, and null stands for them."""
    finite = json.loads(json.dumps(document, default=str), parse_constant=lambda _: None)
    write(json.dumps(finite, indent=2) + "\n")


def show(document: Document) -> None:
    """Write a document to stdout, in colour on a terminal."""
    from rich.console import Console

    from sqlanon.report.console import rendered

    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    written = io.StringIO()  # even while it captures, rich writes to a stream
    width = None if is_terminal else PIPE_WIDTH
    console = Console(file=written, force_terminal=is_terminal or None, highlight=False, width=width)
    for part in rendered(document):
        console.print(part)
    # On a pipe, rich pads every line to the width.
    write("".join(f"{line.rstrip()}\n" for line in written.getvalue().splitlines()))


def put(result: Result, *, as_json: bool, **more: Any) -> None:
    """Write a result to stdout: as a document, or as JSON with more keys."""
    if as_json:
        write_json({**result.model_dump(mode="json"), **more})
    else:
        show(result.document())


def say(text: str) -> None:
    try:
        _put(f"{printable(text)}\n", sys.stderr)
    except OSError:
        silence(sys.stderr)


def write_event(document: dict[str, Any]) -> None:
    say(json.dumps(document, default=str))


def _put(text: str, stream: IO[str] | None) -> None:
    """Write a text to a stream, which a program without a console lacks, and flush."""
    if stream is not None:
        stream.write(text)
        stream.flush()


def silence(stream: IO[str] | None) -> None:
    """Discard all further output, including what Python flushes at exit."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


NOTHING_PUBLISHED = "interrupted; nothing was published"
MAYBE_PUBLISHED = "interrupted while it was published: what is there is either as it was, or new and whole"
PUBLISHED = "interrupted after it was published"


@contextmanager
def progress(*, as_events: bool, quiet: bool) -> Iterator[Callable[[Event], None]]:
    """Observe the progress of a run: as lines of JSON, or on a terminal unless ``quiet``.

    An interrupted run raises KeyboardInterrupt with a text on the state of the release.
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
            # Progress by nodes, or by the current statement; None if unknown.
            done, size = (0.0, None) if event.share is None else (event.share, 1)
            if event.state == "finished":
                done, size = 1, 1
            elif event.lattice_nodes is not None:
                done, size = event.checked_nodes or 0, event.lattice_nodes
            left = "" if event.seconds_left is None else f"{timedelta(seconds=round(event.seconds_left))} left"
            display.update(lines[event.stage], completed=done, total=size, left=left, doing=_doing(event))

        yield show


class Named(Protocol):
    """A step of long work."""

    @property
    def name(self) -> str: ...


Step = TypeVar("Step", bound=Named)


def watched_steps(left: Sequence[Step], count: int) -> Generator[Step]:
    """Yield the steps that are left, of ``count``, and show on stderr which is next and how long all will take."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    yield from (_steps_on_a_terminal if is_terminal else _steps_in_lines)(left, count)


def _steps_in_lines(left: Sequence[Step], count: int) -> Generator[Step]:
    began = time.monotonic()
    for done, step in enumerate(left):
        seconds = (time.monotonic() - began) * (len(left) - done) / max(1, done)
        until = f", about {timedelta(seconds=round(seconds))} left" if done else ""
        say(f"[{count - len(left) + done + 1} of {count}{until}] {step.name}")
        yield step


def _steps_on_a_terminal(left: Sequence[Step], count: int) -> Generator[Step]:
    from rich import progress as shown
    from rich.console import Console

    columns = (
        shown.BarColumn(bar_width=24),
        shown.MofNCompleteColumn(),
        shown.TimeElapsedColumn(),
        shown.TimeRemainingColumn(),
        shown.TextColumn("{task.description}", markup=False),
    )
    # The speed is that of the last hour: steps are few, and of different lengths.
    with shown.Progress(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=3600) as display:
        task = display.add_task("", total=count, completed=count - len(left))
        for step in left:
            display.update(task, description=step.name)
            yield step
            display.advance(task)


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


class ExitCode(IntEnum):
    """How a command ends; the help and the guides show this list."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Self:
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

# Messages of the Python interface, as worded on the command line.
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
    ('{"patients": "patients.csv", "visits": "visits.csv"}', "patients=patients.csv visits=visits.csv"),
    ("memory_limit", "--memory-limit"),
    ("temp_directory", "--temp-directory"),
)


def report_failure(error: BaseException, *, as_json: bool, as_events: bool, debug: bool) -> int:
    """Report a failure in words or as an event, and optionally as JSON on stdout; return the exit code."""
    debugging = None
    if debug or os.environ.get("SQLANON_DEBUG", "0") not in ("", "0"):
        debugging = f"Debugging: what follows may quote data.\n{''.join(traceback.format_exception(error))}"
        if isinstance(error, EngineError):
            debugging += f"\nStep: {error.step}\nSQL: {error.sql}\nDatabase: {error.original}"
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


def _is_usage_error(error: BaseException) -> bool:
    from typer import BadParameter  # here, because the version is shown without typer

    return isinstance(error, BadParameter.__bases__)  # recent typers bring their own click


def _failure(error: BaseException) -> tuple[int, dict[str, Any]]:
    from typer import Abort

    if isinstance(error, SqlanonError):
        message = getattr(error, "heading", str(error))
        document = _document(type(error).__name__, message, getattr(error, "problems", ()))
        if isinstance(error, UnsatisfiableError):
            relaxations = () if error.explanation is None else error.explanation.relaxations
            document["relaxations"] = [asdict(relaxation) for relaxation in relaxations]
        return EXIT_CODES.get(type(error), ExitCode.FAILED), document
    if _is_usage_error(error):
        return ExitCode.USAGE, _document("UsageError", error.format_message())  # type: ignore[attr-defined]
    if isinstance(error, KeyboardInterrupt | Abort):
        return ExitCode.INTERRUPTED, _document("Interrupted", str(error) or "interrupted")
    number = errno.ENOMEM if isinstance(error, MemoryError) else getattr(error, "errno", None)
    if number in LACKING:
        return ExitCode.FAILED, _document("EngineError", LACKING[number])
    # Omit its text, which could quote data.
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
    if _is_usage_error(error):
        context = getattr(error, "ctx", None)
        lines.append(f"Try '{context.command_path if context else 'sqlanon'} --help'.")
    elif document["kind"] not in {kind.__name__ for kind in EXIT_CODES} | {"Interrupted"}:
        lines.append("Please report it, with what --debug prints once you have made sure that it shows no data.")
    if topic := getattr(error, "guide", ""):
        lines.append(f"What to do about it: sqlanon guide {topic}")
    return "\n".join(lines)
