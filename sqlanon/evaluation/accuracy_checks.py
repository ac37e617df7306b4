"""The classifiers of a measure, and what cannot be classified: arguments, columns and rows, all problems at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sqlanon.engines.base import Compute
from sqlanon.errors import PolicyError
from sqlanon.evaluation.combinations import Combinations, Part, Roles, contents, kind_of
from sqlanon.model.base import did_you_mean, unknown_names
from sqlanon.model.extras import extra_module
from sqlanon.model.names import folded

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


HEADING = "the accuracy cannot be measured:"

MAX_SEED = 2**32 - 1
"""The largest seed that scikit-learn takes."""

PAIR = 2
Pair = tuple[Part, Part]
"""A training table and its test table."""


@dataclass(frozen=True)
class Asked:
    """What is asked of the tables.

    Attributes:
        models: the classifiers.
        seeds: theirs.
        target: the column with the labels.
        weight: the column with the weights.
    """

    models: Sequence[str]
    seeds: tuple[int, ...]
    target: str
    weight: str | None

    def roles(self, training: Part) -> Roles:
        """The roles of the columns of a table; those that have no other role are predictors."""
        others = {folded(name) for name in (self.target, self.weight) if name is not None}
        predictors = tuple(each.name for name, each in training.columns.items() if name not in others)
        return Roles(predictors, self.target, self.weight)


def refuse_arguments(asked: Asked, pairs: Sequence[Pair]) -> None:
    """Refuse what is wrong whatever the rows are.

    Raises:
        PolicyError: listing all of it.
    """
    problems = [
        f'there is no model "{name}", only {", ".join(CLASSIFIERS)}{meant}'
        for name, meant in unknown_names(asked.models, CLASSIFIERS)
    ]
    problems += [] if asked.models else ["no model is given"]
    problems += [] if asked.seeds else ["no seed is given"]
    if not all(_is_seed(seed) for seed in asked.seeds):
        problems.append(f"seeds must be whole numbers from 0 to {MAX_SEED}")
    if asked.weight is not None and folded(asked.weight) == folded(asked.target):
        problems.append(f'column "{asked.target}" cannot be the target and the weight')
    problems += _missing_columns(asked, pairs)
    for pair in pairs:
        problems += _problems_of_columns(asked, pair)
    if problems:
        raise PolicyError(HEADING, problems)


def refuse_no_pair(raw: object) -> None:
    """Refuse anything but two sources.

    Raises:
        PolicyError: it is something else, such as one source.
    """
    if not isinstance(raw, tuple | list) or len(raw) != PAIR:
        raise PolicyError("raw is a pair of sources, training rows and test rows")


def refuse_rows(engine: Compute, pairs: Sequence[Pair], roles: Sequence[Roles]) -> None:
    """Refuse tables with rows that have no label or no weight, or without any to learn from or to be tested on.

    Raises:
        PolicyError: listing all of it.
    """
    problems = list(
        chain.from_iterable(_problems_of_rows(engine, pair, role) for pair, role in zip(pairs, roles, strict=True))
    )
    if problems:
        raise PolicyError(HEADING, problems)


def refuse_values(pairs: Sequence[Pair], read: Iterable[tuple[Combinations, Combinations]]) -> None:
    """Refuse training rows without a value to predict from, and test rows none of whose labels they have.

    Raises:
        PolicyError: listing all of it.
    """
    problems = []
    for (training, test), (learned, asked) in zip(pairs, read, strict=True):
        if all(value in (None, ()) for value in chain.from_iterable(learned.predictors.values())):
            problems.append(f"no row of {training} has a value to predict from")
        if not set(learned.labels) & set(asked.labels):
            problems.append(f"{training} and {test} have no label in common: spell them alike in a query")
    if problems:
        raise PolicyError(HEADING, problems)


def _is_seed(seed: object) -> bool:
    return isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed <= MAX_SEED


def _missing_columns(asked: Asked, pairs: Sequence[Pair]) -> Iterator[str]:
    """Columns that are named and not there: the target in any table, the weight in the release."""
    needed = [(part, asked.target) for pair in pairs for part in pair]
    if asked.weight is not None:
        needed.append((pairs[0][0], asked.weight))
    for part, name in needed:
        if not part.has(name):
            known = [each.name for each in part.columns.values()]
            yield f'{part} has no column "{name}"{did_you_mean(name, known)}'


def _problems_of_columns(asked: Asked, pair: Pair) -> Iterator[str]:
    """What is wrong with the columns that are there, or with the two tables beside each other."""
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


def _unfit_kinds(asked: Asked, part: Part) -> Iterator[str]:
    if part.has(asked.target) and kind_of(part.column(asked.target)) == "lists":
        yield f'column "{asked.target}" of {part} has lists, which are no labels'
    if asked.weight is not None and part.has(asked.weight) and kind_of(part.column(asked.weight)) != "numbers":
        yield f'column "{asked.weight}" of {part} has no numbers, which weights are; cast it in a query'


def _difference(name: str, pair: Pair) -> Iterator[str]:
    """What is wrong with a column of the training table in the test table."""
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


def _problems_of_rows(engine: Compute, pair: Pair, roles: Roles) -> Iterator[str]:
    for part in pair:
        found = contents(engine, part, roles)
        if found.unfit_rows:
            yield f'{found.unfit_rows} rows of {part} have a "{roles.weight}" that is NULL, negative or not finite'
        if found.unlabelled_rows:
            yield f'{found.unlabelled_rows} rows of {part} have no "{roles.target}"; leave them out in a query'
        if not found.weighed_rows:
            yield f"{part} has no rows" + (" of a weight above 0" if roles.weighs(part) else "")
        elif part is pair[0] and found.label_count == 1:
            yield f'all rows of {part} have the same "{roles.target}": there is nothing to learn'
