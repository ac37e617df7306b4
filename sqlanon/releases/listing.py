"""The list of releases, with the state of each target, which others may have removed or replaced.

Releases of the same files beside a target are found by their records even if no list has them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from sqlanon.engines.csv_notes import Found, is_csv, read_note
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import Stored
from sqlanon.errors import EngineError, PolicyError, SqlanonError
from sqlanon.model.destination import destination
from sqlanon.model.names import folded
from sqlanon.model.policy_value import did_you_mean
from sqlanon.model.record import PolicyRecord, Record, readable_record
from sqlanon.model.release.joint import ListedRelease, ReleaseList, State
from sqlanon.publish.targets import target_at
from sqlanon.releases import release_table as table
from sqlanon.releases.release_table import (
    Row,
    comparable,
    comparables,
    have_common,
    in_folders,
    place,
    row_of,
    table_called,
)

SUFFIXES = (".csv", ".parquet")
MAX_FILES = 100  # maximum number of files of a folder whose records are read, latest first


def listed(engine: Engine, datasets: Sequence[str] | None = None, *, forgotten: bool = False) -> ReleaseList:
    """Return the releases of a warehouse, or only those of ``datasets``.

    Args:
        datasets: names as :func:`~.release_table.datasets_of` returns them; None stands for all.
        forgotten: whether to include forgotten releases.
    """
    rows = _latest_of_fits(known_rows(engine))
    wanted = [
        row
        for row in rows
        if (forgotten or row.forgotten_at is None) and (datasets is None or have_common(datasets, row.datasets))
    ]
    return _looked_up(engine, rows, wanted)


def latest(
    engine: Engine, datasets: Sequence[str], most: int, is_other: Callable[[Row], bool]
) -> tuple[list[ListedRelease], int]:
    """Return up to ``most`` releases of data sets that may still be at their targets, and the number of older targets.

    Rows that are not ``is_other`` are skipped. Targets are read latest first, until enough releases are found.
    """
    by_target = _by_target(_latest_of_fits(known_rows(engine)))
    wanted = {
        id(row)
        for rows in by_target.values()
        for row in rows
        if row.forgotten_at is None and have_common(datasets, row.datasets) and is_other(row)
    }
    left = [rows for rows in by_target.values() if not wanted.isdisjoint(map(id, rows))]
    left.sort(key=lambda rows: rows[-1].made_at)
    stored = _stored_at(engine, left)
    found: list[ListedRelease] = []
    while left and len(found) < most:
        rows = left.pop()
        for row, state in zip(rows, _states(engine, rows, stored), strict=True):
            # Even if the last partition of a fit is unconfirmed, earlier ones may be published.
            is_out = state in ("there", "unseen") or (state == "unconfirmed" and row.fit_sha256 is not None)
            if id(row) in wanted and is_out:
                found.append(shown(row, state))
    return found[::-1], len(left)


def forget(engine: Engine, name: str, reason: str) -> ReleaseList:
    """Mark all releases of a target as forgotten and return them.

    Refuse a blank reason, a release that is not listed or already forgotten, and a read-only warehouse.
    """
    if not isinstance(reason, str) or not reason.strip():
        raise _refused("give a reason why the release is to be forgotten: an auditor reads it on the list")
    rows = known_rows(engine)
    by_name = {called: [row for row in rows if comparable(row.target) == called] for called in comparables(name)}
    own = next(filter(None, by_name.values()), [])
    targets = list(dict.fromkeys(row.target for row in own if row.forgotten_at is None))
    if not own:
        known = dict.fromkeys(row.target for row in rows if row.forgotten_at is None)
        raise _refused(f'no release "{name}" is on the list{did_you_mean(name, known)}')
    if not targets:
        raise _refused(f'the release "{name}" is forgotten already')
    if engine.warehouse.is_read_only:
        raise EngineError("the warehouse is open read-only: open it writable to forget a release", step="releases")
    table.take_up(engine)
    at = datetime.now(UTC).replace(tzinfo=None)
    table.forget(engine, targets, at, reason.strip())
    found = _latest_of_fits(known_rows(engine))
    return _looked_up(engine, found, [row for row in found if row.forgotten_at == at])


def known_rows(engine: Engine) -> list[Row]:
    """Return all rows of the list, oldest first, with those that wait beside the warehouse."""
    known = {(row.target, row.made_at): row for row in table.rows(engine)}
    for row in table.waiting_rows(engine):
        before = known.get((row.target, row.made_at))
        if before is None or before.record_sha256 is None:
            known[row.target, row.made_at] = row
    return sorted(known.values(), key=lambda row: row.made_at)


def policy_at(engine: Engine, row: Row) -> PolicyRecord | None:
    """Return the policy in the record at the target of a row; None if another policy or none is there."""
    with suppress(SqlanonError, OSError):
        found = readable_record(_note_at(engine, row.target, _stored_at(engine, [[row]])))
        if found is not None and found.policy_sha256 == row.policy_sha256:
            return found.policy
    return None


def _refused(reason: str) -> PolicyError:
    return PolicyError(reason).with_guide("releases-of-a-warehouse")


def _latest_of_fits(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, one for all partitions of a fit: the last, which counts the rows of all."""
    latest = {row.fit_sha256: row for row in rows if row.fit_sha256 is not None}
    read: dict[str, list[str]] = {fit: [] for fit in latest}
    for row in rows:
        read.get(row.fit_sha256 or "", []).extend(row.datasets)
    return [
        row if row.fit_sha256 is None else replace(row, datasets=in_folders(read[row.fit_sha256]))
        for row in rows
        if row.fit_sha256 is None or latest[row.fit_sha256] is row
    ]


