"""Keys that are in no class join the class whose loss rises least and that still meets all bounds."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.methods.local.parts import CHANGED, LOSSES, MEMBERS, MOVES, PARTS, SQL, Parts
from sqlanon.methods.local.recoding import CLASS, LEVELS
from sqlanon.methods.local.table import KEY, LABELS
from sqlanon.methods.local.watching import Watch
from sqlanon.queries.kit.nodes import Relation, Step, aliased, bits, column, number, select, union_all

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

LEFT_KEYS = Relation("anon_left_keys", "cell")
"""The keys that are in no class, with places from 1 in their order."""

LEFT_VALUES = Relation("anon_left_values", "cell")
"""By key that is in no class, and quasi-identifier, the bits of its value."""

MEETINGS = Relation("anon_meetings", "node")
"""By label of a class and value of a key, what the finest label above both loses."""

CANDIDATES = Relation("anon_candidates", "cell")
"""Keys that are in no class, and classes that they may join, with the rise of the loss (``anon_rise``)."""

CHOSEN = Relation("anon_chosen", "cell")
"""The class that each key may join alone at the least rise, and its place among the keys of that class."""

ALL = Relation("anon_all_classes", "class")

LENGTH = "anon_length"


class Joining:
    """Keys that join classes, in rounds.

    In each round every key chooses a class. A class that may have any keys takes all, but few classes do so at once. Of
    others each takes as many as it can, those of the least rise first. Then the rises are computed anew for the classes
    that have changed.

    Args:
        parts: the classes.
        watch: follows it.
    """

    def __init__(self, parts: Parts, watch: Watch) -> None:
        self._parts, self._table, self._engine, self._watch = parts, parts.table, parts.engine, watch

    def join(self) -> None:
        """Put keys into classes until no class takes one more, or a stop."""
        parts, (left, _) = self._parts, self._parts.rows_of(0)
        if not left:
            return
        parts.make(SQL.step(ALL, "all_classes", parts=PARTS))
        count, last = parts.count(ALL), FIRST_TRIALS
        parts.make(Step(CANDIDATES, self._candidates(left, ALL, count, 0, last), "classes for keys"))
        while left and not (self._watch.is_stopped and not self._table.is_monotonic):
            keys, rows = parts.move(self._choices(left))
            if keys:
                left -= keys
                self._watch.left_rows -= rows
                parts.make(
                    SQL.step(CANDIDATES, "other_candidates", candidates=CANDIDATES, moves=MOVES, changed=CHANGED)
                )
                self._add(self._candidates(left, CHANGED, parts.count(CHANGED), 0, last))
            elif last >= count:
                return
            else:
                self._add(self._candidates(left, ALL, count, last, last * GROWTH))
                last *= GROWTH
            self._watch.look()

    def _add(self, candidates: exp.Query) -> None:
        self._engine.execute(exp.Insert(this=CANDIDATES.table, expression=candidates), "classes for keys")

    def _choices(self, left: int) -> exp.Query:
        """The keys that join the class of their choice."""
        parts = self._parts
        if not self._table.is_monotonic:
            parts.make_members()
            pairs = select([column(KEY), column(CLASS)], CANDIDATES.table)
            fits = self._met(pairs, [KEY, CLASS], pairs.copy())
            parts.make(SQL.step(CANDIDATES, "fitting_candidates", candidates=CANDIDATES, fits=fits))
        parts.make(SQL.step(CHOSEN, "chosen_classes", candidates=CANDIDATES))
        if self._table.is_monotonic:
            return SQL.query("first_choices", chosen=CHOSEN, most=1 + left // TOGETHER)
        lengths = SQL.query("lengths", chosen=CHOSEN)
        keys = SQL.query("in_lengths", lengths=lengths, chosen=CHOSEN, member=[KEY])
        return SQL.query("longest_choices", chosen=CHOSEN, met=self._met(lengths.copy(), [CLASS, LENGTH], keys))

    def _met(self, classes: exp.Query, by: Sequence[str], keys: exp.Query) -> exp.Query:
        """The groups that meet all bounds: classes, each with some keys."""
        of_classes = self._parts.cells_of(classes, by, MEMBERS, CLASS, CLASS)
        return self._parts.met(by, of_classes, self._parts.cells_of(keys, by, self._table.cells, KEY, KEY))

    def _candidates(self, left: int, classes: Relation, count: int, first: int, last: int) -> exp.Query:
        """The classes that keys may join, from one place to another in the order of the rise of the loss."""
        table, words, width = self._table, self._table.words, len(self._table.lattice.heights)
        own = [f"anon_value_{place}" for place in range(len(words))]
        masked = list(zip(words, table.mask_columns, own, strict=True))
        of_values = [
            aliased(bits(column(word, "anon_left"), column(mask, "anon_masks")), name) for word, mask, name in masked
        ]
        differs = [
            exp.paren(
                bits(
                    exp.BitwiseXor(this=column(word, "anon_used"), expression=column(value, "anon_values")),
                    column(mask, "anon_masks"),
                )
            ).neq(number(0))
            for word, mask, value in masked
        ]
        lifted = [
            column(word, "anon_labels").eq(exp.paren(bits(column(value, "anon_met"), column(mask, "anon_masks"))))
            for word, mask, value in masked
        ]
        roles = SQL.given(
            keys=words,
            values=own,
            parts=PARTS,
            left=LEFT_KEYS,
            left_values=LEFT_VALUES,
            levels=LEVELS,
            losses=LOSSES,
            classes=classes,
            meetings=MEETINGS,
            labels=LABELS,
            masks=table.label_masks(),
            tops=table.tops(),
            value_words=of_values,
            differs=exp.paren(exp.or_(*differs, copy=False)),
            is_lifted=exp.and_(*lifted, copy=False),
            width=width,
            first=first,
            last=last,
        )
        for relation, name in ((LEFT_KEYS, "left_keys"), (LEFT_VALUES, "left_values"), (MEETINGS, "meetings")):
            self._parts.make(roles.step(relation, name))
        per = max(PAIR_ROWS // max(count * width, 1), 1)
        queries = (roles.query("candidates", after=start, until=start + per) for start in range(0, max(left, 1), per))
        return union_all(queries)
