"""Two releases of the same rows: the classes of the meet of their nodes, by what either release shows of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.model.lattice import Levels
from sqlanon.queries.cells.earlier import SQL
from sqlanon.queries.cells.encoding import ROW_COUNT, Encoding, row_sum
from sqlanon.queries.classes.grouping import CLASS_ROWS, by_key
from sqlanon.queries.classes.recoding import AtNode
from sqlanon.queries.kit.macros import exact_text
from sqlanon.queries.kit.nodes import Relation, Step, aliased, column, select, subquery
from sqlanon.queries.release.earlier import IS_PRESENT, JOINT

CLASSES = ("anon_class_0", "anon_class_1")
"""The numbers of the classes of the first release and of the second; NULL where it does not show them."""

SHOWN = (Relation("anon_shown_by_first", "class"), Relation("anon_shown_by_both", "class"))
"""The classes of the meet, with their numbers in the first release, and then in both."""


def released_classes(makes: Relation, released: exp.Expr, place: int, labels: Mapping[str, str]) -> Step:
    """The step that makes the classes of a release of its rows.

    Args:
        makes: what it makes.
        released: the rows.
        place: 0 for the first release, 1 for the second.
        labels: by quasi-identifier, what its labels are called.
    """
    texts = [aliased(exact_text(column(name)), label) for name, label in labels.items()]
    names = [*labels.values()]
    return SQL.step(makes, "released_classes", released=released, texts=texts, labels=names, name=CLASSES[place])


@dataclass(frozen=True)
class Meet:
    """The meet of the nodes of two releases.

    Attributes:
        encoding: the cells of the rows that both were made from.
        levels: the node of each release.
        released: the classes of each, by the labels of the encoding.
    """

    encoding: Encoding
    levels: tuple[Levels, Levels]
    released: tuple[Relation, Relation]

    def shown(self, place: int) -> Step:
        """The step that makes :data:`SHOWN` of the first release from cells, or that of both from the first."""
        grouping = by_key(self.encoding, tuple(map(min, *self.levels)), carried=[ROW_COUNT])
        classes = exp.alias_(SHOWN[0].table, "anon_groups", table=True)
        if place == 0:
            sizes = [row_sum(name=CLASS_ROWS), aliased(exp.true(), IS_PRESENT)]
            classes = subquery(grouping.select(sizes, grouping.cells()), "anon_groups")
        recoding = AtNode(self.encoding, self.levels[place])
        query = SQL.query(
            "shown_groups",
            labelled=recoding.join_to_cells(select([exp.Star()], classes), "anon_groups"),
            released=self.released[place],
            columns=[*grouping.keys, *CLASSES[:place], IS_PRESENT, CLASS_ROWS],
            labels=[*recoding.row_columns],
            name=CLASSES[place],
            k=1,
        )
        return Step(SHOWN[place], query, "classes of two releases")

    @property
    def mismatches(self) -> exp.Query:
        """One row, ``classes``: those that the first release has in another number of rows than the cells."""
        return SQL.query("release_mismatches", judged=SHOWN[0], released=self.released[0], name=CLASSES[0])

    @property
    def joint(self) -> Step:
        """The step that makes :data:`JOINT` of the classes that either release shows."""
        shown = exp.or_(*(column(name).is_(exp.null()).not_() for name in CLASSES), copy=False)
        persons = select([*map(column, CLASSES), aliased(column(CLASS_ROWS), "anon_rows")], SHOWN[1].table)
        return SQL.step(JOINT, "joint_classes", persons=persons.where(shown, copy=False), classes=[*CLASSES])
