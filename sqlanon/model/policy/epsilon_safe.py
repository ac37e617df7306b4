"""The settings of ε-safe anonymization: which classes of a sample are published, and what that costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from sqlanon.errors import PolicyError
from sqlanon.model.base import PolicyValue, failed_checks
from sqlanon.model.budget import Budget, Exact, ExactNumber, as_float, spelled
from sqlanon.model.policy.private_node import NODE, NodeMethod
from sqlanon.model.policy.sampling import Sampling, is_admissible, solved

if TYPE_CHECKING:
    from sqlanon.model.policy.policy import Policy

SAMPLE = "sample"
"""The step that publishes the classes of a sample, as budgets and ledgers name it."""

MAX_K = 1_000_000
"""The largest k: up to there δ is right to the digits that are claimed."""

MAX_WEIGHT = 1000
"""The largest weight of a suppressed row."""

DEFAULT_WEIGHT = 5

DEFAULT_EPSILON_NODE = Fraction(1, 10)


def _written(value: Any) -> Any:
    """A share may be a float: its shortest digits are those that were written."""
    return repr(value) if type(value) is float else value


Share = Annotated[ExactNumber, BeforeValidator(_written)]


class EpsilonSafe(NodeMethod):
    """k-anonymity that is differentially private: a node that is drawn, and its classes of k rows or more of a sample.

    The node is drawn on the whole table, by its score. Then each row is in a sample or not, by chance and on its own.
    Published are the rows of the sample in classes that have k of them or more; of the others nothing is, not even how
    many there are. All columns that are published are generalized.

    Two of k, beta and delta are given; the third follows: the least k, the largest beta in steps of 1/1000, or δ.

    Source: Mazzone 2019, section 4.5, corrected as in spec/epsafe.md (b); Li, Qardaji and Su 2012, theorem 1; Bild,
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
        accept_observed_domain: take taxonomies whose values were read off the data; the guarantee then says so.

    Raises:
        PolicyError: listing every problem at once.
        EngineError: scipy is not installed.
    """

    model: Literal["epsilon-safe"] = "epsilon-safe"
    k: Annotated[int, Field(ge=2, le=MAX_K, strict=True)] | None = None
    beta: Share | None = None
    delta: ExactNumber | None = None
    epsilon_node: ExactNumber | None = None
    epsilon_sampling: ExactNumber = Fraction(1)
    suppressed_weight: Annotated[int, Field(ge=1, le=MAX_WEIGHT, strict=True)] = DEFAULT_WEIGHT
    select_on: Literal["table", "sample"] = "table"
    tight: bool = False

    # More than six parameters: what users may set, each on its own.
    def __init__(
        self,
        *,
        k: int | None = None,
        beta: Exact | float | None = None,
        delta: Exact | None = None,
        epsilon_node: Exact | None = None,
        epsilon_sampling: Exact = 1,
        suppressed_weight: int = DEFAULT_WEIGHT,
        node: Mapping[str, int] | None = None,
        select_on: Literal["table", "sample"] = "table",
        tight: bool = False,
        accept_observed_domain: bool = False,
        **unknown: Any,
    ) -> None:
        PolicyValue.__init__(
            self,
            k=k,
            beta=beta,
            delta=delta,
            epsilon_node=epsilon_node,
            epsilon_sampling=epsilon_sampling,
            suppressed_weight=suppressed_weight,
            node=node,
            select_on=select_on,
            tight=tight,
            accept_observed_domain=accept_observed_domain,
            **unknown,
        )

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
        yield from self._problems_on_table() if self.select_on == "table" else self._problems_on_sample()
        if self.node is None and self.epsilon_node == 0:
            yield "epsilon_node must be positive for a node that is drawn: give node, a public one, or spend something"
        if self.node is not None and self.epsilon_node:
            yield "epsilon_node must not be given, or be 0: a public node costs nothing"
        yield from self._missing_row_costs()

    def _problems_on_table(self) -> Iterator[str]:
        if len(missing := self._missing) > 1:
            yield f"give {' or '.join(missing)}: of k, beta and delta two are given, and the third is computed"

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
        """k, β and δ; one may be computed.

        Raises:
            PolicyError: no k, or no β, costs as little as δ.
        """
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
        """What a release costs."""
        return Budget(self._epsilon_of_node + self.epsilon_sampling, self.sampling.delta)

    @property
    def budgets(self) -> dict[str, Budget]:
        sample = {SAMPLE: Budget(self.epsilon_sampling, self.sampling.delta)}
        return sample if self.node is not None else {NODE: Budget(self._epsilon_of_node), **sample}

    @property
    def chooses_node(self) -> bool:
        return self.node is None

    @property
    def is_pure(self) -> bool:
        return False

    def counted_columns(self, policy: Policy) -> tuple[str, ...]:
        return ()

    def _roles_that_misfit(self, policy: Policy) -> Iterable[str]:
        for name in (*policy.sensitive, *policy.insensitive):
            yield (
                f'{self} generalizes all columns that it publishes: make "{name}" a quasi-identifier with a taxonomy, '
                "or an identifier, which is dropped; IPA() and Histogram() publish a sensitive column as it is"
            )
        yield from self._weights(policy)
