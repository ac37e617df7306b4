"""``session.risk`` and ``sqlanon risk``: the macros over classes that are counted once, and words for what is wrong."""

import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon as sa
from sqlanon.api.session import Session
from sqlanon.model.release.sample_risk import PROMISE
from sqlanon.queries.kit.macros import table_call
from sqlanon.queries.kit.nodes import DIALECT, names, number, string
from sqlanon.report.document import estimate
from tests.commands import started

HOSTILE = ('a"b; drop table x --', "anon_class_size", "weight")
ROWS = st.lists(
    st.tuples(*[st.sampled_from(["x", "y", "z", None])] * 3, st.integers(1, 40), st.integers(1, 5)),
    min_size=1,
    max_size=30,
)


@pytest.fixture(scope="module")
def memory() -> Iterator[Session]:
    with sa.connect() as session:
        yield session


def asked(session: Session, macro: str, *arguments: object) -> list[dict[str, object]]:
    query = table_call(macro, *arguments)  # type: ignore[arg-type]
    return session.connection.sql(query.sql(DIALECT)).to_arrow_table().to_pylist()


@given(ROWS)
@settings(deadline=None)
def test_figures_are_those_of_the_macros(rows: list[tuple[str | None, str | None, str | None, int, int]]) -> None:
    with sa.connect() as session:
        keys = ", ".join('"' + name.replace('"', '""') + '" VARCHAR' for name in HOSTILE)
        session.connection.execute(f"CREATE TABLE survey ({keys}, w INTEGER, home INTEGER)")
        session.connection.executemany("INSERT INTO survey VALUES (?, ?, ?, ?, ?)", rows)
        found = session.risk("survey", HOSTILE, weight="W", household="home")
        # The macros have columns of that name as well.
        session.connection.execute("CREATE VIEW plain (a, b, c, w, home) AS FROM survey")
        plain, listed = string("plain"), names(["a", "b", "c"])
        [bracket] = asked(session, "global_risk", plain, listed, string("w"))
        for name in ("row_count", "class_count", "unique_rows"):
            assert getattr(found, name) == bracket[name]
        for name in ("population_size", "expected_low", "expected_high", "uniques_low", "uniques_high"):
            assert getattr(found, name) == pytest.approx(bracket[name], rel=1e-12)
        special = asked(session, "suda", plain, listed, number(3))
        assert found.special is not None
        assert {each.set_size: each.row_count for each in found.special.sizes} == {
            size: [row["least_size"] for row in special].count(size) for size in {row["least_size"] for row in special}
        }
        shares = asked(session, "suda_contributions", plain, listed, number(3))
        assert sorted((each.set_count, each.contribution) for each in found.special.keys if special) == sorted(
            (each["set_count"], each["contribution"]) for each in shares if special
        )
        homes = asked(session, "household_risk", plain, listed, string("w"), string("home"))
        assert found.households is not None
        assert found.households.household_count == len(homes)
        assert found.households.households_found == pytest.approx(sum(home["risk"] for home in homes))  # type: ignore[misc]
        ratios = [
            max(weights) / min(weights)
            for weights in ([row[3] for row in rows if row[4] == home] for home in {row[4] for row in rows})
        ]
        if max(ratios) > 2:
            assert found.households.matched_households is None
            assert any(f"within {sum(ratio > 2 for ratio in ratios)} of {len(ratios)};" in note for note in found.notes)
        else:
            [whole] = asked(session, "household_key_risk", plain, listed, string("w"), string("home"))
            assert found.households.unique_households == whole["unique_households"]
            assert found.households.matched_households == pytest.approx(whole["households_found"])
            assert found.households.matched_rows == pytest.approx(whole["rows_found"])
        [uniques] = asked(session, "population_uniques", plain, listed, number(found.population_size or 0))
        assert found.uniques is not None
        for name in ("pitman", "zayatz", "snb", "estimate"):
            assert getattr(found.uniques, name) == (uniques[name] and pytest.approx(uniques[name], rel=1e-9))
        assert found.uniques.estimator == uniques["estimator"]
        for kind in ("binomial_rows", "poisson_rows"):
            assert sum(getattr(band, kind) for band in found.bands) == len(rows)
        weights = [row[3] for row in rows]
        assert found.weight_ratio == max(weights) / min(weights)
        if found.weight_ratio > 3 or not found.unique_rows:
            assert found.correct_match is None
        else:
            share = number(len(rows) / sum(weights))
            [dis, *_] = asked(session, "dis_suda", plain, listed, number(3), share)
            assert found.correct_match == pytest.approx(dis["correct_match"])


