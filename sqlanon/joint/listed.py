"""Joint classes of a release and another one of the same rows, counted from cells."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy
from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.joint.persons import differing_classes, joint_classes
from sqlanon.model.lattice import Levels
from sqlanon.model.release.joint import JointClasses
from sqlanon.nodes.table import encode_taxonomies, find_unknown_rows, make_cells
from sqlanon.queries import joint_persons as queries
from sqlanon.queries.encoded_rows import cell_counts
from sqlanon.queries.encoding import encoding_for
from sqlanon.queries.kit.nodes import Relation, select
from sqlanon.queries.recodings import AtNode
from sqlanon.queries.released_classes import NodeClasses
from sqlanon.queries.source_rows import UNKNOWN
from sqlanon.release.publishing import PublishedNode

LABELS, CELLS = Relation("anon_labels_of_both", "node"), Relation("anon_cells_of_both", "cell")
"""Those of all columns, beside those of the run."""

OTHER_SOURCE = "its source was another one"


@dataclass(frozen=True)
class ReleaseAtNode:
    """Another release, at a node of the lattice of a run, or of one with more columns."""

    name: str
    levels: Levels
    labels: Relation  # combinations of its labels (:func:`sqlanon.queries.released_classes.released_labels`)
    k: int  # that its policy asks for
    source_rows: int | None


@dataclass(frozen=True)
class WrittenRelease:
    """The release of a run."""

    written: ResolvedSource
    classes: NodeClasses  # of the release, with the cells of its source
    k: int  # that its policy asks for

    @property
    def levels(self) -> Levels:
        """Its node."""
        return self.classes.recoding.levels


def written_release(engine: Compute, node: PublishedNode, written: ResolvedSource) -> WrittenRelease:
    """A release that was written, with the cells of its run, after the table of its classes was made."""
    classes = NodeClasses.of(AtNode(node.table.encoding, node.summary.levels), written.relation, 1)
    engine.run(classes.step)
    return WrittenRelease(written, classes, node.table.bound.policy.criteria.k)


def with_more_columns(engine: Compute, release: WrittenRelease, bound: BoundPolicy) -> WrittenRelease | str:
    """Return a release with cells by more columns, or the reason why its source is another one.

    The policy has these columns after those of the release.
    """
    spec = bound.cells
    engine.drop(UNKNOWN)
    find_unknown_rows(engine, spec)
    encoding = encoding_for(spec, bound.policy.criteria, label_losses=())
    encoding = replace(encoding, labels=LABELS, cells=CELLS)
    encoding = encode_taxonomies(engine, encoding)
    make_cells(engine, encoding)
    unmapped = engine.fetch(cell_counts(encoding), "cells")[0]["unmapped"]
    if unmapped:
        return f"{OTHER_SOURCE}: {unmapped:,} rows have values now that its taxonomies lack"
    levels = (*release.levels, *bound.heights[len(release.levels) :])
    classes = NodeClasses.of(AtNode(encoding, levels), release.written.relation, 2)
    engine.run(classes.step)
    return replace(release, classes=classes)


def joint_classes_with(engine: Compute, release: WrittenRelease, other: ReleaseAtNode) -> JointClasses | str:
    """The joint classes of another release and the one that was written, or why the rows of their sources differ.

    Either release shows all rows of a class of the meet of their nodes, or none: both leave out whole classes alone.
    """
    recoding = AtNode(release.classes.recoding.encoding, other.levels)
    theirs = NodeClasses(select([exp.Star()], other.labels.table), 0, recoding)
    names = [theirs.name, release.classes.name]
    with engine.scratch():
        for step in (theirs.step, persons := queries.persons_of_cells([theirs, release.classes])):
            engine.run(step)
        engine.run(queries.shown_groups(persons.makes, [theirs.name], 1, is_by_person=False))
        if differing := differing_classes(engine, theirs):
            return f"{OTHER_SOURCE}: {differing:,} of its classes have another number of rows now"
        called = (other.name, release.written.description)
        return joint_classes(engine, persons.makes, names, called, required_k=min(other.k, release.k))
