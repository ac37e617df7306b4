"""A run that does not fit in memory publishes the same."""

from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.benchmarks.lakes import COLUMNS, blow_up, load_taxonomies

LIMIT = "34MB"


def test_a_run_that_does_not_fit_in_memory_publishes_the_same(tmp_path: Path) -> None:
    """And it would not end without a place to spill to, so that it is known to have been short of memory."""
    source, columns = tmp_path / "people.parquet", COLUMNS[:7]
    blow_up(source, 400_000, columns, adult=False)
    policy = sa.Policy(quasi_identifiers=columns, privacy=[sa.KAnonymity(5)], suppression_limit=0.02)

    def rows(name: str, **limits: object) -> list[tuple[object, ...]]:
        with sa.connect(threads=1, **limits) as session:
            load_taxonomies(session, columns, adult=False)
            session.anonymize(source, policy, into=tmp_path / name)
            return session.connection.execute(f"SELECT *, count(*) FROM '{tmp_path / name}' GROUP BY ALL").fetchall()

    (tmp_path / "spill").mkdir()
    expected = rows("plain.parquet")
    assert sorted(rows("spilled.parquet", memory_limit=LIMIT, temp_directory=tmp_path / "spill")) == sorted(expected)
    with duckdb.connect(config={"threads": 1, "memory_limit": LIMIT, "temp_directory": ""}) as connection:
        session = sa.connect(connection)
        load_taxonomies(session, columns, adult=False)
        with pytest.raises(sa.EngineError):
            session.anonymize(source, policy, into=tmp_path / "never.parquet")
