"""Query workloads from outside: the errors of answers from a release, and what is refused."""

from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest

import sqlanon as sa
from sqlanon.evaluation import (
    AverageQuery,
    CountQuery,
    GroupQuery,
    compared_answers,
    query_answers,
    query_errors,
    stroke_queries,
)
from sqlanon.report.document import Bars, Paragraph, Table
from tests import oracle
from tests.strategies import HOSTILE_NAMES

QUASI_IDENTIFIERS = ["age", "sex", "length_of_stay"]
VALUE = "alice-1970"

AGES: oracle.Taxonomy = [[str(age), f"{age // 30 * 30}+", "*"] for age in range(90)]
SEXES: oracle.Taxonomy = [["M", "*"], ["F", "*"]]
STAYS: oracle.Taxonomy = [[str(days), f"{days // 10 * 10}s", "*"] for days in range(30)]
KNOWN: oracle.Taxonomies = {"age": AGES, "sex": SEXES, "length_of_stay": STAYS}
NODE = {"age": 1, "sex": 1, "length_of_stay": 1}

PATIENTS: oracle.Rows = [
    {
        "age": number * 7 % 90,
        "sex": "MF"[number % 2],
        "surgery": "NY"[number % 5 == 0],
        "disease": "stroke" if number % 3 else None,
        "length_of_stay": None if number == 7 else number * 11 % 30,
    }
    for number in range(60)
]
RELEASED: oracle.Rows = [
    {**row, **dict.fromkeys(NODE, oracle.MASK)} if number % 20 == 1 else row
    for number, row in enumerate(oracle.generalize(PATIENTS, KNOWN, NODE))
]


@pytest.fixture(scope="module")
def session() -> Iterator[sa.Session]:
    """Patients and a release of them with masked rows; no macro is installed."""
    with duckdb.connect(config={"threads": 1}) as connection:
        for name, rows in (("patients", PATIENTS), ("released", RELEASED)):
            connection.register("given", pa.Table.from_pylist(rows))
            connection.execute(f"CREATE TABLE {name} AS FROM given")
            connection.unregister("given")
        lent = sa.connect(connection)
        for name, taxonomy in KNOWN.items():
            lent.taxonomies.load(name, sa.Taxonomy.from_rows(taxonomy))
        yield lent


def true_rows(query: GroupQuery) -> oracle.Rows:
    return [row for row in PATIENTS if all(row[name] == value for name, value in query.where.items())]


def chances(query: GroupQuery, released: oracle.Rows) -> list[float | None]:
    """The probability that each row meets the conditions."""
    found: list[float | None] = []
    for row in released:
        chance = 1.0
        for name, value in query.where.items():
            chance *= oracle.label_share(KNOWN, name, row[name], value)
        found.append(chance)
    return found


def expected(query: GroupQuery, released: oracle.Rows) -> tuple[oracle.Answers, oracle.Answers]:
    """The true answers and the estimated ones."""
    width = None if query.width is None else int(query.width)
    if isinstance(query, AverageQuery):
        return (
            oracle.grouped_averages(true_rows(query), query.column, width, query.average),
            oracle.estimated_averages(released, KNOWN, query.column, width, query.average, chances(query, released)),
        )
    return (
        oracle.grouped_counts(true_rows(query), query.column, width),
        oracle.estimated_counts(released, KNOWN, query.column, width, chances(query, released)),
    )


WORKLOAD = (
    *stroke_queries(),
    CountQuery(column="sex"),
    CountQuery(column="disease", where={"age": 21, "disease": None}),
    AverageQuery(column="age", width=30, average="age"),
)


class TestErrors:
    @pytest.mark.parametrize(
        ("without_masked", "workload"), [((), WORKLOAD), (QUASI_IDENTIFIERS, WORKLOAD[::3])], ids=["spread", "dropped"]
    )
    def test_they_are_those_of_the_oracle(
        self, session: sa.Session, without_masked: list[str], workload: tuple[GroupQuery, ...]
    ) -> None:
        table = query_errors(session, "patients", "released", workload, without_masked=without_masked)
        assert table.column("query").to_pylist() == [str(query) for query in workload]
        released = [row for row in RELEASED if not without_masked or row["sex"] != "*" or row["age"] != "*"]
        for query, row in zip(workload, table.drop_columns("query").to_pylist(), strict=True):
            missing = None if isinstance(query, AverageQuery) else 0
            found = oracle.answer_errors(*expected(query, released), missing)
            assert list(row.values()) == [None if value is None else pytest.approx(value) for value in found]

    def test_nothing_is_lost_on_the_table_itself(self, session: sa.Session) -> None:
        table = query_errors(session, "patients", "SELECT * FROM patients", WORKLOAD[::3])
        for row in table.drop_columns(["query", "group_count"]).to_pylist():
            assert set(row.values()) <= {0, None}
            assert row["mean_absolute_error"] == 0

    def test_a_release_without_rows_answers_nothing(self, session: sa.Session) -> None:
        [count, average] = query_errors(
            session, "patients", "FROM released LIMIT 0", [WORKLOAD[0], WORKLOAD[2]]
        ).to_pylist()
        assert (count["mean_relative_error"], count["total_relative_error"]) == (1.0, 1.0)
        assert average["unanswered_groups"] == average["group_count"]
        assert average["mean_absolute_error"] is None