def test_words_are_those_of_the_macro() -> None:
    macros = (Path(sa.__file__).parents[1] / "sql" / "macros" / "71_survey.sql").read_text(encoding="utf-8")
    assert "in 32 of 33 cases. They are no bounds." in " ".join(macros.split("\n-- ")).replace("  ", " ")
    assert "in 32 of 33 cases. They are no bounds." in PROMISE


def test_estimates_have_four_digits_or_are_whole() -> None:
    shown = {
        None: "–",
        0: "0",
        8.5e-13: "below 0.01",
        0.012344: "0.01234",
        173.95: "173.9",
        9999.4: "9,999",
        25395.3: "25,395",
        1e7: "10,000,000",
    }
    assert {number: estimate(number) for number in shown} == shown


BAD_WEIGHTS = {
    "0": "no finite number above 0 in 1 row",
    "-1": "no finite number above 0 in 1 row",
    "'nan'::DOUBLE": "no finite number above 0 in 1 row",
    "'inf'::DOUBLE": "no finite number above 0 in 1 row",
    "NULL": "NULL in 1 row",
    "0.5": "weights below 1: a class of rows stands for fewer people than rows",
    "'Canary'": "is VARCHAR: a weight is a number above 0; cast it in a query; in CSV files it is read as DOUBLE",
}


class TestRefusals:
    def test_of_types(self, memory: Session) -> None:
        with pytest.raises(sa.PolicyError) as refused:
            memory.risk("SELECT 1 AS age", None, weight=3, population="x")  # type: ignore[arg-type]
        assert refused.value.problems == ("weight: give names of columns, as texts", "population: give a number")

    @pytest.mark.parametrize(("weight", "words"), BAD_WEIGHTS.items())
    def test_of_weights(self, memory: Session, weight: str, words: str) -> None:
        source = (
            f"SELECT 1 AS a, {weight} AS w, 1 AS home UNION ALL SELECT 2, {'9' if 'C' not in weight else weight}, 2"
        )
        with pytest.raises(sa.PolicyError, match="cannot be measured") as refused:
            memory.risk(source, ["a"], weight="w")
        assert words in str(refused.value)
        assert "Canary" not in str(refused.value)

    def test_of_columns_and_numbers_all_at_once(self, memory: Session) -> None:
        with pytest.raises(sa.PolicyError) as refused:
            memory.risk(
                "SELECT [1] AS a, 2 AS b", ["a", "A", "c", "b"], weight="b", population=0, at_most=2, max_size=0
            )
        problems = (
            "population is",
            "at_most is",
            "max_size is",
            '"c" is not there',
            "listed twice",
            "is a list",
            "is the weight",
        )
        assert [words for words in problems if words not in str(refused.value)] == []
        with pytest.raises(sa.PolicyError, match=r"no keys.*\n.*neither weights nor a population"):
            memory.risk("SELECT 1 AS a")
        with pytest.raises(sa.PolicyError, match="fewer people than the table has rows: 2 rows"):
            memory.risk("SELECT unnest([1, 2]) AS a", ["a"], population=1)
        with pytest.raises(sa.PolicyError, match="fewer people than the table has rows: 2 rows"):
            memory.risk("SELECT unnest([1, 2]) AS a, 1 AS w", ["a"], weight="w", population=1)
        with pytest.raises(sa.PolicyError, match='"home" is NULL in 1 row'):
            memory.risk("SELECT 1 AS a, NULL AS home", ["a"], population=5, household="home")
        with pytest.raises(sa.PolicyError, match="more than 4,096 sets of up to 9"):
            memory.risk("SELECT 1 AS a", ["a", *(f"b{place}" for place in range(20))], population=5, max_size=9)


