"""The commands put together, and the way in."""

from __future__ import annotations

import io
import os
import sys
from copy import copy
from typing import Annotated, Any, NoReturn

import typer

from sqlanon.cli import (
    evaluation,
    lattice,
    ledger,
    outcome,
    plan,
    publishing,
    releases,
    reporting,
    suggesting,
    tables,
    taxonomy,
)
from sqlanon.cli.demo import demo
from sqlanon.cli.guide import guide
from sqlanon.cli.interrupt import as_interruption, ignore_interrupts
from sqlanon.cli.outcome import ExitCode
from sqlanon.cli.output import silence, write_event
from sqlanon.cli.publishing import apply, fit
from sqlanon.cli.sessions import on_this_machine
from sqlanon.cli.version import show_version

app = typer.Typer(
    help="Anonymize tables where they already live, in SQL inside DuckDB.",
    epilog="Exit codes: " + ". ".join(f"{code} {code.meaning}" for code in ExitCode) + ".",
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
DAILY, PIPELINES, BUDGET, RESEARCH, SQL = "Every day", "Pipelines", "Privacy budget", "Research", "SQL and editors"
"""The panels of the help, in their order."""

# In the order of a first day; typer puts groups at the end of their panel.
app.command(rich_help_panel=DAILY)(demo)
app.command(rich_help_panel=DAILY)(guide)
app.command(rich_help_panel=DAILY)(on_this_machine(suggesting.init))
app.command(rich_help_panel=DAILY)(on_this_machine(publishing.measure))
app.command(rich_help_panel=DAILY)(on_this_machine(publishing.run))
app.command(rich_help_panel=DAILY)(on_this_machine(reporting.report))
app.command(rich_help_panel=DAILY)(on_this_machine(publishing.verify))
app.command(rich_help_panel=DAILY)(on_this_machine(publishing.compare_releases))
app.command(rich_help_panel=DAILY)(on_this_machine(lattice.lattice))
app.add_typer(taxonomy.app, name="taxonomy", rich_help_panel=DAILY)
app.command(rich_help_panel=PIPELINES)(on_this_machine(fit))
app.command(rich_help_panel=PIPELINES)(on_this_machine(apply))
app.command(rich_help_panel=PIPELINES)(on_this_machine(tables.flatten))
app.command(rich_help_panel=PIPELINES)(on_this_machine(tables.generalize))
app.command(rich_help_panel=PIPELINES)(on_this_machine(reporting.contract))
app.add_typer(releases.app, name="releases", rich_help_panel=PIPELINES)
app.command(rich_help_panel=BUDGET)(plan.delta)
app.command(rich_help_panel=BUDGET)(on_this_machine(evaluation.audit_privacy))
app.add_typer(ledger.app, name="ledger", rich_help_panel=BUDGET)
app.add_typer(plan.app, name="plan", rich_help_panel=BUDGET)
app.command(rich_help_panel=SQL)(on_this_machine(publishing.explain))
app.command(rich_help_panel=SQL)(on_this_machine(tables.install))
app.command(rich_help_panel=SQL)(tables.sql)
app.command(rich_help_panel=SQL)(tables.schema)
app.command(rich_help_panel=RESEARCH)(on_this_machine(evaluation.reproduce))


COMPLETION = "_SQLANON_COMPLETE"
"""The environment variable by which a shell asks what may follow."""


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
    """Nothing to do: ``--debug`` is read off the command line, so that it also holds for errors in it."""


def command_line(name: str = "") -> Any:
    """The command with all its subcommands; or with the one of a name alone: to make them all takes 0.01 s."""
    made = typer.main.get_command(_alone(name) or app)
    _leave_out_types(made)
    return made


def _alone(name: str) -> typer.Typer | None:
    """The command with one subcommand, or one group of them; None if there is none of this name."""
    alone = copy(app)
    alone.registered_groups = [group for group in app.registered_groups if group.name == name]
    alone.registered_commands = [
        command
        for command in app.registered_commands
        if command.callback is not None and typer.main.get_command_name(command.callback.__name__) == name
    ]
    return alone if alone.registered_groups or alone.registered_commands else None


def _leave_out_types(command: Any) -> None:
    """Have help name no types of Python: what an option takes is said by its metavar, and of flags there is nothing."""
    for param in (*command.params, command.get_help_option(typer.Context(command))):
        shown = "" if isinstance(param, typer.core.TyperArgument) else param.metavar or ""
        param.display_type_rich = lambda shown=shown, **_context: shown
    for below in getattr(command, "commands", {}).values():
        _leave_out_types(below)


def main() -> NoReturn:
    """Run the command line and exit."""
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
        # The reader of a help has had enough. Rich, which writes it, ends the program; not if that is only seen later.
        silence(sys.stdout)
        return ExitCode.DONE
    except (Exception, KeyboardInterrupt) as error:
        ignore_interrupts()
        ended_by = as_interruption(error)
        return outcome.report_failure(ended_by, as_json="--json" in arguments, as_events=as_events, debug=debug)
