"""Rarer columns and options of synthetic rows, and what they refuse."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import sqlanon as sa
from sqlanon.chance.accountant import RhoCharge
from sqlanon.chance.exact import Integers
from sqlanon.evaluation import AverageQuery, CountQuery
from sqlanon.methods.synthetic import choosing, fitting, measuring
from sqlanon.methods.synthetic.fitting import MAX_MODEL_ROWS
from tests.stories.test_synthetic import TOML, Silent, counts, make_warehouse, policy
from tests.strategies import HOSTILE_NAMES


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    """In memory: what is drawn by a seed is charged to no ledger. Table ``lacking`` has gaps."""
    with make_warehouse(":memory:") as found:
        gaps = "if(age < 40, NULL, age) AS age, if(age > 70, NULL, sex) AS sex"
        found.connection.execute(f"CREATE TABLE lacking AS SELECT * REPLACE ({gaps}) FROM patients")
        yield found


def test_null_is_one_more_value(session: sa.Session) -> None:
    nullable = policy(nulls=["age", "sex"], workload="triples", refine=["age"])
    session.anonymize("lacking", nullable, into="released", replace=True, random_source=Silent(1))
    for column in ("age", "sex"):
        found, wanted = (counts(session, table, f"{column} IS NULL") for table in ("released", "lacking"))
        assert abs(found[True,] - wanted[True,]) <= 2


def test_numbers_of_all_kinds(session: sa.Session) -> None:
    session.connection.execute(
        """
        CREATE TABLE numbers AS
        SELECT (i % 50) / 10 AS real, CAST(i % 50 / 10 AS DECIMAL(9, 2)) AS price, CAST(i % 5 AS UTINYINT) AS small
        FROM range(500) AS numbers (i)
        """
    )
    bins = {"real": [0, 1, 2.5, 5], "price": ("0", "5", "0.5"), "small": [0, 2, 5]}
    wanted = sa.Policy(quasi_identifiers=["real", "price", "small"], method=sa.Synthetic(numeric=bins))
    session.anonymize("numbers", wanted, into="released", replace=True, random_source=Silent(1))
    types = session.connection.execute("SELECT column_type FROM (DESCRIBE released)").fetchall()
    assert types == [("DOUBLE",), ("DECIMAL(9,2)",), ("UTINYINT",)]
    ends = session.connection.execute(
        "SELECT min(real) >= 0, max(real) < 5, min(price) >= 0, max(price) <= 5, max(small) FROM released"
    ).fetchall()
    assert ends == [(True, True, True, True, 4)]


def test_steps_between_numbers(session: sa.Session) -> None:
    """They are declared; of floats that may be whole a note says how."""
    session.connection.execute(
        "CREATE TABLE stepped AS SELECT CAST(i % 50 AS DOUBLE) AS age, i % 7 / 10 AS dose, i % 50 AS even, "
        "i % 9 + 0.5 AS free FROM range(900) AS numbers (i)"
    )
    bins = {"age": (0, 50, 10), "dose": (0, 1, "0.5"), "even": (0, 50, 10), "free": (0, 10, 5)}
    step = {"age": 1, "dose": 0.1, "even": 2}
    wanted = sa.Policy(quasi_identifiers=[*bins], method=sa.Synthetic(numeric=bins, step=step))
    assert sa.Policy.model_validate_json(wanted.model_dump_json()) == wanted
    release = session.anonymize("stepped", wanted, into="released", replace=True, random_source=Silent(1))
    drawn = {name: {*values} for name, values in release.to_arrow().to_pydict().items()}
    assert drawn["age"] == {*map(float, range(50))}
    assert drawn["dose"] == {number / 10 for number in range(10)}
    assert drawn["even"] == {*range(0, 50, 2)}
    assert not drawn["free"] <= {number / 2 for number in range(20)}
    assert [note for note in release.report.notes if "step" in note] == [
        'numbers of "free" (DECIMAL(21,1)) are drawn as fractions; if it is public that all are whole, give the method '
        "step = { free = 1 }"
    ]
    for given, reason in (
        ({"age": 3}, 'the edges of the bins of "age" must be multiples of its step'),
        ({"age": -1}, 'the edges of the bins of "age" must be multiples of its step'),
        ({"sex": 1}, 'method.step: "sex" is neither'),
        ({"even": 0.5}, '"even" is BIGINT, and its step is not a whole number'),
        ({"age": "1e-17"}, '"age" is DOUBLE, which has not all multiples of its step'),
    ):
        with pytest.raises(sa.PolicyError, match=reason):
            changed = sa.Policy(quasi_identifiers=[*bins], method=sa.Synthetic(numeric=bins, step=given))
            session.anonymize("stepped", changed, into="released", replace=True, random_source=Silent(1))


def test_frames_follow_a_step(session: sa.Session) -> None:
    """Without one their numbers are whole if all edges are."""
    frame = session.connection.sql("SELECT CAST(i % 50 AS DOUBLE) / 2 AS size FROM range(900) AS numbers (i)").df()
    for step, unit, kind in (({}, 1, "int64"), ({"size": 0.5}, 0.5, "double")):
        wanted = sa.Policy(quasi_identifiers=["size"], method=sa.Synthetic(numeric={"size": (0, 25, 5)}, step=step))
        found = session.anonymize(frame, wanted, "released", replace=True, random_source=Silent(1)).to_arrow()["size"]
        assert (str(found.type), {*found.to_pylist()} <= {number * unit for number in range(50)}) == (kind, True)


def test_impossible_rows_of_the_source(session: sa.Session) -> None:
    """They end the run, or are left out; they moved to other labels."""
    session.connection.execute(
        "CREATE TABLE expecting AS SELECT ['m', 'f'][1 + i % 2] AS sex, ['yes', 'no'][1 + i // 2 % 2] AS pregnant "
        "FROM range(4000) AS r (i)"
    )
    taxonomies = {"sex": sa.Taxonomy.flat(["m", "f"]), "pregnant": sa.Taxonomy.flat(["yes", "no"])}
    session.taxonomies.load_all(taxonomies)

    def wanted(**settings: str) -> sa.Policy:
        method = sa.Synthetic(impossible=[{"sex": "m", "pregnant": "yes"}], **settings)
        return sa.Policy(quasi_identifiers=["sex", "pregnant"], method=method)

    with pytest.raises(sa.PolicyError, match=r"impossible\[0\]: 1,000 rows have that combination"):
        session.anonymize("expecting", wanted(), into="released", replace=True, random_source=Silent(1))
    session.anonymize("expecting", wanted(outside="drop"), into="released", replace=True, random_source=Silent(1))
    found = counts(session, "released", "sex, pregnant")
    assert {*found} == {("f", "yes"), ("f", "no"), ("m", "no")}
    assert all(abs(count - 1000) <= 5 for count in found.values())


def test_a_table_of_hardly_any_rows(session: sa.Session) -> None:
    for rows in (1, 0):
        session.connection.execute(f"CREATE OR REPLACE TABLE few AS FROM patients LIMIT {rows}")
        source = sa.SeededSource(rows)
        release = session.anonymize("few", policy(), into="released", replace=True, random_source=source)
        assert release.report.released_rows >= 0
        assert not session.verify("released", policy()).shortfalls


def test_a_target_joins_the_workload(session: sa.Session) -> None:
    aimed = policy(workload=[["age", "sex"]], target="disease", max_cells=100)
    report = session.anonymize("patients", aimed, into="released", replace=True, random_source=Silent(1)).report
    assert ("age", "sex", "disease") in {each.columns for each in report.measured}


def test_queries_as_workload(session: sa.Session, tmp_path: Path) -> None:
    """Each is the set of its columns; no value of its conditions is in the policy."""
    count = CountQuery(column="Age", width=10, where={"Disease": "flu"})
    given = policy(workload=[count, {"together": count, "weight": 3}, ["sex", "disease"]])
    assert isinstance(given.method, sa.Synthetic)
    assert given.method.sets(given) == {(0, 2): 4, (1, 2): 1}
    assert "flu" not in given.model_dump_json()
    both = {"sex": "f", "disease": "flu"}
    average = AverageQuery(column="sex", average="age", where=both)
    asked = policy(workload=[average, CountQuery(column="age", where=both)])
    assert asked.method.sets(asked) == {(0, 1, 2): 2}
    (tmp_path / "p.toml").write_text(
        TOML.replace(
            "[method]",
            "[method]\nworkload = [{ column = 'AGE', width = 10, where = { disease = 'flu' }, weight = 4 },"
            " ['sex', 'disease']]",
        ),
        encoding="utf-8",
    )
    read = sa.Policy.from_toml(tmp_path / "p.toml")
    assert isinstance(read.method, sa.Synthetic)
    assert read.method.sets(read) == given.method.sets(given)
    report = session.anonymize("patients", given, into="released", replace=True, random_source=Silent(1)).report
    measured = {each.columns for each in report.measured if len(each.columns) > 1}
    assert ("age", "disease") in measured
    assert ("age", "sex") not in measured


def test_names_in_any_case(session: sa.Session) -> None:
    """Each individual has two rows, and one of them is counted."""
    shouted = policy(
        numeric={"AGE": [0, 40, 100]},
        nulls=["AGE", "Sex"],
        levels={"DISEASE": 1},
        refine=["Disease"],
        workload=[["AGE", "Sex"], ["DISEASE", "sex"]],
        target="Sex",
        impossible=[{"SEX": "m", "AGE": "[0, 40)"}],
    )
    counted = shouted.model_copy(update={"individual": "person"})
    report = session.anonymize("lacking", counted, into="released", replace=True, random_source=Silent(1)).report
    assert abs(report.released_rows - 600) <= 1


def test_columns_called_like_a_workload(session: sa.Session) -> None:
    session.connection.execute("CREATE TABLE odd AS SELECT age AS PAIRS, age AS Triples FROM patients")
    bins = {"PAIRS": (0, 110, 10), "Triples": (0, 110, 10)}
    for workload in ("pairs", "triples"):
        wanted = sa.Policy(quasi_identifiers=["PAIRS", "Triples"], method=sa.Synthetic(numeric=bins, workload=workload))
        assert session.anonymize("odd", wanted, into="released", replace=True, random_source=Silent(1))


def test_hostile_names(session: sa.Session) -> None:
    first, second = HOSTILE_NAMES[:2]
    session.connection.table("patients").project(
        duckdb.ColumnExpression("sex").alias(first), duckdb.ColumnExpression("disease").alias(second)
    ).create("hostile")
    for old, new in (("sex", first), ("disease", second)):
        session.taxonomies.load(new, sa.Taxonomy.flat(["m", "f"] if old == "sex" else ["flu", "cold", "burn", "cut"]))
    wanted = sa.Policy(quasi_identifiers=[first], sensitive=[second], method=sa.Synthetic())
    session.anonymize("hostile", wanted, into="released", replace=True, random_source=Silent(1))
    assert session.connection.table("released").columns == [first, second]


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
        assert caught.value.problems == ("method.rounds: must be 5 or more, one per column and per column of refine",)

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
            '"flag" is BOOLEAN, not a number: cast it in a view, or name its type in [csv] types, '
            "or give it a taxonomy",
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
            '"sex" is VARCHAR, not a number: cast it in a view, or name its type in [csv] types, or give it a taxonomy',
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
