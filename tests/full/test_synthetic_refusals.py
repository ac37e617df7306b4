"""What synthetic rows refuse: before anything is charged, all problems of a kind at once, and without a cell value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sqlanon as sa
from sqlanon.chance.accountant import RhoCharge
from sqlanon.chance.exact import Integers
from sqlanon.methods.synthetic import choosing, fitting, measuring
from sqlanon.methods.synthetic.fitting import MAX_MODEL_ROWS
from tests.stories.test_synthetic import Silent, make_warehouse, policy


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sa.Session]:
    with make_warehouse(tmp_path_factory.mktemp("refusals") / "w.duckdb") as session:
        yield session


def refused(session: sa.Session, wanted: sa.Policy, table: str = "patients") -> tuple[str, ...]:
    """The problems of a policy, which must cost nothing."""
    with pytest.raises(sa.PolicyError) as caught:
        session.anonymize(table, wanted, into="released", replace=True)
    assert session.ledger.spent(table) == sa.Budget(0)
    assert not getattr(caught.value, "spent", None)
    return caught.value.problems


class TestBudgets:
    """What cannot be drawn is known before it is paid for."""

    def test_small_ones(self, warehouse: sa.Session) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
            ({"budget": sa.Budget("1e-200", "1e-300")}, "is too small to be converted"),
            ({"budget": sa.Budget("1e-12", "1e-13"), "rows": 10}, "the noise would not fit 64-bit integers"),
            ({"budget": sa.Budget("1e-9", "1e-9")}, "the noise on the number of rows would have a scale of "),
            ({"report_share": "1e-60"}, "the noise would not fit 64-bit integers"),
        ]
        for options, problem in cases:
            assert any(problem in each for each in refused(warehouse, policy(**options))), options

    def test_large_weights(self, warehouse: sa.Session) -> None:
        heavy = [{"together": ["age", "sex", "disease"], "weight": 1000}] * 20
        (problem,) = refused(warehouse, policy(workload=heavy))
        assert problem == "scores would not fit 64-bit integers; take smaller weights"

    def test_a_round_for_each_column(self) -> None:
        """Else the columns alone would cost more than there is, which a run found out after it had paid."""
        with pytest.raises(sa.PolicyError) as caught:
            policy(rounds=4, refine=["age", "disease"])
        assert caught.value.problems == ("method.rounds: take 5 or more, one for each column, and for each of refine",)

    def test_just_as_many_rounds_are_enough(self, warehouse: sa.Session) -> None:
        wanted = policy(rounds=5, refine=["age", "disease"])
        for source in (Silent(1), sa.SeededSource(2)):
            assert warehouse.anonymize("patients", wanted, into="released", replace=True, random_source=source)


@pytest.fixture(scope="module")
def typed(warehouse: sa.Session) -> sa.Session:
    """The warehouse with a table of columns of several types."""
    warehouse.connection.execute(
        """
        CREATE TABLE typed AS
        SELECT
            CAST(age AS TINYINT) AS small, CAST(age AS DECIMAL(4, 2)) AS price, CAST(age AS DOUBLE) AS real,
            CAST(sex AS ENUM ('m', 'f')) AS listed, age % 3 AS code, true AS flag, CAST(age AS HUGEINT) AS vast
        FROM patients
        """
    )
    warehouse.taxonomies.load("listed", sa.Taxonomy.flat(["m", "f", "x"]))
    warehouse.taxonomies.load("code", sa.Taxonomy.flat(["0", "1", "2", "none"]))
    return warehouse


class TestTypes:
    @staticmethod
    def of(columns: list[str], **options: Any) -> sa.Policy:
        names = ("small", "price", "real", "listed", "code", "flag", "vast")
        others = [name for name in names if name not in columns]
        return sa.Policy(quasi_identifiers=columns, identifiers=others, method=sa.Synthetic(**options))

    def test_what_could_be_drawn_must_fit_them(self, typed: sa.Session) -> None:
        """Else the rows could not be written, which a run found out after it had paid."""
        bins = {"small": (0, 200, 50), "price": (0, 200, 50), "real": (0, 200, 50)}
        wanted = self.of(["small", "price", "real", "listed", "code"], numeric=bins)
        assert refused(typed, wanted, "typed") == (
            '"small" is TINYINT, which does not hold all numbers of its bins',
            '"price" is DECIMAL(4,2), which does not hold all numbers of its bins',
            '"code" is INTEGER, and not all values of its taxonomy are',
        )

    def test_what_fits_is_drawn(self, typed: sa.Session) -> None:
        bins = {"small": (0, 128, 64), "price": ("0", "99", "9"), "real": (0, 200, 50)}
        wanted = self.of(["small", "price", "real"], numeric=bins)
        assert typed.anonymize("typed", wanted, into="drawn", replace=True, random_source=Silent(1))
        shown = self.of(["listed", "code"], levels={"listed": 1, "code": 1})
        assert typed.anonymize("typed", shown, into="drawn", replace=True, random_source=Silent(1))

    def test_types_that_rows_or_files_decide_on_are_others(self, typed: sa.Session, tmp_path: Path) -> None:
        """An ENUM is text, since a frame's lists the categories that it has; Parquet has no HUGEINT."""
        wanted = self.of(["listed", "vast"], numeric={"vast": (0, 200, 50)}, rows=9)
        for into in ("drawn", f"{tmp_path}/drawn.parquet", f"{tmp_path}/drawn.csv", f"{tmp_path}/drawn/"):
            rows = typed.anonymize("typed", wanted, into, replace=True, random_source=sa.SeededSource(1)).to_arrow()
            assert {*rows["listed"].to_pylist()} <= {"m", "f", "x"}
            assert [str(kind) for kind in rows.schema.types] == ["string", "int64"], into

    def test_numbers_beyond_all_types(self, typed: sa.Session) -> None:
        bins = {"small": [0, 10**30], "real": ["0", "1e400"], "flag": [0, 2]}
        assert refused(typed, self.of(["small", "real", "flag"], numeric=bins), "typed") == (
            '"small" is TINYINT, and its edges are beyond the whole numbers of 64 bits',
            '"real" is DOUBLE, and its edges are beyond all numbers of that type',
            '"flag" is BOOLEAN, not a number: cast it in a view, or give it a taxonomy',
        )


