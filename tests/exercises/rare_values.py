"""Exercise: a privacy model of one's own. Two macros (rare_values.sql), this value, and one line that registers it."""

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from sqlanon.model.criteria import Bound, Measure, at_least
from sqlanon.model.privacy import PrivacyModel


class ValueFrequency(PrivacyModel):
    """Every value of ``column`` has at least ``m`` rows in each class that it is in: nobody's is the only one there."""

    definition: ClassVar[str] = "tests/exercises"

    model: Literal["value-frequency"] = "value-frequency"
    column: str = Field(description="a sensitive column")
    m: int = Field(ge=2, strict=True, description="rows that each value has at least in a class that it is in")

    @property
    def bounds(self) -> tuple[Bound, ...]:
        measure = Measure(
            "smallest_count", self.column, of_class="smallest_count_of", of_table=("value_frequency", "m"), field="m"
        )
        return (at_least(measure, self.m),)

    def __str__(self) -> str:
        return f'value frequency of "{self.column}" (m = {self.m})'


REGISTRATION = {"kind": ValueFrequency, "macros": Path(__file__).with_suffix(".sql")}
"""What `sa.register` is to be told: `sa.register(**REGISTRATION)` is the one line of whoever uses it."""
