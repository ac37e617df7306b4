"""Rows with values that a taxonomy does not have: refused, left out, or labelled at the top."""

import math
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import sqlanon as sa
from sqlanon.model.release import RowCounts

HOSTILE = 'a"b; drop table x --'
QUOTED = '"a""b; drop table x --"'
TOWNS = [["Bonn", "Rhineland", "*"], ["Köln", "Rhineland", "*"], ["Kiel", "Coast", "*"]]
ROWS = [
    *[("Bonn", 30, "flu")] * 3,
    *[("Köln", 30, "flu")] * 3,
    *[("Kiel", 30, "cold")] * 4,
    *[("Rom", 30, "flu")] * 2,
    *[("Oslo", 30, "cold")] * 2,
    ("Wien", 40, "flu"),
    (None, 30, "cold"),
]
"""Of 16 rows five have an unknown town; NULL is known to every taxonomy."""
TWICE = "SELECT trips.* FROM trips CROSS JOIN range(2)"


@pytest.fixture(scope="module")
def shared_session() -> Iterator[sa.Session]:
    with sa.connect(duckdb.connect(config={"threads": 1})) as session:
        session.connection.execute(f"CREATE TABLE trips ({QUOTED} VARCHAR, age INTEGER, ill VARCHAR)")
        session.connection.executemany("INSERT INTO trips VALUES (?, ?, ?)", ROWS)
        session.taxonomies.load(HOSTILE, sa.Taxonomy.from_rows(TOWNS))
        session.taxonomies.make("age", "intervals", widths=[10], minimum=0, maximum=99)
        yield session


@pytest.fixture
def session(shared_session: sa.Session) -> Iterator[sa.Session]:
    yield shared_session
    shared_session.connection.execute("DROP TABLE IF EXISTS released")


def policy(unknown: Any, k: int = 2, **more: Any) -> sa.Policy:
    fields = {"quasi_identifiers": [HOSTILE, "age"], "sensitive": ["ill"], "privacy": [sa.KAnonymity(k)]}
    return sa.Policy(**{**fields, "suppression_limit": 0.5, "unknown": unknown, **more})


def labels(session: sa.Session, table: str = "released") -> dict[Any, int]:
    found = session.connection.execute(f"SELECT {QUOTED}, count(*) FROM {table} GROUP BY ALL").fetchall()
    return dict(found)


class TestPolicies:
    def test_one_action_is_for_all_columns_and_others_by_column(self) -> None:
        assert policy("top").unknown == {"*": "top"}
        assert policy({"AGE": "top", "*": "suppress"}).unknown == {"age": "top", "*": "suppress"}
        assert policy("error").unknown == {"*": "error"}

    def test_the_hash_of_a_policy_without_any_is_as_it_was(self) -> None:
        assert policy(None).sha256() == policy({}).sha256() != policy("top").sha256()

    @pytest.mark.parametrize(
        ("fields", "problem"),
        [
            ({"unknown": "drop"}, "unknown.*: input should be 'error', 'suppress' or 'top'"),
            ({"unknown": {"agee": "top"}}, 'unknown: the policy uses no taxonomy of "agee"; did you mean "age"?'),
            ({"unknown": {"ill": "suppress"}}, 'unknown: the policy uses no taxonomy of "ill"'),
            (
                {"unknown": "top", "privacy": [sa.TCloseness("ill", 0.9, "hierarchical")]},
                'unknown: "top" is for quasi-identifiers, and "ill" is not generalized; take "suppress"',
            ),
            (
                {"unknown": "top", "privacy": [sa.KMap(2, "people")]},
                'unknown: "top" cannot be combined with models of a population: its values would have no label',
            ),
            (
                {"unknown": "top", "quality": sa.Prec(suppressed="charged")},
                'unknown: "top" cannot be combined with "prec" that charges for suppressed rows: levels say too little '
                "about rows",
            ),
            (
                {"unknown": "top", "privacy": [], "suppression_limit": None, "method": sa.Relocation(k=2)},
                'unknown: "top" is for full domains, not for the method "relocation"; take "suppress"',
            ),
        ],
    )
    def test_what_cannot_be_is_refused_by_name(self, fields: dict[str, Any], problem: str) -> None:
        with pytest.raises(sa.PolicyError) as refused:
            policy(**{"unknown": "top", **fields})
        assert refused.value.problems == (problem,)

    def test_a_private_method_refuses_all_but_errors(self) -> None:
        fields = {"privacy": [], "suppression_limit": None, "method": sa.IPA(budget=sa.Budget("1", "1e-6"))}
        policy("error", **fields)
        for unknown in ("suppress", {"age": "top"}):
            with pytest.raises(sa.PolicyError, match="is private for values that its taxonomies have"):
                policy(unknown, **fields)

    def test_the_top_needs_a_label_that_stands_nowhere_else(self, session: sa.Session) -> None:
        rows = [["a", "*", "A", "all"], ["*", "x", "A", "all"], ["all", "y", "A", "all"]]
        with sa.connect() as other:
            other.taxonomies.load("town", sa.Taxonomy.from_rows(rows))
            other.connection.execute("CREATE TABLE t AS SELECT 'b' AS town")
            wanted = sa.Policy(quasi_identifiers=["town"], privacy=[sa.KAnonymity(2)], unknown="top")
            with pytest.raises(sa.TaxonomyError) as refused:
                other.anonymize("t", wanted, into="released")
        assert refused.value.problems == ('"town": the label of its top stands in 1 rows below another label',)


