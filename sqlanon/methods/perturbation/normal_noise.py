"""Normal noise on numbers, with the covariances of their strata.

Sources: Kim 1986 (masking that keeps variances and correlations); Box and Muller 1958 (normal from uniform numbers).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.methods.perturbation.change import SQL, Change
from sqlanon.methods.perturbation.unfit_numbers import number_counts, unfit_numbers
from sqlanon.model.names import in_quotes
from sqlanon.model.perturbation import Noise
from sqlanon.queries.kit.nodes import Relation, case, cast, column, double, f, string, try_cast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sqlanon.chance.random_source import RandomSource

LARGEST = {"FLOAT": "3.4e38", "DOUBLE": "1.79e308"}
BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}


class NormalNoise(Change[Noise]):
    def problems(self) -> Iterator[str]:
        for name in self.columns:
            yield from unfit_numbers(name, self._counts[name], "which have no deviation: name fewer columns in within")

    def remarks(self) -> Iterator[str]:
        for name, counts in self._counts.items():
            if counts["alike"]:
                yield (
                    f"{counts['alike']:,} strata have one value of {in_quotes(name)}, so no deviation: their "
                    f"{counts['alike_rows']:,} rows show it without noise"
                )

    def make(self, source: RandomSource) -> None:
        places = range(1, len(self.columns) + 1)
        pairs = [(one, other) for one in places for other in places if one <= other]
        numbers = [cast(column(name), "DOUBLE") for name in self.columns]
        moments = Relation(f"anon_moments_{self.place}", "class")
        factors = Relation(f"anon_factors_{self.place}", "class")
        queries = SQL.given(
            rows=self.rows.relation,
            stratum=self.stratum,
            moments=moments,
            numbers=numbers,
            means=_names("mean", places),
            deviations=_names("deviation", places),
            correlations=[f"anon_correlation_{one}_{other}" for one, other in pairs],
        )
        ones, others = ([numbers[pair[side] - 1] for pair in pairs] for side in (0, 1))
        self.engine.run(queries.step(moments, "moments", ones=ones, others=others))
        self._put_factors(factors, self.engine.arrays(queries.query("spread"), "deviations of strata"))
        drawn = _names("draw", range(1, 2 * math.ceil(len(places) / 2) + 1))
        draws = self.put_draws(source, drawn)
        shrinks = self.settings.form == "masked"
        noisy = queries.step(
            self.made,
            "noisy_numbers",
            factors=factors,
            draws=draws,
            radii=[drawn[(place - 1) // 2 * 2] for place in places],
            angles=[drawn[(place - 1) // 2 * 2 + 1] for place in places],
            turns=[double((place - 1) % 2 * math.pi / 2) for place in places],  # the sine is a turned cosine
            normals=_names("normal", places),
            weights=_names("factors", places),
            noisy=_names("noisy", places),
            values=[*self.columns],
            shown=[self._shown(place, name) for place, name in enumerate(self.columns, 1)],
            shift=1 - math.sqrt(1 - self.settings.relative**2) if shrinks else 0.0,
            kept=double(0) if self.settings.keep_zero else exp.null(),
        )
        self.engine.run(noisy)
        for relation in (moments, factors, draws):
            self.engine.drop(relation)

    @cached_property
    def _counts(self) -> Mapping[str, Mapping[str, Any]]:
        return {name: number_counts(self, name, 2) for name in self.columns}

    def _put_factors(self, factors: Relation, spread: Mapping[str, NDArray[Any]]) -> None:
        """Make the table of what normal numbers are multiplied by: a list for each column, by place of a stratum."""
        import numpy as np
        import pyarrow as pa

        size, strata = len(self.columns), len(spread["anon_place"])
        found = {name: np.nan_to_num(np.ma.filled(values, 0.0)) for name, values in spread.items()}
        roots = np.tile(np.eye(size), (strata, 1, 1))
        if self.settings.form != "additive" and size > 1:
            for one in range(size):
                for other in range(one + 1, size):
                    correlation = found[f"anon_correlation_{one + 1}_{other + 1}"]
                    roots[:, one, other] = roots[:, other, one] = correlation
            roots = square_roots(roots)
        lists = {}
        for place in range(size):
            scaled = self.settings.relative * found[f"anon_deviation_{place + 1}"][:, None] * roots[:, place, :]
            lists[f"anon_factors_{place + 1}"] = pa.ListArray.from_arrays(
                np.arange(0, strata * size + 1, size, dtype=np.int32), scaled.ravel()
            )
        self.engine.put(factors, pa.table({"anon_place": found["anon_place"], **lists}))

    def _shown(self, place: int, name: str) -> exp.Expr:
        """Cast a noisy number to the type of its column, or to the bound or the end of the type that it is beyond."""
        number, kind = column(f"anon_noisy_{place}"), self.rows.columns[name].type
        bounds = self.rows.bounds.get(name, (None, None))
        ends = [end if bound is None else str(bound) for bound, end in zip(bounds, ends_of(kind), strict=True)]
        low, high = (cast(string(end), kind) for end in ends)
        # DuckDB 1.5 casts 255.6 to the UTINYINT 0.
        within = f.least(f.greatest(number, cast(low.copy(), "DOUBLE")), cast(high.copy(), "DOUBLE"))
        return f.coalesce(try_cast(within, kind), case(exp.LT(this=number.copy(), expression=double(0)), low, high))


def _names(of: str, places: range) -> list[str]:
    return [f"anon_{of}_{place}" for place in places]


def square_roots(correlations: NDArray[Any]) -> NDArray[Any]:
    """Return A with A Aᵀ equal to each matrix of correlations, singular ones too.

    With NULLs, correlations are of other rows each, and may belong to no numbers: then those nearby.
    """
    import numpy as np

    values, vectors = np.linalg.eigh(correlations)
    roots = vectors * np.sqrt(np.clip(values, 0, None))[:, None, :]
    scaled: NDArray[Any] = roots / np.linalg.norm(roots, axis=2, keepdims=True)
    return scaled


def ends_of(kind: str) -> tuple[str, str]:
    """Spell the least and the greatest number of a type."""
    name, _, size = kind.partition("(")
    if name == "DECIMAL":
        digits, scale = map(int, size.rstrip(")").split(","))
        most = "9" * (digits - scale) + "." + "9" * scale
        return f"-{most}", most
    if name in LARGEST:
        return f"-{LARGEST[name]}", LARGEST[name]
    if name not in BITS:
        return "0", str(2 ** BITS[name.removeprefix("U")] - 1)
    return str(-(2 ** (BITS[name] - 1))), str(2 ** (BITS[name] - 1) - 1)
