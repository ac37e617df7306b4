"""A partition before it is published: whether it fits, what it joins or replaces, and the classes of its cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.binding import stored_taxonomies
from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.carried_taxonomies import reading_taxonomies
from sqlanon.binding.prepare import prepare
from sqlanon.engines.duckdb import Compute, Engine
from sqlanon.engines.paths import folder_columns
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError, PolicyError, TaxonomyError
from sqlanon.methods.local.class_labels import CLASS_LABELS, PerClass, listed_classes
from sqlanon.methods.local.local_table import CLASS
from sqlanon.methods.stages import Stages
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.fitted import Fit
from sqlanon.model.labels import LabelsRecord, NodeRecord
from sqlanon.model.names import folded
from sqlanon.model.release import RowCounts
from sqlanon.partitions.fit import refuse_other_types
from sqlanon.partitions.increment import SQL, Increment, Lookup, kept_cells, node_labels
from sqlanon.partitions.sidecar import LISTED, REFERENCE, TAXONOMY, Entry, Place, Sidecar, place_of, release_at
from sqlanon.queries.encoding import Encoding
from sqlanon.queries.recodings import AtNode


@contextmanager
def taxonomies_of_fit(engine: Engine, sidecar: Sidecar) -> Iterator[None]:
    """Use the fit's own taxonomies within the block.

    Refuses differing ones in the session: it would be ambiguous which ones are meant.
    """
    wanted = [name for name in sidecar.fit.taxonomy_sha256 if name not in sidecar.fit.policy.taxonomies]
    stored = stored_taxonomies.shapes(engine, wanted)
    _refuse_other_taxonomies(sidecar.fit, {name: shape.sha256 for name, shape in stored.items()})
    with reading_taxonomies(engine, TAXONOMY):
        yield


def refuse_changed_taxonomies(fit: Fit, bound: BoundPolicy) -> None:
    _refuse_other_taxonomies(fit, {name: bound.taxonomy_hashes.get(name, "") for name in fit.taxonomy_sha256})


def _refuse_other_taxonomies(fit: Fit, found: Mapping[str, str]) -> None:
    changed = [f'"{name}"' for name, known in fit.taxonomy_sha256.items() if found.get(name, known) != known]
    if changed:
        raise TaxonomyError("taxonomies have changed since the fit; load those that it was made with:", changed)


@dataclass(frozen=True)
class Partition:
    sidecar: Sidecar  # has the fit, and the counts of published partitions
    bound: BoundPolicy  # of the fit, bound to the partition
    place: Place  # its target
    rows: int
    fingerprint: str  # of the rows
    others: tuple[Entry, ...]  # that stay published beside it
    replaced: Entry | None  # the entry that it replaces

    @property
    def engine(self) -> Engine:
        return self.sidecar.engine

    @property
    def fit(self) -> Fit:
        return self.sidecar.fit

    def has_rows_of(self, entry: Entry) -> bool:
        return (self.rows, self.fingerprint) == (entry.rows, entry.fingerprint)

    def union(self, own: RowCounts) -> RowCounts:
        parts = [own, *(entry.row_counts for entry in self.others)]
        return RowCounts(
            source=sum(part.source for part in parts),
            released=sum(part.released for part in parts),
            masked=0,
            dropped=sum(part.dropped for part in parts),
            unknown=sum(part.unknown for part in parts),
        )


def partition_of(
    engine: Engine, source: ResolvedSource, sidecar: Sidecar, into: Destination, stages: Stages
) -> Partition:
    """Bind a fit's policy to a partition, find its place, and what it joins or replaces there."""
    place = place_of(engine, into)
    names = [known.name for known in engine.describe(source.relation)]
    bound = prepare(engine, source, sidecar.fit.policy.without_missing_identifiers(names))
    refuse_changed_taxonomies(sidecar.fit, bound)
    refuse_other_types(sidecar.fit, bound)
    with stages.stage("fingerprint"):
        # Ignore identifiers from folder names: the same file has others in another folder.
        given = folder_columns(source.files[0]) if source.files else set()
        dropped = given.difference(map(folded, bound.policy.released_columns))
        columns = [known.name for known in bound.columns if folded(known.name) not in dropped]
        query = SQL.query("fingerprint", rows=bound.whole, columns=columns)
        found = engine.fetch(query, "a fingerprint of the rows")[0]
    entries = sidecar.entries
    replaced = next((entry for entry in entries if entry.place.key == place.key), None)
    others = tuple(entry for entry in entries if entry is not replaced)
    partition = Partition(sidecar, bound, place, int(found["rows"]), found["fingerprint"], others, replaced)
    for entry in filter(partition.has_rows_of, partition.others):
        raise PolicyError(
            f'the rows of {partition.bound.description} were published with this fit already, as "{entry.place.name}": '
            "published twice, they would count twice"
        ).with_guide("partition-after-partition")
    return partition


def is_published(partition: Partition, entry: Entry, replace: Replace) -> bool:
    """Return whether the published rows at the place are there and the same; refuse others unless ``replace``."""
    name = partition.place.name
    if replace:
        has_same = replace == "changed" and partition.has_rows_of(entry)
        return has_same and release_at(partition.engine, entry.place) == entry.release
    if release_at(partition.engine, entry.place) != entry.release:
        raise EngineError(
            f'the partition "{name}" of this fit is missing, but its rows count: restore it, or publish it again with '
            "replace=True",
            step="target",
        )
    if not partition.has_rows_of(entry):
        raise EngineError(
            f'"{name}" is published with this fit, from other rows; give another name, or replace=True', step="target"
        )
    return True


def increment_of(engine: Compute, encoding: Encoding, fit: Fit, published: exp.Expr) -> Increment:
    """Recode the cells of a partition, at the node or in the listed classes of least loss.

    The fit's sidecar is attached; ``published`` are the counts of published partitions.
    """
    if fit.class_count is None:
        node = AtNode(encoding, tuple(fit.node[name] for name in fit.policy.quasi_identifiers))
        lookups = []
        for lookup, step in node_labels(node):
            engine.run(step)
            lookups.append(lookup)
        return Increment(node, lookups, published, REFERENCE)
    classes = PerClass(encoding)
    classes.find_classes(engine, fit.policy, LISTED)
    lookup = Lookup(CLASS_LABELS, CLASS, dict(enumerate(encoding.label_columns)))
    return Increment(classes, [lookup], published, REFERENCE)


def labels_of(engine: Compute, fit: Fit, increment: Increment) -> LabelsRecord:
    """Record the labels of a partition: the node, or the classes with published rows.

    All partitions of a fit record the same labels, so that their counts by class can be added.
    """
    if fit.class_count is None:
        return NodeRecord(levels=fit.node)
    return listed_classes(engine, fit.policy.quasi_identifiers, LISTED, kept_cells(increment))


def uncovered_notes(rows: int) -> Iterator[str]:
    if rows:
        yield f"{rows:,} of its rows are in none of the classes of the fit, which suppresses them"
