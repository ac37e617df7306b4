"""The settings of synthetic rows, whose marginals are close to those of a table, and the queries to which they fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import (
    BeforeValidator,
    Field,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from sqlanon.model.budget import Budget, ExactNumber
from sqlanon.model.methods.cut_methods import Bound, as_text, decimal_of, interval_label
from sqlanon.model.methods.noisy import MAX_ROWS, PaidMethod
from sqlanon.model.methods.settings import Requirements
from sqlanon.model.names import folded
from sqlanon.model.policy_value import (
    RESERVED_PREFIX,
    Level,
    OneOrSeveral,
    PolicyValue,
    failed_checks,
    kind_of,
    respelled,
    unknown_names,
)


class GroupQuery(PolicyValue):
    """A query by group over the rows that meet its conditions.

    Args:
        column: the column to group by.
        width: the width of a group in the unit of the column, counted from 0; None to group by values.
        where: required values by column, compared as text; None stands for NULL.

    Raises:
        PolicyError: lists every problem at once.
    """

    column: str
    width: Annotated[int | float, Field(gt=0)] | None = None
    where: dict[str, StrictStr | StrictInt | None] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_names(self) -> GroupQuery:
        reserved = [name for name in self.columns if folded(name).startswith(RESERVED_PREFIX)]
        if reserved:
            raise failed_checks(
                [f'column "{name}": names that start with {RESERVED_PREFIX} are reserved' for name in reserved]
            )
        return self

    @property
    def averaged(self) -> str | None:
        """The column to average; None for a count."""
        return None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the query reads."""
        return tuple(name for name in dict.fromkeys((self.column, self.averaged, *self.where)) if name is not None)

    def __str__(self) -> str:
        """Describe the query without values of conditions, since tables of errors have more readers."""
        answer = "count" if self.averaged is None else f"average {self.averaged}"
        groups = self.column if self.width is None else f"{self.column} by {self.width:g}"
        conditions = f" where {', '.join(self.where)}" if self.where else ""
        return f"{answer} of {groups}{conditions}"


class CountQuery(GroupQuery):
    """``SELECT group, COUNT(*) ... WHERE ... GROUP BY group``, with the arguments of :class:`GroupQuery`.

    Source: Lee and Chung 2020, Q1 and Q2; Lee et al. 2017, query error rate.
    """


class AverageQuery(GroupQuery):
    """``SELECT group, AVG(average) ... WHERE ... GROUP BY group``.

    Args:
        column, width, where: as in :class:`GroupQuery`.
        average: the column of numbers to average.

    Raises:
        PolicyError: lists every problem at once.

    Source: Lee and Chung 2020, Q3 and Q4.
    """

    average: str

    @property
    def averaged(self) -> str | None:
        return self.average


MAX_BINS = 1000  # labels or bins of a column: the model has a count for each, and for pairs their product
EQUAL_BINS = ("low", "high", "width")
MAX_MODEL_CELLS = 10_000_000  # beyond it one step of a fit takes more than a second
Outside = Literal["refuse", "drop"]  # whether rows outside the public domain end the run, or are left out
Labels = Annotated[tuple[str, ...], OneOrSeveral]  # one or several
MAX_WEIGHT = 1000  # with more, the other sets of a workload might as well be left out
MAX_SET = 10  # columns in a set of a workload: all its subsets may be measured


class WorkloadSet(PolicyValue):
    """Columns whose joint counts must be accurate.

    Args:
        together: the columns, or a query: the policy keeps the columns that it groups by, averages and has conditions
            on, but not its values.
        weight: the weight of the set, relative to others.
    """

    together: Annotated[tuple[str, ...], Field(min_length=1, max_length=MAX_SET)] = Field(kw_only=False)
    weight: Annotated[int, Field(ge=1, le=MAX_WEIGHT, strict=True)] = 1

    @model_validator(mode="before")
    @classmethod
    def _spelled_out(cls, given: Any) -> Any:
        """Accept a set as its columns, or as a query, which in a file has a weight among its settings."""
        if isinstance(given, WorkloadSet):
            return given
        settings = dict(given) if isinstance(given, Mapping) else {"together": given}
        if "column" in settings:
            weight = {name: settings.pop(name) for name in ("weight",) if name in settings}
            kind = AverageQuery if "average" in settings else CountQuery
            settings = {"together": kind.model_validate(settings), **weight}
        if isinstance(query := settings.get("together"), GroupQuery):
            settings["together"] = query.columns
        return settings


Words = Literal["pairs", "triples"]


@cache
def _sets() -> TypeAdapter[tuple[WorkloadSet, ...]]:
    return TypeAdapter(tuple[WorkloadSet, ...])


def _words_or_sets(given: Any, _: ValidatorFunctionWrapHandler) -> Any:
    """Validate either form, and report only the problems of the intended one."""
    if given in get_args(Words):
        return given
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise PydanticCustomError("workload", 'must be "pairs", "triples", or a list of sets of columns')
    return _sets().validate_python(given)


