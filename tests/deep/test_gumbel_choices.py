"""Choices by Gumbel noise among candidates that are close to one another."""

import pytest

from sqlanon.chance.random_source import RandomSource
from tests.full.test_samplers import refuse_gumbel_choice, source

__all__ = ["source"]


@pytest.mark.parametrize("sensitivity", [1, 3])
def test_gumbel_choice(source: RandomSource, sensitivity: int) -> None:
    refuse_gumbel_choice(source, sensitivity, [0, 3, 5, 4], 60_000)