class TestReleases:
    def test_errors_name_the_column(self, session: sa.Session) -> None:
        for unknown in ({"age": "top"}, {HOSTILE: "error", "*": "suppress"}):
            with pytest.raises(sa.TaxonomyError, match="distinct values in 5 rows"):
                session.anonymize("trips", policy(unknown), into="released")

    def test_suppressed_rows_are_left_out_and_counted_apart(self, session: sa.Session) -> None:
        release = session.anonymize("trips", policy("suppress"), into="released")
        assert release.report.rows == RowCounts(source=16, released=10, masked=0, dropped=1, unknown=5)
        assert release.report.unknown_rows == {HOSTILE: 5}
        assert labels(session) == {"Bonn": 3, "Köln": 3, "Kiel": 4}
        assert any("5 rows have a value of" in note for note in release.report.notes)
        assert "1 suppressed and 5 left out for unknown values (37.5 %" in release.report.rows_in_words
        assert session.verify("released", policy("suppress")).met

    def test_they_count_against_the_suppression_limit(self, session: sa.Session) -> None:
        fitting = policy("suppress", suppression_limit=5 / 16)
        assert session.anonymize("trips", fitting, into="released").report.rows.released == 11
        with pytest.raises(sa.UnsatisfiableError, match=r"5 of 16 rows .* would be left out \(4 may be") as refused:
            session.anonymize("trips", policy("suppress", suppression_limit=0.3), into="released", replace=True)
        listed, advice = refused.value.problems
        assert advice == "what can help: taxonomies with these values, or a larger suppression_limit"
        among = "3 distinct values in 5 rows; list them among all others, which the taxonomy has, by "
        values = session.connection.execute(listed.partition(among)[2]).fetchall()
        assert {("Oslo", 2), ("Rom", 2), ("Wien", 1)} < {*values}
        with pytest.raises(sa.UnsatisfiableError) as unmet:
            # 6 of the 16 rows may go, and 5 do in any case.
            session.anonymize("trips", policy("suppress", k=12, suppression_limit=0.37), into="released", replace=True)
        assert unmet.value.explanation is not None
        assert unmet.value.explanation.allowed_rows == 0
        (relaxed, *_) = unmet.value.explanation.relaxations
        assert relaxed.kind in ("k", "suppression_limit")
        session.anonymize("trips", relaxed.applied_to(policy("suppress", k=12)), into="released", replace=True)

    def test_a_table_without_known_rows_is_refused(self, session: sa.Session) -> None:
        alone = policy("suppress", suppression_limit=1)
        with pytest.raises(sa.UnsatisfiableError, match="2 of 2 rows"):
            session.anonymize(TWICE + " WHERE age > 35", alone, into="released")
        with pytest.raises(sa.PolicyError, match="has no rows"):
            session.anonymize("FROM trips WHERE age > 99", alone, into="released")

    def test_rows_at_the_top_are_a_class_by_their_own_label(self, session: sa.Session) -> None:
        """The one row whose age differs, too, would be alone: it is suppressed, and so is that without a town."""
        release = session.anonymize("trips", policy("top"), into="released", node={HOSTILE: 0, "age": 0})
        assert release.report.rows == RowCounts(source=16, released=14, masked=0, dropped=2, unknown=0)
        assert release.report.unknown_rows == {HOSTILE: 5}
        assert labels(session) == {"Bonn": 3, "Köln": 3, "Kiel": 4, "*": 4}
        assert (release.report.class_count, release.report.min_class_size) == (4, 3)
        assert session.verify("released", policy("top")).met
        found = session.verify("released", policy("error"), strict=False)
        assert [line for line in found.shortfalls if "1 labels, in 4 rows" in line] != [], "no other policy accepts it"
        session.connection.execute(f"""UPDATE released SET {QUOTED} = 'Rom' WHERE {QUOTED} = '*'""")
        found = session.verify("released", policy("top"), strict=False)
        assert [line for line in found.shortfalls if "1 labels, in 4 rows" in line] != [], "nor is it any label"

    def test_a_cell_at_the_top_loses_what_the_top_loses(self, session: sa.Session) -> None:
        """All rows are kept: 5 of 16 are at the top, and 6 in a region of 2 of 3 towns; ages are in 10 of 100 years."""
        for quality, losses in (
            (sa.LM(), [((5 + level * 6 * 1 / 2) / 16 + 9 / 99) / 2 for level in (0, 1)]),
            (sa.NCP(), [((5 + level * 6 * 2 / 3) / 16 + 10 / 100) / 2 for level in (0, 1)]),
            (sa.Entropy(), [2 * (5 * math.log2(16 / 5) + level * 6) for level in (0, 1)]),
            (sa.Prec(), [((5 + level * 11 / 2) / 16 + 1 / 2) / 2 for level in (0, 1)]),
        ):
            wanted = policy("top", quality=quality)
            found = {tuple(node["node"]): node["loss"] for node in session.lattice(TWICE, wanted).to_pylist()}
            assert [found[(HOSTILE, level), ("age", 1)] for level in (0, 1)] == pytest.approx(losses)

    @pytest.mark.parametrize(
        ("quality", "search"),
        [
            (sa.LM(aggregate="geometric"), "optimal"),
            (sa.Entropy(suppressed="charged"), "optimal"),
            (sa.Prec(), "exhaustive"),
        ],
    )
    def test_a_search_finds_what_every_node_says(self, session: sa.Session, quality: Any, search: str) -> None:
        wanted = policy("top", k=3, quality=quality, search=search)
        nodes = session.lattice("trips", wanted).to_pylist()
        found = session.anonymize("trips", wanted, "released")
        assert found.report.loss == pytest.approx(min(node["loss"] for node in nodes if node["satisfies"]))

    def test_columns_have_actions_of_their_own(self, session: sa.Session) -> None:
        old = f"SELECT * REPLACE (CASE WHEN ill = 'cold' THEN age + 100 ELSE age END AS age) FROM ({TWICE})"
        wanted = policy({HOSTILE: "top", "*": "suppress"})
        release = session.anonymize(old, wanted, into="released", node={HOSTILE: 1, "age": 0})
        assert release.report.rows == RowCounts(source=32, released=18, masked=0, dropped=0, unknown=14)
        assert release.report.unknown_rows == {"age": 14, HOSTILE: 10}
        assert labels(session) == {"Rhineland": 12, "*": 6}

    def test_a_value_that_reads_like_the_top_is_one_of_them(self, session: sa.Session) -> None:
        table = "SELECT '*' AS town, * FROM trips"
        wanted = policy("top", quasi_identifiers=["town"], rest="identifier", sensitive=[], insensitive=[], k=2)
        with sa.connect(session.connection) as other:
            other.taxonomies.load("town", sa.Taxonomy.from_rows(TOWNS))
            release = other.anonymize(table, wanted, into="released", node={"town": 0})
        assert (release.report.rows.released, release.report.unknown_rows) == (16, {"town": 16})

    def test_individuals_weights_and_masks_count_them(self, session: sa.Session) -> None:
        source = "SELECT *, 2.0 AS weight, row_number() OVER () // 2 AS who FROM trips"
        wanted = policy("top", identifiers=["who", "weight"], individual="who", row_weight="weight", suppression="mask")
        release = session.anonymize(source, wanted, into="released")
        assert session.verify("released", wanted, strict=False).shortfalls == ()
        assert release.report.unknown_rows == {HOSTILE: 5}

    def test_closeness_is_to_the_rows_that_are_not_left_out(self, session: sa.Session) -> None:
        models = [sa.TCloseness("ill", 0.5), sa.BetaLikeness("ill", 3.0)]
        wanted = policy("suppress", privacy=models)
        release = session.anonymize("trips", wanted, into="released")
        found = session.verify("released", wanted, source="trips")
        assert found.measurement.models == release.report.models
        assert "but those with values that taxonomies do not have, those" in " ".join(release.guarantee.conditions)
