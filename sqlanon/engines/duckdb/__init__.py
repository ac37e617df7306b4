"""DuckDB: the one package that imports it, and that knows its catalog, its types and what its errors say.

The rest of sqlanon sees what is named here, through the protocols of :mod:`sqlanon.engines.base`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.engines.duckdb.opening import OpenedDatabase
from sqlanon.engines.duckdb.resources import Resources
from sqlanon.engines.duckdb.texts import float_texts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

__all__ = ["Connection", "OpenedDatabase", "Resources", "float_texts"]
