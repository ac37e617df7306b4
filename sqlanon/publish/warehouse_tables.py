"""Releases as tables of the warehouse, and companion tables that are published in the same step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property

from sqlglot import exp

from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import EngineError, PolicyError
from sqlanon.model.destination import Replace, destination
from sqlanon.model.record import ContentRecord, Record, facts_of, sha256_of_json
from sqlanon.publish.files import NOT_OURS
from sqlanon.publish.targets import PlacedTarget, Target
from sqlanon.queries.kit.macros import table_call

ONE_STEP = "only a warehouse can publish a release of several tables in one step: give the names of tables"


class TableTarget(PlacedTarget):
    @cached_property
    def table(self) -> exp.Table:
        """The table; an EngineError if the release may not go there."""
        return self.engine.refuse_target(self.name, self.read, replace=bool(self.replace))

    @contextmanager
    def opened(self) -> Iterator[None]:
        self.refuse_others()
        yield

    def refuse_others(self) -> None:
        table = self.table
        if not self.replace or self.replace == "anything":
            return
        found = self.engine.find(table)
        if found is not None and not facts_of(found.comment):
            raise EngineError(NOT_OURS.format(f'the table "{self.name}"'), step="target")

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        # Again, in the transaction: a later change by others conflicts with it.
        self.refuse_others()
        with self.engine.in_order():
            self.engine.write_table(self.table, query, replace=bool(self.replace))
        return ResolvedSource(self.table, f'table "{self.name}"')

    def add_record(self, record: Record) -> ContentRecord:
        self._refuse_changed_sources()  # here, because the transaction ends before the target is closed
        content = content_of_table(self.engine, self.table)
        self.engine.comment_table(self.table, record.sealed(content).text)
        return content

    def held_note(self) -> str | None:
        found = self.engine.find(self.name)
        return None if found is None else found.comment

    def uncompared(self) -> exp.Expr | None:
        found = self.engine.find(self.name)
        return None if found is None else found.table


def content_of_table(engine: Engine, table: exp.Expr) -> ContentRecord:
    """Return the hashes of a table: of its rows in any order, and of the names and types of its columns."""
    found = engine.fetch(table_call("content_hash", table.copy()), "the hash of the content")[0]
    return ContentRecord(columns_sha256=columns_sha256(engine, table), rows_sha256=found["content_hash"])


def columns_sha256(engine: Engine, table: exp.Expr) -> str:
    return sha256_of_json([[column.name, column.type] for column in engine.describe(table)])


def table_of(target: Target) -> exp.Table | None:
    return target.table if isinstance(target, TableTarget) else None


def tables_beside(
    engine: Engine,
    release: Target,
    wanted: Mapping[str, str],
    *,
    published: Sequence[str],
    read: Mapping[str, ResolvedSource],
    replace: Replace,
) -> dict[str, TableTarget]:
    """Return the targets of the tables that are published beside the rows of a release, by their content.

    The user names the ``wanted`` tables, the method has those ``published``: both must agree, and all must be tables of
    the warehouse with distinct names.
    """
    known = ", ".join(published) or "none"
    problems = [f'"{name}" is not published beside the rows; published: {known}' for name in {*wanted} - {*published}]
    problems += [f'"{name}" is published as well: name its table' for name in published if name not in wanted]
    if problems:
        raise PolicyError("tables do not fit what the method publishes:", sorted(problems))
    if not published:
        return {}
    places = {name: destination(wanted[name]) for name in published}
    if not isinstance(release, TableTarget) or any(place.kind != "table" for place in places.values()):
        raise EngineError(ONE_STEP, step="target")
    targets = {name: TableTarget(engine, place, read, replace) for name, place in places.items()}
    taken = [release.table, *(target.table for target in targets.values())]
    if len({tuple(part.name.lower() for part in table.parts) for table in taken}) < len(taken):
        raise EngineError("two tables of the release have the same name: give each its own", step="target")
    for target in targets.values():
        target.refuse_others()
    return targets
