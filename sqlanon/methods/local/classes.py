"""The classes that peeling finds for a table under its policy, beside earlier releases or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlanon.engines.duckdb import Compute
from sqlanon.methods.local.parts import LOSSES, PARTS, SQL, Parts
from sqlanon.methods.local.peeling import Minimality, Peeling
from sqlanon.methods.local.recoding import LEVELS
from sqlanon.methods.local.refusals import no_classes
from sqlanon.methods.local.settling import UnsettledError, settle
from sqlanon.methods.local.table import UNITS, LocalTable, ordered_nodes
from sqlanon.methods.local.watching import Watch
from sqlanon.methods.shared.cells import EncodedTable

HELP = "what can help: a larger suppression_limit, a smaller k, or fewer releases in earlier"


@dataclass(frozen=True)
class LocalClasses:
    """The classes of a local recoding, which tables of the run have: :data:`PARTS`, :data:`LEVELS`, :data:`LOSSES`.

    Attributes:
        class_count: how many classes there are.
        loss: the mean loss of rows, by mass, and of quasi-identifiers, by their shares; rows that are left out lose 1.
        left_out: how many rows are left out.
        used_nodes: how many combinations of levels classes have.
        level_shares: by quasi-identifier, the share of the rows in classes whose label is of each level.
        label_counts: how many labels each quasi-identifier has.
        minimality: what the order of the nodes gives away.
        checked_nodes: how many nodes were looked at.
        is_final: False if peeling was stopped, so that labels could be finer.
    """

    class_count: int
    loss: float
    left_out: int
    used_nodes: int
    level_shares: Sequence[Sequence[float]]
    label_counts: Sequence[int]
    minimality: Minimality
    checked_nodes: int
    is_final: bool


def found_classes(engine: Compute, source: EncodedTable, watch: Watch) -> LocalClasses:
    """Make the classes of a table; beside earlier releases several may have the same labels.

    Args:
        engine: the database.
        source: the cells.
        watch: follows the search.

    Raises:
        UnsatisfiableError: none meet the policy within its suppression limit.
    """
    policy, context, has_earlier = source.bound.policy, source.context, source.encoding.spec.earlier is not None
    table = LocalTable.of(engine, source)
    minimality = Peeling(table, ordered_nodes(table), watch).take()
    parts = Parts.of_taken(table)
    try:
        settle(parts, context.allowed_rows, watch)
    except UnsettledError as error:
        rows = f"{error.rows:,} of {context.row_count:,} rows do not meet them even all together"
        if has_earlier:
            raise no_classes(policy, context, f"{rows} with others of the same joint class", HELP) from None
        raise no_classes(policy, context, rows) from None
    if has_earlier:
        parts.hide()
    found = described(table, minimality, watch)
    watch.finish(found.left_out)
    if context.row_count and not found.class_count:
        raise no_classes(policy, context, "no class would be left")
    if has_earlier and found.left_out > context.allowed_rows:
        which = "joint class of earlier releases whose persons are no longer all there, or are too few"
        hidden = f"{found.left_out:,} rows are hidden: {policy.criteria.k:,} persons at least of each {which}"
        if policy.criteria.looks_at_values:
            hidden += ", or have values that do not meet the models"
        raise no_classes(policy, context, hidden, HELP)
    return found


def described(table: LocalTable, minimality: Minimality, watch: Watch) -> LocalClasses:
    """What the classes of a table are."""
    engine = table.engine
    row = engine.fetch(
        SQL.query("described_classes", parts=PARTS, losses=LOSSES, levels=LEVELS), "what classes lose", "count"
    )[0]
    heights = table.lattice.heights
    rows = [[0] * (height + 1) for height in heights]
    labels = [0] * len(heights)
    query = SQL.query("level_rows", levels=LEVELS, losses=LOSSES)
    for each in engine.fetch(query, "levels of rows", "node"):
        rows[each["position"]][each["depth"]] = each["rows"]
        labels[each["position"]] = each["labels"]
    return LocalClasses(
        class_count=int(row["classes"]),
        loss=int(row["lost"] + UNITS * row["out_mass"]) / (UNITS * max(int(row["mass"]), 1)),
        left_out=int(row["out_rows"]),
        used_nodes=int(row["nodes"]),
        level_shares=[[count / max(sum(of), 1) for count in of] for of in rows],
        label_counts=labels,
        minimality=minimality,
        checked_nodes=watch.checked_nodes,
        is_final=not watch.is_stopped,
    )


def without_numbers(table: EncodedTable) -> EncodedTable:
    """The same cells for what asks for labels alone: the key of a cell finds its class, and has the number in it."""
    spec = replace(table.encoding.spec, earlier=None, shown_values=())
    return replace(table, encoding=replace(table.encoding, spec=spec, has_raw_values=table.encoding.holds_release))
