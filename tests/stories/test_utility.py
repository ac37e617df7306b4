"""``session.compare`` and ``sqlanon compare``: naive models of rows, figures of sdcMicro, words for what is wrong."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.api.session import Session
from tests.commands import started
from tests.effort import examples
from tests.sql.test_utility import by_mdav

Floats = npt.NDArray[np.float64]

KEY, INCOME, AGE, SEX, WEIGHT = "key", 'in"come; drop table x --', "anon_number", "weight", "W"
QUOTED = '"in""come; drop table x --"'
FORMULA = f"{QUOTED} ~ anon_number + weight"
ROWS = st.dictionaries(
    st.integers(0, 60),
    st.tuples(
        st.integers(-9, 9) | st.none(), st.integers(2015, 2025), st.sampled_from(["f", "m", "x"]), st.integers(1, 9)
    ),
    min_size=25,
    max_size=60,
)


@pytest.fixture(scope="module")
def memory() -> Iterator[Session]:
    with sa.connect() as session:
        yield session


def table(rows: dict[int, tuple[Any, ...]]) -> pa.Table:
    income, age, sex, weight = ([row[place] for row in rows.values()] for place in range(4))
    return pa.table(
        {
            KEY: pa.array([*rows], pa.int64()),
            INCOME: pa.array(income, pa.int64()),
            AGE: pa.array(age, pa.int64()),
            SEX: pa.array(sex, pa.string()),
            WEIGHT: pa.array(weight, pa.int64()),
        }
    )


def near(value: float | None) -> Any:
    return None if value is None else pytest.approx(value, rel=1e-6, abs=1e-8)


# Models, by rows


def chances_of_membership(terms: Floats, member: Floats) -> tuple[Floats, int]:
    """Logistic regression on an orthonormal basis of the terms."""
    base, sizes, _ = np.linalg.svd(terms / np.maximum(np.linalg.norm(terms, axis=0), 1e-9), full_matrices=False)
    rank = int((sizes > 1e-7).sum())
    base, found = base[:, :rank], np.zeros(rank)
    chances = np.full(len(member), 0.5)
    for _ in range(60):
        scale = chances * (1 - chances)
        found += np.linalg.solve(base.T @ (base * scale[:, None]), base.T @ (member - chances))
        chances = 1 / (1 + np.exp(-base @ found))
    return chances, rank


def all_terms(rows: Sequence[tuple[Any, ...]]) -> Floats:
    """Main effects, squares and products, and a term for missing incomes, which are the mean."""
    income = np.array([math.nan if row[0] is None else row[0] for row in rows], float)
    age = np.array([row[1] - 2020 for row in rows], float)
    sexes = [np.array([row[2] == sex for row in rows], float) for sex in ("m", "x")]
    missing = np.isnan(income)
    income = np.where(missing, MEAN[0], income) - MEAN[0]
    numbers = [income, age]
    mains = [np.ones(len(rows)), *numbers, *sexes, missing.astype(float)]
    products = [income**2, age**2, income * age, *(number * sex for number in numbers for sex in sexes)]
    return np.column_stack([*mains, *products])


MEAN = [0.0]


def least_squares(rows: Sequence[tuple[Any, ...]], values: Sequence[str]) -> tuple[Floats, Floats]:
    known = [row for row in rows if row[0] is not None]
    design = np.array([[1, row[1], *(row[2] == value for value in values[1:])] for row in known], float)
    design[:, 1] -= 2020
    root = np.sqrt(np.array([row[3] for row in known], float))
    found, _, rank, _ = np.linalg.lstsq(design * root[:, None], root * np.array([row[0] for row in known], float))
    if rank < design.shape[1] or len(known) <= rank:
        return np.full(design.shape[1], np.nan), np.full(design.shape[1], np.nan)
    left = root * (np.array([row[0] for row in known], float) - design @ found)
    spread = np.linalg.inv((design * root[:, None]).T @ (design * root[:, None])) * (left @ left) / (len(known) - rank)
    move = np.eye(design.shape[1])
    move[0, 1] = -2020
    return move @ found, np.sqrt(np.diag(move @ spread @ move.T))


def overlap(one: float, one_error: float, other: float, other_error: float) -> float:
    z = 1.959963984540054
    low, high = max(one - z * one_error, other - z * other_error), min(one + z * one_error, other + z * other_error)
    return ((high - low) / (2 * z * one_error) + (high - low) / (2 * z * other_error)) / 2


def nearest_are_own(was: dict[int, tuple[Any, ...]], shown: dict[int, tuple[Any, ...]], sds: Sequence[float]) -> float:
    def place(row: tuple[Any, ...]) -> Floats:
        return np.array([(MEAN[0] if row[0] is None else row[0]) / sds[0], row[1] / sds[1]])

    shares = []
    for key in was.keys() & shown.keys():
        gaps = {other: round(float(np.linalg.norm(place(was[key]) - place(row))), 9) for other, row in shown.items()}
        alike = [other for other, gap in gaps.items() if gap == min(gaps.values())]
        shares.append((key in alike) / len(alike))
    return sum(shares) / len(shares)


@given(ROWS, ROWS)
@settings(deadline=None, max_examples=examples(200), phases=[Phase.generate])
def test_figures_are_naive_ones(was: dict[int, tuple[Any, ...]], shown: dict[int, tuple[Any, ...]]) -> None:
    for rows in (was, shown):  # so that all can be estimated
        rows |= {100 + place: (place % 7, 2015 + place % 5, "fmx"[place % 3], 1) for place in range(15)}
    with sa.connect() as session:
        found = session.compare(table(was), table(shown), key=KEY, weight=WEIGHT, formula=FORMULA)
    numbers = {(row["columns"][0], row["statistic"]): row for row in found.statistics}
    both = [[*was.values()], [*shown.values()]]
    for side, values in zip(("source_value", "release_value"), both, strict=True):
        for place, name in ((0, INCOME), (1, AGE)):
            for statistic, value in statistics(values, place):
                assert numbers[name, statistic][side] == near(value)
    MEAN[0] = numbers[INCOME, "mean"]["source_value"]
    member = np.array([0] * len(was) + [1] * len(shown), float)
    chances, rank = chances_of_membership(all_terms([*both[0], *both[1]]), member)
    share = member.mean()
    assert found.pmse_expected == near((rank - 1) * (1 - share) ** 2 * share / len(member))
    if chances.min() > 0.001 and chances.max() < 0.999:
        assert found.pmse == near(float(((chances - share) ** 2).mean()))
    fits = [least_squares(values, ("f", "m", "x")) for values in both]
    assert [row["term"] for row in found.coefficients] == ["intercept", AGE, f"{SEX} = m", f"{SEX} = x"]
    for place, row in enumerate(found.coefficients):
        expected = [float(each[place]) for fit in fits for each in fit]
        names = ("source_value", "source_error", "release_value", "release_error")
        assert [row[name] for name in names] == [near(each) for each in expected]
        assert row["overlap"] == near(overlap(*expected))
    assert found.overlap == near(sum(row["overlap"] for row in found.coefficients) / 4)
    sds = [numbers[name, "sd"]["source_value"] for name in (INCOME, AGE)]
    assert found.nearest_share == near(nearest_are_own(was, shown, sds))
    assert [row["columns"] for row in found.tables] == [*map(list, tables_of(was, shown))]


def statistics(rows: Sequence[tuple[Any, ...]], place: int) -> Iterator[tuple[str, float]]:
    known = sorted((row[place], row[3]) for row in rows if row[place] is not None)
    total = sum(weight for _, weight in known)
    mean = sum(value * weight for value, weight in known) / total
    spread = sum(weight * (value - mean) ** 2 for value, weight in known) / total
    yield from (("mean", mean), ("total", mean * total), ("sd", math.sqrt(spread * len(known) / (len(known) - 1))))
    repeated = [value for value, weight in known for _ in range(weight)]
    for share in (5, 25, 50, 75, 95):
        yield "median" if share == 50 else f"quantile {share} %", repeated[math.ceil(share * total / 100) - 1]


def tables_of(was: dict[int, tuple[Any, ...]], shown: dict[int, tuple[Any, ...]]) -> list[tuple[str, ...]]:
    """Columns without values that only the release has, by one, two and three."""
    few = [
        name
        for place, name in ((0, INCOME), (1, AGE), (2, SEX))
        if {row[place] for row in shown.values()} - {None} <= {row[place] for row in was.values()}
    ]
    pairs = [(few[one], few[other]) for one in range(len(few)) for other in range(one + 1, len(few))]
    return [*((name,) for name in few), *pairs, *([tuple(few)] if len(few) == 3 else [])]


# Figures of sdcMicro


def test_correlations_of_microaggregation_are_the_reference(memory: Session) -> None:
    """dUtility and dRisk of sdcMicro 5.8.1: it divides differences of eigenvalues by those of the source."""
    i = np.arange(1, 2001)
    a, b = 7919 * i % 10007, (31 * i * i + 17 * i) % 10007
    was = np.column_stack([a, b, a + b // 3, a * a // 1000 + b % 7]).astype(float)
    tables = [
        pa.table({"i": i, **{letter: rows[:, place] for place, letter in enumerate("abcd")}})
        for rows in (was, by_mdav(was, 5))
    ]
    found = memory.compare(*tables, key="i")
    before, after = (eigenvalues(found, side) for side in ("source_value", "release_value"))
    relative = [abs(one - other) / one for one, other in zip(before, after, strict=True)]
    assert sum(relative) == pytest.approx(0.802244193247, rel=1e-6)
    assert found.eigenvalue_distance == pytest.approx(np.abs(np.subtract(before, after)).mean())
    assert found.inverse_distance == pytest.approx(0.00013623115043, rel=1e-6)
    *_, total = found.losses
    assert total["sse_over_sst"] == pytest.approx(0.00207122811499, rel=1e-9)
    assert total["il1s"] == pytest.approx(195.931077048, rel=1e-9)
    assert total["close_share"] == pytest.approx(0.4145, rel=1e-9)
    # All means are kept, and only squares and products show what is lost.
    assert found.pmse is not None and found.pmse > 0


def eigenvalues(found: sa.Utility, side: str) -> list[float]:
    matrix = np.eye(4)
    for row in found.statistics:
        if row["statistic"] == "correlation":
            one, other = ("abcd".index(name) for name in row["columns"])
            matrix[one, other] = matrix[other, one] = row[side]
    return sorted(map(float, np.linalg.eigvalsh(matrix)))


# What is left out, and what is refused


SURVEY = "SELECT i AS id, i % 7 AS income, i % 5 AS age, 'r' || i % 3 AS region, 1 + i % 2 AS w FROM range(60) r (i)"


class TestNotes:
    def test_labels_and_long_texts_are_left_out(self, memory: Session) -> None:
        released = f"SELECT id, income, '[' || age || ', 9)' AS age, '*' AS region, 'x' || id AS name FROM ({SURVEY})"
        found = memory.compare(f"SELECT *, 'x' || id AS name FROM ({SURVEY})", released)
        notes = " ".join(found.notes)
        assert '"age" is not a number within 1e100 in 0 rows of the source and 60 of the release, and is left' in notes
        assert 'some that the source lacks, such as labels, are in no tables: "region"' in notes
        assert {tuple(row["columns"]) for row in found.statistics} == {("id",), ("income",), ("id", "income")}
        assert {tuple(row["columns"]) for row in found.tables} == {("id",), ("income",), ("name",)} | {
            ("id", "income"), ("id", "name"), ("income", "name"), ("id", "income", "name"),
        }  # fmt: skip

    def test_equal_tables_lose_nothing(self, memory: Session) -> None:
        found = memory.compare(SURVEY, SURVEY, ["income", "age", "region"], key="id", formula="income ~ age + region")
        assert (found.pmse, found.eigenvalue_distance, found.inverse_distance) == pytest.approx((0, 0, 0), abs=1e-15)
        assert [row["overlap"] for row in found.coefficients] == [pytest.approx(1)] * 4
        assert {row["difference"] for row in found.statistics} == {0}
        assert found.nearest_share is not None and found.nearest_share < 1

    def test_tables_that_are_apart(self, memory: Session) -> None:
        found = memory.compare(SURVEY, f"SELECT * REPLACE (income + 100 AS income) FROM ({SURVEY})", ["income"])
        assert any("did not settle" in note for note in found.notes)
        assert found.pmse == pytest.approx(0.25, rel=1e-3)

    def test_collinear_and_constant_columns(self, memory: Session) -> None:
        wide = f"SELECT *, 2 * age + 1 AS twice, 3 AS three FROM ({SURVEY})"
        found = memory.compare(wide, wide, ["income", "age", "twice", "three"], formula="income ~ age + twice")
        notes = " ".join(found.notes)
        assert "regression: 3 terms without an overlap, as a table cannot separate such terms" in notes
        assert "have no inverse" in notes or "has no inverse" in notes
        assert "some numbers have no correlations" in notes
        assert (found.overlap, found.inverse_distance) == (None, None)
        assert found.pmse == pytest.approx(0, abs=1e-15)

    def test_a_value_that_the_release_lacks(self, memory: Session) -> None:
        found = memory.compare(SURVEY, f"FROM ({SURVEY}) WHERE region <> 'r2'", formula="income ~ region")
        assert [row["release_value"] is None for row in found.coefficients] == [False, False, True]
        assert found.overlap is not None
        assert any("regression: 1 term without an overlap" in note for note in found.notes)
        assert "r2" not in " ".join(found.notes)

    def test_tables_without_rows_and_with_one(self, memory: Session) -> None:
        for source, release in ((0, 0), (0, 9), (9, 0), (1, 1)):
            found = memory.compare(
                f"FROM ({SURVEY}) LIMIT {source}", f"FROM ({SURVEY}) LIMIT {release}", key="id", formula="income ~ age"
            )
            assert (found.before_rows, found.after_rows) == (source, release)
            assert found.overlap is None
            assert "–" in found.to_html()

    def test_figures_that_cannot_be_had(self, memory: Session) -> None:
        """An infinite number, labels of a whole table, texts of many values, and a regression without residuals."""
        wide = f"SELECT *, 2 * age AS twice, 'x' || id % 40 AS name FROM ({SURVEY})"
        found = memory.compare(
            f"SELECT * REPLACE (CASE id WHEN 7 THEN 'inf'::DOUBLE ELSE income END AS income) FROM ({wide})",
            f"SELECT * REPLACE ('*' AS region) FROM ({wide})",
            ["income", "age", "twice", "region", "name"],
            formula="twice ~ age",
        )
        notes = " ".join(found.notes)
        assert (
            '"income" is not a number within 1e100 in 1 row of the source and 0 of the release, and is left out'
            in notes
        )
        assert 'without texts of more than 30 values, or some that the source lacks: "region" and "name"' in notes
        assert "regression: 2 terms without an overlap" in notes
        assert {row["columns"][0] for row in found.statistics} == {"age", "twice"}
        alone = memory.compare(SURVEY, f"SELECT * REPLACE ('*' AS region) FROM ({SURVEY})", ["region"])
        assert (alone.pmse, alone.pmse_expected) == (None, None)
        assert "propensity score: no column has numbers, or few values of the source" in " ".join(alone.notes)

    def test_many_columns(self, memory: Session) -> None:
        wide = f"SELECT {', '.join(f'i % {2 + place} AS c{place}' for place in range(40))} FROM range(500) r (i)"
        found = memory.compare(wide, wide)
        assert len(found.tables) == 40
        assert any("name fewer columns" in note for note in found.notes)
        few = memory.compare(wide, wide, [f"c{place}" for place in range(8)])
        assert any("without products" in note for note in few.notes)


REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "columns": ({"columns": ["incom", "w"], "weight": "w"}, ['"incom"; did you mean "income"?', "not compared"]),
    "formula": ({"formula": "income age"}, ["formula: write a number, ~ and terms"]),
    "twice": ({"formula": "age ~ region + region"}, ["named twice"]),
    "response": ({"formula": "region ~ age"}, ['"region" is not a number within 1e100 in 60 rows of the source']),
    "terms": ({"formula": "income ~ name"}, ['formula: "name" has 60 values', "up to 30"]),
    "types": ({"key": 3}, ["give names of columns, as texts"]),
    "weights": ({"weight": "bad"}, ['"bad" is not a finite number above 0 in 1 row of the source']),
    "text": ({"weight": "name"}, ['"name" is not a finite number above 0 in 60 rows']),
    "keys": ({"key": "age"}, ['"age" repeats a value in 55 rows of the source and 55 of the release: a key']),
    "NULL": ({"key": "holes"}, ['"holes" is NULL in 1 row of the source and 1 of the release: rows are joined by it']),
    "numbers": ({"columns": ["endless"]}, ['"endless" is not a number within 1e100 in 1 row of the source']),
}  # fmt: skip


class TestRefusals:
    def test_names_are_quoted_as_in_sql(self, memory: Session) -> None:
        for asked in ({"columns": [INCOME]}, {"key": INCOME}):
            with pytest.raises(sa.PolicyError, match='the source has no column "in""come; drop table x --"'):
                memory.compare(SURVEY, SURVEY, **asked)
        named = f"SELECT id, CASE WHEN id > 5 THEN age END AS {QUOTED} FROM ({SURVEY})"
        assert f"{QUOTED} is NULL in 6 rows of the source and 6 of the release" in memory.compare(named, named).notes

    @pytest.mark.parametrize("case", REFUSED)
    def test_in_words(self, memory: Session, case: str) -> None:
        given, words = REFUSED[case]
        source = (
            f"SELECT *, 'Canary' || id AS name, id::DOUBLE AS bad, nullif(id, 7) AS holes, "
            f"CASE id WHEN 3 THEN 'nan'::DOUBLE ELSE 1 END AS endless FROM ({SURVEY})"
        )
        with pytest.raises(sa.PolicyError, match="cannot be compared") as refused:
            memory.compare(source, source, **given)
        assert [word for word in words if word not in str(refused.value)] == []
        assert "Canary" not in str(refused.value)

    def test_of_keys_that_never_meet(self, memory: Session) -> None:
        with pytest.raises(sa.PolicyError, match='no value of "id" is in both tables'):
            memory.compare(SURVEY, f"SELECT * REPLACE (id + 100 AS id) FROM ({SURVEY})", key="id")


class TestReports:
    """What changed columns keep, or in a sentence why that is not measured."""

    POLICY = sa.Policy(
        quasi_identifiers=["age"],
        insensitive=["x", "y"],
        privacy=[sa.KAnonymity(2)],
        taxonomies={"age": {"kind": "flat"}},
        perturbation={name: {"kind": "swap", "share": 0.5, "again": True} for name in ("x", "y")},
    )

    def reported(self, session: Session, after: str, **given: Any) -> tuple[sa.Utility | None, str]:
        """Report on a release of forty rows, in which y has an infinite number, after a statement changed it."""
        session.connection.execute(
            "CREATE OR REPLACE TABLE wild AS "
            "SELECT i % 3 AS age, i AS x, CASE i WHEN 4 THEN 'inf'::DOUBLE ELSE i END AS y FROM range(40) r (i)"
        )
        seed = sa.SeededSource(1)
        session.anonymize("wild", self.POLICY, "tamed", random_source=seed, replace=True, listed=False)
        session.connection.execute(after)
        report = session.report("tamed", self.POLICY, **given)
        return report.utility, " ".join(report.notes)

    def test_of_some_columns(self, memory: Session) -> None:
        utility, _ = self.reported(memory, "SELECT 1", source="wild")
        assert utility is not None
        assert {row["columns"][0] for row in utility.statistics} == {"x"}
        assert '"y" is not a number within 1e100 in 1 row of the source and 1 of the release, and is left' in " ".join(
            utility.notes
        )

    @pytest.mark.parametrize(
        ("after", "given", "words"),
        [
            ("SELECT 1", {}, 'what is kept of "x" and "y" is not measured: give the source'),
            (
                "ALTER TABLE tamed ALTER x TYPE VARCHAR USING concat('[', x, ', 99)')",
                {"source": "wild"},
                'what is kept of "x" and "y" is not measured: "x" is not a number within 1e100 in 0 rows of the source '
                'and 40 of the release, and is left out; "y" is not a number',
            ),
            (
                "ALTER TABLE tamed DROP x",
                {"source": "wild"},
                'what is kept of "x" and "y" is not measured: the release has no column "x"',
            ),
        ],
    )
    def test_of_none(self, memory: Session, after: str, given: dict[str, Any], words: str) -> None:
        utility, notes = self.reported(memory, after, **given)
        assert utility is None
        assert words in notes
        assert self.reported(memory, after, **given, edition="public")[1].count("is not measured") == 0


def test_the_command(tmp_path: Path) -> None:
    """Numbers that R wrote with as many digits as they have are texts in the file, and numbers here."""
    (tmp_path / "survey.csv").write_text("id,age,income,w\n1,30,10,2\n2,40,20,2\n3,50,40,1\n4,60,30,1\n")
    (tmp_path / "shown.csv").write_text("id,age,income,w\n1,*,10.5,2\n2,*,20,2\n3,*,40.25,1\n4,*,30,1\n")
    asked = ("compare", "survey.csv", "shown.csv", "--key", "id", "--weight", "w")
    shown = started(*asked, folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert [words for words in ("Row by row", '"age" is not a number', "median") if words not in shown.stdout] == []
    found = json.loads(started(*asked, "--columns", "income", "--json", folder=tmp_path).stdout)
    assert found["losses"][-1]["cell_count"] == 4
    assert started(*asked, "--formula", "income + w", folder=tmp_path).returncode == 2
