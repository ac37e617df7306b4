"""Attackers who look for counterfeits: they learn which values classes have from classes that surely have none.

All rows of classes of more than k are true. Classifiers learn from them which values go with the labels of a class, and
judge the rows of classes of just k: the less its value was to be expected, the more suspicious is a row. Who knows by
which chances values were drawn compares with these (spec/hceiling_fill.md, *Reference*).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Classifier = Callable[[Integers, Floats], Callable[[Integers], Floats]]

STEPS = 300
PENALTY = 1.0


@dataclass(frozen=True)
class Published:
    """A release by classes and values.

    Attributes:
        names: the labels of each class.
        labels: the same as numbers, by quasi-identifier; shape (classes, quasi-identifiers).
        values: the values in their order.
        rows: rows of each value; shape (classes, values).
        invented: how many of them are counterfeits.
    """

    names: Sequence[tuple[Any, ...]]
    labels: Integers
    values: Sequence[Any]
    rows: Floats
    invented: Floats


def published(
    connection: duckdb.DuckDBPyConnection, columns: Sequence[str], sensitive: str, invented: str = "invented"
) -> Published:
    """The tables ``released`` and that of its counterfeits."""
    counts: dict[tuple[Any, ...], Floats] = {}
    values = [row[0] for row in connection.sql(f'SELECT DISTINCT "{sensitive}" FROM released ORDER BY ALL').fetchall()]
    place = {value: at for at, value in enumerate(values)}
    for table, at, counted in (("released", 0, "count(*)"), (invented, 1, "sum(counterfeits)")):
        listed = ", ".join(f'"{name}"' for name in (*columns, sensitive))
        for *labels, value, count in connection.sql(
            f"SELECT {listed}, {counted} FROM {table} GROUP BY ALL ORDER BY ALL"
        ).fetchall():
            counts.setdefault((*labels,), np.zeros((2, len(values))))[at, place[value]] += count
    names = list(counts)
    numbers = [np.unique([str(labels[at]) for labels in names], return_inverse=True)[1] for at in range(len(columns))]
    both = np.array(list(counts.values()))
    return Published(names, np.column_stack(numbers), values, both[:, 0], both[:, 1])


def naive_bayes(labels: Integers, rows: Floats) -> Callable[[Integers], Floats]:
    """Log-probabilities of values by labels, each quasi-identifier on its own, with one row more of each pair."""
    of_value = rows.sum(axis=0)
    found = []
    for of_column in labels.T:
        pairs = np.ones((of_column.max() + 2, rows.shape[1]))
        np.add.at(pairs, of_column, rows)
        found.append(np.log(pairs / pairs.sum(axis=0)))

    def judged(wanted: Integers) -> Floats:
        logs = np.log(of_value + 1) + sum(
            table[np.minimum(column, len(table) - 1)] for table, column in zip(found, wanted.T, strict=True)
        )
        return normalized(logs)

    return judged


def logistic_regression(labels: Integers, rows: Floats) -> Callable[[Integers], Floats]:
    """Log-probabilities of values by labels, one-hot, with a small penalty, by gradients that adapt (Adam)."""
    widths = labels.max(axis=0) + 1
    starts = np.concatenate([[0], np.cumsum(widths)])
    weights = np.zeros((starts[-1] + 1, rows.shape[1]))
    totals = rows.sum(axis=1, keepdims=True)

    def logits(wanted: Integers) -> Floats:
        known = np.where(wanted < widths, wanted + starts[:-1], -1)
        return weights[-1] + np.where((known >= 0)[..., None], weights[known], 0).sum(axis=1)

    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        error = totals * np.exp(normalized(logits(labels))) - rows
        gradient = PENALTY * weights
        gradient[-1] += error.sum(axis=0)
        for column, start in zip(labels.T, starts, strict=False):
            np.add.at(gradient, column + start, error)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        weights -= 0.1 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return lambda wanted: normalized(logits(wanted))


CLASSIFIERS: Mapping[str, Classifier] = {"naive Bayes": naive_bayes, "logistic regression": logistic_regression}


def suspicion(release: Published, k: int, classifier: Classifier, chances: Floats | None = None) -> Floats:
    """How suspicious a row of each class and value is: of shape (classes, values).

    Args:
        release: what is published.
        k: the size that classes are filled up to.
        classifier: what learns from larger ones.
        chances: those by which values were drawn, if the attacker knows them; shape (classes, values).
    """
    large = release.rows.sum(axis=1) > k
    logs = classifier(release.labels[large], release.rows[large])(release.labels)
    if chances is None:
        return -logs
    return np.log(np.maximum(chances, 1e-300)) - logs


def area(release: Published, scores: Floats) -> float:
    """The chance that a counterfeit is more suspicious than a true row of a class that has some."""
    filled = release.invented.sum(axis=1) > 0
    some, invented = scores[filled].ravel(), release.invented[filled].ravel()
    true = (release.rows - release.invented)[filled].ravel()
    order = np.argsort(some)
    some, invented, true = some[order], invented[order], true[order]
    ranks = np.concatenate([[0], np.cumsum(true)])
    below, upto = (ranks[np.searchsorted(some, some, side)] for side in ("left", "right"))
    return float((invented * (below + upto)).sum() / (2 * invented.sum() * true.sum()))


def link(release: Published, k: int, scores: Floats) -> float:
    """How often the least suspicious row of a person's class of k rows is that of the person."""
    small = release.rows.sum(axis=1) == k
    rows, invented, of_row = release.rows[small], release.invented[small], scores[small]
    least = np.where(rows > 0, of_row, np.inf)
    is_least = (least == least.min(axis=1, keepdims=True)) & (rows > 0)
    true = ((rows - invented) * is_least).sum(axis=1) / (rows * is_least).sum(axis=1)
    return float(true.sum() / (rows - invented).sum())


def normalized(logs: Floats) -> Floats:
    """Log-probabilities of what is in proportion to these."""
    shifted = logs - logs.max(axis=1, keepdims=True)
    found: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return found
