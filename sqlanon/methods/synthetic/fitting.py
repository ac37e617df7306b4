"""Fit a graphical model to noisy marginals by mirror descent (McKenna, Sheldon & Miklau 2019)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sqlanon.methods.synthetic.beliefs import Beliefs, Columns, Floats, Structure

MIN_GAIN = 1e-6  # the fit has converged if :data:`PATIENCE` steps lower the loss by less

PATIENCE = 10

MAX_MODEL_ROWS = 2**36  # maximum number of rows of a table or a model: scores are 64-bit integers and must not overflow

FASTER, SLOWER = 1.1, 0.5  # factors of the step length after an accepted and a rejected step


@dataclass(frozen=True)
class Measurement:
    """Noisy counts of a marginal; of several draws the mean, weighted by inverse variances."""

    counts: Floats  # an axis per column
    precision: float  # the inverse variance of a count's noise

    @classmethod
    def of(cls, counts: NDArray[np.int64], sigma: float) -> Measurement:
        return cls(counts.astype(np.float64), sigma**-2)

    def merged(self, other: Measurement) -> Measurement:
        precision = self.precision + other.precision
        counts = (self.counts * self.precision + other.counts * other.precision) / precision
        return Measurement(counts, precision)


Measurements = Mapping[Columns, Measurement]
Potentials = Mapping[Columns, Floats]


@dataclass(frozen=True)
class Model:
    potentials: Potentials  # by measured set
    beliefs: Beliefs
    total: float  # the number of rows
    excess: Mapping[Columns, Floats]  # by measured set, the expected minus the measured counts
    loss: float  # Σ precision / 2 * |excess|² over all measurements
    step: float  # the length of a descent from here along the gradient

    def counts(self, columns: Columns) -> Floats:
        return self.total * self.beliefs.marginal(columns)


def total_of(measurements: Iterable[Measurement]) -> float:
    """Estimate the number of rows: the precision-weighted mean of the totals of noisy marginals.

    Whatever the noise, it is at least 1 and at most :data:`MAX_MODEL_ROWS`.
    """
    weighed = [(each.counts.sum(), each.precision / each.counts.size) for each in measurements]
    mean = float(sum(total * weight for total, weight in weighed) / sum(weight for _, weight in weighed))
    return min(max(1.0, mean), float(MAX_MODEL_ROWS))


def fitted(
    sizes: Sequence[int],
    measurements: Measurements,
    *,
    steps: int,
    start: Model | None = None,
    impossible: Mapping[Columns, NDArray[np.bool_]] | None = None,
) -> Model:
    """Fit a model to measurements, starting from an earlier model's potentials.

    Mirror descent with Nesterov's momentum, restarted whenever the loss rises (O'Donoghue & Candès 2015), stops early
    when it has converged. The earlier model was fitted to some of the measurements. ``impossible`` marks, by set of
    columns, the combinations that cannot occur.
    """
    descent = _Descent(sizes, measurements, impossible or {})
    model = descent.first(start)
    ahead, momentum, losses = model, 1.0, [model.loss]
    for _ in range(steps):
        new = descent.after_step(ahead, model.step)
        if ahead.loss - new.loss < descent.slope(ahead, new) / 2:
            model = replace(model, step=model.step * SLOWER)
            continue
        if new.loss > model.loss:
            ahead, momentum = model, 1.0
        else:
            following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
            ahead = descent.beyond(model, new, (momentum - 1) / following)
            model, momentum = replace(new, step=model.step * FASTER), following
        losses.append(model.loss)
        if len(losses) > PATIENCE and losses[-PATIENCE - 1] - model.loss < MIN_GAIN:
            break
    return model


class _Descent:
    def __init__(
        self, sizes: Sequence[int], measurements: Measurements, impossible: Mapping[Columns, NDArray[np.bool_]]
    ) -> None:
        self._measurements = measurements
        self._excluded = {columns: np.where(cannot, -np.inf, 0.0) for columns, cannot in impossible.items()}
        self._structure = Structure.of(sizes, [*measurements, *impossible])
        self._total = total_of(measurements.values())

    def first(self, start: Model | None) -> Model:
        before = {} if start is None else start.potentials
        potentials = {
            each: before[each] if each in before else np.zeros(found.counts.shape)
            for each, found in self._measurements.items()
        }
        # A step of this length cannot raise the loss: a change of a marginal is no longer in L2 than in L1 norm.
        safe = 1 / (self._total**2 * sum(found.precision for found in self._measurements.values()))
        return self._model(potentials, safe if start is None else start.step)

    def after_step(self, model: Model, step: float) -> Model:
        lengths = {each: step * self._total * found.precision for each, found in self._measurements.items()}
        down = {each: model.potentials[each] - length * model.excess[each] for each, length in lengths.items()}
        return self._model(down, step)

    def beyond(self, before: Model, new: Model, share: float) -> Model:
        """Extrapolate beyond the new model by a share of its distance from the previous one."""
        if not share:
            return new
        ways = {each: new.potentials[each] - before.potentials[each] for each in new.potentials}
        return self._model({each: new.potentials[each] + share * way for each, way in ways.items()}, new.step)

    def slope(self, model: Model, new: Model) -> float:
        return sum(
            found.precision * float(np.vdot(model.excess[each], model.excess[each] - new.excess[each]))
            for each, found in self._measurements.items()
        )

    def _model(self, potentials: Potentials, step: float) -> Model:
        excluded = {each: potentials.get(each, 0.0) + never for each, never in self._excluded.items()}
        beliefs = self._structure.beliefs({**potentials, **excluded})
        marginals = self._structure.marginals(beliefs)
        excess = {each: self._total * marginals[each] - found.counts for each, found in self._measurements.items()}
        loss = sum(
            found.precision / 2 * float(np.vdot(excess[each], excess[each]))
            for each, found in self._measurements.items()
        )
        return Model(potentials, beliefs, self._total, excess, loss, step)
