"""Models of a sample's risk: classes of a search have the risks of the macros, and merged ones no larger risks."""

import itertools
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from tests import brute_force, oracle
from tests.effort import examples
from tests.sql.test_oracle import connection as with_macros

AGES = [["a", "ab", "*"], ["b", "ab", "*"], ["c", "cd", "*"], ["d", "cd", "*"]]
SEXES = [["u", "*"], ["v", "*"]]
TAXONOMIES = {"age": AGES, "sex": SEXES}
WEIGHTS = st.sampled_from([1.0, 1.5, 3.0, 20.0, 1e6])
Sampled = tuple[str | None, str | None, float]
ROWS = st.lists(
    st.tuples(st.sampled_from([None, *"abcd"]), st.sampled_from([None, "u", "v"]), WEIGHTS), min_size=1, max_size=14
)


def policy(at_most: float, **settings: object) -> sa.Policy:
    taxonomies = {name: sa.Taxonomy.from_rows(rows) for name, rows in TAXONOMIES.items()}
    estimator, weight = settings.pop("estimator", "both"), settings.pop("weight", None)
    kind: Any = settings.pop("kind", sa.IndividualRisk)
    return sa.Policy(
        **{
            "quasi_identifiers": ["age", "sex"],
            "insensitive": ["weight"],
            "row_weight": "weight",
            "privacy": [kind(at_most, weight, estimator=estimator)],
            "taxonomies": taxonomies,
            **settings,
        }  # type: ignore[arg-type]
    )


def loaded(rows: list[Sampled]) -> sa.Session:
    connection = with_macros()
    connection.execute(
        "DROP TABLE IF EXISTS released; CREATE OR REPLACE TABLE people (age VARCHAR, sex VARCHAR, weight DOUBLE)"
    )
    connection.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    return sa.connect(connection)


def labels(rows: list[Sampled], node: dict[str, int]) -> list[tuple[object, ...]]:
    """The rows at a node; NULL has no label but the one of the top, where all rows agree."""

    def label(name: str, value: str | None) -> str | None:
        taxonomy = TAXONOMIES[name]
        if node[name] == len(taxonomy[0]) - 1:
            return "*"
        return None if value is None else next(row[node[name]] for row in taxonomy if row[0] == value)

    return [(label("age", age), label("sex", sex), weight) for age, sex, weight in rows]


def risks_at(
    connection: duckdb.DuckDBPyConnection, rows: list[Sampled], node: dict[str, int]
) -> list[tuple[int, float, float]]:
    connection.execute("CREATE OR REPLACE TABLE sample (age VARCHAR, sex VARCHAR, weight DOUBLE)")
    connection.executemany("INSERT INTO sample VALUES (?, ?, ?)", labels(rows, node))
    return connection.execute(
        "SELECT anon_weights.class_size, anon_weights.risk, anon_margins.risk "
        "FROM anon.individual_risk('sample', ['age', 'sex'], 'weight') AS anon_weights "
        "JOIN anon.poisson_risk('sample', ['age', 'sex'], 'weight') AS anon_margins "
        "ON anon_weights.age IS NOT DISTINCT FROM anon_margins.age "
        "AND anon_weights.sex IS NOT DISTINCT FROM anon_margins.sex"
    ).fetchall()


@given(ROWS, st.sampled_from([0.02, 0.2, 0.5, 1.0]))
@settings(max_examples=examples(60), deadline=None)
def test_nodes_have_the_risks_of_the_macros(rows: list[Sampled], at_most: float) -> None:
    session = loaded(rows)
    violating, all_met = {}, {}
    for found in session.lattice("people", policy(at_most)).to_pylist():
        node = dict(found["node"])
        expected = risks_at(session.connection, rows, node)
        for place in (1, 2):
            measured = found["models"][place - 1]
            assert measured["worst"] == pytest.approx(max(each[place] for each in expected), rel=1e-9)
        levels = tuple(node.values())
        violating[levels] = sum(size for size, risk, _ in expected if risk > at_most * (1 + 1e-9))
        all_met[levels] = all(risk <= at_most * (1 + 1e-9) for _, _, risk in expected)
        either = sum(size for size, *both in expected if max(both) > at_most * (1 + 1e-9))
        assert found["suppressed_rows"] == either
    for low in violating:
        for high in violating:
            if all(less <= more for less, more in zip(low, high, strict=True)):
                assert violating[high] <= violating[low]
                assert all_met[high] or not all_met[low]


