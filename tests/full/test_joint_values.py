"""Models of sensitive values in joint classes of releases that are held together."""

from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from sqlanon.model.privacy import PrivacyModel
from tests.stories.test_earlier_releases import AUTUMN, SPRING, SUMMER, ages, at, copy, joint, load, policy
from tests.stories.test_earlier_releases import make_warehouse as make_taxonomies

FALL_SHORT = r'some joint classes of .*"first".* already violate distinct .* \(how many: 1\)'
LOCAL = {"method": sa.LocalRecoding(suppression_limit=0.9), "suppression_limit": None}


def make_warehouse(path: Path) -> sa.Session:
    """Patients in spring, of whom those from 25 to 29 have one illness, their first release, and the same in summer."""
    session = make_taxonomies(path)
    load(session, "spring", [21, 22, 23, 24, 26, 27, 28, 29])
    load(session, "spring", [31, 32, 33, 34], first=9, sex="m")
    has_a_cold(session, "spring", "age IN (22, 24, 33)")
    copy(session, "summer", "spring")
    illnesses = [("flu", "grave", "*"), ("plague", "grave", "*"), ("cold", "slight", "*")]
    session.taxonomies.load("illness", sa.Taxonomy.from_rows(illnesses))
    session.anonymize("spring", held(), "first", **at(2))
    return session


def has_a_cold(session: sa.Session, table: str, where: str) -> None:
    session.connection.execute(f"UPDATE {table} SET illness = 'cold' WHERE {where}")


def held(*earlier: str | sa.Earlier, **fields: Any) -> sa.Policy:
    """A policy beside earlier releases; without any, no release is looked at as another one."""
    models = [sa.KAnonymity(4), sa.DistinctLDiversity("illness", 2)]
    return policy(**{"privacy": models, "suppression_limit": 0.9, "earlier": earlier or "none", **fields})


def by_sex(**fields: Any) -> sa.Policy:
    return held("first", quasi_identifiers=["sex"], identifiers=["id", "age"], **fields)


class TestOneSource:
    def test_hidden_persons_have_several_illnesses_too(self, session: sa.Session) -> None:
        """All four from 25 to 29 with one illness are hidden: who saw the first release knows it of them."""
        second = session.anonymize("spring", held("first"), "second", **at(1))
        assert ages(session, "second") == {"30-34": 4}
        assert joint(second) == (4, 2)
        third = session.anonymize("spring", held("first", "second"), "third", **at(2))
        assert ages(session, "third") == {"20s": 8, "30s": 4}
        assert joint(third)[1] == 2
        assert [line for line in third.guarantee.claims if "every joint class meets distinct l-diversity" in line]

    def test_verification_finds_joint_classes_with_one_illness(self, session: sa.Session) -> None:
        session.anonymize("spring", held(), "second", **at(1))
        found = session.compare_releases(["first", "second"], source="spring")
        assert (found.k, found.met, found.failing_classes) == (4, False, 1)
        verification = session.verify("second", held("first"), source="spring", strict=False)
        assert verification.shortfalls == ('together with "first": 1 joint classes do not meet its privacy models',)

    def test_earlier_releases_that_fall_short_already(self, session: sa.Session) -> None:
        """Also of a class of the first that the second hides, and of persons who have changed since."""
        session.anonymize("spring", policy(earlier="none"), "first", replace=True, **at(1))
        session.anonymize("spring", held(), "second", **at(1))
        assert "25-29" not in ages(session, "second")
        for source, earlier in (("spring", ["first", "second"]), ("summer", [SPRING])):
            with pytest.raises(sa.UnsatisfiableError, match=FALL_SHORT):
                session.anonymize(source, held(*earlier), "third")

    def test_values_that_no_earlier_release_shows(self, session: sa.Session) -> None:
        without = policy(sensitive=[], identifiers=["id", "sex", "illness"], earlier="none")
        session.anonymize("spring", without, "first", replace=True, **at(2))
        session.anonymize("spring", held("first"), "second", **at(1))
        assert ages(session, "second") == {"20-24": 4, "30-34": 4}
        has_a_cold(session, "summer", "age IN (27, 28)")
        session.anonymize("summer", held(SPRING), "third", **at(1))
        assert ages(session, "third") == {"20-24": 4, "25-29": 4, "30-34": 4}

    def test_persons_whom_no_earlier_release_shows_may_be_hidden(self, session: sa.Session) -> None:
        has_a_cold(session, "spring", "age IN (27, 28)")
        load(session, "spring", [22, 51, 52, 53], first=13)
        by_five = held(privacy=[sa.KAnonymity(5), sa.DistinctLDiversity("illness", 2)])
        session.anonymize("spring", by_five, "first", replace=True, **at(1))
        assert ages(session, "first") == {"20-24": 5}
        session.anonymize("spring", held("first"), "second", **at(1))
        assert ages(session, "second") == {"20-24": 5, "25-29": 4, "30-34": 4}


