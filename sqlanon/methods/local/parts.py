"""The keys of a table and their classes: a class has the finest labels that all its rows share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.methods.local.listing import covering_classes
from sqlanon.methods.local.peeling import TAKEN
from sqlanon.methods.local.recoding import CLASS, LEVELS
from sqlanon.methods.local.table import KEY, KEYS, LABELS, NUMBER, LocalTable
from sqlanon.queries.cells.encoding import EARLIER, ROW_COUNT
from sqlanon.queries.classes.classes import class_relation
from sqlanon.queries.classes.earlier import IS_SHOWN, with_shown
from sqlanon.queries.kit.named import Queries
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    bits,
    column,
    number,
    select,
    subquery,
    union_all,
)

SQL = Queries("settling")

OUT = -1
"""The class of keys that are left out; that of keys that are not in a class yet is 0."""

PARTS = Relation("anon_parts", "cell")
"""The keys (:data:`KEYS`), and the class of each."""

LOSSES = Relation("anon_class_losses", "class")
"""By class its mass, its rows, the loss of its labels, and their numbers (``anon_labels``)."""

MOVES = Relation("anon_moves", "cell")
"""Keys that change their class, and their new one."""

CHANGED = Relation("anon_changed_classes", "class")
"""The classes that keys leave or join."""

MEMBERS = Relation("anon_members", "cell")
"""The cells of classes without their keys."""

EQUAL = Relation("anon_equal_classes", "class")
"""Classes whose labels others have, too, and the first of these."""


class Parts:
    """The classes of a table in the database: :data:`PARTS`, :data:`LEVELS`, :data:`LOSSES`.

    Attributes:
        table: the table.
        engine: the database.
    """

    def __init__(self, table: LocalTable) -> None:
        self.table, self.engine = table, table.engine

    @classmethod
    def of_taken(cls, table: LocalTable) -> Parts:
        """Make the tables from the keys that peeling took."""
        parts = cls(table)
        table.engine.run(SQL.step(PARTS, "classes_of_keys", weighed=KEYS, taken=TAKEN))
        parts.describe()
        return parts

    # Classes and what they lose

    def describe(self) -> None:
        """Find out the finest labels of all classes, and what they lose."""
        self.make(SQL.step(CHANGED, "all_classes", parts=PARTS))
        self.make(Step(LEVELS, self._levels(), "levels of classes"))
        self.make(Step(LOSSES, self._losses(), "losses of classes"))

    def weigh(self) -> None:
        """Find out what the labels of all classes lose, which stay as they are."""
        self.make(SQL.step(CHANGED, "all_classes", parts=PARTS))
        self.make(Step(LOSSES, self._losses(), "losses of classes"))

    def move(self, moves: exp.Query) -> tuple[int, int]:
        """Give keys other classes (:data:`MOVES`), and describe the classes that change (:data:`CHANGED`).

        Args:
            moves: each key once (``anon_key``), with its new class.

        Returns:
            how many keys these are, and how many rows they have.
        """
        self.make(Step(MOVES, moves, "keys that move"))
        moved = self.engine.fetch(SQL.query("moved_rows", parts=PARTS, moves=MOVES), "keys that move", "count")[0]
        if not moved["keys"]:
            return 0, 0
        self.make(SQL.step(CHANGED, "changed_classes", parts=PARTS, moves=MOVES))
        self.make(SQL.step(PARTS, "moved", parts=PARTS, moves=MOVES))
        for relation, anew in ((LEVELS, self._levels()), (LOSSES, self._losses())):
            is_changed = column(CLASS).isin(query=select([column(CLASS)], CHANGED.table))
            self.engine.execute(
                exp.Delete(this=relation.table, where=exp.Where(this=is_changed)), "classes that change"
            )
            self.engine.execute(exp.Insert(this=relation.table, expression=anew), "classes that change")
        return int(moved["keys"]), int(moved["rows"])

    def make(self, step: Step) -> None:
        """Make a relation, in place of the one that was made before, which the query may read."""
        self.engine.run(replace(step, is_again=True))

    def count(self, classes: Relation) -> int:
        """How many classes a relation has."""
        query = SQL.query("class_count", classes=classes)
        return int(self.engine.fetch(query, "classes", "count")[0]["classes"])

    def rows_of(self, *classes: int) -> tuple[int, int]:
        """How many keys and rows some classes have."""
        query = SQL.query("rows_of_class", parts=PARTS, classes=list(map(number, classes)))
        row = self.engine.fetch(query, "rows of classes", "count")[0]
        return int(row["keys"]), int(row["rows"])

    def _losses(self) -> exp.Query:
        words = self.table.words
        return SQL.query("class_losses", levels=LEVELS, labels=LABELS, parts=PARTS, changed=CHANGED, keys=words)

    def _levels(self) -> exp.Query:
        table, lattice = self.table, self.table.lattice
        least = {word: exp.func("bit_and", column(word, "anon_parts")) for word in table.words}
        differences = (
            aliased(
                exp.BitwiseXor(this=exp.func("bit_or", column(word, "anon_parts")), expression=bits_of_all.copy()),
                f"anon_differs_{word}",
            )
            for word, bits_of_all in least.items()
        )
        keys = [aliased(bits_of_all, word) for word, bits_of_all in least.items()]
        spans = SQL.query("spans", parts=PARTS, changed=CHANGED, keys=keys, differences=[*differences])
        depths = []
        for place, lowest in enumerate(lattice.bottom):
            levels = filter(None, (self._differing(place, depth) for depth in range(lattice.heights[place] + 1)))
            differs = [exp.cast(exp.paren(exp.or_(*words, copy=False)), "INTEGER") for words in levels]
            count = exp.func("list_sum", exp.Array(expressions=differs)) if differs else number(0)
            depths.append(exp.cast(exp.func("greatest", count, number(lowest)), "INTEGER"))
        shown = [
            aliased(exp.func("unnest", exp.func("range", number(len(depths)))), "position"),
            aliased(exp.func("unnest", exp.Array(expressions=depths)), "depth"),
        ]
        each = select([column(CLASS), column(NUMBER), *map(column, table.words), *shown], subquery(spans, "anon_spans"))
        query = select(
            [
                *(column(name, "anon_each") for name in (CLASS, NUMBER)),
                aliased(exp.cast(column("position", "anon_each"), "INTEGER"), "position"),
                column("depth", "anon_each"),
                *table.masked("anon_each", "anon_masks"),
            ],
            subquery(each, "anon_each"),
        )
        same = [column(name, "anon_each").eq(column(name, "anon_masks")) for name in ("position", "depth")]
        return query.join(table.label_masks(), on=exp.and_(*same, copy=False), copy=False)

    def _differing(self, place: int, depth: int) -> list[exp.Expr]:
        """Whether labels of a level differ within a class, by word."""
        masks = self.table.encoding.keys.label_masks(place, depth)
        return [
            exp.paren(bits(column(f"anon_differs_{self.table.words[word]}"), number(mask))).neq(number(0))
            for word, mask in masks.items()
        ]

    # Classes that are judged

    def make_members(self) -> None:
        """Make :data:`MEMBERS`."""
        labels = {*self.table.encoding.sensitive_labels, NUMBER}
        carried = [each for each in self.table.carried("anon_cells") if each.name != ROW_COUNT]
        query = SQL.query(
            "members",
            cells=self.table.cells,
            parts=PARTS,
            carried=[each.name for each in carried if each.name not in labels],
            others=[aliased(exp.AnyValue(this=each), each.name) for each in carried if each.name in labels],
        )
        self.make(Step(MEMBERS, query, "cells of classes"))

    def cells_of(self, groups: exp.Query, keys: Sequence[str], members: Relation, member: str, key: str) -> exp.Select:
        """Cells of members of groups, once for each of these.

        Args:
            groups: which members the groups have.
            keys: the columns of the groups that identify them.
            members: the cells.
            member: the column of the groups that identifies a member.
            key: the same column of the cells.
        """
        shown = [*(column(name, "anon_groups") for name in keys), *self.table.carried("anon_of_group")]
        on = column(member, "anon_groups").eq(column(key, "anon_of_group"))
        relation = exp.alias_(members.table, "anon_of_group", table=True)
        return select(shown, subquery(groups, "anon_groups")).join(relation, on=on, copy=False)

    def met(self, keys: Sequence[str], *cells: exp.Query) -> exp.Select:
        """The groups of cells that meet all bounds, by their keys."""
        classes = self.table.classes(union_all(cells), keys)
        return select(map(column, keys), subquery(classes, "anon_classes")).where(self.table.is_met(), copy=False)

    # Classes that become one, classes that are hidden, and classes that are listed

    def merge(self) -> None:
        """Make one class of all that have the same labels; if it fails a bound, its keys are in no class again."""
        self.make(SQL.step(EQUAL, "equal_classes", losses=LOSSES))
        if not self.count(EQUAL):
            return
        if self.table.is_monotonic:
            met = SQL.query("all_equal", equal=EQUAL)
        else:
            self.make_members()
            equal = select([column(CLASS), column("anon_first")], EQUAL.table)
            met = self.met(["anon_first"], self.cells_of(equal, ["anon_first"], MEMBERS, CLASS, CLASS))
        self.move(SQL.query("merges", parts=PARTS, equal=EQUAL, met=met))

    def hide(self) -> None:
        """Leave the smallest class of each joint class of earlier releases out, or all, if those whom it hides fail."""
        table = self.table
        carried = [column(name, "anon_cells") for name in table.encoding.carried]
        cells = select(
            [column(CLASS, "anon_parts"), aliased(column(NUMBER, "anon_parts"), EARLIER), *carried],
            exp.alias_(table.cells.table, "anon_cells", table=True),
        )
        parts = exp.alias_(PARTS.table, "anon_parts", table=True)
        cells = cells.join(parts, on=column(KEY, "anon_cells").eq(column(KEY, "anon_parts")), copy=False)
        judged = subquery(cells, "anon_judged_cells")
        grouping = replace(table.grouping(cells, []), keys=(CLASS, EARLIER), cells=judged.copy)
        classes = class_relation(grouping, with_keys=True)
        is_in = exp.GT(this=column(CLASS), expression=number(0))
        shown = with_shown(grouping, classes, is_in, lambda of: [aliased(column(EARLIER, of), EARLIER)])
        hidden = select([column(CLASS)], subquery(shown, "anon_shown"))
        hidden.where(is_in.copy(), exp.not_(column(IS_SHOWN)), copy=False)
        self.move(SQL.query("hidden", parts=PARTS, hidden=hidden))

    def cover(self) -> int:
        """Put each key into the class that covers it with the least loss; leave out classes that fail a bound then.

        Returns:
            the rows that no class covers.
        """
        words, before, now = self.table.words, -1, self.count(LEVELS)
        while now != before:
            labels = SQL.query("labels_of_levels", levels=LEVELS, labels=LABELS, keys=words)
            keys = select([*map(column, words)], KEYS.table)
            covered = covering_classes(self.table.encoding, keys, labels)
            self.make(SQL.step(PARTS, "covered_keys", weighed=KEYS, covered=covered, keys=words))
            self.make_members()
            met = self.met([CLASS], select([column(CLASS), *self.table.carried()], MEMBERS.table))
            self.make(SQL.step(LEVELS, "held_levels", levels=LEVELS, met=met))
            before, now = now, self.count(LEVELS)
        self.weigh()
        return self.rows_of(0, OUT)[1]
