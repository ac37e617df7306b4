"""Classification accuracy: how well a classifier trained on a release predicts labels."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sqlanon.engines.duckdb import Compute
from sqlanon.engines.locks import exclusive
from sqlanon.engines.relations import Source
from sqlanon.errors import PolicyError
from sqlanon.evaluation.combinations import (
    Combinations,
    Floats,
    Part,
    Roles,
    columns_of,
    combinations,
    contents,
    kind_of,
    label_codes,
    matrices,
)
from sqlanon.model.names import folded
from sqlanon.model.policy_value import did_you_mean, unknown_names
from sqlanon.model.release.measurement import Result
from sqlanon.satellites import extra_module

if TYPE_CHECKING:
    from sqlanon.api.session import Session

HEADING = "the accuracy cannot be measured:"

MIN_LEAF_SHARE = 0.0005  # smallest share of the training weight in a leaf of a tree
MAX_ITERATIONS = 1000  # L-BFGS needs 81 for raw UCI Adult; scikit-learn warns if they are not enough

# Trees learn from a dense matrix of at most this many numbers (200 MB), and from a sparse one beyond. 95,600
# combinations in 37 features (`sqlanon reproduce diffgen`, h = 16) take 0.5 s dense, 3.2 s sparse, for equal trees.
MAX_DENSE_NUMBERS = 50_000_000

MAX_SEED = 2**32 - 1  # largest seed of scikit-learn
SEEDS = range(10)  # by default
Pair = tuple[Part, Part]  # a training table and its test table


class Accuracy(Result):
    """The accuracies of one classifier.

    Attributes:
        mean: over all seeds, in [0, 1].
        sd: the sample standard deviation over seeds; None with one seed.
        each: the share of correctly predicted test rows, by seed.
    """

    mean: float
    sd: float | None
    each: tuple[float, ...]


class Classification(Result):
    """The accuracy of predicted labels.

    Attributes:
        ca: the accuracy of each classifier, trained on the release.
        la: the share of test rows with the most frequent label of the release; of several, the smallest label.
        ba: the accuracy of each classifier, trained on raw rows; None without raw rows.
        seeds: in the order of the accuracies.
        training_weight: the rows of the release, or their weight.
        test_weight: the rows of the test table, or their weight.
    """

    ca: dict[str, Accuracy]
    la: float
    ba: dict[str, Accuracy] | None
    seeds: tuple[int, ...]
    training_weight: float
    test_weight: float


# More than six parameters: tables, roles of columns, and classifiers.
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
    """Measure how well classifiers trained on a release predict the labels of other rows (CA, LA and BA).

    The classifiers are a decision tree (CART, each leaf with at least 0.05 % of the training weight) and logistic
    regression. All columns except the target and the weight are predictors: generalized values and others that are not
    numbers as one-hot, lists as sets of items, numbers standardized on the training rows; a value that the training
    rows lack is all zeros, and a missing one (NULL, or a number that is not finite) is their mode. The database counts
    equal rows, which become weights.

    The accuracy is measured on true rows: a differentially private release does not cover it, and publishing it, or
    choosing settings by it, would break the promise. Needs the extra ``eval``.

    Args:
        session: the session that has the tables.
        release: the training rows.
        test: rows that are not in the release, generalized alike, without suppression or noise.
        target: the column with the labels; NULL is not a label.
        models: the classifiers, ``tree`` and ``logistic``.
        weight: the column of the release with the number of rows that a row stands for, such as nonnegative noisy
            counts; also in every other table with such a column. Rows of weight 0 are ignored.
        seeds: of the classifiers that draw, from 0 to 2³² - 1; each is trained once per seed. Logistic regression draws
            nothing.
        raw: raw training and test rows, to report the same classifiers' accuracy on them (BA).

    Returns:
        the accuracies, in [0, 1], which depend only on the rows, in any order, and the seeds.

    Raises:
        PolicyError: a model is unknown, a seed is invalid, or ``raw`` is not a pair; a table lacks the target or the
            weight; the tables of a pair differ in their columns, or in whether a column has numbers, lists or something
            else; weights are NULL, negative, not finite or not numbers; rows have no label; a table has no rows, or
            training rows have a single label; or the tables of a pair have no label in common. Problems of arguments
            and columns are listed together, and then problems of rows.
        EngineError: scikit-learn is not installed, or the database refused a step.

    Source: Mohammed et al. 2013 and 2011 (DiffGen), "classification accuracy", with CART in place of C4.5.
    """
    engine = session._engine

    def opened(role: str, source: Source) -> Part:
        return columns_of(engine, role, session._opened.resolve(source))

    asked = _Asked([models] if isinstance(models, str) else list(dict.fromkeys(models)), tuple(seeds), target, weight)
    pairs = [(opened("the release", release), opened("the test table", test))]
    if raw is not None:
        if not isinstance(raw, tuple | list) or len(raw) != 2:
            raise PolicyError("raw is a pair of sources, training rows and test rows")
        pairs.append((opened("the raw training table", raw[0]), opened("the raw test table", raw[1])))
    _refuse(chain(_problems_of_arguments(asked), _problems_of_columns(asked, pairs)))
    _module("sklearn")
    roles = [asked.roles(training) for training, _ in pairs]
    with engine.transaction():
        _refuse(_problems_of_rows(engine, pairs, roles))
        read = [
            (combinations(engine, training, role), combinations(engine, test, role))
            for (training, test), role in zip(pairs, roles, strict=True)
        ]
    _refuse(_problems_of_values(pairs, read))
    learned, tested = read[0]
    # LA is the accuracy of predicting the most frequent label for all rows.
    known = sorted(set(learned.labels))
    totals = np.bincount(label_codes(learned.labels, known), weights=learned.weights)
    is_right = label_codes(tested.labels, known) == int(np.argmax(totals))
    return Classification(
        ca=_accuracies(learned, tested, asked),
        la=_share(is_right, tested.weights),
        ba=_accuracies(*read[1], asked) if raw is not None else None,
        seeds=asked.seeds,
        training_weight=float(learned.weights.sum()),
        test_weight=float(tested.weights.sum()),
    )


@dataclass(frozen=True)
class _Asked:
    models: Sequence[str]
    seeds: tuple[int, ...]
    target: str
    weight: str | None

    def roles(self, training: Part) -> Roles:
        """Return the roles of a table's columns; all others are predictors."""
        others = {folded(name) for name in (self.target, self.weight) if name is not None}
        predictors = tuple(each.name for name, each in training.columns.items() if name not in others)
        return Roles(predictors, self.target, self.weight)


