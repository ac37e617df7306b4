"""m-concealing: the risk of an attacker who may also know secret columns."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator

from sqlanon.model.base import Number, failed_checks, kind_of
from sqlanon.model.privacy.base import Bound, Grain, Measure, PrivacyModel, at_most

MAX_SECRETS = 12
"""Knowledge states are subsets of the secret columns: 4,096 of them."""


@kind_of("privacy")
class MConcealing(PrivacyModel):
    """No row is re-identified with an expected probability above ``m`` by an attacker of the ``prior``.

    The attacker knows the quasi-identifiers and each secret (a sensitive column of ``prior``) independently with its
    probability, and guesses uniformly among the rows that agree with what he knows: for a row i, the sum over subsets q
    of the secrets of P(q) / n_q(i). This is a measure of risk, not a guarantee: the mean over states of knowledge hides
    that a row may be certain to be found in an unlikely one.

    With the grain ``class`` a class with a row above ``m`` is suppressed, which changes the risk in no other class;
    with the grain ``node`` the classes that other models keep are measured, and a node with a row above ``m`` is
    rejected.
    """

    definition: ClassVar[str] = "Mazzone 2019, section 5.2; a mean over states of knowledge"

    model: Literal["m-concealing"] = "m-concealing"
    m: Number = Field(gt=0, le=1, kw_only=False, description="largest expected probability that a row is re-identified")
    prior: Annotated[dict[str, Number], Field(min_length=1, max_length=MAX_SECRETS)] = Field(
        kw_only=False, description="secret column to probability"
    )
    grain: Grain = Field(
        default="class", kw_only=False, description="what is given up for a row above m: class or node"
    )

    @field_validator("prior")
    @classmethod
    def _probabilities(cls, prior: dict[str, Any]) -> dict[str, Any]:
        wrong = [name for name, probability in prior.items() if not 0 <= probability <= 1]
        if wrong:
            raise failed_checks([f'the prior of "{name}" is not a probability between 0 and 1' for name in wrong])
        return prior

    @property
    def bounds(self) -> tuple[Bound, ...]:
        prior = tuple(sorted(self.prior.items()))
        measure = Measure("concealing", None, prior, view="attacker", of_table=("m_concealing", "m"), field="m")
        return (at_most(measure, self.m, grain=self.grain),)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.prior)

    def __str__(self) -> str:
        return f"m-concealing (m = {self.m:g})"
