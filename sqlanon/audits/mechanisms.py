"""Mechanisms of audits: they are run many times, or list their outputs; private policies are some, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sqlglot import exp

from sqlanon.audits.audit_outputs import countable
from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.carried_taxonomies import own_taxonomies
from sqlanon.chance.accountant import Accountant
from sqlanon.chance.random_source import RandomSource
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.frames import is_stream
from sqlanon.engines.relations import ResolvedSource, Source
from sqlanon.errors import PolicyError
from sqlanon.methods.base import method_of
from sqlanon.methods.chance import private_method
from sqlanon.methods.noisy_node.shared import DrawnNode, Draws, NoisyNodeRun, bounded, node_method, prepared
from sqlanon.model.budget import Budget
from sqlanon.model.policy.policy import GivenPolicy, Policy, policy_of
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.queries.noise import outcomes
from sqlanon.queries.recodings import AtNode
from sqlanon.queries.source_rows import crowded, differences

if TYPE_CHECKING:
    from sqlanon.api.session import Session


@runtime_checkable
class Repeatable(Protocol):
    """A mechanism that can be run many times at once.

    It may have an attribute ``claimed``, the :class:`Budget` that it is held to if the audit has no other.
    """

    def outcomes(self, table: Any, runs: int) -> Mapping[Any, int]:
        """Count the outputs of ``runs`` runs, all independent of each other and of those of other calls.

        Outputs are best numbers, texts, and tuples and frozensets of them: what is made of cells and counts as
        ``frozenset({(cell, count), ...})`` is looked at cell by cell.
        """


@runtime_checkable
class Enumerable(Protocol):
    """A mechanism so small that its outputs can be listed; it may have an attribute ``claimed`` as well."""

    def distribution(self, table: Any) -> Mapping[Any, float]:
        """The probability of each output. Those of tails that are cut off are left out, and the rest are exact."""


def outcomes_of(mechanism: Repeatable, table: Any, runs: int) -> Mapping[Any, int]:
    """Count how often each output came.

    Raises:
        PolicyError: there are not as many outputs as runs.
    """
    outcomes = mechanism.outcomes(table, runs)
    counted = sum(outcomes.values())
    if counted != runs or any(count < 0 for count in outcomes.values()):
        raise PolicyError(
            "the outputs of the mechanism cannot be counted:",
            [f"outcomes() was asked for {runs:,} runs and returned counts of {counted:,}"],
        )
    return outcomes


class Repeated:
    """A function, called once a run."""

    def __init__(self, method: Callable[[Any], Any]) -> None:
        self._method = method
        self._originals: dict[Hashable, Any] = {}
        self._has_returned = False

    def outcomes(self, table: Any, runs: int) -> Mapping[Hashable, int]:
        counts: Counter[Hashable] = Counter()
        for _ in range(runs):
            output = self._output(table)
            counted = countable(output)
            counts[counted] += 1
            if counted is not output:
                self._originals.setdefault(counted, output)
        return counts

    def _output(self, table: Any) -> Any:
        """Return the output of a run; that it fails is one, too."""
        try:
            output = self._method(table)
        except Exception as error:
            if not self._has_returned:
                raise  # it may never work
            return f"failed: {type(error).__name__}"
        self._has_returned = True
        return output

    def original(self, counted: Hashable) -> Any:
        """The output as it was returned."""
        return self._originals.get(counted, counted)


RUNS_AT_ONCE = 100_000  # how many releases are drawn together at most: each takes a row per combination

AUDITED = {
    "diffgen": "sqlanon.audits.audited_methods:AuditedDiffGen",
    "synthetic": "sqlanon.audits.audited_methods:AuditedSynthetic",
}
"""Where the audits of methods are that publish no node."""


class AuditedPolicy:
    """The mechanism of a policy: what a run would publish, as its node with a hash and the rows of all that is shown.

    Nothing is written or spent: what is drawn to be audited must not be published.

    Args:
        session: where the tables are.
        policy: the policy, with a private method.
        source: the source of chance.

    Attributes:
        salt: makes the hashes of labels and values differ from one audit to the next.
    """

    notes = ("Made from the data, and nothing was charged for it: the audit is as private as the data.",)

    def __init__(self, session: Session, policy: Policy, source: RandomSource) -> None:
        self._session = session
        self._policy = policy
        self._source = source
        self.salt = source.seed()

    @property
    def claimed(self) -> Budget | None:
        """The budget that a release of the policy promises to keep; None if it promises nothing."""
        wanted = private_method(self._policy)
        return wanted.budget if wanted.claims_privacy else None

    def refuse_strangers(self, table: Source, neighbour: Source) -> None:
        """Refuse tables that differ by more than a row, or by more than one individual if the policy knows them."""
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
                f"{first.description} and {second.description} are no neighbours:",
                [f"{found['differing']:,} {what}, where neighbours differ by one"],
            )

    def outcomes(self, table: Source, runs: int) -> Mapping[object, int]:
        """Draw ``runs`` releases of a table; each different one with the number of runs in which it was drawn."""
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
            bound = self._prepared(source)
            _refuse_crowded(engine, bound)
            method = private_method(self._policy).name
            accountant = Accountant(None, dataset="", method=method, policy_sha256=self._policy.sha256())
            with engine.transaction(), engine.scratch():
                return list(self._outcomes(engine, bound, accountant, runs))

    def _prepared(self, source: ResolvedSource) -> BoundPolicy:
        return prepared(self._session._engine, source, self._policy)

    def _outcomes(
        self, engine: Engine, bound: BoundPolicy, accountant: Accountant, runs: int
    ) -> Iterator[tuple[object, int]]:
        """Yield what is shown, with the number of runs that show just that."""
        for encoded, node in self._drawn_nodes(engine, bound, accountant, runs):
            with engine.scratch():
                relations, recoding = node.draw_counts(), AtNode(encoded.encoding, node.levels)
                query = outcomes(recoding, relations, self.salt, with_left_over=node.with_left_over)
                yield from shown(engine, query, node.levels, node.runs, ("anon_place", "anon_noisy_rows"))

    def _drawn_nodes(
        self, engine: Engine, bound: BoundPolicy, accountant: Accountant, runs: int
    ) -> Iterator[tuple[EncodedTable, DrawnNode]]:
        """The nodes that are drawn, each with the cells, and with how its counts are drawn."""
        method = method_of(bound.policy)
        assert issubclass(method, NoisyNodeRun)
        wanted, algorithm = node_method(bound.policy), method.algorithm
        draws = Draws(wanted, self._source, accountant.charge(wanted.budgets))
        rows = bounded(engine, bound, self._source)
        encoded = encode_table(engine, bound, rows, label_losses=algorithm.label_losses, may_be_empty=True)
        for node in algorithm.drawn_nodes(engine, encoded, draws, algorithm.public_domains(engine, encoded), runs):
            yield encoded, node


def repeatable(session: Session | None, policy: GivenPolicy, source: RandomSource | None = None) -> AuditedPolicy:
    """A policy as a mechanism to audit, with the operating system's randomness if no other source is given.

    Raises:
        PolicyError: the policy is not valid, has no private method, or OpenDP is not installed.
    """
    policy = policy_of(policy)
    if session is None:
        raise PolicyError("a policy is audited where its tables are: give the session")
    if not policy.has_private_method:
        raise PolicyError("the policy has no private method: there is no ε to audit")
    if source is None:
        from sqlanon.chance.opendp import OpenDPSource

        source = OpenDPSource()
    module, _, name = AUDITED.get(policy.method.name, f"{__name__}:AuditedPolicy").partition(":")
    audited: AuditedPolicy = getattr(import_module(module), name)(session, policy, source)
    return audited


def _refuse_crowded(engine: Compute, bound: BoundPolicy) -> None:
    """Refuse individuals with more rows than are counted: all runs would share the choice of them, also chance."""
    individual, most = bound.policy.individual, private_method(bound.policy).rows_per_individual
    if individual is None:
        return
    if engine.fetch(crowded(bound.source, individual, most), "individuals")[0]["individuals"]:
        raise PolicyError(
            f"individuals of {bound.description} have more than {most:,} rows: an audit draws many releases at once, "
            "which would share the choice of the rows that are counted; audit tables in which nobody has more"
        )


def shown(
    engine: Compute, query: exp.Query, drawn: object, runs: int, names: tuple[str, str]
) -> Iterator[tuple[object, int]]:
    """Yield each shown output with the number of runs, of those that drew the same; the runs left show nothing.

    Args:
        engine: where the counts were drawn.
        query: a row per outcome with ``runs``, and ``shown``, a list of structs.
        drawn: what the runs have in common.
        runs: their number.
        names: the fields of the structs with a place and its count.
    """
    place, count = names
    for row in engine.fetch(query, "outcomes"):
        runs -= int(row["runs"])
        yield countable((drawn, {item[place]: item[count] for item in row["shown"]})), int(row["runs"])
    if runs:
        yield countable((drawn, {})), runs
