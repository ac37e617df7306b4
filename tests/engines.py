"""What a session keeps to itself, for tests: the only place that names it."""

import sqlanon as sa
from sqlanon.engines.duckdb import Engine
from sqlanon.spark.spark_rows import SparkRows


def engine_of(session: sa.Session) -> Engine:
    engine = session._engine
    assert isinstance(engine, Engine)
    return engine


def server_of(session: sa.Session) -> SparkRows:
    rows = engine_of(session).far
    assert isinstance(rows, SparkRows)
    return rows
