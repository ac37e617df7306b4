"""The privacy models on ARX's Adult: optimal search finds what the whole lattice says."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlanon as sa
from sqlanon.model.methods.full_domain import SearchName
from sqlanon.model.privacy import PrivacyModel
from tests.conftest import reading

pytestmark = pytest.mark.adult

QUASI_IDENTIFIERS = ["sex", "age", "race", "marital-status", "education"]
MINIMUM_LEVELS = {"age": 2}
LATTICE_NODES = 2 * 3 * 2 * 3 * 4

WHOLE = "adult"
HIGH_SALARIES = """SELECT * FROM adult WHERE "salary-class" = '>50K'"""

MODELS = [
    (WHOLE, sa.RecursiveCLDiversity("occupation", 3, 3)),
    (WHOLE, sa.TCloseness("occupation", 0.2, "ordered")),
    (WHOLE, sa.TCloseness("occupation", 0.2, "hierarchical")),
    (WHOLE, sa.BetaLikeness("occupation", 4)),
    (WHOLE, sa.DeltaDisclosure("occupation", 2.5)),
    (WHOLE, sa.AlphaKAnonymity("occupation", 0.3, 5)),
    (HIGH_SALARIES, sa.KMap(20, WHOLE)),
    (WHOLE, sa.MConcealing(0.1, {"occupation": 0.05})),
]


def released(session: sa.Session, source: str, model: PrivacyModel, search: SearchName, into: Path) -> sa.Report:
    policy = sa.Policy(
        quasi_identifiers=QUASI_IDENTIFIERS,
        sensitive=["occupation"],
        insensitive=["native-country", "workclass", "salary-class"],
        privacy=[model],
        quality=sa.Entropy(),  # the same sum in whatever order nodes are counted
        suppression_limit=0.1,
        search=search,
        minimum_levels=MINIMUM_LEVELS,
    )
    return session.anonymize(source, policy, into=into, replace=True).report


@pytest.mark.deep
@pytest.mark.parametrize(("source", "model"), MODELS, ids=str)
def test_optimal_search_finds_the_best_of_the_whole_lattice(
    arx_adult: Path, tmp_path: Path, source: str, model: PrivacyModel
) -> None:
    with reading(arx_adult) as session:
        optimal = released(session, source, model, "optimal", tmp_path / "release.parquet")
        exhaustive = released(session, source, model, "exhaustive", tmp_path / "release.parquet")
    same = ("node", "loss", "losses", "ties", "suppressed_rows", "class_count", "models", "rows")
    assert {name: getattr(optimal, name) for name in same} == {name: getattr(exhaustive, name) for name in same}
    assert exhaustive.checked_nodes == exhaustive.lattice_nodes == LATTICE_NODES
    assert optimal.checked_nodes < exhaustive.checked_nodes
    assert optimal.proven_optimal
