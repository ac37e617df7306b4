"""Commands made from methods, and the sessions that they open.

A method's argument is an option, and its docstring has the help text.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_origin

from typer import Argument, BadParameter, Option

from sqlanon.api.connection import check_resources, connect
from sqlanon.api.session import Session
from sqlanon.cli.interrupt import interruptible
from sqlanon.cli.options import MACHINE, SPELLED, Spelled, csv_settings
from sqlanon.engines.locks import A_MOMENT, IN_USE, PATIENCE, retry_while_locked
from sqlanon.errors import EngineError
from sqlanon.model.destination import Destination, refuse_file_like
from sqlanon.model.docstrings import docstring_of
from sqlanon.model.names import without_secret

if TYPE_CHECKING:
    from sqlanon.model.taxonomy.taxonomy import Taxonomy

KINDS = {"bool": bool, "int": int, "float": float}

_machine: ContextVar[Mapping[str, Any]] = ContextVar("machine", default={})  # noqa: B039


class Command:
    """A function of the command line, and the method that does its work.

    Typer makes options from its signature: the method's arguments that the command line spells and the function does
    not name, the function's own parameters, and the options for the machine, which are arguments of :func:`connect`.
    """

    def __init__(self, function: Callable[..., None], method: object, spelled: dict[str, Spelled]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._method = method
        self._spelled = spelled

    @functools.cached_property
    def __signature__(self) -> inspect.Signature:
        """The signature, made on demand, because a run needs only that of one command."""
        named = inspect.signature(self._function, eval_str=True).parameters
        own = [each.replace(kind=each.KEYWORD_ONLY) for each in named.values() if each.kind is not each.VAR_KEYWORD]
        handed_on = [each for each in _parameters(self._method, self._spelled) if each.name not in named]
        parameters = [*handed_on, *own, *_machine_parameters()]
        return inspect.Signature(sorted(parameters, key=lambda each: each.default is not each.empty))

    def __call__(self, **typed: Any) -> None:
        """Call the function without options that the user left out, so that the method's defaults apply."""
        given = {name: value for name, value in typed.items() if value is not None and value != []}
        machine = {name: given.pop(name) for name in MACHINE if name in given}
        own, spelled = inspect.signature(self._function).parameters, SPELLED | self._spelled
        for name in given:
            if name not in own and (read := spelled[name].read) is not None:
                given[name] = read(given[name])
        # For the sessions that it opens.
        token = _machine.set(machine)
        try:
            self._function(**given)
        finally:
            _machine.reset(token)


def command(method: object = None, **spelled: Spelled) -> Callable[[Callable[..., None]], Command]:
    """Make a command of a function, which passes the arguments of ``method`` on as ``**given``.

    ``spelled`` are arguments with another spelling than in :data:`SPELLED`, and names of ``**settings``.
    """
    return lambda function: Command(function, method, spelled)


def _parameters(method: Any, spelled: dict[str, Spelled]) -> Iterator[inspect.Parameter]:
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
        # An argument with the default None or () is passed on only if the user gives it.
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
    """Return the type of an option: text, unless its argument is a number, a flag, or a sequence of texts."""
    annotation = str(argument.annotation).removesuffix(" | None")
    if "Sequence[" in annotation or "Mapping[" in annotation:
        return list[str]
    return KINDS.get(annotation, str)


def _sentence(text: str, name: str) -> str:
    """Return the first sentence on an argument without markup; "as in ``anonymize``" is looked up there.

    ``how many rows a file holds. None is ...`` becomes ``How many rows a file holds``.
    """
    if text.startswith("as in"):
        text = docstring_of(Session.anonymize).members[name]
    sentence = re.split(r"\.(?: |$)", re.sub(r'`"?([^`]*?)"?`', r"\1", text), maxsplit=1)[0]
    return f"{sentence[0].upper()}{sentence[1:]}"


def loading_options() -> list[str]:
    """List the options of this command that another command needs for the same source."""
    machine = _machine.get()
    loaded = [word for name in machine.get("extensions", ()) for word in ("--load", name)]
    loaded += [word for setting in machine.get("csv", ()) for word in ("--csv", setting)]
    return [*loaded, "--rows", without_secret(machine["rows"])] if "rows" in machine else loaded


