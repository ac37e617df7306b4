"""IPA as published: the tables of the paper, the chances that it gives, and the promises that it breaks."""

import hashlib
import itertools
import json
import math
from collections import Counter
from collections.abc import Iterator

import duckdb
import numpy as np
import pytest

import sqlanon as sa
from sqlanon.audits.audit import audit_privacy
from sqlanon.audits.mechanisms import AuditedPolicy
from sqlanon.chance.accountant import Accountant
from sqlanon.chance.exact import Floats, Integers
from sqlanon.chance.random_source import RandomSource
from sqlanon.methods.noisy_node.shared import Draws, prepared
from sqlanon.nodes.table import encode_table
from sqlanon.papers import IPAAsPublished
from sqlanon.papers import ipa_as_published as ipa_paper
from sqlanon.queries.kit.macros import schema_statements
from tests.engines import engine_of
from tests.fixed_chance import FixedChance

NODE = {"years": 1, "gender": 0, "zip_code": 1}
TEENS = ("[10 - 19]", "M", "[20000 - 29999]")
TWENTIES = ("[20 - 29]", "F", "[30000 - 39999]")
MASKED = ("*", "*", "*")
TABLE_5 = """
    CREATE TABLE table_5 AS SELECT * FROM (VALUES
        (17, 'M', 28912, 'Gastritis'), (16, 'M', 23512, 'Pneumonia'), (13, 'M', 24231, 'Pneumonia'),
        (24, 'F', 31891, 'Anemia'), (29, 'F', 34225, 'Anemia'), (25, 'F', 37756, 'Diabetes'), (67, 'M', 80061, 'Stroke')
    ) AS table_5 (years, gender, zip_code, disease)
"""
TABLE_7 = Counter(
    {
        (*TEENS, "Gastritis"): 1,
        (*TEENS, "Pneumonia"): 2,
        (*TWENTIES, "Anemia"): 2,
        (*TWENTIES, "Diabetes"): 1,
        (*MASKED, "Stroke"): 1,
    }
)
TAXONOMIES = """
    INSERT INTO anon.taxonomy
    SELECT 'years', level, CAST(age AS VARCHAR), CASE level
        WHEN 0 THEN CAST(age AS VARCHAR)
        WHEN 1 THEN format('[{} - {}]', age // 10 * 10, age // 10 * 10 + 9)
        ELSE '*' END
    FROM range(100) AS ages (age), range(3) AS levels (level)
    UNION ALL
    SELECT 'gender', level, gender, CASE level WHEN 0 THEN gender ELSE '*' END
    FROM (VALUES ('M'), ('F')) AS genders (gender), range(2) AS levels (level)
    UNION ALL
    SELECT 'zip_code', level, CAST(zip AS VARCHAR), CASE level
        WHEN 0 THEN CAST(zip AS VARCHAR)
        WHEN 1 THEN format('[{} - {}]', zip // 10000 * 10000, zip // 10000 * 10000 + 9999)
        ELSE '*' END
    FROM range(100000) AS zips (zip), range(3) AS levels (level)
    UNION ALL
    SELECT 'team', level, team, CASE level WHEN 0 THEN team ELSE '*' END
    FROM (VALUES ('a'), ('b'), ('c')) AS teams (team), range(2) AS levels (level)
    UNION ALL
    SELECT 'size', level, CAST(size AS VARCHAR), CASE level WHEN 0 THEN CAST(size AS VARCHAR) ELSE '*' END
    FROM range(3) AS sizes (size), range(2) AS levels (level)
"""
TEAMS = """
    CREATE TABLE teams AS SELECT * FROM (VALUES
        ('a', 0, 'G'), ('a', 1, 'P'), ('a', 2, 'P'), ('b', 0, 'A'), ('b', 0, 'A'), ('b', 1, 'D'), ('c', 0, 'S')
    ) AS teams (team, size, disease)
"""
OUTLYING = 5.0
"""Statistics are taken for chance up to so many standard deviations."""


@pytest.fixture(scope="module")
def warehouse() -> Iterator[sa.Session]:
    """The tables of the paper, and one of the same classes with a small taxonomy, for many runs."""
    with duckdb.connect(config={"threads": 2}) as connection:
        for statement in (*schema_statements(), TABLE_5, TAXONOMIES, TEAMS):
            connection.execute(statement)
        for name in ("years", "gender", "zip_code", "team", "size"):
            connection.execute("INSERT INTO anon.taxonomy_domain VALUES (?, 'declared')", [name])
        connection.execute("CREATE TABLE teams_of_six AS FROM teams WHERE disease <> 'S'")
        connection.execute("CREATE TABLE singleton AS FROM teams WHERE disease = 'S'")
        connection.execute("CREATE TABLE crowd AS SELECT 'a' AS team, 0 AS size, 'G' AS disease FROM range(1000)")
        yield sa.connect(connection)


