"""Full-domain generalization with suppression: one node of the lattice for the whole table.

The conversation between the search and the database: up go node summaries, down comes a node.
Source: Samarati 2001; El Emam et al. 2009; spec/ola.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlanon.compiler import evaluate, taxonomies
from sqlanon.compiler.bind import BoundPolicy
from sqlanon.compiler.cells import cell_counts, encode_rows, unmapped_people
from sqlanon.compiler.encode import LABEL_LOSSES, encode_labels, last_children, loss_steps
from sqlanon.compiler.encoding import Encoding, LossStep, encoding
from sqlanon.compiler.grouping import Grouping
from sqlanon.compiler.information import INFORMATION, encode_information, with_information
from sqlanon.compiler.keys import key_layout
from sqlanon.compiler.nodes import Relation, Step
from sqlanon.compiler.prepared import executing
from sqlanon.compiler.published import without_types
from sqlanon.compiler.release import EQUAL_ROWS
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError, TaxonomyError, UnsatisfiableError
from sqlanon.methods.roll_up import RolledUp, RollUps
from sqlanon.model.lattice import Asked, LevelLosses, Levels, LossContext, NodeSummary
from sqlanon.model.policy import Policy
from sqlanon.model.privacy import KAnonymity, MConcealing, PrivacyModel
from sqlanon.search import SEARCHES, Inquiry, Search, SearchOutcome, SearchProblem, SearchStopped
from sqlanon.search.problem import batches

Observer = Callable[[int, int, Inquiry], None]
"""Told before every batch how many nodes were checked, how many the lattice has, and what the search knows and asks."""

KEPT = Relation("anon_kept", "class")

APART = 20_000
"""Of more cells nodes are counted apart, and not in one GROUP BY: for fewer, a statement takes most of the time."""

PREPARED_NODES = 2
"""Of how many nodes big relations are counted at once, so that a thread has work while others end a node."""

NO_ROWS = dict.fromkeys(
    ("entropy", "lm", "ncp", "largest_lm", "largest_ncp", "least_information", "distinct_labels"), 0
)
"""What the levels of a table without rows lose."""


@dataclass(frozen=True)
class EncodedTable:
    """A source as cells, with what the losses of its nodes need."""

    plan: Encoding
    context: LossContext
    cell_count: int


def encode_table(
    engine: Engine, bound: BoundPolicy, *, label_losses: tuple[str, ...], may_be_empty: bool = False
) -> EncodedTable:
    """Read the rows once.

    Raises:
        PolicyError: the source has no rows, and may not be without.
        TaxonomyError: it has values that a taxonomy does not know.
    """
    plan = encode_taxonomies(engine, encoding(bound, label_losses=label_losses))
    for step in encode_rows(plan):
        engine.run(step)
    counts = engine.fetch(cell_counts(plan), "cells")[0]
    if counts["rows"] == 0 and not may_be_empty:
        raise PolicyError(f"{bound.description} has no rows: there is nothing to anonymize")
    if counts["unmapped"] > 0:
        _refuse_unmapped(engine, bound)
    _refuse_uncountable(bound, counts)
    if bound.population is not None:
        _refuse_unmapped_people(engine, plan)
    row_count = int(counts["rows"])
    losses = _level_losses(engine, plan)
    if INFORMATION in label_losses:
        plan = _with_information(engine, plan)
    context = LossContext(
        lattice=bound.lattice,
        losses=losses,
        row_count=row_count,
        allowed_rows=bound.policy.allowed_rows(row_count),
        k=bound.policy.k,
    )
    return EncodedTable(plan, context, int(counts["cells"]))


def encode_taxonomies(engine: Engine, plan: Encoding) -> Encoding:
    """Make the codes of all labels.

    Returns:
        the encoding with the layout of keys and with what labels lose.
    """
    for step in encode_labels(plan):
        engine.run(step)
    last = {
        (int(row["position"]), int(row["depth"])): int(row["last_child"])
        for row in engine.fetch(last_children(plan), "labels", "node")
    }
    plan = replace(plan, keys=key_layout(last))
    return _with_loss_steps(engine, plan, [name for name in plan.label_losses if name in LABEL_LOSSES])


def _with_information(engine: Engine, plan: Encoding) -> Encoding:
    """The encoding with the information of labels beside their codes, which takes the cells to know."""
    informed = with_information(plan)
    for step in encode_information(plan, informed.codes):
        engine.run(step)
    for relation in plan.codes:
        engine.drop(relation)
    return _with_loss_steps(engine, informed, [INFORMATION])


def _with_loss_steps(engine: Engine, plan: Encoding, measures: Sequence[str]) -> Encoding:
    """The encoding with what labels lose as step functions of their bits."""
    query = loss_steps(plan, measures)
    rows = [] if query is None else engine.fetch(query, "losses of labels", "node")
    steps: dict[tuple[str, int, int], list[LossStep]] = {}
    for row in sorted(rows, key=lambda row: tuple(row["last_bits"])):
        for measure in measures:
            place = (measure, row["position"], row["depth"])
            steps.setdefault(place, []).append((tuple(row["last_bits"]), row[measure]))
    return replace(plan, loss_steps={**plan.loss_steps, **{place: tuple(found) for place, found in steps.items()}})


def drop_tables(engine: Engine, table: EncodedTable) -> None:
    """Remove the temporary tables of these functions."""
    for relation in (EQUAL_ROWS, KEPT, *table.plan.relations):
        engine.drop(relation)
    for statement in without_types(table.plan):
        engine.execute(statement, "types of texts")


def choose_node(
    engine: Engine, table: EncodedTable, observer: Observer, stopped: Callable[[], bool] = lambda: False
) -> SearchOutcome:
    """Search the lattice for the satisfying node of least loss, or with Inverse OLA for the most private one.

    Args:
        engine: the database.
        table: the cells.
        observer: told of progress.
        stopped: asked after every batch whether to make do with the best node so far.

    Returns:
        the outcome, without a node if none satisfies the policy or none was found before the search was stopped.
    """
    policy = table.plan.bound.policy
    search = SEARCHES[policy.search](SearchProblem(policy.quality, table.context, policy.max_loss))
    return _answered(engine, table, search, observer, stopped)


def settled(engine: Engine, table: EncodedTable, best: NodeSummary) -> tuple[EncodedTable, NodeSummary]:
    """The table under the policy that is to be published: Inverse OLA asks for the most private one.

    Returns:
        the table, and the chosen node under that policy with all its measures, of which a search need not ask.

    Raises:
        UnsatisfiableError: the most private release within the loss protects nobody.
    """
    bound = table.plan.bound
    if best.attainable is None:
        return table, best if best.dm is not None else node_summaries(engine, table, [best.levels])[0]
    policy = bound.policy.model_copy(update={"privacy": _most_private(bound.policy, best.attainable)})
    plan = replace(table.plan, bound=replace(bound, policy=policy))
    reached = replace(table, plan=plan, context=replace(table.context, k=policy.k))
    return reached, node_summaries(engine, reached, [best.levels], as_asked=True)[0]


def node_summaries(
    engine: Engine,
    table: EncodedTable,
    batch: Sequence[Levels],
    cells: Relation | None = None,
    *,
    asked: Asked = "everything",
    as_asked: bool = False,
) -> list[NodeSummary]:
    """The summaries of a batch of nodes, in its order, from cells that are rolled up to a node below them if given.

    With Inverse OLA they also say how private a node can be made, unless they are wanted for the models ``as_asked``.
    """
    query = evaluate.node_summaries(
        table.plan,
        batch,
        table.context.row_count,
        cells=cells,
        asked=asked,
        attainable_within=None if as_asked else _attainable_within(table),
    )
    rows = engine.fetch(query, "nodes of the lattice", "node")
    return [NodeSummary(levels=batch[row.pop("node")], **row) for row in sorted(rows, key=lambda row: int(row["node"]))]


def keep_classes(engine: Engine, table: EncodedTable, levels: Levels) -> Relation:
    """Make the table of the classes that are kept at a node."""
    engine.run(Step(KEPT, evaluate.kept_classes(table.plan, levels), "kept classes"))
    return KEPT


def attained(engine: Engine, grouping: Grouping) -> list[float]:
    """What the classes that are kept attain in each bound of the privacy models, in the policy's order."""
    row = engine.fetch(evaluate.attained(grouping), "attained measures", "node")[0]
    return [row[f"attained_{index}"] for index in range(len(grouping.plan.bound.policy.bounds))]