@pytest.mark.parametrize("kind", [sa.IndividualRisk, sa.ExpectedReidentifications])
@given(
    ROWS,
    st.sampled_from([0.02, 0.1, 0.3]),
    st.sampled_from([0.0, 0.3, 0.8]),
    st.sampled_from(["both", "poisson", "negative-binomial"]),
    st.sampled_from([(), (sa.KAnonymity(2),)]),
)
@settings(max_examples=examples(480), deadline=None)
def test_the_search_finds_the_node_of_brute_force(
    kind: Any, rows: list[Sampled], at_most: float, limit: float, estimator: str, others: tuple[Any, ...]
) -> None:
    """30 tables at the least effort."""
    session = loaded(rows)
    asked = policy(at_most, kind=kind, estimator=estimator, suppression_limit=limit)
    asked = asked.changed({"privacy": (*asked.privacy, *others)})
    nodes = brute_force.lattice(task_of(rows, asked))
    expected = brute_force.answer(nodes)
    satisfying = {found["node"]: found["satisfies"] for found in lattice_of(session, asked)}
    assert satisfying == {node.levels: node.satisfies for node in nodes}
    if expected is None:
        with pytest.raises(sa.UnsatisfiableError):
            session.anonymize("people", asked, "released")
        return
    release = session.anonymize("people", asked, "released")
    assert tuple(release.node.values()) in expected.ties
    assert release.report.suppressed_rows == brute_force.measured(task_of(rows, asked), release.node).suppressed_rows
    again = session.verify("released", asked, source="people").measurement
    assert again.models == release.report.models


def task_of(rows: list[Sampled], asked: sa.Policy) -> brute_force.Task:
    people = [dict(zip(["age", "sex", "weight"], row, strict=True)) for row in rows]
    return brute_force.Task(people, TAXONOMIES, asked)


def lattice_of(session: sa.Session, asked: sa.Policy) -> list[dict[str, Any]]:
    found = session.lattice("people", asked).to_pylist()
    return [{**row, "node": tuple(dict(row["node"]).values())} for row in found]


@given(ROWS, st.sampled_from([0.0, 0.4]))
@settings(max_examples=examples(160), deadline=None)
def test_sums_by_weights_never_rise(rows: list[Sampled], limit: float) -> None:
    """So that searches may rule out nodes below one by the rows that it must suppress."""
    estimator = "negative-binomial"
    asked = policy(0.2, kind=sa.ExpectedReidentifications, estimator=estimator, suppression_limit=limit)
    task = task_of(rows, asked)
    for node in brute_force.lattice(task):
        for general in oracle.more_general(task.taxonomies, node.node):
            sums = [
                brute_force.worst(task, each, [*brute_force.classes(task, each).values()], asked.privacy[0])[0]
                for each in (node.node, general)
            ]
            assert sums[1] <= sums[0] * (1 + 1e-9)


def test_a_mean_bounds_no_single_row_and_is_verified_beside_its_source() -> None:
    rows = [(age, sex, 40.0 + place) for place, (age, sex) in enumerate(itertools.product("abcd", "uvuvu"))]
    session = loaded([*rows, ("a", None, 1.0)])
    asked = policy(0.1, kind=sa.ExpectedReidentifications)
    release = session.anonymize("people", asked, "released")
    assert release.node == {"age": 0, "sex": 0}
    assert f"{asked.privacy[0]} is a mean over all published rows" in " ".join(release.guarantee.not_covered)
    alone = session.verify("released", asked, strict=False).measurement.models
    beside = session.verify("released", asked, source="people").measurement.models
    assert [each.met for each in alone] == [True, None]
    assert beside == release.report.models
    query = "SELECT sum(class_size * risk) / sum(class_size) FROM anon.{}('people', ['age', 'sex'], 'weight')"
    for macro, result in zip(("individual_risk", "poisson_risk"), beside, strict=True):
        assert session.connection.execute(query.format(macro)).fetchone() == (pytest.approx(result.attained),)
    session.connection.execute("CREATE OR REPLACE TABLE changed AS SELECT * REPLACE (1 AS weight) FROM released")
    found = session.verify("changed", asked, without_provenance=True, strict=False)
    assert "attained" in found.shortfalls[0]


