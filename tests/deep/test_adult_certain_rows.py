"""How many nodes of ARX's Adult are ruled out by what classes prove about less general nodes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.methods.shared.cells import encode_table
from sqlanon.methods.shared.counting import node_summaries
from sqlanon.search.arrays import spread_downwards
from sqlanon.search.problem import batches
from tests.conftest import ARX_COLUMNS, reading

pytestmark = pytest.mark.adult

# t -> percent -> nodes ruled out by the sizes of classes alone, nodes ruled out, other nodes that fail
RULED_OUT = {
    0.1: {5: (1745, 4313, 5)},
    0.2: {5: (1745, 4271, 44), 1: (3254, 4311, 5)},
    0.3: {5: (1745, 4078, 208)},
}
NODES = 4320


def policy_of(t: float, percent: int) -> sa.Policy:
    return sa.Policy(
        quasi_identifiers=[name for name in ARX_COLUMNS if name != "occupation"],
        sensitive=["occupation"],
        privacy=[sa.KAnonymity(5), sa.TCloseness("occupation", t)],
        quality=sa.LM(aggregate="geometric"),
        suppression_limit=percent / 100,
    )


@pytest.mark.deep
@pytest.mark.one_line
@pytest.mark.parametrize("t", RULED_OUT)
def test_nodes_that_are_ruled_out(arx_adult: Path, t: float) -> None:
    """None of them satisfies. What the distance itself proves leaves 164, 7, 610 and 29 others."""
    with reading(arx_adult) as session:
        counts = counts_of(session, policy_of(t, 5))
    suppressed, proven, small = (counts[name] for name in ("suppressed", "proven", "small"))
    for percent, (by_size, ruled_out, others) in RULED_OUT[t].items():
        allowed = policy_of(t, percent).allowed_rows(30162)
        fails = suppressed > allowed
        out = marked_below(proven > allowed)
        assert not (out & ~fails).any()
        assert (marked_below(small > allowed).sum(), out.sum(), (fails & ~out).sum()) == (by_size, ruled_out, others)


def marked_below(mask: np.ndarray) -> np.ndarray:
    marked = mask.copy()
    spread_downwards(marked)
    return marked


def counts_of(session: sa.Session, policy: sa.Policy) -> dict[str, np.ndarray]:
    """For every node: suppressed rows, those that all nodes below suppress as well, and rows of small classes."""
    engine = session._engine
    bound = prepare(engine, engine.resolve("adult"), policy)
    shape = bound.lattice.shape
    counts = {name: np.zeros(shape, dtype=np.int64) for name in ("suppressed", "proven", "small")}
    with engine.scratch():
        table = encode_table(engine, bound, label_losses=())
        sized = table.under(policy.model_copy(update={"privacy": (sa.KAnonymity(5),)}))
        for batch in batches(bound.lattice.nodes(), 64):
            for summary in node_summaries(engine, table, batch, asked="counts"):
                counts["suppressed"][bound.lattice.index(summary.levels)] = summary.suppressed_rows
                counts["proven"][bound.lattice.index(summary.levels)] = summary.certain_suppressed_rows
            for summary in node_summaries(engine, sized, batch, asked="counts"):
                counts["small"][bound.lattice.index(summary.levels)] = summary.suppressed_rows
    return counts


@pytest.mark.one_line
def test_few_nodes_are_checked(arx_adult: Path, tmp_path: Path) -> None:
    """Of 4,320; by the sizes of classes alone 2,913."""
    with reading(arx_adult) as session:
        report = session.anonymize("adult", policy_of(0.2, 5), into=tmp_path / "close.parquet").report
    assert (report.lattice_nodes, report.proven_optimal) == (NODES, True)
    assert report.checked_nodes < 150
