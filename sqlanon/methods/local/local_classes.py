"""Find the classes of a table under its policy, and read those of an earlier release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.duckdb import Compute
from sqlanon.errors import UnsatisfiableError
from sqlanon.joint.persons import EarlierRelease
from sqlanon.methods.local.class_labels import OF_CLASS, PerClass, make_classes, without_numbers
from sqlanon.methods.local.local_table import CLASS, UNITS, LocalTable
from sqlanon.methods.local.peeling import TAKEN, Peeling, Watch
from sqlanon.methods.local.settling import Parts, settle, settle_or_stay
from sqlanon.nodes.table import EncodedTable, encode_table
from sqlanon.queries.encoding import CellSpec
from sqlanon.queries.kit.nodes import all_of, column, left_join, same, select
from sqlanon.queries.released_classes import ClassesOfKeys, ListedClasses, ReleasedClasses, carried_columns

HELP = "what can help: a larger suppression_limit, a smaller k, or fewer releases in earlier"
ROUNDS = 10  # of trying classes for future rows: uncovered rows join some, whose new labels then cover others too


@dataclass(frozen=True)
class LocalClasses:
    """The summary of a local recoding, whose classes are in ``PARTS``, ``LEVELS`` and ``LOSSES``."""

    class_count: int
    loss: float  # the mean over rows, by mass, and quasi-identifiers, by shares; left-out rows lose 1
    left_out: int  # rows
    used_nodes: int  # combinations of levels that classes have
    level_shares: Sequence[Sequence[float]]  # by quasi-identifier and level, the share of rows in classes
    label_counts: Sequence[int]  # by quasi-identifier
    minimality: tuple[int, int]  # the rows that peeling gives away (:meth:`Peeling.take`)
    checked_nodes: int
    is_final: bool  # False if peeling was stopped, so that labels could be finer
    lower_bound: float | None = None  # of the loss of any recoding
    loss_alone: float | None = None  # without the earlier releases


def found_classes(engine: Compute, source: EncodedTable, watch: Watch) -> LocalClasses:
    """Make the classes of a table; beside earlier releases several may have the same labels."""
    policy, context, has_earlier = source.bound.policy, source.context, source.encoding.spec.earlier is not None

    def no_classes(*reasons: str) -> UnsatisfiableError:
        heading = f"no classes meet the privacy models with at most {context.allowed_rows:,} rows suppressed:"
        return UnsatisfiableError(heading, [f"required: {', '.join(map(str, policy.privacy))}", *reasons])

    table = LocalTable(engine, source)
    table.make()
    minimality = Peeling(table, watch).take()
    parts = Parts(table)
    parts.make("parts", "classes_of_keys", taken=TAKEN)
    parts.describe()
    if stuck := settle(parts, context.allowed_rows, watch):
        rows = f"{stuck:,} of {context.row_count:,} rows do not meet them even all together"
        raise no_classes(f"{rows} with others of the same joint class", HELP) if has_earlier else no_classes(rows)
    if has_earlier:
        parts.hide()
    found = described(parts, minimality, watch)
    watch.finish(found.left_out)
    if context.row_count and not found.class_count:
        raise no_classes("no class would be left")
    if has_earlier and found.left_out > context.allowed_rows:
        which = "joint class of earlier releases whose persons are no longer all there, or are too few"
        hidden = f"{found.left_out:,} rows are hidden: {policy.criteria.k:,} persons at least of each {which}"
        if policy.criteria.looks_at_values:
            hidden += ", or have values that do not meet the models"
        raise no_classes(hidden, HELP)
    return found


def covering_classes_of(engine: Compute, source: EncodedTable, watch: Watch) -> LocalClasses:
    """Make classes that still hold when each row, present or future, goes to its class of least loss.

    Peeling gives a key the class of the first node that takes it, but another class may cover it at less loss; if the
    key goes there, its own class may fall short. Such classes are left out, and uncovered keys settle as after peeling.
    More rows than allowed are left out if no better classes are found.
    """
    minimality, parts = found_classes(engine, source, watch).minimality, Parts(LocalTable(engine, source))
    allowed_rows = source.context.allowed_rows
    for turn in range(ROUNDS):
        uncovered = parts.cover()
        if uncovered <= allowed_rows or turn == ROUNDS - 1 or not settle_or_stay(parts, allowed_rows, watch):
            break
    classes = described(parts, minimality, watch)
    if not classes.class_count:
        heading = "no class meets the privacy models once each row goes to the one with the least loss:"
        raise UnsatisfiableError(heading, [f"required: {', '.join(map(str, source.bound.policy.privacy))}"])
    return classes


def described(parts: Parts, minimality: tuple[int, int], watch: Watch) -> LocalClasses:
    engine, heights = parts.engine, parts.table.lattice.heights
    row = engine.fetch(parts.sql.query("described_classes"), "what classes lose", "count")[0]
    rows, labels = [[0] * (height + 1) for height in heights], [0] * len(heights)
    for each in engine.fetch(parts.sql.query("level_rows"), "levels of rows", "node"):
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


@dataclass(frozen=True)
class KeyedClasses(ListedClasses, ClassesOfKeys):
    recoding: PerClass  # the classes of keys, with their labels

    def join_to_keys(self, query: exp.Select, table: str) -> exp.Select:
        return _with_number(self, self.recoding.join_classes(query, table))


def rows_made_again(engine: Compute, release: EarlierRelease, spec: CellSpec, classes: ListedClasses) -> exp.Select:
    """Select the source rows of an earlier release with the number of their class, by making its classes again.

    Its cells are split by what earlier releases show, and a table has the classes that it shows. If no classes meet its
    policy, its source has changed, which is an UnsatisfiableError.
    """
    table = encode_table(engine, release.bound, spec, label_losses=())
    found = found_classes(engine, table, Watch())
    recoding = PerClass(without_numbers(table).encoding, spec.earlier)
    make_classes(engine, recoding, found.left_out, masks=False)
    source = exp.alias_(spec.source.copy(), "anon_source", table=True)
    query = select(carried_columns(release.keys, {}, as_text=release.as_text), source)
    return _with_number(classes, recoding.join_classes_to_source(query, "anon_source"))


def _with_number(classes: ReleasedClasses, query: exp.Select) -> exp.Select:
    query = left_join(query, OF_CLASS.copy(), column(CLASS, "anon_of_class").eq(column(CLASS, "anon_of_key")))
    name = classes.relation.name
    labels = (same(column(label, name), column(label, "anon_of_class")) for label in classes.labels.values())
    is_in_one = exp.Not(this=column(CLASS, "anon_of_class").is_(exp.null()))
    return classes.join_to(query, name, all_of([is_in_one, *labels]))
