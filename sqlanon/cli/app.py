"""The command line: all commands in their panels, and its entry point."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from copy import copy
from typing import Annotated, Any, NoReturn

import typer

from sqlanon.cli import budget, examine, init, publish, survey, taxonomy_commands, verdicts
from sqlanon.cli.guide import demo, guide
from sqlanon.cli.interrupt import as_interruption, ignore_interrupts
from sqlanon.cli.output import ExitCode, report_failure, show_version, silence, write_event
from sqlanon.satellites import all_offered

app = typer.Typer(
    help="Anonymize tables where they already live, in SQL inside DuckDB.",
    epilog="Exit codes: " + ". ".join(f"{code} {code.meaning}" for code in ExitCode) + ".",
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
# Panels of the help, in the order of first use; typer puts groups at the end of their panel.
PANELS: dict[str, list[Callable[..., None] | tuple[str, typer.Typer]]] = {
    "Every day": [
        demo,
        guide,
        init.init,
        verdicts.measure,
        survey.risk,
        publish.run,
        verdicts.report,
        verdicts.verify,
        survey.compare,
        examine.compare_releases,
        examine.lattice,
        ("taxonomy", taxonomy_commands.app),
    ],
    "Pipelines": [
        publish.fit,
        publish.apply,
        publish.flatten,
        publish.generalize,
        examine.contract,
        ("releases", publish.releases_app),
    ],
    "Privacy budget": [budget.delta, ("ledger", budget.ledger_app), ("plan", budget.plan_app)],
    "SQL and editors": [examine.explain, publish.install, publish.sql, publish.schema],
}

for place, offer in all_offered("commands").items():
    PANELS.setdefault(place.partition("/")[0], []).append(offer)

for panel, below in PANELS.items():
    for each in below:
        if isinstance(each, tuple):
            name, group = each
            app.add_typer(group, name=name, rich_help_panel=panel)
        else:
            app.command(rich_help_panel=panel)(each)

COMPLETION = "_SQLANON_COMPLETE"  # the environment variable by which a shell asks for completions


def _show_version(wanted: bool) -> None:
    if wanted:
        show_version()
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", hidden=True)] = False,
) -> None:
    """Declare global options; ``--debug`` is read off the command line, so that it also applies to usage errors."""


def command_line(first: str = "") -> Any:
    """Build the command with its subcommands; all of them take 0.03 s.

    Args:
        first: the first argument. A subcommand's name builds only this one, and ``--help`` all without their options.
    """
    chosen = copy(app)
    if first == "--help":
        chosen.registered_commands = [_without_options(each) for each in app.registered_commands]
    elif first in (names := {_name_of(each): each for each in (*app.registered_groups, *app.registered_commands)}):
        chosen.registered_groups = [each for each in app.registered_groups if each is names[first]]
        chosen.registered_commands = [each for each in app.registered_commands if each is names[first]]
    made = typer.main.get_command(chosen)
    _leave_out_types(made)
    return made


def _name_of(info: Any) -> str:
    return info.name or typer.main.get_command_name(info.callback.__name__)


def _without_options(command: Any) -> Any:
    listed = copy(command)
    listed.name, listed.help, listed.callback = _name_of(command), command.callback.__doc__, lambda: None
    return listed


def _leave_out_types(command: Any) -> None:
    """Hide Python types in the help: metavars describe the options' values, and flags need no description."""
    for param in (*command.params, command.get_help_option(typer.Context(command))):
        shown = "" if isinstance(param, typer.core.TyperArgument) else param.metavar or ""
        param.display_type_rich = lambda shown=shown, **_context: shown
    for below in getattr(command, "commands", {}).values():
        _leave_out_types(below)


def main() -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_run(sys.argv[1:] or ["--help"]))


def _run(arguments: list[str]) -> int:
    if COMPLETION in os.environ:
        command_line()(prog_name="sqlanon")  # answers the shell, and exits
    as_events, debug = "--events" in arguments, "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        command = command_line(arguments[0] if arguments else "")
        # Not app(...): some versions of typer end an interrupted command there without a word.
        with command.make_context("sqlanon", arguments) as context:
            command.invoke(context)
        ignore_interrupts()
        if as_events:
            write_event({"event": "done", "exit_code": ExitCode.DONE})
        return ExitCode.DONE
    except typer.Exit as end:
        if as_events:
            write_event({"event": "done", "exit_code": end.exit_code})
        return end.exit_code
    except (BrokenPipeError, SystemExit):
        # The reader of a help page has closed the pipe: rich ends the program, or the error shows only later.
        silence(sys.stdout)
        return ExitCode.DONE
    except (Exception, KeyboardInterrupt) as error:
        ignore_interrupts()
        ended_by = as_interruption(error)
        return report_failure(ended_by, as_json="--json" in arguments, as_events=as_events, debug=debug)
