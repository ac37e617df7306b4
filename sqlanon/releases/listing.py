"""The list of releases as it is read: with what is found at each target, which others may have removed since."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import Stored
from sqlanon.errors import EngineError, PolicyError, SqlanonError
from sqlanon.model.destination import destination
from sqlanon.model.names import folded
from sqlanon.model.policy_value import did_you_mean
from sqlanon.model.record import readable_record
from sqlanon.model.release.joint import ListedRelease, ReleaseList, State
from sqlanon.publish.targets import target_at
from sqlanon.releases import release_table as table
from sqlanon.releases import waiting
from sqlanon.releases.release_table import Row
from sqlanon.releases.target_names import comparable, comparables, have_common, in_folders, table_called


def listed(engine: Engine, datasets: Sequence[str] | None = None, *, forgotten: bool = False) -> ReleaseList:
    """The releases of a warehouse.

    Args:
        engine: the database.
        datasets: the data sets whose releases are wanted, as :func:`~.target_names.datasets_of` names them;
            None for all.
        forgotten: whether those are wanted as well that were forgotten.

    Raises:
        EngineError: another table has the name of the list.
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
    """The latest releases of data sets that may be at their targets still, and how many older targets are listed.

    No file is looked at once the latest are found.

    Args:
        engine: the database.
        datasets: the data sets.
        most: how many are wanted.
        is_other: which rows are.
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
            # Of a fit, partitions before the last one may be out.
            is_out = state in ("there", "unseen") or (state == "unconfirmed" and row.fit_sha256 is not None)
            if id(row) in wanted and is_out:
                found.append(shown(row, state))
    return found[::-1], len(left)


def forget(engine: Engine, name: str, reason: str) -> ReleaseList:
    """Mark all releases of a target as forgotten that are not, and return them.

    Raises:
        PolicyError: the reason is blank, the list lacks the release, or somebody has marked it before.
        EngineError: the warehouse is open read-only.
    """
    if not isinstance(reason, str) or not reason.strip():
        raise _refused("say with a reason why the release is to be forgotten: an auditor reads it on the list")
    rows = known_rows(engine)
    by_name = {called: [row for row in rows if comparable(row.target) == called] for called in comparables(name)}
    own = next(filter(None, by_name.values()), [])
    targets = list(dict.fromkeys(row.target for row in own if row.forgotten_at is None))
    if not own:
        known = dict.fromkeys(row.target for row in rows if row.forgotten_at is None)
        raise _refused(f'no release "{name}" is on the list{did_you_mean(name, known)}')
    if not targets:
        raise _refused(f'the release "{name}" was forgotten before')
    if engine.warehouse.is_read_only:
        raise EngineError("the warehouse is open read-only: open it to be written to forget a release", step="releases")
    waiting.take_up(engine)
    at = datetime.now(UTC).replace(tzinfo=None)
    table.forget(engine, targets, at, reason.strip())
    found = _latest_of_fits(known_rows(engine))
    return _looked_up(engine, found, [row for row in found if row.forgotten_at == at])


def known_rows(engine: Engine) -> list[Row]:
    """All rows of the list, in the order in which the releases were made, with those that wait beside the warehouse.

    Raises:
        EngineError: another table has the name of the list, or a row that waits cannot be read.
    """
    known = {(row.target, row.made_at): row for row in table.rows(engine)}
    for row in waiting.rows(engine):
        before = known.get((row.target, row.made_at))
        if before is None or before.record_sha256 is None:
            known[row.target, row.made_at] = row
    return sorted(known.values(), key=lambda row: row.made_at)


def _refused(reason: str) -> PolicyError:
    return PolicyError(reason).with_guide("releases-of-a-warehouse")


def _latest_of_fits(rows: Sequence[Row]) -> list[Row]:
    """The rows, with one in place of those of all partitions of a fit: the last, which counts all their rows."""
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
    """Some of all rows, with what is found at their targets; no other target is looked at."""
    chosen = set(map(id, wanted))
    targets = [own for own in _by_target(rows).values() if not chosen.isdisjoint(map(id, own))]
    stored = _stored_at(engine, targets)
    states = {id(row): state for own in targets for row, state in zip(own, _states(engine, own, stored), strict=True)}
    found = [shown(row, states[id(row)]) for row in wanted]
    return ReleaseList(database=engine.warehouse.name, releases=tuple(found))


def _by_target(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows of each target, however it is spelled."""
    names = {target: comparable(target) for target in {row.target for row in rows}}
    by_target: dict[str, list[Row]] = {}
    for row in rows:
        by_target.setdefault(names[row.target], []).append(row)
    return by_target


def _stored_at(engine: Engine, targets: Iterable[Sequence[Row]]) -> dict[str, Stored | None]:
    """Look up the targets that are tables of attached databases by one query, by their names."""
    called = {rows[-1].target: table_called(rows[-1].target, engine.warehouse.name) for rows in targets}
    if not called:
        return {}
    attached = {"temp", *(folded(database.name) for database in engine.databases())}
    seen = {name: table for name, table in called.items() if table is not None and folded(table.catalog) in attached}
    return dict(zip(seen, engine.find_all(*seen.values()), strict=True))


def shown(row: Row, state: State) -> ListedRelease:
    return ListedRelease(**{name: value for name, value in vars(row).items() if value is not None}, state=state)


def _states(engine: Engine, rows: Sequence[Row], stored: Mapping[str, Stored | None]) -> Iterator[State]:
    """Find the states of the releases of one target, in the order in which they were made.

    The one that is there need not be the last: a run can have been killed before it published another one.
    """
    otherwise: State = "gone"
    try:
        found = _there(engine, rows, stored)
    except (SqlanonError, OSError):
        found, otherwise = None, "unseen"
    place = len(rows) - 1 if found is None else rows.index(found)
    for number, row in enumerate(rows):
        if row is found:
            yield "there"
        elif row.record_sha256 is None and otherwise != "unseen":
            yield "unconfirmed"
        else:
            yield "replaced" if number < place else otherwise


def _there(engine: Engine, rows: Sequence[Row], stored: Mapping[str, Stored | None]) -> Row | None:
    """The release that a target holds, of those that were published there; None if it holds none of them.

    Raises:
        SqlanonError, OSError: it cannot be looked at.
    """
    last = rows[-1]
    if last.fit_sha256 is not None:
        return last if last.record_sha256 is not None and Path(last.target).exists() else None
    found = readable_record(_note_at(engine, last.target, stored))
    if found is None:
        return None
    hashes = [row.record_sha256 for row in rows]
    # The hash is missing where a run was killed right after it had published.
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
