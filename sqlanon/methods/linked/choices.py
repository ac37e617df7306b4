"""The choice of what linked tables release: a node of least loss under the policy's model of knowledge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlanon.engines.duckdb import Compute
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.methods.linked.keyed_rows import ShownRows
from sqlanon.methods.linked.known_pairs import KnownPairsCounter
from sqlanon.methods.linked.known_row import KnownRowCounter
from sqlanon.methods.linked.mixed_levels import MixedLevels
from sqlanon.methods.linked.node_counts import (
    LinkedChoice,
    LinkedCounter,
    NodeCounts,
    choose_linked_node,
    is_within_limits,
    loss_of,
)
from sqlanon.methods.linked.rungs import rows_on_rungs
from sqlanon.methods.linked.trees import TreeCounter
from sqlanon.methods.stages import Stages, Stopped

Choice = tuple[LinkedChoice, Callable[[], Mapping[str, ShownRows]]]
"""What to release, and a function that makes its rows."""


def counter_of(engine: Compute, encoded: EncodedLinked) -> LinkedCounter:
    """Return the counter of the policy's model of knowledge."""
    known = encoded.policy.known_rows
    if known is None:
        return TreeCounter(engine, encoded)
    return KnownRowCounter(engine, encoded) if known.m == 1 else KnownPairsCounter(engine, encoded)


def choose(engine: Compute, encoded: EncodedLinked, stages: Stages, stopped: Stopped) -> Choice:
    """Choose what to release, in the stage ``search``.

    Raises:
        UnsatisfiableError: no node meets the privacy models within the limits of all tables.
    """
    refuse_left_out(encoded)
    if encoded.policy.method == "local-recoding":
        return choose_mixed(engine, encoded, stages, stopped)
    with stages.stage("search"), engine.scratch():
        counter = counter_of(engine, encoded)
        outcome = choose_linked_node(encoded, counter, stages.checked, stopped)
        stages.concluded(outcome)
        if outcome.best is None:
            closest = [] if outcome.closest is None else [outcome.closest.levels]
            found = (
                "no node meets" if outcome.unsatisfiable else "the search was stopped before it found a node that meets"
            )
            raise beyond_limits(encoded, counter.counts(closest, with_losses=False), found)
        levels = outcome.best.levels
        [counts] = counter.counts([levels], with_losses=True)
    return LinkedChoice(counts, loss_of(encoded, counts), outcome), lambda: counter_of(engine, encoded).show(levels)


def refuse_left_out(encoded: EncodedLinked) -> None:
    """Refuse tables whose limits are exceeded by rows of nobody, and by rows above the cap."""
    problems = [
        f'"{name}": {table.counts.orphans:,} of {table.counts.rows:,} rows belong to nobody, and {table.counts.cut:,} '
        f"are above the cap; {encoded.allowed(name) + table.counts.orphans + table.counts.cut:,} may be left out"
        for name, table in encoded.bound.tables.items()
        if encoded.allowed(name) < 0
    ]
    if problems:
        heading = "more rows are left out than the limits of tables (suppression_limit) allow:"
        raise UnsatisfiableError(heading, problems)


def choose_mixed(engine: Compute, encoded: EncodedLinked, stages: Stages, stopped: Stopped) -> Choice:
    """Choose labels of mixed levels, as :func:`choose` does."""
    known = encoded.policy.known_rows
    if known is None or known.m != 1:
        raise PolicyError('method "local-recoding" of several tables protects from one known row: known-rows, m = 1')
    with stages.stage("search"), engine.scratch():
        choice = MixedLevels(engine, encoded).choose(stages.checked, stopped)
        stages.concluded(choice.outcome)
    if not is_within_limits(encoded, choice.counts):
        raise beyond_limits(encoded, [choice.counts], "no levels that were looked at meet")
    return choice, lambda: rows_on_rungs(engine, encoded, {**encoded.chains(choice.counts.levels), **choice.rungs})


def beyond_limits(encoded: EncodedLinked, closest: Sequence[NodeCounts], found: str) -> UnsatisfiableError:
    """Return the error of a choice beyond the limits, with what the closest one leaves out of each table."""
    problems = []
    for name, table in (each for counts in closest for each in counts.tables.items()):
        rows, allowed = encoded.rows(name), max(encoded.allowed(name), 0)
        what = "persons" if name == encoded.policy.root else "rows"
        problems.append(f'"{name}": {table.left_out:,} of {rows:,} {what} would be left out; {allowed:,} may be')
    known = encoded.policy.known_rows
    weaker = "the model known-rows, which protects from fewer known rows, " if known is None else ""
    if known is not None and known.m > 1:
        weaker = "m = 1, "
    remedy = "fewer quasi-identifiers, more levels, a smaller k, or larger limits (suppression_limit)"
    problems.append(f"what can help: {weaker}{remedy}")
    models = ", ".join(map(str, encoded.policy.privacy))
    return UnsatisfiableError(f"{found} {models} within the limits of all tables; the closest one:", problems)
