"""``sqlanon reproduce h-ceiling``: the figures of Lee et al. 2017 on UCI Adult."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import sqlanon as sa
from sqlanon import papers
from sqlanon.evaluation.results import Reproduced
from sqlanon.papers import ceiling_experiment as h_ceiling
from tests.conftest import data_folder
from tests.full.test_reproductions import check_files, data, fewer, out

__all__ = ["data", "fewer", "out"]


@pytest.fixture(scope="module")
def reproduced() -> Reproduced:
    """The releases for k = 5 and h = 0.3: all would take minutes, and what they need is in test_h_ceiling.py."""
    with mock.patch.multiple(h_ceiling, CLASS_SIZES=(5,), CEILINGS=(0.3,)), sa.connect(":memory:") as session:
        return papers.reproduction("h-ceiling").run(session, data_folder("adult_uci"), [20])


@pytest.mark.adult
class TestAdult:
    """spec/hceiling.md (d): own targets, and the inequalities that the paper finds."""

    def by_method(self, found: Reproduced, measure: str) -> Callable[[str, int], Any]:
        figures = {(row["method"], row["k"]): row[measure] for row in found.rows if row["catalog"] is None}
        return lambda method, k: figures[method, k]

    def test_losses(self, reproduced: Reproduced) -> None:
        lm, counterfeits = self.by_method(reproduced, "lm"), self.by_method(reproduced, "counterfeits")
        assert round(lm("h-ceiling, h = 0.3", 5), 4) == 0.2772
        assert counterfeits("h-ceiling, h = 0.3", 5) == 1471
        assert round(lm("k-anonymity", 5), 4) == 0.5629

    def test_all_that_the_paper_finds_to_be_lower_is_lower(self, reproduced: Reproduced) -> None:
        assert len(reproduced.findings) == 8
        assert all(finding.endswith("in 1 of 1 releases") for finding in reproduced.findings[:4])

    def test_errors_by_several_attributes(self, reproduced: Reproduced) -> None:
        """Figure 10, which has them below those of k-anonymity for any number."""
        assert reproduced.findings[5].endswith("is below that of k-anonymity for 1, 2, 6, 7 attributes")
        error, mean = (self.by_method(reproduced, name) for name in (f"{h_ceiling.BY_COUNT}1", "query_error"))
        for method in ("h-ceiling, h = 0.3", "k-anonymity"):
            assert error(method, 5) == pytest.approx(mean(method, 5))

    def test_a_catalog_has_the_reconstruction_error_decide(self, reproduced: Reproduced) -> None:
        """Without one the fewest counterfeits do, which are free then: no other node has fewer."""
        by_key = {(row["method"], row["k"], row["catalog"]): row for row in reproduced.rows if row["h"] is not None}
        pairs = [(row, by_key[method, k, None]) for (method, k, catalog), row in by_key.items() if catalog is not None]
        assert pairs
        for row, other in pairs:
            assert row["counterfeits"] >= other["counterfeits"], (row, other)
            assert row["released_rows"] - row["counterfeits"] == other["released_rows"] - other["counterfeits"]

    def test_suppression_and_relocation_lose_the_same_rows(self, reproduced: Reproduced) -> None:
        lost = self.by_method(reproduced, "lost_rows")
        assert 0 < lost("k-anonymity, 5 % suppressed", 5) == lost("relocation, 5 % moved", 5) <= 0.05 * 32561
        assert lost("h-ceiling, h = 0.3", 5) == lost("k-anonymity", 5) == 0

    def test_the_chart_has_all_releases(self, reproduced: Reproduced) -> None:
        drawing = json.dumps(h_ceiling.chart(reproduced.rows).to_dict())
        assert all(str(row["method"]) in drawing for row in reproduced.rows)


@pytest.mark.usefixtures("fewer")
def test_files_are_whole_and_repeat_themselves(data: Path, out: Path) -> None:
    check_files(data, out)
