"""Local recoding for partitions: classes that hold for rows which are still to come."""

from __future__ import annotations

from sqlanon.errors import UnsatisfiableError
from sqlanon.methods.local.covering import hold_covering
from sqlanon.methods.local.method import LocalRun
from sqlanon.methods.local.peeling import LocalClasses
from sqlanon.methods.local.watching import Watch


class LocalFitRun(LocalRun):
    """A run for partitions: its classes hold where each row goes to that of the least loss, as rows of these do."""

    def _found(self, watch: Watch) -> LocalClasses:
        bound = self.bound
        classes = hold_covering(
            self.cells,
            bound.lattice,
            self.encoding.criteria.bounds,
            super()._found(watch),
            shares=self.settings.shares(bound.policy),
            allowed_rows=self.table.context.allowed_rows,
            watch=watch,
        )
        if not len(classes.levels):
            heading = "no class meets the privacy models once each row goes to the one of the least loss:"
            raise UnsatisfiableError(heading, [f"required: {', '.join(map(str, bound.policy.privacy))}"])
        return classes
