"""The searches on UCI Adult: the counts and nodes of spec/ola.md, on its lattice and on that of the printed thesis."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlanon as sa
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.methods import full_domain
from sqlanon.model.searches import SearchName
from sqlanon.run.prepare import prepare
from sqlanon.search import SEARCHES, SearchOutcome, ola
from tests.adult import Node, Rows, answered, satisfying, uci_policy

pytestmark = pytest.mark.adult

# spec/ola.md (d), Table 6.9 and the optimum table: (k, percent) -> nodes checked by OLA, k-minimal nodes
OLA_COUNTS = {
    (5, 0): (126, 29),
    (5, 1): (1126, 376),
    (5, 5): (1934, 705),
    (5, 10): (2228, 720),
    (5, 20): (1416, 418),
    (5, 50): (319, 83),
    (25, 0): (77, 19),
    (25, 1): (401, 122),
    (25, 5): (1091, 352),
    (25, 10): (1631, 594),
    (25, 20): (1941, 553),
    (25, 50): (965, 167),
    (100, 0): (46, 9),
    (100, 1): (165, 42),
    (100, 5): (454, 134),
    (100, 10): (922, 304),
    (100, 20): (1437, 416),
    (100, 50): (1528, 275),
}

# spec/ola.md (d): the nodes of least entropy that it prints
ENTROPY_NODES = {
    (5, 0): (3, 2, 2, 1, 1, 0, 1, 1, 3),
    (5, 1): (0, 2, 2, 2, 2, 0, 1, 0, 3),
    (5, 5): (1, 2, 2, 1, 0, 0, 1, 0, 3),
    (5, 50): (1, 0, 0, 0, 0, 0, 0, 0, 0),
    (25, 0): (3, 2, 1, 1, 2, 1, 1, 0, 3),
    (100, 0): (3, 2, 2, 1, 2, 0, 1, 1, 3),
}

# spec/ola.md (d), printed hierarchy: (k, percent) -> k-minimal nodes, least Prec
PRINTED = {
    (5, 0): (12, 0.7778),
    (5, 1): (210, 0.5556),
    (5, 5): (484, 0.4444),
    (5, 10): (544, 0.3148),
    (5, 20): (372, 0.2222),
    (5, 50): (83, 0.0556),
    (25, 0): (9, 0.8333),
    (25, 1): (56, 0.7222),
    (25, 5): (199, 0.5556),
    (25, 10): (361, 0.4815),
    (25, 20): (385, 0.3333),
    (25, 50): (158, 0.1667),
    (100, 0): (3, 0.8333),
    (100, 1): (20, 0.7778),
    (100, 5): (69, 0.6667),
    (100, 10): (160, 0.6111),
    (100, 20): (241, 0.4444),
    (100, 50): (210, 0.2778),
}

# Age stops at level 2 of 3 in the printed hierarchy, where it already counts as 1: 1.5 times level / 3, which the
# weighted mean then divides by 9.5 instead of 9.
PRINTED_LEVELS = {"age": 2}
PRINTED_PREC = sa.Prec(weights={"age": 1.5})
PRINTED_SCALE = 9 / 9.5

# spec/ola.md (d), Inverse OLA: (max_loss, percent) -> best k
BEST_K = {
    (0.2, 0): 1,
    (0.2, 10): 2,
    (0.2, 50): 72,
    (0.5, 0): 1,
    (0.5, 10): 47,
    (0.5, 50): 1650,
    (0.8, 0): 218,
    (0.8, 10): 1873,
    (0.8, 50): 25621,
}
BEST_K_NODES = {
    (0.2, 50): (2, 0, 1, 0, 1, 0, 0, 0, 0),
    (0.5, 10): (3, 2, 2, 0, 2, 0, 0, 0, 1),
    (0.5, 50): (3, 2, 2, 0, 2, 0, 0, 0, 1),
    (0.8, 0): (2, 2, 2, 1, 2, 1, 1, 0, 3),
}
PRINTED_BEST_K = {
    (0.2, 0): 1,
    (0.2, 10): 1,
    (0.2, 50): 31,
    (0.5, 0): 1,
    (0.5, 10): 32,
    (0.5, 50): 1557,
    (0.8, 0): 14,
    (0.8, 10): 1265,
    (0.8, 50): 19868,
}
INVERSE = [(*setting, k, False) for setting, k in BEST_K.items()]
INVERSE += [(*setting, k, True) for setting, k in PRINTED_BEST_K.items()]
PUBLISHED = [case for case in INVERSE if case[2] > 1]
REFUSED = [(max_loss, percent, printed) for max_loss, percent, k, printed in INVERSE if k == 1]


@pytest.fixture(scope="module")
def session(uci_adult: Path) -> Iterator[sa.Session]:
    with sa.connect(uci_adult, read_only=True) as session:
        yield session


def minimal(nodes: list[Node]) -> set[Node]:
    """The nodes with no direct predecessor among them."""
    known = set(nodes)
    return {
        node
        for node in nodes
        if not any((*node[:position], level - 1, *node[position + 1 :]) in known for position, level in enumerate(node))
    }


# OLA and Incognito


@pytest.mark.parametrize(("k", "percent"), OLA_COUNTS)
def test_ola_checks_as_many_nodes_as_the_spec_says(uci_lattices: dict[int, Rows], k: int, percent: int) -> None:
    outcome = answered(ola, uci_lattices[k], uci_policy(k, percent))
    assert outcome.minimal_nodes is not None
    assert (outcome.checked_nodes, len(outcome.minimal_nodes)) == OLA_COUNTS[k, percent]
    if (k, percent) in ENTROPY_NODES:
        assert outcome.best is not None
        assert outcome.best.levels == ENTROPY_NODES[k, percent]


@pytest.mark.parametrize("search", ["ola", "incognito"])
@pytest.mark.parametrize(("k", "percent"), PRINTED)
def test_minimal_nodes_and_optima_of_the_printed_hierarchy(
    uci_lattices: dict[int, Rows], k: int, percent: int, search: SearchName
) -> None:
    nodes = [node for node in satisfying(uci_lattices[k], percent) if node[0] <= PRINTED_LEVELS["age"]]
    policy = uci_policy(k, percent, PRINTED_PREC, maximum_levels=PRINTED_LEVELS)
    outcome = answered(SEARCHES[search], uci_lattices[k], policy)
    assert outcome.minimal_nodes is not None
    assert set(outcome.minimal_nodes) == minimal(nodes)
    assert outcome.loss is not None
    assert outcome.proven_optimal
    found = (len(outcome.minimal_nodes), round(outcome.loss / PRINTED_SCALE, 4))
    assert found == PRINTED[k, percent]


@pytest.mark.parametrize("search", ["ola", "incognito"])
def test_a_run_with_a_published_search_publishes_what_optimal_search_publishes(
    session: sa.Session, tmp_path: Path, search: str
) -> None:
    setting = (100, 1)
    release = session.anonymize("adult", uci_policy(*setting, search=search), into=tmp_path / f"{search}.parquet")
    assert release.report.minimal_nodes == OLA_COUNTS[setting][1]
    if search == "ola":
        assert release.report.checked_nodes == OLA_COUNTS[setting][0]
    assert release.node == session.anonymize("adult", uci_policy(*setting), into=tmp_path / "optimal.parquet").node


# Inverse OLA


def inverse_policy(max_loss: float, percent: int, *, printed: bool) -> sa.Policy:
    """The largest k within a Prec of the whole lattice, or of that of the printed hierarchy."""
    scale, quality, most = (PRINTED_SCALE, PRINTED_PREC, PRINTED_LEVELS) if printed else (1.0, sa.Prec(), {})
    return uci_policy(None, percent, quality, search="inverse-ola", max_loss=max_loss * scale, maximum_levels=most)


def searched(path: Path, policy: sa.Policy) -> SearchOutcome:
    """The outcome of the search of a run, without its release."""
    engine = DuckDBEngine.open(path, read_only=True)
    try:
        with engine.transaction():
            table = full_domain.encode_table(
                engine, prepare(engine, engine.resolve("adult"), policy), label_losses=policy.quality.label_losses
            )
            return full_domain.choose_node(engine, table, lambda _checked, _size, _inquiry: None)
    finally:
        engine.close()


@pytest.mark.parametrize(("max_loss", "percent", "k", "printed"), PUBLISHED)
def test_inverse_ola_promises_the_best_k_of_the_spec(
    session: sa.Session, tmp_path: Path, max_loss: float, percent: int, k: int, printed: bool
) -> None:
    policy, into = inverse_policy(max_loss, percent, printed=printed), tmp_path / "inverse.parquet"
    release = session.anonymize("adult", policy, into=into)
    report = release.report
    [result] = report.models
    assert (result.model, result.required, result.attained) == (f"k-anonymity (k = {k})", k, k)
    assert report.min_class_size == k
    assert f"k-anonymity (k = {k})" in release.guarantee.claims[0]
    assert report.lattice_nodes == (7776 if printed else 10368)
    assert report.suppressed_rows * 100 <= percent * report.rows.source
    assert policy.max_loss is not None
    assert report.loss <= policy.max_loss + 1e-12
    assert report.proven_optimal
    assert session.verify(into, uci_policy(k)).measurement.k == k
    if not printed and (max_loss, percent) in BEST_K_NODES:
        assert tuple(release.node.values()) == BEST_K_NODES[max_loss, percent]


@pytest.mark.parametrize(("max_loss", "percent", "printed"), REFUSED)
def test_inverse_ola_publishes_nothing_that_protects_nobody(
    session: sa.Session, tmp_path: Path, max_loss: float, percent: int, printed: bool
) -> None:
    into = tmp_path / "inverse.parquet"
    with pytest.raises(sa.UnsatisfiableError, match="has k = 1:"):
        session.anonymize("adult", inverse_policy(max_loss, percent, printed=printed), into=into)
    assert not into.exists()


@pytest.mark.parametrize("printed", [False, True])
def test_inverse_ola_finds_where_nothing_can_be_protected(uci_adult: Path, printed: bool) -> None:
    outcome = searched(uci_adult, inverse_policy(0.2, 0, printed=printed))
    assert outcome.best is not None
    assert outcome.best.attainable == 1
    assert outcome.maximal_nodes is not None
    assert outcome.best.levels in outcome.maximal_nodes
