"""Releases that are held together: the facts of spec/earlier.md, and what a run reports."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from tests.conftest import copy_of

AGES = [[str(age), f"{age // 5 * 5}-{age // 5 * 5 + 4}", f"{age // 10 * 10}s", "*"] for age in range(20, 60)]
SPRING = sa.Earlier("first", source="spring", key="id")
SUMMER = sa.Earlier("second", source="summer", key="id")
AUTUMN = sa.Earlier("third", source="autumn", key="id")


def make_warehouse(path: Path) -> sa.Session:
    session = sa.connect(path)
    session.taxonomies.load("age", sa.Taxonomy.from_rows(AGES))
    load_sexes(session, "fm")
    return session


def load_sexes(session: sa.Session, sexes: str) -> None:
    session.taxonomies.load("sex", sa.Taxonomy.from_rows([[sex, "*"] for sex in sexes]))


@pytest.fixture(scope="module")
def taxonomies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("taxonomies") / "w.duckdb"
    make_warehouse(path).close()
    return path


@pytest.fixture(scope="module")
def made(taxonomies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four patients of each of two decades, of both sexes, are released as ``first``, by their decades."""
    path = Path(shutil.copy(taxonomies, tmp_path_factory.mktemp("made")))
    with sa.connect(path) as session:
        load(session, "spring", [21, 22, 23, 24, 31, 32, 33, 34])
        session.connection.execute("UPDATE spring SET sex = 'm' WHERE age % 2 = 0")
        session.anonymize("spring", policy(), "first", **at(2))
    return path


@pytest.fixture
def empty(taxonomies: Path) -> Iterator[sa.Session]:
    """Without the patients."""
    with copy_of(taxonomies) as session:
        yield session


def load(session: sa.Session, name: str, ages: Sequence[int], first: int = 1, sex: str = "f") -> None:
    """Patients of some ages, numbered from the first."""
    rows = [(first + place, age, sex, "flu") for place, age in enumerate(ages)]
    columns = "id INTEGER, age INTEGER, sex VARCHAR, illness VARCHAR"
    session.connection.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")
    session.connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", rows)


def copy(session: sa.Session, name: str, source: str, where: str = "true") -> None:
    session.connection.execute(f"CREATE OR REPLACE TABLE {name} AS FROM {source} WHERE {where}")


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


def by_sex(k: int = 4, **fields: Any) -> sa.Policy:
    return policy(k, quasi_identifiers=["sex"], identifiers=["id", "age"], **fields)


def at(level: int, **others: int) -> dict[str, Any]:
    return {"node": {"age": level, **others}}


def ages(session: sa.Session, name: str) -> dict[str, int]:
    query = f"SELECT age, count(*) FROM {name} GROUP BY age ORDER BY age"
    return dict(session.connection.execute(query).fetchall())


def joint(release: sa.Release) -> tuple[int | None, int]:
    """The size of the smallest joint class, and the number of them."""
    assert release.report.joint is not None
    return release.report.joint.k, release.report.joint.class_count


