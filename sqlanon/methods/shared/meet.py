"""What a release shows together with another one of the same rows, counted from the cells of its run."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.methods.shared.publishing import PublishedNode
from sqlanon.model.lattice import Levels
from sqlanon.model.release.joint import JointClasses
from sqlanon.queries.classes.recoding import AtNode
from sqlanon.queries.kit.nodes import Relation, select
from sqlanon.queries.release import earlier as queries
from sqlanon.queries.release.earlier import ReleasedClasses


@dataclass(frozen=True)
class ReleaseAtNode:
    """Another release, at a node of the lattice of a run.

    Attributes:
        name: what it is called.
        levels: the node.
        labels: the combinations of its labels, see :func:`sqlanon.queries.release.earlier.released_labels`.
        k: what its policy asks for.
        source_rows: the rows of its source.
    """

    name: str
    levels: Levels
    labels: Relation
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
    at_nodes = [AtNode(table.encoding, levels) for levels in (other.levels, node.summary.levels)]
    classes = [
        ReleasedClasses(at_nodes[0], select([exp.Star()], other.labels.table), 0),
        ReleasedClasses.of(at_nodes[1], written.relation, 1),
    ]
    names = [each.name for each in classes]
    with engine.scratch():
        for step in (*(each.step for each in classes), persons := queries.persons_of_cells(classes)):
            engine.run(step)
        engine.run(queries.shown_groups(persons.makes, names[:1], 1, is_by_person=False))
        differing = engine.fetch(queries.mismatches(classes[0]), "a release beside its source")[0]["classes"]
        if differing:
            return f"its source was another one: {differing:,} of its classes have another number of rows now"
        engine.run(queries.joint_classes(persons.makes, names))
        k = min(other.k, table.bound.policy.criteria.k)
        sizes = engine.fetch(queries.joint_sizes(), "joint classes", "node")[0]
        at_risk = engine.fetch(queries.persons_at_risk(k), "persons at risk", "node")[0]
    return JointClasses(releases=(other.name, written.description), required_k=k, **sizes, **at_risk)
