"""The privacy model of linked tables for attackers who know a person and some of the person's rows."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from sqlanon.model.criteria import CLASS_SIZE, Bound, at_least
from sqlanon.model.privacy import PrivacyModel, TwoOrMore


def _one_or_two(given: Any) -> Any:
    if isinstance(given, bool) or given not in (1, 2):
        raise PydanticCustomError(
            "no_known_rows",
            "must be 1 or 2, the number of a person's rows that others may know; "
            "against who knows all of them take KAnonymity, of whole trees",
        )
    return int(given)


class KnownRows(PrivacyModel):
    """Whoever knows a person's columns and up to ``m`` of the person's rows is left with at least ``k`` persons.

    Only rows that a person *has* are known: not that there are no others, nor how many there are. Two known rows of a
    person may look alike. A release may leave rows out, of whole classes of persons.

    Source: Terrovitis, Mamoulis and Kalnis 2008 (k^m-anonymity), with columns of persons (Poulis et al. 2013).
    """

    definition: ClassVar[str] = "Terrovitis, Mamoulis and Kalnis 2008, with columns of persons"
    model: Literal["known-rows"] = "known-rows"
    k: TwoOrMore = Field(kw_only=False, description="minimum number of persons with what is known")
    m: Annotated[Literal[1, 2], BeforeValidator(_one_or_two)] = Field(
        default=1, description="maximum number of known rows, 1 or 2"
    )

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return (at_least(CLASS_SIZE, self.k),)

    def __str__(self) -> str:
        return f"k-anonymity for up to {self.m} known row{'s' * (self.m > 1)} (k = {self.k})"
