"""Audits of privacy: what loss a mechanism can be shown to have on two neighbouring tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sqlanon.errors import PolicyError
from sqlanon.evaluation.audit_events import Event, Samples, best_event, lower_losses, uses_evidence, weighed
from sqlanon.evaluation.audit_outputs import Features, Views, countable, views_of
from sqlanon.evaluation.audit_report import Audit
from sqlanon.evaluation.exact import Distribution, hockey_stick, smallest_epsilon
from sqlanon.evaluation.mechanisms import Enumerable, Repeatable, Repeated, RestrictsInputs, mechanism_of, outcomes_of
from sqlanon.model.budget import Budget, Exact
from sqlanon.model.policy.policy import GivenPolicy, Policy, policy_of

if TYPE_CHECKING:
    from sqlanon.api.session import Session

MIN_RUNS = 4
"""A quarter of the runs each is needed to weigh values and to choose an event, and half to bound it."""

BOUNDED_PROBABILITIES = 4
"""Each of the two directions bounds two; the chance of an error is shared out evenly among them."""

DIRECTIONS = ("table over neighbour", "neighbour over table")


@dataclass(frozen=True)
class _Finding:
    """An event and what it proves."""

    direction: str
    event: Event
    counts: tuple[int, int]
    lower_bound: float


# More than six parameters: all but the first three are options with defaults.
def audit_privacy(
    method: Callable[[Any], Any] | Repeatable | Enumerable | GivenPolicy,
    table: Any,
    neighbour: Any,
    runs: int = 100_000,
    confidence: float = 0.95,
    *,
    claimed: Budget | None = None,
    delta: Exact | None = None,
    features: Features | None = None,
    show_event: bool = False,
    session: Session | None = None,
) -> Audit:
    """Run a mechanism many times on two neighbouring tables and bound from below what ε it has.

    The event, a set of outputs, that distinguishes the tables best is chosen on one half of the runs, in either
    direction, and its probabilities are bounded on the other half by Clopper and Pearson; the chance of an error is
    shared out among all four bounds. So a mechanism that keeps its claim is called a violation with probability at most
    1 - ``confidence``. That no violation is found proves nothing: it only says how far a search went.

    No runs are made of a mechanism that lists its outputs: ε is then computed.

    Args:
        method: a function of a table that returns an output, which can be hashed or is a collection or array of what
            can; a :class:`Repeatable`; an :class:`Enumerable`; or a policy with a privacy budget, as
            :class:`sqlanon.Session` takes it, and its ``session``.
        table, neighbour: what the mechanism takes; it is for you to see to it that they are neighbours.
        runs: on each table, at least 4; 100,000 show a loss of ε = 1 to some hundredths.
        confidence: above 0 and below 1.
        claimed: what the mechanism is held to; else its own attribute ``claimed``, if it has one.
        delta: δ at which ε is bounded, exact; else that of the claim, or 0.
        features: turns an output into views by name, from which events are made; a name is a text, or a pair of a text
            and an item that reports keep to themselves. Else those of
            :func:`~sqlanon.evaluation.audit_outputs.default_features`.
        show_event: whether the event may be described with values from outputs, which can be cell values.
        session: where a policy runs; for a policy only.

    Raises:
        PolicyError: an argument makes no sense, or an output cannot be counted.
        EngineError: scipy is not installed and runs are to be judged.
    """
    # Without a session a text is not a mechanism; with one it is the path of a policy.
    if isinstance(method, Policy | Mapping | Path) or (isinstance(method, str) and session is not None):
        method = policy_of(method)
    _check(method, runs, confidence, session)
    mechanism = mechanism_of(method, session)
    claim = claimed if claimed is not None else getattr(mechanism, "claimed", None)
    at = _delta_of(claim, delta)
    if isinstance(mechanism, Enumerable):
        return _computed(mechanism.distribution(table), mechanism.distribution(neighbour), claim, at)

    if isinstance(mechanism, RestrictsInputs):
        mechanism.refuse_strangers(table, neighbour)
    sampled = _sampled(mechanism, table, neighbour, runs)
    views = views_of if features is None else _checked_features(features, mechanism)
    found = _best_finding(*sampled, views, delta=float(at), error=(1 - confidence) / BOUNDED_PROBABILITIES)
    bound = 0.0 if found is None else found.lower_bound
    return Audit(
        lower_bound=bound,
        delta=at,
        confidence=confidence,
        runs=runs,
        direction=None if found is None else found.direction,
        event=None if found is None else found.event.described(with_values=show_event),
        bounded_runs=sampled[-1].runs,
        event_runs=None if found is None else found.counts,
        claimed=claim,
        violates=_violates(bound, claim),
        exact=False,
        notes=(
            "A lower bound for these two tables: a larger loss may exist that was not found.",
            *_too_few(sampled[-1].runs, claim, float(at), (1 - confidence) / BOUNDED_PROBABILITIES),
            *getattr(mechanism, "notes", ()),
        ),
    )


def _too_few(runs: int, claim: Budget | None, delta: float, error: float) -> Iterator[str]:
    """A warning if not even an event that always happens on one table, and never on the other, would be a violation."""
    most = float(lower_losses(np.array([runs]), np.array([0]), runs, delta=delta, error=error)[0])
    if claim is not None and most <= claim.epsilon:
        yield f"So few runs cannot show more than ε = {most:.3g}: no mechanism would have failed this audit."


def _delta_of(claim: Budget | None, delta: Exact | None) -> Fraction:
    """δ at which a loss is bounded: that of the claim, if there is one."""
    given = None if delta is None else Budget(0, delta).delta
    if claim is None:
        return given or Fraction(0)
    if given is not None and given != claim.delta:
        raise PolicyError("the audit cannot be made:", ["delta differs from that of the claim; leave it out"])
    return claim.delta


def _sampled(mechanism: Repeatable, table: Any, neighbour: Any, runs: int) -> tuple[Samples, Samples, Samples]:
    """A quarter of the runs to weigh values, a quarter to choose an event, and half to bound it."""
    weighing, choosing, bounding = (
        Samples(outcomes_of(mechanism, table, size), outcomes_of(mechanism, neighbour, size), size)
        for size in (runs // 4, runs // 4, runs - 2 * (runs // 4))
    )
    return weighing, choosing, bounding


def _best_finding(
    weighing: Samples, choosing: Samples, bounding: Samples, features: Features, *, delta: float, error: float
) -> _Finding | None:
    """The better of what is found in either direction; None if neither shows a loss."""
    views, tally = weighed(weighing, features)
    chosen = choosing.tally(views)
    events = {
        is_reversed: event
        for is_reversed in (False, True)
        if (event := best_event(tally, chosen, choosing.runs, is_reversed=is_reversed, delta=delta, error=error))
    }
    counted = bounding.count([*events.values()], views if uses_evidence(events.values()) else features)
    findings = []
    for (is_reversed, event), counts in zip(events.items(), counted, strict=True):
        more, less = counts[::-1] if is_reversed else counts
        bound = lower_losses(np.array([more]), np.array([less]), bounding.runs, delta=delta, error=error)[0]
        findings.append(_Finding(DIRECTIONS[is_reversed], event, (int(more), int(less)), float(bound)))
    return max(
        (found for found in findings if found.lower_bound > 0), key=lambda found: found.lower_bound, default=None
    )


def _computed(first: Distribution, second: Distribution, claim: Budget | None, at: Fraction) -> Audit:
    """The audit of a mechanism by what it does exactly."""
    ways = [(first, second), (second, first)]
    bounds = [smallest_epsilon(*way, float(at)).lower for way in ways]
    divergences = [] if claim is None else [hockey_stick(*way, float(claim.epsilon)).lower for way in ways]
    bound = max(bounds)
    return Audit(
        lower_bound=bound,
        delta=at,
        confidence=None,
        runs=None,
        direction=DIRECTIONS[bounds.index(bound)] if bound > 0 else None,
        event=None,
        claimed=claim,
        violates=_violates(bound, claim),
        exact=True,
        divergence=max(divergences, default=None),
        notes=("Computed for these two tables: it says nothing of others.",),
    )


def _violates(bound: float, claim: Budget | None) -> bool | None:
    return None if claim is None else bound > claim.epsilon


def _checked_features(features: Features, mechanism: Repeatable) -> Features:
    """The views of the caller on what the mechanism returned, as values that can be counted."""

    def views(output: Any) -> Views:
        found = features(mechanism.original(output) if isinstance(mechanism, Repeated) else output)
        if not isinstance(found, Mapping):
            raise PolicyError("the audit cannot be made:", ["features must return a mapping of names to values"])
        return {name: countable(value) for name, value in found.items()}

    return views


def _check(
    method: object,
    runs: object,
    confidence: object,
    session: Session | None,
) -> None:
    """Refuse what makes no sense, all at once."""
    problems = []
    if not isinstance(method, Policy | Repeatable | Enumerable) and not callable(method):
        problems.append("method must be a function of a table, or have outcomes(table, runs) or distribution(table)")
    if isinstance(method, Policy) and session is None:
        problems.append("a policy needs a session to run in: give session=")
    if session is not None and not isinstance(method, Policy):
        problems.append("session is for a policy; leave it out")
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < MIN_RUNS:
        problems.append(f"runs must be a whole number of at least {MIN_RUNS}")
    if not (isinstance(confidence, float) and math.isfinite(confidence) and 0 < confidence < 1):
        problems.append("confidence must be above 0 and below 1")
    if problems:
        raise PolicyError("the audit cannot be made:", problems)
