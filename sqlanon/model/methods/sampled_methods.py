"""The settings of ε-safe anonymization: the published classes of a sample, and their cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from sqlanon.errors import PolicyError
from sqlanon.model.budget import Budget, ExactSetting, as_float, spelled
from sqlanon.model.methods.noisy import NODE, NodeMethod, Selection
from sqlanon.model.methods.settings import Requirements
from sqlanon.model.policy_value import failed_checks, kind_of

CLAIMED = Context(prec=4, rounding=ROUND_CEILING)  # δ is claimed in four digits, rounded up

WITHIN = Decimal("1e-6")
"""The relative error of a computed δ below the true one: tails of many rows aren't much more precise."""
MIN_DELTA = Decimal("1e-300")  # claimed for a δ that may be too small for a float

DIGITS = Context(prec=60)


@dataclass(frozen=True)
class Sampling:
    """The sampling of a table, and its cost δ."""

    k: int  # the minimum number of rows of a published class
    beta: Fraction  # the probability of each row to be in the sample
    delta: Fraction


# guarded: tests/unit/test_guarded_settings.py::TestEpsilonSafe
def claimed_delta(found: float, limit: Fraction | None = None) -> Fraction:
    """Return a δ to claim: rounded up to four digits, or to a limit that it keeps."""
    most = max(Decimal(found) * (1 + WITHIN), MIN_DELTA)
    claimed = Fraction(CLAIMED.plus(most))
    return claimed if limit is None or limit < Fraction(most) else min(claimed, limit)


# guarded: tests/unit/test_guarded_settings.py::TestEpsilonSafe
def is_admissible(beta: Fraction, epsilon: Fraction) -> bool:
    """Return whether ε >= -ln(1 - β), exactly: the irrational e^-ε is known to 60 digits."""
    exponent = DIGITS.divide(Decimal(-epsilon.numerator), Decimal(epsilon.denominator))
    return Fraction(DIGITS.exp(exponent).next_plus(DIGITS).next_plus(DIGITS)) <= 1 - beta


@lru_cache(maxsize=256)
def solved(k: int | None, beta: Fraction | None, delta: Fraction | None, epsilon: Fraction, *, tight: bool) -> Sampling:
    """Solve for all of k, β and δ, given two or three of them, or raise a PolicyError without a solution."""
    # It brings numpy, which a command does not wait for.
    from sqlanon.model import sampled_classes

    spent = as_float(epsilon)
    if delta is not None:
        limit = as_float(delta) * (1 - 2 * float(WITHIN))
        if beta is None:
            assert k is not None
            beta = sampled_classes.maximum_beta(k, spent, limit, tight=tight)
            if not is_admissible(beta, epsilon):
                beta -= Fraction(1, sampled_classes.SHARES)
        if k is None:
            k = sampled_classes.minimum_k(as_float(beta), spent, limit, tight=tight)
    assert k is not None
    assert beta is not None
    found: float = sampled_classes.delta(k, as_float(beta), spent, tight=tight)
    return Sampling(k, beta, claimed_delta(found, delta))


SAMPLE = "sample"  # the step that publishes the classes of a sample, in budgets and ledgers
MAX_K = 1_000_000  # up to this k, δ is correct to the claimed digits
MAX_WEIGHT = 1000  # of a suppressed row

DEFAULT_WEIGHT = 5

DEFAULT_EPSILON_NODE = Fraction(1, 10)


def _written(value: Any) -> Any:
    """Convert a float share to its shortest digits, as written."""
    return repr(value) if type(value) is float else value


Share = Annotated[ExactSetting, BeforeValidator(_written)]


