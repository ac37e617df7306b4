"""Classes of keys, and the keys that peeling leaves: these join classes, are left out, or form a class at the top.

A class has the finest labels that all its rows share. Keys join classes in rounds: every key chooses the class whose
loss rises least. Under monotonic models a class takes all keys that choose it, but only a share of the keys joins per
round; under others it takes as many as it can, least rise first. Then the rises are recomputed for changed classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.methods.local.class_labels import covering_classes
from sqlanon.methods.local.local_table import CLASS, KEY, KEYS, LEVELS, NUMBER, PARTS, LocalTable
from sqlanon.methods.local.peeling import Watch
from sqlanon.model.criteria import CLASS_SIZE
from sqlanon.queries.class_measures import class_relation, within
from sqlanon.queries.encoding import EARLIER
from sqlanon.queries.grouping import measure_of
from sqlanon.queries.joint_classes import IS_SHOWN, with_shown
from sqlanon.queries.kit.named import Queries, Role
from sqlanon.queries.kit.nodes import Relation, Step, aliased, column, double, f, number, select, subquery, union_all

FIRST_TRIALS = 32  # how many classes of least loss a key tries at first
GROWTH = 8  # the factor by which that number grows
PAIR_ROWS = 20_000_000  # the maximum of keys times classes times quasi-identifiers in one statement
MAX_DISSOLVED = 16  # maximum number of classes to dissolve at once: each changes which one should be next
LARGEST_EXCESS = 1e6  # the excess over a bound that stands for an infinite one

TOGETHER = 16
"""One in this many open keys joins per round, under monotonic models.

