"""The settings of ε-safe anonymization: which classes of a sample are published, and what that costs."""

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
"""How far a computed δ may be below the true one, as a share of it: tails of many rows are not much more precise."""

MIN_DELTA = Decimal("1e-300")  # what is claimed of a δ that may be too small for a float

DIGITS = Context(prec=60)


@dataclass(frozen=True)
class Sampling:
    """The sampling of a table, and the δ that it costs."""

    k: int  # the least number of rows of a class that is published
    beta: Fraction  # the probability with which each row is in the sample
    delta: Fraction


# guarded: tests/unit/test_guarded_settings.py::TestEpsilonSafe
def claimed_delta(found: float, limit: Fraction | None = None) -> Fraction:
    """A δ as it is claimed: no less than it is, in four digits or, if these are more, at a limit that it is within."""
    most = max(Decimal(found) * (1 + WITHIN), MIN_DELTA)
    claimed = Fraction(CLAIMED.plus(most))
    return claimed if limit is None or limit < Fraction(most) else min(claimed, limit)


# guarded: tests/unit/test_guarded_settings.py::TestEpsilonSafe
def is_admissible(beta: Fraction, epsilon: Fraction) -> bool:
    """Return whether ε >= -ln(1 - β), exactly: e^-ε, which is irrational, is known to 60 digits."""
    exponent = DIGITS.divide(Decimal(-epsilon.numerator), Decimal(epsilon.denominator))
    return Fraction(DIGITS.exp(exponent).next_plus(DIGITS).next_plus(DIGITS)) <= 1 - beta


@lru_cache(maxsize=256)
def solved(k: int | None, beta: Fraction | None, delta: Fraction | None, epsilon: Fraction, *, tight: bool) -> Sampling:
    """All three of k, β and δ, from at least two of them; a PolicyError if no k, or no β, costs as little as δ."""
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


SAMPLE = "sample"  # the step that publishes the classes of a sample, as budgets and ledgers name it
MAX_K = 1_000_000  # the largest k: up to there δ is right to the digits that are claimed
MAX_WEIGHT = 1000  # the largest weight of a suppressed row

DEFAULT_WEIGHT = 5

DEFAULT_EPSILON_NODE = Fraction(1, 10)


def _written(value: Any) -> Any:
    """A share may be a float: its shortest digits are those that were written."""
    return repr(value) if type(value) is float else value


Share = Annotated[ExactSetting, BeforeValidator(_written)]


@kind_of("method")
class EpsilonSafe(NodeMethod):
    """k-anonymity that is differentially private: a node that is drawn, and its classes of k rows or more of a sample.

    The node is drawn on the whole table, by its score. Then each row is in a sample or not, by chance and on its own.
    Published are the rows of the sample in classes that have k of them or more; of the others nothing is, not even how
    many there are. All columns that are published are generalized.

    Two of k, beta and delta are given; the third follows: the least k, the largest beta in steps of 1/1000, or δ.

    Source: Mazzone 2019, section 4.5, corrected; Li, Qardaji and Su 2012, theorem 1; Bild,
    Kuhn and Prasser 2018 (SafePub).

    Args:
        k: the least number of rows of a class that is published, 2 or more.
        beta: the probability with which each row is in the sample, above 0 and below 1.
        delta: δ of the release, above 0 and below 1; exact, as in :class:`Budget`.
        epsilon_node: ε of the choice of the node, exact; 0.1 if not given, and 0 for a public node.
        epsilon_sampling: ε of the sample, exact; -ln(1 - beta) at least. ε of the release is the sum of both.
        suppressed_weight: how much more a row loses that is not shown than one with all labels `*`: 1 or more.
        node: the level of every quasi-identifier, if it is public; else it is drawn from the data.
        select_on: ``"sample"`` draws the node on the sample, as SafePub does. Only a larger δ is proven for that, which
            depends on the number of nodes: k, beta and delta are given, and a run is refused if that δ is not enough.
        tight: take the exact δ of a class in place of the one of Li et al. 2012, which is larger.
        selection: how a node is drawn: by ``"permute-and-flip"``, or as published, by the ``"exponential"`` mechanism,
            which draws worse nodes at the same ε.
        accept_observed_domain: take taxonomies whose values were read off the data; the guarantee then says so.

    Raises:
        PolicyError: listing every problem at once.
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
        """ε'' or, if the node is drawn on the sample, the whole ε must be -ln(1 - β) at least; decided exactly."""
        if self.beta is None or not 0 < self.beta < 1:
            return
        name, epsilon = "epsilon_sampling", self.epsilon_sampling
        if self.select_on == "sample":
            name, epsilon = "epsilon_node and epsilon_sampling together", self.epsilon_sampling + self._epsilon_of_node
        if not is_admissible(self.beta, epsilon):
            least = -math.log1p(-as_float(self.beta))
            yield f"{name} must be at least -ln(1 - beta), {least:.5f}: that a row may be missing costs so much"

    @property
    def sampling(self) -> Sampling:
        """k, β and δ; one may be computed, see :func:`solved`."""
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
                "or an identifier, which is dropped; IPA() and Histogram() publish a sensitive column as it is"
            )
