"""The other tables of a release: published in one step with its rows, in the same warehouse, or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.errors import EngineError, PolicyError
from sqlanon.model.destination import Replace, destination
from sqlanon.publish.targets import Target
from sqlanon.publish.to_table import TableTarget

ONE_STEP = (
    "a release of several tables is published in one step, which only a warehouse can do: give the names of tables"
)


def tables_beside(
    engine: Engine,
    release: Target,
    wanted: Mapping[str, str],
    *,
    published: Sequence[str],
    read: Mapping[str, ResolvedSource],
    replace: Replace,
) -> dict[str, TableTarget]:
    """The targets of the tables that are published beside the rows of a release, by what they are.

    Args:
        engine: the database.
        release: the target of the rows.
        wanted: the names of the targets, by what goes there.
        published: what the method publishes beside the rows.
        read: what the release is made from and compared with, by role; it may replace none of it.
        replace: whether what has these names may be replaced.

    Raises:
        PolicyError: something is published without a target, or is not published.
        EngineError: they are not tables of the warehouse, two have one name, or one is taken.
    """
    _refuse_other_names(wanted, published)
    if not published:
        return {}
    places = {name: destination(wanted[name]) for name in published}
    if not isinstance(release, TableTarget) or any(place.kind != "table" for place in places.values()):
        raise EngineError(ONE_STEP, step="target")
    tables = {name: engine.refuse_target(place.name, read, replace=bool(replace)) for name, place in places.items()}
    taken = [release.table, *tables.values()]
    if len({tuple(part.name.lower() for part in table.parts) for table in taken}) < len(taken):
        raise EngineError("two tables of the release have one name: each needs its own", step="target")
    targets = {name: TableTarget(engine, places[name].name, table, replace) for name, table in tables.items()}
    for target in targets.values():
        target.refuse_others()
    return targets


def _refuse_other_names(wanted: Mapping[str, str], published: Sequence[str]) -> None:
    known = ", ".join(published) or "none"
    problems = [f'"{name}" is not published beside the rows: what is, is {known}' for name in {*wanted} - {*published}]
    problems += [f'"{name}" is published as well: name its table' for name in published if name not in wanted]
    if problems:
        raise PolicyError("tables do not fit what the method publishes:", sorted(problems))