def policy_of(method: sa.IPA) -> sa.Policy:
    names = ["team", "size"] if method.node is None or "team" in method.node else [*method.node]
    return sa.Policy(quasi_identifiers=names, sensitive=["disease"], method=method)


SALT = 5


def outcomes(
    warehouse: sa.Session, table: str, method: sa.IPA, runs: int, source: RandomSource | None = None
) -> list[tuple[tuple[int, ...], dict[str, int], int]]:
    """Node, rows by hash of labels and value, and the number of runs of all that many releases show."""
    audited = AuditedPolicy(warehouse, policy_of(method), source or sa.SeededSource(7))
    assert audited.claimed is None
    audited.salt = SALT
    found = audited.outcomes(table, runs)
    assert sum(found.values()) == runs
    return [(levels, dict(shown.items), count) for (levels, shown), count in found.items()]


def hashed(*parts: str) -> str:
    """What stands for labels and a value in an outcome: labels by their code, which is 1 for NULL."""
    return hashlib.md5(json.dumps((str(SALT), *parts), separators=(",", ":")).encode()).hexdigest()  # noqa: S324


def deviations(found: float, expected: float, runs: int) -> float:
    """By how many standard deviations a share of runs is off."""
    return abs(found - expected) / math.sqrt(expected * (1 - expected) / runs)


class TestTablesOfThePaper:
    def released(self, warehouse: sa.Session, threshold: float, counterfeits: float) -> Counter[tuple[str, ...]]:
        method = IPAAsPublished(node=NODE)
        chance = FixedChance(method, threshold, counterfeits, 0.01)
        warehouse.anonymize("table_5", policy_of(method), "released", replace=True, random_source=chance)
        return Counter(warehouse.connection.execute("SELECT years, gender, zip_code, disease FROM released").fetchall())

    def test_table_7_masks_the_class_of_one(self, warehouse: sa.Session) -> None:
        assert self.released(warehouse, 0, 0) == TABLE_7

    def test_table_8_has_a_counterfeit_row_in_each_other_class(self, warehouse: sa.Session) -> None:
        table_8 = self.released(warehouse, 0, 1.2)
        assert table_8 - TABLE_7 == {(*TEENS, "Gastritis"): 1, (*TWENTIES, "Anemia"): 1}
        assert self.utility(warehouse) == pytest.approx(2.535979, abs=5e-7)

    def utility(self, warehouse: sa.Session) -> float:
        """Of the node of table 8, with its chance."""
        method, engine = IPAAsPublished(node=NODE), engine_of(warehouse)
        charges = Accountant(None, dataset="", method="ipa", policy_sha256="").charge(method.budgets)
        draws = Draws(method, FixedChance(method, 0, 1.2, 0.01), charges)
        with engine.transaction(), engine.scratch():
            bound = prepared(engine, engine.resolve("table_5"), policy_of(method))
            encoded = encode_table(engine, bound, label_losses=("ncp",))
            ipa_paper.chosen_nodes(engine, encoded, draws)
            (row,) = engine.fetch(ipa_paper.utilities(), "utilities", "node")
        return float(row["utility"])


