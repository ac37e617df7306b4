"""Releases that nobody has changed: each verifies, whatever its models, with its source and without.

Those of each method do in test_golden.py.
"""

from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests.conftest import clinic_policy
from tests.golden.recording import Recorder
from tests.stories.test_verification import policy

LEVELS = {"age": 2, "sex": 0, "zip": 3}
BOUNDS = {"suppression_limit": 0.5, "minimum_levels": LEVELS, "maximum_levels": LEVELS}

MODELS = [
    (sa.KAnonymity(2),),
    pytest.param((sa.AlphaKAnonymity("diagnosis", 0.9, 2),), marks=pytest.mark.deep),
    pytest.param((sa.DistinctLDiversity("diagnosis", 2),), marks=pytest.mark.deep),
    pytest.param((sa.EntropyLDiversity("diagnosis", 1.5),), marks=pytest.mark.deep),
    (sa.RecursiveCLDiversity("diagnosis", 3, 2),),
    (sa.TCloseness("diagnosis", 0.42), sa.KAnonymity(2)),
    pytest.param((sa.BetaLikeness("diagnosis", 2), sa.KAnonymity(2)), marks=pytest.mark.deep),
    (sa.DeltaDisclosure("diagnosis", 1.6), sa.KAnonymity(2)),
    pytest.param((sa.KMap(4, "town"), sa.KAnonymity(2)), marks=pytest.mark.deep),
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


def test_a_population_that_lacks_people_of_the_source_is_a_condition(clinic: sa.Session) -> None:
    clinic.connection.execute("CREATE TABLE nobody AS FROM visits LIMIT 0")
    release = clinic.anonymize("visits", policy(sa.KMap(2, "nobody")), "mapped")
    classes = clinic.measure("mapped", policy(sa.KAnonymity(2), identifiers=[]))
    assert release.report.models[0].attained == classes.k
    assert any("as many people as it has rows" in line for line in release.guarantee.conditions)


def test_labels_are_looked_up_in_classes_not_in_rows() -> None:
    """Rows are grouped once; that takes a fraction of a histogram of every column over all of them."""
    recorder = Recorder(duckdb.connect(config={"threads": 1}))
    with sa.connect(recorder) as session:  # type: ignore[arg-type]
        recorder.execute(
            "CREATE TABLE people AS SELECT i % 4 AS age, if(i % 2 = 0, 'f', 'm') AS sex FROM range(40) r (i)"
        )
        asked = sa.Policy(quasi_identifiers=["age", "sex"], privacy=[sa.KAnonymity(5)])
        stored = {"age": sa.Taxonomy.flat(range(4)), "sex": sa.Taxonomy.flat(["f", "m"])}
        session.taxonomies.load_all(stored)
        session.anonymize("people", asked, "published")
        recorder.statements.clear()
        assert session.verify("published", asked).met
        looked_up = [each for each in recorder.statements if "HISTOGRAM" in each.upper()]
        assert len(looked_up) == 1
        assert "anon_released_labels" in looked_up[0]
        assert "published" not in looked_up[0]
        recorder.execute("UPDATE published SET sex = 'M' WHERE rowid < 3")
        [shortfall] = [
            each for each in session.verify("published", asked, strict=False).shortfalls if "its taxonomy" in each
        ]
        assert shortfall.startswith('column "sex" has 1 labels, in 3 rows')


def test_a_label_that_its_collation_hides_is_found() -> None:
    """Classes are distinguished byte by byte, whatever the collation of their columns."""
    with sa.connect() as session:
        session.connection.execute("CREATE TABLE people (sex VARCHAR COLLATE NOCASE)")
        session.connection.execute("INSERT INTO people SELECT 'f' FROM range(9)")
        session.taxonomies.load("sex", sa.Taxonomy.flat(["f"]))
        asked = sa.Policy(quasi_identifiers=["sex"], privacy=[sa.KAnonymity(2)])
        session.anonymize("people", asked, "published")
        session.connection.execute("ALTER TABLE published ALTER sex TYPE VARCHAR COLLATE NOCASE")
        session.connection.execute("UPDATE published SET sex = 'F' WHERE rowid = 4")
        shortfalls = session.verify("published", asked, strict=False).shortfalls
        assert any("1 labels, in 1 rows" in each for each in shortfalls)
