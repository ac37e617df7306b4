"""Audits of privacy: the loss that a mechanism demonstrably has on two neighbouring tables, in words and as a chart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ConfigDict

from sqlanon.audits.audit_events import EVIDENCE, Event, Samples, best_event, lower_losses, weighed
from sqlanon.audits.audit_outputs import Features, Views, countable, views_of
from sqlanon.audits.exact_audit import Distribution, hockey_stick, smallest_epsilon
from sqlanon.audits.mechanisms import AuditedPolicy, Enumerable, Repeatable, Repeated, outcomes_of, repeatable
from sqlanon.errors import EngineError, PolicyError
from sqlanon.evaluation.results import BLACK, required_altair, save
from sqlanon.model.budget import Budget, Exact, ExactNumber, spelled
from sqlanon.model.policy.policy import GivenPolicy, Policy, policy_of
from sqlanon.model.release import Result
from sqlanon.report.document import Part, count, facts, notes, paragraph
from sqlanon.satellites import extra_module

if TYPE_CHECKING:
    from sqlanon.api.session import Session

# By whether a bound violates a claim; None without a claim.
COLOURS = {True: "#d62728", False: "#4c78a8", None: "#7f7f7f"}
VERDICTS = {True: "found, above the claim", False: "found, not above the claim", None: "found, without a claim"}


class Audit(Result):
    """The privacy loss that a mechanism demonstrably has on two neighbours.

    Attributes:
        lower_bound: ε is at least this at ``delta``, with ``confidence``; 0 if nothing was found, which proves nothing.
            If ``exact``, it is ε itself for these neighbours (inf if there is none), or less if tails were cut off.
        delta: the δ of the bound.
        confidence: the probability that the bound holds; None if exact.
        runs: runs of the mechanism on each of the two tables; None if exact.
        direction: the table on which the event is likelier, such as ``table over neighbour``; None if nothing was
            found.
        event: the set of outputs that distinguished the tables, in words; None if exact, or nothing was found.
        bounded_runs: the runs on each table that the bound is from; others chose the event.
        event_runs: the runs of these in which the event happened, on the likelier table first.
        claimed: the claim.
        violates: whether the bound exceeds the claim; None without a claim.
        exact: whether distributions of outputs were compared, not runs.
        divergence: the larger hockey-stick divergence of both directions at the claimed ε, if exact.
        notes: limits of the result.
    """

    model_config = ConfigDict(ser_json_inf_nan="strings")

    lower_bound: float
    delta: ExactNumber
    confidence: float | None
    runs: int | None
    direction: str | None
    event: str | None
    bounded_runs: int | None = None
    event_runs: tuple[int, int] | None = None
    claimed: Budget | None
    violates: bool | None
    exact: bool
    divergence: float | None = None
    notes: tuple[str, ...]

    def chart(self, path: str | Path, *, replace: bool = False) -> None:
        """Draw the claim and the bound as .html, .svg, .png or .json (Vega-Lite).

        Raises:
            EngineError: altair is not installed, or the file exists or cannot be written.
            PolicyError: the file has another suffix.
        """
        save(lambda: chart({"audit": self}), Path(path), replace=replace)

    @property
    def heading(self) -> str:
        return "Audit of privacy"

    def parts(self) -> Iterator[Part]:
        yield facts(self._facts(), "Privacy loss on the two tables")
        if self.event is not None:
            yield paragraph(f"Event: {self.event}.")
        yield from notes("Notes", self.notes)

    def _facts(self) -> Iterator[tuple[str, str]]:
        yield "ε that was found" if self.exact else "ε is at least", f"{self.lower_bound:.4g}"
        yield "ε and δ that are claimed", "–" if self.claimed is None else str(self.claimed)
        yield "at δ", spelled(self.delta)
        if self.runs is not None and self.confidence is not None:
            yield "with confidence", f"{self.confidence:g}"
            yield "runs on each table", count(self.runs)
        if self.direction is not None and self.event_runs is not None:
            more, less = (count(runs) for runs in self.event_runs)
            yield "the event happened", f"{more} against {less} times in {count(self.bounded_runs)} runs"
            yield "and is likelier on", self.direction.partition(" over ")[0]

    def _repr_html_(self) -> str:
        table = super()._repr_html_()
        try:
            converter = extra_module("vl_convert", extra="report", purpose="A chart")
            return f"{table}{converter.vegalite_to_svg(chart({'audit': self}).to_dict())}"
        except EngineError:
            return table  # numbers only, without the extra


def chart(audits: Mapping[str, Audit]) -> Any:
    """Draw audits by name: a bar from 0 to each lower bound, and a mark at each claim."""
    altair = required_altair()
    marks = [audit.lower_bound for audit in audits.values() if math.isfinite(audit.lower_bound)]
    marks += [float(audit.claimed.epsilon) for audit in audits.values() if audit.claimed is not None]
    end = 1.25 * (max(marks, default=0.0) or 1.0)  # with room for words behind the longest bar
    rows = [_row(name, audit, end) for name, audit in audits.items()]
    shown = [verdict for verdict in VERDICTS if any(audit.violates is verdict for audit in audits.values())]
    names = altair.Y("name:N", title=None, sort=None)
    colours = altair.Scale(
        domain=[VERDICTS[verdict] for verdict in shown], range=[COLOURS[verdict] for verdict in shown]
    )
    base = altair.Chart(altair.InlineData(rows))
    found = base.mark_bar(height=16).encode(
        y=names,
        x=altair.X("found:Q", title="ε", scale=altair.Scale(domain=[0, end])),
        color=altair.Color("verdict:N", title=None, legend=altair.Legend(orient="bottom"), scale=colours),
    )
    words = base.mark_text(align="left", dx=6, color=BLACK).encode(y=names, x=altair.X("end:Q"), text="words:N")
    claims = (
        base.transform_filter("isValid(datum.claimed)")
        .mark_tick(color=BLACK, thickness=3, size=26)
        .encode(y=names, x=altair.X("claimed:Q"))
    )
    subtitle = ["bars: ε that was found; black marks: ε that was claimed"]
    subtitle += dict.fromkeys(_source(audit) for audit in audits.values())
    title = altair.TitleParams("Privacy loss: claimed against found", subtitle=subtitle, anchor="start")
    return (found + words + claims).properties(title=title, width=480, height=altair.Step(36))


def _row(name: str, audit: Audit, end: float) -> dict[str, Any]:
    bound = audit.lower_bound
    found = end if math.isinf(bound) else bound
    claimed = None if audit.claimed is None else float(audit.claimed.epsilon)
    figure = "∞" if math.isinf(bound) else f"{bound:.3g}"
    return {
        "name": name,
        "found": found,
        "claimed": claimed,
        "end": max(found, claimed or 0.0),
        "words": f"ε = {figure}" if audit.exact else f"ε ≥ {figure}",
        "verdict": VERDICTS[audit.violates],
    }


def _source(audit: Audit) -> str:
    at = f"at δ = {spelled(audit.delta)}"
    if audit.exact:
        return f"{at}, computed"
    return f"{at}, from {audit.runs:,} runs on each table, with confidence {audit.confidence:g}"


MIN_RUNS = 4  # a quarter each of the runs weighs values and chooses an event, and half of them bounds it
BOUNDED_PROBABILITIES = 4  # two per direction, which share the probability of an error evenly

DIRECTIONS = ("table over neighbour", "neighbour over table")


@dataclass(frozen=True)
class _Finding:
    """An event and the loss that it proves; empty if no event shows a loss."""

    lower_bound: float = 0.0
    direction: str | None = None
    event: Event | None = None
    counts: tuple[int, int] | None = None


# More than six parameters: most are options with defaults.
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
    """Run a mechanism many times on two neighbouring tables, and bound its ε from below.

    One half of the runs chooses the event, a set of outputs, that distinguishes the tables best in either direction;
    the other half bounds its probabilities by Clopper and Pearson, and all four bounds share the probability of an
    error. So a mechanism that keeps its claim is called a violation with probability at most 1 - ``confidence``. That
    no violation is found proves nothing: a better search might find one.

    For a mechanism that lists its outputs, ε is computed without runs.

    Args:
        method: a function of a table that returns an output, which is hashable, or a collection or array of hashable
            values; a :class:`Repeatable`; an :class:`Enumerable`; or a policy with a privacy budget, as
            :class:`sqlanon.Session` takes it, and its ``session``.
        table, neighbour: inputs of the mechanism; you have to make sure that they are neighbours.
        runs: on each table, at least 4; 100,000 show a loss of ε = 1 to a few hundredths.
        confidence: above 0 and below 1.
        claimed: the claim; by default the mechanism's attribute ``claimed``, if it has one.
        delta: the exact δ at which ε is bounded; by default the claim's, or 0.
        features: turns an output into views by name, from which events are made; a name is a text, or a pair of a text
            and an item that reports omit. By default :func:`~sqlanon.audits.audit_outputs.default_features`.
        show_event: whether the event may be described with values from outputs, which can be cell values.
        session: the session of a policy.

    Raises:
        PolicyError: an argument is invalid, or an output cannot be counted.
        EngineError: scipy is not installed, and runs have to be judged.
    """
    # With a session, a text is the path of a policy.
    if isinstance(method, Policy | Mapping | Path) or (isinstance(method, str) and session is not None):
        method = policy_of(method)
    _check(method, runs, confidence, session)
    mechanism = repeatable(session, method) if isinstance(method, Policy) else method
    if not isinstance(mechanism, Repeatable | Enumerable):
        assert callable(mechanism)
        mechanism = Repeated(mechanism)
    claim = claimed if claimed is not None else getattr(mechanism, "claimed", None)
    at = _delta_of(claim, delta)
    if isinstance(mechanism, Enumerable):
        return _computed(mechanism.distribution(table), mechanism.distribution(neighbour), claim, at)

    if isinstance(mechanism, AuditedPolicy):
        mechanism.refuse_strangers(table, neighbour)
    weighing, choosing, bounding = (
        Samples(outcomes_of(mechanism, table, size), outcomes_of(mechanism, neighbour, size), size)
        for size in (runs // 4, runs // 4, runs - 2 * (runs // 4))
    )
    views = views_of if features is None else _checked_features(features, mechanism)
    error = (1 - confidence) / BOUNDED_PROBABILITIES
    found = _best_finding(weighing, choosing, bounding, views, delta=float(at), error=error)
    # Would an event that always happens on one table, and never on the other, show a violation?
    [most] = lower_losses(np.array([bounding.runs]), np.array([0]), bounding.runs, delta=float(at), error=error)
    is_hopeless = claim is not None and float(most) <= claim.epsilon
    too_few = [f"So few runs cannot show more than ε = {most:.3g}: no mechanism would have failed this audit."]
    return Audit(
        lower_bound=found.lower_bound,
        delta=at,
        confidence=confidence,
        runs=runs,
        direction=found.direction,
        event=None if found.event is None else found.event.described(with_values=show_event),
        bounded_runs=bounding.runs,
        event_runs=found.counts,
        claimed=claim,
        violates=_violates(found.lower_bound, claim),
        exact=False,
        notes=(
            "A lower bound for these two tables: a larger loss may exist that was not found.",
            *(too_few if is_hopeless else ()),
            *getattr(mechanism, "notes", ()),
        ),
    )


def _delta_of(claim: Budget | None, delta: Exact | None) -> Fraction:
    given = None if delta is None else Budget(0, delta).delta
    if claim is None:
        return given or Fraction(0)
    if given is not None and given != claim.delta:
        raise PolicyError("the audit cannot be made:", ["delta differs from that of the claim; leave it out"])
    return claim.delta


def _best_finding(
    weighing: Samples, choosing: Samples, bounding: Samples, features: Features, *, delta: float, error: float
) -> _Finding:
    views, tally = weighed(weighing, features)
    chosen = choosing.tally(views)
    events = {
        is_reversed: event
        for is_reversed in (False, True)
        if (event := best_event(tally, chosen, choosing.runs, is_reversed=is_reversed, delta=delta, error=error))
    }
    uses_evidence = any(event.name == EVIDENCE for event in events.values())
    counted = bounding.count([*events.values()], views if uses_evidence else features)
    findings = []
    for (is_reversed, event), counts in zip(events.items(), counted, strict=True):
        more, less = counts[::-1] if is_reversed else counts
        bound = lower_losses(np.array([more]), np.array([less]), bounding.runs, delta=delta, error=error)[0]
        findings.append(_Finding(float(bound), DIRECTIONS[is_reversed], event, (int(more), int(less))))
    best = max(findings, key=lambda found: found.lower_bound, default=_Finding())
    return best if best.lower_bound > 0 else _Finding()


def _computed(first: Distribution, second: Distribution, claim: Budget | None, at: Fraction) -> Audit:
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
    """Return the caller's views of the mechanism's original output, as countable values."""

    def views(output: Any) -> Views:
        found = features(mechanism.original(output) if isinstance(mechanism, Repeated) else output)
        if not isinstance(found, Mapping):
            raise PolicyError("the audit cannot be made:", ["features must return a mapping of names to values"])
        return {name: countable(value) for name, value in found.items()}

    return views


def _check(method: object, runs: object, confidence: object, session: Session | None) -> None:
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
