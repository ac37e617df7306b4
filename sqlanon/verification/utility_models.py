"""Models of both tables: a regression by formula, and one that separates released rows from those of the source.

Sums of products are the database's; only systems of as many equations as there are terms are solved here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, combinations_with_replacement, product

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.model.release.utility import Row
from sqlanon.queries.kit.named import Queries, Role
from sqlanon.queries.kit.nodes import Relation, added, column, double, string

SQL = Queries("utility")
CELLS = Relation("anon_utility_cells", "cell")

ONE = "one"  # the column of intercepts
MAX_TERMS = 40  # of the propensity score: their products are summed in each step
MAX_STEPS = 25
SETTLED = 1e-9  # the share of the squares of residuals that a step explains
SINGULAR = 1e-9  # the least singular value of terms that do not determine each other, by the greatest
ROUNDING = 1e-12  # the greatest share of squares that an exact fit leaves
MIN_EIGENVALUE = 1e-10  # of correlations that have an inverse
NORMAL = 1.959963984540054  # half of a 95 % interval, in standard errors
COEFFICIENT = ("term", "source_value", "source_error", "release_value", "release_error", "overlap")

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ModelRows:
    """Both tables for models: numbers in standard deviations from the mean of the source, and flags of values."""

    engine: Engine
    copies: Sequence[Relation]
    scales: Mapping[str, tuple[float, float]]  # the mean and the standard deviation of each number
    flags: Mapping[str, tuple[str, str | None]]  # by their names the column and its value, or None for NULL

    @cached_property
    def tables(self) -> list[exp.Query]:
        roles: dict[str, Role] = {
            "numbers": [*self.scales],
            "means": [double(mean) for mean, _ in self.scales.values()],
            "sds": [double(sd) for _, sd in self.scales.values()],
            "flags": [*self.flags],
            "columns": [copy for copy, _ in self.flags.values()],
            "labels": [exp.null() if label is None else string(label) for _, label in self.flags.values()],
        }
        return [SQL.query("model_rows", rows=table, **roles) for table in self.copies]

    def flags_of(self, *copies: str, of_null: bool = False) -> list[str]:
        return [flag for flag, (copy, label) in self.flags.items() if copy in copies and (label is None) == of_null]

    def propensity(self, columns: Sequence[str], row_counts: Sequence[int]) -> tuple[Row, list[str]]:
        """Fit a logistic regression of membership by Newton's steps; return its score and that expected, and notes."""
        pairs, notes = self._separating(columns)
        if not pairs:
            return {}, notes
        before, after = self.tables
        self.engine.run(SQL.step(CELLS, "cells", rows=before, other=after, columns=[*dict.fromkeys(chain(*pairs))]))
        terms, share = [f"term_{place}" for place, _ in enumerate(pairs)], row_counts[1] / sum(row_counts)
        left, right = zip(*pairs, strict=True)
        found, ranks, explained = np.zeros(len(terms)), list[int](), math.inf
        found[0] = math.log(share / (1 - share))

        def fitted() -> exp.Query:
            score = added(double(float(each)) * column(term) for term, each in zip(terms, found, strict=True))
            return SQL.query("fitted", cells=CELLS, left=left, right=right, terms=terms, score=score)

        while explained > SETTLED and len(ranks) < MAX_STEPS:
            scaled, sizes = _scaled(self._products(fitted(), [*terms, "anon_residual"])[0])
            step, _, rank, _ = np.linalg.lstsq(scaled[:-1, :-1], scaled[:-1, -1], rcond=SINGULAR)
            found += step * sizes[-1] / sizes[:-1]
            ranks.append(int(rank))
            explained = float(step @ scaled[:-1, -1])
        if explained > SETTLED:
            notes.append("the regression did not settle, as some rows are surely of one table")
        misfit = SQL.query("misfit", fitted=fitted(), share=double(share))
        [score] = self.engine.fetch(misfit, "the propensity score")
        return score | {"pmse_expected": (ranks[0] - 1) * (1 - share) ** 2 * share / sum(row_counts)}, notes

    def _separating(self, columns: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
        """Return the terms, each the product of a pair, or none; and notes on what is left out."""
        numbers = [[copy] for copy in columns if copy in self.scales]
        groups = [*numbers, *(self.flags_of(copy) for copy in columns if copy not in self.scales)]
        mains = [*chain(*groups), *self.flags_of(*columns, of_null=True)]
        pairs = [(ONE, ONE), *((ONE, each) for each in mains), *((each, each) for [each] in numbers)]
        if not columns:
            return [], ["no column has numbers, or few values of the source"]
        for crossed, left_out in ((groups, None), (numbers, "products of values"), ([], "products")):
            products = [*chain(*(product(*two) for two in combinations(crossed, 2)))]
            if len(pairs) + len(products) <= MAX_TERMS:
                notes = [] if left_out is None else [f"without {left_out}, which would be more than {MAX_TERMS} terms"]
                return [*pairs, *products], notes
        return [], [f"it has {len(pairs)} terms and can have {MAX_TERMS}: name fewer columns"]

    def regression(self, names: Mapping[str, str]) -> list[Row]:
        """Return the coefficients of weighted least squares in both tables, beside each other.

        ``names`` are the columns of the formula with their names for people; the first is the response.
        """
        response, *columns = names
        terms = {ONE: "intercept"}
        for copy in columns:
            if copy in self.scales:
                terms[copy] = names[copy]
            terms |= {flag: f"{names[copy]} = {self.flags[flag][1]}" for flag in self.flags_of(copy)}
        means, sds = np.array([self.scales.get(term, (0.0, 1.0)) for term in terms]).T
        mean, sd = self.scales[response]
        back = np.diag(sd / sds)  # from scaled terms to their units
        back[0] -= means * sd / sds
        missing = self.flags_of(*names, of_null=True)
        rows = (SQL.query("complete_rows", rows=table, missing=missing) for table in self.tables)
        fits = (_least_squares(*self._products(each, [*terms, response]), back) for each in rows)
        found, errors = np.stack([*fits], 1)
        found[:, 0] += mean
        lows, highs = found - NORMAL * errors, found + NORMAL * errors
        with np.errstate(invalid="ignore", divide="ignore"):
            overlaps = ((highs.min(0) - lows.max(0)) / (highs - lows)).mean(0)
        figures = np.stack([found[0], errors[0], found[1], errors[1], overlaps], 1).tolist()
        return [
            dict(zip(COEFFICIENT, (term, *(each if math.isfinite(each) else None for each in row)), strict=True))
            for term, row in zip(terms.values(), figures, strict=True)
        ]

    def _products(self, rows: Role, terms: Sequence[str]) -> tuple[Floats, int]:
        """Return the weighted sums of products of two terms, of shape (terms, terms), and the number of rows."""
        left, right = zip(*combinations_with_replacement(terms, 2), strict=True)
        products = [f"anon_product_{place}" for place, _ in enumerate(left)]
        query = SQL.query("products", rows=rows, left=left, right=right, product=products)
        row_count, *sums = self.engine.fetch(query, "sums of products")[0].values()
        made = np.zeros((len(terms), len(terms)))
        made[np.triu_indices(len(terms))] = [value or 0 for value in sums]
        return made + np.triu(made, 1).T, row_count


def _scaled(sums: Floats) -> tuple[Floats, Floats]:
    """Return the products of terms at length 1, so that rare values are not taken for rounding; and the lengths."""
    sizes = np.sqrt(np.diag(sums))
    sizes[sizes == 0] = 1
    return sums / np.outer(sizes, sizes), sizes


def _least_squares(sums: Floats, row_count: int, back: Floats) -> Floats:
    """Return coefficients and their errors, NaN for what cannot be estimated; shape (2, terms).

    ``back`` turns coefficients of scaled terms into those of their units.
    """
    found, kept = np.full((2, len(back)), np.nan), np.flatnonzero(np.diag(sums)[:-1])
    among, sizes = _scaled(sums[np.ix_(kept, kept)])
    if row_count > len(kept) == np.linalg.matrix_rank(among, SINGULAR, hermitian=True):
        inverse, turned = np.linalg.inv(among) / np.outer(sizes, sizes), back[np.ix_(kept, kept)]
        scaled = inverse @ sums[kept, -1]
        left = sums[-1, -1] - scaled @ sums[kept, -1]
        variance = left / (row_count - len(kept)) if left > ROUNDING * sums[-1, -1] else 0
        found[:, kept] = turned @ scaled, np.sqrt(variance * np.diag(turned @ inverse @ turned.T))
    return found


def correlation_distances(correlations: Sequence[Row]) -> tuple[Row, list[str]]:
    """Compare the matrices of correlations by their eigenvalues and inverses; return the distances, and notes."""
    known = [row for row in correlations if row["difference"] is not None]
    columns = [*dict.fromkeys(chain(*(row["columns"] for row in known)))]
    notes = []
    if len(known) < len(correlations):
        notes.append("some numbers have no correlations, since they do not vary or are never there together")
    if not known or len(known) < math.comb(len(columns), 2):
        return {}, notes
    matrices = np.tile(np.eye(len(columns)), (2, 1, 1))
    for row in known:
        one, other = map(columns.index, row["columns"])
        matrices[:, one, other] = matrices[:, other, one] = row["source_value"], row["release_value"]
    eigenvalues = np.linalg.eigvalsh(matrices)
    made: Row = {"eigenvalue_distance": np.abs(np.subtract(*eigenvalues)).mean().item()}
    if eigenvalues.min() < MIN_EIGENVALUE:
        return made, [*notes, "numbers determine each other: the matrix of their correlations has no inverse"]
    diagonals = np.linalg.inv(matrices).diagonal(axis1=1, axis2=2)
    distance = np.linalg.norm(np.subtract(*(each / np.linalg.norm(each) for each in diagonals)))
    return made | {"inverse_distance": distance.item() / math.sqrt(2)}, notes
