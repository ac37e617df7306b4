"""Privacy models: each a bound on one measure of an equivalence class.

A class that falls short of any model is suppressed; a node satisfies a policy if the rows of such classes stay
within the suppression limit. These are *syntactic* models: they say what a published class looks like, not what
an attacker with other knowledge can infer.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from sqlanon.model.base import PolicyValue

MOST = 10**12
"""More rows or values than any class has: a larger threshold is a slip."""

ENTROPY_TOLERANCE = 1e-9
"""Relative slack of entropy l: a class of exactly l equally frequent values must pass whatever the rounding."""


class PrivacyModel(PolicyValue):
    """A lower bound on a measure of every published equivalence class.

    Attributes:
        measure: the measure of a class that is bounded.
        monotonic: whether the rows of violating classes can only become fewer when a node is generalized.
    """

    measure: ClassVar[str]
    monotonic: ClassVar[bool]
    definition: ClassVar[str]

    @property
    def sensitive(self) -> str | None:
        """The sensitive column that the measure looks at, if any."""
        return getattr(self, "column", None)

    @property
    def required(self) -> int | float:
        """What the user asked for."""
        raise NotImplementedError

    @property
    def threshold(self) -> int | float:
        """The smallest measure that passes."""
        return self.required


class KAnonymity(PrivacyModel):
    """Every class has at least ``k`` rows (Samarati 2001, definition 2; Sweeney 2002). ``k`` is at least 2."""

    measure: ClassVar[str] = "class_size"
    monotonic: ClassVar[bool] = True
    definition: ClassVar[str] = "Samarati 2001, definition 2"

    model: Literal["k-anonymity"] = "k-anonymity"
    k: int = Field(ge=2, le=MOST, strict=True, description="rows that every class has at least")

    def __init__(self, k: int, *, model: str = "k-anonymity") -> None:
        PolicyValue.__init__(self, k=k, model=model)

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @property
    def required(self) -> int:
        return self.k

    def __str__(self) -> str:
        return f"k-anonymity (k = {self.k})"


class DistinctLDiversity(PrivacyModel):
    """Every class has at least ``l`` distinct values of ``column``, NULL being one (Machanavajjhala et al. 2007)."""

    measure: ClassVar[str] = "distinct_diversity"
    monotonic: ClassVar[bool] = True
    definition: ClassVar[str] = "Machanavajjhala et al. 2007, section 4.1"

    model: Literal["distinct-l-diversity"] = "distinct-l-diversity"
    column: str = Field(description="a sensitive column")
    l: int = Field(ge=2, le=MOST, strict=True, description="distinct values that every class has at least")  # noqa: E741

    def __init__(self, column: str, l: int, *, model: str = "distinct-l-diversity") -> None:  # noqa: E741
        PolicyValue.__init__(self, column=column, l=l, model=model)

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @property
    def required(self) -> int:
        return self.l

    def __str__(self) -> str:
        return f'distinct l-diversity of "{self.column}" (l = {self.l})'


class EntropyLDiversity(PrivacyModel):
    """Every class has entropy at least log(``l``) in ``column`` (Machanavajjhala et al. 2007, definition 4.1).

    Compared as exp(entropy) >= l with a relative tolerance of 1e-9. Without suppression the model is monotonic;
    with it, it is not: merging a diverse small class into a uniform large one can suppress more rows.
    """

    measure: ClassVar[str] = "entropy_diversity"
    monotonic: ClassVar[bool] = False
    definition: ClassVar[str] = "Machanavajjhala et al. 2007, definition 4.1"

    model: Literal["entropy-l-diversity"] = "entropy-l-diversity"
    column: str = Field(description="a sensitive column")
    l: float = Field(gt=1, le=MOST, description="effective number of values that every class has at least")  # noqa: E741

    def __init__(self, column: str, l: float, *, model: str = "entropy-l-diversity") -> None:  # noqa: E741
        PolicyValue.__init__(self, column=column, l=l, model=model)

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @property
    def required(self) -> float:
        return self.l

    @property
    def threshold(self) -> float:
        return self.l * (1 - ENTROPY_TOLERANCE)

    def __str__(self) -> str:
        return f'entropy l-diversity of "{self.column}" (l = {self.l:g})'


AnyPrivacyModel = Annotated[KAnonymity | DistinctLDiversity | EntropyLDiversity, Field(discriminator="model")]
