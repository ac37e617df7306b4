"""Draws in floating point, for algorithms as they were published: they claim nothing, and no loss is known of them."""

from __future__ import annotations

import numpy as np

from sqlanon.mechanisms.source import Floats, Integers


def laplace(uniforms: Floats, scale: float) -> Floats:
    """Laplace noise of the given scale, one for each number in (0, 1)."""
    centred = uniforms - 0.5
    noise: Floats = -scale * np.sign(centred) * np.log1p(-2 * np.abs(centred))
    return noise


def softmax_choice(log_weights: Floats, uniforms: Floats) -> Integers:
    """A position for each number in (0, 1), with probability in proportion to the exponential of its weight.

    Args:
        log_weights: shape (candidates,), or a row for each number, shape (numbers, candidates).
        uniforms: the numbers.
    """
    weights = np.exp(log_weights - np.max(log_weights, axis=-1, keepdims=True))
    cumulative = np.cumsum(weights, axis=-1)
    positions: Integers = np.sum(cumulative <= uniforms[:, None] * cumulative[..., -1:], axis=-1, dtype=np.int64)
    return positions
