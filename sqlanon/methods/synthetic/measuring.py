"""What a run counts of a table, and all that it draws for what it paid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError
from sqlanon.mechanisms.accountant import RhoPortions
from sqlanon.mechanisms.source import RandomSource
from sqlanon.methods.shared.private.chance import bounded_source, refuse_observed
from sqlanon.methods.synthetic import checks, domain
from sqlanon.methods.synthetic.candidates import candidates_of
from sqlanon.methods.synthetic.cells import fine_counts, marginals, read_cells
from sqlanon.methods.synthetic.choosing import Chosen, ErrorEstimate, Problem, chosen, estimated_error
from sqlanon.methods.synthetic.tree import Columns
from sqlanon.model.methods.synthetic import Synthetic

ROUNDS_PER_COLUMN = 5
"""How many rounds there are for each column if all cost the same; McKenna et al. take 16.

At 16, 8, 5 and 4 (tests.benchmarks.synthetic, means of 3 to 5 seeds) pairs of Adult have a total variation of .0273,
.0259, .0266 and .0264 at ε = 1. The fewer rounds there are, the less wrong is what is measured early: sex x occupation
by 41, 33, 22 and 21 rows. At ε = 0.1 pairs have .081 at 16, .077 at 8 and .073 at 4.
"""


@dataclass(frozen=True)
class Counted:
    """A table as a run sees it: the only part of a run that knows the rows.

    Attributes:
        columns: those of the model.
        problem: what may be measured.
        workload: the sets of the workload that are counted.
    """

    columns: tuple[domain.ModelledColumn, ...]
    problem: Problem
    workload: Sequence[Columns]


def checked(bound: BoundPolicy) -> BoundPolicy:
    """The policy, if nothing speaks against it before a row is read.

    Raises:
        TaxonomyError: the values of a taxonomy were observed, and that is not accepted.
        PolicyError: listing what does not fit the columns and taxonomies.
    """
    refuse_observed(bound)
    if problems := checks.misfits(bound):
        raise PolicyError(f"the policy does not fit {bound.description}:", problems)
    return bound


def counted(engine: Compute, bound: BoundPolicy, source: RandomSource) -> Counted:
    """Count all marginals that may be measured; all that can be refused is.

    Raises:
        PolicyError: the domain has too many values, or too few; the budget buys no noise that fits; or rows are out of
            the domain.
        TaxonomyError: a taxonomy does not know some values.
    """
    settings = domain.settings_of(bound)
    problems: list[str] = []
    columns = domain.modelled_columns(engine, bound, problems)
    sizes = tuple(each.size for each in columns)
    impossible = domain.impossible_sets(bound, columns, problems)
    weights = candidates_of(sizes, settings.sets(bound.policy), settings.max_cells)
    problems += checks.out_of_types(engine, bound, columns)
    if all(sizes):
        problems += checks.too_large(sizes, weights, impossible, settings.max_cells)
    if problems:
        raise PolicyError(f"the policy does not fit {bound.description}, its taxonomies and bins:", problems)
    workload = [each for each in settings.sets(bound.policy) if each in weights]
    rounds = settings.rounds or ROUNDS_PER_COLUMN * len(sizes)
    checks.refuse_small_budgets(settings, sizes, weights, rounds, len(workload))
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
    checks.refuse_many_rows(bound, problem)
    return Counted(columns, problem, workload)


def measured(
    counted: Counted, settings: Synthetic, portions: RhoPortions, source: RandomSource
) -> tuple[Chosen, ErrorEstimate | None]:
    """The model of noisy marginals, and how wrong it is, if a share of the budget is spent on that."""
    problem, workload = counted.problem, counted.workload
    for_error = settings.report_share * portions.rho
    found = chosen(problem, portions.rho - for_error, portions, source)
    if not for_error or not workload:
        return found, None
    return found, estimated_error(problem, found.model, workload, for_error, portions, source)
