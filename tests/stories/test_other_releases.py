"""What a run finds of other releases of its data set: those that the warehouse lists and the policy does not name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.model.release.joint import OtherRelease
from sqlanon.releases import listing
from sqlanon.run import listed_others
from tests.commands import sqlanon

AGES = [[str(age), f"{age // 5 * 5}-{age // 5 * 5 + 4}", f"{age // 10 * 10}s", "*"] for age in range(20, 60)]
BY_AGE, BY_SEX, BY_NEITHER = {"age": 2, "sex": 1}, {"age": 3, "sex": 0}, {"age": 3, "sex": 1}


@pytest.fixture
def session(tmp_path: Path) -> Iterator[sa.Session]:
    """Eight patients, four of each age in tens and four of each sex, and two of both; "first" shows their ages."""
    with sa.connect(tmp_path / "hospital.duckdb") as session:
        session.taxonomies.load("age", sa.Taxonomy.from_rows(AGES))
        session.taxonomies.load("sex", sa.Taxonomy.from_rows([["f", "*"], ["m", "*"]]))
        session.connection.execute("CREATE TABLE spring (id INTEGER, age INTEGER, sex VARCHAR, illness VARCHAR)")
        people = [(age, sex) for sex in "fm" for age in (21, 22, 31, 32)]
        rows = [(number, age, sex, "flu") for number, (age, sex) in enumerate(people)]
        session.connection.executemany("INSERT INTO spring VALUES (?, ?, ?, ?)", rows)
        session.anonymize("spring", policy(), "first", node=BY_AGE)
        yield session


def policy(k: int = 4, **fields: Any) -> sa.Policy:
    given = {
        "quasi_identifiers": ["age", "sex"],
        "identifiers": ["id"],
        "sensitive": ["illness"],
        "privacy": [sa.KAnonymity(k)],
        "suppression_limit": 0.0,
        **fields,
    }
    return sa.Policy(**given)


def found_by(release: sa.Release) -> Sequence[OtherRelease]:
    """The other releases, each with what is shown of it."""
    assert release.report.findings is not None
    found, shown = release.report.findings.other_releases, "\n".join(release.report.findings.sentences)
    assert all(each.sentence in shown for each in found if each.joint is not None)
    assert all(f'"{each.release}"' in shown and each.reason in shown for each in found if each.reason is not None)
    return found


def reason(release: sa.Release) -> str:
    """Why the only other one is not compared."""
    (found,) = found_by(release)
    assert (found.joint, found.proposal) == (None, None)
    assert found.reason is not None
    return found.reason


class TestJointClasses:
    def test_too_few_persons(self, session: sa.Session) -> None:
        (found,) = found_by(session.anonymize("spring", policy(), "second", node=BY_SEX))
        assert found.joint is not None
        assert (found.release, found.joint.k, found.joint.required_k) == ("first", 2, 4)
        assert (found.joint.class_count, found.joint.person_count, found.joint.persons_at_risk) == (4, 8, 8)
        assert found.sentence == (
            'together with "first", 8 of 8 persons stand in joint classes of fewer than 4, the fewest 2: '
            'earlier = ["first"] holds both together; earlier = "none" says that nobody has both'
        )

    def test_the_proposal_holds_both_together(self, session: sa.Session, tmp_path: Path) -> None:
        (found,) = found_by(session.anonymize("spring", policy(), "second", node=BY_SEX))
        lines = [str(found.proposal), 'quasi_identifiers = ["age", "sex"]', 'identifiers = ["id"]']
        lines += ['sensitive = ["illness"]', "suppression_limit = 0", 'privacy = [{ model = "k-anonymity", k = 4 }]']
        (tmp_path / "policy.toml").write_text("\n".join(lines), encoding="utf-8")
        release = session.anonymize("spring", tmp_path / "policy.toml", "second", replace=True)
        assert release.report.joint is not None
        assert release.report.joint.k == 4
        assert found_by(release) == ()

    def test_enough_persons(self, session: sa.Session) -> None:
        (found,) = found_by(session.anonymize("spring", policy(), "second", node=BY_NEITHER))
        assert found.sentence == 'together with "first", joint classes have 4 persons at least'
        assert found.proposal is None

    def test_values_are_not_judged(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE spring SET illness = 'cold' WHERE id % 2 = 0")
        diverse = policy(privacy=[sa.KAnonymity(4), sa.DistinctLDiversity("illness", 2)])
        (found,) = found_by(session.anonymize("spring", diverse, "second", node=BY_NEITHER))
        assert found.sentence == (
            'together with "first", joint classes have 4 persons at least; whether they meet distinct l-diversity of '
            '"illness" (l = 2) is not known: earlier = ["first"] holds both together'
        )
        mapped = sa.KMap(2, "spring")
        common = policy(privacy=[sa.KAnonymity(4), mapped])
        found, *_ = found_by(session.anonymize("spring", common, "third", node=BY_NEITHER))
        assert found.sentence.endswith(f"whether they meet {mapped} is not known")

    def test_the_other_one_promises_less(self, session: sa.Session) -> None:
        (found,) = found_by(session.anonymize("spring", policy(8), "second", node=BY_NEITHER))
        assert found.joint is not None
        assert (found.joint.k, found.joint.required_k, found.joint.persons_at_risk) == (4, 4, 0)

    def test_what_a_release_leaves_out_is_a_class_of_its_own(self, session: sa.Session) -> None:
        """One woman in her thirties: by sex and age her class is left out, but of the other release she is a part."""
        session.connection.execute("CREATE TABLE autumn AS FROM spring WHERE id NOT IN (2)")
        session.anonymize("autumn", policy(3), "by_age", node=BY_AGE)
        fine = session.anonymize("autumn", policy(2, suppression_limit=0.5), "fine", node={"age": 2, "sex": 0})
        (found,) = found_by(fine)
        assert found.joint is not None
        assert (found.joint.k, found.joint.unique_persons, found.joint.person_count) == (1, 1, 7)

    def test_the_policy_takes_no_earlier_releases(self, session: sa.Session) -> None:
        common = policy(privacy=[sa.KAnonymity(4), sa.KMap(2, "spring")])
        (found,) = found_by(session.anonymize("spring", common, "second", node=BY_SEX))
        assert found.proposal is None
        assert found.sentence.endswith('the fewest 2: earlier = "none" says that nobody has both')

    def test_columns_that_a_release_does_not_have(self, session: sa.Session) -> None:
        session.releases.forget("first", reason="another one is compared")
        session.anonymize("spring", policy(quasi_identifiers=["SEX"], identifiers=["id", "age"]), "by_sex")
        (found,) = found_by(session.anonymize("spring", policy(), "second", node=BY_AGE))
        assert found.joint is not None
        assert (found.joint.k, found.joint.class_count) == (2, 4)

    @pytest.mark.parametrize("by_sex", [{"sex": 0}, {"sex": 1}])
    def test_columns_that_it_alone_has(self, session: sa.Session, by_sex: dict[str, int]) -> None:
        shown = policy(quasi_identifiers=["SEX"], identifiers=["id", "age"])
        (found,) = found_by(session.anonymize("spring", shown, "second", node=by_sex))
        assert found.joint is not None
        assert (found.joint.k, found.joint.class_count) == ((2, 4) if by_sex["sex"] == 0 else (4, 2))

    def test_columns_that_several_have(self, session: sa.Session) -> None:
        """Their taxonomies are of their policies alone."""
        sexes = {"taxonomies": {"sex": {"kind": "flat"}}, "quasi_identifiers": ["sex"], "identifiers": ["id", "age"]}
        session.connection.execute("DELETE FROM anon.taxonomy WHERE attribute = 'sex'")
        session.anonymize("spring", policy(earlier="none", **sexes), "by_sex", node={"sex": 0})
        rule = {"illness": {"kind": "flat"}}
        ill = policy(quasi_identifiers=["illness"], sensitive=[], identifiers=["id", "sex", "age"], taxonomies=rule)
        first, by_sex = found_by(session.anonymize("spring", ill, "second", node={"illness": 0}))
        assert first.reason == '"sex" has another hash than is recorded'
        assert by_sex.reason == first.reason
        session.releases.forget("first", reason="its taxonomy was removed")
        (by_sex,) = found_by(session.anonymize("spring", ill, "second", node={"illness": 0}, replace=True))
        assert by_sex.joint is not None

    @pytest.mark.parametrize("columns", [["age", "sex"], ["age"]])
    @pytest.mark.parametrize(
        "treatment",
        [
            {"unknown": {"age": "suppress"}},
            {"unknown": {"age": "top"}},
            {"bottom_coding": {"age": 22}, "top_coding": {"age": 31}},
        ],
    )
    def test_values_that_both_treat_alike(
        self, session: sa.Session, treatment: dict[str, Any], columns: list[str]
    ) -> None:
        """What is counted from cells is what is found in the source."""
        session.releases.forget("first", reason="another one is compared")
        if "unknown" in treatment:
            session.connection.execute("INSERT INTO spring VALUES (8, 99, 'f', 'flu'), (9, 98, 'm', 'flu')")
        fields = {"suppression_limit": 1.0, **treatment}
        session.anonymize("spring", policy(2, **fields), "other", node={"age": 1, "sex": 1})
        fewer = {"quasi_identifiers": columns, "identifiers": ["id", *({"age", "sex"} - {*columns})]}
        node = {name: {"age": 2, "sex": 0}[name] for name in columns}
        (found,) = found_by(session.anonymize("spring", policy(2, **fields, **fewer), "second", node=node))
        assert found.joint is not None
        compared = session.compare_releases(["other", "second"], source="spring")
        facts = {"k", "class_count", "person_count", "unique_persons", "required_k", "persons_at_risk"}
        assert found.joint.model_dump(include=facts) == compared.model_dump(include=facts)

    @pytest.mark.parametrize("into", ["first.parquet", "first.csv", "first/", 'a "b".c', "other.first"])
    def test_wherever_it_is(self, session: sa.Session, tmp_path: Path, into: str) -> None:
        session.releases.forget("first", reason="another one is compared")
        session.connection.execute("CREATE SCHEMA other")
        place = str(tmp_path / into) + ("/" if into.endswith("/") else "") if "first" in into[:5] else into
        if into.startswith("a "):
            place = '"a ""b"".c"'
        session.anonymize("spring", policy(), place, node=BY_AGE)
        (found,) = found_by(session.anonymize("spring", policy(), "second", node=BY_SEX))
        assert found.joint is not None
        assert found.joint.k == 2
        again = session.anonymize("spring", policy(earlier=[found.release]), "third")
        assert again.report.joint is not None


class TestWhichAreCompared:
    def test_not_the_one_that_is_replaced(self, session: sa.Session) -> None:
        assert found_by(session.anonymize("spring", policy(), "FIRST", node=BY_SEX, replace=True)) == ()

    @pytest.mark.parametrize("earlier", ["none", ["first"], ["FIRST"]])
    def test_not_those_that_the_policy_names(self, session: sa.Session, earlier: Any) -> None:
        assert found_by(session.anonymize("spring", policy(earlier=earlier), "second")) == ()

    def test_not_those_that_are_gone_or_forgotten(self, session: sa.Session) -> None:
        session.anonymize("spring", policy(earlier="none"), "second", node=BY_SEX)
        session.connection.execute("DROP TABLE first")
        session.releases.forget("second", reason="nobody was given it")
        assert found_by(session.anonymize("spring", policy(), "third", node=BY_AGE)) == ()

    def test_not_those_of_other_data_sets(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE summer AS FROM spring")
        assert found_by(session.anonymize("summer", policy(), "second", node=BY_SEX)) == ()

    def test_not_those_of_private_methods(self, session: sa.Session) -> None:
        session.releases.forget("first", reason="another one is compared")
        session.taxonomies.load("illness", sa.Taxonomy.from_rows([["flu", "*"], ["cold", "*"]]))
        private = policy(method=sa.IPA(budget=sa.Budget(1)), privacy=[], suppression_limit=None)
        session.anonymize("spring", private, "drawn")
        assert found_by(session.anonymize("spring", policy(), "second", node=BY_SEX)) == ()

    def test_the_latest(self, session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(listed_others, "MOST", 2)
        looked_at: list[str] = []
        find = listing._states
        monkeypatch.setattr(
            listing, "_states", lambda engine, rows: looked_at.append(rows[0].target) or find(engine, rows)
        )
        for name in ("second", "third"):
            session.anonymize("spring", policy(earlier="none"), name, node=BY_SEX)
        release = session.anonymize("spring", policy(), "fourth", node=BY_AGE)
        assert [each.release for each in found_by(release)] == ["second", "third"]
        assert release.report.findings is not None
        assert any("1 older releases of the data set" in line for line in release.report.findings.sentences)
        assert looked_at == ["third", "second"]

    def test_nothing_is_compared_where_nothing_is_made(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute(f"COPY spring TO '{tmp_path}/spring.parquet'")
        source, into = tmp_path / "spring.parquet", tmp_path / "again.parquet"
        session.anonymize(source, policy(), tmp_path / "file.parquet", node=BY_AGE)
        assert len(found_by(session.anonymize(source, policy(), into, node=BY_SEX))) == 1
        assert session.anonymize(source, policy(), into, node=BY_SEX).report.findings is None


class TestReasons:
    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ("DELETE FROM spring WHERE id = 0", "its source had 8 rows, and this one has 7; name it in earlier"),
            ("UPDATE spring SET age = 31 WHERE id = 0", "its source was another one: 2 of its classes have another"),
        ],
    )
    def test_a_source_that_has_changed(self, session: sa.Session, change: str, expected: str) -> None:
        session.connection.execute(change)
        release = session.anonymize("spring", policy(3), "second", node=BY_SEX)
        assert reason(release).startswith(expected)
        assert reason(release).endswith("with its source as it was then, and the key of a person")

    def test_a_source_with_values_that_its_taxonomies_lack(self, session: sa.Session) -> None:
        session.releases.forget("first", reason="another one is compared")
        session.anonymize("spring", policy(quasi_identifiers=["sex"], identifiers=["id", "age"]), "by_sex")
        session.connection.execute("UPDATE spring SET sex = 'x' WHERE id = 0")
        by_age = policy(quasi_identifiers=["age"], identifiers=["id", "sex"])
        expected = "its source was another one: 1 rows have values now that its taxonomies lack"
        assert reason(session.anonymize("spring", by_age, "second")).startswith(expected)

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ({"individual": "id"}, "its individuals own several rows"),
            ({"method": sa.Relocation(2), "suppression_limit": None, "privacy": []}, "it is not a whole release at a"),
            ({"method": sa.LocalRecoding(), "suppression_limit": None}, "each of its classes has levels of its own"),
            ({"top_coding": {"age": 31}}, "it was made with other taxonomies, codings or unknown values of age"),
            ({"unknown": "suppress"}, "rows with other unknown values were left out of it"),
            ({"unknown": {"age": "top"}}, "it was made with other taxonomies, codings or unknown values of age"),
        ],
    )
    def test_what_the_other_one_is(self, session: sa.Session, change: dict[str, Any], expected: str) -> None:
        session.releases.forget("first", reason="another one is compared")
        session.taxonomies.load("illness", sa.Taxonomy.flat(), source="spring")
        session.anonymize("spring", policy(2, **change), "other")
        assert reason(session.anonymize("spring", policy(), "second", node=BY_SEX)).startswith(expected)

    def test_masked_rows(self, session: sa.Session) -> None:
        session.releases.forget("first", reason="another one is compared")
        session.connection.execute("DELETE FROM spring WHERE id IN (0, 3)")
        masking = policy(2, suppression="mask", suppression_limit=0.5)
        session.anonymize("spring", masking, "other", node={"age": 2, "sex": 0})
        assert reason(session.anonymize("spring", policy(2), "second", node=BY_SEX)).startswith("its masked rows show")
        session.releases.forget("other", reason="another one is compared")
        release = session.anonymize("spring", masking, "third", node={"age": 2, "sex": 0})
        assert reason(release) == "of the release of this run, its masked rows show who was suppressed"

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ({"individual": "id"}, "individuals own several rows of this release"),
            ({"method": sa.LocalRecoding(), "suppression_limit": None}, "only releases of full domains are compared"),
        ],
    )
    def test_what_the_release_is(self, session: sa.Session, change: dict[str, Any], expected: str) -> None:
        assert reason(session.anonymize("spring", policy(2, **change), "second")).startswith(expected)

    def test_one_sentence_for_all_of_the_same_reason(self, session: sa.Session) -> None:
        session.anonymize("spring", policy(earlier="none"), "second", node=BY_AGE)
        release = session.anonymize("spring", policy(individual="id"), "third")
        assert release.report.findings is not None
        assert [line for line in release.report.findings.sentences if "individuals own several rows" in line] == [
            'what the release shows together with "first" or "second" is not known: individuals own several rows of '
            "this release, and a person is to have one"
        ]

    def test_the_policy_names_others(self, session: sa.Session) -> None:
        session.anonymize("spring", policy(earlier="none"), "second", node=BY_AGE)
        release = session.anonymize("spring", policy(earlier=["first"]), "third")
        assert reason(release).endswith("does not name that one: add it to earlier")

    def test_it_was_held_together_with_others(self, session: sa.Session) -> None:
        session.anonymize("spring", policy(earlier=["first"]), "second")
        one, other = found_by(session.anonymize("spring", policy(), "third", node=BY_AGE))
        assert one.joint is not None
        assert other.reason == 'it was held together with "first": name all of them in earlier'

    def test_partitions(self, session: sa.Session, tmp_path: Path) -> None:
        session.releases.forget("first", reason="another one is compared")
        session.partitions.fit("spring", policy(), tmp_path / "fit.json")
        session.partitions.apply("spring", tmp_path / "fit.json", "part")
        release = session.anonymize("spring", policy(), "second", node=BY_AGE)
        assert reason(release).startswith("it is not a whole release at a node, at a cut or by")

    def test_other_taxonomies(self, session: sa.Session) -> None:
        session.taxonomies.load("age", sa.Taxonomy.from_rows([[label, "*"] for label, *_ in AGES]))
        release = session.anonymize("spring", policy(), "second", node={"age": 1, "sex": 0})
        assert reason(release).startswith("it was made with other taxonomies, codings or unknown values of age")

    def test_a_table_of_a_database_that_is_not_attached(self, session: sa.Session, tmp_path: Path) -> None:
        session.releases.forget("first", reason="another one is compared")
        session.connection.execute(f"ATTACH '{tmp_path}/other.duckdb' AS other")
        session.anonymize("spring", policy(), "other.main.first", node=BY_AGE)
        session.connection.execute("DETACH other")
        release = session.anonymize("spring", policy(), "second", node=BY_SEX)
        assert reason(release) == "it cannot be looked at from this session"

    def test_a_file_that_cannot_be_read(self, session: sa.Session, tmp_path: Path) -> None:
        session.releases.forget("first", reason="another one is compared")
        file = tmp_path / "first.parquet"
        session.anonymize("spring", policy(), file, node=BY_AGE)
        written = file.read_bytes()
        file.write_bytes(written[:8] + bytes(40) + written[48:])
        release = session.anonymize("spring", policy(), "second", node=BY_SEX)
        assert reason(release) == "its file was changed since it was written"
        assert session.connection.execute("SELECT count(*) FROM second").fetchone() == (8,)


def test_no_recipient_reads_of_other_releases(session: sa.Session) -> None:
    session.anonymize("spring", policy(), "second", node=BY_SEX)
    query = "SELECT comment FROM duckdb_tables() WHERE table_name = 'second'"
    (comment,) = session.connection.execute(query).fetchone() or ("",)
    assert '"levels"' in comment
    assert "first" not in comment


class TestReports:
    """The report on a published release compares it once more, for whoever approves it and may see the source."""

    @pytest.fixture(autouse=True)
    def second(self, session: sa.Session) -> None:
        session.anonymize("spring", policy(), "second", node=BY_SEX)

    def test_too_few_persons(self, session: sa.Session) -> None:
        report = session.report("second", source="spring")
        (found,) = report.other_releases
        assert found.joint is not None
        assert (found.release, found.joint.k, found.joint.required_k) == ("first", 2, 4)
        assert found.sentence == (
            'together with "first", 8 of 8 persons stand in joint classes of fewer than 4, the fewest 2: '
            'earlier = ["first"] holds both together; earlier = "none" says that nobody has both'
        )
        assert unescape(report.to_html()).count(found.sentence) == 1

    def test_enough_persons(self, session: sa.Session) -> None:
        session.anonymize("spring", policy(), "third", node=BY_NEITHER)
        enough, too_few = session.report("third", source="spring"), session.report("second", source="spring")
        assert [each.is_met for each in enough.other_releases] == [True, True]
        assert [(each.release, each.is_met) for each in too_few.other_releases] == [("first", False), ("third", True)]
        (section,) = [
            part for part in too_few.document().parts if getattr(part, "heading", "") == "Together with other releases"
        ]
        ((good, (met,)), (bad, (unmet,))) = section.parts[0].columns
        assert (good, [each[:25] for each in met.sentences]) == ("good", ['together with "third", joint'[:25]])
        assert (bad, [each[:25] for each in unmet.sentences]) == ("bad", ['together with "first", 8 of'[:25]])

    def test_values_are_judged(self, session: sa.Session) -> None:
        """All who are in their twenties have the flu: "first" shows them, and a cold in their thirties."""
        session.connection.execute("UPDATE spring SET illness = 'cold' WHERE age >= 30")
        session.anonymize("spring", policy(), "first", node=BY_AGE, replace=True)
        session.releases.forget("second", reason="another one is compared")
        diverse = policy(privacy=[sa.KAnonymity(4), sa.DistinctLDiversity("illness", 2)])
        session.anonymize("spring", diverse, "third", node=BY_NEITHER)
        (found,) = session.report("third", source="spring").other_releases
        assert found.joint is not None
        assert (found.joint.k, found.joint.failing_classes, found.unjudged) == (4, 2, ())
        assert found.sentence == (
            'together with "first", 2 joint classes do not meet the privacy models of the release: '
            'earlier = ["first"] holds both together; earlier = "none" says that nobody has both'
        )

    def test_few_persons_are_not_counted(self, session: sa.Session) -> None:
        """One of the two young men is missing, so that the other is alone."""
        session.connection.execute("CREATE TABLE autumn AS FROM spring WHERE id <> 4")
        session.anonymize("autumn", policy(2), "by_age", node=BY_AGE)
        session.anonymize("autumn", policy(2), "by_sex", node=BY_SEX)
        (found,) = session.report("by_sex", source="autumn").other_releases
        assert "fewer than 2 of 7 persons stand in joint classes of fewer than 2, the fewest 1" in found.sentence

    def test_local_recoding(self, session: sa.Session) -> None:
        """A run compares the nodes of full domains alone."""
        local = policy(method=sa.LocalRecoding())
        session.anonymize("spring", local, "local")
        found = {each.release: each.joint for each in session.report("local", source="spring").other_releases}
        assert found.keys() == {"first", "second"}
        assert all(joint is not None and joint.person_count == 8 for joint in found.values())

    def test_a_release_that_was_held_together_with_it(self, session: sa.Session) -> None:
        session.releases.forget("second", reason="another one is compared")
        session.anonymize("spring", policy(earlier=["first"]), "third")
        first, third = (session.report(name, source="spring") for name in ("first", "third"))
        assert (first.other_releases, third.other_releases) == ((), ())

    @pytest.mark.parametrize("given", [None, policy(), policy(earlier="none")])
    def test_a_release_whose_policy_asks_for_none(self, session: sa.Session, given: sa.Policy | None) -> None:
        session.anonymize("spring", policy(earlier="none"), "third", node=BY_SEX)
        assert session.report("third", given, source="spring").other_releases == ()

    def test_a_source_that_has_changed(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE spring SET age = 41 WHERE id = 0")
        (found,) = session.report("second", source="spring").other_releases
        assert found.joint is None
        assert found.sentence.startswith('what the release shows together with "first" is not known: ')

    @pytest.mark.parametrize("asked", [{}, {"source": "spring", "edition": "public"}])
    def test_whoever_may_not_see_the_source_reads_of_none(self, session: sa.Session, asked: dict[str, Any]) -> None:
        report = session.report("second", **asked)
        assert report.other_releases == ()
        assert "first" not in report.to_html() + report.model_dump_json()

    def test_no_label_of_another_release_is_shown(self, session: sa.Session) -> None:
        report = session.report("second", source="spring")
        assert all(each.joint is not None and each.joint.smallest == () for each in report.other_releases)
        assert "20s" not in report.model_dump_json()

    def test_earlier_ones_are_counted_once_more(self, session: sa.Session) -> None:
        held = policy(earlier=["first"])
        session.anonymize("spring", held, "third")
        unseen = 'what it shows together with "first": no source was given, in which its persons are found'
        assert session.report("third").verification.not_covered[-1] == unseen
        assert unseen not in session.report("third", source="spring").verification.not_covered

    def test_earlier_ones_are_found_by_the_policy_that_is_given(self, session: sa.Session) -> None:
        """The provenance has neither the source of an earlier release nor the key."""
        new = "SELECT 8 + i AS id, 21 + i % 2 AS age, 'f' AS sex, 'flu' AS illness FROM range(4) AS _ (i)"
        session.connection.execute(f"CREATE TABLE summer AS FROM spring UNION ALL {new}")
        held = policy(earlier=[sa.Earlier("first", source="spring", key="id")])
        session.anonymize("summer", held, "third")
        recorded, given = (session.report("third", source="summer", policy=each) for each in (None, held))
        assert recorded.verification.met
        assert given.verification.met
        (missed,) = set(recorded.verification.not_covered) - set(given.verification.not_covered)
        assert missed.startswith('what it shows together with "first", which cannot be found out: ')


def test_on_the_command_line(session: sa.Session, tmp_path: Path) -> None:
    session.close()
    fields = {"quasi_identifiers": ["age", "sex"], "identifiers": ["id"], "sensitive": ["illness"]}
    lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
    (tmp_path / "policy.toml").write_text("\n".join([*lines, "[[privacy]]", 'model = "k-anonymity"', "k = 4"]))
    command = ["run", "spring", "--db", "hospital.duckdb", "--policy", "policy.toml", "--node", "age=3,sex=0"]
    run = sqlanon(*command, "--into", "second.parquet", folder=tmp_path)
    assert run.returncode == 0, run.stderr
    assert 'earlier = ["first"] holds both together' in " ".join(run.stderr.split() + run.stdout.split())
    run = sqlanon(*command, "--into", "third.parquet", "--json", folder=tmp_path)
    (found, *_) = json.loads(run.stdout)["report"]["findings"]["other_releases"]
    assert (found["release"], found["joint"]["k"], found["proposal"]) == ("first", 2, 'earlier = ["first"]')
