"""Perturbations: how a policy has the values of published columns changed at random, or by groups.

Sources: Gouweleeuw, Kooiman, Willenborg and De Wolf 1998 (PRAM); Hansen and Mukherjee 2003 (microaggregation of one
column); Moore 1996 (rank swapping); Kim 1986 (masking by noise).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field, model_validator

from sqlanon.model.policy_value import Number, OneOrSeveral, PolicyValue, Share, failed_checks

Columns = Annotated[tuple[str, ...], OneOrSeveral]
Part = Annotated[Number, Field(gt=0, lt=1)]


class Perturbation(PolicyValue):
    """Base of perturbations.

    Args:
        within: columns of strata: values are changed among the rows that agree in them, as the source has them.
        again: perturb a column although a listed release has it perturbed; whoever has both can average out the draws.
    """

    kind: str
    within: Columns = ()
    again: bool = False

    is_nominal: ClassVar[bool] = False  # whether it takes numbers for categories, without distances
    keeps_domain: ClassVar[bool] = False  # whether every shown value is one of the source, so that any type will do
    keeps_multiset: ClassVar[bool] = False  # whether it is shown as often as the source has it, at most

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are perturbed by the same draws, beside the one that has the settings."""
        return getattr(self, "together", ())

    @property
    def in_words(self) -> str:
        """What happens to a value, for readers of a report."""
        raise NotImplementedError

    def tables(self, column: str) -> tuple[str, ...]:
        """Name the tables that a run publishes beside the rows."""
        return ()

    def claims(self, column: str) -> Iterator[str]:
        """State what the draws promise, a sentence each."""
        yield from ()

    def conditions(self, column: str) -> Iterator[str]:
        """State what the claims rest on."""
        yield from ()

    def not_covered(self, column: str) -> Iterator[str]:
        """State what remains possible."""
        yield f"{column} is perturbed, which hides neither whose row it is nor that a value is missing: NULL stays NULL"


class Pram(Perturbation):
    """The post-randomization method: a value becomes another one of its stratum with the probabilities of a matrix.

    NULL stays NULL.

    Args:
        form: ``"invariant"``, the default: with the probability ``change`` a value is drawn anew from its stratum, so
            that expected counts stay. ``"plain"``: it becomes any other value alike, whatever the counts are, which is
            local differential privacy of the column; :func:`anon.pram_estimate` recovers the counts. ``"two-step"``:
            invariant by two draws, as sdcMicro's ``pram`` with ``pd`` = 1 - ``change`` for all values.
        change: the probability of a draw, above 0 and below 1.
        alpha: the weight of the two draws in a two-step matrix, 1 - alpha that of no change.
        least_stay: the least probability with which a two-step matrix keeps a value; a lower one is refused.
        matrix: ``"publish"`` to have the matrix in a table beside the release, which the run has to name:
            ``tables={"pram_COLUMN": name}``. It is refused for strata of fewer than 100 rows, and where it has the
            shares of values of fewer than k rows, or 5.
    """

    kind: Literal["pram"] = "pram"
    form: Literal["invariant", "plain", "two-step"] = "invariant"
    change: Part = 0.1
    alpha: Annotated[Number, Field(gt=0, le=1)] = 0.5
    least_stay: Share = 0.5
    matrix: Literal["keep", "publish"] = "keep"
    is_nominal: ClassVar = True
    keeps_domain: ClassVar = True

    @property
    def in_words(self) -> str:
        return f"redrawn with probability {self.change:g} (PRAM, {self.form})"

    def tables(self, column: str) -> tuple[str, ...]:
        return (f"pram_{column}",) if self.matrix == "publish" else ()

    def epsilon(self, values: int) -> float:
        """The ε of a plain matrix of some values: two of them differ by this at most in the logarithm of a chance."""
        return abs(math.log((1 - self.change) * (values - 1) / self.change))

    def claims(self, column: str) -> Iterator[str]:
        if self.form == "plain":
            odds = (1 - self.change) / self.change
            yield (
                f"{column} has local differential privacy with ε = |ln({odds:.4g} (L - 1))| for its L possible values: "
                f"each value was kept with probability {1 - self.change:g}, or became any other one alike"
            )
        elif self.form == "invariant":
            yield f"each value of {column} was, with probability {self.change:g}, drawn anew from those of its stratum"
        else:
            yield (
                f"each value of {column} went, with probability {self.alpha:g}, through two draws within its stratum, "
                f"a first one that kept it with probability {1 - self.change:g}, and one back"
            )

    def conditions(self, column: str) -> Iterator[str]:
        if self.form == "plain":
            yield f"the possible values of {column} and the probabilities were fixed before the rows were seen"

    def not_covered(self, column: str) -> Iterator[str]:
        yield from super().not_covered(column)
        if self.form != "plain":
            yield (
                f"a shown value of {column} is the true one with the probability of no change, and more often where "
                "most rows of its stratum have it"
            )
        if self.matrix == "publish":
            shown = "says which values occur in" if self.form == "plain" else "has the exact shares of the values of"
            yield f"the published matrix of {column} {shown} each stratum"


