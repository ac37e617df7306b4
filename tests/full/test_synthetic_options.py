"""Rarer columns and options of synthetic rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import sqlanon as sa
from sqlanon.evaluation import CountQuery
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
