"""What is left after peeling: it joins classes, or is left out, or makes a class at the top with some of them."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.methods.local.joining import LENGTH, Joining
from sqlanon.methods.local.parts import LOSSES, MEMBERS, OUT, PARTS, SQL, Parts
from sqlanon.methods.local.recoding import CLASS, LEVELS
from sqlanon.methods.local.table import KEYS, LABELS
from sqlanon.methods.local.watching import Watch
from sqlanon.model.bounds import CLASS_SIZE, Bound
from sqlanon.queries.classes.classes import class_relation, measure_of, within
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    bits,
    column,
    double,
    number,
    select,
    subquery,
)

MAX_DISSOLVED = 16
"""The most classes that are dissolved at once: which come next depends on what the ones before bring."""

LARGEST_EXCESS = 1e6
"""The excess over a bound that stands for an infinite one."""

TOPS = Relation("anon_tops_of_keys", "cell")
"""By key the first key of the same label of the top (``anon_top``)."""

EXCESSES = Relation("anon_excesses", "class")
"""By how much classes exceed the bounds, relative to them and summed; 0 if they meet all."""

AT_TOP = Relation("anon_keys_at_top", "cell")
"""The keys that make a class at a label of the top."""

FAILING = Relation("anon_failing_classes", "class")
NEAR = Relation("anon_near_classes", "class")
NEAREST = Relation("anon_nearest_classes", "class")

TOP = "anon_top"
OTHER = "anon_other"
MEMBER = "anon_member"
EXCESS = "anon_excess"


class UnsettledError(Exception):
    """Some rows meet the bounds neither in a class nor all together at the top, and may not be left out.

    Attributes:
        rows: how many they are.
    """

    def __init__(self, rows: int) -> None:
        super().__init__(f"{rows:,} rows meet the bounds in no class")
        self.rows = rows


def settle(parts: Parts, allowed_rows: int, watch: Watch) -> None:
    """Find a place for keys that are in no class, and make classes of equal labels one.

    Args:
        parts: the classes.
        allowed_rows: how many rows may be left out if they fit into no class.
        watch: follows it.

    Raises:
        UnsettledError: some rows meet the bounds neither in a class nor all together at the top.
    """
    Joining(parts, watch).join()
    while True:
        if parts.rows_of(0)[0]:
            _Top(parts).gather(allowed_rows)
        parts.merge()
        if not parts.rows_of(0)[0]:
            return


def settle_or_stay(parts: Parts, allowed_rows: int, watch: Watch) -> bool:
    """The same as :func:`settle`, or nothing if that cannot be.

    Returns:
        whether keys have found a place.
    """
    kept = {each: Relation(f"{each.name}_kept", each.grain) for each in (PARTS, LEVELS)}
    for relation, copy in kept.items():
        parts.engine.run(Step(copy, select([exp.Star()], relation.table), "classes of keys"))
    parts.describe()
    try:
        settle(parts, allowed_rows, watch)
    except UnsettledError:
        for relation, copy in kept.items():
            parts.make(Step(relation, select([exp.Star()], copy.table), "classes of keys"))
        parts.weigh()
        return False
    finally:
        for copy in kept.values():
            parts.engine.drop(copy)
    return True


class _Top:
    """Keys that no class takes make one at each label of the top, or are left out."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self._table, self._engine = parts, parts.table, parts.engine

    def gather(self, allowed_rows: int) -> None:
        """Make classes of keys; leave some out and dissolve classes for the others where they fail together.

        Raises:
            UnsettledError: all rows under a label of the top do not meet the bounds together.
        """
        parts, table = self._parts, self._table
        masks = zip(table.words, table.masks(table.lattice.top), strict=True)
        at_top = [exp.paren(bits(column(word), number(mask))) for word, mask in masks]
        parts.make(SQL.step(TOPS, "tops", weighed=KEYS, at_top=at_top))
        carried = [each.name for each in table.carried()]
        left = SQL.query("cells_at_top", cells=table.cells, parts=PARTS, tops=TOPS, carried=carried)
        self._measure(left, [TOP])
        may_go = allowed_rows - parts.rows_of(OUT)[1]
        parts.move(SQL.query("left_out", parts=PARTS, tops=TOPS, excesses=EXCESSES, allowed=may_go))
        parts.make(SQL.step(AT_TOP, "classes_at_top", parts=PARTS, tops=TOPS))
        parts.move(select([exp.Star(except_=[column(TOP)])], AT_TOP.table))
        while self._fail():
            self._dissolve()

    def _fail(self) -> bool:
        """Whether classes at the top fail (:data:`FAILING`); makes those that can be dissolved (:data:`NEAR`)."""
        parts, table = self._parts, self._table
        parts.make_members()
        self._measure(select([column(CLASS), *table.carried()], MEMBERS.table), [CLASS])
        parts.make(SQL.step(FAILING, "failing", excesses=EXCESSES, moves=AT_TOP))
        near = SQL.step(
            NEAR,
            "near_classes",
            failing=FAILING,
            parts=PARTS,
            tops=TOPS,
            levels=LEVELS,
            losses=LOSSES,
            labels=LABELS,
            masks=table.label_masks(),
            greatest=table.tops(),
            keys=table.words,
            top_words=table.masked("anon_levels", "anon_masks"),
        )
        parts.make(near)
        query = SQL.query("failing_rows", failing=FAILING, near=NEAR, parts=PARTS)
        found = self._engine.fetch(query, "classes that fail", "count")[0]
        if found["rows"]:
            raise UnsettledError(int(found["rows"]))
        return bool(found["classes"])

    def _dissolve(self) -> None:
        """Add classes to those that fail, the ones with the least loss added per closeness gained first."""
        parts = self._parts
        pairs = SQL.query("pairs_with_others", near=NEAR)
        self._measure(parts.cells_of(pairs, [CLASS, OTHER], MEMBERS, MEMBER, CLASS), [CLASS, OTHER])
        given = SQL.given(near=NEAR, failing=FAILING, excesses=EXCESSES, most=MAX_DISSOLVED)
        parts.make(given.step(NEAREST, "nearest_classes"))
        lengths = SQL.query("lengths", chosen=NEAREST)
        others = SQL.query("in_lengths", lengths=lengths, chosen=NEAREST, member=[OTHER])
        together = SQL.query("with_itself", together=others, lengths=lengths.copy())
        self._measure(parts.cells_of(together, [CLASS, LENGTH], MEMBERS, MEMBER, CLASS), [CLASS, LENGTH])
        parts.move(SQL.query("dissolved", parts=PARTS, nearest=NEAREST, excesses=EXCESSES))

    def _measure(self, cells: exp.Query, keys: list[str]) -> None:
        """Make :data:`EXCESSES` of groups of cells."""
        table, encoding = self._table, self._table.encoding
        classes = class_relation(table.grouping(cells, keys), with_keys=True)
        met = exp.case().when(table.is_met(), double(0.0)).else_(double(1e-9))
        total: exp.Expr = met
        for bound in encoding.criteria.class_bounds:
            total = exp.Add(this=total, expression=self._excess_of(bound))
        query = select([*map(column, keys), aliased(total, EXCESS)], subquery(classes, "anon_classes"))
        self._parts.make(Step(EXCESSES, query, "excesses over bounds"))

    def _excess_of(self, bound: Bound) -> exp.Expr:
        measure, threshold = measure_of(self._table.encoding, bound), double(float(bound.threshold))
        if bound.measure == CLASS_SIZE:
            lacking = exp.func("greatest", exp.Sub(this=threshold.copy(), expression=measure), double(0.0))
            return exp.Div(this=lacking, expression=threshold)
        off = exp.func("abs", exp.paren(exp.Sub(this=measure, expression=threshold.copy())))
        distance = exp.Div(this=off, expression=threshold)
        limited = exp.func("coalesce", exp.func("least", distance, double(LARGEST_EXCESS)), double(LARGEST_EXCESS))
        met = exp.func("coalesce", within(self._table.encoding, [bound]), exp.false())
        return exp.case().when(met, double(0.0)).else_(limited)
