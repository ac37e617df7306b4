"""Bounds on the mean risk of published rows: the best node, the largest k, and what is refused."""

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from tests import brute_force, oracle
from tests.effort import examples
from tests.search_cases import QUALITIES, Table, mean_models, policy_for, privacy_models, tables, task_of
from tests.stories.test_exploration import session_of

EXAMPLES = settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.too_slow])
SIX = {"age": [[age, "<3" if age < "3" else ">2", "*"] for age in "12345"]}
AGES = ["1", "1", "2", "3", "4", "5"]


def policy(*models: Any, **settings: Any) -> sa.Policy:
    taxonomies = {name: sa.Taxonomy.from_rows(rows) for name, rows in SIX.items()}
    return sa.Policy(**{"quasi_identifiers": ["age"], "privacy": models, "taxonomies": taxonomies, **settings})


@pytest.fixture
def session() -> sa.Session:
    opened = sa.connect(threads=1)
    opened.connection.execute("CREATE TABLE people AS SELECT unnest(?) AS age", [AGES])
    return opened


@EXAMPLES
@given(tables(), mean_models(), privacy_models(), st.sampled_from(QUALITIES), st.sampled_from([0.0, 0.2, 0.5, 0.8]))
def test_the_best_node_and_the_largest_k_are_those_of_brute_force(
    table: Table, mean: Any, others: list[Any], quality: Any, limit: float
) -> None:
    models = [mean, *(model for model in others if type(model) is not type(mean))]
    asked = policy_for(table, models, quality, limit).changed({"identifiers": ["person"]})
    nodes = brute_force.lattice(task_of(table, asked))
    best = brute_force.answer(nodes)
    with session_of(table) as opened:
        found = {tuple(dict(row["node"]).values()): row for row in opened.lattice("given", asked).to_pylist()}
        assert {levels for levels, row in found.items() if row["satisfies"]} == {
            node.levels for node in nodes if node.satisfies
        }
        for levels, row in found.items():
            assert row["best_k"] == largest_k(table, asked, levels)
            assert (row["blocking_model"] is None) == row["satisfies"]
        if best is None:
            with pytest.raises(sa.UnsatisfiableError):
                opened.anonymize("given", asked, into="made")
            return
        release = opened.anonymize("given", asked, into="made")
        assert tuple(release.node.values()) == best.best.levels
        assert release.report.suppressed_rows == best.best.suppressed_rows
        [result] = [each for each in release.report.models if each.model == str(mean)]
        assert result.attained is not None
        assert result.attained <= mean.at_most
        assert opened.verify("made", asked).met


def largest_k(table: Table, asked: sa.Policy, levels: brute_force.Levels) -> int | None:
    """The largest k for which a node satisfies, by asking for each."""
    node = dict(zip(asked.quasi_identifiers, levels, strict=True))
    with_k = (asked.with_k(k) if k > 1 else without_k(asked) for k in range(1, len(table.rows) + 1))
    satisfying = [
        k for k, each in enumerate(with_k, start=1) if brute_force.measured(task_of(table, each), node).satisfies
    ]
    return max(satisfying, default=None)


def without_k(asked: sa.Policy) -> sa.Policy:
    others = tuple(model for model in asked.privacy if not isinstance(model, sa.KAnonymity))
    return asked.model_copy(update={"privacy": others})


@EXAMPLES
@given(tables(), mean_models(), st.sampled_from([0.0, 0.2, 0.5]))
def test_less_general_nodes_suppress_what_a_mean_proves(table: Table, mean: Any, limit: float) -> None:
    """Whatever they suppress: no choice of fewer rows leaves a mean within the bound."""
    task = task_of(table, policy_for(table, [mean], sa.Prec(), limit))
    for node in oracle.lattice(table.taxonomies, table.taxonomies):
        groups = [*brute_force.classes(task, node).values()]
        proven = brute_force.mean(groups, mean) * len(table.rows)
        for general in oracle.more_general(table.taxonomies, node):
            merged = [*brute_force.classes(task, general).values()]
            assert brute_force.mean(merged, mean) * len(table.rows) <= proven + brute_force.SLACK


