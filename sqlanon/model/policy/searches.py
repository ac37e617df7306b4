"""What is searched for, the names of the searches, and which of them conclude from monotonicity."""

from __future__ import annotations

from typing import Literal

Objective = Literal["utility", "privacy"]
"""The least loss that meets the privacy models, or the most privacy within a loss."""

SearchName = Literal["optimal", "exhaustive", "ola", "datafly", "samarati", "incognito"]
"""The searches for utility."""

INVERSE_OLA: Literal["inverse-ola"] = "inverse-ola"
"""The search for privacy, of which there is one. Before 1.0 policies asked for the objective by this name."""

AlgorithmName = Literal[SearchName, "inverse-ola"]
"""All searches, as reports name them."""

NEED_MONOTONIC_PRIVACY: frozenset[AlgorithmName] = frozenset({"ola", INVERSE_OLA, "samarati", "incognito"})
"""They conclude from a node that satisfies or fails to the nodes above or below it, so they are sound for monotonic
privacy models only. Without suppression most are (``Policy.is_monotonic``)."""

NEED_MONOTONIC_QUALITY: frozenset[AlgorithmName] = frozenset({"ola", INVERSE_OLA, "incognito"})
"""They look for the best node among the minimal or maximal ones only. Without suppression all models are monotonic."""

HOLD_EVERY_NODE: frozenset[AlgorithmName] = frozenset({"exhaustive", "ola", INVERSE_OLA, "incognito"})
"""They hold arrays with an entry per node; the others work on lattices of any size."""
