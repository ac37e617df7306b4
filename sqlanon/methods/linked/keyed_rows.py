"""The rows of one of several linked tables with the bits of their own values, apart from those of the rows above."""

from __future__ import annotations

from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.model.lattice import Levels
from sqlanon.queries.encoded_rows import key_word, with_leaves
from sqlanon.queries.encoding import words_of
from sqlanon.queries.kit.nodes import Relation, Step, aliased, called, column, select
from sqlanon.queries.label_losses import LabelLosses
from sqlanon.queries.linked import PARENT, PERSON, ROW


class KeyedRows:
    """Rows by number with the key words of a table's own quasi-identifiers, which levels are of."""

    def __init__(self, encoded: EncodedLinked, name: str) -> None:
        self.name = name
        self.bound = encoded.bound.tables[name]
        self.relation = Relation(f"anon_keyed_{self.bound.rows.place}", "row")
        self.numbers = [ROW, PERSON] if self.bound.rows.parent is None else [ROW, PARENT, PERSON]
        self.encoding = encoded.tables[name].encoding
        self.positions = [*map(self.encoding.spec.quasi_identifiers.index, self.bound.own)]
        self._words = words_of(self.encoding.keys.label_masks(position, 0) for position in self.positions)
        self.keys = [*map(self.encoding.key, self._words)]

    def step(self) -> Step:
        rows = called(self.bound.rows.rows(self.bound.own, numbers=self.numbers), "anon_source")
        numbers = (column(each, "anon_source") for each in self.numbers)
        query = with_leaves(self.encoding, select(numbers, rows), "anon_source", self.positions)
        words = (key_word(self.encoding, word, self.positions) for word in self._words)
        query = query.select(*map(aliased, words, self.keys), copy=False)
        return Step(self.relation, query, "rows with their keys", is_again=True)

    def masks(self, levels: Levels) -> dict[str, int]:
        """Return the bits of labels by key word, where there are any."""
        found: dict[str, int] = {}
        for place in zip(self.positions, levels, strict=True):
            for word, mask in self.encoding.keys.label_masks(*place).items():
                key = self.encoding.key(word)
                found[key] = found.get(key, 0) | mask
        return found

    def losses(self, levels: Levels) -> LabelLosses:
        return LabelLosses(self.encoding, [self.path_levels(levels)], ("lm",))

    def path_levels(self, levels: Levels) -> Levels:
        """Return levels of the path: the columns of rows above have no weight, and at their tops need no key."""
        own, shapes = dict(zip(self.positions, levels, strict=True)), self.encoding.spec.shapes
        return tuple(own.get(position, shape.height) for position, shape in enumerate(shapes))
