"""The reference run of the corrected IPA on UCI Adult: its numbers, its choice of a node, what its releases keep."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pytest

import sqlanon as sa
from sqlanon.audits.exact_audit import permute_and_flip
from sqlanon.methods.noisy_node import ipa as method
from sqlanon.methods.noisy_node.ipa import scores as scores_of_nodes
from sqlanon.methods.noisy_node.shared import prepared
from sqlanon.nodes.table import encode_table
from sqlanon.queries.noise import WHOLE
from tests.conftest import UCI_COLUMNS, reading
from tests.engines import engine_of

DIMENSIONS = ["age", "education", "marital_status", "race", "sex"]
BEST, SECOND = (2, 1, 0, 0, 0), (2, 1, 1, 0, 0)
ROWS = 32_561

POLICY = sa.Policy(
    quasi_identifiers=DIMENSIONS,
    sensitive=["occupation"],
    identifiers=[name for name in UCI_COLUMNS if name not in (*DIMENSIONS, "occupation")],
    method=sa.IPA(budget=sa.Budget(1, "2e-6")),
)
"""ε = (0.1, 0.6, 0.3) and δ = 1e-6 for each of the counts."""

pytestmark = pytest.mark.adult


@pytest.fixture(scope="module")
def session(uci_adult: Path) -> Iterator[sa.Session]:
    with reading(uci_adult) as found:
        yield found


@pytest.fixture(scope="module")
def scores(session: sa.Session) -> dict[tuple[int, ...], float]:
    """The score of every node, in rows."""
    engine = engine_of(session)
    bound = prepared(engine, engine.resolve("adult"), POLICY)
    least = method.thresholds(POLICY.method, method.Domains({}, 0).at(bound.lattice.bottom))
    assert least == {"cells": 24, "rolled-up": 46}
    with engine.transaction(), engine.scratch():
        table = encode_table(engine, bound, label_losses=("ncp",))
        assert table.cell_count == 15_094
        found = scores_of_nodes(engine, table, least["cells"], WHOLE * ROWS)
    return dict(zip(bound.lattice.nodes(), found / WHOLE, strict=True))


def test_the_scores_are_those_of_the_reference(scores: dict[tuple[int, ...], float]) -> None:
    assert len(scores) == 144
    first, second = sorted(scores, key=lambda node: -scores[node])[:2]
    assert (first, second) == (BEST, SECOND)
    assert round(scores[BEST], 3) == -11737.392
    assert round(scores[SECOND], 3) == -11871.172


def test_the_best_node_is_nearly_certain(scores: dict[tuple[int, ...], float]) -> None:
    nodes = list(scores)
    exponents = np.array([scores[node] for node in nodes]) * 0.1 / 2
    weights = np.exp(exponents - exponents.max())
    assert round(float(weights.max() / weights.sum()), 5) == 0.99876
    assert permute_and_flip(exponents.tolist(), 1)[nodes.index(BEST)] > 0.99876


@pytest.mark.parametrize("source", [sa.SeededSource(5), None], ids=["seeded", "OpenDP"])
def test_a_release_keeps_what_the_reference_keeps(
    uci_adult: Path, tmp_path: Path, source: sa.SeededSource | None
) -> None:
    into = tmp_path / "released.parquet"
    own = shutil.copyfile(uci_adult, tmp_path / "adult.duckdb")  # for a warehouse notes its ledger
    with sa.connect(own, ledger=tmp_path / "ledger.duckdb") as session:
        release = session.anonymize("adult", POLICY, into, random_source=source)
        assert tuple(release.node.values()) == BEST
        assert (release.report.stamp is None) == (source is None)
        assert release.guarantee.budget == (None if source else sa.Budget(1, "2e-6"))
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{uci_adult}' AS raw (READ_ONLY)")
        released, rolled_up = connection.execute(
            f"SELECT count(*) FILTER (WHERE age <> '*'), count(*) FILTER (WHERE age = '*') FROM '{into}'"
        ).fetchall()[0]
        assert released >= 0.75 * ROWS
        assert abs(released - 25_660) < 400
        assert abs(rolled_up - 6_946) < 400
        distance = connection.execute(
            f"""
            SELECT sum(abs(coalesce(o.share, 0) - coalesce(r.share, 0))) / 2
            FROM (SELECT occupation, count(*) / sum(count(*)) OVER () AS share FROM raw.adult GROUP BY ALL) AS o
            FULL JOIN (SELECT occupation, count(*) / sum(count(*)) OVER () AS share FROM '{into}' GROUP BY ALL) AS r
            ON o.occupation = r.occupation
            """
        ).fetchall()[0][0]
        assert distance < 0.01
