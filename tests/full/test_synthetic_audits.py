"""Synthetic rows under audit: each kind of draw with nearly all of the budget on it."""

from pathlib import Path

import pytest

import sqlanon as sa
from tests.commands import document, sqlanon
from tests.synthetic_pairs import PAIRS, Pair, audited, session_on

RUNS = 800
CONFIDENCE = 0.9999
"""One in 10,000 audits may call a sound mechanism a violation; the seeds are fixed, so that it is settled by now."""

DECIDING = "what decides between two columns"


@pytest.mark.parametrize(
    ("share", "name"),
    [("the choices", DECIDING), pytest.param("all draws", "a combination that nobody has", marks=pytest.mark.deep)],
)
def test_no_violation_is_found(share: str, name: str) -> None:
    """Each share alone, for each pair: tests/deep/test_synthetic_audits_of_all_pairs.py, and exactly, draw by draw, in
    tests/full/test_synthetic_exactly.py."""
    audit = audited(share, PAIRS[name], RUNS, CONFIDENCE, sa.SeededSource(21))
    assert not audit.violates, audit


@pytest.mark.deep
def test_nor_by_individual() -> None:
    """Of two rows, which both are counted."""
    rows = [(number, "x", "v") for number in range(6)]
    audit = audited(
        "all draws", Pair(rows, [(9, "x", "u"), (9, "x", "u")]), RUNS, CONFIDENCE, sa.SeededSource(22), rows=2
    )
    assert not audit.violates, audit


def test_by_a_policy(tmp_path: Path) -> None:
    """Nothing is patched: with OpenDP, and by the command."""
    pytest.importorskip("opendp")
    with session_on(PAIRS["a row like another"], tmp_path / "w.duckdb") as session:
        policy = sa.Policy(
            quasi_identifiers=["a", "b"],
            identifiers=["person"],
            method=sa.Synthetic(budget=sa.Budget(1, "1e-6"), rounds=4, refine=["a"]),
        )
        audit = sa.evaluation.audit_privacy(policy, "without", "with_one", 10, session=session)
        assert audit.claimed == sa.Budget(1, "1e-6")
        assert not audit.violates
        with pytest.raises(sa.PolicyError, match="not neighbours"):
            sa.evaluation.audit_privacy(policy, "without", "without", 10, session=session)
        session.connection.close()
    (tmp_path / "p.toml").write_text(
        'quasi_identifiers = ["a", "b"]\nidentifiers = ["person"]\n[method]\nmodel = "synthetic"\nrounds = 4\n',
        encoding="utf-8",
    )
    command = ("audit-privacy", "without", "with_one", "--db", "w.duckdb", "--policy", "p.toml")
    done = sqlanon(*command, "--runs", "8", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert document(done)["claimed"] == {"epsilon": "1", "delta": "0.000001"}
