"""``sqlanon reproduce ipa``: the invented patients, the measures of their releases, and the files of the command."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.evaluation import query_answers, stroke_queries
from sqlanon.papers import ipa_experiment as ipa
from tests.reproductions import reproduced_twice, run

ROW_COUNT = 20_000
SHARE = ROW_COUNT / ipa.ROW_COUNT


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
        policy = next(each.policy for each in ipa.contenders() if each.method == ipa.ANONYMOUS)
        release = session.anonymize(ipa.SOURCE, policy, ipa.RELEASED, replace=True)
        assert release.report.lattice_nodes == 256

    def test_stroke_patients_are_as_many_as_in_the_paper(self, session: sa.Session) -> None:
        """Tables 9 and 10, in proportion."""
        for query, printed in zip(stroke_queries()[:2], (ipa.MEN, ipa.WOMEN), strict=True):
            found = query_answers(session, ipa.SOURCE, ipa.SOURCE, query).to_pylist()
            counts = {int(row["group_start"]) // ipa.YEARS: row["truth"] for row in found}
            assert [counts.get(place, 0) for place in range(len(printed))] == [
                round(patients * SHARE) for patients in printed
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
        for sex, printed in (("M", ipa.STAYS_OF_MEN), ("F", ipa.STAYS_OF_WOMEN)):
            for decade in (6, 7):
                assert means[sex, decade] == pytest.approx(printed[decade], rel=0.25)


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
    (contender,) = (each for each in ipa.contenders() if each.method == method and each.epsilon in (None, "1"))
    [row] = ipa.measured(session, contender, [1])
    return row


class TestCommand:
    def test_data_is_refused(self, tmp_path: Path) -> None:
        refused = run("ipa", "--data", tmp_path, "--out", tmp_path / "out").exception
        assert isinstance(refused, sa.PolicyError)
        assert "leave out --data" in str(refused)

    def test_files_repeat_themselves(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ipa, "ROW_COUNT", 2_000)
        found = reproduced_twice("ipa", tmp_path / "out", "--seeds", "1")
        methods = [ipa.AS_PUBLISHED, *[ipa.PRIVATE] * len(ipa.EPSILONS), ipa.ANONYMOUS, ipa.HISTOGRAM]
        assert [row["method"] for row in found.rows] == methods
        assert (found.document["source"], found.document["seeds"]) == ("Lee and Chung 2020", 1)
