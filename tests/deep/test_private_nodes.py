"""Nodes of private releases: how likely each is, and how often it is drawn."""

from collections import Counter

import pytest

import sqlanon as sa
from tests.stories.test_epsilon_safe import POLICY, fill


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