Workload = Annotated[Words | tuple[WorkloadSet, ...], WrapValidator(_words_or_sets)]


class Bins(PolicyValue):
    """The public bins of a column of numbers: each from one edge up to but excluding the next.

    Args:
        edges: two or more, ascending; all values lie between the first, inclusive, and the last, exclusive.
    """

    edges: tuple[Bound, ...]

    @model_validator(mode="after")
    def _ascending(self) -> Bins:
        if len(self.edges) < 2 or any(low >= high for low, high in pairwise(self.edges)):
            raise PydanticCustomError("bins", "edges must be two or more ascending numbers")
        if len(self.edges) > MAX_BINS + 1:
            raise PydanticCustomError("bins", "there may be {most} bins, not {found}", _counts(len(self.edges) - 1))
        return self

    @property
    def size(self) -> int:
        return len(self.edges) - 1

    @property
    def labels(self) -> tuple[str, ...]:
        ends = [as_text(edge) for edge in self.edges]
        return tuple(interval_label(low, high) for low, high in pairwise(ends))


def _counts(found: int) -> dict[str, Any]:
    return {"most": f"{MAX_BINS:,}", "found": f"{found:,}"}


def _spelled_out(numeric: Any) -> Any:
    """Accept bins as a list of edges, or as a tuple (low, high, width)."""
    if not isinstance(numeric, Mapping):
        return numeric
    return {name: _as_edges(given) for name, given in numeric.items()}


def _as_edges(given: Any) -> Any:
    if isinstance(given, tuple) and len(given) == len(EQUAL_BINS):
        given = dict(zip(EQUAL_BINS, given, strict=True))
    if isinstance(given, Mapping) and given.keys() == set(EQUAL_BINS):
        low, high, width = (decimal_of(given[each]) for each in EQUAL_BINS)
        if width <= 0 or low >= high or (high - low) % width:
            raise PydanticCustomError("bins", "the range must be a whole number of positive widths")
        if (count := int((high - low) / width)) > MAX_BINS:
            raise PydanticCustomError("bins", "there may be {most} bins, not {found}", _counts(count))
        return {"edges": [low + step * width for step in range(count + 1)]}
    return {"edges": list(given)} if isinstance(given, Sequence) and not isinstance(given, str | bytes) else given


if TYPE_CHECKING:
    NumericBins = Mapping[str, Any]
else:
    NumericBins = Annotated[dict[str, Bins], BeforeValidator(_spelled_out)]
"""Bins by column: a list of edges, or (low, high, width); in TOML ``[edges]`` or ``{ low, high, width }``."""