class TestDomains:
    def test_all_problems_at_once(self, warehouse: sa.Session) -> None:
        many = policy(
            numeric={"age": (0, 5000, 100)},
            refine=["age"],
            impossible=[
                {"sex": "male", "disease": "flu"},
                {"sex": ["m", "f"], "disease": ["flu", "cold", "burn", "cut"]},
            ],
        )
        assert refused(warehouse, many) == (
            '"age" has 5,000 single values, more than 1,000: take it out of refine',
            '"sex" has 1 labels in impossible that are not in its domain',
            "the impossible combinations leave none that is possible",
        )

    def test_bins_and_single_values_that_a_type_does_not_have(self, warehouse: sa.Session) -> None:
        assert refused(warehouse, policy(numeric={"age": [0, 0.25, 0.5, 100], "sex": [0, 1]})) == (
            '"age" is INTEGER, and its bin [0.25, 0.5) has no whole number',
            '"sex" is VARCHAR, not a number: cast it in a view, or give it a taxonomy',
        )
        warehouse.connection.execute("CREATE TABLE prices AS SELECT i / 2 AS price FROM range(10) AS numbers (i)")
        method = sa.Synthetic(numeric={"price": [0, 5]}, refine=["price"])
        assert refused(warehouse, sa.Policy(quasi_identifiers=["price"], method=method), "prices") == (
            '"price" is DOUBLE, and refine counts whole numbers or labels: take it out, or cast it in a view',
        )

    def test_levels_that_a_taxonomy_does_not_have(self, warehouse: sa.Session) -> None:
        assert refused(warehouse, policy(levels={"disease": 7, "sex": 2})) == (
            'levels: "disease" has levels 0 to 2, so not 7',
            'levels: "sex" has levels 0 to 1, so not 2',
        )

    def test_combinations_of_very_many_cells(self, warehouse: sa.Session) -> None:
        """They are refused before an array of them is made."""
        wanted = policy(
            numeric={"age": (0, 1000, 1)}, max_cells=1000, impossible=[{"age": "[3, 4)", "sex": "m", "disease": "flu"}]
        )
        assert refused(warehouse, wanted) == (
            "impossible combinations of age, sex, disease are among 8,000 cells, more than 1,000: give fewer",
        )

    def test_sets_of_very_many_columns(self) -> None:
        """All sets within them would be candidates."""
        names = [f"c{number}" for number in range(11)]
        with pytest.raises(sa.PolicyError) as caught:
            sa.Synthetic(workload=[names])
        assert any("workload[0].together" in each for each in caught.value.problems)

    def test_no_problem_has_a_value(self, warehouse: sa.Session) -> None:
        warehouse.connection.execute(
            "CREATE OR REPLACE TABLE odd AS SELECT * REPLACE ('scurvy' AS disease) FROM patients"
        )
        with pytest.raises(sa.TaxonomyError) as caught:
            warehouse.anonymize("odd", policy(), into="released", replace=True)
        assert "scurvy" not in str(caught.value)
        warehouse.connection.execute("CREATE OR REPLACE TABLE odd AS SELECT * REPLACE (4711 AS age) FROM patients")
        problems = refused(warehouse, policy(), "odd")
        assert problems == ('"age": 1,200 numbers out of its bins; widen them',)


class Loud(sa.SeededSource):
    """Noise beyond all reason, which has a probability of 0 in all but name."""

    def discrete_gaussian(self, size: int, charge: RhoCharge, *, sensitivity: int = 1) -> Integers:
        return np.full(size, 2**52, dtype=np.int64)


class TestScores:
    def test_more_rows_than_can_be_scored(self, warehouse: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(measuring, "MAX_MODEL_ROWS", 1199)
        with pytest.raises(sa.PolicyError, match="has more rows than the 1,199 that can be scored exactly"):
            warehouse.anonymize("patients", policy(), into="released", replace=True)
        assert warehouse.ledger.spent("patients") == sa.Budget(0)

    def test_no_score_wraps_around(self, warehouse: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whatever noise says, a model has no more rows than scores have room for."""
        seen: list[int] = []
        distance = choosing.distance_on_grid

        def watched(counts: Integers, estimate: Any) -> int:
            assert estimate.sum() <= MAX_MODEL_ROWS * (1 + 1e-9)
            exactly = sum(
                abs(choosing.GRID * int(count) - round(choosing.GRID * float(expected)))
                for count, expected in zip(counts.ravel(), estimate.ravel(), strict=True)
            )
            seen.append(distance(counts, estimate))
            assert seen[-1] == exactly
            return seen[-1]

        monkeypatch.setattr(choosing, "distance_on_grid", watched)
        monkeypatch.setattr(choosing, "LAST_STEPS", 5)
        warehouse.anonymize("patients", policy(rows=10), into="released", replace=True, random_source=Loud(1))
        assert max(seen) > 2**45
        assert fitting.MAX_MODEL_ROWS * 2 * choosing.GRID * 2**13 < measuring.LARGEST_SCORE
