"""UCI Adult on a server of Spark Connect, by every kind of method: the releases and reports of DuckDB."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests.full.test_far_rows import fixed_chance
from tests.reports import alone
from tests.sail import sail

pytestmark = [pytest.mark.adult, pytest.mark.deep]

COLUMNS = ["age", "sex", "race", "education", "marital-status"]
BUDGET = sa.Budget(2, "0.001")
ADULT = """
SELECT *, row_id // 2 AS person, 1 + row_id % 3 AS weight FROM (SELECT *, row_number() OVER () AS row_id FROM adult)
"""


def policy(*privacy: Any, **options: Any) -> sa.Policy:
    given = {"sensitive": ["occupation"], "rest": "identifier", "suppression_limit": 0.02, **options}
    return sa.Policy(quasi_identifiers=COLUMNS, privacy=privacy, **given)


def drawing(method: Any, **options: Any) -> sa.Policy:
    given = {"sensitive": ["occupation"], "rest": "identifier", **options}
    return sa.Policy(quasi_identifiers=COLUMNS, method=method, **given)


POLICIES = {
    "k": policy(sa.KAnonymity(5)),
    "k and l": policy(sa.KAnonymity(5), sa.DistinctLDiversity("occupation", 3)),
    "t": policy(sa.KAnonymity(5), sa.TCloseness("occupation", 0.4)),
    "masks": policy(sa.KAnonymity(50), suppression="mask"),
    "weights": policy(sa.KAnonymity(5), row_weight="weight"),
    "individuals": policy(sa.KAnonymity(5), individual="person"),
    "kept columns": policy(sa.KAnonymity(5), insensitive=["salary-class", "weight"]),
    "local": policy(sa.KAnonymity(5), method=sa.LocalRecoding()),
    "top-down": drawing(sa.TopDownSpecialization(50, numeric={"age": (0, 120)}), sensitive=["salary-class"]),
    "diffgen": drawing(
        sa.DiffGen(budget=sa.Budget(2), numeric={"age": (0, 120)}, accept_observed_domain=True),
        sensitive=["salary-class"],
    ),
    "ipa": drawing(sa.IPA(budget=BUDGET, accept_observed_domain=True)),
    "histogram": drawing(
        sa.Histogram(budget=BUDGET, node=dict.fromkeys(COLUMNS, 1), accept_observed_domain=True),
    ),
}


@dataclass
class Sides:
    """Two sessions: one reads Adult in a file, the other one has it on a server."""

    folder: Path
    near: sa.Session
    far: sa.Session

    def released(self, name: str, wanted: sa.Policy) -> sa.Release:
        source, into = f"{self.folder}/adult.parquet", f"{self.folder}/{name}/"
        session = self.near if name == "near" else self.far
        return session.anonymize(source, wanted, into, random_source=fixed_chance(wanted), replace=True)

    def rows(self, name: str) -> tuple[list[Any], Counter[Any]]:
        found = duckdb.read_parquet(f"{self.folder}/{name}/*.parquet")
        return [*zip(found.columns, found.types, strict=True)], Counter(found.fetchall())


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of a server: Sail, or the one that ``SQLANON_SPARK`` names."""
    pytest.importorskip("pyspark.sql.connect")
    if address := os.environ.get("SQLANON_SPARK"):
        yield address
        return
    pytest.importorskip("pysail")
    with sail() as server:
        yield server.url


@pytest.fixture(scope="module")
def sides(arx_adult: Path, url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    folder = tmp_path_factory.mktemp("lake")
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"ATTACH '{arx_adult}' AS made (READ_ONLY); COPY FROM DATABASE made TO memory")
        connection.execute(f"COPY ({ADULT}) TO '{folder}/adult.parquet' (FORMAT parquet)")
        with sa.connect(connection) as near, sa.connect(connection.cursor(), rows=url) as far:
            near.taxonomies.load("occupation", sa.Taxonomy.flat(), source="adult")
            yield Sides(folder, near, far)


@pytest.mark.parametrize("name", POLICIES)
def test_adult_is_released_there_as_here(sides: Sides, name: str) -> None:
    near, far = (sides.released(side, POLICIES[name]) for side in ("near", "far"))
    assert far.node == near.node
    changed = {"seconds": far.report.seconds, "source": far.report.source, "into": far.report.into}
    assert alone(near).model_copy(update=changed) == alone(far)
    assert sides.rows("far") == sides.rows("near")
