"""Which other releases are compared with that of a run, and why others are not."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.model.release.joint import OtherRelease
from sqlanon.run import others
from tests.stories.test_earlier_releases import AGES
from tests.stories.test_other_releases import BY_AGE, BY_SEX, forget, found_by, joint, policy
from tests.stories.test_other_releases import make_warehouse as make_warehouse

OTHERWISE = "it was made with other taxonomies, codings or unknown values of age"
WITHOUT_CLASSES = "its classes cannot be found again: it is not one whole release at a node, at a cut or by"
OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "of_individuals": ({"individual": "id"}, "its individuals own several rows"),
    "moved": ({"method": sa.Relocation(2), "suppression_limit": None, "privacy": []}, WITHOUT_CLASSES),
    "local": ({"method": sa.LocalRecoding(), "suppression_limit": None}, "each of its classes has levels of its own"),
    "coded": ({"top_coding": {"age": 31}}, OTHERWISE),
    "suppressed": ({"unknown": "suppress"}, "rows with other unknown values were left out of it"),
    "at_the_top": ({"unknown": {"age": "top"}}, OTHERWISE),
    "of_illness": (
        {"quasi_identifiers": ["illness"], "sensitive": [], "identifiers": ["id", "sex", "age"]},
        "its source was another one: 1 rows have values now that its taxonomies lack",
    ),
}
"""Policies of other releases, and why these are not compared with one of six rows."""


class TestReasons:
    def test_what_the_others_are(self, session: sa.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A policy cannot name some of them either."""
        monkeypatch.setattr(others, "MAX_OTHERS", 20)
        session.taxonomies.load("illness", sa.Taxonomy.flat(), source="spring")
        session.connection.execute("DELETE FROM spring WHERE id IN (0, 3); UPDATE spring SET age = 31 WHERE id = 1")
        alone = policy(2, earlier="none")
        session.taxonomies.load("age", sa.Taxonomy.from_rows([[label, "*"] for label, *_ in AGES]))
        session.anonymize("spring", alone, "otherwise", node={"age": 1, "sex": 0})
        session.taxonomies.load("age", sa.Taxonomy.from_rows(AGES))
        session.anonymize("spring", alone, "aged", node=BY_AGE)
        session.connection.execute("UPDATE spring SET age = 22 WHERE id = 1")
        masking = alone.changed({"suppression": "mask", "suppression_limit": 0.5})
        session.anonymize("spring", masking, "masked", node={"age": 2, "sex": 0})
        for name, (fields, _) in OTHERS.items():
            earlier = {} if "method" in fields else {"earlier": "none"}
            session.anonymize("spring", policy(2, **fields, **earlier), name)
        session.partitions.fit("spring", policy(2), tmp_path / "fit.json")
        session.partitions.apply("spring", tmp_path / "fit.json", "part")
        session.connection.execute(f"ATTACH '{tmp_path}/other.duckdb' AS other")
        file = tmp_path / "first.parquet"
        for into in ("other.main.first", file):
            session.anonymize("spring", alone, into, node=BY_AGE)
        session.connection.execute("DETACH other; UPDATE spring SET illness = 'x' WHERE id = 7")
        written = file.read_bytes()
        file.write_bytes(written[:8] + bytes(40) + written[48:])
        expected = {
            "first": "its source had 8 rows, and this one has 6; name it in earlier",
            "aged": "its source was another one: 2 of its classes have another",
            "otherwise": OTHERWISE,
            "masked": "its masked rows show who was suppressed",
            **{name: reason for name, (_, reason) in OTHERS.items()},
            f"{tmp_path}/fit.json": WITHOUT_CLASSES,
            "other.main.first": "this session cannot read it",
            str(file): "its file was changed since it was written",
        }
        without_illness = policy(2, sensitive=[], identifiers=["id", "illness"])
        found = found_by(session.anonymize("spring", without_illness, "second", node=BY_SEX))
        for each in found:
            assert (each.joint, each.proposal) == (None, None)
            assert (each.reason or "").startswith(expected[each.release])
        assert sorted(each.release for each in found) == sorted(expected)
        reasons = {each.release: each.reason or "" for each in found}
        for name in ("first", "aged"):
            assert reasons[name].endswith("with its source as it was then, and the key of a person")
        for name in ("of_individuals", "moved", "masked", "part"):
            with pytest.raises(sa.PolicyError, match=expected.get(name, WITHOUT_CLASSES)):
                session.anonymize("spring", policy(2, earlier=[name]), "third")

    def test_what_the_release_is(self, session: sa.Session) -> None:
        session.anonymize("spring", policy(earlier="none"), "second", node=BY_AGE)
        (second,) = found_by(session.anonymize("spring", policy(earlier=["first"]), "held"))
        assert (second.release, second.joint) == ("second", None)
        assert (second.reason or "").endswith("does not name that one: add it to earlier")
        *others, held = found_by(session.anonymize("spring", policy(), "third", node=BY_AGE))
        assert [each.release for each in others if each.joint is not None] == ["first", "second"]
        assert held.reason == 'it was held together with "first": name all of them in earlier'
        forget(session, "held")
        local = policy(2, method=sa.LocalRecoding(), suppression_limit=None)
        for each in found_by(session.anonymize("spring", local, "third", replace=True)):
            assert (each.reason or "").startswith("only releases of full domains are compared")
        release = session.anonymize("spring", policy(2, individual="id"), "third", replace=True)
        assert release.report.findings is not None
        assert [line for line in release.report.findings.sentences if "individuals own several rows" in line] == [
            'what the release shows together with "first" or "second" is not known: individuals own several rows of '
            "this release, where a comparison needs one row per person"
        ], "one sentence for all of the same reason"
        session.connection.execute("DELETE FROM spring WHERE id IN (0, 3)")
        masking = policy(2, suppression="mask", suppression_limit=0.5)
        found = found_by(session.anonymize("spring", masking, "third", node={"age": 2, "sex": 0}, replace=True))
        assert [each.reason for each in found] == [
            "of the release of this run, its masked rows show who was suppressed"
        ] * 2


