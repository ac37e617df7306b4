"""Commands made of methods: an argument of a method is an option, and its docstring has the help text."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, get_origin

from typer import Argument, Option

from sqlanon.api.connection import connect
from sqlanon.api.session import Session
from sqlanon.cli.options import MACHINE, SPELLED, Spelled
from sqlanon.cli.sessions import on_machine
from sqlanon.model.docstrings import docstring_of

KINDS = {"bool": bool, "int": int, "float": float}


class Command:
    """A function of the command line, and the method that does its work.

    Typer makes options of its signature. That has the arguments of the method which the command line spells and the
    function does not name, the function's own parameters, and the options for the machine, which are arguments of
    :func:`connect`.
    """

    def __init__(self, function: Callable[..., None], method: object, spelled: dict[str, Spelled]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._method = method
        self._spelled = spelled

    @functools.cached_property
    def __signature__(self) -> inspect.Signature:
        """The signature, made when Typer asks for it, since a run needs that of one command."""
        named = inspect.signature(self._function, eval_str=True).parameters
        own = [each.replace(kind=each.KEYWORD_ONLY) for each in named.values() if each.kind is not each.VAR_KEYWORD]
        handed_on = [each for each in _parameters(self._method, self._spelled) if each.name not in named]
        parameters = [*handed_on, *own, *_machine_parameters()]
        return inspect.Signature(sorted(parameters, key=lambda each: each.default is not each.empty))

    def __call__(self, **typed: Any) -> None:
        """Call the function without the options that the user left out, so that the defaults of the method hold."""
        given = {name: value for name, value in typed.items() if value is not None and value != []}
        machine = {name: given.pop(name) for name in MACHINE if name in given}
        own, spelled = inspect.signature(self._function).parameters, SPELLED | self._spelled
        for name in given:
            if name not in own and (read := spelled[name].read) is not None:
                given[name] = read(given[name])
        with on_machine(machine):
            self._function(**given)


def command(method: object = None, **spelled: Spelled) -> Callable[[Callable[..., None]], Command]:
    """Make a command of a function that opens a session.

    Args:
        method: a method of a session, whose arguments the function takes as ``**given`` and hands on.
        spelled: the arguments that this command spells in another way than :data:`SPELLED`, and the names that the
            method takes as ``**settings``.
    """
    return lambda function: Command(function, method, spelled)


def _parameters(method: Any, spelled: dict[str, Spelled]) -> Iterator[inspect.Parameter]:
    """The arguments of a method that the command line spells, as Typer reads them."""
    if method is None:
        return
    texts = docstring_of(method).members
    arguments = dict(inspect.signature(method).parameters)
    if "settings" in arguments:
        added = [name for name in spelled if name not in arguments]
        arguments |= {name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in added}
    for name, argument in arguments.items():
        if (how := spelled.get(name, SPELLED.get(name))) is None:
            continue
        kind = how.kind or _kind(argument)
        text = (how.help or _sentence(texts.get(name, name), name)).removesuffix(".")
        settings: dict[str, Any] = {
            "metavar": how.metavar or None,
            "help": f"{text}; repeat it." if get_origin(kind) is list else f"{text}.",
            "rich_help_panel": how.panel,
            "min": how.min,
        }
        is_required = argument.default is argument.empty
        if is_required and argument.kind is argument.POSITIONAL_OR_KEYWORD and not how.flag:
            info = Argument(**settings)
        else:
            flag = how.flag or f"--{name.replace('_', '-')}"
            info = Option(f"{flag}/--no-{flag[2:]}" if argument.default is True else flag, **settings)
        # An argument whose default is None or () is handed on only if the user gives it.
        default = argument.default if argument.default != () else None
        yield argument.replace(
            kind=argument.KEYWORD_ONLY,
            annotation=Annotated[kind if is_required or default is not None else kind | None, info],
            default=default,
        )


@functools.cache
def _machine_parameters() -> list[inspect.Parameter]:
    return [*_parameters(connect, MACHINE)]


def _kind(argument: inspect.Parameter) -> Any:
    """The type of an option: a text, unless its argument is a number, a flag, or several texts."""
    annotation = str(argument.annotation).removesuffix(" | None")
    if "Sequence[" in annotation or "Mapping[" in annotation:
        return list[str]
    return KINDS.get(annotation, str)


def _sentence(text: str, name: str) -> str:
    """The first sentence on an argument, without the markup of Python; "as in ``anonymize``" is looked up there.

    So ``how many rows a file holds. None is ...`` becomes ``How many rows a file holds``.
    """
    if text.startswith("as in"):
        text = docstring_of(Session.anonymize).members[name]
    sentence = re.split(r"\.(?: |$)", re.sub(r'`"?([^`]*?)"?`', r"\1", text), maxsplit=1)[0]
    return f"{sentence[0].upper()}{sentence[1:]}"