class TestChangedValues:
    """Of persons who come, go and change."""

    def test_values_of_the_first_release_stay_diverse(self, session: sa.Session) -> None:
        """In summer those from 25 to 29 have two illnesses, and in spring all had the flu."""
        has_a_cold(session, "summer", "age IN (27, 28)")
        alone = session.anonymize("summer", held(), "alone", **at(1))
        assert ages(session, "alone") == {"20-24": 4, "25-29": 4, "30-34": 4}
        second = session.anonymize("summer", held(SPRING), "second", **at(1))
        assert ages(session, "second") == {"30-34": 4}
        assert (joint(second), second.report.loss_alone) == ((4, 2), alone.report.loss)
        together = session.compare_releases([SPRING, sa.Earlier("alone", source="summer", key="id")], source="summer")
        assert (together.k, together.failing_classes, together.met) == (4, 1, False)
        session.connection.execute("DROP TABLE alone")
        session.connection.execute("CREATE TABLE autumn AS SELECT * REPLACE (age + 1 AS age) FROM summer")
        third = session.anonymize("autumn", held(SPRING, SUMMER), "third", **at(2))
        assert joint(third)[0] == 4
        assert [line for line in third.guarantee.claims if "every joint class meets distinct l-diversity" in line]
        assert session.verify("third", held(SPRING, SUMMER), source="autumn").met
        assert session.compare_releases([SPRING, SUMMER, AUTUMN], source="autumn").failing_classes == 0

    @pytest.mark.parametrize(
        "model",
        [
            sa.TCloseness("illness", 0.2, distance="ordered"),
            sa.BetaLikeness("illness", 0.5),
            sa.DeltaDisclosure("illness", 0.8),
        ],
        ids=str,
    )
    def test_shares_are_compared_with_the_source_that_had_them(self, session: sa.Session, model: PrivacyModel) -> None:
        """In spring one of four had a cold, of those from 20 to 24 two; in summer it is one in each class."""
        close = {"privacy": [sa.KAnonymity(4), model]}
        session.connection.execute("UPDATE summer SET illness = if(age IN (21, 26, 31), 'cold', 'flu')")
        second = session.anonymize("summer", held(SPRING, **close), "second", **at(1))
        assert ages(session, "second") == {"30-34": 4}
        compared = "compared with all rows of the source of that release"
        assert [line for line in second.guarantee.claims if compared in line]

    @pytest.mark.deep
    def test_values_of_a_source_that_the_taxonomy_lacks(self, session: sa.Session) -> None:
        session.connection.execute("UPDATE spring SET illness = 'gout' WHERE age IN (21, 26, 31)")
        session.anonymize("spring", held(), "first", replace=True, **at(2))
        by_labels = [sa.KAnonymity(4), sa.TCloseness("illness", 0.9, distance="hierarchical")]
        with pytest.raises(sa.TaxonomyError) as raised:
            session.anonymize("summer", held(SPRING, privacy=by_labels), "second")
        assert raised.value.problems == ('"illness": 1 distinct value',)
        session.anonymize("summer", held(SPRING), "second", **at(2))

    def test_a_class_whose_values_do_not_hide_whoever_left(self, session: sa.Session) -> None:
        """One person with the flu has left the twenties; 3 of the 5 persons up to 24 have the flu.

        If the release hid these alone, 4 of 6 hidden persons would have the flu.
        """
        load(session, "spring", [20, 25, 25, 25], first=20)
        has_a_cold(session, "spring", "age IN (27, 28, 29, 31)")
        models = {"privacy": [sa.KAnonymity(4), sa.AlphaKAnonymity("illness", 0.6, 4)]}
        session.anonymize("spring", held(**models), "first", replace=True, **at(2))
        copy(session, "summer", "spring", "id <> 21")
        session.anonymize("summer", held(SPRING, **models, **LOCAL), "second")
        assert ages(session, "second") == {"30-34": 4}

    @pytest.mark.deep
    def test_columns_that_are_spelled_or_typed_otherwise(self, session: sa.Session) -> None:
        session.connection.execute("CREATE TABLE codes AS SELECT * REPLACE (len(illness) AS illness) FROM summer")
        session.connection.execute('ALTER TABLE codes RENAME illness TO "Illness"')
        models = [sa.KAnonymity(4), sa.AlphaKAnonymity("Illness", 0.8, 4)]
        renamed = held(SPRING, sensitive=["Illness"], privacy=models)
        session.anonymize("codes", renamed, "second", **at(2))
        assert ages(session, "second") == {"20s": 8, "30s": 4}
        assert session.verify("second", renamed, source="codes").met
