"""Normal noise on numbers, with the covariances of their strata.

Sources: Kim 1986 (masking that keeps variances and correlations); Box and Muller 1958 (normal from uniform numbers).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.methods.perturbation.change import SQL, Change
from sqlanon.methods.perturbation.unfit_numbers import number_counts, unfit_numbers
from sqlanon.model.names import in_quotes
from sqlanon.model.perturbation import Noise
from sqlanon.queries.kit.nodes import Relation, case, cast, column, double, f, select, string, try_cast

if TYPE_CHECKING:
    from sqlanon.chance.random_source import RandomSource
    from sqlanon.methods.perturbation.change import Floats

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
        size, numbers = len(self.columns), [*map(self.as_number, self.columns)]
        pairs = [*combinations(range(size), 2)]
        correlations = [f"anon_correlation_{one}_{other}" for one, other in pairs]
        moments, roots = self.relation("moments", "class"), self.relation("roots", "class")
        queries = SQL.given(
            rows=self.rows.relation,
            stratum=self.stratum,
            numbers=numbers,
            means=_numbered("mean", size),
            deviations=_numbered("deviation", size),
        )
        ones, others = ([numbers[pair[side]] for pair in pairs] for side in (0, 1))
        self.engine.run(queries.step(moments, "moments", ones=ones, others=others, correlations=correlations))
        of_strata = select(map(column, ["anon_place", *correlations]), moments.table)
        self._put_roots(roots, self.engine.arrays(of_strata, "correlations of strata"))
        normals, noisy = _numbered("normal", size + size % 2), _numbered("noisy", size)
        draws = self.put_draws(source, normals, normal)
        shown = queries.step(
            self.made,
            "noisy_numbers",
            moments=moments,
            roots=roots,
            draws=draws,
            normals=normals[:size],
            weights=_numbered("root", size),
            noisy=noisy,
            values=[*self.columns],
            shown=[*map(self._shown, self.columns, noisy)],
            relative=double(self.settings.relative),
            shift=1 - math.sqrt(1 - self.settings.relative**2) if self.settings.form == "masked" else 0.0,
            kept=double(0) if self.settings.keep_zero else exp.null(),
        )
        self.engine.run(shown)
        for relation in (moments, roots, draws):
            self.engine.drop(relation)

    @cached_property
    def _counts(self) -> Mapping[str, Mapping[str, Any]]:
        return {name: number_counts(self, name, 2) for name in self.columns}

    def _put_roots(self, roots: Relation, found: Mapping[str, Floats]) -> None:
        """Make the table of what normal numbers are multiplied by: a list for each column, by place of a stratum."""
        import numpy as np
        import pyarrow as pa

        size, strata = len(self.columns), len(found["anon_place"])
        matrices = np.tile(np.eye(size), (strata, 1, 1))
        for one, other in combinations(range(size), 2) if self.settings.form != "additive" else ():
            correlation = np.nan_to_num(np.ma.filled(found[f"anon_correlation_{one}_{other}"], 0.0))
            matrices[:, one, other] = matrices[:, other, one] = correlation
        rows, ends = square_roots(matrices), np.arange(0, strata * size + 1, size, dtype=np.int32)
        lists = {
            name: pa.ListArray.from_arrays(ends, rows[:, place].ravel())
            for place, name in enumerate(_numbered("root", size))
        }
        self.engine.put(roots, pa.table({"anon_place": found["anon_place"], **lists}))

    def _shown(self, name: str, noisy: str) -> exp.Expr:
        """Cast a noisy number to the type of its column, or to the bound or the end of the type that it is beyond."""
        number, kind = column(noisy), self.rows.columns[name].type
        bounds = self.rows.bounds.get(name, (None, None))
        ends = [end if bound is None else str(bound) for bound, end in zip(bounds, ends_of(kind), strict=True)]
        low, high = (cast(string(end), kind) for end in ends)
        # DuckDB 1.5 casts 255.6 to the UTINYINT 0.
        within = f.least(f.greatest(number, cast(low.copy(), "DOUBLE")), cast(high.copy(), "DOUBLE"))
        return f.coalesce(try_cast(within, kind), case(exp.LT(this=number.copy(), expression=double(0)), low, high))


def _numbered(of: str, size: int) -> list[str]:
    return [f"anon_{of}_{place}" for place in range(size)]


def normal(uniform: list[Floats]) -> Iterator[Floats]:
    """Yield normal numbers, two from two uniform ones (Box and Muller 1958)."""
    import numpy as np

    for one, other in zip(uniform[::2], uniform[1::2], strict=True):
        radius, angle = np.sqrt(-2 * np.log(one)), 2 * np.pi * other
        yield radius * np.cos(angle)
        yield radius * np.sin(angle)


def square_roots(correlations: Floats) -> Floats:
    """Return A with A Aᵀ equal to each matrix of correlations, singular ones too.

    With NULLs, correlations are of other rows each, and may belong to no numbers: then those nearby.
    """
    import numpy as np

    values, vectors = np.linalg.eigh(correlations)
    roots = vectors * np.sqrt(np.clip(values, 0, None))[:, None, :]
    scaled: Floats = roots / np.linalg.norm(roots, axis=2, keepdims=True)
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
    bits = BITS[name.removeprefix("U")]
    if name.startswith("U"):
        return "0", str(2**bits - 1)
    return str(-(2 ** (bits - 1))), str(2 ** (bits - 1) - 1)