def test_suppression_may_raise_the_mean_of_a_more_general_node(session: sa.Session) -> None:
    """At the bottom all rows but two are alone; merged, a class of three is left out, and of two by two none is."""
    session.connection.execute("CREATE TABLE ill AS SELECT unnest(?) AS age, unnest(?) AS ill", [AGES, [*"abaaab"]])
    models = [sa.AverageRisk(0.6), sa.EntropyLDiversity("ill", 1.5)]
    asked = policy(*models, sensitive=["ill"], suppression_limit=0.9)
    rows = {dict(row["node"])["age"]: row["satisfies"] for row in session.lattice("ill", asked).to_pylist()}
    assert rows[0]
    with pytest.raises(sa.PolicyError, match=r"with suppression needs monotonic models, which average risk"):
        asked.changed({"search": "ola"})
    assert policy(models[0], search="ola").search == "ola"


def test_shares_compare_exactly(session: sa.Session) -> None:
    """Four of six rows are alone at the bottom; five classes of six rows."""
    assert session.measure("people", policy(sa.SampleUniqueness(0.5))).models[0].attained == 4 / 6
    for model, node in (
        (sa.SampleUniqueness(4 / 6), 0),
        (sa.SampleUniqueness(0.66), 1),
        (sa.AverageRisk(5 / 6), 0),
        (sa.AverageRisk(0.83), 1),
        (sa.AverageRisk(0.333), 2),
    ):
        release = session.anonymize("people", policy(model), into="found", replace=True)
        assert release.node == {"age": node}
        assert release.guarantee.claims == (f'the rows of the release over "age" meet {model} ({model.definition})',)
        assert f"{model} is a mean over all published rows, and bounds no single one" in release.guarantee.not_covered


def test_masked_rows_are_published(session: sa.Session) -> None:
    """A masked row alone is left out; two of them are not alone."""
    session.connection.execute("INSERT INTO people VALUES ('5')")
    for model, limit, masked in ((sa.SampleUniqueness(0), 0.5, 3), (sa.AverageRisk(0.5), 0.5, 3)):
        asked = policy(model, sa.KAnonymity(2), suppression="mask", suppression_limit=limit, quality=sa.DMStar())
        release = session.anonymize("people", asked, into="masked", replace=True)
        assert (release.node, release.report.rows.masked) == ({"age": 0}, masked)
        assert session.verify("masked", asked).met


def test_a_changed_release_is_found(session: sa.Session) -> None:
    asked = policy(sa.SampleUniqueness(0.2))
    session.anonymize("people", asked, into="found")
    assert session.verify("found", asked).met
    session.connection.execute("CREATE TABLE changed AS FROM people")
    found = session.verify("changed", asked, without_provenance=True, strict=False)
    assert found.shortfalls == ("sample uniqueness (at most 0.2): attained 0.666667",)


LABELS = {
    "age": ["age", "age // 2", "age // 6", "0"],
    "sex": ["sex", "'*'"],
}


def uniqueness(connection: Any, node: dict[str, int], people: int, kept: int = 1) -> float | None:
    """What the macro estimates from the classes of a node with some rows at least."""
    labels = ", ".join(f"{LABELS[name][level]} AS {name}" for name, level in node.items())
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE labelled AS WITH rows AS (SELECT {labels} FROM sample) "
        f"FROM rows QUALIFY count(*) OVER (PARTITION BY {', '.join(node)}) >= {kept}"
    )
    query = "SELECT estimate / ? FROM anon.population_uniques('labelled', ?, ?)"
    [found] = connection.execute(query, [people, [*node], people]).fetchall()
    return found[0]  # type: ignore[no-any-return]


