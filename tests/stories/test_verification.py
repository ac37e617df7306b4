"""Verifying a release again, long after its run: with its source, its population, its individuals, or without them."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from tests.golden.recording import Recorder

COLUMNS = {"quasi_identifiers": ["age", "sex", "zip"], "sensitive": ["diagnosis"]}


def policy(*models: object, **more: object) -> sa.Policy:
    return sa.Policy(**{**COLUMNS, "identifiers": ["id"], "suppression_limit": 0.5, "privacy": models, **more})


def test_distances_are_measured_from_the_source_if_it_is_given(clinic: sa.Session) -> None:
    asked = policy(sa.TCloseness("diagnosis", 0.5), sa.KAnonymity(2))
    release = clinic.anonymize("visits", asked, "close")
    assert release.report.suppressed_rows > 0
    attained = release.report.models[0].attained
    with_source = clinic.verify("close", asked, source="visits").measurement
    assert with_source.models[0].attained == attained
    assert with_source.notes == ()
    alone = clinic.verify("close", asked, strict=False).measurement
    assert alone.models[0].attained != attained
    assert alone.models[0].met is None
    assert "compared with the release itself: attained" in alone.notes[0]


def test_a_population_is_generalized_to_the_node_of_the_release(clinic: sa.Session) -> None:
    clinic.connection.execute("CREATE TABLE town AS FROM visits UNION ALL FROM visits UNION ALL FROM visits")
    asked = policy(sa.KMap(6, "town"), sa.DeltaPresence(0.1, 0.4, "town"))
    release = clinic.anonymize("visits", asked, "mapped")
    again = clinic.verify("mapped", asked, source="visits").measurement
    assert again.models == release.report.models
    clinic.connection.execute("COMMENT ON TABLE mapped IS 'for the annual report'")
    with pytest.raises(sa.PolicyError, match="whose node is not known"):
        clinic.verify("mapped", asked)


def test_a_population_that_lacks_people_of_the_source_is_a_condition(clinic: sa.Session) -> None:
    clinic.connection.execute("CREATE TABLE nobody AS FROM visits LIMIT 0")
    release = clinic.anonymize("visits", policy(sa.KMap(2, "nobody")), "mapped")
    classes = clinic.measure("mapped", policy(sa.KAnonymity(2), identifiers=[]))
    assert release.report.models[0].attained == classes.k
    assert any("as many people as it has rows" in line for line in release.guarantee.conditions)


def test_its_own_population_is_never_replaced(clinic: sa.Session, tmp_path: Path) -> None:
    clinic.connection.execute("CREATE TABLE town AS FROM visits UNION ALL FROM visits; CREATE VIEW seen AS FROM town")
    file = f"{tmp_path}/town.parquet"
    clinic.connection.execute(f"COPY town TO '{file}'")
    for population, into in (("town", "town"), ("seen", "main.town"), (f"{tmp_path}/t*.parquet", file)):
        asked = policy(sa.KMap(6, population))
        with pytest.raises(sa.EngineError, match="its own population"):
            clinic.anonymize("visits", asked, into, replace=True)
        with pytest.raises(sa.EngineError, match="its own population"):
            clinic.lattice("visits", asked, into=into, replace=True)
    kept = clinic.connection.execute(f"SELECT count(*) FROM (FROM town EXCEPT ALL FROM '{file}')").fetchone()
    assert kept == (0,)


def test_individuals_are_counted_again_where_they_stay(clinic: sa.Session) -> None:
    clinic.connection.execute("CREATE TABLE stays AS SELECT *, id AS person FROM (FROM visits UNION ALL FROM visits)")
    asked = policy(sa.KAnonymity(2), insensitive=["person"], individual="person")
    release = clinic.anonymize("stays", asked, "people")
    assert release.report.models[0].attained >= 2
    assert "distinct values" in release.guarantee.conditions[1]
    found = clinic.verify("people", asked).measurement
    assert found.notes == ()
    assert found.models == release.report.models
    without = policy(sa.KAnonymity(2), identifiers=["id", "person"], individual="person")
    clinic.anonymize("stays", without.changed({"earlier": "none"}), "nobody")
    found = clinic.verify("nobody", without).measurement
    assert 'the individuals of column "person" cannot be counted' in found.notes[0]
    assert found.models[0].attained == 2 * release.report.models[0].attained


def test_integers_that_parquet_would_round_are_refused(clinic: sa.Session, tmp_path: Path) -> None:
    clinic.connection.execute("CREATE TABLE sums AS SELECT *, CAST(9007199254740993 AS HUGEINT) AS wide FROM visits")
    asked = policy(sa.KAnonymity(2), insensitive=["wide"])
    with pytest.raises(sa.EngineError, match=r'"wide" \(HUGEINT\)'):
        clinic.anonymize("sums", asked, tmp_path / "sums.parquet")
    assert list(tmp_path.iterdir()) == []
    clinic.anonymize("sums", asked, "kept")
    assert clinic.connection.execute("SELECT DISTINCT wide FROM kept").fetchall() == [(9007199254740993,)]


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
