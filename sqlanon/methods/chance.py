"""Chance of private methods: its source, the account that pays, the rows that are counted, and the noise.

All counts of a domain get noise, and those that reach a threshold are shown. Of the empty ones, how many do is drawn,
and which, and by how much: that is the same, and takes time for these alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.chance.accountant import Charge, Ledger
from sqlanon.chance.discrete_laplace import empty_cell_probability
from sqlanon.chance.exact import Integers
from sqlanon.chance.opendp import OpenDPSource
from sqlanon.chance.random_source import RandomSource
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
    """The source of chance of a run, and the account that pays; no ledger if nothing is private."""

    source: RandomSource  # where draws come from
    is_private: bool  # whether that is the operating system's randomness as OpenDP draws it; no other is trusted
    ledger: Ledger | None  # what is charged
    dataset: DataSet  # whose account it is, and what is read of it
    is_query: bool  # whether the source is a query or a view; only its author knows what its rows stand for
    # The column of the data set that identifies the owner of a row, by whatever name the source has it; None if the
    # unit of privacy is a row, or nothing is charged.
    individual: str | None = None

    @property
    def opened_account(self) -> str | None:
        """The account that the run opens in the ledger, None if it had a row before or none is charged."""
        return self.dataset.name if self.ledger is not None and self.dataset.is_new else None

    @classmethod
    def found(cls, engine: Engine, source: ResolvedSource, policy: Policy, request: Request) -> Chance:
        """The operating system's randomness if no other is given, and the ledger if what is drawn claims to be private.

        Raises:
            PolicyError: OpenDP is not installed, or the source needs a name as a data set, or has another one, or one
                that nobody has declared; or what it reads belongs to several data sets, or cannot be seen; or its
                individuals cannot be traced to a column of the data set.
            EngineError: there is no ledger that outlives the session, or another one is that of the warehouse.
        """
        is_query = source.dataset is None
        chosen = OpenDPSource() if request.random_source is None else request.random_source
        is_private = type(chosen) is OpenDPSource
        if not is_private or not private_method(policy).claims_privacy:
            return cls(chosen, is_private, None, DataSet(""), is_query)
        opened = open_ledger(engine, request.ledger, must_be_capped=request.must_be_capped)
        found = charged(engine, opened, source, request.dataset, request.public)
        return cls(chosen, is_private, opened, found, is_query, individual_of(engine, source, policy, found))


# guarded: tests/unit/test_guarded_settings.py::TestChance
def individual_of(engine: Engine, source: ResolvedSource, policy: Policy, dataset: DataSet) -> str | None:
    """The column of a data set that identifies the owner of a row, None if the policy knows rows alone.

    A query could redefine it, so that what is charged for all rows of one is about some of them, or of many together.

    Raises:
        PolicyError: it is not known to be a column of the tables or files that are charged.
    """
    if policy.individual is None:
        return None
    [origin] = engine.traced(source, [policy.individual])
    tables, has_files = {each.name for each in dataset.public}, any(each.is_file for each in dataset.public)
    is_public = origin is not None and (origin.tables & tables or (not origin.tables and has_files))
    if origin is None or is_public:
        raise PolicyError(
            f'"{policy.individual}" of {source.description} is not known to be a plain column of what is charged, so '
            "nobody can say whose rows are counted: name it, or rename it with AS, and make it of nothing else"
        )
    return origin.name


def private_method(policy: Policy) -> PrivateMethod:
    """The method of a policy that has a private one."""
    assert isinstance(policy.method, PrivateMethod)
    return policy.method


# guarded: tests/unit/test_guarded_settings.py::TestChance
def unit_of(policy: Policy, individual: str | None) -> Unit:
    """Return the unit by which neighbours differ in the privacy loss of a policy with a private method.

    ``individual`` is what the data set calls the column of the individuals; None if nobody has traced it.
    """
    if policy.individual is None:
        return ROW
    return Unit(individual or policy.individual, private_method(policy).rows_per_individual)


def bounded_source(engine: Compute, bound: BoundPolicy, source: RandomSource) -> exp.Table | exp.Subquery:
    """The source with no more rows of each individual than the method allows, if the policy knows individuals.

    Raises:
        PolicyError: rows belong to no individual.
    """
    individual = bound.policy.individual
    if individual is None:
        return bound.source
    anonymous = engine.fetch(anonymous_rows(bound.source, individual), "individuals")[0]["rows"]
    if anonymous:
        raise PolicyError(
            f"the policy does not fit {bound.description}:",
            [f'"{individual}": NULL in {anonymous:,} rows, which belong to no individual'],
        )
    # Values without an exact name have no text that is the same wherever the rows are.
    names = [found.name for found in bound.columns if found.traits.has_name]
    most = private_method(bound.policy).rows_per_individual
    return bounded_rows(bound.source, individual, most, source.seed(), names)


# guarded: tests/unit/test_guarded_settings.py::TestChance
def refuse_observed(bound: BoundPolicy) -> None:
    """Labels that were made from the data disclose some of it, whatever noise is added.

    Raises:
        TaxonomyError: the values of a taxonomy were observed, and that is not accepted.
    """
    observed = [name for name, domain in bound.domains.items() if domain == "observed"]
    wanted = private_method(bound.policy)
    if observed and wanted.claims_privacy and not wanted.accept_observed_domain:
        raise TaxonomyError(
            "the values of these taxonomies were read off the data, which would be published with them; declare them "
            "(values of your own, or a range), or accept_observed_domain=True if everybody knows which values occur:",
            [f'"{name}"' for name in observed],
        )


def row_count(engine: Compute, relation: Relation) -> int:
    """Count the rows of a relation."""
    return int(engine.fetch(counted_rows(relation.table), relation.name)[0]["rows"])


def noise_of_places(noise: Integers, runs: int) -> pa.Table:
    """Noise by run and place: that of the first run, in the order of places, then that of the next one."""
    count = len(noise) // runs
    places = {RUN: np.repeat(np.arange(runs), count), PLACE: np.tile(np.arange(count), runs)}
    return pa.table({**places, NOISE: noise})


def reached_by_noise(
    source: RandomSource, charge: Charge, rows: int, threshold: int, empty: int, runs: int
) -> list[Integers]:
    """By run, which counts of 0 reach a threshold by their noise alone, ascending.

    Args:
        source: where chance comes from.
        charge: what all counts cost together, those that are not 0 among them.
        rows: how many rows of one individual are counted at most.
        threshold: the least noisy count that is shown.
        empty: how many counts are 0.
        runs: how many releases are drawn.
    """
    probability = empty_cell_probability(threshold, charge.budget.epsilon, rows=rows)
    times = source.binomial(empty, probability, runs=runs)
    return [source.chosen(empty, int(count)) for count in times]


# guarded: tests/unit/test_guarded_settings.py::TestChance
def drawn_unseen(source: RandomSource, charge: Charge, rows: int, threshold: int, empty: int, runs: int) -> pa.Table:
    """The rows of :data:`~.noise.combinations.DRAWN`: those of :func:`reached_by_noise`, with their noise."""
    ranks = reached_by_noise(source, charge, rows, threshold, empty, runs)
    above = source.discrete_laplace_tail(sum(map(len, ranks)), charge, sensitivity=rows)
    drawn = {
        RUN: np.repeat(np.arange(runs), [len(each) for each in ranks]),
        RANK: np.concatenate([np.empty(0, dtype=np.int64), *ranks]),
        NOISY: threshold + above,
    }
    return pa.table(drawn)