class TestChances:
    @pytest.mark.parametrize("t", [2, 5, 10, 50])
    def test_a_class_of_one_is_shown_as_often_whatever_the_threshold(self, warehouse: sa.Session, t: int) -> None:
        """E5: half of exp(-ε), as the scale of the noise grows with t; with a scale of 1 / ε it would not."""
        runs = 20_000
        method = IPAAsPublished(threshold=t, node={"team": 0, "size": 0})
        found = outcomes(warehouse, "singleton", method, runs)
        masked = hashed("*", "S")
        share = sum(count for _, shown, count in found if masked not in shown) / runs
        assert deviations(share, math.exp(-0.1) / 2, runs) < OUTLYING
        assert deviations(share, math.exp(-0.1 * (t - 1)) / 2 if t > 2 else math.exp(-1) / 2, runs) > 2 * OUTLYING

    def test_a_class_gets_counterfeit_rows_by_the_positive_side_of_the_noise(self, warehouse: sa.Session) -> None:
        """E12: 1.66 on average, 5 or more with 13 %; two-sided noise would have a mean of 0."""
        runs = 50_000
        found = outcomes(warehouse, "crowd", IPAAsPublished(node={"team": 0, "size": 0}), runs)
        added = Counter[int]()
        for _, shown, count in found:
            added[sum(shown.values()) - 1000] += count
        mean = sum(rows * count for rows, count in added.items()) / runs
        spread = math.sqrt(sum(rows**2 * count for rows, count in added.items()) / runs - mean**2)
        assert abs(mean - 1.660) < OUTLYING * spread / math.sqrt(runs)
        five_or_more = sum(count for rows, count in added.items() if rows >= 5) / runs
        assert deviations(five_or_more, 0.1296, runs) < OUTLYING
        # Rounded down or up instead, it would be half of exp(-1.5) or of exp(-1.2).
        assert min(deviations(five_or_more, math.exp(-0.3 * at) / 2, runs) for at in (4, 5)) > OUTLYING

    def test_counterfeit_rows_get_nearly_any_value(self, warehouse: sa.Session) -> None:
        """E11: values drawn with another ΔS fail, and so do uniform ones. With t = 1 a threshold has no noise."""
        many = {"suppression": "0.1", "insertion": "0.03", "value": "0.3", "candidates": "0.57"}
        method = IPAAsPublished(threshold=1, split=many, node={"team": 0, "size": 1})
        found = outcomes(warehouse, "teams", method, 10_000)
        has = {"G": 1, "P": 2, "A": 0, "D": 0, "S": 0}
        added = {
            value: sum((shown.get(hashed("2", value), 0) - rows) * count for _, shown, count in found)
            for value, rows in has.items()
        }
        assert all({hashed("2", "G"), hashed("2", "P"), hashed("*", "S")} <= shown.keys() for _, shown, _ in found)

        def unlikely(probabilities: list[float]) -> float:
            total = sum(added.values())
            return sum((n - total * p) ** 2 / (total * p) for n, p in zip(added.values(), probabilities, strict=True))

        assert unlikely([0.20138, 0.20907, 0.19652, 0.19652, 0.19652]) < 25
        assert unlikely([0.2] * 5) > 50
        assert unlikely([0.2040, 0.2284, 0.1892, 0.1892, 0.1892]) > 50

    def test_a_node_is_drawn_by_what_it_is_worth_of_all_nodes(self, warehouse: sa.Session) -> None:
        """Nodes come one after the other, yet the chance is that of a choice at the end, in every run its own."""
        runs, source, engine = 4_000, RememberingSource(3), engine_of(warehouse)
        method = IPAAsPublished(budget=sa.Budget(50))
        drawn = Counter[tuple[int, ...]]()
        for levels, _, count in outcomes(warehouse, "teams", method, runs, source):
            drawn[levels] += count
        nodes = prepared(engine, engine.resolve("teams"), policy_of(method)).lattice.nodes()
        counts = np.array([drawn[levels] for levels in nodes])
        weights = np.exp(np.column_stack(source.weights))
        chances = weights / weights.sum(axis=1, keepdims=True)
        assert chances.shape == (runs, 4)
        spread = np.sqrt((chances * (1 - chances)).sum(axis=0))
        assert (np.abs(counts - chances.sum(axis=0)) / spread).max() < OUTLYING
        assert np.abs(counts - runs / 4).max() / spread.max() > 2 * OUTLYING

    def test_a_part_of_what_chance_gave_is_that_of_its_runs_and_classes(self) -> None:
        whole = ipa_paper.Perturbation(
            np.arange(3),
            np.arange(12.0).reshape(3, 4),
            np.array([[2, 0, 1, 3], [0, 0, 4, 1], [1, 2, 0, 0]]),
            np.arange(14.0),
        )
        runs, classes = np.array([True, False, True]), slice(1, 4)
        wanted = {place: given for place, given in by_place(whole).items() if place[0] != 1 and place[1] >= 1}
        assert by_place(whole.part(runs, classes), first_class=1) == wanted
        assert by_place(whole.part(runs).part(np.array([False, True]))) == {
            place: given for place, given in by_place(whole).items() if place[0] == 2
        }

    def test_noise_that_would_add_more_rows_than_can_be_held_is_refused(self, warehouse: sa.Session) -> None:
        """Before any is drawn, with what to do about it; what was there stays."""
        warehouse.connection.execute("CREATE TABLE untouched AS SELECT 1 AS one")
        policy = policy_of(IPAAsPublished(budget=sa.Budget("1e-9")))
        with pytest.raises(sa.PolicyError, match=r"counterfeit rows would be drawn .* raise ε"):
            warehouse.anonymize("teams", policy, "untouched", replace="anything", random_source=sa.SeededSource(1))
        assert warehouse.connection.execute("FROM untouched").fetchall() == [(1,)]
        temporary = "SELECT count(*) FROM duckdb_tables() WHERE temporary"
        assert warehouse.connection.execute(temporary).fetchall() == [(0,)]


