"""Runs register a release before they publish it, so that a killed run leaves no release off the list.

A table of the warehouse is registered in the transaction that makes it, except for the first release, which creates the
list. Any other target is registered right before publication, and a private release before its data set is charged.
Until the release is published, its row has no hash of a record. A failed run takes its row back; a killed one leaves
an unconfirmed row, which the list shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.locks import OVERTAKEN, retry_while_locked
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.model.destination import Destination
from sqlanon.model.names import dataset_of_files
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import ContentRecord, LinkedRecord, Record, readable_record
from sqlanon.model.release.measurement import Reported, with_notes
from sqlanon.publish.targets import TableTarget, Target, table_of, target_at
from sqlanon.releases import release_table as table
from sqlanon.releases.listing import known_rows
from sqlanon.releases.release_table import Row, datasets_of, row_of, target_name

NOT_LISTED = (
    "the release is not on the list of the warehouse (anon.releases): the warehouse is open read-only, and has no "
    "tables of sqlanon, or you may not write it"
)


@dataclass(frozen=True)
class FitOfRelease:
    sidecar: Path  # the name on the list of all partitions of the fit
    sha256: str  # of its document


@dataclass
class Noting:
    """The entry of a run in the list of releases."""

    engine: Engine
    datasets: Sequence[str]  # the sources of the release
    into: Destination
    fit: FitOfRelease | None  # set for a partition of a fit
    is_listed: bool = True  # False for a preview, which is not registered
    record: Record | None = None
    sha256: str | None = None  # of the record as published, once known
    row: Row | None = None  # the registered row

    def reported(self, report: Reported) -> Reported:
        """Add a note to a report if the release is not listed; its record, which recipients read, has none."""
        return with_notes(report, notes_of(self.engine)) if self.is_listed else report

    def announce(self, target: str, policy: Policy) -> None:
        """Register a release before its data set is charged; on failure, nothing is spent."""
        self.row = Row(
            target=target,
            datasets=self.datasets,
            method=policy.model_dump(mode="json")["method"]["model"],
            policy_sha256=policy.sha256(),
            node=None,
            row_count=None,
            min_class_size=None,
            record_sha256=None,
            fit_sha256=None,
            made_at=_now(),
            perturbed=policy.perturbed_columns,
        )
        _add(self.engine, self.row)

    def note(self, target: Target, record: Record, content: ContentRecord | LinkedRecord) -> None:
        if not self.is_listed:
            return
        announced, self.record = self.row, record
        if content != ContentRecord():  # a folder's content is known only once it is published
            self.sha256 = record.sealed(content).record_sha256
        name = _name(self.engine, self.into, table_of(target), self.fit)
        fit_sha256 = None if self.fit is None else self.fit.sha256
        self.row = row_of(name, self.datasets, record, fit_sha256, _now() if announced is None else announced.made_at)
        # A transaction writes to one database, and needs to see the table.
        warehouse = self.engine.warehouse
        is_elsewhere = isinstance(target, TableTarget) and target.table.catalog not in ("temp", warehouse.name)
        if warehouse.is_read_only or is_elsewhere or self.engine.find(table.table_of(self.engine)) is None:
            _add(self.engine, self.row)
            return
        if announced is not None:
            table.take_back(self.engine, announced)
        if isinstance(target, TableTarget):  # committed together with its row
            self.row = replace(self.row, record_sha256=self.sha256)
        table.add(self.engine, self.row)

    def finish(self) -> None:
        if self.row is None or self.row.record_sha256 is not None:
            return
        with suppress(EngineError):  # the release is on the list
            found = self._published() if self.sha256 is None else None
            _confirm(self.engine, self.row, self.sha256 if found is None else found.record_sha256)

    def take_back(self) -> None:
        """Remove the row of a failed run, or confirm it if the release was published all the same."""
        if self.row is None:
            return
        with suppress(EngineError):  # a listed release that is missing is better than an unlisted one
            found = self._published()
            if found is not None:
                _confirm(self.engine, self.row, found.record_sha256)
            elif self.engine.warehouse.is_read_only:
                table.remove_waiting(self.engine, self.row)
            else:
                table.take_back(self.engine, self.row)

    def _published(self) -> Record | None:
        """Return the record of this release at the target; None if it holds another release or none."""
        if self.record is None:
            return None
        found = readable_record(target_at(self.engine, self.into).held_note())
        return found if found is not None and _unsealed(found) == _unsealed(self.record) else None


@contextmanager
def noting(
    engine: Engine,
    sources: Sequence[ResolvedSource],
    into: Destination,
    fit: FitOfRelease | None = None,
    *,
    is_listed: bool = True,
) -> Iterator[Noting]:
    """Register the release of a run; if the block fails and published nothing, its row goes."""
    table.columns(engine)  # refuses others of that name
    if not engine.warehouse.is_read_only:
        table.take_up(engine)
    # Before the run's transaction: finding the origins of a query changes settings of the connection.
    datasets = dict.fromkeys(name for source in sources for name in datasets_of(engine, source))
    noted = Noting(engine, tuple(datasets), into, fit, is_listed)
    try:
        yield noted
    except BaseException:
        noted.take_back()
        raise
    noted.finish()


def note_unchanged(
    engine: Engine, source: ResolvedSource, into: Destination, fit: FitOfRelease | None = None
) -> tuple[str, ...]:
    """List an unchanged release if it is missing or unconfirmed, and return notes for its report."""
    found = readable_record(target_at(engine, into).held_note())
    if found is not None and found.record_sha256 is not None:
        stored = engine.find(into.name) if into.kind == "table" else None
        name = _name(engine, into, None if stored is None else stored.table, fit)
        own = [row for row in known_rows(engine) if row.target == name]
        if all(row.record_sha256 != found.record_sha256 for row in own):
            row = row_of(name, datasets_of(engine, source), found, None if fit is None else fit.sha256, _now())
            noted = [each for each in own if _as_announced(each) == _as_announced(row)]
            if not noted:
                _add(engine, row)
            _confirm(engine, noted[-1] if noted else row, found.record_sha256)
    return notes_of(engine)


def notes_of(engine: Engine) -> tuple[str, ...]:
    """Return the note that the release is not listed, if it cannot be."""
    return (NOT_LISTED,) if engine.warehouse.is_read_only and not table.can_wait(engine) else ()


def _as_announced(row: Row) -> tuple[object, ...]:
    return (tuple(row.datasets), row.method, row.policy_sha256, row.record_sha256, row.fit_sha256)


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def _add(engine: Engine, row: Row) -> None:
    """Write a row at once, outside the run's transaction; a read-only warehouse gets it beside its file."""
    if not engine.warehouse.is_read_only:
        with engine.beside() as beside:
            table.make(beside)
            table.add(beside, row)
    elif table.can_wait(engine):
        table.write_waiting(engine, row)


def _confirm(engine: Engine, row: Row, record_sha256: str | None) -> None:
    if record_sha256 is None:
        return
    if not engine.warehouse.is_read_only:
        retry_while_locked(lambda: table.note_record(engine, row, record_sha256), OVERTAKEN)
    elif table.can_wait(engine):
        table.write_waiting(engine, replace(row, record_sha256=record_sha256))


def _name(engine: Engine, into: Destination, table: exp.Table | None, fit: FitOfRelease | None) -> str:
    return target_name(engine, into, table) if fit is None else dataset_of_files(str(fit.sidecar))


def _unsealed(record: Record) -> dict[str, Any]:
    sealed = {"content": True, "folder": True, "record_sha256": True}
    return record.model_dump(mode="json", exclude={**sealed, "linked": LinkedRecord.SEALED})
