"""The command ``sqlanon app``: it opens the door, prints an address that works once, and serves until it is ended."""

from __future__ import annotations

import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Option

from sqlanon.cli import options as opt
from sqlanon.cli.command import command
from sqlanon.cli.output import say
from sqlanon.satellites import extra_module

if TYPE_CHECKING:
    from sqlanon.app.door import Door
    from sqlanon.app.office import Office

LEADING = '<!DOCTYPE html><title>sqlanon</title><meta http-equiv="refresh" content="0;url={address}">'


@command()
def app(
    source: Annotated[
        str | None, Argument(help="The table to anonymize: a table of --db, a file, a folder or a query.")
    ] = None,
    database: opt.OptionalDatabase = None,
    table: Annotated[str | None, Option("--table", metavar="NAME", help="The table, if no source is given.")] = None,
    policy: Annotated[
        Path | None, Option("--policy", metavar="FILE.toml", help="The policy; by default <source>.policy.toml.")
    ] = None,
    folders: Annotated[
        list[Path] | None, Option("--folder", metavar="DIR", help="Where releases may go; repeat it. By default here.")
    ] = None,
    ledger: Annotated[
        Path | None, Option("--ledger", metavar="FILE", help="The DuckDB file whose ledger is charged; else --db.")
    ] = None,
    port: Annotated[int, Option("--port", min=0, max=65535, help="The port; by default any that is free.")] = 0,
    browser: Annotated[bool, Option("--browser/--no-browser", help="Open the address in a browser.")] = True,
) -> None:
    """Anonymize a table in the browser, on this machine alone: roles, taxonomies, promise, nodes, comparison, release.

    The policy file is the state: each change writes it, and closing the app loses nothing. Enter prints another
    address, which works once; Ctrl-C ends the app. With --db and a policy of several tables, these are released
    together.

    Example: sqlanon app visits --db clinic.duckdb
    """
    for name in ("starlette", "uvicorn", "jinja2"):
        extra_module(name, extra="app", purpose="the app")
    from sqlanon.app.desk import Place
    from sqlanon.app.office import Office

    if database is not None and not database.exists():
        raise BadParameter(f"the file {database} does not exist", param_hint="--db")
    if source is None and table is None and database is None:
        raise BadParameter("name a table: a file, or --db with a warehouse", param_hint="SOURCE")
    wanted = [folder for folder in folders or [Path()] if not folder.is_dir()]
    if wanted:
        raise BadParameter(f"{wanted[0]} is not a folder", param_hint="--folder")
    with Office(Place(source or table or "", database, policy, tuple(folders or [Path()]), ledger)) as office:
        serve(office, port, opens_browser=browser)


def serve(office: Office, port: int, *, opens_browser: bool) -> None:
    """Serve until Ctrl-C or SIGTERM, which both end the app in order."""
    with served(office, port) as door:
        try:
            _print_addresses(door, office.private.path, opens_browser=opens_browser)
        except KeyboardInterrupt:
            say("The app has ended; the policy and what was published stay.")


@contextmanager
def served(office: Office, port: int = 0) -> Iterator[Door]:
    """Serve from a thread until the block ends, and yield the door.

    In a thread of its own, the server leaves signals to the command line, which raises KeyboardInterrupt.
    """
    import uvicorn

    from sqlanon.app.door import Door
    from sqlanon.app.serving import Pages

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        # Without the protocol by name, asyncio leaves small answers waiting 40 ms for an acknowledgement (TCP_NODELAY).
        try:
            listening.bind(("127.0.0.1", port))
        except OSError as error:
            raise BadParameter(f"port {port} is not free: {error.strerror}", param_hint="--port") from None
        listening.listen()  # a browser that comes before the server is ready waits
        door = Door(Pages(office).program, listening.getsockname()[1])
        server = uvicorn.Server(
            uvicorn.Config(
                door, http="h11", ws="none", lifespan="off", log_config=None, access_log=False, server_header=False,
                log_level="critical", timeout_graceful_shutdown=1,
            )
        )  # fmt: skip
        serving = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        serving.start()
        try:
            yield door
        finally:
            server.should_exit = True
            serving.join(3)


def _print_addresses(door: Door, private: Path, *, opens_browser: bool) -> None:
    """Print an address, and another one at each Enter."""
    say(f"The app is at {door.address()} (once, within ten minutes)")
    say("Enter prints another address, Ctrl-C ends the app.")
    if opens_browser:
        # Other users of the machine see the arguments of a browser: it gets the name of a file that they cannot read.
        leading = private / "open.html"
        leading.touch(0o600)
        leading.write_text(LEADING.format(address=door.address()), encoding="utf-8")
        webbrowser.open(leading.as_uri())
    while sys.stdin is not None and sys.stdin.readline():
        say(door.address())
    threading.Event().wait()  # without a terminal, until a signal
