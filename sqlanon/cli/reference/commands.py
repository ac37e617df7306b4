"""The page of commands: what their help says, and the exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlanon.cli.options import MACHINE
from sqlanon.cli.outcome import ExitCode

HEAD = """# Commands

Every command with its arguments and options, and the exit codes.
`sqlanon COMMAND --help` shows the same of one command. Data goes to stdout, messages go to stderr.

"""
MACHINE_HEADING = "Options for the machine"


def page() -> str:
    """The page as Markdown."""
    from sqlanon.cli.app import command_line

    whole = command_line()
    of_machine = next(each for each in map(_machine_options, whole.commands.values()) if each)
    codes = "\n".join(f"- `{code}`: {code.meaning}." for code in ExitCode)
    ends = [f"## {MACHINE_HEADING}\n\n{_list(of_machine)}\n\n", f"## Exit codes\n\n{codes}\n"]
    return "".join([HEAD, *_commands("sqlanon", whole, "##"), *ends])


def _commands(path: str, group: Any, level: str) -> Iterator[str]:
    for name, command in group.commands.items():
        below = f"{path} {name}"
        is_group = hasattr(command, "commands")
        if is_group and not command.invoke_without_command:
            yield f"{level} {name}\n\n{command.help}\n\n"
        else:
            yield f"{level} {below.removeprefix('sqlanon ')}\n\n" + "".join(
                f"{each}\n\n" for each in _parts(below, command)
            )
        if is_group:
            yield from _commands(below, command, f"{level}#")


def _parts(path: str, command: Any) -> Iterator[str]:
    """What it does, how it is called, an example, and what it takes."""
    words, _, example = command.help.partition("Example: ")
    arguments = [_spelled(each) for each in command.params if each.param_type_name == "argument"]
    of_machine = _machine_options(command)
    own = [each for each in command.params if each not in of_machine]
    yield words.strip()
    yield f"```text\n{' '.join([path, *arguments, *['[OPTIONS]'] * (len(own) > len(arguments))])}\n```"
    if example:
        yield f"Example: `{' '.join(example.split())}`"
    if own:
        yield _list(own)
    if of_machine:
        yield f"And the [{MACHINE_HEADING.lower()}](#{MACHINE_HEADING.lower().replace(' ', '-')})."


def _machine_options(command: Any) -> list[Any]:
    named = {each.name: each for each in command.params}
    return [named[name] for name in MACHINE] if MACHINE.keys() <= named.keys() else []


def _list(parameters: list[Any]) -> str:
    return "\n".join(map(_parameter, parameters))


def _parameter(parameter: Any) -> str:
    """A line: how it is spelled, what it does, whether it must be given, and what holds without it."""
    default = parameter.default
    is_said = default not in (None, False, (), []) and not callable(default)
    remarks = [" Required."] * parameter.required + [f" Default: `{default}`."] * is_said
    return f"- `{_spelled(parameter)}`: {parameter.help}{''.join(remarks)}"


def _spelled(parameter: Any) -> str:
    name = parameter.metavar or ""
    if parameter.param_type_name == "argument":
        return name or str(parameter.name).upper()
    return " ".join(filter(None, [*parameter.opts, *parameter.secondary_opts, name]))