def numbered(rows: oracle.Rows) -> oracle.Rows:
    """Released rows with the numbers of their classes, by the labels that they show."""
    classes = sorted({tuple(row[name] for name in NODE) for row in rows}, key=str)
    return [{"class_id": classes.index(tuple(row[name] for name in NODE)), **row} for row in rows]


class TestCatalogs:
    """Rows count with the probability that they are true."""

    @pytest.fixture
    def catalog(self, session: sa.Session) -> list[oracle.CatalogRow]:
        """Two groups of classes and a value each; NULL is a value."""
        rows = numbered(RELEASED)
        groups = [([0, 1, 2, 3], None, 2), ([4, 5, 6, 7, 8], "stroke", 3)]
        for name, table in (
            ("numbered", pa.Table.from_pylist(rows)),
            ("catalog", pa.table({
                "class_ids": [ids for ids, *_ in groups],
                "disease": pa.array([value for _, value, _ in groups], pa.string()),
                "counterfeits": [count for *_, count in groups],
            })),
        ):  # fmt: skip
            session.connection.register("given", table)
            session.connection.execute(f"CREATE OR REPLACE TABLE {name} AS FROM given")
            session.connection.unregister("given")
        return groups

    def test_errors_are_those_of_the_oracle(self, session: sa.Session, catalog: list[oracle.CatalogRow]) -> None:
        rows = numbered(RELEASED)
        truths = oracle.row_truths(rows, catalog, "disease")
        assert len(set(truths)) == 3
        table = query_errors(session, "patients", "numbered", WORKLOAD, catalog="catalog")
        for query, found in zip(WORKLOAD, table.drop_columns("query").to_pylist(), strict=True):
            width = None if query.width is None else int(query.width)
            weights = [truth * (chance or 0) for truth, chance in zip(truths, chances(query, rows), strict=True)]
            if isinstance(query, AverageQuery):
                answers = oracle.estimated_averages(rows, KNOWN, query.column, width, query.average, weights)
            else:
                answers = oracle.estimated_counts(rows, KNOWN, query.column, width, weights)
            missing = None if isinstance(query, AverageQuery) else 0
            wanted = oracle.answer_errors(expected(query, rows)[0], answers, missing)
            assert list(found.values()) == [None if value is None else pytest.approx(value) for value in wanted]

    def test_masked_rows_are_left_out_after_they_are_weighed(
        self, session: sa.Session, catalog: list[oracle.CatalogRow]
    ) -> None:
        """As many of a value are invented whether those who ask look at masked rows or not."""
        query = CountQuery(column="disease")
        asked = {"without_masked": QUASI_IDENTIFIERS, "catalog": "catalog"}
        found = query_answers(session, "patients", "numbered", query, **asked).to_pydict()
        rows = numbered(RELEASED)
        truths = oracle.row_truths(rows, catalog, "disease")
        shown: dict[str | None, float] = {}
        for row, truth in zip(rows, truths, strict=True):
            if {row[name] for name in NODE} != {"*"}:
                shown[row["disease"]] = shown.get(row["disease"], 0) + truth
        assert dict(zip(found["group_label"], found["answer"], strict=True)) == pytest.approx(shown)

    def test_tables_that_are_none(self, session: sa.Session, catalog: list[oracle.CatalogRow]) -> None:
        with pytest.raises(sa.PolicyError, match='"patients" is not a catalog: it needs class_ids, counterfeits and'):
            query_errors(session, "patients", "numbered", WORKLOAD, catalog="patients")
        with pytest.raises(sa.PolicyError, match='"released" has no column "class_id"'):
            query_errors(session, "patients", "released", WORKLOAD, catalog="catalog")
        wrong = "SELECT * REPLACE (1000 AS counterfeits) FROM catalog"
        with pytest.raises(sa.EngineError, match="the catalog does not fit the release"):
            query_errors(session, "patients", "numbered", WORKLOAD[:1], catalog=wrong)


