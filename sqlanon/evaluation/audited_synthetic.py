"""Synthetic rows as a mechanism that can be audited: all that a run draws, before it makes rows of that."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.prepare import prepare
from sqlanon.chance.accountant import Accountant
from sqlanon.engines.duckdb import Engine
from sqlanon.engines.relations import ResolvedSource
from sqlanon.evaluation.audit_outputs import countable
from sqlanon.evaluation.mechanisms import AuditedPolicy
from sqlanon.methods.synthetic.domain import settings_of
from sqlanon.methods.synthetic.measuring import checked, counted, measured


class AuditedSynthetic(AuditedPolicy):
    """Which marginals are measured, in their order, all noisy counts, and the error of the report.

    The rows of a release are made of these without a look at the table, so that they give away no more.
    """

    def _prepared(self, source: ResolvedSource) -> BoundPolicy:
        return checked(prepare(self._session._engine, source, self._policy))

    def _outcomes(
        self, engine: Engine, bound: BoundPolicy, accountant: Accountant, runs: int
    ) -> Iterator[tuple[object, int]]:
        settings, table = settings_of(bound), counted(engine, bound, self._source)
        for _ in range(runs):
            portions = accountant.charge_in_rho(settings.name, settings.budget)
            chosen, error = measured(table, settings, portions, self._source)
            noisy = [each.counts for each in chosen.log] + [counts for counts, _ in chosen.fine.values()]
            counts = {
                (number, cell): count
                for number, found in enumerate(noisy)
                for cell, count in enumerate(found.ravel().tolist())
            }
            sets = tuple(each.columns for each in chosen.log)
            yield countable((sets, counts, -1 if error is None else error.rows)), 1
