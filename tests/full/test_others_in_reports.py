"""What a report shows of a release together with others of its source."""

from html import unescape
from pathlib import Path
from typing import Any

import pytest

import sqlanon as sa
from tests.stories import test_other_releases
from tests.stories.test_other_releases import BY_AGE, BY_NEITHER, BY_SEX, TOO_FEW, forget, policy


def make_warehouse(path: Path) -> sa.Session:
    """The patients with "first", which shows their ages, and "second", which shows their sexes."""
    session = test_other_releases.make_warehouse(path)
    session.anonymize("spring", policy(), "second", node=BY_SEX)
    return session


class TestReports:
    """The report on a published release compares it once more, for whoever approves it and may see the source."""

    def test_too_few_persons(self, session: sa.Session) -> None:
        """No label of another release is shown, and nothing to whoever may not see the source."""
        report = session.report("second", source="spring")
        (found,) = report.other_releases
        assert found.joint is not None
        assert (found.release, found.joint.k, found.joint.required_k) == ("first", 2, 4)
        assert (found.sentence, found.joint.smallest) == (TOO_FEW, ())
        assert unescape(report.to_html()).count(found.sentence) == 1
        assert "20s" not in report.model_dump_json()
        asked: tuple[dict[str, Any], ...] = ({}, {"source": "spring", "edition": "public"})
        for report in (session.report("second", **options) for options in asked):
            assert report.other_releases == ()
            assert "first" not in report.to_html() + report.model_dump_json()

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
        forget(session, "second")
        diverse = policy(privacy=[sa.KAnonymity(4), sa.DistinctLDiversity("illness", 2)])
        session.anonymize("spring", diverse, "third", node=BY_NEITHER)
        (found,) = session.report("third", source="spring").other_releases
        assert found.joint is not None
        assert (found.joint.k, found.joint.failing_classes, found.unjudged) == (4, 2, ())
        assert found.sentence == (
            'together with "first", 2 joint classes do not meet the privacy models of the release: '
            'earlier = ["first"] holds both together; earlier = "none" says that nobody has both'
        )

    @pytest.mark.deep
    def test_few_persons_are_not_counted(self, session: sa.Session) -> None:
        """One of the two young men is missing, so that the other is alone."""
        session.connection.execute("CREATE TABLE autumn AS FROM spring WHERE id <> 4")
        session.anonymize("autumn", policy(2, earlier="none"), "by_age", node=BY_AGE)
        session.anonymize("autumn", policy(2), "by_sex", node=BY_SEX)
        (found,) = session.report("by_sex", source="autumn").other_releases
        assert "fewer than 2 of 7 persons stand in joint classes of fewer than 2, the fewest 1" in found.sentence

    @pytest.mark.deep
    def test_local_recoding(self, session: sa.Session) -> None:
        """A run compares the nodes of full domains alone."""
        session.anonymize("spring", policy(method=sa.LocalRecoding()), "local")
        found = {each.release: each.joint for each in session.report("local", source="spring").other_releases}
        assert found.keys() == {"first", "second"}
        assert all(found is not None and found.person_count == 8 for found in found.values())

    @pytest.mark.deep
    def test_a_release_that_was_held_together_with_it(self, session: sa.Session) -> None:
        forget(session, "second")
        session.anonymize("spring", policy(earlier=["first"]), "third")
        first, third = (session.report(name, source="spring") for name in ("first", "third"))
        assert (first.other_releases, third.other_releases) == ((), ())
        unseen = 'what it shows together with "first": no source was given, in which its persons are found'
        assert session.report("third").verification.not_covered[-1] == unseen
        assert unseen not in third.verification.not_covered

    def test_a_policy_that_asks_for_none_and_a_source_that_has_changed(self, session: sa.Session) -> None:
        session.anonymize("spring", policy(earlier="none"), "third", node=BY_SEX)
        for given in (None, policy()):
            assert session.report("third", given, source="spring").other_releases == ()
        forget(session, "third")
        session.connection.execute("UPDATE spring SET age = 41 WHERE id = 0")
        (found,) = session.report("second", source="spring").other_releases
        assert found.joint is None
        assert found.sentence.startswith('what the release shows together with "first" is not known: ')

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
        assert missed.startswith('what it shows together with "first", which cannot be determined: ')
