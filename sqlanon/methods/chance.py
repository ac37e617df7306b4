"""Chance of private methods: its source, the account that pays, bounded rows, and noise.

Every count of a domain gets noise, and those that reach a threshold are shown. For empty counts it is drawn how many
reach it, which ones, and by how much: the same distribution, in time for the shown ones only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.chance.accountant import Charge, Ledger
from sqlanon.chance.exact import Integers
from sqlanon.chance.opendp import OpenDPSource
from sqlanon.chance.random_source import RandomSource
from sqlanon.chance.scales import empty_cell_probability
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, TaxonomyError
from sqlanon.ledger.charged_sources import DataSet, charged, open_ledger
from sqlanon.methods.base import Request
from sqlanon.model.budget import ROW, Unit
from sqlanon.model.methods.noisy import PrivateMethod, Selection
from sqlanon.model.policy.policy import Policy
from sqlanon.queries.kit.nodes import Relation, counted_rows
from sqlanon.queries.noise import NOISE, NOISY, PLACE, RANK, RUN
from sqlanon.queries.source_rows import anonymous_rows, bounded_rows

SELECTIONS: Mapping[Selection, str] = {
    "permute-and-flip": "permute-and-flip (McKenna and Sheldon 2020)",
    "exponential": "the exponential mechanism (McSherry and Talwar 2007)",
}


@dataclass(frozen=True)
class Chance:
    """The source of chance of a run and the account that pays; no ledger if nothing is private."""

    source: RandomSource  # where draws come from
    is_private: bool  # whether the source is OpenDP on the operating system's randomness, the only trusted one
    ledger: Ledger | None  # what is charged
    dataset: DataSet  # the charged data set and its sources
    is_query: bool  # whether the source is a query or a view, whose rows only its author can explain
    # The data set's column that identifies the owner of a row, under its name there; None if the unit of privacy is a
    # row or nothing is charged.
    individual: str | None = None

    @property
    def opened_account(self) -> str | None:
        """The account that the run opens in the ledger; None if it existed before or nothing is charged."""
        return self.dataset.name if self.ledger is not None and self.dataset.is_new else None

    @classmethod
    def found(cls, engine: Engine, source: ResolvedSource, policy: Policy, request: Request) -> Chance:
        """Take the given source of chance or the operating system's; find the ledger if the method claims privacy.

        Raises:
            PolicyError: OpenDP is not installed; the data set has no name, another name, or an undeclared one; the
                tables that are read are unknown or belong to several data sets; or the individuals cannot be traced to
                a column.
            EngineError: no ledger outlives the session, or another ledger belongs to the warehouse.
        """
        is_query = source.dataset is None
        chosen = OpenDPSource() if request.random_source is None else request.random_source
        is_private = type(chosen) is OpenDPSource
        if not is_private or not PrivateMethod.of(policy).claims_privacy:
            return cls(chosen, is_private, None, DataSet(""), is_query)
        opened = open_ledger(engine, request.ledger, must_be_capped=request.must_be_capped)
        found = charged(engine, opened, source, request.dataset, request.public)
        return cls(chosen, is_private, opened, found, is_query, individual_of(engine, source, policy, found))


# guarded: tests/unit/test_guarded_settings.py::TestChance
def individual_of(engine: Engine, source: ResolvedSource, policy: Policy, dataset: DataSet) -> str | None:
    """Return the data set's column that identifies the owner of a row; None if the policy knows no individuals.

    A query could redefine the column, and then a charge for one individual would cover only some of their rows, or the
    rows of several.

    Raises:
        PolicyError: the column cannot be traced to a charged table or file.
    """
    if policy.individual is None:
        return None
    [origin] = engine.traced(source, [policy.individual])
    tables, has_files = {each.name for each in dataset.public}, any(each.is_file for each in dataset.public)
    is_public = origin is not None and (origin.tables & tables or (not origin.tables and has_files))
    if origin is None or is_public:
        raise PolicyError(
            f'"{policy.individual}" of {source.description} cannot be traced to a plain column of a charged table or '
            "file, so it is unknown whose rows are counted: select the column itself, renamed with AS if need be"
        )
    return origin.name


# guarded: tests/unit/test_guarded_settings.py::TestChance
def unit_of(policy: Policy, individual: str | None) -> Unit:
    """Return the unit of privacy of a policy: a row, or an individual.

    ``individual`` is the name of the column in the data set; None if it is not traced.
    """
    if policy.individual is None:
        return ROW
    return Unit(individual or policy.individual, PrivateMethod.of(policy).rows_per_individual)


def bounded_source(engine: Compute, bound: BoundPolicy, source: RandomSource) -> exp.Table | exp.Subquery:
    """Return the source with at most the allowed rows of each individual, if the policy knows individuals."""
    individual = bound.policy.individual
    if individual is None:
        return bound.source
    anonymous = engine.fetch(anonymous_rows(bound.source, individual), "individuals")[0]["rows"]
    if anonymous:
        raise PolicyError(
            f"the policy does not fit {bound.description}:",
            [f'"{individual}": NULL in {anonymous:,} rows, which belong to no individual'],
        )
    # Values without an exact name have no text that is equal wherever the rows are.
    names = [found.name for found in bound.columns if found.traits.has_name]
    most = PrivateMethod.of(bound.policy).rows_per_individual
    return bounded_rows(bound.source, individual, most, source.seed(), names)


# guarded: tests/unit/test_guarded_settings.py::TestChance
def refuse_observed(bound: BoundPolicy) -> None:
    """Refuse labels that were read off the data: noise does not hide them."""
    observed = [name for name, domain in bound.domains.items() if domain == "observed"]
    wanted = PrivateMethod.of(bound.policy)
    if observed and wanted.claims_privacy and not wanted.accept_observed_domain:
        raise TaxonomyError(
            "the values of these taxonomies were read off the data, which would be published with them; declare them "
            "(values of your own, or a range), or accept_observed_domain=True if everybody knows which values occur:",
            [f'"{name}"' for name in observed],
        )


def row_count(engine: Compute, relation: Relation) -> int:
    return int(engine.fetch(counted_rows(relation.table), relation.name)[0]["rows"])


def noise_of_places(noise: Integers, runs: int) -> pa.Table:
    count = len(noise) // runs
    places = {RUN: np.repeat(np.arange(runs), count), PLACE: np.tile(np.arange(count), runs)}
    return pa.table({**places, NOISE: noise})


def reached_by_noise(
    source: RandomSource, charge: Charge, rows: int, threshold: int, empty: int, runs: int
) -> list[Integers]:
    """Draw, by run, which of ``empty`` zero counts reach the threshold by noise alone; ascending.

    ``charge`` pays for all counts, zero or not; ``rows`` is the most that one individual adds to them.
    """
    probability = empty_cell_probability(threshold, charge.budget.epsilon, rows=rows)
    times = source.binomial(empty, probability, runs=runs)
    return [source.chosen(empty, int(count)) for count in times]


# guarded: tests/unit/test_guarded_settings.py::TestChance
def drawn_unseen(source: RandomSource, charge: Charge, rows: int, threshold: int, empty: int, runs: int) -> pa.Table:
    """Make the rows of :data:`~.noise.combinations.DRAWN`: the counts of :func:`reached_by_noise` with their noise."""
    ranks = reached_by_noise(source, charge, rows, threshold, empty, runs)
    above = source.discrete_laplace_tail(sum(map(len, ranks)), charge, sensitivity=rows)
    drawn = {
        RUN: np.repeat(np.arange(runs), [len(each) for each in ranks]),
        RANK: np.concatenate([np.empty(0, dtype=np.int64), *ranks]),
        NOISY: threshold + above,
    }
    return pa.table(drawn)
