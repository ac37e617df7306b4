"""The names of the searches, and which of them conclude from monotonicity."""

from __future__ import annotations

from typing import Literal

SearchName = Literal["optimal", "exhaustive", "ola", "inverse-ola", "datafly", "samarati", "incognito"]

NEED_MONOTONIC_PRIVACY: frozenset[SearchName] = frozenset({"ola", "inverse-ola", "samarati", "incognito"})
"""They conclude from a node that satisfies or fails to the nodes above or below it, so they are sound for monotonic
privacy models only. Without suppression most are (``Policy.is_monotonic``)."""

NEED_MONOTONIC_QUALITY: frozenset[SearchName] = frozenset({"ola", "inverse-ola", "incognito"})
"""They look for the best node among the minimal or maximal ones only. Without suppression all models are monotonic."""

HOLD_EVERY_NODE: frozenset[SearchName] = frozenset({"exhaustive", "ola", "inverse-ola", "incognito"})
"""They hold arrays with an entry per node; the others work on lattices of any size."""
