"""``sqlanon --version``, which waits for no command to be imported."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import NoReturn

from sqlanon.cli.output import write
from sqlanon.errors import EngineError
from sqlanon.model.extras import installed_version


def main() -> NoReturn:
    """Print the version and exit."""
    try:
        show_version()
    except EngineError as error:
        from sqlanon.cli.outcome import report_failure

        sys.exit(report_failure(error, as_json=False, as_events=False, debug=False))
    sys.exit()


def show_version() -> None:
    """Print the versions of this package and of DuckDB."""
    write(f"sqlanon {installed_version()} (DuckDB {version('duckdb')})\n")
