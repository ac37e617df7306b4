"""Commands that put the macros in place, and those that print what sqlanon consists of."""

from __future__ import annotations

from sqlanon.cli.options import Json, NewDatabase
from sqlanon.cli.sessions import existing_or_new
from sqlanon.cli.terminal.output import say, write, write_json


def install(database: NewDatabase, as_json: Json = False) -> None:
    """Create schema anon with all macros in a DuckDB file, for any DuckDB client to call.

    Example: sqlanon install --db clinic.duckdb
    """
    from sqlanon.queries.kit.macros import macros

    with existing_or_new(database) as session:
        session.install()
    if as_json:
        write_json({"database": str(database), "macros": list(macros())})
    say(f"Installed {len(macros())} macros in schema anon of {database}.")


def sql() -> None:
    """Print the SQL that creates schema anon with all macros.

    Example: sqlanon sql > sqlanon.sql, then .read sqlanon.sql in DuckDB's shell.
    """
    from sqlanon.queries.kit.macros import install_script

    write(install_script())


def schema() -> None:
    """Print the JSON Schema of a policy, with which editors complete and check policy files.

    Example: sqlanon schema > policy.schema.json
    """
    import sqlanon.papers.methods  # noqa: F401
    from sqlanon.model.policy.policy import Policy

    write_json(Policy.model_json_schema())
