"""Privacy as economics: what an attack pays an adversary who knows the gain and the cost of it."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from sqlanon.model.criteria import CLASS_SIZE, Bound, at_least
from sqlanon.model.policy_value import Number, failed_checks, kind_of
from sqlanon.model.privacy import MOST, PrivacyModel

Money = Annotated[Number, Field(ge=0, le=MOST, kw_only=False)]
"""An amount per row, in any currency: models compare amounts only with each other."""


@kind_of("privacy")
class NoAttack(PrivacyModel):
    """An attack on a row pays in no class: its expected gain, ``gain`` / rows of the class, is below its ``cost``.

    This is k-anonymity with the least k above ``gain`` / ``cost``, which are compared as the decimals that are written.
    It is a promise about a rational adversary with these two figures, who attacks one row at a time and guesses among
    the rows of its class; one who gains more, pays less or attacks at a loss is not covered. With a policy's
    ``individual`` column a class counts distinct individuals instead of rows.

    Without a ``gain`` k is 1, and nothing is protected. A ``cost`` of 0 is refused if there is a gain: no class would
    be large enough.
    """

    definition: ClassVar[str] = "Wan et al. 2015, the adversary's payoff gain / n - cost, with the prosecutor's n"
    model: Literal["no-attack"] = "no-attack"
    gain: Money = Field(description="what an adversary gains from a row that is re-identified")
    cost: Money = Field(description="what an attack on a row costs the adversary")

    @model_validator(mode="after")
    def _attainable(self) -> NoAttack:
        if self.gain > 0 and self.cost == 0:
            raise failed_checks(
                ["an attack costs nothing, so that it always pays: give a cost above 0, or a gain of 0"]
            )
        if self.k > MOST:
            raise failed_checks([f"the gain asks for classes of more than {MOST:,} rows: give a larger cost"])
        return self

    @property
    def k(self) -> int:
        """The rows of a class from which an attack on one of them doesn't pay: ⌊gain / cost⌋ + 1, 1 without a gain."""
        return 1 if self.gain == 0 else int(Fraction(str(self.gain)) / Fraction(str(self.cost))) + 1

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return (at_least(CLASS_SIZE, self.k, monotonic=True),)

    def __str__(self) -> str:
        return f"k-anonymity against rational attacks (gain = {self.gain:g}, cost = {self.cost:g}: k = {self.k})"