def masked_rows_fall_short(engine: Engine, table: EncodedTable, levels: Levels) -> list[PrivacyModel]:
    """The privacy models that the suppressed rows of a node do not meet as one class of their own."""
    row = engine.fetch(evaluate.masked_class(table.plan, levels, KEPT.table), "masked rows", "class")[0]
    policy = table.plan.bound.policy
    attained = {bound.measure: row[f"attained_{index}"] for index, bound in enumerate(policy.bounds)}
    return [
        model for model in policy.privacy if not all(bound.met_by(attained[bound.measure]) for bound in model.bounds)
    ]


def _answered(
    engine: Engine, table: EncodedTable, search: Search, observer: Observer, stopped: Callable[[], bool]
) -> SearchOutcome:
    """Drive a search: give it the summaries of the nodes that it asks for until it returns, or is to return.

    What is made for it goes when it returns; if anything fails, the transaction takes it back: another statement would
    fail, too, and hide what did before.
    """
    checked = 0
    roll_ups = RollUps(
        engine, table.plan, table.context.row_count, table.cell_count, table.context.losses.distinct_labels
    )
    try:
        inquiry = next(search)
        while True:
            observer(checked, table.context.lattice.size, inquiry)
            summaries = rolled_up_summaries(engine, table, roll_ups, inquiry)
            if inquiry.asks != "loss":
                checked += len(inquiry.nodes)
            inquiry = search.send(summaries)
            if stopped():
                search.throw(SearchStopped())
    except StopIteration as finished:
        roll_ups.drop()
        outcome: SearchOutcome = finished.value
        return outcome


