"""Combinations of values that a classifier learns from, with their numbers of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.model.names import folded
from sqlanon.queries.kit.macros import cast_value, exact_text
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import aliased, ascending, column, count_rows, double, f, select, string
from sqlanon.queries.source import SourceColumn
from sqlanon.satellites import extra_module

SQL = Queries("evaluation")

ROWS = "anon_rows"
LABEL = "anon_label"
WEIGHT = "anon_weight"


@dataclass(frozen=True)
class Part:
    """A table that a classifier is trained or tested on."""

    role: str  # in words
    source: ResolvedSource
    columns: Mapping[str, SourceColumn]  # by folded name, as names in DuckDB ignore case

    def __str__(self) -> str:
        return f"{self.role} ({self.source.description})"

    def has(self, name: str) -> bool:
        return folded(name) in self.columns

    def column(self, name: str) -> SourceColumn:
        return self.columns[folded(name)]


@dataclass(frozen=True)
class Roles:
    predictors: tuple[str, ...]
    target: str  # the column with the labels
    weight: str | None  # the number of rows that a row stands for, in tables with such a column

    def weighs(self, part: Part) -> bool:
        return self.weight is not None and part.has(self.weight)


@dataclass(frozen=True)
class Combinations:
    """Distinct combinations of values, in order."""

    # By predictor: numbers, texts, or items as sorted tuples of texts; None for a missing value.
    predictors: Mapping[str, list[Any]]
    labels: list[Any]
    weights: NDArray[np.float64]  # (combinations,), numbers of rows, above 0


def columns_of(engine: Compute, role: str, source: ResolvedSource) -> Part:
    return Part(role, source, {folded(each.name): each for each in engine.describe(source.relation)})


def kind_of(source_column: SourceColumn) -> str:
    """Return ``numbers``, ``lists``, or ``texts`` for all other types."""
    if source_column.traits.is_list:
        return "lists"
    return "numbers" if source_column.traits.is_number else "texts"


def contents(engine: Compute, part: Part, roles: Roles) -> dict[str, int]:
    """Count the rows of a table with a weight above 0, without a label, and with an unfit weight; and its labels."""
    return engine.fetch(SQL.query("contents", rows=_values(part, roles)), "labels and weights")[0]


def combinations(engine: Compute, part: Part, roles: Roles) -> Combinations:
    """Read the combinations of a table with a weight above 0, counted by the database."""
    keys = [*_places(roles).values(), LABEL]
    query = SQL.query("combinations", rows=_values(part, roles), keys=keys, total=_total(part, roles))
    found = engine.fetch(query, "combinations of values", "cell")
    return Combinations(
        predictors={
            name: [tuple(value) if isinstance(value := row[place], list) else value for row in found]
            for name, place in _places(roles).items()
        },
        labels=[row[LABEL] for row in found],
        weights=np.array([row[WEIGHT] for row in found], dtype=np.float64),
    )


def _values(part: Part, roles: Roles) -> exp.Query:
    """Select the rows of a table: predictors under their places, the label and the weight."""
    weight = _double(part.column(str(roles.weight))) if roles.weighs(part) else double(1)
    read = [
        *(aliased(_value(part.column(name)), place) for name, place in _places(roles).items()),
        aliased(_value(part.column(roles.target)), LABEL),
        aliased(weight, WEIGHT),
    ]
    return select(read, exp.alias_(part.source.relation.copy(), ROWS, table=True))


def _places(roles: Roles) -> dict[str, str]:
    """Return names for the predictors that clash with no column of the table."""
    return {name: f"anon_predictor_{place}" for place, name in enumerate(roles.predictors)}


def _value(read: SourceColumn) -> exp.Expr:
    """Read a value for a classifier; NULL if it is missing, or a number that is not finite."""
    match kind_of(read):
        case "numbers":
            return exp.Case(ifs=[exp.If(this=f.isfinite(_double(read)), true=_double(read))])
        case "lists":
            items = f.list_distinct(cast_value(column(read.name, ROWS), "VARCHAR[]"))
            # sqlglot's own node would lose the order.
            return exp.Anonymous(this="list_sort", expressions=[items, string("ASC"), string("NULLS LAST")])
        case _:
            return exact_text(column(read.name, ROWS))


def _total(part: Part, roles: Roles) -> exp.Expr:
    """Return the weight of a combination, summed in a fixed order, so that equal tables have equal weights."""
    if not roles.weighs(part):
        return count_rows()
    return exp.Sum(this=exp.Order(this=column(WEIGHT), expressions=ascending(column(WEIGHT)).expressions))


def _double(read: SourceColumn) -> exp.Cast:
    return cast_value(column(read.name, ROWS), "DOUBLE")


UNKNOWN = -1  # the code of a label that the training part lacks

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def matrices(training: Combinations, test: Combinations) -> tuple[Any, Any]:
    """Write both parts as sparse matrices with common columns, a row per combination; shape (combinations, features).

    A text is one-hot, a list the one-hot of its items; a value that the training part lacks is all zeros. A number is
    standardized by the mean and the standard deviation of the training rows. A missing value becomes the mode of the
    training rows, the smallest of several. A column without values in training rows makes no feature.
    """
    blocks = [_block(values, test.predictors[name], training.weights) for name, values in training.predictors.items()]
    learned, asked = (_sparse().hstack(parts, format="csr") for parts in zip(*blocks, strict=True))
    return learned, asked


def label_codes(labels: Iterable[Any], known: Sequence[Any]) -> Codes:
    """Return the positions of labels among the known ones, :data:`UNKNOWN` for others; shape (combinations,)."""
    places = {label: place for place, label in enumerate(known)}
    return np.array([places.get(label, UNKNOWN) for label in labels], dtype=np.int64)


def _block(training: list[Any], test: list[Any], weights: Floats) -> tuple[Any, Any]:
    codes, distinct = _codes(training)
    totals = dict(zip(distinct, np.bincount(codes, weights=weights), strict=True))
    usual = min(totals.keys() - {None}, key=lambda value: (-totals[value], value), default=None)
    if usual is None:
        return _one_hot([()] * len(training), [()] * len(test))
    learned, asked = ([usual if value is None else value for value in values] for values in (training, test))
    if isinstance(usual, float):
        return _standardized(np.array(learned), np.array(asked), weights)
    return _one_hot(learned, asked)


def _standardized(training: Floats, test: Floats, weights: Floats) -> tuple[Any, Any]:
    mean = np.average(training, weights=weights)
    # Rounding may leave equal values a tiny deviation, which would magnify other values without bound.
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
    codes, distinct = _codes(values)
    marks = [[places[item] for item in _items(value) if item in places] for value in distinct]
    starts = np.cumsum([0, *map(len, marks)])
    found = np.array(list(chain.from_iterable(marks)), dtype=np.int64)
    return _csr((np.ones(len(found)), found, starts), shape=(len(distinct), len(places)))[codes]


def _items(value: Any) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (value,)


def _codes(values: Sequence[Any]) -> tuple[Codes, list[Any]]:
    distinct: dict[Any, int] = {}
    codes = np.fromiter((distinct.setdefault(value, len(distinct)) for value in values), np.int64, len(values))
    return codes, list(distinct)


def _csr(values: Any, **settings: Any) -> Any:
    return _sparse().csr_matrix(values, **settings)


def _sparse() -> Any:
    return extra_module("scipy.sparse", extra="eval", purpose="Classification accuracy")
