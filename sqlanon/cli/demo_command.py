"""The command ``sqlanon demo``, on invented data."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from typer import BadParameter, Option

from sqlanon.cli.interrupt import interruptible
from sqlanon.cli.options import Json
from sqlanon.cli.output import progress, show, write, write_json

MAX_ROWS = 10_000_000


def demo(
    database: Annotated[
        Path | None, Option("--db", metavar="DB", help="The DuckDB file, a new one; without it nothing is kept.")
    ] = None,
    rows: Annotated[int, Option(metavar="N", min=50, max=MAX_ROWS, help="How many visits to invent.")] = 5000,
    seed: Annotated[int, Option(metavar="N", min=0, help="The same seed invents the same visits.")] = 1,
    as_json: Json = False,
) -> None:
    """Invent a hospital, anonymize its visits, and show them before and after. Needs no input.

    With --db the warehouse is kept, and its policy beside it.

    Example: sqlanon demo --db hospital.duckdb
    """
    from sqlanon.api.connection import open_database
    from sqlanon.run.demo import POLICY_TOML
    from sqlanon.run.demo import demo as demonstrate

    with _new_files(database) as (warehouse, policy_file):
        with (
            closing(open_database(warehouse)) as opened,
            progress(as_events=False, quiet=as_json) as observer,
            interruptible(opened.connection.interrupt),
        ):
            result = demonstrate(opened.engine(), rows=rows, seed=seed, progress=observer)
        policy_file.write_text(POLICY_TOML, encoding="utf-8")
    if as_json:
        write_json(
            {
                "database": database,
                "policy_file": None if database is None else policy_file,
                "before": result.before.model_dump(mode="json"),
                "release": result.release.model_dump(mode="json"),
                "after": {**result.after.model_dump(mode="json"), "met": result.after.met},
            }
        )
    else:
        show(result.document())
        # Not with rich, which would wrap the commands to copy.
        write(_next_steps(database))


@contextmanager
def _new_files(database: Path | None) -> Iterator[tuple[Path, Path]]:
    """Yield free paths of a warehouse and a policy; without a database they are temporary, else removed on failure."""
    from sqlanon.engines.paths import log_of

    if database is None:
        with TemporaryDirectory(prefix="sqlanon-") as folder:
            yield Path(folder, "hospital.duckdb"), Path(folder, "hospital.toml")
        return
    paths = database, _policy_path(database)
    for path in paths:
        if path.exists():
            raise BadParameter(f"{path} exists; give the path of a new file", param_hint="--db")
    if not database.parent.is_dir():
        raise BadParameter(f"the folder {database.parent} does not exist", param_hint="--db")
    try:
        yield paths
    except BaseException:
        for path in (*paths, log_of(database)):
            with suppress(OSError):
                path.unlink()
        raise


def _policy_path(database: Path) -> Path:
    return database.with_name(f"{database.stem}.policy.toml")


def _next_steps(database: Path | None) -> str:
    """List commands that work as printed, in the shell that ran this one."""
    steps = []
    activate, found = Path(sys.prefix, "bin", "activate"), shutil.which("sqlanon")
    if activate.exists() and (found is None or Path(found).parent != activate.parent):  # another one is on the PATH
        here = Path.cwd()
        shown = activate.relative_to(here) if activate.is_relative_to(here) else activate
        steps.append(f"source {shlex.quote(str(shown))}")
    if database is None:
        steps.append("sqlanon demo --db hospital.duckdb    # keeps the warehouse to play with")
    else:
        page = database.with_name(f"{database.stem}.report.html")
        file, policy, report = (shlex.quote(str(path)) for path in (database, _policy_path(database), page))
        if shutil.which("duckdb") is None:
            steps.append("pip install duckdb-cli    # the command line of DuckDB, which is not installed here")
        steps += [
            f'duckdb {file} "FROM visits_k5 LIMIT 20"',
            f"duckdb {file} \"FROM anon.k_anonymity('visits_k5', ['age', 'sex', 'zip', 'admission'])\"",
            f"sqlanon lattice visits --db {file} --policy {policy}",
            f"sqlanon verify visits_k5 --db {file} --policy {policy}",
            f"sqlanon report visits_k5 --db {file} --policy {policy} --source visits --out {report}",
        ]
    return "".join(f"  {step}\n" for step in steps)
