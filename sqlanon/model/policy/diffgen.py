"""The settings of DiffGen: which columns are predictors of which kind, and how often they are specialized."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from sqlanon.model.base import NotNegative, PolicyValue, unknown_names
from sqlanon.model.budget import Budget
from sqlanon.model.names import folded
from sqlanon.model.policy.private import PaidMethod
from sqlanon.model.policy.ranges import Outside, Ranges, numbers_that_misfit

if TYPE_CHECKING:
    from sqlanon.model.policy.policy import Policy

COUNT = "count"
"""The column of a release that says how many rows there are of a combination."""

CUTS = "cuts"
"""What is published beside the rows if it is given a name: the labels that values of the predictors become."""

MOST_SPECIALIZATIONS = 1000
"""More of them leave nothing of the budget for each."""

Utility = Literal["max", "infogain"]
Output = Literal["counts", "rows"]


class DiffGen(PaidMethod):
    """Differentially private generalization for classification, of categorical, numeric and set-valued predictors.

    All predictors, which are the quasi-identifiers, begin with one label for all rows. Then, so many times, a label is
    drawn by how well its children tell the classes of the sensitive column apart, and gives way to these. Published is
    how many rows each combination of labels and class has, with noise; combinations that nobody has are among them.

    Rows with NULL in a predictor or in the target are left out, whatever the others are.

    Source: Mohammed, Jiang, Chen, Fung and Ohno-Machado 2013, corrected as in spec/diffgen.md; Mohammed, Chen, Fung and
    Yu 2011.

    Args:
        budget: ε of the release; δ is 0. Half of it at most is spent on choices, and all that these leave on counts.
        target: the column of classes, which is the sensitive one; its taxonomy declares the classes.
        specializations: how many labels give way to their children, fixed before anything is known of the data: trying
            several numbers and releasing the best spends the budget of all of them.
        utility: how a specialization is scored: ``"max"`` by the rows that are of the largest class of their child, or
            ``"infogain"`` by the information that children tell about classes.
        numeric: by predictor its public range as (low, high) or (low, high, step), high excluded, in place of a
            taxonomy.
        sets: the predictors that are lists of items; the taxonomy of such a column is that of its items.
        output: ``"counts"`` for a column ``count``, or ``"rows"`` for so many copies.
        outside: ``"clamp"`` takes numbers out of their range for its nearest end, ``"refuse"`` ends the run.
        threshold: counts of this or less are left out; √2 / ε of the counts if not given. It is raised where so many
            combinations are possible that noise would show too many that nobody has.
        set_threshold: the same for the combinations of children that item sets have; √2 / ε of a step if not given.
        rows_per_individual: how many rows one individual owns at most: of more, so many are chosen at random before
            anything is counted, if the policy says by ``individual`` whose row it is.
        accept_observed_domain: take taxonomies whose values were read off the data; the guarantee then says so.

    Raises:
        PolicyError: listing every problem at once.
    """

    model: Literal["diffgen"] = "diffgen"
    budget: Budget = Field(default_factory=lambda: Budget(1))
    target: str | None = None
    specializations: Annotated[int, Field(ge=1, le=MOST_SPECIALIZATIONS, strict=True)] = 10
    utility: Utility = "max"
    numeric: Ranges = Field(default_factory=dict)
    sets: tuple[str, ...] = ()
    output: Output = "counts"
    outside: Outside = "clamp"
    threshold: NotNegative | None = None
    set_threshold: NotNegative | None = None

    def __init__(
        self,
        target: str | None = None,
        *,
        budget: Budget | None = None,
        specializations: int = 10,
        utility: Utility = "max",
        numeric: Mapping[str, Any] | None = None,
        sets: Sequence[str] = (),
        output: Output = "counts",
        outside: Outside = "clamp",
        threshold: float | None = None,
        set_threshold: float | None = None,
        rows_per_individual: int = 1,
        accept_observed_domain: bool = False,
        **unknown: Any,
    ) -> None:
        PolicyValue.__init__(
            self,
            target=target,
            budget=Budget(1) if budget is None else budget,
            specializations=specializations,
            utility=utility,
            numeric={} if numeric is None else numeric,
            sets=sets,
            output=output,
            outside=outside,
            threshold=threshold,
            set_threshold=set_threshold,
            rows_per_individual=rows_per_individual,
            accept_observed_domain=accept_observed_domain,
            **unknown,
        )

    @field_validator("budget")
    @classmethod
    def _no_delta(cls, budget: Budget) -> Budget:
        if budget.delta:
            raise PydanticCustomError("some_delta", "δ must be 0: all that is drawn is pure")
        return budget

    @property
    def is_pure(self) -> bool:
        return True

    @property
    def step(self) -> Fraction:
        """ε' of every choice, split and set of noisy counts but the last: ε / (2 (numeric predictors + 2 rounds))."""
        return self.budget.epsilon / (2 * (len(self.numeric) + 2 * self.specializations))

    @property
    def without_taxonomy(self) -> tuple[str, ...]:
        return tuple(self.numeric)

    @property
    def added_columns(self) -> tuple[str, ...]:
        return () if self.count_column is None else (self.count_column,)

    @property
    def count_column(self) -> str | None:
        """The column that says how many rows there are of a combination; None if there are so many copies."""
        return COUNT if self.output == "counts" else None

    def misfits(self, policy: Policy) -> Iterable[str]:
        yield from super().misfits(policy)
        yield from self._other_target(policy, self.target)
        yield from self._levels(policy)
        if self.output == "counts":
            for name in (*policy.quasi_identifiers, *policy.sensitive):
                if folded(name) == COUNT:
                    yield f'column "{name}" has the name of that of counts; rename it in a view, or take output "rows"'
        yield from self._predictors_that_misfit(policy)

    def _predictors_that_misfit(self, policy: Policy) -> Iterable[str]:
        predictors = policy.quasi_identifiers
        yield from numbers_that_misfit(self.numeric, policy)
        for name, meant in unknown_names(self.sets, predictors):
            yield f'method.sets: "{name}" is no quasi-identifier{meant}'
        for name in self.sets:
            if name in self.numeric:
                yield f'"{name}" cannot be both numeric and a set'