The others may lose less in a class that these have generalized: at k = 50 ARX's Adult loses .1596 in place of .1600.
"""

OUT = -1  # the class of left-out keys; 0 is that of open keys

LENGTH = "anon_length"
OTHER = "anon_other"
MEMBER = "anon_member"

TABLES = {
    "parts": PARTS,
    "levels": LEVELS,
    "losses": Relation("anon_class_losses", "class"),  # by class the mass, rows, loss of its labels, and their numbers
    "moves": Relation("anon_moves", "cell"),  # keys that change their class, and the new one
    "changed": Relation("anon_changed_classes", "class"),  # the classes that keys leave or join
    "members": Relation("anon_members", "cell"),  # the cells of classes without their keys
    "equal": Relation("anon_equal_classes", "class"),  # classes that share their labels, and the first of each group
    "every": Relation("anon_all_classes", "class"),
    "kept_parts": Relation("anon_parts_kept", "cell"),
    "kept_levels": Relation("anon_levels_of_classes_kept", "class"),
    "left_keys": Relation("anon_left_keys", "cell"),  # the open keys, numbered from 1 in their order
    "left_values": Relation("anon_left_values", "cell"),  # by open key and quasi-identifier, the bits of its value
    "meetings": Relation("anon_meetings", "node"),  # by class label and value, the loss of the label above both
    "candidates": Relation("anon_candidates", "cell"),  # open keys and classes they may join, with the rise of the loss
    "chosen": Relation("anon_chosen", "cell"),  # by key the class of least rise, and the key's place among its others
    "tops": Relation("anon_tops_of_keys", "cell"),  # by key the first key under the label of the top
    "excesses": Relation("anon_excesses", "class"),  # the relative excess over bounds of each group, summed
    "at_top": Relation("anon_keys_at_top", "cell"),  # the keys that form a class at a label of the top
    "failing": Relation("anon_failing_classes", "class"),  # the classes at the top that violate a bound
    "near": Relation("anon_near_classes", "class"),  # by such a class the others under its label of the top
    "nearest": Relation("anon_nearest_classes", "class"),  # some of these, in the order in which they are dissolved
}
"""The tables of classes, by their roles in queries."""


class Parts:
    """The keys of a table in their classes, in the first tables of :data:`TABLES`.

    ``described`` are the tables that are kept of the labels of classes: their levels, and what they lose.
    """

    def __init__(self, table: LocalTable, described: Sequence[str] = ("levels", "losses")) -> None:
        self.table, self.engine, self._described = table, table.engine, described
        words = range(len(table.words))
        self.sql = Queries("settling", table.sql.roles).given(
            **TABLES,
            cells=table.cells,
            values=[f"anon_value_{word}" for word in words],
            differences=[f"anon_difference_{word}" for word in words],
            bottom=number([*table.lattice.bottom]),
            top=number([*table.lattice.top]),
            width=len(table.lattice.heights),
        )

    def make(self, name: str, query: str = "", **roles: Role) -> None:
        self.engine.run(replace(self.sql.step(TABLES[name], query or name, **roles), is_again=True))

    def put(self, name: str, query: exp.Query, purpose: str) -> None:
        self.engine.run(Step(TABLES[name], query, purpose, is_again=True))

    def add(self, name: str, query: exp.Query, purpose: str) -> None:
        self.engine.execute(exp.Insert(this=TABLES[name].table, expression=query), purpose)

    def describe(self, *names: str) -> None:
        """Compute the finest labels and the losses of all classes, or only one of both."""
        self.make("changed", "all_classes")
        for name in names or self._described:
            self.make(name)

    def move(self, moves: exp.Query) -> tuple[int, int]:
        """Move keys to new classes (``moves``), and describe the classes that change (``changed``).

        Returns the numbers of moved keys and of their rows.
        """
        self.put("moves", moves, "keys that move")
        moved = self.engine.fetch(self.sql.query("moved_rows"), "keys that move", "count")[0]
        if not moved["keys"]:
            return 0, 0
        self.make("changed", "changed_classes")
        self.make("parts", "moved")
        for name in self._described:
            is_changed = exp.Where(this=column(CLASS).isin(query=select([column(CLASS)], TABLES["changed"].table)))
            self.engine.execute(exp.Delete(this=TABLES[name].table, where=is_changed), "classes that change")
            self.add(name, self.sql.query(name), "classes that change")
        return int(moved["keys"]), int(moved["rows"])

    def count(self, name: str) -> int:
        query = self.sql.query("class_count", classes=TABLES[name])
        return int(self.engine.fetch(query, "classes", "count")[0]["classes"])

    def rows_of(self, *classes: int) -> tuple[int, int]:
        query = self.sql.query("rows_of_class", classes=list(map(number, classes)))
        row = self.engine.fetch(query, "rows of classes", "count")[0]
        return int(row["keys"]), int(row["rows"])

    # Judging classes

    def make_members(self) -> exp.Select:
        """Make ``members``, and select the cells of all classes."""
        encoding = self.table.encoding
        others = [name for name in self.table.carried if name in (*encoding.sensitive_labels, NUMBER)]
        self.make("members", distinguishing=encoding.distinguishing, others=others)
        return select([column(CLASS), *map(column, self.table.carried)], TABLES["members"].table)

    def cells_of(self, groups: exp.Query, keys: Sequence[str], member: str = CLASS) -> exp.Select:
        """Select the cells of groups, which ``keys`` identify; a group consists of classes or of keys (``member``)."""
        members, key = (self.table.cells, KEY) if member == KEY else (TABLES["members"], CLASS)
        sql = self.sql.given(groups=groups, group_keys=keys, members=members, member=member, key=key)
        return sql.query("cells_of_groups", carried=self.table.carried)

    def met(self, keys: Sequence[str], *cells: exp.Query) -> exp.Select:
        classes = self.table.classes(union_all(cells), keys)
        return select(map(column, keys), subquery(classes, "anon_classes")).where(self.table.is_met(), copy=False)

    def measure(self, keys: Sequence[str], cells: exp.Query) -> None:
        encoding = self.table.encoding
        excess: exp.Expr = exp.case().when(self.table.is_met(), double(0.0)).else_(double(1e-9))
        for bound in encoding.criteria.class_bounds:
            measure, threshold = measure_of(encoding, bound), double(float(bound.threshold))
            if bound.measure == CLASS_SIZE:
                excess += f.greatest(threshold - measure, double(0.0)) / threshold
                continue
            distance = f.abs(measure - threshold) / threshold
            limited = f.coalesce(f.least(distance, double(LARGEST_EXCESS)), double(LARGEST_EXCESS))
            met = f.coalesce(within(encoding, [bound]), exp.false())
            excess += exp.case().when(met, double(0.0)).else_(limited)
        classes = subquery(class_relation(self.table.grouping(cells, keys), with_keys=True), "anon_classes")
        query = select([*map(column, keys), aliased(excess, "anon_excess")], classes)
        self.put("excesses", query, "excesses over bounds")

    # Merging, hiding and listing classes

    def merge(self) -> None:
        self.make("equal")
        if not self.count("equal"):
            return
        met = self.sql.query("all_equal")
        if not self.table.is_monotonic:
            self.make_members()
            equal = select([column(CLASS), column("anon_first")], TABLES["equal"].table)
            met = self.met(["anon_first"], self.cells_of(equal, ["anon_first"]))
        self.move(self.sql.query("merges", met=met))

    def hide(self) -> None:
        """Leave out the smallest class of each joint class of earlier releases, or all if their hidden persons fail."""
        cells = self.sql.query("cells_of_classes", carried=self.table.encoding.carried, joint=EARLIER)
        grouping = replace(self.table.grouping(cells, []), keys=(CLASS, EARLIER))
        is_in = exp.GT(this=column(CLASS), expression=number(0))
        classes = class_relation(grouping, with_keys=True)
        shown = with_shown(grouping, classes, is_in, lambda of: [aliased(column(EARLIER, of), EARLIER)])
        hidden = select([column(CLASS)], subquery(shown, "anon_shown"))
        hidden.where(is_in.copy(), exp.not_(column(IS_SHOWN)), copy=False)
        self.move(self.sql.query("hidden", hidden=hidden))

    def cover(self) -> int:
        """Assign each key to its covering class of least loss, and leave out classes that then fail a bound.

        Returns the rows that no class covers.
        """
        before, now = -1, self.count("levels")
        while now != before:
            keys = select(map(column, self.table.words), KEYS.table)
            covered = covering_classes(self.table.encoding, keys, self.sql.query("labels_of_levels"))
            self.make("parts", "covered_keys", covered=covered)
            self.make("levels", "held_levels", met=self.met([CLASS], self.make_members()))
            before, now = now, self.count("levels")
        self.describe("losses")
        return self.rows_of(0, OUT)[1]


def settle(parts: Parts, allowed_rows: int, watch: Watch) -> int:
    """Place or leave out the open keys, and merge classes of equal labels.

    Returns the rows that fail the bounds even all together at the top, whose keys stay open; else 0.
    """
    _join(parts, watch)
    while True:
        if parts.rows_of(0)[0] and (stuck := _gather(parts, allowed_rows)):
            return stuck
        parts.merge()
        if not parts.rows_of(0)[0]:
            return 0


def settle_or_stay(parts: Parts, allowed_rows: int, watch: Watch) -> bool:
    """Settle, or restore all classes if some rows find no place; return whether they found one."""
    for name in ("parts", "levels"):
        parts.put(f"kept_{name}", select([exp.Star()], TABLES[name].table), "classes of keys")
    parts.describe()
    if not settle(parts, allowed_rows, watch):
        return True
    for name in ("parts", "levels"):
        parts.put(name, select([exp.Star()], TABLES[f"kept_{name}"].table), "classes of keys")
    parts.describe("losses")
    return False


def _join(parts: Parts, watch: Watch) -> None:
    left, _ = parts.rows_of(0)
    if not left:
        return
    parts.make("every", "all_classes")
    count, last = parts.count("every"), FIRST_TRIALS
    parts.put("candidates", _candidates(parts, left, "every", count, 0, last), "classes for keys")
    while left and not (watch.is_stopped and not parts.table.is_monotonic):
        keys, rows = parts.move(_choices(parts, left))
        if keys:
            left -= keys
            watch.left_rows -= rows
            parts.make("candidates", "other_candidates")
            found = _candidates(parts, left, "changed", parts.count("changed"), 0, last)
        elif last >= count:
            return
        else:
            found = _candidates(parts, left, "every", count, last, last * GROWTH)
            last *= GROWTH
        parts.add("candidates", found, "classes for keys")
        watch.look()


def _candidates(parts: Parts, left: int, classes: str, count: int, first: int, last: int) -> exp.Query:
    among = TABLES[classes]
    parts.make("left_keys")
    parts.make("left_values")
    parts.make("meetings", classes=among)
    sql = parts.sql.given(classes=among, first=first, last=last)
    per = max(PAIR_ROWS // max(count * len(parts.table.lattice.heights), 1), 1)
    return union_all(sql.query("candidates", after=at, until=at + per) for at in range(0, max(left, 1), per))


def _choices(parts: Parts, left: int) -> exp.Query:
    if parts.table.is_monotonic:
        parts.make("chosen")
        return parts.sql.query("first_choices", most=1 + left // TOGETHER)

    def met(classes: exp.Query, by: Sequence[str], keys: exp.Query) -> exp.Query:
        return parts.met(by, parts.cells_of(classes, by), parts.cells_of(keys, by, KEY))

    parts.make_members()
    pairs = select([column(KEY), column(CLASS)], TABLES["candidates"].table)
    parts.make("candidates", "fitting_candidates", fits=met(pairs, [KEY, CLASS], pairs.copy()))
    parts.make("chosen")
    lengths = parts.sql.query("lengths")
    keys = parts.sql.query("in_lengths", lengths=lengths, member=[KEY])
    return parts.sql.query("longest_choices", met=met(lengths, [CLASS, LENGTH], keys))


def _gather(parts: Parts, allowed_rows: int) -> int:
    """Form classes at the labels of the top; leave some keys out, and dissolve other classes to fill failing ones.

    Returns the rows under labels of the top that fail the bounds even all together.
    """
    table, sql = parts.table, parts.sql
    parts.make("tops", top_masks=[*map(number, table.masks(table.lattice.top))])
    parts.measure(["anon_top"], sql.query("cells_at_top", carried=table.carried))
    parts.move(sql.query("left_out", allowed=allowed_rows - parts.rows_of(OUT)[1]))
    parts.make("at_top")
    parts.move(select([column(KEY), column(CLASS)], TABLES["at_top"].table))
    while True:
        parts.measure([CLASS], parts.make_members())
        parts.make("failing")
        parts.make("near")
        found = parts.engine.fetch(sql.query("failing_rows"), "classes that fail", "count")[0]
        if found["rows"] or not found["classes"]:
            return int(found["rows"])
        # Dissolve the classes that add the least loss per closeness gained.
        pairs = sql.query("pairs_with_others")
        parts.measure([CLASS, OTHER], parts.cells_of(pairs, [CLASS, OTHER], MEMBER))
        parts.make("nearest", most=MAX_DISSOLVED)
        lengths = sql.query("lengths", chosen=TABLES["nearest"])
        others = sql.query("in_lengths", lengths=lengths, chosen=TABLES["nearest"], member=[OTHER])
        together = sql.query("with_itself", together=others, lengths=lengths)
        parts.measure([CLASS, LENGTH], parts.cells_of(together, [CLASS, LENGTH], MEMBER))
        parts.move(sql.query("dissolved"))
