"""Exercise: labels that follow from the class of a cell, not from the value of one column, as local recoding has them.

One class; what groups, counts, keeps, masks, orders and publishes rows takes it as it takes those of the package.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from sqlglot import exp

import sqlanon as sa
from sqlanon.binding.prepare import prepare
from sqlanon.methods.shared.cells import encode_table
from sqlanon.methods.shared.publishing import attained_at, group_rows, keep_classes, released_rows
from sqlanon.queries.cells.encoding import ROW_COUNT, VALUE
from sqlanon.queries.cells.labels import at_level, dense_rank, has_bits, label_bits
from sqlanon.queries.classes.recoding import Recoding, as_label
from sqlanon.queries.kit.macros import exact_text
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_bits,
    all_of,
    column,
    left_join,
    number,
    same,
    select,
    string,
    subquery,
    values,
)
from sqlanon.queries.noise.combinations import COMBINATIONS, combinations
from tests.conftest import clinic_policy

CLASSES = Relation("anon_levels_of_classes", "class")
"""By class the level of every quasi-identifier: ``level_<position>``; a class here is a label of one of them."""

LABELS = Relation("anon_labels_of_classes", "cell")
"""By the key of a cell ``code_<position>`` and ``label_<position>`` of every quasi-identifier."""


@dataclass(frozen=True)
class PerClass(Recoding):
    """The labels of each cell, at the levels of its class, which is its label in one quasi-identifier."""

    divided_by: int

    @property
    def positions(self) -> range:
        return range(len(self.encoding.spec.shapes))

    @property
    def words(self) -> list[str]:
        return [self.encoding.key(word) for word in range(self.encoding.keys.word_count)]

    def step(self) -> Step:
        """The step that makes :data:`LABELS`."""
        encoding, leaf_masks = self.encoding, [self.encoding.keys.label_masks(place, 0) for place in self.positions]
        query = select((column(word, "anon_cells") for word in self.words), encoding.cells.table)
        for place in self.positions:
            leaf, names = f"leaf_{place}", [column(VALUE), column("label")]
            leaves = subquery(label_bits(encoding, place, 0, names), leaf)
            query = left_join(query, leaves, has_bits(encoding, leaf_masks[place], "anon_cells", leaf))
        own = column("label", f"leaf_{self.divided_by}")
        query = query.join(exp.alias_(CLASSES.table, "of_class", table=True), on=same(column("class", "of_class"), own))
        for place in self.positions:
            table, level = f"labels_{place}", column(f"level_{place}", "of_class")
            conditions = [
                column("position", table).eq(number(place)),
                column("depth", table).eq(level),
                same(column(VALUE, table), column(VALUE, f"leaf_{place}")),
            ]
            query = left_join(query, exp.alias_(encoding.labels.table, table, table=True), all_of(conditions))
            label = column("label", table)
            code = aliased(dense_rank(label.copy(), nulls_first=False), f"code_{place}")
            query = query.select(aliased(label, f"label_{place}"), code)
        return Step(LABELS, query.distinct(), "labels of classes")

    def code_columns(self) -> list[tuple[int, str]]:
        return [(place, f"anon_code_{place}_class") for place in self.positions]

    def join_codes(self, query: exp.Select, table: str) -> exp.Select:
        query = self._join(query, [(word, column(word, table)) for word in self.words])
        return query.select(*(aliased(column(f"code_{place}", "of_cell"), name) for place, name in self.code_columns()))

    def join_labels_to_cells(self, query: exp.Select, table: str) -> exp.Select:
        query = self._join(query, [(word, column(word, table)) for word in self.words])
        return query.select(*(self._label(place, "of_cell") for place in self.positions))

    def join_labels_to_source(self, query: exp.Select, table: str) -> exp.Select:
        """Rows find their labels by the key of their cell, which is that of their values together."""
        for place, name in enumerate(self.encoding.spec.quasi_identifiers):
            leaf, names = f"leaf_{place}", [column(VALUE), *map(column, self.words)]
            leaves = subquery(at_level(self.encoding, place, 0, names), leaf)
            query = left_join(query, leaves, same(column(VALUE, leaf), exact_text(column(name, table))))
        keys = [(word, all_bits([column(word, f"leaf_{place}") for place in self.positions])) for word in self.words]
        return self._join(query, keys).select(*(self._label(place, "of_cell") for place in self.positions))

    def labels_by_code(self, position: int) -> exp.Select:
        code = aliased(column(f"code_{position}"), dict(self.code_columns())[position])
        return select([code, self._label(position)], LABELS.table).distinct()

    def texts(self, position: int) -> exp.Select:
        label = column(f"label_{position}")
        return select([aliased(label, "label")], LABELS.table).where(label.is_(exp.null()).not_())

    def label_count(self, position: int) -> int:
        return sum(self.encoding.spec.shapes[position].label_counts)

    def _label(self, position: int, table: str | None = None) -> exp.Alias:
        label = as_label(self.encoding, position, column(f"label_{position}", table))
        return aliased(label, self.encoding.label(position))

    def _join(self, query: exp.Select, keys: list[tuple[str, exp.Expr]]) -> exp.Select:
        on = all_of([column(word, "of_cell").eq(exp.paren(key)) for word, key in keys])
        return left_join(query, exp.alias_(LABELS.table, "of_cell", table=True), on)


LEVELS = {"f": (1, 0, 2), "m": (2, 0, 2), None: (3, 0, 2)}
"""Of women the decade of the age, of men twenty years, of others all ages."""


def given_classes() -> Step:
    rows = [[exp.null() if label is None else string(label), *map(number, levels)] for label, levels in LEVELS.items()]
    names = ("class", "level_0", "level_1", "level_2")
    return Step(CLASSES, select([exp.Star()], values("given", names, rows)), "levels of classes")


def labels_of(age: int | None, sex: str | None) -> tuple[str | None, str | None, str]:
    if sex is None:
        return "*", None, "1****"
    width = {"f": 10, "m": 20}[sex]
    return None if age is None else f"[{age // width * width}, {age // width * width + width})", sex, "1****"


@pytest.mark.parametrize("masked", [False, True], ids=["dropped", "masked"])
@pytest.mark.parametrize("of_cells", [True, False], ids=["cells", "source"])
def test_rows_are_published_by_the_same_readers(clinic: sa.Session, of_cells: bool, masked: bool) -> None:
    # Cells hold the values that a model looks at.
    models = [sa.KAnonymity(2), *([sa.TCloseness("diagnosis", 1.0)] if of_cells else [])]
    engine, policy = clinic._engine, clinic_policy(*models)
    visits = clinic.connection.execute("SELECT age, sex, diagnosis FROM visits").fetchall()
    with engine.transaction(), engine.scratch():
        table = encode_table(engine, prepare(engine, engine.resolve("visits"), policy), label_losses=())
        recoding = PerClass(table.encoding, divided_by=1)
        assert table.encoding.holds_release == of_cells
        engine.run(given_classes())
        engine.run(recoding.step())
        keep_classes(engine, recoding)
        attained = attained_at(engine, recoding)
        group_rows(engine, table, recoding, masked=masked, is_examined=False)
        query = released_rows(engine, table.encoding, lambda _: False)
        found = Counter(clinic.connection.execute(query.sql("duckdb")).fetchall())
        engine.run(combinations(recoding))
        counted = engine.fetch(select([column(ROW_COUNT)], COMBINATIONS.table), "combinations", "cell")
    classes = Counter(labels_of(age, sex) for age, sex, _ in visits)
    kept = {labels for labels, count in classes.items() if count >= 2}
    expected = Counter((*labels_of(age, sex), value) for age, sex, value in visits if labels_of(age, sex) in kept)
    left_out = Counter(("*", "*", "*", value) for age, sex, value in visits if labels_of(age, sex) not in kept)
    assert {labels[:2] for labels in kept} == {
        ("[30, 40)", "f"),
        ("[40, 50)", "f"),
        ("[50, 60)", "f"),
        ("[40, 60)", "m"),
    }
    assert found == (expected + left_out if masked else expected)
    assert attained[0] == 2
    if of_cells:
        expected = Counter((*labels_of(age, sex), value) for age, sex, value in visits)
        assert sorted(each[ROW_COUNT] for each in counted) == sorted(expected.values())
