"""DiffGen as a mechanism that can be audited: its cuts are drawn run by run that differ, its counts in SQL."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.binding.bound import BoundPolicy
from sqlanon.binding.prepare import prepare
from sqlanon.engines.base import Engine, ResolvedSource
from sqlanon.evaluation.audit_outputs import countable
from sqlanon.evaluation.branches import branches
from sqlanon.evaluation.policies import AuditedPolicy
from sqlanon.mechanisms.accountant import Accountant
from sqlanon.methods.cuts.diffgen.draws import LEAVES
from sqlanon.methods.cuts.diffgen.encode import checked, encode
from sqlanon.methods.cuts.diffgen.evidence import CountedRows
from sqlanon.methods.cuts.diffgen.leaves import draw_leaves
from sqlanon.methods.cuts.diffgen.queries import SHOWN
from sqlanon.methods.cuts.diffgen.specialize import Chosen
from sqlanon.methods.shared.private.neighbours import bounded_source
from sqlanon.queries.noise.combinations import NOISY, runs_by_outcome
from sqlanon.queries.noise.unseen import INDEX


class AuditedDiffGen(AuditedPolicy):
    """What a run would publish: the specializations in their order, which sets are left, and all counts that are shown.

    Combinations are known by their number in the public domain of the cut.
    """

    def _prepared(self, source: ResolvedSource) -> BoundPolicy:
        return checked(prepare(self._session._engine, source, self._policy))

    def _outcomes(
        self, engine: Engine, bound: BoundPolicy, accountant: Accountant, runs: int
    ) -> Iterator[tuple[object, int]]:
        points = encode(engine, bound, bounded_source(engine, bound, self._source))
        settings = points.settings
        evidence = CountedRows(engine, settings.utility)
        found = branches(
            points.axes,
            points.classes,
            settings,
            evidence,
            self._source,
            lambda: accountant.charge_in_portions(settings.name, settings.budget),
            runs,
        )
        for chosen, portions, count in found:
            with engine.scratch():
                for partitions in chosen.cut.partitions.values():
                    evidence.partitioned(partitions)
                draw_leaves(
                    engine, chosen.cut, points.classes, settings, self._source, portions.rest(LEAVES), runs=count
                )
                rows = engine.fetch(runs_by_outcome(SHOWN.table, INDEX), "outcomes")
            drawn = _visible(chosen)
            silent = count - sum(int(row["runs"]) for row in rows)
            for row in rows:
                counts = {item[INDEX]: item[NOISY] for item in row["shown"]}
                yield countable((drawn, counts)), int(row["runs"])
            if silent:
                yield countable((drawn, {})), silent


def _visible(chosen: Chosen) -> tuple[object, ...]:
    """What there is to see of a cut besides its counts, and how it came about."""
    kept = tuple(partitions.kept for partitions in chosen.cut.partitions.values())
    return (tuple((each.piece, each.children) for each in chosen.specializations), kept)
