"""An exploration: the cells of one source held in the database, to search for nodes and to ask about any node."""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple

from sqlanon.binding.carried_taxonomies import own_taxonomies
from sqlanon.binding.prepare import prepare
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.locks import CallLock
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError, Explanation, PolicyError
from sqlanon.methods.full_domain.full_domain_run import given_levels
from sqlanon.methods.full_domain.relaxation import unsatisfiable
from sqlanon.methods.stages import Progress, Stages, Stopped, never, silent, stopping
from sqlanon.model.lattice import Levels
from sqlanon.model.lattice import NodeSummary as Summary
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.policy.policy import Policy
from sqlanon.model.quality import LM, NCP, Prec
from sqlanon.model.release import FinerNode, Result
from sqlanon.model.release.pictures import joined_points
from sqlanon.nodes.choice import Satisfying, answered, cheapest_finer, finer_nodes, problem_and_counter
from sqlanon.nodes.counting import Examination, examine_nodes, examined_at_once
from sqlanon.nodes.table import EncodedTable, encode_table, refuse_empty, refuse_too_many
from sqlanon.report.document import Points, figure, percent
from sqlanon.run.explorer import ExploredColumn, explored_columns, takes_k
from sqlanon.run.lattice_table import node_row, nodes_in_seconds, refuse_without_nodes
from sqlanon.search import SEARCHES, Answers, Inquiry, SearchOutcome, SearchProblem

KS = (2, 3, 5, 10, 20, 50, 100)  # searched for besides the k of the policy
MAX_SHOWN = 3_000  # nodes of a plot
STEPS_OF_CHART = 6, 40  # of log k and of the loss: nodes in the same one are one point of a chart
MIN_SECONDS = 0.01  # that a search may take: it checks a batch of nodes in any case


class MeasuredNode(Result):
    """A node of the lattice, counted.

    Attributes:
        node: the level of each quasi-identifier.
        k: the k by which it was judged; 1 without k-anonymity.
        loss: its loss by the quality model of the policy.
        suppressed_rows: rows in classes that violate a privacy model.
        allowed_rows: the most rows that may be suppressed.
        best_k: the largest k for which it satisfies the policy; 1 if it only does without k-anonymity, None if never.
        class_count: classes before suppression.
        satisfies: whether a run could publish it.
        blocking_model, blocking_rows: the privacy model with the most rows in classes that violate it, and these rows;
            None if the node satisfies.
    """

    node: dict[str, int]
    k: int
    loss: float
    suppressed_rows: int
    allowed_rows: int
    best_k: int | None
    class_count: int
    satisfies: bool
    blocking_model: str | None
    blocking_rows: int | None


class CurvePoint(Result):
    """The least loss at one k.

    Attributes:
        k: the k.
        best: the node of least loss found so far; None if none was.
        lower_bound: a proven lower bound of the loss of every node that satisfies; None if unknown.
        is_proven: whether no node loses less than ``best``, or none satisfies.
    """

    k: int
    best: MeasuredNode | None
    lower_bound: float | None
    is_proven: bool


