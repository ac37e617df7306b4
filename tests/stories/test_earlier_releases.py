"""Releases that are held together: the facts of spec/earlier.md, what is refused, and what a run reports."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from tests.in_pieces import reading_in_pieces

AGES = [[str(age), f"{age // 5 * 5}-{age // 5 * 5 + 4}", f"{age // 10 * 10}s", "*"] for age in range(20, 60)]
SEXES = [["f", "*"], ["m", "*"]]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[sa.Session]:
    with sa.connect(tmp_path / "hospital.duckdb") as session:
        session.taxonomies.load("age", sa.Taxonomy.from_rows(AGES))
        session.taxonomies.load("sex", sa.Taxonomy.from_rows(SEXES))
        yield session


def load(session: sa.Session, name: str, ages: Sequence[int], first: int = 1, sex: str = "f") -> None:
    """Patients of some ages, numbered from the first."""
    rows = [(first + place, age, sex, "flu") for place, age in enumerate(ages)]
    session.connection.execute(
        f"CREATE TABLE IF NOT EXISTS {name} (id INTEGER, age INTEGER, sex VARCHAR, illness VARCHAR)"
    )
    session.connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", rows)


def policy(k: int = 4, **fields: Any) -> sa.Policy:
    given = {
        "quasi_identifiers": ["age"],
        "identifiers": ["id", "sex"],
        "sensitive": ["illness"],
        "privacy": [sa.KAnonymity(k)],
        "suppression_limit": 0.0,
        **fields,
    }
    return sa.Policy(**given)


def ages(session: sa.Session, name: str) -> dict[str, int]:
    query = f"SELECT age, count(*) FROM {name} GROUP BY age ORDER BY age"
    return dict(session.connection.execute(query).fetchall())


class TestFacts:
    def test_a_more_general_release_adds_nothing(self, session: sa.Session) -> None:
        """E1."""
        load(session, "patients", [21, 22, 23, 24, 31, 32, 33, 34])
        session.anonymize("patients", policy(), "first", node={"age": 1})
        second = session.anonymize("patients", policy(earlier=["first"]), "second", node={"age": 2})
        assert second.report.joint is not None
        assert (second.report.joint.k, second.report.joint.class_count) == (4, 2)

    def test_joint_classes_are_those_of_the_meet(self, session: sa.Session) -> None:
        """E2."""
        load(session, "patients", [21, 22, 31, 32] * 2)
        load(session, "patients", [21, 22, 31, 32] * 2, first=9, sex="m")
        session.anonymize("patients", policy(8), "first", node={"age": 2})
        by_sex = policy(8, quasi_identifiers=["sex"], identifiers=["id", "age"], earlier=["first"])
        with pytest.raises(sa.UnsatisfiableError, match="does not meet the policy"):
            session.anonymize("patients", by_sex, "second", node={"sex": 0})
        second = session.anonymize("patients", by_sex.with_k(4), "second")
        assert second.node == {"sex": 0}
        assert second.report.joint is not None
        assert (second.report.joint.k, second.report.joint.class_count) == (4, 4)

    def test_what_is_left_out_can_break_another_class(self, session: sa.Session) -> None:
        """E3: of 8 persons in a class 3 are too old for theirs; a whole class goes with them."""
        load(session, "spring", [21, 22, 23, 24, 24, 25, 26, 27, 28, 28, 29])
        older = "SELECT * REPLACE (CASE WHEN id <= 2 THEN 51 ELSE age END AS age) FROM spring"
        session.connection.execute(f"CREATE TABLE autumn AS {older}")
        session.anonymize("spring", policy(), "first", node={"age": 2})
        limited = policy(earlier=[sa.Earlier("first", source="spring", key="id")], suppression_limit=0.9)
        alone = session.anonymize("autumn", policy(suppression_limit=0.9), "alone", node={"age": 1})
        assert alone.report.suppressed_rows == 2 + 3
        second = session.anonymize("autumn", limited, "second", node={"age": 1})
        assert ages(session, "second") == {"25-29": 6}
        assert second.report.joint is not None
        assert (second.report.joint.k, second.report.joint.class_count) == (5, 2)

    def test_new_patients_are_held_back_until_there_are_k(self, session: sa.Session) -> None:
        """E4."""
        load(session, "spring", [21, 22, 23, 24, 25])
        load(session, "summer", [21, 22, 23, 24, 25, 26])
        load(session, "autumn", [21, 22, 23, 24, 25, 26, 27, 28, 29])
        session.anonymize("spring", policy(), "first")
        spring = sa.Earlier("first", source="spring", key="id")
        second = session.anonymize("summer", policy(earlier=[spring], suppression_limit=0.5), "second", node={"age": 2})
        assert ages(session, "second") == {"20s": 5}
        assert second.report.suppressed_rows == 1
        summer = sa.Earlier("second", source="summer", key="id")
        third = session.anonymize("autumn", policy(earlier=[spring, summer]), "third", node={"age": 2})
        assert ages(session, "third") == {"20s": 9}
        assert third.report.joint is not None
        assert (third.report.joint.k, third.report.joint.class_count) == (4, 2)

    def test_new_patients_need_no_others(self, session: sa.Session) -> None:
        """No earlier release shows them, so that three of them may be left out and four stay, and a search finds it."""
        load(session, "spring", [31, 32, 33, 34])
        load(session, "autumn", [31, 32, 33, 34, 21, 22, 23, 24, 41, 42, 43])
        session.anonymize("spring", policy(), "first", node={"age": 2})
        bounds = {"minimum_levels": {"age": 2}, "maximum_levels": {"age": 2}, "suppression_limit": 0.28}
        held = policy(earlier=[sa.Earlier("first", source="spring", key="id")], **bounds)
        session.anonymize("autumn", held, "second")
        assert ages(session, "second") == {"20s": 4, "30s": 4}

    def test_rows_without_a_key_are_hidden_by_classes(self, session: sa.Session) -> None:
        """One woman of a class is too few: nine men, the fewest others, are hidden with her, and twelve others stay."""
        sexes = sa.Taxonomy.from_rows([[sex, "*"] for sex in "fmx"])
        session.taxonomies.load("sex", sexes)
        for sex, ages_of in (("f", [21]), ("m", [22] * 9), ("x", [23] * 12), ("f", [31] * 8)):
            load(session, "patients", ages_of, sex=sex)
        session.anonymize("patients", policy(2), "first", node={"age": 2})
        by_sex = policy(2, quasi_identifiers=["sex"], identifiers=["id", "age"], earlier=["first"])
        limited = by_sex.changed({"suppression_limit": 0.2, "maximum_levels": {"sex": 0}})
        with pytest.raises(sa.UnsatisfiableError, match="10 rows"):
            session.anonymize("patients", limited, "second")
        second = session.anonymize("patients", limited.changed({"suppression_limit": 0.34}), "second")
        assert second.report.suppressed_rows == 10

    def test_a_search_counts_all_rows_of_classes_that_are_hidden(self, session: sa.Session) -> None:
        """A woman among thirty men of the same class: with all of them hidden more rows are than may be."""
        load(session, "patients", [21])
        load(session, "patients", [22] * 30, sex="m")
        load(session, "patients", [31] * 8)
        session.anonymize("patients", policy(2), "first", node={"age": 2})
        both = policy(2, quasi_identifiers=["age", "sex"], identifiers=["id"], suppression_limit=0.2)
        second = session.anonymize("patients", both.changed({"earlier": ["first"]}), "second")
        assert second.node == {"age": 1, "sex": 1}
        assert second.report.suppressed_rows == 0

    def test_whoever_left_takes_others_along(self, session: sa.Session) -> None:
        """E5."""
        load(session, "spring", [21, 22, 23, 24, 25, 31, 32, 33, 34])
        session.connection.execute("CREATE TABLE autumn AS FROM spring WHERE id > 1")
        session.anonymize("spring", policy(), "first", node={"age": 2})
        held = policy(earlier=[sa.Earlier("first", source="spring", key="id")], suppression_limit=0.5)
        second = session.anonymize("autumn", held, "second", node={"age": 2})
        assert ages(session, "second") == {"30s": 4}
        assert second.report.joint is not None
        assert (second.report.joint.k, second.report.joint.class_count) == (4, 2)
        strict = held.model_copy(update={"suppression_limit": 0.0})
        with pytest.raises(sa.UnsatisfiableError, match="no node meets the privacy models"):
            session.anonymize("autumn", strict, "third")

    def test_the_worked_example(self, session: sa.Session) -> None:
        """Cuts at 23 and 33 beside decades: 4-anonymous alone, 2-anonymous together."""
        odd = [[str(age), "23-32" if 23 <= age < 33 else "others", "*"] for age in range(20, 60)]
        load(session, "patients", [21, 22, 23, 24, 31, 32, 33, 34])
        session.anonymize("patients", policy(), "first", node={"age": 2})
        cut = policy(taxonomies={"years": sa.Taxonomy.from_rows(odd)}, quasi_identifiers=["years"], identifiers=["id"])
        session.connection.execute("CREATE VIEW years AS SELECT id, age AS years, illness FROM patients")
        other = session.anonymize("years", cut, "alone", node={"years": 1})
        assert other.report.min_class_size == 4
        session.connection.execute("CREATE VIEW all_columns AS SELECT *, age AS years FROM patients")
        spring = sa.Earlier("first", source="patients", key="id")
        held = cut.changed({"identifiers": ["id", "sex", "age"], "earlier": [spring]})
        with pytest.raises(sa.UnsatisfiableError):
            session.anonymize("all_columns", held, "second", node={"years": 1})
        second = session.anonymize("all_columns", held.with_k(2), "second", node={"years": 1})
        assert second.report.joint is not None
        assert second.report.joint.k == 2


class TestWithholding:
    def test_a_large_class_lends_as_many_as_are_missing(self, session: sa.Session) -> None:
        """One of twelve left: three more are hidden, and nobody else; a later release finds out who they are."""
        load(session, "spring", [*range(20, 30), 20, 21])
        session.connection.execute("CREATE TABLE summer AS FROM spring WHERE id > 1")
        session.connection.execute("CREATE VIEW tagged AS SELECT *, id AS tag FROM summer")
        session.anonymize("spring", policy(), "first", node={"age": 2})
        spring = sa.Earlier("first", source="spring", key="id")
        held = policy(earlier=[spring], suppression_limit=0.5, insensitive=["tag"])
        second = session.anonymize("tagged", held, "second", node={"age": 2})
        assert second.report.suppressed_rows == 3
        assert ages(session, "second") == {"20s": 8}
        hidden = "SELECT id FROM summer WHERE id NOT IN (SELECT tag FROM second)"
        first_by_hash = "FROM (SELECT id FROM summer ORDER BY md5(id::VARCHAR) LIMIT 3)"
        query = f"SELECT count(*) FROM ({hidden} INTERSECT {first_by_hash})"
        assert session.connection.execute(query).fetchall() == [(3,)]
        joint = session.compare_releases([spring, sa.Earlier("second", source="tagged")], source="tagged", key="id")
        assert (joint.k, joint.class_count, joint.persons_at_risk) == (4, 2, 0)

    def test_nobody_is_looked_for_among_equal_rows(self, session: sa.Session) -> None:
        """Without another column it does not matter who is hidden, and a later release finds out who that is."""
        load(session, "spring", [*range(20, 30), 20, 21])
        session.connection.execute("CREATE TABLE summer AS SELECT id, age FROM spring WHERE id > 1")
        session.anonymize("spring", policy(), "first", node={"age": 2})
        spring = sa.Earlier("first", source="spring", key="id")
        held = policy(earlier=[spring], suppression_limit=0.5, identifiers=["id"], sensitive=[])
        second = session.anonymize("summer", held, "second", node={"age": 2})
        assert second.report.suppressed_rows == 3
        assert ages(session, "second") == {"20s": 8}
        joint = session.compare_releases([spring, sa.Earlier("second", source="summer")], source="summer", key="id")
        assert (joint.k, joint.class_count, joint.persons_at_risk) == (4, 2, 0)

    def test_a_class_that_would_get_too_small_is_hidden_as_a_whole(self, session: sa.Session) -> None:
        load(session, "spring", [*range(20, 27)])
        session.connection.execute("CREATE TABLE summer AS FROM spring WHERE id > 1")
        load(session, "summer", [31, 32, 33, 34], first=50)
        session.anonymize("spring", policy(), "first", node={"age": 2})
        held = policy(earlier=[sa.Earlier("first", source="spring", key="id")], suppression_limit=0.7)
        session.anonymize("summer", held, "second", node={"age": 2})
        assert ages(session, "second") == {"30s": 4}


UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"privacy": [sa.KAnonymity(2), sa.KMap(2, "people")]}, "is not held together with other releases"),
    ({"suppression": "mask"}, "masked rows would show who was suppressed"),
    (
        {"method": sa.Relocation(k=2), "privacy": (), "suppression_limit": None},
        "top-down specialization alone are held together",
    ),
    ({"method": sa.LocalRecoding(aggregate={"age": "mean"}), "suppression_limit": None}, "leave aggregate out"),
    ({"method": sa.LocalRecoding(lower_bound=True), "suppression_limit": None}, "lower_bound does not know"),
    ({"quality": sa.DM()}, "counts the classes of one release"),
    ({"individual": "id"}, "a person has one row"),
    ({"row_weight": "sex"}, "not the weights"),
    ({"search": "ola", "suppression_limit": 0.1}, "needs monotonic models"),
    ({"insensitive": ["id"], "identifiers": ["sex"]}, 'the key "id" would be published'),
]


class TestRefusals:
    @pytest.fixture(autouse=True)
    def first(self, session: sa.Session) -> None:
        load(session, "spring", [21, 22, 23, 24, 25])
        session.anonymize("spring", policy(), "first")

    @pytest.mark.parametrize(("fields", "problem"), UNFIT)
    def test_a_policy_says_all_at_once_why_not(self, fields: dict[str, Any], problem: str) -> None:
        earlier = [sa.Earlier("first", source="spring", key="id"), sa.Earlier("first")]
        with pytest.raises(sa.PolicyError) as raised:
            policy(**{"earlier": earlier, **fields})
        assert any(problem in line for line in raised.value.problems), raised.value.problems
        assert 'earlier: "first" is named twice' in raised.value.problems
        assert any("all releases need the same key" in line for line in raised.value.problems)

    def test_a_private_method_has_a_ledger(self) -> None:
        with pytest.raises(sa.PolicyError, match="which the ledger adds up over all releases"):
            sa.Policy(
                quasi_identifiers=["age"], sensitive=["illness"], method=sa.IPA(budget=sa.Budget(1)), earlier=["first"]
            )

    def test_sources_that_have_changed(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE summer AS FROM spring; DELETE FROM spring WHERE id = 1")
        held = policy(earlier=[sa.Earlier("first", source="spring", key="id")], suppression_limit=0.5)
        with pytest.raises(sa.PolicyError, match="have another number of rows; give the source as it was then"):
            session.anonymize("summer", held, "second")

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ("DELETE FROM changed WHERE age = '30-34'", "it has 4 rows, and 8 were released"),
            ("INSERT INTO changed VALUES ('50-54', 'flu')", "it has 9 rows, and 8 were released"),
            ("UPDATE changed SET age = '30-34' WHERE rowid = 0", "2 classes have another number of rows"),
            ("UPDATE changed SET age = '50-54' WHERE age = '30-34'", "1 classes have another number of rows"),
        ],
    )
    def test_releases_that_have_changed(self, session: sa.Session, change: str, problem: str) -> None:
        load(session, "spring", [31, 32, 33, 34], first=11)
        session.anonymize("spring", policy(suppression_limit=0.5), "changed", node={"age": 1})
        session.connection.execute(f"CREATE TABLE summer AS FROM spring; {change}")
        held = policy(earlier=[sa.Earlier("changed", source="spring", key="id")])
        with pytest.raises(sa.PolicyError, match=problem):
            session.anonymize("summer", held, "second")

    @pytest.mark.parametrize(
        ("change", "problem"),
        [("SET id = NULL WHERE id = 1", "1 rows have none"), ("SET id = 2", "1 values are in several rows")],
    )
    def test_keys_that_are_none(self, session: sa.Session, change: str, problem: str) -> None:
        session.connection.execute(f"CREATE TABLE summer AS FROM spring; UPDATE summer {change}")
        held = policy(earlier=[sa.Earlier("first", source="spring", key="id")])
        with pytest.raises(sa.PolicyError, match='"id" does not identify the persons of table "summer"') as raised:
            session.anonymize("summer", held, "second")
        assert raised.value.problems == (problem,)
        with pytest.raises(sa.PolicyError, match="persons of other releases cannot be found"):
            session.anonymize("summer", policy(earlier=[sa.Earlier("first", source="spring", key="ward")]), "second")

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ("SET id = NULL WHERE id = 1", "1 rows have none"),
            ("SET id = 2 WHERE id = 1", "1 values are in several rows"),
        ],
    )
    def test_keys_that_are_none_in_an_earlier_source(self, session: sa.Session, change: str, problem: str) -> None:
        session.connection.execute(f"CREATE TABLE summer AS FROM spring; UPDATE spring {change}")
        session.anonymize("summer", policy(), "second", node={"age": 2})
        held = [sa.Earlier("second", source="summer", key="id"), sa.Earlier("first", source="spring", key="id")]
        with pytest.raises(sa.PolicyError, match='"id" does not identify the persons of table "spring"') as raised:
            session.anonymize("summer", policy(earlier=held), "third")
        assert raised.value.problems == (problem,)

    def test_other_taxonomies(self, session: sa.Session) -> None:
        session.taxonomies.load("age", sa.Taxonomy.from_rows([[label, "*"] for label, *_ in AGES]))
        with pytest.raises(sa.PolicyError, match='"age" has another hash than is recorded'):
            session.anonymize("spring", policy(earlier=["first"]), "second")

    def test_earlier_releases_that_leave_too_few(self, session: sa.Session) -> None:
        with pytest.raises(sa.UnsatisfiableError, match="joint classes of fewer than 6 persons already"):
            session.anonymize("spring", policy(6, earlier=["first"]), "second")

    @pytest.mark.parametrize(
        ("fields", "problem"),
        [
            (
                {"method": sa.Relocation(4), "privacy": [], "suppression_limit": None},
                "not a whole release at a node, at a cut or by",
            ),
            ({"individual": "id"}, "its individuals own several rows"),
            ({"suppression": "mask", "suppression_limit": 0.5}, "its masked rows show who was suppressed"),
        ],
    )
    def test_releases_that_cannot_be_earlier_ones(
        self, session: sa.Session, fields: dict[str, Any], problem: str
    ) -> None:
        load(session, "summer", [21, 22, 23, 24, 31, 32, 33, 34, 51, 52, 53, 54, 41, 41, 27])
        nodes = {} if "method" in fields else {"node": {"age": 1 if "suppression" in fields else 2}}
        if "individual" in fields:
            session.connection.execute("DELETE FROM summer WHERE age = 41")
        session.anonymize("summer", policy(3 if nodes else 4, **fields), "other", **nodes)
        with pytest.raises(sa.PolicyError, match=problem):
            session.anonymize("summer", policy(2, earlier=["other"], suppression_limit=0.5), "second")

    def test_partitions_cannot_be_earlier_ones(self, session: sa.Session, tmp_path: Path) -> None:
        session.partitions.fit("spring", policy(), tmp_path / "fit.json")
        session.partitions.apply("spring", tmp_path / "fit.json", "part")
        with pytest.raises(sa.PolicyError, match="not a whole release at a node, at a cut or by"):
            session.anonymize("spring", policy(earlier=["part"]), "second")

    def test_releases_in_another_order(self, session: sa.Session) -> None:
        session.anonymize("spring", policy(earlier=["first"]), "second")
        with pytest.raises(sa.PolicyError, match='held together with "first", which has to stand before it'):
            session.anonymize("spring", policy(earlier=["second", "first"]), "third")

    def test_other_verbs(self, session: sa.Session, tmp_path: Path) -> None:
        held = policy(earlier=["first"])
        with pytest.raises(sa.PolicyError, match="leave earlier out of the policy"):
            session.lattice("spring", held)
        with pytest.raises(sa.PolicyError, match="leave earlier out of the policy"):
            session.partitions.fit("spring", held, tmp_path / "fit.json")

    def test_an_earlier_release_is_not_replaced(self, session: sa.Session) -> None:
        with pytest.raises(sa.EngineError, match='would replace its own earlier release 1 "first"'):
            session.anonymize("spring", policy(earlier=["first"]), "first", replace=True)
        assert ages(session, "first")

    def test_fewer_than_two_cannot_be_compared(self, session: sa.Session) -> None:
        with pytest.raises(sa.PolicyError, match="two releases at least, not 1"):
            session.compare_releases(["first"], source="spring")


def test_a_release_is_held_together_with_some_of_those_before_it(session: sa.Session) -> None:
    """What it leaves out follows from these alone, however small its joint classes are with others."""
    load(session, "patients", [21, 22, 26, 27])
    load(session, "patients", [21, 22, 26, 27], first=5, sex="m")
    session.anonymize("patients", policy(), "first", node={"age": 2})
    session.anonymize("patients", policy(quasi_identifiers=["sex"], identifiers=["id", "age"]), "by_sex")
    session.anonymize("patients", policy(earlier=["first"]), "third", node={"age": 1})
    joint = session.compare_releases(["first", "by_sex", "third"], source="patients")
    assert (joint.k, joint.class_count, joint.person_count) == (2, 4, 8)


def test_nobody_has_both(session: sa.Session) -> None:
    load(session, "spring", [21, 22, 23, 24, 25])
    release = session.anonymize("spring", policy(earlier="none"), "first")
    assert any(line.startswith("nobody has this release and an earlier one") for line in release.guarantee.conditions)


def test_a_run_is_explained(session: sa.Session) -> None:
    load(session, "spring", [21, 22, 23, 24, 25])
    session.anonymize("spring", policy(), "first")
    steps = [step.purpose for step in session.explain("spring", policy(earlier=["first"]))]
    assert "persons of earlier releases by their classes" in steps
    assert "joint classes" in steps


def test_keys_of_several_types_and_names_that_want_to_be_sql(session: sa.Session, tmp_path: Path) -> None:
    key, name = 'the "key"', '"a""b"; drop table x --'
    quoted, table = key.replace('"', '""'), name.replace('"', '""')
    load(session, "spring", [21, 22, 23, 24, 25, 26])
    session.connection.execute(f'CREATE TABLE "{table}" AS SELECT id AS "{quoted}", age FROM spring')
    session.connection.execute(f'CREATE TABLE later AS SELECT "{quoted}"::VARCHAR AS "{quoted}", age FROM "{table}"')
    wanted = sa.Policy(quasi_identifiers=["age"], identifiers=[key], privacy=[sa.KAnonymity(3)])
    session.anonymize(name, wanted, "first", node={"age": 3})
    held = wanted.model_copy(update={"earlier": (sa.Earlier("first", source=name, key=key.upper()),)})
    second = session.anonymize("later", held, tmp_path / "second.parquet")
    assert second.report.joint is not None
    assert second.report.joint.k == 6


def test_taxonomies_of_the_values_of_each_source(tmp_path: Path) -> None:
    """Those of the first release are made again from its source; its file is found by a path that is not recorded."""
    wanted = policy(3, taxonomies={"age": {"kind": "prefixes", "keep": [1]}}, suppression_limit=0.5)
    with sa.connect(tmp_path / "hospital.duckdb") as session:
        load(session, "spring", [21, 22, 23, 31, 32, 33, 34, 47])
        load(session, "summer", [51, 52, 53, 31, 32, 33, 34, 47])
        session.anonymize("spring", wanted, tmp_path / "first.parquet")
        earlier = sa.Earlier(str(tmp_path / "first.parquet"), source="spring", key="id")
        second = session.anonymize("summer", wanted.model_copy(update={"earlier": (earlier,)}), "second")
        assert second.report.joint is not None
        assert (second.report.joint.k or 0) >= 3
        query = "SELECT comment FROM duckdb_tables() WHERE table_name = 'second'"
        [(record,)] = session.connection.execute(query).fetchall()
        assert str(tmp_path) not in record
        assert '"release": "first.parquet"' in record


def test_values_without_a_label(session: sa.Session) -> None:
    load(session, "spring", [21, 22, 23, 24, 25, 26, 71, 72, 73, 74])
    for action, released in (("top", 10), ("suppress", 6)):
        wanted = policy(3, unknown=action, suppression_limit=0.5)
        session.anonymize("spring", wanted, f"first_{action}")
        held = wanted.model_copy(update={"earlier": (sa.Earlier(f"first_{action}"),)})
        second = session.anonymize("spring", held, f"second_{action}")
        assert second.report.joint is not None
        assert second.report.joint.person_count == released


def test_codings_without_a_key(session: sa.Session) -> None:
    load(session, "spring", [21, 22, 23, 24, 25])
    session.anonymize("spring", policy(top_coding={"age": 24}), "first")
    with pytest.raises(sa.PolicyError, match='"age" has another top coding in some of the policies: give a key'):
        session.anonymize("spring", policy(earlier=["first"]), "second")
    second = session.anonymize("spring", policy(earlier=["first"], top_coding={"age": 24}), "second")
    assert second.report.joint is not None
    assert second.report.joint.k == 5


def test_sources_that_are_read_in_pieces(session: sa.Session, tmp_path: Path) -> None:
    """What persons have been shown is looked up piece by piece."""
    load(session, "spring", [*range(20, 40)] * 2)
    session.connection.execute("CREATE TABLE summer AS FROM spring WHERE id % 9 > 0")
    session.connection.execute(f"COPY summer TO '{tmp_path / 'summer.parquet'}' (ROW_GROUP_SIZE 2048)")
    session.anonymize("spring", policy(3), "first")
    held = policy(3, earlier=[sa.Earlier("first", source="spring", key="id")], suppression_limit=0.5)
    whole = session.anonymize(tmp_path / "summer.parquet", held, "whole")
    with reading_in_pieces():
        in_pieces = session.anonymize(tmp_path / "summer.parquet", held, "in_pieces")
    assert in_pieces.node == whole.node
    assert in_pieces.report.joint == whole.report.joint
    rows = "SELECT * FROM {} ORDER BY ALL"
    found = [session.connection.execute(rows.format(name)).fetchall() for name in ("whole", "in_pieces")]
    assert found[0] == found[1]


def test_a_record_has_the_classes_of_the_release(session: sa.Session) -> None:
    """How many persons joint classes have is for the custodian."""
    load(session, "spring", [21, 22, 23, 24, 26, 27, 28, 29])
    session.anonymize("spring", policy(), "first", node={"age": 1})
    second = session.anonymize("spring", policy(earlier=["first"]), "second", node={"age": 2})
    [found] = json.loads(session.provenance("second") or "")["sqlanon"]["privacy"]
    assert found["attained"] == second.report.models[0].attained == 8
    assert second.report.joint is not None
    assert second.report.joint.k == 4


def test_a_release_is_verified_together_with_earlier_ones(session: sa.Session) -> None:
    load(session, "spring", [21, 22, 23, 24, 31, 32, 33, 34])
    session.connection.execute("CREATE TABLE summer AS FROM spring")
    session.anonymize("spring", policy(), "first", node={"age": 2})
    held = policy(earlier=[sa.Earlier("first", source="spring", key="id")])
    session.anonymize("summer", held, "second", node={"age": 2})
    assert session.verify("second", held, source="summer").met
    assert "no source was given" in session.verify("second", held).not_covered[-1]
    session.connection.execute("UPDATE summer SET id = 9 - id WHERE id IN (1, 8)")
    found = session.verify("second", held, source="summer", strict=False)
    assert "is not what its policy makes of" in found.not_covered[-1]
    by_sex = policy(quasi_identifiers=["sex"], identifiers=["id", "age"])
    session.connection.execute("UPDATE summer SET sex = 'm' WHERE age % 2 = 0")
    session.anonymize("summer", by_sex, "alone", node={"sex": 0})
    together = by_sex.model_copy(update={"earlier": held.earlier})
    found = session.verify("alone", together, source="summer", strict=False)
    assert 'together with "first": joint classes have 1 persons, not 4' in found.shortfalls


def test_a_frame_is_the_source_of_a_verification(session: sa.Session) -> None:
    load(session, "spring", [21, 22, 23, 24, 26, 27, 28, 29])
    session.anonymize("spring", policy(), "first", node={"age": 1})
    held = policy(earlier=["first"])
    session.anonymize("spring", held, "second", node={"age": 2})
    frame = session.connection.sql("FROM spring").to_arrow_table()
    found = session.verify("second", held, source=frame)
    assert found.met
    assert not [note for note in found.not_covered if "first" in note]


class TestValues:
    """Models of sensitive values in joint classes of one table."""

    @pytest.fixture(autouse=True)
    def patients(self, session: sa.Session) -> None:
        load(session, "patients", [21, 22, 23, 24, 26, 27, 28, 29])
        load(session, "patients", [31, 32, 33, 34], first=9, sex="m")
        session.connection.execute("UPDATE patients SET illness = 'cold' WHERE age IN (22, 24, 27, 28, 33)")

    def held(self, *earlier: str, **fields: Any) -> sa.Policy:
        models = [sa.KAnonymity(4), sa.DistinctLDiversity("illness", 2)]
        return policy(**{"privacy": models, "suppression_limit": 0.9, "earlier": earlier, **fields})

    def test_hidden_persons_have_several_illnesses_too(self, session: sa.Session) -> None:
        """All four from 25 to 29 with one illness are hidden: who saw the first release knows it of them."""
        session.connection.execute("UPDATE patients SET illness = 'flu' WHERE age > 25 AND age < 30")
        session.anonymize("patients", self.held(), "first", node={"age": 2})
        second = session.anonymize("patients", self.held("first"), "second", node={"age": 1})
        assert ages(session, "second") == {"30-34": 4}
        assert second.report.joint is not None
        assert (second.report.joint.k, second.report.joint.class_count) == (4, 2)
        by_k = policy(suppression_limit=0.9, earlier=["first"])
        session.anonymize("patients", by_k, "by_k", node={"age": 1})
        assert ages(session, "by_k") == {"20-24": 4, "25-29": 4, "30-34": 4}

    def test_a_third_release_finds_what_the_second_hides(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE patients SET illness = 'flu' WHERE age > 25 AND age < 30")
        session.anonymize("patients", self.held(), "first", node={"age": 2})
        session.anonymize("patients", self.held("first"), "second", node={"age": 1})
        third = session.anonymize("patients", self.held("first", "second"), "third", node={"age": 2})
        assert ages(session, "third") == {"20s": 8, "30s": 4}
        assert third.report.joint is not None
        assert third.report.joint.class_count == 2
        assert [line for line in third.guarantee.claims if "every joint class meets distinct l-diversity" in line]
        assert session.verify("third", self.held("first", "second"), source="patients").met
        joint = session.compare_releases(["first", "second", "third"], source="patients")
        assert (joint.met, joint.failing_classes) == (True, 0)

    def test_verification_finds_joint_classes_with_one_illness(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE patients SET illness = 'flu' WHERE age > 25 AND age < 30")
        session.anonymize("patients", self.held(), "first", node={"age": 2})
        session.anonymize("patients", self.held(), "second", node={"age": 1})
        joint = session.compare_releases(["first", "second"], source="patients")
        assert (joint.k, joint.met, joint.failing_classes) == (4, False, 1)
        found = session.verify("second", self.held("first"), source="patients", strict=False)
        assert found.shortfalls == ('together with "first": 1 joint classes do not meet its privacy models',)

    def test_earlier_releases_that_fall_short_already(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE patients SET illness = 'flu' WHERE age > 25 AND age < 30")
        session.anonymize("patients", policy(), "first", node={"age": 1})
        with pytest.raises(sa.UnsatisfiableError, match="1 joint classes already that do not meet distinct"):
            session.anonymize("patients", self.held("first"), "second")

    def test_a_class_of_the_first_that_the_second_hides_falls_short(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE patients SET illness = 'flu' WHERE age > 25 AND age < 30")
        session.anonymize("patients", policy(), "first", node={"age": 1})
        session.anonymize("patients", self.held(), "second", node={"age": 1})
        assert "25-29" not in ages(session, "second")
        with pytest.raises(sa.UnsatisfiableError, match="1 joint classes already that do not meet distinct"):
            session.anonymize("patients", self.held("first", "second"), "third")

    def test_values_that_no_earlier_release_shows(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE patients SET illness = 'flu' WHERE age > 25 AND age < 30")
        without = policy(sensitive=[], identifiers=["id", "sex", "illness"])
        session.anonymize("patients", without, "first", node={"age": 2})
        session.anonymize("patients", self.held("first"), "second", node={"age": 1})
        assert ages(session, "second") == {"20-24": 4, "30-34": 4}

    def test_persons_whom_no_earlier_release_shows_may_be_hidden(self, session: sa.Session) -> None:
        load(session, "patients", [22, 51, 52, 53], first=13)
        by_five = self.held(privacy=[sa.KAnonymity(5), sa.DistinctLDiversity("illness", 2)])
        session.anonymize("patients", by_five, "first", node={"age": 1})
        assert ages(session, "first") == {"20-24": 5}
        session.anonymize("patients", self.held("first"), "second", node={"age": 1})
        assert ages(session, "second") == {"20-24": 5, "25-29": 4, "30-34": 4}

    def test_classes_that_the_second_release_does_not_show_at_all(self, session: sa.Session) -> None:
        """Of the twenties it hides three of one sex, two of another, and one whose sex it shows of the thirties."""
        session.taxonomies.load("sex", sa.Taxonomy.from_rows([[sex, "*"] for sex in "fmxy"]))
        sexes = "UPDATE patients SET sex = ['x', 'x', 'y', 'y', 'm', 'f', 'f', 'f', 'm', 'm', 'm', 'm', 'f', 'x'][id]"
        load(session, "patients", [25, 25], first=13)
        session.connection.execute(sexes)
        session.connection.execute("UPDATE patients SET illness = CASE WHEN id % 2 = 0 THEN 'flu' ELSE 'cold' END")
        session.anonymize("patients", self.held(), "first", node={"age": 2})
        by_sex = self.held("first", quasi_identifiers=["sex"], identifiers=["id", "age"])
        session.anonymize("patients", by_sex, "second", node={"sex": 0})
        shown = session.connection.execute("SELECT sex, count(*) FROM second GROUP BY sex ORDER BY sex").fetchall()
        assert shown == [("f", 4), ("m", 4)]
        third = session.anonymize("patients", self.held("first", "second"), "third", node={"age": 2})
        assert third.report.suppressed_rows == 0

    def test_the_smallest_class_is_hidden_with_others(self, session: sa.Session) -> None:
        load(session, "patients", [25, 25, 25], first=13)
        sexes = "UPDATE patients SET sex = CASE WHEN id <= 4 THEN 'f' WHEN id = 5 THEN 'x' ELSE 'm' END"
        session.taxonomies.load("sex", sa.Taxonomy.from_rows([[sex, "*"] for sex in "fmx"]))
        session.connection.execute(sexes)
        session.anonymize("patients", self.held(), "first", node={"age": 2})
        by_sex = self.held("first", quasi_identifiers=["sex"], identifiers=["id", "age"])
        second = session.anonymize("patients", by_sex, "second", node={"sex": 0})
        assert second.report.suppressed_rows == 4 + 1
        assert second.report.joint is not None
        assert (second.report.joint.k, second.report.joint.class_count) == (4, 3)

    def test_a_policy_that_nothing_meets(self, session: sa.Session) -> None:
        session.anonymize("patients", self.held(), "first", node={"age": 2})
        with pytest.raises(sa.UnsatisfiableError):
            session.anonymize("patients", self.held("first", privacy=[sa.KAnonymity(9)]), "second")
        strict = [sa.KAnonymity(4), sa.EntropyLDiversity("illness", 1.99)]
        with pytest.raises(sa.UnsatisfiableError):
            session.anonymize("patients", self.held("first", privacy=strict, suppression_limit=0.0), "second")


SPRING = sa.Earlier("first", source="spring", key="id")
SUMMER = sa.Earlier("second", source="summer", key="id")


class TestChangedValues:
    """Models of sensitive values in joint classes of persons who come, go and change."""

    @pytest.fixture(autouse=True)
    def patients(self, session: sa.Session) -> None:
        load(session, "spring", [21, 22, 23, 24, 26, 27, 28, 29])
        load(session, "spring", [31, 32, 33, 34], first=9, sex="m")
        session.connection.execute("UPDATE spring SET illness = 'cold' WHERE age IN (22, 24, 33)")
        session.connection.execute("CREATE TABLE summer AS FROM spring")
        illnesses = [("flu", "grave", "*"), ("plague", "grave", "*"), ("cold", "slight", "*")]
        session.taxonomies.load("illness", sa.Taxonomy.from_rows(illnesses))

    def held(self, *earlier: sa.Earlier, **fields: Any) -> sa.Policy:
        models = [sa.KAnonymity(4), sa.DistinctLDiversity("illness", 2)]
        return policy(**{"privacy": models, "suppression_limit": 0.9, "earlier": earlier, **fields})

    def test_values_of_the_first_release_stay_diverse(self, session: sa.Session) -> None:
        """In summer those from 25 to 29 have two illnesses, and in spring all had the flu."""
        session.anonymize("spring", self.held(), "first", node={"age": 2})
        session.connection.execute("UPDATE summer SET illness = 'cold' WHERE age IN (27, 28)")
        alone = session.anonymize("summer", self.held(), "alone", node={"age": 1})
        assert ages(session, "alone") == {"20-24": 4, "25-29": 4, "30-34": 4}
        second = session.anonymize("summer", self.held(SPRING), "second", node={"age": 1})
        assert ages(session, "second") == {"30-34": 4}
        assert second.report.joint is not None
        assert (second.report.joint.k, second.report.joint.class_count) == (4, 2)
        assert second.report.loss_alone == alone.report.loss
        together = session.compare_releases([SPRING, sa.Earlier("alone", source="summer", key="id")], source="summer")
        assert (together.k, together.failing_classes, together.met) == (4, 1, False)

    @pytest.mark.parametrize(
        "model",
        [
            sa.TCloseness("illness", 0.2),
            sa.TCloseness("illness", 0.2, distance="ordered"),
            sa.TCloseness("illness", 0.2, distance="hierarchical"),
            sa.BetaLikeness("illness", 0.5),
            sa.DeltaDisclosure("illness", 0.8),
        ],
        ids=str,
    )
    def test_shares_are_compared_with_the_source_that_had_them(
        self, session: sa.Session, model: sa.PrivacyModel
    ) -> None:
        """In spring one of four had a cold, of those from 20 to 24 two; in summer it is one in each class."""
        close = {"privacy": [sa.KAnonymity(4), model]}
        session.anonymize("spring", self.held(**close), "first", node={"age": 2})
        session.connection.execute("UPDATE summer SET illness = if(age IN (21, 26, 31), 'cold', 'flu')")
        session.anonymize("summer", self.held(**close), "alone", node={"age": 1})
        assert ages(session, "alone") == {"20-24": 4, "25-29": 4, "30-34": 4}
        alone = [SPRING, sa.Earlier("alone", source="summer", key="id")]
        assert (session.compare_releases(alone, source="summer").failing_classes or 0) >= 1
        second = session.anonymize("summer", self.held(SPRING, **close), "second", node={"age": 1})
        assert ages(session, "second") == {"30-34": 4}
        assert [
            line for line in second.guarantee.claims if "compared with all rows of the source of that release" in line
        ]
        recovered = "if(age IN (22, 24, 32), 'cold', 'flu') AS illness"
        session.connection.execute(f"CREATE TABLE autumn AS SELECT * REPLACE ({recovered}) FROM summer")
        third = self.held(SPRING, SUMMER, **close)
        session.anonymize("autumn", third, "third", node={"age": 2})
        assert session.verify("third", third, source="autumn").met
        named = [SPRING, SUMMER, sa.Earlier("third", source="autumn", key="id")]
        joint = session.compare_releases(named, source="autumn")
        assert (joint.met, joint.failing_classes) == (True, 0)

    @pytest.mark.parametrize(
        ("t", "shown"), [(0.2, {"20-24": 4, "25-29": 4, "30-34": 4}), (0.1, {"30-34": 4})], ids=["loose", "tight"]
    )
    def test_labels_are_compared_with_the_source_that_had_them(
        self, session: sa.Session, t: float, shown: dict[str, int]
    ) -> None:
        """In both seasons half of each age group had a cold, and the others from 20 to 24 had the plague in spring.

        The plague is as grave as the flu: the group is 1/3 away from spring by illness and 0 by gravity, a mean of 1/6.
        """
        close = {"privacy": [sa.KAnonymity(4), sa.TCloseness("illness", t, distance="hierarchical")]}
        session.connection.execute("UPDATE summer SET illness = if(age IN (22, 24, 27, 29, 32, 34), 'cold', 'flu')")
        were_grave = "if(summer.illness = 'flu' AND spring.age < 25, 'plague', summer.illness)"
        session.connection.execute(f"UPDATE spring SET illness = {were_grave} FROM summer WHERE summer.id = spring.id")
        session.anonymize("spring", self.held(**close), "first", node={"age": 2})
        session.anonymize("summer", self.held(SPRING, **close), "second", node={"age": 1})
        assert ages(session, "second") == shown
        assert session.verify("second", self.held(SPRING, **close), source="summer").met

    def test_values_of_a_source_that_the_taxonomy_lacks(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE spring SET illness = 'gout' WHERE age IN (21, 26, 31)")
        session.anonymize("spring", self.held(), "first", node={"age": 2})
        by_labels = [sa.KAnonymity(4), sa.TCloseness("illness", 0.9, distance="hierarchical")]
        with pytest.raises(sa.TaxonomyError) as raised:
            session.anonymize("summer", self.held(SPRING, privacy=by_labels), "second")
        assert raised.value.problems == ('"illness": 1 distinct value',)
        session.anonymize("summer", self.held(SPRING), "second", node={"age": 2})

    @pytest.mark.parametrize("model", [sa.TCloseness("illness", 0.3), sa.BetaLikeness("illness", 1.2)], ids=str)
    def test_shares_of_whoever_left(self, session: sa.Session, model: sa.PrivacyModel) -> None:
        """Three of four persons from 25 to 29 have left, and the fourth is hidden; all four are close to spring.

        The newcomers are compared with the persons who are there in summer.
        """
        close = {"privacy": [sa.KAnonymity(4), model]}
        session.anonymize("spring", self.held(**close), "first", node={"age": 2})
        session.connection.execute("DELETE FROM summer WHERE id IN (5, 6, 7)")
        load(session, "summer", [41, 42, 43, 44], first=50)
        session.anonymize("summer", self.held(SPRING, **close), "second", node={"age": 1})
        assert ages(session, "second") == {"20-24": 4, "30-34": 4, "40-44": 4}

    def test_shares_without_whoever_came(self, session: sa.Session) -> None:
        """Of the persons in spring one of four had a cold; there were none of those who are in the forties."""
        close = {"privacy": [sa.KAnonymity(4), sa.TCloseness("illness", 0.3)]}
        session.anonymize("spring", self.held(**close), "first", node={"age": 2})
        load(session, "summer", range(40, 52), first=50)
        session.connection.execute("UPDATE summer SET illness = 'cold' WHERE age IN (42, 43, 46, 50)")
        session.anonymize("summer", self.held(SPRING, **close), "second", node={"age": 2})
        session.connection.execute("CREATE TABLE autumn AS FROM summer")
        session.anonymize("autumn", self.held(SPRING, SUMMER, **close), "third", node={"age": 1})
        assert ages(session, "third") == {"20-24": 4, "25-29": 4, "30-34": 4, "40-44": 5, "45-49": 5}

    def test_values_in_classes_with_levels_of_their_own(self, session: sa.Session) -> None:
        """In spring those from 25 to 29 all had the flu: they stand in one class with some who had a cold."""
        local = {"method": sa.LocalRecoding(suppression_limit=0.9), "suppression_limit": None}
        session.anonymize("spring", self.held(**local), "first")
        assert ages(session, "first") == {"20s": 8, "30-34": 4}
        session.connection.execute("UPDATE summer SET illness = 'cold' WHERE age IN (27, 28)")
        session.anonymize("summer", self.held(**local), "alone")
        assert ages(session, "alone") == {"20-24": 4, "25-29": 4, "30-34": 4}
        second = session.anonymize("summer", self.held(SPRING, **local), "second")
        assert ages(session, "second") == {"20s": 8, "30-34": 4}
        assert second.report.suppressed_rows == 0
        session.connection.execute("CREATE TABLE autumn AS FROM summer; DELETE FROM autumn WHERE id IN (1, 3)")
        third = self.held(SPRING, SUMMER, **local)
        session.anonymize("autumn", third, "third")
        assert ages(session, "third") == {"30-34": 4}
        assert session.verify("third", third, source="autumn").met
        fourth = self.held(SPRING, SUMMER, sa.Earlier("third", source="autumn", key="id"))
        session.anonymize("autumn", fourth, "fourth", node={"age": 2})
        assert session.verify("fourth", fourth, source="autumn").met

    def test_a_class_whose_values_do_not_hide_whoever_left(self, session: sa.Session) -> None:
        """One person with the flu has left the twenties; 3 of the 5 persons up to 24 have the flu.

        If the release hid these alone, 4 of 6 hidden persons would have the flu.
        """
        load(session, "spring", [20, 25, 25, 25], first=20)
        session.connection.execute("UPDATE spring SET illness = 'cold' WHERE age IN (27, 28, 29, 31)")
        models = [sa.KAnonymity(4), sa.AlphaKAnonymity("illness", 0.6, 4)]
        session.anonymize("spring", self.held(privacy=models), "first", node={"age": 2})
        session.connection.execute("CREATE OR REPLACE TABLE summer AS FROM spring WHERE id <> 21")
        by_classes = {"method": sa.LocalRecoding(suppression_limit=0.9), "suppression_limit": None}
        local = self.held(SPRING, privacy=models, **by_classes)
        session.anonymize("summer", local.changed({"earlier": []}), "alone")
        assert ages(session, "alone") == {"20-24": 5, "25-29": 6, "30-34": 4}
        session.anonymize("summer", local, "second")
        assert ages(session, "second") == {"30-34": 4}

    def test_values_that_have_become_alike(self, session: sa.Session) -> None:
        session.anonymize("spring", self.held(), "first", node={"age": 2})
        session.connection.execute("UPDATE summer SET illness = 'flu' WHERE age < 30")
        session.anonymize("summer", self.held(SPRING), "second", node={"age": 2})
        assert ages(session, "second") == {"30s": 4}
        assert session.verify("second", self.held(SPRING), source="summer").met

    def test_whoever_left_has_several_illnesses_too(self, session: sa.Session) -> None:
        """Five of eight have left, all with the flu: the others, who fall short, are hidden with them."""
        session.anonymize("spring", self.held(), "first", node={"age": 2})
        session.connection.execute("DELETE FROM summer WHERE id IN (1, 5, 6, 7, 8)")
        load(session, "summer", [41, 42, 43, 44], first=50)
        session.connection.execute("UPDATE summer SET illness = 'cold' WHERE age = 42")
        by_k = policy(suppression_limit=0.9, privacy=[sa.KAnonymity(2)], earlier=[SPRING])
        session.anonymize("summer", by_k, "by_k", node={"age": 2})
        assert ages(session, "by_k") == {"20s": 3, "30s": 4, "40s": 4}
        by_two = [sa.KAnonymity(2), sa.DistinctLDiversity("illness", 2)]
        session.anonymize("summer", self.held(SPRING, privacy=by_two), "second", node={"age": 2})
        assert ages(session, "second") == {"30s": 4, "40s": 4}

    def test_a_third_release_finds_what_the_second_hides(self, session: sa.Session) -> None:
        session.anonymize("spring", self.held(), "first", node={"age": 2})
        session.connection.execute("UPDATE summer SET illness = 'cold' WHERE age IN (27, 28)")
        session.anonymize("summer", self.held(SPRING), "second", node={"age": 1})
        session.connection.execute("CREATE TABLE autumn AS SELECT * REPLACE (age + 1 AS age) FROM summer")
        third = session.anonymize("autumn", self.held(SPRING, SUMMER), "third", node={"age": 2})
        assert third.report.joint is not None
        assert third.report.joint.k == 4
        assert [line for line in third.guarantee.claims if "every joint class meets distinct l-diversity" in line]
        assert session.verify("third", self.held(SPRING, SUMMER), source="autumn").met
        named = [SPRING, SUMMER, sa.Earlier("third", source="autumn", key="id")]
        joint = session.compare_releases(named, source="autumn")
        assert (joint.met, joint.failing_classes) == (True, 0)

    def test_a_first_release_without_the_values(self, session: sa.Session) -> None:
        without = policy(sensitive=[], identifiers=["id", "sex", "illness"])
        session.anonymize("spring", without, "first", node={"age": 2})
        session.connection.execute("UPDATE summer SET illness = 'cold' WHERE age IN (27, 28)")
        session.anonymize("summer", self.held(SPRING), "second", node={"age": 1})
        assert ages(session, "second") == {"20-24": 4, "25-29": 4, "30-34": 4}

    def test_columns_that_are_spelled_or_typed_otherwise(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE codes AS SELECT * REPLACE (len(illness) AS illness) FROM summer")
        session.anonymize("spring", self.held(), "first", node={"age": 2})
        session.connection.execute('ALTER TABLE codes RENAME illness TO "Illness"')
        renamed = self.held(
            SPRING, sensitive=["Illness"], privacy=[sa.KAnonymity(4), sa.AlphaKAnonymity("Illness", 0.8, 4)]
        )
        session.anonymize("codes", renamed, "second", node={"age": 2})
        assert ages(session, "second") == {"20s": 8, "30s": 4}
        assert session.verify("second", renamed, source="codes").met

    def test_first_releases_that_fall_short_already(self, session: sa.Session) -> None:
        session.anonymize("spring", policy(), "first", node={"age": 1})
        with pytest.raises(sa.UnsatisfiableError, match="1 joint classes already that do not meet distinct"):
            session.anonymize("summer", self.held(SPRING), "second")


class TestLocalRecoding:
    """Classes at levels of their own beside a release at a node."""

    @pytest.fixture(autouse=True)
    def patients(self, session: sa.Session) -> None:
        load(session, "spring", [22, 23, 24, 25, 26, 26, 35, 36, 37, 38])
        session.anonymize("spring", policy(), "first", node={"age": 2})
        session.connection.execute("CREATE TABLE summer AS FROM spring")

    def local(self, *earlier: sa.Earlier, limit: float = 0.9) -> sa.Policy:
        method = sa.LocalRecoding(suppression_limit=limit)
        return policy(method=method, suppression_limit=None, earlier=earlier)

    def test_persons_of_several_joint_classes_stay_apart(self, session: sa.Session) -> None:
        """Two who were in their twenties are now thirty: four of thirty to thirty-four would show who they are."""
        session.connection.execute("UPDATE summer SET age = 31 WHERE id IN (5, 6); DELETE FROM summer WHERE id > 8")
        load(session, "summer", [32, 32, 38, 38], first=50)
        alone = session.anonymize("summer", self.local(), "alone")
        assert ages(session, "alone") == {"20s": 4, "30-34": 4, "35-39": 4}
        second = session.anonymize("summer", self.local(SPRING), "second")
        assert second.report.joint is not None
        assert (second.report.joint.k, second.report.loss_alone) == (4, alone.report.loss)
        assert any(line.startswith('together with "first"') for line in second.guarantee.claims)

    def test_whoever_left_takes_a_class_along(self, session: sa.Session) -> None:
        session.connection.execute("DELETE FROM summer WHERE id = 10")
        load(session, "summer", [31, 31, 31, 31], first=50)
        second = session.anonymize("summer", self.local(SPRING), "second")
        assert second.report.suppressed_rows == 3
        assert second.report.joint is not None
        assert (second.report.joint.k, second.report.joint.class_count) == (4, 3)
        with pytest.raises(sa.UnsatisfiableError) as error:
            session.anonymize("summer", self.local(SPRING, limit=0.1), "third")
        assert "2 of 13 rows do not meet them even all together with others of" in error.value.problems[1]
        session.connection.execute("DELETE FROM summer WHERE id = 1")
        with pytest.raises(sa.UnsatisfiableError) as error:
            session.anonymize("summer", self.local(SPRING, limit=0.3), "third")
        assert "8 rows are hidden: 4 persons at least of each joint class" in error.value.problems[1]

    def test_one_unchanged_source(self, session: sa.Session) -> None:
        held = self.local().changed({"earlier": ["first"]})
        second = session.anonymize("spring", held, "second")
        assert ages(session, "second") == {"20s": 6, "35-39": 4}
        assert second.report.suppressed_rows == 0
        assert second.report.joint is not None
        assert second.report.joint.k == 4

    def test_its_classes_are_found_again(self, session: sa.Session) -> None:
        """In its own source and beside the releases that it was held together with."""
        session.connection.execute("UPDATE summer SET age = 31 WHERE id IN (5, 6); DELETE FROM summer WHERE id = 10")
        load(session, "summer", [32, 32, 31, 31], first=50)
        session.anonymize("summer", self.local(SPRING), "second")
        session.connection.execute("CREATE TABLE autumn AS SELECT * REPLACE (age + 1 AS age) FROM summer")
        third = session.anonymize("autumn", self.local(SPRING, SUMMER), "third")
        assert third.report.joint is not None
        assert third.report.joint.k == 4
        node = policy(earlier=[SPRING, SUMMER], suppression_limit=0.9)
        fourth = session.anonymize("autumn", node, "fourth")
        assert fourth.report.joint is not None
        assert fourth.report.joint.k == 4
        assert session.verify("second", self.local(SPRING), source="summer").met
        joint = session.compare_releases(
            [SPRING, SUMMER, sa.Earlier("third", source="autumn", key="id")], source="autumn"
        )
        assert (joint.k, joint.persons_at_risk) == (4, 0)

    def test_a_source_that_has_changed(self, session: sa.Session) -> None:
        session.anonymize("summer", self.local(), "second")
        session.connection.execute("CREATE TABLE autumn AS FROM summer; UPDATE summer SET age = 24 WHERE age > 36")
        with pytest.raises(sa.PolicyError, match="is not what its policy makes of"):
            session.anonymize("autumn", self.local(SUMMER), "third")

    def test_a_source_of_too_few(self, session: sa.Session) -> None:
        session.anonymize("summer", self.local(limit=0), "second")
        session.connection.execute("CREATE TABLE autumn AS FROM summer; DELETE FROM summer WHERE id > 3")
        with pytest.raises(sa.PolicyError, match="no classes meet its policy there"):
            session.anonymize("autumn", self.local(SUMMER), "third")

    def test_a_release_with_aggregates(self, session: sa.Session) -> None:
        method = sa.LocalRecoding(aggregate={"age": "range"})
        session.anonymize("summer", self.local().changed({"method": method}), "second")
        with pytest.raises(sa.PolicyError) as error:
            session.anonymize("summer", self.local(SUMMER), "third")
        assert "aggregates of its classes show more than their labels" in error.value.problems[0]


SOURCES = {"first": "spring", "second": "summer"}


class TestCuts:
    """Releases of top-down specialization, earlier and present ones."""

    def cut(self, k: int = 4, **fields: Any) -> sa.Policy:
        method = sa.TopDownSpecialization(k, numeric={"age": (20, 60)})
        return sa.Policy(
            quasi_identifiers=["age", "sex"], sensitive=["illness"], identifiers=["id"], method=method, **fields
        )

    @pytest.fixture(autouse=True)
    def patients(self, session: sa.Session) -> None:
        load(session, "spring", range(20, 40))
        session.connection.execute("UPDATE spring SET illness = CASE WHEN age < 30 THEN 'flu' ELSE 'cold' END")
        session.connection.execute("CREATE TABLE summer AS FROM spring")

    def test_both_are_cuts(self, session: sa.Session) -> None:
        session.anonymize("spring", self.cut(), "first")
        assert ages(session, "first") == {"[20, 30)": 10, "[30, 60)": 10}
        session.connection.execute("UPDATE summer SET illness = CASE WHEN age < 28 THEN 'flu' ELSE 'cold' END")
        first = sa.Earlier("first", source="spring", key="id")
        alone = session.anonymize("summer", self.cut(), "alone")
        assert ages(session, "alone") == {"[20, 28)": 8, "[28, 60)": 12}
        assert session.compare_releases([first, sa.Earlier("alone", source="summer", key="id")], source="summer").k == 2
        second = session.anonymize("summer", self.cut(earlier=[first]), "second")
        assert ages(session, "second") == {"[20, 60)": 20}
        assert second.report.joint is not None
        assert (second.report.joint.k, second.report.loss_alone) == (10, alone.report.loss)
        assert any(line.startswith('together with "first"') for line in second.guarantee.claims)
        assert session.verify("second", self.cut(earlier=[first]), source="summer").met

    def test_a_node_follows_a_cut(self, session: sa.Session) -> None:
        session.anonymize("spring", self.cut(), "first")
        first = sa.Earlier("first", source="spring", key="id")
        second = session.anonymize("summer", policy(earlier=[first]), "second", node={"age": 1})
        assert second.report.joint is not None
        assert (second.report.joint.k, second.report.joint.class_count) == (5, 4)
        joint = session.compare_releases([first, sa.Earlier("second", source="summer", key="id")], source="summer")
        assert joint.smallest == ()

    def test_labels_of_both_are_listed(self, session: sa.Session) -> None:
        session.anonymize("spring", self.cut(), "first")
        session.connection.execute("UPDATE summer SET illness = CASE WHEN age < 29 THEN 'flu' ELSE 'cold' END")
        session.anonymize("summer", self.cut(2), "second")
        named = [sa.Earlier(name, source=source, key="id") for name, source in SOURCES.items()]
        joint = session.compare_releases(named, source="summer")
        assert (joint.k, joint.required_k, joint.persons_at_risk) == (1, 2, 1)
        assert joint.smallest[0].labels == ({"age": "[20, 30)", "sex": "f"}, {"age": "[29, 60)", "sex": "f"})

    def test_no_row_is_left_out_for_others(self, session: sa.Session) -> None:
        session.anonymize("spring", self.cut(), "first")
        first = sa.Earlier("first", source="spring", key="id")
        session.connection.execute("DELETE FROM summer WHERE id = 1")
        load(session, "summer", [55, 56], first=100)
        with pytest.raises(sa.UnsatisfiableError) as error:
            session.anonymize("summer", self.cut(earlier=[first]), "second")
        assert error.value.problems == (
            'joint classes that have fewer than 4 rows in table "summer" at one label for all: 1 (the fewest: 2)',
            'joint classes of earlier releases that lack 1 to 3 of their persons in table "summer": 1',
            'what can help: method = "full-domain", which leaves rows out, or a smaller k',
        )

    def test_one_unchanged_source(self, session: sa.Session) -> None:
        session.anonymize("spring", policy(), "first", node={"age": 1})
        second = session.anonymize("spring", self.cut(earlier=["first"]), "second")
        assert second.report.joint is not None
        assert second.report.joint.k == 5
        third = session.anonymize("spring", policy(earlier=["first", "second"]), "third")
        assert third.report.joint is not None
        assert third.report.joint.k == 5

    def test_a_source_with_other_values(self, session: sa.Session) -> None:
        session.anonymize("spring", self.cut(), "first")
        session.connection.execute("CREATE TABLE other AS SELECT * REPLACE ('x' AS sex) FROM spring")
        with pytest.raises(sa.SqlanonError, match="other"):
            session.anonymize("summer", policy(earlier=[sa.Earlier("first", source="other", key="id")]), "second")

    def test_a_run_is_explained(self, session: sa.Session) -> None:
        session.anonymize("spring", self.cut(), "first")
        held = self.cut(earlier=[sa.Earlier("first", source="spring", key="id")])
        steps = [step.purpose for step in session.explain("summer", held)]
        assert "the cut of a release" in steps
        assert "joint classes" in steps
