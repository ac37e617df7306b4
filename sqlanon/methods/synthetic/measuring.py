"""Measure a run: its counts, its paid draws, and the refusals before anything is charged."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.chance.accountant import RhoPortions
from sqlanon.chance.random_source import RandomSource
from sqlanon.chance.scales import rho_of, scale_in_rho
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import BudgetError, PolicyError
from sqlanon.methods.chance import bounded_source, refuse_observed
from sqlanon.methods.private import no_category, refusing_small_budgets
from sqlanon.methods.synthetic.beliefs import Columns, Structure, cells_of
from sqlanon.methods.synthetic.choosing import (
    GRID,
    MEASURED,
    Chosen,
    ErrorEstimate,
    Problem,
    candidates_of,
    chosen,
    estimated_error,
)
from sqlanon.methods.synthetic.domain import (
    SQL,
    ModelledColumn,
    fine_counts,
    impossible_sets,
    marginals,
    modelled_columns,
    published_type,
    read_cells,
    whole_edges,
)
from sqlanon.methods.synthetic.fitting import MAX_MODEL_ROWS
from sqlanon.model.methods.synthetic import Bins, Synthetic
from sqlanon.queries.kit.nodes import aliased, column, try_cast
from sqlanon.queries.source import SourceColumn

LARGEST_SCORE = 2**62  # scores are 64-bit integers: one that wrapped around would exceed the sensitivity of its draw
MAX_ROW_NOISE = 1_000_000  # the largest noise scale of the row count: above it a release could have billions of rows
MAX_COUNTED_CELLS = 50_000_000  # the cells of all candidates together; their counts are held in memory, 8 bytes each
EXACT_IN_FLOATS = 2**53  # up to this, floating-point numbers hold all integers

WHOLE = range(-(2**63), 2**63)  # the integers that may be drawn


def _misfits_of_bins(found: SourceColumn, bins: Bins, *, is_refined: bool) -> Iterator[str]:
    kind = f'"{found.name}" is {found.type}'
    if not found.traits.is_number:
        yield f"{found.no_number}, or give it a taxonomy"
    elif found.traits.is_fractional:
        if is_refined:
            yield f"{kind}, and refine counts whole numbers or labels: take it out, or cast it in a view"
        if not all(math.isfinite(float(edge)) for edge in bins.edges):
            yield f"{kind}, and its edges are beyond all numbers of that type"
    else:
        ends = whole_edges(bins)
        if ends[0] not in WHOLE or ends[-1] - 1 not in WHOLE:
            yield f"{kind}, and its edges are beyond the whole numbers of 64 bits"
        for label, low, high in zip(bins.labels, ends, ends[1:], strict=False):
            if low == high:
                yield f"{kind}, and its bin {label} has no whole number"


def _misfits_of_step(found: SourceColumn, bins: Bins, unit: Fraction) -> Iterator[str]:
    if not found.traits.is_fractional and unit.denominator > 1:
        yield f'"{found.name}" is {found.type}, and its step is not a whole number'
    parts: list[Fraction | int] = [unit.denominator, *(abs(Fraction(edge)) * unit.denominator for edge in bins.edges)]
    if found.traits.is_fractional and any(part > EXACT_IN_FLOATS for part in parts):
        yield f'"{found.name}" is {found.type}, which has not all multiples of its step: give a larger one'


def fractions_to_declare(bound: BoundPolicy) -> list[str]:
    """Note each fractional column with integral edges: its numbers may all be integers."""
    settings, types = Synthetic.of(bound.policy), {found.name: found for found in bound.columns}
    return [
        f'numbers of "{name}" ({types[name].type}) are drawn as fractions; if it is public that all are whole, give '
        f"the method step = {{ {name} = 1 }}"
        for name, bins in settings.numeric.items()
        if types[name].traits.is_fractional and name not in settings.step and all(edge % 1 == 0 for edge in bins.edges)
    ]


def out_of_types(engine: Compute, bound: BoundPolicy, columns: Sequence[ModelledColumn]) -> list[str]:
    """List columns whose published type cannot hold all that may be drawn: numbers of bins, or values of taxonomies."""
    types = {each.name: each for each in bound.columns}
    outside: dict[str, exp.Expr] = {}
    for position, each in enumerate(columns):
        found = types[each.name]
        kind = published_type(found)
        if each.bins is not None:
            # The smallest and the largest number that may be drawn, maybe by rounding.
            ends = each.bins.edges[0], each.bins.edges[-1]
            if not found.traits.is_fractional:
                edges = whole_edges(each.bins)
                ends = Decimal(edges[0]), Decimal(edges[-1] - 1)
            held = [try_cast(exp.Literal.number(f"{end:f}"), kind).is_(exp.null()) for end in ends]
            problem = f'"{each.name}" is {kind}, which does not hold all numbers of its bins'
            outside[problem] = exp.or_(*held, copy=False)
        elif kind != "VARCHAR" and (each.fine or not each.level):
            count = SQL.query("values_of_no_type", position=position, held=try_cast(column("value"), kind))
            outside[f'"{each.name}" is {kind}, and not all values of its taxonomy are'] = exp.paren(count) > 0
    if not outside:
        return []
    named = [aliased(each, f"column_{place}") for place, each in enumerate(outside.values())]
    row = engine.fetch(exp.select(*named, copy=False), "what types hold")[0]
    return [problem for place, problem in enumerate(outside) if row[f"column_{place}"]]


def too_large(
    sizes: Sequence[int],
    weights: Mapping[Columns, int],
    impossible: Mapping[Columns, NDArray[np.bool_]],
    max_cells: int,
) -> Iterator[str]:
    """Explain why the workload or the impossible combinations allow no model."""
    if (cells := sum(cells_of(sizes, each) for each in weights)) > MAX_COUNTED_CELLS:
        yield (
            f"the workload has marginals of {cells:,} cells together, more than {MAX_COUNTED_CELLS:,}: take fewer sets "
            "or columns, higher levels, or wider bins"
        )
    structure = Structure.of(sizes, impossible)
    if structure.tree.cells > max_cells and impossible:
        yield (
            f"the impossible combinations need a model of {structure.tree.cells:,} cells, more than {max_cells:,}: "
            "give fewer, or raise max_cells"
        )
    else:
        excluded = {each: np.where(cannot, -np.inf, 0.0) for each, cannot in impossible.items()}
        if not structure.beliefs(excluded).cliques[0].any():
            yield "the impossible combinations leave none that is possible"


def refuse_small_budgets(
    settings: Synthetic, sizes: Sequence[int], weights: Mapping[Columns, int], rounds: int, workload: int
) -> None:
    """Refuse a budget whose noise would overflow its integers, or could make billions of rows.

    A run's noise is largest in its first measurements, or in its last ones if few rounds remain for these. About as
    many marginals as rounds are measured; ``workload`` is the number of sets compared for the report.
    """
    most, rows = settings.rows_per_individual, max(weights.values())
    with refusing_small_budgets(settings):
        whole = rho_of(settings.budget)
        rest = (1 - settings.report_share) * whole
        first = len(sizes) + len(settings.refine)
        least = min(1 / Fraction(rounds), 1 - MEASURED * first / rounds) * rest
        sigma = scale_in_rho(MEASURED * least, most)
        scale_in_rho((1 - MEASURED) * least, GRID * most * rows)
        if settings.report_share and workload:
            scale_in_rho(settings.report_share * whole, GRID * most * workload)
        score = rows * GRID * (2 * MAX_MODEL_ROWS + sigma * max(cells_of(sizes, each) for each in weights))
        if score >= LARGEST_SCORE:
            raise BudgetError("nothing can be chosen", ["scores would not fit 64-bit integers; take smaller weights"])
        noise = sigma / math.sqrt(sum(1 / size for size in sizes))
        if settings.rows is None and noise > MAX_ROW_NOISE:
            raise BudgetError(
                "the number of rows is lost in noise",
                [f"the noise on the number of rows would have a scale of {noise:.3g}; spend more, or give rows"],
            )


ROUNDS_PER_COLUMN = 5
"""The default number of rounds per column, at equal costs; McKenna et al. take 16.