@pytest.mark.parametrize("estimator", ["both", "poisson"])
def test_means_by_margins_are_not_taken_for_monotonic(estimator: str) -> None:
    by_margins = policy(0.1, kind=sa.ExpectedReidentifications, estimator=estimator)
    assert not by_margins.is_monotonic(by_margins.privacy[0])
    by_weights = policy(0.1, kind=sa.ExpectedReidentifications, estimator="negative-binomial", search="ola")
    assert by_weights.is_monotonic(by_weights.privacy[0])
    with pytest.raises(sa.PolicyError, match="needs monotonic models"):
        by_margins.changed({"search": "ola"})
    with pytest.raises(sa.PolicyError, match="defined for classes of one node"):
        policy(0.1, kind=sa.ExpectedReidentifications, method=sa.LocalRecoding(), quality=sa.NCP())


@given(ROWS, st.sampled_from([0.02, 0.2, 0.5]), st.sampled_from([0.0, 0.3]), st.booleans())
@settings(max_examples=examples(160), deadline=None)
def test_classes_of_local_recoding_keep_the_bound(
    rows: list[Sampled], at_most: float, limit: float, published: bool
) -> None:
    session = loaded(rows)
    settings: dict[str, object] = {"method": sa.LocalRecoding(suppression_limit=limit), "quality": sa.NCP()}
    settings |= {} if published else {"insensitive": [], "rest": "identifier"}
    asked = policy(at_most, estimator="negative-binomial", **settings)
    try:
        release = session.anonymize("people", asked, "released")
    except sa.UnsatisfiableError:
        whole = risks_at(session.connection, rows, {"age": 2, "sex": 1})
        assert whole[0][1] > at_most
        return
    assert release.report.models[0].attained <= at_most * (1 + 1e-9)
    again = session.verify("released", asked, strict=False).measurement
    if published:
        query = "SELECT max(risk) FROM anon.individual_risk('released', ['age', 'sex'], 'weight')"
        assert session.connection.execute(query).fetchone() == (pytest.approx(release.report.models[0].attained),)
        assert again.models == release.report.models
    else:
        assert (again.models[0].attained, again.models[0].met) == (None, None)
        assert 'by column "weight", which the release lacks' in again.notes[0]


SHIFTED = [("a", "u", 10), *[("b", "u", 1)] * 10, ("a", "v", 190), ("c", "u", 180), ("c", "v", 10)]
"""A heavy row, for which margins expect many others, merges with rows that stand for themselves."""


def test_margins_are_not_monotonic_where_classes_are_suppressed() -> None:
    session = loaded([(age, sex, float(weight)) for age, sex, weight in SHIFTED])
    asked = policy(0.013, estimator="poisson", suppression_limit=0.9)
    assert not asked.is_monotonic(asked.privacy[0])
    assert policy(0.013, estimator="poisson").is_monotonic(asked.privacy[0])
    lattice = session.lattice("people", asked).to_pylist()
    rows = {tuple(dict(found["node"]).values()): found["suppressed_rows"] for found in lattice}
    assert (rows[0, 0], rows[1, 0]) == (10, 11)
    with pytest.raises(sa.PolicyError, match="needs monotonic models"):
        policy(0.013, suppression_limit=0.9, search="ola")
    by_weights = policy(0.013, estimator="negative-binomial", suppression_limit=0.9, search="ola")
    assert by_weights.is_monotonic(by_weights.privacy[0])


