"""h-ceiling: publish a node below the ceiling, and add counterfeits to its small classes.

A node keeps to the ceiling h if no row's degree of generalization exceeds it: the mean loss of the row's labels, which
follows from taxonomies. Rows whose labels lose the same at all levels of all quasi-identifiers are alike to every node,
so few combinations determine each node's largest degree. It never decreases towards the top, so nodes are pruned from
below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from sqlanon.binding.bound import BoundPolicy, refuse_inexact, refuse_wide
from sqlanon.engines.duckdb import Compute
from sqlanon.engines.relations import ResolvedSource
from sqlanon.errors import PolicyError, UnsatisfiableError
from sqlanon.methods.base import Comparison, Measured
from sqlanon.methods.h_ceiling import catalogs, counterfeits
from sqlanon.methods.h_ceiling import ceiling_queries as queries
from sqlanon.methods.h_ceiling.ceiling_queries import invented_rows
from sqlanon.methods.h_ceiling.ceiling_report import CeilingReport, guarantee
from sqlanon.methods.h_ceiling.ceiling_search import choose_node, in_place_of
from sqlanon.methods.h_ceiling.ceilings import WITHIN, ChosenCeiling, ranked_ceilings
from sqlanon.methods.h_ceiling.counterfeits import Filled
from sqlanon.methods.stages import Stages
from sqlanon.methods.syntactic import SyntacticPublication, SyntacticRun, columns_at_the_top, report_at_node
from sqlanon.model.labels import NodeRecord
from sqlanon.model.lattice import Lattice, NodeSummary, total
from sqlanon.model.methods.counterfeiting import CATALOG, COUNTERFEITS, INVENTED, HCeiling
from sqlanon.model.names import folded
from sqlanon.model.policy.policy import Policy
from sqlanon.model.record import Inputs, Record, RowsRecord
from sqlanon.model.release import Guarantee, Report, RowCounts
from sqlanon.nodes.choice import only_checked
from sqlanon.nodes.counting import node_summaries
from sqlanon.nodes.table import EncodedTable, encode_table, level_losses, refuse_too_many, unknown_notes
from sqlanon.publish.provenance import attained_bounds, record_by
from sqlanon.queries.recodings import AtNode
from sqlanon.release.publishing import attained_at, group_rows, keep_classes
from sqlanon.search import SearchOutcome
from sqlanon.search.arrays import Bounds

Profiles = Sequence[Mapping[int, tuple[float, ...]]]
"""By quasi-identifier and profile number, the losses of labels at every level."""

UNPROVEN = (
    "another node below the ceiling may need fewer counterfeits: it was not looked at, has no catalog, or a larger "
    "reconstruction error with it"
)

PUBLISHED = ("node", "heights", "domains", "ceiling", "degree", "class_count", "min_class_size")
"""The report fields that travel with a release: none reveals how many rows are true, which would help to find these."""


@dataclass(frozen=True)
class FilledNode:
    filled: Filled
    outcome: SearchOutcome
    groups: int | None  # of classes in the catalog
    effective_k: float | None  # a lower bound over all groups
    degree: float  # the largest degree of generalization of a row
    error: float  # the mean reconstruction error, given the catalog if any
    allowed_nodes: int  # nodes that keep to the ceiling
    chosen: ChosenCeiling


@dataclass(frozen=True, kw_only=True)
class FilledPublication(SyntacticPublication):
    choice: FilledNode


class HCeilingRun(SyntacticRun[EncodedTable, FilledNode, FilledPublication]):
    is_random = True
    report_class = CeilingReport
    about_rows = "Some rows may be invented (counterfeits). Sizes of classes and risks count them as well."
    takes_far_rows = True
    instead_of_node = "bound its search by minimum_levels and maximum_levels"

    @property
    def settings(self) -> HCeiling:
        return HCeiling.of(self.bound.policy)

    def refuse_request(self, policy: Policy) -> None:
        super().refuse_request(policy)
        for name in policy.columns:
            if INVENTED in self.request.tables and folded(name) == COUNTERFEITS:
                raise PolicyError(f'the table of counterfeits has its own column "{name}"; rename yours in a view')

    @property
    def companions(self) -> Sequence[str]:
        catalog = (CATALOG,) if self.settings.has_catalog else ()
        return (*catalog, *({INVENTED} & {*self.request.tables}))

    def refuse(self, bound: BoundPolicy) -> BoundPolicy:
        refuse_inexact(bound)
        refuse_wide(bound.lattice, str(bound.policy.method))
        return bound

    def encode(self) -> EncodedTable:
        table = encode_table(self.engine, self.bound, label_losses=("lm",))
        counterfeits.put_entries(self.engine, self.bound.policy)
        return table

    def refuse_rows(self, table: EncodedTable) -> None:
        super().refuse_rows(table)
        if self.settings.fewest_true_rows > 1:  # without a limit, rows with unknown values may be left out
            refuse_too_many(self.engine, table)
        counterfeits.refuse_rows(self.engine, table)

    def search(self, table: EncodedTable, stages: Stages) -> FilledNode:
        with stages.stage("search"):
            degrees, errors = largest_degrees(self.engine, table), level_errors(table)
            node = self._filled(table, degrees, errors, self._ceilings(table, degrees, errors, stages))
            stages.concluded(node.outcome)
        return node

    def choice_without_rows(self, table: EncodedTable) -> FilledNode:
        degrees, errors = largest_degrees(self.engine, table), level_errors(table)
        bottom, h = NodeSummary(table.context.lattice.bottom, 1, 1, 0, 0), self.settings.h
        node_summaries(self.engine, table, [bottom.levels], asked="counts")
        chosen = ChosenCeiling(1 if h is None else h, only_checked(bottom, 0), [bottom], ())
        return self._filled(table, degrees, errors, [chosen])

    def _filled(
        self, table: EncodedTable, degrees: Bounds, errors: Bounds, ceilings: Sequence[ChosenCeiling]
    ) -> FilledNode:
        """Fill the node of the first ceiling, or of the first one with a catalog."""
        engine, source, chosen, candidate = self.engine, self.draws, ceilings[0], None
        if self.settings.has_catalog_of_values:
            chosen, candidate = catalogs.first_with_catalog(engine, table, ceilings, source, self.stopped)
            filled = candidate.filled
        else:
            filled = counterfeits.fill(engine, table, chosen.nodes[0].levels, source)
        nodes, allowed_nodes = chosen.nodes, int((degrees <= chosen.ceiling + WITHIN).sum())
        (node,) = (node for node in nodes if node.levels == filled.levels)
        outcome = in_place_of(chosen.outcome, node, filled.added.count)
        if filled.added.suppressed:
            context = filled.true.context
            kept = replace(context, losses=level_losses(engine, filled.true.encoding))
            degrees, errors = largest_degrees(engine, filled.true), level_errors(replace(filled.true, context=kept))
        index = table.context.lattice.index(filled.levels)
        degree = float(degrees[index])
        if candidate is None or candidate.catalog is None:
            return FilledNode(filled, outcome, None, None, degree, float(errors[index]), allowed_nodes, chosen)
        groups, (effective_k, _) = len(candidate.catalog.groups), candidate.effective_k
        return FilledNode(filled, outcome, groups, effective_k, degree, candidate.error, allowed_nodes, chosen)

    def _ceilings(
        self, table: EncodedTable, degrees: Bounds, errors: Bounds, stages: Stages
    ) -> Sequence[ChosenCeiling]:
        """Search below the ceiling of the policy, or below all of the grid; the best ceiling comes first."""
        engine, h, cells = self.engine, self.settings.h, table.without_values()
        if h is None:
            errors_by_truth = partial(level_errors, table)
            return ranked_ceilings(engine, cells, degrees, errors_by_truth, stages.checked, self.stopped)
        allowed = degrees <= h + WITHIN
        if not allowed.any():
            raise UnsatisfiableError(
                f"no node keeps to the ceiling h = {h:g}:",
                [f"the least general node that the policy allows has a degree of {degrees.min():.6g}"],
            )
        return [ChosenCeiling(h, *choose_node(engine, cells, allowed, errors, stages.checked, self.stopped), ())]

    def make(self, table: EncodedTable, choice: FilledNode) -> FilledPublication:
        engine, filled, added, unknown = self.engine, choice.filled, choice.filled.added, table.unknown
        table, recoding = filled.table, AtNode(filled.table.encoding, filled.levels)
        keep_classes(engine, recoding)
        attained = attained_at(engine, recoding)
        # Name no node: a dependency that holds in true rows only would give away the counterfeits, which break it.
        groups = group_rows(engine, table, recoding, masked=False, with_added=partial(catalogs.with_class_ids, filled))
        rows = table.context.row_count
        return FilledPublication(
            bound=table.bound,
            encoding=table.encoding,
            groups=groups,
            rows=RowCounts(
                source=rows + unknown.suppressed,
                released=rows - added.suppressed + added.count,
                masked=0,
                dropped=added.suppressed,
                unknown=unknown.suppressed,
            ),
            attained=attained,
            notes=(
                *(() if choice.outcome.proven_optimal else (UNPROVEN,)),
                *columns_at_the_top(table.context.lattice, filled.levels),
                *counterfeits.values_of_no_row(engine, table),
                *unknown_notes(table.bound.policy, unknown),
            ),
            choice=choice,
        )

    def companion_rows(self, made: FilledPublication) -> Mapping[str, exp.Query]:
        filled = made.choice.filled
        wanted = {CATALOG: catalogs.catalog_rows(filled)} if self.settings.has_catalog else {}
        if INVENTED in self.request.tables:
            wanted[INVENTED] = invented_rows(filled.table.encoding, filled.levels)
        return wanted

    def compare(
        self, made: FilledPublication, written: ResolvedSource, companions: Mapping[str, ResolvedSource]
    ) -> Comparison:
        if (catalog := companions.get(CATALOG)) is None:
            return Comparison()
        return Comparison(catalogs.catalog_shortfalls(self.engine, made.choice.filled, written, catalog))

    def record(self, made: FilledPublication, measured: Measured, report: Report, inputs: Inputs | None) -> Record:
        """Make the record without anything that would distinguish counterfeits from true rows."""
        assert report.rows is not None
        bound, policy = made.bound, made.bound.policy
        return record_by(
            policy,
            taxonomy_sha256={name: bound.taxonomy_hashes[name] for name in policy.quasi_identifiers},
            labels=NodeRecord(levels=report.node),
            privacy=attained_bounds(policy, made.attained),
            rows=RowsRecord(released=report.rows.released),
            report=report.model_dump(mode="json", include=set(PUBLISHED)),
        )

    def report(self, made: FilledPublication, measured: Measured, into: str, seconds: Mapping[str, float]) -> Report:
        choice, settings = made.choice, self.settings
        table, levels, added = choice.filled.table, choice.filled.levels, choice.filled.added
        return report_at_node(
            CeilingReport,
            table,
            levels,
            choice.outcome,
            measured.measurement,
            into,
            seconds,
            quality=COUNTERFEITS,
            loss=added.count,
            losses={name: total(getattr(table.context.losses, name), levels) for name in ("lm", "ncp")},
            rows=made.rows,
            suppressed_rows=added.suppressed,
            search=settings.name,
            notes=made.notes,
            ceiling=choice.chosen.ceiling,
            curve=choice.chosen.curve,
            degree=choice.degree,
            allowed_nodes=choice.allowed_nodes,
            counterfeits=added.count,
            counterfeit_share=added.count / max(made.rows.released, 1),
            filled_classes=added.classes,
            fewest_true_rows=added.fewest_true_rows,
            reconstruction_error=choice.error,
            catalog=settings.catalog,
            groups=choice.groups,
            effective_k=choice.effective_k,
        )

    def guarantee(self, made: FilledPublication, report: Report) -> Guarantee:
        return guarantee(made.bound.policy, report, for_recipients=False)

    def recorded_guarantee(self, made: FilledPublication, report: Report) -> Guarantee:
        return guarantee(made.bound.policy, report, for_recipients=True)


def largest_degrees(engine: Compute, table: EncodedTable) -> Bounds:
    """Return the largest degree of generalization of a row at every node, in [0, 1]; 0 without rows.

    Source: Lee et al. 2017, equation 3.
    """
    encoding = table.encoding
    named = queries.about(encoding)
    with engine.scratch():
        engine.run(named.step(queries.PROFILES, "profiles"))
        profiles: list[dict[int, tuple[float, ...]]] = [{} for _ in encoding.spec.shapes]
        for row in engine.fetch(named.query("distinct_profiles"), "what labels lose at all levels", "node"):
            profiles[row["position"]][row["anon_profile"]] = tuple(row["anon_losses"])
        for position, shape in enumerate(encoding.spec.shapes):
            if not profiles[position]:  # only values without labels, which lose nothing
                profiles[position][1] = (0.0,) * (shape.height + 1)
        several = [position for position, found in enumerate(profiles) if len(found) > 1]
        only = tuple(next(iter(found)) for found in profiles)
        rows = [only]
        if table.context.row_count == 0:
            rows = []
        elif several:
            query = queries.profiles_of_rows(encoding, several)
            rows = [
                tuple(row.get(f"profile_{position}", number) for position, number in enumerate(only))
                for row in engine.fetch(query, "how general rows are", "node")
            ]
    return degrees_of(table.context.lattice, profiles, rows)


def degrees_of(lattice: Lattice, profiles: Profiles, rows: Sequence[Sequence[int]]) -> Bounds:
    """Return the largest degrees; a kind of row has a profile in each quasi-identifier."""
    largest: Bounds = np.zeros(lattice.shape)
    terms = [
        {number: _allowed(np.array(losses) / len(profiles), lattice, position) for number, losses in found.items()}
        for position, found in enumerate(profiles)
    ]
    for row in _undominated(profiles, rows):
        degrees = reduce(np.add.outer, (terms[position][number] for position, number in enumerate(row)))
        np.maximum(largest, degrees, out=largest)
    return largest


def _allowed(losses: NDArray[np.float64], lattice: Lattice, position: int) -> NDArray[np.float64]:
    return losses[lattice.bottom[position] : lattice.top[position] + 1]


def _undominated(profiles: Profiles, rows: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """Drop kinds of rows that lose no more than another kind at every level of every quasi-identifier."""
    if len(rows) < 2:
        return list(rows)
    losses = np.array([[loss for place, number in enumerate(row) for loss in profiles[place][number]] for row in rows])
    order = np.argsort(-losses.sum(axis=1), kind="stable")
    kept: list[int] = []
    for index in order:
        if not kept or not (losses[kept] >= losses[index]).all(axis=1).any():
            kept.append(int(index))
    return [rows[index] for index in kept]


def level_errors(table: EncodedTable, truth: float = 1) -> Bounds:
    """Return the mean reconstruction error of every node, in [0, 1], if rows are real with this probability.

    The mean is over rows, quasi-identifiers and the sensitive value, which is published as is. An error is
    1 - (2 truth - truth²) / leaves, so it follows from that of true rows (spec/metrics.md).
    """
    lattice, rce = table.context.lattice, table.context.losses.rce
    known = 2 * truth - truth * truth
    of_true = reduce(np.add.outer, (_allowed(np.array(each), lattice, place) for place, each in enumerate(rce)))
    width = len(rce)
    errors: Bounds = 1 - known * (1 - of_true * width / (width + 1))
    return errors
