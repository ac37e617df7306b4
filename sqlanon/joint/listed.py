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

# Labels and cells of the columns of both releases, beside those of the run.
LABELS, CELLS = Relation("anon_labels_of_both", "node"), Relation("anon_cells_of_both", "cell")

OTHER_SOURCE = "its source was another one"


@dataclass(frozen=True)
class ReleaseAtNode:
    """Another release, at a node of the run's lattice or of one with more columns."""

    name: str
    levels: Levels
    labels: Relation  # combinations of labels (:func:`sqlanon.queries.released_classes.released_labels`)
    k: int  # of its policy
    source_rows: int | None


@dataclass(frozen=True)
class WrittenRelease:
    """The release of a run."""

    written: ResolvedSource
    classes: NodeClasses  # with the cells of the source
    k: int  # of its policy

    @property
    def levels(self) -> Levels:
        return self.classes.recoding.levels


def written_release(engine: Compute, node: PublishedNode, written: ResolvedSource) -> WrittenRelease:
    """Make the table of the classes of a written release."""
    classes = NodeClasses.of(AtNode(node.table.encoding, node.summary.levels), written.relation, 1)
    engine.run(classes.step)
    return WrittenRelease(written, classes, node.table.bound.policy.criteria.k)


def with_more_columns(engine: Compute, release: WrittenRelease, bound: BoundPolicy) -> WrittenRelease | str:
    """Return a release with cells by more columns, the policy's last ones, or why its source differs."""
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
    """Return the joint classes of another release and the written one, or why the rows of their sources differ.

    Each release shows either all rows of a class of the meet of their nodes or none, since it suppresses whole classes.
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