At 16, 8, 5 and 4 (tests.benchmarks.synthetic, means of 3 to 5 seeds) pairs of Adult have a total variation of .0273,
.0259, .0266 and .0264 at ε = 1. Fewer rounds make early measurements less wrong: sex x occupation by 41, 33, 22 and 21
rows. At ε = 0.1 pairs have .081 at 16, .077 at 8 and .073 at 4.
"""


@dataclass(frozen=True)
class Counted:
    columns: tuple[ModelledColumn, ...]
    problem: Problem
    workload: Sequence[Columns]  # its sets that are counted


def checked(bound: BoundPolicy) -> BoundPolicy:
    refuse_observed(bound)
    settings, shapes = Synthetic.of(bound.policy), bound.all_shapes
    problems: list[str] = []
    for found in bound.columns:
        if (bins := settings.numeric.get(found.name)) is not None:
            problems += _misfits_of_bins(found, bins, is_refined=found.name in settings.refine)
            if (step := settings.step.get(found.name)) is not None:
                problems += _misfits_of_step(found, bins, Fraction(step))
        elif found.name in settings.columns(bound.policy) and not found.traits.can_be_rebuilt:
            problems.append(no_category(found))
    for name, level in settings.levels.items():
        if name in shapes and level > shapes[name].height:
            problems.append(f'levels: "{name}" has levels 0 to {shapes[name].height}, so not {level}')
    if problems:
        raise PolicyError(f"the policy does not fit {bound.description}:", problems)
    return bound


def counted(engine: Compute, bound: BoundPolicy, source: RandomSource) -> Counted:
    settings = Synthetic.of(bound.policy)
    problems: list[str] = []
    columns = modelled_columns(engine, bound, problems)
    sizes = tuple(each.size for each in columns)
    impossible = impossible_sets(bound, columns, problems)
    weights = candidates_of(sizes, settings.sets(bound.policy), settings.max_cells)
    problems += out_of_types(engine, bound, columns)
    if all(sizes):
        problems += too_large(sizes, weights, impossible, settings.max_cells)
    if problems:
        raise PolicyError(f"the policy does not fit {bound.description}, its taxonomies and bins:", problems)
    workload = [each for each in settings.sets(bound.policy) if each in weights]
    rounds = settings.rounds or ROUNDS_PER_COLUMN * len(sizes)
    refuse_small_budgets(settings, sizes, weights, rounds, len(workload))
    read_cells(engine, bound, columns, bounded_source(engine, bound, source))
    problem = Problem(
        sizes=sizes,
        counts=marginals(engine, sizes, weights),
        weights=weights,
        sensitivity=settings.rows_per_individual,
        max_cells=settings.max_cells,
        rounds=rounds,
        impossible=impossible,
        fine=fine_counts(engine, columns),
    )
    # Scores of more rows could overflow 64-bit integers.
    if int(problem.counts[0,].sum()) > MAX_MODEL_ROWS:
        raise PolicyError(f"{bound.description} has more rows than the {MAX_MODEL_ROWS:,} that can be scored exactly")
    return Counted(columns, problem, workload)


def measured(
    counted: Counted, settings: Synthetic, portions: RhoPortions, source: RandomSource
) -> tuple[Chosen, ErrorEstimate | None]:
    problem, workload = counted.problem, counted.workload
    for_error = settings.report_share * portions.rho
    found = chosen(problem, portions.rho - for_error, portions, source)
    if not for_error or not workload:
        return found, None
    return found, estimated_error(problem, found.model, workload, for_error, portions, source)
