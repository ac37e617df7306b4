"""h-ceiling on people of ten ages and two sexes: one release of them, and what can be chosen besides."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from tests import oracle
from tests.commands import sqlanon
from tests.conftest import ROOT, open_clinic

SEED = sa.SeededSource(20)
TAXONOMIES: oracle.Taxonomies = {
    "age": [[str(age), f"[{age // 5 * 5}, {age // 5 * 5 + 5})", "*"] for age in range(10)],
    "sex": [["f", "*"], ["m", "*"]],
}


def session_of_people(rows: int = 40) -> sa.Session:
    """People of ten ages and two sexes, with a disease each."""
    session = sa.connect(duckdb.connect(config={"threads": 1}))
    session.connection.execute(
        "CREATE TABLE people AS SELECT i // 4 AS age, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END AS sex, "
        f"'d' || (i % 5) AS disease FROM range({rows}) AS numbers (i)"
    )
    session.taxonomies.load("age", sa.Taxonomy.intervals([5], minimum=0, maximum=9))
    session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
    return session


def people_policy(suppression_limit: float | None = None, **settings: Any) -> sa.Policy:
    return sa.Policy(
        quasi_identifiers=["age", "sex"],
        sensitive=["disease"],
        suppression_limit=suppression_limit,
        method=sa.HCeiling(**{"k": 4, "h": 0.1, **settings}),
        earlier="none",
    )


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with session_of_people() as session:
        yield session


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("released") / "released.parquet"


@pytest.fixture(scope="module")
def release(session: sa.Session, file: Path) -> Any:
    """Every class has one to three true rows: 40 counterfeits fill them up."""
    return session.anonymize("people", people_policy(), file, random_source=sa.SeededSource(20))


def run(session: sa.Session, policy: sa.Policy, **options: Any) -> Any:
    """Another release, as table ``other``."""
    return session.anonymize("people", policy, "other", replace=True, **{"random_source": SEED, **options})


def rows_of(session: sa.Session, columns: str, table: str) -> Counter[Any]:
    return Counter(session.connection.sql(f"SELECT {columns} FROM {table}").fetchall())


def test_a_ceiling_is_searched_where_none_is_given(session: sa.Session) -> None:
    """The report shows the curve; the record has the ceiling alone, for counterfeits are not to be counted."""
    release = run(session, people_policy(h=None))
    report = release.report
    errors = {point.ceiling: point.reconstruction_error for point in report.curve}
    assert [*errors] == [0.05, 0.1, 0.15, 0.2, 0.25]
    assert errors[report.ceiling] == min(errors.values())
    assert report.curve[-1].counterfeits == 0
    tried = [table for table in report.of_method() if table.title == "Ceilings that were tried"]
    assert [len(table.rows) for table in tried] == [5]
    recorded = session.connection.sql("SELECT comment FROM duckdb_tables() WHERE table_name = 'other'").fetchall()[0][0]
    assert "reconstruction_error" not in recorded
    assert '"ceiling":0.' in recorded.replace(" ", "")


def test_report_and_guarantee(session: sa.Session, release: Any) -> None:
    report = release.report
    assert release.node == {"age": 0, "sex": 0}
    assert (report.counterfeits, report.rows.source) == (40, 40)
    assert report.rows_in_words == (
        "80 rows, 40 of them counterfeits (50.0 %) in 20 of 20 classes; the class of the fewest true rows has 1."
    )
    report_as_json = release.model_dump(mode="json")["report"]
    assert (report_as_json["counterfeits"], report_as_json["fewest_true_rows"]) == (40, 1)
    assert json.loads(release.model_dump_json())["report"] == report_as_json
    assert "counterfeit share" in report._repr_html_()
    claims = " ".join(release.guarantee.claims)
    assert "4 rows or more" in claims
    assert "rows are counted, not persons" in " ".join(release.guarantee.conditions)
    assert "with a probability of 1/4 at most" in claims
    assert "whoever could recognize all of them, with certainty" in claims
    under_a_higher_one = run(session, people_policy(h=0.3))
    assert (under_a_higher_one.node, under_a_higher_one.report.counterfeits) == ({"age": 1, "sex": 0}, 0)


@pytest.mark.usefixtures("release")
def test_nothing_in_it_tells_counterfeits(session: sa.Session, file: Path) -> None:
    """Not the order, nor a column, nor NULL, nor the note, from which the number of true rows cannot be had."""
    rows = duckdb.read_parquet(str(file)).fetchall()
    assert rows == sorted(rows)
    assert list(duckdb.read_parquet(str(file)).columns) == ["age", "sex", "disease"]
    assert not any(value is None for row in rows for value in row)
    facts = json.loads(session.provenance(file) or "")["sqlanon"]
    assert facts["rows"] == {"released": 80, "masked": 0}
    assert set(facts["report"]) == {
        "node", "heights", "domains", "ceiling", "degree", "class_count", "min_class_size"
    }  # fmt: skip
    assert "counterfeit" not in json.dumps({**facts, "policy": None, "promise": None})
    assert session.verify(file, people_policy()).met


@pytest.mark.usefixtures("release")
def test_draws_differ_unless_they_are_seeded(session: sa.Session, file: Path) -> None:
    found = [Counter(duckdb.read_parquet(str(file)).fetchall())]
    for source in (sa.SeededSource(20), None, None):
        run(session, people_policy(), random_source=source)
        found.append(rows_of(session, "age, sex, disease", "other"))
    assert found[0] == found[1]
    assert all(found[one] != found[two] for one in range(2, 4) for two in range(1, one))  # equal once in 5^40


def test_a_search_that_is_stopped(session: sa.Session) -> None:
    report = run(session, people_policy(), stop=lambda: True).report
    assert report.lower_bound is not None
    assert report.lower_bound <= report.counterfeits


def test_one_class_of_all_rows() -> None:
    with session_of_people(rows=3) as session:
        policy = people_policy(k=3, h=1).model_copy(update={"minimum_levels": {"age": 2, "sex": 1}})
        assert run(session, policy).report.rows.released == 3
        assert session.connection.sql("SELECT DISTINCT age, sex FROM other").fetchall() == [("*", "*")]


def test_values_are_drawn_as_in_the_whole_table() -> None:
    """900 draws of a disease that nine of ten people have: a uniform fill has it in half of them."""
    with session_of_people(rows=4) as session:
        session.connection.execute(
            "CREATE OR REPLACE TABLE people AS "
            "SELECT i // 10 AS age, 'f' AS sex, 'd' || (i % 10 = 3)::INTEGER AS disease FROM range(100) AS numbers (i)"
        )
        for fill, share in (("marginal", 0.9), ("uniform", 0.5)):
            assert run(session, people_policy(k=100, h=0, fill=fill)).report.counterfeits == 900
            drawn = rows_of(session, "disease", "other")["d0",] - 90
            assert abs(drawn - 900 * share) < 6 * (900 * share * (1 - share)) ** 0.5


def test_classes_of_fewer_true_rows_are_left_out(session: sa.Session) -> None:
    policy = people_policy(fewest_true_rows=2, suppression_limit=0.5)
    release = run(session, policy)
    report = release.report
    assert (report.fewest_true_rows, report.suppressed_rows, report.rows.dropped) == (2, 6, 6)
    assert report.rows_in_words == (
        "56 rows, 22 of them counterfeits (39.3 %) in 14 of 14 classes; the class of the fewest true rows has 2. "
        "6 suppressed (15.0 %; the limit is 50 %)."
    )
    assert "could recognize all of them, with 1/2, where 2 is the fewest true rows of a class" in " ".join(
        release.guarantee.claims
    )
    assert session.verify("other", policy).met
    assert session.connection.sql("SELECT count(*) FROM other").fetchall() == [(56,)]


def test_the_error_is_of_the_rows_that_are_left() -> None:
    """A missing value is shown as it is; of two codes of four under one label nothing but this is known."""
    with sa.connect() as session:
        session.connection.execute(
            "CREATE TABLE people AS SELECT *, 'd' AS disease "
            "FROM (VALUES (NULL, 'f'), (NULL, 'f'), (1, 'f'), (2, 'f'), (NULL, 'm')) AS given (code, sex)"
        )
        session.taxonomies.load("code", sa.Taxonomy.from_rows([[str(code), "1-4", "*"] for code in range(1, 5)]))
        session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
        policy = sa.Policy(
            quasi_identifiers=["code", "sex"],
            sensitive=["disease"],
            suppression_limit=0.2,
            method=sa.HCeiling(k=2, h=0.5, fewest_true_rows=2),
            minimum_levels={"code": 1},
            maximum_levels={"code": 1, "sex": 0},
        )
        report = session.anonymize("people", policy, "released", random_source=SEED).report
    assert report.suppressed_rows == 1
    assert report.reconstruction_error == pytest.approx(2 * 0.75 / 4 / 3)


@pytest.mark.parametrize("settings", [{"catalog": "paper"}, {"k": 20, "h": 0.6}], ids=str)
def test_a_private_table_tells_the_custodian_which_rows_are_invented(
    session: sa.Session, settings: dict[str, Any]
) -> None:
    tables = {"counterfeits": "invented", **({"catalog": "listed"} if "catalog" in settings else {})}
    release = run(session, people_policy(**settings), tables=tables)
    rows = session.connection.sql("SELECT age, sex, disease, counterfeits FROM invented").fetchall()
    invented = {tuple(values): count for *values, count in rows}
    assert sum(invented.values()) == release.report.counterfeits > 0
    people = session.connection.table("people").to_arrow_table().to_pylist()
    true = oracle.generalize(people, TAXONOMIES, release.node)
    shown = rows_of(session, "age, sex, disease", "other")
    assert dict(shown - Counter((str(row["age"]), row["sex"], row["disease"]) for row in true)) == invented


def test_a_run_with_a_seed(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        open_clinic(connection)
        connection.execute("DELETE FROM visits WHERE diagnosis IS NULL")
    (tmp_path / "policy.toml").write_text(
        'quasi_identifiers = ["age", "sex", "zip"]\nsensitive = ["diagnosis"]\nidentifiers = ["id"]\n'
        'method = { model = "h-ceiling", k = 3, h = 0.3 }\n'
    )
    outputs = []
    for name in ("one", "two"):
        options = ("--db", "clinic.duckdb", "--policy", "policy.toml", "--into", f"{name}.parquet", "--seed", "3")
        done = sqlanon("run", "visits", *options, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "24 rows, 13 of them counterfeits (54.2 %)" in " ".join(done.stdout.split())
        outputs.append(duckdb.read_parquet(str(tmp_path / f"{name}.parquet")).fetchall())
    assert outputs[0] == outputs[1]
    # What draws nothing takes no seed.
    (tmp_path / "policy.toml").write_text('quasi_identifiers = ["age"]\nprivacy = [{ model = "k-anonymity", k = 2 }]\n')
    source = str(ROOT / "fixtures" / "clinic.sql")
    options = ("--policy", "policy.toml", "--into", "x.parquet", "--seed", "3")
    assert sqlanon("run", source, *options, folder=tmp_path).returncode == 2
