"""A partition that is to be published: whether it fits, what it joins, and what it takes the place of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from sqlanon.binding import taxonomies
from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.carried_taxonomies import reading_taxonomies
from sqlanon.binding.prepare import prepare
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.paths import folder_columns
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError, PolicyError, TaxonomyError
from sqlanon.methods.stages import Stages
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.fit import Fit
from sqlanon.model.names import folded
from sqlanon.model.release import RowCounts
from sqlanon.partitions.fit import refuse_other_types
from sqlanon.partitions.increment import SQL
from sqlanon.partitions.places import Place, place_of, release_at
from sqlanon.partitions.sidecar import TAXONOMY, Entry, Sidecar


@contextmanager
def taxonomies_of_fit(engine: Engine, sidecar: Sidecar) -> Iterator[None]:
    """The taxonomies that the fit has kept hold within the block.

    Raises:
        TaxonomyError: the session has another one than the fit was made with: nobody knows which one is meant.
    """
    wanted = [name for name in sidecar.fit.taxonomy_sha256 if name not in sidecar.fit.policy.taxonomies]
    found = {name: shape.sha256 for name, shape in taxonomies.shapes(engine, wanted).items()}
    refuse_other_taxonomies(sidecar.fit, found)
    with reading_taxonomies(engine, TAXONOMY):
        yield


def refuse_other_taxonomies(fit: Fit, found: Mapping[str, str]) -> None:
    """Refuse taxonomies of other hashes than a fit was made with.

    Raises:
        TaxonomyError: names all of them.
    """
    changed = [f'"{name}"' for name, known in fit.taxonomy_sha256.items() if found.get(name, known) != known]
    if changed:
        raise TaxonomyError("taxonomies have changed since the fit; load those that it was made with:", changed)


@dataclass(frozen=True)
class Partition:
    """A partition that is to be published, and what it joins.

    Attributes:
        sidecar: the fit and the counts of what was published with it.
        bound: the policy of the fit, bound to the partition.
        place: where it goes.
        rows, fingerprint: the number of its rows, and a fingerprint of them.
        others: what stays published beside it.
        replaced: the entry that it takes the place of.
    """

    sidecar: Sidecar
    bound: BoundPolicy
    place: Place
    rows: int
    fingerprint: str
    others: tuple[Entry, ...]
    replaced: Entry | None

    @property
    def fit(self) -> Fit:
        """The fit."""
        return self.sidecar.fit

    def has_rows_of(self, entry: Entry) -> bool:
        """Whether an entry is of the same rows."""
        return (self.rows, self.fingerprint) == (entry.rows, entry.fingerprint)

    def union(self, own: RowCounts) -> RowCounts:
        """What became of the rows of all partitions, this one included."""
        parts = [own, *map(rows_of, self.others)]
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
    """The partition with what it joins, if it fits."""
    place = place_of(engine, into)
    names = [known.name for known in engine.describe(source.relation)]
    bound = prepare(engine, source, sidecar.fit.policy.without_missing_identifiers(names))
    refuse_changed_taxonomies(sidecar.fit, bound)
    refuse_other_types(sidecar.fit, bound)
    with stages.stage("fingerprint"):
        query = SQL.query("fingerprint", rows=bound.whole, columns=_own_columns(source, bound))
        found = engine.fetch(query, "a fingerprint of the rows")[0]
    entries = sidecar.entries
    replaced = next((entry for entry in entries if entry.place.same_as(place)), None)
    others = tuple(entry for entry in entries if entry is not replaced)
    return Partition(sidecar, bound, place, int(found["rows"]), found["fingerprint"], others, replaced)


def _own_columns(source: ResolvedSource, bound: BoundPolicy) -> list[str]:
    """All but identifiers that the names of folders give: the same file has none of them in another folder."""
    given = folder_columns(source.files[0]) if source.files else set()
    dropped = given.difference(map(folded, bound.policy.released_columns))
    return [known.name for known in bound.columns if folded(known.name) not in dropped]


def refuse_rows_published_elsewhere(partition: Partition) -> None:
    """Refuse rows that count already.

    Raises:
        PolicyError: another partition of the fit has the same rows.
    """
    for entry in filter(partition.has_rows_of, partition.others):
        raise PolicyError(
            f'the rows of {partition.bound.description} were published with this fit already, as "{entry.place.name}": '
            "published twice, they would count twice"
        ).with_guide("partition-after-partition")


def refuse_changed_taxonomies(fit: Fit, bound: BoundPolicy) -> None:
    """Refuse taxonomies that are not those of the fit.

    Raises:
        TaxonomyError: some are others.
    """
    refuse_other_taxonomies(fit, {name: bound.taxonomy_hashes.get(name, "") for name in fit.taxonomy_sha256})


def is_published(engine: Engine, partition: Partition, replace: Replace) -> bool:
    """Whether the partition is what is there, and is to be left."""
    entry = partition.replaced
    if entry is None or replace not in (False, "changed"):
        return False
    return partition.has_rows_of(entry) and release_at(engine, entry.place) == entry.release


def refuse_other_rows(engine: Engine, partition: Partition) -> None:
    """Refuse to go on where a partition was published, unless it is the same one."""
    entry, name = partition.replaced, partition.place.name
    assert entry is not None
    if release_at(engine, entry.place) != entry.release:
        raise EngineError(
            f'a partition was published as "{name}" with this fit and is not there any more, but its rows count: '
            "bring it back, or publish it anew with replace=True",
            step="target",
        )
    if not partition.has_rows_of(entry):
        raise EngineError(
            f'"{name}" is published with this fit, from other rows; give another name, or replace=True', step="target"
        )


def rows_of(entry: Entry) -> RowCounts:
    """What became of the rows of a partition that was published."""
    dropped = entry.rows - entry.released - entry.unknown
    return RowCounts(source=entry.rows, released=entry.released, masked=0, dropped=dropped, unknown=entry.unknown)
