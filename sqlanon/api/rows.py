"""The rows of a release, which can be asked for in the session that published it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sqlglot import exp

from sqlanon.api.opened import OpenedEngine
from sqlanon.model.destination import Destination
from sqlanon.model.release import Published
from sqlanon.queries.kit.nodes import select, subquery

Written = TypeVar("Written", bound=Published)


def with_rows(release: Written, opened: OpenedEngine, into: Destination) -> Written:
    """A release whose rows can be asked for, as they are in its target then."""
    release._rows = _Rows(opened, into)
    return release


class _Rows:
    """Reads what a session has published, in the session; a copy in another process has nothing to read."""

    def __init__(self, opened: OpenedEngine, into: Destination) -> None:
        self._opened = opened
        self._source = into.name if into.kind == "table" else str(into.path)

    def __call__(self, form: str, limit: int | None = None) -> Any:
        with self._opened.call():
            rows = self._opened.resolve(self._source).relation
            if limit is not None:
                rows = subquery(select([exp.Star()], rows.copy()).limit(limit), "anon_rows")
            return self._opened.engine.hand_out(rows, form)

    def __deepcopy__(self, _memo: object) -> _Rows:
        return self

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return _nothing, ()


def _nothing() -> None:
    return None