class TestCompared:
    def test_columns_that_several_have(self, session: sa.Session) -> None:
        """Their taxonomies are of their policies alone."""
        sexes = {"taxonomies": {"sex": {"kind": "flat"}}, "quasi_identifiers": ["sex"], "identifiers": ["id", "age"]}
        session.connection.execute("DELETE FROM anon.taxonomy WHERE attribute = 'sex'")
        session.anonymize("spring", policy(earlier="none", **sexes), "by_sex", node={"sex": 0})
        aged = policy(quasi_identifiers=["age"], identifiers=["id", "sex"])
        first, by_sex = found_by(session.anonymize("spring", aged, "second", node={"age": 3}))
        assert first.reason == by_sex.reason == '"sex" does not have the recorded hash'
        joint_classes = session.compare_releases(["by_sex", "second"], source="spring")
        assert (joint_classes.k, joint_classes.class_count) == (4, 2)

    def test_values_that_both_treat_alike(self, session: sa.Session) -> None:
        """What is counted from cells is what is found in the source, whichever columns both have."""
        forget(session, "first")
        session.connection.execute("INSERT INTO spring VALUES (8, 99, 'f', 'flu'), (9, 98, 'm', 'flu')")
        known = "FROM spring WHERE age < 90"
        treatments: list[tuple[str, dict[str, Any], list[str]]] = [
            ("spring", {"unknown": {"age": "suppress"}}, ["age", "sex"]),
            ("spring", {"unknown": {"age": "top"}}, ["age"]),
            (known, {"bottom_coding": {"age": 22}, "top_coding": {"age": 31}}, ["age"]),
        ]
        for source, treatment, columns in treatments:
            fields = {"suppression_limit": 1.0, **treatment}
            other = policy(2, **fields, earlier="none")
            session.anonymize(source, other, "other", node={"age": 1, "sex": 1}, replace=True)
            fewer = {"quasi_identifiers": columns, "identifiers": ["id", *({"age", "sex"} - {*columns})]}
            node = {name: {"age": 2, "sex": 0}[name] for name in columns}
            (found,) = found_by(session.anonymize(source, policy(2, **fields, **fewer), "second", node=node))
            assert found.joint is not None
            compared = session.compare_releases(["other", "second"], source=source)
            facts = {"k", "class_count", "person_count", "unique_persons", "required_k", "persons_at_risk"}
            assert found.joint.model_dump(include=facts) == compared.model_dump(include=facts)
            forget(session, "second")
            session.connection.execute("DROP TABLE second")

    def test_wherever_it_is(self, session: sa.Session, tmp_path: Path) -> None:
        forget(session, "first")
        session.connection.execute("CREATE SCHEMA other")
        places = [f"{tmp_path}/first.parquet", f"{tmp_path}/first.csv", f"{tmp_path}/first/"]
        for into in (*places, '"a ""b"".c"', "other.first"):
            session.anonymize("spring", policy(earlier="none"), into, node=BY_AGE)
        found = found_by(session.anonymize("spring", policy(), "second", node=BY_SEX))
        assert [joint(each)[0] for each in found] == [2] * 5
        joint_classes = session.compare_releases([*(each.release for each in found), "second"], source="spring")
        assert (len(joint_classes.releases), joint_classes.k) == (6, 2)


