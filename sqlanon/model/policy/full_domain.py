"""The settings of full-domain generalization, the method of a policy that names no other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from sqlanon.model.base import NotNegative, Share
from sqlanon.model.policy.searches import Objective, SearchName
from sqlanon.model.policy.settings import MethodSettings

Suppression = Literal["drop", "mask"]


class FullDomain(MethodSettings):
    """Full-domain generalization with suppression: one node of the lattice for the whole table, found by a search.

    A policy has these settings as fields of its own, too, and either place will do: what is given here is what is given
    there. A policy that gives one in both places, and not the same, is refused.

    Args:
        search: ``"optimal"`` finds the best node with few checks, ``"exhaustive"`` checks every node. ``"ola"``
            (El Emam 2009), ``"incognito"`` (LeFevre 2005) and ``"samarati"`` (2001; a node of least height) need
            monotonic models or no suppression; ``"datafly"`` (Sweeney 2002) is a heuristic.
        objective: ``"utility"`` is the least loss that meets the privacy models. ``"privacy"`` turns the question
            round: the largest k within ``max_loss``, or the smallest m if the policy has an ``MConcealing``; the other
            models of the policy, if any, hold as well. It is found by Inverse OLA (Mazzone 2019), which needs monotonic
            models and a monotonic loss, or no suppression; ``search="inverse-ola"`` in older policies is that.
        max_loss: for the objective ``"privacy"``, the loss that the release may have at most, in the unit of the
            ``quality`` of the policy.
        suppression_limit: share of rows that may be suppressed, in [0, 1], inclusive; 0 if it is not given.
        suppression: ``"drop"`` leaves suppressed rows out; ``"mask"`` keeps them with ``*`` in every
            quasi-identifier if the masked rows meet the privacy models as a class, and drops them otherwise.

    Raises:
        PolicyError: listing every problem at once.
    """

    model: Literal["full-domain"] = "full-domain"
    search: SearchName = "optimal"
    objective: Objective = "utility"
    max_loss: NotNegative | None = None
    suppression_limit: Share = 0.0
    suppression: Suppression = "drop"

    def __init__(
        self,
        *,
        search: SearchName | None = None,
        objective: Objective | None = None,
        max_loss: float | None = None,
        suppression_limit: float | None = None,
        suppression: Suppression | None = None,
        **unknown: Any,
    ) -> None:
        given = {
            "search": search,
            "objective": objective,
            "max_loss": max_loss,
            "suppression_limit": suppression_limit,
            "suppression": suppression,
        }
        super().__init__(**{name: value for name, value in given.items() if value is not None}, **unknown)

    @property
    def against_pseudonyms(self) -> None:
        return None

    @classmethod
    def told(cls, settings: Mapping[str, Any]) -> FullDomain:
        """The method of a policy that has these settings, as they are: it was given none of them itself."""
        return cls.model_construct(_fields_set=set(), **settings)

    @property
    def given(self) -> dict[str, Any]:
        """See :class:`MethodSettings`; in a valid policy, which has them itself, there are none."""
        return {name: getattr(self, name) for name in SETTINGS if name in self.model_fields_set}


SETTINGS = tuple(name for name in FullDomain.model_fields if name != "model")
"""The names of its settings, which are also fields of a policy."""
