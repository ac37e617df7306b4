"""Combinations of values as matrices, by what is known of the training part alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.evaluation.combinations import Combinations
from sqlanon.model.extras import extra_module

UNKNOWN = -1
"""The code of a label that the training part does not have."""

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def matrices(training: Combinations, test: Combinations) -> tuple[Any, Any]:
    """Both parts as sparse matrices with the same columns, a row per combination.

    A text is one-hot, a list the one-hot of its items, present or not; a value that the training part does not have is
    all zeros. A number is standardized by the mean and the standard deviation of the training rows. What is missing is
    first taken to be the mode of the training rows; the smallest, if there are several.

    Returns:
        matrices of shape (combinations of the part, features). There is no feature if no training row has a value.

    Raises:
        EngineError: scipy is not installed.
    """
    blocks = [_block(values, test.predictors[name], training.weights) for name, values in training.predictors.items()]
    learned, asked = (_sparse().hstack(parts, format="csr") for parts in zip(*blocks, strict=True))
    return learned, asked


def label_codes(labels: Iterable[Any], known: Sequence[Any]) -> Codes:
    """The places of labels among the known ones, :data:`UNKNOWN` for others; shape (combinations,)."""
    places = {label: place for place, label in enumerate(known)}
    return np.array([places.get(label, UNKNOWN) for label in labels], dtype=np.int64)


def _block(training: list[Any], test: list[Any], weights: Floats) -> tuple[Any, Any]:
    """The features of one predictor, of both parts."""
    usual = _mode(training, weights)
    if usual is None:
        return _one_hot([()] * len(training), [()] * len(test))
    learned, asked = ([usual if value is None else value for value in values] for values in (training, test))
    if isinstance(usual, float):
        return _standardized(np.array(learned), np.array(asked), weights)
    return _one_hot(learned, asked)


def _mode(values: Sequence[Any], weights: Floats) -> Any:
    """The value of the greatest weight; None if none is known."""
    codes, distinct = _codes(values)
    totals = dict(zip(distinct, np.bincount(codes, weights=weights), strict=True))
    return min(totals.keys() - {None}, key=lambda value: (-totals[value], value), default=None)


def _standardized(training: Floats, test: Floats, weights: Floats) -> tuple[Any, Any]:
    mean = np.average(training, weights=weights)
    # Rounding may leave some deviation to equal values: other values would then be magnified without end.
    is_constant = training.min() == training.max()
    deviation = 1.0 if is_constant else np.sqrt(np.average((training - mean) ** 2, weights=weights))
    learned, asked = (_csr(((values - mean) / deviation).reshape(-1, 1)) for values in (training, test))
    return learned, asked


def _one_hot(training: Sequence[Any], test: Sequence[Any]) -> tuple[Any, Any]:
    places = {
        item: place for place, item in enumerate(sorted({item for each in set(training) for item in _items(each)}))
    }
    return _marked(training, places), _marked(test, places)


def _marked(values: Sequence[Any], places: dict[str, int]) -> Any:
    """A matrix with a 1 at the place of each known item of each value."""
    codes, distinct = _codes(values)
    marks = [[places[item] for item in _items(value) if item in places] for value in distinct]
    starts = np.cumsum([0, *map(len, marks)])
    found = np.array(list(chain.from_iterable(marks)), dtype=np.int64)
    return _csr((np.ones(len(found)), found, starts), shape=(len(distinct), len(places)))[codes]


def _items(value: Any) -> tuple[str, ...]:
    """A text as a list of one item."""
    return value if isinstance(value, tuple) else (value,)


def _codes(values: Sequence[Any]) -> tuple[Codes, list[Any]]:
    """The place of each value among the distinct ones, and these."""
    distinct: dict[Any, int] = {}
    codes = np.fromiter((distinct.setdefault(value, len(distinct)) for value in values), np.int64, len(values))
    return codes, list(distinct)


def _csr(values: Any, **settings: Any) -> Any:
    """A sparse matrix of rows."""
    return _sparse().csr_matrix(values, **settings)


def _sparse() -> Any:
    return extra_module("scipy.sparse", extra="eval", purpose="Classification accuracy")
