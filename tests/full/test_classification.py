"""Classification accuracy from outside: figures of UCI Adult, tables by hand, and what is refused."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from sqlanon.evaluation import Classification, classification
from sqlanon.evaluation.combinations import Combinations, Roles, columns_of, combinations, matrices
from tests.engines import engine_of

VALUE = "alice-1970"


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("""
            CREATE TABLE people AS
            SELECT
                i % 10 AS age,
                ['Bonn', 'Köln', NULL][1 + i % 3] AS city,
                [['a'], ['a', 'b'], []][1 + i % 3] AS items,
                CASE WHEN i % 10 > 6 OR i % 3 = 0 THEN 'yes' ELSE 'no' END AS label,
                1 + i % 4 AS number
            FROM range(120) AS people (i)
        """)
        yield sa.connect(connection)


def asked(session: sa.Session, training: Any = "people", test: Any = "people", **options: Any) -> Classification:
    return classification(session, training, test, **{"target": "label", "seeds": range(2), **options})


def features(session: sa.Session, *queries: str) -> tuple[list[Combinations], list[list[list[float]]]]:
    """What the first and the second query become, by what is known of the first."""
    engine = engine_of(session)
    parts = [columns_of(engine, "the table", engine.resolve(query)) for query in queries]
    names = tuple(each.name for each in parts[0].columns.values() if each.name not in ("label", "weight"))
    roles = Roles(names, "label", "weight")
    read = [combinations(engine, part, roles) for part in parts]
    return read, [matrix.toarray().tolist() for matrix in matrices(*read)]


class TestFeatures:
    TRAINING = """
        SELECT * FROM (VALUES
            (10, 'north', ['x', 'y', 'x'], 'a', 2), (40, NULL, ['y', NULL, 'x'], 'a', 1), (NULL, 'south', [], 'b', 1),
            (10, 'north', ['y', 'x'], 'a', 1), (99, 'east', ['z'], 'b', 0)
        ) AS rows (age, region, items, label, weight)
    """

    def test_by_hand(self, session: sa.Session) -> None:
        """Ages 10, 10, 10, 40, 10 (missing): mean 16, deviation 12; east and z weigh nothing, so they are unknown."""
        test = """
            SELECT * FROM (VALUES
                (28, 'east', ['z', 'y'], 'a'), (NULL, NULL, NULL, 'a'), ('nan'::DOUBLE, 'south', ['x'], 'c')
            ) AS rows (age, region, items, label)
        """
        (learned, tested), (training, wanted) = features(session, self.TRAINING, test)
        assert learned.weights.tolist() == [3, 1, 1]
        assert learned.predictors["items"] == [("x", "y"), ("x", "y"), ()]
        # age, north, south, x, y
        assert training == [[-0.5, 1, 0, 1, 1], [2, 1, 0, 1, 1], [-0.5, 0, 1, 0, 0]]
        assert tested.labels == ["a", "c", "a"]
        assert wanted == [[1, 0, 0, 0, 1], [-0.5, 0, 1, 1, 0], [-0.5, 1, 0, 1, 1]]

    def test_equal_numbers_are_not_magnified(self, session: sa.Session) -> None:
        training = "SELECT 0.1::DOUBLE AS x, 'b' AS label, 1 AS weight FROM range(3) UNION ALL SELECT 0.1, 'a', 1"
        _, (_, wanted) = features(session, training, "SELECT 0.3::DOUBLE AS x, 'a' AS label")
        assert wanted == [[pytest.approx(0.2)]]

    def test_texts_are_told_apart_whatever_their_collation(self, session: sa.Session) -> None:
        session.connection.execute("CREATE OR REPLACE TABLE alike (x VARCHAR COLLATE NOCASE, label VARCHAR)")
        session.connection.execute("INSERT INTO alike VALUES ('A', 'yes'), ('a', 'no'), ('A', 'yes')")
        (learned, _), _ = features(session, "SELECT *, 1 AS weight FROM alike", "alike")
        assert (learned.predictors["x"], learned.weights.tolist()) == (["A", "a"], [2, 1])


class TestResults:
    def test_models_and_seeds(self, session: sa.Session) -> None:
        found = asked(session, models=["logistic", "tree"], seeds=[3, 1, 4])
        assert list(found.ca) == ["logistic", "tree"]
        assert found.seeds == (3, 1, 4)
        assert found.ca["tree"].each == (1.0, 1.0, 1.0)
        assert (found.ca["tree"].mean, found.ca["tree"].sd) == (1.0, 0.0)
        assert found.ba is None
        assert asked(session, models="tree", seeds=[0]).ca["tree"].sd is None
        assert found == asked(session, models=["logistic", "tree"], seeds=[3, 1, 4])

    def test_it_is_frozen_and_prints(self, session: sa.Session) -> None:
        found = asked(session, models="tree")
        with pytest.raises(ValueError, match="frozen"):
            found.la = 1.0  # type: ignore[misc]
        assert Classification.model_validate_json(found.model_dump_json()) == found
        assert "<table>" in found._repr_html_()

    def test_the_majority_is_that_of_training(self, session: sa.Session) -> None:
        """By weight; the smallest label of several."""
        rows = "SELECT * FROM (VALUES (1, 'b', 2), (2, 'a', 2), (3, 'c', 1)) AS rows (x, label, weight)"
        test = "SELECT 1 AS x, unnest(['a', 'b', 'b', 'b', 'c']) AS label"
        assert asked(session, rows, test, weight="weight", models="tree").la == 0.2
        heavier = f"SELECT * REPLACE (CASE label WHEN 'b' THEN 2.5 ELSE weight END AS weight) FROM ({rows})"
        assert asked(session, heavier, test, weight="weight", models="tree").la == 0.6

    def test_rows_of_tests_have_weights_too(self, session: sa.Session) -> None:
        counted = "SELECT age, city, items, label, count(*) AS count FROM people GROUP BY ALL"
        raw = "SELECT * EXCLUDE (number) FROM people"
        found = asked(session, counted, counted, weight="count", raw=(raw, raw))
        assert found.ca == found.ba
        assert (found.training_weight, found.test_weight) == (120, 120)

    def test_labels_may_be_numbers(self, session: sa.Session) -> None:
        numbers = "SELECT age, label = 'yes' AND age > 6 AS old, age // 5 AS label FROM people"
        test = "SELECT * REPLACE (label::DECIMAL(4, 1) AS label) FROM (" + numbers + ")"
        assert asked(session, numbers, test).ca["tree"].mean == 1.0

    def test_names_are_the_same_in_whatever_case(self, session: sa.Session) -> None:
        spelled = "SELECT LABEL AS LaBeL, ITEMS AS ITEMS, city AS City, age AS AGE, number AS NUMBER FROM people"
        found = asked(session, "people", spelled, target="LABEL", weight="Number")
        assert found == asked(session, weight="number")

    def test_names_of_ours_mean_columns_of_the_table(self, session: sa.Session) -> None:
        source = """
            SELECT city AS anon_predictor_0, age AS anon_label, label AS anon_predictor_1, number AS anon_weight
            FROM people
        """
        plain = "SELECT city, age, label, number FROM people"
        found = asked(session, source, source, target="anon_predictor_1", weight="anon_weight")
        assert found == asked(session, plain, plain, weight="number")

    def test_files_and_frames(self, session: sa.Session, tmp_path: Path) -> None:
        path = tmp_path / "people.parquet"
        session.connection.table("people").write_parquet(str(path))
        frame = session.connection.table("people").to_arrow_table()
        assert asked(session, str(path), frame) == asked(session)


class TestRefusals:
    def problems(self, session: sa.Session, *sources: str, **options: Any) -> tuple[str, ...]:
        with pytest.raises(sa.PolicyError) as refused:
            asked(session, *sources, **options)
        assert "cannot be measured" in str(refused.value)
        assert VALUE not in str(refused.value)
        return refused.value.problems

    def test_arguments_and_columns_are_all_told_at_once(self, session: sa.Session) -> None:
        test = "SELECT CAST(age AS VARCHAR) AS age, city, 1 AS more, label AS lable FROM people"
        found = self.problems(session, "people", test, models=["trees", "tree"], seeds=[-1, True], weight="city")
        release, tested = 'the release (table "people")', "the test table (the query)"
        assert found == (
            '"trees" is not one of the models tree, logistic; did you mean "tree"?',
            "seeds must be whole numbers from 0 to 4294967295",
            f'{tested} has no column "label"; did you mean "lable"?',
            f'column "city" of {release} is not numeric, as weights must be; cast it in a query',
            f'column "city" of {tested} is not numeric, as weights must be; cast it in a query',
            f'column "age" has numbers in {release} and texts in {tested}; generalize both in the same way, or cast '
            "one in a query",
            f'{release} has a column "items", which {tested} does not have',
            f'{release} has a column "number", which {tested} does not have',
            f'{tested} has a column "more", which {release} does not have',
            f'{tested} has a column "lable", which {release} does not have',
        )

    def test_a_target_that_the_release_lacks(self, session: sa.Session) -> None:
        found = self.problems(session, target="income")
        assert [problem.partition(" has ")[0] for problem in found] == [
            'the release (table "people")',
            'the test table (table "people")',
        ]

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"models": []}, "no model is given"),
            ({"seeds": []}, "no seed is given"),
            ({"seeds": [0.5]}, "seeds must be whole numbers"),
            ({"weight": "LABEL"}, 'column "label" cannot be the target and the weight'),
            ({"weight": "count"}, 'has no column "count"'),
            ({"target": "items"}, "has lists, which cannot be labels"),
        ],
    )
    def test_arguments(self, session: sa.Session, options: dict[str, Any], problem: str) -> None:
        assert problem in "\n".join(self.problems(session, **options))

    def test_raw_rows_are_held_to_the_same(self, session: sa.Session) -> None:
        raw = "SELECT * EXCLUDE (label) FROM people", "SELECT * EXCLUDE (age) FROM people"
        found = "\n".join(self.problems(session, raw=raw))
        assert 'the raw training table (the query) has no column "label"' in found
        assert 'has a column "age", which the raw test table (the query) does not have' in found
        for no_pair in ("people", ("people",), ["people"] * 3):
            with pytest.raises(sa.PolicyError, match="raw is a pair"):
                asked(session, raw=no_pair)

    @pytest.mark.parametrize("weight", ["NULL", "-1", "'nan'", "'inf'"])
    def test_weights(self, session: sa.Session, weight: str) -> None:
        source = f"SELECT * REPLACE (CASE WHEN age < 2 THEN {weight}::DOUBLE ELSE 1 END AS number) FROM people"
        found = self.problems(session, source, "people", weight="number")
        assert found == ('24 rows of the release (the query) have a "number" that is NULL, negative or not finite',)

    def test_rows_are_all_told_at_once(self, session: sa.Session) -> None:
        training = f"SELECT * REPLACE (CASE WHEN age < 5 THEN '{VALUE}' END AS label, 0 AS number) FROM people"
        found = self.problems(session, training, "FROM people LIMIT 0", weight="number")
        assert found == (
            '60 rows of the release (the query) have no "label"; leave them out in a query',
            "the release (the query) has no rows of a weight above 0",
            "the test table (the query) has no rows of a weight above 0",
        )

    def test_one_class_alone(self, session: sa.Session) -> None:
        one = f"SELECT * REPLACE ('{VALUE}' AS label) FROM people"
        [problem] = self.problems(session, one, one)
        assert problem == 'all rows of the release (the query) have the same "label": there is nothing to learn'
        weighed = "SELECT * REPLACE (CASE label WHEN 'yes' THEN 0 ELSE 1 END AS number) FROM people"
        assert "nothing to learn" in self.problems(session, weighed, "people", weight="number")[0]

    def test_labels_that_are_spelled_differently(self, session: sa.Session) -> None:
        [problem] = self.problems(session, "people", "SELECT * REPLACE (label || '.' AS label) FROM people")
        assert "have no label in common" in problem

    def test_nothing_to_predict_from(self, session: sa.Session) -> None:
        alone = "SELECT label FROM people"
        assert "no column to predict" in self.problems(session, alone, alone)[0]
        empty = "SELECT NULL::INTEGER AS x, []::VARCHAR[] AS y, NULL AS z, label FROM people"
        assert "has a value to predict from" in self.problems(session, empty, empty)[0]

    def test_without_the_extra_it_says_what_to_install(
        self, session: sa.Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "sklearn", None)
        with pytest.raises(sa.EngineError, match=re.escape("pip install '.[eval]'")):
            asked(session)