class GroupedValues(Perturbation):
    """Microaggregation of one column: the least sum of squares by groups of k to 2k-1 neighbours.

    Args:
        k: the fewest rows of a group, at most 1,000.
        value: what a group shows, its ``"mean"``, which keeps the mean of the column, or its ``"median"``. If the
            policy names ``row_weight``, means are weighted, and keep the weighted total.
    """

    kind: Literal["microaggregation"] = "microaggregation"
    k: Annotated[int, Field(ge=2, le=1_000, strict=True)] = 3
    value: Literal["mean", "median"] = "mean"

    @property
    def in_words(self) -> str:
        return f"the {self.value} of a group of {self.k} or more rows of near values (microaggregation)"

    def not_covered(self, column: str) -> Iterator[str]:
        yield from super().not_covered(column)
        yield (
            f"groups of {self.k} or more values of {column} protect from exact matches only: a shown number is near "
            "the true one, equal to it where a group has one value, and whoever knows all others of a group knows it"
        )


class RankSwapping(Perturbation):
    """Values change places with others that are near by rank: those of a block of ranks are permuted.

    NULL has no rank: a row with it keeps its values, also in the columns that move along.

    Args:
        share: the share of the rows of a stratum in a block; no value moves further.
        together: columns that move by the same permutation.
    """

    kind: Literal["swap"] = "swap"
    share: Annotated[Number, Field(gt=0, le=1)] = 0.05
    together: Columns = ()
    keeps_domain: ClassVar = True
    keeps_multiset: ClassVar = True

    @property
    def in_words(self) -> str:
        return f"permuted within {100 * self.share:g} % of the ranks (rank swapping)"

    def not_covered(self, column: str) -> Iterator[str]:
        yield from super().not_covered(column)
        yield (
            f"shown values of {column} are true ones of other rows, near by rank: extremes remain extremes, and a "
            "value may have returned to its own row"
        )
        if self.together:
            yield f"rows in which the column of the ranks is NULL show their own values of {column}"


class Noise(Perturbation):
    """Normal noise on numbers, by the deviations of their stratum; they keep their type, rounded and within its range.

    Numbers stay within the bounds of ``bottom_coding`` and ``top_coding``, too.

    Args:
        relative: the standard deviation of the noise in standard deviations of the column, at most 1e100.
        form: ``"masked"``, the default: values are shrunk towards the mean so that means, variances and correlations
            of the columns stay in expectation. ``"correlated"``: noise with the correlations of the columns, on top of
            them. ``"additive"``: independent noise by column, on top of them.
        together: columns with noise of one draw.
        keep_zero: whether 0 stays 0.
    """

    kind: Literal["noise"] = "noise"
    relative: Annotated[Number, Field(gt=0, le=1e100)] = 0.1
    form: Literal["masked", "correlated", "additive"] = "masked"
    together: Columns = ()
    keep_zero: bool = False

    @model_validator(mode="after")
    def _shrinkable(self) -> Noise:
        if self.form == "masked" and self.relative >= 1:
            raise failed_checks(
                ["masked noise of one standard deviation or more leaves nothing of a value: give relative below 1"]
            )
        return self

    @property
    def in_words(self) -> str:
        return f"with noise of {self.relative:g} standard deviations ({self.form})"

    def not_covered(self, column: str) -> Iterator[str]:
        yield from super().not_covered(column)
        yield f"shown numbers of {column} are near the true ones: outliers remain outliers"
        if self.keep_zero:
            yield f"rows with 0 in {column} show it"


AnyPerturbation: TypeAlias = Annotated[Pram | GroupedValues | RankSwapping | Noise, Field(discriminator="kind")]