@kind_of("method")
class Synthetic(PaidMethod):
    """Invented rows with counts close to those of the table: differential privacy by noisy marginals.

    Marginals are chosen one by one, where the model so far is most wrong, and counted with noise; rows are drawn from a
    graphical model of them. All quasi-identifiers and sensitive columns are modelled; every other column is an
    identifier, which is dropped.

    Source: McKenna, Mullins, Sheldon and Miklau 2022 (AIM), on integer noise and exact scores.

    Args:
        budget: ε and δ of the release, both above 0.
        workload: the counts that must be accurate: ``"pairs"`` or ``"triples"`` of columns, or a list of sets of
            columns. A :class:`~sqlanon.evaluation.CountQuery` or ``AverageQuery`` stands for its columns;
            ``{"together": columns, "weight": 2}`` counts twice.
        target: a column to predict from the others: its marginals with all pairs of these join the workload.
        numeric: public bins by column of numbers, in place of a taxonomy: a list of edges, or (low, high, width).
            Numbers of CSV files and frames are rounded down, and published as whole numbers, if all edges are whole
            and there is no ``step``.
        step: the public distance of numbers by column of ``numeric``: multiples of it are drawn; 1 makes whole numbers
            in a column of floats. Floats without a step lie anywhere in their bins.
        levels: the public level of a column's taxonomy at which it is modelled, 0 if not given.
        nulls: the columns that may have NULL, which is public; NULL is then one of their values.
        refine: the columns whose single values are counted, too, so that rows have values in place of labels, or whole
            numbers that aren't spread evenly over their bins.
        impossible: combinations of labels that cannot occur, which is public: each gives some columns one or several
            labels, with bins spelled as intervals, such as ``[15, 20)``.
        rows: the number of rows to draw; about as many as the table has if not given.
        report_share: the share of the budget for an estimate of the error of the rows.
        max_cells: the maximum number of cells of the model: more cost time and memory, and answer more counts.
        rounds: the approximate number of marginals to measure; 5 per column if not given.
        outside: ``"refuse"`` ends the run at rows with a NULL in other columns than ``nulls``, a number outside its
            bins, or an impossible combination; ``"drop"`` leaves them out.
        rows_per_individual: the maximum number of rows of an individual; more are sampled down at random before
            anything is counted, if the policy names ``individual``.
        accept_observed_domain: accept taxonomies with values observed in the data; the guarantee then says so.

    Raises:
        PolicyError: lists every problem at once.
    """

    is_pure: ClassVar = False
    needs_value_domain: ClassVar = True
    model: Literal["synthetic"] = "synthetic"
    budget: Budget = Field(default_factory=lambda: Budget(1, "1e-6"))
    workload: Workload = "pairs"
    target: str | None = None
    numeric: NumericBins = Field(default_factory=dict)
    step: dict[str, Bound] = Field(default_factory=dict)
    levels: dict[str, Level] = Field(default_factory=dict)
    nulls: tuple[str, ...] = ()
    refine: tuple[str, ...] = ()
    impossible: tuple[dict[str, Labels], ...] = ()
    rows: Annotated[int, Field(ge=1, le=MAX_ROWS, strict=True)] | None = None
    report_share: ExactNumber = Fraction(1, 100)
    max_cells: Annotated[int, Field(ge=100, le=MAX_MODEL_CELLS, strict=True)] = 100_000
    rounds: Annotated[int, Field(ge=1, strict=True)] | None = None
    outside: Outside = "refuse"

    @field_validator("budget")
    @classmethod
    def _some_delta(cls, budget: Budget) -> Budget:
        if not budget.delta:
            raise PydanticCustomError("no_delta", "δ must be above 0: noise is Gaussian, which is never pure")
        return budget

    @field_validator("report_share")
    @classmethod
    def _share(cls, share: Fraction) -> Fraction:
        if share >= 1:
            raise PydanticCustomError("share", "must be below 1")
        return share

    def columns(self, policy: Requirements) -> tuple[str, ...]:
        """Return the modelled columns, in order."""
        return (*policy.quasi_identifiers, *policy.sensitive)

    def sets(self, policy: Requirements) -> dict[tuple[int, ...], int]:
        """Return the workload as sets of numbers of columns, with their weights."""
        names = self.columns(policy)
        numbers = range(len(names))
        wanted: Counter[tuple[int, ...]] = Counter()
        if isinstance(self.workload, str):
            wanted.update(combinations(numbers, min({"pairs": 2, "triples": 3}[self.workload], len(names))))
        else:
            for each in self.workload:
                wanted[tuple(sorted({names.index(name) for name in each.together}))] += each.weight
        if self.target is not None:
            target = names.index(self.target)
            others = [number for number in numbers if number != target]
            wanted.update(tuple(sorted((target, *pair))) for pair in combinations(others, min(2, len(others))))
        return dict(wanted)

    def spelled_like(self, known: Sequence[str]) -> Self:
        found = super().spelled_like(known)
        if isinstance(self.workload, str):  # "pairs" is a word, even if a column has this name
            return found
        return found.model_copy(update={"workload": respelled(self.workload, known)})

    def misfits(self, policy: Requirements) -> Iterable[str]:
        yield from super().misfits(policy)
        yield from self._levels(policy)
        yield from self._strangers(policy)
        for name in self.numeric:
            if name in policy.taxonomies or name in self.levels:
                yield f'"{name}" has bins: it takes neither a taxonomy nor a level of one'
        yield from self._steps()
        measured = len(self.columns(policy)) + len(self.refine)
        if self.rounds is not None and self.rounds < measured:
            yield f"method.rounds: must be {measured} or more, one per column and per column of refine"
        if not self.workload and self.target is None:
            yield "method.workload: give it a set of columns, or name a target"
        if any(len(each) < 2 for each in self.impossible):
            yield "method.impossible: a combination needs two or more columns; leave single labels out of the domain"

    def _steps(self) -> Iterable[str]:
        for name, step in self.step.items():
            if name not in self.numeric:
                yield f'method.step: "{name}" has no bins'
            elif step <= 0 or any(Fraction(edge) % Fraction(step) for edge in self.numeric[name].edges):
                yield f'method.step: the edges of the bins of "{name}" must be multiples of its step, which is above 0'

    def _strangers(self, policy: Requirements) -> Iterable[str]:
        settings = ("numeric", "step", "levels", "nulls", "refine")
        given: dict[str, Iterable[str]] = {setting: getattr(self, setting) for setting in settings}
        given["impossible"] = dict.fromkeys(name for each in self.impossible for name in each)
        if self.target is not None:
            given["target"] = (self.target,)
        if not isinstance(self.workload, str):
            given["workload"] = tuple(dict.fromkeys(name for each in self.workload for name in each.together))
        for setting, columns in given.items():
            for name, meant in unknown_names(columns, self.columns(policy)):
                yield f'method.{setting}: "{name}" is neither a quasi-identifier nor a sensitive column{meant}'

    def _columns_that_misfit(self, policy: Requirements) -> Iterable[str]:
        yield from self._insensitive_columns(policy)
