"""A target where rows are that are not in the database: written and verified beside its place, then put there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.engines.rows import Rows, Staged
from sqlanon.errors import EngineError
from sqlanon.model.destination import Destination, Replace
from sqlanon.model.record import ContentRecord, Record, facts_of
from sqlanon.publish.content import content_of_table


@dataclass
class FarTarget:
    """A place for one release, with what was written beside it and its record."""

    engine: Engine
    into: Destination
    staged: Staged | None = None
    note: str = ""
    notes: tuple[str, ...] = field(default=(), init=False)

    @property
    def name(self) -> str:
        return self.into.name

    def takes_enums(self, name: str) -> bool:
        return False

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        self.staged = self.engine.stage(query, self.into)
        return ResolvedSource(self.staged.relation, f'table "{self.name}"')

    def add_record(self, record: Record) -> ContentRecord:
        assert self.staged is not None
        content = content_of_table(self.engine, self.staged.relation)
        self.note = record.sealed(content).text
        return content


@contextmanager
def far_target(
    engine: Engine, far: Rows, into: Destination, read: Mapping[str, ResolvedSource], *, replace: Replace
) -> Iterator[FarTarget]:
    """The target of a place there: it appears when the block ends, and not at all when the block fails.

    Raises:
        EngineError: the place is taken by what may not be replaced, or by what is read.
    """
    refuse_taken(far, into, read, replace=replace)
    target = FarTarget(engine, into)
    try:
        yield target
        refuse_taken(far, into, read, replace=replace)  # once more: the run may have taken hours
        assert target.staged is not None
        far.publish(target.staged, target.note)
    except BaseException:
        if target.staged is not None:
            far.discard(target.staged)
        raise


def refuse_taken(far: Rows, into: Destination, read: Mapping[str, ResolvedSource], *, replace: Replace) -> None:
    """Refuse a place that has something that may not go."""
    found = far.find(into.name)
    if found is None:
        return
    if not replace:
        raise EngineError(f'"{into.name}" exists; give another name, or replace=True', step="target")
    for role, source in read.items():
        if found.table in source.relation.find_all(exp.Table):
            raise EngineError(f'"{into.name}" is the {role} of the release: give another name', step="target")
    if replace != "anything" and not facts_of(found.comment):
        reason = f'"{into.name}" was not made by sqlanon, so that replace=True leaves it as it is: give another name'
        raise EngineError(f'{reason}, or say with replace="anything" that it may go', step="target")