def rolled_up_summaries(engine: Engine, table: EncodedTable, roll_ups: RollUps, inquiry: Inquiry) -> list[NodeSummary]:
    """What is asked of some nodes, in their order, each from the smallest relation at hand."""
    found: dict[Levels, NodeSummary] = {}
    for source, nodes in roll_ups.statements(inquiry.nodes):
        is_big = source.row_count > APART
        can_be_prepared = inquiry.asks == "counts" or not table.plan.label_losses
        if can_be_prepared and (is_big or len(nodes) == 1):
            summaries = _counted_by_prepared(engine, table, source, nodes, inquiry.asks)
        elif is_big:
            summaries = [node_summaries(engine, table, [each], source.cells, asked=inquiry.asks)[0] for each in nodes]
        else:
            summaries = node_summaries(engine, table, nodes, source.cells, asked=inquiry.asks)
        found |= {summary.levels: summary for summary in summaries}
    answer = [found[levels] for levels in inquiry.nodes]
    roll_ups.learn(answer)
    return answer


def _counted_by_prepared(
    engine: Engine, table: EncodedTable, source: RolledUp, nodes: Sequence[Levels], asked: Asked
) -> list[NodeSummary]:
    """By queries that are planned once, a few nodes at a time: a search asks all of them for the same."""
    keys = table.plan.keys
    words = sorted(keys.node_masks(source.levels))
    summaries = []
    for few in batches(nodes, PREPARED_NODES):
        name = source.prepared_query(asked, len(few))
        if (asked, len(few)) not in source.prepared:
            within = _attainable_within(table)
            query = evaluate.any_node_summaries(
                table.plan, len(few), table.context.row_count, source.cells, words, asked, within
            )
            engine.prepare(name, query, "nodes of the lattice")
            source.prepared.add((asked, len(few)))
        masks = [keys.node_masks(levels).get(word, 0) for levels in few for word in words]
        rows = engine.fetch(executing(name, masks), "nodes of the lattice", "node")
        ordered = sorted(rows, key=lambda row: int(row["node"]))
        summaries += [NodeSummary(levels=few[row.pop("node")], **row) for row in ordered]
    return summaries


