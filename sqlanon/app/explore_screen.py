"""Explore: the nodes of the lattice, with a slider for each column and the least loss at each k."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from sqlanon.app.desk import Desk
from sqlanon.app.jobs import Job
from sqlanon.app.panel import least_shown, policy_of
from sqlanon.app.requests import Fields, Refused
from sqlanon.app.screen import Screen
from sqlanon.errors import EngineError, PolicyError, SqlanonError
from sqlanon.model.methods.full_domain import FullDomain
from sqlanon.model.policy.policy import Policy
from sqlanon.report.document import percent
from sqlanon.report.svg import drawn
from sqlanon.run.lattice_table import policy_of_nodes

if TYPE_CHECKING:
    from sqlanon.api.session import Session
    from sqlanon.model.release import FinerNode
    from sqlanon.run.exploration import CurvePoint, Exploration, MeasuredNode

IDLE = 120.0  # seconds after which cells that nobody asks about are dropped
PERIOD = 5.0  # seconds between two looks at that

STALE = "the policy has changed since this search: search again"
CLOSED = "the rows of this search were put away, and no other node can be measured: search again"
NO_NODES = "there are no nodes to explore: the policy is not valid, or its method has none"


@dataclass
class Explored:
    """An exploration with a session of its own; once it is closed, it still knows what was found."""

    policy: Policy  # as it is explored
    session: Session
    nodes: Exploration
    chosen: dict[str, int] | None = None  # the node of the sliders; None for the policy's, or the best one
    used: float = field(default_factory=time.monotonic)
    ended: threading.Event = field(default_factory=threading.Event)

    def close(self) -> None:
        self.ended.set()  # which stops a search
        self.session.close()

    def close_when_idle(self, desk: Desk) -> None:
        while not self.ended.wait(PERIOD):
            with desk.lock:
                if desk.is_busy:
                    self.used = time.monotonic()
                elif time.monotonic() - self.used > IDLE or self.policy != explored_policy(desk):
                    self.close()


def explored_policy(desk: Desk) -> Policy | None:
    """Return the policy whose nodes are explored; None if there is none."""
    with suppress(PolicyError):
        return None if (policy := policy_of(desk)) is None else policy_of_nodes(policy)
    return None


def values(desk: Desk, fields: Fields) -> dict[str, Any]:
    explored, policy, least = _explored(desk), explored_policy(desk), least_shown(desk)
    is_searching = desk.is_busy and desk.job is not None and desk.job.then == "explore"
    is_stale = explored is not None and explored.policy != policy
    if is_stale and is_searching:
        explored = None  # the search is another one
    method = getattr(policy and policy_of(desk), "method", None)
    named, node = getattr(method, "node", None), None
    if explored is not None:
        explored.used, node = time.monotonic(), _shown_node(explored, named)
    return {
        "explored": explored,
        "node": node,
        "curve": [] if explored is None else [*_curve(explored)],
        "method": method,
        "named": named,
        "chooses": isinstance(method, FullDomain) and not is_stale,
        "is_searching": is_searching,
        "is_stale": is_stale,
        "least": least,
        **({} if explored is None or node is None else _shown(explored, node, least)),
    }


def _shown_node(explored: Explored, named: Mapping[str, int] | None) -> MeasuredNode | None:
    """Return the node of the sliders: the one that somebody chose, the policy's, the best, or the closest one."""
    nodes, best = explored.nodes, explored.nodes.best()
    closest = nodes.explanation.node if nodes.explanation else None
    for levels in (explored.chosen, named, best.node if best else None, closest):
        with suppress(SqlanonError):  # it is outside the lattice now, or the exploration is closed
            if levels is not None:
                return nodes.at(levels)
    return None


def _shown(explored: Explored, node: MeasuredNode, least: int) -> dict[str, Any]:
    """Return the figures of a node, what a value of each column becomes, finer nodes, and the picture of all."""
    nodes = explored.nodes

    def share(rows: int) -> str:
        return f"under {least} rows" if 0 < rows < least else percent(rows / nodes.row_count)

    finer: Sequence[FinerNode] = ()
    with suppress(SqlanonError):  # it is closed, and some are not measured
        finer = nodes.finer(node.node)
    return {
        "figures": (
            ("Detail lost" if nodes.measures_shares else f"Lost ({nodes.measure})", nodes.in_words(node.loss), ""),
            ("Rows left out", share(node.suppressed_rows), f"of {percent(nodes.allowed_rows / nodes.row_count)}"),
            ("Attains k", f"{node.best_k:,}" if node.best_k else "none", f"asked {nodes.k:,}"),
            ("Classes", f"{node.class_count:,}", ""),
        ),
        "columns": [
            (column, level, column.example[level] if column.example else "")
            for column, level in zip(nodes.columns, node.node.values(), strict=True)
        ],
        "finer": [(each, nodes.in_words(each.loss), share(each.suppressed_rows)) for each in finer],
        "picture": Markup(drawn(nodes.chart(node))),  # noqa: S704 - its texts are escaped
    }


