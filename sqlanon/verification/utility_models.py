"""Models of both tables: a regression by formula, and one that separates released rows from those of the source.

Sums of products are the database's; only systems of as many equations as there are terms are solved here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.model.release.utility import Row
from sqlanon.queries.kit.named import Queries, Role
from sqlanon.queries.kit.nodes import Relation, added, case, column, double, f, same, string

SQL = Queries("utility")
TERMS = Relation("anon_utility_terms", "cell")

MAX_TERMS = 40  # of the propensity score: their products are summed in each step
MAX_STEPS = 25
SETTLED = 1e-9  # the square of a step, in standard errors
SINGULAR = 1e-9  # the least singular value of terms that do not determine each other, by the greatest
NORMAL = 1.959963984540054  # half of a 95 % interval, in standard errors
COEFFICIENT = ("source_value", "source_error", "release_value", "release_error", "overlap")

Floats = NDArray[np.float64]
Values = Mapping[str, Sequence[str | None]]  # of columns


@dataclass(frozen=True)
class Scale:
    """The mean and the standard deviation of a number of the source, by which terms are near 1."""

    mean: float = 0.0
    sd: float = 1.0

    def of(self, name: str) -> exp.Expr:
        return exp.Div(this=exp.Paren(this=column(name) - double(self.mean)), expression=double(self.sd))


def _indicators(name: str, values: Sequence[str | None]) -> list[exp.Expr]:
    """Return a term for each value but the first one."""
    given = [exp.null() if value is None else string(value) for value in values[1:]]
    return [case(same(column(name), value), double(1), double(0)) for value in given]


def _products(engine: Engine, rows: Role, terms: Sequence[str]) -> tuple[Floats, int]:
    """Return the weighted sums of products of two terms, of shape (terms, terms), and the number of rows."""
    pairs = [*combinations_with_replacement(range(len(terms)), 2)]
    left, right = ([terms[pair[side]] for pair in pairs] for side in (0, 1))
    names = [f"anon_product_{place}" for place, _ in enumerate(pairs)]
    query = SQL.query("products", rows=rows, left=left, right=right, product=names)
    made = np.zeros((len(terms), len(terms)))
    row_count, *sums = engine.fetch(query, "sums of products")[0].values()
    for (one, other), value in zip(pairs, sums, strict=True):
        made[one, other] = made[other, one] = value or 0
    return made, row_count


def _scaled(sums: Floats) -> tuple[Floats, Floats]:
    """Return the products of terms at length 1, so that rare values are not taken for rounding; and the lengths."""
    sizes = np.sqrt(np.diag(sums))
    sizes[sizes == 0] = 1
    return sums / np.outer(sizes, sizes), sizes


def propensity(
    engine: Engine, cells: Role, rows: tuple[int, int], terms: Sequence[exp.Expr]
) -> tuple[float, float, bool]:
    """Fit a logistic regression of membership by Newton's steps; return its score, that expected, and if it settled."""
    names = [f"term_{place}" for place, _ in enumerate(terms)]
    engine.run(SQL.step(TERMS, "terms", cells=cells, terms=terms, names=names))
    share = rows[1] / sum(rows)
    found = np.zeros(len(terms))
    ranks: list[int] = []
    found[0] = math.log(share / (1 - share))

    def fitted() -> exp.Query:
        score = added(double(float(each)) * column(name) for name, each in zip(names, found, strict=True))
        return SQL.query("fitted", cells=TERMS, terms=names, score=score)

    decrement = math.inf
    while decrement > SETTLED and len(ranks) < MAX_STEPS:
        sums, _ = _products(engine, fitted(), [*names, "anon_residual"])
        scaled, sizes = _scaled(sums)
        step, _, rank, _ = np.linalg.lstsq(scaled[:-1, :-1], scaled[:-1, -1], rcond=SINGULAR)
        found += step * sizes[-1] / sizes[:-1]
        ranks.append(int(rank))
        decrement = float(step @ scaled[:-1, -1] * sizes[-1] ** 2)
    score = engine.fetch(SQL.query("misfit", fitted=fitted(), share=double(share)), "the propensity score")[0]["pmse"]
    return score, (ranks[0] - 1) * (1 - share) ** 2 * share / sum(rows), decrement <= SETTLED


