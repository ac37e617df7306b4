"""A release as a table of the warehouse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.errors import EngineError
from sqlanon.model.destination import Replace
from sqlanon.publish.content import content_of_table, sealed
from sqlanon.publish.provenance import parse_note

NOT_OURS = (
    "{} was not made by sqlanon, so that replace=True leaves it as it is: give another name, or say with "
    'replace="anything" that it may go'
)


@dataclass(frozen=True)
class TableTarget:
    """A table of the warehouse, written and verified inside the transaction of the run."""

    engine: Engine
    name: str
    table: exp.Table
    replace: Replace

    def refuse_others(self) -> None:
        """Refuse to replace a table without a note of ours."""
        if not self.replace or self.replace == "anything":
            return
        found = self.engine.find(self.name)
        if found is not None and not parse_note(found.comment):
            raise EngineError(NOT_OURS.format(f'the table "{self.name}"'), step="target")

    def takes_enums(self, name: str) -> bool:
        return False

    def write(self, query: exp.Query, *, streamed: bool = False) -> ResolvedSource:
        # Once more, within the transaction: whoever changes the table from here on is in conflict with it.
        self.refuse_others()
        with self.engine.in_order():
            self.engine.write_table(self.table, query, replace=bool(self.replace))
        return ResolvedSource(self.table, f'table "{self.name}"')

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    def add_note(self, note: str) -> Mapping[str, str]:
        content = content_of_table(self.engine, self.table)
        self.engine.comment_table(self.table, sealed(note, content))
        return content