def _looked_up(engine: Engine, rows: Sequence[Row], wanted: Sequence[Row]) -> ReleaseList:
    chosen = set(map(id, wanted))
    targets = [own for own in _by_target(rows).values() if not chosen.isdisjoint(map(id, own))]
    stored = _stored_at(engine, targets)
    states = {id(row): state for own in targets for row, state in zip(own, _states(engine, own, stored), strict=True)}
    found = [shown(row, states[id(row)]) for row in wanted]
    return ReleaseList(database=engine.warehouse.name, releases=tuple(found))


def _by_target(rows: Iterable[Row]) -> dict[str, list[Row]]:
    names = {target: comparable(target) for target in {row.target for row in rows}}
    by_target: dict[str, list[Row]] = {}
    for row in rows:
        by_target.setdefault(names[row.target], []).append(row)
    return by_target


def _stored_at(engine: Engine, targets: Iterable[Sequence[Row]]) -> dict[str, Stored | None]:
    """Look up in one query the targets that are tables of attached databases."""
    called = {rows[-1].target: table_called(rows[-1].target, engine.warehouse.name) for rows in targets}
    if not called:
        return {}
    attached = {"temp", *(folded(database.name) for database in engine.databases())}
    seen = {name: table for name, table in called.items() if table is not None and folded(table.catalog) in attached}
    return dict(zip(seen, engine.find_all(*seen.values()), strict=True))


def shown(row: Row, state: State) -> ListedRelease:
    return ListedRelease(**{name: value for name, value in vars(row).items() if value is not None}, state=state)


def _states(engine: Engine, rows: Sequence[Row], stored: Mapping[str, Stored | None]) -> Iterator[State]:
    """Yield the states of the releases of one target, oldest first.

    The one that is there need not be the last: a run may have been killed before it published a later one.
    """
    otherwise: State = "gone"
    try:
        found = _there(engine, rows, stored)
    except (SqlanonError, OSError):
        found, otherwise = None, "unseen"
    at = len(rows) - 1 if found is None else rows.index(found)
    for number, row in enumerate(rows):
        if row is found:
            yield "there"
        elif row.record_sha256 is None and otherwise != "unseen":
            yield "unconfirmed"
        else:
            yield "replaced" if number < at else otherwise


def _there(engine: Engine, rows: Sequence[Row], stored: Mapping[str, Stored | None]) -> Row | None:
    last = rows[-1]
    if last.fit_sha256 is not None:
        return last if last.record_sha256 is not None and Path(last.target).exists() else None
    found = readable_record(_note_at(engine, last.target, stored))
    if found is None:
        return None
    hashes = [row.record_sha256 for row in rows]
    # A run that was killed right after publishing left no hash.
    wanted = found.record_sha256 if found.record_sha256 in hashes else None
    same = [row for row in rows if (row.record_sha256, row.policy_sha256) == (wanted, found.policy_sha256)]
    return same[-1] if same else None


def _note_at(engine: Engine, target: str, stored: Mapping[str, Stored | None]) -> str | None:
    called = table_called(target, engine.warehouse.name)
    if called is None:
        return target_at(engine, destination(target)).held_note()
    if target not in stored:
        raise EngineError(f"the database {called.catalog} is not attached", step="releases")
    found = stored[target]
    return None if found is None else found.comment


def rows_beside(engine: Engine, target: Path, files_sha256: str | None, datasets: Sequence[str]) -> list[Row]:
    """Return a row per release in the folder of a target that was made from the same files, latest last.

    Releases on the list are left out, also forgotten ones; so are folders and tables.
    """
    if files_sha256 is None:
        return []
    listed = {row.record_sha256 for row in known_rows(engine)}
    found = []
    for made_at, path in _latest_files(target):
        record = _record_at(engine, path, files_sha256)
        if record is not None and record.record_sha256 not in listed:
            row = row_of(place(path), datasets, record, None, datetime.fromtimestamp(made_at, UTC).replace(tzinfo=None))
            found.append(row)
    return found


def _latest_files(target: Path) -> list[tuple[float, Path]]:
    try:
        with os.scandir(target.parent) as entries:
            files = [
                (entry.stat().st_mtime, Path(entry.path))
                for entry in entries
                if entry.name.lower().endswith(SUFFIXES) and entry.is_file() and entry.name != target.name
            ]
    except OSError:
        return []
    return sorted(files)[-MAX_FILES:]


def _record_at(engine: Engine, path: Path, files_sha256: str) -> Record | None:
    """Return the record of a file released from given files; a CSV is hashed only if its note names them."""
    with suppress(EngineError):
        if is_csv(path) and not any(_is_of(Found(each).note, files_sha256) for each in read_note(path).values()):
            return None
        note = target_at(engine, destination(path)).held_note()
        return readable_record(note) if _is_of(note, files_sha256) else None
    return None


def _is_of(note: str | None, files_sha256: str) -> bool:
    record = readable_record(note)
    return record is not None and record.made_from is not None and record.made_from.files_sha256 == files_sha256
