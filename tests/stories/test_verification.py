"""Verifying a release again, long after its run: with its source, its population, its individuals, or without them."""

from pathlib import Path

import pytest

import sqlanon as sa

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


def test_blanks_that_match_everything_protect_fewer(clinic: sa.Session) -> None:
    """(*, b), (c, b) and (d, b) equal each other if blanks equal everything, but (a, b) fits the first one alone."""
    clinic.connection.execute("""
        CREATE TABLE known AS
        FROM (VALUES ('a', 'b'), ('c', 'b'), ('d', 'b'), ('e', 'x'), ('e', 'x'), ('f', 'x')) AS _ (p, q);
        CREATE TABLE blanked AS SELECT CASE p WHEN 'a' THEN '*' ELSE p END AS p, q FROM known WHERE p <> 'f';
    """)
    asked = sa.Policy(quasi_identifiers=["p", "q"], privacy=[sa.KAnonymity(3)])
    options = {"without_provenance": True, "strict": False}
    found = clinic.verify("blanked", asked, source="known", **options)
    assert not found.met
    assert found.notes[-1] == (
        "blanks (NULL or *) in 1 row: even if a blank may be any value, fewer than 3 released rows fit 5 of the 6 rows "
        "of the source, and exactly one fits 1 of these, which whoever knows the person finds; no released row fits 1 "
        "more, left out or under a label"
    )
    assert len(clinic.verify("blanked", asked, **options).notes) == len(found.notes) - 1
    clinic.connection.execute("UPDATE blanked SET p = 'a' WHERE p = '*'")
    assert "blank" not in "".join(clinic.verify("blanked", asked, source="known", **options).notes)
    wide = [f"k{place}" for place in range(7)]
    columns = ", ".join(f"CASE WHEN i >> {place} & 1 = 1 THEN 'v' END AS k{place}" for place in range(7))
    clinic.connection.execute(f"CREATE TABLE wide AS SELECT {columns} FROM range(128) AS _ (i)")
    asked = sa.Policy(quasi_identifiers=wide, privacy=[sa.KAnonymity(2)])
    assert "was not counted: " in clinic.verify("wide", asked, source="wide", **options).notes[-1]