def existing(database: Path, *, read_only: bool = True, ledger: Path | None = None) -> AbstractContextManager[Session]:
    if not database.exists():
        raise BadParameter(f"the file {database} does not exist", param_hint="--db")
    return connected(database, read_only=read_only, ledger=ledger)


def existing_or_new(database: Path) -> AbstractContextManager[Session]:
    if str(database) == ":memory:":
        raise BadParameter("a database in memory would be gone at once; give the path of a file", param_hint="--db")
    return connected(database)


@contextmanager
def reading(
    database: Path | None, taxonomies: Mapping[str, Taxonomy] | None = None, *, ledger: Path | None = None
) -> Iterator[Session]:
    """Open a session that changes no file but its ledger: on a read-only warehouse, or in memory."""
    try:
        with connected(ledger=ledger) if database is None else existing(database, ledger=ledger) as session:
            if taxonomies:
                session.taxonomies.load_all(taxonomies)
            yield session
    except EngineError as error:
        if database is None and error.step == "name":
            raise BadParameter(f"{error}; a table needs --db, the file that it is in") from None
        if database is None and error.step in ("source", "format"):
            raise BadParameter(str(error)) from None
        raise


@contextmanager
def writing(
    database: Path | None,
    into: Destination,
    ledger: Path | None = None,
    *,
    is_charged: bool = False,
    taxonomies: Mapping[str, Taxonomy] | None = None,
) -> Iterator[Session]:
    """Open a session that can write the target, or, for a file or a folder, only the list of releases.

    A charge is written to the ledger's file, or else to the warehouse.
    """
    from sqlanon.releases.release_table import waiting_folder

    with _opened_for(database, into, ledger, is_charged=is_charged) as session:
        if taxonomies:
            session.taxonomies.load_all(taxonomies)
        yield session
    # Rows of releases wait beside a warehouse that was open read-only, so that others could read it. The list includes
    # them even if the warehouse cannot be written now.
    if database is not None and waiting_folder(database).exists():
        with suppress(EngineError), connected(database) as session:
            session.releases._take_up()


def _opened_for(
    database: Path | None, into: Destination, ledger: Path | None, *, is_charged: bool
) -> AbstractContextManager[Session]:
    if into.kind != "table" and (ledger is not None or not is_charged or database is None):
        if is_charged and database is not None and ledger is not None:
            return _noted(database, ledger)
        return reading(database, ledger=ledger)
    if into.kind != "table" and not os.access(cast(Path, database), os.W_OK):
        return reading(database)  # refuses the charge, and asks for a ledger
    if database is None:
        refuse_file_like(into.name)
        raise BadParameter("a table needs --db, the file that it goes to", param_hint="--into")
    if is_charged and ledger is None:
        return existing(database, read_only=False)  # the ledger, too, which must not be created in passing
    return _existing_or_made(database, ledger)


@contextmanager
def _existing_or_made(database: Path, ledger: Path | None) -> Iterator[Session]:
    """Open a session on a file; remove the file if it was created for a command that failed."""
    is_new = not database.exists()
    try:
        with connected(database, ledger=ledger) as session:
            yield session
    except BaseException as error:
        if is_new:
            for made in (database, database.with_name(database.name + ".wal")):
                made.unlink(missing_ok=True)
            if isinstance(error, EngineError) and error.step == "name":
                raise BadParameter(f"the file {database} does not exist: {error}", param_hint="--db") from None
        raise


@contextmanager
def _noted(database: Path, ledger: Path) -> Iterator[Session]:
    """Open a session on a read-only warehouse, which is opened writable once if it has to note its ledger."""
    with existing(database, ledger=ledger) as session:
        if not session.ledger._could_be_noted:
            yield session
            return
    with connected(database, ledger=ledger) as session:
        session.ledger._note_in_warehouse()
    with existing(database, ledger=ledger) as session:
        yield session


@contextmanager
def connected(database: str | Path = ":memory:", **more: Any) -> Iterator[Session]:
    machine = _machine.get()
    settings = {**machine, "csv": csv_settings(machine.get("csv", ())), **more}
    try:
        check_resources(settings)
    except EngineError as error:
        raise BadParameter(str(error)) from None
    # Another run may be writing its ledger or its release to the warehouse right now.
    patience = A_MOMENT if more.get("ledger") is None else PATIENCE
    with (
        retry_while_locked(functools.partial(connect, database, **settings), IN_USE, patience) as session,
        interruptible(session.connection.interrupt),
    ):
        yield session
