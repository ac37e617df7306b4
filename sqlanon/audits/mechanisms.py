"""Mechanisms to audit, which are run many times or list their outputs; private policies are mechanisms, too.

Nodes and their counts are drawn for many runs at once. Cuts of DiffGen are drawn once per group of equal runs, their
counts in SQL. Synthetic rows are audited by all draws of a run, from which its rows are made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.audits.audit_outputs import countable
from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.carried_taxonomies import own_taxonomies
from sqlanon.binding.prepare import prepare
from sqlanon.chance.accountant import Accountant, Portions
from sqlanon.chance.random_source import RandomSource
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.frames import is_stream
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.errors import PolicyError
from sqlanon.methods.base import method_of
from sqlanon.methods.chance import bounded_source
from sqlanon.methods.cut_pieces import Cut, Partitions, Piece, Specialization
from sqlanon.methods.diffgen.diffgen_queries import SHOWN
from sqlanon.methods.diffgen.diffgen_run import checked, encode
from sqlanon.methods.diffgen.draws import (
    LEAVES,
    Chosen,
    CountedRows,
    Draws,
    Scored,
    SetOfChildren,
    draw_leaves,
    specialized,
)
from sqlanon.methods.noisy_node import shared as noisy_node
from sqlanon.methods.points import Points
from sqlanon.methods.synthetic import measuring
from sqlanon.model.budget import Budget
from sqlanon.model.methods.cut_methods import DiffGen
from sqlanon.model.methods.noisy import NodeMethod, PrivateMethod
from sqlanon.model.methods.synthetic import Synthetic
from sqlanon.model.policy.policy import GivenPolicy, Policy, policy_of
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.queries.noise import INDEX, NOISY, outcomes, runs_by_outcome
from sqlanon.queries.recodings import AtNode
from sqlanon.queries.source_rows import crowded, differences

if TYPE_CHECKING:
    from sqlanon.api.session import Session


@runtime_checkable
class Repeatable(Protocol):
    """A mechanism that can be run many times at once.

    Its optional attribute ``claimed`` is a :class:`Budget`, the claim if the audit is given none.
    """

    def outcomes(self, table: Any, runs: int) -> Mapping[Any, int]:
        """Count the outputs of ``runs`` runs, all independent of each other and of other calls.

        Outputs are best numbers, texts, and tuples and frozensets of them: of cells and counts such as
        ``frozenset({(cell, count), ...})``, each cell is examined.
        """


@runtime_checkable
class Enumerable(Protocol):
    """A mechanism with few enough outputs to list; it may have an attribute ``claimed`` as well."""

    def distribution(self, table: Any) -> Mapping[Any, float]:
        """Return the exact probability of each output; tails may be cut off."""


def outcomes_of(mechanism: Repeatable, table: Any, runs: int) -> Mapping[Any, int]:
    """Count the outputs of runs, and refuse counts that do not add up."""
    outcomes = mechanism.outcomes(table, runs)
    counted = sum(outcomes.values())
    if counted != runs or any(count < 0 for count in outcomes.values()):
        raise PolicyError(
            "the outputs of the mechanism cannot be counted:",
            [f"outcomes() was asked for {runs:,} runs and returned counts of {counted:,}"],
        )
    return outcomes


class Repeated:
    """A function that is called once per run."""

    def __init__(self, method: Callable[[Any], Any]) -> None:
        self._method = method
        self._originals: dict[Hashable, Any] = {}
        self._has_returned = False

    def outcomes(self, table: Any, runs: int) -> Mapping[Hashable, int]:
        counts: Counter[Hashable] = Counter()
        for _ in range(runs):
            try:
                output = self._method(table)
                self._has_returned = True
            except Exception as error:
                if not self._has_returned:
                    raise  # it may never work
                output = f"failed: {type(error).__name__}"  # a failure is an output, too
            counted = countable(output)
            counts[counted] += 1
            if counted is not output:
                self._originals.setdefault(counted, output)
        return counts

    def original(self, counted: Hashable) -> Any:
        return self._originals.get(counted, counted)


RUNS_AT_ONCE = 100_000  # maximum number of releases drawn together: each takes a row per combination


class AuditedPolicy:
    """The mechanism of a policy: its outputs are a run's node, with a hash of the labels, and the rows of all it shows.

    Nothing is written or spent: draws of an audit must not be published.

    Args:
        session: the session that has the tables.
        policy: the policy, with a private method.
        source: the source of chance.

    Attributes:
        salt: makes the hashes of labels and values differ between audits.
    """

    notes = ("Made from the data, and nothing was charged for it: the audit is as private as the data.",)

    def __init__(self, session: Session, policy: Policy, source: RandomSource) -> None:
        self._session = session
        self._policy = policy
        self._source = source
        self.salt = source.seed()

    @property
    def claimed(self) -> Budget | None:
        """The budget that a release of the policy claims; None without a claim."""
        wanted = PrivateMethod.of(self._policy)
        return wanted.budget if wanted.claims_privacy else None

    def refuse_strangers(self, table: Source, neighbour: Source) -> None:
        """Refuse tables that differ by more than one row, or individual if the policy names them."""
        if is_stream(table) or is_stream(neighbour):
            raise PolicyError("an audit reads its tables many times: give tables, not streams that are read once")
        engine, resolve = self._session._engine, self._session._opened.resolve
        with self._session._opened.call():
            engine.read_as(self._policy.csv, self._policy.timezone)
            first, second = (self._prepared(resolve(name)) for name in (table, neighbour))
            found = engine.fetch(differences(first.cells, second.cells), "differences")[0]
        individual = self._policy.individual
        what = "rows" if individual is None else f'values of "{individual}" with other rows'
        if found["differing"] != 1:
            raise PolicyError(
                f"{first.description} and {second.description} are not neighbours:",
                [f"{found['differing']:,} {what}, where neighbours differ by one"],
            )

    def outcomes(self, table: Source, runs: int) -> Mapping[object, int]:
        """Draw ``runs`` releases of a table, and count the different ones."""
        found: dict[object, int] = {}
        for start in range(0, runs, RUNS_AT_ONCE):
            with self._session._opened.call():
                self._session._engine.read_as(self._policy.csv, self._policy.timezone)
                drawn = self._drawn(self._session._opened.resolve(table), min(RUNS_AT_ONCE, runs - start))
            for outcome, count in drawn:
                found[outcome] = found.get(outcome, 0) + count
        return found

    def _drawn(self, source: ResolvedSource, runs: int) -> list[tuple[object, int]]:
        engine = self._session._engine
        with own_taxonomies(engine, source, self._policy):
            bound, wanted = self._prepared(source), PrivateMethod.of(self._policy)
            individual, most = bound.policy.individual, wanted.rows_per_individual
            # All runs would share the random choice of the counted rows.
            if (
                individual is not None
                and engine.fetch(crowded(bound.source, individual, most), "individuals")[0]["individuals"]
            ):
                raise PolicyError(
                    f"individuals of {bound.description} have more than {most:,} rows: an audit draws many releases at "
                    "once, which would share the choice of the rows that are counted; audit tables in which nobody has "
                    "more"
                )
            accountant = Accountant(None, dataset="", method=wanted.name, policy_sha256=self._policy.sha256())
            with engine.transaction(), engine.scratch():
                return list(self._outcomes(engine, bound, accountant, runs))

    def _prepared(self, source: ResolvedSource) -> BoundPolicy:
        return noisy_node.prepared(self._session._engine, source, self._policy)

    def _outcomes(
        self, engine: Engine, bound: BoundPolicy, accountant: Accountant, runs: int
    ) -> Iterator[tuple[object, int]]:
        for encoded, node in self._drawn_nodes(engine, bound, accountant, runs):
            with engine.scratch():
                relations, recoding = node.draw_counts(), AtNode(encoded.encoding, node.levels)
                query = outcomes(recoding, relations, self.salt, with_left_over=node.with_left_over)
                yield from shown(engine, query, node.levels, node.runs, ("anon_place", "anon_noisy_rows"))

    def _drawn_nodes(
        self, engine: Engine, bound: BoundPolicy, accountant: Accountant, runs: int
    ) -> Iterator[tuple[EncodedTable, noisy_node.DrawnNode]]:
        """Draw nodes, each with the cells and the settings of its counts."""
        method = method_of(bound.policy)
        assert issubclass(method, noisy_node.NoisyNodeRun)
        wanted = NodeMethod.of(bound.policy)
        draws = noisy_node.Draws(wanted, self._source, accountant.charge(wanted.budgets))
        rows = noisy_node.bounded(engine, bound, self._source)
        encoded = encode_table(engine, bound, rows, label_losses=method.label_losses)
        for node in method.drawn_nodes(engine, encoded, draws, method.public_domains(engine, encoded), runs):
            yield encoded, node


def shown(
    engine: Compute, query: exp.Query, drawn: object, runs: int, names: tuple[str, str]
) -> Iterator[tuple[object, int]]:
    """Yield each output with its number of runs, among runs of one draw; the remaining runs show nothing.

    The query has a row per output, with ``runs`` and ``shown``, a list of structs with a place and its count.
    """
    place, count = names
    for row in engine.fetch(query, "outcomes"):
        runs -= int(row["runs"])
        yield countable((drawn, {item[place]: item[count] for item in row["shown"]})), int(row["runs"])
    if runs:
        yield countable((drawn, {})), runs


class AuditedDiffGen(AuditedPolicy):
    """DiffGen, whose outputs are the specializations in order, the remaining sets, and all counts that are shown.

    Combinations are numbered in the public domain of the cut.
    """

    def _prepared(self, source: ResolvedSource) -> BoundPolicy:
        return checked(prepare(self._session._engine, source, self._policy))

    def _outcomes(
        self, engine: Engine, bound: BoundPolicy, accountant: Accountant, runs: int
    ) -> Iterator[tuple[object, int]]:
        points = encode(engine, bound, bounded_source(engine, bound, self._source))
        settings = DiffGen.of(bound.policy)
        evidence = CountedRows(engine, settings.utility)
        pay = partial(accountant.charge_in_portions, settings.name, settings.budget)
        for chosen, portions, count in branches(points, Remembered(engine, settings.utility), self._source, pay, runs):
            with engine.scratch():
                for partitions in chosen.cut.partitions.values():
                    evidence.partitioned(partitions)
                draw_leaves(
                    engine, chosen.cut, points.classes, settings, self._source, portions.rest(LEAVES), runs=count
                )
                kept = tuple(partitions.kept for partitions in chosen.cut.partitions.values())
                drawn = tuple((each.piece, each.children) for each in chosen.specializations), kept
                yield from shown(engine, runs_by_outcome(SHOWN.table, INDEX), drawn, count, (INDEX, NOISY))


class Remembered(CountedRows):
    """Evidence that caches its answers; scores of item sets depend on the remaining sets."""

    def __init__(self, engine: Compute, utility: str) -> None:
        super().__init__(engine, utility)
        self._answers: dict[Hashable, Any] = {}

    def scores(self, cut: Cut, specializations: Sequence[Specialization]) -> list[int]:
        counted = super().scores

        def score(partitions: Partitions | None, each: Specialization) -> Any:
            ask = partial(counted, cut, [each])
            return self._answer(("score", partitions, each), partitions, ask)[0]

        return [score(cut.partitions.get(each.piece.position), each) for each in specializations]

    def split_scores(self, intervals: Sequence[Piece]) -> list[Scored]:
        counted = super().split_scores
        return [self._answer(("splits", each), None, partial(counted, [each]))[0] for each in intervals]

    def set_counts(self, partitions: Partitions, specialization: Specialization) -> Mapping[SetOfChildren, int]:
        ask = partial(super().set_counts, partitions, specialization)
        found: Mapping[SetOfChildren, int] = self._answer(("sets", partitions, specialization), partitions, ask)
        return found

    def partitioned(self, partitions: Partitions) -> None:
        """Do nothing: the evidence is asked for partitions with each question about them."""

    def _answer(self, question: Hashable, partitions: Partitions | None, ask: Callable[[], Any]) -> Any:
        if question not in self._answers:
            if partitions is not None and partitions.specialized:
                super().partitioned(partitions)
            self._answers[question] = ask()
        return self._answers[question]


class _Branch(Exception):  # noqa: N818 - no error, but a way out
    """Runs part ways: the values that were drawn, with their counts."""

    def __init__(self, drawn: Sequence[tuple[Any, int]]) -> None:
        self.drawn = drawn


class _Replayed(Draws):
    """Draws that are known up to a point, from which on they are drawn for all runs that reached it."""

    def __init__(
        self, settings: DiffGen, source: RandomSource, portions: Portions, known: Sequence[Any], runs: int
    ) -> None:
        super().__init__(settings, source, portions)
        self._known = list(known)
        self._runs = runs

    def _drawn(self, draw: Callable[[int], NDArray[Any]]) -> Any:
        if self._known:
            return self._known.pop(0)
        found, times = np.unique(draw(self._runs), axis=0, return_counts=True)
        raise _Branch(list(zip(found, times.tolist(), strict=True)))


def branches(
    points: Points, evidence: CountedRows, source: RandomSource, pay: Callable[[], Portions], runs: int
) -> Iterator[tuple[Chosen, Portions, int]]:
    """Draw the cuts of runs, each with the rest of its budget and its number of runs.

    Each branch pays for its portions anew.
    """
    settings = DiffGen.of(points.bound.policy)
    open_branches: list[tuple[tuple[Any, ...], int]] = [((), runs)]
    while open_branches:
        known, count = open_branches.pop()
        portions = pay()
        draws = _Replayed(settings, source, portions, known, count)
        try:
            yield specialized(points.axes, points.classes, settings.specializations, evidence, draws), portions, count
        except _Branch as branch:
            open_branches += [((*known, drawn), times) for drawn, times in branch.drawn]


class AuditedSynthetic(AuditedPolicy):
    """Synthetic rows, whose outputs are the measured marginals in order, all noisy counts, and the error in the report.

    The rows of a release are made from these without the table, so that they reveal no more.
    """

    def _prepared(self, source: ResolvedSource) -> BoundPolicy:
        return measuring.checked(prepare(self._session._engine, source, self._policy))

    def _outcomes(
        self, engine: Engine, bound: BoundPolicy, accountant: Accountant, runs: int
    ) -> Iterator[tuple[object, int]]:
        settings, table = Synthetic.of(bound.policy), measuring.counted(engine, bound, self._source)
        for _ in range(runs):
            portions = accountant.charge_in_rho(settings.name, settings.budget)
            chosen, error = measuring.measured(table, settings, portions, self._source)
            noisy = [each.counts for each in chosen.log] + [counts for counts, _ in chosen.fine.values()]
            counts = {
                (number, cell): count
                for number, found in enumerate(noisy)
                for cell, count in enumerate(found.ravel().tolist())
            }
            sets = tuple(each.columns for each in chosen.log)
            yield countable((sets, counts, -1 if error is None else error.rows)), 1


def repeatable(session: Session | None, policy: GivenPolicy, source: RandomSource | None = None) -> AuditedPolicy:
    """Return a policy as a mechanism to audit, by default with the operating system's randomness."""
    policy = policy_of(policy)
    if session is None:
        raise PolicyError("a policy is audited where its tables are: give the session")
    if not policy.has_private_method:
        raise PolicyError("the policy has no private method: there is no ε to audit")
    if source is None:
        from sqlanon.chance.opendp import OpenDPSource

        source = OpenDPSource()
    other_outputs = {"diffgen": AuditedDiffGen, "synthetic": AuditedSynthetic}  # these publish no node
    return other_outputs.get(policy.method.name, AuditedPolicy)(session, policy, source)
