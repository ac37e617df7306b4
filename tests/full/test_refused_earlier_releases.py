"""What releases are refused beside earlier ones, and rarer sources of those that are held together."""

from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from tests.full.test_earlier_cuts import cut
from tests.in_pieces import reading_in_pieces
from tests.stories.test_earlier_releases import AGES, SPRING, SUMMER, ages, at, copy, joint, load, policy
from tests.stories.test_earlier_releases import make_warehouse as make_taxonomies

HELD = policy(earlier=[SPRING])
BY_SEX = policy(quasi_identifiers=["sex"], identifiers=["id"], sensitive=["illness"])
LOCAL = policy(method=sa.LocalRecoding(suppression_limit=0.9), suppression_limit=None)


def make_warehouse(path: Path) -> sa.Session:
    """Patients in spring and in summer, and a first release of those in spring."""
    session = make_taxonomies(path)
    load(session, "spring", [21, 22, 23, 24, 25])
    copy(session, "summer", "spring")
    session.anonymize("spring", policy(), "first")
    return session


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


def test_a_policy_says_all_at_once_why_not() -> None:
    for fields, problem in UNFIT:
        with pytest.raises(sa.PolicyError) as raised:
            policy(**{"earlier": [SPRING, sa.Earlier("first")], **fields})
        assert any(problem in line for line in raised.value.problems), (problem, raised.value.problems)
        assert 'earlier: "first" is named twice' in raised.value.problems
        assert any("all releases need the same key" in line for line in raised.value.problems)


def test_a_private_method_has_a_ledger() -> None:
    private = {"method": sa.IPA(budget=sa.Budget(1)), "privacy": [], "suppression_limit": None}
    with pytest.raises(sa.PolicyError, match="which the ledger adds up over all releases"):
        policy(earlier=["first"], **private)


