"""How many rows of a partition are published, and why it is refused if they are too few."""

from __future__ import annotations

from sqlanon.engines.base import Compute
from sqlanon.errors import UnsatisfiableError, VerificationError
from sqlanon.methods.shared.unknown import UnknownRows, unknown_notes
from sqlanon.model.release import RowCounts
from sqlanon.partitions import kept
from sqlanon.partitions.increment import NEW_CELLS, UNION_CELLS, Increment
from sqlanon.partitions.partition import Partition
from sqlanon.queries.release.rows import KEPT_CLASSES


def decided(engine: Compute, partition: Partition, increment: Increment, unknown: UnknownRows) -> RowCounts:
    """How many rows of the partition are published.

    Raises:
        UnsatisfiableError: too few.
        VerificationError: the partition is not what it was when its rows were counted first.
    """
    policy = partition.fit.policy
    found = engine.fetch(kept.kept_rows(increment, KEPT_CLASSES), "rows of kept classes")[0]
    known, released = int(found["new_rows"]), int(found["kept_rows"])
    source = known + unknown.suppressed
    if source != partition.rows:
        raise VerificationError(f"{partition.bound.description} has changed during the run; nothing was published")
    rows = RowCounts(source=source, released=released, masked=0, dropped=known - released, unknown=unknown.suppressed)
    union = partition.union(rows)
    allowed = policy.allowed_rows(union.source)
    left_out = union.source - union.released
    if left_out > allowed or released == 0:
        before = left_out - (source - released)
        suppressed = (
            f"with {before:,} of {union.source - source:,} rows suppressed before, that is "
            f"{left_out:,} of {union.source:,}, where {allowed:,} may be "
            f"(suppression_limit {100 * policy.suppression_limit:g} %)"
        )
        problems = [
            f"{rows.dropped:,} of its {source:,} rows are in classes that fall short",
            *unknown_notes(policy, unknown),
            suppressed if left_out > allowed else "nothing would be left to publish",
            *_blocking(engine, partition, increment),
            "what can help: a partition of more rows, a fit of a more general node, or a larger suppression_limit",
        ]
        raise UnsatisfiableError(f"{partition.bound.description} cannot be published with this fit:", problems)
    _refuse_what_falls_short(engine, partition, increment)
    return rows


def _blocking(engine: Compute, partition: Partition, increment: Increment) -> list[str]:
    """The rows that each privacy model stands in the way of."""
    places = {"together with what was published": UNION_CELLS}
    if partition.fit.every_partition:
        places["on its own"] = NEW_CELLS
    lines = []
    for place, cells in places.items():
        blocked = engine.fetch(kept.blocked_rows(increment, cells), "blocked rows")[0]
        lines += [
            f"{model}: {blocked[f'blocked_{index}']:,} of its rows are in classes that violate it {place}"
            for index, model in enumerate(partition.fit.policy.privacy)
            if blocked[f"blocked_{index}"]
        ]
    return lines


def _refuse_what_falls_short(engine: Compute, partition: Partition, increment: Increment) -> None:
    """Rows that are replaced may be needed by classes that other partitions have rows in."""
    short = engine.fetch(kept.left_short(increment), "classes left short")[0]
    if short["classes"]:
        raise UnsatisfiableError(
            f'"{partition.place.name}" cannot be replaced by {partition.bound.description}:',
            [
                f"{short['rows']:,} rows of other partitions, in {short['classes']:,} classes, would fall short "
                "without the rows that are there now; leave them there, and publish the others under a new name"
            ],
        )