class TestNullsThatFitAnyValue:
    def test_is_the_count_of_rows_that_fit(self, memory: Session) -> None:
        """Of NULL, f, m and m, the first one fits all: 4, 2, 3 and 3 rows of 5 people each."""
        rows = "SELECT unnest([NULL, 'f', 'm', 'm']) AS sex, unnest([1, 1, 2, 2]) AS home"
        found = memory.risk(rows, ["sex"], population=20, household="home", nulls="any")
        assert (found.row_count, found.population_size, found.unique_rows) == (4, 20, 0)
        risks = [negative_binomial(size) for size in (4, 2, 3, 3)]
        # If keys are known, one of three is f: of 20 people 20 / 3 are, and 8 of 10 are not in the sample.
        poisson = [poisson_risk(size, 0.8 * share * 20) for size, share in ((4, 1), (2, 1 / 3), (3, 2 / 3), (3, 2 / 3))]
        assert (found.expected_low, found.expected_high) == pytest.approx(sorted((sum(risks), sum(poisson))), rel=1e-8)
        assert found.households is not None
        alone = (1 - risks[0]) * (1 - risks[1]) + (1 - risks[2]) ** 2
        assert found.households.households_found == pytest.approx(2 - alone, rel=1e-8)
        assert any("NULL fits every value" in note for note in found.notes)

    def test_makes_no_row_special(self, memory: Session) -> None:
        """Of (1, x), (2, x), (NULL, x) and (NULL, y) two are special by the number, and the last one by its letter."""
        rows = "SELECT unnest([1, 2, NULL, NULL]) AS number, unnest(['x', 'x', 'x', 'y']) AS letter"
        value, skipped = (
            memory.risk(rows, ["number", "letter"], population=20, nulls=nulls) for nulls in ("value", "any")
        )
        assert value.special is not None
        assert skipped.special is not None
        assert [(each.set_size, each.row_count) for each in value.special.sizes] == [(1, 3), (2, 1)]
        assert [(each.set_size, each.row_count) for each in skipped.special.sizes] == [(1, 3)]

    def test_is_refused_for_many_patterns(self, memory: Session) -> None:
        columns = ", ".join(f"nullif((i >> {bit}) & 1, 0) AS k{bit}" for bit in range(7))
        keys = [f"k{bit}" for bit in range(7)]
        with pytest.raises(sa.PolicyError, match=r"at most 64 patterns .* and there are 128"):
            memory.risk(f"SELECT {columns} FROM range(128) r (i)", keys, population=900, nulls="any")
        with pytest.raises(sa.PolicyError, match='nulls is "value" or "any", not "none"'):
            memory.risk("SELECT 1 AS a", ["a"], population=5, nulls="none")


def negative_binomial(size: int, people: float = 5) -> float:
    """Of a class whose rows stand for ``people`` each."""
    terms = (math.comb(more + size - 1, more) * (1 - 1 / people) ** more / (more + size) for more in range(900))
    return math.fsum(terms) / people**size


def poisson_risk(size: int, mean: float) -> float:
    return math.fsum(math.exp(-mean) * mean**more / math.factorial(more) / (size + more) for more in range(99))


