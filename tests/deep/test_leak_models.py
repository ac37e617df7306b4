"""The leak models of the thesis, by the macros."""

import math

import pytest
from sqlglot import exp

from tests import oracle
from tests.sql.test_oracle import ask, assert_close, load_table, table_call

LEAK_MODELS = {
    "A": ([0.01] * 3, [4.47, 6.62, 9.04, 25.62, 29.45, 30.49, 32.61, 33.51], 33.669),
    "B": ([0.05] * 3, [3.18, 4.00, 4.67, 6.63, 6.83, 6.88, 6.97, 7.01], 7.011),
    "C": ([0.05, 0.01, 0.01], [3.92, 5.40, 6.83, 12.84, 13.70, 13.91, 14.32, 14.48], 14.513),
    "D": ([0.01] * 5, [4.18, 5.96, 7.80, 17.20, 18.80, 19.21, 20.02, 20.35], 20.404),
}


CLASS_SIZES = [5, 8, 12, 104, 228, 313, 1009, 7003]


@pytest.mark.parametrize("model", LEAK_MODELS)
def test_worst_case_of_the_leak_models(model: str) -> None:
    """Mazzone 2019, section 6.1.4: classes of k rows, all of them unique once any secret column is known."""
    chances, inverses, limit = LEAK_MODELS[model]
    prior = {f"s{number}": chance for number, chance in enumerate(chances)}
    rows: oracle.Rows = [{"q": k, **dict.fromkeys(prior, number)} for k in CLASS_SIZES for number in range(k)]
    load_table("data", dict.fromkeys(["q", *prior], "INTEGER"), rows)
    by_class = exp.select("q", exp.alias_(exp.Max(this=exp.column("anon_m")), "m")).group_by("q")
    found = {
        row["q"]: row["m"] for row in ask(by_class.from_(table_call("record_risks", "data", ["q"], prior).subquery()))
    }
    for k, inverse in zip(CLASS_SIZES, inverses, strict=True):
        assert round(1 / found[k], 2) == inverse
        assert_close([1 / found[k]], [oracle.largest_inverse_m(k, prior)])
    assert round(oracle.largest_inverse_m(math.inf, prior), 3) == limit
