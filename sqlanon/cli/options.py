"""Arguments and options that commands share, and the sessions that they open."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, cast, get_type_hints

import typer

from sqlanon.cli.terminal.interrupt import interruptible
from sqlanon.errors import EngineError

if TYPE_CHECKING:
    from sqlanon.api.session import Session
    from sqlanon.model.destination import Destination
    from sqlanon.model.destination import Replace as ReplaceWord
    from sqlanon.model.policy.policy import Policy
    from sqlanon.model.taxonomy.taxonomy import Taxonomy

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="A table or view, the path, glob or folder of Parquet or CSV files, or a SELECT query."
    ),
]
Database = Annotated[Path, typer.Option("--db", metavar="DB", help="The DuckDB file.")]
NewDatabase = Annotated[Path, typer.Option("--db", metavar="DB", help="The DuckDB file, made if it is not there.")]
OptionalDatabase = Annotated[
    Path | None, typer.Option("--db", metavar="DB", help="The DuckDB file; not needed to read files.")
]
PolicyFile = Annotated[Path, typer.Option("--policy", metavar="FILE.toml", help="The policy.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
Events = Annotated[
    bool,
    typer.Option(
        "--events",
        help="Tell the progress, and every failure, on stderr as JSON, a line per event: event (started, progress, "
        "finished; done or failed at the end), stage, seconds, step, share, checked_nodes, lattice_nodes, loss, "
        "lower_bound, gap.",
    ),
]
Target = Annotated[
    str,
    typer.Option(
        "--into", metavar="TARGET", help="The name of a new table, a new .parquet or .csv file, or a new folder/."
    ),
]
LatticeTarget = Annotated[
    str | None,
    typer.Option("--into", metavar="TARGET", help="Write all nodes to a new table, .parquet or .csv file, or folder/."),
]
RowsPerFile = Annotated[
    int | None,
    typer.Option("--rows-per-file", metavar="N", help="Write a folder of files, of N rows each at most."),
]
PartitionBy = Annotated[
    list[str] | None,
    typer.Option("--partition-by", metavar="COLUMN", help="Write a folder per value of a column; repeat it."),
]
TimeLimit = Annotated[
    float | None,
    typer.Option("--time-limit", metavar="SECONDS", help="Make do with the best node found after so long."),
]
GivenNode = Annotated[
    list[str] | None,
    typer.Option(
        "--node", metavar="COLUMN=LEVEL,…", help="Search for no node, take this one: a level per quasi-identifier."
    ),
]
LedgerFile = Annotated[
    Path | None,
    typer.Option("--ledger", metavar="FILE", help="The DuckDB file whose ledger is charged; else that of --db."),
]
Dataset = Annotated[
    str | None,
    typer.Option("--dataset", metavar="NAME", help="Whose budget a private method spends, if not the source's own."),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", help="Draw the same again: what is released is stamped NOT PRIVATE."),
]
Replace = Annotated[bool, typer.Option("--replace", help="Replace what is there, if sqlanon made it.")]
ReplaceIfChanged = Annotated[
    bool,
    typer.Option("--replace-if-changed", help="Replace a release that was made from something else; leave the same."),
]
ReplaceAnything = Annotated[
    bool, typer.Option("--replace-anything", help="Replace any table or file that is there, whoever made it.")
]
ReplaceFile = Annotated[bool, typer.Option("--replace", help="Replace the file that is there.")]
Attribute = Annotated[str, typer.Argument(metavar="ATTRIBUTE", help="The quasi-identifier that the taxonomy is for.")]
TaxonomySource = Annotated[
    str | None,
    typer.Option("--source", metavar="SOURCE", help="A table, files or a query whose values the taxonomy must cover."),
]
TaxonomyColumn = Annotated[
    str | None,
    typer.Option("--column", metavar="COLUMN", help="The column of --source, if it is not named like the attribute."),
]
TaxonomyFiles = Annotated[
    list[str] | None,
    typer.Option("--taxonomy", metavar="ATTRIBUTE=FILE.csv", help="Load an ARX hierarchy first; can be repeated."),
]


FILE_CAME_FIRST = {"install", *(f"taxonomy {name}" for name in ("load", "make", "check", "list", "export"))}
"""Commands that took the file of the warehouse as their first argument, where they still do."""

LEVEL = re.compile(r"(.+?)=(\d{1,3})(?:,|$)")
"""A column and its level; names may have commas."""


class _Machine(TypedDict, total=False):
    """What a session may use, as :func:`sqlanon.connect` takes it."""

    memory_limit: str | None
    temp_directory: Path | None
    threads: int | None


MACHINE: dict[str, Any] = {
    "memory_limit": Annotated[
        str | None, typer.Option("--memory-limit", metavar="SIZE", help="Memory for DuckDB, such as 2GB.")
    ],
    "temp_directory": Annotated[
        Path | None,
        typer.Option("--temp-directory", metavar="DIR", help="Where it puts what does not fit, until the end."),
    ],
    "threads": Annotated[int | None, typer.Option("--threads", metavar="N", help="Threads for DuckDB.")],
}
_machine: ContextVar[_Machine] = ContextVar("machine", default={})  # noqa: B039


def on_this_machine(command: Callable[..., None]) -> Callable[..., None]:
    """A command that opens a session, with options that tell how much of the machine the session may use."""

    @functools.wraps(command)
    def limited(**given: Any) -> None:
        token = _machine.set(cast(_Machine, {name: given.pop(name) for name in MACHINE}))
        try:
            command(**given)
        finally:
            _machine.reset(token)

    signature = inspect.signature(command, eval_str=True)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in MACHINE.items()
    ]
    limited.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *added])  # type: ignore[attr-defined]
    limited.__annotations__ = {**get_type_hints(command, include_extras=True), **MACHINE}
    return limited


def with_database_option(arguments: list[str]) -> list[str]:
    """The arguments with ``--db`` before the file of the commands whose first argument it used to be."""
    name = " ".join(arguments[: 2 if arguments[0] == "taxonomy" else 1])
    after = len(name.split())
    is_given = any(argument == "--db" or argument.startswith("--db=") for argument in arguments)
    if name not in FILE_CAME_FIRST or is_given or len(arguments) == after:
        return arguments
    first = Path(arguments[after])
    looks_like_file = first.suffix or len(first.parts) > 1 or first.exists()
    return [*arguments[:after], "--db", *arguments[after:]] if looks_like_file else arguments


@contextmanager
def existing(database: Path, *, read_only: bool = True, ledger: Path | None = None) -> Iterator[Session]:
    """A session on a file that must be there.

    Raises:
        typer.BadParameter: it is not.
    """
    if not database.exists():
        raise typer.BadParameter(f"there is no file {database}", param_hint="--db")
    with _connected(database, read_only=read_only, ledger=ledger) as session:
        yield session


@contextmanager
def existing_or_new(database: Path) -> Iterator[Session]:
    """A session on a file that is created if it is not there."""
    if str(database) == ":memory:":
        raise typer.BadParameter(
            "a database in memory would be gone at once; give the path of a file", param_hint="--db"
        )
    with _connected(database) as session:
        yield session


def keeping_ledger(ledger: Path) -> AbstractContextManager[Session]:
    """A session in memory whose ledger is a file."""
    return _connected(ledger=ledger)


@contextmanager
def reading(database: Path | None, ledger: Path | None = None) -> Iterator[Session]:
    """A session that changes no file but its ledger: on a warehouse opened read-only, or in memory without one."""
    if database is not None:
        with existing(database, ledger=ledger) as session:
            yield session
        return
    try:
        with _connected(ledger=ledger) as session:
            yield session
    except EngineError as error:
        if error.step == "source":
            raise typer.BadParameter(f"{error}; a table needs --db, the file that it is in") from None
        raise


def writing(
    database: Path | None, into: Destination, ledger: Path | None = None, *, is_charged: bool = False
) -> AbstractContextManager[Session]:
    """A session that can write the target, and nothing else if that is a file or a folder.

    What is charged is written to the ledger: to its file, or else to the warehouse.
    """
    if into.kind != "table" and (ledger is not None or not is_charged or database is None):
        if is_charged and database is not None and ledger is not None:
            return _noted(database, ledger)
        return reading(database, ledger)
    if database is None:
        from sqlanon.model.destination import refuse_file_like

        refuse_file_like(into.name)
        raise typer.BadParameter("a table needs --db, the file that it goes to", param_hint="--into")
    return existing(database, read_only=False, ledger=ledger)


def replacing(replace: bool, if_changed: bool = False, anything: bool = False) -> ReplaceWord:
    """What the session is to be told by --replace, --replace-if-changed and --replace-anything.

    Raises:
        typer.BadParameter: there is more than one of them.
    """
    words: dict[ReplaceWord, bool] = {True: replace, "changed": if_changed, "anything": anything}
    given = [word for word, is_given in words.items() if is_given]
    if len(given) > 1:
        raise typer.BadParameter("give one of --replace, --replace-if-changed and --replace-anything")
    return given[0] if given else False


@contextmanager
def _noted(database: Path, ledger: Path) -> Iterator[Session]:
    """A session on a warehouse opened read-only that has noted its ledger, for which it is opened writable once."""
    with existing(database, ledger=ledger) as session:
        if not session.ledger._could_be_noted:
            yield session
            return
    with _connected(database, ledger=ledger) as session:
        session.ledger._note_in_warehouse()
    with existing(database, ledger=ledger) as session:
        yield session


def read_taxonomies(given: list[str] | None, policy: Policy) -> dict[str, Taxonomy]:
    """The taxonomies of every ``ATTRIBUTE=FILE.csv``.

    Raises:
        typer.BadParameter: one is not spelled so, or is for a column whose taxonomy the policy does not use.
    """
    from sqlanon.model.base import did_you_mean
    from sqlanon.model.taxonomy.taxonomy import Taxonomy

    files = dict(_attribute_and_file(text) for text in given or ())
    used = (*policy.quasi_identifiers, *policy.sensitive_taxonomies)
    unused = [f'"{name}"{did_you_mean(name, used)}' for name in files if name not in used]
    if unused:
        reason = f"the policy uses no taxonomy of {', '.join(unused)}: only quasi-identifiers have one, and sensitive"
        raise typer.BadParameter(f"{reason} columns with hierarchical distances", param_hint="--taxonomy")
    repeated = [f'"{name}"' for name in files if name in policy.taxonomies]
    if repeated:
        reason = f"the policy carries the taxonomy of {', '.join(repeated)} itself"
        raise typer.BadParameter(reason, param_hint="--taxonomy")
    return {name: Taxonomy.from_csv(file) for name, file in files.items()}


def load_taxonomies(session: Session, found: Mapping[str, Taxonomy]) -> None:
    """Load taxonomies that were read."""
    for attribute, taxonomy in found.items():
        session.taxonomies.load(attribute, taxonomy)


def given_node(given: list[str] | None) -> dict[str, int] | None:
    """The node of every ``COLUMN=LEVEL,COLUMN=LEVEL``; None without any."""
    node: dict[str, int] = {}
    for text in given or ():
        levels = list(LEVEL.finditer(text))
        if not levels or "".join(found[0] for found in levels) != text:
            raise typer.BadParameter(f'"{text}" is not COLUMN=LEVEL,COLUMN=LEVEL', param_hint="--node")
        for name, level in (found.groups() for found in levels):
            if name in node:
                raise typer.BadParameter(f'"{name}" has two levels', param_hint="--node")
            node[name] = int(level)
    return node or None


def _attribute_and_file(text: str) -> tuple[str, str]:
    attribute, _, path = text.partition("=")
    if not attribute or not path:
        raise typer.BadParameter(f'"{text}" is not ATTRIBUTE=FILE.csv', param_hint="--taxonomy")
    return attribute, path


@contextmanager
def _connected(
    database: str | Path = ":memory:", *, read_only: bool = False, ledger: Path | None = None
) -> Iterator[Session]:
    from sqlanon.api.connection import check_resources, connect
    from sqlanon.ledger.ledger import IN_USE, patiently

    machine = _machine.get()
    try:
        check_resources(**machine)
    except EngineError as error:
        raise typer.BadParameter(str(error)) from None

    opened = functools.partial(connect, database, read_only=read_only, ledger=ledger, **machine)
    # Another run may just be noting its ledger in the warehouse, which takes a moment.
    waits = ledger is not None
    with (
        patiently(opened, IN_USE) if waits else opened() as session,
        interruptible(session.connection.interrupt),
    ):
        yield session