class TestLimits:
    def test_tables_without_rows_and_with_one(self, memory: Session) -> None:
        empty = memory.risk("SELECT 1 AS a WHERE FALSE", ["a"], population=5, at_most=1)
        assert (empty.row_count, empty.expected_high, empty.met) == (0, None, False)
        assert "–" in empty.to_html()
        one = memory.risk("SELECT NULL AS a", ["a"], population=1, at_most=0.5)
        assert (one.expected_low, one.expected_high, one.met) == (1, 1, False)

    def test_forty_keys(self, memory: Session) -> None:
        columns = ", ".join(f"i * {place + 1} % 3 AS k{place}" for place in range(40))
        found = memory.risk(
            f"SELECT {columns} FROM range(20) r (i)", [f"k{place}" for place in range(40)], population=100
        )
        assert found.special is not None
        assert found.special.max_size == 2
        assert any("sets of more than 2 keys were not counted" in note for note in found.notes)

    def test_keys_of_too_many_values(self, memory: Session) -> None:
        columns = ", ".join(f"hash(i + {place}) AS k{place}" for place in range(12))
        found = memory.risk(
            f"SELECT {columns} FROM range(5000) r (i)", [f"k{place}" for place in range(12)], population=9000
        )
        assert found.special is None
        assert any("too many values" in note for note in found.notes)

    def test_keys_and_weights_of_a_policy(self, clinic: Session) -> None:
        policy = {"quasi_identifiers": ["age", "sex"], "row_weight": "id", "privacy": [sa.KAnonymity(2)]}
        found = clinic.risk("SELECT * REPLACE (id + 9 AS id) FROM visits", policy=policy)
        assert (found.keys, found.weight) == (("age", "sex"), "id")


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "survey.csv").write_text("age,sex,w\n30,f,10\n30,m,10\n40,f,10\n")
    asked = ("risk", "survey.csv", "--weight", "w")
    shown = started(*asked, "--keys", "age, sex", "--at-most", "0.9", folder=tmp_path)
    assert shown.returncode == 0
    assert "They are no bounds" in " ".join(shown.stdout.split())
    assert "What to recode first" in shown.stdout
    over = started(*asked, "--keys", "age", "--keys", "sex", "--at-most", "0.01", "--json", folder=tmp_path)
    assert (over.returncode, '"met": false' in over.stdout) == (3, True)
    assert started("risk", "survey.csv", folder=tmp_path).returncode == 2


def test_weights_of_csv_files_with_any_number_of_digits(tmp_path: Path) -> None:
    (tmp_path / "survey.csv").write_text("age,w\n30,10\n30,10.5\n40,10.25\n")
    asked = ("risk", "survey.csv", "--keys", "age", "--weight", "w")
    assert "30.75" in started(*asked, folder=tmp_path).stdout
    (tmp_path / "survey.csv").write_text("age,w\n30,10\n30,ten\n40,1e300\n")
    refused = started(*asked, folder=tmp_path)
    assert (refused.returncode, '"w": 1 text' in refused.stderr) == (2, True)
    (tmp_path / "survey.csv").write_text("age,w\n30,10.5\n40,1e300\n")
    refused = started(*asked, folder=tmp_path)
    assert (refused.returncode, '"w" has weights above 1,000,000,000,000,000' in refused.stderr) == (2, True)


def test_tables_without_rows_are_not_met_in_words(tmp_path: Path) -> None:
    (tmp_path / "survey.csv").write_text("age\n")
    shown = started("risk", "survey.csv", "--keys", "age", "--population", "9", "--at-most", "0.5", folder=tmp_path)
    assert (shown.returncode, "Not met: the table has no rows." in shown.stderr) == (3, True)


def test_figures_without_an_estimate_are_null_in_json(tmp_path: Path) -> None:
    (tmp_path / "survey.csv").write_text("age\n1\n2\n3\n")
    (tmp_path / "policy.toml").write_text(
        'quasi_identifiers = ["age"]\n'
        'privacy = [{ model = "population-uniqueness", at_most = 0.1, population = 900 }]\n'
    )
    shown = started("measure", "survey.csv", "--policy", "policy.toml", "--json", folder=tmp_path)
    [model] = json.loads(shown.stdout, parse_constant=pytest.fail)["models"]
    assert (shown.returncode, model["attained"], model["met"]) == (3, None, False)
