"""The keys of a table and their classes: a class has the finest labels that all its rows share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.methods.local.class_labels import covering_classes
from sqlanon.methods.local.local_table import CLASS, KEY, KEYS, LEVELS, NUMBER, PARTS, LocalTable
from sqlanon.methods.local.peeling import TAKEN
from sqlanon.queries.class_measures import class_relation
from sqlanon.queries.encoding import EARLIER
from sqlanon.queries.joint_classes import IS_SHOWN, with_shown
from sqlanon.queries.kit.named import Queries, Role
from sqlanon.queries.kit.nodes import Relation, Step, aliased, column, number, select, subquery, union_all

OUT = -1
"""The class of keys that are left out; that of keys that are not in a class yet is 0."""

LOSSES = Relation("anon_class_losses", "class")  # by class mass, rows, the loss of its labels, and their numbers
MOVES = Relation("anon_moves", "cell")  # keys that change their class, and their new one
CHANGED = Relation("anon_changed_classes", "class")  # the classes that keys leave or join
MEMBERS = Relation("anon_members", "cell")  # the cells of classes without their keys
EQUAL = Relation("anon_equal_classes", "class")  # classes whose labels others have, too, and the first of these

DESCRIBED = {LEVELS: "levels_of_classes", LOSSES: "class_losses"}
"""The queries by which levels and losses of :data:`CHANGED` are found."""


class Parts:
    """The classes of a table in the database: :data:`PARTS`, :data:`LEVELS`, :data:`LOSSES`."""

    def __init__(self, table: LocalTable) -> None:
        self.table, self.engine = table, table.engine
        self.sql = Queries("settling", table.roles).given(
            cells=table.cells,
            parts=PARTS,
            levels=LEVELS,
            losses=LOSSES,
            moves=MOVES,
            changed=CHANGED,
            equal=EQUAL,
            values=[f"anon_value_{word}" for word, _ in enumerate(table.words)],
            differences=[f"anon_difference_{word}" for word, _ in enumerate(table.words)],
            bottom=number([*table.lattice.bottom]),
            top=number([*table.lattice.top]),
            width=len(table.lattice.heights),
        )

    @classmethod
    def of_taken(cls, table: LocalTable) -> Parts:
        """Make the tables from the keys that peeling took."""
        parts = cls(table)
        parts.make(PARTS, "classes_of_keys", taken=TAKEN)
        parts.describe()
        return parts

    def make(self, relation: Relation, name: str, **roles: Role) -> None:
        """Make a relation by a query, in place of the one that was made before, which the query may read."""
        self.put(self.sql.step(relation, name, **roles))

    def put(self, step: Step) -> None:
        """Make the relation of a step in the same way."""
        self.engine.run(replace(step, is_again=True))

    def describe(self, *relations: Relation) -> None:
        """Find out the finest labels of all classes, and what they lose; or some of these relations alone."""
        self.make(CHANGED, "all_classes")
        for relation in relations or DESCRIBED:
            self.make(relation, DESCRIBED[relation])

    def move(self, moves: exp.Query) -> tuple[int, int]:
        """Give keys other classes (:data:`MOVES`), and describe the classes that change (:data:`CHANGED`).

        Args:
            moves: each key once (``anon_key``), with its new class.

        Returns:
            how many keys these are, and how many rows they have.
        """
        self.put(Step(MOVES, moves, "keys that move"))
        moved = self.engine.fetch(self.sql.query("moved_rows"), "keys that move", "count")[0]
        if not moved["keys"]:
            return 0, 0
        self.make(CHANGED, "changed_classes")
        self.make(PARTS, "moved")
        for relation, name in DESCRIBED.items():
            is_changed = exp.Where(this=column(CLASS).isin(query=select([column(CLASS)], CHANGED.table)))
            self.engine.execute(exp.Delete(this=relation.table, where=is_changed), "classes that change")
            self.add(relation, self.sql.query(name), "classes that change")
        return int(moved["keys"]), int(moved["rows"])

    def add(self, relation: Relation, query: exp.Query, purpose: str) -> None:
        """Add rows to a relation."""
        self.engine.execute(exp.Insert(this=relation.table, expression=query), purpose)

    def count(self, classes: Relation) -> int:
        """Count the classes of a relation."""
        query = self.sql.query("class_count", classes=classes)
        return int(self.engine.fetch(query, "classes", "count")[0]["classes"])

    def rows_of(self, *classes: int) -> tuple[int, int]:
        """Count the keys and the rows of some classes."""
        query = self.sql.query("rows_of_class", classes=list(map(number, classes)))
        row = self.engine.fetch(query, "rows of classes", "count")[0]
        return int(row["keys"]), int(row["rows"])

    # Classes that are judged

    def make_members(self) -> None:
        """Make :data:`MEMBERS`."""
        encoding = self.table.encoding
        others = [name for name in self.table.carried if name in (*encoding.sensitive_labels, NUMBER)]
        self.make(MEMBERS, "members", distinguishing=encoding.distinguishing, others=others)

    def cells_of(self, groups: exp.Query, keys: Sequence[str], member: str = CLASS) -> exp.Select:
        """Cells of groups, which some columns identify; a group has the classes of another one, or keys."""
        members, key = (self.table.cells, KEY) if member == KEY else (MEMBERS, CLASS)
        sql = self.sql.given(groups=groups, group_keys=keys, members=members, member=member, key=key)
        return sql.query("cells_of_groups", carried=self.table.carried)

    def met(self, keys: Sequence[str], *cells: exp.Query) -> exp.Select:
        """The groups of cells that meet all bounds, by their keys."""
        classes = self.table.classes(union_all(cells), keys)
        return select(map(column, keys), subquery(classes, "anon_classes")).where(self.table.is_met(), copy=False)

    # Classes that become one, classes that are hidden, and classes that are listed

    def merge(self) -> None:
        """Make one class of all that have the same labels; if it fails a bound, its keys are in no class again."""
        self.make(EQUAL, "equal_classes")
        if not self.count(EQUAL):
            return
        met = self.sql.query("all_equal")
        if not self.table.is_monotonic:
            self.make_members()
            equal = select([column(CLASS), column("anon_first")], EQUAL.table)
            met = self.met(["anon_first"], self.cells_of(equal, ["anon_first"]))
        self.move(self.sql.query("merges", met=met))

    def hide(self) -> None:
        """Leave the smallest class of each joint class of earlier releases out, or all, if those whom it hides fail."""
        cells = self.sql.query("cells_of_classes", carried=self.table.encoding.carried, joint=EARLIER)
        grouping = replace(self.table.grouping(cells, []), keys=(CLASS, EARLIER))
        is_in = exp.GT(this=column(CLASS), expression=number(0))
        classes = class_relation(grouping, with_keys=True)
        shown = with_shown(grouping, classes, is_in, lambda of: [aliased(column(EARLIER, of), EARLIER)])
        hidden = select([column(CLASS)], subquery(shown, "anon_shown"))
        hidden.where(is_in.copy(), exp.not_(column(IS_SHOWN)), copy=False)
        self.move(self.sql.query("hidden", hidden=hidden))

    def cover(self) -> int:
        """Put each key into the class that covers it with the least loss; leave out classes that fail a bound then.

        Returns:
            the rows that no class covers.
        """
        before, now = -1, self.count(LEVELS)
        while now != before:
            keys = select(map(column, self.table.words), KEYS.table)
            covered = covering_classes(self.table.encoding, keys, self.sql.query("labels_of_levels"))
            self.make(PARTS, "covered_keys", covered=covered)
            self.make_members()
            met = self.met([CLASS], select([column(CLASS), *map(column, self.table.carried)], MEMBERS.table))
            self.make(LEVELS, "held_levels", met=met)
            before, now = now, self.count(LEVELS)
        self.describe(LOSSES)
        return self.rows_of(0, OUT)[1]