class TestSources:
    def test_sources_that_have_changed(self, session: sa.Session) -> None:
        session.connection.execute("DELETE FROM spring WHERE id = 1")
        with pytest.raises(sa.PolicyError, match=r"differ in size\. Pass the source as it was at release time"):
            session.anonymize("summer", HELD, "second")

    def test_releases_that_have_changed(self, session: sa.Session) -> None:
        load(session, "spring", [31, 32, 33, 34], first=11)
        session.anonymize("spring", policy(suppression_limit=0.5), "changed", **at(1))
        copy(session, "was", "changed")
        one_row = "rowid = (SELECT min(rowid) FROM changed)"
        for change, problem in (
            ("DELETE FROM changed WHERE age = '30-34'", "it has 4 rows, and 8 were released"),
            ("INSERT INTO changed VALUES ('50-54', 'flu')", "it has 9 rows, and 8 were released"),
            (f"UPDATE changed SET age = '30-34' WHERE {one_row}", "2 classes differ in size"),
            ("UPDATE changed SET age = '50-54' WHERE age = '30-34'", "1 classes differ in size"),
        ):
            session.connection.execute(change)
            with pytest.raises(sa.PolicyError, match=problem):
                session.anonymize("spring", policy(earlier=["changed"], suppression_limit=0.5), "second")
            session.connection.execute("TRUNCATE changed; INSERT INTO changed FROM was ORDER BY age")

    def test_keys_that_do_not_identify(self, session: sa.Session) -> None:
        session.anonymize("summer", policy(), "second", **at(2))
        for change, problem, source, named, earlier in (
            ("SET id = NULL WHERE id = 1", "1 rows have NULL", "autumn", "autumn", [SUMMER]),
            ("SET id = 2 WHERE id IS NULL", "1 values are in several", "summer", "spring", [SUMMER, SPRING]),
        ):
            session.connection.execute(f"UPDATE spring {change}")
            copy(session, "autumn", "spring")
            found = f'"id" does not identify the persons of table "{named}"'
            with pytest.raises(sa.PolicyError, match=found) as raised:
                session.anonymize(source, policy(earlier=earlier), "third")
            assert [line[: len(problem)] for line in raised.value.problems] == [problem]

    def test_keys_that_are_written_otherwise(self, session: sa.Session) -> None:
        """They match nobody, and those that match few may be written otherwise, too."""
        for key in ("id::DOUBLE", "id::DECIMAL(10, 2)", "printf('%04d', id)", "id || ' '", "id + 100"):
            session.connection.execute(f"CREATE OR REPLACE TABLE summer AS SELECT * REPLACE ({key} AS id) FROM spring")
            with pytest.raises(sa.PolicyError, match='no key "id" of table "summer" is in table "spring"') as raised:
                session.anonymize("summer", HELD, "second")
            assert raised.value.problems[0] == '"id" is INTEGER in table "spring"'
        load(session, "winter", [*range(21, 33)])
        session.connection.execute("CREATE TABLE later AS SELECT * REPLACE (id + 8 AS id) FROM winter")
        session.anonymize("winter", policy(), "one", **at(3))
        held = policy(earlier=[sa.Earlier("one", source="winter", key="id")])
        few = 'fewer than half of the persons of table "later" are found in another source by their keys'
        second = session.anonymize("later", held, "second", **at(3))
        assert second.report.findings is not None
        compared = session.compare_releases([*held.held_with, sa.Earlier("second")], source="later", key="id")
        for found in (
            second.report.findings.sentences,
            compared.few_in_common,
            session.verify("second", held, source="later").notes,
        ):
            assert any(line.startswith(few) for line in found)

    def test_a_key_that_is_not_there(self, session: sa.Session) -> None:
        with pytest.raises(sa.PolicyError, match="persons of other releases cannot be found"):
            session.anonymize("summer", policy(earlier=[sa.Earlier("first", source="spring", key="ward")]), "second")

    def test_other_taxonomies(self, session: sa.Session) -> None:
        session.taxonomies.load("age", sa.Taxonomy.from_rows([[label, "*"] for label, *_ in AGES]))
        with pytest.raises(sa.PolicyError, match='"age" does not have the recorded hash'):
            session.anonymize("spring", policy(earlier=["first"]), "second")

    def test_codings_without_a_key(self, session: sa.Session) -> None:
        session.anonymize("spring", policy(top_coding={"age": 24}), "first", replace=True)
        with pytest.raises(sa.PolicyError, match='"age" has a different top coding in some of the policies'):
            session.anonymize("spring", policy(earlier=["first"]), "second")

    def test_values_that_the_cut_of_a_release_lacks(self, session: sa.Session) -> None:
        session.anonymize("spring", cut(), "first", replace=True)
        session.connection.execute("CREATE TABLE other AS SELECT * REPLACE ('x' AS sex) FROM spring")
        with pytest.raises(sa.SqlanonError, match="other"):
            session.anonymize("summer", policy(earlier=[sa.Earlier("first", source="other", key="id")]), "second")


class TestReleases:
    def test_earlier_releases_that_leave_too_few_or_stand_too_late(self, session: sa.Session) -> None:
        with pytest.raises(sa.UnsatisfiableError, match='joint classes of table "first" already have fewer'):
            session.anonymize("spring", policy(6, earlier=["first"]), "second")
        session.anonymize("spring", policy(earlier=["first"]), "second")
        with pytest.raises(sa.PolicyError, match='held together with "first", which has to stand before it'):
            session.anonymize("spring", policy(earlier=["second", "first"]), "third")

    def test_other_verbs(self, session: sa.Session, tmp_path: Path) -> None:
        for call in (
            lambda: session.lattice("spring", HELD),
            lambda: session.partitions.fit("spring", HELD, tmp_path / "fit.json"),
        ):
            with pytest.raises(sa.PolicyError, match="remove earlier from the policy here"):
                call()
        with pytest.raises(sa.PolicyError, match="at least two releases, not 1"):
            session.compare_releases(["first"], source="spring")

    def test_an_earlier_release_is_not_replaced(self, session: sa.Session) -> None:
        with pytest.raises(sa.EngineError, match='would replace its own earlier release 1 "first"'):
            session.anonymize("spring", policy(earlier=["first"]), "first", replace=True)
        assert ages(session, "first")


