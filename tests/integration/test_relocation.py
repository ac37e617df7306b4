"""Relocation on UCI Adult, and what it refuses; the oracle has its say in tests/property."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlglot import exp
from typer.testing import CliRunner

import sqlanon as sa
from sqlanon.cli.app import app
from sqlanon.methods.relocation import queries
from sqlanon.methods.relocation.report import RelocationReport
from tests.conftest import clinic_policy, open_clinic, reading

QUASI_IDENTIFIERS = ["age", "workclass", "education", "marital_status", "race", "sex", "native_country"]


@pytest.fixture(scope="module")
def adult(uci_adult: Path) -> Iterator[sa.Session]:
    """UCI Adult; its releases go elsewhere."""
    with reading(uci_adult) as session:
        yield session


def adult_policy(k: int = 5, limit: float = 0.05, **settings: Any) -> sa.Policy:
    return sa.Policy(
        quasi_identifiers=QUASI_IDENTIFIERS,
        sensitive=["occupation"],
        rest="identifier",
        method=sa.Relocation(k, limit=limit),
        **settings,
    )


def suppressing(k: int = 5, limit: float = 0.05, **settings: Any) -> sa.Policy:
    return sa.Policy(
        quasi_identifiers=QUASI_IDENTIFIERS,
        sensitive=["occupation"],
        rest="identifier",
        privacy=[sa.KAnonymity(k)],
        suppression_limit=limit,
        **settings,
    )


@pytest.mark.adult
@pytest.mark.one_line
class TestAdult:
    @pytest.mark.parametrize("quality", [sa.LM(), sa.LM(aggregate="geometric"), sa.Prec(), sa.DMStar()])
    def test_it_takes_the_node_of_suppression_and_leaves_nothing_out(
        self, adult: sa.Session, tmp_path: Path, quality: Any
    ) -> None:
        release = adult.anonymize("adult", adult_policy(quality=quality), tmp_path / "moved.parquet")
        other = adult.anonymize("adult", suppressing(quality=quality), tmp_path / "suppressed.parquet")
        report, plain = release.report, other.report
        assert isinstance(report, RelocationReport)
        assert isinstance(plain, sa.Report)
        assert (release.node, report.loss) == (other.node, pytest.approx(plain.loss))
        assert report.relocated_rows == plain.suppressed_rows <= report.untruthful_share * 32561 + 1e-6
        assert 0 < report.relocated_rows <= 0.05 * 32561
        assert (report.rows.released, report.rows.dropped, report.suppressed_rows) == (32561, 0, 0)
        assert report.class_count == plain.class_count
        assert report.min_class_size >= 5
        # Rows that stay are where suppression has them; those that were moved are besides.
        stay = Counter(duckdb.read_parquet(str(tmp_path / "suppressed.parquet")).fetchall())
        assert not stay - Counter(duckdb.read_parquet(str(tmp_path / "moved.parquet")).fetchall())

    def test_losses_of_labels_do_not_see_what_was_moved(self, adult: sa.Session, tmp_path: Path) -> None:
        release = adult.anonymize("adult", adult_policy(), tmp_path / "moved.parquet")
        report = release.report
        assert isinstance(report, RelocationReport)
        published = report.losses["lm"]
        assert published is not None
        assert published < report.loss
        assert report.mean_distance is not None
        assert published < report.mean_distance < 1
        assert any("do not see that" in note for note in report.notes)

    def test_its_values_are_those_of_the_source(self, adult: sa.Session, tmp_path: Path) -> None:
        policy = adult_policy(k=10, limit=1.0).model_copy(update={"insensitive": ("income",), "rest": "identifier"})
        adult.anonymize("adult", policy, tmp_path / "moved.parquet")
        columns = "occupation, income"
        given = adult.connection.sql(f"SELECT {columns} FROM adult").fetchall()
        assert Counter(duckdb.sql(f"SELECT {columns} FROM '{tmp_path}/moved.parquet'").fetchall()) == Counter(given)

    def test_a_node_without_outliers_is_that_of_k_anonymity(self, adult: sa.Session, tmp_path: Path) -> None:
        release = adult.anonymize("adult", adult_policy(limit=0), tmp_path / "moved.parquet")
        adult.anonymize("adult", suppressing(limit=0), tmp_path / "plain.parquet")
        report = release.report
        assert isinstance(report, RelocationReport)
        assert (report.relocated_rows, report.mean_distance) == (0, None)
        assert not any("do not see that" in note for note in report.notes)
        assert "not truthful" not in " ".join(release.guarantee.not_covered)
        rows = [duckdb.read_parquet(str(tmp_path / name)).fetchall() for name in ("moved.parquet", "plain.parquet")]
        assert rows[0] == rows[1]

    def test_none_found_is_not_none_there(self, adult: sa.Session, tmp_path: Path) -> None:
        policy = adult_policy(limit=0, search="exhaustive")
        with pytest.raises(sa.UnsatisfiableError, match="was found yet") as stopped:
            adult.anonymize("adult", policy, tmp_path / "nothing.parquet", stop=lambda: True)
        assert "of 1,728 nodes were checked" in stopped.value.problems[0]


def session_of_people() -> sa.Session:
    """Ten ages of both sexes; of the age of 0 there is one man, and of the age of 9 one woman."""
    session = sa.connect(duckdb.connect())
    session.connection.execute(
        "CREATE TABLE people AS SELECT 1 + i // 10 AS age, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex, "
        "'d' || (i % 5) AS disease, i AS number FROM range(80) AS numbers (i)"
    )
    session.connection.execute("INSERT INTO people VALUES (0, 'm', 'rare', 100), (9, 'f', NULL, 101)")
    session.taxonomies.load("age", sa.Taxonomy.intervals([5], minimum=0, maximum=9))
    session.taxonomies.load("sex", sa.Taxonomy.flat(["f", "m"]))
    return session


def people_policy(**settings: Any) -> sa.Policy:
    method = sa.Relocation(**{"k": 4, "limit": 0.05, **settings})
    return sa.Policy(quasi_identifiers=["age", "sex"], sensitive=["disease"], insensitive=["number"], method=method)


class TestRelease:
    def test_what_is_told_of_it(self) -> None:
        with session_of_people() as session:
            release = session.anonymize("people", people_policy(), "released")
            report = release.report
            assert isinstance(report, RelocationReport)
            assert release.node == {"age": 0, "sex": 0}
            assert (report.relocated_rows, report.relocated_classes) == (2, 2)
            # To another age below the same label of five, at (5 - 1) / (10 - 1) of age and nothing of sex.
            assert report.mean_distance == pytest.approx(4 / 9 / 2)
            assert report.losses["lm"] == 0
            assert report.loss == pytest.approx(2 / 82)
            assert report.rows_in_words == (
                "82 rows, 2 of them untruthful (2.4 %; the limit is 5 %): they are shown in other classes, at a mean "
                "distance of 0.222."
            )
            told = release.model_dump(mode="json")["report"]
            assert (told["relocated_rows"], told["untruthful_share"]) == (2, 2 / 82)
            assert "mean distance" in report._repr_html_()
            assert "2 rows (2.4 %) have quasi-identifiers of other rows" in release.guarantee.not_covered[0]
            assert 'its values of "disease", "number" are true' in release.guarantee.claims[-1]
            # Of equally near classes, which are equally large, the first by its key.
            moved = session.connection.sql("SELECT age, sex, disease FROM released WHERE number >= 100").fetchall()
            assert moved == [("1", "m", "rare"), ("5", "f", None)]

    def test_the_larger_of_equally_near_classes_is_taken(self) -> None:
        with session_of_people() as session:
            session.connection.execute("INSERT INTO people VALUES (3, 'm', 'x', 90)")
            session.anonymize("people", people_policy(), "released")
            (moved,) = session.connection.sql("SELECT age, sex FROM released WHERE number = 100").fetchall()
            assert moved == ("3", "m")

    def test_what_travels_with_it(self, tmp_path: Path) -> None:
        """How many rows are not true, without how far they are from where they belong."""
        file = tmp_path / "released.csv"
        with session_of_people() as session:
            session.anonymize("people", people_policy(), file)
            facts = json.loads(session.provenance(file) or "")["sqlanon"]
            assert facts["rows"] == {"source": 82, "released": 82, "masked": 0, "dropped": 0, "unknown": 0}
            assert (facts["report"]["relocated_rows"], facts["report"]["untruthful_share"]) == (2, 2 / 82)
            assert not {"mean_distance", "relocated_classes", "source", "into"} & set(facts["report"])
            assert session.verify(file, people_policy()).met

    def test_it_is_the_same_every_time(self, tmp_path: Path) -> None:
        rows = []
        with session_of_people() as session:
            for order in ("number", "number DESC", "hash(number)"):
                session.anonymize(f"FROM people ORDER BY {order}", people_policy(), "released", replace=True)
                rows.append(session.connection.table("released").fetchall())
        assert rows[0] == rows[1] == rows[2]

    def test_a_heuristic_search(self) -> None:
        with session_of_people() as session:
            policy = people_policy().model_copy(update={"search": "datafly"})
            assert session.anonymize("people", policy, "released").report.rows.released == 82

    def test_its_lattice(self) -> None:
        with session_of_people() as session:
            nodes = session.lattice("people", people_policy())
            found = session.connection.sql("SELECT count(*) FROM nodes WHERE satisfies").fetchall()
            assert nodes.num_rows == 6
            assert found == [(6,)]

    def test_it_is_explained(self, clinic: sa.Session) -> None:
        steps = clinic.explain("visits", clinic_policy(method=sa.Relocation(2)))
        purposes = dict.fromkeys(step.purpose for step in steps)
        wanted = ["cells", "classes by size", "where they go", "cells where they go", "the release"]
        assert [purpose for purpose in purposes if purpose in wanted] == wanted


def with_another_value(query: exp.Query) -> exp.Query:
    """Cells of which the disease of one person is another one."""
    number = exp.column("anon_raw_1", quoted=True)
    wrong = exp.case().when(number.eq(100), exp.Literal.string("d1")).else_(exp.column("anon_raw_0", quoted=True))
    replaced = exp.Star(replace=[exp.alias_(wrong, "anon_raw_0", quoted=True)])
    return exp.select(replaced).from_(query.subquery("cells"))


class TestRefusals:
    """Nothing is written, and what was there stays."""

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ("ALTER TABLE people ADD COLUMN note TEXT", 'column "note" has no role'),
            ("ALTER TABLE people ALTER disease SET DATA TYPE DOUBLE USING 0.5", '"disease" is DOUBLE'),
            ("ALTER TABLE people ALTER number SET DATA TYPE INTEGER[] USING [number]", '"number" is INTEGER'),
            ("DELETE FROM people", "has no rows"),
        ],
    )
    def test_a_table_that_does_not_fit(self, change: str, words: str) -> None:
        with session_of_people() as session:
            session.connection.execute("CREATE TABLE released AS FROM people")
            session.connection.execute(change)
            with pytest.raises(sa.PolicyError, match=words):
                session.anonymize("people", people_policy(), "released", replace="anything")
            assert session.connection.sql("SELECT count(*) FROM released").fetchall() == [(82,)]

    def test_no_class_is_large_enough(self) -> None:
        with session_of_people() as session:
            with pytest.raises(sa.UnsatisfiableError) as refused:
                session.anonymize("people", people_policy(k=83), "released")
            assert list(refused.value.problems) == [
                "best node: age 2, sex 1; 82 of 82 rows are in such classes there",
                "k = 82 is the largest that would do",
            ]

    def test_too_many_outliers(self) -> None:
        with session_of_people() as session:
            policy = people_policy(limit=0.01).model_copy(update={"maximum_levels": {"age": 0, "sex": 0}})
            with pytest.raises(sa.UnsatisfiableError, match=r"at most 0 rows in classes of fewer than 4") as refused:
                session.anonymize("people", policy, "released")
            assert list(refused.value.problems) == [
                "best node: age 0, sex 0; 2 of 82 rows are in such classes there",
                "limit = 0.03 is the smallest that would do",
                "leaving out maximum_levels would do",
            ]
            for changes in ({"method": sa.Relocation(4, limit=0.03)}, {"maximum_levels": {}}):
                session.anonymize("people", policy.model_copy(update=changes), "released", replace=True)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"sensitive": ()}, "needs a sensitive or an insensitive column"),
            ({"privacy": [sa.KAnonymity(7)]}, "takes no privacy model but k-anonymity of its own k"),
            ({"privacy": [sa.KAnonymity(3), sa.DistinctLDiversity("disease", 2)]}, "takes no privacy model but"),
            ({"suppression_limit": 0.1}, "takes no suppression_limit"),
            ({"objective": "privacy", "max_loss": 1}, "takes no suppression_limit, suppression or objective"),
            ({"search": "ola"}, "needs monotonic models, which lm is not"),
            ({"row_weight": "w"}, "counts rows, not the weights"),
            ({"individual": "w"}, "counts rows, not the individuals"),
        ],
    )
    def test_a_policy_that_asks_for_more(self, options: dict[str, Any], words: str) -> None:
        roles = {"quasi_identifiers": ["age"], "sensitive": ["disease"], "identifiers": ["w"], **options}
        with pytest.raises(sa.PolicyError, match=words):
            sa.Policy(method=sa.Relocation(3), **{"quality": sa.LM(), **roles})

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            ({}, "k: field required"),
            ({"k": 1}, "k: "),
            ({"k": 3, "limit": 1.1}, "limit: "),
            ({"k": 3, "limit": -0.1}, "limit: "),
            ({"k": 3, "h": 0.1}, "h: "),
        ],
    )
    def test_settings_that_cannot_be(self, settings: dict[str, Any], words: str) -> None:
        with pytest.raises(sa.PolicyError, match=words):
            sa.Relocation(**settings)

    def test_requests_that_it_does_not_take(self, tmp_path: Path) -> None:
        with session_of_people() as session:
            with pytest.raises(sa.PolicyError, match="takes no node: bound its search"):
                session.anonymize("people", people_policy(), "released", node={"age": 0, "sex": 0})
            with pytest.raises(sa.PolicyError, match="dataset"):
                session.anonymize("people", people_policy(), "released", dataset="x")
            with pytest.raises(sa.PolicyError, match="random_source"):
                session.anonymize("people", people_policy(), "released", random_source=sa.SeededSource(1))
            with pytest.raises(sa.PolicyError, match="a fit is of full domains"):
                session.partitions.fit("people", people_policy(), tmp_path / "fit.json")

    @pytest.mark.parametrize(
        ("broken", "words"),
        [
            (lambda query: query.limit(70), "rows where 82 were to be released"),
            (with_another_value, "it lacks the values of 1 rows of the source"),
        ],
    )
    def test_a_release_that_is_not_as_it_should_be(
        self, monkeypatch: pytest.MonkeyPatch, broken: Any, words: str
    ) -> None:
        with session_of_people() as session:
            session.anonymize("people", people_policy(), "released")
            right = queries.moved

            def wrong(*given: Any) -> Any:
                step = right(*given)
                return type(step)(step.makes, broken(step.query), step.purpose)

            monkeypatch.setattr(queries, "moved", wrong)
            with pytest.raises(sa.VerificationError, match=words):
                session.anonymize("people", people_policy(), "released", replace=True)
            assert session.connection.sql("SELECT count(*) FROM released").fetchall() == [(82,)]


class TestCommand:
    def test_a_run(self, tmp_path: Path) -> None:
        database, policy = tmp_path / "clinic.duckdb", tmp_path / "policy.toml"
        with duckdb.connect(str(database)) as connection:
            open_clinic(connection)
        policy.write_text(
            'quasi_identifiers = ["age", "sex", "zip"]\nsensitive = ["diagnosis"]\nidentifiers = ["id"]\n'
            'method = { model = "relocation", k = 2, limit = 0.5 }\n'
        )
        command = ["run", "visits", "--db", str(database), "--policy", str(policy), "--into"]
        done = CliRunner().invoke(app, [*command, str(tmp_path / "moved.parquet")])
        assert done.exit_code == 0, done.output
        said = " ".join(done.output.split())
        assert "12 rows, 4 of them untruthful (33.3 %; the limit is 50 %)" in said
        assert "the release is not truthful" in said
