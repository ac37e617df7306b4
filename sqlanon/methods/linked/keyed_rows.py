"""The rows of one of several linked tables with the bits of their own values, apart from those of the rows above."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.methods.linked.encoded import EncodedLinked
from sqlanon.model.lattice import Levels
from sqlanon.queries.encoded_rows import key_word, with_leaves
from sqlanon.queries.encoding import words_of
from sqlanon.queries.kit.nodes import Relation, Step, aliased, called, column, double, select, subquery
from sqlanon.queries.label_losses import LabelLosses
from sqlanon.queries.linked import PARENT, PERSON, ROW

LOSS = "anon_loss"


class KeyedRows:
    """Rows by number with the key words of a table's own quasi-identifiers, which levels are of."""

    def __init__(self, encoded: EncodedLinked, name: str) -> None:
        self.name = name
        self.bound = encoded.bound.tables[name]
        self.relation = Relation(f"anon_keyed_{self.bound.rows.place}", "row")
        self.numbers = [ROW, PERSON] if self.bound.rows.parent is None else [ROW, PARENT, PERSON]
        self._has_weight = bool(encoded.weights[name])
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

    def with_loss(self, rows: exp.Query, levels: Levels) -> exp.Select:
        """Add to rows with key words ``anon_loss``: the weighted loss of their labels, 0 without a weight."""
        loss = double(0)
        if self._has_weight:
            losses = LabelLosses(self.encoding, [self.path_levels(levels)], ("lm",))
            rows, loss = losses.beside(rows, keeps_keys=True), losses.weighted()
        return select([exp.Star(), aliased(loss, LOSS)], subquery(rows, "anon_losing"))

    def path_levels(self, levels: Levels) -> Levels:
        """Return levels of the path: the columns of rows above have no weight, and at their tops need no key."""
        own, shapes = dict(zip(self.positions, levels, strict=True)), self.encoding.spec.shapes
        return tuple(own.get(position, shape.height) for position, shape in enumerate(shapes))
