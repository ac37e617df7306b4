"""The front of the engine, and where each of its names is defined."""

from sqlanon.engines.duckdb.compute import Compute as Compute, float_texts as float_texts
from sqlanon.engines.duckdb.engine import Engine as Engine
from sqlanon.engines.duckdb.opening import (
    Connection as Connection,
    OpenedDatabase as OpenedDatabase,
    Resources as Resources,
)
from sqlanon.engines.duckdb.statements import StatementLog as StatementLog