def _curve(explored: Explored) -> Iterator[tuple[CurvePoint, str]]:
    """Return the points of the curve with the least loss in words."""
    for point in explored.nodes.curve():
        words = "no node" if point.is_proven else "not found yet"
        if point.best is not None:
            words = explored.nodes.in_words(point.best.loss)
            if not point.is_proven and point.lower_bound is not None:
                words += f", or {explored.nodes.in_words(point.lower_bound)} at best"
        yield point, words


def start_explore(desk: Desk, fields: Fields) -> str:
    """Search in a job; a search that was stopped goes on."""
    policy, explored = explored_policy(desk), _explored(desk)
    if policy is None:
        raise Refused(422, NO_NODES)

    def work(job: Job) -> None:
        found = explored
        if found is None or found.policy != policy or found.ended.is_set() or found.nodes.is_finished:
            found = _opened(desk, policy, job)
        found.nodes.search(progress=job.progress, stop=lambda: job.is_enough() or found.ended.is_set())

    desk.start("The search", "explore", work)
    return "explore"


def _opened(desk: Desk, policy: Policy, job: Job) -> Explored:
    with desk.lock:
        _end(desk)
    session = desk.open()
    try:
        nodes = session.exploration(desk.place.source, policy, progress=job.progress)
    except BaseException:
        session.close()
        raise
    found = Explored(policy, session, nodes)
    with desk.lock:
        desk.memory["explored"] = found
        desk.at_end(lambda: _end(desk))
    threading.Thread(target=found.close_when_idle, args=(desk,), daemon=True).start()
    return found


def _explored(desk: Desk) -> Explored | None:
    found: Explored | None = desk.memory.get("explored")
    return found


def _end(desk: Desk) -> None:
    if (explored := _explored(desk)) is not None:
        explored.close()


def _asked(desk: Desk, fields: Fields) -> tuple[Explored, MeasuredNode]:
    """Return the exploration, and the node of a form, measured."""
    explored = _explored(desk)
    if explored is None or explored.policy != explored_policy(desk):
        raise Refused(409, STALE)
    columns = explored.nodes.columns
    levels = fields.one("levels", "").split(",") if fields.has("levels") else []
    given = Fields({f"level{place}": [level] for place, level in enumerate(levels)}) if levels else fields
    node = {each.name: given.whole(f"level{place}") for place, each in enumerate(columns)}
    try:
        return explored, explored.nodes.at(node)
    except EngineError:
        if explored.ended.is_set():
            raise Refused(409, CLOSED) from None
        raise


def node(desk: Desk, fields: Fields) -> str:
    """Show a node."""
    explored, measured = _asked(desk, fields)
    explored.chosen = measured.node
    return "explore"


def put_node(desk: Desk, fields: Fields) -> str:
    """Let the policy name the node of the sliders."""
    explored, measured = _asked(desk, fields)
    if not measured.satisfies:
        raise Refused(422, "this node does not keep the promise: choose another one, or promise less")
    explored.chosen = measured.node
    words = ", ".join(f"{name} {level}" for name, level in measured.node.items())
    edit, version = f"the node {words}", fields.whole("version")
    desk.versions.add(edit, lambda file: file.with_node(measured.node), version, stays_valid=True)
    return "explore"


def free_node(desk: Desk, fields: Fields) -> str:
    """Take the node out of the policy."""
    edit, version = "no node: a run searches for the best one", fields.whole("version")
    desk.versions.add(edit, lambda file: file.with_node(None), version, stays_valid=True)
    return "explore"


def relax(desk: Desk, fields: Fields) -> str:
    """Change the policy as the search has proposed, and search again."""
    explored, place = _explored(desk), fields.whole("relaxation")
    why = None if explored is None else explored.nodes.explanation
    if explored is None or explored.policy != explored_policy(desk) or why is None:
        raise Refused(409, STALE)
    if desk.is_busy:
        raise Refused(409, "wait for what is running, or cancel it, before you change the policy")
    if not 0 <= place < len(why.relaxations):
        raise Refused(400, "the page has no such change")
    change = why.relaxations[place]
    edit, version = change.kind.replace("_", " "), fields.whole("version")
    desk.versions.add(edit, lambda file: file.relaxed(change), version, stays_valid=True)
    return start_explore(desk, fields)


ACTIONS = {"start_explore": start_explore, "node": node, "put_node": put_node, "free_node": free_node, "relax": relax}
SCREEN = Screen("explore", "Explore", values, ACTIONS)
