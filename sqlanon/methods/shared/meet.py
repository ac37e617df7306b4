"""What a release shows together with another one of the same rows, counted from the cells of its run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlanon.engines.base import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.shared.publishing import PublishedNode
from sqlanon.model.lattice import Levels
from sqlanon.model.release.joint import JointClasses
from sqlanon.queries.kit.nodes import Relation
from sqlanon.queries.release import earlier, meet

WRITTEN = Relation("anon_written_classes", "class")
"""The classes of the release that was written."""


@dataclass(frozen=True)
class ReleaseAtNode:
    """Another release, at a node of the lattice of a run.

    Attributes:
        name: what it is called.
        levels: the node.
        classes: its classes, see :func:`sqlanon.queries.release.meet.released_classes`.
        k: what its policy asks for.
        source_rows: the rows of its source.
    """

    name: str
    levels: Levels
    classes: Relation
    k: int
    source_rows: int | None


def joint_classes_with(
    engine: Compute, node: PublishedNode, written: ResolvedSource, other: ReleaseAtNode
) -> JointClasses | str:
    """The joint classes of another release and the one that was written, or why the rows of their sources differ.

    Either release shows all rows of a class of the meet of their nodes, or none: both leave out whole classes alone.

    Args:
        engine: the database.
        node: what was published.
        written: the release.
        other: the other release.
    """
    table = node.table
    rows = table.context.row_count + table.unknown.suppressed
    if other.source_rows not in (None, rows):
        return f"its source had {other.source_rows:,} rows, and this one has {rows:,}"
    policy, encoding = table.bound.policy, replace(table.encoding, has_label_texts=True)
    found = meet.Meet(encoding, (other.levels, node.summary.levels), (other.classes, WRITTEN))
    with engine.scratch():
        engine.run(found.shown(0))
        differing = engine.fetch(found.mismatches, "a release beside its source")[0]["classes"]
        if differing:
            return f"its source was another one: {differing:,} of its classes have another number of rows now"
        labels = dict(zip(policy.quasi_identifiers, encoding.label_columns, strict=True))
        engine.run(meet.released_classes(WRITTEN, written.relation, 1, labels))
        engine.run(found.shown(1))
        engine.run(found.joint)
        k = min(other.k, policy.criteria.k)
        sizes = engine.fetch(earlier.joint_sizes(), "joint classes", "node")[0]
        at_risk = engine.fetch(earlier.persons_at_risk(k), "persons at risk", "node")[0]
    return JointClasses(releases=(other.name, written.description), required_k=k, **sizes, **at_risk)
