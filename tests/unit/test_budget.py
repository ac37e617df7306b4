"""Budgets: exact numbers in, exact sums out, and the same text back."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

import sqlanon as sa
from sqlanon.model.budget import Budget, Unit, WrittenFloat, exact, sequential_composition, spelled

NUMBERS = st.fractions(min_value=0) | st.decimals(min_value=0, allow_nan=False, allow_infinity=False, places=40)


class TestNumbers:
    @given(NUMBERS)
    def test_what_is_spelled_reads_back(self, number: Fraction | Decimal) -> None:
        assert exact(spelled(Fraction(number))) == Fraction(number)

    @pytest.mark.parametrize(
        ("number", "text"),
        [
            ("1e-6", "0.000001"), ("0.10", "0.1"), ("2/6", "1/3"), ("1e3", "1000"),
            ("0.1234567890123456789012345678901234567", "0.1234567890123456789012345678901234567"), ("12.5", "12.5"),
        ],
    )  # fmt: skip
    def test_they_are_spelled_as_decimals_where_there_is_one(self, number: str, text: str) -> None:
        assert spelled(exact(number)) == text

    @pytest.mark.parametrize(
        "value", [0.1, float("nan"), "nan", "inf", Decimal("Infinity"), "1/0", "", "ε", -1, "-1e-9", True, None, [1]]
    )
    def test_what_is_no_exact_number_is_refused(self, value: object) -> None:
        with pytest.raises(PydanticCustomError):
            exact(value)

    def test_decimals_are_exact_and_floats_are_not(self) -> None:
        assert exact(Decimal("0.1")) == Fraction(1, 10)
        with pytest.raises(PydanticCustomError, match="must be exact"):
            exact(0.1)

    @pytest.mark.parametrize("value", ["1e-99999999999", "1E+10000", "1e3_000_000", Decimal("1e-999999"), "9" * 5000])
    def test_a_number_that_would_fill_the_memory_is_refused(self, value: object) -> None:
        with pytest.raises(PydanticCustomError, match="must be a number"):
            exact(value)

    @pytest.mark.parametrize("text", ["nan", "inf", "-0.5"])
    def test_a_float_of_a_file_is_no_better_than_its_text(self, text: str) -> None:
        with pytest.raises(PydanticCustomError):
            exact(WrittenFloat(text))


class TestBudgets:
    def test_sums_are_exact(self) -> None:
        tenths = sequential_composition([Budget("0.1", "1e-7")] * 3)
        assert tenths == Budget("0.3", "3e-7")
        assert Budget("0.3", "3e-7").covers(tenths)
        assert not Budget("0.3", "2.9999999999999999e-7").covers(tenths)
        assert not Budget("0.2999999999999999999", "3e-7").covers(tenths)
        assert sequential_composition([]) == Budget(0)

    @pytest.mark.parametrize("delta", [1, "1.0", "2", Fraction(3, 2)])
    def test_a_delta_of_1_promises_nothing(self, delta: str | int | Fraction) -> None:
        with pytest.raises(sa.PolicyError, match="delta: must be below 1"):
            Budget(1, delta)

    def test_neither_do_deltas_that_add_up_to_it(self) -> None:
        with pytest.raises(sa.PolicyError, match="delta: must be below 1"):
            sequential_composition([Budget(1, "0.5")] * 2)

    def test_every_problem_is_named(self) -> None:
        with pytest.raises(sa.PolicyError) as caught:
            Budget(0.5, -1)  # type: ignore[arg-type]
        assert [problem.partition(":")[0] for problem in caught.value.problems] == ["epsilon", "delta"]


class TestUnits:
    def test_which_losses_add_up(self) -> None:
        """Of rows with those of rows, of individuals with those of the same column, whatever number is counted."""
        row, one, same, other = Unit(), Unit("id", 3), Unit("ID", 1), Unit("name", 3)
        assert row.adds_up_with(Unit())
        assert one.adds_up_with(same)
        assert [one.adds_up_with(each) for each in (row, other)] == [row.adds_up_with(one), False] == [False, False]


class TestPolicyFiles:
    POLICY = """
        quasi_identifiers = ["age"]
        sensitive = ["illness"]
        suppression_limit = 0.05
        [[privacy]]
        model = "t-closeness"
        column = "illness"
        t = 0.3
        [quality]
        model = "lm"
        weights = {age = 2.5}
    """

    def test_numbers_are_what_they_are_in_python(self, tmp_path: Path) -> None:
        (tmp_path / "policy.toml").write_text(self.POLICY)
        read = sa.Policy.from_toml(tmp_path / "policy.toml")
        made = sa.Policy(
            quasi_identifiers=["age"],
            sensitive=["illness"],
            suppression_limit=0.05,
            privacy=[sa.TCloseness("illness", 0.3)],
            quality=sa.LM(weights={"age": 2.5}),
        )
        assert read == made
        assert read.sha256() == made.sha256()
        assert read.model_dump_json() == made.model_dump_json()

    @pytest.mark.parametrize("wrong", ["nan", "1.5"])
    def test_bad_numbers_are_refused(self, tmp_path: Path, wrong: str) -> None:
        (tmp_path / "policy.toml").write_text(self.POLICY.replace("0.05", wrong))
        with pytest.raises(sa.PolicyError, match="suppression_limit: must be a share from 0 to 1"):
            sa.Policy.from_toml(tmp_path / "policy.toml")

    def test_a_budget_takes_the_digits_that_were_written(self) -> None:
        written = {"epsilon": WrittenFloat("0.1"), "delta": WrittenFloat("1_0e-7")}
        assert Budget.model_validate(written) == Budget("0.1", "1e-6")