class TestColumnsOfSeveralRoles:
    """A column that one release generalizes and another one publishes otherwise."""

    def test_a_policy_beside_an_earlier_release(self, session: sa.Session) -> None:
        session.connection.execute(
            "CREATE VIEW aged AS SELECT * EXCLUDE (age), age AS years, 2026 - age AS born FROM spring"
        )
        cases: list[tuple[str, dict[str, Any], str]] = [
            ("spring", {"insensitive": ["AGE"]}, "insensitive in this policy: joint classes count only labels"),
            ("spring", {"pseudonyms": ["age"]}, "a pseudonym in this policy: "),
            ("spring", {"sensitive": ["age"], "insensitive": ["illness"]}, "sensitive in this policy: "),
            ("aged", {"insensitive": ["years", "born"]}, 'insensitive in this policy as "years": '),
        ]
        for source, fields, problem in cases:
            shown = BY_SEX.changed({**fields, "earlier": [SPRING]})
            with pytest.raises(
                sa.PolicyError,
                match="joint classes would leave out columns that the releases publish in",
            ) as raised:
                session.explain(source, shown)
            [found] = raised.value.problems
            assert found.startswith(f'"age" is a quasi-identifier of table "first" and {problem}')

    def test_releases_that_were_made_alone(self, session: sa.Session) -> None:
        shown = BY_SEX.changed({"insensitive": ["age"]})
        findings = session.anonymize("spring", shown, "shown").report.findings
        assert findings is not None
        problem = '"age" is a quasi-identifier of table "first" and insensitive in table "shown": joint classes'
        with pytest.raises(sa.PolicyError, match=problem):
            session.compare_releases(["first", "shown"], source="spring")
        held = shown.changed({"earlier": ["first"]})
        [shortfall] = session.verify("shown", held, source="spring", strict=False).shortfalls
        assert shortfall.startswith(f'together with "first": {problem}')
        for found in (*findings.other_releases, *session.report("shown", source="spring").other_releases):
            assert '"age" is a quasi-identifier of ' in found.sentence and found.proposal is None
        session.anonymize("spring", BY_SEX.changed({"identifiers": ["id", "age"], "earlier": "none"}), "by_sex")
        session.connection.execute("ALTER TABLE first ADD COLUMN sex VARCHAR")
        with pytest.raises(
            sa.PolicyError, match='"sex" is a quasi-identifier of table "by_sex" and without a role in table "first"'
        ):
            session.compare_releases(["first", "by_sex"], source="spring")


class TestLocalRecoding:
    """Releases of local recoding as earlier ones."""

    def test_what_their_classes_do_not_show(self, session: sa.Session) -> None:
        load(session, "summer", [26, 27, 28], first=20)
        session.anonymize("summer", LOCAL.changed({"method": sa.LocalRecoding(suppression_limit=0)}), "second")
        ranges = sa.LocalRecoding(aggregate={"age": "range"})
        session.anonymize("summer", LOCAL.changed({"method": ranges, "earlier": "none"}), "ranges")
        copy(session, "autumn", "summer")
        copy(session, "was", "summer")
        for change, name, problem in (
            ("UPDATE summer SET age = 25 WHERE age = 24", "second", "does not match"),
            ("DELETE FROM summer WHERE id > 3", "second", "no classes meet its policy there"),
            ("FROM summer", "ranges", "aggregates of its classes show more than their labels"),
        ):
            session.connection.execute(change)
            with pytest.raises(sa.PolicyError, match=problem):
                held = sa.Earlier(name, source="summer", key="id")
                session.anonymize("autumn", LOCAL.changed({"earlier": [held]}), "third")
            copy(session, "summer", "was")


