"""Classification accuracy: how well labels are predicted by a classifier that was trained on a release."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sqlanon.engines.base import Engine
from sqlanon.engines.locks import exclusive
from sqlanon.engines.relations import Source
from sqlanon.evaluation.accuracy_checks import (
    CLASSIFIERS,
    Asked,
    Classifier,
    Pair,
    refuse_arguments,
    refuse_no_pair,
    refuse_rows,
    refuse_values,
    require_scikit_learn,
)
from sqlanon.evaluation.combinations import Combinations, Floats, Roles, columns_of, combinations, label_codes, matrices
from sqlanon.model.release.measurement import Result

if TYPE_CHECKING:
    from sqlanon.api.session import Session

SEEDS = range(10)
"""Those that are taken if none are given."""


class Accuracy(Result):
    """The accuracies of one classifier.

    Attributes:
        mean: over all seeds, in [0, 1].
        sd: their standard deviation (that of a sample); None with one seed.
        each: the share of the test rows whose label was predicted, by seed.
    """

    mean: float
    sd: float | None
    each: tuple[float, ...]


class Classification(Result):
    """How well labels are predicted.

    Attributes:
        ca: the accuracy of each classifier that was trained on the release.
        la: the share of the test rows that have the most frequent label of the release; the smallest such label, if
            there are several.
        ba: the accuracy of each classifier that was trained on raw rows; None if none were given.
        seeds: in the order of the accuracies.
        training_weight: the rows of the release, or what they weigh.
        test_weight: the rows of the test table, likewise.
    """

    ca: dict[str, Accuracy]
    la: float
    ba: dict[str, Accuracy] | None
    seeds: tuple[int, ...]
    training_weight: float
    test_weight: float


# More than six parameters: the tables, what their columns are for, and what is trained.
@exclusive
def classification(
    session: Session,
    release: Source,
    test: Source,
    *,
    target: str,
    models: str | Sequence[str] = ("tree", "logistic"),
    weight: str | None = None,
    seeds: Iterable[int] = SEEDS,
    raw: tuple[Source, Source] | None = None,
) -> Classification:
    """How well classifiers that were trained on a release predict the labels of other rows (CA, LA and BA).

    The classifiers are a decision tree (CART, each leaf with at least 0.05 % of the training weight) and logistic
    regression. All columns beside the target and the weight are predictors: generalized values and all else that is not
    a number as one-hot, lists as sets of items, numbers standardized on the training rows; a value that the training
    rows do not have is all zeros, and a missing one (NULL, or a number that is not finite) is their mode. Equal rows
    are counted by the database, and weigh as many.

    The accuracy is measured on true rows: a differentially private release does not promise it, and
    publishing it, or choosing settings by it, would break the promise. Needs the extra ``eval``.

    Args:
        session: where the tables are.
        release: what is trained on.
        test: rows that are not in the release, generalized as these are, with none suppressed and nothing drawn.
        target: the column with the labels; NULL is none.
        models: which classifiers, ``tree`` and ``logistic``.
        weight: the column of the release that says how many rows a row stands for, such as noisy counts that are not
            negative; that of all other tables that have such a column, too. Rows of weight 0 count as if they were not
            there.
        seeds: of the classifiers that draw, from 0 to 2³² - 1; each is trained once a seed. Logistic regression draws
            nothing.
        raw: training and test rows as they are, to report what the same classifiers reach there (BA).

    Returns:
        the accuracies, in [0, 1]; the same for the same rows, in whatever order, and seeds.

    Raises:
        PolicyError: a model is unknown, a seed is none, or ``raw`` is not a pair; a table lacks the target or the
            weight; the tables of a pair differ in their columns, or in whether a column has numbers, lists or something
            else; weights are NULL, negative, not finite or no numbers; rows have no label; a table has no rows, or
            training rows have one label alone; or the tables of a pair have no label in common. What is wrong with
            arguments and columns is listed as a whole, and then what is wrong with rows.
        EngineError: scikit-learn is not installed, or the database refused a step.

    Source: Mohammed et al. 2013 and 2011 (DiffGen), "classification accuracy", with CART in place of C4.5.
    """
    asked = Asked([models] if isinstance(models, str) else list(dict.fromkeys(models)), tuple(seeds), target, weight)
    pairs = [_opened(session, ("the release", release), ("the test table", test))]
    if raw is not None:
        refuse_no_pair(raw)
        pairs.append(_opened(session, ("the raw training table", raw[0]), ("the raw test table", raw[1])))
    refuse_arguments(asked, pairs)
    require_scikit_learn()
    with session._engine.transaction():
        read = _read(session._engine, pairs, [asked.roles(training) for training, _ in pairs])
    learned, tested = read[0]
    return Classification(
        ca=_accuracies(learned, tested, asked),
        la=_majority_accuracy(learned, tested),
        ba=_accuracies(*read[1], asked) if raw is not None else None,
        seeds=asked.seeds,
        training_weight=float(learned.weights.sum()),
        test_weight=float(tested.weights.sum()),
    )


def _opened(session: Session, training: tuple[str, Source], test: tuple[str, Source]) -> Pair:
    """Two tables by what they are for, with their columns."""
    first, second = (
        columns_of(session._engine, role, session._opened.resolve(source)) for role, source in (training, test)
    )
    return first, second


def _read(engine: Engine, pairs: Sequence[Pair], roles: Sequence[Roles]) -> list[tuple[Combinations, Combinations]]:
    """The combinations of both tables of all pairs.

    Raises:
        PolicyError: there are rows that nothing can be learned from, or tested on.
    """
    refuse_rows(engine, pairs, roles)
    read = [
        (combinations(engine, training, role), combinations(engine, test, role))
        for (training, test), role in zip(pairs, roles, strict=True)
    ]
    refuse_values(pairs, read)
    return read


def _accuracies(training: Combinations, test: Combinations, asked: Asked) -> dict[str, Accuracy]:
    """Train each model once a seed; one that draws nothing once."""
    known = sorted(set(training.labels))
    learned, tested = matrices(training, test)
    codes, truth = label_codes(training.labels, known), label_codes(test.labels, known)

    def shares(model: Classifier) -> list[float]:
        features, others = model.shape(learned), model.shape(tested)
        found = []
        for seed in asked.seeds if model.draws else asked.seeds[:1]:
            trained = model.make(seed).fit(features, codes, sample_weight=training.weights)
            found.append(_share(trained.predict(others) == truth, test.weights))
        return found if model.draws else found * len(asked.seeds)

    found = {}
    for name in asked.models:
        each = shares(CLASSIFIERS[name])
        sd = statistics.stdev(each) if len(each) > 1 else None
        found[name] = Accuracy(mean=statistics.fmean(each), sd=sd, each=tuple(each))
    return found


def _majority_accuracy(training: Combinations, test: Combinations) -> float:
    """LA: what is right if all rows are given the most frequent label."""
    known = sorted(set(training.labels))
    totals = np.bincount(label_codes(training.labels, known), weights=training.weights)
    truth = label_codes(test.labels, known)
    return _share(truth == int(np.argmax(totals)), test.weights)


def _share(is_right: NDArray[np.bool_], weights: Floats) -> float:
    return float(weights[is_right].sum() / weights.sum())
