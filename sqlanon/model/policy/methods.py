"""Of which methods a policy can hold the settings."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sqlanon.model.policy.diffgen import DiffGen
from sqlanon.model.policy.epsilon_safe import EpsilonSafe
from sqlanon.model.policy.full_domain import FullDomain
from sqlanon.model.policy.h_ceiling import HCeiling
from sqlanon.model.policy.noisy_counts import IPA, Histogram
from sqlanon.model.policy.relocation import Relocation
from sqlanon.model.policy.top_down import TopDownSpecialization

METHODS = (FullDomain, IPA, Histogram, HCeiling, Relocation, DiffGen, EpsilonSafe, TopDownSpecialization)
AnyMethod = Annotated[
    FullDomain | IPA | Histogram | HCeiling | Relocation | DiffGen | EpsilonSafe | TopDownSpecialization,
    Field(discriminator="model"),
]
"""The settings of a method: what a policy says of how it is to be met."""
