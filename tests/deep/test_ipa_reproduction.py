"""``sqlanon reproduce ipa``: the invented patients, the measures of their releases, and the files of the command."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest import mock

import pytest

import sqlanon as sa
from sqlanon.evaluation import query_answers, stroke_queries
from sqlanon.model.budget import Budget
from sqlanon.papers import IPAAsPublished
from sqlanon.papers import ipa_experiment as ipa
from sqlanon.papers.experiments import table_rows
from sqlanon.papers.ipa_experiment import PRINTED
from tests.reproductions import reproduced_twice, run

ROW_COUNT = 20_000
SHARE = ROW_COUNT / ipa.ROW_COUNT


def printed_of(query: str, column: str = "truth") -> list[float]:
    return [row[column] for (name, _), row in PRINTED.items() if name == query]


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with sa.connect(":memory:") as found:
        ipa.invent(found, ROW_COUNT)
        yield found


class TestPatients:
    def test_there_are_as_many_as_asked_and_the_same_again(self, session: sa.Session) -> None:
        columns = session.connection.sql("FROM patients").columns
        assert columns == ["age", "sex", "length_of_stay", "location", "surgery", "disease"]
        with sa.connect(":memory:") as other:
            ipa.invent(other, ROW_COUNT)
            checksum = "SELECT count(*), bit_xor(hash(patients)) FROM patients"
            found = session.connection.sql(checksum).fetchall()
            assert found == other.connection.sql(checksum).fetchall()
        assert found[0][0] == ROW_COUNT

    def test_values_are_those_of_the_taxonomies(self, session: sa.Session) -> None:
        """A release refuses a value that its taxonomy lacks."""
        policy = next(each.policy for each in ipa.contenders() if each.setting["method"] == ipa.ANONYMOUS)
        release = session.anonymize(ipa.SOURCE, policy, ipa.RELEASED, replace=True)
        assert release.report.lattice_nodes == 256

    def test_stroke_patients_are_as_many_as_in_the_paper(self, session: sa.Session) -> None:
        """Tables 9 and 10, in proportion."""
        for name, query in zip(("q1", "q2"), stroke_queries()[:2], strict=True):
            found = query_answers(session, ipa.SOURCE, ipa.SOURCE, query).to_pylist()
            counts = {int(row["group_start"]): row["truth"] for row in found}
            assert [counts.get(age, 0) for age in range(0, 90, 5)] == [
                round(patients * SHARE) for patients in printed_of(name)
            ]

    def test_they_stay_as_long_as_in_the_paper(self) -> None:
        """Tables 11 and 12, of the groups with many patients."""
        with sa.connect(":memory:") as session:
            ipa.invent(session, 300_000)
            means = dict(
                session.connection.sql(
                    "SELECT (sex, age // 10), avg(length_of_stay) FROM patients "
                    "WHERE disease = 'stroke' AND surgery = 'N' GROUP BY ALL"
                ).fetchall()
            )
        for sex, query in (("M", "q3"), ("F", "q4")):
            for decade in (6, 7):
                assert means[sex, decade] == pytest.approx(PRINTED[query, 10 * decade]["truth"], rel=0.25)


class TestMeasures:
    def test_the_histogram_keeps_labels_and_loses_diseases(self, session: sa.Session) -> None:
        row = measured(session, ipa.HISTOGRAM)
        assert (row["node"], row["ncp"]) == ("0 0 0 0 0", 0)
        assert row["total_variation"] > 0.9

    def test_ipa_loses_less_than_the_histogram(self, session: sa.Session) -> None:
        row = measured(session, ipa.PRIVATE)
        assert 0 < row["information_loss"] < measured(session, ipa.HISTOGRAM)["information_loss"]
        assert row["total_variation"] < 0.5


@cache
def measured(session: sa.Session, method: str) -> Any:
    settings = [{"method": method, "epsilon": epsilon} for epsilon in (None, "1")]
    (contender,) = (each for each in ipa.contenders() if each.setting in settings)
    return next(iter(ipa.measured(session, contender, [1])))


class TestSeries:
    """Tables 9 to 12, and figure 11 of Lee et al. 2017."""

    @pytest.fixture(scope="class")
    @classmethod
    def by_age(cls) -> list[Any]:
        """All stroke patients of the paper, among fewer others."""
        (contender,) = (each for each in ipa.contenders() if each.setting["method"] == ipa.CEILED)
        with mock.patch.object(ipa, "ROW_COUNT", ROW_COUNT), sa.connect(":memory:") as session:
            ipa.invent(session, ROW_COUNT)
            rows = [row for row in ipa.measured(session, contender, [1]) if row["part"] != ipa.RELEASES]
        return ipa.series(rows)

    def test_h_ceiling_makes_ages_as_coarse_as_k_anonymity_of_the_paper(self, by_age: list[Any]) -> None:
        """Table 9 has 6.3, 186.2 and 329.8, the means of the true counts over thirty years each."""
        men = [row for row in by_age if row["part"] == ipa.QUERIES["q1"]]
        assert len(men) == 18
        for row in men:
            [*_, printed] = row.values()
            assert row[ipa.CEILED] == pytest.approx(printed, rel=0.01)

    def test_each_group_has_the_answers_of_the_paper(self, by_age: list[Any]) -> None:
        """Mean relative errors of the printed answers are those of ``printed_numbers.csv``, by ten years for stays."""
        of_paper = {(row["figure"], row["method"]): row["paper"] for row in table_rows("printed_numbers")}
        for query in ("q1", "q2"):
            for column, method in (("ipa", ipa.AS_PUBLISHED), ("k_anonymity", ipa.ANONYMOUS)):
                both = zip(printed_of(query, column), printed_of(query), strict=True)
                errors = [abs(printed - truth) / truth for printed, truth in both if truth]
                assert fmean(errors) == pytest.approx(of_paper[query, method], abs=5e-4)


class TestLevels:
    """Figure 8."""

    @pytest.fixture(scope="class")
    @classmethod
    def levels(cls, session: sa.Session) -> dict[str, list[Any]]:
        found = {}
        for epsilon in ("0.5", "2"):
            policy = ipa.policy_of(method=IPAAsPublished(budget=Budget(epsilon)))
            found[epsilon] = [*ipa.losses_by_level(session, ipa.SOURCE, policy, epsilon, 0)]
        return found

    def test_labels_lose_all_at_the_top_and_counterfeits_are_most_at_the_bottom(self, levels: Any) -> None:
        for rows in levels.values():
            assert [row["level"] for row in rows] == [*range(12)]
            assert rows[-1]["ncp"] == pytest.approx(1, abs=1e-3)
            rates = [row["rate"] for row in rows]
            assert rates == sorted(rates, reverse=True)
            assert sum(row["chance"] for row in rows) == pytest.approx(1)

    def test_with_less_budget_distances_and_rates_are_larger(self, levels: Any) -> None:
        less, more = levels["0.5"], levels["2"]
        for low, high in zip(less[:8], more[:8], strict=True):
            assert low["total_variation"] > high["total_variation"]
            assert low["rate"] > high["rate"]
        means = ipa.mean_losses([*less, *more])
        assert means["0.5"] > means["2"]


class TestCommand:
    def test_data_is_refused(self, tmp_path: Path) -> None:
        refused = run("ipa", "--data", tmp_path, "--out", tmp_path / "out").exception
        assert isinstance(refused, sa.PolicyError)
        assert "leave out --data" in str(refused)

    def test_files_repeat_themselves(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ipa, "ROW_COUNT", 2_000)
        found = reproduced_twice("ipa", tmp_path / "out", "--seeds", "1")
        methods = [ipa.AS_PUBLISHED, *[ipa.PRIVATE] * len(ipa.EPSILONS), ipa.ANONYMOUS, ipa.CEILED, ipa.HISTOGRAM]
        assert [row["method"] for row in found.rows if row["part"] == ipa.RELEASES] == methods
        parts = Counter(row["part"] for row in found.rows)
        assert parts.keys() == {ipa.RELEASES, *ipa.QUERIES.values(), ipa.LEVELS}
        assert parts[ipa.LEVELS] == len(ipa.EPSILONS) * 12
        assert (found.document["source"], found.document["seeds"]) == ("Lee and Chung 2020", 1)
