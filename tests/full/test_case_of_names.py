"""Names of columns are the same in whatever case, as they are to DuckDB."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa

MODELS = [sa.KAnonymity(3), sa.TCloseness("ILLNESS", 0.9, "hierarchical"), sa.DistinctLDiversity("Illness", 2)]
EXACT: dict[str, Any] = {
    "quasi_identifiers": ["age", "Sex"],
    "sensitive": ["illness"],
    "identifiers": ["id"],
    "insensitive": ["weight"],
    "suppression_limit": 0.1,
}
OTHER: dict[str, Any] = {
    "quasi_identifiers": ["AGE", "sex"],
    "sensitive": ["Illness"],
    "identifiers": ["ID"],
    "insensitive": ["Weight"],
    "suppression_limit": 0.1,
}
LEVELS: dict[str, Any] = {"minimum_levels": {"agE": 1}, "maximum_levels": {"SEX": 0}}


@pytest.fixture
def session(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sa.Session]:
    monkeypatch.chdir(tmp_path)
    with sa.connect(shutil.copy(installed, tmp_path), threads=1) as session:
        session.connection.execute(
            "CREATE TABLE people AS SELECT (i * 7) % 40 AS age, ['f', 'm'][1 + i % 2] AS \"Sex\", "
            "['flu', 'cold', 'cough'][1 + i % 3] AS illness, i // 2 AS id, 1.0 + i % 2 AS weight "
            "FROM range(400) AS r (i)"
        )
        session.connection.execute('CREATE TABLE folk AS SELECT age AS "aGe", "Sex" AS "SEX" FROM people')
        session.taxonomies.load("aGE", sa.Taxonomy.intervals([10, 20], minimum=0, maximum=39))
        session.taxonomies.load("SEX", sa.Taxonomy.flat(["f", "m"]))
        session.taxonomies.load("Illness", sa.Taxonomy.from_rows([(v, "any", "*") for v in ("flu", "cold", "cough")]))
        yield session


def columns(session: sa.Session, relation: str) -> list[str]:
    return [name for name, *_ in session.connection.execute(f"DESCRIBE FROM {relation}").fetchall()]


def rows(session: sa.Session, relation: str) -> list[tuple[Any, ...]]:
    return session.connection.execute(f"FROM {relation} ORDER BY ALL").fetchall()


def test_a_run_and_all_that_follows(session: sa.Session) -> None:
    exact, other = (sa.Policy(**each, **LEVELS, privacy=[*MODELS, sa.KMap(3, "folk")]) for each in (EXACT, OTHER))
    first = session.anonymize("people", exact, into="exact")
    second = session.anonymize("people", other, into="other")
    assert list(first.node.values()) == list(second.node.values())
    assert rows(session, "exact") == rows(session, "other")
    assert columns(session, "other") == ["aGE", "SEX", "Illness", "Weight"], "quasi-identifiers as the taxonomies are"
    for release, policy in (("exact", other), ("other", exact)):
        assert session.verify(release, policy, source="people").met
        assert session.measure(release, policy).k >= 3
    assert session.measure("people", other).row_count == 400
    assert session.explain("people", other)
    nodes = [session.lattice("people", policy).drop_columns(["node", "models"]) for policy in (exact, other)]
    assert nodes[0].drop_columns("blocking_model") == nodes[1].drop_columns("blocking_model")


@pytest.mark.deep
def test_folders_of_partitions(session: sa.Session, tmp_path: Path) -> None:
    policy = sa.Policy(**OTHER, privacy=MODELS)
    session.anonymize("people", policy, into="release/", partition_by=["seX"])
    assert sorted(path.name for path in (tmp_path / "release").iterdir() if path.is_dir()) == ["SEX=f", "SEX=m"]
    assert session.verify("release", policy, source="people").met
    with pytest.raises(sa.PolicyError, match='column "SEX" is there more than once'):
        session.anonymize("people", policy, into="twice/", partition_by=["sex", "SEX"])
    session.connection.execute("COPY people TO 'people.parquet'")
    session.anonymize("people.parquet", policy, into="kept.parquet")
    assert session.anonymize("people.parquet", policy, into="kept.parquet").unchanged


@pytest.mark.deep
def test_weights_and_individuals(session: sa.Session) -> None:
    options = {"row_weight": "WEIGHT", "individual": "Id", "quality": sa.Prec(weights={"age": 2, "SEX": 1})}
    exact, other = (sa.Policy(**each, privacy=[sa.KAnonymity(3)], **options) for each in (EXACT, OTHER))
    first, second = session.anonymize("people", exact, "exact"), session.anonymize("people", other, "other")
    assert first.report.loss == second.report.loss
    assert session.verify("exact", other).met
    assert session.verify("other", exact).met
    assert rows(session, "exact") == rows(session, "other")


@pytest.mark.deep
def test_secrets(session: sa.Session) -> None:
    """And quasi-identifiers that the policy spells as the taxonomies do."""
    spelled = {**OTHER, "quasi_identifiers": ["aGE", "SEX"]}
    policy = sa.Policy(**spelled, privacy=[sa.MConcealing(0.9, {"iLLNESS": 0.1})])
    assert session.verify(session.anonymize("people", policy, into="release").into, policy).met
    assert columns(session, "release") == ["aGE", "SEX", "Illness", "Weight"]


@pytest.mark.deep
def test_private_methods(session: sa.Session) -> None:
    roles = {"quasi_identifiers": ["AGE", "sex"], "sensitive": ["Illness"], "identifiers": ["ID", "Weight"]}
    for method in (
        sa.Histogram(budget=sa.Budget(1, "0.01"), node={"age": 1, "SEX": 0}),
        sa.Histogram(budget=sa.Budget(1), node={"age": 1, "SEX": 0}),
        sa.IPA(budget=sa.Budget(1, "0.01"), rows_per_individual=1),
    ):
        individual = "iD" if isinstance(method, sa.IPA) else None
        policy = sa.Policy(**roles, method=method, individual=individual)
        session.anonymize("people", policy, into="release", replace=True, random_source=sa.SeededSource(1))
        assert columns(session, "release") == ["aGE", "SEX", "Illness"]


@pytest.mark.deep
def test_partitions_of_a_fit(session: sa.Session) -> None:
    policy = sa.Policy(**OTHER, privacy=MODELS)
    fitted = session.partitions.fit("people", policy, "side.fit", node={"Age": 1, "seX": 0})
    assert list(fitted.node.values()) == [1, 0]
    query = 'SELECT age AS "AgE", "Sex" AS sEX, illness AS "ILLNESS", id, weight FROM people WHERE id {} 100'
    session.partitions.apply(query.format("<"), "side.fit", into="first")
    assert columns(session, "first") == ["aGE", "SEX", "Illness", "Weight"]
    assert session.verify("first", policy).met


def test_flattened_events(session: sa.Session) -> None:
    session.flatten("people", "flat", individual="ID", event="ILLNESS", order="AGE", first=2, keep=[])
    session.flatten("people", "expected", individual="id", event="illness", order="age", first=2)
    assert columns(session, "flat") == ["ID", "ILLNESS_1", "ILLNESS_2"]
    assert rows(session, "flat") == rows(session, "expected")


def test_taxonomies(session: sa.Session, tmp_path: Path) -> None:
    session.taxonomies.load("AGE", sa.Taxonomy.intervals([5]), source="people", column="aGe")
    assert [name for name in session.taxonomies.list() if name.lower() == "age"] == ["AGE"]
    session.taxonomies.load("sEx", sa.Taxonomy.flat(), source="people")
    session.taxonomies.export("Sex", tmp_path / "sex.csv")
    assert (tmp_path / "sex.csv").read_text() == "f;*\nm;*\n"


def test_what_case_does_not_settle(session: sa.Session) -> None:
    with pytest.raises(sa.PolicyError, match='"Age" has two roles'):
        sa.Policy(quasi_identifiers=["age"], sensitive=["Age"], privacy=[sa.KAnonymity(2)])
    with pytest.raises(sa.PolicyError, match='minimum_levels: "AGE" is not a quasi-identifier'):
        sa.Policy(quasi_identifiers=["age"], privacy=[sa.KAnonymity(2)], minimum_levels={"Age": 1, "AGE": 2})
    session.connection.execute('CREATE TABLE german AS SELECT 1 AS "ä", 2 AS "Ö"')
    policy = sa.Policy(quasi_identifiers=["Ä"], insensitive=["Ö"], privacy=[sa.KAnonymity(2)])
    with pytest.raises(sa.PolicyError) as caught:
        session.anonymize("german", policy, into="release")
    assert caught.value.problems[0].startswith('column "Ä" has a role but is not in the source')
    session.connection.execute(
        "INSERT INTO anon.taxonomy SELECT 'age', level, value, CASE level WHEN 1 THEN 'one' ELSE label END "
        "FROM anon.taxonomy WHERE attribute = 'aGE' AND level < 2 UNION ALL "
        "SELECT 'age', 2, value, '*' FROM anon.taxonomy WHERE attribute = 'aGE' AND level = 2"
    )
    exact = sa.Policy(**EXACT, minimum_levels={"age": 1}, maximum_levels={"age": 1}, privacy=[sa.KAnonymity(3)])
    session.anonymize("people", exact, into="release")
    assert session.connection.sql("SELECT DISTINCT age FROM release").fetchall() == [("one",)]
    with pytest.raises(sa.TaxonomyError, match="without a taxonomy"):
        session.anonymize("people", sa.Policy(**OTHER, privacy=[sa.KAnonymity(3)]), into="another")


def test_the_hash_of_a_policy_is_that_of_its_roles() -> None:
    policies = [sa.Policy(**EXACT, privacy=[sa.DistinctLDiversity(name, 2)]) for name in ("illness", "ILLNESS")]
    assert policies[0] == policies[1]
    assert policies[0].sha256() == policies[1].sha256()
