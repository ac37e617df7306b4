"""Scopes of temporary tables: what is made inside is gone at the end, however that comes."""

from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest
from sqlglot import exp

from sqlanon.engines.duckdb import Engine, OpenedDatabase
from sqlanon.errors import EngineError
from sqlanon.queries.kit.nodes import Relation, Step, enum_type

FIRST, SECOND = Relation("anon_first", "class"), Relation("anon_second", "class")


@pytest.fixture
def engine() -> Iterator[Engine]:
    with duckdb.connect() as connection:
        yield OpenedDatabase(connection, owned=False).engine()


def made(engine: Engine) -> set[str]:
    tables = engine.connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    types = engine.connection.execute("SELECT type_name FROM duckdb_types() WHERE NOT internal").fetchall()
    return {name for (name,) in (*tables, *types)}


def make(engine: Engine, relation: Relation, query: str = "SELECT 1 AS x") -> None:
    engine.run(Step(relation, exp.maybe_parse(query, dialect="duckdb"), "a table"))


def test_tables_go_before_the_types_of_their_columns(engine: Engine) -> None:
    with engine.transaction(), engine.scratch():
        engine.execute(enum_type("label_type", exp.maybe_parse("SELECT 'a' AS label"), "label"), "a type")
        make(engine, FIRST, "SELECT CAST('a' AS label_type) AS x")
        engine.put(SECOND, pa.table({"x": [1]}))
        assert made(engine) >= {"label_type", "anon_first", "anon_second"}
    assert made(engine) == set()


def test_a_scope_leaves_what_was_there_before(engine: Engine) -> None:
    with engine.scratch():
        make(engine, FIRST)
        with engine.scratch():
            make(engine, SECOND)
        assert made(engine) == {"anon_first"}
    assert made(engine) == set()


def test_what_is_made_anew_belongs_to_the_scope_that_makes_it(engine: Engine) -> None:
    with engine.scratch():
        make(engine, FIRST)
        with engine.scratch():
            engine.drop(FIRST)
            make(engine, FIRST, "SELECT 2 AS x")
        assert made(engine) == set()
        make(engine, SECOND)
    assert made(engine) == set()


def test_a_scope_that_was_empty_when_another_one_began(engine: Engine) -> None:
    with engine.scratch():
        with engine.scratch():
            pass
        make(engine, FIRST)
    assert made(engine) == set()


@pytest.mark.parametrize("in_transaction", [True, False])
def test_a_scope_that_fails(engine: Engine, in_transaction: bool) -> None:
    def fail() -> None:
        with engine.scratch():
            make(engine, FIRST)
            make(engine, SECOND, "SELECT CAST('x' AS INTEGER) AS x")

    with pytest.raises(EngineError, match="ConversionException"):
        if in_transaction:
            with engine.transaction():
                fail()
        else:
            fail()
    assert made(engine) == set()
    with engine.scratch():
        make(engine, FIRST)
    assert made(engine) == set()


def test_outside_of_a_scope_tables_stay(engine: Engine) -> None:
    make(engine, FIRST)
    with engine.scratch():
        pass
    assert made(engine) == {"anon_first"}