@kind_of("method")
class EpsilonSafe(NodeMethod):
    """Differentially private k-anonymity: a drawn node, and its classes of k or more sampled rows.

    The node is drawn on the whole table, by its score. Then each row is sampled independently. The sampled rows in
    classes of k or more are published; nothing is revealed about the others, not even their number. All published
    columns are generalized.

    Give two of k, beta and delta; the third follows: the least k, the largest beta in steps of 1/1000, or δ.

    Source: Mazzone 2019, section 4.5, corrected; Li, Qardaji and Su 2012, theorem 1; Bild,
    Kuhn and Prasser 2018 (SafePub).

    Args:
        k: the minimum number of rows of a published class, 2 or more.
        beta: the probability of each row to be in the sample, above 0 and below 1.
        delta: δ of the release, above 0 and below 1; exact, as in :class:`Budget`.
        epsilon_node: ε of the choice of the node, exact; 0.1 if not given, and 0 for a public node.
        epsilon_sampling: ε of the sample, exact; at least -ln(1 - beta). ε of the release is the sum of both.
        suppressed_weight: the loss of a suppressed row, relative to a row with all labels `*`: 1 or more.
        node: the level of every quasi-identifier, if it is public; otherwise it is drawn from the data.
        select_on: ``"sample"`` draws the node on the sample, as SafePub does. Only a larger δ is proven for it, which
            depends on the number of nodes: give k, beta and delta, and a run is refused if delta is below that δ.
        tight: use the exact δ of a class instead of the larger one of Li et al. 2012.
        selection: the mechanism that draws a node: ``"permute-and-flip"``, or ``"exponential"`` as published, which
            draws worse nodes at the same ε.
        accept_observed_domain: accept taxonomies with values observed in the data; the guarantee then says so.

    Raises:
        PolicyError: lists every problem at once.
        EngineError: scipy is not installed.
    """

    is_pure: ClassVar = False
    model: Literal["epsilon-safe"] = "epsilon-safe"
    k: Annotated[int, Field(ge=2, le=MAX_K, strict=True)] | None = None
    beta: Share | None = None
    delta: ExactSetting | None = None
    epsilon_node: ExactSetting | None = None
    epsilon_sampling: ExactSetting = Fraction(1)
    suppressed_weight: Annotated[int, Field(ge=1, le=MAX_WEIGHT, strict=True)] = DEFAULT_WEIGHT
    select_on: Literal["table", "sample"] = "table"
    tight: bool = False
    selection: Selection = "permute-and-flip"

    @model_validator(mode="after")
    def _is_possible(self) -> EpsilonSafe:
        if problems := list(self._problems()):
            raise failed_checks(problems)
        try:
            found = self.sampling
        except PolicyError as error:
            raise failed_checks(error.problems or [error.heading]) from None
        if self.delta is not None and self.select_on == "table" and found.delta > self.delta:
            raise failed_checks(
                [
                    f"with k = {found.k} and beta = {spelled(found.beta)} δ is {float(found.delta):.4g}, more than the "
                    f"delta of {float(self.delta):.4g}: leave one of the three out, and it is computed"
                ]
            )
        return self

    def _problems(self) -> Iterator[str]:
        if self.rows_per_individual != 1:
            yield "rows_per_individual must be 1: a row of each individual is sampled, or not"
        for name, value in (("beta", self.beta), ("delta", self.delta)):
            if value is not None and not 0 < value < 1:
                yield f"{name} must be above 0 and below 1"
        if self.select_on == "sample":
            yield from self._problems_on_sample()
        elif len(missing := self._missing) > 1:
            yield f"give {' or '.join(missing)}: of k, beta and delta two are given, and the third is computed"
        if self.node is None and self.epsilon_node == 0:
            yield "epsilon_node must be positive for a node that is drawn: give node, a public one, or spend something"
        if self.node is not None and self.epsilon_node:
            yield "epsilon_node must not be given, or be 0: a public node costs nothing"
        yield from self._missing_row_costs()

    def _problems_on_sample(self) -> Iterator[str]:
        if self._missing:
            yield f'select_on "sample" needs {" and ".join(self._missing)}, too: δ depends on the taxonomies'
        if self.node is not None:
            yield 'a public node is not drawn: leave select_on "sample" out'
        if self.tight:
            yield 'tight is for a node that is drawn on the table: leave it out, or select_on "sample"'

    @property
    def _missing(self) -> list[str]:
        return [name for name in ("k", "beta", "delta") if getattr(self, name) is None]

    def _missing_row_costs(self) -> Iterator[str]:
        """Check exactly that ε'', or the whole ε if the node is drawn on the sample, is at least -ln(1 - β)."""
        if self.beta is None or not 0 < self.beta < 1:
            return
        name, epsilon = "epsilon_sampling", self.epsilon_sampling
        if self.select_on == "sample":
            name, epsilon = "epsilon_node and epsilon_sampling together", self.epsilon_sampling + self._epsilon_of_node
        if not is_admissible(self.beta, epsilon):
            least = -math.log1p(-as_float(self.beta))
            yield f"{name} must be at least -ln(1 - beta), {least:.5f}, the cost of a row that may be missing"

    @property
    def sampling(self) -> Sampling:
        """k, β and δ; one may be computed by :func:`solved`."""
        if self.select_on == "sample":
            assert self.k is not None
            assert self.beta is not None
            assert self.delta is not None
            return Sampling(self.k, self.beta, self.delta)
        return solved(self.k, self.beta, self.delta, self.epsilon_sampling, tight=self.tight)

    @property
    def _epsilon_of_node(self) -> Fraction:
        if self.node is not None:
            return Fraction(0)
        return DEFAULT_EPSILON_NODE if self.epsilon_node is None else self.epsilon_node

    @property
    def budget(self) -> Budget:
        """The cost of a release."""
        return Budget(self._epsilon_of_node + self.epsilon_sampling, self.sampling.delta)

    @property
    def budgets(self) -> dict[str, Budget]:
        sample = {SAMPLE: Budget(self.epsilon_sampling, self.sampling.delta)}
        return sample if self.node is not None else {NODE: Budget(self._epsilon_of_node), **sample}

    @property
    def chooses_node(self) -> bool:
        return self.node is None

    def counted_columns(self, policy: Requirements) -> tuple[str, ...]:
        return ()

    def _columns_that_misfit(self, policy: Requirements) -> Iterable[str]:
        for name in (*policy.sensitive, *policy.insensitive):
            yield (
                f'{self} generalizes all columns that it publishes: make "{name}" a quasi-identifier with a taxonomy, '
                "or an identifier, which is dropped; IPA() and Histogram() publish a sensitive column unchanged"
            )
