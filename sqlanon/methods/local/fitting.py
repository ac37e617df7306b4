"""Local recoding for partitions: classes that hold for rows which are still to come."""

from __future__ import annotations

from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.local.classes import LocalClasses, described
from sqlanon.methods.local.method import LocalRun
from sqlanon.methods.local.parts import Parts
from sqlanon.methods.local.settling import settle_or_stay
from sqlanon.methods.local.table import LocalTable
from sqlanon.methods.local.watching import Watch

ROUNDS = 10
"""How often classes are tried: rows that none covers are put into some, whose labels then cover other rows as well."""


class LocalFitRun(LocalRun):
    """A run for partitions: its classes hold where each row goes to that of the least loss, as rows of these do.

    Peeling gives a key the class of the first node that takes it, and another one may cover it with less loss. Where
    the key goes there, its own class may fall short. Such classes are left out, and what no class covers then is put
    into classes as after peeling. More rows than are allowed are left out if no better classes are found.
    """

    def _found(self, watch: Watch) -> LocalClasses:
        found, table = super()._found(watch), LocalTable.of_made(self.engine, self.counted)
        parts, allowed_rows = Parts(table), self.table.context.allowed_rows
        for turn in range(ROUNDS):
            uncovered = parts.cover()
            if uncovered <= allowed_rows or turn == ROUNDS - 1 or not settle_or_stay(parts, allowed_rows, watch):
                break
        classes = described(table, found.minimality, watch)
        if not classes.class_count:
            heading = "no class meets the privacy models once each row goes to the one of the least loss:"
            raise UnsatisfiableError(heading, [f"required: {', '.join(map(str, self.bound.policy.privacy))}"])
        return classes
