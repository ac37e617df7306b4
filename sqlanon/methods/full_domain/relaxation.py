"""Explain why a search found no node, and propose the smallest policy changes that would allow one.

Each proposed change was checked with a node's query. It is called the smallest of its kind only where that is proven:
where the most general node is best, or where every node was examined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING
from typing import Any

from sqlanon.binding.bound import is_too_wide
from sqlanon.engines.duckdb import Compute
from sqlanon.errors import BlockingModel, Explanation, PolicyError, Relaxation, RelaxationKind, UnsatisfiableError
from sqlanon.model.criteria import bounds_of_field
from sqlanon.model.lattice import Levels, NodeSummary, with_level
from sqlanon.model.policy.policy import Policy
from sqlanon.model.privacy import KAnonymity, PrivacyModel
from sqlanon.nodes.counting import (
    Examination,
    attainable_bounds,
    examine_nodes,
    examined_at_once,
    in_few_digits,
    node_summaries,
    share_of,
    strictest_kept,
    threshold_field,
)
from sqlanon.nodes.table import EncodedTable
from sqlanon.search import SearchOutcome, SearchProblem, margin

EXAMINED_NODES = 512  # larger lattices are not examined as a whole

Examined = Callable[[int, int], None]  # called after every batch with the numbers of examined nodes and of all nodes


def unsatisfiable(
    engine: Compute, table: EncodedTable, outcome: SearchOutcome, examined: Examined
) -> UnsatisfiableError:
    if not outcome.unsatisfiable:
        return _not_found(table, outcome)
    relaxer = _Relaxer.examining(engine, table, outcome, examined)
    explanation = relaxer.explanation()
    policy, context = table.bound.policy, table.context
    limit = f"at most {context.allowed_rows:,} rows suppressed (suppression_limit {policy.suppression_limit:g})"
    loss = "" if policy.max_loss is None else f" and a loss of at most {policy.max_loss:g}"
    return UnsatisfiableError(
        f"no node meets the privacy models with {limit}{loss}:", _lines(policy, explanation), explanation
    )


def _not_found(table: EncodedTable, outcome: SearchOutcome) -> UnsatisfiableError:
    policy, context = table.bound.policy, table.context
    lines = [f"required: {_listed(policy.privacy)}"]
    if outcome.closest is not None:
        node, rows = context.lattice.named(outcome.closest.levels), outcome.closest.suppressed_rows
        lines.append(f"closest: {_worded(node)}; it would suppress {rows:,} of {context.row_count:,} rows")
    lines.append('give the search more time, or take search "optimal", which also proves it if there is none')
    return UnsatisfiableError(
        f"no node that meets the privacy models was found yet: {outcome.checked_nodes:,} of {context.lattice.size:,} "
        "nodes were checked, and there may be one among the others:",
        lines,
    )


def _lines(policy: Policy, explanation: Explanation) -> list[str]:
    excess = explanation.suppressed_rows - explanation.allowed_rows
    beyond = f", {excess:,} more than may be" if excess > 0 else ""
    return [
        f"required: {_listed(policy.privacy)}",
        f"best node: {_worded(explanation.node)}; it would suppress {explanation.suppressed_rows:,} of "
        f"{explanation.row_count:,} rows{beyond}",
        *(
            f"there, classes of {blocking.rows:,} rows violate {blocking.model}"
            for blocking in explanation.blocking_models
        ),
        *(relaxation.sentence for relaxation in explanation.relaxations),
        *(() if explanation.relaxations else (_NOTHING_ELSE,)),
    ]


_NOTHING_ELSE = "no change of a single setting helps: ask for less, or use a more general taxonomy"


@dataclass(frozen=True)
class _Relaxer:
    engine: Compute
    table: EncodedTable
    nodes: tuple[Examination, ...]
    top_is_best: bool  # the most general node is at least as good as all others under any change of a threshold
    top_suppresses_least: bool
    least_suppressed_rows: int  # a proven lower bound of the rows that a node suppresses
    all_examined: bool

    @classmethod
    def examining(cls, engine: Compute, table: EncodedTable, outcome: SearchOutcome, examined: Examined) -> _Relaxer:
        """Examine only the top where it is the best node, else every node if they are few."""
        policy, lattice = table.bound.policy, table.context.lattice
        monotonic = all(bound.monotonic for bound in policy.criteria.bounds)
        chosen: Iterable[Levels] = [lattice.top]
        if not monotonic and lattice.size <= EXAMINED_NODES:
            chosen = lattice.nodes()
        elif not monotonic and outcome.closest is not None:
            chosen = dict.fromkeys([lattice.top, outcome.closest.levels])
        nodes: list[Examination] = []
        for batch in examined_at_once(table, chosen):
            nodes += examine_nodes(engine, table, batch)
            examined(len(nodes), lattice.size)
        top_is_best = all(policy.is_monotonic(model) for model in policy.privacy)
        proven = outcome.least_suppressed_rows
        return cls(engine, table, tuple(nodes), top_is_best, monotonic, proven, len(nodes) == lattice.size)

    def explanation(self) -> Explanation:
        context = self.table.context
        # Among equals take the most general node: generalization cannot lift what blocks that one.
        best = min(self.nodes, key=lambda node: (node.summary.suppressed_rows, -sum(node.summary.levels)))
        blocking = [
            BlockingModel(model=str(model), rows=rows)
            for model, rows in zip(self._policy.privacy, best.blocked_rows, strict=True)
            if rows
        ]
        return Explanation(
            node=context.lattice.named(best.summary.levels),
            row_count=context.row_count,
            allowed_rows=context.allowed_rows,
            suppressed_rows=best.summary.suppressed_rows,
            blocking_models=tuple(sorted(blocking, key=lambda model: -model.rows)),
            relaxations=(
                *self._of_suppression(),
                *self._of_k(),
                *self._of_thresholds(),
                *self._of_levels(),
                *self._of_loss(),
            ),
        )

    @property
    def _policy(self) -> Policy:
        return self.table.bound.policy

    @property
    def _proven(self) -> bool:
        """Whether no other node can do with a smaller change of a threshold."""
        return self.top_is_best or self.all_examined

    def _of_suppression(self) -> Iterator[Relaxation]:
        possible = [node.summary for node in self.nodes if node.summary.kept_class_count and not node.summary.rejected]
        if not possible:
            return
        best = min(possible, key=lambda summary: (summary.suppressed_rows, sum(summary.levels)))
        others = self.table.unknown.suppressed
        limit = share_of(best.suppressed_rows + others, self.table.context.row_count + others)
        proven = best.suppressed_rows <= self.least_suppressed_rows
        smallest = self.top_suppresses_least or self.all_examined or proven
        yield from self._checked(
            "suppression_limit", {"suppression_limit": limit}, best.levels, f"suppression_limit = {limit:g}", smallest
        )

    def _of_k(self) -> Iterator[Relaxation]:
        index = next((index for index, model in enumerate(self._policy.privacy) if isinstance(model, KAnonymity)), None)
        if index is None:
            return
        best = max(self.nodes, key=lambda node: node.best_k or 0)
        changes = self._with_threshold(index, "k", best.best_k or 0)
        yield from self._checked(
            "k", changes, best.summary.levels, f"k = {best.best_k}", self._proven, superlative="largest"
        )

    def _of_thresholds(self) -> Iterator[Relaxation]:
        levels = [node.summary.levels for node in self.nodes]
        found = [
            row
            for batch in examined_at_once(self.table, levels)
            for row in attainable_bounds(self.engine, self.table, batch)
        ]
        asked = [(index, model, bound) for index, model in enumerate(self._policy.privacy) for bound in model.bounds]
        for column, (index, model, bound) in enumerate(asked):
            borne = [
                (value, node) for row, node in zip(found, levels, strict=True) if (value := row[column]) is not None
            ]
            if not borne or isinstance(model, KAnonymity) or bounds_of_field(model.bounds, bound)[0] != bound:
                continue
            attained, node = (max if bound.at_least else min)(borne)
            field = threshold_field(bound)
            if field is None or field not in type(model).model_fields:  # k of NoAttack follows from its figures
                continue
            value = strictest_kept(model, bound, field, attained)
            if value is not None:
                yield from self._checked(
                    "threshold",
                    self._with_threshold(index, field, value),
                    node,
                    f"{field} = {value:g} of {model}",
                    self._proven and bound.grain == "class",
                    superlative="largest" if bound.at_least else "smallest",
                )

    def _of_levels(self) -> Iterator[Relaxation]:
        lattice, most = self.table.context.lattice, self._policy.maximum_levels
        enough = False
        for position, (name, height) in enumerate(zip(lattice.quasi_identifiers, lattice.heights, strict=True)):
            for level in range(lattice.top[position] + 1, height + 1):
                raised = with_level(lattice.top, position, level)
                changes = {"maximum_levels": {**most, name: level}}
                what = f'maximum level {level} of "{name}"'
                found = list(self._checked("maximum_levels", changes, raised, what, self.top_is_best))
                yield from found
                if found:
                    enough = True
                    break
        if not enough and lattice.top != lattice.heights:
            yield from self._checked(
                "maximum_levels", {"maximum_levels": {}}, lattice.heights, "leaving out maximum_levels", False
            )

    def _of_loss(self) -> Iterator[Relaxation]:
        if self._policy.max_loss is None:
            return
        context = self.table.context
        for levels in dict.fromkeys((context.lattice.bottom, context.lattice.top)):
            (summary,) = node_summaries(self.engine, self.table, [levels])
            loss = in_few_digits(self._policy.quality.loss_of(summary, context), ROUND_CEILING)
            smallest = levels == context.lattice.bottom
            found = list(self._checked("max_loss", {"max_loss": loss}, levels, f"max_loss = {loss:g}", smallest))
            yield from found
            if found:
                return

    def _with_threshold(self, index: int, field: str, value: float) -> dict[str, Any]:
        models = [model.model_dump(mode="json") for model in self._policy.privacy]
        models[index] = {**models[index], field: value}
        return {"privacy": models}

    def _checked(
        self,
        kind: RelaxationKind,
        changes: dict[str, Any],
        levels: Levels,
        what: str,
        smallest: bool,
        *,
        superlative: str = "smallest",
    ) -> Iterator[Relaxation]:
        try:
            relaxed = self.table.under(self._policy.changed(changes))
        except PolicyError:
            return
        if is_too_wide(relaxed.bound.policy, relaxed.context.lattice):
            return
        (summary,) = node_summaries(self.engine, relaxed, [levels])
        if not _satisfies(relaxed, summary):
            return
        node = self.table.context.lattice.named(levels)
        verdict = f"is the {superlative} that would do" if smallest else "would do"
        yield Relaxation(
            kind=kind,
            changes=changes,
            smallest=smallest,
            node=node,
            suppressed_rows=summary.suppressed_rows,
            sentence=f"{what} {verdict}: {_worded(node)}, {summary.suppressed_rows:,} rows suppressed",
        )


def _satisfies(table: EncodedTable, summary: NodeSummary) -> bool:
    """Return whether a run could publish the node; Inverse OLA also limits its loss and needs at least k = 2."""
    policy = table.bound.policy
    if not SearchProblem(policy.quality, table.context).satisfies(summary):
        return False
    if policy.max_loss is None:
        return True
    protects = policy.has_concealing or (summary.attainable is not None and summary.attainable >= 2)
    return protects and policy.quality.loss_of(summary, table.context) <= policy.max_loss + margin(policy.max_loss)


def _listed(models: Iterable[PrivacyModel]) -> str:
    return ", ".join(str(model) for model in models) or "nothing"


def _worded(node: dict[str, int]) -> str:
    return ", ".join(f"{name} {level}" for name, level in node.items())