class Exploration(AbstractContextManager["Exploration"]):
    """The nodes of one source by one policy, as :meth:`sqlanon.Session.exploration` returns it.

    Cells are held in temporary tables until it is closed; every count is a GROUP BY on them. Changes of the source and
    of taxonomies don't show. Several threads may use it, but not a callback: its calls run one after the other, and
    between the batches of a search :meth:`at` gets its turn. All that is known is read without waiting.

    Attributes:
        source: the table, in words.
        policy: the policy as it is explored: without a given node, and for utility by the optimal search.
        k: the k of the policy; 1 without k-anonymity.
        row_count, cell_count: rows, and combinations of the values that classes are made of.
        allowed_rows: the most rows that may be suppressed.
        measure: the loss of the policy.
        columns: the quasi-identifiers with their levels.
        node_count: nodes of the lattice.
        is_whole: whether :meth:`search` examines every node: a small lattice, or a small table.
        explanation: what would help, once a search has proven that no node meets the policy; else None.
    """

    def __init__(
        self,
        engine: Engine,
        source: ResolvedSource,
        policy: Policy,
        progress: Progress,
        lock: CallLock,
        callback: Callable[[Any], Any],
    ) -> None:
        refuse_without_nodes(policy)
        if isinstance(policy.method, FullDomain):
            free = {"search": "optimal", "objective": "utility", "max_loss": None, "node": None}
            policy = policy.changed(free)
        # A search holds all three, and lends the lock of the session between batches to a call that has the turn.
        self._search_lock, self._turn, self._lock = threading.RLock(), threading.Lock(), lock
        self._engine, self._callback = engine, callback
        with ExitStack() as held:
            held.enter_context(own_taxonomies(engine, source, policy, lists_ranges=False))
            held.enter_context(engine.scratch())
            stages = Stages(progress)
            # A later statement that is ended must not take the cells along, so they are committed.
            with stages.watching(engine), engine.transaction():
                bound = prepare(engine, source, policy)
                with stages.stage("encode"):
                    table = encode_table(engine, bound, label_losses=policy.quality.label_losses)
                    refuse_empty(engine, table)
                    refuse_too_many(engine, table)
                    self.columns: tuple[ExploredColumn, ...] = explored_columns(engine, table)
            # At the latest the interpreter closes it, while it can.
            self._end = weakref.finalize(self, held.pop_all().close)
        context, lattice = table.context, table.context.lattice
        self.source, self.policy, self.k = source.description, bound.policy, max(bound.policy.criteria.k, 1)
        self.row_count, self.cell_count, self.allowed_rows = context.row_count, table.cell_count, context.allowed_rows
        self.measure, self.node_count = policy.quality.measure, lattice.size
        self.is_whole = lattice.size <= nodes_in_seconds(table)
        self._table, self._problem = table, SearchProblem(policy.quality, context)
        self._known: dict[Levels, _Known] = {}
        self._checked: set[Levels] = set()
        self._points: dict[int, CurvePoint] = {}
        self.explanation: Explanation | None = None
        self._satisfying = Satisfying(self._problem)
        lock.reserve(self)

    def search(
        self,
        *,
        ks: Sequence[int] = KS,
        progress: Progress = silent,
        time_limit: float | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        """Find the least loss at the policy's k and then at others, and examine all nodes if ``is_whole``.

        What is proven isn't searched for again.

        Args:
            ks: other k; those that the policy's method or other models don't take are left out.
            progress: called with an :class:`sqlanon.Event` a few times a second: stage ``search`` for each k, and
                ``count`` for all nodes. An exception in it ends the search; what was found by then stays.
            time_limit: seconds after which the search settles for what it has found: at most half of them for the
                policy's k, and what is left in equal parts for the others.
            stop: called after each batch of nodes; once it returns true, likewise.

        Raises:
            PolicyError: a k is below 2, or the time limit is not positive.
            EngineError: the exploration is closed, or the database refused a step.
        """
        if wrong := [k for k in ks if isinstance(k, bool) or not isinstance(k, int) or k < 2]:
            raise PolicyError(f"each k must be a whole number of 2 or more, not {', '.join(map(str, wrong))}")
        stop, began = self._callback(stop), time.monotonic()
        stopped = stopping(time_limit, stop) or never
        asked = [self.k, *(k for k in dict.fromkeys(ks) if k != self.k and takes_k(self.policy, k))]
        asked = [k for k in asked if k not in self._points or not self._points[k].is_proven]
        stages = Stages(self._callback(progress))
        with self._search_lock, self._call(), stages.watching(self._engine):
            for left, k in zip(range(len(asked), 0, -1), asked, strict=True):
                part = None
                if time_limit is not None:
                    seconds = max(began + time_limit - time.monotonic(), MIN_SECONDS)
                    part = seconds / (min(left, 2) if k == self.k else left)
                if not stopped():
                    self._search(k, stages, stopping(part, stop) or never)
            if self.is_whole and not stopped():
                with stages.stage("count"):
                    self._examine_all(stages, stopped)

    def at(self, node: Mapping[str, int]) -> MeasuredNode:
        """Measure one node; a node that was asked before is remembered.

        Args:
            node: the level of every quasi-identifier, within the bounds of the policy.

        Raises:
            PolicyError: the node doesn't fit the policy.
            EngineError: the exploration is closed, or the database refused a step.
        """
        return self._examined([given_levels(self._table.bound, node)])[0].measured

    def best(self, k: int | None = None) -> MeasuredNode | None:
        """Return the node of least loss at a k, by default the policy's, as far as a search found one."""
        point = self._points.get(self.k if k is None else k)
        return None if point is None else point.best

    def curve(self, ks: Sequence[int] | None = None) -> tuple[CurvePoint, ...]:
        """Return the least loss by k, ascending: as far as found, at every k that was searched for, or at some."""
        unknown = partial(CurvePoint, best=None, lower_bound=None, is_proven=False)
        return tuple(self._points.get(k) or unknown(k=k) for k in sorted({*(self._points if ks is None else ks)}))

    def finer(self, node: Mapping[str, int]) -> tuple[FinerNode, ...]:
        """Return, for each column that a node generalizes, the cheapest known node that keeps it finer, by loss.

        Known are all nodes if ``is_whole``, else those that a search checked or :meth:`at` was asked for.

        Raises:
            PolicyError, EngineError: as :meth:`at`.
        """
        [of_node] = self._examined([given_levels(self._table.bound, node)])

        def counted(nodes: Sequence[Levels]) -> list[Summary]:
            return [each.summary for each in self._examined(nodes)]

        known = {each.levels: each for each in [*self._satisfying.nodes]}
        known |= {each.summary.levels: each.summary for each in [*self._known.values()]}
        satisfying = [each for each in known.values() if self._problem.satisfies(each)]
        loss = self.policy.quality.loss_of(of_node.summary, self._table.context)
        return cheapest_finer(self._problem, of_node.summary.levels, loss, satisfying, counted)

    def nodes(self) -> tuple[MeasuredNode, ...]:
        """Return the examined nodes by loss, to plot: of many, the best at each k and a sample of the others."""
        known = [each.measured for each in [*self._known.values()]]
        found = sorted(known, key=lambda each: (each.loss, [*each.node.values()]))
        if len(found) <= MAX_SHOWN:
            return tuple(found)
        most = itertools.accumulate((each.best_k or 0 for each in found), max, initial=0)
        step = -(-len(found) // MAX_SHOWN)
        chosen = enumerate(zip(found, most, strict=False))
        return tuple(each for place, (each, before) in chosen if place % step == 0 or (each.best_k or 0) > before)

    def chart(self, node: MeasuredNode) -> Points:
        """Draw the examined nodes by the k that they attain and their loss, with the least loss as a line.

        Losses that are no shares are drawn as shares of the largest one.

        Args:
            node: the node to mark.
        """
        best = [point.best for point in self.curve() if point.best is not None]
        known = [each for each in (*self.nodes(), *best) if each.best_k]
        most = 1.0 if self.measures_shares else max(each.loss for each in (*known, node)) or 1.0
        points = ((each.best_k or 1, each.loss / most, (each.best_k or 0) >= self.k) for each in known)
        return Points(
            "the loss of nodes by the k that they attain; the line is the least loss",
            "k, attained within the limit (logarithmic)",
            tuple(joined_points(points, STEPS_OF_CHART)),
            tuple((each.k, each.loss / most) for each in best),
            (node.best_k or 1, node.loss / most, "this node"),
        )

    def in_words(self, loss: float) -> str:
        """Return a loss as a percentage if it is a share, and else as a number."""
        return percent(loss) if self.measures_shares else figure(loss)

    @property
    def measures_shares(self) -> bool:
        """Whether the loss is a share."""
        return isinstance(self.policy.quality, LM | NCP | Prec)

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to search for at the k that were asked for."""
        is_known = not self.is_whole or self.checked_nodes == self.node_count
        return is_known and bool(self._points) and all(point.is_proven for point in self._points.values())

    @property
    def checked_nodes(self) -> int:
        """The number of nodes that were counted."""
        return len(self._checked | self._known.keys())

    @property
    def lower_bound(self) -> float | None:
        """A proven lower bound of the loss of every node that satisfies the policy; None if unknown."""
        point = self._points.get(self.k)
        return None if point is None else point.lower_bound

    def close(self) -> None:
        """Drop the cells, and let the session take other calls; a running search of another thread is waited for."""
        with self._search_lock, self._lock.held(self, always=True):
            if self._end.alive:
                self._lock.reserve(None)
                self._end()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _search(self, k: int, stages: Stages, stopped: Stopped) -> None:
        is_own = k == self.k
        table = self._table if is_own else self._table.under(self.policy.with_k(k))
        engine, note = self._engine, self._satisfying.add if is_own else lambda _: None

        def observed(checked: int, size: int, inquiry: Inquiry) -> None:
            self._lock.lend(self._turn)
            self._checked.update(inquiry.nodes)
            stages.checked(checked, size, inquiry)

        stages.k = k
        with stages.stage("search"), engine.transaction(), engine.scratch():
            problem, counter = problem_and_counter(engine, table)

            def noted(inquiry: Inquiry) -> Answers:
                answers = counter.answer(inquiry)
                for each in filter(problem.satisfies, answers):
                    note(each)
                return answers

            outcome = answered(counter, problem, SEARCHES["optimal"](problem), observed, stopped, note)
            stages.concluded(outcome)
            best = None
            if outcome.best is not None:
                [found] = examine_nodes(engine, table, [outcome.best.levels])
                best = _measured(table, k, found)
                if is_own:
                    self._learn([found])
            self._learn_point(k, best, outcome)
            if is_own and best is not None and not stopped():
                finer_nodes(problem, outcome, self._satisfying.nodes, noted)
        stages.k = None
        if is_own and outcome.unsatisfiable:
            with stages.stage("explain"):
                self.explanation = unsatisfiable(engine, table, outcome, stages.counted).explanation

    def _learn_point(self, k: int, best: MeasuredNode | None, outcome: SearchOutcome) -> None:
        """Keep the better of what this search and an earlier one found, if neither proved it."""
        bounds = [outcome.lower_bound]
        is_proven = outcome.proven_optimal or outcome.unsatisfiable
        if (before := self._points.get(k)) is not None and not is_proven:
            bounds.append(before.lower_bound)
            best = min(filter(None, (before.best, best)), key=lambda node: node.loss, default=None)
        lower_bound = max((bound for bound in bounds if bound is not None), default=None)
        self._points[k] = CurvePoint(k=k, best=best, lower_bound=lower_bound, is_proven=is_proven)

    def _examine_all(self, stages: Stages, stopped: Stopped) -> None:
        nodes = (levels for levels in self._table.context.lattice.nodes() if levels not in self._known)
        for batch in examined_at_once(self._table, nodes):
            self._learn(examine_nodes(self._engine, self._table, batch))
            self._lock.lend(self._turn)
            stages.counted(len(self._known), self.node_count)
            if stopped():
                break

    def _examined(self, nodes: Sequence[Levels]) -> list[_Known]:
        if unknown := [levels for levels in nodes if levels not in self._known]:
            with self._call(), self._engine.unwatched():
                self._learn(examine_nodes(self._engine, self._table, unknown))
        return [self._known[levels] for levels in nodes]

    def _learn(self, found: Sequence[Examination]) -> None:
        for each in found:
            node = _measured(self._table, self.k, each)
            self._known[each.summary.levels] = _Known(node, each.summary)
            point = self._points.get(self.k)
            if point is not None and not point.is_proven and node.satisfies:
                best = point.best if point.best is not None and point.best.loss <= node.loss else node
                self._points[self.k] = point.model_copy(update={"best": best})

    @contextmanager
    def _call(self) -> Iterator[None]:
        with ExitStack() as call:
            with self._turn:
                call.enter_context(self._lock.held(self))
            if not self._end.alive:
                raise EngineError("the exploration is closed; open another one", step="exploration")
            yield


class _Known(NamedTuple):
    measured: MeasuredNode
    summary: Summary


def _measured(table: EncodedTable, k: int, node: Examination) -> MeasuredNode:
    row = node_row(table, node)
    known = {name: row[name] for name in MeasuredNode.model_fields if name in row}
    named, allowed = table.context.lattice.named(node.summary.levels), table.context.allowed_rows
    return MeasuredNode(**{**known, "node": named, "k": k, "allowed_rows": allowed})