def _attainable_within(table: EncodedTable) -> int | None:
    """For Inverse OLA, how many rows may be suppressed where it is asked how private a node can be made.

    If every row may be, one class is still to be published: what it bears is what can be attained.
    """
    if table.plan.bound.policy.search != "inverse-ola":
        return None
    return min(table.context.allowed_rows, table.context.row_count - 1)


def _most_private(policy: Policy, attainable: float) -> tuple[PrivacyModel, ...]:
    """The policy's models with the largest k, or the smallest m, in place of what was asked for."""
    if policy.has_concealing:
        return tuple(
            model.model_copy(update={"m": min(model.m, 1 / attainable)}) if isinstance(model, MConcealing) else model
            for model in policy.privacy
        )
    if attainable < 2:
        raise UnsatisfiableError(
            f"the most private release within max_loss {policy.max_loss:g} has k = {attainable:g}:",
            ["it would protect nobody; raise max_loss or suppression_limit"],
        )
    return (KAnonymity(int(attainable)), *(model for model in policy.privacy if not isinstance(model, KAnonymity)))


def _level_losses(engine: Engine, plan: Encoding) -> LevelLosses:
    rows = engine.fetch(evaluate.level_losses(plan), "losses of levels", "node")
    found = {(row["position"], row["depth"]): row for row in rows}
    shapes = plan.bound.shapes
    width = len(shapes)
    unweighted = plan.bound.policy.row_weight is None

    def table(measure: str, scale: float) -> tuple[tuple[float, ...], ...]:
        return tuple(
            tuple(float(found.get((position, depth), NO_ROWS)[measure]) / scale for depth in range(shape.height + 1))
            for position, shape in enumerate(shapes)
        )

    prec = tuple(tuple(depth / max(shape.height, 1) / width for depth in range(shape.height + 1)) for shape in shapes)
    return LevelLosses(
        prec=prec,
        entropy=table("entropy", 1),
        lm=table("lm", width),
        ncp=table("ncp", width),
        distinct_labels=tuple(
            tuple(int(found.get((position, depth), NO_ROWS)["distinct_labels"]) for depth in range(shape.height + 1))
            for position, shape in enumerate(shapes)
        ),
        largest_lm=table("largest_lm", 1) if unweighted else (),
        largest_ncp=table("largest_ncp", 1) if unweighted else (),
        least_information=table("least_information", 1) if unweighted else (),
    )


def _refuse_unmapped(engine: Engine, bound: BoundPolicy) -> None:
    columns = (*bound.policy.quasi_identifiers, *bound.sensitive_shapes)
    query = taxonomies.unmapped_values(bound.source, columns, bound.taxonomy)
    gaps = engine.fetch(query, "values without a label")
    raise TaxonomyError(
        f"values of {bound.description} that their taxonomy does not know; values are compared as text, so check "
        "spelling, white space and type. The queries list them in a session that has the taxonomies:",
        [
            f'"{gap["attribute"]}": {gap["unmapped_values"]:,} distinct values in {gap["unmapped_rows"]:,} rows: '
            + taxonomies.listing(bound.source, gap["attribute"], bound.taxonomy, gap["attribute"])
            for gap in gaps
            if gap["unmapped_values"]
        ],
    )


def _refuse_unmapped_people(engine: Engine, plan: Encoding) -> None:
    people = engine.fetch(unmapped_people(plan), "the population")[0]["unmapped"]
    if people > 0:
        name = plan.bound.policy.population
        raise TaxonomyError(
            f'the population "{name}" has {people:,} people with a value that a taxonomy does not know',
            ["load taxonomies that cover it, with its values spelled as in the source"],
        )


def _refuse_uncountable(bound: BoundPolicy, counts: dict[str, int]) -> None:
    """Refuse weights that are none, and rows of nobody."""
    policy = bound.policy
    problems = []
    if counts.get("unweighted"):
        rows = counts["unweighted"]
        problems.append(f'"{policy.row_weight}": NULL, not positive or infinite in the cells of {rows:,} rows')
    if counts.get("anonymous"):
        problems.append(f'"{policy.individual}": NULL in {counts["anonymous"]:,} rows, which belong to no individual')
    if problems:
        raise PolicyError(f"the policy does not fit {bound.description}:", problems)
