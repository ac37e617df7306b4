"""Lattices of a billion nodes and tables of thousands of columns: time, memory, and what is proven."""

import time
import tracemalloc

import pytest

import sqlanon as sa
from sqlanon.model.lattice import Levels
from sqlanon.search import SEARCHES, SearchOutcome, SearchProblem
from sqlanon.search.problem import BATCH_SIZE
from tests.full.test_time_limits import after
from tests.full.test_wide_lattices import NODES, policy, wide
from tests.full.test_wide_tables import assert_released, make, session
from tests.search_cases import stopped
from tests.unit.test_wide_regions import least_loss, losses, of_information, problem

__all__ = ["session", "wide"]


def test_a_billion_nodes_within_a_time_limit(wide: sa.Session) -> None:
    wanted = policy(quality=sa.LM(aggregate="geometric"))
    begun = time.monotonic()
    report = wide.anonymize("wide", wanted, into="soon", replace=True, time_limit=2).report
    assert time.monotonic() - begun < 20, "the limit, and what a busy machine takes for the release"
    check_proof(report)
    assert wide.verify("soon", wanted).met


def test_the_gap_of_a_billion_nodes_becomes_small(wide: sa.Session) -> None:
    report = wide.anonymize("wide", policy(), into="later", replace=True, stop=after(160)).report
    check_proof(report)
    assert report.checked_nodes <= 256 * 160
    assert report.gap is not None
    assert report.loss is not None
    assert report.gap < 0.5 * report.loss


def check_proof(report: sa.Report) -> None:
    assert report.lattice_nodes == NODES
    assert not report.proven_optimal
    assert report.lower_bound is not None
    assert report.gap == pytest.approx(report.loss - report.lower_bound)
    assert 0 < report.gap <= report.loss
    assert f"{NODES}" in report.model_dump_json()


def batches_of(task: SearchProblem, count: int) -> list[list[Levels]]:
    """What a search asks first."""
    running = SEARCHES["optimal"](task)
    inquiry = next(running)
    asked = [list(inquiry.nodes)]
    for _ in range(count):
        inquiry = running.send([of_information(levels) for levels in inquiry.nodes])
        asked.append(list(inquiry.nodes))
    return asked


def test_the_last_bits_of_the_losses_do_not_steer_the_search() -> None:
    asked = batches_of(problem(losses()), 30)
    assert asked == batches_of(problem(losses(noise=4e-16)), 30)
    assert all(len(batch) == len(set(batch)) <= 2 * BATCH_SIZE for batch in asked)
    nodes = [levels for batch in asked for levels in batch]
    assert len(nodes) == len(set(nodes))


def test_a_billion_nodes_take_little_memory_and_the_bound_rises() -> None:
    running = SEARCHES["optimal"](problem(losses()))
    bounds = []
    tracemalloc.start()
    try:
        inquiry = next(running)
        for _ in range(45):
            bounds.append(inquiry.lower_bound())
            inquiry = running.send([of_information(levels) for levels in inquiry.nodes])
        outcome: SearchOutcome = stopped(running, inquiry)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64e6
    assert bounds == sorted(bounds)
    assert outcome.loss is not None
    assert outcome.lower_bound is not None
    assert 0.25 * outcome.loss < outcome.lower_bound <= least_loss(losses())
    assert least_loss(losses()) <= outcome.loss <= 1.1 * least_loss(losses())


@pytest.mark.parametrize(("target", "columns"), [("released.parquet", 3_000), ("released.csv", 1_500)])
def test_thousands_of_columns(session: sa.Session, target: str, columns: int) -> None:
    assert_released(session, make(session, columns), target)


def test_two_hundred_quasi_identifiers(session: sa.Session) -> None:
    """Searched for a second: the answer is verified, and says how far it can be from the best."""
    names = [f"q{place}" for place in range(200)]
    listed = ", ".join(f"(row + {place}) % 5 AS {name}" for place, name in enumerate(names))
    session.connection.execute(f"CREATE TABLE wide AS SELECT {listed} FROM range(500) AS rows (row)")
    session.taxonomies.load_all({name: sa.Taxonomy.flat(range(5)) for name in names})
    policy = sa.Policy(quasi_identifiers=names, privacy=[sa.KAnonymity(5)])
    release = session.anonymize("wide", policy, "released", time_limit=1)
    assert session.verify("released", policy).met
    assert release.report.gap is not None
    assert 0 <= release.report.gap <= 1
