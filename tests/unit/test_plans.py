"""Plans of ε-safe releases: their k and class sizes against exact binomial tails, and what they refuse."""

import csv
import json
import math
from fractions import Fraction
from pathlib import Path

import pytest
from scipy.special import bdtr, bdtrc

import sqlanon as sa
from sqlanon.evaluation import EpsilonSafePlan, plan_epsilon_safe
from sqlanon.evaluation.plans import LINES, NAME, plan_chart, reported, shares
from sqlanon.evaluation.results import write_files
from sqlanon.model.sampled_classes import least_rows


@pytest.fixture(scope="module", params=[False, True])
def plan(request: pytest.FixtureRequest) -> EpsilonSafePlan:
    return plan_epsilon_safe(100_000, 2, "1e-6", tight=request.param)


def test_each_k_is_the_least(plan: EpsilonSafePlan) -> None:
    for sample in plan.samples:
        for k, tight in ((sample.k, False), (sample.tight_k, True)):
            costs = [sa.delta(each, float(sample.beta), 1.9, tight=tight) for each in (k - 1, k)]
            assert costs[0] > 1e-6 >= costs[1]
        assert sample.tight_k <= sample.k


def test_classes_are_shown_and_lost_as_it_says(plan: EpsilonSafePlan) -> None:
    for sample in plan.samples:
        k, beta = (sample.tight_k if plan.tight else sample.k), float(sample.beta)
        shown = bdtrc(k - 1, [sample.shown_from - 1, sample.shown_from], beta)
        lost = bdtr(k - 1, [sample.lost_to, sample.lost_to + 1], beta)
        assert shown[0] < 0.95 <= shown[1]
        assert lost[0] >= 0.95 > lost[1]
        assert sample.sampled_rows == 100_000 * sample.beta
        assert sample.share == sample.shown_from / 100_000


def test_the_parts_of_epsilon(plan: EpsilonSafePlan) -> None:
    assert plan.epsilon_node == Fraction(1, 10)
    assert plan.epsilon_node + plan.epsilon_sampling == plan.budget.epsilon == 2
    public = plan_epsilon_safe(100, "1.9", "1e-6", epsilon_node=0, tight=plan.tight)
    assert [sample.k for sample in public.samples] == [sample.k for sample in plan.samples]


def test_the_best_shows_the_smallest_classes(plan: EpsilonSafePlan) -> None:
    assert plan.best.shown_from == min(sample.shown_from for sample in plan.samples)
    assert plan.best.beta == max(s.beta for s in plan.samples if s.shown_from == plan.best.shown_from)


@pytest.mark.parametrize("epsilon", ["0.00101", "0.0051", "0.1", "0.5", "0.9", "1.9", "5", "50", "1e20"])
def test_shares_are_round_and_end_with_the_largest(epsilon: str) -> None:
    found = shares(Fraction(epsilon))
    assert found == sorted(set(found))
    assert len(found) <= 21
    assert all(0 < share < 1 and 1000 % share.denominator == 0 for share in found)
    assert -math.log1p(-float(found[-1])) <= float(Fraction(epsilon))
    larger = found[-1] + Fraction(1, 1000)
    assert larger == 1 or -math.log1p(-float(larger)) > float(Fraction(epsilon))


def test_the_largest_share_of_a_rounded_epsilon() -> None:
    """-ln(1 - 3/4), rounded down as a float, admits 3/4."""
    assert shares(Fraction(math.log(4)))[-1] == Fraction(3, 4)


def test_a_class_that_is_shown_takes_so_many_rows() -> None:
    assert least_rows(2, 0.5, 0.25) == 2
    assert least_rows(2, 0.5, 0.26) == 3
    assert least_rows(1 << 40, 0.001, 0.95) is None


def test_a_table_that_is_too_small() -> None:
    found = reported(plan_epsilon_safe(50, 2, "1e-6"))
    assert found.findings[0].startswith("No class of the table is likely to be shown: that takes 60 rows")
    assert found.rows[0]["share_per_mille"] == "3620"


def test_words_and_files(plan: EpsilonSafePlan, tmp_path: Path) -> None:
    found = reported(plan, plan_chart(plan))
    best = (
        "β = 0.45 and k = 20, of these: those of 57 rows" if plan.tight else "β = 0.4 and k = 18, of these: those of 60"
    )
    assert best in found.findings[0]
    assert "ε = 2 is 0.1 for the choice of the node, on the whole table, and 1.9 for the sampling" in found.notes[0]
    write_files(tmp_path, NAME, found, replace=False)
    with (tmp_path / f"{NAME}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(float(row["beta"]), int(row["k"])) for row in rows] == [(float(s.beta), s.k) for s in plan.samples]
    assert "| 0.4 | 18 | 17 | 40,000 |" in (tmp_path / f"{NAME}.md").read_text(encoding="utf-8")


def test_the_chart_has_all_lines(plan: EpsilonSafePlan, tmp_path: Path) -> None:
    plan.chart(tmp_path / "plan.json")
    document = (tmp_path / "plan.json").read_text(encoding="utf-8")
    drawing = json.dumps(json.loads(document), ensure_ascii=False)
    assert all(name in drawing for name, _, _ in LINES.values())
    assert f"smallest: {plan.best.shown_from} rows" in drawing
    assert "ε = 2 (0.1 for the node, 1.9 for the sampling), δ = 1e-06; a table of 100,000 rows" in drawing
    with pytest.raises(sa.PolicyError, match="must end in one of"):
        plan.chart(tmp_path / "plan.gif")


def test_a_public_node(tmp_path: Path) -> None:
    public = plan_epsilon_safe(100_000, "0.0015", "1e-5", epsilon_node=0)
    assert [sample.beta for sample in public.samples] == [Fraction(1, 1000)]
    assert "The node is public and costs nothing" in reported(public).notes[0]
    public.chart(tmp_path / "plan.svg")
    assert "the node is public" in (tmp_path / "plan.svg").read_text(encoding="utf-8")


def test_what_it_refuses() -> None:
    with pytest.raises(sa.PolicyError) as refused:
        plan_epsilon_safe(0, "0.1", 0)
    assert [word in str(refused.value) for word in ("rows: ", "delta: ", "epsilon_node: ")] == [True] * 3
    with pytest.raises(sa.PolicyError, match="epsilon_node: must be exact"):
        plan_epsilon_safe(10, 1, "1e-6", epsilon_node=0.1)  # type: ignore[arg-type]
    with pytest.raises(sa.PolicyError, match="whole number"):
        plan_epsilon_safe(1.5, 1, "1e-6")  # type: ignore[arg-type]
    with pytest.raises(sa.PolicyError, match="admits no beta of 1/1000"):
        plan_epsilon_safe(10, "0.1005", "1e-6")
