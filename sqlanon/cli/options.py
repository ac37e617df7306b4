"""Arguments and options that commands share, and the sessions that they open."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, cast, get_type_hints

import typer

from sqlanon.cli.interrupt import interruptible
from sqlanon.errors import EngineError

if TYPE_CHECKING:
    from sqlanon.model.destination import Destination
    from sqlanon.session import Session

Source = Annotated[
    str, typer.Argument(help="A table or view, the path, glob or folder of Parquet files, or a SELECT query.")
]
Database = Annotated[Path, typer.Argument(metavar="DB", help="The DuckDB file.")]
OptionalDatabase = Annotated[
    Path | None, typer.Option("--db", metavar="DB", help="The DuckDB file; not needed to read Parquet files.")
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
    typer.Option("--into", metavar="TARGET", help="The name of a new table, a new .parquet file, or a new folder/."),
]
LatticeTarget = Annotated[
    str | None,
    typer.Option("--into", metavar="TARGET", help="Write all nodes to a new table, .parquet file or folder/."),
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
Replace = Annotated[bool, typer.Option("--replace", help="Replace what is there.")]
Attribute = Annotated[str, typer.Argument(help="The quasi-identifier that the taxonomy is for.")]
TaxonomySource = Annotated[
    str | None,
    typer.Option("--source", help="A table, Parquet files or a query whose values the taxonomy must cover."),
]
TaxonomyColumn = Annotated[
    str | None, typer.Option("--column", help="The column of --source, if it is not named like the attribute.")
]
TaxonomyFiles = Annotated[
    list[str] | None,
    typer.Option("--taxonomy", metavar="ATTRIBUTE=FILE.csv", help="Load an ARX hierarchy first; can be repeated."),
]


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


@contextmanager
def existing(
    database: Path, *, read_only: bool = True, option: str = "DB", ledger: Path | None = None
) -> Iterator[Session]:
    """A session on a file that must be there.

    Raises:
        typer.BadParameter: it is not.
    """
    if not database.exists():
        raise typer.BadParameter(f"there is no file {database}", param_hint=option)
    with _connected(database, read_only=read_only, ledger=ledger) as session:
        yield session


@contextmanager
def existing_or_new(database: Path) -> Iterator[Session]:
    """A session on a file that is created if it is not there."""
    if str(database) == ":memory:":
        raise typer.BadParameter("a database in memory would be gone at once; give the path of a file", param_hint="DB")
    with _connected(database) as session:
        yield session


def keeping_ledger(ledger: Path) -> AbstractContextManager[Session]:
    """A session in memory whose ledger is a file."""
    return _connected(ledger=ledger)


@contextmanager
def reading(database: Path | None, ledger: Path | None = None) -> Iterator[Session]:
    """A session that changes no file but its ledger: on a warehouse opened read-only, or in memory without one."""
    if database is not None:
        with existing(database, option="--db", ledger=ledger) as session:
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
        return reading(database, ledger)
    if database is None:
        from sqlanon.model.destination import refuse_file_like

        refuse_file_like(into.name)
        raise typer.BadParameter("a table needs --db, the file that it goes to", param_hint="--into")
    return existing(database, read_only=False, option="--db", ledger=ledger)


def load_taxonomies(session: Session, given: list[str] | None) -> None:
    """Load every ``ATTRIBUTE=FILE.csv``."""
    from sqlanon.model.taxonomy import Taxonomy

    for text in given or ():
        attribute, _, path = text.partition("=")
        if not attribute or not path:
            raise typer.BadParameter(f'"{text}" is not ATTRIBUTE=FILE.csv', param_hint="--taxonomy")
        session.load_taxonomy(attribute, Taxonomy.from_csv(path))


@contextmanager
def _connected(
    database: str | Path = ":memory:", *, read_only: bool = False, ledger: Path | None = None
) -> Iterator[Session]:
    from sqlanon.connection import connect
    from sqlanon.engines.resources import Resources

    machine = _machine.get()
    try:
        Resources(**machine).check()
    except EngineError as error:
        raise typer.BadParameter(str(error)) from None

    with (
        connect(database, read_only=read_only, ledger=ledger, **machine) as session,
        interruptible(session.connection.interrupt),
    ):
        yield session