class TestRarerSources:
    def test_keys_of_several_types_and_names_that_want_to_be_sql(self, session: sa.Session, tmp_path: Path) -> None:
        key, name = 'the "key"', '"a""b"; drop table x --'
        quoted, table = key.replace('"', '""'), name.replace('"', '""')
        session.connection.execute(f'CREATE TABLE "{table}" AS SELECT id AS "{quoted}", age FROM spring')
        session.connection.execute(
            f'CREATE TABLE later AS SELECT "{quoted}"::VARCHAR AS "{quoted}", age FROM "{table}"'
        )
        wanted = sa.Policy(quasi_identifiers=["age"], identifiers=[key], privacy=[sa.KAnonymity(3)])
        session.anonymize(name, wanted, "named", **at(3))
        held = wanted.changed({"earlier": [sa.Earlier("named", source=name, key=key.upper())]})
        assert joint(session.anonymize("later", held, tmp_path / "second.parquet")) == (5, 1)

    def test_taxonomies_of_the_values_of_each_source(self, session: sa.Session, tmp_path: Path) -> None:
        """Those of the first release are made again from its source; the record has no path of its file."""
        wanted = policy(3, taxonomies={"age": {"kind": "prefixes", "keep": [1]}}, suppression_limit=0.5)
        session.connection.execute("DELETE FROM anon.taxonomy")
        load(session, "winter", [21, 22, 23, 31, 32, 33, 34, 47])
        load(session, "later", [51, 52, 53, 31, 32, 33, 34, 47])
        session.anonymize("winter", wanted, tmp_path / "first.parquet")
        earlier = sa.Earlier(str(tmp_path / "first.parquet"), source="winter", key="id")
        second = session.anonymize("later", wanted.changed({"earlier": [earlier]}), "second")
        assert (joint(second)[0] or 0) >= 3
        query = "SELECT comment FROM duckdb_tables() WHERE table_name = 'second'"
        [(record,)] = session.connection.execute(query).fetchall()
        assert str(tmp_path) not in record
        assert '"release": "first.parquet"' in record

    def test_values_without_a_label(self, session: sa.Session) -> None:
        """Ages are labelled at the top, and whoever has another sex is left out."""
        load(session, "spring", [26, 71, 72, 73, 74], first=20)
        load(session, "spring", [21, 22], first=30, sex="x")
        both = {"quasi_identifiers": ["age", "sex"], "identifiers": ["id"], "suppression_limit": 0.5}
        wanted = policy(3, unknown={"age": "top", "sex": "suppress"}, **both)
        session.anonymize("spring", wanted.changed({"earlier": "none"}), "unknown")
        second = session.anonymize("spring", wanted.changed({"earlier": ["unknown"]}), "second")
        assert second.report.joint is not None
        assert second.report.joint.person_count == 10

    @pytest.mark.deep
    def test_sources_that_are_read_in_pieces(self, session: sa.Session, tmp_path: Path) -> None:
        """What persons have been shown is looked up piece by piece."""
        load(session, "winter", [*range(20, 40)] * 2)
        file = tmp_path / "later.parquet"
        session.connection.execute(f"COPY (FROM winter WHERE id % 9 > 0) TO '{file}' (ROW_GROUP_SIZE 2048)")
        session.anonymize("winter", policy(3), "one")
        held = policy(3, earlier=[sa.Earlier("one", source="winter", key="id")], suppression_limit=0.5)
        whole = session.anonymize(file, held, "whole")
        with reading_in_pieces():
            in_pieces = session.anonymize(file, held, "in_pieces")
        assert (in_pieces.node, in_pieces.report.joint) == (whole.node, whole.report.joint)
        found = [session.connection.execute(f"FROM {name} ORDER BY ALL").fetchall() for name in ("whole", "in_pieces")]
        assert found[0] == found[1]