CLASSIFIERS = ("tree", "logistic")


def _module(name: str) -> Any:
    return extra_module(name, extra="eval", purpose="Classification accuracy")


def _dense(features: Any) -> Any:
    """Return numbers in the dense form that trees use, unless there are too many."""
    rows, columns = features.shape
    return features.astype("float32").toarray() if rows * columns <= MAX_DENSE_NUMBERS else features


def _accuracies(training: Combinations, test: Combinations, asked: _Asked) -> dict[str, Accuracy]:
    """Train each model once per seed, or once if it draws nothing."""
    known = sorted(set(training.labels))
    learned, tested = matrices(training, test)
    codes, truth = label_codes(training.labels, known), label_codes(test.labels, known)

    def share(model: Any, features: Any, others: Any) -> float:
        model.fit(features, codes, sample_weight=training.weights)
        return _share(model.predict(others) == truth, test.weights)

    found = {}
    for name in asked.models:
        if name == "tree":
            # CART by Gini impurity; the seed decides between equally good splits.
            settings: dict[str, Any] = {"min_weight_fraction_leaf": MIN_LEAF_SHARE}
            make, parts = _module("sklearn.tree").DecisionTreeClassifier, (_dense(learned), _dense(tested))
            each = [share(make(random_state=seed, **settings), *parts) for seed in asked.seeds]
        else:
            # L2 penalty with C = 1, by L-BFGS, which draws nothing.
            model = _module("sklearn.linear_model").LogisticRegression(max_iter=MAX_ITERATIONS)
            each = [share(model, learned, tested)] * len(asked.seeds)
        sd = statistics.stdev(each) if len(each) > 1 else None
        found[name] = Accuracy(mean=statistics.fmean(each), sd=sd, each=tuple(each))
    return found


def _share(is_right: NDArray[np.bool_], weights: Floats) -> float:
    return float(weights[is_right].sum() / weights.sum())