class TestAnswers:
    @pytest.mark.parametrize("place", range(len(WORKLOAD)))
    def test_they_are_shown_beside_each_other_but_for_rare_groups(self, session: sa.Session, place: int) -> None:
        query = WORKLOAD[place]
        counted = CountQuery(column=query.column, width=query.width, where=query.where)
        rows = query_answers(session, "patients", "released", counted).to_pydict()["truth"]
        all_rows, least = sum(filter(None, rows)), 2
        title, bars, *notes, table = compared_answers(session, "patients", "released", query, least=least, most=3)
        assert isinstance(title, Paragraph) and isinstance(bars, Bars) and isinstance(table, Table)
        assert len(bars.groups) == len(table.rows) == min(sum(not 0 < (each or 0) < least for each in rows), 3)
        assert bool(notes) == (len(rows) > len(table.rows)) and [name for name, _ in bars.series] == [
            "source",
            "release",
        ]
        shares = bars.series[0][1]
        if query.averaged is None:
            assert sum(shares) == pytest.approx(sum(sorted(filter(lambda each: each >= least, rows))[-3:]) / all_rows)
        else:
            assert max(share for _, each in bars.series for share in each) in (0, 1)

    def test_a_row_per_group_in_order(self, session: sa.Session) -> None:
        query = WORKLOAD[2]
        table = query_answers(session, "patients", "released", query)
        starts = table.column("group_start").to_pylist()
        assert starts == sorted(starts)
        assert table.column("group_label")[0].as_py() == "[0, 5)"
        truth, answers = expected(query, RELEASED)
        for name, known in (("truth", truth), ("answer", answers)):
            found = dict(zip(starts, table.column(name).to_pylist(), strict=True))
            assert {group: value for group, value in found.items() if value is not None} == {
                group: pytest.approx(value) for group, value in known.items() if value is not None
            }

    def test_hostile_names(self, session: sa.Session) -> None:
        for name in HOSTILE_NAMES[:6]:
            quoted = '"' + name.replace('"', '""') + '"'
            source = f"SELECT age AS {quoted}, 1 AS one FROM patients"
            query = AverageQuery(column=name, average="one", where={name: 14})
            found = query_answers(session, source, source, query).to_pylist()
            assert found == [{"group_label": "14", "group_start": None, "truth": 1.0, "answer": 1.0}]

    def test_a_warehouse_without_taxonomies(self) -> None:
        with sa.connect(":memory:") as bare:
            bare.connection.execute("CREATE TABLE numbers AS FROM range(4) AS numbers (n)")
            table = query_answers(bare, "numbers", "numbers", CountQuery(column="n", width=2))
            assert table.column("answer").to_pylist() == [2, 2]

    def test_taxonomies_of_the_policy(self, session: sa.Session) -> None:
        """Observed, declared and listed ones; the warehouse stores none, or another one."""
        events: list[sa.Event] = []
        taxonomies = {name: sa.Taxonomy.from_rows(known) for name, known in KNOWN.items()}
        rest = {name: sa.Taxonomy.from_rows([("x", "*")]) for name in ("ward",)}
        policy = sa.Policy(quasi_identifiers=[*KNOWN, "ward"], taxonomies=taxonomies | rest, privacy=[sa.KAnonymity(2)])
        expected = query_errors(session, "patients", "released", WORKLOAD)
        with sa.connect(":memory:") as bare:
            bare.connection.register("patients", pa.Table.from_pylist(PATIENTS))
            bare.connection.register("released", pa.Table.from_pylist(RELEASED))
            asked = (bare, "patients", "released")
            assert query_errors(*asked, WORKLOAD, policy=policy, progress=events.append).equals(expected)
            answers = query_answers(*asked, WORKLOAD[0], policy=policy)
            assert answers.equals(query_answers(session, "patients", "released", WORKLOAD[0]))
            bare.taxonomies.load("age", sa.Taxonomy.flat([1]))
            with pytest.raises(sa.TaxonomyError, match="stores others"):
                query_errors(*asked, WORKLOAD, policy=policy)
        assert [(each.stage, each.state) for each in (events[0], events[-1])] == [
            ("count", "started"),
            ("count", "finished"),
        ]


class TestRefusals:
    def test_columns_that_are_not_there_are_all_named(self, session: sa.Session) -> None:
        queries = [CountQuery(column="agee"), AverageQuery(column="age", average="stay", where={"ward": "a"})]
        with pytest.raises(sa.PolicyError) as caught:
            query_errors(session, "patients", "released", queries, without_masked=["zip"])
        problems = str(caught.value)
        assert 'table "patients" has no column "agee"; did you mean "age"?' in problems
        assert all(f'table "released" has no column "{name}"' in problems for name in ("agee", "stay", "ward", "zip"))

    def test_a_workload_without_queries(self, session: sa.Session) -> None:
        with pytest.raises(sa.PolicyError, match="at least one query"):
            query_errors(session, "patients", "released", [])

    def test_labels_that_no_taxonomy_has_are_not_quoted(self, session: sa.Session) -> None:
        released = f"SELECT * REPLACE ('{VALUE}' AS age) FROM released"
        with pytest.raises(sa.EngineError) as caught:
            query_errors(session, "patients", released, [WORKLOAD[0]])
        assert 'attribute "age" shows a label' in str(caught.value)
        assert VALUE not in str(caught.value)

    @pytest.mark.parametrize(
        ("values", "problem"),
        [
            ({"column": "age", "width": 0}, "width: input should be greater than 0"),
            ({"column": "anon_age"}, "names that start with anon_ are reserved"),
            ({"column": "age", "where": {"sex": True}}, "where.sex"),
        ],
    )
    def test_queries_that_are_none(self, values: dict[str, object], problem: str) -> None:
        with pytest.raises(sa.PolicyError, match=problem):
            CountQuery(**values)


def test_the_words_of_a_query_name_columns_and_no_values() -> None:
    first, *_, last = stroke_queries()
    assert str(first) == "count of age by 5 where sex, surgery, disease"
    assert str(last) == "average length_of_stay of age by 5 where sex, surgery, disease"
