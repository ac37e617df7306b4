"""Runs write down what they publish before it is there, so that none is missing from the list if a run is killed.

A table of the warehouse is noted in the transaction that makes it, but for the first release, which makes the list. Any
other target is noted right before it is published. A run that fails there takes its row back, and one that is killed
there leaves a row of a release that is not there, which the list shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.model.bounds import CLASS_SIZE
from sqlanon.model.datasets import dataset_of_files
from sqlanon.model.destination import Destination
from sqlanon.model.labels import NodeRecord
from sqlanon.model.record import ContentRecord, Record, readable_record
from sqlanon.model.release.measurement import Reported, with_notes
from sqlanon.publish.notes import note_at
from sqlanon.publish.targets import TableTarget, Target
from sqlanon.releases import table
from sqlanon.releases.names import datasets_of, target_name
from sqlanon.releases.table import Row

NOT_LISTED = (
    "the release is not on the list of the warehouse (anon.releases), which is open read-only: a table of it is, and "
    "whatever a session publishes that may write to it"
)


@dataclass(frozen=True)
class FitOfRelease:
    """The fit whose partition is published.

    Attributes:
        sidecar: its file, by which the list calls all that was published with it.
        sha256: the hash of its document.
    """

    sidecar: Path
    sha256: str


@dataclass
class Noting:
    """What a run writes down of its release.

    Attributes:
        engine: the database.
        datasets: what the release is made from.
        into: where it is published.
        fit: None unless it is a partition of a fit.
        record: its record, once it is there.
        row: what was noted.
    """

    engine: Engine
    datasets: Sequence[str]
    into: Destination
    fit: FitOfRelease | None
    record: Record | None = None
    row: Row | None = None

    @property
    def unlisted(self) -> Row | None:
        """The row of a release that a warehouse would list, had it not been open read-only; None if it is listed.

        A database in which sqlanon has written nothing stays as it is.
        """
        engine = self.engine
        if not engine.warehouse.is_read_only:
            return None
        return self.row if any(engine.have(table.table_of(engine), engine.warehouse.anon("taxonomy"))) else None

    def reported(self, report: Reported) -> Reported:
        """A report that says where the release is not listed; its record, which recipients read, does not."""
        return with_notes(report, (NOT_LISTED,) if self.engine.warehouse.is_read_only else ())

    def of(self, target: Target) -> Target:
        """A target that is noted when it gets its record."""
        return NotedTarget(target, self)

    def note(self, target: Target, record: Record, content: ContentRecord) -> None:
        """Write the row of a target that has got its record.

        Raises:
            EngineError: it cannot be written; the run ends, and publishes nothing.
        """
        self.record, self.row = record, self._row(target, record, content)
        if self.engine.warehouse.is_read_only:
            return
        if _is_in_reach(self.engine, target):
            table.add(self.engine, self.row)
            return
        with self.engine.beside() as beside:
            table.make_and_add(beside, self.row)

    def finish(self) -> None:
        """Write the hash of a record that was sealed when the target was published: that of a folder."""
        if self.row is None or self.row.record_sha256 is not None or self.fit is not None:
            return
        with suppress(EngineError):  # the release is on the list
            found = self._published()
            if found is not None and found.record_sha256 is not None:
                if not self.engine.warehouse.is_read_only:
                    table.note_record(self.engine, self.row, found.record_sha256)
                self.row = replace(self.row, record_sha256=found.record_sha256)

    def take_back(self) -> None:
        """Remove the row, unless the release was published for all that."""
        if self.row is None or self.engine.warehouse.is_read_only:
            return
        with suppress(EngineError):  # rather on the list, and not there, than the other way round
            if self._published() is None:
                table.take_back(self.engine, self.row)

    def _row(self, target: Target, record: Record, content: ContentRecord) -> Row:
        assert record.policy is not None
        assert record.policy_sha256 is not None
        fit, labels = self.fit, record.labels
        # That of a folder is known when it is published, and partitions have several.
        is_sealed = fit is None and content != ContentRecord()
        return Row(
            target=target_name(self.engine, self.into, target) if fit is None else dataset_of_files(str(fit.sidecar)),
            datasets=self.datasets,
            method=record.policy.as_json["method"]["model"],
            policy_sha256=record.policy_sha256,
            node=labels.levels if isinstance(labels, NodeRecord) and labels.levels else None,
            row_count=_row_count(record),
            min_class_size=_smallest_class(record),
            record_sha256=record.sealed(content).record_sha256 if is_sealed else None,
            fit_sha256=None if fit is None else fit.sha256,
            made_at=datetime.now(UTC).replace(tzinfo=None),
        )

    def _published(self) -> Record | None:
        """The record of the release as it is at the target; None if another one is there, or none."""
        found = readable_record(note_at(self.engine, self.into))
        assert self.record is not None
        return found if found is not None and _unsealed(found) == _unsealed(self.record) else None


@contextmanager
def noting(
    engine: Engine, source: ResolvedSource, into: Destination, fit: FitOfRelease | None = None
) -> Iterator[Noting]:
    """What the run of a block is to write down; its row goes when the block fails, and the release is not there.

    Args:
        engine: the database.
        source: what the release is made from.
        into: where it is published.
        fit: the fit whose partition it is.

    Raises:
        EngineError: the warehouse cannot list it: another table has the name of the list.
    """
    table.is_there(engine)
    # Before the transaction of the run: the origins of a query take settings of the connection.
    noted = Noting(engine, datasets_of(engine, source), into, fit)
    try:
        yield noted
    except BaseException:
        noted.take_back()
        raise
    noted.finish()


@dataclass(frozen=True)
class NotedTarget:
    """A target whose release is written down with its record."""

    target: Target
    noting: Noting

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def notes(self) -> tuple[str, ...]:
        return self.target.notes

    def takes_enums(self, name: str) -> bool:
        return self.target.takes_enums(name)

    def refuse_columns(self, query: exp.Query) -> None:
        self.target.refuse_columns(query)

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        return self.target.write(query, streamed=streamed)

    def add_record(self, record: Record) -> ContentRecord:
        content = self.target.add_record(record)
        self.noting.note(self.target, record, content)
        return content


def _is_in_reach(engine: Engine, target: Target) -> bool:
    """Whether the transaction of the run can write the row: it sees the table, and writes to no other database."""
    is_elsewhere = isinstance(target, TableTarget) and target.table.catalog not in ("temp", engine.warehouse.name)
    return not is_elsewhere and engine.have(table.table_of(engine))[0]


def _row_count(record: Record) -> int | None:
    """The rows of a release, of partitions those of all of them together."""
    if record.fit is not None:
        return record.fit.rows.released
    if record.rows is not None:
        return record.rows.released
    return None if record.report is None else record.report.released_rows


def _smallest_class(record: Record) -> int | None:
    """The rows of the smallest class: those of a release alone, and of partitions those of all of them together."""
    if record.report is not None:
        return record.report.min_class_size
    sizes = [bound.attained for bound in record.privacy if bound.measure == CLASS_SIZE.name]
    return None if not sizes or sizes[0] is None else int(sizes[0])


def _unsealed(record: Record) -> dict[str, Any]:
    """A record without the hashes of what was written, as JSON has it."""
    return record.model_dump(mode="json", exclude={"content", "folder", "record_sha256"})
