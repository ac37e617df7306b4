"""The front of the engine, and where each of its names is defined."""

from sqlanon.engines.duckdb.compute import Compute as Compute
from sqlanon.engines.duckdb.engine import Engine as Engine
from sqlanon.engines.duckdb.opening import (
    Connection as Connection,
    OpenedDatabase as OpenedDatabase,
)
from sqlanon.engines.duckdb.resources import Resources as Resources
from sqlanon.engines.duckdb.texts import float_texts as float_texts