def by_place(given: ipa_paper.Perturbation, first_class: int = 0) -> dict[tuple[int, int], tuple[float, list[float]]]:
    """By run and class, the threshold and the numbers of the counterfeit rows."""
    numbers = iter(given.uniforms.tolist())
    found = {
        (run, first_class + place): (threshold, list(itertools.islice(numbers, count)))
        for run, *rows in zip(given.runs.tolist(), given.thresholds.tolist(), given.counterfeits.tolist(), strict=True)
        for place, (threshold, count) in enumerate(zip(*rows, strict=True))
    }
    assert list(numbers) == []
    return found


class RememberingSource(sa.SeededSource):
    """A seeded source that keeps the weights of what it chooses between."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.weights: list[Floats] = []

    def softmax_choice(self, log_weights: Floats, *, runs: int = 1) -> Integers:
        self.weights.append(log_weights[:, 1:])
        return super().softmax_choice(log_weights, runs=runs)


class TestBrokenPromises:
    def test_a_value_that_one_person_has_is_always_shown(self, warehouse: sa.Session) -> None:
        """E1: without the person it is never shown, so that no ε and no δ < 1 hold."""
        method = IPAAsPublished(node={"team": 1, "size": 1})
        stroke = {hashed("S"), hashed("*", "S")}
        shares = {
            table: sum(count for _, shown, count in outcomes(warehouse, table, method, 5_000) if stroke & shown.keys())
            for table in ("teams", "teams_of_six")
        }
        assert shares == {"teams": 5_000, "teams_of_six": 0}

    def test_there_are_never_fewer_rows_than_people(self, warehouse: sa.Session) -> None:
        """E2: six rows never come of seven, and of six when no class that is kept gets counterfeit rows."""
        runs, method = 20_000, IPAAsPublished(node={"team": 0, "size": 1})
        shares = [
            sum(count for _, shown, count in outcomes(warehouse, table, method, runs) if sum(shown.values()) == 6)
            / runs
            for table in ("teams", "teams_of_six")
        ]
        suppressed, none_added = math.exp(-0.1) / 2, 1 - math.exp(-0.15) / 2
        assert shares[0] == 0
        assert deviations(shares[1], (suppressed + (1 - suppressed) * none_added) ** 2, runs) < OUTLYING

    def test_an_audit_finds_it_guilty(self, warehouse: sa.Session) -> None:
        """What it is said to cost is ε = 1."""
        method = IPAAsPublished(node={"team": 1, "size": 1})
        audited = AuditedPolicy(warehouse, policy_of(method), sa.SeededSource(5))
        audit = audit_privacy(audited, "teams", "teams_of_six", runs=4_000, claimed=sa.Budget(1, "1e-6"))
        assert audit.violates
        assert audit.lower_bound > 5


class TestWhatIsSaid:
    @pytest.mark.parametrize("node", [None, {"team": 0, "size": 0}])
    def test_the_release_claims_nothing_and_charges_nothing(
        self, warehouse: sa.Session, node: dict[str, int] | None
    ) -> None:
        """Chance of the operating system is no better; a charge would need a ledger, which memory does not have."""
        pytest.importorskip("opendp")
        method = IPAAsPublished(node=node)
        release = warehouse.anonymize("teams", policy_of(method), "released", replace=True)
        report, guarantee = release.report, release.guarantee
        assert guarantee.claims == () and guarantee.budget is None and guarantee.theorem == "none"
        assert "not differentially private for any ε" in str(guarantee.void)
        assert report.stamp == "NOT PRIVATE" and report.method == "ipa-as-published" and report.thresholds == {}
        assert {each.step: float(each.budget.epsilon) for each in report.spent} == {
            "suppression": 0.1,
            "insertion": 0.3,
            "value": 0.3,
            "candidates": 0.3,
        }
        assert {each.position for each in report.spent} == {None}
        assert report.lattice_nodes == (4 if node is None else 1)
        (comment,) = warehouse.connection.execute(
            "SELECT comment FROM duckdb_tables() WHERE table_name = 'released'"
        ).fetchone()
        assert "NOT PRIVATE" in comment

    def test_what_is_shown_is_what_was_drawn_between(self, warehouse: sa.Session) -> None:
        """The rows are made again for the node that is drawn: they are worth what that node was, to the last row."""
        policy, engine = policy_of(IPAAsPublished(reveal_diagnostics=True)), engine_of(warehouse)
        nodes = list(prepared(engine, engine.resolve("teams"), policy).lattice.nodes())
        for seed in range(3):
            source = RememberingSource(seed)
            release = warehouse.anonymize("teams", policy, "released", replace=True, random_source=source)
            (weights,) = np.column_stack(source.weights)
            utility = weights[nodes.index(tuple(release.node.values()))] * 6 / 0.3
            assert release.report.diagnostics is not None
            assert 3 - release.report.diagnostics["information_loss"] == pytest.approx(utility, abs=1e-12)