class TestFacts:
    def test_a_more_general_release_adds_nothing(self, session: sa.Session) -> None:
        """E1; its record has its own classes, since the sizes of joint ones are for the custodian."""
        held = policy(earlier=["first"])
        second = session.anonymize("spring", held, "second", **at(3))
        assert joint(second) == (4, 2)
        [found] = json.loads(session.provenance("second") or "")["sqlanon"]["privacy"]
        assert found["attained"] == second.report.models[0].attained == 8
        steps = [step.purpose for step in session.explain("spring", held)]
        assert {"persons of earlier releases by their classes", "joint classes"} <= {*steps}

    def test_joint_classes_are_those_of_the_meet(self, session: sa.Session) -> None:
        """E2."""
        held = by_sex(earlier=["first"])
        with pytest.raises(sa.UnsatisfiableError, match="does not meet the policy"):
            session.anonymize("spring", held, "second", node={"sex": 0})
        second = session.anonymize("spring", held.with_k(2), "second")
        assert (second.node, joint(second)) == ({"sex": 0}, (2, 4))

    def test_what_is_left_out_can_break_another_class(self, empty: sa.Session) -> None:
        """E3: of 8 persons in a class 3 are too old for theirs; a whole class goes with them."""
        session = empty
        load(session, "spring", [21, 22, 23, 24, 24, 25, 26, 27, 28, 28, 29])
        older = "SELECT * REPLACE (CASE WHEN id <= 2 THEN 51 ELSE age END AS age) FROM spring"
        session.connection.execute(f"CREATE TABLE autumn AS {older}")
        session.anonymize("spring", policy(), "first", **at(2))
        alone = session.anonymize("autumn", policy(suppression_limit=0.9), "alone", **at(1))
        assert alone.report.suppressed_rows == 2 + 3
        second = session.anonymize("autumn", policy(earlier=[SPRING], suppression_limit=0.9), "second", **at(1))
        assert ages(session, "second") == {"25-29": 6}
        assert joint(second) == (5, 2)

    def test_new_patients_are_held_back_until_there_are_k(self, session: sa.Session) -> None:
        """E4."""
        for name, new in (("summer", [25]), ("autumn", [25, 26, 27, 28])):
            copy(session, name, "spring")
            load(session, name, new, first=9)
        session.anonymize("summer", policy(earlier=[SPRING], suppression_limit=0.5), "second", **at(2))
        assert ages(session, "second") == {"20s": 4, "30s": 4}
        third = session.anonymize("autumn", policy(earlier=[SPRING, SUMMER]), "third", **at(2))
        assert ages(session, "third") == {"20s": 8, "30s": 4}
        assert joint(third) == (4, 3)

    def test_new_patients_need_no_others(self, session: sa.Session) -> None:
        """No earlier release shows them, so that three of them may be left out and four stay, and a search finds it."""
        copy(session, "autumn", "spring")
        load(session, "autumn", [41, 42, 43, 44, 51, 52, 53], first=9)
        bounds = {"minimum_levels": {"age": 2}, "maximum_levels": {"age": 2}, "suppression_limit": 0.2}
        session.anonymize("autumn", policy(earlier=[SPRING], **bounds), "second")
        assert ages(session, "second") == {"20s": 4, "30s": 4, "40s": 4}

    def test_rows_without_a_key_are_hidden_by_classes(self, empty: sa.Session) -> None:
        """One woman of a class is too few: nine men, the fewest others, are hidden with her, and twelve others stay."""
        session = empty
        load_sexes(session, "fmx")
        for sex, ages_of in (("f", [21]), ("m", [22] * 9), ("x", [23] * 12), ("f", [31] * 8)):
            load(session, "patients", ages_of, sex=sex)
        session.anonymize("patients", policy(2), "first", **at(2))
        limited = by_sex(2, earlier=["first"], suppression_limit=0.2, maximum_levels={"sex": 0})
        with pytest.raises(sa.UnsatisfiableError, match="10 rows"):
            session.anonymize("patients", limited, "second")
        second = session.anonymize("patients", limited.changed({"suppression_limit": 0.34}), "second")
        assert second.report.suppressed_rows == 10

    def test_a_search_counts_all_rows_of_classes_that_are_hidden(self, empty: sa.Session) -> None:
        """A woman among thirty men of the same class: with all of them hidden more rows are than may be."""
        session = empty
        load(session, "patients", [21])
        load(session, "patients", [22] * 30, sex="m")
        load(session, "patients", [31] * 8)
        session.anonymize("patients", policy(2), "first", **at(2))
        both = {"quasi_identifiers": ["age", "sex"], "identifiers": ["id"], "suppression_limit": 0.2}
        second = session.anonymize("patients", policy(2, earlier=["first"], **both), "second")
        assert (second.node, second.report.suppressed_rows) == ({"age": 1, "sex": 1}, 0)

    def test_whoever_left_takes_others_along(self, empty: sa.Session) -> None:
        """E5."""
        session = empty
        load(session, "spring", [21, 22, 23, 24, 25, 31, 32, 33, 34])
        copy(session, "autumn", "spring", "id > 1")
        session.anonymize("spring", policy(), "first", **at(2))
        held = policy(earlier=[SPRING], suppression_limit=0.5)
        second = session.anonymize("autumn", held, "second", **at(2))
        assert ages(session, "second") == {"30s": 4}
        assert joint(second) == (4, 2)
        with pytest.raises(sa.UnsatisfiableError, match="no node meets the privacy models"):
            session.anonymize("autumn", held.changed({"suppression_limit": 0.0}), "third")

    def test_the_worked_example(self, session: sa.Session) -> None:
        """Cuts at 23 and 33 beside decades: 4-anonymous alone, 2-anonymous together."""
        odd = [[str(age), "23-32" if 23 <= age < 33 else "others", "*"] for age in range(20, 60)]
        session.connection.execute("CREATE VIEW aged AS SELECT *, age AS years FROM spring")
        columns = {"quasi_identifiers": ["years"], "identifiers": ["id", "sex", "age"]}
        cut = policy(taxonomies={"years": sa.Taxonomy.from_rows(odd)}, earlier="none", **columns)
        assert session.anonymize("aged", cut, "alone", node={"years": 1}).report.min_class_size == 4
        held = cut.changed({"earlier": [SPRING]})
        with pytest.raises(sa.UnsatisfiableError):
            session.anonymize("aged", held, "second", node={"years": 1})
        assert joint(session.anonymize("aged", held.with_k(2), "second", node={"years": 1})) == (2, 4)

    def test_a_release_is_held_together_with_some_of_those_before_it(self, session: sa.Session) -> None:
        """What it leaves out follows from these alone, however small its joint classes are with others."""
        first = session.anonymize("spring", by_sex(earlier="none"), "by_sex")
        assert any(line.startswith("nobody has this release and an earlier") for line in first.guarantee.conditions)
        session.anonymize("spring", policy(earlier=["first"]), "third", **at(1))
        found = session.compare_releases(["first", "by_sex", "third"], source="spring")
        assert (found.k, found.class_count, found.person_count) == (2, 4, 8)


def test_a_release_is_verified_together_with_earlier_ones(session: sa.Session) -> None:
    copy(session, "summer", "spring")
    held = policy(earlier=[SPRING])
    session.anonymize("summer", held, "second", **at(2))
    verification = session.verify("second", held, source=session.connection.sql("FROM summer").to_arrow_table())
    assert verification.met
    assert not [note for note in verification.not_covered if "first" in note]
    assert "no source was given" in session.verify("second", held).not_covered[-1]
    session.connection.execute("UPDATE summer SET id = 9 - id WHERE id IN (1, 8)")
    found = session.verify("second", held, source="summer", strict=False)
    assert "does not match" in found.not_covered[-1]
    session.anonymize("summer", by_sex(earlier="none"), "alone", node={"sex": 0})
    found = session.verify("alone", by_sex(earlier=[SPRING]), source="summer", strict=False)
    assert 'together with "first": joint classes have 1 persons, not 4' in found.shortfalls