def test_a_release_without_its_source_shows_what_its_weights_show() -> None:
    rows = [(age, sex, 40.0 + place) for place, (age, sex) in enumerate(itertools.product("abcd", "uvuvu"))]
    session = loaded(rows)
    asked = policy(0.02)
    release = session.anonymize("people", asked, "released")
    assert "no bounds" in " ".join(release.guarantee.not_covered)
    assert 'each value of "weight" is the number of people' in " ".join(release.guarantee.conditions)
    by_weights, by_margins = session.verify("released", asked).measurement.models
    assert by_weights == release.report.models[0]
    assert (by_weights.met, by_margins.met) == (True, None)
    assert session.measure("people", asked).models[0].met is False


@pytest.mark.parametrize("kind", [sa.IndividualRisk, sa.ExpectedReidentifications])
def test_both_estimates_have_one_threshold_which_is_relaxed(kind: Any) -> None:
    rows = [(age, sex, 10.0 + 3 * place) for place, (age, sex) in enumerate(itertools.product("abcd", "uvvuvuv"))]
    session = loaded(rows)
    with pytest.raises(sa.UnsatisfiableError) as refused:
        session.anonymize("people", policy(0.0001, kind=kind), "released")
    [relaxed] = [each for each in refused.value.explanation.relaxations if each.kind == "threshold"]
    assert relaxed.smallest == (kind is sa.IndividualRisk)
    session.anonymize("people", policy(relaxed.changes["privacy"][0]["at_most"], kind=kind), "released")


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("'many'", "not numeric"),
        ("0", "not positive"),
        ("-1", "not positive"),
        ("CAST('nan' AS DOUBLE)", "not positive or infinite"),
        ("CAST(NULL AS DOUBLE)", "NULL"),
        ("0.5", "4 combinations of quasi-identifiers stand for fewer people than they have rows"),
    ],
)
def test_unfit_weights_are_refused_in_words(weight: str, message: str) -> None:
    session = loaded([(age, "u", 1.0) for age in "abcd"])
    session.connection.execute(f"CREATE OR REPLACE VIEW weighed AS SELECT * REPLACE ({weight} AS weight) FROM people")
    with pytest.raises(sa.PolicyError, match=message):
        session.anonymize("weighed", policy(0.5), "released")


def test_partitions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(sa.PolicyError, match="only counts are kept"):
        loaded([("a", "u", 4.0)]).partitions.fit("people", policy(0.9), tmp_path / "sidecar")


def test_unfit_policies_are_refused_in_words() -> None:
    assert policy(0.1, row_weight=None, weight="WEIGHT").row_weight == "weight"
    with pytest.raises(sa.PolicyError, match="name one column"):
        policy(0.1, weight="other")
    with pytest.raises(sa.PolicyError, match="counts rows: give it a table with one row per individual"):
        policy(0.1, individual="person", identifiers=["person"])
    with pytest.raises(sa.PolicyError, match="would have no label"):
        policy(0.1, unknown="top")
    with pytest.raises(sa.PolicyError, match="counts rows, not the weights"):
        policy(0.1, method=sa.Mondrian())
    with pytest.raises(sa.PolicyError, match="name their column in row_weight"):
        policy(0.1, row_weight=None)
    with pytest.raises(sa.PolicyError, match='take suppression "drop"'):
        policy(0.1, suppression="mask")
    with pytest.raises(sa.PolicyError, match='take estimator = "negative-binomial"'):
        policy(0.1, method=sa.LocalRecoding(), quality=sa.NCP())


def test_no_advice_that_does_not_help_with_local_recoding() -> None:
    fields = {"quasi_identifiers": ["age"], "row_weight": "weight", "method": sa.LocalRecoding()}
    for model, helps in ((sa.IndividualRisk(0.1), True), (sa.ExpectedReidentifications(0.1), False)):
        with pytest.raises(sa.PolicyError) as refused:
            sa.Policy(**fields, privacy=[model])
        assert ("take estimator" in str(refused.value)) is helps