SAMPLE = """
CREATE TABLE sample AS
SELECT 1 + (i * 7919) % 101 % 12 AS age, ['u', 'v', 'w'][1 + (i * 31) % 7 % 3] AS sex
FROM range(60) AS _ (i)
"""
WIDE: dict[str, Any] = {
    "quasi_identifiers": ["age", "sex"],
    "taxonomies": {"age": {"kind": "intervals", "widths": [2, 6]}, "sex": "flat"},
    "quality": sa.LM(),
}


@pytest.mark.parametrize(("people", "at_most"), [(200, 0.05), (5000, 0.1)])
def test_uniques_of_the_population_are_estimated_at_each_node(people: int, at_most: float) -> None:
    model = sa.PopulationUniqueness(at_most, people)
    with sa.connect(threads=1) as session:
        session.install()
        session.connection.execute(SAMPLE)
        for limit, k in ((0.0, 1), (0.5, 2)):
            others = [sa.KAnonymity(k)] if k > 1 else []
            asked = sa.Policy(**WIDE, privacy=[model, *others], suppression_limit=limit)
            nodes = session.lattice("sample", asked).to_pylist()
            for row in nodes:
                worst = row["models"][0]["worst"]
                estimate = uniqueness(session.connection, dict(row["node"]), people, k)
                assert worst == (math.inf if estimate is None else pytest.approx(estimate, abs=1e-12))
                assert row["satisfies"] == (row["suppressed_rows"] <= 60 * limit and worst <= at_most)
                assert row["best_k"] is None
            release = session.anonymize("sample", asked, into="made", replace=True)
            best = min(row["loss"] for row in nodes if row["satisfies"])
            assert release.report.loss == pytest.approx(best)
            assert session.verify("made", asked).met


def test_estimates_can_rise_when_a_node_is_generalized() -> None:
    """Classes of three and of two rows become one: no node says anything about another."""
    sizes = [3, 2, 4, 1, 1, 2, 1, 4, 2, 2, 2, 4]
    rows = [[str(age), "0" if age < 2 else str(age), "*"] for age in range(len(sizes))]
    model = sa.PopulationUniqueness(0.03, 60)
    asked = sa.Policy(quasi_identifiers=["age"], privacy=[model], taxonomies={"age": sa.Taxonomy.from_rows(rows)})
    with sa.connect(threads=1) as session:
        ages = [str(age) for age, size in enumerate(sizes) for _ in range(size)]
        session.connection.execute("CREATE TABLE people AS SELECT unnest(?) AS age", [ages])
        found = session.lattice("people", asked).to_pylist()
        assert [row["models"][0]["worst"] for row in found] == pytest.approx([0.0288943433, 0.0336049547, 0])
        assert [row["satisfies"] for row in found] == [True, False, True]
        with pytest.raises(sa.PolicyError, match="needs monotonic models, which population uniqueness"):
            asked.changed({"search": "ola"})
        with pytest.raises(sa.PolicyError, match="of a sample of these people, and the table has 28 rows"):
            session.anonymize("people", asked.changed({"privacy": [sa.PopulationUniqueness(0.5, 27)]}), into="made")
        with pytest.raises(sa.PolicyError, match="masked rows are in no class of its sample"):
            asked.changed({"suppression": "mask"})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": sa.LocalRecoding()}, "which is defined for classes of one node"),
        ({"method": sa.Mondrian()}, "which is defined for classes of one node"),
        ({"objective": "privacy", "max_loss": 0.5}, "depends on the rows that k suppresses"),
        ({"individual": "id", "identifiers": ["id"]}, "give it a table with one row per individual"),
        (
            {"earlier": [{"release": "old", "key": "id"}], "identifiers": ["id"]},
            "is not held together with other releases",
        ),
    ],
)
def test_what_policies_refuse(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(sa.PolicyError, match=message):
        policy(sa.AverageRisk(0.5), **settings)


def test_the_page_to_choose_a_node_on_is_refused(session: sa.Session) -> None:
    with pytest.raises(sa.PolicyError, match="can fail at a smaller k"):
        session.explore("people", policy(sa.AverageRisk(0.5)))
