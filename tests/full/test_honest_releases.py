"""Releases that nobody has changed: each verifies, whatever its models, with its source and without.

That those of each method do is in test_golden_runs.py.
"""

from __future__ import annotations

from typing import Any

import pytest

import sqlanon as sa
from tests.conftest import clinic_policy

LEVELS = {"age": 2, "sex": 0, "zip": 3}
BOUNDS = {"suppression_limit": 0.5, "minimum_levels": LEVELS, "maximum_levels": LEVELS}

MODELS = [
    (sa.KAnonymity(2),),
    (sa.AlphaKAnonymity("diagnosis", 0.9, 2),),
    (sa.DistinctLDiversity("diagnosis", 2),),
    (sa.EntropyLDiversity("diagnosis", 1.5),),
    (sa.RecursiveCLDiversity("diagnosis", 3, 2),),
    (sa.TCloseness("diagnosis", 0.42), sa.KAnonymity(2)),
    (sa.BetaLikeness("diagnosis", 2), sa.KAnonymity(2)),
    (sa.DeltaDisclosure("diagnosis", 1.6), sa.KAnonymity(2)),
    (sa.KMap(4, "town"), sa.KAnonymity(2)),
    (sa.DeltaPresence(0.1, 0.5, "town"), sa.KAnonymity(2)),
    (sa.MConcealing(0.9, {"diagnosis": 0.5}), sa.KAnonymity(2)),
]
NEED_SOURCE = {"t-closeness", "beta-likeness", "delta-disclosure", "delta-presence"}
"""The models that nobody can decide on without the source."""


@pytest.fixture(scope="module")
def session(shared_clinic: sa.Session) -> sa.Session:
    """The clinic, with a town of three times as many people."""
    shared_clinic.connection.execute("CREATE TABLE town AS FROM visits UNION ALL FROM visits UNION ALL FROM visits")
    return shared_clinic


@pytest.mark.parametrize("models", MODELS, ids=lambda models: str(models[0]))
def test_whatever_the_models(session: sa.Session, models: tuple[Any, ...]) -> None:
    policy = clinic_policy(*models, **BOUNDS)
    release = session.anonymize("visits", policy, "honest", replace=True)
    assert release.report.suppressed_rows > 0
    assert session.verify("honest", policy, source="visits").measurement.models == release.report.models
    alone = session.verify("honest", policy).measurement
    undecided = [result for result in alone.models if result.met is None]
    assert bool(undecided) == (models[0].model in NEED_SOURCE)
    assert len(undecided) == sum("compared with the release itself" in note for note in alone.notes)