def separating_terms(
    numbers: Mapping[str, Scale], flags: Sequence[str], values: Values
) -> tuple[list[exp.Expr], str | None]:
    """Return an intercept, main effects, squares and products; or fewer, or none, and a note on that.

    Numbers that are NULL are their mean, and those of ``flags`` have a term for that.
    """
    scaled = [[f.coalesce(scale.of(name), double(0))] for name, scale in numbers.items()]
    groups = [*scaled, *(_indicators(name, given) for name, given in values.items())]
    missing = [case(column(name).is_(exp.null()), double(1), double(0)) for name in flags]
    terms = [double(1), *(term for group in groups for term in group), *missing, *(term * term for [term] in scaled)]
    for crossed, left_out in ((groups, None), (scaled, "products of values"), ([], "products")):
        products = [one * other for left, right in combinations(crossed, 2) for one in left for other in right]
        if len(terms) + len(products) <= MAX_TERMS:
            return [*terms, *products], left_out and f"without {left_out}, which would be more than {MAX_TERMS} terms"
    return [], f"it has {len(terms)} terms and can have {MAX_TERMS}: name fewer columns"


def regression(
    engine: Engine, tables: Sequence[Relation], names: Mapping[str, str], numbers: Mapping[str, Scale], values: Values
) -> list[Row]:
    """Return the coefficients of weighted least squares in both tables, beside each other.

    ``names`` are the columns of the formula with their names for people; the first is the response.
    """
    response, *given = names
    terms = [("intercept", double(1), Scale())]
    for name in given:
        if name in numbers:
            terms.append((names[name], numbers[name].of(name), numbers[name]))
        else:
            known = [value for value in values[name] if value is not None]
            made = zip(known[1:], _indicators(name, known), strict=True)
            terms += [(f"{names[name]} = {value}", term, Scale()) for value, term in made]
    # From scaled terms back to their units.
    scales, unit = [scale for _, _, scale in terms], numbers[response]
    back = np.diag([unit.sd / scale.sd for scale in scales])
    back[0, 1:] = [-scale.mean * unit.sd / scale.sd for scale in scales[1:]]
    copies = [*(f"term_{place}" for place, _ in enumerate(terms)), "anon_response"]
    roles: dict[str, Role] = {
        "terms": [*(term for _, term, _ in terms), unit.of(response)],
        "names": copies,
        "columns": [*names],
    }
    rows = (SQL.query("complete_rows", rows=table, **roles) for table in tables)
    found, errors = np.stack([_least_squares(*_products(engine, each, copies), back) for each in rows], 1)
    found[:, 0] += unit.mean
    lows, highs = found - NORMAL * errors, found + NORMAL * errors
    with np.errstate(invalid="ignore", divide="ignore"):
        overlaps = ((highs.min(0) - lows.max(0)) / (highs - lows)).mean(0)
    columns = np.stack([found[0], errors[0], found[1], errors[1], overlaps], 1).tolist()
    finite = [[each if math.isfinite(each) else None for each in row] for row in columns]
    return [
        {"term": term} | dict(zip(COEFFICIENT, row, strict=True))
        for (term, _, _), row in zip(terms, finite, strict=True)
    ]


def _least_squares(sums: Floats, row_count: int, back: Floats) -> Floats:
    """Return coefficients and their errors, NaN for what cannot be estimated; shape (2, terms).

    ``back`` turns coefficients of scaled terms into those of their units.
    """
    found, kept = np.full((2, len(back)), np.nan), np.flatnonzero(np.diag(sums)[:-1])
    among, sizes = _scaled(sums[np.ix_(kept, kept)])
    if row_count > len(kept) == np.linalg.matrix_rank(among, SINGULAR, hermitian=True):
        inverse, turned = np.linalg.inv(among) / np.outer(sizes, sizes), back[np.ix_(kept, kept)]
        scaled = inverse @ sums[kept, -1]
        variance = max(sums[-1, -1] - scaled @ sums[kept, -1], 0) / (row_count - len(kept))
        found[:, kept] = turned @ scaled, np.sqrt(variance * np.diag(turned @ inverse @ turned.T))
    return found
