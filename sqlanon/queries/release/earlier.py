"""Releases that follow each other: in which class of each of them a person is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from sqlanon.queries.cells.earlier import PERSONS, SQL, person_key, person_value, with_persons
from sqlanon.queries.cells.encoding import EARLIER, ROW_COUNT, label_of, row_sum
from sqlanon.queries.cells.labels import dense_rank, has_bits, label_bits
from sqlanon.queries.cells.rows import key_word, with_leaves
from sqlanon.queries.classes.classes import KEPT
from sqlanon.queries.classes.grouping import CLASS_ROWS
from sqlanon.queries.classes.recoding import AtNode
from sqlanon.queries.kit.macros import exact_text
from sqlanon.queries.kit.nodes import (
    Relation,
    Step,
    aliased,
    all_bits,
    all_of,
    ascending,
    bits,
    cast,
    column,
    copies,
    count_rows,
    grouped,
    left_join,
    number,
    same,
    select,
    subquery,
)
from sqlanon.queries.release.rows import KEPT_CLASSES

JUDGED = Relation("anon_shown_groups", "class")
JOINT = Relation("anon_joint_classes", "class")
WITHHELD_PERSONS = Relation("anon_withheld_persons", "rows")


def persons_of(place: int) -> Relation:
    """The persons by their classes, once those of the release at a place are the ones that it shows."""
    return Relation(f"anon_persons_of_{place}", "rows")


def class_of(place: int) -> str:
    """The column of persons with the number of their class in a release; 0 where it does not show them."""
    return f"anon_class_{place}"


ALL_EARLIER = class_of(0)
"""The column with the number of the joint class in all earlier releases, where these stand beside one alone."""


@dataclass(frozen=True)
class ReleasedClasses:
    """The classes of a release at a node.

    Attributes:
        recoding: its labels, which say nothing of other releases.
        counted: those that it has, see :func:`released_labels`.
        place: how many releases there are before it.
    """

    recoding: AtNode
    counted: exp.Select
    place: int

    @classmethod
    def of(cls, recoding: AtNode, released: exp.Expr, place: int) -> ReleasedClasses:
        """Those of the rows of a release."""
        names = recoding.encoding.spec.quasi_identifiers
        labels = {names[position]: label_of(position) for position, _ in recoding.code_columns()}
        return cls(recoding, released_labels(released, labels), place)

    @property
    def name(self) -> str:
        """The column with the number of a class; 0 stands for those whom the release does not show."""
        return class_of(self.place)

    @property
    def relation(self) -> Relation:
        """The classes: their labels, the words of their keys, their numbers in the order of these, and their rows."""
        return Relation(f"anon_released_classes_{self.place}", "class")

    @property
    def step(self) -> Step:
        """The step that makes :attr:`relation`."""
        return SQL.step(
            self.relation, "released_classes", labelled=self._labelled, keys=[*class_key(self.recoding)], name=self.name
        )

    @property
    def labels(self) -> dict[int, str]:
        """The columns with labels, by quasi-identifier (its position)."""
        return {position: label_of(position) for position, _ in self.recoding.code_columns()}

    def join_to_cells(self, query: exp.Select) -> exp.Select:
        """The query of the cells of its source, and the number of their class."""
        encoding, classes = self.recoding.encoding, self.relation
        on = has_bits(encoding, encoding.keys.node_masks(self.recoding.levels), encoding.cells.name, classes.name)
        query = left_join(query, exp.alias_(classes.table, classes.name, table=True), on)
        return query.select(aliased(self._number(classes.name), self.name), copy=False)

    def rows(self, keys: Sequence[str], *, as_text: bool) -> exp.Select:
        """The rows of its source: the columns that identify a person, as text or not, and the number of their class."""
        query = _keyed_rows(self.recoding, keys, as_text=as_text)
        query = with_leaves(self.recoding.encoding, query, "anon_source", self.labels)
        on = [word.eq(column(name, "anon_released")) for name, word in class_key(self.recoding).items()]
        query = left_join(query, exp.alias_(self.relation.table, "anon_released", table=True), all_of(on))
        return query.select(aliased(self._number("anon_released"), self.name), copy=False)

    def _number(self, table: str) -> exp.Expr:
        return exp.func("coalesce", column(self.name, table), number(0))

    @property
    def _labelled(self) -> exp.Select:
        """The labels of its rows, how many have them, and the words of the key that these labels make."""
        encoding, levels, labels = self.recoding.encoding, self.recoding.levels, self.labels
        columns = [column(name, "anon_counted") for name in (*labels.values(), "anon_released_rows")]
        query = select(columns, subquery(self.counted, "anon_counted"))
        for position, label in labels.items():
            alias = encoding.labels_of(position)
            lookup = subquery(label_bits(encoding, position, levels[position], [column("label")]), alias)
            query = left_join(query, lookup, same(column("label", alias), column(label, "anon_counted")))
        for word in encoding.keys.node_masks(levels):
            found = [
                column(encoding.key(word), encoding.labels_of(position))
                for position in labels
                if word in encoding.keys.label_masks(position, levels[position])
            ]
            query = query.select(aliased(all_bits(found), encoding.key(word)), copy=False)
        return query


def released_labels(released: exp.Expr, labels: Mapping[str, str]) -> exp.Select:
    """The combinations of labels that the rows of a release have, and how many have them.

    ``labels`` are the columns that these become, by quasi-identifier.
    """
    texts = [aliased(exact_text(column(name)), label) for name, label in labels.items()]
    return SQL.query("released_labels", released=released, texts=texts, labels=[*labels.values()])


def persons_by_classes(releases: Sequence[ReleasedClasses], keys: Sequence[Sequence[str]], *, as_text: bool) -> Step:
    """The step that makes :func:`persons_of` none of some releases: those of all of their sources.

    Args:
        releases: their classes, which are made.
        keys: the columns of the source of each that identify a person.
        as_text: whether these are compared as text.
    """
    rows: list[exp.Query] = [each.rows(names, as_text=as_text) for each, names in zip(releases, keys, strict=True)]
    classes = {release.name: exp.AnyValue(this=column(release.name)) for release in releases}
    is_there: list[exp.Expr] = [cast(exp.Not(this=each.copy().is_(exp.null())), "INTEGER") for each in classes.values()]
    return SQL.step(
        persons_of(0),
        "persons_by_classes",
        rows=reduce(lambda one, other: exp.Union(this=one, expression=other, distinct=False, by_name=True), rows),
        persons_by=persons_by(keys[0]),
        shown=[aliased(exp.func("coalesce", each, number(0)), name) for name, each in classes.items()],
        sources=reduce(lambda one, other: exp.Add(this=one, expression=other), is_there),
    )


def persons_of_cells(releases: Sequence[ReleasedClasses]) -> Step:
    """The step that makes persons by their classes in some releases of one table from its cells."""
    cells = releases[0].recoding.encoding.cells
    query = select([column(ROW_COUNT, cells.name)], exp.alias_(cells.table, cells.name, table=True))
    for release in releases:
        query = release.join_to_cells(query)
    classes = [column(release.name) for release in releases]
    counted = select([*classes, row_sum(name="anon_rows")], subquery(query, "anon_classes_of_cells"))
    return Step(persons_of(len(releases)), grouped(counted, copies(classes)), "persons of cells by their classes")


def persons_by(keys: Sequence[str]) -> list[str]:
    """The columns of persons with the values of some keys."""
    return [*map(person_key, range(len(keys)))]


def key_problems(persons: Relation) -> exp.Query:
    """One row about persons of one key: those ``without_key``, and ``repeated_keys``, which are in several rows."""
    return SQL.query("key_problems", persons=persons, key=person_key(0))


def source_keys(source: exp.Expr, key: str, *, as_text: bool) -> exp.Query:
    """The same about the rows of one source."""
    name = person_key(0)
    keys = select([aliased(person_value(column(key), as_text), name)], source.copy())
    counted = select([column(name), aliased(count_rows(), "anon_rows")], subquery(keys, "anon_source_keys"))
    return SQL.query("key_problems", persons=grouped(counted, [column(name)]), key=name)


def shown_groups(persons: Relation | exp.Query, classes: Sequence[str], k: int, *, is_by_person: bool) -> Step:
    """The step that makes :data:`JUDGED`: persons by their classes in a release and in those it was held together with.

    Args:
        persons: by their classes.
        classes: the columns with these, that of the release itself last.
        k: how many persons it shows in a joint class.
        is_by_person: whether persons can be distinguished, so that some may be withheld.
    """
    *beside, name = classes
    shown = SQL.query("shown_groups", persons=persons, classes=beside, name=name, k=k if beside else 1)
    return Step(JUDGED, _jointly_kept(shown, classes, k, is_by_person) if beside else shown, "classes of a release")


def _jointly_kept(shown: exp.Select, classes: Sequence[str], k: int, is_by_person: bool) -> exp.Select:
    """The classes without those that a release left out for persons of others."""
    *beside, name = classes
    is_shown = exp.GT(this=exp.func("greatest", *map(column, beside)), expression=number(0))
    numbers = exp.case().when(is_shown, dense_rank(*map(column, beside), nulls_first=True)).else_(number(0))
    nobody = exp.Select(expressions=[aliased(number(0), EARLIER), aliased(number(0), "anon_absent")]).limit(0)
    return SQL.query(
        "jointly_kept",
        classes=shown,
        absent=nobody,
        number=numbers,
        node=[],
        keys=[name],
        k=k,
        by_person=exp.true() if is_by_person else exp.false(),
    )


def mismatches(release: ReleasedClasses) -> exp.Query:
    """One row, ``classes``: those that a release has in another number of rows than :data:`JUDGED` says."""
    return SQL.query("release_mismatches", judged=JUDGED, released=release.relation, name=release.name)


def shown_persons(persons: Relation, before: Relation, classes: Sequence[str], k: int) -> list[Step]:
    """The steps that make persons with the classes that a release shows of :data:`JUDGED`, from those before it.

    ``classes`` are the columns that distinguish its joint classes, its own last, and ``k`` is how many persons it shows
    in one.
    """
    judged = select([exp.Star()], JUDGED.table).where(column(KEPT), copy=False)
    withheld = SQL.query("withheld_persons", persons=before, withholding=judged, grouped=classes, k=k)
    withheld_step = Step(WITHHELD_PERSONS, withheld, "persons who were withheld")
    queries = SQL.given(persons=before, judged=judged, grouped=classes, name=classes[-1], withheld=WITHHELD_PERSONS)
    return [withheld_step, queries.step(persons, "shown_persons")]


def persons_beside(release: ReleasedClasses, keys: Sequence[str], *, as_text: bool) -> exp.Select:
    """The persons of ``PERSONS`` and of the source of a release: the number of their joint class, and their class.

    The numbers are in the column :data:`ALL_EARLIER`.
    """
    rows, names = release.rows(keys, as_text=as_text), persons_by(keys)
    return SQL.query(
        "persons_beside", rows=rows, persons=PERSONS, persons_by=names, number=ALL_EARLIER, name=release.name
    )


def shown_classes(classes: Sequence[str]) -> exp.Select:
    """The joint classes of :data:`JUDGED` as persons by their classes: 0 is that of a release, the last, if hidden."""
    *beside, name = classes
    shown = exp.case().when(column(KEPT), column(name)).else_(number(0))
    rows = aliased(column(CLASS_ROWS), "anon_rows")
    return select([*map(column, beside), aliased(shown, name), rows], JUDGED.table)


def withheld_persons(recoding: AtNode) -> Step:
    """The step that makes :data:`WITHHELD_PERSONS` of the classes of a run that are kept."""
    encoding = recoding.encoding
    assert encoding.spec.earlier is not None
    rows = _keyed_rows(recoding, encoding.spec.earlier.keys, as_text=encoding.spec.earlier.as_text)
    rows = with_persons(encoding, rows, "anon_source")
    rows = with_leaves(encoding, rows, "anon_source", [position for position, _ in recoding.code_columns()])
    words = class_key(recoding)
    query = SQL.query(
        "withheld_persons",
        persons=rows.select(*(aliased(word, name) for name, word in words.items()), copy=False),
        withholding=KEPT_CLASSES,
        grouped=[*words],
        k=encoding.criteria.k,
    )
    return Step(WITHHELD_PERSONS, query, "persons who are withheld")


def without_withheld() -> exp.Update:
    """The statement that gives them in ``PERSONS`` the negative number of their joint class, which no class has."""
    update = exp.update(PERSONS.table, {}, dialect="duckdb")
    negative = exp.EQ(this=column(EARLIER), expression=exp.Neg(this=column(EARLIER)))
    update.set("expressions", [negative])
    update.set("from_", exp.From(this=exp.alias_(WITHHELD_PERSONS.table, "anon_withheld", table=True)))
    same_person = column(person_key(0), "anon_withheld").eq(column(person_key(0), PERSONS.name))
    return update.where(same_person, copy=False)


def _keyed_rows(recoding: AtNode, keys: Sequence[str], *, as_text: bool) -> exp.Select:
    """The rows of the source of some labels, ``anon_source``: the columns that identify a person."""
    source = exp.alias_(recoding.encoding.spec.source.copy(), "anon_source", table=True)
    values = [person_value(column(name, "anon_source"), as_text) for name in keys]
    return select((aliased(value, name) for value, name in zip(values, persons_by(keys), strict=True)), source)


def class_key(recoding: AtNode) -> dict[str, exp.Expr]:
    """The words of the key of the class of a row that ``with_leaves`` has joined, by name.

    Beside earlier releases ``with_persons`` has joined it, too.
    """
    encoding = recoding.encoding
    shown = [position for position, _ in recoding.code_columns()]
    return {
        encoding.key(word): bits(exp.Paren(this=key_word(encoding, word, shown, PERSONS.name)), number(mask))
        for word, mask in encoding.keys.node_masks(recoding.levels).items()
    }


def joint_classes(persons: Relation | exp.Query, classes: Sequence[str]) -> Step:
    """The step that makes :data:`JOINT` of persons by their classes in some releases."""
    return SQL.step(JOINT, "joint_classes", persons=persons, classes=classes)


def joint_sizes() -> exp.Query:
    """One row about :data:`JOINT`: ``k``, ``class_count``, ``person_count`` and ``unique_persons``."""
    return SQL.query("joint_sizes", joint=JOINT)


def numbered_persons(persons: Relation, classes: Sequence[str], keys: Sequence[str]) -> Step:
    """The step that makes ``PERSONS`` of persons by their classes, and of :data:`JOINT`."""
    return SQL.step(
        PERSONS, "numbered_persons", persons=persons, joint=JOINT, persons_by=persons_by(keys), classes=classes
    )


def persons_at_risk(k: int) -> exp.Query:
    """One row about :data:`JOINT`, ``persons_at_risk``: those in joint classes of fewer than k."""
    return SQL.query("persons_at_risk", joint=JOINT, k=k)


def smallest_classes(releases: Sequence[ReleasedClasses], k: int, most: int) -> exp.Select:
    """The smallest of :data:`JOINT` with fewer persons than k: ``persons``, and the labels in each release by place."""
    query = select([aliased(column("anon_persons", "anon_joint"), "persons")], exp.alias_(JOINT.table, "anon_joint"))
    for place, release in enumerate(releases):
        name = release.relation.name
        labels = exp.Array(expressions=[column(label, name) for label in release.labels.values()])
        is_shown = exp.case().when(exp.GT(this=column(release.name, "anon_joint"), expression=number(0)), labels)
        same_class = column(release.name, name).eq(column(release.name, "anon_joint"))
        query = left_join(query, exp.alias_(release.relation.table, name, table=True), same_class)
        query = query.select(aliased(is_shown, f"labels_{place}"), copy=False)
    query = query.where(exp.LT(this=column("anon_persons", "anon_joint"), expression=number(k)), copy=False)
    order = [column(name, "anon_joint") for name in ("anon_persons", EARLIER)]
    query.set("order", ascending(*order))
    return query.limit(most, copy=False)
