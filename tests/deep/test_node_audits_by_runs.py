"""The choice of a node: under audit by runs, broken ones, and how likely each node is and how often it is drawn."""

from collections import Counter
from collections.abc import Callable

import pytest

import sqlanon as sa
from tests.full.test_node_audits import METHODS, at_the_threshold
from tests.node_choices import Neighbours, NotedChoices, policy
from tests.stories.test_epsilon_safe import POLICY, fill

RUNS = 5_000


CONFIDENCE = 0.9999
"""One in 10,000 audits may call a sound mechanism a violation; the seeds are fixed, so that it is settled by now."""


def audited(neighbours: Neighbours, wanted: sa.IPA, changed: Callable[[int], int] = int) -> sa.evaluation.Audit:
    mechanism = sa.evaluation.repeatable(neighbours.session(), policy(wanted), NotedChoices(changed))
    return sa.evaluation.audit_privacy(mechanism, "without", "with_one", RUNS, CONFIDENCE)


class TestByRuns:
    """Without a look inside: what a release would show, as an audit of a policy has it."""

    @pytest.mark.parametrize("name", ["a row", "seven rows of one"])
    def test_no_violation_is_found(self, name: str) -> None:
        wanted = METHODS[name]
        audit = audited(at_the_threshold(wanted), wanted)
        assert not audit.violates
        assert audit.lower_bound > 0.6, "else that it finds nothing would say nothing"

    @pytest.mark.parametrize(
        ("name", "changed"),
        [
            ("a row", lambda sensitivity: sensitivity // 2),
            ("two rows of one", lambda sensitivity: sensitivity // 2),
            ("seven rows of one", lambda sensitivity: sensitivity // 7),
        ],
        ids=["half of a row", "one of two rows", "one of seven rows"],
    )
    def test_a_sensitivity_that_is_too_small_is_found(self, name: str, changed: Callable[[int], int]) -> None:
        wanted = METHODS[name]
        audit = audited(at_the_threshold(wanted), wanted, changed)
        assert audit.violates
        assert audit.lower_bound > 1.5


def test_probabilities_are_those_of_what_is_drawn() -> None:
    with sa.connect() as session:
        fill(session)
        found = sa.evaluation.node_probabilities(session, "people", POLICY, is_public=True)
        assert sum(each.probability for each in found) == pytest.approx(1)
        assert [each.probability for each in found] == sorted((each.probability for each in found), reverse=True)
        drawn = Counter(
            tuple(
                session.anonymize(
                    "people", POLICY, "drawn", replace=True, random_source=sa.SeededSource(seed)
                ).report.node.items()
            )
            for seed in range(30)
        )
        likely = {tuple(each.node.items()): each.probability for each in found}
        assert likely.keys() >= drawn.keys()
        assert drawn.most_common(1)[0][0] in [tuple(each.node.items()) for each in found[:2]]
