"""The keys that peeling leaves: they join classes, or are left out, or make a class at the top with some of these.

They join in rounds. In each round every key chooses the class whose loss rises least. A class that may have any keys
takes all, but few classes do so at once. Of others each takes as many as it can, those of the least rise first. Then
the rises are computed anew for the classes that have changed.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.local.local_table import CLASS, KEY, LEVELS, PARTS
from sqlanon.methods.local.parts import CHANGED, LOSSES, MEMBERS, OUT, Parts
from sqlanon.methods.local.peeling import Watch
from sqlanon.model.bounds import CLASS_SIZE, Bound
from sqlanon.queries.class_measures import class_relation, measure_of, within
from sqlanon.queries.encoding import Encoding
from sqlanon.queries.kit.nodes import Relation, Step, aliased, column, double, f, number, select, subquery, union_all

FIRST_TRIALS = 32
"""How many classes a key is tried in at first, the ones that lose least; then in ever more at once."""

GROWTH = 8
"""By what factor the classes that are tried at once become more."""

TOGETHER = 16
"""Of how many keys that are in no class one more class takes keys at once, where it may have any.

Others may lose less in a class that these have made more general: at k = 50 ARX's Adult loses .1596 in place of .1600.
"""

PAIR_ROWS = 20_000_000
"""The most keys times classes times quasi-identifiers that are compared in one statement."""

MAX_DISSOLVED = 16
"""The most classes that are dissolved at once: which come next depends on what the ones before bring."""

LARGEST_EXCESS = 1e6
"""The excess over a bound that stands for an infinite one."""

ALL = Relation("anon_all_classes", "class")
LEFT_KEYS = Relation("anon_left_keys", "cell")  # the keys that are in no class, with places from 1 in their order
LEFT_VALUES = Relation("anon_left_values", "cell")  # by such a key, and quasi-identifier, the bits of its value
MEETINGS = Relation("anon_meetings", "node")  # by label of a class and value of a key, the loss of the label above both
CANDIDATES = Relation("anon_candidates", "cell")  # such keys, and classes that they may join, with the rise of the loss
CHOSEN = Relation("anon_chosen", "cell")  # the class of the least rise for each key, and its place among those of that

TOPS = Relation("anon_tops_of_keys", "cell")  # by key the first key of the same label of the top (``anon_top``)
EXCESSES = Relation("anon_excesses", "class")  # how far groups are from the bounds, relative to these and summed
AT_TOP = Relation("anon_keys_at_top", "cell")  # the keys that make a class at a label of the top
FAILING = Relation("anon_failing_classes", "class")  # the classes at the top that exceed a bound
NEAR = Relation("anon_near_classes", "class")  # by such a class the others under its label of the top
NEAREST = Relation("anon_nearest_classes", "class")  # a few of these, in the order in which they are dissolved

LENGTH = "anon_length"
TOP = "anon_top"
OTHER = "anon_other"
MEMBER = "anon_member"


def settle(parts: Parts, allowed_rows: int, watch: Watch) -> int:
    """Find a place for keys that are in no class, and make classes of equal labels one.

    Args:
        parts: the classes.
        allowed_rows: how many rows may be left out if they fit into no class.
        watch: follows it.

    Returns:
        how many rows meet the bounds neither in a class nor all together at the top; keys are in no class then.
    """
    _join(parts, watch)
    while True:
        if parts.rows_of(0)[0] and (stuck := _gather(parts, allowed_rows)):
            return stuck
        parts.merge()
        if not parts.rows_of(0)[0]:
            return 0


def settle_or_stay(parts: Parts, allowed_rows: int, watch: Watch) -> bool:
    """Settle, or do nothing if some rows find no place.

    Returns:
        whether keys have found a place.
    """
    kept = {each: Relation(f"{each.name}_kept", each.grain) for each in (PARTS, LEVELS)}
    for relation, copy in kept.items():
        parts.put(Step(copy, select([exp.Star()], relation.table), "classes of keys"))
    parts.describe()
    if not settle(parts, allowed_rows, watch):
        return True
    for relation, copy in kept.items():
        parts.put(Step(relation, select([exp.Star()], copy.table), "classes of keys"))
    parts.describe(LOSSES)
    return False


def _join(parts: Parts, watch: Watch) -> None:
    """Put keys into classes until no class takes one more, or a stop."""
    left, _ = parts.rows_of(0)
    if not left:
        return
    parts.make(ALL, "all_classes")
    count, last = parts.count(ALL), FIRST_TRIALS
    parts.put(Step(CANDIDATES, _candidates(parts, left, ALL, count, 0, last), "classes for keys"))
    while left and not (watch.is_stopped and not parts.table.is_monotonic):
        keys, rows = parts.move(_choices(parts, left))
        if keys:
            left -= keys
            watch.left_rows -= rows
            parts.make(CANDIDATES, "other_candidates", candidates=CANDIDATES)
            found = _candidates(parts, left, CHANGED, parts.count(CHANGED), 0, last)
        elif last >= count:
            return
        else:
            found = _candidates(parts, left, ALL, count, last, last * GROWTH)
            last *= GROWTH
        parts.add(CANDIDATES, found, "classes for keys")
        watch.look()


def _candidates(parts: Parts, left: int, classes: Relation, count: int, first: int, last: int) -> exp.Query:
    """The classes that keys may join, from one place to another in the order of the rise of the loss."""
    width = len(parts.table.lattice.heights)
    sql = parts.sql.given(left=LEFT_KEYS, left_values=LEFT_VALUES, meetings=MEETINGS, classes=classes)
    for relation, name in ((LEFT_KEYS, "left_keys"), (LEFT_VALUES, "left_values"), (MEETINGS, "meetings")):
        parts.put(sql.step(relation, name))
    sql = sql.given(first=first, last=last)
    per = max(PAIR_ROWS // max(count * width, 1), 1)
    return union_all(sql.query("candidates", after=at, until=at + per) for at in range(0, max(left, 1), per))


def _choices(parts: Parts, left: int) -> exp.Query:
    """The keys that join the class of their choice."""
    table, sql = parts.table, parts.sql.given(candidates=CANDIDATES, chosen=CHOSEN)

    def met(classes: exp.Query, by: Sequence[str], keys: exp.Query) -> exp.Query:
        """The groups that meet all bounds: classes, each with some keys."""
        return parts.met(by, parts.cells_of(classes, by), parts.cells_of(keys, by, KEY))

    if table.is_monotonic:
        parts.put(sql.step(CHOSEN, "chosen_classes"))
        return sql.query("first_choices", most=1 + left // TOGETHER)
    parts.make_members()
    pairs = select([column(KEY), column(CLASS)], CANDIDATES.table)
    parts.put(sql.step(CANDIDATES, "fitting_candidates", fits=met(pairs, [KEY, CLASS], pairs.copy())))
    parts.put(sql.step(CHOSEN, "chosen_classes"))
    lengths = sql.query("lengths")
    keys = sql.query("in_lengths", lengths=lengths, member=[KEY])
    return sql.query("longest_choices", met=met(lengths, [CLASS, LENGTH], keys))


def _gather(parts: Parts, allowed_rows: int) -> int:
    """Make a class of keys at each label of the top; leave some out, and dissolve classes for the others that fail.

    Returns:
        the rows under labels of the top whose rows do not even meet the bounds all together.
    """
    table, sql = parts.table, parts.sql.given(tops=TOPS, excesses=EXCESSES, failing=FAILING, near=NEAR)
    parts.put(sql.step(TOPS, "tops", top_masks=[*map(number, table.masks(table.lattice.top))]))
    _measure(parts, sql.query("cells_at_top", carried=table.carried), [TOP])
    parts.move(sql.query("left_out", allowed=allowed_rows - parts.rows_of(OUT)[1]))
    parts.put(sql.step(AT_TOP, "classes_at_top"))
    parts.move(select([column(KEY), column(CLASS)], AT_TOP.table))
    while True:
        parts.make_members()
        _measure(parts, select([column(CLASS), *map(column, table.carried)], MEMBERS.table), [CLASS])
        parts.put(sql.step(FAILING, "failing", moves=AT_TOP))
        parts.put(sql.step(NEAR, "near_classes"))
        found = parts.engine.fetch(sql.query("failing_rows"), "classes that fail", "count")[0]
        if found["rows"] or not found["classes"]:
            return int(found["rows"])
        # Classes of the least loss added per closeness gained are added to those that fail.
        pairs = sql.query("pairs_with_others")
        _measure(parts, parts.cells_of(pairs, [CLASS, OTHER], MEMBER), [CLASS, OTHER])
        parts.put(sql.step(NEAREST, "nearest_classes", most=MAX_DISSOLVED))
        lengths = sql.query("lengths", chosen=NEAREST)
        others = sql.query("in_lengths", lengths=lengths, chosen=NEAREST, member=[OTHER])
        together = sql.query("with_itself", together=others, lengths=lengths)
        _measure(parts, parts.cells_of(together, [CLASS, LENGTH], MEMBER), [CLASS, LENGTH])
        parts.move(sql.query("dissolved", nearest=NEAREST))


def _measure(parts: Parts, cells: exp.Query, keys: list[str]) -> None:
    """Make :data:`EXCESSES` of groups of cells."""
    table = parts.table
    total: exp.Expr = exp.case().when(table.is_met(), double(0.0)).else_(double(1e-9))
    for bound in table.encoding.criteria.class_bounds:
        total += _excess_over(bound, table.encoding)
    classes = subquery(class_relation(table.grouping(cells, keys), with_keys=True), "anon_classes")
    query = select([*map(column, keys), aliased(total, "anon_excess")], classes)
    parts.put(Step(EXCESSES, query, "excesses over bounds"))


def _excess_over(bound: Bound, encoding: Encoding) -> exp.Expr:
    measure, threshold = measure_of(encoding, bound), double(float(bound.threshold))
    if bound.measure == CLASS_SIZE:
        return f.greatest(threshold - measure, double(0.0)) / threshold
    distance = f.abs(measure - threshold) / threshold
    limited = f.coalesce(f.least(distance, double(LARGEST_EXCESS)), double(LARGEST_EXCESS))
    met = f.coalesce(within(encoding, [bound]), exp.false())
    return exp.case().when(met, double(0.0)).else_(limited)
