"""The classifiers of the measure, as scikit-learn has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlanon.model.extras import extra_module

SMALLEST_LEAF = 0.0005
"""The least share of the training weight in a leaf of a tree."""

MAX_ITERATIONS = 1000
"""Of L-BFGS: raw UCI Adult needs 81. scikit-learn warns where they are not enough."""


MAX_DENSE_NUMBERS = 50_000_000
"""The most numbers of a matrix that trees learn from as it is, 200 MB; from a larger one as a sparse one.

Of 95,600 combinations in 37 features (`sqlanon reproduce diffgen`, h = 16): 0.5 s in place of 3.2, and the same tree.
"""


@dataclass(frozen=True)
class Classifier:
    """A kind of classifier.

    Attributes:
        make: makes an untrained one from a seed.
        draws: whether what it learns depends on the seed.
        shape: makes of a sparse matrix of features the one that it learns from.
    """

    make: Callable[[int], Any]
    draws: bool
    shape: Callable[[Any], Any]


def _tree(seed: int) -> Any:
    """CART by Gini impurity; the seed decides between splits that are equally good."""
    return _module("sklearn.tree").DecisionTreeClassifier(min_weight_fraction_leaf=SMALLEST_LEAF, random_state=seed)


def _dense(features: Any) -> Any:
    """Numbers as trees compare them, unless they are too many."""
    rows, columns = features.shape
    return features.astype("float32").toarray() if rows * columns <= MAX_DENSE_NUMBERS else features


def _sparse(features: Any) -> Any:
    """As they are: of one-hot features most are 0."""
    return features


def _logistic(_: int) -> Any:
    """Logistic regression with an L2 penalty of C = 1, by L-BFGS, which draws nothing."""
    return _module("sklearn.linear_model").LogisticRegression(max_iter=MAX_ITERATIONS)


def require_scikit_learn() -> None:
    """Refuse to go on without it.

    Raises:
        EngineError: it is not installed.
    """
    _module("sklearn")


def _module(name: str) -> Any:
    return extra_module(name, extra="eval", purpose="Classification accuracy")


CLASSIFIERS = {
    "tree": Classifier(_tree, draws=True, shape=_dense),
    "logistic": Classifier(_logistic, draws=False, shape=_sparse),
}
"""By the names that callers give."""
