"""Perturbations: how a policy has the values of published columns changed at random, or by groups.

Sources: Gouweleeuw, Kooiman, Willenborg and De Wolf 1998 (PRAM); Hansen and Mukherjee 2003 (microaggregation of one
column); Moore 1996 (rank swapping); Kim 1986 (masking by noise).
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field

from sqlanon.model.policy_value import Number, OneOrSeveral, PolicyValue, Share

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
    changes: ClassVar[str]  # what becomes of a value, in words

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are perturbed by the same draws, beside the one that has the settings."""
        return ()

    @property
    def takes_texts(self) -> bool:
        """Whether values may be of any type."""
        return False


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
        matrix: ``"publish"`` if the matrix may go into a table beside the release, which the run has to name.
    """

    kind: Literal["pram"] = "pram"
    form: Literal["invariant", "plain", "two-step"] = "invariant"
    change: Part = 0.1
    alpha: Annotated[Number, Field(gt=0, le=1)] = 0.5
    least_stay: Share = 0.5
    matrix: Literal["keep", "publish"] = "keep"
    changes: ClassVar = "a value may be shown as another one of its column"

    @property
    def takes_texts(self) -> bool:
        return True


class GroupedValues(Perturbation):
    """Microaggregation of one column: the least sum of squares by groups of k to 2k-1 neighbours.

    Args:
        k: the fewest rows of a group.
        value: what a group shows, its ``"mean"``, which keeps the mean of the column, or its ``"median"``.
    """

    kind: Literal["microaggregation"] = "microaggregation"
    k: Annotated[int, Field(ge=2, strict=True)] = 3
    value: Literal["mean", "median"] = "mean"
    changes: ClassVar = "a value is shown as the mean or median of its group of at least k rows"


class RankSwapping(Perturbation):
    """Values change places with others that are near by rank: those of a block of ranks are permuted.

    Args:
        share: the share of the rows of a stratum in a block; no value moves further.
        together: columns that move by the same permutation.
    """

    kind: Literal["swap"] = "swap"
    share: Annotated[Number, Field(gt=0, le=1)] = 0.05
    together: Columns = ()
    changes: ClassVar = "a value is shown in another row, whose own value is near by rank"

    @property
    def columns(self) -> tuple[str, ...]:
        return self.together

    @property
    def takes_texts(self) -> bool:
        return True


class Noise(Perturbation):
    """Normal noise on numbers.

    Args:
        relative: the standard deviation of the noise in standard deviations of the column.
        form: ``"masked"``, the default: values are shrunk towards the mean so that means, variances and correlations
            of the columns stay in expectation. ``"correlated"``: noise with the correlations of the columns, on top of
            them. ``"additive"``: independent noise by column, on top of them.
        together: columns with noise of one draw.
        keep_zero: whether 0 stays 0.
    """

    kind: Literal["noise"] = "noise"
    relative: Annotated[Number, Field(gt=0)] = 0.1
    form: Literal["masked", "correlated", "additive"] = "masked"
    together: Columns = ()
    keep_zero: bool = False
    changes: ClassVar = "a number is shown with noise"

    @property
    def columns(self) -> tuple[str, ...]:
        return self.together


AnyPerturbation: TypeAlias = Annotated[Pram | GroupedValues | RankSwapping | Noise, Field(discriminator="kind")]
