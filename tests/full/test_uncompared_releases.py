"""Why other releases are not compared with that of a run, and rarer ones that are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from tests.conftest import copy_of
from tests.stories.test_earlier_releases import AGES
from tests.stories.test_other_releases import BY_AGE, BY_SEX, forget, found_by, joint, policy
from tests.stories.test_other_releases import make_warehouse as make_warehouse


@pytest.fixture
def session(made: Path) -> Iterator[sa.Session]:
    with copy_of(made) as session:
        yield session


def reason(release: sa.Release) -> str:
    """Why the only other one is not compared."""
    (found,) = found_by(release)
    assert (found.joint, found.proposal) == (None, None)
    assert found.reason is not None
    return found.reason


OTHERWISE = "it was made with other taxonomies, codings or unknown values of age"


class TestReasons:
    def test_another_source(self, session: sa.Session) -> None:
        for change, expected in (
            ("UPDATE spring SET age = 31 WHERE id = 0", "its source was another one: 2 of its classes have another"),
            ("DELETE FROM spring WHERE id = 0", "its source had 8 rows, and this one has 7; name it in earlier"),
        ):
            session.connection.execute(change)
            found = reason(session.anonymize("spring", policy(3), "second", node=BY_SEX, replace=True))
            assert found.startswith(expected)
            assert found.endswith("with its source as it was then, and the key of a person")

    def test_another_policy(self, session: sa.Session) -> None:
        forget(session, "first")
        session.taxonomies.load("illness", sa.Taxonomy.flat(), source="spring")
        changes: dict[str, tuple[dict[str, Any], str]] = {
            "of_individuals": ({"individual": "id"}, "its individuals own several rows"),
            "moved": (
                {"method": sa.Relocation(2), "suppression_limit": None, "privacy": []},
                "it is not a whole release at a",
            ),
            "local": (
                {"method": sa.LocalRecoding(), "suppression_limit": None},
                "each of its classes has levels of its own",
            ),
            "coded": ({"top_coding": {"age": 31}}, OTHERWISE),
            "suppressed": ({"unknown": "suppress"}, "rows with other unknown values were left out of it"),
        }
        for name, (change, _) in changes.items():
            earlier = {} if "method" in change else {"earlier": "none"}
            session.anonymize("spring", policy(2, **change, **earlier), name)
        found = {each.release: each for each in found_by(session.anonymize("spring", policy(3), "second", node=BY_SEX))}
        assert found.keys() == changes.keys()
        for name, (_, expected) in changes.items():
            assert (found[name].joint, found[name].proposal) == (None, None)
            assert (found[name].reason or "").startswith(expected)

    def test_a_source_with_values_that_its_taxonomies_lack(self, session: sa.Session) -> None:
        forget(session, "first")
        session.anonymize("spring", policy(quasi_identifiers=["sex"], identifiers=["id", "age"]), "by_sex")
        session.connection.execute("UPDATE spring SET sex = 'x' WHERE id = 0")
        by_age = policy(quasi_identifiers=["age"], identifiers=["id", "sex"])
        expected = "its source was another one: 1 rows have values now that its taxonomies lack"
        assert reason(session.anonymize("spring", by_age, "second")).startswith(expected)

    def test_masked_rows(self, session: sa.Session) -> None:
        forget(session, "first")
        session.connection.execute("DELETE FROM spring WHERE id IN (0, 3)")
        masking = policy(2, suppression="mask", suppression_limit=0.5)
        session.anonymize("spring", masking, "other", node={"age": 2, "sex": 0})
        assert reason(session.anonymize("spring", policy(2), "second", node=BY_SEX)).startswith("its masked rows show")
        forget(session, "other")
        release = session.anonymize("spring", masking, "third", node={"age": 2, "sex": 0})
        assert reason(release) == "of the release of this run, its masked rows show who was suppressed"

    def test_what_the_release_is(self, session: sa.Session) -> None:
        session.anonymize("spring", policy(earlier="none"), "second", node=BY_AGE)
        local = policy(2, method=sa.LocalRecoding(), suppression_limit=None)
        for found in found_by(session.anonymize("spring", local, "third")):
            assert (found.reason or "").startswith("only releases of full domains are compared")
        release = session.anonymize("spring", policy(2, individual="id"), "third", replace=True)
        assert release.report.findings is not None
        assert [line for line in release.report.findings.sentences if "individuals own several rows" in line] == [
            'what the release shows together with "first" or "second" is not known: individuals own several rows of '
            "this release, and a person is to have one"
        ], "one sentence for all of the same reason"

    def test_partitions_and_other_taxonomies(self, session: sa.Session, tmp_path: Path) -> None:
        session.partitions.fit("spring", policy(), tmp_path / "fit.json")
        session.partitions.apply("spring", tmp_path / "fit.json", "part")
        session.anonymize("spring", policy(2, earlier="none", unknown={"age": "top"}), "unknown")
        session.taxonomies.load("age", sa.Taxonomy.from_rows([[label, "*"] for label, *_ in AGES]))
        release = session.anonymize("spring", policy(), "second", node={"age": 1, "sex": 0})
        whole, part, unknown = found_by(release)
        assert (whole.reason or "").startswith(OTHERWISE)
        assert (unknown.reason or "").startswith(OTHERWISE)
        assert (part.reason or "").startswith("it is not a whole release at a node, at a cut or by")

    def test_the_policy_names_others(self, session: sa.Session) -> None:
        session.anonymize("spring", policy(earlier="none"), "second", node=BY_AGE)
        release = session.anonymize("spring", policy(earlier=["first"]), "third")
        assert reason(release).endswith("does not name that one: add it to earlier")

    def test_it_was_held_together_with_others(self, session: sa.Session) -> None:
        session.anonymize("spring", policy(earlier=["first"]), "second")
        one, other = found_by(session.anonymize("spring", policy(), "third", node=BY_AGE))
        assert one.joint is not None
        assert other.reason == 'it was held together with "first": name all of them in earlier'

    def test_a_table_of_a_database_that_is_not_attached(self, session: sa.Session, tmp_path: Path) -> None:
        forget(session, "first")
        session.connection.execute(f"ATTACH '{tmp_path}/other.duckdb' AS other")
        session.anonymize("spring", policy(), "other.main.first", node=BY_AGE)
        session.connection.execute("DETACH other")
        release = session.anonymize("spring", policy(), "second", node=BY_SEX)
        assert reason(release) == "it cannot be looked at from this session"

    def test_a_file_that_cannot_be_read(self, session: sa.Session, tmp_path: Path) -> None:
        forget(session, "first")
        file = tmp_path / "first.parquet"
        session.anonymize("spring", policy(), file, node=BY_AGE)
        written = file.read_bytes()
        file.write_bytes(written[:8] + bytes(40) + written[48:])
        release = session.anonymize("spring", policy(), "second", node=BY_SEX)
        assert reason(release) == "its file was changed since it was written"
        assert session.connection.execute("SELECT count(*) FROM second").fetchone() == (8,)


class TestCompared:
    def test_columns_that_several_have(self, session: sa.Session) -> None:
        """Their taxonomies are of their policies alone."""
        sexes = {"taxonomies": {"sex": {"kind": "flat"}}, "quasi_identifiers": ["sex"], "identifiers": ["id", "age"]}
        session.connection.execute("DELETE FROM anon.taxonomy WHERE attribute = 'sex'")
        session.anonymize("spring", policy(earlier="none", **sexes), "by_sex", node={"sex": 0})
        rule = {"illness": {"kind": "flat"}}
        ill = policy(quasi_identifiers=["illness"], sensitive=[], identifiers=["id", "sex", "age"], taxonomies=rule)
        first, by_sex = found_by(session.anonymize("spring", ill, "second", node={"illness": 0}))
        assert first.reason == by_sex.reason == '"sex" has another hash than is recorded'
        forget(session, "first")
        (by_sex,) = found_by(session.anonymize("spring", ill, "second", node={"illness": 0}, replace=True))
        assert by_sex.joint is not None

    @pytest.mark.parametrize(
        ("treatment", "quasi_identifiers"),
        [
            ({"unknown": {"age": "suppress"}}, (["age", "sex"],)),
            ({"unknown": {"age": "top"}}, (["age"],)),
            ({"bottom_coding": {"age": 22}, "top_coding": {"age": 31}}, (["age", "sex"], ["age"])),
        ],
    )
    def test_values_that_both_treat_alike(
        self, session: sa.Session, treatment: dict[str, Any], quasi_identifiers: tuple[list[str], ...]
    ) -> None:
        """What is counted from cells is what is found in the source, whichever columns both have."""
        forget(session, "first")
        if "unknown" in treatment:
            session.connection.execute("INSERT INTO spring VALUES (8, 99, 'f', 'flu'), (9, 98, 'm', 'flu')")
        fields = {"suppression_limit": 1.0, **treatment}
        session.anonymize("spring", policy(2, **fields), "other", node={"age": 1, "sex": 1})
        for columns in quasi_identifiers:
            fewer = {"quasi_identifiers": columns, "identifiers": ["id", *({"age", "sex"} - {*columns})]}
            node = {name: {"age": 2, "sex": 0}[name] for name in columns}
            wanted = policy(2, **fields, **fewer)
            (found,) = found_by(session.anonymize("spring", wanted, "second", node=node, replace=True))
            assert found.joint is not None
            compared = session.compare_releases(["other", "second"], source="spring")
            facts = {"k", "class_count", "person_count", "unique_persons", "required_k", "persons_at_risk"}
            assert found.joint.model_dump(include=facts) == compared.model_dump(include=facts)

    def test_wherever_it_is(self, session: sa.Session, tmp_path: Path) -> None:
        forget(session, "first")
        session.connection.execute("CREATE SCHEMA other")
        places = [f"{tmp_path}/first.parquet", f"{tmp_path}/first.csv", f"{tmp_path}/first/"]
        for into in (*places, '"a ""b"".c"', "other.first"):
            session.anonymize("spring", policy(earlier="none"), into, node=BY_AGE)
        found = found_by(session.anonymize("spring", policy(), "second", node=BY_SEX))
        assert [joint(each)[0] for each in found] == [2] * 5
        again = session.anonymize("spring", policy(earlier=[each.release for each in found]), "third")
        assert again.report.joint is not None
        assert len(again.report.joint.releases) == 6