class TestWhichAreCompared:
    def test_not_the_one_that_is_replaced(self, session: sa.Session) -> None:
        assert found_by(session.anonymize("spring", policy(), "FIRST", node=BY_SEX, replace=True)) == ()

    def test_not_those_that_the_policy_names(self, session: sa.Session) -> None:
        for earlier in ("none", ["FIRST"]):
            assert found_by(session.anonymize("spring", policy(earlier=earlier), "second", replace=True)) == ()

    def test_not_those_that_are_gone_or_forgotten_of_other_data_sets_or_of_private_methods(
        self, session: sa.Session, tmp_path: Path
    ) -> None:
        session.anonymize("spring", policy(earlier="none"), "second", node=BY_SEX)
        session.connection.execute("DROP TABLE first; CREATE TABLE summer AS FROM spring")
        forget(session, "second")
        session.taxonomies.load("illness", sa.Taxonomy.from_rows([["flu", "*"], ["cold", "*"]]))
        private = policy(method=sa.IPA(budget=sa.Budget(1)), privacy=[], suppression_limit=None)
        sa.connect(session.connection, ledger=tmp_path / "ledger").anonymize("spring", private, "drawn")
        assert found_by(session.anonymize("spring", policy(), "third", node=BY_AGE)) == ()
        assert found_by(session.anonymize("summer", policy(), "fourth", node=BY_SEX)) == ()

    def test_the_latest(self, session: sa.Session, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(others, "MAX_OTHERS", 2)
        for name in ("second", "third"):
            session.anonymize("spring", policy(earlier="none"), name, node=BY_SEX)
        release = session.anonymize("spring", policy(), "fourth", node=BY_AGE)
        assert [each.release for each in found_by(release)] == ["second", "third"]
        assert release.report.findings is not None
        assert any("1 older releases of the data set" in line for line in release.report.findings.sentences)

    def test_nothing_is_compared_where_nothing_is_made(self, session: sa.Session, tmp_path: Path) -> None:
        session.connection.execute(f"COPY spring TO '{tmp_path}/spring.parquet'")
        source, into = tmp_path / "spring.parquet", tmp_path / "again.parquet"
        session.anonymize(source, policy(), tmp_path / "file.parquet", node=BY_AGE)
        assert len(found_by(session.anonymize(source, policy(), into, node=BY_SEX))) == 1
        assert session.anonymize(source, policy(), into, node=BY_SEX).report.findings is None


@pytest.mark.parametrize("suffix", [".csv", pytest.param(".parquet", marks=pytest.mark.deep)])
def test_those_beside_a_file_without_a_list(suffix: str, tmp_path: Path) -> None:
    """Each release of a file is judged with those in its folder, though no warehouse knows them."""
    lines = [f"{number},{['f', 'm'][number % 2]},{20 + number // 4}" for number in range(40)]
    (tmp_path / "people.csv").write_text("\n".join(["id,sex,age", *lines, ""]))
    (tmp_path / "notes.csv").write_text("a\n1\n")
    (tmp_path / "notes.csv.sqlanon.json").write_text("{}")
    rules = {"age": {"kind": "intervals", "widths": [2], "minimum": 20, "maximum": 29}, "sex": {"kind": "flat"}}
    wanted = {"identifiers": ["id"], "privacy": [{"model": "k-anonymity", "k": 4}], "taxonomies": rules}
    wanted["quasi_identifiers"] = ["age", "sex"]
    source, first, other = (str(tmp_path / name) for name in ("people.csv", f"first{suffix}", f"other{suffix}"))

    def released(target: str, node: dict[str, int], **fields: Any) -> Sequence[OtherRelease]:
        with sa.connect(threads=1) as session:
            return found_by(session.anonymize(source, {**wanted, **fields}, target, node=node))

    assert released(first, {"age": 0, "sex": 1}) == ()
    [found] = released(other, {"age": 1, "sex": 0})
    assert (found.release, joint(found)) == (first, (2, 20))
    assert found.proposal == f'earlier = ["{first}"]'
    with sa.connect(threads=1) as session:
        in_report = session.report(other, source=source).other_releases
        assert [(each.release, joint(each)) for each in in_report] == [(first, (2, 20))]
    assert released(str(tmp_path / f"third{suffix}"), {"age": 1, "sex": 0}, earlier="none") == ()
    Path(source).write_text(Path(source).read_text() + "41,f,29\n")
    assert released(str(tmp_path / f"later{suffix}"), {"age": 1, "sex": 1}) == ()
