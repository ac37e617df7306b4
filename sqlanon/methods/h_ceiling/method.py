"""h-ceiling as the pipeline runs it: a node below the ceiling, and counterfeits where its classes have too few rows."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy, refuse_wide
from sqlanon.binding.prepare import prepare, with_present_taxonomies
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.errors import PolicyError, UnsatisfiableError, VerificationError
from sqlanon.mechanisms.source import RandomSource
from sqlanon.mechanisms.system import SystemSource
from sqlanon.methods import publishing
from sqlanon.methods.base import AnyGuarantee, AnyReport, Request
from sqlanon.methods.cells import EncodedTable, encode_table
from sqlanon.methods.full_domain.given_node import only_checked
from sqlanon.methods.full_domain.kept_classes import attained_measures, keep_classes
from sqlanon.methods.full_domain.node_counter import node_summaries
from sqlanon.methods.full_domain.notes import columns_at_the_top, nearly_unique_columns
from sqlanon.methods.h_ceiling import counterfeits
from sqlanon.methods.h_ceiling.ceiling import WITHIN, largest_degrees, level_errors
from sqlanon.methods.h_ceiling.choice import choose_node
from sqlanon.methods.h_ceiling.guarantee import guarantee
from sqlanon.methods.h_ceiling.report import Decision, note, report
from sqlanon.methods.stages import Stages
from sqlanon.methods.stopping import Stopped, never
from sqlanon.model.lattice import NodeSummary
from sqlanon.model.policy.h_ceiling import HCeiling
from sqlanon.model.policy.policy import Policy
from sqlanon.model.recoding import at_node
from sqlanon.model.release import Measurement
from sqlanon.queries.cells.encoding import Encoding
from sqlanon.queries.classes.grouping import recoded
from sqlanon.search import SearchOutcome
from sqlanon.verification.measure import measured_beside
from sqlanon.verification.verify import verify


class Ceiling:
    """Generalize up to a ceiling, fill up the classes that are too small, and verify what is written."""

    is_repeatable = False

    def prepare(self, engine: Engine, source: ResolvedSource, policy: Policy, request: Request) -> Prepared:
        """See :class:`sqlanon.methods.base.Method`."""
        if request.dataset is not None:
            raise PolicyError("dataset is for private methods, of which the policy has none")
        if request.node is not None:
            raise PolicyError(f"{policy.method} looks for its node: bound it by minimum_levels and maximum_levels")
        bound = prepare(engine, source, policy)
        _refuse_inexact(bound)
        refuse_wide(bound.lattice, str(policy.method))
        return Prepared(Run(engine, request), bound)


@dataclass(frozen=True)
class Run:
    """What all states of a run need."""

    engine: Engine
    request: Request

    @property
    def random_source(self) -> RandomSource:
        """Where values are drawn from: the entropy of the system, if nothing else is asked for."""
        return self.request.random_source or SystemSource()

    @property
    def stopped(self) -> Stopped:
        """Asked whether to make do with the best node so far."""
        return self.request.stopped or never


@dataclass(frozen=True)
class Prepared:
    """A policy that fits its source."""

    node: ClassVar[None] = None
    beside: ClassVar[tuple[str, ...]] = ()

    run: Run
    bound: BoundPolicy

    def answering(self) -> AbstractContextManager[None]:
        return nullcontext()

    def with_present_taxonomies(self) -> Prepared:
        return replace(self, bound=with_present_taxonomies(self.run.engine, self.bound))

    def encode(self) -> Encoded:
        rehearsed = self.run.request.rehearsed
        table = encode_table(self.run.engine, self.bound, label_losses=("lm",), may_be_empty=rehearsed)
        if not rehearsed:
            _refuse_rows(self.run.engine, table)
        return Encoded(self.run, table)


@dataclass(frozen=True)
class Encoded:
    """The cells: the values of counterfeits are drawn at random, and cost nobody any privacy that is counted."""

    run: Run
    table: EncodedTable

    def charge(self) -> Encoded:
        return self

    def choose(self, stages: Stages) -> Chosen:
        """See :class:`sqlanon.methods.base.Paid`; no node may keep to the ceiling."""
        engine, table = self.run.engine, self.table
        with stages.stage("search"):
            degrees, errors = largest_degrees(engine, table), level_errors(engine, table)
            h = _settings(table.bound).h
            allowed = degrees <= (1 if h is None else h) + WITHIN
            if not allowed.any():
                raise UnsatisfiableError(
                    f"no node keeps to the ceiling h = {h:g}:",
                    [f"the least general node that the policy allows has a degree of {degrees.min():.6g}"],
                )
            if self.run.request.rehearsed:
                outcome = _bottom(engine, table)
            else:
                classes = counterfeits.without_values(table)
                outcome = choose_node(engine, classes, allowed, errors, stages.checked, self.run.stopped)
            stages.concluded(outcome)
        assert outcome.best is not None
        index = table.context.lattice.index(outcome.best.levels)
        return Chosen(self.run, table, outcome, float(degrees[index]), float(errors[index]), int(allowed.sum()))


@dataclass(frozen=True)
class Chosen:
    """The node that was found, of which nothing is made yet."""

    run: Run
    table: EncodedTable
    outcome: SearchOutcome
    degree: float
    error: float
    allowed_nodes: int

    def draw(self) -> Drawn:
        engine, table = self.run.engine, self.table
        assert self.outcome.best is not None
        levels = self.outcome.best.levels
        recoding, settings = at_node(levels), _settings(table.bound)
        added = counterfeits.draw(engine, table, levels, settings, self.run.random_source)
        filled = counterfeits.filled(engine, table, levels)
        keep_classes(engine, filled, recoding)
        attained = attained_measures(engine, recoded(filled.encoding, recoding))
        publishing.group_rows(engine, filled, recoding, masked=False)
        notes = (*columns_at_the_top(table.context.lattice, levels), *nearly_unique_columns(engine, filled))
        decision = Decision(
            self.outcome, levels, added, self.degree, self.error, self.allowed_nodes, tuple(attained), notes
        )
        return Drawn(self.run, filled, decision)


@dataclass(frozen=True)
class Drawn:
    """The rows of a node, and counterfeits among them."""

    run: Run
    table: EncodedTable
    decision: Decision

    @property
    def encoding(self) -> Encoding:
        return self.table.encoding

    def note(self, report: AnyReport, made_from: Mapping[str, Any]) -> str:
        return note(self.table.bound, self.decision, report)

    def rows_beside(self) -> Mapping[str, exp.Query]:
        return {}

    def verify(self, written: ResolvedSource, beside: Mapping[str, ResolvedSource]) -> Verified:
        bound = self.table.bound
        node = bound.lattice.named(self.decision.levels)
        compared = measured_beside(bound.policy, bound.taxonomy, node, bound.source, bound.columns, None)
        found = verify(self.run.engine, written, bound.policy, compared)
        shortfalls = list(found.shortfalls)
        expected = self.table.context.row_count + self.decision.added.count
        if found.measurement.row_count != expected:
            shortfalls.append(f"it has {found.measurement.row_count:,} rows where {expected:,} were to be released")
        if shortfalls and not self.run.request.rehearsed:
            raise VerificationError(
                "the written release does not meet its policy and was withdrawn; did the source change during the run?",
                shortfalls,
            )
        return Verified(self, found.measurement)


@dataclass(frozen=True)
class Verified:
    """A release whose classes have k rows."""

    drawn: Drawn
    measured: Measurement

    def report(self, into: str, seconds: Mapping[str, float]) -> AnyReport:
        return report(self.drawn.table, self.drawn.decision, self.measured, into, seconds)

    def guarantee(self, report: AnyReport) -> AnyGuarantee:
        return guarantee(self.drawn.table.bound.policy, report)


def _settings(bound: BoundPolicy) -> HCeiling:
    assert isinstance(bound.policy.method, HCeiling)
    return bound.policy.method


def _bottom(engine: Engine, table: EncodedTable) -> SearchOutcome:
    """The bottom of the lattice, which a rehearsal takes for the node that a search would choose."""
    bottom = table.context.lattice.bottom
    node_summaries(engine, table, [bottom], asked="counts")
    return only_checked(NodeSummary(bottom, 1, 1, 0, 0), 0)


def _refuse_inexact(bound: BoundPolicy) -> None:
    """Refuse a sensitive column whose values have several forms: counterfeits would all have the same.

    Raises:
        PolicyError: it is of such a type.
    """
    (name,) = bound.policy.sensitive
    (found,) = (each for each in bound.columns if each.name == name)
    if not (found.traits.is_text or found.traits.has_one_text):
        raise PolicyError(
            f'"{name}" is {found.type}, of which equal values can look different: {bound.policy.method} needs values '
            "that do not; cast it to DECIMAL or VARCHAR in a view or a query"
        )


def _refuse_rows(engine: Engine, table: EncodedTable) -> None:
    """Refuse a table that has fewer rows than a class is to have, or rows without a sensitive value.

    Raises:
        PolicyError: listing both.
    """
    problems, k = [], table.context.k
    if k > table.context.row_count:
        problems.append(f"k is {k:,}, and there are {table.context.row_count:,} rows: no class could be true")
    if nameless := counterfeits.rows_without_value(engine, table):
        (name,) = table.bound.policy.sensitive
        problems.append(
            f'"{name}" is NULL in {nameless:,} rows: give them a value in a view or a query, or leave them out'
        )
    if problems:
        raise PolicyError(f"the policy does not fit {table.bound.description}:", problems)
