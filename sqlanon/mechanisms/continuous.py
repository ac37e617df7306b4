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
    """A position for each number in (0, 1), with probability in proportion to the exponential of its weight."""
    cumulative = np.cumsum(np.exp(log_weights - np.max(log_weights)))
    positions: Integers = np.searchsorted(cumulative, uniforms * cumulative[-1], side="right")
    return positions
