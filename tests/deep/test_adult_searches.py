"""The searches on UCI Adult: the counts and nodes of spec/ola.md, on its lattice and on that of the printed thesis."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlanon as sa
from tests.adult import OLA_COUNTS, PRINTED_LEVELS, PRINTED_PREC, PRINTED_SCALE, uci_policy
from tests.conftest import reading

pytestmark = pytest.mark.adult

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
    with reading(uci_adult) as session:
        yield session


# OLA and Incognito


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
    return uci_policy(None, percent, quality, objective="privacy", max_loss=max_loss * scale, maximum_levels=most)


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
