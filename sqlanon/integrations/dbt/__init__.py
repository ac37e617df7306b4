"""dbt-duckdb: a plugin, which a profile names, and beside it a dbt package of tests and macros."""

from __future__ import annotations

from typing import Any

from dbt.adapters.duckdb.plugins import BasePlugin

import sqlanon as sa


class Plugin(BasePlugin):
    """Installs the macros of schema ``anon`` in the database of a target, before dbt's first statement there."""

    def configure_connection(self, conn: Any) -> None:
        """Install them: those of an earlier version are replaced."""
        with sa.connect(conn) as session:
            session.install()