def _refuse(problems: Iterable[str]) -> None:
    if listed := list(problems):
        raise PolicyError(HEADING, listed)


def _problems_of_arguments(asked: _Asked) -> Iterator[str]:
    for name, meant in unknown_names(asked.models, CLASSIFIERS):
        yield f'"{name}" is not one of the models {", ".join(CLASSIFIERS)}{meant}'
    if not asked.models:
        yield "no model is given"
    if not asked.seeds:
        yield "no seed is given"
    if not all(isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed <= MAX_SEED for seed in asked.seeds):
        yield f"seeds must be whole numbers from 0 to {MAX_SEED}"
    if asked.weight is not None and folded(asked.weight) == folded(asked.target):
        yield f'column "{asked.target}" cannot be the target and the weight'


def _problems_of_columns(asked: _Asked, pairs: Sequence[Pair]) -> Iterator[str]:
    needed = [(part, asked.target) for pair in pairs for part in pair]
    if asked.weight is not None:
        needed.append((pairs[0][0], asked.weight))
    for part, name in needed:
        if not part.has(name):
            known = [each.name for each in part.columns.values()]
            yield f'{part} has no column "{name}"{did_you_mean(name, known)}'
    for pair in pairs:
        yield from _problems_of_pair(asked, pair)


def _problems_of_pair(asked: _Asked, pair: Pair) -> Iterator[str]:
    training, test = pair
    for part in pair:
        yield from _unfit_kinds(asked, part)
    if not asked.roles(training).predictors:
        yield f'{training} has no column to predict "{asked.target}" from'
    for name in asked.roles(training).predictors:
        yield from _difference(name, pair)
    yield from (_only_in(name, test, training) for name in asked.roles(test).predictors if not training.has(name))
    if all(part.has(asked.target) for part in pair):
        yield from _difference(asked.target, pair)


def _unfit_kinds(asked: _Asked, part: Part) -> Iterator[str]:
    if part.has(asked.target) and kind_of(part.column(asked.target)) == "lists":
        yield f'column "{asked.target}" of {part} has lists, which cannot be labels'
    if asked.weight is not None and part.has(asked.weight) and kind_of(part.column(asked.weight)) != "numbers":
        yield f'column "{asked.weight}" of {part} is not numeric, as weights must be; cast it in a query'


def _difference(name: str, pair: Pair) -> Iterator[str]:
    training, test = pair
    if not test.has(name):
        yield _only_in(name, training, test)
        return
    kinds = [kind_of(part.column(name)) for part in pair]
    if kinds[0] != kinds[1]:
        yield (
            f'column "{name}" has {kinds[0]} in {training} and {kinds[1]} in {test}; generalize both in the same way, '
            "or cast one in a query"
        )


def _only_in(name: str, part: Part, other: Part) -> str:
    return f'{part} has a column "{name}", which {other} does not have'


def _problems_of_rows(engine: Compute, pairs: Sequence[Pair], roles: Sequence[Roles]) -> Iterator[str]:
    for part, is_training, role in (
        (part, part is pair[0], role) for pair, role in zip(pairs, roles, strict=True) for part in pair
    ):
        found = contents(engine, part, role)
        if found["unfit_rows"]:
            yield f'{found["unfit_rows"]} rows of {part} have a "{role.weight}" that is NULL, negative or not finite'
        if found["unlabelled_rows"]:
            yield f'{found["unlabelled_rows"]} rows of {part} have no "{role.target}"; leave them out in a query'
        if not found["weighed_rows"]:
            yield f"{part} has no rows" + (" of a weight above 0" if role.weighs(part) else "")
        elif is_training and found["label_count"] == 1:
            yield f'all rows of {part} have the same "{role.target}": there is nothing to learn'


def _problems_of_values(pairs: Sequence[Pair], read: Iterable[tuple[Combinations, Combinations]]) -> Iterator[str]:
    for (training, test), (learned, asked) in zip(pairs, read, strict=True):
        if all(value in (None, ()) for value in chain.from_iterable(learned.predictors.values())):
            yield f"no row of {training} has a value to predict from"
        if not set(learned.labels) & set(asked.labels):
            yield f"{training} and {test} have no label in common: spell them alike in a query"
